/* The user's contraction, read and validated, and brought to its simplest form: what every later stage sees.
 *
 *   pattern -> labels of each tensor -> modes with their strides in L, R and D -> fused modes */
#ifndef CUTT_CONTRACT_PROBLEM_H
#define CUTT_CONTRACT_PROBLEM_H

#include <stdbool.h>

#include "base/types.h"
#include "contract/tensor.h"
#include "cutt_contract.h"
#include "model/canonical.h"

/* What a mode is, by the tensors that it is in. */
typedef enum cutt_group {
  CUTT_GROUP_M,     /* L and D */
  CUTT_GROUP_N,     /* R and D */
  CUTT_GROUP_K,     /* L and R: contracted */
  CUTT_GROUP_BATCH, /* all three */
  CUTT_GROUP_SUM_L, /* L only: summed */
  CUTT_GROUP_SUM_R, /* R only: summed */
  CUTT_GROUPS
} cutt_group;

enum { CUTT_MOST_MODES = 2 * CUTT_MAX_RANK };

/* A mode; in the canonical form one or more modes of the pattern. */
typedef struct cutt_contract_mode {
  /* As in the pattern; the names of fused modes are joined, "ab", and cut with a "~" where that is too long. */
  char name[CUTT_NAME_SIZE];
  cutt_group group;
  int64_t extent;
  /* In elements; 0 in a tensor that does not have the mode, and on a diagonal the sum of its strides. */
  int64_t stride[CUTT_TENSORS];
} cutt_contract_mode;

/* What a valid contraction says. Modes of extent 1 have been dropped, and modes of one group that are neighbours in all the
 * tensors they are in have been fused (the inner one's stride * extent is the outer one's stride). They are sorted by
 * group, and within a group by the stride in the first tensor that has them (L, else R), ascending in absolute value. */
typedef struct cutt_contraction {
  const cutt_type_info *type;
  int modes;
  cutt_contract_mode mode[CUTT_MOST_MODES];
  /* Of L and R; never for real types. */
  bool conjugate[2];
  /* D has no elements: nothing is to be done. */
  bool empty;
  /* Nothing is summed: D = beta * D. Then `mode` has only modes of D. */
  bool no_terms;
  /* With alpha 0 L and R are not read, and no_terms is set. */
  bool alpha_is_zero, alpha_is_one;
  bool beta_is_zero, beta_is_one;
  /* What takes the place of the sum; with CUTT_OP_MULTIPLY and no_terms a product of nothing, which is 1. */
  cuttOperator_t reduce;
  /* R is a scalar 1: there is one operand. */
  bool right_is_one;
  /* Of the type's scalar (float for half types), as a BLAS takes it. */
  _Alignas(16) unsigned char alpha[16];
  _Alignas(16) unsigned char beta[16];
  /* Elements of each tensor; of a diagonal's only those on it. */
  int64_t volume[CUTT_TENSORS];
  /* Bytes spanned by each tensor, [low, high) from element (0, ..., 0); both 0 where it has none. */
  int64_t low[CUTT_TENSORS];
  int64_t high[CUTT_TENSORS];
} cutt_contraction;

/* The operators by their names in cutt_contract.h. */
extern const char *const cutt_operator_names[];

/* The type's facts, if it is one that is computed with. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_contraction_type_check(cuttType_t type, const cutt_type_info **checked);

/* Makes a scalar of the type. */
void cutt_scalar_set(const cutt_type_info *type, int value, unsigned char *scalar);

/* Is a scalar of the type 0, or 1? By comparison, so that -0 is a 0 and a NaN is not. */
bool cutt_scalar_is(const cutt_type_info *type, const unsigned char *scalar, int value);

/* Makes beta 0: D is written, and not added to. */
void cutt_beta_clear(cutt_contraction *contraction);

/* Validates all of a contraction and brings it to the canonical form. Errors: CUTT_INVALID_PARAMETER, with the text naming
 * the field, and for a pattern the letter and its place; CUTT_INTERNAL_ERROR (memory). */
cuttResult cutt_contraction_check(const cuttContraction_t *callers, cutt_contraction *contraction);

/* The mode in which the tensor has neighbours; -1: none. */
int cutt_fast_mode(const cutt_contraction *contraction, cutt_tensor t);

/* Sorts modes by their steps in a tensor, the shortest first; those with the same step stay in their order. */
void cutt_sort_modes(const cutt_contraction *contraction, cutt_tensor by, int *mode, int count);

/* Fuses what can be fused in a list of modes, by the rule above; all tensors' strides have to agree, also where they are 0
 * on both sides. Returns how many are left. Order: as given, the inner mode's place. */
int cutt_modes_fuse(cutt_contract_mode *mode, int count);

#endif
