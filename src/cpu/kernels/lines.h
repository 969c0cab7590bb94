/* The passes of a walk along rows (along.h) in AVX-512's registers: for elements of 1 to 8 bytes, blocks of as many rows as fill 64 bytes of a
 * column (64 to 8), and of as many columns as 16 bytes have, are turned and go to the output without being in memory between.
 *
 * Rows are found by a table, or lie at equal distances from each other: then no offset has to be loaded for each 16 bytes, which takes as
 * long as these. What is prefetched is asked for a little at a time, since as much as fills a core's buffers keeps what is read from them.
 *
 * w, the bytes of an element, and whether there is a table are constants in all functions. */
#ifndef CUTT_CPU_KERNELS_LINES_H
#define CUTT_CPU_KERNELS_LINES_H

enum { CUTT_MOST_LINES = 16 }; /* columns of a block */

/* 16 bytes of each of four rows, `apart` bytes from each other. */
CUTT_INLINE __m512i load_apart(const char *src, int64_t apart) {
  __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)src));
  v = _mm512_mask_broadcast_i64x2(v, 0x0c, _mm_loadu_si128((const __m128i *)(const void *)(src + apart)));
  v = _mm512_mask_broadcast_i64x2(v, 0x30, _mm_loadu_si128((const __m128i *)(const void *)(src + 2 * apart)));
  return _mm512_mask_broadcast_i64x2(v, 0xc0, _mm_loadu_si128((const __m128i *)(const void *)(src + 3 * apart)));
}

/* The same address, of which compilers no longer know how it came about: else they would keep all multiples of a step that are added to one,
 * and most of these in memory. */
CUTT_INLINE const char *forget(const char *address) {
  __asm__("" : "+r"(address));
  return address;
}

/* n vectors of a block: vector i has 16 bytes of row i and of those that lie a quarter, two and three quarters of its rows behind it, so that
 * a column's rows end up in order. Rows are at src + row[i], or if that is NULL at src + i * step. */
CUTT_INLINE void load_quarters(int w, int n, __m512i *v, const char *src, const int64_t *row, int64_t step) {
  const int quarter = 16 / w;
  const int64_t apart = quarter * step;
  _Pragma("GCC unroll 16") for (int i = 0; i < n; ++i) {
    v[i] = row ? (__m512i)cutt_load_64(src, row + i, quarter) : load_apart(src, apart);
    if (!row) src = forget(src + step);
  }
}

CUTT_INLINE __m512i zip_low(int w, __m512i a, __m512i b) {
  return w == 1   ? _mm512_unpacklo_epi8(a, b)
         : w == 2 ? _mm512_unpacklo_epi16(a, b)
         : w == 4 ? _mm512_unpacklo_epi32(a, b)
                  : _mm512_unpacklo_epi64(a, b);
}
CUTT_INLINE __m512i zip_high(int w, __m512i a, __m512i b) {
  return w == 1   ? _mm512_unpackhi_epi8(a, b)
         : w == 2 ? _mm512_unpackhi_epi16(a, b)
         : w == 4 ? _mm512_unpackhi_epi32(a, b)
                  : _mm512_unpackhi_epi64(a, b);
}

/* Two rounds of interleaving: of four vectors with every fourth row of some, or every fourth column of four. */
CUTT_INLINE void zip_four(int w, __m512i to[4], __m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ac_low = zip_low(w, a, c), ac_high = zip_high(w, a, c);
  const __m512i bd_low = zip_low(w, b, d), bd_high = zip_high(w, b, d);
  to[0] = zip_low(w, ac_low, bd_low);
  to[1] = zip_high(w, ac_low, bd_low);
  to[2] = zip_low(w, ac_high, bd_high);
  to[3] = zip_high(w, ac_high, bd_high);
}

/* 64 / w rows x 16 / w columns: column i goes to now[i]. Of bytes four vectors at a time do two of the four rounds, so that not all 16 are
 * in registers twice. */
CUTT_INLINE void turn_lines(int w, __m512i *now, const char *src, const int64_t *row, int64_t step) {
  __m512i v[16], t[16];
  load_quarters(w, 16 / w, v, src, row, step);
  if (w == 1) {
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
      __m512i four[4];
      zip_four(1, four, v[i], v[i + 4], v[i + 8], v[i + 12]);
      _Pragma("GCC unroll 4") for (int j = 0; j < 4; ++j) t[4 * j + i] = four[j];
    }
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i)
        zip_four(1, now + 4 * i, t[4 * i], t[4 * i + 1], t[4 * i + 2], t[4 * i + 3]);
  }
  if (w == 2) {
    _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) {
      t[2 * i] = zip_low(2, v[i], v[i + 4]);
      t[2 * i + 1] = zip_high(2, v[i], v[i + 4]);
    }
    zip_four(2, now, t[0], t[2], t[4], t[6]);
    zip_four(2, now + 4, t[1], t[3], t[5], t[7]);
  }
  if (w == 4) zip_four(4, now, v[0], v[1], v[2], v[3]);
  if (w == 8) {
    now[0] = zip_low(8, v[0], v[1]);
    now[1] = zip_high(8, v[0], v[1]);
  }
}

/* A group of all its columns in registers, with a table of its rows or without. */
CUTT_INLINE void write_turned(int w, int lines, char *out, const int64_t *col, char (*carry)[CUTT_CPU_LINE],
                              const char *src, const int64_t *row, int64_t step) {
  const int rows = CUTT_CPU_LINE / w, columns = 16 / w;
  __m512i now[2][CUTT_MOST_LINES];
  _Pragma("GCC unroll 2") for (int line = 0; line < lines; ++line)
      turn_lines(w, now[line], row ? src : src + line * rows * step, row ? row + line * rows : NULL, step);
  _Pragma("GCC unroll 16") for (int i = 0; i < columns; ++i) {
    char *dst = out + col[i];
    const int64_t lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
    const __m512i before = _mm512_loadu_si512((const void *)carry[i]);
    __m512i *line = (__m512i *)(void *)(dst - lead);
    _mm512_stream_si512(line, cutt_joined(w, lead, before, now[0][i]));
    if (lines == 2) _mm512_stream_si512(line + 1, cutt_joined(w, lead, now[0][i], now[1][i]));
    _mm512_storeu_si512((void *)carry[i], now[lines - 1][i]);
  }
}

/* Are n rows from row r on at equal distances? */
CUTT_INLINE bool are_even(const cutt_cpu_columns *q, int64_t r, int64_t n) {
  return q->even > 0 && r % q->even + n <= q->even;
}

/* Of n rows, which are found as those of a block are, and of which a group takes 16 bytes from byte `at` on: a quarter of the lines that begin
 * with the first group of four. As many as fill buffers at once would keep what is read from them. */
CUTT_INLINE void prefetch_quarter(const char *src, int64_t at, const int64_t *row, int64_t step, int64_t n, int to) {
  enum { SOME = 4 };
  if (n <= 0) return; /* and src may be NULL */
  const int64_t each = (n + 3) / 4, first = at % CUTT_CPU_LINE / 16 * each, end = n < first + each ? n : first + each;
  src += at / CUTT_CPU_LINE * CUTT_CPU_LINE + first * step;
  int64_t i = first;
  for (; i + SOME <= end; i += SOME) {
    _Pragma("GCC unroll 4") for (int j = 0; j < SOME; ++j) {
      cutt_cpu_prefetch_line(row ? src + row[i + j] : src, to);
      if (!row) src = forget(src + step);
    }
  }
  for (; i < end; ++i, src += step) cutt_cpu_prefetch_line(row ? src + row[i] : src, to);
}

/* The next rows where they follow these in memory without gaps: `each` lines of them, from `at` on, for each group of columns. They are in L2
 * by then, if the tile has several passes; of elements of 8 bytes they are read from there as fast. */
typedef struct next_range {
  const char *at;
  int64_t each; /* 0: they do not */
} next_range;

CUTT_INLINE next_range next_range_of(int w, const along_pass *p, const cutt_cpu_columns *q, int64_t groups) {
  const along_ahead *a = &p->lines;
  const int64_t most = p->alone ? CUTT_CPU_NEXT_ROWS / 4 : CUTT_CPU_NEXT_ROWS;
  if (p->tile->rows || a->next_rows <= 0 || q->step != q->count * w || q->step > most || groups == 0)
    return (next_range){NULL, 0};
  const int64_t each = (a->next_rows * q->step + groups * CUTT_CPU_LINE - 1) / (groups * CUTT_CPU_LINE);
  return (next_range){a->next + a->next_row[0], each};
}

/* The groups of a pass, to `out` on; returns the first column that is left. even, a constant: the rows of this pass and of the one that is
 * prefetched are at equal distances. to, another: where what is prefetched goes. */
CUTT_INLINE int64_t pass_groups(int w, int lines, bool even, int to, along_pass *p, const cutt_cpu_columns *q,
                                char *out) {
  enum { GROUP = 16 };
  const int columns = GROUP / w;
  const along_ahead *a = &p->lines;
  const int64_t step = even ? q->step : 0, count = q->count, rows = p->rows, bytes = a->bytes, n = a->next_rows;
  const int64_t *row = even ? NULL : a->row, *next_row = even ? NULL : a->next_row;
  const char *these = even ? a->src + a->row[0] : a->src, *next = even && n > 0 ? a->next + a->next_row[0] : a->next;
  const bool by_tile = !p->tile->rows;
  next_range range = {NULL, 0};
  if (w <= 4 && even && to == CUTT_CPU_TO_L2) range = next_range_of(w, p, q, count / columns);
  /* Others by themselves, but not the next tile's. */
  const bool rows_near = w <= 4 && to == CUTT_CPU_TO_L2 && by_tile && range.each == 0 && !p->last &&
                         cutt_cpu_asks_for_next_rows(CUTT_VECTOR_BYTES, w, count * w);
  int64_t c = 0;
  for (; c + columns <= count; c += columns) {
    const int64_t at = c * w + (to == CUTT_CPU_TO_L1 ? a->distance : bytes);
    if (by_tile) {
      cutt_cpu_prefetch(p->tile, lines * GROUP / w);
      for (int64_t i = 0; i < range.each; ++i, range.at += CUTT_CPU_LINE)
        cutt_cpu_prefetch_line(range.at, CUTT_CPU_TO_L1);
      if (rows_near) prefetch_quarter(next, c * w, next_row, step, n, CUTT_CPU_TO_L1);
    } else if (w == 1 && to == CUTT_CPU_TO_L2) {
      prefetch_pieces(&p->piece, a, lines * GROUP / w);
    } else {
      if (to == CUTT_CPU_TO_L1 && at < bytes) prefetch_quarter(these, at, row, step, rows, to);
      if (to == CUTT_CPU_TO_L2 || at >= bytes) prefetch_quarter(next, at - bytes, next_row, step, n, to);
    }
    write_turned(w, lines, out, q->col + c, q->carry + c, these + c * w, row, step);
  }
  return c;
}

/* Not inlined, since what they keep in registers would go to memory among all the rest. */
#define CUTT_DEFINE_PASS(W, LINES, EVEN, TO)                                                                           \
  static __attribute__((noinline))                                                                                     \
  int64_t pass_##W##_##LINES##_##EVEN##_##TO(along_pass *p, const cutt_cpu_columns *q, char *out) {                    \
    return pass_groups(W, LINES, EVEN, TO, p, q, out);                                                                 \
  }
#define CUTT_DEFINE_PASS_L2(W, LINES, EVEN)                                                                            \
  CUTT_DEFINE_PASS(W, LINES, EVEN, CUTT_CPU_TO_L2)                                                                     \
  CUTT_INLINE int64_t pass_##W##_##LINES##_##EVEN(along_pass *p, const cutt_cpu_columns *q, char *out) {               \
    return pass_##W##_##LINES##_##EVEN##_CUTT_CPU_TO_L2(p, q, out);                                                    \
  }
#define CUTT_DEFINE_PASS_BOTH(W, LINES, EVEN)                                                                          \
  CUTT_DEFINE_PASS(W, LINES, EVEN, CUTT_CPU_TO_L1)                                                                     \
  CUTT_DEFINE_PASS(W, LINES, EVEN, CUTT_CPU_TO_L2)                                                                     \
  CUTT_INLINE int64_t pass_##W##_##LINES##_##EVEN(along_pass *p, const cutt_cpu_columns *q, char *out) {               \
    return p->lines.to == CUTT_CPU_TO_L1 ? pass_##W##_##LINES##_##EVEN##_CUTT_CPU_TO_L1(p, q, out)                     \
                                         : pass_##W##_##LINES##_##EVEN##_CUTT_CPU_TO_L2(p, q, out);                    \
  }
#define CUTT_DEFINE_PASSES(W, OF)                                                                                      \
  OF(W, 1, 0)                                                                                                          \
  OF(W, 2, 0)                                                                                                          \
  OF(W, 1, 1)                                                                                                          \
  OF(W, 2, 1)                                                                                                          \
  CUTT_INLINE int64_t pass_groups_##W(int lines, bool even, along_pass *p, const cutt_cpu_columns *q, char *out) {     \
    if (lines == 1) return even ? pass_##W##_1_1(p, q, out) : pass_##W##_1_0(p, q, out);                               \
    return even ? pass_##W##_2_1(p, q, out) : pass_##W##_2_0(p, q, out);                                               \
  }
CUTT_DEFINE_PASSES(1, CUTT_DEFINE_PASS_BOTH)
CUTT_DEFINE_PASSES(2, CUTT_DEFINE_PASS_BOTH)
CUTT_DEFINE_PASSES(4, CUTT_DEFINE_PASS_L2)
CUTT_DEFINE_PASSES(8, CUTT_DEFINE_PASS_L2)

/* Is the other loop of along_passes the faster one? Of 4 and 8 bytes where hardware prefetchers have the next lines in L2, and on Zen 4 where
 * rows share sets of L1, and where short ones come from L2: it asks for less of them at a time (docs/log.md). */
CUTT_INLINE bool slower_turned(int w, const along_pass *p, const cutt_cpu_columns *q) {
  enum { APART = 512, SHORT = 512 };
  if (w >= 4 && p->lines.to != CUTT_CPU_TO_L2) return true;
  return w > 1 && (q->step % APART == 0 || (p->tile->rows && q->count * w <= SHORT));
}

/* Those of a pass from row r on, with the next one from row `next` on; none where it is prefetched or read otherwise. */
CUTT_INLINE int64_t pass_groups_of(int w, int lines, along_pass *p, const cutt_cpu_columns *q, char *out, int64_t r,
                                   int64_t next) {
  along_ahead *a = &p->lines;
  const bool pieces = w == 1 && a->to == CUTT_CPU_TO_L2;
  if (w > 8 || (p->tile->rows && p->pieces != pieces) || slower_turned(w, p, q)) return 0;
  if (a->to == CUTT_CPU_TO_NONE) a->next_rows = 0; /* to be prefetched */
  const bool even = are_even(q, r, p->rows) && (pieces || a->next_rows <= 0 || are_even(q, next, a->next_rows));
  return w == 1   ? pass_groups_1(lines, even, p, q, out)
         : w == 2 ? pass_groups_2(lines, even, p, q, out)
         : w == 4 ? pass_groups_4(lines, even, p, q, out)
                  : pass_groups_8(lines, even, p, q, out);
}

#endif
