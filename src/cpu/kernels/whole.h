/* The transpose of elements of 4, 8 and 16 bytes by loads of whole lines: a block has 64 / w rows and 64 / w columns, and each row of
 * it is one load. After the rounds of interleaving within lanes, as in kernels.c, a lane is a part of a column, and two rounds
 * of shuffles bring the four parts of each together.
 *
 * The other kernels assemble a register from four loads of 16 bytes, which saves these two rounds. Where shuffles of
 * registers of 64 bytes take less than these loads, and what is read is in a cache, whole lines are faster. Not for what comes from memory: there
 * loads of as many lines at once wait for each other. A header of kernels.c, for AVX-512.
 *
 * w is a constant in all functions. */
#ifndef CUTT_CPU_KERNELS_WHOLE_H
#define CUTT_CPU_KERNELS_WHOLE_H

/* The most columns of a block, which elements of 4 bytes have. */
enum { WHOLE_COLUMNS = 16 };

CUTT_INLINE __m512i whole_row(const char *src, int64_t row) { return _mm512_loadu_si512((const void *)(src + row)); }

/* The transpose of 4 x 4 lanes: lane l of part[p] becomes lane p of column[l * step]. */
CUTT_INLINE void gather_lanes(__m512i *column, int step, const __m512i *part) {
  const __m512i even_low = _mm512_shuffle_i64x2(part[0], part[1], 0x88);
  const __m512i odd_low = _mm512_shuffle_i64x2(part[0], part[1], 0xdd);
  const __m512i even_high = _mm512_shuffle_i64x2(part[2], part[3], 0x88);
  const __m512i odd_high = _mm512_shuffle_i64x2(part[2], part[3], 0xdd);
  column[0] = _mm512_shuffle_i64x2(even_low, even_high, 0x88);
  column[step] = _mm512_shuffle_i64x2(odd_low, odd_high, 0x88);
  column[2 * step] = _mm512_shuffle_i64x2(even_low, even_high, 0xdd);
  column[3 * step] = _mm512_shuffle_i64x2(odd_low, odd_high, 0xdd);
}

/* 64 / w rows x 64 / w columns: column i goes to column[i]. part[4 * k + p] has, in lane l, rows from p * 16 / w on of column
 * l * 16 / w + k. */
CUTT_INLINE void whole_block(int w, __m512i *column, const char *src, const int64_t *row) {
  __m512i part[WHOLE_COLUMNS];
  if (w == 4) {
    _Pragma("GCC unroll 4") for (int p = 0; p < 4; ++p) {
      const __m512i a = whole_row(src, row[4 * p]), b = whole_row(src, row[4 * p + 1]);
      const __m512i c = whole_row(src, row[4 * p + 2]), d = whole_row(src, row[4 * p + 3]);
      const __m512i ab_low = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
      const __m512i cd_low = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);
      part[p] = _mm512_unpacklo_epi64(ab_low, cd_low);
      part[4 + p] = _mm512_unpackhi_epi64(ab_low, cd_low);
      part[8 + p] = _mm512_unpacklo_epi64(ab_high, cd_high);
      part[12 + p] = _mm512_unpackhi_epi64(ab_high, cd_high);
    }
    _Pragma("GCC unroll 4") for (int k = 0; k < 4; ++k) gather_lanes(column + k, 4, part + 4 * k);
  } else if (w == 16) {
    _Pragma("GCC unroll 4") for (int p = 0; p < 4; ++p) part[p] = whole_row(src, row[p]);
    gather_lanes(column, 1, part);
  } else {
    _Pragma("GCC unroll 4") for (int p = 0; p < 4; ++p) {
      const __m512i a = whole_row(src, row[2 * p]), b = whole_row(src, row[2 * p + 1]);
      part[p] = _mm512_unpacklo_epi64(a, b);
      part[4 + p] = _mm512_unpackhi_epi64(a, b);
    }
    _Pragma("GCC unroll 2") for (int k = 0; k < 2; ++k) gather_lanes(column + k, 2, part + 4 * k);
  }
}

/* The columns of `all` that are done in blocks of n, the last one of which may overlap the one before. Less than half a block is
 * left to narrower ones. */
CUTT_INLINE int64_t whole_columns(int64_t n, int64_t all) { return all >= n && all % n > n / 2 ? all : all / n * n; }

/* See cutt_cpu_transpose_fn. What is less than a block is done by `rest`. */
CUTT_INLINE void transpose_whole(int w, char *restrict stage, const int64_t *restrict pos, const char *restrict src,
                                 const int64_t *restrict row, int64_t nrows, int64_t ncols, cutt_cpu_ahead *ahead,
                                 cutt_cpu_transpose_fn *rest) {
  const int n = CUTT_CPU_LINE / w, few = 16 / w;
  const int64_t end = nrows < n ? 0 : whole_columns(n, ncols);
  for (int64_t c = 0; c < end; c += n) {
    const int64_t c0 = first_of_block(c, n, ncols);
    for (int64_t r = 0; r < nrows; r += n) {
      const int64_t r0 = first_of_block(r, n, nrows);
      __m512i column[WHOLE_COLUMNS];
      whole_block(w, column, src + c0 * w, row + r0);
      cutt_cpu_prefetch(ahead, n);
      _Pragma("GCC unroll 16") for (int i = 0; i < n; ++i)
          _mm512_storeu_si512((void *)(stage + pos[c0 + i] + r0 * w), column[i]);
    }
  }
  if (end == ncols) return;
  const int64_t c = end > 0 && ncols - end < few ? ncols - few : end; /* no row is read past its end */
  rest(stage, pos + c, src + c * w, row, nrows, ncols - c, ahead);
}

#define CUTT_DEFINE_WHOLE(W)                                                                                           \
  static void transpose_whole_##W(char *stage, const int64_t *pos, const char *src, const int64_t *row, int64_t nrows, \
                                  int64_t ncols, cutt_cpu_ahead *ahead) {                                              \
    transpose_whole(W, stage, pos, src, row, nrows, ncols, ahead, transpose_64_##W);                                   \
  }
CUTT_DEFINE_WHOLE(4)
CUTT_DEFINE_WHOLE(8)

/* Two columns of 16 bytes. Where rows follow one another, a load has two of them. */
static void transpose_pairs(char *restrict stage, const int64_t *restrict pos, const char *restrict src,
                            const int64_t *restrict row, int64_t nrows, cutt_cpu_ahead *ahead) {
  enum { ROW = 32 };
  for (int64_t r = 0; r < nrows; r += 4) {
    const int64_t r0 = first_of_block(r, 4, nrows), *four = row + r0;
    __m512i even, odd;
    if (four[1] - four[0] == ROW && four[3] - four[2] == ROW) {
      const __m512i a = whole_row(src, four[0]), b = whole_row(src, four[2]);
      even = _mm512_shuffle_i64x2(a, b, 0x88);
      odd = _mm512_shuffle_i64x2(a, b, 0xdd);
    } else {
      even = (__m512i)cutt_load_64(src, four, 1);
      odd = (__m512i)cutt_load_64(src + 16, four, 1);
    }
    _mm512_storeu_si512((void *)(stage + pos[0] + r0 * 16), even);
    _mm512_storeu_si512((void *)(stage + pos[1] + r0 * 16), odd);
    cutt_cpu_prefetch(ahead, 2);
  }
}

static void transpose_whole_16(char *stage, const int64_t *pos, const char *src, const int64_t *row, int64_t nrows,
                               int64_t ncols, cutt_cpu_ahead *ahead) {
  if (ncols == 2 && nrows >= 4) {
    transpose_pairs(stage, pos, src, row, nrows, ahead);
  } else {
    transpose_whole(16, stage, pos, src, row, nrows, ncols, ahead, transpose_64_16);
  }
}

#endif
