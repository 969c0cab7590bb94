/* The matrix product alone, of the same m, n, k and batch as a contraction: what the contraction would take if nothing had to
 * be permuted. It is timed as a contraction of matrices that lie as the BLAS wants them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/context.h"
#include "contract/numbers.h"
#include "contract/prepare.h"

/* The contraction with all modes of each role in one, packed: "mkb,knb->mnb". */
static void products_alone(const struct cuttContractionStruct *plan, cutt_contraction *c) {
  int64_t size[CUTT_ROLES];
  *c = *cutt_plan_whole(plan);
  cutt_contraction_sizes(c, size);
  const cutt_group group[CUTT_ROLES] = {CUTT_GROUP_M, CUTT_GROUP_N, CUTT_GROUP_K, CUTT_GROUP_BATCH};
  const int64_t m = size[CUTT_ROLE_M], n = size[CUTT_ROLE_N], k = size[CUTT_ROLE_K];
  const int64_t stride[CUTT_ROLES][CUTT_TENSORS] = {{1, 0, 1}, {0, k, m}, {m, 1, 0}, {m * k, k * n, m * n}};
  c->modes = 0;
  for (int role = 0; role < CUTT_ROLES; ++role) {
    if (size[role] == 1) continue;
    cutt_contract_mode *mode = &c->mode[c->modes++];
    *mode = (cutt_contract_mode){.group = group[role], .extent = size[role]};
    memcpy(mode->stride, stride[role], sizeof mode->stride);
  }
  c->conjugate[0] = c->conjugate[1] = c->right_is_one = false;
  cutt_beta_clear(c);
  c->volume[CUTT_LEFT] = m * k * size[CUTT_ROLE_BATCH];
  c->volume[CUTT_RIGHT] = k * n * size[CUTT_ROLE_BATCH];
  c->volume[CUTT_RESULT] = m * n * size[CUTT_ROLE_BATCH];
}

/* Nothing is permuted, so that no workspace was left to an algorithm of the library, as there is in a plan. */
static cuttResult take_workspace(struct cuttContractionStruct *products) {
  products->blas->forget(products->blas, products->product);
  products->product = NULL;
  return cutt_contraction_take_algorithm(products, NULL, INT64_MAX);
}

static cuttResult time_products(const struct cuttContractionStruct *plan, cudaStream_t stream, int count,
                                double *seconds) {
  const cutt_backend *backend = plan->backend;
  struct cuttContractionStruct *products = calloc(1, sizeof *products);
  void *memory[CUTT_TENSORS] = {NULL, NULL, NULL}, *workspace = NULL;
  cuttResult result = CUTT_SUCCESS;
  if (!products) result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory for the matrix product alone");
  if (!result) {
    products->family = CUTT_FAMILY_TTGT;
    products_alone(plan, &products->asked);
    result = cutt_contraction_prepare(products, backend, plan->blas, plan->threads, 0);
  }
  if (!result && products->blas->choose) result = take_workspace(products);
  const cutt_type_info *type = plan->contraction.type;
  for (int t = 0; t < CUTT_TENSORS && !result; ++t) {
    const int64_t bytes = products->asked.volume[t] * type->bytes;
    result = backend->runtime->memory_allocate((size_t)bytes, &memory[t]);
    if (!result) result = cutt_numbers_fill(backend->runtime, type->type, memory[t], bytes);
  }
  if (!result && products->workspace_bytes)
    result = backend->runtime->memory_allocate(products->workspace_bytes, &workspace);
  if (!result) {
    const cutt_operands operands = {.operand = {memory[0], memory[1]},
                                    .result = memory[2],
                                    .workspace = workspace ? workspace : memory[2]}; /* that is not used */
    const cutt_execution what = {products, &operands};
    const cutt_work work = {cutt_execution_run, &what};
    result = backend->runtime->time(&work, stream, 1, seconds);
    if (!result) result = backend->runtime->time(&work, stream, count, seconds);
  }
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (memory[t]) backend->runtime->memory_free(memory[t]);
  if (workspace) backend->runtime->memory_free(workspace);
  if (products) cutt_contraction_release(products);
  free(products);
  return result;
}

cuttResult cuttContractionTimeGemm(cuttContractionPlan_t plan, cudaStream_t stream, int count, double *seconds) {
  if (!cutt_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  cutt_scope scope;
  cuttResult result = cutt_contraction_check_count(count, seconds, "seconds");
  if (!result) result = cutt_stream_check(plan->backend, stream, "stream");
  if (result) return result;
  if (!plan->blas)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "the plan is one of %s for %s without a library of matrix products: there are none to be timed",
                      plan->asked.type->name, plan->backend->name);
  if (plan->asked.empty || plan->asked.no_terms) {
    for (int i = 0; i < count; ++i) seconds[i] = 0;
    return CUTT_SUCCESS;
  }
  result = cutt_contraction_enter(plan, &scope);
  if (result) return result;
  result = time_products(plan, stream, count, seconds);
  cutt_contraction_leave(plan, &scope);
  return result;
}
