/* The kernels of sums by tiles, by name: cutt_<name>, each for one type of elements. They take (const unsigned char *left,
 * unsigned char *result, cutt_sum_args args): the addresses of element (0, ..., 0) of both tensors, and what sum_args.h says. */
#ifndef CUTT_GPU_KERNELS_SUM_LIST_H
#define CUTT_GPU_KERNELS_SUM_LIST_H

#define CUTT_SUM_KERNELS(X) X(sum_f16) X(sum_bf16) X(sum_f32) X(sum_f64) X(sum_c32) X(sum_c64) X(sum_i32) X(sum_i64)

#endif
