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

#include "cpu/kernels/half.h"
#include "cpu/kernels/vectors.h"
#include "model/canonical.h"

/* One vector of what a loop below does, or `bytes` bytes of one, padded with zeros. dst may be src or out: all is read before
 * anything is written. */
typedef char cutt_scaled_bytes __attribute__((vector_size(CUTT_VECTOR_BYTES)));

CUTT_INLINE cutt_scaled_bytes cutt_load_some(const char *src, int64_t bytes) {
  cutt_scaled_bytes x = {0};
  memcpy(&x, src, (size_t)bytes);
  return x;
}

/* Real types: T in memory and to compute in. */
#define CUTT_DEFINE_SCALE(name, T)                                                                                     \
  typedef T cutt_scaled_##name __attribute__((vector_size(CUTT_VECTOR_BYTES)));                                        \
  CUTT_INLINE void scale_some_##name(char *dst, const char *src, const char *out, int64_t bytes, T alpha, T beta,      \
                                     bool reads) {                                                                     \
    cutt_scaled_##name z = alpha * (cutt_scaled_##name)cutt_load_some(src, bytes);                                     \
    if (reads) z += beta * (cutt_scaled_##name)cutt_load_some(out, bytes);                                             \
    memcpy(dst, &z, (size_t)bytes);                                                                                    \
  }                                                                                                                    \
  CUTT_INLINE void scale_run_##name(char *dst, const char *src, const char *out, int64_t n, T alpha, T beta,           \
                                    bool reads) {                                                                      \
    const int64_t bytes = n * (int64_t)sizeof(T);                                                                      \
    int64_t i = 0;                                                                                                     \
    for (; i + CUTT_VECTOR_BYTES <= bytes; i += CUTT_VECTOR_BYTES) {                                                   \
      scale_some_##name(dst + i, src + i, out + i, CUTT_VECTOR_BYTES, alpha, beta, reads);                             \
    }                                                                                                                  \
    if (i < bytes) scale_some_##name(dst + i, src + i, out + i, bytes - i, alpha, beta, reads);                        \
  }                                                                                                                    \
  static void scale_##name(char *dst, const char *src, const char *out, int64_t n, T alpha, T beta, bool reads) {      \
    if (reads) {                                                                                                       \
      scale_run_##name(dst, src, out, n, alpha, beta, true);                                                           \
    } else {                                                                                                           \
      scale_run_##name(dst, src, src, n, alpha, beta, false);                                                          \
    }                                                                                                                  \
  }

CUTT_DEFINE_SCALE(f32, float)
CUTT_DEFINE_SCALE(f64, double)
/* Unsigned arithmetic is the two's complement kind, modulo 2^n. */
CUTT_DEFINE_SCALE(i32, uint32_t)
CUTT_DEFINE_SCALE(i64, uint64_t)

/* Halves, computed in float: some at a time in memory of their own, so that the compiler, which can't know whether dst is src
 * or out, vectorises the loop. */
enum { SCALED_HALVES = 64 };

#define CUTT_DEFINE_SCALE_HALF(name, load, store)                                                                      \
  /* x = alpha * x + beta * y, n of them. */                                                                           \
  CUTT_INLINE void scale_halves_##name(uint16_t *x, const uint16_t *y, int n, float alpha, float beta, bool reads) {   \
    if (reads) {                                                                                                       \
      for (int k = 0; k < n; ++k) x[k] = store(alpha * load(x[k]) + beta * load(y[k]));                                \
    } else {                                                                                                           \
      for (int k = 0; k < n; ++k) x[k] = store(alpha * load(x[k]));                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  static void scale_##name(char *dst, const char *src, const char *out, int64_t n, float alpha, float beta,            \
                           bool reads) {                                                                               \
    for (int64_t i = 0; i < n; i += SCALED_HALVES) {                                                                   \
      const int64_t some = n - i < SCALED_HALVES ? n - i : SCALED_HALVES;                                              \
      uint16_t x[SCALED_HALVES] = {0}, y[SCALED_HALVES] = {0};                                                         \
      memcpy(x, src + 2 * i, (size_t)(2 * some));                                                                      \
      if (reads) memcpy(y, out + 2 * i, (size_t)(2 * some));                                                           \
      scale_halves_##name(x, y, SCALED_HALVES, alpha, beta, reads);                                                    \
      memcpy(dst + 2 * i, x, (size_t)(2 * some));                                                                      \
    }                                                                                                                  \
  }

CUTT_DEFINE_SCALE_HALF(f16, cutt_float_of_f16, cutt_f16_of_float)
CUTT_DEFINE_SCALE_HALF(bf16, cutt_float_of_bf16, cutt_bf16_of_float)

#if defined(__F16C__)
/* Eight halves at a time, by the processor's conversions, with the same results: they never flush subnormals, and their
 * rounding is the instruction's, not the mode's. Returns the number of elements done. */
static int64_t scale_f16_eights(char *dst, const char *src, const char *out, int64_t n, float alpha, float beta,
                                bool reads) {
  const __m256 a = _mm256_set1_ps(alpha), b = _mm256_set1_ps(beta);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256 z = _mm256_mul_ps(a, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(src + i * 2))));
    if (reads) {
      const __m128i y = _mm_loadu_si128((const __m128i *)(const void *)(out + i * 2));
      z = _mm256_add_ps(z, _mm256_mul_ps(b, _mm256_cvtph_ps(y)));
    }
    _mm_storeu_si128((__m128i *)(void *)(dst + i * 2), _mm256_cvtps_ph(z, _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}
#endif

/* The parts of each complex number in the other order. */
CUTT_INLINE cutt_scaled_bytes cutt_swap_c32(cutt_scaled_bytes x) {
  typedef uint64_t words __attribute__((vector_size(CUTT_VECTOR_BYTES)));
  const words w = (words)x;
  return (cutt_scaled_bytes)(w << 32 | w >> 32);
}

CUTT_INLINE cutt_scaled_bytes cutt_swap_c64(cutt_scaled_bytes x) {
  typedef int64_t words __attribute__((vector_size(CUTT_VECTOR_BYTES)));
  const words w = (words)x;
#if CUTT_VECTOR_BYTES == 64
  return (cutt_scaled_bytes)CUTT_SHUFFLE(words, w, w, 1, 0, 3, 2, 5, 4, 7, 6);
#elif CUTT_VECTOR_BYTES == 32
  return (cutt_scaled_bytes)CUTT_SHUFFLE(words, w, w, 1, 0, 3, 2);
#else
  return (cutt_scaled_bytes)CUTT_SHUFFLE(words, w, w, 1, 0);
#endif
}

/* Complex types with parts of type T, in vectors of numbers of the type `real`. A product with a COMPLEX factor is the textbook
 * one, without C99 Annex G's treatment of infinities: re * (x0, x1) + (-im, im) * (x1, x0), of which every product and sum is
 * that of re * x0 - im * x1 and re * x1 + im * x0. Any other factor multiplies the parts. */
#define CUTT_DEFINE_SCALE_COMPLEX(name, real, T)                                                                       \
  typedef struct factor_##name {                                                                                       \
    T re;                                                                                                              \
    cutt_scaled_##real im; /* -im, im, -im, ... */                                                                     \
  } factor_##name;                                                                                                     \
  CUTT_INLINE factor_##name make_factor_##name(const cutt_scalar *scalar) {                                            \
    factor_##name f = {(T)scalar->re, {0}};                                                                            \
    for (int i = 0; i < (int)(CUTT_VECTOR_BYTES / sizeof(T)); ++i) f.im[i] = (T)(i % 2 ? scalar->im : -scalar->im);    \
    return f;                                                                                                          \
  }                                                                                                                    \
  CUTT_INLINE cutt_scaled_##real times_##name(bool complex, const factor_##name *f, cutt_scaled_bytes x) {             \
    const cutt_scaled_##real z = f->re * (cutt_scaled_##real)x;                                                        \
    return complex ? z + f->im * (cutt_scaled_##real)cutt_swap_##name(x) : z;                                          \
  }                                                                                                                    \
  CUTT_INLINE void complex_some_##name(char *dst, const char *src, const char *out, int64_t bytes,                     \
                                       cutt_scaled_bytes flip, const factor_##name *alpha, const factor_##name *beta,  \
                                       bool alpha_complex, bool reads, bool beta_complex) {                            \
    cutt_scaled_##real z = times_##name(alpha_complex, alpha, cutt_load_some(src, bytes) ^ flip);                      \
    if (reads) z += times_##name(beta_complex, beta, cutt_load_some(out, bytes));                                      \
    memcpy(dst, &z, (size_t)bytes);                                                                                    \
  }                                                                                                                    \
  CUTT_INLINE void complex_run_##name(char *dst, const char *src, const char *out, int64_t bytes,                      \
                                      cutt_scaled_bytes flip, const cutt_scale *s, bool alpha_complex, bool reads,     \
                                      bool beta_complex) {                                                             \
    const factor_##name alpha = make_factor_##name(&s->alpha), beta = make_factor_##name(&s->beta);                    \
    int64_t i = 0;                                                                                                     \
    for (; i + CUTT_VECTOR_BYTES <= bytes; i += CUTT_VECTOR_BYTES) {                                                   \
      complex_some_##name(dst + i, src + i, out + i, CUTT_VECTOR_BYTES, flip, &alpha, &beta, alpha_complex, reads,     \
                          beta_complex);                                                                               \
    }                                                                                                                  \
    if (i < bytes) {                                                                                                   \
      complex_some_##name(dst + i, src + i, out + i, bytes - i, flip, &alpha, &beta, alpha_complex, reads,             \
                          beta_complex);                                                                               \
    }                                                                                                                  \
  }                                                                                                                    \
  static void scale_##name(char *dst, const char *src, const char *out, int64_t n, const cutt_scale *s) {              \
    const int64_t bytes = n * 2 * (int64_t)sizeof(T);                                                                  \
    const bool alpha_complex = s->alpha_factor == CUTT_FACTOR_COMPLEX;                                                 \
    const bool beta_complex = s->beta_factor == CUTT_FACTOR_COMPLEX;                                                   \
    T signs[CUTT_VECTOR_BYTES / sizeof(T)]; /* of imaginary parts, which conjugation flips by their bits */            \
    for (int i = 0; i < (int)(CUTT_VECTOR_BYTES / sizeof(T)); ++i) signs[i] = (T)(s->conjugate && i % 2 ? -0.0 : 0.0); \
    cutt_scaled_bytes flip;                                                                                            \
    memcpy(&flip, signs, sizeof flip);                                                                                 \
    if (!s->reads_out && s->alpha_factor == CUTT_FACTOR_ONE) { /* nothing is computed */                               \
      int64_t i = 0;                                                                                                   \
      for (; i + CUTT_VECTOR_BYTES <= bytes; i += CUTT_VECTOR_BYTES) {                                                 \
        const cutt_scaled_bytes x = cutt_load_some(src + i, CUTT_VECTOR_BYTES) ^ flip;                                 \
        memcpy(dst + i, &x, CUTT_VECTOR_BYTES);                                                                        \
      }                                                                                                                \
      const cutt_scaled_bytes x = cutt_load_some(src + i, bytes - i) ^ flip;                                           \
      memcpy(dst + i, &x, (size_t)(bytes - i));                                                                        \
    } else if (!s->reads_out) { /* each with constants, so that a loop has no branch */                                \
      if (alpha_complex) complex_run_##name(dst, src, src, bytes, flip, s, true, false, false);                        \
      if (!alpha_complex) complex_run_##name(dst, src, src, bytes, flip, s, false, false, false);                      \
    } else if (alpha_complex) {                                                                                        \
      if (beta_complex) complex_run_##name(dst, src, out, bytes, flip, s, true, true, true);                           \
      if (!beta_complex) complex_run_##name(dst, src, out, bytes, flip, s, true, true, false);                         \
    } else {                                                                                                           \
      if (beta_complex) complex_run_##name(dst, src, out, bytes, flip, s, false, true, true);                          \
      if (!beta_complex) complex_run_##name(dst, src, out, bytes, flip, s, false, true, false);                        \
    }                                                                                                                  \
  }

CUTT_DEFINE_SCALE_COMPLEX(c32, f32, float)
CUTT_DEFINE_SCALE_COMPLEX(c64, f64, double)

static void cutt_scale_run(char *dst, const char *src, const char *out, int64_t n, const cutt_scale *s) {
  const cutt_scalar a = s->alpha, b = s->beta;
  const bool reads = s->reads_out;
  int64_t done = 0;
  switch (s->type) {
    case CUTT_F16:
#if defined(__F16C__)
      done = scale_f16_eights(dst, src, out, n, (float)a.re, (float)b.re, reads);
#endif
      scale_f16(dst + done * 2, src + done * 2, out + done * 2, n - done, (float)a.re, (float)b.re, reads);
      break;
    case CUTT_BF16:
      scale_bf16(dst, src, out, n, (float)a.re, (float)b.re, reads);
      break;
    case CUTT_F32:
      scale_f32(dst, src, out, n, (float)a.re, (float)b.re, reads);
      break;
    case CUTT_F64:
      scale_f64(dst, src, out, n, a.re, b.re, reads);
      break;
    case CUTT_I32:
      scale_i32(dst, src, out, n, (uint32_t)a.i, (uint32_t)b.i, reads);
      break;
    case CUTT_I64:
      scale_i64(dst, src, out, n, (uint64_t)a.i, (uint64_t)b.i, reads);
      break;
    case CUTT_C32:
      scale_c32(dst, src, out, n, s);
      break;
    case CUTT_C64:
      scale_c64(dst, src, out, n, s);
      break;
    default:
      break; /* opaque elements take no scale; the problem's validation has refused it */
  }
}

#endif
