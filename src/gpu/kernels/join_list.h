/* The kernels that add up parts of sums, by name: cutt_<name>, each for one type of elements. They take (const unsigned char *parts,
 * unsigned char *result, cutt_join_args args): the addresses of the first part and of element (0, ..., 0) of D, and what join_args.h
 * says. */
#ifndef CUTT_GPU_KERNELS_JOIN_LIST_H
#define CUTT_GPU_KERNELS_JOIN_LIST_H

#define CUTT_JOIN_KERNELS(X)                                                                                           \
  X(join_f16) X(join_bf16) X(join_f32) X(join_f64) X(join_c32) X(join_c64) X(join_i32) X(join_i64)

#endif
