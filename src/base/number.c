/* Numbers as words of a file, by the "C" locale whatever the program has set: a decimal comma would be another number
 * on another machine. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#endif
#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number as people write it in decimal: no blanks, no hexadecimal digits, no "inf". */
static bool is_number(const char *word) {
  const char *c = word + (*word == '-');
  size_t digits = strspn(c, "0123456789");
  c += digits;
  if (*c == '.') {
    const size_t more = strspn(++c, "0123456789");
    c += more;
    digits += more;
  }
  if (digits == 0) return false;
  if (*c == 'e' || *c == 'E') {
    ++c;
    if (*c == '+' || *c == '-') ++c;
    const size_t exponent = strspn(c, "0123456789");
    if (exponent == 0) return false;
    c += exponent;
  }
  return *c == 0;
}

bool cutt_read_real(const char *word, double *value) {
  if (!is_number(word)) return false;
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!c_locale) return false;
  locale_t before = uselocale(c_locale);
  char *end = NULL;
  *value = strtod(word, &end);
  uselocale(before);
  freelocale(c_locale);
  return *end == 0 && isfinite(*value);
}

bool cutt_read_whole(const char *word, int64_t *value) {
  const bool negative = *word == '-';
  const char *c = word + negative;
  if (!*c) return false;
  for (*value = 0; *c; ++c) {
    if (*c < '0' || *c > '9' || __builtin_mul_overflow(*value, 10, value)) return false;
    if (__builtin_add_overflow(*value, negative ? '0' - *c : *c - '0', value)) return false;
  }
  return true;
}

void cutt_add_real(cutt_text *text, double value) {
  char word[40];
  for (int digits = 6; digits <= 17; ++digits) {
    double back = 0;
    cutt_text shortest = cutt_text_start(word, sizeof word);
    cutt_text_add(&shortest, "%.*g", digits, value);
    if (cutt_read_real(word, &back) && !(back < value) && !(back > value)) break;
  }
  cutt_text_add(text, "%s", word);
}
