/* Memory of other ranks (reach.h). */
#include "dist/reach.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "dist/opened.h"
#include "plan/services.h"

_Static_assert(sizeof(cutt_shared_memory) <= CUTT_DIST_TOKEN_BYTES, "shared memory fits into a token");
_Static_assert(CUTT_DIST_TOKEN_BYTES <= sizeof((cutt_record){0}.what), "a token fits into a record");

bool cutt_reach_can(const struct cuttDistCommStruct *comm, const cutt_runtime *runtime, bool *any) {
  const cuttDistTransport_t *t = &comm->transport;
  *any = t->shared || runtime || t->offers_all;
  return t->shared || runtime || t->offer;
}

/* -------------------------------------------------------------------------------------------------------------- trying */

/* What a process tells the others, so that they can try. */
static cuttResult introduce(struct cuttDistCommStruct *comm, const cutt_runtime *runtime, unsigned char *what) {
  cutt_shared_memory shared;
  cuttResult result = CUTT_SUCCESS;
  if (!comm->opened) result = cutt_opened_make(runtime, comm->transport.size, &comm->opened);
  if (!result) result = runtime->share(cutt_opened_sample(comm->opened), &shared);
  if (!result) memcpy(what, &shared, sizeof shared);
  return result;
}

static cuttResult open_sample(const struct cuttDistCommStruct *comm, int peer) {
  unsigned char *at = NULL;
  cutt_shared_memory shared;
  memcpy(&shared, comm->records[peer].what, sizeof shared);
  return shared.id ? cutt_opened_find(comm->opened, peer, &shared, &at)
                   : CUTT_SUCCESS; /* it says itself what it lacks */
}

/* What can't be done is said in the record's text, and is no error of the call. */
static cuttResult gather_attempts(struct cuttDistCommStruct *comm, uint64_t plan, cuttResult attempt, bool *reached) {
  cutt_record record = {.plan = plan, .step = CUTT_STEP_REACH};
  *reached = true;
  if (attempt) {
    record.what[0] = 1;
    snprintf((char *)record.what + 1, sizeof record.what - 1, "%s", cuttLastError());
  }
  const cuttResult result = cutt_comm_agree(comm, &record);
  for (int rank = 0; rank < comm->transport.size && !result && *reached; ++rank) {
    const cutt_record *other = &comm->records[rank];
    if (!other->what[0]) continue;
    *reached = false;
    snprintf(comm->far_why, sizeof comm->far_why, "rank %d: %.*s", rank, (int)sizeof other->what - 2,
             (const char *)other->what + 1);
  }
  return result;
}

cuttResult cutt_reach_try_memory(struct cuttDistCommStruct *comm, const cutt_runtime *runtime, uint64_t plan,
                                 bool *reached) {
  cutt_record record = {.plan = plan, .step = CUTT_STEP_MEET};
  cuttResult attempt = introduce(comm, runtime, record.what);
  char text[sizeof record.what] = "";
  if (attempt) snprintf(text, sizeof text, "%s", cuttLastError());
  const cuttResult result = cutt_comm_agree(comm, &record);
  if (result) return result;
  if (attempt) cutt_error(attempt, "%s", text);
  for (int rank = 0; rank < comm->transport.size && !attempt; ++rank)
    if (rank != comm->transport.rank) attempt = open_sample(comm, rank);
  return gather_attempts(comm, plan, attempt, reached);
}

cuttResult cutt_reach_try_contexts(struct cuttDistCommStruct *comm, const cutt_runtime *runtime, uint64_t plan,
                                   bool *reached) {
  cuttResult attempt = CUTT_SUCCESS;
  for (int rank = 0; rank < comm->transport.size && !attempt; ++rank)
    if (rank != comm->transport.rank) attempt = runtime->peer_enable(&comm->contexts[rank]);
  return gather_attempts(comm, plan, attempt, reached);
}

/* ---------------------------------------------------------------------------------------------------------- executions */

static cuttResult refuse(const void *begin, const char *why) {
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "out is %p, which other ranks can't write to, and the plan is direct: %s (CUTT_DIST_DIRECT_NEVER "
                    "makes a plan that sends messages)",
                    begin, why);
}

cuttResult cutt_reach_offer(const struct cuttDistCommStruct *comm, const cutt_runtime *runtime, void *begin,
                            int64_t count, unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  const cuttDistTransport_t *t = &comm->transport;
  if (t->shared) {
    memcpy(token, &begin, sizeof begin);
    return CUTT_SUCCESS;
  }
  if (!runtime) {
    const char *why = t->offer(t->data, begin, count, token);
    return why ? refuse(begin, why) : CUTT_SUCCESS;
  }
  cutt_shared_memory shared;
  char why[CUTT_WHY_BYTES];
  if (runtime->share(begin, &shared)) {
    snprintf(why, sizeof why, "%s", cuttLastError());
    return refuse(begin, why);
  }
  memcpy(token, &shared, sizeof shared);
  return CUTT_SUCCESS;
}

bool cutt_reach_offers(const struct cuttDistCommStruct *comm, void *begin, int64_t count,
                       unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  const cuttDistTransport_t *t = &comm->transport;
  return t->offer(t->data, begin, count, token) == NULL;
}

cuttResult cutt_reach_peer(const struct cuttDistCommStruct *comm, const cutt_runtime *runtime, int peer,
                           const unsigned char token[CUTT_DIST_TOKEN_BYTES], unsigned char **at) {
  const cuttDistTransport_t *t = &comm->transport;
  if (t->shared) {
    memcpy(at, token, sizeof *at);
    return CUTT_SUCCESS;
  }
  if (runtime) {
    cutt_shared_memory shared;
    memcpy(&shared, token, sizeof shared);
    return cutt_opened_find(comm->opened, peer, &shared, at);
  }
  *at = t->reach(t->data, peer, token);
  if (*at) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "the transport %s does not reach the output of rank %d", t->name, peer);
}
