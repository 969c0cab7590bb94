/* Numbers whose digits are modes (device_digits.h). */
#include "contract/device_digits.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

#include "gpu/divisor.h"

enum { SECTOR = 32 }; /* bytes */

cutt_digit_kind cutt_digit_kind_of(const cutt_contract_mode *mode, cutt_tensor by_rows) {
  switch (cutt_mode_role(mode)) {
    case CUTT_ROLE_K:
      return CUTT_DIGIT_TERM;
    case CUTT_ROLE_BATCH:
      return CUTT_DIGIT_MATRIX;
    case CUTT_ROLE_M:
      return by_rows == CUTT_LEFT ? CUTT_DIGIT_ROW : CUTT_DIGIT_COLUMN;
    default:
      return by_rows == CUTT_LEFT ? CUTT_DIGIT_COLUMN : CUTT_DIGIT_ROW;
  }
}

bool cutt_digits_by_rows(const cutt_contraction *c, cutt_tensor *by_rows) {
  const int fast = cutt_fast_mode(c, CUTT_RESULT);
  if (fast < 0) return false;
  const cutt_role role = cutt_mode_role(&c->mode[fast]);
  *by_rows = role == CUTT_ROLE_M ? CUTT_LEFT : CUTT_RIGHT;
  return role == CUTT_ROLE_M || role == CUTT_ROLE_N;
}

bool cutt_digit_sizes(const cutt_contraction *c, cutt_tensor by_rows, int64_t size[CUTT_DIGIT_KINDS]) {
  for (int kind = 0; kind < CUTT_DIGIT_KINDS; ++kind) size[kind] = 1;
  for (int i = 0; i < c->modes; ++i) {
    int64_t *const of = &size[cutt_digit_kind_of(&c->mode[i], by_rows)];
    if (c->mode[i].extent > INT32_MAX / *of) return false;
    *of *= c->mode[i].extent;
  }
  return true;
}

int cutt_digit_modes(const cutt_contraction *c, cutt_tensor by_rows, cutt_digit_kind kind, int *mode) {
  int count = 0;
  cutt_tensor by = CUTT_RESULT;
  if (kind == CUTT_DIGIT_TERM) {
    by = c->volume[CUTT_LEFT] < c->volume[CUTT_RIGHT] ? CUTT_RIGHT : CUTT_LEFT;
    const int fast = cutt_fast_mode(c, by);
    if (fast >= 0 && cutt_digit_kind_of(&c->mode[fast], by_rows) != CUTT_DIGIT_TERM) by = cutt_other_operand(by);
  } else if (kind == CUTT_DIGIT_COLUMN) {
    const int fast = cutt_fast_mode(c, cutt_other_operand(by_rows));
    if (fast >= 0 && cutt_digit_kind_of(&c->mode[fast], by_rows) == CUTT_DIGIT_COLUMN) by = cutt_other_operand(by_rows);
  }
  for (int i = 0; i < c->modes; ++i)
    if (cutt_digit_kind_of(&c->mode[i], by_rows) == kind) mode[count++] = i;
  cutt_sort_modes(c, by, mode, count);
  return count;
}

bool cutt_digits_along(const cutt_contraction *c, cutt_tensor t, const int *mode, int count) {
  const int fast = cutt_fast_mode(c, t);
  return fast >= 0 && count > 0 && mode[0] == fast;
}

bool cutt_digits_by_terms(const cutt_contraction *c, cutt_tensor by_rows, cutt_tensor t) {
  int mode[CUTT_MOST_MODES];
  return cutt_digits_along(c, t, mode, cutt_digit_modes(c, by_rows, CUTT_DIGIT_TERM, mode));
}

double cutt_digits_waste(const cutt_contraction *c, cutt_tensor by_rows, double near) {
  static const double far = 220;
  int mode[CUTT_MOST_MODES];
  const int rows = cutt_digit_modes(c, by_rows, CUTT_DIGIT_ROW, mode);
  int64_t run = 1;
  for (int i = 0; i < rows && llabs(c->mode[mode[i]].stride[CUTT_RESULT]) == run; ++i) run *= c->mode[mode[i]].extent;
  const double bytes = (double)run * c->type->bytes;
  if (run == 1 || run * c->type->bytes % SECTOR == 0) return (bytes + SECTOR / 4.0) / bytes;
  const int columns = cutt_digit_modes(c, by_rows, CUTT_DIGIT_COLUMN, mode);
  return 1 + (columns && llabs(c->mode[mode[0]].stride[CUTT_RESULT]) != run ? far : near) / bytes;
}

double cutt_digits_uneven(double multiprocessors, double blocks) {
  static const double alone = 2.2;
  return fmax(alone, multiprocessors / blocks);
}

void cutt_digits_add(cutt_digits *d, int mode, int64_t extent, int64_t along) {
  const int64_t *stride = d->contraction->mode[mode].stride, bytes = d->contraction->type->bytes * along;
  if (extent == 1) return;
  d->digit[d->count++] =
      (cutt_digit){.extent = cutt_divide_by(extent),
                   .step = {stride[d->by_rows] * bytes, stride[cutt_other_operand(d->by_rows)] * bytes,
                            stride[CUTT_RESULT] * bytes}};
}

/* Columns in the order of their operand have D's neighbours far from each other, so that memory writes parts of what it writes at
 * once. So of the operand's neighbours as many come first as make a sector, and then those of D. */
static void add_columns(cutt_digits *d, const int *mode, int count) {
  const cutt_contraction *c = d->contraction;
  const int64_t sector = SECTOR / c->type->bytes;
  int by_result[CUTT_MOST_MODES];
  memcpy(by_result, mode, (size_t)count * sizeof *mode);
  cutt_sort_modes(c, CUTT_RESULT, by_result, count);
  const bool splits = cutt_digits_along(c, cutt_other_operand(d->by_rows), mode, count) && by_result[0] != mode[0] &&
                      c->mode[mode[0]].extent % sector == 0;
  if (splits) cutt_digits_add(d, mode[0], sector, 1);
  for (int i = 0; i < count; ++i) {
    const int which = splits ? by_result[i] : mode[i];
    const bool rest = splits && which == mode[0];
    cutt_digits_add(d, which, c->mode[which].extent / (rest ? sector : 1), rest ? sector : 1);
  }
}

void cutt_digits_add_kind(cutt_digits *d, cutt_digit_kind kind) {
  int mode[CUTT_MOST_MODES];
  const int count = cutt_digit_modes(d->contraction, d->by_rows, kind, mode);
  if (kind == CUTT_DIGIT_COLUMN) {
    add_columns(d, mode, count);
    return;
  }
  for (int i = 0; i < count; ++i) cutt_digits_add(d, mode[i], d->contraction->mode[mode[i]].extent, 1);
}

void cutt_digits_add_turned(cutt_digits *d, int64_t of_result, int64_t of_operand) {
  const cutt_contraction *c = d->contraction;
  int mode[CUTT_MOST_MODES];
  const int count = cutt_digit_modes(c, d->by_rows, CUTT_DIGIT_ROW, mode), fast = cutt_fast_mode(c, d->by_rows);
  cutt_digits_add(d, mode[0], of_result, 1);
  cutt_digits_add(d, fast, of_operand, 1);
  cutt_digits_add(d, fast, c->mode[fast].extent / of_operand, of_operand);
  cutt_digits_add(d, mode[0], c->mode[mode[0]].extent / of_result, of_result);
  for (int i = 1; i < count; ++i)
    if (mode[i] != fast) cutt_digits_add(d, mode[i], c->mode[mode[i]].extent, 1);
}
