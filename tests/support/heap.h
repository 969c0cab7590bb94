/* The allocator and the mutex as a test program lends them to the library, which are counted and may refuse.
 *
 * The linker sends the library's calls through the functions of heap.c (-Wl,--wrap=malloc and so on); those of libc and of the
 * OpenMP run time are not the library's and not seen. */
#ifndef CUTT_TESTS_HEAP_H
#define CUTT_TESTS_HEAP_H

/* Since the last test_heap_watch. */
typedef struct test_heap_counts {
  long count;  /* of allocations asked for */
  long failed; /* of them */
  long locks;  /* of mutexes taken */
  int alive;   /* allocations that are not given back */
} test_heap_counts;
extern test_heap_counts test_heap;

/* From now on allocations are counted, and those from fail_from to fail_to fail, the first being 1; 0: none. */
void test_heap_watch(long fail_from, long fail_to);
void test_heap_unwatch(void);

#endif
