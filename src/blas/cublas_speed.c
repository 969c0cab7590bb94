/* How fast a GPU multiplies matrices: what planning takes it for, and what it is measured to do.
 *
 * Planning takes the peak of the arithmetic units that cuBLAS uses, tensor cores where they compute in the type itself, by
 * compute capability (the makers' data sheets, and CUDA's tables of arithmetic throughput), times a share of it that large
 * products reach. Nothing is run for it: a plan must not wait for a GPU that is at work. */
#include <pthread.h>

#include "base/error.h"
#include "blas/find.h"
#include "plan/lent.h"

/* Multiply-adds of an SM in a clock. */
static const struct rate {
  int capability; /* from this one on */
  int f64, f32, half;
} rates[] = {{120, 2, 128, 512}, {103, 2, 128, 4096}, {100, 64, 128, 4096}, {90, 128, 128, 2048},
             {86, 2, 128, 512},  {80, 64, 64, 1024},  {75, 2, 64, 512},     {70, 32, 64, 512},
             {61, 4, 128, 128},  {60, 32, 64, 64},    {50, 4, 128, 128},    {0, 64, 192, 192}};

static const cutt_cuda_gpu *this_gpu(void) {
  const char *why = NULL;
  const cutt_cu *cu = cutt_cuda_driver(&why);
  return cu ? cutt_cuda_gpu_current(cu) : NULL;
}

double cutt_cublas_flops(cuttType_t type) {
  const cutt_cuda_gpu *gpu = this_gpu();
  if (!gpu) return 0;
  const int capability = 10 * gpu->facts.major + gpu->facts.minor;
  const struct rate *rate = rates;
  while (rate->capability > capability) ++rate;
  const double clocks = 2 * gpu->facts.clock_hz * gpu->facts.sms;
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
  const cutt_cu *cu;
  const cutt_blas *blas;
  void *session;
  cudaStream_t stream;
  cutt_cu_event from, to;
  cutt_cu_address memory;
} bench;

/* Seconds of one product; 0: it failed. */
static double run(const bench *b, cuttType_t type, int size) {
  static const float one_f32 = 1, zero_f32 = 0;
  static const double one_f64 = 1, zero_f64 = 0;
  const bool single = type == CUTT_F32;
  const cutt_gemm gemm = {.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size, .batch = 1};
  const size_t bytes = (size_t)size * (size_t)size * (single ? 4 : 8);
  char *memory = (char *)(uintptr_t)b->memory;
  float milliseconds = 0;
  if (b->cu->event_record(b->from, b->stream) ||
      b->blas->gemm(b->blas, b->session, type, &gemm, single ? (const void *)&one_f32 : &one_f64, memory,
                    memory + bytes, single ? (const void *)&zero_f32 : &zero_f64, memory + 2 * bytes) ||
      b->cu->event_record(b->to, b->stream) || b->cu->event_synchronize(b->to) ||
      b->cu->event_elapsed_time(&milliseconds, b->from, b->to)) {
    return 0;
  }
  return 1e-3 * (double)milliseconds;
}

/* A GPU that is slow in this type is not given the large product. */
static double measure(const bench *b, cuttType_t type) {
  run(b, type, SMALL); /* loads kernels */
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

/* On numbers that are not all 0, which would let a GPU that is short of power run faster than it does with others: bytes
 * of 0x3f are 0.75 in float and 4.8e-4 in double. */
static bool measure_both(bench *b, double *f64, double *f32) {
  const size_t bytes = 3 * sizeof(double) * SIZE * SIZE;
  const cutt_cu *cu = b->cu;
  bool good = !cu->stream_create(&b->stream, CUTT_CU_STREAM_NON_BLOCKING);
  if (!good) return false;
  good = !cu->event_create(&b->from, CUTT_CU_EVENT_DEFAULT);
  if (good && cu->event_create(&b->to, CUTT_CU_EVENT_DEFAULT)) {
    b->to = NULL;
    good = false;
  }
  if (good && cu->mem_alloc(&b->memory, bytes)) {
    b->memory = 0;
    good = false;
  }
  if (good) good = !cu->memset_d8_async(b->memory, 0x3f, bytes, b->stream);
  if (good && !b->blas->begin(b->blas, b->stream, &b->session)) {
    *f64 = measure(b, CUTT_F64);
    *f32 = measure(b, CUTT_F32);
    b->blas->end(b->blas, b->session);
  }
  cu->stream_synchronize(b->stream);
  if (b->memory) cu->mem_free(b->memory);
  if (b->to) cu->event_destroy(b->to);
  if (b->from) cu->event_destroy(b->from);
  cu->stream_destroy(b->stream);
  return *f64 > 0 && *f32 > 0;
}

bool cutt_cublas_measure(const cutt_blas *blas, double *f64, double *f32) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct { double f64, f32; } known[MOST_GPUS]; /* under the lock; 0: not yet */
  *f64 = 0;
  *f32 = 0;
  cutt_cuda_scope scope;
  if (cutt_cuda_enter(&scope)) return false;
  const cutt_cuda_gpu *gpu = cutt_cuda_gpu_current(scope.cu);
  const int number = gpu && gpu->handle >= 0 && gpu->handle < MOST_GPUS ? gpu->handle : -1;
  bool good = false;
  if (number >= 0) {
    pthread_mutex_lock(&lock);
    good = known[number].f64 > 0;
    if (good) {
      *f64 = known[number].f64;
      *f32 = known[number].f32;
    } else if (measure_both(&(bench){.cu = scope.cu, .blas = blas}, f64, f32)) {
      good = true;
      known[number].f64 = *f64;
      known[number].f32 = *f32;
    }
    pthread_mutex_unlock(&lock);
  }
  cutt_cuda_leave(&scope);
  return good;
}
