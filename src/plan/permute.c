/* A plan, its execution and its end in one call; or the plan of a call before, if it is kept. */
#include "plan/kept.h"

cuttResult cuttPermute(const cuttProblem_t *problem, const cuttOptions_t *options, const void *in, void *out,
                       cudaStream_t stream) {
  cutt_kept_key key;
  const bool keep = cutt_kept_key_of(problem, options, &key);
  cuttPlan_t plan = keep ? cutt_kept_take(&key) : NULL;
  if (plan) {
    const cuttResult result = cuttPlanExecute(plan, in, out, stream);
    cutt_kept_give(plan);
    return result;
  }
  cuttResult result = cuttPlanCreate(&plan, problem, options);
  if (!plan) return result;
  /* What was started needs nothing of the plan: a backend hands over all that a device is to know at the start. */
  result = cuttPlanExecute(plan, in, out, stream);
  if (keep && !result) {
    cutt_kept_put(&key, plan);
  } else {
    cuttPlanDestroy(plan);
  }
  return result;
}
