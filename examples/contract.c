/* A contraction, planned once and executed: D(a,b,d) = sum over c of L(a,b,c) R(c,d). Without a BLAS on the machine it says
 * so and ends with 77.
 *
 * Convention: the first letter of each group is the mode with stride 1. */
#include <cutt_contract.h>
#include <stdio.h>

enum { A = 4, B = 3, C = 5, D = 2 };

int main(void) {
  double left[C][B][A], right[D][C], result[D][B][A]; /* C's arrays have their fastest index last */
  const int64_t left_extents[3] = {A, B, C}, right_extents[2] = {C, D};
  for (int i = 0; i < A * B * C; ++i) (&left[0][0][0])[i] = i;
  for (int i = 0; i < C * D; ++i) (&right[0][0])[i] = i % 3 - 1;

  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "abc,cd->abd"; /* or "D(a,b,d)=L(a,b,c)*R(c,d)" */
  contraction.type = CUTT_F64;
  contraction.left_rank = 3, contraction.right_rank = 2, contraction.result_rank = 3;
  contraction.left_extents = left_extents;
  contraction.right_extents = right_extents;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU; /* the arrays are in the host's memory */
  cuttContractionPlan_t plan = NULL;
  const cuttResult_t planned = cuttContractionPlanCreate(&plan, &contraction, &options);
  if (planned != CUTT_SUCCESS) {
    fprintf(stderr, "no plan: %s\n", cuttLastError());
    return planned == CUTT_INVALID_DEVICE ? 77 : 1;
  }
  const cuttResult_t done = cuttContractionExecute(plan, left, right, result, NULL, 0, NULL);
  if (done != CUTT_SUCCESS) fprintf(stderr, "not executed: %s\n", cuttLastError());
  cuttContractionPlanDestroy(plan);

  int wrong = done != CUTT_SUCCESS;
  for (int d = 0; d < D && !wrong; ++d)
    for (int b = 0; b < B; ++b)
      for (int a = 0; a < A; ++a) {
        double sum = 0;
        for (int c = 0; c < C; ++c) sum += left[c][b][a] * right[d][c];
        wrong += sum != result[d][b][a]; /* small integers: exact */
      }
  printf("%s: %d of %d elements differ from loops\n", wrong ? "WRONG" : "right", wrong, A * B * D);
  return wrong != 0;
}
