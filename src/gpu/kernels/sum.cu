/* Sums over modes of one operand (sum_args.h), with all accesses of it of 16 bytes. What a thread works out for a load is little more than
 * adding a step to where the last one was. Numbers are added in an order that depends on the shape alone, and of columns on where in 16 bytes
 * rows begin. */
#include "sum_numbers.h"
#include "sum_args.h"
#include "sum_walk.h"

DEVICE uint32_t sum_columns(const cutt_sum_args *args, const sum_step *s) {
  return sum_least(args->extent[0] - s->column, args->columns);
}
DEVICE uint32_t sum_rows(const cutt_sum_args *args, const sum_step *s) {
  return sum_least(args->extent[1] - s->row, args->rows);
}

/* How far from a multiple of 16 bytes what is at an offset in L begins. */
DEVICE uint32_t sum_shift(const unsigned char *left, int64_t offset) {
  return (uint32_t)((uintptr_t)left + (uintptr_t)offset) % CUTT_SUM_WINDOW;
}

/* A thread's group, and its lane there. */
DEVICE uint32_t sum_group(const cutt_sum_args *args) { return divide(thread_index(), args->lanes); }
DEVICE uint32_t sum_lane(const cutt_sum_args *args) { return thread_index() - sum_group(args) * args->lanes.by; }

/* What a thread asks for, four windows at once: where the first is in L, and how far it is from one to the next; their numbers, which say
 * whether they are there; and how often there are so many left of a step. Of rows also where in windows they begin and end, and where the
 * first one asked for is there. */
typedef struct sum_asker {
  int64_t at, apart;
  uint32_t number, step, end, left;
  bool within; /* nothing of the step reaches beyond what L spans */
  uint32_t begin, from, row_end;
} sum_asker;

/* Does no window of a step reach beyond what L spans? */
DEVICE bool sum_within(const cutt_sum_args *args, const sum_step *s, uint32_t rows, uint32_t bytes) {
  const int64_t reach = (int64_t)(rows - 1) * args->row_step, before = args->along ? CUTT_SUM_LINE : CUTT_SUM_WINDOW;
  const int64_t first = s->left + (reach < 0 ? reach : 0), last = s->left + (reach > 0 ? reach : 0);
  return first - before >= args->low && last + bytes + CUTT_SUM_WINDOW <= args->high;
}

/* How far from a multiple of 16 bytes a thread's rows of columns begin, if the tile's first term does so far from one. */
DEVICE uint32_t sum_shift_of(const cutt_sum_args *args, uint32_t first) {
  return (first + sum_group(args) * (uint32_t)args->row_step) % CUTT_SUM_WINDOW;
}

/* A step of columns, of which a thread has those rows that begin where its others do. */
DEVICE void sum_enter_columns(const cutt_sum_args *args, const unsigned char *left, const sum_step *s, uint32_t rows,
                              uint32_t bytes, uint32_t first, sum_asker *me) {
  const uint32_t shift = sum_shift(left, s->left), own = sum_shift_of(args, first), group = sum_group(args),
                 from = sum_lane(args) * CUTT_SUM_WINDOW;
  uint32_t turn = 0;
  UNROLL(1)
  while (turn < args->period && (first + turn * (uint32_t)args->row_step - shift) % CUTT_SUM_WINDOW) ++turn;
  me->number = group >= turn ? group - turn : group + args->groups - turn;
  me->step = args->groups;
  me->end = group < args->groups && from < own + bytes ? rows : 0;
  me->apart = (int64_t)args->groups * args->row_step;
  me->at = s->left + me->number * args->row_step + from - own;
  me->left = divide(rows + CUTT_SUM_LOADS * args->groups - 1, args->batch);
}

/* A step of rows. Along one, windows are counted from the line that it begins in. */
DEVICE void sum_enter_rows(const cutt_sum_args *args, const unsigned char *left, const sum_step *s, uint32_t rows,
                           uint32_t bytes, sum_asker *me) {
  const uint32_t all = args->lanes.by * CUTT_SUM_WINDOW, unit = args->along ? CUTT_SUM_LINE : CUTT_SUM_WINDOW,
                 group = sum_group(args);
  const int64_t row = s->left + group * args->row_step;
  me->begin = (uint32_t)((uintptr_t)left + (uintptr_t)row) & (unit - 1); /* a power of 2, which the compiler doesn't know */
  me->row_end = me->begin + bytes;
  me->from = sum_lane(args) * CUTT_SUM_WINDOW;
  me->at = row - me->begin + me->from;
  if (args->along) {
    me->apart = me->step = all;
    me->number = me->from;
    me->end = group < rows ? me->row_end : 0;
  } else {
    me->apart = args->groups * args->row_step;
    me->step = args->groups;
    me->number = group;
    me->end = me->from < me->row_end ? rows : 0;
  }
  /* As many for all groups. */
  const uint32_t before = (uint32_t)args->row_step & (unit - 1) ? unit - 2 : me->begin;
  me->left = divide(before + bytes + args->batch.by - 1, args->batch);
}

/* Of a word of a window the bytes from low to before high of the window. */
DEVICE uint32_t sum_below(uint32_t word, uint32_t bytes) {
  const uint32_t first = word * 4;
  return bytes >= first + 4 ? UINT32_MAX : bytes > first ? 0xffffu : 0;
}
DEVICE uint32_t sum_only(uint32_t word, uint32_t held, uint32_t blank, uint32_t low, uint32_t high) {
  const uint32_t mask = sum_below(word, high) & ~sum_below(word, low);
  return (held & mask) | (blank & ~mask);
}

/* A window that lies `from` bytes from where a row's first one does: what is not between begin and end is blank. */
DEVICE word4 sum_row_only(word4 held, word4 blank, uint32_t from, uint32_t begin, uint32_t end) {
  const uint32_t low = from < begin ? begin - from : 0, high = from < end ? end - from : 0;
  const word4 only = {sum_only(0, held.x, blank.x, low, high), sum_only(1, held.y, blank.y, low, high),
                      sum_only(2, held.z, blank.z, low, high), sum_only(3, held.w, blank.w, low, high)};
  return only;
}

/* A window with an element put there, which had zeros. */
DEVICE word4 sum_put4(word4 v, uint32_t i, uint32_t bits) {
  const word4 with = {i == 0 ? v.x | bits : v.x, i == 1 ? v.y | bits : v.y, i == 2 ? v.z | bits : v.z,
                      i == 3 ? v.w | bits : v.w};
  return with;
}
DEVICE word4 sum_put2(word4 v, uint32_t i, uint16_t bits) { return sum_put4(v, i / 2, (uint32_t)bits << i % 2 * 16); }
DEVICE word4 sum_put8(word4 v, uint32_t i, word2 bits) {
  return sum_put4(sum_put4(v, 2 * i, bits.x), 2 * i + 1, bits.y);
}
DEVICE word4 sum_put16(word4 v, uint32_t i, word4 bits) { return (void)v, (void)i, bits; }

/* A window of equal elements. */
DEVICE word4 sum_fill4(uint32_t bits) {
  const word4 v = {bits, bits, bits, bits};
  return v;
}
DEVICE word4 sum_fill2(uint16_t bits) { return sum_fill4((uint32_t)bits << 16 | bits); }
DEVICE word4 sum_fill8(word2 bits) {
  const word4 v = {bits.x, bits.y, bits.x, bits.y};
  return v;
}
DEVICE word4 sum_fill16(word4 bits) { return bits; }

/* Another lane's. */
DEVICE uint32_t sum_swap4(uint32_t v, uint32_t lanes) { return shuffle_xor(v, lanes); }
DEVICE word2 sum_swap8(word2 v, uint32_t lanes) {
  const word2 other = {shuffle_xor(v.x, lanes), shuffle_xor(v.y, lanes)};
  return other;
}
DEVICE word4 sum_swap16(word4 v, uint32_t lanes) {
  const word4 other = {shuffle_xor(v.x, lanes), shuffle_xor(v.y, lanes), shuffle_xor(v.z, lanes),
                       shuffle_xor(v.w, lanes)};
  return other;
}

#define SUM_PASTE(a, b) a##b
#define SUM_NAME_1(a, b) SUM_PASTE(a, b)
#define SUM_OF(what) SUM_NAME_1(what, SUM_TYPE)
#define SUM_NUMBER_OF(what) SUM_NAME_1(what, SUM_NUMBER)
#define SUM_ACCESS(what) SUM_NAME_1(what, SUM_BYTES)
#define SUM_VALUE_ACCESS(what) SUM_NAME_1(what, SUM_VALUE_BYTES)
#define SUM_VALUE SUM_NAME_1(pass_, SUM_NUMBER)
#define SUM_UPON(op) SUM_OF(sum_upon_)(args, op, held, sum)
#define SUM_WINDOWS(op) SUM_OF(sum_windows_)(args, op, held, sum)
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
