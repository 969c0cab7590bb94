/* Passes on a GPU of tensors of which some are permuted (device_moved.h): every choice of them gives the right result, by words of wisdom; and
 * what is predicted of them. With the argument "cuda" on a GPU. */
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

/* False where nothing is to be chosen. */
static bool start(test_contraction *c) {
  test_fields fields;
  bool done = false;
  finish();
  strcpy(c->algorithm, "one-pass");
  c->blas[0] = 0;
  test_contraction_view(c, &fields);
  kept = calloc(1, sizeof *kept);
  assert_non_null(kept);
  assert_success(cutt_contraction_check(&fields.contraction, &kept->asked));
  kept->family = CUTT_FAMILY_PASS;
  const int64_t limit = c->limit > (size_t)INT64_MAX ? INT64_MAX : (int64_t)c->limit;
  assert_success(cutt_contraction_start(kept, cutt_backend_of(test_device()), NULL, 1, limit, &done));
  return !done;
}

/* The plan takes the way, and says so. */
static void assert_right(test_contraction *c, const cutt_device_shape *shape) {
  char problem[CUTT_WISDOM_PROBLEM_BYTES], key[CUTT_WISDOM_PROBLEM_BYTES], words[CUTT_WISDOM_WORDS_BYTES], text[8192];
  const cutt_way way = {.one_pass = true, .shape = {.along = -1}, .device = *shape};
  cutt_text to = cutt_text_start(problem, sizeof problem);
  cutt_way_problem(kept, c->limit > (size_t)INT64_MAX ? INT64_MAX : (int64_t)c->limit, &to);
  assert_true(cutt_wisdom_words_key(kept->backend, "contraction", problem, key, sizeof key));
  to = cutt_text_start(words, sizeof words);
  cutt_way_words(&kept->contraction, &way, &to);
  test_fields fields;
  cuttContractionPlan_t plan = NULL;
  cuttContractionInfo_t info = {.struct_size = sizeof info};
  c->wisdom = wisdom_fresh();
  assert_success(cutt_wisdom_add_words(c->wisdom, key, words, written_seconds));
  test_contraction_view(c, &fields);
  assert_success(cuttContractionPlanCreate(&plan, &fields.contraction, &fields.options));
  assert_success(cuttContractionGetInfo(plan, &info));
  assert_near(written_seconds, info.measured_seconds);
  assert_true(!info.permutes_left == !(shape->moved & 1) || kept->reduce[0]);
  assert_true(!info.permutes_right == !(shape->moved & 2) || kept->reduce[1]);
  assert_int_equal(!info.permutes_result, !(shape->moved & 4));
  assert_true(info.predicted_permute_seconds > 0 && info.predicted_permute_seconds < info.predicted_seconds);
  assert_success(cuttContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, shape->moved & 4 ? "D is permuted afterwards" : "is permuted beforehand"));
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"permuted\":true"));
  assert_success(cuttContractionPlanDestroy(plan));
  const test_verdict verdict = test_contraction_try(c, NULL);
  assert_string_equal(test_device_fault(), "");
  if (verdict != TEST_RIGHT_RESULT) fail_msg("pass no. %d, of kind %d", shape->number, (int)shape->kind);
  assert_success(cuttWisdomDestroy(c->wisdom));
  c->wisdom = NULL;
}

static bool all_tried(const int tried[CUTT_DEVICE_MOVES]) {
  for (unsigned moved = 1; moved < CUTT_DEVICE_MOVES; ++moved)
    if (!tried[moved]) return false;
  return true;
}

static void every_choice(void **unused) {
  (void)unused;
  enum { MOST = 200 };
  static const test_variety variety = {40, 50, 10, 1, 20};
  test_rng rng = {20261123};
  int tried[CUTT_DEVICE_MOVES] = {0};
  for (int i = 0; i < test_scaled(MOST) || (i < MOST && !all_tried(tried)); ++i) {
    test_contraction c;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 2, 6), test_chance(&rng, 10) ? 12000 : 2000, &c);
    test_contraction_vary(&rng, &variety, &c);
    if (!start(&c)) continue;
    const int64_t limit = (c.limit > (size_t)INT64_MAX ? INT64_MAX : (int64_t)c.limit) - (int64_t)kept->workspace_bytes;
    for (unsigned moved = 1; moved < CUTT_DEVICE_MOVES; ++moved) {
      cutt_device_shape best = {.seconds = INFINITY}, shape;
      const bool any = test_chance(&rng, 50); /* of all kinds, not only the best one */
      for (int number = 1; number <= CUTT_DEVICE_PASSES; ++number) {
        cutt_device_pass_numbered(&kept->contraction, &kept->rates, limit, (int)moved * CUTT_DEVICE_PASSES + number,
                                  &shape);
        if (isfinite(shape.seconds)) assert_int_equal(shape.moved, moved);
        if (shape.seconds < best.seconds || (any && isfinite(shape.seconds) && test_chance(&rng, 20))) best = shape;
      }
      if (!isfinite(best.seconds)) continue;
      assert_right(&c, &best);
      ++tried[moved];
    }
  }
  finish();
  for (unsigned moved = 1; moved < CUTT_DEVICE_MOVES; ++moved) {
    print_message("%d with %s%s%s permuted\n", tried[moved], moved & 1 ? "L" : "", moved & 2 ? "R" : "",
                  moved & 4 ? "D" : "");
    assert_true(tried[moved] > 0);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_choice)};
  const int status = test_device_only_gpu(test_device_open(argc, argv));
  if (status >= 0) return status;
  test_contraction_use(test_device());
  const int failed = cmocka_run_group_tests_name("moved", tests, NULL, NULL);
  test_contraction_report();
  test_contraction_done();
  return failed;
}
