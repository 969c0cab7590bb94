/* What a calibration has found, as text for a person, as JSON for a program, and in short as the device file's comment. */
#include <math.h>
#include <string.h>

#include "calibrate/calibrate.h"

static const char *const json_name[CUTT_PREDICTORS] = {
    [CUTT_PREDICTED_FITTED] = "fitted",
    [CUTT_PREDICTED_PROPERTIES] = "measured_properties",
    [CUTT_PREDICTED_BEFORE] = "before",
    [CUTT_PREDICTED_PAPER] = "paper",
};
static const char *const text_name[CUTT_PREDICTORS] = {
    [CUTT_PREDICTED_FITTED] = "as fitted",
    [CUTT_PREDICTED_PROPERTIES] = "parameters as before",
    [CUTT_PREDICTED_BEFORE] = "everything as before",
    [CUTT_PREDICTED_PAPER] = "the paper's model",
};
static const char *const text_kept[CUTT_PREDICTORS] = {
    [CUTT_PREDICTED_FITTED] = "the parameters as fitted",
    [CUTT_PREDICTED_PROPERTIES] =
        "the parameters as before, with what was measured: the fit chose worse on the problems held back",
    [CUTT_PREDICTED_BEFORE] =
        "everything as before: the fit and what was measured chose worse on the problems held back",
    [CUTT_PREDICTED_PAPER] = "",
};

static int held_back(const cutt_calibration *c) {
  int count = 0;
  for (int i = 0; i < c->trial_count; ++i) count += c->trials[i].held_back;
  return count;
}

/* The values that the file has. */
static const double *kept_values(const cutt_calibration *c) {
  return c->kept == CUTT_PREDICTED_FITTED ? c->value : c->before_value;
}

void cutt_calibrate_comment(const cutt_calibration *c, cutt_text *text) {
  const int held = held_back(c);
  const cutt_quality *q = &c->quality[c->kept];
  cutt_text_add(text, "# by cuTT %d.%d.%d: %d candidates of %d random problems, seed %llu\n", CUTT_VERSION_MAJOR,
                CUTT_VERSION_MINOR, CUTT_VERSION_PATCH, c->sample_count, c->trial_count,
                (unsigned long long)c->ask.seed);
  cutt_text_add(text, "# kept: %s\n", text_kept[c->kept]);
  if (q->problems > 0) {
    cutt_text_add(text, "# choices on %d problems held back: %.3f of the fastest in the geometric mean, worst %.3f\n",
                  held, q->mean, q->worst);
  }
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void json_number(cutt_text *text, const char *name, double value) {
  cutt_text_add(text, isfinite(value) ? ",\"%s\":%.9g" : ",\"%s\":null", name, value);
}

static void json_words(cutt_text *text, const char *name, const char *unit, const char *what) {
  cutt_text_add(text, "{\"name\":");
  cutt_text_add_json(text, name);
  cutt_text_add(text, ",\"unit\":");
  cutt_text_add_json(text, unit ? unit : "");
  cutt_text_add(text, ",\"what\":");
  cutt_text_add_json(text, what ? what : "");
}

static void json_quality(const cutt_calibration *c, cutt_text *text) {
  bool first = true;
  cutt_text_add(text, ",\"quality\":{");
  for (int by = 0; by < CUTT_PREDICTORS; ++by) {
    const cutt_quality *q = &c->quality[by];
    if (q->problems == 0) continue;
    cutt_text_add(text, "%s\"%s\":{\"problems\":%d", first ? "" : ",", json_name[by], q->problems);
    json_number(text, "geometric_mean", q->mean);
    json_number(text, "worst", q->worst);
    json_number(text, "exact", q->exact);
    json_number(text, "rank_correlation", q->correlation);
    cutt_text_add(text, "}");
    first = false;
  }
  cutt_text_add(text, "}");
}

static void report_json(const cutt_calibration *c, cutt_text *text) {
  const cutt_schema *schema = c->backend->schema;
  const int held = held_back(c);
  cutt_text_add(text, "{\"backend\":\"%s\",\"isa\":", c->backend->name);
  cutt_text_add_json(text, c->backend->runtime->isa());
  cutt_text_add(text, ",\"device\":");
  cutt_text_add_json(text, c->before->name);
  cutt_text_add(text, ",\"key\":");
  cutt_text_add_json(text, c->key);
  cutt_text_add(text, ",\"seed\":%llu,\"threads\":%d", (unsigned long long)c->ask.seed, c->ask.threads);
  json_number(text, "seconds", c->elapsed);
  cutt_text_add(text, ",\"problems\":{\"fitted\":%d,\"held_back\":%d},\"candidates\":%d,\"properties\":[",
                c->trial_count - held, held, c->sample_count);
  for (int i = 0; i < schema->property_count; ++i) {
    const cutt_property *property = &schema->properties[i];
    if (i) cutt_text_add(text, ",");
    json_words(text, property->name, property->unit, property->what);
    json_number(text, "before", cutt_property_value(property, c->before));
    json_number(text, "value", cutt_property_value(property, c->target));
    cutt_text_add(text, "}");
  }
  cutt_text_add(text, "],\"parameters\":[");
  for (int i = 0; i < schema->parameter_count; ++i) {
    const cutt_parameter *parameter = &schema->parameters[i];
    if (i) cutt_text_add(text, ",");
    json_words(text, parameter->name, parameter->unit, parameter->what);
    json_number(text, "before", c->before_value[i]);
    json_number(text, "fitted", c->value[i]);
    json_number(text, "value", kept_values(c)[i]);
    cutt_text_add(text, "}");
  }
  cutt_text_add(text, "],\"fit\":{\"ridge\":%.9g", c->ridge);
  json_number(text, "error", c->error);
  cutt_text_add(text, "}");
  json_quality(c, text);
  cutt_text_add(text, ",\"kept\":\"%s\",\"path\":", json_name[c->kept]);
  cutt_text_add_json(text, c->path);
  cutt_text_add(text, "}\n");
}

/* ------------------------------------------------------------------------------------------------------------- text */

/* A number with its unit, bandwidths in the unit that people think in. */
static const char *amount(double value, const char *unit, char *buffer, size_t size) {
  cutt_text text = cutt_text_start(buffer, size);
  if (unit && !strcmp(unit, "1")) unit = NULL;
  if (unit && !strcmp(unit, "B/s")) {
    if (!(value > 0)) {
      cutt_text_add(&text, "unknown");
    } else {
      cutt_text_add(&text, "%.4g GB/s", value * 1e-9);
    }
  } else if (value >= 1e4 && value < 1e15 && !(value > floor(value))) {
    cutt_text_add(&text, "%.0f%s%s", value, unit && *unit ? " " : "", unit ? unit : "");
  } else {
    cutt_text_add(&text, "%.4g%s%s", value, unit && *unit ? " " : "", unit ? unit : "");
  }
  return buffer;
}

static bool differ(double a, double b) { return a < b || a > b; }

static void text_properties(const cutt_calibration *c, cutt_text *text) {
  const cutt_schema *schema = c->backend->schema;
  char before[64], value[64];
  cutt_text_add(text, "\nmeasured               %16s  %16s\n", "", "before");
  int measured = 0;
  for (int i = 0; i < schema->property_count; ++i) {
    const cutt_property *property = &schema->properties[i];
    const double now = cutt_property_value(property, c->target), was = cutt_property_value(property, c->before);
    if (!differ(now, was)) continue;
    ++measured;
    cutt_text_add(text, "  %-20s %16s  %16s  %s\n", property->name, amount(now, property->unit, value, sizeof value),
                  amount(was, property->unit, before, sizeof before), property->what ? property->what : "");
  }
  if (measured == 0) cutt_text_add(text, "  nothing that was not known before\n");
}

static void text_parameters(const cutt_calibration *c, cutt_text *text) {
  const cutt_schema *schema = c->backend->schema;
  char before[64], value[64];
  cutt_text_add(text, "\nparameters             %16s  %16s\n", "fitted", "before");
  for (int i = 0; i < schema->parameter_count; ++i) {
    const cutt_parameter *parameter = &schema->parameters[i];
    cutt_text_add(
        text, "  %-20s %16s  %16s  %s\n", parameter->name, amount(c->value[i], parameter->unit, value, sizeof value),
        amount(c->before_value[i], parameter->unit, before, sizeof before), parameter->what ? parameter->what : "");
  }
  cutt_text_add(text, "  relative error of the fit: %.1f%% (root of the weighted mean of squares)\n", 100 * c->error);
}

static void text_quality(const cutt_calibration *c, cutt_text *text) {
  cutt_text_add(text,
                "\nchoices on the %d problems that were held back: time of the fastest candidate over that of the one\n"
                "predicted to be fastest, and Spearman's rank correlation of predicted and measured times\n"
                "                        geometric mean    worst    exact hits    correlation\n",
                held_back(c));
  for (int by = 0; by < CUTT_PREDICTORS; ++by) {
    const cutt_quality *q = &c->quality[by];
    if (q->problems == 0) continue;
    cutt_text_add(text, "  %-20s  %14.3f  %7.3f  %11.0f%%  %13.3f\n", text_name[by], q->mean, q->worst, 100 * q->exact,
                  q->correlation);
  }
}

static void report_text(const cutt_calibration *c, cutt_text *text) {
  const int held = held_back(c);
  cutt_text_add(text, "calibration of %s (%s, %s)\n", c->before->name, c->backend->name, c->backend->runtime->isa());
  cutt_text_add(text, "  %d candidates of %d random problems, %d of them held back; seed %llu, %.1f s\n",
                c->sample_count, c->trial_count, held, (unsigned long long)c->ask.seed, c->elapsed);
  text_properties(c, text);
  text_parameters(c, text);
  text_quality(c, text);
  cutt_text_add(text, "\nkept        %s\nwritten to  %s\n", text_kept[c->kept], c->path);
}

void cutt_calibrate_report(const cutt_calibration *c, cuttFormat_t format, cutt_text *text) {
  if (format == CUTT_JSON) {
    report_json(c, text);
  } else {
    report_text(c, text);
  }
}
