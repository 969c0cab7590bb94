/* Fill values; see fill.h. */
#include "cli/zarr/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The half-precision number that has this value, or the one next to it. */
static uint16_t half_of(double value) {
  const uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value)) return 0x7e00;
  value = fabs(value);
  if (value >= 65520.0) return sign | 0x7c00;
  if (value < 0x1p-14)
    return sign | (uint16_t)nearbyint(value * 0x1p24); /* a subnormal number, or the first after them */
  int exponent;
  const double mantissa = nearbyint(frexp(value, &exponent) * 2048.0); /* 1024 .. 2048 */
  return (uint16_t)(sign + ((exponent + 13) << 10) + (int)mantissa);
}

/* A number of the dtype's kind, in this machine's byte order. */
static bool write_number(double value, char kind, int bytes, uint8_t *to) {
  if (kind != 'f' && kind != 'c') return false;
  if (bytes == 2) {
    const uint16_t half = half_of(value);
    memcpy(to, &half, sizeof half);
  } else if (bytes == 4) {
    const float single = (float)value;
    memcpy(to, &single, sizeof single);
  } else if (bytes == 8) {
    memcpy(to, &value, sizeof value);
  } else {
    const long double wide = (long double)value;
    memcpy(to, &wide, sizeof wide < 16 ? sizeof wide : 16);
  }
  return true;
}

static bool write_integer(json_int_t value, char kind, int bytes, uint8_t *to) {
  const int bits = 8 * bytes;
  if (kind == 'f' || kind == 'c') return write_number((double)value, kind, bytes, to);
  if (kind == 'b' && (value < 0 || value > 1)) return false;
  if (kind == 'u' && (value < 0 || (bits < 64 && value >> bits))) return false;
  if (kind == 'i' && bits < 64 && (value >= (json_int_t)1 << (bits - 1) || value < -((json_int_t)1 << (bits - 1))))
    return false;
  const uint64_t pattern = (uint64_t)value;
  for (int i = 0; i < bytes && i < 8; ++i) to[i] = (uint8_t)(pattern >> (8 * i)); /* from the last byte on */
  if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    for (int i = 0; i < bytes; ++i) to[i] = (uint8_t)(pattern >> (8 * (bytes - 1 - i)));
  return true;
}

/* "NaN", "-Infinity", or the bits of a number, "0x7fc00000". */
static bool write_text(const char *text, char kind, int bytes, uint8_t *to) {
  if (!strcmp(text, "NaN")) return write_number((double)NAN, kind, bytes, to);
  if (!strcmp(text, "Infinity")) return write_number((double)INFINITY, kind, bytes, to);
  if (!strcmp(text, "-Infinity")) return write_number(-(double)INFINITY, kind, bytes, to);
  if ((kind != 'f' && kind != 'c') || strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * (size_t)bytes || bytes > 8)
    return false;
  char *end = NULL;
  const uint64_t bits = strtoull(text + 2, &end, 16);
  return !*end && write_integer((json_int_t)bits, 'V', bytes, to);
}

static bool write_part(const json_t *value, char kind, int bytes, uint8_t *to) {
  if (json_is_boolean(value)) return kind == 'b' && write_integer(json_is_true(value), kind, bytes, to);
  if (json_is_integer(value)) return write_integer(json_integer_value(value), kind, bytes, to);
  if (json_is_string(value)) return write_text(json_string_value(value), kind, bytes, to);
  if (!json_is_real(value)) return false;
  const double number = json_real_value(value);
  if (kind == 'f' || kind == 'c') return write_number(number, kind, bytes, to);
  /* 0.0 of an integer array, as some write it. */
  return number == nearbyint(number) && fabs(number) < 9e18 && write_integer((json_int_t)number, kind, bytes, to);
}

static void swap(uint8_t *at, int bytes) {
  for (int i = 0; i < bytes / 2; ++i) {
    const uint8_t byte = at[i];
    at[i] = at[bytes - 1 - i];
    at[bytes - 1 - i] = byte;
  }
}

bool cutt_zarr_fill_read(const json_t *value, const char *descr, int elem_bytes, uint8_t *element) {
  const char kind = descr[strspn(descr, "<>|=")];
  const bool swapped = *descr == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
  const int parts = kind == 'c' ? 2 : 1, bytes = elem_bytes / parts;
  memset(element, 0, 16);
  if (!value || json_is_null(value)) return true;
  if (strchr("SUV", kind)) { /* of these only nothing */
    const char *text = json_string_value(value);
    return text ? text[strspn(text, "A=")] == 0 : json_is_integer(value) && json_integer_value(value) == 0;
  }
  if (kind == 'c' && json_is_array(value)) {
    if (json_array_size(value) != 2) return false;
    for (int i = 0; i < 2; ++i)
      if (!write_part(json_array_get(value, (size_t)i), kind, bytes, element + i * bytes)) return false;
  } else if (!write_part(value, kind, bytes, element)) {
    return false;
  }
  for (int i = 0; i < parts && swapped; ++i) swap(element + i * bytes, bytes);
  return true;
}
