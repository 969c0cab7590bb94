/* The transpose of 16 rows of bytes with AVX-512 VBMI: a permute of bytes does two of the four rounds of interleaving
 * at once. A header of kernels.c. */
#ifndef CUTT_CPU_KERNELS_BYTES_H
#define CUTT_CPU_KERNELS_BYTES_H

/* Of a register whose lanes are four rows of 16 columns, the 32-bit element 4 L + a becomes column 4 a + L of these
 * rows, so that after two rounds of interleaving 32-bit elements within lanes vector a has columns 4 a .. 4 a + 3. */
#define CUTT_FOUR_ROWS(column) (column), (column) + 16, (column) + 32, (column) + 48
#define CUTT_FOUR_COLUMNS(first)                                                                                       \
  CUTT_FOUR_ROWS(first), CUTT_FOUR_ROWS((first) + 4), CUTT_FOUR_ROWS((first) + 8), CUTT_FOUR_ROWS((first) + 12)

/* Columns of 16 rows: column i goes to stage + pos[i]; the first `keep` of them. */
CUTT_INLINE void store_block_16_1(char *restrict stage, const int64_t *restrict pos, const char *restrict src,
                                  const int64_t *restrict row, int keep) {
  const cutt_v64_1 order = {CUTT_FOUR_COLUMNS(0), CUTT_FOUR_COLUMNS(1), CUTT_FOUR_COLUMNS(2), CUTT_FOUR_COLUMNS(3)};
  __m512i q[4], pair[4], column[4];
  _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
    q[i] = _mm512_permutexvar_epi8((__m512i)order, (__m512i)cutt_load_64(src, row + 4 * i, 1));
  }
  pair[0] = _mm512_unpacklo_epi32(q[0], q[1]);
  pair[1] = _mm512_unpackhi_epi32(q[0], q[1]);
  pair[2] = _mm512_unpacklo_epi32(q[2], q[3]);
  pair[3] = _mm512_unpackhi_epi32(q[2], q[3]);
  column[0] = _mm512_unpacklo_epi64(pair[0], pair[2]);
  column[1] = _mm512_unpackhi_epi64(pair[0], pair[2]);
  column[2] = _mm512_unpacklo_epi64(pair[1], pair[3]);
  column[3] = _mm512_unpackhi_epi64(pair[1], pair[3]);
  _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
    const int c = 4 * i;
    if (keep >= 16 && pos[c + 3] - pos[c] == 48 && pos[c + 1] - pos[c] == 16) { /* one after another */
      _mm512_storeu_si512((void *)(stage + pos[c]), column[i]);
      continue;
    }
    if (c < keep) _mm_storeu_si128((__m128i *)(void *)(stage + pos[c]), _mm512_castsi512_si128(column[i]));
    if (c + 1 < keep) {
      _mm_storeu_si128((__m128i *)(void *)(stage + pos[c + 1]), _mm512_extracti32x4_epi32(column[i], 1));
    }
    if (c + 2 < keep) {
      _mm_storeu_si128((__m128i *)(void *)(stage + pos[c + 2]), _mm512_extracti32x4_epi32(column[i], 2));
    }
    if (c + 3 < keep) {
      _mm_storeu_si128((__m128i *)(void *)(stage + pos[c + 3]), _mm512_extracti32x4_epi32(column[i], 3));
    }
  }
}

#endif
