/* How fast a GPU multiplies matrices: what planning takes it for, and what it is measured to do.
 *
 * Planning expects a share of the peak speed that large products reach. The peak is that of tensor cores where they compute
 * in the type itself, by compute capability (NVIDIA's data sheets, and CUDA's tables of arithmetic throughput). Nothing is
 * measured for a plan, which must not wait for a GPU that is at work. */
#include <pthread.h>

#include "blas/cublas.h"
#include "model/device.h"
#include "plan/services.h"

/* Multiply-adds of an SM in a clock cycle, from a compute capability on. */
static const struct rate {
  int capability;
  int f64, f32, half;
} rates[] = {{120, 2, 128, 512}, {103, 2, 128, 4096}, {100, 64, 128, 4096}, {90, 128, 128, 2048},
             {86, 2, 128, 512},  {80, 64, 64, 1024},  {75, 2, 64, 512},     {70, 32, 64, 512},
             {61, 4, 128, 128},  {60, 32, 64, 64},    {50, 4, 128, 128},    {0, 64, 192, 192}};

const cutt_runtime *cutt_cublas_runtime(void) { return cutt_backend_of(CUTT_BACKEND_CUDA)->runtime; }

double cutt_cublas_flops(cuttType_t type) {
  const char *why = NULL;
  if (!cutt_cublas_runtime()->driver_version(&why)) return 0;
  const cutt_device *device = (const cutt_device *)cutt_cublas_runtime()->target();
  const int capability = 10 * device->major + device->minor;
  const struct rate *rate = rates;
  while (rate->capability > capability) ++rate;
  const double clocks = 2 * device->clock_hz * device->sms;
  switch (type) {
    case CUTT_F16:
    case CUTT_BF16:
      return 0.7 * clocks * rate->half;
    case CUTT_F64:
    case CUTT_C64:
      return 0.9 * clocks * rate->f64;
    default:
      return 0.9 * clocks * rate->f32;
  }
}

/* -------------------------------------------------------------------------------------------------------- measuring */

enum { SIZE = 4096, SMALL = 1024, RUNS = 3, MOST_GPUS = 64 };

typedef struct bench {
  const cutt_blas *blas;
  void *session;
  cudaStream_t stream;
  cutt_event *from, *to;
  void *memory;
} bench;

/* Seconds of one product; 0: it failed. */
static double run(const bench *b, cuttType_t type, int size) {
  static const float one_f32 = 1, zero_f32 = 0;
  static const double one_f64 = 1, zero_f64 = 0;
  const bool single = type == CUTT_F32;
  const cutt_gemm gemm = {.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size, .batch = 1};
  const size_t bytes = (size_t)size * (size_t)size * (single ? 4 : 8);
  char *memory = b->memory;
  double seconds = 0;
  if (cutt_cublas_runtime()->event_record(b->from, b->stream) ||
      b->blas->gemm(b->blas, b->session, type, &gemm, single ? (const void *)&one_f32 : &one_f64, memory,
                    memory + bytes, single ? (const void *)&zero_f32 : &zero_f64, memory + 2 * bytes) ||
      cutt_cublas_runtime()->event_record(b->to, b->stream) ||
      cutt_cublas_runtime()->event_seconds(b->from, b->to, &seconds)) {
    return 0;
  }
  return seconds;
}

/* Of the large product; of the small one where that shows that the large one would take too long. */
static double measure(const bench *b, cuttType_t type) {
  run(b, type, SMALL); /* the first run loads kernels */
  double best = run(b, type, SMALL);
  const double ratio = (double)SIZE / SMALL;
  if (best <= 0) return 0;
  if (best * ratio * ratio * ratio > 0.1) return 2.0 * SMALL * SMALL * SMALL / best;
  run(b, type, SIZE);
  best = 0;
  for (int i = 0; i < RUNS; ++i) {
    const double seconds = run(b, type, SIZE);
    if (seconds > 0 && (best <= 0 || seconds < best)) best = seconds;
  }
  return best > 0 ? 2.0 * SIZE * SIZE * SIZE / best : 0;
}

/* With numbers other than 0, which take so little power that a GPU may run faster: bytes of 0x3f are 0.75 in float and 4.8e-4
 * in double. */
static bool measure_both(bench *b, double *f64, double *f32) {
  const cutt_runtime *runtime = cutt_cublas_runtime();
  const size_t bytes = 3 * sizeof(double) * SIZE * SIZE;
  if (runtime->side_stream_create(&b->stream)) return false;
  const bool good = !runtime->event_create(true, &b->from) && !runtime->event_create(true, &b->to) &&
                    !runtime->memory_allocate(bytes, &b->memory) &&
                    !runtime->fill_bytes(b->memory, 0x3f, bytes, b->stream);
  if (good && !b->blas->begin(b->blas, b->stream, &b->session)) {
    *f64 = measure(b, CUTT_F64);
    *f32 = measure(b, CUTT_F32);
    b->blas->end(b->blas, b->session);
  }
  runtime->stream_synchronize(b->stream);
  if (b->memory) runtime->memory_free(b->memory);
  if (b->to) runtime->event_destroy(b->to);
  if (b->from) runtime->event_destroy(b->from);
  runtime->stream_release(b->stream);
  return *f64 > 0 && *f32 > 0;
}

/* The measured speed of a GPU. More than MOST_GPUS are not kept, and are measured each time. */
typedef struct measured {
  /* NULL: the entry is free. */
  const cutt_target *gpu;
  double f64, f32;
} measured;

bool cutt_cublas_measure(const cutt_blas *blas, double *f64, double *f32) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static measured known[MOST_GPUS]; /* under the lock */
  *f64 = 0;
  *f32 = 0;
  cutt_scope scope;
  if (cutt_cublas_runtime()->enter(&scope)) return false;
  const cutt_target *gpu = cutt_cublas_runtime()->target();
  pthread_mutex_lock(&lock);
  measured *at = known;
  while (at < known + MOST_GPUS && at->gpu && at->gpu != gpu) ++at;
  const bool room = at < known + MOST_GPUS;
  bool good = room && at->gpu;
  if (good) {
    *f64 = at->f64;
    *f32 = at->f32;
  } else {
    good = measure_both(&(bench){.blas = blas}, f64, f32);
    if (good && room) *at = (measured){gpu, *f64, *f32};
  }
  pthread_mutex_unlock(&lock);
  cutt_cublas_runtime()->leave(&scope);
  return good;
}
