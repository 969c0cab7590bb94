/* The permutations that a contraction consists of, planned by the public call (permutation.h). */
#include "contract/permutation.h"

#include <stdlib.h>

#include "base/error.h"

/* A permutation given by strides: mode i of the output is mode i of the input, with another stride. On the heap, since
 * planning it takes most of the stack that a call may take. */
typedef struct strided {
  cuttProblem_t problem;
  int64_t extents[CUTT_MOST_MODES], in[CUTT_MOST_MODES], out[CUTT_MOST_MODES];
  int perm[CUTT_MOST_MODES];
} strided;

static strided *new_strided(const cutt_contraction *c) {
  strided *s = malloc(sizeof *s);
  if (!s) {
    cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a permutation", sizeof *s);
    return NULL;
  }
  s->problem = (cuttProblem_t)CUTT_PROBLEM_INIT;
  s->problem.type = c->type->type;
  s->problem.extents = s->extents;
  s->problem.in_strides = s->in;
  s->problem.out_strides = s->out;
  s->problem.perm = s->perm;
  return s;
}

static void add_mode(strided *s, int64_t extent, int64_t in, int64_t out) {
  const int i = s->problem.rank++;
  s->extents[i] = extent;
  s->in[i] = in;
  s->out[i] = out;
  s->perm[i] = i;
}

/* Plans it, and frees it. */
static cuttResult plan_chosen(strided *s, const cutt_backend *backend, int threads, const cutt_permuting *permuting,
                              cuttPlan_t *made) {
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = backend->id;
  options.threads = threads;
  options.trust_pointers =
      1; /* an execution of the contraction has looked at all memory, and has entered the context */
  if (permuting) {
    options.choice = permuting->choice;
    options.measure_seconds = permuting->seconds;
    options.wisdom = permuting->wisdom;
  }
  const cuttResult result = cuttPlanCreate(made, &s->problem, &options);
  free(s);
  return result;
}

static cuttResult plan_strided(strided *s, const cutt_backend *backend, int threads, cuttPlan_t *made) {
  return plan_chosen(s, backend, threads, NULL, made);
}

cuttResult cutt_block_permutation(const cutt_contraction *c, const cutt_algorithm *algorithm, const cutt_view *view,
                                  cutt_tensor t, const cutt_backend *backend, int threads,
                                  const cutt_permuting *permuting, cuttPlan_t *made) {
  strided *s = new_strided(c);
  if (!s) return CUTT_INTERNAL_ERROR;
  for (int i = 0; i < c->modes; ++i) {
    if (view->extent[i] == 1 || !cutt_algorithm_holds(c, algorithm, t, i)) continue;
    const int64_t own = c->mode[i].stride[t], packed = view->stride[t][i];
    add_mode(s, view->extent[i], t == CUTT_RESULT ? packed : own, t == CUTT_RESULT ? own : packed);
  }
  if (t == CUTT_RESULT && !c->beta_is_zero) s->problem.beta = c->beta;
  s->problem.conjugate = t != CUTT_RESULT && c->conjugate[t];
  return plan_chosen(s, backend, threads, permuting, made);
}

cuttResult cutt_packed_permutation(const cutt_contraction *c, const int64_t *packed, cutt_tensor t,
                                   const cutt_backend *backend, const cutt_permuting *permuting, cuttPlan_t *made) {
  strided *s = new_strided(c);
  if (!s) return CUTT_INTERNAL_ERROR;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t own = c->mode[i].stride[t];
    if (own) add_mode(s, c->mode[i].extent, t == CUTT_RESULT ? packed[i] : own, t == CUTT_RESULT ? own : packed[i]);
  }
  if (t == CUTT_RESULT && !c->beta_is_zero) s->problem.beta = c->beta;
  return plan_chosen(s, backend, 1, permuting, made);
}

/* D = alpha * 1 + beta * D. */
static void fill_with_alpha(strided *s, const cutt_contraction *c) {
  for (int i = 0; i < c->modes; ++i) add_mode(s, c->mode[i].extent, 0, c->mode[i].stride[CUTT_RESULT]);
  s->problem.alpha = c->alpha;
  if (!c->beta_is_zero) s->problem.beta = c->beta;
}

cuttResult cutt_scale_permutation(const cutt_contraction *c, const cutt_backend *backend, int threads,
                                  cuttPlan_t *made) {
  strided *s = new_strided(c);
  if (!s) return CUTT_INTERNAL_ERROR;
  if (c->reduce == CUTT_OP_MULTIPLY && !c->alpha_is_zero) {
    fill_with_alpha(s, c);
    return plan_strided(s, backend, threads, made);
  }
  for (int i = 0; i < c->modes; ++i) {
    const int64_t stride = c->mode[i].stride[CUTT_RESULT];
    if (stride) add_mode(s, c->mode[i].extent, c->beta_is_zero ? 0 : stride, stride);
  }
  if (!c->beta_is_zero) s->problem.alpha = c->beta;
  return plan_strided(s, backend, threads, made);
}
