/* A race: several ways to do one thing, timed by turns. */
#ifndef CUTT_PLAN_RACE_H
#define CUTT_PLAN_RACE_H

#include "runtime/runtime.h"

/* The time limit where the caller names none. */
#define CUTT_MEASURE_SECONDS 2.0

typedef struct cutt_racer {
  cutt_work work;   /* one execution */
  const char *name; /* for the log */
  double
      expected; /* seconds of an execution; 0: not known. What is expected to end after the deadline does not begin */
  double
      first; /* seconds of the first run, which also warmed up, or of the second one, if that was far from expected; < 0: it has not run */
  double fastest; /* seconds of the fastest run after it; < 0: none yet */
  bool racing;
} cutt_racer;

typedef struct cutt_race {
  const cutt_runtime *runtime;
  cudaStream_t stream;
  double deadline; /* by cutt_clock */
  /* Makes racer number i ready, before its first run; one that fails is left out. */
  cuttResult (*prepare)(void *data, int i);
  void *data;
} cutt_race;

/* Runs racers by turns until it is clear who is fastest, or until the deadline; the first that can be run is run whatever the
 * deadline. Sets each racer's times. Returns the number of the fastest, or -1 where none could be run, and *result says why.
 * *raced (may be NULL): how many ran. */
int cutt_race_run(const cutt_race *race, cutt_racer *list, int count, int *raced, cuttResult *result);

#endif
