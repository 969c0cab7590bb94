/* The transpose whose columns go straight to the output in whole lines, whatever their offsets in a cache line, by non-temporal
 * stores or through the caches: there a store that spans two lines takes as long as several.
 *
 * Register `now` holds 64 bytes of a column and `before` the 64 before them. The output line that has bytes of both is
 * cut out of the two by one permute. So nothing is staged, and only 64 bytes of each column, `carry`, are kept for the
 * next tile. A header of kernels.c, which defines the blocks, for AVX-512: it needs a permute of two registers by
 * element (for 1-byte elements that of VBMI), and a store of a whole line.
 *
 * w, the bytes of an element, and `past`, whether stores go past the caches, are constants in all functions: each kernel below is
 * compiled for its own. */
#ifndef CUTT_CPU_KERNELS_SHIFT_H
#define CUTT_CPU_KERNELS_SHIFT_H

CUTT_INLINE void shift_block(int w, cutt_v64_8 *block, const char *src, const int64_t *row) {
  if (w == 1) block_64_1(block, src, row);
  if (w == 2) block_64_2(block, src, row);
  if (w == 4) block_64_4(block, src, row);
  if (w == 8) block_64_8(block, src, row);
  if (w == 16) block_64_16(block, src, row);
}

/* A column of the output. */
typedef struct shift_column {
  char *line;   /* the line of the column's first byte */
  int64_t lead; /* the offset of that byte in the line */
} shift_column;

CUTT_INLINE shift_column column_at(char *first) {
  const int64_t lead = (int64_t)((uintptr_t)first & 63);
  return (shift_column){first - lead, lead};
}

/* Takes the bytes first of a in the first `bytes` bytes, and b in the others. */
CUTT_INLINE __m512i join(int w, int64_t bytes, __m512i a, __m512i b) {
  const uint64_t mask = (UINT64_C(1) << (bytes / cutt_permute_width(w))) - 1;
  return cutt_permute_width(w) == 1   ? _mm512_mask_mov_epi8(b, (__mmask64)mask, a)
         : cutt_permute_width(w) == 2 ? _mm512_mask_mov_epi16(b, (__mmask32)mask, a)
         : cutt_permute_width(w) == 4 ? _mm512_mask_mov_epi32(b, (__mmask16)mask, a)
                                      : _mm512_mask_mov_epi64(b, (__mmask8)mask, a);
}

/* In what follows 16 / w columns are done at once, of which [from, to) are written. Their arrays are parameters of
 * their own, not a struct, which compilers would keep in memory. */

/* The first block of columns that begin a run: the line in which a column begins is written in part, since its other
 * bytes are not this execution's. Through the caches all of the block is, most of it once more later. */
CUTT_INLINE void write_first_lines(bool past, int w, const shift_column *column, int from, int to, cutt_v64_8 *before,
                                   cutt_v64_8 *now, const char *src, const int64_t *row) {
  shift_block(w, now, src, row);
  for (int i = from; i < to; ++i) {
    char head[64];
    memcpy(head, &now[i], 64);
    if (past) {
      begin_column(column[i].line + column[i].lead, head);
    } else {
      memcpy(column[i].line + column[i].lead, head, 64);
    }
  }
  _Pragma("GCC unroll 16") for (int i = 0; i < 16 / w; ++i) before[i] = now[i];
}

/* Whole lines, as long as there are rows for one; returns the row after these. */
CUTT_INLINE int64_t write_lines_of(bool past, int w, const shift_column *column, int from, int to, const __m512i *index,
                                   cutt_v64_8 *before, cutt_v64_8 *now, const char *src, const int64_t *row, int64_t r,
                                   int64_t nrows, cutt_cpu_ahead *ahead) {
  const int rows = 64 / w, columns = 16 / w;
  for (; r + rows <= nrows; r += rows) {
    shift_block(w, now, src, row + r);
    cutt_cpu_prefetch(ahead, columns);
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      const __m512i line = cutt_permute(cutt_permute_width(w), (__m512i)before[i], index[i], (__m512i)now[i]);
      if (i >= from && i < to) cutt_put_64(past, column[i].line + r * w, line);
      before[i] = now[i];
    }
  }
  return r;
}

/* The same; of all columns with constants, so that the loop has no branch. */
CUTT_INLINE int64_t write_lines(bool past, int w, const shift_column *column, int from, int to, const __m512i *index,
                                cutt_v64_8 *before, cutt_v64_8 *now, const char *src, const int64_t *row, int64_t r,
                                int64_t nrows, cutt_cpu_ahead *ahead) {
  const int columns = 16 / w;
  if (to - from == columns)
    return write_lines_of(past, w, column, 0, columns, index, before, now, src, row, r, nrows, ahead);
  return write_lines_of(past, w, column, from, to, index, before, now, src, row, r, nrows, ahead);
}

/* A column's last whole line: its first `lead` bytes are the end of before, the others are in now, of which the last `over` are new. */
CUTT_INLINE __m512i last_line(int w, int64_t lead, int64_t over, cutt_v64_8 before, cutt_v64_8 now) {
  const int width = cutt_permute_width(w);
  const __m512i in_before = cutt_indices_from(width, (64 - lead) / width);
  const __m512i in_now = cutt_indices_from(width, (128 - over - lead) / width);
  return cutt_permute(width, (__m512i)before, join(w, lead, in_before, in_now), (__m512i)now);
}

/* What is left of the columns from row r on, less than a block: a whole line if there are bytes for one, the last 64
 * bytes into carry, and the end of a run, in part of a line. */
CUTT_INLINE void write_last_lines(bool past, int w, const shift_column *column, int from, int to,
                                  const cutt_v64_8 *before, cutt_v64_8 *now, const char *src, const int64_t *row,
                                  int64_t r, int64_t nrows, bool last, char (*carry)[CUTT_CPU_LINE]) {
  const int64_t over = (nrows - r) * w;
  shift_block(w, now, src, row + nrows - 64 / w); /* overlaps the block before: `over` bytes of each column are new */
  _Pragma("GCC unroll 16") for (int i = 0; i < 16 / w; ++i) {
    if (i < from || i >= to) continue;
    const int64_t lead = column[i].lead;
    if (lead + over >= 64) cutt_put_64(past, column[i].line + r * w, last_line(w, lead, over, before[i], now[i]));
    memcpy(carry[i], &now[i], 64);
    if (!last) continue;
    if (past) {
      finish_column(column[i].line + lead, (const char *)&now[i], nrows * w);
    } else {
      memcpy(column[i].line + lead + nrows * w - 64, &now[i], 64);
    }
  }
}

/* Of bytes a block is 16 registers, and so are what its columns carry and the indices of their permutes: more than there are. What is carried
 * stays in memory, one load and one store for each line, and an index is made of the register of bytes 0, 1, ... and its first byte, which
 * `index` has four times. The barrier keeps compilers from having copies of a block and of what was before it on the stack as well.
 * w is 1, the number that all functions here have. */
CUTT_INLINE int64_t write_some_of_bytes(bool past, int w, char *const *line, const uint32_t *index, int from, int to,
                                        char (*carry)[CUTT_CPU_LINE], const char *src, const int64_t *row, int64_t r,
                                        int64_t nrows, cutt_cpu_ahead *ahead) {
  const int rows = 64 / w, columns = 16 / w;
  const __m512i indices = cutt_indices_from(w, 0);
  cutt_v64_8 now[16];
  for (; r + rows <= nrows; r += rows) {
    shift_block(w, now, src, row + r);
    cutt_cpu_prefetch(ahead, columns);
    __asm__ volatile("" : : : "memory");
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      if (i < from || i >= to) continue;
      const __m512i which = _mm512_add_epi8(_mm512_set1_epi32((int32_t)index[i]), indices);
      const __m512i before = _mm512_loadu_si512((const void *)carry[i]);
      cutt_put_64(past, line[i] + r * w, cutt_permute(w, before, which, (__m512i)now[i]));
      memcpy(carry[i], &now[i], 64);
    }
  }
  return r;
}

CUTT_INLINE int64_t write_lines_of_bytes(bool past, int w, char *const *line, const uint32_t *index, int from, int to,
                                         char (*carry)[CUTT_CPU_LINE], const char *src, const int64_t *row, int64_t r,
                                         int64_t nrows, cutt_cpu_ahead *ahead) {
  const int columns = 16 / w;
  if (to - from == columns)
    return write_some_of_bytes(past, w, line, index, 0, columns, carry, src, row, r, nrows, ahead);
  return write_some_of_bytes(past, w, line, index, from, to, carry, src, row, r, nrows, ahead);
}

/* See cutt_cpu_shift_fn: the same as `shift` below, of bytes. */
CUTT_INLINE void shift_bytes(bool past, int w, char *const *dst, char (*carry)[CUTT_CPU_LINE], const char *src,
                             const int64_t *row, int64_t nrows, int64_t ncols, bool first, bool last,
                             cutt_cpu_ahead *ahead) {
  const int columns = 16 / w;
  for (int64_t c = 0; c < ncols; c += columns) {
    const int64_t c0 = first_of_block(c, columns, ncols);
    const int from = (int)(c - c0), to = (int)(ncols - c0 < columns ? ncols - c0 : columns);
    const char *block = src + c0 * w;
    char *line[16];
    uint32_t index[16];
    int64_t leads = 0, r = 0;
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      const uintptr_t at = (uintptr_t)dst[i >= from && i < to ? c0 + i : c];
      const uintptr_t lead = at & 63;
      line[i] = (char *)(at - lead);
      index[i] = (uint32_t)(64 - lead) * UINT32_C(0x01010101);
      leads |= (int64_t)lead;
    }
    shift_column column[16];
    cutt_v64_8 before[16], now[16];
    if (first && leads != 0) {
      for (int i = from; i < to; ++i) column[i] = column_at(dst[c0 + i]);
      write_first_lines(past, w, column, from, to, before, now, block, row);
      for (int i = from; i < to; ++i) memcpy(carry[c0 + i], &before[i], 64);
      cutt_cpu_prefetch(ahead, columns);
      r = 64 / w;
    }
    r = write_lines_of_bytes(past, w, line, index, from, to, carry + c0, block, row, r, nrows, ahead);
    if (r == nrows && !(last && leads != 0)) continue;
    for (int i = from; i < to; ++i) {
      column[i] = column_at(dst[c0 + i]);
      memcpy(&before[i], carry[c0 + i], 64);
    }
    cutt_cpu_prefetch(ahead, columns);
    write_last_lines(past, w, column, from, to, before, now, block, row, r, nrows, last, carry + c0);
  }
}

/* See cutt_cpu_shift_fn. */
CUTT_INLINE void shift(bool past, int w, char *const *dst, char (*carry)[CUTT_CPU_LINE], const char *src,
                       const int64_t *row, int64_t nrows, int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead) {
  if (w == 1) {
    shift_bytes(past, w, dst, carry, src, row, nrows, ncols, first, last, ahead);
    return;
  }
  const int columns = 16 / w, width = cutt_permute_width(w);
  for (int64_t c = 0; c < ncols; c += columns) {
    /* Columns c0 .. c0 + columns - 1 are loaded; those below c are written already. */
    const int64_t c0 = first_of_block(c, columns, ncols);
    const int from = (int)(c - c0), to = (int)(ncols - c0 < columns ? ncols - c0 : columns);
    const char *block = src + c0 * w;
    shift_column column[16];
    __m512i index[16];
    cutt_v64_8 before[16], now[16];
    int64_t leads = 0, r = 0;
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      const int64_t at = i >= from && i < to ? c0 + i : c;
      column[i] = column_at(dst[at]);
      index[i] = cutt_indices_from(width, (64 - column[i].lead) / width);
      memcpy(&before[i], carry[at], 64);
      leads |= column[i].lead;
    }
    if (first && leads != 0) {
      write_first_lines(past, w, column, from, to, before, now, block, row);
      cutt_cpu_prefetch(ahead, columns);
      r = 64 / w;
    }
    r = write_lines(past, w, column, from, to, index, before, now, block, row, r, nrows, ahead);
    if (r < nrows || (last && leads != 0)) {
      cutt_cpu_prefetch(ahead, columns);
      write_last_lines(past, w, column, from, to, before, now, block, row, r, nrows, last, carry + c0);
      continue;
    }
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      if (i >= from && i < to) memcpy(carry[c0 + i], &before[i], 64);
    }
  }
}

/* See cutt_cpu_follow_fn. The line in which a column begins has the end of the one before it, which is known when as many columns as
 * are done at once have ended. */
CUTT_INLINE void follow(int w, char *dst, char *carry, const char *src, const int64_t *row, int64_t nrows,
                        int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead) {
  const int columns = 16 / w, width = cutt_permute_width(w), rows = 64 / w;
  cutt_v64_8 end; /* the last 64 bytes of the column before */
  memcpy(&end, carry, 64);
  for (int64_t c = 0; c < ncols; c += columns) {
    const int64_t c0 = first_of_block(c, columns, ncols);
    const int from = (int)(c - c0), to = (int)(ncols - c0 < columns ? ncols - c0 : columns);
    const char *block = src + c0 * w;
    shift_column column[16];
    __m512i index[16];
    cutt_v64_8 before[16], now[16], head[16];
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      column[i] = column_at(dst + (c0 + i) * nrows * w);
      index[i] = cutt_indices_from(width, (64 - column[i].lead) / width);
    }
    shift_block(w, now, block, row);
    cutt_cpu_prefetch(ahead, columns);
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
      before[i] = head[i] = now[i];
      if (i != from) continue;
      if (c == 0 && first) {
        memcpy(carry, &now[i], 64);
        begin_column(dst, carry);
      } else {
        cutt_put_64(true, column[i].line, cutt_permute(width, (__m512i)end, index[i], (__m512i)now[i]));
      }
    }
    const int64_t r = write_lines(true, w, column, from, to, index, before, now, block, row, rows, nrows, ahead);
    if (r < nrows) { /* overlaps the block before: `over` bytes of each column are new */
      const int64_t over = (nrows - r) * w;
      shift_block(w, now, block, row + nrows - rows);
      cutt_cpu_prefetch(ahead, columns);
      _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
        if (i >= from && i < to && column[i].lead + over >= 64)
          cutt_put_64(true, column[i].line + r * w, last_line(w, column[i].lead, over, before[i], now[i]));
        before[i] = now[i];
      }
    }
    _Pragma("GCC unroll 16") for (int i = 1; i < columns; ++i) {
      if (i <= from || i >= to) continue;
      cutt_put_64(true, column[i].line, cutt_permute(width, (__m512i)before[i - 1], index[i], (__m512i)head[i]));
    }
    _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) { /* by constants, so that these arrays are registers */
      if (i + 1 == to) end = before[i];
    }
  }
  memcpy(carry, &end, 64);
  if (last) finish_column(dst, carry, nrows * ncols * w);
}

#define CUTT_DEFINE_SHIFT(W)                                                                                           \
  static void shift_##W(char *const *dst, char(*carry)[CUTT_CPU_LINE], const char *src, const int64_t *row,            \
                        int64_t nrows, int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead) {                  \
    shift(true, W, dst, carry, src, row, nrows, ncols, first, last, ahead);                                            \
  }                                                                                                                    \
  static void lines_##W(char *const *dst, char(*carry)[CUTT_CPU_LINE], const char *src, const int64_t *row,            \
                        int64_t nrows, int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead) {                  \
    shift(false, W, dst, carry, src, row, nrows, ncols, first, last, ahead);                                           \
  }
#if defined(__AVX512VBMI__)
CUTT_DEFINE_SHIFT(1)
#endif
CUTT_DEFINE_SHIFT(2)
CUTT_DEFINE_SHIFT(4)
CUTT_DEFINE_SHIFT(8)
CUTT_DEFINE_SHIFT(16)

#define CUTT_DEFINE_FOLLOW(W)                                                                                          \
  static void follow_##W(char *dst, char *carry, const char *src, const int64_t *row, int64_t nrows, int64_t ncols,    \
                         bool first, bool last, cutt_cpu_ahead *ahead) {                                               \
    follow(W, dst, carry, src, row, nrows, ncols, first, last, ahead);                                                 \
  }
CUTT_DEFINE_FOLLOW(4)
CUTT_DEFINE_FOLLOW(8)
CUTT_DEFINE_FOLLOW(16)

#endif
