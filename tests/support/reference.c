/* The plain definition: an odometer over the output's modes, and arithmetic in a wider type than any that the library
 * may use. Written to be read, not to be fast; it shares no code with the library. */
#include "support/reference.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ 16-bit floats */

/* Rounds to a binary format with the given bits of significand (the hidden one included) and smallest exponent (of the
 * least normal number, as frexp counts it), to nearest, ties to even. Overflow is the caller's. */
static long double round_to(long double value, int bits, int min_exponent) {
  int exponent;
  if (value == 0.0L || !isfinite(value)) return value;
  frexpl(value, &exponent);
  if (exponent < min_exponent) exponent = min_exponent; /* subnormal: fixed spacing */
  return ldexpl(rintl(ldexpl(value, bits - exponent)), exponent - bits);
}

double test_half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value;
  if (exponent == 31)
    value = fraction ? (double)NAN : (double)INFINITY;
  else if (exponent == 0)
    value = ldexp(fraction, -24);
  else
    value = ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

uint16_t test_half_from(long double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value)) return sign | 0x7e00;
  long double x = fabsl(round_to(value, 11, -13));
  if (x > 65504.0L) return sign | 0x7c00;
  if (x < ldexpl(1.0L, -14)) return (uint16_t)(sign | (uint16_t)ldexpl(x, 24));
  int exponent;
  long double fraction = frexpl(x, &exponent); /* 0.5 <= fraction < 1 */
  return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) | ((uint16_t)ldexpl(fraction, 11) & 1023));
}

double test_bfloat_to_double(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t test_bfloat_from(long double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value)) return sign | 0x7fc0;
  long double x = fabsl(round_to(value, 8, -125));
  if (x > FLT_MAX) return sign | 0x7f80;
  float narrow = (float)x; /* exact */
  uint32_t wide;
  memcpy(&wide, &narrow, sizeof wide);
  return (uint16_t)(sign | (uint16_t)(wide >> 16));
}

/* ------------------------------------------------------------------------------------------------ one element */

typedef struct wide {
  long double re, im;
} wide;

static wide load(cuttType_t type, const void *from) {
  wide w = {0.0L, 0.0L};
  uint16_t half;
  float f[2];
  double d[2];
  switch (type) {
    case CUTT_F16:
      memcpy(&half, from, 2), w.re = test_half_to_double(half);
      break;
    case CUTT_BF16:
      memcpy(&half, from, 2), w.re = test_bfloat_to_double(half);
      break;
    case CUTT_F32:
      memcpy(f, from, 4), w.re = f[0];
      break;
    case CUTT_F64:
      memcpy(d, from, 8), w.re = d[0];
      break;
    case CUTT_C32:
      memcpy(f, from, 8), w.re = f[0], w.im = f[1];
      break;
    case CUTT_C64:
      memcpy(d, from, 16), w.re = d[0], w.im = d[1];
      break;
    default:
      break;
  }
  return w;
}

static void store(cuttType_t type, wide w, void *to) {
  uint16_t half;
  float f[2] = {(float)w.re, (float)w.im};
  double d[2] = {(double)w.re, (double)w.im};
  switch (type) {
    case CUTT_F16:
      half = test_half_from(w.re), memcpy(to, &half, 2);
      break;
    case CUTT_BF16:
      half = test_bfloat_from(w.re), memcpy(to, &half, 2);
      break;
    case CUTT_F32:
      memcpy(to, f, 4);
      break;
    case CUTT_F64:
      memcpy(to, d, 8);
      break;
    case CUTT_C32:
      memcpy(to, f, 8);
      break;
    case CUTT_C64:
      memcpy(to, d, 16);
      break;
    default:
      break;
  }
}

/* A scalar as the library takes it: float for the 16-bit types. */
static wide load_scalar(cuttType_t type, const test_scalar *scalar) {
  return load(type == CUTT_F16 || type == CUTT_BF16 ? CUTT_F32 : type, scalar->raw);
}

static uint64_t load_integer(cuttType_t type, const void *from) {
  uint32_t narrow;
  uint64_t value;
  if (type == CUTT_I32) return memcpy(&narrow, from, 4), narrow;
  return memcpy(&value, from, 8), value;
}

/* The scalars of a problem, read once. */
typedef struct scalars {
  bool computes, reads_out;
  wide alpha, beta;
  uint64_t integer_alpha, integer_beta;
} scalars;

static scalars scalars_of(const test_problem *p) {
  scalars s = {test_problem_computes(p), !test_beta_is_zero(p), {1.0L, 0.0L}, {0.0L, 0.0L}, 1, 0};
  if (!s.computes) return s;
  if (p->has_alpha) {
    s.alpha = load_scalar(p->type, &p->alpha);
    s.integer_alpha = load_integer(p->type, p->alpha.raw);
  }
  if (p->has_beta) {
    s.beta = load_scalar(p->type, &p->beta);
    s.integer_beta = load_integer(p->type, p->beta.raw);
  }
  return s;
}

/* *magnitude receives the sum of the absolute values of all products, to which rounding errors are relative. */
static wide combine(const test_problem *p, const scalars *s, const void *in, const void *out, long double *magnitude) {
  wide x = load(p->type, in), y = {0.0L, 0.0L};
  if (s->reads_out) y = load(p->type, out);
  if (p->conjugate) x.im = -x.im;
  const wide a = s->alpha, b = s->beta;
  wide r = {a.re * x.re, 0.0L};
  *magnitude = fabsl(a.re * x.re);
  if (test_type_complex(p->type)) {
    r.re -= a.im * x.im;
    r.im = a.re * x.im + a.im * x.re;
    *magnitude += fabsl(a.im * x.im) + fabsl(a.re * x.im) + fabsl(a.im * x.re);
  }
  if (s->reads_out) {
    r.re += b.re * y.re - b.im * y.im;
    r.im += b.re * y.im + b.im * y.re;
    *magnitude += fabsl(b.re * y.re) + fabsl(b.im * y.im) + fabsl(b.re * y.im) + fabsl(b.im * y.re);
  }
  return r;
}

static void element(const test_problem *p, const scalars *s, const void *in, void *out) {
  long double magnitude;
  if (!s->computes) {
    memcpy(out, in, test_type_bytes(p->type));
  } else if (p->type == CUTT_I32 || p->type == CUTT_I64) {
    uint64_t y = s->reads_out ? load_integer(p->type, out) : 0;
    uint64_t r = s->integer_alpha * load_integer(p->type, in) + s->integer_beta * y;
    uint32_t narrow = (uint32_t)r;
    if (p->type == CUTT_I32)
      memcpy(out, &narrow, 4);
    else
      memcpy(out, &r, 8);
  } else {
    store(p->type, combine(p, s, in, out, &magnitude), out);
  }
}

/* ------------------------------------------------------------------------------------------------ all elements */

typedef struct odometer {
  int rank;
  int64_t extent[CUTT_MAX_RANK], in_stride[CUTT_MAX_RANK], out_stride[CUTT_MAX_RANK];
  int64_t index[CUTT_MAX_RANK];
  int64_t in, out; /* of the element, in elements from element (0, ..., 0) */
  int64_t left;
} odometer;

static odometer odometer_start(const test_problem *p) {
  odometer o;
  memset(&o, 0, sizeof o);
  o.rank = p->rank;
  for (int i = 0; i < p->rank; i++) {
    o.extent[i] = p->extents[p->perm[i]];
    o.in_stride[i] = p->in_strides[p->perm[i]];
    o.out_stride[i] = p->out_strides[i];
  }
  o.left = test_volume(p);
  return o;
}

static void odometer_step(odometer *o) {
  o->left--;
  for (int i = 0; i < o->rank; i++) {
    o->in += o->in_stride[i];
    o->out += o->out_stride[i];
    if (++o->index[i] < o->extent[i]) return;
    o->in -= o->extent[i] * o->in_stride[i];
    o->out -= o->extent[i] * o->out_stride[i];
    o->index[i] = 0;
  }
}

void test_reference(const test_problem *p, const void *in, void *out) {
  const int64_t bytes = (int64_t)test_type_bytes(p->type);
  const scalars s = scalars_of(p);
  for (odometer o = odometer_start(p); o.left > 0; odometer_step(&o))
    element(p, &s, (const char *)in + o.in * bytes, (char *)out + o.out * bytes);
}

/* What the library's own roundings may add up to. It computes f16 and bf16 in float and the rest in their own type, in
 * any order and with or without fused multiply-adds: a few units of that precision relative to the largest term, and one
 * rounding to the type. */
static long double tolerance(cuttType_t type, long double result, long double magnitude) {
  switch (type) {
    case CUTT_F16:
      return fabsl(result) * 0x1p-10L + magnitude * 4 * FLT_EPSILON + 0x1p-24L;
    case CUTT_BF16:
      return fabsl(result) * 0x1p-7L + magnitude * 4 * FLT_EPSILON + 0x1p-133L;
    case CUTT_F32:
    case CUTT_C32:
      return magnitude * 4 * FLT_EPSILON + FLT_MIN * FLT_EPSILON;
    default:
      return magnitude * 4 * DBL_EPSILON + DBL_MIN * DBL_EPSILON;
  }
}

static bool close_enough(long double a, long double b, long double allowed) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return a == b;
  return fabsl(a - b) <= allowed;
}

int64_t test_forgive(const test_problem *p, const void *in, const void *before, const void *expected, void *got) {
  const int64_t bytes = (int64_t)test_type_bytes(p->type);
  const scalars s = scalars_of(p);
  int64_t forgiven = 0;
  if (!s.computes || p->type == CUTT_I32 || p->type == CUTT_I64) return 0;
  for (odometer o = odometer_start(p); o.left > 0; odometer_step(&o)) {
    const void *e = (const char *)expected + o.out * bytes;
    void *g = (char *)got + o.out * bytes;
    if (!memcmp(e, g, (size_t)bytes)) continue;
    long double magnitude;
    wide exact = combine(p, &s, (const char *)in + o.in * bytes, (const char *)before + o.out * bytes, &magnitude);
    wide we = load(p->type, e), wg = load(p->type, g);
    /* Complex arithmetic with infinities and NaNs has no one right answer. */
    bool special = test_type_complex(p->type) && !isfinite(magnitude);
    if (!special && (!close_enough(we.re, wg.re, tolerance(p->type, exact.re, magnitude)) ||
                     !close_enough(we.im, wg.im, tolerance(p->type, exact.im, magnitude))))
      continue;
    memcpy(g, e, (size_t)bytes);
    forgiven++;
  }
  return forgiven;
}

void test_element_print(cuttType_t type, const void *from, char *text, size_t size) {
  const unsigned char *bytes = from;
  size_t count = test_type_bytes(type), length = 0;
  text[0] = 0;
  for (size_t i = count; i-- > 0 && length + 3 < size;)
    length += (size_t)snprintf(text + length, size - length, "%02x", bytes[i]);
  if (type < CUTT_F16 || type == CUTT_I32 || type == CUTT_I64 || length + 60 > size) return;
  wide w = load(type, from);
  if (test_type_complex(type))
    snprintf(text + length, size - length, " (%.9Lg, %.9Lg)", w.re, w.im);
  else
    snprintf(text + length, size - length, " (%.9Lg)", w.re);
}
