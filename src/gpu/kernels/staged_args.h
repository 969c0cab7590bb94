/* The parameters of the kernels of staged.cu: one struct, passed by value. Offsets and steps are in bytes.
 *
 * D = alpha * sum of L + beta * D, of one operand whose neighbours in memory are D's, or with a product, maximum or minimum in place of
 * the sum, which is then what "sum" means. A tile is some rows of L, each of so many columns that lie next to each other. Its rows come to shared
 * memory while those before are added up, each as far from a multiple of 128 bytes as in memory: a warp's copies are then of whole lines
 * on both sides, wherever rows begin. A warp adds up spans, which are some columns of rows, with the sums in registers:
 *   long sums   until the tile's terms end. Each warp has one span, and where a row has few, groups of warps have rows by turns
 *   short ones  have all their rows in a step, of several slices, which are positions of one more mode of D's. Warps have spans of slices by turns */
#ifndef CUTT_GPU_KERNELS_STAGED_ARGS_H
#define CUTT_GPU_KERNELS_STAGED_ARGS_H

#include "pass_args.h"
#include "sum_walk_args.h"

enum {
  CUTT_STAGED_THREADS = 256,
  CUTT_STAGED_WARP = 32,
  CUTT_STAGED_STAGES = 2, /* in shared memory: a tile's rows that are added up, and the next ones */
  CUTT_STAGED_WINDOW = 16,
  CUTT_STAGED_LINE = 128,
  CUTT_STAGED_SPAN =
      CUTT_STAGED_WARP * CUTT_STAGED_WINDOW, /* bytes of a row that a warp adds up, and that it copies at once */
  CUTT_STAGED_PIECE = 4096                   /* bytes */
};

typedef struct cutt_staged_args {
  cutt_sum_walk walk; /* its rows are slices, if sums are short */
  uint32_t is_short;
  uint32_t columns, rows, slices; /* of a step that is whole */
  int64_t extent[2];              /* of the modes of columns, and of rows or slices */
  int64_t row_step, slice_step;   /* not negative */
  uint32_t pitch, slice_pitch;    /* the same in shared memory: as in L but for a multiple of 128 */
  int64_t low, high;              /* the bytes that L spans, from its element (0, ..., 0) */
  /* What follows each other in memory comes as one run: a row, all rows of a slice, or all of a step, which is cut into pieces. */
  uint32_t run_rows, pieces;
  cutt_divisor slice_runs;
  cutt_divisor across;           /* spans of a row */
  uint32_t pairs;                /* of half types: all rows begin at multiples of 4 bytes, if the first one does */
  cutt_divisor groups;           /* of warps, that have a row each */
  uint32_t stage_bytes, sums_at; /* in shared memory */
  int64_t result_step, slice_result_step;
  int64_t part_bytes; /* from the results of one part to those of the next, in workspace */
  uint32_t flip;      /* sign bit of the imaginary part, where that is to be changed */
  uint8_t stores_sums, op;
  cutt_sum_scalars scalars;
} cutt_staged_args;

#endif
