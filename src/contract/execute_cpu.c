/* Execution on the CPU.
 *
 * Threads share the work in one of two ways. Where there are enough blocks of the result (cost.spread), each thread takes
 * some, and permutes and multiplies them alone, in a workspace of its own and in its own cache. Else one block follows the
 * other, and all threads work at each step: at a permutation, and at the products, which they share by iterations of the
 * loops; where these are too few by rows and columns of the result; or, for a small result of a long sum, by parts of the
 * sum. The BLAS never makes threads of its own (gemm.h), which would compete with these for the cores. */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "blas/blocks.h"
#include "contract/plan.h"
#include "plan/services.h"

typedef struct execution {
  const struct cuttContractionStruct *plan;
  const cutt_operands *operands;
  void *session;
} execution;

/* The matrices of a product. */
typedef struct matrices {
  const unsigned char *operand[2];
  unsigned char *result;
} matrices;

static void take_time(double *sum, double *since) {
  const double now = cutt_clock();
  *sum += now - *since;
  *since = now;
}

/* ----------------------------------------------------------------------------------------------------------- the products */

/* A part of a product: m rows from m0 on, n columns from n0 on, and the part of the sum over k from k0 on. */
typedef struct subproduct {
  int64_t m0, m, n0, n, k0, k;
} subproduct;

static subproduct whole(const cutt_block *block) {
  return (subproduct){0, block->gemm.m, 0, block->gemm.n, 0, block->gemm.k};
}

static cuttResult multiply_subproduct(const execution *e, const cutt_block *block, const matrices *at,
                                      const subproduct *b, const void *beta, int64_t ldc) {
  const struct cuttContractionStruct *plan = e->plan;
  const int64_t bytes = plan->contraction.type->bytes;
  cutt_gemm g = block->gemm;
  const int64_t a_offset = g.op_a == CUTT_OP_N ? b->m0 + b->k0 * g.lda : b->k0 + b->m0 * g.lda;
  const int64_t b_offset = g.op_b == CUTT_OP_N ? b->k0 + b->n0 * g.ldb : b->n0 + b->k0 * g.ldb;
  g.m = b->m;
  g.n = b->n;
  g.k = b->k;
  g.ldc = ldc;
  const int left = block->swapped ? 1 : 0;
  return plan->blas->gemm(plan->blas, e->session, plan->contraction.type->type, &g, plan->contraction.alpha,
                          at->operand[left] + a_offset * bytes, at->operand[1 - left] + b_offset * bytes, beta,
                          at->result);
}

/* One iteration of the loops that the result has: all the products that add up there. */
static cuttResult multiply_iteration(const execution *e, const cutt_block *block, const matrices *at, int64_t iteration,
                                     const subproduct *b, const void *beta) {
  const int64_t bytes = e->plan->contraction.type->bytes;
  int64_t base[CUTT_TENSORS], offset[CUTT_TENSORS];
  cutt_loops_offset(block->loop, block->loops, iteration, base);
  for (int64_t s = 0; s < block->additions; ++s) {
    cutt_loops_offset(block->loop + block->loops, block->sums, s, offset);
    const matrices here = {
        {at->operand[0] + (base[0] + offset[0]) * bytes, at->operand[1] + (base[1] + offset[1]) * bytes},
        at->result + (base[2] + b->m0 + b->n0 * block->gemm.ldc) * bytes};
    const cuttResult result = multiply_subproduct(e, block, &here, b, s ? e->plan->one : beta, block->gemm.ldc);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* How threads share a block: each of its products in rows x columns parts. */
typedef struct sharing {
  int64_t rows, columns;
} sharing;

enum { LEAST_EXTENT = 16 };

/* The most parts that an extent is cut into. */
static int64_t most_parts(int64_t extent) { return (extent + LEAST_EXTENT - 1) / LEAST_EXTENT; }

/* As few parts as keep all threads at work for nine tenths of the time or more, and as square as possible. */
static sharing share(const cutt_block *block, int threads) {
  const int64_t most = 4 * (int64_t)threads, m = block->gemm.m, n = block->gemm.n;
  sharing best = {1, 1};
  double best_use = 0, best_edge = 0;
  if (threads == 1 || block->products >= most) return best;
  for (int64_t count = 1; count <= most && best_use < 0.9; ++count) {
    for (int64_t rows = 1; rows <= count; ++rows) {
      const int64_t columns = count / rows;
      if (rows * columns != count || rows > most_parts(m) || columns > most_parts(n)) continue;
      const int64_t items = block->products * count, rounds = (items + threads - 1) / threads;
      const double use = (double)items / (double)(rounds * threads);
      const double edge = (double)m / (double)rows + (double)n / (double)columns;
      if (use < best_use || (use <= best_use && edge >= best_edge)) continue;
      best = (sharing){rows, columns};
      best_use = use;
      best_edge = edge;
    }
  }
  return best;
}

/* Where part number `which` of an extent begins, and how long it is. */
static void part(int64_t extent, int64_t parts, int64_t which, int64_t *first, int64_t *count) {
  *first = extent * which / parts;
  *count = extent * (which + 1) / parts - *first;
}

/* Items begin to end - 1, an item being one part of one product. */
static cuttResult multiply_items(const execution *e, const cutt_block *block, const matrices *at, sharing s,
                                 int64_t begin, int64_t end, const void *beta) {
  cuttResult result = CUTT_SUCCESS;
  for (int64_t item = begin; item < end && !result; ++item) {
    const int64_t parts = s.rows * s.columns, iteration = item / parts, which = item % parts;
    subproduct b = whole(block);
    part(block->gemm.m, s.rows, which % s.rows, &b.m0, &b.m);
    part(block->gemm.n, s.columns, which / s.rows, &b.n0, &b.n);
    result = multiply_iteration(e, block, at, iteration, &b, beta);
  }
  return result;
}

/* An error is worded in the thread where it happens; the calling thread needs a text of its own. */
static cuttResult result_of(const atomic_int *failed) {
  const cuttResult result = (cuttResult)atomic_load(failed);
  return result ? cutt_error(result, "a step of the contraction failed in one of its threads") : CUTT_SUCCESS;
}

/* A sum over k is shared by threads where its result has at most so many bytes, and each thread's part of k this extent. */
enum { PARTIAL_BYTES = 32768, LEAST_SUM = 256 };

/* c += partial, m x n; c may lie at any address. */
static void add(const cutt_type_info *type, int64_t m, int64_t n, const void *partial, unsigned char *c, int64_t ldc) {
  const int64_t numbers = type->complex ? 2 : 1;
  const bool is_double = !cutt_gemm_single(type->type);
  for (int64_t column = 0; column < n; ++column) {
    for (int64_t i = 0; i < m * numbers; ++i) {
      const int64_t from = column * m * numbers + i, to = column * ldc * numbers + i;
      if (is_double) {
        double sum;
        memcpy(&sum, c + to * (int64_t)sizeof sum, sizeof sum);
        sum += ((const double *)partial)[from];
        memcpy(c + to * (int64_t)sizeof sum, &sum, sizeof sum);
      } else {
        float sum;
        memcpy(&sum, c + to * (int64_t)sizeof sum, sizeof sum);
        sum += ((const float *)partial)[from];
        memcpy(c + to * (int64_t)sizeof sum, &sum, sizeof sum);
      }
    }
  }
}

/* The products of a block, in so many parts, which threads take one after the other. */
typedef struct shared_step {
  const execution *e;
  const cutt_block *block;
  const matrices *at;
  const void *beta;
  sharing s;
  int64_t parts;
  /* The packed results of all parts of a sum but the first. */
  unsigned char *partials;
  atomic_llong next;
  atomic_int failed;
} shared_step;

static int64_t partial_bytes(const execution *e, const cutt_block *block) {
  return (block->gemm.m * block->gemm.n * e->plan->contraction.type->bytes + 63) / 64 * 64;
}

static void sum_parts(void *what, int me, int team) {
  shared_step *w = what;
  (void)me, (void)team;
  const cutt_gemm *g = &w->block->gemm;
  for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->parts && !atomic_load(&w->failed);) {
    subproduct b = whole(w->block);
    part(g->k, w->parts, i, &b.k0, &b.k);
    matrices here = *w->at;
    if (i) here.result = w->partials + (i - 1) * partial_bytes(w->e, w->block);
    const cuttResult result =
        multiply_subproduct(w->e, w->block, &here, &b, i ? w->e->plan->zero : w->beta, i ? g->m : g->ldc);
    if (result) atomic_store(&w->failed, (int)result);
  }
}

/* One small result of a long sum: the first part of the sum is written to the result, the others to scratch, and then they are
 * added in order, so that rounding does not depend on which thread is first. */
static cuttResult multiply_parts_of_sum(shared_step *w, int threads) {
  const int64_t room = 1 + CUTT_SCRATCH_BYTES / partial_bytes(w->e, w->block);
  w->parts = threads < room ? threads : room;
  w->partials = cutt_scratch_take();
  if (!w->partials) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch", CUTT_SCRATCH_BYTES);
  cutt_team_run((int)w->parts, sum_parts, w);
  const cuttResult result = result_of(&w->failed);
  for (int64_t i = 1; i < w->parts && !result; ++i)
    add(w->e->plan->contraction.type, w->block->gemm.m, w->block->gemm.n,
        w->partials + (i - 1) * partial_bytes(w->e, w->block), w->at->result, w->block->gemm.ldc);
  cutt_scratch_give(w->partials);
  return result;
}

static bool shares_sum(const cutt_contraction *c, const cutt_block *block, sharing s, int threads) {
  return s.rows * s.columns * block->products * 2 <= threads && block->products == 1 && block->sums == 0 &&
         block->gemm.m * block->gemm.n * c->type->bytes <= PARTIAL_BYTES && block->gemm.k >= LEAST_SUM * threads;
}

static void multiply_parts(void *what, int me, int team) {
  shared_step *w = what;
  (void)me, (void)team;
  const int64_t items = w->block->products * w->s.rows * w->s.columns;
  for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->parts && !atomic_load(&w->failed);) {
    const cuttResult result =
        multiply_items(w->e, w->block, w->at, w->s, items * i / w->parts, items * (i + 1) / w->parts, w->beta);
    if (result) atomic_store(&w->failed, (int)result);
  }
}

/* All products of a block, by at most so many threads. */
static cuttResult multiply(const execution *e, const cutt_block *block, const matrices *at, const void *beta,
                           int threads) {
  const double flops = (double)block->gemm.m * (double)block->gemm.n * (double)block->gemm.k * (double)block->products;
  const double worth_a_thread = 2e4;
  if (flops < worth_a_thread * threads) threads = (int)(flops / worth_a_thread) + 1;
  shared_step w = {.e = e, .block = block, .at = at, .beta = beta, .s = share(block, threads)};
  const int64_t items = block->products * w.s.rows * w.s.columns;
  if (threads == 1) return multiply_items(e, block, at, w.s, 0, items, beta);
  if (shares_sum(&e->plan->contraction, block, w.s, threads)) return multiply_parts_of_sum(&w, threads);
  const int64_t most = 8 * (int64_t)threads; /* enough to be even, and few, since neighbours share operands */
  w.parts = items < most ? items : most;
  cutt_team_run(threads, multiply_parts, &w);
  return result_of(&w.failed);
}

/* ------------------------------------------------------------------------------------------------------------- the blocks */

/* One block of the result: the products of all its K-blocks are summed up, and the sum is brought to its place. */
static cuttResult do_result_block(const execution *e, cutt_walk *walk, int64_t result_block, unsigned char *slot,
                                  int threads, cutt_steps *steps) {
  const struct cuttContractionStruct *plan = e->plan;
  const cutt_algorithm *algorithm = &plan->algorithm;
  double since = steps ? cutt_clock() : 0;
  for (int64_t k_block = 0; k_block < plan->cost.k_blocks; ++k_block) {
    const cutt_block *block = cutt_walk_to(walk, result_block, k_block);
    matrices at;
    for (int t = 0; t < 2; ++t) {
      const unsigned char *from = e->operands->operand[t] + cutt_walk_offset(walk, (cutt_tensor)t);
      at.operand[t] = from;
      if (!algorithm->packed[t]) continue;
      unsigned char *to =
          plan->stays[t] ? e->operands->workspace + plan->shared_offset[t] : slot + plan->block_offset[t];
      at.operand[t] = to;
      if (plan->stays[t] || !cutt_walk_packs(walk, (cutt_tensor)t)) continue;
      const cuttResult result = cuttPlanExecute(block->permute[t], from, to, NULL);
      if (result) return result;
    }
    unsigned char *result_here = e->operands->result + cutt_walk_offset(walk, CUTT_RESULT);
    at.result = algorithm->packed[CUTT_RESULT] ? slot + plan->block_offset[CUTT_RESULT] : result_here;
    if (steps) take_time(&steps->permute, &since);
    const void *beta = k_block ? plan->one : algorithm->packed[CUTT_RESULT] ? plan->zero : plan->contraction.beta;
    cuttResult result = multiply(e, block, &at, beta, threads);
    if (result) return result;
    if (steps) take_time(&steps->multiply, &since);
    if (!algorithm->packed[CUTT_RESULT] || k_block + 1 < plan->cost.k_blocks) continue;
    result = cuttPlanExecute(block->permute[CUTT_RESULT], at.result, result_here, NULL);
    if (result) return result;
    if (steps) take_time(&steps->permute, &since);
  }
  return CUTT_SUCCESS;
}

/* Blocks of the result, which threads share. */
typedef struct shared_result_blocks {
  const execution *e;
  /* How many a thread takes at a time. */
  int64_t batch;
  bool timed;
  atomic_llong next;
  atomic_int failed, members;
  atomic_llong permute_ns, multiply_ns; /* summed over threads */
} shared_result_blocks;

static void do_result_blocks(void *what, int me, int team) {
  shared_result_blocks *w = what;
  const struct cuttContractionStruct *plan = w->e->plan;
  const int64_t result_blocks = plan->cost.result_blocks;
  cutt_walk walk = {.plan = plan};
  cutt_steps own = {0, 0};
  unsigned char *slot = w->e->operands->workspace + plan->slot_offset + (size_t)me * plan->slot_bytes;
  for (;;) {
    const int64_t first = atomic_fetch_add(&w->next, w->batch);
    if (first >= result_blocks || atomic_load(&w->failed)) break;
    for (int64_t i = first; i < first + w->batch && i < result_blocks; ++i) {
      const cuttResult result = do_result_block(w->e, &walk, i, slot, 1, w->timed ? &own : NULL);
      if (result) atomic_store(&w->failed, (int)result);
    }
  }
  atomic_store(&w->members, team);
  atomic_fetch_add(&w->permute_ns, (long long)(own.permute * 1e9));
  atomic_fetch_add(&w->multiply_ns, (long long)(own.multiply * 1e9));
}

/* Threads take blocks of the result, a few neighbouring ones at a time, which share packed operands. */
static cuttResult spread_result_blocks(const execution *e, cutt_steps *steps) {
  const struct cuttContractionStruct *plan = e->plan;
  const int64_t batch = plan->cost.result_blocks / (8 * (int64_t)plan->threads);
  shared_result_blocks w = {.e = e, .batch = batch < 1 ? 1 : batch, .timed = steps != NULL};
  cutt_team_run(plan->threads, do_result_blocks, &w);
  if (steps) {
    steps->permute += 1e-9 * (double)atomic_load(&w.permute_ns) / atomic_load(&w.members);
    steps->multiply += 1e-9 * (double)atomic_load(&w.multiply_ns) / atomic_load(&w.members);
  }
  return result_of(&w.failed);
}

static cuttResult do_blocks(const execution *e, cutt_steps *steps) {
  const struct cuttContractionStruct *plan = e->plan;
  cuttResult result = CUTT_SUCCESS;
  double since = steps ? cutt_clock() : 0;
  for (int t = 0; t < 2 && !result; ++t)
    if (plan->stays[t])
      result = cuttPlanExecute(plan->kind[0]->permute[t], e->operands->operand[t],
                               e->operands->workspace + plan->shared_offset[t], NULL);
  if (steps) take_time(&steps->permute, &since);
  if (result) return result;
  if (plan->cost.spread) return spread_result_blocks(e, steps);
  cutt_walk walk = {.plan = plan};
  for (int64_t i = 0; i < plan->cost.result_blocks && !result; ++i)
    result = do_result_block(e, &walk, i, e->operands->workspace + plan->slot_offset, plan->threads, steps);
  return result;
}

/* The sums that are done beforehand, which take the operands' places. Their time counts as that of permutations. */
static cuttResult reduce(const struct cuttContractionStruct *plan, cutt_operands *operands, cutt_steps *steps) {
  double since = steps ? cutt_clock() : 0;
  for (int t = 0; t < 2; ++t) {
    if (!plan->reduce[t]) continue;
    const cutt_operands own = {{operands->operand[t], plan->one_element},
                               operands->workspace + plan->reduced_offset[t],
                               operands->workspace + plan->reduce_base};
    const cuttResult result = cutt_contraction_run_cpu(plan->reduce[t], &own, NULL);
    if (result) return result;
    operands->operand[t] = own.result;
  }
  if (steps) take_time(&steps->permute, &since);
  return CUTT_SUCCESS;
}

cuttResult cutt_contraction_run_cpu(const struct cuttContractionStruct *plan, const cutt_operands *callers,
                                    cutt_steps *steps) {
  if (plan->asked.empty) return CUTT_SUCCESS;
  if (plan->scale) {
    const bool one = plan->asked.reduce == CUTT_OP_MULTIPLY && !plan->asked.alpha_is_zero;
    const void *from = one ? plan->one_element : plan->asked.beta_is_zero ? plan->zero : callers->result;
    return cuttPlanExecute(plan->scale, from, callers->result, NULL);
  }
  cutt_operands operands = *callers;
  if (plan->asked.right_is_one) operands.operand[CUTT_RIGHT] = plan->one_element;
  cuttResult result = reduce(plan, &operands, steps);
  if (result) return result;
  if (plan->pass) {
    double since = steps ? cutt_clock() : 0;
    result = cutt_pass_run(plan->pass, operands.operand[CUTT_LEFT], operands.operand[CUTT_RIGHT], operands.result);
    if (steps) take_time(&steps->multiply, &since);
    return result;
  }
  execution e = {plan, &operands, NULL};
  result = plan->blas->begin(plan->blas, NULL, &e.session);
  if (result) return result;
  result = do_blocks(&e, steps);
  plan->blas->end(plan->blas, e.session);
  return result;
}
