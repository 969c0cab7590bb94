/* Texts in a caller's buffer.
 *
 * Printing goes by the "C" locale whatever the program has set, because a decimal comma would break JSON. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* newlocale, uselocale */
#endif
#include "base/text.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>

cutt_text cutt_text_start(char *buffer, size_t size) {
  cutt_text text = {buffer, buffer ? size : 0, 0};
  if (text.size) buffer[0] = 0;
  return text;
}

void cutt_text_add(cutt_text *text, const char *format, ...) {
  const size_t room = text->length < text->size ? text->size - text->length : 0;
  /* Asking for the "C" locale returns a constant of the C library: it neither allocates nor reads a file. */
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = c_locale ? uselocale(c_locale) : (locale_t)0;
  va_list arguments;
  va_start(arguments, format);
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was started */
  const int added = vsnprintf(room ? text->buffer + text->length : NULL, room, format, arguments);
  va_end(arguments);
  if (c_locale) {
    uselocale(before);
    freelocale(c_locale);
  }
  if (added > 0) text->length += (size_t)added;
}

/* Bytes of the UTF-8 sequence that starts at s, or 0 when it is not one. */
static int utf8_length(const unsigned char *s) {
  const int length = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
  for (int i = 1; i < length; ++i) {
    if ((s[i] & 0xc0) != 0x80) return 0;
  }
  /* Overlong forms, surrogates, and what lies past U+10FFFF. */
  if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
  if (s[0] == 0xed && s[1] > 0x9f) return 0;
  if (s[0] == 0xf0 && s[1] < 0x90) return 0;
  if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
  return length;
}

void cutt_text_add_json(cutt_text *text, const char *string) {
  cutt_text_add(text, "\"");
  for (const unsigned char *s = (const unsigned char *)string; *s;) {
    int length = 1;
    if (*s == '"' || *s == '\\') {
      cutt_text_add(text, "\\%c", *s);
    } else if (*s < 0x20 || *s == 0x7f) {
      cutt_text_add(text, "\\u%04x", *s);
    } else if (*s < 0x80) {
      cutt_text_add(text, "%c", *s);
    } else if ((length = utf8_length(s)) > 0) {
      for (int i = 0; i < length; ++i) cutt_text_add(text, "%c", s[i]);
    } else {
      cutt_text_add(text, "\\ufffd");
      length = 1;
    }
    s += length;
  }
  cutt_text_add(text, "\"");
}

void cutt_text_add_xml(cutt_text *text, const char *string) {
  for (const unsigned char *s = (const unsigned char *)string; *s;) {
    int length = utf8_length(s);
    const bool none = length == 3 && s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe; /* U+FFFE and U+FFFF */
    if (*s == '&' || *s == '<' || *s == '>' || *s == '"') {
      cutt_text_add(text, "&#%d;", *s);
    } else if ((*s >= 0x20 && *s < 0x7f) || *s == '\n' || *s == '\t') {
      cutt_text_add(text, "%c", *s);
    } else if (length > 0 && !none) {
      for (int i = 0; i < length; ++i) cutt_text_add(text, "%c", s[i]);
    } else {
      cutt_text_add(text, "?");
    }
    s += length > 0 ? length : 1;
  }
}
