/* Checks of arguments that public calls have in common (arguments.h). */
#include "plan/arguments.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* A size inside a field would leave half a pointer. Each struct begins with a size_t, and so is a multiple of its alignment. */
static bool can_be_size(size_t size, size_t first_size) {
  return size >= first_size && size <= CUTT_LARGEST_STRUCT && size % _Alignof(size_t) == 0;
}

cuttResult cutt_struct_read(void *own, size_t own_size, size_t first_size, const void *callers, const char *name) {
  size_t size = 0;
  memcpy(&size, callers, sizeof size);
  if (!can_be_size(size, first_size)) {
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s->struct_size is %zu; it must be sizeof(*%s), %zu here: start from the CUTT_..._INIT macro",
                      name, size, name, own_size);
  }
  const unsigned char *bytes = callers;
  for (size_t i = own_size; i < size; ++i) {
    if (bytes[i]) {
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "%s->struct_size is %zu and byte %zu is not 0; this library knows the first %zu bytes, and "
                        "what lies beyond must be 0",
                        name, size, i, own_size);
    }
  }
  if (size < own_size) memset((unsigned char *)own + size, 0, own_size - size);
  memcpy(own, callers, size < own_size ? size : own_size);
  return CUTT_SUCCESS;
}

cuttResult cutt_info_check(const void *info, size_t first_size, size_t own_size, const char *type) {
  if (!info) return cutt_error(CUTT_INVALID_PARAMETER, "info is NULL; it must point to a %s", type);
  size_t size = 0;
  memcpy(&size, info, sizeof size);
  if (!can_be_size(size, first_size)) {
    return cutt_error(CUTT_INVALID_PARAMETER, "info->struct_size is %zu; it must be set to sizeof(%s), %zu", size, type,
                      own_size);
  }
  return CUTT_SUCCESS;
}

void cutt_info_write(void *info, const void *own, size_t own_size) {
  size_t size = 0;
  memcpy(&size, info, sizeof size);
  unsigned char *bytes = info;
  if (size > own_size) memset(bytes + own_size, 0, size - own_size);
  memcpy(bytes + sizeof size, (const unsigned char *)own + sizeof size,
         (size < own_size ? size : own_size) - sizeof size);
}

/* The bytes that a side spans, [low, high) from the caller's pointer. */
typedef struct range {
  uintptr_t low, high;
} range;

static range range_of(const void *pointer, int64_t low, int64_t high) {
  return (range){(uintptr_t)pointer + (uintptr_t)low, (uintptr_t)pointer + (uintptr_t)high};
}

bool cutt_buffers_valid(const cutt_canonical *canonical, const void *in, const void *out) {
  if (!in || !out) return false;
  if (in == out && canonical->identity) return true;
  const range from = range_of(in, canonical->in_low, canonical->in_high);
  const range to = range_of(out, canonical->out_low, canonical->out_high);
  return from.low >= to.high || to.low >= from.high;
}

cuttResult cutt_buffers_check(const cutt_canonical *canonical, const void *in, const void *out, const char *in_name,
                              const char *out_name) {
  if (cutt_buffers_valid(canonical, in, out)) return CUTT_SUCCESS;
  if (!in || !out) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to element (0, ..., 0)",
                      in ? out_name : in_name);
  }
  const range from = range_of(in, canonical->in_low, canonical->in_high);
  const range to = range_of(out, canonical->out_low, canonical->out_high);
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s spans bytes [0x%" PRIxPTR ", 0x%" PRIxPTR ") and %s [0x%" PRIxPTR ", 0x%" PRIxPTR
                    "), which overlap; they may do so only when both are one pointer and the permutation with its "
                    "strides is the identity",
                    in_name, from.low, from.high, out_name, to.low, to.high);
}

cuttResult cutt_text_buffer_check(const char *buffer, size_t size) {
  if (!buffer && size > 0) {
    return cutt_error(CUTT_INVALID_PARAMETER, "buffer is NULL and size is %zu; it may be NULL when size is 0", size);
  }
  return CUTT_SUCCESS;
}

cuttResult cutt_description_check(cuttFormat_t format, const char *buffer, size_t size) {
  if (format != CUTT_TEXT && format != CUTT_JSON) {
    return cutt_error(CUTT_INVALID_PARAMETER, "format is %ld; it must be CUTT_TEXT or CUTT_JSON", (long)format);
  }
  return cutt_text_buffer_check(buffer, size);
}
