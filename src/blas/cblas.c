/* Matrix products of the CPU by any library with the CBLAS interface, found at run time.
 *
 * Loaded with dlopen and never linked, so that one binary works with whatever is installed, and without any. No header of a
 * BLAS is needed either: the interface has not changed since 1998. RTLD_LOCAL keeps a library's names to itself: what the
 * program itself is linked with stays as it is.
 *
 * **Threads.** cuTT calls the library from its own threads, so the library must not start more. Its number of threads is set
 * to 1, and put back later, since the program may use the same library too. Of libraries there are two kinds:
 *   one number in a process    OpenBLAS on pthreads, BLIS before 1.0, FlexiBLAS: set by the begin of the first execution under
 *                              way, and put back by the end of the last. Meanwhile the program's own products run on one thread
 *                              too. Executions are counted under a mutex, which each thus takes twice.
 *   one number in each thread  OpenBLAS on OpenMP, which asks OpenMP; MKL; BLIS since 1.0: set and put back around each call.
 * A library that has no such number is taken for one that runs on the thread that calls it.
 *
 * OpenBLAS without threads is safe to call from several threads only if it was built with locks, which it does not say. Its
 * calls are made one at a time, and it is chosen only where there is no other library.
 *
 * **Memory that is limited** (RLIMIT_AS). Where there is no room for a buffer, OpenBLAS tries for ever to map it, and others
 * end the process. So there are only as many calls at once as there is room for.
 *
 * **Sizes.** The interface's integers are of 32 bits. Larger products are done in blocks (blocks.c).
 *
 * **Operands** that are not aligned, and ends of operands that a version is known to read past, are copied (cblas_copy.c). */
#include <pthread.h>

#include "base/error.h"
#include "base/types.h"
#include "blas/blocks.h"
#include "blas/cblas.h"
#include "blas/load.h"

/* ---------------------------------------------------------------------------------------------------------- threads */

static bool has_number(const cutt_cblas *library) { return library->set_threads || library->set_threads_64; }

static int64_t get_number(const cutt_cblas *library) {
  return library->get_threads_64 ? library->get_threads_64() : library->get_threads();
}

static void set_number(const cutt_cblas *library, int64_t threads) {
  if (library->set_threads_64) {
    library->set_threads_64(threads);
  } else {
    library->set_threads((int)threads);
  }
}

/* What one call has changed, to be put back. */
typedef struct hold {
  int openmp[2];   /* 0: nothing */
  int64_t threads; /* 0: nothing */
  int local;
  /* Where memory is limited: which of the two the call has. */
  bool first_buffer, extra_buffer;
} hold;

/* A library keeps its buffers, and maps another one for each call that finds none free. It has had the first buffer since it
 * was loaded, if memory was limited then, and else since it was measured. A call that finds that one in use goes on if there is
 * ample room for its own buffer and those of all other such calls; else it waits for the first. Which of them have mapped
 * theirs by now can't be known, so that room is asked for all of them, each time. Ample, since between this look and the
 * mapping other threads map memory too: arenas of malloc (64 MB for each thread in glibc), stacks, workspaces. */
enum { AMPLE_MB = 1024 };

static void enter_limited(cutt_cblas *library, hold *held) {
  held->first_buffer = pthread_mutex_trylock(&library->first_buffer) == 0;
  if (held->first_buffer) return;
  pthread_mutex_lock(&library->lock);
  held->extra_buffer =
      cutt_library_room(((size_t)AMPLE_MB << 20) + (size_t)(library->extra_calls + 1) * library->call_bytes);
  if (held->extra_buffer) ++library->extra_calls;
  pthread_mutex_unlock(&library->lock);
  held->first_buffer = !held->extra_buffer;
  if (held->first_buffer) pthread_mutex_lock(&library->first_buffer);
}

static void leave_limited(cutt_cblas *library, const hold *held) {
  if (held->first_buffer) pthread_mutex_unlock(&library->first_buffer);
  if (!held->extra_buffer) return;
  pthread_mutex_lock(&library->lock);
  --library->extra_calls;
  pthread_mutex_unlock(&library->lock);
}

static hold hold_threads(cutt_cblas *library) {
  hold held = {.local = -1};
  for (int i = 0; i < library->openmps; ++i) {
    const int threads = library->openmp[i].get();
    if (threads == 1) continue;
    held.openmp[i] = threads;
    library->openmp[i].set(1);
  }
  if (library->set_threads_local) held.local = library->set_threads_local(1);
  if (library->set_in_calls) {
    const int64_t threads = get_number(library);
    if (threads > 1) {
      held.threads = threads;
      set_number(library, 1);
    }
  }
  if (library->base.one_at_a_time)
    pthread_mutex_lock(&library->lock);
  else if (atomic_load_explicit(&library->limited, memory_order_relaxed))
    enter_limited(library, &held);
  return held;
}

static void release_threads(cutt_cblas *library, const hold *held) {
  if (library->base.one_at_a_time) pthread_mutex_unlock(&library->lock);
  leave_limited(library, held);
  if (held->threads) set_number(library, held->threads);
  if (held->local >= 0) library->set_threads_local(held->local);
  for (int i = library->openmps - 1; i >= 0; --i) {
    if (held->openmp[i]) library->openmp[i].set(held->openmp[i]);
  }
}

static cuttResult begin(const cutt_blas *blas, cudaStream_t stream, void **session) {
  (void)stream;
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)blas;
  *session = NULL;
  if (!has_number(library)) return CUTT_SUCCESS;
  pthread_mutex_lock(&library->lock);
  if (library->sessions++ == 0) {
    library->threads_before = get_number(library);
    if (library->threads_before != 1) set_number(library, 1);
  }
  pthread_mutex_unlock(&library->lock);
  return CUTT_SUCCESS;
}

static void end(const cutt_blas *blas, void *session) {
  (void)session;
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)blas;
  if (!has_number(library)) return;
  pthread_mutex_lock(&library->lock);
  if (--library->sessions == 0 && library->threads_before != 1) set_number(library, library->threads_before);
  pthread_mutex_unlock(&library->lock);
}

/* --------------------------------------------------------------------------------------------------------- products */

static cuttResult gemm(const cutt_blas *blas, void *session, cuttType_t type, const cutt_gemm *asked, const void *alpha,
                       const void *a, const void *b, const void *beta, void *c) {
  (void)session;
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)blas;
  cutt_gemm g = *asked;
  if (g.batch > 1) return cutt_error(CUTT_INTERNAL_ERROR, "batches of products are for GPUs; this one is of the CPU");
  if (!cutt_type_lookup(type)->complex) { /* nothing to conjugate */
    if (g.op_a == CUTT_OP_C) g.op_a = CUTT_OP_T;
    if (g.op_b == CUTT_OP_C) g.op_b = CUTT_OP_T;
  }
  const cutt_gemm_operands on = {.type = type, .alpha = alpha, .a = a, .b = b, .beta = beta, .c = c};
  const hold held = hold_threads(library);
  const cuttResult result = cutt_cblas_multiply(library, &on, &g);
  release_threads(library, &held);
  return result;
}

static bool takes(const cutt_blas *blas, cuttType_t type) {
  const cutt_cblas *library = (const cutt_cblas *)(const void *)blas;
  switch (type) {
    case CUTT_F32:
      return library->sgemm && library->sgemv;
    case CUTT_F64:
      return library->dgemm && library->dgemv;
    case CUTT_C32:
      return library->cgemm && library->cgemv;
    case CUTT_C64:
      return library->zgemm && library->zgemv;
    default:
      return false;
  }
}

/* When a contraction is planned, since asking for limits takes longer than a tiny execution. */
void cutt_cblas_note_limits(const cutt_blas *blas) {
  cutt_cblas *library = (cutt_cblas *)(uintptr_t)blas;
  atomic_store_explicit(&library->limited, cutt_library_limited(), memory_order_relaxed);
}

void cutt_cblas_table(cutt_cblas *library) {
  library->base.backend = CUTT_BACKEND_CPU;
  library->base.takes = takes;
  library->base.begin = begin;
  library->base.end = end;
  library->base.gemm = gemm;
}
