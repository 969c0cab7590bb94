/* The list of addresses that a launch for many executions is given: a pure function of the callers' pointers. */
#ifndef CUTT_GPU_PAIRS_H
#define CUTT_GPU_PAIRS_H

#include "gpu/kernels/args.h"

/* What a launch for the first `count` pairs is given beside the list. */
typedef struct cutt_gpu_batch {
  uint32_t count;
  uint32_t in_align, out_align; /* of the lowest bytes of all tensors on a side: powers of two up to CUTT_GPU_ALIGNED */
  uintptr_t in, out;            /* the lowest address of each side, which the distances in the list are from */
} cutt_gpu_batch;

/* Puts as many of the first pairs into the list as it takes, at least one and at most `most`, which is 1 to CUTT_PAIRS. Of
 * pairs that lie too far apart, fewer. count: 1 or more. in_low, out_low: bytes from each address to the lowest byte of its tensor. */
void cutt_gpu_list_pairs(int64_t count, int64_t most, const void *const *in, void *const *out, int64_t in_low,
                         int64_t out_low, cutt_gpu_batch *batch, cutt_pairs *pairs);

#endif
