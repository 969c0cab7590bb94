/* The user's contraction, read and validated, and brought to its simplest form: what every later stage sees.
 *
 *   pattern -> labels of each tensor -> modes with their strides in L, R and D -> fused modes */
#ifndef CUTT_CONTRACT_PROBLEM_H
#define CUTT_CONTRACT_PROBLEM_H

#include <stdbool.h>

#include "base/types.h"
#include "cutt_contract.h"
#include "model/canonical.h"

typedef enum cutt_tensor { CUTT_LEFT, CUTT_RIGHT, CUTT_RESULT, CUTT_TENSORS } cutt_tensor;

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

enum { CUTT_MOST_MODES = 2 * CUTT_MAX_RANK, CUTT_NAME_SIZE = 32 };

/* A mode; in the canonical form one or more modes of the pattern. */
typedef struct cutt_contract_mode {
  char name
      [CUTT_NAME_SIZE]; /* as the pattern has it; fused ones are joined: "ab", cut with "~" where that is too long */
  cutt_group group;
  int64_t extent;
  int64_t stride[CUTT_TENSORS]; /* in elements; 0 in a tensor that does not have it; the sum for a diagonal */
} cutt_contract_mode;

/* What a valid contraction says. Modes of extent 1 have been dropped, and modes of one group that are neighbours in all the
 * tensors they are in have been fused (the inner one's stride * extent is the outer one's stride). They are sorted by
 * group, and within a group by the stride in the first tensor that has them (L, else R), ascending in absolute value. */
typedef struct cutt_contraction {
  const cutt_type_info *type;
  int modes;
  cutt_contract_mode mode[CUTT_MOST_MODES];
  bool conjugate[2]; /* L, R; never for real types */
  bool empty;        /* D has no elements: nothing to do */
  bool no_terms;     /* a sum over nothing: D = beta * D; modes that are not in D have been dropped */
  bool beta_is_zero, beta_is_one, alpha_is_one;
  _Alignas(16) unsigned char alpha[16]; /* of the type's scalar (float for half types); a BLAS takes it as it is */
  _Alignas(16) unsigned char beta[16];
  int64_t
      volume[CUTT_TENSORS]; /* elements of each tensor, distinct ones of the pattern's letters (diagonals count once) */
  int64_t low[CUTT_TENSORS],
      high[CUTT_TENSORS]; /* bytes spanned, [low, high) from element (0, ..., 0); both 0: no bytes */
  bool alpha_is_zero;     /* then L and R are not read, and no_terms is set */
} cutt_contraction;

/* Validates all of a contraction and brings it to the canonical form. Errors: CUTT_INVALID_PARAMETER, with the text naming
 * the field, and for a pattern the letter and its place; CUTT_INTERNAL_ERROR (memory). */
cuttResult cutt_contraction_check(const cuttContraction_t *callers, cutt_contraction *contraction);

/* Fuses what can be fused in a list of modes, by the rule above; all tensors' strides have to agree, also where they are 0
 * on both sides. Returns how many are left. Order: as given, the inner mode's place. */
int cutt_modes_fuse(cutt_contract_mode *mode, int count);

#endif
