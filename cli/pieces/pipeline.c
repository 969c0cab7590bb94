/* Reading, work and writing that overlap; see pipeline.h. */
#include "cli/pieces/pipeline.h"

#include <pthread.h>
#include <stdio.h>

enum { DEPTH = CUTT_PIPELINE_DEPTH, MOST_READERS = 32 };

/* What the threads share; all but `pipeline` only under the lock. */
typedef struct state {
  const cutt_pipeline *pipeline;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t next_part;       /* the first that no reader has taken: of item next_part / parts */
  int parts_read[DEPTH];   /* of the item in that slot */
  int64_t worked, written; /* items that are done */
  int64_t reads;           /* parts that are done, of all items */
  bool stop;               /* something failed, or threads can't be had */
  bool failed;
  char why[CUTT_PIPELINE_WHY]; /* of what failed first */
} state;

static void fail(state *s, const char *why) {
  if (!s->failed) snprintf(s->why, sizeof s->why, "%s", why);
  s->failed = s->stop = true;
}

static void *read_parts(void *argument) {
  state *s = argument;
  const cutt_pipeline *p = s->pipeline;
  char why[CUTT_PIPELINE_WHY] = "";
  pthread_mutex_lock(&s->lock);
  for (;;) {
    while (!s->stop && s->next_part < p->items * p->parts && s->next_part / p->parts >= s->worked + DEPTH)
      pthread_cond_wait(&s->changed, &s->lock);
    if (s->stop || s->next_part >= p->items * p->parts) break;
    const int64_t item = s->next_part / p->parts;
    const int part = (int)(s->next_part++ % p->parts);
    pthread_mutex_unlock(&s->lock);
    const bool good = p->read(p->data, item, part, why);
    pthread_mutex_lock(&s->lock);
    if (!good) fail(s, why);
    ++s->parts_read[item % DEPTH];
    ++s->reads;
    pthread_cond_broadcast(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static void *write_items(void *argument) {
  state *s = argument;
  const cutt_pipeline *p = s->pipeline;
  char why[CUTT_PIPELINE_WHY] = "";
  pthread_mutex_lock(&s->lock);
  while (s->written < p->items) {
    while (!s->stop && s->worked <= s->written) pthread_cond_wait(&s->changed, &s->lock);
    if (s->stop) break;
    const int64_t item = s->written;
    pthread_mutex_unlock(&s->lock);
    const bool good = p->write(p->data, item, why);
    pthread_mutex_lock(&s->lock);
    if (!good) fail(s, why);
    ++s->written;
    pthread_cond_broadcast(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
  return NULL;
}

static void show(const state *s) {
  const cutt_pipeline *p = s->pipeline;
  const double done = 0.5 * ((double)s->reads / p->parts + (double)s->written) / (double)p->items;
  cutt_cli_progress_show(p->progress, p->what, p->begin + (p->end - p->begin) * done);
}

/* The caller's part of it. */
static void work_items(state *s) {
  const cutt_pipeline *p = s->pipeline;
  char why[CUTT_PIPELINE_WHY] = "";
  pthread_mutex_lock(&s->lock);
  while (!s->stop && s->written < p->items) {
    const int64_t item = s->worked;
    show(s);
    if (item >= p->items || s->parts_read[item % DEPTH] < p->parts || item >= s->written + DEPTH) {
      pthread_cond_wait(&s->changed, &s->lock);
      continue;
    }
    pthread_mutex_unlock(&s->lock);
    const bool good = p->work(p->data, item, why);
    pthread_mutex_lock(&s->lock);
    if (!good) fail(s, why);
    s->parts_read[item % DEPTH] = 0;
    ++s->worked;
    pthread_cond_broadcast(&s->changed);
  }
  pthread_mutex_unlock(&s->lock);
}

/* One after the other, where threads can't be had. */
static void run_alone(state *s) {
  const cutt_pipeline *p = s->pipeline;
  for (int64_t item = 0; item < p->items && !s->failed; ++item) {
    bool good = true;
    for (int part = 0; part < p->parts && good; ++part) good = p->read(p->data, item, part, s->why);
    s->reads += p->parts;
    good = good && p->work(p->data, item, s->why) && p->write(p->data, item, s->why);
    s->failed = !good;
    ++s->written;
    show(s);
  }
}

bool cutt_pipeline_run(const cutt_pipeline *pipeline) {
  state s = {.pipeline = pipeline, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  pthread_t threads[MOST_READERS + 1];
  int count = 0;
  const int readers = pipeline->readers < MOST_READERS ? pipeline->readers : MOST_READERS;
  /* Under the lock no thread begins before it is known whether there are enough of them. */
  pthread_mutex_lock(&s.lock);
  bool writer = pthread_create(&threads[count], NULL, write_items, &s) == 0;
  count += writer;
  while (writer && count <= readers && pthread_create(&threads[count], NULL, read_parts, &s) == 0) ++count;
  const bool enough = count > 1;
  s.stop = !enough;
  pthread_mutex_unlock(&s.lock);
  if (enough) work_items(&s);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  if (!enough) run_alone(&s);
  pthread_mutex_destroy(&s.lock);
  pthread_cond_destroy(&s.changed);
  if (!s.failed) return true;
  cutt_cli_progress_clear(pipeline->progress);
  if (s.why[0]) cutt_cli_message("%s", s.why);
  return false;
}
