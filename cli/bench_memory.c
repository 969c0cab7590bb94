/* Buffers, values and the check.
 *
 * The value of an element is a multiplicative hash of its index, so that a result can be checked without reading the
 * input: one pass along the output, an odometer over its modes, and a multiplication per element. That is cheap enough
 * to check every element of every case. A fill with a constant, or a check of some elements, would pass engines that
 * write a tile to the wrong place or leave an edge unwritten. */
#include "bench_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    if (strcmp(name, dtypes[i].name) == 0) return &dtypes[i];
  return NULL;
}

const char *cutt_bench_dtype_names(void) { return "b1 i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 c8 c16"; }

/* ---------------------------------------------------------------------------------------------------------- buffers */

enum { HUGE_PAGE = 2 << 20, GUARD = 64, POISON = 0xa5 };

/* The number behind "NAME" in a file of "NAME NUMBER" lines, or of the number alone when name is ""; -1 without one. */
static int64_t read_number(const char *path, const char *name) {
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  char line[256];
  int64_t value = -1;
  size_t length = strlen(name);
  while (value < 0 && fgets(line, sizeof line, file))
    if (strncmp(line, name, length) == 0 && sscanf(line + length, "%" SCNd64, &value) != 1) value = -1;
  fclose(file);
  return value;
}

int64_t cutt_bench_memory_available(void) {
  int64_t kib = read_number("/proc/meminfo", "MemAvailable:");
  int64_t available = kib < 0 ? 0 : kib * 1024;
  /* In a container the limit is the control group's. Caches count as used there, though they would be given back. */
  int64_t limit = read_number("/sys/fs/cgroup/memory.max", "");
  int64_t used = read_number("/sys/fs/cgroup/memory.current", "");
  int64_t cache = read_number("/sys/fs/cgroup/memory.stat", "file ");
  if (limit >= 0 && used >= 0) {
    int64_t left = limit - used + (cache > 0 ? cache : 0);
    if (left < 0) left = 0;
    if (available == 0 || left < available) available = left;
  }
  return available;
}

/* Writes `byte` to count bytes, each thread its part. */
static void set_bytes(void *memory, int byte, size_t count) {
  enum { PART = 1 << 20 };
  int64_t parts = (int64_t)((count + PART - 1) / PART);
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int64_t part = 0; part < parts; ++part) {
    size_t begin = (size_t)part * PART, left = count - begin;
    memset((char *)memory + begin, byte, left < PART ? left : PART);
  }
}

static void touch_first(char *memory, size_t count, int threads) {
  size_t part = count / (size_t)(threads > 0 ? threads : 1) / HUGE_PAGE * HUGE_PAGE + HUGE_PAGE;
  int64_t parts = (int64_t)((count + part - 1) / part);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
  for (int64_t p = 0; p < parts; ++p) {
    size_t begin = (size_t)p * part, left = count - begin;
    memset(memory + begin, POISON, left < part ? left : part);
  }
}

bool cutt_bench_buffers_open(cutt_bench_buffers *buffers, size_t bytes, int threads) {
  *buffers = (cutt_bench_buffers){.bytes = bytes};
  if (bytes > SIZE_MAX / 2 - 2 * HUGE_PAGE) {
    errno = ENOMEM;
    return false;
  }
  buffers->mapped = bytes + GUARD + HUGE_PAGE;
  for (int i = 0; i < 2; ++i) {
    void *map = mmap(NULL, buffers->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
      int reason = errno;
      cutt_bench_buffers_close(buffers);
      errno = reason;
      return false;
    }
    buffers->map[i] = map;
    char *start = (char *)map + (-(uintptr_t)map & (HUGE_PAGE - 1));
#ifdef MADV_HUGEPAGE
    /* A wish: where it is not granted, small pages do. */
    (void)madvise(start, bytes + GUARD, MADV_HUGEPAGE);
#endif
    touch_first(start, bytes + GUARD, threads);
    if (i == 0) {
      buffers->in = start;
    } else {
      buffers->out = start;
    }
  }
  return true;
}

void cutt_bench_buffers_close(cutt_bench_buffers *buffers) {
  for (int i = 0; i < 2; ++i)
    if (buffers->map[i]) munmap(buffers->map[i], buffers->mapped);
  *buffers = (cutt_bench_buffers){0};
}

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

#ifdef _OPENMP
#define PARALLEL_FOR _Pragma("omp parallel for schedule(static)")
#else
#define PARALLEL_FOR
#endif

#define FILL(type, VALUE)                                                                                              \
  do {                                                                                                                 \
    type *list = memory;                                                                                               \
    PARALLEL_FOR for (int64_t i = 0; i < count; ++i) list[i] = VALUE((uint64_t)i + offset);                            \
  } while (0)

static void fill(void *memory, kind what, int64_t count, uint64_t offset) {
  switch (what) {
    case BITS_1:
      FILL(uint8_t, bits_1);
      break;
    case BITS_2:
      FILL(uint16_t, bits_2);
      break;
    case BITS_4:
      FILL(uint32_t, bits_4);
      break;
    case BITS_8:
      FILL(uint64_t, bits_8);
      break;
    case BITS_16:
      FILL(pair, bits_16);
      break;
    case HALF:
      FILL(uint16_t, half_bits);
      break;
    case SINGLE:
      FILL(uint32_t, single_bits);
      break;
    case DOUBLE:
      FILL(uint64_t, double_bits);
      break;
  }
}

void cutt_bench_fill_in(const cutt_bench_buffers *buffers, const cutt_bench_values *values, int64_t count) {
  int parts;
  kind what = kind_of(values, &parts);
  fill(buffers->in, what, count * parts, 0);
}

void cutt_bench_prepare_out(const cutt_bench_buffers *buffers, const cutt_bench_values *values, int64_t count) {
  size_t bytes = (size_t)count * (size_t)values->dtype->bytes;
  if (values->computed) {
    int parts;
    kind what = kind_of(values, &parts);
    fill(buffers->out, what, count * parts, OUT_OFFSET);
    memset((char *)buffers->out + bytes, POISON, GUARD);
  } else {
    set_bytes(buffers->out, POISON, bytes + GUARD);
  }
}

/* ------------------------------------------------------------------------------------------------------------ check */

/* Rows of the output, along its first mode, and where each begins in the input. */
typedef struct walk {
  int rank;                      /* modes besides the first */
  int64_t length, step;          /* of a row: elements, and distance in the input */
  int64_t extent[CUTT_MAX_RANK]; /* the other modes, in output order */
  int64_t stride[CUTT_MAX_RANK]; /* of them in the input, in elements */
  int64_t rows;
} walk;

static walk walk_of(const cutt_bench_case *c) {
  int64_t stride[CUTT_MAX_RANK], next = 1;
  for (int i = 0; i < c->rank; ++i) {
    stride[i] = next;
    next *= c->extent[i];
  }
  walk w = {.length = 1, .rows = 1};
  for (int i = 0; i < c->rank; ++i) {
    int mode = c->perm[i];
    if (i == 0) {
      w.length = c->extent[mode];
      w.step = stride[mode];
    } else {
      w.extent[w.rank] = c->extent[mode];
      w.stride[w.rank++] = stride[mode];
      w.rows *= c->extent[mode];
    }
  }
  return w;
}

/* Each returns the first wrong element of a row of the output, or its length. */
#define CHECK_BITS(name, type, VALUE, SAME)                                                                            \
  static int64_t name(const void *out, int64_t at, int64_t from, int64_t step, int64_t length) {                       \
    const type *row = (const type *)out + at;                                                                          \
    for (int64_t i = 0; i < length; ++i)                                                                               \
      if (!SAME(row[i], VALUE((uint64_t)(from + i * step)))) return i;                                                 \
    return length;                                                                                                     \
  }
#define EQUAL(a, b) ((a) == (b))

CHECK_BITS(check_1, uint8_t, bits_1, EQUAL)
CHECK_BITS(check_2, uint16_t, bits_2, EQUAL)
CHECK_BITS(check_4, uint32_t, bits_4, EQUAL)
CHECK_BITS(check_8, uint64_t, bits_8, EQUAL)
CHECK_BITS(check_16, pair, bits_16, same_pair)

typedef int64_t check_row(const void *out, int64_t at, int64_t from, int64_t step, int64_t length);
static check_row *const check_bits[] = {check_1, check_2, check_4, check_8, check_16};

/* The same for out = in + beta * out in integers, modulo 2^32 or 2^64. */
static int64_t check_integers(const void *out, int bytes, int64_t beta, int64_t at, int64_t from, int64_t step,
                              int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    uint64_t in = (uint64_t)(from + i * step), before = (uint64_t)(at + i) + OUT_OFFSET;
    bool good = bytes == 4 ? ((const uint32_t *)out)[at + i] == bits_4(in) + (uint32_t)beta * bits_4(before)
                           : ((const uint64_t *)out)[at + i] == bits_8(in) + (uint64_t)beta * bits_8(before);
    if (!good) return i;
  }
  return length;
}

/* The same in floating point, of elements of one or two numbers. A fused multiply-add may round less than once per
 * operation, so a few units in the last place are allowed. */
static int64_t check_numbers(const void *out, kind what, int parts, double beta, int64_t at, int64_t from, int64_t step,
                             int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    for (int part = 0; part < parts; ++part) {
      uint64_t in = (uint64_t)((from + i * step) * parts + part);
      int64_t here = (at + i) * parts + part;
      uint64_t before = (uint64_t)here + OUT_OFFSET;
      double got, expected, last_place;
      if (what == HALF) {
        got = half_to_double(((const uint16_t *)out)[here]);
        expected = half_to_double(half_bits(in)) + beta * half_to_double(half_bits(before));
        last_place = 0x1p-10;
      } else if (what == SINGLE) {
        got = single_to_double(((const uint32_t *)out)[here]);
        expected = single_to_double(single_bits(in)) + beta * single_to_double(single_bits(before));
        last_place = 0x1p-23;
      } else {
        got = to_double(((const uint64_t *)out)[here]);
        expected = to_double(double_bits(in)) + beta * to_double(double_bits(before));
        last_place = 0x1p-52;
      }
      /* Not >, so that NaN is wrong. */
      if (!(fabs(got - expected) <= 2 * last_place * (2 + 2 * fabs(beta)))) return i;
    }
  }
  return length;
}

/* The first wrong element in rows begin .. end-1, or -1. */
static int64_t check_rows(const cutt_bench_buffers *buffers, const cutt_bench_values *values, const walk *w,
                          int64_t begin, int64_t end) {
  int parts;
  kind what = kind_of(values, &parts);
  int64_t index[CUTT_MAX_RANK], from = 0, left = begin;
  for (int i = 0; i < w->rank; ++i) {
    index[i] = left % w->extent[i];
    left /= w->extent[i];
    from += index[i] * w->stride[i];
  }
  for (int64_t row = begin; row < end; ++row) {
    int64_t at = row * w->length, wrong;
    if (!values->computed) {
      wrong = check_bits[what](buffers->out, at, from, w->step, w->length);
    } else if (what <= BITS_16) {
      wrong = check_integers(buffers->out, values->dtype->bytes, (int64_t)values->beta, at, from, w->step, w->length);
    } else {
      wrong = check_numbers(buffers->out, what, parts, values->beta, at, from, w->step, w->length);
    }
    if (wrong < w->length) return at + wrong;
    for (int i = 0; i < w->rank; ++i) {
      from += w->stride[i];
      if (++index[i] < w->extent[i]) break;
      from -= w->stride[i] * w->extent[i];
      index[i] = 0;
    }
  }
  return -1;
}

/* "element (3, 4) of the output is wrong: its bytes are ..., " into why. */
static void describe(const cutt_bench_buffers *buffers, const cutt_bench_values *values, const cutt_bench_case *c,
                     int64_t element, char *why, size_t why_size) {
  char place[256], bytes[64] = "";
  size_t length = 0;
  int64_t left = element;
  place[0] = 0;
  for (int i = 0; i < c->rank && length < sizeof place; ++i) {
    int64_t extent = c->extent[c->perm[i]];
    length += (size_t)snprintf(place + length, sizeof place - length, "%s%" PRId64, i ? ", " : "", left % extent);
    left /= extent;
  }
  const unsigned char *got = (const unsigned char *)buffers->out + element * values->dtype->bytes;
  bool poison = !values->computed;
  for (int i = 0; i < values->dtype->bytes; ++i) {
    snprintf(bytes + 2 * i, sizeof bytes - (size_t)(2 * i), "%02x", got[i]);
    poison = poison && got[i] == POISON;
  }
  snprintf(why, why_size, "element %" PRId64 " of the output, (%s), is wrong: its bytes are %s%s", element, place,
           bytes, poison ? ", as they were before: it was never written" : "");
}

bool cutt_bench_check(const cutt_bench_buffers *buffers, const cutt_bench_values *values, const cutt_bench_case *c,
                      char *why, size_t why_size) {
  walk w = walk_of(c);
  /* Parts of some 64 Ki elements, so that threads share evenly and a part's start costs nothing. */
  int64_t part = 65536 / w.length + 1, parts = (w.rows + part - 1) / part, first = INT64_MAX;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) reduction(min : first)
#endif
  for (int64_t p = 0; p < parts; ++p) {
    int64_t end = (p + 1) * part < w.rows ? (p + 1) * part : w.rows;
    int64_t wrong = check_rows(buffers, values, &w, p * part, end);
    if (wrong >= 0 && wrong < first) first = wrong;
  }
  if (first != INT64_MAX) {
    describe(buffers, values, c, first, why, why_size);
    return false;
  }
  size_t bytes = (size_t)cutt_bench_volume(c) * (size_t)values->dtype->bytes;
  for (size_t i = 0; i < GUARD; ++i) {
    if (((const unsigned char *)buffers->out)[bytes + i] != POISON) {
      snprintf(why, why_size, "byte %zu behind the end of the output was overwritten", i);
      return false;
    }
  }
  return true;
}
