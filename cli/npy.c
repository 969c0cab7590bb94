/* The .npy header: reader and writer. See npy.h for what is accepted and why.
 *
 * The reader walks a cursor over the dict; each function below reads one thing or words the error and returns false.
 * Nothing reads past `end`. */
#include "npy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

typedef struct reader {
  const uint8_t *at, *end;
  char *why;
} reader;

__attribute__((format(printf, 2, 3))) static bool refuse(char *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, CUTT_NPY_WHY, format, arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  return false;
}

static void skip_space(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r'))) ++r->at;
}

/* What is at the cursor, in printable form, for errors: up to 16 bytes. */
static const char *found(const reader *r, char text[64]) {
  if (r->at >= r->end) return "the end of the header";
  int length = 0;
  text[length++] = '\'';
  for (int i = 0; i < 16 && r->at + i < r->end; ++i) {
    uint8_t c = r->at[i];
    if (c >= ' ' && c < 127)
      text[length++] = (char)c;
    else
      text[length++] = '?';
  }
  text[length++] = '\'';
  text[length] = 0;
  return text;
}

static bool expect(reader *r, char c, const char *where) {
  skip_space(r);
  if (r->at < r->end && *r->at == (uint8_t)c) {
    ++r->at;
    return true;
  }
  char text[64];
  return refuse(r->why, "malformed header: '%c' is wanted %s, found %s", c, where, found(r, text));
}

/* Takes c if it is next. */
static bool take(reader *r, char c) {
  skip_space(r);
  if (r->at >= r->end || *r->at != (uint8_t)c) return false;
  ++r->at;
  return true;
}

/* A string in single or double quotes, of printable ASCII without backslashes. */
static bool read_string(reader *r, char *string, size_t size, const char *what) {
  char text[64];
  skip_space(r);
  if (r->at >= r->end || (*r->at != '\'' && *r->at != '"'))
    return refuse(r->why, "malformed header: %s must be a string in quotes, found %s", what, found(r, text));
  uint8_t quote = *r->at++;
  size_t length = 0;
  for (; r->at < r->end && *r->at != quote; ++r->at) {
    if (*r->at < ' ' || *r->at >= 127 || *r->at == '\\')
      return refuse(r->why, "malformed header: %s has the byte 0x%02x in it, which is not allowed there", what, *r->at);
    if (length + 1 >= size)
      return refuse(r->why, "malformed header: %s is longer than the %zu letters that are allowed", what, size - 1);
    string[length++] = (char)*r->at;
  }
  if (r->at >= r->end) return refuse(r->why, "malformed header: the quote that ends %s is missing", what);
  ++r->at;
  string[length] = 0;
  return true;
}

static bool read_bool(reader *r, bool *value) {
  skip_space(r);
  size_t left = (size_t)(r->end - r->at);
  if (left >= 4 && !memcmp(r->at, "True", 4)) {
    r->at += 4;
    *value = true;
    return true;
  }
  if (left >= 5 && !memcmp(r->at, "False", 5)) {
    r->at += 5;
    *value = false;
    return true;
  }
  char text[64];
  return refuse(r->why, "malformed header: fortran_order must be True or False, found %s", found(r, text));
}

static bool read_extent(reader *r, int64_t *extent) {
  char text[64];
  skip_space(r);
  const uint8_t *start = r->at;
  int64_t value = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at)
    if (__builtin_mul_overflow(value, (int64_t)10, &value) || __builtin_add_overflow(value, *r->at - '0', &value)) {
      r->at = start;
      return refuse(r->why, "the shape has the extent %s..., which is more than 2^63-1", found(r, text));
    }
  if (r->at == start)
    return refuse(r->why, "malformed header: shape must be a tuple of whole numbers >= 0, found %s", found(r, text));
  if (*start == '0' && r->at - start > 1) {
    r->at = start;
    return refuse(r->why, "malformed header: shape has a number with a leading zero, %s", found(r, text));
  }
  if (r->at < r->end && *r->at == 'L') ++r->at; /* Python 2 wrote long integers so */
  *extent = value;
  return true;
}

static bool read_shape(reader *r, cutt_npy *npy) {
  npy->rank = 0;
  if (!expect(r, '(', "where the shape begins")) return false;
  while (!take(r, ')')) {
    if (npy->rank == CUTT_NPY_MAX_RANK)
      return refuse(r->why, "the shape has more than %d extents, the most that is supported", CUTT_NPY_MAX_RANK);
    if (!read_extent(r, &npy->shape[npy->rank])) return false;
    ++npy->rank;
    if (take(r, ',')) continue;
    if (npy->rank == 1) return expect(r, ',', "after the one extent of the shape"); /* (3) is no tuple */
    return expect(r, ')', "where the shape ends");
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------- dtypes */

/* Bytes of an element of this descr, into *elem_bytes. Elements are moved and never computed on, so byte order is of no
 * matter and any fixed-size dtype of 1, 2, 4, 8 or 16 bytes will do; what is not one is refused by name. */
static bool check_descr(const char *descr, int *elem_bytes, char *why) {
  const char *at = descr;
  if (*at && strchr("<>|=", *at)) ++at;
  char kind = *at;
  if (kind == 'O')
    return refuse(why,
                  "dtype '%s' is Python objects, stored as a pickle; convert the array to a numeric dtype first, "
                  "with a.astype('f8') for instance",
                  descr);
  if (!kind || !strchr("biufcmMSUV", kind)) return refuse(why, "dtype '%s' is not one that NumPy writes", descr);
  ++at;
  int64_t size = 0;
  const char *digits = at;
  for (; *at >= '0' && *at <= '9' && at - digits < 9; ++at) size = size * 10 + (*at - '0');
  if (at == digits || *digits == '0') return refuse(why, "dtype '%s' has no size, or one of 0 bytes", descr);
  if ((kind == 'm' || kind == 'M') && *at == '[') { /* the unit: <M8[ns], <m8[25s] */
    size_t unit = strspn(at + 1, "abcdefghijklmnopqrstuvwxyzDMWY0123456789/");
    if (unit > 0 && at[unit + 1] == ']') at += unit + 2;
  }
  if (*at) return refuse(why, "dtype '%s' is not one that NumPy writes", descr);
  if (kind == 'U') size *= 4;
  bool known = kind == 'b'                  ? size == 1
               : kind == 'i' || kind == 'u' ? size == 1 || size == 2 || size == 4 || size == 8
               : kind == 'f'                ? size == 2 || size == 4 || size == 8 || size == 16
               : kind == 'c'                ? size == 8 || size == 16
               : kind == 'm' || kind == 'M' ? size == 8
                                            : size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
  if (!known)
    return refuse(why,
                  "dtype '%s' has elements of %lld bytes; the dtypes that can be permuted are b1, i1-i8, u1-u8, "
                  "f2-f16, c8, c16, m8, M8, and S, U, V of 1, 2, 4, 8 or 16 bytes",
                  descr, (long long)size);
  *elem_bytes = (int)size;
  return true;
}

/* ------------------------------------------------------------------------------------------------------- reading */

static bool read_value(reader *r, const char *key, cutt_npy *npy, bool seen[3]) {
  static const char *const keys[3] = {"descr", "fortran_order", "shape"};
  int index = 0;
  while (index < 3 && strcmp(key, keys[index]) != 0) ++index;
  if (index == 3)
    return refuse(r->why, "malformed header: unknown key '%s'; there must be descr, fortran_order and shape", key);
  if (seen[index]) return refuse(r->why, "malformed header: the key %s is there twice", key);
  seen[index] = true;
  if (index == 1) return read_bool(r, &npy->fortran_order);
  if (index == 2) return read_shape(r, npy);
  skip_space(r);
  if (r->at < r->end && (*r->at == '[' || *r->at == '('))
    return refuse(r->why,
                  "the dtype is structured (a record of fields); permute one field at a time, "
                  "with np.save('field.npy', a['name'])");
  return read_string(r, npy->descr, sizeof npy->descr, "descr") && check_descr(npy->descr, &npy->elem_bytes, r->why);
}

static bool read_dict(reader *r, cutt_npy *npy) {
  bool seen[3] = {false, false, false};
  char key[32], text[64];
  if (!expect(r, '{', "where the header begins")) return false;
  while (!take(r, '}')) {
    if (!read_string(r, key, sizeof key, "a key") || !expect(r, ':', "after a key") || !read_value(r, key, npy, seen))
      return false;
    if (take(r, ',')) continue;
    if (!expect(r, '}', "where the header ends")) return false;
    break;
  }
  skip_space(r);
  if (r->at < r->end)
    return refuse(r->why, "malformed header: after the closing '}' there may be only spaces, found %s", found(r, text));
  if (!seen[0] || !seen[1] || !seen[2])
    return refuse(r->why, "malformed header: the key %s is missing",
                  !seen[0]   ? "descr"
                  : !seen[1] ? "fortran_order"
                             : "shape");
  return true;
}

/* Fills volume and data_bytes. A zero extent makes them 0, but the others must still have a product that fits: NumPy
 * refuses the rest as well. */
static bool count_bytes(cutt_npy *npy, char *why) {
  int64_t bytes = npy->elem_bytes;
  bool empty = false;
  for (int i = 0; i < npy->rank; ++i) {
    if (npy->shape[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, npy->shape[i], &bytes))
      return refuse(why, "the shape has more than 2^63-1 bytes of elements");
  }
  if (bytes > INT64_MAX - CUTT_NPY_MAX_HEADER - CUTT_NPY_HEADER_ROOM)
    return refuse(why, "the shape has %lld bytes of elements, more than a file can have", (long long)bytes);
  npy->data_bytes = empty ? 0 : bytes;
  npy->volume = npy->data_bytes / npy->elem_bytes;
  return true;
}

bool cutt_npy_parse(const uint8_t *data, size_t size, cutt_npy *npy, char *why) {
  memset(npy, 0, sizeof *npy);
  if (size >= 4 && !memcmp(data, "PK\003\004", 4))
    return refuse(why, "not an .npy file but an archive, which can be read only from a file, by FILE.npz:NAME");
  if (size < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
    return refuse(why, "not an .npy file: it does not begin with \\x93NUMPY");
  if (size < 10) return refuse(why, "truncated: the file ends after %zu bytes, within the header", size);
  npy->version = data[6];
  if (npy->version < 1 || npy->version > 3 || data[7] != 0)
    return refuse(why, "the .npy version is %d.%d; 1.0, 2.0 and 3.0 are supported", data[6], data[7]);
  size_t start = npy->version == 1 ? 10 : 12;
  if (size < start) return refuse(why, "truncated: the file ends after %zu bytes, within the header", size);
  uint32_t length = (uint32_t)data[8] | (uint32_t)data[9] << 8;
  if (npy->version > 1) length |= (uint32_t)data[10] << 16 | (uint32_t)data[11] << 24;
  if (length > CUTT_NPY_MAX_HEADER)
    return refuse(why, "the header claims to be %lu bytes long; at most %d are accepted", (unsigned long)length,
                  CUTT_NPY_MAX_HEADER);
  if (length > size - start)
    return refuse(why, "truncated: the header claims to be %lu bytes long, but the file ends after %zu of them",
                  (unsigned long)length, size - start);
  reader r = {data + start, data + start + length, why};
  if (!read_dict(&r, npy) || !count_bytes(npy, why)) return false;
  npy->data_start = (int64_t)(start + length);
  return true;
}

bool cutt_npy_check_length(const cutt_npy *npy, int64_t file_bytes, char *why) {
  if (file_bytes - npy->data_start >= npy->data_bytes) return true;
  return refuse(why, "truncated: the header promises %lld elements of dtype '%s', %lld bytes, but %lld bytes follow it",
                (long long)npy->volume, npy->descr, (long long)npy->data_bytes,
                (long long)(file_bytes - npy->data_start));
}

/* ------------------------------------------------------------------------------------------------------- writing */

size_t cutt_npy_write_header(cutt_npy *npy, uint8_t *buffer) {
  char *text = (char *)buffer;
  const size_t start = 10, room = CUTT_NPY_HEADER_ROOM;
  /* 64 extents of 20 digits are 1400 bytes: version 1.0, whose header may have 65535, is always enough, and the checks
   * for room below never strike. */
  size_t length = start + (size_t)snprintf(text + start, room - start,
                                           "{'descr': '%s', 'fortran_order': False, 'shape': (", npy->descr);
  int digits = 1;
  for (int i = 0; i < npy->rank && length < room; ++i) {
    digits = snprintf(text + length, room - length, "%lld", (long long)npy->shape[i]);
    length += (size_t)digits;
    if (length < room && (i + 1 < npy->rank || npy->rank == 1))
      length += (size_t)snprintf(text + length, room - length, npy->rank == 1 ? "," : ", ");
  }
  if (length < room) length += (size_t)snprintf(text + length, room - length, "), }");
  /* Since 1.23 NumPy leaves room for the first extent to grow to 21 digits in place, and so do we: the same bytes. */
  if (npy->rank > 0 && npy->shape[0] >= 0) {
    digits = snprintf(NULL, 0, "%lld", (long long)npy->shape[0]);
    for (int i = digits; i < 21 && length < room; ++i) text[length++] = ' ';
  }
  /* At least one byte of padding is the line end; the elements begin at a multiple of 64. */
  do {
    if (length + 1 >= room) break;
    text[length++] = ' ';
  } while ((length + 1) % 64 != 0);
  text[length++] = '\n';
  memcpy(buffer, magic, sizeof magic);
  buffer[6] = 1;
  buffer[7] = 0;
  buffer[8] = (uint8_t)((length - start) & 255);
  buffer[9] = (uint8_t)((length - start) >> 8);
  npy->version = 1;
  npy->fortran_order = false;
  npy->data_start = (int64_t)length;
  npy->volume = 1;
  for (int i = 0; i < npy->rank; ++i) npy->volume *= npy->shape[i];
  npy->data_bytes = npy->volume * npy->elem_bytes;
  return length;
}
