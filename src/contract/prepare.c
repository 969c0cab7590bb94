/* Makes a plan of an algorithm: workspace laid out, and for each kind of piece its permutations, product and loops. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "blas/blocks.h"
#include "contract/choose.h"
#include "contract/permutation.h"
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
      cutt_cutting *cut = &plan->cut[plan->cuts++];
      *cut = (cutt_cutting){.mode = i, .chunk = chunk, .chunks = (extent + chunk - 1) / chunk, .role = order[o]};
      if (extent % chunk) {
        cut->ragged = bit;
        bit <<= 1;
      }
      for (int t = 0; t < CUTT_TENSORS; ++t) cut->held[t] = cutt_algorithm_holds(c, algorithm, (cutt_tensor)t, i);
    }
  }
}

/* On a GPU two turns of pieces, so that one is permuted while the other is multiplied, if there is room. */
static void lay_out_workspace(struct cuttContractionStruct *plan, int64_t limit) {
  size_t at = plan->workspace_bytes; /* what reductions have taken */
  plan->turn_bytes = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const size_t bytes = (size_t)plan->cost.packed_bytes[t];
    plan->stays[t] = t != CUTT_RESULT && plan->algorithm.packed[t] &&
                     cutt_algorithm_stays(&plan->contraction, &plan->algorithm, (cutt_tensor)t);
    if (plan->stays[t]) {
      plan->shared_offset[t] = at;
      at += bytes;
    } else {
      plan->piece_offset[t] = plan->turn_bytes;
      plan->turn_bytes += bytes;
    }
  }
  plan->turn_offset = at;
  plan->turns = plan->cost.spread ? plan->threads : 1;
  const bool two = cutt_contraction_on_gpu(plan) && plan->cost.units * plan->cost.terms > 1 &&
                   (uint64_t)at + 2 * plan->turn_bytes <= (uint64_t)limit;
  if (two) plan->turns = 2;
  plan->workspace_bytes = at + (size_t)plan->turns * plan->turn_bytes;
}

/* ----------------------------------------------------------------------------------------------------------------- pieces */

/* The loops around a piece's products: first those that the result has, by their step in the result, the smallest last;
 * then the sums. */
static cuttResult list_loops(const cutt_contraction *c, const cutt_algorithm *algorithm, cutt_piece *piece) {
  cutt_contract_mode *mode = malloc(CUTT_MOST_MODES * sizeof *mode);
  if (!mode)
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for loops", CUTT_MOST_MODES * sizeof *mode);
  for (int sums = 0; sums < 2; ++sums) {
    int count = 0;
    for (int i = 0; i < c->modes; ++i) {
      const bool is_sum = cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K;
      if (piece->view.extent[i] == 1 || is_sum != (sums == 1) || cutt_algorithm_keeps(algorithm, c, i)) continue;
      cutt_contract_mode *m = &mode[count];
      *m = c->mode[i];
      m->extent = piece->view.extent[i];
      for (int t = 0; t < CUTT_TENSORS; ++t) m->stride[t] = piece->view.stride[t][i];
      ++count;
    }
    count = cutt_modes_fuse(mode, count);
    const int first = sums ? piece->loops : 0;
    for (int i = 0; i < count; ++i) {
      cutt_loop loop = {.extent = mode[i].extent};
      memcpy(loop.stride, mode[i].stride, sizeof loop.stride);
      int at = first + i;
      const int64_t key = llabs(loop.stride[sums ? CUTT_LEFT : CUTT_RESULT]);
      for (; at > first && llabs(piece->loop[at - 1].stride[sums ? CUTT_LEFT : CUTT_RESULT]) < key; --at)
        piece->loop[at] = piece->loop[at - 1];
      piece->loop[at] = loop;
    }
    *(sums ? &piece->sums : &piece->loops) = count;
  }
  free(mode);
  piece->products = piece->additions = 1;
  for (int i = 0; i < piece->loops + piece->sums; ++i)
    *(i < piece->loops ? &piece->products : &piece->additions) *= piece->loop[i].extent;
  return CUTT_SUCCESS;
}

/* On a GPU the loop with the most turns becomes the product's batch. */
static void take_batch(cutt_piece *piece) {
  int best = -1;
  for (int i = 0; i < piece->loops; ++i)
    if (best < 0 || piece->loop[i].extent > piece->loop[best].extent) best = i;
  if (best < 0) return;
  const cutt_loop loop = piece->loop[best];
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (loop.stride[t] < 0) return;
  for (int i = best; i + 1 < piece->loops + piece->sums; ++i) piece->loop[i] = piece->loop[i + 1];
  --piece->loops;
  piece->products /= loop.extent;
  piece->gemm.batch = loop.extent;
  piece->gemm.stride_a = loop.stride[piece->swapped ? CUTT_RIGHT : CUTT_LEFT];
  piece->gemm.stride_b = loop.stride[piece->swapped ? CUTT_LEFT : CUTT_RIGHT];
  piece->gemm.stride_c = loop.stride[CUTT_RESULT];
}

/* Extents are set: the piece's view has them. */
static cuttResult make_piece(struct cuttContractionStruct *plan, cutt_piece *piece) {
  const cutt_contraction *c = &plan->contraction;
  cutt_algorithm_view(c, &plan->algorithm, piece->view.extent, &piece->view);
  if (!cutt_algorithm_product(c, &plan->algorithm, &piece->view, &piece->gemm, &piece->swapped))
    return cutt_error(CUTT_INTERNAL_ERROR, "a piece of the contraction is no matrix product");
  cuttResult result = list_loops(c, &plan->algorithm, piece);
  if (result) return result;
  if (cutt_contraction_on_gpu(plan)) take_batch(piece);
  for (int t = 0; t < CUTT_TENSORS && !result; ++t) {
    if (!plan->algorithm.packed[t]) continue;
    const int threads = plan->stays[t] || !plan->cost.spread ? plan->threads : 1;
    result = cutt_piece_permutation(c, &plan->algorithm, &piece->view, (cutt_tensor)t, plan->backend, threads,
                                    &piece->permute[t]);
  }
  return result;
}

static cuttResult make_pieces(struct cuttContractionStruct *plan) {
  unsigned ragged = 0;
  for (int i = 0; i < plan->cuts; ++i) ragged |= plan->cut[i].ragged;
  for (unsigned kind = 0; kind < CUTT_MOST_KINDS; ++kind) {
    if (kind & ~ragged) continue;
    cutt_piece *piece = plan->kind[kind] = calloc(1, sizeof *piece);
    if (!piece) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a piece of a plan", sizeof *piece);
    int64_t *extent = piece->view.extent;
    for (int i = 0; i < plan->contraction.modes; ++i) extent[i] = plan->algorithm.chunk[i];
    for (int i = 0; i < plan->cuts; ++i) {
      const cutt_cutting *cut = &plan->cut[i];
      if (kind & cut->ragged)
        extent[cut->mode] = plan->contraction.mode[cut->mode].extent - (cut->chunks - 1) * cut->chunk;
    }
    const cuttResult result = make_piece(plan, piece);
    if (result) return result;
  }
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------- reductions */

/* The modes that only this operand has. */
static cutt_group sums_of(cutt_tensor t) { return t == CUTT_LEFT ? CUTT_GROUP_SUM_L : CUTT_GROUP_SUM_R; }

/* L' = L summed over the modes that only L has, as a contraction of L and a scalar 1 into workspace, packed as L lies. */
static void reduction_of(const cutt_contraction *c, cutt_tensor t, cutt_contraction *reduction) {
  const cutt_group summed = sums_of(t);
  *reduction = *c;
  reduction->modes = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (!c->mode[i].stride[t] && c->mode[i].group != summed) continue;
    cutt_contract_mode *mode = &reduction->mode[reduction->modes++];
    *mode = c->mode[i];
    mode->group = c->mode[i].group == summed ? CUTT_GROUP_SUM_L : CUTT_GROUP_M;
    mode->stride[CUTT_LEFT] = c->mode[i].stride[t];
    mode->stride[CUTT_RIGHT] = mode->stride[CUTT_RESULT] = 0;
  }
  reduction->conjugate[CUTT_LEFT] = c->conjugate[t];
  reduction->conjugate[CUTT_RIGHT] = false;
  reduction->volume[CUTT_LEFT] = c->volume[t];
  reduction->volume[CUTT_RIGHT] = reduction->volume[CUTT_RESULT] = 1;
  reduction->beta_is_zero = reduction->alpha_is_one = true;
  reduction->beta_is_one = false;
  memset(reduction->beta, 0, sizeof reduction->beta);
  /* Packed in the order in which the operand has them. */
  for (;;) {
    int next = -1;
    for (int i = 0; i < reduction->modes; ++i) {
      const cutt_contract_mode *mode = &reduction->mode[i];
      if (mode->group != CUTT_GROUP_M || mode->stride[CUTT_RESULT]) continue;
      if (next < 0 || llabs(mode->stride[CUTT_LEFT]) < llabs(reduction->mode[next].stride[CUTT_LEFT])) next = i;
    }
    if (next < 0) break;
    reduction->mode[next].stride[CUTT_RESULT] = reduction->volume[CUTT_RESULT];
    reduction->volume[CUTT_RESULT] *= reduction->mode[next].extent;
  }
}

/* The rest of the contraction, with the sum in the operand's place. */
static void replace_operand(cutt_contraction *c, cutt_tensor t, const cutt_contraction *reduction) {
  const cutt_group summed = sums_of(t);
  int left = 0, from = 0;
  for (int i = 0; i < c->modes; ++i) {
    cutt_contract_mode mode = c->mode[i];
    if (mode.group == summed) {
      ++from;
      continue;
    }
    if (mode.stride[t]) mode.stride[t] = reduction->mode[from++].stride[CUTT_RESULT];
    c->mode[left++] = mode;
  }
  c->modes = cutt_modes_fuse(c->mode, left);
  c->volume[t] = reduction->volume[CUTT_RESULT];
  c->conjugate[t] = false;
}

static bool has_sums(const cutt_contraction *c, cutt_tensor t) {
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].group == sums_of(t)) return true;
  return false;
}

/* Sums beforehand, unless the other operand is a scalar: then the contraction is a sum itself. Where there is no room for the
 * sum, its modes are looped over. */
static cuttResult reduce(struct cuttContractionStruct *plan, int64_t limit) {
  const int64_t one = cutt_contraction_on_gpu(plan) ? CUTT_WORKSPACE_ALIGNMENT : 0;
  size_t at = 0, inner = 0;
  for (int t = CUTT_LEFT; t <= CUTT_RIGHT; ++t) {
    cutt_contraction *c = &plan->contraction;
    if (!has_sums(c, (cutt_tensor)t) || c->volume[1 - t] == 1) continue;
    struct cuttContractionStruct *made = calloc(1, sizeof *made);
    if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
    reduction_of(c, (cutt_tensor)t, &made->asked);
    memcpy(made->asked.alpha, plan->one, sizeof made->asked.alpha);
    const int64_t bytes = cutt_aligned(made->asked.volume[CUTT_RESULT] * c->type->bytes);
    if (bytes > limit - one - (int64_t)at) {
      free(made);
      continue;
    }
    plan->reduce[t] = made;
    plan->reduced_offset[t] = at;
    at += (size_t)bytes;
    replace_operand(c, (cutt_tensor)t, &made->asked);
  }
  if (!plan->reduce[CUTT_LEFT] && !plan->reduce[CUTT_RIGHT]) return CUTT_SUCCESS;
  plan->one_offset = at;
  at += (size_t)one;
  for (int t = CUTT_LEFT; t <= CUTT_RIGHT; ++t) {
    struct cuttContractionStruct *made = plan->reduce[t];
    if (!made) continue;
    const cuttResult result =
        cutt_contraction_prepare(made, plan->backend, plan->blas, plan->threads, limit - (int64_t)at);
    if (result) return result;
    if (made->workspace_bytes > inner) inner = made->workspace_bytes;
  }
  plan->workspace_bytes = plan->reduce_base = at;
  plan->reduce_bytes = at + inner; /* while the sums are under way */
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ plans */

static void set_ones(struct cuttContractionStruct *plan) {
  const uint16_t half = 0x3c00, bfloat = 0x3f80;
  const cuttType_t type = plan->contraction.type->type;
  memcpy(plan->one, cutt_gemm_one(type), (size_t)plan->contraction.type->scalar_bytes);
  memcpy(plan->unit, plan->one, sizeof plan->unit);
  if (type != CUTT_F16 && type != CUTT_BF16) return;
  memset(plan->unit, 0, sizeof plan->unit);
  memcpy(plan->unit, type == CUTT_F16 ? &half : &bfloat, sizeof half);
}

cuttResult cutt_contraction_prepare(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                    const cutt_blas *blas, int threads, int64_t limit) {
  plan->backend = backend;
  plan->blas = blas;
  plan->threads = threads;
  plan->contraction = plan->asked;
  set_ones(plan);
  if (plan->asked.empty) return CUTT_SUCCESS;
  if (plan->asked.no_terms) return cutt_scale_permutation(&plan->contraction, backend, threads, &plan->scale);
  cuttResult result = reduce(plan, limit);
  if (!result) result = cutt_rates_find(plan, &plan->rates);
  if (result) return result;
  const int64_t room = limit - (int64_t)plan->workspace_bytes;
  result = cutt_algorithm_choose(plan, room);
  if (result) return result;
  list_cuts(plan);
  lay_out_workspace(plan, limit);
  if (plan->reduce_bytes > plan->workspace_bytes) plan->workspace_bytes = plan->reduce_bytes;
  return make_pieces(plan);
}

void cutt_contraction_release(struct cuttContractionStruct *plan) {
  for (int t = 0; t < 2; ++t) {
    if (!plan->reduce[t]) continue;
    cutt_contraction_release(plan->reduce[t]);
    free(plan->reduce[t]);
  }
  for (int kind = 0; kind < CUTT_MOST_KINDS; ++kind) {
    cutt_piece *piece = plan->kind[kind];
    if (!piece) continue;
    for (int t = 0; t < CUTT_TENSORS; ++t) cuttPlanDestroy(piece->permute[t]);
    free(piece);
  }
  cuttPlanDestroy(plan->scale);
}
