/* Small products for a pass on a GPU (device_pass.h): D = alpha * L R + beta * D by gpu/kernels/small.cu, without permuting and without
 * workspace, where there are many of them, or a small operand and a long one. */
#ifndef CUTT_CONTRACT_DEVICE_SMALL_H
#define CUTT_CONTRACT_DEVICE_SMALL_H

#include "contract/algorithms.h"
#include "contract/cost.h"
#include "gpu/kernels/small_args.h"

/* How products are cut into tiles, and dealt out. A pure function of the contraction and the rates. */
typedef struct cutt_small_shape {
  int16_t part[CUTT_MOST_MODES];          /* of each mode in a tile */
  int cut;                                /* the mode whose last chunk is shorter; -1: none is */
  int64_t rows, columns, terms, matrices; /* of a tile */
  int64_t tiles, blocks;
  int threads; /* of a block */
  uint8_t
      pads[CUTT_TENSORS]; /* bits: in shared memory 16 bytes are left out behind the first mode, behind the second */
  int64_t shared_bytes;
  double seconds; /* INFINITY: these are no small products */
} cutt_small_shape;

void cutt_small_choose(const cutt_contraction *contraction, const cutt_rates *rates, cutt_small_shape *shape);

/* The kernel's parameters, but for the scalars: for tensors at multiples of 16 bytes (aligned), and for any. */
void cutt_small_fill(const cutt_contraction *contraction, const cutt_small_shape *shape, bool aligned,
                     cutt_small_args *args);

#endif
