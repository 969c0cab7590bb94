/* What can be asked of any plan: whether it is alive, and its figures (plan.h). */
#include "contract/plan.h"

#include "base/error.h"

static const uint64_t alive = UINT64_C(0x6375747420636f6e), dead = UINT64_C(0xdeaddeaddeaddead);

void cutt_contraction_set_alive(struct cuttContractionStruct *plan, bool is_alive) {
  /* Volatile: a plain store before free would be optimised away. */
  *(volatile uint64_t *)&plan->magic = is_alive ? alive : dead;
}

bool cutt_contraction_alive(const struct cuttContractionStruct *plan) {
  if (plan && plan->magic == alive) return true;
  cutt_error(CUTT_INVALID_PLAN, "plan is %p, which %s", (const void *)plan,
             !plan                 ? "is NULL; it must come from cuttContractionPlanCreate"
             : plan->magic == dead ? "has been destroyed"
                                   : "is not a plan; it must come from cuttContractionPlanCreate");
  return false;
}

static bool is_one_pass(const struct cuttContractionStruct *plan) { return plan->pass || plan->device_pass; }

const char *cutt_plan_algorithm(const struct cuttContractionStruct *plan) {
  return is_one_pass(plan) ? "one-pass" : "ttgt";
}

const char *cutt_plan_provider(const struct cuttContractionStruct *plan) {
  return is_one_pass(plan) || !plan->blas ? "cutt" : plan->blas->name;
}

const cutt_contraction *cutt_plan_whole(const struct cuttContractionStruct *plan) {
  return plan->parts ? &plan->parts->whole : &plan->contraction;
}

double cutt_plan_permute_seconds(const struct cuttContractionStruct *plan) {
  double seconds = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) seconds += plan->cost.permute[t];
  for (int t = 0; t < 2; ++t)
    if (plan->reduce[t]) seconds += cutt_plan_seconds(plan->reduce[t]);
  return seconds + (plan->parts ? plan->parts->seconds : 0);
}

double cutt_plan_seconds(const struct cuttContractionStruct *plan) {
  return plan->cost.multiply + cutt_plan_permute_seconds(plan);
}

int64_t cutt_plan_products(const struct cuttContractionStruct *plan) {
  const cutt_block *block = plan->kind[0];
  return block ? plan->cost.result_blocks * plan->cost.k_blocks * block->products * block->additions : 0;
}

double cutt_plan_flops(const struct cuttContractionStruct *plan) {
  return plan->asked.empty || plan->asked.no_terms ? 0 : cutt_flops(&plan->contraction);
}
