/* The host's own part of a calibration. */
#ifndef CUTT_RUNTIME_HOST_MEASURE_H
#define CUTT_RUNTIME_HOST_MEASURE_H

#include "runtime/runtime.h"

/* See cutt_runtime.measure_target. */
cuttResult cutt_host_measure(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                             void *data);

#endif
