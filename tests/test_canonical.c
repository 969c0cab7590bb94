/* The step before every other: outputs whose elements overlap are refused, and the canonical form is the same problem in
 * its smallest rank and widest element. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/canonical.h"
#include "support/check.h"

/* ------------------------------------------------------------------------------------------------ overlapping outputs */

static cuttResult create_out(int rank, const int64_t *out_extents, const int64_t *out_strides) {
  int perm[CUTT_MAX_RANK];
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  for (int i = 0; i < rank; i++) perm[i] = i;
  p.rank = rank;
  p.type = CUTT_BYTES_1;
  p.extents = out_extents;
  p.perm = perm;
  p.out_strides = out_strides;
  cuttPlan_t plan = NULL;
  const cuttResult result = cuttPlanCreate(&plan, &p, NULL);
  assert_int_equal(result == CUTT_SUCCESS, plan != NULL);
  cuttPlanDestroy(plan);
  return result;
}

/* Do two elements of this output share an address? By trying them all. */
static bool injective(int rank, const int64_t *extents, const int64_t *strides) {
  int64_t volume = 1, low = 0, high = 1;
  for (int n = 0; n < rank; n++) {
    const int64_t reach = (extents[n] - 1) * strides[n];
    volume *= extents[n];
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  bool good = true;
  unsigned char *hit = calloc((size_t)(high - low), 1);
  assert_non_null(hit);
  for (int64_t e = 0; e < volume; e++) {
    int64_t rest = e, at = -low;
    for (int n = 0; n < rank; n++) {
      at += rest % extents[n] * strides[n];
      rest /= extents[n];
    }
    good = good && !hit[at]++;
  }
  free(hit);
  return good;
}

static void check_overlap(int rank, const int64_t *extents, const int64_t *strides) {
  const bool good = injective(rank, extents, strides);
  const cuttResult result = create_out(rank, extents, strides);
  if (good != (result == CUTT_SUCCESS)) {
    for (int n = 0; n < rank; n++) print_error("extent %d stride %d\n", (int)extents[n], (int)strides[n]);
    fail_msg("%s", good ? cuttLastError() : "accepted, though elements overlap");
  }
  if (!good) assert_result(CUTT_INVALID_PARAMETER, result, "out_strides");
}

static void overlapping_outputs_are_refused(void **unused) {
  (void)unused;
  static const struct {
    int rank;
    int64_t extents[4], strides[4];
  } rows[] = {
      {1, {5}, {1}},
      {1, {5}, {0}},
      {1, {1}, {0}},
      {1, {5}, {-1}},
      {2, {5, 6}, {1, 5}},
      {2, {5, 6}, {1, 4}}, /* the classic: a row too short */
      {2, {5, 6}, {6, 1}},
      {2, {5, 6}, {-6, 1}},
      {2, {5, 6}, {1, 1}},
      {2, {5, 6}, {1, -1}},
      {2, {5, 6}, {1, -5}},
      {2, {5, 6}, {2, 10}},
      {2, {3, 2}, {2, 3}}, /* interleaved and yet apart: 0 2 4 and 3 5 7 */
      {2, {4, 2}, {2, 3}},
      {2, {4, 3}, {2, 3}}, /* meets at 6 */
      {3, {2, 2, 2}, {1, 2, 3}},
      {3, {2, 2, 2}, {1, 2, 4}},
      {3, {2, 2, 2}, {3, 5, 6}},
      {3, {2, 2, 2}, {3, 5, 8}},
      {3, {2, 2, 2}, {3, 5, -8}},
      {3, {3, 3, 3}, {9, 1, 3}},
      {3, {3, 3, 3}, {8, 1, 3}},
      {4, {2, 3, 2, 3}, {1, 2, 6, 12}},
      {4, {2, 3, 2, 3}, {1, 2, 6, 11}},
      {2, {999, 1000}, {1000, 999}},  /* 999 steps of 1000 would meet 1000 steps of 999: one too many of each */
      {2, {1000, 1001}, {1000, 999}}, /* just enough */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_overlap(rows[i].rank, rows[i].extents, rows[i].strides);
}

/* Small random outputs: whatever overlaps is refused, and whatever does not is accepted. */
static void random_overlaps_are_refused(void **unused) {
  (void)unused;
  test_rng rng = {99};
  for (int i = test_scaled(20000); i > 0; i--) {
    int64_t extents[4], strides[4];
    const int rank = (int)test_random_in(&rng, 1, 4);
    for (int n = 0; n < rank; n++) {
      extents[n] = test_random_in(&rng, 1, 5);
      strides[n] = test_random_in(&rng, -30, 30);
    }
    check_overlap(rank, extents, strides);
  }
}

/* Deciding it can be hard in general; the answer must come at once all the same. Modes of coprime strides, none of which
 * is beyond the reach of the others. */
static void hard_overlaps_end_soon(void **unused) {
  (void)unused;
  int64_t extents[24], strides[24];
  for (int i = 0; i < 24; i++) {
    extents[i] = 3 + i % 3;
    strides[i] = 1000003 + 7919 * i * i + i;
  }
  assert_result(CUTT_INVALID_PARAMETER, create_out(24, extents, strides), "out_strides");
}

/* ------------------------------------------------------------------------------------------------ canonical form */

static cutt_canonical canonical_of(const test_problem *p) {
  const cuttProblem_t view = test_problem_view(p);
  cutt_canonical c;
  assert_success(cutt_canonicalize(&view, &c));
  return c;
}

static void assert_modes(const cutt_canonical *c, int elem_bytes, int rank, const int64_t (*modes)[3]) {
  assert_int_equal(c->elem_bytes, elem_bytes);
  assert_int_equal(c->rank, rank);
  for (int i = 0; i < rank; i++) {
    assert_int_equal(c->mode[i].extent, modes[i][0]);
    assert_int_equal(c->mode[i].in_stride, modes[i][1]);
    assert_int_equal(c->mode[i].out_stride, modes[i][2]);
  }
  for (int i = 1; i < rank; i++)
    assert_true(c->mode[c->out_order[i - 1]].out_stride < c->mode[c->out_order[i]].out_stride);
}

static void canonical_forms(void **unused) {
  (void)unused;
  {
    const int64_t extents[5] = {3, 1, 5, 1, 7};
    const int perm[5] = {4, 3, 2, 1, 0};
    const test_problem p = test_packed(CUTT_F32, 5, extents, perm);
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 4, 3, (const int64_t[][3]){{3, 1, 35}, {5, 3, 7}, {7, 15, 1}});
    assert_int_equal(c.volume, 105);
    assert_false(c.identity);
    assert_int_equal(c.in_high - c.in_low, 420);
  }
  { /* identity: one run, and of the widest elements that go into it */
    const int64_t extents[3] = {3, 5, 7};
    const int perm[3] = {0, 1, 2};
    const test_problem p = test_packed(CUTT_BYTES_4, 3, extents, perm);
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 4, 1, (const int64_t[][3]){{105, 1, 1}});
    assert_true(c.identity);
  }
  { /* modes 0 and 1 stay neighbours: fused */
    const int64_t extents[3] = {3, 5, 7};
    const int perm[3] = {2, 0, 1};
    const test_problem p = test_packed(CUTT_BYTES_8, 3, extents, perm);
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 8, 2, (const int64_t[][3]){{15, 1, 7}, {7, 15, 1}});
  }
  { /* a common first mode of 2 x 4 bytes is one element of 8 */
    const int64_t extents[3] = {2, 5, 7};
    const int perm[3] = {0, 2, 1};
    const test_problem p = test_packed(CUTT_BYTES_4, 3, extents, perm);
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 8, 2, (const int64_t[][3]){{5, 1, 7}, {7, 5, 1}});
    assert_int_equal(c.base_bytes, 4);
    assert_int_equal(c.volume, 35);
  }
  { /* at most 16 bytes */
    const int64_t extents[3] = {64, 5, 7};
    const int perm[3] = {0, 2, 1};
    const test_problem p = test_packed(CUTT_BYTES_1, 3, extents, perm);
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 16, 3, (const int64_t[][3]){{4, 1, 1}, {5, 4, 28}, {7, 20, 4}});
  }
  { /* a gap that is no multiple of the wider element forbids it */
    const int64_t extents[3] = {2, 5, 7};
    const int perm[3] = {0, 2, 1};
    test_problem p = test_packed(CUTT_BYTES_4, 3, extents, perm);
    p.in_strided = true;
    p.in_strides[1] = 3;
    p.in_strides[2] = 15;
    const cutt_canonical c = canonical_of(&p);
    assert_int_equal(c.elem_bytes, 4);
    assert_int_equal(c.rank, 3);
  }
  { /* a mode reversed on both sides is walked from its other end */
    const int64_t extents[2] = {6, 5};
    const int perm[2] = {1, 0};
    test_problem p = test_packed(CUTT_BYTES_8, 2, extents, perm);
    p.in_strided = p.out_strided = true;
    p.in_strides[0] = -1;
    p.out_strides[1] = -5;
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 8, 2, (const int64_t[][3]){{6, 1, 5}, {5, 6, 1}});
    assert_int_equal(c.in_start, -5 * 8);
    assert_int_equal(c.out_start, -25 * 8);
    assert_int_equal(c.in_low, -5 * 8);
    assert_int_equal(c.out_low, -25 * 8);
  }
  { /* on one side only: the input's stride stays negative */
    const int64_t extents[2] = {6, 5};
    const int perm[2] = {1, 0};
    test_problem p = test_packed(CUTT_BYTES_8, 2, extents, perm);
    p.out_strided = true;
    p.out_strides[0] = -1;
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 8, 2, (const int64_t[][3]){{6, 1, 5}, {5, -6, 1}});
  }
  { /* a repeated mode comes last */
    const int64_t extents[2] = {6, 5};
    const int perm[2] = {0, 1};
    test_problem p = test_packed(CUTT_BYTES_2, 2, extents, perm);
    p.in_strided = true;
    p.in_strides[0] = 0;
    p.in_strides[1] = 1;
    const cutt_canonical c = canonical_of(&p);
    assert_modes(&c, 2, 2, (const int64_t[][3]){{5, 1, 6}, {6, 0, 1}});
  }
}

/* Whatever the problem, its canonical form reaches the same pairs of bytes and keeps its promises. */
static void canonical_form_is_the_problem(void **unused) {
  (void)unused;
  test_rng rng = {5};
  const test_limits limits = {0, 8, 400, 0, 60, 30, 1};
  for (int n = 0; n < test_scaled(3000); n++) {
    const test_problem p = test_random_problem(&rng, &limits);
    const cutt_canonical c = canonical_of(&p);
    const int64_t bytes = (int64_t)test_type_bytes(p.type);
    int64_t volume = c.elem_bytes, in_low, in_high, out_low, out_high;
    assert_int_equal(c.base_bytes, bytes);
    assert_int_equal(c.elem_bytes % bytes, 0);
    for (int i = 0; i < c.rank; i++) {
      assert_true(c.mode[i].extent >= 2 && c.mode[i].out_stride > 0);
      volume *= c.mode[i].extent;
    }
    assert_int_equal(volume, test_volume(&p) * bytes);
    test_in_span(&p, &in_low, &in_high);
    test_out_span(&p, &out_low, &out_high);
    assert_int_equal(c.in_low, in_low * bytes);
    assert_int_equal(c.in_high, in_high * bytes);
    assert_int_equal(c.out_low, out_low * bytes);
    assert_int_equal(c.out_high, out_high * bytes);
    /* from[b] is the input byte that output byte b comes from, by the canonical form; then by the problem. */
    const size_t span = (size_t)(c.out_high - c.out_low);
    int64_t *from = malloc(span * sizeof *from);
    assert_non_null(from);
    for (size_t i = 0; i < span; i++) from[i] = INT64_MIN;
    for (int64_t e = 0; e < c.volume; e++) {
      int64_t rest = e, in = 0, out = 0;
      for (int i = 0; i < c.rank; i++) {
        in += rest % c.mode[i].extent * c.mode[i].in_stride;
        out += rest % c.mode[i].extent * c.mode[i].out_stride;
        rest /= c.mode[i].extent;
      }
      for (int b = 0; b < c.elem_bytes; b++)
        from[out * c.elem_bytes + b + c.out_start - c.out_low] = in * c.elem_bytes + b + c.in_start;
    }
    for (int64_t e = 0; e < test_volume(&p); e++) {
      int64_t rest = e, in = 0, out = 0;
      for (int i = 0; i < p.rank; i++) {
        const int64_t extent = p.extents[p.perm[i]];
        in += rest % extent * p.in_strides[p.perm[i]];
        out += rest % extent * p.out_strides[i];
        rest /= extent;
      }
      for (int b = 0; b < bytes; b++) {
        int64_t *byte = &from[out * bytes + b - c.out_low];
        if (*byte != in * bytes + b) {
          char line[4096];
          test_problem_print(&p, line, sizeof line);
          fail_msg("the canonical form is another problem than %s", line);
        }
        *byte = INT64_MIN;
      }
    }
    for (size_t i = 0; i < span; i++) assert_true(from[i] == INT64_MIN); /* nothing else is written */
    free(from);
  }
}

/* ------------------------------------------------------------------------------------------------ alpha and beta */

static cutt_scale scale_of(cuttType_t type, const void *alpha, const void *beta, int conjugate) {
  cutt_canonical c;
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  p.type = type;
  p.alpha = alpha;
  p.beta = beta;
  p.conjugate = conjugate;
  assert_success(cutt_canonicalize(&p, &c));
  return c.scale;
}

/* How a scalar of each kind of type takes part, alone as alpha and alone as beta. */
static void scalars_are_told_apart(void **unused) {
  (void)unused;
  static const struct {
    double re, im;
    cutt_factor as_beta;
  } rows[] = {
      {1.0, 0.0, CUTT_FACTOR_ONE},       {1.0, -0.0, CUTT_FACTOR_ONE},         {0.0, 0.0, CUTT_FACTOR_NONE},
      {-0.0, -0.0, CUTT_FACTOR_NONE},    {-1.0, 0.0, CUTT_FACTOR_REAL},        {2.0, -0.0, CUTT_FACTOR_REAL},
      {0.0, 1.0, CUTT_FACTOR_COMPLEX},   {1.0, 0x1p-140, CUTT_FACTOR_COMPLEX}, {0x1p-140, 0.0, CUTT_FACTOR_REAL},
      {INFINITY, 0.0, CUTT_FACTOR_REAL}, {NAN, 0.0, CUTT_FACTOR_REAL},         {1.0, NAN, CUTT_FACTOR_COMPLEX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double d[2] = {rows[i].re, rows[i].im};
    const float f[2] = {(float)d[0], (float)d[1]};
    for (int type = CUTT_F16; type <= CUTT_C64; type++) {
      const bool complex = type == CUTT_C32 || type == CUTT_C64;
      if (!complex && (d[1] != 0.0 || isnan(d[1]))) continue;
      const void *scalar = type == CUTT_F64 || type == CUTT_C64 ? (const void *)d : f;
      const cutt_scale alpha = scale_of((cuttType_t)type, scalar, NULL, 0);
      const cutt_scale beta = scale_of((cuttType_t)type, NULL, scalar, 0);
      const bool none = rows[i].as_beta == CUTT_FACTOR_NONE;
      assert_int_equal(alpha.alpha_factor, none ? CUTT_FACTOR_REAL : rows[i].as_beta);
      assert_int_equal(alpha.active, alpha.alpha_factor != CUTT_FACTOR_ONE);
      assert_int_equal(alpha.beta_factor, CUTT_FACTOR_NONE);
      assert_int_equal(signbit(alpha.alpha.re) != 0, signbit(d[0]) != 0); /* of a zero too */
      assert_int_equal(beta.alpha_factor, CUTT_FACTOR_ONE);
      assert_int_equal(beta.beta_factor, rows[i].as_beta);
      assert_int_equal(beta.reads_out, !none);
      assert_int_equal(beta.active, !none);
      if (complex) assert_true(scale_of((cuttType_t)type, NULL, scalar, 1).active);
    }
  }
  for (int32_t value = -1; value <= 2; value++) {
    const int64_t wide = value;
    const cutt_factor as_beta = value == 0 ? CUTT_FACTOR_NONE : value == 1 ? CUTT_FACTOR_ONE : CUTT_FACTOR_REAL;
    assert_int_equal(scale_of(CUTT_I32, NULL, &value, 0).beta_factor, as_beta);
    assert_int_equal(scale_of(CUTT_I64, NULL, &wide, 0).beta_factor, as_beta);
    assert_int_equal(scale_of(CUTT_I32, &value, NULL, 0).alpha_factor, value == 0 ? CUTT_FACTOR_REAL : as_beta);
    assert_int_equal(scale_of(CUTT_I64, &wide, NULL, 0).active, value != 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overlapping_outputs_are_refused), cmocka_unit_test(random_overlaps_are_refused),
      cmocka_unit_test(hard_overlaps_end_soon),          cmocka_unit_test(canonical_forms),
      cmocka_unit_test(canonical_form_is_the_problem),   cmocka_unit_test(scalars_are_told_apart),
  };
  return cmocka_run_group_tests_name("canonical", tests, NULL, NULL);
}
