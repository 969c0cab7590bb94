/* A plan while it is made: what plan.c works with, and parts.c, for plans that are parts of another one. */
#ifndef CUTT_DIST_MAKING_H
#define CUTT_DIST_MAKING_H

#include "dist/parts.h"
#include "dist/plan.h"

/* What is compared. */
enum { GIVEN_FROM, GIVEN_TO, GIVEN_PERM, GIVEN_SCALARS, GIVEN_OPTIONS, CUTT_GIVEN_OF_MOVES };

/* The record of a creation, behind its head. */
typedef struct cutt_creation {
  uint64_t given[CUTT_GIVEN_OF_MOVES];
  float seconds[CUTT_WAYS]; /* below 0: this rank can't */
  uint32_t unused;
  int64_t bytes_sent;
  int64_t rounds[CUTT_WAYS];  /* on a device: pieces of the longest message */
  int64_t longest[CUTT_WAYS]; /* bytes of the longest piece that is sent */
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
  int64_t rounds[CUTT_WAYS], longest[CUTT_WAYS];
  double start; /* of a part, when it began */
  bool entered; /* the context of a device */
  cutt_scope scope;
};

/* All that a rank does before it has heard of the others. Errors: as cuttDistPlanCreate. */
cuttResult cutt_making_start(cutt_making *m, const cuttDistProblem_t *problem, const cuttDistOptions_t *options);
/* Keeps what the way needs that is the fastest by m->slowest. In the host's memory it can't fail, and is not collective. */
cuttResult cutt_making_settle(cutt_making *m);
/* The plan is one from now on; start: when its making began. */
void cutt_making_end(struct cuttDistPlanStruct *plan, double start);
/* Frees a plan that is none, or no longer. */
void cutt_making_release(struct cuttDistPlanStruct *plan);

#endif
