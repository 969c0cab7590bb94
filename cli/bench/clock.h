/* The clock of a benchmark: executions of a plan, and copies of as many bytes, in samples. */
#ifndef CUTT_CLI_BENCH_CLOCK_H
#define CUTT_CLI_BENCH_CLOCK_H

#include "memory.h"

enum { CUTT_BENCH_SIZE_CLASSES = 64, CUTT_BENCH_MOST_SAMPLES = 512 };

/* Which copy is the fastest for some number of bytes, and how many cases ago that was found out. */
typedef struct cutt_bench_copy {
  bool known;
  int loop, threads, cases_since;
} cutt_bench_copy;

typedef struct cutt_bench_clock {
  const cutt_bench_buffers *buffers; /* what is timed goes from in to out; it also says which backend */
  int threads;
  double case_seconds; /* how long timing a case should take; 0: as long as is usual for the backend */
  cutt_bench_copy ceiling[CUTT_BENCH_SIZE_CLASSES]; /* CPU, for each power of two of bytes */
} cutt_bench_clock;

/* Seconds, one number for each sample. */
typedef struct cutt_bench_samples {
  double list[CUTT_BENCH_MOST_SAMPLES];
  int count;
} cutt_bench_samples;

/* How long timing a case should take, and how many rounds it should have at least. */
double cutt_bench_case_seconds(const cutt_bench_clock *clock);
enum { CUTT_BENCH_LEAST_ROUNDS = 5, CUTT_BENCH_MOST_ROUNDS = 31 };

/* Brings a device that has been idle up to speed: some hundred milliseconds of copies. On false `why` says what failed,
 * here and below. */
bool cutt_bench_warm_up(const cutt_bench_clock *clock, char *why, size_t why_size);

/* How many executions make a round: enough for the clock on the CPU, a few milliseconds on a device. */
bool cutt_bench_repeats(const cutt_bench_clock *clock, cuttPlan_t plan, int *repeats, char *why, size_t why_size);

/* One round: executes the plan `repeats` times. The CPU's clock is read once and gives one sample, the mean; a device's
 * events give one sample for each execution. */
bool cutt_bench_time_plan(const cutt_bench_clock *clock, cuttPlan_t plan, int repeats, cutt_bench_samples *samples,
                          char *why, size_t why_size);

/* The same for a copy of bytes. On the CPU by the loop that is the fastest for so many bytes, which is looked for anew
 * now and then; on a device by its own means. */
bool cutt_bench_time_copy(cutt_bench_clock *clock, size_t bytes, int repeats, cutt_bench_samples *samples, char *why,
                          size_t why_size);

/* What that copy is called, for these bytes. */
const char *cutt_bench_copy_name(const cutt_bench_clock *clock, size_t bytes);

/* Median and minimum; the median sorts. 0 when there are none. */
double cutt_bench_median(double *list, size_t count);
double cutt_bench_samples_median(cutt_bench_samples *samples);
double cutt_bench_samples_least(const cutt_bench_samples *samples);

#endif
