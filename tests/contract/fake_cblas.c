/* A stand-in for a BLAS (fake_cblas.h). */
#include "contract/fake_cblas.h"

#include <complex.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contract/fake_numbers.h"

#define PUBLIC __attribute__((visibility("default")))

#if FAKE_KIND == FAKE_NOTHING
PUBLIC int fake_nothing(void);
PUBLIC int fake_nothing(void) { return 0; }
#else

static fake_cblas_t control = {.threads = 4};

#define IS_BLIS (FAKE_KIND == FAKE_BLIS || FAKE_KIND == FAKE_BLIS_0_9 || FAKE_KIND == FAKE_BLIS_0_8)

#if IS_BLIS
static _Thread_local int threads = 4;
#define THREADS threads
#else
#define THREADS control.threads
#endif

/* ---------------------------------------------------------------------------------------------------------- products */

enum { F32 = FAKE_R_32F, F64 = FAKE_R_64F, C32 = FAKE_C_32F, C64 = FAKE_C_64F };

/* Element (row, column) of op(matrix), by CBLAS's numbers of operations. */
static double complex element(int type, int op, const void *matrix, int ld, ptrdiff_t row, ptrdiff_t column) {
  return fake_element(type, op - 111, matrix, 0, ld, row, column);
}

static void enter(fake_call call) {
  const int number = atomic_fetch_add(&control.calls, 1), inside = atomic_fetch_add(&control.inside, 1) + 1;
  if (number < FAKE_CALLS) control.call[number] = call;
  if (THREADS > control.most_in_call) control.most_in_call = THREADS;
  int most = atomic_load(&control.together);
  while (inside > most && !atomic_compare_exchange_weak(&control.together, &most, inside)) {
  }
}

static void leave(void) { atomic_fetch_sub(&control.inside, 1); }

/* --------------------------------------------------------------------------------------- what real ones do not forgive */

static size_t bytes_of(int type) { return type == F32 ? 4 : type == C64 ? 16 : 8; }

static void check_alignment(int type, const char *name, const void *operand) {
  const size_t number = type == F32 || type == C32 ? 4 : 8;
  if ((uintptr_t)operand % number == 0) return;
  fprintf(stderr, "the BLAS was given %s at %p, which is no multiple of %zu\n", name, operand, number);
  abort();
}

static volatile unsigned char read_there;

/* Reads so many elements that begin `from` elements from an operand. */
static void read_past(int type, const void *operand, ptrdiff_t from, ptrdiff_t count) {
  const unsigned char *at = (const unsigned char *)operand + from * (ptrdiff_t)bytes_of(type);
  for (ptrdiff_t i = 0; i < count * (ptrdiff_t)bytes_of(type); ++i) read_there = at[i];
}

static void read_past_gemm(int type, int op_a, int op_b, int m, int n, int k, const void *a, int lda, const void *b,
                           int ldb, const void *c, int ldc) {
  const int rows_a = op_a == 111 ? m : k, columns_a = op_a == 111 ? k : m;
  const int rows_b = op_b == 111 ? k : n, columns_b = op_b == 111 ? n : k;
  const bool rows = IS_BLIS && FAKE_KIND != FAKE_BLIS && type == F32, older = FAKE_KIND == FAKE_BLIS_0_8;
  if (older && type == F64) read_past(type, a, (ptrdiff_t)columns_a * lda, rows_a);
  if (rows || (older && type == F64)) read_past(type, b, (ptrdiff_t)columns_b * ldb, rows_b);
  if (rows) read_past(type, c, (ptrdiff_t)(n - 1) * ldc + m, 2);
  if (older && type == C32) read_past(type, c, (ptrdiff_t)(n - 1) * ldc + m, 1);
}

static void read_past_gemv(int type, int op, int m, int n, const void *x, int incx) {
  if (FAKE_KIND == FAKE_OPENBLAS_0_3_21 && (type == C32 || type == C64))
    read_past(type, x, (ptrdiff_t)(op == 111 ? n : m) * incx, 1);
}

enum { LARGE = 100 };

static void wait_for_others(void) {
  const char *asked = getenv("FAKE_SLEEP");
  const long ms = asked ? atol(asked) : 0;
  if (ms > 0) nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void gemm(int type, int op_a, int op_b, int m, int n, int k, double complex alpha, const void *a, int lda,
                 const void *b, int ldb, double complex beta, void *c, int ldc) {
  enter((fake_call){true, op_a, op_b, m, n, k, lda, ldb, ldc, a, b, c, creal(beta)});
  check_alignment(type, "A", a);
  check_alignment(type, "B", b);
  check_alignment(type, "C", c);
  if (m >= LARGE) wait_for_others();
  if (!control.only_remember) read_past_gemm(type, op_a, op_b, m, n, k, a, lda, b, ldb, c, ldc);
  for (ptrdiff_t j = 0; !control.only_remember && j < n; ++j) {
    for (ptrdiff_t i = 0; i < m; ++i) {
      const double complex sum = fake_dot(type, k, op_a - 111, a, 0, lda, i, op_b - 111, b, 0, ldb, j);
      fake_store(type, c, i + j * ldc, alpha * sum + (beta == 0 ? 0 : beta * fake_load(type, c, i + j * ldc)));
    }
  }
  leave();
}

/* As careless as some are: beta is multiplied with, whatever it is. */
static void gemv(int type, int op, int m, int n, double complex alpha, const void *a, int lda, const void *x, int incx,
                 double complex beta, void *y, int incy) {
  enter((fake_call){false, op, 0, m, n, 0, lda, incx, incy, a, x, y, creal(beta)});
  check_alignment(type, "the matrix", a);
  check_alignment(type, "x", x);
  check_alignment(type, "y", y);
  if (!control.only_remember) read_past_gemv(type, op, m, n, x, incx);
  const int rows = op == 111 ? m : n, columns = op == 111 ? n : m;
  for (ptrdiff_t i = 0; !control.only_remember && i < rows; ++i) {
    double complex sum = 0;
    for (ptrdiff_t l = 0; l < columns; ++l) sum += element(type, op, a, lda, i, l) * fake_load(type, x, l * incx);
    fake_store(type, y, i * incy, alpha * sum + beta * fake_load(type, y, i * incy));
  }
  leave();
}

#define REAL(letter, type, scalar)                                                                                     \
  PUBLIC void cblas_##letter##gemm(int order, int op_a, int op_b, int m, int n, int k, scalar alpha, const scalar *a,  \
                                   int lda, const scalar *b, int ldb, scalar beta, scalar *c, int ldc);                \
  PUBLIC void cblas_##letter##gemm(int order, int op_a, int op_b, int m, int n, int k, scalar alpha, const scalar *a,  \
                                   int lda, const scalar *b, int ldb, scalar beta, scalar *c, int ldc) {               \
    if (order == 102) gemm(type, op_a, op_b, m, n, k, (double)alpha, a, lda, b, ldb, (double)beta, c, ldc);            \
  }                                                                                                                    \
  PUBLIC void cblas_##letter##gemv(int order, int op, int m, int n, scalar alpha, const scalar *a, int lda,            \
                                   const scalar *x, int incx, scalar beta, scalar *y, int incy);                       \
  PUBLIC void cblas_##letter##gemv(int order, int op, int m, int n, scalar alpha, const scalar *a, int lda,            \
                                   const scalar *x, int incx, scalar beta, scalar *y, int incy) {                      \
    if (order == 102) gemv(type, op, m, n, (double)alpha, a, lda, x, incx, (double)beta, y, incy);                     \
  }
REAL(s, F32, float)
REAL(d, F64, double)

#if FAKE_KIND != FAKE_PLAIN
#define COMPLEX(letter, type)                                                                                          \
  PUBLIC void cblas_##letter##gemm(int order, int op_a, int op_b, int m, int n, int k, const void *alpha,              \
                                   const void *a, int lda, const void *b, int ldb, const void *beta, void *c,          \
                                   int ldc);                                                                           \
  PUBLIC void cblas_##letter##gemm(int order, int op_a, int op_b, int m, int n, int k, const void *alpha,              \
                                   const void *a, int lda, const void *b, int ldb, const void *beta, void *c,          \
                                   int ldc) {                                                                          \
    if (order != 102) return;                                                                                          \
    gemm(type, op_a, op_b, m, n, k, fake_load(type, alpha, 0), a, lda, b, ldb, fake_load(type, beta, 0), c, ldc);      \
  }                                                                                                                    \
  PUBLIC void cblas_##letter##gemv(int order, int op, int m, int n, const void *alpha, const void *a, int lda,         \
                                   const void *x, int incx, const void *beta, void *y, int incy);                      \
  PUBLIC void cblas_##letter##gemv(int order, int op, int m, int n, const void *alpha, const void *a, int lda,         \
                                   const void *x, int incx, const void *beta, void *y, int incy) {                     \
    if (order != 102) return;                                                                                          \
    gemv(type, op, m, n, fake_load(type, alpha, 0), a, lda, x, incx, fake_load(type, beta, 0), y, incy);               \
  }
COMPLEX(c, C32)
COMPLEX(z, C64)
#endif

/* -------------------------------------------------------------------------------------------------- what it says it is */

#if FAKE_KIND == FAKE_OPENBLAS || FAKE_KIND == FAKE_ILP64 || FAKE_KIND == FAKE_SERIAL ||                               \
    FAKE_KIND == FAKE_OPENBLAS_0_3_21
PUBLIC const char *openblas_get_config(void);
PUBLIC const char *openblas_get_config(void) {
  return FAKE_KIND == FAKE_ILP64             ? "OpenBLAS 9.8.7 USE64BITINT DYNAMIC_ARCH"
         : FAKE_KIND == FAKE_OPENBLAS_0_3_21 ? "OpenBLAS 0.3.21 DYNAMIC_ARCH Prescott"
                                             : "OpenBLAS 9.8.7 DYNAMIC_ARCH Prescott";
}
PUBLIC const char *openblas_get_corename(void);
PUBLIC const char *openblas_get_corename(void) { return "Prescott"; }
PUBLIC int openblas_get_parallel(void);
PUBLIC int openblas_get_parallel(void) { return FAKE_KIND == FAKE_SERIAL ? 0 : 1; }
PUBLIC int openblas_get_num_threads(void);
PUBLIC int openblas_get_num_threads(void) { return control.threads; }
PUBLIC void openblas_set_num_threads(int number);
PUBLIC void openblas_set_num_threads(int number) { control.threads = number; }
#elif IS_BLIS
PUBLIC const char *bli_info_get_version_str(void);
PUBLIC const char *bli_info_get_version_str(void) {
  return FAKE_KIND == FAKE_BLIS_0_9 ? "0.9.0" : FAKE_KIND == FAKE_BLIS_0_8 ? "0.8.0" : "9.8";
}
PUBLIC int64_t bli_info_get_blas_int_type_size(void);
PUBLIC int64_t bli_info_get_blas_int_type_size(void) { return 32; }
#if FAKE_KIND == FAKE_BLIS
PUBLIC void bli_init(void);
PUBLIC void bli_init(void) {}
PUBLIC int bli_arch_query_id(void);
PUBLIC int bli_arch_query_id(void) { return 2; }
PUBLIC const char *bli_arch_string(int id);
PUBLIC const char *bli_arch_string(int id) {
  static const char *const names[] = {"knl", "skx", "haswell"};
  return names[id];
}
#endif
PUBLIC int64_t bli_thread_get_num_threads(void);
PUBLIC int64_t bli_thread_get_num_threads(void) { return threads; }
PUBLIC void bli_thread_set_num_threads(int64_t number);
PUBLIC void bli_thread_set_num_threads(int64_t number) { threads = (int)number; }
#endif

static int threads_of_thread(void) { return THREADS; }

static void forget(void) {
  control.most_in_call = 0;
  control.only_remember = false;
  atomic_store(&control.together, 0);
  atomic_store(&control.calls, 0);
  memset(control.call, 0, sizeof control.call);
}

PUBLIC fake_cblas_t *fake_cblas(void);
PUBLIC fake_cblas_t *fake_cblas(void) {
  control.threads_of_thread = threads_of_thread;
  control.forget = forget;
  return &control;
}
#endif
