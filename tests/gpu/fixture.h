/* A small problem with its input and its result, for the tests that are about how it is executed and not what. */
#ifndef CUTT_TESTS_GPU_FIXTURE_H
#define CUTT_TESTS_GPU_FIXTURE_H

#include "gpu/driver.h"

typedef struct gpu_case {
  test_problem problem;
  size_t bytes;
  unsigned char *in, *expected, *got; /* on the host */
} gpu_case;

/* A rank-4 tensor of 4-byte elements, some 150 KB, which takes tiles with remainders; contents follow from the seed. */
gpu_case gpu_case_make(uint64_t seed);
void gpu_case_free(gpu_case *c);

/* Other contents of the same problem. */
void gpu_case_refill(gpu_case *c, uint64_t seed);

/* Device memory with the input; with poison. */
gpu_address gpu_case_in(const gpu_case *c);
gpu_address gpu_case_out(const gpu_case *c);

/* Is the result at out, in memory of any kind? Waits for the default stream only. */
bool gpu_case_right(gpu_case *c, gpu_address out);

#endif
