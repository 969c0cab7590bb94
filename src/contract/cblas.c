/* Matrix products of the CPU by any library with the CBLAS interface, found at run time.
 *
 * Loaded with dlopen and never linked, so that one binary works with whatever is installed, and without any. No header of
 * a BLAS is needed either: the interface has not changed since 1998. RTLD_LOCAL keeps a library's names to itself: what
 * the program itself is linked with stays as it is.
 *
 * **Threads.** The engine runs products in its own threads, one in each, so a library must not start more. There are as
 * many ways to say so as libraries, and two kinds:
 *   of the process   OpenBLAS on pthreads, BLIS before 1.0, FlexiBLAS: begin sets one thread, and the end of the last
 *                    session puts back what was there, since the program may use the same library for its own ends.
 *                    (Until then its own products run on one thread too. The other way, one setting for good, would
 *                    last.) Sessions are counted under a mutex, which executions thus take twice.
 *   of a thread      OpenMP builds of OpenBLAS, which ask their OpenMP how many threads the caller may use; MKL; BLIS
 *                    since 1.0: set and put back around each call.
 * A library that is neither is taken for one that runs in its caller's thread.
 *
 * OpenBLAS without threads is safe to call from several of them only if it was built with locks, which it does not tell;
 * its calls are made one at a time. It is a choice only where nothing else is.
 *
 * **Sizes.** The interface's integers are of 32 bits. Products that are larger are cut (pieces.c). */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/types.h"
#include "contract/cblas.h"
#include "contract/pieces.h"

enum { COLUMN_MAJOR = 102, NO_TRANSPOSE = 111, TRANSPOSE = 112, CONJUGATE_TRANSPOSE = 113 };

/* ---------------------------------------------------------------------------------------------------------- threads */

static bool has_number(const cutt_cblas *library) { return library->set_threads || library->set_threads_64; }

static int64_t get_number(const cutt_cblas *library) {
  return library->get_threads_64 ? library->get_threads_64() : library->get_threads();
}

static void set_number(const cutt_cblas *library, int64_t threads) {
  if (library->set_threads_64) {
    library->set_threads_64(threads);
  } else {
    library->set_threads((int)threads);
  }
}

/* What one call has changed for its thread. */
typedef struct hold {
  int openmp[2];   /* 0: nothing */
  int64_t threads; /* 0: nothing */
  int local;
} hold;

static hold hold_threads(cutt_cblas *library) {
  hold held = {.local = -1};
  for (int i = 0; i < library->openmps; ++i) {
    const int threads = library->openmp[i].get();
    if (threads == 1) continue;
    held.openmp[i] = threads;
    library->openmp[i].set(1);
  }
  if (library->set_threads_local) held.local = library->set_threads_local(1);
  if (library->set_in_calls) {
    const int64_t threads = get_number(library);
    if (threads > 1) {
      held.threads = threads;
      set_number(library, 1);
    }
  }
  if (library->base.one_at_a_time) pthread_mutex_lock(&library->lock);
  return held;
}

static void release_threads(cutt_cblas *library, const hold *held) {
  if (library->base.one_at_a_time) pthread_mutex_unlock(&library->lock);
  if (held->threads) set_number(library, held->threads);
  if (held->local >= 0) library->set_threads_local(held->local);
  for (int i = library->openmps - 1; i >= 0; --i) {
    if (held->openmp[i]) library->openmp[i].set(held->openmp[i]);
  }
}

static cuttResult begin(const cutt_provider *provider, cudaStream_t stream, void **session) {
  (void)stream;
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)provider;
  *session = NULL;
  if (!has_number(library)) return CUTT_SUCCESS;
  pthread_mutex_lock(&library->lock);
  if (library->sessions++ == 0) {
    library->threads_before = get_number(library);
    if (library->threads_before != 1) set_number(library, 1);
  }
  pthread_mutex_unlock(&library->lock);
  return CUTT_SUCCESS;
}

static void end(const cutt_provider *provider, void *session) {
  (void)session;
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)provider;
  if (!has_number(library)) return;
  pthread_mutex_lock(&library->lock);
  if (--library->sessions == 0 && library->threads_before != 1) set_number(library, library->threads_before);
  pthread_mutex_unlock(&library->lock);
}

/* --------------------------------------------------------------------------------------------------------- products */

static bool is_zero(cuttType_t type, const void *scalar) {
  float f[2] = {0, 0};
  double d[2] = {0, 0};
  if (cutt_gemm_single(type)) {
    memcpy(f, scalar, (size_t)cutt_type_lookup(type)->bytes);
    return f[0] == 0 && f[1] == 0;
  }
  memcpy(d, scalar, (size_t)cutt_type_lookup(type)->bytes);
  return d[0] == 0 && d[1] == 0;
}

/* A product that the interface takes. */
typedef struct block {
  cuttType_t type;
  cutt_op op_a, op_b;
  int m, n, k, lda, ldb, ldc;
  const void *alpha, *a, *b, *beta;
  void *c;
} block;

static int cblas_op(cutt_op op) {
  return op == CUTT_OP_N ? NO_TRANSPOSE : op == CUTT_OP_T ? TRANSPOSE : CONJUGATE_TRANSPOSE;
}

static void call_gemm(const cutt_cblas *library, const block *p) {
  const int op_a = cblas_op(p->op_a), op_b = cblas_op(p->op_b);
  switch (p->type) {
    case CUTT_F32:
      library->sgemm(COLUMN_MAJOR, op_a, op_b, p->m, p->n, p->k, *(const float *)p->alpha, p->a, p->lda, p->b, p->ldb,
                     *(const float *)p->beta, p->c, p->ldc);
      break;
    case CUTT_F64:
      library->dgemm(COLUMN_MAJOR, op_a, op_b, p->m, p->n, p->k, *(const double *)p->alpha, p->a, p->lda, p->b, p->ldb,
                     *(const double *)p->beta, p->c, p->ldc);
      break;
    default: {
      cutt_cblas_gemm_complex *gemm = p->type == CUTT_C32 ? library->cgemm : library->zgemm;
      gemm(COLUMN_MAJOR, op_a, op_b, p->m, p->n, p->k, p->alpha, p->a, p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
    }
  }
}

/* A matrix of rows x columns, as it is stored, times a vector. */
typedef struct product_with_vector {
  cutt_op op;
  int rows, columns, ld;
  const void *matrix, *x;
  int incx, incy;
} product_with_vector;

static void call_gemv(const cutt_cblas *library, const block *p, const product_with_vector *v) {
  const int op = cblas_op(v->op), length = v->op == CUTT_OP_N ? v->rows : v->columns;
  /* Not all of them keep to "beta 0: not read" here: NaN times 0 has come out as NaN. */
  if (is_zero(p->type, p->beta)) {
    const size_t bytes = (size_t)cutt_type_lookup(p->type)->bytes, step = bytes * (size_t)v->incy;
    for (int i = 0; i < length; ++i) memset((char *)p->c + step * (size_t)i, 0, bytes);
  }
  switch (p->type) {
    case CUTT_F32:
      library->sgemv(COLUMN_MAJOR, op, v->rows, v->columns, *(const float *)p->alpha, v->matrix, v->ld, v->x, v->incx,
                     *(const float *)p->beta, p->c, v->incy);
      break;
    case CUTT_F64:
      library->dgemv(COLUMN_MAJOR, op, v->rows, v->columns, *(const double *)p->alpha, v->matrix, v->ld, v->x, v->incx,
                     *(const double *)p->beta, p->c, v->incy);
      break;
    default: {
      cutt_cblas_gemv_complex *gemv = p->type == CUTT_C32 ? library->cgemv : library->zgemv;
      gemv(COLUMN_MAJOR, op, v->rows, v->columns, p->alpha, v->matrix, v->ld, v->x, v->incx, p->beta, p->c, v->incy);
    }
  }
}

/* As a product with a vector, where there is one: libraries are poor at matrices of one column. Conjugation is of a
 * transposed matrix only. */
static bool as_gemv(const block *p, product_with_vector *v) {
  /* Of two vectors, the one that is stored as a column is the better matrix. */
  const bool b_is_column = p->m == 1 && p->n == 1 && p->op_a == CUTT_OP_N && p->op_b == CUTT_OP_N;
  if (p->n == 1 && p->op_b != CUTT_OP_C && !b_is_column) { /* c = op(A) b */
    *v = (product_with_vector){.op = p->op_a,
                               .rows = p->op_a == CUTT_OP_N ? p->m : p->k,
                               .columns = p->op_a == CUTT_OP_N ? p->k : p->m,
                               .ld = p->lda,
                               .matrix = p->a,
                               .x = p->b,
                               .incx = p->op_b == CUTT_OP_N ? 1 : p->ldb,
                               .incy = 1};
    return true;
  }
  if (p->m == 1 && p->op_a != CUTT_OP_C && p->op_b != CUTT_OP_C) { /* transposed: c = op(B)^T a */
    *v = (product_with_vector){.op = p->op_b == CUTT_OP_N ? CUTT_OP_T : CUTT_OP_N,
                               .rows = p->op_b == CUTT_OP_N ? p->k : p->n,
                               .columns = p->op_b == CUTT_OP_N ? p->n : p->k,
                               .ld = p->ldb,
                               .matrix = p->b,
                               .x = p->a,
                               .incx = p->op_a == CUTT_OP_N ? p->lda : 1,
                               .incy = p->ldc};
    return true;
  }
  return false;
}

static void multiply(const cutt_cblas *library, const block *p) {
  product_with_vector v;
  if (as_gemv(p, &v)) {
    call_gemv(library, p, &v);
  } else {
    call_gemm(library, p);
  }
}

static cuttResult multiply_piece(void *with, const cutt_gemm_operands *on, const cutt_gemm *g) {
  const bool real = !cutt_type_lookup(on->type)->complex;
  const block p = {.type = on->type,
                   .op_a = real && g->op_a == CUTT_OP_C ? CUTT_OP_T : g->op_a,
                   .op_b = real && g->op_b == CUTT_OP_C ? CUTT_OP_T : g->op_b,
                   .m = (int)g->m,
                   .n = (int)g->n,
                   .k = (int)g->k,
                   .lda = (int)g->lda,
                   .ldb = (int)g->ldb,
                   .ldc = (int)g->ldc,
                   .alpha = on->alpha,
                   .a = on->a,
                   .b = on->b,
                   .beta = on->beta,
                   .c = on->c};
  multiply(with, &p);
  return CUTT_SUCCESS;
}

static cuttResult gemm(const cutt_provider *provider, void *session, cuttType_t type, const cutt_gemm *g,
                       const void *alpha, const void *a, const void *b, const void *beta, void *c) {
  (void)session;
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)provider;
  if (g->batch > 1) return cutt_error(CUTT_INTERNAL_ERROR, "batches of products are for GPUs; this one is of the CPU");
  const cutt_gemm_operands on = {.type = type, .alpha = alpha, .a = a, .b = b, .beta = beta, .c = c};
  const hold held = hold_threads(library);
  const cuttResult result =
      cutt_gemm_fits(g) ? multiply_piece(library, &on, g) : cutt_gemm_pieces(&on, g, multiply_piece, library);
  release_threads(library, &held);
  return result;
}

static bool takes(const cutt_provider *provider, cuttType_t type) {
  const cutt_cblas *library = (const cutt_cblas *)(const void *)provider;
  switch (type) {
    case CUTT_F32:
      return library->sgemm && library->sgemv;
    case CUTT_F64:
      return library->dgemm && library->dgemv;
    case CUTT_C32:
      return library->cgemm && library->cgemv;
    case CUTT_C64:
      return library->zgemm && library->zgemv;
    default:
      return false;
  }
}

void cutt_cblas_table(cutt_cblas *library) {
  library->base.backend = CUTT_BACKEND_CPU;
  library->base.takes = takes;
  library->base.begin = begin;
  library->base.end = end;
  library->base.gemm = gemm;
}
