/* The transpose with the scalars: out = alpha * in + beta * out, computed in the registers of a block of columns, between its
 * transpose and its stores. So nothing is staged, and each line of the output is read and written once, one column after
 * another down a tile's rows, which is an order that the processor's prefetcher follows. A header of kernels.c, which
 * defines the blocks.
 *
 * For floating-point numbers, each for itself: not for complex factors, conjugation and integers, which are staged. W
 * (bytes of an element), V (of a vector), the kind of number and reads (is out read?) are constants: each kernel below is
 * compiled for its own. */
#ifndef CUTT_CPU_KERNELS_SCALED_H
#define CUTT_CPU_KERNELS_SCALED_H

/* alpha * x + beta * y on vectors of V bytes; every operation is rounded by itself. The scalars are parts of the vectors,
 * so that there is one function for numbers of any type T. */
#define CUTT_DEFINE_COMBINE(kind, T, V)                                                                                \
  typedef T combined_##kind##_##V __attribute__((vector_size(V)));                                                     \
  CUTT_INLINE cutt_v##V##_8 combine_##kind##_##V(bool reads, T alpha, cutt_v##V##_8 x, T beta, cutt_v##V##_8 y) {      \
    const combined_##kind##_##V scaled = alpha * (combined_##kind##_##V)x;                                             \
    return (cutt_v##V##_8)(reads ? scaled + beta * (combined_##kind##_##V)y : scaled);                                 \
  }

/* The same for halves of a vector, each converted to float and back: much code, and so not inlined. */
#define CUTT_DEFINE_COMBINE_HALF(kind, V)                                                                              \
  __attribute__((noinline)) static cutt_v##V##_8 combine_##kind##_##V(bool reads, float alpha, cutt_v##V##_8 x,        \
                                                                      float beta, cutt_v##V##_8 y) {                   \
    uint16_t xs[V / 2], ys[V / 2];                                                                                     \
    memcpy(xs, &x, V);                                                                                                 \
    memcpy(ys, &y, V);                                                                                                 \
    scale_halves_##kind(xs, ys, V / 2, alpha, beta, reads);                                                            \
    memcpy(&x, xs, V);                                                                                                 \
    return x;                                                                                                          \
  }

#if defined(__F16C__)
#define CUTT_DEFINE_COMBINE_F16(V)                                                                                     \
  CUTT_INLINE cutt_v##V##_8 combine_f16_##V(bool reads, float alpha, cutt_v##V##_8 x, float beta, cutt_v##V##_8 y) {   \
    char xs[V], ys[V];                                                                                                 \
    memcpy(xs, &x, V);                                                                                                 \
    memcpy(ys, &y, V);                                                                                                 \
    scale_f16_eights(xs, xs, ys, V / 2, alpha, beta, reads);                                                           \
    memcpy(&x, xs, V);                                                                                                 \
    return x;                                                                                                          \
  }
#else
#define CUTT_DEFINE_COMBINE_F16(V) CUTT_DEFINE_COMBINE_HALF(f16, V)
#endif

static const int8_t byte_places[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                       32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                       48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

/* The bytes of `later` from the given place on, and those of `earlier` before it. */
#define CUTT_DEFINE_BEHIND(V)                                                                                          \
  CUTT_INLINE cutt_v##V##_8 behind_##V(cutt_v##V##_8 later, cutt_v##V##_8 earlier, int place) {                        \
    cutt_v##V##_1 places;                                                                                              \
    memcpy(&places, byte_places, V);                                                                                   \
    const cutt_v##V##_8 taken = (cutt_v##V##_8)(places >= (int8_t)place);                                              \
    return (later & taken) | (earlier & ~taken);                                                                       \
  }
CUTT_DEFINE_BEHIND(16)
#if CUTT_VECTOR_BYTES >= 32
CUTT_DEFINE_BEHIND(32)
#endif
#if CUTT_VECTOR_BYTES >= 64
CUTT_DEFINE_BEHIND(64)
#endif

#define CUTT_DEFINE_SCALED(kind, T, W, V)                                                                              \
  CUTT_INLINE void scaled_##kind##_##W##_##V##_of(bool reads, char *out, const int64_t *pos, const char *src,          \
                                                  const int64_t *row, int64_t nrows, int64_t ncols, T alpha, T beta,   \
                                                  cutt_cpu_ahead *ahead) {                                             \
    enum { E = 16 / W, R = V / W, LINES = E * V < CUTT_CPU_LINE ? 1 : E * V / CUTT_CPU_LINE };                         \
    for (int64_t c = 0; c < ncols; c += E) {                                                                           \
      /* Columns c0 .. c0 + E - 1 are loaded; those below c are done already. */                                       \
      const int64_t c0 = first_of_block(c, E, ncols);                                                                  \
      const int from = (int)(c - c0), to = (int)(ncols - c0 < E ? ncols - c0 : E);                                     \
      const int64_t *next = c + 2 * E <= ncols ? pos + c + E : NULL;                                                   \
      for (int64_t r = 0; r < nrows; r += R) {                                                                         \
        const int64_t r0 = first_of_block(r, R, nrows), over = (r - r0) * W;                                           \
        cutt_v##V##_8 block[E];                                                                                        \
        block_##V##_##W(block, src + c0 * W, row + r0);                                                                \
        cutt_cpu_prefetch(ahead, LINES);                                                                               \
        if (reads && next) { /* lines of the columns that come next, which this loop has time to wait for */           \
          _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) __builtin_prefetch(out + next[i] + r0 * W, 1);          \
        }                                                                                                              \
        _Pragma("GCC unroll 16") for (int i = 0; i < E; ++i) {                                                         \
          if (i < from || i >= to) continue;                                                                           \
          char *const at = out + pos[c0 + i] + r0 * W;                                                                 \
          cutt_v##V##_8 y = {0};                                                                                       \
          if (reads) memcpy(&y, at, V);                                                                                \
          cutt_v##V##_8 sum = combine_##kind##_##V(reads, alpha, block[i], beta, y);                                   \
          /* The last block overlaps the one before, which is done. */                                                 \
          if (reads && over > 0) sum = behind_##V(sum, y, (int)over);                                                  \
          memcpy(at, &sum, V);                                                                                         \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  /* See cutt_cpu_scaled_fn. */                                                                                        \
  static void scaled_##kind##_##W##_##V(char *out, const int64_t *pos, const char *src, const int64_t *row,            \
                                        int64_t nrows, int64_t ncols, const cutt_scale *s, cutt_cpu_ahead *ahead) {    \
    const T alpha = (T)s->alpha.re, beta = (T)s->beta.re;                                                              \
    if (s->reads_out) {                                                                                                \
      scaled_##kind##_##W##_##V##_of(true, out, pos, src, row, nrows, ncols, alpha, beta, ahead);                      \
    } else {                                                                                                           \
      scaled_##kind##_##W##_##V##_of(false, out, pos, src, row, nrows, ncols, alpha, beta, ahead);                     \
    }                                                                                                                  \
  }

#define CUTT_DEFINE_SCALED_OF(kind, T, V)                                                                              \
  CUTT_DEFINE_COMBINE(kind, T, V)                                                                                      \
  CUTT_DEFINE_SCALED(kind, T, 8, V)                                                                                    \
  CUTT_DEFINE_SCALED(kind, T, 16, V)
#define CUTT_DEFINE_SCALED_HALF(kind, V)                                                                               \
  CUTT_DEFINE_SCALED(kind, float, 2, V)                                                                                \
  CUTT_DEFINE_SCALED(kind, float, 4, V)                                                                                \
  CUTT_DEFINE_SCALED(kind, float, 8, V)                                                                                \
  CUTT_DEFINE_SCALED(kind, float, 16, V)
#define CUTT_DEFINE_SCALED_ALL(V)                                                                                      \
  CUTT_DEFINE_SCALED_OF(f32, float, V)                                                                                 \
  CUTT_DEFINE_SCALED(f32, float, 4, V)                                                                                 \
  CUTT_DEFINE_SCALED_OF(f64, double, V)                                                                                \
  CUTT_DEFINE_COMBINE_F16(V)                                                                                           \
  CUTT_DEFINE_SCALED_HALF(f16, V)                                                                                      \
  CUTT_DEFINE_COMBINE_HALF(bf16, V)                                                                                    \
  CUTT_DEFINE_SCALED_HALF(bf16, V)

CUTT_DEFINE_SCALED_ALL(16)
#if CUTT_VECTOR_BYTES >= 32
CUTT_DEFINE_SCALED_ALL(32)
#endif
#if CUTT_VECTOR_BYTES >= 64
CUTT_DEFINE_SCALED_ALL(64)
#endif

#define CUTT_SCALED_WIDTHS(kind, W)                                                                                    \
  { scaled_##kind##_##W##_16, CUTT_IF_32(scaled_##kind##_##W##_32), CUTT_IF_64(scaled_##kind##_##W##_64) }
#define CUTT_SCALED_2(kind)                                                                                            \
  {                                                                                                                    \
    {NULL}, CUTT_SCALED_WIDTHS(kind, 2), CUTT_SCALED_WIDTHS(kind, 4), CUTT_SCALED_WIDTHS(kind, 8),                     \
        CUTT_SCALED_WIDTHS(kind, 16)                                                                                   \
  }
#define CUTT_SCALED_4(kind)                                                                                            \
  { {NULL}, {NULL}, CUTT_SCALED_WIDTHS(kind, 4), CUTT_SCALED_WIDTHS(kind, 8), CUTT_SCALED_WIDTHS(kind, 16) }
#define CUTT_SCALED_8(kind)                                                                                            \
  { {NULL}, {NULL}, {NULL}, CUTT_SCALED_WIDTHS(kind, 8), CUTT_SCALED_WIDTHS(kind, 16) }

#endif
