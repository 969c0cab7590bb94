/* Sums of one operand by stretches, for a pass on a GPU (device_pass.h): D = alpha * sum of L + beta * D by gpu/kernels/stretch.cu. A
 * stretch is some of L's elements that follow each other in memory, of as many modes as there is room for: so rows may be short, and
 * modes many and in any order. */
#ifndef CUTT_CONTRACT_DEVICE_STRETCH_H
#define CUTT_CONTRACT_DEVICE_STRETCH_H

#include "contract/device_walk.h"
#include "gpu/kernels/stretch_args.h"

/* How a sum is cut into stretches. A pure function of the contraction and the rates. */
typedef struct cutt_stretch_shape {
  int16_t part[CUTT_MOST_MODES]; /* of each mode in a stretch */
  int modes, last_mode;          /* that a stretch has; the one that is furthest apart in memory, and may be cut */
  int inner_mode;                /* whose terms are added in a loop; -1: none is summed over */
  int64_t elements, results;
  int inner_bits, lane_bits; /* lanes of a result, of inner terms and all, as logarithms */
  bool several;              /* a thread has all terms of its results, several of these at once */
  bool results_first;        /* threads side by side have results */
  bool wide;                 /* inner terms follow each other, and lanes have windows of 16 bytes of them */
  int64_t shared_bytes;
  cutt_sum_blocks blocks;
  double seconds;
} cutt_stretch_shape;

/* The shape, whose parts take at most `limit` bytes of workspace. The seconds are INFINITY where there is none: of two operands, or of one
 * that has no neighbours. */
void cutt_stretch_choose(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                         cutt_stretch_shape *shape);

/* What the kernel is given. result_stride: of each mode, in elements of result_bytes, where sums are written. */
void cutt_stretch_fill(const cutt_contraction *contraction, const cutt_stretch_shape *shape,
                       const int64_t *result_stride, int64_t result_bytes, cutt_stretch_args *args);

#endif
