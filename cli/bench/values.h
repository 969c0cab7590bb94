/* The values of a benchmark: what elements hold, and whether a result holds what it should. */
#ifndef CUTT_CLI_BENCH_VALUES_H
#define CUTT_CLI_BENCH_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cases.h"

/* The byte that outputs are filled with before an execution that is checked. */
enum { CUTT_BENCH_POISON = 0xa5 };

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

/* What is computed, for filling and checking. */
typedef struct cutt_bench_values {
  const cutt_bench_dtype *dtype;
  bool computed; /* in and out hold numbers, out = in + beta * out; else bits are moved */
  double beta;
} cutt_bench_values;

/* Elements begin .. begin + count - 1 of the input: they differ from element to element (as far as the width allows)
 * and follow from the element's index. */
void cutt_bench_fill(const cutt_bench_values *values, void *memory, int64_t begin, int64_t count);

/* The same elements of the output before an execution: poison, or with beta the numbers that are to be added to. */
void cutt_bench_fill_before(const cutt_bench_values *values, void *memory, int64_t begin, int64_t count);

void cutt_bench_poison(void *memory, size_t bytes);

/* Compares each of the output's elements begin .. begin + count - 1, which lie at window, with what the permutation's
 * definition says, computed from indices. On false `why` says which element is the first that is wrong. */
bool cutt_bench_compare(const cutt_bench_values *values, const cutt_bench_case *c, const void *window, int64_t begin,
                        int64_t count, char *why, size_t why_size);

#endif
