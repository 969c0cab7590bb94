/* Plans that cuttPermute keeps (kept.h).
 *
 * A table of a fixed size: SETS times WAYS plans, those of a set by last use. A key belongs to one set, which has a lock of its
 * own, held for some comparisons. Who does not get the lock at once plans as if nothing were kept: so nobody waits for a thread
 * that does not run, and a lock that another thread held at a fork does no harm in the child. A plan counts its users, the table
 * among them, and is destroyed by the last one. */
#include "plan/kept.h"

#include <pthread.h>
#include <string.h>

#include "plan/backend.h"
#include "plan/plan.h"

enum { SETS = 8, WAYS = 8, TRIES = 64 };

typedef struct place {
  cuttPlan_t plan; /* NULL: free */
  uint64_t hash, used;
  cutt_kept_key key;
} place;

static struct {
  pthread_mutex_t lock;
  uint64_t uses;
  place way[WAYS];
} sets[SETS] = {{.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
                {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
                {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER},
                {.lock = PTHREAD_MUTEX_INITIALIZER}, {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* ----------------------------------------------------------------------------------------------------------------- keys */

static void add(cutt_kept_key *key, uint64_t word) { key->word[key->words++] = word; }

static void add_all(cutt_kept_key *key, int count, const int64_t *words) {
  if (words) memcpy(key->word + key->words, words, (size_t)count * sizeof *words);
  if (words) key->words += count;
}

/* The bytes of a scalar, up to 16; without one, as many zeros: the flags tell them apart. */
static void add_scalar(cutt_kept_key *key, const void *scalar, int bytes) {
  uint64_t words[2] = {0, 0};
  if (scalar) memcpy(words, scalar, (size_t)bytes);
  add(key, words[0]);
  add(key, words[1]);
}

/* Options that say more than a backend and a number of threads are for plans that are made once. */
static bool are_plain(const cuttOptions_t *o) {
  return o->struct_size == sizeof *o && o->choice == CUTT_PREDICT && o->measure_seconds == 0 && !o->measure_in &&
         !o->measure_out && !o->wisdom && !o->measure_stream && !o->candidate && o->model == CUTT_MODEL && !o->device;
}

bool cutt_kept_device(const cutt_backend *backend, uint64_t words[CUTT_KEPT_DEVICE_WORDS]) {
  words[0] = (uint64_t)(uintptr_t)backend;
  if (!backend->runtime->context) {
    const cutt_target *target = backend->runtime->target();
    words[1] = (uint64_t)(uintptr_t)target;
    words[2] = (uint64_t)(uintptr_t)target->value;
    return true;
  }
  cutt_context context = {NULL, 0};
  if (backend->runtime->context(&context) || !context.handle || !context.number)
    return false; /* none, or one that another may take the place of unseen */
  words[1] = (uint64_t)(uintptr_t)context.handle;
  words[2] = context.number;
  return true;
}

bool cutt_kept_key_of(const cuttProblem_t *problem, const cuttOptions_t *options, cutt_kept_key *key) {
  if (!problem || problem->struct_size != sizeof *problem || problem->rank < 0 || problem->rank > CUTT_KEPT_RANK)
    return false;
  const int rank = problem->rank;
  const cutt_type_info *type = cutt_type_lookup(problem->type);
  if (!type || (rank && (!problem->extents || !problem->perm)) || (options && !are_plain(options))) return false;
  if ((problem->alpha || problem->beta) && !type->scalar_bytes) return false;
  const cutt_backend *backend = cutt_backend_usable(options ? options->backend : CUTT_BACKEND_AUTO);
  if (!backend || !cutt_kept_device(backend, key->word)) return false;
  key->words = CUTT_KEPT_DEVICE_WORDS;
  add(key, (uint64_t)rank | (uint64_t)problem->type << 8 | (uint64_t)(problem->in_strides != NULL) << 16 |
               (uint64_t)(problem->out_strides != NULL) << 17 | (uint64_t)(problem->alpha != NULL) << 18 |
               (uint64_t)(problem->beta != NULL) << 19 | (uint64_t)(problem->conjugate != 0) << 20);
  add(key, options ? (uint64_t)(uint32_t)options->threads | (uint64_t)(uint32_t)options->trust_pointers << 32 : 0);
  add_scalar(key, problem->alpha, type->scalar_bytes);
  add_scalar(key, problem->beta, type->scalar_bytes);
  add_all(key, rank, problem->extents);
  for (int i = 0; i < rank; ++i) add(key, (uint64_t)problem->perm[i]);
  add_all(key, rank, problem->in_strides);
  add_all(key, rank, problem->out_strides);
  return true;
}

static uint64_t hash_of(const cutt_kept_key *key) {
  uint64_t hash = 0;
  for (int i = 0; i < key->words; ++i) {
    hash = (hash ^ key->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  return hash;
}

/* ------------------------------------------------------------------------------------------------------------ the table */

static bool enter(int set) {
  for (int i = 0; i < TRIES; ++i)
    if (!pthread_mutex_trylock(&sets[set].lock)) return true;
  return false;
}

static void leave(int set) { pthread_mutex_unlock(&sets[set].lock); }

static place *find(int set, uint64_t hash, const cutt_kept_key *key) {
  for (place *p = sets[set].way; p < sets[set].way + WAYS; ++p) {
    if (p->plan && p->hash == hash && p->key.words == key->words &&
        !memcmp(p->key.word, key->word, (size_t)key->words * sizeof *key->word))
      return p;
  }
  return NULL;
}

cuttPlan_t cutt_kept_take(const cutt_kept_key *key) {
  const uint64_t hash = hash_of(key);
  const int set = (int)(hash % SETS);
  if (!enter(set)) return NULL;
  place *p = find(set, hash, key);
  cuttPlan_t plan = p ? p->plan : NULL;
  if (plan) {
    p->used = ++sets[set].uses;
    atomic_fetch_add_explicit(&plan->users, 1, memory_order_relaxed);
  }
  leave(set);
  return plan;
}

void cutt_kept_give(cuttPlan_t plan) {
  if (plan && atomic_fetch_sub_explicit(&plan->users, 1, memory_order_acq_rel) == 1) cuttPlanDestroy(plan);
}

void cutt_kept_put(const cutt_kept_key *key, cuttPlan_t plan) {
  const uint64_t hash = hash_of(key);
  const int set = (int)(hash % SETS);
  cuttPlan_t out = plan;
  atomic_store_explicit(&plan->users, 1, memory_order_relaxed);
  if (enter(set)) {
    place *p = find(set, hash, key); /* another thread has made it at the same time */
    if (!p) {
      p = sets[set].way;
      for (place *other = p; other < sets[set].way + WAYS && p->plan; ++other)
        if (!other->plan || other->used < p->used) p = other;
      out = p->plan;
      p->plan = plan;
      p->hash = hash;
      p->key.words = key->words;
      memcpy(p->key.word, key->word, (size_t)key->words * sizeof *key->word);
      p->used = ++sets[set].uses;
    }
    leave(set);
  }
  cutt_kept_give(out);
}

void cutt_kept_clear(void) {
  for (int set = 0; set < SETS; ++set) {
    cuttPlan_t out[WAYS] = {NULL};
    if (!enter(set)) continue;
    for (int i = 0; i < WAYS; ++i) {
      out[i] = sets[set].way[i].plan;
      sets[set].way[i].plan = NULL;
    }
    leave(set);
    for (int i = 0; i < WAYS; ++i) cutt_kept_give(out[i]);
  }
}
