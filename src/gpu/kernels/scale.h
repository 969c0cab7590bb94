/* alpha * op(in) + beta * out, or the product of both terms, or the larger or smaller one, element by element and for several elements at once.
 *
 * Rounded as on the CPU: products and sums one by one. A factor of 1 leaves all bits of a number as they are, and so does
 * multiplying by 1; but for those of NaNs, which op alone keeps too. `reads` is a constant wherever these are used: without
 * it, y plays no part. */
#ifndef CUTT_GPU_KERNELS_SCALE_H
#define CUTT_GPU_KERNELS_SCALE_H

#include "tables.h"

#define DEFINE_MULTIPLY(real, T)                                                                                       \
  typedef struct complex_##real {                                                                                      \
    T re, im;                                                                                                          \
  } complex_##real;                                                                                                    \
  DEVICE complex_##real multiply_##real(complex_##real v, const double *factor, uint32_t parts) {                      \
    const T re = (T)factor[0], im = (T)factor[1];                                                                      \
    complex_##real z = v;                                                                                              \
    if (parts == CUTT_PARTS_SCALED) {                                                                                  \
      z.re = re * v.re;                                                                                                \
      z.im = re * v.im;                                                                                                \
    } else if (parts == CUTT_PARTS_MIXED) {                                                                            \
      z.re = re * v.re - im * v.im;                                                                                    \
      z.im = re * v.im + im * v.re;                                                                                    \
    }                                                                                                                  \
    return z;                                                                                                          \
  }
DEFINE_MULTIPLY(float, float)
DEFINE_MULTIPLY(double, double)

/* Of two terms the sum or the product: both are worked out, since a choice between them takes no branch. Or the larger or smaller one as
 * `ordered`; of a NaN and anything a NaN. */
#define DEFINE_JOIN(name, T, ordered)                                                                                  \
  DEVICE T join_##name(const cutt_scale_args *args, T x, T y) {                                                        \
    const T sum = x + y, product = x * y;                                                                              \
    if (args->op <= CUTT_COMBINE_MULTIPLY) return args->op == CUTT_COMBINE_ADD ? sum : product;                        \
    const bool first = args->op == CUTT_COMBINE_MAX ? (ordered)x >= (ordered)y : (ordered)x <= (ordered)y;             \
    return first || x != x ? x : y;                                                                                    \
  }
DEFINE_JOIN(float, float, float)
DEFINE_JOIN(double, double, double)
DEFINE_JOIN(u32, uint32_t, int32_t)
DEFINE_JOIN(u64, uint64_t, int64_t)
#define DEFINE_JOIN_COMPLEX(name)                                                                                      \
  DEVICE complex_##name join_complex_##name(const cutt_scale_args *args, complex_##name x, complex_##name y) {         \
    const bool adds = args->op == CUTT_COMBINE_ADD;                                                                    \
    const complex_##name product = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};                             \
    const complex_##name z = {adds ? x.re + y.re : product.re, adds ? x.im + y.im : product.im};                       \
    return z;                                                                                                          \
  }
DEFINE_JOIN_COMPLEX(float)
DEFINE_JOIN_COMPLEX(double)

DEVICE uint32_t sum_float(const cutt_scale_args *args, float x, float y, bool reads) {
  const float scaled = (float)args->alpha[0] * x;
  return float_to_bits(reads ? join_float(args, scaled, (float)args->beta[0] * y) : scaled);
}

/* Of half types only sums and products: more operators would take a twentieth of the time of these, whose kernels are bound by instructions. */
DEVICE float sum_half(const cutt_scale_args *args, float x, float y, bool reads) {
  const float scaled = (float)args->alpha[0] * x, second = (float)args->beta[0] * y;
  const float sum = scaled + second, product = scaled * second;
  return !reads ? scaled : args->op == CUTT_COMBINE_ADD ? sum : product;
}
DEVICE uint16_t sum_f16(const cutt_scale_args *args, uint16_t x, uint16_t y, bool reads) {
  return float_to_half(sum_half(args, half_to_float(x), half_to_float(y), reads));
}
DEVICE uint16_t sum_bf16(const cutt_scale_args *args, uint16_t x, uint16_t y, bool reads) {
  return float_to_bfloat(sum_half(args, bfloat_to_float(x), bfloat_to_float(y), reads));
}
DEVICE uint32_t sum_f32(const cutt_scale_args *args, uint32_t x, uint32_t y, bool reads) {
  return sum_float(args, bits_to_float(x), bits_to_float(y), reads);
}
DEVICE word2 sum_f64(const cutt_scale_args *args, word2 x, word2 y, bool reads) {
  const double scaled = args->alpha[0] * bits_to_double(x);
  return double_to_bits(reads ? join_double(args, scaled, args->beta[0] * bits_to_double(y)) : scaled);
}
DEVICE word2 sum_c32(const cutt_scale_args *args, word2 x, word2 y, bool reads) {
  const complex_float v = {bits_to_float(x.x), bits_to_float(x.y ^ args->flip)};
  complex_float z = multiply_float(v, args->alpha, args->alpha_parts);
  if (reads) {
    const complex_float before = {bits_to_float(y.x), bits_to_float(y.y)};
    z = join_complex_float(args, z, multiply_float(before, args->beta, args->beta_parts));
  }
  const word2 bits = {float_to_bits(z.re), float_to_bits(z.im)};
  return bits;
}
DEVICE word4 sum_c64(const cutt_scale_args *args, word4 x, word4 y, bool reads) {
  const word2 x_re = {x.x, x.y}, x_im = {x.z, x.w ^ args->flip}, y_re = {y.x, y.y}, y_im = {y.z, y.w};
  const complex_double v = {bits_to_double(x_re), bits_to_double(x_im)};
  complex_double z = multiply_double(v, args->alpha, args->alpha_parts);
  if (reads) {
    const complex_double before = {bits_to_double(y_re), bits_to_double(y_im)};
    z = join_complex_double(args, z, multiply_double(before, args->beta, args->beta_parts));
  }
  const word2 low = double_to_bits(z.re), high = double_to_bits(z.im);
  const word4 bits = {low.x, low.y, high.x, high.y};
  return bits;
}
/* Unsigned arithmetic is the two's complement kind. */
DEVICE uint32_t sum_i32(const cutt_scale_args *args, uint32_t x, uint32_t y, bool reads) {
  const uint32_t scaled = (uint32_t)args->alpha_integer * x;
  return reads ? join_u32(args, scaled, (uint32_t)args->beta_integer * y) : scaled;
}
DEVICE word2 sum_i64(const cutt_scale_args *args, word2 x, word2 y, bool reads) {
  const uint64_t scaled = (uint64_t)args->alpha_integer * (uint64_t)join_words(x.x, x.y);
  const uint64_t second = (uint64_t)args->beta_integer * (uint64_t)join_words(y.x, y.y);
  return split_words((int64_t)(reads ? join_u64(args, scaled, second) : scaled));
}

/* sum_<type>_<n>: of the n elements that 4 or 16 bytes hold. */
#define DEFINE_SUM_OF_2_BYTES(type)                                                                                    \
  DEVICE uint32_t sum_##type##_2(const cutt_scale_args *args, uint32_t x, uint32_t y, bool reads) {                    \
    const uint32_t low = sum_##type(args, (uint16_t)x, (uint16_t)y, reads);                                            \
    return low | (uint32_t)sum_##type(args, (uint16_t)(x >> 16), (uint16_t)(y >> 16), reads) << 16;                    \
  }                                                                                                                    \
  DEVICE word4 sum_##type##_8(const cutt_scale_args *args, word4 x, word4 y, bool reads) {                             \
    const word4 z = {sum_##type##_2(args, x.x, y.x, reads), sum_##type##_2(args, x.y, y.y, reads),                     \
                     sum_##type##_2(args, x.z, y.z, reads), sum_##type##_2(args, x.w, y.w, reads)};                    \
    return z;                                                                                                          \
  }
DEFINE_SUM_OF_2_BYTES(f16)
DEFINE_SUM_OF_2_BYTES(bf16)
#define DEFINE_SUM_OF_4_BYTES(type)                                                                                    \
  DEVICE word4 sum_##type##_4(const cutt_scale_args *args, word4 x, word4 y, bool reads) {                             \
    const word4 z = {sum_##type(args, x.x, y.x, reads), sum_##type(args, x.y, y.y, reads),                             \
                     sum_##type(args, x.z, y.z, reads), sum_##type(args, x.w, y.w, reads)};                            \
    return z;                                                                                                          \
  }
DEFINE_SUM_OF_4_BYTES(f32)
DEFINE_SUM_OF_4_BYTES(i32)
#define DEFINE_SUM_OF_8_BYTES(type)                                                                                    \
  DEVICE word4 sum_##type##_2(const cutt_scale_args *args, word4 x, word4 y, bool reads) {                             \
    const word2 x0 = {x.x, x.y}, x1 = {x.z, x.w}, y0 = {y.x, y.y}, y1 = {y.z, y.w};                                    \
    const word2 z0 = sum_##type(args, x0, y0, reads), z1 = sum_##type(args, x1, y1, reads);                            \
    const word4 z = {z0.x, z0.y, z1.x, z1.y};                                                                          \
    return z;                                                                                                          \
  }
DEFINE_SUM_OF_8_BYTES(f64)
DEFINE_SUM_OF_8_BYTES(c32)
DEFINE_SUM_OF_8_BYTES(i64)

/* Elements of the output, of which only the two halves are aligned. */
DEVICE word2 halves_load8(const unsigned char *p) {
  const word2 v = {global_load4(p), global_load4(p + 4)};
  return v;
}
DEVICE word2 halves_load_line8(const unsigned char *p) {
  const word2 v = {global_load_line4(p), global_load_line4(p + 4)};
  return v;
}
DEVICE void halves_store8(unsigned char *p, word2 v) {
  global_store4(p, v.x);
  global_store4(p + 4, v.y);
}
DEVICE word4 halves_load16(const unsigned char *p) {
  const word2 a = global_load8(p), b = global_load8(p + 8);
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}
DEVICE word4 halves_load_line16(const unsigned char *p) {
  const word2 a = global_load_line8(p), b = global_load_line8(p + 8);
  const word4 v = {a.x, a.y, b.x, b.y};
  return v;
}
DEVICE void halves_store16(unsigned char *p, word4 v) {
  const word2 a = {v.x, v.y}, b = {v.z, v.w};
  global_store8(p, a);
  global_store8(p + 8, b);
}

#endif
