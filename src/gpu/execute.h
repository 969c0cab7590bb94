/* A prepared plan for a GPU, and its life. */
#ifndef CUTT_GPU_EXECUTE_H
#define CUTT_GPU_EXECUTE_H

#include "model/method.h"

/* The methods' entries of these names. */
cuttResult cutt_gpu_prepare(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                            void **prepared);
cuttResult cutt_gpu_execute(const cutt_executions *executions, cudaStream_t stream);
void cutt_gpu_release(void *prepared);

#endif
