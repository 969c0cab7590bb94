/* The micro-kernels, one source for every instruction set.
 *
 * Transpose of elements of w bytes: a vector of v bytes is assembled by v / 16 loads of 16 bytes, each from another
 * input row, whose offset is in a table (Eq. 4). So E = 16 / w vectors hold a block of R x E elements, R = v / w, with
 * row j * E + i in lane j of vector i. log2 E rounds of interleaving vectors i and i + E / 2 within their lanes then
 * leave column c of the block, R elements that are neighbours in the output, in vector c. Per block: R loads that take
 * no shuffle, E log2 E interleaves, E stores. Where the input's first mode is narrow (fewer than E columns), only the
 * stores of its columns are done; a narrow first mode of the output costs nothing, since the row table may be over any
 * number of modes. */
#include "cpu/kernels/kernels.h"

#if defined(CUTT_BYTES_ALONE) /* the others are seen, too, and not compiled */
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

#include "cpu/kernels/copy.h"
#include "cpu/kernels/scale.h"
#include "cpu/kernels/vectors.h"

#define CUTT_JOIN_(a, b) a##b
#define CUTT_JOIN(a, b) CUTT_JOIN_(a, b)

/* The row (or column) with which the block of row i begins, of blocks of `rows`: the last one of all overlaps the one before. */
CUTT_INLINE int64_t first_of_block(int64_t i, int64_t rows, int64_t all) {
  return i + rows <= all || all < rows ? i : all - rows;
}

/* For kernels that write a column of the output in whole lines: its first 64 bytes, as far as they are in the line in which it
 * begins, whose other bytes are not this execution's. */
static void begin_column(char *dst, const char *first) {
  const int64_t lead = (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1));
  if (lead > 0) {
    copy_bytes(dst, first, CUTT_CPU_LINE - lead);
  } else {
    cutt_store_line(dst, first);
  }
}

/* And the end of a column of n bytes, a part of a line; `last` holds the last 64 bytes of it. */
static void finish_column(char *dst, const char *last, int64_t n) {
  const int64_t part = (int64_t)(((uintptr_t)dst + (uintptr_t)n) & (CUTT_CPU_LINE - 1));
  copy_bytes(dst + n - part, last + CUTT_CPU_LINE - part, part);
}

/* The transposes are macros, since elements of W bytes in vectors of V bytes have vector types of their own.
 *
 * One block, V / W rows x 16 / W columns: column i goes to block[i]. */
#define CUTT_DEFINE_BLOCK(W, V)                                                                                        \
  CUTT_INLINE void block_##V##_##W(cutt_v##V##_8 *block, const char *restrict src, const int64_t *restrict row) {      \
    enum { E = 16 / W };                                                                                               \
    cutt_v##V##_##W q[E], t[E];                                                                                        \
    _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) q[i] = (cutt_v##V##_##W)cutt_load_##V(src, row + i, E);       \
    _Pragma("GCC unroll 4") for (int round = 1; round < E; round *= 2) {                                               \
      _Pragma("GCC unroll 16") for (int i = 0; i < E / 2; ++i) {                                                       \
        t[2 * i] = cutt_zip_lo_##V##_##W(q[i], q[i + E / 2]);                                                          \
        t[2 * i + 1] = cutt_zip_hi_##V##_##W(q[i], q[i + E / 2]);                                                      \
      }                                                                                                                \
      _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) q[i] = t[i];                                                \
    }                                                                                                                  \
    _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) block[i] = (cutt_v##V##_8)q[i];                               \
  }

/* The first `keep` columns of a block, column i to stage + pos[i]. */
#define CUTT_DEFINE_STORE_BLOCK(W, V)                                                                                  \
  CUTT_INLINE void store_block_##V##_##W(char *restrict stage, const int64_t *restrict pos, const char *restrict src,  \
                                         const int64_t *restrict row, int keep) {                                      \
    enum { E = 16 / W };                                                                                               \
    cutt_v##V##_8 q[E];                                                                                                \
    block_##V##_##W(q, src, row);                                                                                      \
    if (keep >= E) {                                                                                                   \
      _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) memcpy(stage + pos[i], &q[i], V);                           \
    } else {                                                                                                           \
      _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) if (i < keep) memcpy(stage + pos[i], &q[i], V);             \
    }                                                                                                                  \
  }

/* See cutt_cpu_transpose_fn. */
#define CUTT_DEFINE_TRANSPOSE(W, V)                                                                                    \
  static void transpose_##V##_##W(char *restrict stage, const int64_t *restrict pos, const char *restrict src,         \
                                  const int64_t *restrict row, int64_t nrows, int64_t ncols, cutt_cpu_ahead *ahead) {  \
    enum { E = 16 / W, R = V / W, LINES = E * V < CUTT_CPU_LINE ? 1 : E * V / CUTT_CPU_LINE };                         \
    int64_t c = 0;                                                                                                     \
    for (; c + E <= ncols; c += E) {                                                                                   \
      for (int64_t r = 0; r < nrows; r += R) {                                                                         \
        const int64_t r0 = first_of_block(r, R, nrows);                                                                \
        store_block_##V##_##W(stage + r0 * W, pos + c, src + c * W, row + r0, E);                                      \
        cutt_cpu_prefetch(ahead, LINES);                                                                               \
      }                                                                                                                \
    }                                                                                                                  \
    if (c == ncols) return;                                                                                            \
    const int left = (int)(ncols - c), keep = ncols < E ? left : E;                                                    \
    c = ncols - keep;                                                                                                  \
    for (int64_t r = 0; r < nrows; r += R) {                                                                           \
      const int64_t r0 = first_of_block(r, R, nrows);                                                                  \
      store_block_##V##_##W(stage + r0 * W, pos + c, src + c * W, row + r0, keep);                                     \
      cutt_cpu_prefetch(ahead, (LINES * left + E - 1) / E);                                                            \
    }                                                                                                                  \
  }

/* The same for 16-byte elements, which are lanes already. */
#define CUTT_DEFINE_TRANSPOSE_16(V)                                                                                    \
  CUTT_INLINE void block_##V##_16(cutt_v##V##_8 *block, const char *src, const int64_t *row) {                         \
    block[0] = cutt_load_##V(src, row, 1);                                                                             \
  }                                                                                                                    \
  static void transpose_##V##_16(char *restrict stage, const int64_t *restrict pos, const char *restrict src,          \
                                 const int64_t *restrict row, int64_t nrows, int64_t ncols, cutt_cpu_ahead *ahead) {   \
    enum { R = V / 16 };                                                                                               \
    for (int64_t c = 0; c < ncols; ++c) {                                                                              \
      for (int64_t r = 0; r < nrows; r += R) {                                                                         \
        const int64_t r0 = first_of_block(r, R, nrows);                                                                \
        cutt_v##V##_8 v;                                                                                               \
        block_##V##_16(&v, src + c * 16, row + r0);                                                                    \
        memcpy(stage + pos[c] + r0 * 16, &v, V);                                                                       \
        cutt_cpu_prefetch(ahead, 1);                                                                                   \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define CUTT_DEFINE_TRANSPOSE_OF(W, V)                                                                                 \
  CUTT_DEFINE_BLOCK(W, V)                                                                                              \
  CUTT_DEFINE_STORE_BLOCK(W, V)                                                                                        \
  CUTT_DEFINE_TRANSPOSE(W, V)
#define CUTT_DEFINE_TRANSPOSES(V)                                                                                      \
  CUTT_DEFINE_TRANSPOSE_OF(2, V)                                                                                       \
  CUTT_DEFINE_TRANSPOSE_OF(4, V)                                                                                       \
  CUTT_DEFINE_TRANSPOSE_OF(8, V)                                                                                       \
  CUTT_DEFINE_TRANSPOSE_16(V)

#if defined(__AVX512VBMI__)
#include "cpu/kernels/bytes.h"
CUTT_DEFINE_TRANSPOSE(1, 16)
#else
CUTT_DEFINE_TRANSPOSE_OF(1, 16)
#endif
CUTT_DEFINE_TRANSPOSES(16)
#if CUTT_VECTOR_BYTES >= 32
CUTT_DEFINE_TRANSPOSE_OF(1, 32)
CUTT_DEFINE_TRANSPOSES(32)
#define CUTT_IF_32(f) f
#else
#define CUTT_IF_32(f) NULL
#endif
#if CUTT_VECTOR_BYTES >= 64
CUTT_DEFINE_TRANSPOSE_OF(1, 64)
CUTT_DEFINE_TRANSPOSES(64)
#include "cpu/kernels/shift.h"
#include "cpu/kernels/whole.h"
#define CUTT_IF_64(f) f
#else
#define CUTT_IF_64(f) NULL
#endif
#if defined(__AVX512VBMI__)
#include "cpu/kernels/turn.h"
#define CUTT_IF_VBMI(f) f
#else
#define CUTT_IF_VBMI(f) NULL
#endif

#if CUTT_VECTOR_BYTES >= 64 || defined(CUTT_SHUFFLES_BYTES)
#include "cpu/kernels/window.h"
#define CUTT_IF_WINDOW(f) f
#else
#define CUTT_IF_WINDOW(f) NULL
#endif
#if defined(__AVX512VBMI__) || defined(CUTT_SHUFFLES_BYTES)
#define CUTT_IF_BYTES(f) f
#else
#define CUTT_IF_BYTES(f) NULL
#endif
#if CUTT_VECTOR_BYTES == 32 || defined(__AVX512VBMI__)
#define CUTT_IF_SKIP_1(f) f
#else
#define CUTT_IF_SKIP_1(f) NULL
#endif

#if CUTT_VECTOR_BYTES >= 64
#include "cpu/kernels/few.h"
#endif

#include "cpu/kernels/along_ahead.h"
#if CUTT_VECTOR_BYTES >= 64
#include "cpu/kernels/lines.h"
#endif
#include "cpu/kernels/along.h"
#include "cpu/kernels/scaled.h"

static void copy(char *dst, const char *src, int64_t bytes) { copy_bytes(dst, src, bytes); }

/* Run k of n runs from src + from[k] goes to dst + to[k], or if `to` is NULL behind the one before. Of a constant length; and of low to
 * 2 * low bytes. */
CUTT_INLINE char *run_at(char *dst, const int64_t *to, int64_t k, int64_t bytes) {
  return dst + (to ? to[k] : k * bytes);
}
CUTT_INLINE void runs_fixed(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t n, int bytes) {
  _Pragma("GCC unroll 4") for (int64_t k = 0; k < n; ++k)
      memcpy(run_at(dst, to, k, bytes), src + from[k], (size_t)bytes);
}
CUTT_INLINE void runs_twice(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t n,
                            int64_t bytes, int low) {
  for (int64_t k = 0; k < n; ++k) copy_twice(run_at(dst, to, k, bytes), src + from[k], bytes, low);
}
/* Runs of 16 bytes, two in a store where a vector has room for them. */
CUTT_INLINE void gather_16(char *stage, const char *src, const int64_t *offset, int64_t n) {
  int64_t k = 0;
#if CUTT_VECTOR_BYTES >= 32
  for (; k + 2 <= n; k += 2) {
    const cutt_v32_8 two = cutt_load_32(src, offset + k, 1);
    memcpy(stage + k * 16, &two, sizeof two);
  }
#endif
  runs_fixed(stage + k * 16, NULL, src, offset + k, n - k, 16);
}
/* Runs shorter than `low`, a constant: each is stored with garbage behind it, over which the next one is stored; the
 * last ones, which would store it beyond the end, are copied in two parts. Reads `low` bytes of each. */
CUTT_INLINE void gather_over(char *stage, const char *src, const int64_t *offset, int64_t n, int64_t run_bytes,
                             int low) {
  int64_t k = 0;
  for (; (n - k) * run_bytes >= low; ++k) memcpy(stage + k * run_bytes, src + offset[k], (size_t)low);
  for (; k < n; ++k) copy_bytes(stage + k * run_bytes, src + offset[k], run_bytes);
}

/* A run of a line and more: whole lines of dst between a first and a last 64 bytes, since a store that spans two lines takes twice
 * as long. Not from what was just stored, which such loads would wait for. */
CUTT_INLINE void copy_lines(char *dst, const char *src, int64_t n) {
  const int64_t end = n - CUTT_CPU_LINE;
  char last[CUTT_CPU_LINE];
  memcpy(last, src + end, CUTT_CPU_LINE);
  memcpy(dst, src, CUTT_CPU_LINE);
  for (int64_t i = CUTT_CPU_LINE - (int64_t)((uintptr_t)dst & (CUTT_CPU_LINE - 1)); i < end; i += CUTT_CPU_LINE)
    memcpy(dst + i, src + i, CUTT_CPU_LINE);
  memcpy(dst + end, last, CUTT_CPU_LINE);
}

/* Runs from these lengths on are copied in whole lines, and left to the C library, whose copy of what comes from a cache far away is the
 * faster one. */
enum { RUN_OF_LINES = 256, LONG_RUN = 4 * 1024 };

CUTT_INLINE void copy_runs(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t n,
                           int64_t bytes) {
  switch (bytes) {
    case 1:
      runs_fixed(dst, to, src, from, n, 1);
      return;
    case 2:
      runs_fixed(dst, to, src, from, n, 2);
      return;
    case 4:
      runs_fixed(dst, to, src, from, n, 4);
      return;
    case 8:
      runs_fixed(dst, to, src, from, n, 8);
      return;
    case 16:
      runs_fixed(dst, to, src, from, n, 16);
      return;
    default:
      break;
  }
  if (bytes == 3) {
    for (int64_t k = 0; k < n; ++k) {
      char *at = run_at(dst, to, k, 3);
      memcpy(at, src + from[k], 2);
      at[2] = src[from[k] + 2];
    }
  } else if (bytes < 8) {
    runs_twice(dst, to, src, from, n, bytes, 4);
  } else if (bytes < 16) {
    runs_twice(dst, to, src, from, n, bytes, 8);
  } else if (bytes <= 32) {
    runs_twice(dst, to, src, from, n, bytes, 16);
  } else if (bytes <= 64) {
    runs_twice(dst, to, src, from, n, bytes, 32);
  } else if (bytes < RUN_OF_LINES) {
    for (int64_t k = 0; k < n; ++k) copy_bytes(run_at(dst, to, k, bytes), src + from[k], bytes);
  } else if (bytes < LONG_RUN) {
    for (int64_t k = 0; k < n; ++k) copy_lines(run_at(dst, to, k, bytes), src + from[k], bytes);
  } else {
    for (int64_t k = 0; k < n; ++k) memcpy(run_at(dst, to, k, bytes), src + from[k], (size_t)bytes);
  }
}

/* See kernels.h. */
static void gather(char *stage, const char *src, const int64_t *offset, int64_t n, int64_t run_bytes, bool overrun) {
  const bool element = (run_bytes & (run_bytes - 1)) == 0;
  if (run_bytes == 16) {
    gather_16(stage, src, offset, n);
  } else if (element || !overrun || run_bytes >= 32) {
    copy_runs(stage, NULL, src, offset, n, run_bytes);
  } else if (run_bytes < 4) {
    gather_over(stage, src, offset, n, run_bytes, 4);
  } else if (run_bytes < 8) {
    gather_over(stage, src, offset, n, run_bytes, 8);
  } else if (run_bytes < 16) {
    gather_over(stage, src, offset, n, run_bytes, 16);
  } else {
    gather_over(stage, src, offset, n, run_bytes, 32);
  }
}

/* See kernels.h. */
static void runs(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t n, int64_t bytes) {
  copy_runs(dst, to, src, from, n, bytes);
}

/* Elements of 8 and 16 bytes at equal distances, without a table, some in a store. Prefetched are as many bytes ahead of them, if not 0. */
CUTT_INLINE void strided_8(char *stage, const char *src, int64_t step, int64_t n, int64_t ahead) {
  typedef uint64_t four __attribute__((vector_size(32)));
  enum { EACH = CUTT_CPU_LINE / 8 };
  int64_t k = 0;
  for (; k + EACH <= n; k += EACH, src += EACH * step) {
    if (ahead) cutt_cpu_prefetch_beyond(src, EACH * step, ahead);
    _Pragma("GCC unroll 2") for (int half = 0; half < EACH; half += 4) {
      uint64_t e[4];
      _Pragma("GCC unroll 4") for (int i = 0; i < 4; ++i) memcpy(&e[i], src + (half + i) * step, 8);
      const four all = {e[0], e[1], e[2], e[3]};
      memcpy(stage + (k + half) * 8, &all, sizeof all);
    }
  }
  for (; k < n; ++k, src += step) memcpy(stage + k * 8, src, 8);
}
CUTT_INLINE void strided_16(char *stage, const char *src, int64_t step, int64_t n, int64_t ahead) {
  enum { EACH = CUTT_CPU_LINE / 16 };
  int64_t k = 0;
#if CUTT_VECTOR_BYTES >= 32
  const int64_t two[] = {0, step};
#if CUTT_VECTOR_BYTES >= 64
  for (; step == -16 && k + EACH <= n; k += EACH, src -= CUTT_CPU_LINE) {
    const __m512i four = _mm512_loadu_si512((const void *)(src - 48));
    _mm512_storeu_si512((void *)(stage + k * 16), _mm512_shuffle_i64x2(four, four, 0x1b));
  }
#endif
  for (; k + EACH <= n; k += EACH, src += EACH * step) {
    if (ahead) cutt_cpu_prefetch_beyond(src, EACH * step, ahead);
    const cutt_v32_8 low = cutt_load_32(src, two, 1), high = cutt_load_32(src + 2 * step, two, 1);
    memcpy(stage + k * 16, &low, sizeof low);
    memcpy(stage + k * 16 + 32, &high, sizeof high);
  }
#else
  (void)ahead;
#endif
  for (; k < n; ++k, src += step) memcpy(stage + k * 16, src, 16);
}
static void strided(char *stage, const char *src, int64_t step, int64_t n, int64_t w, int64_t ahead) {
  if (w == 8) strided_8(stage, src, step, n, ahead);
  if (w == 16) strided_16(stage, src, step, n, ahead);
}

#include "cpu/kernels/repeat.h"
#if CUTT_VECTOR_BYTES >= 32
#include "cpu/kernels/skip.h"
#endif
#if CUTT_VECTOR_BYTES >= 64
#include "cpu/kernels/spread.h"
#endif

/* A line with the end of one run and the beginning of the next is put together in `part`, which has room on both sides: a run's last
 * 64 bytes are stored so that those of the new line come first. runs: where they are, or for each of them 64 bytes of its one
 * element; the last one may be shorter. */
CUTT_INLINE void join_lines(bool repeated, int64_t w, char *dst, char *carry, const char *src, const int64_t *offset,
                            int64_t n, int64_t elements, bool first, bool last, cutt_cpu_ahead *ahead) {
  enum { LINE = CUTT_CPU_LINE, FEW = 4 };
  _Alignas(CUTT_CPU_LINE) char room[3 * LINE];
  _Alignas(CUTT_CPU_LINE) char same[LINE];
  char *const part = room + LINE;
  int64_t have = (int64_t)((uintptr_t)dst & (LINE - 1)), skip = first ? have : 0;
  char *line = dst - have;
  if (!first) memcpy(room + have, carry, LINE);
  for (int64_t k = 0; k < n; k += repeated ? elements : 1) {
    const char *run = src + offset[k];
    const int64_t bytes = (repeated && n - k < elements ? n - k : elements) * w;
    int64_t at = 0;
    if (repeated) {
      fill_line(same, run, w);
      run = same;
    }
    if (have > 0) {
      memcpy(part + have, run, LINE);
      at = LINE - have;
      if (skip > 0) {
        copy_bytes(line + skip, part + skip, LINE - skip);
      } else {
        cutt_store_line(line, part);
      }
      skip = 0;
      line += LINE;
    }
    for (; at + FEW * LINE <= bytes; at += FEW * LINE, line += FEW * LINE) {
      if (!repeated) cutt_cpu_prefetch(ahead, FEW);
      for (int i = 0; i < FEW * LINE; i += LINE) cutt_store_line(line + i, repeated ? run : run + at + i);
    }
    if (!repeated) cutt_cpu_prefetch(ahead, (int)((bytes - at + LINE - 1) / LINE));
    for (; at + LINE <= bytes; at += LINE, line += LINE) cutt_store_line(line, repeated ? run : run + at);
    have = bytes - at;
    memcpy(room + have, repeated ? run : run + bytes - LINE, LINE);
  }
  memcpy(carry, room + have, LINE);
  if (last) copy_bytes(line, part, have);
}

/* See kernels.h. */
#if CUTT_VECTOR_BYTES >= 64
/* The end of a run waits in a register: through memory, as above, the line would be loaded before the two stores that it is of are done.
 * Of a run nothing beyond it is read: by loads under a mask or, for runs that are repeated, by a permute, which takes a little longer. For a load
 * under a mask that reaches into a page without memory takes 1000 cycles, though nothing of that page is wanted; and a row that is
 * repeated may begin or end with its page. */
CUTT_INLINE void join_in_registers(bool again, char *dst, char *carry, const char *src, const int64_t *offset,
                                   int64_t n, int64_t bytes, bool first, bool last, cutt_cpu_ahead *ahead) {
  enum { LINE = CUTT_CPU_LINE, FEW = 4 };
  int64_t have = (int64_t)((uintptr_t)dst & (LINE - 1)), skip = first ? have : 0;
  char *line = dst - have;
  const char *run = src;
  uint64_t there = _bzhi_u64(UINT64_MAX, (uint32_t)have); /* bytes of the line that are of the run before */
  __m512i end = again ? _mm512_loadu_si512((const void *)carry)
                      : _mm512_maskz_loadu_epi8((__mmask64)(first ? 0 : there), (const void *)(carry + LINE - have));
  for (int64_t k = 0; k < n; ++k) {
    run = src + offset[k];
    int64_t at = 0;
    if (skip > 0) {
      copy_bytes(dst, run, LINE - skip);
    } else if (have > 0) {
      _mm512_stream_si512((void *)line,
                          again ? cutt_joined(1, have, end, _mm512_loadu_si512((const void *)run))
                                : _mm512_mask_loadu_epi8(end, ~(__mmask64)there, (const void *)(run - have)));
    }
    if (have > 0) {
      at = LINE - have;
      line += LINE;
    }
    skip = 0;
    for (; at + FEW * LINE <= bytes; at += FEW * LINE, line += FEW * LINE) {
      cutt_cpu_prefetch(ahead, FEW);
      for (int i = 0; i < FEW * LINE; i += LINE) cutt_store_line(line + i, run + at + i);
    }
    cutt_cpu_prefetch(ahead, (int)((bytes - at + LINE - 1) / LINE));
    for (; at + LINE <= bytes; at += LINE, line += LINE) cutt_store_line(line, run + at);
    have = bytes - at;
    there = _bzhi_u64(UINT64_MAX, (uint32_t)have);
    end = again ? _mm512_loadu_si512((const void *)(run + bytes - LINE))
                : _mm512_maskz_loadu_epi8((__mmask64)there, (const void *)(run + at));
  }
  memcpy(carry, run + bytes - LINE, LINE);
  if (last) copy_bytes(line, run + bytes - have, have);
}
static void join_runs(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t bytes,
                      bool first, bool last, cutt_cpu_ahead *ahead) {
  join_in_registers(false, dst, carry, src, offset, n, bytes, first, last, ahead);
}
static void join_again(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t bytes,
                       bool first, bool last, cutt_cpu_ahead *ahead) {
  join_in_registers(true, dst, carry, src, offset, n, bytes, first, last, ahead);
}
#else
static void join_runs(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t bytes,
                      bool first, bool last, cutt_cpu_ahead *ahead) {
  join_lines(false, 1, dst, carry, src, offset, n, bytes, first, last, ahead);
}
#endif

/* See kernels.h. */
static void join_repeats(char *dst, char *carry, const char *src, const int64_t *offset, int64_t n, int64_t repeats,
                         int64_t w, bool first, bool last) {
  join_lines(true, w, dst, carry, src, offset, n, repeats, first, last, NULL);
}

static void scatter(char *dst, int64_t stride, const char *stage, int64_t n, int64_t w) {
#if CUTT_VECTOR_BYTES >= 64
  if (spreads(w, stride)) {
    spread(w, dst, stride, stage, n);
    return;
  }
#endif
  if (w == 1) scatter_elements(1, dst, stride, stage, n);
  if (w == 2) scatter_elements(2, dst, stride, stage, n);
  if (w == 4) scatter_elements(4, dst, stride, stage, n);
  if (w == 8) scatter_elements(8, dst, stride, stage, n);
  if (w == 16) scatter_elements(16, dst, stride, stage, n);
}

/* One element after another, so that stores go on in one line until it is done: stores by turns to several lines take twice as long. */
CUTT_INLINE void spread_from(int w, char *dst, int64_t stride, const char *src, const int64_t *offset, int64_t n) {
  _Pragma("GCC unroll 4") for (int64_t k = 0; k < n; ++k) memcpy(dst + k * stride, src + offset[k], (size_t)w);
}
static void spread_runs(char *dst, int64_t stride, const char *src, const int64_t *offset, int64_t n, int64_t w) {
  if (w == 4) spread_from(4, dst, stride, src, offset, n);
  if (w == 8) spread_from(8, dst, stride, src, offset, n);
  if (w == 16) spread_from(16, dst, stride, src, offset, n);
}

static void store_lines(char *dst, const char *stage, int64_t lines) {
  for (int64_t i = 0; i < lines; ++i) cutt_store_line(dst + i * 64, stage + i * 64);
}

static void fence(void) { cutt_store_fence(); }

/* Four pages at a time, so that several DRAM pages stay open and each of the prefetchers follows a page; or one stream, where the
 * prefetcher of a core runs far ahead of it. */
static void copy_non_temporal(char *dst, const char *src, int64_t bytes, bool one_stream) {
  enum { PAGE = 4096 };
  const int64_t head = (int64_t)(-(uintptr_t)dst & 63);
  if (bytes < head + PAGE) {
    copy_bytes(dst, src, bytes);
    return;
  }
  copy_bytes(dst, src, head);
  int64_t at = head;
  for (; !one_stream && at + 4 * PAGE <= bytes; at += 4 * PAGE) {
    for (int64_t i = at; i < at + PAGE; i += 128) {
      for (int page = 0; page < 4; ++page) {
        const int64_t from = i + page * PAGE;
        __builtin_prefetch(src + (from + 512 < bytes ? from + 512 : from));
        __builtin_prefetch(src + (from + 576 < bytes ? from + 576 : from));
        cutt_store_line(dst + from, src + from);
        cutt_store_line(dst + from + 64, src + from + 64);
      }
    }
  }
  for (; at + 64 <= bytes; at += 64) cutt_store_line(dst + at, src + at);
  copy_bytes(dst + at, src + at, bytes - at);
  cutt_store_fence();
}

const cutt_cpu_byte_kernels CUTT_JOIN(cutt_cpu_byte_kernels_, CUTT_KERNEL_ISA) = {
    .transpose = {transpose_16_1, CUTT_IF_32(transpose_32_1), CUTT_IF_64(transpose_64_1)},
    .shift = CUTT_IF_VBMI(shift_1),
    .lines = CUTT_IF_VBMI(lines_1),
    .along = along_1,
    .few = CUTT_IF_VBMI(few_1),
    .window = CUTT_IF_BYTES(window_1),
    .turn = CUTT_IF_VBMI(turn),
    .skip = CUTT_IF_SKIP_1(skip_1),
    .scatter = scatter,
};

#if !defined(CUTT_BYTES_ALONE)
const cutt_cpu_kernels CUTT_JOIN(cutt_cpu_kernels_, CUTT_KERNEL_ISA) = {
    .transpose =
        {
            {NULL},
            {transpose_16_2, CUTT_IF_32(transpose_32_2), CUTT_IF_64(transpose_64_2)},
            {transpose_16_4, CUTT_IF_32(transpose_32_4), CUTT_IF_64(transpose_64_4)},
            {transpose_16_8, CUTT_IF_32(transpose_32_8), CUTT_IF_64(transpose_64_8)},
            {transpose_16_16, CUTT_IF_32(transpose_32_16), CUTT_IF_64(transpose_64_16)},
        },
    .scaled = {CUTT_SCALED_4(f32), CUTT_SCALED_8(f64), CUTT_SCALED_2(f16), CUTT_SCALED_2(bf16)},
    .shift = {NULL, CUTT_IF_64(shift_2), CUTT_IF_64(shift_4), CUTT_IF_64(shift_8), CUTT_IF_64(shift_16)},
    .lines = {NULL, CUTT_IF_64(lines_2), CUTT_IF_64(lines_4), CUTT_IF_64(lines_8), CUTT_IF_64(lines_16)},
    .follow = {[2] = CUTT_IF_64(follow_4), [3] = CUTT_IF_64(follow_8), [4] = CUTT_IF_64(follow_16)},
    .few = {[1] = CUTT_IF_64(few_2), [2] = CUTT_IF_64(few_4)},
    .along = {NULL, along_2, along_4, along_8, along_16},
    .along_whole = {[2] = CUTT_IF_64(along_whole_4), [3] = CUTT_IF_64(along_whole_8), [4] = CUTT_IF_64(along_whole_16)},
    .whole = {[2] = CUTT_IF_64(transpose_whole_4),
              [3] = CUTT_IF_64(transpose_whole_8),
              [4] = CUTT_IF_64(transpose_whole_16)},
    .window = {NULL, CUTT_IF_WINDOW(window_2), CUTT_IF_WINDOW(window_4), CUTT_IF_WINDOW(window_8), NULL},
    .skip = {NULL, CUTT_IF_32(skip_2), CUTT_IF_32(skip_4), CUTT_IF_32(skip_8), CUTT_IF_32(skip_16)},
    .gather = gather,
    .strided = strided,
    .spread = spread_runs,
    .runs = runs,
    .repeat = repeat,
    .join_runs = join_runs,
#if CUTT_VECTOR_BYTES >= 64
    .join_again = join_again,
#else
    .join_again = join_runs,
#endif
    .join_repeats = join_repeats,
    .store_lines = store_lines,
    .fence = fence,
    .copy = copy,
    .copy_non_temporal = copy_non_temporal,
    .scale = cutt_scale_run,
};
#endif
