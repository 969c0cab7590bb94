/* A contraction of tensors over four ranks, which are threads here: D(a,b,i) += L(a,k,i) R(k,b), L and D on a mesh of 2 x 2 ranks,
 * R cut by rows. With MPI only the communicator is another one (ranks_mpi.c). Needs a BLAS; 77: there is none.
 *
 * Convention: the first mode is the one with stride 1. */
#include <cutt_dist.h>
#include <pthread.h>
#include <stdio.h>

enum { RANKS = 4, A = 40, B = 30, I = 10, K = 50, MOST = A * K * I };

static cuttDistComm_t comms[RANKS];
static int wrong[RANKS], missing;

/* Elements are small whole numbers, so that sums are exact. */
static double left_of(int64_t a, int64_t k, int64_t i) { return (double)((a + 2 * k + 3 * i) % 7 - 3); }
static double right_of(int64_t k, int64_t b) { return (double)((k * b + k) % 5 - 2); }

/* An element of L, of R, or of what D shall be, by its global index. */
static double element(int tensor, const int64_t *at) {
  if (tensor == 0) return left_of(at[0], at[1], at[2]);
  if (tensor == 1) return right_of(at[0], at[1]);
  double sum = 1; /* what D was before */
  for (int64_t k = 0; k < K; ++k) sum += left_of(at[0], k, at[2]) * right_of(k, at[1]);
  return sum;
}

/* Calls for each element of this rank's part: stores it, or counts those that differ. */
static int visit(const cuttDistLayout_t *layout, int rank, int tensor, double *part, int compares) {
  int64_t count = 0, local[3] = {1, 1, 1}, global[3];
  int differ = 0;
  cuttDistLocalCount(layout, rank, &count);
  cuttDistLocalExtents(layout, rank, local);
  for (int64_t n = 0; n < count; ++n) {
    const int64_t index[3] = {n % local[0], n / local[0] % local[1], n / local[0] / local[1]};
    cuttDistGlobal(layout, rank, index, global);
    if (compares)
      differ += part[n] != element(tensor, global);
    else
      part[n] = tensor < 2 ? element(tensor, global) : 1;
  }
  return differ;
}

static void *run(void *argument) {
  const int rank = *(const int *)argument;
  const int64_t extents[3][3] = {{A, K, I}, {K, B, 0}, {A, B, I}};
  const int parts[3][3] = {{2, 1, 2}, {RANKS, 1, 0}, {2, 1, 2}};
  static double memory[RANKS][3][MOST]; /* each rank uses as much of it as its parts have */
  double *const l = memory[rank][0], *const r = memory[rank][1], *const d = memory[rank][2];
  cuttDistLayout_t layout[3];
  for (int t = 0; t < 3; ++t) {
    layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    layout[t].modes = t == 1 ? 2 : 3;
    layout[t].extents = extents[t];
    layout[t].parts = parts[t];
    visit(&layout[t], rank, t, memory[rank][t], 0);
  }
  cuttDistContraction_t contraction = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  cuttDistContractionPlan_t plan = NULL;
  contraction.pattern = "D(a,b,i)+=L(a,k,i)*R(k,b)";
  contraction.type = CUTT_F64;
  contraction.left = &layout[0];
  contraction.right = &layout[1];
  contraction.result = &layout[2];
  options.threads = 1;
  wrong[rank] = 1;
  cuttResult result = cuttDistContractionPlanCreate(&plan, comms[rank], &contraction, &options);
  if (result == CUTT_SUCCESS) result = cuttDistContractionExecute(plan, l, r, d, NULL);
  if (result != CUTT_SUCCESS) fprintf(stderr, "rank %d: %s\n", rank, cuttLastError());
  if (result == CUTT_SUCCESS) wrong[rank] = visit(&layout[2], rank, 2, d, 1);
  if (rank == 0) missing = result == CUTT_INVALID_DEVICE;
  if (rank == 0 && result == CUTT_SUCCESS) {
    char text[4096];
    cuttDistContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL);
    fputs(text, stdout);
  }
  cuttDistContractionPlanDestroy(plan);
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
  if (missing) return 77;
  printf("%s: %d elements are wrong\n", sum ? "WRONG" : "right", sum);
  return sum != 0;
}
