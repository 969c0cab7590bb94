/* What a plan is made of, and the steps of making one. */
#ifndef CUTT_PLAN_PLAN_H
#define CUTT_PLAN_PLAN_H

#include <stdatomic.h>

#include "base/clock.h"
#include "plan/backend.h"
#include "plan/choose.h"

/* The user's problem as far as it is told again by cuttPlanDescribe. Entries past rank are not set. */
typedef struct cutt_user_problem {
  int rank;
  cuttType_t type;
  bool in_strided, out_strided; /* strides were given; else packed, and the arrays are not set */
  int64_t extents[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
  int64_t in_strides[CUTT_MAX_RANK];
  int64_t out_strides[CUTT_MAX_RANK]; /* by output mode */
} cutt_user_problem;

struct cuttPlanStruct {
  uint64_t magic;
  const cutt_backend *backend;
  const cutt_target *target; /* the device that it is for */
  cutt_target *own_target;   /* the same when it was read for this plan, else NULL */
  bool described_only;       /* for a described device: nothing is prepared, and it can't be executed */
  bool trusted;              /* nobody looks what memory the pointers of an execution are of */
  cutt_model model;
  const char *isa; /* the backend's, at creation */
  int threads;     /* as asked for; 0: the backend's default */
  double create_seconds;
  atomic_int users; /* of a plan that cuttPermute keeps */
  cutt_choice choice;
  cutt_canonical canonical;
  cutt_user_problem problem;
};

/* What a plan of a valid problem without strides and scalars was, so that it can be made again as it was. */
typedef struct cutt_plan_remains {
  const cutt_backend *backend;
  const cutt_target *target;
  const char *isa;
  cutt_choice choice;
} cutt_plan_remains;
cutt_plan_remains cutt_plan_remains_of(const struct cuttPlanStruct *plan);
/* In the context that the plan was for. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_plan_again(cuttPlan_t *plan, const cuttProblem_t *problem, const cutt_plan_remains *remains);

/* Is this a plan, and alive, as far as can be seen? */
bool cutt_plan_is_alive(const struct cuttPlanStruct *plan);
/* Words the error for one that is not, which the caller calls by this name. Returns CUTT_INVALID_PLAN. */
cuttResult cutt_plan_refuse(const struct cuttPlanStruct *plan, const char *name);
/* Both, for one that is called plan. */
bool cutt_plan_alive(const struct cuttPlanStruct *plan);

/* Refuses a plan for a device that is only described. Errors: CUTT_INVALID_DEVICE. */
cuttResult cutt_plan_check_executable(const struct cuttPlanStruct *plan);

/* Bytes that an execution must move. */
int64_t cutt_bytes_moved(const cutt_canonical *canonical);

/* The plan's candidates, as when it was made. Returns how many. */
int cutt_plan_candidates(const struct cuttPlanStruct *plan, cutt_candidate *list, int max);

#endif
