/* The copy of every second to fourth element: as many loads of whole vectors as lie between two of the output, and one permute of two
 * registers less; and of all elements, backwards. A header of kernels.c, for AVX-512 (1-byte elements with VBMI) and AVX2. */
#ifndef CUTT_CPU_KERNELS_SKIP_H
#define CUTT_CPU_KERNELS_SKIP_H

#include "cpu/kernels/copy.h"

/* n elements one by one. */
CUTT_INLINE void skip_elements(int w, char *dst, const char *src, int64_t n, int64_t step) {
  for (int64_t k = 0; k < n; ++k) memcpy(dst + k * w, src + k * step * w, (size_t)w);
}

/* The same of a vector's elements to a vector on the stack, which stands for one behind which there is nothing to be read. */
CUTT_INLINE const char *skip_apart(int w, char *vector, const char *src, int64_t step) {
  skip_elements(w, vector, src, CUTT_VECTOR_BYTES / w, step);
  return vector;
}

/* Elements before the first whole line, of n, where stores go past the caches. */
CUTT_INLINE int64_t skip_head(int w, const char *dst, int64_t n, bool past) {
  const int64_t head = past ? (int64_t)(-(uintptr_t)dst & 63) / w : 0;
  return head < n ? head : n;
}

#if CUTT_VECTOR_BYTES >= 64
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
  if (past && n - k == per) { /* a line that is written in part would be read */
    char last[64];
    cutt_put_64(past, dst + k * w, _mm512_loadu_si512((const void *)skip_apart(w, last, src + k * step * w, step)));
    return;
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

#else

/* Every second element of two registers. */
CUTT_INLINE __m256i even(int w, __m256i a, __m256i b) {
  enum { IN_ORDER = 0xD8 }; /* of halves of lanes, which come by turns */
  __m256i v = _mm256_unpacklo_epi64(a, b);
  if (w == 4) v = _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
  if (w < 4) {
    const __m256i first = w == 1 ? _mm256_set1_epi16(0xFF) : _mm256_set1_epi32(0xFFFF);
    a = _mm256_and_si256(a, first);
    b = _mm256_and_si256(b, first);
    v = w == 1 ? _mm256_packus_epi16(a, b) : _mm256_packus_epi32(a, b);
  }
  return _mm256_permute4x64_epi64(v, IN_ORDER);
}

/* Constants for elements of w bytes, byte by byte: where byte i of every third element of three registers comes from in the one that they are put
 * into, and where backwards; what of that is in the same lane, and in the other one; and is it the second register's, or the third's? */
#define SKIP_THIRD(w, i) (3 * ((i) / (w)) % (32 / (w)) * (w) + (i) % (w))
#define SKIP_BACK(w, i) ((32 / (w)-1 - (i) / (w)) * (w) + (i) % (w))
#define SKIP_NEAR(byte, i) ((byte) / 16 == (i) / 16 ? (byte) % 16 : 0x80)
#define SKIP_FAR(byte, i) ((byte) / 16 == (i) / 16 ? 0x80 : (byte) % 16)
#define SKIP_NEAR_THIRD(w, i) SKIP_NEAR(SKIP_THIRD(w, i), i)
#define SKIP_FAR_THIRD(w, i) SKIP_FAR(SKIP_THIRD(w, i), i)
#define SKIP_NEAR_BACK(w, i) SKIP_NEAR(SKIP_BACK(w, i), i)
#define SKIP_FAR_BACK(w, i) SKIP_FAR(SKIP_BACK(w, i), i)
#define SKIP_REGISTER(w, i) ((i) / (w) * (32 / (w) % 3 == 2 ? 1 : 2) % 3)
#define SKIP_OF_SECOND(w, i) (SKIP_REGISTER(w, i) == 1 ? 0xFF : 0)
#define SKIP_OF_THIRD(w, i) (SKIP_REGISTER(w, i) == 2 ? 0xFF : 0)
#define SKIP_8(F, w, i)                                                                                                \
  F(w, i), F(w, i + 1), F(w, i + 2), F(w, i + 3), F(w, i + 4), F(w, i + 5), F(w, i + 6), F(w, i + 7)
#define SKIP_TABLE(F, w)                                                                                               \
  { SKIP_8(F, w, 0), SKIP_8(F, w, 8), SKIP_8(F, w, 16), SKIP_8(F, w, 24) }
#define SKIP_TABLES(F)                                                                                                 \
  { SKIP_TABLE(F, 1), SKIP_TABLE(F, 2), SKIP_TABLE(F, 4), SKIP_TABLE(F, 8) }

enum { NEAR_THIRD, FAR_THIRD, NEAR_BACK, FAR_BACK, OF_SECOND, OF_THIRD };
static const uint8_t skip_table[][4][32] = {SKIP_TABLES(SKIP_NEAR_THIRD), SKIP_TABLES(SKIP_FAR_THIRD),
                                            SKIP_TABLES(SKIP_NEAR_BACK),  SKIP_TABLES(SKIP_FAR_BACK),
                                            SKIP_TABLES(SKIP_OF_SECOND),  SKIP_TABLES(SKIP_OF_THIRD)};

CUTT_INLINE __m256i load_32(const char *src) { return _mm256_loadu_si256((const void *)src); }

CUTT_INLINE __m256i table(int kind, int w) {
  return load_32((const char *)skip_table[kind][w == 1 ? 0 : w == 2 ? 1 : w == 4 ? 2 : 3]);
}

/* A permutation of a register: of numbers of 4 bytes, or of bytes from the same lane and from the other one. */
typedef struct permutation {
  __m256i near, far;
} permutation;

CUTT_INLINE permutation permutation_of(int w, bool backwards) {
  const __m256i up = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5), down = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
  const __m256i up_8 = _mm256_setr_epi32(0, 1, 6, 7, 4, 5, 2, 3), down_8 = _mm256_setr_epi32(6, 7, 4, 5, 2, 3, 0, 1);
  const __m256i down_16 = _mm256_setr_epi32(4, 5, 6, 7, 0, 1, 2, 3);
  if (w < 4) {
    const permutation bytes = {table(backwards ? NEAR_BACK : NEAR_THIRD, w),
                               table(backwards ? FAR_BACK : FAR_THIRD, w)};
    return bytes;
  }
  const __m256i order = w == 16 ? down_16 : w == 8 ? (backwards ? down_8 : up_8) : backwards ? down : up;
  const permutation numbers = {order, order};
  return numbers;
}

CUTT_INLINE __m256i permute(int w, __m256i v, const permutation *p) {
  if (w >= 4) return _mm256_permutevar8x32_epi32(v, p->near);
  const __m256i other = _mm256_permute2x128_si256(v, v, 1);
  return _mm256_or_si256(_mm256_shuffle_epi8(v, p->near), _mm256_shuffle_epi8(other, p->far));
}

CUTT_INLINE void put_32(bool past, char *dst, __m256i v) {
  if (past)
    _mm256_stream_si256((void *)dst, v);
  else
    _mm256_storeu_si256((void *)dst, v);
}

/* Of three registers every third element is in a place of its own, so that they are put into one, and permuted there. */
typedef struct thirds {
  __m256i second, third; /* bytes of those registers */
  permutation order;
} thirds;

CUTT_INLINE thirds thirds_of(int w) {
  const thirds t = {table(OF_SECOND, w), table(OF_THIRD, w), permutation_of(w, false)};
  return t;
}

/* One vector of every second to fourth element. */
CUTT_INLINE __m256i skip_vector(int w, int step, const char *from, const thirds *t) {
  const __m256i a = load_32(from), b = load_32(from + 32);
  if (step == 2) return even(w, a, b);
  const __m256i c = load_32(from + 64);
  if (step == 3) return permute(w, _mm256_blendv_epi8(_mm256_blendv_epi8(a, b, t->second), c, t->third), &t->order);
  return even(w, even(w, a, b), even(w, c, load_32(from + 96)));
}

/* See cutt_cpu_skip_fn, and skip above for wider registers. */
CUTT_INLINE void skip(int w, int step, char *dst, const char *src, int64_t n, bool past) {
  const int64_t per = 32 / w;
  const thirds t = thirds_of(w);
  int64_t k = skip_head(w, dst, n, past);
  skip_elements(w, dst, src, k, step);
  for (; k + per < n; k += per) put_32(past, dst + k * w, skip_vector(w, step, src + k * step * w, &t));
  if (past && n - k == per) {
    char last[32];
    put_32(past, dst + k * w, load_32(skip_apart(w, last, src + k * step * w, step)));
    return;
  }
  skip_elements(w, dst + k * w, src + k * step * w, n - k, step);
}

/* The same for a step of -1. */
CUTT_INLINE void back(int w, char *dst, const char *src, int64_t n, bool past) {
  const int64_t per = 32 / w;
  const permutation order = permutation_of(w, true);
  int64_t k = skip_head(w, dst, n, past);
  skip_elements(w, dst, src, k, -1);
  for (; k + per <= n; k += per) put_32(past, dst + k * w, permute(w, load_32(src - (k + per - 1) * w), &order));
  skip_elements(w, dst + k * w, src - k * w, n - k, -1);
}

#endif

#define CUTT_DEFINE_SKIP(W)                                                                                            \
  static void skip_##W(char *dst, const char *src, int64_t n, int64_t step, bool past) {                               \
    if (step == -W) back(W, dst, src, n, past);                                                                        \
    if (step == 2 * W) skip(W, 2, dst, src, n, past);                                                                  \
    if (step == 3 * W) skip(W, 3, dst, src, n, past);                                                                  \
    if (step == 4 * W) skip(W, 4, dst, src, n, past);                                                                  \
  }
#if CUTT_VECTOR_BYTES < 64 || defined(__AVX512VBMI__)
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
