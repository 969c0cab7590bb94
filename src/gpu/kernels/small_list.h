/* The kernels of small products, by name: cutt_<name>, each for one type of elements. They take (const unsigned char *left,
 * unsigned char *result, cutt_small_args args, const unsigned char *right): the addresses of element (0, ..., 0) of the tensors, and what
 * small_args.h says. */
#ifndef CUTT_GPU_KERNELS_SMALL_LIST_H
#define CUTT_GPU_KERNELS_SMALL_LIST_H

#define CUTT_SMALL_KERNELS(X)                                                                                          \
  X(small_f16) X(small_bf16) X(small_f32) X(small_f64) X(small_c32) X(small_c64) X(small_i32) X(small_i64)

#endif
