/* Contractions of tensors in random layouts on 1 to 64 ranks, threads of this process, by each algorithm: every element against the
 * definition, and every byte beside them. With arguments: the case of that seed, on so many ranks: test_dist_contract SEED SIZE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "products.h"

static int only_size;
static uint64_t only_seed;
static int ran[5], tried[5];

static void try_seed(uint64_t seed, int size, const cuttDistComm_t *comms) {
  product_case c;
  char failure[FAILURE_BYTES];
  product_case_make(&c, seed, size);
  tried[c.options.algorithm]++;
  ran[c.options.algorithm] += product_case_try(&c, comms, failure);
  if (failure[0]) fail_msg("%s (test_dist_contract %llu %d)", failure, (unsigned long long)seed, size);
}

static void try_many(int size, int count) {
  cuttDistComm_t comms[MOST_RANKS];
  assert_success(cuttDistCommThreads(size, comms));
  for (int i = 0; i < count; i++) try_seed((uint64_t)(1000 * size + i), size, comms);
  for (int i = 0; i < size; i++) assert_success(cuttDistCommDestroy(comms[i]));
}

static void few_ranks(void **unused) {
  (void)unused;
  memset(ran, 0, sizeof ran);
  memset(tried, 0, sizeof tried);
  for (int size = 1; size <= 8; size++) try_many(size, test_scaled(60));
  for (int i = 0; i < 5; i++) print_message("algorithm %d: %d of %d done\n", i, ran[i], tried[i]);
  /* A case that is refused says nothing: enough of each have to be done. */
  for (int i = 0; i < 5 && test_scale() >= 1; i++) assert_true(ran[i] * 4 > tried[i]);
}

static void many_ranks(void **unused) {
  (void)unused;
  static const int sizes[] = {12, 16, 31, 64};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) try_many(sizes[i], test_scaled(8));
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
  if (count < 3) return cmocka_run_group_tests_name("dist_contract", tests, NULL, NULL);
  only_seed = strtoull(arguments[1], NULL, 10);
  only_size = atoi(arguments[2]);
  return cmocka_run_group_tests_name("dist_contract", one, NULL, NULL);
}
