/* Peers (peer.h). Work in the current context is the caller's to enter; each function enters it all the same, which costs little
 * and makes a context current for threads that have none. */
#include "runtime/cuda/peer.h"

#include <string.h>

#include "base/error.h"
#include "runtime/cuda/state.h"

_Static_assert(sizeof(cutt_cu_ipc_handle) <= sizeof((cutt_shared_memory){0}.handle), "a handle fits");

/* ----------------------------------------------------------------------------------------------------- other contexts */

cuttResult cutt_cuda_peer_enable(const cutt_context *peer) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  if (scope.context != peer->handle) {
    const cutt_cu_result error = scope.cu->ctx_enable_peer_access(peer->handle, 0);
    if (error && error != CUTT_CU_PEER_ACCESS_ALREADY_ENABLED)
      result = cutt_cuda_failed(scope.cu, error, "reaching the memory of another context's device");
  }
  cutt_cuda_leave(&scope);
  return result;
}

/* ----------------------------------------------------------------------------------------------------- other processes */

cuttResult cutt_cuda_share(const void *memory, cutt_shared_memory *shared) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu *cu = scope.cu;
  cutt_cu_address base = 0;
  size_t bytes = 0;
  unsigned long long id = 0;
  cutt_cu_ipc_handle handle;
  memset(shared, 0, sizeof *shared);
  cutt_cu_result error = cu->mem_get_address_range(&base, &bytes, (uintptr_t)memory);
  if (!error) error = cu->pointer_get_attribute(&id, CUTT_CU_POINTER_BUFFER_ID, base);
  if (!error) error = cu->ipc_get_mem_handle(&handle, base);
  if (error) {
    result = cutt_cuda_failed(cu, error, "sharing the memory at %p with other processes", memory);
  } else {
    memcpy(shared->handle, &handle, sizeof handle);
    shared->base = base;
    shared->offset = (uintptr_t)memory - base;
    shared->id = id;
  }
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_shared_open(const cutt_shared_memory *shared, void **base) {
  cutt_cuda_scope scope;
  *base = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  cutt_cu_ipc_handle handle;
  cutt_cu_address address = 0;
  memcpy(&handle, shared->handle, sizeof handle);
  const cutt_cu_result error = scope.cu->ipc_open_mem_handle(&address, handle, CUTT_CU_IPC_ENABLE_PEER_ACCESS);
  if (error)
    result = cutt_cuda_failed(scope.cu, error, "opening memory of another process");
  else
    *base = (void *)(uintptr_t)address;
  cutt_cuda_leave(&scope);
  return result;
}

void cutt_cuda_shared_close(void *base) {
  cutt_cuda_scope scope;
  if (cutt_cuda_enter(&scope)) return;
  const cutt_cu_result error = scope.cu->ipc_close_mem_handle((uintptr_t)base);
  if (error) {
    cutt_cuda_failed(scope.cu, error, "closing memory of another process");
    cutt_log(CUTT_LOG_WARN, "%s", cuttLastError());
  }
  cutt_cuda_leave(&scope);
}

static cutt_cu_event driver_event(const cutt_event *event) { return (cutt_cu_event)(uintptr_t)event; }

static cuttResult tell_event(const cutt_cu *cu, cutt_cu_result error, cutt_cu_event made, const char *doing,
                             cutt_event **event) {
  if (error) return cutt_cuda_failed(cu, error, "%s", doing);
  *event = (cutt_event *)(void *)made;
  return CUTT_SUCCESS;
}

cuttResult cutt_cuda_shared_event_create(cutt_event **event) {
  cutt_cuda_scope scope;
  cutt_cu_event made = NULL;
  *event = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->event_create(&made, CUTT_CU_EVENT_DISABLE_TIMING | CUTT_CU_EVENT_INTERPROCESS);
  result = tell_event(scope.cu, error, made, "creating an event for other processes", event);
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_event_share(const cutt_event *event, unsigned char handle[64]) {
  cutt_cuda_scope scope;
  cutt_cu_ipc_handle own;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->ipc_get_event_handle(&own, driver_event(event));
  if (error)
    result = cutt_cuda_failed(scope.cu, error, "sharing an event with other processes");
  else
    memcpy(handle, &own, sizeof own);
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_event_open(const unsigned char handle[64], cutt_event **event) {
  cutt_cuda_scope scope;
  cutt_cu_ipc_handle its;
  cutt_cu_event made = NULL;
  *event = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  memcpy(&its, handle, sizeof its);
  const cutt_cu_result error = scope.cu->ipc_open_event_handle(&made, its);
  result = tell_event(scope.cu, error, made, "opening an event of another process", event);
  cutt_cuda_leave(&scope);
  return result;
}

/* --------------------------------------------------------------------------------------------------------- host memory */

cuttResult cutt_cuda_pinned_allocate(size_t bytes, void **memory) {
  cutt_cuda_scope scope;
  *memory = NULL;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->mem_host_alloc(memory, bytes ? bytes : 1, CUTT_CU_HOST_PORTABLE);
  if (error) {
    *memory = NULL;
    result = cutt_cuda_failed(scope.cu, error, "allocating %zu bytes of pinned memory", bytes);
  }
  cutt_cuda_leave(&scope);
  return result;
}

void cutt_cuda_pinned_free(void *memory) {
  cutt_cuda_scope scope;
  if (cutt_cuda_enter(&scope)) return;
  const cutt_cu_result error = scope.cu->mem_free_host(memory);
  if (error) {
    cutt_cuda_failed(scope.cu, error, "freeing pinned memory");
    cutt_log(CUTT_LOG_WARN, "%s", cuttLastError());
  }
  cutt_cuda_leave(&scope);
}

cuttResult cutt_cuda_copy_start(void *to, const void *from, size_t bytes, cudaStream_t stream) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->memcpy_async((uintptr_t)to, (uintptr_t)from, bytes, stream);
  if (error) result = cutt_cuda_failed(scope.cu, error, "copying %zu bytes from %p to %p", bytes, from, to);
  cutt_cuda_leave(&scope);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- events */

cuttResult cutt_cuda_event_wait(cutt_event *event) {
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->event_synchronize(driver_event(event));
  if (error) result = cutt_cuda_failed(scope.cu, error, "waiting for an event");
  cutt_cuda_leave(&scope);
  return result;
}

cuttResult cutt_cuda_event_reached(const cutt_event *event, bool *reached) {
  cutt_cuda_scope scope;
  *reached = false;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cu_result error = scope.cu->event_query(driver_event(event));
  *reached = error == CUTT_CU_SUCCESS;
  if (error && error != CUTT_CU_NOT_READY) result = cutt_cuda_failed(scope.cu, error, "asking about an event");
  cutt_cuda_leave(&scope);
  return result;
}
