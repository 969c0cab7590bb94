/* Plans for the permutations of a contraction: packing operands, unpacking the result, scaling it. */
#ifndef CUTT_CONTRACT_PERMUTATION_H
#define CUTT_CONTRACT_PERMUTATION_H

#include "contract/algorithms.h"
#include "plan/backend.h"

/* How permutations are chosen. */
typedef struct cutt_permuting {
  cuttChoice_t choice;
  double seconds; /* CUTT_MEASURE: the time limit of each */
  cuttWisdom_t wisdom;
} cutt_permuting;

/* A plan that packs a view's part of L or R, or brings D's part from where it is packed. permuting (may be NULL): how it is
 * chosen, instead of by the model. */
cuttResult cutt_block_permutation(const cutt_contraction *contraction, const cutt_algorithm *algorithm,
                                  const cutt_view *view, cutt_tensor t, const cutt_backend *backend, int threads,
                                  const cutt_permuting *permuting, cuttPlan_t *made);

/* A plan that packs an operand as a whole, or brings D from where it is packed, with these strides. */
cuttResult cutt_packed_permutation(const cutt_contraction *contraction, const int64_t *packed, cutt_tensor t,
                                   const cutt_backend *backend, const cutt_permuting *permuting, cuttPlan_t *made);

/* A plan for D = beta * D, in place. With beta 0 it writes zeros instead: its input is then a single 0, with strides of 0. */
cuttResult cutt_scale_permutation(const cutt_contraction *contraction, const cutt_backend *backend, int threads,
                                  cuttPlan_t *made);

#endif
