/* Memory, and time by events (memory.h). */
#include "runtime/cuda/memory.h"

#include "base/error.h"
#include "runtime/cuda/pointer.h"
#include "runtime/cuda/state.h"

/* With a scope entered. */
static cuttResult allocate(const cutt_cu *cu, size_t bytes, void **memory) {
  cutt_cu_address address = 0;
  *memory = NULL;
  const cutt_cu_result error = cu->mem_alloc(&address, bytes ? bytes : 1); /* none at all is an error to the driver */
  if (error) return cutt_cuda_failed(cu, error, "allocating %zu bytes of device memory", bytes);
  *memory = (void *)(uintptr_t)address;
  return CUTT_SUCCESS;
}

cuttResult cutt_cuda_memory_allocate(size_t bytes, void **memory) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  result = allocate(scope.cu, bytes, memory);
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_memory_free(void *memory) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->mem_free((uintptr_t)memory);
  if (error == CUTT_CU_INVALID_VALUE) {
    result = cutt_error(CUTT_INVALID_PARAMETER, "memory is %p; it must come from cuttMemoryAllocate for a GPU", memory);
  } else if (error) {
    result = cutt_cuda_failed(scope.cu, error, "freeing device memory");
  }
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_memory_copy(void *to, const void *from, size_t bytes) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu *cu = scope.cu;
  cutt_cu_result error = cu->memcpy((uintptr_t)to, (uintptr_t)from, bytes);
  if (!error) error = cu->stream_synchronize(NULL); /* between memories of devices the copy is only started */
  if (error) result = cutt_cuda_failed(cu, error, "copying %zu bytes from %p to %p", bytes, from, to);
  cutt_cuda_leave(&scope);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- time */

/* With a scope entered. Both pointers have to be the device's, or "device to device" means nothing. */
static cuttResult start_copy(const cutt_cu *cu, void *to, const void *from, size_t bytes, cudaStream_t stream) {
  const cutt_cuda_gpu *gpu = cutt_cuda_gpu_current(cu);
  if (!gpu) return CUTT_INVALID_DEVICE;
  cutt_cu_address to_address = 0, from_address = 0;
  cuttResult result = cutt_cuda_reach(cu, gpu, to, "to", &to_address);
  if (!result) result = cutt_cuda_reach(cu, gpu, from, "from", &from_address);
  if (result) return result;
  const cutt_cu_result error = cu->memcpy_dtod_async(to_address, from_address, bytes, stream);
  return error ? cutt_cuda_failed(cu, error, "copying %zu bytes within device memory", bytes) : CUTT_SUCCESS;
}

cuttResult cutt_cuda_copy(void *to, const void *from, size_t bytes, cudaStream_t stream) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  result = start_copy(scope.cu, to, from, bytes, stream);
  cutt_cuda_leave(&scope);
  return result;
}

/* Runs are timed in batches: an event between each two, and one wait at the end, so that the stream is not empty after
 * every run. */
enum { BATCH = 32 };

static cuttResult time_batch(const cutt_cu *cu, const cutt_work *work, cudaStream_t stream, const cutt_cu_event *events,
                             int count, double *seconds) {
  cutt_cu_result error = cu->event_record(events[0], stream);
  for (int i = 0; !error && i < count; ++i) {
    const cuttResult result = work->run(work->what, stream);
    if (result) {
      cu->stream_synchronize(stream); /* as far as it goes: what has been started is waited for */
      return result;
    }
    error = cu->event_record(events[i + 1], stream);
  }
  if (!error) error = cu->event_synchronize(events[count]);
  for (int i = 0; !error && i < count; ++i) {
    float milliseconds = 0;
    error = cu->event_elapsed_time(&milliseconds, events[i], events[i + 1]);
    seconds[i] = 1e-3 * (double)milliseconds;
  }
  return error ? cutt_cuda_failed(cu, error, "timing in stream %p", (void *)stream) : CUTT_SUCCESS;
}

static cuttResult time_all(const cutt_cu *cu, const cutt_work *work, cudaStream_t stream, int count, double *seconds) {
  int capturing = CUTT_CU_CAPTURE_NONE;
  cutt_cu_result error = cu->stream_is_capturing(stream, &capturing);
  if (!error && capturing != CUTT_CU_CAPTURE_NONE) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "the stream to time in is %p, which is being captured; timing has to run something",
                      (void *)stream);
  }
  cutt_cu_event events[BATCH + 1] = {NULL};
  const int wanted = (count < BATCH ? count : BATCH) + 1;
  int made = 0;
  while (!error && made < wanted) {
    error = cu->event_create(&events[made], CUTT_CU_EVENT_DEFAULT);
    if (!error) ++made;
  }
  cuttResult result = CUTT_SUCCESS;
  if (error) result = cutt_cuda_failed(cu, error, "getting ready to time in stream %p", (void *)stream);
  for (int done = 0; !result && done < count; done += BATCH) {
    const int rest = count - done;
    result = time_batch(cu, work, stream, events, rest < BATCH ? rest : BATCH, seconds + done);
  }
  while (made > 0) cu->event_destroy(events[--made]);
  return result;
}

cuttResult cutt_cuda_time(const cutt_work *work, cudaStream_t stream, int count, double *seconds) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  result = time_all(scope.cu, work, stream, count, seconds);
  cutt_cuda_leave(&scope);
  return result;
}

/* -------------------------------------------------------------------------------------------------------- measuring */

cuttResult cutt_cuda_scratch_create(size_t bytes, int threads, void **memory) {
  (void)threads;
  return cutt_cuda_memory_allocate(bytes, memory);
}

void cutt_cuda_scratch_release(void *memory) {
  if (cutt_cuda_memory_free(memory)) cutt_log(CUTT_LOG_WARN, "scratch was not freed: %s", cuttLastError());
}

/* --------------------------------------------------------------------------------------------- in order with a stream */

static bool in_order(const cutt_cu *cu) { return cu->mem_alloc_async && cu->mem_free_async; }

cuttResult cutt_cuda_stream_allocate(size_t bytes, cudaStream_t stream, void **memory) {
  cutt_cuda_scope scope;
  cutt_cu_address address = 0;
  *memory = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  if (in_order(scope.cu)) {
    const cutt_cu_result error = scope.cu->mem_alloc_async(&address, bytes ? bytes : 1, stream);
    if (error) result = cutt_cuda_failed(scope.cu, error, "allocating %zu bytes of device memory", bytes);
    if (!result) *memory = (void *)(uintptr_t)address;
  } else {
    result = allocate(scope.cu, bytes, memory);
  }
  cutt_cuda_leave(&scope);
  return result;
}

void cutt_cuda_stream_free(void *memory, cudaStream_t stream) {
  cutt_cuda_scope scope;
  if (cutt_cuda_enter(&scope)) return;
  const cutt_cu *cu = scope.cu;
  const cutt_cu_address address = (uintptr_t)memory;
  const cutt_cu_result error = in_order(cu) ? cu->mem_free_async(address, stream) : cu->mem_free(address);
  if (error) {
    cutt_cuda_failed(cu, error, "freeing device memory");
    cutt_log(CUTT_LOG_WARN, "%s", cuttLastError());
  }
  cutt_cuda_leave(&scope);
}

cuttResult cutt_cuda_fill_bytes(void *memory, unsigned char value, size_t bytes, cudaStream_t stream) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->memset_d8_async((uintptr_t)memory, value, bytes, stream);
  if (error) result = cutt_cuda_failed(scope.cu, error, "filling %zu bytes of device memory", bytes);
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_fill_words(void *memory, uint32_t value, size_t words, cudaStream_t stream) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error =
      scope.cu->memset_d2d32_async((uintptr_t)memory, words * sizeof value, value, words, 1, stream);
  if (error) result = cutt_cuda_failed(scope.cu, error, "filling %zu words of device memory", words);
  cutt_cuda_leave(&scope);
  return result;
}
