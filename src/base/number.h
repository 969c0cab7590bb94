/* The smaller and the larger of two numbers; numbers without their sign, and rounded up; and numbers in the library's text files, which no locale changes. */
#ifndef CUTT_BASE_NUMBER_H
#define CUTT_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

static inline int64_t cutt_smaller_int64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline uint32_t cutt_smaller_uint32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline int cutt_smaller_int(int a, int b) { return a < b ? a : b; }
static inline double cutt_smaller_double(double a, double b) { return a < b ? a : b; }

static inline int64_t cutt_larger_int64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline uint32_t cutt_larger_uint32(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline int cutt_larger_int(int a, int b) { return a > b ? a : b; }
static inline double cutt_larger_double(double a, double b) { return a > b ? a : b; }

/* Both arguments are converted to the type that their sum has. */
#define CUTT_BY_TYPE(name, a, b)                                                                                       \
  _Generic((a) + (b), int64_t : name##_int64, uint32_t : name##_uint32, int : name##_int, double : name##_double)(a, b)
#define smaller(a, b) CUTT_BY_TYPE(cutt_smaller, a, b)
#define larger(a, b) CUTT_BY_TYPE(cutt_larger, a, b)

/* n without its sign; not of INT64_MIN. */
static inline int64_t magnitude(int64_t n) { return n < 0 ? -n : n; }

/* n / by, rounded up, and that times by; n >= 0, by > 0. */
static inline int64_t cutt_ceil_of(int64_t n, int64_t by) { return (n + by - 1) / by; }
static inline int64_t cutt_round_up(int64_t n, int64_t by) { return cutt_ceil_of(n, by) * by; }

/* Reads all of a word as a finite number in decimal, or as a whole number that an int64 holds. */
bool cutt_read_real(const char *word, double *value);
bool cutt_read_whole(const char *word, int64_t *value);

/* Adds a number, with as many digits as it takes to read the same number back. */
void cutt_add_real(cutt_text *text, double value);

#endif
