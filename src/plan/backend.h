/* Backends as planning sees them: which one a call is for, and what it refuses of streams and memory. */
#ifndef CUTT_PLAN_BACKEND_H
#define CUTT_PLAN_BACKEND_H

#include <stdatomic.h>

#include "model/backend.h"
#include "runtime/runtime.h"

/* The backend of this id, usable here or not; NULL: this build has none. */
const cutt_backend *cutt_backend_of(cuttBackend_t id);

/* The backend that an id asks for, if it is usable here. argument: what the caller of the library calls the id, for the
 * error's text. Errors: CUTT_INVALID_PARAMETER (no such value), CUTT_INVALID_DEVICE. */
cuttResult cutt_backend_select(cuttBackend_t id, const char *argument, const cutt_backend **backend);

/* The same without an error's text: NULL where there is none. */
const cutt_backend *cutt_backend_usable(cuttBackend_t id);

/* Planning for what runs in a stream. Where the backend has contexts, the calling thread's is entered, or, when it has none, the
 * stream's, or the default one; where it has none, the stream is checked. After a success cutt_backend_leave must follow.
 * Errors: those of cutt_backend_select and cutt_stream_check, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
typedef struct cutt_entered {
  const cutt_backend *backend;
  const cutt_runtime *runtime; /* NULL: there is nothing to leave */
  cutt_scope scope;
} cutt_entered;
cuttResult cutt_backend_enter(cuttBackend_t id, const char *argument, cudaStream_t stream, const char *name,
                              cutt_entered *entered);
void cutt_backend_leave(const cutt_entered *entered);

/* Refuses a stream, called by this name, where the backend has none, but for the default
 * streams by their names: CUDA's legacy one and that of each thread. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_stream_check(const cutt_backend *backend, cudaStream_t stream, const char *name);

/* Is there memory in the process that not every backend reaches? Set, for good, when a backend notices its driver, and
 * so the whole cost of the check below for a process without one. */
extern _Atomic(bool) cutt_other_memory_possible;
cuttResult cutt_memory_look(const cutt_backend *backend, const void *memory, const char *name);

/* Refuses memory, called by this name, that only another backend's device reaches. Errors: CUTT_INVALID_PARAMETER. */
static inline cuttResult cutt_memory_check(const cutt_backend *backend, const void *memory, const char *name) {
  const bool look = atomic_load_explicit(&cutt_other_memory_possible, memory_order_relaxed);
  return look ? cutt_memory_look(backend, memory, name) : CUTT_SUCCESS;
}

#endif
