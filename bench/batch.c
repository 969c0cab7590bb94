/* Thousands of small tensors: what one call for all of them saves. `batch [COUNT] [EXTENT] [THREADS]`: COUNT blocks (10000)
 * of EXTENT x EXTENT x EXTENT doubles (8), permuted by (2, 1, 0) with THREADS threads (0: the default). In turns on the same
 * buffers, there and back:
 *
 *   copy          memcpy of all blocks at once, by one thread; and block by block
 *   batch         cuttPlanExecuteBatch
 *   group         cuttPlansExecute, with the same plan for each pair, and with two plans that alternate
 *   executions    a loop over cuttPlanExecute
 *   plans         a loop over cuttPlanCreate, cuttPlanExecute, cuttPlanDestroy
 *
 * Prints the best of some rounds of each: microseconds for all blocks, nanoseconds for one, and GB/s, read and written. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cutt.h"

enum { ROUNDS = 15 };

static struct {
  int64_t count, extent, block; /* bytes of a block */
  double *in_data, *out_data;
  const void **in;
  void **out;
  cuttPlan_t plan, *same, *mixed;
  cuttProblem_t problem;
  cuttOptions_t options;
} s;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(cuttResult_t result) {
  if (result == CUTT_SUCCESS) return;
  fprintf(stderr, "batch: %s\n", cuttLastError());
  exit(1);
}

static void copy_at_once(void) { memcpy(s.out_data, s.in_data, (size_t)(s.count * s.block)); }
static void copy_blocks(void) {
  for (int64_t i = 0; i < s.count; ++i) memcpy(s.out[i], s.in[i], (size_t)s.block);
}
static void batch(void) { check(cuttPlanExecuteBatch(s.plan, s.count, s.in, s.out, NULL)); }
static void group_same(void) { check(cuttPlansExecute(s.count, s.same, s.in, s.out, NULL)); }
static void group_mixed(void) { check(cuttPlansExecute(s.count, s.mixed, s.in, s.out, NULL)); }
static void executions(void) {
  for (int64_t i = 0; i < s.count; ++i) check(cuttPlanExecute(s.plan, s.in[i], s.out[i], NULL));
}
static void plans(void) {
  for (int64_t i = 0; i < s.count; ++i) {
    cuttPlan_t plan;
    check(cuttPlanCreate(&plan, &s.problem, &s.options));
    check(cuttPlanExecute(plan, s.in[i], s.out[i], NULL));
    check(cuttPlanDestroy(plan));
  }
}

static const struct {
  const char *name;
  void (*run)(void);
  bool permutes;
} contestant[] = {{"copy, at once", copy_at_once, false},
                  {"copy, by blocks", copy_blocks, false},
                  {"batch", batch, true},
                  {"group, one plan", group_same, true},
                  {"group, two plans", group_mixed, false},
                  {"executions", executions, true},
                  {"plans", plans, true}};
enum { CONTESTANTS = sizeof contestant / sizeof *contestant };

static void *allocate(int64_t bytes) {
  void *memory = aligned_alloc(64, (size_t)((bytes + 63) / 64 * 64));
  if (memory) return memory;
  fprintf(stderr, "batch: out of memory: %lld bytes\n", (long long)bytes);
  exit(1);
}

/* Every element has its place as its value. */
static void check_result(const char *name) {
  const int64_t n = s.extent, volume = n * n * n;
  for (int64_t i = 0; i < s.count * volume; ++i) {
    const int64_t at = i % volume, from = i - at + at / (n * n) + at / n % n * n + at % n * n * n;
    if (s.out_data[i] == (double)from) continue;
    fprintf(stderr, "batch: %s has a wrong result\n", name);
    exit(1);
  }
}

int main(int argc, char **argv) {
  s.count = argc > 1 ? atoll(argv[1]) : 10000;
  s.extent = argc > 2 ? atoll(argv[2]) : 8;
  const int threads = argc > 3 ? atoi(argv[3]) : 0;
  if (s.count < 1 || s.extent < 1 || s.extent > 1000 || threads < 0) {
    fprintf(stderr, "usage: batch [COUNT] [EXTENT] [THREADS]\n");
    return 1;
  }
  const int64_t volume = s.extent * s.extent * s.extent;
  s.block = volume * 8;
  s.in_data = allocate(s.count * s.block);
  s.out_data = allocate(s.count * s.block);
  s.in = allocate(s.count * (int64_t)sizeof *s.in);
  s.out = allocate(s.count * (int64_t)sizeof *s.out);
  s.same = allocate(s.count * (int64_t)sizeof *s.same);
  s.mixed = allocate(s.count * (int64_t)sizeof *s.mixed);

  const int64_t extents[3] = {s.extent, s.extent, s.extent};
  const int perm[3] = {2, 1, 0}, other_perm[3] = {1, 0, 2};
  s.problem = (cuttProblem_t)CUTT_PROBLEM_INIT;
  s.problem.rank = 3;
  s.problem.type = CUTT_F64;
  s.problem.extents = extents;
  s.problem.perm = other_perm;
  s.options = (cuttOptions_t)CUTT_OPTIONS_INIT;
  s.options.backend = CUTT_BACKEND_CPU;
  s.options.threads = threads;
  cuttPlan_t other;
  check(cuttPlanCreate(&other, &s.problem, &s.options));
  s.problem.perm = perm;
  check(cuttPlanCreate(&s.plan, &s.problem, &s.options));

  for (int64_t i = 0; i < s.count * volume; ++i) s.in_data[i] = (double)i;
  for (int64_t i = 0; i < s.count; ++i) {
    s.in[i] = s.in_data + i * volume;
    s.out[i] = s.out_data + i * volume;
    s.same[i] = s.plan;
    s.mixed[i] = i % 2 ? other : s.plan;
  }

  double best[CONTESTANTS];
  for (int round = 0; round <= ROUNDS; ++round) {
    for (int n = 0; n < CONTESTANTS; ++n) {
      const int c = round % 2 ? n : CONTESTANTS - 1 - n; /* whoever comes before leaves the caches as they are */
      if (round == 0) memset(s.out_data, 0xff, (size_t)(s.count * s.block));
      const double start = now();
      contestant[c].run();
      const double seconds = now() - start;
      if (round == 0 && contestant[c].permutes) check_result(contestant[c].name);
      if (round == 1 || (round > 1 && seconds < best[c])) best[c] = seconds;
    }
  }
  printf("%lld blocks of %lld x %lld x %lld doubles, %.1f MB\n", (long long)s.count, (long long)s.extent,
         (long long)s.extent, (long long)s.extent, 1e-6 * (double)(s.count * s.block));
  for (int c = 0; c < CONTESTANTS; ++c) {
    printf("%-18s %10.1f us %8.1f ns/block %7.2f GB/s\n", contestant[c].name, best[c] * 1e6,
           best[c] * 1e9 / (double)s.count, 2e-9 * (double)(s.count * s.block) / best[c]);
  }
  cuttPlanDestroy(other);
  cuttPlanDestroy(s.plan);
  free(s.mixed);
  free(s.same);
  free(s.out);
  free(s.in);
  free(s.out_data);
  free(s.in_data);
  return 0;
}
