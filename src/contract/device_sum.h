/* Sums of one operand by tiles, for a pass on a GPU (device_pass.h): D = alpha * sum of L + beta * D by gpu/kernels/sum.cu, which loads
 * what is next to each other in L 16 bytes at a time, wherever it begins.
 *
 * A tile is of two modes. Its columns are of the one in which L has its neighbours; its rows are of a mode that is summed over, if the
 * columns' is one of D's, else of one of D's. */
#ifndef CUTT_CONTRACT_DEVICE_SUM_H
#define CUTT_CONTRACT_DEVICE_SUM_H

#include "contract/device_walk.h"
#include "gpu/kernels/sum_args.h"

/* How a sum is cut into tiles. A pure function of the contraction and the rates. */
typedef struct cutt_sum_shape {
  int column_mode, row_mode; /* row_mode -1: there is one row */
  int64_t columns, rows;     /* of a tile */
  bool columns_kept;         /* D has the columns' mode */
  bool along;                /* it has not, and a tile is of one row, which all threads have */
  int64_t period;            /* of columns: rows after which all begin at the same place in 16 bytes, at most */
  int64_t lanes, groups;     /* threads that have a row, and how many have rows by turns */
  cutt_sum_blocks blocks;
  double seconds;
} cutt_sum_shape;

/* The shape, whose parts take at most `limit` bytes of workspace. The seconds are INFINITY where there is none: of two operands, of one
 * that has no neighbours, or of rows of which no few begin where all others do. */
void cutt_sum_choose(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                     cutt_sum_shape *shape);

/* What the kernel is given, of shared memory too. result_stride: of each mode, in elements of result_bytes, where sums are written. */
void cutt_sum_fill(const cutt_contraction *contraction, const cutt_sum_shape *shape, const int64_t *result_stride,
                   int64_t result_bytes, cutt_sum_args *args, uint32_t *shared_bytes);

#endif
