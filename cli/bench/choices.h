/* Chosen beside measured: what timing the candidates of the cases says of the models that choose. */
#ifndef CUTT_CLI_BENCH_CHOICES_H
#define CUTT_CLI_BENCH_CHOICES_H

#include <stdio.h>

#include "result.h"

/* The tables, when there are cases whose candidates were timed. False when memory ran out. */
bool cutt_bench_print_choices(FILE *file, const cutt_bench_setup *setup, const cutt_bench_result *results,
                              size_t count);

/* The same as JSON, for all cases and for one; NULL when memory ran out. The keys are in man/cutt.1. */
json_t *cutt_bench_json_choices(const cutt_bench_setup *setup, const cutt_bench_result *results, size_t count);
json_t *cutt_bench_json_choice(const cutt_bench_result *result);

#endif
