/* Numbers as the kernels of pass.cu compute with them, a family of functions for each kind:
 *   zero, add, multiply, fuse(l, r, s): s + l r, scale(scalars, s, before): alpha s + beta before; bits and from_bits: in memory;
 *   combine(op, a, b): by an operator, and none(op): what this leaves as it is.
 * And for each type of elements number and element, from one to the other, and write: a result. */
#ifndef CUTT_GPU_KERNELS_PASS_NUMBERS_H
#define CUTT_GPU_KERNELS_PASS_NUMBERS_H

#include "device.h" /* the runtime's: src/runtime/cuda/kernels */
#include "pass_args.h"

typedef struct pass_pair {
  int64_t a, b;
} pass_pair;

DEVICE int64_t pass_join(uint32_t low, uint32_t high) { return (int64_t)((uint64_t)high << 32 | low); }
DEVICE pass_pair pass_load(uint32_t at) {
  const word4 v = shared_load16(at);
  const pass_pair p = {pass_join(v.x, v.y), pass_join(v.z, v.w)};
  return p;
}
/* The first of a pair: shared memory takes half the time for it. */
DEVICE int64_t pass_load_first(uint32_t at) {
  const word2 v = shared_load8(at);
  return pass_join(v.x, v.y);
}
DEVICE void pass_store(uint32_t at, int64_t a, int64_t b) {
  const word4 v = {(uint32_t)a, (uint32_t)((uint64_t)a >> 32), (uint32_t)b, (uint32_t)((uint64_t)b >> 32)};
  shared_store16(at, v);
}

DEVICE float zero_float(void) { return 0; }
DEVICE float add_float(float a, float b) { return a + b; }
DEVICE float multiply_float(float a, float b) { return a * b; }
DEVICE float fuse_float(float l, float r, float s) { return multiply_add_float(l, r, s); }
DEVICE uint32_t bits_float(float s) { return float_to_bits(s); }
DEVICE float from_bits_float(uint32_t v) { return bits_to_float(v); }
DEVICE float scale_float(const cutt_sum_scalars *by, float s, float before) {
  if (!by->alone) s = (float)by->alpha[0] * s;
  return by->reads ? s + (float)by->beta[0] * before : s;
}

DEVICE double zero_double(void) { return 0; }
DEVICE double add_double(double a, double b) { return a + b; }
DEVICE double multiply_double(double a, double b) { return a * b; }
DEVICE double fuse_double(double l, double r, double s) { return multiply_add_double(l, r, s); }
DEVICE word2 bits_double(double s) { return double_to_bits(s); }
DEVICE double from_bits_double(word2 v) { return bits_to_double(v); }
DEVICE double scale_double(const cutt_sum_scalars *by, double s, double before) {
  if (!by->alone) s = by->alpha[0] * s;
  return by->reads ? s + by->beta[0] * before : s;
}

DEVICE uint32_t zero_u32(void) { return 0; }
DEVICE uint32_t add_u32(uint32_t a, uint32_t b) { return a + b; }
DEVICE uint32_t multiply_u32(uint32_t a, uint32_t b) { return a * b; }
DEVICE uint32_t fuse_u32(uint32_t l, uint32_t r, uint32_t s) { return l * r + s; }
DEVICE uint32_t bits_u32(uint32_t s) { return s; }
DEVICE uint32_t from_bits_u32(uint32_t v) { return v; }
DEVICE uint32_t scale_u32(const cutt_sum_scalars *by, uint32_t s, uint32_t before) {
  s = (uint32_t)by->alpha_integer * s;
  return by->reads ? s + (uint32_t)by->beta_integer * before : s;
}

DEVICE uint64_t zero_u64(void) { return 0; }
DEVICE uint64_t add_u64(uint64_t a, uint64_t b) { return a + b; }
DEVICE uint64_t multiply_u64(uint64_t a, uint64_t b) { return a * b; }
DEVICE uint64_t fuse_u64(uint64_t l, uint64_t r, uint64_t s) { return l * r + s; }
DEVICE word2 bits_u64(uint64_t s) {
  const word2 v = {(uint32_t)s, (uint32_t)(s >> 32)};
  return v;
}
DEVICE uint64_t from_bits_u64(word2 v) { return (uint64_t)v.y << 32 | v.x; }
DEVICE uint64_t scale_u64(const cutt_sum_scalars *by, uint64_t s, uint64_t before) {
  s = (uint64_t)by->alpha_integer * s;
  return by->reads ? s + (uint64_t)by->beta_integer * before : s;
}

/* does(OP), with the operator as a constant: it is looked at once for all that is done. */
#define PASS_BY_OP(op, does)                                                                                           \
  if ((op) == CUTT_COMBINE_ADD)                                                                                        \
    does(CUTT_COMBINE_ADD);                                                                                            \
  else if ((op) == CUTT_COMBINE_MULTIPLY)                                                                              \
    does(CUTT_COMBINE_MULTIPLY);                                                                                       \
  else if ((op) == CUTT_COMBINE_MAX)                                                                                   \
    does(CUTT_COMBINE_MAX);                                                                                            \
  else                                                                                                                 \
    does(CUTT_COMBINE_MIN)

/* Of numbers that have an order, `lowest` and `highest` of them; whole ones are signed. */
#define DEFINE_PASS_ORDER(number, type, ordered, lowest, highest)                                                      \
  DEVICE type none_##number(uint32_t op) {                                                                             \
    return op == CUTT_COMBINE_ADD        ? (type)0                                                                     \
           : op == CUTT_COMBINE_MULTIPLY ? (type)1                                                                     \
           : op == CUTT_COMBINE_MAX      ? (type)(lowest)                                                              \
                                         : (type)(highest);                                                                 \
  }                                                                                                                    \
  DEVICE type combine_##number(uint32_t op, type a, type b) {                                                          \
    if (op == CUTT_COMBINE_ADD) return a + b;                                                                          \
    if (op == CUTT_COMBINE_MULTIPLY) return a * b;                                                                     \
    const bool first = op == CUTT_COMBINE_MAX ? (ordered)a >= (ordered)b : (ordered)a <= (ordered)b;                   \
    return first || a != a ? a : b;                                                                                    \
  }
DEFINE_PASS_ORDER(float, float, float, bits_to_float(0xff800000u), bits_to_float(0x7f800000u))
DEFINE_PASS_ORDER(double, double, double, (double)bits_to_float(0xff800000u), (double)bits_to_float(0x7f800000u))
DEFINE_PASS_ORDER(u32, uint32_t, int32_t, 0x80000000u, 0x7fffffffu)
DEFINE_PASS_ORDER(u64, uint64_t, int64_t, 0x8000000000000000u, 0x7fffffffffffffffu)

#define DEFINE_PASS_COMPLEX(name, real, fuse)                                                                          \
  typedef struct pass_##name {                                                                                         \
    real re, im;                                                                                                       \
  } pass_##name;                                                                                                       \
  DEVICE pass_##name make_##name(real re, real im) {                                                                   \
    const pass_##name z = {re, im};                                                                                    \
    return z;                                                                                                          \
  }                                                                                                                    \
  DEVICE pass_##name zero_##name(void) { return make_##name(0, 0); }                                                   \
  DEVICE pass_##name add_##name(pass_##name a, pass_##name b) { return make_##name(a.re + b.re, a.im + b.im); }        \
  DEVICE pass_##name multiply_##name(pass_##name a, pass_##name b) {                                                   \
    return make_##name(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);                                          \
  }                                                                                                                    \
  DEVICE pass_##name none_##name(uint32_t op) { return make_##name((real)(op != CUTT_COMBINE_ADD), 0); }               \
  DEVICE pass_##name combine_##name(uint32_t op, pass_##name a, pass_##name b) {                                       \
    return op == CUTT_COMBINE_ADD ? add_##name(a, b) : multiply_##name(a, b);                                          \
  }                                                                                                                    \
  DEVICE pass_##name fuse_##name(pass_##name l, pass_##name r, pass_##name s) {                                        \
    return make_##name(fuse(-l.im, r.im, fuse(l.re, r.re, s.re)), fuse(l.im, r.re, fuse(l.re, r.im, s.im)));           \
  }                                                                                                                    \
  DEVICE pass_##name times_##name(const double *by, uint32_t mixed, pass_##name s) {                                   \
    const real re = (real)by[0], im = (real)by[1];                                                                     \
    return mixed ? make_##name(re * s.re - im * s.im, re * s.im + im * s.re) : make_##name(re * s.re, re * s.im);      \
  }                                                                                                                    \
  DEVICE pass_##name scale_##name(const cutt_sum_scalars *by, pass_##name s, pass_##name before) {                     \
    if (!by->alone) s = times_##name(by->alpha, by->alpha_mixed, s);                                                   \
    return by->reads ? add_##name(s, times_##name(by->beta, by->beta_mixed, before)) : s;                              \
  }
DEFINE_PASS_COMPLEX(complex_float, float, multiply_add_float)
DEFINE_PASS_COMPLEX(complex_double, double, multiply_add_double)
typedef float pass_float;
typedef double pass_double;
typedef uint32_t pass_u32;
typedef uint64_t pass_u64;

DEVICE word2 bits_complex_float(pass_complex_float z) {
  const word2 v = {float_to_bits(z.re), float_to_bits(z.im)};
  return v;
}
DEVICE pass_complex_float from_bits_complex_float(word2 v) {
  return make_complex_float(bits_to_float(v.x), bits_to_float(v.y));
}
DEVICE word4 bits_complex_double(pass_complex_double z) {
  const word2 re = double_to_bits(z.re), im = double_to_bits(z.im);
  const word4 v = {re.x, re.y, im.x, im.y};
  return v;
}
DEVICE pass_complex_double from_bits_complex_double(word4 v) {
  const word2 re = {v.x, v.y}, im = {v.z, v.w};
  return make_complex_double(bits_to_double(re), bits_to_double(im));
}

/* An element as a number, with the sign of the imaginary part changed by flip; and a number as an element. */
#define DEFINE_PASS_PLAIN(type, number, word)                                                                          \
  DEVICE pass_##number number_##type(word v, uint32_t flip) {                                                          \
    (void)flip;                                                                                                        \
    return from_bits_##number(v);                                                                                      \
  }                                                                                                                    \
  DEVICE word element_##type(pass_##number s) { return bits_##number(s); }
DEFINE_PASS_PLAIN(f32, float, uint32_t)
DEFINE_PASS_PLAIN(f64, double, word2)
DEFINE_PASS_PLAIN(i32, u32, uint32_t)
DEFINE_PASS_PLAIN(i64, u64, word2)
DEVICE float number_f16(uint16_t v, uint32_t flip) { return (void)flip, half_to_float(v); }
DEVICE uint16_t element_f16(float s) { return float_to_half(s); }
DEVICE float number_bf16(uint16_t v, uint32_t flip) { return (void)flip, bfloat_to_float(v); }
DEVICE uint16_t element_bf16(float s) { return float_to_bfloat(s); }
DEVICE pass_complex_float number_c32(word2 v, uint32_t flip) {
  return make_complex_float(bits_to_float(v.x), bits_to_float(v.y ^ flip));
}
DEVICE word2 element_c32(pass_complex_float s) { return bits_complex_float(s); }
DEVICE pass_complex_double number_c64(word4 v, uint32_t flip) {
  v.w ^= flip;
  return from_bits_complex_double(v);
}
DEVICE word4 element_c64(pass_complex_double s) { return bits_complex_double(s); }

/* Writes a result of elements of `bytes`: alpha times the sum, plus beta times what is there; or, for workspace, the sum as it is, of
 * sum_bytes. */
#define DEFINE_PASS_RESULT(type, number, bytes, sum_bytes)                                                             \
  DEVICE void write_##type(const cutt_sum_scalars *by, uint32_t stores_sums, unsigned char *to, pass_##number sum) {   \
    if (stores_sums) {                                                                                                 \
      global_store##sum_bytes(to, bits_##number(sum));                                                                 \
      return;                                                                                                          \
    }                                                                                                                  \
    pass_##number before = zero_##number();                                                                            \
    if (by->reads) before = number_##type(global_load##bytes(to), 0);                                                  \
    global_store##bytes(to, element_##type(scale_##number(by, sum, before)));                                          \
  }
DEFINE_PASS_RESULT(f16, float, 2, 4)
DEFINE_PASS_RESULT(bf16, float, 2, 4)
DEFINE_PASS_RESULT(f32, float, 4, 4)
DEFINE_PASS_RESULT(f64, double, 8, 8)
DEFINE_PASS_RESULT(c32, complex_float, 8, 8)
DEFINE_PASS_RESULT(c64, complex_double, 16, 16)
DEFINE_PASS_RESULT(i32, u32, 4, 4)
DEFINE_PASS_RESULT(i64, u64, 8, 8)

/* No element: what is loaded beyond the ends of a mode. */
DEVICE uint16_t pass_none2(void) { return 0; }
DEVICE uint32_t pass_none4(void) { return 0; }
DEVICE word2 pass_none8(void) {
  const word2 v = {0, 0};
  return v;
}
DEVICE word4 pass_none16(void) {
  const word4 v = {0, 0, 0, 0};
  return v;
}

#endif
