/* Plans that are parts of something larger (parts.h). */
#include "dist/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/making.h"
#include "plan/services.h"

cuttResult cutt_part_start(cutt_making **making, struct cuttDistCommStruct *comm, const cuttDistProblem_t *problem,
                           const cuttDistOptions_t *options) {
  cutt_making *m = calloc(1, sizeof *m);
  struct cuttDistPlanStruct *plan = calloc(1, sizeof *plan);
  *making = m;
  if (!m || !plan) {
    free(plan);
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *m + sizeof *plan);
  }
  m->start = cutt_clock();
  m->plan = plan;
  plan->comm = comm;
  return cutt_making_start(m, problem, options);
}

void cutt_part_tell(const cutt_making *m, float seconds[CUTT_WAYS], int64_t *sent, int64_t *received) {
  memcpy(seconds, m->record.seconds, sizeof m->record.seconds);
  *sent = m->record.bytes_sent;
  *received = larger(m->exchange[CUTT_WAY_PACK].flow[CUTT_TO].bytes, m->exchange[CUTT_WAY_UNPACK].flow[CUTT_TO].bytes);
}

size_t cutt_part_room(const cutt_making *m) { return m->plan->workspace_bytes; }

cuttDistPlan_t cutt_part_end(cutt_making **making, const float slowest[CUTT_WAYS]) {
  cutt_making *m = *making;
  struct cuttDistPlanStruct *plan = m->plan;
  for (int way = 0; way < CUTT_WAYS; ++way)
    m->slowest[way] = slowest[way] < 0 ? (double)INFINITY : (double)slowest[way];
  plan->number = ++plan->comm->plans;
  for (int rank = 0; rank < plan->task.size; ++rank) plan->sent[rank] = 0;
  plan->sent[plan->task.me] = m->record.bytes_sent;
  cutt_making_settle(m);
  cutt_making_end(plan, m->start);
  m->plan = NULL;
  cutt_part_drop(making);
  return plan;
}

void cutt_part_drop(cutt_making **making) {
  cutt_making *m = *making;
  *making = NULL;
  if (!m) return;
  if (m->plan) cutt_making_release(m->plan);
  cutt_making_free(m);
}
