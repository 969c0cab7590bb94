/* What is said about plans and devices: JSON that parses and agrees with the plan, and texts that are cut as promised. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

typedef cuttResult (*describe)(const void *object, cuttFormat_t format, char *buffer, size_t size, size_t *needed);

static cuttResult describe_plan(const void *plan, cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  return cuttPlanDescribe((cuttPlan_t)(uintptr_t)plan, format, buffer, size, needed);
}

static cuttResult describe_devices(const void *unused, cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  (void)unused;
  return cuttDevicesDescribe(format, buffer, size, needed);
}

/* The whole text, to be freed. */
static char *whole(describe say, const void *object, cuttFormat_t format) {
  size_t needed = 0, again = 0;
  assert_success(say(object, format, NULL, 0, &needed));
  assert_true(needed > 1);
  char *text = malloc(needed + 1);
  assert_non_null(text);
  memset(text, 0x7f, needed + 1);
  assert_success(say(object, format, text, needed, &again));
  assert_int_equal(again, needed);
  assert_int_equal(strlen(text), needed - 1);
  assert_int_equal(text[needed], 0x7f);
  return text;
}

/* Every size: a prefix, ended by a 0, nothing behind it written, and the same number of bytes needed. */
static void check_cuts(describe say, const void *object) {
  for (int format = CUTT_TEXT; format <= CUTT_JSON; format++) {
    char *text = whole(say, object, (cuttFormat_t)format);
    const size_t length = strlen(text);
    char *cut = malloc(length + 16);
    assert_non_null(cut);
    for (size_t size = 1; size <= length + 8; size += size > 300 && size + 40 < length ? 37 : 1) {
      size_t needed = 0;
      memset(cut, 0x7f, length + 16);
      assert_success(say(object, (cuttFormat_t)format, cut, size, &needed));
      assert_int_equal(needed, length + 1);
      const size_t kept = size <= length ? size - 1 : length;
      assert_int_equal(strlen(cut), kept);
      assert_memory_equal(cut, text, kept);
      for (size_t i = size; i < length + 16; i++) assert_int_equal(cut[i], 0x7f);
    }
    assert_success(say(object, (cuttFormat_t)format, cut, length + 16, NULL)); /* needed may be NULL */
    assert_string_equal(cut, text);
    assert_result(CUTT_INVALID_PARAMETER, say(object, (cuttFormat_t)format, NULL, 5, NULL), "buffer", "NULL");
    free(cut);
    free(text);
  }
  assert_result(CUTT_INVALID_PARAMETER, say(object, (cuttFormat_t)7, NULL, 0, NULL), "format", "7");
}

static json_t *parse(describe say, const void *object) {
  json_error_t error;
  char *text = whole(say, object, CUTT_JSON);
  json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
  if (!root) print_error("%s\n", text);
  if (!root) fail_msg("JSON: line %d column %d: %s", error.line, error.column, error.text);
  assert_true(json_is_object(root));
  free(text);
  return root;
}

static int64_t integer_at(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_integer(value)) fail_msg("JSON: %s is not a whole number", name);
  return json_integer_value(value);
}

static const char *string_at(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_string(value)) fail_msg("JSON: %s is not a string", name);
  return json_string_value(value);
}

static double number_at(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_number(value)) fail_msg("JSON: %s is not a number", name);
  return json_number_value(value);
}

/* The JSON of a plan says what the problem was, what cuttPlanGetInfo says, and lists candidates, one of them chosen. */
static void check_plan_json(const test_problem *p, cuttPlan_t plan) {
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttPlanGetInfo(plan, &info));
  json_t *root = parse(describe_plan, plan);
  const json_t *problem = json_object_get(root, "problem"), *canonical = json_object_get(root, "canonical");
  assert_int_equal(integer_at(problem, "rank"), p->rank);
  assert_int_equal(integer_at(problem, "bytes_moved"), info.bytes_moved);
  const json_t *extents = json_object_get(problem, "extents"), *perm = json_object_get(problem, "perm");
  assert_int_equal(json_array_size(extents), p->rank);
  assert_int_equal(json_array_size(perm), p->rank);
  for (int i = 0; i < p->rank; i++) {
    assert_int_equal(json_integer_value(json_array_get(extents, (size_t)i)), p->extents[i]);
    assert_int_equal(json_integer_value(json_array_get(perm, (size_t)i)), p->perm[i]);
  }
  assert_int_equal(integer_at(canonical, "rank"), info.fused_rank);
  assert_int_equal(integer_at(canonical, "elem_bytes"), info.fused_elem_bytes);
  assert_int_equal(json_array_size(json_object_get(canonical, "modes")), info.fused_rank);

  const json_t *choice = json_object_get(root, "choice"), *candidates = json_object_get(root, "candidates");
  assert_string_equal(string_at(choice, "method"), info.method);
  assert_int_equal(integer_at(choice, "threads"), info.threads);
  assert_string_equal(string_at(root, "isa"), info.isa);
  assert_string_equal(string_at(root, "backend"), "cpu");
  assert_true(fabs(number_at(root, "predicted_seconds") - info.predicted_seconds) <= 1e-6 * info.predicted_seconds);
  size_t chosen = 0;
  assert_true(json_array_size(candidates) >= 1);
  for (size_t i = 0; i < json_array_size(candidates); i++) {
    const json_t *candidate = json_array_get(candidates, i);
    const char *method = string_at(candidate, "method");
    assert_true(!strcmp(method, "Copy") || !strcmp(method, "TiledCopy") || !strcmp(method, "Tiled") ||
                !strcmp(method, "Packed") || !strcmp(method, "PackedSplit"));
    number_at(candidate, "predicted_seconds");
    if (!json_is_true(json_object_get(candidate, "chosen"))) continue;
    chosen++;
    assert_string_equal(method, info.method);
  }
  assert_int_equal(chosen, 1);
  json_decref(root);
}

static cuttPlan_t make(const test_problem *p, cuttChoice_t choice) {
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan;
  options.threads = p->threads;
  options.choice = choice;
  options.measure_seconds = 0.01;
  assert_success(cuttPlanCreate(&plan, &view, &options));
  return plan;
}

static void plan_as_json(void **unused) {
  (void)unused;
  test_rng rng = {31};
  for (int i = 0; i < test_scaled(300); i++) {
    const test_problem p = test_random_problem(&rng, &(test_limits){0, i % 10 ? 6 : 64, 3000, 0, 40, 60, 3});
    cuttPlan_t plan = make(&p, i % 7 == 0 ? CUTT_MEASURE : CUTT_PREDICT);
    check_plan_json(&p, plan);
    free(whole(describe_plan, plan, CUTT_TEXT));
    assert_success(cuttPlanDestroy(plan));
  }
}

static void measured_plans_say_so(void **unused) {
  (void)unused;
  const test_problem p = test_packed(CUTT_F32, 3, (const int64_t[]){20, 30, 40}, (const int[]){2, 0, 1});
  cuttPlan_t plan = make(&p, CUTT_MEASURE);
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  assert_success(cuttPlanGetInfo(plan, &info));
  assert_true(info.measured_seconds > 0.0);
  json_t *root = parse(describe_plan, plan);
  assert_true(number_at(root, "measured_seconds") > 0.0);
  json_decref(root);
  assert_success(cuttPlanDestroy(plan));
}

static void texts_are_cut(void **unused) {
  (void)unused;
  const test_problem p = test_packed(CUTT_C64, 4, (const int64_t[]){3, 8, 5, 11}, (const int[]){2, 3, 0, 1});
  cuttPlan_t plan = make(&p, CUTT_PREDICT);
  check_cuts(describe_plan, plan);
  assert_success(cuttPlanDestroy(plan));
  check_cuts(describe_devices, NULL);
  size_t needed;
  assert_result(CUTT_INVALID_PLAN, cuttPlanDescribe(NULL, CUTT_TEXT, NULL, 0, &needed), "plan");
}

/* Scalars that JSON has no number for must not end up in it. */
static void odd_scalars_stay_json(void **unused) {
  (void)unused;
  static const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e-320, -0.0, 1e308};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    test_problem p = test_packed(CUTT_C64, 2, (const int64_t[]){3, 4}, (const int[]){1, 0});
    p.has_alpha = p.has_beta = true;
    p.alpha.f64[0] = p.beta.f64[1] = odd[i];
    p.alpha.f64[1] = p.beta.f64[0] = 0.5;
    cuttPlan_t plan = make(&p, CUTT_PREDICT);
    json_decref(parse(describe_plan, plan));
    assert_success(cuttPlanDestroy(plan));
  }
}

static void devices(void **unused) {
  (void)unused;
  json_t *root = parse(describe_devices, NULL);
  const json_t *backends = json_object_get(root, "backends");
  bool cpu = false;
  assert_true(json_array_size(backends) >= 1);
  for (size_t i = 0; i < json_array_size(backends); i++) {
    const json_t *backend = json_array_get(backends, i);
    assert_true(json_is_boolean(json_object_get(backend, "usable")));
    if (!json_is_true(json_object_get(backend, "usable"))) {
      assert_true(strlen(string_at(backend, "why")) > 0);
      continue;
    }
    if (strcmp(string_at(backend, "name"), "cpu")) continue;
    cpu = true;
    assert_true(strlen(string_at(backend, "isa")) > 0);
  }
  assert_true(cpu);
  json_decref(root);
  char *text = whole(describe_devices, NULL, CUTT_TEXT);
  assert_non_null(strstr(text, "cpu"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plan_as_json),  cmocka_unit_test(measured_plans_say_so),
      cmocka_unit_test(texts_are_cut), cmocka_unit_test(odd_scalars_stay_json),
      cmocka_unit_test(devices),
  };
  return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
