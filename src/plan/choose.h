/* The choice among a problem's candidates. */
#ifndef CUTT_PLAN_CHOOSE_H
#define CUTT_PLAN_CHOOSE_H

#include "plan/backend.h"

/* What there is to choose for. */
typedef struct cutt_task {
  const cutt_backend *backend;
  const cutt_target *target;
  cutt_model model;
  const cutt_canonical *canonical;
  int threads;         /* as asked for; 0: the backend's default */
  bool described_only; /* the device need not be here: nothing is prepared */
} cutt_task;

/* How the candidate was chosen. */
typedef enum cutt_chosen_by { CUTT_BY_MODEL, CUTT_BY_MEASURING, CUTT_BY_WISDOM, CUTT_BY_CALLER } cutt_chosen_by;

typedef struct cutt_choice {
  cutt_candidate candidate;
  void *prepared; /* the backend's; NULL when the volume is 0 */
  cutt_chosen_by by;
  double measured_seconds; /* 0 when by the model */
} cutt_choice;

/* The task's candidates, fastest predicted first. Returns how many. */
int cutt_candidates(const cutt_task *task, cutt_candidate *list, int max);

/* Chooses a candidate by wisdom, by the model or by measuring, and prepares it, unless the device is only described.
 * The options have been validated, and the volume is above 0. */
cuttResult cutt_choose(const cutt_task *task, const cuttOptions_t *options, cutt_choice *choice);

#endif
