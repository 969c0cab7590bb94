/* Memory of other ranks (reach.h). */
#include "dist/reach.h"

#include <string.h>

#include "base/error.h"

bool cutt_reach_can(const struct cuttDistCommStruct *comm, bool *any) {
  const cuttDistTransport_t *t = &comm->transport;
  *any = t->shared || t->offers_all;
  return t->shared || t->offer;
}

cuttResult cutt_reach_offer(const struct cuttDistCommStruct *comm, void *begin, int64_t count,
                            unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  const cuttDistTransport_t *t = &comm->transport;
  if (t->shared) {
    memcpy(token, &begin, sizeof begin);
    return CUTT_SUCCESS;
  }
  const char *why = t->offer(t->data, begin, count, token);
  if (!why) return CUTT_SUCCESS;
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "out is %p, which other ranks can't write to, and the plan is direct: %s (CUTT_DIST_DIRECT_NEVER makes "
      "a plan that sends messages)",
      begin, why);
}

cuttResult cutt_reach_peer(const struct cuttDistCommStruct *comm, int peer,
                           const unsigned char token[CUTT_DIST_TOKEN_BYTES], unsigned char **at) {
  const cuttDistTransport_t *t = &comm->transport;
  if (t->shared) {
    memcpy(at, token, sizeof *at);
    return CUTT_SUCCESS;
  }
  *at = t->reach(t->data, peer, token);
  if (*at) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "the transport %s does not reach the output of rank %d", t->name, peer);
}
