/* The tables of kernels, by the name of the instruction set that they are compiled for. Only prepare looks one up,
 * since planning may be for an instruction set that this build or machine does not have. */
#ifndef CUTT_CPU_DISPATCH_H
#define CUTT_CPU_DISPATCH_H

#include "cpu/kernels/kernels.h"

/* NULL: this build has no kernels for it. */
const cutt_cpu_kernels *cutt_cpu_kernels_named(const char *isa);

#endif
