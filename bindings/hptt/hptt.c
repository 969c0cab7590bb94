/* HPTT's calls by plans of cuTT (hptt.h). Extents become 64-bit and column-major, and the extents of the tensors around them
 * strides. */
#include "hptt.h"

#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cutt.h"

struct cutt_hptt_plan {
  cuttPlan_t plan;
};

/* A problem of cutt.h with what its pointers lead to. */
typedef struct translation {
  cuttProblem_t problem;
  cuttOptions_t options;
  int64_t extents[CUTT_MAX_RANK], in_strides[CUTT_MAX_RANK], out_strides[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} translation;

/* What is wrong, where this file has found it; else "", and cuttLastError() has the text. */
static _Thread_local char refusal[256];

const char *cutt_hptt_error(void) { return *refusal ? refusal : cuttLastError(); }

__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(refusal, sizeof refusal, format,
            arguments); /* NOLINT(clang-analyzer-valist.Uninitialized): it was started */
  va_end(arguments);
  return 1;
}

static int result_of(cuttResult_t result) {
  *refusal = 0;
  return result == CUTT_SUCCESS ? 0 : result == CUTT_INVALID_PARAMETER ? 1 : 2;
}

/* The place in the caller's arrays of mode i, counted from the one with stride 1. */
static int place(const cutt_hptt_problem *p, int i) { return p->row_major ? p->dim - 1 - i : i; }

/* The strides of modes of these extents in a tensor of outer ones. Returns 0 or a refusal. */
static int set_strides(const cutt_hptt_problem *p, const char *name, const int *outer, const int64_t *extents,
                       int64_t *strides) {
  int64_t stride = 1;
  for (int i = 0; i < p->dim; ++i) {
    const int at = place(p, i);
    if (outer[at] < extents[i]) {
      return refuse("%s[%d] is %d; it must be %lld, the extent of the part, or more", name, at, outer[at],
                    (long long)extents[i]);
    }
    strides[i] = stride;
    if (__builtin_mul_overflow(stride, (int64_t)outer[at], &stride))
      return refuse("%s is of more elements than 64 bits count", name);
  }
  return 0;
}

static int set_modes(const cutt_hptt_problem *p, translation *t) {
  uint64_t seen = 0;
  for (int i = 0; i < p->dim; ++i) {
    const int at = place(p, i), from = p->perm[at];
    if (p->size[at] < 0) return refuse("sizeA[%d] is %d; it must be 0 or more", at, p->size[at]);
    if (from < 0 || from >= p->dim || (seen & UINT64_C(1) << from)) {
      return refuse("perm[%d] is %d; each of 0 to %d must be there once", at, from, p->dim - 1);
    }
    seen |= UINT64_C(1) << from;
    t->extents[i] = p->size[at];
    t->perm[i] = p->row_major ? p->dim - 1 - from : from;
  }
  return 0;
}

static int translate(const cutt_hptt_problem *p, translation *t) {
  if (p->dim < 0 || p->dim > CUTT_MAX_RANK) return refuse("dim is %d; it must be 0 to %d", p->dim, CUTT_MAX_RANK);
  if (p->dim && (!p->perm || !p->size)) {
    return refuse("%s is NULL; it must point to dim = %d entries", p->perm ? "sizeA" : "perm", p->dim);
  }
  if (p->threads < 0) return refuse("numThreads is %d; it must be 0 (default) or more", p->threads);
  int wrong = set_modes(p, t);
  t->problem = (cuttProblem_t)CUTT_PROBLEM_INIT;
  if (!wrong && p->outer_a) {
    wrong = set_strides(p, "outerSizeA", p->outer_a, t->extents, t->in_strides);
    t->problem.in_strides = t->in_strides;
  }
  if (!wrong && p->outer_b) {
    int64_t extents[CUTT_MAX_RANK];
    for (int i = 0; i < p->dim; ++i) extents[i] = t->extents[t->perm[i]];
    wrong = set_strides(p, "outerSizeB", p->outer_b, extents, t->out_strides);
    t->problem.out_strides = t->out_strides;
  }
  t->problem.rank = p->dim;
  t->problem.type = p->type == 's' ? CUTT_F32 : p->type == 'd' ? CUTT_F64 : p->type == 'c' ? CUTT_C32 : CUTT_C64;
  t->problem.extents = t->extents;
  t->problem.perm = t->perm;
  t->problem.alpha = p->alpha;
  t->problem.beta = p->beta;
  t->problem.conjugate = p->conjugate && (p->type == 'c' || p->type == 'z');
  t->options = (cuttOptions_t)CUTT_OPTIONS_INIT;
  t->options.backend = CUTT_BACKEND_CPU;
  t->options.threads = p->threads;
  t->options.choice = p->seconds > 0 ? CUTT_MEASURE : CUTT_PREDICT;
  t->options.measure_seconds = p->seconds;
  return wrong;
}

/* ------------------------------------------------------------------------------------------------------------- plans */

int cutt_hptt_plan_create(cutt_hptt_plan **plan, const cutt_hptt_problem *problem) {
  translation t;
  *plan = NULL;
  int wrong = translate(problem, &t);
  if (wrong) return wrong;
  cutt_hptt_plan *made = malloc(sizeof *made);
  if (!made) return refuse("out of memory: %zu bytes for a plan", sizeof *made) + 1;
  wrong = result_of(cuttPlanCreate(&made->plan, &t.problem, &t.options));
  if (wrong) {
    free(made);
    return wrong;
  }
  *plan = made;
  return 0;
}

int cutt_hptt_plan_execute(const cutt_hptt_plan *plan, const void *A, void *B) {
  return result_of(cuttPlanExecute(plan->plan, A, B, NULL));
}

void cutt_hptt_plan_print(const cutt_hptt_plan *plan) {
  size_t needed = 0;
  if (cuttPlanDescribe(plan->plan, CUTT_TEXT, NULL, 0, &needed)) return;
  char *text = malloc(needed);
  if (text && !cuttPlanDescribe(plan->plan, CUTT_TEXT, text, needed, NULL)) fputs(text, stdout);
  free(text);
}

void cutt_hptt_plan_destroy(cutt_hptt_plan *plan) {
  if (!plan) return;
  cuttPlanDestroy(plan->plan);
  free(plan);
}

/* ------------------------------------------------------------------------------------------------------- calls of C */

/* The calls have no result, so stderr has to hear of what is wrong. */
static void transpose(const char *name, const cutt_hptt_problem *p, const void *A, void *B) {
  translation t;
  int wrong = translate(p, &t);
  if (!wrong) wrong = result_of(cuttPermute(&t.problem, &t.options, A, B, NULL));
  if (wrong) fprintf(stderr, "%s: %s\n", name, cutt_hptt_error());
}

void sTensorTranspose(const int *perm, const int dim, const float alpha, const float *A, const int *sizeA,
                      const int *outerSizeA, const float beta, float *B, const int *outerSizeB, const int numThreads,
                      const int useRowMajor) {
  const cutt_hptt_problem p = {'s',    dim,   perm,        sizeA, outerSizeA, outerSizeB,
                               &alpha, &beta, useRowMajor, 0,     numThreads, 0};
  transpose("sTensorTranspose", &p, A, B);
}

void dTensorTranspose(const int *perm, const int dim, const double alpha, const double *A, const int *sizeA,
                      const int *outerSizeA, const double beta, double *B, const int *outerSizeB, const int numThreads,
                      const int useRowMajor) {
  const cutt_hptt_problem p = {'d',    dim,   perm,        sizeA, outerSizeA, outerSizeB,
                               &alpha, &beta, useRowMajor, 0,     numThreads, 0};
  transpose("dTensorTranspose", &p, A, B);
}

void cTensorTranspose(const int *perm, const int dim, const cutt_hptt_c32 alpha, bool conjA, const cutt_hptt_c32 *A,
                      const int *sizeA, const int *outerSizeA, const cutt_hptt_c32 beta, cutt_hptt_c32 *B,
                      const int *outerSizeB, const int numThreads, const int useRowMajor) {
  const cutt_hptt_problem p = {'c',    dim,   perm,        sizeA, outerSizeA, outerSizeB,
                               &alpha, &beta, useRowMajor, conjA, numThreads, 0};
  transpose("cTensorTranspose", &p, A, B);
}

void zTensorTranspose(const int *perm, const int dim, const cutt_hptt_c64 alpha, bool conjA, const cutt_hptt_c64 *A,
                      const int *sizeA, const int *outerSizeA, const cutt_hptt_c64 beta, cutt_hptt_c64 *B,
                      const int *outerSizeB, const int numThreads, const int useRowMajor) {
  const cutt_hptt_problem p = {'z',    dim,   perm,        sizeA, outerSizeA, outerSizeB,
                               &alpha, &beta, useRowMajor, conjA, numThreads, 0};
  transpose("zTensorTranspose", &p, A, B);
}
