/* Preparing and executing.
 *
 * An execution is a handful of questions to the driver, of which none waits for anything: which context is current, is it
 * still the plan's, what memory the two pointers are to; and one launch. The launch copies its arguments, so neither the
 * plan nor anything else of the library's has to outlive the call, and a graph that captures it holds all that it needs. */
#include "runtime/cuda/execute.h"

#include <stdlib.h>

#include "base/error.h"
#include "runtime/cuda/pointer.h"

cuttResult cutt_cuda_prepare(const cutt_target *target, const cutt_canonical *canonical,
                             const cutt_candidate *candidate, void **prepared) {
  (void)target; /* that of the context which is entered */
  *prepared = NULL;
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  const cutt_cuda_state *state = NULL;
  result = cutt_cuda_state_get(&scope, &state);
  cutt_cuda_leave(&scope);
  if (result) return result;

  cutt_gpu_plan *plan = malloc(sizeof *plan);
  if (!plan) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan on the GPU", sizeof *plan);
  plan->cu = scope.cu;
  plan->state = state;
  plan->canonical = *canonical;
  plan->candidate = *candidate;
  const char *why = NULL;
  if (!cutt_gpu_lay_out(&state->gpu->facts, canonical, candidate, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &plan->ready,
                        &why)) {
    free(plan);
    return cutt_error(CUTT_INTERNAL_ERROR, "a candidate can't be laid out: %s", why ? why : "no reason given");
  }
  *prepared = plan;
  return CUTT_SUCCESS;
}

void cutt_cuda_release(void *prepared) { free(prepared); }

static cuttResult wrong_context(const cutt_gpu_plan *plan, cutt_cu_context current) {
  const cutt_cu *cu = plan->cu;
  const cutt_cuda_gpu *gpu = plan->state->gpu;
  cutt_cu_device device = 0;
  if (current == plan->state->context) {
    return cutt_error(
        CUTT_INVALID_DEVICE,
        "the plan's context %p on device %d, %s, has been destroyed; the current one only has its address",
        (void *)current, gpu->handle, gpu->facts.base.name);
  }
  if (cu->ctx_get_device(&device)) device = -1;
  return cutt_error(CUTT_INVALID_DEVICE,
                    "the plan is for context %p on device %d, %s, and the current context is %p on device %d",
                    (void *)plan->state->context, gpu->handle, gpu->facts.base.name, (void *)current, device);
}

/* Makes the plan's context current if none is, as in a thread that has not called CUDA yet; *pushed: it has to be taken
 * back. Another one is the caller's choice, and an error. */
static cuttResult enter(const cutt_gpu_plan *plan, bool *pushed) {
  const cutt_cu *cu = plan->cu;
  const cutt_cuda_state *state = plan->state;
  cutt_cu_context current = NULL;
  cutt_cu_result error = cu->ctx_get_current(&current);
  if (error) return cutt_cuda_failed(cu, error, "asking for the current context");
  if (current && current != state->context) return wrong_context(plan, current);
  unsigned long long id = 0;
  error = cutt_cuda_context_id(cu, state->context, &id);
  if (error) {
    cutt_cuda_failed(cu, error, "asking for the plan's context %p, which may have been destroyed,",
                     (void *)state->context);
    return CUTT_INVALID_DEVICE;
  }
  if (id != state->id) return wrong_context(plan, state->context);
  if (current) return CUTT_SUCCESS;
  error = cu->ctx_push_current(state->context);
  if (error) return cutt_cuda_failed(cu, error, "making the plan's context current");
  *pushed = true;
  return CUTT_SUCCESS;
}

static cuttResult start(const cutt_gpu_plan *plan, const cutt_gpu_launch *launch, cutt_cu_address in,
                        cutt_cu_address out, cudaStream_t stream) {
  const cutt_cu *cu = plan->cu;
  in += (cutt_cu_address)launch->in_start;
  out += (cutt_cu_address)launch->out_start;
  void *parameters[] = {&in, &out, (void *)(uintptr_t)&launch->args}; /* which are read, and copied */
  const cutt_cu_result error = cu->launch_kernel(plan->state->function[launch->kernel], launch->blocks, 1, 1,
                                                 launch->threads, 1, 1, launch->shared_bytes, stream, parameters, NULL);
  if (!error) return CUTT_SUCCESS;
  const cuttResult result = cutt_cuda_failed(
      cu, error, "launching %s, %u blocks of %u threads with %u bytes of shared memory, in stream %p,",
      cutt_gpu_kernel_name[launch->kernel], launch->blocks, launch->threads, launch->shared_bytes, (void *)stream);
  return error == CUTT_CU_INVALID_HANDLE ? CUTT_INVALID_PARAMETER : result;
}

static cuttResult execute_here(const cutt_gpu_plan *plan, const void *in, void *out, cudaStream_t stream) {
  cutt_cu_address from = 0, to = 0;
  cuttResult result = cutt_cuda_reach(plan->cu, plan->state->gpu, in, "in", &from);
  if (!result) result = cutt_cuda_reach(plan->cu, plan->state->gpu, out, "out", &to);
  if (result) return result;
  const uint32_t in_align = cutt_gpu_alignment((const void *)(uintptr_t)from);
  const uint32_t out_align = cutt_gpu_alignment((const void *)(uintptr_t)to);
  if (in_align >= CUTT_GPU_ALIGNED && out_align >= CUTT_GPU_ALIGNED) return start(plan, &plan->ready, from, to, stream);
  cutt_gpu_launch launch;
  const char *why = NULL;
  if (!cutt_gpu_lay_out(&plan->state->gpu->facts, &plan->canonical, &plan->candidate, in_align, out_align, &launch,
                        &why)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "in is %p and out is %p, multiples of %u and %u bytes: %s", in, out,
                      in_align, out_align, why ? why : "no reason given");
  }
  return start(plan, &launch, from, to, stream);
}

cuttResult cutt_cuda_execute(const void *prepared, const void *in, void *out, cudaStream_t stream) {
  const cutt_gpu_plan *plan = prepared;
  bool pushed = false;
  cuttResult result = enter(plan, &pushed);
  if (result) return result;
  result = execute_here(plan, in, out, stream);
  cutt_cu_context popped = NULL;
  if (pushed && plan->cu->ctx_pop_current(&popped)) {
    cutt_log(CUTT_LOG_WARN, "the plan's context stays current in this thread: it could not be taken back");
  }
  return result;
}
