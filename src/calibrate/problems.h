/* Random problems for calibration: drawn by rules, the same for one seed on every machine. */
#ifndef CUTT_CALIBRATE_PROBLEMS_H
#define CUTT_CALIBRATE_PROBLEMS_H

#include "model/canonical.h"

/* A stream of random numbers (splitmix64). */
typedef struct cutt_random {
  uint64_t state;
} cutt_random;

/* Evenly distributed over 0 .. below-1. */
int cutt_random_below(cutt_random *random, int below);

/* Draws problem `number` of a seed, of about so many bytes (less a third to plus a third, and never more than most, gaps included), which begin
 * with the lowest byte of each side. Two of three are a packed tensor by the rules of the paper's test sets, ranks 2 to 7 with a ratio of the
 * largest extent to the smallest of 1, 5 or 15, and ranks 8 to 12 with four large modes, and a permutation that is not the identity; the third
 * is a view of an array: every second to fourth element of a mode (of so many bytes with what is left out), a part, a mode backwards or repeated,
 * or pixels.
 * bytes >= 4096, most >= bytes. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_calibration_draw(uint64_t seed, int number, int64_t bytes, int64_t most, cutt_canonical *canonical);

#endif
