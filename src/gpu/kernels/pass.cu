/* Contractions in one pass (pass_args.h): every element of D is written once, and no operand is permuted beforehand. The tables
 * of a block say where its rows and terms are in each tensor; then a row costs a load from each operand for each term. Sums are
 * added up in an order that depends on the shape alone. */
#include "divide.h"
#include "pass_numbers.h"

enum { PASS_SUMS_WHOLE = 1, PASS_ALL_WHOLE = 2 };

/* Where something is: in each tensor, and in each mode that has a bound. */
typedef struct pass_place {
  int64_t left, right, result, at0, at1, at2;
} pass_place;

/* Goes on by a number of which digit[first] to digit[end - 1] are the digits. */
DEVICE void pass_go(const cutt_pass_args *args, uint32_t first, uint32_t end, uint32_t number, pass_place *p) {
  for (uint32_t i = first; i < end; ++i) {
    const cutt_pass_digit *d = &args->digit[i];
    const uint32_t rest = divide(number, d->extent);
    const int64_t digit = (int64_t)(number - rest * d->extent.by), along = digit * d->along;
    p->left += digit * d->step[0];
    p->right += digit * d->step[1];
    p->result += digit * d->step[2];
    p->at0 += d->bound == 0 ? along : 0;
    p->at1 += d->bound == 1 ? along : 0;
    p->at2 += d->bound == 2 ? along : 0;
    number = rest;
  }
}

/* The rows' table: what is left of the three bounds there; nothing of the first where there is no row. Such rows may be loaded from
 * the first one's place. */
DEVICE void pass_list_rows(const cutt_pass_args *args, const pass_place *tile) {
  for (uint32_t y = thread_index(); y < args->rows; y += CUTT_PASS_THREADS) {
    const uint32_t at = y * CUTT_PASS_ROW_ENTRY;
    pass_place p = *tile;
    if (y < args->rows_there) pass_go(args, args->x_end, args->y_end, y, &p);
    const int64_t more = args->extent[1] - p.at1, last = args->extent[2] - p.at2;
    const bool within = y < args->rows_there && more > 0 && last > 0;
    pass_store(at, within && p.at0 < args->extent[0] ? p.left : tile->left, p.right);
    pass_store(at + 16, within ? args->extent[0] - p.at0 : INT64_MIN, more);
    pass_store(at + 32, p.result, last);
  }
}

/* Is all of a tile within the bounds, so that nothing need be compared: those of summed modes, and all (two bits)? Rows that there are not
 * don't matter where they are not summed over. */
DEVICE uint32_t pass_is_whole(const cutt_pass_args *args, const pass_place *tile) {
  const bool rows = args->rows == args->rows_there || args->way == CUTT_PASS_PLAIN || args->way == CUTT_PASS_ACROSS_X;
  const uint32_t within = (tile->at0 + args->reach[0] < args->extent[0] ? 1u : 0u) |
                          (tile->at1 + args->reach[1] < args->extent[1] ? 2u : 0u) |
                          (tile->at2 + args->reach[2] < args->extent[2] ? 4u : 0u);
  if (!rows) return 0;
  return (within | args->result_bounds) != 7 ? 0 : within != 7 ? PASS_SUMS_WHOLE : PASS_SUMS_WHOLE | PASS_ALL_WHOLE;
}

/* The terms' table, which also says whether all of the tile is there. */
DEVICE void pass_list_terms(const cutt_pass_args *args, const pass_place *tile, uint32_t first, uint32_t count) {
  if (thread_index() >= count) return;
  const uint32_t at = args->terms_at + thread_index() * CUTT_PASS_TERM_ENTRY;
  pass_place p = *tile;
  pass_go(args, args->y_end, args->z_end, first + thread_index(), &p);
  pass_store(at, p.left - tile->left, p.right - tile->right);
  pass_store(at + 16, p.at0 - tile->at0, p.at1 - tile->at1);
  pass_store(at + 32, pass_is_whole(args, &p), p.at2 - tile->at2);
}

/* A thread's place among the others, and the position that it has. */
typedef struct pass_thread {
  uint32_t x, group;
  bool works; /* it is not left over; if it is, it does what the first group does, and stores nothing */
  pass_place at;
} pass_thread;

DEVICE pass_thread pass_begin(const cutt_pass_args *args) {
  pass_thread me = {0, 0, false, {0, 0, 0, 0, 0, 0}};
  me.group = divide(thread_index(), args->x);
  me.x = thread_index() - me.group * args->x.by;
  me.works = me.group < args->groups;
  if (!me.works) me.group = 0;
  pass_go(args, 0, args->x_end, me.x, &me.at);
  if (args->turn[0].run.by + args->turn[1].run.by && thread_index() < args->x.by) {
    const uint32_t at = args->positions_at + me.x * CUTT_PASS_POSITION_ENTRY;
    pass_store(at, me.at.left, me.at.right);
    pass_store(at + 16, me.at.at0, 0);
  }
  return me;
}

/* What a thread loads of an operand that is turned: one row's positions from x on, so many from one to the next. */
typedef struct pass_share {
  uint32_t y, x, step;
} pass_share;

DEVICE pass_share pass_share_of(const cutt_pass_turn *turn, uint32_t positions) {
  pass_share s = {0, 0, 1};
  if (!turn->run.by) return s;
  const uint32_t rows = turn->run.by * turn->apart.by, group = thread_index() / rows;
  const uint32_t number = thread_index() - group * rows, rest = divide(number, turn->run);
  s.y = (number - rest * turn->run.by) * turn->apart.by + rest;
  s.step = CUTT_PASS_THREADS / rows;
  s.x = group < s.step ? group : positions; /* a thread that is left over */
  return s;
}

/* A term: where it is in both operands, and how far in the modes with bounds. */
typedef struct pass_term {
  pass_pair offset, along;
  int64_t along_last; /* in the third mode */
} pass_term;

#define PASS_PASTE(a, b) a##b
#define PASS_NAME_1(a, b) PASS_PASTE(a, b)
#define PASS_OF(what) PASS_NAME_1(what, PASS_TYPE)
#define PASS_SUM PASS_NAME_1(pass_, PASS_NUMBER)
#define PASS_NUMBER_OF(what) PASS_NAME_1(what, PASS_NUMBER)
#define PASS_ACCESS(what) PASS_NAME_1(what, PASS_BYTES)
#define PASS_SUM_ACCESS(what) PASS_NAME_1(what, PASS_SUM_BYTES)
#define PASS_KERNEL(name) KERNEL(name, CUTT_PASS_THREADS, PASS_BLOCKS) /* whose name is put together first */

#define PASS_TYPE f16
#define PASS_WORD uint16_t
#define PASS_BYTES 2
#define PASS_NUMBER float
#define PASS_SUM_BYTES 4
#include "pass_type.h"

#define PASS_TYPE bf16
#define PASS_WORD uint16_t
#define PASS_BYTES 2
#define PASS_NUMBER float
#define PASS_SUM_BYTES 4
#include "pass_type.h"

#define PASS_TYPE f32
#define PASS_WORD uint32_t
#define PASS_BYTES 4
#define PASS_NUMBER float
#define PASS_SUM_BYTES 4
#include "pass_type.h"

#define PASS_TYPE f64
#define PASS_WORD word2
#define PASS_BYTES 8
#define PASS_NUMBER double
#define PASS_SUM_BYTES 8
#include "pass_type.h"

#define PASS_TYPE c32
#define PASS_WORD word2
#define PASS_BYTES 8
#define PASS_NUMBER complex_float
#define PASS_SUM_BYTES 8
#include "pass_type.h"

#define PASS_TYPE c64
#define PASS_WORD word4
#define PASS_BYTES 16
#define PASS_NUMBER complex_double
#define PASS_SUM_BYTES 16
#include "pass_type.h"

#define PASS_TYPE i32
#define PASS_WORD uint32_t
#define PASS_BYTES 4
#define PASS_NUMBER u32
#define PASS_SUM_BYTES 4
#include "pass_type.h"

#define PASS_TYPE i64
#define PASS_WORD word2
#define PASS_BYTES 8
#define PASS_NUMBER u64
#define PASS_SUM_BYTES 8
#include "pass_type.h"
