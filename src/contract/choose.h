/* The choice of an algorithm. */
#ifndef CUTT_CONTRACT_CHOOSE_H
#define CUTT_CONTRACT_CHOOSE_H

#include "contract/plan.h"

/* An algorithm and what it costs. */
typedef struct cutt_algorithm_choice {
  cutt_algorithm algorithm;
  cutt_cost cost;
} cutt_algorithm_choice;

/* Most that are looked at by the model, and most that are listed to be measured. */
enum { CUTT_BEST_ALGORITHMS = 8, CUTT_LISTED_ALGORITHMS = 24 };

/* The algorithms with the shortest predicted times, the fastest first, of those that need no more than limit bytes of
 * workspace. *count is at least 1, since an algorithm with nothing packed needs none. A pure function of its arguments.
 * Errors: CUTT_INTERNAL_ERROR (memory). */
cuttResult cutt_algorithms_best(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                                cutt_algorithm_choice best[CUTT_BEST_ALGORITHMS], int *count);

/* Predicts the permutations of whole tensors by their own model, instead of roughly. Errors: as of planning a permutation. */
cuttResult cutt_algorithm_look(const struct cuttContractionStruct *plan, cutt_algorithm_choice *choice);

/* The best algorithms for a plan that has rates, `longest` (CUTT_LISTED_ALGORITHMS) at most, the fastest by the rough prediction
 * first; and how many of these, the first ones, have been looked at closely. */
cuttResult cutt_algorithms_look(const struct cuttContractionStruct *plan, int64_t limit, int longest,
                                cutt_algorithm_choice *best, int *found, int *looked_at);

/* Sets plan->algorithm and its cost: the best of those by a closer prediction. Errors: as of planning a permutation. */
cuttResult cutt_algorithm_choose(struct cuttContractionStruct *plan, int64_t limit);

#endif
