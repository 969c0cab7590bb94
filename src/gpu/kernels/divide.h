/* Division by a divisor that the host has prepared (divisor.h), for numbers below 2^31. */
#ifndef CUTT_GPU_KERNELS_DIVIDE_H
#define CUTT_GPU_KERNELS_DIVIDE_H

#include "device.h" /* the runtime's: src/runtime/cuda/kernels */
#include "divisor.h"

DEVICE uint32_t divide(uint32_t n, cutt_divisor by) { return (multiply_high(n, by.multiplier) + n) >> by.shift; }

#endif
