/* A plan for the CPU and a plan for the GPU in one process, with cutt.h alone: the library's own memory calls stand in
 * for CUDA's, and where there is no GPU the CPU's half still runs.
 *
 * A batch of 36 pictures of 256 x 192 in 9 channels of float: channels last (NHWC) to channels first (NCHW). */
#include <cutt.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHANNELS = 9, WIDTH = 256, HEIGHT = 192, BATCH = 36, PLANE = WIDTH * HEIGHT, VOLUME = CHANNELS * PLANE * BATCH };
enum { BYTES = VOLUME * sizeof(float), ROUNDS = 5 };

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cuttLastError());
  return 1;
}

/* Permutes host into result, both in the host's memory, on one backend. */
static int permute(cuttPlan_t plan, cuttBackend_t backend, const float *host, float *result) {
  void *in = NULL, *out = NULL;
  double seconds[ROUNDS] = {0.0}, best = 0.0;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  int status = 0;
  if (cuttMemoryAllocate(backend, BYTES, &in) || cuttMemoryAllocate(backend, BYTES, &out) ||
      cuttMemoryCopy(backend, in, host, BYTES) || cuttPlanExecute(plan, in, out, NULL) ||
      cuttPlanTime(plan, in, out, NULL, ROUNDS, seconds) || cuttMemoryCopy(backend, result, out, BYTES) ||
      cuttPlanGetInfo(plan, &info)) {
    status = failed("not permuted");
  }
  for (int i = 0; i < ROUNDS; ++i)
    if (i == 0 || seconds[i] < best) best = seconds[i];
  if (status == 0) {
    printf("%s: %s (%s), %.3g ms, %.1f GB/s\n", backend == CUTT_BACKEND_CPU ? "CPU" : "GPU", info.method, info.isa,
           1e3 * best, 1e-9 * (double)info.bytes_moved / best);
  }
  cuttMemoryFree(backend, in);
  cuttMemoryFree(backend, out);
  return status;
}

static int check(const float *out) {
  for (int64_t n = 0; n < BATCH; ++n)
    for (int64_t c = 0; c < CHANNELS; ++c)
      for (int64_t p = 0; p < PLANE; ++p)
        if (out[(n * CHANNELS + c) * PLANE + p] != (float)((n * PLANE + p) * CHANNELS + c)) {
          fprintf(stderr, "WRONG: picture %d, channel %d, pixel %d\n", (int)n, (int)c, (int)p);
          return 1;
        }
  return 0;
}

int main(void) {
  const int64_t extents[4] = {CHANNELS, WIDTH, HEIGHT, BATCH};
  const int perm[4] = {1, 2, 0, 3};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 4;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t on_cpu = CUTT_OPTIONS_INIT, on_gpu = CUTT_OPTIONS_INIT;
  on_cpu.backend = CUTT_BACKEND_CPU;
  on_gpu.backend = CUTT_BACKEND_CUDA;

  cuttPlan_t cpu = NULL, gpu = NULL;
  int status = cuttPlanCreate(&cpu, &problem, &on_cpu) ? failed("no plan for the CPU") : 0;
  const cuttResult_t usable = cuttPlanCreate(&gpu, &problem, &on_gpu); /* both are alive from here on */
  if (usable == CUTT_INVALID_DEVICE)
    printf("no GPU: %s\n", cuttLastError());
  else if (usable != CUTT_SUCCESS)
    status = failed("no plan for the GPU");

  float *host = malloc(BYTES), *result = malloc(BYTES);
  if (!host || !result) status = 1;
  for (int i = 0; status == 0 && i < VOLUME; ++i) host[i] = (float)i; /* below 2^24: each is exact */
  if (status == 0) status = permute(cpu, CUTT_BACKEND_CPU, host, result) || check(result);
  if (status == 0 && gpu) status = permute(gpu, CUTT_BACKEND_CUDA, host, result) || check(result);
  if (status == 0) printf("every element is where it belongs\n");
  free(host);
  free(result);
  cuttPlanDestroy(cpu);
  cuttPlanDestroy(gpu);
  return status;
}
