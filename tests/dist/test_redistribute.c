/* Redistributions between random layouts on 1 to 64 ranks, threads of this process: every element against a permutation of the whole
 * tensor, and every byte beside them. With an argument: the case of that seed, on so many ranks: test_redistribute SEED SIZE. */
#include <stdio.h>
#include <stdlib.h>

#include "ranks.h"

static int only_size;
static uint64_t only_seed;

static void try_seed(uint64_t seed, int size, const cuttDistComm_t *comms) {
  dist_case c;
  char failure[FAILURE_BYTES];
  dist_case_make(&c, seed, size);
  dist_case_try(&c, comms, failure, NULL);
  if (failure[0]) fail_msg("%s (test_redistribute %llu %d)", failure, (unsigned long long)seed, size);
}

static void try_many(int size, int count) {
  cuttDistComm_t comms[MOST_RANKS];
  assert_success(cuttDistCommThreads(size, comms));
  for (int i = 0; i < count; i++) try_seed((uint64_t)(1000 * size + i), size, comms);
  for (int i = 0; i < size; i++) assert_success(cuttDistCommDestroy(comms[i]));
}

static void few_ranks(void **unused) {
  (void)unused;
  for (int size = 1; size <= 9; size++) try_many(size, test_scaled(120));
}

static void many_ranks(void **unused) {
  (void)unused;
  static const int sizes[] = {12, 16, 24, 31, 64};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) try_many(sizes[i], test_scaled(30));
}

static void only_one(void **unused) {
  (void)unused;
  cuttDistComm_t comms[MOST_RANKS];
  assert_success(cuttDistCommThreads(only_size, comms));
  try_seed(only_seed, only_size, comms);
  for (int i = 0; i < only_size; i++) assert_success(cuttDistCommDestroy(comms[i]));
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(few_ranks), cmocka_unit_test(many_ranks)};
  const struct CMUnitTest one[] = {cmocka_unit_test(only_one)};
  if (count < 3) return cmocka_run_group_tests_name("redistribute", tests, NULL, NULL);
  only_seed = strtoull(arguments[1], NULL, 10);
  only_size = atoi(arguments[2]);
  return cmocka_run_group_tests_name("redistribute", one, NULL, NULL);
}
