/* Matrix products, and the libraries that do them. The rest of the contraction knows this and no library. */
#ifndef CUTT_BLAS_GEMM_H
#define CUTT_BLAS_GEMM_H

#include <stdbool.h>

#include "base/text.h"
#include "cutt_contract.h"

typedef enum cutt_op { CUTT_OP_N, CUTT_OP_T, CUTT_OP_C } cutt_op;

/* C = alpha op(A) op(B) + beta C, column-major: op(A) is m x k, op(B) k x n, C m x n. Extents are >= 1 and may pass 2^31;
 * leading dimensions are >= the rows of what is stored. batch > 1 (GPU only): as many products, the matrices of which are
 * stride elements apart; a stride of 0 repeats an operand. */
typedef struct cutt_gemm {
  cutt_op op_a, op_b;
  int64_t m, n, k;
  int64_t lda, ldb, ldc;
  int64_t batch, stride_a, stride_b, stride_c;
} cutt_gemm;

enum { CUTT_TINY = 24 };

/* A library. Immutable once it has been found, and never unloaded. */
typedef struct cutt_blas cutt_blas;
struct cutt_blas {
  const char *name; /* "openblas", "blis", "mkl", "cblas" (any other), "cublas" */
  cuttBackend_t backend;
  char path[512];    /* of the library that was loaded */
  char version[128]; /* as far as it tells; or "" */
  char kernels[64];  /* that it picked for this processor: "SkylakeX"; or "" where it does not tell */
  char environment_override
      [128]; /* what to set in the environment so that better ones are picked: "OPENBLAS_CORETYPE=SkylakeX"; or "" */
  double
      flops; /* per second, CUTT_F64, measured: on one core (m = n = k = 320), or on the GPU (4096); 0: not measured */
  double flops_f32;    /* the same for CUTT_F32 */
  double tiny_seconds; /* of a product with m = n = k = CUTT_TINY, CUTT_F64, likewise: libraries differ in it by ten */
  bool one_at_a_time;  /* calls from several threads take turns */

  bool (*takes)(const cutt_blas *blas, cuttType_t type);

  /* One execution of a plan: what lies between begin and end are products, from any number of threads on the CPU, from one
   * thread and in one stream on a GPU. On the CPU begin sees to it that each call runs on the calling thread alone; on a
   * GPU it takes a cuBLAS handle of the current context and binds it to the stream. *session is handed to the products. */
  cuttResult (*begin)(const cutt_blas *blas, cudaStream_t stream, void **session);
  void (*end)(const cutt_blas *blas, void *session);

  /* alpha and beta are of the type (float for CUTT_F16 and CUTT_BF16), in host memory. beta 0: C is not read. */
  cuttResult (*gemm)(const cutt_blas *blas, void *session, cuttType_t type, const cutt_gemm *gemm, const void *alpha,
                     const void *a, const void *b, const void *beta, void *c);
};

/* The provider that is asked for: NULL the fastest for the backend, a name, or a path. Loads and measures what is there at
 * the first call in the process (for a GPU: nothing is measured, flops come from the device's facts). Safe from any thread.
 * argument: what the caller calls `asked`. Errors: CUTT_INVALID_PARAMETER (no such name; not a CBLAS), CUTT_INVALID_DEVICE
 * (none is here, with what was looked for; or the type isn't one that it takes). */
cuttResult cutt_blas_find(cuttBackend_t backend, const char *asked, const char *argument, cuttType_t type,
                          const cutt_blas **blas);

/* Flops per second that it is expected to do with large matrices of a type, a real multiplication and addition counted as
 * two: on one core, or on the GPU of the calling thread's current context. 0: not known. */
double cutt_blas_speed(const cutt_blas *blas, cuttType_t type);

#endif
