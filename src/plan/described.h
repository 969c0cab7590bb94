/* Devices that are described and need not be here. */
#ifndef CUTT_PLAN_DESCRIBED_H
#define CUTT_PLAN_DESCRIBED_H

#include "plan/backend.h"

/* The device of this name or file (options->device). *own: to be freed, when it was read, else NULL.
 * Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_target_described(const char *device, cuttBackend_t id, const cutt_backend **backend,
                                 const cutt_target **target, cutt_target **own);

#endif
