/* What is said about plans and devices: JSON that parses and agrees with the plan, and texts that are cut as promised. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#endif
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/device.h"
#include "plan/backend.h"
#include "store/device_file.h"
#include "support/check.h"
#include "support/texts.h"

static cuttResult describe_plan(const void *plan, int format, char *buffer, size_t size, size_t *needed) {
  return cuttPlanDescribe((cuttPlan_t)(uintptr_t)plan, (cuttFormat_t)format, buffer, size, needed);
}

static cuttResult describe_devices(const void *unused, int format, char *buffer, size_t size, size_t *needed) {
  (void)unused;
  return cuttDevicesDescribe((cuttFormat_t)format, buffer, size, needed);
}

static json_t *parse(test_says say, const void *object) {
  json_error_t error;
  char *text = test_whole_text(say, object, CUTT_JSON);
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

static bool about(double a, double b) { return fabs(a - b) <= 1e-6 * fabs(b); }

/* A candidate's explanation agrees with itself, and by the library's own model with what it predicts. */
static void check_candidate(const json_t *candidate, const json_t *canonical, bool own) {
  const char *method = string_at(candidate, "method");
  assert_true(!strcmp(method, "Copy") || !strcmp(method, "TiledCopy") || !strcmp(method, "Tiled") ||
              !strcmp(method, "Packed") || !strcmp(method, "PackedSplit"));
  const double predicted = number_at(candidate, "predicted_seconds"), copy = number_at(candidate, "copy_seconds");
  const json_t *tile = json_object_get(candidate, "tile"), *modes = json_object_get(canonical, "modes");
  const json_t *terms = json_object_get(candidate, "terms");
  assert_int_equal(json_array_size(tile), json_array_size(modes));
  if (integer_at(canonical, "volume") == 0) {
    assert_int_equal(json_array_size(terms), 0);
    assert_int_equal(integer_at(candidate, "tiles"), 0);
    return;
  }
  int64_t volume = 1, repeated = 1; /* what is repeated may be read once */
  for (size_t i = 0; i < json_array_size(tile); i++) {
    const json_t *mode = json_array_get(modes, i);
    const int64_t extent = json_integer_value(json_array_get(tile, i));
    assert_in_range(extent, 1, integer_at(mode, "extent"));
    volume *= extent;
    if (integer_at(mode, "in_stride") == 0) repeated *= extent;
  }
  const int64_t read = integer_at(candidate, "row_length") * integer_at(candidate, "rows");
  assert_true(read == volume || read == volume / repeated);
  assert_int_equal(integer_at(candidate, "column_length") * integer_at(candidate, "columns"), volume);
  assert_true(integer_at(candidate, "tiles") >= 1);
  assert_true(copy > 0);
  assert_true(about(number_at(candidate, "percent_of_copy"), 100 * copy / predicted));
  assert_true(number_at(candidate, "least_units") > 0);
  assert_true(number_at(candidate, "read_units") >=
              number_at(candidate, "least_units") / (double)repeated * (1 - 1e-6));
  assert_true(number_at(candidate, "written_units") >= number_at(candidate, "least_units") * (1 - 1e-6));
  assert_true(strlen(string_at(candidate, "unit")) > 0);
  double sum = 0, before = INFINITY;
  assert_true(json_array_size(terms) >= 1);
  for (size_t i = 0; i < json_array_size(terms); i++) {
    const json_t *term = json_array_get(terms, i);
    const double seconds = number_at(term, "seconds");
    assert_true(seconds <= before);
    assert_true(strlen(string_at(term, "name")) > 0 && strlen(string_at(term, "what")) > 0);
    before = seconds;
    sum += seconds;
  }
  assert_true(about(number_at(candidate, "own_seconds"), sum));
  if (own && !about(predicted, sum)) fail_msg("%s: predicted %g, and the terms are %g", method, predicted, sum);
}

/* The JSON of a plan says what the problem was, what cuttPlanGetInfo says, and lists candidates, one of them chosen. It
 * is given back, to be freed. */
static json_t *check_plan_json(const test_problem *p, cuttPlan_t plan, const char *backend, bool own) {
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
  assert_string_equal(string_at(root, "backend"), backend);
  assert_string_equal(string_at(root, "model"), own ? "own" : "paper");
  assert_true(strlen(string_at(root, "device")) > 0);
  assert_true(json_is_boolean(json_object_get(root, "executable")));
  assert_true(about(number_at(root, "predicted_seconds"), info.predicted_seconds));
  size_t chosen = 0;
  double before = 0;
  assert_true(json_array_size(candidates) >= 1);
  check_candidate(choice, canonical, own);
  for (size_t i = 0; i < json_array_size(candidates); i++) {
    const json_t *candidate = json_array_get(candidates, i);
    check_candidate(candidate, canonical, own);
    const double seconds = number_at(candidate, "predicted_seconds");
    assert_true(seconds >= before);
    before = seconds;
    if (!json_is_true(json_object_get(candidate, "chosen"))) continue;
    chosen++;
    assert_string_equal(string_at(candidate, "method"), info.method);
  }
  assert_int_equal(chosen, 1);
  return root;
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
    json_t *root = check_plan_json(&p, plan, "cpu", true);
    assert_true(json_is_true(json_object_get(root, "executable")));
    assert_true(json_is_null(json_object_get(root, "source")));
    json_decref(root);
    free(test_whole_text(describe_plan, plan, CUTT_TEXT));
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
  test_text_cuts(describe_plan, plan);
  assert_success(cuttPlanDestroy(plan));
  test_text_cuts(describe_devices, NULL);
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

/* ------------------------------------------------------------------------------------------------ described devices */

static cuttResult plan_for(const test_problem *p, const char *device, cuttModel_t model, cuttPlan_t *plan) {
  const cuttProblem_t view = test_problem_view(p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.device = device;
  options.model = model;
  return cuttPlanCreate(plan, &view, &options);
}

/* A plan for a device that is not here is all there but for being executed. */
static void check_described(const test_problem *p, const char *device, cuttModel_t model, const char *name) {
  cuttPlan_t plan;
  char bytes[64] = "", *text;
  double seconds;
  assert_success(plan_for(p, device, model, &plan));
  json_t *root = check_plan_json(p, plan, "cuda", model == CUTT_MODEL);
  assert_true(json_is_false(json_object_get(root, "executable")));
  assert_string_equal(string_at(root, "device"), name);
  const json_t *candidates = json_object_get(root, "candidates");
  for (size_t i = 0; i < json_array_size(candidates) && integer_at(json_object_get(root, "canonical"), "volume"); i++) {
    const json_t *candidate = json_array_get(candidates, i);
    const double paper = number_at(candidate, "paper_seconds");
    assert_true(paper > 0);
    if (model == CUTT_MODEL_PAPER) assert_true(about(paper, number_at(candidate, "predicted_seconds")));
    assert_true(integer_at(candidate, "blocks_per_sm") >= 1);
    assert_true(number_at(candidate, "occupancy") > 0 && number_at(candidate, "occupancy") <= 1);
    assert_int_equal(integer_at(candidate, "unit_bytes"), 32);
  }
  json_decref(root);
  text = test_whole_text(describe_plan, plan, CUTT_TEXT);
  assert_non_null(strstr(text, name));
  assert_non_null(strstr(text, "can't be executed"));
  assert_true(!strstr(text, "paper") == (model == CUTT_MODEL));
  free(text);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, bytes, bytes + 32, NULL), "options->device", name);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanTime(plan, bytes, bytes + 32, NULL, 1, &seconds), "options->device", name);
  assert_success(cuttPlanDestroy(plan));
}

static void plans_for_known_devices(void **unused) {
  (void)unused;
  test_rng rng = {77};
  const test_problem fixed = test_packed(CUTT_F64, 4, (const int64_t[]){43, 37, 29, 3}, (const int[]){3, 1, 0, 2});
  for (const cutt_known_device *known = cutt_known_devices; known->key; known++) {
    for (int model = CUTT_MODEL; model <= CUTT_MODEL_PAPER; model++) {
      check_described(&fixed, known->key, (cuttModel_t)model, known->device.base.name);
      for (int i = 0; i < test_scaled(20); i++) {
        const test_problem p = test_random_problem(&rng, &(test_limits){0, i % 5 ? 6 : 64, 30000, 0, 40, 60, 3});
        check_described(&p, known->key, (cuttModel_t)model, known->device.base.name);
      }
    }
  }
  check_described(&fixed, "H200", CUTT_MODEL, "NVIDIA H200");
}

static void described_plans_are_not_executed(void **unused) {
  (void)unused;
  const test_problem p = test_packed(CUTT_F32, 2, (const int64_t[]){5, 7}, (const int[]){1, 0});
  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  float in[35] = {0}, out[35];
  options.device = "k20x";
  assert_result(CUTT_INVALID_DEVICE, cuttPermute(&view, &options, in, out, NULL), "options->device", "Tesla K20Xm");
  /* Nothing to do is no way around it. */
  const test_problem none = test_packed(CUTT_F32, 2, (const int64_t[]){5, 0}, (const int[]){1, 0});
  check_described(&none, "p100", CUTT_MODEL_PAPER, "Tesla P100-SXM2-16GB");
}

static void devices_that_are_refused(void **unused) {
  (void)unused;
  const test_problem p = test_packed(CUTT_F32, 2, (const int64_t[]){50, 70}, (const int[]){1, 0});
  const cuttProblem_t view = test_problem_view(&p);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  cuttPlan_t plan;
  assert_result(CUTT_INVALID_PARAMETER, plan_for(&p, "k2000", CUTT_MODEL, &plan), "options->device", "'k2000'", "k20x",
                "b200");
  assert_result(CUTT_INVALID_PARAMETER, plan_for(&p, "", CUTT_MODEL, &plan), "options->device", "''");
  assert_result(CUTT_INVALID_PARAMETER, plan_for(&p, "./none", CUTT_MODEL, &plan), "options->device", "./none");
  assert_result(CUTT_INVALID_PARAMETER, plan_for(&p, "k20x", (cuttModel_t)9, &plan), "options->model", "9");
  options.backend = CUTT_BACKEND_CPU;
  options.model = CUTT_MODEL_PAPER;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &view, &options), "options->model", "CUTT_MODEL_PAPER");
  options.model = CUTT_MODEL;
  options.device = "k20x";
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &view, &options), "options->device");
  options.backend = CUTT_BACKEND_CUDA;
  options.choice = CUTT_MEASURE;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &view, &options), "options->device", "CUTT_MEASURE");
  options.choice = CUTT_PREDICT;
  assert_success(cuttWisdomCreate(&options.wisdom));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &view, &options), "options->device", "wisdom");
  assert_success(cuttWisdomDestroy(options.wisdom));
}

/* A device that a file describes goes by what is there, and the plan says where that is from. */
static void plans_for_device_files(void **unused) {
  (void)unused;
  char path[] = "/tmp/cutt-describe-XXXXXX";
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_int_equal(close(descriptor), 0);
  char file[sizeof path + 8];
  snprintf(file, sizeof file, "%s.txt", path);
  const test_problem p = test_packed(CUTT_F32, 3, (const int64_t[]){50, 60, 70}, (const int[]){2, 0, 1});
  cutt_device device = *cutt_device_find("a100");
  double value[CUTT_PARAMETERS];
  memcpy(value, cutt_cuda_backend.schema->value, (size_t)cutt_cuda_backend.schema->parameter_count * sizeof *value);
  for (int i = 0; i < cutt_cuda_backend.schema->parameter_count; i++) value[i] *= 2;
  snprintf(device.base.name, sizeof device.base.name, "An \"A100\" <of & my own>");
  device.base.value = value;
  assert_success(cutt_device_file_write(file, cutt_cuda_backend.schema, "cuda-own", &device.base, NULL));
  for (int model = CUTT_MODEL; model <= CUTT_MODEL_PAPER; model++) {
    check_described(&p, file, (cuttModel_t)model, device.base.name);
    cuttPlan_t plan, usual;
    assert_success(plan_for(&p, file, (cuttModel_t)model, &plan));
    assert_success(plan_for(&p, "a100", (cuttModel_t)model, &usual));
    json_t *root = parse(describe_plan, plan), *usual_root = parse(describe_plan, usual);
    assert_string_equal(string_at(root, "source"), file);
    assert_true(json_is_null(json_object_get(usual_root, "source")));
    if (model == CUTT_MODEL) { /* every term has doubled */
      assert_true(about(number_at(root, "predicted_seconds"), 2 * number_at(usual_root, "predicted_seconds")));
    }
    json_decref(root);
    json_decref(usual_root);
    char *text = test_whole_text(describe_plan, plan, CUTT_TEXT);
    assert_non_null(strstr(text, file));
    free(text);
    assert_success(cuttPlanDestroy(plan));
    assert_success(cuttPlanDestroy(usual));
  }
  assert_int_equal(unlink(path), 0);
  assert_int_equal(unlink(file), 0);
}

/* ---------------------------------------------------------------------------------------------------------- devices */

static void devices(void **unused) {
  (void)unused;
  json_t *root = parse(describe_devices, NULL);
  const json_t *backends = json_object_get(root, "backends");
  bool cpu = false, described = false;
  assert_true(json_array_size(backends) >= 1);
  for (size_t i = 0; i < json_array_size(backends); i++) {
    const json_t *backend = json_array_get(backends, i);
    assert_true(json_is_boolean(json_object_get(backend, "usable")));
    const json_t *names = json_object_get(backend, "described_devices");
    for (size_t j = 0; j < json_array_size(names); j++) {
      const char *name = json_string_value(json_array_get(names, j));
      assert_non_null(name);
      assert_non_null(cutt_device_find(name));
      described = described || !strcmp(name, "k20x");
    }
    if (!json_is_true(json_object_get(backend, "usable"))) {
      assert_true(strlen(string_at(backend, "why")) > 0);
      continue;
    }
    if (strcmp(string_at(backend, "name"), "cpu") != 0) continue;
    cpu = true;
    assert_true(strlen(string_at(backend, "isa")) > 0);
    assert_true(json_is_null(json_object_get(backend, "source")));
  }
  assert_true(cpu && described);
  json_decref(root);
  char *text = test_whole_text(describe_devices, NULL, CUTT_TEXT);
  assert_non_null(strstr(text, "cpu"));
  assert_non_null(strstr(text, "built in"));
  assert_non_null(strstr(text, CUTT_KNOWN_DEVICE_KEYS));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plan_as_json),
      cmocka_unit_test(measured_plans_say_so),
      cmocka_unit_test(texts_are_cut),
      cmocka_unit_test(odd_scalars_stay_json),
      cmocka_unit_test(plans_for_known_devices),
      cmocka_unit_test(described_plans_are_not_executed),
      cmocka_unit_test(devices_that_are_refused),
      cmocka_unit_test(plans_for_device_files),
      cmocka_unit_test(devices),
  };
  return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
