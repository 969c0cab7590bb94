/* Contractions of few terms or few columns in one pass (multiply_args.h): each element of the operands is read from where it lies, as
 * often as there are tiles beside each other, and each of D is written once. Sums are in registers, by fused operations, in the
 * order of the terms. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "divide.h"
#include "multiply_args.h"

#define MULTIPLY_NOWHERE INT64_MIN /* in D: beyond the end of a mode */

/* Where something is: in each tensor, and in each mode that has a bound. */
typedef struct multiply_place {
  int64_t left, right, result;
  int64_t at0, at1, at2, at3, at4;
} multiply_place;

/* Goes on by a number of which digit[first] to digit[end - 1] are the digits. */
DEVICE void multiply_go(const cutt_multiply_args *args, uint32_t first, uint32_t end, uint32_t number, multiply_place *p) {
  UNROLL(1)
  for (uint32_t i = first; i < end; ++i) {
    const cutt_multiply_digit *d = &args->digit[i];
    const uint32_t rest = divide(number, d->extent);
    const int64_t digit = (int64_t)(number - rest * d->extent.by), along = digit * d->along;
    p->left += digit * d->step[0];
    p->right += digit * d->step[1];
    p->result += digit * d->step[2];
    number = rest;
    if (d->bound == CUTT_MULTIPLY_BOUNDS) continue; /* most digits */
    p->at0 += d->bound == 0 ? along : 0;
    p->at1 += d->bound == 1 ? along : 0;
    p->at2 += d->bound == 2 ? along : 0;
    p->at3 += d->bound == 3 ? along : 0;
    p->at4 += d->bound == 4 ? along : 0;
  }
}

DEVICE bool multiply_within(const cutt_multiply_args *args, const multiply_place *p) {
  return p->at0 < args->extent[0] && p->at1 < args->extent[1] && p->at2 < args->extent[2] && p->at3 < args->extent[3] &&
         p->at4 < args->extent[4];
}

typedef struct multiply_pair {
  int64_t a, b;
} multiply_pair;

DEVICE int64_t multiply_join(uint32_t low, uint32_t high) { return (int64_t)((uint64_t)high << 32 | low); }
DEVICE multiply_pair multiply_load(uint32_t at) {
  const word4 v = shared_load16(at);
  const multiply_pair p = {multiply_join(v.x, v.y), multiply_join(v.z, v.w)};
  return p;
}
DEVICE int64_t multiply_load_first(uint32_t at) {
  const word2 v = shared_load8(at);
  return multiply_join(v.x, v.y);
}
DEVICE void multiply_store(uint32_t at, int64_t a, int64_t b) {
  const word4 v = {(uint32_t)a, (uint32_t)((uint64_t)a >> 32), (uint32_t)b, (uint32_t)((uint64_t)b >> 32)};
  shared_store16(at, v);
}

/* Terms of a part. */
DEVICE uint32_t multiply_terms(const cutt_multiply_args *args, uint32_t part) {
  const uint32_t left = args->terms - part * args->part_terms;
  return left < args->part_terms ? left : args->part_terms;
}

/* Where a tile begins. */
DEVICE multiply_place multiply_tile(const cutt_multiply_args *args, uint32_t number) {
  multiply_place tile = {0, 0, 0, 0, 0, 0, 0, 0};
  multiply_go(args, args->term_end, args->tile_end, number, &tile);
  return tile;
}

/* Describes a tile's rows, by L and D, and columns, by R and D, from where it begins. What is beyond an end is loaded from the tile's
 * beginning, which is there, and is not stored. */
DEVICE void multiply_describe(const cutt_multiply_args *args, uint32_t most_rows, uint32_t tile, uint32_t table) {
  multiply_place begin = multiply_tile(args, tile);
  begin.left = begin.right = begin.result = 0;
  for (uint32_t i = thread_index(); i < most_rows + CUTT_MULTIPLY_COLUMNS; i += CUTT_MULTIPLY_THREADS) {
    const bool row = i < most_rows;
    const uint32_t number = row ? i : i - most_rows, first = row ? 0 : args->row_end;
    multiply_place p = begin;
    multiply_go(args, first, row ? args->row_end : args->column_end, number, &p);
    const bool there = number < (row ? args->rows : args->columns) && multiply_within(args, &p);
    multiply_store(table + i * CUTT_MULTIPLY_ENTRY, !there ? 0 : row ? p.left : p.right,
                   there ? p.result : MULTIPLY_NOWHERE);
  }
}

/* The terms of a part, by L and R. */
DEVICE void multiply_describe_terms(const cutt_multiply_args *args, uint32_t part) {
  const uint32_t terms = multiply_terms(args, part), first = part * args->part_terms;
  for (uint32_t i = thread_index(); i < terms; i += CUTT_MULTIPLY_THREADS) {
    multiply_place p = {0, 0, 0, 0, 0, 0, 0, 0};
    multiply_go(args, args->column_end, args->term_end, first + i, &p);
    multiply_store(args->terms_at + i * CUTT_MULTIPLY_ENTRY, p.left, p.right);
  }
}

/* Where columns of a thread are in D. Are all there? */
DEVICE bool multiply_columns(uint32_t at, int64_t *column) {
  bool whole = true;
  UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
  for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j) {
    column[j] = multiply_load(at + j * CUTT_MULTIPLY_ENTRY).b;
    whole = whole && column[j] != MULTIPLY_NOWHERE;
  }
  return whole;
}

/* A thread's first column. Where a tile has few, warps have none: of blocks that are on an SM at the same time, warps of different
 * schedulers. */
DEVICE uint32_t multiply_column(void) {
  enum { WARPS = CUTT_MULTIPLY_THREADS / CUTT_MULTIPLY_LANES };
  return (thread_index() / CUTT_MULTIPLY_LANES + block_index() / CUTT_MULTIPLY_BLOCKS) % WARPS *
         CUTT_MULTIPLY_COLUMNS_EACH;
}

/* Number i of the rows in the order in which L has them. */
DEVICE uint32_t multiply_row(const cutt_multiply_args *args, uint32_t i) {
  if (args->apart.by == 1 || i >= args->rows) return i;
  const uint32_t rest = divide(i, args->run), group = divide(rest, args->apart);
  return (group * args->run.by + i - rest * args->run.by) * args->apart.by + rest - group * args->apart.by;
}

/* The first row of a unit; each of the others is `apart` rows further. Of one that is not there the last row of all, which is not either. */
DEVICE uint32_t multiply_unit_row(const cutt_multiply_args *args, uint32_t unit, uint32_t each, uint32_t last) {
  const uint32_t rest = divide(unit, args->apart), apart = args->apart.by;
  return unit < args->units ? unit - rest * apart + rest * apart * each : last;
}

/* Number i of the units in the order in which L has them. */
DEVICE uint32_t multiply_unit(const cutt_multiply_args *args, uint32_t i) {
  if (args->apart.by == 1 || i >= args->units) return i;
  const uint32_t rest = divide(i, args->unit_run), group = divide(rest, args->apart), run = args->unit_run.by;
  return (group * run + i - rest * run) * args->apart.by + rest - group * args->apart.by;
}

/* Where a unit is in shared memory, behind where its term is. */
DEVICE uint32_t multiply_unit_at(uint32_t unit) {
  return (unit + (unit >> CUTT_MULTIPLY_UNIT_PAD)) * CUTT_MULTIPLY_UNIT;
}

/* The same of a row of elements of so many bytes. */
DEVICE uint32_t multiply_row_at(const cutt_multiply_args *args, uint32_t row, uint32_t bytes) {
  const uint32_t each = CUTT_MULTIPLY_UNIT / bytes;
  if (!args->quads) return (row + (row >> args->pad_log2)) * bytes;
  if (row >= args->rows) return multiply_unit_at(row / each) + row % each * bytes;
  const uint32_t rest = divide(row, args->apart), unit = rest / each * args->apart.by + row - rest * args->apart.by;
  return multiply_unit_at(unit) + rest % each * bytes;
}

/* Is L copied by units? */
DEVICE bool multiply_is_wide(const cutt_multiply_args *args, const unsigned char *left) {
  return args->wide && (uintptr_t)left % CUTT_MULTIPLY_UNIT == 0;
}

#define MULTIPLY_PASTE(a, b) a##b
#define MULTIPLY_NAME(a, b) MULTIPLY_PASTE(a, b)
#define MULTIPLY_OF(what) MULTIPLY_NAME(what, MULTIPLY_TYPE)
#define MULTIPLY_ACCESS(what) MULTIPLY_NAME(what, MULTIPLY_BYTES)
#define MULTIPLY_KERNEL(name) KERNEL(name, CUTT_MULTIPLY_THREADS, CUTT_MULTIPLY_BLOCKS)

DEVICE float multiply_fuse_f32(float a, float b, float c) { return multiply_add_float(a, b, c); }
DEVICE double multiply_fuse_f64(double a, double b, double c) { return multiply_add_double(a, b, c); }
DEVICE float multiply_number_f32(uint32_t v) { return bits_to_float(v); }
DEVICE double multiply_number_f64(word2 v) { return bits_to_double(v); }
DEVICE uint32_t multiply_bits_f32(float v) { return float_to_bits(v); }
DEVICE word2 multiply_bits_f64(double v) { return double_to_bits(v); }

#define MULTIPLY_TYPE f32
#define MULTIPLY_REAL float
#define MULTIPLY_BYTES 4
#include "multiply_type.h"

#define MULTIPLY_TYPE f64
#define MULTIPLY_REAL double
#define MULTIPLY_BYTES 8
#include "multiply_type.h"
