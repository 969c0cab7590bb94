/* A stand-in for cuBLASLt, which that for cuBLAS (fake_cublas.h) is linked with: it lists algorithms, multiplies by plain loops
 * by one of them, and keeps books. An algorithm is right for the product alone that it was listed for. */
#ifndef CUTT_TESTS_CONTRACT_FAKE_CUBLAS_LT_H
#define CUTT_TESTS_CONTRACT_FAKE_CUBLAS_LT_H

#include <stdatomic.h>

#include "contract/fake_cublas.h"

enum { FAKE_LT_MOST = 8 };

typedef struct fake_cublas_lt_t {
  atomic_int alive;    /* descriptions */
  atomic_int handles;  /* that were made */
  atomic_int products; /* that it did */
  /* An algorithm of another product, with less workspace than it needs or unaligned (also where it needs none), or for addresses that it is not for. */
  atomic_int faults;
  size_t version;                 /* 0: 120804 */
  int count;                      /* of algorithms that it lists */
  size_t workspace[FAKE_LT_MOST]; /* what each needs; more than is preferred: it is not listed */
  uint32_t aligned[FAKE_LT_MOST]; /* the same of the alignment of addresses */
  int state[FAKE_LT_MOST];        /* not 0: it is listed, and can't be used */
  double seconds[FAKE_LT_MOST];   /* of a stream's clock */
  int config[FAKE_LT_MOST];       /* the number that each one's configuration is made of */
  int fail_list, fail_multiply, fail_create, fail_handle;
  bool fills_workspace; /* products do, with their own bytes */
  /* Of the last list: what was preferred. Of the last product: its algorithm, from 0 on, batch and stream. */
  uint64_t most_workspace;
  uint32_t reductions, alignment;
  int last, data, compute, scalars;
  int64_t batch;
  void *last_workspace;
  cudaStream_t stream;
  fake_later *later;
} fake_cublas_lt_t;

typedef fake_cublas_lt_t *fake_cublas_lt_function(void);

#endif
