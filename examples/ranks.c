/* A tensor over four ranks, which are threads here: it is spread by its last mode, and wanted transposed, spread by the last mode
 * again, as a distributed FFT would. With MPI only the communicator is another one (ranks_mpi.c).
 *
 * Convention: the first mode is the one with stride 1. */
#include <cutt_dist.h>
#include <pthread.h>
#include <stdio.h>

enum { RANKS = 4, A = 30, B = 20, C = 10 }; /* in(a, b, c) becomes out(c, b, a) */

static cuttDistComm_t comms[RANKS];
static int wrong[RANKS];

static void *run(void *argument) {
  const int rank = *(const int *)argument;
  const int64_t in_extents[3] = {A, B, C}, out_extents[3] = {C, B, A};
  const int parts[3] = {1, 1, RANKS}, perm[3] = {2, 1, 0};
  double in[A * B * C], out[A * B * C]; /* each rank uses as much of them as its part has */
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  from.modes = to.modes = 3;
  from.extents = in_extents;
  to.extents = out_extents;
  from.parts = to.parts = parts;

  /* Every element says where it is in the whole tensor. */
  int64_t count = 0, local[3], global[3];
  cuttDistLocalExtents(&from, rank, local);
  for (int64_t i = 0; i < local[0] * local[1] * local[2]; ++i) {
    const int64_t index[3] = {i % local[0], i / local[0] % local[1], i / local[0] / local[1]};
    cuttDistGlobal(&from, rank, index, global);
    in[i] = (double)(global[0] + 100 * global[1] + 10000 * global[2]);
  }

  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = perm;
  options.threads = 1;
  wrong[rank] = 1;
  if (cuttDistPlanCreate(&plan, comms[rank], &problem, &options) != CUTT_SUCCESS ||
      cuttDistPlanExecute(plan, in, out, NULL) != CUTT_SUCCESS) {
    fprintf(stderr, "rank %d: %s\n", rank, cuttLastError());
    cuttDistPlanDestroy(plan);
    return NULL;
  }
  if (rank == 0) {
    char text[4096];
    cuttDistPlanDescribe(plan, CUTT_TEXT, text, sizeof text, NULL);
    fputs(text, stdout);
  }
  cuttDistPlanDestroy(plan);

  wrong[rank] = 0;
  cuttDistLocalExtents(&to, rank, local);
  cuttDistLocalCount(&to, rank, &count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index[3] = {i % local[0], i / local[0] % local[1], i / local[0] / local[1]};
    cuttDistGlobal(&to, rank, index, global);
    wrong[rank] += out[i] != (double)(global[2] + 100 * global[1] + 10000 * global[0]);
  }
  return NULL;
}

int main(void) {
  pthread_t thread[RANKS];
  int number[RANKS], sum = 0;
  if (cuttDistCommThreads(RANKS, comms) != CUTT_SUCCESS) {
    fprintf(stderr, "no communicators: %s\n", cuttLastError());
    return 1;
  }
  for (int i = 0; i < RANKS; ++i) {
    number[i] = i;
    if (pthread_create(&thread[i], NULL, run, &number[i])) return 1;
  }
  for (int i = 0; i < RANKS; ++i) {
    pthread_join(thread[i], NULL);
    cuttDistCommDestroy(comms[i]);
    sum += wrong[i];
  }
  printf("%s: %d elements are wrong\n", sum ? "WRONG" : "right", sum);
  return sum != 0;
}
