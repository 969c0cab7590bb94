/* The walk over the blocks of a plan, the same on every device (plan.h). The number of a block of D counts the chunks of the
 * modes of batch, M and N, and that of a block of K the chunks of K's, the innermost mode fastest. */
#include "contract/plan.h"

/* The number of the chunk of the innermost mode that is not yet taken out of *rest. Takes it out: what is left counts the
 * chunks of the modes around it. */
static int64_t next_index(const cutt_cut_mode *cut, cutt_block_index *rest) {
  int64_t *number = cut->role == CUTT_ROLE_K ? &rest->k_block : &rest->result_block;
  const int64_t index = *number % cut->chunks;
  *number /= cut->chunks;
  return index;
}

const cutt_block *cutt_walk_to(cutt_walk *walk, int64_t result_block, int64_t k_block) {
  const struct cuttContractionStruct *plan = walk->plan;
  unsigned kind = 0;
  walk->at = (cutt_block_index){result_block, k_block};
  cutt_block_index rest = walk->at;
  for (int i = plan->cuts; i-- > 0;)
    if (next_index(&plan->cut[i], &rest) == plan->cut[i].chunks - 1) kind |= plan->cut[i].ragged;
  return plan->kind[kind];
}

int64_t cutt_walk_offset(const cutt_walk *walk, cutt_tensor t) {
  const struct cuttContractionStruct *plan = walk->plan;
  cutt_block_index rest = walk->at;
  int64_t elements = 0;
  for (int i = plan->cuts; i-- > 0;) {
    const cutt_cut_mode *cut = &plan->cut[i];
    elements += next_index(cut, &rest) * cut->chunk * plan->contraction.mode[cut->mode].stride[t];
  }
  return elements * plan->contraction.type->bytes;
}

bool cutt_walk_packs(cutt_walk *walk, cutt_tensor t) {
  const struct cuttContractionStruct *plan = walk->plan;
  cutt_block_index now = walk->at, then = walk->packed[t];
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
