/* Positions and terms of a contraction as numbers whose digits are modes, for kernels that count across modes (gpu/kernels/digit.h).
 *
 * One operand has the rows: its modes that D has, too. The other one has the columns. */
#ifndef CUTT_CONTRACT_DEVICE_DIGITS_H
#define CUTT_CONTRACT_DEVICE_DIGITS_H

#include "contract/algorithms.h"
#include "gpu/kernels/digit.h"

/* What a mode is a digit of. */
typedef enum cutt_digit_kind {
  CUTT_DIGIT_ROW,
  CUTT_DIGIT_COLUMN,
  CUTT_DIGIT_TERM,
  CUTT_DIGIT_MATRIX,
  CUTT_DIGIT_KINDS
} cutt_digit_kind;

cutt_digit_kind cutt_digit_kind_of(const cutt_contract_mode *mode, cutt_tensor by_rows);

/* The operand that has the modes in which D has its neighbours, whose positions are rows then; false: neither has, or both, so that threads side by side
 * would write elements that lie apart. */
bool cutt_digits_by_rows(const cutt_contraction *contraction, cutt_tensor *by_rows);

/* How many rows, columns, terms and matrices there are; false if those of a kind are 2^31 or more, which no kernel counts. */
bool cutt_digit_sizes(const cutt_contraction *contraction, cutt_tensor by_rows, int64_t size[CUTT_DIGIT_KINDS]);

/* Modes of a kind, by their steps in D, or terms in the operand that has its neighbours there, the larger one if both have. Columns may
 * be in any order: in that of their operand, if it has its neighbours there. Returns how many. */
int cutt_digit_modes(const cutt_contraction *contraction, cutt_tensor by_rows, cutt_digit_kind kind, int *mode);

/* Has the operand neighbours in the first of these modes? */
bool cutt_digits_along(const cutt_contraction *contraction, cutt_tensor t, const int *mode, int count);

/* Has it neighbours in terms? */
bool cutt_digits_by_terms(const cutt_contraction *contraction, cutt_tensor by_rows, cutt_tensor t);

/* Where one operand's positions are kept in shared memory and the other's come in tiles, rows if streams_rows: what is kept, what comes, and of
 * which operand. */
static inline cutt_digit_kind cutt_digits_kept(bool streams_rows) {
  return streams_rows ? CUTT_DIGIT_COLUMN : CUTT_DIGIT_ROW;
}
static inline cutt_digit_kind cutt_digits_streamed(bool streams_rows) {
  return streams_rows ? CUTT_DIGIT_ROW : CUTT_DIGIT_COLUMN;
}
static inline cutt_tensor cutt_streamed_operand(cutt_tensor by_rows, bool streams_rows) {
  return streams_rows ? by_rows : cutt_other_operand(by_rows);
}

/* Times as many bytes as D has that memory moves, as measured on an H200: where a tile's rows end within sectors the next columns write the
 * rest, at once if these are D's next neighbours, which counts as `near` bytes for each run; else the sector comes and goes again. */
double cutt_digits_waste(const cutt_contraction *contraction, cutt_tensor by_rows, double near);

/* Times as long as if all SMs had as much to do, at most, as measured on an H200: blocks that have an SM to themselves are faster, but where there are
 * fewer blocks than SMs the others have nothing to do. */
double cutt_digits_uneven(double multiprocessors, double blocks);

/* A list of digits that is being made. */
typedef struct cutt_digits {
  const cutt_contraction *contraction;
  cutt_tensor by_rows;
  cutt_digit *digit;
  uint32_t count;
} cutt_digits;

/* A part of a mode: so many positions, `along` apart. One of 1 is left out. */
void cutt_digits_add(cutt_digits *digits, int mode, int64_t extent, int64_t along);

/* All modes of a kind. */
void cutt_digits_add_kind(cutt_digits *digits, cutt_digit_kind kind);

/* Rows, in tiles of so many of D's neighbours times so many of the operand's, of two different modes: D's first, then the operand's, and
 * what is left of all modes. */
void cutt_digits_add_turned(cutt_digits *digits, int64_t of_result, int64_t of_operand);

#endif
