/* The parameters of the kernels of sum.cu: one struct, passed by value. Offsets and steps are in bytes.
 *
 * D = alpha * sum of L + beta * D, of one operand that has neighbours in memory, or with a product, maximum or minimum in place of the
 * sum, which is then what "sum" means. A tile is some rows of L, each of so many columns that lie next to each other; they are loaded in
 * windows of 16 bytes, at multiples of 16, wherever rows begin. Lanes, which are threads side by side, have windows of a row, and groups of
 * lanes have rows by turns. All of a thread's rows begin at the same place in 16 bytes: from one to the next are as many rows as that takes.
 * Then results are
 *   columns   if D has them: a thread adds up its rows' windows one upon the other. Groups' sums are added up in shared memory
 *   rows      if D lacks the columns: a thread adds up the elements of its windows. The lanes' sums are added up by shuffles
 * and it goes on in the tile's other terms. */
#ifndef CUTT_GPU_KERNELS_SUM_ARGS_H
#define CUTT_GPU_KERNELS_SUM_ARGS_H

#include "pass_args.h"
#include "sum_walk_args.h"

enum {
  CUTT_SUM_THREADS = 256,
  CUTT_SUM_LOADS = 4, /* of windows, that a thread has under way at once */
  CUTT_SUM_WINDOW = 16,
  CUTT_SUM_LINE =
      128, /* bytes at whose multiples the loads along a row begin: L2 takes as long for a part of a line as for all of it */
  CUTT_SUM_WARP = 32
};

typedef struct cutt_sum_args {
  cutt_sum_walk walk;
  uint32_t rows, columns; /* of a tile that is whole */
  int64_t extent[2];      /* of the modes of columns and of rows */
  int64_t row_step;
  int64_t low, high;     /* the bytes that L spans, from its element (0, ..., 0) */
  uint32_t columns_kept; /* results are columns */
  uint32_t along;        /* results are rows, and loads at once are of one, in lines; else one of each of several */
  uint32_t period;       /* rows after which all begin at the same place in 16 bytes, at most */
  cutt_divisor lanes;    /* of results that are rows a power of 2: up to a warp, or along a row all threads */
  uint32_t groups;
  cutt_divisor batch; /* what all threads have at once: rows of columns, bytes of a row */
  /* Of columns: sums in shared memory, from those of a group to the next, and threads that add up those of a result: a
   * logarithm. */
  uint32_t sum_apart, joining_bits;
  int64_t result_step;
  int64_t part_bytes; /* from the results of one part to those of the next, in workspace */
  uint32_t flip;      /* sign bit of the imaginary part, where that is to be changed */
  uint8_t stores_sums, op;
  cutt_sum_scalars scalars;
} cutt_sum_args;

#endif
