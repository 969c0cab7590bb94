/* A candidate's time from its terms (target.h). The exponent, 4, was chosen beside 1, 2, 3 and 6: by how good the choices
 * were on problems that the parameters had not been fitted to (docs/performance.md). */
#include "model/target.h"

typedef struct sums {
  double memory, work, rest, both;
} sums;

static sums add_up(const cutt_price *price, const double *value) {
  sums s = {0, 0, 0, 0};
  const double *v = value + price->first, *part = price->part;
  const int work = price->memory, rest = work + price->work;
  for (int i = 0; i < work; ++i) s.memory += part[i] * v[i];
  for (int i = work; i < rest; ++i) s.work += part[i] * v[i];
  for (int i = rest; i < price->count; ++i) s.rest += part[i] * v[i];
  s.both = cutt_price_overlap(s.memory, s.work);
  return s;
}

double cutt_price_seconds(const cutt_price *price, const double *value) {
  const sums s = add_up(price, value);
  return s.both + s.rest;
}

double cutt_price_slopes(const cutt_price *price, const double *value, double slope[CUTT_TERMS]) {
  const sums s = add_up(price, value);
  const double memory = s.both > 0 ? s.memory / s.both : 1, work = s.both > 0 ? s.work / s.both : 1;
  for (int i = 0; i < price->count; ++i) {
    const double share = i < price->memory ? memory : i < price->memory + price->work ? work : 1;
    slope[i] = price->part[i] * share * share * share;
  }
  return s.both + s.rest;
}
