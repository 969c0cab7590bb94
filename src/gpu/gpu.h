/* Permutation on GPUs, as methods: planning, and execution by the target's runtime. */
#ifndef CUTT_GPU_GPU_H
#define CUTT_GPU_GPU_H

#include "model/method.h"

extern const cutt_methods cutt_gpu_methods;

#endif
