/* Contractions to be tried: made from a pattern, varied at random, or drawn altogether. */
#ifndef CUTT_TESTS_CONTRACT_CASES_H
#define CUTT_TESTS_CONTRACT_CASES_H

#include "reference.h"

/* A packed one on one thread, without limit or scalars, with extents of 1. False when the pattern is not valid. */
bool test_contraction_make(const char *pattern, cuttType_t type, test_contraction *c);

/* Extents 1 to 5, different ones as far as they go; not more products than that. */
void test_contraction_small(test_rng *rng, int64_t most_products, test_contraction *c);

typedef struct test_variety {
  int percent_strided; /* each tensor by itself */
  int percent_scaled;
  int percent_limited; /* workspace */
  int max_threads;
  int percent_half; /* of f16 and bf16 */
} test_variety;

/* Another type, strides, scalars, conjugates, threads, limit and places in memory. Extents have to be set. */
void test_contraction_vary(test_rng *rng, const test_variety *variety, test_contraction *c);

/* A pattern and extents. max_rank is of each of the three; most_products: over all labels. */
void test_contraction_draw(test_rng *rng, int max_rank, int64_t most_products, test_contraction *c);

#endif
