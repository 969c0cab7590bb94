/* What a candidate is predicted to take on a device: a pure function of numbers. */
#ifndef CUTT_GPU_COST_H
#define CUTT_GPU_COST_H

#include "gpu/access.h"
#include "gpu/tile.h"
#include "model/device.h"
#include "model/method.h"

/* Iterations of a block's threads: along a row (or column) of a tile, and from row to row. */
typedef struct cutt_gpu_steps {
  double along, across;
} cutt_gpu_steps;

/* What the time of a geometry depends on, for buffers that are aligned as well as can be. */
typedef struct cutt_gpu_counts {
  cutt_gpu_access widest; /* that the alignment allows */
  double row_bytes, column_bytes;
  double in_align, out_align; /* bytes: what divides all places where rows, and columns, begin; up to 128 */
  /* Sectors and cache lines that the tile's ranges of memory touch in the mean, over those that they fill, less 1. A range
   * is a row, a column, or several that lie one behind the other. */
  double written_sectors, read_lines, written_lines;
  /* Of rows with gaps: bytes of these, over the rows' own; where M_k goes on over gaps, sectors in part at both ends of columns that follow
   * one another; else -1. */
  double row_gaps, column_ends;
  /* Of an input that is repeated: what reading takes, over what it would take if nothing were; what tiles ask for, over all that is
   * written; and the bytes of the input. Otherwise 1, 1 and all. */
  double read_share, asked_share, distinct_bytes;
  double tile_bytes, tiles;     /* a tile's bytes; how many there are */
  double shared_bytes;          /* of a tile, with its rows' padding */
  double table_bytes;           /* of a block's tables */
  double padding;               /* what tiles at edges would have if they were whole, over the volume */
  double block_tiles;           /* set by cutt_gpu_predict */
  bool flat;                    /* without tables: set by cutt_gpu_count_flat */
  bool joined;                  /* there: one side of a tile is a single range */
  double load_turns, turns;     /* there: as which a load counts, and a store, each of which turns narrow elements */
  double row_span, column_span; /* there: bytes that lie one behind the other: of a run, or of all runs of a tile */
  bool async;                   /* there: rows are copied asynchronously */
  bool windows;                 /* there: in windows that begin with sectors */
  /* There: sectors that runs have in part, over those that they fill; rows that two tiles read, over all; what a thread adds up for
   * tables, mode by mode; and a thread's elements of a tile. */
  double window_ends, read_again, table_steps, thread_elements;
  double
      later; /* there: bytes that a thread asks for after the first ones, over these; of the output only, where `async` */
  double store_parts; /* there: as many requests write a column; 0: columns are joined */
  /* What depends on the threads of a block: set by cutt_gpu_count_threads. */
  int threads;
  cutt_gpu_access access; /* with loads and stores as wide as suits the banks of shared memory */
  cutt_gpu_steps load, store;
  double conflicts; /* wavefronts of shared memory beyond those without conflicts, over the latter */
} cutt_gpu_counts;

void cutt_gpu_count(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct,
                    cutt_gpu_counts *n);

/* Blocks that are resident on an SM at once; 0: not even one fits. copies: of a kernel of copy.cu, else of tile.cu. */
int cutt_gpu_occupancy(const cutt_device *d, bool copies, int threads, double shared_bytes);

/* The model's parameters (model/target.h). */
enum { CUTT_GPU_PARAMETERS = 47 };
extern const cutt_parameter cutt_gpu_parameters[CUTT_GPU_PARAMETERS];
extern const double cutt_gpu_values[CUTT_GPU_PARAMETERS]; /* built in */

/* Bytes per second, read and written ones counted, of a plain copy. */
double cutt_gpu_copy_bandwidth(const cutt_device *d);

/* The share of what is written that the input has; 1 unless it is repeated. */
double cutt_gpu_distinct_share(const cutt_canonical *c);

/* Bytes that an SM has to have asked for at once to keep memory busy (Little's law). */
double cutt_gpu_flight_needed(const cutt_device *d);

/* Of an empty kernel, from event to event. */
double cutt_gpu_launch_seconds(const cutt_device *d);

/* The counts' part that depends on the threads of a block. banks: with bank conflicts, which take the most time to count;
 * without, their cost is left out, so that the predicted time is a lower bound. */
void cutt_gpu_count_threads(const cutt_canonical *c, const cutt_gpu_tile *tile, int threads, bool banks,
                            cutt_gpu_counts *n);

/* The least that those can be. */
void cutt_gpu_assume_threads(const cutt_canonical *c, const cutt_gpu_tile *tile, int threads, cutt_gpu_counts *n);

/* All of the counts once more for a kernel without tables, which takes the tile (flat.h); false: with other alignment or threads. */
bool cutt_gpu_count_flat(const cutt_device *device, const cutt_canonical *c, const cutt_gpu_tile *tile, int threads,
                         cutt_gpu_counts *n);

/* Predicts what the geometry takes with so many stages, and the threads that have been counted: fills the candidate's
 * threads, param[] and seconds, and their breakdown. False when so many tiles do not fit into shared memory. */
bool cutt_gpu_predict(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, cutt_gpu_counts *n,
                      int stages, cutt_candidate *candidate, cutt_breakdown *breakdown);

#endif
