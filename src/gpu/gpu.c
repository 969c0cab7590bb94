/* The table of methods for GPUs. enumerate.c, cost.c, count.c and tile.c plan, launch.c lays out a launch, execute.c runs it,
 * paper.c is the paper's model, and target.c says what a device is. */
#include "gpu/gpu.h"

#include "gpu/execute.h"
#include "gpu/launch.h"
#include "gpu/paper.h"
#include "gpu/target.h"

static int enumerate(const cutt_target *target, cutt_model model, const cutt_canonical *canonical, int threads,
                     cutt_candidate *list, int max) {
  (void)threads; /* of the processor */
  return cutt_gpu_enumerate((const cutt_device *)target, model, canonical, list, max);
}

static double paper_seconds(const cutt_target *target, const cutt_canonical *canonical,
                            const cutt_candidate *candidate) {
  cutt_gpu_tile tile;
  const char *why;
  if (!cutt_gpu_tile_derive(canonical, candidate, &tile, &why)) return 0;
  return cutt_gpu_paper_seconds((const cutt_device *)target, canonical, &tile, candidate);
}

static bool accept(const cutt_target *target, const cutt_canonical *canonical, const cutt_candidate *candidate,
                   const char **why) {
  return cutt_gpu_accept((const cutt_device *)target, canonical, candidate, why);
}

const cutt_methods cutt_gpu_methods = {
    .param_name = cutt_gpu_param_name,
    .paper_seconds = paper_seconds,
    .enumerate = enumerate,
    .explain = cutt_gpu_explain,
    .accept = accept,
    .prepare = cutt_gpu_prepare,
    .execute = cutt_gpu_execute,
    .release = cutt_gpu_release,
};
