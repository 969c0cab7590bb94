/* What the model of a contraction's time takes of the device at hand. */
#ifndef CUTT_CONTRACT_RATES_H
#define CUTT_CONTRACT_RATES_H

#include "contract/plan.h"

/* The rates for a plan whose contraction, backend, BLAS library and threads are set. */
cuttResult cutt_rates_find(const struct cuttContractionStruct *plan, cutt_rates *rates);

#endif
