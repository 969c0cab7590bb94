/* What things cost on the device at hand (rates.h).
 *
 * Products: the provider's speed is measured when it is found; how it falls where extents are small is a formula, fitted to
 * some 1100 products of random contractions. Permutations have a model of their own, which ranks algorithms to do one better than it
 * foretells seconds on a machine that has not been calibrated. Here seconds matter, against those of the products. So, where
 * tensors are large, one permutation is timed, once in a process, and all predictions are scaled by what it took. */
#include "contract/rates.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "plan/lent.h"

/* On the CPU the fit's: a call of a BLAS, how a product slows down where extents are small, vectors, short runs of operands;
 * then a plan's execution, and copies within a core's own cache. On a GPU: what a launch takes, and the extents of tiles. */
static const cutt_rates cpu_rates = {.call = 7e-8,
                                     .launch = 0.8e-6,
                                     .cache = 40e9,
                                     .run = 80e-9,
                                     .slow = {0.87, 43, 18, 4.2},
                                     .small_slow = {0.67, 9.7, 7.5, 6},
                                     .small = 1e6,
                                     .turned = 6,
                                     .vector_share = 0.15,
                                     .vector_edge = 14};
static const cutt_rates gpu_rates = {.gpu = true,
                                     .call = 4e-6,
                                     .launch = 3e-6,
                                     .cache = 1e12,
                                     .slow = {1, 58, 58, 10},
                                     .vector_share = 0.03,
                                     .vector_edge = 40};

/* The speed at which a product fetches its operands, over that of a permutation, which also writes. */
static const double fetch_speed = 3.5;

/* What the backend knows of the device at hand: a cache, multiprocessors; 0: there is no such fact. */
static int64_t device_fact(const cutt_backend *backend, const char *name) {
  const cutt_schema *schema = backend->schema;
  for (int i = 0; i < schema->fact_count; ++i)
    if (strcmp(schema->facts[i].name, name) == 0)
      return (int64_t)cutt_fact_value(&schema->facts[i], backend->runtime->target());
  return 0;
}

/* ------------------------------------------------------------------------------------------------ the permutation that is timed */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static double measured_scale = 1; /* written by measure() alone */

enum { SIDE = 128, RUNS = 3 };

/* A cube, from end to end. */
static void measure(void) {
  const int64_t extents[3] = {SIDE, SIDE, SIDE};
  const int perm[3] = {2, 1, 0};
  const size_t bytes = (size_t)SIDE * SIDE * SIDE * sizeof(double);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.threads = 1;
  cuttPlan_t plan = NULL;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  double seconds[RUNS], least = 0;
  void *in = NULL, *out = NULL;
  cuttMemoryAllocate(CUTT_BACKEND_CPU, bytes, &in);
  cuttMemoryAllocate(CUTT_BACKEND_CPU, bytes, &out);
  if (in) memset(in, 1, bytes); /* pages that were never written would all be the same one */
  if (in && out && !cuttPlanCreate(&plan, &problem, &options) && !cuttPlanGetInfo(plan, &info) &&
      !cuttPlanTime(plan, in, out, NULL, RUNS, seconds)) {
    least = seconds[0];
    for (int i = 1; i < RUNS; ++i)
      if (seconds[i] < least) least = seconds[i];
  }
  if (least > 0 && info.predicted_seconds > 0) measured_scale = least / info.predicted_seconds;
  cuttPlanDestroy(plan);
  cuttMemoryFree(CUTT_BACKEND_CPU, in);
  cuttMemoryFree(CUTT_BACKEND_CPU, out);
}

static double permutation_scale(int64_t largest_bytes) {
  const int64_t large = 4 << 20; /* below, what is to be measured takes longer than what is to be planned */
  if (largest_bytes < large) return 1;
  pthread_once(&once, measure);
  return measured_scale;
}

/* What a product takes however small it is: what a tiny one took more than its operations explain. */
static double call_seconds(const cutt_blas *blas) {
  const double *by = cpu_rates.small_slow, n = CUTT_TINY;
  const double explained = 2 * n * n * n / blas->flops * (by[0] + (by[1] + by[2] + by[3]) / n);
  const double left = blas->tiny_seconds - explained;
  return left > cpu_rates.call ? left : cpu_rates.call;
}

/* --------------------------------------------------------------------------------------------------------------- all of them */

cuttResult cutt_rates_find(const struct cuttContractionStruct *plan, cutt_rates *rates) {
  const cutt_contraction *c = &plan->contraction;
  const cutt_blas *blas = plan->blas;
  const bool gpu = cutt_contraction_on_gpu(plan);
  const double flops = cutt_blas_speed(blas, c->type->type);
  int64_t largest = 1 << 16;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (c->volume[t] > largest) largest = c->volume[t];
  *rates = gpu ? gpu_rates : cpu_rates;
  rates->threads = gpu ? 1 : plan->threads;
  if (!gpu && blas->flops > 0) rates->call = call_seconds(blas);
  rates->multiprocessors = gpu ? device_fact(plan->backend, "sms") : 0;
  rates->flops = flops > 0 ? flops : 1e10;
  rates->cache_bytes = gpu ? 0 : device_fact(plan->backend, "l2_bytes") / 2;
  rates->permute_scale = gpu ? 1 : permutation_scale(largest * c->type->bytes);

  /* The speed of memory is that of a copy of the largest tensor, by the permutation's model. */
  static const int perm[1] = {0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 1;
  problem.type = c->type->type;
  problem.extents = &largest;
  problem.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = plan->backend->id;
  options.threads = plan->threads;
  cuttPlan_t copy = NULL;
  cuttPlanInfo_t info = {.struct_size = sizeof info};
  cuttResult result = cuttPlanCreate(&copy, &problem, &options);
  if (!result) result = cuttPlanGetInfo(copy, &info);
  cuttPlanDestroy(copy);
  if (result) return result;
  rates->memory = (double)info.bytes_moved / (info.predicted_seconds * rates->permute_scale);
  rates->fetch = gpu ? rates->memory : fetch_speed * rates->memory;
  return CUTT_SUCCESS;
}
