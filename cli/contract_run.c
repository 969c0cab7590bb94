/* Executes one contraction; see contract_run.h.
 *
 * The call that contracts says nothing until it is done and does not tell how its time divides, so short work is first
 * timed by steps, into the result's own memory; then the result gets what beta is to be multiplied with, and the one
 * execution that counts follows. Long work is done once, and its shares are the plan's prediction. */
#include "contract_run.h"

enum { RUNS = 5 };
static const double short_seconds = 0.2, very_short_seconds = 0.01;

/* Memory of the job's backend; on the processor only the workspace is. */
typedef struct memory {
  void *tensor[CUTT_CLI_TENSORS], *workspace;
  size_t workspace_bytes;
} memory;

static int failed(cutt_cli_contract_job *job, const char *what) {
  cutt_cli_progress_clear(&job->progress);
  return cutt_cli_failed("%s: %s", what, cuttLastError());
}

static int plan_again(cutt_cli_contract_job *job) {
  cuttContractionPlanDestroy(job->plan);
  job->plan = NULL;
  cutt_cli_progress_clear(&job->progress);
  return cutt_cli_contraction_plan(job->command, job->contraction, &job->options, &job->plan);
}

/* The workspace of the plan. When there is no memory for it, a plan that needs half of it, and so on: without any it is
 * slow, but it is done. */
static int take_workspace(cutt_cli_contract_job *job, memory *m) {
  for (;;) {
    if (cuttContractionWorkspace(job->plan, &m->workspace_bytes) != CUTT_SUCCESS)
      return failed(job, "the plan could not be asked for its workspace");
    if (m->workspace_bytes == 0) return CUTT_CLI_DONE;
    const cuttResult result = cuttMemoryAllocate(job->options.backend, m->workspace_bytes, &m->workspace);
    if (result == CUTT_SUCCESS) return CUTT_CLI_DONE;
    if (result != CUTT_INTERNAL_ERROR) return failed(job, "memory for the workspace can't be had");
    job->options.workspace_limit = m->workspace_bytes / 2;
    const int code = plan_again(job);
    if (code != CUTT_CLI_DONE) return code;
  }
}

/* Copies to or from the device, in blocks for the bar's sake. */
static int move(cutt_cli_contract_job *job, void *to, const void *from, int64_t bytes, const char *what) {
  const int64_t block = (int64_t)256 << 20;
  for (int64_t done = 0; done < bytes; done += block) {
    cutt_cli_progress_show(&job->progress, what, (double)done / (double)bytes);
    const int64_t left = bytes - done;
    if (cuttMemoryCopy(job->options.backend, (char *)to + done, (const char *)from + done,
                       (size_t)(left < block ? left : block)) != CUTT_SUCCESS)
      return failed(job, "an array could not be copied to or from the device");
  }
  return CUTT_CLI_DONE;
}

/* What was there before, packed into the result: a permutation of strides only. */
static int fill_result(cutt_cli_contract_job *job) {
  const cutt_cli_contraction *c = job->contraction;
  const int rank = c->rank[CUTT_CLI_RESULT];
  int64_t extents[CUTT_MAX_RANK] = {0}, strides[CUTT_MAX_RANK] = {0};
  int perm[CUTT_MAX_RANK] = {0};
  if (!job->initial || job->bytes[CUTT_CLI_RESULT] == 0) return CUTT_CLI_DONE;
  for (int i = 0; i < rank; ++i) {
    extents[i] = c->shape[CUTT_CLI_RESULT][rank - 1 - i];
    strides[i] = job->initial_strides[rank - 1 - i];
    perm[i] = i;
  }
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = rank;
  problem.type = (cuttType_t)c->number->bytes;
  problem.extents = extents;
  problem.perm = perm;
  problem.in_strides = strides;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = job->options.threads;
  if (cuttPermute(&problem, &options, job->initial, job->result, NULL) == CUTT_SUCCESS) return CUTT_CLI_DONE;
  return failed(job, "what the result is added to could not be read");
}

static int time_steps(cutt_cli_contract_job *job, const memory *m) {
  cuttContractionTimes_t times[RUNS];
  const int runs = job->info.predicted_seconds < very_short_seconds ? RUNS : 1;
  if (cuttContractionTime(job->plan, m->tensor[CUTT_CLI_LEFT], m->tensor[CUTT_CLI_RIGHT], m->tensor[CUTT_CLI_RESULT],
                          m->workspace, m->workspace_bytes, NULL, runs, times) != CUTT_SUCCESS)
    return failed(job, "the contraction could not be timed");
  job->times = times[0];
  for (int i = 1; i < runs; ++i)
    if (times[i].total < job->times.total) job->times = times[i];
  return CUTT_CLI_DONE;
}

/* The plan is there, and so is all memory. */
static int execute(cutt_cli_contract_job *job, const memory *m) {
  const bool here = job->options.backend == CUTT_BACKEND_CPU;
  cutt_cli_progress_show(&job->progress, "contracting", 0.0);
  const bool timed = job->timed && job->info.predicted_seconds < short_seconds;
  int code = timed ? time_steps(job, m) : CUTT_CLI_DONE;
  if (code == CUTT_CLI_DONE) code = fill_result(job);
  if (code == CUTT_CLI_DONE && !here && job->initial)
    code = move(job, m->tensor[CUTT_CLI_RESULT], job->result, job->bytes[CUTT_CLI_RESULT], "copying to the device");
  if (code != CUTT_CLI_DONE) return code;
  const double began = cutt_cli_seconds();
  if (cuttContractionExecute(job->plan, m->tensor[CUTT_CLI_LEFT], m->tensor[CUTT_CLI_RIGHT], m->tensor[CUTT_CLI_RESULT],
                             m->workspace, m->workspace_bytes, NULL) != CUTT_SUCCESS)
    return failed(job, "the contraction failed");
  if (!here) {
    code = move(job, job->result, m->tensor[CUTT_CLI_RESULT], job->bytes[CUTT_CLI_RESULT], "copying from the device");
    if (code != CUTT_CLI_DONE) return code;
  }
  const double seconds = cutt_cli_seconds() - began;
  job->predicted = !timed;
  if (timed) {
    if (here && seconds < job->times.total) job->times.total = seconds;
    return CUTT_CLI_DONE;
  }
  const double share =
      job->info.predicted_seconds > 0.0 ? job->info.predicted_permute_seconds / job->info.predicted_seconds : 0.0;
  job->times.total = seconds;
  job->times.permute = share * seconds;
  job->times.gemm = seconds - job->times.permute;
  return CUTT_CLI_DONE;
}

static int with_workspace(cutt_cli_contract_job *job, memory *m) {
  int code = take_workspace(job, m);
  job->info.struct_size = sizeof job->info;
  if (code == CUTT_CLI_DONE && cuttContractionGetInfo(job->plan, &job->info) != CUTT_SUCCESS)
    code = failed(job, "the plan could not be described");
  if (code == CUTT_CLI_DONE) code = execute(job, m);
  cuttMemoryFree(job->options.backend, m->workspace);
  return code;
}

static int run_here(cutt_cli_contract_job *job) {
  /* The operands are read only, which a pointer to write through does not say. */
  memory m = {.tensor = {(void *)(uintptr_t)job->operand[0], (void *)(uintptr_t)job->operand[1], job->result}};
  return with_workspace(job, &m);
}

/* On *no_room the device has no memory for the arrays, and nothing has been done. */
static int run_on_device(cutt_cli_contract_job *job, bool *no_room) {
  memory m = {.workspace = NULL};
  int code = CUTT_CLI_DONE;
  *no_room = false;
  for (int t = 0; t < CUTT_CLI_TENSORS && code == CUTT_CLI_DONE && !*no_room; ++t) {
    if (t != CUTT_CLI_RESULT && !job->contraction->name[t]) continue;
    const cuttResult result = cuttMemoryAllocate(job->options.backend, (size_t)job->bytes[t], &m.tensor[t]);
    *no_room = result == CUTT_INTERNAL_ERROR;
    if (result != CUTT_SUCCESS && !*no_room) code = failed(job, "the device's memory can't be had");
  }
  for (int t = 0; t < 2 && code == CUTT_CLI_DONE && !*no_room; ++t)
    if (job->contraction->name[t])
      code = move(job, m.tensor[t], job->operand[t], job->bytes[t], "copying to the device");
  if (code == CUTT_CLI_DONE && !*no_room) code = with_workspace(job, &m);
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) cuttMemoryFree(job->options.backend, m.tensor[t]);
  return code;
}

int cutt_cli_contract_run(cutt_cli_contract_job *job) {
  if (job->options.backend == CUTT_BACKEND_CPU) return run_here(job);
  bool no_room = false;
  int code = run_on_device(job, &no_room);
  if (!no_room) return code;
  cutt_cli_progress_clear(&job->progress);
  char size[32];
  cutt_cli_bytes((double)job->bytes[0] + (double)job->bytes[1] + (double)job->bytes[2], size, sizeof size);
  if (!job->may_fall_back)
    return cutt_cli_failed("--backend %s: the device has no room for the three arrays of %s together: %s",
                           cutt_cli_backend_name(job->options.backend), size, cuttLastError());
  if (!job->quiet)
    cutt_cli_message("the CPU does it, since the device has no room for the three arrays of %s together: %s", size,
                     cuttLastError());
  job->options.backend = CUTT_BACKEND_CPU;
  code = plan_again(job);
  return code == CUTT_CLI_DONE ? run_here(job) : code;
}
