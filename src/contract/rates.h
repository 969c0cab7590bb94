/* What the model of a contraction's time takes of the device at hand. */
#ifndef CUTT_CONTRACT_RATES_H
#define CUTT_CONTRACT_RATES_H

#include "contract/plan.h"

/* The rates for a plan whose contraction, backend, BLAS library and threads are set. */
cuttResult cutt_rates_find(const struct cuttContractionStruct *plan, cutt_rates *rates);

/* A property of the device at hand by its name; 0: it has none of this name. */
int64_t cutt_device_property(const cutt_backend *backend, const char *name);

/* Does the processor read faster what lies in order in memory if that is asked for? */
bool cutt_asks_in_order(const cutt_backend *cpu);

#endif
