/* The blocks of an elementwise operation, and the permutations of each kind of them (elementwise.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "contract/elementwise.h"
#include "contract/rates.h"
#include "model/machine.h"
#include "plan/services.h"

enum {
  LEAST_RUN = 64,           /* bytes that each tensor's part of a block should have next to each other */
  LONG_RUN = 512,           /* that are enough of them */
  LEAST_WRITTEN = 256,      /* the least of D, whose lines are read before they are written where they are not whole */
  BLOCK_BYTES = 128 * 1024, /* of a tensor's part of a block */
  SHORT_ROW = 32,           /* elements of a row below which operands are packed so that it becomes longer */
  MOST_RUNS = 4096,         /* of a tensor's part of a block that are asked for ahead */
  NEAR_L2 = 8               /* times L2: up to so many bytes of all tensors asking takes longer than waiting */
};
_Static_assert((int)BLOCK_BYTES <= (int)CUTT_SCRATCH_BYTES, "a block has to fit the scratch");

typedef struct cuttElementwiseStruct plan_t;

static bool is_there(const plan_t *p, int t) {
  return t == CUTT_RESULT ||
         (t == CUTT_THIRD ? p->operands == 3 && p->use[2] != CUTT_USE_ZERO : p->use[t] != CUTT_USE_ZERO);
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

static int64_t volume(const plan_t *p) {
  int64_t elements = 1;
  for (int i = 0; i < p->modes; ++i) elements *= p->mode[i].chunk;
  return elements;
}

/* The tensor's mode with the smallest step beyond that of `before`; -1: there are no more. */
static int next_mode(const plan_t *p, int t, int before) {
  const int64_t least = before < 0 ? 0 : llabs(p->mode[before].stride[t]);
  int next = -1;
  for (int i = 0; i < p->modes; ++i) {
    const int64_t step = llabs(p->mode[i].stride[t]);
    if (!step || step < least || i == before || (step == least && i < before)) continue;
    if (next < 0 || step < llabs(p->mode[next].stride[t])) next = i;
  }
  return next;
}

/* Makes blocks so long that the tensor has so many bytes next to each other in them, D all of a mode that is not twice as long. False:
 * there is no more room. */
static bool extend(plan_t *p, int t, int64_t bytes) {
  const int64_t most = BLOCK_BYTES / p->type->bytes, wanted = bytes / p->type->bytes;
  int64_t run = 1;
  for (int i = next_mode(p, t, -1); i >= 0 && run < wanted; i = next_mode(p, t, i)) {
    cutt_elementwise_mode *mode = &p->mode[i];
    const int64_t room = most / (volume(p) / mode->chunk);
    const int64_t least = (wanted + run - 1) / run;
    const bool whole = t == CUTT_RESULT && mode->extent < 2 * least;
    const int64_t chunk = smaller(smaller(whole ? mode->extent : least, mode->extent), room);
    const bool full = chunk == room && room < mode->extent;
    if (chunk > mode->chunk) mode->chunk = chunk;
    if (full) return false;
    if (mode->chunk < mode->extent) return true;
    run *= mode->chunk;
  }
  return true;
}

/* Of the chunks that divide the mode's extent the longest one up to its own. */
static int64_t divisor(const cutt_elementwise_mode *mode) {
  int64_t chunk = mode->chunk;
  while (mode->extent % chunk) --chunk;
  return chunk;
}

/* Of the modes whose last chunk is shorter, if they are more than there are kinds for, the one that loses least by a chunk that divides it;
 * -1: they are no more. */
static int least_ragged(const plan_t *p) {
  int ragged = 0, least = -1;
  double most = 0;
  for (int i = 0; i < p->modes; ++i) {
    const cutt_elementwise_mode *mode = &p->mode[i];
    const double kept = (double)divisor(mode) / (double)mode->chunk;
    if (mode->extent % mode->chunk == 0) continue;
    ++ragged;
    if (least < 0 || kept > most) least = i, most = kept;
  }
  return ragged > CUTT_ELEMENTWISE_RAGGED ? least : -1;
}

/* Chunks of nearly the same extent, and few modes whose last one is shorter. */
static void even_out(plan_t *p) {
  for (int i = 0; i < p->modes; ++i) {
    cutt_elementwise_mode *mode = &p->mode[i];
    mode->chunks = (mode->extent + mode->chunk - 1) / mode->chunk;
    mode->chunk = (mode->extent + mode->chunks - 1) / mode->chunks;
  }
  for (int i; (i = least_ragged(p)) >= 0;) p->mode[i].chunk = divisor(&p->mode[i]);
  unsigned bit = 1;
  p->blocks = 1;
  for (int i = 0; i < p->modes; ++i) {
    cutt_elementwise_mode *mode = &p->mode[i];
    mode->chunks = (mode->extent + mode->chunk - 1) / mode->chunk;
    p->blocks *= mode->chunks;
    if (mode->extent % mode->chunk == 0) continue;
    mode->ragged = bit;
    bit <<= 1;
  }
}

static void cut(plan_t *p) {
  bool room = true;
  for (int i = 0; i < p->modes; ++i) p->mode[i].chunk = 1;
  for (int64_t run = LEAST_RUN; run <= LONG_RUN && room; run *= 2) {
    for (int t = 0; t < CUTT_MOST_TENSORS && room; ++t)
      if (is_there(p, t) && p->modes && p->mode[0].stride[t]) room = extend(p, t, run);
    if (room && run < LEAST_WRITTEN) room = extend(p, CUTT_RESULT, LEAST_WRITTEN);
  }
  if (room) extend(p, CUTT_RESULT, INT64_MAX / 2);
  even_out(p);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* Does the tensor take the row on along this mode? */
static bool goes_on(const plan_t *p, int operand, int mode, int64_t row) {
  const int64_t step = p->mode[mode].stride[cutt_elementwise_tensor(operand)];
  return p->use[operand] == CUTT_USE_PACKED || p->use[operand] == CUTT_USE_ZERO ||
         step == (p->use[operand] == CUTT_USE_SINGLE ? 0 : row);
}

/* A row of a kind of blocks: as many modes as all tensors have in the same order. Returns whether another mode could follow if all
 * operands were packed. */
static bool find_row(const plan_t *p, cutt_elementwise_block *block) {
  block->row = 1;
  for (block->row_modes = 0; block->row_modes < p->modes; ++block->row_modes) {
    const int i = block->row_modes;
    if (block->extent[i] == 1) continue;
    if (!p->result_packed && p->mode[i].stride[CUTT_RESULT] != block->row) return false;
    for (int o = 0; o < p->operands; ++o)
      if (!goes_on(p, o, i, block->row)) return true;
    block->row *= block->extent[i];
  }
  return false;
}

static void set_extents(const plan_t *p, unsigned kind, cutt_elementwise_block *block) {
  int64_t at = 1;
  for (int i = 0; i < p->modes; ++i) {
    const cutt_elementwise_mode *mode = &p->mode[i];
    block->extent[i] = kind & mode->ragged ? mode->extent - (mode->chunks - 1) * mode->chunk : mode->chunk;
    block->packed[i] = at;
    at *= block->extent[i];
  }
}

/* What is packed. */
static void choose_uses(plan_t *p, cutt_elementwise_block *whole) {
  p->result_packed = p->modes > 0 && p->mode[0].stride[CUTT_RESULT] != 1;
  for (int o = 0; o < p->operands; ++o) {
    const int64_t step = p->modes ? p->mode[0].stride[cutt_elementwise_tensor(o)] : 0;
    if (p->use[o] != CUTT_USE_ZERO)
      p->use[o] = step == 1 ? CUTT_USE_IN_PLACE : step == 0 ? CUTT_USE_SINGLE : CUTT_USE_PACKED;
  }
  set_extents(p, 0, whole);
  while (find_row(p, whole) && whole->row < SHORT_ROW)
    for (int o = 0; o < p->operands; ++o)
      if (!goes_on(p, o, whole->row_modes, whole->row)) p->use[o] = CUTT_USE_PACKED;
}

/* ----------------------------------------------------------------------------------------------------- permutations */

/* Between memory and the scratch. On the heap, since planning takes most of the stack that a call may take. */
typedef struct strided {
  int64_t extents[CUTT_MAX_RANK], memory[CUTT_MAX_RANK], scratch[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
} strided;

static cuttResult plan_permutation(const plan_t *p, const cutt_elementwise_block *block, int t, cuttPlan_t *plan) {
  strided *s = malloc(sizeof *s);
  if (!s) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a permutation", sizeof *s);
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  for (int i = 0; i < p->modes; ++i) {
    if (block->extent[i] == 1) continue;
    const int at = problem.rank++;
    s->extents[at] = block->extent[i];
    s->memory[at] = p->mode[i].stride[t];
    s->scratch[at] = block->packed[i];
    s->perm[at] = at;
  }
  problem.type = p->type->type;
  problem.extents = s->extents;
  problem.perm = s->perm;
  problem.in_strides = t == CUTT_RESULT ? s->scratch : s->memory;
  problem.out_strides = t == CUTT_RESULT ? s->memory : s->scratch;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = p->backend->id;
  options.threads = 1;
  const cuttResult result = cuttPlanCreate(plan, &problem, &options);
  free(s);
  return result;
}

static bool is_packed(const plan_t *p, int t) {
  if (t == CUTT_RESULT) return p->result_packed;
  return is_there(p, t) && p->use[t == CUTT_THIRD ? 2 : t] == CUTT_USE_PACKED;
}

/* What a block has of a tensor, by what lies together in memory. */
static cuttResult list_runs(const plan_t *p, cutt_elementwise_block *block, int t) {
  const int64_t bytes = p->type->bytes, line = 64;
  int64_t span = bytes, low = 0, runs = 1;
  int outer[CUTT_MOST_LABELS], count = 0;
  for (int i = next_mode(p, t, -1); i >= 0; i = next_mode(p, t, i)) {
    const int64_t step = p->mode[i].stride[t] * bytes, all = (block->extent[i] - 1) * step;
    if (block->extent[i] == 1) continue;
    if (count == 0 && llabs(step) <= span + line) {
      span += llabs(all);
      low += smaller(all, 0);
      continue;
    }
    outer[count++] = i;
    runs *= block->extent[i];
  }
  if (runs > MOST_RUNS) return CUTT_SUCCESS;
  int64_t *start = block->start[t] = malloc((size_t)runs * sizeof *start);
  if (!start) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %" PRId64 " places of a block", runs);
  block->run_bytes[t] = span;
  start[0] = low;
  for (int64_t i = 0, done = 1; i < count; ++i) {
    const int64_t more = done * block->extent[outer[i]], step = p->mode[outer[i]].stride[t] * bytes;
    for (int64_t j = done; j < more; ++j) start[j] = start[j - done] + step;
    done = more;
  }
  block->runs[t] = runs;
  return CUTT_SUCCESS;
}

static cuttResult make_kind(plan_t *p, unsigned kind) {
  cutt_elementwise_block *block = p->kind[kind] = calloc(1, sizeof *block);
  cuttResult result = CUTT_SUCCESS;
  if (!block) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a block of a plan", sizeof *block);
  if (kind == 0) choose_uses(p, block);
  set_extents(p, kind, block);
  find_row(p, block);
  for (int t = 0; t < CUTT_MOST_TENSORS && !result; ++t) {
    if (!is_packed(p, t)) continue;
    result = plan_permutation(p, block, t, &block->permute[t]);
    if (!result && t != CUTT_RESULT) result = list_runs(p, block, t);
  }
  return result;
}

static cuttResult prepare_blocks(plan_t *p) {
  cut(p);
  unsigned ragged = 0;
  for (int i = 0; i < p->modes; ++i) ragged |= p->mode[i].ragged;
  for (unsigned kind = 0; kind < CUTT_ELEMENTWISE_KINDS; ++kind) {
    if (kind & ~ragged) continue;
    const cuttResult result = make_kind(p, kind);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* Where D is not done by tiles that turn operands: is one of them permuted to D first? Two that were permuted block by block would
 * have short runs, since the block has to have runs of D, too, which costs more than moving D twice, except in caches. */
static bool moves(plan_t *p) {
  int64_t after = 0;
  int turned = 0;
  if (p->modes == 0 || p->mode[0].stride[CUTT_RESULT] != 1 || !p->far) return false;
  for (int o = 0; o < p->operands; ++o) {
    const int64_t step = p->mode[0].stride[cutt_elementwise_tensor(o)];
    turned += p->use[o] != CUTT_USE_ZERO && step != 0 && step != 1;
  }
  return turned > 1 && cutt_elementwise_may_move(p, &after);
}

/* May the caller have D as an operand? */
static bool may_be_operand(const plan_t *p) {
  for (int o = 0; o < p->operands; ++o)
    if (p->use[o] != CUTT_USE_ZERO && p->as_result[o]) return true;
  return false;
}

static cuttResult prepare(plan_t *p) {
  plan_t *apart = malloc(sizeof *apart);
  if (!apart) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *apart);
  *apart = *p;
  cuttResult result = cutt_elementwise_turn_prepare(p);
  if (!result && !p->turn && moves(p)) result = cutt_elementwise_move(p);
  if (!result && !p->turn) result = prepare_blocks(p);
  if (result || !p->moved || !may_be_operand(p)) {
    free(apart);
    return result;
  }
  p->apart = apart;
  return prepare_blocks(apart);
}

cuttResult cutt_elementwise_prepare(struct cuttElementwiseStruct *p) {
  const char *isa = p->backend->runtime->isa();
  p->kernels = cutt_pass_kernels_named(isa);
  if (!p->kernels) return cutt_error(CUTT_INTERNAL_ERROR, "there are no kernels for the instruction set %s", isa);
  p->numbers = &p->kernels->type[p->type->type];
  const int64_t bytes = cutt_elementwise_bytes(p);
  p->far = (p->operands + 1) * bytes > NEAR_L2 * cutt_device_property(p->backend, "l2_bytes");
  p->asks_in_order = cutt_asks_in_order(p->backend);
  const cuttResult result = prepare(p);
  const int64_t stream_bytes = cutt_device_property(p->backend, "stream_bytes");
  p->streams = !result && stream_bytes > 0 && bytes >= stream_bytes &&
               cutt_elementwise_moved(p) >= cutt_most_cached(stream_bytes) && !p->result_packed && !p->moved &&
               (p->turn || p->kind[0]->row * p->type->bytes >= LEAST_WRITTEN);
  return result;
}

void cutt_elementwise_release(struct cuttElementwiseStruct *p) {
  if (p->apart) cutt_elementwise_release(p->apart);
  free(p->apart);
  p->apart = NULL;
  cuttPlanDestroy(p->move);
  p->move = NULL;
  cutt_elementwise_turn_release(p);
  for (int kind = 0; kind < CUTT_ELEMENTWISE_KINDS; ++kind) {
    if (!p->kind[kind]) continue;
    for (int t = 0; t < CUTT_MOST_TENSORS; ++t) {
      cuttPlanDestroy(p->kind[kind]->permute[t]);
      free(p->kind[kind]->start[t]);
    }
    free(p->kind[kind]);
    p->kind[kind] = NULL;
  }
}
