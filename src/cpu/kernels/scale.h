/* out = alpha * op(in) + beta * out on a staged run, for every element type with arithmetic. A header, so that it is
 * compiled into each instruction set's kernels. Plain loops, which the compiler vectorises.
 *
 * Exact in every bit: conjugation, which flips a bit; and real factors of complex numbers, which multiply each part by
 * itself (see cutt_factor). Loops that multiply anyway do so by a factor of 1 too, since a number times 1 is that
 * number. */
#ifndef CUTT_CPU_KERNELS_SCALE_H
#define CUTT_CPU_KERNELS_SCALE_H

#include <stdint.h>
#include <string.h>

#include "cpu/kernels/vectors.h"
#include "model/canonical.h"

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

#define CUTT_IDENTITY(x) (x)

/* Real types: T in memory, C for the arithmetic. Two loops, with and without reads, since a branch would not
 * vectorise. */
#define CUTT_DEFINE_SCALE(name, T, C, load, store)                                                                     \
  static void scale_##name(char *restrict stage, const char *restrict out, int64_t n, C alpha, C beta, bool reads) {   \
    if (reads) {                                                                                                       \
      for (int64_t i = 0; i < n; ++i) {                                                                                \
        T x, y;                                                                                                        \
        memcpy(&x, stage + i * (int64_t)sizeof(T), sizeof(T));                                                         \
        memcpy(&y, out + i * (int64_t)sizeof(T), sizeof(T));                                                           \
        const T z = store(alpha * load(x) + beta * load(y));                                                           \
        memcpy(stage + i * (int64_t)sizeof(T), &z, sizeof(T));                                                         \
      }                                                                                                                \
    } else {                                                                                                           \
      for (int64_t i = 0; i < n; ++i) {                                                                                \
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

#if defined(__F16C__)
/* Eight halves at a time, by the processor's conversions, with the same results: they never flush subnormals, and their
 * rounding is the instruction's, not the mode's. Returns the number of elements done. */
static int64_t scale_f16_eights(char *restrict stage, const char *restrict out, int64_t n, float alpha, float beta,
                                bool reads) {
  const __m256 a = _mm256_set1_ps(alpha), b = _mm256_set1_ps(beta);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m128i *const at = (__m128i *)(void *)(stage + i * 2);
    __m256 z = _mm256_mul_ps(a, _mm256_cvtph_ps(_mm_loadu_si128(at)));
    if (reads) {
      const __m128i y = _mm_loadu_si128((const __m128i *)(const void *)(out + i * 2));
      z = _mm256_add_ps(z, _mm256_mul_ps(b, _mm256_cvtph_ps(y)));
    }
    _mm_storeu_si128(at, _mm256_cvtps_ph(z, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}
#endif

/* Flip the signs of the imaginary parts. By words of 8 bytes, which vectorises. */
static void conjugate_c32(char *stage, int64_t n) {
  static const uint32_t parts[2] = {0, 0x80000000u};
  uint64_t flip;
  memcpy(&flip, parts, sizeof flip);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t x;
    memcpy(&x, stage + i * 8, 8);
    x ^= flip;
    memcpy(stage + i * 8, &x, 8);
  }
}

static void conjugate_c64(char *stage, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint64_t x[2];
    memcpy(x, stage + i * 16, 16);
    x[1] ^= UINT64_C(1) << 63;
    memcpy(stage + i * 16, x, 16);
  }
}

/* Complex types with parts of type T. complex_name() is the sum if alpha or beta is COMPLEX: the textbook product,
 * without C99 Annex G's treatment of infinities. Everything else is the real type's loop over the parts. */
#define CUTT_DEFINE_SCALE_COMPLEX(name, real, T)                                                                       \
  CUTT_INLINE void times_##name(T *z, const T *x, const T *factor, bool complex) {                                     \
    z[0] = complex ? factor[0] * x[0] - factor[1] * x[1] : factor[0] * x[0];                                           \
    z[1] = complex ? factor[0] * x[1] + factor[1] * x[0] : factor[0] * x[1];                                           \
  }                                                                                                                    \
  CUTT_INLINE void complex_##name(char *restrict stage, const char *restrict out, int64_t n, const T *alpha,           \
                                  const T *beta, bool alpha_complex, bool reads, bool beta_complex) {                  \
    for (int64_t i = 0; i < n; ++i) {                                                                                  \
      T x[2], y[2], z[2], w[2] = {0, 0};                                                                               \
      memcpy(x, stage + i * (int64_t)sizeof x, sizeof x);                                                              \
      times_##name(z, x, alpha, alpha_complex);                                                                        \
      if (reads) {                                                                                                     \
        memcpy(y, out + i * (int64_t)sizeof y, sizeof y);                                                              \
        times_##name(w, y, beta, beta_complex);                                                                        \
        z[0] += w[0];                                                                                                  \
        z[1] += w[1];                                                                                                  \
      }                                                                                                                \
      memcpy(stage + i * (int64_t)sizeof z, z, sizeof z);                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  static void scale_##name(char *restrict stage, const char *restrict out, int64_t n, const cutt_scale *s) {           \
    const T alpha[2] = {(T)s->alpha.re, (T)s->alpha.im}, beta[2] = {(T)s->beta.re, (T)s->beta.im};                     \
    const bool alpha_complex = s->alpha_factor == CUTT_FACTOR_COMPLEX;                                                 \
    const bool beta_complex = s->beta_factor == CUTT_FACTOR_COMPLEX;                                                   \
    if (s->conjugate) conjugate_##name(stage, n);                                                                      \
    if (alpha_complex && !s->reads_out) { /* constants in each call, so that the loop has no branch */                 \
      complex_##name(stage, out, n, alpha, beta, true, false, false);                                                  \
    } else if (alpha_complex && !beta_complex) {                                                                       \
      complex_##name(stage, out, n, alpha, beta, true, true, false);                                                   \
    } else if (alpha_complex) {                                                                                        \
      complex_##name(stage, out, n, alpha, beta, true, true, true);                                                    \
    } else if (beta_complex) {                                                                                         \
      complex_##name(stage, out, n, alpha, beta, false, true, true);                                                   \
    } else if (s->reads_out || s->alpha_factor != CUTT_FACTOR_ONE) {                                                   \
      scale_##real(stage, out, 2 * n, alpha[0], beta[0], s->reads_out);                                                \
    }                                                                                                                  \
  }

CUTT_DEFINE_SCALE_COMPLEX(c32, f32, float)
CUTT_DEFINE_SCALE_COMPLEX(c64, f64, double)

static void cutt_scale_stage(char *stage, const char *out, int64_t n, const cutt_scale *s) {
  const cutt_scalar a = s->alpha, b = s->beta;
  const bool reads = s->reads_out;
  int64_t done = 0;
  switch (s->type) {
    case CUTT_F16:
#if defined(__F16C__)
      done = scale_f16_eights(stage, out, n, (float)a.re, (float)b.re, reads);
#endif
      scale_f16(stage + done * 2, out + done * 2, n - done, (float)a.re, (float)b.re, reads);
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
      scale_c32(stage, out, n, s);
      break;
    case CUTT_C64:
      scale_c64(stage, out, n, s);
      break;
    default:
      break; /* opaque elements take no scale; the problem's validation has refused it */
  }
}

#endif
