/* Random problems by the hundred thousand on the CPU: each is planned, executed and held to the plain definition, and now and
 * then every candidate is. What the property tests (support/property.c) draw is aimed at code; this is drawn from all there is.
 *
 * Usage: test_random COUNT [FIRST]. Each problem has random numbers of its own, by its number, so that FIRST continues where
 * another run has ended. CUTT_TEST_SCALE takes a part of COUNT; CUTT_TEST_SEED draws others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/engine.h"

enum { MOST_FAULTS = 8 }; /* until no more are tried */

static long first, count;

/* One in so many problems is done in more ways than the chosen one. */
enum { ALL_CANDIDATES = 16, CHANGED_CANDIDATES = 64 };

static void random_problems(void **unused) {
  (void)unused;
  static const struct {
    int percent; /* of the problems */
    test_limits limits;
  } kinds[] = {
      {35, {0, 5, 2000, 0, 30, 30, 2}},   /* small ones, as programs have most of */
      {30, {1, 8, 6000, 0, 60, 50, 3}},   /* strides and scalars */
      {20, {6, 16, 10000, 0, 30, 30, 3}}, /* many modes */
      {8, {17, CUTT_MAX_RANK, 8000, 0, 30, 20, 3}},
      {6, {2, 6, 60000, 0, 30, 30, 3}},  /* beyond the first cache */
      {1, {2, 6, 700000, 0, 30, 30, 4}}, /* threads */
  };
  enum { KINDS = sizeof kinds / sizeof *kinds };
  const char *seed = getenv("CUTT_TEST_SEED");
  const uint64_t base = seed ? strtoull(seed, NULL, 10) : 0;
  int faults = 0;
  for (long number = first; number < first + count; number++) {
    test_rng rng = {test_mix(base * 1000003 + (uint64_t)number + 1)};
    int kind = 0;
    for (int64_t at = test_random_in(&rng, 0, 99); at >= kinds[kind].percent; kind++) at -= kinds[kind].percent;
    assert_true(kind < KINDS);
    const test_problem p = test_random_problem(&rng, &kinds[kind].limits);
    const unsigned what =
        TEST_CHOSEN | (number % ALL_CANDIDATES ? 0 : TEST_ALL) | (number % CHANGED_CANDIDATES ? 0 : TEST_MUTANTS);
    if (test_try(&p, what)) continue;
    if (++faults == MOST_FAULTS) break;
  }
  assert_int_equal(faults, 0);
}

/* What one instruction set leaves out of a list, another takes: the two narrow ones with halves, the two wide ones, and all
 * four with quarters. */
static void parts_are_the_whole(void **unused) {
  (void)unused;
  static const char *const sets[] = {"sse2", "avx2", "avx512", "avx512vbmi"};
  static const struct {
    int first, count;
    double part;
  } groups[] = {{0, 2, 0.5}, {2, 2, 0.5}, {0, 4, 0.25}};
  enum { TURNS = 3000 };
  const char *isa = getenv("CUTT_CPU_ISA");
  char *before = isa ? strdup(isa) : NULL;
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    for (int turn = 0; turn < TURNS; turn++) {
      int taken = 0;
      for (int set = groups[g].first; set < groups[g].first + groups[g].count; set++) {
        setenv("CUTT_CPU_ISA", sets[set], 1);
        taken += test_taken(turn, groups[g].part);
        assert_true(test_taken(turn, 1));
      }
      assert_int_equal(taken, 1);
    }
  }
  if (before)
    setenv("CUTT_CPU_ISA", before, 1);
  else
    unsetenv("CUTT_CPU_ISA");
  free(before);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_are_the_whole), cmocka_unit_test(random_problems)};
  count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  first = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  if (count < 1 || count > 1000000000 || first < 0) {
    fprintf(stderr, "usage: test_random COUNT [FIRST]\n");
    return 2;
  }
  if (getenv("CUTT_TEST_SCALE")) count = test_scaled((int)count);
  const int failed = cmocka_run_group_tests_name("random", tests, NULL, NULL);
  test_try_report();
  test_try_cleanup();
  return failed;
}
