/* Calibration: measures what the model has to know of the device at hand, and writes it to a device file.
 *
 * First what can be measured by itself (the backend's part: bandwidths, latencies). Then random problems, candidate by
 * candidate, for as long as there is time; the parameters are fitted to two thirds of them, and with the last third,
 * which the fit does not see, it is found out what the choices are worth. While problems are drawn, fits are made now and
 * then, so that the candidates that are timed are those that the coming values will think fast. If the values that are
 * found choose worse than those that were in use, those stay. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "calibrate/calibrate.h"
#include "calibrate/problems.h"
#include "plan/plan.h"
#include "plan/problem.h"

enum { LEAST_PROBLEMS = 4, MOST_TRIES = 50, HELD_BACK = 3, FIRST_FIT = 8, SIZES = 16, MIB = 1024 * 1024 };
static const double default_seconds = 60, most_seconds = 1e6;
static const double properties_share = 0.15, most_properties_seconds = 10; /* of the time, for the backend's part */
static const double problem_share = 1.0 / 120, least_budget = 0.1, most_budget = 2;
static const double first_ridge = 1e-2; /* of the fits on the way, which have seen little */

static cuttResult stopped(void) {
  return cutt_error(CUTT_INTERNAL_ERROR,
                    "the calibration was stopped by calibration->progress, and nothing was written");
}

/* -------------------------------------------------------------------------------------------------------- arguments */

static cuttResult read_arguments(const cuttCalibration_t *callers, cuttFormat_t format, const char *buffer, size_t size,
                                 cuttCalibration_t *ask) {
  if (!callers) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "calibration is NULL; it must point to a cuttCalibration_t, which may be "
                      "CUTT_CALIBRATION_INIT");
  }
  const cuttResult result = cutt_struct_read(ask, sizeof *ask, sizeof *ask, callers, "calibration");
  if (result) return result;
  if (!(ask->seconds >= 0) || ask->seconds > most_seconds) {
    return cutt_error(CUTT_INVALID_PARAMETER, "calibration->seconds is %g; it must be 0 (default) to %g", ask->seconds,
                      most_seconds);
  }
  if (ask->threads < 0 || ask->threads > CUTT_MAX_THREADS) {
    return cutt_error(CUTT_INVALID_PARAMETER, "calibration->threads is %d; it must be 0 (default) to %d", ask->threads,
                      CUTT_MAX_THREADS);
  }
  if (ask->path && (!*ask->path || strlen(ask->path) >= CUTT_PATH_BYTES)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "calibration->path is %s; it must name a file",
                      *ask->path ? "longer than a path" : "empty");
  }
  return cutt_description_check(format, buffer, size);
}

/* Where the file goes to; asked before anything is measured, so that a wrong path costs no time. */
static cuttResult find_path(cutt_calibration *c) {
  c->backend->runtime->device_key(c->key, sizeof c->key);
  if (c->ask.path) {
    memcpy(c->path, c->ask.path, strlen(c->ask.path) + 1);
    return cutt_file_writable("calibration->path", c->path);
  }
  if (!cutt_device_file_path(c->key, c->path, sizeof c->path)) {
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "calibration->path is NULL, and neither XDG_DATA_HOME nor HOME names a folder for the device file");
  }
  const cuttResult result = cutt_file_make_folders(c->path);
  return result ? result : cutt_file_writable("the path of the device file", c->path);
}

/* -------------------------------------------------------------------------------------------------------- measuring */

static bool properties_progress(void *data, double done) {
  (void)done;
  return cutt_calibrate_progress(data, -1, "bandwidths and latencies");
}

static cuttResult measure_properties(cutt_calibration *c) {
  if (!c->backend->runtime->measure_target) return CUTT_SUCCESS;
  double seconds = c->limit * properties_share;
  if (seconds > most_properties_seconds) seconds = most_properties_seconds;
  const cuttResult result = c->backend->runtime->measure_target(c->target, seconds, properties_progress, c);
  if (result) return c->stopped ? stopped() : result;
  c->target->value = c->value; /* whatever the backend did to the struct */
  /* A file could not have it; better to hear of that before the long part. */
  const cutt_schema *schema = c->backend->schema;
  for (int i = 0; i < schema->property_count; ++i) {
    const cutt_property *property = &schema->properties[i];
    const double value = cutt_property_value(property, c->target);
    if (value >= property->least && value <= property->most) continue;
    return cutt_error(CUTT_INTERNAL_ERROR, "%s was measured as %g %s, which can't be: it must be %.15g to %.15g",
                      property->name, value, property->unit ? property->unit : "", property->least, property->most);
  }
  return CUTT_SUCCESS;
}

/* Memory for the largest problems; on a device that has not got so much, for smaller ones. */
static cuttResult open_memory(cutt_calibration *c, int64_t largest) {
  for (c->bytes = largest + largest / 2;; c->bytes /= 2) {
    cuttResult result = c->backend->runtime->scratch_create((size_t)c->bytes, c->ask.threads, &c->in);
    if (result) c->in = NULL;
    if (!result) {
      result = c->backend->runtime->scratch_create((size_t)c->bytes, c->ask.threads, &c->out);
      if (!result) break;
      c->out = NULL;
      c->backend->runtime->scratch_release(c->in);
      c->in = NULL;
    }
    if (c->bytes <= MIB) return result;
  }
  return c->backend->runtime->has_streams ? c->backend->runtime->stream_create(&c->stream) : CUTT_SUCCESS;
}

/* Of a tensor, for each second of the time limit: 400 MB in a minute. */
static const double bytes_per_second = 400e6 / 60;

/* By default sizes for a GPU: large ones, where bandwidth is all, and some that its L2 holds or whose launch counts. */
static int find_sizes(const cutt_calibration *c, int64_t *list) {
  static const int64_t mib[] = {64, 128, 32, 256, 8, 96, 48, 1};
  if (c->backend->methods->calibration_sizes) return c->backend->methods->calibration_sizes(c->target, list, SIZES);
  const int count = sizeof mib / sizeof *mib;
  for (int i = 0; i < count; ++i) list[i] = mib[i] * MIB;
  return count;
}

static cuttResult measure_problems(cutt_calibration *c) {
  int64_t sizes[SIZES], largest = 0;
  const int count = find_sizes(c, sizes);
  /* In a short time large problems would be few, and take it from the others. */
  const double most = c->limit * bytes_per_second > (double)sizes[0] ? c->limit * bytes_per_second : (double)sizes[0];
  for (int i = 0; i < count; ++i) {
    if ((double)sizes[i] > most) sizes[i] = (int64_t)most;
    if (sizes[i] > largest) largest = sizes[i];
  }
  cuttResult result = open_memory(c, largest);
  if (result) return result;

  double budget = c->limit * problem_share;
  budget = budget < least_budget ? least_budget : budget > most_budget ? most_budget : budget;
  const double deadline = c->began + c->limit * 0.95 - budget;
  int next_fit = FIRST_FIT;
  for (int number = 0; (c->trial_count < LEAST_PROBLEMS && number < MOST_TRIES) || cutt_clock() < deadline; ++number) {
    if (!cutt_calibrate_progress(c, -1, "random problems")) return stopped();
    int64_t bytes = sizes[number % count];
    if (bytes < 4096) bytes = 4096;
    if (bytes > c->bytes / 3 * 2) bytes = c->bytes / 3 * 2;
    result = cutt_calibration_draw(c->ask.seed, number, bytes, c->bytes, &c->canonical);
    if (!result) result = cutt_calibrate_measure(c, &c->canonical, number % HELD_BACK == HELD_BACK - 1, budget);
    if (result) return c->stopped ? stopped() : result;
    if (c->trial_count < next_fit) continue;
    next_fit *= 2;
    result = cutt_calibrate_fit(c, first_ridge);
    if (result) return result;
  }
  if (c->trial_count >= LEAST_PROBLEMS) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "of %d random problems only %d could be measured", MOST_TRIES, c->trial_count);
}

/* ------------------------------------------------------------------------------------------------------ the outcome */

/* What is written is what chooses best. */
static void decide(cutt_calibration *c) {
  const cutt_quality *q = c->quality;
  c->kept = CUTT_PREDICTED_FITTED;
  if (q[CUTT_PREDICTED_FITTED].problems == 0) return;
  if (q[CUTT_PREDICTED_PROPERTIES].mean > q[c->kept].mean) c->kept = CUTT_PREDICTED_PROPERTIES;
  if (q[CUTT_PREDICTED_BEFORE].mean > q[c->kept].mean) c->kept = CUTT_PREDICTED_BEFORE;
}

static cuttResult write_file(const cutt_calibration *c) {
  char comment[2048];
  cutt_text text = cutt_text_start(comment, sizeof comment);
  cutt_calibrate_comment(c, &text);
  if (c->kept == CUTT_PREDICTED_BEFORE) {
    return cutt_device_file_write(c->path, c->backend->schema, c->key, c->before, comment);
  }
  c->target->value = c->kept == CUTT_PREDICTED_FITTED ? c->value : c->before_value;
  return cutt_device_file_write(c->path, c->backend->schema, c->key, c->target, comment);
}

static cuttResult calibrate(cutt_calibration *c, cuttFormat_t format, cutt_text *text) {
  const cutt_schema *schema = c->backend->schema;
  cuttResult result = find_path(c);
  if (result) return result;
  c->before = c->backend->runtime->target();
  c->before_value = c->before->value ? c->before->value : schema->value;
  /* Built in, for this device where there are several, also where a file has replaced them. */
  c->start = !c->before->source ? c->before_value : schema->value_of ? schema->value_of(c->before) : schema->value;
  memcpy(c->value, c->before_value, (size_t)schema->parameter_count * sizeof *c->value);
  c->target = malloc(schema->bytes);
  if (!c->target) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a device", schema->bytes);
  memcpy(c->target, c->before, schema->bytes);
  c->target->value = c->value;

  result = measure_properties(c);
  if (!result) result = measure_problems(c);
  if (result) return result;
  if (!cutt_calibrate_progress(c, CUTT_MEASURED_PERCENT * 0.01, "fitting")) return stopped();
  result = cutt_calibrate_finish(c);
  if (result) return c->stopped ? stopped() : result;
  decide(c);
  if (!cutt_calibrate_progress(c, CUTT_FITTED_PERCENT * 0.01, "writing")) return stopped();
  result = write_file(c);
  if (result) return result;
  c->elapsed = cutt_clock() - c->began;
  cutt_calibrate_progress(c, 1, "done");
  cutt_calibrate_report(c, format, text);
  return CUTT_SUCCESS;
}

cuttResult cuttCalibrate(const cuttCalibration_t *calibration, cuttFormat_t format, char *buffer, size_t size,
                         size_t *needed) {
  if (needed) *needed = 0;
  cutt_calibration *c = calloc(1, sizeof *c);
  if (!c) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a calibration", sizeof *c);
  cuttResult result = read_arguments(calibration, format, buffer, size, &c->ask);
  if (!result) result = cutt_backend_select(c->ask.backend, "calibration->backend", &c->backend);
  if (!result) {
    cutt_text text = cutt_text_start(buffer, size);
    c->began = cutt_clock();
    c->limit = c->ask.seconds > 0 ? c->ask.seconds : default_seconds;
    result = calibrate(c, format, &text);
    if (!result && needed) *needed = text.length + 1;
    if (c->in) c->backend->runtime->scratch_release(c->in);
    if (c->out) c->backend->runtime->scratch_release(c->out);
    if (c->stream) c->backend->runtime->stream_release(c->stream);
  }
  free(c->target);
  free(c->samples);
  free(c->trials);
  free(c);
  return result;
}
