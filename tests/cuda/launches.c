/* What launches were given (launches.h). */
#include "cuda/launches.h"

#include <string.h>

#include "gpu/launch.h"

struct launches launches_seen;

static double see(const fake_launch *launch) {
  const cutt_kernel_args *args = launch->args;
  const cutt_pairs *pairs = launch->pairs;
  ++launches_seen.launches;
  launches_seen.batched += pairs != NULL;
  uint32_t count = 1;
  if (strncmp(launch->kernel, "cutt_flat_", 10) != 0) { /* that does one execution, with parameters of its own */
    uint32_t tiles = 1;                                 /* of one execution */
    for (uint32_t i = 0; i < args->grid_modes; ++i) tiles *= args->grid[i].extent.by;
    if (args->tiles % tiles != 0) return -1;
    count = args->tiles / tiles;
  }
  for (uint32_t i = 0; i < count && launches_seen.pairs < LAUNCHES_MOST; ++i, ++launches_seen.pairs) {
    launches_seen.in[launches_seen.pairs] =
        launch->in + (pairs ? (unsigned long long)pairs->at[i].in << pairs->in_log2 : 0);
    launches_seen.out[launches_seen.pairs] =
        launch->out + (pairs ? (unsigned long long)pairs->at[i].out << pairs->out_log2 : 0);
  }
  return 1e-3;
}

void launches_watch(void) {
  memset(&launches_seen, 0, sizeof launches_seen);
  fake->seconds_of = see;
  fake->forget();
}

void assert_launched(int count, const void *const *in, void *const *out) {
  assert_int_equal(launches_seen.pairs, count);
  for (int i = 0; i < count; ++i) {
    int found = 0;
    for (int j = 0; j < launches_seen.pairs && found < 2; ++j) {
      if (launches_seen.out[j] != (uintptr_t)out[i]) continue;
      assert_int_equal(launches_seen.in[j], (uintptr_t)in[i]);
      ++found;
    }
    assert_int_equal(found, 1);
  }
}

cuttPlan_t launches_plan(int trust, int permutation, cuttType_t type) {
  static const int64_t extents[] = {8, 6, 4};
  static const int perm[][3] = {{2, 1, 0}, {1, 0, 2}};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = type;
  problem.extents = extents;
  problem.perm = perm[permutation];
  const double alpha = 2;
  if (type == CUTT_F64) problem.alpha = &alpha;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  options.trust_pointers = trust;
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  return plan;
}

void launches_place(char *in, char *out, int count, const void **from, void **to) {
  for (int i = 0; i < count; ++i) {
    from[i] = in + (size_t)(count - 1 - i) * LAUNCH_BYTES;
    to[i] = out + (size_t)i * LAUNCH_BYTES;
  }
}
