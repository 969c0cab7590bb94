/* Division by a constant, which kernels do by a multiplication. */
#ifndef CUTT_GPU_KERNELS_DIVISOR_H
#define CUTT_GPU_KERNELS_DIVISOR_H

#include <stdint.h>

/* n / by == (multiply_high(n, multiplier) + n) >> shift for n < 2^31 (Granlund, Montgomery). */
typedef struct cutt_divisor {
  uint32_t by, multiplier, shift;
} cutt_divisor;

#endif
