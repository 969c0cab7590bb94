/* Lower bounds of predicted times, by which the search cuts off what can't be better (enumerate.c). Each is made of lower bounds of some
 * of a prediction's terms (cost.c), none of which is negative. */
#include "gpu/bounds.h"

#include <math.h>

#include "gpu/flat.h"
#include "gpu/kernels/args.h"
#include "gpu/terms.h"

cutt_gpu_bounds cutt_gpu_bounds_of(const cutt_device *d, const cutt_canonical *c) {
  const double *v = values_of(d), launch = cutt_gpu_launch_seconds(d), start = v[START] * 1e-9;
  const bool adds = adds_to_output(c), cached = fits_cache(d, c);
  const double bytes = (double)c->volume * c->elem_bytes / cutt_gpu_copy_bandwidth(d);
  const double read = cutt_gpu_distinct_share(c), streams = (adds ? 2 : 1) + read;
  return (cutt_gpu_bounds){
      .device = d,
      .canonical = c,
      .value = v,
      .cached = cached,
      .windows = cutt_gpu_flat_windows(d, c),
      .bytes = bytes,
      .streams = streams,
      .moved = bytes * streams * (cached ? v[CACHED] : v[TRAFFIC]),
      .padding = bytes * streams * v[PADDING],
      .written_lines = bytes * (v[WRITTEN_LINES] + (adds ? v[ADDED_LINES] : 0)),
      .read_lines = bytes * read * v[READ_LINES],
      .few = v[adds ? FEW_ADDED : FEW],
      .step = v[STORE_UNITS] + (adds ? v[ADDED_STEPS] : 0),
      .tables = launch * v[LAUNCH] + start,
      .flat = launch * v[FLAT_LAUNCH] + start,
      /* All loads of a thread, one after another, of a byte each. */
      .loads = (double)c->volume * c->elem_bytes / ((double)(CUTT_BLOCKS * CUTT_BLOCK_THREADS) * d->sms) * 1e-9,
      .slots = larger(1, (double)cutt_gpu_occupancy(d, false, CUTT_GPU_LEAST_THREADS, 0) * d->sms),
      .flat_slots = larger(1, (double)cutt_gpu_occupancy(d, false, WARP, 0) * d->sms)};
}

void cutt_gpu_side_count(const cutt_device *d, const cutt_canonical *c, const int *order, int count, int64_t split,
                         bool input, cutt_gpu_side *side) {
  uint64_t set = 0, bits = LINE;
  int64_t length = 1;
  side->edge = 1;
  for (int i = 0; i < count; ++i) {
    const int j = order ? order[i] : i;
    const int64_t extent = c->mode[j].extent, stride = input ? c->mode[j].in_stride : c->mode[j].out_stride;
    const int64_t inside = i == count - 1 && split > 0 ? split : extent;
    set |= UINT64_C(1) << j;
    length *= inside;
    if (inside == extent) continue;
    bits |= (uint64_t)(stride * inside * c->elem_bytes);
    side->edge = (double)(cutt_gpu_chunks(extent, inside) * inside) / (double)extent;
  }
  uint64_t outside = LINE; /* without the steps from chunk to chunk */
  for (int j = 0; j < c->rank; ++j) {
    if (set >> j & 1) continue;
    outside |= (uint64_t)(input ? c->mode[j].in_stride : c->mode[j].out_stride) * (uint64_t)c->elem_bytes;
  }
  bits |= outside;
  side->length = (double)length;
  const double bytes = (double)(length * c->elem_bytes), align = (double)cutt_gpu_power(bits);
  side->align = align;
  side->load = smaller(CUTT_GPU_ALIGNED, larger(4, align));
  side->lines = partial(bytes, align, LINE);
  side->sectors = partial(bytes, align, cutt_gpu_sector(d));
  /* A window of a tile ends in no sector but where the whole run does. */
  const int64_t whole = split > 0 ? length / split * c->mode[order ? order[count - 1] : count - 1].extent : length;
  side->window_ends = partial((double)(whole * c->elem_bytes), (double)cutt_gpu_power(outside), cutt_gpu_sector(d));
}

cutt_gpu_box cutt_gpu_box_of(const cutt_canonical *c, int m, int64_t split_m, int k, int64_t split_k) {
  int64_t elements = 1;
  int common = 0;
  for (int j = 0; j < m; ++j) elements *= split_m > 0 && j == m - 1 ? split_m : c->mode[j].extent;
  for (int i = 0; i < k; ++i) {
    const int j = c->out_order[i];
    if (j < m) {
      ++common;
      continue;
    }
    elements *= split_k > 0 && i == k - 1 ? split_k : c->mode[j].extent;
  }
  return (cutt_gpu_box){.elements = (double)elements,
                        .row_modes = k - common,
                        .column_modes = m - common,
                        .run_modes = k == 1 && common == 1 ? 0 : k, /* a run that a row has all of needs no table */
                        .common = common > 0};
}

/* What memory takes at least for tiles that go through shared memory, but for sectors in part. */
static double least_memory(const cutt_gpu_bounds *b, double padding, double written_lines, double read_lines) {
  return b->moved + padding * b->padding + written_lines * b->written_lines + read_lines * b->read_lines;
}

/* Runs of less have kernels of their own, where they lie one behind the other (flat.c). */
static const double least_run_bytes = 64;

static bool unaligned(double in_align, double out_align, double row_bytes, double column_bytes) {
  return smaller(in_align, out_align) < 32 && smaller(row_bytes, column_bytes) >= least_run_bytes;
}

/* What a tile without tables takes at least, beyond the bytes that memory moves and the launch: in windows, or otherwise. */
typedef struct flat_least {
  double sectors, window_ends; /* in part, over those that runs fill */
  double read_lines;           /* likewise, of rows */
  bool only_windows;           /* M_m and M_k have modes in common: nothing else does it */
  bool unaligned;         /* some runs begin inside of sectors, and none is short: in windows or through registers */
  double elements, tiles; /* of a tile, and how many there are */
  double table_steps;     /* in windows, of a thread of a block */
} flat_least;

/* Is what windows take beside bytes known to be needed? Elsewhere it is no bound: other kernels may do the tile. */
static bool counts_windows(const cutt_gpu_bounds *b, const flat_least *at) {
  return b->windows && (at->only_windows || at->unaligned);
}

static double least_of_windows(const cutt_gpu_bounds *b, double memory, double work, const flat_least *at) {
  const cutt_device *d = b->device;
  const double *v = b->value;
  double tables = 0;
  memory += b->bytes * at->window_ends * v[WINDOW_ENDS] - at->read_lines * b->read_lines * (1 - window_lines);
  if (counts_windows(b, at)) {
    const double tile_bytes = at->elements * b->canonical->elem_bytes, most = CUTT_FLAT_THREADS;
    const double resident = larger(1, (double)cutt_gpu_occupancy(d, false, LEAST_WINDOW_THREADS, tile_bytes));
    const double lacking = enough_threads / smaller(resident * most, larger(1, d->sm_threads)) - 1;
    const double added = v[SINGLE] + 0.01 * at->elements / most * v[FLAT_SINGLE];
    memory += b->streams * b->bytes * (lacking > 0 ? added + lacking * v[FEW_WINDOWS] : added);
    tables = at->table_steps * at->tiles / (resident * d->sms) * 1e-9 * v[TABLES];
  }
  return cutt_breakdown_overlap(memory, work) + tables;
}

static double least_of_flat(const cutt_gpu_bounds *b, double memory, double work, const flat_least *at) {
  if (at->only_windows) return b->windows ? least_of_windows(b, memory, work, at) + b->flat : INFINITY;
  const double single = b->windows && at->unaligned ? smaller(2, b->streams) * b->value[FLAT_SINGLE] : 0;
  const double other = memory + b->bytes * (at->sectors * b->value[WRITTEN_SECTORS] + single);
  const double least = cutt_breakdown_overlap(other, work);
  return (b->windows ? smaller(least, least_of_windows(b, memory, work, at)) : least) + b->flat;
}

double cutt_gpu_least_with_tables(const cutt_gpu_bounds *b, const cutt_gpu_side *rows, const cutt_gpu_side *columns,
                                  double tile_elements) {
  const double *v = b->value;
  const double memory = least_memory(b, larger(rows->edge, columns->edge) - 1, columns->lines, rows->lines) +
                        b->bytes * columns->sectors * v[WRITTEN_SECTORS];
  const double rounds = (double)b->canonical->volume / (tile_elements * b->slots) * 1e-9;
  return cutt_breakdown_overlap(memory, rounds * v[TILES]) + b->tables +
         larger(1e-9, b->loads / rows->load) * v[LAST_LOADS];
}

double cutt_gpu_least_without(const cutt_gpu_bounds *b, const cutt_gpu_side *rows, const cutt_gpu_side *columns,
                              const cutt_gpu_box *box) {
  const double w = b->canonical->elem_bytes, most = CUTT_FLAT_THREADS;
  const double memory = least_memory(b, larger(rows->edge, columns->edge) - 1, columns->lines, rows->lines);
  flat_least flat = {
      .sectors = columns->sectors,
      .window_ends = columns->window_ends,
      .read_lines = rows->lines,
      .only_windows = box->common,
      .unaligned = unaligned(rows->align, columns->align, rows->length * w, columns->length * w),
      .elements = box->elements,
      .tiles = (double)b->canonical->volume / box->elements,
  };
  if (counts_windows(b, &flat)) {
    const double later = up(box->elements / (columns->length * most)) * box->column_modes +
                         2 * up(columns->length / most) * box->run_modes;
    flat.table_steps = up(box->elements / (rows->length * most)) * box->row_modes + window_steps_later(later);
  }
  return least_of_flat(b, memory, flat.tiles * 1e-9 * flat_least_share * b->value[FLAT_TILES] / b->flat_slots, &flat);
}

double cutt_gpu_least_of_flat(const cutt_gpu_bounds *b, const cutt_gpu_tile *tile, const cutt_gpu_counts *n) {
  if (n->widest.copies) return 0;
  flat_least flat = {.sectors = n->written_sectors,
                     .read_lines = n->read_lines,
                     .only_windows = (tile->in_m & tile->in_k) != 0,
                     .unaligned = unaligned(n->in_align, n->out_align, n->row_bytes, n->column_bytes),
                     .elements = (double)tile->volume,
                     .tiles = n->tiles};
  if (flat.only_windows && !b->windows) return INFINITY;
  if (counts_windows(b, &flat)) flat.table_steps = cutt_gpu_window_table_steps(tile, tile->rows, CUTT_FLAT_THREADS);
  if (flat.only_windows || flat.unaligned || n->written_sectors > 0)
    flat.window_ends = cutt_gpu_window_ends_of(b->device, b->canonical, tile);
  return least_of_flat(b, least_memory(b, n->padding, n->written_lines, n->read_lines), 0, &flat);
}

double cutt_gpu_least_of_tile(const cutt_gpu_bounds *b, const cutt_gpu_tile *tile, const cutt_gpu_counts *n) {
  if (n->widest.copies) return 0;
  const cutt_device *d = b->device;
  const double *v = b->value;
  const int resident = cutt_gpu_occupancy(d, false, n->threads, n->table_bytes + n->shared_bytes);
  if (resident < 1) return INFINITY;
  const double tiles = n->tiles, bytes = (double)b->canonical->volume * b->canonical->elem_bytes;
  const double traffic = b->bytes * b->streams;
  double memory =
      least_memory(b, n->padding, n->written_lines, n->read_lines) + b->bytes * n->written_sectors * v[WRITTEN_SECTORS];
  if (n->threads > 256) memory += traffic * v[LARGE_BLOCKS];
  /* More than one stage leaves room for fewer blocks. */
  const double lacking = enough_threads / ((double)resident * n->threads) - 1;
  if (lacking > 0 && !b->cached) memory += traffic * lacking * b->few;
  const double rounds = tiles / ((double)resident * d->sms) * 1e-9, warps = up((double)n->threads / WARP);
  const double cycle = 1 / (d->sms * larger(d->clock_hz, 1e8)), steps = tiles * n->load.along * warps * cycle;
  double work = rounds * (v[TILES] + n->store.along * b->step) + steps * (n->load.across * v[LOADS] + v[LOAD_UNITS]);
  if (n->access.shared_load < 4) work += bytes / n->access.shared_load / WARP * cycle * v[GATHERS];
  if (n->access.load == 0) work += bytes / 4 / WARP * cycle * v[UNALIGNED];
  const double loads = larger(1e-9, rounds) * n->load.along * n->load.across;
  return cutt_breakdown_overlap(memory, work) + b->tables + 0.3 * n->tile_bytes / 16384 * v[START] * 1e-9 +
         loads * v[LAST_LOADS] +
         cutt_gpu_table_entries(b->canonical, tile, n) * v[TABLES] * 1e-9 * larger(1, rounds * (1e9 / 4));
}
