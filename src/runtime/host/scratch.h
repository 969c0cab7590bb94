/* Scratch of an execution: blocks of one size that threads take and give back.
 *
 * Not on the stack, since a thread of the caller's may have little of it: a frame that is larger than what is left can reach
 * past the guard page into other memory without a sign. Not the plan's own, since any number of threads may execute a plan. */
#ifndef CUTT_RUNTIME_HOST_SCRATCH_H
#define CUTT_RUNTIME_HOST_SCRATCH_H

#include <stdbool.h>

enum {
  CUTT_SCRATCH_BYTES = 128 * 1024, /* of a block */
  CUTT_SCRATCH_BLOCKS = 256        /* that are kept; more, where that many threads are at work at once, come and go */
};

/* From now on there are so many blocks: that many threads find one each. false: out of memory. */
bool cutt_scratch_reserve(int blocks);

/* A block that is this thread's until it is given back, at a page's start; its bytes are arbitrary. Takes no lock, and
 * allocates only where more threads are at work at once than ever before. NULL: out of memory. */
void *cutt_scratch_take(void);
void cutt_scratch_give(void *block);

#endif
