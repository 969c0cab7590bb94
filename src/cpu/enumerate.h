/* The candidates of a problem on the CPU. */
#ifndef CUTT_CPU_ENUMERATE_H
#define CUTT_CPU_ENUMERATE_H

#include "model/method.h"

/* See cutt_methods.enumerate. */
int cutt_cpu_enumerate(const cutt_target *target, cutt_model model, const cutt_canonical *canonical, int threads,
                       cutt_candidate *list, int max);

/* Threads that are worth waking for a tensor, or several, of so many bytes: waking takes as long as moving some hundred
 * kilobytes. */
int cutt_cpu_threads_for(int64_t bytes, int most);

#endif
