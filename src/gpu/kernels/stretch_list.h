/* The kernels of sums by stretches, by name: cutt_<name>, each for one type of elements. They take (const unsigned char *left,
 * unsigned char *result, cutt_stretch_args args): the addresses of element (0, ..., 0) of both tensors, and what stretch_args.h says. */
#ifndef CUTT_GPU_KERNELS_STRETCH_LIST_H
#define CUTT_GPU_KERNELS_STRETCH_LIST_H

#define CUTT_STRETCH_KERNELS(X)                                                                                        \
  X(stretch_f16)                                                                                                       \
  X(stretch_bf16) X(stretch_f32) X(stretch_f64) X(stretch_c32) X(stretch_c64) X(stretch_i32) X(stretch_i64)

#endif
