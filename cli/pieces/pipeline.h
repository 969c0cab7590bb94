/* Reading, work and writing that overlap: item i+1 is read while item i is worked on and item i-1 is written.
 *
 * Threads read, one thread writes, and the caller's works. Each item has a slot, item mod CUTT_PIPELINE_DEPTH, on the
 * reading side and one on the writing side, so that the memory is that of so many items, however many there are. */
#ifndef CUTT_CLI_PIECES_PIPELINE_H
#define CUTT_CLI_PIECES_PIPELINE_H

#include <limits.h>

#include "cli/cli.h"

enum { CUTT_PIPELINE_DEPTH = 2, CUTT_PIPELINE_WHY = PATH_MAX + 512 };

/* Each function does one item, or part of it, and on false has worded in `why`, of CUTT_PIPELINE_WHY bytes, what went
 * wrong; work may leave it empty when it has given a message. Items are read, worked on and written in order; parts of items, by several threads, in any order. read(i)
 * begins when work(i - CUTT_PIPELINE_DEPTH) is done, and work(i) when write(i - CUTT_PIPELINE_DEPTH) is. */
typedef struct cutt_pipeline {
  int64_t items;
  int parts;   /* that reading an item is made of */
  int readers; /* threads; they come from the system, and where it has none left all is done by the caller's */
  bool (*read)(void *data, int64_t item, int part, char *why);
  bool (*work)(void *data, int64_t item, char *why);
  bool (*write)(void *data, int64_t item, char *why);
  void *data;
  cutt_cli_progress *progress;
  const char *what;  /* for the progress bar */
  double begin, end; /* from where to where the bar goes */
} cutt_pipeline;

/* Does all items. On false a message has been given. */
bool cutt_pipeline_run(const cutt_pipeline *pipeline);

#endif
