/* Plans for the permutations of a contraction: packing operands, unpacking the result, scaling it. */
#ifndef CUTT_CONTRACT_PERMUTATION_H
#define CUTT_CONTRACT_PERMUTATION_H

#include "contract/algorithms.h"
#include "plan/backend.h"

/* A plan that packs a view's part of L or R, or brings D's part from where it is packed. */
cuttResult cutt_block_permutation(const cutt_contraction *contraction, const cutt_algorithm *algorithm,
                                  const cutt_view *view, cutt_tensor t, const cutt_backend *backend, int threads,
                                  cuttPlan_t *made);

/* A plan for D = beta * D, in place. With beta 0 it writes zeros instead: its input is then a single 0, with strides of 0. */
cuttResult cutt_scale_permutation(const cutt_contraction *contraction, const cutt_backend *backend, int threads,
                                  cuttPlan_t *made);

#endif
