/* A thread that starts writing a file to the disk while it is being filled, so that the disk is not idle until the end. It
 * is one of its own, since handing pages to a disk takes as long as filling them. */
#ifndef CUTT_CLI_PIECES_FLUSH_H
#define CUTT_CLI_PIECES_FLUSH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cutt_flusher {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  int descriptor;
  bool running; /* the thread could be had */
  bool wanted, stop;
  int64_t low, high; /* what is wanted, in bytes of the file */
  int64_t filled;    /* bytes since it was last woken */
} cutt_flusher;

/* descriptor -1: of no file; the other calls then do nothing. */
void cutt_flusher_start(cutt_flusher *flusher, int descriptor);

/* So many bytes were written, in stretches of `run` bytes, which go on where they ended after `span` bytes of the like; 0: they
 * don't. As long as they are short, their pages will get more, and what is written early is written twice: that waits, for
 * more of them or for the end. Called by one thread. */
void cutt_flusher_filled(cutt_flusher *flusher, int64_t bytes, int64_t run, int64_t span);

/* Bytes low .. high-1 of the file are all written. */
void cutt_flusher_complete(cutt_flusher *flusher, int64_t low, int64_t high);

void cutt_flusher_stop(cutt_flusher *flusher);

#endif
