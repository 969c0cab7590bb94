/* What the calls of cutt_contract.h take of the calling thread's stack: at most 16 KB each, but for what a BLAS takes; here it is
 * a stand-in, which takes next to nothing, and has been loaded before. Each call is made on a large painted stack, which tells
 * what it takes, and once more on one that has hardly more than 16 KB.
 *
 * Usage: test_stack_contract FOLDER, that of the stand-ins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/cases.h"
#include "contract/try.h"
#include "host/child.h"
#include "host/stack.h"
#include "support/check.h"

enum { LARGE = 1 << 20, MOST = 16 << 10 };

static const char *folder;

/* A contraction, and all that its calls take. */
static struct {
  test_contraction c;
  test_fields f;
  cuttContractionPlan_t plan;
  void *memory[TEST_TENSORS], *zero[TEST_TENSORS];
  char text[1 << 16];
  cuttResult result;
} s;

static void plan_it(void *unused) {
  (void)unused;
  s.result = cuttContractionPlanCreate(&s.plan, &s.f.contraction, &s.f.options);
}

static void destroy_it(void *unused) {
  (void)unused;
  s.result = cuttContractionPlanDestroy(s.plan);
}

static void plan_again(void *unused) {
  (void)unused;
  destroy_it(NULL);
  plan_it(NULL);
}

static void execute_it(void *unused) {
  (void)unused;
  s.result = cuttContractionExecute(s.plan, s.zero[0], s.zero[1], s.zero[2], NULL, 0, NULL);
}

static void time_it(void *unused) {
  (void)unused;
  cuttContractionTimes_t times;
  s.result = cuttContractionTime(s.plan, s.zero[0], s.zero[1], s.zero[2], NULL, 0, NULL, 1, &times);
}

static void time_gemm(void *unused) {
  (void)unused;
  double seconds = 0;
  s.result = cuttContractionTimeGemm(s.plan, NULL, 1, &seconds);
}

static void contract_it(void *unused) {
  (void)unused;
  s.result = cuttContract(&s.f.contraction, &s.f.options, s.zero[0], s.zero[1], s.zero[2], NULL);
}

static void ask_for_workspace(void *unused) {
  (void)unused;
  size_t bytes = 0;
  s.result = cuttContractionWorkspace(s.plan, &bytes);
}

static void ask_for_info(void *unused) {
  (void)unused;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  s.result = cuttContractionGetInfo(s.plan, &info);
}

static void describe_as_text(void *unused) {
  (void)unused;
  s.result = cuttContractionDescribe(s.plan, CUTT_TEXT, s.text, sizeof s.text, NULL);
}

static void describe_as_json(void *unused) {
  (void)unused;
  s.result = cuttContractionDescribe(s.plan, CUTT_JSON, s.text, sizeof s.text, NULL);
}

static void describe_providers(void *unused) {
  (void)unused;
  s.result = cuttProvidersDescribe(CUTT_TEXT, s.text, sizeof s.text, NULL);
  if (!s.result) s.result = cuttProvidersDescribe(CUTT_JSON, s.text, sizeof s.text, NULL);
}

static void check(const char *call, const char *what, void (*run)(void *), cuttResult wanted) {
  const stack_marks marks = stack_run(LARGE, run, NULL);
  assert_true(marks.ran && marks.intact);
  if (s.result != wanted) fail_msg("%s of %s: %s", call, what, cuttResultName(s.result));
  if (marks.used > MOST) fail_msg("%s of %s takes %zu bytes of stack", call, what, marks.used);
  const stack_marks small = stack_run(stack_smallest() + MOST, run == plan_it ? plan_again : run, NULL);
  if (!small.ran || !small.intact || s.result != wanted)
    fail_msg("%s of %s on a small stack: %s, memory below is %s", call, what, cuttResultName(s.result),
             small.intact ? "as it was" : "written");
}

/* Every call, for one contraction. Memory is only had where it is to be executed; what numbers are in it doesn't matter. */
static void check_all(const char *what, bool execute) {
  s.c.threads = 1;
  test_contraction_view(&s.c, &s.f);
  for (int i = 0; i < TEST_TENSORS && execute; i++) {
    int64_t low, high;
    const int64_t element = (int64_t)test_type_bytes(s.c.type);
    test_contraction_span(&s.c, i, &low, &high);
    s.memory[i] = calloc((size_t)(high - low) + 64, (size_t)element);
    assert_non_null(s.memory[i]);
    s.zero[i] = (unsigned char *)s.memory[i] + s.c.at[i] - low * element;
  }
  check("PlanCreate", what, plan_it, CUTT_SUCCESS);
  check("Workspace", what, ask_for_workspace, CUTT_SUCCESS);
  check("GetInfo", what, ask_for_info, CUTT_SUCCESS);
  check("Describe as text", what, describe_as_text, CUTT_SUCCESS);
  check("Describe as JSON", what, describe_as_json, CUTT_SUCCESS);
  if (execute) {
    check("Execute", what, execute_it, CUTT_SUCCESS);
    check("Time", what, time_it, CUTT_SUCCESS);
    check("TimeGemm", what, time_gemm, CUTT_SUCCESS);
    check("Contract", what, contract_it, CUTT_SUCCESS);
    s.zero[2] = NULL;
    check("Execute, refused,", what, execute_it, CUTT_INVALID_PARAMETER);
  }
  const stack_marks marks = stack_run(LARGE, destroy_it, NULL);
  assert_true(marks.ran && marks.used <= MOST && s.result == CUTT_SUCCESS);
  for (int i = 0; i < TEST_TENSORS && execute; i++) free(s.memory[i]);
}

static void start(const char *pattern, cuttType_t type, const int64_t *extents) {
  assert_true(test_contraction_make(pattern, type, &s.c));
  for (int i = 0; i < s.c.is.labels; i++) s.c.extent[i] = extents ? extents[i] : 2;
  test_contraction_finish(&s.c);
}

static void small_stacks(void **unused) {
  (void)unused;
  if (test_sanitized()) {
    print_message("a sanitizer makes frames larger\n");
    skip();
  }
  describe_providers(NULL); /* loads it */
  assert_success(s.result);
  check("ProvidersDescribe", "one library", describe_providers, CUTT_SUCCESS);

  start("ab,bc->ac", CUTT_F64, (const int64_t[]){40, 50, 60});
  check_all("a product", true);
  start("ab,bc->ac", CUTT_F64, (const int64_t[]){100, 90, 80});
  s.c.at[0] = s.c.at[1] = s.c.at[2] = 3;
  s.c.limit = 0;
  check_all("a product that is not aligned", true);
  start("a,a->", CUTT_F32, (const int64_t[]){100});
  check_all("a dot product", true);
  start("abxs,bcxt->xca", CUTT_C32, (const int64_t[]){5, 6, 3, 4, 7, 8});
  s.c.has_beta = true;
  s.c.beta.f32[0] = 0.5f;
  check_all("sums and batches", true);
  start("ab,bc->ac", CUTT_F64, (const int64_t[]){4, 0, 6});
  check_all("a sum over nothing", true);
  /* Permuted, in pieces of several kinds, and in place. */
  static const int64_t extents[] = {7, 5, 6, 4, 8, 9, 3};
  const size_t limits[] = {CUTT_NO_LIMIT, 30000, 10000, 3000, 0};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    start("aebfc,cgbd->adfeg", CUTT_C64, extents);
    s.c.limit = limits[i];
    check_all("what is permuted", true);
    s.c.measure = 0.002;
    check_all("what is permuted, measured", true);
  }
  /* As many modes as can be, none of which can be fused. */
  start("abcdefghijklmnopqrstuvwxyz,yawucsqeomgikj->xdvbtfrhpnlz", CUTT_F32, NULL);
  check_all("26 modes", false);
  start("abcdefghijklmno,omkigecaqp->qpnljhfdb", CUTT_F32, NULL);
  check_all("17 modes", true);
  start("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ,IJHGacFEegDCikBAmozyqsxwuvKMLNPOQRS->SRQbKdLfMhNjOlPnprtyvxz", CUTT_F32,
        NULL);
  s.c.limit = 1 << 20;
  check_all("45 modes", false);
}

/* Elementwise operations. */
static struct {
  cuttElementwise_t problem;
  cuttElementwiseOptions_t options;
  cuttElementwisePlan_t plan;
  double a[30 * 40], b[30 * 40], c[40], result[30 * 40];
} e;

static void plan_elementwise(void *unused) {
  (void)unused;
  cuttElementwisePlanDestroy(e.plan);
  s.result = cuttElementwisePlanCreate(&e.plan, &e.problem, &e.options);
}

static void execute_elementwise(void *unused) {
  (void)unused;
  s.result = cuttElementwiseExecute(e.plan, e.a, e.b, e.c, e.result, NULL);
}

static void describe_elementwise(void *unused) {
  (void)unused;
  s.result = cuttElementwiseDescribe(e.plan, CUTT_JSON, NULL, 0, NULL);
}

static void compute_elementwise(void *unused) {
  (void)unused;
  s.result = cuttElementwiseCompute(&e.problem, &e.options, e.a, e.b, e.c, e.result, NULL);
}

static void elementwise(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  static const int64_t extents[] = {30, 40, 30}, two[52] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  e.problem = (cuttElementwise_t)CUTT_ELEMENTWISE_INIT;
  e.options = (cuttElementwiseOptions_t)CUTT_ELEMENTWISE_OPTIONS_INIT;
  e.options.backend = CUTT_BACKEND_CPU;
  e.options.threads = 1;
  e.problem.pattern = "ab,ba,b->ab";
  e.problem.type = CUTT_F64;
  e.problem.a_rank = e.problem.b_rank = e.problem.result_rank = 2;
  e.problem.c_rank = 1;
  e.problem.a_extents = extents;
  e.problem.b_extents = e.problem.c_extents = extents + 1;
  check("PlanCreate", "a sum of permuted tensors", plan_elementwise, CUTT_SUCCESS);
  check("Execute", "a sum of permuted tensors", execute_elementwise, CUTT_SUCCESS);
  check("Describe", "a sum of permuted tensors", describe_elementwise, CUTT_SUCCESS);
  check("Compute", "a sum of permuted tensors", compute_elementwise, CUTT_SUCCESS);
  e.problem.pattern = "ab,ba,c->ab";
  check("PlanCreate, refused,", e.problem.pattern, compute_elementwise, CUTT_INVALID_PARAMETER);
  e.problem.pattern = "abcdefghijklmnopqrst,tsrqponmlkjihgfedcba->atbscrdqepfognhmiljk";
  e.problem.a_rank = e.problem.b_rank = e.problem.result_rank = 20;
  e.problem.c_rank = 0;
  e.problem.a_extents = e.problem.b_extents = two;
  check("PlanCreate", "a sum of 20 modes", plan_elementwise, CUTT_SUCCESS);
  assert_success(cuttElementwisePlanDestroy(e.plan));
}

/* The texts of errors take stack too. */
static void refusals(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  static const char *const wrong[] = {"ab,bc->ad", "D(a,b)+=L(a,c)*R(c,", "ab,bc->", "a,a,a->a"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    start("ab,bc->ac", CUTT_F64, NULL);
    test_contraction_view(&s.c, &s.f);
    s.f.contraction.pattern = wrong[i];
    check("PlanCreate, refused,", wrong[i], plan_it, CUTT_INVALID_PARAMETER);
  }
  start("ab,bc->ac", CUTT_F64, NULL);
  test_contraction_view(&s.c, &s.f);
  s.f.options.provider = "/nowhere/libblas.so";
  check("PlanCreate, refused,", "no such library", plan_it, CUTT_INVALID_PARAMETER);
}

int main(int argc, char **argv) {
  char path[512];
  if (argc != 2) return 2;
  folder = argv[1];
  snprintf(path, sizeof path, "%s/fake_openblas.so", folder);
  setenv("CUTT_CBLAS", path, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_stacks),
      cmocka_unit_test(elementwise),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests_name("stack_contract", tests, NULL, NULL);
}
