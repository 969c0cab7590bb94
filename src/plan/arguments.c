/* Checks of arguments that public calls have in common (arguments.h). */
#include "plan/arguments.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

cuttResult cutt_struct_read(void *own, size_t own_size, size_t first_size, const void *callers, const char *name) {
  size_t size = 0;
  memcpy(&size, callers, sizeof size);
  if (size < first_size || size > CUTT_LARGEST_STRUCT) {
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

cuttResult cutt_buffers_check(const cutt_canonical *canonical, const void *in, const void *out, const char *in_name,
                              const char *out_name) {
  if (!in || !out) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to element (0, ..., 0)",
                      in ? out_name : in_name);
  }
  if (in == out && canonical->identity) return CUTT_SUCCESS;
  const uintptr_t in_low = (uintptr_t)in + (uintptr_t)canonical->in_low;
  const uintptr_t in_high = (uintptr_t)in + (uintptr_t)canonical->in_high;
  const uintptr_t out_low = (uintptr_t)out + (uintptr_t)canonical->out_low;
  const uintptr_t out_high = (uintptr_t)out + (uintptr_t)canonical->out_high;
  if (in_low >= out_high || out_low >= in_high) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s spans bytes [0x%" PRIxPTR ", 0x%" PRIxPTR ") and %s [0x%" PRIxPTR ", 0x%" PRIxPTR
                    "), which overlap; they may do so only when both are one pointer and the permutation with its "
                    "strides is the identity",
                    in_name, in_low, in_high, out_name, out_low, out_high);
}

cuttResult cutt_text_buffer_check(const char *buffer, size_t size) {
  if (!buffer && size > 0) {
    return cutt_error(CUTT_INVALID_PARAMETER, "buffer is NULL and size is %zu; it may be NULL when size is 0", size);
  }
  return CUTT_SUCCESS;
}
