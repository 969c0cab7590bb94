/* A candidate's time from its terms (target.h). The exponent, 4, was chosen beside 1, 2, 3 and 6: by how good the choices
 * were on problems that the parameters had not been fitted to (docs/log.md). */
#include "model/target.h"

typedef struct sums {
  double memory, work, rest, both;
} sums;

static sums add_up(const cutt_breakdown *breakdown, const double *value) {
  sums s = {0, 0, 0, 0};
  const double *v = value + breakdown->first, *part = breakdown->part;
  const int work = breakdown->memory, rest = work + breakdown->work;
  for (int i = 0; i < work; ++i) s.memory += part[i] * v[i];
  for (int i = work; i < rest; ++i) s.work += part[i] * v[i];
  for (int i = rest; i < breakdown->count; ++i) s.rest += part[i] * v[i];
  s.both = cutt_breakdown_overlap(s.memory, s.work);
  return s;
}

double cutt_breakdown_seconds(const cutt_breakdown *breakdown, const double *value) {
  const sums s = add_up(breakdown, value);
  return s.both + s.rest;
}

double cutt_breakdown_slopes(const cutt_breakdown *breakdown, const double *value, double slope[CUTT_TERMS]) {
  const sums s = add_up(breakdown, value);
  const double memory = s.both > 0 ? s.memory / s.both : 1, work = s.both > 0 ? s.work / s.both : 1;
  for (int i = 0; i < breakdown->count; ++i) {
    const double share = i < breakdown->memory ? memory : i < breakdown->memory + breakdown->work ? work : 1;
    slope[i] = breakdown->part[i] * share * share * share;
  }
  return s.both + s.rest;
}
