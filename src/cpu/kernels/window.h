/* The gather, several elements per instruction, for narrow leading modes on both sides.
 *
 * If these modes have small strides in the input, the elements of an output vector are in few places there. A window is
 * such a place. The plan holds, for each output vector, its windows: the offset of each, which elements of the vector
 * come from it, and from where in it (windows.c finds them). Per window: a load or two, one load of indices, one
 * permute, one merge, however many elements it gives.
 *
 * With AVX-512 an output vector has 64 bytes and a window 128, in two registers; or 64, where windows of these are
 * about as few. For 1-byte elements that takes permutes of bytes (VBMI). With AVX2 and NEON both have 16 bytes. A
 * header of kernels.c. */
#ifndef CUTT_CPU_KERNELS_WINDOW_H
#define CUTT_CPU_KERNELS_WINDOW_H

#include "cpu/kernels/copy.h"

#if CUTT_VECTOR_BYTES >= 64
/* 64 / w indices of one byte each, widened to w bytes. */
CUTT_INLINE __m512i load_index(int w, const uint8_t *index) {
  const void *p = index;
  return w == 1   ? _mm512_loadu_si512(p)
         : w == 2 ? _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p))
         : w == 4 ? _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p))
                  : _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)p));
}

/* v where the mask has a bit for the element, else sum. */
CUTT_INLINE __m512i merge(int w, __m512i sum, uint64_t mask, __m512i v) {
  return w == 1   ? _mm512_mask_mov_epi8(sum, (__mmask64)mask, v)
         : w == 2 ? _mm512_mask_mov_epi16(sum, (__mmask32)mask, v)
         : w == 4 ? _mm512_mask_mov_epi32(sum, (__mmask16)mask, v)
                  : _mm512_mask_mov_epi64(sum, (__mmask8)mask, v);
}

/* The same for elements of one register. */
CUTT_INLINE __m512i merge_permuted(int w, __m512i sum, uint64_t mask, __m512i index, __m512i v) {
#if defined(__AVX512VBMI__)
  if (w == 1) return _mm512_mask_permutexvar_epi8(sum, (__mmask64)mask, index, v);
#endif
  return w == 2   ? _mm512_mask_permutexvar_epi16(sum, (__mmask32)mask, index, v)
         : w == 4 ? _mm512_mask_permutexvar_epi32(sum, (__mmask16)mask, index, v)
                  : _mm512_mask_permutexvar_epi64(sum, (__mmask8)mask, index, v);
}

/* The first `bytes` bytes, at most 64 of them; what lies behind is not read. */
CUTT_INLINE __m512i load_part(const char *from, uint32_t bytes) {
  return _mm512_maskz_loadu_epi8((__mmask64)_bzhi_u64(UINT64_MAX, bytes), (const void *)from);
}

/* See cutt_cpu_window_fn; w, narrow, guarded and each (windows of a vector; 0: they differ) are constants. */
CUTT_INLINE void window(int w, bool narrow, bool guarded, int each, char *restrict stage, const char *restrict src,
                        const cutt_cpu_windows *restrict windows, int64_t from, int64_t to, int64_t bytes) {
  const int64_t *restrict offset = windows->offset;
  const uint64_t *restrict mask = windows->mask;
  const uint8_t *restrict indices = windows->index;
  int64_t at = windows->first[from];
  for (int64_t v = from; v < to; ++v) {
    const int64_t end = each ? at + each : windows->first[v + 1];
    __m512i sum = _mm512_setzero_si512();
    _Pragma("GCC unroll 4") for (int64_t i = 0, n = each ? each : end - at; i < n; ++i, ++at) {
      const char *place = src + offset[at];
      const uint32_t span = guarded ? windows->span[at] : 128;
      const __m512i index = load_index(w, indices + at * (64 / w));
      const __m512i low = guarded ? load_part(place, span) : _mm512_loadu_si512((const void *)place);
      if (narrow) {
        sum = merge_permuted(w, sum, mask[at], index, low);
        continue;
      }
      const __m512i high =
          guarded ? load_part(place + 64, span > 64 ? span - 64 : 0) : _mm512_loadu_si512((const void *)(place + 64));
      sum = merge(w, sum, mask[at], cutt_permute(w, low, index, high));
    }
    if (bytes - v * 64 >= 64) {
      _mm512_storeu_si512((void *)(stage + v * 64), sum);
    } else {
      _mm512_mask_storeu_epi8(stage + v * 64, (__mmask64)_bzhi_u64(UINT64_MAX, (uint32_t)(bytes - v * 64)), sum);
    }
  }
}

/* Vectors whose windows are alike: what would be loaded of the tables for each of them stays in registers, so that more lines of the
 * input are under way. */
CUTT_INLINE void window_even(int w, bool narrow, int each, char *restrict stage, const char *restrict src,
                             const cutt_cpu_windows *restrict windows, int64_t from, int64_t to) {
  enum { MOST = 4 };
  const char *place[MOST];
  __m512i index[MOST];
  uint64_t mask[MOST];
  _Pragma("GCC unroll 4") for (int i = 0; i < each; ++i) {
    place[i] = src + windows->offset[i] + from * windows->step;
    index[i] = load_index(w, windows->index + i * (64 / w));
    mask[i] = windows->mask[i];
  }
  const int64_t step = windows->step;
  for (int64_t v = from; v < to; ++v) {
    __m512i sum = _mm512_setzero_si512();
    _Pragma("GCC unroll 4") for (int i = 0; i < each; ++i) {
      const __m512i low = _mm512_loadu_si512((const void *)place[i]);
      if (narrow) {
        sum = merge_permuted(w, sum, mask[i], index[i], low);
      } else {
        const __m512i high = _mm512_loadu_si512((const void *)(place[i] + 64));
        sum = merge(w, sum, mask[i], cutt_permute(w, low, index[i], high));
      }
      place[i] += step;
    }
    _mm512_storeu_si512((void *)(stage + v * 64), sum);
  }
}

CUTT_INLINE int64_t windows_even(int w, bool narrow, char *restrict stage, const char *restrict src,
                                 const cutt_cpu_windows *restrict windows, int64_t from, int64_t to, int64_t bytes) {
  const int64_t whole = bytes / 64 < windows->even ? bytes / 64 : windows->even, end = to < whole ? to : whole;
  if (from >= end) return from;
  if (windows->each == 1) {
    window_even(w, narrow, 1, stage, src, windows, from, end);
  } else if (windows->each == 2) {
    window_even(w, narrow, 2, stage, src, windows, from, end);
  } else if (windows->each == 3) {
    window_even(w, narrow, 3, stage, src, windows, from, end);
  } else {
    window_even(w, narrow, 4, stage, src, windows, from, end);
  }
  return end;
}

CUTT_INLINE void windows_each(int w, bool narrow, char *restrict stage, const char *restrict src,
                              const cutt_cpu_windows *restrict windows, int64_t from, int64_t to, int64_t bytes) {
  if (from < windows->even) from = windows_even(w, narrow, stage, src, windows, from, to, bytes);
  if (from == to) return;
  switch (windows->each) {
    case 1:
      window(w, narrow, false, 1, stage, src, windows, from, to, bytes);
      break;
    case 2:
      window(w, narrow, false, 2, stage, src, windows, from, to, bytes);
      break;
    case 3:
      window(w, narrow, false, 3, stage, src, windows, from, to, bytes);
      break;
    case 4:
      window(w, narrow, false, 4, stage, src, windows, from, to, bytes);
      break;
    default:
      window(w, narrow, false, 0, stage, src, windows, from, to, bytes);
  }
}

/* See cutt_cpu_window_fn; w is a constant. */
CUTT_INLINE void pick_windows(int w, char *restrict stage, const char *restrict src,
                              const cutt_cpu_windows *restrict windows, int64_t from, int64_t to, int64_t bytes,
                              bool guarded) {
  if (guarded) {
    if (windows->narrow) {
      window(w, true, true, 0, stage, src, windows, from, to, bytes);
    } else {
      window(w, false, true, 0, stage, src, windows, from, to, bytes);
    }
  } else if (windows->narrow) {
    windows_each(w, true, stage, src, windows, from, to, bytes);
  } else {
    windows_each(w, false, stage, src, windows, from, to, bytes);
  }
}
#else
/* The same for vectors and windows of 16 bytes, whose indices are of bytes, whatever an element has. */
CUTT_INLINE void pick_windows(int w, char *restrict stage, const char *restrict src,
                              const cutt_cpu_windows *restrict windows, int64_t from, int64_t to, int64_t bytes,
                              bool guarded) {
  (void)w;
  (void)guarded; /* not asked for: see cutt_cpu_guards_windows */
  int64_t at = windows->first[from];
  for (int64_t v = from; v < to; ++v) {
    const int64_t end = windows->first[v + 1];
    cutt_v16_8 sum = {0};
    for (; at < end; ++at) {
      cutt_v16_8 place, index;
      memcpy(&place, src + windows->offset[at], 16);
      memcpy(&index, windows->index + at * 16, 16);
      sum |= cutt_shuffle_bytes(place, index);
    }
    if (bytes - v * 16 >= 16) {
      memcpy(stage + v * 16, &sum, 16);
    } else {
      copy_bytes(stage + v * 16, (const char *)&sum, bytes - v * 16);
    }
  }
}
#endif

#define CUTT_DEFINE_WINDOW(W)                                                                                          \
  static void window_##W(char *restrict stage, const char *restrict src, const cutt_cpu_windows *restrict windows,     \
                         int64_t from, int64_t to, int64_t bytes, bool guarded) {                                      \
    pick_windows(W, stage, src, windows, from, to, bytes, guarded);                                                    \
  }
#if defined(__AVX512VBMI__) || defined(CUTT_SHUFFLES_BYTES)
CUTT_DEFINE_WINDOW(1)
#endif
CUTT_DEFINE_WINDOW(2)
CUTT_DEFINE_WINDOW(4)
CUTT_DEFINE_WINDOW(8)

#endif
