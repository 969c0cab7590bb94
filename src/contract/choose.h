/* The choice of an algorithm. */
#ifndef CUTT_CONTRACT_CHOOSE_H
#define CUTT_CONTRACT_CHOOSE_H

#include "contract/plan.h"

/* An algorithm and its cost. */
typedef struct cutt_algorithm_choice {
  cutt_algorithm algorithm;
  cutt_cost cost;
} cutt_algorithm_choice;

enum { CUTT_BEST_ALGORITHMS = 8 };

/* The algorithms that the model puts first, cheapest first, none with more than limit bytes of workspace; how many. A pure function
 * of its arguments, and at least 1: there is an algorithm for any limit, with nothing packed. Errors: CUTT_INTERNAL_ERROR (memory). */
cuttResult cutt_algorithms_best(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                                cutt_algorithm_choice best[CUTT_BEST_ALGORITHMS], int *count);

/* Chooses plan->algorithm, with its cost, for at most limit bytes of workspace: the best of those, looked at closely. */
cuttResult cutt_algorithm_choose(struct cuttContractionStruct *plan, int64_t limit);

#endif
