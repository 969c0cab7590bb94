/* The CUDA runtime: NVIDIA's GPUs, by the driver that is found at run time. */
#ifndef CUTT_RUNTIME_CUDA_CUDA_H
#define CUTT_RUNTIME_CUDA_CUDA_H

#include "model/device.h"
#include "runtime/runtime.h"

extern const cutt_runtime cutt_cuda_runtime;

/* Adds to a description what a driver does not tell, and the methods for the device want to know. Defined where runtime and
 * methods are put together (src/backends.c), so that the runtime need not know them. key: the device's, in wisdom and in
 * device files. */
void cutt_cuda_complete(const char *key, cutt_device *device);

#endif
