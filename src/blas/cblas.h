/* A library with the CBLAS interface: cblas_load.c finds its functions, cblas_call.c calls them, cblas_copy.c copies operands
 * that can't be given to it as they are, and cblas.c limits its threads. */
#ifndef CUTT_BLAS_CBLAS_H
#define CUTT_BLAS_CBLAS_H

#include <pthread.h>
#include <stdatomic.h>

#include "blas/blocks.h"

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

/* An OpenMP runtime that the library may use. There may be two: the program's, which the library's symbols are bound to if
 * there is one, and the one that the library was linked with. */
typedef struct cutt_openmp {
  int (*get)(void);
  void (*set)(int threads);
} cutt_openmp;

/* How far a call reads past the ends of its operands A, B and C (cblas_defects.c): columns of the matrix as it is stored (of a
 * vector elements, an increment apart), and elements after those. */
typedef struct cutt_overread {
  int columns[3], elements[3];
} cutt_overread;

/* CUTT_F32, F64, C32, C64 by number. */
enum { CUTT_CBLAS_TYPES = 4 };
int cutt_cblas_type(cuttType_t type);

typedef struct cutt_cblas {
  cutt_blas base;
  cutt_cblas_gemm_f32 *sgemm;
  cutt_cblas_gemm_f64 *dgemm;
  cutt_cblas_gemm_complex *cgemm, *zgemm;
  cutt_cblas_gemv_f32 *sgemv;
  cutt_cblas_gemv_f64 *dgemv;
  cutt_cblas_gemv_complex *cgemv, *zgemv;

  /* Getting and setting the number of threads that it uses, in integers of one size or the other; or NULL. */
  int (*get_threads)(void);
  void (*set_threads)(int threads);
  int64_t (*get_threads_64)(void);
  void (*set_threads_64)(int64_t threads);
  /* That number may be one of each thread, and so is set around each call. */
  bool set_in_calls;
  /* MKL's, which returns the number before. */
  int (*set_threads_local)(int threads);
  cutt_openmp openmp[2];
  int openmps;

  /* By type: of products of matrices [0], and of a matrix and a vector [1]; and whether there is any. */
  cutt_overread past[2][CUTT_CBLAS_TYPES];
  bool reads_past[CUTT_CBLAS_TYPES];

  /* Guards sessions, threads_before and extra_calls; where only one call is made at a time, held during each. */
  pthread_mutex_t lock;
  /* Executions under way, and the number of threads before the first of them. */
  int sessions;
  int64_t threads_before;
  /* The process's memory is limited, as of the last plan. Then a call either has the buffer that the library has kept since it
   * was measured, and holds first_buffer meanwhile; or it is one of extra_calls, for all of which there was room. */
  atomic_bool limited;
  int extra_calls;
  pthread_mutex_t first_buffer;
  /* Bytes that a call may map. */
  size_t call_bytes;
} cutt_cblas;

/* Fills in the functions of library->base. */
void cutt_cblas_table(cutt_cblas *library);

/* Which operand makes a product one of a matrix and a vector. It is done by gemv then, since gemm is slow with a single
 * column. */
typedef enum cutt_vector { CUTT_VECTOR_NONE, CUTT_VECTOR_A, CUTT_VECTOR_B } cutt_vector;
cutt_vector cutt_cblas_vector(const cutt_gemm *g);

/* Has the library do a product as it is. All numbers are INT_MAX at most. */
void cutt_cblas_call(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g);

/* What the releases of a library before one read past their operands. */
typedef struct cutt_cblas_defect {
  const char *library;
  int before[3];
  cuttType_t type;
  /* Of a product of a matrix and a vector: `past` is of the matrix, x and y. Else it is of A, B and C. */
  bool vector;
  cutt_overread past;
  /* A product that shows it when operand number `operand` of A, B and C lies at the end of mapped memory. */
  cutt_gemm reproduces;
  int operand;
} cutt_cblas_defect;
const cutt_cblas_defect *cutt_cblas_defects(int *count);
/* Is the library such a release? */
bool cutt_cblas_has(const cutt_cblas *library, const cutt_cblas_defect *defect);

/* Sets library->past and reads_past, by its name and version. */
void cutt_cblas_find_defects(cutt_cblas *library);

/* Does a product of any size, of operands at any address. Errors: CUTT_INTERNAL_ERROR (no memory for copies). */
cuttResult cutt_cblas_multiply(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g);

#endif
