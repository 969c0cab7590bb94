/* The shape of a pass (pass.h), and what it is predicted to take. */
#include "contract/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
  LINE = 64,
  RUN_BYTES = 256,               /* of a mode that is cut: as long as a run of a tensor in memory should be */
  FAR_RUN_BYTES = 1024,          /* where one comes from memory */
  PACKED_BYTES = 24 * 1024,      /* of an operand's part of a tile */
  FAR_PACKED_BYTES = 128 * 1024, /* of one that comes from memory */
  PAGE_BYTES = 4096,             /* of a step from which on the processor fetches nothing ahead */
  BLOCKS_BYTES = 256 * 1024,     /* of an operand's part of a tile of blocks */
  BLOCKS_SUMS = 128 * 1024,      /* of D's part of it */
  SINGLE_BYTES = 24 * 1024,      /* of the other operand's */
  BLOCKS_ROWS = 32,              /* that share an operand's numbers, first */
  BLOCKS_PRODUCTS = 131072,      /* of their tile from which on it is large enough */
  BLOCKS_TERMS = 256,            /* of a row */
  DEEP_TERMS = 192,              /* of a row, where sums are longer than a tile's */
  DEEP_SINGLE = 192 * 1024,      /* of the other operand's part of such a tile */
  DEEP_LINES = 24,        /* cache lines of the first operand by which a number of the other one is multiplied there */
  BLOCK = 8,              /* rows that are computed together */
  WRITTEN = 4,            /* runs of D that are waited for at once, if they are cache lines */
  SUMS_BYTES = 40 * 1024, /* of D's part of a tile */
  FAR_BYTES = 16 * 1024,  /* of a row where nothing is packed */
  DIRECT_BYTES = 128 * 1024, /* of a row that goes to D straight or in pieces, where nothing is summed */
  SUMMED_BYTES = 64 * 1024,  /* of a term of a dot product */
  FEW_BYTES = 32,            /* of one that is shorter numbers are added up one after the other */
  PARTS_BYTES = 128,         /* of one up to which it has no loop */
  NEAR = 64,                 /* numbers of a row, first, where something is */
  NEAR_BYTES = 4096,         /* of a row, at most, where something is */
  TERMS_BYTES = 32 * 1024,   /* of the terms of a row that is more than one strip long */
  FAR_TIMES = 3,             /* times the bytes that are written past the caches: what is read in order */
  PRODUCTS = 16384,          /* of a tile from which on it is large enough */
  LARGER = 8,                /* times D's bytes: an operand whose order is that of tiles */
  TILES = 128,               /* that are enough for many threads */
  STREAMS = 16,              /* of lines one after the other that a processor fetches ahead at once */
  FEW_PRODUCTS = 1024        /* of one that would leave the order of memory */
};

/* Seconds, as measured on one core of an Intel Xeon of 2023 (packing, but to blocks, and dot products of an AMD EPYC): of a call; of
 * a tile; of 64 bytes of products in a row, and in a dot product, which reads two numbers for each; of a dot product of one term
 * that is at most PARTS_BYTES long; of a single product; of a number that is packed alone; of finishing 64 bytes. Of blocks: of a
 * load; of a byte that is copied; of 64 bytes of sums; of a block; of a run of memory that is far from the last one. And what a number that is
 * packed in a run takes longer from memory, on Zen 4. */
static const double call_seconds = 200e-9, tile_seconds = 60e-9, line_seconds = 0.55e-9, summed_seconds = 1e-9,
                    short_seconds = 0.45e-9, number_seconds = 0.6e-9, alone_seconds = 0.55e-9, finish_seconds = 0.8e-9,
                    load_seconds = 0.13e-9, copy_seconds = 0.02e-9, store_seconds = 0.5e-9, block_seconds = 5e-9,
                    far_seconds = 35e-9, memory_seconds = 0.13e-9;

/* Of a row; of a term of a row; of a number that is packed in a run; of a cache line in a page alone. Tiles of blocks are larger,
 * and packed to a cache that is further away. */
typedef struct tile_rates {
  double row, term, run, page;
} tile_rates;
static const tile_rates row_tiles = {1.3e-9, 0.55e-9, 0.1e-9, 2.6e-9}, block_tiles = {3e-9, 1.2e-9, 0.35e-9, 3e-9};

static bool is_half(const cutt_contraction *c) { return c->type->type == CUTT_F16 || c->type->type == CUTT_BF16; }

/* Bytes of a number that is computed with. */
static int64_t number_bytes(const cutt_contraction *c) { return is_half(c) ? 4 : c->type->bytes; }

static int64_t step_along(const cutt_contraction *c, int along, cutt_tensor t) {
  return along < 0 ? 1 : c->mode[along].stride[t];
}

/* The smallest step of a mode in any tensor; where all repeat their elements, more than any other. */
static int64_t least_step(const cutt_contract_mode *mode) {
  int64_t least = INT64_MAX / 64;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (mode->stride[t] && llabs(mode->stride[t]) < least) least = llabs(mode->stride[t]);
  return least;
}

/* Bytes of the cache lines that a tensor's elements lie in. */
static double touched_bytes(const cutt_contraction *c, cutt_tensor t) {
  int64_t step = INT64_MAX / LINE;
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].stride[t]) step = smaller(step, (int64_t)llabs(c->mode[i].stride[t]));
  return (double)c->volume[t] * (double)larger(smaller(step * c->type->bytes, (int64_t)LINE), (int64_t)c->type->bytes);
}

cutt_tensor cutt_pass_larger_operand(const cutt_contraction *c) {
  return !c->right_is_one && touched_bytes(c, CUTT_RIGHT) > touched_bytes(c, CUTT_LEFT) ? CUTT_RIGHT : CUTT_LEFT;
}

/* The step by which a tile grows along a mode: the least one in operands that are gone through in order, if any. */
static int64_t growing_step(const cutt_contraction *c, const cutt_pass_shape *s, int mode) {
  const int64_t *stride = c->mode[mode].stride, least = least_step(&c->mode[mode]);
  if (s->by == CUTT_TENSORS) return least;
  const cutt_tensor second = cutt_other_operand(s->by);
  const int64_t step = llabs(stride[s->by]), other = s->both ? llabs(stride[second]) : 0;
  if (!step || !other) return step + other ? step + other : least;
  return smaller(step, other);
}

/* ------------------------------------------------------------------------------------------------------------- the shape */

/* Of a tile. */
typedef struct volumes {
  double rows, terms, products;
  double positions[CUTT_TENSORS]; /* rows of a tensor's part */
} volumes;

static int64_t chunk_along(const cutt_pass_shape *s) { return s->along < 0 ? 1 : s->chunk[s->along]; }

static void measure(const cutt_contraction *c, const cutt_pass_shape *s, volumes *v) {
  *v = (volumes){1, 1, 1, {1, 1, 1}};
  for (int i = 0; i < c->modes; ++i) {
    v->products *= (double)s->chunk[i];
    if (i == s->along) continue;
    *(cutt_is_summed(c, i) ? &v->terms : &v->rows) *= (double)s->chunk[i];
    for (int t = 0; t < CUTT_TENSORS; ++t)
      if (c->mode[i].stride[t]) v->positions[t] *= (double)s->chunk[i];
  }
}

static double row_bytes(const cutt_contraction *c, const cutt_pass_shape *s) {
  return (double)(cutt_round_up(chunk_along(s) * number_bytes(c), LINE) + LINE);
}

/* Bytes of an operand's part of a tile that is not in blocks. From memory it comes the better the longer its runs are, and then L2 is near. */
static double packed_most(const cutt_pass_shape *s, cutt_tensor t) {
  return s->far[t] ? FAR_PACKED_BYTES : PACKED_BYTES;
}

/* Does all that a tile needs fit? */
static bool fits(const cutt_contraction *c, const cutt_pass_shape *s) {
  volumes v;
  measure(c, s, &v);
  const double row = row_bytes(c, s);
  for (int t = 0; t < CUTT_RESULT; ++t) {
    const double most = !s->blocked     ? packed_most(s, (cutt_tensor)t)
                        : !s->single[t] ? BLOCKS_BYTES
                        : s->deep       ? DEEP_SINGLE
                                        : SINGLE_BYTES;
    if (s->packed[t] && v.positions[t] * (s->single[t] ? (double)number_bytes(c) : row) > most) return false;
  }
  const double sums = v.rows * (s->summed ? (double)number_bytes(c) : row);
  const bool far = (s->far[0] && s->packed[0]) || (s->far[1] && s->packed[1]);
  return v.rows <= CUTT_PASS_ROWS && v.terms <= (s->deep ? DEEP_TERMS : CUTT_PASS_TERMS) &&
         (s->direct || s->pieces || sums <= (s->blocked ? BLOCKS_SUMS : SUMS_BYTES)) &&
         (s->summed || s->blocked || v.terms <= 8 || v.terms * row <= (far ? FAR_PACKED_BYTES : TERMS_BYTES));
}

/* The longest chunk that fits, at most `most`, and so that all chunks have nearly the same extent. */
static int64_t longest(const cutt_contraction *c, const cutt_pass_shape *s, int mode, int64_t most) {
  const int64_t extent = c->mode[mode].extent;
  cutt_pass_shape tried = *s;
  int64_t low = 1, high = smaller(most, extent);
  tried.chunk[mode] = high;
  if (fits(c, &tried)) low = high;
  while (low + 1 < high) {
    tried.chunk[mode] = low + (high - low) / 2;
    *(fits(c, &tried) ? &low : &high) = tried.chunk[mode];
  }
  const int64_t chunks = (extent + low - 1) / low;
  return (extent + chunks - 1) / chunks;
}

static int ragged(const cutt_contraction *c, const cutt_pass_shape *s) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) count += i != s->along && c->mode[i].extent % s->chunk[i] != 0;
  return count;
}

static bool in_place(const cutt_pass_shape *s) {
  return !s->packed[CUTT_LEFT] && !s->packed[CUTT_RIGHT] && !s->packed[CUTT_RESULT];
}

/* Is a tile to have only a run of a mode whose neighbours share cache lines? In general where there is no room for all of it. Dot
 * products in place are the better the more of it there is, if what they read lies near; else a cache line of D is enough. */
static bool is_shortened(const cutt_contraction *c, const cutt_pass_shape *s, int mode, int64_t chunk) {
  if (in_place(s) && s->by != CUTT_TENSORS && c->mode[mode].stride[s->by]) return false;
  const int64_t left = llabs(c->mode[mode].stride[CUTT_LEFT]), right = llabs(c->mode[mode].stride[CUTT_RIGHT]);
  return in_place(s) && s->summed ? larger(left, right) * c->type->bytes >= PAGE_BYTES : chunk < c->mode[mode].extent;
}

/* Products of a tile from which on it is large enough. Where it goes through an operand in order they are few if something is left out inside, but
 * what is left out of free modes comes after all sums in any case; and more if all lies in place, as long as there are tiles for many threads and
 * no row of dot products comes again for more terms. */
static double enough_products(const cutt_contraction *c, const cutt_pass_shape *s, const volumes *v, int mode) {
  if (s->blocked) return BLOCKS_PRODUCTS;
  if (s->by == CUTT_TENSORS) return PRODUCTS;
  const int64_t step = growing_step(c, s, mode);
  const bool summed = cutt_is_summed(c, mode);
  double all = 1;
  for (int i = 0; i < c->modes; ++i) {
    const bool is_left_out = s->chunk[i] < c->mode[i].extent && (i != s->along || s->packed[s->by]);
    if (is_left_out && growing_step(c, s, i) < step && (!summed || cutt_is_summed(c, i))) return FEW_PRODUCTS;
    all *= (double)c->mode[i].extent;
  }
  return in_place(s) && !(s->summed && summed && v->rows > 1) ? larger(all / TILES, (double)PRODUCTS) : PRODUCTS;
}

/* Does a packed operand repeat its numbers along a mode? It is packed once for all that a tile has of it. */
static bool shares_packed(const cutt_contraction *c, const cutt_pass_shape *s, int mode) {
  for (int t = 0; t < CUTT_RESULT; ++t)
    if (s->packed[t] && !c->mode[mode].stride[t]) return true;
  return false;
}

/* How much of a mode a tile has. Of modes whose neighbours share cache lines as much as there is room for, of others so much
 * that the tile is worth its overhead. */
static void grow(const cutt_contraction *c, cutt_pass_shape *s, int mode) {
  volumes v;
  measure(c, s, &v);
  const int64_t extent = c->mode[mode].extent, step = growing_step(c, s, mode) * c->type->bytes;
  int64_t most = extent;
  const double products = enough_products(c, s, &v, mode);
  if (step >= RUN_BYTES) most = v.products < products ? (int64_t)(products / v.products) : 1;
  if (s->by != CUTT_TENSORS && shares_packed(c, s, mode)) most = extent;
  int64_t chunk = longest(c, s, mode, most < 1 ? 1 : most);
  if (step < RUN_BYTES && is_shortened(c, s, mode, chunk)) {
    const bool dots = in_place(s) && s->summed;
    const bool far = !s->blocked && (s->far[0] || s->far[1]);
    int64_t run = larger((dots ? LINE : far ? FAR_RUN_BYTES : RUN_BYTES) / step, (int64_t)1);
    /* Where that is a row or two, a tile would hardly be worth its overhead. */
    if (!dots && !s->blocked && (in_place(s) || cutt_is_summed(c, mode)))
      run = larger(run, (int64_t)(products / v.products));
    chunk = longest(c, s, mode, smaller(run, chunk));
  }
  s->chunk[mode] = chunk;
  if (ragged(c, s) <= CUTT_PASS_RAGGED) return;
  while (extent % s->chunk[mode]) --s->chunk[mode]; /* a divisor: 1, if need be */
}

static void set_operands(const cutt_contraction *c, cutt_pass_shape *s) {
  const int64_t step[CUTT_TENSORS] = {step_along(c, s->along, CUTT_LEFT), step_along(c, s->along, CUTT_RIGHT),
                                      s->along >= 0 && s->summed ? 1 : step_along(c, s->along, CUTT_RESULT)};
  const bool one = c->right_is_one;
  s->first = !one && (step[CUTT_LEFT] == 0 || (step[CUTT_LEFT] != 1 && step[CUTT_RIGHT] == 1)) && step[CUTT_RIGHT]
                 ? CUTT_RIGHT
                 : CUTT_LEFT;
  const cutt_tensor second = cutt_other_operand(s->first);
  s->kind = one ? CUTT_PASS_ADD : step[second] ? CUTT_PASS_MULTIPLY : CUTT_PASS_SCALE;
  s->single[s->first] = false;
  s->single[second] = s->kind == CUTT_PASS_SCALE;
  s->packed[s->first] = is_half(c) || step[s->first] != 1;
  s->packed[second] = s->kind != CUTT_PASS_ADD && (is_half(c) || (step[second] != 0 && step[second] != 1));
  s->packed[CUTT_RESULT] = step[CUTT_RESULT] != 1;
}

int cutt_pass_run_modes(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t, int *mode,
                        int *contiguous) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (i != s->along && s->chunk[i] != 1 && c->mode[i].stride[t]) mode[count++] = i;
  }
  cutt_sort_modes(c, t, mode, count);
  *contiguous = 0;
  for (int64_t run = 1; *contiguous < count; ++*contiguous) {
    const int i = mode[*contiguous];
    if (c->mode[i].stride[t] != run ||
        (*contiguous && s->chunk[mode[*contiguous - 1]] < c->mode[mode[*contiguous - 1]].extent))
      break;
    run *= s->chunk[i];
  }
  return count;
}

/* ------------------------------------------------------------------------------------------------------------- the seconds */

/* Numbers of a tile that follow each other in memory, without the mode along. */
static double run_of(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  int mode[CUTT_MOST_MODES], contiguous = 0;
  double run = 1;
  cutt_pass_run_modes(c, s, t, mode, &contiguous);
  for (int i = 0; i < contiguous; ++i) run *= (double)s->chunk[mode[i]];
  return run;
}

/* Bytes that follow each other in a tensor's part of a tile. */
static double row_run(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  int64_t run = 1;
  for (bool grew = true; grew;) {
    grew = false;
    for (int i = 0; i < c->modes && !grew; ++i) {
      if (llabs(c->mode[i].stride[t]) != run || s->chunk[i] == 1) continue;
      run *= s->chunk[i];
      grew = s->chunk[i] == c->mode[i].extent;
      if (!grew) return (double)(run * c->type->bytes);
    }
  }
  return (double)(run * c->type->bytes);
}

/* Bytes that a tensor moves to or from memory when all of it is read or written once. Of a run that is shorter than a cache line the
 * rest of the line comes along. */
static double moved_once(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s, cutt_tensor t) {
  const double bytes = (double)c->volume[t] * c->type->bytes;
  if (t == CUTT_RIGHT && c->right_is_one) return 0;
  if (bytes <= (double)r->cache_bytes) return bytes;
  double run = run_of(c, s, t) * c->type->bytes;
  if (step_along(c, s->along, t) == 1) run = larger(run, (double)(chunk_along(s) * c->type->bytes));
  return bytes * (run < LINE ? LINE / run : 1 + LINE / run / 4);
}

/* Is it too large for any cache? */
static bool is_from_memory(const cutt_contraction *c, const cutt_rates *r, cutt_tensor t) {
  return r->stream_bytes > 0 && c->volume[t] * c->type->bytes >= r->stream_bytes;
}

/* The same of all tiles. */
static double moved(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s, cutt_tensor t) {
  double repeats = 1;
  if (s->blocked && !s->deep && t != CUTT_RESULT && (t == s->first) != s->keeps_second) return moved_once(c, r, s, t);
  for (int i = 0; i < c->modes && (double)c->volume[t] * c->type->bytes > (double)r->cache_bytes; ++i)
    if (!c->mode[i].stride[t]) repeats *= ceil((double)c->mode[i].extent / (double)s->chunk[i]);
  return repeats * moved_once(c, r, s, t);
}

bool cutt_pass_shares(const cutt_contraction *c, const cutt_pass_shape *s, int mode) {
  return mode != s->along && !cutt_is_summed(c, mode) && !c->mode[mode].stride[s->first];
}

/* Tiles, one after the other, that have the same part of an operand, if loops over the other one's free modes are the innermost. */
static double tiles_beside(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  double tiles = 1;
  for (int i = 0; i < c->modes; ++i)
    if (!cutt_is_summed(c, i) && !c->mode[i].stride[t]) tiles *= ceil((double)c->mode[i].extent / (double)s->chunk[i]);
  return tiles;
}

/* Which of the operands' parts stays from tile to tile: the one with which the fewest bytes come from beyond a core's own cache, or are
 * packed again. */
static bool second_stays(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  double once[2], again[2];
  for (int k = 0; k < 2; ++k) {
    const cutt_tensor t = k == 0 ? s->first : cutt_other_operand(s->first);
    once[k] = (double)c->volume[t] * c->type->bytes;
    again[k] = s->packed[t] || once[k] > (double)r->cache_bytes ? once[k] * tiles_beside(c, s, t) : once[k];
  }
  return once[1] + again[0] < once[0] + again[1];
}

static double sharing_extent(const cutt_contraction *c, const cutt_pass_shape *s) {
  double extent = 1;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_pass_shares(c, s, i)) extent *= (double)c->mode[i].extent;
  return extent;
}

/* Rows of a tile that share the first operand's numbers. */
static double sharing_rows(const cutt_contraction *c, const cutt_pass_shape *s) {
  double rows = 1;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_pass_shares(c, s, i)) rows *= (double)s->chunk[i];
  return rows;
}

/* Of the products of a tile in blocks: of operations on vectors, or of loads where blocks are small; of blocks and of what they store. */
static double blocks_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s,
                             const volumes *v) {
  const double lines = ceil((double)(chunk_along(s) * number_bytes(c)) / LINE), each = c->type->complex ? 2 : 1;
  const double group = sharing_rows(c, s), high = ceil(group / BLOCK), wide = ceil(lines / 3),
               blocks = v->rows / group * high * wide;
  const double term = larger(group / high * (lines / wide) * each * r->block_line,
                             (group / high * each + lines / wide + BLOCK / 2.0) * load_seconds);
  return v->rows * lines * store_seconds + blocks * (block_seconds + v->terms * term);
}

/* Of a number that is packed, or D's that is transposed, in runs of so many: as many bytes as a vector has take the same time, but of
 * short runs of lines of which the rest is left. */
static double packed_seconds(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t, double run) {
  const double number = (double)number_bytes(c), bytes = run * number;
  const double step = (double)llabs(step_along(c, s->along, t)) * c->type->bytes;
  const bool dense = bytes >= 2 * LINE || 2 * bytes >= step;
  return (s->blocked ? block_tiles.run : row_tiles.run) * (number > 8 ? 2 : number < 8 && dense ? 0.5 : 1);
}

/* Is an operand's part of a tile packed by copying runs, without transposing? */
static bool is_copied(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t) {
  return t != CUTT_RESULT && s->packed[t] && !is_half(c) && (s->single[t] || step_along(c, s->along, t) == 1);
}

/* Of a tile of blocks: each run of a tensor in memory begins with a wait, where the next one is far away. Not so where runs are copied,
 * since the next one is asked for; and what comes again waits only where the tensor is too large for any cache. Runs of the second operand
 * in place are those of a block's rows, which are read side by side and so waited for at once, but where the next tile's are asked for.
 * Stores wait the less, but where a cache line is written in part, and comes again for each of its parts. */
static double runs_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  double seconds = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const double bytes = (is_from_memory(c, r, (cutt_tensor)t) ? moved : moved_once)(c, r, s, (cutt_tensor)t);
    const bool asked = s->asks && t == (int)cutt_other_operand(s->first);
    const bool waits = !is_copied(c, s, (cutt_tensor)t) && !(s->deep && s->packed[t]) && !asked;
    const double run = row_run(c, s, (cutt_tensor)t);
    double at_once = 1;
    if (t == CUTT_RESULT) at_once = run < LINE ? 1 : WRITTEN;
    if (t != CUTT_RESULT && s->single[t]) at_once = smaller((double)BLOCK, sharing_rows(c, s));
    if ((double)c->volume[t] * c->type->bytes > (double)r->cache_bytes && waits)
      seconds += bytes / (t == CUTT_RESULT ? run : larger(run, (double)LINE)) * far_seconds / at_once;
  }
  return seconds;
}

/* Cache lines of a tile's part of an operand in place that comes from memory, of rows that add up more terms than a processor follows at
 * once, each in another page. */
static double far_lines(const cutt_contraction *c, const cutt_pass_shape *s, const volumes *v, cutt_tensor t) {
  if (s->summed || s->blocked || s->packed[t] || !s->far[t] || cutt_pass_terms_each(c, s, s->chunk) <= STREAMS)
    return 0;
  const double near = larger((double)PAGE_BYTES, row_run(c, s, t));
  for (int i = 0; i < c->modes; ++i) {
    const double step = (double)llabs(c->mode[i].stride[t]) * c->type->bytes;
    if (i != s->along && cutt_is_summed(c, i) && s->chunk[i] > 1 && step > 0 && step < near) return 0;
  }
  return v->positions[t] * row_bytes(c, s) / LINE;
}

static double seconds_of(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  const tile_rates *own = s->blocked ? &block_tiles : &row_tiles;
  const double line_takes = !s->summed                      ? line_seconds
                            : s->kind == CUTT_PASS_MULTIPLY ? summed_seconds
                                                            : summed_seconds / 2;
  volumes v;
  measure(c, s, &v);
  double tiles = 1, sum_tiles = 1, all = 0;
  for (int i = 0; i < c->modes; ++i) {
    const double chunks = ceil((double)c->mode[i].extent / (double)s->chunk[i]);
    *(cutt_is_summed(c, i) ? &sum_tiles : &tiles) *= chunks;
  }
  const double number = (double)number_bytes(c);
  const double width = !c->type->complex || s->kind == CUTT_PASS_ADD ? 1 : s->summed ? 1.5 : 2;
  const double n = (double)chunk_along(s), row = n * number;
  /* What is left of a row is part of a vector, but where the row is a single term of what lies in memory, and of dot products that
   * have one factor for all, or few numbers. */
  const bool padded = s->summed ? s->kind != CUTT_PASS_SCALE && row >= FEW_BYTES
                                : (v.terms > 1 || (!s->direct && s->packed[s->first] &&
                                                   (s->kind != CUTT_PASS_MULTIPLY || s->packed[1 - s->first])));
  const double lines = padded ? ceil(row / LINE) : floor(row / LINE), rest = padded ? 0 : n - lines * LINE / number;
  const bool is_short = padded && s->summed && v.terms <= 1 && row <= PARTS_BYTES;
  const double times = s->summed ? 1 : ceil(v.terms / (double)cutt_pass_terms_each(c, s, s->chunk));
  const double of_row = is_short ? short_seconds : times * own->row + v.terms * own->term;
  double tile =
      tile_seconds + (s->blocked ? blocks_seconds(c, r, s, &v)
                                 : v.rows * (of_row + v.terms * width * (lines * line_takes + rest * number_seconds)));
  for (int t = 0; t < CUTT_RESULT; ++t) {
    if (!s->packed[t]) continue;
    const double run = run_of(c, s, (cutt_tensor)t);
    const bool stays_in = s->blocked && sum_tiles <= 1 && (t == (int)s->first) != s->keeps_second;
    const double stays = stays_in ? tiles_beside(c, s, (cutt_tensor)t) : 1;
    if (is_copied(c, s, (cutt_tensor)t)) {
      const double each = s->single[t] ? run : n, runs = v.positions[t] * (s->single[t] ? 1 : n) / each;
      tile += runs * (each * number * copy_seconds + own->row) / stays;
      continue;
    }
    const double each = run >= 2 ? packed_seconds(c, s, (cutt_tensor)t, run) + (s->far[t] ? memory_seconds : 0)
                                 : alone_seconds * (number > 8 ? 2 : 1);
    const double numbers = v.positions[t] * (s->single[t] ? 1 : n);
    tile += (numbers * each + v.positions[t] * own->row) / stays;
    /* Lines that a processor does not fetch ahead, since each is in another page. */
    const double bytes = (double)c->volume[t] * c->type->bytes;
    if (bytes * (LINE / number) / run > (double)r->cache_bytes &&
        llabs(step_along(c, s->along, (cutt_tensor)t)) * c->type->bytes >= PAGE_BYTES)
      tile += numbers / run * own->page / stays;
  }
  for (int k = 0; k < (s->kind == CUTT_PASS_MULTIPLY ? 2 : 1); ++k)
    tile += far_lines(c, s, &v, k == 0 ? s->first : cutt_other_operand(s->first)) * own->page;
  double finish = 0;
  if (!s->direct) {
    const double sums = v.rows * (s->summed ? 1 : n);
    const double run = run_of(c, s, CUTT_RESULT);
    /* Whole rows that follow each other in D, too, are finished as one. */
    const bool dense = s->blocked && !s->packed[CUTT_RESULT] && chunk_along(s) == c->mode[s->along].extent;
    const double together = s->summed ? run : dense ? row_run(c, s, CUTT_RESULT) / (n * c->type->bytes) : 1;
    finish = sums * number / LINE * finish_seconds + v.rows / together * own->row;
    if (s->packed[CUTT_RESULT]) finish += sums * (packed_seconds(c, s, CUTT_RESULT, run) + own->row / run);
  }
  const double busy = tiles * (sum_tiles * tile + finish) + (s->blocked ? runs_seconds(c, r, s) : 0);
  for (int t = 0; t < CUTT_TENSORS; ++t) all += (double)c->volume[t] * c->type->bytes;
  const double read = moved(c, r, s, CUTT_LEFT) + moved(c, r, s, CUTT_RIGHT), written = moved(c, r, s, CUTT_RESULT);
  const bool near = all <= (double)r->cache_bytes;
  /* Cache lines are read before they are written, but those that are written past the caches. */
  const double memory =
      near ? (read + written) / r->cache / r->threads : (read + (s->streams ? 1 : 2) * written) / r->fetch;
  /* While blocks are multiplied what comes next is on its way. */
  const double both = s->blocked ? larger(busy / r->threads, memory) : busy / r->threads + memory;
  return call_seconds + both;
}

static bool has_sums(const cutt_contraction *c) {
  for (int i = 0; i < c->modes; ++i)
    if (cutt_is_summed(c, i)) return true;
  return false;
}

/* Are rows of sums those of D, with nothing else to be done to them? */
static bool writes_plainly(const cutt_contraction *c, const cutt_pass_shape *s) {
  return !s->packed[CUTT_RESULT] && !is_half(c) && c->beta_is_zero && c->alpha_is_one;
}

/* In the order of an operand; or modes whose neighbours share cache lines first, by their steps, then those that are summed, so that sums
 * are whole. */
static bool grows_before(const cutt_contraction *c, const cutt_pass_shape *s, int mode, int other) {
  const int64_t step[2] = {growing_step(c, s, mode), growing_step(c, s, other)};
  const bool far =
      s->by == CUTT_TENSORS && step[0] * c->type->bytes >= RUN_BYTES && step[1] * c->type->bytes >= RUN_BYTES;
  return far && cutt_is_summed(c, mode) != cutt_is_summed(c, other) ? cutt_is_summed(c, mode) : step[0] < step[1];
}

/* Is D too large for caches that have the operands, too? */
static bool is_large(const cutt_contraction *c, const cutt_rates *r) {
  return is_from_memory(c, r, CUTT_RESULT) && cutt_exceeds_caches(c, r);
}

/* Is D to be written past the caches, if its rows are long enough? */
static bool may_stream(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  return !s->summed && !s->packed[CUTT_RESULT] && !is_half(c) && c->beta_is_zero && is_large(c, r);
}

/* A shape of one element, and what is packed. */
static void start(const cutt_contraction *c, const cutt_rates *r, int along, cutt_pass_shape *s) {
  *s = (cutt_pass_shape){.along = along, .summed = along >= 0 && cutt_is_summed(c, along), .by = CUTT_TENSORS};
  for (int i = 0; i < c->modes; ++i) s->chunk[i] = 1;
  set_operands(c, s);
  s->direct = !has_sums(c) && !is_large(c, r) && writes_plainly(c, s); /* whatever the chunks will be */
  s->pieces = !has_sums(c) && may_stream(c, r, s) && !s->packed[CUTT_LEFT] && !s->packed[CUTT_RIGHT] && along >= 0 &&
              c->mode[along].extent * c->type->bytes >= RUN_BYTES;
}

/* The modes but the one along, in the order in which a tile grows. */
static int list_order(const cutt_contraction *c, const cutt_pass_shape *s, int *order) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (i == s->along) continue;
    int at = count++;
    for (; at > 0 && grows_before(c, s, i, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return count;
}

static bool sums_are_whole(const cutt_contraction *c, const cutt_pass_shape *s) {
  bool whole = true;
  for (int i = 0; i < c->modes; ++i) whole = whole && (!cutt_is_summed(c, i) || s->chunk[i] == c->mode[i].extent);
  return whole;
}

/* When all chunks are known. */
static void finish_shape(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *s) {
  const bool whole = sums_are_whole(c, s);
  s->streams = may_stream(c, r, s) &&
               (s->blocked ? row_run(c, s, CUTT_RESULT) : (double)(chunk_along(s) * c->type->bytes)) >= RUN_BYTES;
  s->direct = whole && !s->streams && writes_plainly(c, s);
  s->in_order = !s->summed && !s->packed[s->first] && s->far[s->first];
  const cutt_tensor second = cutt_other_operand(s->first);
  s->keeps_second = s->blocked && !s->deep && second_stays(c, r, s);
  s->asks = s->blocked && !s->packed[second] && is_from_memory(c, r, second);
  s->seconds = seconds_of(c, r, s);
}

/* The larger operand, if it may come from memory and D is small beside it, is gone through in its order there. Not so dot products of two large
 * ones in place, whose orders may be different. */
static void set_order(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *s) {
  const cutt_tensor t = cutt_pass_larger_operand(c);
  const double bytes = touched_bytes(c, t), others = touched_bytes(c, cutt_other_operand(t));
  const double least = (double)r->stream_bytes;
  if (r->stream_bytes == 0) return;
  for (int i = 0; i < CUTT_RESULT; ++i) s->far[i] = touched_bytes(c, (cutt_tensor)i) >= FAR_TIMES * least;
  if (bytes < least || bytes < LARGER * touched_bytes(c, CUTT_RESULT) || is_from_memory(c, r, CUTT_RESULT)) return;
  const bool packs = s->packed[cutt_other_operand(t)] && others > (double)r->cache_bytes;
  s->both = !c->right_is_one && (packs || 2 * others >= bytes);
  if (!s->both || !s->summed || !in_place(s)) s->by = t;
}

int64_t cutt_pass_terms_each(const cutt_contraction *c, const cutt_pass_shape *s, const int64_t *extent) {
  enum { FEW = 8 };
  int64_t count = 1, least = INT64_MAX;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t step = llabs(c->mode[i].stride[s->first]);
    if (i != s->along && !cutt_is_summed(c, i) && extent[i] > 1 && step && step < least) least = step;
  }
  for (int i = 0; i < c->modes; ++i) {
    const bool inside = s->by != s->first || llabs(c->mode[i].stride[s->first]) < least;
    if (i != s->along && cutt_is_summed(c, i) && inside) count *= extent[i];
  }
  return count > 1 ? count : FEW;
}

/* Where something is packed, more of the mode along. */
static void lengthen(const cutt_contraction *c, cutt_pass_shape *s) {
  int64_t most = NEAR_BYTES;
  if (s->by != CUTT_TENSORS && s->packed[s->by]) {
    const int64_t step = llabs(c->mode[s->along].stride[s->by]);
    bool innermost = step > 0;
    for (int i = 0; i < c->modes; ++i) {
      const int64_t other = llabs(c->mode[i].stride[s->by]);
      innermost = innermost && (i == s->along || !other || other > step);
    }
    if (innermost) most = (int64_t)packed_most(s, s->by);
  }
  s->chunk[s->along] = longest(c, s, s->along, most / number_bytes(c));
}

void cutt_pass_shape_of(const cutt_contraction *c, const cutt_rates *r, int along, cutt_pass_shape *s) {
  start(c, r, along, s);
  set_order(c, r, s);
  int order[CUTT_MOST_MODES];
  const int count = list_order(c, s, order);
  const bool packs = s->packed[CUTT_LEFT] || s->packed[CUTT_RIGHT] || s->packed[CUTT_RESULT];
  const int64_t far = s->summed ? SUMMED_BYTES : s->direct || s->pieces ? DIRECT_BYTES : FAR_BYTES;
  if (along >= 0) s->chunk[along] = longest(c, s, along, packs ? NEAR : far / number_bytes(c));
  bool lengthens = along >= 0 && packs;
  for (int i = 0; i < count; ++i) {
    const bool is_far = growing_step(c, s, order[i]) * c->type->bytes >= RUN_BYTES;
    if (lengthens && is_far && s->by != CUTT_TENSORS) {
      lengthen(c, s);
      lengthens = false;
    }
    grow(c, s, order[i]);
  }
  if (lengthens) lengthen(c, s);
  finish_shape(c, r, s);
}

/* A mode, as long as fits and at most so long. */
static void grow_to(const cutt_contraction *c, cutt_pass_shape *s, int mode, int64_t most) {
  s->chunk[mode] = longest(c, s, mode, most);
  if (ragged(c, s) <= CUTT_PASS_RAGGED) return;
  while (c->mode[mode].extent % s->chunk[mode]) --s->chunk[mode]; /* a divisor: 1, if need be */
}

/* Modes along which rows share the first operand's numbers, by their steps in a tensor. */
static void grow_shared(const cutt_contraction *c, cutt_pass_shape *s, int64_t most, cutt_tensor by) {
  int64_t rows = 1;
  for (bool used[CUTT_MOST_MODES] = {false};;) {
    int next = -1;
    for (int i = 0; i < c->modes; ++i) {
      if (!cutt_pass_shares(c, s, i) || used[i]) continue;
      if (next < 0 || llabs(c->mode[i].stride[by]) < llabs(c->mode[next].stride[by])) next = i;
    }
    if (next < 0) return;
    used[next] = true;
    if (most / rows > s->chunk[next]) grow_to(c, s, next, most / rows);
    rows *= s->chunk[next];
    if (s->chunk[next] < c->mode[next].extent) return;
  }
}

/* Sums that are longer than a tile's. Both operands are packed again for each tile, the second one too if it comes from memory. So
 * all that is packed is used as often as there is room for: each number of the second operand is multiplied by many lines of the first,
 * and these by many rows, which are in the order in which memory has the second operand. Of modes in which an operand has its
 * neighbours a tile has a cache line at least. */
static void grow_deep(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *s, const int *order, int count) {
  const cutt_tensor second = cutt_other_operand(s->first);
  const int64_t line = LINE / number_bytes(c);
  s->deep = true;
  if (c->volume[second] * c->type->bytes > r->cache_bytes) s->packed[second] = true;
  for (int i = 0; i < count; ++i) s->chunk[order[i]] = 1;
  s->chunk[s->along] = longest(c, s, s->along, smaller(s->lines, (int64_t)DEEP_LINES) * line);
  for (int i = 0; i < count; ++i)
    if (cutt_is_summed(c, order[i]) && least_step(&c->mode[order[i]]) == 1) grow_to(c, s, order[i], line);
  for (int i = 0; i < count; ++i)
    if (cutt_is_summed(c, order[i])) grow_to(c, s, order[i], DEEP_TERMS);
  double lines = (double)chunk_along(s) / (double)line;
  for (int i = 0; i < count && lines < DEEP_LINES; ++i) {
    if (cutt_is_summed(c, order[i]) || cutt_pass_shares(c, s, order[i])) continue;
    grow_to(c, s, order[i], (int64_t)(DEEP_LINES / lines));
    lines *= (double)s->chunk[order[i]];
  }
  grow_shared(c, s, CUTT_PASS_ROWS, second);
}

bool cutt_pass_shape_blocked(const cutt_contraction *c, const cutt_rates *r, int along, int64_t lines,
                             cutt_pass_shape *s) {
  const cuttType_t type = c->type->type;
  if (along < 0 || cutt_is_summed(c, along) || !has_sums(c) || type == CUTT_I32 || type == CUTT_I64 || c->reduce)
    return false;
  start(c, r, along, s);
  s->blocked = s->kind == CUTT_PASS_SCALE && sharing_extent(c, s) > 1;
  if (!s->blocked) return false;
  s->lines = lines;
  /* From memory it is copied first, by which more of it is on its way at once. */
  if (c->volume[s->first] * c->type->bytes > r->cache_bytes) s->packed[s->first] = true;
  int order[CUTT_MOST_MODES];
  const int count = list_order(c, s, order);
  s->direct = false;
  s->chunk[along] = longest(c, s, along, lines * LINE / number_bytes(c));
  /* Sums whole, if there is room, and some rows that share; then modes whose neighbours share cache lines; then more rows. */
  for (int i = 0; i < count; ++i)
    if (cutt_is_summed(c, order[i])) grow_to(c, s, order[i], BLOCKS_TERMS);
  if (!sums_are_whole(c, s)) {
    grow_deep(c, r, s, order, count);
    finish_shape(c, r, s);
    return true;
  }
  /* Rows in which the second operand has its neighbours as many as a cache line has of them, since others of it come again with the
   * next tiles, from where it is. */
  const cutt_tensor second = cutt_other_operand(s->first);
  for (int i = 0; i < count; ++i)
    if (cutt_pass_shares(c, s, order[i]) && llabs(c->mode[order[i]].stride[second]) == 1)
      grow_to(c, s, order[i], LINE / number_bytes(c));
  grow_shared(c, s, BLOCKS_ROWS, CUTT_RESULT);
  for (int i = 0; i < count; ++i)
    if (!cutt_is_summed(c, order[i]) && !cutt_pass_shares(c, s, order[i])) grow(c, s, order[i]);
  volumes v;
  measure(c, s, &v);
  if (v.products < BLOCKS_PRODUCTS) grow_shared(c, s, (int64_t)(v.rows * BLOCKS_PRODUCTS / v.products), CUTT_RESULT);
  finish_shape(c, r, s);
  return true;
}

/* Blocks of fewer lines may be the same ones. */
static bool is_same(const cutt_contraction *c, const cutt_pass_shape *one, const cutt_pass_shape *other) {
  return one->along == other->along && one->combined == other->combined && one->blocked == other->blocked &&
         memcmp(one->chunk, other->chunk, (size_t)c->modes * sizeof *one->chunk) == 0;
}

static void insert(const cutt_contraction *c, cutt_pass_shape *list, int *count, int most,
                   const cutt_pass_shape *shape) {
  for (int i = 0; i < *count; ++i)
    if (is_same(c, &list[i], shape)) return;
  if (*count == most && !(shape->seconds < list[most - 1].seconds)) return;
  int at = *count < most ? (*count)++ : most - 1;
  for (; at > 0 && list[at - 1].seconds > shape->seconds; --at) list[at] = list[at - 1];
  list[at] = *shape;
}

static cutt_pass_shape combined(const cutt_contraction *c, const cutt_rates *r, double tiles) {
  return (cutt_pass_shape){.along = -1, .combined = true, .seconds = cutt_combination_seconds(c, r, tiles)};
}

int cutt_pass_list(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *list, int most) {
  enum { MANY_MODES = 12 };
  static const int64_t lines[] = {64, 12, 6, 3};
  int count = 0;
  cutt_pass_shape tried;
  cutt_pass_shape_of(c, r, c->modes ? 0 : -1, &tried);
  insert(c, list, &count, most, &tried);
  for (int along = 0; along < c->modes; ++along) {
    if (c->modes > MANY_MODES && least_step(&c->mode[along]) > 1) continue; /* to no other have elements neighbours */
    if (along) cutt_pass_shape_of(c, r, along, &tried);
    if (along) insert(c, list, &count, most, &tried);
    const bool near = least_step(&c->mode[along]) == 1; /* or else blocks would have nothing next to each other */
    for (int i = 0; i < (int)(sizeof lines / sizeof *lines) && near; ++i) {
      if (!cutt_pass_shape_blocked(c, r, along, lines[i], &tried)) break;
      insert(c, list, &count, most, &tried);
    }
  }
  if (cutt_is_combination(c)) {
    tried = combined(c, r, list[0].seconds);
    insert(c, list, &count, most, &tried);
  }
  return count;
}

bool cutt_pass_shape_combined(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *s) {
  if (!cutt_is_combination(c)) return false;
  cutt_pass_choose(c, r, s);
  if (!s->combined) *s = combined(c, r, s->seconds);
  return true;
}

void cutt_pass_choose(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *best) {
  cutt_pass_list(c, r, best, 1);
}
