/* The public calls of elementwise operations, by hand: a few results, what descriptions say, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* before cmocka.h */
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "cutt_contract.h"
#include "support/check.h"

typedef struct asked {
  cuttElementwise_t problem;
  cuttElementwiseOptions_t options;
} asked;

static void start(asked *call, const int64_t *extents) {
  call->problem = (cuttElementwise_t)CUTT_ELEMENTWISE_INIT;
  call->options = (cuttElementwiseOptions_t)CUTT_ELEMENTWISE_OPTIONS_INIT;
  call->options.backend = CUTT_BACKEND_CPU;
  call->problem.pattern = "ab,ba->ab";
  call->problem.type = CUTT_F64;
  call->problem.a_rank = call->problem.b_rank = call->problem.result_rank = 2;
  call->problem.a_extents = extents;
  call->problem.b_extents = extents + 1;
}

static void by_hand(void **unused) {
  (void)unused;
  const int64_t extents[3] = {2, 3, 2};
  const double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {10, 20, 30, 40, 50, NAN}, none = 0, two = 2, minus = -1;
  double d[6];
  asked call;
  start(&call, extents);
  call.problem.alpha = &two;
  assert_success(cuttElementwiseCompute(&call.problem, &call.options, a, b, NULL, d, NULL));
  assert_true(d[0] == 12 && d[1] == 44 && d[2] == 26 && d[3] == 58 && d[4] == 40 && isnan(d[5]));
  call.problem.op_ab = CUTT_OP_MAX;
  assert_success(cuttElementwiseCompute(&call.problem, &call.options, a, b, NULL, d, NULL));
  assert_true(d[0] == 10 && isnan(d[5]));
  call.problem.beta = &none; /* b is not read */
  call.problem.alpha = &minus;
  assert_success(cuttElementwiseCompute(&call.problem, &call.options, a, NULL, NULL, d, NULL));
  for (int i = 0; i < 6; ++i) assert_true(d[i] == 0);
  call.problem.op_ab = CUTT_OP_ADD;
  call.problem.alpha = &none; /* neither */
  memset(d, 0xff, sizeof d);
  assert_success(cuttElementwiseCompute(&call.problem, &call.options, NULL, NULL, NULL, d, NULL));
  for (int i = 0; i < 6; ++i) assert_true(d[i] == 0);
  const int64_t empty[3] = {2, 0, 2};
  start(&call, empty);
  assert_success(cuttElementwiseCompute(&call.problem, &call.options, NULL, NULL, NULL, NULL, NULL));
}

static void described(void **unused) {
  (void)unused;
  const int64_t extents[4] = {300, 4, 200, 300}, turned[3] = {200, 300, 4}, sizes[3] = {300, 4, 200},
                empty[3] = {2, 0, 2};
  const double two = 2, none = 0;
  char text[2048], json[2048];
  size_t needed;
  asked call;
  cuttElementwisePlan_t plan;
  start(&call, extents);
  call.options.threads = 1;
  call.problem.pattern = "xyz,zxy,x->xyz";
  call.problem.a_rank = call.problem.b_rank = call.problem.result_rank = 3;
  call.problem.c_rank = 1;
  call.problem.a_extents = sizes;
  call.problem.b_extents = turned;
  call.problem.c_extents = extents;
  call.problem.beta = &two;
  call.problem.op_abc = CUTT_OP_MAX;
  assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, sizeof text, &needed));
  assert_int_equal(needed, strlen(text) + 1);
  static const char *const says[] = {"elementwise   of f64 on cpu, 1 thread\n",
                                     "D = (A CUTT_OP_ADD beta B) CUTT_OP_MAX C\n",
                                     "A is read in place\n",
                                     "B is turned in registers\n",
                                     "C is read in place\n",
                                     "D is written in place",
                                     "moves         5.762 MB\n",
                                     "made in "};
  for (size_t i = 0; i < sizeof says / sizeof *says; ++i)
    if (!strstr(text, says[i])) fail_msg("\"%s\" is not in: %s", says[i], text);
  assert_success(cuttElementwiseDescribe(plan, CUTT_JSON, json, sizeof json, NULL));
  const char *const has[] = {
      "{\"type\":\"f64\",\"backend\":\"cpu\",\"threads\":1,\"operators\":[\"CUTT_OP_ADD\",\"CUTT_OP_MAX\"],",
      "\"modes\":[{\"name\":\"x\",",
      "\"extent\":300,",
      "\"strides\":{\"A\":1,\"B\":200,\"C\":1,\"D\":1}}",
      "\"B\":{\"is\":\"turned\",\"scaled\":true,\"conjugated\":false}",
      "\"bytes_moved\":5762400,"};
  for (size_t i = 0; i < sizeof has / sizeof *has; ++i)
    if (!strstr(json, has[i])) fail_msg("%s is not in: %s", has[i], json);
  memset(text, 'x', 8);
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, 4, NULL)); /* cut off, and ended */
  assert_memory_equal(text, "ele\0xxxx", 8);
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseDescribe(plan, (cuttFormat_t)7, text, 4, NULL), "format is 7",
                "");
  assert_success(cuttElementwisePlanDestroy(plan));
  call.problem.beta = &none;
  call.problem.c_rank = 0;
  call.problem.pattern = "xyz,zxy->xyz"; /* y and z are fused, since B is not there */
  assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_true(strstr(text, "D = A CUTT_OP_ADD 0\n") && strstr(text, "B is not read, since beta is 0"));
  assert_success(cuttElementwisePlanDestroy(plan));
  start(&call, empty);
  assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "nothing to do"));
  assert_success(cuttElementwiseDescribe(plan, CUTT_JSON, json, sizeof json, NULL));
  assert_non_null(strstr(json, "\"modes\":[],\"tensors\":{},\"blocks\":0,"));
  assert_success(cuttElementwisePlanDestroy(plan));
  assert_result(CUTT_INVALID_PLAN, cuttElementwiseDescribe(NULL, CUTT_TEXT, text, 4, NULL), "plan is", "NULL");
}

static void refuse(const asked *call, const char *first, const char *second) {
  cuttElementwisePlan_t plan = (cuttElementwisePlan_t)(uintptr_t)1;
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwisePlanCreate(&plan, &call->problem, &call->options), first,
                second);
  assert_null(plan);
}

static void refused(void **unused) {
  (void)unused;
  const int64_t extents[3] = {2, 3, 2}, other[2] = {4, 2};
  double a[6] = {0}, b[6] = {0}, d[6];
  asked call;
  cuttElementwisePlan_t plan;
  static const struct {
    const char *pattern, *first, *second;
  } patterns[] = {{NULL, "pattern is NULL", "ab,ba->ab"},
                  {"ab->ab", "one operand", "two or three"},
                  {"ab,ba", "the text ends at place 6", "'->'"},
                  {"ab,ba->a", "the letter 'b' at place 2 is not in the result", "sums nothing"},
                  {"ab,ba,a,b->ab", "fourth operand", "two or three"},
                  {"ab,ba->abc", "the letter 'c' at place 10 is in no operand", "operands only"},
                  {"D(a,b)=A(a,b)+B(b,a)", "'('", "a letter"}};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
    start(&call, extents);
    call.problem.pattern = patterns[i].pattern;
    refuse(&call, patterns[i].first, patterns[i].second);
  }
  start(&call, extents);
  call.problem.c_rank = 1;
  refuse(&call, "c_rank is 1", "must be 0");
  start(&call, extents);
  call.problem.b_extents = other;
  refuse(&call, "a_extents[1] is 3 and b_extents[0] is 4", "'b'");
  start(&call, extents);
  call.problem.op_ab = (cuttOperator_t)9;
  refuse(&call, "op_ab is 9", "CUTT_OP_MIN");
  start(&call, extents);
  call.problem.type = CUTT_C32;
  call.problem.op_ab = CUTT_OP_MIN;
  refuse(&call, "op_ab is CUTT_OP_MIN", "c32");
  start(&call, extents);
  call.problem.type = CUTT_BYTES_8;
  refuse(&call, "type is bytes8", "CUTT_F32");
  start(&call, extents);
  call.options.threads = -1;
  refuse(&call, "options->threads is -1", "must be 0");
  start(&call, extents);
  call.problem.struct_size = 8;
  refuse(&call, "struct_size", "elementwise");
  start(&call, extents);
  assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseExecute(plan, a, NULL, NULL, d, NULL), "b is NULL", "element");
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseExecute(plan, a, b, NULL, b, NULL), "b spans", "overlap");
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseExecute(plan, a, b, NULL, a + 1, NULL), "a spans", "overlap");
  assert_success(cuttElementwiseExecute(plan, a, b, NULL, a, NULL));
  assert_success(cuttElementwisePlanDestroy(plan));
  assert_success(cuttElementwisePlanDestroy(NULL));
  assert_result(CUTT_INVALID_PLAN, cuttElementwiseExecute(NULL, a, b, NULL, d, NULL), "plan is", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwisePlanCreate(NULL, &call.problem, NULL), "plan is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwisePlanCreate(&plan, NULL, NULL), "elementwise is NULL");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(described), cmocka_unit_test(refused)};
  return cmocka_run_group_tests_name("elementwise_calls", tests, NULL, NULL);
}
