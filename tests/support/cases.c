#include "support/cases.h"

#include <stdlib.h>

#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

test_case test_make_case(cuttType_t type, int rank, const int64_t *extents, const int *perm, int threads) {
  test_case c = {.p = test_packed(type, rank, extents, perm), .options = CUTT_OPTIONS_INIT};
  c.options.threads = threads;
  c.bytes = (size_t)test_volume(&c.p) * test_type_bytes(type);
  c.in = malloc(c.bytes);
  c.out = malloc(c.bytes);
  c.expected = malloc(c.bytes);
  assert_non_null(c.in);
  assert_non_null(c.out);
  assert_non_null(c.expected);
  test_fill_bits(c.in, c.bytes, test_type_bytes(type), 3);
  test_reference(&c.p, c.in, c.expected);
  return c;
}

void test_free_case(test_case *c) {
  free(c->in);
  free(c->out);
  free(c->expected);
}

test_case test_numbered_case(int number) {
  static const int64_t extents[TEST_CASES][5] = {{40, 30, 20}, {64, 9, 11},     {300, 270},
                                                 {5000},       {3, 5, 7, 4, 6}, {2, 11, 3, 29, 13}};
  static const int perms[TEST_CASES][5] = {{2, 1, 0}, {0, 2, 1}, {1, 0}, {0}, {4, 2, 0, 3, 1}, {3, 0, 4, 1, 2}};
  static const int ranks[TEST_CASES] = {3, 3, 2, 1, 5, 5};
  return test_make_case(number % 2 ? CUTT_BYTES_8 : CUTT_BYTES_4, ranks[number], extents[number], perms[number],
                        1 + number % 3);
}
