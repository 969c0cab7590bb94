/* Of the language of device.h: maxima and minima, which are a NaN where either number is one, and of zeros of both signs either of these.
 *
 *   largest_float(a, b) least_float(a, b)
 *   largest_f16(a, b) least_f16(a, b)          of the two halves that lie in 4 bytes, each with the other's
 *   largest_bf16(a, b) least_bf16(a, b)        the same of bfloat16 */
#ifndef CUTT_RUNTIME_CUDA_KERNELS_EXTREME_H
#define CUTT_RUNTIME_CUDA_KERNELS_EXTREME_H

#include "device.h"

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800

#define DEVICE_EXTREME(name, does, kind, type, letter)                                                                 \
  DEVICE type name(type a, type b) {                                                                                   \
    type v;                                                                                                            \
    asm(does ".NaN." kind " %0, %1, %2;" : "=" letter(v) : letter(a), letter(b));                                      \
    return v;                                                                                                          \
  }
DEVICE_EXTREME(largest_float, "max", "f32", float, "f")
DEVICE_EXTREME(least_float, "min", "f32", float, "f")
DEVICE_EXTREME(largest_f16, "max", "f16x2", uint32_t, "r")
DEVICE_EXTREME(least_f16, "min", "f16x2", uint32_t, "r")
DEVICE_EXTREME(largest_bf16, "max", "bf16x2", uint32_t, "r")
DEVICE_EXTREME(least_bf16, "min", "bf16x2", uint32_t, "r")
#undef DEVICE_EXTREME

#else

DEVICE float largest_float(float a, float b) { return a >= b || a != a ? a : b; }
DEVICE float least_float(float a, float b) { return a <= b || a != a ? a : b; }
#define DEVICE_EXTREMES(name, number, of, to)                                                                          \
  DEVICE uint32_t name(uint32_t a, uint32_t b) {                                                                       \
    const uint32_t first = of(number(to((uint16_t)a), to((uint16_t)b))),                                               \
                   second = of(number(to((uint16_t)(a >> 16)), to((uint16_t)(b >> 16))));                              \
    return second << 16 | first;                                                                                       \
  }
DEVICE_EXTREMES(largest_f16, largest_float, float_to_half, half_to_float)
DEVICE_EXTREMES(least_f16, least_float, float_to_half, half_to_float)
DEVICE_EXTREMES(largest_bf16, largest_float, float_to_bfloat, bfloat_to_float)
DEVICE_EXTREMES(least_bf16, least_float, float_to_bfloat, bfloat_to_float)
#undef DEVICE_EXTREMES

#endif

#endif
