/* Cuts an algorithm into blocks (cost.h).
 *
 * Step by step the chunk of one mode is halved, until the blocks are small enough: of that mode which adds least to the
 * predicted time for each byte that it saves. Any mode may be next, with two exceptions. Where an index group lies in a tensor
 * that is used in place, its outermost mode is cut down to 1 before the next one is cut, so that what is left of the group is
 * contiguous. And only a few modes may have a last chunk that is shorter than the others, so that there are few kinds of
 * blocks.
 *
 * Of a contraction with many modes only those with the longest steps are tried at each step: their chunks leave the runs of
 * memory as long as they are. */
#include <math.h>
#include <stdlib.h>

#include "contract/cost.h"

static bool in_place(const cutt_algorithm *algorithm, cutt_role role) {
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (!algorithm->packed[t] && (cutt_tensor_roles[t][0] == role || cutt_tensor_roles[t][1] == role)) return true;
  return false;
}

/* May the mode be cut further, as far as the index group that it is in goes? */
static bool may_cut(const cutt_contraction *c, const cutt_algorithm *algorithm, int mode) {
  if (algorithm->chunk[mode] == 1) return false;
  if (!cutt_algorithm_keeps(algorithm, c, mode)) return true;
  const cutt_role role = cutt_mode_role(&c->mode[mode]);
  if (!in_place(algorithm, role)) return true;
  for (int i = algorithm->kept[role]; i-- > 0;)
    if (algorithm->chunk[algorithm->index_group[role][i]] > 1) return algorithm->index_group[role][i] == mode;
  return false;
}

/* Modes whose last chunk is shorter than the others. */
static int ragged(const cutt_contraction *c, const cutt_algorithm *algorithm) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) count += c->mode[i].extent % algorithm->chunk[i] != 0;
  return count;
}

/* About half, so that all chunks have nearly the same extent. */
static int64_t halved(int64_t extent, int64_t chunk) {
  const int64_t chunks = 2 * ((extent + chunk - 1) / chunk);
  const int64_t next = (extent + chunks - 1) / chunks;
  return next < chunk ? next : chunk / 2;
}

/* The better one of the two orders of M's and N's chunks. */
static void cost_best_order(const cutt_contraction *c, const cutt_rates *r, cutt_algorithm *algorithm,
                            cutt_cost *cost) {
  cutt_cost other;
  algorithm->n_outside = true;
  cutt_cost_of(c, r, algorithm, &other);
  algorithm->n_outside = false;
  cutt_cost_of(c, r, algorithm, cost);
  if (!(other.seconds < cost->seconds)) return;
  *cost = other;
  algorithm->n_outside = true;
}

enum { FEW_MODES = 12, FEW_TRIES = 4 };

int64_t cutt_most_costings(const cutt_contraction *c) {
  return (c->modes <= FEW_MODES ? 32000 : 20000) / (c->modes + 6);
}

/* The modes to be tried, in the order of their numbers; returns how many. */
static int list_tries(const cutt_contraction *c, const cutt_algorithm *algorithm, int *mode) {
  int count = 0;
  int64_t step[FEW_TRIES];
  for (int i = 0; i < c->modes; ++i) {
    if (!may_cut(c, algorithm, i)) continue;
    if (c->modes <= FEW_MODES) {
      mode[count++] = i;
      continue;
    }
    int64_t longest = 0;
    for (int t = 0; t < CUTT_TENSORS; ++t)
      if (algorithm->packed[t] && llabs(c->mode[i].stride[t]) > longest) longest = llabs(c->mode[i].stride[t]);
    if (count == FEW_TRIES && step[count - 1] >= longest) continue;
    int at = count < FEW_TRIES ? count++ : count - 1;
    for (; at > 0 && step[at - 1] < longest; --at) {
      step[at] = step[at - 1];
      mode[at] = mode[at - 1];
    }
    step[at] = longest;
    mode[at] = i;
  }
  return count;
}

bool cutt_cut(const cutt_contraction *c, const cutt_rates *r, int64_t limit, int64_t block_bytes, int64_t *costings,
              cutt_algorithm *algorithm, cutt_cost *cost) {
  cost_best_order(c, r, algorithm, cost);
  for (;;) {
    int mode_list[CUTT_MOST_MODES];
    if (cost->workspace <= limit && cost->block_bytes <= block_bytes) return isfinite(cost->seconds);
    cutt_algorithm best_algorithm = *algorithm;
    cutt_cost best = {.seconds = INFINITY};
    double best_worth = INFINITY;
    bool found = false;
    const int tries = list_tries(c, algorithm, mode_list);
    *costings -= 2 * tries;
    if (*costings < 0) return false;
    for (int i = 0; i < tries; ++i) {
      const int mode = mode_list[i];
      cutt_algorithm tried = *algorithm;
      cutt_cost cost_of;
      do tried.chunk[mode] = halved(c->mode[mode].extent, tried.chunk[mode]);
      while (ragged(c, &tried) > CUTT_MOST_RAGGED);
      cost_best_order(c, r, &tried, &cost_of);
      /* Seconds added for each byte saved. Modes that save nothing come after all that do, the fastest of them first. */
      const int64_t saved =
          cost->workspace > limit ? cost->workspace - cost_of.workspace : cost->block_bytes - cost_of.block_bytes;
      const double more = cost_of.seconds - cost->seconds;
      double worth = saved > 0 ? (more > 0 ? more / (double)saved : more) : 1.0 + cost_of.seconds;
      if (!isfinite(worth)) continue;
      if (!found || worth < best_worth) {
        found = true;
        best_worth = worth;
        best = cost_of;
        best_algorithm = tried;
      }
    }
    if (!found) return false;
    *algorithm = best_algorithm;
    *cost = best;
  }
}
