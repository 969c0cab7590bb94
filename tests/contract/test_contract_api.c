/* The calls of cutt_contract.h: what they refuse and with which words, plans that describe themselves, and times. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cases.h"
#include "support/check.h"
#include "try.h"

enum { M = 5, K = 6, N = 7 };

static const int64_t left2[2] = {M, K}, right2[2] = {K, N};
static double left[M * K], right[K * N], result[M * N + 1];

static cuttContraction_t valid(void) {
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  c.pattern = "mk,kn->mn";
  c.type = CUTT_F64;
  c.left_rank = c.right_rank = c.result_rank = 2;
  c.left_extents = left2;
  c.right_extents = right2;
  return c;
}

static cuttContractionOptions_t cpu(void) {
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1;
  return options;
}

static cuttResult create(const cuttContraction_t *c, const cuttContractionOptions_t *options) {
  cuttContractionPlan_t plan = (cuttContractionPlan_t)(uintptr_t)1; /* must be set to NULL by a failure */
  const cuttResult made = cuttContractionPlanCreate(&plan, c, options);
  if (made == CUTT_SUCCESS) {
    assert_non_null(plan);
    assert_success(cuttContractionPlanDestroy(plan));
  } else {
    assert_null(plan);
  }
  return made;
}

static cuttContractionPlan_t plan_of(const char *pattern, const cuttContractionOptions_t *options) {
  cuttContraction_t c = valid();
  c.pattern = pattern;
  cuttContractionPlan_t plan = NULL;
  assert_success(cuttContractionPlanCreate(&plan, &c, options));
  return plan;
}

static void fill(void) {
  for (int i = 0; i < M * K; ++i) left[i] = i + 1;
  for (int i = 0; i < K * N; ++i) right[i] = 100 - 3 * i;
  for (int i = 0; i <= M * N; ++i) result[i] = NAN;
}

/* result[m + step n] = sum over k; whole numbers, so exactly. */
static void assert_product(const double *got) {
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      double sum = 0;
      for (int k = 0; k < K; ++k) sum += left[m + M * k] * right[k + K * n];
      if (got[m + M * n] != sum) fail_msg("element (%d, %d) is %g, not %g", m, n, got[m + M * n], sum);
    }
  }
}

static void refuses_bad_plans(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  cuttContractionOptions_t options = cpu();
  cuttContractionPlan_t plan;
  assert_success(create(&c, &options));
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(NULL, &c, &options), "plan", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, NULL, &options), "contraction", "NULL");
  c.pattern = "mk,kn->mx";
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "'x'", "place 9");
  c = valid();
  options.struct_size = 3;
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "options->struct_size");
  options = cpu();
  options.threads = -1;
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "threads", "-1");
  options = cpu();
  const int nine = 9;
  memcpy(&options.backend, &nine, sizeof nine);
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "backend", "9");
  options = cpu();
  options.provider = "no_such_blas";
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "provider", "no_such_blas");
  options.provider = "/nowhere/libnothing.so";
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "provider", "/nowhere/libnothing.so");
  options.provider = "";
  assert_result(CUTT_INVALID_PARAMETER, create(&c, &options), "provider");
}

static void refuses_bad_executions(void **unused) {
  (void)unused;
  static const char *const patterns[] = {"mk,kn->mn", "D(n,m)+=L(m,k)*R(k,n)"};
  for (size_t i = 0; i < 2; ++i) {
    const cuttContractionOptions_t options = cpu();
    const cuttContractionPlan_t plan = plan_of(patterns[i], &options);
    size_t bytes = 0;
    assert_success(cuttContractionWorkspace(plan, &bytes));
    fill();
    static double room[M * K + K * N + M * N];
    assert_result(CUTT_INVALID_PLAN, cuttContractionExecute(NULL, left, right, result, NULL, 0, NULL), "plan");
    assert_result(CUTT_INVALID_PLAN, cuttContractionWorkspace(NULL, &bytes), "plan");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionWorkspace(plan, NULL), "bytes", "NULL");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, NULL, right, result, NULL, 0, NULL), "left",
                  "NULL");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, left, NULL, result, NULL, 0, NULL), "right",
                  "NULL");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, left, right, NULL, NULL, 0, NULL), "result",
                  "NULL");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, room, right, room + M * K - 1, NULL, 0, NULL),
                  "result", "left", "overlap");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, left, room + M * N - 1, room, NULL, 0, NULL),
                  "result", "right", "overlap");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, room, right, room, NULL, 0, NULL), "overlap");
    cudaStream_t stream = (cudaStream_t)(void *)room;
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, left, right, result, NULL, 0, stream), "stream");
    assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, left, right, result, NULL, 64, NULL),
                  "workspace", "NULL");
    for (int j = 0; j <= M * N; ++j) assert_true(isnan(result[j])); /* nothing has been written */
    assert_success(cuttContractionExecute(plan, room, right, room + M * K, NULL, 0, NULL)); /* neighbours are none */
    assert_success(cuttContractionPlanDestroy(plan));
    assert_success(cuttContractionPlanDestroy(NULL));
  }
}

/* A workspace that is large enough for it to be used: both operands and the result have to be permuted. */
static void refuses_bad_workspace(void **unused) {
  (void)unused;
  test_contraction c;
  assert_true(test_contraction_make("aebfc,cgbd->adfeg", CUTT_F64, &c));
  for (int i = 0; i < c.is.labels; ++i) c.extent[i] = 7;
  test_contraction_finish(&c);
  test_fields f;
  test_contraction_view(&c, &f);
  f.options.algorithm = "ttgt"; /* which permutes */
  cuttContractionPlan_t plan = NULL;
  size_t bytes = 0;
  assert_success(cuttContractionPlanCreate(&plan, &f.contraction, &f.options));
  assert_success(cuttContractionWorkspace(plan, &bytes));
  if (!bytes) {
    print_message("the plan needs no workspace\n");
    cuttContractionPlanDestroy(plan);
    skip();
  }
  double *memory[TEST_TENSORS];
  for (int t = 0; t < TEST_TENSORS; ++t) {
    memory[t] = calloc((size_t)test_contraction_volume(&c, t), sizeof(double));
    assert_non_null(memory[t]);
  }
  unsigned char *work = aligned_alloc(64, (bytes + 127) / 64 * 64);
  assert_non_null(work);
  char text[64];
  snprintf(text, sizeof text, "%zu", bytes);
#define EXECUTE(workspace, size) cuttContractionExecute(plan, memory[0], memory[1], memory[2], workspace, size, NULL)
  assert_success(EXECUTE(work, bytes));
  assert_success(EXECUTE(NULL, 0));
  assert_result(CUTT_INVALID_PARAMETER, EXECUTE(work, bytes - 1), "workspace_bytes", text);
  assert_result(CUTT_INVALID_PARAMETER, EXECUTE(work, 0), "workspace_bytes", text);
  assert_result(CUTT_INVALID_PARAMETER, EXECUTE(work + 8, bytes), "workspace", "64");
  assert_result(CUTT_INVALID_PARAMETER, EXECUTE(NULL, bytes), "workspace", "NULL");
#undef EXECUTE
  assert_success(cuttContractionPlanDestroy(plan));
  free(work);
  for (int t = 0; t < TEST_TENSORS; ++t) free(memory[t]);
}

static void contracts_in_one_call(void **unused) {
  (void)unused;
  const cuttContraction_t c = valid();
  const cuttContractionOptions_t options = cpu();
  fill();
  assert_success(cuttContract(&c, &options, left, right, result, NULL));
  assert_product(result);
  assert_true(isnan(result[M * N]));
  fill();
  assert_success(cuttContract(&c, NULL, left, right, result, NULL)); /* options' defaults */
  assert_product(result);
  assert_result(CUTT_INVALID_PARAMETER, cuttContract(NULL, &options, left, right, result, NULL), "contraction");
  assert_result(CUTT_INVALID_PARAMETER, cuttContract(&c, &options, NULL, right, result, NULL), "left");
}

static void same_again(void **unused) {
  (void)unused;
  const cuttContractionOptions_t options = cpu();
  const cuttContractionPlan_t plan = plan_of("mk,kn->mn", &options);
  for (int i = 0; i < 3; ++i) {
    fill();
    for (int j = 0; j < M * K; ++j) left[j] += i;
    assert_success(cuttContractionExecute(plan, left, right, result, NULL, 0, NULL));
    assert_product(result);
  }
  assert_success(cuttContractionPlanDestroy(plan));
}

/* Everything that is counted by hand for one contraction. */
static void says_what_it_is(void **unused) {
  (void)unused;
  test_contraction c;
  assert_true(test_contraction_make("xabkl,lxkc->cxba", CUTT_C64, &c));
  static const int64_t extent[] = {2, 3, 4, 5, 6, 7}; /* x a b k l c */
  memcpy(c.extent, extent, sizeof extent);
  test_contraction_finish(&c);
  test_fields f;
  test_contraction_view(&c, &f);
  f.options.algorithm = "ttgt";
  cuttContractionPlan_t plan = NULL;
  assert_success(cuttContractionPlanCreate(&plan, &f.contraction, &f.options));
  cuttContractionInfo_t info;
  memset(&info, 0xff, sizeof info);
  info.struct_size = 4;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionGetInfo(plan, &info), "struct_size");
  info.struct_size = sizeof info;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionGetInfo(plan, NULL), "info", "NULL");
  assert_result(CUTT_INVALID_PLAN, cuttContractionGetInfo(NULL, &info), "plan");
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_int_equal(info.struct_size, sizeof info);
  assert_int_equal(info.backend, CUTT_BACKEND_CPU);
  assert_non_null(info.provider);
  assert_true(strlen(info.provider) > 0);
  assert_int_equal(info.threads, 1);
  assert_int_equal(info.m, 12);
  assert_int_equal(info.n, 7);
  assert_int_equal(info.k, 30);
  assert_int_equal(info.batch, 2);
  assert_true(info.gemm_m * info.gemm_n * info.gemm_k * info.gemm_count >= 12 * 7 * 30 * 2);
  assert_true(info.pieces >= 1);
  assert_near(4.0 * 2 * 12 * 7 * 30 * 2, info.flops);
  const double l = 720, r = 420, d = 168;
  assert_near(2 * sqrt(l * r * d) / (l + r + d), info.intensity);
  assert_true(info.predicted_seconds > 0 && info.predicted_permute_seconds >= 0);
  assert_true(info.predicted_permute_seconds <= info.predicted_seconds);
  assert_true(info.create_seconds > 0 && info.create_seconds < 60);

  size_t needed = 0;
  for (int format = 0; format < 2; ++format) {
    static char text[65536], small[10];
    assert_success(cuttContractionDescribe(plan, format ? CUTT_JSON : CUTT_TEXT, text, sizeof text, &needed));
    assert_int_equal(strlen(text) + 1, needed);
    size_t again = 0;
    assert_success(cuttContractionDescribe(plan, format ? CUTT_JSON : CUTT_TEXT, small, sizeof small, &again));
    assert_int_equal(again, needed);
    assert_memory_equal(small, text, sizeof small - 1);
    assert_int_equal(small[sizeof small - 1], 0);
    if (format) {
      json_error_t error;
      json_t *root = json_loads(text, 0, &error);
      if (!root) fail_msg("not JSON: %s in %s", error.text, text);
      json_decref(root);
    }
  }
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionDescribe(plan, CUTT_TEXT, NULL, 10, &needed), "buffer");
  assert_result(CUTT_INVALID_PLAN, cuttContractionDescribe(NULL, CUTT_TEXT, NULL, 0, &needed), "plan");
  assert_success(cuttContractionPlanDestroy(plan));
}

static void takes_times(void **unused) {
  (void)unused;
  const cuttContractionOptions_t options = cpu();
  const cuttContractionPlan_t plan = plan_of("mk,kn->mn", &options);
  cuttContractionTimes_t times[3];
  double seconds[3] = {-1, -1, -1};
  memset(times, 0xff, sizeof times);
  fill();
  assert_success(cuttContractionTime(plan, left, right, result, NULL, 0, NULL, 3, times));
  assert_product(result);
  for (int i = 0; i < 3; ++i) {
    assert_true(times[i].total > 0 && times[i].permute >= 0 && times[i].gemm > 0);
    assert_true(times[i].permute + times[i].gemm <= 1.01 * times[i].total);
  }
  assert_success(cuttContractionTimeGemm(plan, NULL, 3, seconds));
  for (int i = 0; i < 3; ++i) assert_true(seconds[i] > 0);
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionTime(plan, left, right, result, NULL, 0, NULL, 0, times),
                "count");
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionTime(plan, left, right, result, NULL, 0, NULL, 1, NULL),
                "times");
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionTime(plan, NULL, right, result, NULL, 0, NULL, 1, times),
                "left");
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionTimeGemm(plan, NULL, -1, seconds), "count", "-1");
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionTimeGemm(plan, NULL, 1, NULL), "seconds");
  assert_result(CUTT_INVALID_PLAN, cuttContractionTimeGemm(NULL, NULL, 1, seconds), "plan");
  assert_success(cuttContractionPlanDestroy(plan));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_bad_plans),
      cmocka_unit_test(refuses_bad_executions),
      cmocka_unit_test(refuses_bad_workspace),
      cmocka_unit_test(contracts_in_one_call),
      cmocka_unit_test(same_again),
      cmocka_unit_test(says_what_it_is),
      cmocka_unit_test(takes_times),
  };
  return cmocka_run_group_tests_name("contract_api", tests, NULL, NULL);
}
