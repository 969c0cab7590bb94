/* A test makes millions of switches: on x86-64 a switch is a few instructions in line (fiber.h); elsewhere it is the system's swapcontext,
 * which works and takes ten times as long. AddressSanitizer is told of each switch, or it would take a fiber's stack for a wild one. */
#include "simt/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_BYTES = 256 << 10 }; /* only pages that are touched take memory */

simt_fiber *simt_fiber_starting;

static void begin(void) {
  simt_fiber *fiber = simt_fiber_starting;
#ifdef SIMT_WITH_ASAN
  __sanitizer_finish_switch_fiber(NULL, &fiber->enterer_stack, &fiber->enterer_bytes);
#endif
  fiber->function(fiber->argument);
  abort();
}

/* Stacks that began at the same place of a page would have all their first frames in the same few lines of the first cache. */
static size_t next_stagger(void) {
  enum { LINE = 64, STEP = 13, LINES = 64 };
  static size_t number;
  return number++ * STEP % LINES * LINE;
}

simt_fiber *simt_fiber_create(void (*function)(void *argument), void *argument) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  simt_fiber *fiber = calloc(1, sizeof *fiber);
  if (!fiber) return NULL;
  fiber->function = function;
  fiber->argument = argument;
  fiber->map_bytes = page + STACK_BYTES;
  fiber->map = mmap(NULL, fiber->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fiber->map == MAP_FAILED || mprotect(fiber->map, page, PROT_NONE) != 0) {
    if (fiber->map != MAP_FAILED) munmap(fiber->map, fiber->map_bytes);
    free(fiber);
    return NULL;
  }
  fiber->stack = fiber->map + page;
  fiber->stack_bytes = STACK_BYTES - next_stagger();
#if defined(__x86_64__)
  /* What the first switch finds: where to go on, and the alignment of a function's entry. */
  void **top = (void **)(void *)(fiber->stack + fiber->stack_bytes) - 1;
  *--top = (void *)(uintptr_t)begin;
  fiber->own = top;
#else
  if (getcontext(&fiber->own) != 0) {
    simt_fiber_free(fiber);
    return NULL;
  }
  fiber->own.uc_stack.ss_sp = fiber->stack;
  fiber->own.uc_stack.ss_size = fiber->stack_bytes;
  makecontext(&fiber->own, begin, 0);
#endif
  return fiber;
}

void simt_fiber_free(simt_fiber *fiber) {
  if (!fiber) return;
  munmap(fiber->map, fiber->map_bytes);
  free(fiber);
}
