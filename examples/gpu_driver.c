/* The descriptor interface with the CUDA driver API: out = 2 * perm(in), where in is a part of a larger tensor, by one
 * plan in two streams. A CUstream is a cudaStream_t, and a CUdeviceptr is the address that the library takes.
 *
 * cc gpu_driver.c $(pkg-config --cflags --libs cutt) -I CUDA/include -L CUDA/lib64/stubs -lcuda */
#include <cuda.h>
#include <cutt.h>
#include <stdio.h>
#include <stdlib.h>

enum { A = 500, B = 300, C = 200, ROW = 512, SLICE = ROW * 320 }; /* A x B x C of a 512 x 320 x 200 tensor */
enum { IN_VOLUME = SLICE * C, OUT_VOLUME = A * B * C, STREAMS = 2, ROUNDS = 3 };

static void check(int failed, const char *call, const char *why) {
  if (!failed) return;
  fprintf(stderr, "%s: %s\n", call, why);
  exit(1);
}
static void check_cuda(CUresult result, const char *call) {
  const char *why = NULL;
  if (cuGetErrorString(result, &why) != CUDA_SUCCESS) why = "unknown error";
  check(result != CUDA_SUCCESS, call, why);
}
static void check_cutt(cuttResult_t result, const char *call) { check(result != CUTT_SUCCESS, call, cuttLastError()); }
#define CUDA(call) check_cuda(call, #call)
#define CUTT(call) check_cutt(call, #call)

static void *address(CUdeviceptr pointer) { return (void *)(uintptr_t)pointer; }

int main(void) {
  CUdevice device;
  CUcontext context;
  CUDA(cuInit(0));
  CUDA(cuDeviceGet(&device, 0));
  CUDA(cuDevicePrimaryCtxRetain(&context, device));
  CUDA(cuCtxSetCurrent(context)); /* a plan is for the context that is current when it is made */

  const int64_t extents[3] = {A, B, C}, in_strides[3] = {1, ROW, SLICE};
  const int perm[3] = {2, 0, 1}; /* out is C x A x B, packed */
  const float alpha = 2.0f;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  problem.in_strides = in_strides;
  problem.alpha = &alpha;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA; /* where there is no GPU, an error and not a plan for the CPU */
  cuttPlan_t plan = NULL;
  CUTT(cuttPlanCreate(&plan, &problem, &options));

  float *host = malloc(IN_VOLUME * sizeof(float));
  check(!host, "malloc", "out of memory");
  CUstream streams[STREAMS];
  CUdeviceptr in[STREAMS], out[STREAMS];
  for (int s = 0; s < STREAMS; ++s) {
    for (int i = 0; i < IN_VOLUME; ++i) host[i] = (float)(i % 65536 + s);
    CUDA(cuStreamCreate(&streams[s], CU_STREAM_NON_BLOCKING));
    CUDA(cuMemAlloc(&in[s], IN_VOLUME * sizeof(float)));
    CUDA(cuMemAlloc(&out[s], OUT_VOLUME * sizeof(float)));
    CUDA(cuMemcpyHtoDAsync(in[s], host, IN_VOLUME * sizeof(float), streams[s]));
    CUTT(cuttPlanExecute(plan, address(in[s]), address(out[s]), streams[s]));
  }

  int wrong = 0;
  for (int s = 0; s < STREAMS; ++s) {
    CUDA(cuMemcpyDtoHAsync(host, out[s], OUT_VOLUME * sizeof(float), streams[s]));
    CUDA(cuStreamSynchronize(streams[s]));
    for (int b = 0, i = 0; b < B; ++b)
      for (int a = 0; a < A; ++a)
        for (int c = 0; c < C; ++c, ++i) wrong += host[i] != 2.0f * (float)((a + ROW * b + SLICE * c) % 65536 + s);
  }
  double seconds[ROUNDS];
  CUTT(cuttPlanTime(plan, address(in[0]), address(out[0]), streams[0], ROUNDS, seconds));
  printf("2 x (%d x %d x %d of float, permuted by 2 0 1), in %d streams; %d elements are wrong\n", A, B, C, STREAMS,
         wrong);
  printf("alone: %.3g ms, %.0f GB/s\n", 1e3 * seconds[0], 2e-9 * OUT_VOLUME * sizeof(float) / seconds[0]);

  cuttPlanDestroy(plan);
  for (int s = 0; s < STREAMS; ++s) {
    CUDA(cuMemFree(in[s]));
    CUDA(cuMemFree(out[s]));
    CUDA(cuStreamDestroy(streams[s]));
  }
  CUDA(cuDevicePrimaryCtxRelease(device));
  free(host);
  return wrong != 0;
}
