/* The GPU as an engine of the tests: the input and the whole zone around the output are copied to device memory, to the
 * same places within 64 bytes as on the host, and the zone is copied back. So what a kernel writes outside of its output
 * is found on the host as for the CPU. What it reads outside, only compute-sanitizer finds.
 *
 * Elements that are computed with must be aligned on a GPU: where the problem's are not, they lie at the next place below
 * that is. */
#include "gpu/engine_gpu.h"

#include <stdio.h>
#include <string.h>

#include "gpu/driver.h"
#include "gpu/launch.h"
#include "plan/backend.h"

/* Device memory, kept from one execution to the next. */
typedef struct region {
  gpu_address base;
  size_t bytes;
} region;
static region in_region, out_region;

static bool grow(region *r, size_t bytes) {
  if (r->bytes >= bytes) return true;
  if (r->base && gpu.release(r->base)) return false;
  r->base = 0;
  r->bytes = bytes < (size_t)1 << 20 ? (size_t)1 << 20 : 2 * bytes;
  if (!gpu.allocate(&r->base, r->bytes)) return true;
  r->bytes = 0;
  return false;
}

void test_engine_gpu_cleanup(void) {
  if (in_region.base) gpu.release(in_region.base);
  if (out_region.base) gpu.release(out_region.base);
  in_region = out_region = (region){0, 0};
}

/* The alignment of the problem's elements: of the numbers that are computed with. */
static size_t number_bytes(const test_problem *p) {
  if (!test_problem_computes(p)) return 1;
  return test_type_bytes(p->type) / (test_type_complex(p->type) ? 2 : 1);
}

/* Where a host buffer's data go: to the same address modulo 64, rounded down to a multiple of `number`. `before` bytes in
 * front of the data are copied too. */
static gpu_address place(const region *r, const unsigned char *data, size_t before, size_t number) {
  return r->base + (before + 63) / 64 * 64 + (uintptr_t)data % 64 / number * number;
}

typedef struct on_device {
  gpu_address in, out; /* element (0, ..., 0) */
  gpu_address zone;
} on_device;

static bool failed(char *error, size_t size, const char *what, gpu_result result) {
  const char *text = NULL;
  gpu.error_string(result, &text);
  snprintf(error, size, "%s: the driver says: %s", what, text ? text : "unknown");
  return false;
}

static bool upload(const test_memory *m, on_device *d, char *error, size_t size) {
  const size_t number = number_bytes(m->problem);
  const size_t before = (size_t)(m->out_buffer.data - m->out_buffer.zone);
  if (!grow(&in_region, m->in_buffer.bytes + 128) || !grow(&out_region, m->out_buffer.zone_bytes + 256)) {
    snprintf(error, size, "the test has no device memory for this problem");
    return false;
  }
  const gpu_address in = place(&in_region, m->in_buffer.data, 0, number);
  const gpu_address out = place(&out_region, m->out_buffer.data, before, number);
  d->zone = out - before;
  /* in and out may be far outside of their buffers where strides are negative: as differences. */
  d->in = in + (gpu_address)((intptr_t)m->in - (intptr_t)m->in_buffer.data);
  d->out = out + (gpu_address)((intptr_t)m->out - (intptr_t)m->out_buffer.data);
  gpu_result result = m->in_buffer.bytes ? gpu.to_device(in, m->in_buffer.data, m->in_buffer.bytes) : 0;
  if (!result) result = gpu.to_device(d->zone, m->out_buffer.zone, m->out_buffer.zone_bytes);
  return !result || failed(error, size, "copying to the device", result);
}

/* Waits, since a copy to the host in the default stream comes after what was started there. */
static bool download(const test_memory *m, const on_device *d, char *error, size_t size) {
  const gpu_result result = gpu.to_host(m->out_buffer.zone, d->zone, m->out_buffer.zone_bytes);
  return !result || failed(error, size, "after the execution", result);
}

static bool run(const cutt_canonical *canonical, const cutt_candidate *candidate, unsigned mode,
                const test_memory *memory, char *error, size_t size) {
  (void)mode;
  void *prepared = NULL;
  on_device d;
  if (!upload(memory, &d, error, size)) return false;
  if (cutt_cuda_backend.methods->prepare(cutt_cuda_backend.runtime->target(), canonical, candidate, &prepared) !=
      CUTT_SUCCESS) {
    snprintf(error, size, "prepare refuses it: %s", cuttLastError());
    return false;
  }
  const cuttResult result =
      cutt_execute_one(cutt_cuda_backend.methods, prepared, false, gpu_pointer(d.in), gpu_pointer(d.out), NULL);
  cutt_cuda_backend.methods->release(prepared);
  if (result != CUTT_SUCCESS) {
    snprintf(error, size, "execute: %s: %s", cuttResultName(result), cuttLastError());
    return false;
  }
  return download(memory, &d, error, size);
}

static bool execute(cuttPlan_t plan, const test_memory *memory, char *error, size_t size) {
  on_device d;
  if (!upload(memory, &d, error, size)) return false;
  if (cuttPlanExecute(plan, gpu_pointer(d.in), gpu_pointer(d.out), NULL) != CUTT_SUCCESS) {
    snprintf(error, size, "cuttPlanExecute: %s", cuttLastError());
    return false;
  }
  return download(memory, &d, error, size);
}

static const char *param_name(int number) { return cutt_cuda_backend.methods->param_name[number]; }

static int enumerate(const cutt_canonical *canonical, int threads, cutt_candidate *list, int max) {
  return cutt_cuda_backend.methods->enumerate(cutt_cuda_backend.runtime->target(), CUTT_MODEL_IS_OWN, canonical,
                                              threads, list, max);
}

static bool accept(const cutt_canonical *canonical, const cutt_candidate *candidate, const char **why) {
  return cutt_cuda_backend.methods->accept(cutt_cuda_backend.runtime->target(), canonical, candidate, why);
}

/* A candidate of any shape that can be written down, most often with sensible values. */
static cutt_candidate shape(test_rng *rng, const cutt_canonical *canonical, int threads) {
  (void)threads;
  cutt_candidate c;
  memset(&c, 0, sizeof c);
  c.method = (cutt_method)test_random_in(rng, 0, CUTT_METHODS - 1);
  c.m = (int)test_random_in(rng, 0, canonical->rank < 6 ? canonical->rank : 6);
  c.k = (int)test_random_in(rng, 0, canonical->rank < 6 ? canonical->rank : 6);
  if (c.m > 0 && test_chance(rng, 40)) c.split_m = test_random_in(rng, 1, canonical->mode[c.m - 1].extent);
  if (c.k > 0 && test_chance(rng, 40))
    c.split_k = test_random_in(rng, 1, canonical->mode[canonical->out_order[c.k - 1]].extent);
  c.threads = (int)(32 * test_random_in(rng, 1, CUTT_BLOCK_THREADS / 32));
  c.param[CUTT_GPU_PARAM_STAGES] = test_random_in(rng, 1, 4);
  c.param[CUTT_GPU_PARAM_BLOCK_TILES] = test_chance(rng, 40) ? 1 : test_random_in(rng, 1, CUTT_BLOCK_TILES);
  c.param[CUTT_GPU_PARAM_DIRECT] = test_chance(rng, 30);
  c.param[CUTT_GPU_PARAM_BATCH] = test_chance(rng, 60) ? 1 : test_random_in(rng, 0, 64);
  return c;
}

static bool vary(const test_problem *problem, int number, int count, int way, cutt_candidate *candidate,
                 unsigned *mode) {
  (void)problem, (void)number, (void)count, (void)way, (void)candidate, (void)mode;
  return false;
}

const test_engine test_engine_gpu = {
    .name = "gpu",
    .program = "test_gpu_property",
    .param_name = param_name,
    .enumerate = enumerate,
    .accept = accept,
    .run = run,
    .shape = shape,
    .vary = vary,
    .backend = CUTT_BACKEND_CUDA,
    .execute = execute,
};
