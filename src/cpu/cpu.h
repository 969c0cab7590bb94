/* The methods for CPUs, as a table. */
#ifndef CUTT_CPU_CPU_H
#define CUTT_CPU_CPU_H

#include "model/method.h"

extern const cutt_methods cutt_cpu_methods;

#endif
