/* Element types as cuBLAS and cuBLASLt number them. Numbers are added up in float, doubles in double. */
#include "blas/cublas.h"

enum { R_32F = 0, R_64F = 1, R_16F = 2, C_32F = 4, C_64F = 5, R_16BF = 14 }; /* cudaDataType */
enum { COMPUTE_32F = 68, COMPUTE_64F = 70 };                                 /* cublasComputeType_t */

cublas_types cutt_cublas_types_of(cuttType_t type) {
  switch (type) {
    case CUTT_F16:
      return (cublas_types){R_16F, COMPUTE_32F};
    case CUTT_BF16:
      return (cublas_types){R_16BF, COMPUTE_32F};
    case CUTT_F32:
      return (cublas_types){R_32F, COMPUTE_32F};
    case CUTT_C32:
      return (cublas_types){C_32F, COMPUTE_32F};
    case CUTT_C64:
      return (cublas_types){C_64F, COMPUTE_64F};
    default:
      return (cublas_types){R_64F, COMPUTE_64F};
  }
}
