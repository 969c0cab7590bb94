/* The CPU's own part of a calibration. */
#ifndef CUTT_CPU_CALIBRATE_H
#define CUTT_CPU_CALIBRATE_H

#include "plan/backend.h"

/* See cutt_backend.runtime->measure_target and .training_sizes. */
cuttResult cutt_cpu_measure_target(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                                   void *data);
int cutt_cpu_training_sizes(const cutt_target *target, int64_t *list, int max);

#endif
