/* Sums over modes of one operand (staged_args.h) whose rows come to shared memory by whole lines, and are added up there column by
 * column. In which order depends on the shape alone. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "sum_numbers.h"
#include "staged_args.h"
#include "sum_walk.h"

DEVICE uint32_t staged_lane(void) { return thread_index() % CUTT_STAGED_WARP; }

/* How much there is of a step. */
typedef struct staged_size {
  uint32_t bytes, rows, slices; /* bytes: of a row */
} staged_size;

DEVICE uint32_t staged_columns(const cutt_staged_args *args, const sum_step *s) {
  return sum_least(args->extent[0] - s->column, args->columns);
}

DEVICE staged_size staged_size_of(const cutt_staged_args *args, const sum_step *s, uint32_t element) {
  const uint32_t there = sum_least(args->extent[1] - s->row, args->is_short ? args->slices : args->rows);
  const staged_size size = {staged_columns(args, s) * element, args->is_short ? args->rows : there,
                            args->is_short ? there : 1};
  return size;
}

/* How far from a line's beginning what is at an offset in L begins. */
DEVICE uint32_t staged_shift(const unsigned char *left, int64_t offset) {
  return (uint32_t)((uintptr_t)left + (uintptr_t)offset) % CUTT_STAGED_LINE;
}

/* Does no window of a step reach beyond what L spans? */
DEVICE bool staged_within(const cutt_staged_args *args, const sum_step *s, const staged_size *size) {
  const int64_t last = s->left + (int64_t)(size->rows - 1) * args->row_step +
                       (int64_t)(size->slices - 1) * args->slice_step + size->bytes;
  return s->left - CUTT_STAGED_WINDOW >= args->low && last + CUTT_STAGED_WINDOW <= args->high;
}

/* What a thread copies of a run, or of a piece of one: windows of 16 bytes, of which the first one is so far in L and in shared memory, a
 * span apart. x: where that is in the run, counted so that windows before it have large numbers. */
typedef struct staged_run {
  int64_t from;
  uint32_t to, x, end, spans;
} staged_run;

/* The number of runs, or pieces. */
DEVICE uint32_t staged_runs(const cutt_staged_args *args, uint32_t shift, const staged_size *size) {
  if (!args->pieces) return args->run_rows > 1 ? size->slices : size->slices * size->rows;
  return (shift + size->slices * size->rows * args->pitch + CUTT_STAGED_PIECE - 1) / CUTT_STAGED_PIECE;
}

/* Number i of the pieces of a step that begins so far in a line. */
DEVICE staged_run staged_piece_of(const cutt_staged_args *args, const sum_step *s, uint32_t shift, const staged_size *size,
                                  uint32_t i) {
  const uint32_t lane = staged_lane() * CUTT_STAGED_WINDOW, before = i * CUTT_STAGED_PIECE,
                 length = size->slices * size->rows * args->pitch, left_over = shift + length - before;
  staged_run run;
  run.to = before + lane;
  run.from = s->left - shift + run.to;
  run.x = run.to - shift + CUTT_STAGED_WINDOW - 1;
  run.end = length + CUTT_STAGED_WINDOW - 1;
  run.spans = (sum_least(left_over, CUTT_STAGED_PIECE) + CUTT_STAGED_SPAN - 1) / CUTT_STAGED_SPAN;
  return run;
}

/* Number i of its runs. */
DEVICE staged_run staged_run_of(const cutt_staged_args *args, const unsigned char *left, const sum_step *s, uint32_t shift,
                                const staged_size *size, uint32_t i) {
  const uint32_t slice = args->is_short ? divide(i, args->slice_runs) : 0, row = i - slice * args->slice_runs.by;
  const int64_t at = s->left + (int64_t)slice * args->slice_step + (int64_t)row * args->row_step;
  const uint32_t own = staged_shift(left, at), lane = staged_lane() * CUTT_STAGED_WINDOW,
                 length = args->run_rows > 1 ? size->rows * args->pitch : size->bytes;
  staged_run run;
  run.to = shift + slice * args->slice_pitch + row * args->pitch - own + lane;
  run.from = at - own + lane;
  run.x = lane - own + CUTT_STAGED_WINDOW - 1;
  run.end = length + CUTT_STAGED_WINDOW - 1;
  run.spans = (own + length + CUTT_STAGED_SPAN - 1) / CUTT_STAGED_SPAN;
  return run;
}

/* May two results of half types that lie at `to`, and no scalars are for, be written at once? */
DEVICE bool staged_writes_pairs(const cutt_staged_args *args, const unsigned char *to) {
  return args->result_step == 2 && args->scalars.alone && !args->scalars.reads && !args->stores_sums &&
         (uintptr_t)to % 4 == 0;
}

typedef uint16_t staged_word2; /* an element's bits */
typedef uint32_t staged_word4;
typedef word2 staged_word8;
typedef word4 staged_word16;

#define STAGED_PASTE(a, b) a##b
#define STAGED_NAME(a, b) STAGED_PASTE(a, b)
#define STAGED_OF(what) STAGED_NAME(what, STAGED_TYPE)
#define STAGED_NUMBER_OF(what) STAGED_NAME(what, STAGED_NUMBER)
#define STAGED_ACCESS(what) STAGED_NAME(what, STAGED_BYTES)
#define STAGED_VALUE_ACCESS(what) STAGED_NAME(what, STAGED_VALUE_BYTES)
#define STAGED_WORD STAGED_NAME(staged_word, STAGED_BYTES)
#define STAGED_VALUE STAGED_NAME(pass_, STAGED_NUMBER)
#define STAGED_ROWS(op) STAGED_OF(staged_rows_)(args, op, pairs, at, apart, count, sum)
#define STAGED_ALL_ROWS(op) STAGED_OF(staged_rows_)(args, op, pairs, at, args->pitch, args->rows, sum)
#define STAGED_KERNEL(name) KERNEL(name, CUTT_STAGED_THREADS, 3) /* whose name is put together first */

#define STAGED_TYPE f16
#define STAGED_BYTES 2
#define STAGED_NUMBER float
#define STAGED_VALUE_BYTES 4
#include "staged_type.h"

#define STAGED_TYPE bf16
#define STAGED_BYTES 2
#define STAGED_NUMBER float
#define STAGED_VALUE_BYTES 4
#include "staged_type.h"

#define STAGED_TYPE f32
#define STAGED_BYTES 4
#define STAGED_NUMBER float
#define STAGED_VALUE_BYTES 4
#include "staged_type.h"

#define STAGED_TYPE f64
#define STAGED_BYTES 8
#define STAGED_NUMBER double
#define STAGED_VALUE_BYTES 8
#include "staged_type.h"

#define STAGED_TYPE c32
#define STAGED_BYTES 8
#define STAGED_NUMBER complex_float
#define STAGED_VALUE_BYTES 8
#include "staged_type.h"

#define STAGED_TYPE c64
#define STAGED_BYTES 16
#define STAGED_NUMBER complex_double
#define STAGED_VALUE_BYTES 16
#include "staged_type.h"

#define STAGED_TYPE i32
#define STAGED_BYTES 4
#define STAGED_NUMBER u32
#define STAGED_VALUE_BYTES 4
#include "staged_type.h"

#define STAGED_TYPE i64
#define STAGED_BYTES 8
#define STAGED_NUMBER u64
#define STAGED_VALUE_BYTES 8
#include "staged_type.h"
