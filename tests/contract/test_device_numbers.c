/* Numbers that passes on a GPU have exactly: maxima and minima, NaNs among them, and sums of whole numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulated.h"
#include "support/check.h"
#include "value.h"

/* Maxima and minima of one operand, of halves and floats by instructions of their own, by every kernel of sums: each is an element, or a NaN where
 * one of its elements is. */
static void check_extremes(const cutt_contraction *c, const cutt_device_shape *shape, const int64_t *extent,
                           const bool *is_kept, unsigned char *left, unsigned char *result) {
  const int64_t element = c->type->bytes, results = c->volume[CUTT_RESULT];
  const simt_span spans[TEST_TENSORS] = {[TEST_LEFT] = {left, (size_t)(c->volume[CUTT_LEFT] * element)},
                                         [TEST_RESULT] = {result, (size_t)(results * element)}};
  unsigned char *const tensors[TEST_TENSORS] = {[TEST_LEFT] = left, [TEST_RESULT] = result};
  test_value *wanted = calloc((size_t)results, sizeof *wanted);
  bool *begun = calloc((size_t)results, sizeof *begun);
  assert_true(wanted && begun);
  memset(result, 0x5a, (size_t)(results * element));
  const char *wrong = emulated_run(c, shape, spans, tensors, NULL);
  if (wrong) fail_msg("%s", wrong);
  for (int64_t i = 0, at[3] = {0}; i < c->volume[CUTT_LEFT]; ++i) {
    int64_t own = 0, step = 1;
    for (int m = 0; m < 3; ++m) {
      own += is_kept[m] ? at[m] * step : 0;
      step *= is_kept[m] ? extent[m] : 1;
    }
    const test_value v = test_value_load(c->type->type, left + i * element);
    wanted[own] = begun[own] ? test_value_apply(c->type->type, c->reduce, wanted[own], v) : v;
    begun[own] = true;
    for (int m = 0; m < 3 && ++at[m] == extent[m]; ++m) at[m] = 0;
  }
  for (int64_t i = 0; i < results; ++i) {
    const test_value got = test_value_load(c->type->type, result + i * element);
    assert_true(got.re == wanted[i].re || (isnan(got.re) && isnan(wanted[i].re)));
  }
  free(begun);
  free(wanted);
}

static void extremes(void **unused) {
  (void)unused;
  enum { MOST = 40000 };
  static const struct {
    const char *pattern;
    int64_t extent[3];
    bool is_kept[3];
  } cases[] = {{"abc->b", {33, 50, 9}, {0, 1, 0}},   {"abc->bc", {7, 300, 8}, {0, 1, 1}},
               {"abc->bc", {8, 100, 30}, {0, 1, 1}}, {"abc->ac", {130, 9, 20}, {1, 0, 1}},
               {"abc->ac", {77, 40, 7}, {1, 0, 1}},  {"abc->a", {520, 12, 5}, {1, 0, 0}},
               {"abc->c", {900, 7, 3}, {0, 0, 1}}};
  static const cuttType_t types[] = {CUTT_F16, CUTT_BF16, CUTT_F32, CUTT_F64};
  static double left[MOST + 2] __attribute__((aligned(256))), result[MOST + 2] __attribute__((aligned(256)));
  test_rng rng = {19};
  test_rates.block_shared = 227 << 10;
  test_rates.multiprocessors = 4;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int type = 0; type < 4; ++type) {
      for (int op = CUTT_OP_MAX; op <= CUTT_OP_MIN; ++op) {
        static cutt_contraction c;
        cuttContraction_t asked = CUTT_CONTRACTION_INIT;
        int64_t kept_extent[3], volume = 1;
        int kept_rank = 0;
        for (int m = 0; m < 3; ++m) {
          volume *= cases[i].extent[m];
          if (cases[i].is_kept[m]) kept_extent[kept_rank++] = cases[i].extent[m];
        }
        asked.pattern = cases[i].pattern;
        asked.type = types[type];
        asked.reduce = (cuttOperator_t)op;
        asked.left_rank = 3;
        asked.result_rank = kept_rank;
        asked.left_extents = cases[i].extent;
        asked.result_extents = kept_extent;
        assert_success(cutt_contraction_check(&asked, &c));
        const int64_t behind =
            (int64_t)(i % 2) * c.type->bytes; /* an element behind where a device's memory would begin */
        unsigned char *const l = (unsigned char *)left + behind, *const d = (unsigned char *)result + behind;
        assert_true(volume <= MOST);
        for (int64_t n = 0; n < volume; ++n) {
          const float v = (float)test_random_in(&rng, -900, 900) / 8;
          const bool is_nan = test_random_in(&rng, 0, 999) == 0;
          if (types[type] == CUTT_F64)
            ((double *)(void *)l)[n] = is_nan ? (double)NAN : (double)v;
          else if (types[type] == CUTT_F32)
            ((float *)(void *)l)[n] = is_nan ? NAN : v;
          else /* whose ends of bits are numbers in either type */
            ((uint16_t *)(void *)l)[n] = is_nan ? 0x7fff : (uint16_t)(test_random(&rng) & 0xbbff);
        }
        cutt_device_shape shape;
        cutt_device_pass_tiles(&c, &test_rates, 1 << 20, &shape);
        if (isfinite(shape.seconds)) check_extremes(&c, &shape, cases[i].extent, cases[i].is_kept, l, d);
        cutt_device_pass_staged(&c, &test_rates, 1 << 20, &shape);
        if (isfinite(shape.seconds)) check_extremes(&c, &shape, cases[i].extent, cases[i].is_kept, l, d);
        cutt_device_pass_stretches(&c, &test_rates, 1 << 20, &shape);
        assert_true(isfinite(shape.seconds));
        check_extremes(&c, &shape, cases[i].extent, cases[i].is_kept, l, d);
        if (shape.stretch.inner_mode < 0 || c.mode[shape.stretch.inner_mode].stride[CUTT_LEFT] != 1) continue;
        shape.stretch.several = false;
        shape.stretch.wide = !shape.stretch.wide;
        shape.stretch.shared_bytes += (shape.stretch.results + 1) * CUTT_STRETCH_ENTRY;
        check_extremes(&c, &shape, cases[i].extent, cases[i].is_kept, l, d);
      }
    }
  }
}

/* Sums of whole numbers are exact, modulo 2^32 or 2^64. */
static void whole_numbers(void **unused) {
  (void)unused;
  enum { ROWS = 70, SUM = 90 };
  static const int64_t left_extents[] = {SUM, ROWS}, right_extents[] = {ROWS, SUM};
  int64_t left[SUM * ROWS], right[SUM * ROWS], result[ROWS], alpha = -3, beta = 5;
  int32_t short_left[SUM * ROWS], short_right[SUM * ROWS], short_result[ROWS], short_alpha = -3, short_beta = 5;
  test_rates.block_shared = 227 << 10;
  for (int again = 0; again < 4; ++again) { /* of both widths, by what is chosen and as small products */
    const bool wide = again % 2 == 1;
    test_rng rng = {5};
    static cutt_contraction c;
    cuttContraction_t asked = CUTT_CONTRACTION_INIT;
    cutt_device_shape shape;
    uint64_t expected[ROWS];
    for (int i = 0; i < SUM * ROWS; ++i) {
      left[i] = (int64_t)test_random(&rng);
      right[i] = (int64_t)test_random(&rng);
      short_left[i] = (int32_t)left[i];
      short_right[i] = (int32_t)right[i];
    }
    for (int j = 0; j < ROWS; ++j) {
      short_result[j] = (int32_t)(result[j] = j);
      expected[j] = 0;
      for (int i = 0; i < SUM; ++i) expected[j] += (uint64_t)left[i + SUM * j] * (uint64_t)right[j + ROWS * i];
      expected[j] = expected[j] * (uint64_t)alpha + 5 * (uint64_t)j;
    }
    asked.pattern = "ij,ji->j";
    asked.type = wide ? CUTT_I64 : CUTT_I32;
    asked.left_rank = asked.right_rank = 2;
    asked.result_rank = 1;
    asked.left_extents = left_extents;
    asked.right_extents = right_extents;
    asked.alpha = wide ? (void *)&alpha : &short_alpha;
    asked.beta = wide ? (void *)&beta : &short_beta;
    assert_success(cutt_contraction_check(&asked, &c));
    if (again < 2)
      cutt_device_pass_choose(&c, &test_rates, 0, &shape);
    else
      cutt_device_pass_small(&c, &test_rates, &shape);
    assert_true(isfinite(shape.seconds));
    void *const at[] = {wide ? (void *)left : short_left, wide ? (void *)right : short_right,
                        wide ? (void *)result : short_result};
    simt_span spans[TEST_TENSORS];
    unsigned char *tensors[TEST_TENSORS];
    for (int t = 0; t < TEST_TENSORS; ++t) {
      const size_t numbers = t == TEST_RESULT ? ROWS : SUM * ROWS;
      spans[t] = (simt_span){at[t], numbers * (wide ? sizeof *left : sizeof *short_left)};
      tensors[t] = at[t];
    }
    const char *wrong = emulated_run(&c, &shape, spans, tensors, NULL);
    if (wrong) fail_msg("%s", wrong);
    for (int j = 0; j < ROWS; ++j)
      assert_true(wide ? (uint64_t)result[j] == expected[j] : (uint32_t)short_result[j] == (uint32_t)expected[j]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers), cmocka_unit_test(extremes)};
  return cmocka_run_group_tests_name("exact numbers of passes on a GPU", tests, NULL, emulated_cleanup);
}
