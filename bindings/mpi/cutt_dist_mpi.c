/* The transport of MPI (cutt_dist_mpi.h).
 *
 * A rank that can't go on tells every other one by a message with a tag of its own. Each rank has a receive for such a notice
 * posted from the start, and waits for whatever it waits for together with it: so none waits for ever. What can't be cancelled
 * then (sends, gatherings) is left to MPI, in memory that is never freed. */
#include "cutt_dist_mpi.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_NOTICE = 0, TAG_DATA = 1, DATA_TAGS = 32000, NOTICE_BYTES = 512, RECORD_BYTES = 256, SPINS = 100 };

typedef struct notice {
  int rank;
  char why[NOTICE_BYTES - sizeof(int)];
} notice;

typedef struct end {
  MPI_Comm comm;
  int rank, size;
  int failed; /* a rank has, and `first` says which and why */
  int lost;   /* not 0: a gathering has been left to MPI */
  notice first, received;
  MPI_Request listening; /* for the notice of another rank */
  MPI_Request *told;     /* this rank's own notices, to each */
  /* Messages so far to each rank, and from each, which are their tags: after a receive has been cancelled, a message that comes
   * late must not end up in the next one. */
  int *sent, *received_from;
  /* What is gathered, so that the caller's memory is never left to MPI. */
  unsigned char *mine, *all;
  int64_t record_bytes;
} end;

/* What a cuttDistRequest_t holds. */
typedef struct under_way {
  MPI_Request request;
  int receives;
} under_way;
_Static_assert(sizeof(under_way) <= sizeof(cuttDistRequest_t), "a request of MPI fits into the room for one");

static void hear(end *e) {
  e->listening = MPI_REQUEST_NULL;
  if (e->failed) return;
  e->failed = 1;
  e->first = e->received;
}

static void mpi_fail(void *data, const char *text) {
  end *e = data;
  if (e->failed) return;
  e->failed = 1;
  e->first.rank = e->rank;
  snprintf(e->first.why, sizeof e->first.why, "%s", text);
  for (int i = 0; i < e->size; ++i)
    if (i != e->rank) MPI_Isend(&e->first, (int)sizeof e->first, MPI_BYTE, i, TAG_NOTICE, e->comm, &e->told[i]);
}

static const char *mpi_failure(void *data, int *rank) {
  const end *e = data;
  *rank = e->failed ? e->first.rank : -1;
  return e->failed ? e->first.why : NULL;
}

static int start(end *e, const under_way *made, int result, cuttDistRequest_t *request) {
  memcpy(request, made, sizeof *made);
  return result != MPI_SUCCESS || e->failed;
}

static int next_tag(int *count) {
  *count = (*count + 1) % DATA_TAGS;
  return TAG_DATA + *count;
}

static int mpi_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  end *e = data;
  under_way made = {MPI_REQUEST_NULL, 0};
  if (e->failed || count > INT_MAX) return 1;
  const int tag = next_tag(&e->sent[peer]);
  return start(e, &made, MPI_Isend(bytes, (int)count, MPI_BYTE, peer, tag, e->comm, &made.request), request);
}

static int mpi_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  end *e = data;
  under_way made = {MPI_REQUEST_NULL, 1};
  if (e->failed || count > INT_MAX) return 1;
  const int tag = next_tag(&e->received_from[peer]);
  return start(e, &made, MPI_Irecv(bytes, (int)count, MPI_BYTE, peer, tag, e->comm, &made.request), request);
}

/* Waits for a request or a notice. 0: it is finished. */
static int wait_or_hear(end *e, MPI_Request *request) {
  while (!e->failed) {
    MPI_Request both[2] = {*request, e->listening};
    int which = MPI_UNDEFINED, done = 0, result = MPI_SUCCESS;
    /* A wait of MPI's may spin for as long as it takes; there may be more ranks than processors. */
    for (int spins = 0; !done && result == MPI_SUCCESS; ++spins) {
      if (spins >= SPINS) sched_yield();
      result = MPI_Testany(2, both, &which, &done, MPI_STATUS_IGNORE);
    }
    *request = both[0];
    e->listening = both[1];
    if (which == 1) hear(e);
    if (result != MPI_SUCCESS && which != 1) return 1;
    if (which != 1) return 0;
  }
  int done = 0;
  return MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || !done;
}

static int mpi_wait(void *data, cuttDistRequest_t *request) {
  end *e = data;
  under_way made;
  memcpy(&made, request, sizeof made);
  if (made.request == MPI_REQUEST_NULL) return e->failed;
  if (wait_or_hear(e, &made.request) == 0) return 0;
  if (made.request == MPI_REQUEST_NULL) return 1;
  if (made.receives) {
    MPI_Cancel(&made.request);
    MPI_Wait(&made.request, MPI_STATUS_IGNORE);
  } else {
    MPI_Request_free(&made.request);
  }
  return 1;
}

static int grow(end *e, int64_t count) {
  if (count <= e->record_bytes) return 0;
  unsigned char *mine = realloc(e->mine, (size_t)count);
  if (mine) e->mine = mine;
  unsigned char *all = realloc(e->all, (size_t)count * (size_t)e->size);
  if (all) e->all = all;
  if (!mine || !all) return 1;
  e->record_bytes = count;
  return 0;
}

static int mpi_allgather(void *data, const void *mine, int64_t count, void *all) {
  end *e = data;
  MPI_Request request = MPI_REQUEST_NULL;
  if (e->failed || e->lost || count > INT_MAX || grow(e, count)) return 1;
  memcpy(e->mine, mine, (size_t)count);
  int result = MPI_Iallgather(e->mine, (int)count, MPI_BYTE, e->all, (int)count, MPI_BYTE, e->comm, &request);
  if (result == MPI_SUCCESS) result = wait_or_hear(e, &request);
  e->lost = request != MPI_REQUEST_NULL;
  if (result) return 1;
  memcpy(all, e->all, (size_t)count * (size_t)e->size);
  return 0;
}

static void release(end *e) {
  free(e->told);
  free(e->sent);
  free(e->received_from);
  free(e->mine);
  free(e->all);
  free(e);
}

static void mpi_destroy(void *data) {
  end *e = data;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized || e->failed) return; /* what MPI may still use stays where it is */
  MPI_Cancel(&e->listening);
  MPI_Wait(&e->listening, MPI_STATUS_IGNORE);
  MPI_Comm_free(&e->comm);
  release(e);
}

/* ------------------------------------------------------------------------------------------------------------- creation */

/* A transport that has failed before it began: cuttDistCommCreate returns its text as the error. */
typedef struct stillborn {
  int rank;
  char why[NOTICE_BYTES];
} stillborn;

static const char *stillborn_failure(void *data, int *rank) {
  const stillborn *s = data;
  *rank = s->rank;
  return s->why;
}

static end *make_end(MPI_Comm comm, int rank, int size) {
  end *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  *e = (end){.comm = comm, .rank = rank, .size = size, .listening = MPI_REQUEST_NULL, .record_bytes = RECORD_BYTES};
  e->told = calloc((size_t)size, sizeof *e->told);
  e->sent = calloc((size_t)size, sizeof *e->sent);
  e->received_from = calloc((size_t)size, sizeof *e->received_from);
  e->mine = malloc(RECORD_BYTES);
  e->all = malloc((size_t)size * RECORD_BYTES);
  if (e->told && e->sent && e->received_from && e->mine && e->all) return e;
  release(e);
  return NULL;
}

static cuttDistTransport_t transport_of(end *e) {
  const cuttDistTransport_t transport = {.struct_size = sizeof transport,
                                         .name = "MPI",
                                         .data = e,
                                         .rank = e->rank,
                                         .size = e->size,
                                         .most_bytes = INT_MAX,
                                         .message_seconds = 2e-6,
                                         .byte_seconds = 2e-10,
                                         .send = mpi_send,
                                         .receive = mpi_receive,
                                         .wait = mpi_wait,
                                         .allgather = mpi_allgather,
                                         .fail = mpi_fail,
                                         .failure = mpi_failure,
                                         .destroy = mpi_destroy};
  return transport;
}

/* The error for a communicator that can't be made, in the way that callers get every error. */
static cuttResult_t refuse(cuttDistComm_t *comm, stillborn *s) {
  end none = {.rank = 0, .size = 1};
  cuttDistTransport_t transport = transport_of(&none);
  transport.data = s;
  transport.failure = stillborn_failure;
  return cuttDistCommCreate(comm, &transport);
}

cuttResult_t cuttDistCommMpi(cuttDistComm_t *comm, MPI_Comm mpi) {
  stillborn s = {.rank = 0};
  int initialized = 0, finalized = 0, size = 0, first = 0;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  snprintf(s.why, sizeof s.why, "%s",
           !initialized || finalized ? "MPI is not initialized, or finalized" : "mpi is MPI_COMM_NULL");
  if (!initialized || finalized || mpi == MPI_COMM_NULL) return refuse(comm, &s);
  MPI_Comm_rank(mpi, &s.rank);
  MPI_Comm_size(mpi, &size);
  if (MPI_Comm_dup(mpi, &own) != MPI_SUCCESS) {
    snprintf(s.why, sizeof s.why, "MPI_Comm_dup failed");
    return refuse(comm, &s);
  }
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  end *e = make_end(own, s.rank, size);
  cuttResult_t result = CUTT_INTERNAL_ERROR;
  if (comm) *comm = NULL;
  if (e) {
    const cuttDistTransport_t transport = transport_of(e);
    result = cuttDistCommCreate(comm, &transport);
  }
  /* All have one, or none. */
  int bad = result ? s.rank : size;
  if (MPI_Allreduce(&bad, &first, 1, MPI_INT, MPI_MIN, own) == MPI_SUCCESS && first == size) {
    MPI_Irecv(&e->received, (int)sizeof e->received, MPI_BYTE, MPI_ANY_SOURCE, TAG_NOTICE, own, &e->listening);
    return CUTT_SUCCESS;
  }
  if (e && !result) { /* without mpi_destroy, which would wait for what is not there */
    e->failed = 1;
    cuttDistCommDestroy(*comm);
  }
  if (e) release(e);
  MPI_Comm_free(&own);
  if (comm) *comm = NULL;
  if (result && e) return result; /* worded already */
  s.rank = first;
  snprintf(s.why, sizeof s.why, "no communicator could be made there: out of memory, or comm is NULL");
  return refuse(comm ? comm : &(cuttDistComm_t){NULL}, &s);
}

cuttResult_t cuttDistCommMpiFortran(cuttDistComm_t *comm, int64_t mpi) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return cuttDistCommMpi(comm, initialized && !finalized ? MPI_Comm_f2c((MPI_Fint)mpi) : MPI_COMM_NULL);
}
