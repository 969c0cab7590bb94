/* Streams, threads and graphs: one plan in many streams and threads at once, work that starts in stream order and is not
 * waited for, and executions that are captured and replayed. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"

enum { STREAMS = 8, NOT_READY = 600 };

/* The inverse of a packed problem. */
static test_problem inverse_of(const test_problem *p) {
  int64_t extents[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
  for (int i = 0; i < p->rank; ++i) {
    extents[i] = p->extents[p->perm[i]];
    perm[p->perm[i]] = i;
  }
  return test_packed(p->type, p->rank, extents, perm);
}

static void many_streams(void **unused) {
  (void)unused;
  gpu_case c[STREAMS];
  gpu_address in[STREAMS], out[STREAMS];
  gpu_stream stream[STREAMS];
  for (int i = 0; i < STREAMS; ++i) {
    c[i] = gpu_case_make((uint64_t)i + 1);
    in[i] = gpu_case_in(&c[i]);
    out[i] = gpu_case_out(&c[i]);
    gpu_check(gpu.stream_create(&stream[i], i % 2 ? GPU_STREAM_NON_BLOCKING : 0));
  }
  cuttPlan_t plan = gpu_plan(&c[0].problem);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < STREAMS; ++i) {
      gpu_check(gpu.set_bytes_async(out[i], 0x11, c[i].bytes, stream[i]));
      assert_success(cuttPlanExecute(plan, gpu_pointer(in[i]), gpu_pointer(out[i]), stream[i]));
    }
  }
  assert_success(cuttPlanDestroy(plan)); /* what has been started does not need it */
  for (int i = 0; i < STREAMS; ++i) {
    gpu_check(gpu.stream_synchronize(stream[i]));
    if (!gpu_case_right(&c[i], out[i])) fail_msg("wrong in stream %d", i);
    gpu_check(gpu.stream_destroy(stream[i]));
    gpu_release(in[i]);
    gpu_release(out[i]);
    gpu_case_free(&c[i]);
  }
}

/* There and back again, many times over in one stream, without waiting in between. */
static void executions_follow_each_other(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(20);
  const test_problem back = inverse_of(&c.problem);
  cuttPlan_t plan = gpu_plan(&c.problem), plan_back = gpu_plan(&back);
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  gpu_stream stream;
  gpu_check(gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING));
  for (int round = 0; round < 200; ++round) {
    assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), stream));
    gpu_check(gpu.set_bytes_async(in, (unsigned char)round, c.bytes, stream));
    assert_success(cuttPlanExecute(plan_back, gpu_pointer(out), gpu_pointer(in), stream));
    gpu_check(gpu.set_bytes_async(out, (unsigned char)round, c.bytes, stream));
  }
  assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), stream));
  gpu_check(gpu.stream_synchronize(stream));
  assert_true(gpu_case_right(&c, out));
  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttPlanDestroy(plan_back));
  gpu_check(gpu.stream_destroy(stream));
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

/* Behind work of many milliseconds, planning and executing return at once. */
static void nothing_is_waited_for(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(21);
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  const size_t long_bytes = (size_t)256 << 20;
  const gpu_address long_work = gpu_allocate(long_bytes);
  assert_success(cuttPlanDestroy(gpu_plan(&c.problem))); /* the first plan in a context loads the kernels */
  gpu_stream stream;
  gpu_check(gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING));
  for (int i = 0; i < 400; ++i) gpu_check(gpu.set_bytes_async(long_work, (unsigned char)i, long_bytes, stream));
  cuttPlan_t plan = gpu_plan(&c.problem);
  assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), stream));
  assert_success(cuttPlanDestroy(plan));
  assert_int_equal(gpu.stream_query(stream), NOT_READY);
  gpu_check(gpu.stream_synchronize(stream));
  assert_true(gpu_case_right(&c, out));
  gpu_check(gpu.stream_destroy(stream));
  gpu_release(long_work);
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

/* ------------------------------------------------------------------------------------------------ threads */

enum { THREADS = 8 };

typedef struct job {
  int number;
  cuttPlan_t plan;
  gpu_case c;
  gpu_address in, out;
  char failure[256]; /* "" when all went well; cmocka's own failures belong to the main thread */
} job;

static void *execute_many_times(void *argument) {
  job *j = argument;
  gpu_stream stream = NULL;
  if (gpu.context_set(gpu.primary) || (j->number > 0 && gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING))) {
    snprintf(j->failure, sizeof j->failure, "no stream");
    return NULL;
  }
  for (int round = 0; round < 60 && !j->failure[0]; ++round) {
    if (gpu.set_bytes_async(j->out, (unsigned char)round, j->c.bytes, stream)) j->failure[0] = '?';
    if (cuttPlanExecute(j->plan, gpu_pointer(j->in), gpu_pointer(j->out), stream) != CUTT_SUCCESS)
      snprintf(j->failure, sizeof j->failure, "%.200s", cuttLastError());
    else if (gpu.stream_synchronize(stream) || !gpu_case_right(&j->c, j->out))
      snprintf(j->failure, sizeof j->failure, "a wrong result");
    /* And plans of one's own, whose kernels are the same. */
    cuttPlan_t own = NULL;
    const cuttProblem_t view = test_problem_view(&j->c.problem);
    if (round % 10 == 0 && (cuttPlanCreate(&own, &view, NULL) != CUTT_SUCCESS || cuttPlanDestroy(own) != CUTT_SUCCESS))
      snprintf(j->failure, sizeof j->failure, "%.200s", cuttLastError());
  }
  if (stream) gpu.stream_destroy(stream);
  return NULL;
}

static void many_threads(void **unused) {
  (void)unused;
  static job jobs[THREADS];
  pthread_t thread[THREADS];
  const gpu_case model = gpu_case_make(0);
  cuttPlan_t plan = gpu_plan(&model.problem);
  for (int i = 0; i < THREADS; ++i) {
    jobs[i] = (job){.number = i, .plan = plan, .c = gpu_case_make((uint64_t)i + 40)};
    jobs[i].in = gpu_case_in(&jobs[i].c);
    jobs[i].out = gpu_case_out(&jobs[i].c);
  }
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_create(&thread[i], NULL, execute_many_times, &jobs[i]), 0);
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; ++i) {
    if (jobs[i].failure[0]) fail_msg("thread %d: %s", i, jobs[i].failure);
    gpu_release(jobs[i].in);
    gpu_release(jobs[i].out);
    gpu_case_free(&jobs[i].c);
  }
  assert_success(cuttPlanDestroy(plan));
  gpu_case unneeded = model;
  gpu_case_free(&unneeded);
}

/* ------------------------------------------------------------------------------------------------ graphs */

/* Captures two executions, the second of what the first gives, and replays them on other inputs. mode: how strict the
 * driver is about calls that don't belong into a capture; 0 is the strictest. */
static void capture_and_replay(int mode, bool plan_inside) {
  gpu_case c = gpu_case_make(60);
  const test_problem back = inverse_of(&c.problem);
  cuttPlan_t plan = NULL, plan_back = gpu_plan(&back);
  const gpu_address in = gpu_case_in(&c), middle = gpu_case_out(&c), out = gpu_case_out(&c);
  gpu_stream stream;
  gpu_graph graph = NULL;
  gpu_graph_exec executable = NULL;
  gpu_check(gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING));
  if (!plan_inside) plan = gpu_plan(&c.problem);
  gpu_check(gpu.capture_begin(stream, mode));
  if (plan_inside) plan = gpu_plan(&c.problem);
  assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(middle), stream));
  assert_success(cuttPlanExecute(plan_back, gpu_pointer(middle), gpu_pointer(out), stream));
  gpu_check(gpu.capture_end(stream, &graph));
  size_t nodes = 0;
  gpu_check(gpu.graph_nodes(graph, NULL, &nodes));
  assert_int_equal(nodes, 2);
  gpu_check(gpu.graph_instantiate(&executable, graph, 0));
  /* Only now may anything have happened. The graph holds all that it needs. */
  gpu_check(gpu.to_host(c.got, middle, c.bytes));
  for (size_t i = 0; i < c.bytes; ++i) assert_int_equal(c.got[i], 0xa5);
  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttPlanDestroy(plan_back));
  for (uint64_t round = 0; round < 5; ++round) {
    gpu_case_refill(&c, 70 + round);
    gpu_check(gpu.to_device(in, c.in, c.bytes));
    gpu_check(gpu.synchronize());
    gpu_check(gpu.graph_launch(executable, stream));
    gpu_check(gpu.stream_synchronize(stream));
    assert_true(gpu_case_right(&c, middle));
    gpu_check(gpu.to_host(c.got, out, c.bytes));
    assert_memory_equal(c.got, c.in, c.bytes);
  }
  gpu_check(gpu.graph_exec_destroy(executable));
  gpu_check(gpu.graph_destroy(graph));
  gpu_check(gpu.stream_destroy(stream));
  gpu_release(in);
  gpu_release(middle);
  gpu_release(out);
  gpu_case_free(&c);
}

static void captured_and_replayed(void **unused) {
  (void)unused;
  capture_and_replay(GPU_CAPTURE_RELAXED, false);
  capture_and_replay(0, false);
}

static void planned_while_capturing(void **unused) {
  (void)unused;
  capture_and_replay(GPU_CAPTURE_RELAXED, true);
  capture_and_replay(0, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_streams),          cmocka_unit_test(executions_follow_each_other),
      cmocka_unit_test(nothing_is_waited_for), cmocka_unit_test(many_threads),
      cmocka_unit_test(captured_and_replayed), cmocka_unit_test(planned_while_capturing),
  };
  if (!gpu_open()) return 77;
  return cmocka_run_group_tests_name("gpu streams", tests, NULL, NULL);
}
