/* A pass on a GPU (device_pass.h) of tensors of which some are permuted: operands before it, to workspace, and D after it, from there.
 *
 * That pays where a pass would load or write neighbours one by one, which a permutation does not: of an outer product the operands,
 * which are small; of a sum with many terms D; of two long operands in different orders the shorter one. The largest tensor of those that
 * stay gives the order. */
#ifndef CUTT_CONTRACT_DEVICE_MOVED_H
#define CUTT_CONTRACT_DEVICE_MOVED_H

#include "contract/cost.h"

/* Choices of tensors, bit by bit (1 << CUTT_LEFT): none first; all three are never permuted. */
enum { CUTT_DEVICE_MOVES = 7 };

static inline bool cutt_device_is_moved(unsigned moved, cutt_tensor t) { return (moved >> t & 1) != 0; }

/* The contraction that is left for the pass: of the chosen tensors packed in workspace, one after the other. False where these can't be
 * permuted, or one of them lies as it would. */
bool cutt_device_move(const cutt_contraction *contraction, unsigned moved, cutt_contraction *inner);

/* Where one of them lies in workspace: its strides, by the modes of `contraction`. */
void cutt_device_moved_strides(const cutt_contraction *contraction, unsigned moved, cutt_tensor t,
                               int64_t stride[CUTT_MOST_MODES]);

/* Bytes of workspace that the tensors take, each from a multiple of CUTT_WORKSPACE_ALIGNMENT on. */
int64_t cutt_device_moved_bytes(const cutt_contraction *contraction, unsigned moved);

/* Predicted seconds of the permutation of one of them. */
double cutt_device_move_seconds(const cutt_contraction *contraction, const cutt_rates *rates,
                                const cutt_contraction *inner, cutt_tensor t);

#endif
