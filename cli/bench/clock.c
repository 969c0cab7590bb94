/* Timing. On the CPU an execution is over when the call returns, so calls are counted by the clock, and short ones are
 * repeated within a sample. On a device the library times each execution by events, which leaves out what the call
 * itself costs as long as the next one is queued before the last has ended. */
#include "clock.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/copy.h"

static const double cpu_case_seconds = 0.3, cpu_sample_seconds = 100e-6;
static const double device_case_seconds = 0.06, device_round_seconds = 3e-3, warm_up_seconds = 0.3;
enum { CASES_PER_CEILING = 8, CEILING_ROUNDS = 3, SMALL = 64000000, DEVICE_LEAST = 2, DEVICE_MOST = 16 };

static bool on_cpu(const cutt_bench_clock *clock) { return clock->buffers->backend == CUTT_BACKEND_CPU; }

double cutt_bench_case_seconds(const cutt_bench_clock *clock) {
  if (clock->case_seconds > 0) return clock->case_seconds;
  return on_cpu(clock) ? cpu_case_seconds : device_case_seconds;
}

/* ---------------------------------------------------------------------------------------------------------- samples */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double cutt_bench_median(double *list, size_t count) {
  if (count == 0) return 0;
  qsort(list, count, sizeof *list, compare);
  return count % 2 ? list[count / 2] : 0.5 * (list[count / 2 - 1] + list[count / 2]);
}

double cutt_bench_samples_median(cutt_bench_samples *samples) {
  return cutt_bench_median(samples->list, (size_t)samples->count);
}

double cutt_bench_samples_least(const cutt_bench_samples *samples) {
  double least = samples->count ? samples->list[0] : 0;
  for (int i = 1; i < samples->count; ++i)
    if (samples->list[i] < least) least = samples->list[i];
  return least;
}

static void add(cutt_bench_samples *samples, const double *list, int count) {
  for (int i = 0; i < count && samples->count < CUTT_BENCH_MOST_SAMPLES; ++i) samples->list[samples->count++] = list[i];
}

/* Refusals and faults of a call of the library, as text. */
static bool good(cuttResult result, const char *what, char *why, size_t why_size) {
  if (result == CUTT_SUCCESS) return true;
  snprintf(why, why_size, "%s could not be timed: %s: %s", what, cuttResultName(result), cuttLastError());
  return false;
}

/* -------------------------------------------------------------------------------------------------------------- CPU */

static size_t class_of(size_t bytes) {
  size_t size_class = 0;
  for (size_t left = bytes; left > 1; left /= 2) ++size_class;
  return size_class;
}

/* The copy to hold this many bytes against: looked for anew every few cases, since which one wins can change while a
 * benchmark runs. Below 64 MB one thread is tried beside all: threads may cost more than they bring. */
static const cutt_bench_copy *copy_for(cutt_bench_clock *clock, size_t bytes, bool begins_case) {
  const cutt_bench_buffers *b = clock->buffers;
  cutt_bench_copy *copy = &clock->ceiling[class_of(bytes)];
  if (!copy->known || (begins_case && copy->cases_since >= CASES_PER_CEILING)) {
    double seconds, alone;
    *copy = (cutt_bench_copy){.known = true, .threads = clock->threads};
    copy->loop = cutt_cli_copy_fastest(b->out, b->in, bytes, clock->threads, CEILING_ROUNDS, &seconds);
    if (clock->threads > 1 && bytes < SMALL) {
      int loop = cutt_cli_copy_fastest(b->out, b->in, bytes, 1, CEILING_ROUNDS, &alone);
      if (alone < seconds) {
        copy->loop = loop;
        copy->threads = 1;
      }
    }
  }
  copy->cases_since += begins_case;
  return copy;
}

static cuttResult run_plan(const cutt_bench_clock *clock, cuttPlan_t plan, int times, double *seconds) {
  const cutt_bench_buffers *b = clock->buffers;
  cuttResult result = CUTT_SUCCESS;
  double began = cutt_cli_seconds();
  for (int i = 0; i < times && result == CUTT_SUCCESS; ++i)
    result = cuttPlanExecute(plan, (const char *)b->in + b->first, b->out, NULL);
  *seconds = (cutt_cli_seconds() - began) / times;
  return result;
}

/* How often to repeat what takes this long to fill a sample. */
static int cpu_repeats(double seconds) {
  return seconds >= cpu_sample_seconds ? 1 : seconds <= 1e-9 ? 100000 : (int)(cpu_sample_seconds / seconds) + 1;
}

/* ------------------------------------------------------------------------------------------------------------- both */

bool cutt_bench_warm_up(const cutt_bench_clock *clock, char *why, size_t why_size) {
  if (on_cpu(clock)) return true;
  const cutt_bench_buffers *b = clock->buffers;
  double seconds[DEVICE_MOST], began = cutt_cli_seconds();
  do {
    if (!good(cuttCopyTime(b->backend, b->out, b->in, b->bytes, NULL, DEVICE_MOST, seconds), "a copy", why, why_size))
      return false;
  } while (cutt_cli_seconds() - began < warm_up_seconds);
  return true;
}

bool cutt_bench_repeats(const cutt_bench_clock *clock, cuttPlan_t plan, int *repeats, char *why, size_t why_size) {
  const cutt_bench_buffers *b = clock->buffers;
  double seconds = 0;
  if (!on_cpu(clock)) {
    if (!good(cuttPlanTime(plan, (const char *)b->in + b->first, b->out, NULL, 1, &seconds), "the plan", why, why_size))
      return false;
    *repeats = seconds * DEVICE_MOST <= device_round_seconds ? DEVICE_MOST : (int)(device_round_seconds / seconds);
    if (*repeats < DEVICE_LEAST) *repeats = DEVICE_LEAST;
    return true;
  }
  if (!good(run_plan(clock, plan, 1, &seconds), "the plan", why, why_size)) return false;
  *repeats = cpu_repeats(seconds);
  if (*repeats == 1) return true;
  if (!good(run_plan(clock, plan, *repeats, &seconds), "the plan", why, why_size)) return false;
  *repeats = cpu_repeats(seconds);
  return true;
}

bool cutt_bench_time_plan(const cutt_bench_clock *clock, cuttPlan_t plan, int repeats, cutt_bench_samples *samples,
                          char *why, size_t why_size) {
  const cutt_bench_buffers *b = clock->buffers;
  double seconds[DEVICE_MOST];
  if (on_cpu(clock)) {
    if (!good(run_plan(clock, plan, repeats, seconds), "the plan", why, why_size)) return false;
    add(samples, seconds, 1);
    return true;
  }
  if (repeats > DEVICE_MOST) repeats = DEVICE_MOST;
  if (!good(cuttPlanTime(plan, (const char *)b->in + b->first, b->out, NULL, repeats, seconds), "the plan", why,
            why_size))
    return false;
  add(samples, seconds, repeats);
  return true;
}

bool cutt_bench_time_copy(cutt_bench_clock *clock, size_t bytes, int repeats, cutt_bench_samples *samples, char *why,
                          size_t why_size) {
  const cutt_bench_buffers *b = clock->buffers;
  double seconds[DEVICE_MOST];
  if (on_cpu(clock)) {
    const cutt_bench_copy *copy = copy_for(clock, bytes, samples->count == 0);
    seconds[0] = cutt_cli_copy_seconds(copy->loop, b->out, b->in, bytes, copy->threads);
    add(samples, seconds, 1);
    return true;
  }
  if (repeats > DEVICE_MOST) repeats = DEVICE_MOST;
  if (!good(cuttCopyTime(b->backend, b->out, b->in, bytes, NULL, repeats, seconds), "a copy", why, why_size))
    return false;
  add(samples, seconds, repeats);
  return true;
}

const char *cutt_bench_copy_name(const cutt_bench_clock *clock, size_t bytes) {
  return on_cpu(clock) ? cutt_cli_copy_name(clock->ceiling[class_of(bytes)].loop) : "device";
}
