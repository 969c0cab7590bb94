/* The CUDA backend: permutation on NVIDIA GPUs. */
#ifndef CUTT_RUNTIME_CUDA_CUDA_H
#define CUTT_RUNTIME_CUDA_CUDA_H

#include "plan/backend.h"

#endif
