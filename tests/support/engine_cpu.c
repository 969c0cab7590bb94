/* The CPU backend as an engine of the tests. */
#include <stdio.h>
#include <string.h>

#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"
#include "plan/backend.h"
#include "support/engine.h"

static const char *param_name(int number) { return cutt_cpu_backend.methods->param_name[number]; }

static int enumerate(const cutt_canonical *canonical, int threads, cutt_candidate *list, int max) {
  return cutt_cpu_backend.methods->enumerate(cutt_cpu_backend.runtime->target(), CUTT_MODEL_IS_OWN, canonical, threads,
                                             list, max);
}

static bool accept(const cutt_canonical *canonical, const cutt_candidate *candidate, const char **why) {
  return cutt_cpu_backend.methods->accept(cutt_cpu_backend.runtime->target(), canonical, candidate, why);
}

static bool run(const cutt_canonical *canonical, const cutt_candidate *candidate, unsigned mode,
                const test_memory *memory, char *error, size_t size) {
  (void)mode;
  void *prepared = NULL;
  if (cutt_cpu_backend.methods->prepare(cutt_cpu_backend.runtime->target(), canonical, candidate, &prepared) !=
      CUTT_SUCCESS) {
    snprintf(error, size, "prepare refuses it: %s", cuttLastError());
    return false;
  }
  const cuttResult result = cutt_execute_one(cutt_cpu_backend.methods, prepared, false, memory->in, memory->out, NULL);
  cutt_cpu_backend.methods->release(prepared);
  if (result == CUTT_SUCCESS) return true;
  snprintf(error, size, "execute: %s: %s", cuttResultName(result), cuttLastError());
  return false;
}

/* Any shape that the CPU backend has names for, sensible values more often than not. The model would choose few of them
 * for a problem this small: streaming stores and threads, say, are for large ones. */
static cutt_candidate shape(test_rng *rng, const cutt_canonical *canonical, int threads) {
  cutt_candidate c;
  memset(&c, 0, sizeof c);
  c.method = (cutt_method)test_random_in(rng, 0, CUTT_METHODS - 1);
  c.m = (int)test_random_in(rng, 0, canonical->rank < 5 ? canonical->rank : 5);
  c.k = (int)test_random_in(rng, canonical->rank > 0, canonical->rank < 5 ? canonical->rank : 5);
  if (c.m > 0 && test_chance(rng, 40)) c.split_m = test_random_in(rng, 1, canonical->mode[c.m - 1].extent);
  if (c.k > 0 && test_chance(rng, 50))
    c.split_k = test_random_in(rng, 1, canonical->mode[canonical->out_order[c.k - 1]].extent);
  c.threads = test_chance(rng, 90) ? 1 : threads;
  c.param[CUTT_CPU_PARAM_NON_TEMPORAL] = test_random_in(rng, 0, 1);
  if (test_chance(rng, 50)) {
    c.param[CUTT_CPU_PARAM_KERNEL] = test_chance(rng, 50) ? CUTT_CPU_WINDOW : CUTT_CPU_GATHER;
  } else {
    c.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
    c.param[CUTT_CPU_PARAM_VECTOR] = (int64_t)16 << test_random_in(rng, 0, 2);
    c.param[CUTT_CPU_PARAM_STEP] = test_chance(rng, 50) ? 16 : test_random_in(rng, 1, CUTT_CPU_MAX_STEP);
    if (test_chance(rng, 60)) c.param[CUTT_CPU_PARAM_WALK] = test_chance(rng, 60) ? CUTT_CPU_ALONG : CUTT_CPU_MIXED;
  }
  c.param[CUTT_CPU_PARAM_PREFETCH] = test_random_in(rng, 0, CUTT_CPU_PREFETCHES - 1);
  return c;
}

/* With stores past the caches, and with threads. Starting threads takes far longer than these problems do: one candidate
 * of each gets them. */
static bool vary(const test_problem *problem, int number, int count, int way, cutt_candidate *candidate,
                 unsigned *mode) {
  (void)mode;
  const bool threads = problem->seed % (uint64_t)count == (uint64_t)number;
  if (way >= (threads ? 4 : 2)) return false;
  if (way & 1) candidate->param[CUTT_CPU_PARAM_NON_TEMPORAL] ^= 1;
  if (way & 2) candidate->threads = candidate->threads > 1 ? 1 : problem->threads;
  return true;
}

static bool execute(cuttPlan_t plan, const test_memory *memory, char *error, size_t size) {
  if (cuttPlanExecute(plan, memory->in, memory->out, NULL) == CUTT_SUCCESS) return true;
  snprintf(error, size, "cuttPlanExecute: %s", cuttLastError());
  return false;
}

const test_engine test_engine_cpu = {
    .name = "cpu",
    .program = "test_property",
    .param_name = param_name,
    .enumerate = enumerate,
    .accept = accept,
    .run = run,
    .shape = shape,
    .vary = vary,
    .backend = CUTT_BACKEND_CPU,
    .execute = execute,
};
