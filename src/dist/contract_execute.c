/* Executions of contractions.
 *
 * Panels take turns: while the calling thread moves the next one, a worker of the library multiplies the one before. The calling
 * thread is the one that uses the transport, as MPI wants it. A rank of one thread does one after the other: on a processor that two
 * threads share, the one that waits for messages would keep it from the one that multiplies. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "dist/contract.h"
#include "plan/services.h"

typedef struct run {
  struct cuttDistContractionStruct *plan;
  const unsigned char *operand[2];
  unsigned char *result;
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

/* Collective. */
static cuttResult move_panel(const run *r, int64_t panel) {
  const struct cuttDistContractionStruct *plan = r->plan;
  cuttResult result = CUTT_SUCCESS;
  for (int t = 0; t < CUTT_RESULT && !result; ++t) {
    cuttDistPlan_t move = plan->move[t][is_last(r, panel)];
    if (!move) continue;
    result = cuttDistPlanExecute(move, step_to(r->source[t], panel, plan->panel_step[t]),
                                 buffer(plan, operand_buffer(plan, t, panel)), NULL);
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
  return cuttContractionExecute(plan->product[panel == 0][is_last(r, panel)], operand[0], operand[1],
                                c->stands[CUTT_RESULT] ? r->result : buffer(plan, CUTT_STORE_RESULT),
                                bytes ? buffer(plan, CUTT_STORE_PRODUCT) : NULL, (size_t)bytes, NULL);
}

/* Member 0 is the calling thread. */
static void side_by_side(void *what, int me, int team) {
  run *r = what;
  if (me == 0) r->moved = move_panel(r, r->panel + 1);
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
  cuttResult result = move_panel(r, 0);
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

/* Adds up what this rank has got of its part of the result. */
static cuttResult sum(const run *r) {
  struct cuttDistContractionStruct *plan = r->plan;
  if (!plan->sum) return CUTT_SUCCESS;
  return cuttContractionExecute(plan->sum, buffer(plan, CUTT_STORE_SUMMANDS), NULL, r->result, NULL, 0, NULL);
}

static cuttResult run_all(run *r) {
  struct cuttDistContractionStruct *plan = r->plan;
  const cutt_scheme *c = &plan->choice.best;
  cuttResult result = CUTT_SUCCESS;
  for (int t = 0; t < CUTT_RESULT; ++t) r->source[t] = r->operand[t];
  if (plan->align) {
    r->source[c->align] = buffer(plan, CUTT_STORE_ALIGNED);
    result = cuttDistPlanExecute(plan->align, r->operand[c->align], buffer(plan, CUTT_STORE_ALIGNED), NULL);
  }
  if (!result) result = run_panels(r);
  if (!result && plan->home)
    result = cuttDistPlanExecute(plan->home, buffer(plan, CUTT_STORE_RESULT),
                                 c->partial > 1 ? buffer(plan, CUTT_STORE_SUMMANDS) : r->result, NULL);
  if (result) return result;
  result = sum(r);
  return result ? cutt_comm_fail(plan->comm) : CUTT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------------- public call */

static const char *const tensor_name[CUTT_TENSORS] = {"left", "right", "result"};

static cuttResult check(const struct cuttDistContractionStruct *plan, const void *const *tensor, cudaStream_t stream) {
  if (stream)
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

cuttResult cuttDistContractionExecute(cuttDistContractionPlan_t plan, const void *left, const void *right, void *result,
                                      cudaStream_t stream) {
  if (!cutt_dist_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  const void *const tensor[CUTT_TENSORS] = {left, right, result};
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_START};
  record.code = (int32_t)check(plan, tensor, stream);
  cuttResult code = cutt_comm_agree(plan->comm, &record);
  if (code) return code;
  run r = {.plan = plan, .operand = {left, right}, .result = result};
  code = run_all(&r);
  if (code) return code;
  /* What has failed on one rank has failed for all, and none returns before it knows. */
  record.step = CUTT_STEP_END;
  return cutt_comm_agree(plan->comm, &record);
}
