/* Tensors over ranks whose memory is that of devices, without a GPU: the stand-ins for the driver and for NCCL, and kernels by the
 * emulator. Ranks are threads, each with a context of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/dist_setting.h"
#include "ranks.h"

/* What runs kernels otherwise. */
static void (*run_kernel)(const fake_launch *launch);

/* A rank that returns from an execution while another one writes is noticed by the latter, which gives it some time. */
static atomic_int returned, watching;

static void watch_others(void) {
  for (int i = 0; i < 60 && !atomic_load(&returned); i++) usleep(5000);
  if (atomic_load(&returned))
    snprintf(dist_fault, sizeof dist_fault, "a rank has returned while another one still writes");
}

static void watch_and_run(const fake_launch *launch) {
  if (atomic_exchange(&watching, 0)) watch_others();
  run_kernel(launch);
}

/* ---------------------------------------------------------------------------------------------------------- random cases */

typedef struct job {
  setting *s;
  dist_case c;
  char failure[DIST_MOST][FAILURE_BYTES];
} job;

static void try_rank(void *what, int rank) {
  job *j = what;
  fake->context_set(dist_context[rank]);
  dist_case_try_rank(&j->c, j->s->comms[rank], rank, j->failure[rank]);
  fake->context_set(NULL);
}

static void random_cases(kind k, bool direct, int count) {
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  for (int size = 1; size <= DIST_MOST; size++) {
    setting s;
    open_setting(&s, k, size);
    j->s = &s;
    for (int i = 0; i < test_scaled(count); i++) {
      dist_case_make(&j->c, (uint64_t)(10000 * (int)k + 1000 * size + i), size);
      cuttDistOptions_t *o = &j->c.options;
      j->c.on_device = true;
      o->backend = CUTT_BACKEND_CUDA;
      if (o->workspace_limit && o->workspace_limit < 1024) o->workspace_limit = 1024;
      if (!direct && o->direct == CUTT_DIST_DIRECT_ALWAYS) o->direct = CUTT_DIST_DIRECT_BY_COST;
      dist_try(size, try_rank, j, j->failure, j->c.seed);
    }
    close_setting(&s);
  }
  free(j);
}

static void between_threads(void **unused) {
  (void)unused;
  random_cases(THREADS, true, 40);
  assert_true(atomic_load(&fake->enabled) > 0);
}

static void by_nccl(void **unused) {
  (void)unused;
  random_cases(NCCL_BY_THREADS, true, 20);
  random_cases(NCCL_ALONE, true, 20);
}

static void through_the_host(void **unused) {
  (void)unused;
  atomic_store(&fake->opens, 0);
  random_cases(THROUGH_HOST, false, 30);
}

/* The same, with messages that take the device's memory: there is no pinned one. */
static void by_messages_of_the_device(void **unused) {
  (void)unused;
  atomic_store(&fake->opens, 0);
  fake->forget();
  random_cases(TAKES_DEVICES, false, 30);
  assert_int_equal(fixture_calls(FAKE_mem_host_alloc), 0);
}

/* The same ranks, where memory and events can be opened. */
static void between_processes(void **unused) {
  (void)unused;
  random_cases(THROUGH_HOST, true, 40);
}

/* --------------------------------------------------------------------------------------------------------- one execution */

enum { VOLUME = DIST_SIDE * DIST_SIDE * DIST_SIDE };

/* What is wrong on the last rank. */
typedef enum fault_kind { NOTHING, HOST_IN, HOST_OUT, OTHER_CONTEXT, CAPTURED, CPU_BACKEND } fault_kind;

typedef struct turn {
  setting *s;
  cuttDistDirect_t direct;
  fault_kind wrong;
  int trust;
  int fails; /* a function of the driver, or -1, and which of its calls, once all have their tensors */
  long fails_at;
  pthread_barrier_t returned;
  cuttResult created[DIST_MOST], executed[DIST_MOST], again[DIST_MOST];
  long heavy[DIST_MOST]; /* calls that make something, of all ranks, while each executed for the second time */
  bool right[DIST_MOST], is_direct[DIST_MOST];
  char text[DIST_MOST][FAILURE_BYTES];
} turn;

static void describe_turn(cuttDistLayout_t *from, cuttDistLayout_t *to, int *parts, int size) {
  parts[0] = parts[1] = 1;
  parts[2] = size;
  *from = *to = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
  from->modes = to->modes = 3;
  from->extents = to->extents = dist_cube;
  from->parts = to->parts = parts;
}

static void execute_turn(turn *t, int rank, cuttDistPlan_t plan, double *in, double *out) {
  const bool here = rank == t->s->size - 1;
  static double host[VOLUME];
  cudaStream_t stream = NULL;
  struct CUctx_st *other = NULL;
  if (here && t->wrong == CAPTURED) {
    static struct CUstream_st captured;
    captured.context = dist_context[rank];
    atomic_store(&captured.capturing, true);
    stream = &captured;
  }
  if (here && t->wrong == OTHER_CONTEXT) other = dist_other_context();
  t->executed[rank] = cuttDistPlanExecute(plan, here && t->wrong == HOST_IN ? host : in,
                                          here && t->wrong == HOST_OUT ? host : out, stream);
  if (t->executed[rank]) snprintf(t->text[rank], sizeof t->text[rank], "%s", cuttLastError());
  atomic_fetch_add(&returned, 1);
  dist_own_context(rank, other);
  const long before = dist_heavy_calls();
  t->again[rank] = cuttDistPlanExecute(plan, in, out, NULL);
  t->heavy[rank] = dist_heavy_calls() - before;
}

/* Reverses the modes of a cube. */
static void run_turn(void *what, int rank) {
  turn *t = what;
  cuttDistLayout_t from, to;
  int parts[3];
  static const int reversed[3] = {2, 1, 0};
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlanInfo_t info = {.struct_size = sizeof info};
  cuttDistPlan_t plan = NULL;
  void *in = NULL, *out = NULL;
  fake->context_set(dist_context[rank]);
  describe_turn(&from, &to, parts, t->s->size);
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = reversed;
  options.backend = t->wrong == CPU_BACKEND && rank == t->s->size - 1 ? CUTT_BACKEND_CPU : CUTT_BACKEND_CUDA;
  options.direct = t->direct;
  options.piece_bytes = 1024;
  options.trust_arguments = t->trust;
  const size_t bytes = (size_t)dist_cube_fill(&from, rank, NULL) * sizeof(double);
  t->created[rank] = cuttMemoryAllocate(CUTT_BACKEND_CUDA, bytes, &in);
  if (!t->created[rank]) t->created[rank] = cuttMemoryAllocate(CUTT_BACKEND_CUDA, bytes, &out);
  dist_fail(&t->returned, rank, t->fails, t->fails_at);
  dist_cube_fill(&from, rank, in);
  memset(out, 0xee, bytes);
  t->created[rank] = cuttDistPlanCreate(&plan, t->s->comms[rank], &problem, &options);
  if (t->created[rank]) {
    snprintf(t->text[rank], sizeof t->text[rank], "%s", cuttLastError());
  } else {
    cuttDistPlanGetInfo(plan, &info);
    t->is_direct[rank] = info.direct;
    execute_turn(t, rank, plan, in, out);
    t->right[rank] = !t->again[rank] && dist_cube_is_reversed(&to, rank, out);
  }
  pthread_barrier_wait(&t->returned); /* after a failure the others may still use what this one has */
  cuttDistPlanDestroy(plan);
  cuttMemoryFree(CUTT_BACKEND_CUDA, in);
  cuttMemoryFree(CUTT_BACKEND_CUDA, out);
  fake->context_set(NULL);
}

static turn *turn_with(setting *s, const turn *like) {
  turn *t = calloc(1, sizeof *t);
  assert_non_null(t);
  *t = *like;
  t->s = s;
  pthread_barrier_init(&t->returned, NULL, (unsigned)s->size);
  ranks_run(s->size, run_turn, t);
  pthread_barrier_destroy(&t->returned);
  atomic_store(&fake->fail, -1);
  if (dist_fault[0]) fail_msg("%s", dist_fault);
  return t;
}

static turn *turn_round(setting *s, cuttDistDirect_t direct, fault_kind wrong, int trust) {
  const turn like = {.direct = direct, .wrong = wrong, .trust = trust, .fails = -1};
  return turn_with(s, &like);
}

static void assert_right(const turn *t, bool direct) {
  for (int i = 0; i < t->s->size; i++) {
    if (t->created[i] || t->executed[i] || t->again[i]) fail_msg("rank %d: %s", i, t->text[i]);
    assert_true(t->right[i]);
    assert_int_equal(t->is_direct[i], direct);
  }
}

/* All ranks have the same error, and all is well afterwards. */
static void assert_refused(const turn *t, const char *words) {
  for (int i = 0; i < t->s->size; i++) {
    if (!t->created[i] && !t->executed[i]) fail_msg("rank %d has not heard of it", i);
    if (!strstr(t->text[i], words)) fail_msg("rank %d: \"%s\", wanted \"%s\"", i, t->text[i], words);
    assert_string_equal(t->text[i], t->text[0]);
    if (!t->created[i]) assert_true(t->right[i]);
  }
}

static const kind all_kinds[] = {THREADS, NCCL_BY_THREADS, NCCL_ALONE, THROUGH_HOST, TAKES_DEVICES};

/* An execution makes nothing, and opens what is another process's once. */
static void executions_make_nothing(void **unused) {
  (void)unused;
  for (int k = 0; k < 5; k++)
    for (int direct = 0; direct < 2; direct++)
      for (int size = 2; size <= 4; size++) {
        setting s;
        open_setting(&s, all_kinds[k], size);
        turn *t = turn_round(&s, direct ? CUTT_DIST_DIRECT_ALWAYS : CUTT_DIST_DIRECT_NEVER, NOTHING, 0);
        assert_right(t, direct);
        for (int i = 0; i < size; i++) assert_int_equal(t->heavy[i], 0);
        free(t);
        close_setting(&s);
      }
}

static void wrong_arguments(void **unused) {
  (void)unused;
  static const struct {
    fault_kind wrong;
    const char *words;
  } faults[] = {{HOST_IN, "rank 2: in is "},
                {HOST_OUT, "rank 2: out is "},
                {OTHER_CONTEXT, "rank 2: the plan is for context number"},
                {CPU_BACKEND, "rank 2"}};
  for (int k = 0; k < 4; k++)
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
      setting s;
      open_setting(&s, all_kinds[k], 3);
      turn *t = turn_round(&s, CUTT_DIST_DIRECT_NEVER, faults[f].wrong, 0);
      assert_refused(t, faults[f].words);
      free(t);
      close_setting(&s);
    }
  setting s;
  open_setting(&s, THREADS, 2);
  turn *t = turn_round(&s, CUTT_DIST_DIRECT_NEVER, CAPTURED, 0);
  assert_refused(t, "rank 1: stream is");
  assert_refused(t, "is being captured");
  free(t);
  close_setting(&s);
}

/* Without agreements, all but the first ranks' arguments being right. */
static void trusted_arguments(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, NCCL_ALONE, 3);
  turn *t = turn_round(&s, CUTT_DIST_DIRECT_NEVER, NOTHING, 1);
  assert_right(t, false);
  free(t);
  close_setting(&s);
}

/* Where ranks don't reach each other, plans are direct by no cost, and if asked for refused, with the reason. */
static void no_peer_access(void **unused) {
  (void)unused;
  atomic_store(&fake->peers, 0);
  atomic_store(&fake->opens, 0);
  for (int k = 0; k < 4; k++) {
    setting s;
    open_setting(&s, all_kinds[k], 3);
    turn *t = turn_round(&s, CUTT_DIST_DIRECT_ALWAYS, NOTHING, 0);
    assert_refused(t, "CUTT_DIST_DIRECT_ALWAYS, which can't be: rank 0: ");
    assert_refused(t, "peer access is not supported");
    free(t);
    /* Copies between devices go all the same. */
    t = turn_round(&s, CUTT_DIST_DIRECT_BY_COST, NOTHING, 0);
    assert_right(t, false);
    free(t);
    close_setting(&s);
  }
}

/* Each call of the driver's that creations and executions make fails once, on one rank: none hangs, and nothing is left. */
static void calls_of_the_driver_fail(void **unused) {
  (void)unused;
  static const int functions[] = {FAKE_stream_create,         FAKE_event_create,        FAKE_mem_alloc,
                                  FAKE_mem_host_alloc,        FAKE_event_record,        FAKE_stream_wait_event,
                                  FAKE_memcpy_async,          FAKE_launch_kernel,       FAKE_event_synchronize,
                                  FAKE_ipc_get_mem_handle,    FAKE_ipc_open_mem_handle, FAKE_mem_get_address_range,
                                  FAKE_ctx_enable_peer_access};
  const long step = test_scale() < 0.2 ? 21 : 3;
  for (int k = 0; k < 4; k++)
    for (int direct = 0; direct < 2; direct++)
      for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        for (long at = 1; at < 60; at += step) {
          setting s;
          atomic_store(&fake->failed, 0);
          open_setting(&s, all_kinds[k], 2);
          const turn like = {.direct = direct ? CUTT_DIST_DIRECT_ALWAYS : CUTT_DIST_DIRECT_NEVER,
                             .fails = functions[f],
                             .fails_at = at};
          turn *t = turn_with(&s, &like);
          const long failed = atomic_load(&fake->failed);
          for (int i = 0; i < 2 && failed; i++)
            if (t->again[i] == CUTT_SUCCESS && !t->created[i]) assert_true(t->right[i]);
          const bool any =
              t->created[0] || t->executed[0] || t->again[0] || t->created[1] || t->executed[1] || t->again[1];
          /* What can't be opened is tried again, when what was opened before is closed; and without it there are messages. */
          if (failed && !any && functions[f] != FAKE_ipc_open_mem_handle && all_kinds[k] != THROUGH_HOST)
            fail_msg("nobody has heard of call %ld of function %d, kind %d", at, functions[f], k);
          if (!failed) assert_right(t, direct);
          free(t);
          close_setting(&s);
          if (!failed) break;
        }
}

/* A launch of a direct execution fails on one rank: the ranks return together, with that rank's error, and what follows is right. */
static void a_direct_execution_fails(void **unused) {
  (void)unused;
  for (int k = 0; k < 4; k++) {
    setting s;
    open_setting(&s, all_kinds[k], 2);
    atomic_store(&returned, 0);
    atomic_store(&watching, 1);
    const turn like = {.direct = CUTT_DIST_DIRECT_ALWAYS, .fails = FAKE_launch_kernel, .fails_at = 1};
    turn *t = turn_with(&s, &like);
    for (int i = 0; i < 2; i++) {
      assert_int_equal(t->executed[i], CUTT_INTERNAL_ERROR);
      if (!strstr(t->text[i], "a failure on request")) fail_msg("rank %d: \"%s\"", i, t->text[i]);
      assert_string_equal(t->text[i], t->text[0]);
      assert_int_equal(t->again[i], CUTT_SUCCESS);
      assert_true(t->right[i]);
    }
    free(t);
    close_setting(&s);
  }
}

static void nccl_fails(void **unused) {
  (void)unused;
  for (int k = 1; k <= 2; k++)
    for (long at = 1; at < 12; at++) {
      setting s;
      open_setting(&s, all_kinds[k], 3);
      atomic_store(&dist_nccl->calls, 0);
      atomic_store(&dist_nccl->fail_at, at);
      turn *t = turn_round(&s, CUTT_DIST_DIRECT_NEVER, NOTHING, 0);
      atomic_store(&dist_nccl->fail_at, 0);
      int failed = 0;
      for (int i = 0; i < 3; i++) failed += t->created[i] || t->executed[i] || t->again[i];
      if (atomic_load(&dist_nccl->calls) >= at) assert_int_equal(failed, 3);
      free(t);
      close_setting(&s);
    }
}

static void communicators_are_checked(void **unused) {
  (void)unused;
  setting s;
  cuttDistComm_t comm = NULL, threads[2];
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  open_setting(&s, NCCL_ALONE, 1);
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommNccl(NULL, s.nccl[0], NULL), "comm is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommNccl(&comm, NULL, NULL), "nccl is NULL");
  assert_success(cuttDistCommThreads(2, threads));
  options.host = threads[0];
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommNccl(&comm, s.nccl[0], &options), "options->host is rank 0 of 2");
  options = (cuttDistNccl_t)CUTT_DIST_NCCL_INIT;
  options.seconds = -1;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommNccl(&comm, s.nccl[0], &options), "options->seconds is -1");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommSynchronize(s.comms[0], NULL, -1), "seconds is -1");
  assert_success(cuttDistCommSynchronize(s.comms[0], NULL, 1));
  assert_success(cuttDistCommDestroy(threads[0]));
  assert_success(cuttDistCommDestroy(threads[1]));
  close_setting(&s);
}

static int start(void **state) {
  const int result = dist_start(state);
  atomic_store(&watching, 0);
  run_kernel = fake->run;
  fake->run = watch_and_run;
  return result;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(between_threads, start, dist_end),
      cmocka_unit_test_setup_teardown(by_nccl, start, dist_end),
      cmocka_unit_test_setup_teardown(through_the_host, start, dist_end),
      cmocka_unit_test_setup_teardown(by_messages_of_the_device, start, dist_end),
      cmocka_unit_test_setup_teardown(between_processes, start, dist_end),
      cmocka_unit_test_setup_teardown(executions_make_nothing, start, dist_end),
      cmocka_unit_test_setup_teardown(wrong_arguments, start, dist_end),
      cmocka_unit_test_setup_teardown(trusted_arguments, start, dist_end),
      cmocka_unit_test_setup_teardown(no_peer_access, start, dist_end),
      cmocka_unit_test_setup_teardown(nccl_fails, start, dist_end),
      cmocka_unit_test_setup_teardown(communicators_are_checked, start, dist_end),
      cmocka_unit_test_setup_teardown(a_direct_execution_fails, start, dist_end),
      cmocka_unit_test_setup_teardown(calls_of_the_driver_fail, start, dist_end),
  };
  return cmocka_run_group_tests_name("cuda_dist", tests, dist_open, NULL);
}
