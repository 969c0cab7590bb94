/* The candidates of a problem on the CPU. */
#ifndef CUTT_CPU_ENUMERATE_H
#define CUTT_CPU_ENUMERATE_H

#include "model/method.h"

/* See cutt_methods.enumerate. */
int cutt_cpu_enumerate(const cutt_target *target, cutt_model model, const cutt_canonical *canonical, int threads,
                       cutt_candidate *list, int max);

#endif
