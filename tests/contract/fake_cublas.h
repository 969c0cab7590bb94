/* A stand-in for cuBLAS: it multiplies the process's own memory, at once, by plain loops, keeps books of its handles, and
 * fails on request. It goes with the stand-in for the driver (tests/cuda/fake_driver.h). */
#ifndef CUTT_TESTS_CONTRACT_FAKE_CUBLAS_H
#define CUTT_TESTS_CONTRACT_FAKE_CUBLAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/fake_product.h"

struct cublasContext {
  cudaStream_t stream;
  int pointer_mode, math_mode;
  atomic_bool in_use; /* in a call: two at once in one handle are a fault */
};

typedef struct fake_cublas_call {
  struct cublasContext *handle;
  cudaStream_t stream;
  bool wide; /* by a function with integers of 64 bits */
  int64_t m, n, k, batch, lda, ldb, ldc;
  int data, compute, math_mode;
} fake_cublas_call;

typedef struct fake_cublas_t {
  atomic_int alive, made;            /* handles */
  atomic_int calls;                  /* products */
  atomic_int faults;                 /* two calls at once in one handle, a mode of pointers that is wrong */
  atomic_int fail_create, fail_gemm; /* the status that these give; 0: none */
  atomic_bool only_remember;         /* products touch no memory */
  double seconds;                    /* of a stream's clock that a product takes */
  fake_later *later;
  fake_cublas_call last;
} fake_cublas_t;

typedef fake_cublas_t *fake_cublas_function(void);

/* For programs that load it (fake_cublas_of.c): its books. NULL where the library is another one, or NULL. */
fake_cublas_t *fake_cublas_of(void *library);

/* The same of the library that CUTT_CUBLAS names; says on stderr where that is not the stand-in. */
fake_cublas_t *fake_cublas_named(void);

#endif
