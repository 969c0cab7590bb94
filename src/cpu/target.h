/* A processor as a target of planning: what a device file holds of it. */
#ifndef CUTT_CPU_TARGET_H
#define CUTT_CPU_TARGET_H

#include "model/machine.h"

extern const cutt_schema cutt_cpu_schema;

/* Gives the machine the values of the model that are built in. */
void cutt_cpu_complete(cutt_cpu_machine *machine);

/* See cutt_methods.calibration_sizes. */
int cutt_cpu_calibration_sizes(const cutt_target *target, int64_t *list, int max);

#endif
