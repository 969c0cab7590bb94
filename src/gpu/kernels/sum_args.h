/* The parameters of the kernels of sum.cu: one struct, passed by value. Offsets and steps are in bytes.
 *
 * D = alpha * sum of L + beta * D, of one operand that has neighbours in memory, or with a product, maximum or minimum in place of the
 * sum, which is then what "sum" means. A tile is some rows of L, each of so many columns that lie next to each other; a block loads it in
 * windows of 16 bytes, at multiples of 16, wherever rows begin, of which each thread has some. Then results are
 *   rows      if D lacks the columns' mode: a thread adds up the elements of each of its windows
 *   columns   if D has it: a thread adds up some rows of a window's columns. Where rows are not all at multiples of 16 bytes, windows go
 *             to shared memory, from where it takes as many columns, side by side with its neighbours'
 * and goes on with the same ones in the tile's other terms. Behind the last term the threads' sums are added up, to results. */
#ifndef CUTT_GPU_KERNELS_SUM_ARGS_H
#define CUTT_GPU_KERNELS_SUM_ARGS_H

#include "pass_args.h"
#include "sum_walk_args.h"

enum {
  CUTT_SUM_THREADS = 256,
  CUTT_SUM_LOADS = 4, /* of windows, of a thread for each tile */
  CUTT_SUM_WINDOW = 16,
  CUTT_SUM_WINDOWS = CUTT_SUM_THREADS * CUTT_SUM_LOADS
};

typedef struct cutt_sum_args {
  cutt_sum_walk walk;
  uint32_t rows, columns; /* of a tile that is whole */
  int64_t extent[2];      /* of the modes of columns and of rows */
  int64_t row_step;
  int64_t low, high; /* the bytes that L spans, from its element (0, ..., 0) */
  int64_t reach[2];  /* from a tile's first element to before the first of its windows, and behind the last, at most */
  uint32_t columns_kept; /* results are columns */
  uint32_t staged;       /* in shared memory */
  uint32_t merged;       /* and as one row, since rows follow each other in memory */
  cutt_divisor windows;  /* of a row, at most; merged, of all */
  uint32_t apart;        /* windows from one of a thread's to the next: threads beyond have none */
  /* Of columns: in a thread's share, and how many threads have shares of the same rows. */
  cutt_divisor across;
  /* Results of a tile, and sums of threads for each; from those of a result to the next, and from one to the next; lanes that add them
   * up, a power of 2. */
  uint32_t results, sums, result_apart, sum_apart, lanes;
  int64_t result_step;
  uint32_t sums_at;   /* in shared memory, behind the windows */
  int64_t part_bytes; /* from the results of one part to those of the next, in workspace */
  uint32_t flip;      /* sign bit of the imaginary part, where that is to be changed */
  uint8_t stores_sums, op;
  cutt_sum_scalars scalars;
} cutt_sum_args;

#endif
