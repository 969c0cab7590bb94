/* The algorithm "one pass" by itself: along every mode, with tiles of any size, on every instruction set and number of threads,
 * held to the plain definition; whole numbers; and what is refused. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "contract/pass.h"
#include "placed.h"
#include "runtime/host/isa.h"
#include "runtime/host/scratch.h"
#include "support/buffers.h"
#include "support/check.h"
#include "try.h"

static cutt_rates rates = {.threads = 1,
                           .flops = 60e9,
                           .memory = 12e9,
                           .fetch = 40e9,
                           .cache = 40e9,
                           .block_line = 0.22e-9,
                           .stream_bytes = 5000, /* so that small results are written past the caches too */
                           .cache_bytes = 1 << 20};

/* ---------------------------------------------------------------------------------------------------------- every shape */

static test_placed kept;

/* Scratch as some other call might leave it: signalling NaNs of 4 bytes, which are numbers of 8 bytes with products that are too
 * large. */
static void spoil_scratch(void) {
  enum { BLOCKS = 4 }; /* more than one thread takes */
  uint32_t *block[BLOCKS];
  for (int i = 0; i < BLOCKS; ++i) {
    block[i] = cutt_scratch_take();
    assert_non_null(block[i]);
    for (size_t at = 0; at < CUTT_SCRATCH_BYTES / sizeof(uint32_t); ++at) block[i][at] = UINT32_C(0x7fa07fa0);
  }
  for (int i = 0; i < BLOCKS; ++i) cutt_scratch_give(block[i]);
}

/* Runs it on what the result was before, and keeps all of its zone in a new block. Of numbers as they are here nothing is computed that
 * could trap: what rows have room for behind their ends is not, either. */
static unsigned char *result_of(const cutt_contraction *c, const cutt_pass_shape *shape, const char *isa, int threads) {
  cutt_pass *pass = NULL;
  test_placed_restore(&kept);
  setenv("CUTT_CPU_ISA", isa, 1);
  assert_success(cutt_pass_prepare(c, shape, cutt_backend_of(CUTT_BACKEND_CPU), threads, &pass));
  unsetenv("CUTT_CPU_ISA");
  if (threads == 1) spoil_scratch();
  feclearexcept(FE_ALL_EXCEPT);
  assert_success(cutt_pass_run(pass, kept.zero[TEST_LEFT], kept.zero[TEST_RIGHT], kept.zero[TEST_RESULT]));
  if (fetestexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO))
    fail_msg("along mode %d%s with %s: an exception is raised", shape->along, shape->blocked ? " in blocks" : "", isa);
  cutt_pass_release(pass);
  unsigned char *copy = malloc(kept.before_bytes);
  assert_non_null(copy);
  memcpy(copy, kept.buffer[TEST_RESULT].zone, kept.before_bytes);
  return copy;
}

static int ragged(const cutt_contraction *c, const cutt_pass_shape *s) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) count += i != s->along && c->mode[i].extent % s->chunk[i] != 0;
  return count;
}

/* Smaller tiles than the planner would take: any that fit will do. */
static void shrink(test_rng *rng, const cutt_contraction *c, cutt_pass_shape *s) {
  for (int i = 0; i < c->modes; ++i) {
    cutt_pass_shape tried = *s;
    if (test_chance(rng, 50)) continue;
    tried.chunk[i] = test_random_in(rng, 1, s->chunk[i]);
    if (ragged(c, &tried) <= CUTT_PASS_RAGGED) *s = tried;
  }
  for (int i = 0; i < c->modes; ++i)
    if (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K && s->chunk[i] < c->mode[i].extent) s->direct = false;
}

static long shapes, combined, direct, streamed, blocked, deep, twice, asking, keeping, ordered;

/* Holds one to the definition. */
static void assert_right(const test_contraction *t, const cutt_pass_shape *shape, const char *isa) {
  char what[600], line[3 * TEST_PATTERN_BYTES];
  if (test_contraction_right(t, kept.zero[TEST_LEFT], kept.zero[TEST_RIGHT], test_placed_before(&kept),
                             kept.zero[TEST_RESULT], what, sizeof what))
    return;
  test_contraction_print(t, line, sizeof line);
  fail_msg("along mode %d%s with %s: %s\n  %s", shape->along, shape->blocked ? " in blocks" : "", isa, what, line);
}

/* The same bits on every instruction set, but of blocks, and by more threads. */
static void try_shape(const test_contraction *t, const cutt_contraction *c, const cutt_pass_shape *shape) {
  char line[3 * TEST_PATTERN_BYTES];
  unsigned char *first = NULL;
  for (const cutt_isa *isa = cutt_isa_all; isa->name; ++isa) {
    const char *why = NULL;
    if (!cutt_isa_usable(isa, &why)) continue;
    unsigned char *more = result_of(c, shape, isa->name, 3), *got = result_of(c, shape, isa->name, 1);
    if (!first || shape->blocked) assert_right(t, shape, isa->name);
    if ((first && !shape->blocked && memcmp(first, got, kept.before_bytes) != 0) ||
        memcmp(got, more, kept.before_bytes) != 0) {
      test_contraction_print(t, line, sizeof line);
      fail_msg("along mode %d: other bits with %s, or on more threads\n  %s", shape->along, isa->name, line);
    }
    free(first);
    free(more);
    first = got;
    if (shape->blocked) {
      test_placed_assert_gaps(&kept, t, first);
      free(first);
      first = NULL;
    }
  }
  if (first) test_placed_assert_gaps(&kept, t, first);
  free(first);
  ++shapes;
  combined += shape->combined;
  direct += shape->direct;
  streamed += shape->streams;
  blocked += shape->blocked;
  deep += shape->deep;
  asking += shape->asks;
  keeping += shape->keeps_second;
  ordered += shape->by != CUTT_TENSORS;
  twice += shape->deep && shape->packed[CUTT_LEFT] && shape->packed[CUTT_RIGHT];
}

static void try_along(test_rng *rng, const test_contraction *t, const cutt_contraction *c, int along) {
  cutt_pass_shape shape;
  cutt_pass_shape_of(c, &rates, along, &shape);
  assert_true(shape.seconds > 0 && isfinite(shape.seconds));
  if (test_chance(rng, 60)) shrink(rng, c, &shape);
  /* Whatever its operands' sizes are. */
  shape.in_order = test_chance(rng, 50);
  shape.terms_apart = shape.summed && test_chance(rng, 60);
  if (!shape.streams && !shape.pieces && test_chance(rng, 50))
    shape.by = c->right_is_one || test_chance(rng, 50) ? CUTT_LEFT : CUTT_RIGHT;
  try_shape(t, c, &shape);
  if (!cutt_pass_shape_blocked(c, &rates, along, test_random_in(rng, 1, 12), &shape)) return;
  assert_true(shape.seconds > 0 && isfinite(shape.seconds));
  if (test_chance(rng, 60)) shrink(rng, c, &shape);
  shape.asks = test_chance(rng, 50);
  shape.keeps_second = test_chance(rng, 50);
  try_shape(t, c, &shape);
}

static void try_all(test_rng *rng, const test_contraction *t) {
  test_fields fields;
  static cutt_contraction c;
  test_contraction_view(t, &fields);
  assert_success(cutt_contraction_check(&fields.contraction, &c));
  if (c.empty || c.no_terms) return;
  test_place(&kept, t);
  for (int along = c.modes ? 0 : -1; along < c.modes; ++along) try_along(rng, t, &c, along);
  cutt_pass_shape shape;
  if (cutt_pass_shape_combined(&c, &rates, &shape)) try_shape(t, &c, &shape);
}

static void every_shape(void **unused) {
  (void)unused;
  static const test_variety variety = {40, 50, 0, 1, 20};
  test_rng rng = {20240701};
  for (int i = 0; i < test_scaled(700); ++i) {
    test_contraction t;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 1, 5), i % 10 ? 2000 : 40000, &t);
    test_contraction_vary(&rng, &variety, &t);
    try_all(&rng, &t);
  }
  print_message("%ld shapes, %ld of them straight to the result, %ld past the caches, %ld in blocks, %ld elementwise\n",
                shapes, direct, streamed, blocked, combined);
  assert_true(shapes >= test_scaled(900) && direct >= test_scaled(30) && blocked >= test_scaled(60) &&
              combined >= test_scaled(30));
}

/* Long rows, long sums, and tiles that are transposed: extents as in use. */
static void shapes_of_products(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[5];
  } cases[] = {{"ab,ab->ab", {150, 41}},
               {"ab,ba->ab", {130, 70}},
               {"ab,a->ab", {900, 13}},
               {"ab,b->ab", {70, 2003}}, /* rows of some pieces */
               {"ab->ba", {3, 40001}},
               {",ab->ab", {100, 100}},
               {"a,b->ab", {80, 90}},
               {"ab,ab->b", {3, 2000}},
               {"abn,bn->an", {3, 3, 700}},
               {"nab,nb->na", {500, 3, 4}},
               {"nab,nbc->nac", {120, 4, 4, 3}},
               {"abn,bcn->acn", {4, 3, 5, 90}},
               {"a,a->", {300000}},
               {"ab->b", {700, 30}},
               {"ab->a", {700, 30}},
               {"ab->a", {20, 900}},   /* terms that follow each other closely */
               {"ab,b->a", {2100, 5}}, /* and far from each other, of long rows */
               {"ab,ab->a", {13, 700}},
               {"abc,bc->ca", {9, 11, 40}},
               {"abc->b", {50, 40, 30}},
               {"aab->b", {60, 9}},
               {"abcb->ac", {17, 18, 19}},
               {"abcd->bd", {20, 6, 5, 7}}, /* terms further apart than rows, alone and with some that are not */
               {"abcd,abcd->db", {37, 9, 3, 4}},
               {"abcde,bd->ce", {19, 3, 9, 4, 5}},
               {"ab,bc->ac", {37, 21, 29}},
               {"ab,ca->bc", {24, 90, 19}},
               {"ab,ac->bc", {33, 200, 60}},
               {"abcd,ed->cbea", {8, 25, 11, 19, 17}},
               {"abcd,ec->aebd", {26, 5, 40, 3, 13}}};
  static const cuttType_t types[] = {CUTT_F64, CUTT_F32, CUTT_C64, CUTT_C32, CUTT_F16, CUTT_BF16};
  test_rng rng = {20240702};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int k = 0; k < (test_scale() < 0.3 ? 2 : 6); ++k) {
      test_contraction t;
      assert_true(test_contraction_make(cases[i].pattern, types[k], &t));
      memcpy(t.extent, cases[i].extent, (size_t)t.is.labels * sizeof *t.extent);
      test_contraction_finish(&t);
      t.has_beta = k % 2;
      t.beta = test_random_scalar(&rng, t.type);
      t.conjugate[k % 2] = 1;
      t.seed = 100 * i + (size_t)k;
      try_all(&rng, &t);
    }
  }
  assert_true(streamed > 0);
}

/* Rows of every length up to some vectors, whole ones and parts of one, of which as many are added up together as a vector has
 * numbers, and what is left of these. */
static void dots_of_any_length(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_F64, CUTT_F32, CUTT_C64, CUTT_C32};
  static const char *const patterns[] = {"ab,ab->b", "ab->b", "ab,a->b",
                                         "abc,a->cb"}; /* the last one's in another order */
  test_rng rng = {20261123};
  for (int64_t n = 1; n <= test_scaled(70); ++n) {
    for (int k = 0; k < 4; ++k) {
      test_contraction t;
      assert_true(test_contraction_make(patterns[(n + n / 4 + k) % 4], types[k], &t));
      t.extent[0] = n;
      t.extent[1] = test_random_in(&rng, 1, 40);
      if (t.is.labels > 2) t.extent[2] = test_random_in(&rng, 1, 9);
      t.conjugate[n % 2] = k >= 2;
      test_contraction_finish(&t);
      t.has_beta = test_chance(&rng, 30);
      t.beta = test_random_scalar(&rng, t.type);
      t.seed = (uint64_t)(100 * n + k);
      try_all(&rng, &t);
    }
  }
}

/* Sums that are longer than a tile's, of operands in every order, that are packed both where the cache is said to be small. */
static void long_sums(void **unused) {
  (void)unused;
  static const char *const patterns[] = {"ab,bc->ac",   "ab,cb->ca",     "abc,dbc->ad",
                                         "bac,cdb->da", "abcd,cbe->eda", "cabd,bec->dae"};
  static const cuttType_t types[] = {CUTT_F64, CUTT_F32, CUTT_C64, CUTT_C32, CUTT_F16, CUTT_BF16};
  const cutt_rates before = rates;
  test_rng rng = {20261124};
  for (int i = 0; i < test_scaled(36); ++i) {
    test_contraction t;
    assert_true(test_contraction_make(patterns[i % 6], types[i / 6 % 6], &t));
    for (int label = 0; label < t.is.labels; ++label) {
      const bool summed = !t.is.in[TEST_RESULT][label];
      const bool two = i % 6 >= 2; /* modes that are summed over */
      t.extent[label] = summed ? test_random_in(&rng, two ? 14 : 193, two ? 24 : 500) : test_random_in(&rng, 1, 21);
    }
    t.conjugate[i % 2] = test_chance(&rng, 50);
    test_contraction_finish(&t);
    t.has_beta = test_chance(&rng, 30);
    t.beta = test_random_scalar(&rng, t.type);
    t.seed = (uint64_t)i;
    rates.cache_bytes = test_chance(&rng, 70) ? 1 << 10 : 1 << 20;
    try_all(&rng, &t);
  }
  rates = before;
  print_message("%ld shapes with sums longer than a tile's, of %ld both operands are packed\n", deep, twice);
  assert_true(deep >= test_scaled(20) && twice >= test_scaled(14));
  print_message("%ld go through an operand in its order\n", ordered);
  assert_true(ordered >= test_scaled(100));
  print_message("%ld ask for what the next tile reads, of %ld the second operand's part stays\n", asking, keeping);
  assert_true(asking >= test_scaled(100) && keeping >= test_scaled(100));
}

/* -------------------------------------------------------------------------------------------------------- whole numbers */

static uint64_t whole_at(cuttType_t type, const unsigned char *tensor, int64_t at) {
  uint64_t wide;
  uint32_t narrow;
  if (type == CUTT_I64) {
    memcpy(&wide, tensor + at * 8, 8);
    return wide;
  }
  memcpy(&narrow, tensor + at * 4, 4);
  return narrow;
}

/* The sum of products that makes up an element of the result, modulo 2^64. */
static uint64_t whole_sum(const test_contraction *c, int64_t number) {
  int64_t index[TEST_MOST_LABELS] = {0}, terms = 1, at[2];
  uint64_t sum = 0;
  for (int label = 0; label < c->is.labels; ++label) {
    if (!c->is.in[TEST_RESULT][label]) {
      terms *= c->extent[label];
      continue;
    }
    index[label] = number % c->extent[label];
    number /= c->extent[label];
  }
  for (int64_t term = 0; term < terms; ++term) {
    int64_t rest = term;
    for (int label = 0; label < c->is.labels; ++label) {
      if (c->is.in[TEST_RESULT][label]) continue;
      index[label] = rest % c->extent[label];
      rest /= c->extent[label];
    }
    for (int t = 0; t < TEST_RESULT; ++t) {
      at[t] = 0;
      for (int label = 0; label < c->is.labels; ++label) at[t] += index[label] * c->step[t][label];
    }
    sum += whole_at(c->type, kept.zero[TEST_LEFT], at[0]) *
           (c->is.one ? 1 : whole_at(c->type, kept.zero[TEST_RIGHT], at[1]));
  }
  return sum;
}

static void whole_numbers(void **unused) {
  (void)unused;
  static const char *const patterns[] = {"ab,ab->ba", "abc,cb->ab", "ab,bc->ac", "a,b->ba", "abb->a",
                                         "ab->",      "abc,abc->c", "ac,b->ab",  ",a->a"};
  test_rng rng = {20240703};
  static const test_variety variety = {40, 0, 30, 3, 0};
  for (int i = 0; i < test_scaled(300); ++i) {
    test_contraction t;
    test_fields fields;
    assert_true(test_contraction_make(patterns[i % 9], CUTT_I32, &t));
    test_contraction_small(&rng, 600, &t);
    test_contraction_vary(&rng, &variety, &t);
    t.type = i % 2 ? CUTT_I32 : CUTT_I64;
    for (int tensor = 0; tensor < TEST_TENSORS; ++tensor) t.at[tensor] = 0;
    t.has_alpha = i % 3 == 0;
    t.has_beta = i % 4 == 0;
    t.alpha = test_random_scalar(&rng, t.type);
    t.beta = test_random_scalar(&rng, t.type);
    test_place(&kept, &t);
    for (int tensor = 0; tensor < TEST_TENSORS; ++tensor) /* numbers so large that products wrap around */
      test_fill_bits(kept.buffer[tensor].zone, kept.buffer[tensor].zone_bytes, 1, t.seed + (uint64_t)tensor);
    memcpy(kept.before, kept.buffer[TEST_RESULT].zone, kept.before_bytes);
    test_contraction_view(&t, &fields);
    assert_success(cuttContract(&fields.contraction, &fields.options, kept.zero[TEST_LEFT],
                                t.is.one ? NULL : kept.zero[TEST_RIGHT], kept.zero[TEST_RESULT], NULL));
    const unsigned char *before = test_placed_before(&kept);
    const uint64_t alpha = !t.has_alpha ? 1 : t.type == CUTT_I64 ? (uint64_t)t.alpha.i64 : (uint32_t)t.alpha.i32;
    const uint64_t beta = !t.has_beta ? 0 : t.type == CUTT_I64 ? (uint64_t)t.beta.i64 : (uint32_t)t.beta.i32;
    for (int64_t n = 0; n < test_contraction_volume(&t, TEST_RESULT); ++n) {
      const int64_t at = test_contraction_at(&t, TEST_RESULT, n);
      uint64_t wanted = alpha * whole_sum(&t, n) + beta * whole_at(t.type, before, at);
      if (t.type == CUTT_I32) wanted = (uint32_t)wanted;
      assert_int_equal(whole_at(t.type, kept.zero[TEST_RESULT], at), wanted);
    }
  }
}

/* ------------------------------------------------------------------------------------------------------------- the calls */

static void calls(void **unused) {
  (void)unused;
  const int64_t extents[2] = {3, 4};
  double left[12], result[4] = {NAN, NAN, NAN, NAN};
  for (int i = 0; i < 12; ++i) left[i] = i;
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  cuttContractionPlan_t plan = NULL;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  c.pattern = "ab->b";
  c.type = CUTT_F64;
  c.left_rank = 2;
  c.result_rank = 1;
  c.left_extents = extents;
  options.backend = CUTT_BACKEND_CPU;
  options.algorithm = "fastest";
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &c, &options),
                "options->algorithm is 'fastest'", "ttgt", "one-pass");
  options.algorithm = "one-pass";
  c.right_rank = 1;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &c, &options), "right_rank is 1", "must be 0");
  c.right_rank = 0;
  assert_success(cuttContractionPlanCreate(&plan, &c, &options));
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_string_equal(info.algorithm, "one-pass");
  assert_string_equal(info.provider, "cutt");
  assert_int_equal(info.workspace_bytes, 0);
  assert_true(info.pieces >= 1);
  assert_success(cuttContractionExecute(plan, left, NULL, result, NULL, 0, NULL));
  for (int i = 0; i < 4; ++i) assert_true(result[i] == 9 * i + 3);
  assert_success(cuttContractionPlanDestroy(plan));
  options.algorithm = "ttgt";
  assert_success(cuttContractionPlanCreate(&plan, &c, &options));
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_string_equal(info.algorithm, "ttgt");
  memset(result, 0xff, sizeof result);
  assert_success(cuttContractionExecute(plan, left, NULL, result, NULL, 0, NULL));
  for (int i = 0; i < 4; ++i) assert_true(result[i] == 9 * i + 3);
  assert_success(cuttContractionPlanDestroy(plan));
  c.type = CUTT_I32;
  assert_result(CUTT_INVALID_DEVICE, cuttContractionPlanCreate(&plan, &c, &options), "i32");
}

/* Packing on every instruction set: all numbers of rows and columns up to a few blocks, rows that follow each other, that are far
 * apart, and that are walked backwards; nothing is written but the columns. */
static void packing(void **state) {
  enum { MOST_ROWS = 37, MOST_COLUMNS = 9, STEPS = 4, PITCH = (MOST_ROWS + 3) * 16 };
  static unsigned char from[(2 * MOST_ROWS + 1) * 272 + MOST_COLUMNS * 16], to[MOST_COLUMNS * PITCH];
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C64};
  const char *why;
  (void)state;
  for (size_t i = 0; i < sizeof from; ++i) from[i] = (unsigned char)(i * 167 + i / 256 * 13);
  for (const cutt_isa *isa = cutt_isa_all; isa->name; ++isa) {
    if (!cutt_isa_usable(isa, &why)) continue;
    for (int t = 0; t < 3; ++t) {
      const cutt_pass_type *type = &cutt_pass_kernels_named(isa->name)->type[types[t]];
      const int64_t bytes = type->bytes;
      for (int64_t n = 1; n <= MOST_ROWS; ++n) {
        for (int64_t columns = 1; columns <= MOST_COLUMNS; ++columns) {
          const int64_t step[STEPS] = {columns * bytes, 15 * bytes, 272, -272};
          const unsigned char *const src = from + MOST_ROWS * 272;
          for (int k = 0; k < STEPS; ++k) {
            memset(to, 0xA5, sizeof to);
            type->pack((char *)to, PITCH, (const char *)src, step[k], n, columns);
            for (int64_t j = 0; j < MOST_COLUMNS; ++j) {
              for (int64_t b = 0; b < PITCH; ++b) {
                const int64_t row = b / bytes;
                const bool packed = j < columns && row < n;
                const unsigned char wanted = packed ? src[row * step[k] + j * bytes + b % bytes] : 0xA5;
                if (to[j * PITCH + b] != wanted)
                  fail_msg("%s, %d bytes: %d rows, %d columns, %d bytes apart: column %d, byte %d", isa->name,
                           (int)bytes, (int)n, (int)columns, (int)step[k], (int)j, (int)b);
              }
            }
          }
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(packing),
      cmocka_unit_test(every_shape),
      cmocka_unit_test(shapes_of_products),
      cmocka_unit_test(dots_of_any_length),
      cmocka_unit_test(long_sums),
      cmocka_unit_test(whole_numbers),
      cmocka_unit_test(calls),
  };
  const int failed = cmocka_run_group_tests_name("pass", tests, NULL, NULL);
  test_placed_free(&kept);
  return failed;
}
