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
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { ALIGNMENT = 64 }; /* of what cuttDistMpiAllocate gives */
enum { TAG_NOTICE = 0, TAG_DATA = 1, DATA_TAGS = 32000, NOTICE_BYTES = 512, RECORD_BYTES = 256, SPINS = 100 };

typedef struct notice {
  int rank;
  char why[NOTICE_BYTES - sizeof(int)];
} notice;

/* A window of shared memory, with a segment of each rank's. */
typedef struct window {
  struct window *next;
  uint64_t number; /* the same on all ranks */
  MPI_Win win;
  unsigned char *memory; /* this rank's, as its user has it */
  int64_t bytes;
  unsigned char *begin[]; /* each rank's segment, where this process has it */
} window;

/* What a rank says of memory that others may write to. */
typedef struct place {
  uint64_t window;
  int64_t offset; /* in the rank's segment */
} place;
_Static_assert(sizeof(place) <= CUTT_DIST_TOKEN_BYTES, "a place fits into a token");

typedef struct end {
  MPI_Comm comm;
  MPI_Comm node; /* of all ranks, if one node has them; made when it is first wanted */
  window *windows;
  uint64_t windows_made;
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

/* What has been written to shared memory is seen by others from here on, and what others have written by this rank. */
static void sync_windows(const end *e) {
  for (const window *w = e->windows; w; w = w->next) MPI_Win_sync(w->win);
}

static int mpi_allgather(void *data, const void *mine, int64_t count, void *all) {
  end *e = data;
  MPI_Request request = MPI_REQUEST_NULL;
  if (e->failed || e->lost || count > INT_MAX || grow(e, count)) return 1;
  memcpy(e->mine, mine, (size_t)count);
  sync_windows(e);
  int result = MPI_Iallgather(e->mine, (int)count, MPI_BYTE, e->all, (int)count, MPI_BYTE, e->comm, &request);
  if (result == MPI_SUCCESS) result = wait_or_hear(e, &request);
  e->lost = request != MPI_REQUEST_NULL;
  if (result) return 1;
  sync_windows(e);
  memcpy(all, e->all, (size_t)count * (size_t)e->size);
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- shared windows */

static const char *mpi_offer(void *data, void *begin, int64_t count, unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  const end *e = data;
  const uintptr_t at = (uintptr_t)begin;
  for (const window *w = e->windows; w; w = w->next) {
    const uintptr_t memory = (uintptr_t)w->memory;
    if (at < memory || at - memory > (uintptr_t)w->bytes || count > w->bytes - (int64_t)(at - memory)) continue;
    const place where = {w->number, (int64_t)(at - (uintptr_t)w->begin[e->rank])};
    memset(token, 0, CUTT_DIST_TOKEN_BYTES);
    memcpy(token, &where, sizeof where);
    return NULL;
  }
  return "it is not within memory of cuttDistMpiAllocate";
}

static void *mpi_reach(void *data, int peer, const unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  const end *e = data;
  place where;
  memcpy(&where, token, sizeof where);
  for (const window *w = e->windows; w; w = w->next)
    if (w->number == where.window) return w->begin[peer] + where.offset;
  return NULL;
}

static void free_window(end *e, window *w) {
  window **before = &e->windows;
  while (*before != w) before = &(*before)->next;
  *before = w->next;
  MPI_Win_unlock_all(w->win);
  MPI_Win_free(&w->win);
  free(w);
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
  while (e->windows) free_window(e, e->windows);
  if (e->node != MPI_COMM_NULL) MPI_Comm_free(&e->node);
  MPI_Comm_free(&e->comm);
  release(e);
}

/* ------------------------------------------------------------------------------------------------------------- creation */

/* A transport that has failed before it began: cuttDistCommCreate returns its text as the error. */
typedef struct stillborn {
  int rank, size;
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
  *e = (end){.comm = comm,
             .node = MPI_COMM_NULL,
             .rank = rank,
             .size = size,
             .listening = MPI_REQUEST_NULL,
             .record_bytes = RECORD_BYTES};
  e->told = calloc((size_t)size, sizeof *e->told);
  e->sent = calloc((size_t)size, sizeof *e->sent);
  e->received_from = calloc((size_t)size, sizeof *e->received_from);
  e->mine = malloc(RECORD_BYTES);
  e->all = malloc((size_t)size * RECORD_BYTES);
  if (e->told && e->sent && e->received_from && e->mine && e->all) return e;
  release(e);
  return NULL;
}

/* Does the MPI that runs take memory of GPUs? */
static int takes_devices(void) {
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return 0;
#endif
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
                                         .destroy = mpi_destroy,
                                         .offer = mpi_offer,
                                         .reach = mpi_reach,
                                         .takes_devices = takes_devices()};
  return transport;
}

/* The error for a communicator that can't be made, in the way that callers get every error. */
static cuttResult_t refuse(cuttDistComm_t *comm, stillborn *s) {
  end none = {.rank = 0, .size = s->size};
  cuttDistTransport_t transport = transport_of(&none);
  transport.data = s;
  transport.failure = stillborn_failure;
  return cuttDistCommCreate(comm, &transport);
}

cuttResult_t cuttDistCommMpi(cuttDistComm_t *comm, MPI_Comm mpi) {
  stillborn s = {.rank = 0, .size = 1};
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
  s.size = size;
  snprintf(s.why, sizeof s.why, "no communicator could be made there: out of memory, or comm is NULL");
  return refuse(comm ? comm : &(cuttDistComm_t){NULL}, &s);
}

cuttResult_t cuttDistCommMpiFortran(cuttDistComm_t *comm, int64_t mpi) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return cuttDistCommMpi(comm, initialized && !finalized ? MPI_Comm_f2c((MPI_Fint)mpi) : MPI_COMM_NULL);
}

/* ------------------------------------------------------------------------------------------- memory that ranks share */

static cuttResult_t cannot(int size, int rank, const char *text) {
  stillborn s = {.rank = rank, .size = size};
  snprintf(s.why, sizeof s.why, "%s", text);
  return refuse(&(cuttDistComm_t){NULL}, &s);
}

/* This rank's end of a communicator of cuttDistCommMpi; NULL: it is none, and *result has the error. */
static end *end_of(cuttDistComm_t comm, cuttResult_t *result) {
  cuttDistTransport_t transport;
  *result = cuttDistCommTransport(comm, &transport);
  if (*result) return NULL;
  if (transport.offer == mpi_offer) return transport.data;
  *result = cannot(transport.size, transport.rank, "comm is not one that cuttDistCommMpi has made");
  return NULL;
}

/* The least and the most of a number that each rank has. 0: all have taken part; else the communicator has failed. */
static int compare(end *e, int64_t mine, int64_t *least, int64_t *most) {
  *least = *most = mine;
  int64_t *all = malloc((size_t)e->size * sizeof *all);
  if (!all) mpi_fail(e, "out of memory");
  const int lost = !all || mpi_allgather(e, &mine, (int64_t)sizeof mine, all);
  if (lost) mpi_fail(e, "MPI could not gather a number from each rank"); /* if none has failed before */
  for (int i = 0; i < e->size && !lost; ++i) {
    if (all[i] < *least) *least = all[i];
    if (all[i] > *most) *most = all[i];
  }
  free(all);
  return lost;
}

/* Makes e->node; 0: all ranks are in it. */
static int find_node(end *e) {
  int size = 0;
  if (e->node == MPI_COMM_NULL) {
    if (MPI_Comm_split_type(e->comm, MPI_COMM_TYPE_SHARED, e->rank, MPI_INFO_NULL, &e->node) != MPI_SUCCESS) return 1;
    MPI_Comm_set_errhandler(e->node, MPI_ERRORS_RETURN);
  }
  return MPI_Comm_size(e->node, &size) != MPI_SUCCESS || size != e->size;
}

/* Each rank's segment has room to be aligned. 0: it was made, on this rank. */
static int make_window(end *e, window *w, int64_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  void *own = NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig",
               "true"); /* each rank's on pages of its own, which it is the first to touch */
  const int made = MPI_Win_allocate_shared((MPI_Aint)bytes + ALIGNMENT, 1, info, e->node, &own, &w->win);
  MPI_Info_free(&info);
  if (made != MPI_SUCCESS) return 1;
  for (int i = 0; i < e->size; ++i) {
    MPI_Aint size = 0;
    int unit = 0;
    void *begin = NULL;
    if (MPI_Win_shared_query(w->win, i, &size, &unit, &begin) != MPI_SUCCESS) return 1;
    w->begin[i] = begin;
  }
  w->memory = own;
  w->memory += (ALIGNMENT - (uintptr_t)own % ALIGNMENT) % ALIGNMENT;
  w->bytes = bytes;
  return MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win) != MPI_SUCCESS;
}

cuttResult_t cuttDistMpiAllocate(cuttDistComm_t comm, int64_t bytes, void **pointer) {
  cuttResult_t result = CUTT_SUCCESS;
  if (pointer) *pointer = NULL;
  end *e = end_of(comm, &result);
  if (!e) return result;
  window *w = calloc(1, sizeof *w + (size_t)e->size * sizeof w->begin[0]);
  const int valid = w && pointer && bytes >= 0 && bytes <= INT64_MAX - ALIGNMENT;
  const char *why = NULL;
  int64_t first = 0, most = 0;
  int at = 0;
  if (compare(e, valid ? e->size : e->rank, &first, &most)) {
    why = e->first.why;
    at = e->first.rank;
  } else if (first < e->size) {
    why = "bytes is below 0 or too large, pointer is NULL, or there is no memory for a window";
    at = (int)first;
  } else if (compare(e, find_node(e), &first, &most) || most) {
    why = "ranks are on different nodes, which share no memory";
  } else if (compare(e, make_window(e, w, bytes), &first, &most) || most) {
    why = "MPI_Win_allocate_shared failed on some rank: is there as much shared memory?";
    at = e->rank;
    w = NULL; /* left to MPI, since only all ranks together can free a window */
  }
  if (why) {
    free(w);
    return cannot(e->size, at, why);
  }
  w->number = ++e->windows_made;
  w->next = e->windows;
  e->windows = w;
  *pointer = w->memory;
  return CUTT_SUCCESS;
}

cuttResult_t cuttDistMpiFree(cuttDistComm_t comm, void *pointer) {
  cuttResult_t result = CUTT_SUCCESS;
  end *e = end_of(comm, &result);
  if (!e) return result;
  window *w = e->windows;
  while (w && w->memory != pointer) w = w->next;
  int64_t first = 0, last = 0;
  if (compare(e, w ? (int64_t)w->number : 0, &first, &last)) return cannot(e->size, e->first.rank, e->first.why);
  if (!w || first != last)
    return cannot(e->size, e->rank, "pointer is not what one call of cuttDistMpiAllocate has given to the ranks");
  free_window(e, w);
  return CUTT_SUCCESS;
}
