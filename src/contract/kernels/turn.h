/* What elementwise operations that turn operands in registers (turn_type.h) do alike for all types, included by kernels.c: lines of the
 * result out of vectors that begin anywhere in them, and vectors of a turned operand. */
#ifndef CUTT_CONTRACT_KERNELS_TURN_H
#define CUTT_CONTRACT_KERNELS_TURN_H

#include "contract/kernels/pack.h"

/* What is asked for ahead: of rows, and of a turned operand for all rows of a tile together. */
enum { TURN_ROW_AHEAD = 512, TURN_AHEAD = 4096 };
_Static_assert(TURN_AHEAD / (CUTT_TURN_LEAST * 2) + 2 * 32 <= CUTT_TURN_BEHIND,
               "places of what is asked for are not in tables");

/* A line's vectors; and rows that are turned together, at most. */
enum { TURN_PARTS = LINE_BYTES / V, TURN_MOST = 8 };
typedef struct turn_line {
  packed_lanes part[TURN_PARTS];
} turn_line;

#define TURN_TAKEN_4 -1, -1, -1, -1
#define TURN_TAKEN_16 TURN_TAKEN_4, TURN_TAKEN_4, TURN_TAKEN_4, TURN_TAKEN_4
#define TURN_TAKEN_64 TURN_TAKEN_16, TURN_TAKEN_16, TURN_TAKEN_16, TURN_TAKEN_16

#if CUTT_VECTOR_BYTES == 32
/* Of a vector, all lanes of 4 bytes that lie before a place, which may be beyond it. */
CUTT_INLINE __m256i turn_lanes_before(int64_t bytes) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(bytes / 4)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

/* Those of the first bytes, up to 32, that are there, without a call. */
CUTT_INLINE void turn_copy(char *to, const char *from, int64_t bytes) {
  int64_t at = 0;
  CUTT_UNROLL for (int size = 32; size >= 2; size /= 2) {
    if (!(bytes & size)) continue;
    memcpy(to + at, from + at, (size_t)size);
    at += size;
  }
}

/* Of a line of memory, of elements of w bytes, the bytes from one to before another, which alone are read or written. */
#if CUTT_VECTOR_BYTES == 64
CUTT_INLINE __mmask32 turn_mask(int64_t from, int64_t to) {
  return (UINT32_MAX >> (32 - to / 2)) & (UINT32_MAX << (from / 2));
}
CUTT_INLINE turn_line turn_load_part(int w, const char *line, int64_t from, int64_t to) {
  (void)w;
  return (turn_line){{(packed_lanes)_mm512_maskz_loadu_epi16(turn_mask(from, to), line)}};
}
CUTT_INLINE void turn_store_part(int w, char *line, const turn_line *now, int64_t from, int64_t to) {
  (void)w;
  _mm512_mask_storeu_epi16(line, turn_mask(from, to), (__m512i)now->part[0]);
}
#else
CUTT_INLINE turn_line turn_load_part(int w, const char *line, int64_t from, int64_t to) {
  turn_line now = {0};
#if CUTT_VECTOR_BYTES == 32
  CUTT_UNROLL for (int p = 0; p < TURN_PARTS && w > 2; ++p) {
    const __m256i here = _mm256_andnot_si256(turn_lanes_before(from - p * V), turn_lanes_before(to - p * V));
    now.part[p] = (packed_lanes)_mm256_maskload_epi32((const int *)(const void *)(line + p * V), here);
  }
  if (w > 2) return now;
#endif
  (void)w;
  turn_copy((char *)&now + from, line + from, to - from);
  return now;
}
CUTT_INLINE void turn_store_part(int w, char *line, const turn_line *now, int64_t from, int64_t to) {
  (void)w;
  turn_copy(line + from, (const char *)now + from, to - from);
}
#endif

/* A line whose first bytes are those of `before`. */
CUTT_INLINE turn_line turn_joined(const char *before, const turn_line *now, int64_t bytes) {
  static const int8_t taken[2 * LINE_BYTES] = {TURN_TAKEN_64};
  turn_line all;
  CUTT_UNROLL for (int p = 0; p < TURN_PARTS; ++p) {
    packed_lanes first, mask;
    memcpy(&first, before + p * V, V);
    memcpy(&mask, taken + LINE_BYTES - bytes + p * V, V);
    all.part[p] = (first & mask) | (now->part[p] & ~mask);
  }
  return all;
}

/* The beginning of the line at `at`, for who goes on there. */
CUTT_INLINE void turn_keep(cutt_combine_edge *edge, char *at, const turn_line *line, int64_t bytes) {
  CUTT_UNROLL for (int p = 0; p < TURN_PARTS; ++p) memcpy(edge->line + p * V, &line->part[p], V);
  edge->at = at;
  edge->bytes = bytes;
}

/* A line of each of `rows` rows, 8 of elements of 2 bytes, else 4, with as many places as a line has elements; w: bytes of one. */
CUTT_INLINE void turn_columns(int w, int rows, const char *src, const int64_t *place, turn_line *line) {
  CUTT_UNROLL for (int p = 0; p < TURN_PARTS; ++p) {
    packed_lanes column[TURN_MOST];
    const int64_t *own = place + p * (V / w);
    if (w == 2) columns_2(src, own, column);
    if (w == 4) columns_4(src, own, column);
    if (w == 8) columns_8_wide(src, own, column);
    CUTT_UNROLL for (int k = 0; k < 4; ++k) {
      if (w == 16) columns_16(src + k * w, own, column + k);
    }
    CUTT_UNROLL for (int k = 0; k < rows; ++k) line[k].part[p] = column[k];
  }
}

/* The whole line, past the caches, in which the 64 bytes at `to` begin: its first `lead` bytes are the last of those before. */
CUTT_INLINE void turn_join(int w, char *to, int64_t lead, const char *before, const turn_line *now) {
#if CUTT_VECTOR_BYTES == 32
  /* Of lanes of 4 bytes by turning each vector, and taking the first ones of the one before: in memory, what is loaded waits for what has
   * just been stored. */
  if (w > 2) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), first = _mm256_set1_epi32((int)(lead % V / 4));
    const __m256i index = _mm256_sub_epi32(lanes, first), kept = _mm256_cmpgt_epi32(first, lanes);
    const __m256i *low = (const __m256i *)(const void *)before;
    __m256i part[3] = {_mm256_loadu_si256(low + 1), (__m256i)now->part[0], (__m256i)now->part[1]};
    if (lead >= V) part[2] = part[1], part[1] = part[0], part[0] = _mm256_loadu_si256(low);
    CUTT_UNROLL for (int p = 0; p < 3; ++p) part[p] = _mm256_permutevar8x32_epi32(part[p], index);
    _mm256_stream_si256((__m256i *)(void *)(to - lead), _mm256_blendv_epi8(part[1], part[0], kept));
    _mm256_stream_si256((__m256i *)(void *)(to - lead + V), _mm256_blendv_epi8(part[2], part[1], kept));
    return;
  }
#endif
  cutt_store_joined(w, to - lead, lead, before, (const char *)now);
}

/* 64 bytes of a row past the caches. carry: the 64 bytes before them, and afterwards they themselves. begins: what is before in their
 * line belongs to others. */
CUTT_INLINE void turn_put(int w, char *to, const turn_line *now, char *carry, bool begins) {
  const int64_t lead = (int64_t)((uintptr_t)to % LINE_BYTES);
  if (begins && lead)
    memcpy(to, now, (size_t)(LINE_BYTES - lead));
  else
    turn_join(w, to, lead, carry, now);
  CUTT_UNROLL for (int p = 0; p < TURN_PARTS; ++p) memcpy(carry + p * V, &now->part[p], V);
}

/* Fewer of them, at the end of what a tile has of a row. */
static void turn_put_part(char *to, const turn_line *now, int64_t bytes, char *carry, bool begins) {
  char both[2 * LINE_BYTES];
  const int64_t lead = (int64_t)((uintptr_t)to % LINE_BYTES);
  memcpy(both, carry, LINE_BYTES);
  memcpy(both + LINE_BYTES, now, LINE_BYTES);
  if (lead + bytes >= LINE_BYTES) {
    if (begins)
      memcpy(to, both + LINE_BYTES, (size_t)(LINE_BYTES - lead));
    else
      cutt_store_line(to - lead, both + LINE_BYTES - lead);
  }
  memcpy(carry, both + bytes, LINE_BYTES);
}

/* The end of a row, of which `bytes` were written: what is in a line that others have a part of, too. */
static void turn_end(char *end, const char *carry, int64_t bytes) {
  int64_t left = (int64_t)((uintptr_t)end % LINE_BYTES);
  if (left > bytes) left = bytes;
  memcpy(end - left, carry + LINE_BYTES - left, (size_t)left);
}

#endif
