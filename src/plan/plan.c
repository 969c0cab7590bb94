/* Plans: create, execute, destroy, ask.
 *
 * A plan is one block of memory and what the backend prepared. Nothing in it changes after creation, so that any number
 * of threads may execute it at once; an execution is a few comparisons here and then the backend. */
#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/combine.h"
#include "plan/described.h"
#include "plan/far.h"
#include "plan/problem.h"
#include "store/device_file.h"
#include "store/wisdom.h"

/* Notices most pointers that are not a plan, or no longer. */
static const uint64_t alive = UINT64_C(0x6375747420706c61), dead = UINT64_C(0xdeaddeaddeaddead);

/* Sizes of the structs in the first version that had them: when a struct grows, its entry here becomes the place of the
 * first field that was added. */
static const size_t first_options_size = offsetof(cuttOptions_t, measure_stream);
static const size_t first_info_size = sizeof(cuttPlanInfo_t);

bool cutt_plan_is_alive(const struct cuttPlanStruct *plan) { return plan && plan->magic == alive; }

cuttResult cutt_plan_refuse(const struct cuttPlanStruct *plan, const char *name) {
  return cutt_error(CUTT_INVALID_PLAN, "%s is %p, which %s", name, (const void *)plan,
                    !plan                 ? "is NULL; it must come from cuttPlanCreate"
                    : plan->magic == dead ? "has been destroyed"
                                          : "is not a plan; it must come from cuttPlanCreate");
}

bool cutt_plan_alive(const struct cuttPlanStruct *plan) {
  if (cutt_plan_is_alive(plan)) return true;
  cutt_plan_refuse(plan, "plan");
  return false;
}

cuttResult cutt_plan_check_executable(const struct cuttPlanStruct *plan) {
  if (!plan->described_only) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_DEVICE,
                    "the plan was made with options->device, for %s; it can be described and not executed",
                    plan->target->name);
}

int64_t cutt_bytes_moved(const cutt_canonical *canonical) {
  /* Each factor was checked by itself; the sum of three may still pass the largest number. */
  int64_t bytes = 0;
  const int passes = canonical->scale.reads_out ? 3 : 2;
  if (__builtin_mul_overflow(canonical->volume, (int64_t)canonical->elem_bytes * passes, &bytes)) return INT64_MAX;
  return bytes;
}

static cuttResult read_options(const cuttOptions_t *callers, cuttOptions_t *options) {
  if (!callers) {
    *options = (cuttOptions_t)CUTT_OPTIONS_INIT;
    return CUTT_SUCCESS;
  }
  const cuttResult result = cutt_struct_read(options, sizeof *options, first_options_size, callers, "options");
  if (result) return result;
  if (options->threads < 0 || options->threads > CUTT_MAX_THREADS) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->threads is %d; it must be 0 (default) to %d", options->threads,
                      CUTT_MAX_THREADS);
  }
  if (options->choice != CUTT_PREDICT && options->choice != CUTT_MEASURE) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->choice is %ld; it must be CUTT_PREDICT or CUTT_MEASURE",
                      (long)options->choice);
  }
  if (!(options->measure_seconds >= 0) || !isfinite(options->measure_seconds)) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->measure_seconds is %g; it must be 0 (default) or more, and finite",
                      options->measure_seconds);
  }
  if (options->candidate < 0) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->candidate is %d; it must be 0 (choose) or more",
                      options->candidate);
  }
  if (options->model != CUTT_MODEL && options->model != CUTT_MODEL_PAPER) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->model is %ld; it must be CUTT_MODEL or CUTT_MODEL_PAPER",
                      (long)options->model);
  }
  if (options->trust_pointers != 0 && options->trust_pointers != 1) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->trust_pointers is %d; it must be 0 or 1",
                      options->trust_pointers);
  }
  if (options->device && options->choice == CUTT_MEASURE) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->device is '%s' and options->choice is CUTT_MEASURE; only the device at hand can be "
                      "measured: options->device must be NULL",
                      options->device);
  }
  if (options->device && options->wisdom) {
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "options->device is '%s' and options->wisdom is given; wisdom is of the device at hand: one of the "
        "two must be NULL",
        options->device);
  }
  if (!options->measure_in != !options->measure_out) {
    return cutt_error(CUTT_INVALID_PARAMETER, "options->%s is NULL and options->%s is not; give both or neither",
                      options->measure_in ? "measure_out" : "measure_in",
                      options->measure_in ? "measure_in" : "measure_out");
  }
  if (options->wisdom && !cutt_wisdom_alive(options->wisdom)) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->wisdom is %p, which is not alive; it must come from cuttWisdomCreate",
                      (void *)options->wisdom);
  }
  return CUTT_SUCCESS;
}

/* Of a problem that is known to be valid. */
static void keep_problem(const cuttProblem_t *problem, cutt_user_problem *kept) {
  const size_t rank = (size_t)problem->rank;
  kept->rank = problem->rank;
  kept->type = problem->type;
  kept->in_strided = rank && problem->in_strides;
  kept->out_strided = rank && problem->out_strides;
  if (rank) memcpy(kept->extents, problem->extents, rank * sizeof *kept->extents);
  if (rank) memcpy(kept->perm, problem->perm, rank * sizeof *kept->perm);
  if (kept->in_strided) memcpy(kept->in_strides, problem->in_strides, rank * sizeof *kept->in_strides);
  if (kept->out_strided) memcpy(kept->out_strides, problem->out_strides, rank * sizeof *kept->out_strides);
}

/* The device at hand, or one that is described. */
static cuttResult find_target(struct cuttPlanStruct *plan, const cuttOptions_t *options) {
  plan->own_target = NULL;
  plan->described_only = options->device != NULL;
  if (plan->described_only) {
    const cuttResult result =
        cutt_target_described(options->device, options->backend, &plan->backend, &plan->target, &plan->own_target);
    if (result) return result;
    plan->isa = plan->target->name;
  } else {
    cuttResult result = cutt_backend_select(options->backend, "options->backend", &plan->backend);
    if (result) return result;
    plan->target = plan->backend->runtime->target();
    plan->isa = plan->backend->runtime->isa();
    result = cutt_device_file_check(plan->target);
    if (result) return result;
  }
  plan->model = options->model == CUTT_MODEL_PAPER ? CUTT_MODEL_IS_PAPER : CUTT_MODEL_IS_OWN;
  if (plan->model == CUTT_MODEL_IS_OWN || plan->backend->methods->paper_seconds) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "options->model is CUTT_MODEL_PAPER, which is a model of GPUs; it must be CUTT_MODEL on %s",
                    plan->backend->id_name);
}

static cutt_task task_of(const struct cuttPlanStruct *plan) {
  return (cutt_task){plan->backend, plan->target, plan->model, &plan->canonical, plan->threads, plan->described_only};
}

int cutt_plan_candidates(const struct cuttPlanStruct *plan, cutt_candidate *list, int max) {
  const cutt_task task = task_of(plan);
  return cutt_candidates(&task, list, max);
}

/* All of creation after the options are read, in the context that the plan is for. */
static cuttResult fill_there(struct cuttPlanStruct *plan, const cuttProblem_t *problem, const cuttOptions_t *options) {
  cuttResult result = find_target(plan, options);
  if (!result) result = cutt_stream_check(plan->backend, options->measure_stream, "options->measure_stream");
  if (result) return result;
  plan->threads = options->threads;
  plan->trusted = options->trust_pointers != 0;
  keep_problem(problem, &plan->problem);
  if (plan->canonical.volume == 0) {
    plan->choice = (cutt_choice){.candidate = {.method = CUTT_METHOD_COPY, .threads = 1}, .by = CUTT_BY_MODEL};
    return CUTT_SUCCESS;
  }
  const cutt_task task = task_of(plan);
  return cutt_choose(&task, options, &plan->choice);
}

/* All of creation but the memory of the plan itself. On failure own_target, if any, is still the caller's to free. */
static cuttResult fill(struct cuttPlanStruct *plan, const cuttProblem_t *problem, const cuttOptions_t *callers,
                       bool far, int64_t whole_bytes) {
  plan->own_target = NULL;
  cuttResult result = cutt_canonicalize(problem, &plan->canonical);
  if (result) return result;
  plan->canonical.far = far;
  plan->canonical.whole_bytes = whole_bytes;
  cuttOptions_t options;
  result = read_options(callers, &options);
  if (result) return result;
  cutt_entered entered = {.runtime = NULL};
  if (options.measure_stream && !options.device) {
    result = cutt_backend_enter(options.backend, "options->backend", options.measure_stream, "options->measure_stream",
                                &entered);
    if (result) return result;
  }
  result = fill_there(plan, problem, &options);
  cutt_backend_leave(&entered);
  return result;
}

static cuttResult create(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options, bool far,
                         int64_t whole_bytes) {
  const double start = cutt_clock();
  if (!plan) return cutt_error(CUTT_INVALID_PARAMETER, "plan is NULL; it must point to a cuttPlan_t");
  *plan = NULL;
  struct cuttPlanStruct *made = malloc(sizeof *made);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
  const cuttResult result = fill(made, problem, options, far, whole_bytes);
  if (result) {
    free(made->own_target);
    free(made);
    return result;
  }
  made->magic = alive;
  made->create_seconds = cutt_clock() - start;
  cutt_log(CUTT_LOG_DEBUG, "plan: %s on %s, rank %d of %d-byte elements, %d threads, made in %.3g us",
           cutt_method_name[made->choice.candidate.method], made->backend->name, made->canonical.rank,
           made->canonical.elem_bytes, made->choice.candidate.threads, made->create_seconds * 1e6);
  *plan = made;
  return CUTT_SUCCESS;
}

cuttResult cuttPlanCreate(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options) {
  return create(plan, problem, options, false, 0);
}

cuttResult cutt_plan_create_far(cuttPlan_t *plan, const cuttProblem_t *problem, const cuttOptions_t *options, bool far,
                                int64_t whole_bytes, cutt_far_seconds *seconds) {
  cutt_explanation e;
  const cuttResult result = create(plan, problem, options, far, whole_bytes);
  *seconds = (cutt_far_seconds){0, 0, 0};
  if (result || (*plan)->canonical.volume == 0) return result;
  const struct cuttPlanStruct *made = *plan;
  made->backend->methods->explain(made->target, &made->canonical, &made->choice.candidate, &e);
  seconds->here = cutt_breakdown_seconds(&e.breakdown, cutt_target_values(made->target, made->backend->schema->value));
  seconds->link = e.link_seconds;
  seconds->least_link = e.least_link_seconds;
  return CUTT_SUCCESS;
}

cutt_plan_remains cutt_plan_remains_of(const struct cuttPlanStruct *plan) {
  cutt_plan_remains remains = {plan->backend, plan->target, plan->isa, plan->choice};
  remains.choice.prepared = NULL;
  return remains;
}

cuttResult cutt_plan_again(cuttPlan_t *plan, const cuttProblem_t *problem, const cutt_plan_remains *remains) {
  const double start = cutt_clock();
  *plan = NULL;
  struct cuttPlanStruct *made = malloc(sizeof *made);
  if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
  made->backend = remains->backend;
  made->target = remains->target;
  made->own_target = NULL;
  made->described_only = made->trusted = false;
  made->model = CUTT_MODEL_IS_OWN;
  made->isa = remains->isa;
  made->threads = 0;
  made->choice = remains->choice;
  cuttResult result = cutt_canonicalize(problem, &made->canonical);
  if (!result) {
    keep_problem(problem, &made->problem);
    result = made->backend->methods->prepare(made->target, &made->canonical, &made->choice.candidate,
                                             &made->choice.prepared);
  }
  if (result) {
    free(made);
    return result;
  }
  made->magic = alive;
  made->create_seconds = cutt_clock() - start;
  *plan = made;
  return CUTT_SUCCESS;
}

cuttResult cuttPlanExecute(cuttPlan_t plan, const void *in, void *out, cudaStream_t stream) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  if (plan->described_only) return cutt_plan_check_executable(plan);
  cuttResult result = stream ? cutt_stream_check(plan->backend, stream, "stream") : CUTT_SUCCESS;
  if (result || plan->canonical.volume == 0) return result;
  result = cutt_buffers_check(&plan->canonical, in, out, "in", "out");
  if (result) return result;
  if (!plan->trusted) {
    result = cutt_memory_check(plan->backend, in, "in");
    if (result) return result;
    result = cutt_memory_check(plan->backend, out, "out");
    if (result) return result;
  }
  if (in == out && !plan->canonical.scale.active) return CUTT_SUCCESS; /* the identity in place: it is there already */
  return cutt_execute_one(plan->backend->methods, plan->choice.prepared, plan->trusted, in, out, stream);
}

cuttResult cutt_plan_combine(cuttPlan_t plan, const void *in, const void *second, int op, void *out,
                             cudaStream_t stream) {
  if (plan->canonical.volume == 0) return CUTT_SUCCESS;
  const cutt_executions one = {.count = 1,
                               .in = {&in, &second},
                               .op = op,
                               .out = &out,
                               .prepared = cutt_only_prepared,
                               .of = plan->choice.prepared,
                               .same = plan->choice.prepared,
                               .trusted = plan->trusted};
  return plan->backend->methods->execute(&one, stream);
}

cuttResult cuttPlanDestroy(cuttPlan_t plan) {
  if (!plan) return CUTT_SUCCESS;
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  *(volatile uint64_t *)&plan->magic = dead; /* volatile: a plain store before free would be optimised away */
  if (plan->choice.prepared) plan->backend->methods->release(plan->choice.prepared);
  free(plan->own_target);
  free(plan);
  return CUTT_SUCCESS;
}

cuttResult cuttPlanGetInfo(cuttPlan_t plan, cuttPlanInfo_t *info) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult code = cutt_info_check(info, first_info_size, sizeof *info, "cuttPlanInfo_t");
  if (code) return code;
  const cutt_candidate *candidate = &plan->choice.candidate;
  const cuttPlanInfo_t own = {
      .backend = plan->backend->id,
      .method = cutt_method_name[candidate->method],
      .isa = plan->isa,
      .threads = candidate->threads,
      .fused_rank = plan->canonical.rank,
      .fused_elem_bytes = plan->canonical.elem_bytes,
      .bytes_moved = cutt_bytes_moved(&plan->canonical),
      .predicted_seconds = candidate->seconds,
      .measured_seconds = plan->choice.measured_seconds,
      .create_seconds = plan->create_seconds,
  };
  cutt_info_write(info, &own, sizeof own);
  return CUTT_SUCCESS;
}
