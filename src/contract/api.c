/* The public calls of contraction: arguments are checked, and workspace is allocated where the caller gives none. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/context.h"
#include "contract/measure.h"
#include "plan/services.h"

static const size_t first_options_size = offsetof(cuttContractionOptions_t, algorithm);
static const size_t first_info_size = offsetof(cuttContractionInfo_t, algorithm);

/* ---------------------------------------------------------------------------------------------------------------- planning */

static cuttResult read_options(const cuttContractionOptions_t *callers, cuttContractionOptions_t *options) {
  *options = (cuttContractionOptions_t)CUTT_CONTRACTION_OPTIONS_INIT;
  if (!callers) return CUTT_SUCCESS;
  const cuttResult result = cutt_struct_read(options, sizeof *options, first_options_size, callers, "options");
  if (result) return result;
  if (options->threads < 0 || options->threads > CUTT_MAX_THREADS)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->threads is %d; it must be 0 (default) to %d", options->threads,
                      CUTT_MAX_THREADS);
  if (options->choice != CUTT_PREDICT && options->choice != CUTT_MEASURE)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->choice is %ld; it must be CUTT_PREDICT or CUTT_MEASURE",
                      (long)options->choice);
  if (!(options->measure_seconds >= 0) || !isfinite(options->measure_seconds))
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->measure_seconds is %g; it must be 0 (default) or more, and finite",
                      options->measure_seconds);
  if (options->wisdom && !cutt_wisdom_alive(options->wisdom))
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->wisdom is %p, which is not alive; it must come from cuttWisdomCreate",
                      (void *)options->wisdom);
  return CUTT_SUCCESS;
}

/* The algorithm that the options name, and the library for its products. Half types and whole numbers have none on the CPU, and
 * need none. */
static cuttResult find_family(struct cuttContractionStruct *plan, const cuttContractionOptions_t *options,
                              const cutt_backend *backend) {
  const char *name = options->algorithm;
  const cuttType_t type = plan->asked.type->type;
  const bool host = !backend->runtime->has_streams;
  plan->family = !name ? CUTT_FAMILY_ANY : strcmp(name, "one-pass") == 0 ? CUTT_FAMILY_PASS : CUTT_FAMILY_TTGT;
  if (name && plan->family == CUTT_FAMILY_TTGT && strcmp(name, "ttgt") != 0)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->algorithm is '%.40s'; it must be ttgt or one-pass", name);
  if (plan->asked.reduce) {
    const char *word = cutt_operator_names[plan->asked.reduce];
    if (plan->family == CUTT_FAMILY_TTGT || options->provider)
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "reduce is %s, which is done in one pass and not by matrix products; options->%s must be %s",
                        word, options->provider ? "provider" : "algorithm",
                        options->provider ? "NULL" : "NULL or one-pass");
    plan->family = CUTT_FAMILY_PASS;
    return CUTT_SUCCESS;
  }
  if (!host && plan->asked.right_is_one && (plan->family == CUTT_FAMILY_TTGT || options->provider))
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "pattern has one operand, which %s contracts in one pass; for products there must be two, and the "
        "second may be a scalar 1: \"ab,->a\"",
        backend->name);
  const bool products = type == CUTT_F32 || type == CUTT_F64 || type == CUTT_C32 || type == CUTT_C64;
  if (plan->family == CUTT_FAMILY_ANY && options->provider) plan->family = CUTT_FAMILY_TTGT;
  const bool whole = type == CUTT_I32 || type == CUTT_I64;
  if (plan->family == CUTT_FAMILY_ANY && (host ? !products : whole || plan->asked.right_is_one))
    plan->family = CUTT_FAMILY_PASS;
  if (plan->family == CUTT_FAMILY_PASS && !options->provider) return CUTT_SUCCESS;
  return cutt_blas_find(backend->id, options->provider, "options->provider", type, &plan->blas);
}

/* On a device with contexts, the one that the calling thread works in, which is entered for the time of the call. */
static cuttResult enter(const cutt_runtime *runtime, cutt_scope *scope, cutt_context *context) {
  if (!runtime->enter) return CUTT_SUCCESS;
  cuttResult result = runtime->enter(scope);
  if (result) return result;
  result = runtime->context(context);
  if (result) runtime->leave(scope);
  return result;
}

cuttResult cutt_contraction_enter(const struct cuttContractionStruct *plan, cutt_scope *scope) {
  const cutt_runtime *runtime = plan->backend->runtime;
  cutt_context context = {NULL, 0};
  const cuttResult result = enter(runtime, scope, &context);
  if (result || context.number == plan->context) return result;
  runtime->leave(scope);
  return cutt_error(CUTT_INVALID_DEVICE, "the plan is for context number %llu, and the current one is number %llu",
                    plan->context, context.number);
}

void cutt_contraction_leave(const struct cuttContractionStruct *plan, const cutt_scope *scope) {
  if (plan->backend->runtime->leave) plan->backend->runtime->leave(scope);
}

static cuttResult fill(struct cuttContractionStruct *plan, const cuttContraction_t *contraction,
                       const cuttContractionOptions_t *callers) {
  if (!contraction)
    return cutt_error(CUTT_INVALID_PARAMETER, "contraction is NULL; it must point to a cuttContraction_t");
  cuttContractionOptions_t options;
  const cutt_backend *backend = NULL;
  cuttResult result = cutt_contraction_check(contraction, &plan->asked);
  if (!result) result = read_options(callers, &options);
  if (!result) result = cutt_backend_select(options.backend, "options->backend", &backend);
  if (result) return result;
  cutt_scope scope;
  cutt_context context = {NULL, 0};
  result = enter(backend->runtime, &scope, &context);
  if (result) return result;
  result = find_family(plan, &options, backend);
  if (!result) {
    const int64_t limit = options.workspace_limit > (size_t)INT64_MAX ? INT64_MAX : (int64_t)options.workspace_limit;
    const int threads = backend->runtime->has_streams ? 1 : options.threads ? options.threads : cutt_team_default();
    const cutt_measuring how = {options.choice, options.measure_seconds, options.wisdom};
    result = how.choice == CUTT_MEASURE || how.wisdom
                 ? cutt_contraction_prepare_measured(plan, backend, plan->blas, threads, limit, &how)
                 : cutt_contraction_prepare(plan, backend, plan->blas, threads, limit);
  }
  plan->context = context.number;
  if (backend->runtime->leave) backend->runtime->leave(&scope);
  return result;
}

cuttResult cuttContractionPlanCreate(cuttContractionPlan_t *plan, const cuttContraction_t *contraction,
                                     const cuttContractionOptions_t *options) {
  const double start = cutt_clock();
  if (!plan) return cutt_error(CUTT_INVALID_PARAMETER, "plan is NULL; it must point to a cuttContractionPlan_t");
  *plan = NULL;
  struct cuttContractionStruct *made = calloc(1, sizeof *made);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
  const cuttResult result = fill(made, contraction, options);
  if (result) {
    cutt_contraction_release(made);
    free(made);
    return result;
  }
  cutt_contraction_set_alive(made, true);
  made->create_seconds = cutt_clock() - start;
  *plan = made;
  return CUTT_SUCCESS;
}

cuttResult cuttContractionPlanDestroy(cuttContractionPlan_t plan) {
  if (!plan) return CUTT_SUCCESS;
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  cutt_contraction_set_alive(plan, false);
  cutt_contraction_release(plan);
  free(plan);
  return CUTT_SUCCESS;
}

cuttResult cuttContractionDestroy(cuttContractionPlan_t plan) { return cuttContractionPlanDestroy(plan); }

cuttResult cuttContractionWorkspace(cuttContractionPlan_t plan, size_t *bytes) {
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  if (!bytes) return cutt_error(CUTT_INVALID_PARAMETER, "bytes is NULL; it must point to a size_t");
  *bytes = plan->workspace_bytes;
  return CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------------- executing */

/* What an execution is given, checked. */
typedef struct request {
  cutt_operands operands;
  cudaStream_t stream;
  /* Workspace that was allocated for this execution, or NULL. */
  void *own;
  cutt_scope scope;
} request;

static const char *const tensor_name[CUTT_TENSORS] = {"left", "right", "result"};

static cuttResult check_overlap(const cutt_contraction *c, const void *const *tensor) {
  const uintptr_t low = (uintptr_t)tensor[CUTT_RESULT] + (uintptr_t)c->low[CUTT_RESULT];
  const uintptr_t high = (uintptr_t)tensor[CUTT_RESULT] + (uintptr_t)c->high[CUTT_RESULT];
  for (int t = 0; t < 2; ++t) {
    const uintptr_t from = (uintptr_t)tensor[t] + (uintptr_t)c->low[t],
                    to = (uintptr_t)tensor[t] + (uintptr_t)c->high[t];
    if (from >= high || low >= to || c->alpha_is_zero || (t == CUTT_RIGHT && c->right_is_one)) continue;
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s spans bytes [0x%" PRIxPTR ", 0x%" PRIxPTR ") and result [0x%" PRIxPTR ", 0x%" PRIxPTR
                      "), which overlap; the result must have memory of its own",
                      tensor_name[t], from, to, low, high);
  }
  return CUTT_SUCCESS;
}

/* Memory that the plan's device reaches, and its address there. */
static cuttResult reach(const struct cuttContractionStruct *plan, const void *memory, const char *name, void **at) {
  const cutt_runtime *runtime = plan->backend->runtime;
  *at = (void *)(uintptr_t)memory;
  return runtime->reach ? runtime->reach(runtime->target(), memory, name, at)
                        : cutt_memory_look(plan->backend, memory, name);
}

static cuttResult check_tensors(const struct cuttContractionStruct *plan, request *r, const void *const *tensor) {
  const cutt_contraction *c = &plan->asked;
  void *at[CUTT_TENSORS] = {NULL, NULL, NULL};
  if (c->empty) return CUTT_SUCCESS;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (t != CUTT_RESULT && (c->no_terms || c->high[t] == c->low[t])) continue;
    if (t == CUTT_RIGHT && c->right_is_one) continue;
    if (!tensor[t])
      return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to element (0, ..., 0)", tensor_name[t]);
    if (cutt_contraction_on_gpu(plan) && (uintptr_t)tensor[t] % (uintptr_t)c->type->bytes)
      return cutt_error(CUTT_INVALID_PARAMETER, "%s is %p; on a GPU it must be a multiple of the element's %d bytes",
                        tensor_name[t], tensor[t], c->type->bytes);
    const cuttResult result = reach(plan, tensor[t], tensor_name[t], &at[t]);
    if (result) return result;
  }
  r->operands = (cutt_operands){.operand = {at[CUTT_LEFT], at[CUTT_RIGHT]}, .result = at[CUTT_RESULT]};
  return c->no_terms ? CUTT_SUCCESS : check_overlap(c, tensor);
}

/* Allocates workspace: in order with the stream, where there is one. */
static cuttResult take_workspace(const struct cuttContractionStruct *plan, request *r) {
  const cutt_runtime *runtime = plan->backend->runtime;
  return runtime->stream_allocate ? runtime->stream_allocate(plan->workspace_bytes, r->stream, &r->own)
                                  : runtime->memory_allocate(plan->workspace_bytes, &r->own);
}

static void give_back(const struct cuttContractionStruct *plan, const request *r) {
  const cutt_runtime *runtime = plan->backend->runtime;
  if (!r->own) return;
  if (runtime->stream_free)
    runtime->stream_free(r->own, r->stream);
  else
    runtime->memory_free(r->own);
}

/* Memory that a graph's executions use again and again can't be the library's to free; and what is timed has to run. */
static cuttResult refuse_capture(const struct cuttContractionStruct *plan, cudaStream_t stream, bool is_timed) {
  bool captured = false;
  if (!plan->backend->runtime->has_streams) return CUTT_SUCCESS;
  const cuttResult result = plan->backend->runtime->stream_is_captured(stream, &captured);
  if (result || !captured) return result;
  if (is_timed)
    return cutt_error(CUTT_INVALID_PARAMETER, "stream is %p, which is being captured; timing has to run something",
                      (void *)stream);
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "workspace is NULL and stream is %p, which is being captured; a graph needs %zu bytes of workspace "
                    "that are the caller's, as cuttContractionWorkspace says",
                    (void *)stream, plan->workspace_bytes);
}

static cuttResult find_workspace(const struct cuttContractionStruct *plan, request *r, void *workspace, size_t bytes) {
  const size_t alignment = cutt_contraction_on_gpu(plan) ? CUTT_WORKSPACE_ALIGNMENT : 64;
  if (!workspace && bytes)
    return cutt_error(CUTT_INVALID_PARAMETER, "workspace is NULL and workspace_bytes is %zu; it must be 0 then", bytes);
  r->operands.workspace = (unsigned char *)(uintptr_t)plan; /* never used: offsets of 0 may be added to it */
  if (plan->workspace_bytes == 0) return CUTT_SUCCESS;
  if (workspace && bytes < plan->workspace_bytes)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "workspace_bytes is %zu; it must be %zu, as cuttContractionWorkspace says, or more", bytes,
                      plan->workspace_bytes);
  if (workspace && (uintptr_t)workspace % alignment)
    return cutt_error(CUTT_INVALID_PARAMETER, "workspace is %p; it must be a multiple of %zu", workspace, alignment);
  if (workspace) {
    void *at = NULL;
    const cuttResult result = reach(plan, workspace, "workspace", &at);
    r->operands.workspace = at;
    return result;
  }
  cuttResult result = refuse_capture(plan, r->stream, false);
  if (!result) result = take_workspace(plan, r);
  r->operands.workspace = r->own;
  return result;
}

/* Enters the plan's context; on success close_request must follow. */
static cuttResult open_request(const struct cuttContractionStruct *plan, request *r, const void *const *tensor,
                               void *workspace, size_t bytes) {
  cuttResult result = cutt_contraction_enter(plan, &r->scope);
  if (result) return result;
  if (!plan->backend->runtime->has_streams) result = cutt_stream_check(plan->backend, r->stream, "stream");
  if (!result) result = check_tensors(plan, r, tensor);
  if (!result) result = find_workspace(plan, r, workspace, bytes);
  if (result) cutt_contraction_leave(plan, &r->scope);
  return result;
}

static void close_request(const struct cuttContractionStruct *plan, const request *r) {
  give_back(plan, r);
  cutt_contraction_leave(plan, &r->scope);
}

cuttResult cuttContractionExecute(cuttContractionPlan_t plan, const void *left, const void *right, void *result,
                                  void *workspace, size_t workspace_bytes, cudaStream_t stream) {
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  const void *const tensor[CUTT_TENSORS] = {left, right, result};
  request r = {.stream = stream};
  cuttResult code = open_request(plan, &r, tensor, workspace, workspace_bytes);
  if (code) return code;
  code = cutt_contraction_run(plan, &r.operands, stream, NULL);
  close_request(plan, &r);
  return code;
}

cuttResult cuttContract(const cuttContraction_t *contraction, const cuttContractionOptions_t *options, const void *left,
                        const void *right, void *result, cudaStream_t stream) {
  cuttContractionPlan_t plan = NULL;
  cuttResult code = cuttContractionPlanCreate(&plan, contraction, options);
  if (code) return code;
  code = cuttContractionExecute(plan, left, right, result, NULL, 0, stream);
  cuttContractionPlanDestroy(plan);
  return code;
}

/* ------------------------------------------------------------------------------------------------------------------ timing */

static cuttResult time_once(const struct cuttContractionStruct *plan, const request *r, cuttContractionTimes_t *times) {
  const cutt_execution what = {plan, &r->operands};
  cutt_steps steps = {0, 0};
  cuttResult result = CUTT_SUCCESS;
  if (cutt_contraction_on_gpu(
          plan)) { /* timing the steps means to wait for each, so the total is timed in another execution */
    result = plan->backend->runtime->time(&(cutt_work){cutt_execution_run, &what}, r->stream, 1, &times->total);
    if (!result) result = cutt_contraction_run(plan, &r->operands, r->stream, &steps);
  } else {
    const double start = cutt_clock();
    result = cutt_contraction_run(plan, &r->operands, r->stream, &steps);
    times->total = cutt_clock() - start;
  }
  times->permute = steps.permute;
  times->gemm = steps.multiply;
  return result;
}

cuttResult cutt_contraction_check_count(int count, const void *list, const char *name) {
  if (count < 1) return cutt_error(CUTT_INVALID_PARAMETER, "count is %d; it must be 1 or more", count);
  if (list) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to count = %d of them", name, count);
}

cuttResult cuttContractionTime(cuttContractionPlan_t plan, const void *left, const void *right, void *result,
                               void *workspace, size_t workspace_bytes, cudaStream_t stream, int count,
                               cuttContractionTimes_t *times) {
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  cuttResult code = cutt_contraction_check_count(count, times, "times");
  if (code) return code;
  const void *const tensor[CUTT_TENSORS] = {left, right, result};
  request r = {.stream = stream};
  code = open_request(plan, &r, tensor, workspace, workspace_bytes);
  if (code) return code;
  cuttContractionTimes_t warm_up;
  code = refuse_capture(plan, stream, true);
  if (!code) code = time_once(plan, &r, &warm_up);
  for (int i = 0; i < count && !code; ++i) code = time_once(plan, &r, &times[i]);
  close_request(plan, &r);
  return code;
}

/* ------------------------------------------------------------------------------------------------------------- what it is */

cuttResult cuttContractionGetInfo(cuttContractionPlan_t plan, cuttContractionInfo_t *info) {
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult code = cutt_info_check(info, first_info_size, sizeof *info, "cuttContractionInfo_t");
  if (code) return code;
  const cutt_block *block = plan->kind[0];
  int64_t extent[CUTT_ROLES];
  cutt_contraction_sizes(cutt_plan_whole(plan), extent);
  const double left = (double)plan->asked.volume[CUTT_LEFT], right = (double)plan->asked.volume[CUTT_RIGHT];
  const double volume = (double)plan->asked.volume[CUTT_RESULT];
  cuttContractionInfo_t own = {
      .backend = plan->backend->id,
      .provider = cutt_plan_provider(plan),
      .threads = plan->threads,
      .m = extent[CUTT_ROLE_M],
      .n = extent[CUTT_ROLE_N],
      .k = extent[CUTT_ROLE_K],
      .batch = extent[CUTT_ROLE_BATCH],
      .pieces = plan->pass          ? plan->pass->items
                : plan->device_pass ? plan->device_pass->tiles
                : block             ? plan->cost.result_blocks * plan->cost.k_blocks
                                    : 0,
      .workspace_bytes = plan->workspace_bytes,
      .flops = cutt_plan_flops(plan),
      .intensity = volume + left + right > 0 ? 2 * sqrt(volume * left * right) / (volume + left + right) : 0,
      .predicted_seconds = cutt_plan_seconds(plan),
      .predicted_permute_seconds = cutt_plan_permute_seconds(plan),
      .create_seconds = plan->create_seconds,
      .algorithm = cutt_plan_algorithm(plan),
      .measured_seconds = plan->measured_seconds,
  };
  own.permutes_left = plan->reduce[CUTT_LEFT] || plan->move[CUTT_LEFT];
  own.permutes_right = plan->reduce[CUTT_RIGHT] || plan->move[CUTT_RIGHT];
  own.permutes_result = plan->move[CUTT_RESULT] != NULL;
  if (block) {
    own.permutes_left = plan->algorithm.packed[CUTT_LEFT] || plan->reduce[CUTT_LEFT];
    own.permutes_right = plan->algorithm.packed[CUTT_RIGHT] || plan->reduce[CUTT_RIGHT];
    own.permutes_result = plan->algorithm.packed[CUTT_RESULT];
    own.gemm_m = block->gemm.m;
    own.gemm_n = block->gemm.n;
    own.gemm_k = block->gemm.k;
    own.gemm_count = cutt_plan_products(plan);
  }
  if (plan->parts) own.permutes_result = 1;
  cutt_info_write(info, &own, sizeof own);
  return CUTT_SUCCESS;
}
