/* The paper's four calls, with the original library's signatures.
 *
 * A handle is an unsigned int, so something has to lead from the number to the plan: a table for the whole process.
 *
 * Programs plan the same permutation again and again, and some never destroy a plan. So a second table leads from the problem
 * to the plan that it has, and a slot counts how often its handle has been given: such a program holds one plan for each
 * different problem. Only a handle's last cuttDestroy ends it.
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
#include "plan/arguments.h"
#include "plan/kept.h"
#include "plan/plan.h"

enum { INDEX_BITS = 20, GENERATIONS = 1 << 12, SEGMENT_BITS = 10, SEGMENT_SLOTS = 1 << SEGMENT_BITS };
enum { SEGMENTS = 1 << (INDEX_BITS - SEGMENT_BITS), MIN_FREE = SEGMENT_SLOTS };

static const uint32_t no_index = UINT32_MAX;

/* All that a plan here depends on: the device, the stream, the element's bytes and whether it was measured, and each mode's
 * extent and place in the permutation. */
enum { STREAM_WORD = CUTT_KEPT_DEVICE_WORDS, KIND_WORD, FIRST_MODE, KEY_WORDS = FIRST_MODE + CUTT_MAX_RANK };
typedef struct problem_key {
  int words; /* 0: the device can't be told from others, and the plan is its handle's alone */
  uint64_t hash, word[KEY_WORDS];
} problem_key;

typedef struct slot {
  _Atomic(uint32_t) handle; /* of the plan that it holds; 0: none. Set last, cleared first */
  _Atomic(cuttPlan_t) plan;
  _Atomic(cudaStream_t) stream;
  /* Under the lock, all of these. */
  uint32_t generation;
  uint32_t next;  /* in the queue of free slots, or in the chain of those whose keys begin alike */
  uint64_t given; /* cuttDestroy calls that it takes */
  uint64_t hash;
  uint64_t *key; /* NULL: not to be found by one */
  int words;
} slot;

static _Atomic(slot *) segments[SEGMENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock: slots that have ever been used, and the queue of those that are free again. */
static uint32_t opened = 0, free_first = UINT32_MAX, free_last = UINT32_MAX, free_count = 0;
/* Likewise: chains of slots by the key's hash, a power of two of them, or none yet; and the slots that are in them. */
static uint32_t *chains = NULL, chain_count = 0, chained = 0;

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
    *why = "1048576 plans of different problems are alive, and there is no room for more; cuttDestroy frees them";
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

/* ----------------------------------------------------------------------------------------------- plans by problem */

/* What the four calls are given to plan. */
typedef struct request {
  int rank;
  const int *dim, *permutation;
  size_t bytes;
  cudaStream_t stream;
  const cuttOptions_t *options; /* NULL: by the model; else measured */
} request;

static void make_key(problem_key *key, const request *r, const cutt_backend *backend) {
  key->words = 0;
  key->hash = 0;
  if (!cutt_kept_device(backend, key->word)) return;
  key->word[STREAM_WORD] = (uint64_t)(uintptr_t)r->stream;
  key->word[KIND_WORD] = (uint64_t)r->bytes << 1 | (uint64_t)(r->options != NULL);
  key->words = FIRST_MODE + r->rank;
  for (int i = 0; i < r->rank; ++i)
    key->word[FIRST_MODE + i] = (uint64_t)(uint32_t)r->dim[i] << 32 | (uint64_t)(uint32_t)r->permutation[i];
  for (int i = 0; i < key->words; ++i) {
    key->hash = (key->hash ^ key->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    key->hash ^= key->hash >> 29;
  }
}

/* With the lock held, as all of these: the slot of a key, or NULL. */
static slot *look_up(const problem_key *key) {
  if (!key->words || !chain_count) return NULL;
  for (uint32_t i = chains[key->hash & (chain_count - 1)]; i != no_index; i = slot_at(i)->next) {
    slot *s = slot_at(i);
    if (s->hash == key->hash && s->words == key->words &&
        !memcmp(s->key, key->word, (size_t)key->words * sizeof *key->word))
      return s;
  }
  return NULL;
}

/* More chains, as there are more slots in them. Without memory they stay as many as they are, and get longer. */
static void make_chains(void) {
  const uint32_t count = chain_count ? 2 * chain_count : 64;
  uint32_t *made = malloc(count * sizeof *made);
  if (!made) return;
  for (uint32_t i = 0; i < count; ++i) made[i] = no_index;
  for (uint32_t old = 0; old < chain_count; ++old) {
    for (uint32_t i = chains[old], next = 0; i != no_index; i = next) {
      slot *s = slot_at(i);
      uint32_t *first = &made[s->hash & (count - 1)];
      next = s->next;
      s->next = *first;
      *first = i;
    }
  }
  free(chains);
  chains = made;
  chain_count = count;
}

/* Lets a slot be found by a key. Without memory it is not, and the next plan of its problem is one more. */
static void chain(uint32_t index, const problem_key *key) {
  slot *s = slot_at(index);
  s->key = NULL;
  if (chained >= chain_count) make_chains();
  if (!key->words || !chain_count) return;
  s->key = malloc((size_t)key->words * sizeof *s->key);
  if (!s->key) return;
  memcpy(s->key, key->word, (size_t)key->words * sizeof *s->key);
  s->words = key->words;
  s->hash = key->hash;
  uint32_t *first = &chains[s->hash & (chain_count - 1)];
  s->next = *first;
  *first = index;
  ++chained;
}

static void unchain(uint32_t index) {
  slot *s = slot_at(index);
  if (!s->key) return;
  uint32_t *link = &chains[s->hash & (chain_count - 1)];
  while (*link != index) link = &slot_at(*link)->next;
  *link = s->next;
  free(s->key);
  s->key = NULL;
  --chained;
}

/* Gives the handle that a problem has already, once more; false: it has none. *plan stays alive until that is given back. */
static bool give_again(const problem_key *key, cuttHandle *handle, cuttPlan_t *plan) {
  pthread_mutex_lock(&lock);
  slot *s = look_up(key);
  if (s) {
    ++s->given;
    *handle = atomic_load_explicit(&s->handle, memory_order_relaxed);
    *plan = atomic_load_explicit(&s->plan, memory_order_relaxed);
  }
  pthread_mutex_unlock(&lock);
  return s != NULL;
}

/* Gives a plan a handle. Where another thread has made a plan of the problem meanwhile, that one's handle is given, and this
 * plan destroyed. */
static cuttResult enter(const problem_key *key, cuttPlan_t plan, cudaStream_t stream, cuttHandle *handle) {
  const char *why = "";
  pthread_mutex_lock(&lock);
  slot *s = look_up(key);
  const uint32_t index = s ? no_index : take_index(&why);
  if (s) {
    ++s->given;
    *handle = atomic_load_explicit(&s->handle, memory_order_relaxed);
  } else if (index != no_index) {
    s = slot_at(index);
    s->given = 1;
    s->generation = s->generation % (GENERATIONS - 1) + 1;
    chain(index, key);
    *handle = s->generation << INDEX_BITS | index;
    atomic_store_explicit(&s->plan, plan, memory_order_relaxed);
    atomic_store_explicit(&s->stream, stream, memory_order_relaxed);
    atomic_store_explicit(&s->handle, *handle, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  if (index == no_index) cuttPlanDestroy(plan);
  return s ? CUTT_SUCCESS : cutt_error(CUTT_INTERNAL_ERROR, "%s", why);
}

/* --------------------------------------------------------------------------------------------------------- planning */

static cuttResult check_arguments(const cuttHandle *handle, int rank, const int *dim, const int *permutation,
                                  size_t sizeofType) {
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
  return CUTT_SUCCESS;
}

static cuttResult plan_anew(cuttHandle *handle, const request *r, const problem_key *key) {
  int64_t extents[CUTT_MAX_RANK];
  for (int i = 0; i < r->rank; ++i) extents[i] = r->dim[i];
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = r->rank;
  problem.type = (cuttType_t)r->bytes; /* CUTT_BYTES_n is n */
  problem.extents = extents;
  problem.perm = r->permutation;
  cuttPlan_t plan = NULL;
  const cuttResult result = cuttPlanCreate(&plan, &problem, r->options);
  return result ? result : enter(key, plan, r->stream, handle);
}

/* What measuring would have refused. */
static cuttResult check_measured(cuttPlan_t plan, const cuttOptions_t *options) {
  cuttResult result = cutt_buffers_check(&plan->canonical, options->measure_in, options->measure_out, "idata", "odata");
  if (!result) result = cutt_memory_check(plan->backend, options->measure_in, "idata");
  return result ? result : cutt_memory_check(plan->backend, options->measure_out, "odata");
}

/* Where a thread has no context, planning is in the stream's (see cutt.h), like the search for a plan that is there. */
static cuttResult plan_packed(cuttHandle *handle, const request *r) {
  cuttResult result = check_arguments(handle, r->rank, r->dim, r->permutation, r->bytes);
  if (result) return result;
  cutt_entered entered;
  result = cutt_backend_enter(CUTT_BACKEND_AUTO, "the backend", r->stream, "stream", &entered);
  if (result) return result;
  problem_key key;
  cuttPlan_t plan = NULL;
  cuttHandle given = 0;
  make_key(&key, r, entered.backend);
  if (!give_again(&key, &given, &plan)) {
    result = plan_anew(handle, r, &key);
  } else {
    if (r->options) result = check_measured(plan, r->options);
    if (result) {
      cuttDestroy(given);
    } else {
      *handle = given;
    }
  }
  cutt_backend_leave(&entered);
  return result;
}

cuttResult cuttPlan(cuttHandle *handle, int rank, const int *dim, const int *permutation, size_t sizeofType,
                    cudaStream_t stream) {
  return plan_packed(handle, &(request){rank, dim, permutation, sizeofType, stream, NULL});
}

static cuttResult refuse_null(const void *idata) {
  return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to the first element",
                    idata ? "odata" : "idata");
}

cuttResult cuttPlanMeasure(cuttHandle *handle, int rank, const int *dim, const int *permutation, size_t sizeofType,
                           cudaStream_t stream, const void *idata, void *odata) {
  if (!idata || !odata) return refuse_null(idata);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  options.measure_in = idata;
  options.measure_out = odata;
  options.measure_stream = stream;
  return plan_packed(handle, &(request){rank, dim, permutation, sizeofType, stream, &options});
}

/* ------------------------------------------------------------------------------------------------ execution and end */

cuttResult cuttExecute(cuttHandle handle, const void *idata, void *odata) {
  slot *s = find(handle);
  if (!s) return CUTT_INVALID_PLAN;
  if (!idata || !odata) return refuse_null(idata);
  return cuttPlanExecute(atomic_load_explicit(&s->plan, memory_order_relaxed), idata, odata,
                         atomic_load_explicit(&s->stream, memory_order_relaxed));
}

cuttResult cuttExecuteScaled(cuttHandle handle, const void *idata, void *odata, const void *alpha, const void *beta) {
  if (!alpha && !beta) return cuttExecute(handle, idata, odata);
  slot *s = find(handle);
  if (!s) return CUTT_INVALID_PLAN;
  if (!idata || !odata) return refuse_null(idata);
  const struct cuttPlanStruct *plan = atomic_load_explicit(&s->plan, memory_order_relaxed);
  const cudaStream_t stream = atomic_load_explicit(&s->stream, memory_order_relaxed);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = plan->problem.rank;
  problem.type = plan->problem.type == CUTT_BYTES_4 ? CUTT_F32 : CUTT_F64;
  problem.extents = plan->problem.extents;
  problem.perm = plan->problem.perm;
  problem.alpha = alpha;
  problem.beta = beta;
  if (plan->problem.type != CUTT_BYTES_4 && plan->problem.type != CUTT_BYTES_8) {
    return cutt_error(
        CUTT_INVALID_PARAMETER,
        "%s is given, and handle %u is of elements of %d bytes; with a scalar they must be of 4 (float) or "
        "8 (double): for other types there is cuttPlanCreate",
        alpha ? "alpha" : "beta", handle, (int)plan->problem.type);
  }
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = plan->backend->id;
  cutt_entered entered;
  cuttResult result = cutt_backend_enter(options.backend, "the plan's backend", stream, "stream", &entered);
  if (result) return result;
  result = cuttPermute(&problem, &options, idata, odata, stream);
  cutt_backend_leave(&entered);
  return result;
}

cuttResult cuttDestroy(cuttHandle handle) {
  pthread_mutex_lock(&lock);
  slot *s = find(handle);
  cuttPlan_t plan = NULL;
  if (s && --s->given == 0) {
    const uint32_t index = handle & ((1u << INDEX_BITS) - 1);
    atomic_store_explicit(&s->handle, 0, memory_order_relaxed);
    plan = atomic_load_explicit(&s->plan, memory_order_relaxed);
    atomic_store_explicit(&s->plan, NULL, memory_order_relaxed);
    unchain(index);
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
