/* Operands that are permuted to D before an elementwise operation, and then combined with the others from there (elementwise.h). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/elementwise.h"

/* Bytes of D above which an operand is moved: what is a block alone is not. */
enum { LEAST_MOVED = 128 * 1024 };

typedef struct cuttElementwiseStruct plan_t;

int64_t cutt_elementwise_bytes(const plan_t *p) {
  int64_t bytes = p->type->bytes;
  for (int i = 0; i < p->modes; ++i) bytes *= p->mode[i].extent;
  return bytes;
}

/* The extent of the mode in which an operand that has all modes, but along the first one another order than D, has its elements next to each
 * other, else 1; 0: it is no such operand. */
static int64_t unit_extent(const plan_t *p, int operand) {
  const int t = (int)cutt_elementwise_tensor(operand);
  int64_t extent = 1;
  if (p->use[operand] == CUTT_USE_ZERO || p->mode[0].stride[t] == 1) return 0;
  for (int i = 0; i < p->modes; ++i) {
    if (!p->mode[i].stride[t]) return 0;
    if (p->mode[i].stride[t] == 1) extent = p->mode[i].extent;
  }
  return extent;
}

bool cutt_elementwise_may_move(plan_t *p, int64_t *after) {
  int64_t next = INT64_MAX;
  p->moved = 0;
  if (cutt_elementwise_bytes(p) <= LEAST_MOVED) return false;
  for (int o = 0; o < p->operands; ++o) {
    const int64_t extent = unit_extent(p, o), key = extent * CUTT_ELEMENTWISE_OPERANDS + o;
    if (extent && key >= *after && key < next) next = key, p->moved = o + 1;
  }
  *after = next + (p->moved > 0);
  return p->moved;
}

/* On the heap, since planning takes most of the stack that a call may take. */
typedef struct whole {
  int64_t extents[CUTT_MAX_RANK], in[CUTT_MAX_RANK], out[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} whole;

cuttResult cutt_elementwise_move(plan_t *p) {
  if (!p->moved) return CUTT_SUCCESS;
  const int t = (int)cutt_elementwise_tensor(p->moved - 1);
  whole *w = malloc(sizeof *w);
  if (!w) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a permutation", sizeof *w);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  for (int i = 0; i < p->modes; ++i) {
    w->extents[i] = p->mode[i].extent;
    w->in[i] = p->moved_stride[i] = p->mode[i].stride[t];
    w->out[i] = p->mode[i].stride[t] = p->mode[i].stride[CUTT_RESULT];
    w->perm[i] = i;
  }
  problem.type = p->type->type;
  problem.rank = p->modes;
  problem.extents = w->extents;
  problem.perm = w->perm;
  problem.in_strides = w->in;
  problem.out_strides = w->out;
  options.backend = p->backend->id;
  options.threads = p->threads;
  const cuttResult result = cuttPlanCreate(&p->move, &problem, &options);
  free(w);
  return result;
}
