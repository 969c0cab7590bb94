/* The memory of a benchmark: two buffers, the values that fill them, and the check of a result, element by element. */
#ifndef CUTT_CLI_BENCH_MEMORY_H
#define CUTT_CLI_BENCH_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_cases.h"

/* Element types of the benchmark, by NumPy's names. */
typedef struct cutt_bench_dtype {
  const char *name;
  int bytes;
  cuttType_t moved;    /* the type to plan with when elements are only moved */
  cuttType_t computed; /* the type to plan with when beta is not 0; 0: there is none */
} cutt_bench_dtype;

/* NULL for a name that is none; names is where it may ask for "f4, f8, ...". */
const cutt_bench_dtype *cutt_bench_dtype_find(const char *name);
const char *cutt_bench_dtype_names(void);

typedef struct cutt_bench_buffers {
  void *in, *out; /* 64-byte aligned; each has guard bytes behind it */
  size_t bytes;   /* of each, without the guard */
  void *map[2];   /* what was mapped, to be unmapped */
  size_t mapped;  /* bytes of each mapping */
} cutt_bench_buffers;

/* Bytes of memory that can be had without swapping; 0 when the system does not say. */
int64_t cutt_bench_memory_available(void);

/* Maps two buffers, asks for huge pages, and touches them first with `threads` threads, so that each part lies near the
 * thread that will work on it. False with errno set when the system refuses. */
bool cutt_bench_buffers_open(cutt_bench_buffers *buffers, size_t bytes, int threads);
void cutt_bench_buffers_close(cutt_bench_buffers *buffers);

/* What is computed, for filling and checking. */
typedef struct cutt_bench_values {
  const cutt_bench_dtype *dtype;
  bool computed; /* in and out hold numbers, out = in + beta * out; else bits are moved */
  double beta;
} cutt_bench_values;

/* Fills the input with values that differ from element to element (as far as the width allows) and follow from the
 * element's index. */
void cutt_bench_fill_in(const cutt_bench_buffers *buffers, const cutt_bench_values *values, int64_t count);

/* Makes the output ready for a checked execution: poison, with beta the numbers that are to be added to, and the guard
 * behind the count elements. */
void cutt_bench_prepare_out(const cutt_bench_buffers *buffers, const cutt_bench_values *values, int64_t count);

/* Compares every element of the output with what the permutation's definition says, which is computed from indices and
 * not read from the input; and the guard. On false `why` says which element is wrong. */
bool cutt_bench_check(const cutt_bench_buffers *buffers, const cutt_bench_values *values, const cutt_bench_case *c,
                      char *why, size_t why_size);

#endif
