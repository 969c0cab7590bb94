/* Execution of an elementwise operation (elementwise.h). */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/elementwise.h"
#include "plan/services.h"

enum {
  WORTH_A_THREAD = 128 * 1024, /* bytes of D */
  AHEAD = 3,                   /* rows */
  FAR_BYTES = 2048,            /* of a row, at most, before which processors do not see what comes next */
  SOON_BYTES = 1024,
  ROWS = 5 /* that are computed with: of each operand, of the first two together, of D */
};

typedef struct cuttElementwiseStruct plan_t;

typedef struct execution {
  const plan_t *plan;
  char *tensor[CUTT_MOST_TENSORS];
  bool streams;
  atomic_llong next;
  atomic_int failed;
} execution;

/* A thread's scratch: of each packed tensor, and rows that are computed with. */
typedef struct scratch {
  char *packed[CUTT_MOST_TENSORS], *rows;
} scratch;

/* Where a block, or a row of it, is in each tensor. */
typedef struct place {
  char *at[CUTT_MOST_TENSORS];
} place;

static char *row_of(const scratch *s, int number) { return s->rows + number * CUTT_ELEMENTWISE_ROW; }

static bool converts(const plan_t *p) { return p->numbers->bytes != p->type->bytes; }

/* The numbers of an operand's row, n of them from one on. What is the same for all is written by the first call, `all` times. */
static const char *numbers_of(const plan_t *p, const scratch *s, int operand, const char *row, int64_t from, int64_t n,
                              int64_t all) {
  static const unsigned char zero[16];
  char *own = row_of(s, operand);
  const bool single = p->use[operand] == CUTT_USE_SINGLE || p->use[operand] == CUTT_USE_ZERO;
  if (p->use[operand] == CUTT_USE_ZERO) row = (const char *)zero;
  if (single && from > 0) return own;
  if (!single && !converts(p)) return row + from * p->type->bytes;
  p->numbers->pack(own, 0, single ? row : row + from * p->type->bytes, single ? 0 : p->type->bytes, single ? all : n,
                   1);
  return own;
}

static cutt_pass_pair pair_of(const plan_t *p, int first, int second) {
  cutt_pass_pair pair = {.n = 0};
  for (int i = 0; i < 2; ++i) {
    const int operand = i ? second : first;
    if (operand < 0) continue; /* what the others have made */
    memcpy(pair.scale[i], p->scale[operand], sizeof pair.scale[i]);
    pair.scaled[i] = p->scaled[operand];
    pair.conjugate[i] = p->conjugate[operand];
  }
  return pair;
}

/* One row, part by part. */
static void do_row(const execution *e, const scratch *s, const place *row, int64_t n) {
  static const cutt_pass_scalars plain = {.alpha_is_one = true};
  const plan_t *p = e->plan;
  const int64_t most = CUTT_ELEMENTWISE_ROW / p->numbers->bytes, bytes = p->type->bytes;
  char *both = row_of(s, 3), *last = row_of(s, 4);
  const bool three = p->operands == 3;
  cutt_pass_pair first = pair_of(p, 0, 1), second = pair_of(p, -1, three ? 2 : -1);
  second.operand[0] = both;
  for (int64_t from = 0, part; from < n; from += part) {
    /* Parts begin with a cache line of D, so that those which are written past the caches are whole. */
    const int64_t over = e->streams ? (int64_t)((uintptr_t)(row->at[CUTT_RESULT] + from * bytes) % 64) / bytes : 0;
    part = smaller(most - over, n - from);
    const char *x[CUTT_ELEMENTWISE_OPERANDS] = {NULL, NULL, NULL};
    for (int o = 0; o < p->operands; ++o)
      x[o] = numbers_of(p, s, o, row->at[cutt_elementwise_tensor(o)], from, part, smaller(most, n));
    char *to = row->at[CUTT_RESULT] + from * bytes, *out = e->streams || converts(p) ? last : to;
    for (int o = 0; o < p->operands; ++o)
      if (p->use[o] == CUTT_USE_IN_PLACE)
        for (int64_t i = 0; i < SOON_BYTES; i += 64) __builtin_prefetch(x[o] + part * bytes + i);
    first.operand[0] = x[0], first.operand[1] = x[1];
    first.n = second.n = part;
    p->numbers->combine[p->op[0]](three ? both : out, &first);
    second.operand[1] = x[2];
    if (three) p->numbers->combine[p->op[1]](out, &second);
    if (converts(p))
      p->numbers->finish(to, out, part, &plain);
    else if (e->streams)
      p->kernels->stream(to, out, part * bytes);
  }
}

/* Rows are short and far from each other: those that come soon are asked for. So are the ends of D's, of which the cache lines are
 * written in part, and so read before. */
static void expect(const execution *e, const cutt_elementwise_block *block, const place *row, int64_t ahead) {
  const plan_t *p = e->plan;
  const int64_t bytes = block->row * p->type->bytes;
  const cutt_elementwise_mode *mode = &p->mode[block->row_modes];
  for (int o = 0; o < p->operands; ++o) {
    const cutt_tensor t = cutt_elementwise_tensor(o);
    if (p->use[o] != CUTT_USE_IN_PLACE) continue;
    const char *at = row->at[t] + ahead * mode->stride[t] * p->type->bytes;
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(at + i);
  }
  if (!e->streams) return;
  const char *to = row->at[CUTT_RESULT] + ahead * mode->stride[CUTT_RESULT] * p->type->bytes;
  __builtin_prefetch(to, 1);
  __builtin_prefetch(to + bytes - 1, 1);
}

/* All rows of a block, by an odometer over the modes that a row does not have. */
static void do_rows(const execution *e, const scratch *s, const cutt_elementwise_block *block, place row) {
  const plan_t *p = e->plan;
  int64_t index[CUTT_MOST_LABELS] = {0}, step[CUTT_MOST_TENSORS];
  const bool far = block->row_modes < p->modes && block->row * p->type->bytes <= FAR_BYTES;
  for (;;) {
    if (far && index[block->row_modes] + AHEAD < block->extent[block->row_modes]) expect(e, block, &row, AHEAD);
    do_row(e, s, &row, block->row);
    int i = block->row_modes;
    for (; i < p->modes; ++i) {
      for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
        const bool packed = block->permute[t] != NULL;
        step[t] = (packed ? block->packed[i] : p->mode[i].stride[t]) * p->type->bytes;
        if (row.at[t]) row.at[t] += index[i] + 1 < block->extent[i] ? step[t] : -index[i] * step[t];
      }
      if (++index[i] < block->extent[i]) break;
      index[i] = 0;
    }
    if (i >= p->modes) return;
  }
}

static cuttResult do_block(const execution *e, const scratch *s, int64_t number) {
  const plan_t *p = e->plan;
  place at;
  unsigned kind = 0;
  memcpy(at.at, e->tensor, sizeof at.at);
  for (int i = 0; i < p->modes; ++i) {
    const cutt_elementwise_mode *mode = &p->mode[i];
    const int64_t index = number % mode->chunks;
    number /= mode->chunks;
    if (index + 1 == mode->chunks) kind |= mode->ragged;
    for (int t = 0; t < CUTT_MOST_TENSORS; ++t)
      if (at.at[t]) at.at[t] += index * mode->chunk * mode->stride[t] * p->type->bytes;
  }
  const cutt_elementwise_block *block = p->kind[kind];
  char *const result_at = at.at[CUTT_RESULT];
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
    if (!block->permute[t]) continue;
    char *packed = s->packed[t];
    if (t != CUTT_RESULT) {
      const cuttResult result = cuttPlanExecute(block->permute[t], at.at[t], packed, NULL);
      if (result) return result;
    }
    at.at[t] = packed;
  }
  do_rows(e, s, block, at);
  if (!block->permute[CUTT_RESULT]) return CUTT_SUCCESS;
  return cuttPlanExecute(block->permute[CUTT_RESULT], at.at[CUTT_RESULT], result_at, NULL);
}

static bool take(const plan_t *p, scratch *s) {
  *s = (scratch){.rows = cutt_scratch_take()};
  bool taken = s->rows != NULL;
  for (int t = 0; t < CUTT_MOST_TENSORS && taken; ++t) {
    if (!p->kind[0]->permute[t]) continue;
    s->packed[t] = cutt_scratch_take();
    taken = s->packed[t] != NULL;
  }
  return taken;
}

static void give_back(const scratch *s) {
  for (int t = CUTT_MOST_TENSORS; t-- > 0;)
    if (s->packed[t]) cutt_scratch_give(s->packed[t]);
  if (s->rows) cutt_scratch_give(s->rows);
}

static void work(void *what, int me, int team) {
  execution *e = what;
  scratch s;
  (void)me, (void)team;
  if (!take(e->plan, &s)) atomic_store(&e->failed, CUTT_INTERNAL_ERROR);
  for (int64_t i; !atomic_load(&e->failed) && (i = atomic_fetch_add(&e->next, 1)) < e->plan->blocks;) {
    const cuttResult result = do_block(e, &s, i);
    if (result) atomic_store(&e->failed, (int)result);
  }
  if (e->streams) e->plan->kernels->fence();
  give_back(&s);
}

cuttResult cutt_elementwise_run(const struct cuttElementwiseStruct *p, void *const tensor[CUTT_MOST_TENSORS]) {
  execution e = {.plan = p, .streams = p->streams};
  _Static_assert(ROWS * CUTT_ELEMENTWISE_ROW <= CUTT_SCRATCH_BYTES, "the scratch is too small");
  int64_t bytes = p->type->bytes;
  for (int i = 0; i < p->modes; ++i) bytes *= p->mode[i].extent;
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
    e.tensor[t] = tensor[t] ? (char *)tensor[t] + p->origin[t] : NULL;
    if (t != CUTT_RESULT && tensor[t] == tensor[CUTT_RESULT]) e.streams = false;
  }
  const int64_t threads = smaller(smaller((int64_t)p->threads, p->blocks), 1 + bytes / WORTH_A_THREAD);
  cutt_team_run((int)threads, work, &e);
  const int failed = atomic_load(&e.failed);
  return failed
             ? cutt_error((cuttResult)failed, "out of memory: %d bytes of scratch for each thread", CUTT_SCRATCH_BYTES)
             : CUTT_SUCCESS;
}
