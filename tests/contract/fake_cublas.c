/* A stand-in for cuBLAS (fake_cublas.h). Compiled with FAKE_OLD, it is one of 11.0: no integers of 64 bits, no text for
 * an error. */
#include "contract/fake_cublas.h"

#include <complex.h>
#include <stddef.h>
#include <stdlib.h>

#define PUBLIC __attribute__((visibility("default")))

typedef struct cublasContext *handle;

static fake_cublas_t control;

enum { INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { R_32F = 0, R_64F = 1, C_32F = 4, C_64F = 5, COMPUTE_32F = 68, COMPUTE_64F = 70 };

static double complex load(int type, const void *from, int64_t i) {
  switch (type) {
    case R_32F:
      return (double)((const float *)from)[i];
    case R_64F:
      return ((const double *)from)[i];
    case C_32F: {
      const float *f = (const float *)from + 2 * i;
      return (double)f[0] + (double)f[1] * I;
    }
    default: {
      const double *d = (const double *)from + 2 * i;
      return d[0] + d[1] * I;
    }
  }
}

static void store(int type, void *to, int64_t i, double complex value) {
  switch (type) {
    case R_32F:
      ((float *)to)[i] = (float)creal(value);
      break;
    case R_64F:
      ((double *)to)[i] = creal(value);
      break;
    case C_32F:
      ((float *)to)[2 * i] = (float)creal(value);
      ((float *)to)[2 * i + 1] = (float)cimag(value);
      break;
    default:
      ((double *)to)[2 * i] = creal(value);
      ((double *)to)[2 * i + 1] = cimag(value);
  }
}

static double complex element(int type, int op, const void *matrix, int64_t from, int64_t ld, int64_t row,
                              int64_t column) {
  const double complex value = load(type, matrix, from + (op == 0 ? row + column * ld : column + row * ld));
  return op == 2 ? conj(value) : value;
}

typedef struct product {
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
  bool wide;
} product;

static int64_t at_least_1(int64_t x) { return x > 1 ? x : 1; }

/* With its scalars, which are the caller's. */
typedef struct planned {
  product p;
  double complex alpha, beta;
} planned;

static void compute(void *data) {
  const planned *now = data;
  const product *p = &now->p;
  const double complex alpha = now->alpha, beta = now->beta;
  for (int64_t h2 = 0; h2 < p->batch; ++h2) {
    for (int64_t j = 0; j < p->n; ++j) {
      for (int64_t i = 0; i < p->m; ++i) {
        double complex sum = 0;
        for (int64_t l = 0; l < p->k; ++l) {
          sum += element(p->type_a, p->op_a, p->a, h2 * p->stride_a, p->lda, i, l) *
                 element(p->type_b, p->op_b, p->b, h2 * p->stride_b, p->ldb, l, j);
        }
        const int64_t at = h2 * p->stride_c + i + j * p->ldc;
        store(p->type_c, p->c, at, alpha * sum + (beta == 0 ? 0 : beta * load(p->type_c, p->c, at)));
      }
    }
  }
}

static int multiply(handle h, const product *p) {
  const bool twice = p->type_c == R_64F || p->type_c == C_64F;
  if (atomic_load(&control.fail_gemm)) return atomic_load(&control.fail_gemm);
  if (p->type_c != R_32F && p->type_c != C_32F && !twice) return NOT_SUPPORTED;
  if (p->type_a != p->type_c || p->type_b != p->type_c || p->compute != (twice ? COMPUTE_64F : COMPUTE_32F)) {
    return NOT_SUPPORTED;
  }
  if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 || p->lda < at_least_1(p->op_a == 0 ? p->m : p->k) ||
      p->ldb < at_least_1(p->op_b == 0 ? p->k : p->n) || p->ldc < at_least_1(p->m)) {
    return INVALID_VALUE;
  }
  if (atomic_exchange(&h->in_use, true) || h->pointer_mode != 0) atomic_fetch_add(&control.faults, 1);
  atomic_fetch_add(&control.calls, 1);
  const fake_cublas_call call = {h,      h->stream, p->wide, p->m,      p->n,       p->k,        p->batch,
                                 p->lda, p->ldb,    p->ldc,  p->type_c, p->compute, h->math_mode};
  control.last = call;
  planned now = {*p, load(p->type_c, p->alpha, 0), load(p->type_c, p->beta, 0)};
  const bool computes = !atomic_load(&control.only_remember), is_late = control.later && h->stream;
  if (computes && is_late) control.later(h->stream, compute, &now, sizeof now);
  if (computes && !is_late) compute(&now);
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
    if (algorithm != -1) return INVALID_VALUE;                                                                         \
    return multiply(h, &(product){op_a,   op_b, m, n,    k, alpha,  a,   type_a, lda, 0,       b,                      \
                                  type_b, ldb,  0, beta, c, type_c, ldc, 0,      1,   compute, is_wide});              \
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
    if (algorithm != -1) return INVALID_VALUE;                                                                         \
    return multiply(h, &(product){op_a,   op_b, m,        n,    k, alpha,  a,   type_a,   lda,   stride_a, b,          \
                                  type_b, ldb,  stride_b, beta, c, type_c, ldc, stride_c, batch, compute,  is_wide});  \
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
  if (which < 0 || which > 2) return INVALID_VALUE;
  *value = version[which];
  return 0;
}

PUBLIC fake_cublas_t *fake_cublas(void);
PUBLIC fake_cublas_t *fake_cublas(void) { return &control; }
