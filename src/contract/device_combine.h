/* Products of elements for a pass on a GPU (device_pass.h), where nothing is summed over: D = (alpha * L) R + beta * D as an elementwise
 * operation (device_elementwise.h), but where an operand is repeated and none has its elements in another order than D. */
#ifndef CUTT_CONTRACT_DEVICE_COMBINE_H
#define CUTT_CONTRACT_DEVICE_COMBINE_H

#include "contract/cost.h"
#include "contract/device_elementwise.h"

/* Predicted seconds; INFINITY where it is not one of these. */
double cutt_device_combine_seconds(const cutt_contraction *contraction, const cutt_rates *rates);

/* Prepares what cutt_device_combine_release frees. Errors: CUTT_INTERNAL_ERROR, CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE. */
cuttResult cutt_device_combine_prepare(const cutt_contraction *contraction, const cutt_rates *rates,
                                       const cutt_runtime *runtime, struct cuttElementwiseStruct **combination);
/* Plans it as a permutation instead, where that is faster. Errors: those of cuttPlanCreate. */
cuttResult cutt_device_combine_permute(struct cuttElementwiseStruct *plan, const cutt_backend *backend);
/* How it is done. */
const char *cutt_device_combine_words(const struct cuttElementwiseStruct *plan);
void cutt_device_combine_release(struct cuttElementwiseStruct *plan);

/* Starts it. */
cuttResult cutt_device_combine_run(const struct cuttElementwiseStruct *plan, const cutt_runtime *runtime,
                                   const unsigned char *left, const unsigned char *right, unsigned char *result,
                                   cudaStream_t stream);

#endif
