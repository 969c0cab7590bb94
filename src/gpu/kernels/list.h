/* Every kernel by name, for those that need all of them: the loader, the emulator, the compiler's report.
 *   X(name)   cutt_<name> is the kernel, CUTT_KERNEL_<name> its number
 * All take (const unsigned char *in, unsigned char *out, cutt_kernel_args args): the addresses of the canonical element
 * (0, ..., 0) on both sides, and what args.h says. */
#ifndef CUTT_GPU_KERNELS_LIST_H
#define CUTT_GPU_KERNELS_LIST_H

#define CUTT_TILE_KERNELS(X)                                                                                           \
  X(tile_1)  /* elements of 1 byte; rows and columns aligned to 4 */                                                   \
  X(tile_1u) /* ... aligned to nothing */                                                                              \
  X(tile_2)                                                                                                            \
  X(tile_2u)                                                                                                           \
  X(tile_4)                                                                                                            \
  X(tile_4w) /* loads of 4 bytes from shared memory, stores of 16 */                                                   \
  X(tile_8)                                                                                                            \
  X(tile_8w)                                                                                                           \
  X(tile_16)
#define CUTT_SCALE_KERNELS(X)                                                                                          \
  X(scale_f16) X(scale_bf16) X(scale_f32) X(scale_f64) X(scale_c32) X(scale_c64) X(scale_i32) X(scale_i64)
#define CUTT_COPY_KERNELS(X) X(copy_1) X(copy_2) X(copy_4) X(copy_8) X(copy_16)

#define CUTT_KERNELS(X) CUTT_TILE_KERNELS(X) CUTT_SCALE_KERNELS(X) CUTT_COPY_KERNELS(X)

#define CUTT_KERNEL_NUMBER(name) CUTT_KERNEL_##name,
typedef enum cutt_kernel { CUTT_KERNELS(CUTT_KERNEL_NUMBER) CUTT_KERNEL_COUNT } cutt_kernel;
#undef CUTT_KERNEL_NUMBER

#endif
