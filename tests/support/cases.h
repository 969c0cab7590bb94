/* A problem with its buffers, its options and what its output has to be. */
#ifndef CUTT_TESTS_CASES_H
#define CUTT_TESTS_CASES_H

#include "support/problem.h"

typedef struct test_case {
  test_problem p;
  cuttOptions_t options;
  unsigned char *in, *out, *expected;
  size_t bytes;
  const char *path;
} test_case;

test_case test_make_case(cuttType_t type, int rank, const int64_t *extents, const int *perm, int threads);
void test_free_case(test_case *c);

/* Problems that lead to different methods: number is 0 to TEST_CASES - 1. */
enum { TEST_CASES = 6 };
test_case test_numbered_case(int number);

#endif
