/* Execution on a GPU: everything is started in the caller's stream, and nothing is waited for.
 *
 * A contraction in blocks has two slots of workspace and a second stream, the side stream, for permutations: while one block is
 * multiplied, the operands of the next are packed and the result of the one before is unpacked. Events order the two streams.
 * In the side stream the operands of the next block are packed before the result of this one is unpacked, since unpacking
 * waits for this block's product, and packing need not. */
#include <string.h>

#include "contract/plan.h"
#include "plan/services.h"

/* Numbers of events: one of each kind for each slot, in use only with two streams; and two around a step that is timed. */
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

/* --------------------------------------------------------------------------------------------- steps that are timed */

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

/* By the plan's own choice of an algorithm, where it is a whole block's; else in a session, which the first of these begins. All products are
 * in one stream, and share its workspace. */
static cuttResult multiply_once(run *r, const cutt_block *block, const void *a, const void *b, const void *beta,
                                void *c) {
  const struct cuttContractionStruct *plan = r->plan;
  const void *alpha = plan->contraction.alpha;
  if (plan->product && block == plan->kind[0] && cutt_gemm_chosen_fits(plan->product, a, b, c))
    return plan->blas->gemm_chosen(plan->blas, plan->product, alpha, a, b, beta, c,
                                   r->operands->workspace + plan->product_offset, r->stream);
  if (!r->session) TRY(plan->blas->begin(plan->blas, r->stream, &r->session));
  return plan->blas->gemm(plan->blas, r->session, plan->contraction.type->type, &block->gemm, alpha, a, b, beta, c);
}

static cuttResult multiply(run *r, const cutt_block *block, const unsigned char *const operand[2],
                           unsigned char *result_at, const void *beta) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t bytes = plan->contraction.type->bytes;
  const int left = block->swapped ? 1 : 0;
  TRY(begin_step(r));
  for (int64_t iteration = 0; iteration < block->products; ++iteration) {
    int64_t base[CUTT_TENSORS], more[CUTT_TENSORS];
    cutt_loops_offset(block->loop, block->loops, iteration, base);
    for (int64_t s = 0; s < block->additions; ++s) {
      cutt_loops_offset(block->loop + block->loops, block->sums, s, more);
      const unsigned char *at[2];
      for (int t = 0; t < 2; ++t) at[t] = operand[t] + (base[t] + more[t]) * bytes;
      TRY(multiply_once(r, block, at[left], at[1 - left], s ? plan->one : beta, result_at + base[CUTT_RESULT] * bytes));
    }
  }
  return end_step(r, r->steps ? &r->steps->multiply : NULL);
}

/* ------------------------------------------------------------------------------------------------------------- the blocks */

static unsigned char *packed_place(const run *r, cutt_tensor t, int slot) {
  const struct cuttContractionStruct *plan = r->plan;
  if (plan->stays[t]) return r->operands->workspace + plan->shared_offset[t];
  return r->operands->workspace + plan->slot_offset + (size_t)(slot % plan->slots) * plan->slot_bytes +
         plan->block_offset[t];
}

/* Packs the operands of a step, in the side stream. The product that used the same slot before has to be done by then. */
static cuttResult pack(run *r, int64_t step) {
  const struct cuttContractionStruct *plan = r->plan;
  const int slot = (int)(step % plan->slots);
  const bool two = r->side != r->stream;
  cutt_walk *walk = &r->walk[slot];
  const cutt_block *block = cutt_walk_to(walk, step / plan->cost.k_blocks, step % plan->cost.k_blocks);
  if (two && r->was_multiplied[slot]) TRY(wait_for(r, r->side, r->event[MULTIPLIED + slot]));
  for (int t = 0; t < 2; ++t) {
    if (!plan->algorithm.packed[t] || plan->stays[t] || !cutt_walk_packs(walk, (cutt_tensor)t)) continue;
    TRY(permute(r, block->permute[t], r->operands->operand[t] + cutt_walk_offset(walk, (cutt_tensor)t),
                packed_place(r, (cutt_tensor)t, slot), r->side));
  }
  return two ? record(r, r->event[PACKED + slot], r->side) : CUTT_SUCCESS;
}

/* Operands change their slot with each step, and the result with each of its blocks, which is the sum of several steps. */
static cuttResult multiply_step(run *r, int64_t step) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t k_blocks = plan->cost.k_blocks, k_block = step % k_blocks;
  const int slot = (int)(step % plan->slots), result_slot = (int)(step / k_blocks % plan->slots);
  const bool two = r->side != r->stream, packed = plan->algorithm.packed[CUTT_RESULT];
  cutt_walk *walk = &r->walk[slot];
  const cutt_block *block = cutt_walk_to(walk, step / k_blocks, k_block);
  const unsigned char *operand[2];
  for (int t = 0; t < 2; ++t)
    operand[t] = plan->algorithm.packed[t] ? packed_place(r, (cutt_tensor)t, slot)
                                           : r->operands->operand[t] + cutt_walk_offset(walk, (cutt_tensor)t);
  unsigned char *result_at =
      packed ? packed_place(r, CUTT_RESULT, result_slot) : r->operands->result + cutt_walk_offset(walk, CUTT_RESULT);
  if (two) TRY(wait_for(r, r->stream, r->event[PACKED + slot]));
  if (two && packed && k_block == 0 && r->was_unpacked[result_slot])
    TRY(wait_for(r, r->stream, r->event[UNPACKED + result_slot]));
  TRY(multiply(r, block, operand, result_at, k_block ? plan->one : packed ? plan->zero : plan->contraction.beta));
  r->was_multiplied[slot] = true;
  return two ? record(r, r->event[MULTIPLIED + slot], r->stream) : CUTT_SUCCESS;
}

static cuttResult unpack(run *r, int64_t step) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t k_blocks = plan->cost.k_blocks;
  if (!plan->algorithm.packed[CUTT_RESULT] || step % k_blocks + 1 < k_blocks) return CUTT_SUCCESS;
  const int slot = (int)(step % plan->slots), result_slot = (int)(step / k_blocks % plan->slots);
  const bool two = r->side != r->stream;
  cutt_walk walk = {.plan = plan};
  const cutt_block *block = cutt_walk_to(&walk, step / k_blocks, step % k_blocks);
  if (two) TRY(wait_for(r, r->side, r->event[MULTIPLIED + slot]));
  TRY(permute(r, block->permute[CUTT_RESULT], packed_place(r, CUTT_RESULT, result_slot),
              r->operands->result + cutt_walk_offset(&walk, CUTT_RESULT), r->side));
  r->was_unpacked[result_slot] = true;
  return two ? record(r, r->event[UNPACKED + result_slot], r->side) : CUTT_SUCCESS;
}

static cuttResult do_blocks(run *r) {
  const struct cuttContractionStruct *plan = r->plan;
  const int64_t steps = plan->cost.result_blocks * plan->cost.k_blocks;
  const bool two = r->side != r->stream;
  for (int t = 0; t < 2; ++t)
    if (plan->stays[t])
      TRY(permute(r, plan->kind[0]->permute[t], r->operands->operand[t], packed_place(r, (cutt_tensor)t, 0),
                  r->stream));
  if (two) { /* the side stream begins when all before it in the caller's stream is done */
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

/* Writes a scalar to workspace, in the stream, 4 bytes at a time. */
static cuttResult set_scalar(const run *r, size_t offset, const unsigned char scalar[CUTT_SCALAR_BYTES]) {
  unsigned char *to = r->operands->workspace + offset;
  for (size_t i = 0; i < CUTT_SCALAR_BYTES; i += sizeof(uint32_t)) {
    uint32_t word = 0;
    memcpy(&word, scalar + i, sizeof word);
    TRY(r->runtime->fill_words(to + i, word, 1, r->stream));
  }
  return CUTT_SUCCESS;
}

/* A sum over nothing with beta 0: zeros, written to one contiguous run after the other. */
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
  TRY(set_scalar(r, plan->one_offset, plan->one_element));
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

/* The contraction in one pass, which counts as the products, between permutations of tensors for it. */
static cuttResult pass(const run *r) {
  const struct cuttContractionStruct *plan = r->plan;
  const cutt_operands *o = r->operands;
  const unsigned char *operand[2];
  unsigned char *const result = plan->move[CUTT_RESULT] ? o->workspace + plan->move_offset[CUTT_RESULT] : o->result;
  for (int t = 0; t < 2; ++t) {
    unsigned char *const packed = o->workspace + plan->move_offset[t];
    operand[t] = plan->move[t] ? packed : o->operand[t];
    if (plan->move[t]) TRY(permute(r, plan->move[t], o->operand[t], packed, r->stream));
  }
  TRY(begin_step(r));
  TRY(cutt_device_pass_run(plan->device_pass, r->runtime, operand[CUTT_LEFT], operand[CUTT_RIGHT], result,
                           o->workspace + plan->parts_offset, r->stream));
  TRY(end_step(r, r->steps ? &r->steps->multiply : NULL));
  return plan->move[CUTT_RESULT] ? permute(r, plan->move[CUTT_RESULT], result, o->result, r->stream) : CUTT_SUCCESS;
}

/* Adds up the parts of sums. */
static cuttResult add_parts(const run *r, unsigned char *result) {
  const cutt_parts *parts = r->plan->parts;
  unsigned char *const workspace = r->operands->workspace;
  TRY(begin_step(r));
  TRY(cutt_device_pass_run(parts->sum, r->runtime, workspace + parts->offset, NULL, result,
                           workspace + parts->sum_offset, r->stream));
  return end_step(r, r->steps ? &r->steps->permute : NULL);
}

static cuttResult multiply_all(run *r) {
  const cuttResult result = do_blocks(r);
  if (r->session) r->plan->blas->end(r->plan->blas, r->session);
  return result;
}

/* Events and the second stream live as long as the call: the driver keeps what is under way. A graph is captured in one stream,
 * since a stream may not end while it is part of a capture. */
static cuttResult open_run(run *r) {
  bool two = r->plan->slots == 2 && !r->steps, captured = false;
  if (two) TRY(r->runtime->stream_is_captured(r->stream, &captured));
  if (captured) two = false;
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
  if (plan->parts) operands.result = operands.workspace + plan->parts->offset;
  if (!result) result = plan->device_pass ? pass(&r) : multiply_all(&r);
  if (!result && plan->parts) result = add_parts(&r, callers->result);
  close_run(&r);
  return result;
}
