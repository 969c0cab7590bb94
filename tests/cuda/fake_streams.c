/* Streams and events of the stand-in for the CUDA driver. */
#include <string.h>

#include "cuda/fake_state.h"

static struct CUstream_st default_stream; /* of all contexts */
static struct CUstream_st streams[64];

struct CUstream_st *fake_stream_of(cudaStream_t stream) {
  return stream ? stream : &default_stream;
}

void fake_streams_sweep(void) {
  for (size_t i = 0; i < sizeof streams / sizeof *streams; ++i) atomic_store(&streams[i].used, false);
  atomic_store(&fake_driver.alive_streams, 0);
  atomic_store(&fake_driver.alive_events, 0);
}

static cutt_cu_result make_stream(cudaStream_t *stream, unsigned flags) {
  if (flags != CUTT_CU_STREAM_DEFAULT && flags != CUTT_CU_STREAM_NON_BLOCKING) return CUTT_CU_INVALID_VALUE;
  struct CUstream_st *made = NULL;
  pthread_mutex_lock(&fake_lock);
  for (size_t i = 0; !made && i < sizeof streams / sizeof *streams; ++i) {
    if (!atomic_exchange(&streams[i].used, true)) made = &streams[i];
  }
  pthread_mutex_unlock(&fake_lock);
  if (!made) return 2;
  made->context = fake_current();
  made->clock = 0;
  made->origin = NULL;
  atomic_store(&made->capturing, false);
  atomic_fetch_add(&fake_driver.alive_streams, 1);
  *stream = made;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuStreamCreate(cudaStream_t *stream, unsigned flags) {
  FAKE_BEGIN(stream_create);
  FAKE_NEEDS_CONTEXT;
  return make_stream(stream, flags);
}

FAKE_PUBLIC cutt_cu_result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  FAKE_BEGIN(ctx_get_stream_priority_range);
  FAKE_NEEDS_CONTEXT;
  *least = 0;
  *greatest = -5;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  FAKE_BEGIN(stream_create_with_priority);
  FAKE_NEEDS_CONTEXT;
  return priority > 0 || priority < -5 ? CUTT_CU_INVALID_VALUE : make_stream(stream, flags);
}

FAKE_PUBLIC cutt_cu_result cuStreamDestroy_v2(cudaStream_t stream) {
  FAKE_BEGIN(stream_destroy);
  FAKE_NEEDS_CONTEXT;
  fake_late_finish(stream);
  atomic_fetch_sub(&fake_driver.alive_streams, 1);
  atomic_store(&stream->used, false);
  return CUTT_CU_SUCCESS;
}

/* Of streams that are no numbers: the others are the current context's. */
FAKE_PUBLIC cutt_cu_result cuStreamGetCtx(cudaStream_t stream, cutt_cu_context *context) {
  FAKE_BEGIN(stream_get_ctx);
  if ((uintptr_t)stream <= CUTT_CU_STREAM_PER_THREAD) return CUTT_CU_INVALID_HANDLE;
  *context = stream->context;
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuStreamSynchronize(cudaStream_t stream) {
  FAKE_BEGIN(stream_synchronize);
  FAKE_NEEDS_CONTEXT;
  fake_unsafe();
  fake_late_finish(stream);
  return fake_stream_of(stream)->capturing ? CUTT_CU_INVALID_VALUE : CUTT_CU_SUCCESS;
}

#ifndef FAKE_LACKS
FAKE_PUBLIC cutt_cu_result cuStreamIsCapturing(cudaStream_t stream, int *status) {
  FAKE_BEGIN(stream_is_capturing);
  *status = fake_stream_of(stream)->capturing;
  return CUTT_CU_SUCCESS;
}
#endif

/* A capture is known by the stream that it was begun in. */
static struct CUstream_st *capture_of(struct CUstream_st *stream) {
  return !stream->capturing ? NULL : stream->origin ? stream->origin : stream;
}

void fake_capture_begin(struct CUstream_st *stream) {
  stream->origin = NULL;
  atomic_store(&stream->capturing, true);
}

bool fake_capture_end(struct CUstream_st *stream) {
  bool all = true;
  pthread_mutex_lock(&fake_lock);
  for (size_t i = 0; i < sizeof streams / sizeof *streams; ++i) {
    struct CUstream_st *other = &streams[i];
    if (other == stream || !other->used || capture_of(other) != stream) continue;
    all = all && other->joined == other->work;
    other->origin = NULL;
    atomic_store(&other->capturing, false);
  }
  atomic_store(&stream->capturing, false);
  pthread_mutex_unlock(&fake_lock);
  return all;
}

struct CUevent_st {
  double clock;
  struct CUstream_st *capture; /* that it was recorded in */
  struct CUstream_st *stream;  /* and how much work that had */
  long work;
  bool between_processes;
  struct fake_mark *mark; /* where streams are late; NULL: it was not recorded since */
};

/* Used in rotation: more than are ever in use at once. */
static struct CUevent_st events[1 << 16];
static atomic_uint event_count;

FAKE_PUBLIC cutt_cu_result cuEventCreate(cutt_cu_event *event, unsigned flags) {
  FAKE_BEGIN(event_create);
  FAKE_NEEDS_CONTEXT;
  const bool between_processes = flags == (CUTT_CU_EVENT_DISABLE_TIMING | CUTT_CU_EVENT_INTERPROCESS);
  if (flags != CUTT_CU_EVENT_DEFAULT && flags != CUTT_CU_EVENT_DISABLE_TIMING && !between_processes)
    return CUTT_CU_INVALID_VALUE;
  atomic_fetch_add(&fake_driver.alive_events, 1);
  *event = &events[atomic_fetch_add(&event_count, 1) % (sizeof events / sizeof *events)];
  (*event)->between_processes = between_processes;
  (*event)->mark = NULL;
  (*event)->capture = NULL;
  return CUTT_CU_SUCCESS;
}

/* An event opened is another one that shows the first's state: it is remembered by its place. */
FAKE_PUBLIC cutt_cu_result cuIpcGetEventHandle(cutt_cu_ipc_handle *handle, cutt_cu_event event) {
  FAKE_BEGIN(ipc_get_event_handle);
  FAKE_NEEDS_CONTEXT;
  memset(handle, 0x44, sizeof *handle);
  memcpy(handle->reserved, &event, sizeof event);
  return event->between_processes ? CUTT_CU_SUCCESS : CUTT_CU_INVALID_HANDLE;
}

FAKE_PUBLIC cutt_cu_result cuIpcOpenEventHandle(cutt_cu_event *event, cutt_cu_ipc_handle handle) {
  FAKE_BEGIN(ipc_open_event_handle);
  FAKE_NEEDS_CONTEXT;
  if (handle.reserved[sizeof handle.reserved - 1] != 0x44) return CUTT_CU_INVALID_VALUE;
  if (!atomic_load(&fake_driver.opens)) return FAKE_NO_PEERS;
  memcpy(event, handle.reserved, sizeof *event);
  atomic_fetch_add(&fake_driver.alive_events, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuEventDestroy_v2(cutt_cu_event event) {
  FAKE_BEGIN(event_destroy);
  (void)event;
  atomic_fetch_sub(&fake_driver.alive_events, 1);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuEventRecord(cutt_cu_event event, cudaStream_t stream) {
  FAKE_BEGIN(event_record);
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  pthread_mutex_lock(&fake_lock);
  event->clock = fake_stream_of(stream)->clock;
  event->capture = capture_of(fake_stream_of(stream));
  event->stream = fake_stream_of(stream);
  event->work = event->stream->work;
  event->mark = fake_late_is_on() ? fake_late_mark(stream) : NULL;
  pthread_mutex_unlock(&fake_lock);
  return CUTT_CU_SUCCESS;
}

/* A capture takes events of its own only, and so does what is none, once the capture has ended: until then a stream that waits for
 * one joins it. */
static bool joins(struct CUstream_st *stream, const struct CUevent_st *event) {
  if (!capture_of(stream) && event->capture && event->capture->capturing) {
    stream->origin = event->capture;
    stream->work = stream->joined = 0;
    atomic_store(&stream->capturing, true);
  }
  if (capture_of(stream) != event->capture) return false;
  stream->work++;
  if (event->capture && event->stream != stream && event->stream->joined < event->work)
    event->stream->joined = event->work;
  return true;
}

FAKE_PUBLIC cutt_cu_result cuStreamWaitEvent(cudaStream_t stream, cutt_cu_event event, unsigned flags) {
  FAKE_BEGIN(stream_wait_event);
  if (flags || !event) return CUTT_CU_INVALID_VALUE;
  if (stream && stream->context != fake_current()) return CUTT_CU_INVALID_HANDLE;
  pthread_mutex_lock(&fake_lock);
  if (!joins(fake_stream_of(stream), event)) {
    pthread_mutex_unlock(&fake_lock);
    return CUTT_CU_INVALID_VALUE;
  }
  if (fake_stream_of(stream)->clock < event->clock) fake_stream_of(stream)->clock = event->clock;
  struct fake_mark *mark = event->mark;
  pthread_mutex_unlock(&fake_lock);
  if (mark && fake_late_is_on()) fake_late_wait(stream, mark);
  return CUTT_CU_SUCCESS;
}

/* The mark of its last record; NULL: it has none, or streams are not late. */
static struct fake_mark *mark_of(cutt_cu_event event) {
  pthread_mutex_lock(&fake_lock);
  struct fake_mark *mark = fake_late_is_on() ? event->mark : NULL;
  pthread_mutex_unlock(&fake_lock);
  return mark;
}

FAKE_PUBLIC cutt_cu_result cuEventQuery(cutt_cu_event event) {
  FAKE_BEGIN(event_query);
  const struct fake_mark *mark = mark_of(event);
  return !mark || fake_late_reached(mark) ? CUTT_CU_SUCCESS : CUTT_CU_NOT_READY;
}

FAKE_PUBLIC cutt_cu_result cuEventSynchronize(cutt_cu_event event) {
  FAKE_BEGIN(event_synchronize);
  fake_unsafe();
  struct fake_mark *mark = mark_of(event);
  if (mark) fake_late_wait(NULL, mark);
  return CUTT_CU_SUCCESS;
}

FAKE_PUBLIC cutt_cu_result cuEventElapsedTime(float *milliseconds, cutt_cu_event start, cutt_cu_event end) {
  FAKE_BEGIN(event_elapsed_time);
  *milliseconds = (float)((end->clock - start->clock) * 1e3);
  return CUTT_CU_SUCCESS;
}
