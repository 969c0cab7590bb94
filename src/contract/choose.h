/* The choice of a way. */
#ifndef CUTT_CONTRACT_CHOOSE_H
#define CUTT_CONTRACT_CHOOSE_H

#include "contract/plan.h"

/* What things cost on the device at hand, for a plan whose contraction, backend, provider and threads are set. */
cuttResult cutt_rates_find(const struct cuttContractionStruct *plan, cutt_rates *rates);

/* A way and its cost. */
typedef struct cutt_way_choice {
  cutt_way way;
  cutt_cost cost;
} cutt_way_choice;

enum { CUTT_BEST_WAYS = 8 };

/* The ways that the model puts first, cheapest first, none with more than limit bytes of workspace; how many. A pure function
 * of its arguments, and at least 1: there is a way for any limit, with nothing packed. Errors: CUTT_INTERNAL_ERROR (memory). */
cuttResult cutt_ways_best(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit,
                          cutt_way_choice best[CUTT_BEST_WAYS], int *count);

/* Chooses plan->way, with its cost, for at most limit bytes of workspace: the best of those, looked at closely. */
cuttResult cutt_way_choose(struct cuttContractionStruct *plan, int64_t limit);

/* A plan that packs a view's part of L or R, or brings D's part from where it is packed, at these threads. */
cuttResult cutt_piece_permutation(const cutt_contraction *contraction, const cutt_way *way, const cutt_view *view,
                                  cutt_tensor t, const cutt_backend *backend, int threads, cuttPlan_t *made);

#endif
