/* The cases of a benchmark: the paper's three sets, drawn from a seed, and sets that come from a file. */
#ifndef CUTT_CLI_BENCH_CASES_H
#define CUTT_CLI_BENCH_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cutt.h"

typedef struct cutt_bench_case {
  char id[64];
  char group[32]; /* cases are summed up by it: "rank 3, 5:1" */
  int set;        /* 1, 2, 3; 0: from a file */
  int rank;
  int64_t extent[CUTT_MAX_RANK];    /* of the input, stride-1 mode first */
  int perm[CUTT_MAX_RANK];          /* output mode i is input mode perm[i] */
  int64_t in_stride[CUTT_MAX_RANK]; /* of the input's modes, in elements */
  bool strided;                     /* the input is not contiguous */
  bool trivial;                     /* all modes fuse to one: the permutation is a plain copy */
} cutt_bench_case;

/* A growing list of cases. Start from {0}; freed by cutt_bench_cases_free. */
typedef struct cutt_bench_cases {
  cutt_bench_case *item;
  size_t count, room;
} cutt_bench_cases;

void cutt_bench_cases_free(cutt_bench_cases *cases);

/* Elements of a case; INT64_MAX when there are more. */
int64_t cutt_bench_volume(const cutt_bench_case *c);

/* Elements that the input spans, gaps included; INT64_MAX when there are more. *first: those in front of element (0,
 * ..., 0), which negative strides ask for. */
int64_t cutt_bench_span(const cutt_bench_case *c, int64_t *first);

/* Set 1: ranks 2 to 7, largest to smallest extent 1:1, 5:1 and 15:1, `samples` tensors of each with a random
 * permutation. The volume is normally distributed about `volume` elements with a deviation of a fifth of it, and stays
 * within two deviations. Set 2: the paper's rank-8 and rank-12 tensors, the trivial, the reverse and `samples` random
 * permutations of each; volume scales the large extents, 0 leaves them as the paper has them. Set 3: the 57 of the TTC
 * compiler; likewise. The same seed gives the same cases on every machine, and more samples begin with the fewer.
 * False when memory ran out. */
bool cutt_bench_set1(cutt_bench_cases *cases, int samples, int64_t volume, uint64_t seed);
bool cutt_bench_set2(cutt_bench_cases *cases, int samples, int64_t volume, uint64_t seed);
bool cutt_bench_set3(cutt_bench_cases *cases, int64_t volume);

/* What arrays are permuted every day: pictures, flips, rotations, broadcasts, views, batches; as listed. */
bool cutt_bench_everyday(cutt_bench_cases *cases);

/* What programs for GPUs permute: heads of attention, channels of images, axes of FFTs, amplitudes of quantum chemistry, qubits,
 * long and narrow matrices; as listed. */
bool cutt_bench_layouts(cutt_bench_cases *cases);

/* Reads lines "id,dims,perm" or "id,dims,perm,in_strides" under that heading: dims joined by x, first index fastest;
 * perm divided by blanks, and so the input's strides, in elements, or nothing if it is contiguous. Blank lines and
 * lines that begin with # are passed over. name is what messages call the file. On false, `error` says what is wrong,
 * as "NAME:LINE: ...". */
bool cutt_bench_read(cutt_bench_cases *cases, FILE *file, const char *name, const char *group, char *error,
                     size_t error_size);

/* Writes the heading and the cases in that form. False when the file refused. */
bool cutt_bench_write(const cutt_bench_cases *cases, FILE *file);

/* "48x28x28" and "2 0 1" into a buffer, cut when too long; returns the buffer. */
const char *cutt_bench_dims_text(const cutt_bench_case *c, char *buffer, size_t size);
const char *cutt_bench_perm_text(const cutt_bench_case *c, char *buffer, size_t size);

#endif
