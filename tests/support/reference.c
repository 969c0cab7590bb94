/* The plain definition: an odometer over the output's modes, and arithmetic that rounds every product and every sum by
 * itself, which leaves one right answer for each element: only which NaN a NaN is stays open. Written to be read, not to
 * be fast; it shares no code with the library. */
#include "support/reference.h"

#include <float.h>
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

/* A number, or a complex one, of any floating type; each fits a double. */
typedef struct number {
  double re, im;
} number;

static number load(cuttType_t type, const void *from) {
  number x = {0.0, 0.0};
  uint16_t half;
  float f[2];
  double d[2];
  switch (type) {
    case CUTT_F16:
      memcpy(&half, from, 2), x.re = test_half_to_double(half);
      break;
    case CUTT_BF16:
      memcpy(&half, from, 2), x.re = test_bfloat_to_double(half);
      break;
    case CUTT_F32:
      memcpy(f, from, 4), x.re = f[0];
      break;
    case CUTT_F64:
      memcpy(d, from, 8), x.re = d[0];
      break;
    case CUTT_C32:
      memcpy(f, from, 8), x.re = f[0], x.im = f[1];
      break;
    case CUTT_C64:
      memcpy(d, from, 16), x.re = d[0], x.im = d[1];
      break;
    default:
      break;
  }
  return x;
}

static void store(cuttType_t type, number x, void *to) {
  uint16_t half;
  float f[2] = {(float)x.re, (float)x.im};
  double d[2] = {x.re, x.im};
  switch (type) {
    case CUTT_F16:
      half = test_half_from(x.re), memcpy(to, &half, 2);
      break;
    case CUTT_BF16:
      half = test_bfloat_from(x.re), memcpy(to, &half, 2);
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

static bool is_double(cuttType_t type) { return type == CUTT_F64 || type == CUTT_C64; }

/* The type's own product and sum, each rounded: float but for f64 and c64. a and b are numbers of the type. (Not in double
 * with a conversion to float and back: GCC 12 loses a pair of those where it vectorises.) */
static double times(cuttType_t type, double a, double b) {
  return is_double(type) ? a * b : (double)((float)a * (float)b);
}

static double plus(cuttType_t type, double a, double b) {
  return is_double(type) ? a + b : (double)((float)a + (float)b);
}

/* Complex numbers times a real one are scaled part by part, and times 1 they stay what they are. */
static number scaled(cuttType_t type, number a, number x) {
  if (a.im == 0.0) return a.re == 1.0 ? x : (number){times(type, a.re, x.re), times(type, a.re, x.im)};
  return (number){plus(type, times(type, a.re, x.re), -times(type, a.im, x.im)),
                  plus(type, times(type, a.re, x.im), times(type, a.im, x.re))};
}

/* A scalar as the library takes it: float for the 16-bit types. */
static number load_scalar(cuttType_t type, const test_scalar *scalar) {
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
  bool arithmetic; /* elements are not only moved, or conjugated */
  bool reads_out;
  number alpha, beta;
  uint64_t integer_alpha, integer_beta;
} scalars;

static scalars scalars_of(const test_problem *p) {
  scalars s = {false, !test_beta_is_zero(p), {1.0, 0.0}, {0.0, 0.0}, 1, 0};
  if (!test_problem_computes(p)) return s;
  if (p->has_alpha) {
    s.alpha = load_scalar(p->type, &p->alpha);
    s.integer_alpha = load_integer(p->type, p->alpha.raw);
  }
  if (p->has_beta) {
    s.beta = load_scalar(p->type, &p->beta);
    s.integer_beta = load_integer(p->type, p->beta.raw);
  }
  test_problem plain = *p;
  plain.conjugate = 0;
  s.arithmetic = test_problem_computes(&plain);
  return s;
}

/* Flips the sign bit of the imaginary part. */
static void conjugate(cuttType_t type, void *element) {
  uint32_t narrow;
  uint64_t wide;
  if (type == CUTT_C32) {
    memcpy(&narrow, (char *)element + 4, 4), narrow ^= UINT32_C(1) << 31, memcpy((char *)element + 4, &narrow, 4);
  } else {
    memcpy(&wide, (char *)element + 8, 8), wide ^= UINT64_C(1) << 63, memcpy((char *)element + 8, &wide, 8);
  }
}

static void element(const test_problem *p, const scalars *s, const void *in, void *out) {
  unsigned char x[16];
  memcpy(x, in, test_type_bytes(p->type));
  if (p->conjugate) conjugate(p->type, x);
  if (!s->arithmetic) {
    memcpy(out, x, test_type_bytes(p->type));
  } else if (p->type == CUTT_I32 || p->type == CUTT_I64) {
    uint64_t y = s->reads_out ? load_integer(p->type, out) : 0;
    uint64_t r = s->integer_alpha * load_integer(p->type, x) + s->integer_beta * y;
    uint32_t narrow = (uint32_t)r;
    if (p->type == CUTT_I32)
      memcpy(out, &narrow, 4);
    else
      memcpy(out, &r, 8);
  } else {
    number r = scaled(p->type, s->alpha, load(p->type, x));
    if (s->reads_out) {
      const number y = scaled(p->type, s->beta, load(p->type, out));
      r = (number){plus(p->type, r.re, y.re), plus(p->type, r.im, y.im)};
    }
    store(p->type, r, out);
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

/* One part of an element, and whether it is a NaN. */
static bool is_nan(cuttType_t type, const unsigned char *from, int part) {
  const number x = load(type, from);
  return isnan(part ? x.im : x.re);
}

int64_t test_same_nans(const test_problem *p, const void *expected, void *got) {
  const int64_t bytes = (int64_t)test_type_bytes(p->type);
  const scalars s = scalars_of(p);
  const int parts = test_type_complex(p->type) ? 2 : 1;
  const size_t part_bytes = (size_t)(bytes / parts);
  int64_t replaced = 0;
  if (!s.arithmetic || p->type == CUTT_I32 || p->type == CUTT_I64) return 0;
  for (odometer o = odometer_start(p); o.left > 0; odometer_step(&o)) {
    const unsigned char *e = (const unsigned char *)expected + o.out * bytes;
    unsigned char *g = (unsigned char *)got + o.out * bytes;
    for (int part = 0; part < parts; part++) {
      const size_t at = (size_t)part * part_bytes;
      if (!memcmp(e + at, g + at, part_bytes) || !is_nan(p->type, e, part) || !is_nan(p->type, g, part)) continue;
      memcpy(g + at, e + at, part_bytes);
      replaced++;
    }
  }
  return replaced;
}

void test_element_print(cuttType_t type, const void *from, char *text, size_t size) {
  const unsigned char *bytes = from;
  size_t count = test_type_bytes(type), length = 0;
  text[0] = 0;
  for (size_t i = count; i-- > 0 && length + 3 < size;)
    length += (size_t)snprintf(text + length, size - length, "%02x", bytes[i]);
  if (type < CUTT_F16 || type == CUTT_I32 || type == CUTT_I64 || length + 60 > size) return;
  number x = load(type, from);
  if (test_type_complex(type))
    snprintf(text + length, size - length, " (%.9g, %.9g)", x.re, x.im);
  else
    snprintf(text + length, size - length, " (%.9g)", x.re);
}
