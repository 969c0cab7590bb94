/* Plans whose outputs are in the memory of another device of the same kind, as ranks write them. */
#ifndef CUTT_PLAN_FAR_H
#define CUTT_PLAN_FAR_H

#include "cutt.h"

/* As cuttPlanCreate, with a candidate that suits the link; an output in the device's own memory is right, too. What goes on in the
 * device is predicted to take here, and what goes over the link beside it link. */
cuttResult cutt_plan_create_far(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options,
                                double *here, double *link);

#endif
