/* Prepares a plan: sums to be done beforehand, the choice of an algorithm, the layout of workspace, and for each kind of block
 * its permutations, product and loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "blas/blocks.h"
#include "contract/choose.h"
#include "contract/permutation.h"
#include "contract/prepare.h"
#include "contract/rates.h"

/* ---------------------------------------------------------------------------------------------------- cuts and workspace */

/* Outermost first: batch, M and N in the algorithm's order, K. */
static void list_cuts(struct cuttContractionStruct *plan) {
  const cutt_contraction *c = &plan->contraction;
  const cutt_algorithm *algorithm = &plan->algorithm;
  const cutt_role order[CUTT_ROLES] = {CUTT_ROLE_BATCH, algorithm->n_outside ? CUTT_ROLE_N : CUTT_ROLE_M,
                                       algorithm->n_outside ? CUTT_ROLE_M : CUTT_ROLE_N, CUTT_ROLE_K};
  unsigned bit = 1;
  plan->cuts = 0;
  for (int o = 0; o < CUTT_ROLES; ++o) {
    for (int i = 0; i < c->modes; ++i) {
      const int64_t extent = c->mode[i].extent, chunk = algorithm->chunk[i];
      if (cutt_mode_role(&c->mode[i]) != order[o] || chunk == extent) continue;
      cutt_cut_mode *cut = &plan->cut[plan->cuts++];
      *cut = (cutt_cut_mode){.mode = i, .chunk = chunk, .chunks = (extent + chunk - 1) / chunk, .role = order[o]};
      if (extent % chunk) {
        cut->ragged = bit;
        bit <<= 1;
      }
      for (int t = 0; t < CUTT_TENSORS; ++t) cut->held[t] = cutt_algorithm_holds(c, algorithm, (cutt_tensor)t, i);
    }
  }
}

/* On a GPU there are two slots, if there is room for them. */
static void lay_out_workspace(struct cuttContractionStruct *plan, int64_t limit) {
  size_t at = plan->workspace_bytes; /* after the sums that are done beforehand */
  plan->slot_bytes = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const size_t bytes = (size_t)plan->cost.packed_bytes[t];
    plan->stays[t] = t != CUTT_RESULT && plan->algorithm.packed[t] &&
                     cutt_algorithm_stays(&plan->contraction, &plan->algorithm, (cutt_tensor)t);
    if (plan->stays[t]) {
      plan->shared_offset[t] = at;
      at += bytes;
    } else {
      plan->block_offset[t] = plan->slot_bytes;
      plan->slot_bytes += bytes;
    }
  }
  plan->slot_offset = at;
  plan->slots = plan->cost.spread ? plan->threads : 1;
  const bool two = cutt_contraction_on_gpu(plan) && plan->cost.result_blocks * plan->cost.k_blocks > 1 &&
                   (uint64_t)at + 2 * plan->slot_bytes <= (uint64_t)limit;
  if (two) plan->slots = 2;
  plan->workspace_bytes = at + (size_t)plan->slots * plan->slot_bytes;
}

/* ----------------------------------------------------------------------------------------------------------------- blocks */

/* The loops around a block's products: first those over modes of the result, and then those whose products add up; each the
 * longest step outermost. */
static cuttResult list_loops(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_block *block) {
  cutt_contract_mode *mode = malloc(CUTT_MOST_MODES * sizeof *mode);
  if (!mode)
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for loops", CUTT_MOST_MODES * sizeof *mode);
  for (int sums = 0; sums < 2; ++sums) {
    int count = 0;
    for (int i = 0; i < c->modes; ++i) {
      const bool is_sum = cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K;
      if (block->view.extent[i] == 1 || is_sum != (sums == 1) || cutt_algorithm_keeps(algorithm, c, i)) continue;
      cutt_contract_mode *m = &mode[count];
      *m = c->mode[i];
      m->extent = block->view.extent[i];
      for (int t = 0; t < CUTT_TENSORS; ++t) m->stride[t] = block->view.stride[t][i];
      ++count;
    }
    count = cutt_modes_fuse(mode, count);
    const int first = sums ? block->loops : 0;
    for (int i = 0; i < count; ++i) {
      cutt_loop loop = {.extent = mode[i].extent};
      memcpy(loop.stride, mode[i].stride, sizeof loop.stride);
      int at = first + i;
      const int64_t key = llabs(loop.stride[sums ? CUTT_LEFT : CUTT_RESULT]);
      for (; at > first && llabs(block->loop[at - 1].stride[sums ? CUTT_LEFT : CUTT_RESULT]) < key; --at)
        block->loop[at] = block->loop[at - 1];
      block->loop[at] = loop;
    }
    *(sums ? &block->sums : &block->loops) = count;
  }
  free(mode);
  block->products = block->additions = 1;
  for (int i = 0; i < block->loops + block->sums; ++i)
    *(i < block->loops ? &block->products : &block->additions) *= block->loop[i].extent;
  return CUTT_SUCCESS;
}

/* On a GPU the loop with the most iterations becomes the product's batch. */
static void take_batch(cutt_block *block) {
  int best = -1;
  for (int i = 0; i < block->loops; ++i)
    if (best < 0 || block->loop[i].extent > block->loop[best].extent) best = i;
  if (best < 0) return;
  const cutt_loop loop = block->loop[best];
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (loop.stride[t] < 0) return;
  for (int i = best; i + 1 < block->loops + block->sums; ++i) block->loop[i] = block->loop[i + 1];
  --block->loops;
  block->products /= loop.extent;
  block->gemm.batch = loop.extent;
  block->gemm.stride_a = loop.stride[block->swapped ? CUTT_RIGHT : CUTT_LEFT];
  block->gemm.stride_b = loop.stride[block->swapped ? CUTT_LEFT : CUTT_RIGHT];
  block->gemm.stride_c = loop.stride[CUTT_RESULT];
}

/* Of a block whose view has its extents, and nothing else yet. */
static cuttResult make_block(struct cuttContractionStruct *plan, cutt_block *block) {
  const cutt_contraction *c = &plan->contraction;
  cutt_algorithm_view(c, &plan->algorithm, block->view.extent, &block->view);
  if (!cutt_algorithm_product(c, &plan->algorithm, &block->view, &block->gemm, &block->swapped))
    return cutt_error(CUTT_INTERNAL_ERROR, "a block of the contraction is no matrix product");
  cuttResult result = list_loops(c, &plan->algorithm, block);
  if (result) return result;
  if (cutt_contraction_on_gpu(plan)) take_batch(block);
  for (int t = 0; t < CUTT_TENSORS && !result; ++t) {
    if (!plan->algorithm.packed[t]) continue;
    const int threads = plan->stays[t] || !plan->cost.spread ? plan->threads : 1;
    result = cutt_block_permutation(c, &plan->algorithm, &block->view, (cutt_tensor)t, plan->backend, threads,
                                    &plan->permuting, &block->permute[t]);
  }
  return result;
}

static cuttResult make_blocks(struct cuttContractionStruct *plan) {
  unsigned ragged = 0;
  for (int i = 0; i < plan->cuts; ++i) ragged |= plan->cut[i].ragged;
  for (unsigned kind = 0; kind < CUTT_MOST_KINDS; ++kind) {
    if (kind & ~ragged) continue;
    cutt_block *block = plan->kind[kind] = calloc(1, sizeof *block);
    if (!block) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a block of a plan", sizeof *block);
    int64_t *extent = block->view.extent;
    for (int i = 0; i < plan->contraction.modes; ++i) extent[i] = plan->algorithm.chunk[i];
    for (int i = 0; i < plan->cuts; ++i) {
      const cutt_cut_mode *cut = &plan->cut[i];
      if (kind & cut->ragged)
        extent[cut->mode] = plan->contraction.mode[cut->mode].extent - (cut->chunks - 1) * cut->chunk;
    }
    const cuttResult result = make_block(plan, block);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ plans */

static void set_ones(struct cuttContractionStruct *plan) {
  const uint16_t half = 0x3c00, bfloat = 0x3f80;
  const cuttType_t type = plan->contraction.type->type;
  if (type == CUTT_I32 || type == CUTT_I64) {
    const int64_t whole = 1;
    const int32_t short_whole = 1;
    memcpy(plan->one, type == CUTT_I64 ? (const void *)&whole : &short_whole, (size_t)plan->contraction.type->bytes);
    memcpy(plan->one_element, plan->one, sizeof plan->one_element);
    return;
  }
  memcpy(plan->one, cutt_gemm_one(type), (size_t)plan->contraction.type->scalar_bytes);
  memcpy(plan->one_element, plan->one, sizeof plan->one_element);
  if (type != CUTT_F16 && type != CUTT_BF16) return;
  memset(plan->one_element, 0, sizeof plan->one_element);
  memcpy(plan->one_element, type == CUTT_F16 ? &half : &bfloat, sizeof half);
}

bool cutt_contraction_has_pass(const struct cuttContractionStruct *plan) { return plan->family != CUTT_FAMILY_TTGT; }

/* What products take at least: a call for each. */
static double least_seconds(const struct cuttContractionStruct *plan) {
  return plan->blas ? plan->rates.call + plan->rates.launch : INFINITY;
}

/* The best pass by predicted seconds: on the CPU, or on a GPU; the other's seconds are INFINITY. */
typedef struct passes {
  cutt_pass_shape host;
  cutt_device_shape device;
} passes;

static void find_passes(const struct cuttContractionStruct *plan, int64_t limit, passes *best) {
  best->host.seconds = best->device.seconds = INFINITY;
  if (!cutt_contraction_has_pass(plan)) return;
  if (cutt_contraction_on_gpu(plan))
    cutt_device_pass_choose(&plan->contraction, &plan->rates, limit - (int64_t)plan->workspace_bytes, &best->device);
  else
    cutt_pass_choose(&plan->contraction, &plan->rates, &best->host);
}

static cuttResult plan_move(const struct cuttContractionStruct *plan, unsigned moved, cutt_tensor t, cuttPlan_t *move) {
  int64_t stride[CUTT_MOST_MODES];
  cutt_device_moved_strides(&plan->contraction, moved, t, stride);
  return cutt_packed_permutation(&plan->contraction, stride, t, plan->backend, &plan->permuting, move);
}

/* Predicts the permutations by their own model, instead of roughly. */
static cuttResult look_at_moves(const struct cuttContractionStruct *plan, cutt_device_shape *shape) {
  cuttResult result = CUTT_SUCCESS;
  for (cutt_tensor t = CUTT_LEFT; t < CUTT_TENSORS && !result; ++t) {
    if (!cutt_device_is_moved(shape->moved, t)) continue;
    cuttPlan_t move = NULL;
    cuttPlanInfo_t info = {.struct_size = sizeof info};
    result = plan_move(plan, shape->moved, t, &move);
    if (!result) result = cuttPlanGetInfo(move, &info);
    cuttPlanDestroy(move);
    const double seconds = plan->rates.launch + info.predicted_seconds * plan->rates.permute_scale;
    shape->seconds += seconds - shape->moving[t];
    shape->moving[t] = seconds;
  }
  return result;
}

/* Takes the place of a pass of tensors as they lie, where it is faster by more than predictions of passes err by, and takes less than
 * `least` seconds. */
static cuttResult find_moved_pass(const struct cuttContractionStruct *plan, int64_t limit, double least,
                                  cutt_device_shape *best) {
  static const double worth = 0.96;
  const double below = fmin(worth * best->seconds, least);
  cutt_device_shape moved;
  if (!(best->seconds < INFINITY)) return CUTT_SUCCESS;
  cutt_device_pass_choose_moved(&plan->contraction, &plan->rates, limit - (int64_t)plan->workspace_bytes, below,
                                &moved);
  if (!(moved.seconds < below)) return CUTT_SUCCESS;
  const cuttResult result = look_at_moves(plan, &moved);
  if (!result && moved.seconds < below) *best = moved;
  return result;
}

/* The permutations of tensors that are permuted beside a pass, their workspace, and what is left for the pass. */
static cuttResult take_moves(struct cuttContractionStruct *plan, const cutt_device_shape *shape) {
  cuttResult result = CUTT_SUCCESS;
  plan->moved = malloc(sizeof *plan->moved);
  if (!plan->moved) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *plan->moved);
  if (!cutt_device_move(&plan->contraction, shape->moved, plan->moved))
    return cutt_error(CUTT_INTERNAL_ERROR, "a tensor can't be permuted for a pass");
  for (cutt_tensor t = CUTT_LEFT; t < CUTT_TENSORS && !result; ++t) {
    if (!cutt_device_is_moved(shape->moved, t)) continue;
    plan->move_offset[t] = plan->workspace_bytes;
    plan->workspace_bytes += (size_t)cutt_device_moved_bytes(&plan->contraction, 1u << t);
    plan->cost.permute[t] = shape->moving[t];
    plan->cost.multiply -= shape->moving[t];
    result = plan_move(plan, shape->moved, t, &plan->move[t]);
  }
  return result;
}

cuttResult cutt_contraction_take_device_pass(struct cuttContractionStruct *plan, const cutt_device_shape *shape) {
  if (!(shape->seconds < INFINITY))
    return cutt_error(CUTT_INVALID_PARAMETER, "the contraction has too many tiles for one pass on %s: 2^31 or more",
                      plan->backend->name);
  plan->cost = (cutt_cost){.seconds = shape->seconds, .multiply = shape->seconds, .result_blocks = 1, .k_blocks = 1};
  cuttResult result = shape->moved ? take_moves(plan, shape) : CUTT_SUCCESS;
  if (!result)
    result = cutt_device_pass_prepare(plan->moved ? plan->moved : &plan->contraction, &plan->rates, shape,
                                      plan->backend->runtime, &plan->device_pass);
  if (!result && plan->device_pass->combination)
    result = cutt_device_combine_permute(plan->device_pass->combination, plan->backend);
  if (result) return result;
  plan->parts_offset = plan->workspace_bytes;
  plan->workspace_bytes += plan->device_pass->workspace;
  if (plan->reduce_bytes > plan->workspace_bytes) plan->workspace_bytes = plan->reduce_bytes;
  return CUTT_SUCCESS;
}

cuttResult cutt_contraction_take_pass(struct cuttContractionStruct *plan, const cutt_pass_shape *shape) {
  plan->cost = (cutt_cost){.seconds = shape->seconds, .multiply = shape->seconds, .result_blocks = 1, .k_blocks = 1};
  if (plan->reduce_bytes > plan->workspace_bytes) plan->workspace_bytes = plan->reduce_bytes;
  return cutt_pass_prepare(&plan->contraction, shape, plan->backend, plan->threads, &plan->pass);
}

static cuttResult take_either(struct cuttContractionStruct *plan, const passes *best) {
  return cutt_contraction_on_gpu(plan) ? cutt_contraction_take_device_pass(plan, &best->device)
                                       : cutt_contraction_take_pass(plan, &best->host);
}

/* ------------------------------------------------------------------------------------------ algorithms of the library */

/* What the addresses of whole blocks' matrices are multiples of, where those of the tensors are: 16 bytes at most, which is the
 * most that a GPU loads at once. */
static int64_t alignment_of(const struct cuttContractionStruct *plan) {
  static const uint64_t most = 16;
  const cutt_contraction *c = &plan->contraction;
  const cutt_block *block = plan->kind[0];
  uint64_t steps = most;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    for (int i = 0; i < c->modes; ++i) {
      const uint64_t bytes = (uint64_t)c->type->bytes;
      if (!cutt_algorithm_keeps(&plan->algorithm, c, i) && block->view.extent[i] > 1)
        steps |= (uint64_t)block->view.stride[t][i] * bytes;
      if (!plan->algorithm.packed[t] && plan->algorithm.chunk[i] < c->mode[i].extent)
        steps |= (uint64_t)plan->algorithm.chunk[i] * (uint64_t)c->mode[i].stride[t] * bytes;
    }
  return (int64_t)(steps & (~steps + 1));
}

void cutt_contraction_products_of(const struct cuttContractionStruct *plan, int64_t limit, cutt_gemm_case *of) {
  static const int64_t most = 32 << 20; /* what cuBLAS has itself on the GPUs that want most */
  const int64_t left = limit - cutt_aligned((int64_t)plan->workspace_bytes);
  *of = (cutt_gemm_case){.type = plan->contraction.type->type,
                         .gemm = plan->kind[0]->gemm,
                         .alignment = alignment_of(plan),
                         .workspace = (size_t)(left < 0      ? 0
                                               : left < most ? left
                                                             : most)};
}

cuttResult cutt_contraction_take_algorithm(struct cuttContractionStruct *plan, const cutt_gemm_algorithm *algorithm,
                                           int64_t limit) {
  cutt_gemm_case of;
  cutt_contraction_products_of(plan, limit, &of);
  const cuttResult result = plan->blas->choose(plan->blas, &of, algorithm, &plan->product);
  if (result || !plan->product || plan->product->workspace == 0) return result;
  plan->product_offset = (size_t)cutt_aligned((int64_t)plan->workspace_bytes);
  plan->workspace_bytes = plan->product_offset + plan->product->workspace;
  return CUTT_SUCCESS;
}

cuttResult cutt_contraction_take_products(struct cuttContractionStruct *plan, const cutt_gemm_algorithm *algorithm,
                                          int64_t limit) {
  list_cuts(plan);
  lay_out_workspace(plan, limit);
  if (plan->reduce_bytes > plan->workspace_bytes) plan->workspace_bytes = plan->reduce_bytes;
  const cuttResult result = make_blocks(plan);
  return result || !plan->blas->choose ? result : cutt_contraction_take_algorithm(plan, algorithm, limit);
}

cuttResult cutt_contraction_start(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                  const cutt_blas *blas, int threads, int64_t limit, bool *done) {
  plan->backend = backend;
  plan->blas = blas;
  plan->threads = threads;
  plan->contraction = plan->asked;
  /* A product of nothing, which a permutation on a GPU would need in the device's memory, is a pass over no terms there. */
  const bool ones = plan->asked.no_terms && !plan->asked.alpha_is_zero && plan->asked.reduce == CUTT_OP_MULTIPLY &&
                    cutt_contraction_on_gpu(plan);
  *done = plan->asked.empty || (plan->asked.no_terms && !ones);
  set_ones(plan);
  if (plan->asked.empty) return CUTT_SUCCESS;
  if (*done) return cutt_scale_permutation(&plan->contraction, backend, threads, &plan->scale);
  const cuttResult result = cutt_contraction_sum_first(plan, limit);
  return result ? result : cutt_rates_find(plan, &plan->rates);
}

/* The fastest by its prediction: a pass, or an algorithm of products. */
typedef struct fastest {
  passes pass;
  bool by_pass;
  cutt_algorithm algorithm;
  cutt_cost cost;
  double seconds;
} fastest;

/* Of a plan whose algorithm and cost it changes. */
static cuttResult find_fastest(struct cuttContractionStruct *plan, int64_t limit, fastest *best) {
  const bool only_pass = plan->family == CUTT_FAMILY_PASS;
  find_passes(plan, limit, &best->pass);
  best->by_pass = true;
  best->seconds = fmin(best->pass.host.seconds, best->pass.device.seconds);
  if (!only_pass && best->seconds <= least_seconds(plan)) return CUTT_SUCCESS;
  cuttResult result = only_pass ? CUTT_SUCCESS : cutt_algorithm_choose(plan, limit - (int64_t)plan->workspace_bytes);
  if (!result) result = find_moved_pass(plan, limit, only_pass ? INFINITY : plan->cost.seconds, &best->pass.device);
  if (result) return result;
  best->seconds = fmin(best->pass.host.seconds, best->pass.device.seconds);
  best->by_pass = only_pass || best->seconds < plan->cost.seconds;
  best->algorithm = plan->algorithm;
  best->cost = plan->cost;
  if (!best->by_pass) best->seconds = plan->cost.seconds;
  return CUTT_SUCCESS;
}

static cuttResult take_fastest(struct cuttContractionStruct *plan, int64_t limit, const fastest *best) {
  if (best->by_pass) return take_either(plan, &best->pass);
  plan->algorithm = best->algorithm;
  plan->cost = best->cost;
  return cutt_contraction_take_products(plan, NULL, limit);
}

/* A rough prediction may be so much longer. */
static const double rough_worth = 1.05;

/* What a plan of parts would be. */
typedef struct trial {
  struct cuttContractionStruct plan;
  fastest fastest;
} trial;

/* The rough prediction of the fastest, without a closer look at permutations. */
static cuttResult look_roughly(const struct cuttContractionStruct *plan, int64_t limit, fastest *best) {
  find_passes(plan, limit, &best->pass);
  best->seconds = best->pass.device.seconds;
  if (plan->family == CUTT_FAMILY_PASS) return CUTT_SUCCESS;
  cutt_algorithm_choice *list = malloc(CUTT_BEST_ALGORITHMS * sizeof *list);
  int count = 0;
  if (!list) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *list);
  const cuttResult result =
      cutt_algorithms_best(&plan->contraction, &plan->rates, limit - (int64_t)plan->workspace_bytes, list, &count);
  if (!result && count) best->seconds = fmin(best->seconds, list[0].cost.seconds);
  free(list);
  return result;
}

static cuttResult find_parts(const struct cuttContractionStruct *plan, int64_t limit, trial *t, fastest *best,
                             cutt_split *split) {
  cutt_split list[CUTT_MOST_SPLITS];
  const int64_t left = limit - (int64_t)plan->workspace_bytes;
  *split = (cutt_split){0, 0};
  double below = CUTT_PARTS_WORTH * best->seconds;
  const int count = cutt_splits_list(&plan->contraction, &plan->rates, left, below, list);
  for (int i = 0; i < count; ++i) {
    const int64_t bytes = cutt_split_bytes(&plan->contraction, &list[i]);
    const double sum = cutt_parts_seconds(&plan->contraction, &list[i], &plan->rates, left - bytes);
    if (!(sum < below)) continue;
    t->plan = *plan;
    t->plan.workspace_bytes += (size_t)bytes;
    cutt_split_products(&plan->contraction, &list[i], &t->plan.contraction);
    cuttResult result = look_roughly(&t->plan, limit, &t->fastest);
    if (result) return result;
    if (!(t->fastest.seconds + sum < rough_worth * below)) continue;
    result = find_fastest(&t->plan, limit, &t->fastest);
    if (result) return result;
    if (!(t->fastest.seconds + sum < below)) continue;
    below = t->fastest.seconds + sum;
    *best = t->fastest;
    *split = list[i];
  }
  return CUTT_SUCCESS;
}

cuttResult cutt_contraction_take_parts(struct cuttContractionStruct *plan, const cutt_split *split, int64_t limit) {
  cutt_parts *parts = NULL;
  const cuttResult result = cutt_parts_prepare(&plan->contraction, split, &plan->rates, plan->backend->runtime,
                                               plan->workspace_bytes, limit, &parts);
  if (result) {
    cutt_parts_release(parts);
    return result;
  }
  plan->parts = parts;
  cutt_split_products(&parts->whole, split, &plan->contraction);
  plan->workspace_bytes = parts->sum_offset;
  parts->reduce_bytes = plan->reduce_bytes;
  const size_t bytes = parts->sum_offset + parts->sum->workspace;
  if (bytes > plan->reduce_bytes) plan->reduce_bytes = bytes;
  return CUTT_SUCCESS;
}

static cuttResult decide(struct cuttContractionStruct *plan, int64_t limit, trial *t, fastest *best) {
  cutt_split split = {0, 0};
  cuttResult result = find_fastest(plan, limit, best);
  if (!result && cutt_contraction_on_gpu(plan) && cutt_contraction_has_pass(plan))
    result = find_parts(plan, limit, t, best, &split);
  if (!result && split.parts) result = cutt_contraction_take_parts(plan, &split, limit);
  return result ? result : take_fastest(plan, limit, best);
}

cuttResult cutt_contraction_decide(struct cuttContractionStruct *plan, int64_t limit) {
  trial *t = malloc(sizeof *t); /* too large for the stack; where there is no pass, nothing sets its shape */
  fastest *best = calloc(1, sizeof *best);
  const cuttResult result =
      t && best
          ? decide(plan, limit, t, best)
          : cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *t + sizeof *best);
  free(t);
  free(best);
  return result;
}

cuttResult cutt_contraction_prepare(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                    const cutt_blas *blas, int threads, int64_t limit) {
  bool done = false;
  const cuttResult result = cutt_contraction_start(plan, backend, blas, threads, limit, &done);
  return result || done ? result : cutt_contraction_decide(plan, limit);
}

void cutt_contraction_untake(struct cuttContractionStruct *plan) {
  for (int kind = 0; kind < CUTT_MOST_KINDS; ++kind) {
    cutt_block *block = plan->kind[kind];
    plan->kind[kind] = NULL;
    if (!block) continue;
    for (int t = 0; t < CUTT_TENSORS; ++t) cuttPlanDestroy(block->permute[t]);
    free(block);
  }
  if (plan->product) plan->blas->forget(plan->blas, plan->product);
  plan->product = NULL;
  cutt_pass_release(plan->pass);
  cutt_device_pass_release(plan->device_pass);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cuttPlanDestroy(plan->move[t]);
    plan->move[t] = NULL;
  }
  free(plan->moved);
  plan->moved = NULL;
  plan->pass = NULL;
  plan->device_pass = NULL;
  if (!plan->parts) return;
  plan->contraction = plan->parts->whole;
  plan->reduce_bytes = plan->parts->reduce_bytes;
  cutt_parts_release(plan->parts);
  plan->parts = NULL;
}

void cutt_contraction_release(struct cuttContractionStruct *plan) {
  for (int t = 0; t < 2; ++t) {
    if (!plan->reduce[t]) continue;
    cutt_contraction_release(plan->reduce[t]);
    free(plan->reduce[t]);
  }
  cutt_contraction_untake(plan);
  cuttPlanDestroy(plan->scale);
  free(plan->timed);
}
