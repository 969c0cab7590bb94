/* Memory, and time by events: the entries of the CUDA runtime's table of these names (runtime.h). */
#ifndef CUTT_RUNTIME_CUDA_MEMORY_H
#define CUTT_RUNTIME_CUDA_MEMORY_H

#include "runtime/runtime.h"

cuttResult cutt_cuda_memory_allocate(size_t bytes, void **memory);
cuttResult cutt_cuda_memory_free(void *memory);
cuttResult cutt_cuda_memory_copy(void *to, const void *from, size_t bytes);
cuttResult cutt_cuda_copy(void *to, const void *from, size_t bytes, cudaStream_t stream);
cuttResult cutt_cuda_time(const cutt_work *work, cudaStream_t stream, int count, double *seconds);
cuttResult cutt_cuda_scratch_create(size_t bytes, int threads, void **memory);
void cutt_cuda_scratch_release(void *memory);
cuttResult cutt_cuda_stream_allocate(size_t bytes, cudaStream_t stream, void **memory);
void cutt_cuda_stream_free(void *memory, cudaStream_t stream);
cuttResult cutt_cuda_fill_bytes(void *memory, unsigned char value, size_t bytes, cudaStream_t stream);
cuttResult cutt_cuda_fill_words(void *memory, uint32_t value, size_t words, cudaStream_t stream);

#endif
