/* Bytes, times and cuts of a mode in descriptions. */
#ifndef CUTT_DIST_AMOUNTS_H
#define CUTT_DIST_AMOUNTS_H

#include "base/text.h"
#include "dist/part.h"

void cutt_add_bytes(cutt_text *text, int64_t bytes);
void cutt_add_seconds(cutt_text *text, double seconds);

/* How a mode is cut, where it is: " in 4 parts by blocks of 16". */
void cutt_add_cut(cutt_text *text, const cutt_part *part);

#endif
