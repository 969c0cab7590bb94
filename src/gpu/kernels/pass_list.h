/* The kernels of contractions in one pass, by name: cutt_<name>, each for one type of elements. They take (const unsigned char
 * *left, unsigned char *result, cutt_pass_args args, const unsigned char *right): the addresses of element (0, ..., 0) of each
 * tensor, and what pass_args.h says. */
#ifndef CUTT_GPU_KERNELS_PASS_LIST_H
#define CUTT_GPU_KERNELS_PASS_LIST_H

#define CUTT_PASS_KERNELS(X)                                                                                           \
  X(pass_f16) X(pass_bf16) X(pass_f32) X(pass_f64) X(pass_c32) X(pass_c64) X(pass_i32) X(pass_i64)

#endif
