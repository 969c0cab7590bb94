/* Elementwise sums on a GPU that are permutations with an addend (device_elementwise.h): planned and done as any other permutation, and
 * so by kernels that know of nothing but two streams of rows and columns. */
#include <stdlib.h>

#include "base/error.h"
#include "contract/device_elementwise.h"
#include "plan/services.h"

typedef struct cuttElementwiseStruct plan_t;

/* The operand has every element once. */
static bool repeats(const plan_t *p, int operand) {
  for (int i = 0; i < p->modes; ++i)
    if (!p->mode[i].stride[cutt_elementwise_tensor(operand)]) return true;
  return false;
}

/* Is it such a sum? The addend is not conjugated, as kernels of permutations have it. */
static bool find_sum(const plan_t *p, cutt_device_sum *sum) {
  if (p->operands != 2 || p->op[0] != CUTT_OP_ADD || p->modes > CUTT_MAX_RANK) return false;
  if (p->use[0] == CUTT_USE_ZERO || p->use[1] == CUTT_USE_ZERO) return false;
  for (int addend = 1; addend >= 0; --addend) {
    if (!p->as_result[addend] || p->conjugate[addend] || repeats(p, 1 - addend)) continue;
    sum->moved = 1 - addend;
    sum->addend = addend;
    return true;
  }
  return false;
}

/* On the heap, since planning takes most of the stack that a call may take. */
typedef struct strided {
  int64_t extents[CUTT_MAX_RANK], in[CUTT_MAX_RANK], out[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} strided;

cuttResult cutt_device_sum_prepare(const plan_t *p, cutt_device_sum *sum) {
  if (!find_sum(p, sum)) return CUTT_SUCCESS;
  strided *s = malloc(sizeof *s);
  if (!s) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a permutation", sizeof *s);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  for (int i = 0; i < p->modes; ++i) {
    s->extents[i] = p->mode[i].extent;
    s->in[i] = p->mode[i].stride[cutt_elementwise_tensor(sum->moved)];
    s->out[i] = p->mode[i].stride[CUTT_RESULT];
    s->perm[i] = i;
  }
  problem.rank = p->modes;
  problem.type = p->type->type;
  problem.extents = s->extents;
  problem.perm = s->perm;
  problem.in_strides = s->in;
  problem.out_strides = s->out;
  problem.alpha = p->scale[sum->moved];
  problem.beta = p->scale[sum->addend];
  problem.conjugate = p->conjugate[sum->moved];
  options.backend = p->backend->id;
  options.trust_pointers = 1; /* the caller has looked at them */
  const cuttResult result = cuttPlanCreate(&sum->plan, &problem, &options);
  free(s);
  return result;
}

cuttResult cutt_device_sum_start(const cutt_device_sum *sum, const unsigned char *const at[CUTT_MOST_TENSORS],
                                 cudaStream_t stream) {
  return cutt_plan_add(sum->plan, at[cutt_elementwise_tensor(sum->moved)], at[cutt_elementwise_tensor(sum->addend)],
                       (void *)(uintptr_t)at[CUTT_RESULT], stream);
}
