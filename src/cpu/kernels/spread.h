/* The scatter to an output of small stride, several elements per store.
 *
 * A permute brings consecutive elements to their distances, and a store under a mask writes them and leaves the bytes
 * between them alone: it neither reads nor writes these. A header of kernels.c, for AVX-512; for 1-byte elements with
 * VBMI. */
#ifndef CUTT_CPU_KERNELS_SPREAD_H
#define CUTT_CPU_KERNELS_SPREAD_H

#include "cpu/kernels/copy.h"

/* Is that faster than element by element? From four elements a store on. */
CUTT_INLINE bool spreads(int64_t w, int64_t stride) {
#if !defined(__AVX512VBMI__)
  if (w == 1) return false;
#endif
  return w <= 8 && stride > 0 && 3 * stride + w <= 64;
}

/* Elements of a vector to their places. */
CUTT_INLINE void spread_store(int w, void *to, uint64_t mask, __m512i v) {
  if (w == 1) _mm512_mask_storeu_epi8(to, (__mmask64)mask, v);
  if (w == 2) _mm512_mask_storeu_epi16(to, (__mmask32)mask, v);
  if (w == 4) _mm512_mask_storeu_epi32(to, (__mmask16)mask, v);
  if (w == 8) _mm512_mask_storeu_epi64(to, (__mmask8)mask, v);
}

/* w is a constant. */
CUTT_INLINE void spread_elements(int w, char *dst, int64_t stride, const char *src, int64_t n) {
  /* Where lines hold a whole number of strides, each store is of a line: the first one begins at an element near the
   * line's beginning, which is `lead` bytes before it. */
  int64_t lead = 0;
  if (64 % stride == 0 && (uintptr_t)dst % (unsigned)w == 0) {
    const int64_t in_line = (int64_t)((uintptr_t)dst & 63), before = in_line / stride;
    const int64_t head = before == 0 ? 0 : 64 / stride - before;
    scatter_elements(w, dst, stride, src, head < n ? head : n);
    if (head >= n) return;
    dst += head * stride, src += head * w, n -= head;
    lead = in_line % stride;
    dst -= lead;
  }
  const int64_t per = (64 - w - lead) / stride + 1; /* elements of a store */
  uint64_t mask = 0;
  uint8_t place[64] = {0};
  for (int64_t k = 0; k < per; ++k) {
    const int64_t to = (lead + k * stride) / w;
    place[to] = (uint8_t)k;
    mask |= UINT64_C(1) << to;
  }
  const __m512i index = load_index(w, place);
  int64_t k = 0;
  for (; n - k >= 64 / w; k += per) {
    const __m512i v = _mm512_loadu_si512((const void *)(src + k * w));
    spread_store(w, dst + k * stride, mask, merge_permuted(w, v, UINT64_MAX, index, v));
  }
  for (; k < n; k += per) { /* less than a vector is there */
    const int64_t left = n - k;
    const __m512i v = load_part(src + k * w, (uint32_t)(left * w));
    if (left < per) mask = _bzhi_u64(mask, (uint32_t)((lead + (left - 1) * stride) / w + 1));
    spread_store(w, dst + k * stride, mask, merge_permuted(w, v, UINT64_MAX, index, v));
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
