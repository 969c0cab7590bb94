/* Streams and events: the entries of the CUDA runtime's table of these names (runtime.h). */
#ifndef CUTT_RUNTIME_CUDA_STREAM_H
#define CUTT_RUNTIME_CUDA_STREAM_H

#include "runtime/runtime.h"

cuttResult cutt_cuda_stream_create(cudaStream_t *stream);
cuttResult cutt_cuda_side_stream_create(cudaStream_t *stream);
cuttResult cutt_cuda_urgent_stream_create(cudaStream_t *stream);
void cutt_cuda_stream_release(cudaStream_t stream);
cuttResult cutt_cuda_stream_synchronize(cudaStream_t stream);
cuttResult cutt_cuda_stream_wait(cudaStream_t stream, const cutt_event *event);
cuttResult cutt_cuda_stream_is_captured(cudaStream_t stream, bool *captured);

cuttResult cutt_cuda_event_create(bool timed, cutt_event **event);
void cutt_cuda_event_destroy(cutt_event *event);
cuttResult cutt_cuda_event_record(cutt_event *event, cudaStream_t stream);
cuttResult cutt_cuda_event_seconds(cutt_event *from, cutt_event *to, double *seconds);

#endif
