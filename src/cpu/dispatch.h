/* The tables of kernels, by the name of the instruction set that they are compiled for. Only prepare looks one up,
 * since planning may be for an instruction set that this build or machine does not have. */
#ifndef CUTT_CPU_DISPATCH_H
#define CUTT_CPU_DISPATCH_H

#include "cpu/kernels/kernels.h"

typedef struct cutt_cpu_tables {
  const char *isa;
  const cutt_cpu_kernels *kernels;
  const cutt_cpu_byte_kernels *bytes;
} cutt_cpu_tables;

/* NULL: this build has no kernels for it. */
const cutt_cpu_tables *cutt_cpu_tables_named(const char *isa);

#endif
