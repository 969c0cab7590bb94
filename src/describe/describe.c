/* What a plan looks like, as text for a person (text.c) and as JSON for a program (json.c).
 *
 * A plan does not keep the candidates that it was not made from: enumeration is a pure function, so they are listed
 * anew when someone asks, and so is what their times are made of. */
#include "describe/describe.h"

#include <stdlib.h>

#include "base/error.h"
#include "plan/arguments.h"

static void list_candidates(const struct cuttPlanStruct *plan, cutt_listing *l) {
  l->count = cutt_plan_candidates(plan, l->list, CUTT_MAX_CANDIDATES);
  for (l->chosen = 0; l->chosen < l->count; ++l->chosen) {
    if (cutt_candidate_equal(&l->list[l->chosen], &plan->choice.candidate)) return;
  }
  /* One from wisdom that the model does not list, or the only one of a problem without elements. */
  l->list[l->count++] = plan->choice.candidate;
}

cuttResult cuttPlanDescribe(cuttPlan_t plan, cuttFormat_t format, char *buffer, size_t size, size_t *needed) {
  if (!cutt_plan_alive(plan)) return CUTT_INVALID_PLAN;
  const cuttResult result = cutt_description_check(format, buffer, size);
  if (result) return result;
  cutt_listing *listing = malloc(sizeof *listing);
  if (!listing) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for candidates", sizeof *listing);
  list_candidates(plan, listing);
  cutt_text text = cutt_text_start(buffer, size);
  if (format == CUTT_JSON) {
    cutt_describe_json(plan, listing, &text);
  } else {
    cutt_describe_text(plan, listing, &text);
  }
  free(listing);
  if (needed) *needed = text.length + 1;
  return CUTT_SUCCESS;
}
