/* Copies of runs without tables (kernels/flat_copy.cu), also of runs with gaps, backwards, or of one element (kernels/flat_step.cu). */
#ifndef CUTT_GPU_FLAT_COPY_H
#define CUTT_GPU_FLAT_COPY_H

#include "gpu/flat.h"

/* As cutt_gpu_flat_choose: accesses as wide as runs, and where they begin, are aligned. */
bool cutt_gpu_flat_copy_choose(const cutt_canonical *canonical, const cutt_gpu_access *access, uint32_t threads,
                               cutt_gpu_flat *flat);

/* As cutt_gpu_flat_fill: all modes but that of the runs, in output order, are digits. */
void cutt_gpu_flat_copy_fill(const cutt_canonical *canonical, const cutt_gpu_flat *flat, cutt_flat_args *args);

#endif
