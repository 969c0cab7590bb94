/* The terms of a candidate's predicted time, and what their counts are made of: shared by the predictions (cost.c) and by their lower
 * bounds (bounds.c). */
#ifndef CUTT_GPU_TERMS_H
#define CUTT_GPU_TERMS_H

#include "base/number.h"
#include "gpu/cost.h"

enum { LINE = 128, WARP = CUTT_GPU_WARP }; /* bytes of a cache line; lanes */

/* The parameters, in the order of cutt_gpu_parameters. */
enum {
  /* memory */
  TRAFFIC,
  COPIED,
  CACHED,
  WRITTEN_SECTORS,
  READ_LINES,
  WRITTEN_LINES,
  ADDED_LINES,
  ADDED_COLUMNS,
  PRESSED_SECTORS,
  PRESSED_LINES,
  WINDOW_ENDS,
  RUNS,
  PADDING,
  FLIGHT,
  FEW,
  FEW_ADDED,
  FEW_WINDOWS,
  FLAT_FLIGHT,
  TAIL,
  CONFLICTS,
  LARGE_BLOCKS,
  SINGLE,
  FLAT_SINGLE,
  FLAT_HALVES,
  FLAT_LINES,
  REPEATED,
  COPIES,
  /* work */
  LOADS,
  LOAD_UNITS,
  STORE_UNITS,
  ADDED_STEPS,
  GATHERS,
  UNALIGNED,
  TILES,
  LATENCY,
  COPY_TILES,
  FLAT_WARPS,
  FLAT_ACCESSES,
  FLAT_TILES,
  /* start */
  LAUNCH,
  FLAT_LAUNCH,
  START,
  TABLES,
  LAST_LOADS,
  LAST_STORES,
  FLAT_LAST,
  FLAT_BLOCKS,
  PARAMETERS,
  WORK = LOADS,
  STARTING = LAUNCH
};

/* Threads of an SM that are as good as more of them: measured, docs/log.md. */
static const double enough_threads = 1024;
/* Fewer take too long for the tables of a tile in windows: measured, docs/log.md. Nor are those listed that read more than a quarter of
 * their rows for the next tile. */
enum { LEAST_WINDOW_THREADS = 128 };
/* What tiles in windows take of lines that rows have in part, as the tiles that have the rest come soon after (group_chunks in flat.c),
 * and of what columns take that end in sectors which L2 may have evicted: fitted, docs/log.md. */
static const double window_lines = 0.65, window_pressure = 2;
/* Steps that are left of so many for the tables of columns, which are filled while rows are on their way: fitted, too. */
static inline double window_steps_later(double steps) {
  const double most = 8;
  return steps - smaller(steps / 2, most);
}
/* What the least of these kernels takes of their terms for warps and tiles. */
static const double flat_least_share = 0.35;

/* Not fmin, fmax, floor and ceil, which are calls, for the sake of numbers that do not occur here: a number is below the
 * largest int64_t, or so large that it is whole. */
static inline double down(double x) { return x < 1e15 ? (double)(int64_t)x : x; }
static inline double up(double x) {
  const double w = down(x);
  return w < x ? w + 1 : w;
}

/* Sectors, or cache lines, of `grain` bytes that a run touches in the mean over those that it fills, less 1, when runs begin
 * at multiples of `align` bytes. */
static inline double partial(double bytes, double align, double grain) {
  if (align >= grain) return up(bytes / grain) * grain / bytes - 1;
  return (grain - align) / bytes;
}

/* Is the output read too? Then memory has three streams. */
static inline bool adds_to_output(const cutt_canonical *c) { return c->scale.active && c->scale.reads_out; }

/* Do both tensors fit into half of L2? Then they may still be there from the last execution. */
static inline bool fits_cache(const cutt_device *d, const cutt_canonical *c) {
  return 4.0 * (double)c->volume * c->elem_bytes <= (double)d->l2_bytes;
}

static inline const double *values_of(const cutt_device *d) { return cutt_target_values(&d->base, cutt_gpu_values); }

/* Where M_k's runs begin and end as a whole: sectors in part, over those that a run fills, of a tile in windows. */
double cutt_gpu_window_ends_of(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile);

/* What a thread adds up for the tables of a tile in windows, of so many rows, mode by mode. */
double cutt_gpu_window_table_steps(const cutt_gpu_tile *tile, int64_t rows, uint32_t threads);

/* Entries of a block's tables that a thread computes, by the modes of each. */
double cutt_gpu_table_entries(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_counts *n);

#endif
