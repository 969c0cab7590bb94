/* The copy of every second to fourth element: as many loads of whole vectors as lie between two of the output, and one permute of two
 * registers less; and of all elements, backwards. A header of kernels.c, for AVX-512; for 1-byte elements with VBMI. */
#ifndef CUTT_CPU_KERNELS_SKIP_H
#define CUTT_CPU_KERNELS_SKIP_H

#include "cpu/kernels/copy.h"

/* n elements one by one. */
CUTT_INLINE void skip_elements(int w, char *dst, const char *src, int64_t n, int64_t step) {
  for (int64_t k = 0; k < n; ++k) memcpy(dst + k * w, src + k * step * w, (size_t)w);
}

/* Elements before the first whole line, of n, where stores go past the caches. */
CUTT_INLINE int64_t skip_head(int w, const char *dst, int64_t n, bool past) {
  const int64_t head = past ? (int64_t)(-(uintptr_t)dst & 63) / w : 0;
  return head < n ? head : n;
}

/* See cutt_cpu_skip_fn; w, and step in elements, are constants. Register r of the input holds elements r * per to (r + 1) * per - 1. What is read behind a
 * vector's last element ends where the next vector's first one begins, so that the last vector is left to single elements. */
CUTT_INLINE void skip(int w, int step, char *dst, const char *src, int64_t n, bool past) {
  const int64_t per = 64 / w;
  uint8_t place[3][64] = {{0}};
  for (int64_t k = 0; k < per; ++k) {
    const int64_t from = k * step;
    place[0][k] = (uint8_t)(from < 2 * per ? from : 0);
    for (int r = 2; r < step; ++r) place[r - 1][k] = (uint8_t)(from < r * per ? k : per + from % per);
  }
  __m512i index[3];
  _Pragma("GCC unroll 3") for (int r = 1; r < step; ++r) index[r - 1] = load_index(w, place[r - 1]);
  int64_t k = skip_head(w, dst, n, past);
  skip_elements(w, dst, src, k, step);
  for (; k + per < n; k += per) {
    const char *from = src + k * step * w;
    __m512i v = _mm512_loadu_si512((const void *)from);
    _Pragma("GCC unroll 3") for (int r = 1; r < step; ++r) v =
        cutt_permute(w, v, index[r - 1], _mm512_loadu_si512((const void *)(from + 64 * r)));
    cutt_put_64(past, dst + k * w, v);
  }
  skip_elements(w, dst + k * w, src + k * step * w, n - k, step);
}

/* The same for a step of -1. */
CUTT_INLINE void back(int w, char *dst, const char *src, int64_t n, bool past) {
  const int width = cutt_permute_width(w);
  const int64_t per = 64 / w, parts = w / width; /* of an element */
  uint8_t place[64] = {0};
  for (int64_t i = 0; i < 64 / width; ++i) place[i] = (uint8_t)((per - 1 - i / parts) * parts + i % parts);
  const __m512i index = load_index(width, place);
  int64_t k = skip_head(w, dst, n, past);
  skip_elements(w, dst, src, k, -1);
  for (; k + per <= n; k += per) {
    const __m512i v = _mm512_loadu_si512((const void *)(src - (k + per - 1) * w));
    cutt_put_64(past, dst + k * w, cutt_permute(width, v, index, v));
  }
  skip_elements(w, dst + k * w, src - k * w, n - k, -1);
}

#define CUTT_DEFINE_SKIP(W)                                                                                            \
  static void skip_##W(char *dst, const char *src, int64_t n, int64_t step, bool past) {                               \
    if (step == -W) back(W, dst, src, n, past);                                                                        \
    if (step == 2 * W) skip(W, 2, dst, src, n, past);                                                                  \
    if (step == 3 * W) skip(W, 3, dst, src, n, past);                                                                  \
    if (step == 4 * W) skip(W, 4, dst, src, n, past);                                                                  \
  }
#if defined(__AVX512VBMI__)
CUTT_DEFINE_SKIP(1)
#endif
CUTT_DEFINE_SKIP(2)
CUTT_DEFINE_SKIP(4)
CUTT_DEFINE_SKIP(8)
static void skip_16(char *dst, const char *src, int64_t n, int64_t step, bool past) {
  (void)step;
  back(16, dst, src, n, past);
}

#endif
