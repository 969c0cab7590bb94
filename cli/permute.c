/* Permutes one array, whole, or in blocks when somebody watches a progress bar; see permute.h.
 *
 * The library's execution of a plan is one call that says nothing until it is done. An honest bar therefore cuts the
 * output into blocks that are permutations of their own: the same modes, some of them shorter, read through the strides
 * of the whole input and written to the block's own place. */
#include "permute.h"

#include <string.h>

#include "copy.h"
#include "permute_device.h"

static bool execute(cutt_cli_permute_job *job, cuttPlan_t plan, const uint8_t *in, uint8_t *out) {
  double start = cutt_cli_seconds();
  cuttResult result = cuttPlanExecute(plan, in, out, NULL);
  job->seconds += cutt_cli_seconds() - start;
  if (result == CUTT_SUCCESS) return true;
  cutt_cli_progress_clear(&job->progress);
  cutt_cli_message("the permutation failed: %s", cuttLastError());
  return false;
}

/* Notes what the plan is, and the copy speed that it will be compared with: on the same memory, before it is written.
 */
static void measure_copy(cutt_cli_permute_job *job, cuttPlan_t plan) {
  const int64_t most = (int64_t)256 << 20;
  job->info.struct_size = sizeof job->info;
  if (cuttPlanGetInfo(plan, &job->info) != CUTT_SUCCESS || job->quiet) return;
  int threads = job->info.threads > 0 ? job->info.threads : 1;
  job->copy_gbs = cutt_cli_copy_gbs(job->out, job->in, (size_t)(job->bytes < most ? job->bytes : most), threads);
}

/* How the work is cut for the progress bar: the output's slowest modes up to `mode` (counted from the slowest) are
 * walked one index at a time, and `mode` itself in chunks. Each block is packed in the output. */
typedef struct blocking {
  int mode;
  int64_t chunk;
} blocking;

static blocking find_blocking(const cutt_cli_permute_job *job) {
  /* Large blocks, so that the blocks together are as fast as the whole, and few of them: 64 steps look smooth. */
  const int64_t least_bytes = (int64_t)64 << 20, most_blocks = 64;
  int64_t blocks = job->bytes / least_bytes < most_blocks ? job->bytes / least_bytes : most_blocks;
  blocking result = {0, 0};
  int64_t before = 1; /* blocks that the modes before `mode` make */
  for (;; ++result.mode) {
    int64_t extent = job->extents[job->perm[job->rank - 1 - result.mode]];
    if (before * extent >= blocks || result.mode == job->rank - 1) {
      int64_t parts = blocks / before > 0 ? blocks / before : 1;
      result.chunk = (extent + parts - 1) / parts;
      /* When this mode is the input's stride-1 mode, chunks of whole cache lines are the ones that read well. */
      if (result.chunk >= 64) result.chunk = (result.chunk + 63) / 64 * 64;
      if (result.chunk > extent) result.chunk = extent;
      return result;
    }
    before *= extent;
  }
}

/* Permutes in blocks, one bar step each. plan[0] is for whole chunks, plan[1] for the rest at the end of the mode. */
static bool permute_in_blocks(cutt_cli_permute_job *job) {
  const blocking by = find_blocking(job);
  int64_t extents[CUTT_MAX_RANK]; /* of the block, by the input's modes */
  /* By the output's modes, from the slowest on: where the block begins, and which of the input's modes they are. */
  int64_t index[CUTT_MAX_RANK] = {0};
  int modes[CUTT_MAX_RANK] = {0};
  for (int i = 0; i < job->rank; ++i) modes[i] = job->perm[job->rank - 1 - i];
  memcpy(extents, job->extents, sizeof extents);
  int64_t block_bytes = job->elem_bytes;
  for (int i = 0; i < job->rank; ++i)
    if (i < by.mode)
      extents[modes[i]] = 1;
    else if (i > by.mode)
      block_bytes *= job->extents[modes[i]];
  int cut_mode = modes[by.mode];
  cuttPlan_t plans[2] = {NULL, NULL};
  bool good = true;
  for (int64_t done = 0; good && done < job->bytes;) {
    int64_t left = job->extents[cut_mode] - index[by.mode];
    bool is_rest = left < by.chunk;
    extents[cut_mode] = is_rest ? left : by.chunk;
    int64_t offset = 0;
    for (int i = 0; i <= by.mode; ++i) offset += index[i] * job->strides[modes[i]];
    const uint8_t *in = job->in + offset * job->elem_bytes;
    uint8_t *out = job->out + done;
    cutt_cli_progress_show(&job->progress, "permuting", (double)done / (double)job->bytes);
    cuttPlan_t *plan = &plans[is_rest];
    if (!*plan) {
      good = cutt_cli_plan_part(job, extents, in, out, plan);
      if (good && done == 0) measure_copy(job, *plan);
    }
    good = good && execute(job, *plan, in, out);
    done += extents[cut_mode] * block_bytes;
    /* The next block: on along the cut mode, then as an odometer over the modes before it. */
    index[by.mode] += extents[cut_mode];
    for (int i = by.mode; i > 0 && index[i] == job->extents[modes[i]]; --i) {
      index[i] = 0;
      ++index[i - 1];
    }
  }
  cuttPlanDestroy(plans[0]);
  cuttPlanDestroy(plans[1]);
  return good;
}

/* A first execution of some microseconds is mostly cold caches and threads that wake up, while the copy speed is that
 * of warm ones. So that the two can be compared, short work is repeated for a few milliseconds: `seconds` becomes
 * that of the fastest repetition. */
static bool time_short_work(cutt_cli_permute_job *job, cuttPlan_t plan) {
  const double budget = 2e-3;
  if (job->quiet || job->seconds > budget) return true;
  double best = job->seconds, spent = 0.0;
  for (int round = 0; round < 100 && spent < budget; ++round) {
    job->seconds = 0.0;
    if (!execute(job, plan, job->in, job->out)) return false;
    spent += job->seconds;
    if (job->seconds < best) best = job->seconds;
  }
  job->seconds = best;
  return true;
}

/* With room on the device or not; *done tells whether there is nothing left to do. */
static bool try_device(cutt_cli_permute_job *job, bool *done) {
  bool no_room = false;
  *done = true;
  if (cutt_cli_permute_on_device(job, &no_room)) return true;
  if (!no_room) return false;
  cutt_cli_progress_clear(&job->progress);
  const double gigabytes = 1e-9 * (double)job->bytes;
  if (job->options.backend != CUTT_BACKEND_AUTO) {
    cutt_cli_message("--backend %s: the device has no room for the two arrays of %.3g GB each: %s",
                     cutt_cli_backend_name(job->backend), gigabytes, cuttLastError());
    return false;
  }
  if (!job->quiet)
    cutt_cli_message("the CPU does it, since the device has no room for the two arrays of %.3g GB each: %s", gigabytes,
                     cuttLastError());
  job->backend = CUTT_BACKEND_CPU;
  *done = false;
  return true;
}

bool cutt_cli_permute(cutt_cli_permute_job *job) {
  if (job->backend != CUTT_BACKEND_CPU) {
    bool done = false, right = try_device(job, &done);
    if (done) return right;
  }
  const int64_t worth_cutting = (int64_t)1 << 30;
  if (job->progress.enabled && job->rank > 0 && job->bytes >= worth_cutting) return permute_in_blocks(job);
  cuttPlan_t plan = NULL;
  bool good = cutt_cli_plan_part(job, job->extents, job->in, job->out, &plan);
  if (good) measure_copy(job, plan);
  good = good && execute(job, plan, job->in, job->out) && time_short_work(job, plan);
  cuttPlanDestroy(plan);
  return good;
}
