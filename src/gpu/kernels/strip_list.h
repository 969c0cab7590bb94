/* The kernels that multiply floats in strips, by name: cutt_<name>. They take (const unsigned char *left, unsigned char *result,
 * cutt_strip_args args, const unsigned char *right), and strip_args.h says what. Rows come in tiles, or columns; the number is that of a thread's
 * kept positions. */
#ifndef CUTT_GPU_KERNELS_STRIP_LIST_H
#define CUTT_GPU_KERNELS_STRIP_LIST_H

#define CUTT_STRIP_KERNELS(X) X(strip_rows_8_f32) X(strip_rows_12_f32) X(strip_columns_4_f32) X(strip_columns_6_f32)

#endif
