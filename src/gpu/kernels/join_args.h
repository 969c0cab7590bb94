/* The parameters of the kernels of join.cu: one struct, passed by value. Steps are in bytes.
 *
 * D = alpha * sum of the parts + beta * D, or with a product, maximum or minimum in place of the sum. Parts are whole results, one behind the
 * other in workspace, as sums are before they are D's elements. Lanes, which are threads side by side, have results that are neighbours there,
 * and groups of lanes parts by turns. */
#ifndef CUTT_GPU_KERNELS_JOIN_ARGS_H
#define CUTT_GPU_KERNELS_JOIN_ARGS_H

#include "pass_args.h"

enum {
  CUTT_JOIN_THREADS = 256,
  CUTT_JOIN_LOADS = 8, /* of parts, that a thread has under way at once */
  CUTT_JOIN_DIGITS = 64
};

/* A digit of a result's number, and its step in D. */
typedef struct cutt_join_digit {
  cutt_divisor extent;
  int64_t step;
} cutt_join_digit;

typedef struct cutt_join_args {
  uint32_t results, parts;
  uint32_t lane_bits; /* lanes, as a logarithm */
  uint32_t digits;
  int64_t part_bytes; /* from a part to the next */
  uint8_t op;
  cutt_sum_scalars scalars;
  cutt_join_digit digit[CUTT_JOIN_DIGITS];
} cutt_join_args;

#endif
