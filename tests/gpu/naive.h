/* The plain definition of a permutation once more, for a million problems: what memory holds before an execution follows
 * from the address, so nothing has to be kept to compare with, and each element of the output is checked by itself. Compiled
 * for the GPU (naive.cu) and for the host, in what C and CUDA C++ have in common; it shares no code with the library, nor
 * with support/reference.h, which is for one problem at a time.
 *
 * The check of an element puts back what was there before. So when all are checked, all of the output's memory must be as it
 * was before the execution, elements, gaps and guards alike: then nothing was written elsewhere. */
#ifndef CUTT_TESTS_GPU_NAIVE_H
#define CUTT_TESTS_GPU_NAIVE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define NAIVE static __device__ inline
#else
#include <stdbool.h>
#define NAIVE static inline
#endif

enum { NAIVE_MODES = 64 };

/* What is found, the smallest of all: an element's number; from these on, a place in the output's zone or the input's. */
#define NAIVE_ELSEWHERE (UINT64_C(1) << 61)
#define NAIVE_IN_INPUT (UINT64_C(1) << 62)
#define NAIVE_NOTHING (~UINT64_C(0))

/* What elements are made of. */
typedef enum naive_kind { NAIVE_BYTES, NAIVE_INTEGER, NAIVE_HALF, NAIVE_BFLOAT, NAIVE_FLOAT, NAIVE_DOUBLE } naive_kind;

/* A range of memory that is filled, and checked as a whole afterwards. */
typedef struct naive_zone {
  unsigned char *memory; /* a multiple of 16 */
  int64_t bytes;         /* likewise */
  uint64_t seed;
} naive_zone;

typedef struct naive_problem {
  naive_zone in, out;
  int64_t in_at, out_at; /* bytes from the zones' beginnings to element (0, ..., 0) */
  uint32_t kind;         /* naive_kind */
  uint32_t number_bytes; /* of what is computed with: of a part of a complex number; 1 for NAIVE_BYTES */
  uint32_t element_bytes;
  uint32_t conjugate;
  uint32_t specials;        /* fill with zeros, infinities, NaNs, subnormal numbers and the like, too */
  double alpha[2], beta[2]; /* in the zones' kind of number; one part for real ones */
  int64_t integer_alpha, integer_beta;
  uint32_t volume;
  int rank; /* modes of extent 1 left out; by input mode */
  uint32_t extent[NAIVE_MODES];
  int64_t in_stride[NAIVE_MODES], out_stride[NAIVE_MODES]; /* bytes */
} naive_problem;

/* ----------------------------------------------------------------------------------------------------- what memory holds */

NAIVE uint64_t naive_hash(uint64_t n, uint64_t seed) {
  n = (n + seed) * UINT64_C(0x9e3779b97f4a7c15);
  n = (n ^ n >> 31) * UINT64_C(0xd6e8feb86659fd93);
  return n ^ n >> 32;
}

/* A number with so many bits of exponent and of fraction. */
NAIVE uint64_t naive_number(uint64_t bits, uint32_t exponent_bits, uint32_t fraction_bits, uint32_t specials) {
  const uint64_t most = (UINT64_C(1) << exponent_bits) - 1, all = (UINT64_C(1) << fraction_bits) - 1;
  const uint64_t sign = (bits >> 8 & 1) << (exponent_bits + fraction_bits);
  uint64_t exponent = most / 2 - 3 + (bits >> 9) % 6,
           fraction = bits >> 12 & all; /* 2^-3 to 2^3: sums lose few digits */
  switch (specials ? bits % 24 : 24) {
    case 0: /* a zero */
      exponent = fraction = 0;
      break;
    case 1: /* an infinity */
      exponent = most;
      fraction = 0;
      break;
    case 2: /* a NaN of any kind */
      exponent = most;
      fraction |= 1;
      break;
    case 3: /* a subnormal number, or a zero */
      exponent = 0;
      break;
    case 4: /* the largest number */
      exponent = most - 1;
      fraction = all;
      break;
    case 5: /* the smallest that is not subnormal, or close */
      exponent = 1;
      fraction &= 1;
      break;
    case 6: /* anything */
      exponent = (bits >> 40) % (most + 1);
      break;
    default:
      break;
  }
  return sign | exponent << fraction_bits | fraction;
}

/* Eight bytes of a zone, at a multiple of 8. */
NAIVE uint64_t naive_before8(const naive_problem *p, const naive_zone *zone, int64_t at) {
  const uint64_t n = (uint64_t)at / 8 * 4; /* so many numbers at most are in eight bytes */
  uint64_t v = 0;
  switch (p->kind) {
    case NAIVE_HALF:
    case NAIVE_BFLOAT:
      for (uint32_t i = 0; i < 4; ++i) {
        const uint64_t bits = naive_hash(n + i, zone->seed);
        v |= (p->kind == NAIVE_HALF ? naive_number(bits, 5, 10, p->specials) : naive_number(bits, 8, 7, p->specials))
             << 16 * i;
      }
      return v;
    case NAIVE_FLOAT:
      for (uint32_t i = 0; i < 2; ++i) v |= naive_number(naive_hash(n + i, zone->seed), 8, 23, p->specials) << 32 * i;
      return v;
    case NAIVE_DOUBLE:
      return naive_number(naive_hash(n, zone->seed), 11, 52, p->specials);
    default:
      return naive_hash(n, zone->seed);
  }
}

/* Any few bytes of a zone. */
NAIVE void naive_before(const naive_problem *p, const naive_zone *zone, int64_t at, uint32_t count, unsigned char *to) {
  uint64_t word = naive_before8(p, zone, at / 8 * 8) >> at % 8 * 8;
  for (uint32_t i = 0; i < count; ++i, ++at) {
    if (i > 0 && at % 8 == 0) word = naive_before8(p, zone, at);
    to[i] = (unsigned char)word;
    word >>= 8;
  }
}

NAIVE void naive_fill16(const naive_problem *p, const naive_zone *zone, int64_t at) {
  const uint64_t words[2] = {naive_before8(p, zone, at), naive_before8(p, zone, at + 8)};
  memcpy(zone->memory + at, words, 16);
}

NAIVE bool naive_untouched16(const naive_problem *p, const naive_zone *zone, int64_t at) {
  uint64_t words[2];
  memcpy(words, zone->memory + at, 16);
  return words[0] == naive_before8(p, zone, at) && words[1] == naive_before8(p, zone, at + 8);
}

/* ------------------------------------------------------------------------------------------------------------ numbers */

/* To nearest, ties to even, for so many bits of significand and a smallest exponent, as frexp counts it. */
NAIVE double naive_round(double v, int bits, int least) {
  int exponent;
  frexp(v, &exponent);
  if (exponent < least) exponent = least;
  return ldexp(rint(ldexp(v, bits - exponent)), exponent - bits);
}

NAIVE float naive_from_16(uint32_t bits, int exponent_bits, int fraction_bits) {
  const int most = (1 << exponent_bits) - 1, exponent = (int)(bits >> fraction_bits) & most;
  const int fraction = (int)bits & ((1 << fraction_bits) - 1), lowest = 1 - most / 2 - fraction_bits;
  double v = ldexp((double)fraction, lowest);
  if (exponent == most) {
    v = fraction ? (double)NAN : (double)INFINITY;
  } else if (exponent > 0) {
    v = ldexp((double)(fraction + (1 << fraction_bits)), lowest + exponent - 1);
  }
  return (float)(bits >> 15 & 1 ? -v : v);
}

NAIVE uint32_t naive_to_16(float value, int exponent_bits, int fraction_bits) {
  const int most = (1 << exponent_bits) - 1;
  const uint32_t sign = signbit(value) ? 0x8000u : 0u, infinity = (uint32_t)most << fraction_bits;
  if (isnan(value)) return infinity | 1u;
  if (isinf(value)) return sign | infinity;
  const double v = naive_round(fabs((double)value), fraction_bits + 1, 2 - most / 2);
  if (v == 0) return sign;
  int exponent;
  const double fraction = frexp(v, &exponent);
  if (exponent > most / 2 + 1) return sign | infinity;
  if (exponent < 2 - most / 2) return sign | (uint32_t)ldexp(v, most / 2 - 1 + fraction_bits);
  /* The significand's first bit adds 1 to the exponent. */
  return sign | (((uint32_t)(exponent - 2 + most / 2) << fraction_bits) + (uint32_t)ldexp(fraction, fraction_bits + 1));
}

/* What a factor makes of a number: nothing where it is 1, and of each part by itself where it is real. */
#define NAIVE_ARITHMETIC(T)                                                                                            \
  NAIVE void naive_times_##T(const double *factor, T *v, int parts) {                                                  \
    const T re = (T)factor[0], im = (T)factor[1];                                                                      \
    if (parts == 2 && !(im == 0)) {                                                                                    \
      const T a = re * v[0], b = im * v[1], c = re * v[1], d = im * v[0];                                              \
      v[0] = a - b;                                                                                                    \
      v[1] = c + d;                                                                                                    \
    } else if (!(re == 1)) {                                                                                           \
      for (int i = 0; i < parts; ++i) v[i] = re * v[i];                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  NAIVE void naive_sum_##T(const naive_problem *p, T *x, T *y, int parts) {                                            \
    naive_times_##T(p->alpha, x, parts);                                                                               \
    if (p->beta[0] == 0 && (parts == 1 || p->beta[1] == 0)) return;                                                    \
    naive_times_##T(p->beta, y, parts);                                                                                \
    for (int i = 0; i < parts; ++i) x[i] = x[i] + y[i];                                                                \
  }
NAIVE_ARITHMETIC(float)
NAIVE_ARITHMETIC(double)

/* Does it do more than move elements and flip signs? */
NAIVE bool naive_computes(const naive_problem *p) {
  if (p->kind == NAIVE_BYTES) return false;
  if (p->kind == NAIVE_INTEGER) return p->integer_alpha != 1 || p->integer_beta != 0;
  const bool complex = p->element_bytes > p->number_bytes;
  return !(p->alpha[0] == 1 && (!complex || p->alpha[1] == 0)) || !(p->beta[0] == 0 && (!complex || p->beta[1] == 0));
}

/* out: what an element should be, given its bytes in the input and those that it had in the output. */
NAIVE void naive_element(const naive_problem *p, const unsigned char *in, unsigned char *out) {
  const int parts = (int)(p->element_bytes / p->number_bytes);
  unsigned char x[16];
  for (uint32_t i = 0; i < p->element_bytes; ++i) x[i] = in[i];
  if (p->conjugate) x[p->element_bytes - 1] ^= 0x80;
  if (!naive_computes(p)) {
    for (uint32_t i = 0; i < p->element_bytes; ++i) out[i] = x[i];
  } else if (p->kind == NAIVE_DOUBLE) {
    double a[2], b[2];
    memcpy(a, x, sizeof a);
    memcpy(b, out, parts == 2 ? sizeof b : sizeof *b);
    naive_sum_double(p, a, b, parts);
    memcpy(out, a, parts == 2 ? sizeof a : sizeof *a);
  } else if (p->kind == NAIVE_FLOAT) {
    float a[2], b[2];
    memcpy(a, x, sizeof a);
    memcpy(b, out, parts == 2 ? sizeof b : sizeof *b);
    naive_sum_float(p, a, b, parts);
    memcpy(out, a, parts == 2 ? sizeof a : sizeof *a);
  } else if (p->kind == NAIVE_INTEGER) {
    uint64_t a = 0, b = 0;
    memcpy(&a, x, p->element_bytes == 8 ? 8 : 4); /* little-endian, as all that CUDA runs on */
    memcpy(&b, out, p->element_bytes == 8 ? 8 : 4);
    a = a * (uint64_t)p->integer_alpha + b * (uint64_t)p->integer_beta;
    memcpy(out, &a, p->element_bytes == 8 ? 8 : 4);
  } else {
    const int exponent_bits = p->kind == NAIVE_HALF ? 5 : 8, fraction_bits = 15 - exponent_bits;
    uint16_t a, b;
    memcpy(&a, x, 2);
    memcpy(&b, out, 2);
    float v[1] = {naive_from_16(a, exponent_bits, fraction_bits)},
          w[1] = {naive_from_16(b, exponent_bits, fraction_bits)};
    naive_sum_float(p, v, w, 1);
    a = (uint16_t)naive_to_16(v[0], exponent_bits, fraction_bits);
    memcpy(out, &a, 2);
  }
}

NAIVE bool naive_is_nan(const naive_problem *p, const unsigned char *number) {
  if (p->kind == NAIVE_DOUBLE) {
    double v;
    memcpy(&v, number, 8);
    return isnan(v);
  }
  if (p->kind == NAIVE_FLOAT) {
    float v;
    memcpy(&v, number, 4);
    return isnan(v);
  }
  if (p->kind != NAIVE_HALF && p->kind != NAIVE_BFLOAT) return false;
  uint16_t v;
  memcpy(&v, number, 2);
  return (v & 0x7fff) > (p->kind == NAIVE_HALF ? 0x7c00 : 0x7f80);
}

/* Bit for bit; but arithmetic may make any NaN of one. */
NAIVE bool naive_same(const naive_problem *p, const unsigned char *got, const unsigned char *wanted) {
  const bool computes = naive_computes(p);
  for (uint32_t i = 0; i < p->element_bytes; i += p->number_bytes) {
    bool same = true;
    for (uint32_t j = i; j < i + p->number_bytes; ++j) same = same && got[j] == wanted[j];
    if (!same && !(computes && naive_is_nan(p, got + i) && naive_is_nan(p, wanted + i))) return false;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ elements */

/* The places of an element in the two zones. */
NAIVE void naive_places(const naive_problem *p, uint32_t element, int64_t *in, int64_t *out) {
  *in = p->in_at;
  *out = p->out_at;
  for (int i = 0; i < p->rank; ++i) {
    const uint32_t rest = element / p->extent[i], digit = element - rest * p->extent[i];
    element = rest;
    *in += digit * p->in_stride[i];
    *out += digit * p->out_stride[i];
  }
}

/* Is the element right? Puts back what was there before it was written. */
NAIVE bool naive_check(const naive_problem *p, uint32_t element) {
  unsigned char from[16], wanted[16], got[16], before[16];
  int64_t in, out;
  naive_places(p, element, &in, &out);
  naive_before(p, &p->in, in, p->element_bytes, from);
  naive_before(p, &p->out, out, p->element_bytes, before);
  for (uint32_t i = 0; i < p->element_bytes; ++i) {
    wanted[i] = before[i];
    got[i] = p->out.memory[out + i];
    p->out.memory[out + i] = before[i];
  }
  naive_element(p, from, wanted);
  return naive_same(p, got, wanted);
}

#endif
