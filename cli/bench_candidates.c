/* Every candidate of a case, timed: what the cost model is tuned by. The model has to put the candidates of a problem in
 * order, so what counts is how those near the front compare; one that takes several times as long as the best is timed
 * once. */
#include "bench_candidates.h"

#include <stdio.h>
#include <stdlib.h>

/* Of a plan's description, the member `name`; a reference of the caller's own. */
static json_t *part_of(cuttPlan_t plan, const char *name) {
  size_t needed = 0;
  if (cuttPlanDescribe(plan, CUTT_JSON, NULL, 0, &needed) != CUTT_SUCCESS) return NULL;
  char *text = malloc(needed);
  if (!text) return NULL;
  json_t *part = NULL;
  if (cuttPlanDescribe(plan, CUTT_JSON, text, needed, NULL) == CUTT_SUCCESS) {
    json_t *whole = json_loads(text, 0, NULL);
    part = json_incref(json_object_get(whole, name));
    json_decref(whole);
  }
  free(text);
  return part;
}

json_t *cutt_bench_chosen(cuttPlan_t plan) { return part_of(plan, "choice"); }

/* Checks and times one; *best is the time of the fastest so far, 0 at first. */
static bool time_candidate(cutt_bench_run *run, const cutt_bench_case *c, int number, double *best, double *seconds,
                           char *why, size_t why_size) {
  const double worth_more = 2.0;
  enum { MORE = 4 };
  cuttPlan_t plan = NULL;
  cutt_bench_samples samples = {.count = 0};
  bool good = cutt_bench_plan(run, c, false, number, &plan, why, why_size) &&
              cutt_bench_execute_checked(run, c, plan, why, why_size) &&
              cutt_bench_time_plan(&run->clock, plan, 1, &samples, why, why_size);
  if (good && (*best <= 0 || samples.list[0] < worth_more * *best)) {
    for (int i = 0; good && i < MORE; ++i) good = cutt_bench_time_plan(&run->clock, plan, 1, &samples, why, why_size);
  }
  cuttPlanDestroy(plan);
  if (!good) return false;
  *seconds = cutt_bench_samples_median(&samples);
  if (*best <= 0 || *seconds < *best) *best = *seconds;
  return true;
}

json_t *cutt_bench_time_candidates(cutt_bench_run *run, const cutt_bench_case *c, cuttPlan_t plan, char *why,
                                   size_t why_size) {
  json_t *list = part_of(plan, "candidates");
  if (!json_is_array(list)) {
    snprintf(why, why_size, "the candidates could not be listed");
    json_decref(list);
    return NULL;
  }
  double best = 0;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    double seconds = 0;
    char text[256];
    if (!time_candidate(run, c, (int)i + 1, &best, &seconds, text, sizeof text)) {
      json_t *method = json_object_get(json_array_get(list, i), "method");
      const char *name = json_string_value(method);
      snprintf(why, why_size, "candidate %zu (%s): %s", i + 1, name ? name : "?", text);
      json_decref(list);
      return NULL;
    }
    json_object_set_new(json_array_get(list, i), "seconds", json_real(seconds));
  }
  return list;
}
