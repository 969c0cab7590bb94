/* The shortest program that does something useful: plan once, execute many times.
 *
 * Convention: the first mode is the one with stride 1, and mode i of the output is mode perm[i] of the input. */
#include <cutt.h>
#include <stdio.h>

int main(void) {
  const int64_t extents[3] = {4, 3, 2}; /* in[c][b][a] in C: a runs fastest */
  const int perm[3] = {2, 0, 1};        /* out mode 0 is in mode 2, ... */
  double in[24], out[24];

  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU; /* in and out are in the host's memory */
  cuttPlan_t plan = NULL;
  if (cuttPlanCreate(&plan, &problem, &options) != CUTT_SUCCESS) {
    fprintf(stderr, "no plan: %s\n", cuttLastError());
    return 1;
  }
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < 24; ++i) in[i] = round * 100 + i;
    if (cuttPlanExecute(plan, in, out, NULL) != CUTT_SUCCESS) {
      fprintf(stderr, "not executed: %s\n", cuttLastError());
      return 1;
    }
    printf("round %d:", round);
    for (int i = 0; i < 24; ++i) printf(" %g", out[i]);
    printf("\n");
  }
  cuttPlanDestroy(plan);
  return 0;
}
