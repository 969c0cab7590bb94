/* The user's problem, read and validated: the step before the canonical form. */
#ifndef CUTT_PLAN_PROBLEM_H
#define CUTT_PLAN_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "model/canonical.h"
#include "plan/arguments.h"

/* What a valid problem says. Entries of the arrays past rank are not set. */
typedef struct cutt_problem {
  int rank;
  const cutt_type_info *type;
  int64_t extent[CUTT_MAX_RANK];     /* by input mode, >= 0 */
  int64_t in_stride[CUTT_MAX_RANK];  /* by input mode, in elements */
  int64_t out_stride[CUTT_MAX_RANK]; /* by INPUT mode too, in elements */
  int64_t volume;                    /* elements; 0 when an extent is 0 */
  int64_t in_low, in_high;           /* bytes spanned, [low, high) from element (0, ..., 0); both 0 when volume is 0 */
  int64_t out_low, out_high;
  cutt_scale scale;
} cutt_problem;

/* Validates all of a problem. Errors: CUTT_INVALID_PARAMETER, with the text naming the field; CUTT_INTERNAL_ERROR, of the
 * overlap check. */
cuttResult cutt_problem_check(const cuttProblem_t *callers, cutt_problem *checked);

/* Checks that no two elements of a tensor share an address. extent and stride are by the modes of that tensor; extents of
 * 1 and 0 are passed over. Exact where the search ends within its limit; refuses what it can't decide. name: what the caller
 * calls the strides, "out_strides". Errors: CUTT_INVALID_PARAMETER, with the text naming the strides and the modes;
 * CUTT_INTERNAL_ERROR: no memory for the search, which tensors that are not nested need. */
cuttResult cutt_overlap_check(int rank, const int64_t *extent, const int64_t *stride, const char *name);

#endif
