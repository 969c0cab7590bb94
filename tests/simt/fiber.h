/* Fibers: functions with a stack of their own, between which a program goes back and forth as it likes. */
#ifndef CUTT_TESTS_SIMT_FIBER_H
#define CUTT_TESTS_SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_WITH_ASAN 1
#endif
#endif
#ifdef SIMT_WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
typedef void *simt_context;

/* Saves what goes on at the next instruction, in *from, and goes on with to. In line, and by a jump: processors guess where a function
 * returns to from the calls that it has seen, and of a call on one stack and a return on another each guess would be wrong. What the
 * compiler has in other registers than these two it saves itself, if it needs it. Below the stack pointer there may be 128 bytes of the
 * function that this is part of. */
static inline __attribute__((always_inline)) void simt_fiber_switch(simt_context *from, simt_context to) {
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%%rdi)\n\t"
      "movq %%rsi, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp"
      : "+D"(from), "+S"(to)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
        "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
#ifdef __AVX512F__
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#endif
        "cc", "memory");
}
#define SIMT_SWITCH(from, to) simt_fiber_switch(&(from), to)
#else
#include <ucontext.h>
typedef ucontext_t simt_context;
#define SIMT_SWITCH(from, to) swapcontext(&(from), &(to))
#endif

typedef struct simt_fiber {
  simt_context own, enterer;
  void (*function)(void *argument);
  void *argument;
  unsigned char *map, *stack; /* the map begins with a page that can't be touched */
  size_t map_bytes, stack_bytes;
#ifdef SIMT_WITH_ASAN
  void *own_frames, *enterer_frames;
  const void *enterer_stack;
  size_t enterer_bytes;
#endif
} simt_fiber;

extern simt_fiber *simt_fiber_starting; /* the fiber whose first instruction comes next */

/* A fiber that will run function(argument), which must never return. NULL when memory has run out. */
simt_fiber *simt_fiber_create(void (*function)(void *argument), void *argument);
void simt_fiber_free(simt_fiber *fiber);

/* Goes on with a fiber until it leaves. */
static inline __attribute__((always_inline)) void simt_fiber_enter(simt_fiber *fiber) {
  simt_fiber_starting = fiber;
#ifdef SIMT_WITH_ASAN
  __sanitizer_start_switch_fiber(&fiber->enterer_frames, fiber->stack, fiber->stack_bytes);
#endif
  SIMT_SWITCH(fiber->enterer, fiber->own);
#ifdef SIMT_WITH_ASAN
  __sanitizer_finish_switch_fiber(fiber->enterer_frames, NULL, NULL);
#endif
}

/* Called on a fiber: goes back to where it was entered. */
static inline __attribute__((always_inline)) void simt_fiber_leave(simt_fiber *fiber) {
#ifdef SIMT_WITH_ASAN
  __sanitizer_start_switch_fiber(&fiber->own_frames, fiber->enterer_stack, fiber->enterer_bytes);
#endif
  SIMT_SWITCH(fiber->own, fiber->enterer);
#ifdef SIMT_WITH_ASAN
  __sanitizer_finish_switch_fiber(fiber->own_frames, &fiber->enterer_stack, &fiber->enterer_bytes);
#endif
}

#endif
