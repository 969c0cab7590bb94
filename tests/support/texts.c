/* Texts in a caller's buffer (texts.h). */
#include "support/texts.h"

#include <stdlib.h>
#include <string.h>

char *test_whole_text(test_says say, const void *object, int format) {
  size_t needed = 0, again = 0;
  assert_success(say(object, format, NULL, 0, &needed));
  assert_true(needed > 1);
  char *text = malloc(needed + 1);
  assert_non_null(text);
  memset(text, 0x7f, needed + 1);
  assert_success(say(object, format, text, needed, &again));
  assert_int_equal(again, needed);
  assert_int_equal(strlen(text), needed - 1);
  assert_int_equal(text[needed], 0x7f);
  return text;
}

void test_text_cuts(test_says say, const void *object) {
  for (int format = 0; format <= 1; format++) {
    char *text = test_whole_text(say, object, format);
    const size_t length = strlen(text);
    char *cut = malloc(length + 16);
    assert_non_null(cut);
    const size_t step = 37 + length / 200;
    for (size_t size = 1; size <= length + 8; size += size > 200 && size + step < length ? step : 1) {
      size_t needed = 0;
      memset(cut, 0x7f, length + 16);
      assert_success(say(object, format, cut, size, &needed));
      assert_int_equal(needed, length + 1);
      const size_t kept = size <= length ? size - 1 : length;
      assert_int_equal(strlen(cut), kept);
      assert_memory_equal(cut, text, kept);
      for (size_t i = size; i < length + 16; i++) assert_int_equal(cut[i], 0x7f);
    }
    assert_success(say(object, format, cut, length + 16, NULL)); /* needed may be NULL */
    assert_string_equal(cut, text);
    assert_result(CUTT_INVALID_PARAMETER, say(object, format, NULL, 5, NULL), "buffer", "NULL");
    free(cut);
    free(text);
  }
  assert_result(CUTT_INVALID_PARAMETER, say(object, 7, NULL, 0, NULL), "format", "7");
}
