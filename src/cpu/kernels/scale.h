/* out = alpha * op(in) + beta * out on a contiguous piece of a tile, for every typed element.
 * A header, so that it is compiled into each instruction set's kernels. Plain loops: the compiler vectorises them. */
#ifndef CUTT_CPU_KERNELS_SCALE_H
#define CUTT_CPU_KERNELS_SCALE_H

#include <stdint.h>
#include <string.h>

#include "core/canonical.h"

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

/* IEEE binary16, subnormals included: the bits are moved into a float's place and the exponent put right by a multiply,
 * which is exact. */
static inline float cutt_float_of_f16(uint16_t h) {
  const uint32_t magnitude = (uint32_t)(h & 0x7fffu) << 13;
  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
  if (magnitude >= 0x0f800000u) return cutt_float_of_bits(sign | 0x70000000u | magnitude | 0x7f800000u);
  const float scaled = cutt_float_of_bits(magnitude) * 0x1p112f;
  return cutt_float_of_bits(sign | cutt_bits_of_float(scaled));
}

/* To nearest, ties to even; overflow to infinity; a NaN stays a NaN. */
static inline uint16_t cutt_f16_of_float(float f) {
  const uint32_t bits = cutt_bits_of_float(f);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x1ffu));
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* rounds to 65536 or more */
  if (magnitude < 0x38800000u) { /* below 2^-14: a multiple of 2^-24; adding 0.5 leaves it in the low bits, rounded */
    const uint32_t rounded = cutt_bits_of_float(cutt_float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
    return (uint16_t)(sign | rounded);
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return (uint16_t)(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

#define CUTT_IDENTITY(x) (x)

/* Real types: T in memory, C to compute in. reads_out is taken out of the loop so that it vectorises. */
#define CUTT_DEFINE_SCALE(name, T, C, load, store)                                                                     \
  static void scale_##name(char *restrict stage, const char *restrict out, int64_t n, C alpha, C beta, bool reads) {   \
    if (reads) {                                                                                                       \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        T x, y;                                                                                                        \
        memcpy(&x, stage + i * (int64_t)sizeof(T), sizeof(T));                                                         \
        memcpy(&y, out + i * (int64_t)sizeof(T), sizeof(T));                                                           \
        const T z = store(alpha * load(x) + beta * load(y));                                                           \
        memcpy(stage + i * (int64_t)sizeof(T), &z, sizeof(T));                                                         \
      }                                                                                                                \
    } else {                                                                                                           \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        T x;                                                                                                           \
        memcpy(&x, stage + i * (int64_t)sizeof(T), sizeof(T));                                                         \
        const T z = store(alpha * load(x));                                                                            \
        memcpy(stage + i * (int64_t)sizeof(T), &z, sizeof(T));                                                         \
      }                                                                                                                \
    }                                                                                                                  \
  }

CUTT_DEFINE_SCALE(f16, uint16_t, float, cutt_float_of_f16, cutt_f16_of_float)
CUTT_DEFINE_SCALE(bf16, uint16_t, float, cutt_float_of_bf16, cutt_bf16_of_float)
CUTT_DEFINE_SCALE(f32, float, float, CUTT_IDENTITY, CUTT_IDENTITY)
CUTT_DEFINE_SCALE(f64, double, double, CUTT_IDENTITY, CUTT_IDENTITY)
/* Unsigned arithmetic is the two's complement kind, modulo 2^n. */
CUTT_DEFINE_SCALE(i32, uint32_t, uint32_t, CUTT_IDENTITY, CUTT_IDENTITY)
CUTT_DEFINE_SCALE(i64, uint64_t, uint64_t, CUTT_IDENTITY, CUTT_IDENTITY)

/* sign is -1 to conjugate the input. The textbook product: no C99 Annex G treatment of infinities. */
#define CUTT_DEFINE_SCALE_COMPLEX(name, T)                                                                             \
  static void scale_##name(char *restrict stage, const char *restrict out, int64_t n, T alpha_re, T alpha_im,          \
                           T beta_re, T beta_im, T sign, bool reads) {                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T x[2], y[2], z[2];                                                                                              \
      memcpy(x, stage + i * (int64_t)sizeof x, sizeof x);                                                              \
      x[1] *= sign;                                                                                                    \
      z[0] = alpha_re * x[0] - alpha_im * x[1];                                                                        \
      z[1] = alpha_re * x[1] + alpha_im * x[0];                                                                        \
      if (reads) {                                                                                                     \
        memcpy(y, out + i * (int64_t)sizeof y, sizeof y);                                                              \
        z[0] += beta_re * y[0] - beta_im * y[1];                                                                       \
        z[1] += beta_re * y[1] + beta_im * y[0];                                                                       \
      }                                                                                                                \
      memcpy(stage + i * (int64_t)sizeof z, z, sizeof z);                                                              \
    }                                                                                                                  \
  }

CUTT_DEFINE_SCALE_COMPLEX(c32, float)
CUTT_DEFINE_SCALE_COMPLEX(c64, double)

static void cutt_scale_stage(char *stage, const char *out, int64_t n, const cutt_scale *s) {
  const cutt_scalar a = s->alpha, b = s->beta;
  const bool reads = s->reads_out;
  const double sign = s->conjugate ? -1.0 : 1.0;
  switch (s->type) {
    case CUTT_F16:
      scale_f16(stage, out, n, (float)a.re, (float)b.re, reads);
      break;
    case CUTT_BF16:
      scale_bf16(stage, out, n, (float)a.re, (float)b.re, reads);
      break;
    case CUTT_F32:
      scale_f32(stage, out, n, (float)a.re, (float)b.re, reads);
      break;
    case CUTT_F64:
      scale_f64(stage, out, n, a.re, b.re, reads);
      break;
    case CUTT_I32:
      scale_i32(stage, out, n, (uint32_t)a.i, (uint32_t)b.i, reads);
      break;
    case CUTT_I64:
      scale_i64(stage, out, n, (uint64_t)a.i, (uint64_t)b.i, reads);
      break;
    case CUTT_C32:
      scale_c32(stage, out, n, (float)a.re, (float)a.im, (float)b.re, (float)b.im, (float)sign, reads);
      break;
    case CUTT_C64:
      scale_c64(stage, out, n, a.re, a.im, b.re, b.im, sign, reads);
      break;
    default:
      break; /* opaque elements take no scale; the problem's validation has refused it */
  }
}

#endif
