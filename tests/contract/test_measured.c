/* Measured contraction plans: every way that may be measured gives the right result; words of wisdom files are read back as they
 * were written, and are not trusted; wisdom is kept, and is that of one problem, BLAS library, number of threads and limit.
 * With the argument "cuda": the former on a GPU, also by every algorithm that the library lists for products. */
#include <inttypes.h>
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

/* A plan that has been started as the public call does it, and its key in wisdom. */
typedef struct started {
  struct cuttContractionStruct *plan;
  int64_t limit;
  char problem[CUTT_WISDOM_PROBLEM_BYTES], key[CUTT_WISDOM_PROBLEM_BYTES], words[CUTT_WISDOM_WORDS_BYTES];
  cutt_way list[CUTT_MOST_WAYS];
  int count;
} started;

static started kept;

static void finish(void) {
  if (kept.plan) cutt_contraction_release(kept.plan);
  free(kept.plan);
  kept.plan = NULL;
}

/* False where nothing is to be chosen, or where the type has no BLAS library. */
static bool start(const test_contraction *c) {
  test_fields fields;
  test_contraction_view(c, &fields);
  finish();
  kept.plan = calloc(1, sizeof *kept.plan);
  assert_non_null(kept.plan);
  assert_success(cutt_contraction_check(&fields.contraction, &kept.plan->asked));
  const cuttType_t type = c->type;
  const cutt_backend *backend = cutt_backend_of(test_device());
  const bool whole = type == CUTT_I32 || type == CUTT_I64, half = type == CUTT_F16 || type == CUTT_BF16;
  const bool gpu = test_device() == CUTT_BACKEND_CUDA;
  const bool products = !whole && (gpu ? !kept.plan->asked.right_is_one : !half);
  kept.plan->family = !products ? CUTT_FAMILY_PASS : CUTT_FAMILY_ANY;
  const cutt_blas *blas = NULL;
  if (products && cutt_blas_find(test_device(), NULL, "provider", type, &blas)) return false;
  bool done = false;
  kept.limit = c->limit > (size_t)INT64_MAX ? INT64_MAX : (int64_t)c->limit;
  assert_success(cutt_contraction_start(kept.plan, backend, blas, gpu ? 1 : c->threads, kept.limit, &done));
  if (done) return false;
  cutt_text text = cutt_text_start(kept.problem, sizeof kept.problem);
  cutt_way_problem(kept.plan, kept.limit, &text);
  assert_true(text.length < sizeof kept.problem);
  assert_true(cutt_wisdom_words_key(backend, "contraction", kept.problem, kept.key, sizeof kept.key));
  assert_success(cutt_ways_list(kept.plan, kept.limit - (int64_t)kept.plan->workspace_bytes, kept.list, &kept.count));
  assert_true(kept.count > 0);
  return true;
}

/* Nothing else is asked for, so that all ways are open. */
static void draw(test_rng *rng, int64_t most_products, test_contraction *c) {
  static const test_variety variety = {30, 40, 40, 2, 3};
  test_contraction_draw(rng, (int)test_random_in(rng, 2, 7), most_products, c);
  test_contraction_vary(rng, &variety, c);
  c->blas[0] = c->algorithm[0] = 0;
  if (test_chance(rng, 80)) c->threads = 1;
  if (c->threads == 0) c->threads = 1;
}

static const char *words_of(const cutt_way *way) {
  cutt_text text = cutt_text_start(kept.words, sizeof kept.words);
  cutt_way_words(&kept.plan->contraction, way, &text);
  assert_true(text.length < sizeof kept.words);
  return kept.words;
}

static double measured_seconds(const test_contraction *c) {
  test_fields fields;
  test_contraction_view(c, &fields);
  cuttContractionPlan_t plan = NULL;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttContractionPlanCreate(&plan, &fields.contraction, &fields.options));
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_success(cuttContractionPlanDestroy(plan));
  assert_true(info.workspace_bytes <= c->limit);
  return info.measured_seconds;
}

/* ------------------------------------------------------------------------------------------------------------- every way */

static void way_is_right(test_contraction *c, const cutt_way *way) {
  cuttWisdom_t wisdom = wisdom_fresh();
  assert_success(cutt_wisdom_add_words(wisdom, kept.key, words_of(way), written_seconds));
  c->wisdom = wisdom;
  assert_near(written_seconds, measured_seconds(c)); /* it is taken */
  assert_int_equal(test_contraction_try(c, NULL), TEST_RIGHT_RESULT);
  assert_success(cuttWisdomDestroy(wisdom));
}

/* The way by each algorithm that the library lists for its products; returns how many. */
static int algorithms_are_right(test_contraction *c, const cutt_way *way) {
  const cutt_blas *blas = kept.plan->blas;
  cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS];
  cutt_gemm_case of;
  int count = 0;
  if (way->one_pass || !blas->algorithms) return 0;
  const size_t workspace = kept.plan->workspace_bytes;
  assert_success(cutt_way_take(kept.plan, way, kept.limit));
  cutt_contraction_products_of(kept.plan, kept.limit, &of);
  assert_success(blas->algorithms(blas, &of, list, &count));
  cutt_contraction_untake(kept.plan);
  kept.plan->workspace_bytes = workspace;
  cutt_way by = *way;
  for (by.number = 1; by.number <= count; ++by.number) {
    by.algorithm = list[by.number - 1];
    way_is_right(c, &by);
  }
  return count;
}

static void every_way_is_right(void **unused) {
  (void)unused;
  test_rng rng = {20260101};
  int tried = 0, passes = 0, cut = 0, algorithms = 0;
  for (int i = 0; i < test_scaled(300); ++i) {
    test_contraction c;
    draw(&rng, test_chance(&rng, 10) ? 300000 : 4000, &c);
    if (!start(&c)) continue;
    for (int w = 0; w < kept.count; ++w) {
      const cutt_way *way = &kept.list[w];
      way_is_right(&c, way);
      algorithms += algorithms_are_right(&c, way);
      ++tried;
      passes += way->one_pass;
      cut += !way->one_pass && way->choice.cost.result_blocks * way->choice.cost.k_blocks > 1;
    }
  }
  finish();
  print_message("%d ways, %d in one pass, %d in blocks; %d by algorithms of the library\n", tried, passes, cut,
                algorithms);
  assert_true(passes > 0 && cut > 0 && passes + cut < tried);
  assert_int_equal(algorithms > 0, test_device() == CUTT_BACKEND_CUDA);
}

/* Words read back are the way that was written. */
static void words_are_the_way(void **unused) {
  (void)unused;
  test_rng rng = {20260102};
  for (int i = 0; i < test_scaled(200); ++i) {
    test_contraction c;
    draw(&rng, 100000, &c);
    if (!start(&c)) continue;
    const int64_t limit = kept.limit - (int64_t)kept.plan->workspace_bytes;
    for (int w = 0; w < kept.count; ++w) {
      static char first[CUTT_WISDOM_WORDS_BYTES];
      cutt_way read;
      strcpy(first, words_of(&kept.list[w]));
      assert_null(cutt_way_read(kept.plan, first, limit, &read));
      assert_string_equal(words_of(&read), first);
      assert_near(kept.list[w].one_pass ? kept.list[w].shape.seconds : kept.list[w].choice.cost.seconds, read.seconds);
    }
  }
  finish();
}

/* Changes one number of the words, or cuts them short. */
static void damage(test_rng *rng, char *words, size_t room) {
  size_t numbers = 0, which, length = strlen(words);
  for (const char *at = words; *at; ++at) numbers += *at == ' ';
  if (test_chance(rng, 5)) {
    words[test_random_in(rng, 0, (int64_t)length)] = 0;
    return;
  }
  which = (size_t)test_random_in(rng, 1, (int64_t)numbers);
  char *at = words;
  for (; which; ++at) which -= *at == ' ';
  char rest[CUTT_WISDOM_WORDS_BYTES];
  strcpy(rest, at + strcspn(at, " "));
  static const int64_t odd[] = {-1, 0, 1, 2, 3, 4, 5, 7, 64, 129, INT64_MAX};
  const int64_t number = odd[test_random_in(rng, 0, sizeof odd / sizeof *odd - 1)];
  snprintf(at, room - (size_t)(at - words), "%" PRId64 "%s", number, rest);
}

/* A way from a file is taken if it is one, and passed over if not; the result is right in any case. */
static void words_are_not_trusted(void **unused) {
  (void)unused;
  test_rng rng = {20260103};
  int taken = 0, refused = 0;
  for (int i = 0; i < test_scaled(1500); ++i) {
    test_contraction c;
    draw(&rng, 3000, &c);
    if (!start(&c)) continue;
    words_of(&kept.list[test_random_in(&rng, 0, kept.count - 1)]);
    for (int64_t times = test_random_in(&rng, 1, 3); times-- > 0 && strchr(kept.words, ' ');)
      damage(&rng, kept.words, sizeof kept.words);
    if (!*kept.words) continue;
    cuttWisdom_t wisdom = wisdom_fresh();
    assert_success(cutt_wisdom_add_words(wisdom, kept.key, kept.words, written_seconds));
    c.wisdom = wisdom;
    *(measured_seconds(&c) > 0 ? &taken : &refused) += 1;
    assert_int_equal(test_contraction_try(&c, NULL), TEST_RIGHT_RESULT);
    assert_success(cuttWisdomDestroy(wisdom));
  }
  finish();
  print_message("%d taken, %d refused\n", taken, refused);
  assert_true(taken > 0 && refused > 0);
}

/* A predicted plan's algorithm is within 2 percent of the fastest, and none that is permutes fewer tensors. */
static void few_permutations(void **unused) {
  (void)unused;
  test_rng rng = {20260105};
  int preferred = 0;
  for (int i = 0; i < test_scaled(400); ++i) {
    test_contraction c;
    draw(&rng, 10000000, &c);
    if (!start(&c) || !kept.plan->blas) continue;
    cutt_algorithm_choice best[CUTT_BEST_ALGORITHMS];
    int count = 0, looked = 0;
    const int64_t limit = kept.limit - (int64_t)kept.plan->workspace_bytes;
    assert_success(cutt_algorithms_look(kept.plan, limit, CUTT_BEST_ALGORITHMS, best, &count, &looked));
    assert_success(cutt_algorithm_choose(kept.plan, limit));
    if (looked == 0) continue;
    double least = best[0].cost.seconds;
    for (int j = 1; j < looked; ++j) least = fmin(least, best[j].cost.seconds);
    assert_true(kept.plan->cost.seconds <= 1.02 * least);
    const bool *own = kept.plan->algorithm.packed;
    for (int j = 0; j < looked; ++j) {
      const bool *packed = best[j].algorithm.packed;
      if (best[j].cost.seconds > 1.02 * least) continue;
      assert_true(packed[0] + packed[1] + packed[2] >= own[0] + own[1] + own[2]);
    }
    preferred += kept.plan->cost.seconds > least;
  }
  finish();
  print_message("%d not the fastest by prediction\n", preferred);
}

/* --------------------------------------------------------------------------------------------------------------- measuring */

static void measured_ones_are_right(void **unused) {
  (void)unused;
  test_rng rng = {20260104};
  for (int i = 0; i < test_scaled(60); ++i) {
    test_contraction c;
    draw(&rng, 20000, &c);
    c.measure = test_chance(&rng, 50) ? 1e-9 : 0.01; /* only the first is run, or several */
    assert_int_equal(test_contraction_try(&c, NULL), TEST_RIGHT_RESULT);
    if (start(&c)) assert_true(measured_seconds(&c) > 0);
  }
  finish();
}

static cuttContractionPlan_t plan_of(const char *pattern, cuttContractionOptions_t *options) {
  static const int64_t left[] = {30, 20, 40}, right[] = {40, 30, 50};
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = pattern;
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = 3;
  contraction.left_extents = left;
  contraction.right_extents = right;
  contraction.result_rank = 2;
  options->backend = CUTT_BACKEND_CPU;
  cuttContractionPlan_t plan = NULL;
  assert_success(cuttContractionPlanCreate(&plan, &contraction, options));
  return plan;
}

static double seconds_of(cuttContractionPlan_t plan) {
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_success(cuttContractionPlanDestroy(plan));
  return info.measured_seconds;
}

static void a_description_says_what_was_measured(void **unused) {
  (void)unused;
  char text[16384];
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.threads = 1;
  options.choice = CUTT_MEASURE;
  options.measure_seconds = 0.2;
  options.wisdom = wisdom_fresh();
  cuttContractionPlan_t plan = plan_of("abk,kac->bc", &options);
  assert_success(cuttContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "timed by turns"));
  assert_non_null(strstr(text, "ttgt permuting"));
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"by\":\"measured\""));
  assert_non_null(strstr(text, "\"timed\":[{\"way\":"));
  assert_success(cuttContractionPlanDestroy(plan));
  options.choice = CUTT_PREDICT;
  plan = plan_of("abk,kac->bc", &options);
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"by\":\"wisdom\""));
  assert_success(cuttContractionPlanDestroy(plan));
  assert_success(cuttWisdomDestroy(options.wisdom));
  options.wisdom = NULL;
  plan = plan_of("abk,kac->bc", &options);
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"by\":\"model\",\"measured_seconds\":0,\"timed\":[]"));
  assert_success(cuttContractionPlanDestroy(plan));
}

/* ------------------------------------------------------------------------------------------------------------------ wisdom */

/* In picoseconds. */
static void assert_kept(double measured, double known) { assert_true(fabs(known - measured) < 2e-12); }

static void wisdom_is_of_one_problem(void **unused) {
  (void)unused;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.threads = 1;
  options.choice = CUTT_MEASURE;
  options.measure_seconds = 0.02;
  options.wisdom = wisdom_fresh();
  const double measured = seconds_of(plan_of("abk,kac->bc", &options));
  assert_true(measured > 0);
  assert_kept(measured, seconds_of(plan_of("abk,kac->bc", &options))); /* it is not measured again */
  options.choice = CUTT_PREDICT;
  assert_kept(measured, seconds_of(plan_of("abk,kac->bc", &options)));
  assert_kept(measured, seconds_of(plan_of("xyz,zxw->yw", &options))); /* names make no difference */
  assert_true(seconds_of(plan_of("abk,kac->cb", &options)) == 0);
  options.threads = 2;
  assert_true(seconds_of(plan_of("abk,kac->bc", &options)) == 0);
  options.threads = 1;
  options.workspace_limit = 1 << 20;
  assert_true(seconds_of(plan_of("abk,kac->bc", &options)) == 0);
  options.workspace_limit = CUTT_NO_LIMIT;
  options.algorithm = "one-pass";
  assert_true(seconds_of(plan_of("abk,kac->bc", &options)) == 0);
  assert_success(cuttWisdomDestroy(options.wisdom));
}

/* In an entry: its library for products, or its device, is another one. */
static void set_word(char *entry, size_t room, void *words) {
  const char *const *from_to = words;
  char *at = strstr(entry, from_to[0]);
  if (at) wisdom_put(entry, room, at, strlen(from_to[0]), from_to[1]);
}

static void wisdom_files(void **unused) {
  (void)unused;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.threads = 1;
  options.choice = CUTT_MEASURE;
  options.measure_seconds = 0.02;
  options.wisdom = wisdom_fresh();
  const double measured = seconds_of(plan_of("abk,kac->bc", &options));
  options.choice = CUTT_PREDICT;
  wisdom_learn(options.wisdom, 0); /* one of a permutation beside it */
  assert_success(cuttWisdomSave(options.wisdom, wisdom_path));
  assert_success(cuttWisdomDestroy(options.wisdom));
  size_t size = 0, used = 0, ignored = 0;
  char *text = wisdom_read_file(wisdom_path, &size);
  assert_non_null(strstr(text, " contraction any "));

  options.wisdom = wisdom_fresh();
  assert_success(cuttWisdomLoad(options.wisdom, wisdom_path, &used, &ignored));
  assert_true(used >= 2 && ignored == 0);
  assert_true(wisdom_knows(options.wisdom, 0));
  assert_kept(measured, seconds_of(plan_of("abk,kac->bc", &options)));
  assert_success(cuttWisdomSave(options.wisdom, wisdom_path)); /* merged with itself */
  assert_success(cuttWisdomDestroy(options.wisdom));
  size_t again_size = 0;
  char *again = wisdom_read_file(wisdom_path, &again_size);
  assert_string_equal(again, text);
  free(again);

  static const char *const change[][2] = {{"contraction any ", "contraction any other-"},
                                          {"cpu/", "cpu/other-"},
                                          {"contraction any ", "contractions any "},
                                          {"= ", "= other "}};
  for (size_t i = 0; i < sizeof change / sizeof *change; ++i) {
    char *edited = wisdom_edited(text, set_word, (void *)(uintptr_t)change[i]);
    wisdom_write_file(wisdom_path, edited, strlen(edited));
    options.wisdom = wisdom_fresh();
    assert_success(cuttWisdomLoad(options.wisdom, wisdom_path, &used, &ignored));
    assert_true(seconds_of(plan_of("abk,kac->bc", &options)) == 0);
    assert_success(cuttWisdomDestroy(options.wisdom));
    free(edited);
  }
  free(text);
}

/* ---------------------------------------------------------------------------------------------------------------- refusals */

static void refuses_bad_options(void **unused) {
  (void)unused;
  static const int64_t extents[] = {3, 4};
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "ab,bc->ac";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = (const int64_t[]){4, 3};
  contraction.right_extents = extents;
  cuttContractionPlan_t plan = NULL;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.choice = (cuttChoice_t)2;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &contraction, &options), "options->choice",
                "2");
  options.choice = CUTT_MEASURE;
  options.measure_seconds = -1;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &contraction, &options),
                "options->measure_seconds", "-1");
  options.measure_seconds = INFINITY;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &contraction, &options),
                "options->measure_seconds", "inf");
  options.measure_seconds = 0.01;
  uint64_t nothing[64] = {0};
  options.wisdom = (cuttWisdom_t)(void *)nothing;
  assert_result(CUTT_INVALID_PARAMETER, cuttContractionPlanCreate(&plan, &contraction, &options), "options->wisdom",
                "cuttWisdomCreate");
  assert_null(plan);
  /* A caller that was built before there was a choice. */
  options.struct_size = offsetof(cuttContractionOptions_t, choice);
  assert_success(cuttContractionPlanCreate(&plan, &contraction, &options));
  assert_true(seconds_of(plan) == 0);
}

int main(int argc, char **argv) {
  const int status = test_device_open(argc, argv);
  if (status >= 0) return status;
  test_contraction_use(test_device());
  const struct CMUnitTest there[] = {cmocka_unit_test(every_way_is_right), cmocka_unit_test(measured_ones_are_right)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_way_is_right),       cmocka_unit_test(words_are_the_way),
      cmocka_unit_test(words_are_not_trusted),    cmocka_unit_test(few_permutations),
      cmocka_unit_test(measured_ones_are_right),  cmocka_unit_test(a_description_says_what_was_measured),
      cmocka_unit_test(wisdom_is_of_one_problem), cmocka_unit_test_setup(wisdom_files, wisdom_empty_folder),
      cmocka_unit_test(refuses_bad_options),
  };
  const int failed = test_device() == CUTT_BACKEND_CUDA
                         ? cmocka_run_group_tests(there, wisdom_open_folder, wisdom_close_folder)
                         : cmocka_run_group_tests(tests, wisdom_open_folder, wisdom_close_folder);
  test_contraction_report();
  test_contraction_done();
  return failed;
}
