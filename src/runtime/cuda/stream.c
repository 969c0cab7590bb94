/* Streams and events. A runtime's event is the driver's own, under another name.
 *
 * What is given work as it is (waits, records, questions) enters no context: stream and event are of one, and the driver
 * does not ask for another. The default stream is the current context's: who names it has entered that. */
#include "runtime/cuda/stream.h"

#include "base/error.h"
#include "runtime/cuda/state.h"

/* doing: what fails. */
static cuttResult create(cudaStream_t *stream, unsigned flags, const char *doing) {
  cutt_cuda_scope scope;
  *stream = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->stream_create(stream, flags);
  if (error) {
    *stream = NULL;
    result = cutt_cuda_failed(scope.cu, error, "%s", doing);
  }
  cutt_cuda_leave(&scope);
  return result;
}

/* One that waits for the default stream, and the other way round: what the program has started there may still use the
 * buffers that are measured on. */
cuttResult cutt_cuda_stream_create(cudaStream_t *stream) {
  return create(stream, CUTT_CU_STREAM_DEFAULT, "making a stream to measure in");
}

cuttResult cutt_cuda_side_stream_create(cudaStream_t *stream) {
  return create(stream, CUTT_CU_STREAM_NON_BLOCKING, "making a stream");
}

cuttResult cutt_cuda_urgent_stream_create(cudaStream_t *stream) {
  cutt_cuda_scope scope;
  int least = 0, greatest = 0;
  *stream = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  cutt_cu_result error = scope.cu->ctx_get_stream_priority_range(&least, &greatest);
  if (!error) error = scope.cu->stream_create_with_priority(stream, CUTT_CU_STREAM_NON_BLOCKING, greatest);
  if (error) {
    *stream = NULL;
    result = cutt_cuda_failed(scope.cu, error, "making a stream of high priority");
  }
  cutt_cuda_leave(&scope);
  return result;
}

void cutt_cuda_stream_release(cudaStream_t stream) {
  cutt_cuda_scope scope;
  if (cutt_cuda_enter(&scope)) return;
  const cutt_cu_result error = scope.cu->stream_destroy(stream);
  if (error) {
    cutt_cuda_failed(scope.cu, error, "ending a stream");
    cutt_log(CUTT_LOG_WARN, "%s", cuttLastError());
  }
  cutt_cuda_leave(&scope);
}

/* The driver, which has made what is asked about; NULL, with the error worded, where it does not work. */
static const cutt_cu *driver(cuttResult *result) {
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  *result = cu ? CUTT_SUCCESS : cutt_error(CUTT_INVALID_DEVICE, "CUDA is not usable: %s", why);
  return cu;
}

cuttResult cutt_cuda_stream_synchronize(cudaStream_t stream) {
  cuttResult result;
  const cutt_cu *cu = driver(&result);
  if (!cu) return result;
  const cutt_cu_result error = cu->stream_synchronize(stream);
  return error ? cutt_cuda_failed(cu, error, "waiting for stream %p", (void *)stream) : CUTT_SUCCESS;
}

static cutt_cu_event driver_event(const cutt_event *event) { return (cutt_cu_event)(uintptr_t)event; }

cuttResult cutt_cuda_stream_wait(cudaStream_t stream, const cutt_event *event) {
  cuttResult result;
  const cutt_cu *cu = driver(&result);
  if (!cu) return result;
  const cutt_cu_result error = cu->stream_wait_event(stream, driver_event(event), 0);
  return error ? cutt_cuda_failed(cu, error, "letting a stream wait for an event") : CUTT_SUCCESS;
}

cuttResult cutt_cuda_stream_is_captured(cudaStream_t stream, bool *captured) {
  int status = CUTT_CU_CAPTURE_NONE;
  cuttResult result;
  *captured = false;
  const cutt_cu *cu = driver(&result);
  if (!cu) return result;
  const cutt_cu_result error = cu->stream_is_capturing(stream, &status);
  if (error) return cutt_cuda_failed(cu, error, "asking whether stream %p is being captured", (void *)stream);
  *captured = status != CUTT_CU_CAPTURE_NONE;
  return CUTT_SUCCESS;
}

/* ----------------------------------------------------------------------------------------------------------- events */

cuttResult cutt_cuda_event_create(bool timed, cutt_event **event) {
  cutt_cuda_scope scope;
  cutt_cu_event made = NULL;
  *event = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error =
      scope.cu->event_create(&made, timed ? CUTT_CU_EVENT_DEFAULT : CUTT_CU_EVENT_DISABLE_TIMING);
  if (error) {
    result = cutt_cuda_failed(scope.cu, error, "creating an event");
  } else {
    *event = (cutt_event *)(void *)made;
  }
  cutt_cuda_leave(&scope);
  return result;
}

void cutt_cuda_event_destroy(cutt_event *event) {
  cuttResult result;
  const cutt_cu *cu = driver(&result);
  if (!cu) return;
  const cutt_cu_result error = cu->event_destroy(driver_event(event));
  if (!error) return;
  cutt_cuda_failed(cu, error, "destroying an event");
  cutt_log(CUTT_LOG_WARN, "%s", cuttLastError());
}

cuttResult cutt_cuda_event_record(cutt_event *event, cudaStream_t stream) {
  cuttResult result;
  const cutt_cu *cu = driver(&result);
  if (!cu) return result;
  const cutt_cu_result error = cu->event_record(driver_event(event), stream);
  return error ? cutt_cuda_failed(cu, error, "recording an event") : CUTT_SUCCESS;
}

cuttResult cutt_cuda_event_seconds(cutt_event *from, cutt_event *to, double *seconds) {
  float milliseconds = 0;
  cuttResult result;
  *seconds = 0;
  const cutt_cu *cu = driver(&result);
  if (!cu) return result;
  cutt_cu_result error = cu->event_synchronize(driver_event(to));
  if (!error) error = cu->event_elapsed_time(&milliseconds, driver_event(from), driver_event(to));
  if (error) return cutt_cuda_failed(cu, error, "asking for the time between two events");
  *seconds = 1e-3 * (double)milliseconds;
  return CUTT_SUCCESS;
}
