/* What a benchmark of contractions found.
 *
 * The figure that means the same on any machine is the share of the speed of the matrix product of the same m, n, k and
 * batch, which was timed beside each case: what permuting, cutting and odd shapes take from it. The paper's Fig. 11 to
 * 13 show GFLOP/s against arithmetic intensity, in eight ranges; here the ranges are of equal width on a logarithmic
 * scale, since intensities span several orders of magnitude. */
#include "contract_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "files.h"
#include "machine.h"

enum { TEN = 10, BINS = 8 };
static const double high_intensity = 1000; /* from which the paper finds GEMM's speed nearly recovered */

static double gflops(const cutt_bench_contract_result *r, double seconds) {
  return seconds > 0 ? 1e-9 * r->info.flops / seconds : 0;
}

static double percent(const cutt_bench_contract_result *r) {
  return r->seconds > 0 ? 100 * r->gemm_seconds / r->seconds : 0;
}

/* "LR-": which tensors are permuted. */
static const char *permuted(const cutt_bench_contract_result *r, char text[4]) {
  text[0] = r->info.permutes_left ? 'L' : '-';
  text[1] = r->info.permutes_right ? 'R' : '-';
  text[2] = r->info.permutes_result ? 'D' : '-';
  text[3] = 0;
  return text;
}

/* ------------------------------------------------------------------------------------------------------------ table */

static int widest_pattern(const cutt_bench_contractions *cases) {
  int width = 7;
  for (size_t i = 0; i < cases->count; ++i) {
    const int *rank = cases->item[i].rank, length = rank[0] + rank[1] + rank[2] + 3; /* ",->" */
    if (length > width) width = length;
  }
  return width;
}

void cutt_bench_contract_head(FILE *file, const cutt_bench_contractions *cases) {
  fprintf(file, "%-11s  %-*s  %9s  %8s  %8s  %6s  %9s  %4s  %8s  %8s\n", "case", widest_pattern(cases), "pattern",
          "intensity", "GFLOP/s", "GEMM", "% GEMM", "% permute", "", "space MB", "plan us");
}

void cutt_bench_contract_row(FILE *file, const cutt_bench_contractions *cases, const cutt_bench_contract_result *r) {
  char pattern[64], which[4];
  fprintf(file, "%-11s  %-*s  ", r->c->id, widest_pattern(cases),
          cutt_bench_contract_pattern(r->c, pattern, sizeof pattern));
  if (r->error[0])
    fprintf(file, "FAILED\n");
  else
    fprintf(file, "%9.1f  %8.2f  %8.2f  %6.1f  %9.1f  %4s  %8.2f  %8.1f\n", r->info.intensity, gflops(r, r->seconds),
            gflops(r, r->gemm_seconds), percent(r), 100 * r->permute_share, permuted(r, which),
            1e-6 * (double)r->info.workspace_bytes, 1e6 * r->plan_seconds);
  fflush(file);
}

/* ------------------------------------------------------------------------------------------------------- statistics */

/* Worst, median, mean and best; worst is the largest of shares of permuting. */
typedef struct spread {
  double least, median, mean, most;
} spread;

typedef struct statistics {
  size_t cases;
  double low, high; /* of intensity */
  spread gflops, percent, permute;
} statistics;

/* What a set of results is chosen by. */
typedef struct choice {
  const char *group; /* NULL: any */
  double low, high;  /* intensity: low <= it < high */
} choice;

static const choice everything = {NULL, 0, HUGE_VAL};

static spread spread_of(double *list, size_t count) {
  spread s = {0};
  if (count == 0) return s;
  s.median = cutt_bench_median(list, count); /* which sorts */
  for (size_t i = 0; i < count; ++i) s.mean += list[i] / (double)count;
  s.least = list[0];
  s.most = list[count - 1];
  return s;
}

static bool chosen(const cutt_bench_contract_result *r, const choice *which) {
  return !r->error[0] && (!which->group || !strcmp(which->group, r->c->group)) && r->info.intensity >= which->low &&
         r->info.intensity < which->high;
}

/* False when memory ran out. */
static bool summarize(const cutt_bench_contract_result *results, size_t count, choice which, statistics *s) {
  *s = (statistics){.low = HUGE_VAL};
  double *list = malloc(3 * (count + 1) * sizeof *list);
  if (!list) return false;
  double *speeds = list, *percents = list + count + 1, *shares = list + 2 * (count + 1);
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    const cutt_bench_contract_result *r = &results[i];
    if (!chosen(r, &which)) continue;
    speeds[n] = gflops(r, r->seconds);
    percents[n] = percent(r);
    shares[n++] = 100 * r->permute_share;
    if (r->info.intensity < s->low) s->low = r->info.intensity;
    if (r->info.intensity > s->high) s->high = r->info.intensity;
  }
  s->cases = n;
  s->gflops = spread_of(speeds, n);
  s->percent = spread_of(percents, n);
  s->permute = spread_of(shares, n);
  free(list);
  return true;
}

/* The name of the next group after *place (0 to begin with), which becomes its place; NULL: there are no more. */
static const char *next_group(const cutt_bench_contract_result *results, size_t count, int *place) {
  const cutt_bench_contraction *next = NULL;
  for (size_t i = 0; i < count; ++i) {
    const cutt_bench_contraction *c = results[i].c;
    if (c->place <= *place || (next && c->place >= next->place)) continue;
    bool seen = false; /* a listed group has many places, of which the first counts */
    for (size_t j = 0; j < count && !seen; ++j)
      seen = results[j].c->place <= *place && !strcmp(results[j].c->group, c->group);
    if (!seen) next = c;
  }
  if (!next) return NULL;
  *place = next->place;
  return next->group;
}

/* The bounds of bin 0 .. BINS - 1, the last of which takes the highest in. */
static choice bin_of(const statistics *all, int bin) {
  const double step = all->low > 0 ? pow(all->high / all->low, 1.0 / BINS) : 1;
  return (choice){NULL, bin == 0 ? 0 : all->low * pow(step, bin),
                  bin == BINS - 1 ? HUGE_VAL : all->low * pow(step, bin + 1)};
}

/* The indices of the (at most ten) results with the least share of GEMM's speed, worst first; returns how many. */
static int find_worst(const cutt_bench_contract_result *results, size_t count, size_t *worst) {
  int n = 0;
  for (size_t i = 0; i < count; ++i) {
    if (results[i].error[0]) continue;
    int at = n;
    while (at > 0 && percent(&results[i]) < percent(&results[worst[at - 1]])) --at;
    if (at == TEN) continue;
    const int last = n < TEN ? n++ : TEN - 1;
    for (int j = last; j > at; --j) worst[j] = worst[j - 1];
    worst[at] = i;
  }
  return n;
}

static size_t count_failed(const cutt_bench_contract_result *results, size_t count) {
  size_t failed = 0;
  for (size_t i = 0; i < count; ++i) failed += results[i].error[0] != 0;
  return failed;
}

static const char *library_of(const cutt_bench_contract_result *results, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!results[i].error[0] && results[i].info.provider) return results[i].info.provider;
  return "";
}

/* ---------------------------------------------------------------------------------------------------------- summary */

static void print_statistics(FILE *file, const char *name, const statistics *s) {
  if (s->cases == 0) return;
  fprintf(file, "%-19s  %5zu  %7.1f %7.1f %7.1f %7.1f  %7.2f %7.2f %7.2f  %7.1f %7.1f %7.1f\n", name, s->cases,
          s->percent.least, s->percent.median, s->percent.mean, s->percent.most, s->gflops.least, s->gflops.mean,
          s->gflops.most, s->permute.most, s->permute.mean, s->permute.least);
}

static void print_heading(FILE *file, const char *name) {
  fprintf(file, "%-19s  %5s  %31s  %23s  %23s\n", "", "", "% of GEMM", "GFLOP/s", "% permuting");
  fprintf(file, "%-19s  %5s  %7s %7s %7s %7s  %7s %7s %7s  %7s %7s %7s\n", name, "cases", "worst", "median", "mean",
          "best", "worst", "mean", "best", "worst", "mean", "best");
}

static bool print_groups(FILE *file, const cutt_bench_contract_result *results, size_t count, const statistics *all) {
  statistics s;
  size_t groups = 0;
  print_heading(file, "group");
  int place = 0;
  for (const char *group; (group = next_group(results, count, &place)); ++groups) {
    if (!summarize(results, count, (choice){group, 0, HUGE_VAL}, &s)) return false;
    print_statistics(file, group, &s);
  }
  if (groups > 1) print_statistics(file, "all", all);
  if (!summarize(results, count, (choice){NULL, high_intensity, HUGE_VAL}, &s)) return false;
  print_statistics(file, "intensity >= 1000", &s);
  return true;
}

static bool print_bins(FILE *file, const cutt_bench_contract_result *results, size_t count, const statistics *all) {
  if (all->cases < 2 || !(all->high > all->low)) return true;
  fputs("\n", file);
  print_heading(file, "intensity");
  for (int bin = 0; bin < BINS; ++bin) {
    const choice which = bin_of(all, bin);
    statistics s;
    char name[48];
    if (!summarize(results, count, which, &s)) return false;
    snprintf(name, sizeof name, "%.4g to %.4g", bin == 0 ? all->low : which.low,
             bin == BINS - 1 ? all->high : which.high);
    print_statistics(file, name, &s);
  }
  return true;
}

bool cutt_bench_contract_summary(FILE *file, const cutt_bench_contract_setup *setup,
                                 const cutt_bench_contract_result *results, size_t count) {
  char text[320], where[48];
  statistics all;
  if (!summarize(results, count, everything, &all)) return false;
  if (setup->backend == CUTT_BACKEND_CPU)
    snprintf(where, sizeof where, "%d thread%s", setup->threads, setup->threads == 1 ? "" : "s");
  else
    snprintf(where, sizeof where, "%s", cutt_cli_backend_name(setup->backend));
  fprintf(file, "\n%s, %s, %s, products by %s, checked: %s; on %s\n", setup->set, setup->number->name, where,
          library_of(results, count), setup->check ? "a sample of each result" : "nothing",
          cutt_bench_machine_text(setup->backend, text, sizeof text));
  if (!print_groups(file, results, count, &all) || !print_bins(file, results, count, &all)) return false;
  size_t worst[TEN];
  const int n = find_worst(results, count, worst);
  if (n > 1) fprintf(file, "\nworst cases, in percent of the speed of the matrix product alone:\n");
  for (int i = 0; n > 1 && i < n; ++i) {
    const cutt_bench_contract_result *r = &results[worst[i]];
    char pattern[64], extents[512], which[4];
    fprintf(file, "  %5.1f  %s  %s  %s  permuted: %s\n", percent(r), r->c->id,
            cutt_bench_contract_pattern(r->c, pattern, sizeof pattern),
            cutt_bench_contract_extents(r->c, extents, sizeof extents), permuted(r, which));
  }
  const size_t failed = count_failed(results, count);
  if (failed) fprintf(file, "%zu of %zu cases FAILED\n", failed, count);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static json_t *json_spread(const spread *s, bool more_is_worse) {
  return json_pack("{s:f, s:f, s:f, s:f}", "worst", more_is_worse ? s->most : s->least, "median", s->median, "mean",
                   s->mean, "best", more_is_worse ? s->least : s->most);
}

static json_t *json_statistics(const char *name, const statistics *s) {
  if (s->cases == 0) return json_pack("{s:s, s:i}", "name", name, "cases", 0);
  return json_pack("{s:s, s:I, s:f, s:f, s:o, s:o, s:o}", "name", name, "cases", (json_int_t)s->cases,
                   "least_intensity", s->low, "most_intensity", s->high, "percent", json_spread(&s->percent, false),
                   "gflops", json_spread(&s->gflops, false), "permute_percent", json_spread(&s->permute, true));
}

static json_t *json_case(const cutt_bench_contract_result *r) {
  char pattern[64], which[4];
  json_t *extents = json_object();
  for (int i = 0; i < CUTT_BENCH_LETTERS; ++i) {
    const char letter[2] = {(char)('a' + i), 0};
    if (r->c->extent[i]) json_object_set_new(extents, letter, json_integer(r->c->extent[i]));
  }
  json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "id", r->c->id, "group", r->c->group, "pattern",
                             cutt_bench_contract_pattern(r->c, pattern, sizeof pattern), "extents", extents);
  if (!object) return NULL;
  const cuttContractionInfo_t *info = &r->info;
  json_t *rest =
      r->error[0]
          ? json_pack("{s:s, s:n}", "error", r->error, "seconds")
          : json_pack(
                "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:s, s:i, s:s, s:i, s:f, s:f, s:f, "
                "s:f, s:f, s:f, s:f, s:f, s:f, s:f}",
                "m", (json_int_t)info->m, "n", (json_int_t)info->n, "k", (json_int_t)info->k, "batch",
                (json_int_t)info->batch, "gemm_m", (json_int_t)info->gemm_m, "gemm_n", (json_int_t)info->gemm_n,
                "gemm_k", (json_int_t)info->gemm_k, "gemm_count", (json_int_t)info->gemm_count, "pieces",
                (json_int_t)info->pieces, "workspace_bytes", (json_int_t)info->workspace_bytes, "flops", info->flops,
                "intensity", info->intensity, "provider", info->provider ? info->provider : "", "threads",
                info->threads, "permuted", permuted(r, which), "rounds", r->rounds, "seconds", r->seconds,
                "seconds_min", r->seconds_least, "gemm_seconds", r->gemm_seconds, "percent", percent(r), "gflops",
                gflops(r, r->seconds), "gemm_gflops", gflops(r, r->gemm_seconds), "permute_percent",
                100 * r->permute_share, "plan_us", 1e6 * r->plan_seconds, "predicted_seconds", info->predicted_seconds,
                "predicted_permute_seconds", info->predicted_permute_seconds);
  if (!rest || json_object_update(object, rest) != 0) {
    json_decref(object);
    object = NULL;
  }
  json_decref(rest);
  return object;
}

static json_t *json_settings(const cutt_bench_contract_setup *setup) {
  json_t *settings =
      json_pack("{s:s, s:s, s:s, s:i, s:b, s:I, s:I, s:I}", "set", setup->set, "dtype", setup->number->name, "backend",
                cutt_cli_backend_name(setup->backend), "threads", setup->threads, "checked", setup->check, "volume",
                (json_int_t)setup->volume, "samples", (json_int_t)setup->samples, "seed", (json_int_t)setup->seed);
  json_object_set_new(settings, "provider", setup->provider ? json_string(setup->provider) : json_null());
  json_object_set_new(
      settings, "workspace_limit",
      setup->workspace_limit == CUTT_NO_LIMIT ? json_null() : json_integer((json_int_t)setup->workspace_limit));
  return settings;
}

static json_t *json_summary(const cutt_bench_contract_result *results, size_t count) {
  statistics s, all;
  json_t *groups = json_array(), *bins = json_array(), *ten = json_array();
  bool done = groups && bins && ten && summarize(results, count, everything, &all);
  int place = 0;
  for (const char *group; done && (group = next_group(results, count, &place));)
    done = summarize(results, count, (choice){group, 0, HUGE_VAL}, &s) &&
           json_array_append_new(groups, json_statistics(group, &s)) == 0;
  for (int bin = 0; done && all.cases > 1 && all.high > all.low && bin < BINS; ++bin) {
    const choice which = bin_of(&all, bin);
    done = summarize(results, count, which, &s);
    json_t *object = done ? json_statistics("", &s) : NULL;
    done = object && json_object_set_new(object, "from", json_real(bin == 0 ? all.low : which.low)) == 0 &&
           json_object_set_new(object, "to", json_real(bin == BINS - 1 ? all.high : which.high)) == 0 &&
           json_object_del(object, "name") == 0;
    if (done)
      done = json_array_append_new(bins, object) == 0;
    else
      json_decref(object);
  }
  size_t worst[TEN];
  const int n = find_worst(results, count, worst);
  for (int i = 0; done && i < n; ++i)
    done = json_array_append_new(ten, json_pack("{s:s, s:f}", "id", results[worst[i]].c->id, "percent",
                                                percent(&results[worst[i]]))) == 0;
  if (done) done = summarize(results, count, (choice){NULL, high_intensity, HUGE_VAL}, &s);
  if (!done) {
    json_decref(groups);
    json_decref(bins);
    json_decref(ten);
    return NULL;
  }
  return json_pack("{s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o}", "cases", (json_int_t)count, "failed",
                   (json_int_t)count_failed(results, count), "provider", library_of(results, count), "all",
                   json_statistics("all", &all), "intensity_1000", json_statistics("intensity >= 1000", &s), "groups",
                   groups, "bins", bins, "worst_cases", ten);
}

/* A line for each result: that stays readable, and two runs can be compared line by line. */
bool cutt_bench_contract_write_json(FILE *file, const cutt_bench_contract_setup *setup,
                                    const cutt_bench_contract_result *results, size_t count) {
  bool done =
      cutt_bench_dump(file, "{\"machine\": ", cutt_bench_machine(setup->backend, setup->threads, NULL), ",\n") &&
      cutt_bench_dump(file, "\"settings\": ", json_settings(setup), ",\n\"cases\": [");
  for (size_t i = 0; done && i < count; ++i) done = cutt_bench_dump(file, i ? ",\n" : "\n", json_case(&results[i]), "");
  return done && cutt_bench_dump(file, "],\n\"summary\": ", json_summary(results, count), "}\n") && fflush(file) == 0;
}
