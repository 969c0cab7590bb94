/* How blocks go through tiles of a sum and the terms of each, for the kernels of sum.cu, staged.cu and stretch.cu. Both are numbers, whose digits are
 * modes, or chunks of modes. Sums that are too few for all SMs are cut into parts, whose results go to workspace and are added by a second
 * launch. Steps are in bytes. */
#ifndef CUTT_GPU_KERNELS_SUM_WALK_ARGS_H
#define CUTT_GPU_KERNELS_SUM_WALK_ARGS_H

#include "divisor.h"

enum { CUTT_SUM_DIGITS = 66 /* most entries of digit[]: modes, and what is left of two that are in tiles */ };

/* A digit of a number: its steps in L and D, and how far it goes in the columns' mode, or the rows'. */
typedef struct cutt_sum_digit {
  cutt_divisor extent;
  uint32_t of_rows; /* `along` is of the rows' mode; else of the columns' */
  int64_t step[2];
  int64_t along; /* 0: it is of neither */
} cutt_sum_digit;

typedef struct cutt_sum_walk {
  /* Terms of a result, of a part of these, tiles, and how many of these a block does. */
  uint32_t terms, part_terms, tiles, block_tiles;
  /* Blocks that follow each other in memory are next to each other: parts or groups of tiles. inner: how many there are of these. */
  cutt_divisor inner;
  uint32_t parts_first;
  uint32_t term_end, tile_end; /* of digit[], which has terms first */
  cutt_sum_digit digit[CUTT_SUM_DIGITS];
} cutt_sum_walk;

#endif
