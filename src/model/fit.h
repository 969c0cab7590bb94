/* The model's parameters from measured times: linear least squares with values that may not be negative. */
#ifndef CUTT_MODEL_FIT_H
#define CUTT_MODEL_FIT_H

#include "model/target.h"

typedef struct cutt_observation {
  cutt_breakdown breakdown;
  double seconds; /* measured */
  double weight;  /* of its relative error */
} cutt_observation;

/* What a fit works in: sum = x' matrix x - 2 right' x + constant, in the scaled unknowns x. Too large for small stacks. */
typedef struct cutt_equations {
  double matrix[CUTT_PARAMETERS][CUTT_PARAMETERS];
  double right[CUTT_PARAMETERS];
  double scale[CUTT_PARAMETERS];  /* value = scale * x */
  double weight[CUTT_PARAMETERS]; /* of the observations that a parameter has a part in */
} cutt_equations;

/* Minimises  sum over observations of weight * (predicted / seconds - 1)^2  +  ridge * sum over parameters of
 * (value / start - 1)^2 * (weight of the observations that the parameter has a part in)  with value >= 0: a term that
 * makes less than sqrt(ridge) of the time stays near its start. start: >= 0, where the search begins, and where what
 * the data does not determine stays. value receives the result and may be start. Observations whose seconds or weight are
 * not above 0 are passed over. equations: memory to work in. Allocates nothing; returns the root of the weighted mean of
 * squares of the relative errors. */
double cutt_fit(const cutt_observation *list, int count, int parameters, const double *start, double ridge,
                cutt_equations *equations, double *value);

#endif
