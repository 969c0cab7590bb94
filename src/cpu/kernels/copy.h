/* What a few bytes, and elements one by one, are copied by. Part of kernels.c and of its headers, of which this is the lowest. */
#ifndef CUTT_CPU_KERNELS_COPY_H
#define CUTT_CPU_KERNELS_COPY_H

#include "cpu/kernels/vectors.h"

/* Copies n bytes, low <= n <= 2 * low, by two accesses of `low` bytes that overlap, so that nothing beyond is touched.
 * low: a constant, at most 32. */
CUTT_INLINE void copy_twice(char *dst, const char *src, int64_t n, int low) {
  char first[32], last[32];
  memcpy(first, src, (size_t)low);
  memcpy(last, src + n - low, (size_t)low);
  memcpy(dst, first, (size_t)low);
  memcpy(dst + n - low, last, (size_t)low);
}

/* At most 64 bytes. */
CUTT_INLINE void copy_few(char *dst, const char *src, int64_t n) {
  if (n >= 32) {
    copy_twice(dst, src, n, 32);
  } else if (n >= 16) {
    copy_twice(dst, src, n, 16);
  } else if (n >= 8) {
    copy_twice(dst, src, n, 8);
  } else if (n >= 4) {
    copy_twice(dst, src, n, 4);
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i];
  }
}

/* Any number of bytes. */
CUTT_INLINE void copy_bytes(char *dst, const char *src, int64_t n) {
  if (n <= 64) {
    copy_few(dst, src, n);
    return;
  }
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) memcpy(dst + i, src + i, 64);
  if (i < n) memcpy(dst + n - 64, src + n - 64, 64);
}

/* n elements of w bytes, a constant, to places `stride` bytes apart. */
CUTT_INLINE void scatter_elements(int w, char *dst, int64_t stride, const char *src, int64_t n) {
  _Pragma("GCC unroll 4") for (int64_t k = 0; k < n; ++k) memcpy(dst + k * stride, src + k * w, (size_t)w);
}

#endif
