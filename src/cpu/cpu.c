/* The table of the methods for CPUs, which are in the other files: enumerate.c and cost.c choose a candidate, tile.c
 * and prepare.c make a plan of it, share.c has the threads that execute it, and execute.c and kernels/ what each does. */
#include "cpu/cpu.h"

#include "cpu/enumerate.h"
#include "cpu/explain.h"
#include "cpu/forward.h"
#include "cpu/prepared.h"
#include "cpu/target.h"

static bool accept(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                   const char **why) {
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)target;
  cutt_canonical other;
  cutt_cpu_tile tile;
  if (!cutt_cpu_tile_derive(machine, cutt_cpu_forward(canonical, &other), candidate, &tile, why)) return false;
  if (candidate->threads < 1 || candidate->threads > CUTT_MAX_THREADS) {
    *why = "threads are out of range";
    return false;
  }
  return true;
}

static int enumerate(const cutt_target *target, cutt_model model, const cutt_canonical *canonical, int threads,
                     cutt_candidate *list, int max) {
  cutt_canonical other;
  return cutt_cpu_enumerate(target, model, cutt_cpu_forward(canonical, &other), threads, list, max);
}

static void explain(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                    cutt_explanation *explanation) {
  cutt_canonical other;
  cutt_cpu_explain(target, cutt_cpu_forward(canonical, &other), candidate, explanation);
}

static cuttResult prepare(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                          void **prepared) {
  cutt_canonical other;
  return cutt_cpu_prepare(target, cutt_cpu_forward(canonical, &other), candidate, prepared);
}

static const char *const param_name[CUTT_PARAMS] = {"kernel", "vector_bytes", "stream", "step", "walk", "prefetch"};

const cutt_methods cutt_cpu_methods = {
    .param_name = param_name,
    .calibration_sizes = cutt_cpu_calibration_sizes,
    .enumerate = enumerate,
    .explain = explain,
    .accept = accept,
    .prepare = prepare,
    .execute = cutt_cpu_execute,
    .release = cutt_cpu_release,
};
