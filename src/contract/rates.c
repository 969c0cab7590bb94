/* The rates of the device at hand (rates.h).
 *
 * The speed of products is measured when the BLAS library is found; how it falls where extents are small is a formula that
 * was fitted to some 1100 products of random contractions. Times of permutations are predicted by their own model. On a
 * machine that has not been calibrated that is good enough to rank permutations, but its seconds may be off by a factor, and
 * here they are compared with those of products. So where tensors are large, one permutation is timed, once in a process, and
 * all predictions are multiplied by measured over predicted time. */
#include "contract/rates.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/kernels/kernels.h"
#include "model/machine.h"
#include "plan/services.h"

/* On the CPU, slow and what comes after it are the fit's. On a GPU products are predicted by product_speed.c, and call is a launch. */
static const cutt_rates cpu_rates = {.call = 7e-8,
                                     .launch = 0.8e-6,
                                     .cache = 40e9,
                                     .run_start = 80e-9,
                                     .slow = {0.87, 43, 18, 4.2},
                                     .small_slow = {0.67, 9.7, 7.5, 6},
                                     .small = 1e6,
                                     .transposed = 6,
                                     .vector_share = 0.15,
                                     .vector_edge = 14,
                                     .strided = 1.2e-9};
static const cutt_rates gpu_rates = {.gpu = true, .call = 4e-6, .launch = 3e-6, .cache = 1e12};

/* The compute capability of the first GPUs with tensor cores for doubles. */
enum { FIRST_MATRIX_UNITS = 8, FIRST_BULK_COPIES = 9 };

/* The speed at which a product reads its operands from memory, over that of a permutation, which also writes. */
static const double fetch_speed = 3.5;

int64_t cutt_device_property(const cutt_backend *backend, const char *name) {
  const cutt_schema *schema = backend->schema;
  for (int i = 0; i < schema->property_count; ++i)
    if (strcmp(schema->properties[i].name, name) == 0)
      return (int64_t)cutt_property_value(&schema->properties[i], backend->runtime->target());
  return 0;
}

bool cutt_asks_in_order(const cutt_backend *cpu) {
  return ((const cutt_cpu_machine *)(const void *)cpu->runtime->target())->asks_in_order != 0;
}

/* ------------------------------------------------------------------------------------------------ timing a permutation */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static double measured_scale = 1; /* written by measure() alone */

enum { SIDE = 120, RUNS = 3 }; /* not a power of 2, whose strides fall into few sets of the caches */

/* A cube whose modes are reversed. */
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
  const int64_t large = 4 << 20; /* below, the measurement takes longer than the contraction */
  if (largest_bytes < large) return 1;
  pthread_once(&once, measure);
  return measured_scale;
}

/* ------------------------------------------------------------------------------------------------ timing products in blocks */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double measured_line; /* under the lock */

/* Eight rows of the same three cache lines times numbers of their own, some microseconds, a few times. 0: there is no memory. */
static double time_blocks(const cutt_pass_kernels *kernels) {
  enum {
    ROWS = 8,
    GROUPS = 8,
    TERMS = 64,
    LINE = 64,
    LINES = 3,
    NUMBERS = LINES * LINE / (int)sizeof(double),
    TIMES = 12
  };
  typedef struct operands {
    double vectors[TERMS * NUMBERS], numbers[ROWS * TERMS], sums[ROWS * NUMBERS];
    int64_t row[2][GROUPS * ROWS], term[2][TERMS], out_row[GROUPS * ROWS];
  } operands;
  operands *o = calloc(1, sizeof *o);
  if (!o) return 0;
  for (int i = 0; i < TERMS * NUMBERS; ++i) o->vectors[i] = 1 + i % 7;
  for (int i = 0; i < ROWS * TERMS; ++i) o->numbers[i] = 1 + i % 5;
  for (int i = 0; i < GROUPS * ROWS; ++i) {
    o->row[1][i] = i % ROWS * TERMS * (int64_t)sizeof(double);
    o->out_row[i] = i % ROWS * NUMBERS * (int64_t)sizeof(double);
  }
  for (int i = 0; i < TERMS; ++i) {
    o->term[0][i] = i * NUMBERS * (int64_t)sizeof(double);
    o->term[1][i] = i * (int64_t)sizeof(double);
  }
  const cutt_pass_tile tile = {.operand = {(const char *)o->vectors, (const char *)o->numbers},
                               .row = {o->row[0], o->row[1]},
                               .term = {o->term[0], o->term[1]},
                               .rows = GROUPS * ROWS,
                               .terms = TERMS,
                               .n = NUMBERS,
                               .group = ROWS,
                               .out = (char *)o->sums,
                               .out_row = o->out_row};
  double least = 0;
  for (int i = 0; i < TIMES; ++i) {
    const double start = cutt_clock();
    kernels->type[CUTT_F64].blocks(&tile);
    const double seconds = cutt_clock() - start;
    if (least <= 0 || (seconds > 0 && seconds < least)) least = seconds;
  }
  free(o);
  return least / (GROUPS * ROWS * LINES * TERMS);
}

/* Seconds of 64 bytes of products in blocks on this machine, measured once in a process. */
static double block_line(const char *isa) {
  static const double usual = 0.22e-9; /* of an Intel Xeon of 2023 */
  pthread_mutex_lock(&lock);
  const cutt_pass_kernels *kernels = measured_line > 0 ? NULL : cutt_pass_kernels_named(isa);
  if (kernels) measured_line = time_blocks(kernels);
  if (measured_line <= 0) measured_line = usual;
  const double seconds = measured_line;
  pthread_mutex_unlock(&lock);
  return seconds;
}

/* Seconds of a call: what a tiny product took beyond the time that the formula gives for its operations. */
static double call_seconds(const cutt_blas *blas) {
  const double *by = cpu_rates.small_slow, n = CUTT_TINY;
  const double explained = 2 * n * n * n / blas->flops * (by[0] + (by[1] + by[2] + by[3]) / n);
  const double left = blas->tiny_seconds - explained;
  return left > cpu_rates.call ? left : cpu_rates.call;
}

/* --------------------------------------------------------------------------------------------------------------- all rates */

/* Elements that move: of a tensor whose elements are a cache line apart or more, all of each line. */
static int64_t touched(const cutt_contraction *c, int t) {
  const int64_t spanned = (c->high[t] - c->low[t]) / c->type->bytes, each = 64 / c->type->bytes;
  return c->volume[t] > spanned / each ? larger(c->volume[t], spanned) : c->volume[t] * each;
}

cuttResult cutt_rates_find(const struct cuttContractionStruct *plan, cutt_rates *rates) {
  const cutt_contraction *c = &plan->contraction;
  const cutt_blas *blas = plan->blas;
  const bool gpu = cutt_contraction_on_gpu(plan);
  const double flops = blas ? cutt_blas_speed(blas, c->type->type) : 0;
  int64_t largest = gpu ? (256 << 20) / c->type->bytes : 1 << 16;
  for (int t = 0; t < CUTT_TENSORS; ++t) largest = larger(largest, touched(c, t));
  *rates = gpu ? gpu_rates : cpu_rates;
  rates->threads = gpu ? 1 : plan->threads;
  if (!gpu && blas && blas->flops > 0) rates->call = call_seconds(blas);
  rates->multiprocessors = gpu ? cutt_device_property(plan->backend, "sms") : 0;
  rates->sm_shared = gpu ? cutt_device_property(plan->backend, "sm_shared") : 0;
  rates->block_shared = gpu ? cutt_device_property(plan->backend, "block_shared") : 0;
  rates->matrix_units = gpu && cutt_device_property(plan->backend, "major") >= FIRST_MATRIX_UNITS;
  rates->bulk_copies = gpu && cutt_device_property(plan->backend, "major") >= FIRST_BULK_COPIES;
  rates->flops = flops > 0 ? flops : 1e10;
  rates->blas_flops = flops;
  rates->stream_bytes = gpu ? 0 : cutt_device_property(plan->backend, "stream_bytes");
  rates->cache_bytes = gpu ? 0 : cutt_device_property(plan->backend, "l2_bytes") / 2;
  rates->block_line = gpu ? 0 : block_line(plan->backend->runtime->isa());
  rates->permute_scale = gpu ? 1 : permutation_scale(largest * c->type->bytes);

  /* The speed of memory is that which the permutation's model predicts for a copy of the largest tensor. */
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
  rates->product_fetch = rates->fetch;
  /* What no cache holds comes no faster than from a core's own one, however fast a copy is. A pass asks for it before. */
  if (rates->stream_bytes > 0 && largest * c->type->bytes >= rates->stream_bytes)
    rates->product_fetch = smaller(rates->fetch, rates->cache * rates->threads);
  return CUTT_SUCCESS;
}
