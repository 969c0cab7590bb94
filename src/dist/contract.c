/* Contractions, made by all ranks together.
 *
 * First ranks compare what they were given, and take the speeds of the slowest one. From then on all choose the same without asking
 * each other. Then each makes its lists, all make the redistributions, and each its products and memory; after each of the three
 * they agree that nothing has failed, so that a plan exists on all ranks or on none. */
#include "dist/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "plan/services.h"

#define CONTRACTION_MAGIC 0x63757474636f6e74ull

/* The records of the agreements, behind their heads. */
typedef struct given_record {
  uint64_t hash[CUTT_GIVENS];
  cutt_speeds rates;
} given_record;
typedef struct made_record {
  int64_t sent, received;
  double product_seconds;
} made_record;
_Static_assert(sizeof(given_record) <= sizeof((cutt_record){0}.what), "what ranks are given fits into a record");

bool cutt_dist_contraction_alive(const struct cuttDistContractionStruct *plan) {
  if (plan && plan->magic == CONTRACTION_MAGIC) return true;
  cutt_error(CUTT_INVALID_PLAN, "plan is %p, which is no plan of a contraction that is alive", (const void *)plan);
  return false;
}

static void release(struct cuttDistContractionStruct *plan) {
  const cutt_runtime *runtime = plan->device.context.handle ? plan->device.runtime : NULL;
  cutt_scope scope;
  const bool entered = runtime && !runtime->enter_context(&plan->device.context, &scope);
  cutt_spread_free(&plan->s);
  cuttDistPlanDestroy(plan->align);
  for (int i = 0; i < 2; ++i)
    for (int last = 0; last < 2; ++last) {
      cuttDistPlanDestroy(plan->move[i][last]);
      cuttContractionPlanDestroy(plan->product[i][last]);
    }
  cuttDistPlanDestroy(plan->home);
  cuttContractionPlanDestroy(plan->sum);
  for (int i = 0; i < 2; ++i) cuttPlanDestroy(plan->add[i]);
  if (plan->memory) cuttMemoryFree(plan->s.options.backend, plan->memory);
  cutt_contract_device_free(&plan->device);
  if (entered) runtime->leave(&scope);
  free(plan);
}

/* -------------------------------------------------------------------------------------------------------- agreements */

static cuttResult agree(struct cuttDistContractionStruct *plan, int step, cuttResult code, const void *what,
                        size_t bytes) {
  cutt_record record = {.plan = plan->number, .step = step, .code = (int32_t)code};
  memcpy(record.what, what, bytes);
  return cutt_comm_agree(plan->comm, &record);
}

/* Do all ranks mean the same? Takes the speeds of the slowest. */
static cuttResult compare(struct cuttDistContractionStruct *plan) {
  const struct cuttDistCommStruct *comm = plan->comm;
  cutt_speeds *slowest = &plan->s.rates;
  given_record first, other;
  memcpy(&first, comm->records[0].what, sizeof first);
  *slowest = first.rates;
  for (int rank = 1; rank < comm->transport.size; ++rank) {
    memcpy(&other, comm->records[rank].what, sizeof other);
    for (int i = 0; i < CUTT_GIVENS; ++i)
      if (other.hash[i] != first.hash[i])
        return cutt_error(CUTT_INVALID_PARAMETER, "rank %d has other %s than rank 0; they must be the same", rank,
                          cutt_contract_given_name[i]);
    const cutt_speeds *r = &other.rates;
    slowest->multiply = r->multiply > slowest->multiply ? r->multiply : slowest->multiply;
    slowest->copy = r->copy > slowest->copy ? r->copy : slowest->copy;
    slowest->message = r->message > slowest->message ? r->message : slowest->message;
    slowest->byte = r->byte > slowest->byte ? r->byte : slowest->byte;
    slowest->not_hidden = r->not_hidden > slowest->not_hidden ? r->not_hidden : slowest->not_hidden;
  }
  return CUTT_SUCCESS;
}

/* What the plans that were made are predicted to take together, by the slowest rank, and what moves. */
static void settle(struct cuttDistContractionStruct *plan) {
  const cutt_scheme *c = &plan->choice.best;
  double product = 0;
  for (int rank = 0; rank < plan->s.size; ++rank) {
    made_record made;
    memcpy(&made, plan->comm->records[rank].what, sizeof made);
    plan->most_sent = larger(plan->most_sent, made.sent);
    plan->most_received = larger(plan->most_received, made.received);
    product = larger(product, made.product_seconds);
  }
  const double moves = plan->moving_seconds;
  const double hidden = (1 - (double)plan->s.rates.not_hidden) * (1 - 1 / (double)c->panels);
  plan->predicted_seconds = moves + product - hidden * smaller(moves, product) + 2 * (double)plan->s.rates.message;
}

static void count_flops(struct cuttDistContractionStruct *plan) {
  const cutt_mesh *mesh = &plan->choice.best.mesh;
  int at[CUTT_MOST_LABELS];
  for (int p = 0; p < mesh->positions; ++p) {
    if (cutt_mesh_rank(mesh, p) != plan->s.me) continue;
    cutt_mesh_parts(&plan->s, mesh, p, at);
    plan->flops = plan->s.type->complex ? 8 : 2;
    for (int label = 0; label < plan->s.labels; ++label)
      plan->flops *= (double)cutt_part_count(&mesh->part[label], at[label]);
  }
}

/* -------------------------------------------------------------------------------------------------------- creation */

static cuttResult make(struct cuttDistContractionStruct *plan, cuttResult code, cutt_contract_given *given,
                       const cuttDistContraction_t *contraction, const cuttDistContractionOptions_t *options) {
  given_record record = {{0}, {0, 0, 0, 0, 0}};
  made_record made = {0, 0, 0};
  cutt_preparing *p = NULL;
  plan->s.me = plan->comm->transport.rank;
  plan->s.size = plan->comm->transport.size;
  if (!code) code = cutt_spread_read(&plan->s, given, plan->comm, contraction, options, record.hash);
  if (!code) code = cutt_spread_rates(&plan->s, &plan->comm->transport, &record.rates);
  code = agree(plan, CUTT_STEP_SPREAD_GIVEN, code, &record, sizeof record);
  if (!code) code = compare(plan);
  if (code) return code;
  code = cutt_scheme_choose(&plan->s, &plan->choice);
  if (!code) code = cutt_prepare_alone(plan, &p);
  code = agree(plan, CUTT_STEP_SPREAD_READY, code, &made, sizeof made);
  if (!code) code = cutt_prepare_moves(plan, p);
  if (!code) {
    code = cutt_prepare_products(plan, p);
    made = (made_record){plan->sent, plan->received, plan->predicted_seconds};
    code = agree(plan, CUTT_STEP_SPREAD_MADE, code, &made, sizeof made);
  }
  cutt_prepare_free(p);
  if (code) return code;
  count_flops(plan);
  settle(plan);
  cutt_spread_free(&plan->s);
  plan->choice.best.mesh.ranks = NULL;
  return CUTT_SUCCESS;
}

cuttResult cuttDistContractionPlanCreate(cuttDistContractionPlan_t *plan, cuttDistComm_t comm,
                                         const cuttDistContraction_t *contraction,
                                         const cuttDistContractionOptions_t *options) {
  const double start = cutt_clock();
  if (plan) *plan = NULL;
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  struct cuttDistContractionStruct *made = calloc(1, sizeof *made);
  cutt_contract_given *given = calloc(1, sizeof *given);
  const uint64_t number = ++comm->plans;
  cuttResult result = CUTT_SUCCESS;
  if (!plan) result = cutt_error(CUTT_INVALID_PARAMETER, "plan is NULL; it must point to a cuttDistContractionPlan_t");
  if (!made || !given)
    result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *made + sizeof *given);
  if (made) {
    made->comm = comm;
    made->number = number;
    result = make(made, result, given, contraction, options);
  } else {
    const cutt_record record = {.plan = number, .step = CUTT_STEP_SPREAD_GIVEN, .code = (int32_t)result};
    result = cutt_comm_agree(comm, &record);
  }
  free(given);
  if (result || !plan) {
    if (made) release(made);
    return result;
  }
  made->magic = CONTRACTION_MAGIC;
  made->create_seconds = cutt_clock() - start;
  *plan = made;
  return CUTT_SUCCESS;
}

cuttResult cuttDistContractionPlanDestroy(cuttDistContractionPlan_t plan) {
  if (!plan) return CUTT_SUCCESS;
  if (!cutt_dist_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  plan->magic = 0;
  release(plan);
  return CUTT_SUCCESS;
}

cuttResult cuttDistContractionRefuse(cuttDistComm_t comm, cuttDistContractionPlan_t plan, const char *text) {
  if (plan && !cutt_dist_contraction_alive(plan)) return CUTT_INVALID_PLAN;
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  const char *said = text ? text : "the call was refused, and no text was given";
  if (plan && plan->comm != comm) said = "comm is not the plan's communicator";
  cutt_record record = {.plan = plan ? plan->number : ++comm->plans,
                        .step = plan ? CUTT_STEP_START : CUTT_STEP_SPREAD_GIVEN};
  record.code = (int32_t)cutt_error(CUTT_INVALID_PARAMETER, "%s", said);
  return cutt_comm_agree(plan ? plan->comm : comm, &record);
}
