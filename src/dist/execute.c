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

cuttResult cuttDistPlanExecute(cuttDistPlan_t plan, const void *in, void *out, cudaStream_t stream) {
  if (!cutt_dist_plan_alive(plan)) return CUTT_INVALID_PLAN;
  if (plan->device.runtime) return cutt_dist_execute_device(plan, in, out, stream);
  cuttResult result;
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_START};
  cutt_start start = {{0}};
  result = check(plan, in, out, stream);
  if (!result && plan->exchange.way == CUTT_WAY_DIRECT && plan->task.volume[CUTT_TO] > 0)
    result = cutt_reach_offer(plan->comm, NULL, out, plan->high[CUTT_TO], start.token); /* packed: it begins at out */
  memcpy(record.what, &start, sizeof start);
  record.code = (int32_t)result;
  result = cutt_comm_agree(plan->comm, &record);
  if (result) return result;
  result = cutt_dist_run(plan, in, out, NULL);
  if (result && plan->exchange.way != CUTT_WAY_DIRECT) return result;
  /* Done when all are: others may still read this rank's input, or write its output, also when it has failed itself; and what
   * has failed has failed for all. */
  record.step = CUTT_STEP_END;
  record.code = (int32_t)result;
  return cutt_comm_agree(plan->comm, &record);
}
