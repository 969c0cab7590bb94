/* Which instruction set's kernels this machine runs. */
#ifndef CUTT_CPU_ISA_H
#define CUTT_CPU_ISA_H

#include <stdbool.h>

#include "cpu/kernels/kernels.h"

/* The table in use: the one that the environment variable CUTT_CPU_ISA names, else the widest that the processor has.
 * If it names one that this build or this machine does not have, *note (may be NULL) says so, and no plan should be made;
 * else *note is NULL. Never NULL. */
const cutt_cpu_kernels *cutt_cpu_isa_kernels(const char **note);

/* The tables that this build has, narrowest first; ended by NULL. */
extern const cutt_cpu_kernels *const cutt_cpu_isa_all[];

/* Can this machine run that table? On false *why says why not. */
bool cutt_cpu_isa_usable(const cutt_cpu_kernels *kernels, const char **why);

#endif
