/* The kernels that multiply on tensor cores, by name: cutt_<name>. They take (const unsigned char *left, unsigned char *result,
 * cutt_core_args args, const unsigned char *right), and core_args.h says what. */
#ifndef CUTT_GPU_KERNELS_CORE_LIST_H
#define CUTT_GPU_KERNELS_CORE_LIST_H

#define CUTT_CORE_KERNELS(X) X(core_rows_f64) X(core_columns_f64) X(core_rows_lots_f64) X(core_columns_lots_f64)

#endif
