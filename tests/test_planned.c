/* Every valid problem has a plan, on every device that plans can be made for: random problems of all kinds, a million of them
 * in the long tier. And a candidate that is accepted for a GPU can be laid out for buffers at any address. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu/access.h"
#include "gpu/launch.h"
#include "model/device.h"
#include "plan/plan.h"
#include "support/check.h"
#include "support/problem.h"

enum { PROBLEMS = 1000000, MOST_THREADS = 8, GPUS = 9, TARGETS = GPUS + 1 };

/* NULL: the CPU at hand. */
static const char *device_key(int target) {
  assert_non_null(cutt_known_devices[GPUS - 1].key);
  assert_null(cutt_known_devices[GPUS].key);
  return target < GPUS ? cutt_known_devices[target].key : NULL;
}

/* False, after a line that says why and repeats the problem, when there is no plan. */
static bool plan(const test_problem *p, int target, int candidate) {
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.device = device_key(target);
  options.backend = options.device ? CUTT_BACKEND_CUDA : CUTT_BACKEND_CPU;
  options.threads = options.device ? 0 : p->threads;
  options.candidate = candidate;
  cuttPlan_t made = NULL;
  const cuttResult result = cuttPlanCreate(&made, &view, &options);
  if (!result && made) return cuttPlanDestroy(made) == CUTT_SUCCESS;
  char line[8192];
  test_problem_print(p, line, sizeof line);
  fprintf(stderr, "%s, %s: %s\n  %s\n", options.device ? options.device : "cpu", cuttResultName(result),
          cuttLastError(), line);
  return false;
}

/* -------------------------------------------------------------------------------------------------- random problems */

static test_problem random_problem(test_rng *rng) {
  test_limits limits = {1, 6, 20000, 0, 60, 40, 3};
  if (test_chance(rng, 20)) limits.max_rank = 12;
  if (test_chance(rng, 3)) limits.min_rank = 13, limits.max_rank = CUTT_MAX_RANK;
  if (test_chance(rng, 1)) limits.min_rank = 0;
  /* Planning takes no memory: up to the terabyte that the model's devices may be given in the end. */
  limits.max_volume = INT64_C(1) << test_random_in(rng, 6, test_chance(rng, 10) ? 36 : 22);
  test_problem p = test_random_problem(rng, &limits);
  if (p.rank >= 2 && test_chance(rng, 5)) test_interleave(rng, &p);
  return p;
}

typedef struct share {
  pthread_t thread;
  int first, step, count, refused;
} share;

static void *plan_share(void *argument) {
  share *const s = argument;
  for (int i = s->first; i < s->count && s->refused < 10; i += s->step) {
    test_rng rng = {.state = test_mix((uint64_t)i)};
    const test_problem p = random_problem(&rng);
    s->refused += !plan(&p, (int)test_random_in(&rng, 0, TARGETS - 1), 0);
  }
  return NULL;
}

static void random_problems(void **unused) {
  (void)unused;
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (int)cores, count = test_scaled(PROBLEMS);
  share shares[MOST_THREADS];
  int refused = 0;
  for (int i = 0; i < threads; i++) {
    shares[i] = (share){.first = i, .step = threads, .count = count};
    assert_int_equal(pthread_create(&shares[i].thread, NULL, plan_share, &shares[i]), 0);
  }
  for (int i = 0; i < threads; i++) {
    assert_int_equal(pthread_join(shares[i].thread, NULL), 0);
    refused += shares[i].refused;
  }
  printf("%d problems, %d refused\n", count, refused);
  assert_int_equal(refused, 0);
}

/* Those that were once refused, on every device, with and without a whole list of candidates. */
static void once_refused(void **unused) {
  (void)unused;
  static const char *const lines[] = {
      "rank=6 type=1 extents=1,2,2,33,32,3 perm=3,2,0,1,5,4 in=165,1,5445,5,165,10890 out=20,740,-4,1,4,1480",
      "rank=6 type=2 extents=3,34,1,91,1,1 perm=0,3,5,2,4,1 in=1,4,136,139,12652,12657 out=1,10,911,911,911,918",
      "rank=4 type=1 extents=1,4,178,16 perm=1,0,2,3 in=-305626218,1,113,7 out=1,8,8,1424",
      ("rank=6 type=35 extents=129,29,39,2,32,324 perm=1,3,4,0,5,2 "
       "in=10,-1290,37411,1459029,-2918058,-93377856 out=3260088,-94542552,-189085104,2,-10062,258"),
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    test_problem p;
    assert_true(test_problem_parse(lines[i], &p));
    for (int target = 0; target < TARGETS; target++) assert_true(plan(&p, target, 0) && plan(&p, target, 1));
  }
}

/* No device has memory for these. What the kernels can't count is refused by name; most of it they can. */
static void too_large(void **unused) {
  (void)unused;
  const int perm[2] = {1, 0};
  for (int target = 0; target < GPUS; target++) {
    for (int log2 = 38; log2 <= 60; log2++) {
      for (int64_t gap = 1; gap <= 2; gap++) {
        const int64_t extents[2] = {INT64_C(1) << log2 / 2, INT64_C(1) << (log2 - log2 / 2)};
        test_problem p = test_packed(CUTT_BYTES_1, 2, extents, perm);
        p.in_strided = p.out_strided = gap > 1;
        for (int i = 0; i < 2 && gap > 1; i++) {
          p.in_strides[i] *= gap;
          p.out_strides[i] *= gap;
        }
        const cuttProblem_t view = test_problem_view(&p);
        cuttOptions_t options = CUTT_OPTIONS_INIT;
        options.backend = CUTT_BACKEND_CUDA;
        options.device = device_key(target);
        cuttPlan_t made = NULL;
        if (cuttPlanCreate(&made, &view, &options)) {
          assert_true(log2 > 40);
          assert_non_null(strstr(cuttLastError(), "extents make"));
        }
        assert_success(cuttPlanDestroy(made));
      }
    }
  }
}

/* -------------------------------------------------------------------------------------------------------- alignment */

/* A candidate with a few fields changed, as edited wisdom may hold it. */
static cutt_candidate changed(test_rng *rng, const cutt_canonical *canonical, cutt_candidate c) {
  for (int changes = (int)test_random_in(rng, 1, 3); changes > 0; changes--) {
    switch (test_random_in(rng, 0, 6)) {
      case 0:
        c.m = (int)test_random_in(rng, 0, canonical->rank);
        break;
      case 1:
        c.k = (int)test_random_in(rng, 0, canonical->rank);
        break;
      case 2:
        c.split_m = test_random_in(rng, 0, 1000);
        break;
      case 3:
        c.split_k = test_random_in(rng, 0, 1000);
        break;
      case 4:
        c.threads = (int)test_random_in(rng, 1, 16) * 32;
        break;
      case 5:
        c.param[CUTT_GPU_PARAM_STAGES] = test_random_in(rng, 1, 4);
        break;
      default:
        c.param[CUTT_GPU_PARAM_BATCH] = INT64_C(1) << test_random_in(rng, 0, 17);
    }
  }
  c.method = cutt_gpu_method(canonical, &c);
  return c;
}

static void lay_out_everywhere(const cutt_device *device, const cutt_canonical *c, const cutt_candidate *candidate) {
  const uint32_t least = c->scale.active ? cutt_gpu_scalar_bytes(c->scale.type) : 1;
  cutt_gpu_launch launch;
  const char *why = "";
  for (uint32_t in = least; in <= CUTT_GPU_ALIGNED; in *= 2) {
    for (uint32_t out = least; out <= CUTT_GPU_ALIGNED; out *= 2) {
      if (!cutt_gpu_lay_out(device, c, candidate, in, out, &launch, &why)) fail_msg("at %u and %u: %s", in, out, why);
      assert_true(launch.shared_bytes <= (uint32_t)device->block_shared);
      assert_in_range(launch.blocks, 1, INT32_MAX);
    }
  }
}

/* Which launch an execution takes depends on where its buffers are. There is one for any. */
static void any_address(void **unused) {
  (void)unused;
  test_rng rng = {.state = 11};
  int accepted = 0;
  for (int i = test_scaled(30000); i > 0; i--) {
    const test_problem p = random_problem(&rng);
    const cuttProblem_t view = test_problem_view(&p);
    const cutt_device *const device = &cutt_known_devices[i % GPUS].device;
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES];
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    if (canonical.volume == 0) continue;
    const int count = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &canonical, list, CUTT_MAX_CANDIDATES);
    assert_in_range(count, 1, CUTT_MAX_CANDIDATES);
    for (int j = 0; j < count; j += 3) {
      if (!cutt_gpu_accept(device, &canonical, &list[j], &why)) fail_msg("candidate %d is refused: %s", j, why);
      lay_out_everywhere(device, &canonical, &list[j]);
      const cutt_candidate other = changed(&rng, &canonical, list[j]);
      if (!cutt_gpu_accept(device, &canonical, &other, &why)) continue;
      lay_out_everywhere(device, &canonical, &other);
      accepted++;
    }
  }
  printf("%d changed candidates accepted\n", accepted);
  assert_true(accepted > 0);
}

/* The kernels are for warps and banks as NVIDIA's GPUs have them: a device with others has no candidate that is taken. Sectors
 * may be of any power of two. */
static void other_warps(void **unused) {
  (void)unused;
  test_rng rng = {.state = 12};
  const test_problem p = random_problem(&rng);
  const cuttProblem_t view = test_problem_view(&p);
  cutt_canonical canonical;
  cutt_candidate candidate;
  const char *why = "";
  assert_success(cutt_canonicalize(&view, &canonical));
  cutt_device device = *cutt_device_find("h200");
  int *const member[] = {&device.warp, &device.banks, &device.bank_bytes};
  assert_int_equal(cutt_gpu_enumerate(&device, CUTT_MODEL_IS_OWN, &canonical, &candidate, 1), 1);
  assert_true(cutt_gpu_accept(&device, &canonical, &candidate, &why));
  for (size_t i = 0; i < sizeof member / sizeof *member; ++i) {
    *member[i] *= 2;
    assert_false(cutt_gpu_accept(&device, &canonical, &candidate, &why));
    assert_non_null(strstr(why, "warps of 32"));
    *member[i] /= 2;
  }
  assert_true(cutt_gpu_accept(&device, &canonical, &candidate, &why));
  device.sector_bytes = 64;
  assert_int_equal(cutt_gpu_enumerate(&device, CUTT_MODEL_IS_OWN, &canonical, &candidate, 1), 1);
  assert_true(cutt_gpu_accept(&device, &canonical, &candidate, &why));
  device.sector_bytes = 48;
  assert_false(cutt_gpu_accept(&device, &canonical, &candidate, &why));
  assert_non_null(strstr(why, "sector"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(once_refused), cmocka_unit_test(other_warps), cmocka_unit_test(random_problems),
      cmocka_unit_test(too_large),    cmocka_unit_test(any_address),
  };
  return cmocka_run_group_tests_name("planned", tests, NULL, NULL);
}
