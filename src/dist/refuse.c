/* A rank's word that it can't make the collective call that the others make. It takes that call's place in the agreement, so
 * that wrappers, which check what the C calls do not see, need no message of their own. */
#include "base/error.h"
#include "dist/plan.h"
#include "plan/services.h"

cuttResult cuttDistRefuse(cuttDistComm_t comm, cuttDistPlan_t plan, const char *text) {
  if (plan && !cutt_dist_plan_alive(plan)) return CUTT_INVALID_PLAN;
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  const char *said = text ? text : "the call was refused, and no text was given";
  if (plan && plan->comm != comm) said = "comm is not the plan's communicator";
  cutt_record record = {.plan = plan ? plan->number : ++comm->plans, .step = plan ? CUTT_STEP_START : CUTT_STEP_CREATE};
  record.code = (int32_t)cutt_error(CUTT_INVALID_PARAMETER, "%s", said);
  return cutt_comm_agree(plan ? plan->comm : comm, &record);
}
