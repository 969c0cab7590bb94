/* The sums over modes that only one operand has, which are done before all else (prepare.h). */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/prepare.h"

/* The modes that only this operand has. */
static cutt_group sums_of(cutt_tensor t) { return t == CUTT_LEFT ? CUTT_GROUP_SUM_L : CUTT_GROUP_SUM_R; }

/* L' = L summed over the modes that only L has: a contraction of L with a tensor of one element, 1. The result is packed, its
 * modes in the order that they have in L. */
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
  reduction->alpha_is_one = reduction->right_is_one = true;
  cutt_beta_clear(reduction);
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

/* Makes c the rest of the contraction, in which the sum has the operand's place. */
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
  c->right_is_one = c->right_is_one && t != CUTT_RIGHT;
}

static bool has_sums(const cutt_contraction *c, cutt_tensor t) {
  for (int i = 0; i < c->modes; ++i)
    if (c->mode[i].group == sums_of(t)) return true;
  return false;
}

cuttResult cutt_contraction_sum_first(struct cuttContractionStruct *plan, int64_t limit) {
  const int64_t one = cutt_contraction_on_gpu(plan) ? CUTT_WORKSPACE_ALIGNMENT : 0;
  size_t at = 0, inner = 0;
  for (int t = CUTT_LEFT; t <= CUTT_RIGHT; ++t) {
    cutt_contraction *c = &plan->contraction;
    if (!has_sums(c, (cutt_tensor)t) || c->volume[1 - t] == 1 || c->reduce) continue;
    struct cuttContractionStruct *made = calloc(1, sizeof *made);
    if (!made) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made);
    made->family = plan->family;
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
    /* The other operand may have kept apart what are neighbours in this one. */
    made->asked.modes = cutt_modes_fuse(made->asked.mode, made->asked.modes);
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
  plan->reduce_bytes = at + inner;
  return CUTT_SUCCESS;
}
