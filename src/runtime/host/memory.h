/* Memory of the host, copies, and the timing of work: see runtime/runtime.h. */
#ifndef CUTT_RUNTIME_HOST_MEMORY_H
#define CUTT_RUNTIME_HOST_MEMORY_H

#include "runtime/runtime.h"

cuttResult cutt_host_memory_allocate(size_t bytes, void **memory);
cuttResult cutt_host_memory_free(void *memory);
cuttResult cutt_host_memory_copy(void *to, const void *from, size_t bytes);
cuttResult cutt_host_copy(void *to, const void *from, size_t bytes, cudaStream_t stream);
cuttResult cutt_host_time(const cutt_work *work, cudaStream_t stream, int count, double *seconds);
cuttResult cutt_host_scratch_create(size_t bytes, int threads, void **memory);
void cutt_host_scratch_release(void *memory);

#endif
