/* Vectors of which only the first bytes are in memory: what is beyond them is neither read nor written, and 0 in the register.
 * bytes is a multiple of 4, at least 4 and at most a vector's. */
#ifndef CUTT_CONTRACT_KERNELS_PART_H
#define CUTT_CONTRACT_KERNELS_PART_H

#include "cpu/kernels/vectors.h"

typedef int32_t cutt_part __attribute__((vector_size(CUTT_VECTOR_BYTES)));

#if CUTT_VECTOR_BYTES == 64
CUTT_INLINE __mmask16 cutt_part_mask(int64_t bytes) { return (__mmask16)((1u << (unsigned)(bytes / 4)) - 1); }
CUTT_INLINE cutt_part cutt_part_load(const char *from, int64_t bytes) {
  return (cutt_part)_mm512_maskz_loadu_epi32(cutt_part_mask(bytes), from);
}
CUTT_INLINE void cutt_part_store(char *to, cutt_part v, int64_t bytes) {
  _mm512_mask_storeu_epi32(to, cutt_part_mask(bytes), (__m512i)v);
}
#elif CUTT_VECTOR_BYTES == 32
CUTT_INLINE __m256i cutt_part_mask(int64_t bytes) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(bytes / 4)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
CUTT_INLINE cutt_part cutt_part_load(const char *from, int64_t bytes) {
  return (cutt_part)_mm256_maskload_epi32((const int *)(const void *)from, cutt_part_mask(bytes));
}
CUTT_INLINE void cutt_part_store(char *to, cutt_part v, int64_t bytes) {
  _mm256_maskstore_epi32((int *)(void *)to, cutt_part_mask(bytes), (__m256i)v);
}
#else
CUTT_INLINE cutt_part cutt_part_load(const char *from, int64_t bytes) {
  cutt_part v = {0};
  int32_t number[4] = {0};
  if (bytes == 16) {
    memcpy(&v, from, 16);
    return v;
  }
  for (int i = 0; i < bytes / 4; ++i) memcpy(&number[i], from + 4 * i, 4);
  memcpy(&v, number, 16);
  return v;
}
CUTT_INLINE void cutt_part_store(char *to, cutt_part v, int64_t bytes) {
  if (bytes == 16) {
    memcpy(to, &v, 16);
    return;
  }
  for (int i = 0; i < bytes / 4; ++i) {
    const int32_t number = v[i];
    memcpy(to + 4 * i, &number, 4);
  }
}
#endif

#endif
