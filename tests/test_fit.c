/* The fit of the model's parameters: known values come back, nothing gets below 0, and what is not seen does not move. */
#include <math.h>
#include <string.h>

#include "model/fit.h"
#include "support/check.h"

enum { PARAMETERS = 12, FIRST = 3, TERMS = 6, COUNT = 200 };

static cutt_equations equations;

/* Repeatable, evenly distributed over 0 to 1. */
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* Units as different as they come: what parameter p is about. */
static double size_of(int p) { return pow(10.0, (p * 5) % 13 - 6); }

/* Observations of parameters FIRST to FIRST + TERMS - 1, whose times are those of truth, but for noise. */
static void observe(cutt_observation *list, const double *truth, double noise, uint64_t seed) {
  for (int i = 0; i < COUNT; i++) {
    cutt_observation *o = &list[i];
    *o = (cutt_observation){.breakdown = {.first = FIRST, .count = TERMS}, .weight = 0.5 + draw(&seed)};
    for (int t = 0; t < TERMS; t++) {
      const double there = draw(&seed);
      o->breakdown.part[t] = there < 0.3 ? 0 : draw(&seed) / size_of(FIRST + t);
    }
    o->breakdown.part[0] = 1 / size_of(FIRST);
    o->seconds = cutt_breakdown_seconds(&o->breakdown, truth) * (1 + noise * (2 * draw(&seed) - 1));
  }
}

static void known_values_come_back(void **unused) {
  (void)unused;
  static cutt_observation list[COUNT];
  for (uint64_t seed = 1; seed <= 20; seed++) {
    static double truth[PARAMETERS];
    double start[PARAMETERS], value[PARAMETERS];
    uint64_t state = seed;
    for (int p = 0; p < PARAMETERS; p++) {
      truth[p] = size_of(p) * (0.2 + draw(&state));
      start[p] = truth[p] * (0.3 + 3 * draw(&state));
    }
    truth[FIRST + 2] = 0; /* one that costs nothing, though it was thought to */
    observe(list, truth, 0, seed);
    const double error = cutt_fit(list, COUNT, PARAMETERS, start, 0, &equations, value);
    assert_true(error < 1e-6);
    for (int p = 0; p < PARAMETERS; p++) {
      if (p < FIRST || p >= FIRST + TERMS) {
        assert_true(value[p] == start[p]); /* never seen */
      } else {
        assert_true(fabs(value[p] - truth[p]) < 1e-5 * size_of(p));
      }
    }
    observe(list, truth, 0.1, seed);
    const double noisy = cutt_fit(list, COUNT, PARAMETERS, start, 1e-5, &equations, value);
    assert_true(noisy > 0.02 && noisy < 0.1);
    for (int p = FIRST; p < FIRST + TERMS; p++) assert_true(fabs(value[p] - truth[p]) < 0.15 * size_of(p));
    /* start may be value. */
    double same[PARAMETERS];
    memcpy(same, start, sizeof same);
    assert_true(cutt_fit(list, COUNT, PARAMETERS, same, 1e-5, &equations, same) == noisy);
    assert_memory_equal(same, value, sizeof same);
  }
}

/* Times that only a negative value would explain: it becomes 0, and the others make the best of it. */
static void nothing_gets_below_zero(void **unused) {
  (void)unused;
  static cutt_observation list[COUNT];
  static double truth[PARAMETERS];
  double start[PARAMETERS], value[PARAMETERS];
  for (int p = 0; p < PARAMETERS; p++) truth[p] = start[p] = size_of(p);
  truth[FIRST + 4] = -0.2 * size_of(FIRST + 4);
  observe(list, truth, 0, 7);
  const double error = cutt_fit(list, COUNT, PARAMETERS, start, 0, &equations, value);
  assert_true(value[FIRST + 4] == 0);
  assert_true(error < 0.2);
  for (int p = 0; p < PARAMETERS; p++) assert_true(value[p] >= 0 && isfinite(value[p]));
}

/* From 0 a value may rise. */
static void zero_is_a_start(void **unused) {
  (void)unused;
  static cutt_observation list[COUNT];
  double truth[PARAMETERS], start[PARAMETERS] = {0}, value[PARAMETERS];
  for (int p = 0; p < PARAMETERS; p++) truth[p] = size_of(p);
  observe(list, truth, 0, 3);
  assert_true(cutt_fit(list, COUNT, PARAMETERS, start, 0, &equations, value) < 1e-5);
  for (int p = FIRST; p < FIRST + TERMS; p++) assert_true(fabs(value[p] - truth[p]) < 1e-3 * size_of(p));
  assert_true(value[0] == 0);
}

/* Two terms that always come together: their sum is known, and neither runs away. A strong ridge holds everything. */
static void what_is_not_determined_stays(void **unused) {
  (void)unused;
  static cutt_observation list[COUNT];
  static double truth[PARAMETERS];
  double start[PARAMETERS], value[PARAMETERS];
  for (int p = 0; p < PARAMETERS; p++) truth[p] = start[p] = size_of(p);
  start[FIRST + 1] *= 1.5;
  observe(list, truth, 0, 11);
  for (int i = 0; i < COUNT; i++) { /* term 3 is term 1 in other units */
    cutt_breakdown *breakdown = &list[i].breakdown;
    breakdown->part[3] = breakdown->part[1] * size_of(FIRST + 1) / size_of(FIRST + 3);
    list[i].seconds = cutt_breakdown_seconds(breakdown, truth);
  }
  assert_true(cutt_fit(list, COUNT, PARAMETERS, start, 1e-8, &equations, value) < 1e-4);
  const double one = value[FIRST + 1] / size_of(FIRST + 1), other = value[FIRST + 3] / size_of(FIRST + 3);
  assert_true(fabs(one + other - 2) < 1e-3 && one > 0.9 && one < 1.6 && other > 0.4 && other < 1.1);
  cutt_fit(list, COUNT, PARAMETERS, start, 1e6, &equations, value);
  for (int p = 0; p < PARAMETERS; p++) assert_true(fabs(value[p] - start[p]) < 1e-4 * size_of(p));
}

static void without_observations(void **unused) {
  (void)unused;
  const double start[PARAMETERS] = {1, 2, 3};
  double value[PARAMETERS];
  cutt_observation useless[] = {{.breakdown = {.first = 0, .count = 1, .part = {1}}, .seconds = 0, .weight = 1},
                                {.breakdown = {.first = 0, .count = 1, .part = {1}}, .seconds = 1, .weight = 0}};
  assert_true(cutt_fit(useless, 0, PARAMETERS, start, 1, &equations, value) == 0);
  assert_memory_equal(value, start, sizeof value);
  assert_true(cutt_fit(useless, 2, PARAMETERS, start, 1, &equations, value) == 0);
  assert_memory_equal(value, start, sizeof value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_values_come_back), cmocka_unit_test(nothing_gets_below_zero),
      cmocka_unit_test(zero_is_a_start),        cmocka_unit_test(what_is_not_determined_stays),
      cmocka_unit_test(without_observations),
  };
  return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
