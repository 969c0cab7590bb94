/* Adding up parts of sums, for a pass on a GPU (device_pass.h): gpu/kernels/join.cu. */
#ifndef CUTT_CONTRACT_DEVICE_JOIN_H
#define CUTT_CONTRACT_DEVICE_JOIN_H

#include "contract/cost.h"
#include "gpu/kernels/join_args.h"

/* What the kernel is given, but for the scalars, of a sum in so many parts whose results are packed in workspace with these strides, in
 * elements, of D's modes. Returns how many blocks there are; 0: there are too many results. */
uint32_t cutt_join_fill(const cutt_contraction *contraction, int64_t parts, const int64_t *packed,
                        cutt_join_args *args);

/* Predicted seconds that the launch takes, and those of each part more, which it and what writes the part take. */
double cutt_join_seconds(void);
double cutt_join_part_seconds(const cutt_contraction *contraction, const cutt_rates *rates);

#endif
