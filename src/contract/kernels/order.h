/* Maxima and minima of vectors, included by operators.h: DEFINE_ORDER(NAME) defines max_NAME(a, x) and min_NAME(a, x) for f32, f64,
 * i32 and i64. It is x where x is a NaN or beyond a, else a: found by comparing, or by the processor's own instructions, of which
 * each waits only for the one before.
 *
 * Those of x86 give their second operand where both are equal, zeros of either sign among them, and where one is a NaN (Intel's
 * Software Developer's Manual, MAXPD). So a is the second. */
#ifndef CUTT_CONTRACT_KERNELS_ORDER_H
#define CUTT_CONTRACT_KERNELS_ORDER_H

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define OR_NAN_f32(x) | ((x) != (x))
#define OR_NAN_f64(x) | ((x) != (x))
#define OR_NAN_i32(x)
#define OR_NAN_i64(x)
#define BY_COMPARING(op, beyond, name)                                                                                 \
  CUTT_INLINE vector_##name op##_##name(vector_##name a, vector_##name x) {                                            \
    const compared_##name before = (compared_##name)a, now = (compared_##name)x;                                       \
    return pick_##name((whole_##name)((now beyond before)OR_NAN_##name(now)), a, x);                                   \
  }
/* I: whole numbers as wide as the type's; C: what these are compared as. */
#define BOTH_BY_COMPARING(name, I, C)                                                                                  \
  typedef I whole_##name __attribute__((vector_size(V)));                                                              \
  typedef C compared_##name __attribute__((vector_size(V)));                                                           \
  CUTT_INLINE vector_##name pick_##name(whole_##name taken, vector_##name a, vector_##name x) {                        \
    return (vector_##name)(((whole_##name)x & taken) | ((whole_##name)a & ~taken));                                    \
  }                                                                                                                    \
  BY_COMPARING(max, >, name)                                                                                           \
  BY_COMPARING(min, <, name)

/* BEST(s, op, a, x): `op`, max or min, of vectors that x86's intrinsics call s. BEST_OR_NAN(s, best, x): best, or x where that is a
 * NaN. */
#if defined(__AVX512F__) && CUTT_VECTOR_BYTES == 64
#define WORD_ps __m512
#define WORD_pd __m512d
#define BEST(s, op, a, x) _mm512_##op##_##s(x, a)
#define BEST_OR_NAN(s, best, x) _mm512_mask_mov_##s(best, _mm512_cmp_##s##_mask(x, x, _CMP_UNORD_Q), x)
#elif defined(__AVX2__) && CUTT_VECTOR_BYTES == 32
#define WORD_ps __m256
#define WORD_pd __m256d
#define BEST(s, op, a, x) _mm256_##op##_##s(x, a)
#define BEST_OR_NAN(s, best, x) _mm256_blendv_##s(best, x, _mm256_cmp_##s(x, x, _CMP_UNORD_Q))
#elif defined(__SSE2__) && CUTT_VECTOR_BYTES == 16
#define WORD_ps __m128
#define WORD_pd __m128d
#define BEST(s, op, a, x) _mm_##op##_##s(x, a)
#define BEST_OR_NAN(s, best, x)                                                                                        \
  _mm_or_##s(_mm_and_##s(_mm_cmpunord_##s(x, x), x), _mm_andnot_##s(_mm_cmpunord_##s(x, x), best))
#endif

#if defined(BEST)
#define BY_X86(op, name, s)                                                                                            \
  CUTT_INLINE vector_##name op##_##name(vector_##name a, vector_##name x) {                                            \
    const WORD_##s before = (WORD_##s)a, now = (WORD_##s)x, best = BEST(s, op, before, now);                           \
    return (vector_##name)BEST_OR_NAN(s, best, now);                                                                   \
  }
#define DEFINE_ORDER_f32 BY_X86(max, f32, ps) BY_X86(min, f32, ps)
#define DEFINE_ORDER_f64 BY_X86(max, f64, pd) BY_X86(min, f64, pd)
#else
#define DEFINE_ORDER_f32 BOTH_BY_COMPARING(f32, int32_t, float)
#define DEFINE_ORDER_f64 BOTH_BY_COMPARING(f64, int64_t, double)
#endif

#if defined(__AVX512F__) && CUTT_VECTOR_BYTES == 64
#define WHOLE_BY_X86(op, name, s)                                                                                      \
  CUTT_INLINE vector_##name op##_##name(vector_##name a, vector_##name x) {                                            \
    return (vector_##name)BEST(s, op, (__m512i)a, (__m512i)x);                                                         \
  }
#define DEFINE_ORDER_i32 WHOLE_BY_X86(max, i32, epi32) WHOLE_BY_X86(min, i32, epi32)
#define DEFINE_ORDER_i64 WHOLE_BY_X86(max, i64, epi64) WHOLE_BY_X86(min, i64, epi64)
#else
#define DEFINE_ORDER_i32 BOTH_BY_COMPARING(i32, int32_t, int32_t)
#define DEFINE_ORDER_i64 BOTH_BY_COMPARING(i64, int64_t, int64_t)
#endif

#define DEFINE_ORDER(name) DEFINE_ORDER_##name

#endif
