/* Packing, included by kernels.c: pack_4, pack_8 and pack_16 transpose elements of as many bytes (cutt_pass_pack_fn of kernels.h).
 *
 * A vector is assembled from 16 bytes of several places of the source, by loads and without a shuffle, and rounds of interleaving in
 * these 16 bytes leave one column in each vector. Columns that are too few for that are assembled element by element. */
#ifndef CUTT_CONTRACT_KERNELS_PACK_H
#define CUTT_CONTRACT_KERNELS_PACK_H

#include "contract/kernels/part.h"

/* Single elements that are so far apart are asked for, so many of them before they are read; those behind the last one are where
 * a tensor's next ones often are, and asking for what is not there does no harm. */
enum { APART = 256, AHEAD = 16 };

#define PASTED_4(a, b, c, d) a##b##c##d
#define PASTED(a, b, c, d) PASTED_4(a, b, c, d)
#define LANES(bytes) PASTED(cutt_v, CUTT_VECTOR_BYTES, _, bytes)
#define ZIP(half, bytes) PASTED(cutt_zip_##half##_, CUTT_VECTOR_BYTES, _, bytes)
#define LOAD_LANES PASTED(cutt_load_, CUTT_VECTOR_BYTES, , )
typedef LANES(8) packed_lanes;

/* Where a few elements of the source are, of which the last one stands for those that are not there. */
CUTT_INLINE void list_places(int64_t *place, int count, int64_t stride, int64_t here) {
  CUTT_UNROLL for (int k = 0; k < count; ++k) place[k] = (k < here ? k : here - 1) * stride;
}

CUTT_INLINE void keep_column(char *dst, packed_lanes column, int64_t bytes) {
  if (bytes == CUTT_VECTOR_BYTES)
    memcpy(dst, &column, CUTT_VECTOR_BYTES);
  else
    cutt_part_store(dst, (cutt_part)column, bytes);
}

/* Eight columns of as many rows as a vector has numbers of 2 bytes. */
CUTT_INLINE void columns_2(const char *src, const int64_t *place, packed_lanes *column) {
  LANES(2) a[8];
  LANES(4) b[8];
  LANES(8) c[8];
  CUTT_UNROLL for (int k = 0; k < 8; ++k) a[k] = (LANES(2))LOAD_LANES(src, place + k, 8);
  CUTT_UNROLL for (int k = 0; k < 4; ++k) {
    b[2 * k] = (LANES(4))ZIP(lo, 2)(a[2 * k], a[2 * k + 1]);
    b[2 * k + 1] = (LANES(4))ZIP(hi, 2)(a[2 * k], a[2 * k + 1]);
  }
  CUTT_UNROLL for (int k = 0; k < 8; k += 4) {
    CUTT_UNROLL for (int h = 0; h < 2; ++h) {
      c[k + 2 * h] = (LANES(8))ZIP(lo, 4)(b[k + h], b[k + 2 + h]);
      c[k + 2 * h + 1] = (LANES(8))ZIP(hi, 4)(b[k + h], b[k + 2 + h]);
    }
  }
  CUTT_UNROLL for (int k = 0; k < 4; ++k) {
    column[2 * k] = ZIP(lo, 8)(c[k], c[k + 4]);
    column[2 * k + 1] = ZIP(hi, 8)(c[k], c[k + 4]);
  }
}

CUTT_INLINE void columns_4(const char *src, const int64_t *place, packed_lanes *column) {
  LANES(4) row[4];
  CUTT_UNROLL for (int k = 0; k < 4; ++k) row[k] = (LANES(4))LOAD_LANES(src, place + k, 4);
  const packed_lanes a = (packed_lanes)ZIP(lo, 4)(row[0], row[1]), b = (packed_lanes)ZIP(lo, 4)(row[2], row[3]);
  const packed_lanes c = (packed_lanes)ZIP(hi, 4)(row[0], row[1]), d = (packed_lanes)ZIP(hi, 4)(row[2], row[3]);
  column[0] = ZIP(lo, 8)(a, b), column[1] = ZIP(hi, 8)(a, b);
  column[2] = ZIP(lo, 8)(c, d), column[3] = ZIP(hi, 8)(c, d);
}

CUTT_INLINE void columns_8(const char *src, const int64_t *place, packed_lanes *column) {
  const packed_lanes a = LOAD_LANES(src, place, 2), b = LOAD_LANES(src, place + 1, 2);
  column[0] = ZIP(lo, 8)(a, b), column[1] = ZIP(hi, 8)(a, b);
}

#if CUTT_VECTOR_BYTES == 64
/* Four columns of eight rows, from loads of 32 bytes: of half as many as those of 16 are. */
CUTT_INLINE void columns_8_wide(const char *src, const int64_t *place, packed_lanes *column) {
  packed_lanes row[4];
  CUTT_UNROLL for (int k = 0; k < 4; ++k) {
    const char *low = src + place[k / 2 * 4 + k % 2], *high = src + place[k / 2 * 4 + k % 2 + 2];
    const __m256i first = _mm256_loadu_si256((const __m256i *)(const void *)low);
    /* Merging a broadcast load under a mask, as in vectors.h. */
    row[k] = (packed_lanes)_mm512_mask_broadcast_i64x4(_mm512_castsi256_si512(first), 0xf0,
                                                       _mm256_loadu_si256((const __m256i *)(const void *)high));
  }
  const packed_lanes a = ZIP(lo, 8)(row[0], row[1]), b = ZIP(hi, 8)(row[0], row[1]);
  const packed_lanes c = ZIP(lo, 8)(row[2], row[3]), d = ZIP(hi, 8)(row[2], row[3]);
  column[0] = CUTT_SHUFFLE(packed_lanes, a, c, 0, 1, 4, 5, 8, 9, 12, 13);
  column[1] = CUTT_SHUFFLE(packed_lanes, b, d, 0, 1, 4, 5, 8, 9, 12, 13);
  column[2] = CUTT_SHUFFLE(packed_lanes, a, c, 2, 3, 6, 7, 10, 11, 14, 15);
  column[3] = CUTT_SHUFFLE(packed_lanes, b, d, 2, 3, 6, 7, 10, 11, 14, 15);
}
#elif CUTT_VECTOR_BYTES == 32
CUTT_INLINE void columns_8_wide(const char *src, const int64_t *place, packed_lanes *column) {
  packed_lanes row[4];
  CUTT_UNROLL for (int k = 0; k < 4; ++k) memcpy(&row[k], src + place[k], V);
  const packed_lanes a = ZIP(lo, 8)(row[0], row[1]), b = ZIP(hi, 8)(row[0], row[1]);
  const packed_lanes c = ZIP(lo, 8)(row[2], row[3]), d = ZIP(hi, 8)(row[2], row[3]);
  column[0] = CUTT_SHUFFLE(packed_lanes, a, c, 0, 1, 4, 5), column[1] = CUTT_SHUFFLE(packed_lanes, b, d, 0, 1, 4, 5);
  column[2] = CUTT_SHUFFLE(packed_lanes, a, c, 2, 3, 6, 7), column[3] = CUTT_SHUFFLE(packed_lanes, b, d, 2, 3, 6, 7);
}
#else
CUTT_INLINE void columns_8_wide(const char *src, const int64_t *place, packed_lanes *column) {
  columns_8(src, place, column);
  columns_8(src + 16, place, column + 2);
}
#endif

CUTT_INLINE void columns_16(const char *src, const int64_t *place, packed_lanes *column) {
  column[0] = LOAD_LANES(src, place, 1);
}

CUTT_INLINE packed_lanes join_lanes(const cutt_v16_8 *lane) {
#if CUTT_VECTOR_BYTES == 64
  const __m256i low = _mm256_set_m128i((__m128i)lane[1], (__m128i)lane[0]);
  return (packed_lanes)_mm512_inserti64x4(_mm512_castsi256_si512(low),
                                          _mm256_set_m128i((__m128i)lane[3], (__m128i)lane[2]), 1);
#elif CUTT_VECTOR_BYTES == 32
  return (packed_lanes)_mm256_set_m128i((__m128i)lane[1], (__m128i)lane[0]);
#else
  return lane[0];
#endif
}

/* A column alone. */
CUTT_INLINE int32_t word_4(const char *at) {
  int32_t x;
  memcpy(&x, at, sizeof x);
  return x;
}
CUTT_INLINE int64_t word_8(const char *at) {
  int64_t x;
  memcpy(&x, at, sizeof x);
  return x;
}
CUTT_INLINE packed_lanes alone_4(const char *src, const int64_t *place) {
  cutt_v16_8 lane[V / 16];
  CUTT_UNROLL for (int l = 0; l < V / 16; ++l) {
    const int64_t *p = place + 4 * l;
    lane[l] = (cutt_v16_8)(cutt_v16_4){word_4(src + p[0]), word_4(src + p[1]), word_4(src + p[2]), word_4(src + p[3])};
  }
  return join_lanes(lane);
}
CUTT_INLINE packed_lanes alone_8(const char *src, const int64_t *place) {
  cutt_v16_8 lane[V / 16];
  CUTT_UNROLL for (int l = 0; l < V / 16; ++l) lane[l] =
      (cutt_v16_8){word_8(src + place[2 * l]), word_8(src + place[2 * l + 1])};
  return join_lanes(lane);
}
CUTT_INLINE packed_lanes alone_16(const char *src, const int64_t *place) { return LOAD_LANES(src, place, 1); }

/* So many columns at a time, of a block of rows. Where their number is no multiple of it, of the last ones some are packed twice, alike. */
#define DEFINE_PACK_BLOCK(bytes, each, columns_of)                                                                     \
  CUTT_INLINE void pack_block_##bytes##_##each(char *dst, int64_t pitch, const char *src, const int64_t *place,        \
                                               int64_t columns, int64_t part) {                                        \
    for (int64_t next = 0; next < columns; next += (each)) {                                                           \
      const int64_t j = next + (each) <= columns ? next : columns - (each);                                            \
      packed_lanes column[each];                                                                                       \
      columns_of(src + j * (bytes), place, column);                                                                    \
      CUTT_UNROLL for (int k = 0; k < (each); ++k) keep_column(dst + (j + k) * pitch, column[k], part);                \
    }                                                                                                                  \
  }
DEFINE_PACK_BLOCK(4, 4, columns_4)
DEFINE_PACK_BLOCK(8, 2, columns_8)
DEFINE_PACK_BLOCK(8, 4, columns_8_wide)
DEFINE_PACK_BLOCK(16, 1, columns_16)
CUTT_INLINE void pack_rows_4(char *dst, int64_t pitch, const char *src, const int64_t *place, int64_t columns,
                             int64_t part) {
  if (columns >= 4)
    pack_block_4_4(dst, pitch, src, place, columns, part);
  else
    for (int64_t j = 0; j < columns; ++j) keep_column(dst + j * pitch, alone_4(src + j * 4, place), part);
}
CUTT_INLINE void pack_rows_8(char *dst, int64_t pitch, const char *src, const int64_t *place, int64_t columns,
                             int64_t part) {
  if (columns >= 4)
    pack_block_8_4(dst, pitch, src, place, columns, part);
  else if (columns >= 2)
    pack_block_8_2(dst, pitch, src, place, columns, part);
  else
    keep_column(dst, alone_8(src, place), part);
}
CUTT_INLINE void pack_rows_16(char *dst, int64_t pitch, const char *src, const int64_t *place, int64_t columns,
                              int64_t part) {
  pack_block_16_1(dst, pitch, src, place, columns, part);
}

#define DEFINE_PACK(bytes)                                                                                             \
  static void pack_##bytes(char *dst, int64_t pitch, const char *src, int64_t stride, int64_t n, int64_t columns) {    \
    enum { ROWS = V / (bytes) };                                                                                       \
    if (stride == (bytes) && columns == 1) {                                                                           \
      memcpy(dst, src, (size_t)(n * stride));                                                                          \
      return;                                                                                                          \
    }                                                                                                                  \
    const bool apart = columns == 1 && (stride >= APART || stride <= -APART);                                          \
    /* Rows that follow each other closely are read faster than a processor fetches them unasked. */                   \
    const int64_t near = stride > 0 && stride < APART && 2 * columns * (bytes) >= stride ? ROWS * stride : 0;          \
    int64_t place[ROWS];                                                                                               \
    list_places(place, ROWS, stride, ROWS);                                                                            \
    for (int64_t i = 0; i < n; i += ROWS, src += ROWS * stride, dst += V) {                                            \
      const int64_t here = n - i < ROWS ? n - i : ROWS;                                                                \
      if (here < ROWS) list_places(place, ROWS, stride, here);                                                         \
      for (int64_t k = 0; k < ROWS && apart; ++k) __builtin_prefetch(src + (k + AHEAD) * stride);                      \
      for (int64_t k = 0; k < near; k += LINE_BYTES) __builtin_prefetch(src + AHEAD_BYTES + k);                        \
      if (here == ROWS)                                                                                                \
        pack_rows_##bytes(dst, pitch, src, place, columns, V);                                                         \
      else                                                                                                             \
        pack_rows_##bytes(dst, pitch, src, place, columns, here *(bytes));                                             \
    }                                                                                                                  \
  }
DEFINE_PACK(4)
DEFINE_PACK(8)
DEFINE_PACK(16)

#endif
