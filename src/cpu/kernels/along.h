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

/* Does column c begin where the one before it ends? */
CUTT_INLINE bool continues(const cutt_cpu_columns *q, int64_t c) {
  return q->run > 0 && c > 0 && c < q->count && q->col[c] - q->col[c - 1] == q->run;
}

/* What is left of column c from row r on: see write_last_lines in shift.h. 64 bytes behind `now` may be read. */
CUTT_INLINE void end_column(int w, const cutt_cpu_columns *q, int64_t c, int64_t r, int64_t nrows, bool last,
                            const char *now) {
  char *dst = q->out + q->col[c];
  const int64_t over = (nrows - r) * w, lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
  if (lead + over >= CUTT_CPU_LINE) {
    cutt_store_joined(w, dst - lead + r * w, lead, q->carry[c],
                      now + CUTT_CPU_LINE - over); /* its last bytes are not used */
  }
  memcpy(q->carry[c], now, CUTT_CPU_LINE);
  if (!last) return;
  char *end = dst + nrows * w;
  const int64_t part = (int64_t)((uintptr_t)end & (CUTT_CPU_LINE - 1));
  if (!continues(q, c + 1)) {
    finish_column(dst, now, nrows * w);
  } else if (part > 0) {
    cutt_store_joined(w, end - part, part, now, q->head[c + 1]);
  }
}

/* The first block of columns that begin a run: see write_first_lines in shift.h. */
CUTT_INLINE void begin_columns(int w, const cutt_cpu_columns *q, const char *src, const int64_t *row, int64_t nrows,
                               cutt_cpu_ahead *ahead) {
  const int columns = 16 / w;
  along_pass pass = begin_pass(w, ahead, src, row, 0, CUTT_CPU_LINE / w, nrows, q->count);
  cutt_line now[16];
  for (int64_t c = 0; c < q->count; c += columns) {
    prefetch_pass(&pass, w, c);
    const int64_t c0 = first_of_block(c, columns, q->count), end = q->count < c0 + columns ? q->count : c0 + columns;
    block_lines(w, now, src + c0 * w, row);
    for (int64_t i = c; i < end; ++i) {
      char *dst = q->out + q->col[i];
      if (q->run > 0) memcpy(q->head[i], now[i - c0].byte, CUTT_CPU_LINE);
      if (!continues(q, i) || ((uintptr_t)dst & (CUTT_CPU_LINE - 1)) == 0) begin_column(dst, now[i - c0].byte);
      memcpy(q->carry[i], now[i - c0].byte, CUTT_CPU_LINE);
    }
  }
}

/* What is left of the columns from row r on, less than a block. */
CUTT_INLINE void end_columns(int w, const cutt_cpu_columns *q, const char *src, const int64_t *row, int64_t r,
                             int64_t nrows, bool last, cutt_cpu_ahead *ahead) {
  const int columns = 16 / w;
  along_pass pass = begin_pass(w, ahead, src, row, r, nrows - r, nrows, q->count);
  cutt_line now[17];
  memset(&now[columns], 0, sizeof now[0]);
  for (int64_t c = 0; c < q->count; c += columns) {
    const int64_t c0 = first_of_block(c, columns, q->count), end = q->count < c0 + columns ? q->count : c0 + columns;
    if (r < nrows) prefetch_pass(&pass, w, c); /* else the pass before has done so */
    block_lines(w, now, src + c0 * w, row + nrows - CUTT_CPU_LINE / w);
    for (int64_t i = c; i < end; ++i) end_column(w, q, i, r, nrows, last, now[i - c0].byte);
  }
}

/* Columns [from, to) of a group, which begins at carry and col: so many lines of each. */
CUTT_INLINE void write_group(int w, int lines, char *out, const int64_t *col, char (*carry)[CUTT_CPU_LINE],
                             const char *src, const int64_t *row, int from, int to) {
  const int rows = CUTT_CPU_LINE / w, columns = 16 / w;
  cutt_line now[2][16];
  for (int line = 0; line < lines; ++line) block_lines(w, now[line], src, row + line * rows);
  _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
    if (i < from || i >= to) continue;
    char *dst = out + col[i];
    const int64_t lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
    cutt_store_joined(w, dst - lead, lead, carry[i], now[0][i].byte);
    if (lines == 2) cutt_store_joined(w, dst - lead + CUTT_CPU_LINE, lead, now[0][i].byte, now[1][i].byte);
    memcpy(carry[i], now[lines - 1][i].byte, CUTT_CPU_LINE);
  }
}

#if CUTT_VECTOR_BYTES >= 64
/* The same for as many columns as a line of a row has, of which each row is one load. */
CUTT_INLINE void write_whole_group(int w, int lines, char *out, const int64_t *col, char (*carry)[CUTT_CPU_LINE],
                                   const char *src, const int64_t *row) {
  const int n = CUTT_CPU_LINE / w;
  __m512i now[2][WHOLE_COLUMNS];
  for (int line = 0; line < lines; ++line) whole_block(w, now[line], src, row + line * n);
  for (int i = 0; i < n; ++i) {
    char *dst = out + col[i];
    const int64_t lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
    cutt_store_joined(w, dst - lead, lead, carry[i], (const char *)&now[0][i]);
    if (lines == 2)
      cutt_store_joined(w, dst - lead + CUTT_CPU_LINE, lead, (const char *)&now[0][i], (const char *)&now[1][i]);
    memcpy(carry[i], &now[lines - 1][i], CUTT_CPU_LINE);
  }
}
#endif

/* Passes of so many lines (1 or 2, a constant) from row r on; returns the row after these. */
CUTT_INLINE int64_t along_passes(int w, int lines, bool whole, const cutt_cpu_columns *q, const char *src,
                                 const int64_t *row, int64_t r, int64_t nrows, cutt_cpu_ahead *ahead) {
  const int rows = lines * (CUTT_CPU_LINE / w), columns = 16 / w;
  const int64_t count = q->count;
  (void)whole; /* of other instruction sets */
  for (; r + rows <= nrows; r += rows) {
    along_pass pass = begin_pass(w, ahead, src, row, r, rows, nrows, count);
    char *out = q->out + r * w;
    int64_t c = 0;
#if CUTT_VECTOR_BYTES >= 64
    if (!whole) c = pass_groups_of(w, lines, &pass, q, out, r, nrows - r > rows ? r + rows : 0);
    for (const int n = CUTT_CPU_LINE / w; whole && c + n <= count; c += n) {
      for (int i = 0; i < n; i += columns) prefetch_pass(&pass, w, c + i);
      write_whole_group(w, lines, out, q->col + c, q->carry + c, src + c * w, row + r);
    }
#endif
    for (; c + columns <= count; c += columns) {
      prefetch_pass(&pass, w, c);
      write_group(w, lines, out, q->col + c, q->carry + c, src + c * w, row + r, 0, columns);
    }
    if (c == count) continue;
    const int64_t c0 = first_of_block(c, columns, count), end = count - c0 < columns ? count - c0 : columns;
    if (!ahead->rows) cutt_cpu_prefetch(ahead, rows * 16 / CUTT_CPU_LINE);
    write_group(w, lines, out, q->col + c0, q->carry + c0, src + c0 * w, row + r, (int)(c - c0), (int)end);
  }
  return r;
}

/* Does any column begin within a line? Where none does, nothing is joined, and columns begin and end with whole lines. */
CUTT_INLINE bool within_lines(const cutt_cpu_columns *q) {
  uintptr_t leads = 0;
  for (int64_t c = 0; c < q->count; ++c) leads |= (uintptr_t)(q->out + q->col[c]);
  return (leads & (CUTT_CPU_LINE - 1)) != 0;
}

/* See cutt_cpu_along_fn. whole, a constant: each row is read a line at a time. */
CUTT_INLINE void along(int w, bool whole, const cutt_cpu_columns *q, const char *src, const int64_t *row, int64_t nrows,
                       bool first, bool last, cutt_cpu_ahead *ahead) {
  const bool within = (first || last) && within_lines(q);
  int64_t r = 0;
  if (first && within) {
    begin_columns(w, q, src, row, nrows, ahead);
    r = CUTT_CPU_LINE / w;
  }
  if (rows_of_pass(w, nrows, q->count, ahead) > CUTT_CPU_LINE / w)
    r = along_passes(w, 2, whole, q, src, row, r, nrows, ahead);
  r = along_passes(w, 1, whole, q, src, row, r, nrows, ahead);
  if (r < nrows || (last && within)) end_columns(w, q, src, row, r, nrows, last, ahead);
}

#define CUTT_DEFINE_ALONG_OF(NAME, W, WHOLE)                                                                           \
  static void NAME##_##W(const cutt_cpu_columns *columns, const char *src, const int64_t *row, int64_t nrows,          \
                         bool first, bool last, cutt_cpu_ahead *ahead) {                                               \
    along(W, WHOLE, columns, src, row, nrows, first, last, ahead);                                                     \
  }
#define CUTT_DEFINE_ALONG(W) CUTT_DEFINE_ALONG_OF(along, W, false)
CUTT_DEFINE_ALONG(1)
CUTT_DEFINE_ALONG(2)
CUTT_DEFINE_ALONG(4)
CUTT_DEFINE_ALONG(8)
CUTT_DEFINE_ALONG(16)
#if CUTT_VECTOR_BYTES >= 64
CUTT_DEFINE_ALONG_OF(along_whole, 4, true)
CUTT_DEFINE_ALONG_OF(along_whole, 8, true)
CUTT_DEFINE_ALONG_OF(along_whole, 16, true)
#endif

#endif
