/* A plan while it is made: what plan.c works with, and parts.c, for plans that are parts of another one. */
#ifndef CUTT_DIST_MAKING_H
#define CUTT_DIST_MAKING_H

#include "dist/parts.h"
#include "dist/plan.h"

/* What is compared. */
enum { GIVEN_FROM, GIVEN_TO, GIVEN_PERM, GIVEN_SCALARS, GIVEN_OPTIONS, CUTT_GIVEN_OF_MOVES };

/* Of a thread's device: its context, and the plan's part for it. */
typedef struct cutt_seen {
  cutt_context context;
  cutt_device_part *part;
} cutt_seen;

/* The record of a creation, behind its head. */
typedef struct cutt_creation {
  uint64_t given[CUTT_GIVEN_OF_MOVES];
  float seconds[CUTT_WAYS]; /* below 0: this rank can't */
  int32_t made;             /* on a device: 1 + the way that the plan has been made for; 0: none */
  int32_t slots;            /* likewise: 1 << way: all messages begin and end in slots */
  int64_t bytes_sent;
  int64_t rounds[CUTT_WAYS];  /* on a device: pieces of the longest message */
  int64_t longest[CUTT_WAYS]; /* bytes of the longest piece that is sent */
  cutt_seen seen;             /* where ranks are threads with devices */
} cutt_creation;
_Static_assert(sizeof(cutt_creation) <= sizeof((cutt_record){0}.what), "what a creation tells fits into a record");

/* What a creation works with until the plan is made. */
struct cutt_making {
  struct cuttDistPlanStruct *plan;
  cuttDistProblem_t problem;
  cuttDistOptions_t options;
  cutt_exchange exchange[CUTT_WAYS];
  cutt_creation record;
  /* Of each way, what is largest among all ranks. */
  double slowest[CUTT_WAYS];
  int64_t rounds[CUTT_WAYS];
  /* On a device: what all ranks have made, as in the record (-1: not all the same); what each thread has said of itself; what other
   * processes are told, and what they tell. */
  int32_t all_made, all_slots; /* the latter: those of all */
  cutt_seen *seen;
  cutt_neighbour *own, *neighbours; /* the latter, of all ranks, follow each other */
  double start;                     /* of a part, when it began */
  bool entered;                     /* the context of a device */
  cutt_scope scope;
};

/* All that a rank does before it has heard of the others. Errors: as cuttDistPlanCreate. */
cuttResult cutt_making_start(cutt_making *m, const cuttDistProblem_t *problem, const cuttDistOptions_t *options);
/* Keeps what the way needs that is the fastest by m->slowest. In the host's memory it can't fail, and is not collective. */
cuttResult cutt_making_settle(cutt_making *m);
/* The way whose slowest rank is fastest, among those that all ranks can go; direct: that is one of them. */
cutt_way cutt_making_choose(const double seconds[CUTT_WAYS], bool direct);
/* Frees what a creation has beside its plan. */
void cutt_making_free(cutt_making *m);

/* ---- on devices (ready.c) */

/* Makes what executions need, for the way that this rank takes to be the fastest: mostly all ranks do, and nothing remains that can
 * fail when they have agreed. Errors: CUTT_INTERNAL_ERROR, CUTT_INVALID_DEVICE. */
cuttResult cutt_ready_start(cutt_making *m);
/* Notes what a rank's record says. */
void cutt_ready_note(cutt_making *m, int rank, const cutt_creation *record);
/* Processes try once whether they reach each other, when all of them have asked for a plan; what is planned depends on it: then
 * *again. Collective. */
cuttResult cutt_ready_near(const cutt_making *m, bool *again);
/* May the way be direct? If not, *way is another one, or that is the error. Collective. */
cuttResult cutt_ready_direct(const cutt_making *m, cutt_way *way);
/* Sees to it that the plan is made for a way, and, where ranks are near, finds what others have of it. Collective. */
cuttResult cutt_ready_end(cutt_making *m, cutt_way way);
/* The plan is one from now on; start: when its making began. */
void cutt_making_end(struct cuttDistPlanStruct *plan, double start);
/* Frees a plan that is none, or no longer. */
void cutt_making_release(struct cuttDistPlanStruct *plan);

#endif
