/* Between cublas.c, cublas_lt.c, cublas_speed.c and cublas_types.c. */
#ifndef CUTT_BLAS_CUBLAS_H
#define CUTT_BLAS_CUBLAS_H

#include "blas/blocks.h"
#include "blas/find.h"
#include "plan/backend.h"

/* The runtime of CUDA devices, whose streams, events and memory cuBLAS works with. */
const cutt_runtime *cutt_cublas_runtime(void);

typedef int cublas_status; /* 0: success */
typedef struct cublasContext *cublas_handle;

/* cudaDataType of elements and of scalars, and cublasComputeType_t. */
typedef struct cublas_types {
  int data, compute;
} cublas_types;
cublas_types cutt_cublas_types_of(cuttType_t type); /* cublas_types.c */

/* cuBLASLt's functions (cublas_lt.c). */
typedef struct cublas_lt cublas_lt;

/* Those of the cuBLASLt that cuBLAS, opened as `library`, has been linked with; NULL: it lacks one of them. */
const cublas_lt *cutt_cublas_lt_find(void *library);

/* A handle of the current context: it takes no stream and owns no workspace, so that all threads can use it at once. */
cublas_status cutt_cublas_lt_handle(const cublas_lt *lt, cublas_handle *handle);

/* As the functions of cutt_blas. */
cuttResult cutt_cublas_lt_list(const cublas_lt *lt, cublas_handle handle, const cutt_gemm_case *of,
                               cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS], int *count);
cuttResult cutt_cublas_lt_choose(const cublas_lt *lt, cublas_handle handle, const cutt_gemm_case *of,
                                 const cutt_gemm_algorithm *algorithm, cutt_gemm_chosen **to);
void cutt_cublas_lt_forget(const cublas_lt *lt, cutt_gemm_chosen *it);

cublas_status cutt_cublas_lt_multiply(const cublas_lt *lt, const cutt_gemm_chosen *it, const cutt_gemm_operands *on,
                                      void *workspace, cudaStream_t stream);

#endif
