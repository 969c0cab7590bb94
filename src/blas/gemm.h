/* Matrix products, and the BLAS libraries that do them, whichever they are. */
#ifndef CUTT_BLAS_GEMM_H
#define CUTT_BLAS_GEMM_H

#include <stdbool.h>
#include <stdint.h>

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

/* Products of one layout, of which a library is asked for the algorithms that it knows. */
typedef struct cutt_gemm_case {
  cuttType_t type;
  cutt_gemm gemm;
  /* The addresses of all matrices are multiples of this, a power of two; and bytes of workspace that there may be. */
  int64_t alignment;
  size_t workspace;
} cutt_gemm_case;

/* An algorithm, as numbers that only the release of the library understands that gave them. The first is its version. */
enum { CUTT_GEMM_WORDS = 11, CUTT_GEMM_ALGORITHMS = 8 };
typedef struct cutt_gemm_algorithm {
  uint32_t word[CUTT_GEMM_WORDS];
} cutt_gemm_algorithm;

/* Products of one layout by one algorithm: immutable, and the head of what the library keeps of them. */
typedef struct cutt_gemm_chosen {
  cutt_gemm_case of;
  size_t workspace; /* bytes that each product needs, from a multiple of 256 on */
  char name[112];   /* in words */
} cutt_gemm_chosen;

/* The extents m, n and k of the tiny product that libraries are measured with. */
enum { CUTT_TINY = 24 };

/* A library. Immutable once it has been found, and never unloaded. */
typedef struct cutt_blas cutt_blas;
struct cutt_blas {
  /* "openblas", "blis", "mkl", "cblas" (any other), "cublas". */
  const char *name;
  cuttBackend_t backend;
  /* Of the library that was loaded. */
  char path[512];
  /* As the library gives it; "": it gives none. */
  char version[128];
  /* The processor that it has picked its kernels for, "SkylakeX"; "": it does not say. */
  char kernels[64];
  /* The environment variable that makes it pick better ones, with its value, "OPENBLAS_CORETYPE=SkylakeX"; "": none would. */
  char environment_override[128];
  /* Floating-point operations per second in CUTT_F64 and in CUTT_F32: measured on one core with m = n = k = 320; on a GPU what
   * is expected of large products. 0: not known. */
  double flops;
  double flops_f32;
  /* Seconds of a product in CUTT_F64 with m = n = k = CUTT_TINY, measured; libraries differ in it by a factor of ten. */
  double tiny_seconds;
  /* It does not say that several threads may call it at once, so that only one does at a time. */
  bool one_at_a_time;

  bool (*takes)(const cutt_blas *blas, cuttType_t type);

  /* An execution of a plan calls begin, then gemm any number of times, then end: on the CPU gemm from any threads, on a GPU
   * from one thread, for one stream. On the CPU begin sees to it that each call runs on the calling thread alone; on a GPU it
   * takes a cuBLAS handle of the current context and binds it to the stream. gemm and end are given begin's *session. */
  cuttResult (*begin)(const cutt_blas *blas, cudaStream_t stream, void **session);
  void (*end)(const cutt_blas *blas, void *session);

  /* alpha and beta are of the type (float for CUTT_F16 and CUTT_BF16), in host memory. beta 0: C is not read. */
  cuttResult (*gemm)(const cutt_blas *blas, void *session, cuttType_t type, const cutt_gemm *gemm, const void *alpha,
                     const void *a, const void *b, const void *beta, void *c);

  /* Lists the algorithms for a product, those first that the library thinks the fastest; there may be none. NULL, as the next
   * three are then: it has none to be chosen from. On a GPU, in the current context. */
  cuttResult (*algorithms)(const cutt_blas *blas, const cutt_gemm_case *of,
                           cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS], int *count);
  /* One of that list is made ready, whose words may be from a file; NULL: the first of the list, and *chosen is NULL where there is
   * none. Errors: CUTT_INVALID_PARAMETER (it is not in the list, or of another release), CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
  cuttResult (*choose)(const cutt_blas *blas, const cutt_gemm_case *of, const cutt_gemm_algorithm *algorithm,
                       cutt_gemm_chosen **chosen);
  void (*forget)(const cutt_blas *blas, cutt_gemm_chosen *chosen);
  /* As gemm, without a session: from any thread, in a stream of the context in which it was chosen. All addresses are multiples of the
   * alignment. */
  cuttResult (*gemm_chosen)(const cutt_blas *blas, const cutt_gemm_chosen *chosen, const void *alpha, const void *a,
                            const void *b, const void *beta, void *c, void *workspace, cudaStream_t stream);
};

/* Are the addresses multiples of the alignment? */
static inline bool cutt_gemm_chosen_fits(const cutt_gemm_chosen *chosen, const void *a, const void *b, const void *c) {
  return (((uintptr_t)a | (uintptr_t)b | (uintptr_t)c) & ((uintptr_t)chosen->of.alignment - 1)) == 0;
}

/* The library that is asked for: NULL for the fastest of the backend, a name, or a path. The first call in a process loads all
 * libraries that are found, and on the CPU measures them. Safe from any thread. argument: what the caller calls `asked`.
 * Errors: CUTT_INVALID_PARAMETER (no such name; not a CBLAS), CUTT_INVALID_DEVICE (there is none, with what was looked for; or
 * it does not take the type). */
cuttResult cutt_blas_find(cuttBackend_t backend, const char *asked, const char *argument, cuttType_t type,
                          const cutt_blas **blas);

/* Floating-point operations per second that are expected of large products of a type, a real multiplication and addition
 * counted as two: on one core, or on the GPU of the calling thread's current context. 0: not known. */
double cutt_blas_speed(const cutt_blas *blas, cuttType_t type);

#endif
