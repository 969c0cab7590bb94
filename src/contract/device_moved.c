/* Tensors that are permuted beside a pass on a GPU (device_moved.h): their order, and what permuting them is predicted to take. */
#include "contract/device_moved.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE = 16 }; /* bytes: what the beginning of a run costs */

/* The share of a copy's speed that permutations of long runs reach. */
static const double share_of_copy = 0.88;

static bool has(const cutt_contraction *c, int mode, cutt_tensor t) { return c->mode[mode].stride[t] != 0; }

/* The largest one of the tensors that stay. */
static cutt_tensor largest_left(const cutt_contraction *c, unsigned moved) {
  cutt_tensor best = CUTT_TENSORS;
  for (cutt_tensor t = CUTT_LEFT; t < CUTT_TENSORS; ++t) {
    if (cutt_device_is_moved(moved, t) || (t == CUTT_RIGHT && c->right_is_one)) continue;
    if (best == CUTT_TENSORS || c->volume[t] > c->volume[best]) best = t;
  }
  return best;
}

/* Does mode i come before mode j? In the order of the tensor that gives it; of modes that this one has not, in D's, and of summed ones in that of
 * the larger operand. */
static bool comes_before(const cutt_contraction *c, cutt_tensor by, int i, int j) {
  const cutt_tensor larger = !c->right_is_one && c->volume[CUTT_RIGHT] > c->volume[CUTT_LEFT] ? CUTT_RIGHT : CUTT_LEFT;
  const cutt_tensor order[] = {by, CUTT_RESULT, larger, CUTT_LEFT, CUTT_RIGHT};
  for (size_t k = 0; k < sizeof order / sizeof *order; ++k) {
    const cutt_tensor t = order[k];
    if (has(c, i, t) != has(c, j, t)) return has(c, i, t);
    if (has(c, i, t) && c->mode[i].stride[t] != c->mode[j].stride[t])
      return llabs(c->mode[i].stride[t]) < llabs(c->mode[j].stride[t]);
  }
  return i < j;
}

void cutt_device_moved_strides(const cutt_contraction *c, unsigned moved, cutt_tensor t,
                               int64_t stride[CUTT_MOST_MODES]) {
  const cutt_tensor by = largest_left(c, moved);
  int mode[CUTT_MOST_MODES], count = 0;
  int64_t packed = 1;
  for (int i = 0; i < c->modes; ++i) {
    stride[i] = 0;
    if (!has(c, i, t)) continue;
    int at = count++;
    for (; at > 0 && comes_before(c, by, i, mode[at - 1]); --at) mode[at] = mode[at - 1];
    mode[at] = i;
  }
  for (int i = 0; i < count; ++i) {
    stride[mode[i]] = packed;
    packed *= c->mode[mode[i]].extent;
  }
}

/* Returns whether the tensor changes. */
static bool pack(const cutt_contraction *c, unsigned moved, cutt_tensor t, cutt_contraction *inner) {
  int64_t stride[CUTT_MOST_MODES];
  bool changes = false;
  cutt_device_moved_strides(c, moved, t, stride);
  for (int i = 0; i < c->modes; ++i) {
    changes = changes || c->mode[i].stride[t] != stride[i];
    inner->mode[i].stride[t] = stride[i];
  }
  return changes;
}

/* beta is the permutation's; halves and whole numbers are not rounded, or scaled, twice. */
static bool may_move_result(const cutt_contraction *c) {
  const cuttType_t type = c->type->type;
  return c->beta_is_zero || type == CUTT_F32 || type == CUTT_F64 || type == CUTT_C32 || type == CUTT_C64;
}

bool cutt_device_move(const cutt_contraction *c, unsigned moved, cutt_contraction *inner) {
  if (!moved || largest_left(c, moved) == CUTT_TENSORS || c->no_terms || c->empty) return false;
  if (cutt_device_is_moved(moved, CUTT_RIGHT) && c->right_is_one) return false;
  if (cutt_device_is_moved(moved, CUTT_RESULT) && !may_move_result(c)) return false;
  *inner = *c;
  for (cutt_tensor t = CUTT_LEFT; t < CUTT_TENSORS; ++t)
    if (cutt_device_is_moved(moved, t) && !pack(c, moved, t, inner)) return false;
  if (cutt_device_is_moved(moved, CUTT_RESULT)) cutt_beta_clear(inner);
  inner->modes = cutt_modes_fuse(inner->mode, inner->modes);
  return true;
}

int64_t cutt_device_moved_bytes(const cutt_contraction *c, unsigned moved) {
  int64_t bytes = 0;
  for (cutt_tensor t = CUTT_LEFT; t < CUTT_TENSORS; ++t)
    if (cutt_device_is_moved(moved, t)) bytes += cutt_aligned(c->volume[t] * c->type->bytes);
  return bytes;
}

/* Bytes that follow each other in a tensor, of one mode. */
static double run_of(const cutt_contraction *c, cutt_tensor t) {
  const int fast = cutt_fast_mode(c, t);
  return fast >= 0 && llabs(c->mode[fast].stride[t]) == 1 ? (double)(c->mode[fast].extent * c->type->bytes)
                                                          : c->type->bytes;
}

double cutt_device_move_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_contraction *inner,
                                cutt_tensor t) {
  const double moved = (t == CUTT_RESULT && !c->beta_is_zero ? 3 : 2) * (double)c->volume[t] * c->type->bytes;
  return r->launch + moved / (share_of_copy * r->memory) * (1 + EDGE / run_of(c, t) + EDGE / run_of(inner, t));
}
