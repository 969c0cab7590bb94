/* Products with rows in blocks, included by kernels.c for each type: rows that are sums of the same vectors, each times numbers of
 * its own, are computed up to CUTT_BLOCK_ROWS at a time and up to three vectors wide, so that all sums are in registers and a
 * vector is loaded once for all of them. Multiplication and addition are one operation where the instruction set has that. */
#ifndef CUTT_CONTRACT_KERNELS_BLOCK_H
#define CUTT_CONTRACT_KERNELS_BLOCK_H

#include "contract/kernels/part.h"

/* a + x y, y being one number. */
#if CUTT_VECTOR_BYTES == 64
#define CUTT_FMA_f64(a, x, y) (vector_f64) _mm512_fmadd_pd((__m512d)(x), _mm512_set1_pd(y), (__m512d)(a))
#define CUTT_FMA_f32(a, x, y) (vector_f32) _mm512_fmadd_ps((__m512)(x), _mm512_set1_ps(y), (__m512)(a))
#define CUTT_FMA_c64(a, x, y) (vector_c64) _mm512_fmadd_pd((__m512d)(x), _mm512_set1_pd(y), (__m512d)(a))
#define CUTT_FMA_c32(a, x, y) (vector_c32) _mm512_fmadd_ps((__m512)(x), _mm512_set1_ps(y), (__m512)(a))
#elif defined(__FMA__)
#define CUTT_FMA_f64(a, x, y) (vector_f64) _mm256_fmadd_pd((__m256d)(x), _mm256_set1_pd(y), (__m256d)(a))
#define CUTT_FMA_f32(a, x, y) (vector_f32) _mm256_fmadd_ps((__m256)(x), _mm256_set1_ps(y), (__m256)(a))
#define CUTT_FMA_c64(a, x, y) (vector_c64) _mm256_fmadd_pd((__m256d)(x), _mm256_set1_pd(y), (__m256d)(a))
#define CUTT_FMA_c32(a, x, y) (vector_c32) _mm256_fmadd_ps((__m256)(x), _mm256_set1_ps(y), (__m256)(a))
#elif defined(__aarch64__)
#define CUTT_FMA_f64(a, x, y) (vector_f64) vfmaq_n_f64((float64x2_t)(a), (float64x2_t)(x), (y))
#define CUTT_FMA_f32(a, x, y) (vector_f32) vfmaq_n_f32((float32x4_t)(a), (float32x4_t)(x), (y))
#define CUTT_FMA_c64(a, x, y) (vector_c64) vfmaq_n_f64((float64x2_t)(a), (float64x2_t)(x), (y))
#define CUTT_FMA_c32(a, x, y) (vector_c32) vfmaq_n_f32((float32x4_t)(a), (float32x4_t)(x), (y))
#else
#define CUTT_FMA_f64(a, x, y) ((a) + (x) * (y))
#define CUTT_FMA_f32(a, x, y) ((a) + (x) * (y))
#define CUTT_FMA_c64(a, x, y) ((a) + (x) * (y))
#define CUTT_FMA_c32(a, x, y) ((a) + (x) * (y))
#endif

/* As many rows as there are registers for their sums. */
#if CUTT_VECTOR_BYTES == 64 || defined(__aarch64__)
#define CUTT_BLOCK_ROWS 8
#else
#define CUTT_BLOCK_ROWS 4
#endif
enum { CUTT_BLOCK_VECTORS = 3 };

/* How many of the rows that are left go into the next block, so that all blocks are nearly as high. */
CUTT_INLINE int cutt_block_rows(int64_t left, int most) {
  static const signed char of_eight[] = {0, 1, 2, 3, 4, 3, 6, 4, 8, 6, 6, 8, 6, 8, 8, 8};
  static const signed char of_four[] = {0, 1, 2, 3, 4, 3, 3, 4};
  if (left >= 2 * most) return most;
  return most == 8 ? of_eight[left] : of_four[left];
}

/* For each row of a block. */
#define CUTT_EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* The sums of a row: in a with the second operand's real parts, in b with its imaginary ones. */
#define CUTT_ROW_OPEN(j)                                                                                               \
  vector a##j##_0 = none, a##j##_1 = none, a##j##_2 = none, b##j##_0 = none, b##j##_1 = none, b##j##_2 = none;         \
  const char *const r##j = t->operand[1] + t->row[1][row + ((j) < rows ? (j) : 0)];
#define CUTT_ROW_ADD(j)                                                                                                \
  if ((j) < rows) {                                                                                                    \
    const number y = load_number(r##j + to);                                                                           \
    a##j##_0 = FMA(a##j##_0, x0, y);                                                                                   \
    if (vectors > 1) a##j##_1 = FMA(a##j##_1, x1, y);                                                                  \
    if (vectors > 2) a##j##_2 = FMA(a##j##_2, x2, y);                                                                  \
    if (IS_COMPLEX) {                                                                                                  \
      const number z = load_number(r##j + to + (int)sizeof(number));                                                   \
      b##j##_0 = FMA(b##j##_0, x0, z);                                                                                 \
      if (vectors > 1) b##j##_1 = FMA(b##j##_1, x1, z);                                                                \
      if (vectors > 2) b##j##_2 = FMA(b##j##_2, x2, z);                                                                \
    }                                                                                                                  \
  }
#define CUTT_ROW_CLOSE(j)                                                                                              \
  if ((j) < rows) {                                                                                                    \
    char *out = t->out + t->out_row[row + (j)] + at;                                                                   \
    STORE(adds, conjugate, out, a##j##_0, b##j##_0, vectors > 1 ? V : last);                                           \
    if (vectors > 1) STORE(adds, conjugate, out + V, a##j##_1, b##j##_1, vectors > 2 ? V : last);                      \
    if (vectors > 2) STORE(adds, conjugate, out + 2 * V, a##j##_2, b##j##_2, last);                                    \
  }

#endif
