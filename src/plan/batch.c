/* Many executions by one call. All that can be checked is checked before the first of them begins. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "plan/arguments.h"
#include "plan/plan.h"

typedef struct batch {
  const cuttPlan_t *plan;
  bool one; /* of all executions: plan has one entry */
  const void *const *in;
  void *const *out;
} batch;

static const struct cuttPlanStruct *plan_of(const batch *b, int64_t i) { return b->plan[b->one ? 0 : i]; }

static const void *prepared_of(const void *of, int64_t i) {
  const batch *b = of;
  const struct cuttPlanStruct *plan = plan_of(b, i);
  if (b->in[i] == b->out[i] && !plan->canonical.scale.active)
    return NULL; /* the identity in place: it is there already */
  return plan->choice.prepared;
}

enum { NAME_BYTES = 32 };

static const char *entry(char *buffer, const char *array, int64_t i) {
  snprintf(buffer, NAME_BYTES, "%s[%" PRId64 "]", array, i);
  return buffer;
}

static cuttResult check_pair(const batch *b, int64_t i) {
  const struct cuttPlanStruct *plan = plan_of(b, i);
  if (plan->canonical.volume == 0) return CUTT_SUCCESS;
  const bool look = !plan->trusted && atomic_load_explicit(&cutt_other_memory_possible, memory_order_relaxed);
  if (cutt_buffers_valid(&plan->canonical, b->in[i], b->out[i]) && !look) return CUTT_SUCCESS;
  char in[NAME_BYTES], out[NAME_BYTES];
  entry(in, "in", i);
  entry(out, "out", i);
  cuttResult result = cutt_buffers_check(&plan->canonical, b->in[i], b->out[i], in, out);
  if (!result && !plan->trusted) result = cutt_memory_check(plan->backend, b->in[i], in);
  if (!result && !plan->trusted) result = cutt_memory_check(plan->backend, b->out[i], out);
  return result;
}

static cuttResult check_plan(const struct cuttPlanStruct *plan, cudaStream_t stream) {
  const cuttResult result = cutt_plan_check_executable(plan);
  return result ? result : cutt_stream_check(plan->backend, stream, "stream");
}

/* Plans of one call are for one backend, which gets them all together. */
static cuttResult check_plans(const cuttPlan_t *plans, int64_t count, cudaStream_t stream) {
  for (int64_t i = 0; i < count; ++i) {
    char name[NAME_BYTES];
    if (!cutt_plan_is_alive(plans[i])) return cutt_plan_refuse(plans[i], entry(name, "plans", i));
    if (i > 0 && plans[i] == plans[i - 1]) continue;
    const cuttResult result = check_plan(plans[i], stream);
    if (result) return cutt_error(result, "%s: %s", entry(name, "plans", i), cuttLastError());
    if (plans[i]->backend == plans[0]->backend) continue;
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is for %s and plans[0] for %s; all must be for one backend",
                      entry(name, "plans", i), plans[i]->backend->id_name, plans[0]->backend->id_name);
  }
  return CUTT_SUCCESS;
}

static cuttResult check_array(const void *array, const char *name, int64_t count) {
  if (array || count == 0) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to count = %" PRId64 " entries", name, count);
}

static cuttResult check_arrays(const batch *b, int64_t count) {
  if (count < 0) return cutt_error(CUTT_INVALID_PARAMETER, "count is %" PRId64 "; it must be 0 or more", count);
  cuttResult result = check_array(b->plan, "plans", count);
  if (!result) result = check_array(b->in, "in", count);
  return result ? result : check_array(b->out, "out", count);
}

/* Do the options of all plans say so? */
static bool trusted(const batch *b, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!plan_of(b, i)->trusted) return false;
    if (b->one) break;
  }
  return true;
}

/* What is prepared for every pair: with one plan, unless a pair may be one that has nothing to do. */
static const void *same_for_all(const batch *b) {
  const struct cuttPlanStruct *plan = plan_of(b, 0);
  return b->one && (!plan->canonical.identity || plan->canonical.scale.active) ? plan->choice.prepared : NULL;
}

/* Plans and arrays have been checked. */
static cuttResult execute(const batch *b, int64_t count, cudaStream_t stream) {
  for (int64_t i = 0; i < count; ++i) {
    const cuttResult result = check_pair(b, i);
    if (result) return result;
  }
  if (count == 0) return CUTT_SUCCESS;
  const cutt_executions executions = {.count = count,
                                      .in = {b->in},
                                      .out = b->out,
                                      .prepared = prepared_of,
                                      .of = b,
                                      .same = same_for_all(b),
                                      .trusted = trusted(b, count),
                                      .threads = plan_of(b, 0)->threads};
  return plan_of(b, 0)->backend->methods->execute(&executions, stream);
}

cuttResult cuttPlanExecuteBatch(cuttPlan_t plan, int64_t count, const void *const *in, void *const *out,
                                cudaStream_t stream) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  const batch b = {.plan = &plan, .one = true, .in = in, .out = out};
  cuttResult result = check_plan(plan, stream);
  if (!result) result = check_arrays(&b, count);
  return result ? result : execute(&b, count, stream);
}

cuttResult cuttPlansExecute(int64_t count, const cuttPlan_t *plans, const void *const *in, void *const *out,
                            cudaStream_t stream) {
  const batch b = {.plan = plans, .one = false, .in = in, .out = out};
  cuttResult result = check_arrays(&b, count);
  if (!result) result = check_plans(plans, count, stream);
  return result ? result : execute(&b, count, stream);
}
