/* The paper's four calls, with the original library's signatures, on the table of handles. */
#include "base/error.h"
#include "plan/arguments.h"
#include "plan/handles.h"

/* --------------------------------------------------------------------------------------------------------- planning */

static cuttResult check_arguments(const cuttHandle *handle, int rank, const int *dim, const int *permutation,
                                  size_t sizeofType) {
  if (!handle) return cutt_error(CUTT_INVALID_PARAMETER, "handle is NULL; it must point to a cuttHandle");
  if (rank < 1 || rank > CUTT_MAX_RANK) {
    return cutt_error(CUTT_INVALID_PARAMETER, "rank is %d; it must be 1 to %d", rank, CUTT_MAX_RANK);
  }
  if (!dim || !permutation) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to rank = %d entries",
                      dim ? "permutation" : "dim", rank);
  }
  uint64_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    if (dim[i] < 1) return cutt_error(CUTT_INVALID_PARAMETER, "dim[%d] is %d; it must be 1 or more", i, dim[i]);
    if (permutation[i] < 0 || permutation[i] >= rank || (seen & UINT64_C(1) << permutation[i])) {
      return cutt_error(CUTT_INVALID_PARAMETER, "permutation[%d] is %d; each of 0 to %d must be there once", i,
                        permutation[i], rank - 1);
    }
    seen |= UINT64_C(1) << permutation[i];
  }
  if (sizeofType != 1 && sizeofType != 2 && sizeofType != 4 && sizeofType != 8 && sizeofType != 16) {
    return cutt_error(CUTT_INVALID_PARAMETER, "sizeofType is %zu; it must be 1, 2, 4, 8 or 16", sizeofType);
  }
  return CUTT_SUCCESS;
}

/* The problem, with its extents where there is room for them. */
static cuttProblem_t problem_of(const cutt_packed *packed, int64_t extents[CUTT_MAX_RANK]) {
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  for (int i = 0; i < packed->rank; ++i) extents[i] = packed->dim[i];
  problem.rank = packed->rank;
  problem.type = (cuttType_t)packed->bytes; /* CUTT_BYTES_n is n */
  problem.extents = extents;
  problem.perm = packed->permutation;
  return problem;
}

static cuttResult plan_anew(const cutt_packed *packed, const cuttOptions_t *options, const cutt_handle_key *key,
                            cuttHandle *handle) {
  int64_t extents[CUTT_MAX_RANK];
  const cuttProblem_t problem = problem_of(packed, extents);
  cuttPlan_t plan = NULL;
  const cuttResult result = cuttPlanCreate(&plan, &problem, options);
  return result ? result : cutt_handle_enter(key, plan, packed->stream, handle);
}

/* ------------------------------------------------------------------------------------------------- plans that are held */

/* Makes a plan that was set aside again, with the candidate that it had. */
static cuttResult make_again(cuttHandle handle, cutt_held *held) {
  int dim[CUTT_MAX_RANK], permutation[CUTT_MAX_RANK];
  int64_t extents[CUTT_MAX_RANK];
  cutt_packed packed;
  const cutt_plan_remains *remains = cutt_held_remains(held, dim, permutation, &packed);
  const cuttProblem_t problem = problem_of(&packed, extents);
  cutt_entered entered = {.runtime = NULL};
  cuttResult result = CUTT_SUCCESS;
  if (remains->backend->runtime->context) {
    uint64_t device[CUTT_KEPT_DEVICE_WORDS];
    result = cutt_backend_enter(remains->backend->id, "the plan's backend", held->stream, "stream", &entered);
    if (result) return result;
    if (!cutt_kept_device(entered.backend, device) || !cutt_held_is_of(held, device)) {
      result =
          cutt_error(CUTT_INVALID_DEVICE,
                     "handle is %u, whose plan is of another CUDA context than the current one; it was not executed "
                     "for long and must be made again, so its context must be current",
                     handle);
    }
  }
  cuttPlan_t plan = NULL;
  if (!result) result = cutt_plan_again(&plan, &problem, remains);
  cutt_backend_leave(&entered);
  if (!result) cutt_held_restore(held, plan);
  return result;
}

/* A handle's plan, for the time of a call. */
static cuttResult hold(cuttHandle handle, cutt_held *held) {
  cuttResult result = cutt_handle_hold(handle, held);
  if (result || held->plan) return result;
  result = make_again(handle, held);
  if (result) cutt_handle_release(held);
  return result;
}

/* --------------------------------------------------------------------------------------------------------- planning */

/* What measuring would have refused. */
static cuttResult check_measured(cuttHandle handle, const cuttOptions_t *options) {
  cutt_held held;
  cuttResult result = hold(handle, &held);
  if (result) return result;
  result = cutt_buffers_check(&held.plan->canonical, options->measure_in, options->measure_out, "idata", "odata");
  if (!result) result = cutt_memory_check(held.plan->backend, options->measure_in, "idata");
  if (!result) result = cutt_memory_check(held.plan->backend, options->measure_out, "odata");
  cutt_handle_release(&held);
  return result;
}

/* By the model where there are no options. Where a thread has no context, planning is in the stream's (see cutt.h), like the
 * search for a plan that is there. */
static cuttResult plan_packed(cuttHandle *handle, const cutt_packed *packed, const cuttOptions_t *options) {
  cuttResult result = check_arguments(handle, packed->rank, packed->dim, packed->permutation, packed->bytes);
  if (result) return result;
  cutt_entered entered;
  result = cutt_backend_enter(CUTT_BACKEND_AUTO, "the backend", packed->stream, "stream", &entered);
  if (result) return result;
  cutt_handle_key key;
  cuttHandle given = 0;
  cutt_handle_key_of(packed, entered.backend, &key);
  if (!cutt_handle_again(&key, &given)) {
    result = plan_anew(packed, options, &key, handle);
  } else {
    if (options) result = check_measured(given, options);
    if (result) {
      cuttDestroy(given);
    } else {
      *handle = given;
    }
  }
  cutt_backend_leave(&entered);
  return result;
}

cuttResult cuttPlan(cuttHandle *handle, int rank, const int *dim, const int *permutation, size_t sizeofType,
                    cudaStream_t stream) {
  return plan_packed(handle, &(cutt_packed){rank, dim, permutation, sizeofType, stream, false}, NULL);
}

static cuttResult refuse_null(const void *idata) {
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to the first element",
                    idata ? "odata" : "idata");
}

cuttResult cuttPlanMeasure(cuttHandle *handle, int rank, const int *dim, const int *permutation, size_t sizeofType,
                           cudaStream_t stream, const void *idata, void *odata) {
  if (!idata || !odata) return refuse_null(idata);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  options.measure_in = idata;
  options.measure_out = odata;
  options.measure_stream = stream;
  return plan_packed(handle, &(cutt_packed){rank, dim, permutation, sizeofType, stream, true}, &options);
}

/* ------------------------------------------------------------------------------------------------ execution and end */

cuttResult cuttExecute(cuttHandle handle, const void *idata, void *odata) {
  cutt_held held;
  cuttResult result = hold(handle, &held);
  if (result) return result;
  result = idata && odata ? cuttPlanExecute(held.plan, idata, odata, held.stream) : refuse_null(idata);
  cutt_handle_release(&held);
  return result;
}

/* With a scalar at least. */
static cuttResult execute_scaled(cuttHandle handle, const cutt_held *held, const void *idata, void *odata,
                                 const void *alpha, const void *beta) {
  const struct cuttPlanStruct *plan = held->plan;
  if (!idata || !odata) return refuse_null(idata);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = plan->problem.rank;
  problem.type = plan->problem.type == CUTT_BYTES_4 ? CUTT_F32 : CUTT_F64;
  problem.extents = plan->problem.extents;
  problem.perm = plan->problem.perm;
  problem.alpha = alpha;
  problem.beta = beta;
  if (plan->problem.type != CUTT_BYTES_4 && plan->problem.type != CUTT_BYTES_8) {
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "%s is given, and handle %u is of elements of %d bytes; with a scalar they must be of 4 (float) or "
        "8 (double): for other types there is cuttPlanCreate",
        alpha ? "alpha" : "beta", handle, (int)plan->problem.type);
  }
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = plan->backend->id;
  cutt_entered entered;
  cuttResult result = cutt_backend_enter(options.backend, "the plan's backend", held->stream, "stream", &entered);
  if (result) return result;
  result = cuttPermute(&problem, &options, idata, odata, held->stream);
  cutt_backend_leave(&entered);
  return result;
}

cuttResult cuttExecuteScaled(cuttHandle handle, const void *idata, void *odata, const void *alpha, const void *beta) {
  if (!alpha && !beta) return cuttExecute(handle, idata, odata);
  cutt_held held;
  cuttResult result = hold(handle, &held);
  if (result) return result;
  result = execute_scaled(handle, &held, idata, odata, alpha, beta);
  cutt_handle_release(&held);
  return result;
}

cuttResult cuttDestroy(cuttHandle handle) { return cutt_handle_drop(handle); }

void cuttInitialize(void) {}

void cuttFinalize(void) { cutt_kept_clear(); }
