/* Many threads at once, with nothing but the interface between them: one plan executed by all, plans created and
 * destroyed by each, handles, wisdom. Meant for ThreadSanitizer, and worth something without it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

enum { THREADS = 6 };

typedef struct job {
  int number;
  cuttPlan_t plan;
  cuttHandle handle;
  cuttWisdom_t wisdom;
  const test_problem *problem;
  const unsigned char *in, *expected;
  size_t bytes;
  const char *path;
  char failure[256]; /* "" when all went well; cmocka's own failures belong to the main thread */
} job;

static void run_all(void *(*work)(void *), job *jobs) {
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++) {
    jobs[i].number = i;
    jobs[i].failure[0] = 0;
    assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; i++)
    if (jobs[i].failure[0]) fail_msg("thread %d: %s", i, jobs[i].failure);
}

static void *failed(job *j, const char *what) {
  snprintf(j->failure, sizeof j->failure, "%s: %.200s", what, cuttLastError());
  return NULL;
}

static unsigned char *make_input(const test_problem *p, unsigned char **expected, size_t *bytes) {
  *bytes = (size_t)test_volume(p) * test_type_bytes(p->type);
  unsigned char *in = malloc(*bytes);
  *expected = malloc(*bytes);
  assert_non_null(in);
  assert_non_null(*expected);
  test_fill_bits(in, *bytes, test_type_bytes(p->type), p->seed);
  test_reference(p, in, *expected);
  return in;
}

static void *execute_plan(void *argument) {
  job *j = argument;
  unsigned char *out = malloc(j->bytes);
  if (!out) snprintf(j->failure, sizeof j->failure, "no memory for %zu bytes of output", j->bytes);
  for (int i = 0; i < 12 && !j->failure[0]; i++) {
    memset(out, 0xee, j->bytes);
    if (cuttPlanExecute(j->plan, j->in, out, NULL) != CUTT_SUCCESS)
      failed(j, "cuttPlanExecute");
    else if (memcmp(out, j->expected, j->bytes) != 0)
      snprintf(j->failure, sizeof j->failure, "a wrong result");
  }
  free(out);
  return NULL;
}

/* Plans p for so many threads, and executes that one plan from all of the test's threads at once. */
static void execute_by_all(const test_problem *p, int threads) {
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.threads = threads;
  job jobs[THREADS];
  memset(jobs, 0, sizeof jobs);
  unsigned char *expected, *in = make_input(p, &expected, &jobs[0].bytes);
  assert_success(cuttPlanCreate(&jobs[0].plan, &view, &options));
  jobs[0].in = in;
  jobs[0].expected = expected;
  for (int i = 1; i < THREADS; i++) jobs[i] = jobs[0];
  run_all(execute_plan, jobs);
  assert_success(cuttPlanDestroy(jobs[0].plan));
  free(in);
  free(expected);
}

static void one_plan_many_threads(void **unused) {
  (void)unused;
  static const int64_t extents[][4] = {{31, 7, 12, 9}, {3, 5, 90, 41}, {128, 64, 2, 3}};
  static const int perms[][4] = {{3, 1, 0, 2}, {2, 3, 0, 1}, {1, 0, 2, 3}};
  for (int n = 0; n < 3; n++) {
    for (int threads = 1; threads <= 2; threads++) {
      const test_problem p = test_packed(CUTT_BYTES_4, 4, extents[n], perms[n]);
      execute_by_all(&p, threads);
    }
  }
}

/* A plan large enough to use threads of its own, while others do the same. */
static void one_large_plan_many_threads(void **unused) {
  (void)unused;
  const int64_t extents[3] = {151, 70, 131};
  const int perm[3] = {2, 1, 0};
  const test_problem p = test_packed(CUTT_BYTES_8, 3, extents, perm);
  execute_by_all(&p, 3);
}

static void *make_and_break_plans(void *argument) {
  job *j = argument;
  test_rng rng = {(uint64_t)j->number};
  const test_limits limits = {1, 6, 2000, CUTT_BYTES_4, 0, 0, 2};
  for (int i = 0; i < test_scaled(150); i++) {
    const test_problem p = test_random_problem(&rng, &limits);
    const cuttProblem_t view = test_problem_view(&p);
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    cuttPlan_t plan;
    uint32_t in[2000], out[2000], expected[2000];
    options.threads = p.threads;
    const size_t bytes = (size_t)test_volume(&p) * 4;
    test_fill_bits(in, bytes, 4, p.seed);
    test_reference(&p, in, expected);
    if (cuttPlanCreate(&plan, &view, &options) != CUTT_SUCCESS) return failed(j, "cuttPlanCreate");
    if (cuttPlanExecute(plan, in, out, NULL) != CUTT_SUCCESS) return failed(j, "cuttPlanExecute");
    if (memcmp(out, expected, bytes) != 0) return failed(j, "a wrong result");
    char text[256];
    if (cuttPlanDescribe(plan, CUTT_JSON, text, sizeof text, NULL) != CUTT_SUCCESS)
      return failed(j, "cuttPlanDescribe");
    if (cuttDevicesDescribe(CUTT_TEXT, text, sizeof text, NULL) != CUTT_SUCCESS)
      return failed(j, "cuttDevicesDescribe");
    if (cuttPlanDestroy(plan) != CUTT_SUCCESS) return failed(j, "cuttPlanDestroy");
    /* A failure in between, whose text is this thread's own. */
    char value[32];
    snprintf(value, sizeof value, "%d", -1000 - j->number);
    cuttProblem_t wrong = view;
    wrong.rank = -1000 - j->number;
    if (cuttPlanCreate(&plan, &wrong, NULL) != CUTT_INVALID_PARAMETER || !strstr(cuttLastError(), value))
      return failed(j, "another thread's error");
  }
  return NULL;
}

static void plans_come_and_go(void **unused) {
  (void)unused;
  job jobs[THREADS];
  memset(jobs, 0, sizeof jobs);
  run_all(make_and_break_plans, jobs);
}

static void *make_and_break_handles(void *argument) {
  job *j = argument;
  static int dim[2] = {9, 14}, swapped[2] = {1, 0};
  uint16_t in[9 * 14], out[9 * 14];
  cuttHandle held[20] = {0};
  test_fill_bits(in, sizeof in, 2, (uint64_t)j->number);
  for (int i = 0; i < test_scaled(400); i++) {
    cuttHandle *h = &held[i % 20];
    if (*h && cuttDestroy(*h) != CUTT_SUCCESS) return failed(j, "cuttDestroy");
    if (cuttPlan(h, 2, dim, swapped, 2, 0) != CUTT_SUCCESS) return failed(j, "cuttPlan");
    if (cuttExecute(held[i * 7 % 20 <= i ? i * 7 % 20 : 0], in, out) != CUTT_SUCCESS) return failed(j, "cuttExecute");
    for (int a = 0; a < 9; a++)
      for (int b = 0; b < 14; b++)
        if (in[a + 9 * b] != out[b + 14 * a]) return failed(j, "a wrong result");
    /* The one that all threads share. */
    if (cuttExecute(j->handle, in, out) != CUTT_SUCCESS) return failed(j, "cuttExecute of the shared handle");
  }
  for (int i = 0; i < 20; i++)
    if (held[i] && cuttDestroy(held[i]) != CUTT_SUCCESS) return failed(j, "cuttDestroy");
  return NULL;
}

static void handles_come_and_go(void **unused) {
  (void)unused;
  int dim[2] = {9, 14}, swapped[2] = {1, 0};
  job jobs[THREADS];
  memset(jobs, 0, sizeof jobs);
  assert_success(cuttPlan(&jobs[0].handle, 2, dim, swapped, 2, 0));
  for (int i = 1; i < THREADS; i++) jobs[i] = jobs[0];
  run_all(make_and_break_handles, jobs);
  assert_success(cuttDestroy(jobs[0].handle));
}

static void *learn(void *argument) {
  job *j = argument;
  for (int i = 0; i < 10; i++) {
    const int64_t extents[3] = {4 + (i + j->number) % 7, 6, 8};
    const int perm[3] = {2, 1, 0};
    cuttProblem_t p = CUTT_PROBLEM_INIT;
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    cuttPlan_t plan;
    p.rank = 3;
    p.type = CUTT_BYTES_4;
    p.extents = extents;
    p.perm = perm;
    options.threads = 1;
    options.choice = CUTT_MEASURE;
    options.measure_seconds = 0.002;
    options.wisdom = j->wisdom;
    if (cuttPlanCreate(&plan, &p, &options) != CUTT_SUCCESS) return failed(j, "cuttPlanCreate");
    if (cuttPlanDestroy(plan) != CUTT_SUCCESS) return failed(j, "cuttPlanDestroy");
    if (i % 3 == 0 && cuttWisdomSave(j->wisdom, j->path) != CUTT_SUCCESS) return failed(j, "cuttWisdomSave");
    if (i % 3 == 1) {
      /* Whoever saved last, the file is whole. */
      size_t ignored = 0;
      if (cuttWisdomLoad(j->wisdom, j->path, NULL, &ignored) != CUTT_SUCCESS) return failed(j, "cuttWisdomLoad");
      if (ignored) return failed(j, "a file that was being saved is damaged");
    }
  }
  return NULL;
}

static void wisdom_is_shared(void **unused) {
  (void)unused;
  char path[] = "/tmp/cutt-threads-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  job jobs[THREADS];
  memset(jobs, 0, sizeof jobs);
  assert_success(cuttWisdomCreate(&jobs[0].wisdom));
  jobs[0].path = path;
  for (int i = 1; i < THREADS; i++) jobs[i] = jobs[0];
  run_all(learn, jobs);
  assert_success(cuttWisdomDestroy(jobs[0].wisdom));
  unlink(path);
}

/* Small problems stay on one thread, and no plan takes more than it was given. */
static void threads_are_not_wasted(void **unused) {
  (void)unused;
  static const int64_t sizes[] = {2, 16, 32, 200, 1500, 5000};
  static const int perm[2] = {1, 0};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (int most = 0; most <= 4; most++) {
      const int64_t extents[2] = {sizes[i], sizes[i]};
      const test_problem p = test_packed(CUTT_BYTES_4, 2, extents, perm);
      const cuttProblem_t view = test_problem_view(&p);
      cuttOptions_t options = CUTT_OPTIONS_INIT;
      cuttPlanInfo_t info = {.struct_size = sizeof info};
      cuttPlan_t plan;
      options.threads = most;
      assert_success(cuttPlanCreate(&plan, &view, &options));
      assert_success(cuttPlanGetInfo(plan, &info));
      assert_success(cuttPlanDestroy(plan));
      assert_true(info.threads >= 1 && (most == 0 || info.threads <= most));
      if (sizes[i] <= 32) assert_int_equal(info.threads, 1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_plan_many_threads), cmocka_unit_test(one_large_plan_many_threads),
      cmocka_unit_test(plans_come_and_go),     cmocka_unit_test(handles_come_and_go),
      cmocka_unit_test(wisdom_is_shared),      cmocka_unit_test(threads_are_not_wasted),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
