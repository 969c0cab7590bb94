/* What a plan is made of, and the steps of making one. */
#ifndef CUTT_PLAN_PLAN_H
#define CUTT_PLAN_PLAN_H

#include <stdatomic.h>

#include "base/clock.h"
#include "plan/backend.h"

/* How the candidate was chosen. */
typedef enum cutt_chosen_by { CUTT_BY_MODEL, CUTT_BY_MEASURING, CUTT_BY_WISDOM, CUTT_BY_CALLER } cutt_chosen_by;

typedef struct cutt_choice {
  cutt_candidate candidate;
  void *prepared; /* the backend's; NULL when the volume is 0 */
  cutt_chosen_by by;
  double measured_seconds; /* 0 when by the model */
} cutt_choice;

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
  cutt_model model;
  const char *isa; /* the backend's, at creation */
  int threads;     /* as asked for; 0: the backend's default */
  double create_seconds;
  cutt_choice choice;
  cutt_canonical canonical;
  cutt_user_problem problem;
};

/* Is this a plan, and alive, as far as can be seen? Words the error CUTT_INVALID_PLAN when not. */
bool cutt_plan_alive(const struct cuttPlanStruct *plan);

/* Refuses a plan for a device that is only described. Errors: CUTT_INVALID_DEVICE. */
cuttResult cutt_plan_check_executable(const struct cuttPlanStruct *plan);

/* Bytes that an execution must move. */
int64_t cutt_bytes_moved(const cutt_canonical *canonical);

/* The backend of this id, usable here or not; NULL: this build has none. */
const cutt_backend *cutt_backend_of(cuttBackend_t id);

/* The backend that an id asks for, if it is usable here. argument: what the caller of the library calls the id, for the
 * error's text. Errors: CUTT_INVALID_PARAMETER (no such value), CUTT_INVALID_DEVICE. */
cuttResult cutt_backend_select(cuttBackend_t id, const char *argument, const cutt_backend **backend);

/* Refuses a stream, called by this name, where the backend has none. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_stream_check(const cutt_backend *backend, cudaStream_t stream, const char *name);

/* Is there memory in the process that not every backend reaches? Set, for good, when a backend notices its driver, and
 * so the whole cost of the check below for a process without one. */
extern _Atomic(bool) cutt_other_memory_possible;
cuttResult cutt_memory_look(const cutt_backend *backend, const void *memory, const char *name);

/* Refuses memory, called by this name, that only another backend's device reaches. Errors: CUTT_INVALID_PARAMETER. */
static inline cuttResult cutt_memory_check(const cutt_backend *backend, const void *memory, const char *name) {
  const bool look = atomic_load_explicit(&cutt_other_memory_possible, memory_order_relaxed);
  return look ? cutt_memory_look(backend, memory, name) : CUTT_SUCCESS;
}

/* May a problem be executed on these buffers? Checks NULL and overlap; only for a volume above 0. The names are those
 * of the arguments. Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_buffers_check(const cutt_canonical *canonical, const void *in, const void *out, const char *in_name,
                              const char *out_name);

/* Chooses a candidate by wisdom, by the model or by measuring, and prepares it, unless the device is only described: fills
 * plan->choice. All else of the plan is there, options have been validated, and the volume is above 0. */
cuttResult cutt_choose(struct cuttPlanStruct *plan, const cuttOptions_t *options);

/* The plan's candidates, as when it was made. Returns how many. */
int cutt_plan_candidates(const struct cuttPlanStruct *plan, cutt_candidate *list, int max);

#endif
