/* Chosen beside measured, summed up: the paper's Fig. 5-7 and 9 with the model of the paper beside this library's on
 * the same cases. A choice's quality is the time of the fastest candidate over its own, 1 at best. Plain copies are
 * part of the speeds, as in the paper, but leave nothing to choose and so are no part of the quality. */
#include "choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

enum { BIN_PERCENT = 5, BINS = 25, FIVE = 5 };
enum { PREDICTED, MEASURED, PAPER, PICKS };
static const char *const pick_name[PICKS] = {"predicted", "measured", "paper"};

static const cutt_bench_pick *pick_of(const cutt_bench_result *r, int which) {
  return which == PREDICTED ? &r->choice.predicted : which == MEASURED ? &r->choice.measured : &r->choice.paper;
}

static double quality_of(const cutt_bench_result *r, int which) {
  return r->choice.measured.seconds / pick_of(r, which)->seconds;
}

static double gbs_of(const cutt_bench_result *r, int which) { return r->gbs * r->seconds / pick_of(r, which)->seconds; }

/* Percent of the speed of the copy that the final had beside it. */
static double percent_of(const cutt_bench_result *r, int which) {
  const double copy_gbs = r->copy_gbs * r->copy_seconds / r->choice.copy_seconds;
  return copy_gbs > 0 ? 100 * gbs_of(r, which) / copy_gbs : 0;
}

static bool has_alternatives(const cutt_bench_result *r) { return !r->c->trivial && r->choice.listed > 1; }

/* ------------------------------------------------------------------------------------------------------- statistics */

typedef struct selection {
  const char *group; /* NULL: any */
  int set;           /* 0: any */
} selection;

/* Of one chooser: a model, or measuring. */
typedef struct verdict {
  size_t cases;
  double gbs[3], percent[3]; /* worst, median, best */
  size_t bin[BINS];          /* cases by percent of copy; the last is open upwards */
  size_t compared;           /* cases that have alternatives; the rest is of these */
  double quality, worst;     /* geometric mean, least */
  size_t worst_case;         /* index of the result */
  size_t hits;               /* the fastest was chosen */
  size_t correlated;
  double correlation; /* mean over those */
} verdict;

typedef struct statistics {
  verdict by[PICKS];
  double gain[CUTT_BENCH_GAINS]; /* geometric means over by[PREDICTED].compared cases */
} statistics;

static bool is_selected(const cutt_bench_result *r, selection s) {
  return cutt_bench_has_choice(r) && (!s.group || !strcmp(s.group, r->c->group)) && (s.set == 0 || s.set == r->c->set);
}

static void add_case(const cutt_bench_result *results, size_t i, int which, verdict *v) {
  const cutt_bench_result *r = &results[i];
  const double bin = percent_of(r, which) / BIN_PERCENT;
  ++v->bin[bin < BINS ? (int)bin : BINS - 1];
  ++v->cases;
  if (!has_alternatives(r)) return;
  const double quality = quality_of(r, which);
  if (v->compared == 0 || quality < v->worst) {
    v->worst = quality;
    v->worst_case = i;
  }
  ++v->compared;
  v->quality += log(quality);
  v->hits += quality >= 1;
  if (!pick_of(r, which)->correlated) return;
  ++v->correlated;
  v->correlation += pick_of(r, which)->correlation;
}

/* False when memory ran out. */
static bool summarize(const cutt_bench_result *results, size_t count, selection which, statistics *s) {
  memset(s, 0, sizeof *s);
  double *gbs = malloc((count + 1) * sizeof *gbs), *percent = malloc((count + 1) * sizeof *percent);
  const bool done = gbs && percent;
  for (int p = 0; done && p < PICKS; ++p) {
    verdict *v = &s->by[p];
    for (size_t i = 0; i < count; ++i) {
      const cutt_bench_result *r = &results[i];
      if (!is_selected(r, which) || pick_of(r, p)->candidate == 0) continue;
      gbs[v->cases] = gbs_of(r, p);
      percent[v->cases] = percent_of(r, p);
      add_case(results, i, p, v);
      for (int g = 0; p == PREDICTED && has_alternatives(r) && g < CUTT_BENCH_GAINS; ++g)
        s->gain[g] += log(r->choice.gain[g]);
    }
    const size_t n = v->cases;
    if (n > 0) {
      v->gbs[1] = cutt_bench_median(gbs, n);
      v->percent[1] = cutt_bench_median(percent, n);
      v->gbs[0] = gbs[0];
      v->gbs[2] = gbs[n - 1];
      v->percent[0] = percent[0];
      v->percent[2] = percent[n - 1];
    }
    if (v->compared) v->quality = exp(v->quality / (double)v->compared);
    if (v->correlated) v->correlation /= (double)v->correlated;
  }
  const double compared = (double)s->by[PREDICTED].compared;
  for (int g = 0; g < CUTT_BENCH_GAINS; ++g) s->gain[g] = compared > 0 ? exp(s->gain[g] / compared) : 1;
  free(gbs);
  free(percent);
  return done;
}

/* What is summed up by itself: every group, each set where there are several, and all. */
typedef struct part {
  selection which;
  char name[32];
} part;

static bool differs_in_set(const cutt_bench_result *results, size_t count) {
  for (size_t i = 1; i < count; ++i)
    if (results[i].c->set != results[0].c->set) return true;
  return false;
}

/* The part that begins with results[i]: its group, or (`sets`) its set. False when an earlier result began it. */
static bool begin_part(const cutt_bench_result *results, size_t i, bool sets, part *p) {
  const cutt_bench_case *c = results[i].c;
  for (size_t j = 0; j < i; ++j) {
    const cutt_bench_case *other = results[j].c;
    if (sets ? other->set == c->set : !strcmp(other->group, c->group)) return false;
  }
  *p = sets ? (part){.which = {NULL, c->set}} : (part){.which = {c->group, 0}};
  if (sets) {
    snprintf(p->name, sizeof p->name, "set %d", c->set);
  } else {
    snprintf(p->name, sizeof p->name, "%s", c->group);
  }
  return true;
}

typedef bool part_visitor(void *context, const char *name, const statistics *s);

/* Calls visit for every part but the whole, as long as it returns true. */
static bool visit_parts(const cutt_bench_result *results, size_t count, part_visitor *visit, void *context) {
  const int kinds = count > 0 && differs_in_set(results, count) ? 2 : 1;
  statistics s;
  part p;
  for (int kind = 0; kind < kinds; ++kind) {
    for (size_t i = 0; i < count; ++i) {
      if (!begin_part(results, i, kind == 1, &p)) continue;
      if (!summarize(results, count, p.which, &s) || !visit(context, p.name, &s)) return false;
    }
  }
  return true;
}

/* The indices of the (at most five) worst choices of the model, worst first, hits not among them; returns how many. */
static int find_worst(const cutt_bench_result *results, size_t count, size_t *worst) {
  int n = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!cutt_bench_has_choice(&results[i]) || quality_of(&results[i], PREDICTED) >= 1) continue;
    int at = n;
    while (at > 0 && quality_of(&results[i], PREDICTED) < quality_of(&results[worst[at - 1]], PREDICTED)) --at;
    if (at == FIVE) continue;
    const int last = n < FIVE ? n++ : FIVE - 1;
    for (int j = last; j > at; --j) worst[j] = worst[j - 1];
    worst[at] = i;
  }
  return n;
}

/* How many candidates a case had, at most, and how many of them were timed, at most. */
static void find_most(const cutt_bench_result *results, size_t count, int *listed, int *timed) {
  *listed = *timed = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!cutt_bench_has_choice(&results[i])) continue;
    if (results[i].choice.listed > *listed) *listed = results[i].choice.listed;
    if (results[i].choice.timed > *timed) *timed = results[i].choice.timed;
  }
}

/* ------------------------------------------------------------------------------------------------------------- text */

static bool print_speeds(void *context, const char *name, const statistics *s) {
  FILE *file = context;
  if (s->by[PREDICTED].cases == 0) return true;
  fprintf(file, "%-16s %5zu", name, s->by[PREDICTED].cases);
  for (int p = 0; p < PICKS; ++p) {
    const verdict *v = &s->by[p];
    if (v->cases) fprintf(file, "   %6.1f %6.1f %6.1f", v->percent[0], v->percent[1], v->percent[2]);
  }
  fprintf(file, "\n");
  return true;
}

static bool print_quality(void *context, const char *name, const statistics *s) {
  FILE *file = context;
  if (s->by[PREDICTED].compared == 0) return true;
  fprintf(file, "%-16s %5zu", name, s->by[PREDICTED].compared);
  for (int p = 0; p < PICKS; p += PAPER) {
    const verdict *v = &s->by[p];
    if (v->compared == 0) continue;
    fprintf(file, "   %6.3f %6.3f %4.0f%%", v->quality, v->worst, 100 * (double)v->hits / (double)v->compared);
    if (v->correlated) {
      fprintf(file, " %6.2f", v->correlation);
    } else {
      fprintf(file, " %6s", "-");
    }
  }
  fprintf(file, "\n");
  return true;
}

/* "Packed m=2 k=3/8 tile=..." into a buffer, which it returns. */
static const char *candidate_text(const cutt_bench_result *r, int number, char *buffer, size_t size) {
  json_t *candidate = json_array_get(r->candidates, (size_t)number - 1), *value;
  const char *method = json_string_value(json_object_get(candidate, "method")), *name;
  size_t length = (size_t)snprintf(buffer, size, "%s", method ? method : "?");
  static const char side[] = {'m', 'k'};
  for (int i = 0; i < 2 && length < size; ++i) {
    const char modes[] = {side[i], 0}, split[] = {'s', 'p', 'l', 'i', 't', '_', side[i], 0};
    const long long m = json_integer_value(json_object_get(candidate, modes));
    const long long s = json_integer_value(json_object_get(candidate, split));
    length += (size_t)snprintf(buffer + length, size - length, s ? " %c=%lld/%lld" : " %c=%lld", side[i], m, s);
  }
  json_object_foreach(json_object_get(candidate, "params"), name, value) {
    if (length >= size) break;
    length += (size_t)snprintf(buffer + length, size - length, " %s=%lld", name, (long long)json_integer_value(value));
  }
  return buffer;
}

static void print_worst(FILE *file, const cutt_bench_result *results, size_t count) {
  size_t worst[FIVE];
  const int n = find_worst(results, count, worst);
  if (n) fprintf(file, "worst choices:\n");
  for (int i = 0; i < n; ++i) {
    const cutt_bench_result *r = &results[worst[i]];
    const cutt_bench_choice *c = &r->choice;
    char dims[24 * CUTT_MAX_RANK], perm[4 * CUTT_MAX_RANK], text[256];
    fprintf(file, "  %5.3f  %s  %s  %s\n", quality_of(r, PREDICTED), r->c->id,
            cutt_bench_dims_text(r->c, dims, sizeof dims), cutt_bench_perm_text(r->c, perm, sizeof perm));
    fprintf(file, "         chosen   %9.1f us  %s\n", 1e6 * c->predicted.seconds,
            candidate_text(r, c->predicted.candidate, text, sizeof text));
    fprintf(file, "         best     %9.1f us  %s  (candidate %d)\n", 1e6 * c->measured.seconds,
            candidate_text(r, c->measured.candidate, text, sizeof text), c->measured.candidate);
  }
}

static void print_histogram(FILE *file, const statistics *all) {
  const bool paper = all->by[PAPER].cases > 0;
  fprintf(file, "percent of copy  predicted  measured%s\n", paper ? "  the paper's" : "");
  for (int bin = 0; bin < BINS; ++bin) {
    const size_t n[PICKS] = {all->by[PREDICTED].bin[bin], all->by[MEASURED].bin[bin], all->by[PAPER].bin[bin]};
    if (n[PREDICTED] + n[MEASURED] + n[PAPER] == 0) continue;
    if (bin == BINS - 1) {
      fprintf(file, "%7d and more", bin * BIN_PERCENT);
    } else {
      fprintf(file, "%7d to %5d", bin * BIN_PERCENT, (bin + 1) * BIN_PERCENT);
    }
    fprintf(file, "  %9zu  %8zu", n[PREDICTED], n[MEASURED]);
    if (paper) fprintf(file, "  %11zu", n[PAPER]);
    fprintf(file, "\n");
  }
}

bool cutt_bench_print_choices(FILE *file, const cutt_bench_setup *setup, const cutt_bench_result *results,
                              size_t count) {
  statistics all;
  if (!summarize(results, count, (selection){NULL, 0}, &all)) return false;
  if (all.by[PREDICTED].cases == 0) return true;
  const bool paper = all.by[PAPER].cases > 0;
  int listed, timed;
  find_most(results, count, &listed, &timed);
  fprintf(file, "\nchosen beside measured, in percent of copy; of up to %d candidates ", listed);
  if (setup->most_candidates) {
    fprintf(file, "the first %d%s were timed\n", setup->most_candidates, paper ? " and the paper's choice" : "");
  } else {
    fprintf(file, "all were timed\n");
  }
  fprintf(file, "%-16s %5s   %-20s   %-*s%s\n", "", "", "predicted", paper ? 23 : 0, "measured",
          paper ? "the paper's model" : "");
  fprintf(file, "%-16s %5s", "group", "cases");
  for (int p = 0; p < (paper ? PICKS : PAPER); ++p) fprintf(file, "   %6s %6s %6s", "worst", "median", "best");
  fprintf(file, "\n");
  if (!visit_parts(results, count, print_speeds, file)) return false;
  print_speeds(file, "all", &all);

  if (all.by[PREDICTED].compared) {
    fprintf(file, "\nquality of the choice: time of the fastest over its own, plain copies left out\n");
    fprintf(file, "%-16s %5s   %-*s%s\n", "", "", paper ? 29 : 0, "predicted", paper ? "the paper's model" : "");
    fprintf(file, "%-16s %5s", "group", "cases");
    for (int p = 0; p < (paper ? 2 : 1); ++p) fprintf(file, "   %6s %6s %5s %6s", "mean", "worst", "hits", "order");
    fprintf(file, "\n");
    if (!visit_parts(results, count, print_quality, file)) return false;
    print_quality(file, "all", &all);
    fprintf(file,
            "(mean: geometric; hits: the fastest was chosen; order: rank correlation of predicted and measured)\n");
    fprintf(file, "measuring the model's first");
    for (int g = 0; g < CUTT_BENCH_GAINS; ++g)
      fprintf(file, "%s %d: %.3f", g ? "," : "", cutt_bench_gain_of[g], all.gain[g]);
    fprintf(file, "\n");
    print_worst(file, results, count);
  }
  fprintf(file, "\n");
  print_histogram(file, &all);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static json_t *three(const double *list) {
  return json_pack("{s:f, s:f, s:f}", "worst", list[0], "median", list[1], "best", list[2]);
}

/* Sets a value that is taken; false when memory ran out before or now. */
static bool set(json_t *object, const char *key, json_t *value) {
  return object && value && json_object_set_new(object, key, value) == 0;
}

static json_t *json_quality(const cutt_bench_result *results, const verdict *v) {
  json_t *quality = json_pack("{s:f, s:f, s:s, s:f}", "mean", v->quality, "worst", v->worst, "worst_case",
                              results[v->worst_case].c->id, "hits", (double)v->hits / (double)v->compared);
  if (quality && v->correlated && !set(quality, "rank_correlation", json_real(v->correlation))) {
    json_decref(quality);
    return NULL;
  }
  return quality;
}

static json_t *json_bins(const verdict *v) {
  json_t *bins = json_array();
  for (int bin = 0; bins && bin < BINS; ++bin) json_array_append_new(bins, json_integer((json_int_t)v->bin[bin]));
  return bins;
}

static json_t *json_statistics(const cutt_bench_result *results, const char *name, const statistics *s) {
  json_t *gbs = json_object(), *percent = json_object(), *quality = json_object(), *gain = json_object();
  json_t *histogram = json_pack("{s:i}", "bin_percent", BIN_PERCENT);
  bool done = true;
  for (int p = 0; p < PICKS; ++p) {
    const verdict *v = &s->by[p];
    if (v->cases)
      done = done && set(gbs, pick_name[p], three(v->gbs)) && set(percent, pick_name[p], three(v->percent)) &&
             set(histogram, pick_name[p], json_bins(v));
    if (v->compared && p != MEASURED) done = done && set(quality, pick_name[p], json_quality(results, v));
  }
  for (int g = 0; s->by[PREDICTED].compared && g < CUTT_BENCH_GAINS; ++g) {
    char key[16];
    snprintf(key, sizeof key, "%d", cutt_bench_gain_of[g]);
    done = done && set(gain, key, json_real(s->gain[g]));
  }
  /* What json_pack takes with "o" it lets go of when it fails. */
  json_t *result =
      json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "name", name, "cases", (json_int_t)s->by[PREDICTED].cases,
                "compared", (json_int_t)s->by[PREDICTED].compared, "gbs", gbs, "percent", percent, "quality", quality,
                "gain_of_k", gain, "histogram", histogram);
  if (done || !result) return result;
  json_decref(result);
  return NULL;
}

typedef struct parts_list {
  const cutt_bench_result *results;
  json_t *list;
} parts_list;

static bool append_part(void *context, const char *name, const statistics *s) {
  const parts_list *parts = context;
  return s->by[PREDICTED].cases == 0 ||
         json_array_append_new(parts->list, json_statistics(parts->results, name, s)) == 0;
}

static json_t *json_worst(const cutt_bench_result *r) {
  return json_pack("{s:s, s:f, s:O, s:O}", "id", r->c->id, "quality", quality_of(r, PREDICTED), "chosen",
                   json_array_get(r->candidates, (size_t)r->choice.predicted.candidate - 1), "best",
                   json_array_get(r->candidates, (size_t)r->choice.measured.candidate - 1));
}

json_t *cutt_bench_json_choices(const cutt_bench_setup *setup, const cutt_bench_result *results, size_t count) {
  statistics all;
  parts_list parts = {results, json_array()};
  json_t *five = json_array();
  size_t worst[FIVE];
  bool done = parts.list && five && summarize(results, count, (selection){NULL, 0}, &all) &&
              visit_parts(results, count, append_part, &parts);
  const int n = find_worst(results, count, worst);
  for (int i = 0; done && i < n; ++i) done = json_array_append_new(five, json_worst(&results[worst[i]])) == 0;
  if (!done) {
    json_decref(parts.list);
    json_decref(five);
    return NULL;
  }
  int listed, timed;
  find_most(results, count, &listed, &timed);
  return json_pack("{s:i, s:i, s:i, s:o, s:o, s:o}", "most_candidates", setup->most_candidates, "listed", listed,
                   "timed", timed, "all", json_statistics(results, "all", &all), "groups", parts.list, "worst", five);
}

static json_t *json_pick(const cutt_bench_result *r, int which) {
  const cutt_bench_pick *pick = pick_of(r, which);
  json_t *result = json_pack("{s:i, s:f, s:f}", "candidate", pick->candidate, "seconds", pick->seconds, "percent",
                             percent_of(r, which));
  if (which == MEASURED) return result;
  bool done = set(result, "quality", json_real(quality_of(r, which))) &&
              set(result, "hit", json_boolean(quality_of(r, which) >= 1)) &&
              (!pick->correlated || set(result, "rank_correlation", json_real(pick->correlation)));
  if (done) return result;
  json_decref(result);
  return NULL;
}

json_t *cutt_bench_json_choice(const cutt_bench_result *r) {
  json_t *gain = json_object();
  bool done = gain;
  for (int g = 0; g < CUTT_BENCH_GAINS; ++g) {
    char key[16];
    snprintf(key, sizeof key, "%d", cutt_bench_gain_of[g]);
    done = done && set(gain, key, json_real(r->choice.gain[g]));
  }
  json_t *result = json_pack("{s:i, s:i, s:f, s:o}", "listed", r->choice.listed, "timed", r->choice.timed,
                             "copy_seconds", r->choice.copy_seconds, "gain_of_k", gain);
  for (int p = 0; p < PICKS; ++p)
    if (pick_of(r, p)->candidate) done = done && set(result, pick_name[p], json_pick(r, p));
  if (done && result) return result;
  json_decref(result);
  return NULL;
}
