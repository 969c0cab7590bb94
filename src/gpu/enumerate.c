/* The candidates. A tile's runs should be long on both sides, so M_m and M_k are grown mode by mode until their runs
 * reach some lengths (RUNS), the last mode being cut where it would overshoot. A lower bound of what a pair of lengths takes
 * follows from each of its two sides alone, without a tile; the pairs are visited in the order of their bounds, until no
 * other can be better (branch and bound). */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "gpu/bounds.h"
#include "gpu/flat.h"
#include "gpu/grow.h"
#include "gpu/launch.h"
#include "gpu/paper.h"
#include "gpu/pitch.h"
#include "gpu/tile.h"

enum { RUNS = CUTT_GPU_RUNS, MOST_TILE_BYTES = 100 * 1024, SMALL_TILE_BYTES = 8192, BATCH_BYTES = 20480 };
/* A candidate that is predicted to take so many times as long as the best is of no interest. */
static const double worth_listing = 1.6;
static const int block_threads[] = {CUTT_GPU_LEAST_THREADS, 512}, flat_threads[] = {256, 128, 64};

typedef struct listing {
  const cutt_device *device;
  const cutt_canonical *c;
  cutt_model model;
  cutt_candidate *list;
  int count, max;
  cutt_gpu_bounds bounds;
  int alone;          /* a mode of which no tile has more than one position; -1: none */
  cutt_gpu_tile tile; /* of the candidate at hand: one for all, since it is large */
} listing;

/* Some geometries come up more than once: what is the same takes the same time. */
static void insert(listing *l, const cutt_candidate *candidate) {
  if (l->count == l->max && candidate->seconds >= l->list[l->count - 1].seconds) return;
  int place = l->count;
  while (place > 0 && l->list[place - 1].seconds > candidate->seconds) --place;
  for (int i = place - 1; i >= 0 && l->list[i].seconds >= candidate->seconds; --i) {
    if (cutt_candidate_equal(&l->list[i], candidate)) return;
  }
  if (l->count < l->max) ++l->count;
  for (int i = l->count - 1; i > place; --i) l->list[i] = l->list[i - 1];
  l->list[place] = *candidate;
}

/* What takes longer than this is not worth a place in the list. */
static double bound_of(const listing *l) {
  if (l->count == 0 || l->model != CUTT_MODEL_IS_OWN) return INFINITY; /* the bounds are of the own model's times */
  return l->list[0].seconds * (l->max == 1 ? 1 : worth_listing);
}

/* The same without tables, if the listing's tile is one for that. */
static void add_flat_tile(listing *l, cutt_candidate *candidate, cutt_gpu_counts counts) {
  const cutt_gpu_tile *const tile = &l->tile;
  cutt_breakdown breakdown;
  const char *why;
  if (cutt_gpu_least_of_flat(&l->bounds, tile, &counts) >= bound_of(l)) return;
  if (!cutt_gpu_flat_takes(l->c, tile, candidate->param[CUTT_GPU_PARAM_DIRECT] != 0, &why)) return;
  /* A tile that most threads can't do is for none. */
  for (size_t i = 0; i < sizeof flat_threads / sizeof *flat_threads; ++i) {
    if (!cutt_gpu_count_flat(l->device, l->c, tile, flat_threads[i], &counts)) break;
    if (!cutt_gpu_predict(l->device, l->c, tile, &counts, 1, candidate, &breakdown)) continue;
    if (l->model == CUTT_MODEL_IS_PAPER) candidate->seconds = cutt_gpu_paper_seconds(l->device, l->c, tile, candidate);
    if (candidate->seconds < bound_of(l)) insert(l, candidate);
  }
  candidate->param[CUTT_GPU_PARAM_FLAT] = 0;
}

/* Derives a candidate's geometry, in the listing's tile. False: there is none, or where its buffers ask for tables it takes more shared
 * memory than a block has. */
static bool derive(listing *l, const cutt_candidate *candidate) {
  const bool copies = cutt_gpu_copies_runs(l->c, candidate->param[CUTT_GPU_PARAM_DIRECT] != 0);
  const char *why;
  return cutt_gpu_tile_derive(l->c, candidate, &l->tile, &why) &&
         cutt_gpu_most_shared(l->c, &l->tile, copies) <= l->device->block_shared;
}

/* Without tables all rows are read, also those that are repeated, which the tile leaves out. */
static void add_flat(listing *l, cutt_candidate *candidate, cutt_gpu_counts counts) {
  const char *why;
  if (l->tile.repeats == 1) {
    add_flat_tile(l, candidate, counts);
    return;
  }
  candidate->param[CUTT_GPU_PARAM_FLAT] = 1;
  if (derive(l, candidate)) {
    cutt_gpu_count(l->device, l->c, &l->tile, false, &counts);
    add_flat_tile(l, candidate, counts);
  }
  candidate->param[CUTT_GPU_PARAM_FLAT] = 0;
  cutt_gpu_tile_derive(l->c, candidate, &l->tile, &why);
}

/* Lists a candidate that has been derived, without tables alone. */
static void add_only_flat(listing *l, cutt_candidate *candidate) {
  cutt_gpu_counts counts;
  candidate->method = cutt_gpu_method(l->c, candidate);
  cutt_gpu_count(l->device, l->c, &l->tile, candidate->param[CUTT_GPU_PARAM_DIRECT] != 0, &counts);
  add_flat(l, candidate, counts);
}

/* Lower bounds of what a tile takes, with tables and without. */
typedef struct times {
  double tables, flat;
} times;

/* None is known. */
static const times none = {0, 0};

/* M_m and M_k, and lower bounds of what candidates of these take. */
typedef struct pair {
  cutt_gpu_prefix m, k;
  times least;
} pair;

/* The M_m and M_k of these that have been listed: as many as two for each pair, most of them more than once. Chunks are no longer than
 * runs (grow.h), so that 32 bits hold them and a small stack all of these. */
typedef struct apart {
  struct {
    int32_t m, k, split_m, split_k;
  } list[2 * RUNS * RUNS];
  int count;
} apart;

/* Has it been listed? If not it is noted. */
static bool seen_before(apart *seen, const cutt_candidate *q) {
  const int count = seen->count;
  for (int i = 0; i < count; ++i) {
    if (seen->list[i].m == q->m && seen->list[i].k == q->k && seen->list[i].split_m == q->split_m &&
        seen->list[i].split_k == q->split_k)
      return true;
  }
  seen->list[count].m = q->m;
  seen->list[count].k = q->k;
  seen->list[count].split_m = (int32_t)q->split_m;
  seen->list[count].split_k = (int32_t)q->split_k;
  seen->count = count + 1;
  return false;
}

/* M_m and M_k that have modes in common, cut off before these on one side or the other: for a kernel without tables, which reads
 * rows, and writes columns, that lie close together as well as long ones. */
static void add_apart(listing *l, const pair *p, apart *seen) {
  const cutt_canonical *c = l->c;
  int m = 0, k = 0;
  uint64_t in_k = 0;
  for (int i = 0; i < p->k.count; ++i) in_k |= UINT64_C(1) << c->out_order[i];
  while (m < p->m.count && !(in_k >> m & 1)) ++m;
  while (k < p->k.count && c->out_order[k] >= p->m.count) ++k;
  for (int side = 0; side < 2; ++side) {
    const bool of_rows = side == 0;
    if (of_rows ? m == 0 || m == p->m.count : k == 0 || k == p->k.count) continue;
    cutt_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.m = of_rows ? m : p->m.count;
    candidate.k = of_rows ? p->k.count : k;
    candidate.split_m = of_rows ? 0 : p->m.split;
    candidate.split_k = of_rows ? p->k.split : 0;
    if (seen_before(seen, &candidate)) continue;
    if (derive(l, &candidate) && l->tile.volume * c->elem_bytes <= MOST_TILE_BYTES) add_only_flat(l, &candidate);
  }
}

/* Lists a geometry that has been derived, with each number of stages, if there is room for it. */
static void add_tile(listing *l, cutt_candidate *candidate, times least) {
  const cutt_canonical *c = l->c;
  cutt_gpu_tile *const tile = &l->tile;
  cutt_gpu_counts counts;
  cutt_breakdown breakdown;
  if (tile->volume * c->elem_bytes > MOST_TILE_BYTES) return;
  if (l->alone >= 0 && tile->extent[l->alone] > 1) return;
  const bool direct = candidate->param[CUTT_GPU_PARAM_DIRECT] != 0;
  if (cutt_gpu_most_shared(c, tile, direct) > l->device->block_shared) return;
  cutt_gpu_count(l->device, c, tile, direct, &counts);
  candidate->method = cutt_gpu_method(c, candidate);
  const bool batch = candidate->param[CUTT_GPU_PARAM_BATCH] != 0 && cutt_gpu_run_columns(tile) == 0;
  if (!direct && !batch && l->alone < 0 && least.flat < bound_of(l)) add_flat(l, candidate, counts);
  for (int i = 0; i < (direct ? 1 : 2) && least.tables < bound_of(l); ++i) {
    bool banks = false; /* counted only if the candidate may be worth it without */
    cutt_gpu_assume_threads(c, tile, block_threads[i], &counts);
    if (cutt_gpu_least_of_tile(&l->bounds, tile, &counts) >= bound_of(l)) continue;
    cutt_gpu_count_threads(c, tile, block_threads[i], banks, &counts);
    if (cutt_gpu_least_of_tile(&l->bounds, tile, &counts) >= bound_of(l)) continue;
    for (int stages = direct ? 1 : 3; stages > 0; --stages) {
      if (!cutt_gpu_predict(l->device, c, tile, &counts, stages, candidate, &breakdown)) continue;
      if (candidate->seconds >= bound_of(l)) continue;
      if (!banks && !direct) {
        cutt_gpu_count_threads(c, tile, block_threads[i], banks = true, &counts);
        cutt_gpu_predict(l->device, c, tile, &counts, stages, candidate, &breakdown);
      }
      if (l->model == CUTT_MODEL_IS_PAPER) candidate->seconds = cutt_gpu_paper_seconds(l->device, c, tile, candidate);
      insert(l, candidate);
    }
  }
}

/* The same of one that the problem may not have. */
static void add(listing *l, cutt_candidate *candidate, times least) {
  const char *why;
  if (cutt_gpu_tile_derive(l->c, candidate, &l->tile, &why)) add_tile(l, candidate, least);
}

/* Adds a geometry with a batch of so many positions, or, where the tables of short runs would take too much shared memory,
 * of as many as there is room for, and of a quarter of these, for more blocks on an SM. */
static void add_batch(listing *l, cutt_candidate *candidate, times least, int64_t positions) {
  const cutt_canonical *c = l->c;
  cutt_gpu_tile *const tile = &l->tile;
  const char *why;
  if (least.tables >= bound_of(l)) return; /* without tables there are no batches */
  candidate->param[CUTT_GPU_PARAM_BATCH] = positions;
  if (!cutt_gpu_tile_derive(c, candidate, tile, &why)) return;
  const int64_t rows = tile->rows, columns = tile->columns;
  /* What a batch takes is in proportion to its positions, of which the tensor may have fewer. */
  const double most = cutt_gpu_most_shared(c, tile, false);
  tile->rows = tile->columns = 0;
  const double fixed = cutt_gpu_most_shared(c, tile, false);
  const double room = (l->device->block_shared - fixed) / (most - fixed);
  tile->rows = rows;
  tile->columns = columns;
  if (room >= 1) {
    add_tile(l, candidate, least);
    return;
  }
  int64_t count = 1;
  for (int j = 0; j < c->rank; ++j) {
    if (!((tile->in_m | tile->in_k) >> j & 1)) count *= tile->extent[j];
  }
  positions = (int64_t)(room * (double)count);
  if (positions < 1) return;
  candidate->param[CUTT_GPU_PARAM_BATCH] = positions > 4 ? positions / 4 : 1;
  add(l, candidate, least);
  candidate->param[CUTT_GPU_PARAM_BATCH] = positions;
  add(l, candidate, least);
}

/* Can runs of the first mode be copied, at least so many bytes at a time? Others go through shared memory, where narrow elements
 * are put together to words, and where loads can be in flight that a thread has no registers for. */
static bool copies_runs(const cutt_canonical *c, int64_t bytes) {
  if ((c->rank > 0 && (c->mode[0].in_stride != 1 || c->mode[0].out_stride != 1))) return false;
  for (int i = 1; i < c->rank; ++i) {
    const cutt_mode *mode = &c->mode[i];
    if (mode->in_stride * c->elem_bytes % bytes != 0 || mode->out_stride * c->elem_bytes % bytes != 0) return false;
  }
  return true;
}

/* Runs of the first mode, which both sides have: chunks of one where it is long, several of them in a tile where it is
 * short, so that each thread has several loads in flight. */
static void make_copy(const listing *l, int64_t parts, cutt_candidate *candidate) {
  const cutt_canonical *c = l->c;
  enum { BLOCK = 256, LARGEST = 16384, IN_FLIGHT = 80 }; /* threads; bytes of a tile; bytes of a thread */
  const int64_t run = c->rank == 0 ? 1 : c->mode[0].extent;
  uint64_t bits = 16;
  for (int i = 1; i < c->rank; ++i) {
    bits |= (uint64_t)(c->mode[i].in_stride * c->elem_bytes) | (uint64_t)(c->mode[i].out_stride * c->elem_bytes);
  }
  const int64_t load = (int64_t)cutt_gpu_power(bits); /* bytes: 8 or 16 for a kernel with tables */
  const int64_t loads = run * c->elem_bytes / load > 0 ? run * c->elem_bytes / load : 1;
  const int64_t rows = loads < BLOCK ? BLOCK / loads : 1, many = IN_FLIGHT / load;
  memset(candidate, 0, sizeof *candidate);
  candidate->m = candidate->k = c->rank > 0;
  candidate->param[CUTT_GPU_PARAM_DIRECT] = 1;
  const int64_t largest = LARGEST * parts / c->elem_bytes,
                chunk = cutt_gpu_even_chunk(l->device, run, largest, c->elem_bytes);
  if (run > LARGEST / c->elem_bytes) {
    candidate->split_m = candidate->split_k = chunk < run ? chunk : 0;
  } else {
    candidate->param[CUTT_GPU_PARAM_BATCH] = rows * many / parts > rows ? rows * many / parts : rows;
  }
}

/* With tables, and without, which moves all runs alike whatever the tile; of that, what has to be left to tables because of its
 * buffers computes in shared memory. */
static void add_copies(listing *l) {
  const cutt_canonical *c = l->c;
  cutt_candidate candidate;
  if (!c->scale.active && copies_runs(c, 8)) {
    for (int64_t i = 1; i <= 4; i *= 2) {
      make_copy(l, i, &candidate);
      add(l, &candidate, none);
    }
  }
  make_copy(l, 1, &candidate);
  if (c->rank > 0 && l->alone < 0 && derive(l, &candidate)) add_only_flat(l, &candidate);
}

/* Runs of the first mode of both sides that have gaps, or are backwards, or those of the output that are of one element each: without
 * tables, element by element. Where the buffers ask for tables, some of them go through shared memory at a time. */
static void add_steps(listing *l) {
  enum { LARGEST = 4096 }; /* bytes of a tile, without gaps */
  const cutt_canonical *c = l->c;
  const cutt_mode *mode = cutt_gpu_run_mode(c);
  const int64_t elements = LARGEST / c->elem_bytes;
  if (!cutt_gpu_same_first(c) && mode->in_stride != 0) return;
  cutt_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  candidate.m = cutt_gpu_same_first(c);
  candidate.k = 1;
  candidate.param[CUTT_GPU_PARAM_DIRECT] = 1;
  if (mode->extent > elements) {
    candidate.split_k = cutt_gpu_even_chunk(l->device, mode->extent, elements, c->elem_bytes);
    candidate.split_m = candidate.m ? candidate.split_k : 0;
  } else {
    candidate.param[CUTT_GPU_PARAM_BATCH] = elements / mode->extent;
  }
  if (derive(l, &candidate)) add_only_flat(l, &candidate);
}

/* The same runs, several at a time, through shared memory, and whole, so that only their two ends share sectors. Where the
 * alignment is too narrow for a copy, this is what is left; elsewhere it is little slower than a copy. */
static void add_whole_runs(listing *l) {
  static const int64_t tile_bytes[] = {8192, 16384, 32768};
  const cutt_canonical *c = l->c;
  const int64_t run = c->mode[0].extent * c->elem_bytes;
  int64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t batch = run >= tile_bytes[i] ? 1 : tile_bytes[i] / run;
    if (batch == last) continue;
    last = batch;
    cutt_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.m = candidate.k = 1;
    add_batch(l, &candidate, none, batch);
  }
  /* No tile has room for the longest, nor do enough fit on an SM of those that are nearly as long: chunks of them, without tables, which
   * are as good with the chunks of other pairs. */
  for (int i = 1; i < 3 && run > tile_bytes[2] && l->alone < 0; ++i) {
    cutt_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.m = candidate.k = 1;
    candidate.split_m = candidate.split_k =
        cutt_gpu_even_chunk(l->device, c->mode[0].extent, tile_bytes[i] / c->elem_bytes, c->elem_bytes);
    if (derive(l, &candidate)) add_only_flat(l, &candidate);
  }
}

/* Short modes before the output's first one, such as the colours of pixels: rows of all of these with a chunk of that, or several where it
 * is whole, so that runs are long on both sides. The chunks of other pairs are short. */
static void add_turns(listing *l) {
  static const int64_t tile_bytes[] = {8192, 16384, 32768};
  enum { MOST = 31 }; /* columns */
  const cutt_canonical *c = l->c;
  const int first = c->rank > 0 ? c->out_order[0] : 0;
  int64_t columns = 1;
  for (int j = 0; j < first; ++j) {
    columns *= c->mode[j].extent;
    if (columns > MOST) return;
  }
  if (first == 0 || columns % 2 == 0 || l->alone >= 0) return;
  for (size_t i = 0; i < sizeof tile_bytes / sizeof *tile_bytes; ++i) {
    const int64_t elements = tile_bytes[i] / (columns * c->elem_bytes), extent = c->mode[first].extent;
    const int64_t chunk = cutt_gpu_even_chunk(l->device, extent, elements, c->elem_bytes);
    cutt_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.m = first + 1;
    candidate.k = 1;
    candidate.split_m = candidate.split_k = chunk < extent ? chunk : 0;
    candidate.param[CUTT_GPU_PARAM_BATCH] = elements / extent;
    if (derive(l, &candidate) && cutt_gpu_run_columns(&l->tile) > 0) add_only_flat(l, &candidate);
  }
}

/* Elements of a tile of M_m and M_k, both whole. */
static int64_t elements_of(const cutt_canonical *c, const pair *p) {
  int64_t elements = 1;
  for (int j = 0; j < p->m.count; ++j) elements *= c->mode[j].extent;
  for (int i = 0; i < p->k.count; ++i) {
    if (c->out_order[i] >= p->m.count) elements *= c->mode[c->out_order[i]].extent;
  }
  return elements;
}

/* The lower bound of a pair, from the counts of its sides. */
static times least_of(const listing *l, const pair *p, cutt_gpu_side row, cutt_gpu_side column) {
  const cutt_canonical *c = l->c;
  /* Rows, or columns, that continue one another share sectors inside the tile: how many, only a tile tells. */
  const int next = p->k.count < c->rank ? c->out_order[p->k.count] : c->rank;
  if (next < p->m.count) column.sectors = 0;
  if (p->k.split == 0 && next < p->m.count) column.lines = 0;
  int place_of_next = 0;
  while (place_of_next < p->k.count && c->out_order[place_of_next] != p->m.count) ++place_of_next;
  if (p->m.split == 0 && place_of_next < p->k.count) row.sectors = row.lines = 0;
  /* Nor are loads wider than an element, unless columns go along the rows (pitch.c). */
  const int first = c->rank > 0 ? c->out_order[0] : 0;
  if (p->k.count > 0 && (first >= p->m.count || c->mode[first].extent * c->elem_bytes < CUTT_GPU_ALONG))
    row.load = smaller(row.load, larger(4, c->elem_bytes));
  const cutt_gpu_box box = cutt_gpu_box_of(c, p->m.count, p->m.split, p->k.count, p->k.split);
  times least = {.flat = cutt_gpu_least_without(&l->bounds, &row, &column, &box)};
  double elements = box.elements;
  const double longest = larger(row.length, column.length); /* a tile has that many at least */
  if (p->m.split == 0 && p->k.split == 0 && longest * (double)c->elem_bytes <= SMALL_TILE_BYTES) {
    /* With a batch, which there is with tables only, runs may continue one another too. */
    elements = larger(elements, BATCH_BYTES / (double)c->elem_bytes);
    row.sectors = row.lines = column.sectors = column.lines = 0;
  }
  least.tables = cutt_gpu_least_with_tables(&l->bounds, &row, &column, elements);
  return least;
}

static bool same_prefix(const cutt_gpu_prefix *a, const cutt_gpu_prefix *b) {
  return a->count == b->count && a->split == b->split;
}

/* The lower of the two bounds. */
static double either(const pair *p) { return smaller(p->least.tables, p->least.flat); }

/* Keeps the list in order of bounds, and each pair in it once; returns how many there are. */
static int insert_pair(pair *list, int count, const pair *p) {
  const double least = either(p);
  int place = count;
  while (place > 0 && either(&list[place - 1]) > least) --place;
  for (int i = place - 1; i >= 0 && either(&list[i]) >= least; --i) {
    if (same_prefix(&list[i].m, &p->m) && same_prefix(&list[i].k, &p->k)) return count;
  }
  for (int i = count; i > place; --i) list[i] = list[i - 1];
  list[place] = *p;
  return count + 1;
}

/* All pairs of prefixes, in the order of their lower bounds. */
static int pair_up(const listing *l, pair *list) {
  const cutt_canonical *c = l->c;
  const cutt_device *d = l->device;
  cutt_gpu_prefix m[RUNS], k[RUNS];
  cutt_gpu_side rows[RUNS], columns[RUNS];
  const int ms = cutt_gpu_grow_all(d, c, NULL, true, RUNS, m);
  const int ks = cutt_gpu_grow_all(d, c, c->out_order, false, RUNS, k);
  for (int i = 0; i < ms; ++i) cutt_gpu_side_count(d, c, NULL, m[i].count, m[i].split, true, &rows[i]);
  for (int i = 0; i < ks; ++i) cutt_gpu_side_count(d, c, c->out_order, k[i].count, k[i].split, false, &columns[i]);
  int count = 0;
  for (int i = 0; i < ms; ++i) {
    for (int j = 0; j < ks; ++j) {
      pair p = {m[i], k[j], none};
      cutt_gpu_reconcile(c, &p.m, &p.k);
      cutt_gpu_side row = rows[i], column = columns[j];
      if (!same_prefix(&p.m, &m[i])) cutt_gpu_side_count(d, c, NULL, p.m.count, p.m.split, true, &row);
      if (!same_prefix(&p.k, &k[j])) cutt_gpu_side_count(d, c, c->out_order, p.k.count, p.k.split, false, &column);
      p.least = least_of(l, &p, row, column);
      count = insert_pair(list, count, &p);
    }
  }
  return count;
}

/* The geometry of a pair, and, where runs are short and can't grow (gaps in a strided tensor), a tile of many of them. shared: both
 * sides have the first mode, whose runs have been listed whole. */
static void add_pair(listing *l, const pair *p, bool shared) {
  if (either(p) >= bound_of(l)) return;
  if (shared && p->m.count == 1 && p->k.count == 1 && p->m.split == 0 && p->k.split == 0) return;
  cutt_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  candidate.m = p->m.count;
  candidate.k = p->k.count;
  candidate.split_m = p->m.split;
  candidate.split_k = p->k.split;
  add(l, &candidate, p->least);
  if (p->m.split > 0 || p->k.split > 0) return;
  const int64_t bytes = elements_of(l->c, p) * l->c->elem_bytes;
  if (bytes <= SMALL_TILE_BYTES) add_batch(l, &candidate, p->least, BATCH_BYTES / bytes);
}

/* Runs of the first mode that both sides have, with gaps between their elements on one of them: whole, several at a time, or in chunks
 * that are longer than those of pairs, of which a tile has one. */
static void add_sparse_runs(listing *l) {
  static const int64_t tile_bytes[] = {8192, 16384, 32768};
  static const times least = {0, INFINITY};
  const cutt_canonical *c = l->c;
  const int64_t extent = c->mode[0].extent, run = extent * c->elem_bytes, in = magnitude(c->mode[0].in_stride);
  const int64_t out = c->mode[0].out_stride;
  if (c->out_order[0] != 0 || (in == 1 && out == 1) || in < 1 || larger(in, out) > CUTT_GPU_MOST_SPAN) return;
  for (size_t i = 0; i < sizeof tile_bytes / sizeof *tile_bytes; ++i) {
    cutt_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.m = candidate.k = 1;
    if (run * 2 <= tile_bytes[i] * 3) {
      add_batch(l, &candidate, least, tile_bytes[i] / run > 0 ? tile_bytes[i] / run : 1);
    } else {
      candidate.split_m = candidate.split_k =
          cutt_gpu_even_chunk(l->device, extent, tile_bytes[i] / c->elem_bytes, c->elem_bytes);
      add(l, &candidate, least);
    }
  }
}

/* The lower bound of a pair over gaps, of which less follows from its sides. Without tables there are none. */
static times least_over_gaps(const listing *l, const pair *p) {
  const cutt_canonical *c = l->c;
  cutt_gpu_side row = {.edge = 1, .load = CUTT_GPU_ALIGNED}, column = {.edge = 1};
  const cutt_mode *first = &c->mode[c->out_order[0]];
  const bool along = c->out_order[0] < p->m.count && first->extent * c->elem_bytes >= CUTT_GPU_ALONG;
  if (p->k.count > 0 && first->out_stride == 1 && !along) row.load = larger(4, c->elem_bytes);
  double elements = cutt_gpu_box_of(c, p->m.count, p->m.split, p->k.count, p->k.split).elements;
  if (p->m.split == 0 && p->k.split == 0 && elements * c->elem_bytes <= SMALL_TILE_BYTES)
    elements = BATCH_BYTES / (double)c->elem_bytes; /* with a batch */
  return (times){cutt_gpu_least_with_tables(&l->bounds, &row, &column, elements), INFINITY};
}

static void add_pairs_of(listing *l, const cutt_gpu_prefix *m, int ms, const cutt_gpu_prefix *k, int ks) {
  pair list[CUTT_GPU_RUNS_OVER_GAPS * CUTT_GPU_RUNS_OVER_GAPS];
  int count = 0;
  for (int i = 0; i < ms * ks; ++i) {
    pair p = {m[i / ks], k[i % ks], none};
    cutt_gpu_shorten(l->c, &p.m, &p.k);
    cutt_gpu_reconcile(l->c, &p.m, &p.k);
    p.least = least_over_gaps(l, &p);
    count = insert_pair(list, count, &p);
  }
  for (int i = 0; i < count; ++i) add_pair(l, &list[i], false);
}

/* M_m and M_k that go on over gaps, which dense tensors do not have. */
static void add_over_gaps(listing *l) {
  const cutt_canonical *c = l->c;
  const cutt_device *d = l->device;
  enum { MOST = CUTT_GPU_RUNS_OVER_GAPS };
  cutt_gpu_prefix m[MOST], k[MOST], m_gaps[MOST], k_gaps[MOST];
  const int ms_gaps = cutt_gpu_grow_over_gaps(d, c, NULL, true, m_gaps);
  const int ks_gaps = cutt_gpu_grow_over_gaps(d, c, c->out_order, false, k_gaps);
  if (ms_gaps + ks_gaps == 0) return;
  add_sparse_runs(l);
  const int ms = cutt_gpu_grow_all(d, c, NULL, true, MOST, m);
  const int ks = cutt_gpu_grow_all(d, c, c->out_order, false, MOST, k);
  add_pairs_of(l, m_gaps, ms_gaps, k_gaps, ks_gaps);
  add_pairs_of(l, m_gaps, ms_gaps, k, ks);
  add_pairs_of(l, m, ms, k_gaps, ks_gaps);
}

static int list_all(listing *l) {
  const cutt_canonical *c = l->c;
  if (copies_runs(c, c->base_bytes)) add_copies(l);
  if (!cutt_gpu_plain_runs(c) && !c->scale.active && l->alone < 0) add_steps(l);
  if (!c->scale.active && copies_runs(c, 8) && c->rank <= 1) return l->count; /* what is contiguous is copied */
  const bool shared =
      c->rank > 0 && c->out_order[0] == 0 && magnitude(c->mode[0].in_stride) == 1 && c->mode[0].out_stride == 1;
  if (shared) add_whole_runs(l);
  add_turns(l);
  pair pairs[RUNS * RUNS];
  const int count = pair_up(l, pairs);
  apart seen;
  seen.count = 0;
  for (int i = 0; i < count; ++i) {
    add_pair(l, &pairs[i], shared);
    if (l->alone < 0) add_apart(l, &pairs[i], &seen);
  }
  add_over_gaps(l);
  while (l->count > 1 && l->list[l->count - 1].seconds >= bound_of(l)) --l->count;
  return l->count;
}

int cutt_gpu_enumerate(const cutt_device *device, cutt_model model, const cutt_canonical *c, cutt_candidate *list,
                       int max) {
  listing l = {.device = device, .c = c, .model = model, .list = list, .max = max, .alone = -1};
  l.bounds = cutt_gpu_bounds_of(device, c);
  return list_all(&l);
}

/* As if the executions were one more mode, whose positions lie as far apart as tensors that are allocated by themselves, and of
 * which a tile has one position, since in truth they lie anywhere. */
void cutt_gpu_choose_many(const cutt_device *device, const cutt_canonical *c, const cutt_candidate *own,
                          cutt_candidate *choice) {
  enum { PROBLEMS = 4096, APART = 256 };
  cutt_canonical many = *c;
  const int outer = c->rank;
  *choice = *own;
  if (c->rank == CUTT_MAX_RANK || c->volume > INT64_MAX / PROBLEMS / 64) return;
  many.mode[outer] = (cutt_mode){.extent = PROBLEMS,
                                 .in_stride = ((c->in_high - c->in_low) / APART + 2) * APART,
                                 .out_stride = ((c->out_high - c->out_low) / APART + 2) * APART};
  many.out_order[outer] = outer;
  many.rank = outer + 1;
  many.volume = c->volume * PROBLEMS;
  many.in_high += many.mode[outer].in_stride * (PROBLEMS - 1) * c->elem_bytes;
  many.out_high += many.mode[outer].out_stride * (PROBLEMS - 1) * c->elem_bytes;
  cutt_candidate best;
  listing l = {.device = device, .c = &many, .model = CUTT_MODEL_IS_OWN, .list = &best, .max = 1, .alone = outer};
  l.bounds = cutt_gpu_bounds_of(device, &many);
  const char *why;
  if (list_all(&l) == 1 && cutt_gpu_accept(device, c, &best, &why)) *choice = best;
}
