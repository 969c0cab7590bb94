/* Pieces of several ranks that make whole rows of an output together. */
#ifndef CUTT_DIST_JOIN_H
#define CUTT_DIST_JOIN_H

#include "dist/exchange.h"

/* Joins what is unpacked in each round, and this rank's own part, if that can be and is predicted to be faster: x->join.
 * Errors: CUTT_INTERNAL_ERROR; of cuttPlanCreate. */
cuttResult cutt_join_make(cutt_exchange *x, const cutt_task *task, cutt_shapes *shapes);

#endif
