/* The text of a contraction: "abc,cd->abd" or "D(a,b,d)+=L(a,b,c)*R(c,d)". */
#ifndef CUTT_CONTRACT_PATTERN_H
#define CUTT_CONTRACT_PATTERN_H

#include <stdbool.h>

#include "contract/tensor.h"
#include "cutt_contract.h"

enum { CUTT_MOST_LABELS = 3 * CUTT_MAX_RANK };

typedef struct cutt_label {
  char name[CUTT_NAME_SIZE];
} cutt_label;

typedef struct cutt_pattern {
  int rank[CUTT_MOST_TENSORS];
  int label[CUTT_MOST_TENSORS][CUTT_MAX_RANK]; /* which of the labels each mode is */
  int place[CUTT_MOST_TENSORS][CUTT_MAX_RANK]; /* where in the text it stands, from 1; 0: implied, not written */
  int labels;
  cutt_label name[CUTT_MOST_LABELS];
  bool conjugate[2];
  bool one;   /* there is one operand; R is a scalar that is not in the text */
  bool adds;  /* "+=": beta is 1 unless given */
  bool three; /* there is a third operand */
} cutt_pattern;

/* Errors: CUTT_INVALID_PARAMETER; the text has the pattern's character and its place, from 1. */
cuttResult cutt_pattern_parse(const char *text, cutt_pattern *pattern);

/* Of an elementwise operation: "ab,ba->ab" or "ab,ba,b->ab", whose result is written and has all letters. */
cuttResult cutt_pattern_parse_elementwise(const char *text, cutt_pattern *pattern);

#endif
