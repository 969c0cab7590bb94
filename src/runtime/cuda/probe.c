/* Measuring a GPU.
 *
 * The kernels are a module of their own (runtime/cuda/kernels/probe.cu), in the context only while they are used. Times of transfers
 * are by events, as those of plans are; latencies are counted by the SM's clock within the kernels. Every number is a
 * median of several runs, on a device that has been busy for a while, so that its clocks are up.
 *
 * Two buffers, each several times the L2 cache, serve all: the first is read and chased in, the second written. */
#include "runtime/cuda/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/device.h"
#include "runtime/cuda/embed.h"
#include "runtime/cuda/kernels/probe_args.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/state.h"
#include "runtime/cuda/stream.h"

_Static_assert((int)CUTT_CUDA_PROBE_LANES == (int)CUTT_PROBE_LANES, "the lanes of a warp");

enum {
  WINDOW_BYTES = CUTT_PROBE_WINDOW_LINES * CUTT_PROBE_LINE,
  LEAST_WINDOWS = 8,
  L2_TIMES = 8,       /* a buffer is at least so much larger */
  RUNS = 25,          /* whose median is a transfer's or launch's time */
  WARM_RUNS = 3,      /* before them */
  CLOCK_BATCH = 16,   /* copies between two looks at the time while the clocks rise */
  CLOCK_BATCHES = 64, /* most of them */
  ROUNDS = 9,         /* chases for each number of lanes; in shared memory */
  SHARED_ACCESSES = 1024
};
static const size_t most_bytes = (size_t)1 << 30;
static const double clock_seconds = 0.4;

#define NUMBER(name) KERNEL_##name,
enum { CUTT_PROBE_KERNELS(NUMBER) KERNELS };
#undef NUMBER
#define NAME(name) "cutt_" #name,
static const char *const kernel_name[KERNELS] = {CUTT_PROBE_KERNELS(NAME)};
#undef NAME

/* What chases work in: more than a small stack has room for. */
typedef struct chases {
  unsigned char output[CUTT_PROBE_CYCLES_AT + 4 * CUTT_PROBE_ACCESSES]; /* of a kernel */
  double list[CUTT_PROBE_ACCESSES];                                     /* cycles of its accesses */
  double cycles[CUTT_PROBE_LANES][ROUNDS];                              /* of an access, by lanes and rounds */
} chases;

typedef struct session {
  const cutt_cu *cu;
  const cutt_cuda_gpu *gpu;
  cutt_cu_module module;
  cutt_cu_function function[KERNELS];
  cudaStream_t stream;
  void *from, *to;
  size_t bytes; /* of each: whole windows */
  chases *chases;
  bool (*progress)(void *data, double done);
  void *data;
} session;

/* ------------------------------------------------------------------------------------------------------ what is run */

typedef struct launch {
  const session *s;
  int kernel;
  unsigned blocks, threads, shared_bytes;
  cutt_probe_args args;
} launch;

/* Every kernel reads the first buffer and writes the second, but the one that makes the chains. */
static cuttResult run_launch(const void *what, cudaStream_t stream) {
  const launch *l = what;
  cutt_cu_address in = (uintptr_t)l->s->from;
  cutt_cu_address out = l->kernel == KERNEL_probe_chain ? in : (uintptr_t)l->s->to;
  void *parameters[] = {&in, &out, (void *)(uintptr_t)&l->args}; /* which are read, and copied */
  const cutt_cu_result error = l->s->cu->launch_kernel(l->s->function[l->kernel], l->blocks, 1, 1, l->threads, 1, 1,
                                                       l->shared_bytes, stream, parameters, NULL);
  return error ? cutt_cuda_failed(l->s->cu, error, "launching %s", kernel_name[l->kernel]) : CUTT_SUCCESS;
}

static cuttResult run_copy(const void *what, cudaStream_t stream) {
  const session *s = what;
  return cutt_cuda_copy(s->to, s->from, s->bytes, stream);
}

/* Launches, waits, and fetches the first bytes of the second buffer. */
static cuttResult run_and_fetch(const launch *l, void *result, size_t bytes) {
  const session *s = l->s;
  const cuttResult failed = run_launch(l, s->stream);
  if (failed) return failed;
  const cutt_cu_result error = s->cu->stream_synchronize(s->stream);
  if (error) return cutt_cuda_failed(s->cu, error, "running %s", kernel_name[l->kernel]);
  return bytes ? cutt_cuda_memory_copy(result, s->to, bytes) : CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts. */
static double median(double *list, int count) {
  qsort(list, (size_t)count, sizeof *list, by_size);
  return count % 2 ? list[count / 2] : (list[count / 2 - 1] + list[count / 2]) / 2;
}

/* The mean of the middle half of a chase's accesses. Not their median, since they may have two peaks, for the near and the
 * far half of a large chip; nor the mean of all, because of refreshes of memory and misses of the TLB. Sorts. */
static double middle_mean(double *list, int count) {
  qsort(list, (size_t)count, sizeof *list, by_size);
  const int from = count / 4, to = count - from;
  double sum = 0;
  for (int i = from; i < to; ++i) sum += list[i];
  return sum / (to - from);
}

/* Least squares: the latency is the fitted cycles at one lane, the delay the slope. */
static void fit_chase(cutt_cuda_probe *probe) {
  const int count = CUTT_PROBE_LANES;
  const double mean_x = (count - 1) / 2.0;
  double mean_y = 0, xy = 0, xx = 0, squares = 0;
  for (int i = 0; i < count; ++i) mean_y += probe->chase[i] / count;
  for (int i = 0; i < count; ++i) {
    xy += (i - mean_x) * (probe->chase[i] - mean_y);
    xx += (i - mean_x) * (i - mean_x);
  }
  probe->departure_delay = xy / xx;
  probe->memory_latency = mean_y - probe->departure_delay * mean_x;
  for (int i = 0; i < count; ++i) {
    const double missed = probe->chase[i] - (probe->memory_latency + probe->departure_delay * i);
    squares += missed * missed;
  }
  probe->fit_error = mean_y > 0 ? sqrt(squares / count) / mean_y : 0;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static cuttResult report(const session *s, double done) {
  if (!s->progress || s->progress(s->data, done)) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "calibration was interrupted");
}

/* Seconds of one run. what: "copying". */
static cuttResult time_work(const session *s, const cutt_work *work, const char *what, double *seconds) {
  double list[WARM_RUNS + RUNS];
  const cuttResult result = cutt_cuda_time(work, s->stream, WARM_RUNS + RUNS, list);
  if (result) return result;
  *seconds = median(list + WARM_RUNS, RUNS);
  if (*seconds > 0) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "%s takes %g seconds by the events of %s", what, *seconds,
                    s->gpu->properties.base.name);
}

/* Copies until the device's clocks are up. */
static cuttResult warm_up(const session *s, double share) {
  const cutt_work copy = {run_copy, s};
  double seconds[CLOCK_BATCH], spent = 0;
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; !result && i < CLOCK_BATCHES && spent < clock_seconds; ++i) {
    result = cutt_cuda_time(&copy, s->stream, CLOCK_BATCH, seconds);
    for (int j = 0; !result && j < CLOCK_BATCH; ++j) spent += seconds[j];
    if (!result) result = report(s, share * fmin(1, spent / clock_seconds));
  }
  return result;
}

static cuttResult measure_transfers(const session *s, cutt_cuda_probe *probe) {
  const double bytes = (double)s->bytes;
  const cutt_work copy = {run_copy, s};
  launch l = {.s = s, .blocks = (unsigned)(s->bytes / CUTT_PROBE_BLOCK_BYTES), .threads = CUTT_PROBE_THREADS};
  const cutt_work transfer = {run_launch, &l};
  double seconds = 0;
  cuttResult result = time_work(s, &copy, "copying", &seconds);
  if (result) return result;
  probe->copy_bandwidth = 2 * bytes / seconds;
  l.kernel = KERNEL_probe_read;
  l.args.word = 0x5bd1e995u; /* a sum that memory is not likely to have: it may well be all zeros */
  result = time_work(s, &transfer, "reading", &seconds);
  if (result) return result;
  probe->read_bandwidth = bytes / seconds;
  l.kernel = KERNEL_probe_write;
  result = time_work(s, &transfer, "writing", &seconds);
  if (result) return result;
  probe->write_bandwidth = bytes / seconds;
  return CUTT_SUCCESS;
}

static cuttResult measure_launch(const session *s, cutt_cuda_probe *probe) {
  const launch l = {.s = s, .kernel = KERNEL_probe_empty, .blocks = 1, .threads = CUTT_PROBE_LANES};
  const cutt_work empty = {run_launch, &l};
  return time_work(s, &empty, "an empty kernel", &probe->launch_seconds);
}

static cuttResult make_chains(const session *s) {
  launch l = {.s = s,
              .kernel = KERNEL_probe_chain,
              .blocks = (unsigned)(s->bytes / CUTT_PROBE_LINE / CUTT_PROBE_THREADS),
              .threads = CUTT_PROBE_THREADS};
  const cuttResult result = run_and_fetch(&l, NULL, 0);
  if (result) return result;
  /* Writing the other buffer drives the chains out of L2. */
  l.kernel = KERNEL_probe_write;
  l.blocks = (unsigned)(s->bytes / CUTT_PROBE_BLOCK_BYTES);
  return run_and_fetch(&l, NULL, 0);
}

/* Cycles per access in chase `number`. It begins in the next window, and after all windows in the other half of each chain:
 * where no chase has been for long, so that no cache has it. */
static cuttResult chase(const session *s, int lanes, unsigned number, double *cycles) {
  const unsigned windows = (unsigned)(s->bytes / WINDOW_BYTES);
  launch l = {.s = s,
              .kernel = KERNEL_probe_chase,
              .blocks = 1,
              .threads = (unsigned)lanes,
              .shared_bytes = 4 * (CUTT_PROBE_ACCESSES + 1)};
  l.args.accesses = CUTT_PROBE_ACCESSES;
  l.args.place = number % windows * CUTT_PROBE_WINDOW_LINES + (number / windows % 2) * (CUTT_PROBE_WINDOW_LINES / 2);
  const cuttResult result = run_and_fetch(&l, s->chases->output, sizeof s->chases->output);
  if (result) return result;
  for (int i = 0; i < CUTT_PROBE_ACCESSES; ++i) {
    uint32_t access;
    memcpy(&access, s->chases->output + CUTT_PROBE_CYCLES_AT + 4 * i, sizeof access);
    s->chases->list[i] = access;
  }
  *cycles = middle_mean(s->chases->list, CUTT_PROBE_ACCESSES);
  return CUTT_SUCCESS;
}

/* Each round measures all numbers of lanes, so that what changes in the course of time changes all of them. */
static cuttResult measure_chase(const session *s, cutt_cuda_probe *probe, double from, double to) {
  double(*const cycles)[ROUNDS] = s->chases->cycles;
  cuttResult result = make_chains(s);
  for (int round = 0; !result && round < ROUNDS; ++round) {
    for (int i = 0; !result && i < CUTT_PROBE_LANES; ++i) {
      result = chase(s, i + 1, (unsigned)(round * CUTT_PROBE_LANES + i), &cycles[i][round]);
    }
    if (!result) result = report(s, from + (to - from) * (round + 1) / ROUNDS);
  }
  if (result) return result;
  for (int i = 0; i < CUTT_PROBE_LANES; ++i) probe->chase[i] = median(cycles[i], ROUNDS);
  fit_chase(probe);
  return CUTT_SUCCESS;
}

static cuttResult measure_shared(const session *s, cutt_cuda_probe *probe) {
  launch l = {.s = s,
              .kernel = KERNEL_probe_shared,
              .blocks = 1,
              .threads = CUTT_PROBE_LANES,
              .shared_bytes = 4 * CUTT_PROBE_LANES * CUTT_PROBE_SHARED_WORDS};
  l.args.accesses = SHARED_ACCESSES;
  double cycles[ROUNDS];
  for (int round = 0; round < ROUNDS; ++round) {
    unsigned char output[CUTT_PROBE_SHARED_AT + 4];
    const cuttResult result = run_and_fetch(&l, output, sizeof output);
    if (result) return result;
    uint32_t all;
    memcpy(&all, output + CUTT_PROBE_SHARED_AT, sizeof all);
    cycles[round] = (double)all / SHARED_ACCESSES;
  }
  probe->shared_latency = median(cycles, ROUNDS);
  return CUTT_SUCCESS;
}

static cuttResult measure(const session *s, cutt_cuda_probe *probe) {
  cuttResult result = report(s, 0);
  if (!result) result = warm_up(s, 0.5);
  if (!result) result = measure_transfers(s, probe);
  if (!result) result = report(s, 0.65);
  if (!result) result = measure_launch(s, probe);
  if (!result) result = measure_chase(s, probe, 0.65, 0.95);
  if (!result) result = measure_shared(s, probe);
  if (!result) result = report(s, 1);
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- session */

static cuttResult load_kernels(session *s) {
  if (!cutt_cuda_kernels.probe) {
    const char *why = cutt_cuda_kernels.none;
    return cutt_error(CUTT_INVALID_DEVICE, "%s", why ? why : "this build has no kernels that measure a GPU");
  }
  cutt_cu_result error = s->cu->module_load_data(&s->module, cutt_cuda_kernels.probe);
  if (error) {
    s->module = NULL;
    return cutt_cuda_failed(s->cu, error, "loading the kernels that measure %s", s->gpu->properties.base.name);
  }
  for (int i = 0; i < KERNELS; ++i) {
    error = s->cu->module_get_function(&s->function[i], s->module, kernel_name[i]);
    if (error) return cutt_cuda_failed(s->cu, error, "looking for kernel %s", kernel_name[i]);
  }
  return CUTT_SUCCESS;
}

static cuttResult take_memory(session *s) {
  size_t unused = 0, all = 0;
  const cutt_cu_result error = s->cu->mem_get_info(&unused, &all);
  if (error)
    return cutt_cuda_failed(s->cu, error, "asking how much memory of %s is free", s->gpu->properties.base.name);
  size_t bytes = unused / 4 < most_bytes ? unused / 4 : most_bytes;
  const size_t least = L2_TIMES * (size_t)s->gpu->properties.l2_bytes;
  if (bytes < least) bytes = least;
  s->bytes = (bytes + WINDOW_BYTES - 1) / WINDOW_BYTES * WINDOW_BYTES;
  if (s->bytes < (size_t)LEAST_WINDOWS * WINDOW_BYTES) s->bytes = (size_t)LEAST_WINDOWS * WINDOW_BYTES;
  const cuttResult result = cutt_cuda_scratch_create(s->bytes, 1, &s->from);
  return result ? result : cutt_cuda_scratch_create(s->bytes, 1, &s->to);
}

static cuttResult open_session(session *s) {
  s->gpu = cutt_cuda_gpu_current(s->cu);
  if (!s->gpu) return CUTT_INVALID_DEVICE;
  if (!s->gpu->usable) return cutt_error(CUTT_INVALID_DEVICE, "%s", s->gpu->why);
  s->chases = malloc(sizeof *s->chases);
  if (!s->chases) {
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to measure %s", sizeof *s->chases,
                      s->gpu->properties.base.name);
  }
  /* A stream that waits for no other: the program's do not use these buffers. */
  const cutt_cu_result error = s->cu->stream_create(&s->stream, CUTT_CU_STREAM_NON_BLOCKING);
  if (error) {
    s->stream = NULL;
    return cutt_cuda_failed(s->cu, error, "making a stream to measure in");
  }
  const cuttResult result = load_kernels(s);
  return result ? result : take_memory(s);
}

/* However far open_session came. A failure here only goes to the log: what was measured is right all the same. */
static void close_session(session *s) {
  /* After an error there may be work under way that uses what goes now. */
  if (s->stream && s->cu->stream_synchronize(s->stream)) cutt_log(CUTT_LOG_WARN, "the stream could not be waited for");
  if (s->from) cutt_cuda_scratch_release(s->from);
  if (s->to) cutt_cuda_scratch_release(s->to);
  if (s->module && s->cu->module_unload(s->module)) {
    cutt_log(CUTT_LOG_WARN, "the kernels that measure %s were not unloaded", s->gpu->properties.base.name);
  }
  if (s->stream) cutt_cuda_stream_release(s->stream);
  free(s->chases);
}

cuttResult cutt_cuda_probe_measure(cutt_cuda_probe *probe, bool (*progress)(void *data, double done), void *data) {
  memset(probe, 0, sizeof *probe);
  cutt_cuda_scope scope;
  cuttResult result = cutt_cuda_enter(&scope);
  if (result) return result;
  session s = {.cu = scope.cu, .progress = progress, .data = data};
  result = open_session(&s);
  if (!result) result = measure(&s, probe);
  close_session(&s);
  cutt_cuda_leave(&scope);
  if (result) memset(probe, 0, sizeof *probe);
  return result;
}

cuttResult cutt_cuda_measure_target(cutt_target *target, double seconds, bool (*progress)(void *data, double done),
                                    void *data) {
  (void)seconds; /* it takes one or two, and less would be less exact */
  cutt_cuda_probe probe;
  const cuttResult result = cutt_cuda_probe_measure(&probe, progress, data);
  if (result) return result;
  cutt_device *device = (cutt_device *)target;
  device->copy_bandwidth = probe.copy_bandwidth;
  device->read_bandwidth = probe.read_bandwidth;
  device->write_bandwidth = probe.write_bandwidth;
  device->launch_seconds = probe.launch_seconds;
  device->memory_latency = probe.memory_latency;
  device->departure_delay = probe.departure_delay;
  device->shared_latency = probe.shared_latency;
  return CUTT_SUCCESS;
}
