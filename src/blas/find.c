/* The libraries that multiply matrices: which there are, how fast they are, and which one a contraction gets.
 *
 * They are looked for once in a process, at the first call that needs one. All that are found are loaded, one of each name, and
 * each is measured for some milliseconds. Names and versions do not tell which one is fastest: on a processor that one library
 * knows and another does not, they may differ by a factor of five. A user who knows better sets CUTT_CBLAS, and that library
 * alone is loaded; or asks for one by path, which is loaded besides.
 *
 * A library that the process has already comes before another of the same name, since two versions of one library in a process
 * may disturb each other. Next comes what CMake found when cuTT was built, and then what the loader finds.
 *
 * cuBLAS is looked for apart from the others, since loading it takes a second and much memory.
 *
 * Process-wide state: the two lists, each written once; and the libraries, which cblas_load.c and cublas.c keep. */
#include "blas/find.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/types.h"
#include "plan/services.h"

#ifndef CUTT_CBLAS_FOUND
#define CUTT_CBLAS_FOUND "" /* by CMake */
#endif

/* File names that the loader searches. The last two are links to any library, maybe to one that has another name here too. */
static const struct {
  const char *file, *kind;
} sonames[] = {{"libopenblas.so.0", "openblas"}, {"libopenblas.so", "openblas"}, {"libblis.so.4", "blis"},
               {"libblis.so.3", "blis"},         {"libblis.so.5", "blis"},       {"libblis.so", "blis"},
               {"libmkl_rt.so.2", "mkl"},        {"libmkl_rt.so.1", "mkl"},      {"libmkl_rt.so", "mkl"},
               {"libcblas.so.3", "cblas"},       {"libblas.so.3", "cblas"}};
enum { SONAMES = sizeof sonames / sizeof *sonames, MOST = 6, MISSING_SIZE = 2048 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a library is loaded */
static pthread_once_t once_cpu = PTHREAD_ONCE_INIT, once_gpu = PTHREAD_ONCE_INIT;
/* Written once, under these; the fastest library first, ended by NULL. */
static cutt_blas *cpu[MOST + 1], *gpu[2];
static char missing_cpu[MISSING_SIZE], missing_gpu[CUTT_WHY_SIZE];

/* -------------------------------------------------------------------------------------------------------- measuring */

enum { SIZE = 320, SMALL = 128, MOST_RUNS = 5, TINY_RUNS = 20 };

typedef struct matrices {
  cuttType_t type;
  void *memory; /* of three matrices of SIZE */
} matrices;

/* The processor's time of the calling thread, which alone multiplies: on a busy machine a product is interrupted, and that must
 * not make another library the faster one. */
static double thread_seconds(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return cutt_clock();
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double run(const cutt_blas *blas, void *session, const matrices *on, int size, double (*clock_of)(void)) {
  static const float one_f32 = 1, zero_f32 = 0;
  static const double one_f64 = 1, zero_f64 = 0;
  const cutt_gemm gemm = {.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size, .batch = 1};
  const bool single = on->type == CUTT_F32;
  const void *one = single ? (const void *)&one_f32 : &one_f64, *zero = single ? (const void *)&zero_f32 : &zero_f64;
  const size_t bytes = (size_t)SIZE * SIZE * (single ? 4 : 8);
  char *a = on->memory, *b = a + bytes, *c = b + bytes;
  const double start = clock_of();
  if (blas->gemm(blas, session, on->type, &gemm, one, a, b, zero, c)) return 0;
  return clock_of() - start;
}

/* The best of a few runs that together take little time: if the small product shows that the large one would take too long,
 * only the small one is measured. */
static double measure(const cutt_blas *blas, void *session, const matrices *on) {
  static const double budget = 4e-3;
  for (int i = 0; i < 2 * SIZE * SIZE; ++i) {
    const double value = i % 17 / 16.0 - 0.5;
    if (on->type == CUTT_F32) {
      ((float *)on->memory)[i] = (float)value;
    } else {
      ((double *)on->memory)[i] = value;
    }
  }
  run(blas, session, on, SMALL,
      thread_seconds); /* the first call allocates the library's buffers, which OpenBLAS does above 100^3 */
  double best = run(blas, session, on, SMALL, thread_seconds), spent = best;
  const double ratio = (double)SIZE / SMALL;
  const int size = best * ratio * ratio * ratio < budget / 2 ? SIZE : SMALL;
  if (size == SIZE) best = run(blas, session, on, SIZE, thread_seconds);
  for (int i = 0; i < MOST_RUNS && spent < budget; ++i) {
    const double seconds = run(blas, session, on, size, thread_seconds);
    spent += seconds;
    if (seconds < best) best = seconds;
  }
  return best > 0 ? 2.0 * size * size * size / best : 0;
}

/* The best of some runs of a product that is so small that the call takes much of the time. Few of those microseconds are
 * interrupted, and to ask for the processor's time would take as long. */
static double measure_tiny(const cutt_blas *blas, void *session, void *memory) {
  const matrices on = {CUTT_F64, memory};
  double best = 0;
  for (int i = 0; i < TINY_RUNS; ++i) {
    const double seconds = run(blas, session, &on, CUTT_TINY, cutt_clock);
    if (best <= 0 || seconds < best) best = seconds;
  }
  return best;
}

static double measure_type(const cutt_blas *blas, void *session, cuttType_t type, void *memory) {
  return blas->takes(blas, type) ? measure(blas, session, &(matrices){type, memory}) : 0;
}

static void measure_all(cutt_blas *blas) {
  void *memory = malloc(3 * sizeof(double) * SIZE * SIZE), *session = NULL;
  if (!memory || blas->begin(blas, NULL, &session)) {
    free(memory);
    return; /* speeds of 0: it comes last */
  }
  memset(memory, 0, 3 * sizeof(double) * SIZE * SIZE);
  blas->flops = measure_type(blas, session, CUTT_F64, memory);
  if (blas->flops > 0)
    blas->tiny_seconds = measure_tiny(blas, session, memory); /* of the numbers that measure_type has written */
  blas->flops_f32 = measure_type(blas, session, CUTT_F32, memory);
  blas->end(blas, session);
  free(memory);
  cutt_log(CUTT_LOG_INFO, "products by %s, %s: %.1f GFLOP/s in one thread (f64), %.1f (f32)%s%s", blas->name,
           blas->path, blas->flops * 1e-9, blas->flops_f32 * 1e-9, *blas->environment_override ? "; faster with " : "",
           blas->environment_override);
}

/* ---------------------------------------------------------------------------------------------------------- looking */

static bool have(const char *kind) {
  for (int i = 0; cpu[i]; ++i) {
    if (strcmp(cpu[i]->name, kind) == 0) return true;
  }
  return false;
}

static void miss(const char *text) {
  const size_t length = strlen(missing_cpu);
  snprintf(missing_cpu + length, sizeof missing_cpu - length, "%s%s", length ? ", " : "", text);
}

/* Loads a library, and adds it to the list if it is the first of its name. Why one is refused is noted, unless it was only
 * looked for in the process. False: there is no room for it, nor for others of its name. */
static bool try(const char *file, bool resident) {
  cutt_refusal refusal;
  cutt_blas *blas = cutt_cblas_load(file, resident, &refusal);
  if (!blas) {
    if (!resident || refusal.no_room) miss(refusal.missing ? file : refusal.why);
    return !refusal.no_room;
  }
  int count = 0;
  while (cpu[count]) ++count;
  if (count < MOST && !have(blas->name)) cpu[count] = blas;
  return true;
}

/* The library that CMake found, unless the process has one of its name. */
static void try_found(void) {
  static const char file[] = CUTT_CBLAS_FOUND;
  const char *last = strrchr(file, '/');
  if (!last) return;
  for (int i = 0; i < SONAMES; ++i) {
    if (have(sonames[i].kind) && strstr(last, sonames[i].kind)) return;
  }
  try(file, false);
}

/* How good a library is for contractions, which are often many small products: the geometric mean of its speeds in large and in
 * tiny ones. */
static double merit(const cutt_blas *blas, bool single) {
  const double large = single ? blas->flops_f32 : blas->flops, n = CUTT_TINY;
  return blas->tiny_seconds > 0 ? sqrt(large * 2 * n * n * n / blas->tiny_seconds) : 0;
}

/* Is one library a better choice than another? It has to be 5 % better, so that two equal ones are in the same order in every
 * process. */
static bool better(const cutt_blas *one, const cutt_blas *other, bool single) {
  if (one->one_at_a_time != other->one_at_a_time) return other->one_at_a_time;
  return merit(one, single) > 1.05 * merit(other, single);
}

static void sort(void) {
  int count = 0;
  while (cpu[count]) ++count;
  for (int i = 1; i < count; ++i) {
    cutt_blas *one = cpu[i];
    int j = i;
    for (; j > 0 && better(one, cpu[j - 1], false); --j) cpu[j] = cpu[j - 1];
    cpu[j] = one;
  }
}

static void look_cpu(void) {
  const char *named = getenv("CUTT_CBLAS");
  pthread_mutex_lock(&lock);
  if (named && *named) {
    try(named, false);
    if (!cpu[0]) miss("nothing else, since CUTT_CBLAS names this one");
  } else {
    for (int i = 0; i < SONAMES; ++i) try(sonames[i].file, true);
    try_found();
    const char *too_large = "";
    for (int i = 0; i < SONAMES; ++i) {
      const char *kind = sonames[i].kind;
      if (!have(kind) && strcmp(kind, too_large) != 0 && !try(sonames[i].file, false)) too_large = kind;
    }
  }
  for (int i = 0; cpu[i]; ++i) measure_all(cpu[i]);
  sort();
  pthread_mutex_unlock(&lock);
}

static void look_gpu(void) {
  cutt_refusal refusal;
  pthread_mutex_lock(&lock);
  gpu[0] = cutt_cublas_load(NULL, &refusal);
  pthread_mutex_unlock(&lock);
  if (!gpu[0]) snprintf(missing_gpu, sizeof missing_gpu, "%s", refusal.why);
}

const cutt_blas *const *cutt_blas_libraries(cuttBackend_t backend, const char **missing) {
  const bool is_gpu = backend == CUTT_BACKEND_CUDA;
  if (is_gpu) {
    pthread_once(&once_gpu, look_gpu);
  } else {
    pthread_once(&once_cpu, look_cpu);
  }
  *missing = is_gpu ? missing_gpu : missing_cpu;
  return (const cutt_blas *const *)(is_gpu ? gpu : cpu);
}

/* --------------------------------------------------------------------------------------------------------- choosing */

static const char *backend_text(cuttBackend_t backend) { return backend == CUTT_BACKEND_CUDA ? "a GPU" : "the CPU"; }

static bool is_name_of(cuttBackend_t backend, const char *name) {
  if (backend == CUTT_BACKEND_CUDA) return strcmp(name, "cublas") == 0;
  for (int i = 0; i < SONAMES; ++i) {
    if (strcmp(name, sonames[i].kind) == 0) return true;
  }
  return false;
}

/* One that is asked for by path, measured when it is new. */
static cuttResult find_path(cuttBackend_t backend, const char *path, const char *argument, const cutt_blas **blas) {
  cutt_refusal refusal;
  pthread_mutex_lock(&lock);
  cutt_blas *loaded =
      backend == CUTT_BACKEND_CUDA ? cutt_cublas_load(path, &refusal) : cutt_cblas_load(path, false, &refusal);
  if (loaded && backend != CUTT_BACKEND_CUDA && loaded->flops <= 0) measure_all(loaded);
  pthread_mutex_unlock(&lock);
  *blas = loaded;
  return loaded
             ? CUTT_SUCCESS
             : cutt_error(CUTT_INVALID_PARAMETER, "%s is '%s', which can't be used: %s", argument, path, refusal.why);
}

static cuttResult none(cuttBackend_t backend, const char *missing) {
  if (backend == CUTT_BACKEND_CUDA) {
    return cutt_error(CUTT_INVALID_DEVICE, "no library multiplies matrices on a GPU here: %s", missing);
  }
  return cutt_error(CUTT_INVALID_DEVICE,
                    "no library multiplies matrices on the CPU here; looked for: %s. Any with the CBLAS interface will "
                    "do (Debian: libopenblas0-openmp); the environment variable CUTT_CBLAS can name one",
                    missing);
}

static cuttResult find_name(cuttBackend_t backend, const char *name, const char *argument, const cutt_blas **blas) {
  const cuttBackend_t other = backend == CUTT_BACKEND_CUDA ? CUTT_BACKEND_CPU : CUTT_BACKEND_CUDA;
  if (!is_name_of(backend, name)) {
    if (is_name_of(other, name)) {
      return cutt_error(CUTT_INVALID_PARAMETER, "%s is '%s', which is for %s; the contraction is planned for %s",
                        argument, name, backend_text(other), backend_text(backend));
    }
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is '%s'; it must be %s, or a path with a '/'", argument, name,
                      backend == CUTT_BACKEND_CUDA ? "cublas" : "openblas, blis, mkl or cblas");
  }
  const char *missing = NULL;
  const cutt_blas *const *list = cutt_blas_libraries(backend, &missing);
  while (*list && strcmp((*list)->name, name) != 0) ++list;
  *blas = *list;
  if (*list) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_DEVICE, "%s is '%s', which was not found here%s%s", argument, name,
                    *missing ? "; looked for: " : ": CUTT_CBLAS names another library", missing);
}

static cuttResult find_fastest(cuttBackend_t backend, cuttType_t type, const cutt_blas **blas) {
  const char *missing = NULL;
  const cutt_blas *const *list = cutt_blas_libraries(backend, &missing), *best = NULL;
  const bool single = type == CUTT_F32 || type == CUTT_C32;
  if (!*list) return none(backend, missing);
  for (int i = 0; list[i]; ++i) {
    if (list[i]->takes(list[i], type) && (!best || better(list[i], best, single))) best = list[i];
  }
  *blas = best ? best : list[0]; /* the caller refuses the type */
  return CUTT_SUCCESS;
}

cuttResult cutt_blas_find(cuttBackend_t backend, const char *asked, const char *argument, cuttType_t type,
                          const cutt_blas **blas) {
  *blas = NULL;
  const cuttResult result = !asked               ? find_fastest(backend, type, blas)
                            : strchr(asked, '/') ? find_path(backend, asked, argument, blas)
                                                 : find_name(backend, asked, argument, blas);
  const cutt_blas *one = *blas;
  if (result || !one) return result;
  if (backend != CUTT_BACKEND_CUDA) cutt_cblas_note_limits(one);
  if (one->takes(one, type)) return CUTT_SUCCESS;
  *blas = NULL;
  const cutt_type_info *info = cutt_type_lookup(type);
  return cutt_error(CUTT_INVALID_DEVICE, "type is %s, which %s does not multiply%s", info ? info->name : "unknown",
                    one->name,
                    backend == CUTT_BACKEND_CUDA ? "; it must be f32, f64, c32, c64, f16 or bf16"
                                                 : " on the CPU; it must be f32, f64, c32 or c64, and on a GPU cuBLAS "
                                                   "takes f16 and bf16 too");
}

double cutt_blas_speed(const cutt_blas *blas, cuttType_t type) {
  if (blas->backend == CUTT_BACKEND_CUDA) return cutt_cublas_flops(type);
  return type == CUTT_F32 || type == CUTT_C32 ? blas->flops_f32 : blas->flops;
}
