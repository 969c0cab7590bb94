/* Every kernel by name, for those that need all of them: the loader, the emulator, the compiler's report.
 *   X(name)   cutt_<name> is the kernel, CUTT_KERNEL_<name> its number
 * All but those of flat_list.h take (const unsigned char *in, unsigned char *out, cutt_kernel_args args): the addresses of the canonical element
 * (0, ..., 0) on both sides, and what args.h says. Each has another beside it, cutt_<name>_batched, which takes cutt_pairs pairs
 * too, for many executions by one launch. */
#ifndef CUTT_GPU_KERNELS_LIST_H
#define CUTT_GPU_KERNELS_LIST_H

#include "flat_list.h"

#define CUTT_TILE_KERNELS(X)                                                                                           \
  X(tile_1)  /* elements of 1 byte; rows and columns aligned to 4 */                                                   \
  X(tile_1u) /* ... aligned to nothing */                                                                              \
  X(tile_2)                                                                                                            \
  X(tile_2u)                                                                                                           \
  X(tile_4)                                                                                                            \
  X(tile_4l) /* outputs behind a link: requests that begin with a line */                                              \
  X(tile_4w) /* loads of 4 bytes from shared memory, stores of 16 */                                                   \
  X(tile_8)                                                                                                            \
  X(tile_8l)                                                                                                           \
  X(tile_8w)                                                                                                           \
  X(tile_16)                                                                                                           \
  X(tile_16l)
/* With alpha and op, and with beta too; scale_types.h says what the variants of a type are. */
#define CUTT_SCALE_16_BIT(X) X(scale_f16) X(scale_f16w) X(scale_f16q) X(scale_bf16) X(scale_bf16w) X(scale_bf16q)
#define CUTT_SCALE_32_BIT(X) X(scale_f32) X(scale_f32w) X(scale_f32q) X(scale_i32) X(scale_i32w) X(scale_i32q)
#define CUTT_SCALE_64_BIT(X)                                                                                           \
  X(scale_f64) X(scale_f64h) X(scale_f64w) X(scale_f64q) X(scale_i64) X(scale_i64h) X(scale_i64w) X(scale_i64q)
#define CUTT_SCALE_COMPLEX(X) X(scale_c32) X(scale_c32h) X(scale_c32w) X(scale_c32q) X(scale_c64) X(scale_c64h)
#define CUTT_SCALE_KERNELS(X) CUTT_SCALE_16_BIT(X) CUTT_SCALE_32_BIT(X) CUTT_SCALE_64_BIT(X) CUTT_SCALE_COMPLEX(X)
#define CUTT_ADD_16_BIT(X) X(add_f16) X(add_f16w) X(add_f16q) X(add_bf16) X(add_bf16w) X(add_bf16q)
#define CUTT_ADD_32_BIT(X) X(add_f32) X(add_f32w) X(add_f32q) X(add_i32) X(add_i32w) X(add_i32q)
#define CUTT_ADD_64_BIT(X) X(add_f64) X(add_f64h) X(add_f64w) X(add_f64q) X(add_i64) X(add_i64h) X(add_i64w) X(add_i64q)
#define CUTT_ADD_COMPLEX(X) X(add_c32) X(add_c32h) X(add_c32w) X(add_c32q) X(add_c64) X(add_c64h)
#define CUTT_ADD_KERNELS(X) CUTT_ADD_16_BIT(X) CUTT_ADD_32_BIT(X) CUTT_ADD_64_BIT(X) CUTT_ADD_COMPLEX(X)
#define CUTT_COPY_KERNELS(X) X(copy_1) X(copy_2) X(copy_4) X(copy_8) X(copy_16)

/* Those with tables, of which there are two, and all. */
#define CUTT_TABLE_KERNELS(X) CUTT_TILE_KERNELS(X) CUTT_SCALE_KERNELS(X) CUTT_ADD_KERNELS(X) CUTT_COPY_KERNELS(X)
#define CUTT_KERNELS(X) CUTT_TABLE_KERNELS(X) CUTT_FLAT_KERNELS(X) CUTT_FLAT_WINDOW_KERNELS(X)

#define CUTT_KERNEL_NUMBER(name) CUTT_KERNEL_##name,
typedef enum cutt_kernel { CUTT_KERNELS(CUTT_KERNEL_NUMBER) CUTT_KERNEL_COUNT } cutt_kernel;
enum { CUTT_TABLE_KERNEL_COUNT = CUTT_KERNEL_flat_1 }; /* they come first */
#undef CUTT_KERNEL_NUMBER

#endif
