/* The checks of extents and strides (labelled.h).
 *
 * As in plan/problem.c, every check words its own error, and every sum and product that a caller's numbers enter is checked
 * for overflow here, once: afterwards the byte offset of every element of the tensors fits an int64, and so does the
 * product of the extents of all labels. */
#include "contract/labelled.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/text.h"
#include "plan/problem.h"

/* Of a tensor, all elements counted, also those that a stride of 0 repeats: more than any machine has, and so little that
 * the planner may add up workspace of several packed tensors for a thousand threads. */
static const int64_t MOST_BYTES = INT64_C(1) << 52;

static cuttResult check_rank(const cutt_labelled *r, cutt_tensor tensor, int rank) {
  const int wanted = r->pattern.rank[tensor];
  if (rank != wanted) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is %d, and the pattern gives %s %d mode%s; it must be %d",
                      r->names[tensor].rank, rank, r->names[tensor].name, wanted, wanted == 1 ? "" : "s", wanted);
  }
  if (rank > 0 && !r->extents[tensor] && tensor != CUTT_RESULT) {
    return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; with %s %d it must point to %d extents",
                      r->names[tensor].extents, r->names[tensor].rank, rank, rank);
  }
  return CUTT_SUCCESS;
}

/* The error for two extents of one label that differ. */
static cuttResult disagree(const cutt_labelled *r, cutt_tensor tensor, int mode, cutt_tensor other, int other_mode) {
  const cutt_pattern *pattern = &r->pattern;
  const int place = pattern->place[tensor][mode], other_place = pattern->place[other][other_mode];
  char where[64];
  cutt_text text = cutt_text_start(where, sizeof where);
  if (place) {
    cutt_text_add(&text, "places %d and %d of the pattern", other_place, place);
  } else {
    cutt_text_add(&text, "place %d of the pattern, and implied in the result", other_place);
  }
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "%s[%d] is %" PRId64 " and %s[%d] is %" PRId64
                    ", and both are extents of '%s' (%s); all extents of a letter must be the same",
                    r->names[other].extents, other_mode, r->extents[other][other_mode], r->names[tensor].extents, mode,
                    r->extents[tensor][mode], pattern->name[pattern->label[tensor][mode]].name, where);
}

/* The extents of the labels, from the operands, and the result's if they are given. */
static cuttResult check_extents(cutt_labelled *r) {
  const cutt_pattern *pattern = &r->pattern;
  struct {
    cutt_tensor tensor;
    int mode;
  } first[CUTT_MOST_LABELS];
  bool known[CUTT_MOST_LABELS] = {false};
  for (int t = CUTT_LEFT; t < r->tensors; ++t) {
    if (!r->extents[t]) continue;
    for (int i = 0; i < pattern->rank[t]; ++i) {
      const int label = pattern->label[t][i];
      const int64_t extent = r->extents[t][i];
      if (extent < 0) {
        return cutt_error(CUTT_INVALID_PARAMETER, "%s[%d] is %" PRId64 "; it must be 0 or more", r->names[t].extents, i,
                          extent);
      }
      if (!known[label]) {
        known[label] = true;
        first[label].tensor = (cutt_tensor)t;
        first[label].mode = i;
        r->extent[label] = extent;
      } else if (r->extent[label] != extent) {
        return disagree(r, (cutt_tensor)t, i, first[label].tensor, first[label].mode);
      }
    }
  }
  return CUTT_SUCCESS;
}

/* Sets a tensor's strides and its volume. */
static cuttResult check_volume(cutt_labelled *r, cutt_tensor tensor) {
  const cutt_pattern *pattern = &r->pattern;
  const int64_t most = MOST_BYTES / r->bytes;
  /* An extent of 0 counts as 1, so that packed strides of a tensor without elements make sense too. */
  int64_t packed = 1, volume = 1;
  for (int i = 0; i < pattern->rank[tensor]; ++i) {
    const int64_t extent = r->extent[pattern->label[tensor][i]];
    r->stride[tensor][i] = r->strides[tensor] ? r->strides[tensor][i] : packed;
    if (extent > 1 && extent > most / packed) {
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "%s[%d] is %" PRId64 ", which takes %s past 2^52 bytes, %d for each element",
                        r->names[tensor].extents, i, extent, r->names[tensor].name, r->bytes);
    }
    if (extent > 1) packed *= extent;
    bool again = false;
    for (int j = 0; j < i; ++j) again = again || pattern->label[tensor][j] == pattern->label[tensor][i];
    if (!again) volume *= extent; /* a divisor of packed, or 0 */
  }
  r->volume[tensor] = volume;
  return CUTT_SUCCESS;
}

/* Sets the bytes that a tensor spans, elements off a diagonal included. */
static cuttResult check_span(cutt_labelled *r, cutt_tensor tensor) {
  const cutt_pattern *pattern = &r->pattern;
  const int rank = pattern->rank[tensor], bytes = r->bytes;
  int64_t below = 0, above = bytes, extent[CUTT_MAX_RANK];
  for (int i = 0; i < rank; ++i) {
    const int64_t stride = r->stride[tensor][i];
    extent[i] = r->extent[pattern->label[tensor][i]];
    int64_t reach = 0, width = 0;
    if (extent[i] <= 1) continue;
    if (!__builtin_mul_overflow(extent[i] - 1, stride, &reach) && !__builtin_mul_overflow(reach, bytes, &reach) &&
        !(reach < 0 ? __builtin_add_overflow(below, reach, &below) : __builtin_add_overflow(above, reach, &above)) &&
        !__builtin_sub_overflow(above, below, &width)) {
      continue;
    }
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "%s[%d] is %" PRId64 " with extent %" PRId64
                      " and %d-byte elements, which takes %s past 2^63 - 1 bytes",
                      r->names[tensor].strides, i, stride, extent[i], bytes, r->names[tensor].name);
  }
  const bool empty = r->volume[tensor] == 0;
  r->low[tensor] = empty ? 0 : below;
  r->high[tensor] = empty ? 0 : above;
  /* No label is in the result twice, so its modes are those of the caller. */
  if (tensor != CUTT_RESULT || empty || !r->strides[tensor]) return CUTT_SUCCESS;
  return cutt_overlap_check(rank, extent, r->stride[tensor], r->names[tensor].strides);
}

/* The number of multiply-adds has to fit an int64: the planner multiplies m, n, k and batch. */
static cuttResult check_product(const cutt_labelled *r) {
  int64_t product = 1;
  for (int i = 0; i < r->pattern.labels; ++i) {
    if (r->extent[i] <= 1 || !__builtin_mul_overflow(product, r->extent[i], &product)) continue;
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "the extents of all letters, multiplied, pass 2^63 - 1 at '%s' with its %" PRId64
                      "; they must not, since that is the number of products to be summed",
                      r->pattern.name[i].name, r->extent[i]);
  }
  return CUTT_SUCCESS;
}

cuttResult cutt_labelled_check(cutt_labelled *l) {
  cuttResult result = CUTT_SUCCESS;
  for (int t = 0; t < l->tensors && !result; ++t) result = check_rank(l, (cutt_tensor)t, l->rank[t]);
  if (!result) result = check_extents(l);
  for (int t = 0; t < l->tensors && !result; ++t) {
    result = check_volume(l, (cutt_tensor)t);
    if (!result) result = check_span(l, (cutt_tensor)t);
  }
  return result ? result : check_product(l);
}
