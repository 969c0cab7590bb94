/* A stand-in for NCCL, whose ranks are threads of a process: a libnccl.so.2 with the functions that the library calls. Memory of
 * the stand-in for the driver is the process's own, so that messages are copies. Its streams do all at once, so that a group returns
 * when all of its messages have been; or they are late, and so are groups, but no gatherings. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fake_nccl.h"

#define PUBLIC __attribute__((visibility("default")))

/* What is longer is only sent to be timed. */
enum { MOST_RANKS = 16, MOST_MESSAGES = 64, MOST_KNOWN = 256, MOST_COPIED = 1 << 20, ABORTED = 6, INVALID = 4 };

typedef struct world {
  int size;
  bool aborted;
  struct message *waiting; /* sends that nobody has received yet, the oldest first */
  int arrived, left;       /* of an all-gather */
  unsigned long long round;
  const void *part[MOST_RANKS];
} world;

struct fake_nccl_comm {
  world *w;
  int rank;
  bool destroyed;
};

typedef struct message {
  struct message *next;
  const void *bytes;
  size_t count;
  int from, to;
  bool done;
} message;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static fake_nccl_control control;

typedef struct operation {
  struct fake_nccl_comm *comm;
  bool receives;
  void *bytes;
  size_t count;
  int peer;
  message sent;
  struct CUstream_st *stream;
} operation;
static _Thread_local operation group[MOST_MESSAGES];
static _Thread_local int group_size, group_depth;

/* Memory that it knows, in a list. */
static struct known {
  void *memory;
  size_t bytes;
  struct fake_nccl_comm *comm;
} known[MOST_KNOWN];

static bool is_known(const void *bytes) {
  for (int i = 0; i < MOST_KNOWN; i++)
    if (known[i].memory && (uintptr_t)bytes - (uintptr_t)known[i].memory < known[i].bytes) return true;
  return false;
}

/* With the lock held. The real one hangs where it knows the memory at one end alone. */
static int receive(const operation *o) {
  world *w = o->comm->w;
  for (;;) {
    if (w->aborted) return ABORTED;
    for (message **m = &w->waiting; *m; m = &(*m)->next) {
      message *found = *m;
      if (found->from != o->peer || found->to != o->comm->rank) continue;
      if (found->count != o->count || is_known(found->bytes) != is_known(o->bytes)) return INVALID;
      if (is_known(o->bytes)) atomic_fetch_add(&control.between_known, 1);
      if (o->count <= MOST_COPIED) memcpy(o->bytes, found->bytes, o->count);
      *m = found->next;
      found->done = true;
      pthread_cond_broadcast(&changed);
      return 0;
    }
    pthread_cond_wait(&changed, &lock);
  }
}

static void forget(world *w, const message *m) {
  message **at = &w->waiting;
  while (*at && *at != m) at = &(*at)->next;
  if (*at) *at = m->next;
}

static int run_messages(operation *list, int count) {
  int result = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++) {
    operation *o = &list[i];
    if (o->receives) continue;
    o->sent = (message){NULL, o->bytes, o->count, o->comm->rank, o->peer, false};
    message **at = &o->comm->w->waiting;
    while (*at) at = &(*at)->next;
    *at = &o->sent;
  }
  pthread_cond_broadcast(&changed);
  for (int i = 0; i < count && !result; i++)
    if (list[i].receives) result = receive(&list[i]);
  for (int i = 0; i < count; i++) {
    operation *o = &list[i];
    while (!o->receives && !o->sent.done && !o->comm->w->aborted && !result) pthread_cond_wait(&changed, &lock);
    if (!o->receives && !o->sent.done) {
      forget(o->comm->w, &o->sent);
      result = ABORTED;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

typedef struct late_group {
  int size;
  operation list[MOST_MESSAGES];
} late_group;

static void run_late(void *data) {
  late_group *g = data;
  if (run_messages(g->list, g->size)) abort();
}

static int run_group(void) {
  const int size = group_size;
  group_size = 0;
  if (!control.later || !size || !group[0].stream) return run_messages(group, size);
  late_group late = {.size = size};
  memcpy(late.list, group, (size_t)size * sizeof *group);
  control.later(group[0].stream, run_late, &late, sizeof late);
  return 0;
}

static bool fails(void) {
  return atomic_load(&control.fail_at) && atomic_fetch_add(&control.calls, 1) + 1 == atomic_load(&control.fail_at);
}

PUBLIC int ncclGroupStart(void);
PUBLIC int ncclGroupStart(void) {
  group_depth++;
  return 0;
}

PUBLIC int ncclGroupEnd(void);
PUBLIC int ncclGroupEnd(void) {
  if (--group_depth > 0) return 0;
  if (fails()) {
    group_size = 0;
    return INVALID;
  }
  return run_group();
}

static int add(struct fake_nccl_comm *comm, bool receives, void *bytes, size_t count, int type, int peer,
               void *stream) {
  if (comm->destroyed || peer < 0 || peer >= comm->w->size || type != 1 || !count) return INVALID;
  if (group_size == MOST_MESSAGES) return INVALID;
  group[group_size++] = (operation){comm, receives, bytes, count, peer, {NULL, NULL, 0, 0, 0, false}, stream};
  return group_depth ? 0 : run_group();
}

PUBLIC int ncclSend(const void *bytes, size_t count, int type, int peer, struct fake_nccl_comm *comm, void *stream);
PUBLIC int ncclSend(const void *bytes, size_t count, int type, int peer, struct fake_nccl_comm *comm, void *stream) {
  void *own = NULL;
  memcpy(&own, &bytes, sizeof own);
  return add(comm, false, own, count, type, peer, stream);
}

PUBLIC int ncclRecv(void *bytes, size_t count, int type, int peer, struct fake_nccl_comm *comm, void *stream);
PUBLIC int ncclRecv(void *bytes, size_t count, int type, int peer, struct fake_nccl_comm *comm, void *stream) {
  return add(comm, true, bytes, count, type, peer, stream);
}

PUBLIC int ncclAllGather(const void *mine, void *all, size_t count, int type, struct fake_nccl_comm *comm,
                         void *stream);
PUBLIC int ncclAllGather(const void *mine, void *all, size_t count, int type, struct fake_nccl_comm *comm,
                         void *stream) {
  world *w = comm->w;
  (void)stream;
  if (comm->destroyed || type != 1 || fails()) return INVALID;
  pthread_mutex_lock(&lock);
  const unsigned long long round = w->round;
  w->part[comm->rank] = mine;
  if (++w->arrived == w->size) {
    w->arrived = 0;
    w->left = w->size;
    w->round++;
    pthread_cond_broadcast(&changed);
  }
  while (w->round == round && !w->aborted) pthread_cond_wait(&changed, &lock);
  const bool lost = w->round == round;
  for (int i = 0; i < w->size && !lost; i++) memcpy((unsigned char *)all + (size_t)i * count, w->part[i], count);
  if (!lost && --w->left == 0) pthread_cond_broadcast(&changed);
  while (!lost && w->left > 0) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  return lost ? ABORTED : 0;
}

PUBLIC int ncclCommCount(const struct fake_nccl_comm *comm, int *count);
PUBLIC int ncclCommCount(const struct fake_nccl_comm *comm, int *count) {
  *count = comm->w->size;
  return 0;
}

PUBLIC int ncclCommUserRank(const struct fake_nccl_comm *comm, int *rank);
PUBLIC int ncclCommUserRank(const struct fake_nccl_comm *comm, int *rank) {
  *rank = comm->rank;
  return 0;
}

PUBLIC int ncclCommGetAsyncError(struct fake_nccl_comm *comm, int *error);
PUBLIC int ncclCommGetAsyncError(struct fake_nccl_comm *comm, int *error) {
  pthread_mutex_lock(&lock);
  *error = comm->w->aborted ? ABORTED : 0;
  pthread_mutex_unlock(&lock);
  return 0;
}

/* Unlike the real one it tells the others, as a connection that breaks does. */
PUBLIC int ncclCommAbort(struct fake_nccl_comm *comm);
PUBLIC int ncclCommAbort(struct fake_nccl_comm *comm) {
  pthread_mutex_lock(&lock);
  comm->destroyed = true;
  comm->w->aborted = true;
  for (int i = 0; i < MOST_KNOWN; i++)
    if (known[i].comm == comm) known[i].memory = NULL;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return 0;
}

static int call_driver(const char *name, void *first, size_t bytes) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  void *symbol = library ? dlsym(library, name) : NULL;
  int (*allocate)(void *, size_t) = NULL;
  memcpy(&allocate, &symbol, sizeof allocate);
  return allocate ? allocate(first, bytes) : INVALID;
}

PUBLIC int ncclMemAlloc(void **memory, size_t bytes);
PUBLIC int ncclMemAlloc(void **memory, size_t bytes) { return call_driver("cuMemAlloc_v2", memory, bytes); }

PUBLIC int ncclMemFree(void *memory);
PUBLIC int ncclMemFree(void *memory) { return call_driver("cuMemFree_v2", memory, 0); }

PUBLIC int ncclCommRegister(struct fake_nccl_comm *comm, void *memory, size_t bytes, void **handle);
PUBLIC int ncclCommRegister(struct fake_nccl_comm *comm, void *memory, size_t bytes, void **handle) {
  int result = INVALID;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_KNOWN && result; i++) {
    if (known[i].memory) continue;
    known[i] = (struct known){memory, bytes, comm};
    *handle = &known[i];
    result = 0;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

PUBLIC int ncclCommDeregister(struct fake_nccl_comm *comm, void *handle);
PUBLIC int ncclCommDeregister(struct fake_nccl_comm *comm, void *handle) {
  struct known *k = handle;
  pthread_mutex_lock(&lock);
  const int result = k->comm == comm && k->memory ? 0 : INVALID;
  if (!result) k->memory = NULL;
  pthread_mutex_unlock(&lock);
  return result;
}

PUBLIC const char *ncclGetErrorString(int error);
PUBLIC const char *ncclGetErrorString(int error) {
  return error == ABORTED ? "remote process exited or there was a network error" : "invalid argument";
}

static void open_world(int size, struct fake_nccl_comm **comms) {
  world *w = calloc(1, sizeof *w);
  if (!w) abort();
  w->size = size;
  for (int i = 0; i < size; i++) {
    comms[i] = calloc(1, sizeof *comms[i]);
    if (!comms[i]) abort();
    comms[i]->w = w;
    comms[i]->rank = i;
  }
}

static void close_world(struct fake_nccl_comm **comms) {
  const int size = comms[0]->w->size;
  free(comms[0]->w);
  for (int i = 0; i < size; i++) free(comms[i]);
}

PUBLIC fake_nccl_control *fake_nccl(void);
PUBLIC fake_nccl_control *fake_nccl(void) {
  control.open = open_world;
  control.close = close_world;
  return &control;
}
