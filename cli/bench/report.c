/* What a benchmark found. Figures are the paper's: bytes per second in 1e9, worst, median and best of a group; beside
 * them the share of a copy that was timed next to each case, which is the figure that means the same on any machine. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "cli/cli.h"
#include "clock.h"
#include "files.h"
#include "machine.h"

enum { TEN = 10 };

/* ------------------------------------------------------------------------------------------------------------ table */

typedef struct widths {
  int id, dims, perm;
} widths;

static widths widths_of(const cutt_bench_cases *cases) {
  widths w = {4, 4, 4};
  char text[24 * CUTT_MAX_RANK];
  for (size_t i = 0; i < cases->count; ++i) {
    const cutt_bench_case *c = &cases->item[i];
    int id = (int)strlen(c->id), dims = (int)strlen(cutt_bench_dims_text(c, text, sizeof text));
    int perm = (int)strlen(cutt_bench_perm_text(c, text, sizeof text));
    if (id > w.id) w.id = id;
    if (dims > w.dims) w.dims = dims;
    if (perm > w.perm) w.perm = perm;
  }
  return w;
}

void cutt_bench_print_head(FILE *file, const cutt_bench_cases *cases) {
  widths w = widths_of(cases);
  fprintf(file, "%-*s  %-*s  %-*s  %-11s  %7s  %6s  %8s\n", w.id, "case", w.dims, "dims", w.perm, "perm", "method",
          "GB/s", "% copy", "plan us");
}

void cutt_bench_print_row(FILE *file, const cutt_bench_cases *cases, const cutt_bench_result *result) {
  widths w = widths_of(cases);
  char dims[24 * CUTT_MAX_RANK], perm[4 * CUTT_MAX_RANK];
  cutt_bench_dims_text(result->c, dims, sizeof dims);
  cutt_bench_perm_text(result->c, perm, sizeof perm);
  fprintf(file, "%-*s  %-*s  %-*s  ", w.id, result->c->id, w.dims, dims, w.perm, perm);
  if (result->error[0]) {
    fprintf(file, "FAILED\n");
  } else {
    fprintf(file, "%-11s  %7.2f  %6.1f  %8.1f%s\n", result->method, result->gbs, cutt_bench_percent(result),
            1e6 * result->plan_seconds, result->c->trivial ? "  (a plain copy)" : "");
  }
  fflush(file);
}

/* ---------------------------------------------------------------------------------------------------------- summary */

typedef struct statistics {
  size_t cases;
  double gbs[3], percent[3]; /* worst, median, best */
} statistics;

/* What a set of results is chosen by. */
typedef struct choice {
  const char *group; /* "": any */
  bool skip_trivial;
} choice;

/* False when memory ran out. */
static bool summarize(const cutt_bench_result *results, size_t count, choice which, statistics *summary) {
  *summary = (statistics){0};
  double *gbs = malloc((count + 1) * sizeof *gbs), *percent = malloc((count + 1) * sizeof *percent);
  bool done = gbs && percent;
  size_t n = 0;
  for (size_t i = 0; done && i < count; ++i) {
    const cutt_bench_result *r = &results[i];
    if (r->error[0] || (which.group[0] && strcmp(which.group, r->c->group) != 0)) continue;
    if (which.skip_trivial && r->c->trivial) continue;
    gbs[n] = r->gbs;
    percent[n++] = cutt_bench_percent(r);
  }
  if (done && n > 0) {
    double gbs_median = cutt_bench_median(gbs, n), percent_median = cutt_bench_median(percent, n);
    *summary = (statistics){n, {gbs[0], gbs_median, gbs[n - 1]}, {percent[0], percent_median, percent[n - 1]}};
  }
  free(gbs);
  free(percent);
  return done;
}

/* The indices of the (at most ten) results with the least share of copy speed, worst first; returns how many. */
static int find_worst(const cutt_bench_result *results, size_t count, size_t *worst) {
  int n = 0;
  for (size_t i = 0; i < count; ++i) {
    if (results[i].error[0]) continue;
    double percent = cutt_bench_percent(&results[i]);
    int at = n;
    while (at > 0 && percent < cutt_bench_percent(&results[worst[at - 1]])) --at;
    if (at == TEN) continue;
    int last = n < TEN ? n++ : TEN - 1;
    for (int j = last; j > at; --j) worst[j] = worst[j - 1];
    worst[at] = i;
  }
  return n;
}

/* Is results[i] the first of its group? */
static bool begins_group(const cutt_bench_result *results, size_t i) {
  for (size_t j = 0; j < i; ++j)
    if (!strcmp(results[j].c->group, results[i].c->group)) return false;
  return true;
}

static size_t count_failed(const cutt_bench_result *results, size_t count) {
  size_t failed = 0;
  for (size_t i = 0; i < count; ++i) failed += results[i].error[0] != 0;
  return failed;
}

/* Of the figures that one number tells of all cases. */
typedef struct totals {
  double plan_median, plan_worst; /* seconds */
  double predicted_over_measured; /* geometric mean of the times of the two choices; 0 without --measure */
} totals;

static bool find_totals(const cutt_bench_result *results, size_t count, totals *all) {
  *all = (totals){0};
  double *plan = malloc((count + 1) * sizeof *plan), logs = 0;
  if (!plan) return false;
  size_t n = 0, compared = 0;
  for (size_t i = 0; i < count; ++i) {
    const cutt_bench_result *r = &results[i];
    if (r->error[0]) continue;
    plan[n++] = r->plan_seconds;
    if (r->predicted_seconds > 0 && r->seconds > 0) {
      logs += log(r->predicted_seconds / r->seconds);
      ++compared;
    }
  }
  all->plan_median = cutt_bench_median(plan, n);
  all->plan_worst = n ? plan[n - 1] : 0;
  if (compared) all->predicted_over_measured = exp(logs / (double)compared);
  free(plan);
  return true;
}

static void print_statistics(FILE *file, const char *name, const statistics *s) {
  if (s->cases == 0) return;
  fprintf(file, "%-22s  %5zu  %8.2f %8.2f %8.2f  %8.1f %8.1f %8.1f\n", name, s->cases, s->gbs[0], s->gbs[1], s->gbs[2],
          s->percent[0], s->percent[1], s->percent[2]);
}

bool cutt_bench_print_summary(FILE *file, const cutt_bench_setup *setup, const cutt_bench_result *results,
                              size_t count) {
  statistics s;
  char text[320];
  char where[48] = "";
  if (setup->backend == CUTT_BACKEND_CPU)
    snprintf(where, sizeof where, "%d thread%s", setup->threads, setup->threads == 1 ? "" : "s");
  else
    snprintf(where, sizeof where, "%s", cutt_cli_backend_name(setup->backend));
  fprintf(file, "\n%s, %s, %s, %s choice, bytes counted %dx, checked: %s; on %s\n", setup->set, setup->dtype, where,
          setup->measure ? "measured" : "predicted", setup->beta != 0 ? 3 : 2, setup->check,
          cutt_bench_machine_text(setup->backend, text, sizeof text));
  fprintf(file, "%-22s  %5s  %26s  %26s\n", "", "", "GB/s", "% of copy");
  fprintf(file, "%-22s  %5s  %8s %8s %8s  %8s %8s %8s\n", "group", "cases", "worst", "median", "best", "worst",
          "median", "best");
  size_t groups = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!begins_group(results, i)) continue;
    ++groups;
    if (!summarize(results, count, (choice){results[i].c->group, false}, &s)) return false;
    print_statistics(file, results[i].c->group, &s);
  }
  statistics whole;
  if (!summarize(results, count, (choice){"", false}, &whole)) return false;
  if (groups > 1) print_statistics(file, "all", &whole);
  if (!summarize(results, count, (choice){"", true}, &s)) return false;
  if (s.cases < whole.cases) print_statistics(file, "all but plain copies", &s);

  totals all;
  if (!find_totals(results, count, &all)) return false;
  if (whole.cases)
    fprintf(file, "plan creation: median %.1f us, worst %.1f us\n", 1e6 * all.plan_median, 1e6 * all.plan_worst);
  if (all.predicted_over_measured > 0)
    fprintf(file, "the predicted choice takes %.3f times as long as the measured one (geometric mean)\n",
            all.predicted_over_measured);

  size_t worst[TEN];
  int n = find_worst(results, count, worst);
  if (n > 1) fprintf(file, "worst cases, in percent of copy:\n");
  for (int i = 0; n > 1 && i < n; ++i) {
    const cutt_bench_result *r = &results[worst[i]];
    char dims[24 * CUTT_MAX_RANK], perm[4 * CUTT_MAX_RANK];
    fprintf(file, "  %5.1f  %s  %s  %s  %s\n", cutt_bench_percent(r), r->c->id,
            cutt_bench_dims_text(r->c, dims, sizeof dims), cutt_bench_perm_text(r->c, perm, sizeof perm), r->method);
  }
  if (!cutt_bench_print_choices(file, setup, results, count)) return false;
  size_t failed = count_failed(results, count);
  if (failed) fprintf(file, "%zu of %zu cases FAILED\n", failed, count);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static json_t *three(const double *list) {
  return json_pack("{s:f, s:f, s:f}", "worst", list[0], "median", list[1], "best", list[2]);
}

static json_t *json_statistics(const char *name, const statistics *s) {
  return json_pack("{s:s, s:I, s:o, s:o}", "name", name, "cases", (json_int_t)s->cases, "gbs", three(s->gbs), "percent",
                   three(s->percent));
}

static json_t *json_result(const cutt_bench_setup *setup, const cutt_bench_result *r) {
  json_t *dims = json_array(), *perm = json_array();
  for (int i = 0; i < r->c->rank; ++i) {
    json_array_append_new(dims, json_integer(r->c->extent[i]));
    json_array_append_new(perm, json_integer(r->c->perm[i]));
  }
  json_t *result = json_pack("{s:s, s:s, s:o, s:o, s:s, s:i, s:i, s:b}", "id", r->c->id, "group", r->c->group, "dims",
                             dims, "perm", perm, "dtype", setup->dtype, "elem_bytes", setup->elem_bytes, "threads",
                             setup->threads, "trivial", r->c->trivial);
  if (!result) return NULL;
  if (r->c->set) json_object_set_new(result, "set", json_integer(r->c->set));
  json_t *rest;
  if (r->error[0]) {
    rest = json_pack("{s:s, s:n, s:n, s:n, s:n, s:n}", "error", r->error, "method", "seconds", "gbs", "copy_gbs",
                     "plan_us");
  } else {
    rest =
        json_pack("{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:i, s:i, s:i, s:f, s:O}", "method", r->method,
                  "seconds", r->seconds, "seconds_min", r->seconds_least, "copy_seconds", r->copy_seconds, "gbs",
                  r->gbs, "copy_gbs", r->copy_gbs, "percent", cutt_bench_percent(r), "plan_us", 1e6 * r->plan_seconds,
                  "copy_loop", r->copy_loop, "isa", r->isa, "plan_threads", r->plan_threads, "fused_rank",
                  r->fused_rank, "samples", r->samples, "model_seconds", r->model_seconds, "candidate", r->candidate);
    if (rest && r->predicted_seconds > 0)
      json_object_set_new(rest, "predicted_choice_seconds", json_real(r->predicted_seconds));
    if (rest && r->candidates) json_object_set(rest, "candidates", r->candidates);
    if (rest && cutt_bench_has_choice(r)) json_object_set_new(rest, "choice", cutt_bench_json_choice(r));
  }
  if (!rest || json_object_update(result, rest) != 0) {
    json_decref(result);
    result = NULL;
  }
  json_decref(rest);
  return result;
}

static json_t *json_summary(const cutt_bench_setup *setup, const cutt_bench_result *results, size_t count) {
  statistics s, whole, moved;
  totals all;
  json_t *groups = json_array(), *ten = json_array();
  bool done = groups && ten && find_totals(results, count, &all) &&
              summarize(results, count, (choice){"", false}, &whole) &&
              summarize(results, count, (choice){"", true}, &moved);
  for (size_t i = 0; done && i < count; ++i) {
    if (!begins_group(results, i)) continue;
    done = summarize(results, count, (choice){results[i].c->group, false}, &s) &&
           json_array_append_new(groups, json_statistics(results[i].c->group, &s)) == 0;
  }
  size_t worst[TEN];
  int n = find_worst(results, count, worst);
  for (int i = 0; done && i < n; ++i) {
    const cutt_bench_result *r = &results[worst[i]];
    done = json_array_append_new(
               ten, json_pack("{s:s, s:f, s:f}", "id", r->c->id, "percent", cutt_bench_percent(r), "gbs", r->gbs)) == 0;
  }
  if (!done) {
    json_decref(groups);
    json_decref(ten);
    return NULL;
  }
  /* A file may be called anything; JSON is UTF-8. */
  char set[256];
  snprintf(set, sizeof set, "%s", setup->set);
  for (char *at = set; *at; ++at)
    if ((unsigned char)*at < ' ' || (unsigned char)*at > 126) *at = '?';
  json_t *summary = json_pack(
      "{s:s, s:s, s:s, s:s, s:b, s:f, s:I, s:i, s:I, s:I, s:I, s:o, s:o, s:o, s:{s:f, s:f}, s:o}", "set", set, "dtype",
      setup->dtype, "backend", cutt_cli_backend_name(setup->backend), "checked", setup->check, "measure",
      setup->measure, "beta", setup->beta, "volume", (json_int_t)setup->volume, "samples", setup->samples, "seed",
      (json_int_t)setup->seed, "cases", (json_int_t)count, "failed", (json_int_t)count_failed(results, count), "all",
      json_statistics("all", &whole), "all_but_plain_copies", json_statistics("all but plain copies", &moved), "groups",
      groups, "plan_us", "median", 1e6 * all.plan_median, "worst", 1e6 * all.plan_worst, "worst_cases", ten);
  if (summary && all.predicted_over_measured > 0)
    json_object_set_new(summary, "predicted_over_measured", json_real(all.predicted_over_measured));
  bool chosen = false;
  for (size_t i = 0; i < count; ++i) chosen = chosen || cutt_bench_has_choice(&results[i]);
  if (summary && chosen &&
      json_object_set_new(summary, "choices", cutt_bench_json_choices(setup, results, count)) != 0) {
    json_decref(summary);
    return NULL;
  }
  return summary;
}

/* A line for each result: that stays readable, and two runs can be compared line by line. */
bool cutt_bench_write_json(FILE *file, const cutt_bench_setup *setup, const cutt_bench_result *results, size_t count) {
  const char *isa = NULL;
  for (size_t i = 0; i < count; ++i)
    if (!results[i].error[0]) isa = results[i].isa;
  bool done = cutt_bench_dump(file, "{\"machine\": ", cutt_bench_machine(setup->backend, setup->threads, isa),
                              ",\n\"results\": [");
  for (size_t i = 0; done && i < count; ++i)
    done = cutt_bench_dump(file, i ? ",\n" : "\n", json_result(setup, &results[i]), "");
  return done && cutt_bench_dump(file, "],\n\"summary\": ", json_summary(setup, results, count), "}\n") &&
         fflush(file) == 0;
}
