/* Handles: the table for the whole process that leads from a number to a plan.
 *
 * Programs plan the same permutation again and again, and some never destroy a plan. So a second table leads from the problem
 * to the handle that it has, and a slot counts how often that has been given: such a program holds one plan for each
 * different problem. Only a handle's last cuttDestroy ends it.
 *
 * A handle is 26 bits of index and 6 bits of generation. The table consists of segments that are made when they are
 * needed, published atomically, and never moved or freed, so that cuttExecute looks a plan up with a few loads and no
 * lock. Creating and destroying take a mutex. A slot's generation goes up with every plan that it has held, and free
 * slots wait in a queue until MIN_FREE others are free too, so that a handle comes back at the earliest after some million
 * plans: a stale one is noticed. Generation 0 is never used: small numbers are not handles.
 *
 * A plan takes some 8 KB, its problem a hundredth of that. When more plans are ready than cutt_handles_most_ready, those that
 * were not executed since they last came to the end of a queue are set aside: the plan is destroyed, and its problem and its
 * candidate are kept, from which the next execution makes it again. An execution that is under way keeps its plan: it counts
 * itself before it reads the slot's plan, and who sets a plan aside looks for such after taking it out of the slot. One of
 * the two always sees the other. The counters are many, by thread and by slot, so that threads that execute at the same time
 * seldom write to one line. */
#include "plan/handles.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { INDEX_BITS = 26, GENERATIONS = 1 << 6, SEGMENT_BITS = 10, SEGMENT_SLOTS = 1 << SEGMENT_BITS };
enum { SEGMENTS = 1 << (INDEX_BITS - SEGMENT_BITS), MIN_FREE = 1 << 14 };
enum { STREAM_WORD = CUTT_KEPT_DEVICE_WORDS, KIND_WORD, FIRST_MODE };

static const uint32_t no_index = UINT32_MAX;

typedef struct cutt_handle_slot {
  _Atomic(uint32_t) handle; /* of the plan that it holds; 0: none. Set last, cleared first */
  _Atomic(bool) used;       /* executed since the queue of ready plans was last looked through up to here */
  _Atomic(cuttPlan_t) plan; /* NULL: set aside */
  _Atomic(cudaStream_t) stream;
  /* Under the lock, all of these. What key and remains point to stays as it is while the handle is alive. */
  uint32_t generation;
  uint32_t next;  /* in the queue of free slots, or in the chain of those whose keys begin alike */
  uint64_t given; /* cuttDestroy calls that it takes */
  uint64_t hash;
  uint64_t *key; /* NULL: not to be found by one */
  int words;
  uint32_t older, newer; /* in the queue of ready plans */
  cutt_plan_remains *remains;
} slot;

static _Atomic(slot *) segments[SEGMENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock: slots that have ever been used, and the queue of those that are free again. */
static uint32_t opened = 0, free_first = UINT32_MAX, free_last = UINT32_MAX, free_count = 0;
/* Likewise: chains of slots by the key's hash, a power of two of them, or none yet; and the slots that are in them. */
static uint32_t *chains = NULL, chain_count = 0, chained = 0;
/* Likewise: the queue of plans that are ready and can be set aside, those that have a key. Half a GB by default. */
static uint32_t oldest = UINT32_MAX, newest = UINT32_MAX;
_Atomic(uint32_t) cutt_handles_ready = 0, cutt_handles_most_ready = 1 << 16;

/* Executions that are under way, by a number of the thread and the last bits of the slot's index. */
enum { STRIPES = 64, CLASSES = 16 };
static struct { _Alignas(64) _Atomic(uint32_t) under_way[CLASSES]; } stripes[STRIPES];
static _Atomic(uint32_t) threads_seen = 0;
static _Thread_local uint32_t thread_number = 0; /* from 1; 0: none yet */

static slot *segment_of(uint32_t index) {
  return atomic_load_explicit(&segments[index >> SEGMENT_BITS], memory_order_acquire);
}

/* The slot of an index whose segment is there. */
static slot *slot_at(uint32_t index) { return &segment_of(index)[index & (SEGMENT_SLOTS - 1)]; }

static uint32_t index_of(cuttHandle handle) { return handle & ((1u << INDEX_BITS) - 1); }

/* The slot that holds a handle's plan, or NULL with the error worded. */
static slot *find(cuttHandle handle) {
  slot *s = segment_of(index_of(handle)) ? slot_at(index_of(handle)) : NULL;
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
    *why = "67108864 plans of different problems are alive, and there are no more handles; cuttDestroy frees them";
    return no_index;
  }
  if (!segment_of(opened)) {
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

/* ----------------------------------------------------------------------------------------------- handles by problem */

void cutt_handle_key_of(const cutt_packed *packed, const cutt_backend *backend, cutt_handle_key *key) {
  key->words = 0;
  key->hash = 0;
  if (!cutt_kept_device(backend, key->word)) return;
  key->word[STREAM_WORD] = (uint64_t)(uintptr_t)packed->stream;
  key->word[KIND_WORD] = (uint64_t)packed->bytes << 1 | (uint64_t)packed->measured;
  key->words = FIRST_MODE + packed->rank;
  for (int i = 0; i < packed->rank; ++i)
    key->word[FIRST_MODE + i] = (uint64_t)(uint32_t)packed->dim[i] << 32 | (uint64_t)(uint32_t)packed->permutation[i];
  for (int i = 0; i < key->words; ++i) {
    key->hash = (key->hash ^ key->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    key->hash ^= key->hash >> 29;
  }
}

/* With the lock held, as all of these: the slot of a key, or NULL. */
static slot *look_up(const cutt_handle_key *key) {
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
static void chain(uint32_t index, const cutt_handle_key *key) {
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

/* ------------------------------------------------------------------------------------------------- plans that are ready */

/* With the lock held, as all of these but the last. */
static void queue(uint32_t index) {
  slot *s = slot_at(index);
  s->older = newest;
  s->newer = no_index;
  *(newest == no_index ? &oldest : &slot_at(newest)->newer) = index;
  newest = index;
  atomic_fetch_add_explicit(&cutt_handles_ready, 1, memory_order_relaxed);
}

static void unqueue(uint32_t index) {
  slot *s = slot_at(index);
  *(s->older == no_index ? &oldest : &slot_at(s->older)->newer) = s->newer;
  *(s->newer == no_index ? &newest : &slot_at(s->newer)->older) = s->older;
  atomic_fetch_sub_explicit(&cutt_handles_ready, 1, memory_order_relaxed);
}

/* Is an execution of a slot's plan under way, or one that can't be told from it? */
static bool is_held(uint32_t index) {
  for (int i = 0; i < STRIPES; ++i)
    if (atomic_load(&stripes[i].under_way[index % CLASSES])) return true;
  return false;
}

/* Takes a slot's plan out, for the caller to destroy; NULL: that can't be now. */
static cuttPlan_t set_aside(uint32_t index) {
  slot *s = slot_at(index);
  cuttPlan_t plan = atomic_load_explicit(&s->plan, memory_order_relaxed);
  if (!s->remains) {
    s->remains = malloc(sizeof *s->remains);
    if (!s->remains) return NULL;
    *s->remains = cutt_plan_remains_of(plan);
  }
  atomic_store(&s->plan, NULL);
  if (is_held(index)) {
    atomic_store(&s->plan, plan);
    return NULL;
  }
  unqueue(index);
  return plan;
}

/* Looks through the older end of the queue, a few at a time, for plans to set aside. */
enum { LOOKS = 8 };
static int make_room(cuttPlan_t out[LOOKS]) {
  int count = 0;
  for (int i = 0; i < LOOKS; ++i) {
    const uint32_t index = oldest;
    if (atomic_load_explicit(&cutt_handles_ready, memory_order_relaxed) <=
            atomic_load_explicit(&cutt_handles_most_ready, memory_order_relaxed) ||
        index == newest)
      break;
    cuttPlan_t plan = NULL;
    if (!atomic_exchange_explicit(&slot_at(index)->used, false, memory_order_relaxed)) plan = set_aside(index);
    if (plan) {
      out[count++] = plan;
    } else {
      unqueue(index);
      queue(index);
    }
  }
  return count;
}

static void destroy(const cuttPlan_t *plans, int count) {
  for (int i = 0; i < count; ++i) cuttPlanDestroy(plans[i]);
}

/* ---------------------------------------------------------------------------------------------------- given and dropped */

bool cutt_handle_again(const cutt_handle_key *key, cuttHandle *handle) {
  pthread_mutex_lock(&lock);
  slot *s = look_up(key);
  if (s) {
    ++s->given;
    *handle = atomic_load_explicit(&s->handle, memory_order_relaxed);
  }
  pthread_mutex_unlock(&lock);
  return s != NULL;
}

cuttResult cutt_handle_enter(const cutt_handle_key *key, cuttPlan_t plan, cudaStream_t stream, cuttHandle *handle) {
  const char *why = "";
  cuttPlan_t out[LOOKS + 1];
  int count = 0;
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
    s->remains = NULL;
    chain(index, key);
    *handle = s->generation << INDEX_BITS | index;
    atomic_store_explicit(&s->used, false, memory_order_relaxed);
    atomic_store_explicit(&s->plan, plan, memory_order_relaxed);
    atomic_store_explicit(&s->stream, stream, memory_order_relaxed);
    atomic_store_explicit(&s->handle, *handle, memory_order_release);
    if (s->key) queue(index);
    count = make_room(out);
  }
  pthread_mutex_unlock(&lock);
  if (index == no_index) out[count++] = plan;
  destroy(out, count);
  return s ? CUTT_SUCCESS : cutt_error(CUTT_INTERNAL_ERROR, "%s", why);
}

cuttResult cutt_handle_drop(cuttHandle handle) {
  pthread_mutex_lock(&lock);
  slot *s = find(handle);
  cuttPlan_t plan = NULL;
  if (s && --s->given == 0) {
    const uint32_t index = index_of(handle);
    atomic_store_explicit(&s->handle, 0, memory_order_relaxed);
    plan = atomic_load_explicit(&s->plan, memory_order_relaxed);
    atomic_store_explicit(&s->plan, NULL, memory_order_relaxed);
    if (plan && s->key) unqueue(index);
    unchain(index);
    free(s->remains);
    s->remains = NULL;
    s->next = no_index;
    *(free_last == no_index ? &free_first : &slot_at(free_last)->next) = index;
    free_last = index;
    ++free_count;
  }
  pthread_mutex_unlock(&lock);
  return s ? cuttPlanDestroy(plan) : CUTT_INVALID_PLAN;
}

/* ----------------------------------------------------------------------------------------------------------------- held */

cuttResult cutt_handle_hold(cuttHandle handle, cutt_held *held) {
  slot *s = find(handle);
  if (!s) return CUTT_INVALID_PLAN;
  if (!thread_number) thread_number = 1 + atomic_fetch_add_explicit(&threads_seen, 1, memory_order_relaxed) % STRIPES;
  held->slot = s;
  held->under_way = &stripes[thread_number - 1].under_way[handle % CLASSES];
  atomic_fetch_add(held->under_way, 1);
  held->plan = atomic_load(&s->plan);
  held->stream = atomic_load_explicit(&s->stream, memory_order_relaxed);
  if (!atomic_load_explicit(&s->used, memory_order_relaxed))
    atomic_store_explicit(&s->used, true, memory_order_relaxed);
  return CUTT_SUCCESS;
}

void cutt_handle_release(const cutt_held *held) { atomic_fetch_sub_explicit(held->under_way, 1, memory_order_release); }

const cutt_plan_remains *cutt_held_remains(const cutt_held *held, int *dim, int *permutation, cutt_packed *packed) {
  const slot *s = held->slot;
  const int rank = s->words - FIRST_MODE;
  for (int i = 0; i < rank; ++i) {
    dim[i] = (int)(s->key[FIRST_MODE + i] >> 32);
    permutation[i] = (int)(uint32_t)s->key[FIRST_MODE + i];
  }
  *packed = (cutt_packed){
      rank, dim, permutation, (size_t)(s->key[KIND_WORD] >> 1), held->stream, (s->key[KIND_WORD] & 1) != 0};
  return s->remains;
}

bool cutt_held_is_of(const cutt_held *held, const uint64_t device[CUTT_KEPT_DEVICE_WORDS]) {
  return !memcmp(held->slot->key, device, CUTT_KEPT_DEVICE_WORDS * sizeof *device);
}

void cutt_held_restore(cutt_held *held, cuttPlan_t plan) {
  cuttPlan_t out[LOOKS + 1];
  int count = 0;
  pthread_mutex_lock(&lock);
  held->plan = atomic_load_explicit(&held->slot->plan, memory_order_relaxed);
  if (held->plan) {
    out[count++] = plan;
  } else {
    held->plan = plan;
    atomic_store(&held->slot->plan, plan);
    queue(index_of(atomic_load_explicit(&held->slot->handle, memory_order_relaxed)));
    count = make_room(out);
  }
  pthread_mutex_unlock(&lock);
  destroy(out, count);
}
