/* Timing one case. The speed of memory drifts, on shared machines by a factor of two within minutes, so a permutation
 * is timed alternating with a copy of as many bytes between the same buffers: copy, permute, copy, permute, ...
 * Medians of both are compared, and the drift hits both alike. */
#include "run.h"

#include <stdio.h>

#include "candidates.h"
#include "cli/cli.h"

enum { PLANS = 9 };

/* The plans of a case: the one that is reported, and with --measure beside it the one that the model would choose. */
typedef struct plans {
  cuttPlan_t chosen, predicted;
} plans;

/* Creates a plan; the median time of doing so goes to *seconds when it is not NULL. A measured plan is made once. */
static bool create_plan(const cutt_bench_run *run, const cutt_bench_case *c, bool measure, cuttPlan_t *plan,
                        double *seconds, cutt_bench_result *result) {
  double took[PLANS];
  int count = measure ? 1 : PLANS;
  for (int i = 0; i < count; ++i) {
    cuttPlanDestroy(*plan);
    double began = cutt_cli_seconds();
    bool made = cutt_bench_plan(run, c, measure, 0, plan, result->error, sizeof result->error);
    took[i] = cutt_cli_seconds() - began;
    if (!made) return false;
  }
  if (seconds) *seconds = cutt_bench_median(took, (size_t)count);
  return true;
}

/* Times the plans alternating with the copy and fills in the medians. */
static bool time_case(cutt_bench_run *run, const plans *p, size_t bytes, cutt_bench_result *result) {
  cutt_bench_clock *clock = &run->clock;
  cutt_bench_samples copy = {.count = 0}, chosen = {.count = 0}, predicted = {.count = 0};
  const size_t size = sizeof result->error;
  int repeats = 1;
  if (!cutt_bench_repeats(clock, p->chosen, &repeats, result->error, size)) return false;
  const double began = cutt_cli_seconds(), enough = cutt_bench_case_seconds(clock);
  for (int round = 0; round < CUTT_BENCH_MOST_ROUNDS; ++round) {
    if (round >= CUTT_BENCH_LEAST_ROUNDS && cutt_cli_seconds() - began >= enough) break;
    if (!cutt_bench_time_copy(clock, bytes, repeats, &copy, result->error, size) ||
        !cutt_bench_time_plan(clock, p->chosen, repeats, &chosen, result->error, size) ||
        (p->predicted && !cutt_bench_time_plan(clock, p->predicted, repeats, &predicted, result->error, size)))
      return false;
  }
  result->samples = chosen.count;
  result->copy_loop = cutt_bench_copy_name(clock, bytes);
  result->copy_seconds = cutt_bench_samples_median(&copy);
  result->seconds = cutt_bench_samples_median(&chosen);
  result->seconds_least = cutt_bench_samples_least(&chosen);
  result->predicted_seconds = cutt_bench_samples_median(&predicted);
  double moves = run->values.computed ? 3 : 2;
  if (result->seconds > 0) result->gbs = 1e-9 * moves * (double)bytes / result->seconds;
  if (result->copy_seconds > 0) result->copy_gbs = 1e-9 * 2 * (double)bytes / result->copy_seconds;
  return true;
}

/* What the library says of the plan. */
static bool describe(cuttPlan_t plan, cutt_bench_result *result) {
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  if (cuttPlanGetInfo(plan, &info) == CUTT_SUCCESS) result->candidate = cutt_bench_chosen(plan);
  if (!result->candidate) {
    snprintf(result->error, sizeof result->error, "no description of the plan: %s", cuttLastError());
    return false;
  }
  result->method = info.method;
  result->isa = info.isa;
  result->plan_threads = info.threads;
  result->fused_rank = info.fused_rank;
  result->model_seconds = info.predicted_seconds;
  return true;
}

void cutt_bench_run_case(cutt_bench_run *run, const cutt_bench_case *c, cutt_bench_result *result) {
  *result = (cutt_bench_result){.c = c, .method = "", .isa = "", .copy_loop = ""};
  const size_t bytes = (size_t)cutt_bench_volume(c) * (size_t)run->values.dtype->bytes, size = sizeof result->error;
  plans p = {NULL, NULL};
  int64_t first;
  (void)cutt_bench_span(c, &first);
  run->buffers.first = (size_t)first * (size_t)run->values.dtype->bytes;
  bool good = create_plan(run, c, run->measure, &p.chosen, &result->plan_seconds, result) &&
              (!run->measure || create_plan(run, c, false, &p.predicted, NULL, result)) &&
              (!run->measure || cutt_bench_execute_checked(run, c, p.predicted, result->error, size)) &&
              cutt_bench_execute_checked(run, c, p.chosen, result->error, size) && describe(p.chosen, result) &&
              time_case(run, &p, bytes, result);
  if (good && run->all_candidates)
    result->candidates = cutt_bench_time_candidates(run, c, p.chosen, &result->choice, result->error, size);
  cuttPlanDestroy(p.chosen);
  cuttPlanDestroy(p.predicted);
}
