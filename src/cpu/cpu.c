/* The table of the methods for CPUs, which are in the other files: enumerate.c and cost.c choose a candidate, tile.c
 * and prepare.c make a plan of it, share.c has the threads that execute it, and execute.c and kernels/ what each does. */
#include "cpu/cpu.h"

#include "cpu/enumerate.h"
#include "cpu/explain.h"
#include "cpu/prepared.h"
#include "cpu/target.h"

static bool accept(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                   const char **why) {
  const int vector_bytes = ((const cutt_cpu_machine *)(const void *)target)->vector_bytes;
  cutt_cpu_tile tile;
  if (!cutt_cpu_tile_derive(canonical, candidate, &tile, why)) return false;
  if (candidate->threads < 1 || candidate->threads > CUTT_MAX_THREADS) {
    *why = "threads are out of range";
    return false;
  }
  if (tile.kernel == CUTT_CPU_WINDOW && !cutt_cpu_has_window(vector_bytes, canonical->elem_bytes)) {
    *why = "the instruction set in use has no windows";
    return false;
  }
  if (tile.kernel == CUTT_CPU_TRANSPOSE && candidate->param[CUTT_CPU_PARAM_VECTOR] > vector_bytes) {
    *why = "the instruction set in use has no vectors that wide";
    return false;
  }
  return true;
}

static const char *const param_name[CUTT_PARAMS] = {"kernel", "vector_bytes", "stream", "step", "walk", "prefetch"};

const cutt_methods cutt_cpu_methods = {
    .param_name = param_name,
    .calibration_sizes = cutt_cpu_calibration_sizes,
    .enumerate = cutt_cpu_enumerate,
    .explain = cutt_cpu_explain,
    .accept = accept,
    .prepare = cutt_cpu_prepare,
    .execute = cutt_cpu_execute,
    .release = cutt_cpu_release,
};
