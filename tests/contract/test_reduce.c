/* Reductions by multiplication, maximum and minimum through the public calls, held to the plain definition: all types, one operand
 * and two, any strides, NaNs, nothing to reduce, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* before cmocka.h */
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "device.h"
#include "support/buffers.h"
#include "support/check.h"
#include "try.h"
#include "value.h"

static test_region region[TEST_TENSORS];
static test_buffer buffer[TEST_TENSORS];
static unsigned char *zero[TEST_TENSORS], *before;

/* ------------------------------------------------------------------------------------------------------- the definition */

static test_value scalar(cuttType_t type, const test_scalar *s) {
  const bool f64 = type == CUTT_F64 || type == CUTT_C64;
  if (test_type_whole(type)) return (test_value){0, 0, type == CUTT_I64 ? s->i64 : s->i32};
  return (test_value){f64 ? (long double)s->f64[0] : (long double)s->f32[0],
                      !test_type_complex(type) ? 0
                      : f64                    ? (long double)s->f64[1]
                                               : (long double)s->f32[1],
                      0};
}

static test_value operand(const test_contraction *c, int t, const int64_t *index) {
  int64_t at = 0;
  for (int label = 0; label < c->is.labels; ++label) at += index[label] * c->step[t][label];
  test_value v = test_value_load(c->type, zero[t] + at * (int64_t)test_type_bytes(c->type));
  if ((c->is.conjugate[t] != 0) != (c->conjugate[t] != 0)) v.im = -v.im;
  return v;
}

/* Element `number` of reduce(L R); *terms of them. */
static test_value reduced(const test_contraction *c, cuttOperator_t op, int64_t number, int64_t *terms) {
  int64_t index[TEST_MOST_LABELS] = {0};
  test_value all = {1, 0, 1}; /* a product of nothing */
  *terms = 1;
  for (int label = 0; label < c->is.labels; ++label) {
    if (!c->is.in[TEST_RESULT][label]) {
      *terms *= c->extent[label];
      continue;
    }
    index[label] = number % c->extent[label];
    number /= c->extent[label];
  }
  for (int64_t term = 0; term < *terms; ++term) {
    int64_t rest = term;
    for (int label = 0; label < c->is.labels; ++label) {
      if (c->is.in[TEST_RESULT][label]) continue;
      index[label] = rest % c->extent[label];
      rest /= c->extent[label];
    }
    test_value v = operand(c, TEST_LEFT, index);
    if (!c->is.one) v = test_value_apply(c->type, CUTT_OP_MULTIPLY, v, operand(c, TEST_RIGHT, index));
    all = term ? test_value_apply(c->type, op, all, v) : v;
  }
  return all;
}

static long double eps_of(cuttType_t type) {
  return type == CUTT_F64 || type == CUTT_C64 ? DBL_EPSILON
         : type == CUTT_F16                   ? 0x1p-10L
         : type == CUTT_BF16                  ? 0x1p-7L
                                              : (long double)FLT_EPSILON;
}

static void assert_close(const test_contraction *c, test_value got, test_value wanted, long double bound) {
  char line[3 * TEST_PATTERN_BYTES];
  const bool nan = isnan(wanted.re) || isnan(wanted.im);
  const long double off = fmaxl(fabsl(got.re - wanted.re), fabsl(got.im - wanted.im));
  if (test_type_whole(c->type) ? got.whole == wanted.whole : nan ? isnan(got.re) || isnan(got.im) : off <= bound)
    return;
  test_contraction_print(c, line, sizeof line);
  fail_msg("%.17Lg%+.17Lgi %lld, not %.17Lg%+.17Lgi %lld\n  %s", got.re, got.im, (long long)got.whole, wanted.re,
           wanted.im, (long long)wanted.whole, line);
}

/* ---------------------------------------------------------------------------------------------------------- one of them */

/* Numbers about 1 for products, so that these neither vanish nor grow out of reach; for others also some NaNs. */
static void fill(const test_contraction *c, test_rng *rng, int t, bool multiplies, int nans) {
  const int64_t spread = multiplies ? 0x400 : 0x18000;
  const int64_t element = (int64_t)test_type_bytes(c->type);
  for (int64_t i = 0; i < test_contraction_volume(c, t); ++i) {
    unsigned char *to = zero[t] + test_contraction_at(c, t, i) * element;
    if (test_type_whole(c->type)) {
      const uint64_t bits = test_random(rng);
      memcpy(to, &bits, (size_t)element);
      continue;
    }
    float f[2];
    double d[2];
    for (int part = 0; part < 2; ++part) {
      d[part] =
          (double)test_random_in(rng, 0x20000 - spread, 0x20000 + spread) / 0x20000 * (test_chance(rng, 50) ? 1 : -1);
      if (test_type_complex(c->type)) d[part] *= 0.7;
      if (nans && test_chance(rng, nans)) d[part] = NAN;
      f[part] = (float)d[part];
    }
    uint32_t bits;
    memcpy(&bits, f, sizeof bits);
    const uint16_t brain = (uint16_t)(bits >> 16); /* cut off */
    const uint16_t half =
        isnan(f[0]) ? 0x7e01
                    : (uint16_t)(multiplies ? 0x3bfc + (test_random(rng) & 7) : 0x3800 | (test_random(rng) & 0x87ff));
    if (c->type == CUTT_F16) memcpy(to, &half, 2);
    if (c->type == CUTT_BF16) memcpy(to, &brain, 2);
    if (c->type == CUTT_F32 || c->type == CUTT_C32) memcpy(to, f, (size_t)element);
    if (c->type == CUTT_F64 || c->type == CUTT_C64) memcpy(to, d, (size_t)element);
  }
}

static long compared;

static void try_one(test_rng *rng, test_contraction *c, cuttOperator_t op) {
  const int64_t element = (int64_t)test_type_bytes(c->type);
  const int nans = op == CUTT_OP_MULTIPLY || test_chance(rng, 50) ? 0 : 10;
  for (int t = 0; t < TEST_TENSORS; ++t) {
    int64_t low, high;
    test_contraction_span(c, t, &low, &high);
    assert_true(test_buffer_place(&region[t], (size_t)((high - low) * element), c->at[t], &buffer[t]));
    zero[t] = buffer[t].data - low * element;
    memset(buffer[t].zone, 0xff, buffer[t].zone_bytes); /* NaNs, where nothing may be read */
    if (t < TEST_RESULT || test_contraction_reads_result(c) || (test_type_whole(c->type) && c->has_beta))
      fill(c, rng, t, op == CUTT_OP_MULTIPLY, nans);
  }
  free(before);
  before = malloc(buffer[TEST_RESULT].zone_bytes);
  assert_non_null(before);
  memcpy(before, buffer[TEST_RESULT].zone, buffer[TEST_RESULT].zone_bytes);
  test_fields fields;
  test_contraction_view(c, &fields);
  fields.contraction.reduce = op;
  fields.options.backend = test_device();
  void *there[TEST_TENSORS];
  for (int t = 0; t < TEST_TENSORS; ++t) there[t] = test_device_take(t, &buffer[t], zero[t], (size_t)element);
  assert_success(
      cuttContract(&fields.contraction, &fields.options, there[0], c->is.one ? NULL : there[1], there[2], NULL));
  for (int t = 0; t < TEST_TENSORS; ++t) test_device_give_back(t, &buffer[t]);
  if (*test_device_fault()) fail_msg("%s", test_device_fault());
  const test_value alpha = scalar(c->type, &c->alpha), beta = scalar(c->type, &c->beta);
  for (int64_t i = 0; i < test_contraction_volume(c, TEST_RESULT); ++i) {
    const int64_t at = test_contraction_at(c, TEST_RESULT, i) * element;
    unsigned char *was = before + (zero[TEST_RESULT] - buffer[TEST_RESULT].zone) + at;
    int64_t terms;
    test_value wanted = reduced(c, op, i, &terms), rest = {0, 0, 0};
    if (c->has_alpha) wanted = test_value_apply(c->type, CUTT_OP_MULTIPLY, alpha, wanted);
    if (c->has_beta && (test_type_whole(c->type) ? beta.whole != 0 : test_contraction_reads_result(c)))
      rest = test_value_apply(c->type, CUTT_OP_MULTIPLY, beta, test_value_load(c->type, was));
    const long double size = hypotl(wanted.re, wanted.im) + hypotl(rest.re, rest.im) + 0x1p-24L;
    wanted = test_value_apply(c->type, CUTT_OP_ADD, wanted, rest);
    const test_value got = test_value_load(c->type, zero[TEST_RESULT] + at);
    const long double half = c->type == CUTT_F16 || c->type == CUTT_BF16 ? FLT_EPSILON : 0;
    const long double many = (long double)(op == CUTT_OP_MULTIPLY ? terms : 1) * (half > 0 ? half : eps_of(c->type));
    assert_close(c, got, wanted, 6 * size * (many + eps_of(c->type)));
    memcpy(was, zero[TEST_RESULT] + at, (size_t)element);
    ++compared;
  }
  assert_memory_equal(buffer[TEST_RESULT].zone, before, buffer[TEST_RESULT].zone_bytes);
}

static const cuttType_t types[] = {CUTT_F64, CUTT_F32, CUTT_C64, CUTT_C32, CUTT_F16, CUTT_BF16, CUTT_I32, CUTT_I64};

static cuttOperator_t draw_operator(test_rng *rng, cuttType_t type) {
  return test_type_complex(type) || test_chance(rng, 33) ? CUTT_OP_MULTIPLY
         : test_chance(rng, 50)                          ? CUTT_OP_MAX
                                                         : CUTT_OP_MIN;
}

static void set_scalars(test_rng *rng, test_contraction *c) {
  c->has_alpha = test_chance(rng, 30);
  c->has_beta = test_chance(rng, 30) || c->is.adds;
  for (int part = 0; part < 2; ++part) {
    const double alpha = (double)test_random_in(rng, 3, 6) / 4, beta = -(double)test_random_in(rng, 2, 5) / 4;
    const bool f64 = c->type == CUTT_F64 || c->type == CUTT_C64;
    if (f64) c->alpha.f64[part] = alpha, c->beta.f64[part] = beta;
    if (!f64) c->alpha.f32[part] = (float)alpha, c->beta.f32[part] = (float)beta;
  }
  if (c->type == CUTT_I64) c->alpha.i64 = test_random_in(rng, -9, 9) | 1, c->beta.i64 = test_random_in(rng, -9, 9);
  if (c->type == CUTT_I32)
    c->alpha.i32 = (int32_t)test_random_in(rng, -9, 9) | 1, c->beta.i32 = (int32_t)test_random_in(rng, -9, 9);
}

static void any_pattern(void **unused) {
  (void)unused;
  static const test_variety variety = {40, 0, 0, 3, 0};
  static const char *const one[] = {"ab->a", "ab->b",   "abc->b", "abcb->ac", "aab->b",
                                    "ab->",  "abc->ca", "a->a",   "abcd->db"};
  test_rng rng = {20241101};
  for (int i = 0; i < test_scaled(900); ++i) {
    test_contraction c;
    if (i % 3 == 0) {
      test_contraction_draw(&rng, (int)test_random_in(&rng, 1, 4), 1500, &c);
    } else {
      assert_true(test_contraction_make(one[i / 3 % 9], CUTT_F64, &c));
      for (int label = 0; label < c.is.labels; ++label) c.extent[label] = test_random_in(&rng, 1, i % 5 ? 9 : 60);
      test_contraction_finish(&c);
    }
    bool none = false;
    for (int label = 0; label < c.is.labels; ++label) none |= c.extent[label] == 0;
    if (none) continue;
    test_contraction_vary(&rng, &variety, &c);
    c.type = types[i % 8];
    for (int t = 0; t < TEST_TENSORS; ++t)
      c.at[t] = test_chance(&rng, 50) ? TEST_AT_END : 16 * (int)test_random_in(&rng, 0, 3);
    set_scalars(&rng, &c);
    try_one(&rng, &c, draw_operator(&rng, c.type));
  }
  print_message("%ld elements compared\n", compared);
  assert_true(compared > test_scaled(4000));
}

/* Long enough to be cut into parts that are put together, and to be written past the caches. */
static void long_ones(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[3];
  } cases[] = {
      {"a->", {300007}}, {"ab->b", {70001, 3}}, {"ab->a", {3, 70001}}, {"ab,ab->", {700, 400}}, {"ab->a", {65536, 3}}};
  test_rng rng = {20241102};
  for (int i = 0; i < 5 * 8; ++i) {
    test_contraction c;
    assert_true(test_contraction_make(cases[i % 5].pattern, types[i / 5], &c));
    memcpy(c.extent, cases[i % 5].extent, (size_t)c.is.labels * sizeof *c.extent);
    for (int label = 0; label < c.is.labels && test_device_is_slow(); ++label)
      c.extent[label] = (c.extent[label] + 15) / 16;
    test_contraction_finish(&c);
    c.threads = 1 + i % 3;
    /* Of products of so many numbers nothing is left. */
    if (!test_type_complex(c.type)) try_one(&rng, &c, i % 2 ? CUTT_OP_MAX : CUTT_OP_MIN);
    if (i % 5 == 4 || test_type_whole(c.type)) try_one(&rng, &c, CUTT_OP_MULTIPLY);
  }
}

/* ----------------------------------------------------------------------------------------------- by hand, and refused */

typedef struct asked {
  cuttContraction_t c;
  cuttContractionOptions_t options;
  int64_t extents[2];
} asked;

static void start(asked *call, cuttOperator_t op) {
  call->c = (cuttContraction_t)CUTT_CONTRACTION_INIT;
  call->options = (cuttContractionOptions_t)CUTT_CONTRACTION_OPTIONS_INIT;
  call->options.backend = CUTT_BACKEND_CPU;
  call->extents[0] = 3;
  call->extents[1] = 2;
  call->c.pattern = "ab->b";
  call->c.type = CUTT_F64;
  call->c.left_rank = 2;
  call->c.result_rank = 1;
  call->c.left_extents = call->extents;
  call->c.reduce = op;
}

static void by_hand(void **unused) {
  (void)unused;
  const double left[6] = {2, -3, 5, NAN, 7, 0}, minus = -1;
  double result[2] = {0, 0};
  asked call;
  start(&call, CUTT_OP_MULTIPLY);
  assert_success(cuttContract(&call.c, &call.options, left, NULL, result, NULL));
  assert_true(result[0] == -30 && isnan(result[1]));
  start(&call, CUTT_OP_MAX);
  assert_success(cuttContract(&call.c, &call.options, left, NULL, result, NULL));
  assert_true(result[0] == 5 && isnan(result[1]));
  call.c.alpha = &minus;
  call.c.reduce = CUTT_OP_MIN;
  assert_success(cuttContract(&call.c, &call.options, left, NULL, result, NULL));
  assert_true(result[0] == 3 && isnan(result[1]));
  /* With infinities only. */
  const double far[6] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};
  start(&call, CUTT_OP_MAX);
  assert_success(cuttContract(&call.c, &call.options, far, NULL, result, NULL));
  assert_true(result[0] == -INFINITY && result[1] == INFINITY);
}

static void of_nothing(void **unused) {
  (void)unused;
  const double alpha = 3, beta = 2;
  double result[2] = {5, 7};
  asked call;
  start(&call, CUTT_OP_MULTIPLY);
  call.extents[0] = 0;
  call.c.alpha = &alpha;
  call.c.beta = &beta;
  assert_success(cuttContract(&call.c, &call.options, NULL, NULL, result, NULL));
  assert_true(result[0] == 13 && result[1] == 17);
  call.c.beta = NULL;
  result[0] = result[1] = NAN;
  assert_success(cuttContract(&call.c, &call.options, NULL, NULL, result, NULL));
  assert_true(result[0] == 3 && result[1] == 3);
  cuttContractionPlan_t plan;
  call.c.reduce = CUTT_OP_MIN;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &call.c, &call.options),
                "reduce is CUTT_OP_MIN", "'a' has extent 0");
  call.extents[1] = 0; /* then there is no element to find one for */
  assert_success(cuttContract(&call.c, &call.options, NULL, NULL, NULL, NULL));
}

/* A product over no elements on a device, of a result with gaps: alpha + beta D. */
static void of_nothing_there(void **unused) {
  (void)unused;
  test_rng rng = {20241103};
  for (int i = 0; i < 4 * 8; ++i) {
    test_contraction c;
    assert_true(test_contraction_make(i % 2 ? "ab,cb->ca" : "abc->ca", CUTT_F64, &c));
    c.extent[0] = 7;
    c.extent[1] = 0;
    c.extent[2] = 300;
    test_contraction_finish(&c);
    c.type = types[i % 8];
    set_scalars(&rng, &c);
    c.has_alpha = true;
    c.has_beta = i / 8 % 2;
    try_one(&rng, &c, CUTT_OP_MULTIPLY);
  }
}

/* With alpha 0 operands are not read by any algorithm: NaNs in them make no difference, nor does it that they are not there. */
static void alpha_zero(void **unused) {
  (void)unused;
  static const char *const algorithms[] = {"ttgt", "one-pass", NULL};
  const double none = 0, beta = 2;
  double left[6], right[2] = {NAN, INFINITY};
  for (int i = 0; i < 6; ++i) left[i] = NAN;
  for (int i = 0; i < 3; ++i) {
    for (int op = CUTT_OP_ADD; op <= (i ? CUTT_OP_MIN : CUTT_OP_ADD); ++op) {
      for (int two = 0; two < 2; ++two) {
        asked call;
        start(&call, (cuttOperator_t)op);
        call.options.algorithm = algorithms[i];
        call.c.alpha = &none;
        if (two) {
          call.c.pattern = "ab,b->b";
          call.c.right_rank = 1;
          call.c.right_extents = &call.extents[1];
        }
        double result[2] = {NAN, NAN};
        assert_success(cuttContract(&call.c, &call.options, left, right, result, NULL));
        assert_true(result[0] == 0 && result[1] == 0);
        call.c.beta = &beta;
        result[0] = 3, result[1] = -4;
        assert_success(cuttContract(&call.c, &call.options, NULL, NULL, result, NULL));
        assert_true(result[0] == 6 && result[1] == -8);
      }
    }
  }
}

static void refused(void **unused) {
  (void)unused;
  asked call;
  cuttContractionPlan_t plan;
  start(&call, (cuttOperator_t)4);
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &call.c, &call.options), "reduce is 4",
                "CUTT_OP_MIN");
  start(&call, CUTT_OP_MAX);
  call.c.type = CUTT_C64;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &call.c, &call.options),
                "reduce is CUTT_OP_MAX", "type is c64", "CUTT_OP_MULTIPLY");
  start(&call, CUTT_OP_MAX);
  call.options.algorithm = "ttgt";
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &call.c, &call.options),
                "reduce is CUTT_OP_MAX", "options->algorithm must be NULL or one-pass");
  call.options.algorithm = NULL;
  call.options.provider = "openblas";
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &call.c, &call.options),
                "reduce is CUTT_OP_MAX", "options->provider must be NULL");
  /* A caller that was built before there was such a field: a sum. */
  const double left[6] = {1, 2, 3, 4, 5, 6};
  double result[2];
  start(&call, CUTT_OP_MAX);
  call.c.struct_size = offsetof(cuttContraction_t, reduce);
  assert_success(cuttContract(&call.c, &call.options, left, NULL, result, NULL));
  assert_true(result[0] == 6 && result[1] == 15);
  char text[4096];
  start(&call, CUTT_OP_MAX);
  assert_success(cuttContractionPlanCreate(&plan, &call.c, &call.options));
  assert_success(cuttContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "CUTT_OP_MAX"));
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"reduce\":\"CUTT_OP_MAX\""));
  assert_success(cuttContractionPlanDestroy(plan));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_pattern), cmocka_unit_test(long_ones),  cmocka_unit_test(of_nothing_there),
      cmocka_unit_test(by_hand),     cmocka_unit_test(of_nothing), cmocka_unit_test(alpha_zero),
      cmocka_unit_test(refused),
  };
  const struct CMUnitTest on_device[] = {cmocka_unit_test(any_pattern), cmocka_unit_test(long_ones),
                                         cmocka_unit_test(of_nothing_there)};
  const int status = test_device_open(argc, argv);
  if (status >= 0) return status;
  const int failed = test_device() == CUTT_BACKEND_CPU ? cmocka_run_group_tests_name("reduce", tests, NULL, NULL)
                                                       : cmocka_run_group_tests_name("reduce", on_device, NULL, NULL);
  for (int t = 0; t < TEST_TENSORS; ++t) test_region_free(&region[t]);
  free(before);
  return failed;
}
