/* Permutes one array through the memory of a device: host -> device -> permute -> device -> host.
 *
 * The two transfers take longer than the permutation between them. What the closing line reports is the permutation,
 * as it would be for data that is on the device already, beside a copy on the device; the time with files has all of
 * it. */
#include "permute_device.h"

enum { RUNS = 9 };

typedef struct device_arrays {
  cuttBackend_t backend;
  void *in, *out;
} device_arrays;

static bool failed(cutt_cli_permute_job *job, const char *what) {
  cutt_cli_progress_clear(&job->progress);
  cutt_cli_message("%s: %s", what, cuttLastError());
  return false;
}

/* Copies to or from the device, in blocks for the bar's sake. */
static bool move(cutt_cli_permute_job *job, uint8_t *to, const uint8_t *from, const char *what) {
  const int64_t block = (int64_t)256 << 20;
  for (int64_t done = 0; done < job->bytes; done += block) {
    cutt_cli_progress_show(&job->progress, what, (double)done / (double)job->bytes);
    const int64_t left = job->bytes - done;
    if (cuttMemoryCopy(job->backend, to + done, from + done, (size_t)(left < block ? left : block)) != CUTT_SUCCESS)
      return failed(job, "the array could not be copied to or from the device");
  }
  return true;
}

static double least(const double *list, int count) {
  double smallest = list[0];
  for (int i = 1; i < count; ++i)
    if (list[i] < smallest) smallest = list[i];
  return smallest;
}

/* Permutes on the device, a few times when somebody wants to know how fast that is; they all write the same. The copy
 * that it is compared with comes first, since it writes to the output too. */
static bool permute(cutt_cli_permute_job *job, const device_arrays *d, cuttPlan_t plan) {
  const int runs = job->quiet ? 1 : RUNS;
  double seconds[RUNS];
  job->info.struct_size = sizeof job->info;
  if (cuttPlanGetInfo(plan, &job->info) != CUTT_SUCCESS) return failed(job, "the plan could not be described");
  if (!job->quiet) {
    if (cuttCopyTime(job->backend, d->out, d->in, (size_t)job->bytes, NULL, runs, seconds) != CUTT_SUCCESS)
      return failed(job, "a copy on the device could not be timed");
    const double copy = least(seconds, runs);
    if (copy > 0.0) job->copy_gbs = 2e-9 * (double)job->bytes / copy;
  }
  if (cuttPlanTime(plan, d->in, d->out, NULL, runs, seconds) != CUTT_SUCCESS)
    return failed(job, "the permutation failed");
  job->seconds = least(seconds, runs);
  return true;
}

bool cutt_cli_permute_on_device(cutt_cli_permute_job *job, bool *no_room) {
  device_arrays d = {job->backend, NULL, NULL};
  const size_t bytes = (size_t)job->bytes;
  cuttResult result = cuttMemoryAllocate(d.backend, bytes, &d.in);
  if (result == CUTT_SUCCESS) result = cuttMemoryAllocate(d.backend, bytes, &d.out);
  *no_room = result == CUTT_INTERNAL_ERROR;
  bool good = result == CUTT_SUCCESS;
  if (!good && !*no_room) failed(job, "the device's memory can't be had");
  cuttPlan_t plan = NULL;
  good = good && move(job, d.in, job->in, "copying to the device") &&
         cutt_cli_plan_part(job, job->extents, d.in, d.out, &plan) && permute(job, &d, plan) &&
         move(job, job->out, d.out, "copying from the device");
  cuttPlanDestroy(plan);
  cuttMemoryFree(d.backend, d.in);
  cuttMemoryFree(d.backend, d.out);
  return good;
}
