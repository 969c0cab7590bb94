/* The choice of a way: all are costed as they are, and the cheapest few more closely.
 *
 * Closely means: what permutations of whole tensors take is asked of the permutation's own model; a way that needs more
 * workspace than there is is cut; and on the CPU a way is also tried in pieces that stay in a core's cache, where what is
 * packed is multiplied before it has left it, so that memory sees each tensor once and not three times. */
#include "contract/choose.h"

#include <math.h>

#include "base/error.h"

enum { SHORTLIST = 24 };

typedef struct shortlist {
  const cutt_contraction *c;
  const cutt_rates *rates;
  int64_t limit;
  int count, fitting;
  cutt_way_choice list[SHORTLIST]; /* the cheapest, cheapest first */
  cutt_way_choice *best;           /* the same of those that need no more than the limit */
} shortlist;

static void insert(cutt_way_choice *list, int *count, int most, const cutt_way *way, const cutt_cost *cost) {
  if (!isfinite(cost->seconds) || (*count == most && !(cost->seconds < list[most - 1].cost.seconds))) return;
  int at = *count < most ? (*count)++ : most - 1;
  for (; at > 0 && list[at - 1].cost.seconds > cost->seconds; --at) list[at] = list[at - 1];
  list[at] = (cutt_way_choice){*way, *cost};
}

static void consider(void *data, const cutt_way *way) {
  shortlist *s = data;
  cutt_cost cost;
  cutt_cost_of(s->c, s->rates, way, &cost);
  insert(s->list, &s->count, SHORTLIST, way, &cost);
  if (cost.workspace <= s->limit) insert(s->best, &s->fitting, CUTT_BEST_WAYS, way, &cost);
}

int cutt_ways_best(const cutt_contraction *c, const cutt_rates *rates, int64_t limit,
                   cutt_way_choice best[CUTT_BEST_WAYS]) {
  shortlist all = {.c = c, .rates = rates, .limit = limit, .best = best};
  cutt_ways_enumerate(c, consider, &all);
  for (int i = 0; i < all.count; ++i) {
    const cutt_way_choice *e = &all.list[i];
    if (e->cost.workspace == 0) continue;
    /* Pieces for the limit, and pieces for the caches. */
    for (int small = e->cost.workspace <= limit; small < (rates->cache_bytes ? 2 : 1); ++small) {
      cutt_way_choice cut = *e;
      if (cutt_cut(c, rates, limit, small ? rates->cache_bytes : INT64_MAX, &cut.way, &cut.cost))
        insert(best, &all.fitting, CUTT_BEST_WAYS, &cut.way, &cut.cost);
    }
  }
  return all.fitting;
}

/* What permuting whole tensors takes, by the permutation's own model in place of the rough one. */
static cuttResult look_closely(const struct cuttContractionStruct *plan, cutt_way_choice *e) {
  const cutt_contraction *c = &plan->contraction;
  cutt_view view;
  cutt_way_view(c, &e->way, NULL, &view);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (!e->way.packed[t]) continue;
    cuttPlan_t permute = NULL;
    cuttPlanInfo_t info = {.struct_size = sizeof info};
    cuttResult result =
        cutt_piece_permutation(c, &e->way, &view, (cutt_tensor)t, plan->backend, plan->threads, &permute);
    if (!result) result = cuttPlanGetInfo(permute, &info);
    cuttPlanDestroy(permute);
    if (result) return result;
    const double seconds = info.predicted_seconds * plan->rates.permute_scale;
    e->cost.seconds += seconds - e->cost.permute[t];
    e->cost.permute[t] = seconds;
  }
  return CUTT_SUCCESS;
}

static bool is_whole(const cutt_contraction *c, const cutt_way *way) {
  for (int i = 0; i < c->modes; ++i)
    if (way->chunk[i] < c->mode[i].extent) return false;
  return true;
}

cuttResult cutt_way_choose(struct cuttContractionStruct *plan, int64_t limit) {
  cutt_way_choice best[CUTT_BEST_WAYS];
  const int count = cutt_ways_best(&plan->contraction, &plan->rates, limit, best);
  int first = 0;
  if (count == 0) return cutt_error(CUTT_INTERNAL_ERROR, "no way was found to do the contraction");
  for (int i = 0; i < count; ++i) {
    if (is_whole(&plan->contraction, &best[i].way)) {
      const cuttResult result = look_closely(plan, &best[i]);
      if (result) return result;
    }
    if (best[i].cost.seconds < best[first].cost.seconds) first = i;
  }
  plan->way = best[first].way;
  plan->cost = best[first].cost;
  return CUTT_SUCCESS;
}
