/* The CUDA backend: permutation on NVIDIA GPUs. */
#ifndef CUTT_RUNTIME_CUDA_CUDA_H
#define CUTT_RUNTIME_CUDA_CUDA_H

#include "plan/backend.h"

extern const cutt_backend cutt_cuda_backend;

#endif
