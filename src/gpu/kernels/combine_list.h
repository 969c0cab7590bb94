/* The kernels of elementwise operations, by name: cutt_<name>, each for one type of elements; wide ones, which access 16 bytes at
 * a time; and those that go along D element by element. They take (const unsigned char *a, unsigned char *result, cutt_combine_args args, const unsigned char *b, const unsigned
 * char *c): the addresses of each tensor's first element by the order of the walk, and what combine_args.h says. */
#ifndef CUTT_GPU_KERNELS_COMBINE_LIST_H
#define CUTT_GPU_KERNELS_COMBINE_LIST_H

#define CUTT_COMBINE_KERNELS(X)                                                                                        \
  X(combine_f16)                                                                                                       \
  X(combine_bf16) X(combine_f32) X(combine_f64) X(combine_c32) X(combine_c64) X(combine_i32) X(combine_i64)

#define CUTT_COMBINE_WIDE_KERNELS(X) X(combine_wide_f16) X(combine_wide_bf16) X(combine_wide_f32) X(combine_wide_i32)

#define CUTT_COMBINE_LINE_KERNELS(X)                                                                                   \
  X(combine_line_f16)                                                                                                  \
  X(combine_line_bf16)                                                                                                 \
  X(combine_line_f32)                                                                                                  \
  X(combine_line_f64) X(combine_line_c32) X(combine_line_c64) X(combine_line_i32) X(combine_line_i64)

#endif
