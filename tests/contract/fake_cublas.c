/* A stand-in for cuBLAS (fake_cublas.h). Compiled with FAKE_OLD, it is one of 11.0: no integers of 64 bits, no text for
 * an error, and here no cuBLASLt. */
#include "contract/fake_cublas.h"

#include <stddef.h>
#include <stdlib.h>

#include "cuda/fake_driver.h"

#define PUBLIC __attribute__((visibility("default")))

typedef struct cublasContext *handle;

static fake_cublas_t control;

static int multiply(handle h, const fake_product *p) {
  if (atomic_load(&control.fail_gemm)) return atomic_load(&control.fail_gemm);
  const int status = fake_product_check(p);
  if (status) return status;
  if (atomic_exchange(&h->in_use, true) || h->pointer_mode != 0) atomic_fetch_add(&control.faults, 1);
  atomic_fetch_add(&control.calls, 1);
  const fake_cublas_call call = {h,      h->stream, p->wide, p->m,      p->n,       p->k,        p->batch,
                                 p->lda, p->ldb,    p->ldc,  p->type_c, p->compute, h->math_mode};
  control.last = call;
  if (h->stream) h->stream->clock += control.seconds;
  if (!atomic_load(&control.only_remember)) fake_product_do(p, h->stream, control.later);
  atomic_store(&h->in_use, false);
  return 0;
}

#define GEMM(name, integer, is_wide)                                                                                   \
  PUBLIC int name(handle h, int op_a, int op_b, integer m, integer n, integer k, const void *alpha, const void *a,     \
                  int type_a, integer lda, const void *b, int type_b, integer ldb, const void *beta, void *c,          \
                  int type_c, integer ldc, int compute, int algorithm);                                                \
  PUBLIC int name(handle h, int op_a, int op_b, integer m, integer n, integer k, const void *alpha, const void *a,     \
                  int type_a, integer lda, const void *b, int type_b, integer ldb, const void *beta, void *c,          \
                  int type_c, integer ldc, int compute, int algorithm) {                                               \
    if (algorithm != -1) return FAKE_INVALID_VALUE;                                                                    \
    return multiply(h, &(fake_product){op_a,   op_b, m, n,    k, alpha,  a,   type_a, lda, 0,       b,                 \
                                       type_b, ldb,  0, beta, c, type_c, ldc, 0,      1,   compute, is_wide});         \
  }
#define BATCHED(name, integer, is_wide)                                                                                \
  PUBLIC int name(handle h, int op_a, int op_b, integer m, integer n, integer k, const void *alpha, const void *a,     \
                  int type_a, integer lda, long long stride_a, const void *b, int type_b, integer ldb,                 \
                  long long stride_b, const void *beta, void *c, int type_c, integer ldc, long long stride_c,          \
                  integer batch, int compute, int algorithm);                                                          \
  PUBLIC int name(handle h, int op_a, int op_b, integer m, integer n, integer k, const void *alpha, const void *a,     \
                  int type_a, integer lda, long long stride_a, const void *b, int type_b, integer ldb,                 \
                  long long stride_b, const void *beta, void *c, int type_c, integer ldc, long long stride_c,          \
                  integer batch, int compute, int algorithm) {                                                         \
    if (algorithm != -1) return FAKE_INVALID_VALUE;                                                                    \
    return multiply(                                                                                                   \
        h, &(fake_product){op_a,   op_b, m,        n,    k, alpha,  a,   type_a,   lda,   stride_a, b,                 \
                           type_b, ldb,  stride_b, beta, c, type_c, ldc, stride_c, batch, compute,  is_wide});         \
  }
GEMM(cublasGemmEx, int, false)
BATCHED(cublasGemmStridedBatchedEx, int, false)
#ifndef FAKE_OLD
GEMM(cublasGemmEx_64, int64_t, true)
BATCHED(cublasGemmStridedBatchedEx_64, int64_t, true)

PUBLIC const char *cublasGetStatusString(int status);
PUBLIC const char *cublasGetStatusString(int status) {
  return status == 14 ? "an internal failure on request" : "something else";
}
#endif

PUBLIC int cublasCreate_v2(handle *h);
PUBLIC int cublasCreate_v2(handle *h) {
  *h = NULL;
  if (atomic_load(&control.fail_create)) return atomic_load(&control.fail_create);
  *h = calloc(1, sizeof **h);
  if (!*h) return 3;
  atomic_fetch_add(&control.alive, 1);
  atomic_fetch_add(&control.made, 1);
  return 0;
}

PUBLIC int cublasDestroy_v2(handle h);
PUBLIC int cublasDestroy_v2(handle h) {
  atomic_fetch_sub(&control.alive, 1);
  free(h);
  return 0;
}

PUBLIC int cublasSetStream_v2(handle h, cudaStream_t stream);
PUBLIC int cublasSetStream_v2(handle h, cudaStream_t stream) {
  h->stream = stream;
  return 0;
}

PUBLIC int cublasSetPointerMode_v2(handle h, int mode);
PUBLIC int cublasSetPointerMode_v2(handle h, int mode) {
  h->pointer_mode = mode;
  return 0;
}

PUBLIC int cublasSetMathMode(handle h, int mode);
PUBLIC int cublasSetMathMode(handle h, int mode) {
  h->math_mode = mode;
  return 0;
}

PUBLIC int cublasGetProperty(int which, int *value);
PUBLIC int cublasGetProperty(int which, int *value) {
#ifdef FAKE_OLD
  static const int version[] = {11, 0, 3};
#else
  static const int version[] = {12, 8, 4};
#endif
  if (which < 0 || which > 2) return FAKE_INVALID_VALUE;
  *value = version[which];
  return 0;
}

PUBLIC fake_cublas_t *fake_cublas(void);
PUBLIC fake_cublas_t *fake_cublas(void) { return &control; }
