/* Matrix products of a GPU by cuBLAS, found at run time like the driver, without its headers.
 *
 * **Which one.** The release that is in the process already, if any (two of them are a gigabyte of code), else the newest
 * that the driver is not too old for; CUTT_CUBLAS names another. Nothing is loaded where no GPU can be used.
 *
 * **Numbers.** Products are computed as their type says, never in TF32, and halves are added up in float throughout, also
 * where cuBLAS splits k: its default there is to add up parts in half.
 *
 * **Handles.** Making one takes milliseconds and device memory, so idle ones are kept in a pool, and an execution takes one
 * of its context. A handle owns a workspace that kernels may still be using when the handle is taken again, so an event is
 * recorded after its work, and the next stream waits for that. Captures have handles of their own, which need no event:
 * captured work has its workspace from the graph, and a capture may not wait for work outside of it. A handle of a context
 * that has been destroyed stays in the pool and is not used again (if the driver numbers its contexts, see
 * runtime/cuda/state.c).
 *
 * cuBLASLt's handles have none of that (cublas_lt.c): there is one for each context.
 *
 * Process-wide state: the libraries, and their handles under a mutex. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "blas/blocks.h"
#include "blas/cublas.h"
#include "blas/load.h"
#include "model/device.h"
#include "plan/services.h"

enum { /* cublasStatus_t */
       CUBLAS_NOT_INITIALIZED = 1,
       CUBLAS_ARCH_MISMATCH = 8,
       CUBLAS_NOT_SUPPORTED = 15
};
enum { POINTERS_TO_HOST = 0, MATH_DEFAULT = 0, MATH_NO_REDUCED_PRECISION_REDUCTION = 16, ALGORITHM_DEFAULT = -1 };

typedef cublas_status gemm_ex(cublas_handle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
                              const void *a, int type_a, int lda, const void *b, int type_b, int ldb, const void *beta,
                              void *c, int type_c, int ldc, int compute, int algorithm);
typedef cublas_status gemm_ex_64(cublas_handle handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k,
                                 const void *alpha, const void *a, int type_a, int64_t lda, const void *b, int type_b,
                                 int64_t ldb, const void *beta, void *c, int type_c, int64_t ldc, int compute,
                                 int algorithm);
typedef cublas_status gemm_batched(cublas_handle handle, int op_a, int op_b, int m, int n, int k, const void *alpha,
                                   const void *a, int type_a, int lda, long long stride_a, const void *b, int type_b,
                                   int ldb, long long stride_b, const void *beta, void *c, int type_c, int ldc,
                                   long long stride_c, int batch, int compute, int algorithm);
typedef cublas_status gemm_batched_64(cublas_handle handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k,
                                      const void *alpha, const void *a, int type_a, int64_t lda, long long stride_a,
                                      const void *b, int type_b, int64_t ldb, long long stride_b, const void *beta,
                                      void *c, int type_c, int64_t ldc, long long stride_c, int64_t batch, int compute,
                                      int algorithm);

/* A handle: idle in the pool, or the session of an execution. */
typedef struct pooled_handle {
  cublas_handle handle;
  cutt_context context;
  /* The last one that it was used in. */
  cudaStream_t stream;
  bool for_captures;
  /* Recorded after its work, if there has been any (used). */
  cutt_event *done;
  bool used;
  struct pooled_handle *next;
} pooled_handle;

typedef struct lt_handle {
  cublas_handle handle;
  cutt_context context;
  struct lt_handle *next;
} lt_handle;

typedef struct cublas {
  cutt_blas base;
  cublas_status (*create)(cublas_handle *handle);
  cublas_status (*destroy)(cublas_handle handle);
  cublas_status (*set_stream)(cublas_handle handle, cudaStream_t stream);
  cublas_status (*set_pointer_mode)(cublas_handle handle, int mode);
  cublas_status (*set_math_mode)(cublas_handle handle, int mode);
  gemm_ex *gemm;
  gemm_batched *gemm_batched;
  /* Since 12.0; NULL before. */
  gemm_ex_64 *gemm_64;
  gemm_batched_64 *gemm_batched_64;
  const char *(*text_of)(cublas_status status); /* since 11.4; NULL before */
  const cublas_lt *lt;                          /* NULL: there is none */

  pthread_mutex_t lock;
  /* The pool; the handle that came back last is first. */
  pooled_handle *idle;
  pooled_handle *lost; /* nobody knows when their work is done */
  /* One of each context that has planned a product. */
  lt_handle *lt_handles;
  struct cublas *next;
} cublas;

static cublas *libraries; /* see cutt_cublas_load for who may write it */

static cuttResult failed(const cublas *library, cublas_status status, const char *doing) {
  const bool device =
      status == CUBLAS_NOT_INITIALIZED || status == CUBLAS_ARCH_MISMATCH || status == CUBLAS_NOT_SUPPORTED;
  return cutt_error(device ? CUTT_INVALID_DEVICE : CUTT_INTERNAL_ERROR, "%s failed: cuBLAS %s says %s (%d)", doing,
                    library->base.version, library->text_of ? library->text_of(status) : "an error", status);
}

/* ---------------------------------------------------------------------------------------------------------- handles */

static void destroy_handle(const cublas *library, pooled_handle *one) {
  if (one->handle) library->destroy(one->handle);
  if (one->done) cutt_cublas_runtime()->event_destroy(one->done);
  free(one);
}

/* NULL, with the error worded, on failure. */
static pooled_handle *make(const cublas *library, cuttResult *result) {
  pooled_handle *one = calloc(1, sizeof *one);
  if (!one) {
    *result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a cuBLAS handle", sizeof *one);
    return NULL;
  }
  cublas_status status = library->create(&one->handle);
  if (!status) status = library->set_pointer_mode(one->handle, POINTERS_TO_HOST);
  if (!status) status = library->set_math_mode(one->handle, MATH_DEFAULT | MATH_NO_REDUCED_PRECISION_REDUCTION);
  if (status) {
    *result = failed(library, status, "making a cuBLAS handle");
    destroy_handle(library, one);
    return NULL;
  }
  *result = cutt_cublas_runtime()->event_create(false, &one->done);
  if (*result) {
    one->done = NULL;
    destroy_handle(library, one);
    return NULL;
  }
  return one;
}

static bool is_same(cutt_context a, cutt_context b) { return a.handle == b.handle && a.number == b.number; }

/* An idle handle of the context, best one that was used in this stream; NULL: there is none. */
static pooled_handle *take(cublas *library, cutt_context context, cudaStream_t stream, bool capturing) {
  pooled_handle **best = NULL;
  pthread_mutex_lock(&library->lock);
  for (pooled_handle **at = &library->idle; *at; at = &(*at)->next) {
    const pooled_handle *one = *at;
    if (!is_same(one->context, context) || one->for_captures != capturing) continue;
    if (!best || (one->stream == stream && (*best)->stream != stream)) best = at;
  }
  pooled_handle *taken = best ? *best : NULL;
  if (taken) *best = taken->next;
  pthread_mutex_unlock(&library->lock);
  return taken;
}

static void give_back(cublas *library, pooled_handle *one) {
  pthread_mutex_lock(&library->lock);
  one->next = library->idle;
  library->idle = one;
  pthread_mutex_unlock(&library->lock);
}

static cuttResult begin(const cutt_blas *blas, cudaStream_t stream, void **session) {
  cublas *library = (cublas *)(uintptr_t)blas;
  cutt_context context = {NULL, 0};
  bool captured = false;
  cuttResult result = cutt_cublas_runtime()->context(&context);
  if (!result) result = cutt_cublas_runtime()->stream_is_captured(stream, &captured);
  if (result) return result;
  pooled_handle *one = take(library, context, stream, captured);
  if (!one) {
    one = make(library, &result);
    if (!one) return result;
    one->context = context;
    one->for_captures = captured;
  }
  /* Also where the streams are equal: one with this address may have been destroyed while it had work. */
  if (one->used) result = cutt_cublas_runtime()->stream_wait(stream, one->done);
  if (!result) {
    const cublas_status status = library->set_stream(one->handle, stream);
    if (status) result = failed(library, status, "binding cuBLAS to the stream");
  }
  if (result) {
    give_back(library, one);
    return result;
  }
  one->used = !captured;
  one->stream = stream;
  *session = one;
  return CUTT_SUCCESS;
}

static void end(const cutt_blas *blas, void *session) {
  cublas *library = (cublas *)(uintptr_t)blas;
  pooled_handle *one = session;
  if (one->used && cutt_cublas_runtime()->event_record(one->done, one->stream)) {
    /* It can't be known when its work is done, so it does not go back. (The execution reports what is wrong.) */
    pthread_mutex_lock(&library->lock);
    one->next = library->lost;
    library->lost = one;
    pthread_mutex_unlock(&library->lock);
    cutt_log(CUTT_LOG_WARN, "a cuBLAS handle is lost: no event could be recorded after its work");
    return;
  }
  give_back(library, one);
}

/* --------------------------------------------------------------------------------------------------------- products */

/* CUTT_OP_N, T and C are cuBLAS's 0, 1 and 2. */
static cublas_status multiply(const cublas *library, cublas_handle handle, const cutt_gemm_operands *on,
                              const cutt_gemm *g) {
  const cublas_types t = cutt_cublas_types_of(on->type);
  const int op_a = (int)g->op_a, op_b = (int)g->op_b;
  if (cutt_gemm_fits(g)) {
    const int m = (int)g->m, n = (int)g->n, k = (int)g->k, lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    if (g->batch > 1) {
      return library->gemm_batched(handle, op_a, op_b, m, n, k, on->alpha, on->a, t.data, lda, g->stride_a, on->b,
                                   t.data, ldb, g->stride_b, on->beta, on->c, t.data, ldc, g->stride_c, (int)g->batch,
                                   t.compute, ALGORITHM_DEFAULT);
    }
    return library->gemm(handle, op_a, op_b, m, n, k, on->alpha, on->a, t.data, lda, on->b, t.data, ldb, on->beta,
                         on->c, t.data, ldc, t.compute, ALGORITHM_DEFAULT);
  }
  if (g->batch > 1) {
    return library->gemm_batched_64(handle, op_a, op_b, g->m, g->n, g->k, on->alpha, on->a, t.data, g->lda, g->stride_a,
                                    on->b, t.data, g->ldb, g->stride_b, on->beta, on->c, t.data, g->ldc, g->stride_c,
                                    g->batch, t.compute, ALGORITHM_DEFAULT);
  }
  return library->gemm_64(handle, op_a, op_b, g->m, g->n, g->k, on->alpha, on->a, t.data, g->lda, on->b, t.data, g->ldb,
                          on->beta, on->c, t.data, g->ldc, t.compute, ALGORITHM_DEFAULT);
}

typedef struct with_handle {
  const cublas *library;
  cublas_handle handle;
} with_handle;

static cuttResult product_failed(const cublas *library, cublas_status status, const cutt_gemm *g) {
  char doing[160];
  snprintf(doing, sizeof doing, "a product of m = %lld, n = %lld, k = %lld, %lld of them,", (long long)g->m,
           (long long)g->n, (long long)g->k, (long long)g->batch);
  return failed(library, status, doing);
}

static cuttResult multiply_block(void *with, const cutt_gemm_operands *on, const cutt_gemm *g) {
  const with_handle *it = with;
  const cublas_status status = multiply(it->library, it->handle, on, g);
  return status ? product_failed(it->library, status, g) : CUTT_SUCCESS;
}

static cuttResult gemm(const cutt_blas *blas, void *session, cuttType_t type, const cutt_gemm *g, const void *alpha,
                       const void *a, const void *b, const void *beta, void *c) {
  const cublas *library = (const cublas *)(const void *)blas;
  const pooled_handle *one = session;
  with_handle with = {library, one->handle};
  const cutt_gemm_operands on = {.type = type, .alpha = alpha, .a = a, .b = b, .beta = beta, .c = c};
  if (cutt_gemm_fits(g) || (library->gemm_64 && library->gemm_batched_64)) return multiply_block(&with, &on, g);
  return cutt_gemm_by_blocks(&on, g, multiply_block, &with);
}

/* ------------------------------------------------------------------------------------------ algorithms to be chosen from */

/* Under the lock. NULL, with the error worded, on failure. */
static lt_handle *make_lt_handle(cublas *library, cutt_context context, cuttResult *result) {
  lt_handle *one = malloc(sizeof *one);
  if (!one) {
    *result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a cuBLASLt handle", sizeof *one);
    return NULL;
  }
  const cublas_status status = cutt_cublas_lt_handle(library->lt, &one->handle);
  if (status) {
    *result = failed(library, status, "making a cuBLASLt handle");
    free(one);
    return NULL;
  }
  one->context = context;
  one->next = library->lt_handles;
  library->lt_handles = one;
  return one;
}

/* cuBLASLt's handle of the current context, which is made once. */
static cuttResult find_lt_handle(cublas *library, cublas_handle *handle) {
  cutt_context context = {NULL, 0};
  cuttResult result = cutt_cublas_runtime()->context(&context);
  if (result) return result;
  pthread_mutex_lock(&library->lock);
  const lt_handle *one = library->lt_handles;
  while (one && !is_same(one->context, context)) one = one->next;
  if (!one) one = make_lt_handle(library, context, &result);
  pthread_mutex_unlock(&library->lock);
  if (one) *handle = one->handle;
  return result;
}

static cuttResult algorithms(const cutt_blas *blas, const cutt_gemm_case *of,
                             cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS], int *count) {
  cublas *library = (cublas *)(uintptr_t)blas;
  cublas_handle handle = NULL;
  const cuttResult result = find_lt_handle(library, &handle);
  *count = 0;
  return result ? result : cutt_cublas_lt_list(library->lt, handle, of, list, count);
}

static cuttResult choose(const cutt_blas *blas, const cutt_gemm_case *of, const cutt_gemm_algorithm *algorithm,
                         cutt_gemm_chosen **chosen) {
  cublas *library = (cublas *)(uintptr_t)blas;
  cublas_handle handle = NULL;
  const cuttResult result = find_lt_handle(library, &handle);
  *chosen = NULL;
  return result ? result : cutt_cublas_lt_choose(library->lt, handle, of, algorithm, chosen);
}

static void forget(const cutt_blas *blas, cutt_gemm_chosen *chosen) {
  cutt_cublas_lt_forget(((const cublas *)(const void *)blas)->lt, chosen);
}

static cuttResult gemm_chosen(const cutt_blas *blas, const cutt_gemm_chosen *chosen, const void *alpha, const void *a,
                              const void *b, const void *beta, void *c, void *workspace, cudaStream_t stream) {
  const cublas *library = (const cublas *)(const void *)blas;
  const cutt_gemm_operands on = {.type = chosen->of.type, .alpha = alpha, .a = a, .b = b, .beta = beta, .c = c};
  const cublas_status status = cutt_cublas_lt_multiply(library->lt, chosen, &on, workspace, stream);
  return status ? product_failed(library, status, &chosen->of.gemm) : CUTT_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------------- the library */

static bool takes(const cutt_blas *blas, cuttType_t type) {
  (void)blas;
  const cutt_device *device = (const cutt_device *)cutt_cublas_runtime()->target();
  const int capability = 10 * device->major + device->minor;
  switch (type) {
    case CUTT_F32:
    case CUTT_F64:
    case CUTT_C32:
    case CUTT_C64:
      return true;
    case CUTT_F16:
      return capability >= 53;
    case CUTT_BF16:
      return capability >= 80;
    default:
      return false;
  }
}

/* ---------------------------------------------------------------------------------------------------------- loading */

/* Looks up all functions. Returns the name of a needed one that it lacks, or NULL. */
static const char *find_all(cublas *library, void *handle) {
  const struct {
    const char *name;
    void *function;
  } needed[] = {{"cublasCreate_v2", &library->create},
                {"cublasDestroy_v2", &library->destroy},
                {"cublasSetStream_v2", &library->set_stream},
                {"cublasSetPointerMode_v2", &library->set_pointer_mode},
                {"cublasSetMathMode", &library->set_math_mode},
                {"cublasGemmEx", &library->gemm},
                {"cublasGemmStridedBatchedEx", &library->gemm_batched}};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; ++i) {
    if (!cutt_library_find(handle, needed[i].name, needed[i].function)) return needed[i].name;
  }
  cutt_library_find(handle, "cublasGemmEx_64", &library->gemm_64);
  cutt_library_find(handle, "cublasGemmStridedBatchedEx_64", &library->gemm_batched_64);
  cutt_library_find(handle, "cublasGetStatusString", &library->text_of);
  return NULL;
}

static void describe(cublas *library, void *handle, const char *file) {
  cublas_status (*get_property)(int which, int *value) = NULL;
  int version[3] = {0, 0, 0};
  if (cutt_library_find(handle, "cublasGetProperty", &get_property)) {
    for (int i = 0; i < 3; ++i) {
      if (get_property(i, &version[i])) version[i] = 0;
    }
    snprintf(library->base.version, sizeof library->base.version, "%d.%d.%d", version[0], version[1], version[2]);
  }
  cutt_library_path(dlsym(handle, "cublasCreate_v2"), file, library->base.path, sizeof library->base.path);
}

static cublas *load(const char *file, bool resident, cutt_refusal *refusal) {
  void *handle = cutt_library_open(file, resident, refusal);
  if (!handle) return NULL;
  cublas *library = calloc(1, sizeof *library);
  if (!library || pthread_mutex_init(&library->lock, NULL)) {
    snprintf(refusal->why, sizeof refusal->why, "out of memory: %zu bytes for %s", sizeof *library, file);
    free(library);
    return NULL;
  }
  const char *lacking = find_all(library, handle);
  if (lacking) {
    snprintf(refusal->why, sizeof refusal->why, "%s is not cuBLAS of 11.0 or later: it has no %s", file, lacking);
    free(library);
    dlclose(handle);
    return NULL;
  }
  for (cublas *known = libraries; known; known = known->next) {
    if (known->create != library->create) continue;
    free(library);
    dlclose(handle); /* it stays, by its first handle */
    return known;
  }
  library->base = (cutt_blas){
      .name = "cublas", .backend = CUTT_BACKEND_CUDA, .takes = takes, .begin = begin, .end = end, .gemm = gemm};
  library->lt = cutt_cublas_lt_find(handle);
  if (library->lt) {
    library->base.algorithms = algorithms;
    library->base.choose = choose;
    library->base.forget = forget;
    library->base.gemm_chosen = gemm_chosen;
  }
  describe(library, handle, file);
  library->base.flops = cutt_cublas_flops(CUTT_F64);
  library->base.flops_f32 = cutt_cublas_flops(CUTT_F32);
  library->next = libraries;
  libraries = library;
  return library;
}

/* Releases for a newer CUDA than the driver's are not tried: they can be loaded, but every call fails. */
static cublas *load_any(int driver_version, cutt_refusal *refusal) {
  static const struct {
    const char *file;
    int version;
  } files[] = {{"libcublas.so.13", 13000},
               {"libcublas.so.12", 12000},
               {"libcublas.so.11", 11000},
               {"/usr/local/cuda/lib64/libcublas.so", 0}};
  enum { FILES = sizeof files / sizeof *files };
  char looked[CUTT_WHY_SIZE] = "";
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < FILES; ++i) {
      if (files[i].version > driver_version) continue;
      cublas *library = load(files[i].file, pass == 0, refusal);
      if (library) return library;
      if (pass == 0) continue;
      const size_t length = strlen(looked);
      snprintf(looked + length, sizeof looked - length, "%s%.250s", length ? ", " : "",
               refusal->missing ? files[i].file : refusal->why);
    }
  }
  snprintf(refusal->why, sizeof refusal->why,
           "cuBLAS was not found; looked for: %.600s. It is a part of the CUDA toolkit; the environment variable "
           "CUTT_CUBLAS can name one",
           looked);
  return NULL;
}

cutt_blas *cutt_cublas_load(const char *file, cutt_refusal *refusal) {
  *refusal = (cutt_refusal){.missing = false};
  const char *why = NULL;
  const int version = cutt_cublas_runtime()->driver_version(&why);
  if (!version) {
    snprintf(refusal->why, sizeof refusal->why, "%s", why);
    return NULL;
  }
  if (!file) file = getenv("CUTT_CUBLAS");
  cublas *library = file && *file ? load(file, false, refusal) : load_any(version, refusal);
  return library ? &library->base : NULL;
}
