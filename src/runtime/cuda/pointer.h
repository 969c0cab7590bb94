/* What memory a pointer is to: looked at once per execution, so that a mistake is an error and not a fault. */
#ifndef CUTT_RUNTIME_CUDA_POINTER_H
#define CUTT_RUNTIME_CUDA_POINTER_H

#include "runtime/cuda/state.h"

/* The address at which kernels of the current context, which is on this GPU, find what a user's pointer points to: device,
 * managed and pinned memory. One question to the driver where all is well. name: of the argument.
 * Errors: CUTT_INVALID_PARAMETER: host memory that is not pinned, or another device's memory; CUTT_INTERNAL_ERROR. */
cuttResult cutt_cuda_reach(const cutt_cu *cu, const cutt_cuda_gpu *gpu, const void *pointer, const char *name,
                           cutt_cu_address *address);

/* The runtime's is_device_pointer. */
bool cutt_cuda_is_device_pointer(const void *pointer);

#endif
