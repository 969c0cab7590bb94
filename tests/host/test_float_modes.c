/* A caller that has changed how its processor computes: subnormal numbers flushed to zero, another rounding mode. Moves
 * and conjugation keep every bit all the same, halves are not flushed, and the caller's modes stay what they were. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "runtime/host/isa.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

/* ------------------------------------------------------------------------------------------------------------ modes */

/* The control register of floating point, without the flags that computing leaves in it. */
#if defined(__x86_64__)
enum { FLUSHES = 0x8040 /* FTZ and DAZ */, FLAGS = 0x3f };
static uint64_t get_control(void) { return _mm_getcsr() & ~(unsigned)FLAGS; }
static void set_control(uint64_t control) { _mm_setcsr((unsigned)control); }
#elif defined(__aarch64__)
enum { FLUSHES = 1 << 24 | 1 << 19 /* FZ and FZ16 */ };
static uint64_t get_control(void) {
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control;
}
static void set_control(uint64_t control) { __asm__ volatile("msr fpcr, %0" ::"r"(control) : "memory"); }
#else
enum { FLUSHES = 0 };
static uint64_t get_control(void) { return 0; }
static void set_control(uint64_t control) { (void)control; }
#endif

typedef struct mode {
  const char *name;
  uint64_t flushes;
  int rounding;
} mode;

static const mode modes[] = {
    {"subnormals flushed", FLUSHES, FE_TONEAREST},
    {"rounding up", 0, FE_UPWARD},
    {"rounding down", 0, FE_DOWNWARD},
    {"rounding to zero", 0, FE_TOWARDZERO},
    {"subnormals flushed, rounding up", FLUSHES, FE_UPWARD},
};

/* ------------------------------------------------------------------------------------------------------- executions */

enum { FEW = 6 }; /* candidates of a problem that are looked at */

/* Plans, executes and checks what the call leaves of the modes. False when there is no such candidate. */
static bool execute(const test_problem *p, const mode *m, int candidate, const void *in, void *out) {
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1;
  options.candidate = candidate;
  cuttPlan_t plan = NULL;
  const uint64_t own = get_control();
  assert_int_equal(fesetround(m->rounding), 0);
  set_control(get_control() | m->flushes);
  const uint64_t wanted = get_control();

  const cuttResult planned = cuttPlanCreate(&plan, &view, &options);
  const uint64_t after_plan = get_control();
  feclearexcept(FE_ALL_EXCEPT);
  const cuttResult executed = planned == CUTT_SUCCESS ? cuttPlanExecute(plan, in, out, NULL) : planned;
  const uint64_t after_execution = get_control();
  const int raised = fetestexcept(FE_ALL_EXCEPT);
  feclearexcept(FE_ALL_EXCEPT);

  set_control(own);
  assert_int_equal(fesetround(FE_TONEAREST), 0);
  cuttPlanDestroy(plan);
  if (planned == CUTT_INVALID_PARAMETER && candidate > 1) return false;
  assert_success(executed);
  assert_true(after_plan == wanted);
  assert_true(after_execution == wanted);
  if (!p->has_alpha && !p->has_beta) assert_int_equal(raised, 0); /* nothing was computed that could trap */
  return true;
}

static void check(const test_problem *p, bool special) {
  const size_t bytes = (size_t)test_volume(p) * test_type_bytes(p->type);
  unsigned char *in = malloc(bytes), *before = malloc(bytes), *expected = malloc(bytes), *out = malloc(bytes);
  assert_true(in && before && expected && out);
  (special ? test_fill_values : test_fill_numbers)(in, bytes, p->type, 5);
  (special ? test_fill_values : test_fill_numbers)(before, bytes, p->type, 6);
  memcpy(expected, before, bytes);
  test_reference(p, in, expected);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    for (int candidate = 1; candidate <= FEW; candidate++) {
      memcpy(out, before, bytes);
      if (!execute(p, &modes[i], candidate, in, out)) break;
      test_same_nans(p, expected, out);
      if (!memcmp(out, expected, bytes)) continue;
      char line[1024];
      test_problem_print(p, line, sizeof line);
      fail_msg("%s, candidate %d: wrong for %s", modes[i].name, candidate, line);
    }
  }
  free(in);
  free(before);
  free(expected);
  free(out);
}

/* Shapes for all kernels, with what is left over behind whole vectors. */
static void check_shapes(const test_problem *scalars, bool special) {
  static const int64_t extents[][3] = {{67, 45, 3}, {5, 130, 7}, {200, 3, 11}};
  static const int perms[][3] = {{1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {0, 1, 2}};
  static int turn;
  for (int e = 0; e < 3; e++) {
    if (test_scale() < 0.1 && e != turn++ / 3 % 3) continue; /* modes change no access: one of the shapes by turns */
    for (int q = 0; q < 4; q++) {
      test_problem p = test_packed(scalars->type, 3, extents[e], perms[q]);
      p.has_alpha = scalars->has_alpha;
      p.alpha = scalars->alpha;
      p.has_beta = scalars->has_beta;
      p.beta = scalars->beta;
      p.conjugate = scalars->conjugate;
      check(&p, special);
    }
  }
}

/* With every instruction set that is usable here. */
static void check_everywhere(const test_problem *scalars, bool special) {
  for (const cutt_isa *isa = cutt_isa_all; isa->name; ++isa) {
    const char *why;
    if (!cutt_isa_usable(isa, &why)) continue;
    setenv("CUTT_CPU_ISA", isa->name, 1);
    check_shapes(scalars, special);
  }
  unsetenv("CUTT_CPU_ISA");
}

/* ------------------------------------------------------------------------------------------------------------- tests */

static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16,
                                   CUTT_F16,     CUTT_BF16,    CUTT_F32,     CUTT_F64,     CUTT_C32,
                                   CUTT_C64,     CUTT_I32,     CUTT_I64};
enum { TYPES = sizeof types / sizeof *types };

static void moves_keep_every_bit(void **unused) {
  (void)unused;
  for (int t = 0; t < TYPES; t++) check_everywhere(&(test_problem){.type = types[t]}, true);
}

static void conjugation_flips_a_bit(void **unused) {
  (void)unused;
  check_everywhere(&(test_problem){.type = CUTT_C32, .conjugate = 1}, true);
  check_everywhere(&(test_problem){.type = CUTT_C64, .conjugate = 1}, true);
}

/* Products of halves with these are exact in float, whatever the rounding mode, and are rounded to the nearest half. */
static void halves_are_normal_floats(void **unused) {
  (void)unused;
  static const float alphas[] = {-1.0f, 2.0f, 0.25f, -0.5f, 1.5f, 0x1p-9f, -0.0f};
  for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++)
    check_everywhere(&(test_problem){.type = CUTT_F16, .has_alpha = true, .alpha.f32[0] = alphas[i]}, true);
}

/* Exact products and sums of numbers that are not subnormal: the modes are none of their business. */
static void exact_arithmetic_stays_exact(void **unused) {
  (void)unused;
  for (int t = 0; t < TYPES; t++) {
    if (!test_type_computes(types[t])) continue;
    test_problem p = {.type = types[t], .has_alpha = true};
    if (p.type == CUTT_F64 || p.type == CUTT_C64)
      p.alpha.f64[0] = -2.0;
    else if (p.type == CUTT_I32 || p.type == CUTT_I64)
      p.alpha.i64 = -2, p.beta.i64 = 3, p.has_beta = true;
    else
      p.alpha.f32[0] = -2.0f;
    p.conjugate = test_type_complex(p.type);
    check_everywhere(&p, false);
  }
}

/* Do the modes take effect at all? Else the other tests would show nothing. */
static void modes_take_effect(void **unused) {
  (void)unused;
  const uint64_t own = get_control();
  volatile float third = 1.0f, three = 3.0f, tiny = 0x1p-130f, one = 1.0f;
  assert_int_equal(fesetround(FE_UPWARD), 0);
  third = third / three;
  assert_int_equal(fesetround(FE_DOWNWARD), 0);
  const volatile float below = one / three;
  set_control(own | FLUSHES);
  tiny = tiny * one;
  set_control(own);
  assert_int_equal(fesetround(FE_TONEAREST), 0);
  assert_true(third > below);
  if (FLUSHES) assert_true(tiny == 0.0f);
}

/* What a process does once, at its first execution, may compute. */
static int execute_once(void **unused) {
  (void)unused;
  const int64_t extents[2] = {5, 7};
  const int perm[2] = {1, 0};
  const test_problem p = test_packed(CUTT_F64, 2, extents, perm);
  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  static double in[35], out[35];
  return cuttPermute(&view, &options, in, out, NULL) != CUTT_SUCCESS;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_take_effect),
      cmocka_unit_test(moves_keep_every_bit),
      cmocka_unit_test(conjugation_flips_a_bit),
      cmocka_unit_test(halves_are_normal_floats),
      cmocka_unit_test(exact_arithmetic_stays_exact),
  };
  return cmocka_run_group_tests_name("float_modes", tests, execute_once, NULL);
}
