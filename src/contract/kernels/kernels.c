/* The kernels (kernels.h), compiled once for each instruction set.
 *
 * Along a free mode every element of a row has a sum of its own, and its terms are added one after the other. Across a summed
 * mode it has parts (dots.h). */
#include "contract/kernels/kernels.h"

#include <string.h>

#include "contract/kernels/block.h"
#include "contract/kernels/halves.h"
#include "contract/kernels/operators.h"
#include "cpu/kernels/half.h"
#include "cpu/kernels/vectors.h"

#define CUTT_JOIN_2(a, b) a##b
#define CUTT_JOIN(a, b) CUTT_JOIN_2(a, b)
#define CUTT_TEXT_2(a) #a
#define CUTT_TEXT(a) CUTT_TEXT_2(a)

/* AHEAD_BYTES: what lies so far from what is read is asked for, since rows that are summed are read faster than a processor fetches
 * them unasked; of rows of one term, which are read as fast as memory gives them, what is further. Of terms that are further apart than
 * AHEAD_BYTES only those of long rows are asked for. TOGETHER_BYTES: of rows that are added up in the order of memory, if that is
 * TOGETHER_ROWS of them. COPIED_BYTES: of runs anywhere in memory. */
enum {
  V = CUTT_VECTOR_BYTES,
  PARTS_BYTES = 128,
  PARTS = PARTS_BYTES / V,
  MASKS = V > 16, /* parts of vectors are loaded and stored as fast as whole ones */
  LINE_BYTES = 64,
  AHEAD_BYTES = CUTT_PASS_AHEAD,
  FURTHER_BYTES = 4096,
  LONG_BYTES = 8192,
  IN_ORDER_BYTES = 256,
  TOGETHER_BYTES = 16384,
  TOGETHER_ROWS = 5,
  COPIED_BYTES = 4096
};

#if defined(__clang__)
#define CUTT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CUTT_UNROLL _Pragma("GCC unroll 16")
#endif

/* Of so many bytes of one operand, and of a second one, what lies so far ahead. Behind a row are often the next ones; asking for what is
 * not there does no harm. */
CUTT_INLINE void ask_by(const char *l, const char *r, int64_t bytes, int64_t ahead) {
  for (int64_t i = 0; i < bytes; i += LINE_BYTES) {
    __builtin_prefetch(l + i + ahead);
    if (r) __builtin_prefetch(r + i + ahead);
  }
}
CUTT_INLINE void ask_ahead(const char *l, const char *r, int64_t bytes) { ask_by(l, r, bytes, AHEAD_BYTES); }

/* ------------------------------------------------------------------------------------------------------- numbers and terms */

/* Index lists: of pairs the first twice, the second twice, and both exchanged; every second one. And of pairs 0 and 1. */
#define EVEN_2(i) (i), (i)
#define EVEN_4(i) EVEN_2(i), EVEN_2((i) + 2)
#define EVEN_8(i) EVEN_4(i), EVEN_4((i) + 4)
#define EVEN_16(i) EVEN_8(i), EVEN_8((i) + 8)
#define SWAP_2(i) (i) + 1, (i)
#define SWAP_4(i) SWAP_2(i), SWAP_2((i) + 2)
#define SWAP_8(i) SWAP_4(i), SWAP_4((i) + 4)
#define SWAP_16(i) SWAP_8(i), SWAP_8((i) + 8)
#define NEXT_2(i) (i), (i) + 2
#define NEXT_4(i) NEXT_2(i), NEXT_2((i) + 4)
#define NEXT_8(i) NEXT_4(i), NEXT_4((i) + 8)
#define NEXT_16(i) NEXT_8(i), NEXT_8((i) + 16)
#define ODD_2(i) 0, 1
#define ODD_4(i) ODD_2(i), ODD_2(i)
#define ODD_8(i) ODD_4(i), ODD_4(i)
#define ODD_16(i) ODD_8(i), ODD_8(i)
#if CUTT_VECTOR_BYTES == 64
#define OF_EIGHTS(list, i) list##_8(i)
#define OF_FOURS(list, i) list##_16(i)
#elif CUTT_VECTOR_BYTES == 32
#define OF_EIGHTS(list, i) list##_4(i)
#define OF_FOURS(list, i) list##_8(i)
#else
#define OF_EIGHTS(list, i) list##_2(i)
#define OF_FOURS(list, i) list##_4(i)
#endif

typedef int64_t wide __attribute__((vector_size(V)));
typedef int32_t narrow __attribute__((vector_size(V)));

/* Of two vectors, in segments of twice as many bytes: the first halves of all segments, or the second ones. */
CUTT_INLINE wide halves_of(wide x, wide y, int bytes, bool second) {
#if CUTT_VECTOR_BYTES == 64
  if (bytes == 32 && second) return CUTT_SHUFFLE(wide, x, y, 4, 5, 6, 7, 12, 13, 14, 15);
  if (bytes == 32) return CUTT_SHUFFLE(wide, x, y, 0, 1, 2, 3, 8, 9, 10, 11);
  if (bytes == 16 && second) return CUTT_SHUFFLE(wide, x, y, 2, 3, 6, 7, 10, 11, 14, 15);
  if (bytes == 16) return CUTT_SHUFFLE(wide, x, y, 0, 1, 4, 5, 8, 9, 12, 13);
#elif CUTT_VECTOR_BYTES == 32
  if (bytes == 16 && second) return CUTT_SHUFFLE(wide, x, y, 2, 3, 6, 7);
  if (bytes == 16) return CUTT_SHUFFLE(wide, x, y, 0, 1, 4, 5);
#endif
  if (bytes == 8 && second) return CUTT_SHUFFLE(wide, x, y, OF_EIGHTS(NEXT, 1));
  if (bytes == 8) return CUTT_SHUFFLE(wide, x, y, OF_EIGHTS(NEXT, 0));
  if (second) return (wide)CUTT_SHUFFLE(narrow, (narrow)x, (narrow)y, OF_FOURS(NEXT, 1));
  return (wide)CUTT_SHUFFLE(narrow, (narrow)x, (narrow)y, OF_FOURS(NEXT, 0));
}

/* The first bytes of one vector, a multiple of 4 of them, and the others of another one. */
#define LIST_4(i) (i), (i) + 1, (i) + 2, (i) + 3
#define LIST_8(i) LIST_4(i), LIST_4((i) + 4)
#define LIST_16(i) LIST_8(i), LIST_8((i) + 8)
CUTT_INLINE wide first_of(wide x, wide y, int64_t bytes) {
  const narrow lane = {OF_FOURS(LIST, 0)};
  const wide taken = (wide)(lane < (int32_t)(bytes / 4));
  return (x & taken) | (y & ~taken);
}

/* A sum of products. Of complex numbers l and r, as pairs of real and imaginary parts, it is made from
 *   a = sum of (re l re r, im l re r)   and   b = sum of (im l im r, re l im r)
 * and conjugates change but signs: l r = (re a - re b, im a + im b). */
#define DEFINE_NUMBERS(name, T)                                                                                        \
  typedef T vector_##name __attribute__((vector_size(V)));                                                             \
  CUTT_INLINE vector_##name load_##name(const char *from) {                                                            \
    vector_##name x;                                                                                                   \
    memcpy(&x, from, V);                                                                                               \
    return x;                                                                                                          \
  }                                                                                                                    \
  CUTT_INLINE T number_##name(const char *from) {                                                                      \
    T x;                                                                                                               \
    memcpy(&x, from, sizeof x);                                                                                        \
    return x;                                                                                                          \
  }                                                                                                                    \
  /* Of as many vectors as one has numbers, of so many bytes: the sum of each one's, pairwise. */                      \
  CUTT_INLINE vector_##name sum_each_##name(vector_##name *v, int element) {                                           \
    CUTT_UNROLL for (int bytes = V / 2; bytes >= element; bytes /= 2) {                                                \
      CUTT_UNROLL for (int i = 0; i < bytes / element; ++i) {                                                          \
        const wide x = (wide)v[2 * i], y = (wide)v[2 * i + 1];                                                         \
        v[i] = (vector_##name)halves_of(x, y, bytes, false) + (vector_##name)halves_of(x, y, bytes, true);             \
      }                                                                                                                \
    }                                                                                                                  \
    return v[0];                                                                                                       \
  }

/* Real numbers. */
#define DEFINE_REAL(name, T)                                                                                           \
  DEFINE_NUMBERS(name, T)                                                                                              \
  enum { ELEMENT_##name = sizeof(T) };                                                                                 \
  typedef struct sums_##name {                                                                                         \
    vector_##name a;                                                                                                   \
  } sums_##name;                                                                                                       \
  typedef struct sum_##name {                                                                                          \
    T a;                                                                                                               \
  } sum_##name;                                                                                                        \
  CUTT_INLINE void put_##name(sums_##name *s, cutt_pass_kind kind, vector_##name x, vector_##name y, const char *r,    \
                              bool first) {                                                                            \
    if (kind == CUTT_PASS_MULTIPLY) x *= y;                                                                            \
    if (kind == CUTT_PASS_SCALE) x *= number_##name(r);                                                                \
    s->a = first ? x : s->a + x;                                                                                       \
  }                                                                                                                    \
  CUTT_INLINE void put_one_##name(sum_##name *s, cutt_pass_kind kind, const char *l, const char *r, bool first) {      \
    T x = number_##name(l);                                                                                            \
    if (kind != CUTT_PASS_ADD) x *= number_##name(r);                                                                  \
    s->a = first ? x : s->a + x;                                                                                       \
  }                                                                                                                    \
  CUTT_INLINE vector_##name total_##name(const sums_##name *s, const bool *conjugate) {                                \
    (void)conjugate;                                                                                                   \
    return s->a;                                                                                                       \
  }                                                                                                                    \
  /* Of whole numbers nobody asks. */                                                                                  \
  __attribute__((unused)) CUTT_INLINE sums_##name sums_of_##name(vector_##name a, vector_##name b) {                   \
    (void)b;                                                                                                           \
    return (sums_##name){a};                                                                                           \
  }                                                                                                                    \
  CUTT_INLINE void total_one_##name(const sum_##name *s, const bool *conjugate, T *total) {                            \
    (void)conjugate;                                                                                                   \
    total[0] = s->a;                                                                                                   \
  }                                                                                                                    \
  CUTT_INLINE void fold_##name(const sums_##name *s, sum_##name *sum) {                                                \
    T part[V / sizeof(T)];                                                                                             \
    memcpy(part, &s->a, V);                                                                                            \
    for (int half = V / (int)sizeof(T) / 2; half; half /= 2)                                                           \
      for (int i = 0; i < half; ++i) part[i] += part[i + half];                                                        \
    sum->a = part[0];                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE sums_##name none_##name(void) { return (sums_##name){(vector_##name){0}}; }                              \
  CUTT_INLINE void join_##name(sum_##name *s, const sum_##name *other) { s->a += other->a; }                           \
  CUTT_INLINE void add_sums_##name(sums_##name *s, const sums_##name *other) { s->a += other->a; }                     \
  CUTT_INLINE sums_##name sums_each_##name(const sums_##name *rows) {                                                  \
    vector_##name v[V / sizeof(T)];                                                                                    \
    CUTT_UNROLL for (int i = 0; i < (int)(V / sizeof(T)); ++i) v[i] = rows[i].a;                                       \
    return (sums_##name){sum_each_##name(v, (int)sizeof(T))};                                                          \
  }

/* Complex numbers. */
#define DEFINE_COMPLEX(name, T, I, OF)                                                                                 \
  DEFINE_NUMBERS(name, T)                                                                                              \
  typedef I index_##name __attribute__((vector_size(V)));                                                              \
  enum { ELEMENT_##name = 2 * sizeof(T) };                                                                             \
  typedef struct sums_##name {                                                                                         \
    vector_##name a, b;                                                                                                \
  } sums_##name;                                                                                                       \
  typedef struct sum_##name {                                                                                          \
    T a[2], b[2];                                                                                                      \
  } sum_##name;                                                                                                        \
  CUTT_INLINE void put_##name(sums_##name *s, cutt_pass_kind kind, vector_##name x, vector_##name y, const char *r,    \
                              bool first) {                                                                            \
    const vector_##name none = {0};                                                                                    \
    vector_##name a = x, b = none;                                                                                     \
    if (kind == CUTT_PASS_MULTIPLY) {                                                                                  \
      a = x * CUTT_SHUFFLE(index_##name, y, y, OF(EVEN, 0));                                                           \
      b = CUTT_SHUFFLE(index_##name, x, x, OF(SWAP, 0)) * CUTT_SHUFFLE(index_##name, y, y, OF(EVEN, 1));               \
    } else if (kind == CUTT_PASS_SCALE) {                                                                              \
      a = x * number_##name(r);                                                                                        \
      b = CUTT_SHUFFLE(index_##name, x, x, OF(SWAP, 0)) * number_##name(r + sizeof(T));                                \
    }                                                                                                                  \
    s->a = first ? a : s->a + a;                                                                                       \
    if (kind != CUTT_PASS_ADD) s->b = first ? b : s->b + b;                                                            \
    if (kind == CUTT_PASS_ADD && first) s->b = none;                                                                   \
  }                                                                                                                    \
  CUTT_INLINE void put_one_##name(sum_##name *s, cutt_pass_kind kind, const char *l, const char *r, bool first) {      \
    const T x = number_##name(l), y = number_##name(l + sizeof(T));                                                    \
    T term[4] = {x, y, 0, 0};                                                                                          \
    if (kind != CUTT_PASS_ADD) {                                                                                       \
      const T u = number_##name(r), v = number_##name(r + sizeof(T));                                                  \
      term[0] = x * u, term[1] = y * u, term[2] = y * v, term[3] = x * v;                                              \
    }                                                                                                                  \
    for (int i = 0; i < 2; ++i) {                                                                                      \
      s->a[i] = first ? term[i] : s->a[i] + term[i];                                                                   \
      s->b[i] = first ? term[i + 2] : s->b[i] + term[i + 2];                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE sums_##name sums_of_##name(vector_##name a, vector_##name b) {                                           \
    return (sums_##name){a, CUTT_SHUFFLE(index_##name, b, b, OF(SWAP, 0))};                                            \
  }                                                                                                                    \
  CUTT_INLINE void total_one_##name(const sum_##name *s, const bool *conjugate, T *total) {                            \
    const T a = (T)(conjugate[0] ? -1 : 1), re = (T)(conjugate[0] == conjugate[1] ? -1 : 1);                           \
    const T im = (T)(conjugate[1] ? -1 : 1);                                                                           \
    total[0] = s->a[0] + re * s->b[0];                                                                                 \
    total[1] = a * s->a[1] + im * s->b[1];                                                                             \
  }                                                                                                                    \
  CUTT_INLINE vector_##name total_##name(const sums_##name *s, const bool *conjugate) {                                \
    /* By arithmetic of constants: vectors put together from numbers would wait in memory for each other. */           \
    const vector_##name odd = {OF(ODD, 0)};                                                                            \
    const T re = (T)(conjugate[0] == conjugate[1] ? -1 : 1), im = (T)(conjugate[1] ? -1 : 1);                          \
    const vector_##name sign_a = (T)1 - odd * (T)(conjugate[0] ? 2 : 0), sign_b = re + odd * (im - re);                \
    return s->a * sign_a + s->b * sign_b;                                                                              \
  }                                                                                                                    \
  CUTT_INLINE void fold_##name(const sums_##name *s, sum_##name *sum) {                                                \
    T part[2][V / sizeof(T)];                                                                                          \
    memcpy(part[0], &s->a, V);                                                                                         \
    memcpy(part[1], &s->b, V);                                                                                         \
    for (int half = V / (int)sizeof(T) / 2; half > 1; half /= 2)                                                       \
      for (int i = 0; i < half; ++i) part[0][i] += part[0][i + half], part[1][i] += part[1][i + half];                 \
    memcpy(sum->a, part[0], sizeof sum->a);                                                                            \
    memcpy(sum->b, part[1], sizeof sum->b);                                                                            \
  }                                                                                                                    \
  CUTT_INLINE sums_##name none_##name(void) { return (sums_##name){(vector_##name){0}, (vector_##name){0}}; }          \
  CUTT_INLINE void join_##name(sum_##name *s, const sum_##name *other) {                                               \
    for (int i = 0; i < 2; ++i) s->a[i] += other->a[i], s->b[i] += other->b[i];                                        \
  }                                                                                                                    \
  CUTT_INLINE void add_sums_##name(sums_##name *s, const sums_##name *other) { s->a += other->a, s->b += other->b; }   \
  CUTT_INLINE sums_##name sums_each_##name(const sums_##name *rows) {                                                  \
    vector_##name a[V / ELEMENT_##name], b[V / ELEMENT_##name];                                                        \
    CUTT_UNROLL for (int i = 0; i < V / ELEMENT_##name; ++i) a[i] = rows[i].a, b[i] = rows[i].b;                       \
    return (sums_##name){sum_each_##name(a, ELEMENT_##name), sum_each_##name(b, ELEMENT_##name)};                      \
  }

/* ------------------------------------------------------------------------------------------------------------------- tiles */

/* `count` vectors, or one number, of a row along a free mode. */
#define DEFINE_ALONG(name, T)                                                                                          \
  CUTT_INLINE void place_##name(sums_##name *s, cutt_pass_kind kind, const char *l, const char *r, bool first) {       \
    const vector_##name none = {0};                                                                                    \
    put_##name(s, kind, load_##name(l), kind == CUTT_PASS_MULTIPLY ? load_##name(r) : none, r, first);                 \
  }                                                                                                                    \
  CUTT_INLINE void strip_##name(const cutt_pass_tile *t, cutt_pass_kind kind, bool plain, bool ask, int count,         \
                                const char *l, const char *r, int64_t at, char *out) {                                 \
    const int64_t step = kind == CUTT_PASS_MULTIPLY ? V : 0;                                                           \
    sums_##name sums[4];                                                                                               \
    r += kind == CUTT_PASS_MULTIPLY ? at : 0;                                                                          \
    l += at;                                                                                                           \
    const char *const asked = kind == CUTT_PASS_MULTIPLY && t->may_ask[1] ? r : NULL;                                  \
    if (plain && ask) ask_by(l, asked, (int64_t)count *V, FURTHER_BYTES);                                              \
    for (int i = 0; i < count && plain; ++i) {                                                                         \
      place_##name(&sums[0], kind, l + i * V, r + i * step, true);                                                     \
      const vector_##name total = total_##name(&sums[0], t->conjugate);                                                \
      memcpy(out + at + i * V, &total, V);                                                                             \
    }                                                                                                                  \
    if (plain) return;                                                                                                 \
    for (int i = 0; i < count; ++i) place_##name(&sums[i], kind, l + i * V, r + i * step, true);                       \
    for (int64_t s = 1; s < t->terms && !plain; ++s) {                                                                 \
      const char *ls = l + (t->term[0][s] - t->term[0][0]), *rs = r + (t->term[1][s] - t->term[1][0]);                 \
      if (ask) ask_ahead(ls, kind == CUTT_PASS_MULTIPLY && t->may_ask[1] ? rs : NULL, count * V);                      \
      for (int i = 0; i < count; ++i) place_##name(&sums[i], kind, ls + i * V, rs + i * step, false);                  \
    }                                                                                                                  \
    for (int i = 0; i < count; ++i) {                                                                                  \
      vector_##name total = total_##name(&sums[i], t->conjugate);                                                      \
      if (!plain && t->adds) total += load_##name(out + at + i * V);                                                   \
      memcpy(out + at + i * V, &total, V);                                                                             \
    }                                                                                                                  \
  }                                                                                                                    \
  /* The last vectors of a row: `count`, of which the last one has only so many bytes in it. */                        \
  CUTT_INLINE void add_end_##name(sums_##name *sums, cutt_pass_kind kind, int count, int64_t part, const char *l,      \
                                  const char *r, bool first) {                                                         \
    const int64_t step = kind == CUTT_PASS_MULTIPLY ? V : 0;                                                           \
    const vector_##name none = {0};                                                                                    \
    for (int i = 0; i + 1 < count; ++i) place_##name(&sums[i], kind, l + i * V, r + i * step, first);                  \
    const char *lp = l + (count - 1) * V, *rp = r + (count - 1) * step;                                                \
    const vector_##name x = (vector_##name)cutt_part_load(lp, part);                                                   \
    const vector_##name y = kind == CUTT_PASS_MULTIPLY ? (vector_##name)cutt_part_load(rp, part) : none;               \
    put_##name(&sums[count - 1], kind, x, y, rp, first);                                                               \
  }                                                                                                                    \
  CUTT_INLINE void end_##name(const cutt_pass_tile *t, cutt_pass_kind kind, bool ask, int count, int64_t part,         \
                              const char *l, const char *r, int64_t at, char *out) {                                   \
    sums_##name sums[4];                                                                                               \
    r += kind == CUTT_PASS_MULTIPLY ? at : 0;                                                                          \
    l += at;                                                                                                           \
    add_end_##name(sums, kind, count, part, l, r, true);                                                               \
    for (int64_t s = 1; s < t->terms; ++s) {                                                                           \
      const char *ls = l + (t->term[0][s] - t->term[0][0]), *rs = r + (t->term[1][s] - t->term[1][0]);                 \
      if (ask) ask_ahead(ls, kind == CUTT_PASS_MULTIPLY && t->may_ask[1] ? rs : NULL, count * V);                      \
      add_end_##name(sums, kind, count, part, ls, rs, false);                                                          \
    }                                                                                                                  \
    for (int i = 0; i < count; ++i) {                                                                                  \
      const int64_t here = i + 1 < count ? V : part;                                                                   \
      vector_##name total = total_##name(&sums[i], t->conjugate);                                                      \
      if (t->adds) total += take_##name(out + at + i * V, here);                                                       \
      keep_##name(out + at + i * V, total, t->room ? V : here);                                                        \
    }                                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE void end_row_##name(const cutt_pass_tile *t, cutt_pass_kind kind, bool ask, const char *l,               \
                                  const char *r, int64_t at, int64_t bytes, char *out) {                               \
    const int64_t vectors = (bytes - at + V - 1) / V, part = bytes - at - (vectors - 1) * V;                           \
    switch (vectors) {                                                                                                 \
      case 1:                                                                                                          \
        end_##name(t, kind, ask, 1, part, l, r, at, out);                                                              \
        return;                                                                                                        \
      case 2:                                                                                                          \
        end_##name(t, kind, ask, 2, part, l, r, at, out);                                                              \
        return;                                                                                                        \
      case 3:                                                                                                          \
        end_##name(t, kind, ask, 3, part, l, r, at, out);                                                              \
        return;                                                                                                        \
      case 4:                                                                                                          \
        end_##name(t, kind, ask, 4, part, l, r, at, out);                                                              \
        return;                                                                                                        \
      default:                                                                                                         \
        return;                                                                                                        \
    }                                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE void one_##name(const cutt_pass_tile *t, cutt_pass_kind kind, const char *l, const char *r, int64_t at,  \
                              char *out) {                                                                             \
    sum_##name sum;                                                                                                    \
    T total[ELEMENT_##name / sizeof(T)];                                                                               \
    r += kind == CUTT_PASS_MULTIPLY ? at : 0;                                                                          \
    l += at;                                                                                                           \
    put_one_##name(&sum, kind, l, r, true);                                                                            \
    for (int64_t s = 1; s < t->terms; ++s)                                                                             \
      put_one_##name(&sum, kind, l + (t->term[0][s] - t->term[0][0]), r + (t->term[1][s] - t->term[1][0]), false);     \
    total_one_##name(&sum, t->conjugate, total);                                                                       \
    for (int i = 0; i < (int)(ELEMENT_##name / sizeof(T)); ++i)                                                        \
      if (t->adds) total[i] += number_##name(out + at + i * (int)sizeof(T));                                           \
    memcpy(out + at, total, sizeof total);                                                                             \
  }                                                                                                                    \
  CUTT_INLINE void row_##name(const cutt_pass_tile *t, cutt_pass_kind kind, bool plain, bool ask, int64_t row,         \
                              int64_t bytes) {                                                                         \
    char *const out = t->out + (t->out_row ? t->out_row[row] : row * t->pitch);                                        \
    const char *l = t->operand[0] + t->row[0][row] + t->term[0][0];                                                    \
    const char *r = t->operand[1] + t->row[1][row] + t->term[1][0];                                                    \
    int64_t at = 0;                                                                                                    \
    for (; at + 4 * V <= bytes; at += 4 * V) strip_##name(t, kind, plain, ask, 4, l, r, at, out);                      \
    if (MASKS && !plain) {                                                                                             \
      end_row_##name(t, kind, ask, l, r, at, bytes, out);                                                              \
      return;                                                                                                          \
    }                                                                                                                  \
    for (; at + V <= bytes; at += V) strip_##name(t, kind, plain, ask, 1, l, r, at, out);                              \
    for (; at < bytes; at += ELEMENT_##name) one_##name(t, kind, l, r, at, out);                                       \
  }                                                                                                                    \
  CUTT_INLINE void along_##name(const cutt_pass_tile *callers, cutt_pass_kind kind, bool plain) {                      \
    cutt_pass_tile own = *callers; /* which no store to D may change */                                                \
    const cutt_pass_tile *const t = &own;                                                                              \
    const int64_t bytes = own.n * ELEMENT_##name, terms = own.terms, *const term[2] = {own.term[0], own.term[1]};      \
    const bool adds = own.adds;                                                                                        \
    /* Terms that follow each other closely, and long rows, are read faster than a processor fetches them unasked. */  \
    const int64_t next = plain || terms < 2 ? 0 : term[0][1] - term[0][0];                                             \
    const bool ask_terms = (next > 0 && next < AHEAD_BYTES) || (next && bytes >= LONG_BYTES);                          \
    const bool ask = t->may_ask[0] && (plain || ask_terms);                                                            \
    /* Of rows that follow each other in memory one after the other is added, so that all is read in order; */         \
    /* of short ones some at a time, whose sums are in registers. */                                                   \
    const bool in_order = t->in_order && next >= bytes && next < bytes + LINE_BYTES && bytes > IN_ORDER_BYTES;         \
    const int64_t some = TOGETHER_BYTES / (kind == CUTT_PASS_MULTIPLY ? 2 * bytes : bytes);                            \
    const int64_t together = !in_order ? terms : some < TOGETHER_ROWS ? 1 : some;                                      \
    for (int64_t begin = 0, end; begin < terms; begin = end) {                                                         \
      end = terms - begin > own.each ? begin + own.each : terms;                                                       \
      for (int64_t row = 0; row < t->rows; ++row) {                                                                    \
        for (int64_t s = begin; s < end; s += own.terms) {                                                             \
          own.term[0] = term[0] + s;                                                                                   \
          own.term[1] = term[1] + s;                                                                                   \
          own.adds = adds || s > 0;                                                                                    \
          if (together == 1) {                                                                                         \
            own.terms = 1; /* a constant, with which there is no loop */                                               \
            row_##name(t, kind, plain, ask, row, bytes);                                                               \
          } else {                                                                                                     \
            own.terms = end - s < together ? end - s : together;                                                       \
            row_##name(t, kind, plain, ask, row, bytes);                                                               \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  CUTT_INLINE void along_any_##name(const cutt_pass_tile *t, cutt_pass_kind kind) {                                    \
    if (t->terms == 1 && !t->adds)                                                                                     \
      along_##name(t, kind, true);                                                                                     \
    else                                                                                                               \
      along_##name(t, kind, false);                                                                                    \
  }

#include "contract/kernels/dots.h"

/* Each kind with a constant, so that no loop has a branch. */
#define DEFINE_TILES(name, T)                                                                                          \
  DEFINE_TAKE(name)                                                                                                    \
  DEFINE_ALONG(name, T)                                                                                                \
  DEFINE_ACROSS(name, T)                                                                                               \
  static void along_multiply_##name(const cutt_pass_tile *t) { along_any_##name(t, CUTT_PASS_MULTIPLY); }              \
  static void along_scale_##name(const cutt_pass_tile *t) { along_any_##name(t, CUTT_PASS_SCALE); }                    \
  static void along_add_##name(const cutt_pass_tile *t) { along_any_##name(t, CUTT_PASS_ADD); }                        \
  static void across_multiply_##name(const cutt_pass_tile *t) { across_##name(t, CUTT_PASS_MULTIPLY); }                \
  static void across_add_##name(const cutt_pass_tile *t) { across_##name(t, CUTT_PASS_ADD); }

DEFINE_REAL(f32, float)
DEFINE_TILES(f32, float)
DEFINE_REAL(f64, double)
DEFINE_TILES(f64, double)
/* Whole numbers wrap around, which those without a sign may. */
DEFINE_REAL(i32, uint32_t)
DEFINE_TILES(i32, uint32_t)
DEFINE_REAL(i64, uint64_t)
DEFINE_TILES(i64, uint64_t)
DEFINE_COMPLEX(c32, float, int32_t, OF_FOURS)
DEFINE_TILES(c32, float)
DEFINE_COMPLEX(c64, double, int64_t, OF_EIGHTS)
DEFINE_TILES(c64, double)

DEFINE_OPERATORS_REAL(f32, float, -INFINITY, INFINITY)
DEFINE_OPERATORS_REAL(f64, double, -(double)INFINITY, (double)INFINITY)
DEFINE_OPERATORS_REAL(i32, uint32_t, (uint32_t)INT32_MIN, INT32_MAX)
DEFINE_OPERATORS_REAL(i64, uint64_t, (uint64_t)INT64_MIN, INT64_MAX)
DEFINE_OPERATORS_COMPLEX(c32, float, OF_FOURS)
DEFINE_OPERATORS_COMPLEX(c64, double, OF_EIGHTS)
DEFINE_ORDERED(f32)
DEFINE_ORDERED(f64)
DEFINE_ORDERED(i32)
DEFINE_ORDERED(i64)
DEFINE_UNORDERED(c32)
DEFINE_UNORDERED(c64)

#define NAME f32
#define NUMBER float
#define IS_COMPLEX 0
#define MOST CUTT_BLOCK_ROWS
#include "contract/kernels/block_type.h"
#define NAME f64
#define NUMBER double
#define IS_COMPLEX 0
#define MOST CUTT_BLOCK_ROWS
#include "contract/kernels/block_type.h"
#define NAME c32
#define NUMBER float
#define IS_COMPLEX 1
#define MOST 4
#include "contract/kernels/block_type.h"
#define NAME c64
#define NUMBER double
#define IS_COMPLEX 1
#define MOST 4
#include "contract/kernels/block_type.h"

/* ------------------------------------------------------------------------------------------------- elementwise operations */

/* So many vectors at a time, whose bytes are whole cache lines, also as half types. */
enum { COMBINED = V == 16 ? 8 : 4 };

/* Asks for lines that the next block packs, by runs: so many more of them. */
CUTT_INLINE void cutt_combine_fetch(cutt_cpu_ahead *ahead, int64_t lines) {
  while (lines > 0 && ahead->run < ahead->runs) {
    const char *from = ahead->base + ahead->start[ahead->run];
    const int64_t last = ahead->bytes - 1;
    int64_t at = ahead->byte;
    for (; lines > 0 && at < last; at += LINE_BYTES, --lines) __builtin_prefetch(from + at, 0, 2);
    ahead->byte = at;
    if (at < last) return;
    __builtin_prefetch(from + last, 0, 2); /* in a line of its own, maybe */
    ahead->byte = 0;
    ++ahead->run;
    --lines;
  }
}

#include "contract/kernels/turn.h"

/* With vectors of 16 bytes half types are converted number by number, which takes longer than all else. */
#define TURNS(is_half) (CUTT_VECTOR_BYTES > 16 || !(is_half))
#if TURNS(1)
#define TURN_HALF(own) turn_##own
#else
#define TURN_HALF(own) NULL
#endif

#define MEMORY f32
#define NAME f32
#define IS_HALF 0
#define IS_COMPLEX 0
#include "contract/kernels/combine_type.h"
#define MEMORY f64
#define NAME f64
#define IS_HALF 0
#define IS_COMPLEX 0
#include "contract/kernels/combine_type.h"
#define MEMORY i32
#define NAME i32
#define IS_HALF 0
#define IS_COMPLEX 0
#include "contract/kernels/combine_type.h"
#define MEMORY i64
#define NAME i64
#define IS_HALF 0
#define IS_COMPLEX 0
#include "contract/kernels/combine_type.h"
#define MEMORY c32
#define NAME c32
#define IS_HALF 0
#define IS_COMPLEX 1
#include "contract/kernels/combine_type.h"
#define MEMORY c64
#define NAME c64
#define IS_HALF 0
#define IS_COMPLEX 1
#include "contract/kernels/combine_type.h"
#define MEMORY f16
#define NAME f32
#define IS_HALF 1
#define IS_COMPLEX 0
#include "contract/kernels/combine_type.h"
#define MEMORY bf16
#define NAME f32
#define IS_HALF 1
#define IS_COMPLEX 0
#include "contract/kernels/combine_type.h"

/* --------------------------------------------------------------------------------------------------------------- finishing */

#define DEFINE_FINISH(name, T)                                                                                         \
  static void finish_##name(char *d, const char *sum, int64_t n, const cutt_pass_scalars *scalars) {                   \
    if (scalars->alpha_is_one && !scalars->reads) {                                                                    \
      memcpy(d, sum, (size_t)n * sizeof(T));                                                                           \
      return;                                                                                                          \
    }                                                                                                                  \
    T alpha, beta;                                                                                                     \
    memcpy(&alpha, scalars->alpha, sizeof alpha);                                                                      \
    memcpy(&beta, scalars->beta, sizeof beta);                                                                         \
    for (int64_t i = 0; i < n; ++i) {                                                                                  \
      T x, y;                                                                                                          \
      memcpy(&x, sum + i * (int64_t)sizeof x, sizeof x);                                                               \
      if (!scalars->alpha_is_one) x *= alpha;                                                                          \
      if (scalars->reads) {                                                                                            \
        memcpy(&y, d + i * (int64_t)sizeof y, sizeof y);                                                               \
        x += beta * y;                                                                                                 \
      }                                                                                                                \
      memcpy(d + i * (int64_t)sizeof x, &x, sizeof x);                                                                 \
    }                                                                                                                  \
  }
DEFINE_FINISH(f32, float)
DEFINE_FINISH(f64, double)
DEFINE_FINISH(i32, uint32_t)
DEFINE_FINISH(i64, uint64_t)

/* A vector at a time: one by one, conversions would take longer than all else. */
#define DEFINE_FINISH_HALF(name)                                                                                       \
  static void finish_##name(char *d, const char *sum, int64_t n, const cutt_pass_scalars *scalars) {                   \
    float alpha, beta;                                                                                                 \
    memcpy(&alpha, scalars->alpha, sizeof alpha);                                                                      \
    memcpy(&beta, scalars->beta, sizeof beta);                                                                         \
    for (int64_t i = 0; i < n; i += CUTT_HALVES, sum += V, d += V / 2) {                                               \
      const int64_t here = n - i < CUTT_HALVES ? (n - i) * 4 : V;                                                      \
      cutt_floats x = (cutt_floats)take_f32(sum, here);                                                                \
      if (!scalars->alpha_is_one) x *= alpha;                                                                          \
      if (scalars->reads) x += beta * cutt_take_##name(d, here);                                                       \
      cutt_keep_##name(d, x, here);                                                                                    \
    }                                                                                                                  \
  }
DEFINE_FINISH_HALF(f16)
DEFINE_FINISH_HALF(bf16)

/* A difference of products is written as a sum: of one, GCC 12 makes a fused operation even where it is told not to. */
#define DEFINE_FINISH_COMPLEX(name, T)                                                                                 \
  static void finish_##name(char *d, const char *sum, int64_t n, const cutt_pass_scalars *scalars) {                   \
    if (scalars->alpha_is_one && !scalars->reads) {                                                                    \
      memcpy(d, sum, (size_t)n * 2 * sizeof(T));                                                                       \
      return;                                                                                                          \
    }                                                                                                                  \
    T alpha[2], beta[2];                                                                                               \
    memcpy(alpha, scalars->alpha, sizeof alpha);                                                                       \
    memcpy(beta, scalars->beta, sizeof beta);                                                                          \
    const T minus_alpha = -alpha[1], minus_beta = -beta[1];                                                            \
    for (int64_t i = 0; i < n; ++i) {                                                                                  \
      T x[2], y[2], z[2];                                                                                              \
      memcpy(x, sum + i * (int64_t)sizeof x, sizeof x);                                                                \
      z[0] = x[0], z[1] = x[1];                                                                                        \
      if (!scalars->alpha_is_one) {                                                                                    \
        z[0] = alpha[0] * x[0] + minus_alpha * x[1];                                                                   \
        z[1] = alpha[0] * x[1] + alpha[1] * x[0];                                                                      \
      }                                                                                                                \
      if (scalars->reads) {                                                                                            \
        memcpy(y, d + i * (int64_t)sizeof y, sizeof y);                                                                \
        z[0] += beta[0] * y[0] + minus_beta * y[1];                                                                    \
        z[1] += beta[0] * y[1] + beta[1] * y[0];                                                                       \
      }                                                                                                                \
      memcpy(d + i * (int64_t)sizeof z, z, sizeof z);                                                                  \
    }                                                                                                                  \
  }
DEFINE_FINISH_COMPLEX(c32, float)
DEFINE_FINISH_COMPLEX(c64, double)

/* ----------------------------------------------------------------------------------------------------------------- packing */

#include "contract/kernels/pack.h"

/* Of half types, which are converted in vectors: as the source has them, of eight columns at a time, or put together number by number. */
#define DEFINE_PACK_HALF(name)                                                                                         \
  CUTT_INLINE void pack_vectors_##name(char *dst, const char *src, int64_t bytes) {                                    \
    int64_t at = 0;                                                                                                    \
    for (; at + V <= bytes; at += V) keep_f32(dst + at, (vector_f32)cutt_widen_##name(src + at / 2), V);               \
    if (at < bytes) keep_f32(dst + at, (vector_f32)cutt_take_##name(src + at / 2, bytes - at), bytes - at);            \
  }                                                                                                                    \
  static void pack_##name(char *dst, int64_t pitch, const char *src, int64_t stride, int64_t n, int64_t columns) {     \
    enum { ROWS = V / 2, EACH = 8 };                                                                                   \
    int64_t place[ROWS];                                                                                               \
    if (stride == 2) {                                                                                                 \
      for (int64_t j = 0; j < columns; ++j) pack_vectors_##name(dst + j * pitch, src + j * 2, n * 4);                  \
      return;                                                                                                          \
    }                                                                                                                  \
    list_places(place, ROWS, stride, ROWS);                                                                            \
    for (int64_t i = 0; i < n && columns >= EACH; i += ROWS) {                                                         \
      const int64_t here = n - i < ROWS ? n - i : ROWS;                                                                \
      if (here < ROWS) list_places(place, ROWS, stride, here);                                                         \
      for (int64_t next = 0; next < columns; next += EACH) {                                                           \
        const int64_t j = next + EACH <= columns ? next : columns - EACH;                                              \
        packed_lanes column[EACH];                                                                                     \
        columns_2(src + i * stride + j * 2, place, column);                                                            \
        for (int k = 0; k < EACH; ++k)                                                                                 \
          pack_vectors_##name(dst + (j + k) * pitch + i * 4, (const char *)&column[k], here * 4);                      \
      }                                                                                                                \
    }                                                                                                                  \
    for (int64_t j = 0; j < columns && columns < EACH; ++j) {                                                          \
      for (int64_t i = 0; i < n; i += ROWS) {                                                                          \
        const int64_t here = n - i < ROWS ? n - i : ROWS;                                                              \
        char row[V] = {0};                                                                                             \
        for (int64_t k = 0; k < here; ++k) memcpy(row + k * 2, src + (i + k) * stride + j * 2, 2);                     \
        pack_vectors_##name(dst + j * pitch + i * 4, row, here * 4);                                                   \
      }                                                                                                                \
    }                                                                                                                  \
  }
DEFINE_PACK_HALF(f16)
DEFINE_PACK_HALF(bf16)

/* The next runs are asked for, as many as memory has on its way at once. */
static void copy_runs(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t runs, int64_t bytes) {
  const int64_t whole = (bytes - 1) / V * V, rest = bytes - whole;
  const int64_t enough = bytes < COPIED_BYTES ? COPIED_BYTES / bytes : 1, ahead = enough < runs ? enough : runs;
  for (int64_t i = -ahead; i < runs; ++i) {
    if (i + ahead < runs) {
      const char *const next = src + from[i + ahead];
      for (int64_t at = 0; at < bytes; at += LINE_BYTES) __builtin_prefetch(next + at);
      __builtin_prefetch(next + bytes - 1);
    }
    if (i < 0) continue;
    char *const d = dst + to[i];
    const char *const s = src + from[i];
    for (int64_t at = 0; at < whole; at += V) {
      packed_lanes v;
      memcpy(&v, s + at, V);
      memcpy(d + at, &v, V);
    }
    cutt_part_store(d + whole, cutt_part_load(s + whole, rest), rest);
  }
}

static void stream(char *dst, const char *src, int64_t bytes) {
  int64_t head = (int64_t)(-(uintptr_t)dst % 64);
  if (head > bytes) head = bytes;
  memcpy(dst, src, (size_t)head);
  int64_t at = head;
  for (; at + 64 <= bytes; at += 64) cutt_store_line(dst + at, src + at);
  memcpy(dst + at, src + at, (size_t)(bytes - at));
}

static void fence(void) { cutt_store_fence(); }

#define TYPE(kernels, own, turned, from, width, in_blocks)                                                             \
  {                                                                                                                    \
    kernels, .blocks = in_blocks, .combine = combine_##own, .turn = turned, .finish = finish_##own, .pack = from,      \
             .transpose = pack_##width, .bytes = width                                                                 \
  }
static const cutt_pass_type types[] = {
    [CUTT_F16] = TYPE(ORDERED(f32), f16, TURN_HALF(f16), pack_f16, 4, blocks_f32),
    [CUTT_BF16] = TYPE(ORDERED(f32), bf16, TURN_HALF(bf16), pack_bf16, 4, blocks_f32),
    [CUTT_F32] = TYPE(ORDERED(f32), f32, turn_f32, pack_4, 4, blocks_f32),
    [CUTT_F64] = TYPE(ORDERED(f64), f64, turn_f64, pack_8, 8, blocks_f64),
    [CUTT_C32] = TYPE(UNORDERED(c32), c32, turn_c32, pack_8, 8, blocks_c32),
    [CUTT_C64] = TYPE(UNORDERED(c64), c64, turn_c64, pack_16, 16, blocks_c64),
    [CUTT_I32] = TYPE(ORDERED(i32), i32, turn_i32, pack_4, 4, NULL),
    [CUTT_I64] = TYPE(ORDERED(i64), i64, turn_i64, pack_8, 8, NULL),
};

extern const cutt_pass_kernels CUTT_JOIN(cutt_pass_kernels_, CUTT_KERNEL_ISA);
const cutt_pass_kernels CUTT_JOIN(cutt_pass_kernels_, CUTT_KERNEL_ISA) = {
    .isa = CUTT_TEXT(CUTT_KERNEL_ISA),
    .type = types,
    .copy = copy_runs,
    .stream = stream,
    .fence = fence,
};
