/* Finding the windows of a gather (kernels/window.h says what they are). */
#ifndef CUTT_CPU_WINDOWS_H
#define CUTT_CPU_WINDOWS_H

#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"

/* vector_bytes: of the widest registers. */

/* About how many windows an output vector has: a closed form from the strides of the row modes, O(rank). */
double cutt_cpu_windows_estimate(const cutt_canonical *canonical, const cutt_cpu_tile *tile, int vector_bytes);

/* The most bytes that the windows of a table of `rows` entries take, for elements of w bytes. */
size_t cutt_cpu_windows_bytes(int64_t rows, int64_t w, int vector_bytes);

/* Finds the windows of a table of offsets in bytes, multiples of w. memory: of cutt_cpu_windows_bytes, aligned to 8. */
void cutt_cpu_windows_find(const int64_t *row, int64_t rows, int64_t w, int vector_bytes, void *memory,
                           cutt_cpu_windows *windows);

#endif
