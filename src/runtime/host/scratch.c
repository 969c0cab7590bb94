/* Scratch of executions (scratch.h): an array of slots, each empty or with a block that is not in use. A thread takes
 * or gives back a block by one atomic exchange, and begins at a slot that depends on its stack's address, so that
 * threads seldom collide. */
#include "runtime/host/scratch.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static _Atomic(void *) slot[CUTT_SCRATCH_BLOCKS];
static atomic_int blocks; /* that exist: those in slots, and those in use */

static unsigned first_slot(void) {
  const char here = 0;
  const uintptr_t stack = (uintptr_t)&here >> 16; /* NOLINT: differs from thread to thread */
  return (unsigned)(stack * 0x9e3779b1u) % CUTT_SCRATCH_BLOCKS;
}

/* By mmap rather than malloc, so that pages that are never touched take no memory. */
static void *make(void) {
  void *block = mmap(NULL, CUTT_SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return NULL;
  atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
  return block;
}

void *cutt_scratch_take(void) {
  const unsigned first = first_slot();
  for (unsigned i = 0; i < CUTT_SCRATCH_BLOCKS; ++i) {
    _Atomic(void *) *at = &slot[(first + i) % CUTT_SCRATCH_BLOCKS];
    if (!atomic_load_explicit(at, memory_order_relaxed)) continue;
    void *block = atomic_exchange_explicit(at, NULL, memory_order_acquire);
    if (block) return block;
  }
  return make();
}

void cutt_scratch_give(void *block) {
  const unsigned first = first_slot();
  for (unsigned i = 0; i < CUTT_SCRATCH_BLOCKS; ++i) {
    _Atomic(void *) *at = &slot[(first + i) % CUTT_SCRATCH_BLOCKS];
    void *none = NULL;
    if (atomic_load_explicit(at, memory_order_relaxed)) continue;
    if (atomic_compare_exchange_strong_explicit(at, &none, block, memory_order_release, memory_order_relaxed)) return;
  }
  munmap(block, CUTT_SCRATCH_BYTES);
  atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
}

bool cutt_scratch_reserve(int wanted) {
  while (atomic_load_explicit(&blocks, memory_order_relaxed) < wanted) {
    void *block = make();
    if (!block) return false;
    cutt_scratch_give(block);
  }
  return true;
}
