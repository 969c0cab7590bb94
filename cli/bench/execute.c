/* Planning a case, and executing it once with its result checked; see execute.h. */
#include "execute.h"

#include <stdio.h>
#include <string.h>

/* Scalars of every type that a benchmark computes with. */
typedef union scalar {
  float single[2];
  double number[2];
  int32_t i32;
  int64_t i64;
} scalar;

static scalar scalar_of(cuttType_t type, double value) {
  scalar s;
  memset(&s, 0, sizeof s);
  switch (type) {
    case CUTT_F16:
    case CUTT_BF16:
    case CUTT_F32:
    case CUTT_C32:
      s.single[0] = (float)value;
      break;
    case CUTT_I32:
      s.i32 = (int32_t)value;
      break;
    case CUTT_I64:
      s.i64 = (int64_t)value;
      break;
    default:
      s.number[0] = value;
      break;
  }
  return s;
}

bool cutt_bench_plan(const cutt_bench_run *run, const cutt_bench_case *c, bool measure, int candidate, cuttPlan_t *plan,
                     char *why, size_t why_size) {
  const cutt_bench_dtype *dtype = run->values.dtype;
  cuttType_t type = run->values.computed ? dtype->computed : dtype->moved;
  scalar alpha = scalar_of(type, 1), beta = scalar_of(type, run->values.beta);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = c->rank;
  problem.type = type;
  problem.extents = c->extent;
  problem.perm = c->perm;
  if (c->strided) problem.in_strides = c->in_stride;
  if (run->values.computed) {
    problem.alpha = &alpha;
    problem.beta = &beta;
  }
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = run->buffers.backend;
  options.threads = run->threads;
  options.candidate = candidate;
  if (measure) {
    options.choice = CUTT_MEASURE;
    options.measure_in = (const char *)run->buffers.in + run->buffers.first;
    options.measure_out = run->buffers.out;
  }
  cuttResult result = cuttPlanCreate(plan, &problem, &options);
  if (result != CUTT_SUCCESS) snprintf(why, why_size, "no plan: %s: %s", cuttResultName(result), cuttLastError());
  return result == CUTT_SUCCESS;
}

bool cutt_bench_execute_checked(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan, char *why,
                                size_t why_size) {
  if (run->check != CUTT_BENCH_CHECK_NOTHING &&
      !cutt_bench_prepare_out(&run->buffers, &run->values, run->check, cutt_bench_volume(c), why, why_size))
    return false;
  /* Once, since with beta a second execution would add again. What fetches the result from a device waits for it. */
  cuttResult result = cuttPlanExecute(plan, (const char *)run->buffers.in + run->buffers.first, run->buffers.out, NULL);
  if (result != CUTT_SUCCESS) {
    snprintf(why, why_size, "not executed: %s: %s", cuttResultName(result), cuttLastError());
    return false;
  }
  return run->check == CUTT_BENCH_CHECK_NOTHING ||
         cutt_bench_check(&run->buffers, &run->values, c, run->check, why, why_size);
}
