/* Executions of contractions.
 *
 * In the host's memory panels take turns: while the calling thread moves the next one, a worker of the library multiplies the one before. The calling
 * thread is the one that uses the transport, as MPI wants it. A rank of one thread does one after the other: on a processor that two
 * threads share, the one that waits for messages would keep it from the one that multiplies.
 *
 * On a device the calling thread starts all: products in the caller's stream, and panels in one of the plan's own, behind events. The
 * product of a panel is started before the next panel's move, during which the host may wait. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "dist/contract.h"
#include "dist/plan.h"
#include "plan/services.h"

typedef struct run {
  struct cuttDistContractionStruct *plan;
  const unsigned char *operand[2];
  unsigned char *result;
  cudaStream_t stream;            /* on a device: the caller's */
  bool captured;                  /* for a graph, which whoever launches it orders */
  const unsigned char *source[2]; /* where operands are moved from: the caller's, or as they were aligned */
  /* Of a panel that is multiplied while the next one is moved: what came of each, and the text of the product's error, which is
   * another thread's. */
  int64_t panel;
  cuttResult moved, multiplied;
  char why[CUTT_WHY_BYTES];
} run;

static unsigned char *buffer(const struct cuttDistContractionStruct *plan, int number) {
  return plan->memory ? plan->memory + plan->buffer[number] : NULL;
}

static int operand_buffer(const struct cuttDistContractionStruct *plan, int t, int64_t panel) {
  return CUTT_STORE_LEFT + 2 * t + (plan->choice.best.panels > 1 ? (int)(panel % 2) : 0);
}

static bool is_last(const run *r, int64_t panel) { return panel == r->plan->choice.best.panels - 1; }

/* Where a panel begins in a tensor that may be NULL where it has no elements. */
static const unsigned char *step_to(const unsigned char *tensor, int64_t panel, int64_t step) {
  return tensor ? tensor + panel * step : NULL;
}

/* Where a panel's part of the result is computed. */
static unsigned char *computed_at(const run *r, int64_t panel) {
  const struct cuttDistContractionStruct *plan = r->plan;
  unsigned char *result = plan->choice.best.stands[CUTT_RESULT] ? r->result : buffer(plan, CUTT_STORE_RESULT);
  return result + panel * plan->panel_step[CUTT_RESULT];
}

/* Collective. */
static cuttResult move_panel(const run *r, int64_t panel, cudaStream_t stream) {
  const struct cuttDistContractionStruct *plan = r->plan;
  cuttResult result = CUTT_SUCCESS;
  for (int t = 0; t < CUTT_RESULT && !result; ++t) {
    cuttDistPlan_t move = plan->move[t][is_last(r, panel)];
    if (!move) continue;
    result = cuttDistPlanExecute(move, step_to(r->source[t], panel, plan->panel_step[t]),
                                 buffer(plan, operand_buffer(plan, t, panel)), stream);
  }
  return result;
}

static cuttResult multiply_panel(const run *r, int64_t panel) {
  const struct cuttDistContractionStruct *plan = r->plan;
  const cutt_scheme *c = &plan->choice.best;
  const unsigned char *operand[2];
  if (!plan->multiplies) return CUTT_SUCCESS;
  for (int t = 0; t < CUTT_RESULT; ++t)
    operand[t] = c->stands[t] ? step_to(r->operand[t], panel, plan->panel_step[t])
                              : buffer(plan, operand_buffer(plan, t, panel));
  const int64_t bytes = plan->bytes[CUTT_STORE_PRODUCT];
  return cuttContractionExecute(plan->product[panel == 0 || c->panel_of_result][is_last(r, panel)], operand[0],
                                operand[1], computed_at(r, panel), bytes ? buffer(plan, CUTT_STORE_PRODUCT) : NULL,
                                (size_t)bytes, r->stream);
}

/* Member 0 is the calling thread. */
static void side_by_side(void *what, int me, int team) {
  run *r = what;
  if (me == 0) r->moved = move_panel(r, r->panel + 1, NULL);
  if (me != team - 1) return;
  r->multiplied = multiply_panel(r, r->panel);
  if (r->multiplied) snprintf(r->why, sizeof r->why, "%s", cuttLastError());
}

static cuttResult failed_here(const run *r) {
  cutt_error(r->multiplied, "%s", r->why);
  return cutt_comm_fail(r->plan->comm);
}

static cuttResult run_panels(run *r) {
  const cutt_scheme *c = &r->plan->choice.best;
  const bool moves = !c->stands[CUTT_LEFT] || !c->stands[CUTT_RIGHT];
  cuttResult result = move_panel(r, 0, NULL);
  for (r->panel = 0; r->panel < c->panels && !result; ++r->panel) {
    r->moved = r->multiplied = CUTT_SUCCESS;
    if (moves && !is_last(r, r->panel))
      cutt_team_run(cutt_spread_overlaps(&r->plan->s) ? 2 : 1, side_by_side, r);
    else
      side_by_side(r, 1, 2);
    result = r->multiplied ? failed_here(r) : r->moved;
  }
  return result;
}

/* ------------------------------------------------------------------------------------------------------------ on a device */

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    const cuttResult result_ = (call);                                                                                 \
    if (result_ != CUTT_SUCCESS) return result_;                                                                       \
  } while (0)

static cudaStream_t moving_stream(const run *r) { return r->plan->device.side ? r->plan->device.side : r->stream; }

/* Into the buffers of the panel before the last, which has been multiplied by then. */
static cuttResult start_move(const run *r, int64_t panel) {
  const cutt_contract_device *d = &r->plan->device;
  cudaStream_t stream = moving_stream(r);
  if (panel > 1) TRY(d->runtime->stream_wait(stream, d->multiplied[panel % 2]));
  TRY(move_panel(r, panel, stream));
  return d->runtime->event_record(d->moved[panel % 2], stream);
}

static cuttResult start_panels(const run *r) {
  const cutt_contract_device *d = &r->plan->device;
  TRY(start_move(r, 0));
  for (int64_t panel = 0; panel < r->plan->choice.best.panels; ++panel) {
    TRY(d->runtime->stream_wait(r->stream, d->moved[panel % 2]));
    TRY(multiply_panel(r, panel));
    TRY(d->runtime->event_record(d->multiplied[panel % 2], r->stream));
    if (!is_last(r, panel)) TRY(start_move(r, panel + 1));
  }
  return CUTT_SUCCESS;
}

/* The other stream begins where the caller's is, and the caller's where the last execution has ended, whichever its stream was. */
static cuttResult begin_streams(const run *r) {
  const cutt_contract_device *d = &r->plan->device;
  if (!r->captured) TRY(d->runtime->stream_wait(r->stream, d->ended));
  TRY(d->runtime->event_record(d->begun, r->stream));
  return d->side ? d->runtime->stream_wait(d->side, d->begun) : CUTT_SUCCESS;
}

/* Also of a rank that multiplies nothing, operands may be changed when the caller's stream goes on. */
static cuttResult end_streams(const run *r) {
  const cutt_contract_device *d = &r->plan->device;
  if (d->side) {
    TRY(d->runtime->event_record(d->sent, d->side));
    TRY(d->runtime->stream_wait(r->stream, d->sent));
  }
  return r->captured ? CUTT_SUCCESS : d->runtime->event_record(d->ended, r->stream);
}

static cuttResult add_up(const run *r) {
  struct cuttDistContractionStruct *plan = r->plan;
  const int64_t bytes = plan->volume[CUTT_RESULT] * plan->s.type->bytes;
  for (int i = 0; i < plan->choice.best.partial && plan->add[0]; ++i)
    TRY(cuttPlanExecute(plan->add[i > 0], buffer(plan, CUTT_STORE_SUMMANDS) + i * bytes, r->result, r->stream));
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------- all */

/* Adds up what this rank has got of its part of the result. */
static cuttResult sum(const run *r) {
  struct cuttDistContractionStruct *plan = r->plan;
  if (plan->s.runtime) return add_up(r);
  if (!plan->sum) return CUTT_SUCCESS;
  return cuttContractionExecute(plan->sum, buffer(plan, CUTT_STORE_SUMMANDS), NULL, r->result, NULL, 0, NULL);
}

static cuttResult run_all(run *r) {
  struct cuttDistContractionStruct *plan = r->plan;
  const cutt_scheme *c = &plan->choice.best;
  const bool on_device = plan->s.runtime != NULL;
  for (int t = 0; t < CUTT_RESULT; ++t) r->source[t] = r->operand[t];
  if (on_device) TRY(begin_streams(r));
  if (plan->align) {
    r->source[c->align] = buffer(plan, CUTT_STORE_ALIGNED);
    TRY(cuttDistPlanExecute(plan->align, r->operand[c->align], buffer(plan, CUTT_STORE_ALIGNED),
                            on_device ? moving_stream(r) : NULL));
  }
  TRY(on_device ? start_panels(r) : run_panels(r));
  if (plan->home)
    TRY(cuttDistPlanExecute(plan->home, buffer(plan, CUTT_STORE_RESULT),
                            c->partial > 1 ? buffer(plan, CUTT_STORE_SUMMANDS) : r->result, r->stream));
  const cuttResult summed = sum(r);
  if (summed) return cutt_comm_fail(plan->comm);
  return on_device ? end_streams(r) : CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- public call */

static const char *const tensor_name[CUTT_TENSORS] = {"left", "right", "result"};

/* A graph has what is in streams: neither what ranks tell each other while they move something, nor the events of others. */
static cuttResult check_capture(struct cuttDistContractionStruct *plan, run *r) {
  int64_t count = 0;
  bool can = plan->s.way == CUTT_IN_STREAM;
  TRY(plan->device.runtime->stream_is_captured(r->stream, &r->captured));
  for (int i = 0; i < CUTT_MOVES && can; ++i) {
    const struct cuttDistPlanStruct *move = *cutt_contract_move(plan, i, &count);
    can = !move || cutt_dist_can_be_captured(move);
  }
  if (!r->captured || can) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "stream is %p, which is being captured; only contractions that send messages by NCCL can be, which "
                    "CUTT_DIST_DIRECT_NEVER asks for",
                    (void *)r->stream);
}

static cuttResult check_memory(const struct cuttDistContractionStruct *plan, const void *const *tensor) {
  const cutt_runtime *runtime = plan->device.runtime;
  void *at = NULL;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (plan->volume[t] > 0) TRY(runtime->reach(runtime->target(), tensor[t], tensor_name[t], &at));
  return CUTT_SUCCESS;
}

static cuttResult check(const struct cuttDistContractionStruct *plan, const void *const *tensor, cudaStream_t stream) {
  if (stream && !plan->s.runtime)
    return cutt_error(CUTT_INVALID_PARAMETER, "stream is %p; it must be NULL: tensors are in the host's memory",
                      (void *)stream);
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (!tensor[t] && plan->volume[t] > 0)
      return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to element (0, ..., 0) of this rank's part",
                        tensor_name[t]);
  const uintptr_t low = (uintptr_t)tensor[CUTT_RESULT] + (uintptr_t)plan->low[CUTT_RESULT];
  const uintptr_t high = (uintptr_t)tensor[CUTT_RESULT] + (uintptr_t)plan->high[CUTT_RESULT];
  for (int t = 0; t < CUTT_RESULT; ++t) {
    const uintptr_t from = (uintptr_t)tensor[t] + (uintptr_t)plan->low[t];
    const uintptr_t to = (uintptr_t)tensor[t] + (uintptr_t)plan->high[t];
    if (!plan->volume[t] || !plan->volume[CUTT_RESULT] || from >= high || low >= to) continue;
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s spans bytes [0x%" PRIxPTR ", 0x%" PRIxPTR ") and result [0x%" PRIxPTR ", 0x%" PRIxPTR
                      "), which overlap; the result must have memory of its own",
                      tensor_name[t], from, to, low, high);
  }
  return CUTT_SUCCESS;
}

/* By NCCL, whose agreements wait for all that ranks gave it, there is none at the end, nor at the beginning where the caller vouches
 * for the arguments. */
static bool agrees(const struct cuttDistContractionStruct *plan, int step) {
  if (!plan->s.runtime || plan->s.way != CUTT_IN_STREAM) return true;
  return step == CUTT_STEP_START && !plan->s.options.trust_arguments;
}

static cuttResult execute(run *r, cuttResult code, const void *const *tensor) {
  struct cuttDistContractionStruct *plan = r->plan;
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_START};
  if (!code) code = check(plan, tensor, r->stream);
  if (!code && plan->s.runtime) code = check_memory(plan, tensor);
  if (!code && plan->s.runtime) code = check_capture(plan, r);
  record.code = (int32_t)code;
  if (agrees(plan, CUTT_STEP_START)) code = cutt_comm_agree(plan->comm, &record);
  if (code) return code;
  code = run_all(r);
  if (code) return plan->s.runtime ? cutt_comm_fail(plan->comm) : code;
  /* What has failed on one rank has failed for all, and none returns before it knows. */
  record.step = CUTT_STEP_END;
  return agrees(plan, CUTT_STEP_END) ? cutt_comm_agree(plan->comm, &record) : CUTT_SUCCESS;
}

cuttResult cuttDistContractionExecute(cuttDistContractionPlan_t plan, const void *left, const void *right, void *result,
                                      cudaStream_t stream) {
  if (!cutt_dist_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  const void *const tensor[CUTT_TENSORS] = {left, right, result};
  run r = {.plan = plan, .operand = {left, right}, .result = result, .stream = stream};
  cutt_scope scope;
  const cuttResult entered = plan->s.runtime ? cutt_contract_device_enter(&plan->device, stream, &scope) : CUTT_SUCCESS;
  const cuttResult code = execute(&r, entered, tensor);
  if (plan->s.runtime && !entered) plan->s.runtime->leave(&scope);
  return code;
}
