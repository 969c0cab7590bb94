/* What a benchmark found: the row of a case, the closing tables, and the JSON. */
#ifndef CUTT_CLI_BENCH_REPORT_H
#define CUTT_CLI_BENCH_REPORT_H

#include <stdio.h>

#include "result.h"

/* The rows of the table, whose columns are as wide as these cases need. */
void cutt_bench_print_head(FILE *file, const cutt_bench_cases *cases);
void cutt_bench_print_row(FILE *file, const cutt_bench_cases *cases, const cutt_bench_result *result);

/* Worst, median and best of each group, and the ten worst cases. False when memory ran out. */
bool cutt_bench_print_summary(FILE *file, const cutt_bench_setup *setup, const cutt_bench_result *results,
                              size_t count);

/* All of it as JSON. False with errno set when the file refused or memory ran out. */
bool cutt_bench_write_json(FILE *file, const cutt_bench_setup *setup, const cutt_bench_result *results, size_t count);

#endif
