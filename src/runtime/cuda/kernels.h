/* The kernels that the library carries, in contexts: loaded when the first of them are asked for, and the same ones for all
 * plans of a context, so that execution finds everything there, under capture too. */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_H
#define CUTT_RUNTIME_CUDA_KERNELS_H

#include "runtime/cuda/state.h"
#include "runtime/runtime.h"

/* Does the driver take the kernels, in the calling thread's context? Errors: CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
cuttResult cutt_cuda_kernels_load(void);

/* The runtime's entries of these names. */
cuttResult cutt_cuda_kernels_find(const cutt_kernel_list *list, const cutt_kernels **kernels);
int cutt_cuda_parameter_bytes(void);
cuttResult cutt_cuda_kernels_enter(const cutt_kernels *kernels, cutt_scope *scope);
cuttResult cutt_cuda_launch(const cutt_kernels *kernels, int which, const cutt_grid *grid, void **parameters,
                            cudaStream_t stream);
cuttResult cutt_cuda_copy_reached(const cutt_kernels *kernels, void *to, const void *from, size_t bytes,
                                  cudaStream_t stream);

#endif
