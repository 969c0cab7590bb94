/* The shape of a pass (pass.h). */
#include "contract/pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contract/pass_cost.h"

enum {
  LINE = CUTT_PASS_LINE,
  RUN_BYTES = 256,               /* of a mode that is cut: as long as a run of a tensor in memory should be */
  FAR_RUN_BYTES = 1024,          /* where one comes from memory */
  PACKED_BYTES = 24 * 1024,      /* of an operand's part of a tile */
  FAR_PACKED_BYTES = 128 * 1024, /* of one that comes from memory */
  PAGE_BYTES = CUTT_PASS_PAGE,
  BLOCKS_BYTES = 256 * 1024, /* of an operand's part of a tile of blocks */
  BLOCKS_SUMS = 128 * 1024,  /* of D's part of it */
  SINGLE_BYTES = 24 * 1024,  /* of the other operand's */
  BLOCKS_ROWS = 32,          /* that share an operand's numbers, first */
  BLOCKS_PRODUCTS = 131072,  /* of their tile from which on it is large enough */
  BLOCKS_TERMS = 256,        /* of a row */
  DEEP_TERMS = 192,          /* of a row, where sums are longer than a tile's */
  DEEP_SINGLE = 192 * 1024,  /* of the other operand's part of such a tile */
  DEEP_LINES = 24,        /* cache lines of the first operand by which a number of the other one is multiplied there */
  SUMS_BYTES = 40 * 1024, /* of D's part of a tile */
  FAR_BYTES = 16 * 1024,  /* of a row where nothing is packed */
  DIRECT_BYTES = 128 * 1024, /* of a row that goes to D straight or in pieces, where nothing is summed */
  SUMMED_BYTES = 256 * 1024, /* of a term of a dot product */
  NEAR = 64,                 /* numbers of a row, first, where something is */
  NEAR_BYTES = 4096,         /* of a row, at most, where something is */
  TERMS_BYTES = 32 * 1024,   /* of the terms of a row that is more than one strip long */
  FAR_TIMES = 3,             /* times the bytes that are written past the caches: what is read in order */
  FARTHEST_TIMES = 6,        /* the same: what no cache keeps, and dot products read in order */
  PRODUCTS = 16384,          /* of a tile from which on it is large enough */
  LARGER = 8,                /* times D's bytes: an operand whose order is that of tiles */
  TILES = 128,               /* that are enough for many threads */
  SHARED_ROWS =
      4, /* of dot products with the same factors, each of which is loaded once for as many (kernels/dots.h) */
  FEW_PRODUCTS = 1024 /* of one that would leave the order of memory */
};

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

/* Bytes of an operand's part of a tile that is not in blocks. From memory it comes the better the longer its runs are, and then L2 is near. */
static double packed_most(const cutt_pass_shape *s, cutt_tensor t) {
  return s->far[t] ? FAR_PACKED_BYTES : PACKED_BYTES;
}

/* Does all that a tile needs fit? */
static bool fits(const cutt_contraction *c, const cutt_pass_shape *s) {
  cutt_pass_volumes v;
  cutt_pass_measure(c, s, &v);
  const double row = cutt_pass_row_bytes(c, s);
  for (int t = 0; t < CUTT_RESULT; ++t) {
    const double most = !s->blocked     ? packed_most(s, (cutt_tensor)t)
                        : !s->single[t] ? BLOCKS_BYTES
                        : s->deep       ? DEEP_SINGLE
                                        : SINGLE_BYTES;
    if (s->packed[t] && v.positions[t] * (s->single[t] ? (double)cutt_pass_number_bytes(c) : row) > most) return false;
  }
  const double sums = v.rows * (s->summed ? (double)cutt_pass_number_bytes(c) : row);
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
static double enough_products(const cutt_contraction *c, const cutt_pass_shape *s, const cutt_pass_volumes *v,
                              int mode) {
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

/* Do dot products in place have the same factors along a mode? */
static bool shares_factors(const cutt_contraction *c, const cutt_pass_shape *s, int mode) {
  const cutt_contract_mode *m = &c->mode[mode];
  return s->summed && in_place(s) && s->kind == CUTT_PASS_MULTIPLY && (!m->stride[CUTT_LEFT] || !m->stride[CUTT_RIGHT]);
}

/* How much of a mode a tile has. Of modes whose neighbours share cache lines as much as there is room for, of others so much
 * that the tile is worth its overhead. */
static void grow(const cutt_contraction *c, cutt_pass_shape *s, int mode) {
  cutt_pass_volumes v;
  cutt_pass_measure(c, s, &v);
  const int64_t extent = c->mode[mode].extent, step = growing_step(c, s, mode) * c->type->bytes;
  int64_t most = extent;
  const double products = enough_products(c, s, &v, mode);
  if (step >= RUN_BYTES) most = v.products < products ? (int64_t)(products / v.products) : 1;
  if (shares_factors(c, s, mode)) most = larger(most, (int64_t)SHARED_ROWS);
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
  const int64_t step[CUTT_TENSORS] = {cutt_pass_step_along(c, s->along, CUTT_LEFT),
                                      cutt_pass_step_along(c, s->along, CUTT_RIGHT),
                                      s->along >= 0 && s->summed ? 1 : cutt_pass_step_along(c, s->along, CUTT_RESULT)};
  const bool one = c->right_is_one;
  /* Of dot products the one that differs between rows, if the other one does not: that is larger. */
  const bool larger_right = s->along >= 0 && s->summed && step[CUTT_LEFT] == 1 && step[CUTT_RIGHT] == 1 &&
                            c->volume[CUTT_RIGHT] > c->volume[CUTT_LEFT];
  const bool right = step[CUTT_LEFT] == 0 || (step[CUTT_LEFT] != 1 && step[CUTT_RIGHT] == 1) || larger_right;
  s->first = !one && right && step[CUTT_RIGHT] ? CUTT_RIGHT : CUTT_LEFT;
  const cutt_tensor second = cutt_other_operand(s->first);
  s->kind = one ? CUTT_PASS_ADD : step[second] ? CUTT_PASS_MULTIPLY : CUTT_PASS_SCALE;
  s->single[s->first] = false;
  s->single[second] = s->kind == CUTT_PASS_SCALE;
  s->packed[s->first] = cutt_pass_is_half(c) || step[s->first] != 1;
  s->packed[second] = s->kind != CUTT_PASS_ADD && (cutt_pass_is_half(c) || (step[second] != 0 && step[second] != 1));
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

static bool has_sums(const cutt_contraction *c) {
  for (int i = 0; i < c->modes; ++i)
    if (cutt_is_summed(c, i)) return true;
  return false;
}

/* Are rows of sums those of D, with nothing else to be done to them? */
static bool writes_plainly(const cutt_contraction *c, const cutt_pass_shape *s) {
  return !s->packed[CUTT_RESULT] && !cutt_pass_is_half(c) && c->beta_is_zero && c->alpha_is_one;
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
  return cutt_pass_is_from_memory(c, r, CUTT_RESULT) && cutt_exceeds_caches(c, r);
}

/* Is D to be written past the caches, if its rows are long enough? */
static bool may_stream(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s) {
  return !s->summed && !s->packed[CUTT_RESULT] && !cutt_pass_is_half(c) && c->beta_is_zero && is_large(c, r);
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
  s->streams = may_stream(c, r, s) && (s->blocked ? cutt_pass_row_run(c, s, CUTT_RESULT)
                                                  : (double)(cutt_pass_chunk_along(s) * c->type->bytes)) >= RUN_BYTES;
  s->direct = whole && !s->streams && writes_plainly(c, s);
  s->terms_apart = s->summed && !s->packed[s->first] && r->stream_bytes > 0 &&
                   touched_bytes(c, s->first) >= FARTHEST_TIMES * (double)r->stream_bytes;
  s->in_order = !s->summed && !s->packed[s->first] && s->far[s->first];
  const cutt_tensor second = cutt_other_operand(s->first);
  s->keeps_second = s->blocked && !s->deep && cutt_pass_second_stays(c, r, s);
  s->asks = s->blocked && !s->packed[second] && cutt_pass_is_from_memory(c, r, second);
  s->seconds = cutt_pass_seconds(c, r, s);
}

/* The larger operand, if it may come from memory and D is small beside it, is gone through in its order there. Not so dot products of two large
 * ones in place, whose orders may be different. */
static void set_order(const cutt_contraction *c, const cutt_rates *r, cutt_pass_shape *s) {
  const cutt_tensor t = cutt_pass_larger_operand(c);
  const double bytes = touched_bytes(c, t), others = touched_bytes(c, cutt_other_operand(t));
  const double least = (double)r->stream_bytes;
  if (r->stream_bytes == 0) return;
  for (int i = 0; i < CUTT_RESULT; ++i) s->far[i] = touched_bytes(c, (cutt_tensor)i) >= FAR_TIMES * least;
  if (bytes < least || bytes < LARGER * touched_bytes(c, CUTT_RESULT) || cutt_pass_is_from_memory(c, r, CUTT_RESULT))
    return;
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
  s->chunk[s->along] = longest(c, s, s->along, most / cutt_pass_number_bytes(c));
}

void cutt_pass_shape_of(const cutt_contraction *c, const cutt_rates *r, int along, cutt_pass_shape *s) {
  start(c, r, along, s);
  set_order(c, r, s);
  int order[CUTT_MOST_MODES];
  const int count = list_order(c, s, order);
  const bool packs = s->packed[CUTT_LEFT] || s->packed[CUTT_RIGHT] || s->packed[CUTT_RESULT];
  const int64_t far = s->summed ? SUMMED_BYTES : s->direct || s->pieces ? DIRECT_BYTES : FAR_BYTES;
  if (along >= 0) s->chunk[along] = longest(c, s, along, packs ? NEAR : far / cutt_pass_number_bytes(c));
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
  const int64_t line = LINE / cutt_pass_number_bytes(c);
  s->deep = true;
  if (c->volume[second] * c->type->bytes > r->cache_bytes) s->packed[second] = true;
  for (int i = 0; i < count; ++i) s->chunk[order[i]] = 1;
  s->chunk[s->along] = longest(c, s, s->along, smaller(s->lines, (int64_t)DEEP_LINES) * line);
  for (int i = 0; i < count; ++i)
    if (cutt_is_summed(c, order[i]) && least_step(&c->mode[order[i]]) == 1) grow_to(c, s, order[i], line);
  for (int i = 0; i < count; ++i)
    if (cutt_is_summed(c, order[i])) grow_to(c, s, order[i], DEEP_TERMS);
  double lines = (double)cutt_pass_chunk_along(s) / (double)line;
  for (int i = 0; i < count && lines < DEEP_LINES; ++i) {
    if (cutt_is_summed(c, order[i]) || cutt_pass_shares(c, s, order[i])) continue;
    grow_to(c, s, order[i], (int64_t)(DEEP_LINES / lines));
    lines *= (double)s->chunk[order[i]];
  }
  grow_shared(c, s, CUTT_PASS_ROWS, second);
}

static double sharing_extent(const cutt_contraction *c, const cutt_pass_shape *s) {
  double extent = 1;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_pass_shares(c, s, i)) extent *= (double)c->mode[i].extent;
  return extent;
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
  s->chunk[along] = longest(c, s, along, lines * LINE / cutt_pass_number_bytes(c));
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
      grow_to(c, s, order[i], LINE / cutt_pass_number_bytes(c));
  grow_shared(c, s, BLOCKS_ROWS, CUTT_RESULT);
  for (int i = 0; i < count; ++i)
    if (!cutt_is_summed(c, order[i]) && !cutt_pass_shares(c, s, order[i])) grow(c, s, order[i]);
  cutt_pass_volumes v;
  cutt_pass_measure(c, s, &v);
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
