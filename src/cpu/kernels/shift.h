/* The transpose with its columns going straight to the output, past the caches, whatever each column's place in a line.
 *
 * Register `now` holds 64 bytes of a column and `before` the 64 before them; the line that they share is cut out of the
 * two by one permute (index: the first element of it). So nothing is staged, and 64 bytes of each column, `carry`, are
 * all that has to be kept for the next tile. A header of kernels.c, which defines the blocks; needs AVX-512 (a permute
 * of two registers by element, and a line in one store). 1-byte elements would need VBMI: they are staged instead. */
#ifndef CUTT_CPU_KERNELS_SHIFT_H
#define CUTT_CPU_KERNELS_SHIFT_H

typedef struct shift_column {
  char *line;   /* the line that the column's first byte is in */
  int64_t lead; /* where in it */
} shift_column;

/* The end of a run, a part of a line; `now` holds the run's last 64 bytes. */
static void finish_column(const shift_column *column, const char *now, int64_t bytes) {
  const int64_t end = column->lead + bytes, part = end % 64;
  copy_bytes(column->line + end - part, now + 64 - part, part);
}

/* W: bytes of an element; P: bytes that places in a line are multiples of, the permute's element (T). */
#define CUTT_DEFINE_SHIFT(W, P, T, PERMUTE)                                                                            \
  typedef T cutt_shift_index_##W __attribute__((vector_size(64)));                                                     \
  static void shift_##W(char *const *dst, char(*carry)[CUTT_CPU_LINE], const char *src, const int64_t *row,            \
                        int64_t nrows, int64_t ncols, bool first, bool last, cutt_cpu_ahead *ahead) {                  \
    enum { E = 16 / W, R = 64 / W };                                                                                   \
    cutt_shift_index_##W iota;                                                                                         \
    for (int i = 0; i < 64 / P; ++i) iota[i] = (T)i;                                                                   \
    for (int64_t c = 0; c < ncols; c += E) {                                                                           \
      /* Columns c0 .. c0 + E - 1 are loaded; of those, from .. to - 1 are written. */                                 \
      const int64_t c0 = c + E <= ncols || ncols < E ? c : ncols - E;                                                  \
      const int from = (int)(c - c0), to = (int)(ncols - c0 < E ? ncols - c0 : E);                                     \
      shift_column column[E];                                                                                          \
      cutt_shift_index_##W index[E];                                                                                   \
      cutt_v64_8 before[E], now[E];                                                                                    \
      int64_t leads = 0;                                                                                               \
      _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) {                                                           \
        const int64_t at = i >= from && i < to ? c0 + i : c;                                                           \
        column[i].lead = (int64_t)((uintptr_t)dst[at] & 63);                                                           \
        column[i].line = dst[at] - column[i].lead;                                                                     \
        index[i] = iota + (T)((64 - column[i].lead) / P);                                                              \
        memcpy(&before[i], carry[at], 64);                                                                             \
        leads |= column[i].lead;                                                                                       \
      }                                                                                                                \
      int64_t r = 0;                                                                                                   \
      if (first && leads != 0) { /* the line that a column begins in is in part somebody else's */                     \
        block_64_##W(now, src + c0 * W, row);                                                                          \
        for (int i = from; i < to; ++i) {                                                                              \
          char head[64];                                                                                               \
          memcpy(head, &now[i], 64);                                                                                   \
          if (column[i].lead > 0) {                                                                                    \
            copy_bytes(column[i].line + column[i].lead, head, 64 - column[i].lead);                                    \
          } else {                                                                                                     \
            cutt_store_line(column[i].line, head);                                                                    \
          }                                                                                                            \
        }                                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) before[i] = now[i];                                       \
        r = R;                                                                                                         \
      }                                                                                                                \
      if (to - from == E) {                                                                                            \
        for (; r + R <= nrows; r += R) {                                                                               \
          block_64_##W(now, src + c0 * W, row + r);                                                                    \
          cutt_cpu_prefetch(ahead, E);                                                                                 \
          _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) {                                                       \
            const __m512i line = PERMUTE((__m512i)before[i], (__m512i)index[i], (__m512i)now[i]);                      \
            _mm512_stream_si512((void *)(column[i].line + r * W), line);                                               \
            before[i] = now[i];                                                                                        \
          }                                                                                                            \
        }                                                                                                              \
      } else {                                                                                                         \
        for (; r + R <= nrows; r += R) {                                                                               \
          block_64_##W(now, src + c0 * W, row + r);                                                                    \
          cutt_cpu_prefetch(ahead, E);                                                                                 \
          _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) {                                                       \
            const __m512i line = PERMUTE((__m512i)before[i], (__m512i)index[i], (__m512i)now[i]);                      \
            if (i >= from && i < to) _mm512_stream_si512((void *)(column[i].line + r * W), line);                      \
            before[i] = now[i];                                                                                        \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
      if (r == nrows && (!last || leads == 0)) {                                                                       \
        _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) {                                                         \
          if (i >= from && i < to) memcpy(carry[c0 + i], &before[i], 64);                                              \
        }                                                                                                              \
        continue;                                                                                                      \
      }                                                                                                                \
      block_64_##W(now, src + c0 * W,                                                                                  \
                   row + nrows - R); /* the run's last 64 bytes: `over` more than the whole blocks */                  \
      const int64_t over = (nrows - r) * W;                                                                            \
      _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) {                                                           \
        if (i < from || i >= to) continue;                                                                             \
        const int64_t lead = column[i].lead;                                                                           \
        if (lead + over >= 64) { /* one more whole line: its first `lead` bytes are in before, the others in now */    \
          const T first_of_before = (T)((64 - lead) / P), first_of_now = (T)((128 - over - lead) / P);                 \
          const cutt_shift_index_##W in_before = (cutt_shift_index_##W)(iota < (T)(lead / P));                         \
          const cutt_shift_index_##W place = iota + first_of_now + (in_before & (T)(first_of_before - first_of_now));  \
          const __m512i line = PERMUTE((__m512i)before[i], (__m512i)place, (__m512i)now[i]);                           \
          _mm512_stream_si512((void *)(column[i].line + r * W), line);                                                 \
        }                                                                                                              \
        memcpy(carry[c0 + i], &now[i], 64);                                                                            \
        if (last) finish_column(&column[i], (const char *)&now[i], nrows *W);                                          \
      }                                                                                                                \
    }                                                                                                                  \
  }

CUTT_DEFINE_SHIFT(2, 2, int16_t, _mm512_permutex2var_epi16)
CUTT_DEFINE_SHIFT(4, 4, int32_t, _mm512_permutex2var_epi32)
CUTT_DEFINE_SHIFT(8, 8, int64_t, _mm512_permutex2var_epi64)
CUTT_DEFINE_SHIFT(16, 8, int64_t, _mm512_permutex2var_epi64)

#endif
