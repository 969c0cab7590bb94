/* Races (plan/race.h) of works that take what a script says, by a runtime that only adds that up. */
#include "base/clock.h"
#include "plan/race.h"
#include "support/check.h"

/* Seconds of the first run, and of all others. */
typedef struct scripted {
  double first, later;
  int runs;
} scripted;

static double taken;

static cuttResult run(const void *what, cudaStream_t stream) {
  scripted *s = (scripted *)(uintptr_t)what;
  (void)stream;
  taken += s->runs++ ? s->later : s->first;
  return CUTT_SUCCESS;
}

static cuttResult add_up(const cutt_work *work, cudaStream_t stream, int count, double *seconds) {
  for (int i = 0; i < count; ++i) {
    taken = 0;
    const cuttResult result = work->run(work->what, stream);
    if (result) return result;
    seconds[i] = taken;
  }
  return CUTT_SUCCESS;
}

static cuttResult prepare(void *data, int i) {
  (void)data;
  (void)i;
  return CUTT_SUCCESS;
}

static int race(scripted *script, double expected, cutt_racer list[2]) {
  static const cutt_runtime runtime = {.time = add_up};
  static const double limit = 0.05;
  const cutt_race the_race = {&runtime, NULL, cutt_clock() + limit, prepare, NULL};
  cuttResult result = CUTT_SUCCESS;
  int raced = 0;
  for (int i = 0; i < 2; ++i) list[i] = (cutt_racer){.work = {run, &script[i]}, .name = "test", .expected = expected};
  const int best = cutt_race_run(&the_race, list, 2, &raced, &result);
  assert_success(result);
  assert_int_equal(raced, 2);
  return best;
}

/* The first run of the faster one loads its kernels for longer than the whole race may take. */
static void test_loading(void **state) {
  (void)state;
  scripted script[] = {{20e-6, 20e-6, 0}, {0.09, 10e-6, 0}};
  cutt_racer list[2];
  assert_int_equal(race(script, 15e-6, list), 1);
  assert_true(list[1].first < 1e-3 && list[1].fastest > 0 && list[1].fastest < 11e-6);
  assert_true(list[0].fastest > 19e-6);
}

/* What takes what is expected of it, or of which nothing is expected, has one run to warm up. */
static void test_expected(void **state) {
  (void)state;
  for (int known = 0; known < 2; ++known) {
    scripted script[] = {{30e-6, 20e-6, 0}, {20e-6, 10e-6, 0}};
    cutt_racer list[2];
    assert_int_equal(race(script, known ? 15e-6 : 0, list), 1);
    assert_true(list[0].first > 29e-6 && list[1].first > 19e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_loading), cmocka_unit_test(test_expected)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
