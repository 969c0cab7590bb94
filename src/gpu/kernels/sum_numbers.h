/* How the kernels of sums of one operand put numbers together: as pass_numbers.h does, but for maxima and minima of floats and half types,
 * which take an instruction for one float, or for two halves as they lie. */
#ifndef CUTT_GPU_KERNELS_SUM_NUMBERS_H
#define CUTT_GPU_KERNELS_SUM_NUMBERS_H

#include "extreme.h" /* the runtime's: src/runtime/cuda/kernels */
#include "pass_numbers.h"

DEVICE bool sum_is_extreme(uint32_t op) { return op == CUTT_COMBINE_MAX || op == CUTT_COMBINE_MIN; }

DEVICE float reduce_float(uint32_t op, float a, float b) {
  return op == CUTT_COMBINE_MAX   ? largest_float(a, b)
         : op == CUTT_COMBINE_MIN ? least_float(a, b)
                                  : combine_float(op, a, b);
}
#define DEFINE_SUM_REDUCE(number)                                                                                      \
  DEVICE pass_##number reduce_##number(uint32_t op, pass_##number a, pass_##number b) {                                \
    return combine_##number(op, a, b);                                                                                 \
  }
DEFINE_SUM_REDUCE(double)
DEFINE_SUM_REDUCE(u32)
DEFINE_SUM_REDUCE(u64)
DEFINE_SUM_REDUCE(complex_float)
DEFINE_SUM_REDUCE(complex_double)
#undef DEFINE_SUM_REDUCE

/* Of pairs and of windows of half types, where op is a maximum or a minimum; the pair of a window's first four elements, each with the one
 * of the others that takes its place. */
#define DEFINE_SUM_EXTREME(type)                                                                                       \
  DEVICE uint32_t extreme_pair_##type(uint32_t op, uint32_t a, uint32_t b) {                                           \
    return op == CUTT_COMBINE_MAX ? largest_##type(a, b) : least_##type(a, b);                                         \
  }                                                                                                                    \
  DEVICE word4 extreme_window_##type(uint32_t op, word4 a, word4 b) {                                                  \
    const word4 v = {extreme_pair_##type(op, a.x, b.x), extreme_pair_##type(op, a.y, b.y),                             \
                     extreme_pair_##type(op, a.z, b.z), extreme_pair_##type(op, a.w, b.w)};                            \
    return v;                                                                                                          \
  }                                                                                                                    \
  DEVICE uint32_t extreme_within_##type(uint32_t op, word4 v) {                                                        \
    return extreme_pair_##type(op, extreme_pair_##type(op, v.x, v.y), extreme_pair_##type(op, v.z, v.w));              \
  }
DEFINE_SUM_EXTREME(f16)
DEFINE_SUM_EXTREME(bf16)
#undef DEFINE_SUM_EXTREME

#endif
