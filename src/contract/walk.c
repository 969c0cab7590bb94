/* The walk over the pieces of a plan, the same on every device. */
#include "contract/plan.h"

/* The chunk of the innermost cut at a place, which is left at those of the cuts around it. */
static int64_t next_index(const cutt_cutting *cut, cutt_place *rest) {
  int64_t *number = cut->role == CUTT_ROLE_K ? &rest->term : &rest->unit;
  const int64_t index = *number % cut->chunks;
  *number /= cut->chunks;
  return index;
}

const cutt_piece *cutt_walk_to(cutt_walk *walk, int64_t unit, int64_t term) {
  const struct cuttContractionStruct *plan = walk->plan;
  unsigned kind = 0;
  walk->at = (cutt_place){unit, term};
  cutt_place rest = walk->at;
  for (int i = plan->cuts; i-- > 0;)
    if (next_index(&plan->cut[i], &rest) == plan->cut[i].chunks - 1) kind |= plan->cut[i].ragged;
  return plan->kind[kind];
}

int64_t cutt_walk_offset(const cutt_walk *walk, cutt_tensor t) {
  const struct cuttContractionStruct *plan = walk->plan;
  cutt_place rest = walk->at;
  int64_t elements = 0;
  for (int i = plan->cuts; i-- > 0;) {
    const cutt_cutting *cut = &plan->cut[i];
    elements += next_index(cut, &rest) * cut->chunk * plan->contraction.mode[cut->mode].stride[t];
  }
  return elements * plan->contraction.type->bytes;
}

bool cutt_walk_packs(cutt_walk *walk, cutt_tensor t) {
  const struct cuttContractionStruct *plan = walk->plan;
  cutt_place now = walk->at, then = walk->packed[t];
  bool same = walk->holds[t];
  for (int i = plan->cuts; i-- > 0 && same;) {
    const bool stayed = next_index(&plan->cut[i], &now) == next_index(&plan->cut[i], &then);
    same = stayed || !plan->cut[i].held[t];
  }
  if (same) return false;
  walk->packed[t] = walk->at;
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
