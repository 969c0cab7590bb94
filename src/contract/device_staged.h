/* Sums of one operand by staged tiles, for a pass on a GPU (device_pass.h): D = alpha * sum of L + beta * D by gpu/kernels/staged.cu, for which
 * L's neighbours in memory are D's: rows of them come to shared memory by whole lines, wherever they begin. */
#ifndef CUTT_CONTRACT_DEVICE_STAGED_H
#define CUTT_CONTRACT_DEVICE_STAGED_H

#include "contract/device_walk.h"
#include "gpu/kernels/staged_args.h"

/* How a sum is cut into tiles. A pure function of the contraction and the rates. */
typedef struct cutt_staged_shape {
  int column_mode, row_mode,
      slice_mode; /* D's, one that is summed over, and another one of D's; slice_mode -1: there is one slice */
  bool is_short;  /* a step has whole sums, of one slice or more */
  int64_t columns, rows, slices; /* of a step */
  bool joined, pieces;           /* rows of a slice follow each other in memory; all rows of a step do */
  int64_t pitch, slice_pitch;    /* bytes from one to the next in shared memory */
  int64_t across, groups;        /* spans of a row; of long sums, warps that have rows of the same ones by turns */
  int64_t shared_bytes;
  cutt_sum_blocks blocks;
  double seconds;
} cutt_staged_shape;

/* The shape, whose parts take at most `limit` bytes of workspace. The seconds are INFINITY where there is none: of two operands, or of one
 * that has no neighbours, or whose neighbours are summed over. */
void cutt_staged_choose(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                        cutt_staged_shape *shape);

/* What the kernel is given. result_stride: of each mode, in elements of result_bytes, where sums are written. */
void cutt_staged_fill(const cutt_contraction *contraction, const cutt_staged_shape *shape, const int64_t *result_stride,
                      int64_t result_bytes, cutt_staged_args *args);

#endif
