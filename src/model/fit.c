/* The fit: least squares with values that may not be negative, by projected coordinate descent on the normal equations.
 * Times that are not plain sums (model/target.h) are fitted step by step, each time by the derivatives at the values
 * that the last step gave (Gauss-Newton); half of each step is taken, since the groups' shares shift with the values.
 *
 * The unknowns are the values divided by what they start from, so that all are near 1 whatever their units, and one ridge
 * (the weight of staying near the start, as in ridge regression) suits all of them. A coordinate's best value, the others
 * held, is one division; cut off at 0, it is still the best that is allowed, so every step makes the sum smaller. Some
 * dozens of unknowns make a sweep so cheap that slow convergence (columns that look alike) does not matter. And what the
 * data does not determine does not move, because nothing moves it: a factorisation would have to be told. */
#include "model/fit.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SWEEPS = 20000, STEPS = 12 };
static const double precise = 1e-10; /* of a value, relative to its start: nobody needs more */

static int usable(const cutt_observation *o) { return o->seconds > 0 && o->weight > 0; }

/* What a parameter that starts from 0 is measured by: the value with which its term alone would be all of the time. */
static void find_scales(const cutt_observation *list, int count, int parameters, const double *start,
                        cutt_equations *e) {
  double squares[CUTT_PARAMETERS] = {0};
  for (int i = 0; i < count; ++i) {
    const cutt_observation *o = &list[i];
    if (!usable(o)) continue;
    for (int t = 0; t < o->breakdown.count; ++t) {
      const double share = o->breakdown.part[t] / o->seconds;
      if (share == 0) continue;
      e->weight[o->breakdown.first + t] += o->weight;
      squares[o->breakdown.first + t] += o->weight * share * share;
    }
  }
  for (int p = 0; p < parameters; ++p) {
    e->scale[p] = start[p] > 0 ? start[p] : squares[p] > 0 ? sqrt(e->weight[p] / squares[p]) : 1;
  }
}

/* At these values. */
static void set_up(const cutt_observation *list, int count, int parameters, const double *start, const double *value,
                   double ridge, cutt_equations *e) {
  memset(e, 0, sizeof *e);
  find_scales(list, count, parameters, start, e);
  for (int i = 0; i < count; ++i) {
    const cutt_observation *o = &list[i];
    if (!usable(o)) continue;
    const int first = o->breakdown.first, terms = o->breakdown.count;
    double share[CUTT_TERMS];
    cutt_breakdown_slopes(&o->breakdown, value, share);
    for (int t = 0; t < terms; ++t) share[t] *= e->scale[first + t] / o->seconds;
    for (int t = 0; t < terms; ++t) {
      if (share[t] == 0) continue;
      e->right[first + t] += o->weight * share[t];
      for (int u = 0; u < terms; ++u) e->matrix[first + t][first + u] += o->weight * share[t] * share[u];
    }
  }
  for (int p = 0; p < parameters; ++p) {
    e->matrix[p][p] += ridge * e->weight[p];
    e->right[p] += ridge * e->weight[p] * start[p] / e->scale[p];
  }
}

static void descend(const cutt_equations *e, int parameters, double *x) {
  for (int sweep = 0; sweep < SWEEPS; ++sweep) {
    double largest = 0;
    for (int p = 0; p < parameters; ++p) {
      if (e->matrix[p][p] <= 0) continue; /* no observation has it */
      double slope = e->right[p];
      for (int q = 0; q < parameters; ++q) slope -= e->matrix[p][q] * x[q];
      double next = x[p] + slope / e->matrix[p][p];
      if (!(next > 0)) next = 0;
      const double step = fabs(next - x[p]);
      if (step > largest) largest = step;
      x[p] = next;
    }
    if (largest < precise) return;
  }
}

double cutt_fit(const cutt_observation *list, int count, int parameters, const double *start, double ridge,
                cutt_equations *e, double *value) {
  double now[CUTT_PARAMETERS];
  bool sums = true;
  for (int i = 0; i < count; ++i) sums = sums && list[i].breakdown.memory + list[i].breakdown.work == 0;
  for (int p = 0; p < parameters; ++p) now[p] = start[p];
  for (int step = 0; step < (sums ? 1 : STEPS); ++step) {
    double x[CUTT_PARAMETERS];
    set_up(list, count, parameters, start, now, ridge, e);
    for (int p = 0; p < parameters; ++p) x[p] = now[p] / e->scale[p];
    descend(e, parameters, x);
    for (int p = 0; p < parameters; ++p) {
      if (e->weight[p] > 0) now[p] = sums ? x[p] * e->scale[p] : (now[p] + x[p] * e->scale[p]) / 2;
    }
  }
  for (int p = 0; p < parameters; ++p) value[p] = now[p];

  double squares = 0, weights = 0;
  for (int i = 0; i < count; ++i) {
    if (!usable(&list[i])) continue;
    const double error = cutt_breakdown_seconds(&list[i].breakdown, value) / list[i].seconds - 1;
    squares += list[i].weight * error * error;
    weights += list[i].weight;
  }
  return weights > 0 ? sqrt(squares / weights) : 0;
}
