/* Lower bounds of predicted times. */
#ifndef CUTT_GPU_BOUNDS_H
#define CUTT_GPU_BOUNDS_H

#include "gpu/cost.h"

/* What the bounds of a problem have in common: worked out once. Times in seconds, as they add up with the parameters' values. */
typedef struct cutt_gpu_bounds {
  const cutt_device *device;
  const cutt_canonical *canonical;
  const double *value;                       /* of the parameters */
  bool cached, windows;                      /* may L2 hold both tensors; are there tiles in windows */
  double bytes;                              /* to move a tensor's bytes once */
  double streams;                            /* so often they move */
  double moved;                              /* all that moves */
  double padding, written_lines, read_lines; /* each of what it is multiplied by in cutt_gpu_counts */
  double few, step;                          /* values: of too few threads, and of a step along a column */
  double tables, flat;                       /* a launch, with tables and without, and a first tile */
  double loads;                              /* a thread's loads, of a byte each */
  double slots, flat_slots;                  /* blocks that run at once, at most */
} cutt_gpu_bounds;

/* Blocks with tables have so many threads at least. */
enum { CUTT_GPU_LEAST_THREADS = 256 };

cutt_gpu_bounds cutt_gpu_bounds_of(const cutt_device *device, const cutt_canonical *c);

/* What M_m alone says of reading, or M_k of writing: sectors and cache lines as in cutt_gpu_counts, sectors in part of whole runs, what
 * divides all places where runs begin, in bytes, and what tiles would cover if those at edges were whole, over the volume. */
typedef struct cutt_gpu_side {
  double length; /* elements of a run */
  double sectors, window_ends, lines, align, edge;
  double load; /* the most bytes that rows are loaded at a time, with tables */
} cutt_gpu_side;
void cutt_gpu_side_count(const cutt_device *d, const cutt_canonical *c, const int *order, int count, int64_t split,
                         bool input, cutt_gpu_side *side);

/* What of a tile's geometry follows from its two sides. */
typedef struct cutt_gpu_box {
  double elements;
  int row_modes, column_modes, run_modes;
  bool common; /* M_m and M_k have modes in common */
} cutt_gpu_box;
cutt_gpu_box cutt_gpu_box_of(const cutt_canonical *c, int m, int64_t split_m, int k, int64_t split_k);

/* Of any candidate of these two sides, as tiles that go through shared memory: with tables, of so many elements at most, and without. */
double cutt_gpu_least_with_tables(const cutt_gpu_bounds *b, const cutt_gpu_side *rows, const cutt_gpu_side *columns,
                                  double tile_elements);
double cutt_gpu_least_without(const cutt_gpu_bounds *b, const cutt_gpu_side *rows, const cutt_gpu_side *columns,
                              const cutt_gpu_box *box);

/* Of a geometry that has been counted: without tables, and with them for as many threads as have been counted. */
double cutt_gpu_least_of_flat(const cutt_gpu_bounds *b, const cutt_gpu_tile *tile, const cutt_gpu_counts *n);
double cutt_gpu_least_of_tile(const cutt_gpu_bounds *b, const cutt_gpu_tile *tile, const cutt_gpu_counts *n);

#endif
