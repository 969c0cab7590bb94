/* The contractions of a benchmark: listed ones, and the random sample of the cuTT paper. */
#ifndef CUTT_CLI_BENCH_CONTRACT_CASES_H
#define CUTT_CLI_BENCH_CONTRACT_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/contraction.h"

enum { CUTT_BENCH_CONTRACT_RANK = 8, CUTT_BENCH_LETTERS = 26 };

/* Letters are 'a' to 'z'; the first of a tensor is its stride-1 mode, as in the library. */
typedef struct cutt_bench_contraction {
  char id[24];    /* "talsh48_07", "random_0123" */
  char group[24]; /* cases are summed up by it */
  int place;      /* of the group among the others */
  int rank[CUTT_CLI_TENSORS];
  /* "abc" */
  char modes[CUTT_CLI_TENSORS][CUTT_BENCH_CONTRACT_RANK + 1];
  int64_t extent[CUTT_BENCH_LETTERS]; /* of each letter; 0: not there */
  int configuration;                  /* random: which one it is a map of */
} cutt_bench_contraction;

/* A growing list. Start from {0}; freed by cutt_bench_contractions_free. */
typedef struct cutt_bench_contractions {
  cutt_bench_contraction *item;
  size_t count, room;
} cutt_bench_contractions;

void cutt_bench_contractions_free(cutt_bench_contractions *cases);
bool cutt_bench_contractions_add(cutt_bench_contractions *cases, const cutt_bench_contraction *c);

/* Elements of one of its tensors. */
int64_t cutt_bench_contract_volume(const cutt_bench_contraction *c, int tensor);

/* The 48 contractions of TAL-SH, or those of the TCCG benchmark, which has other extents for elements of up to 4 bytes.
 * volume > 0: all extents of a case are scaled down alike, as far as that its largest tensor has no more elements (and
 * no extent less than 2). False when memory ran out. */
bool cutt_bench_contract_talsh48(cutt_bench_contractions *cases, int64_t volume);
bool cutt_bench_contract_tccg48(cutt_bench_contractions *cases, int elem_bytes, int64_t volume);

/* The random sample, see contract_random.c: all of it when samples is 0, else so many of its cases. The same seed
 * gives the same cases on every machine, and more samples begin with the fewer. False when memory ran out. */
bool cutt_bench_contract_random(cutt_bench_contractions *cases, int64_t samples, int64_t volume, uint64_t seed);

/* "bda,dc->abc" and "a:312 b:312 c:24" into a buffer, which they return. */
const char *cutt_bench_contract_pattern(const cutt_bench_contraction *c, char *buffer, size_t size);
const char *cutt_bench_contract_extents(const cutt_bench_contraction *c, char *buffer, size_t size);

/* Writes the cases as lines id;group;pattern;extents under that heading. False when the file refused. */
bool cutt_bench_contract_write(const cutt_bench_contractions *cases, FILE *file);

#endif
