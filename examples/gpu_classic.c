/* The paper's four calls with the CUDA runtime: device pointers, a stream, and CUDA's own events around the execution.
 *
 * cc gpu_classic.c $(pkg-config --cflags --libs cutt) -I CUDA/include -L CUDA/lib64 -lcudart */
#include <cuda_runtime.h>
#include <cutt.h>
#include <stdio.h>
#include <stdlib.h>

enum { A = 62, B = 541, C = 37, D = 12, VOLUME = A * B * C * D }; /* 119 MB of double */

#define CUDA(call)                                                                                                     \
  do {                                                                                                                 \
    const cudaError_t error = (call);                                                                                  \
    if (error != cudaSuccess) {                                                                                        \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                                   \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

#define CUTT(call)                                                                                                     \
  do {                                                                                                                 \
    if ((call) != CUTT_SUCCESS) {                                                                                      \
      fprintf(stderr, "%s: %s\n", #call, cuttLastError());                                                             \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

int main(void) {
  const size_t bytes = VOLUME * sizeof(double);
  double *host = malloc(bytes), *in = NULL, *out = NULL;
  if (!host) return 1;
  for (int i = 0; i < VOLUME; ++i) host[i] = i;

  cudaStream_t stream;
  cudaEvent_t start, stop;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaEventCreate(&start));
  CUDA(cudaEventCreate(&stop));
  CUDA(cudaMalloc((void **)&in, bytes));
  CUDA(cudaMalloc((void **)&out, bytes));
  CUDA(cudaMemcpyAsync(in, host, bytes, cudaMemcpyHostToDevice, stream));

  int dim[4] = {A, B, C, D};         /* the first mode is the one with stride 1 */
  int permutation[4] = {3, 0, 2, 1}; /* out is D x A x C x B */
  cuttHandle plan;
  CUTT(cuttPlan(&plan, 4, dim, permutation, sizeof(double), stream));
  CUTT(cuttExecute(plan, in, out)); /* the first execution pays for what CUDA loads when it is first needed */
  CUDA(cudaEventRecord(start, stream));
  CUTT(cuttExecute(plan, in, out));
  CUDA(cudaEventRecord(stop, stream));
  CUTT(cuttDestroy(plan)); /* what has been started is not disturbed */

  CUDA(cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  float milliseconds = 0.0f;
  CUDA(cudaEventElapsedTime(&milliseconds, start, stop));

  int wrong = 0;
  for (int b = 0, i = 0; b < B; ++b)
    for (int c = 0; c < C; ++c)
      for (int a = 0; a < A; ++a)
        for (int d = 0; d < D; ++d, ++i) wrong += host[i] != a + A * (b + B * (c + C * d));
  printf("%d x %d x %d x %d of double, permuted by 3 0 2 1: %.3g ms, %.0f GB/s; %d of %d elements are wrong\n", A, B, C,
         D, (double)milliseconds, 2e-6 * (double)bytes / (double)milliseconds, wrong, VOLUME);

  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
  CUDA(cudaEventDestroy(start));
  CUDA(cudaEventDestroy(stop));
  CUDA(cudaStreamDestroy(stream));
  free(host);
  return wrong != 0;
}
