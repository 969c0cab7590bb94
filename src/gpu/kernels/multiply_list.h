/* The kernels that multiply in one pass, by name: cutt_<name>, for one type each. They take (const unsigned char *left, unsigned char
 * *result, cutt_multiply_args args, const unsigned char *right), and multiply_args.h says what. */
#ifndef CUTT_GPU_KERNELS_MULTIPLY_LIST_H
#define CUTT_GPU_KERNELS_MULTIPLY_LIST_H

#define CUTT_MULTIPLY_KERNELS(X) X(multiply_f32) X(multiply_f64)

#endif
