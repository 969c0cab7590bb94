/* The choice of a way by wisdom or by measuring. */
#ifndef CUTT_CONTRACT_MEASURE_H
#define CUTT_CONTRACT_MEASURE_H

#include "contract/plan.h"

typedef struct cutt_measuring {
  cuttChoice_t choice;
  double seconds; /* CUTT_MEASURE: the time limit */
  cuttWisdom_t wisdom;
} cutt_measuring;

/* As cutt_contraction_prepare: by wisdom, if it has a way for the problem; else by measuring, if that is asked for, of which the
 * outcome is added to wisdom; else by the model. In the context that the plan is for. */
cuttResult cutt_contraction_prepare_measured(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                             const cutt_blas *blas, int threads, int64_t limit,
                                             const cutt_measuring *how);

#endif
