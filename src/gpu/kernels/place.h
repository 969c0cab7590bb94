/* Where an element is in the tensors of a contraction: from numbers whose digits are modes (digit.h). */
#ifndef CUTT_GPU_KERNELS_PLACE_H
#define CUTT_GPU_KERNELS_PLACE_H

#include "digit.h"
#include "divide.h"

#define PLACE_NOWHERE INT64_MIN /* in D: there is no such row or column */

/* Bytes from the beginning of each tensor. */
typedef struct place {
  int64_t left, right, result;
} place;

/* Goes on by a number of which digit[first] to digit[end - 1] are the digits, few mostly: unrolled they would be a large part of a
 * kernel's code. */
DEVICE void place_go(const cutt_digit *digit, uint32_t first, uint32_t end, uint32_t number, place *p) {
  UNROLL(1)
  for (uint32_t i = first; i < end; ++i) {
    const cutt_digit *d = &digit[i];
    const uint32_t rest = divide(number, d->extent);
    const int64_t value = (int64_t)(number - rest * d->extent.by);
    p->left += value * d->step[0];
    p->right += value * d->step[1];
    p->result += value * d->step[2];
    number = rest;
  }
}

#endif
