/* Numbers of 16 bits as floats, and back: without branches, so that loops over them are vectorised. */
#ifndef CUTT_CPU_KERNELS_HALF_H
#define CUTT_CPU_KERNELS_HALF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float cutt_float_of_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, 4);
  return f;
}

static inline uint32_t cutt_bits_of_float(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}

static inline float cutt_float_of_bf16(uint16_t h) { return cutt_float_of_bits((uint32_t)h << 16); }

/* To nearest, ties to even; a NaN stays a NaN. */
static inline uint16_t cutt_bf16_of_float(float f) {
  const uint32_t bits = cutt_bits_of_float(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* condition ? a : b without a branch: where there is floating-point arithmetic on one side of a branch only, compilers
 * keep the branch, since arithmetic may trap, and the loop is not vectorised. */
static inline uint32_t cutt_select(bool condition, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - (uint32_t)condition;
  return (a & mask) | (b & ~mask);
}

/* IEEE binary16. Its subnormals are normal as floats, and the arithmetic here has no subnormal floats: so the result is
 * right in every rounding mode, and where the caller has the processor flush subnormals to zero. */
static inline float cutt_float_of_f16(uint16_t h) {
  const uint32_t magnitude = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
  const uint32_t rebias = cutt_select(magnitude < 0x7c00u, 112u << 23, 224u << 23); /* infinities and NaNs stay that */
  const uint32_t subnormal = cutt_bits_of_float((float)(int32_t)magnitude * 0x1p-24f);
  return cutt_float_of_bits(sign | cutt_select(magnitude < 0x0400u, subnormal, (magnitude << 13) + rebias));
}

/* To nearest, ties to even, whatever the rounding mode; overflow to infinity; a NaN stays a NaN. */
static inline uint16_t cutt_f16_of_float(float f) {
  const uint32_t bits = cutt_bits_of_float(f);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  /* Below 2^-14: a whole multiple of 2^-24, and a rest, which can be compared by its bits, being >= 0. */
  const bool is_subnormal = magnitude < 0x38800000u;
  const float scaled = cutt_float_of_bits(cutt_select(is_subnormal, magnitude, 0u)) * 0x1p24f;
  const int32_t whole = (int32_t)scaled;
  const int32_t rest = (int32_t)cutt_bits_of_float(scaled - (float)whole);
  const uint32_t subnormal = (uint32_t)(whole + (rest + (whole & 1) > 0x3f000000));
  uint32_t half = cutt_select(is_subnormal, subnormal, normal);
  half = cutt_select(magnitude < 0x477ff000u, half, 0x7c00u); /* from there on it rounds to 65536 or more */
  half = cutt_select(magnitude > 0x7f800000u, 0x7e00u | ((magnitude >> 13) & 0x1ffu), half);
  return (uint16_t)(sign | half);
}

#endif
