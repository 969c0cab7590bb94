/* The choice of an algorithm: times of all are predicted, and those of the best few once more, closely.
 *
 * For the best few, the permutation's own model predicts the permutations of whole tensors. One that needs more workspace than
 * there is is cut into blocks. On the CPU each is also tried in blocks that fit a core's own cache, where a packed operand is
 * multiplied before it has left the cache, so that memory is passed once and not three times. */
#include "contract/choose.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "contract/permutation.h"

/* Of more modes than MANY_MODES only so few algorithms are looked at closely, and of more than MOST_MODES none. */
enum { SHORTLIST = CUTT_LISTED_ALGORITHMS, MANY_MODES = 12, FEW = 3, MOST_MODES = 24 };

typedef struct shortlist {
  const cutt_contraction *c;
  const cutt_rates *rates;
  int64_t limit;
  int count, fitting, most;
  /* The fastest by the model, the fastest first; and of those that need no more workspace than the limit. */
  cutt_algorithm_choice list[SHORTLIST];
  cutt_algorithm_choice *best;
  /* One of the list, cut into blocks. */
  cutt_algorithm_choice cut;
} shortlist;

static void insert(cutt_algorithm_choice *list, int *count, int most, const cutt_algorithm *algorithm,
                   const cutt_cost *cost) {
  if (!isfinite(cost->seconds) || (*count == most && !(cost->seconds < list[most - 1].cost.seconds))) return;
  int at = *count < most ? (*count)++ : most - 1;
  for (; at > 0 && list[at - 1].cost.seconds > cost->seconds; --at) list[at] = list[at - 1];
  list[at] = (cutt_algorithm_choice){*algorithm, *cost};
}

static void consider(void *data, const cutt_algorithm *algorithm) {
  shortlist *s = data;
  cutt_cost cost;
  cutt_cost_of(s->c, s->rates, algorithm, &cost);
  insert(s->list, &s->count, SHORTLIST, algorithm, &cost);
  if (cost.workspace <= s->limit) insert(s->best, &s->fitting, s->most, algorithm, &cost);
}

static cuttResult find_best(const cutt_contraction *c, const cutt_rates *rates, int64_t limit, int most,
                            cutt_algorithm_choice *best, int *count) {
  *count = 0;
  shortlist *all = calloc(1, sizeof *all);
  if (!all) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *all);
  all->c = c;
  all->rates = rates;
  all->limit = limit;
  all->best = best;
  all->most = most;
  int64_t costings = cutt_most_costings(c);
  const cuttResult result = cutt_algorithms_enumerate(c, rates->gpu, consider, all);
  for (int i = 0; i < all->count && !result; ++i) {
    const cutt_algorithm_choice *e = &all->list[i];
    if (e->cost.workspace == 0) continue;
    /* In blocks for the limit of workspace, if it needs more; and in blocks for the caches. */
    for (int small = e->cost.workspace <= limit; small < (rates->cache_bytes ? 2 : 1); ++small) {
      all->cut = *e;
      if (cutt_cut(c, rates, limit, small ? rates->cache_bytes : INT64_MAX, &costings, &all->cut.algorithm,
                   &all->cut.cost))
        insert(best, &all->fitting, most, &all->cut.algorithm, &all->cut.cost);
    }
  }
  *count = all->fitting;
  free(all);
  return result;
}

cuttResult cutt_algorithms_best(const cutt_contraction *c, const cutt_rates *rates, int64_t limit,
                                cutt_algorithm_choice best[CUTT_BEST_ALGORITHMS], int *count) {
  return find_best(c, rates, limit, CUTT_BEST_ALGORITHMS, best, count);
}

/* Replaces the rough prediction of permutations of whole tensors by that of the permutation's own model. */
static cuttResult look_closely(const struct cuttContractionStruct *plan, cutt_algorithm_choice *e, cutt_view *view) {
  const cutt_contraction *c = &plan->contraction;
  cutt_algorithm_view(c, &e->algorithm, NULL, view);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (!e->algorithm.packed[t]) continue;
    cuttPlan_t permute = NULL;
    cuttPlanInfo_t info = {.struct_size = sizeof info};
    cuttResult result =
        cutt_block_permutation(c, &e->algorithm, view, (cutt_tensor)t, plan->backend, plan->threads, NULL, &permute);
    if (!result) result = cuttPlanGetInfo(permute, &info);
    cuttPlanDestroy(permute);
    if (result) return result;
    const double seconds = info.predicted_seconds * plan->rates.permute_scale;
    e->cost.seconds += seconds - e->cost.permute[t];
    e->cost.permute[t] = seconds;
  }
  return CUTT_SUCCESS;
}

static bool is_whole(const cutt_contraction *c, const cutt_algorithm *algorithm) {
  for (int i = 0; i < c->modes; ++i)
    if (algorithm->chunk[i] < c->mode[i].extent) return false;
  return true;
}

cuttResult cutt_algorithm_look(const struct cuttContractionStruct *plan, cutt_algorithm_choice *choice) {
  if (!is_whole(&plan->contraction, &choice->algorithm)) return CUTT_SUCCESS;
  cutt_view *view = malloc(sizeof *view);
  if (!view) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction", sizeof *view);
  const cuttResult result = look_closely(plan, choice, view);
  free(view);
  return result;
}

cuttResult cutt_algorithms_look(const struct cuttContractionStruct *plan, int64_t limit, int longest,
                                cutt_algorithm_choice *best, int *found, int *looked_at) {
  int count = 0, looked = 0;
  cuttResult result = find_best(&plan->contraction, &plan->rates, limit, longest, best, &count);
  if (!result && count == 0) result = cutt_error(CUTT_INTERNAL_ERROR, "no algorithm was found to do the contraction");
  const int modes = plan->contraction.modes, most = modes <= MANY_MODES ? count : modes <= MOST_MODES ? FEW : 0;
  const double least = count ? best[0].cost.seconds : 0;
  for (; looked < count && looked < most && !result; ++looked) {
    /* Where many modes are permuted the closer look takes long, and it does not find what is far slower by the rough one. */
    if (modes > MANY_MODES && best[looked].cost.seconds > 3 * least) break;
    result = cutt_algorithm_look(plan, &best[looked]);
  }
  *found = count;
  *looked_at = looked;
  return result;
}

/* A tensor is not permuted for the sake of less than predictions of products err by. */
static const double least_gain = 1.02;

static int permuted(const cutt_algorithm_choice *e) {
  int count = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) count += e->algorithm.packed[t];
  return count;
}

/* Of the fastest and those nearly as fast the one that permutes the fewest tensors. */
static int preferred(const cutt_algorithm_choice *best, int count) {
  int first = 0;
  for (int i = 1; i < count; ++i)
    if (best[i].cost.seconds < best[first].cost.seconds) first = i;
  const double near = least_gain * best[first].cost.seconds;
  for (int i = 0; i < count; ++i) {
    const int fewer = permuted(&best[first]) - permuted(&best[i]);
    const bool faster = best[i].cost.seconds < best[first].cost.seconds;
    if (best[i].cost.seconds <= near && (fewer > 0 || (fewer == 0 && faster))) first = i;
  }
  return first;
}

cuttResult cutt_algorithm_choose(struct cuttContractionStruct *plan, int64_t limit) {
  cutt_algorithm_choice *best = malloc(CUTT_BEST_ALGORITHMS * sizeof *best);
  int count = 0, looked = 0;
  if (!best)
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan a contraction",
                      CUTT_BEST_ALGORITHMS * sizeof *best);
  const cuttResult result = cutt_algorithms_look(plan, limit, CUTT_BEST_ALGORITHMS, best, &count, &looked);
  if (!result) {
    const int first = preferred(best, looked);
    plan->algorithm = best[first].algorithm;
    plan->cost = best[first].cost;
  }
  free(best);
  return result;
}
