/* Handles of programs that never destroy one: more problems than plans are kept ready, all of which stay valid. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "plan/handles.h"
#include "support/buffers.h"
#include "support/check.h"

static uint32_t set_most_ready(uint32_t most) { return atomic_exchange(&cutt_handles_most_ready, most); }

/* ---------------------------------------------------------------------------------------- a million different problems */

enum { MANY = 1048577 + 4096 }; /* more than 2^20, which was a limit once */

static int64_t most_kilobytes(void) {
  struct rusage usage;
  assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_maxrss;
}

static void execute_copy(cuttHandle handle, int bytes, const unsigned char *in, unsigned char *out) {
  memset(out, 0xee, (size_t)bytes + 1);
  assert_success(cuttExecute(handle, in, out));
  assert_memory_equal(out, in, (size_t)bytes);
  assert_int_equal(out[bytes], 0xee);
}

static void a_million_that_are_never_destroyed(void **unused) {
  (void)unused;
  const int count = test_scaled(10) < 3 ? MANY / 50 : MANY; /* under sanitizers fewer */
  const uint32_t ready = 1000, before = set_most_ready(ready);
  const int64_t start = most_kilobytes();
  cuttHandle *handles = malloc((size_t)count * sizeof *handles);
  unsigned char *in = malloc(MANY), *out = malloc(MANY + 1);
  assert_true(handles && in && out);
  test_fill_bits(in, MANY, 1, 4);
  static const int same[1] = {0};
  for (int i = 0; i < count; i++) {
    const int dim[1] = {i + 1};
    if (cuttPlan(&handles[i], 1, dim, same, 1, 0) != CUTT_SUCCESS) fail_msg("problem %d: %s", i, cuttLastError());
    if (atomic_load(&cutt_handles_ready) > ready) fail_msg("%u are ready", atomic_load(&cutt_handles_ready));
  }
  /* As plans they would take 8 KB each; as problems, with the table, less than 500 bytes. */
  if (count == MANY) assert_in_range(most_kilobytes() - start, 0, 20000 + (int64_t)count / 2);
  for (int i = 0; i < count; i += 4099) {
    cuttHandle again = 0;
    const int dim[1] = {i + 1};
    execute_copy(handles[i], i + 1, in, out);
    assert_success(cuttPlan(&again, 1, dim, same, 1, 0));
    assert_int_equal(again, handles[i]);
    assert_success(cuttDestroy(again));
  }
  for (int i = 0; i < count; i++)
    if (cuttDestroy(handles[i]) != CUTT_SUCCESS) fail_msg("handle %d: %s", i, cuttLastError());
  assert_int_equal(atomic_load(&cutt_handles_ready), 0);
  assert_result(CUTT_INVALID_PLAN, cuttExecute(handles[0], in, out), "handle");
  free(handles);
  free(in);
  free(out);
  set_most_ready(before);
}

/* -------------------------------------------------------------------------------------- what is made again is as it was */

enum { SHAPES = 60, LARGEST = 30 * 31 };

static void shape(int i, int dim[2]) {
  dim[0] = 2 + i % 29;
  dim[1] = 2 + i * 7 % 30;
}

static cuttHandle plan_shape(int i) {
  static const int swapped[2] = {1, 0};
  int dim[2];
  cuttHandle handle = 0;
  shape(i, dim);
  assert_success(cuttPlan(&handle, 2, dim, swapped, 4, 0));
  return handle;
}

static bool is_transposed(int i, const uint32_t *in, const uint32_t *out) {
  int dim[2];
  shape(i, dim);
  for (int a = 0; a < dim[0]; a++)
    for (int b = 0; b < dim[1]; b++)
      if (out[b + dim[1] * a] != in[a + dim[0] * b]) return false;
  return true;
}

/* The candidate of a handle's plan, which is made again if it was set aside; *was: had it been? */
static cutt_candidate candidate_of(cuttHandle handle, const uint32_t *in, uint32_t *out, bool *was) {
  cutt_held held;
  assert_success(cutt_handle_hold(handle, &held));
  *was = !held.plan;
  cutt_handle_release(&held);
  assert_success(cuttExecute(handle, in, out));
  assert_success(cutt_handle_hold(handle, &held));
  assert_non_null(held.plan);
  const cutt_candidate candidate = held.plan->choice.candidate;
  assert_int_equal(held.plan->choice.by, held.plan->choice.measured_seconds > 0 ? CUTT_BY_MEASURING : CUTT_BY_MODEL);
  cutt_handle_release(&held);
  return candidate;
}

static void the_same_plan_again(void **unused) {
  (void)unused;
  static uint32_t in[LARGEST], out[LARGEST];
  static const int dim[2] = {30, 31}, swapped[2] = {1, 0};
  const float alpha = 2;
  cuttHandle handles[SHAPES], measured = 0;
  cutt_candidate before[SHAPES + 1], after;
  bool was = false;
  const uint32_t most = set_most_ready(1000);
  test_fill_bits(in, sizeof in, 4, 1);
  assert_success(cuttPlanMeasure(&measured, 2, dim, swapped, 4, 0, in, out));
  before[SHAPES] = candidate_of(measured, in, out, &was);
  assert_false(was);
  for (int i = 0; i < SHAPES; i++) {
    handles[i] = plan_shape(i);
    before[i] = candidate_of(handles[i], in, out, &was);
    assert_false(was);
  }
  set_most_ready(4);
  for (int i = 0; i < 40; i++) cuttDestroy(plan_shape(SHAPES + i)); /* each planning sets some aside */
  assert_in_range(atomic_load(&cutt_handles_ready), 1, 5);
  for (int i = 0; i < SHAPES; i++) {
    memset(out, 0xee, sizeof out);
    after = candidate_of(handles[i], in, out, &was);
    assert_true(was);
    assert_true(is_transposed(i, in, out));
    assert_true(cutt_candidate_equal(&before[i], &after));
  }
  after = candidate_of(measured, in, out, &was);
  assert_true(was);
  assert_true(cutt_candidate_equal(&before[SHAPES], &after));
  /* The other calls that need the plan. */
  for (int i = 0; i < 6; i++) assert_success(cuttExecute(handles[i], in, out));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanMeasure(&handles[0], 2, dim, swapped, 4, 0, in, in + 1), "overlap");
  static float values[LARGEST], doubled[LARGEST];
  for (int i = 0; i < LARGEST; i++) values[i] = (float)i;
  assert_success(cuttExecuteScaled(measured, values, doubled, &alpha, NULL));
  assert_true(doubled[1] == 2.0f * 30);
  /* A plan that was executed since it was last looked at stays. */
  set_most_ready(2);
  for (int i = 0; i < 20; i++) {
    assert_success(cuttExecute(measured, in, out));
    assert_success(cuttExecute(handles[i % 3 + 1], in, out));
    cutt_held held;
    assert_success(cutt_handle_hold(measured, &held));
    assert_non_null(held.plan);
    cutt_handle_release(&held);
  }
  for (int i = 0; i < SHAPES; i++) assert_success(cuttDestroy(handles[i]));
  assert_success(cuttDestroy(measured));
  assert_int_equal(atomic_load(&cutt_handles_ready), 0);
  set_most_ready(most);
}

/* ------------------------------------------------------------------------------------------------------- many threads */

enum { THREADS = 6 };
typedef struct job {
  int number;
  const cuttHandle *handles;
  const uint32_t *in;
  char failure[200];
} job;

/* Executes handles that all share while each sets others' plans aside. */
static void *execute_all(void *argument) {
  job *j = argument;
  uint32_t *out = malloc(LARGEST * sizeof *out);
  for (int i = 0; out && i < 40 + test_scaled(4000) && !j->failure[0]; i++) {
    const int at = (i * (7 + j->number) + j->number) % SHAPES;
    memset(out, 0xee, LARGEST * sizeof *out);
    if (cuttExecute(j->handles[at], j->in, out) != CUTT_SUCCESS)
      snprintf(j->failure, sizeof j->failure, "cuttExecute: %.150s", cuttLastError());
    else if (!is_transposed(at, j->in, out))
      snprintf(j->failure, sizeof j->failure, "handle %d: a wrong result", at);
    if (i % 5) continue;
    static const int swapped[2] = {1, 0};
    const int dim[2] = {100 + j->number, 2 + i};
    cuttHandle own = 0;
    if (cuttPlan(&own, 2, dim, swapped, 4, 0) != CUTT_SUCCESS || cuttDestroy(own) != CUTT_SUCCESS)
      snprintf(j->failure, sizeof j->failure, "one of its own: %.150s", cuttLastError());
  }
  free(out);
  return NULL;
}

static void executed_while_set_aside(void **unused) {
  (void)unused;
  static uint32_t in[LARGEST];
  cuttHandle handles[SHAPES];
  pthread_t thread[THREADS];
  job jobs[THREADS];
  const uint32_t most = set_most_ready(3);
  test_fill_bits(in, sizeof in, 4, 2);
  for (int i = 0; i < SHAPES; i++) handles[i] = plan_shape(i);
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (job){i, handles, in, ""};
    assert_int_equal(pthread_create(&thread[i], NULL, execute_all, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; i++)
    if (jobs[i].failure[0]) fail_msg("thread %d: %s", i, jobs[i].failure);
  for (int i = 0; i < SHAPES; i++) assert_success(cuttDestroy(handles[i]));
  set_most_ready(most);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_million_that_are_never_destroyed),
      cmocka_unit_test(the_same_plan_again),
      cmocka_unit_test(executed_while_set_aside),
  };
  return cmocka_run_group_tests_name("handles", tests, NULL, NULL);
}
