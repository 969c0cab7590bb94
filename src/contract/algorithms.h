/* Algorithms for a contraction: variants of TTGT (transpose, transpose, matrix product, transpose).
 *
 * An algorithm keeps some modes for the matrix product: an index group of M, one of N and one of K, each treated as if it were
 * one mode. All other modes are loops around the products (batch modes always, others where that spares a permutation). A
 * tensor is used in place when the index groups that it has lie in memory as a matrix does; else it is packed, that is,
 * permuted to the order
 *   [one index group][the other index group][its loop modes]
 * On a GPU, where the products of a loop are one launch, all packed tensors have the modes of batch in one order, so that these
 * are one loop.
 * Any mode may be cut into chunks. One choice of a chunk of each mode is a block of the contraction: it is packed, multiplied
 * and unpacked by itself, so that no more workspace is needed than for a block. */
#ifndef CUTT_CONTRACT_ALGORITHMS_H
#define CUTT_CONTRACT_ALGORITHMS_H

#include "blas/gemm.h"
#include "contract/problem.h"

/* What a mode is to the products. Modes that only one operand has are of K too, with stride 0 in the other operand. */
typedef enum cutt_role { CUTT_ROLE_M, CUTT_ROLE_N, CUTT_ROLE_K, CUTT_ROLE_BATCH, CUTT_ROLES } cutt_role;
enum { CUTT_INDEX_GROUPS = 3 }; /* M, N, K */

cutt_role cutt_mode_role(const cutt_contract_mode *mode);

/* Is a sum taken over the mode? */
bool cutt_is_summed(const cutt_contraction *contraction, int mode);

/* The product of all extents of each role. */
void cutt_contraction_sizes(const cutt_contraction *contraction, int64_t size[CUTT_ROLES]);

/* The roles of a tensor's two index groups: L is M x K, R is K x N, D is M x N. */
extern const cutt_role cutt_tensor_roles[CUTT_TENSORS][2];

typedef struct cutt_algorithm {
  bool packed[CUTT_TENSORS];
  /* Of a packed tensor: the role of the index group that comes first. */
  cutt_role inner[CUTT_TENSORS];
  /* The modes of each index group, by number, innermost first; and how many there are. */
  int kept[CUTT_INDEX_GROUPS];
  int index_group[CUTT_INDEX_GROUPS][CUTT_MOST_MODES];
  /* The extent of each mode's chunks; the mode's extent where it is not cut. */
  int64_t chunk[CUTT_MOST_MODES];
  /* The loop over N's chunks is outside of the one over M's. */
  bool n_outside;
  /* Packed tensors have the modes of batch in one order, that of a tensor in place, if there is one. */
  bool together;
} cutt_algorithm;

/* A block in memory. */
typedef struct cutt_view {
  int64_t extent[CUTT_MOST_MODES];
  /* As the products see the tensors: in place or packed. */
  int64_t stride[CUTT_TENSORS][CUTT_MOST_MODES];
  /* Elements of each packed tensor; 0 where it is in place. */
  int64_t packed[CUTT_TENSORS];
} cutt_view;

/* Is the mode in an index group? */
bool cutt_algorithm_keeps(const cutt_algorithm *algorithm, const cutt_contraction *contraction, int mode);

/* The same for all modes. */
void cutt_algorithm_list_kept(const cutt_algorithm *algorithm, const cutt_contraction *contraction, bool *kept);

/* Is the mode one that the tensor's part of a block has? A packed operand also holds the modes of its index groups in which it
 * has stride 0: its elements are repeated along them. */
bool cutt_algorithm_holds(const cutt_contraction *contraction, const cutt_algorithm *algorithm, cutt_tensor t,
                          int mode);

/* Lays out a block of these extents, which may be the view's own; NULL: of one whole chunk of each mode. */
void cutt_algorithm_view(const cutt_contraction *contraction, const cutt_algorithm *algorithm, const int64_t *extent,
                         cutt_view *view);

/* The matrix product of a view, at one iteration of its loops. *swapped: it computes D's transpose, so A is R and B is L.
 * False where a tensor does not lie as a matrix does, so that there is no such algorithm. */
bool cutt_algorithm_product(const cutt_contraction *contraction, const cutt_algorithm *algorithm, const cutt_view *view,
                            cutt_gemm *gemm, bool *swapped);

/* Calls visit for each algorithm that has a matrix product, with nothing cut; together: as in cutt_algorithm. Errors:
 * CUTT_INTERNAL_ERROR (memory). */
typedef void cutt_algorithm_visit(void *data, const cutt_algorithm *algorithm);
cuttResult cutt_algorithms_enumerate(const cutt_contraction *contraction, bool together, cutt_algorithm_visit *visit,
                                     void *data);

#endif
