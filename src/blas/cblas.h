/* A library with the CBLAS interface: its functions, between cblas_load.c, which finds them, and cblas.c, which calls
 * them. */
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

/* An OpenMP run time that the library may use. There can be two: what its symbols are bound to is the program's own if the
 * program has one, and else the one that the library names. */
typedef struct cutt_openmp {
  int (*get)(void);
  void (*set)(int threads);
} cutt_openmp;

/* What a call reads past the ends of its operands (cblas_defects.c), of each of A, B and C as the product has them: so many
 * columns more than there are as it is stored, of a vector elements, and then so many elements. */
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

  /* The number of threads that it uses, in integers of its own; either pair or none. */
  int (*get_threads)(void);
  void (*set_threads)(int threads);
  int64_t (*get_threads_64)(void);
  void (*set_threads_64)(int64_t threads);
  bool set_in_calls;                     /* the number is a thread's own in some versions */
  int (*set_threads_local)(int threads); /* MKL's: returns what was there */
  cutt_openmp openmp[2];
  int openmps;

  cutt_overread past[2][CUTT_CBLAS_TYPES]; /* of products of matrices, and of a matrix and a vector */
  bool reads_past[CUTT_CBLAS_TYPES];       /* any of either */

  pthread_mutex_t lock; /* of those below; and of each call, if one at a time */
  int sessions;
  int64_t threads_before;
  atomic_bool limited;  /* memory is, as of the last plan */
  int inside, beside;   /* where it is: calls under way beside the one whose turn it is, and how many may be */
  pthread_mutex_t turn; /* of calls that there is no more room for */
  size_t call_bytes;    /* that a call may map */
} cutt_cblas;

/* The table of a blas, for a library whose functions are filled in. */
void cutt_cblas_table(cutt_cblas *library);

/* Which operand of a product is the vector of a matrix-vector product: libraries are poor at matrices of one column. */
typedef enum cutt_vector { CUTT_VECTOR_NONE, CUTT_VECTOR_A, CUTT_VECTOR_B } cutt_vector;
cutt_vector cutt_cblas_vector(const cutt_gemm *g);

/* Gives a product to the library as it is. All its numbers are INT_MAX at most. */
void cutt_cblas_call(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g);

/* What releases of a library before one read past their operands. */
typedef struct cutt_cblas_defect {
  const char *library;
  int before[3];
  cuttType_t type;
  bool vector;          /* matrix times vector: past is of the matrix, x and y */
  cutt_overread past;   /* else of A, B and C */
  cutt_gemm reproduces; /* the product that shows it, */
  int operand;          /* when this one of A, B and C lies at the end of memory */
} cutt_cblas_defect;
const cutt_cblas_defect *cutt_cblas_defects(int *count);
bool cutt_cblas_has(const cutt_cblas *library, const cutt_cblas_defect *defect);

/* Sets past and reads_past, by name and version. */
void cutt_cblas_find_defects(cutt_cblas *library);

/* Does a product of any size, of operands at any address. Errors: CUTT_INTERNAL_ERROR (no memory for copies). */
cuttResult cutt_cblas_multiply(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g);

#endif
