/* Kernels that permutes of bytes change nothing of: the table of AVX-512 with VBMI has AVX-512's own, and not the same code once more,
 * which takes as long to compile. The build says which object file lends (CUTT_LENDS_KERNELS) and which takes (CUTT_TAKES_KERNELS);
 * all others have all kernels themselves. A kernel that is not in this list is each table's own. A header of kernels.c. */
#ifndef CUTT_CPU_KERNELS_LENT_H
#define CUTT_CPU_KERNELS_LENT_H

/*   X(type, name)  name is the function's; all vectors of elements of W bytes, or with 64-byte registers alone */
#define CUTT_LENT_VECTORS(X, type, name) X(type, name##_16) X(type, name##_32) X(type, name##_64)
#define CUTT_LENT_TRANSPOSES(X, W)                                                                                     \
  X(cutt_cpu_transpose_fn, transpose_16_##W)                                                                           \
  X(cutt_cpu_transpose_fn, transpose_32_##W)                                                                           \
  X(cutt_cpu_transpose_fn, transpose_64_##W)
#define CUTT_LENT_WIDE(X, W)                                                                                           \
  X(cutt_cpu_shift_fn, shift_##W) X(cutt_cpu_shift_fn, lines_##W) X(cutt_cpu_along_fn, along_##W)
#define CUTT_LENT_WHOLE(X, W) X(cutt_cpu_along_fn, along_whole_##W) X(cutt_cpu_transpose_fn, transpose_whole_##W)
#define CUTT_LENT_SCALED(X, name) CUTT_LENT_VECTORS(X, cutt_cpu_scaled_fn, name)
#define CUTT_LENT_SCALED_8(X, kind) CUTT_LENT_SCALED(X, scaled_##kind##_8) CUTT_LENT_SCALED(X, scaled_##kind##_16)
#define CUTT_LENT_SCALED_4(X, kind) CUTT_LENT_SCALED(X, scaled_##kind##_4) CUTT_LENT_SCALED_8(X, kind)
#define CUTT_LENT_SCALED_2(X, kind) CUTT_LENT_SCALED(X, scaled_##kind##_2) CUTT_LENT_SCALED_4(X, kind)
/* Of a field of the table that has the name. */
#define CUTT_LENT_FIELD(X, name) X(__typeof__(*((const cutt_cpu_kernels *)NULL)->name), name)

#define CUTT_LENT_KERNELS(X)                                                                                           \
  X(cutt_cpu_transpose_fn, transpose_32_1)                                                                             \
  X(cutt_cpu_transpose_fn, transpose_64_1)                                                                             \
  CUTT_LENT_TRANSPOSES(X, 2)                                                                                           \
  CUTT_LENT_TRANSPOSES(X, 4)                                                                                           \
  CUTT_LENT_TRANSPOSES(X, 8)                                                                                           \
  CUTT_LENT_TRANSPOSES(X, 16)                                                                                          \
  CUTT_LENT_SCALED_4(X, f32)                                                                                           \
  CUTT_LENT_SCALED_8(X, f64)                                                                                           \
  CUTT_LENT_SCALED_2(X, f16)                                                                                           \
  CUTT_LENT_SCALED_2(X, bf16)                                                                                          \
  CUTT_LENT_WIDE(X, 2)                                                                                                 \
  CUTT_LENT_WIDE(X, 4)                                                                                                 \
  CUTT_LENT_WIDE(X, 8)                                                                                                 \
  CUTT_LENT_WIDE(X, 16)                                                                                                \
  CUTT_LENT_WHOLE(X, 4)                                                                                                \
  CUTT_LENT_WHOLE(X, 8)                                                                                                \
  CUTT_LENT_WHOLE(X, 16)                                                                                               \
  X(cutt_cpu_window_fn, window_2)                                                                                      \
  X(cutt_cpu_window_fn, window_4)                                                                                      \
  X(cutt_cpu_window_fn, window_8)                                                                                      \
  CUTT_LENT_FIELD(X, gather)                                                                                           \
  CUTT_LENT_FIELD(X, strided)                                                                                          \
  CUTT_LENT_FIELD(X, runs)                                                                                             \
  CUTT_LENT_FIELD(X, repeat)                                                                                           \
  CUTT_LENT_FIELD(X, join_runs)                                                                                        \
  CUTT_LENT_FIELD(X, join_repeats)                                                                                     \
  CUTT_LENT_FIELD(X, copy_non_temporal)                                                                                \
  X(__typeof__(*((const cutt_cpu_kernels *)NULL)->scale), cutt_scale_run)

#if defined(CUTT_LENDS_KERNELS)
#define CUTT_LEND(type, name) extern type cutt_cpu_lent_##name __attribute__((alias(#name), visibility("hidden")));
CUTT_LENT_KERNELS(CUTT_LEND)
#elif defined(CUTT_TAKES_KERNELS)
#define CUTT_TAKE(type, name) extern type cutt_cpu_lent_##name __attribute__((visibility("hidden")));
CUTT_LENT_KERNELS(CUTT_TAKE)
#endif

/* In the table. */
#if defined(CUTT_TAKES_KERNELS)
#define CUTT_LENT(name) cutt_cpu_lent_##name
#else
#define CUTT_LENT(name) name
#endif

#endif
