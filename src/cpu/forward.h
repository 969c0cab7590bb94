/* The canonical problem as the methods for CPUs see it: its input's first mode is never walked backwards if that
 * helps. */
#ifndef CUTT_CPU_FORWARD_H
#define CUTT_CPU_FORWARD_H

#include "model/canonical.h"

/* A first mode of input stride -1 that is not the output's first one has columns that kernels could only read
 * backwards. From its other end it is contiguous in the input, and its output stride is negative: which columns,
 * segments and outer loops may have, and M_k and the sequence may not: so that is not done where the output's modes before it are too
 * short for a vector. Returns the problem, or *other, filled with the
 * problem seen like that. */
const cutt_canonical *cutt_cpu_forward(const cutt_canonical *canonical, cutt_canonical *other);

#endif
