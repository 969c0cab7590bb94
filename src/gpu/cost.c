/* The cost of a candidate: counts in closed form of extents, alignment and the tile (no element is visited), and the time
 * that each takes. Three things make the time of an execution:
 *
 *   memory  bytes that move, and what memory and L2 do beyond them: sectors and lines that are touched in part, tiles at
 *           edges, too few bytes in flight
 *   work    what an SM's blocks do: instructions, and waiting at each tile, divided by the blocks that an SM holds
 *   start   the launch, and what the first and the last block do while others do nothing
 *
 * How the three add up is in model/target.h. */
#include "gpu/cost.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "gpu/banks.h"
#include "gpu/flat.h"
#include "gpu/kernels/args.h"
#include "gpu/link.h"
#include "gpu/pitch.h"
#include "gpu/terms.h"

/* ------------------------------------------------------------------------------------------------------ parameters */

_Static_assert((int)PARAMETERS == (int)CUTT_GPU_PARAMETERS, "cost.h says how many there are");
_Static_assert((int)PARAMETERS <= (int)CUTT_TERMS, "a breakdown has room for so many");

const cutt_parameter cutt_gpu_parameters[PARAMETERS] = {
    [TRAFFIC] = {"traffic", "B", "bytes read and written through shared memory"},
    [COPIED] = {"copied", "B", "bytes read and written by a copy of runs"},
    [CACHED] = {"cached", "B", "bytes read and written where L2 holds both tensors"},
    [WRITTEN_SECTORS] = {"written_sectors", "B", "bytes of sectors that are written in part, beyond the output's own"},
    [READ_LINES] = {"read_lines", "B", "bytes of lines that are read in part, beyond the input's own"},
    [WRITTEN_LINES] = {"written_lines", "B", "bytes of lines that are written in part, beyond the output's own"},
    [ADDED_LINES] = {"added_lines", "B",
                     "bytes of lines that are read and written in part, beyond the output's own, where it is added to"},
    [ADDED_COLUMNS] = {"added_columns", "B", "columns of an output that is added to"},
    [RUNS] = {"runs", "B", "runs that are copied"},
    [PRESSED_SECTORS] =
        {"pressed_sectors", "B",
         "bytes of sectors that columns end in, by the square of the share of L2 that tiles in flight take"},
    [PRESSED_LINES] = {"pressed_lines", "B",
                       "bytes of lines that rows end in, by the square of the share of L2 that tiles in flight take"},
    [WINDOW_ENDS] = {"window_ends", "B", "bytes of sectors in part that runs in windows begin and end in"},
    [PADDING] = {"padding", "B", "bytes that tiles at edges lack"},
    [FLIGHT] = {"flight", "B", "bytes that memory could move, had it been asked for enough at once"},
    [FEW] = {"few", "B",
             "bytes that move while an SM has fewer than 1024 threads to ask for them, by what they lack of that"},
    [FEW_ADDED] = {"few_added", "B", "the same with tables, where the output is added to"},
    [FEW_WINDOWS] = {"few_windows", "B", "the same of tiles in windows"},
    [FLAT_FLIGHT] = {"flat_flight", "B",
                     "bytes that memory could move, had kernels without tables asked for enough at once"},
    [TAIL] = {"tail", "B", "bytes that could move while the last tiles leave SMs without work"},
    [CONFLICTS] = {"conflicts", "cycles", "accesses of banks of shared memory again"},
    [LARGE_BLOCKS] = {"large_blocks", "B", "bytes moved by blocks of more than 256 threads, which wait longer"},
    [SINGLE] = {"single", "B", "bytes moved by blocks of one tile at a time, which load or store and never both"},
    [FLAT_SINGLE] = {"flat_single", "B", "the same without tables, where L2 does not hold both tensors"},
    [FLAT_HALVES] =
        {"flat_halves", "B",
         "bytes moved without tables where elements of 2 bytes are added to an output that L2 does not hold"},
    [FLAT_LINES] =
        {"flat_lines", "B",
         "bytes moved by asynchronous copies without tables where rows have one line, and of columns single ones"},
    [REPEATED] = {"repeated", "B", "bytes that blocks read from the same few lines of L2, 16 at a time"},
    [COPIES] = {"copies", "cycles", "warps' loads and stores in a copy of runs"},
    [LOADS] = {"loads", "cycles", "warps' loads"},
    [LOAD_UNITS] = {"load_units", "cycles", "warps' steps along rows"},
    [STORE_UNITS] = {"store_units", "ns", "blocks' steps along columns, one tile after another"},
    [ADDED_STEPS] = {"added_steps", "ns", "blocks' steps along columns that wait for the output, which they add to"},
    [GATHERS] = {"gathers", "cycles", "loads of one or two bytes put together to words, by warps"},
    [UNALIGNED] = {"unaligned", "cycles", "words of rows, and of columns, that begin anywhere, by warps"},
    [TILES] = {"tiles", "ns", "tiles' barriers, one tile after another"},
    [LATENCY] = {"latency", "ns", "waiting for tiles, where a block has one of them at a time"},
    [COPY_TILES] = {"copy_tiles", "ns", "waiting for tiles of a copy of runs, one after another"},
    [FLAT_WARPS] = {"flat_warps", "cycles", "warps of blocks without tables"},
    [FLAT_ACCESSES] = {"flat_accesses", "cycles", "accesses of these, by warps"},
    [FLAT_TILES] = {"flat_tiles", "ns", "waiting for tiles of these, one after another"},
    [LAUNCH] = {"launch", "x", "an empty kernel"},
    [FLAT_LAUNCH] = {"flat_launch", "x", "an empty kernel, before one without tables"},
    [START] = {"start", "ns", "a block's first tile"},
    [TABLES] = {"tables", "ns", "a block's tables, entry after entry"},
    [LAST_LOADS] = {"last_loads", "ns", "loads of a thread, when all blocks run at once"},
    [LAST_STORES] = {"last_stores", "ns", "stores of a thread, when all blocks run at once"},
    [FLAT_LAST] = {"flat_last", "ns", "accesses of a thread without tables, in the first blocks or the last"},
    [FLAT_BLOCKS] = {"flat_blocks", "x", "blocks without tables that begin, beyond all else that they take"},
};

/* Fitted on an H200: docs/performance.md. */
const double cutt_gpu_values[PARAMETERS] = {[TRAFFIC] = 0.963,
                                            [COPIED] = 1.1,
                                            [CACHED] = 0.56,
                                            [WRITTEN_SECTORS] = 2.13,
                                            [READ_LINES] = 0.326,
                                            [WRITTEN_LINES] = 0.241,
                                            [ADDED_LINES] = 1.08,
                                            [ADDED_COLUMNS] = 4,
                                            [PRESSED_SECTORS] = 4.24,
                                            [PRESSED_LINES] = 0.369,
                                            [WINDOW_ENDS] = 5.28,
                                            [RUNS] = 50,
                                            [PADDING] = 0.0384,
                                            [FLIGHT] = 0.192,
                                            [FEW] = 0.091,
                                            [FEW_ADDED] = 0.268,
                                            [FEW_WINDOWS] = 0.254,
                                            [FLAT_FLIGHT] = 0.5,
                                            [TAIL] = 0.197,
                                            [CONFLICTS] = 0.6,
                                            [LARGE_BLOCKS] = 0.125,
                                            [SINGLE] = 0.0184,
                                            [FLAT_SINGLE] = 0.134,
                                            [FLAT_HALVES] = 0.19,
                                            [COPIES] = 3,
                                            [FLAT_LINES] = 0.035,
                                            [REPEATED] = 11,
                                            [LOADS] = 2.52,
                                            [LOAD_UNITS] = 3.46,
                                            [STORE_UNITS] = 137,
                                            [ADDED_STEPS] = 1020,
                                            [GATHERS] = 3.31,
                                            [UNALIGNED] = 12.4,
                                            [TILES] = 902,
                                            [LATENCY] = 321,
                                            [COPY_TILES] = 700,
                                            [FLAT_WARPS] = 55.1,
                                            [FLAT_ACCESSES] = 4.61,
                                            [FLAT_TILES] = 567,
                                            [LAUNCH] = 1.24,
                                            [FLAT_LAUNCH] = 1.1,
                                            [START] = 469,
                                            [TABLES] = 34.4,
                                            [LAST_LOADS] = 45.5,
                                            [LAST_STORES] = 2.65,
                                            [FLAT_LAST] = 36.7,
                                            [FLAT_BLOCKS] = 1};

static const double copy_share = 0.88;        /* of the memory's bandwidth that a copy reaches, where it is not known */
static const double usual_launch = 4.85e-6;   /* seconds of an empty kernel, likewise */
static const double sm_share = 1.0 / 50;      /* of the copy's bandwidth that one SM can reach alone */
static const double flight_seconds = 1.35e-6; /* of an SM's share of memory's bandwidth */
static const double flight_least = 32 * 1024;
/* Bytes that a thread without tables asks for at once, 16 at a time; and accesses, of elements. */
enum { FLAT_ASKED = 64, FLAT_ASKED_EACH = CUTT_FLAT_BATCH };
/* Without tables memory is busy from so many bytes in flight on: what a thread asks for comes in one go, after what it works out for
 * that. */
static const double flat_flight_least = 48 * 1024;
static const double slice_bytes = 4096; /* of memory one behind the other that one slice of L2 has: fitted */

double cutt_gpu_copy_bandwidth(const cutt_device *d) {
  if (d->copy_bandwidth > 0) return d->copy_bandwidth;
  return (d->memory_bandwidth > 0 ? d->memory_bandwidth : 1e12) * copy_share;
}

double cutt_gpu_launch_seconds(const cutt_device *d) {
  return d->launch_seconds > 0 ? d->launch_seconds : usual_launch;
}

double cutt_gpu_distinct_share(const cutt_canonical *c) {
  double share = 1;
  for (int j = 0; j < c->rank; ++j) {
    if (c->mode[j].in_stride == 0) share /= (double)c->mode[j].extent;
  }
  return share;
}

/* What tiles ask for again comes from L2, and in copies from L1: of what it takes from memory, measured, docs/log.md. */
static const double again_from_l2 = 0.3;

static void count_reads(const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct, cutt_gpu_counts *n) {
  const double distinct = cutt_gpu_distinct_share(c);
  n->asked_share = 1 / (double)tile->repeats;
  n->read_share = distinct + (direct ? 0 : again_from_l2) * (n->asked_share - distinct);
  n->distinct_bytes = distinct * (double)c->volume * c->elem_bytes;
}

/* The longest contiguous range of memory that a tile covers: a row (or a column), or several that lie one behind the other,
 * because the tile has all of the modes between them; only sectors at the ends of a range are shared with other tiles. */
typedef struct range {
  double bytes, align; /* its length; the power of two that divides where such ranges begin */
} range;

static inline range range_of(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input) {
  int64_t length = 1, dense = 1;
  uint64_t bits = LINE;
  bool open = true;
  for (int i = 0; i < c->rank; ++i) {
    const int j = input ? i : c->out_order[i];
    const int64_t extent = c->mode[j].extent, inside = tile->extent[j];
    const int64_t stride = input ? magnitude(c->mode[j].in_stride) : c->mode[j].out_stride;
    open = open && stride == dense;
    if (open) {
      length *= inside;
      dense *= extent;
    }
    if (!open || inside != extent) bits |= (uint64_t)(stride * (open ? inside : 1) * c->elem_bytes);
    open = open && inside == extent;
  }
  return (range){(double)(length * c->elem_bytes), (double)cutt_gpu_power(bits)};
}

/* Blocks of `grain` bytes (sectors, lines) that a tile's columns touch in the mean, over those that they fill, less 1. Columns that
 * follow one another in memory touch what lies between them, too, where that is less than a block. *ends: the same of what the first
 * and the last of these touch beyond them. */
static double partial_beside(const cutt_canonical *c, const cutt_gpu_tile *tile, double align, double grain,
                             double *ends) {
  const double w = c->elem_bytes;
  double span = (double)tile->column_length * w, used = span;
  for (int i = 0; i < tile->beside; ++i) {
    const int j = tile->column[i];
    const double step = (double)c->mode[j].out_stride * w;
    if (step - span >= grain) break;
    span += (double)(tile->extent[j] - 1) * step;
    used *= (double)tile->extent[j];
  }
  *ends = partial(span, align, grain) * span / used;
  return span / used - 1 + *ends;
}

/* How much of what does not fit into half of L2 comes from memory: all of it, if both tensors are larger than L2. */
static double share_from_memory(const cutt_device *d, const cutt_canonical *c) {
  const double half = larger((double)d->l2_bytes / 2, 1e6);
  return smaller(1, larger(0, 2.0 * (double)c->volume * c->elem_bytes / half - 1));
}

double cutt_gpu_flight_needed(const cutt_device *d) {
  return larger(flight_least, cutt_gpu_copy_bandwidth(d) / copy_share / d->sms * flight_seconds);
}

/* Where M_k's runs begin and end as a whole. */
double cutt_gpu_window_ends_of(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile) {
  uint64_t bits = LINE;
  double run = c->elem_bytes;
  for (int j = 0; j < c->rank; ++j) {
    if (tile->in_k >> j & 1)
      run *= (double)c->mode[j].extent;
    else
      bits |= (uint64_t)(c->mode[j].out_stride * c->elem_bytes);
  }
  return partial(run, (double)cutt_gpu_power(bits), cutt_gpu_sector(d));
}

/* What goes over gaps instead: the sides of a tile as its rows and columns lie in memory. */
static void count_gaps(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, cutt_gpu_counts *n) {
  if (tile->row_gaps) {
    const double used = n->tile_bytes / (double)tile->repeats, span = n->row_bytes * (double)tile->rows / used;
    n->row_gaps = span - 1;
    n->read_lines = partial(n->row_bytes, n->in_align, LINE) * span;
  }
  if (tile->beside > 0) {
    double ends;
    n->written_lines = partial_beside(c, tile, n->out_align, LINE, &ends);
    n->written_sectors = partial_beside(c, tile, n->out_align, cutt_gpu_sector(d), &n->column_ends);
  }
}

static double steps_to(int64_t count, uint32_t step) {
  const uint32_t steps = ((uint32_t)count + step - 1) / step;
  return steps;
}

/* What a thread adds up for the tables of a tile in windows, of so many rows, mode by mode. */
double cutt_gpu_window_table_steps(const cutt_gpu_tile *tile, int64_t rows, uint32_t threads) {
  const bool runs = cutt_gpu_run_columns(tile) > 0;
  const int column_modes = tile->column_modes + (runs ? tile->row_modes : 0);
  const double later = steps_to(tile->columns, threads) * column_modes +
                       (runs ? 0 : 2 * steps_to(tile->column_length, threads) * tile->run_modes);
  return steps_to(rows, threads) * tile->row_modes + window_steps_later(later);
}

/* Entries of a block's tables that a thread computes, by the modes of each. */
double cutt_gpu_table_entries(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_counts *n) {
  const double threads = n->threads, w = c->elem_bytes, shared_load = n->access.shared_load;
  return up((double)tile->rows / threads) * tile->row_modes +
         up(n->column_bytes / shared_load / threads) * (tile->run_modes + (shared_load < w)) +
         up((double)(tile->columns + tile->short_columns) / threads) * tile->column_modes;
}

void cutt_gpu_count(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, bool direct,
                    cutt_gpu_counts *n) {
  const double w = c->elem_bytes;
  const char *why;
  cutt_gpu_access_choose(c, tile, direct, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &n->widest, &why);
  n->access = n->widest;
  n->threads = 0;
  n->flat = n->async = n->windows = false;
  n->read_again = n->window_ends = n->table_steps = n->thread_elements = 0;
  n->row_bytes = (double)tile->row_length * w;
  n->column_bytes = (double)tile->column_length * w;
  n->in_align = (double)cutt_gpu_power(tile->row_steps | LINE);
  n->out_align = (double)cutt_gpu_power(tile->column_steps | LINE);
  n->tile_bytes = (double)tile->volume * w;
  n->row_gaps = 0;
  n->column_ends = -1;
  count_reads(c, tile, direct, n);
  const range in = range_of(c, tile, true), out = range_of(c, tile, false);
  n->written_sectors = partial(out.bytes, out.align, cutt_gpu_sector(d));
  n->read_lines = partial(in.bytes, in.align, LINE);
  n->written_lines = partial(out.bytes, out.align, LINE);
  if (cutt_gpu_has_gaps(tile)) count_gaps(d, c, tile, n);
  n->tiles = (double)tile->tiles;
  double padded = 1, all = 1;
  for (int i = 0; i < 2; ++i) {
    const int j = tile->cut[i];
    if (j < 0) continue;
    padded *= (double)(cutt_gpu_chunks(c->mode[j].extent, tile->extent[j]) * tile->extent[j]);
    all *= (double)c->mode[j].extent;
  }
  n->padding = padded / all - 1;
  const double loads = direct ? 0 : n->column_bytes / smaller(w, larger(1, n->out_align));
  n->table_bytes = (double)(tile->rows * CUTT_ROW_ENTRY + (tile->columns + tile->short_columns) * CUTT_COLUMN_ENTRY) +
                   loads * CUTT_RUN_ENTRY + CUTT_BLOCK_TILES * CUTT_TILE_ENTRY + 256;
  n->shared_bytes = direct ? 0 : (double)tile->rows * (n->row_bytes + larger(w, 8));
}

int cutt_gpu_occupancy(const cutt_device *d, bool copies, int threads, double shared_bytes) {
  if (shared_bytes > d->block_shared) return 0;
  /* What the kernels are compiled for bounds their registers, and an SM has as many on every device of today. */
  const int by_registers =
      copies ? CUTT_COPY_BLOCKS * CUTT_COPY_THREADS / threads : CUTT_BLOCKS * CUTT_BLOCK_THREADS / threads;
  const double by_shared = larger(1, down(d->sm_shared / (shared_bytes + d->reserved_shared))); /* one block has room */
  const int by_threads = d->sm_threads / threads;
  return (int)smaller(smaller(d->sm_blocks, by_threads), smaller(by_registers, by_shared));
}

/* Bytes that the threads of a block load before they store: as access.c spreads them, and copy.cu batches loads. */
static double copied_at_once(const cutt_gpu_counts *n, int threads) {
  const double load = smaller(16, smaller(n->in_align, n->out_align)), loads = larger(1, down(n->row_bytes / load));
  const double parts = up(loads / threads), along = up(loads / parts);
  const double lanes = n->tile_bytes > n->row_bytes ? along * down(threads / along) : smaller(loads, threads);
  return smaller(n->tile_bytes, lanes * load * (load >= 16 ? CUTT_COPY_LOADS_16 : CUTT_COPY_LOADS));
}

static cutt_gpu_steps steps_of(cutt_gpu_spread at, uint32_t accesses, uint32_t runs) {
  const uint32_t along = (accesses + at.along - 1) / at.along, across = (runs + at.across - 1) / at.across;
  return (cutt_gpu_steps){along, across};
}

void cutt_gpu_count_threads(const cutt_canonical *c, const cutt_gpu_tile *tile, int threads, bool banks,
                            cutt_gpu_counts *n) {
  n->access = n->widest;
  n->threads = threads;
  n->conflicts = 0;
  if (n->access.copies) return;
  cutt_gpu_spread loads, stores;
  if (banks) {
    const cutt_gpu_banks expected = cutt_gpu_banks_expect(c, tile, (uint32_t)threads, &n->access);
    loads = expected.loads;
    stores = expected.stores;
    n->conflicts = expected.rows - 1 + expected.columns - 1;
  } else {
    bool alike;
    n->access.load = cutt_gpu_pitch_load(c, tile, n->access.shared_load, n->access.load);
    loads = cutt_gpu_spread_loads(c, tile, &n->access, (uint32_t)threads);
    stores = cutt_gpu_spread_stores(c, tile, &n->access, (uint32_t)threads, &alike);
  }
  const uint32_t row_loads = cutt_gpu_accesses((uint32_t)n->row_bytes, n->access.load);
  const uint32_t column_stores = cutt_gpu_accesses((uint32_t)n->column_bytes, n->access.store);
  n->load = steps_of(loads, row_loads, (uint32_t)tile->rows);
  if (tile->row_gaps && n->access.load > 0 &&
      (uint32_t)n->row_bytes % n->access.load != 0) { /* a load more for each row */
    n->load.along = larger(1, n->load.along);
    n->load.across += up((double)tile->rows / threads) / n->load.along;
  }
  n->store = steps_of(stores, column_stores, (uint32_t)tile->columns);
  if (banks || n->access.store == n->access.shared_load || n->access.shared_load < 4) return;
  /* Bank conflicts may yet narrow the stores, of which there are more then, but perhaps fewer along a column. */
  cutt_gpu_access narrow = n->access;
  bool alike;
  cutt_gpu_access_narrow(&narrow);
  stores = cutt_gpu_spread_stores(c, tile, &narrow, (uint32_t)threads, &alike);
  const cutt_gpu_steps steps =
      steps_of(stores, cutt_gpu_accesses((uint32_t)n->column_bytes, narrow.store), (uint32_t)tile->columns);
  n->store.along = smaller(n->store.along, steps.along);
  n->store.across = smaller(n->store.across, steps.across);
}

void cutt_gpu_assume_threads(const cutt_canonical *c, const cutt_gpu_tile *tile, int threads, cutt_gpu_counts *n) {
  n->access = n->widest;
  n->access.load = cutt_gpu_pitch_load(c, tile, n->access.shared_load, n->access.load);
  n->threads = threads;
  n->load = (cutt_gpu_steps){1, larger(1, n->tile_bytes / (larger(4, (double)n->access.load) * threads))};
  n->store = (cutt_gpu_steps){0, 0}; /* a column of less than a word is all tail */
}

/* As what an access of global memory counts that is put together of accesses of shared memory, or taken apart to them. */
static double turns_of(uint32_t bytes, uint32_t shared) { return 0.75 + 0.25 * bytes / shared; }

/* In windows only what runs end in is a sector in part, and some rows are read for two tiles. */
static void count_windows(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile,
                          const cutt_gpu_flat *flat, cutt_gpu_counts *n) {
  const uint32_t w = (uint32_t)c->elem_bytes, accesses = ((uint32_t)n->row_bytes + 2 * 32 - w - 1) / 32 * 2,
                 rows = cutt_gpu_window_rows(tile, w);
  double run = w;
  for (int i = 0; i < tile->run_modes; ++i) run *= (double)c->mode[tile->run[i]].extent;
  const uint32_t threads = (uint32_t)n->threads;
  n->table_steps = cutt_gpu_window_table_steps(tile, rows, threads);
  n->thread_elements = n->tile_bytes / w / threads;
  n->window_ends = cutt_gpu_window_ends_of(d, c, tile);
  n->written_sectors = 0;
  n->column_span = run;
  n->store_parts = 0;
  n->read_again = (double)rows / (double)tile->rows - 1;
  n->load = steps_of((cutt_gpu_spread){flat->load_step, flat->loads.across}, accesses, rows);
  n->turns *= turns_of(flat->store, flat->shared_load);
}

bool cutt_gpu_count_flat(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, int threads,
                         cutt_gpu_counts *n) {
  cutt_gpu_flat flat;
  if (n->windows && threads < LEAST_WINDOW_THREADS) return false; /* as other threads' counts of the tile say */
  if (threads > CUTT_FLAT_THREADS || !cutt_gpu_flat_choose(d, c, tile, n->widest.copies, &n->widest, CUTT_GPU_ALIGNED,
                                                           CUTT_GPU_ALIGNED, (uint32_t)threads, &flat))
    return false;
  if (flat.windows && (threads < LEAST_WINDOW_THREADS ||
                       cutt_gpu_window_rows(tile, (uint32_t)c->elem_bytes) * 4 > (uint32_t)tile->rows * 5))
    return false;
  n->flat = true;
  n->joined = flat.joined != CUTT_FLAT_NOT_JOINED;
  n->async = flat.async;
  n->windows = flat.windows;
  const double asked = flat.async || flat.load == 16 ? FLAT_ASKED : FLAT_ASKED_EACH * flat.load;
  n->later = flat.async && !adds_to_output(c) ? 0 : larger(0, n->tile_bytes / (asked * threads) - 1);
  n->threads = threads;
  n->access.load = flat.load;
  if (flat.copies > 0) {
    /* A thread of a piece works out one place, else one for each access, which takes as long as five of these. */
    n->load = n->store = (cutt_gpu_steps){flat.each, 1};
    n->load_turns = flat.pieces > 0 ? 0.45 : 5.4;
    n->turns = (adds_to_output(c) ? 2 : 1) * (flat.pieces > 0 ? 0.45 : 1.2);
    n->store_parts = 1;
    n->tiles = cutt_gpu_flat_blocks(tile, &flat, (uint32_t)threads);
    n->tile_bytes = (double)flat.load * flat.each * threads;
    n->table_bytes = n->shared_bytes = n->padding = 0;
    return true;
  }
  const bool joined_rows = flat.joined == CUTT_FLAT_ROWS, joined_columns = flat.joined == CUTT_FLAT_COLUMNS;
  const uint32_t loads = (uint32_t)(joined_rows ? n->tile_bytes : n->row_bytes) / flat.load;
  const uint32_t stores = (uint32_t)(joined_columns ? n->tile_bytes : n->column_bytes) / flat.store;
  const uint32_t rows = joined_rows ? 1 : (uint32_t)tile->rows;
  const uint32_t groups = joined_columns ? 1 : (uint32_t)tile->columns / flat.group;
  n->load = steps_of((cutt_gpu_spread){flat.load_step, flat.loads.across}, loads, rows);
  n->store = steps_of((cutt_gpu_spread){flat.store_step, flat.stores.across}, stores, groups);
  n->turns = flat.group > 1 ? 2 : joined_rows ? turns_of(flat.store, flat.shared_load) : 1;
  /* Where the output is added to each access is loaded first; single elements take as long as three that are 16 bytes wide. */
  if (adds_to_output(c)) n->turns *= flat.store == (uint32_t)c->elem_bytes && flat.store < 16 ? 6 : 2;
  n->load_turns = joined_columns ? turns_of(flat.load, flat.shared_store) : 1;
  n->store_parts = joined_columns ? 0 : up((double)stores / flat.stores.along);
  n->row_span = cutt_gpu_one_range(c, tile, true) ? n->tile_bytes : n->row_bytes;
  n->column_span = cutt_gpu_one_range(c, tile, false) ? n->tile_bytes : n->column_bytes;
  if (flat.windows) count_windows(d, c, tile, &flat, n);
  if (joined_rows) n->in_align = (double)cutt_gpu_power(cutt_gpu_range_steps(c, tile, true) | LINE);
  if (joined_columns) n->out_align = (double)cutt_gpu_power(cutt_gpu_range_steps(c, tile, false) | LINE);
  n->table_bytes = 0;
  n->shared_bytes = cutt_gpu_flat_shared(tile, &flat);
  return true;
}

/* How much of L2 tiles in flight take: the rest of a sector that a tile touches in part is the next tiles', unless the sector
 * has left L2 by then. */
static void add_pressure(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_counts *n, int stages,
                         double slots, double byte, double *part) {
  const double bytes = (double)c->volume * c->elem_bytes, room = larger((double)d->l2_bytes, 1e6);
  const double taken = smaller(1.5, slots * n->tile_bytes * (1 + stages) / room), pressure = taken * taken;
  const double row = n->flat ? n->row_span : n->row_bytes, column = n->flat ? n->column_span : n->column_bytes;
  part[PRESSED_SECTORS] = partial(column, n->out_align, cutt_gpu_sector(d)) * bytes * byte * pressure;
  if (n->windows) part[PRESSED_SECTORS] *= window_pressure;
  if (n->column_ends >= 0) part[PRESSED_SECTORS] = n->column_ends * bytes * byte * pressure;
  part[PRESSED_LINES] = partial(row, n->in_align, LINE) * n->read_share * bytes * byte * pressure;
}

/* Lines of a run whose neighbour, of two that lie side by side, is another tile's: over the lines of the run. */
static double single_lines(double span) { return span < 2 * LINE ? 1 : up(span / (2 * LINE)) * 2 * LINE / span - 1; }

/* A block of a copy, beginning: in warps of other kernels. */
static const double copied_block = 3.8;

/* The terms of a kernel without tables, without those of the launch. Where columns begin inside of sectors, each request for a
 * part of one writes a sector that the next one writes too. side: seconds of moving the output's bytes once. */
static void add_flat_terms(const cutt_device *d, const cutt_gpu_counts *n, bool adds, double from_memory, double slots,
                           double cycle, double side, double *part) {
  const double tiles = n->tiles, warps = up((double)n->threads / WARP), sector = cutt_gpu_sector(d);
  const double accesses = n->load_turns * n->load.along * n->load.across + n->turns * n->store.along * n->store.across;
  const double inside = larger(0, 1 - n->out_align / sector) * sector * larger(0, n->store_parts - 1) / n->column_bytes;
  /* Blocks of a copy do so little that it counts how fast they can begin. A thread of a copy, or of a tile with one range, has less to
   * work out before its first access; the former waits for no other. */
  part[FLAT_WARPS] =
      tiles * cycle * (n->access.copies ? 0.2 * warps + copied_block : warps * (n->joined ? flat_least_share : 1));
  part[FLAT_ACCESSES] = tiles * warps * accesses * cycle;
  part[FLAT_LAST] = n->access.copies ? 0 : accesses * 1e-9; /* those of a copy are few, and begin at once */
  part[WRITTEN_SECTORS] += inside * side * (adds ? 1.5 : 1);
  part[FLAT_TILES] = n->access.copies ? 0 : tiles / slots * 1e-9 * (n->joined ? flat_least_share : 1);
  /* With elements of 16 bytes on whole lines nothing is lost: measured, docs/log.md. */
  const bool whole = n->access.shared_load >= 16 && smaller(n->in_align, n->out_align) >= LINE;
  /* Where runs of windows begin and end, elements go one by one; and each block fills tables before its first load. */
  part[WINDOW_ENDS] = n->window_ends * side * (adds ? 1.5 : 1);
  part[TABLES] = n->table_steps * tiles / slots * 1e-9;
  /* Memory is asked for less than two lines next to each other at a time, or columns end between two: measured, too; elements of 2 bytes,
   * and what is added to, gain nothing by more. */
  if (n->async && !n->windows && !adds && n->access.shared_load > 2)
    part[FLAT_LINES] = part[TRAFFIC] * ((n->row_span < 2 * LINE) + single_lines(n->column_span));
  if (adds && n->access.shared_load < 4 && !n->access.copies)
    part[FLAT_HALVES] = part[TRAFFIC]; /* nothing in L2: measured */
  if (n->windows) /* whose elements a thread takes from shared memory one by one, while its block asks for nothing */
    part[FLAT_SINGLE] = part[TRAFFIC] * n->thread_elements * 0.01;
  else if (
      n->async) /* nor with asynchronous copies, unless most of the output is asked for after the rows: measured, too */
    part[FLAT_SINGLE] = part[TRAFFIC] * n->later * (0.15 + 0.045 * n->later);
  else if (!whole && !n->joined) /* 0 of a copy of runs, which waits for no other thread */
    part[FLAT_SINGLE] = part[TRAFFIC] * from_memory * (1 + 0.7 * n->later);
}

/* How long the blocks of a kernel without tables take to begin on all SMs, whatever they do: fitted to small tensors in up to 30,000 blocks on an
 * H200, docs/log.md. */
static double blocks_begin(const cutt_gpu_counts *n, double cycle) {
  static const double block = 283, warp = 80; /* cycles of an SM */
  return n->tiles * cycle * larger(block, warp * up((double)n->threads / WARP));
}

/* The terms of a kernel that goes through shared memory, without those of the launch. */
static void add_tile_terms(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_counts *n, int stages,
                           double slots, double waves, double cycle, double *part) {
  const int threads = n->threads;
  const double w = c->elem_bytes, tiles = (double)tile->tiles, bytes = (double)c->volume * w;
  const double warps = up((double)threads / WARP), rounds = tiles / slots * 1e-9;
  const cutt_gpu_steps load = n->load, store = n->store;
  const double shared_load = n->access.shared_load;
  part[CONFLICTS] = n->conflicts * bytes / LINE * cycle;
  part[LOADS] = tiles * load.along * load.across * warps * cycle;
  part[LOAD_UNITS] = tiles * load.along * warps * cycle;
  part[STORE_UNITS] = store.along * rounds;
  if (adds_to_output(c)) part[ADDED_STEPS] = store.along * rounds;
  if (shared_load < 4) part[GATHERS] = bytes / shared_load / WARP * cycle;
  /* Words of columns that begin anywhere are put together as those of rows are, and each column has ends that are no words. */
  const double column_ends = 0.5, words = bytes / 4 / WARP;
  part[UNALIGNED] = (n->access.load == 0 ? words : 0) * cycle;
  if (cutt_gpu_stores_anywhere(&n->access)) part[UNALIGNED] += (words + column_ends * bytes / n->column_bytes) * cycle;
  part[TILES] = rounds;
  if (stages == 1) {
    part[LATENCY] = rounds;
    part[SINGLE] = part[TRAFFIC] + part[CACHED];
  }
  part[TABLES] = waves * 1e-9 * cutt_gpu_table_entries(c, tile, n);
  part[LAST_LOADS] = waves * n->block_tiles * load.along * load.across * 1e-9;
  part[LAST_STORES] = waves * n->block_tiles * store.along * store.across * 1e-9;
}

bool cutt_gpu_predict(const cutt_device *d, const cutt_canonical *c, const cutt_gpu_tile *tile, cutt_gpu_counts *n,
                      int stages, cutt_candidate *candidate, cutt_breakdown *breakdown) {
  const bool direct = n->access.copies;
  const int threads = n->threads;
  const double w = c->elem_bytes, tiles = n->tiles, bytes = (double)c->volume * w;
  const int resident = cutt_gpu_occupancy(d, direct && !n->flat, threads, n->table_bytes + stages * n->shared_bytes);
  if (resident < 1) return false;
  const double slots = (double)resident * d->sms;

  /* Several tiles for each block, so that its tables are worth their time, as long as all SMs have blocks. Fewer where tiles
   * share sectors: blocks drift apart, and so do the times at which the two parts of a sector are accessed. */
  const double most_tiles = n->flat ? 1 : smaller(n->in_align, n->out_align) >= cutt_gpu_sector(d) ? 4 : 2;
  n->block_tiles = smaller(larger(down(tiles / slots), 1), most_tiles);
  const double blocks = up(tiles / n->block_tiles), on_sm = smaller(blocks, slots) / d->sms, waves = up(blocks / slots);

  const double copy = cutt_gpu_copy_bandwidth(d);
  const double byte = 1 / smaller(copy, copy * sm_share * smaller(d->sms, on_sm * d->sms)); /* seconds */
  const double cycle = 1 / (d->sms * larger(d->clock_hz, 1e8));                             /* of all SMs */
  const double traffic = bytes * ((adds_to_output(c) ? 2 : 1) + n->read_share) * byte;

  double *const part = breakdown->part;
  breakdown->first = 0;
  breakdown->count = PARAMETERS;
  breakdown->memory = WORK;
  breakdown->work = STARTING - WORK;
  memset(part, 0, PARAMETERS * sizeof *part);
  part[fits_cache(d, c) ? CACHED : direct ? COPIED : TRAFFIC] = traffic + n->row_gaps * n->read_share * bytes * byte;
  part[WRITTEN_SECTORS] = n->written_sectors * bytes * byte;
  part[READ_LINES] = (n->read_lines * (n->windows ? window_lines : 1) + n->read_again) * n->read_share * bytes * byte;
  /* A slice of L2 has that many bytes in a row, and one that all SMs read from at once delivers no more than it can. */
  if (n->distinct_bytes < bytes && n->access.load >= 16 && !direct)
    part[REPEATED] = n->asked_share * bytes * byte * smaller(1, slice_bytes / n->distinct_bytes);
  part[WRITTEN_LINES] = n->written_lines * bytes * byte;
  if (adds_to_output(c)) {
    part[ADDED_LINES] = n->written_lines * bytes * byte;
    part[ADDED_COLUMNS] = bytes / (n->flat && !direct ? n->column_span : n->column_bytes) * byte;
  }
  part[PADDING] = n->padding * traffic;
  /* Fewer bytes in flight than memory needs to be busy (Little's law): bandwidth is lost in proportion. */
  const double in_flight = resident *
                           (direct     ? n->flat ? n->tile_bytes : copied_at_once(n, threads)
                                : n->async ? n->tile_bytes
                            : n->flat  ? n->tile_bytes / (1 + n->later)
                                       : stages * n->tile_bytes) *
                           (n->flat && adds_to_output(c) ? 2 : 1);
  const double needed = cutt_gpu_flight_needed(d);
  if (n->flat && !direct && !fits_cache(d, c)) {
    /* Single bytes are left to others. */
    if (n->access.load < 2 && in_flight < larger(needed, flat_flight_least)) return false;
    part[FLAT_FLIGHT] = traffic * larger(0, larger(needed, flat_flight_least) / in_flight - 1);
  }
  if (d->major >= 8 && in_flight < needed) part[FLIGHT] = (1 - in_flight / needed) * traffic;
  if (tiles > slots) part[TAIL] = (up(tiles / slots) * slots / tiles - 1) * traffic;
  if (threads > 256) part[LARGE_BLOCKS] = traffic;
  const double lacking = enough_threads / ((double)resident * threads) - 1;
  if (!direct && !fits_cache(d, c) && lacking > 0)
    part[n->windows ? FEW_WINDOWS : adds_to_output(c) && !n->flat ? FEW_ADDED : FEW] = traffic * lacking;
  if (direct && n->flat) {
    if (tile->row_length < c->volume) part[RUNS] = (double)c->volume / (double)tile->extent[c->out_order[0]] * byte;
    add_flat_terms(d, n, adds_to_output(c), share_from_memory(d, c), slots, cycle, bytes * byte, part);
  } else if (direct) {
    const double load = smaller(16, smaller(n->in_align, n->out_align));
    part[COPIES] = bytes / (WARP * larger(load, 1)) * cycle;
    if (tile->rows > 1) part[RUNS] = bytes / n->row_bytes * byte;
    part[COPY_TILES] = tiles / slots * 1e-9;
    part[TABLES] = waves * (double)tile->rows / threads * 1e-9;
  } else {
    add_pressure(d, c, n, stages, slots, byte, part);
    if (n->flat) {
      add_flat_terms(d, n, adds_to_output(c), share_from_memory(d, c), slots, cycle, bytes * byte, part);
      if (n->windows) part[SINGLE] = traffic;
    } else {
      add_tile_terms(c, tile, n, stages, slots, waves, cycle, part);
    }
  }
  part[n->flat ? FLAT_LAUNCH : LAUNCH] = cutt_gpu_launch_seconds(d);
  part[START] = (1 + 0.3 * n->tile_bytes / 16384) * 1e-9;

  candidate->threads = threads;
  candidate->param[CUTT_GPU_PARAM_FLAT] = n->flat;
  candidate->param[CUTT_GPU_PARAM_STAGES] = stages;
  candidate->param[CUTT_GPU_PARAM_BLOCK_TILES] = (int64_t)n->block_tiles;
  const double *value = values_of(d);
  candidate->seconds = cutt_breakdown_seconds(breakdown, value);
  if (n->flat && !direct) {
    const double others = candidate->seconds - value[FLAT_LAUNCH] * part[FLAT_LAUNCH];
    part[FLAT_BLOCKS] = larger(0, blocks_begin(n, cycle) - others);
    candidate->seconds += value[FLAT_BLOCKS] * part[FLAT_BLOCKS];
  }
  if (c->far) candidate->seconds += cutt_gpu_link_seconds(d, c, tile, n, candidate);
  return true;
}
