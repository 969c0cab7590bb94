/* Execution of an elementwise operation (elementwise.h). */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/elementwise.h"
#include "plan/services.h"

enum {
  WORTH_A_THREAD = 128 * 1024, /* bytes of D */
  SHARES = 8,                  /* of the blocks, for each thread */
  AHEAD = 3,                   /* rows */
  FAR_BYTES = 2048,            /* of a row, at most, before which processors do not see what comes next */
  LINE = 64
};

typedef struct cuttElementwiseStruct plan_t;

typedef struct execution {
  const plan_t *plan;
  char *tensor[CUTT_MOST_TENSORS];
  bool streams;
  int64_t shares;
  atomic_llong next;
  atomic_int failed;
} execution;

/* Where a block, or a row of it, is in each tensor. */
typedef struct place {
  char *at[CUTT_MOST_TENSORS];
  const cutt_elementwise_block *block;
} place;

/* A thread's part in it. */
typedef struct worker {
  const execution *e;
  cutt_combination combination;
  cutt_cpu_ahead ahead[CUTT_ELEMENTWISE_OPERANDS];
  char *scratch[CUTT_MOST_TENSORS]; /* of each packed tensor */
  /* What is in it, so that an operand that comes again is not permuted again. */
  const char *packed[CUTT_MOST_TENSORS];
  const cutt_elementwise_block *packed_block[CUTT_MOST_TENSORS];
  /* The first bytes of D's line at line_at, which are not yet written: rows that follow each other write it whole. */
  _Alignas(64) char line[LINE];
  char *line_at;
  int64_t line_bytes;
} worker;

/* -------------------------------------------------------------------------------------------------------------- rows */

static void compute(worker *w, const place *row, char *out, int64_t from, int64_t n, bool streams) {
  static const unsigned char zero[16];
  const plan_t *p = w->e->plan;
  cutt_combination *c = &w->combination;
  for (int o = 0; o < p->operands; ++o) {
    const char *at = row->at[cutt_elementwise_tensor(o)];
    c->operand[o].at = !at ? (const char *)zero : c->operand[o].single ? at : at + from * p->type->bytes;
  }
  c->n = n;
  c->streams = streams;
  p->numbers->combine(out, c, w->ahead);
}

static void write_line(worker *w) {
  if (w->line_bytes) memcpy(w->line_at, w->line, (size_t)w->line_bytes);
  w->line_bytes = 0;
}

/* The elements of a row before D's first line that it begins, which may end the line that the row before has begun; returns how
 * many. */
static int64_t begin_row(worker *w, const place *row, int64_t n) {
  const plan_t *p = w->e->plan;
  char *to = row->at[CUTT_RESULT];
  const int64_t before = (int64_t)((uintptr_t)to % LINE);
  if (!before) return 0;
  const int64_t count = smaller((LINE - before) / p->type->bytes, n);
  if (w->line_bytes != before || w->line_at != to - before) {
    compute(w, row, to, 0, count, false);
    return count;
  }
  compute(w, row, w->line + before, 0, count, false);
  w->line_bytes += count * p->type->bytes;
  if (w->line_bytes < LINE) return count;
  p->kernels->stream(w->line_at, w->line, LINE);
  w->line_bytes = 0;
  return count;
}

/* A row past the caches, whose addresses are multiples of the element's bytes. */
static void stream_row(worker *w, const place *row, int64_t n) {
  const int64_t bytes = w->e->plan->type->bytes, first = begin_row(w, row, n), whole = (n - first) * bytes / LINE;
  const int64_t last = first + whole * (LINE / bytes);
  char *to = row->at[CUTT_RESULT];
  if (whole) compute(w, row, to + first * bytes, first, last - first, true);
  if (last == n) return;
  write_line(w);
  compute(w, row, w->line, last, n - last, false);
  w->line_at = to + last * bytes;
  w->line_bytes = (n - last) * bytes;
}

/* Rows are short and far from each other: those that come soon are asked for. */
static void expect(const plan_t *p, const place *row, int64_t ahead) {
  const int64_t bytes = row->block->row * p->type->bytes;
  const cutt_elementwise_mode *mode = &p->mode[row->block->row_modes];
  for (int o = 0; o < p->operands; ++o) {
    const cutt_tensor t = cutt_elementwise_tensor(o);
    if (p->use[o] != CUTT_USE_IN_PLACE) continue;
    const char *at = row->at[t] + ahead * mode->stride[t] * p->type->bytes;
    for (int64_t i = 0; i < bytes; i += LINE) __builtin_prefetch(at + i);
  }
}

/* All rows of a block, by an odometer over the modes that a row does not have. */
static void do_rows(worker *w, place row) {
  const plan_t *p = w->e->plan;
  const cutt_elementwise_block *block = row.block;
  int64_t index[CUTT_MOST_LABELS] = {0}, step[CUTT_MOST_TENSORS];
  const bool far = block->row_modes < p->modes && block->row * p->type->bytes <= FAR_BYTES;
  for (;;) {
    if (far && index[block->row_modes] + AHEAD < block->extent[block->row_modes]) expect(p, &row, AHEAD);
    if (w->e->streams)
      stream_row(w, &row, block->row);
    else
      compute(w, &row, row.at[CUTT_RESULT], 0, block->row, false);
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

/* ------------------------------------------------------------------------------------------------------------ blocks */

static place block_of(const execution *e, int64_t number) {
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
  at.block = p->kind[kind];
  return at;
}

static bool is_packed(const worker *w, const place *at, int t) {
  return w->packed[t] == at->at[t] && w->packed_block[t] == at->block;
}

static cuttResult pack(worker *w, const place *at, int t) {
  if (is_packed(w, at, t)) return CUTT_SUCCESS;
  w->packed[t] = at->at[t];
  w->packed_block[t] = at->block;
  return cuttPlanExecute(at->block->permute[t], at->at[t], w->scratch[t], NULL);
}

/* What will be packed for the block that comes next is fetched while this one's rows are computed. */
static void look_ahead(worker *w, const place *next) {
  w->combination.aheads = 0;
  for (int t = 0; next && t < CUTT_MOST_TENSORS; ++t)
    if (t != CUTT_RESULT && next->block->start[t] && !is_packed(w, next, t))
      w->ahead[w->combination.aheads++] = (cutt_cpu_ahead){.base = next->at[t],
                                                           .start = next->block->start[t],
                                                           .runs = next->block->runs[t],
                                                           .bytes = next->block->run_bytes[t],
                                                           .to = CUTT_CPU_TO_L2};
}

static cuttResult do_block(worker *w, place at, const place *next) {
  const cutt_elementwise_block *block = at.block;
  char *const result_at = at.at[CUTT_RESULT];
  cuttResult result = CUTT_SUCCESS;
  for (int t = 0; t < CUTT_MOST_TENSORS && !result; ++t) {
    if (!block->permute[t]) continue;
    if (t != CUTT_RESULT) result = pack(w, &at, t);
    at.at[t] = w->scratch[t];
  }
  if (result) return result;
  look_ahead(w, next);
  do_rows(w, at);
  if (!block->permute[CUTT_RESULT]) return CUTT_SUCCESS;
  return cuttPlanExecute(block->permute[CUTT_RESULT], at.at[CUTT_RESULT], result_at, NULL);
}

/* One share of the blocks, which follow each other. */
static cuttResult do_share(worker *w, int64_t share) {
  const int64_t blocks = w->e->plan->blocks, each = blocks / w->e->shares, more = blocks % w->e->shares;
  const int64_t begin = each * share + smaller(share, more), end = begin + each + (share < more);
  place at = block_of(w->e, begin);
  for (int64_t i = begin; i < end; ++i) {
    const place next = block_of(w->e, i + 1 < end ? i + 1 : i);
    const cuttResult result = do_block(w, at, i + 1 < end ? &next : NULL);
    if (result) return result;
    at = next;
  }
  return CUTT_SUCCESS;
}

static bool take(worker *w) {
  const plan_t *p = w->e->plan;
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
    if (!p->kind[0]->permute[t]) continue;
    w->scratch[t] = cutt_scratch_take();
    if (!w->scratch[t]) return false;
  }
  return true;
}

static void give_back(const worker *w) {
  for (int t = CUTT_MOST_TENSORS; t-- > 0;)
    if (w->scratch[t]) cutt_scratch_give(w->scratch[t]);
}

static void set_operands(worker *w) {
  const plan_t *p = w->e->plan;
  w->combination.operands = p->operands;
  memcpy(w->combination.op, p->op, sizeof p->op);
  for (int o = 0; o < p->operands; ++o) {
    cutt_combine_operand *operand = &w->combination.operand[o];
    operand->single = p->use[o] == CUTT_USE_SINGLE || p->use[o] == CUTT_USE_ZERO;
    operand->scaled = p->scaled[o];
    operand->conjugate = p->conjugate[o];
    memcpy(operand->scale, p->scale[o], sizeof operand->scale);
  }
}

static void work(void *what, int me, int team) {
  execution *e = what;
  worker w = {.e = e};
  (void)me, (void)team;
  set_operands(&w);
  if (!take(&w)) atomic_store(&e->failed, CUTT_INTERNAL_ERROR);
  for (int64_t i; !atomic_load(&e->failed) && (i = atomic_fetch_add(&e->next, 1)) < e->shares;) {
    const cuttResult result = do_share(&w, i);
    if (result) atomic_store(&e->failed, (int)result);
  }
  write_line(&w);
  if (e->streams) e->plan->kernels->fence();
  give_back(&w);
}

/* Past the caches goes what would not stay in them, in whole elements, unless it is read too. */
static bool streams(const plan_t *p, void *const tensor[CUTT_MOST_TENSORS]) {
  if (!p->streams || (uintptr_t)tensor[CUTT_RESULT] % (uintptr_t)p->type->bytes) return false;
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t)
    if (t != CUTT_RESULT && tensor[t] == tensor[CUTT_RESULT]) return false;
  return true;
}

cuttResult cutt_elementwise_run(const struct cuttElementwiseStruct *p, void *const tensor[CUTT_MOST_TENSORS]) {
  execution e = {.plan = p, .streams = streams(p, tensor)};
  int64_t bytes = p->type->bytes;
  for (int i = 0; i < p->modes; ++i) bytes *= p->mode[i].extent;
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) e.tensor[t] = tensor[t] ? (char *)tensor[t] + p->origin[t] : NULL;
  const int64_t threads = smaller(smaller((int64_t)p->threads, p->blocks), 1 + bytes / WORTH_A_THREAD);
  e.shares = threads > 1 ? smaller(p->blocks, SHARES * threads) : 1;
  cutt_team_run((int)threads, work, &e);
  const int failed = atomic_load(&e.failed);
  return failed
             ? cutt_error((cuttResult)failed, "out of memory: %d bytes of scratch for each thread", CUTT_SCRATCH_BYTES)
             : CUTT_SUCCESS;
}
