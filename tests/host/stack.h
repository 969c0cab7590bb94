/* A thread on a stack that shows what was done to it:
 *
 *   memory that nobody may touch | a page that can't be touched | the stack, painted
 *
 * What a call took of the stack is how far the paint is gone. A frame that is larger than the page and not probed jumps
 * over it, and what lies below is no longer as it was: that is how small stacks corrupt memory without a sign. */
#ifndef CUTT_TESTS_HOST_STACK_H
#define CUTT_TESTS_HOST_STACK_H

#include <stdbool.h>
#include <stddef.h>

typedef struct stack_marks {
  bool ran;      /* false: the thread could not be made */
  bool intact;   /* is the memory below the page as it was? */
  size_t used;   /* bytes between the frame that calls run and the lowest byte that was written */
  size_t usable; /* what the thread's own beginning left of the stack */
} stack_marks;

/* Runs run(data) on a thread whose stack has so many bytes (a multiple of 4096, at least PTHREAD_STACK_MIN). */
stack_marks stack_run(size_t bytes, void (*run)(void *data), void *data);

/* The smallest stack that a thread may have. */
size_t stack_smallest(void);

#endif
