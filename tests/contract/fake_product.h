/* A product of the process's own memory by plain loops, for the stand-ins of cuBLAS and cuBLASLt. */
#ifndef CUTT_TESTS_CONTRACT_FAKE_PRODUCT_H
#define CUTT_TESTS_CONTRACT_FAKE_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cutt.h"

enum { FAKE_INVALID_VALUE = 7, FAKE_NOT_SUPPORTED = 15 };
enum { FAKE_R_32F = 0, FAKE_R_64F = 1, FAKE_C_32F = 4, FAKE_C_64F = 5, FAKE_COMPUTE_32F = 68, FAKE_COMPUTE_64F = 70 };

typedef struct fake_product {
  int op_a, op_b;
  int64_t m, n, k;
  const void *alpha, *a;
  int type_a;
  int64_t lda, stride_a;
  const void *b;
  int type_b;
  int64_t ldb, stride_b;
  const void *beta;
  void *c;
  int type_c;
  int64_t ldc, stride_c, batch;
  int compute;
  bool wide; /* by a function with integers of 64 bits */
} fake_product;

/* Gives a stream something to do, as that of the stand-in for the driver, where streams are late; NULL: they are not. */
typedef void fake_later(struct CUstream_st *stream, void (*work)(void *data), const void *data, size_t bytes);

/* 0, or the status that cuBLAS gives for it. */
int fake_product_check(const fake_product *p);

void fake_product_do(const fake_product *p, cudaStream_t stream, fake_later *later);

#endif
