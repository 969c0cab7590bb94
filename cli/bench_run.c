/* Timing one case. The speed of memory drifts, on shared machines by a factor of two within minutes, so a permutation is
 * timed in turns with a copy of as many bytes between the same buffers: copy, permute, copy, permute, ... Medians of
 * both are compared, and the drift hits both alike. */
#include "bench_run.h"

#include <stdio.h>
#include <string.h>

#include "bench_copy.h"
#include "cli.h"

/* A case is timed for about this long, by a number of samples within these limits; a sample repeats what is too short
 * for the clock. */
static const double case_seconds = 0.3, sample_seconds = 100e-6;
enum { LEAST_SAMPLES = 5, MOST_SAMPLES = 31, PLANS = 9, CASES_PER_CEILING = 8, CEILING_ROUNDS = 3, SMALL = 64000000 };

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

/* The copy to hold this many bytes against: looked for anew every few cases, since which one wins can change while a
 * benchmark runs. Below 64 MB one thread is tried beside all: threads may cost more than they bring. */
static const cutt_bench_copy *copy_for(cutt_bench_run *run, size_t bytes) {
  int size_class = 0;
  for (size_t left = bytes; left > 1; left /= 2) ++size_class;
  cutt_bench_copy *copy = &run->ceiling[size_class];
  if (!copy->known || copy->cases_since >= CASES_PER_CEILING) {
    double seconds, alone;
    *copy = (cutt_bench_copy){.known = true, .threads = run->threads};
    copy->loop =
        cutt_cli_copy_fastest(run->buffers.out, run->buffers.in, bytes, run->threads, CEILING_ROUNDS, &seconds);
    if (run->threads > 1 && bytes < SMALL) {
      int loop = cutt_cli_copy_fastest(run->buffers.out, run->buffers.in, bytes, 1, CEILING_ROUNDS, &alone);
      if (alone < seconds) {
        copy->loop = loop;
        copy->threads = 1;
      }
    }
  }
  ++copy->cases_since;
  return copy;
}

static double time_plan(const cutt_bench_run *run, cuttPlan_t plan, long times) {
  double began = cutt_cli_seconds();
  for (long i = 0; i < times; ++i) cuttPlanExecute(plan, run->buffers.in, run->buffers.out, NULL);
  return (cutt_cli_seconds() - began) / (double)times;
}

/* How often to repeat what takes this long to fill a sample. */
static long repeats_for(double seconds) {
  return seconds >= sample_seconds ? 1 : seconds <= 1e-9 ? 100000 : (long)(sample_seconds / seconds) + 1;
}

/* The plans of a case: the one that is reported, and with --measure beside it the one that the model would choose. */
typedef struct plans {
  cuttPlan_t chosen, predicted;
} plans;

/* Creates a plan; the median time of doing so goes to *seconds when it is not NULL. A measured plan is made once. */
static bool create_plan(const cutt_bench_run *run, const cutt_bench_case *c, bool measure, cuttPlan_t *plan,
                        double *seconds, cutt_bench_result *result) {
  const cutt_bench_dtype *dtype = run->values.dtype;
  cuttType_t type = run->values.computed ? dtype->computed : dtype->moved;
  scalar alpha = scalar_of(type, 1), beta = scalar_of(type, run->values.beta);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = c->rank;
  problem.type = type;
  problem.extents = c->extent;
  problem.perm = c->perm;
  if (run->values.computed) {
    problem.alpha = &alpha;
    problem.beta = &beta;
  }
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.threads = run->threads;
  if (measure) {
    options.choice = CUTT_MEASURE;
    options.measure_in = run->buffers.in;
    options.measure_out = run->buffers.out;
  }
  double took[PLANS];
  int count = measure ? 1 : PLANS;
  for (int i = 0; i < count; ++i) {
    double began = cutt_cli_seconds();
    cuttResult code = cuttPlanCreate(plan, &problem, &options);
    took[i] = cutt_cli_seconds() - began;
    if (code != CUTT_SUCCESS) {
      snprintf(result->error, sizeof result->error, "no plan: %s: %s", cuttResultName(code), cuttLastError());
      return false;
    }
    if (i + 1 < count) {
      cuttPlanDestroy(*plan);
      *plan = NULL;
    }
  }
  if (seconds) *seconds = cutt_bench_median(took, (size_t)count);
  return true;
}

/* One execution onto a prepared output, compared with the definition. */
static bool execute_checked(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan, cutt_bench_result *result) {
  if (run->check) cutt_bench_prepare_out(&run->buffers, &run->values, cutt_bench_volume(c));
  cuttResult code = cuttPlanExecute(plan, run->buffers.in, run->buffers.out, NULL);
  if (code != CUTT_SUCCESS) {
    snprintf(result->error, sizeof result->error, "not executed: %s: %s", cuttResultName(code), cuttLastError());
    return false;
  }
  return !run->check || cutt_bench_check(&run->buffers, &run->values, c, result->error, sizeof result->error);
}

/* Times the plans in turns with the copy and fills in the medians. */
static void time_case(cutt_bench_run *run, const plans *p, size_t bytes, cutt_bench_result *result) {
  double copy[MOST_SAMPLES], chosen[MOST_SAMPLES], predicted[MOST_SAMPLES];
  const cutt_bench_copy *ceiling = copy_for(run, bytes);
  long repeats = repeats_for(time_plan(run, p->chosen, 1));
  if (repeats > 1) repeats = repeats_for(time_plan(run, p->chosen, repeats));
  double began = cutt_cli_seconds();
  int samples = 0;
  while (samples < MOST_SAMPLES && (samples < LEAST_SAMPLES || cutt_cli_seconds() - began < case_seconds)) {
    copy[samples] = cutt_cli_copy_seconds(ceiling->loop, run->buffers.out, run->buffers.in, bytes, ceiling->threads);
    chosen[samples] = time_plan(run, p->chosen, repeats);
    if (p->predicted) predicted[samples] = time_plan(run, p->predicted, repeats);
    ++samples;
  }
  result->samples = samples;
  result->copy_loop = cutt_cli_copy_name(ceiling->loop);
  result->copy_seconds = cutt_bench_median(copy, (size_t)samples);
  result->seconds = cutt_bench_median(chosen, (size_t)samples);
  if (p->predicted) result->predicted_seconds = cutt_bench_median(predicted, (size_t)samples);
  double moves = run->values.computed ? 3 : 2;
  if (result->seconds > 0) result->gbs = 1e-9 * moves * (double)bytes / result->seconds;
  if (result->copy_seconds > 0) result->copy_gbs = 1e-9 * 2 * (double)bytes / result->copy_seconds;
}

void cutt_bench_run_case(cutt_bench_run *run, const cutt_bench_case *c, cutt_bench_result *result) {
  *result = (cutt_bench_result){.c = c, .method = "", .isa = "", .copy_loop = ""};
  size_t bytes = (size_t)cutt_bench_volume(c) * (size_t)run->values.dtype->bytes;
  plans p = {NULL, NULL};
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  bool good = create_plan(run, c, run->measure, &p.chosen, &result->plan_seconds, result) &&
              (!run->measure || create_plan(run, c, false, &p.predicted, NULL, result)) &&
              (!run->measure || execute_checked(run, c, p.predicted, result)) &&
              execute_checked(run, c, p.chosen, result);
  if (good && cuttPlanGetInfo(p.chosen, &info) != CUTT_SUCCESS) {
    snprintf(result->error, sizeof result->error, "no description of the plan: %s", cuttLastError());
    good = false;
  }
  if (good) {
    result->method = info.method;
    result->isa = info.isa;
    result->plan_threads = info.threads;
    result->fused_rank = info.fused_rank;
    result->model_seconds = info.predicted_seconds;
    time_case(run, &p, bytes, result);
  }
  cuttPlanDestroy(p.chosen);
  cuttPlanDestroy(p.predicted);
}
