/* Elements that are stored again and again: a broadcast. A header of kernels.c. */
#ifndef CUTT_CPU_KERNELS_REPEAT_H
#define CUTT_CPU_KERNELS_REPEAT_H

#include "cpu/kernels/copy.h"

typedef uint64_t cutt_same __attribute__((vector_size(CUTT_VECTOR_BYTES)));

/* 16 bytes of such a vector, in a register: a load of a part of what has just been stored may wait for it. */
typedef uint64_t repeat_few __attribute__((vector_size(16)));
CUTT_INLINE repeat_few first_few(cutt_same same) {
  const repeat_few few = {same[0], same[1]};
  return few;
}

/* A vector of one element, of w bytes, a constant. */
CUTT_INLINE cutt_same vector_of(int w, const char *element) {
  uint64_t low = 0, high;
  memcpy(&low, element, (size_t)(w < 8 ? w : 8));
  if (w <= 1) low |= low << 8;
  if (w <= 2) low |= low << 16;
  if (w <= 4) low |= low << 32;
  cutt_same same = low - (cutt_same){0};
  if (w < 16) return same;
  memcpy(&high, element + 8, 8);
  _Pragma("GCC unroll 4") for (int i = 1; i < CUTT_VECTOR_BYTES / 8; i += 2) same[i] = high;
  return same;
}

/* A line of one element. */
CUTT_INLINE void fill_line(char *line, const char *element, int64_t w) {
  const cutt_same same = w == 1   ? vector_of(1, element)
                         : w == 2 ? vector_of(2, element)
                         : w == 4 ? vector_of(4, element)
                         : w == 8 ? vector_of(8, element)
                                  : vector_of(16, element);
  for (int i = 0; i < CUTT_CPU_LINE; i += CUTT_VECTOR_BYTES) memcpy(line + i, &same, CUTT_VECTOR_BYTES);
}

/* See kernels.h; w is a constant. Vectors of an output line each between a first and a last one, since a store that spans two lines
 * takes longer; they have the same elements in them wherever that begins, if it is aligned as elements are. */
CUTT_INLINE void repeat_elements(int w, char *dst, const int64_t *to, const char *src, const int64_t *from,
                                 int64_t step, int64_t n, int64_t times) {
  enum { V = CUTT_VECTOR_BYTES, FEW = sizeof(repeat_few) };
  const int64_t length = times * w, end = length - V;
  for (int64_t k = 0; k < n; ++k) {
    char *const run = to ? dst + to[k] : dst + k * length;
    const cutt_same same = vector_of(w, src + from[k * step]);
    if (end < 0) {
      const repeat_few few = first_few(same);
      if (length >= FEW) {
        for (int64_t at = 0; at + FEW < length; at += FEW) memcpy(run + at, &few, FEW);
        memcpy(run + length - FEW, &few, FEW); /* of the same elements, wherever it begins */
        continue;
      }
      const repeat_few twice[2] = {few, few}; /* some compilers think that loads might begin before one */
      copy_few(run, (const char *)(twice + 1), length);
      continue;
    }
    memcpy(run, &same, V);
    int64_t at = V;
    if (((uintptr_t)run & (uintptr_t)(w - 1)) == 0) at -= (int64_t)((uintptr_t)run & (V - 1));
    for (; at < end; at += V) memcpy(run + at, &same, V);
    memcpy(run + end, &same, V);
  }
}

static void repeat(char *dst, const int64_t *to, const char *src, const int64_t *from, int64_t step, int64_t n,
                   int64_t times, int64_t w) {
  if (w == 1) repeat_elements(1, dst, to, src, from, step, n, times);
  if (w == 2) repeat_elements(2, dst, to, src, from, step, n, times);
  if (w == 4) repeat_elements(4, dst, to, src, from, step, n, times);
  if (w == 8) repeat_elements(8, dst, to, src, from, step, n, times);
  if (w == 16) repeat_elements(16, dst, to, src, from, step, n, times);
}

#endif
