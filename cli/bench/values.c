/* Values and their check.
 *
 * The value of an element is a multiplicative hash of its index, so that a result can be checked without reading the
 * input: one pass along the output, an odometer over its modes, and a multiplication per element. That is cheap enough
 * to check every element of every case. A fill with a constant would pass engines that write a tile to the wrong place
 * or leave an edge unwritten.
 *
 * All functions work on a window of consecutive elements: the whole tensor where it lies in host memory, or what has
 * been fetched of it from a device. */
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- types */

static const cutt_bench_dtype dtypes[] = {
    {"b1", 1, CUTT_BYTES_1, (cuttType_t)0}, {"i1", 1, CUTT_BYTES_1, (cuttType_t)0},
    {"u1", 1, CUTT_BYTES_1, (cuttType_t)0}, {"i2", 2, CUTT_BYTES_2, (cuttType_t)0},
    {"u2", 2, CUTT_BYTES_2, (cuttType_t)0}, {"f2", 2, CUTT_BYTES_2, CUTT_F16},
    {"i4", 4, CUTT_BYTES_4, CUTT_I32},      {"u4", 4, CUTT_BYTES_4, (cuttType_t)0},
    {"f4", 4, CUTT_BYTES_4, CUTT_F32},      {"i8", 8, CUTT_BYTES_8, CUTT_I64},
    {"u8", 8, CUTT_BYTES_8, (cuttType_t)0}, {"f8", 8, CUTT_BYTES_8, CUTT_F64},
    {"c8", 8, CUTT_BYTES_8, CUTT_C32},      {"c16", 16, CUTT_BYTES_16, CUTT_C64},
};

const cutt_bench_dtype *cutt_bench_dtype_find(const char *name) {
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; ++i)
    if (!strcmp(name, dtypes[i].name)) return &dtypes[i];
  return NULL;
}

const char *cutt_bench_dtype_names(void) { return "b1 i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 c8 c16"; }

/* ----------------------------------------------------------------------------------------------------------- values */

/* What an element is, for the purpose of its value. */
typedef enum kind { BITS_1, BITS_2, BITS_4, BITS_8, BITS_16, HALF, SINGLE, DOUBLE } kind;

/* The kind of the numbers that a dtype is made of, and how many of them make an element. */
static kind kind_of(const cutt_bench_values *values, int *parts) {
  *parts = 1;
  if (values->computed) {
    switch (values->dtype->computed) {
      case CUTT_F16:
        return HALF;
      case CUTT_F32:
        return SINGLE;
      case CUTT_F64:
        return DOUBLE;
      case CUTT_C32:
        return *parts = 2, SINGLE;
      case CUTT_C64:
        return *parts = 2, DOUBLE;
      default:
        break;
    }
  }
  switch (values->dtype->bytes) {
    case 1:
      return BITS_1;
    case 2:
      return BITS_2;
    case 4:
      return BITS_4;
    case 8:
      return BITS_8;
    default:
      return BITS_16;
  }
}

typedef struct pair {
  uint64_t low, high;
} pair;

/* Multiplication by an odd number is one to one modulo 2^64 and 2^32; for narrow elements the top bits of the product
 * are those that change least regularly. */
static inline uint64_t hash(uint64_t index) { return index * 0x9e3779b97f4a7c15u; }
static inline uint8_t bits_1(uint64_t index) { return (uint8_t)(hash(index) >> 56); }
static inline uint16_t bits_2(uint64_t index) { return (uint16_t)(hash(index) >> 48); }
static inline uint32_t bits_4(uint64_t index) { return (uint32_t)index * 2654435761u; }
static inline uint64_t bits_8(uint64_t index) { return hash(index); }
static inline pair bits_16(uint64_t index) { return (pair){hash(index), ~hash(index)}; }
static inline bool same_pair(pair a, pair b) { return a.low == b.low && a.high == b.high; }

/* Numbers in [1, 2), as their bits: no denormals, no NaN, and a sum of two is exact to a rounding. */
static inline uint16_t half_bits(uint64_t index) { return (uint16_t)(0x3c00u | hash(index) >> 54); }
static inline uint32_t single_bits(uint64_t index) { return 0x3f800000u | (uint32_t)(hash(index) >> 41); }
static inline uint64_t double_bits(uint64_t index) { return 0x3ff0000000000000u | hash(index) >> 12; }

static double half_to_double(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 0    ? ldexp(mantissa, -24)
                 : exponent == 31 ? (mantissa ? (double)NAN : (double)INFINITY)
                                  : ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 ? -value : value;
}

static inline double single_to_double(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline double to_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* What out holds before an execution with beta begins, by index; other numbers than in's. */
enum { OUT_OFFSET = 0x2545f491 };

/* Elements begin .. end-1, of the indices from begin + offset on. */
static void fill_part(void *memory, kind what, int64_t begin, int64_t end, uint64_t offset) {
  switch (what) {
    case BITS_1:
      for (int64_t i = begin; i < end; ++i) ((uint8_t *)memory)[i] = bits_1((uint64_t)i + offset);
      break;
    case BITS_2:
      for (int64_t i = begin; i < end; ++i) ((uint16_t *)memory)[i] = bits_2((uint64_t)i + offset);
      break;
    case BITS_4:
      for (int64_t i = begin; i < end; ++i) ((uint32_t *)memory)[i] = bits_4((uint64_t)i + offset);
      break;
    case BITS_8:
      for (int64_t i = begin; i < end; ++i) ((uint64_t *)memory)[i] = bits_8((uint64_t)i + offset);
      break;
    case BITS_16:
      for (int64_t i = begin; i < end; ++i) ((pair *)memory)[i] = bits_16((uint64_t)i + offset);
      break;
    case HALF:
      for (int64_t i = begin; i < end; ++i) ((uint16_t *)memory)[i] = half_bits((uint64_t)i + offset);
      break;
    case SINGLE:
      for (int64_t i = begin; i < end; ++i) ((uint32_t *)memory)[i] = single_bits((uint64_t)i + offset);
      break;
    case DOUBLE:
      for (int64_t i = begin; i < end; ++i) ((uint64_t *)memory)[i] = double_bits((uint64_t)i + offset);
      break;
  }
}

/* Elements that a thread fills or poisons at a time. */
enum { PART = 1 << 17 };

static void fill(void *memory, kind what, int64_t count, uint64_t offset) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int64_t begin = 0; begin < count; begin += PART)
    fill_part(memory, what, begin, count - begin < PART ? count : begin + PART, offset);
}

void cutt_bench_poison(void *memory, size_t bytes) {
  const int64_t count = (int64_t)bytes;
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int64_t begin = 0; begin < count; begin += PART)
    memset((char *)memory + begin, CUTT_BENCH_POISON, (size_t)(count - begin < PART ? count - begin : PART));
}

void cutt_bench_fill(const cutt_bench_values *values, void *memory, int64_t begin, int64_t count) {
  int parts;
  kind what = kind_of(values, &parts);
  fill(memory, what, count * parts, (uint64_t)(begin * parts));
}

void cutt_bench_fill_before(const cutt_bench_values *values, void *memory, int64_t begin, int64_t count) {
  if (values->computed) {
    int parts;
    kind what = kind_of(values, &parts);
    fill(memory, what, count * parts, (uint64_t)(begin * parts) + OUT_OFFSET);
  } else {
    cutt_bench_poison(memory, (size_t)count * (size_t)values->dtype->bytes);
  }
}

/* ------------------------------------------------------------------------------------------------------------ check */

/* Rows of the output, along its first mode, and where each begins in the input. */
typedef struct walk {
  int rank;                      /* modes besides the first */
  int64_t first;                 /* where the input's element (0, ..., 0) is */
  int64_t length, step;          /* of a row: elements, and distance in the input */
  int64_t extent[CUTT_MAX_RANK]; /* the other modes, in output order */
  int64_t stride[CUTT_MAX_RANK]; /* of them in the input, in elements */
} walk;

static walk walk_of(const cutt_bench_case *c) {
  walk w = {.length = 1};
  (void)cutt_bench_span(c, &w.first);
  for (int i = 0; i < c->rank; ++i) {
    int mode = c->perm[i];
    if (i == 0) {
      w.length = c->extent[mode];
      w.step = c->in_stride[mode];
    } else {
      w.extent[w.rank] = c->extent[mode];
      w.stride[w.rank++] = c->in_stride[mode];
    }
  }
  return w;
}

/* A run of elements in one row of the output: where they are, the index of the first, the input element that the first
 * comes from and the distance to the next one's, and how many. */
typedef struct run {
  const void *elements;
  int64_t at, from, step, length;
} run;

static inline uint64_t source_of(const run *r, int64_t i) { return (uint64_t)(r->from + i * r->step); }

/* The first wrong element of a run, or its length. */
static int64_t check_bits(const run *r, kind what) {
  const void *list = r->elements;
  int64_t i = 0;
  switch (what) {
    case BITS_1:
      while (i < r->length && ((const uint8_t *)list)[i] == bits_1(source_of(r, i))) ++i;
      break;
    case BITS_2:
      while (i < r->length && ((const uint16_t *)list)[i] == bits_2(source_of(r, i))) ++i;
      break;
    case BITS_4:
      while (i < r->length && ((const uint32_t *)list)[i] == bits_4(source_of(r, i))) ++i;
      break;
    case BITS_8:
      while (i < r->length && ((const uint64_t *)list)[i] == bits_8(source_of(r, i))) ++i;
      break;
    default:
      while (i < r->length && same_pair(((const pair *)list)[i], bits_16(source_of(r, i)))) ++i;
      break;
  }
  return i;
}

/* The same for out = in + beta * out in integers, modulo 2^32 or 2^64. */
static int64_t check_integers(const run *r, int bytes, int64_t beta) {
  for (int64_t i = 0; i < r->length; ++i) {
    uint64_t in = source_of(r, i), before = (uint64_t)(r->at + i) + OUT_OFFSET;
    bool good = bytes == 4 ? ((const uint32_t *)r->elements)[i] == bits_4(in) + (uint32_t)beta * bits_4(before)
                           : ((const uint64_t *)r->elements)[i] == bits_8(in) + (uint64_t)beta * bits_8(before);
    if (!good) return i;
  }
  return r->length;
}

/* The same in floating point, of elements of one or two numbers. A fused multiply-add may round less than once per
 * operation, so a few units in the last place are allowed. */
static int64_t check_numbers(const run *r, kind what, int parts, double beta) {
  for (int64_t i = 0; i < r->length; ++i) {
    for (int part = 0; part < parts; ++part) {
      int64_t here = i * parts + part;
      uint64_t in = (uint64_t)((r->from + i * r->step) * parts + part);
      uint64_t before = (uint64_t)(r->at * parts + here) + OUT_OFFSET;
      double got, expected, last_place;
      if (what == HALF) {
        got = half_to_double(((const uint16_t *)r->elements)[here]);
        expected = half_to_double(half_bits(in)) + beta * half_to_double(half_bits(before));
        last_place = 0x1p-10;
      } else if (what == SINGLE) {
        got = single_to_double(((const uint32_t *)r->elements)[here]);
        expected = single_to_double(single_bits(in)) + beta * single_to_double(single_bits(before));
        last_place = 0x1p-23;
      } else {
        got = to_double(((const uint64_t *)r->elements)[here]);
        expected = to_double(double_bits(in)) + beta * to_double(double_bits(before));
        last_place = 0x1p-52;
      }
      /* Not >, so that NaN is wrong. */
      if (!(fabs(got - expected) <= 2 * last_place * (2 + 2 * fabs(beta)))) return i;
    }
  }
  return r->length;
}

/* The first wrong element of begin .. end-1, or -1; the window's first element is number window_begin. */
static int64_t check_part(const cutt_bench_values *values, const walk *w, const void *window, int64_t window_begin,
                          int64_t begin, int64_t end) {
  int parts;
  kind what = kind_of(values, &parts);
  int64_t index[CUTT_MAX_RANK], from = w->first, left = begin / w->length, skip = begin % w->length;
  for (int i = 0; i < w->rank; ++i) {
    index[i] = left % w->extent[i];
    left /= w->extent[i];
    from += index[i] * w->stride[i];
  }
  for (int64_t at = begin; at < end;) {
    run r = {.elements = (const char *)window + (at - window_begin) * values->dtype->bytes,
             .at = at,
             .from = from + skip * w->step,
             .step = w->step,
             .length = w->length - skip < end - at ? w->length - skip : end - at};
    int64_t wrong = !values->computed ? check_bits(&r, what)
                    : what <= BITS_16 ? check_integers(&r, values->dtype->bytes, (int64_t)values->beta)
                                      : check_numbers(&r, what, parts, values->beta);
    if (wrong < r.length) return at + wrong;
    at += r.length;
    skip = 0;
    for (int i = 0; i < w->rank; ++i) {
      from += w->stride[i];
      if (++index[i] < w->extent[i]) break;
      from -= w->stride[i] * w->extent[i];
      index[i] = 0;
    }
  }
  return -1;
}

/* "element 7 of the output, (3, 4), is wrong: its bytes are ..." into why; got are its bytes. */
static void describe(const cutt_bench_values *values, const cutt_bench_case *c, int64_t element,
                     const unsigned char *got, char *why, size_t why_size) {
  char place[256], bytes[64] = "";
  size_t length = 0;
  int64_t left = element;
  place[0] = 0;
  for (int i = 0; i < c->rank && length < sizeof place; ++i) {
    int64_t extent = c->extent[c->perm[i]];
    length += (size_t)snprintf(place + length, sizeof place - length, "%s%" PRId64, i ? ", " : "", left % extent);
    left /= extent;
  }
  bool poison = !values->computed;
  for (int i = 0; i < values->dtype->bytes; ++i) {
    snprintf(bytes + 2 * i, sizeof bytes - (size_t)(2 * i), "%02x", got[i]);
    poison = poison && got[i] == CUTT_BENCH_POISON;
  }
  snprintf(why, why_size, "element %" PRId64 " of the output, (%s), is wrong: its bytes are %s%s", element, place,
           bytes, poison ? ", as they were before: it was never written" : "");
}

bool cutt_bench_compare(const cutt_bench_values *values, const cutt_bench_case *c, const void *window, int64_t begin,
                        int64_t count, char *why, size_t why_size) {
  walk w = walk_of(c);
  /* Parts of 64 Ki elements, so that threads share evenly and a part's start costs nothing. */
  const int64_t part = 65536;
  int64_t parts = (count + part - 1) / part, first = INT64_MAX;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) reduction(min : first)
#endif
  for (int64_t p = 0; p < parts; ++p) {
    int64_t end = (p + 1) * part < count ? (p + 1) * part : count;
    int64_t wrong = check_part(values, &w, window, begin, begin + p * part, begin + end);
    if (wrong >= 0 && wrong < first) first = wrong;
  }
  if (first == INT64_MAX) return true;
  describe(values, c, first, (const unsigned char *)window + (first - begin) * values->dtype->bytes, why, why_size);
  return false;
}
