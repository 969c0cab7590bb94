/* A permutation problem as a value: unlike cuttProblem_t it owns its arrays, also says where the buffers lie and how many
 * threads work, and can be written as one line and read back. A test that fails prints that line; running test_property
 * with CUTT_TEST_REPEAT set to it does the one problem again. */
#ifndef CUTT_TESTS_PROBLEM_H
#define CUTT_TESTS_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

/* Where a buffer lies: 0 .. 63 is a distance from a 64-byte boundary, with bytes to be left alone on either side. */
enum {
  TEST_AT_END = -1,  /* its last byte is the last before a page that can't be touched */
  TEST_AT_START = -2 /* its first byte is the first after such a page */
};

typedef union test_scalar {
  float f32[2];
  double f64[2];
  int32_t i32;
  int64_t i64;
  unsigned char raw[16];
} test_scalar;

typedef struct test_problem {
  int rank;
  cuttType_t type;
  int64_t extents[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
  bool in_strided, out_strided; /* false: the library is given NULL, and the strides below are the packed ones */
  int64_t in_strides[CUTT_MAX_RANK];
  int64_t out_strides[CUTT_MAX_RANK];
  bool has_alpha, has_beta; /* false: NULL */
  test_scalar alpha, beta;
  int conjugate;
  int in_at, out_at;
  int threads;
  uint64_t seed; /* of the contents */
} test_problem;

/* ------------------------------------------------------------------------------------------------ random numbers */

typedef struct test_rng {
  uint64_t state;
} test_rng;

/* A bijection whose outputs look random; here, for the loops that fill memory by it. */
static inline uint64_t test_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
uint64_t test_random(test_rng *rng);
int64_t test_random_in(test_rng *rng, int64_t low, int64_t high); /* low <= result <= high */
bool test_chance(test_rng *rng, int percent);
void test_shuffle(test_rng *rng, int *list, int count);

/* CUTT_TEST_SCALE, by which the programs multiply their numbers of random problems; 1 when it is not set. */
double test_scale(void);
int test_scaled(int count); /* count * test_scale(), at least 1 */

/* Whether problem number `turn` of a list is among the part, from 0 to 1, that is taken. The instruction sets of a processor
 * (CUTT_CPU_ISA) take parts that begin at other places, so that together they do the whole list if they are two and each takes
 * a half, or four and a quarter. */
bool test_taken(int turn, double part);
/* The part of a list that a run has the time for: all by themselves (CUTT_TEST_SCALE 1, or an instruction set that has no others
 * beside it), in a short run a half, or a quarter where four sets do one each, and as little as test_scale() says under sanitizers
 * and by slow engines. */
double test_part(void);

/* ------------------------------------------------------------------------------------------------ problems */

/* Bytes of an element; 0 for a value that is no type. */
size_t test_type_bytes(cuttType_t type);
bool test_type_computes(cuttType_t type);
bool test_type_complex(cuttType_t type);

/* A packed problem without scalars; extents and perm are copied. */
test_problem test_packed(cuttType_t type, int rank, const int64_t *extents, const int *perm);
/* Gives a packed one every second to fourth element of the input, in so many percent of all, of the output in fewer, and gaps behind runs of
 * one mode and of two, in so many percent of each. */
void test_add_small_gaps(test_rng *rng, test_problem *problem, int step_percent, int gap_percent);

/* Sets the strides that are not given to the packed ones. Call it after extents or perm have changed. */
void test_problem_finish(test_problem *problem);

/* What the library is given; it points into *problem. */
cuttProblem_t test_problem_view(const test_problem *problem);

int64_t test_volume(const test_problem *problem);

/* The elements that a side spans, counted from element (0, ..., 0): [*low, *high). Both 0 when there are none. */
void test_in_span(const test_problem *problem, int64_t *low, int64_t *high);
void test_out_span(const test_problem *problem, int64_t *low, int64_t *high);

/* Does anything happen to the elements other than being moved? */
bool test_problem_computes(const test_problem *problem);
bool test_beta_is_zero(const test_problem *problem);

/* One line without an end of line; cut to fit. */
void test_problem_print(const test_problem *problem, char *line, size_t size);
/* False when the line is not one that test_problem_print writes. */
bool test_problem_parse(const char *line, test_problem *problem);

/* ------------------------------------------------------------------------------------------------ random problems */

typedef struct test_limits {
  int min_rank, max_rank;
  int64_t max_volume;
  cuttType_t type;     /* 0: any */
  int percent_strided; /* each side by itself */
  int percent_scaled;  /* of the problems of computing types */
  int max_threads;
} test_limits;

test_problem test_random_problem(test_rng *rng, const test_limits *limits);

/* Makes two of the output's modes lie between each other's elements, strided and cut for that; of rank 2 or more. Then the
 * strides of the output are given. */
void test_interleave(test_rng *rng, test_problem *problem);

/* A scalar for alpha or beta of the type: often one of the special values. */
test_scalar test_random_scalar(test_rng *rng, cuttType_t type);

#endif
