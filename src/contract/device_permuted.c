/* Elementwise operations on a GPU that are permutations with a second operand (device_elementwise.h): planned and done as any
 * other permutation. */
#include <stdlib.h>

#include "base/error.h"
#include "contract/device_elementwise.h"
#include "contract/problem.h"
#include "plan/services.h"

enum { WORTH_TWO_PASSES = 16 << 20 }; /* bytes of D */

typedef struct cuttElementwiseStruct plan_t;

/* An element of the operand is at several positions: it lacks a mode. */
static bool repeats(const plan_t *p, int operand) {
  for (int i = 0; i < p->modes; ++i)
    if (!p->mode[i].stride[cutt_elementwise_tensor(operand)]) return true;
  return false;
}

static bool is_read(const plan_t *p, int operand) { return p->use[operand] != CUTT_USE_ZERO; }

/* One operand is laid out as D, and not conjugated, as kernels of permutations have it. */
static bool find_one(const plan_t *p, cutt_device_permuted *pass) {
  for (int second = 1; second >= 0; --second) {
    if (!p->as_result[second] || p->conjugate[second] || repeats(p, 1 - second)) continue;
    *pass = (cutt_device_permuted){.moved = 1 - second, .second = (int)cutt_elementwise_tensor(second)};
    return true;
  }
  return false;
}

/* Is it worth two passes, of which the first permutes one operand to D? Each tensor would be turned in its own way in shared memory, which
 * reaches 0.36 to 0.46 of a copy's speed, and both passes 0.55. Half types would be rounded twice. */
static bool is_worth_two(const plan_t *p) {
  const cutt_combine_args *args = &p->device->narrow.args;
  int64_t bytes = p->type->bytes;
  bool alike = true;
  if (bytes < 4 || repeats(p, 0) || repeats(p, 1)) return false;
  for (int i = 0; i < p->modes; ++i) {
    alike = alike && p->mode[i].stride[CUTT_LEFT] == p->mode[i].stride[CUTT_RIGHT];
    bytes *= p->mode[i].extent;
  }
  return !alike && bytes >= WORTH_TWO_PASSES && args->use[0] == CUTT_COMBINE_TURNED &&
         args->use[1] == CUTT_COMBINE_TURNED;
}

/* On the heap, since planning takes most of the stack that a call may take. */
typedef struct strided {
  int64_t extents[CUTT_MAX_RANK], in[CUTT_MAX_RANK], out[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} strided;

static cuttResult plan_pass(const plan_t *p, strided *s, cutt_device_permuted *pass) {
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  _Alignas(16) unsigned char one[16];
  cutt_scalar_set(p->type, 1, one);
  for (int i = 0; i < p->modes; ++i) {
    s->extents[i] = p->mode[i].extent;
    s->in[i] = p->mode[i].stride[cutt_elementwise_tensor(pass->moved)];
    s->out[i] = p->mode[i].stride[CUTT_RESULT];
    s->perm[i] = i;
  }
  problem.rank = p->modes;
  problem.type = p->type->type;
  problem.extents = s->extents;
  problem.perm = s->perm;
  problem.in_strides = s->in;
  problem.out_strides = s->out;
  problem.alpha = p->scale[pass->moved];
  problem.conjugate = p->conjugate[pass->moved];
  if (pass->second == CUTT_RESULT)
    problem.beta = one;
  else if (pass->second != CUTT_NO_SECOND)
    problem.beta = p->scale[1 - pass->moved];
  options.backend = p->backend->id;
  options.trust_pointers = 1; /* the caller has looked at them */
  return cuttPlanCreate(&pass->plan, &problem, &options);
}

cuttResult cutt_device_permuted_prepare(const plan_t *p, cutt_device_permuted pass[2]) {
  if (p->type->bytes == 2 && p->op[0] > CUTT_OP_MULTIPLY)
    return CUTT_SUCCESS; /* whose kernels have no other operators */
  if (p->operands != 2 || p->modes > CUTT_MAX_RANK || !is_read(p, 0) || !is_read(p, 1)) return CUTT_SUCCESS;
  int passes = find_one(p, &pass[0]) ? 1 : 0;
  if (!passes && is_worth_two(p)) {
    for (int i = 0; i < 2; ++i)
      pass[i] = (cutt_device_permuted){.moved = i, .second = i ? (int)CUTT_RESULT : CUTT_NO_SECOND};
    passes = 2;
  }
  cuttResult result = CUTT_SUCCESS;
  strided *s = malloc(sizeof *s);
  if (!s) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a permutation", sizeof *s);
  for (int i = 0; i < passes && !result; ++i) result = plan_pass(p, s, &pass[i]);
  free(s);
  return result;
}

cuttResult cutt_device_permuted_start(const plan_t *p, const unsigned char *const at[CUTT_MOST_TENSORS],
                                      cudaStream_t stream) {
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < 2 && p->device->pass[i].plan && !result; ++i) {
    const cutt_device_permuted *pass = &p->device->pass[i];
    const void *const in = at[cutt_elementwise_tensor(pass->moved)];
    void *const out = (void *)(uintptr_t)at[CUTT_RESULT];
    result = pass->second == CUTT_NO_SECOND
                 ? cuttPlanExecute(pass->plan, in, out, stream)
                 : cutt_plan_combine(pass->plan, in, at[pass->second], (int)p->op[0], out, stream);
  }
  return result;
}
