/* A text that is built in a caller's buffer, one addition after another, counting what it would have needed. Never
 * allocates. */
#ifndef CUTT_BASE_TEXT_H
#define CUTT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cutt_text {
  char *buffer; /* may be NULL when size is 0 */
  size_t size;
  size_t length; /* of the whole text so far, whether it fitted or not, without the final 0 */
} cutt_text;

cutt_text cutt_text_start(char *buffer, size_t size);
void cutt_text_add(cutt_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string, quoted and escaped. */
void cutt_text_add_json(cutt_text *text, const char *string);
/* Text of an XML document, escaped; what XML has no character for becomes '?'. */
void cutt_text_add_xml(cutt_text *text, const char *string);

#endif
