/* One product by a CBLAS: its gemm, or its gemv where an operand is a vector. */
#include <string.h>

#include "base/types.h"
#include "blas/cblas.h"

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112, CONJUGATE_TRANSPOSE = 113 };

static int cblas_op(cutt_op op) {
  return op == CUTT_OP_N ? NO_TRANSPOSE : op == CUTT_OP_T ? TRANSPOSE : CONJUGATE_TRANSPOSE;
}

static void call_gemm(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g) {
  const int op_a = cblas_op(g->op_a), op_b = cblas_op(g->op_b);
  const int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
  switch (on->type) {
    case CUTT_F32:
      library->sgemm(COLUMN_MAJOR, op_a, op_b, m, n, k, *(const float *)on->alpha, on->a, lda, on->b, ldb,
                     *(const float *)on->beta, on->c, ldc);
      break;
    case CUTT_F64:
      library->dgemm(COLUMN_MAJOR, op_a, op_b, m, n, k, *(const double *)on->alpha, on->a, lda, on->b, ldb,
                     *(const double *)on->beta, on->c, ldc);
      break;
    default: {
      cutt_cblas_gemm_complex *gemm = on->type == CUTT_C32 ? library->cgemm : library->zgemm;
      gemm(COLUMN_MAJOR, op_a, op_b, m, n, k, on->alpha, on->a, lda, on->b, ldb, on->beta, on->c, ldc);
    }
  }
}

/* y = op(matrix) x, the matrix rows x columns as it is stored. */
typedef struct product_with_vector {
  cutt_op op;
  int rows, columns, ld;
  const void *matrix, *x;
  int incx, incy;
} product_with_vector;

static void call_gemv(const cutt_cblas *library, const cutt_gemm_operands *on, const product_with_vector *v) {
  const int op = cblas_op(v->op), length = v->op == CUTT_OP_N ? v->rows : v->columns;
  /* Some libraries read y even if beta is 0, and NaN times 0 is NaN. */
  if (cutt_gemm_zero(on->type, on->beta)) {
    const size_t bytes = (size_t)cutt_type_lookup(on->type)->bytes, step = bytes * (size_t)v->incy;
    for (int i = 0; i < length; ++i) memset((char *)on->c + step * (size_t)i, 0, bytes);
  }
  switch (on->type) {
    case CUTT_F32:
      library->sgemv(COLUMN_MAJOR, op, v->rows, v->columns, *(const float *)on->alpha, v->matrix, v->ld, v->x, v->incx,
                     *(const float *)on->beta, on->c, v->incy);
      break;
    case CUTT_F64:
      library->dgemv(COLUMN_MAJOR, op, v->rows, v->columns, *(const double *)on->alpha, v->matrix, v->ld, v->x, v->incx,
                     *(const double *)on->beta, on->c, v->incy);
      break;
    default: {
      cutt_cblas_gemv_complex *gemv = on->type == CUTT_C32 ? library->cgemv : library->zgemv;
      gemv(COLUMN_MAJOR, op, v->rows, v->columns, on->alpha, v->matrix, v->ld, v->x, v->incx, on->beta, on->c, v->incy);
    }
  }
}

cutt_vector cutt_cblas_vector(const cutt_gemm *g) {
  /* If both are vectors, the one that is stored as a column is to be the matrix. gemv conjugates transposed matrices only. */
  const bool b_is_column = g->m == 1 && g->n == 1 && g->op_a == CUTT_OP_N && g->op_b == CUTT_OP_N;
  if (g->n == 1 && g->op_b != CUTT_OP_C && !b_is_column) return CUTT_VECTOR_B;
  return g->m == 1 && g->op_a != CUTT_OP_C && g->op_b != CUTT_OP_C ? CUTT_VECTOR_A : CUTT_VECTOR_NONE;
}

/* The product is c = op(A) b, or transposed c = op(B)^T a. */
static product_with_vector as_gemv(const cutt_gemm_operands *on, const cutt_gemm *g, cutt_vector vector) {
  const int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb;
  if (vector == CUTT_VECTOR_B)
    return (product_with_vector){.op = g->op_a,
                                 .rows = g->op_a == CUTT_OP_N ? m : k,
                                 .columns = g->op_a == CUTT_OP_N ? k : m,
                                 .ld = lda,
                                 .matrix = on->a,
                                 .x = on->b,
                                 .incx = g->op_b == CUTT_OP_N ? 1 : ldb,
                                 .incy = 1};
  return (product_with_vector){.op = g->op_b == CUTT_OP_N ? CUTT_OP_T : CUTT_OP_N,
                               .rows = g->op_b == CUTT_OP_N ? k : n,
                               .columns = g->op_b == CUTT_OP_N ? n : k,
                               .ld = ldb,
                               .matrix = on->b,
                               .x = on->a,
                               .incx = g->op_a == CUTT_OP_N ? lda : 1,
                               .incy = (int)g->ldc};
}

void cutt_cblas_call(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g) {
  const cutt_vector vector = cutt_cblas_vector(g);
  if (vector == CUTT_VECTOR_NONE) {
    call_gemm(library, on, g);
  } else {
    const product_with_vector v = as_gemv(on, g, vector);
    call_gemv(library, on, &v);
  }
}
