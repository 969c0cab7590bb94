/* Contractions of tensors over ranks whose memory is that of devices, without a GPU (dist_setting.h); products by the stand-in for
 * cuBLAS. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/fake_cublas.h"
#include "cuda/dist_setting.h"
#include "products.h"

static fake_cublas_t *blas;

/* ---------------------------------------------------------------------------------------------------------- random cases */

typedef struct job {
  setting *s;
  product_case c;
  bool ran[DIST_MOST];
  char failure[DIST_MOST][FAILURE_BYTES];
} job;

static void try_rank(void *what, int rank) {
  job *j = what;
  fake->context_set(dist_context[rank]);
  j->ran[rank] = product_case_try_rank(&j->c, j->s->comms[rank], rank, j->failure[rank]);
  fake->context_set(NULL);
}

/* What the stand-in for cuBLAS multiplies, with two operands; and it takes its time. */
static bool draw(job *j, uint64_t seed, int size, bool direct) {
  product_case *c = &j->c;
  product_case_make(c, seed, size);
  cuttDistContractionOptions_t *o = &c->options;
  c->on_device = true;
  if (test_type_complex(c->type) || c->type == CUTT_F64 || c->type == CUTT_F32)
    o->backend = CUTT_BACKEND_CUDA;
  else
    return false;
  if (!direct && o->direct == CUTT_DIST_DIRECT_ALWAYS) o->direct = CUTT_DIST_DIRECT_BY_COST;
  return !c->one;
}

static int done[5], tried[5];

static void random_cases(kind k, bool direct, int count) {
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  for (int size = 1; size <= DIST_MOST; size++) {
    setting s;
    open_setting(&s, k, size);
    j->s = &s;
    for (int i = 0, seed = 0; i < test_scaled(count); seed++) {
      if (!draw(j, (uint64_t)(10000 * (int)k + 1000 * size + seed), size, direct)) continue;
      i++;
      j->c.options.trust_arguments = i % 2;
      dist_try(size, try_rank, j, j->failure, j->c.seed);
      tried[j->c.options.algorithm]++;
      done[j->c.options.algorithm] += j->ran[0];
    }
    close_setting(&s);
  }
  free(j);
}

static void between_threads(void **unused) {
  (void)unused;
  memset(done, 0, sizeof done);
  memset(tried, 0, sizeof tried);
  random_cases(THREADS, true, 24);
  for (int i = 0; i < 5; i++) print_message("algorithm %d: %d of %d done\n", i, done[i], tried[i]);
  /* A case that is refused says nothing: enough of each have to be done. */
  for (int i = 0; i < 5 && test_scale() >= 1; i++) assert_true(done[i] * 5 > tried[i]);
}

static void by_nccl(void **unused) {
  (void)unused;
  random_cases(NCCL_BY_THREADS, true, 12);
  random_cases(NCCL_ALONE, true, 12);
}

static void through_the_host(void **unused) {
  (void)unused;
  atomic_store(&fake->opens, 0);
  random_cases(THROUGH_HOST, false, 12);
}

/* The same ranks, where memory and events can be opened. */
static void between_processes(void **unused) {
  (void)unused;
  random_cases(THROUGH_HOST, true, 12);
}

/* --------------------------------------------------------------------------------------------------------- one execution */

/* The larger side is for cuBLAS; the smaller one's products are done in one pass. */
enum { SIDE = 24, LARGE_SIDE = 320, PANELS = 4, PERIOD = 11 };

/* What is wrong on the last rank. */
typedef enum fault_kind {
  NOTHING,
  HOST_LEFT,
  HOST_RESULT,
  NULL_RIGHT,
  OTHER_CONTEXT,
  CAPTURED,
  CPU_BACKEND,
  OTHER_TRUST
} fault_kind;

typedef struct turn {
  setting *s;
  int64_t side; /* 0: SIDE */
  cuttDistAlgorithm_t algorithm;
  cuttDistDirect_t direct;
  fault_kind wrong;
  int trust;
  bool captured; /* the second execution, on all ranks */
  int fails;     /* a function of the driver, or -1, and which of its calls, once all have their tensors */
  long fails_at;
  int fails_gemm;
  pthread_barrier_t meet;
  struct CUstream_st stream[DIST_MOST];
  cuttResult created[DIST_MOST], executed[DIST_MOST], again[DIST_MOST];
  long heavy[DIST_MOST];  /* calls that make something, of all ranks, while each executed for the second time */
  long beside[DIST_MOST]; /* kernels in another stream than the caller's, of an execution */
  bool right[DIST_MOST], joined[DIST_MOST];
  char text[DIST_MOST][FAILURE_BYTES];
} turn;

static _Thread_local const turn *own_turn;
static _Thread_local int own_rank;
static void (*run_kernel)(const fake_launch *launch);

static void count_and_run(const fake_launch *launch) {
  turn *t = (turn *)(uintptr_t)own_turn;
  if (t && launch->stream != &t->stream[own_rank]) t->beside[own_rank]++;
  run_kernel(launch);
}

static double element(int tensor, int64_t row, int64_t column) {
  return (double)((row * 7 + column * 3 + 5 * tensor + row * column) % PERIOD - 5);
}

static int64_t side_of(const turn *t) { return t->side ? t->side : SIDE; }

/* L and D by columns, R by rows: nothing fits. */
static void set_layouts(int size, const int64_t square[2], cuttDistLayout_t *layout, int parts[3][2]) {
  for (int t = 0; t < 3; t++) {
    parts[t][0] = t == 1 ? size : 1;
    parts[t][1] = t == 1 ? 1 : size;
    layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    layout[t].modes = 2;
    layout[t].extents = square;
    layout[t].parts = parts[t];
  }
}

/* Elements of a part, or those that the result has to have: three times its own and the product. Elements repeat after PERIOD rows
 * and columns, and so do the sums of their products. */
static void fill(const cuttDistLayout_t *layout, int rank, int tensor, double *part, bool product) {
  int64_t local[2], index[2], global[2];
  double sum[PERIOD][PERIOD] = {{0}};
  for (int64_t row = 0; row < PERIOD && product; row++)
    for (int64_t column = 0; column < PERIOD; column++)
      for (int64_t k = 0; k < layout->extents[0]; k++) sum[row][column] += element(0, row, k) * element(1, k, column);
  cuttDistLocalExtents(layout, rank, local);
  for (index[1] = 0; index[1] < local[1]; index[1]++)
    for (index[0] = 0; index[0] < local[0]; index[0]++) {
      double *at = &part[index[0] + local[0] * index[1]];
      cuttDistGlobal(layout, rank, index, global);
      *at = element(tensor, global[0], global[1]) * (product ? 3 : 1) + sum[global[0] % PERIOD][global[1] % PERIOD];
    }
}

static cuttResult plan_turn(const turn *t, int rank, const cuttDistLayout_t *layout, cuttDistContractionPlan_t *plan) {
  static const double three = 3;
  const bool odd = rank == t->s->size - 1;
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  c.pattern = "ab,bc->ac";
  c.type = CUTT_F64;
  c.left = &layout[0];
  c.right = &layout[1];
  c.result = &layout[2];
  c.beta = &three;
  options.algorithm = t->algorithm;
  options.direct = t->direct;
  options.panel = side_of(t) / PANELS;
  options.backend = odd && t->wrong == CPU_BACKEND ? CUTT_BACKEND_CPU : CUTT_BACKEND_CUDA;
  options.trust_arguments = t->trust || (odd && t->wrong == OTHER_TRUST);
  if (t->fails_gemm) options.local_algorithm = "ttgt"; /* else there may be no product to fail */
  return cuttDistContractionPlanCreate(plan, t->s->comms[rank], &c, &options);
}

static void execute_turn(turn *t, int rank, cuttDistContractionPlan_t plan, double *const memory[3]) {
  const fault_kind wrong = rank == t->s->size - 1 ? t->wrong : NOTHING;
  static double host[LARGE_SIDE * LARGE_SIDE];
  struct CUctx_st *other = NULL;
  cudaStream_t stream = &t->stream[rank];
  atomic_store(&stream->capturing, wrong == CAPTURED);
  if (wrong == OTHER_CONTEXT) {
    other = dist_other_context();
    stream = NULL;
  }
  t->executed[rank] =
      cuttDistContractionExecute(plan, wrong == HOST_LEFT ? host : memory[0], wrong == NULL_RIGHT ? NULL : memory[1],
                                 wrong == HOST_RESULT ? host : memory[2], stream);
  if (t->executed[rank]) snprintf(t->text[rank], sizeof t->text[rank], "%s", cuttLastError());
  dist_own_context(rank, other);
  atomic_store(&t->stream[rank].capturing, false);
}

/* The second execution, as it is or captured for a graph, and then as it is once more. Streams of the stand-in do all at once, also
 * while they are captured. */
static void execute_again(turn *t, int rank, cuttDistContractionPlan_t plan, double *const memory[3],
                          const cuttDistLayout_t *layout) {
  cudaStream_t stream = &t->stream[rank];
  if (t->captured) {
    fake->capture_begin(stream);
    pthread_barrier_wait(&t->meet);
    atomic_store(&fake->capture_is_on, 1);
    t->again[rank] = cuttDistContractionExecute(plan, memory[0], memory[1], memory[2], stream);
    pthread_barrier_wait(&t->meet);
    atomic_store(&fake->capture_is_on, 0);
    t->joined[rank] = fake->capture_end(stream);
    if (t->again[rank]) return;
    fill(&layout[2], rank, 2, memory[2], false);
  }
  t->again[rank] = cuttDistContractionExecute(plan, memory[0], memory[1], memory[2], stream);
}

static void run_turn(void *what, int rank) {
  turn *t = what;
  cuttDistLayout_t layout[3];
  int parts[3][2];
  const int64_t square[2] = {side_of(t), side_of(t)};
  double wanted[LARGE_SIDE * LARGE_SIDE], *memory[3] = {NULL, NULL, NULL};
  int64_t count[3];
  cuttDistContractionPlan_t plan = NULL;
  fake->context_set(dist_context[rank]);
  t->stream[rank].context = dist_context[rank];
  set_layouts(t->s->size, square, layout, parts);
  for (int k = 0; k < 3; k++) {
    void *made = NULL;
    cuttDistLocalCount(&layout[k], rank, &count[k]);
    cuttMemoryAllocate(CUTT_BACKEND_CUDA, (size_t)count[k] * 8, &made);
    memory[k] = made;
    fill(&layout[k], rank, k, memory[k], false);
  }
  fill(&layout[2], rank, 2, wanted, true);
  dist_fail(&t->meet, rank, t->fails, t->fails_at);
  own_rank = rank;
  t->created[rank] = plan_turn(t, rank, layout, &plan);
  if (t->created[rank]) {
    snprintf(t->text[rank], sizeof t->text[rank], "%s", cuttLastError());
  } else {
    execute_turn(t, rank, plan, memory);
    if (!t->executed[rank]) fill(&layout[2], rank, 2, memory[2], false);
    const long before = dist_heavy_calls();
    own_turn = t;
    execute_again(t, rank, plan, memory, layout);
    own_turn = NULL;
    t->heavy[rank] = dist_heavy_calls() - before;
    t->right[rank] = !t->again[rank] && memcmp(memory[2], wanted, (size_t)count[2] * 8) == 0;
    if (t->again[rank] && !t->text[rank][0]) snprintf(t->text[rank], sizeof t->text[rank], "%s", cuttLastError());
  }
  pthread_barrier_wait(&t->meet); /* after a failure the others may still use what this one has */
  cuttDistContractionPlanDestroy(plan);
  for (int k = 0; k < 3; k++) cuttMemoryFree(CUTT_BACKEND_CUDA, memory[k]);
  fake->context_set(NULL);
}

static turn *turn_with(setting *s, const turn *like) {
  turn *t = calloc(1, sizeof *t);
  assert_non_null(t);
  *t = *like;
  t->s = s;
  pthread_barrier_init(&t->meet, NULL, (unsigned)s->size);
  atomic_store(&blas->fail_gemm, t->fails_gemm);
  ranks_run(s->size, run_turn, t);
  atomic_store(&blas->fail_gemm, 0);
  pthread_barrier_destroy(&t->meet);
  atomic_store(&fake->fail, -1);
  if (dist_fault[0]) fail_msg("%s", dist_fault);
  return t;
}

static void assert_right(const turn *t) {
  for (int i = 0; i < t->s->size; i++) {
    if (t->created[i] || t->executed[i] || t->again[i]) fail_msg("rank %d: %s", i, t->text[i]);
    assert_true(t->right[i]);
  }
}

static const kind all_kinds[] = {THREADS, NCCL_BY_THREADS, NCCL_ALONE, THROUGH_HOST};
enum { KINDS = sizeof all_kinds / sizeof *all_kinds };

/* From the second execution on: the first has cuBLAS make its handles. Panels move beside the caller's stream. */
static void executions_make_nothing(void **unused) {
  (void)unused;
  static const cuttDistAlgorithm_t algorithms[] = {CUTT_DIST_REDISTRIBUTE, CUTT_DIST_SUMMA, CUTT_DIST_REDUCE};
  run_kernel = fake->run;
  fake->run = count_and_run;
  for (int k = 0; k < KINDS; k++)
    for (int a = 0; a < 3; a++)
      for (int size = 2; size <= 3; size++) {
        setting s;
        open_setting(&s, all_kinds[k], size);
        const turn like = {.algorithm = algorithms[a], .direct = CUTT_DIST_DIRECT_NEVER, .fails = -1};
        turn *t = turn_with(&s, &like);
        assert_right(t);
        long beside = 0;
        for (int i = 0; i < size; i++) {
          assert_int_equal(t->heavy[i], 0);
          beside += t->beside[i];
        }
        assert_true(algorithms[a] != CUTT_DIST_SUMMA ? beside == 0 : beside >= PANELS);
        free(t);
        close_setting(&s);
      }
}

/* By NCCL's messages, also within panels, whose streams join the capture and are joined to it again. Nothing waits, and what comes
 * after the capture does not wait for what was recorded in it. */
static void captured_by_nccl(void **unused) {
  (void)unused;
  static const cuttDistAlgorithm_t algorithms[] = {CUTT_DIST_REDISTRIBUTE, CUTT_DIST_SUMMA, CUTT_DIST_REDUCE};
  for (int k = 1; k <= 2; k++)
    for (int a = 0; a < 3; a++)
      for (int large = 0; large < 2; large++)
        for (int trust = 0; trust < 2; trust++) {
          setting s;
          if (large && test_scale() < 0.2 && (k + a + trust) % 2)
            continue; /* under sanitizers by turns: each takes seconds */
          open_setting(&s, all_kinds[k], 2 + a % 2);
          const turn like = {.side = large ? LARGE_SIDE : SIDE,
                             .algorithm = algorithms[a],
                             .direct = CUTT_DIST_DIRECT_NEVER,
                             .trust = trust,
                             .captured = true,
                             .fails = -1};
          turn *t = turn_with(&s, &like);
          assert_right(t);
          for (int i = 0; i < s.size; i++) assert_true(t->joined[i]);
          assert_int_equal(atomic_load(&fake->forbidden), 0);
          free(t);
          close_setting(&s);
        }
}

/* What is not NCCL's is refused, on all ranks. */
static void captured_otherwise(void **unused) {
  (void)unused;
  static const struct {
    kind kind;
    cuttDistDirect_t direct;
  } rows[] = {{THREADS, CUTT_DIST_DIRECT_NEVER},
              {THROUGH_HOST, CUTT_DIST_DIRECT_NEVER},
              {NCCL_BY_THREADS, CUTT_DIST_DIRECT_ALWAYS},
              {NCCL_ALONE, CUTT_DIST_DIRECT_ALWAYS}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setting s;
    open_setting(&s, rows[i].kind, 3);
    const turn like = {.algorithm = CUTT_DIST_SUMMA, .direct = rows[i].direct, .wrong = CAPTURED, .fails = -1};
    turn *t = turn_with(&s, &like);
    for (int rank = 0; rank < 3; rank++) {
      if (t->created[rank]) fail_msg("rank %d: %s", rank, t->text[rank]);
      assert_int_equal(t->executed[rank], CUTT_INVALID_PARAMETER);
      assert_non_null(strstr(t->text[rank], "rank 2: stream is"));
      assert_non_null(strstr(t->text[rank], "only contractions that send messages by NCCL can be"));
      assert_int_equal(t->again[rank], CUTT_SUCCESS);
    }
    free(t);
    close_setting(&s);
  }
}

/* All ranks have the same error, and all is well afterwards. */
static void wrong_arguments(void **unused) {
  (void)unused;
  static const struct {
    fault_kind wrong;
    const char *words;
  } faults[] = {{HOST_LEFT, "rank 2: left is "},           {HOST_RESULT, "rank 2: result is "},
                {NULL_RIGHT, "rank 2: right is NULL"},     {OTHER_CONTEXT, "rank 2: the plan is for context number"},
                {OTHER_TRUST, "rank 2 has other options"}, {CPU_BACKEND, "rank 2"}};
  for (int k = 0; k < KINDS; k++)
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
      setting s;
      open_setting(&s, all_kinds[k], 3);
      const turn like = {.algorithm = CUTT_DIST_SUMMA, .wrong = faults[f].wrong, .fails = -1};
      turn *t = turn_with(&s, &like);
      for (int i = 0; i < 3; i++) {
        if (!t->created[i] && !t->executed[i]) fail_msg("fault %zu: rank %d has not heard of it", f, i);
        if (!strstr(t->text[i], faults[f].words)) fail_msg("\"%s\", wanted \"%s\"", t->text[i], faults[f].words);
        assert_string_equal(t->text[i], t->text[0]);
        if (!t->created[i]) assert_int_equal(t->again[i], CUTT_SUCCESS);
      }
      free(t);
      close_setting(&s);
    }
}

/* Products fail, and so does each call of the driver's that creations and executions make, once, on one rank: none hangs, nothing is
 * left, and whoever says that it is done has the right result. */
static void calls_fail(void **unused) {
  (void)unused;
  static const int functions[] = {FAKE_stream_create,     FAKE_event_create, FAKE_mem_alloc,     FAKE_event_record,
                                  FAKE_stream_wait_event, FAKE_memcpy_async, FAKE_launch_kernel, FAKE_mem_host_alloc};
  const long step = test_scale() < 0.5 ? 17 : 4, most = test_scale() < 0.5 ? 50 : 80;
  for (int k = 0; k < KINDS; k++)
    for (int f = -1; f < (int)(sizeof functions / sizeof *functions); f++)
      for (long at = 1; at < most; at += step) {
        setting s;
        atomic_store(&fake->failed, 0);
        open_setting(&s, all_kinds[k], 2);
        const turn like = {.side = f < 0 ? LARGE_SIDE : SIDE,
                           .algorithm = CUTT_DIST_SUMMA,
                           .direct = CUTT_DIST_DIRECT_NEVER,
                           .fails = f < 0 ? -1 : functions[f],
                           .fails_at = at,
                           .fails_gemm = f < 0 ? 14 : 0};
        turn *t = turn_with(&s, &like);
        const bool failed = f < 0 || atomic_load(&fake->failed) > 0;
        bool any = false;
        for (int i = 0; i < 2; i++) {
          any = any || t->created[i] || t->executed[i] || t->again[i];
          if (!t->created[i] && !t->executed[i] && !t->again[i]) assert_true(t->right[i]);
        }
        /* cuBLAS's handle is not used again then, which only the log says. */
        if (failed && !any && (f < 0 || functions[f] != FAKE_event_record))
          fail_msg("nobody has heard of call %ld of function %d, kind %d", at, f, k);
        if (!failed) assert_right(t);
        free(t);
        close_setting(&s);
        if (!failed || f < 0) break;
      }
}

/* ---------------------------------------------------------------------------------------------------------- set-up, main */

static int open_all(void **state) {
  if (dist_open(state)) return -1;
  blas = fake_cublas_named();
  return blas ? 0 : -1;
}

/* cuBLAS's handles are kept, each with an event. */
static int end(void **state) {
  (void)state;
  for (int i = 0; i < DIST_MOST; i++) fake->context_destroy(dist_context[i]);
  fixture_end_but_events();
  assert_int_equal(atomic_load(&blas->faults), 0);
  assert_int_equal(atomic_load(&fake->alive_events), atomic_load(&blas->alive));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(between_threads, dist_start, end),
      cmocka_unit_test_setup_teardown(by_nccl, dist_start, end),
      cmocka_unit_test_setup_teardown(through_the_host, dist_start, end),
      cmocka_unit_test_setup_teardown(between_processes, dist_start, end),
      cmocka_unit_test_setup_teardown(executions_make_nothing, dist_start, end),
      cmocka_unit_test_setup_teardown(captured_by_nccl, dist_start, end),
      cmocka_unit_test_setup_teardown(captured_otherwise, dist_start, end),
      cmocka_unit_test_setup_teardown(wrong_arguments, dist_start, end),
      cmocka_unit_test_setup_teardown(calls_fail, dist_start, end),
  };
  return cmocka_run_group_tests_name("cuda_dist_contract", tests, open_all, NULL);
}
