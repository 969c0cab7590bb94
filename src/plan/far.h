/* Plans whose outputs are in the memory of another device of the same kind, or parts of larger ones, as ranks write them. */
#ifndef CUTT_PLAN_FAR_H
#define CUTT_PLAN_FAR_H

#include <stdbool.h>
#include <stdint.h>

#include "cutt.h"

/* What an execution is predicted to take: in the device, and of a link beside that if the output is behind one; and the least that
 * the link could take, with whole lines. 0 where there is no such link. */
typedef struct cutt_far_seconds {
  double here, link, least_link;
} cutt_far_seconds;

/* As cuttPlanCreate. far: with a candidate that suits a link; an output in the device's own memory is right, too. whole_bytes: of the
 * output that this one is a part of, so that caches hold no more of it than of an output as large; 0: it is no part of another. */
cuttResult cutt_plan_create_far(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options, bool far,
                                int64_t whole_bytes, cutt_far_seconds *seconds);

#endif
