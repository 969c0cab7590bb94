/* Plans for outputs in another device's memory (plan/far.h): what the link takes, and that it is chosen by. */
#include <math.h>
#include <stdlib.h>

#include "cpu/tile.h"
#include "plan/far.h"
#include "plan/plan.h"
#include "support/check.h"

static void assert_is(double value, double wanted, double share) {
  if (!(fabs(value - wanted) <= share * wanted)) fail_msg("%.9g, wanted %.9g", value, wanted);
}

typedef struct far_plan {
  double here, link, least_link, seconds;
  int64_t column; /* elements of a run that a tile writes */
} far_plan;

/* The n-th candidate; 0: the one that is chosen. False: there are not so many. */
static bool plan_far(int rank, const int64_t *extents, const int *perm, const void *beta, int n, far_plan *far) {
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan = NULL;
  cutt_explanation e;
  cutt_far_seconds seconds;
  problem.rank = rank;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  problem.beta = beta;
  options.device = "h200";
  options.candidate = n;
  const cuttResult result = cutt_plan_create_far(&plan, &problem, &options, true, 0, &seconds);
  far->here = seconds.here;
  far->link = seconds.link;
  far->least_link = seconds.least_link;
  if (result && n > 0) return false;
  assert_success(result);
  plan->backend->methods->explain(plan->target, &plan->canonical, &plan->choice.candidate, &e);
  far->seconds = plan->choice.candidate.seconds;
  far->column = e.column_length;
  assert_success(cuttPlanDestroy(plan));
  return true;
}

static const int reversed[3] = {2, 1, 0};

/* Whole lines: each of 128 bytes takes a packet of 157. */
static void whole_lines(void **unused) {
  (void)unused;
  static const int64_t extents[3] = {512, 64, 512};
  far_plan far;
  plan_far(3, extents, reversed, NULL, 0, &far);
  assert_is(far.link, 512.0 * 64 * 512 * 8 * (157.0 / 128) / 450e9, 1e-9);
  assert_is(far.least_link, far.link, 1e-9);
  assert_true(far.column % 16 == 0);
  assert_is(far.seconds, far.here + far.link, 1e-9);
}

/* Runs of 10 doubles, at multiples of 80 bytes, are 1.5 packets and 3 sectors each, if they are written by one request each. */
static void lines_in_part(void **unused) {
  (void)unused;
  static const int64_t extents[3] = {10, 1000, 10};
  static const int swapped[3] = {2, 0, 1};
  const double whole = 1e5 * 8 * (157.0 / 128) / 450e9;
  far_plan far;
  plan_far(3, extents, swapped, NULL, 0, &far);
  assert_is(far.least_link, whole, 1e-9);
  assert_true(far.link >= whole && far.link <= 1e4 * (3 * 32 + 1.5 * 29) / 450e9 * 1.3);
}

/* Rows of 645 doubles, of which every other begins within a line: 41.25 packets and 162 sectors in the mean, as if each were written
 * at once, though its requests are of 32 doubles. */
static void lines_by_one_request(void **unused) {
  (void)unused;
  static const int64_t extents[3] = {64, 100, 645};
  far_plan far;
  plan_far(3, extents, reversed, NULL, 0, &far);
  assert_true(far.column >= 64);
  assert_true(far.link >= far.least_link && far.link <= 1.08 * far.least_link);
}

/* What is added to is read over the link first. */
static void added_to(void **unused) {
  (void)unused;
  static const int64_t extents[3] = {512, 64, 512};
  static const double one = 1;
  far_plan plain, adds;
  plan_far(3, extents, reversed, NULL, 0, &plain);
  plan_far(3, extents, reversed, &one, 0, &adds);
  assert_true(adds.link >= 2 * plain.link);
  assert_is(adds.least_link, 2 * plain.least_link, 1e-9);
}

/* No candidate is faster over the link than the chosen one, also where that is not the fastest in the device's own memory. */
static void chosen_by_the_link(void **unused) {
  (void)unused;
  static const int64_t extents[][3] = {{406, 406, 203}, {1001, 31, 333}, {90, 91, 92}};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    far_plan chosen, other;
    int n = 1;
    plan_far(3, extents[i], reversed, NULL, 0, &chosen);
    for (; n <= CUTT_MAX_CANDIDATES && plan_far(3, extents[i], reversed, NULL, n, &other); n++) {
      assert_is(other.seconds, other.here + other.link, 1e-9);
      assert_true(other.seconds >= chosen.seconds);
    }
    assert_true(n > 5);
  }
}

/* There is no link to a memory that processors reach like their own. */
static void on_a_cpu(void **unused) {
  (void)unused;
  static const int64_t extents[2] = {30, 40};
  static const int swapped[2] = {1, 0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  cutt_far_seconds seconds = {1, 1, 1};
  problem.rank = 2;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = swapped;
  options.backend = CUTT_BACKEND_CPU;
  assert_success(cutt_plan_create_far(&plan, &problem, &options, true, 0, &seconds));
  assert_success(cuttPlanGetInfo(plan, &info));
  assert_true(seconds.link == 0 && seconds.least_link == 0);
  assert_is(seconds.here, info.predicted_seconds, 1e-6);
  assert_success(cuttPlanDestroy(plan));
  problem.rank = -1;
  assert_int_equal(cutt_plan_create_far(&plan, &problem, &options, true, 0, &seconds), CUTT_INVALID_PARAMETER);
  assert_null(plan);
}

/* Parts of an output that caches do not hold are written past them, as all of it would be, and the gaps between keep what they hold. */
static void parts_of_larger_outputs(void **unused) {
  (void)unused;
  enum { N = 36, M = 20, WIDE = 144 };
  static const int64_t extents[3] = {N, M, N}, strides[3] = {1, WIDE, WIDE * M}, whole[2] = {0, (int64_t)1 << 40};
  const size_t count = (size_t)(WIDE * M * N);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cutt_far_seconds seconds[2];
  double *in = malloc(2 * count * sizeof *in), *out = in + count;
  assert_non_null(in);
  problem.rank = 3;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = reversed;
  problem.in_strides = problem.out_strides = strides;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1;
  for (int i = 0; i < 2; i++) {
    cuttPlan_t plan = NULL;
    assert_success(cutt_plan_create_far(&plan, &problem, &options, false, whole[i], &seconds[i]));
    assert_int_equal(plan->choice.candidate.param[CUTT_CPU_PARAM_NON_TEMPORAL], i);
    assert_int_equal(plan->choice.candidate.split_k, 0); /* each run is written once */
    for (size_t n = 0; n < count; n++) in[n] = (double)n, out[n] = -1.0;
    assert_success(cuttPlanExecute(plan, in, out, NULL));
    for (size_t n = 0; n < count; n++) {
      const size_t x = n % WIDE, y = n / WIDE % M, z = n / (WIDE * M);
      const double wanted = x < N ? (double)(z + WIDE * (y + M * x)) : -1.0;
      if (out[n] != wanted) fail_msg("whole %lld, element %zu: %g, wanted %g", (long long)whole[i], n, out[n], wanted);
    }
    assert_success(cuttPlanDestroy(plan));
  }
  assert_true(seconds[1].here > seconds[0].here);
  free(in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_lines),
      cmocka_unit_test(lines_in_part),
      cmocka_unit_test(lines_by_one_request),
      cmocka_unit_test(added_to),
      cmocka_unit_test(chosen_by_the_link),
      cmocka_unit_test(on_a_cpu),
      cmocka_unit_test(parts_of_larger_outputs),
  };
  return cmocka_run_group_tests_name("far", tests, NULL, NULL);
}
