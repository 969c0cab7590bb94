/* Redistributions in the host's memory that are parts of something larger, which agrees once for all of its parts: each is started by
 * a rank alone, and ended by what all ranks say of it. */
#ifndef CUTT_DIST_PARTS_H
#define CUTT_DIST_PARTS_H

#include "dist/comm.h"
#include "dist/exchange.h"

typedef struct cutt_making cutt_making;

/* Does all that can fail. *making is to be ended or dropped. Errors: as cuttDistPlanCreate, of this rank alone. */
cuttResult cutt_part_start(cutt_making **making, struct cuttDistCommStruct *comm, const cuttDistProblem_t *problem,
                           const cuttDistOptions_t *options);
/* What others have to know: seconds of each way (below 0: this rank can't go it), and bytes that go and, by messages, come. */
void cutt_part_tell(const cutt_making *making, float seconds[CUTT_WAYS], int64_t *sent, int64_t *received);
/* Most bytes of workspace that the plan may come to have. */
size_t cutt_part_room(const cutt_making *making);
/* Makes the plan, given the seconds of the slowest rank; frees *making. */
cuttDistPlan_t cutt_part_end(cutt_making **making, const float slowest[CUTT_WAYS]);
/* Frees what was started; *making may be NULL. */
void cutt_part_drop(cutt_making **making);

#endif
