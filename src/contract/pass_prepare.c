/* Tables of a pass: where the rows and terms of a tile are, and its runs; and the loops over tiles (pass.h). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/pass.h"
#include "contract/rates.h"
#include "plan/services.h"

/* Modes of a tile, the innermost first, with their extents in it, and a step each in some places. */
typedef struct nest {
  int modes;
  int mode[CUTT_MOST_MODES];
  int64_t extent[CUTT_MOST_MODES];
} nest;

static int64_t nest_count(const nest *n) {
  int64_t count = 1;
  for (int i = 0; i < n->modes; ++i) count *= n->extent[i];
  return count;
}

/* Sums of index times step, for all indices of a nest. */
static void walk(const nest *n, const int64_t *step, int64_t *place) {
  int64_t count = 1;
  place[0] = 0;
  for (int i = 0; i < n->modes; ++i) {
    for (int64_t j = count; j < count * n->extent[i]; ++j) place[j] = place[j - count] + step[n->mode[i]];
    count *= n->extent[i];
  }
}

typedef struct maker {
  const cutt_contraction *c;
  cutt_pass *pass;
  unsigned bit[CUTT_MOST_MODES]; /* of each mode whose last chunk is shorter */
} maker;

static int64_t extent_in(const maker *m, unsigned kind, int mode) {
  const int64_t chunk = m->pass->shape.chunk[mode];
  return kind & m->bit[mode] ? m->c->mode[mode].extent % chunk : chunk;
}

/* By their steps in a tensor; where rows are in blocks first those along which they share the first operand's numbers. */
static bool comes_before(const maker *m, int mode, int other, cutt_tensor by) {
  const cutt_contraction *c = m->c;
  const cutt_pass_shape *s = &m->pass->shape;
  const bool shares = s->blocked && cutt_pass_shares(c, s, mode), others = s->blocked && cutt_pass_shares(c, s, other);
  return shares != others ? shares : llabs(c->mode[mode].stride[by]) < llabs(c->mode[other].stride[by]);
}

/* Free modes, or summed ones, of a tile, in that order. */
static void list_modes(const maker *m, unsigned kind, bool summed, cutt_tensor by, nest *n) {
  const cutt_contraction *c = m->c;
  n->modes = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (i == m->pass->shape.along || m->pass->shape.chunk[i] == 1 ||
        (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K) != summed)
      continue;
    int at = n->modes++;
    for (; at > 0 && comes_before(m, i, n->mode[at - 1], by); --at) n->mode[at] = n->mode[at - 1];
    n->mode[at] = i;
  }
  for (int i = 0; i < n->modes; ++i) n->extent[i] = extent_in(m, kind, n->mode[i]);
}

/* Steps of a tensor's modes: in memory, and where it is packed in the scratch, in the order in which they are in memory. */
static void list_steps(const maker *m, cutt_tensor t, int64_t *memory, int64_t *scratch) {
  const cutt_contraction *c = m->c;
  int mode[CUTT_MOST_MODES], contiguous = 0;
  int64_t at = m->pass->pitch[t];
  for (int i = 0; i < c->modes; ++i) {
    memory[i] = c->mode[i].stride[t] * m->pass->bytes;
    scratch[i] = 0;
  }
  const int count = cutt_pass_run_modes(c, &m->pass->shape, t, mode, &contiguous);
  for (int i = 0; i < count; ++i) {
    scratch[mode[i]] = at;
    at *= m->pass->shape.chunk[mode[i]];
  }
}

/* The modes of a tensor's tile: those of its runs, and those that its runs are repeated along. */
static void list_runs(const maker *m, unsigned kind, cutt_tensor t, int64_t *length, nest *outer) {
  int mode[CUTT_MOST_MODES], contiguous = 0;
  const int count = cutt_pass_run_modes(m->c, &m->pass->shape, t, mode, &contiguous);
  *length = 1;
  outer->modes = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t extent = extent_in(m, kind, mode[i]);
    if (i < contiguous) {
      *length *= extent;
      continue;
    }
    outer->mode[outer->modes] = mode[i];
    outer->extent[outer->modes++] = extent;
  }
}

/* Tiles that have an order in an operand go by that, and dot products by the operand of which they read most. */
static cutt_tensor rows_by(const cutt_contraction *c, const cutt_pass_shape *s) {
  if (s->blocked) return cutt_other_operand(s->first);
  if (s->by != CUTT_TENSORS) return s->by;
  return s->summed ? cutt_pass_larger_operand(c) : CUTT_RESULT;
}

/* On the heap, since it is large for a stack. */
typedef struct lists {
  nest rows, terms, outer[CUTT_TENSORS];
  int64_t memory[CUTT_TENSORS][CUTT_MOST_MODES], scratch[CUTT_TENSORS][CUTT_MOST_MODES];
} lists;

/* Of rows that are listed in the order of the first operand: which terms are inside of rows there, and which rows inside of the next term. */
static void list_inside(const maker *m, const lists *l, cutt_pass_tiles *tiles) {
  const cutt_pass_shape *s = &m->pass->shape;
  const cutt_contract_mode *mode = m->c->mode;
  int64_t least = INT64_MAX;
  int term = 0;
  tiles->inside = tiles->inner = 1;
  for (int i = 0; i < l->rows.modes; ++i) {
    const int64_t step = llabs(mode[l->rows.mode[i]].stride[s->first]);
    if (step) least = smaller(least, step);
  }
  for (; term < l->terms.modes && llabs(mode[l->terms.mode[term]].stride[s->first]) < least; ++term)
    tiles->inner *= l->terms.extent[term];
  if (term == l->terms.modes || rows_by(m->c, s) != s->first) return;
  const int64_t next = llabs(mode[l->terms.mode[term]].stride[s->first]);
  for (int i = 0; i < l->rows.modes && llabs(mode[l->rows.mode[i]].stride[s->first]) < next; ++i)
    tiles->inside *= l->rows.extent[i];
}

static cuttResult make_tiles(const maker *m, unsigned kind, lists *l) {
  const cutt_pass_shape *s = &m->pass->shape;
  cutt_pass_tiles *tiles = &m->pass->tiles[kind];
  list_modes(m, kind, false, rows_by(m->c, s), &l->rows);
  list_modes(m, kind, true, s->first, &l->terms);
  tiles->rows = nest_count(&l->rows);
  tiles->terms = nest_count(&l->terms);
  int64_t extent[CUTT_MOST_MODES];
  for (int i = 0; i < m->c->modes; ++i) extent[i] = extent_in(m, kind, i);
  tiles->each = cutt_pass_terms_each(m->c, s, extent);
  list_inside(m, l, tiles);
  tiles->group = 1;
  for (int i = 0; i < l->rows.modes; ++i)
    if (cutt_pass_shares(m->c, s, l->rows.mode[i])) tiles->group *= l->rows.extent[i];
  int64_t size = 4 * tiles->rows + 2 * tiles->terms;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cutt_pass_runs *runs = &tiles->runs[t];
    list_steps(m, (cutt_tensor)t, l->memory[t], l->scratch[t]);
    list_runs(m, kind, (cutt_tensor)t, &runs->length, &l->outer[t]);
    runs->count = nest_count(&l->outer[t]);
    size += 2 * runs->count;
  }
  int64_t *at = tiles->memory = malloc((size_t)size * sizeof *at);
  if (!at) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %lld places of a tile", (long long)size);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const int64_t *step = t != CUTT_RESULT && s->packed[t] ? l->scratch[t] : l->memory[t];
    walk(&l->rows, step, tiles->row[t] = at);
    at += tiles->rows;
    if (t != CUTT_RESULT) {
      walk(&l->terms, step, tiles->term[t] = at);
      at += tiles->terms;
    }
    cutt_pass_runs *runs = &tiles->runs[t];
    walk(&l->outer[t], l->memory[t], runs->from = at);
    at += runs->count;
    walk(&l->outer[t], l->scratch[t], runs->to = at);
    at += runs->count;
  }
  tiles->sum_row = at;
  const bool listed = cutt_pass_lists_rows(s);
  if (listed) walk(&l->rows, l->scratch[CUTT_RESULT], at);
  for (int64_t i = 0; i < tiles->rows && !listed; ++i) at[i] = i * m->pass->pitch[CUTT_RESULT];
  return CUTT_SUCCESS;
}

static bool goes_outside(const cutt_pass *p, const cutt_pass_loop *loop, const cutt_pass_loop *other, cutt_tensor by) {
  const cutt_tensor stays = p->shape.keeps_second ? cutt_other_operand(p->shape.first) : p->shape.first;
  if (p->shape.blocked && by == CUTT_RESULT && !loop->step[stays] != !other->step[stays]) return loop->step[stays] != 0;
  return llabs(loop->step[by]) > llabs(other->step[by]);
}

/* Loops over the modes that are cut: those of D, the longest step outermost, and then those of the sum, likewise. Of blocks those
 * are the innermost along which one operand's part of a tile stays the same. */
static void list_loops(maker *m) {
  const cutt_contraction *c = m->c;
  cutt_pass *p = m->pass;
  unsigned bit = 1;
  for (int i = 0; i < c->modes; ++i) {
    m->bit[i] = 0;
    if (i == p->shape.along || c->mode[i].extent % p->shape.chunk[i] == 0) continue;
    m->bit[i] = bit;
    bit <<= 1;
  }
  p->items = p->additions = 1;
  for (int summed = 0; summed < 2; ++summed) {
    const int begin = summed ? p->loops : 0;
    const cutt_tensor unordered = summed ? CUTT_LEFT : CUTT_RESULT,
                      by = p->shape.by == CUTT_TENSORS ? unordered : p->shape.by;
    int end = begin;
    for (int i = 0; i < c->modes; ++i) {
      const int64_t chunk = p->shape.chunk[i], extent = c->mode[i].extent;
      if ((cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K) != (summed == 1) || chunk == extent) continue;
      cutt_pass_loop loop = {.chunks = (extent + chunk - 1) / chunk, .ragged = m->bit[i]};
      if (i == p->shape.along) loop.last = extent - (loop.chunks - 1) * chunk;
      for (int t = 0; t < CUTT_TENSORS; ++t) loop.step[t] = c->mode[i].stride[t] * chunk * p->bytes;
      int at = end++;
      for (; at > begin && goes_outside(p, &loop, &p->loop[at - 1], by); --at) p->loop[at] = p->loop[at - 1];
      p->loop[at] = loop;
      *(summed ? &p->additions : &p->items) *= loop.chunks;
    }
    *(summed ? &p->sums : &p->loops) = end - begin;
  }
}

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Rows are a cache line further apart than they are long, since lines that are a power of two apart share few places in a
 * cache. */
static void lay_out(const cutt_contraction *c, cutt_pass *p) {
  const cutt_pass_shape *s = &p->shape;
  const int64_t row = aligned(p->n * p->number) + 64;
  int64_t at = 16 * 1024; /* what is transposed for D */
  int64_t rows = 1;
  for (int i = 0; i < c->modes; ++i)
    if (i != s->along && cutt_mode_role(&c->mode[i]) != CUTT_ROLE_K) rows *= s->chunk[i];
  const bool dense = s->blocked && s->chunk[s->along] == c->mode[s->along].extent;
  p->pitch[CUTT_RESULT] = s->summed ? p->number : dense ? p->n * p->number : row;
  p->sums_bytes = aligned(rows * p->pitch[CUTT_RESULT]);
  p->place[CUTT_RESULT] = at;
  p->piece_rows = larger(CUTT_PASS_PIECE / (p->n * p->number), (int64_t)1);
  if (s->pieces)
    p->sums_bytes = p->piece_rows > 1 ? aligned(p->piece_rows * p->pitch[CUTT_RESULT]) : (int64_t)CUTT_PASS_PIECE;
  if (!s->direct) at += p->sums_bytes;
  if (s->blocked) at = 0; /* of a block of scratch of their own */
  for (int t = 0; t < CUTT_RESULT; ++t) {
    p->pitch[t] = s->single[t] ? p->number : row;
    p->place[t] = at;
    int64_t positions = 1;
    for (int i = 0; i < c->modes; ++i)
      if (i != s->along && c->mode[i].stride[t]) positions *= s->chunk[i];
    if (s->packed[t]) at += aligned(positions * p->pitch[t]);
  }
}

/* Short sums are not cut, and of a cut one there are so many parts that threads have enough. Neither depends on threads. */
static void cut_sums(const cutt_contraction *c, cutt_pass *p) {
  enum { ENOUGH = 64, LONG = 1 << 18 };
  double products = 1;
  for (int i = 0; i < c->modes; ++i) products *= (double)c->mode[i].extent;
  p->parts = 1;
  if (p->items >= ENOUGH / 2 || p->additions == 1 || products < LONG) return;
  const int64_t room = CUTT_SCRATCH_BYTES / (p->items * p->sums_bytes);
  p->parts = smaller(smaller(p->additions, ENOUGH / p->items), room);
  if (p->parts < 1) p->parts = 1;
}

static cuttResult prepare_combined(const cutt_contraction *c, const cutt_pass_shape *shape, const cutt_backend *backend,
                                   int threads, cutt_pass **pass) {
  cutt_pass *p = *pass = calloc(1, sizeof *p);
  if (!p) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *p);
  p->shape = *shape;
  const cuttResult result = cutt_combination_prepare(c, backend, threads, &p->combination);
  if (!result) p->items = p->combination->blocks;
  return result;
}

cuttResult cutt_pass_prepare(const cutt_contraction *c, const cutt_pass_shape *shape, const cutt_backend *backend,
                             int threads, cutt_pass **pass) {
  if (shape->combined) return prepare_combined(c, shape, backend, threads, pass);
  const char *isa = backend->runtime->isa();
  cutt_pass *p = *pass = calloc(1, sizeof *p);
  maker m = {.c = c, .pass = p};
  lists *l = malloc(sizeof *l);
  cuttResult result = CUTT_SUCCESS;
  if (!p || !l) {
    free(l);
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *p);
  }
  p->shape = *shape;
  p->kernels = cutt_pass_kernels_named(isa);
  if (!p->kernels) {
    free(l);
    return cutt_error(CUTT_INTERNAL_ERROR, "there are no kernels for the instruction set %s", isa);
  }
  p->type = &p->kernels->type[c->type->type];
  p->add_up = (shape->summed ? p->type->across : p->type->along)[c->reduce][shape->kind];
  p->join = p->type->along[c->reduce][CUTT_PASS_ADD];
  p->bytes = c->type->bytes;
  p->number = p->type->bytes;
  p->asks_in_order = cutt_asks_in_order(backend);
  p->threads = threads;
  p->n = shape->along < 0 ? 1 : shape->chunk[shape->along];
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    p->step[t] = shape->along < 0 ? p->bytes : c->mode[shape->along].stride[t] * p->bytes;
    if (t != CUTT_RESULT) p->conjugate[t] = c->conjugate[t == 0 ? (int)shape->first : 1 - (int)shape->first];
  }
  memcpy(p->scalars.alpha, c->alpha, sizeof p->scalars.alpha);
  memcpy(p->scalars.beta, c->beta, sizeof p->scalars.beta);
  p->scalars.alpha_is_one = c->alpha_is_one;
  p->scalars.reads = !c->beta_is_zero;
  lay_out(c, p);
  list_loops(&m);
  cut_sums(c, p);
  unsigned all = 0;
  for (int i = 0; i < c->modes; ++i) all |= m.bit[i];
  for (unsigned kind = 0; kind < CUTT_PASS_TILES && !result; ++kind)
    if (!(kind & ~all)) result = make_tiles(&m, kind, l);
  free(l);
  return result;
}

void cutt_pass_release(cutt_pass *pass) {
  if (!pass) return;
  cutt_combination_release(pass->combination);
  for (int kind = 0; kind < CUTT_PASS_TILES; ++kind) free(pass->tiles[kind].memory);
  free(pass);
}
