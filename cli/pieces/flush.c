/* Writing to the disk meanwhile; see flush.h. */
#include "cli/pieces/flush.h"

#include <fcntl.h>

static void *flush(void *argument) {
  cutt_flusher *f = argument;
  pthread_mutex_lock(&f->lock);
  for (;;) {
    while (!f->stop && !f->wanted) pthread_cond_wait(&f->changed, &f->lock);
    if (!f->wanted) break;
    const int64_t low = f->low, high = f->high;
    f->wanted = false;
    pthread_mutex_unlock(&f->lock);
    sync_file_range(f->descriptor, low, high - low, SYNC_FILE_RANGE_WRITE); /* where it fails, the end will tell */
    pthread_mutex_lock(&f->lock);
  }
  pthread_mutex_unlock(&f->lock);
  return NULL;
}

void cutt_flusher_start(cutt_flusher *flusher, int descriptor) {
  *flusher =
      (cutt_flusher){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .descriptor = descriptor};
  flusher->running = descriptor >= 0 && pthread_create(&flusher->thread, NULL, flush, flusher) == 0;
}

/* The thread takes what is asked for meanwhile together. */
static void want(cutt_flusher *flusher, int64_t low, int64_t high) {
  pthread_mutex_lock(&flusher->lock);
  flusher->low = flusher->wanted && flusher->low < low ? flusher->low : low;
  flusher->high = flusher->wanted && flusher->high > high ? flusher->high : high;
  flusher->wanted = true;
  pthread_cond_signal(&flusher->changed);
  pthread_mutex_unlock(&flusher->lock);
}

void cutt_flusher_complete(cutt_flusher *flusher, int64_t low, int64_t high) {
  if (flusher->running && high > low) want(flusher, low, high);
}

void cutt_flusher_filled(cutt_flusher *flusher, int64_t bytes, int64_t run, int64_t span) {
  const int64_t often = (int64_t)32 << 20, least = (int64_t)16 << 10, least_together = (int64_t)32 << 10;
  flusher->filled += bytes;
  const double together = span > 0 ? (double)run * (double)flusher->filled / (double)span : 0.0;
  if (!flusher->running || flusher->filled < often || (run < least && together < (double)least_together)) return;
  flusher->filled = 0;
  want(flusher, 0, INT64_MAX);
}

void cutt_flusher_stop(cutt_flusher *flusher) {
  if (!flusher->running) return;
  pthread_mutex_lock(&flusher->lock);
  flusher->stop = true;
  pthread_cond_signal(&flusher->changed);
  pthread_mutex_unlock(&flusher->lock);
  pthread_join(flusher->thread, NULL);
  flusher->running = false;
}
