/* Planning a case, and executing it once with its result checked. */
#ifndef CUTT_CLI_BENCH_EXECUTE_H
#define CUTT_CLI_BENCH_EXECUTE_H

#include "cases.h"
#include "clock.h"
#include "memory.h"

/* What the cases of a run share. */
typedef struct cutt_bench_run {
  cutt_bench_buffers buffers; /* for the largest case; the input is filled */
  cutt_bench_values values;
  int threads;
  bool measure, all_candidates;
  int most_candidates; /* of a case, to be timed; 0: all */
  cutt_bench_check_t check;
  cutt_bench_clock clock;
} cutt_bench_run;

/* Creates a plan for a case: the model's choice; the measured one; or, with candidate above 0, that one of those that
 * cuttPlanDescribe lists. On false `why` says what was refused. */
bool cutt_bench_plan(const cutt_bench_run *run, const cutt_bench_case *c, bool measure, int candidate, cuttPlan_t *plan,
                     char *why, size_t why_size);

/* One execution onto a prepared output, compared with the definition as run->check says. On false `why` says what is
 * wrong. */
bool cutt_bench_execute_checked(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan, char *why,
                                size_t why_size);

#endif
