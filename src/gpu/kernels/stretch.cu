/* Sums over modes of one operand (stretch_args.h) of which what follows each other in memory comes to shared memory as it lies. Memory is
 * read in long runs however short the modes are, and is never waited for by those who add up. */
#include "async.h" /* the runtime's: src/runtime/cuda/kernels */
#include "bulk.h"
#include "sum_numbers.h"
#include "stretch_args.h"
#include "sum_walk.h"

/* What a thread does of each stretch: results from `own` on, of which it has a lane's terms, which begin with these. kept: how far its sum of a
 * result is behind the first lane's, which takes value_bytes. */
typedef struct stretch_thread {
  uint32_t own, kept, inner, outer;
} stretch_thread;

DEVICE stretch_thread stretch_begin(const cutt_stretch_args *args, uint32_t value_bytes) {
  stretch_thread me;
  const uint32_t lanes = 1u << args->lane_bits, together = CUTT_STRETCH_THREADS >> args->lane_bits;
  me.own = args->results_first ? thread_index() % together : thread_index() >> args->lane_bits;
  const uint32_t lane = args->results_first ? thread_index() / together : thread_index() % lanes;
  me.kept = lane * args->lane_apart * value_bytes;
  me.inner = lane & ((1u << args->inner_bits) - 1);
  me.outer = lane >> args->inner_bits;
  return me;
}

/* Describes results, by where they are in D and in a stretch, and where the first lane's sums of them are, of value_bytes each; and outer
 * terms, by where these are. */
DEVICE void stretch_describe(const cutt_stretch_args *args, uint32_t value_bytes) {
  UNROLL(1)
  for (uint32_t i = thread_index(); args->described && i < args->results; i += CUTT_STRETCH_THREADS) {
    uint32_t number = i, at = 0;
    int64_t to = 0;
    UNROLL(1)
    for (uint32_t j = 0; j < args->result_end; ++j) {
      const cutt_stretch_digit *d = &args->result[j];
      const uint32_t rest = divide(number, d->extent), digit = number - rest * d->extent.by;
      at += digit * d->step;
      to += (int64_t)digit * d->result_step;
      number = rest;
    }
    const word4 entry = {(uint32_t)(uint64_t)to, (uint32_t)((uint64_t)to >> 32), at,
                         args->sums_at + i * args->result_apart * value_bytes};
    shared_store16(args->results_at + i * CUTT_STRETCH_ENTRY, entry);
  }
  UNROLL(1)
  for (uint32_t i = thread_index(); i < args->outer; i += CUTT_STRETCH_THREADS) {
    uint32_t number = i, at = 0;
    UNROLL(1)
    for (uint32_t j = 0; j < args->term_end; ++j) {
      const cutt_stretch_digit *d = &args->term[j];
      const uint32_t rest = divide(number, d->extent);
      at += (number - rest * d->extent.by) * d->step;
      number = rest;
    }
    shared_store4(args->terms_at + i * CUTT_STRETCH_TERM, at);
  }
}

/* Where a result's first term is in a stretch, and where the result is in D: from its description, or, of results of one mode, worked out. */
DEVICE uint32_t stretch_at(const cutt_stretch_args *args, uint32_t number) {
  return args->described ? shared_load4(args->results_at + number * CUTT_STRETCH_ENTRY + 8)
                         : number * args->result[0].step;
}
DEVICE int64_t stretch_to(const cutt_stretch_args *args, uint32_t number) {
  return args->described ? pass_load_first(args->results_at + number * CUTT_STRETCH_ENTRY)
                         : (int64_t)number * args->result[0].result_step;
}

/* Is a result its sum as it is? */
DEVICE bool stretch_is_plain(const cutt_stretch_args *args) {
  return args->scalars.alone && !args->scalars.reads && !args->stores_sums;
}

/* How much of its last mode a stretch has. */
DEVICE uint32_t stretch_there(const cutt_stretch_args *args, const sum_step *s) {
  return sum_least(args->extent - s->column, args->part);
}

/* How far a stretch begins from a line's beginning, in memory as in shared memory. */
DEVICE uint32_t stretch_shift(const unsigned char *left, const sum_step *s) {
  return (uint32_t)((uintptr_t)left + (uintptr_t)s->left) % CUTT_STRETCH_LINE;
}

typedef uint16_t stretch_word2; /* an element's bits */
typedef uint32_t stretch_word4;
typedef word2 stretch_word8;
typedef word4 stretch_word16;

#define STRETCH_PASTE(a, b) a##b
#define STRETCH_NAME(a, b) STRETCH_PASTE(a, b)
#define STRETCH_OF(what) STRETCH_NAME(what, STRETCH_TYPE)
#define STRETCH_NUMBER_OF(what) STRETCH_NAME(what, STRETCH_NUMBER)
#define STRETCH_ACCESS(what) STRETCH_NAME(what, STRETCH_BYTES)
#define STRETCH_VALUE_ACCESS(what) STRETCH_NAME(what, STRETCH_VALUE_BYTES)
#define STRETCH_WORD STRETCH_NAME(stretch_word, STRETCH_BYTES)
#define STRETCH_VALUE STRETCH_NAME(pass_, STRETCH_NUMBER)
#define STRETCH_TERMS(op) sum = STRETCH_OF(stretch_terms_)(args, op, me, at, inner, outer, sum)
#define STRETCH_SEVERAL(op) STRETCH_OF(stretch_several_)(args, op, at, inner, outer, sum)
#define STRETCH_KERNEL(name) KERNEL(name, CUTT_STRETCH_THREADS, STRETCH_BLOCKS) /* whose name is put together first */

#define STRETCH_TYPE f16
#define STRETCH_BYTES 2
#define STRETCH_NUMBER float
#define STRETCH_VALUE_BYTES 4
#include "stretch_type.h"

#define STRETCH_TYPE bf16
#define STRETCH_BYTES 2
#define STRETCH_NUMBER float
#define STRETCH_VALUE_BYTES 4
#include "stretch_type.h"

#define STRETCH_TYPE f32
#define STRETCH_BYTES 4
#define STRETCH_NUMBER float
#define STRETCH_VALUE_BYTES 4
#include "stretch_type.h"

#define STRETCH_TYPE f64
#define STRETCH_BYTES 8
#define STRETCH_NUMBER double
#define STRETCH_VALUE_BYTES 8
#include "stretch_type.h"

#define STRETCH_TYPE c32
#define STRETCH_BYTES 8
#define STRETCH_NUMBER complex_float
#define STRETCH_VALUE_BYTES 8
#include "stretch_type.h"

#define STRETCH_TYPE c64
#define STRETCH_BYTES 16
#define STRETCH_NUMBER complex_double
#define STRETCH_VALUE_BYTES 16
#include "stretch_type.h"

#define STRETCH_TYPE i32
#define STRETCH_BYTES 4
#define STRETCH_NUMBER u32
#define STRETCH_VALUE_BYTES 4
#include "stretch_type.h"

#define STRETCH_TYPE i64
#define STRETCH_BYTES 8
#define STRETCH_NUMBER u64
#define STRETCH_VALUE_BYTES 8
#include "stretch_type.h"
