/* The transport of NCCL.
 *
 * NCCL is found at run time, and the few functions that are used are declared here, from its public documentation. Messages are
 * groups of ncclSend and ncclRecv in a stream. Small records are gathered by another communicator of the caller's or, if there is
 * none, by ncclAllGather in a stream of the transport's own, which is watched: a rank that does not come is a failure after some
 * time. A failure aborts NCCL's communicator, so that streams that wait for other ranks go on. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/comm.h"
#include "plan/services.h"

typedef struct ncclComm *nccl_comm;
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_UINT8 = 1 };

#define NCCL_FUNCTIONS(X)                                                                                              \
  X(comm_count, ncclCommCount, (nccl_comm comm, int *count))                                                           \
  X(comm_user_rank, ncclCommUserRank, (nccl_comm comm, int *rank))                                                     \
  X(comm_get_async_error, ncclCommGetAsyncError, (nccl_comm comm, int *error))                                         \
  X(comm_abort, ncclCommAbort, (nccl_comm comm))                                                                       \
  X(group_start, ncclGroupStart, (void))                                                                               \
  X(group_end, ncclGroupEnd, (void))                                                                                   \
  X(send, ncclSend, (const void *bytes, size_t count, int type, int peer, nccl_comm comm, cudaStream_t stream))        \
  X(receive, ncclRecv, (void *bytes, size_t count, int type, int peer, nccl_comm comm, cudaStream_t stream))           \
  X(all_gather, ncclAllGather,                                                                                         \
    (const void *mine, void *all, size_t count, int type, nccl_comm comm, cudaStream_t stream))

#define MEMBER(member, symbol, parameters) int(*member) parameters;
typedef struct nccl_functions {
  NCCL_FUNCTIONS(MEMBER)
  const char *(*error_string)(int error);
} nccl_functions;
#undef MEMBER

/* What older ones don't have. */
#define NCCL_MEMORY(X)                                                                                                 \
  X(memory_allocate, ncclMemAlloc, (void **memory, size_t bytes))                                                      \
  X(memory_free, ncclMemFree, (void *memory))                                                                          \
  X(comm_register, ncclCommRegister, (nccl_comm comm, void *memory, size_t bytes, void **handle))                      \
  X(comm_deregister, ncclCommDeregister, (nccl_comm comm, void *handle))
#define MEMBER(member, symbol, parameters) int(*member) parameters;
static struct {
  NCCL_MEMORY(MEMBER)
  bool all;
} memories; /* as functions */
#undef MEMBER

static pthread_once_t once = PTHREAD_ONCE_INIT;
static nccl_functions functions; /* written by load() alone, as is what follows */
static char missing[256];        /* why there is no NCCL; "": there is one */

static bool find(void *library, const char *name, void *function, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, size);
  if (!symbol) snprintf(missing, sizeof missing, "libnccl.so.2 has no %s", name);
  return symbol != NULL;
}

/* The one that made the caller's communicator has to be the one that is called; it is in the process already. */
static void load(void) {
  void *library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (!library) library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    snprintf(missing, sizeof missing, "libnccl.so.2 was not found: %s", dlerror());
    return;
  }
#define FIND(member, symbol, parameters) find(library, #symbol, &memories.member, sizeof memories.member) &&
  memories.all = NCCL_MEMORY(FIND) true;
#undef FIND
  missing[0] = 0;
#define FIND(member, symbol, parameters)                                                                               \
  if (!find(library, #symbol, &functions.member, sizeof functions.member)) return;
  NCCL_FUNCTIONS(FIND)
#undef FIND
  find(library, "ncclGetErrorString", &functions.error_string, sizeof functions.error_string);
}

/* ----------------------------------------------------------------------------------------------------------- the end */

enum { WHY_BYTES = 512 };
static const double longest_wait = 60;

typedef struct end {
  nccl_comm nccl; /* NULL: aborted */
  int rank, size;
  bool by_host;
  cuttDistTransport_t host;
  double seconds;
  const cutt_runtime *runtime;
  cutt_context context;
  cudaStream_t stream; /* for records */
  cutt_event *event, *from, *to;
  unsigned char *records; /* on the device: this rank's, and all */
  unsigned char *pinned;  /* likewise */
  int64_t record_bytes;   /* of a rank */
  bool failed;
  int failed_rank;
  char why[WHY_BYTES];
} end;

static void nccl_fail(void *data, const char *text) {
  end *e = data;
  if (!e->failed) {
    e->failed = true;
    e->failed_rank = e->rank;
    snprintf(e->why, sizeof e->why, "%s", text);
    if (e->by_host) e->host.fail(e->host.data, text);
  }
  if (e->nccl) functions.comm_abort(e->nccl);
  e->nccl = NULL;
}

/* Asks NCCL and the host's communicator, too. */
static const char *nccl_failure(void *data, int *rank) {
  end *e = data;
  int error = NCCL_SUCCESS;
  *rank = -1;
  if (!e->failed && e->by_host) {
    const char *text = e->host.failure(e->host.data, rank);
    if (text) {
      e->failed = true;
      e->failed_rank = *rank;
      snprintf(e->why, sizeof e->why, "%s", text);
      nccl_fail(e, text);
    }
  }
  if (!e->failed && e->nccl && functions.comm_get_async_error(e->nccl, &error) == NCCL_SUCCESS &&
      error != NCCL_SUCCESS && error != NCCL_IN_PROGRESS) {
    char text[WHY_BYTES];
    snprintf(text, sizeof text, "NCCL says: %s", functions.error_string(error));
    nccl_fail(e, text);
  }
  if (!e->failed) return NULL;
  *rank = e->failed_rank;
  return e->why;
}

/* Words a failure of NCCL's. */
static int refused(end *e, int error, const char *doing) {
  char text[WHY_BYTES];
  if (error == NCCL_SUCCESS) return 0;
  snprintf(text, sizeof text, "NCCL, %s: %s", doing, functions.error_string(error));
  nccl_fail(e, text);
  return 1;
}

/* A communicator that does not block has done what it was asked for when it no longer is in progress. */
static int settle(end *e, int error, const char *doing) {
  const double began = cutt_clock();
  while (error == NCCL_IN_PROGRESS) {
    if (functions.comm_get_async_error(e->nccl, &error) != NCCL_SUCCESS) break;
    if (error == NCCL_IN_PROGRESS && cutt_clock() - began > e->seconds) {
      nccl_fail(e, "NCCL has not connected to all ranks in time");
      return 1;
    }
    sched_yield();
  }
  return refused(e, error, doing);
}

static int nccl_exchange(void *data, const cuttDistMessage_t *messages, int count, cudaStream_t stream) {
  end *e = data;
  if (e->failed || !e->nccl) return 1;
  int error = functions.group_start();
  for (int i = 0; i < count && !error; ++i) {
    const cuttDistMessage_t *m = &messages[i];
    error = m->receives ? functions.receive(m->bytes, (size_t)m->count, NCCL_UINT8, m->peer, e->nccl, stream)
                        : functions.send(m->bytes, (size_t)m->count, NCCL_UINT8, m->peer, e->nccl, stream);
    if (error == NCCL_IN_PROGRESS) error = NCCL_SUCCESS;
  }
  const int ended = functions.group_end();
  if (error) return refused(e, error, "sending messages");
  return settle(e, ended, "sending messages");
}

/* ------------------------------------------------------------------------------------------------------- known memory */

static cuttResult known_make(void *data, size_t bytes, cutt_known *known) {
  end *e = data;
  *known = (cutt_known){NULL, NULL};
  int error = memories.memory_allocate(&known->memory, bytes);
  if (!error) error = memories.comm_register(e->nccl, known->memory, bytes, &known->handle);
  return error ? cutt_error(CUTT_INTERNAL_ERROR, "NCCL, making %zu bytes of memory that it knows: %s", bytes,
                            functions.error_string(error))
               : CUTT_SUCCESS;
}

static void known_unknow(void *data, cutt_known *known) {
  end *e = data;
  if (known->handle && e->nccl) memories.comm_deregister(e->nccl, known->handle);
  known->handle = NULL;
}

static void known_free(void *data, cutt_known *known) {
  known_unknow(data, known);
  if (known->memory) memories.memory_free(known->memory);
  known->memory = NULL;
}

static const cutt_known_functions known_functions = {known_make, known_unknow, known_free};

/* Waits for an event of the transport's, for so long at most. */
static int watch(end *e, const cutt_event *event, double seconds) {
  const double began = cutt_clock();
  for (;;) {
    bool reached = false;
    int rank = -1;
    if (e->runtime->event_reached(event, &reached) != CUTT_SUCCESS) {
      nccl_fail(e, cuttLastError());
      return 1;
    }
    if (reached) return 0;
    if (nccl_failure(e, &rank)) return 1;
    if (seconds > 0 && cutt_clock() - began > seconds) {
      char text[WHY_BYTES];
      snprintf(text, sizeof text, "not all ranks have come within %g s", seconds);
      nccl_fail(e, text);
      return 1;
    }
    sched_yield();
  }
}

static cuttResult make_records(end *e, int64_t bytes) {
  const size_t all = (size_t)bytes * (size_t)(e->size + 1);
  void *records = NULL, *pinned = NULL;
  cuttResult result = e->runtime->memory_allocate(all, &records);
  if (!result) result = e->runtime->pinned_allocate(all, &pinned);
  if (result) {
    if (records) e->runtime->memory_free(records);
    return result;
  }
  if (e->records) e->runtime->memory_free(e->records);
  if (e->pinned) e->runtime->pinned_free(e->pinned);
  e->records = records;
  e->pinned = pinned;
  e->record_bytes = bytes;
  return CUTT_SUCCESS;
}

/* In a scope. */
static int gather(end *e, const void *mine, int64_t count, void *all) {
  const size_t bytes = (size_t)count, of_all = bytes * (size_t)e->size;
  if (count > e->record_bytes && make_records(e, count)) return 1;
  memcpy(e->pinned, mine, bytes);
  cuttResult result = e->runtime->copy_start(e->records, e->pinned, bytes, e->stream);
  if (result) return 1;
  const int error = functions.all_gather(e->records, e->records + bytes, bytes, NCCL_UINT8, e->nccl, e->stream);
  if (settle(e, error, "gathering records")) return 1;
  result = e->runtime->copy_start(e->pinned + bytes, e->records + bytes, of_all, e->stream);
  if (!result) result = e->runtime->event_record(e->event, e->stream);
  if (result || watch(e, e->event, e->seconds)) return 1;
  memcpy(all, e->pinned + bytes, of_all);
  return 0;
}

static int nccl_allgather(void *data, const void *mine, int64_t count, void *all) {
  end *e = data;
  cutt_scope scope;
  if (e->failed || !e->nccl) return 1;
  if (e->by_host) return e->host.allgather(e->host.data, mine, count, all);
  if (e->runtime->enter_context(&e->context, &scope)) return 1;
  const int lost = gather(e, mine, count, all);
  e->runtime->leave(&scope);
  return lost;
}

/* Messages of the host's memory are nothing for NCCL, and plans don't ask for them. */
static int nccl_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)data, (void)peer, (void)bytes, (void)count, (void)request;
  return 1;
}

static int nccl_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)bytes;
  return nccl_send(data, peer, NULL, count, request);
}

static int nccl_wait(void *data, cuttDistRequest_t *request) {
  (void)data, (void)request;
  return 1;
}

static void release(end *e) {
  cutt_event *const event[3] = {e->event, e->from, e->to};
  for (int i = 0; i < 3; ++i)
    if (event[i]) e->runtime->event_destroy(event[i]);
  if (e->stream) e->runtime->stream_release(e->stream);
  if (e->records) e->runtime->memory_free(e->records);
  if (e->pinned) e->runtime->pinned_free(e->pinned);
  free(e);
}

static void nccl_destroy(void *data) {
  end *e = data;
  const cutt_runtime *runtime = e->runtime;
  cutt_scope scope;
  const cuttResult result = runtime->enter_context(&e->context, &scope);
  release(e);
  if (!result) runtime->leave(&scope);
}

/* ------------------------------------------------------------------------------------------------------------ creation */

enum { RECORD_BYTES = 256, MEASURED_BYTES = 64 << 20, SMALLER = 16, ROUNDS = 4 };
static const double gather_seconds = 60e-6; /* by NCCL and back to the host */

/* Seconds of an exchange with all peers, the second of two alike. */
/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to, by way of a struct */
static cuttResult time_exchange(end *e, cuttDistMessage_t *messages, unsigned char *memory, int64_t count,
                                double *seconds) {
  int n = 0;
  for (int step = 1; step < e->size; ++step) {
    const int to = (e->rank + step) % e->size, from = (e->rank + e->size - step) % e->size;
    messages[n++] = (cuttDistMessage_t){to, 0, memory + (step - 1) * count, count};
    messages[n++] = (cuttDistMessage_t){from, 1, memory + (e->size - 2 + step) * count, count};
  }
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < ROUNDS && !result; ++i) {
    if (i < 2) result = e->runtime->event_record(e->from, e->stream);
    if (!result && nccl_exchange(e, messages, n, e->stream)) result = CUTT_INTERNAL_ERROR;
  }
  if (!result) result = e->runtime->event_record(e->to, e->stream);
  if (!result && watch(e, e->to, e->seconds)) result = CUTT_INTERNAL_ERROR;
  if (!result) result = e->runtime->event_seconds(e->from, e->to, seconds);
  *seconds /= ROUNDS - 1;
  return result;
}

/* What messages take: by large ones, and by some that are large enough for NCCL's usual ways. It connects all ranks, too. */
static cuttResult measure(end *e, double *message, double *byte) {
  if (e->size == 1) return CUTT_SUCCESS;
  const int64_t peers = e->size - 1, count = MEASURED_BYTES / peers / (16 * SMALLER) * (16 * SMALLER);
  const int64_t few = count / SMALLER;
  double small = 0, large = 0;
  const size_t bytes = (size_t)(2 * peers * count);
  cutt_known known = {NULL, NULL};
  cuttDistMessage_t *messages = malloc(2 * (size_t)peers * sizeof *messages);
  if (!messages) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %lld messages", 2 * (long long)peers);
  cuttResult result = memories.all ? known_make(e, bytes, &known) : e->runtime->memory_allocate(bytes, &known.memory);
  if (!result) result = time_exchange(e, messages, known.memory, few, &small);
  if (!result) result = time_exchange(e, messages, known.memory, count, &large);
  if (memories.all) known_free(e, &known);
  if (!memories.all && known.memory) e->runtime->memory_free(known.memory);
  free(messages);
  *byte = large > small ? (large - small) / (double)(peers * (count - few)) : 1 / 350e9;
  *message = larger(small - *byte * (double)(peers * few), 10e-6);
  return result;
}

static cuttResult open_end(end *e) {
  const char *const name = "NCCL";
  int error = functions.comm_count(e->nccl, &e->size);
  if (!error) error = functions.comm_user_rank(e->nccl, &e->rank);
  if (error)
    return cutt_error(CUTT_INVALID_PARAMETER, "nccl is no communicator of %s: %s", name, functions.error_string(error));
  if (e->by_host && (e->host.size != e->size || e->host.rank != e->rank))
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->host is rank %d of %d, and nccl rank %d of %d; they must have the same ranks",
                      e->host.rank, e->host.size, e->rank, e->size);
  cuttResult result = e->runtime->context(&e->context);
  if (!result) result = e->runtime->urgent_stream_create(&e->stream);
  if (!result) result = e->runtime->event_create(false, &e->event);
  if (!result) result = e->runtime->event_create(true, &e->from);
  if (!result) result = e->runtime->event_create(true, &e->to);
  return result ? result : make_records(e, RECORD_BYTES);
}

static cuttDistTransport_t transport_of(end *e, double message, double byte) {
  const cuttDistTransport_t transport = {.struct_size = sizeof transport,
                                         .name = "NCCL",
                                         .data = e,
                                         .rank = e->rank,
                                         .size = e->size,
                                         .shared = e->by_host && e->host.shared,
                                         .message_seconds = message,
                                         .byte_seconds = byte,
                                         .send = nccl_send,
                                         .receive = nccl_receive,
                                         .wait = nccl_wait,
                                         .allgather = nccl_allgather,
                                         .fail = nccl_fail,
                                         .failure = nccl_failure,
                                         .destroy = nccl_destroy,
                                         .backend = CUTT_BACKEND_CUDA,
                                         .exchange = nccl_exchange,
                                         .gather_seconds = e->by_host ? e->host.gather_seconds : gather_seconds};
  return transport;
}

static cuttResult make(cuttDistComm_t *comm, end *e) {
  double message = 0, byte = 0;
  cuttResult result = open_end(e);
  if (!result && measure(e, &message, &byte)) {
    int rank = -1;
    const char *why = nccl_failure(e, &rank);
    result =
        why ? cutt_error(CUTT_INTERNAL_ERROR, "rank %d of %d has failed: %s", rank, e->size, why) : CUTT_INTERNAL_ERROR;
  }
  const cuttDistTransport_t transport = transport_of(e, message, byte);
  if (!result) result = cuttDistCommCreate(comm, &transport);
  if (!result && memories.all && e->size > 1) (*comm)->known = &known_functions;
  return result;
}

static const size_t first_nccl_size = sizeof(cuttDistNccl_t);

static cuttResult read_options(const cuttDistNccl_t *callers, end *e) {
  cuttDistNccl_t options = CUTT_DIST_NCCL_INIT;
  e->seconds = longest_wait;
  if (!callers) return CUTT_SUCCESS;
  cuttResult result = cutt_struct_read(&options, sizeof options, first_nccl_size, callers, "options");
  if (result) return result;
  if (!(options.seconds >= 0))
    return cutt_error(CUTT_INVALID_PARAMETER, "options->seconds is %g; it must be 0 or more", options.seconds);
  if (options.seconds > 0) e->seconds = options.seconds;
  e->by_host = options.host != NULL;
  if (!e->by_host) return CUTT_SUCCESS;
  result = cuttDistCommTransport(options.host, &e->host);
  return result ? cutt_error(CUTT_INVALID_PARAMETER, "options->host: %s", cuttLastError()) : CUTT_SUCCESS;
}

cuttResult cuttDistCommNccl(cuttDistComm_t *comm, void *nccl, const cuttDistNccl_t *options) {
  if (!comm) return cutt_error(CUTT_INVALID_PARAMETER, "comm is NULL; it must point to a cuttDistComm_t");
  *comm = NULL;
  if (!nccl) return cutt_error(CUTT_INVALID_PARAMETER, "nccl is NULL; it must be an ncclComm_t");
  const cutt_backend *backend = NULL;
  cuttResult result = cutt_backend_select(CUTT_BACKEND_CUDA, "the backend of NCCL", &backend);
  if (result) return result;
  pthread_once(&once, load);
  if (missing[0]) return cutt_error(CUTT_INVALID_DEVICE, "NCCL is not usable: %s", missing);
  end *e = calloc(1, sizeof *e);
  if (!e) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a communicator", sizeof *e);
  cutt_scope scope;
  e->nccl = nccl;
  e->runtime = backend->runtime;
  result = read_options(options, e);
  if (!result) result = e->runtime->enter(&scope);
  const bool entered = !result;
  if (!result) result = make(comm, e);
  if (result) release(e);
  if (entered) backend->runtime->leave(&scope);
  return result;
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

static cuttResult watch_stream(struct cuttDistCommStruct *comm, const cutt_runtime *runtime, const cutt_event *event,
                               double seconds) {
  const double began = cutt_clock();
  for (;;) {
    bool reached = false;
    cuttResult result = runtime->event_reached(event, &reached);
    if (result || reached) return result;
    result = cutt_comm_failure(comm);
    if (result) return result;
    if (seconds > 0 && cutt_clock() - began > seconds) {
      cutt_error(CUTT_INTERNAL_ERROR, "a stream's work has not ended within %g s", seconds);
      return cutt_comm_fail(comm);
    }
    sched_yield();
  }
}

cuttResult cuttDistCommSynchronize(cuttDistComm_t comm, cudaStream_t stream, double seconds) {
  if (!cutt_comm_alive(comm)) return CUTT_INVALID_PLAN;
  if (!(seconds >= 0)) return cutt_error(CUTT_INVALID_PARAMETER, "seconds is %g; it must be 0 or more", seconds);
  const cutt_backend *backend = NULL;
  cutt_scope scope;
  cutt_event *event = NULL;
  cuttResult result = cutt_backend_select(CUTT_BACKEND_CUDA, "the backend of a stream", &backend);
  if (!result) result = backend->runtime->enter_stream(stream, &scope);
  if (result) return result;
  result = backend->runtime->event_create(false, &event);
  if (!result) result = backend->runtime->event_record(event, stream);
  if (!result) result = watch_stream(comm, backend->runtime, event, seconds);
  if (event) backend->runtime->event_destroy(event);
  backend->runtime->leave(&scope);
  return result;
}
