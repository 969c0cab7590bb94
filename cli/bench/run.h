/* One case of a benchmark: plan, check, time beside a copy. */
#ifndef CUTT_CLI_BENCH_RUN_H
#define CUTT_CLI_BENCH_RUN_H

#include "execute.h"
#include "result.h"

/* Runs one case and fills in its result. What goes wrong (no plan, a wrong element) is result->error. */
void cutt_bench_run_case(cutt_bench_run *run, const cutt_bench_case *c, cutt_bench_result *result);

#endif
