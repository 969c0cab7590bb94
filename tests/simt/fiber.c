/* A test makes millions of switches: on x86-64 a switch is the few instructions that save and load the registers that a
 * function must preserve; elsewhere it is the system's swapcontext, which works and takes ten times as long.
 * AddressSanitizer is told of each switch, or it would take a fiber's stack for a wild one. */
#include "simt/fiber.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

enum { STACK_BYTES = 256 << 10 }; /* only pages that are touched take memory */

#if defined(__x86_64__)
typedef void *context;

/* Saves the caller's registers on its stack and the stack pointer in *from; loads those saved at to. */
void simt_fiber_switch(context *from, context to);
__asm__(
    ".text\n"
    ".globl simt_fiber_switch\n"
    ".hidden simt_fiber_switch\n"
    ".type simt_fiber_switch, @function\n"
    "simt_fiber_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size simt_fiber_switch, .-simt_fiber_switch\n");
#define SWITCH(from, to) simt_fiber_switch(&(from), to)
#else
typedef ucontext_t context;
#define SWITCH(from, to) swapcontext(&(from), &(to))
#endif

struct simt_fiber {
  void (*function)(void *argument);
  void *argument;
  unsigned char *map, *stack; /* the map begins with a page that can't be touched */
  size_t map_bytes;
  context own, enterer;
#ifdef WITH_ASAN
  void *own_frames, *enterer_frames;
  const void *enterer_stack;
  size_t enterer_bytes;
#endif
};

static simt_fiber *starting; /* the fiber whose first instruction comes next */

static void begin(void) {
  simt_fiber *fiber = starting;
#ifdef WITH_ASAN
  __sanitizer_finish_switch_fiber(NULL, &fiber->enterer_stack, &fiber->enterer_bytes);
#endif
  fiber->function(fiber->argument);
  abort();
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
#if defined(__x86_64__)
  /* What the first switch finds: six registers, the address to return to, and the alignment of a function's entry. */
  void **top = (void **)(void *)(fiber->stack + STACK_BYTES) - 1;
  *--top = (void *)(uintptr_t)begin;
  for (int i = 0; i < 6; ++i) *--top = NULL;
  fiber->own = top;
#else
  if (getcontext(&fiber->own) != 0) {
    simt_fiber_free(fiber);
    return NULL;
  }
  fiber->own.uc_stack.ss_sp = fiber->stack;
  fiber->own.uc_stack.ss_size = STACK_BYTES;
  makecontext(&fiber->own, begin, 0);
#endif
  return fiber;
}

void simt_fiber_free(simt_fiber *fiber) {
  if (!fiber) return;
  munmap(fiber->map, fiber->map_bytes);
  free(fiber);
}

void simt_fiber_enter(simt_fiber *fiber) {
  starting = fiber;
#ifdef WITH_ASAN
  __sanitizer_start_switch_fiber(&fiber->enterer_frames, fiber->stack, STACK_BYTES);
#endif
  SWITCH(fiber->enterer, fiber->own);
#ifdef WITH_ASAN
  __sanitizer_finish_switch_fiber(fiber->enterer_frames, NULL, NULL);
#endif
}

void simt_fiber_leave(simt_fiber *fiber) {
#ifdef WITH_ASAN
  __sanitizer_start_switch_fiber(&fiber->own_frames, fiber->enterer_stack, fiber->enterer_bytes);
#endif
  SWITCH(fiber->own, fiber->enterer);
#ifdef WITH_ASAN
  __sanitizer_finish_switch_fiber(fiber->own_frames, &fiber->enterer_stack, &fiber->enterer_bytes);
#endif
}
