/* Contractions, made by all ranks together.
 *
 * Each rank chooses an algorithm with the speeds that it knows, and makes all that it takes: lists, redistributions, products and
 * memory. Then, in one agreement, ranks compare what they were given and what they have chosen, and hear whether anything has failed,
 * so that a plan exists on all ranks or on none. Mostly they have chosen the same; else they do it once more, with the speeds of
 * the slowest rank, by which all choose alike. */
#include "dist/contract.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "plan/services.h"

#define CONTRACTION_MAGIC 0x63757474636f6e74ull

/* The records of the agreements, behind their heads. */
typedef struct given_record {
  uint32_t hash[CUTT_GIVENS], choice;
  cutt_prepared prepared;
} given_record;
typedef struct made_record {
  int64_t sent, received;
  double product_seconds;
} made_record;
_Static_assert(sizeof(given_record) <= sizeof((cutt_record){0}.what), "what ranks have made fits into a record");

bool cutt_dist_contraction_alive(const struct cuttDistContractionStruct *plan) {
  if (plan && plan->magic == CONTRACTION_MAGIC) return true;
  cutt_error(CUTT_INVALID_PLAN, "plan is %p, which is no plan of a contraction that is alive", (const void *)plan);
  return false;
}

/* Frees all that follows from the choice of an algorithm, so that another one can be made. */
static void undo(struct cuttDistContractionStruct *plan) {
  const cutt_runtime *runtime = plan->device.context.handle ? plan->device.runtime : NULL;
  cutt_scope scope;
  const bool entered = runtime && !runtime->enter_context(&plan->device.context, &scope);
  for (int i = 0; i < CUTT_MOVES; ++i) {
    int64_t count = 0;
    cuttDistPlan_t *move = cutt_contract_move(plan, i, &count);
    cuttDistPlanDestroy(*move);
    *move = NULL;
  }
  for (int i = 0; i < 2; ++i) {
    for (int last = 0; last < 2; ++last) cuttContractionPlanDestroy(plan->product[i][last]);
    cuttPlanDestroy(plan->add[i]);
  }
  cuttContractionPlanDestroy(plan->sum);
  if (plan->memory) cuttMemoryFree(plan->s.options.backend, plan->memory);
  cutt_contract_device_free(&plan->device);
  if (entered) runtime->leave(&scope);
}

static void release(struct cuttDistContractionStruct *plan) {
  undo(plan);
  cutt_spread_free(&plan->s);
  free(plan);
}

/* -------------------------------------------------------------------------------------------------------- agreements */

static cuttResult agree(struct cuttDistContractionStruct *plan, int step, cuttResult code, const void *what,
                        size_t bytes) {
  cutt_record record = {.plan = plan->number, .step = step, .code = (int32_t)code};
  memcpy(record.what, what, bytes);
  return cutt_comm_agree(plan->comm, &record);
}

static float slower(float a, float b) { return a > b ? a : b; }

static given_record record_of(const struct cuttDistContractionStruct *plan, int rank) {
  given_record record;
  memcpy(&record, plan->comm->records[rank].what, sizeof record);
  return record;
}

/* Do all ranks mean the same? Takes the speeds of the slowest. *alike: they have chosen the same. */
static cuttResult compare(struct cuttDistContractionStruct *plan, bool *alike) {
  const given_record first = record_of(plan, 0);
  cutt_speeds *slowest = &plan->s.rates;
  *slowest = first.prepared.rates;
  *alike = true;
  for (int rank = 1; rank < plan->s.size; ++rank) {
    const given_record other = record_of(plan, rank);
    const cutt_speeds *r = &other.prepared.rates;
    for (int i = 0; i < CUTT_GIVENS; ++i)
      if (other.hash[i] != first.hash[i])
        return cutt_error(CUTT_INVALID_PARAMETER, "rank %d has other %s than rank 0; they must be the same", rank,
                          cutt_contract_given_name[i]);
    *alike = *alike && other.choice == first.choice;
    slowest->multiply = slower(slowest->multiply, r->multiply);
    slowest->copy = slower(slowest->copy, r->copy);
    slowest->message = slower(slowest->message, r->message);
    slowest->byte = slower(slowest->byte, r->byte);
    slowest->not_hidden = slower(slowest->not_hidden, r->not_hidden);
  }
  return CUTT_SUCCESS;
}

/* What an execution is predicted to take, by the slowest rank of each kind of work. */
static void predict(struct cuttDistContractionStruct *plan, double product) {
  const double moves = plan->moving_seconds, panels = (double)plan->choice.best.panels;
  const double hidden = (1 - (double)plan->s.rates.not_hidden) * (1 - 1 / panels);
  plan->predicted_seconds = moves + product - hidden * smaller(moves, product) + 2 * (double)plan->s.rates.message;
}

/* By messages; what is written directly is not received. */
static int64_t received_by(struct cuttDistContractionStruct *plan, const cutt_prepared *said) {
  int64_t received = 0;
  for (int i = 0; i < CUTT_MOVES; ++i) {
    cuttDistPlanInfo_t info = {.struct_size = sizeof info};
    int64_t count = 0;
    cuttDistPlan_t move = *cutt_contract_move(plan, i, &count);
    if (move && !cuttDistPlanGetInfo(move, &info) && !info.direct) received += count * said->received[i];
  }
  return received;
}

/* In the host's memory: the ways of redistributions are those that are fastest for the slowest rank, which can't fail. */
static cuttResult settle(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  float slowest[CUTT_MOVES][CUTT_WAYS] = {{0}};
  double product = 0;
  for (int rank = 0; rank < plan->s.size; ++rank) {
    const given_record record = record_of(plan, rank);
    plan->most_sent = larger(plan->most_sent, record.prepared.sent);
    product = larger(product, (double)record.prepared.product_seconds);
    for (int i = 0; i < CUTT_MOVES; ++i)
      for (int way = 0; way < CUTT_WAYS; ++way) {
        const float seconds = record.prepared.seconds[i][way];
        slowest[i][way] = seconds < 0 || slowest[i][way] < 0 ? -1 : slower(slowest[i][way], seconds);
      }
  }
  const cuttResult result = cutt_prepare_end(plan, p, slowest);
  for (int rank = 0; rank < plan->s.size && !result; ++rank) {
    const given_record record = record_of(plan, rank);
    plan->most_received = larger(plan->most_received, received_by(plan, &record.prepared));
  }
  predict(plan, product);
  return result;
}

/* On a device redistributions agree on more than fits into one record: on what ranks reach, and where. */
static cuttResult make_on_device(struct cuttDistContractionStruct *plan, cutt_preparing *p) {
  double product = 0;
  cuttResult code = cutt_prepare_moves(plan, p);
  if (code) return code;
  code = cutt_prepare_products(plan, p);
  const made_record own = {plan->sent, plan->received, plan->predicted_seconds};
  code = agree(plan, CUTT_STEP_SPREAD_MADE, code, &own, sizeof own);
  for (int rank = 0; rank < plan->s.size && !code; ++rank) {
    made_record made;
    memcpy(&made, plan->comm->records[rank].what, sizeof made);
    plan->most_sent = larger(plan->most_sent, made.sent);
    plan->most_received = larger(plan->most_received, made.received);
    product = larger(product, made.product_seconds);
  }
  predict(plan, product);
  return code;
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

/* All that this rank can do with the speeds that it knows. */
static cuttResult make_alone(struct cuttDistContractionStruct *plan, cutt_preparing **p, given_record *record) {
  cuttResult code = cutt_scheme_choose(&plan->s, &plan->choice);
  if (!code) code = cutt_prepare_alone(plan, p);
  if (!code && !plan->s.runtime) code = cutt_prepare_moves(plan, *p);
  if (!code && !plan->s.runtime) code = cutt_prepare_products(plan, *p);
  if (code) return code;
  record->choice = cutt_scheme_hash(&plan->s, &plan->choice.best);
  cutt_prepare_tell(plan, *p, &record->prepared);
  return CUTT_SUCCESS;
}

/* Back to where nothing was chosen. */
static void start_again(struct cuttDistContractionStruct *plan, cutt_preparing **p) {
  undo(plan);
  cutt_prepare_free(*p);
  *p = NULL;
  const size_t chosen = offsetof(struct cuttDistContractionStruct, choice);
  memset((unsigned char *)plan + chosen, 0, sizeof *plan - chosen);
}

static cuttResult make(struct cuttDistContractionStruct *plan, cuttResult code, cutt_contract_given *given,
                       const cuttDistContraction_t *contraction, const cuttDistContractionOptions_t *options) {
  given_record record = {.choice = 0};
  uint64_t hash[CUTT_GIVENS] = {0};
  cutt_preparing *p = NULL;
  bool alike = false;
  plan->s.me = plan->comm->transport.rank;
  plan->s.size = plan->comm->transport.size;
  if (!code) code = cutt_spread_read(&plan->s, given, plan->comm, contraction, options, hash);
  if (!code) code = cutt_spread_rates(&plan->s, &plan->comm->transport, &plan->s.rates);
  for (int i = 0; i < CUTT_GIVENS; ++i) record.hash[i] = (uint32_t)(hash[i] ^ hash[i] >> 32);
  record.prepared.rates = plan->s.rates;
  if (!code) code = make_alone(plan, &p, &record);
  code = agree(plan, CUTT_STEP_SPREAD_GIVEN, code, &record, sizeof record);
  if (!code) code = compare(plan, &alike);
  if (!code && !alike) {
    start_again(plan, &p);
    memset(&record.prepared, 0, sizeof record.prepared);
    record.prepared.rates = plan->s.rates;
    code = make_alone(plan, &p, &record);
    code = agree(plan, CUTT_STEP_SPREAD_AGAIN, code, &record, sizeof record);
  }
  if (!code) code = plan->s.runtime ? make_on_device(plan, p) : settle(plan, p);
  cutt_prepare_free(p);
  if (code) return code;
  count_flops(plan);
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
  if (!made) {
    const cutt_record record = {.plan = number, .step = CUTT_STEP_SPREAD_GIVEN, .code = (int32_t)result};
    free(given);
    return cutt_comm_agree(comm, &record);
  }
  made->comm = comm;
  made->number = number;
  result = make(made, result, given, contraction, options);
  free(given);
  if (result || !plan) {
    release(made);
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
