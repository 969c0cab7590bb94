/* Sums over modes of one operand (sum_args.h), with all accesses of it of 16 bytes. What a thread has to work out for an access is what
 * bounds it: that is done once for a block, and for a step of it little more than adding where that begins. The loads of the next step are
 * under way while sums of a tile are put together. Numbers are added in an order that depends on the shape alone, and of rows on where in 16
 * bytes these begin. */
#include "pass_numbers.h"
#include "sum_args.h"
#include "sum_walk.h"

DEVICE uint32_t sum_columns(const cutt_sum_args *args, const sum_step *s) {
  return sum_least(args->extent[0] - s->column, args->columns);
}
DEVICE uint32_t sum_rows(const cutt_sum_args *args, const sum_step *s) {
  return sum_least(args->extent[1] - s->row, args->rows);
}

/* A thread's windows: the row of each and how far it is from the row's first, in 16 bits each, which saves registers, and how far rows
 * begin from the tile; and of columns which it adds up, and of which rows the first. */
typedef struct sum_thread {
  uint32_t window[CUTT_SUM_LOADS];
  int64_t begin[CUTT_SUM_LOADS];
  uint32_t group, column;
} sum_thread;

DEVICE sum_thread sum_begin(const cutt_sum_args *args) {
  sum_thread me;
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t i = 0; i < CUTT_SUM_LOADS; ++i) {
    const uint32_t number = thread_index() + i * args->apart, row = divide(number, args->windows);
    /* The row behind the last is not there. */
    me.window[i] = (thread_index() < args->apart ? row : args->rows) << 16 |
                   (number - row * args->windows.by) * CUTT_SUM_WINDOW;
    me.begin[i] = (int64_t)row * args->row_step;
  }
  me.group = divide(thread_index(), args->across);
  me.column = thread_index() - me.group * args->across.by;
  return me;
}

DEVICE uint32_t sum_row(const sum_thread *me, uint32_t i) { return me->window[i] >> 16; }
DEVICE uint32_t sum_from(const sum_thread *me, uint32_t i) { return me->window[i] & 0xffffu; }

/* How far a row begins from a multiple of 16 bytes. */
DEVICE uint32_t sum_shift(const unsigned char *left, const sum_step *s, int64_t begin) {
  return (uint32_t)((uintptr_t)left + (uintptr_t)(s->left + begin)) % CUTT_SUM_WINDOW;
}

#define SUM_PASTE(a, b) a##b
#define SUM_NAME_1(a, b) SUM_PASTE(a, b)
#define SUM_OF(what) SUM_NAME_1(what, SUM_TYPE)
#define SUM_NUMBER_OF(what) SUM_NAME_1(what, SUM_NUMBER)
#define SUM_ACCESS(what) SUM_NAME_1(what, SUM_BYTES)
#define SUM_VALUE_ACCESS(what) SUM_NAME_1(what, SUM_VALUE_BYTES)
#define SUM_VALUE SUM_NAME_1(pass_, SUM_NUMBER)
#define SUM_KERNEL(name) KERNEL(name, CUTT_SUM_THREADS, SUM_BLOCKS) /* whose name is put together first */

#define SUM_TYPE f16
#define SUM_BYTES 2
#define SUM_NUMBER float
#define SUM_VALUE_BYTES 4
#include "sum_type.h"

#define SUM_TYPE bf16
#define SUM_BYTES 2
#define SUM_NUMBER float
#define SUM_VALUE_BYTES 4
#include "sum_type.h"

#define SUM_TYPE f32
#define SUM_BYTES 4
#define SUM_NUMBER float
#define SUM_VALUE_BYTES 4
#include "sum_type.h"

#define SUM_TYPE f64
#define SUM_BYTES 8
#define SUM_NUMBER double
#define SUM_VALUE_BYTES 8
#include "sum_type.h"

#define SUM_TYPE c32
#define SUM_BYTES 8
#define SUM_NUMBER complex_float
#define SUM_VALUE_BYTES 8
#include "sum_type.h"

#define SUM_TYPE c64
#define SUM_BYTES 16
#define SUM_NUMBER complex_double
#define SUM_VALUE_BYTES 16
#include "sum_type.h"

#define SUM_TYPE i32
#define SUM_BYTES 4
#define SUM_NUMBER u32
#define SUM_VALUE_BYTES 4
#include "sum_type.h"

#define SUM_TYPE i64
#define SUM_BYTES 8
#define SUM_NUMBER u64
#define SUM_VALUE_BYTES 8
#include "sum_type.h"
