/* Memory of other devices and of other processes, pinned host memory, and copies between any two of these. */
#ifndef CUTT_RUNTIME_CUDA_PEER_H
#define CUTT_RUNTIME_CUDA_PEER_H

#include "runtime/runtime.h"

/* The runtime's functions of these names. */
cuttResult cutt_cuda_peer_enable(const cutt_context *peer);
cuttResult cutt_cuda_share(const void *memory, cutt_shared_memory *shared);
cuttResult cutt_cuda_shared_open(const cutt_shared_memory *shared, void **base);
void cutt_cuda_shared_close(void *base);
cuttResult cutt_cuda_shared_event_create(cutt_event **event);
cuttResult cutt_cuda_event_share(const cutt_event *event, unsigned char handle[64]);
cuttResult cutt_cuda_event_open(const unsigned char handle[64], cutt_event **event);
cuttResult cutt_cuda_pinned_allocate(size_t bytes, void **memory);
void cutt_cuda_pinned_free(void *memory);
cuttResult cutt_cuda_copy_start(void *to, const void *from, size_t bytes, cudaStream_t stream);
cuttResult cutt_cuda_event_wait(cutt_event *event);
cuttResult cutt_cuda_event_reached(const cutt_event *event, bool *reached);

#endif
