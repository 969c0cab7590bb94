/* Contractions in memory that is watched. */
#include "placed.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "try.h"

void test_place(test_placed *p, const test_contraction *c) {
  const size_t element = test_type_bytes(c->type);
  for (int t = 0; t < TEST_TENSORS; ++t) {
    int64_t low, high;
    test_contraction_span(c, t, &low, &high);
    assert_true(test_buffer_place(&p->region[t], (size_t)(high - low) * element, c->at[t], &p->buffer[t]));
    test_fill_bits(p->buffer[t].zone, p->buffer[t].zone_bytes, 1, c->seed);
    test_contraction_fill(c, t, p->buffer[t].data, p->buffer[t].bytes);
    p->zero[t] = p->buffer[t].data - low * (int64_t)element;
  }
  const test_buffer *result = &p->buffer[TEST_RESULT];
  free(p->before);
  p->before = malloc(result->zone_bytes);
  p->before_bytes = result->zone_bytes;
  assert_non_null(p->before);
  memcpy(p->before, result->zone, result->zone_bytes);
}

void test_placed_free(test_placed *p) {
  for (int t = 0; t < TEST_TENSORS; ++t) test_region_free(&p->region[t]);
  free(p->before);
}

void test_placed_restore(test_placed *p) { memcpy(p->buffer[TEST_RESULT].zone, p->before, p->before_bytes); }

const unsigned char *test_placed_before(const test_placed *p) {
  return p->before + (p->zero[TEST_RESULT] - p->buffer[TEST_RESULT].zone);
}

void test_placed_assert_gaps(const test_placed *p, const test_contraction *c, unsigned char *zone) {
  const int64_t element = (int64_t)test_type_bytes(c->type), zero = p->zero[TEST_RESULT] - p->buffer[TEST_RESULT].zone;
  for (int64_t i = 0; i < test_contraction_volume(c, TEST_RESULT); ++i) {
    const int64_t at = zero + test_contraction_at(c, TEST_RESULT, i) * element;
    memcpy(zone + at, p->before + at, (size_t)element);
  }
  assert_memory_equal(zone, p->before, p->before_bytes);
}
