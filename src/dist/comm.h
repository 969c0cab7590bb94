/* Communicators, and how ranks agree: small records that every rank has of every other. */
#ifndef CUTT_DIST_COMM_H
#define CUTT_DIST_COMM_H

#include <stdbool.h>

#include "cutt_dist.h"

enum { CUTT_RECORD_BYTES = 192, CUTT_WHY_BYTES = 256 };

struct cutt_record;

/* Memory that a transport has made itself and knows: messages are faster where both ends are in such, and hang where one is. */
typedef struct cutt_known {
  void *memory, *handle;
} cutt_known;
typedef struct cutt_known_functions {
  cuttResult (*make)(void *data, size_t bytes, cutt_known *known);
  void (*unknow)(void *data, cutt_known *known); /* it is like any other memory from then on */
  void (*free)(void *data, cutt_known *known);
} cutt_known_functions;

struct cuttDistCommStruct {
  uint64_t magic;
  cuttDistTransport_t transport;
  unsigned long long plans;    /* made so far, the same on all ranks */
  struct cutt_record *records; /* of all ranks */
  char *whys;                  /* size texts, CUTT_WHY_BYTES each */
  int near; /* on a device: ranks open each other's memory: 1; they do not: -1; 0: nobody has tried */
  char far_why[CUTT_WHY_BYTES];      /* why they don't */
  struct cutt_context *contexts;     /* of threads with devices: those that were tried last, of all ranks */
  int contexts_near;                 /* and whether they reach each other, likewise */
  const cutt_known_functions *known; /* of transport.data; NULL: there is no such memory */
  struct cutt_opened *opened; /* memory of devices that other processes have (opened.h); NULL until a plan wants it */
};

/* Is this a communicator, and alive? Words the error CUTT_INVALID_PLAN when not. */
bool cutt_comm_alive(const struct cuttDistCommStruct *comm);

/* The error that the communicator has failed with, if it has. */
cuttResult cutt_comm_failure(const struct cuttDistCommStruct *comm);

/* Tells all ranks that this one can't go on, with the text of its last error, and returns the communicator's failure. */
cuttResult cutt_comm_fail(const struct cuttDistCommStruct *comm);

/* Collective: all receives what every rank has in mine. Errors: the communicator's failure. */
cuttResult cutt_comm_gather(const struct cuttDistCommStruct *comm, const void *mine, size_t bytes, void *all);

/* What a call is, so that ranks that are in different calls find out. */
typedef enum cutt_step {
  CUTT_STEP_CREATE = 1,
  CUTT_STEP_START = 2,
  CUTT_STEP_END = 3,
  /* Of a creation, on devices: */
  CUTT_STEP_MEET = 4,   /* how a process's memory is reached */
  CUTT_STEP_REACH = 5,  /* whether the others' is */
  CUTT_STEP_READY = 6,  /* whether a rank has all that executions need, where it had made it for another way */
  CUTT_STEP_OPENED = 8, /* whether it has opened what other processes have for it */
  /* The end of an execution for whoever uses what others have. */
  CUTT_STEP_LEAVE = 7,
  CUTT_STEP_STOPPED = 9 /* the same, where something has failed that ranks need not wait for */
} cutt_step;

/* What ranks tell each other: all of one size, so that ranks that are in different calls understand each other. */
typedef struct cutt_record {
  uint64_t plan; /* number of the plan that is made or executed */
  int32_t step;
  int32_t code;                               /* this rank's cuttResult so far */
  unsigned char what[CUTT_RECORD_BYTES - 16]; /* what the step is about */
} cutt_record;

/* Collective: gathers all ranks' records into comm->records. If a rank's code is not 0, returns that of the first such rank,
 * with its text, on all ranks; if ranks are in different calls, that is a failure of the communicator. */
cuttResult cutt_comm_agree(struct cuttDistCommStruct *comm, const cutt_record *record);

#endif
