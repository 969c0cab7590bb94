/* Checks of arguments that public calls have in common. Each words its own error. */
#ifndef CUTT_PLAN_ARGUMENTS_H
#define CUTT_PLAN_ARGUMENTS_H

#include <stddef.h>

#include "model/canonical.h"

/* No struct that users hand over will ever be larger: a size beyond it is a field that was never set. */
enum { CUTT_LARGEST_STRUCT = 4096 };

/* Copies a struct that starts with its own size from a caller, who may have been compiled with an older header (the
 * fields that it did not know become 0) or a newer one (the fields that this library doesn't know must be 0).
 * first_size: what the struct measured in the first version that had it. name: "problem", for the error text.
 * Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_struct_read(void *own, size_t own_size, size_t first_size, const void *callers, const char *name);

/* The same two for a struct that a call fills, `info`, whose size the caller has set. The check refuses NULL and a size that
 * is none; type: "cuttPlanInfo_t", for the error text. The write leaves the size as it is, and makes a newer caller's fields,
 * which this library does not know, 0. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_info_check(const void *info, size_t first_size, size_t own_size, const char *type);
void cutt_info_write(void *info, const void *own, size_t own_size);

/* May a problem be executed on these buffers? Checks NULL and overlap; only for a volume above 0. The names are those
 * of the arguments. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_buffers_check(const cutt_canonical *canonical, const void *in, const void *out, const char *in_name,
                              const char *out_name);
/* The same, without the text of an error. */
bool cutt_buffers_valid(const cutt_canonical *canonical, const void *in, const void *out);

/* Refuses a buffer that is NULL and has a size. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_text_buffer_check(const char *buffer, size_t size);

/* The same for a description, whose format may be text or JSON. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_description_check(cuttFormat_t format, const char *buffer, size_t size);

#endif
