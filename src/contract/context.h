/* What the files of the public calls share: entering a plan's context, and executing a plan that has been checked. */
#ifndef CUTT_CONTRACT_CONTEXT_H
#define CUTT_CONTRACT_CONTEXT_H

#include "contract/plan.h"
#include "plan/services.h"

/* Where the device has contexts, enters that of the calling thread, which must be the plan's. After success leave must follow.
 * Errors: CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
cuttResult cutt_contraction_enter(const struct cuttContractionStruct *plan, cutt_scope *scope);
void cutt_contraction_leave(const struct cuttContractionStruct *plan, const cutt_scope *scope);

/* Executes a plan on what has been checked, in its context. */
cuttResult cutt_contraction_run(const struct cuttContractionStruct *plan, const cutt_operands *operands,
                                cudaStream_t stream, cutt_steps *steps);

/* The same, as the function of a cutt_work, which a runtime times. */
typedef struct cutt_execution {
  const struct cuttContractionStruct *plan;
  const cutt_operands *operands;
} cutt_execution;
cuttResult cutt_execution_run(const void *execution, cudaStream_t stream);

/* Refuses a count below 1, and a list, called by this name, that is NULL. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_contraction_check_count(int count, const void *list, const char *name);

#endif
