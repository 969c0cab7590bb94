/* The CUDA runtime: NVIDIA's GPUs, by the driver that is found at run time. */
#ifndef CUTT_RUNTIME_CUDA_CUDA_H
#define CUTT_RUNTIME_CUDA_CUDA_H

#include "runtime/runtime.h"

extern const cutt_runtime cutt_cuda_runtime;

#endif
