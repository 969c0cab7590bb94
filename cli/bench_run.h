/* One case of a benchmark: plan, check, time beside a copy. */
#ifndef CUTT_CLI_BENCH_RUN_H
#define CUTT_CLI_BENCH_RUN_H

#include "bench_cases.h"
#include "bench_memory.h"
#include "bench_report.h"

enum { CUTT_BENCH_SIZE_CLASSES = 64 };

/* Which copy is the fastest for some number of bytes, and how many cases ago that was found out. */
typedef struct cutt_bench_copy {
  bool known;
  int loop, threads, cases_since;
} cutt_bench_copy;

typedef struct cutt_bench_run {
  cutt_bench_buffers buffers; /* for the largest case; the input is filled */
  cutt_bench_values values;
  int threads;
  bool measure, check;
  cutt_bench_copy ceiling[CUTT_BENCH_SIZE_CLASSES]; /* for each power of two of bytes */
} cutt_bench_run;

/* Runs one case and fills in its result. What goes wrong (no plan, a wrong element) is result->error. */
void cutt_bench_run_case(cutt_bench_run *run, const cutt_bench_case *c, cutt_bench_result *result);

#endif
