/* The allocator and the mutex as a test program lends them to the library (heap.h). */
#include "support/heap.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

/* ------------------------------------------------------------------------------------------------ the allocator */

enum { MOST = 1 << 14 };

test_heap_counts test_heap;

static struct {
  pthread_mutex_t lock;
  bool watching;  /* allocations are counted and remembered */
  long fail_from; /* the first that fails, from 1; 0: none */
  long fail_to;   /* the last that fails */
  void *alive[MOST];
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool refused(void) {
  if (!heap.watching) return false;
  __real_pthread_mutex_lock(&heap.lock);
  const long number = ++test_heap.count;
  const bool refuse = heap.fail_from && number >= heap.fail_from && number <= heap.fail_to;
  if (refuse) test_heap.failed++;
  pthread_mutex_unlock(&heap.lock);
  return refuse;
}

static void *remember(void *memory) {
  if (!heap.watching || !memory) return memory;
  __real_pthread_mutex_lock(&heap.lock);
  if (test_heap.alive < MOST) heap.alive[test_heap.alive++] = memory;
  pthread_mutex_unlock(&heap.lock);
  return memory;
}

static void forget(const void *memory) {
  if (!memory) return;
  __real_pthread_mutex_lock(&heap.lock);
  for (int i = test_heap.alive - 1; i >= 0; i--) {
    if (heap.alive[i] != memory) continue;
    heap.alive[i] = heap.alive[--test_heap.alive];
    break;
  }
  pthread_mutex_unlock(&heap.lock);
}

void *__wrap_malloc(size_t size) { return refused() ? NULL : remember(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) { return refused() ? NULL : remember(__real_calloc(count, size)); }

void *__wrap_realloc(void *old, size_t size) {
  if (refused()) return NULL;
  forget(old); /* before it is given back: another thread may be handed the same address */
  void *memory = __real_realloc(old, size);
  return remember(memory ? memory : old);
}

void __wrap_free(void *memory) {
  forget(memory);
  __real_free(memory);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return refused() ? NULL : remember(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
  if (refused()) return ENOMEM;
  const int result = __real_posix_memalign(memory, alignment, size);
  if (!result) remember(*memory);
  return result;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (heap.watching) {
    __real_pthread_mutex_lock(&heap.lock);
    test_heap.locks++;
    pthread_mutex_unlock(&heap.lock);
  }
  return __real_pthread_mutex_lock(mutex);
}

void test_heap_watch(long fail_from, long fail_to) {
  test_heap.count = test_heap.failed = test_heap.locks = 0;
  test_heap.alive = 0;
  heap.fail_from = fail_from;
  heap.fail_to = fail_to;
  heap.watching = true;
}

void test_heap_unwatch(void) {
  heap.watching = false;
  heap.fail_from = 0;
}
