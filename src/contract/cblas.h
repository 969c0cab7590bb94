/* A library with the CBLAS interface: its functions, between cblas_load.c, which finds them, and cblas.c, which calls
 * them. */
#ifndef CUTT_CONTRACT_CBLAS_H
#define CUTT_CONTRACT_CBLAS_H

#include <pthread.h>

#include "contract/gemm.h"

typedef void cutt_cblas_gemm_f32(int order, int op_a, int op_b, int m, int n, int k, float alpha, const void *a,
                                 int lda, const void *b, int ldb, float beta, void *c, int ldc);
typedef void cutt_cblas_gemm_f64(int order, int op_a, int op_b, int m, int n, int k, double alpha, const void *a,
                                 int lda, const void *b, int ldb, double beta, void *c, int ldc);
typedef void cutt_cblas_gemm_complex(int order, int op_a, int op_b, int m, int n, int k, const void *alpha,
                                     const void *a, int lda, const void *b, int ldb, const void *beta, void *c,
                                     int ldc);
typedef void cutt_cblas_gemv_f32(int order, int op, int m, int n, float alpha, const void *a, int lda, const void *x,
                                 int incx, float beta, void *y, int incy);
typedef void cutt_cblas_gemv_f64(int order, int op, int m, int n, double alpha, const void *a, int lda, const void *x,
                                 int incx, double beta, void *y, int incy);
typedef void cutt_cblas_gemv_complex(int order, int op, int m, int n, const void *alpha, const void *a, int lda,
                                     const void *x, int incx, const void *beta, void *y, int incy);

/* An OpenMP run time that the library may use. There can be two: what its symbols are bound to is the program's own if the
 * program has one, and else the one that the library names. */
typedef struct cutt_openmp {
  int (*get)(void);
  void (*set)(int threads);
} cutt_openmp;

typedef struct cutt_cblas {
  cutt_provider base;
  cutt_cblas_gemm_f32 *sgemm;
  cutt_cblas_gemm_f64 *dgemm;
  cutt_cblas_gemm_complex *cgemm, *zgemm;
  cutt_cblas_gemv_f32 *sgemv;
  cutt_cblas_gemv_f64 *dgemv;
  cutt_cblas_gemv_complex *cgemv, *zgemv;

  /* The number of threads that it uses, in integers of its own; either pair or none. */
  int (*get_threads)(void);
  void (*set_threads)(int threads);
  int64_t (*get_threads_64)(void);
  void (*set_threads_64)(int64_t threads);
  bool set_in_calls;                     /* the number is a thread's own in some versions */
  int (*set_threads_local)(int threads); /* MKL's: returns what was there */
  cutt_openmp openmp[2];
  int openmps;

  pthread_mutex_t lock; /* of the two below; and of each call, if one at a time */
  int sessions;
  int64_t threads_before;
  struct cutt_cblas *next;
} cutt_cblas;

/* The table of a provider, for a library whose functions are filled in. */
void cutt_cblas_table(cutt_cblas *library);

#endif
