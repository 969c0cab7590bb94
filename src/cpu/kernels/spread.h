/* The scatter to an output of small stride, several elements per store.
 *
 * A permute brings consecutive elements to their distances, and a store under a mask writes them and leaves the bytes
 * between them alone: it neither reads nor writes these. A header of kernels.c, for AVX-512; for 1-byte elements with
 * VBMI. */
#ifndef CUTT_CPU_KERNELS_SPREAD_H
#define CUTT_CPU_KERNELS_SPREAD_H

/* Is that faster than element by element? From four elements a store on. */
CUTT_INLINE bool spreads(int64_t w, int64_t stride) {
#if !defined(__AVX512VBMI__)
  if (w == 1) return false;
#endif
  return w <= 8 && stride > 0 && 3 * stride + w <= 64;
}

/* w is a constant. */
CUTT_INLINE void spread_elements(int w, char *dst, int64_t stride, const char *src, int64_t n) {
  const int64_t per = (64 - w) / stride + 1; /* elements of a store */
  uint64_t mask = 0;
  char place[64] = {0};
  for (int64_t k = 0; k < per; ++k) {
    const int64_t to = k * stride / w;
    place[to] = (char)k;
    mask |= UINT64_C(1) << to;
  }
  const __m512i index = load_index(w, (const uint8_t *)place);
  for (int64_t k = 0; k < n; k += per) {
    const int64_t left = n - k;
    __m512i v;
    if (left >= 64 / w) {
      v = _mm512_loadu_si512((const void *)(src + k * w));
    } else {
      v = load_part(src + k * w, (uint32_t)(left * w));
      if (left < per) mask = _bzhi_u64(mask, (uint32_t)((left - 1) * stride / w + 1));
    }
    v = merge_permuted(w, v, UINT64_MAX, index, v);
    void *to = dst + k * stride;
    if (w == 1) _mm512_mask_storeu_epi8(to, (__mmask64)mask, v);
    if (w == 2) _mm512_mask_storeu_epi16(to, (__mmask32)mask, v);
    if (w == 4) _mm512_mask_storeu_epi32(to, (__mmask16)mask, v);
    if (w == 8) _mm512_mask_storeu_epi64(to, (__mmask8)mask, v);
  }
}

CUTT_INLINE void spread(int64_t w, char *dst, int64_t stride, const char *src, int64_t n) {
#if defined(__AVX512VBMI__)
  if (w == 1) spread_elements(1, dst, stride, src, n);
#endif
  if (w == 2) spread_elements(2, dst, stride, src, n);
  if (w == 4) spread_elements(4, dst, stride, src, n);
  if (w == 8) spread_elements(8, dst, stride, src, n);
}

#endif
