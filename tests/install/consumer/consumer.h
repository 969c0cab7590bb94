/* Permutes a 3 x 5 x 4 tensor with the library under test and compares every element with the definition, and contracts two
 * small matrices, unless the machine has no BLAS, and transposes a matrix on a communicator of one rank. In the
 * common subset of C99 and C++, so that both consumers are the same program. With CUTT_EXPERIMENTAL it draws a plan, too. */
#include <cutt.h>
#include <cutt_contract.h>
#include <cutt_dist.h>
#include <stdio.h>

static int contract(void) {
  const int64_t left_extents[2] = {2, 3}, right_extents[2] = {3, 2};
  const double left[6] = {1, 2, 3, 4, 5, 6}, right[6] = {1, 0, 2, 0, 1, 0};
  const double wanted[4] = {11, 14, 3, 4};
  double result[4] = {-1, -1, -1, -1};
  int i;
  cuttResult code;
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  contraction.pattern = "ab,bc->ac";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = left_extents;
  contraction.right_extents = right_extents;
  options.backend = CUTT_BACKEND_CPU;
  code = cuttContract(&contraction, &options, left, right, result, NULL);
  if (code == CUTT_INVALID_DEVICE) return 0; /* no BLAS */
  for (i = 0; i < 4 && !code; i++) {
    if (result[i] != wanted[i]) {
      printf("consumer: element %d of the contraction is wrong\n", i);
      return 1;
    }
  }
  if (code) printf("consumer: %s\n", cuttLastError());
  return code != CUTT_SUCCESS;
}

static int redistribute(void) {
  const int64_t in_extents[2] = {2, 3}, out_extents[2] = {3, 2};
  const int perm[2] = {1, 0};
  const float in[6] = {1, 2, 3, 4, 5, 6};
  float out[6] = {0, 0, 0, 0, 0, 0};
  cuttDistComm_t comm = NULL;
  cuttDistPlan_t plan = NULL;
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  from.modes = to.modes = 2;
  from.extents = in_extents;
  to.extents = out_extents;
  problem.type = CUTT_F32;
  problem.from = &from;
  problem.to = &to;
  problem.perm = perm;
  if (cuttDistCommThreads(1, &comm) != CUTT_SUCCESS ||
      cuttDistPlanCreate(&plan, comm, &problem, &options) != CUTT_SUCCESS ||
      cuttDistPlanExecute(plan, in, out, NULL) != CUTT_SUCCESS || cuttDistPlanDestroy(plan) != CUTT_SUCCESS ||
      cuttDistCommDestroy(comm) != CUTT_SUCCESS) {
    printf("consumer: %s\n", cuttLastError());
    return 1;
  }
  if (out[1] != 3 || out[3] != 2) printf("consumer: the redistribution is wrong\n");
  return out[1] != 3 || out[3] != 2;
}

#ifdef CUTT_EXPERIMENTAL
static int draw(void) {
  const int64_t extents[2] = {3, 5};
  const int perm[2] = {1, 0};
  size_t needed = 0;
  cuttPlan_t plan = NULL;
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  problem.rank = 2;
  problem.type = CUTT_F32;
  problem.extents = extents;
  problem.perm = perm;
  options.candidate = 1;
  options.model = CUTT_MODEL;
  if (cuttPlanCreate(&plan, &problem, &options) != CUTT_SUCCESS ||
      cuttPlanDraw(plan, CUTT_DRAW_TEXT, NULL, 0, &needed) != CUTT_SUCCESS || cuttPlanDestroy(plan) != CUTT_SUCCESS) {
    printf("consumer: %s\n", cuttLastError());
    return 1;
  }
  return needed == 0;
}
#else
static int draw(void) { return 0; }
#endif

static int consume(void) {
  enum { A = 3, B = 5, C = 4 };
  float in[A * B * C], out[A * B * C];
  int dim[3] = {A, B, C}, permutation[3] = {2, 0, 1};
  int a, b, c, i;
  cuttHandle handle;
  for (i = 0; i < A * B * C; i++) {
    in[i] = (float)i;
    out[i] = -1;
  }
  if (cuttPlan(&handle, 3, dim, permutation, sizeof(float), 0) != CUTT_SUCCESS ||
      cuttExecute(handle, in, out) != CUTT_SUCCESS || cuttDestroy(handle) != CUTT_SUCCESS) {
    printf("consumer: %s\n", cuttLastError());
    return 1;
  }
  for (b = 0; b < B; b++) {
    for (a = 0; a < A; a++) {
      for (c = 0; c < C; c++) {
        if (out[c + C * (a + A * b)] != in[a + A * (b + B * c)]) {
          printf("consumer: element (%d, %d, %d) is wrong\n", c, a, b);
          return 1;
        }
      }
    }
  }
  if (contract() || redistribute() || draw()) return 1;
  i = cuttVersion();
  printf("consumer: correct, cuTT %d.%d.%d\n", i / 10000, i / 100 % 100, i % 100);
  return 0;
}
