/* What a candidate's time is made of, for text and for JSON: the backend's explanation, its terms by size, and rates. */
#include <string.h>

#include "describe/describe.h"

double cutt_describe_rate(const struct cuttPlanStruct *plan, double seconds) {
  return seconds > 0 ? (double)cutt_bytes_moved(&plan->canonical) / seconds * 1e-9 : 0;
}

void cutt_describe_explain(const struct cuttPlanStruct *plan, const cutt_candidate *candidate, cutt_explanation *e) {
  if (plan->canonical.volume == 0) {
    memset(e, 0, sizeof *e);
    e->sector_name = "sectors";
    return;
  }
  plan->backend->methods->explain(plan->target, &plan->canonical, candidate, e);
}

int cutt_describe_terms(const struct cuttPlanStruct *plan, const cutt_explanation *e, cutt_term list[CUTT_TERMS],
                        double *sum) {
  const cutt_schema *schema = plan->backend->schema;
  const double *value = cutt_target_values(plan->target, schema->value);
  double slope[CUTT_TERMS];
  int count = 0;
  *sum = cutt_breakdown_slopes(&e->breakdown, value, slope);
  for (int i = 0; i < e->breakdown.count; ++i) {
    const int p = e->breakdown.first + i;
    const double seconds = slope[i] * value[p];
    if (seconds == 0) continue;
    int place = count++;
    for (; place > 0 && list[place - 1].seconds < seconds; --place) list[place] = list[place - 1];
    list[place] = (cutt_term){&schema->parameters[p], seconds};
  }
  return count;
}
