/* Scratch of an execution: blocks of one size that threads take and give back.
 *
 * It is not on the stack, since the caller's thread may have a small one, and a frame that is larger than what is left
 * can reach past the guard page into other memory unnoticed. Nor is it the plan's, since any number of threads may
 * execute a plan. */
#ifndef CUTT_RUNTIME_HOST_SCRATCH_H
#define CUTT_RUNTIME_HOST_SCRATCH_H

#include <stdbool.h>

enum {
  CUTT_SCRATCH_BYTES = 512 * 1024, /* of a block */
  CUTT_SCRATCH_BLOCKS = 256 /* most that are kept; if more threads work at once, the other blocks are freed again */
};

/* Makes blocks until there are so many, for as many threads at once. false: out of memory. */
bool cutt_scratch_reserve(int blocks);

/* A block for this thread until it gives it back, aligned to a page, with arbitrary bytes. Takes no lock, and allocates
 * only where more threads are at work at once than ever before. NULL: out of memory. */
void *cutt_scratch_take(void);
void cutt_scratch_give(void *block);

#endif
