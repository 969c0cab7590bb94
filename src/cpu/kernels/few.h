/* The transpose of few rows, whose columns, one after another in the output, are shorter than a cache line: batches of small matrices, and
 * whatever has a short mode before the input's first one.
 *
 * 16 bytes of each of four rows make a register. Of all rows these are up to 4 registers, whose elements in another order are as many lines of the
 * output: for each line one permute of each pair of registers, by indices that the plan has (few.c), and a merge. A transpose by rounds of
 * interleaving would store each column by itself, of which the next one overwrites a part. A header of kernels.c, for AVX-512, of bytes with VBMI. */
#ifndef CUTT_CPU_KERNELS_FEW_H
#define CUTT_CPU_KERNELS_FEW_H

enum { FEW_MOST = CUTT_CPU_FEW_ROWS / 4 };

/* The line of a block whose indices these are: an element comes from the pair of registers for which the mask has a bit. */
CUTT_INLINE __m512i few_line(int w, int registers, const __m512i *from, const char *index, const uint64_t *mask) {
  __m512i line = _mm512_setzero_si512();
  _Pragma("GCC unroll 4") for (int pair = 0; 2 * pair < registers; ++pair) {
    const __m512i which = _mm512_loadu_si512((const void *)(index + pair * CUTT_CPU_LINE));
    const int second = 2 * pair + 1 < registers ? 2 * pair + 1 : 2 * pair;
    const __m512i these = cutt_permute(w, from[2 * pair], which, from[second]);
    line = pair == 0 ? these : merge(w, line, mask[pair], these);
  }
  return line;
}

/* See cutt_cpu_few_fn; w and registers are constants. */
CUTT_INLINE void few_blocks(int w, int registers, char *stage, const int64_t *pos, int64_t n, const char *src,
                            const int64_t *from, const int64_t *row, int64_t ncols, const cutt_cpu_few *few,
                            cutt_cpu_ahead *ahead) {
  const int columns = 16 / w, pairs = (registers + 1) / 2;
  const int64_t bytes = (ncols < columns ? ncols : columns) * few->rows * w;
  const int lines = (int)((bytes + CUTT_CPU_LINE - 1) / CUTT_CPU_LINE);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < ncols; c += columns) {
      const int64_t c0 = first_of_block(c, columns, ncols);
      const char *block = src + from[i] + c0 * w;
      char *to = stage + pos[i] + c0 * few->rows * w;
      __m512i rows[FEW_MOST];
      _Pragma("GCC unroll 8") for (int k = 0; k < registers; ++k) rows[k] =
          (__m512i)cutt_load_64(block, row + 4 * k, 1);
      cutt_cpu_prefetch(ahead, lines);
      _Pragma("GCC unroll 8") for (int k = 0; k < registers; ++k) {
        if (k == lines) break;
        const __m512i line =
            few_line(w, registers, rows, few->index + k * pairs * CUTT_CPU_LINE, few->mask + k * pairs);
        _mm512_storeu_si512((void *)(to + k * CUTT_CPU_LINE), line);
      }
    }
  }
}

#define CUTT_FEW_CASE(W, N)                                                                                            \
  case N:                                                                                                              \
    few_blocks(W, N, stage, pos, n, src, from, row, ncols, few, ahead);                                                \
    return;
#define CUTT_DEFINE_FEW(W)                                                                                             \
  static void few_##W(char *stage, const int64_t *pos, int64_t n, const char *src, const int64_t *from,                \
                      const int64_t *row, int64_t ncols, const cutt_cpu_few *few, cutt_cpu_ahead *ahead) {             \
    switch (few->registers) { CUTT_FEW_CASE(W, 1) CUTT_FEW_CASE(W, 2) CUTT_FEW_CASE(W, 3) CUTT_FEW_CASE(W, 4) }        \
  }
#if defined(__AVX512VBMI__)
CUTT_DEFINE_FEW(1)
#endif
CUTT_DEFINE_FEW(2)
CUTT_DEFINE_FEW(4)

#endif
