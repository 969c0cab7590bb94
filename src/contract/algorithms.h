/* Ways to do a contraction by matrix products.
 *
 * An algorithm keeps some modes for the products: an index group of M, one of N and one of K, each walked as if it were one mode. All other
 * modes are loops around the products (batch modes always, others where that spares a permutation). A tensor is used in
 * place when its part of the index groups lies in memory as a matrix does, or it is packed: permuted to the order
 *   [one group's index group][the other group's index group][its loop modes]
 * Any mode may be cut into chunks. What one choice of chunks leaves is a piece: it is packed, multiplied and unpacked by
 * itself, so that workspace is that of a piece. */
#ifndef CUTT_CONTRACT_WAYS_H
#define CUTT_CONTRACT_WAYS_H

#include "blas/gemm.h"
#include "contract/problem.h"

/* What a mode is to the products. Modes that are summed in one operand count as K: the other operand has stride 0 there. */
typedef enum cutt_role { CUTT_ROLE_M, CUTT_ROLE_N, CUTT_ROLE_K, CUTT_ROLE_BATCH, CUTT_ROLES } cutt_role;
enum { CUTT_INDEX_GROUPS = 3 }; /* M, N, K */

cutt_role cutt_mode_role(const cutt_contract_mode *mode);

/* The product of all extents of each role. */
void cutt_contraction_sizes(const cutt_contraction *contraction, int64_t size[CUTT_ROLES]);

/* The two roles of index groups that a tensor has: L is M x K, R is K x N, D is M x N. */
extern const cutt_role cutt_tensor_roles[CUTT_TENSORS][2];

typedef struct cutt_algorithm {
  bool packed[CUTT_TENSORS];
  cutt_role inner[CUTT_TENSORS]; /* of a packed tensor: whose index group comes first */
  int kept[CUTT_INDEX_GROUPS];
  int index_group[CUTT_INDEX_GROUPS][CUTT_MOST_MODES]; /* modes by number, innermost first */
  int64_t chunk[CUTT_MOST_MODES];                      /* of each mode; its extent: not cut */
  bool n_outside;                                      /* pieces: N's chunks are walked outside of M's */
} cutt_algorithm;

/* A piece in memory: extents of its modes, and their strides in each tensor as the products see it. */
typedef struct cutt_view {
  int64_t extent[CUTT_MOST_MODES];
  int64_t stride[CUTT_TENSORS][CUTT_MOST_MODES];
  int64_t packed[CUTT_TENSORS]; /* elements of the packed tensor, 0 when it is in place */
} cutt_view;

/* Is the mode one of the index groups'? */
bool cutt_algorithm_keeps(const cutt_algorithm *algorithm, const cutt_contraction *contraction, int mode);

/* Does a piece of the tensor, packed or not, change with the mode? */
bool cutt_algorithm_holds(const cutt_contraction *contraction, const cutt_algorithm *algorithm, cutt_tensor t,
                          int mode);

/* Lays out a piece of these extents, which may be in the view already (NULL: chunks as they are). */
void cutt_algorithm_view(const cutt_contraction *contraction, const cutt_algorithm *algorithm, const int64_t *extent,
                         cutt_view *view);

/* The product of a view, all of whose loop modes are at one index. *swapped: D is written as its transpose, so A is R and B
 * is L. False when a tensor doesn't lie as a matrix does, so there is no such algorithm. */
bool cutt_algorithm_product(const cutt_contraction *contraction, const cutt_algorithm *algorithm, const cutt_view *view,
                            cutt_gemm *gemm, bool *swapped);

/* Calls visit for each algorithm, uncut, whose product works out. Errors: CUTT_INTERNAL_ERROR (memory). */
typedef void cutt_algorithm_visit(void *data, const cutt_algorithm *algorithm);
cuttResult cutt_algorithms_enumerate(const cutt_contraction *contraction, cutt_algorithm_visit *visit, void *data);

#endif
