/* cutt_contract.h: tensor contraction, D = alpha * L * R + beta * D, by permutation and matrix multiplication.
 *
 * The route is the indirect one of TAL-SH and of the cuTT paper (section 3.4): operands are permuted until the contraction
 * is a matrix product, that is left to a BLAS, and the result is permuted back. Plans are made so that as little as
 * possible has to be permuted, often nothing.
 *
 * Conventions are cutt.h's: the first mode of a tensor is its stride-1 mode, extents and strides are counted in elements,
 * every call returns a cuttResult_t, and cuttLastError() says what was wrong.
 *
 * The BLAS is found at run time. On the CPU any library that has the CBLAS interface will do (OpenBLAS, BLIS, MKL); the
 * fastest one that is found is used, one thread in each of the library's own. On a GPU it is cuBLAS. Where there is none,
 * planning fails with CUTT_INVALID_DEVICE and says what was looked for.
 *
 * The header compiles as C99 and as C++ and needs no CUDA header. Programs link libcutt_contract and libcutt. */
#ifndef CUTT_CONTRACT_H
#define CUTT_CONTRACT_H

#include "cutt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How numbers are put together. CUTT_OP_MAX and CUTT_OP_MIN are not for complex types; where a number is a NaN their result is
 * one, as NumPy's is. Whole numbers have a sign, and wrap around. */
typedef enum cuttOperator { CUTT_OP_ADD = 0, CUTT_OP_MULTIPLY = 1, CUTT_OP_MAX = 2, CUTT_OP_MIN = 3 } cuttOperator_t;

/* What to compute. Start from CUTT_CONTRACTION_INIT, then fill in. Everything that a pointer points to is read during the
 * call that takes it and not kept.
 *
 * The pattern names the modes of each tensor, in one of two forms:
 *   einsum   "abc,cd->abd"                        one letter (a-z, A-Z) a mode; without "->..." the result has the letters
 *                                                 that are there once, in alphabetical order; white space is ignored
 *   TAL-SH   "D(a,b,d)+=L(a,b,c)*R(c,d)"          names of letters, digits and _ between commas, of any length; "L+(...)"
 *                                                 and "R+(...)" conjugate that operand (which changes nothing in real
 *                                                 types); "+=" makes beta 1 and "=" 0, unless beta is given
 * The FIRST letter is the stride-1 mode, as in TAL-SH and Fortran; for NumPy's C-order arrays write each group backwards.
 *
 * There may be one operand: "abcb->ac" or "D(a,c)+=L(a,b,c,b)". Then right_rank is 0, and where the right operand's
 * address is taken NULL will do.
 *
 * A mode may be in all three tensors (batch), in both operands (contracted), in one operand and the result, in one operand
 * only (summed), and more than once in one operand (diagonal). Operands and result may be scalars: "a,a->", "ab,->ab". */
typedef struct cuttContraction {
  size_t struct_size;  /* sizeof(cuttContraction_t) */
  const char *pattern; /* see above */
  /* CUTT_F32, F64, C32, C64; CUTT_F16 and CUTT_BF16, accumulated in float; on the CPU also CUTT_I32 and CUTT_I64, which wrap
   * around */
  cuttType_t type;
  int left_rank;                 /* modes of L, as many as the pattern gives it */
  int right_rank;                /* of R */
  int result_rank;               /* of D */
  const int64_t *left_extents;   /* left_rank extents, >= 0 */
  const int64_t *right_extents;  /* right_rank */
  const int64_t *result_extents; /* result_rank, to be checked; NULL: those that follow */
  const int64_t *left_strides;   /* any sign, 0 repeats; NULL: packed */
  const int64_t *right_strides;
  const int64_t *result_strides; /* any sign, none may make elements overlap; NULL: packed */
  /* One scalar of the type (float for CUTT_F16 and CUTT_BF16); NULL: 1. With 0 no algorithm reads an operand: D = beta * D, also
   * where one has a NaN or infinity. */
  const void *alpha;
  const void *beta;   /* NULL: what the pattern says, which is 0 but for "+="; 0: D is written and never read */
  int conjugate_left; /* not 0: L is conjugated, besides what the pattern says (twice is not at all) */
  int conjugate_right;
  /* What takes the place of the sum over modes that D does not have: D = alpha * reduce(L * R) + beta * D. Other than
   * CUTT_OP_ADD (0) in one pass. A product over no elements is 1; a maximum or minimum of none is an error. */
  cuttOperator_t reduce;
} cuttContraction_t;

#define CUTT_CONTRACTION_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(cuttContraction_t), NULL, (cuttType_t)0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0,     \
        CUTT_OP_ADD                                                                                                    \
  }

/* No limit on workspace. */
#define CUTT_NO_LIMIT ((size_t)-1)

/* How to plan. NULL where options are taken means CUTT_CONTRACTION_OPTIONS_INIT. */
typedef struct cuttContractionOptions {
  size_t struct_size; /* sizeof(cuttContractionOptions_t) */
  cuttBackend_t backend;
  int threads; /* CPU: most threads to use; 0: as OpenMP would. GPU: unused */
  /* Most bytes of workspace. The contraction is cut into blocks that need no more; with 0 nothing is permuted, which may be
   * slow. On a GPU a product may have 32 MB of it to itself. */
  size_t workspace_limit;
  /* NULL: the fastest that is found. Else a name of cuttProvidersDescribe ("openblas", "blis", "mkl", "cublas"), or the path
   * of a library with a '/' in it. */
  const char *provider;
  /* NULL: the one with the shortest predicted time, or "ttgt" where provider names a library. "ttgt": permutations and matrix
   * products. "one-pass": kernels of the library's own that read and write each tensor once, without a BLAS and without workspace, but
   * on a GPU for the parts of a long sum and for a tensor that it is faster to permute; they are for contractions that contract
   * little, and do any. */
  const char *algorithm;
  /* CUTT_MEASURE: the model's best ways (12 at most), on a GPU also the other algorithms that cuBLASLt lists for the products of the
   * fastest, and in what is left of the time limit the permutations of the fastest, are timed by turns, on memory of the
   * library's own as large as the three tensors and the workspace. The first one is run whatever the limit. */
  cuttChoice_t choice;
  double measure_seconds; /* CUTT_MEASURE: the time limit in seconds; 0: 2 */
  /* Looked up first, for this problem, device, BLAS library, threads and workspace_limit, and for the permutations; a measured
   * choice is added to it. NULL: none */
  cuttWisdom_t wisdom;
} cuttContractionOptions_t;

#define CUTT_CONTRACTION_OPTIONS_INIT                                                                                  \
  { sizeof(cuttContractionOptions_t), CUTT_BACKEND_AUTO, 0, CUTT_NO_LIMIT, NULL, NULL, CUTT_PREDICT, 0, NULL }

/* A plan of a contraction: immutable, and alive until cuttContractionPlanDestroy. */
typedef struct cuttContractionStruct *cuttContractionPlan_t;

/* Plans a contraction. *plan receives the plan, or NULL on failure.
 * Errors: CUTT_INVALID_PARAMETER (the text names the field; of a pattern, the letter and its place), CUTT_INVALID_DEVICE
 * (backend; no BLAS; a type that it does not have), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttContractionPlanCreate(cuttContractionPlan_t *plan, const cuttContraction_t *contraction,
                                                const cuttContractionOptions_t *options);

/* *bytes receives the bytes of workspace that an execution needs: 0 .. options.workspace_limit.
 * Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER (bytes is NULL). */
CUTT_API cuttResult_t cuttContractionWorkspace(cuttContractionPlan_t plan, size_t *bytes);

/* Executes a plan. left, right and result point to element (0, ..., 0) of each tensor, and are of the memory that the plan's
 * backend works in, as for cuttPlanExecute; on a GPU at multiples of the element's size, on the CPU at any address (numbers
 * that do not lie at a multiple of their size are copied for the BLAS, block by block, which takes longer). The result may not
 * overlap with an operand.
 * workspace   memory of the backend, at least cuttContractionWorkspace bytes, at a multiple of 64 (256 on a GPU), which
 *             nothing else uses until the execution is done; NULL: the library takes and frees what it needs
 * workspace_bytes  how large it is; 0 with NULL
 * stream      on a GPU: the stream to work in. The call returns when all is started. It may be captured into a CUDA graph if the
 *             workspace, where the plan needs any, is the caller's; that and the tensors have to live as long as the graph. On
 *             the CPU NULL, and the result is there on return.
 * Any number of threads may execute one plan at once, each with a workspace of its own.
 * Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttContractionExecute(cuttContractionPlan_t plan, const void *left, const void *right,
                                             void *result, void *workspace, size_t workspace_bytes,
                                             cudaStream_t stream);

/* Frees a plan; NULL is allowed. No call with it may be under way; what a call has started on a GPU may.
 * Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult_t cuttContractionPlanDestroy(cuttContractionPlan_t plan);

/* The same by its first name, for programs that have it. */
CUTT_API cuttResult_t cuttContractionDestroy(cuttContractionPlan_t plan);

/* Plan, execute, destroy, with workspace of the library's own. Errors: as cuttContractionPlanCreate and
 * cuttContractionExecute. */
CUTT_API cuttResult_t cuttContract(const cuttContraction_t *contraction, const cuttContractionOptions_t *options,
                                   const void *left, const void *right, void *result, cudaStream_t stream);

/* ---------------------------------------------------------------------------------------------- what a plan is */

typedef struct cuttContractionInfo {
  size_t struct_size; /* set to sizeof(cuttContractionInfo_t) before the call */
  cuttBackend_t backend;
  /* Of the products: "openblas", ...; "cutt": none, it is done in one pass. It lives as long as the library. */
  const char *provider;
  int threads; /* that an execution uses; 1 on a GPU */
  /* Not 0: that tensor is permuted, or D is added up from sums in parts, on a GPU. */
  int permutes_left, permutes_right, permutes_result;
  int64_t m, n, k, batch;         /* the contraction as matrix products: extents of all modes of each group */
  int64_t gemm_m, gemm_n, gemm_k; /* of one product that the BLAS is given, at most */
  int64_t gemm_count;             /* of products */
  int64_t pieces;                 /* blocks that the work is cut into */
  size_t workspace_bytes;
  double flops;                     /* 2 m n k batch; four times that for complex types */
  double intensity;                 /* 2 sqrt(vol D vol L vol R) / (vol D + vol L + vol R), the paper's section 3.4 */
  double predicted_seconds;         /* of an execution */
  double predicted_permute_seconds; /* the part of it that is permuting */
  double create_seconds;            /* what cuttContractionPlanCreate took */
  const char *algorithm;            /* "ttgt" or "one-pass", as in the options; lives as long as the library */
  double measured_seconds;          /* by CUTT_MEASURE or wisdom; 0 when neither */
} cuttContractionInfo_t;

/* What was chosen, and what it is predicted to take.
 * info   info->struct_size is set by the caller, all other fields by the call; those that this library does not know
 *        become 0
 * Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER (info is NULL or has a wrong struct_size). */
CUTT_API cuttResult_t cuttContractionGetInfo(cuttContractionPlan_t plan, cuttContractionInfo_t *info);

/* Describes a plan: the modes by groups, what is permuted and how, the matrix products, blocks, workspace, predicted
 * times, and what was measured. Buffer, size, needed and errors as for cuttPlanDescribe. */
CUTT_API cuttResult_t cuttContractionDescribe(cuttContractionPlan_t plan, cuttFormat_t format, char *buffer,
                                              size_t size, size_t *needed);

/* Seconds of one execution, and of its steps. Steps of blocks are summed; where threads work on different blocks, over the
 * threads, and divided by their number. */
typedef struct cuttContractionTimes {
  double total;
  double permute; /* of L, R and D, and of sums over modes that are in one operand only */
  double gemm;
} cuttContractionTimes_t;

/* Runs the plan once, uncounted, and then count times, each with its steps timed (which costs a little), and gives each
 * run's seconds in times[0 .. count-1]. Waits for all of them. count >= 1. The stream may not be one that is being captured. Errors:
 * as cuttContractionExecute. */
CUTT_API cuttResult_t cuttContractionTime(cuttContractionPlan_t plan, const void *left, const void *right, void *result,
                                          void *workspace, size_t workspace_bytes, cudaStream_t stream, int count,
                                          cuttContractionTimes_t *times);

/* The ceiling: times the matrix products alone. Runs batch products of packed m x k and k x n matrices into packed m x n
 * ones, of the plan's type, with its provider and threads and all of its m, n, k and batch, on scratch memory of arbitrary
 * finite contents. Count and seconds as for cuttPlanTime. Errors: CUTT_INVALID_PLAN,
 * CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR (also when the memory can't be had). */
CUTT_API cuttResult_t cuttContractionTimeGemm(cuttContractionPlan_t plan, cudaStream_t stream, int count,
                                              double *seconds);

/* ---------------------------------------------------------------------------------------- elementwise operations */

/* What to compute: D = (alpha * A) op_ab (beta * B), or with a third operand D = ((alpha * A) op_ab (beta * B)) op_abc (gamma * C),
 * element by element, in one pass over memory. Start from CUTT_ELEMENTWISE_INIT, then fill in.
 *
 * The pattern names the modes: "ab,ba->ab" or "ab,ba,b->ab", one letter a mode, as einsum's of cuttContraction_t, with the result
 * written. A mode that an operand lacks is repeated in it; one that is there twice is its diagonal; one that the result lacks is
 * an error. Modes may be as many as there are letters. */
typedef struct cuttElementwise {
  size_t struct_size;  /* sizeof(cuttElementwise_t) */
  const char *pattern; /* see above */
  cuttType_t type;     /* as cuttContraction_t's, of all tensors; half types are computed in float and rounded once */
  int a_rank, b_rank, c_rank, result_rank; /* as many modes as the pattern gives; c_rank is 0 without a third operand */
  const int64_t *a_extents, *b_extents, *c_extents, *result_extents; /* result_extents: to be checked, or NULL */
  const int64_t *a_strides, *b_strides, *c_strides, *result_strides; /* as cuttContraction_t's; NULL: packed */
  /* One scalar of the type (float for CUTT_F16 and CUTT_BF16); NULL: 1. An operand whose scalar is 0 is not read, and counts as
   * 0 everywhere, also where it is a NaN or infinite. */
  const void *alpha, *beta, *gamma;
  int conjugate_a, conjugate_b, conjugate_c; /* not 0: that operand is conjugated */
  cuttOperator_t op_ab, op_abc;
} cuttElementwise_t;

#define CUTT_ELEMENTWISE_INIT                                                                                          \
  {                                                                                                                    \
    sizeof(cuttElementwise_t), NULL, (cuttType_t)0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,  \
        NULL, NULL, 0, 0, 0, CUTT_OP_ADD, CUTT_OP_ADD                                                                  \
  }

/* How to plan. NULL where options are taken means CUTT_ELEMENTWISE_OPTIONS_INIT. */
typedef struct cuttElementwiseOptions {
  size_t struct_size;    /* sizeof(cuttElementwiseOptions_t) */
  cuttBackend_t backend; /* CUTT_BACKEND_AUTO: as cuttOptions_t */
  int threads;           /* most threads to use; 0: as OpenMP would */
} cuttElementwiseOptions_t;

#define CUTT_ELEMENTWISE_OPTIONS_INIT                                                                                  \
  { sizeof(cuttElementwiseOptions_t), CUTT_BACKEND_AUTO, 0 }

/* A plan of an elementwise operation: immutable, and alive until cuttElementwisePlanDestroy. */
typedef struct cuttElementwiseStruct *cuttElementwisePlan_t;

/* Plans an elementwise operation. *plan receives the plan, or NULL on failure.
 * Errors: CUTT_INVALID_PARAMETER (the text names the field), CUTT_INVALID_DEVICE,
 * CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttElementwisePlanCreate(cuttElementwisePlan_t *plan, const cuttElementwise_t *elementwise,
                                                const cuttElementwiseOptions_t *options);

/* Executes a plan, on a GPU in the stream and without waiting; a capture of the stream records it. Each pointer is to element
 * (0, ..., 0) of its tensor, on the CPU at any address and on a GPU at a multiple of the element's bytes; c is NULL without a
 * third operand, and any of an operand that is not read. An operand may be the result itself, if it has the result's address and its layout; else it
 * may not overlap with it. Any number of threads may execute one plan at once. On the CPU the stream is NULL.
 * Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE (another context than the plan's is current),
 * CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttElementwiseExecute(cuttElementwisePlan_t plan, const void *a, const void *b, const void *c,
                                             void *result, cudaStream_t stream);

/* Describes a plan: what is combined how, the modes, how each tensor is accessed, blocks or tiles, and the bytes that are moved.
 * Buffer, size, needed and errors as for cuttPlanDescribe. */
CUTT_API cuttResult_t cuttElementwiseDescribe(cuttElementwisePlan_t plan, cuttFormat_t format, char *buffer,
                                              size_t size, size_t *needed);

/* Frees a plan; NULL is allowed. No call with it may be under way. Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult_t cuttElementwisePlanDestroy(cuttElementwisePlan_t plan);

/* Plan, execute, destroy. Errors: as these. */
CUTT_API cuttResult_t cuttElementwiseCompute(const cuttElementwise_t *elementwise,
                                             const cuttElementwiseOptions_t *options, const void *a, const void *b,
                                             const void *c, void *result, cudaStream_t stream);

/* Describes the matrix-multiplication libraries: which were found and where, the kernels that each picked, its speed as
 * measured on one core (some milliseconds each, once in a process) or on the GPU, which is the default, what would make one
 * faster, and what was looked for and not found. Buffer, size, needed and errors as for
 * cuttDevicesDescribe. */
CUTT_API cuttResult_t cuttProvidersDescribe(cuttFormat_t format, char *buffer, size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
