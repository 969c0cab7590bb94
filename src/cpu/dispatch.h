/* The tables of kernels, by the name of the instruction set that they are compiled for. Only prepare looks one up: planning
 * knows the instruction set by its target, which may be one that this machine or build does not have. */
#ifndef CUTT_CPU_DISPATCH_H
#define CUTT_CPU_DISPATCH_H

#include "cpu/kernels/kernels.h"

/* NULL: this build has none of that name. */
const cutt_cpu_kernels *cutt_cpu_kernels_named(const char *isa);

#endif
