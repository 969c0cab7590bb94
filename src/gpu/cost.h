/* What a candidate is predicted to take on a device: a pure function of numbers. */
#ifndef CUTT_GPU_COST_H
#define CUTT_GPU_COST_H

#include "gpu/access.h"
#include "gpu/tile.h"
#include "model/device.h"
#include "model/method.h"

/* Steps that the threads of a block take along a line (a row, a column) of a tile, and across lines. */
typedef struct cutt_gpu_steps {
  double along, across;
} cutt_gpu_steps;

/* What the price of a geometry is made of, for buffers that are aligned as well as can be. */
typedef struct cutt_gpu_counts {
  cutt_gpu_access widest; /* as the buffers allow */
  double row_bytes, column_bytes;
  double in_align, out_align; /* bytes: what divides all places where rows, and columns, begin; up to 128 */
  /* Units that the tile's stretches of memory (rows, columns, or several that lie one behind the other) touch in the mean,
   * over those that they fill, less 1. */
  double written_sectors, read_lines, written_lines;
  double tile_bytes;
  double shared_bytes; /* of a tile, with its rows' padding */
  double table_bytes;  /* of a block's tables */
  double padding;      /* what tiles at edges would have if they were whole, over the volume */
  double block_tiles;  /* set by cutt_gpu_price */
  /* What depends on the threads of a block: set by cutt_gpu_count_threads. */
  int threads;
  cutt_gpu_access access; /* as the banks of shared memory have it */
  cutt_gpu_steps load, store;
  double conflicts; /* how often the banks are asked again, over how often they have to be asked at least */
} cutt_gpu_counts;

void cutt_gpu_count(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct, cutt_gpu_counts *n);

/* Blocks that are resident on an SM at once; 0: not even one fits. copies: of a kernel of copy.cu, else of tile.cu. */
int cutt_gpu_occupancy(const cutt_device *d, bool copies, int threads, double shared_bytes);

/* The model's parameters (model/target.h). */
enum { CUTT_GPU_PARAMETERS = 29 };
extern const cutt_parameter cutt_gpu_parameters[CUTT_GPU_PARAMETERS];
extern const double cutt_gpu_values[CUTT_GPU_PARAMETERS]; /* built in */

/* Bytes per second, read and written ones counted, of a plain copy. */
double cutt_gpu_copy_bandwidth(const cutt_device *d);

/* Of an empty kernel, from event to event. */
double cutt_gpu_launch_seconds(const cutt_device *d);

/* The counts' part that depends on the threads of a block. banks: with the conflicts between banks, which is most of the
 * work; without, what they cost is missing, and the price can only be too low. */
void cutt_gpu_count_threads(const cutt_canonical *c, const cutt_gpu_tile *tile, int threads, bool banks,
                            cutt_gpu_counts *n);

/* Chooses stages, tiles of a block and threads for the geometry, and predicts the seconds: fills candidate's threads,
 * param[] and seconds, and what they are made of. False when the tile does not fit into shared memory with so many
 * stages. */
bool cutt_gpu_price(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, cutt_gpu_counts *n,
                    int stages, cutt_candidate *candidate, cutt_breakdown *price);

/* What M_m means for reading, or M_k for writing, whatever the other is: sectors and lines as in cutt_gpu_counts, and
 * what tiles would cover if none were smaller, over the volume. */
typedef struct cutt_gpu_side {
  double length; /* elements of a run */
  double sectors, lines, edge;
} cutt_gpu_side;
void cutt_gpu_side_count(const cutt_canonical *c, const int *order, int count, int64_t split, bool input,
                         cutt_gpu_side *side);

/* No candidate of these two, through shared memory, with tiles of at most so many elements, by blocks of so many threads or
 * more, is predicted to take less. */
double cutt_gpu_least_of_sides(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_side *rows,
                               const cutt_gpu_side *columns, double tile_elements, int threads);

/* Nor one of this geometry, by blocks of as many threads as the counts are for. */
double cutt_gpu_least_of_tile(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile,
                              const cutt_gpu_counts *n);

#endif
