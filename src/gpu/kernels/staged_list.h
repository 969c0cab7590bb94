/* The kernels of sums by staged tiles, by name: cutt_<name>, each for one type of elements. They take (const unsigned char *left,
 * unsigned char *result, cutt_staged_args args): the addresses of element (0, ..., 0) of both tensors, and what staged_args.h says. */
#ifndef CUTT_GPU_KERNELS_STAGED_LIST_H
#define CUTT_GPU_KERNELS_STAGED_LIST_H

#define CUTT_STAGED_KERNELS(X)                                                                                         \
  X(staged_f16) X(staged_bf16) X(staged_f32) X(staged_f64) X(staged_c32) X(staged_c64) X(staged_i32) X(staged_i64)

#endif
