/* The indices of transposes of few rows (kernels/few.h says how they are used). */
#ifndef CUTT_CPU_FEW_H
#define CUTT_CPU_FEW_H

#include <stddef.h>

#include "cpu/kernels/kernels.h"

/* Registers that so many rows of elements of w bytes take, of which each has four; 0: more rows than the kernel is for. */
int cutt_cpu_few_registers(int64_t rows, int64_t w);

/* Bytes that the indices of so many rows of elements of w bytes take. */
size_t cutt_cpu_few_bytes(int64_t rows, int64_t w);

/* Finds them. memory: of cutt_cpu_few_bytes, aligned to 8. */
void cutt_cpu_few_find(int64_t rows, int64_t w, void *memory, cutt_cpu_few *few);

#endif
