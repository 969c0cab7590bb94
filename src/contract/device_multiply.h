/* Tiles of products for a pass on a GPU (device_pass.h), for contractions with few columns or few terms, whose time is that of moving
 * the tensors: D = alpha * L R + beta * D by gpu/kernels/multiply.cu, without permuting. Where tiles are too few for the GPU, the terms
 * are cut into parts, whose sums go to workspace and are added up by a second launch.
 *
 * One operand has the rows, the one that has the modes in which D has its neighbours; the other has the columns, of which a tile
 * has up to 32. So the first is read once where there are no more. In a tile of rows there are both the modes in which D has its
 * neighbours and those in which that operand has them, which is turned on its way through shared memory. */
#ifndef CUTT_CONTRACT_DEVICE_MULTIPLY_H
#define CUTT_CONTRACT_DEVICE_MULTIPLY_H

#include "contract/cost.h"
#include "gpu/kernels/multiply_args.h"

/* How a contraction is cut into tiles. A pure function of the contraction and the rates. */
typedef struct cutt_multiply_shape {
  cutt_tensor by_rows; /* the operand that has the rows */
  /* Of each mode, its part in a tile's rows or columns; 1 where it has none there. */
  int16_t part[CUTT_MOST_MODES];
  /* Modes of rows and of columns, the fastest first, and of terms. */
  int row_modes, column_modes, term_modes;
  int8_t row_mode[CUTT_MOST_MODES], column_mode[CUTT_MOST_MODES], term_mode[CUTT_MOST_MODES];
  int64_t rows, columns, terms, depth;
  int64_t apart, run; /* rows from one of the operand's neighbours to the next; so many of these; 1: it is not turned */
  bool by_terms[2];   /* the rows' operand, and the columns', has its neighbours in terms */
  bool
      splits_terms; /* of the columns' operand's neighbours, which are terms, a sector comes first, and the rest last */
  bool wide;        /* the rows' operand may be copied 16 bytes at a time, if it begins at a multiple of 16 */
  int64_t tiles, column_tiles;
  bool keeps;                /* a block's tiles have the same columns, whose terms stay in shared memory */
  int64_t block_tiles;       /* most of a block, which has but one where terms are cut into parts or come at once */
  int64_t parts, part_terms; /* of the terms; of all of these but the last */
  double seconds;
} cutt_multiply_shape;

/* The shape in which this operand has the rows, with at most limit bytes of workspace. The seconds are INFINITY where there is none. */
void cutt_multiply_choose(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                          cutt_tensor by_rows, cutt_multiply_shape *shape);

/* Cuts the terms into at most so many parts. */
void cutt_multiply_cut(cutt_multiply_shape *shape, int64_t parts);

/* May rows that follow each other in their operand be copied 16 bytes at a time? */
bool cutt_multiply_may_be_wide(const cutt_contraction *contraction, const cutt_multiply_shape *shape);

/* May terms of the columns stay in shared memory, if a block has several tiles? */
bool cutt_multiply_may_keep(const cutt_contraction *contraction, const cutt_multiply_shape *shape);

/* Blocks of a part. */
int64_t cutt_multiply_blocks(const cutt_multiply_shape *shape);

/* What the kernel is given, of shared memory too; stride: of each mode in D, or in a part's sums. */
void cutt_multiply_fill(const cutt_contraction *contraction, const cutt_multiply_shape *shape, const int64_t *stride,
                        cutt_multiply_args *args, uint32_t *shared_bytes);

#endif
