/* The matrix product alone, of the same m, n, k and batch as a contraction: what the contraction would take if nothing had to
 * be permuted. It is timed as a contraction of matrices that lie as the BLAS wants them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "blas/blocks.h"
#include "contract/context.h"

/* The contraction with all modes of each role in one, packed: "mkb,knb->mnb". */
static void products_alone(const struct cuttContractionStruct *plan, cutt_contraction *c) {
  int64_t size[CUTT_ROLES];
  *c = plan->contraction;
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
  c->beta_is_zero = true;
  memset(c->beta, 0, sizeof c->beta);
  c->volume[CUTT_LEFT] = m * k * size[CUTT_ROLE_BATCH];
  c->volume[CUTT_RIGHT] = k * n * size[CUTT_ROLE_BATCH];
  c->volume[CUTT_RESULT] = m * n * size[CUTT_ROLE_BATCH];
}

enum { PATTERN = 1 << 16 };

typedef union pattern {
  double f64[PATTERN / sizeof(double)];
  float f32[PATTERN / sizeof(float)];
  uint16_t half[PATTERN / sizeof(uint16_t)];
} pattern;

/* Numbers from 0.5 to 1, since products of denormal numbers take longer. */
static void draw_pattern(cuttType_t type, pattern *p) {
  if (type == CUTT_F16 || type == CUTT_BF16)
    for (size_t i = 0; i < sizeof p->half / sizeof *p->half; ++i)
      p->half[i] = (uint16_t)(type == CUTT_F16 ? 0x3800 + i % 997 : 0x3f00 + i % 127);
  else if (cutt_gemm_single(type))
    for (size_t i = 0; i < sizeof p->f32 / sizeof *p->f32; ++i) p->f32[i] = 0.5f + (float)(i % 997) / 1994;
  else
    for (size_t i = 0; i < sizeof p->f64 / sizeof *p->f64; ++i) p->f64[i] = 0.5 + (double)(i % 997) / 1994;
}

/* Allocates memory of the backend and fills it with the pattern: a copy from the host, and then of what is there already, twice
 * as much each time. */
static cuttResult take_numbers(const cutt_backend *backend, const pattern *p, int64_t bytes, void **memory) {
  const int64_t first = bytes < PATTERN ? bytes : PATTERN;
  cuttResult result = backend->runtime->memory_allocate((size_t)bytes, memory);
  if (!result) result = backend->runtime->memory_copy(*memory, p, (size_t)first);
  for (int64_t done = first; done < bytes && !result; done *= 2)
    result = backend->runtime->memory_copy((unsigned char *)*memory + done, *memory,
                                           (size_t)(bytes - done < done ? bytes - done : done));
  return result;
}

static cuttResult time_products(const struct cuttContractionStruct *plan, cudaStream_t stream, int count,
                                double *seconds) {
  const cutt_backend *backend = plan->backend;
  struct cuttContractionStruct *products = calloc(1, sizeof *products);
  pattern *numbers = malloc(sizeof *numbers);
  void *memory[CUTT_TENSORS] = {NULL, NULL, NULL};
  cuttResult result = CUTT_SUCCESS;
  if (!products || !numbers) result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory for the matrix product alone");
  if (!result) {
    products->family = CUTT_FAMILY_TTGT;
    products_alone(plan, &products->asked);
    result = cutt_contraction_prepare(products, backend, plan->blas, plan->threads, 0);
  }
  const cutt_type_info *type = plan->contraction.type;
  if (!result) draw_pattern(type->type, numbers);
  for (int t = 0; t < CUTT_TENSORS && !result; ++t)
    result = take_numbers(backend, numbers, products->asked.volume[t] * type->bytes, &memory[t]);
  if (!result) {
    const cutt_operands operands = {.operand = {memory[0], memory[1]},
                                    .result = memory[2],
                                    .workspace = memory[2]}; /* never used: nothing is permuted */
    const cutt_execution what = {products, &operands};
    const cutt_work work = {cutt_execution_run, &what};
    result = backend->runtime->time(&work, stream, 1, seconds);
    if (!result) result = backend->runtime->time(&work, stream, count, seconds);
  }
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (memory[t]) backend->runtime->memory_free(memory[t]);
  if (products) cutt_contraction_release(products);
  free(products);
  free(numbers);
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
