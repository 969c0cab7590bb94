/* The CUDA backend: permutation on NVIDIA GPUs. */
#ifndef CUTT_CUDA_CUDA_H
#define CUTT_CUDA_CUDA_H

#include "core/backend.h"

extern const cutt_backend cutt_cuda_backend;

#endif
