/* What a contraction may be: the fields and their errors, and the canonical form that the planner sees. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "contract/problem.h"
#include "support/check.h"

static cutt_contraction checked; /* large */
static const int64_t left3[3] = {5, 6, 7}, right2[2] = {7, 8}, result3[3] = {5, 6, 8};

static cuttContraction_t valid(void) {
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  c.pattern = "abc,cd->abd";
  c.type = CUTT_F64;
  c.left_rank = 3;
  c.right_rank = 2;
  c.result_rank = 3;
  c.left_extents = left3;
  c.right_extents = right2;
  return c;
}

static cuttResult check(const cuttContraction_t *c) {
  memset(&checked, 0xff, sizeof checked);
  return cutt_contraction_check(c, &checked);
}

#define refuses(c, ...) assert_result(CUTT_INVALID_PARAMETER, check(c), __VA_ARGS__)

/* ------------------------------------------------------------------------------------------------------- refusals */

static void refuses_bad_fields(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  assert_success(check(&c));
  refuses(NULL, "contraction", "NULL");
  c.struct_size = 8;
  refuses(&c, "contraction->struct_size", "8", "INIT");
  c.struct_size = 100000;
  refuses(&c, "contraction->struct_size");
  c = valid();
  c.pattern = NULL;
  refuses(&c, "pattern is NULL");
  c.pattern = "abc,cd->abx";
  refuses(&c, "the letter 'x'", "place 11");
  static const int types[] = {0, 3, CUTT_BYTES_1, CUTT_BYTES_8, CUTT_BYTES_4, CUTT_BYTES_16, 40, -1, INT_MAX, INT_MIN};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    c = valid();
    memcpy(&c.type, &types[i], sizeof c.type);
    refuses(&c, "type is", "CUTT_F32", "CUTT_F64", "CUTT_C32", "CUTT_C64", "CUTT_F16", "CUTT_BF16", "CUTT_I32",
            "CUTT_I64");
  }
  c.type = CUTT_BYTES_4;
  refuses(&c, "bytes4", "can't be contracted");
  static const cuttType_t good[] = {CUTT_F16, CUTT_BF16, CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_I32, CUTT_I64};
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
    c.type = good[i];
    assert_success(check(&c));
    assert_int_equal(checked.type->type, good[i]);
  }
}

static void refuses_bad_ranks(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  c.left_rank = 2;
  refuses(&c, "left_rank is 2", "the left operand 3 modes", "must be 3");
  c = valid();
  c.right_rank = -1;
  refuses(&c, "right_rank is -1", "the right operand 2 modes");
  c = valid();
  c.result_rank = 65;
  refuses(&c, "result_rank is 65", "the result 3 modes");
  c = valid();
  c.left_extents = NULL;
  refuses(&c, "left_extents is NULL", "left_rank 3", "3 extents");
  c = valid();
  c.right_extents = NULL;
  refuses(&c, "right_extents is NULL");
  c = (cuttContraction_t)CUTT_CONTRACTION_INIT; /* nothing has to be there where nothing is pointed to */
  c.type = CUTT_F32;
  c.pattern = ",->";
  assert_success(check(&c));
  assert_int_equal(checked.modes, 0);
  assert_int_equal(checked.volume[CUTT_RESULT], 1);
  assert_int_equal(checked.high[CUTT_LEFT], 4);
}

static void refuses_bad_extents(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  int64_t left[3] = {5, 6, 7}, right[2] = {7, 8}, result[3] = {5, 6, 8};
  c.left_extents = left;
  c.right_extents = right;
  c.result_extents = result;
  assert_success(check(&c));
  left[1] = -4;
  refuses(&c, "left_extents[1] is -4", "0 or more");
  left[1] = 6;
  right[0] = 9;
  refuses(&c, "left_extents[2] is 7", "right_extents[0] is 9", "'c'", "places 3 and 5", "the same");
  right[0] = 7;
  result[2] = 4;
  refuses(&c, "right_extents[1] is 8", "result_extents[2] is 4", "'d'", "places 6 and 11");
  result[2] = INT64_MIN;
  refuses(&c, "result_extents[2] is -9223372036854775808");
  result[2] = 8;
  c.pattern = "aba,cd->bcd";
  result[0] = 6, result[1] = 7;
  refuses(&c, "left_extents[0] is 5", "left_extents[2] is 7", "'a'", "places 1 and 3");
  c.pattern = "abc,cd"; /* the result is implied */
  result[0] = 5, result[1] = 6, result[2] = 9;
  refuses(&c, "right_extents[1] is 8", "result_extents[2] is 9", "'d'", "place 6", "implied");
  c.pattern = "D(m1,m2,nn)=L(m1,m2,kk)*R(kk,nn)";
  result[2] = 8;
  assert_success(check(&c));
  right[0] = 1; /* 1 does not repeat, as it does in NumPy's broadcasting */
  refuses(&c, "left_extents[2] is 7", "right_extents[0] is 1", "'kk'", "places 21 and 27");
}

static void refuses_what_overflows(void **unused) {
  (void)unused;
  const int64_t large = INT64_C(1) << 24;
  cuttContraction_t c = valid();
  int64_t left[3] = {large, large, 4}, right[2] = {4, 1};
  c.left_extents = left;
  c.right_extents = right;
  refuses(&c, "left_extents[2] is 4", "the left operand past 2^52 bytes", "8 for each");
  left[2] = right[0] = 2; /* 2^49 elements of 8 bytes */
  assert_success(check(&c));
  c.type = CUTT_C64;
  refuses(&c, "left_extents[2] is 2", "2^52 bytes", "16 for each");
  c.type = CUTT_F64;
  left[1] = INT64_MAX;
  refuses(&c, "left_extents[1] is 9223372036854775807", "2^52");
  left[0] = 1, left[1] = 2, left[2] = right[0] = 3;
  right[1] = (INT64_C(1) << 49) / 3 + 1;
  refuses(&c, "right_extents[1]", "the right operand past 2^52 bytes");
  --right[1]; /* now each fits, and so does the result, which has 2 rows rather than 3 */
  assert_success(check(&c));
  left[1] = 4;
  refuses(&c, "result_extents[2]", "the result past 2^52 bytes");
  left[1] = 2;
  right[1] = 4;
  int64_t strides[3] = {1, 1, INT64_MAX / 16};
  c.left_strides = strides;
  refuses(&c, "left_strides[2] is 576460752303423487", "extent 3", "8-byte");
  strides[2] = INT64_MAX / 32;
  assert_success(check(&c));
  strides[2] = -INT64_MAX / 32;
  assert_success(check(&c));
  strides[2] = INT64_MIN;
  refuses(&c, "left_strides[2]");
  strides[0] = INT64_MIN; /* of an extent of 1: never multiplied */
  strides[2] = 2;
  assert_success(check(&c));
  c.left_strides = NULL;
  strides[0] = INT64_MAX / 2;
  strides[1] = INT64_MAX / 2;
  c.result_strides = strides;
  refuses(&c, "result_strides[1]", "the result");

  /* Every tensor is small where strides are 0, and yet the products are too many. */
  c = valid();
  c.pattern = "ab,cd->";
  c.left_rank = 2, c.result_rank = 0;
  static const int64_t wide[2] = {INT64_C(1) << 20, INT64_C(1) << 20}, none[2] = {0, 0};
  c.left_extents = c.right_extents = wide;
  c.left_strides = c.right_strides = none;
  refuses(&c, "extents of all letters", "'d'", "1048576", "2^63");
}

static void refuses_a_result_that_overlaps(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  int64_t strides[3] = {1, 5, 30};
  c.result_strides = strides;
  c.result_extents = result3;
  assert_success(check(&c));
  strides[1] = 0;
  refuses(&c, "result_strides[1] is 0", "extent 6", "overlap");
  strides[1] = 4;
  refuses(&c, "result_strides", "overlap", "mode 0", "mode 1");
  strides[0] = 6, strides[1] = -1, strides[2] = -30;
  assert_success(check(&c));
  strides[2] = 29;
  refuses(&c, "result_strides", "overlap");
  c.result_strides = NULL;
  c.left_strides = c.right_strides = strides; /* operands may */
  strides[0] = strides[1] = 0;
  assert_success(check(&c));
}

/* --------------------------------------------------------------------------------------------------- what is made of it */

static const cutt_contract_mode *mode(const char *name) {
  for (int i = 0; i < checked.modes; ++i) {
    if (!strcmp(checked.mode[i].name, name)) return &checked.mode[i];
  }
  fail_msg("there is no mode '%s'", name);
  return NULL;
}

static void assert_mode(const char *name, cutt_group group, int64_t extent, int64_t left, int64_t right,
                        int64_t result) {
  const cutt_contract_mode *m = mode(name);
  assert_int_equal(m->group, group);
  assert_int_equal(m->extent, extent);
  assert_int_equal(m->stride[CUTT_LEFT], left);
  assert_int_equal(m->stride[CUTT_RIGHT], right);
  assert_int_equal(m->stride[CUTT_RESULT], result);
}

static cuttContraction_t contraction(const char *pattern, int left_rank, const int64_t *left, int right_rank,
                                     const int64_t *right, int result_rank) {
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  c.pattern = pattern;
  c.type = CUTT_F32;
  c.left_rank = left_rank;
  c.left_extents = left;
  c.right_rank = right_rank;
  c.right_extents = right;
  c.result_rank = result_rank;
  return c;
}

static void sorts_modes_into_groups(void **unused) {
  (void)unused;
  static const int64_t left[6] = {2, 3, 4, 5, 6, 7}, right[5] = {5, 8, 2, 9, 6};
  cuttContraction_t c = contraction("abcdes,dfage->gbafc", 6, left, 5, right, 5);
  assert_success(check(&c));
  assert_int_equal(checked.modes, 8);
  assert_mode("b", CUTT_GROUP_M, 3, 2, 0, 9);
  assert_mode("c", CUTT_GROUP_M, 4, 6, 0, 9 * 3 * 2 * 8);
  assert_mode("f", CUTT_GROUP_N, 8, 0, 5, 9 * 3 * 2);
  assert_mode("g", CUTT_GROUP_N, 9, 0, 80, 1);
  assert_mode("d", CUTT_GROUP_K, 5, 24, 1, 0);
  assert_mode("e", CUTT_GROUP_K, 6, 120, 720, 0);
  assert_mode("a", CUTT_GROUP_BATCH, 2, 1, 40, 27);
  assert_mode("s", CUTT_GROUP_SUM_L, 7, 720, 0, 0);
  static const char *const order[] = {"b", "c", "f", "g", "d", "e", "a", "s"};
  for (int i = 0; i < 8; ++i) assert_string_equal(checked.mode[i].name, order[i]);
  assert_int_equal(checked.volume[CUTT_LEFT], 5040);
  assert_int_equal(checked.volume[CUTT_RIGHT], 4320);
  assert_int_equal(checked.volume[CUTT_RESULT], 9 * 3 * 2 * 8 * 4);
  assert_int_equal(checked.low[CUTT_LEFT], 0);
  assert_int_equal(checked.high[CUTT_LEFT], 4 * 5040);
  assert_false(checked.empty || checked.no_terms);
}

static void fuses_what_takes_the_same_steps(void **unused) {
  (void)unused;
  static const int64_t left[4] = {2, 3, 4, 5}, right[4] = {4, 5, 6, 7};
  cuttContraction_t c = contraction("abcd,cdef->abef", 4, left, 4, right, 4);
  assert_success(check(&c));
  assert_int_equal(checked.modes, 3);
  assert_mode("ab", CUTT_GROUP_M, 6, 1, 0, 1);
  assert_mode("cd", CUTT_GROUP_K, 20, 6, 1, 0);
  assert_mode("ef", CUTT_GROUP_N, 42, 0, 20, 6);
  static const int64_t transposed[4] = {5, 4, 6, 7};
  c = contraction("abcd,dcef->abfe", 4, left, 4, transposed, 4); /* neighbours on one side only */
  assert_success(check(&c));
  assert_int_equal(checked.modes, 5);
  assert_mode("ab", CUTT_GROUP_M, 6, 1, 0, 1);
  /* From the far end, and out of order: with negative strides the rule is the same. */
  static const int64_t small[4] = {4, 3, 2, 5}, two_three[2] = {2, 3}, three_two[2] = {3, 2};
  static const int64_t backwards[4] = {-15, -5, -60, -1};
  c = contraction("cbad,an->dbcn", 4, small, 2, two_three, 4);
  c.left_strides = backwards;
  assert_success(check(&c));
  assert_int_equal(checked.modes, 3);
  assert_mode("dbc", CUTT_GROUP_M, 60, -1, 0, 1);
  c = contraction("cbad,na->bcdn", 4, small, 2, three_two, 4);
  c.left_strides = backwards;
  assert_success(check(&c));
  assert_int_equal(checked.modes, 4);
  assert_mode("bc", CUTT_GROUP_M, 12, -5, 0, 1);
  assert_mode("d", CUTT_GROUP_M, 5, -1, 0, 12);
  assert_int_equal(checked.low[CUTT_LEFT], -4 * (45 + 10 + 60 + 4));
  assert_int_equal(checked.high[CUTT_LEFT], 4);
  static const int64_t forwards[4] = {15, 5, 60, -1}; /* and not where one of the strides is negative */
  c.pattern = "cbad,na->dbcn";
  c.left_strides = forwards;
  assert_success(check(&c));
  assert_mode("bc", CUTT_GROUP_M, 12, 5, 0, 5);
  assert_mode("d", CUTT_GROUP_M, 5, -1, 0, 1);
  /* Repeats fuse where they repeat. */
  static const int64_t zero[2] = {0, 0}, two[2] = {3, 4};
  c = contraction("ab,ab->ab", 2, two, 2, two, 2);
  c.left_strides = zero;
  assert_success(check(&c));
  assert_int_equal(checked.modes, 1);
  assert_mode("ab", CUTT_GROUP_BATCH, 12, 0, 1, 1);
}

static void names_of_fused_modes_are_cut(void **unused) {
  (void)unused;
  static const int64_t twos[8] = {2, 2, 2, 2, 2, 2, 2, 2};
  cuttContraction_t c =
      contraction("D(alpha_1,beta_2,gamma_3,delta_4)=L(alpha_1,beta_2,gamma_3,delta_4)*R()", 4, twos, 0, NULL, 4);
  assert_success(check(&c));
  assert_int_equal(checked.modes, 1);
  assert_string_equal(checked.mode[0].name, "alpha_1beta_2gamma_3delta_4");
  c.pattern = "D(alpha_1,beta_2,gamma_3,delta_4,epsilon_5)=L(alpha_1,beta_2,gamma_3,delta_4,epsilon_5)*R()";
  c.left_rank = c.result_rank = 5;
  assert_success(check(&c));
  assert_string_equal(checked.mode[0].name, "alpha_1beta_2gamma_3delta_4eps~");
  c.pattern = "D(alpha_1,beta_2,gamma_3,delta_4,epsilon_5,z)=L(alpha_1,beta_2,gamma_3,delta_4,epsilon_5,z)*R()";
  c.left_rank = c.result_rank = 6;
  assert_success(check(&c));
  assert_string_equal(checked.mode[0].name, "alpha_1beta_2gamma_3delta_4eps~");
}

static void walks_diagonals_and_drops_ones(void **unused) {
  (void)unused;
  static const int64_t left[4] = {3, 1, 3, 4}, right[3] = {4, 4, 1};
  cuttContraction_t c = contraction("abac,ccb->a", 4, left, 3, right, 1);
  assert_success(check(&c));
  assert_int_equal(checked.modes, 2);
  assert_mode("a", CUTT_GROUP_M, 3, 4, 0, 1);
  assert_mode("c", CUTT_GROUP_K, 4, 9, 5, 0);
  assert_int_equal(checked.volume[CUTT_LEFT], 12);
  assert_int_equal(checked.volume[CUTT_RIGHT], 4);
  assert_int_equal(checked.high[CUTT_RIGHT], 64);
}

static void knows_what_is_empty(void **unused) {
  (void)unused;
  static const int64_t left[2] = {3, 0}, right[2] = {0, 4};
  cuttContraction_t c = contraction("ab,bc->ac", 2, left, 2, right, 2);
  assert_success(check(&c));
  assert_true(checked.no_terms && !checked.empty);
  assert_int_equal(checked.volume[CUTT_LEFT], 0);
  assert_int_equal(checked.low[CUTT_LEFT], 0);
  assert_int_equal(checked.high[CUTT_LEFT], 0);
  assert_int_equal(checked.volume[CUTT_RESULT], 12);
  for (int i = 0; i < checked.modes; ++i) assert_in_range(checked.mode[i].group, CUTT_GROUP_M, CUTT_GROUP_N);
  c.pattern = "ba,cb->ac";
  c.left_extents = right;
  c.right_extents = left;
  assert_success(check(&c));
  assert_true(checked.no_terms && !checked.empty);
  c.pattern = "ba,cd->bc"; /* b, of the result, has none */
  assert_success(check(&c));
  assert_true(checked.empty);
  assert_int_equal(checked.modes, 0);
  assert_int_equal(checked.high[CUTT_RESULT], 0);
  c.pattern = "ab,cd->a"; /* a sum in one operand over nothing */
  c.left_extents = left;
  c.right_extents = right;
  c.result_rank = 1;
  assert_success(check(&c));
  assert_true(checked.no_terms && !checked.empty);
}

static void reads_scalars(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  const double zero = 0, minus_zero = -0.0, one = 1, half = 0.5;
  assert_success(check(&c));
  double value[2];
  memcpy(value, checked.alpha, sizeof value);
  assert_true(value[0] == 1 && value[1] == 0 && checked.alpha_is_one && !checked.alpha_is_zero);
  assert_true(checked.beta_is_zero && !checked.beta_is_one);
  c.pattern = "D(a,b,d)+=L(a,b,c)*R(c,d)";
  assert_success(check(&c));
  memcpy(value, checked.beta, sizeof value);
  assert_true(value[0] == 1 && value[1] == 0 && !checked.beta_is_zero && checked.beta_is_one);
  c.beta = &minus_zero; /* what is given counts */
  c.alpha = &half;
  assert_success(check(&c));
  memcpy(value, checked.alpha, sizeof value);
  assert_true(value[0] == 0.5 && !checked.alpha_is_one && !checked.alpha_is_zero && !checked.no_terms);
  assert_true(checked.beta_is_zero && !checked.beta_is_one);
  c.alpha = &zero;
  c.beta = &one;
  assert_success(check(&c));
  assert_true(checked.alpha_is_zero && checked.no_terms && checked.beta_is_one && !checked.empty);

  c.type = CUTT_BF16; /* whose scalars are float */
  const float third = 1.0f / 3;
  c.alpha = &third;
  c.beta = NULL;
  assert_success(check(&c));
  float narrow[4];
  memcpy(narrow, checked.alpha, sizeof narrow);
  assert_true(narrow[0] == third && narrow[1] == 0 && narrow[2] == 0 && narrow[3] == 0);
  memcpy(narrow, checked.beta, sizeof narrow);
  assert_true(narrow[0] == 1);
  c.type = CUTT_C64;
  const double imaginary[2] = {0, 1}, real_one[2] = {1, -0.0};
  c.alpha = imaginary;
  c.beta = real_one;
  assert_success(check(&c));
  assert_true(!checked.alpha_is_zero && !checked.alpha_is_one && checked.beta_is_one);
  c.type = CUTT_C32;
  const float small[2] = {0, 1e-30f};
  c.alpha = small;
  c.beta = NULL;
  assert_success(check(&c));
  assert_true(!checked.alpha_is_zero && checked.beta_is_one);
}

static void conjugates_once(void **unused) {
  (void)unused;
  cuttContraction_t c = valid();
  c.pattern = "D(a,b,d)=L+(a,b,c)*R(c,d)";
  c.type = CUTT_C64;
  assert_success(check(&c));
  assert_true(checked.conjugate[0] && !checked.conjugate[1]);
  c.conjugate_left = -3;
  c.conjugate_right = 1;
  assert_success(check(&c));
  assert_true(!checked.conjugate[0] && checked.conjugate[1]);
  c.type = CUTT_F64;
  assert_success(check(&c));
  assert_false(checked.conjugate[0] || checked.conjugate[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_bad_fields),
      cmocka_unit_test(refuses_bad_ranks),
      cmocka_unit_test(refuses_bad_extents),
      cmocka_unit_test(refuses_what_overflows),
      cmocka_unit_test(refuses_a_result_that_overlaps),
      cmocka_unit_test(sorts_modes_into_groups),
      cmocka_unit_test(fuses_what_takes_the_same_steps),
      cmocka_unit_test(names_of_fused_modes_are_cut),
      cmocka_unit_test(walks_diagonals_and_drops_ones),
      cmocka_unit_test(knows_what_is_empty),
      cmocka_unit_test(reads_scalars),
      cmocka_unit_test(conjugates_once),
  };
  return cmocka_run_group_tests_name("contraction_check", tests, NULL, NULL);
}
