/* The last step of making a plan for a device: streams, events and workspace, and what others need to know of them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dist/plan.h"
#include "plan/services.h"

/* Processes open what others have for them; all that this rank needs of them is in d->all then. Collective. */
static cuttResult meet_neighbours(struct cuttDistPlanStruct *plan, const cutt_neighbour *own) {
  const int size = plan->task.size;
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_OPEN};
  cutt_neighbour *all = malloc((size_t)size * sizeof *all);
  if (!all) record.code = (int32_t)cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d ranks", size);
  cuttResult result = cutt_comm_agree(plan->comm, &record);
  if (!result) result = cutt_comm_gather(plan->comm, own, sizeof *own, all);
  if (!result) record.code = (int32_t)cutt_device_meet(&plan->device, all, size, plan->task.me);
  free(all);
  record.step = CUTT_STEP_OPENED;
  return result ? result : cutt_comm_agree(plan->comm, &record);
}

/* What executions on a device need, and, where ranks are near, what others have of it. Collective. */
cuttResult cutt_dist_ready(struct cuttDistPlanStruct *plan) {
  const struct cuttDistCommStruct *comm = plan->comm;
  cutt_device_part *d = &plan->device;
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_READY};
  cutt_neighbour own;
  if (!d->runtime) return CUTT_SUCCESS;
  if (!d->shared) d->near = comm->near > 0 && (d->way == CUTT_BY_COPIES || plan->exchange.way == CUTT_WAY_DIRECT);
  cuttResult result = cutt_device_make(d, &plan->exchange, plan->task.size, &plan->workspace, &plan->workspace_bytes);
  const bool opens = d->near && !d->shared;
  if (!result && opens) result = cutt_device_introduce(d, plan->workspace, &own);
  record.code = (int32_t)result;
  memcpy(record.what, &d, sizeof d);
  result = cutt_comm_agree(plan->comm, &record);
  if (result || opens) return result ? result : meet_neighbours(plan, &own);
  for (int i = 0; i < plan->task.size && d->all; ++i) memcpy(&d->all[i], comm->records[i].what, sizeof *d->all);
  return CUTT_SUCCESS;
}
