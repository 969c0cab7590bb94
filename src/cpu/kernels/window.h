/* The gather, several elements per instruction, for narrow leading modes on both sides.
 *
 * If these modes have small strides in the input, the elements of an output vector (64 bytes) are in few places there.
 * A window is such a place: 128 bytes, in two registers, from which one permute picks elements. The plan holds, for
 * each output vector, its windows: the offset of each, which elements of the vector come from it, and from where in it
 * (windows.c finds them). Per window: two loads, one load of indices, one permute, one merge, however many elements it
 * gives. A header of kernels.c, for AVX-512. 1-byte elements would need its permutes by byte (VBMI), which not every
 * processor with AVX-512 has. */
#ifndef CUTT_CPU_KERNELS_WINDOW_H
#define CUTT_CPU_KERNELS_WINDOW_H

/* 64 / w indices of one byte each, widened to w bytes. */
CUTT_INLINE __m512i load_index(int w, const uint8_t *index) {
  const void *p = index;
  return w == 2   ? _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p))
         : w == 4 ? _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p))
                  : _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)p));
}

/* v where the mask has a bit for the element, else sum. */
CUTT_INLINE __m512i merge(int w, __m512i sum, uint32_t mask, __m512i v) {
  return w == 2   ? _mm512_mask_mov_epi16(sum, (__mmask32)mask, v)
         : w == 4 ? _mm512_mask_mov_epi32(sum, (__mmask16)mask, v)
                  : _mm512_mask_mov_epi64(sum, (__mmask8)mask, v);
}

/* See cutt_cpu_window_fn; w is a constant. */
CUTT_INLINE void window(int w, char *restrict stage, const char *restrict src, const cutt_cpu_windows *restrict windows,
                        int64_t from, int64_t to) {
  int64_t at = windows->first[from];
  for (int64_t v = from; v < to; ++v) {
    const int64_t end = windows->first[v + 1];
    __m512i sum = _mm512_setzero_si512();
    for (; at < end; ++at) {
      const char *place = src + windows->offset[at];
      const __m512i low = _mm512_loadu_si512((const void *)place);
      const __m512i high = _mm512_loadu_si512((const void *)(place + 64));
      const __m512i picked = cutt_permute(w, low, load_index(w, windows->index + at * (64 / w)), high);
      sum = merge(w, sum, windows->mask[at], picked);
    }
    _mm512_storeu_si512((void *)(stage + v * 64), sum);
  }
}

#define CUTT_DEFINE_WINDOW(W)                                                                                          \
  static void window_##W(char *restrict stage, const char *restrict src, const cutt_cpu_windows *restrict windows,     \
                         int64_t from, int64_t to) {                                                                   \
    window(W, stage, src, windows, from, to);                                                                          \
  }
CUTT_DEFINE_WINDOW(2)
CUTT_DEFINE_WINDOW(4)
CUTT_DEFINE_WINDOW(8)

#endif
