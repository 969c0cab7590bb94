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
#define CUTT_FLAT_COPY_KERNELS(X) X(flat_copy_4) X(flat_copy_8) X(flat_copy_16)
#define CUTT_FLAT_KERNELS(X) CUTT_FLAT_TILE_KERNELS(X) CUTT_FLAT_JOINED_KERNELS(X) CUTT_FLAT_COPY_KERNELS(X)

#endif
