/* Executions of plans with beta whose addend is not the output: out = alpha * op(perm(in)) + beta * addend. */
#ifndef CUTT_PLAN_ADDEND_H
#define CUTT_PLAN_ADDEND_H

#include "cutt.h"

/* As cuttPlanExecute, of a plan for a GPU whose beta is not 0. The addend is laid out as the output, which is not read. What overlaps
 * what has been checked; the addend and, where the plan's two layouts are alike, the input may be the output. */
cuttResult cutt_plan_add(cuttPlan_t plan, const void *in, const void *addend, void *out, cudaStream_t stream);

#endif
