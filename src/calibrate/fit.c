/* The fit of the parameters to measured times, and how good the choices are that follow from them.
 *
 * What matters is the choice, not the time of a candidate that nobody would take. So a sample weighs the more, the nearer
 * it is to the best of its problem, in truth or in the belief of the last fit: a candidate that is wrongly believed to be
 * fast is what has to be corrected. And a time that no values explain (something else ran meanwhile; an effect that the
 * model has not got) weighs less, or it would bend all the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "calibrate/calibrate.h"
#include "calibrate/problems.h"
#include "model/fit.h"

enum { PASSES = 4, FOLDS = 3 };
static const double plausible_error = 0.2; /* relative; what is farther off counts as if by its root */
static const double ridges[] = {3e-2, 3e-3, 3e-4};

static double best_of(const double *list, int count) {
  double best = count > 0 ? list[0] : 0;
  for (int i = 1; i < count; ++i) {
    if (list[i] < best) best = list[i];
  }
  return best;
}

/* Fills weights of a trial's observations, by the values that the last pass found. */
static void weigh(cutt_observation *list, int count, const double *value) {
  double measured[CUTT_MAX_CANDIDATES], predicted[CUTT_MAX_CANDIDATES];
  for (int i = 0; i < count; ++i) {
    measured[i] = list[i].seconds;
    predicted[i] = cutt_breakdown_seconds(&list[i].breakdown, value);
  }
  const double fastest = best_of(measured, count), believed = best_of(predicted, count);
  for (int i = 0; i < count; ++i) {
    const double near = fastest / measured[i], seems = predicted[i] > 0 ? believed / predicted[i] : 1;
    const double closest = near > seems ? near : seems, error = fabs(predicted[i] / measured[i] - 1);
    list[i].weight = closest * closest;
    if (error > plausible_error) list[i].weight *= plausible_error / error;
  }
}

/* What fits work in. */
typedef struct room {
  cutt_equations equations;
  cutt_observation list[]; /* as many as there are samples */
} room;

static room *make_room(const cutt_calibration *c) {
  const size_t bytes = sizeof(room) + (size_t)c->sample_count * sizeof(cutt_observation);
  room *r = malloc(bytes);
  if (!r) cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a fit", bytes);
  return r;
}

/* Fits to the trials that are not held back, but for those of one fold (-1: none). */
static double fit(const cutt_calibration *c, double ridge, int fold, room *r, double *value) {
  const int parameters = c->backend->schema->parameter_count;
  double error = 0;
  for (int p = 0; p < parameters; ++p) value[p] = c->start[p];
  for (int pass = 0; pass < PASSES; ++pass) {
    int count = 0, seen = 0;
    for (int i = 0; i < c->trial_count; ++i) {
      const cutt_trial *trial = &c->trials[i];
      if (trial->held_back || seen++ % FOLDS == fold) continue;
      for (int j = 0; j < trial->count; ++j) {
        const cutt_sample *s = &c->samples[trial->first + j];
        r->list[count + j] = (cutt_observation){s->breakdown, s->seconds, 1};
      }
      weigh(r->list + count, trial->count, value);
      count += trial->count;
    }
    error = cutt_fit(r->list, count, parameters, c->start, ridge, &r->equations, value);
  }
  return error;
}

/* The weighted mean of the squares of relative errors on the trials of a fold. */
static double strangeness(const cutt_calibration *c, int fold, cutt_observation *list, const double *value) {
  double squares = 0, weights = 0;
  int seen = 0;
  for (int i = 0; i < c->trial_count; ++i) {
    const cutt_trial *trial = &c->trials[i];
    if (trial->held_back || seen++ % FOLDS != fold) continue;
    for (int j = 0; j < trial->count; ++j) {
      const cutt_sample *s = &c->samples[trial->first + j];
      list[j] = (cutt_observation){s->breakdown, s->seconds, 1};
    }
    weigh(list, trial->count, value);
    for (int j = 0; j < trial->count; ++j) {
      const double error = cutt_breakdown_seconds(&list[j].breakdown, value) / list[j].seconds - 1;
      squares += list[j].weight * error * error;
      weights += list[j].weight;
    }
  }
  return weights > 0 ? squares / weights : 0;
}

cuttResult cutt_calibrate_fit(cutt_calibration *c, double ridge) {
  room *r = make_room(c);
  if (!r) return CUTT_INTERNAL_ERROR;
  c->ridge = ridge;
  c->error = fit(c, ridge, -1, r, c->value);
  free(r);
  return CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------- choices */

/* Least squares gives every time its due, and what counts is which candidate comes out first. So values are changed by
 * trial and error as long as the choices of the problems that are fitted become better. */
enum { TRIES = 3000 };
static const double resolution = 0.04; /* candidates predicted so much slower than the first count for little */
static const double near_best = 1.5, absolute_weight = 0.2, change_weight = 1e-3, least_value = 0.05;

/* What a trial's choice costs: the logarithm of its time over the best one, in the mean over the candidates that come out
 * almost first; and how wrong the predicted times of good candidates are. */
static double choice_cost(const cutt_calibration *c, const cutt_trial *trial, const double *value) {
  const cutt_sample *samples = &c->samples[trial->first];
  double predicted[CUTT_MAX_CANDIDATES], measured[CUTT_MAX_CANDIDATES];
  for (int i = 0; i < trial->count; ++i) {
    predicted[i] = cutt_breakdown_seconds(&samples[i].breakdown, value);
    measured[i] = samples[i].seconds;
  }
  const double fastest = best_of(measured, trial->count), believed = best_of(predicted, trial->count);
  if (!(believed > 0)) return HUGE_VAL;
  double sum = 0, weights = 0, error = 0;
  int near = 0;
  for (int i = 0; i < trial->count; ++i) {
    const double weight = exp((1 - predicted[i] / believed) / resolution);
    sum += weight * log(measured[i] / fastest);
    weights += weight;
    if (measured[i] > near_best * fastest) continue;
    error += fabs(log(predicted[i] / measured[i]));
    ++near;
  }
  return sum / weights + absolute_weight * error / near;
}

/* Which trials a fit sees: those that are not held back, but for those of one fold (-1: none). */
typedef enum trials { FITTED, LEFT_OUT } trials;

/* The mean over one of the two parts. */
static double choices_cost(const cutt_calibration *c, int fold, trials of, const double *value) {
  double sum = 0;
  int count = 0, seen = 0;
  for (int i = 0; i < c->trial_count; ++i) {
    const cutt_trial *trial = &c->trials[i];
    if (trial->held_back || (seen++ % FOLDS == fold) != (of == LEFT_OUT)) continue;
    sum += choice_cost(c, trial, value);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/* A little for each value that is far from the one it started with. */
static double change_cost(int parameters, const double *first, const double *value) {
  double sum = 0;
  for (int p = 0; p < parameters; ++p) sum += fabs(log((value[p] + least_value) / (first[p] + least_value)));
  return change_weight * sum / parameters;
}

static double random_share(cutt_random *random) { return cutt_random_below(random, 1 << 20) / (double)(1 << 20); }

static double changed(cutt_random *random, double value) {
  if (cutt_random_below(random, 20) == 0) return 0;
  if (value < 1e-3) return random_share(random);
  return value * exp(2 * (random_share(random) + random_share(random) - 1));
}

/* Is there an observation that this parameter has a part in? */
static bool takes_part(const cutt_calibration *c, int parameter) {
  for (int i = 0; i < c->sample_count; ++i) {
    const cutt_breakdown *b = &c->samples[i].breakdown;
    const int term = parameter - b->first;
    if (term >= 0 && term < b->count && b->part[term] > 0) return true;
  }
  return false;
}

/* `improved`: how many of the FOLDS + 1 times that this is done are over. It takes seconds: the caller may want it stopped meanwhile. */
static void improve_choices(cutt_calibration *c, int fold, int improved, double *value) {
  const int parameters = c->backend->schema->parameter_count;
  const double begin = CUTT_MEASURED_PERCENT * 0.01, end = CUTT_FITTED_PERCENT * 0.01;
  double first[CUTT_PARAMETERS], next[CUTT_PARAMETERS];
  int part[CUTT_PARAMETERS], parts = 0;
  for (int p = 0; p < parameters; ++p) {
    first[p] = value[p];
    if (takes_part(c, p)) part[parts++] = p;
  }
  if (parts == 0) return;
  double cost = choices_cost(c, fold, FITTED, value);
  cutt_random random = {c->ask.seed};
  for (int i = 0; i < TRIES; ++i) {
    const double done = (improved + i / (double)TRIES) / (FOLDS + 1);
    if (!cutt_calibrate_progress(c, begin + done * (end - begin), "fitting")) return;
    memcpy(next, value, (size_t)parameters * sizeof *next);
    for (int changes = 1 + cutt_random_below(&random, 2); changes > 0; --changes) {
      const int p = part[cutt_random_below(&random, parts)];
      next[p] = changed(&random, next[p]);
    }
    const double after = choices_cost(c, fold, FITTED, next) + change_cost(parameters, first, next);
    if (!(after < cost)) continue;
    cost = after;
    memcpy(value, next, (size_t)parameters * sizeof *next);
  }
}

/* Does that help on problems that it has not seen? */
static bool improvement_helps(cutt_calibration *c, room *r) {
  double before = 0, after = 0, value[CUTT_PARAMETERS];
  for (int fold = 0; fold < FOLDS && !c->stopped; ++fold) {
    fit(c, c->ridge, fold, r, value);
    before += choices_cost(c, fold, LEFT_OUT, value);
    improve_choices(c, fold, fold, value);
    after += choices_cost(c, fold, LEFT_OUT, value);
  }
  return after < before;
}

/* More would be noise in a file that people read. */
static double six_digits(double value) {
  if (!(value > 0)) return 0;
  const double digits = 5 - floor(log10(value)); /* behind the point */
  const double unit = pow(10, fabs(digits));
  return digits >= 0 ? floor(value * unit + 0.5) / unit : floor(value / unit + 0.5) * unit;
}

cuttResult cutt_calibrate_finish(cutt_calibration *c) {
  room *r = make_room(c);
  if (!r) return CUTT_INTERNAL_ERROR;
  double least = -1, value[CUTT_PARAMETERS];
  for (size_t i = 0; i < sizeof ridges / sizeof *ridges; ++i) {
    double sum = 0;
    for (int fold = 0; fold < FOLDS; ++fold) {
      fit(c, ridges[i], fold, r, value);
      sum += strangeness(c, fold, r->list, value);
    }
    if (least >= 0 && sum >= least) continue;
    least = sum;
    c->ridge = ridges[i];
  }
  c->error = fit(c, c->ridge, -1, r, c->value);
  if (improvement_helps(c, r)) improve_choices(c, -1, FOLDS, c->value);
  free(r);
  if (c->stopped) return CUTT_INTERNAL_ERROR;
  for (int p = 0; p < c->backend->schema->parameter_count; ++p) c->value[p] = six_digits(c->value[p]);
  for (int by = 0; by < CUTT_PREDICTORS; ++by) c->quality[by] = cutt_calibrate_quality(c, (cutt_predictor)by);
  return CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- quality */

static double predicted_by(const cutt_calibration *c, cutt_predictor by, const cutt_sample *s) {
  switch (by) {
    case CUTT_PREDICTED_FITTED:
      return cutt_breakdown_seconds(&s->breakdown, c->value);
    case CUTT_PREDICTED_PROPERTIES:
      return cutt_breakdown_seconds(&s->breakdown, c->before_value);
    case CUTT_PREDICTED_BEFORE:
      return cutt_breakdown_seconds(&s->breakdown_before, c->before_value);
    case CUTT_PREDICTED_PAPER:
    case CUTT_PREDICTORS:
      break;
  }
  return s->paper;
}

/* The place of list[i] among the others, those that are equal sharing the mean of theirs. */
static double place_of(const double *list, int count, int i) {
  double place = 0;
  for (int j = 0; j < count; ++j) {
    if (j != i) place += list[j] < list[i] ? 1 : list[j] > list[i] ? 0 : 0.5;
  }
  return place;
}

/* Spearman's: the correlation of places. False when one of the lists is all of a kind. */
static bool correlate(const double *a, const double *b, int count, double *correlation) {
  const double mean = (count - 1) / 2.0;
  double aa = 0, ab = 0, bb = 0;
  for (int i = 0; i < count; ++i) {
    const double x = place_of(a, count, i) - mean, y = place_of(b, count, i) - mean;
    aa += x * x;
    ab += x * y;
    bb += y * y;
  }
  if (!(aa > 0) || !(bb > 0)) return false;
  *correlation = ab / sqrt(aa * bb);
  return true;
}

cutt_quality cutt_calibrate_quality(const cutt_calibration *c, cutt_predictor by) {
  cutt_quality q = {0, 0, 1, 0, 0};
  int hits = 0, correlated = 0;
  for (int i = 0; i < c->trial_count; ++i) {
    const cutt_trial *trial = &c->trials[i];
    if (!trial->held_back) continue;
    const cutt_sample *samples = &c->samples[trial->first];
    double predicted[CUTT_MAX_CANDIDATES], measured[CUTT_MAX_CANDIDATES], fastest = samples[0].seconds;
    int known = 0, chosen = 0;
    for (int j = 0; j < trial->count; ++j) {
      if (samples[j].seconds < fastest) fastest = samples[j].seconds;
      const double seconds = predicted_by(c, by, &samples[j]);
      if (seconds < 0) continue; /* one that the paper's model says nothing of */
      predicted[known] = seconds;
      measured[known] = samples[j].seconds;
      if (seconds < predicted[chosen]) chosen = known;
      ++known;
    }
    if (known == 0) continue;
    const double ratio = fastest / measured[chosen];
    double correlation = 0;
    ++q.problems;
    q.mean += log(ratio);
    if (ratio < q.worst) q.worst = ratio;
    if (!(measured[chosen] > fastest)) ++hits;
    if (!correlate(predicted, measured, known, &correlation)) continue;
    q.correlation += correlation;
    ++correlated;
  }
  if (q.problems == 0) return q;
  q.mean = exp(q.mean / q.problems);
  q.exact = (double)hits / q.problems;
  if (correlated) q.correlation /= correlated;
  return q;
}
