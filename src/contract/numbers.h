/* Numbers to time products with. */
#ifndef CUTT_CONTRACT_NUMBERS_H
#define CUTT_CONTRACT_NUMBERS_H

#include "runtime/runtime.h"

/* Fills memory of the runtime's device: a copy from the host, and then of what is there already, twice as much each time. */
cuttResult cutt_numbers_fill(const cutt_runtime *runtime, cuttType_t type, void *memory, int64_t bytes);

#endif
