/* Execution of an elementwise operation (elementwise.h). */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/elementwise.h"
#include "plan/services.h"

enum {
  WORTH_A_THREAD = 128 * 1024, /* bytes of D */
  ROWS = 5                     /* that are computed with: of each operand, of the first two together, of D */
};

typedef struct cuttElementwiseStruct plan_t;

typedef struct execution {
  const plan_t *plan;
  char *tensor[CUTT_MOST_TENSORS];
  bool streams;
  atomic_llong next;
  atomic_int failed;
} execution;

/* Where a block, or a row of it, is in each tensor. */
typedef struct place {
  char *at[CUTT_MOST_TENSORS];
} place;

static char *row_of(const plan_t *p, char *scratch, int number) {
  return scratch + p->rows_place + number * CUTT_ELEMENTWISE_ROW;
}

static bool converts(const plan_t *p) { return p->numbers->bytes != p->type->bytes; }

/* The numbers of an operand's row, n of them from one on. What is the same for all has been written by the first call. */
static const char *numbers_of(const plan_t *p, char *scratch, int operand, const char *row, int64_t from, int64_t n) {
  static const unsigned char zero[16];
  char *own = row_of(p, scratch, operand);
  const bool single = p->use[operand] == CUTT_USE_SINGLE || p->use[operand] == CUTT_USE_ZERO;
  if (p->use[operand] == CUTT_USE_ZERO) row = (const char *)zero;
  if (single && from > 0) return own;
  if (!single && !converts(p)) return row + from * p->type->bytes;
  p->numbers->pack(own, 0, single ? row : row + from * p->type->bytes, single ? 0 : p->type->bytes, n, 1);
  return own;
}

static cutt_pass_pair pair_of(const plan_t *p, int first, const char *x, int second, const char *y, int64_t n) {
  cutt_pass_pair pair = {.operand = {x, y}, .n = n};
  memcpy(pair.scale[0], p->scale[first], sizeof pair.scale[0]);
  memcpy(pair.scale[1], p->scale[second], sizeof pair.scale[1]);
  for (int i = 0; i < 2; ++i) {
    const int operand = i ? second : first;
    pair.scaled[i] = p->scaled[operand];
    pair.conjugate[i] = p->conjugate[operand];
  }
  return pair;
}

/* One row, part by part. */
static void do_row(const execution *e, char *scratch, const place *row, int64_t n) {
  static const cutt_pass_scalars plain = {.alpha_is_one = true};
  const plan_t *p = e->plan;
  const int64_t most = CUTT_ELEMENTWISE_ROW / p->numbers->bytes, bytes = p->type->bytes;
  char *both = row_of(p, scratch, 3), *last = row_of(p, scratch, 4);
  for (int64_t from = 0; from < n; from += most) {
    const int64_t part = smaller(most, n - from);
    const char *x[CUTT_ELEMENTWISE_OPERANDS];
    for (int o = 0; o < p->operands; ++o)
      x[o] = numbers_of(p, scratch, o, row->at[cutt_elementwise_tensor(o)], from, part);
    char *to = row->at[CUTT_RESULT] + from * bytes, *out = e->streams || converts(p) ? last : to;
    cutt_pass_pair pair = pair_of(p, 0, x[0], 1, x[1], part);
    p->numbers->combine[p->op[0]](p->operands == 3 ? both : out, &pair);
    if (p->operands == 3) {
      pair = pair_of(p, 0, both, 2, x[2], part);
      pair.scaled[0] = pair.conjugate[0] = false;
      p->numbers->combine[p->op[1]](out, &pair);
    }
    if (converts(p))
      p->numbers->finish(to, out, part, &plain);
    else if (e->streams)
      p->kernels->stream(to, out, part * bytes);
  }
}

/* All rows of a block, by an odometer over the modes that a row does not have. */
static void do_rows(const execution *e, char *scratch, const cutt_elementwise_block *block, place row) {
  const plan_t *p = e->plan;
  int64_t index[CUTT_MOST_LABELS] = {0}, step[CUTT_MOST_TENSORS];
  for (;;) {
    do_row(e, scratch, &row, block->row);
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

static cuttResult do_block(const execution *e, char *scratch, int64_t number) {
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
    char *packed = scratch + p->place[t];
    if (t != CUTT_RESULT) {
      const cuttResult result = cuttPlanExecute(block->permute[t], at.at[t], packed, NULL);
      if (result) return result;
    }
    at.at[t] = packed;
  }
  do_rows(e, scratch, block, at);
  if (!block->permute[CUTT_RESULT]) return CUTT_SUCCESS;
  return cuttPlanExecute(block->permute[CUTT_RESULT], at.at[CUTT_RESULT], result_at, NULL);
}

static void work(void *what, int me, int team) {
  execution *e = what;
  (void)me, (void)team;
  char *scratch = cutt_scratch_take();
  if (!scratch) {
    atomic_store(&e->failed, CUTT_INTERNAL_ERROR);
    return;
  }
  for (int64_t i; (i = atomic_fetch_add(&e->next, 1)) < e->plan->blocks && !atomic_load(&e->failed);) {
    const cuttResult result = do_block(e, scratch, i);
    if (result) atomic_store(&e->failed, (int)result);
  }
  if (e->streams) e->plan->kernels->fence();
  cutt_scratch_give(scratch);
}

cuttResult cutt_elementwise_run(const struct cuttElementwiseStruct *p, void *const tensor[CUTT_MOST_TENSORS]) {
  execution e = {.plan = p, .streams = p->streams};
  _Static_assert(CUTT_MOST_TENSORS * (CUTT_ELEMENTWISE_BLOCK + 64) + ROWS * CUTT_ELEMENTWISE_ROW <= CUTT_SCRATCH_BYTES,
                 "the scratch is too small");
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
