/* The candidates. A tile's runs should be long on both sides, so M_m and M_k are grown mode by mode until their runs
 * reach some lengths (RUNS), the last mode being cut where it would overshoot; all pairs of lengths are priced. */
#include <string.h>

#include "cuda/cost.h"
#include "cuda/launch.h"
#include "cuda/tile.h"

enum { RUNS = 6, MOST_TILE_BYTES = 100 * 1024, SMALL_TILE_BYTES = 8192 };
static const int64_t run_bytes[RUNS] = {64, 128, 256, 512, 1024, 2048};

/* M_m or M_k: the first `count` modes of a side, the last in chunks of `split` unless 0. */
typedef struct prefix {
  int count;
  int64_t split, length;
} prefix;

/* A chunk of about `wanted` of `extent`: chunks as even as can be, and whole sectors where that is no great loss. */
static int64_t even_chunk(int64_t extent, int64_t wanted, int64_t unit_bytes) {
  if (wanted < 1) wanted = 1;
  if (wanted >= extent) return extent;
  const int64_t count = cutt_cuda_chunks(extent, wanted);
  int64_t chunk = cutt_cuda_chunks(extent, count);
  const int64_t sector = 32 / (int64_t)cutt_cuda_power((uint64_t)unit_bytes | 32);
  if (chunk >= 2 * sector) chunk = (chunk + sector - 1) / sector * sector;
  return chunk < extent ? chunk : extent;
}

static prefix grow(const cutt_canonical *c, const int *order, bool input, int64_t bytes) {
  prefix p = {0, 0, 1};
  int64_t stride = 1;
  for (int i = 0; i < c->rank && p.split == 0; ++i) {
    const cutt_mode *mode = &c->mode[order ? order[i] : i];
    const int64_t reached = p.length * c->elem_bytes; /* >= 1 */
    if ((input ? mode->in_stride : mode->out_stride) != stride || reached * 4 > bytes * 3) break;
    /* A whole mode may overshoot by half. */
    int64_t chunk = mode->extent;
    const int64_t wanted = bytes / (reached > 0 ? reached : 1);
    if (mode->extent > wanted * 3 / 2) chunk = even_chunk(mode->extent, wanted, reached);
    if (chunk == 1) break;
    p.count = i + 1;
    p.length *= chunk;
    if (chunk < mode->extent) p.split = chunk;
    stride *= mode->extent;
  }
  return p;
}

static int grow_all(const cutt_canonical *c, const int *order, bool input, prefix *list) {
  int count = 0;
  for (int i = 0; i < RUNS; ++i) {
    const prefix p = grow(c, order, input, run_bytes[i]);
    if (count > 0 && list[count - 1].count == p.count && list[count - 1].split == p.split) continue;
    list[count++] = p;
  }
  return count;
}

/* Where M_m and M_k have a mode in common, what one of them cuts must be what the other has. */
static void reconcile(const cutt_canonical *c, prefix *m, prefix *k) {
  const int cut_m = m->split > 0 ? m->count - 1 : -1, cut_k = k->split > 0 ? c->out_order[k->count - 1] : -1;
  int place = 0; /* of the mode that M_m cuts, in the output */
  while (cut_m >= 0 && c->out_order[place] != cut_m) ++place;
  if (cut_m >= 0 && cut_m == cut_k) {
    m->split = k->split = m->split > k->split ? m->split : k->split;
    return;
  }
  if (cut_m >= 0 && place < k->count) {
    if (place == k->count - 1) {
      k->split = m->split;
    } else {
      m->split = 0;
    }
  }
  if (cut_k >= 0 && cut_k < m->count) {
    if (cut_k == m->count - 1 && m->split == 0) {
      m->split = k->split;
    } else {
      k->split = 0;
    }
  }
}

typedef struct listing {
  cutt_candidate *list;
  int count, max;
} listing;

static void insert(listing *l, const cutt_candidate *candidate) {
  if (l->count == l->max && candidate->seconds >= l->list[l->count - 1].seconds) return;
  int place = l->count < l->max ? l->count++ : l->count - 1;
  for (; place > 0 && l->list[place - 1].seconds > candidate->seconds; --place) l->list[place] = l->list[place - 1];
  l->list[place] = *candidate;
}

static bool listed(const listing *l, const cutt_candidate *candidate) {
  for (int i = 0; i < l->count; ++i) {
    const cutt_candidate *other = &l->list[i];
    if (other->m == candidate->m && other->k == candidate->k && other->split_m == candidate->split_m &&
        other->split_k == candidate->split_k &&
        other->param[CUTT_CUDA_PARAM_BATCH] == candidate->param[CUTT_CUDA_PARAM_BATCH] &&
        other->param[CUTT_CUDA_PARAM_DIRECT] == candidate->param[CUTT_CUDA_PARAM_DIRECT]) {
      return true;
    }
  }
  return false;
}

/* Prices a geometry with each number of stages. Returns the bytes of its tile; 0 when there is no such geometry. */
static int64_t add(const cutt_cuda_device *device, const cutt_canonical *c, cutt_candidate *candidate, listing *l) {
  static const int threads[] = {256, 512};
  cutt_cuda_tile tile;
  cutt_cuda_counts counts;
  const char *why;
  if (listed(l, candidate) || !cutt_cuda_tile_derive(c, candidate, &tile, &why)) return 0;
  const int64_t bytes = tile.volume * c->elem_bytes;
  if (bytes > MOST_TILE_BYTES) return 0;
  const bool direct = candidate->param[CUTT_CUDA_PARAM_DIRECT] != 0;
  cutt_cuda_count(c, &tile, direct, &counts);
  /* Buffers that are not aligned as the price assumes take pieces of a byte, longer tables and wider rows. */
  const double worst = counts.table_bytes + 4.0 * (double)(tile.column_length * c->elem_bytes) +
                       1.25 * (double)(tile.volume * c->elem_bytes) + 32.0 * (double)tile.rows;
  if (!direct && worst > device->block_shared) return 0;
  candidate->method = cutt_cuda_method(c, candidate);
  for (int stages = 1; stages <= (direct ? 1 : 3); ++stages) {
    for (int i = 0; i < (direct ? 1 : 2); ++i) {
      if (cutt_cuda_price(device, c, &tile, &counts, stages, threads[i], candidate)) insert(l, candidate);
    }
  }
  return bytes;
}

/* Can runs of the first mode be copied, 8 bytes at a time at least? Others go through shared memory, where words are made
 * of what is narrower, and where more narrow loads can be under way than a thread has registers for. */
static bool copies_runs(const cutt_canonical *c) {
  if (c->scale.active || (c->rank > 0 && (c->mode[0].in_stride != 1 || c->mode[0].out_stride != 1))) return false;
  for (int i = 1; i < c->rank; ++i) {
    if (c->mode[i].in_stride * c->elem_bytes % 8 != 0 || c->mode[i].out_stride * c->elem_bytes % 8 != 0) return false;
  }
  return true;
}

/* Runs of the first mode, which both sides have: pieces of one where it is long, several of them in a tile where it is
 * short, so that each thread has some loads under way. */
static void add_copies(const cutt_cuda_device *device, const cutt_canonical *c, listing *l) {
  enum { BLOCK = 256, LARGEST = 16384, IN_FLIGHT = 80 }; /* threads; bytes of a tile; bytes of a thread */
  const int64_t run = c->rank == 0 ? 1 : c->mode[0].extent;
  uint64_t bits = 16;
  for (int i = 1; i < c->rank; ++i) {
    bits |= (uint64_t)(c->mode[i].in_stride * c->elem_bytes) | (uint64_t)(c->mode[i].out_stride * c->elem_bytes);
  }
  const int64_t unit = (int64_t)cutt_cuda_power(bits); /* bytes of a load: 8 or 16 */
  const int64_t loads = run * c->elem_bytes / unit > 0 ? run * c->elem_bytes / unit : 1;
  const int64_t rows = loads < BLOCK ? BLOCK / loads : 1, many = IN_FLIGHT / unit;
  for (int64_t i = 1; i <= 4; i *= 2) {
    cutt_candidate candidate;
    memset(&candidate, 0, sizeof candidate);
    candidate.m = candidate.k = c->rank > 0;
    candidate.param[CUTT_CUDA_PARAM_DIRECT] = 1;
    const int64_t largest = LARGEST * i / c->elem_bytes, chunk = even_chunk(run, largest, c->elem_bytes);
    if (run > LARGEST / c->elem_bytes) {
      candidate.split_m = candidate.split_k = chunk < run ? chunk : 0;
    } else {
      candidate.param[CUTT_CUDA_PARAM_BATCH] = rows * many / i > rows ? rows * many / i : rows;
    }
    add(device, c, &candidate, l);
  }
}

int cutt_cuda_enumerate(const cutt_cuda_device *device, const cutt_canonical *c, cutt_candidate *list, int max) {
  listing l = {list, 0, max};
  cutt_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  const bool copies = copies_runs(c);
  if (copies) add_copies(device, c, &l);
  if (copies && c->rank <= 1) return l.count; /* what is contiguous is copied */
  prefix m[RUNS], k[RUNS];
  const int ms = grow_all(c, NULL, true, m), ks = grow_all(c, c->out_order, false, k);
  for (int i = 0; i < ms; ++i) {
    for (int j = 0; j < ks; ++j) {
      prefix a = m[i], b = k[j];
      reconcile(c, &a, &b);
      candidate.m = a.count;
      candidate.k = b.count;
      candidate.split_m = a.split;
      candidate.split_k = b.split;
      candidate.param[CUTT_CUDA_PARAM_BATCH] = 0;
      int64_t bytes = add(device, c, &candidate, &l);
      /* Refused for its number of tiles, it is small for sure. */
      if (bytes == 0 && a.length * b.length * c->elem_bytes <= SMALL_TILE_BYTES)
        bytes = a.length * b.length * c->elem_bytes;
      /* Where runs are short and can't grow (gaps in a strided tensor), a tile of many of them. */
      if (a.split > 0 || b.split > 0 || bytes == 0 || bytes > SMALL_TILE_BYTES) continue;
      candidate.param[CUTT_CUDA_PARAM_BATCH] = 2 * SMALL_TILE_BYTES / bytes;
      add(device, c, &candidate, &l);
    }
  }
  return l.count;
}
