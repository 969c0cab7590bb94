/* A digit of a number that counts across modes of a contraction: a mode, or a part of one. */
#ifndef CUTT_GPU_KERNELS_DIGIT_H
#define CUTT_GPU_KERNELS_DIGIT_H

#include "divisor.h"

typedef struct cutt_digit {
  cutt_divisor extent;
  int64_t step[3]; /* in each tensor (L, R, D), in bytes */
} cutt_digit;

#endif
