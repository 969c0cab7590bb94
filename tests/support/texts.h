/* Texts that the library writes into a caller's buffer: whole, and cut as promised. */
#ifndef CUTT_TESTS_TEXTS_H
#define CUTT_TESTS_TEXTS_H

#include "support/check.h"

/* cuttPlanDescribe and its like, with their format as a number. */
typedef cuttResult (*test_says)(const void *object, int format, char *buffer, size_t size, size_t *needed);

/* The whole text, to be freed. */
char *test_whole_text(test_says say, const void *object, int format);

/* For formats 0 and 1, many sizes: a prefix, ended by a 0, nothing behind it written, and the same number of bytes needed.
 * And that a third format and a buffer that is NULL are refused. */
void test_text_cuts(test_says say, const void *object);

#endif
