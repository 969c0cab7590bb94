/* The order of ranks that moves least: an assignment of ranks to places that keeps as many elements as can be. */
#include <stdlib.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/layout.h"
#include "plan/services.h"

/* What an assignment is looked for with; rows are places of `to`, filled up with places that nobody has. */
typedef struct assignment {
  int size;
  int64_t *kept; /* of row p and rank r at [p * size + r] */
  int64_t *row_price, *rank_price, *least;
  int *row_of, *before;
  unsigned char *done;
} assignment;

/* Finds a place for row `row` and moves others for it, by the cheapest chain of changes (the Hungarian method, with prices as
 * Jonker and Volgenant have them). Ranks and rows count from 1 here; 0 is none. */
static void assign(assignment *a, int row) {
  int at = 0;
  a->row_of[0] = row;
  for (int r = 0; r <= a->size; ++r) {
    a->least[r] = INT64_MAX;
    a->done[r] = 0;
  }
  do {
    const int from = a->row_of[at];
    int next = 0;
    int64_t step = INT64_MAX;
    a->done[at] = 1;
    for (int r = 1; r <= a->size; ++r) {
      if (a->done[r]) continue;
      const int64_t cost = -a->kept[(size_t)(from - 1) * (size_t)a->size + (size_t)(r - 1)];
      const int64_t more = cost - a->row_price[from] - a->rank_price[r];
      if (more < a->least[r]) {
        a->least[r] = more;
        a->before[r] = at;
      }
      if (a->least[r] < step) {
        step = a->least[r];
        next = r;
      }
    }
    for (int r = 0; r <= a->size; ++r) {
      if (a->done[r]) {
        a->row_price[a->row_of[r]] += step;
        a->rank_price[r] -= step;
      } else if (r > 0) {
        a->least[r] -= step;
      }
    }
    at = next;
  } while (a->row_of[at]);
  while (at) {
    const int before = a->before[at];
    a->row_of[at] = a->row_of[before];
    at = before;
  }
}

static bool make_assignment(assignment *a, int size) {
  const size_t n = (size_t)size + 1;
  a->size = size;
  a->kept = calloc((size_t)size * (size_t)size, sizeof *a->kept);
  a->row_price = calloc(n, sizeof *a->row_price);
  a->rank_price = calloc(n, sizeof *a->rank_price);
  a->least = calloc(n, sizeof *a->least);
  a->row_of = calloc(n, sizeof *a->row_of);
  a->before = calloc(n, sizeof *a->before);
  a->done = calloc(n, 1);
  return a->kept && a->row_price && a->rank_price && a->least && a->row_of && a->before && a->done;
}

static void free_assignment(assignment *a) {
  free(a->kept);
  free(a->row_price);
  free(a->rank_price);
  free(a->least);
  free(a->row_of);
  free(a->before);
  free(a->done);
}

/* Indices that each part of `from` and each part of `to` have in common, by mode of `from`. */
static cuttResult count_common(const cutt_layout *from, const cutt_layout *to, const int *inverse, int64_t **common) {
  for (int m = 0; m < from->modes; ++m) {
    const cutt_part *a = &from->part[m], *b = &to->part[inverse[m]];
    common[m] = malloc((size_t)a->parts * (size_t)b->parts * sizeof **common);
    for (int i = 0; i < a->parts && common[m]; ++i) {
      for (int j = 0; j < b->parts; ++j) {
        cutt_sets sets = {NULL, 0, 0};
        const bool enough = cutt_sets_add(&sets, a, i, b, j);
        common[m][(size_t)i * (size_t)b->parts + (size_t)j] = cutt_sets_volume(&sets, 0, sets.count);
        cutt_sets_free(&sets);
        if (!enough) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: sets of indices");
      }
    }
    if (!common[m]) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: common indices of %d parts", a->parts);
  }
  return CUTT_SUCCESS;
}

static void fill(assignment *a, const cutt_layout *from, const cutt_layout *to, const int *inverse,
                 int64_t *const *common) {
  int own[CUTT_MAX_RANK], its[CUTT_MAX_RANK];
  for (int place = 0; place < from->positions * from->copies; ++place) {
    const int rank = cutt_layout_rank(from, place);
    cutt_layout_parts(from, place % from->positions, own);
    for (int row = 0; row < to->positions * to->copies; ++row) {
      int64_t volume = 1;
      cutt_layout_parts(to, row % to->positions, its);
      for (int m = 0; m < from->modes; ++m) {
        const int parts = to->part[inverse[m]].parts;
        volume *= common[m][(size_t)own[m] * (size_t)parts + (size_t)its[inverse[m]]];
      }
      a->kept[(size_t)row * (size_t)a->size + (size_t)rank] = volume;
    }
  }
}

static cuttResult relabel(const cutt_layout *from, const cutt_layout *to, const int *inverse, int size, int *ranks) {
  assignment a = {0};
  int64_t *common[CUTT_MAX_RANK] = {NULL};
  cuttResult result = CUTT_SUCCESS;
  if (!make_assignment(&a, size))
    result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: what %d ranks and %d parts have in common", size, size);
  if (!result) result = count_common(from, to, inverse, common);
  if (!result) {
    fill(&a, from, to, inverse, common);
    for (int row = 1; row <= size; ++row) assign(&a, row);
    for (int r = 1; r <= size; ++r)
      if (a.row_of[r] <= to->positions * to->copies) ranks[a.row_of[r] - 1] = r - 1;
  }
  for (int m = 0; m < from->modes; ++m) free(common[m]);
  free_assignment(&a);
  return result;
}

cuttResult cuttDistRelabel(const cuttDistLayout_t *from, const cuttDistLayout_t *to, const int *perm, int size,
                           int *ranks) {
  cutt_layout own_from, own_to;
  cuttDistLayout_t any;
  int inverse[CUTT_MAX_RANK];
  if (size < 1) return cutt_error(CUTT_INVALID_PARAMETER, "size is %d; it must be 1 or more", size);
  if (!ranks)
    return cutt_error(CUTT_INVALID_PARAMETER, "ranks is NULL; it must point to an entry for each of to->ranks");
  if (!to) return cutt_error(CUTT_INVALID_PARAMETER, "to is NULL; it must point to a cuttDistLayout_t");
  cuttResult result = cutt_struct_read(&any, sizeof any, sizeof any, to, "to");
  any.struct_size = sizeof any;
  any.ranks = NULL;
  if (!result) result = cutt_layout_read(from, "from", &own_from);
  if (!result) result = cutt_layout_check_ranks(&own_from, "from", size);
  if (!result) result = cutt_layout_read(&any, "to", &own_to);
  if (!result) result = cutt_layout_check_ranks(&own_to, "to", size);
  if (!result) result = cutt_layouts_match(&own_from, &own_to, perm, inverse);
  return result ? result : relabel(&own_from, &own_to, inverse, size, ranks);
}
