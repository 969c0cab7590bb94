/* The CUDA backend's memory, and time by events: the entries of its table that have nothing to do with permuting. */
#ifndef CUTT_RUNTIME_CUDA_MEMORY_H
#define CUTT_RUNTIME_CUDA_MEMORY_H

#include "plan/backend.h"

cuttResult cutt_cuda_memory_allocate(size_t bytes, void **memory);
cuttResult cutt_cuda_memory_free(void *memory);
cuttResult cutt_cuda_memory_copy(void *to, const void *from, size_t bytes);
cuttResult cutt_cuda_copy(void *to, const void *from, size_t bytes, cudaStream_t stream);
cuttResult cutt_cuda_time(const cutt_work *work, cudaStream_t stream, int count, double *seconds);
cuttResult cutt_cuda_scratch_create(size_t bytes, int threads, void **memory);
void cutt_cuda_scratch_release(void *memory);
cuttResult cutt_cuda_stream_create(cudaStream_t *stream);
void cutt_cuda_stream_release(cudaStream_t stream);

#endif
