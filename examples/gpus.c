/* A matrix over the GPUs of one process, a thread for each: spread by its last mode, and wanted transposed, spread by the last mode
 * again. Where the GPUs reach each other's memory, each may write into the others' outputs. With one GPU two threads share it.
 *
 * cc gpus.c $(pkg-config --cflags --libs cutt_dist) -I CUDA/include -L CUDA/lib64 -lcudart -lpthread */
#include <cuda_runtime.h>
#include <cutt_dist.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16, ROWS = 3000, COLUMNS = 2000 }; /* in(row, column) becomes out(column, row); the first has stride 1 */

static int devices, ranks;
static cuttDistComm_t comms[MOST];
static int wrong[MOST];
static pthread_barrier_t done;

/* 0: as it should be. */
static int failed(int rank, const char *what, cudaError_t error) {
  if (error != cudaSuccess) fprintf(stderr, "rank %d: %s: %s\n", rank, what, cudaGetErrorString(error));
  return error != cudaSuccess;
}

static int permute(int rank, const cuttDistLayout_t *from, const cuttDistLayout_t *to, const double *in, double *out,
                   cudaStream_t stream, cuttDistPlan_t *plan) {
  const int perm[2] = {1, 0};
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  problem.type = CUTT_F64;
  problem.from = from;
  problem.to = to;
  problem.perm = perm;
  options.backend = CUTT_BACKEND_CUDA; /* of the calling thread's device, as in and out are */
  if (cuttDistPlanCreate(plan, comms[rank], &problem, &options) == CUTT_SUCCESS &&
      cuttDistPlanExecute(*plan, in, out, stream) == CUTT_SUCCESS)
    return failed(rank, "cudaStreamSynchronize", cudaStreamSynchronize(stream));
  fprintf(stderr, "rank %d: %s\n", rank, cuttLastError());
  return 1;
}

static void *run(void *argument) {
  const int rank = *(const int *)argument, device = rank % devices;
  const int64_t in_extents[2] = {ROWS, COLUMNS}, out_extents[2] = {COLUMNS, ROWS};
  const int parts[2] = {1, ranks};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  int64_t in_count = 0, out_count = 0, global[2];
  double *in = NULL, *out = NULL, *host = NULL;
  cudaStream_t stream = NULL;
  cuttDistPlan_t plan = NULL;
  from.modes = to.modes = 2;
  from.extents = in_extents;
  to.extents = out_extents;
  from.parts = to.parts = parts;
  cuttDistLocalCount(&from, rank, &in_count);
  cuttDistLocalCount(&to, rank, &out_count);
  const size_t in_bytes = (size_t)in_count * sizeof *host, out_bytes = (size_t)out_count * sizeof *host;

  wrong[rank] = 1;
  host = malloc(in_bytes > out_bytes ? in_bytes : out_bytes);
  int bad = !host || failed(rank, "cudaSetDevice", cudaSetDevice(device));
  for (int i = 0; i < devices && !bad;
       ++i) /* an error says that it can't be, or is already: messages are copied then */
    if (i != device) cudaDeviceEnablePeerAccess(i, 0);
  bad = bad || failed(rank, "cudaMalloc", cudaMalloc((void **)&in, in_bytes)) ||
        failed(rank, "cudaMalloc", cudaMalloc((void **)&out, out_bytes)) ||
        failed(rank, "cudaStreamCreate", cudaStreamCreate(&stream));
  if (!bad) {
    for (int64_t i = 0; i < in_count; ++i) {
      const int64_t index[2] = {i % ROWS, i / ROWS};
      cuttDistGlobal(&from, rank, index, global);
      host[i] = (double)(global[0] + 10000 * global[1]);
    }
    bad = failed(rank, "cudaMemcpy", cudaMemcpy(in, host, in_bytes, cudaMemcpyHostToDevice));
  }
  if (bad) {
    /* The others wait for this rank: all get its error. */
    cuttDistRefuse(comms[rank], NULL, "its GPU could not be used");
  } else if (!permute(rank, &from, &to, in, out, stream, &plan) &&
             !failed(rank, "cudaMemcpy", cudaMemcpy(host, out, out_bytes, cudaMemcpyDeviceToHost))) {
    wrong[rank] = 0;
    for (int64_t i = 0; i < out_count; ++i) {
      const int64_t index[2] = {i % COLUMNS, i / COLUMNS};
      cuttDistGlobal(&to, rank, index, global);
      wrong[rank] += host[i] != (double)(global[1] + 10000 * global[0]);
    }
  }
  pthread_barrier_wait(&done); /* others may use this rank's plan and tensors until they are done, too */
  cuttDistPlanDestroy(plan);
  cudaFree(in);
  cudaFree(out);
  if (stream) cudaStreamDestroy(stream);
  free(host);
  return NULL;
}

int main(void) {
  pthread_t thread[MOST];
  int number[MOST], sum = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fprintf(stderr, "skipped: there is no GPU\n");
    return 77;
  }
  ranks = devices < 2 ? 2 : devices < MOST ? devices : MOST;
  if (pthread_barrier_init(&done, NULL, (unsigned)ranks)) return 1;
  if (cuttDistCommThreads(ranks, comms) != CUTT_SUCCESS) {
    fprintf(stderr, "no communicators: %s\n", cuttLastError());
    return 1;
  }
  for (int i = 0; i < ranks; ++i) {
    number[i] = i;
    if (pthread_create(&thread[i], NULL, run, &number[i])) return 1;
  }
  for (int i = 0; i < ranks; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < ranks; ++i) {
    cuttDistCommDestroy(comms[i]);
    sum += wrong[i];
  }
  printf("%s: %d ranks on %d GPUs, %d elements are wrong\n", sum ? "WRONG" : "right", ranks, devices, sum);
  return sum != 0;
}
