/* Execution on a GPU: everything is started in the caller's stream, and nothing is waited for.
 *
 * A contraction in pieces has two turns of workspace and a second stream, in which it permutes: while one piece is
 * multiplied, the operands of the next are packed and the result of the one before is brought to its place. Events keep them
 * in order. The permutations come first in the second stream: what is packed for the next piece must not wait for the
 * product of this one, so a result is unpacked after that. */
#include <string.h>

#include "base/error.h"
#include "contract/plan.h"
#include "plan/lent.h"

/* Of each turn, in use only with two streams; and of a step that is timed. */
enum { PACKED = 0, MULTIPLIED = 2, UNPACKED = 4, BEGUN = 6, ENDED, EVENTS };

typedef struct run {
  const struct cuttContractionStruct *plan;
  const cutt_operands *operands;
  const cutt_runtime *runtime;
  void *session;
  cudaStream_t stream, side; /* the same when there is nothing to overlap */
  cutt_event *event[EVENTS];
  bool was_unpacked[2], was_multiplied[2];
  cutt_walk walk[2];
  cutt_steps *steps;
} run;

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    const cuttResult tried = (call);                                                                                   \
    if (tried) return tried;                                                                                           \
  } while (0)

static cuttResult record(const run *r, cutt_event *event, cudaStream_t stream) {
  return r->runtime->event_record(event, stream);
}

static cuttResult wait_for(const run *r, cudaStream_t stream, const cutt_event *event) {
  return r->runtime->stream_wait(stream, event);
}

/* ------------------------------------------------------------------------------------------------------- steps that are timed */

static cuttResult begin_step(const run *r) { return r->steps ? record(r, r->event[BEGUN], r->stream) : CUTT_SUCCESS; }

static cuttResult end_step(const run *r, double *sum) {
  if (!r->steps) return CUTT_SUCCESS;
  double seconds = 0;
  TRY(record(r, r->event[ENDED], r->stream));
  TRY(r->runtime->event_seconds(r->event[BEGUN], r->event[ENDED], &seconds));
  *sum += seconds;
  return CUTT_SUCCESS;
}

static cuttResult permute(const run *r, cuttPlan_t plan, const void *in, void *out, cudaStream_t stream) {
  TRY(begin_step(r));
  TRY(cuttPlanExecute(plan, in, out, stream));
  return end_step(r, r->steps ? &r->steps->permute : NULL);
}

/* ----------------------------------------------------------------------------------------------------------- the products */

static cuttResult multiply(const run *r, const cutt_piece *piece, const unsigned char *const operand[2],
                           unsigned char *result_at, const void *beta) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t bytes = plan->contraction.type->bytes;
  const int left = piece->swapped ? 1 : 0;
  TRY(begin_step(r));
  for (int64_t turn = 0; turn < piece->products; ++turn) {
    int64_t base[CUTT_TENSORS], more[CUTT_TENSORS];
    cutt_loops_offset(piece->loop, piece->loops, turn, base);
    for (int64_t s = 0; s < piece->additions; ++s) {
      cutt_loops_offset(piece->loop + piece->loops, piece->sums, s, more);
      const unsigned char *at[2];
      for (int t = 0; t < 2; ++t) at[t] = operand[t] + (base[t] + more[t]) * bytes;
      TRY(plan->blas->gemm(plan->blas, r->session, plan->contraction.type->type, &piece->gemm, plan->contraction.alpha,
                           at[left], at[1 - left], s ? plan->one : beta, result_at + base[CUTT_RESULT] * bytes));
    }
  }
  return end_step(r, r->steps ? &r->steps->multiply : NULL);
}

/* ------------------------------------------------------------------------------------------------------------- the pieces */

static unsigned char *packed_place(const run *r, cutt_tensor t, int turn) {
  const struct cuttContractionStruct *plan = r->plan;
  if (plan->stays[t]) return r->operands->workspace + plan->shared_offset[t];
  return r->operands->workspace + plan->turn_offset + (size_t)(turn % plan->turns) * plan->turn_bytes +
         plan->piece_offset[t];
}

/* Packs the operands of step number `step` in the side stream, after the product that used the same turn's memory. */
static cuttResult pack(run *r, int64_t step) {
  const struct cuttContractionStruct *plan = r->plan;
  const int turn = (int)(step % plan->turns);
  const bool two = r->side != r->stream;
  cutt_walk *walk = &r->walk[turn];
  const cutt_piece *piece = cutt_walk_to(walk, step / plan->cost.terms, step % plan->cost.terms);
  if (two && r->was_multiplied[turn]) TRY(wait_for(r, r->side, r->event[MULTIPLIED + turn]));
  for (int t = 0; t < 2; ++t) {
    if (!plan->algorithm.packed[t] || plan->stays[t] || !cutt_walk_packs(walk, (cutt_tensor)t)) continue;
    TRY(permute(r, piece->permute[t], r->operands->operand[t] + cutt_walk_offset(walk, (cutt_tensor)t),
                packed_place(r, (cutt_tensor)t, turn), r->side));
  }
  return two ? record(r, r->event[PACKED + turn], r->side) : CUTT_SUCCESS;
}

/* The result has a turn of its own, by unit: it is summed up over the unit's steps. */
static cuttResult multiply_step(run *r, int64_t step) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t terms = plan->cost.terms, term = step % terms;
  const int turn = (int)(step % plan->turns), result_turn = (int)(step / terms % plan->turns);
  const bool two = r->side != r->stream, packed = plan->algorithm.packed[CUTT_RESULT];
  cutt_walk *walk = &r->walk[turn];
  const cutt_piece *piece = cutt_walk_to(walk, step / terms, term);
  const unsigned char *operand[2];
  for (int t = 0; t < 2; ++t)
    operand[t] = plan->algorithm.packed[t] ? packed_place(r, (cutt_tensor)t, turn)
                                           : r->operands->operand[t] + cutt_walk_offset(walk, (cutt_tensor)t);
  unsigned char *result_at =
      packed ? packed_place(r, CUTT_RESULT, result_turn) : r->operands->result + cutt_walk_offset(walk, CUTT_RESULT);
  if (two) TRY(wait_for(r, r->stream, r->event[PACKED + turn]));
  if (two && packed && term == 0 && r->was_unpacked[result_turn])
    TRY(wait_for(r, r->stream, r->event[UNPACKED + result_turn]));
  TRY(multiply(r, piece, operand, result_at, term ? plan->one : packed ? plan->zero : plan->contraction.beta));
  r->was_multiplied[turn] = true;
  return two ? record(r, r->event[MULTIPLIED + turn], r->stream) : CUTT_SUCCESS;
}

static cuttResult unpack(run *r, int64_t step) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t terms = plan->cost.terms;
  if (!plan->algorithm.packed[CUTT_RESULT] || step % terms + 1 < terms) return CUTT_SUCCESS;
  const int turn = (int)(step % plan->turns), result_turn = (int)(step / terms % plan->turns);
  const bool two = r->side != r->stream;
  cutt_walk walk = {.plan = plan};
  const cutt_piece *piece = cutt_walk_to(&walk, step / terms, step % terms);
  if (two) TRY(wait_for(r, r->side, r->event[MULTIPLIED + turn]));
  TRY(permute(r, piece->permute[CUTT_RESULT], packed_place(r, CUTT_RESULT, result_turn),
              r->operands->result + cutt_walk_offset(&walk, CUTT_RESULT), r->side));
  r->was_unpacked[result_turn] = true;
  return two ? record(r, r->event[UNPACKED + result_turn], r->side) : CUTT_SUCCESS;
}

static cuttResult do_pieces(run *r) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t steps = plan->cost.units * plan->cost.terms;
  const bool two = r->side != r->stream;
  for (int t = 0; t < 2; ++t)
    if (plan->stays[t])
      TRY(permute(r, plan->kind[0]->permute[t], r->operands->operand[t], packed_place(r, (cutt_tensor)t, 0),
                  r->stream));
  if (two) { /* the side begins when all before it in the stream is done */
    TRY(record(r, r->event[PACKED], r->stream));
    TRY(wait_for(r, r->side, r->event[PACKED]));
  }
  TRY(pack(r, 0));
  for (int64_t step = 0; step < steps; ++step) {
    TRY(multiply_step(r, step));
    if (two && step + 1 < steps) TRY(pack(r, step + 1));
    TRY(unpack(r, step));
    if (!two && step + 1 < steps) TRY(pack(r, step + 1));
  }
  if (!two) return CUTT_SUCCESS;
  TRY(record(r, r->event[PACKED], r->side));
  return wait_for(r, r->stream, r->event[PACKED]);
}

/* -------------------------------------------------------------------------------------------------------- before and after */

/* A scalar of words of 4 bytes, set in the stream. */
static cuttResult set_scalar(const run *r, size_t offset, const unsigned char scalar[CUTT_SCALAR_BYTES]) {
  unsigned char *to = r->operands->workspace + offset;
  for (size_t i = 0; i < CUTT_SCALAR_BYTES; i += sizeof(uint32_t)) {
    uint32_t word = 0;
    memcpy(&word, scalar + i, sizeof word);
    TRY(r->runtime->fill_words(to + i, word, 1, r->stream));
  }
  return CUTT_SUCCESS;
}

/* A sum over nothing with beta 0: zeros, run by run. */
static cuttResult clear(const run *r) {
  const cutt_contraction *c = &r->plan->asked;
  cutt_loop loop[CUTT_MOST_MODES];
  int loops = 0;
  int64_t runs = 1, run_bytes = c->type->bytes;
  for (int i = 0; i < c->modes; ++i) {
    const cutt_contract_mode *mode = &c->mode[i];
    if (!mode->stride[CUTT_RESULT]) continue;
    if (mode->stride[CUTT_RESULT] == 1) {
      run_bytes *= mode->extent;
      continue;
    }
    loop[loops] = (cutt_loop){.extent = mode->extent};
    loop[loops++].stride[CUTT_RESULT] = mode->stride[CUTT_RESULT];
    runs *= mode->extent;
  }
  for (int64_t i = 0; i < runs; ++i) {
    int64_t offset[CUTT_TENSORS];
    cutt_loops_offset(loop, loops, i, offset);
    TRY(r->runtime->fill_bytes(r->operands->result + offset[CUTT_RESULT] * c->type->bytes, 0, (size_t)run_bytes,
                               r->stream));
  }
  return CUTT_SUCCESS;
}

static cuttResult reduce(run *r, cutt_operands *operands) {
  const struct cuttContractionStruct *plan = r->plan;
  if (!plan->reduce[0] && !plan->reduce[1]) return CUTT_SUCCESS;
  TRY(set_scalar(r, plan->one_offset, plan->unit));
  for (int t = 0; t < 2; ++t) {
    if (!plan->reduce[t]) continue;
    const cutt_operands own = {{operands->operand[t], operands->workspace + plan->one_offset},
                               operands->workspace + plan->reduced_offset[t],
                               operands->workspace + plan->reduce_base};
    cutt_steps steps = {0, 0};
    TRY(cutt_contraction_run_gpu(plan->reduce[t], &own, r->stream, r->steps ? &steps : NULL));
    if (r->steps) r->steps->permute += steps.permute + steps.multiply;
    operands->operand[t] = own.result;
  }
  return CUTT_SUCCESS;
}

/* Events and the second stream live as long as the call: the driver keeps what is under way. */
static cuttResult open_run(run *r) {
  const bool two = r->plan->turns == 2 && !r->steps;
  const int first = two ? 0 : BEGUN, end = r->steps ? EVENTS : BEGUN;
  for (int i = first; i < end; ++i) TRY(r->runtime->event_create(i >= BEGUN, &r->event[i]));
  r->side = r->stream;
  if (!two) return CUTT_SUCCESS;
  cudaStream_t side = NULL;
  TRY(r->runtime->side_stream_create(&side));
  r->side = side;
  return CUTT_SUCCESS;
}

static void close_run(run *r) {
  for (int i = 0; i < EVENTS; ++i)
    if (r->event[i]) r->runtime->event_destroy(r->event[i]);
  if (r->side != r->stream) r->runtime->stream_release(r->side);
}

cuttResult cutt_contraction_run_gpu(const struct cuttContractionStruct *plan, const cutt_operands *callers,
                                    cudaStream_t stream, cutt_steps *steps) {
  if (plan->asked.empty) return CUTT_SUCCESS;
  cutt_operands operands = *callers;
  run r = {.plan = plan,
           .operands = &operands,
           .runtime = plan->backend->runtime,
           .stream = stream,
           .side = stream,
           .steps = steps};
  r.walk[0].plan = r.walk[1].plan = plan;
  if (plan->scale) {
    return plan->asked.beta_is_zero ? clear(&r)
                                    : cuttPlanExecute(plan->scale, operands.result, operands.result, stream);
  }
  cuttResult result = open_run(&r);
  if (!result) result = reduce(&r, &operands);
  if (!result) result = plan->blas->begin(plan->blas, stream, &r.session);
  if (!result) {
    result = do_pieces(&r);
    plan->blas->end(plan->blas, r.session);
  }
  close_run(&r);
  return result;
}
