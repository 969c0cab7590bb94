/* Tensors whose modes have labels: a pattern, and the extents and strides that a caller gives for it. */
#ifndef CUTT_CONTRACT_LABELLED_H
#define CUTT_CONTRACT_LABELLED_H

#include "contract/pattern.h"

/* The fields of a tensor, as errors call them. */
typedef struct cutt_tensor_names {
  const char *name, *rank, *extents, *strides;
} cutt_tensor_names;

/* One row for each tensor. */
typedef struct cutt_labelled {
  const cutt_tensor_names *names;
  int tensors; /* that are there: CUTT_TENSORS, or CUTT_MOST_TENSORS with a third operand */
  int bytes;   /* of an element */
  cutt_pattern pattern;
  int rank[CUTT_MOST_TENSORS];
  const int64_t *extents[CUTT_MOST_TENSORS], *strides[CUTT_MOST_TENSORS]; /* the caller's, or NULL */
  /* Set by the check: strides, the caller's or packed; the extent of each label; elements of each tensor, of a diagonal's only
   * those on it; and the bytes that it spans, [low, high) from element (0, ..., 0), both 0 where it has none. */
  int64_t stride[CUTT_MOST_TENSORS][CUTT_MAX_RANK];
  int64_t extent[CUTT_MOST_LABELS];
  int64_t volume[CUTT_MOST_TENSORS], low[CUTT_MOST_TENSORS], high[CUTT_MOST_TENSORS];
} cutt_labelled;

/* Checks all and sets what follows from it. Errors: CUTT_INVALID_PARAMETER, with the text naming the field and the letter. */
cuttResult cutt_labelled_check(cutt_labelled *labelled);

#endif
