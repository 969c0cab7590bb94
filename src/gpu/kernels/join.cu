/* Adds up parts of sums (join_args.h), which another launch has put into workspace. There is little of them, so that what it takes is waiting:
 * it begins while that launch ends, and a thread's parts are loaded at once. They are added in an order that depends on the shape alone. */
#include "divide.h"
#include "early.h" /* the runtime's: src/runtime/cuda/kernels */
#include "join_args.h"
#include "pass_numbers.h"

/* Where a result is in D. */
DEVICE int64_t join_place(const cutt_join_args *args, uint32_t number) {
  int64_t at = 0;
  UNROLL(1)
  for (uint32_t i = 0; i < args->digits; ++i) {
    const uint32_t rest = divide(number, args->digit[i].extent);
    at += (int64_t)(number - rest * args->digit[i].extent.by) * args->digit[i].step;
    number = rest;
  }
  return at;
}

#define JOIN_PASTE(a, b) a##b
#define JOIN_NAME(a, b) JOIN_PASTE(a, b)
#define JOIN_OF(what) JOIN_NAME(what, JOIN_TYPE)
#define JOIN_NUMBER_OF(what) JOIN_NAME(what, JOIN_NUMBER)
#define JOIN_ACCESS(what) JOIN_NAME(what, JOIN_BYTES)
#define JOIN_VALUE JOIN_NAME(pass_, JOIN_NUMBER)
#define JOIN_KERNEL(name) KERNEL(name, CUTT_JOIN_THREADS, 2) /* whose name is put together first */

#define JOIN_TYPE f16
#define JOIN_NUMBER float
#define JOIN_BYTES 4
#include "join_type.h"

#define JOIN_TYPE bf16
#define JOIN_NUMBER float
#define JOIN_BYTES 4
#include "join_type.h"

#define JOIN_TYPE f32
#define JOIN_NUMBER float
#define JOIN_BYTES 4
#include "join_type.h"

#define JOIN_TYPE f64
#define JOIN_NUMBER double
#define JOIN_BYTES 8
#include "join_type.h"

#define JOIN_TYPE c32
#define JOIN_NUMBER complex_float
#define JOIN_BYTES 8
#include "join_type.h"

#define JOIN_TYPE c64
#define JOIN_NUMBER complex_double
#define JOIN_BYTES 16
#include "join_type.h"

#define JOIN_TYPE i32
#define JOIN_NUMBER u32
#define JOIN_BYTES 4
#include "join_type.h"

#define JOIN_TYPE i64
#define JOIN_NUMBER u64
#define JOIN_BYTES 8
#include "join_type.h"
