/* The kernels without tables, for list.h. They take (const unsigned char *in, unsigned char *out, cutt_flat_args args), what
 * flat_args.h says, and do one execution. */
#ifndef CUTT_GPU_KERNELS_FLAT_LIST_H
#define CUTT_GPU_KERNELS_FLAT_LIST_H

#define CUTT_FLAT_TILE_KERNELS(X)                                                                                      \
  X(flat_1)                                                                                                            \
  X(flat_1w) /* elements of 1 byte, read and written in words */                                                       \
  X(flat_2)                                                                                                            \
  X(flat_2w)                                                                                                           \
  X(flat_2q) /* the same, written 16 bytes at a time */                                                                \
  X(flat_4)                                                                                                            \
  X(flat_4w) /* loads and stores of 16 bytes */                                                                        \
  X(flat_8)                                                                                                            \
  X(flat_8w)                                                                                                           \
  X(flat_16)
/* Rows by asynchronous copies, and the same with alpha, op and beta. */
#define CUTT_FLAT_ASYNC_KERNELS(X)                                                                                     \
  X(flat_2a)                                                                                                           \
  X(flat_4a)                                                                                                           \
  X(flat_8a)                                                                                                           \
  X(flat_16a)                                                                                                          \
  X(flat_add_f16qa)                                                                                                    \
  X(flat_add_bf16qa)                                                                                                   \
  X(flat_add_f32qa)                                                                                                    \
  X(flat_add_i32qa)                                                                                                    \
  X(flat_add_f64qa)                                                                                                    \
  X(flat_add_c32qa)                                                                                                    \
  X(flat_add_i64qa)                                                                                                    \
  X(flat_add_c64a)                                                                                                     \
  X(flat_add_f32a) X(flat_add_i32a) X(flat_add_f64a) X(flat_add_c32a) X(flat_add_i64a)
/* Rows by asynchronous copies, of runs that begin anywhere: in windows that begin with sectors. Their args are cutt_flat_window_args. */
#define CUTT_FLAT_WINDOW_KERNELS(X) X(flat_2s) X(flat_4s) X(flat_8s) X(flat_16s)
/* One side of a tile is one range of memory: the rows, or the columns, of a few elements each. */
#define CUTT_FLAT_JOINED_KERNELS(X)                                                                                    \
  X(flat_in_1)                                                                                                         \
  X(flat_in_2)                                                                                                         \
  X(flat_in_4)                                                                                                         \
  X(flat_in_8)                                                                                                         \
  X(flat_out_1)                                                                                                        \
  X(flat_out_2)                                                                                                        \
  X(flat_out_4)                                                                                                        \
  X(flat_out_8)
#define CUTT_FLAT_COPY_KERNELS(X) X(flat_copy_1) X(flat_copy_2) X(flat_copy_4) X(flat_copy_8) X(flat_copy_16)
/* The same of runs with gaps, backwards, or of one element; back: some elements at a time, which are turned round; fill: some that are the
 * same, a word of narrow ones, or, v, 16 bytes. */
#define CUTT_FLAT_STEP_KERNELS(X)                                                                                      \
  X(flat_step_1)                                                                                                       \
  X(flat_step_2)                                                                                                       \
  X(flat_step_4)                                                                                                       \
  X(flat_step_8)                                                                                                       \
  X(flat_step_16)                                                                                                      \
  X(flat_back_4)                                                                                                       \
  X(flat_back_16) X(flat_fill_1) X(flat_fill_2) X(flat_fill_1v) X(flat_fill_2v) X(flat_fill_4v) X(flat_fill_8v)
/* With alpha, op and beta; w and q as in list.h, and v, elements of 2 bytes that are written 16 bytes at a time. */
#define CUTT_FLAT_ADD_16_BIT(X)                                                                                        \
  X(flat_add_f16)                                                                                                      \
  X(flat_add_f16w)                                                                                                     \
  X(flat_add_f16v) X(flat_add_f16q) X(flat_add_bf16) X(flat_add_bf16w) X(flat_add_bf16v) X(flat_add_bf16q)
#define CUTT_FLAT_ADD_32_BIT(X)                                                                                        \
  X(flat_add_f32) X(flat_add_f32w) X(flat_add_f32q) X(flat_add_i32) X(flat_add_i32w) X(flat_add_i32q)
#define CUTT_FLAT_ADD_64_BIT(X)                                                                                        \
  X(flat_add_f64) X(flat_add_f64w) X(flat_add_f64q) X(flat_add_i64) X(flat_add_i64w) X(flat_add_i64q)
#define CUTT_FLAT_ADD_COMPLEX(X) X(flat_add_c32) X(flat_add_c32w) X(flat_add_c32q) X(flat_add_c64)
#define CUTT_FLAT_ADD_KERNELS(X)                                                                                       \
  CUTT_FLAT_ADD_16_BIT(X) CUTT_FLAT_ADD_32_BIT(X) CUTT_FLAT_ADD_64_BIT(X) CUTT_FLAT_ADD_COMPLEX(X)
/* The same of tiles of which one side is one range: 16 bytes of the output at a time, and w, a word of narrow elements. */
#define CUTT_FLAT_IN_ADD_KERNELS(X)                                                                                    \
  X(flat_in_add_f16)                                                                                                   \
  X(flat_in_add_f16w)                                                                                                  \
  X(flat_in_add_bf16)                                                                                                  \
  X(flat_in_add_bf16w) X(flat_in_add_f32) X(flat_in_add_i32) X(flat_in_add_f64) X(flat_in_add_c32) X(flat_in_add_i64)
#define CUTT_FLAT_OUT_ADD_KERNELS(X)                                                                                   \
  X(flat_out_add_f16)                                                                                                  \
  X(flat_out_add_bf16)                                                                                                 \
  X(flat_out_add_f32) X(flat_out_add_i32) X(flat_out_add_f64) X(flat_out_add_c32) X(flat_out_add_i64)
#define CUTT_FLAT_JOINED_ADD_KERNELS(X) CUTT_FLAT_IN_ADD_KERNELS(X) CUTT_FLAT_OUT_ADD_KERNELS(X)
/* The same of copies of runs: of an element, or a word of narrow ones, s, one of these, and v, 16 bytes. */
#define CUTT_FLAT_SUM_KERNELS(X)                                                                                       \
  X(flat_sum_f16s)                                                                                                     \
  X(flat_sum_f16)                                                                                                      \
  X(flat_sum_f16v)                                                                                                     \
  X(flat_sum_bf16s)                                                                                                    \
  X(flat_sum_bf16)                                                                                                     \
  X(flat_sum_bf16v)                                                                                                    \
  X(flat_sum_f32)                                                                                                      \
  X(flat_sum_f32v)                                                                                                     \
  X(flat_sum_i32)                                                                                                      \
  X(flat_sum_i32v)                                                                                                     \
  X(flat_sum_f64) X(flat_sum_f64v) X(flat_sum_i64) X(flat_sum_i64v) X(flat_sum_c32) X(flat_sum_c32v) X(flat_sum_c64v)
#define CUTT_FLAT_KERNELS(X)                                                                                           \
  CUTT_FLAT_TILE_KERNELS(X)                                                                                            \
  CUTT_FLAT_JOINED_KERNELS(X)                                                                                          \
  CUTT_FLAT_COPY_KERNELS(X)                                                                                            \
  CUTT_FLAT_STEP_KERNELS(X)                                                                                            \
  CUTT_FLAT_ADD_KERNELS(X)                                                                                             \
  CUTT_FLAT_JOINED_ADD_KERNELS(X) CUTT_FLAT_SUM_KERNELS(X) CUTT_FLAT_ASYNC_KERNELS(X)

#endif
