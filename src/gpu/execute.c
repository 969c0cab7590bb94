/* Preparing and executing, by the target's runtime.
 *
 * An execution asks the runtime a few questions, none of which waits: which context is current, is it still the plan's,
 * what memory the two pointers are to. Then it launches one kernel. The launch copies its arguments, so neither the plan nor
 * anything else of the library's has to outlive the call, and a graph that captures it holds all that it needs. Several
 * executions are as many launches, which ask for the context only once. */
#include "gpu/execute.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "gpu/launch.h"
#include "runtime/runtime.h"

/* Immutable once made, and in host memory only: the device gets what it needs as the arguments of a launch. */
typedef struct gpu_plan {
  const cutt_runtime *runtime;
  const cutt_kernels *kernels; /* in the context that it is for */
  cutt_canonical canonical;
  cutt_candidate candidate;
  cutt_gpu_launch ready; /* for buffers at multiples of 16 bytes, as nearly all are */
} gpu_plan;

static const cutt_kernel_list all_kernels = {CUTT_KERNEL_COUNT, cutt_gpu_kernel_source, cutt_gpu_kernel_name};

static const cutt_device *device_of(const cutt_kernels *kernels) { return (const cutt_device *)kernels->target; }

cuttResult cutt_gpu_prepare(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                            void **prepared) {
  const cutt_runtime *runtime = target->runtime;
  const cutt_kernels *kernels = NULL;
  *prepared = NULL;
  if (!runtime) return cutt_error(CUTT_INTERNAL_ERROR, "%s is only described; nothing runs there", target->name);
  const cuttResult result = runtime->kernels_find(&all_kernels, &kernels);
  if (result) return result;

  gpu_plan *plan = malloc(sizeof *plan);
  if (!plan) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan on the GPU", sizeof *plan);
  plan->runtime = runtime;
  plan->kernels = kernels;
  plan->canonical = *canonical;
  plan->candidate = *candidate;
  const char *why = NULL;
  if (!cutt_gpu_lay_out(device_of(kernels), canonical, candidate, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &plan->ready,
                        &why)) {
    free(plan);
    return cutt_error(CUTT_INTERNAL_ERROR, "a candidate can't be laid out: %s", why ? why : "no reason given");
  }
  *prepared = plan;
  return CUTT_SUCCESS;
}

void cutt_gpu_release(void *prepared) { free(prepared); }

static cuttResult start(const gpu_plan *plan, const cutt_gpu_launch *launch, void *in, void *out, cudaStream_t stream) {
  uint64_t from = (uintptr_t)in + (uint64_t)launch->in_start, to = (uintptr_t)out + (uint64_t)launch->out_start;
  void *parameters[] = {&from, &to, (void *)(uintptr_t)&launch->args}; /* which are read, and copied */
  const cutt_grid grid = {launch->blocks, launch->threads, launch->shared_bytes};
  return plan->runtime->launch(plan->kernels, (int)launch->kernel, &grid, parameters, stream);
}

static cuttResult execute_here(const gpu_plan *plan, const void *in, void *out, cudaStream_t stream) {
  const cutt_target *target = plan->kernels->target;
  void *from = NULL, *to = NULL;
  cuttResult result = plan->runtime->reach(target, in, "in", &from);
  if (!result) result = plan->runtime->reach(target, out, "out", &to);
  if (result) return result;
  const uint32_t in_align = cutt_gpu_alignment(from), out_align = cutt_gpu_alignment(to);
  if (in_align >= CUTT_GPU_ALIGNED && out_align >= CUTT_GPU_ALIGNED) return start(plan, &plan->ready, from, to, stream);
  cutt_gpu_launch launch;
  const char *why = NULL;
  if (!cutt_gpu_lay_out(device_of(plan->kernels), &plan->canonical, &plan->candidate, in_align, out_align, &launch,
                        &why)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "in is %p and out is %p, multiples of %u and %u bytes: %s", in, out,
                      in_align, out_align, why ? why : "no reason given");
  }
  return start(plan, &launch, from, to, stream);
}

cuttResult cutt_gpu_execute(const cutt_executions *e, cudaStream_t stream) {
  const gpu_plan *entered = NULL; /* the plan whose context is */
  cutt_scope scope = {NULL, false, -1};
  cuttResult result = CUTT_SUCCESS;
  for (int64_t i = 0; !result && i < e->count; ++i) {
    const gpu_plan *plan = e->prepared(e->of, i);
    if (!plan) continue;
    if (!entered || plan->kernels != entered->kernels) {
      if (entered) entered->runtime->leave(&scope);
      entered = NULL;
      result = plan->runtime->kernels_enter(plan->kernels, &scope);
      if (!result) entered = plan;
    }
    if (!result) result = execute_here(plan, e->in[0][i], e->out[i], stream);
    if (result && e->count > 1) {
      cutt_error(result, "execution %" PRId64 ", with those before it started: %s", i, cuttLastError());
    }
  }
  if (entered) entered->runtime->leave(&scope);
  return result;
}
