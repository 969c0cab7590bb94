/* The tensors of a contraction in memory that is watched, and what the result was before it was written. */
#ifndef CUTT_TESTS_CONTRACT_PLACED_H
#define CUTT_TESTS_CONTRACT_PLACED_H

#include "reference.h"
#include "support/buffers.h"

typedef struct test_placed {
  test_region region[TEST_TENSORS];
  test_buffer buffer[TEST_TENSORS];
  unsigned char *zero[TEST_TENSORS]; /* element (0, ..., 0) */
  unsigned char *before;             /* the result's zone */
  size_t before_bytes;
} test_placed;

/* Places the tensors where c says and fills them (test_contraction_fill). Memory is kept from one to the next. */
void test_place(test_placed *p, const test_contraction *c);
void test_placed_free(test_placed *p);

void test_placed_restore(test_placed *p);                      /* the result as it was */
const unsigned char *test_placed_before(const test_placed *p); /* element (0, ..., 0) of that */

/* In a zone of the result, what is of no element has to be as it was. The elements are lost. */
void test_placed_assert_gaps(const test_placed *p, const test_contraction *c, unsigned char *zone);

#endif
