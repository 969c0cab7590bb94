/* Numbers in the library's text files: no locale changes their meaning. */
#ifndef CUTT_BASE_NUMBER_H
#define CUTT_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Reads all of a word as a finite number in decimal, or as a whole number that an int64 holds. */
bool cutt_read_real(const char *word, double *value);
bool cutt_read_whole(const char *word, int64_t *value);

/* Adds a number, with as many digits as it takes to read the same number back. */
void cutt_add_real(cutt_text *text, double value);

#endif
