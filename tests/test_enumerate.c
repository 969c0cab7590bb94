/* The search among candidates on a GPU (gpu/enumerate.c): branch and bound must not change what is found, and no plan may
 * take long to make, whatever the shape. */
#include <stdio.h>

#include "gpu/cost.h"
#include "gpu/launch.h"
#include "plan/plan.h"
#include "support/check.h"
#include "support/problem.h"

static void make_problem(test_rng *rng, int most_rank, cutt_canonical *canonical) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  int64_t extents[16];
  int perm[16];
  const int rank = (int)test_random_in(rng, 1, most_rank);
  const int64_t largest = rank < 4 ? 4000 : rank < 7 ? 60 : 12;
  for (int j = 0; j < rank; j++) {
    perm[j] = j;
    extents[j] = test_random_in(rng, 1, test_chance(rng, 40) ? 8 : largest);
  }
  test_shuffle(rng, perm, rank);
  const test_problem problem = test_packed(types[test_random_in(rng, 0, 4)], rank, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  assert_success(cutt_canonicalize(&view, canonical));
}

/* A list as long as it may be, and each of its candidates as the price says, in order; and the first by itself. */
static void the_first_is_the_same(void **unused) {
  (void)unused;
  static const char *const keys[] = {"h200", "a100", "v100", "p100", "k20x"};
  test_rng rng = {.state = 20261120};
  for (int i = 0; i < test_scaled(2000); i++) {
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES], first;
    make_problem(&rng, 12, &canonical);
    const cutt_device *device = cutt_device_find(keys[i % 5]);
    assert_non_null(device);
    const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
    assert_int_equal(cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, &first, 1), 1);
    assert_true(count >= 1 && count <= CUTT_MAX_CANDIDATES);
    assert_true(first.seconds == list[0].seconds);
    for (int j = 1; j < count; j++) assert_true(list[j].seconds >= list[j - 1].seconds);
    for (int j = 1; j < count; j++) {
      for (int k = 0; k < j; k++) assert_false(cutt_candidate_equal(&list[j], &list[k]));
    }
  }
}

/* The bounds that cut candidates off are no more than any of them takes. */
static void bounds_hold(void **unused) {
  (void)unused;
  const cutt_device *device = cutt_device_find("h200");
  test_rng rng = {.state = 4};
  for (int i = 0; i < test_scaled(2000); i++) {
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES];
    make_problem(&rng, 10, &canonical);
    const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
    for (int j = 0; j < count; j++) {
      cutt_gpu_tile tile;
      cutt_gpu_counts counts;
      cutt_gpu_side rows, columns;
      const char *why;
      const bool direct = list[j].param[CUTT_GPU_PARAM_DIRECT] != 0;
      if (direct) continue;
      assert_true(cutt_gpu_tile_derive(&canonical, &list[j], &tile, &why));
      cutt_gpu_count(device, &canonical, &tile, direct, &counts);
      cutt_gpu_count_threads(&canonical, &tile, list[j].threads, false, &counts);
      assert_true(cutt_gpu_least_of_tile(device, &canonical, &tile, &counts) <= list[j].seconds * (1 + 1e-12));
      if (list[j].param[CUTT_GPU_PARAM_BATCH] != 0) continue; /* which is not made of two sides */
      cutt_gpu_side_count(device, &canonical, NULL, list[j].m, list[j].split_m, true, &rows);
      cutt_gpu_side_count(device, &canonical, canonical.out_order, list[j].k, list[j].split_k, false, &columns);
      rows.sectors = rows.lines = columns.sectors = columns.lines = 0; /* as where they go on in one another */
      const double elements = rows.length * columns.length;
      assert_true(cutt_gpu_least_of_sides(device, &canonical, &rows, &columns, elements, 256) <=
                  list[j].seconds * (1 + 1e-12));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_is_the_same), cmocka_unit_test(bounds_hold)};
  return cmocka_run_group_tests_name("enumerate", tests, NULL, NULL);
}
