/* cuttCalibrate on the CPU, for half a second: a report that a program can read, a file that a plan can use, and what is
 * refused. How good the fit is does not matter here: other tests run at the same time. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calibrate/calibrate.h"
#include "calibrate/problems.h"
#include "support/wisdom.h"

enum { REPORT_BYTES = 65536 };
static char report[REPORT_BYTES];

static cuttCalibration_t short_calibration(void) {
  cuttCalibration_t calibration = CUTT_CALIBRATION_INIT;
  calibration.backend = CUTT_BACKEND_CPU;
  calibration.seconds = 0.5;
  calibration.path = wisdom_path;
  return calibration;
}

static double number(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static void check_list(const json_t *list, int count) {
  assert_true(json_is_array(list));
  assert_int_equal(json_array_size(list), count);
  size_t i;
  const json_t *item;
  json_array_foreach(list, i, item) {
    assert_true(strlen(json_string_value(json_object_get(item, "name"))) > 0);
    assert_non_null(json_object_get(item, "unit"));
    assert_true(number(item, "value") >= 0 && number(item, "before") >= 0);
  }
}

static void check_report(const json_t *root) {
  const cutt_schema *schema = NULL;
  for (const cutt_backend *const *b = cutt_backends; *b; b++) {
    if ((*b)->id == CUTT_BACKEND_CPU) schema = (*b)->schema;
  }
  assert_non_null(schema);
  if (!schema) return; /* which a static analyser has to be told */
  assert_string_equal(json_string_value(json_object_get(root, "backend")), "cpu");
  assert_string_equal(json_string_value(json_object_get(root, "path")), wisdom_path);
  check_list(json_object_get(root, "properties"), schema->property_count);
  check_list(json_object_get(root, "parameters"), schema->parameter_count);
  assert_true(number(json_object_get(root, "problems"), "held_back") >= 1);
  assert_true(number(json_object_get(root, "problems"), "fitted") >= 2);
  assert_true(number(root, "candidates") >= 4);
  const json_t *quality = json_object_get(root, "quality");
  static const char *const names[] = {"fitted", "measured_properties", "before"};
  double mean[3], kept = -1;
  for (size_t i = 0; i < 3; i++) {
    const json_t *one = json_object_get(quality, names[i]);
    mean[i] = number(one, "geometric_mean");
    assert_true(mean[i] > 0 && mean[i] <= 1);
    assert_true(number(one, "worst") > 0 && number(one, "worst") <= mean[i] + 1e-6);
    assert_true(number(one, "exact") >= 0 && number(one, "exact") <= 1);
    assert_true(fabs(number(one, "rank_correlation")) <= 1 + 1e-9);
    if (!strcmp(json_string_value(json_object_get(root, "kept")), names[i])) kept = mean[i];
  }
  assert_null(json_object_get(quality, "paper")); /* a model of GPUs */
  for (size_t i = 0; i < 3; i++) assert_true(kept >= mean[i]);
}

static void a_plan_uses_it(void) {
  const int64_t extents[] = {200, 300, 40};
  const int perm[] = {2, 0, 1};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.device = wisdom_path;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_success(cuttPlanGetInfo(plan, &info));
  assert_true(info.predicted_seconds > 0 && info.predicted_seconds < 10);
  assert_success(cuttPlanDestroy(plan));
}

typedef struct seen {
  int calls, most;             /* stops at most calls, when above 0 */
  int fittings, most_fittings; /* the same of calls within the fit */
  double done;
  bool backwards, odd;
} seen;

static int watch(void *data, double done, const char *what) {
  seen *s = data;
  s->backwards = s->backwards || done < s->done;
  s->odd = s->odd || !(done >= 0 && done <= 1) || !what || !*what;
  s->done = done;
  if (what && strcmp(what, "fitting") == 0 && ++s->fittings == s->most_fittings) return 1;
  return ++s->calls == s->most;
}

static void calibrates(void **unused) {
  (void)unused;
  seen s = {0};
  cuttCalibration_t calibration = short_calibration();
  calibration.progress = watch;
  calibration.data = &s;
  size_t needed = 0;
  assert_success(cuttCalibrate(&calibration, CUTT_JSON, report, sizeof report, &needed));
  assert_int_equal(needed, strlen(report) + 1);
  json_error_t error;
  json_t *root = json_loads(report, 0, &error);
  if (!root) fail_msg("the report is no JSON: %s", error.text);
  check_report(root);
  json_decref(root);
  assert_true(s.calls > 10 && s.done == 1 && !s.backwards && !s.odd);
  a_plan_uses_it();
  /* It replaces a file that is there, and the text fits as well; a buffer that is too small cuts it. */
  calibration.seconds = 0.3;
  calibration.seed = 77;
  calibration.threads = 1;
  calibration.progress = NULL;
  assert_success(cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, &needed));
  assert_int_equal(needed, strlen(report) + 1);
  assert_non_null(strstr(report, "seed 77"));
  assert_non_null(strstr(report, "geometric mean"));
  assert_non_null(strstr(report, wisdom_path));
  a_plan_uses_it();
  report[20] = 0x7f;
  assert_success(cuttCalibrate(&calibration, CUTT_TEXT, report, 20, &needed));
  assert_true(needed > 1000 && strlen(report) == 19 && report[20] == 0x7f);
}

static void goes_to_its_own_folder(void **unused) {
  (void)unused;
  char folder[256], path[CUTT_PATH_BYTES] = "", command[512];
  snprintf(folder, sizeof folder, "%s/data", wisdom_folder);
  assert_int_equal(setenv("XDG_DATA_HOME", folder, 1), 0);
  cuttCalibration_t calibration = short_calibration();
  calibration.path = NULL;
  calibration.seconds = 0.3;
  assert_success(cuttCalibrate(&calibration, CUTT_JSON, report, sizeof report, NULL));
  json_t *root = json_loads(report, 0, NULL);
  assert_non_null(root);
  snprintf(path, sizeof path, "%s", json_string_value(json_object_get(root, "path")));
  json_decref(root);
  assert_int_equal(strncmp(path, folder, strlen(folder)), 0);
  assert_int_equal(access(path, R_OK), 0);
  assert_int_equal(unlink(path), 0);
  snprintf(command, sizeof command, "%s/cutt", folder);
  assert_int_equal(rmdir(command), 0);
  assert_int_equal(rmdir(folder), 0);
  /* Nowhere to go. */
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL),
                "calibration->path", "HOME");
}

static void stops(void **unused) {
  (void)unused;
  unlink(wisdom_path);
  for (int most = 1; most < 400; most = most * 3 + 1) {
    seen s = {.most = most};
    cuttCalibration_t calibration = short_calibration();
    calibration.seconds = 0.2;
    calibration.progress = watch;
    calibration.data = &s;
    const cuttResult result = cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL);
    if (s.calls < most || s.done == 1) { /* it was through before, or at that very call */
      assert_success(result);
      assert_int_equal(unlink(wisdom_path), 0);
      return;
    }
    assert_result(CUTT_INTERNAL_ERROR, result, "stopped", "progress");
    assert_int_equal(s.calls, most); /* and not asked again */
    assert_int_not_equal(access(wisdom_path, F_OK), 0);
  }
}

/* The fit takes seconds, in which a caller who wants to stop is not to wait. */
static void stops_within_the_fit(void **unused) {
  (void)unused;
  unlink(wisdom_path);
  for (int most = 2; most < 2000; most += 1500) {
    seen s = {.most_fittings = most};
    cuttCalibration_t calibration = short_calibration();
    calibration.seconds = 0.2;
    calibration.progress = watch;
    calibration.data = &s;
    assert_result(CUTT_INTERNAL_ERROR, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL), "stopped",
                  "progress");
    assert_int_equal(s.fittings, most);
    assert_true(!s.backwards && !s.odd);
    assert_int_not_equal(access(wisdom_path, F_OK), 0);
  }
}

static void refuses(void **unused) {
  (void)unused;
  cuttCalibration_t calibration = short_calibration();
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(NULL, CUTT_TEXT, report, sizeof report, NULL), "calibration");
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, (cuttFormat_t)9, report, sizeof report, NULL),
                "format", "9");
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, NULL, 5, NULL), "buffer");
  calibration.struct_size = 3;
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL),
                "calibration->struct_size");
  const double seconds[] = {-1, NAN, INFINITY, 1e9};
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
    calibration = short_calibration();
    calibration.seconds = seconds[i];
    assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL),
                  "calibration->seconds");
  }
  calibration = short_calibration();
  calibration.threads = -3;
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL),
                "calibration->threads", "-3");
  calibration = short_calibration();
  calibration.backend = (cuttBackend_t)55;
  assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL),
                "calibration->backend", "55");
  static const char *const paths[] = {"", "/no/such/folder/file", "/"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    calibration = short_calibration();
    calibration.path = paths[i];
    assert_result(CUTT_INVALID_PARAMETER, cuttCalibrate(&calibration, CUTT_TEXT, report, sizeof report, NULL),
                  "calibration->path", paths[i]);
  }
}

/* A third are views of arrays, in all ways that modes can lie; none is a plain copy, and all are within their memory. */
static void draws_permutations_and_views(void **unused) {
  (void)unused;
  enum { COUNT = 3000, BYTES = 100000, MOST = 200000 };
  int views = 0, backwards = 0, repeated = 0, in_steps = 0, out_steps = 0, in_parts = 0, out_parts = 0;
  for (int number = 0; number < COUNT; number++) {
    cutt_canonical c, again;
    assert_success(cutt_calibration_draw(7, number, BYTES, MOST, &c));
    assert_success(cutt_calibration_draw(7, number, BYTES, MOST, &again));
    assert_memory_equal(&c.volume, &again.volume, sizeof c.volume);
    assert_memory_equal(c.mode, again.mode, (size_t)c.rank * sizeof c.mode[0]);
    const int64_t bytes = c.volume * c.elem_bytes;
    assert_true(bytes >= BYTES / 8 && bytes <= MOST);
    assert_true(c.in_low == 0 && c.out_low == 0 && c.in_high <= MOST && c.out_high <= MOST);
    assert_true(c.in_start >= 0 && c.in_start < c.in_high && c.out_start >= 0 && c.out_start < c.out_high);
    assert_true(c.rank > 1 || c.mode[0].in_stride != 1 || c.mode[0].out_stride != 1);
    bool back = false, again_and_again = false;
    for (int i = 0; i < c.rank; i++) {
      back = back || c.mode[i].in_stride < 0;
      again_and_again = again_and_again || c.mode[i].in_stride == 0;
    }
    const bool in_step = c.mode[0].in_stride > 1, out_step = c.mode[c.out_order[0]].out_stride > 1;
    const bool in_gaps = c.in_high > bytes && !in_step, out_gaps = c.out_high > bytes && !out_step;
    backwards += back;
    repeated += again_and_again;
    in_steps += in_step;
    out_steps += out_step;
    in_parts += in_gaps;
    out_parts += out_gaps;
    views += back || again_and_again || in_step || out_step || in_gaps || out_gaps;
  }
  assert_true(views > COUNT / 5 && views < COUNT / 3);
  assert_true(backwards > 50 && repeated > 50 && in_steps > 20 && out_steps > 20 && in_parts > 50 && out_parts > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_permutations_and_views), cmocka_unit_test(calibrates),
      cmocka_unit_test(goes_to_its_own_folder),       cmocka_unit_test(stops),
      cmocka_unit_test(stops_within_the_fit),         cmocka_unit_test(refuses),
  };
  return cmocka_run_group_tests_name("calibrate", tests, wisdom_open_folder, wisdom_close_folder);
}
