/* Execution of an elementwise operation (elementwise.h). */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/elementwise.h"
#include "plan/services.h"

enum {
  EDGES = 2048,
  WORTH_A_THREAD = 128 * 1024, /* bytes of D */
  SHARES = 8,                  /* of the blocks, for each thread */
  AHEAD = 3,                   /* rows */
  AHEAD_BYTES = 4096,          /* of a longer row, on processors that read it faster so */
  FAR_BYTES = 2048,            /* of a row, at most, before which processors do not see what comes next */
};

_Static_assert(EDGES * sizeof(cutt_combine_edge) <= CUTT_SCRATCH_BYTES, "the scratch is too small");

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
  /* Of D's rows past the caches, one for each row of a block, where the next block goes on; NULL: there are none. What rows of tiles
   * carry on is there, too. */
  cutt_combine_edge *edge;
  int64_t edges; /* in use */
} worker;

/* -------------------------------------------------------------------------------------------------------------- rows */

/* Bytes from one index of a mode to the next one, in memory or where the tensor is packed. */
static int64_t step_of(const plan_t *p, const cutt_elementwise_block *block, int mode, int t) {
  return (block->permute[t] ? block->packed[mode] : p->mode[mode].stride[t]) * p->type->bytes;
}

/* What all rows of a block have in common; its rows lie along one more mode. Of short rows, which are far from each other, those that
 * come soon are asked for, and of long ones what comes soon. */
static void set_rows(worker *w, const cutt_elementwise_block *block) {
  const plan_t *p = w->e->plan;
  cutt_combination *c = &w->combination;
  const int i = block->row_modes;
  const bool more = i < p->modes, is_short = block->row * p->type->bytes <= FAR_BYTES;
  c->n = block->row;
  c->rows = more ? block->extent[i] : 1;
  c->step = more ? step_of(p, block, i, CUTT_RESULT) : 0;
  for (int o = 0; o < p->operands; ++o) {
    cutt_combine_operand *operand = &c->operand[o];
    operand->step = more && p->use[o] != CUTT_USE_ZERO ? step_of(p, block, i, (int)cutt_elementwise_tensor(o)) : 0;
    operand->ahead = p->use[o] != CUTT_USE_IN_PLACE ? 0
                     : is_short                     ? AHEAD * operand->step
                     : p->asks_in_order             ? AHEAD_BYTES
                                                    : 0;
  }
}

/* Those of the rows that come next, of which *done have been taken; the last one serves all rows that are too many. */
static cutt_combine_edge *take_edges(worker *w, int64_t *done, int64_t *step) {
  const cutt_combination *c = &w->combination;
  *step = 0;
  if (!w->edge) return NULL;
  *step = c->step != c->n * w->e->plan->type->bytes;
  if (*done + c->rows > EDGES - 1) *done = EDGES - 1, *step = 0;
  const int64_t first = *done;
  *done += *step ? c->rows : 1;
  for (; w->edges < *done; ++w->edges) w->edge[w->edges].bytes = 0;
  return w->edge + first;
}

/* All rows of a block, by an odometer over the modes beyond those that the kernel does. */
static void do_rows(worker *w, place at) {
  static const unsigned char zero[16];
  const plan_t *p = w->e->plan;
  const cutt_elementwise_block *block = at.block;
  int64_t index[CUTT_MOST_LABELS] = {0}, done = 0, edge_step;
  set_rows(w, block);
  for (;;) {
    cutt_combine_edge *edge = take_edges(w, &done, &edge_step);
    const char *operand[CUTT_ELEMENTWISE_OPERANDS] = {0};
    for (int o = 0; o < p->operands; ++o) {
      const char *own = at.at[cutt_elementwise_tensor(o)];
      operand[o] = own ? own : (const char *)zero;
    }
    p->numbers->combine(at.at[CUTT_RESULT], operand, &w->combination, edge, edge_step, w->ahead);
    int i = block->row_modes + 1;
    for (; i < p->modes; ++i) {
      for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
        const int64_t step = step_of(p, block, i, t);
        if (at.at[t]) at.at[t] += index[i] + 1 < block->extent[i] ? step : -index[i] * step;
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
  if (w->e->plan->turn) {
    cutt_elementwise_turn_run(w->e->plan, (void *const *)w->e->tensor, &w->combination, w->edge, begin, end);
    return CUTT_SUCCESS;
  }
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
    if (p->turn || !p->kind[0]->permute[t]) continue;
    w->scratch[t] = cutt_scratch_take();
    if (!w->scratch[t]) return false;
  }
  if (w->e->streams) w->edge = cutt_scratch_take();
  return w->edge || !w->e->streams;
}

static void give_back(const worker *w) {
  for (int64_t i = 0; i < w->edges; ++i) cutt_combine_end(&w->edge[i]);
  if (w->e->streams) w->e->plan->kernels->fence();
  if (w->edge) cutt_scratch_give(w->edge);
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
  give_back(&w);
}

/* Is D an operand, too? */
static bool has_operand(void *const tensor[CUTT_MOST_TENSORS]) {
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t)
    if (t != CUTT_RESULT && tensor[t] == tensor[CUTT_RESULT]) return true;
  return false;
}

/* Past the caches goes what would not stay in them, in whole elements, unless it is read too. */
static bool streams(const plan_t *p, void *const tensor[CUTT_MOST_TENSORS]) {
  return p->streams && (uintptr_t)tensor[CUTT_RESULT] % (uintptr_t)p->type->bytes == 0 && !has_operand(tensor);
}

int cutt_elementwise_threads(const struct cuttElementwiseStruct *p) {
  const int64_t bytes = cutt_elementwise_bytes(p);
  return (int)smaller(smaller((int64_t)p->threads, p->blocks), 1 + bytes / WORTH_A_THREAD);
}

cuttResult cutt_elementwise_run(const struct cuttElementwiseStruct *plan, void *const tensor[CUTT_MOST_TENSORS]) {
  const plan_t *p = plan->apart && has_operand(tensor) ? plan->apart : plan;
  execution e = {.plan = p, .streams = streams(p, tensor)};
  for (int t = 0; t < CUTT_MOST_TENSORS; ++t) e.tensor[t] = tensor[t] ? (char *)tensor[t] + p->origin[t] : NULL;
  if (p->moved) {
    char **const moved = &e.tensor[cutt_elementwise_tensor(p->moved - 1)];
    const cuttResult result = cuttPlanExecute(p->move, *moved, e.tensor[CUTT_RESULT], NULL);
    if (result) return result;
    *moved = e.tensor[CUTT_RESULT];
  }
  const int threads = cutt_elementwise_threads(p);
  e.shares = threads > 1 ? smaller(p->blocks, SHARES * threads) : 1;
  cutt_team_run(threads, work, &e);
  const int failed = atomic_load(&e.failed);
  return failed
             ? cutt_error((cuttResult)failed, "out of memory: %d bytes of scratch for each thread", CUTT_SCRATCH_BYTES)
             : CUTT_SUCCESS;
}
