/* What the library says of a plan's candidates, and how long each of them takes. */
#ifndef CUTT_CLI_BENCH_CANDIDATES_H
#define CUTT_CLI_BENCH_CANDIDATES_H

#include "bench_run.h"

/* The candidate that a plan has chosen, as the library describes it: method, m, k, split_m, split_k, threads, params,
 * predicted_seconds. NULL when it can't be had. */
json_t *cutt_bench_chosen(cuttPlan_t plan);

/* All candidates of the plan's problem, as the library describes them, each with "seconds", the median of a few
 * executions, after its result has been checked. On NULL `why` says which failed and how. */
json_t *cutt_bench_time_candidates(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan, char *why,
                                   size_t why_size);

#endif
