/* The paper's four calls, with the original library's signatures.
 *
 * A handle is an unsigned int, so something has to lead from the number to the plan: a table for the whole process. It is
 * of no consequence to a user: a handle is its owner's alone, and no call here sees or changes what another handle stands
 * for.
 *
 * A handle is 20 bits of index and 12 bits of generation. The table consists of segments that are made when they are
 * needed, published atomically, and never moved or freed, so that cuttExecute looks a plan up with three loads and no
 * lock. Creating and destroying take a mutex. A slot's generation goes up with every plan that it has held, and free
 * slots wait in a queue until MIN_FREE others are free too, so that a handle comes back at the earliest after some four
 * million plans: a stale one is noticed. Generation 0 is never used: small numbers are not handles. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plan/kept.h"
#include "plan/plan.h"

enum { INDEX_BITS = 20, GENERATIONS = 1 << 12, SEGMENT_BITS = 10, SEGMENT_SLOTS = 1 << SEGMENT_BITS };
enum { SEGMENTS = 1 << (INDEX_BITS - SEGMENT_BITS), MIN_FREE = SEGMENT_SLOTS };

static const uint32_t no_index = UINT32_MAX;

typedef struct slot {
  _Atomic(uint32_t) handle; /* of the plan that it holds; 0: none. Set last, cleared first */
  _Atomic(cuttPlan_t) plan;
  _Atomic(cudaStream_t) stream;
  uint32_t generation; /* this and next: under the lock */
  uint32_t next;       /* in the queue of free slots */
} slot;

static _Atomic(slot *) segments[SEGMENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock: slots that have ever been used, and the queue of those that are free again. */
static uint32_t opened = 0, free_first = UINT32_MAX, free_last = UINT32_MAX, free_count = 0;

/* The slot of an index; NULL when its segment is not there. */
static slot *slot_at(uint32_t index) {
  slot *segment = atomic_load_explicit(&segments[index >> SEGMENT_BITS], memory_order_acquire);
  return segment ? &segment[index & (SEGMENT_SLOTS - 1)] : NULL;
}

/* The slot that holds a handle's plan, or NULL with the error worded. */
static slot *find(cuttHandle handle) {
  slot *s = slot_at(handle & ((1u << INDEX_BITS) - 1));
  if (handle && s && atomic_load_explicit(&s->handle, memory_order_acquire) == handle) return s;
  cutt_error(CUTT_INVALID_PLAN, "handle is %u, which is no plan that is alive; it must come from cuttPlan", handle);
  return NULL;
}

/* With the lock held: an index whose slot is free, or no_index with *why set. */
static uint32_t take_index(const char **why) {
  const bool full = opened == 1u << INDEX_BITS;
  if (free_count >= MIN_FREE || (full && free_count > 0)) {
    const uint32_t index = free_first;
    free_first = slot_at(index)->next;
    if (free_first == no_index) free_last = no_index;
    --free_count;
    return index;
  }
  if (full) {
    *why = "1048576 plans are alive, and there is no room for more";
    return no_index;
  }
  if (!slot_at(opened)) {
    /* All zero is right: no plan, generation 0. */
    slot *segment = calloc(SEGMENT_SLOTS, sizeof *segment);
    if (!segment) {
      *why = "out of memory: the table of handles can't grow";
      return no_index;
    }
    atomic_store_explicit(&segments[opened >> SEGMENT_BITS], segment, memory_order_release);
  }
  return opened++;
}

/* Gives a plan a handle. */
static cuttResult enter(cuttPlan_t plan, cudaStream_t stream, cuttHandle *handle) {
  const char *why = "";
  pthread_mutex_lock(&lock);
  const uint32_t index = take_index(&why);
  if (index != no_index) {
    slot *s = slot_at(index);
    s->generation = s->generation % (GENERATIONS - 1) + 1;
    *handle = s->generation << INDEX_BITS | index;
    atomic_store_explicit(&s->plan, plan, memory_order_relaxed);
    atomic_store_explicit(&s->stream, stream, memory_order_relaxed);
    atomic_store_explicit(&s->handle, *handle, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return index != no_index ? CUTT_SUCCESS : cutt_error(CUTT_INTERNAL_ERROR, "%s", why);
}

static cuttResult check_arguments(const cuttHandle *handle, int rank, const int *dim, const int *permutation,
                                  size_t sizeofType, cudaStream_t stream) {
  if (!handle) return cutt_error(CUTT_INVALID_PARAMETER, "handle is NULL; it must point to a cuttHandle");
  if (rank < 1 || rank > CUTT_MAX_RANK) {
    return cutt_error(CUTT_INVALID_PARAMETER, "rank is %d; it must be 1 to %d", rank, CUTT_MAX_RANK);
  }
  if (!dim || !permutation) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to rank = %d entries",
                      dim ? "permutation" : "dim", rank);
  }
  uint64_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    if (dim[i] < 1) return cutt_error(CUTT_INVALID_PARAMETER, "dim[%d] is %d; it must be 1 or more", i, dim[i]);
    if (permutation[i] < 0 || permutation[i] >= rank || (seen & UINT64_C(1) << permutation[i])) {
      return cutt_error(CUTT_INVALID_PARAMETER, "permutation[%d] is %d; each of 0 to %d must be there once", i,
                        permutation[i], rank - 1);
    }
    seen |= UINT64_C(1) << permutation[i];
  }
  if (sizeofType != 1 && sizeofType != 2 && sizeofType != 4 && sizeofType != 8 && sizeofType != 16) {
    return cutt_error(CUTT_INVALID_PARAMETER, "sizeofType is %zu; it must be 1, 2, 4, 8 or 16", sizeofType);
  }
  const cutt_backend *backend = NULL;
  const cuttResult result = cutt_backend_select(CUTT_BACKEND_AUTO, "the backend", &backend);
  return result ? result : cutt_stream_check(backend, stream, "stream");
}

static cuttResult plan_packed(cuttHandle *handle, int rank, const int *dim, const int *permutation, size_t sizeofType,
                              cudaStream_t stream, const cuttOptions_t *options) {
  cuttResult result = check_arguments(handle, rank, dim, permutation, sizeofType, stream);
  if (result) return result;
  int64_t extents[CUTT_MAX_RANK];
  for (int i = 0; i < rank; ++i) extents[i] = dim[i];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = rank;
  problem.type = (cuttType_t)sizeofType; /* CUTT_BYTES_n is n */
  problem.extents = extents;
  problem.perm = permutation;
  cuttPlan_t plan = NULL;
  result = cuttPlanCreate(&plan, &problem, options);
  if (result) return result;
  result = enter(plan, stream, handle);
  if (result) cuttPlanDestroy(plan);
  return result;
}

cuttResult cuttPlan(cuttHandle *handle, int rank, int *dim, int *permutation, size_t sizeofType, cudaStream_t stream) {
  return plan_packed(handle, rank, dim, permutation, sizeofType, stream, NULL);
}

cuttResult cuttPlanMeasure(cuttHandle *handle, int rank, int *dim, int *permutation, size_t sizeofType,
                           cudaStream_t stream, void *idata, void *odata) {
  if (!idata || !odata) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to the first element",
                      idata ? "odata" : "idata");
  }
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  options.measure_in = idata;
  options.measure_out = odata;
  options.measure_stream = stream;
  return plan_packed(handle, rank, dim, permutation, sizeofType, stream, &options);
}

cuttResult cuttExecute(cuttHandle handle, void *idata, void *odata) {
  slot *s = find(handle);
  if (!s) return CUTT_INVALID_PLAN;
  if (!idata || !odata) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to the first element",
                      idata ? "odata" : "idata");
  }
  return cuttPlanExecute(atomic_load_explicit(&s->plan, memory_order_relaxed), idata, odata,
                         atomic_load_explicit(&s->stream, memory_order_relaxed));
}

cuttResult cuttDestroy(cuttHandle handle) {
  pthread_mutex_lock(&lock);
  slot *s = find(handle);
  cuttPlan_t plan = NULL;
  if (s) {
    atomic_store_explicit(&s->handle, 0, memory_order_relaxed);
    plan = atomic_load_explicit(&s->plan, memory_order_relaxed);
    atomic_store_explicit(&s->plan, NULL, memory_order_relaxed);
    const uint32_t index = handle & ((1u << INDEX_BITS) - 1);
    s->next = no_index;
    if (free_last == no_index) {
      free_first = index;
    } else {
      slot_at(free_last)->next = index;
    }
    free_last = index;
    ++free_count;
  }
  pthread_mutex_unlock(&lock);
  return s ? cuttPlanDestroy(plan) : CUTT_INVALID_PLAN;
}

void cuttInitialize(void) {}

void cuttFinalize(void) { cutt_kept_clear(); }
