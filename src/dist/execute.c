/* Executions: their arguments, what ranks say of them to each other, and where the work is done: execute_host.c, or
 * execute_device.c. */
#include <string.h>

#include "base/error.h"
#include "dist/plan.h"
#include "dist/reach.h"
#include "plan/services.h"

static cuttResult check(const struct cuttDistPlanStruct *plan, const void *in, const void *out, cudaStream_t stream) {
  if (stream)
    return cutt_error(CUTT_INVALID_PARAMETER, "stream is %p; it must be NULL: tensors are in the host's memory",
                      (void *)stream);
  return cutt_dist_check_tensors(plan, in, out);
}

/* Describes where the output is, for plans that are direct or may be. */
static cuttResult offer_output(const struct cuttDistPlanStruct *plan, void *out, cutt_start *start) {
  const int64_t bytes = plan->high[CUTT_TO]; /* packed: it begins at out */
  const bool some = plan->task.volume[CUTT_TO] > 0;
  if (plan->either) start->offered = !some || cutt_reach_offers(plan->comm, out, bytes, start->token);
  if (plan->exchange.way != CUTT_WAY_DIRECT || !some) return CUTT_SUCCESS;
  return cutt_reach_offer(plan->comm, NULL, out, bytes, start->token);
}

/* Have all ranks outputs that the others reach? All know, by the records of the start. */
static bool all_offered(const struct cuttDistPlanStruct *plan) {
  cutt_start start;
  for (int i = 0; i < plan->task.size && plan->either; ++i) {
    memcpy(&start, plan->comm->records[i].what, sizeof start);
    if (!start.offered) return false;
  }
  return plan->either;
}

static void swap_ways(struct cuttDistPlanStruct *plan) {
  const cutt_exchange messages = plan->exchange;
  plan->exchange = plan->direct;
  plan->direct = messages;
}

/* Done when all are: others may still read this rank's input, or write its output, also when it has failed itself; and what has
 * failed has failed for all. */
static cuttResult run_to_end(struct cuttDistPlanStruct *plan, const void *in, void *out) {
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_END};
  const cuttResult result = cutt_dist_run(plan, in, out, NULL);
  if (result && plan->exchange.way != CUTT_WAY_DIRECT) return result;
  record.code = (int32_t)result;
  return cutt_comm_agree(plan->comm, &record);
}

cuttResult cuttDistPlanExecute(cuttDistPlan_t plan, const void *in, void *out, cudaStream_t stream) {
  if (!cutt_dist_plan_alive(plan)) return CUTT_INVALID_PLAN;
  if (plan->device.runtime) return cutt_dist_execute_device(plan, in, out, stream);
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_START};
  cutt_start start = {{0}, 0};
  cuttResult result = check(plan, in, out, stream);
  if (!result) result = offer_output(plan, out, &start);
  memcpy(record.what, &start, sizeof start);
  record.code = (int32_t)result;
  result = cutt_comm_agree(plan->comm, &record);
  if (result) return result;
  const bool direct = all_offered(plan);
  if (direct) swap_ways(plan);
  result = run_to_end(plan, in, out);
  if (direct) swap_ways(plan);
  return result;
}
