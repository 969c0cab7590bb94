/* Memory for tests that does not forgive: pages that can't be touched before and after it, patterns around what may be
 * written, any alignment, and contents that differ in every element. */
#ifndef CUTT_TESTS_BUFFERS_H
#define CUTT_TESTS_BUFFERS_H

#include "support/problem.h"

/* A stretch of pages between two that can't be touched. Start from zeros; it grows when a buffer asks for more, and is
 * kept from problem to problem, because mapping is slow. */
typedef struct test_region {
  unsigned char *base; /* first usable byte */
  size_t bytes;        /* usable ones */
} test_region;

void test_region_free(test_region *region);
/* Forbids or allows writing to a region. False when the system refused. */
bool test_region_protect(test_region *region, bool read_only);

/* A buffer in a region: bytes from data on, and the zone around it that is checked too. */
typedef struct test_buffer {
  unsigned char *data;
  size_t bytes;
  unsigned char *zone;
  size_t zone_bytes;
} test_buffer;

/* Lays a buffer of so many bytes where at says (see TEST_AT_END). False when memory has run out. */
bool test_buffer_place(test_region *region, size_t bytes, int at, test_buffer *buffer);

/* Fills memory with elements that all differ, as far as their width allows: any bits for what is only moved, finite
 * numbers for what is computed with; test_fill_values also has zeros of both signs, infinities, NaNs, subnormal numbers, the
 * largest and the smallest ones. */
void test_fill_bits(void *memory, size_t bytes, size_t elem_bytes, uint64_t seed);
void test_fill_numbers(void *memory, size_t bytes, cuttType_t type, uint64_t seed);
void test_fill_values(void *memory, size_t bytes, cuttType_t type, uint64_t seed);

#endif
