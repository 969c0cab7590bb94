/* What the files of the public calls share. */
#ifndef CUTT_CONTRACT_CONTEXT_H
#define CUTT_CONTRACT_CONTEXT_H

#include "contract/plan.h"
#include "plan/services.h"

/* Where the device has contexts, enters that of the calling thread, which must be the plan's. After success leave must follow.
 * Errors: CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
cuttResult cutt_contraction_enter(const struct cuttContractionStruct *plan, cutt_scope *scope);
void cutt_contraction_leave(const struct cuttContractionStruct *plan, const cutt_scope *scope);

/* Refuses a count below 1, and a list, called by this name, that is NULL. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_contraction_check_count(int count, const void *list, const char *name);

#endif
