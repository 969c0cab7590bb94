/* The gather, several elements per instruction, for narrow leading modes on both sides.
 *
 * A vector of the output (64 bytes) takes its elements from few places of the input when its modes have small strides
 * there: each place is a window of 128 bytes, two registers, of which one permute picks elements. The plan holds, for
 * each output vector, its windows: where, which elements of the vector come from it, and from which place in it
 * (windows.c finds them). Per window: two loads, one load of indices, one permute, one merge, however many elements it
 * gives. A header of kernels.c; needs AVX-512, and AVX-512's permutes by byte (VBMI) are not taken for granted, so that
 * there is none for 1-byte elements. */
#ifndef CUTT_CPU_KERNELS_WINDOW_H
#define CUTT_CPU_KERNELS_WINDOW_H

#define CUTT_DEFINE_WINDOW(W, LOAD_INDEX, PERMUTE, MERGE)                                                              \
  static void window_##W(char *restrict stage, const char *restrict src, const cutt_cpu_windows *restrict windows,     \
                         int64_t from, int64_t to) {                                                                   \
    enum { R = 64 / W };                                                                                               \
    int64_t at = windows->first[from];                                                                                 \
    for (int64_t v = from; v < to; ++v) {                                                                              \
      const int64_t end = windows->first[v + 1];                                                                       \
      __m512i sum = _mm512_setzero_si512();                                                                            \
      for (; at < end; ++at) {                                                                                         \
        const char *place = src + windows->offset[at];                                                                 \
        const __m512i low = _mm512_loadu_si512((const void *)place);                                                   \
        const __m512i high = _mm512_loadu_si512((const void *)(place + 64));                                           \
        const __m512i picked = PERMUTE(low, LOAD_INDEX(windows->index + at * R), high);                                \
        sum = MERGE(sum, windows->mask[at], picked);                                                                   \
      }                                                                                                                \
      _mm512_storeu_si512((void *)(stage + v * 64), sum);                                                              \
    }                                                                                                                  \
  }

#define CUTT_INDEX_2(p) _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define CUTT_INDEX_4(p) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define CUTT_INDEX_8(p) _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define CUTT_MERGE_2(sum, mask, v) _mm512_mask_mov_epi16(sum, (__mmask32)(mask), v)
#define CUTT_MERGE_4(sum, mask, v) _mm512_mask_mov_epi32(sum, (__mmask16)(mask), v)
#define CUTT_MERGE_8(sum, mask, v) _mm512_mask_mov_epi64(sum, (__mmask8)(mask), v)

CUTT_DEFINE_WINDOW(2, CUTT_INDEX_2, _mm512_permutex2var_epi16, CUTT_MERGE_2)
CUTT_DEFINE_WINDOW(4, CUTT_INDEX_4, _mm512_permutex2var_epi32, CUTT_MERGE_4)
CUTT_DEFINE_WINDOW(8, CUTT_INDEX_8, _mm512_permutex2var_epi64, CUTT_MERGE_8)

#endif
