/* Vectors of floats from half types in memory, and back, rounded once; the same bits whether the processor converts or not. */
#ifndef CUTT_CONTRACT_KERNELS_HALVES_H
#define CUTT_CONTRACT_KERNELS_HALVES_H

#include "cpu/kernels/half.h"
#include "cpu/kernels/vectors.h"

enum { CUTT_HALVES = CUTT_VECTOR_BYTES / 4 }; /* of a vector of floats */
typedef float cutt_floats __attribute__((vector_size(CUTT_VECTOR_BYTES)));

/* The same as cutt_float_of_bf16 and cutt_bf16_of_float, of all numbers at once. */
typedef uint32_t cutt_float_bits __attribute__((vector_size(CUTT_VECTOR_BYTES)));
typedef uint16_t cutt_half_bits __attribute__((vector_size(CUTT_VECTOR_BYTES / 2)));
CUTT_INLINE cutt_floats cutt_widen_bf16(const char *from) {
  cutt_half_bits half;
  memcpy(&half, from, sizeof half);
  return (cutt_floats)(__builtin_convertvector(half, cutt_float_bits) << 16);
}
CUTT_INLINE void cutt_narrow_bf16(char *to, cutt_floats x) {
  const cutt_float_bits bits = (cutt_float_bits)x, nan = (cutt_float_bits)((bits & 0x7fffffffu) > 0x7f800000u);
  const cutt_float_bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, quiet = bits >> 16 | 0x40u;
  const cutt_half_bits half = __builtin_convertvector((rounded & ~nan) | (quiet & nan), cutt_half_bits);
  memcpy(to, &half, sizeof half);
}

#if CUTT_VECTOR_BYTES == 64
CUTT_INLINE cutt_floats cutt_widen_f16(const char *from) {
  return (cutt_floats)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)from));
}
CUTT_INLINE void cutt_narrow_f16(char *to, cutt_floats x) {
  _mm256_storeu_si256((__m256i *)(void *)to, _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#elif defined(__F16C__)
CUTT_INLINE cutt_floats cutt_widen_f16(const char *from) {
  return (cutt_floats)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)from));
}
CUTT_INLINE void cutt_narrow_f16(char *to, cutt_floats x) {
  _mm_storeu_si128((__m128i *)(void *)to, _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
}
#else
CUTT_INLINE cutt_floats cutt_widen_f16(const char *from) {
  uint16_t half[CUTT_HALVES];
  float number[CUTT_HALVES];
  cutt_floats x;
  memcpy(half, from, sizeof half);
  for (int i = 0; i < CUTT_HALVES; ++i) number[i] = cutt_float_of_f16(half[i]);
  memcpy(&x, number, sizeof x);
  return x;
}
CUTT_INLINE void cutt_narrow_f16(char *to, cutt_floats x) {
  uint16_t half[CUTT_HALVES];
  float number[CUTT_HALVES];
  memcpy(number, &x, sizeof x);
  for (int i = 0; i < CUTT_HALVES; ++i) half[i] = cutt_f16_of_float(number[i]);
  memcpy(to, half, sizeof half);
}
#endif

/* A single number: converted by the processor where it does that, since by hand it takes as long as a line of them. */
CUTT_INLINE float cutt_single_f16(uint16_t half) {
#if defined(__F16C__)
  return _cvtsh_ss(half);
#else
  return cutt_float_of_f16(half);
#endif
}
CUTT_INLINE float cutt_single_bf16(uint16_t half) { return cutt_float_of_bf16(half); }

/* So many bytes, fewer than all, from memory to the beginning of a vector's and back, without a call. */
#if CUTT_VECTOR_BYTES == 64
CUTT_INLINE __mmask16 cutt_halves_mask(int64_t bytes) { return (__mmask16)((1u << (unsigned)(bytes / 2)) - 1); }
CUTT_INLINE void cutt_halves_in(char *part, const char *from, int64_t bytes) {
  const __m256i some = _mm256_maskz_loadu_epi16(cutt_halves_mask(bytes), from);
  memcpy(part, &some, sizeof some);
}
CUTT_INLINE void cutt_halves_out(char *to, const char *part, int64_t bytes) {
  __m256i some;
  memcpy(&some, part, sizeof some);
  _mm256_mask_storeu_epi16(to, cutt_halves_mask(bytes), some);
}
#else
CUTT_INLINE void cutt_halves_out(char *to, const char *part, int64_t bytes) {
  int64_t at = 0;
  for (int size = CUTT_VECTOR_BYTES / 4; size >= 2; size /= 2) {
    if (!(bytes & size)) continue;
    size == 8   ? memcpy(to + at, part + at, 8)
    : size == 4 ? memcpy(to + at, part + at, 4)
                : memcpy(to + at, part + at, 2);
    at += size;
  }
}
CUTT_INLINE void cutt_halves_in(char *part, const char *from, int64_t bytes) { cutt_halves_out(part, from, bytes); }
#endif

/* Of the first bytes of such a vector, in bytes of floats. */
#define DEFINE_HALVES_IN_PART(name)                                                                                    \
  CUTT_INLINE cutt_floats cutt_take_##name(const char *from, int64_t here) {                                           \
    char part[CUTT_VECTOR_BYTES / 2] = {0};                                                                            \
    if (here == CUTT_VECTOR_BYTES) return cutt_widen_##name(from);                                                     \
    cutt_halves_in(part, from, here / 2);                                                                              \
    return cutt_widen_##name(part);                                                                                    \
  }                                                                                                                    \
  CUTT_INLINE void cutt_keep_##name(char *to, cutt_floats x, int64_t here) {                                           \
    char part[CUTT_VECTOR_BYTES / 2];                                                                                  \
    if (here == CUTT_VECTOR_BYTES) {                                                                                   \
      cutt_narrow_##name(to, x);                                                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
    cutt_narrow_##name(part, x);                                                                                       \
    cutt_halves_out(to, part, here / 2);                                                                               \
  }
DEFINE_HALVES_IN_PART(f16)
DEFINE_HALVES_IN_PART(bf16)

#endif
