/* The order of what ranks do on devices, whose streams do their work late (fake_late.h): inputs are made and results looked at in
 * the caller's stream, and executions follow one another, without a wait of the host's. Whatever no event orders comes in another
 * order, and its values are wrong. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/fake_cublas.h"
#include "cuda/dist_setting.h"

static fake_cublas_t *blas;

enum { SIDE = 12, SMALL_SIDE = 24, LARGE_SIDE = 160, PANELS = 4, TENSORS = 3 };

/* Turns alternate between two streams, each with tensors of its own: what they share is the plan's. */
enum { STREAMS = 2 };

typedef struct job {
  setting *s;
  cuttDistDirect_t direct;
  int trust, turns;
  size_t piece;                  /* of a permutation */
  cuttDistAlgorithm_t algorithm; /* of a contraction */
  int64_t side;
  pthread_barrier_t done;
  struct CUstream_st stream[DIST_MOST][STREAMS];
  char failure[DIST_MOST][FAILURE_BYTES];
} job;

/* What a rank has. */
typedef struct part {
  job *j;
  int rank, turn;
  cuttDistLayout_t layout[TENSORS];
  int64_t extents[3], count[TENSORS];
  int parts[TENSORS][3];
  double *made[STREAMS][TENSORS], *memory[TENSORS]; /* of all, and of the turn */
} part;

static void allocate(part *p, int tensors) {
  for (int t = 0; t < tensors; t++) {
    cuttDistLocalCount(&p->layout[t], p->rank, &p->count[t]);
    for (int i = 0; i < STREAMS; i++) {
      void *made = NULL;
      p->j->stream[p->rank][i].context = dist_context[p->rank];
      cuttMemoryAllocate(CUTT_BACKEND_CUDA, (size_t)p->count[t] * sizeof(double), &made);
      p->made[i][t] = made;
    }
  }
}

static void release(part *p) {
  for (int i = 0; i < STREAMS * TENSORS; i++) cuttMemoryFree(CUTT_BACKEND_CUDA, p->made[i / TENSORS][i % TENSORS]);
}

static void lay_out(part *p, int t, int modes, int cut) {
  p->layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
  p->layout[t].modes = modes;
  p->layout[t].extents = p->extents;
  p->layout[t].parts = p->parts[t];
  for (int i = 0; i < modes; i++) p->parts[t][i] = i == cut ? p->j->s->size : 1;
}

/* Global indices of element i of a part; whatever is beyond the modes is 0. */
static void find(const part *p, int t, int64_t i, int64_t global[3]) {
  int64_t local[3] = {0, 0, 0}, own[3] = {1, 1, 1};
  global[2] = 0;
  cuttDistLocalExtents(&p->layout[t], p->rank, own);
  for (int mode = 0; mode < p->layout[t].modes; mode++) {
    local[mode] = i % own[mode];
    i /= own[mode];
  }
  cuttDistGlobal(&p->layout[t], p->rank, local, global);
}

static void say(const part *p, const char *what) {
  char *failure = p->j->failure[p->rank];
  if (!failure[0]) snprintf(failure, FAILURE_BYTES, "turn %d, rank %d: %s", p->turn, p->rank, what);
}

/* The three things that a turn gives the caller's stream. */
static void take_turns(part *p, void (*fill)(void *), cuttResult (*execute)(part *, void *plan, cudaStream_t),
                       void (*check)(void *), void *plan) {
  for (p->turn = 0; p->turn < p->j->turns; p->turn++) {
    cudaStream_t stream = &p->j->stream[p->rank][p->turn % STREAMS];
    memcpy(p->memory, p->made[p->turn % STREAMS], sizeof p->memory);
    fake->later(stream, fill, p, sizeof *p);
    if (execute(p, plan, stream)) say(p, cuttLastError());
    fake->later(stream, check, p, sizeof *p);
  }
  for (int i = 0; i < STREAMS; i++) fake->finish(&p->j->stream[p->rank][i]);
}

/* ---------------------------------------------------------------------------------------------------------- permutations */

static void fill_cube(void *data) {
  const part *p = data;
  int64_t global[3];
  for (int64_t i = 0; i < p->count[0]; i++) {
    find(p, 0, i, global);
    p->memory[0][i] = (double)(global[0] + 100 * global[1] + 10000 * global[2] + 1000000 * p->turn);
  }
  memset(p->memory[1], 0xee, (size_t)p->count[1] * sizeof(double));
}

static void check_cube(void *data) {
  const part *p = data;
  int64_t global[3];
  for (int64_t i = 0; i < p->count[1]; i++) {
    find(p, 1, i, global);
    if (p->memory[1][i] != (double)(global[2] + 100 * global[1] + 10000 * global[0] + 1000000 * p->turn)) {
      say(p, "a wrong element");
      return;
    }
  }
}

static cuttResult execute_cube(part *p, void *plan, cudaStream_t stream) {
  return cuttDistPlanExecute(plan, p->memory[0], p->memory[1], stream);
}

static void permute_rank(void *what, int rank) {
  static const int reversed[3] = {2, 1, 0};
  job *j = what;
  part p = {.j = j, .rank = rank, .extents = {SIDE, SIDE, SIDE}};
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  fake->context_set(dist_context[rank]);
  lay_out(&p, 0, 3, 2);
  lay_out(&p, 1, 3, 2);
  allocate(&p, 2);
  problem.type = CUTT_F64;
  problem.from = &p.layout[0];
  problem.to = &p.layout[1];
  problem.perm = reversed;
  options.backend = CUTT_BACKEND_CUDA;
  options.direct = j->direct;
  options.piece_bytes = j->piece;
  options.trust_arguments = j->trust;
  if (cuttDistPlanCreate(&plan, j->s->comms[rank], &problem, &options))
    say(&p, cuttLastError());
  else
    take_turns(&p, fill_cube, execute_cube, check_cube, plan);
  pthread_barrier_wait(&j->done);
  cuttDistPlanDestroy(plan);
  release(&p);
  fake->context_set(NULL);
}

/* ---------------------------------------------------------------------------------------------------------- contractions */

enum { PERIOD = 11 };

static double element(int tensor, int turn, int64_t row, int64_t column) {
  return (double)((row * 7 + column * 3 + 5 * tensor + row * column + turn) % PERIOD - 5);
}

static void fill_matrices(void *data) {
  const part *p = data;
  int64_t global[3];
  for (int t = 0; t < TENSORS; t++)
    for (int64_t i = 0; i < p->count[t]; i++) {
      find(p, t, i, global);
      p->memory[t][i] = element(t, p->turn, global[0], global[1]);
    }
}

/* Elements repeat after PERIOD rows and columns, and so do the sums of their products. */
static void check_matrix(void *data) {
  const part *p = data;
  double sum[PERIOD][PERIOD] = {{0}};
  int64_t global[3];
  for (int64_t row = 0; row < PERIOD; row++)
    for (int64_t column = 0; column < PERIOD; column++)
      for (int64_t k = 0; k < p->j->side; k++)
        sum[row][column] += element(0, p->turn, row, k) * element(1, p->turn, k, column);
  for (int64_t i = 0; i < p->count[2]; i++) {
    find(p, 2, i, global);
    const double wanted = 3 * element(2, p->turn, global[0], global[1]) + sum[global[0] % PERIOD][global[1] % PERIOD];
    if (p->memory[2][i] != wanted) {
      say(p, "a wrong element");
      return;
    }
  }
}

static cuttResult execute_contraction(part *p, void *plan, cudaStream_t stream) {
  return cuttDistContractionExecute(plan, p->memory[0], p->memory[1], p->memory[2], stream);
}

/* L and D by columns, R by rows: nothing fits. */
static void contract_rank(void *what, int rank) {
  static const double three = 3;
  job *j = what;
  part p = {.j = j, .rank = rank, .extents = {j->side, j->side, 1}};
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  cuttDistContractionPlan_t plan = NULL;
  fake->context_set(dist_context[rank]);
  for (int t = 0; t < TENSORS; t++) lay_out(&p, t, 2, t != 1);
  allocate(&p, TENSORS);
  c.pattern = "ab,bc->ac";
  c.type = CUTT_F64;
  c.left = &p.layout[0];
  c.right = &p.layout[1];
  c.result = &p.layout[2];
  c.beta = &three;
  options.algorithm = j->algorithm;
  options.direct = j->direct;
  options.panel = j->side / PANELS;
  options.backend = CUTT_BACKEND_CUDA;
  options.trust_arguments = j->trust;
  if (j->side == LARGE_SIDE) options.local_algorithm = "ttgt"; /* work by a library, between what ranks do themselves */
  if (cuttDistContractionPlanCreate(&plan, j->s->comms[rank], &c, &options))
    say(&p, cuttLastError());
  else
    take_turns(&p, fill_matrices, execute_contraction, check_matrix, plan);
  pthread_barrier_wait(&j->done);
  cuttDistContractionPlanDestroy(plan);
  release(&p);
  fake->context_set(NULL);
}

/* ------------------------------------------------------------------------------------------------------------- the tests */

/* Ranks that are threads; with NCCL, with and without agreements; processes that open each other's memory, and that don't. */
static const struct way {
  const char *name;
  kind kind;
  int opens, trust, direct; /* direct: they can write to each other's outputs */
} ways[] = {{"threads", THREADS, 1, 0, 1},
            {"NCCL", NCCL_BY_THREADS, 1, 0, 1},
            {"NCCL, trusted", NCCL_BY_THREADS, 1, 1, 0},
            {"processes", THROUGH_HOST, 1, 0, 1},
            {"by the host", THROUGH_HOST, 0, 0, 0},
            {"messages of the device", TAKES_DEVICES, 0, 0, 0}};
enum { WAYS = sizeof ways / sizeof *ways };

static void try_all(void (*rank)(void *, int), const job *like) {
  const int step = test_scale() < 0.2 ? 2 : 1; /* under sanitizers by turns */
  static int turn;
  for (int w = 0; w < WAYS; w++)
    for (int direct = 0; direct <= ways[w].direct; direct++)
      for (int size = 2 + turn++ % step; size <= 3; size += step) {
        setting s;
        job *j = calloc(1, sizeof *j);
        assert_non_null(j);
        atomic_store(&fake->opens, ways[w].opens);
        open_setting(&s, ways[w].kind, size);
        *j = *like;
        j->s = &s;
        j->direct = direct ? CUTT_DIST_DIRECT_ALWAYS : CUTT_DIST_DIRECT_NEVER;
        j->trust = ways[w].trust;
        pthread_barrier_init(&j->done, NULL, (unsigned)size);
        fake->late(true);
        dist_nccl->later = blas->later = fake->later;
        ranks_run(size, rank, j);
        dist_nccl->later = blas->later = NULL;
        fake->late(false);
        pthread_barrier_destroy(&j->done);
        if (dist_fault[0]) fail_msg("%s", dist_fault);
        for (int i = 0; i < size; i++)
          if (j->failure[i][0])
            fail_msg("%s, %s, %d ranks: %s", ways[w].name, direct ? "directly" : "messages", size, j->failure[i]);
        close_setting(&s);
        free(j);
      }
}

/* In two, so that the next execution soon wants the room of a copy that may still go on. */
static void two_rounds(void **unused) {
  (void)unused;
  const job like = {.side = SIDE, .piece = 2048, .turns = 16};
  try_all(permute_rank, &like);
}

/* In many rounds, which wait for the room of those before them. */
static void many_rounds(void **unused) {
  (void)unused;
  const job like = {.side = SIDE, .piece = 256, .turns = 4};
  try_all(permute_rank, &like);
}

static void contractions(void **unused) {
  (void)unused;
  static const cuttDistAlgorithm_t algorithms[] = {CUTT_DIST_REDISTRIBUTE, CUTT_DIST_SUMMA, CUTT_DIST_REDUCE};
  for (int a = 0; a < 3; a++) {
    const job like = {.algorithm = algorithms[a], .side = SMALL_SIDE, .turns = 4};
    try_all(contract_rank, &like);
  }
}

/* By the stand-in for cuBLAS; the smaller ones are computed in one pass. */
static void large_contractions(void **unused) {
  (void)unused;
  const job like = {.algorithm = CUTT_DIST_SUMMA, .side = LARGE_SIDE, .turns = 4};
  try_all(contract_rank, &like);
  assert_true(atomic_load(&blas->calls) > 0);
}

static int open_all(void **state) {
  if (dist_open(state)) return -1;
  blas = fake_cublas_named();
  return blas ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(two_rounds, dist_start, dist_end),
      cmocka_unit_test_setup_teardown(many_rounds, dist_start, dist_end),
      cmocka_unit_test_setup(contractions, dist_start),
      cmocka_unit_test_setup(large_contractions, dist_start),
  };
  return cmocka_run_group_tests_name("cuda_dist_order", tests, open_all, NULL);
}
