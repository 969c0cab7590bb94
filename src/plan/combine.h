/* Executions of plans with beta whose second operand is not the output: out = alpha * op(perm(in)) + beta * second, or the product of
 * both terms, or the larger or smaller one. */
#ifndef CUTT_PLAN_COMBINE_H
#define CUTT_PLAN_COMBINE_H

#include "cutt.h"

/* As cuttPlanExecute, of a plan for a GPU whose beta is not 0. op: by the numbers of cuttOperator_t; of complex terms and of half types a sum or a product.
 * The second operand is laid out as the output, which is not read. What overlaps what has been checked; the second operand and, where the
 * plan's two layouts are alike, the input may be the output. */
cuttResult cutt_plan_combine(cuttPlan_t plan, const void *in, const void *second, int op, void *out,
                             cudaStream_t stream);

#endif
