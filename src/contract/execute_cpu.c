/* Execution on the CPU.
 *
 * Two ways to share the work. Where there are pieces enough (cost.spread), threads take pieces, and each permutes and
 * multiplies its own in its own workspace and cache, by itself. Else one piece follows the other, and in each step all
 * threads work: the permutation shares itself out; products are shared by their loops, and where these are too few by blocks
 * of the result, or for a small result of long sums by parts of the sum. The BLAS runs on the calling thread alone in all of
 * it (gemm.h), so that its threads and ours do not fight for the cores. */
#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "blas/blocks.h"
#include "contract/plan.h"
#include "plan/lent.h"

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

/* One product of a piece, of blocks of its result's rows and columns and of the sum. */
typedef struct block {
  int64_t m0, m, n0, n, k0, k;
} block;

static block whole(const cutt_piece *piece) { return (block){0, piece->gemm.m, 0, piece->gemm.n, 0, piece->gemm.k}; }

static cuttResult multiply_block(const execution *e, const cutt_piece *piece, const matrices *at, const block *b,
                                 const void *beta, int64_t ldc) {
  const struct cuttContractionStruct *plan = e->plan;
  const int64_t bytes = plan->contraction.type->bytes;
  cutt_gemm g = piece->gemm;
  const int64_t a_offset = g.op_a == CUTT_OP_N ? b->m0 + b->k0 * g.lda : b->k0 + b->m0 * g.lda;
  const int64_t b_offset = g.op_b == CUTT_OP_N ? b->k0 + b->n0 * g.ldb : b->n0 + b->k0 * g.ldb;
  g.m = b->m;
  g.n = b->n;
  g.k = b->k;
  g.ldc = ldc;
  const int left = piece->swapped ? 1 : 0;
  return plan->blas->gemm(plan->blas, e->session, plan->contraction.type->type, &g, plan->contraction.alpha,
                          at->operand[left] + a_offset * bytes, at->operand[1 - left] + b_offset * bytes, beta,
                          at->result);
}

/* All the sums of one turn of the loops. */
static cuttResult multiply_turn(const execution *e, const cutt_piece *piece, const matrices *at, int64_t turn,
                                const block *b, const void *beta) {
  const int64_t bytes = e->plan->contraction.type->bytes;
  int64_t base[CUTT_TENSORS], offset[CUTT_TENSORS];
  cutt_loops_offset(piece->loop, piece->loops, turn, base);
  for (int64_t s = 0; s < piece->additions; ++s) {
    cutt_loops_offset(piece->loop + piece->loops, piece->sums, s, offset);
    const matrices here = {
        {at->operand[0] + (base[0] + offset[0]) * bytes, at->operand[1] + (base[1] + offset[1]) * bytes},
        at->result + (base[2] + b->m0 + b->n0 * piece->gemm.ldc) * bytes};
    const cuttResult result = multiply_block(e, piece, &here, b, s ? e->plan->one : beta, piece->gemm.ldc);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* How a piece's products are shared: each turn of the loops in rows x columns blocks. */
typedef struct sharing {
  int64_t rows, columns;
} sharing;

enum { LEAST_EXTENT = 16 };

static int64_t parts_of(int64_t extent) { return (extent + LEAST_EXTENT - 1) / LEAST_EXTENT; }

/* As few blocks as keep all threads at work at least nine tenths of the time, as square as can be. */
static sharing share(const cutt_piece *piece, int threads) {
  const int64_t most = 4 * (int64_t)threads, m = piece->gemm.m, n = piece->gemm.n;
  sharing best = {1, 1};
  double best_use = 0, best_edge = 0;
  if (threads == 1 || piece->products >= most) return best;
  for (int64_t count = 1; count <= most && best_use < 0.9; ++count) {
    for (int64_t rows = 1; rows <= count; ++rows) {
      const int64_t columns = count / rows;
      if (rows * columns != count || rows > parts_of(m) || columns > parts_of(n)) continue;
      const int64_t items = piece->products * count, turns = (items + threads - 1) / threads;
      const double use = (double)items / (double)(turns * threads);
      const double edge = (double)m / (double)rows + (double)n / (double)columns;
      if (use < best_use || (use <= best_use && edge >= best_edge)) continue;
      best = (sharing){rows, columns};
      best_use = use;
      best_edge = edge;
    }
  }
  return best;
}

static void part(int64_t extent, int64_t parts, int64_t which, int64_t *first, int64_t *count) {
  *first = extent * which / parts;
  *count = extent * (which + 1) / parts - *first;
}

/* Items begin .. end - 1: blocks of turns. */
static cuttResult multiply_items(const execution *e, const cutt_piece *piece, const matrices *at, sharing s,
                                 int64_t begin, int64_t end, const void *beta) {
  cuttResult result = CUTT_SUCCESS;
  for (int64_t item = begin; item < end && !result; ++item) {
    const int64_t blocks = s.rows * s.columns, turn = item / blocks, which = item % blocks;
    block b = whole(piece);
    part(piece->gemm.m, s.rows, which % s.rows, &b.m0, &b.m);
    part(piece->gemm.n, s.columns, which / s.rows, &b.n0, &b.n);
    result = multiply_turn(e, piece, at, turn, &b, beta);
  }
  return result;
}

/* The text of an error is its thread's own: the caller's is worded here. */
static cuttResult result_of(const atomic_int *failed) {
  const cuttResult result = (cuttResult)atomic_load(failed);
  return result ? cutt_error(result, "a step of the contraction failed in one of its threads") : CUTT_SUCCESS;
}

/* A sum is shared where one part of it is at most this long, and has at least so many terms. */
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

/* What the threads of a step share: parts of it, which they take one after the other. */
typedef struct shared_step {
  const execution *e;
  const cutt_piece *piece;
  const matrices *at;
  const void *beta;
  sharing s;
  int64_t parts;
  unsigned char *partials; /* of a shared sum: results of its parts but for the first, packed */
  atomic_llong next;
  atomic_int failed;
} shared_step;

static int64_t partial_bytes(const execution *e, const cutt_piece *piece) {
  return (piece->gemm.m * piece->gemm.n * e->plan->contraction.type->bytes + 63) / 64 * 64;
}

static void sum_parts(void *what, int me, int team) {
  shared_step *w = what;
  (void)me, (void)team;
  const cutt_gemm *g = &w->piece->gemm;
  for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->parts && !atomic_load(&w->failed);) {
    block b = whole(w->piece);
    part(g->k, w->parts, i, &b.k0, &b.k);
    matrices here = *w->at;
    if (i) here.result = w->partials + (i - 1) * partial_bytes(w->e, w->piece);
    const cuttResult result =
        multiply_block(w->e, w->piece, &here, &b, i ? w->e->plan->zero : w->beta, i ? g->m : g->ldc);
    if (result) atomic_store(&w->failed, (int)result);
  }
}

/* One small result, whose sum is shared: the first part goes to the result, the others to scratch, from where they are added in
 * order, so that the result does not depend on how many threads there are and who is first. */
static cuttResult multiply_parts_of_sum(shared_step *w, int threads) {
  const int64_t room = 1 + CUTT_SCRATCH_BYTES / partial_bytes(w->e, w->piece);
  w->parts = threads < room ? threads : room;
  w->partials = cutt_scratch_take();
  if (!w->partials) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch", CUTT_SCRATCH_BYTES);
  cutt_team_run((int)w->parts, sum_parts, w);
  const cuttResult result = result_of(&w->failed);
  for (int64_t i = 1; i < w->parts && !result; ++i)
    add(w->e->plan->contraction.type, w->piece->gemm.m, w->piece->gemm.n,
        w->partials + (i - 1) * partial_bytes(w->e, w->piece), w->at->result, w->piece->gemm.ldc);
  cutt_scratch_give(w->partials);
  return result;
}

static bool shares_sum(const cutt_contraction *c, const cutt_piece *piece, sharing s, int threads) {
  return s.rows * s.columns * piece->products * 2 <= threads && piece->products == 1 && piece->sums == 0 &&
         piece->gemm.m * piece->gemm.n * c->type->bytes <= PARTIAL_BYTES && piece->gemm.k >= LEAST_SUM * threads;
}

static void multiply_parts(void *what, int me, int team) {
  shared_step *w = what;
  (void)me, (void)team;
  const int64_t items = w->piece->products * w->s.rows * w->s.columns;
  for (int64_t i; (i = atomic_fetch_add(&w->next, 1)) < w->parts && !atomic_load(&w->failed);) {
    const cuttResult result =
        multiply_items(w->e, w->piece, w->at, w->s, items * i / w->parts, items * (i + 1) / w->parts, w->beta);
    if (result) atomic_store(&w->failed, (int)result);
  }
}

/* All products of a piece, by so many threads. */
static cuttResult multiply(const execution *e, const cutt_piece *piece, const matrices *at, const void *beta,
                           int threads) {
  const double flops = (double)piece->gemm.m * (double)piece->gemm.n * (double)piece->gemm.k * (double)piece->products;
  const double worth_a_thread = 2e4;
  if (flops < worth_a_thread * threads) threads = (int)(flops / worth_a_thread) + 1;
  shared_step w = {.e = e, .piece = piece, .at = at, .beta = beta, .s = share(piece, threads)};
  const int64_t items = piece->products * w.s.rows * w.s.columns;
  if (threads == 1) return multiply_items(e, piece, at, w.s, 0, items, beta);
  if (shares_sum(&e->plan->contraction, piece, w.s, threads)) return multiply_parts_of_sum(&w, threads);
  const int64_t most = 8 * (int64_t)threads; /* enough to be even, and few, since neighbours share operands */
  w.parts = items < most ? items : most;
  cutt_team_run(threads, multiply_parts, &w);
  return result_of(&w.failed);
}

/* ------------------------------------------------------------------------------------------------------------- the pieces */

/* One unit: all its terms are summed up, and then its part of the result is brought to its place. */
static cuttResult do_unit(const execution *e, cutt_walk *walk, int64_t unit, unsigned char *turn, int threads,
                          cutt_steps *steps) {
  const struct cuttContractionStruct *plan = e->plan;
  const cutt_algorithm *algorithm = &plan->algorithm;
  double since = steps ? cutt_clock() : 0;
  for (int64_t term = 0; term < plan->cost.terms; ++term) {
    const cutt_piece *piece = cutt_walk_to(walk, unit, term);
    matrices at;
    for (int t = 0; t < 2; ++t) {
      const unsigned char *from = e->operands->operand[t] + cutt_walk_offset(walk, (cutt_tensor)t);
      at.operand[t] = from;
      if (!algorithm->packed[t]) continue;
      unsigned char *to =
          plan->stays[t] ? e->operands->workspace + plan->shared_offset[t] : turn + plan->piece_offset[t];
      at.operand[t] = to;
      if (plan->stays[t] || !cutt_walk_packs(walk, (cutt_tensor)t)) continue;
      const cuttResult result = cuttPlanExecute(piece->permute[t], from, to, NULL);
      if (result) return result;
    }
    unsigned char *result_here = e->operands->result + cutt_walk_offset(walk, CUTT_RESULT);
    at.result = algorithm->packed[CUTT_RESULT] ? turn + plan->piece_offset[CUTT_RESULT] : result_here;
    if (steps) take_time(&steps->permute, &since);
    const void *beta = term ? plan->one : algorithm->packed[CUTT_RESULT] ? plan->zero : plan->contraction.beta;
    cuttResult result = multiply(e, piece, &at, beta, threads);
    if (result) return result;
    if (steps) take_time(&steps->multiply, &since);
    if (!algorithm->packed[CUTT_RESULT] || term + 1 < plan->cost.terms) continue;
    result = cuttPlanExecute(piece->permute[CUTT_RESULT], at.result, result_here, NULL);
    if (result) return result;
    if (steps) take_time(&steps->permute, &since);
  }
  return CUTT_SUCCESS;
}

/* Units that threads share. */
typedef struct shared_units {
  const execution *e;
  int64_t batch; /* that a thread takes at a time */
  bool timed;
  atomic_llong next;
  atomic_int failed, members;
  atomic_llong permute_ns, multiply_ns; /* summed over threads */
} shared_units;

static void do_units(void *what, int me, int team) {
  shared_units *w = what;
  const struct cuttContractionStruct *plan = w->e->plan;
  const int64_t units = plan->cost.units;
  cutt_walk walk = {.plan = plan};
  cutt_steps own = {0, 0};
  unsigned char *turn = w->e->operands->workspace + plan->turn_offset + (size_t)me * plan->turn_bytes;
  for (;;) {
    const int64_t first = atomic_fetch_add(&w->next, w->batch);
    if (first >= units || atomic_load(&w->failed)) break;
    for (int64_t unit = first; unit < first + w->batch && unit < units; ++unit) {
      const cuttResult result = do_unit(w->e, &walk, unit, turn, 1, w->timed ? &own : NULL);
      if (result) atomic_store(&w->failed, (int)result);
    }
  }
  atomic_store(&w->members, team);
  atomic_fetch_add(&w->permute_ns, (long long)(own.permute * 1e9));
  atomic_fetch_add(&w->multiply_ns, (long long)(own.multiply * 1e9));
}

/* Threads take units, a few neighbouring ones at a time, so that what they have packed serves again. */
static cuttResult spread_units(const execution *e, cutt_steps *steps) {
  const struct cuttContractionStruct *plan = e->plan;
  const int64_t batch = plan->cost.units / (8 * (int64_t)plan->threads);
  shared_units w = {.e = e, .batch = batch < 1 ? 1 : batch, .timed = steps != NULL};
  cutt_team_run(plan->threads, do_units, &w);
  if (steps) {
    steps->permute += 1e-9 * (double)atomic_load(&w.permute_ns) / atomic_load(&w.members);
    steps->multiply += 1e-9 * (double)atomic_load(&w.multiply_ns) / atomic_load(&w.members);
  }
  return result_of(&w.failed);
}

static cuttResult do_pieces(const execution *e, cutt_steps *steps) {
  const struct cuttContractionStruct *plan = e->plan;
  cuttResult result = CUTT_SUCCESS;
  double since = steps ? cutt_clock() : 0;
  for (int t = 0; t < 2 && !result; ++t)
    if (plan->stays[t])
      result = cuttPlanExecute(plan->kind[0]->permute[t], e->operands->operand[t],
                               e->operands->workspace + plan->shared_offset[t], NULL);
  if (steps) take_time(&steps->permute, &since);
  if (result) return result;
  if (plan->cost.spread) return spread_units(e, steps);
  cutt_walk walk = {.plan = plan};
  for (int64_t unit = 0; unit < plan->cost.units && !result; ++unit)
    result = do_unit(e, &walk, unit, e->operands->workspace + plan->turn_offset, plan->threads, steps);
  return result;
}

/* What is summed beforehand takes the operand's place. It counts as permuting: it is done to make the products possible. */
static cuttResult reduce(const struct cuttContractionStruct *plan, cutt_operands *operands, cutt_steps *steps) {
  double since = steps ? cutt_clock() : 0;
  for (int t = 0; t < 2; ++t) {
    if (!plan->reduce[t]) continue;
    const cutt_operands own = {{operands->operand[t], plan->unit},
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
  if (plan->scale)
    return cuttPlanExecute(plan->scale, plan->asked.beta_is_zero ? plan->zero : callers->result, callers->result, NULL);
  cutt_operands operands = *callers;
  cuttResult result = reduce(plan, &operands, steps);
  if (result) return result;
  execution e = {plan, &operands, NULL};
  result = plan->blas->begin(plan->blas, NULL, &e.session);
  if (result) return result;
  result = do_pieces(&e, steps);
  plan->blas->end(plan->blas, e.session);
  return result;
}
