/* Contractions of doubles on tensor cores for a pass on a GPU (device_pass.h): D = alpha * L R + beta * D by gpu/kernels/core.cu, without
 * permuting and without workspace, where the terms of a few rows or columns fit into shared memory. The others come in tiles, with all their
 * terms or in lots of them.
 *
 * The operand that has the modes in which D has its neighbours has the rows, the other one the columns. A block keeps a panel of the one
 * in shared memory, and goes along tiles of the other. */
#ifndef CUTT_CONTRACT_DEVICE_CORE_H
#define CUTT_CONTRACT_DEVICE_CORE_H

#include "contract/cost.h"
#include "gpu/kernels/core_args.h"

/* How a contraction is cut. A pure function of the contraction and the rates. */
typedef struct cutt_core_shape {
  cutt_tensor by_rows;                    /* the operand that has the rows */
  bool streams_rows;                      /* its rows come in tiles, and columns are kept; or the other way round */
  bool turned;                            /* a tile has a part of D's neighbours, and a part of the operand's */
  int64_t rows, columns, terms, matrices; /* of the contraction */
  int64_t panel, panels, tiles, strips;   /* positions that a block keeps; of a matrix */
  int64_t depth;                          /* terms at once, of a tile: all, or those of a lot */
  int slots, threads;                     /* tiles or lots in shared memory; of a block */
  double seconds;
} cutt_core_shape;

/* The shape in which the rows come in tiles, or are kept. The seconds are INFINITY where there is none. */
void cutt_core_choose(const cutt_contraction *contraction, const cutt_rates *rates, bool streams_rows,
                      cutt_core_shape *shape);

/* What the kernel is given, of shared memory too. */
void cutt_core_fill(const cutt_contraction *contraction, const cutt_core_shape *shape, cutt_core_args *args,
                    uint32_t *shared_bytes);

#endif
