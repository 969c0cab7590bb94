/* What elementwise operations that turn operands in registers (turn_type.h) do alike for all types, included by kernels.c for AVX-512:
 * lines of the result out of vectors that begin anywhere in them, as the permutation's kernels of columns make them
 * (cpu/kernels/shift.h), and vectors of a turned operand. */
#ifndef CUTT_CONTRACT_KERNELS_TURN_H
#define CUTT_CONTRACT_KERNELS_TURN_H

#include "contract/kernels/pack.h"

/* What is asked for ahead: of rows, and of a turned operand for all rows of a tile together. */
enum { TURN_ROW_AHEAD = 512, TURN_AHEAD = 4096 };
_Static_assert(TURN_AHEAD / (CUTT_TURN_LEAST * 2) + 2 * 32 <= CUTT_TURN_BEHIND,
               "places of what is asked for are not in tables");

/* Eight columns of 32 rows of 2 bytes. */
CUTT_INLINE void columns_2(const char *src, const int64_t *place, packed_lanes *column) {
  cutt_v64_2 a[8];
  cutt_v64_4 b[8];
  cutt_v64_8 c[8];
  CUTT_UNROLL for (int k = 0; k < 8; ++k) a[k] = (cutt_v64_2)cutt_load_64(src, place + k, 8);
  CUTT_UNROLL for (int k = 0; k < 4; ++k) {
    b[2 * k] = (cutt_v64_4)cutt_zip_lo_64_2(a[2 * k], a[2 * k + 1]);
    b[2 * k + 1] = (cutt_v64_4)cutt_zip_hi_64_2(a[2 * k], a[2 * k + 1]);
  }
  CUTT_UNROLL for (int k = 0; k < 8; k += 4) {
    CUTT_UNROLL for (int h = 0; h < 2; ++h) {
      c[k + 2 * h] = (cutt_v64_8)cutt_zip_lo_64_4(b[k + h], b[k + 2 + h]);
      c[k + 2 * h + 1] = (cutt_v64_8)cutt_zip_hi_64_4(b[k + h], b[k + 2 + h]);
    }
  }
  CUTT_UNROLL for (int k = 0; k < 4; ++k) {
    column[2 * k] = cutt_zip_lo_64_8(c[k], c[k + 4]);
    column[2 * k + 1] = cutt_zip_hi_64_8(c[k], c[k + 4]);
  }
}

/* A line of as many columns as a group has rows, each a vector; w: bytes of an element. */
CUTT_INLINE void turn_columns(int w, const char *src, const int64_t *place, packed_lanes *column) {
  if (w == 2) columns_2(src, place, column);
  if (w == 4) columns_4(src, place, column);
  if (w == 8) columns_8_wide(src, place, column);
  CUTT_UNROLL for (int k = 0; k < 4; ++k) {
    if (w == 16) columns_16(src + k * w, place, column + k);
  }
}

/* Indices of as many elements as a vector has, of min(w, 8) bytes, from this one on. */
CUTT_INLINE __m512i turn_indices(int w, int64_t first) {
  typedef int16_t shorts __attribute__((vector_size(64)));
  typedef int32_t ints __attribute__((vector_size(64)));
  typedef int64_t longs __attribute__((vector_size(64)));
  const shorts i16 = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const ints i32 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const longs i64 = {0, 1, 2, 3, 4, 5, 6, 7};
  return w == 2 ? (__m512i)(i16 + (int16_t)first) : w == 4 ? (__m512i)(i32 + (int32_t)first) : (__m512i)(i64 + first);
}

/* 64 bytes of a row past the caches. carry: the 64 bytes before them, and afterwards they themselves. begins: what is before in their
 * line belongs to others. */
CUTT_INLINE void turn_put(int w, char *to, __m512i now, char *carry, bool begins) {
  const int64_t lead = (int64_t)((uintptr_t)to % 64), width = w < 8 ? w : 8;
  if (begins && lead) {
    memcpy(to, &now, (size_t)(64 - lead));
  } else {
    const __m512i before = _mm512_load_si512((const void *)carry);
    _mm512_stream_si512((void *)(to - lead),
                        cutt_permute((int)width, before, turn_indices(w, (64 - lead) / width), now));
  }
  _mm512_store_si512((void *)carry, now);
}

/* Fewer of them, at the end of what a tile has of a row. */
static void turn_put_part(char *to, __m512i now, int64_t bytes, char *carry, bool begins) {
  _Alignas(64) char both[128];
  const int64_t lead = (int64_t)((uintptr_t)to % 64);
  memcpy(both, carry, 64);
  memcpy(both + 64, &now, 64);
  if (lead + bytes >= 64) {
    if (begins)
      memcpy(to, both + 64, (size_t)(64 - lead));
    else
      cutt_store_line(to - lead, both + 64 - lead);
  }
  memcpy(carry, both + bytes, 64);
}

/* The end of a row, of which `bytes` were written: what is in a line that others have a part of, too. */
static void turn_end(char *end, const char *carry, int64_t bytes) {
  int64_t left = (int64_t)((uintptr_t)end % 64);
  if (left > bytes) left = bytes;
  memcpy(end - left, carry + 64 - left, (size_t)left);
}

#endif
