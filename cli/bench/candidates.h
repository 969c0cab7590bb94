/* What the library says of a plan's candidates, how long each of them takes, and which of them the models choose. */
#ifndef CUTT_CLI_BENCH_CANDIDATES_H
#define CUTT_CLI_BENCH_CANDIDATES_H

#include "execute.h"
#include "result.h"

/* The candidate that a plan has chosen, as the library describes it: method, m, k, split_m, split_k, threads, params,
 * predicted_seconds. NULL when it can't be had. */
json_t *cutt_bench_chosen(cuttPlan_t plan);

/* All candidates of the plan's problem, as the library describes them; those that run->most_candidates lets be timed,
 * and the choice of the paper's model, have "seconds", the median of a few executions, after their results were
 * checked. *choice receives what that says of the models. On NULL `why` says which failed and how. */
json_t *cutt_bench_time_candidates(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan,
                                   cutt_bench_choice *choice, char *why, size_t why_size);

#endif
