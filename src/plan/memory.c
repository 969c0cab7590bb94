/* A backend's memory, and the time that plans and copies take: for programs that would rather not call CUDA themselves.
 *
 * Checking is done here, the work by the backend's table. */
#include <string.h>

#include "base/error.h"
#include "plan/plan.h"

static cuttResult select(cuttBackend_t id, const cutt_backend **backend) {
  return cutt_backend_select(id, "backend", backend);
}

cuttResult cuttMemoryAllocate(cuttBackend_t backend, size_t bytes, void **memory) {
  if (!memory) return cutt_error(CUTT_INVALID_PARAMETER, "memory is NULL; it must point to a void *");
  *memory = NULL;
  const cutt_backend *b = NULL;
  const cuttResult result = select(backend, &b);
  return result ? result : b->runtime->memory_allocate(bytes, memory);
}

cuttResult cuttMemoryFree(cuttBackend_t backend, void *memory) {
  const cutt_backend *b = NULL;
  cuttResult result = select(backend, &b);
  if (result || !memory) return result;
  result = cutt_memory_check(b, memory, "memory");
  return result ? result : b->runtime->memory_free(memory);
}

static cuttResult check_copy(const cutt_backend *backend, const void *to, const void *from, size_t bytes) {
  if (!to || !from) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; with %zu bytes it must point to memory", to ? "from" : "to",
                      bytes);
  }
  const cuttResult result = cutt_memory_check(backend, to, "to");
  return result ? result : cutt_memory_check(backend, from, "from");
}

cuttResult cuttMemoryCopy(cuttBackend_t backend, void *to, const void *from, size_t bytes) {
  const cutt_backend *b = NULL;
  cuttResult result = select(backend, &b);
  if (result || bytes == 0) return result;
  result = check_copy(b, to, from, bytes);
  return result ? result : b->runtime->memory_copy(to, from, bytes);
}

/* ------------------------------------------------------------------------------------------------------------- time */

static cuttResult check_timing(int count, const double *seconds) {
  if (count < 1) return cutt_error(CUTT_INVALID_PARAMETER, "count is %d; it must be 1 or more", count);
  if (!seconds) {
    return cutt_error(CUTT_INVALID_PARAMETER, "seconds is NULL; it must point to count = %d numbers", count);
  }
  return CUTT_SUCCESS;
}

/* One run that is not counted, with its end waited for, so that nothing of it is in the first that is. */
static cuttResult warm_up_and_time(const cutt_backend *backend, const cutt_work *work, cudaStream_t stream, int count,
                                   double *seconds) {
  const cuttResult result = backend->runtime->time(work, stream, 1, seconds);
  return result ? result : backend->runtime->time(work, stream, count, seconds);
}

typedef struct execution {
  cuttPlan_t plan;
  const void *in;
  void *out;
} execution;

static cuttResult run_execution(const void *what, cudaStream_t stream) {
  const execution *e = what;
  return cuttPlanExecute(e->plan, e->in, e->out, stream);
}

cuttResult cuttPlanTime(cuttPlan_t plan, const void *in, void *out, cudaStream_t stream, int count, double *seconds) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  cuttResult result = cutt_plan_check_executable(plan);
  if (!result) result = check_timing(count, seconds);
  if (!result) result = cutt_stream_check(plan->backend, stream, "stream");
  if (result) return result;
  const execution what = {plan, in, out};
  return warm_up_and_time(plan->backend, &(cutt_work){run_execution, &what}, stream, count, seconds);
}

typedef struct copying {
  const cutt_backend *backend;
  void *to;
  const void *from;
  size_t bytes;
} copying;

static cuttResult run_copy(const void *what, cudaStream_t stream) {
  const copying *c = what;
  return c->backend->runtime->copy(c->to, c->from, c->bytes, stream);
}

cuttResult cuttCopyTime(cuttBackend_t backend, void *to, const void *from, size_t bytes, cudaStream_t stream, int count,
                        double *seconds) {
  const cutt_backend *b = NULL;
  cuttResult result = select(backend, &b);
  if (!result) result = check_timing(count, seconds);
  if (!result) result = cutt_stream_check(b, stream, "stream");
  if (!result) result = check_copy(b, to, from, bytes);
  if (result) return result;
  const uintptr_t apart =
      (uintptr_t)to > (uintptr_t)from ? (uintptr_t)to - (uintptr_t)from : (uintptr_t)from - (uintptr_t)to;
  if (apart < bytes) {
    return cutt_error(CUTT_INVALID_PARAMETER, "to is %p and from is %p, which are less than bytes = %zu apart", to,
                      from, bytes);
  }
  const copying what = {b, to, from, bytes};
  return warm_up_and_time(b, &(cutt_work){run_copy, &what}, stream, count, seconds);
}
