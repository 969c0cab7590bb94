/* Communicators (comm.h): creation from a transport, and agreement.
 *
 * An agreement is one allgather of records of a few words. Texts are gathered by a second one, and only where some rank has an
 * error, which all ranks know from the first. */
#include "dist/comm.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dist/opened.h"
#include "plan/services.h"

static const size_t first_transport_size = offsetof(cuttDistTransport_t, offer);

#define COMM_MAGIC 0x6375747464697374ull

bool cutt_comm_alive(const struct cuttDistCommStruct *comm) {
  if (comm && comm->magic == COMM_MAGIC) return true;
  cutt_error(CUTT_INVALID_PLAN, "comm is %p, which is no communicator that is alive", (const void *)comm);
  return false;
}

static cuttResult check_transport(const cuttDistTransport_t *t) {
  if (t->size < 1) return cutt_error(CUTT_INVALID_PARAMETER, "transport->size is %d; it must be 1 or more", t->size);
  if (t->rank < 0 || t->rank >= t->size)
    return cutt_error(CUTT_INVALID_PARAMETER, "transport->rank is %d; it must be 0 to %d", t->rank, t->size - 1);
  if (t->most_bytes < 0 || (t->most_bytes > 0 && t->most_bytes < 16))
    return cutt_error(CUTT_INVALID_PARAMETER, "transport->most_bytes is %lld; it must be 16 or more, or 0 for no limit",
                      (long long)t->most_bytes);
  const char *missing = !t->name        ? "name"
                        : !t->send      ? "send"
                        : !t->receive   ? "receive"
                        : !t->wait      ? "wait"
                        : !t->allgather ? "allgather"
                        : !t->fail      ? "fail"
                        : !t->failure   ? "failure"
                                        : NULL;
  if (missing) return cutt_error(CUTT_INVALID_PARAMETER, "transport->%s is NULL; it must be set", missing);
  if (!t->offer != !t->reach)
    return cutt_error(CUTT_INVALID_PARAMETER, "transport->%s is NULL and transport->%s is not; both or neither may be",
                      t->offer ? "reach" : "offer", t->offer ? "offer" : "reach");
  return CUTT_SUCCESS;
}

static cuttResult transport_failure(const cuttDistTransport_t *t) {
  int rank = -1;
  const char *text = t->failure(t->data, &rank);
  if (!text) return CUTT_SUCCESS;
  return cutt_error(CUTT_INTERNAL_ERROR, "rank %d of %d has failed: %s", rank, t->size, text);
}

cuttResult cuttDistCommCreate(cuttDistComm_t *comm, const cuttDistTransport_t *transport) {
  if (!comm) return cutt_error(CUTT_INVALID_PARAMETER, "comm is NULL; it must point to a cuttDistComm_t");
  *comm = NULL;
  if (!transport)
    return cutt_error(CUTT_INVALID_PARAMETER, "transport is NULL; it must point to a cuttDistTransport_t");
  cuttDistTransport_t own;
  memset(&own, 0, sizeof own);
  cuttResult result = cutt_struct_read(&own, sizeof own, first_transport_size, transport, "transport");
  if (!result) result = check_transport(&own);
  if (!result) result = transport_failure(&own);
  if (result) return result;
  struct cuttDistCommStruct *made = calloc(1, sizeof *made);
  const size_t size = (size_t)own.size;
  if (made) {
    made->records = calloc(size, sizeof *made->records);
    made->whys = calloc(size, CUTT_WHY_BYTES);
  }
  if (!made || !made->records || !made->whys) {
    if (made) {
      free(made->records);
      free(made->whys);
    }
    free(made);
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a communicator of %d ranks",
                      size * (sizeof *made->records + CUTT_WHY_BYTES), own.size);
  }
  made->transport = own;
  made->magic = COMM_MAGIC;
  *comm = made;
  return CUTT_SUCCESS;
}

cuttResult cuttDistCommTransport(cuttDistComm_t comm, cuttDistTransport_t *transport) {
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  if (!transport)
    return cutt_error(CUTT_INVALID_PARAMETER, "transport is NULL; it must point to a cuttDistTransport_t");
  *transport = comm->transport;
  return CUTT_SUCCESS;
}

cuttResult cuttDistCommDestroy(cuttDistComm_t comm) {
  if (!comm) return CUTT_SUCCESS;
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  comm->magic = 0;
  cutt_opened_free(comm->opened);
  if (comm->transport.destroy) comm->transport.destroy(comm->transport.data);
  free(comm->records);
  free(comm->whys);
  free(comm->contexts);
  free(comm);
  return CUTT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------- failures */

cuttResult cutt_comm_failure(const struct cuttDistCommStruct *comm) { return transport_failure(&comm->transport); }

cuttResult cutt_comm_fail(const struct cuttDistCommStruct *comm) {
  comm->transport.fail(comm->transport.data, cuttLastError());
  const cuttResult result = cutt_comm_failure(comm);
  return result ? result : cutt_error(CUTT_INTERNAL_ERROR, "the transport %s keeps no failures", comm->transport.name);
}

/* An allgather that failed: some rank has said why, or this one does now. */
cuttResult cutt_comm_gather(const struct cuttDistCommStruct *comm, const void *mine, size_t bytes, void *all) {
  const cuttDistTransport_t *t = &comm->transport;
  if (t->allgather(t->data, mine, (int64_t)bytes, all) == 0) return CUTT_SUCCESS;
  const cuttResult result = cutt_comm_failure(comm);
  if (result) return result;
  cutt_error(CUTT_INTERNAL_ERROR, "the transport %s could not gather %zu bytes from each rank", t->name, bytes);
  return cutt_comm_fail(comm);
}

cuttResult cutt_comm_agree(struct cuttDistCommStruct *comm, const cutt_record *record) {
  char why[CUTT_WHY_BYTES] = {0};
  if (record->code) snprintf(why, sizeof why, "%s", cuttLastError());
  cuttResult result = cutt_comm_failure(comm);
  if (!result) result = cutt_comm_gather(comm, record, sizeof *record, comm->records);
  if (result) return result;
  int failed = -1, differs = -1;
  for (int i = 0; i < comm->transport.size; ++i) {
    const cutt_record *other = &comm->records[i];
    if (failed < 0 && other->code) failed = i;
    if (differs < 0 && (other->plan != record->plan || other->step != record->step)) differs = i;
  }
  if (differs >= 0) {
    /* Whoever is in another call expects something else next: there is no way on from here. */
    cutt_error(CUTT_INTERNAL_ERROR, "rank %d is in another collective call than rank %d", differs,
               comm->transport.rank);
    return cutt_comm_fail(comm);
  }
  if (failed < 0) return CUTT_SUCCESS;
  result = cutt_comm_gather(comm, why, sizeof why, comm->whys);
  if (result) return result;
  char *text = comm->whys + (size_t)failed * CUTT_WHY_BYTES;
  text[CUTT_WHY_BYTES - 1] = 0;
  return cutt_error((cuttResult)comm->records[failed].code, "rank %d: %s", failed, text);
}
