/* A prepared plan of the CUDA backend, and its life. */
#ifndef CUTT_RUNTIME_CUDA_EXECUTE_H
#define CUTT_RUNTIME_CUDA_EXECUTE_H

#include "gpu/launch.h"
#include "runtime/cuda/state.h"

/* Immutable once made, and all of it host memory: the device gets what it needs as the arguments of a launch. */
typedef struct cutt_gpu_plan {
  const cutt_cu *cu;
  const cutt_cuda_state *state; /* the context that it is for */
  cutt_canonical canonical;
  cutt_candidate candidate;
  cutt_gpu_launch ready; /* for buffers at multiples of 16 bytes, which nearly all are */
} cutt_gpu_plan;

/* The backend's entries of these names. */
cuttResult cutt_cuda_prepare(const cutt_target *target, const cutt_canonical *canonical,
                             const cutt_candidate *candidate, void **prepared);
cuttResult cutt_cuda_execute(const void *prepared, const void *in, void *out, cudaStream_t stream);
void cutt_cuda_release(void *prepared);

#endif
