/* Random contractions of tensors over ranks, held to the definition. Elements and scalars are small whole numbers, so that all sums
 * are exact in every type and every order, and any element that is wrong is found by comparing bytes. */
#ifndef CUTT_TESTS_DIST_PRODUCTS_H
#define CUTT_TESTS_DIST_PRODUCTS_H

#include "ranks.h"

enum { LEFT, RIGHT, RESULT, TENSORS, MOST_LABELS = 10, PATTERN_BYTES = 40 };

typedef struct product_case {
  uint64_t seed;
  int size, labels;
  int modes[TENSORS], label[TENSORS][MOST_MODES];
  int64_t extent[MOST_LABELS];
  char pattern[PATTERN_BYTES];
  bool one; /* operand */
  cuttType_t type;
  dist_side side[TENSORS];
  bool aligned; /* parts fit, so that nothing has to move */
  bool has_alpha, has_beta;
  int alpha[2], beta[2];
  int conjugate[2];
  cuttDistContractionOptions_t options;
  bool on_device; /* tensors are in the memory of the calling thread's GPU */
} product_case;

/* A random case for so many ranks; the same for the same seed. */
void product_case_make(product_case *c, uint64_t seed, int size);

/* The layout of a tensor, which points into the case; its strides are NULL. */
cuttDistLayout_t product_case_layout(const product_case *c, int tensor);

/* Plans and executes the case by these communicators, twice, and compares all that every rank has afterwards. "": all is right,
 * else what is wrong. false: there is no such plan, as all ranks were told. */
bool product_case_try(const product_case *c, const cuttDistComm_t *comms, char failure[FAILURE_BYTES]);

/* The same for one rank, whose others are other processes that make this call too. */
bool product_case_try_rank(const product_case *c, cuttDistComm_t comm, int rank, char failure[FAILURE_BYTES]);

#endif
