/* The plain definition of a contraction, to which everything else is held: a loop over all labels, in long double. It has
 * its own reader of patterns and shares no code with src/contract. */
#ifndef CUTT_TESTS_CONTRACT_REFERENCE_H
#define CUTT_TESTS_CONTRACT_REFERENCE_H

#include "cutt_contract.h"
#include "support/problem.h"

enum {
  TEST_LEFT,
  TEST_RIGHT,
  TEST_RESULT,
  TEST_TENSORS,
  TEST_MOST_LABELS = 2 * CUTT_MAX_RANK,
  TEST_PATTERN_BYTES = 2048
};

/* What a pattern says. */
typedef struct test_labels {
  int rank[TEST_TENSORS];
  int label[TEST_TENSORS][CUTT_MAX_RANK];
  int labels;
  bool in[TEST_TENSORS][TEST_MOST_LABELS]; /* is the label one of the tensor's? */
  bool conjugate[2];
  bool one;  /* operand: R is a scalar 1 */
  bool adds; /* "+=" */
} test_labels;

/* False when the pattern is not a valid one (or does not fit TEST_PATTERN_BYTES). */
bool test_labels_read(const char *pattern, test_labels *labels);

/* A contraction as a value. Strides that are not given (strided is false) are the packed ones. */
typedef struct test_contraction {
  char pattern[TEST_PATTERN_BYTES];
  test_labels is; /* what it says */
  cuttType_t type;
  int64_t extent[TEST_MOST_LABELS]; /* of each label */
  bool strided[TEST_TENSORS];
  int64_t stride[TEST_TENSORS][CUTT_MAX_RANK];
  int64_t step[TEST_TENSORS]
              [TEST_MOST_LABELS]; /* how far a step along a label goes: on a diagonal, along several modes */
  bool has_alpha, has_beta;
  test_scalar alpha, beta;
  int conjugate[2];
  int at[TEST_TENSORS]; /* where the buffers lie: see TEST_AT_END */
  size_t limit;         /* of the workspace */
  int workspace;        /* at execution; 0: NULL, 1: as asked for, 2: more of it */
  int threads;
  char blas[512]; /* "": NULL */
  char algorithm[16];
  double measure; /* seconds to measure the choice in; 0: by the model */
  cuttWisdom_t wisdom;
  uint64_t seed; /* of the contents */
} test_contraction;

/* Sets the strides that are not given, and the steps. Call it after extents or strides have changed. */
void test_contraction_finish(test_contraction *c);

int64_t test_contraction_extent(const test_contraction *c, int tensor, int mode);
/* Elements that are reached: those of a diagonal only. */
int64_t test_contraction_volume(const test_contraction *c, int tensor);
/* The product of the extents of all labels. */
int64_t test_contraction_products(const test_contraction *c);
/* The elements that a tensor spans, counted from element (0, ..., 0): [*low, *high). Both 0 when there are none. */
void test_contraction_span(const test_contraction *c, int tensor, int64_t *low, int64_t *high);
/* Where element `number` of a tensor lies, counted in the order of its labels. */
int64_t test_contraction_at(const test_contraction *c, int tensor, int64_t number);

bool test_contraction_alpha_is_zero(const test_contraction *c);
bool test_contraction_reads_result(const test_contraction *c); /* beta is not 0 */

/* An element of the result as it has to be, and how far off a computed one may be. */
typedef struct test_expected {
  long double re, im, bound;
} test_expected;

/* Defines element `number` of the result. The pointers are to element (0, ..., 0); before is the result's former contents.
 *
 * The bound: any order of summing T terms, with or without fused operations, is off by gamma_T = T eps / (1 - T eps) times
 * the sum of the terms' magnitudes at most; alpha, beta and a sum that is taken before the product are a few roundings more.
 * So (T + 8) eps (|alpha| sum |l r| + |beta d|); four times that for complex numbers, where a product is two products and
 * a sum (a factor of 2), and two parts may be off (a factor of sqrt 2). Half types are summed in float, and rounded to
 * half a few times (8 at most are allowed for: a sum before the product, blocks of the sum). */
test_expected test_define(const test_contraction *c, const void *left, const void *right, const void *before,
                          int64_t number);

/* One element, read as what it is. */
void test_element_load(cuttType_t type, const void *element, long double *re, long double *im);

/* One line, for messages and to be read back by test_contraction_scan; cut to fit. */
void test_contraction_print(const test_contraction *c, char *line, size_t size);
bool test_contraction_scan(const char *line, test_contraction *c);

#endif
