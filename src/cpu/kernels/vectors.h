/* The few primitives that kernels.c is written in, over GCC/Clang vector types: vectors of 16, 32 and 64 bytes (as wide
 * as the instruction set has), the interleaving of two vectors within their 16-byte lanes, vectors assembled by loads
 * of 16 bytes, and non-temporal stores, which go past the caches. Interleaving within lanes is one instruction of every
 * SIMD set (unpack on x86, zip on Arm); assembling lanes by loads takes no shuffle. */
#ifndef CUTT_CPU_KERNELS_VECTORS_H
#define CUTT_CPU_KERNELS_VECTORS_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define CUTT_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512BW__)
#define CUTT_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define CUTT_VECTOR_BYTES 32
#else
#define CUTT_VECTOR_BYTES 16
#endif

/* The indices for interleaving half a lane of vectors a and b of n elements each, from element l on: a's elements have
 * indices from 0, b's from n. */
#define CUTT_ZIP_2(n, l) (l), (n) + (l)
#define CUTT_ZIP_4(n, l) CUTT_ZIP_2(n, l), CUTT_ZIP_2(n, (l) + 1)
#define CUTT_ZIP_8(n, l) CUTT_ZIP_4(n, l), CUTT_ZIP_4(n, (l) + 2)
#define CUTT_ZIP_16(n, l) CUTT_ZIP_8(n, l), CUTT_ZIP_8(n, (l) + 4)

/* The same for all lanes, of e elements each; half: 0 for the lanes' low halves, e / 2 for the high ones. */
#define CUTT_LANES_16(zip, n, e, half) zip(n, half)
#define CUTT_LANES_32(zip, n, e, half) zip(n, half), zip(n, (e) + (half))
#define CUTT_LANES_64(zip, n, e, half)                                                                                 \
  zip(n, half), zip(n, (e) + (half)), zip(n, 2 * (e) + (half)), zip(n, 3 * (e) + (half))

#if defined(__clang__)
#define CUTT_SHUFFLE(index_type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CUTT_SHUFFLE(index_type, a, b, ...) __builtin_shuffle(a, b, (index_type){__VA_ARGS__})
#endif

/* For an element type T of W bytes and vectors of V bytes: the vector type, and the interleaved low and high halves. */
#define CUTT_DEFINE_ZIP(W, V, T)                                                                                       \
  typedef T cutt_v##V##_##W __attribute__((vector_size(V)));                                                           \
  CUTT_INLINE cutt_v##V##_##W cutt_zip_lo_##V##_##W(cutt_v##V##_##W a, cutt_v##V##_##W b) {                            \
    return CUTT_SHUFFLE(cutt_v##V##_##W, a, b, CUTT_LANES_##V(CUTT_ZIP_FOR_##W, V / W, 16 / W, 0));                    \
  }                                                                                                                    \
  CUTT_INLINE cutt_v##V##_##W cutt_zip_hi_##V##_##W(cutt_v##V##_##W a, cutt_v##V##_##W b) {                            \
    return CUTT_SHUFFLE(cutt_v##V##_##W, a, b, CUTT_LANES_##V(CUTT_ZIP_FOR_##W, V / W, 16 / W, 8 / W));                \
  }
#define CUTT_ZIP_FOR_8 CUTT_ZIP_2
#define CUTT_ZIP_FOR_4 CUTT_ZIP_4
#define CUTT_ZIP_FOR_2 CUTT_ZIP_8
#define CUTT_ZIP_FOR_1 CUTT_ZIP_16

#define CUTT_DEFINE_ZIPS(V)                                                                                            \
  CUTT_DEFINE_ZIP(1, V, int8_t)                                                                                        \
  CUTT_DEFINE_ZIP(2, V, int16_t)                                                                                       \
  CUTT_DEFINE_ZIP(4, V, int32_t)                                                                                       \
  CUTT_DEFINE_ZIP(8, V, int64_t)

CUTT_DEFINE_ZIPS(16)
#if CUTT_VECTOR_BYTES >= 32
CUTT_DEFINE_ZIPS(32)
#endif
#if CUTT_VECTOR_BYTES >= 64
CUTT_DEFINE_ZIPS(64)
#endif

/* A vector by loads of 16 bytes: lane j comes from src + row[j * step]. */
CUTT_INLINE cutt_v16_8 cutt_load_16(const char *src, const int64_t *row, int step) {
  (void)step;
  cutt_v16_8 v;
  memcpy(&v, src + row[0], 16);
  return v;
}

#if CUTT_VECTOR_BYTES >= 32
CUTT_INLINE cutt_v32_8 cutt_load_32(const char *src, const int64_t *row, int step) {
  __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(src + row[0])));
  return (cutt_v32_8)_mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(const void *)(src + row[step])), 1);
}
#endif
#if CUTT_VECTOR_BYTES >= 64
CUTT_INLINE cutt_v64_8 cutt_load_64(const char *src, const int64_t *row, int step) {
  __m512i v = _mm512_castsi256_si512((__m256i)cutt_load_32(src, row, step));
  /* Merging a broadcast load under a mask needs no shuffle port, which a plain 512-bit lane insert does. */
  v = _mm512_mask_broadcast_i64x2(v, 0x30, _mm_loadu_si128((const __m128i *)(const void *)(src + row[2 * step])));
  v = _mm512_mask_broadcast_i64x2(v, 0xc0, _mm_loadu_si128((const __m128i *)(const void *)(src + row[3 * step])));
  return (cutt_v64_8)v;
}
#endif

#if CUTT_VECTOR_BYTES >= 64
/* 64 bytes to memory: past the caches, for which they are a line, or through them to anywhere. */
CUTT_INLINE void cutt_put_64(bool past, char *to, __m512i v) {
  if (past) {
    _mm512_stream_si512((void *)to, v);
  } else {
    _mm512_storeu_si512((void *)to, v);
  }
}

/* Are there permutes by elements of w bytes? Those of bytes are VBMI's. */
#if defined(__AVX512VBMI__)
#define CUTT_PERMUTES(w) ((w) >= 1)
#else
#define CUTT_PERMUTES(w) ((w) >= 2)
#endif

/* Picks elements of w bytes from two registers: index i < 64 / w is in low, the others in high. */
CUTT_INLINE __m512i cutt_permute(int w, __m512i low, __m512i index, __m512i high) {
#if defined(__AVX512VBMI__)
  if (w == 1) return _mm512_permutex2var_epi8(low, index, high);
#endif
  return w == 2   ? _mm512_permutex2var_epi16(low, index, high)
         : w == 4 ? _mm512_permutex2var_epi32(low, index, high)
                  : _mm512_permutex2var_epi64(low, index, high);
}

/* Offsets in a line are multiples of the element, or of 8 bytes for one of 16; so permutes are by elements of this
 * width. */
CUTT_INLINE int cutt_permute_width(int w) { return w < 8 ? w : 8; }

/* Indices of consecutive elements, the first one given. */
CUTT_INLINE __m512i cutt_indices_from(int w, int64_t first) {
  typedef int8_t chars __attribute__((vector_size(64)));
  typedef int16_t shorts __attribute__((vector_size(64)));
  typedef int32_t ints __attribute__((vector_size(64)));
  typedef int64_t longs __attribute__((vector_size(64)));
  const shorts i16 = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const ints i32 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const longs i64 = {0, 1, 2, 3, 4, 5, 6, 7};
  const chars i8 = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
                    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  if (w == 1) return (__m512i)(i8 + (int8_t)first);
  return w == 2 ? (__m512i)(i16 + (int16_t)first) : w == 4 ? (__m512i)(i32 + (int32_t)first) : (__m512i)(i64 + first);
}
#endif

#if CUTT_VECTOR_BYTES < 64 && (defined(__AVX2__) || defined(__aarch64__))
#define CUTT_SHUFFLES_BYTES
/* Picks bytes from 16; an index of 128 picks a zero. */
CUTT_INLINE cutt_v16_8 cutt_shuffle_bytes(cutt_v16_8 v, cutt_v16_8 index) {
#if defined(__AVX2__)
  return (cutt_v16_8)_mm_shuffle_epi8((__m128i)v, (__m128i)index);
#else
  return (cutt_v16_8)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)index);
#endif
}
#endif

/* A non-temporal store of one aligned 64-byte line. */
CUTT_INLINE void cutt_store_line(char *dst, const char *src) {
#if defined(__AVX512F__)
  _mm512_stream_si512((void *)dst, _mm512_loadu_si512((const void *)src));
#elif defined(__AVX2__)
  _mm256_stream_si256((__m256i *)(void *)dst, _mm256_loadu_si256((const __m256i *)(const void *)src));
  _mm256_stream_si256((__m256i *)(void *)(dst + 32), _mm256_loadu_si256((const __m256i *)(const void *)(src + 32)));
#elif defined(__SSE2__)
  for (int i = 0; i < 64; i += 16) {
    _mm_stream_si128((__m128i *)(void *)(dst + i), _mm_loadu_si128((const __m128i *)(const void *)(src + i)));
  }
#elif defined(__aarch64__)
  for (int i = 0; i < 64; i += 32) {
    cutt_v16_8 a, b;
    memcpy(&a, src + i, 16);
    memcpy(&b, src + i + 16, 16);
    __asm__ volatile("stnp %q0, %q1, [%2]" : : "w"(a), "w"(b), "r"(dst + i) : "memory");
  }
#else
  memcpy(dst, src, 64);
#endif
}

#if CUTT_VECTOR_BYTES >= 64
/* The last `lead` bytes of carried, and the first of then: of elements of w bytes, of which `lead` is a multiple, but for elements of 16 of 8. */
CUTT_INLINE __m512i cutt_joined(int w, int64_t lead, __m512i carried, __m512i then) {
  const int64_t from = 64 - lead;
  if (CUTT_PERMUTES(w)) {
    const int width = cutt_permute_width(w);
    return cutt_permute(width, carried, cutt_indices_from(width, from / width), then);
  }
  /* Bytes without a permute: words of 8 bytes, and shifts of bits. */
  const __m512i low = cutt_permute(8, carried, cutt_indices_from(8, from / 8), then);
  const __m512i high = cutt_permute(8, carried, cutt_indices_from(8, from / 8 + 1), then);
  const __m512i right = _mm512_set1_epi64(from % 8 * 8), left = _mm512_set1_epi64(64 - from % 8 * 8);
  return _mm512_or_si512(_mm512_srlv_epi64(low, right), _mm512_sllv_epi64(high, left));
}
#endif

/* A non-temporal store of the line that has these: see cutt_joined. */
CUTT_INLINE void cutt_store_joined(int w, char *line, int64_t lead, const char *before, const char *now) {
#if CUTT_VECTOR_BYTES >= 64
  _mm512_stream_si512((void *)line, cutt_joined(w, lead, _mm512_loadu_si512((const void *)before),
                                                _mm512_loadu_si512((const void *)now)));
#else
  enum { LINE = 64 };
  (void)w;
  if (lead == 0) {
    cutt_store_line(line, now);
    return;
  }
  char both[2 * LINE];
  memcpy(both, before, LINE);
  memcpy(both + LINE, now, LINE);
  cutt_store_line(line, both + LINE - lead);
#endif
}

/* Orders non-temporal stores before what follows, such as handing the result to another thread: nothing else does. */
CUTT_INLINE void cutt_store_fence(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

#endif
