/* The walk over the pieces of a plan, the same on every device. */
#include <string.h>

#include "contract/plan.h"

const cutt_piece *cutt_walk_to(cutt_walk *walk, int64_t unit, int64_t term) {
  const struct cuttContractionStruct *plan = walk->plan;
  unsigned kind = 0;
  for (int i = plan->cuts; i-- > 0;) {
    const cutt_cutting *cut = &plan->cut[i];
    int64_t *rest = cut->role == CUTT_ROLE_K ? &term : &unit;
    walk->index[i] = *rest % cut->chunks;
    *rest /= cut->chunks;
    if (walk->index[i] == cut->chunks - 1) kind |= cut->ragged;
  }
  return plan->kind[kind];
}

int64_t cutt_walk_offset(const cutt_walk *walk, cutt_tensor t) {
  const struct cuttContractionStruct *plan = walk->plan;
  int64_t elements = 0;
  for (int i = 0; i < plan->cuts; ++i)
    elements += walk->index[i] * plan->cut[i].chunk * plan->contraction.mode[plan->cut[i].mode].stride[t];
  return elements * plan->contraction.type->bytes;
}

bool cutt_walk_packs(cutt_walk *walk, cutt_tensor t) {
  const struct cuttContractionStruct *plan = walk->plan;
  bool same = walk->holds[t];
  for (int i = 0; i < plan->cuts && same; ++i) same = !plan->cut[i].held[t] || walk->packed[t][i] == walk->index[i];
  if (same) return false;
  memcpy(walk->packed[t], walk->index, (size_t)plan->cuts * sizeof walk->index[0]);
  walk->holds[t] = true;
  return true;
}

void cutt_loops_offset(const cutt_loop *loop, int count, int64_t number, int64_t offset[CUTT_TENSORS]) {
  for (int t = 0; t < CUTT_TENSORS; ++t) offset[t] = 0;
  for (int i = count; i-- > 0;) {
    const int64_t index = number % loop[i].extent;
    number /= loop[i].extent;
    for (int t = 0; t < CUTT_TENSORS; ++t) offset[t] += index * loop[i].stride[t];
  }
}
