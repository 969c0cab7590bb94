/* Dot products, included by kernels.c: DEFINE_ACROSS(name, T) defines across_name for a type, whose rows are one number each.
 *
 * The sum of a row has as many parts as numbers fit 128 bytes, whatever the width of a register, and these are added pairwise; so
 * results are the same with every instruction set. What is beyond a row's end is 0 in them. Rows that are shorter than FEW_BYTES are
 * added up one number after the other. */
#ifndef CUTT_CONTRACT_KERNELS_DOTS_H
#define CUTT_CONTRACT_KERNELS_DOTS_H

#include "contract/kernels/part.h"

/* ROOM: vectors of sums that there are registers for, beside what is added to them. FACTORS_BYTES: of factors that L1 does not keep
 * beside what they are multiplied by; of fewer one row at a time is faster, since it is read in order. */
enum { FEW_BYTES = 32, ROOM = V >= 64 ? 16 : 8, MOST_ROWS = 4, FACTORS_BYTES = 16384 };

/* Do the sums of a tile's rows follow each other? Looked up without a way out of the loop, so that it is done by vectors. */
CUTT_INLINE bool are_adjacent(const cutt_pass_tile *t, int64_t element) {
  int64_t off = 0;
  if (!t->out_row) return t->pitch == element;
  for (int64_t i = 1; i < t->rows; ++i) off |= t->out_row[i] - t->out_row[i - 1] - element;
  return off == 0;
}

/* What is called once for several rows is there once. It gets what the caller has: a copy whose address leaves the function might be
 * changed by each store to D, for all that the compiler knows. */
#define CUTT_APART __attribute__((noinline))
#define SEVERAL(rows) ((rows) < 2 ? 1 : (rows) < MOST_ROWS ? 2 : MOST_ROWS)
#define DEFINE_ACROSS(name, T)                                                                                         \
  /* The vectors from one place on of which less than PARTS are there, or only a part. */                              \
  CUTT_INLINE void rest_##name(sums_##name *sums, cutt_pass_kind kind, const char *l, const char *r, int64_t bytes) {  \
    CUTT_UNROLL for (int i = 0; i < PARTS; ++i) {                                                                      \
      if (i * V >= bytes) break;                                                                                       \
      const int64_t here = bytes - i * V < V ? bytes - i * V : V;                                                      \
      const vector_##name x = (vector_##name)cutt_part_load(l + i * V, here), none = {0};                              \
      const vector_##name y = kind == CUTT_PASS_MULTIPLY ? (vector_##name)cutt_part_load(r + i * V, here) : none;      \
      put_##name(&sums[i], kind, x, y, r, false);                                                                      \
    }                                                                                                                  \
  }                                                                                                                    \
  /* A row's sums in as many parts as one vector has numbers. */                                                       \
  CUTT_INLINE sums_##name parts_##name(const cutt_pass_tile *t, cutt_pass_kind kind, int64_t row) {                    \
    const int64_t step = kind == CUTT_PASS_MULTIPLY, bytes = t->n * ELEMENT_##name;                                    \
    const char *l = t->operand[0] + t->row[0][row], *r = t->operand[1] + t->row[1][row];                               \
    const int64_t even = bytes - bytes % PARTS_BYTES;                                                                  \
    sums_##name sums[PARTS];                                                                                           \
    CUTT_UNROLL for (int i = 0; i < PARTS; ++i) sums[i] = none_##name();                                               \
    for (int64_t s = 0; s < t->terms; ++s) {                                                                           \
      const char *ls = l + t->term[0][s], *rs = r + t->term[1][s];                                                     \
      for (int64_t at = 0; at < even; at += PARTS_BYTES) {                                                             \
        if (t->ask_bytes) ask_by(ls + at, step ? rs + at : NULL, PARTS_BYTES, t->ask_bytes);                           \
        CUTT_UNROLL for (int i = 0; i < PARTS; ++i)                                                                    \
            place_##name(&sums[i], kind, ls + at + i * V, rs + step * (at + i * V), false);                            \
      }                                                                                                                \
      if (kind == CUTT_PASS_SCALE || even == bytes) continue;                                                          \
      if (t->ask_bytes) ask_by(ls + even, step ? rs + even : NULL, bytes - even, t->ask_bytes);                        \
      rest_##name(sums, kind, ls + even, rs + even, bytes - even);                                                     \
    }                                                                                                                  \
    CUTT_UNROLL for (int half = PARTS / 2; half; half /= 2) CUTT_UNROLL for (int i = 0; i < half; ++i)                 \
        add_sums_##name(&sums[i], &sums[i + half]);                                                                    \
    return sums[0];                                                                                                    \
  }                                                                                                                    \
  CUTT_INLINE void put_total_##name(const cutt_pass_tile *t, int64_t row, T *total) {                                  \
    char *out = t->out + (t->out_row ? t->out_row[row] : row * t->pitch);                                              \
    for (int i = 0; i < (int)(ELEMENT_##name / sizeof(T)); ++i)                                                        \
      if (t->adds) total[i] += number_##name(out + i * (int)sizeof(T));                                                \
    memcpy(out, total, ELEMENT_##name);                                                                                \
  }                                                                                                                    \
  /* Whole vectors, and what is left of a row one number after the other: of short ones, or of one factor. */          \
  CUTT_INLINE void across_one_##name(const cutt_pass_tile *t, cutt_pass_kind kind, int64_t row) {                      \
    const int64_t step = kind == CUTT_PASS_MULTIPLY, bytes = t->n * ELEMENT_##name;                                    \
    const char *l = t->operand[0] + t->row[0][row], *r = t->operand[1] + t->row[1][row];                               \
    sums_##name parts;                                                                                                 \
    sum_##name sum, rest;                                                                                              \
    T total[ELEMENT_##name / sizeof(T)];                                                                               \
    memset(&sum, 0, sizeof sum);                                                                                       \
    memset(&rest, 0, sizeof rest);                                                                                     \
    if (bytes >= PARTS_BYTES) {                                                                                        \
      parts = parts_##name(t, kind, row);                                                                              \
      fold_##name(&parts, &sum);                                                                                       \
    }                                                                                                                  \
    for (int64_t s = 0; s < t->terms; ++s)                                                                             \
      for (int64_t at = bytes - bytes % PARTS_BYTES; at < bytes; at += ELEMENT_##name)                                 \
        put_one_##name(&rest, kind, l + t->term[0][s] + at, r + t->term[1][s] + step * at, false);                     \
    join_##name(&sum, &rest);                                                                                          \
    total_one_##name(&sum, t->conjugate, total);                                                                       \
    put_total_##name(t, row, total);                                                                                   \
  }                                                                                                                    \
  /* What as many rows come to as a vector has numbers, by a vector of parts each: added up in one step. */            \
  CUTT_INLINE void put_totals_##name(const cutt_pass_tile *t, int64_t row, int rows, bool adjacent,                    \
                                     const sums_##name *each) {                                                        \
    sums_##name sums = sums_each_##name(each);                                                                         \
    const sums_##name none = none_##name();                                                                            \
    T total[V / sizeof(T)];                                                                                            \
    add_sums_##name(&sums, &none); /* of -0 alone a sum is 0 */                                                        \
    vector_##name all = total_##name(&sums, t->conjugate);                                                             \
    if (adjacent && rows == V / ELEMENT_##name) {                                                                      \
      char *out = t->out + (t->out_row ? t->out_row[row] : row * t->pitch);                                            \
      if (t->adds) all += load_##name(out);                                                                            \
      memcpy(out, &all, V);                                                                                            \
      return;                                                                                                          \
    }                                                                                                                  \
    memcpy(total, &all, V);                                                                                            \
    for (int i = 0; i < rows; ++i) put_total_##name(t, row + i, total + i * (ELEMENT_##name / (int)sizeof(T)));        \
  }                                                                                                                    \
  static CUTT_APART void put_last_##name(const cutt_pass_tile *t, int64_t row, int rows, const sums_##name *each) {    \
    put_totals_##name(t, row, rows, false, each);                                                                      \
  }                                                                                                                    \
  /* A row of one term, `vectors` long, of which the last one has so many bytes in it; 0: PARTS_BYTES or more. */      \
  CUTT_INLINE sums_##name single_##name(const cutt_pass_tile *t, cutt_pass_kind kind, int vectors, int64_t part,       \
                                        bool again, int64_t row) {                                                     \
    const int64_t step = kind == CUTT_PASS_MULTIPLY, bytes = t->n * ELEMENT_##name,                                    \
                  even = bytes - bytes % PARTS_BYTES;                                                                  \
    const char *l = t->operand[0] + t->row[0][row] + t->term[0][0];                                                    \
    const char *r = step ? t->operand[1] + t->row[1][row] + t->term[1][0] : l;                                         \
    sums_##name sums[PARTS];                                                                                           \
    if (vectors) {                                                                                                     \
      if (t->ask_bytes) ask_by(l, step && !again ? r : NULL, vectors * V, t->ask_bytes);                               \
      add_end_##name(sums, kind, vectors, part, l, r, true);                                                           \
    } else {                                                                                                           \
      if (t->ask_bytes) ask_by(l, step ? r : NULL, PARTS_BYTES, t->ask_bytes);                                         \
      CUTT_UNROLL for (int i = 0; i < PARTS; ++i) place_##name(&sums[i], kind, l + i * V, r + step * (i * V), true);   \
      for (int64_t at = PARTS_BYTES; at < even; at += PARTS_BYTES) {                                                   \
        if (t->ask_bytes) ask_by(l + at, step ? r + at : NULL, PARTS_BYTES, t->ask_bytes);                             \
        CUTT_UNROLL for (int i = 0; i < PARTS; ++i)                                                                    \
            place_##name(&sums[i], kind, l + at + i * V, r + step * (at + i * V), false);                              \
      }                                                                                                                \
      if (t->ask_bytes) ask_by(l + even, step ? r + even : NULL, bytes - even, t->ask_bytes);                          \
      rest_##name(sums, kind, l + even, r + step * even, bytes - even);                                                \
    }                                                                                                                  \
    CUTT_UNROLL for (int half = PARTS / 2; half; half /= 2)                                                            \
        CUTT_UNROLL for (int i = 0; i < half; ++i) if (!vectors || i + half < vectors)                                 \
            add_sums_##name(&sums[i], &sums[i + half]);                                                                \
    return sums[0];                                                                                                    \
  }                                                                                                                    \
  /* Rows times the same factors, each of which is loaded once for all of them. */                                     \
  enum { ROWS_##name = SEVERAL(ROOM * V / (PARTS * (int)sizeof(sums_##name))) };                                       \
  static CUTT_APART void several_##name(const cutt_pass_tile *t, int64_t row, sums_##name *each) {                     \
    const int64_t bytes = t->n * ELEMENT_##name, even = bytes - bytes % PARTS_BYTES;                                   \
    const char *l[ROWS_##name], *r = t->operand[1] + t->row[1][row];                                                   \
    sums_##name sums[ROWS_##name][PARTS];                                                                              \
    for (int k = 0; k < ROWS_##name; ++k) l[k] = t->operand[0] + t->row[0][row + k];                                   \
    CUTT_UNROLL for (int k = 0; k < ROWS_##name; ++k) CUTT_UNROLL for (int i = 0; i < PARTS; ++i) sums[k][i] =         \
        none_##name();                                                                                                 \
    for (int64_t s = 0; s < t->terms; ++s) {                                                                           \
      const int64_t ls = t->term[0][s];                                                                                \
      const char *rs = r + t->term[1][s];                                                                              \
      for (int64_t at = 0; at < even; at += PARTS_BYTES) {                                                             \
        if (t->ask_bytes)                                                                                              \
          CUTT_UNROLL for (int k = 0; k < ROWS_##name; ++k) ask_by(l[k] + ls + at, NULL, PARTS_BYTES, t->ask_bytes);   \
        CUTT_UNROLL for (int i = 0; i < PARTS; ++i) CUTT_UNROLL for (int k = 0; k < ROWS_##name; ++k)                  \
            place_##name(&sums[k][i], CUTT_PASS_MULTIPLY, l[k] + ls + at + i * V, rs + at + i * V, false);             \
      }                                                                                                                \
      if (even == bytes) continue;                                                                                     \
      for (int k = 0; k < ROWS_##name; ++k)                                                                            \
        rest_##name(sums[k], CUTT_PASS_MULTIPLY, l[k] + ls + even, rs + even, bytes - even);                           \
    }                                                                                                                  \
    CUTT_UNROLL for (int k = 0; k < ROWS_##name; ++k) {                                                                \
      CUTT_UNROLL for (int half = PARTS / 2; half; half /= 2) CUTT_UNROLL for (int i = 0; i < half; ++i)               \
          add_sums_##name(&sums[k][i], &sums[k][i + half]);                                                            \
      each[k] = sums[k][0];                                                                                            \
    }                                                                                                                  \
  }                                                                                                                    \
  /* So many rows, of PARTS_BYTES or more, or of several terms. */                                                     \
  CUTT_INLINE void rows_##name(const cutt_pass_tile *callers, const cutt_pass_tile *t, cutt_pass_kind kind,            \
                               bool single, int64_t row, int count, sums_##name *each) {                               \
    const int64_t *r = t->row[1] + row;                                                                                \
    const bool many =                                                                                                  \
        ROWS_##name > 1 && kind == CUTT_PASS_MULTIPLY && t->n * t->terms >= FACTORS_BYTES / ELEMENT_##name;            \
    for (int i = 0; i < count;) {                                                                                      \
      bool same = many && i + ROWS_##name <= count;                                                                    \
      for (int k = 1; same && k < ROWS_##name; ++k) same = r[i + k] == r[i];                                           \
      if (same) {                                                                                                      \
        several_##name(callers, row + i, each + i);                                                                    \
        i += ROWS_##name;                                                                                              \
      } else {                                                                                                         \
        each[i] = single ? single_##name(t, kind, 0, 0, false, row + i) : parts_##name(t, kind, row + i);              \
        ++i;                                                                                                           \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE void across_single_##name(const cutt_pass_tile *callers, const cutt_pass_tile *t, cutt_pass_kind kind,   \
                                        int vectors) {                                                                 \
    enum { TOGETHER = V / ELEMENT_##name };                                                                            \
    const int64_t part = t->n * ELEMENT_##name - (vectors - 1) * V, whole = t->rows - t->rows % TOGETHER;              \
    const bool adjacent = are_adjacent(t, ELEMENT_##name), again = t->rows > 1 && t->row[1][0] == t->row[1][1];        \
    sums_##name each[TOGETHER];                                                                                        \
    for (int64_t row = 0; row < whole; row += TOGETHER) {                                                              \
      if (vectors) {                                                                                                   \
        CUTT_UNROLL for (int i = 0; i < TOGETHER; ++i) each[i] =                                                       \
            single_##name(t, kind, vectors, part, again, row + i);                                                     \
      } else {                                                                                                         \
        rows_##name(callers, t, kind, true, row, TOGETHER, each);                                                      \
      }                                                                                                                \
      put_totals_##name(t, row, TOGETHER, adjacent, each);                                                             \
    }                                                                                                                  \
    sums_##name last[TOGETHER]; /* of fewer rows */                                                                    \
    memset(last, 0, sizeof last);                                                                                      \
    if (!vectors) rows_##name(callers, t, kind, true, whole, (int)(t->rows - whole), last);                            \
    for (int64_t row = whole; vectors && row < t->rows; ++row)                                                         \
      last[row - whole] = single_##name(t, kind, vectors, part, again, row);                                           \
    if (whole < t->rows) put_last_##name(callers, whole, (int)(t->rows - whole), last);                                \
  }                                                                                                                    \
  static void across_scale_##name(const cutt_pass_tile *callers) {                                                     \
    const cutt_pass_tile own = *callers, *t = &own; /* which no store to D may change */                               \
    for (int64_t row = 0; row < t->rows; ++row) across_one_##name(t, CUTT_PASS_SCALE, row);                            \
  }                                                                                                                    \
  CUTT_INLINE void across_##name(const cutt_pass_tile *callers, cutt_pass_kind kind) {                                 \
    enum { TOGETHER = V / ELEMENT_##name };                                                                            \
    const cutt_pass_tile own = *callers, *t = &own; /* which no store to D may change */                               \
    const int64_t bytes = t->n * ELEMENT_##name;                                                                       \
    if (bytes < FEW_BYTES) {                                                                                           \
      for (int64_t row = 0; row < t->rows; ++row) across_one_##name(t, kind, row);                                     \
      return;                                                                                                          \
    }                                                                                                                  \
    if (MASKS && t->terms == 1) {                                                                                      \
      switch (bytes <= PARTS_BYTES ? (bytes + V - 1) / V : 0) {                                                        \
        case 0:                                                                                                        \
          across_single_##name(callers, t, kind, 0);                                                                   \
          return;                                                                                                      \
        case 1:                                                                                                        \
          across_single_##name(callers, t, kind, 1);                                                                   \
          return;                                                                                                      \
        case 2:                                                                                                        \
          across_single_##name(callers, t, kind, 2);                                                                   \
          return;                                                                                                      \
        case 3:                                                                                                        \
          if (PARTS > 2) across_single_##name(callers, t, kind, 3);                                                    \
          return;                                                                                                      \
        default:                                                                                                       \
          if (PARTS > 2) across_single_##name(callers, t, kind, 4);                                                    \
          return;                                                                                                      \
      }                                                                                                                \
    }                                                                                                                  \
    const bool adjacent = are_adjacent(t, ELEMENT_##name);                                                             \
    sums_##name each[TOGETHER];                                                                                        \
    memset(each, 0, sizeof each);                                                                                      \
    for (int64_t row = 0; row < t->rows; row += TOGETHER) {                                                            \
      const int here = t->rows - row < TOGETHER ? (int)(t->rows - row) : TOGETHER;                                     \
      rows_##name(callers, t, kind, false, row, here, each);                                                           \
      put_totals_##name(t, row, here, adjacent, each);                                                                 \
    }                                                                                                                  \
  }

#endif
