/* Executing a plan that has been checked (plan.h). */
#include "contract/plan.h"

cuttResult cutt_contraction_run(const struct cuttContractionStruct *plan, const cutt_operands *operands,
                                cudaStream_t stream, cutt_steps *steps) {
  return cutt_contraction_on_gpu(plan) ? cutt_contraction_run_gpu(plan, operands, stream, steps)
                                       : cutt_contraction_run_cpu(plan, operands, steps);
}

cuttResult cutt_execution_run(const void *execution, cudaStream_t stream) {
  const cutt_execution *e = execution;
  return cutt_contraction_run(e->plan, e->operands, stream, NULL);
}
