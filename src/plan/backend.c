/* Which backend a plan is for, and what that backend does not take. */
#include "plan/backend.h"

#include "base/environment.h"
#include "base/error.h"

_Atomic(bool) cutt_other_memory_possible = false;

const cutt_backend *cutt_backend_of(cuttBackend_t id) {
  const cutt_backend *const *b = cutt_backends;
  while (*b && (*b)->id != id) ++b;
  return *b;
}

/* Where there is none, *why says why, and *name, if it was NULL, is what the id is called. */
static const cutt_backend *usable(cuttBackend_t id, const char **name, const char **why) {
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    if (id != CUTT_BACKEND_AUTO && (*b)->id != id) continue;
    if (!*name) *name = (*b)->id_name;
    if (!(*b)->runtime->probe(why)) continue;
    for (const cutt_backend *const *other = cutt_backends; *other; ++other) {
      if (other != b && (*other)->runtime->driver_loaded && (*other)->runtime->driver_loaded()) {
        atomic_store_explicit(&cutt_other_memory_possible, true, memory_order_relaxed);
      }
    }
    return *b;
  }
  return NULL;
}

const cutt_backend *cutt_backend_usable(cuttBackend_t id) {
  const char *name = NULL, *why = NULL;
  return usable(id, &name, &why);
}

cuttResult cutt_backend_select(cuttBackend_t id, const char *argument, const cutt_backend **backend) {
  const char *why = "this build has none", *name = id == CUTT_BACKEND_AUTO ? "CUTT_BACKEND_AUTO" : NULL;
  const cuttResult environment = cutt_environment_check();
  *backend = NULL;
  if (environment) return environment;
  *backend = usable(id, &name, &why);
  if (*backend) return CUTT_SUCCESS;
  if (!name) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is %ld; it must be one of the values of cuttBackend_t", argument,
                      (long)id);
  }
  return cutt_error(CUTT_INVALID_DEVICE, "%s is %s, and no such backend is usable here: %s", argument, name,
                    why ? why : "it does not say why");
}

/* cudaStreamLegacy and cudaStreamPerThread are numbers, and no streams that anyone has made. */
enum { LAST_DEFAULT_STREAM = 2 };

cuttResult cutt_stream_check(const cutt_backend *backend, cudaStream_t stream, const char *name) {
  if ((uintptr_t)stream <= LAST_DEFAULT_STREAM || backend->runtime->has_streams) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s is %p; it must be NULL or cudaStreamPerThread on %s, which has no streams", name,
                    (void *)stream, backend->id_name);
}

cuttResult cutt_backend_enter(cuttBackend_t id, const char *argument, cudaStream_t stream, const char *name,
                              cutt_entered *entered) {
  const cutt_backend *backend = NULL;
  entered->runtime = NULL;
  cuttResult result = cutt_backend_select(id, argument, &backend);
  entered->backend = backend;
  if (!result) result = cutt_stream_check(backend, stream, name);
  if (result || !backend->runtime->enter_stream) return result;
  result = backend->runtime->enter_stream(stream, &entered->scope);
  if (!result) entered->runtime = backend->runtime;
  return result;
}

void cutt_backend_leave(const cutt_entered *entered) {
  if (entered->runtime) entered->runtime->leave(&entered->scope);
}

cuttResult cutt_memory_look(const cutt_backend *backend, const void *memory, const char *name) {
  for (const cutt_backend *const *b = cutt_backends; *b; ++b) {
    if (*b == backend || !(*b)->runtime->is_device_pointer || !(*b)->runtime->is_device_pointer(memory)) continue;
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s is %p, which is memory of a device of %s; it must be memory that %s can reach", name, memory,
                      (*b)->id_name, backend->id_name);
  }
  return CUTT_SUCCESS;
}
