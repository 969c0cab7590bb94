/* Plans for devices: streams, events and workspace, whether ranks reach each other, and what they have to know of each other.
 *
 * A rank makes all of its plan before it has heard of the others, for the way that it predicts to be the fastest. The agreement of the
 * creation says which that was: only where ranks have not all made what is chosen then, it is made again, and they agree once
 * more. Whether threads' contexts reach each other is tried and agreed upon once for these contexts. Processes open what others
 * have for a plan, which is two more steps: to hear of it, and that all have opened it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dist/making.h"
#include "dist/reach.h"
#include "plan/services.h"

/* -------------------------------------------------------------------------------------------------------------- one rank */

/* Other processes open what this one has. */
static bool opens(const cutt_device_part *d) { return d->near && !d->shared; }

/* Messages between known memory are faster, but both ends have to be there, and what needs no slot has none. */
static bool uses_known(const cutt_making *m, cutt_way way) {
  const struct cuttDistPlanStruct *plan = m->plan;
  return plan->comm->known && plan->device.way == CUTT_IN_STREAM && (m->all_slots & m->record.slots & 1 << way);
}

static cuttResult make(cutt_making *m, cutt_way way) {
  struct cuttDistPlanStruct *plan = m->plan;
  cutt_device_part *d = &plan->device;
  const int64_t longest = m->record.longest[way];
  plan->exchange = m->exchange[way];
  memset(&m->exchange[way], 0, sizeof m->exchange[way]);
  m->record.made = 1 + (int32_t)way;
  d->knows = uses_known(m, way);
  d->stride = (longest + CUTT_PIECE_ALIGNMENT - 1) / CUTT_PIECE_ALIGNMENT * CUTT_PIECE_ALIGNMENT;
  if (!d->shared) d->near = plan->comm->near > 0 && (d->way == CUTT_BY_COPIES || way == CUTT_WAY_DIRECT);
  cuttResult result = cutt_device_make(d, &plan->exchange, plan->task.size, &plan->workspace, &plan->workspace_bytes);
  return !result && opens(d) ? cutt_device_introduce(d, plan->workspace, m->own) : result;
}

static void unmake(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  const bool by_host = plan->device.way == CUTT_BY_HOST; /* its workspace is for all ways */
  if (!m->record.made) return;
  m->exchange[m->record.made - 1] = plan->exchange;
  memset(&plan->exchange, 0, sizeof plan->exchange);
  cutt_device_unmake(&plan->device);
  m->record.made = 0;
  if (by_host) return;
  if (plan->workspace) cuttMemoryFree(plan->shapes.backend, plan->workspace);
  plan->workspace = NULL;
  plan->workspace_bytes = 0;
}

/* Have the contexts of all threads been tried, and not reached each other? Of those that were seen last, as a guess. */
static bool is_far(const struct cuttDistCommStruct *comm, const cutt_device_part *d) {
  return (d->shared ? comm->contexts_near : comm->near) < 0;
}

static cuttResult no_memory(int size) { return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d ranks", size); }

cuttResult cutt_ready_start(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  const cutt_device_part *d = &plan->device;
  const size_t size = (size_t)plan->task.size;
  double seconds[CUTT_WAYS];
  m->seen = calloc(size, sizeof *m->seen);
  m->neighbours = calloc(size, cutt_neighbour_bytes(plan->task.size));
  m->own = calloc(1, cutt_neighbour_bytes(plan->task.size));
  if (!plan->comm->contexts) plan->comm->contexts = calloc(size, sizeof *plan->comm->contexts);
  if (!m->seen || !m->neighbours || !m->own || !plan->comm->contexts) return no_memory(plan->task.size);
  m->record.seen.part = &plan->device;
  m->all_slots = m->record.slots; /* as long as others have not said otherwise */
  const cuttResult result = d->runtime->context(&m->record.seen.context);
  for (int way = 0; way < CUTT_WAYS; ++way)
    seconds[way] = m->record.seconds[way] < 0 ? (double)INFINITY : (double)m->record.seconds[way];
  if (is_far(plan->comm, d)) seconds[CUTT_WAY_DIRECT] = (double)INFINITY;
  const cutt_way way = cutt_making_choose(seconds, true);
  return result || isinf(seconds[way]) ? result : make(m, way);
}

/* -------------------------------------------------------------------------------------------------------------- all ranks */

void cutt_ready_note(cutt_making *m, int rank, const cutt_creation *record) {
  if (rank == 0) m->all_made = record->made;
  m->all_slots = rank == 0 ? record->slots : m->all_slots & record->slots;
  if (record->made != m->all_made) m->all_made = -1;
  m->seen[rank] = record->seen;
}

/* Contexts without numbers may be others at the same place. */
static bool are_known(const struct cuttDistCommStruct *comm, const cutt_making *m) {
  for (int i = 0; i < comm->transport.size; ++i) {
    const cutt_context *now = &m->seen[i].context, *then = &comm->contexts[i];
    if (!now->number || now->number != then->number || now->handle != then->handle) return false;
  }
  return comm->contexts_near != 0;
}

static cuttResult try_contexts(const cutt_making *m, bool *reached) {
  const struct cuttDistPlanStruct *plan = m->plan;
  struct cuttDistCommStruct *comm = plan->comm;
  *reached = comm->contexts_near > 0;
  if (are_known(comm, m)) return CUTT_SUCCESS;
  for (int i = 0; i < comm->transport.size; ++i) comm->contexts[i] = m->seen[i].context;
  const cuttResult result = cutt_reach_try_contexts(comm, plan->device.runtime, plan->number, reached);
  comm->contexts_near = result ? 0 : *reached ? 1 : -1;
  return result;
}

cuttResult cutt_ready_near(const cutt_making *m, bool *again) {
  struct cuttDistPlanStruct *plan = m->plan;
  struct cuttDistCommStruct *comm = plan->comm;
  const bool matters = plan->device.way == CUTT_BY_HOST || m->options.direct != CUTT_DIST_DIRECT_NEVER;
  bool reached = false;
  if (plan->device.shared || comm->near || plan->task.size == 1 || !matters) return CUTT_SUCCESS;
  const cuttResult result = cutt_reach_try_memory(comm, plan->device.runtime, plan->number, &reached);
  if (result) return result;
  comm->near = reached ? 1 : -1;
  *again = reached;
  return CUTT_SUCCESS;
}

cuttResult cutt_ready_direct(const cutt_making *m, cutt_way *way) {
  const struct cuttDistPlanStruct *plan = m->plan;
  bool reached = plan->comm->near >= 0;
  if (*way != CUTT_WAY_DIRECT) return CUTT_SUCCESS;
  const cuttResult result = plan->device.shared ? try_contexts(m, &reached) : CUTT_SUCCESS;
  if (result || reached) return result;
  if (m->options.direct == CUTT_DIST_DIRECT_ALWAYS)
    return cutt_error(CUTT_INVALID_PARAMETER, "options->direct is CUTT_DIST_DIRECT_ALWAYS, which can't be: %s",
                      plan->comm->far_why);
  *way = cutt_making_choose(m->slowest, false);
  return CUTT_SUCCESS;
}

/* Processes open what others have for them; all that this rank needs of them is in d->all then. */
static cuttResult meet_neighbours(cutt_making *m) {
  struct cuttDistPlanStruct *plan = m->plan;
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_OPENED};
  const cuttResult result = cutt_comm_gather(plan->comm, m->own, cutt_neighbour_bytes(plan->task.size), m->neighbours);
  if (result) return result;
  record.code = (int32_t)cutt_device_meet(&plan->device, m->neighbours, plan->task.size, plan->task.me);
  return cutt_comm_agree(plan->comm, &record);
}

cuttResult cutt_ready_end(cutt_making *m, cutt_way way) {
  struct cuttDistPlanStruct *plan = m->plan;
  cutt_device_part *d = &plan->device;
  const int32_t wanted = 1 + (int32_t)way;
  if (m->all_made != wanted) {
    cutt_record record = {.plan = plan->number, .step = CUTT_STEP_READY};
    if (m->record.made != wanted) {
      unmake(m);
      record.code = (int32_t)make(m, way);
    }
    const cuttResult result = cutt_comm_agree(plan->comm, &record);
    if (result) return result;
  }
  if (d->knows && !(m->all_slots & 1 << way)) plan->comm->known->unknow(plan->comm->transport.data, &d->known);
  d->all_rounds = m->rounds[way];
  for (int i = 0; i < plan->task.size && d->shared; ++i) d->all[i] = m->seen[i].part;
  return opens(d) ? meet_neighbours(m) : CUTT_SUCCESS;
}
