/* The candidates of a case, timed: what the cost model is tuned by and judged by.
 *
 * They run in rotation, so that a slow moment of the machine hits all of them alike. Everyone runs once, those within
 * a factor of two of the fastest a few times, those within a tenth of it more often. The fastest of many is fast
 * partly by luck. So that it is not held against a model, a final times anew, in rotation with a copy, the few that a
 * verdict needs: the fastest, the choices of the models, and the fastest of the first K. */
#include "candidates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/describe.h"

/* Of a plan's description, the member `name`; a reference of the caller's own. */
static json_t *part_of(cuttPlan_t plan, const char *name) {
  json_t *whole = cutt_cli_described_json(cutt_cli_describe_plan, plan, NULL), *part = json_object_get(whole, name);
  json_incref(part);
  json_decref(whole);
  return part;
}

json_t *cutt_bench_chosen(cuttPlan_t plan) { return part_of(plan, "choice"); }

/* ------------------------------------------------------------------------------------------------------------- race */

enum {
  NEAR_ROUNDS = 4,  /* for those within NEAR, after the first */
  FRONT_ROUNDS = 4, /* for those within FRONT, after these */
  FINAL_ROUNDS = 9,
  DEVICE_REPEATS = 2 /* samples of a round before the final */
};
static const double near = 2.0, front = 1.1, short_seconds = 200e-6;

typedef struct contestant {
  cuttPlan_t plan;   /* NULL: it is not timed */
  int repeats;       /* executions of a round */
  double seconds;    /* the race's median */
  double last;       /* the final's; 0: it was not in it */
  double own, paper; /* predicted seconds; 0: not known */
  bool racing;
  cutt_bench_samples samples;
} contestant;

typedef struct race {
  cutt_bench_run *run;
  const cutt_bench_case *c;
  contestant *list;
  int count;
  char *why;
  size_t why_size;
} race;

static double prediction(const json_t *candidate, const char *name) {
  double seconds = json_number_value(json_object_get(candidate, name));
  return isfinite(seconds) && seconds > 0 ? seconds : 0;
}

/* The fastest of the first `among` by the race; -1 when none of them was timed. */
static int find_fastest(const race *r, int among) {
  int best = -1;
  for (int i = 0; i < r->count && i < among; ++i)
    if (r->list[i].plan && (best < 0 || r->list[i].seconds < r->list[best].seconds)) best = i;
  return best;
}

/* What the paper's model would choose; -1 when there is no such model for this backend. */
static int find_paper(const race *r) {
  int best = -1;
  for (int i = 0; i < r->count; ++i)
    if (r->list[i].paper > 0 && (best < 0 || r->list[i].paper < r->list[best].paper)) best = i;
  return best;
}

static bool time_one(race *r, contestant *one) {
  if (!cutt_bench_time_plan(&r->run->clock, one->plan, one->repeats, &one->samples, r->why, r->why_size)) return false;
  one->seconds = cutt_bench_samples_median(&one->samples);
  return true;
}

/* Plans one, checks its result and times it once. */
static bool enter(race *r, int number) {
  contestant *one = &r->list[number];
  one->repeats = r->run->buffers.backend == CUTT_BACKEND_CPU ? 1 : DEVICE_REPEATS;
  if (!cutt_bench_plan(r->run, r->c, false, number + 1, &one->plan, r->why, r->why_size) ||
      !cutt_bench_execute_checked(r->run, r->c, one->plan, r->why, r->why_size) || !time_one(r, one))
    return false;
  if (one->repeats > 1 || one->seconds > short_seconds) return true;
  /* Too short for the clock. */
  one->samples.count = 0;
  return cutt_bench_repeats(&r->run->clock, one->plan, &one->repeats, r->why, r->why_size) && time_one(r, one);
}

/* Rounds in rotation for all that are within `tolerance` of the fastest. */
static bool run_rounds(race *r, int rounds, double tolerance) {
  for (int round = 0; round < rounds; ++round) {
    const double limit = r->list[find_fastest(r, r->count)].seconds * tolerance;
    int racing = 0;
    for (int i = 0; i < r->count; ++i) {
      contestant *one = &r->list[i];
      one->racing = one->plan && one->seconds <= limit && (round == 0 || one->racing);
      racing += one->racing;
    }
    if (racing < 2) return true;
    for (int i = 0; i < r->count; ++i)
      if (r->list[i].racing && !time_one(r, &r->list[i])) return false;
  }
  return true;
}

/* Times those that `racing` marks anew, in rotation with a copy. */
static bool run_final(race *r, double *copy_seconds) {
  cutt_bench_clock *clock = &r->run->clock;
  cutt_bench_samples copy = {.count = 0};
  const size_t bytes = (size_t)cutt_bench_volume(r->c) * (size_t)r->run->values.dtype->bytes;
  int copy_repeats = 1;
  for (int i = 0; i < r->count; ++i) {
    contestant *one = &r->list[i];
    if (!one->racing) continue;
    one->samples.count = 0;
    if (!cutt_bench_repeats(clock, one->plan, &one->repeats, r->why, r->why_size)) return false;
    if (one->repeats > copy_repeats) copy_repeats = one->repeats;
  }
  const double began = cutt_cli_seconds(), enough = cutt_bench_case_seconds(clock);
  for (int round = 0; round < CUTT_BENCH_MOST_ROUNDS; ++round) {
    if (round >= FINAL_ROUNDS && cutt_cli_seconds() - began >= enough) break;
    if (!cutt_bench_time_copy(clock, bytes, copy_repeats, &copy, r->why, r->why_size)) return false;
    for (int i = 0; i < r->count; ++i) {
      contestant *one = &r->list[i];
      if (one->racing && !cutt_bench_time_plan(clock, one->plan, one->repeats, &one->samples, r->why, r->why_size))
        return false;
    }
  }
  for (int i = 0; i < r->count; ++i)
    if (r->list[i].racing) r->list[i].last = cutt_bench_samples_median(&r->list[i].samples);
  *copy_seconds = cutt_bench_samples_median(&copy);
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- verdict */

/* The place of the i-th number in order, equal ones sharing the mean of theirs. */
static double rank_of(const double *list, int count, int i) {
  int less = 0, equal = 0;
  for (int j = 0; j < count; ++j) {
    less += list[j] < list[i];
    equal += !(list[j] < list[i]) && !(list[j] > list[i]);
  }
  return less + 0.5 * (equal + 1);
}

/* Spearman's rank correlation; false when it says nothing: fewer than three, or all alike. */
static bool correlate(const double *x, const double *y, int count, double *result) {
  const double mean = 0.5 * (count + 1);
  double xy = 0, xx = 0, yy = 0;
  for (int i = 0; i < count; ++i) {
    const double dx = rank_of(x, count, i) - mean, dy = rank_of(y, count, i) - mean;
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  if (count < 3 || xx <= 0 || yy <= 0) return false;
  *result = xy / sqrt(xx * yy);
  return true;
}

/* How well one model's predictions put what was timed in order. */
static void judge_order(const race *r, bool paper, cutt_bench_pick *pick) {
  double *predicted = malloc(2 * (size_t)r->count * sizeof *predicted), *measured = predicted + r->count;
  if (!predicted) return; /* one figure less */
  int count = 0;
  for (int i = 0; i < r->count; ++i) {
    const contestant *one = &r->list[i];
    const double seconds = paper ? one->paper : one->own;
    if (!one->plan || seconds <= 0) continue;
    predicted[count] = seconds;
    measured[count++] = one->seconds;
  }
  pick->correlated = correlate(predicted, measured, count, &pick->correlation);
  free(predicted);
}

/* The final between those that a verdict needs, and the verdict. */
static bool judge(race *r, int paper, cutt_bench_choice *choice) {
  int contender[CUTT_BENCH_GAINS];
  for (int i = 0; i < r->count; ++i) r->list[i].racing = false;
  for (int g = 0; g < CUTT_BENCH_GAINS; ++g) {
    contender[g] = find_fastest(r, cutt_bench_gain_of[g]);
    r->list[contender[g]].racing = true;
  }
  int best = find_fastest(r, r->count);
  r->list[best].racing = true;
  if (paper >= 0) r->list[paper].racing = true;
  if (!run_final(r, &choice->copy_seconds)) return false;

  if (r->list[0].last < r->list[best].last) best = 0;
  if (paper >= 0 && r->list[paper].last < r->list[best].last) best = paper;
  choice->listed = r->count;
  for (int i = 0; i < r->count; ++i) choice->timed += r->list[i].plan ? 1 : 0;
  choice->measured = (cutt_bench_pick){.candidate = best + 1, .seconds = r->list[best].last};
  choice->predicted = (cutt_bench_pick){.candidate = 1, .seconds = r->list[0].last};
  judge_order(r, false, &choice->predicted);
  if (paper >= 0) {
    choice->paper = (cutt_bench_pick){.candidate = paper + 1, .seconds = r->list[paper].last};
    judge_order(r, true, &choice->paper);
  }
  /* Who measures more has the choice between all that were found with less. */
  double least = r->list[0].last;
  for (int g = 0; g < CUTT_BENCH_GAINS; ++g) {
    if (r->list[contender[g]].last < least) least = r->list[contender[g]].last;
    choice->gain[g] = choice->measured.seconds < least ? choice->measured.seconds / least : 1;
  }
  return true;
}

static bool run_race(race *r, json_t *candidates, cutt_bench_choice *choice) {
  for (int i = 0; i < r->count; ++i) {
    const json_t *each = json_array_get(candidates, (size_t)i);
    r->list[i].own = prediction(each, "predicted_seconds");
    r->list[i].paper = prediction(each, "paper_seconds");
  }
  const int paper = find_paper(r), most = r->run->most_candidates;
  for (int i = 0; i < r->count; ++i) {
    if ((most > 0 && i >= most && i != paper) || enter(r, i)) continue;
    char text[256];
    snprintf(text, sizeof text, "%s", r->why);
    const char *method = json_string_value(json_object_get(json_array_get(candidates, (size_t)i), "method"));
    snprintf(r->why, r->why_size, "candidate %d (%s): %s", i + 1, method ? method : "?", text);
    return false;
  }
  if (!run_rounds(r, NEAR_ROUNDS, near) || !run_rounds(r, FRONT_ROUNDS, front)) return false;
  for (int i = 0; i < r->count; ++i)
    if (r->list[i].plan)
      json_object_set_new(json_array_get(candidates, (size_t)i), "seconds", json_real(r->list[i].seconds));
  return judge(r, paper, choice);
}

json_t *cutt_bench_time_candidates(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan,
                                   cutt_bench_choice *choice, char *why, size_t why_size) {
  *choice = (cutt_bench_choice){.listed = 0};
  json_t *candidates = part_of(plan, "candidates");
  const size_t count = json_array_size(candidates);
  race r = {run, c, calloc(count + 1, sizeof *r.list), (int)count, why, why_size};
  if (count == 0 || !r.list) snprintf(why, why_size, "the candidates could not be listed");
  const bool done = count > 0 && r.list && run_race(&r, candidates, choice);
  for (size_t i = 0; r.list && i < count; ++i) cuttPlanDestroy(r.list[i].plan);
  free(r.list);
  if (done) return candidates;
  json_decref(candidates);
  return NULL;
}
