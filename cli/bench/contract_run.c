/* Timing one contraction. As with permutations (run.c), what is compared alternates, so that a machine
 * whose speed drifts is the same machine for both: contraction, matrix product, contraction, ... Medians are compared.
 * The steps' shares come from runs of their own at the end, since timing steps costs a little. */
#include "contract_run.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "contract_values.h"

enum { PLANS = 5, LEAST_ROUNDS = 3, MOST_ROUNDS = 15, STEP_RUNS = 5, MOST_REPEATS = 64, BLOCK = 64 << 20 };
static const double sample_seconds = 100e-6, device_sample_seconds = 3e-3, long_seconds = 0.5;

static bool on_cpu(const cutt_bench_contract_run *run) { return run->options.backend == CUTT_BACKEND_CPU; }

/* ----------------------------------------------------------------------------------------------------------- memory */

void cutt_bench_contract_close(cutt_bench_contract_run *run) {
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    cuttMemoryFree(run->options.backend, run->tensor[t]);
    run->tensor[t] = NULL;
  }
  cuttMemoryFree(run->options.backend, run->workspace);
  free(run->host);
  run->workspace = run->host = NULL;
}

/* Elements of an operand that is on a device go there in blocks. */
static bool fill(cutt_bench_contract_run *run, int operand, int64_t count, char *why, size_t why_size) {
  if (on_cpu(run)) {
    cutt_bench_contract_fill(run->number, operand, run->tensor[operand], 0, count);
    return true;
  }
  const int64_t bytes = run->number->bytes, most = BLOCK / bytes;
  void *block = malloc(BLOCK);
  bool good = block;
  if (!good) snprintf(why, why_size, "out of memory");
  for (int64_t begin = 0; good && begin < count; begin += most) {
    const int64_t here = count - begin < most ? count - begin : most;
    cutt_bench_contract_fill(run->number, operand, block, begin, here);
    good = cuttMemoryCopy(run->options.backend, (char *)run->tensor[operand] + begin * bytes, block,
                          (size_t)(here * bytes)) == CUTT_SUCCESS;
    if (!good) snprintf(why, why_size, "%s", cuttLastError());
  }
  free(block);
  return good;
}

bool cutt_bench_contract_open(cutt_bench_contract_run *run, const cutt_bench_contractions *cases, char *why,
                              size_t why_size) {
  int64_t largest[CUTT_CLI_TENSORS] = {1, 1, 1};
  for (size_t i = 0; i < cases->count; ++i) {
    for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
      const int64_t volume = cutt_bench_contract_volume(&cases->item[i], t);
      if (volume > largest[t]) largest[t] = volume;
    }
  }
  bool good = true;
  for (int t = 0; good && t < CUTT_CLI_TENSORS; ++t) {
    good = cuttMemoryAllocate(run->options.backend, (size_t)(largest[t] * run->number->bytes), &run->tensor[t]) ==
           CUTT_SUCCESS;
    if (!good) snprintf(why, why_size, "%s", cuttLastError());
    if (good && t != CUTT_CLI_RESULT) good = fill(run, t, largest[t], why, why_size);
  }
  if (good && !on_cpu(run)) {
    run->host = malloc((size_t)(largest[CUTT_CLI_RESULT] * run->number->bytes));
    good = run->host;
    if (!good) snprintf(why, why_size, "out of host memory");
  }
  if (!good) cutt_bench_contract_close(run);
  return good;
}

/* At least this much workspace; false after result->error. */
static bool grow_workspace(cutt_bench_contract_run *run, cutt_bench_contract_result *result) {
  size_t bytes = 0;
  const cuttBackend_t backend = run->options.backend;
  bytes = result->info.workspace_bytes;
  if (bytes <= run->workspace_bytes) return true;
  cuttMemoryFree(backend, run->workspace);
  run->workspace = NULL;
  run->workspace_bytes = 0;
  if (cuttMemoryAllocate(backend, bytes, &run->workspace) != CUTT_SUCCESS) {
    snprintf(result->error, sizeof result->error, "no memory for the workspace of %zu bytes: %s", bytes,
             cuttLastError());
    return false;
  }
  run->workspace_bytes = bytes;
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- plan */

static bool failed(cutt_bench_contract_result *result, const char *what, cuttResult code) {
  if (code == CUTT_SUCCESS) return false;
  snprintf(result->error, sizeof result->error, "%s: %s: %s", what, cuttResultName(code), cuttLastError());
  return true;
}

/* The plan, made a few times for the sake of the median. */
static bool make_plan(const cutt_bench_contract_run *run, cuttContractionPlan_t *plan,
                      cutt_bench_contract_result *result) {
  const cutt_bench_contraction *c = result->c;
  char pattern[64];
  int64_t extents[CUTT_CLI_TENSORS][CUTT_BENCH_CONTRACT_RANK];
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    for (int i = 0; i < c->rank[t]; ++i) extents[t][i] = c->extent[c->modes[t][i] - 'a'];
  cuttContraction_t problem = CUTT_CONTRACTION_INIT;
  problem.pattern = cutt_bench_contract_pattern(c, pattern, sizeof pattern);
  problem.type = run->number->type;
  problem.left_rank = c->rank[CUTT_CLI_LEFT];
  problem.right_rank = c->rank[CUTT_CLI_RIGHT];
  problem.result_rank = c->rank[CUTT_CLI_RESULT];
  problem.left_extents = extents[CUTT_CLI_LEFT];
  problem.right_extents = extents[CUTT_CLI_RIGHT];
  problem.result_extents = extents[CUTT_CLI_RESULT];
  double took[PLANS];
  for (int i = 0; i < PLANS; ++i) {
    cuttContractionPlanDestroy(*plan);
    const double began = cutt_cli_seconds();
    if (failed(result, "no plan", cuttContractionPlanCreate(plan, &problem, &run->options))) return false;
    took[i] = cutt_cli_seconds() - began;
  }
  result->plan_seconds = cutt_bench_median(took, PLANS);
  result->info.struct_size = sizeof result->info;
  return !failed(result, "no description", cuttContractionGetInfo(*plan, &result->info));
}

static cuttResult execute(const cutt_bench_contract_run *run, cuttContractionPlan_t plan) {
  return cuttContractionExecute(plan, run->tensor[CUTT_CLI_LEFT], run->tensor[CUTT_CLI_RIGHT],
                                run->tensor[CUTT_CLI_RESULT], run->workspace, run->workspace_bytes, NULL);
}

/* One execution onto poison, compared with the definition; it also is the one that finds everything cold. */
static bool execute_checked(cutt_bench_contract_run *run, cuttContractionPlan_t plan,
                            cutt_bench_contract_result *result) {
  void *output = run->tensor[CUTT_CLI_RESULT], *host = on_cpu(run) ? output : run->host;
  const size_t bytes = (size_t)cutt_bench_contract_volume(result->c, CUTT_CLI_RESULT) * (size_t)run->number->bytes;
  const cuttBackend_t backend = run->options.backend;
  if (run->check) {
    cutt_bench_contract_poison(host, bytes);
    if (!on_cpu(run) && failed(result, "the poison", cuttMemoryCopy(backend, output, host, bytes))) return false;
  }
  if (failed(result, "not executed", execute(run, plan))) return false;
  if (!run->check) return true;
  if (!on_cpu(run) && failed(result, "the result", cuttMemoryCopy(backend, host, output, bytes))) return false;
  return cutt_bench_contract_check(run->number, result->c, host, run->checks++, result->error, sizeof result->error);
}

/* ------------------------------------------------------------------------------------------------------------- time */

/* The mean of `repeats` executions by the clock on the CPU, the median by events on a device. */
static bool time_total(const cutt_bench_contract_run *run, cuttContractionPlan_t plan, int repeats, double *seconds,
                       cutt_bench_contract_result *result) {
  if (on_cpu(run)) {
    cuttResult code = CUTT_SUCCESS;
    const double began = cutt_cli_seconds();
    for (int i = 0; i < repeats && code == CUTT_SUCCESS; ++i) code = execute(run, plan);
    *seconds = (cutt_cli_seconds() - began) / repeats;
    return !failed(result, "not executed", code);
  }
  cuttContractionTimes_t times[MOST_REPEATS];
  double list[MOST_REPEATS];
  if (failed(result, "not timed",
             cuttContractionTime(plan, run->tensor[CUTT_CLI_LEFT], run->tensor[CUTT_CLI_RIGHT],
                                 run->tensor[CUTT_CLI_RESULT], run->workspace, run->workspace_bytes, NULL, repeats,
                                 times)))
    return false;
  for (int i = 0; i < repeats; ++i) list[i] = times[i].total;
  *seconds = cutt_bench_median(list, (size_t)repeats);
  return true;
}

static bool time_gemm(cuttContractionPlan_t plan, int repeats, double *seconds, cutt_bench_contract_result *result) {
  double list[MOST_REPEATS];
  if (failed(result, "the matrix product was not timed", cuttContractionTimeGemm(plan, NULL, repeats, list)))
    return false;
  *seconds = cutt_bench_median(list, (size_t)repeats);
  return true;
}

static bool time_steps(const cutt_bench_contract_run *run, cuttContractionPlan_t plan,
                       cutt_bench_contract_result *result) {
  cuttContractionTimes_t times[STEP_RUNS];
  double share[STEP_RUNS];
  const int runs = result->seconds > long_seconds ? 1 : STEP_RUNS;
  if (failed(
          result, "the steps were not timed",
          cuttContractionTime(plan, run->tensor[CUTT_CLI_LEFT], run->tensor[CUTT_CLI_RIGHT],
                              run->tensor[CUTT_CLI_RESULT], run->workspace, run->workspace_bytes, NULL, runs, times)))
    return false;
  for (int i = 0; i < runs; ++i) share[i] = times[i].total > 0 ? times[i].permute / times[i].total : 0;
  result->permute_share = cutt_bench_median(share, (size_t)runs);
  return true;
}

static bool time_case(const cutt_bench_contract_run *run, cuttContractionPlan_t plan,
                      cutt_bench_contract_result *result) {
  double total[MOST_ROUNDS], gemm[MOST_ROUNDS], once = 0;
  if (!time_total(run, plan, 1, &once, result)) return false;
  const double enough = on_cpu(run) ? sample_seconds : device_sample_seconds;
  int repeats = once >= enough ? 1 : (int)(enough / (once > 1e-9 ? once : 1e-9)) + 1;
  if (repeats > MOST_REPEATS) repeats = MOST_REPEATS;
  const double began = cutt_cli_seconds();
  int rounds = 0;
  for (; rounds < MOST_ROUNDS; ++rounds) {
    if (rounds >= LEAST_ROUNDS && cutt_cli_seconds() - began >= run->case_seconds) break;
    if (!time_total(run, plan, repeats, &total[rounds], result) || !time_gemm(plan, repeats, &gemm[rounds], result))
      return false;
  }
  result->rounds = rounds;
  result->seconds = cutt_bench_median(total, (size_t)rounds); /* which sorts */
  result->seconds_least = total[0];
  result->gemm_seconds = cutt_bench_median(gemm, (size_t)rounds);
  return time_steps(run, plan, result);
}

void cutt_bench_contract_case(cutt_bench_contract_run *run, const cutt_bench_contraction *c,
                              cutt_bench_contract_result *result) {
  memset(result, 0, sizeof *result);
  result->c = c;
  cuttContractionPlan_t plan = NULL;
  if (make_plan(run, &plan, result) && grow_workspace(run, result) && execute_checked(run, plan, result))
    (void)time_case(run, plan, result);
  cuttContractionPlanDestroy(plan);
}
