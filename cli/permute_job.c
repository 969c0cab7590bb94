/* Planning parts of a permutation; see permute_job.h. */
#include "permute_job.h"

bool cutt_cli_plan_part(cutt_cli_permute_job *job, const int64_t *extents, const void *in, void *out,
                        cuttPlan_t *plan) {
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = job->rank;
  problem.type = (cuttType_t)job->elem_bytes;
  problem.extents = extents;
  problem.perm = job->perm;
  problem.in_strides = job->strides;
  cuttOptions_t plan_options = job->options;
  plan_options.backend = job->backend;
  if (plan_options.choice == CUTT_MEASURE) {
    plan_options.measure_in = in;
    plan_options.measure_out = out;
  }
  if (cuttPlanCreate(plan, &problem, &plan_options) == CUTT_SUCCESS) return true;
  cutt_cli_progress_clear(&job->progress);
  cutt_cli_message("the permutation could not be planned: %s", cuttLastError());
  return false;
}
