/* The transport between threads of one process.
 *
 * Each rank has a mailbox with the messages to it whose other end is not there yet: sends, or its own receives. Whoever comes
 * second copies, outside of the lock, from memory to memory: a message is copied once, and no call has to be made to get it
 * on. One lock guards all mailboxes, since it is held for a few instructions; each rank sleeps on a condition of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cutt_dist.h"

enum { MOST_THREADS = 4096, WHY_BYTES = 512 };

typedef enum message_state { WAITING, COPIED, DONE } message_state; /* COPIED: under way */

/* A message as one end has it, in the room of a cuttDistRequest_t. */
typedef struct message {
  struct message *next; /* in the mailbox */
  unsigned char *bytes;
  int64_t count;
  int from, to;
  message_state state;
  int owner; /* the rank that waits for it */
} message;
_Static_assert(sizeof(message) <= sizeof(cuttDistRequest_t), "a message fits into a request");

typedef struct mailbox {
  message *sends, *receives; /* in the order in which they were started */
  pthread_cond_t changed;    /* a message of this rank's has been copied, or a rank has failed */
} mailbox;

typedef struct world {
  pthread_mutex_t lock;
  pthread_cond_t gathered;
  int size, alive;
  mailbox *box;
  /* An allgather: what has come so far, and the number of those that are over. */
  const void **part;
  int64_t part_bytes;
  int arrived, left;
  unsigned long long round;
  int failed; /* rank, or -1 */
  char why[WHY_BYTES];
  struct end {
    struct world *world;
    int rank;
  } * end;
} world;

static void fail_locked(world *w, int rank, const char *text) {
  if (w->failed >= 0) return;
  w->failed = rank;
  snprintf(w->why, sizeof w->why, "%s", text);
  pthread_cond_broadcast(&w->gathered);
  for (int i = 0; i < w->size; ++i) pthread_cond_broadcast(&w->box[i].changed);
}

static void threads_fail(void *data, const char *text) {
  const struct end *e = data;
  pthread_mutex_lock(&e->world->lock);
  fail_locked(e->world, e->rank, text);
  pthread_mutex_unlock(&e->world->lock);
}

static const char *threads_failure(void *data, int *rank) {
  const struct end *e = data;
  pthread_mutex_lock(&e->world->lock);
  *rank = e->world->failed; /* the text does not change any more */
  pthread_mutex_unlock(&e->world->lock);
  return *rank < 0 ? NULL : e->world->why;
}

/* Takes the first message between the same two ranks out of a list; NULL: there is none. */
static message *take(message **list, int from, int to) {
  for (; *list; list = &(*list)->next) {
    message *m = *list;
    if (m->from != from || m->to != to) continue;
    *list = m->next;
    return m;
  }
  return NULL;
}

static void append(message **list, message *m) {
  while (*list) list = &(*list)->next;
  *list = m;
}

/* Starts one end of a message: copies if the other end waits in `others`, else waits in `own`. */
static int start(const struct end *e, message *m, message **others, message **own) {
  world *w = e->world;
  pthread_mutex_lock(&w->lock);
  if (w->failed >= 0) {
    pthread_mutex_unlock(&w->lock);
    return 1;
  }
  message *other = take(others, m->from, m->to);
  if (!other) {
    append(own, m);
    pthread_mutex_unlock(&w->lock);
    return 0;
  }
  if (other->count != m->count) {
    char text[WHY_BYTES];
    snprintf(text, sizeof text, "a message from rank %d to rank %d has %lld bytes at one end and %lld at the other",
             m->from, m->to, (long long)m->count, (long long)other->count);
    fail_locked(w, e->rank, text);
    other->state = DONE;
    pthread_mutex_unlock(&w->lock);
    return 1;
  }
  other->state = COPIED;
  pthread_mutex_unlock(&w->lock);
  const message *source = m->owner == m->from ? m : other, *target = source == m ? other : m;
  memcpy(target->bytes, source->bytes, (size_t)m->count);
  pthread_mutex_lock(&w->lock);
  m->state = other->state = DONE;
  pthread_cond_broadcast(&w->box[other->owner].changed);
  pthread_mutex_unlock(&w->lock);
  return 0;
}

static int check_peer(const struct end *e, int peer) { return peer < 0 || peer >= e->world->size; }

static int threads_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  const struct end *e = data;
  message *m = (message *)(void *)request;
  if (check_peer(e, peer)) return 1;
  *m = (message){NULL, (unsigned char *)(uintptr_t)bytes, count, e->rank, peer, WAITING, e->rank};
  return start(e, m, &e->world->box[peer].receives, &e->world->box[peer].sends);
}

static int threads_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  const struct end *e = data;
  message *m = (message *)(void *)request;
  if (check_peer(e, peer)) return 1;
  *m = (message){NULL, bytes, count, peer, e->rank, WAITING, e->rank};
  return start(e, m, &e->world->box[e->rank].sends, &e->world->box[e->rank].receives);
}

static void forget(message **list, const message *m) {
  while (*list && *list != m) list = &(*list)->next;
  if (*list) *list = m->next;
}

static int threads_wait(void *data, cuttDistRequest_t *request) {
  const struct end *e = data;
  world *w = e->world;
  message *m = (message *)(void *)request;
  pthread_mutex_lock(&w->lock);
  /* After a failure a message that nobody copies yet is taken back; a copy that is under way is waited for. */
  while (m->state == COPIED || (m->state == WAITING && w->failed < 0))
    pthread_cond_wait(&w->box[e->rank].changed, &w->lock);
  const int lost = m->state != DONE;
  if (lost) {
    mailbox *box = &w->box[m->to];
    forget(m->owner == m->from ? &box->sends : &box->receives, m);
  }
  pthread_mutex_unlock(&w->lock);
  return lost;
}

/* Copies what all have brought. Nobody leaves before all have copied, so that a rank's record is its own again. */
static int threads_allgather(void *data, const void *mine, int64_t count, void *all) {
  const struct end *e = data;
  world *w = e->world;
  pthread_mutex_lock(&w->lock);
  if (w->failed < 0 && w->arrived && w->part_bytes != count)
    fail_locked(w, e->rank, "ranks gather records of different lengths");
  if (w->failed >= 0) {
    pthread_mutex_unlock(&w->lock);
    return 1;
  }
  const unsigned long long round = w->round;
  w->part[e->rank] = mine;
  w->part_bytes = count;
  if (++w->arrived == w->size) {
    w->arrived = 0;
    w->left = w->size;
    w->round++;
    pthread_cond_broadcast(&w->gathered);
  }
  while (w->round == round && w->failed < 0) pthread_cond_wait(&w->gathered, &w->lock);
  const int lost = w->round == round;
  if (!lost)
    for (int i = 0; i < w->size; ++i)
      memcpy((unsigned char *)all + (size_t)i * (size_t)count, w->part[i], (size_t)count);
  if (!lost && --w->left == 0) pthread_cond_broadcast(&w->gathered);
  while (!lost && w->left > 0) pthread_cond_wait(&w->gathered, &w->lock);
  pthread_mutex_unlock(&w->lock);
  return lost;
}

static void free_world(world *w) {
  for (int i = 0; i < w->size; ++i) pthread_cond_destroy(&w->box[i].changed);
  pthread_cond_destroy(&w->gathered);
  pthread_mutex_destroy(&w->lock);
  free(w->box);
  free(w->part);
  free(w->end);
  free(w);
}

static void threads_destroy(void *data) {
  world *w = ((const struct end *)data)->world;
  pthread_mutex_lock(&w->lock);
  const int alive = --w->alive;
  pthread_mutex_unlock(&w->lock);
  if (!alive) free_world(w);
}

static world *make_world(int size) {
  world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  w->box = calloc((size_t)size, sizeof *w->box);
  w->part = calloc((size_t)size, sizeof *w->part);
  w->end = calloc((size_t)size, sizeof *w->end);
  if (!w->box || !w->part || !w->end) {
    free(w->box);
    free(w->part);
    free(w->end);
    free(w);
    return NULL;
  }
  w->size = w->alive = size;
  w->failed = -1;
  pthread_mutex_init(&w->lock, NULL); /* with default attributes, these fail nowhere on Linux */
  pthread_cond_init(&w->gathered, NULL);
  for (int i = 0; i < size; ++i) {
    pthread_cond_init(&w->box[i].changed, NULL);
    w->end[i].world = w;
    w->end[i].rank = i;
  }
  return w;
}

cuttResult cuttDistCommThreads(int size, cuttDistComm_t *comms) {
  if (size < 1 || size > MOST_THREADS)
    return cutt_error(CUTT_INVALID_PARAMETER, "size is %d; it must be 1 to %d", size, MOST_THREADS);
  if (!comms)
    return cutt_error(CUTT_INVALID_PARAMETER, "comms is NULL; it must point to size = %d communicators", size);
  for (int i = 0; i < size; ++i) comms[i] = NULL;
  world *w = make_world(size);
  if (!w) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory for communicators of %d threads", size);
  for (int i = 0; i < size; ++i) {
    const cuttDistTransport_t transport = {.struct_size = sizeof transport,
                                           .name = "threads",
                                           .data = &w->end[i],
                                           .rank = i,
                                           .size = size,
                                           .shared = 1,
                                           .message_seconds = 1e-6,
                                           .byte_seconds = 1e-10,
                                           .send = threads_send,
                                           .receive = threads_receive,
                                           .wait = threads_wait,
                                           .allgather = threads_allgather,
                                           .fail = threads_fail,
                                           .failure = threads_failure,
                                           .destroy = threads_destroy};
    const cuttResult result = cuttDistCommCreate(&comms[i], &transport);
    if (!result) continue;
    w->alive = i; /* those that were made free it with themselves; if there is none, it is freed here */
    if (i == 0) free_world(w);
    while (i > 0) {
      cuttDistCommDestroy(comms[--i]);
      comms[i] = NULL;
    }
    return result;
  }
  return CUTT_SUCCESS;
}
