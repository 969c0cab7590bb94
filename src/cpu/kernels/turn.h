/* The transpose of short runs, of 3 to 8 bytes: pixels that change places.
 *
 * A load of 16 bytes has 16 / n whole runs of n bytes. Four rows make a register, and 16 / n registers a block: 16 / n runs
 * of each row. A permute of bytes brings one column's runs of a register to their places in the output, and a mask joins
 * those of all registers of the block. A header of kernels.c, for AVX-512 with VBMI. */
#ifndef CUTT_CPU_KERNELS_TURN_H
#define CUTT_CPU_KERNELS_TURN_H

enum { MOST_TURNED = 5 }; /* runs of 3 bytes in 16 */

/* See cutt_cpu_turn_fn; columns, 16 / n, is a constant. */
CUTT_INLINE void turn_block(int columns, char *const *dst, const char *src, const int64_t *row, int64_t nrows,
                            int64_t n, cutt_cpu_ahead *ahead) {
  const int64_t rows = 4 * columns;
  uint8_t four[64] = {0}; /* the first column's runs of four rows */
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t i = 0; i < n; ++i) four[r * n + i] = (uint8_t)(16 * r + i);
  }
  __m512i index[MOST_TURNED][MOST_TURNED];
  __mmask64 mask[MOST_TURNED];
  for (int k = 0; k < columns; ++k) { /* register k's runs begin 4 k n bytes further on */
    const __m512i place = cutt_indices_from(1, -(int64_t)k * 4 * n);
    const __m512i moved = _mm512_permutexvar_epi8(place, _mm512_loadu_si512((const void *)four));
    mask[k] = (__mmask64)(_bzhi_u64(UINT64_MAX, (uint32_t)(4 * n)) << (4 * n * k));
    for (int c = 0; c < columns; ++c) index[k][c] = _mm512_add_epi8(moved, _mm512_set1_epi8((char)(c * n)));
  }
  const __mmask64 all = (__mmask64)_bzhi_u64(UINT64_MAX, (uint32_t)(rows * n));
  for (int64_t r = 0; r < nrows; r += rows) {
    const int64_t r0 = first_of_block(r, rows, nrows);
    __m512i from[MOST_TURNED];
    _Pragma("GCC unroll 5") for (int k = 0; k < columns; ++k) from[k] = (__m512i)cutt_load_64(src, row + r0 + 4 * k, 1);
    cutt_cpu_prefetch(ahead, columns);
    _Pragma("GCC unroll 5") for (int c = 0; c < columns; ++c) {
      __m512i v = _mm512_permutexvar_epi8(index[0][c], from[0]);
      _Pragma("GCC unroll 5") for (int k = 1; k < columns; ++k) {
        v = _mm512_mask_permutexvar_epi8(v, mask[k], index[k][c], from[k]);
      }
      _mm512_mask_storeu_epi8(dst[c] + r0 * n, all, v);
    }
  }
}

static void turn(char *const *dst, const char *src, const int64_t *row, int64_t nrows, int64_t n,
                 cutt_cpu_ahead *ahead) {
  switch (cutt_cpu_turned(n)) {
    case 5:
      turn_block(5, dst, src, row, nrows, n, ahead);
      return;
    case 4:
      turn_block(4, dst, src, row, nrows, n, ahead);
      return;
    case 3:
      turn_block(3, dst, src, row, nrows, n, ahead);
      return;
    default:
      turn_block(2, dst, src, row, nrows, n, ahead);
  }
}

#endif
