// cutt.hpp: owners destroy once, move, and turn failures into exceptions with the library's text.
#include "cutt.hpp"

#include <cstdio>
#include <type_traits>
#include <utility>

static_assert(!std::is_copy_constructible<cutt::plan>::value, "two owners of one plan");
static_assert(!std::is_copy_assignable<cutt::plan>::value, "two owners of one plan");
static_assert(std::is_nothrow_move_constructible<cutt::plan>::value, "a plan moves");
static_assert(std::is_nothrow_move_assignable<cutt::contraction_plan>::value, "a plan moves");

static int made = 0, failed = 0;

static void check(bool good, const char *what) {
  ++made;
  if (good) return;
  ++failed;
  std::fprintf(stderr, "FAILED: %s\n", what);
}

static cuttProblem_t transposition(const int64_t *extents, const int *perm) {
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 2;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  return problem;
}

static void plans(const cuttProblem_t &problem) {
  float in[6] = {0, 1, 2, 3, 4, 5}, out[6] = {};
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1;
  cutt::wisdom wisdom;
  options.wisdom = wisdom.get();
  cutt::plan plan(problem, options), other(std::move(plan));
  check(!plan && other, "a plan has moved");
  plan = std::move(other);
  check(plan && !other, "and back");
  plan.execute(in, out);
  check(out[0] == 0 && out[1] == 2 && out[3] == 1 && out[5] == 5, "a plan permutes");
  float batch_out[2][6] = {};
  const void *const inputs[] = {in, in};
  void *const outputs[] = {batch_out[0], batch_out[1]};
  plan.execute_batch(2, inputs, outputs);
  check(batch_out[0][1] == 2 && batch_out[1][3] == 1, "a plan permutes a batch");
  check(plan.info().threads == 1 && plan.info().backend == CUTT_BACKEND_CPU, "what a plan is");
  check(plan.describe().find("choice") != std::string::npos, "a description");
  const std::string json = plan.describe(CUTT_JSON);
  check(json[0] == '{' && json.find('\0') == std::string::npos, "a description as JSON");
  check(cutt::describe(cuttDevicesDescribe, CUTT_TEXT).find("cpu") != std::string::npos, "the devices");

  const cuttPlan_t handle = plan.release();
  check(!plan && cuttPlanDestroy(handle) == CUTT_SUCCESS, "a released plan is the caller's");
  try {
    plan.execute(in, out);
    check(false, "a plan that was released is executed");
  } catch (const cutt::error &error) {
    check(error.result() == CUTT_INVALID_PLAN, "the result of a failure");
  }
}

static void failures(cuttProblem_t problem) {
  const int twice[2] = {1, 1};
  problem.perm = twice;
  try {
    cutt::plan plan(problem);
    check(false, "a wrong problem has a plan");
  } catch (const std::exception &error) {
    check(std::string(error.what()) == cuttLastError() && error.what()[0] == 'p', "the text of a failure");
  }
  try {
    cutt::wisdom().load("/nowhere/wisdom");
    check(false, "wisdom from nowhere");
  } catch (const cutt::error &error) {
    check(error.result() == CUTT_INVALID_PARAMETER, "wisdom that is not there");
  }
}

static void contractions() {
  const int64_t extents[2] = {2, 2};
  const double left[4] = {1, 2, 3, 4}, right[4] = {1, 0, 1, 1};
  double result[4] = {};
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "ab,bc->ac";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = contraction.right_extents = extents;
  try {
    const cutt::contraction_plan plan(contraction);
    plan.execute(left, right, result);
    check(result[0] == 1 && result[1] == 2 && result[2] == 4 && result[3] == 6, "a contraction");
    check(plan.workspace() < 1 << 20 && !plan.describe().empty(), "what a contraction plan is");
  } catch (const cutt::error &error) {
    check(error.result() == CUTT_INVALID_DEVICE, error.what());  // no BLAS
  }
}

int main() {
  const int64_t extents[2] = {2, 3};
  const int perm[2] = {1, 0};
  plans(transposition(extents, perm));
  failures(transposition(extents, perm));
  contractions();
  std::printf("%d checks, %d failed\n", made, failed);
  return failed ? 1 : 0;
}
