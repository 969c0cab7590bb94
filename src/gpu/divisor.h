/* Makes the divisors of kernels (kernels/divisor.h). */
#ifndef CUTT_GPU_DIVISOR_H
#define CUTT_GPU_DIVISOR_H

#include "gpu/kernels/divisor.h"

/* By a constant of 1 to 2^31 - 1. */
static inline cutt_divisor cutt_divide_by(int64_t by) {
  const uint32_t n = (uint32_t)by, shift = n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
  const uint64_t multiplier = (((UINT64_C(1) << shift) - n) << 32) / n + 1;
  return (cutt_divisor){n, (uint32_t)multiplier, shift};
}

#endif
