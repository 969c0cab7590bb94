/* Of the language of device.h: products of small matrices.
 *
 *   multiply_add_matrix(sum, a, b)             of doubles, by all lanes of a warp: C (16 x 8) += A (16 x 4) B (4 x 8), on tensor
 *                                              cores from sm_80 on. Lane 4 g + q has of A row g and g + 8 of column q, of B row q of
 *                                              column g, and of C columns 2 q and 2 q + 1 of row g and then of row g + 8. Terms are
 *                                              added one after the other, each with one rounding */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_MATRIX_H
#define CUTT_RUNTIME_CUDA_KERNELS_MATRIX_H

#include "device.h"

#if defined(__CUDACC__)

#if __CUDA_ARCH__ >= 900
DEVICE void multiply_add_matrix(double *sum, const double *a, double b) {
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
}
#elif __CUDA_ARCH__ >= 800
DEVICE void multiply_add_matrix(double *sum, const double *a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sum[0]), "+d"(sum[1])
      : "d"(a[0]), "d"(b));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(sum[2]), "+d"(sum[3])
      : "d"(a[1]), "d"(b));
}
#else
/* No plan is for a GPU that does it by this; so terms in a loop, since ptxas takes 9 seconds for them one behind the other. */
DEVICE void multiply_add_matrix(double *sum, const double *a, double b) {
  const int lane = (int)(threadIdx.x % 32), row = lane / 4 * 4, column = lane % 4 * 8;
#pragma unroll 1
  for (int term = 0; term < 4; ++term) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      sum[i] = __fma_rn(__shfl_sync(~0u, a[i / 2], row + term), __shfl_sync(~0u, b, column + i % 2 * 4 + term), sum[i]);
  }
}
#endif

#endif

#endif
