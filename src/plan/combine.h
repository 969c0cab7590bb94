/* Executions of plans with beta whose second operand is not the output: out = alpha * op(perm(in)) + beta * second, or the product of
 * both. */
#ifndef CUTT_PLAN_COMBINE_H
#define CUTT_PLAN_COMBINE_H

#include <stdbool.h>

#include "cutt.h"

/* As cuttPlanExecute, of a plan for a GPU whose beta is not 0. The second operand is laid out as the output, which is not read. What overlaps
 * what has been checked; the second operand and, where the plan's two layouts are alike, the input may be the output. */
cuttResult cutt_plan_combine(cuttPlan_t plan, const void *in, const void *second, bool multiplies, void *out,
                             cudaStream_t stream);

#endif
