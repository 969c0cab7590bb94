/* A transport and an allocator that fail (faulty.h). */
#include "faulty.h"

#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------------------------------------------------- the allocator */

/* The linker hands the library's calls to these (--wrap). Of this thread: how many have been made, and which fails. */
_Thread_local long faulty_allocations, faulty_at;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

static bool fails(void) { return ++faulty_allocations == faulty_at; }

void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *memory, size_t size) { return fails() ? NULL : __real_realloc(memory, size); }
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
  return fails() ? 12 : __real_posix_memalign(memory, alignment, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* ---------------------------------------------------------------------------------------------------------- the transport */

static bool fails_now(faulty *f, call c) { return f->fails_at == c && --f->countdown == 0; }

/* Starts what was held: one peer's messages in their order, the peers in the opposite one. */
static int start_held(faulty *f) {
  int lost = 0;
  while (f->holds > 0) {
    const int peer = f->held[f->holds - 1].peer;
    int kept = 0;
    for (int i = 0; i < f->holds; i++) {
      const held_send *s = &f->held[i];
      if (s->peer == peer)
        lost |= f->real.send(f->real.data, peer, s->bytes, s->count, s->request);
      else
        f->held[kept++] = *s;
    }
    f->holds = kept;
  }
  return lost;
}

static int faulty_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  faulty *f = data;
  const struct timespec moment = {0, 200000};
  if (fails_now(f, SEND) || (f->most && count > f->most)) return 1;
  f->sent++;
  if (f->delays) nanosleep(&moment, NULL);
  if (!f->reorders) return f->real.send(f->real.data, peer, bytes, count, request);
  int lost = 0;
  if (f->holds == MOST_HELD) lost = start_held(f);
  f->held[f->holds++] = (held_send){peer, bytes, count, request};
  return lost;
}

static int faulty_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  faulty *f = data;
  if (fails_now(f, RECEIVE) || (f->most && count > f->most)) return 1;
  return f->real.receive(f->real.data, peer, bytes, count, request);
}

static int faulty_wait(void *data, cuttDistRequest_t *request) {
  faulty *f = data;
  const int lost = start_held(f);
  const int waited = f->real.wait(f->real.data, request);
  return fails_now(f, WAIT) || lost || waited;
}

static int faulty_allgather(void *data, const void *mine, int64_t count, void *all) {
  faulty *f = data;
  f->gatherings++;
  if (fails_now(f, ALLGATHER)) return 1;
  const int lost = start_held(f);
  return f->real.allgather(f->real.data, mine, count, all) || lost;
}

static void faulty_fail(void *data, const char *text) {
  const faulty *f = data;
  (f->real.fail)(f->real.data, text); /* cmocka has a macro of that name */
}

static const char *faulty_failure(void *data, int *rank) {
  const faulty *f = data;
  return f->real.failure(f->real.data, rank);
}

/* Addresses as they are, since ranks are threads after all; the tokens' first byte tells that reach was given an offered one. */
static const char *faulty_offer(void *data, void *begin, int64_t count, unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  faulty *f = data;
  if (fails_now(f, OFFER)) return "it lies beside the window";
  f->offered += count;
  memset(token, 0x5a, CUTT_DIST_TOKEN_BYTES);
  memcpy(token + CUTT_DIST_TOKEN_BYTES - sizeof begin, &begin, sizeof begin);
  return NULL;
}

void *faulty_reach(void *data, int peer, const unsigned char token[CUTT_DIST_TOKEN_BYTES]) {
  faulty *f = data;
  void *begin = NULL;
  if (fails_now(f, REACH) || token[0] != 0x5a || peer < 0) return NULL;
  memcpy(&begin, token + CUTT_DIST_TOKEN_BYTES - sizeof begin, sizeof begin);
  return begin;
}

void open_setting(setting *s, int size) { open_limited_setting(s, size, 0); }

void open_limited_setting(setting *s, int size, int64_t most_bytes) {
  memset(s, 0, sizeof *s);
  s->size = size;
  assert_success(cuttDistCommThreads(size, s->threads));
  for (int i = 0; i < size; i++) {
    cuttDistTransport_t t;
    assert_success(cuttDistCommTransport(s->threads[i], &t));
    s->ends[i].real = t;
    s->ends[i].most = t.most_bytes = most_bytes;
    t.name = "faulty";
    t.data = &s->ends[i];
    t.shared = 0;
    t.send = faulty_send;
    t.receive = faulty_receive;
    t.wait = faulty_wait;
    t.allgather = faulty_allgather;
    t.fail = faulty_fail;
    t.failure = faulty_failure;
    t.destroy = NULL;
    t.offer = faulty_offer;
    t.reach = faulty_reach;
    assert_success(cuttDistCommCreate(&s->comms[i], &t));
  }
}

void close_setting(setting *s) {
  for (int i = 0; i < s->size; i++) {
    assert_success(cuttDistCommDestroy(s->comms[i]));
    assert_success(cuttDistCommDestroy(s->threads[i]));
  }
}
