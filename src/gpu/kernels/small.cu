/* Small products, many of them, or one of a small operand and a long one (small_args.h): all of memory is accessed once and in
 * long runs, which go through shared memory, and each thread multiplies a few rows and columns of a matrix. Sums are in registers, by fused
 * operations, in the order of the terms. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "divide.h"
#include "pass_numbers.h"
#include "small_args.h"

/* Where a tile begins in each tensor, and how many positions of the mode that is cut it has; 1 if none is. */
typedef struct small_tile {
  int64_t at[3];
  uint32_t there;
} small_tile;

DEVICE small_tile small_find(const cutt_small_args *args, uint32_t number) {
  small_tile tile = {{0, 0, 0}, 1};
  UNROLL(1)
  for (uint32_t i = 0; i < args->tile_end; ++i) {
    const cutt_digit *d = &args->digit[i];
    const uint32_t rest = divide(number, d->extent), value = number - rest * d->extent.by;
    UNROLL(3)
    for (uint32_t t = 0; t < 3; ++t) tile.at[t] += (int64_t)value * d->step[t];
    if (i == args->cut_digit) {
      const int64_t left = args->cut_extent - (int64_t)value * args->cut;
      tile.there = left < (int64_t)args->cut ? (uint32_t)left : args->cut;
    }
    number = rest;
  }
  return tile;
}

/* Describes the runs of a tensor's part of a tile: where each begins there and in shared memory, and how far it is in the mode that is
 * cut. */
DEVICE void small_describe_runs(const cutt_small_access *a) {
  UNROLL(1)
  for (uint32_t i = thread_index(); i < a->runs; i += thread_count()) {
    uint32_t number = i, shared = 0, cut = 0;
    int64_t at = 0;
    UNROLL(1)
    for (uint32_t j = 0; j < a->digits; ++j) {
      const uint32_t rest = divide(number, a->run[j].extent), value = number - rest * a->run[j].extent.by;
      shared += value * a->run[j].shared;
      cut += value * a->run[j].cut;
      at += (int64_t)value * a->run[j].step;
      number = rest;
    }
    const word4 entry = {(uint32_t)(uint64_t)at, (uint32_t)((uint64_t)at >> 32), shared, cut};
    shared_store16(a->runs_at + i * CUTT_SMALL_ENTRY, entry);
  }
}

/* A place in each tensor's part of a tile. */
typedef struct small_place {
  uint32_t left, right, result;
} small_place;

DEVICE void small_go(const cutt_small_args *args, uint32_t first, uint32_t end, uint32_t number, small_place *p) {
  UNROLL(1)
  for (uint32_t i = first; i < end; ++i) {
    const cutt_small_digit *d = &args->place[i];
    const uint32_t rest = divide(number, d->extent), value = number - rest * d->extent.by;
    p->left += value * d->step[0];
    p->right += value * d->step[1];
    p->result += value * d->step[2];
    number = rest;
  }
}

DEVICE void small_describe_terms(const cutt_small_args *args) {
  UNROLL(1)
  for (uint32_t i = thread_index(); i < args->terms; i += thread_count()) {
    small_place p = {0, 0, 0};
    small_go(args, args->column_end, args->term_end, i, &p);
    const word2 entry = {p.left, p.right};
    shared_store8(args->terms_at + i * CUTT_SMALL_TERM, entry);
  }
}

/* What all accesses of a tensor's part of a tile have in common: so many bytes each, of which `each` are a run and there are `all`; where the
 * descriptions of runs begin; how far a run goes, and what there is of the mode that is cut. In registers: to look it up takes as long as an
 * access. */
typedef struct small_copy {
  cutt_divisor each;
  uint32_t bytes, all, runs_at, run_end, there;
} small_copy;

/* How far a run goes that goes along the mode that is cut, or any other one. */
DEVICE uint32_t small_run_end(const cutt_small_access *a, uint32_t there) {
  return a->cut_bytes ? there * a->cut_bytes : a->run_bytes;
}

DEVICE small_copy small_copy_of(const cutt_small_access *a, bool by_elements, uint32_t bytes, uint32_t there) {
  const cutt_divisor each = by_elements ? a->elements : a->windows;
  const small_copy copy = {each, bytes, a->runs * each.by, a->runs_at, small_run_end(a, there), there};
  return copy;
}

/* The bytes of an access: a run that is cut may end within a wide one. */
DEVICE uint32_t small_width(const cutt_small_access *a, uint32_t there, uint32_t element) {
  return (small_run_end(a, there) & (a->width - 1)) == 0 ? a->width : element;
}

/* An access: its place in memory, from the tile's beginning, and in the tensor's part of shared memory; is it of the tile? */
typedef struct small_access {
  int64_t from;
  uint32_t at;
  bool there;
} small_access;

DEVICE small_access small_access_of(const small_copy *c, uint32_t number) {
  const uint32_t run = divide(number, c->each), byte = (number - run * c->each.by) * c->bytes;
  const word4 entry = shared_load16(c->runs_at + run * CUTT_SMALL_ENTRY);
  const bool there = (entry.w < c->there) & (byte < c->run_end); /* without a branch */
  const small_access access = {(int64_t)((uint64_t)entry.y << 32 | entry.x) + byte, entry.z + byte, there};
  return access;
}

/* Starts to copy 4 bytes or more, or zeros where there are none. */
DEVICE void small_fetch(uint32_t to, const unsigned char *from, bool there, uint32_t bytes) {
  if (bytes == 16 && there) async_copy16(to, from, false);
  if (bytes == 16 && !there) shared_store16(to, pass_none16());
  if (bytes == 8 && there) async_copy8(to, from, false);
  if (bytes == 8 && !there) shared_store8(to, pass_none8());
  if (bytes == 4 && there) async_copy4(to, from, false);
  if (bytes == 4 && !there) shared_store4(to, pass_none4());
}

DEVICE void small_move(unsigned char *to, uint32_t from, uint32_t bytes) {
  if (bytes == 16) global_store16(to, shared_load16(from));
  if (bytes == 8) global_store8(to, shared_load8(from));
  if (bytes == 4) global_store4(to, shared_load4(from));
}

/* Copies a part of a tile by accesses of 4 bytes or more: D's part, at `at` in shared memory, to `to`, or any tensor's part there from `from`. */
DEVICE void small_copy_wide(small_copy copy, bool writes, const unsigned char *from, unsigned char *to, uint32_t at) {
  UNROLL(2)
  for (uint32_t i = thread_index(); i < copy.all; i += thread_count()) {
    const small_access one = small_access_of(&copy, i);
    if (!writes)
      small_fetch(at + one.at, from + one.from, one.there, copy.bytes);
    else if (one.there)
      small_move(to + one.from, at + one.at, copy.bytes);
  }
}

/* Nothing copies 2 bytes without waiting for them, so that a thread has several of them under way. */
enum { SMALL_AT_ONCE = 4 };

DEVICE void small_list2(const small_copy *copy, uint32_t first, small_access list[SMALL_AT_ONCE]) {
  UNROLL(SMALL_AT_ONCE)
  for (uint32_t j = 0; j < SMALL_AT_ONCE; ++j) {
    const uint32_t number = first + j * thread_count();
    list[j] = small_access_of(copy, number < copy->all ? number : first);
  }
}

/* The same by accesses of 2 bytes. */
DEVICE void small_copy2(small_copy copy, bool writes, const unsigned char *from, unsigned char *to, uint32_t at) {
  UNROLL(1)
  for (uint32_t i = thread_index(); i < copy.all; i += SMALL_AT_ONCE * thread_count()) {
    small_access list[SMALL_AT_ONCE];
    uint16_t half[SMALL_AT_ONCE];
    small_list2(&copy, i, list);
    UNROLL(SMALL_AT_ONCE)
    for (uint32_t j = 0; j < SMALL_AT_ONCE; ++j) {
      if (writes)
        half[j] = shared_load2(at + list[j].at);
      else
        half[j] = list[j].there ? global_load2(from + list[j].from) : pass_none2();
    }
    UNROLL(SMALL_AT_ONCE)
    for (uint32_t j = 0; j < SMALL_AT_ONCE; ++j) {
      const bool stores = (!writes || list[j].there) && i + j * thread_count() < copy.all;
      if (stores && writes) global_store2(to + list[j].from, half[j]);
      if (stores && !writes) shared_store2(at + list[j].at, half[j]);
    }
  }
}

#define SMALL_PASTE(a, b) a##b
#define SMALL_NAME(a, b) SMALL_PASTE(a, b)
#define SMALL_OF(what) SMALL_NAME(what, SMALL_TYPE)
#define SMALL_SUM SMALL_NAME(pass_, SMALL_NUMBER)
#define SMALL_NUMBER_OF(what) SMALL_NAME(what, SMALL_NUMBER)
#define SMALL_ACCESS(what) SMALL_NAME(what, SMALL_BYTES)
#define SMALL_KERNEL(name) KERNEL(name, CUTT_SMALL_THREADS, SMALL_BLOCKS) /* whose name is put together first */

#define SMALL_TYPE f16
#define SMALL_BYTES 2
#define SMALL_NUMBER float
#include "small_type.h"

#define SMALL_TYPE bf16
#define SMALL_BYTES 2
#define SMALL_NUMBER float
#include "small_type.h"

#define SMALL_TYPE f32
#define SMALL_BYTES 4
#define SMALL_NUMBER float
#include "small_type.h"

#define SMALL_TYPE f64
#define SMALL_BYTES 8
#define SMALL_NUMBER double
#include "small_type.h"

#define SMALL_TYPE c32
#define SMALL_BYTES 8
#define SMALL_NUMBER complex_float
#include "small_type.h"

#define SMALL_TYPE c64
#define SMALL_BYTES 16
#define SMALL_NUMBER complex_double
#include "small_type.h"

#define SMALL_TYPE i32
#define SMALL_BYTES 4
#define SMALL_NUMBER u32
#include "small_type.h"

#define SMALL_TYPE i64
#define SMALL_BYTES 8
#define SMALL_NUMBER u64
#include "small_type.h"
