/* Streams that do their work later; see fake_late.h. */
#include "cuda/fake_late.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/fake_driver.h"

struct fake_mark {
  struct fake_mark *next;
  bool reached;
};

typedef struct item {
  struct item *next;
  void (*work)(void *data);
  max_align_t data[];
} item;

typedef struct fake_queue {
  struct fake_queue *next;
  struct CUstream_st *stream;
  pthread_t thread;
  item *first, **last;
  bool busy, stop;
  unsigned seed;
} queue;

/* All under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool late;
static queue *queues;
static struct fake_mark *marks; /* all that were made: events that are kept have them */
static unsigned seeds;

static void *must(void *made) {
  if (!made) abort();
  return made;
}

/* Every other piece of work is late by up to a fifth of a millisecond; one in 16 by two. */
static void pause_a_little(queue *q) {
  q->seed = q->seed * 1664525 + 1013904223;
  const unsigned number = q->seed >> 16;
  if (number % 2) usleep(number % 16 == 1 ? 2000 : number / 16 % 200);
}

static void *run(void *argument) {
  queue *q = argument;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!q->first && !q->stop) pthread_cond_wait(&changed, &lock);
    item *now = q->first;
    if (!now) break;
    q->first = now->next;
    if (!q->first) q->last = &q->first;
    q->busy = true;
    pthread_mutex_unlock(&lock);
    pause_a_little(q);
    now->work(now->data);
    free(now);
    pthread_mutex_lock(&lock);
    q->busy = false;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* With the lock held. */
static queue *queue_of(struct CUstream_st *stream) {
  if (stream->queue) return stream->queue;
  queue *made = must(calloc(1, sizeof *made));
  made->last = &made->first;
  made->seed = ++seeds * 2654435761u;
  made->stream = stream;
  made->next = queues;
  queues = stream->queue = made;
  if (pthread_create(&made->thread, NULL, run, made)) abort();
  return made;
}

bool fake_late_is_on(void) {
  pthread_mutex_lock(&lock);
  const bool is = late;
  pthread_mutex_unlock(&lock);
  return is;
}

void fake_late_switch(bool on) {
  pthread_mutex_lock(&lock);
  late = on;
  queue *ended = on ? NULL : queues;
  if (!on) queues = NULL;
  for (queue *q = ended; q; q = q->next) q->stop = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  while (ended) {
    queue *q = ended;
    ended = q->next;
    pthread_join(q->thread, NULL);
    q->stream->queue = NULL;
    free(q);
  }
}

void fake_late_do(struct CUstream_st *stream, void (*work)(void *data), const void *data, size_t bytes) {
  item *made = must(calloc(1, sizeof *made + bytes + sizeof(max_align_t)));
  if (stream) stream->work++;
  made->work = work;
  memcpy(made->data, data, bytes);
  pthread_mutex_lock(&lock);
  const bool now = !late || !stream;
  if (!now) {
    queue *q = queue_of(stream);
    *q->last = made;
    q->last = &made->next;
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  if (!now) return;
  work(made->data);
  free(made);
}

/* With the lock held. */
static bool has_work(const queue *q) { return q && (q->first || q->busy); }

void fake_late_finish(struct CUstream_st *stream) {
  if (!stream) return;
  pthread_mutex_lock(&lock);
  while (has_work(stream->queue)) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void fake_late_finish_all(const void *context) {
  pthread_mutex_lock(&lock);
  for (queue *q = queues; q; q = q->next)
    while (q->stream->context == context && has_work(q)) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void reach(void *data) {
  struct fake_mark *mark = NULL;
  memcpy(&mark, data, sizeof mark);
  pthread_mutex_lock(&lock);
  mark->reached = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void wait_for(void *data) {
  struct fake_mark *mark = NULL;
  memcpy(&mark, data, sizeof mark);
  pthread_mutex_lock(&lock);
  while (!mark->reached) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

struct fake_mark *fake_late_mark(struct CUstream_st *stream) {
  struct fake_mark *mark = must(calloc(1, sizeof *mark));
  pthread_mutex_lock(&lock);
  mark->next = marks;
  marks = mark;
  pthread_mutex_unlock(&lock);
  fake_late_do(stream, reach, &mark, sizeof mark);
  return mark;
}

bool fake_late_reached(const struct fake_mark *mark) {
  pthread_mutex_lock(&lock);
  const bool reached = mark->reached;
  pthread_mutex_unlock(&lock);
  return reached;
}

void fake_late_wait(struct CUstream_st *stream, struct fake_mark *mark) {
  fake_late_do(stream, wait_for, &mark, sizeof mark);
}
