/* The operators of reductions and of elementwise operations on vectors, included by kernels.c. What a type has is made by
 * DEFINE_OPERATORS_REAL or DEFINE_OPERATORS_COMPLEX, after its vectors have been defined.
 *
 * A maximum and a minimum of which one operand is a NaN is a NaN, as NumPy's are. Parts of vectors are computed in whole ones,
 * so that the order of operations is the same at a row's end, and with every instruction set. */
#ifndef CUTT_CONTRACT_KERNELS_OPERATORS_H
#define CUTT_CONTRACT_KERNELS_OPERATORS_H

#include <math.h>

#include "contract/kernels/order.h"
#include "contract/kernels/part.h"

/* The first bytes of a vector in memory, `here` of them. */
#define DEFINE_TAKE(name)                                                                                              \
  CUTT_INLINE vector_##name take_##name(const char *from, int64_t here) {                                              \
    return here == V ? load_##name(from) : (vector_##name)cutt_part_load(from, here);                                  \
  }                                                                                                                    \
  CUTT_INLINE void keep_##name(char *to, vector_##name x, int64_t here) {                                              \
    if (here == V)                                                                                                     \
      memcpy(to, &x, V);                                                                                               \
    else                                                                                                               \
      cutt_part_store(to, (cutt_part)x, here);                                                                         \
  }                                                                                                                    \
  CUTT_INLINE vector_##name add_##name(vector_##name a, vector_##name x) { return a + x; }

/* HIGH, LOW: what loses against all others. */
#define DEFINE_OPERATORS_REAL(name, T, LOW, HIGH)                                                                      \
  CUTT_INLINE vector_##name all_##name(T x) {                                                                          \
    T part[V / sizeof(T)];                                                                                             \
    vector_##name v;                                                                                                   \
    for (int i = 0; i < (int)(V / sizeof(T)); ++i) part[i] = x;                                                        \
    memcpy(&v, part, V);                                                                                               \
    return v;                                                                                                          \
  }                                                                                                                    \
  CUTT_INLINE vector_##name multiply_##name(vector_##name a, vector_##name x) { return a * x; }                        \
  DEFINE_ORDER(name)                                                                                                   \
  CUTT_INLINE vector_##name none_multiply_##name(void) { return all_##name(1); }                                       \
  CUTT_INLINE vector_##name none_max_##name(void) { return all_##name(LOW); }                                          \
  CUTT_INLINE vector_##name none_min_##name(void) { return all_##name(HIGH); }                                         \
  CUTT_INLINE vector_##name scaled_##name(const cutt_combine_operand *o, vector_##name x) {                            \
    return o->scaled ? x * number_##name((const char *)o->scale) : x;                                                  \
  }                                                                                                                    \
  CUTT_INLINE vector_##name term_##name(const bool *conjugate, cutt_pass_kind kind, const char *l, const char *r,      \
                                        int64_t here) {                                                                \
    (void)conjugate;                                                                                                   \
    const vector_##name x = take_##name(l, here);                                                                      \
    if (kind == CUTT_PASS_MULTIPLY) return x * take_##name(r, here);                                                   \
    return kind == CUTT_PASS_SCALE ? x * number_##name(r) : x;                                                         \
  }

/* A difference of products is written as a sum, as in kernels.c. Vectors of constants are loaded: where they are set element by
 * element, GCC 12 forgets some in one of the callers. */
#define DEFINE_OPERATORS_COMPLEX(name, T, OF)                                                                          \
  CUTT_INLINE vector_##name pairs_##name(T even, T odd) {                                                              \
    T part[V / sizeof(T)];                                                                                             \
    vector_##name v;                                                                                                   \
    for (int i = 0; i < (int)(V / sizeof(T)); ++i) part[i] = i % 2 ? odd : even;                                       \
    memcpy(&v, part, V);                                                                                               \
    return v;                                                                                                          \
  }                                                                                                                    \
  CUTT_INLINE vector_##name multiply_##name(vector_##name a, vector_##name x) {                                        \
    const vector_##name re = CUTT_SHUFFLE(index_##name, x, x, OF(EVEN, 0)),                                            \
                        im = CUTT_SHUFFLE(index_##name, x, x, OF(EVEN, 1)) * pairs_##name(-1, 1);                      \
    return a * re + CUTT_SHUFFLE(index_##name, a, a, OF(SWAP, 0)) * im;                                                \
  }                                                                                                                    \
  CUTT_INLINE vector_##name none_multiply_##name(void) { return pairs_##name(1, 0); }                                  \
  CUTT_INLINE vector_##name mirrored_##name(vector_##name x, bool conjugate) {                                         \
    return conjugate ? x * pairs_##name(1, -1) : x;                                                                    \
  }                                                                                                                    \
  CUTT_INLINE vector_##name one_for_all_##name(const char *r) {                                                        \
    return pairs_##name(number_##name(r), number_##name(r + sizeof(T)));                                               \
  }                                                                                                                    \
  CUTT_INLINE vector_##name scaled_##name(const cutt_combine_operand *o, vector_##name x) {                            \
    x = mirrored_##name(x, o->conjugate);                                                                              \
    return o->scaled ? multiply_##name(x, one_for_all_##name((const char *)o->scale)) : x;                             \
  }                                                                                                                    \
  CUTT_INLINE vector_##name term_##name(const bool *conjugate, cutt_pass_kind kind, const char *l, const char *r,      \
                                        int64_t here) {                                                                \
    const vector_##name x = mirrored_##name(take_##name(l, here), conjugate[0]);                                       \
    if (kind == CUTT_PASS_ADD) return x;                                                                               \
    const vector_##name y = kind == CUTT_PASS_MULTIPLY ? take_##name(r, here) : one_for_all_##name(r);                 \
    return multiply_##name(x, mirrored_##name(y, conjugate[1]));                                                       \
  }

/* ------------------------------------------------------------------------------------------------------------- reductions */

/* Along a free mode: `count` vectors of a row, of which `here` bytes each are there. */
#define DEFINE_REDUCE_ALONG(op, name)                                                                                  \
  CUTT_INLINE void op##_strip_##name(const cutt_pass_tile *t, cutt_pass_kind kind, int count, int64_t here,            \
                                     const char *l, const char *r, char *out) {                                        \
    const int64_t step = kind == CUTT_PASS_MULTIPLY ? V : 0;                                                           \
    vector_##name sum[4];                                                                                              \
    for (int i = 0; i < count; ++i)                                                                                    \
      sum[i] = term_##name(t->conjugate, kind, l + t->term[0][0] + i * V, r + t->term[1][0] + i * step, here);         \
    for (int64_t s = 1; s < t->terms; ++s) {                                                                           \
      const char *ls = l + t->term[0][s], *rs = r + t->term[1][s];                                                     \
      for (int i = 0; i < count; ++i)                                                                                  \
        sum[i] = op##_##name(sum[i], term_##name(t->conjugate, kind, ls + i * V, rs + i * step, here));                \
    }                                                                                                                  \
    for (int i = 0; i < count; ++i) {                                                                                  \
      if (t->adds) sum[i] = op##_##name(take_##name(out + i * V, here), sum[i]);                                       \
      keep_##name(out + i * V, sum[i], here);                                                                          \
    }                                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE void op##_along_##name(const cutt_pass_tile *callers, cutt_pass_kind kind) {                             \
    const cutt_pass_tile own = *callers, *t = &own; /* which no store to D may change */                               \
    const int64_t bytes = t->n * ELEMENT_##name, step = kind == CUTT_PASS_MULTIPLY;                                    \
    for (int64_t row = 0; row < t->rows; ++row) {                                                                      \
      const char *l = t->operand[0] + t->row[0][row], *r = t->operand[1] + t->row[1][row];                             \
      char *out = t->out + (t->out_row ? t->out_row[row] : row * t->pitch);                                            \
      int64_t at = 0;                                                                                                  \
      for (; at + 4 * V <= bytes; at += 4 * V) op##_strip_##name(t, kind, 4, V, l + at, r + step * at, out + at);      \
      for (; at + V <= bytes; at += V) op##_strip_##name(t, kind, 1, V, l + at, r + step * at, out + at);              \
      if (at < bytes) op##_strip_##name(t, kind, 1, bytes - at, l + at, r + step * at, out + at);                      \
    }                                                                                                                  \
  }

/* Across a summed mode: as many parts as in kernels.c, which are put together pairwise. */
#define DEFINE_REDUCE_ACROSS(op, name)                                                                                 \
  CUTT_INLINE vector_##name op##_all_##name(vector_##name *sum) {                                                      \
    CUTT_UNROLL for (int half = PARTS / 2; half; half /= 2) CUTT_UNROLL for (int i = 0; i < half; ++i) sum[i] =        \
        op##_##name(sum[i], sum[i + half]);                                                                            \
    vector_##name all = sum[0];                                                                                        \
    CUTT_UNROLL for (int half = V / 2; half >= ELEMENT_##name; half /= 2) all =                                        \
        op##_##name(all, (vector_##name)halves_of((wide)all, (wide)all, half, true));                                  \
    return all;                                                                                                        \
  }                                                                                                                    \
  CUTT_INLINE void op##_across_##name(const cutt_pass_tile *t, cutt_pass_kind kind) {                                  \
    const int64_t bytes = t->n * ELEMENT_##name, even = bytes - bytes % PARTS_BYTES,                                   \
                  step = kind == CUTT_PASS_MULTIPLY;                                                                   \
    for (int64_t row = 0; row < t->rows; ++row) {                                                                      \
      char *out = t->out + (t->out_row ? t->out_row[row] : row * t->pitch);                                            \
      vector_##name sum[PARTS];                                                                                        \
      for (int i = 0; i < PARTS; ++i) sum[i] = none_##op##_##name();                                                   \
      for (int64_t s = 0; s < t->terms; ++s) {                                                                         \
        const char *l = t->operand[0] + t->row[0][row] + t->term[0][s];                                                \
        const char *r = t->operand[1] + t->row[1][row] + t->term[1][s];                                                \
        for (int64_t at = 0; at < even; at += PARTS_BYTES) {                                                           \
          if (t->ask_bytes) ask_by(l + at, step ? r + at : NULL, PARTS_BYTES, t->ask_bytes);                           \
          for (int i = 0; i < PARTS; ++i)                                                                              \
            sum[i] = op##_##name(sum[i], term_##name(t->conjugate, kind, l + at + i * V, r + step * (at + i * V), V)); \
        }                                                                                                              \
        CUTT_UNROLL for (int i = 0; i < PARTS; ++i) {                                                                  \
          const int64_t at = even + i * V, here = bytes - at < V ? bytes - at : V;                                     \
          if (here <= 0) continue;                                                                                     \
          const vector_##name x = op##_##name(sum[i], term_##name(t->conjugate, kind, l + at, r + step * at, here));   \
          sum[i] = here == V ? x : (vector_##name)first_of((wide)x, (wide)sum[i], here);                               \
        }                                                                                                              \
      }                                                                                                                \
      vector_##name total = op##_all_##name(sum);                                                                      \
      if (t->adds) total = op##_##name(take_##name(out, ELEMENT_##name), total);                                       \
      keep_##name(out, total, ELEMENT_##name);                                                                         \
    }                                                                                                                  \
  }

/* Each kind with a constant. */
#define DEFINE_REDUCE_KIND(op, name, word, kind)                                                                       \
  static void op##_along_##word##_##name(const cutt_pass_tile *t) { op##_along_##name(t, kind); }                      \
  static void op##_across_##word##_##name(const cutt_pass_tile *t) { op##_across_##name(t, kind); }
#define DEFINE_REDUCE(op, name)                                                                                        \
  DEFINE_REDUCE_ALONG(op, name)                                                                                        \
  DEFINE_REDUCE_ACROSS(op, name)                                                                                       \
  DEFINE_REDUCE_KIND(op, name, multiply, CUTT_PASS_MULTIPLY)                                                           \
  DEFINE_REDUCE_KIND(op, name, scale, CUTT_PASS_SCALE)                                                                 \
  DEFINE_REDUCE_KIND(op, name, add, CUTT_PASS_ADD)

/* All of a type that can be compared, and of one that can't. */
#define DEFINE_ORDERED(name)                                                                                           \
  DEFINE_REDUCE(multiply, name)                                                                                        \
  DEFINE_REDUCE(max, name)                                                                                             \
  DEFINE_REDUCE(min, name)
#define DEFINE_UNORDERED(name) DEFINE_REDUCE(multiply, name)

#define KINDS_OF(prefix, number)                                                                                       \
  { prefix##_multiply_##number, prefix##_scale_##number, prefix##_add_##number }
#define ORDERED(number)                                                                                                \
  .along = {[CUTT_OP_ADD] = KINDS_OF(along, number),                                                                   \
            [CUTT_OP_MULTIPLY] = KINDS_OF(multiply_along, number),                                                     \
            [CUTT_OP_MAX] = KINDS_OF(max_along, number),                                                               \
            [CUTT_OP_MIN] = KINDS_OF(min_along, number)},                                                              \
  .across = {[CUTT_OP_ADD] = KINDS_OF(across, number),                                                                 \
             [CUTT_OP_MULTIPLY] = KINDS_OF(multiply_across, number),                                                   \
             [CUTT_OP_MAX] = KINDS_OF(max_across, number),                                                             \
             [CUTT_OP_MIN] = KINDS_OF(min_across, number)}
#define UNORDERED(number)                                                                                              \
  .along = {[CUTT_OP_ADD] = KINDS_OF(along, number), [CUTT_OP_MULTIPLY] = KINDS_OF(multiply_along, number)},           \
  .across = {[CUTT_OP_ADD] = KINDS_OF(across, number), [CUTT_OP_MULTIPLY] = KINDS_OF(multiply_across, number)}

#endif
