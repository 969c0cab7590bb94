/* Sums in parts on a GPU (parts.h): the parts of any summed mode, multiplied by any pass and by any algorithm of products, give the right result, by
 * words of wisdom, within the limit of workspace; and words that are wrong are not taken. With the argument "cuda" on a GPU. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "contract/prepare.h"
#include "contract/ways.h"
#include "device.h"
#include "plan/services.h"
#include "support/check.h"
#include "support/wisdom.h"
#include "try.h"

static const double written_seconds = 0.012345;
static struct cuttContractionStruct *kept;

static void finish(void) {
  if (kept) cutt_contraction_release(kept);
  free(kept);
  kept = NULL;
}

static int64_t limit_of(const test_contraction *c) {
  return c->limit > (size_t)INT64_MAX ? INT64_MAX : (int64_t)c->limit;
}

/* False where nothing is to be chosen. by_pass: there are no products. */
static bool start(test_contraction *c, bool by_pass) {
  test_fields fields;
  bool done = false;
  finish();
  strcpy(c->algorithm, by_pass ? "one-pass" : "");
  c->blas[0] = 0;
  test_contraction_view(c, &fields);
  kept = calloc(1, sizeof *kept);
  assert_non_null(kept);
  assert_success(cutt_contraction_check(&fields.contraction, &kept->asked));
  kept->family = by_pass ? CUTT_FAMILY_PASS : CUTT_FAMILY_ANY;
  const cutt_blas *blas = NULL;
  if (!by_pass && cutt_blas_find(test_device(), NULL, "p", kept->asked.type->type, &blas)) return false;
  assert_success(cutt_contraction_start(kept, cutt_backend_of(test_device()), blas, 1, limit_of(c), &done));
  return !done;
}

/* A split of a summed mode, at random. */
static bool draw_split(test_rng *rng, cutt_split *split) {
  const cutt_contraction *c = &kept->contraction;
  for (int tries = 0; tries < 40 && c->modes; ++tries) {
    split->mode = (int)test_random_in(rng, 0, c->modes - 1);
    split->parts = test_random_in(rng, 2, 12);
    if (test_chance(rng, 40)) split->parts = c->mode[split->mode].extent;
    if (cutt_split_fits(c, split)) return true;
  }
  return false;
}

/* The key that wisdom has the contraction by. */
static void key_of(const test_contraction *c, char key[CUTT_WISDOM_PROBLEM_BYTES]) {
  char problem[CUTT_WISDOM_PROBLEM_BYTES];
  cutt_text to = cutt_text_start(problem, sizeof problem);
  cutt_way_problem(kept, limit_of(c), &to);
  assert_true(cutt_wisdom_words_key(kept->backend, "contraction", problem, key, CUTT_WISDOM_PROBLEM_BYTES));
}

/* The plan takes the way, and says so. */
static void assert_right(test_contraction *c, const cutt_way *way) {
  char key[CUTT_WISDOM_PROBLEM_BYTES], words[CUTT_WISDOM_WORDS_BYTES], text[16384], name[256];
  key_of(c, key);
  cutt_text to = cutt_text_start(words, sizeof words);
  cutt_way_words(&kept->contraction, way, &to);
  to = cutt_text_start(name, sizeof name);
  cutt_way_name(&kept->contraction, way, &to);
  assert_memory_equal(name, "in ", 3);
  test_fields fields;
  cuttContractionPlan_t plan = NULL;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  c->wisdom = wisdom_fresh();
  assert_success(cutt_wisdom_add_words(c->wisdom, key, words, written_seconds));
  test_contraction_view(c, &fields);
  assert_success(cuttContractionPlanCreate(&plan, &fields.contraction, &fields.options));
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_near(written_seconds, info.measured_seconds);
  assert_true(info.permutes_result);
  assert_true(info.workspace_bytes <= c->limit);
  int64_t size[CUTT_ROLES];
  cutt_contraction_sizes(&kept->contraction, size);
  assert_int_equal(size[CUTT_ROLE_K], info.k);
  assert_int_equal(size[CUTT_ROLE_BATCH], info.batch);
  assert_true(info.predicted_permute_seconds > 0 && info.predicted_permute_seconds < info.predicted_seconds);
  assert_success(cuttContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "which are added up afterwards"));
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"sums_in_parts\":{\"mode\":"));
  assert_success(cuttContractionPlanDestroy(plan));
  const test_verdict verdict = test_contraction_try(c, NULL);
  assert_string_equal(test_device_fault(), "");
  if (verdict != TEST_RIGHT_RESULT) fail_msg("wrong by %s (%s)", name, words);
  assert_success(cuttWisdomDestroy(c->wisdom));
  c->wisdom = NULL;
}

/* One of the passes of what is left, or of the algorithms; false: there is none within the limit. */
static bool draw_way(test_rng *rng, int64_t limit, bool by_pass, cutt_way *way) {
  const cutt_contraction *c = &kept->contraction;
  const int64_t left = limit - (int64_t)kept->workspace_bytes - cutt_split_bytes(c, &way->split);
  const double more = cutt_parts_seconds(c, &way->split, &kept->rates, left);
  struct cuttContractionStruct *copy = malloc(sizeof *copy);
  assert_non_null(copy);
  *copy = *kept;
  cutt_split_products(c, &way->split, &copy->contraction);
  way->seconds = INFINITY;
  way->shape.along = -1;
  if (by_pass) {
    way->one_pass = true;
    for (int tries = 0; tries < 30 && !isfinite(way->seconds) && left >= 0; ++tries) {
      const int moved = test_chance(rng, 70) ? 0 : (int)test_random_in(rng, 0, CUTT_DEVICE_MOVES - 1);
      cutt_device_pass_numbered(&copy->contraction, &kept->rates, left,
                                moved * CUTT_DEVICE_PASSES + (int)test_random_in(rng, 1, CUTT_DEVICE_PASSES),
                                &way->device);
      way->seconds = way->device.seconds;
    }
  } else if (left >= 0) {
    cutt_algorithm_choice *list = malloc(CUTT_BEST_ALGORITHMS * sizeof *list);
    int count = 0;
    assert_non_null(list);
    assert_success(cutt_algorithms_best(&copy->contraction, &kept->rates, left, list, &count));
    way->choice = list[test_random_in(rng, 0, count - 1)];
    way->seconds = way->choice.cost.seconds;
    free(list);
  }
  free(copy);
  return isfinite(way->seconds + more);
}

static int try_splits(bool by_pass, uint64_t seed) {
  enum { MOST = 300, LEAST = 10 };
  static const test_variety variety = {40, 50, 30, 1, 0};
  test_rng rng = {seed};
  int tried = 0;
  for (int i = 0; i < test_scaled(MOST) || (i < MOST && tried < LEAST); ++i) {
    test_contraction c;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 2, 6), test_chance(&rng, 10) ? 12000 : 2000, &c);
    test_contraction_vary(&rng, &variety, &c);
    if (!start(&c, by_pass)) continue;
    cutt_way *way = calloc(1, sizeof *way);
    assert_non_null(way);
    if (draw_split(&rng, &way->split) && draw_way(&rng, limit_of(&c), by_pass, way)) {
      assert_right(&c, way);
      ++tried;
    }
    free(way);
  }
  finish();
  return tried;
}

static void by_passes(void **unused) {
  (void)unused;
  const int tried = try_splits(true, 20261129);
  print_message("%d by passes\n", tried);
  assert_true(tried > 0);
}

static void by_products(void **unused) {
  (void)unused;
  const cutt_blas *blas = NULL;
  if (cutt_blas_find(test_device(), NULL, "p", CUTT_F64, &blas)) skip();
  const int tried = try_splits(false, 20261130);
  print_message("%d by products\n", tried);
  assert_true(tried > 0);
}

/* Where the model chooses parts: a sum over two modes that the operands have in different orders. */
static void chosen(void **unused) {
  (void)unused;
  test_contraction c;
  assert_true(test_contraction_make("acd,dbc->ab", CUTT_F64, &c));
  const int64_t extent[] = {128, 500, 500, 128}; /* of a, c, d and b */
  const cutt_blas *blas = NULL;
  if (cutt_blas_find(test_device(), NULL, "p", CUTT_F64, &blas)) skip();
  memcpy(c.extent, extent, sizeof extent);
  test_fields fields;
  test_contraction_view(&c, &fields);
  for (int limited = 0; limited < 2; ++limited) {
    char text[8192];
    cuttContractionPlan_t plan = NULL;
    size_t bytes = 0;
    fields.options.algorithm = fields.options.provider = NULL;
    fields.options.workspace_limit = limited ? 40 << 20 : CUTT_NO_LIMIT; /* the parts have 66 MB */
    assert_success(cuttContractionPlanCreate(&plan, &fields.contraction, &fields.options));
    assert_success(cuttContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
    if (limited == (strstr(text, "in 500 parts of c") != NULL)) print_message("%s", text);
    assert_int_equal(limited, strstr(text, "in 500 parts of c") == NULL);
    assert_success(cuttContractionWorkspace(plan, &bytes));
    assert_true(bytes <= fields.options.workspace_limit);
    assert_success(cuttContractionPlanDestroy(plan));
  }
}

/* Words from a file are a stranger's. */
static void wrong_words(void **unused) {
  (void)unused;
  static const char *const words[] = {"parts",
                                      "parts 2",
                                      "parts 2 3",
                                      "parts 2 3 ",
                                      "parts 2 4 one-pass -1 1",
                                      "parts 2 1 one-pass -1 1",
                                      "parts 0 2 one-pass -1 1",
                                      "parts 9 2 one-pass -1 1",
                                      "parts -1 2 one-pass -1 1",
                                      "parts 2 3 one-pass -1 100000",
                                      "parts 2 99999999999999999999 one-pass -1 1",
                                      "parts 2 3 parts 2 3 one-pass -1 1"};
  test_contraction c;
  assert_true(test_contraction_make("ac,cb->ab", CUTT_F32, &c));
  const int64_t extent[] = {5, 9, 7}; /* of a, c and b */
  memcpy(c.extent, extent, sizeof extent);
  assert_true(start(&c, true));
  cutt_way *way = malloc(sizeof *way);
  assert_non_null(way);
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    if (!cutt_way_read(kept, words[i], INT64_MAX, way)) fail_msg("'%s' was taken", words[i]);
  assert_null(cutt_way_read(kept, "parts 2 3 one-pass -1 0", INT64_MAX, way));
  assert_int_equal(3, way->split.parts);
  assert_non_null(cutt_way_read(kept, "parts 2 3 one-pass -1 0", 100, way));
  free(way);
  finish();
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_passes), cmocka_unit_test(by_products),
                                     cmocka_unit_test(chosen), cmocka_unit_test(wrong_words)};
  const int status = test_device_only_gpu(test_device_open(argc, argv));
  if (status >= 0) return status;
  test_contraction_use(test_device());
  const int failed = cmocka_run_group_tests_name("parts", tests, NULL, NULL);
  test_contraction_report();
  test_contraction_done();
  return failed;
}
