/* The transpose that walks along the rows of its input: blocks of as many rows as fill a line of the output, from a
 * tile's first column to its last, each column's line written straight to the output by a non-temporal store.
 *
 * So the input is read as a few long streams, which hardware prefetchers follow, and the output is written in single
 * lines all over; the kernels that walk down the columns have it the other way round. Large matrices take this better, the
 * longer the rows the more. Offsets of columns in a line are dealt with as in shift.h: the last 64 bytes of each
 * column are carried, here in memory, since all columns are under way at once. A header of kernels.c for every
 * instruction set, which defines the blocks.
 *
 * w, the bytes of an element, is a constant in all functions. */
#ifndef CUTT_CPU_KERNELS_ALONG_H
#define CUTT_CPU_KERNELS_ALONG_H

/* 64 bytes of a column. */
typedef struct cutt_line {
  _Alignas(CUTT_CPU_LINE) char byte[CUTT_CPU_LINE];
} cutt_line;

/* 64 / w rows x 16 / w columns: column i goes to now[i]. */
#define CUTT_DEFINE_LINES(W, V)                                                                                        \
  CUTT_INLINE void block_lines_##W(cutt_line *now, const char *src, const int64_t *row) {                              \
    enum { E = 16 / W };                                                                                               \
    cutt_v##V##_8 block[E];                                                                                            \
    _Pragma("GCC unroll 4") for (int part = 0; part < CUTT_CPU_LINE / V; ++part) {                                     \
      block_##V##_##W(block, src, row + part * (V / W));                                                               \
      _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) memcpy(now[i].byte + part * V, &block[i], V);               \
    }                                                                                                                  \
  }
#define CUTT_DEFINE_LINES_OF(V)                                                                                        \
  CUTT_DEFINE_LINES(1, V)                                                                                              \
  CUTT_DEFINE_LINES(2, V)                                                                                              \
  CUTT_DEFINE_LINES(4, V)                                                                                              \
  CUTT_DEFINE_LINES(8, V)                                                                                              \
  CUTT_DEFINE_LINES(16, V)
#if CUTT_VECTOR_BYTES >= 64
CUTT_DEFINE_LINES_OF(64)
#elif CUTT_VECTOR_BYTES >= 32
CUTT_DEFINE_LINES_OF(32)
#else
CUTT_DEFINE_LINES_OF(16)
#endif

CUTT_INLINE void block_lines(int w, cutt_line *now, const char *src, const int64_t *row) {
  if (w == 1) block_lines_1(now, src, row);
  if (w == 2) block_lines_2(now, src, row);
  if (w == 4) block_lines_4(now, src, row);
  if (w == 8) block_lines_8(now, src, row);
  if (w == 16) block_lines_16(now, src, row);
}

/* The line that has the last `lead` bytes of before, and the first of now. */
CUTT_INLINE void write_joined(int w, char *line, int64_t lead, const char *before, const char *now) {
#if CUTT_VECTOR_BYTES >= 64
  if (CUTT_PERMUTES(w)) {
    const int width = shift_width(w);
    const __m512i index = indices_from(width, (CUTT_CPU_LINE - lead) / width);
    _mm512_stream_si512((void *)line, cutt_permute(width, _mm512_loadu_si512((const void *)before), index,
                                                   _mm512_loadu_si512((const void *)now)));
    return;
  }
  /* Bytes without a permute: words of 8 bytes, and shifts of bits. */
  const int64_t from = CUTT_CPU_LINE - lead;
  const __m512i a = _mm512_loadu_si512((const void *)before), b = _mm512_loadu_si512((const void *)now);
  const __m512i low = cutt_permute(8, a, indices_from(8, from / 8), b);
  const __m512i high = cutt_permute(8, a, indices_from(8, from / 8 + 1), b);
  const __m512i right = _mm512_set1_epi64(from % 8 * 8), left = _mm512_set1_epi64(64 - from % 8 * 8);
  const __m512i joined = _mm512_or_si512(_mm512_srlv_epi64(low, right), _mm512_sllv_epi64(high, left));
  _mm512_stream_si512((void *)line, joined);
#else
  (void)w;
  if (lead == 0) {
    cutt_store_line(line, now);
    return;
  }
  char both[2 * CUTT_CPU_LINE];
  memcpy(both, before, CUTT_CPU_LINE);
  memcpy(both + CUTT_CPU_LINE, now, CUTT_CPU_LINE);
  cutt_store_line(line, both + CUTT_CPU_LINE - lead);
#endif
}

/* The line of each row at src + row[i], of as many rows as a block has. */
CUTT_INLINE void prefetch_lines(int w, const char *src, const int64_t *row, int to) {
  if (to == CUTT_CPU_TO_L1) {
    for (int i = 0; i < CUTT_CPU_LINE / w; ++i) __builtin_prefetch(src + row[i], 0, 3);
  } else {
    for (int i = 0; i < CUTT_CPU_LINE / w; ++i) __builtin_prefetch(src + row[i], 0, 2);
  }
}

/* What is left of a column from row r on: see write_last_lines in shift.h. 64 bytes behind `now` may be read. */
CUTT_INLINE void end_column(int w, char *dst, int64_t r, int64_t nrows, bool last, char *carry, const char *now) {
  const int64_t over = (nrows - r) * w, lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
  if (lead + over >= CUTT_CPU_LINE) {
    write_joined(w, dst - lead + r * w, lead, carry, now + CUTT_CPU_LINE - over); /* its last bytes are not used */
  }
  memcpy(carry, now, CUTT_CPU_LINE);
  if (last) finish_column(dst, now, nrows * w);
}

/* The first block of columns that begin a run: see write_first_lines in shift.h. */
CUTT_INLINE void begin_columns(int w, char *out, const int64_t *col, char (*carry)[CUTT_CPU_LINE], const char *src,
                               const int64_t *row, int64_t ncols) {
  const int columns = 16 / w;
  cutt_line now[16];
  for (int64_t c = 0; c < ncols; c += columns) {
    const int64_t c0 = first_of_block(c, columns, ncols), end = ncols < c0 + columns ? ncols : c0 + columns;
    block_lines(w, now, src + c0 * w, row);
    for (int64_t i = c; i < end; ++i) {
      begin_column(out + col[i], now[i - c0].byte);
      memcpy(carry[i], now[i - c0].byte, CUTT_CPU_LINE);
    }
  }
}

/* What is left of the columns from row r on, less than a block. */
CUTT_INLINE void end_columns(int w, char *out, const int64_t *col, char (*carry)[CUTT_CPU_LINE], const char *src,
                             const int64_t *row, int64_t r, int64_t nrows, int64_t ncols, bool last) {
  const int columns = 16 / w;
  cutt_line now[17];
  memset(&now[columns], 0, sizeof now[0]);
  for (int64_t c = 0; c < ncols; c += columns) {
    const int64_t c0 = first_of_block(c, columns, ncols), end = ncols < c0 + columns ? ncols : c0 + columns;
    block_lines(w, now, src + c0 * w, row + nrows - CUTT_CPU_LINE / w);
    for (int64_t i = c; i < end; ++i) end_column(w, out + col[i], r, nrows, last, carry[i], now[i - c0].byte);
  }
}

/* See cutt_cpu_along_fn. */
CUTT_INLINE void along(int w, char *out, const int64_t *col, char (*carry)[CUTT_CPU_LINE], const char *src,
                       const int64_t *row, int64_t nrows, int64_t ncols, bool first, bool last,
                       const cutt_cpu_ahead *ahead) {
  const int rows = CUTT_CPU_LINE / w, columns = 16 / w;
  int64_t r = 0;
  if (first) {
    begin_columns(w, out, col, carry, src, row, ncols);
    r = rows;
  }
  for (; r + rows <= nrows; r += rows) {
    /* The next block's rows are this tile's or the next one's. */
    const bool more = r + 2 * rows <= nrows;
    const char *next = more ? src : ahead->base;
    const int64_t *next_row = more ? row + r + rows : ahead->start;
    const bool prefetch = ahead->to != CUTT_CPU_TO_NONE && (more || ahead->runs >= rows);
    char *lines = out + r * w;
    for (int64_t c = 0; c < ncols; c += columns) {
      const int64_t c0 = first_of_block(c, columns, ncols);
      const int from = (int)(c - c0), to = (int)(ncols - c0 < columns ? ncols - c0 : columns);
      if (prefetch && c * w % CUTT_CPU_LINE == 0) prefetch_lines(w, next + c * w, next_row, ahead->to);
      cutt_line now[16];
      block_lines(w, now, src + c0 * w, row + r);
      _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
        if (i < from || i >= to) continue;
        char *dst = lines + col[c0 + i];
        const int64_t lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
        write_joined(w, dst - lead, lead, carry[c0 + i], now[i].byte);
        memcpy(carry[c0 + i], now[i].byte, CUTT_CPU_LINE);
      }
    }
  }
  if (r < nrows || last) end_columns(w, out, col, carry, src, row, r, nrows, ncols, last);
}

#define CUTT_DEFINE_ALONG(W)                                                                                           \
  static void along_##W(char *out, const int64_t *col, char(*carry)[CUTT_CPU_LINE], const char *src,                   \
                        const int64_t *row, int64_t nrows, int64_t ncols, bool first, bool last,                       \
                        const cutt_cpu_ahead *ahead) {                                                                 \
    along(W, out, col, carry, src, row, nrows, ncols, first, last, ahead);                                             \
  }
CUTT_DEFINE_ALONG(1)
CUTT_DEFINE_ALONG(2)
CUTT_DEFINE_ALONG(4)
CUTT_DEFINE_ALONG(8)
CUTT_DEFINE_ALONG(16)

#endif
