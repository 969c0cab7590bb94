/* The emulator: threads as fibers, and the checks of what they do.
 *
 * A thread runs until it meets the others of its warp or block, or ends; then the next one runs. Because they run one
 * after another, a missing barrier may leave the result right: so the stamps on shared memory (shadow.c) find it, not the
 * result. An asynchronous copy is done when its thread waits for it, and not before, so that what is read too early is not
 * there yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "simt/fiber.h"
#include "simt/state.h"

enum { POISON = 0xa5 };

/* A copy under way. */
typedef struct copy {
  uint32_t at, bytes, group;
  const unsigned char *from;
} copy;

typedef enum thread_state { READY, AT_BARRIER, AT_WARP, ENDED } thread_state;

/* What every meeting looks at comes first, for one line of the cache. */
typedef struct thread {
  simt_fiber *fiber;
  const char *function;
  thread_state state;
  unsigned site; /* of the meeting that it waits at */
  bool inside;   /* has begun and not ended */
  bool waited;   /* for what was put into the stream before */
  bool vote;
  uint32_t given, taken, lanes; /* its part of a shuffle or a vote of the warp, and the result */
  double *sum;                  /* its part of a product of matrices; NULL: the meeting is for something else */
  uint32_t copy_count, copy_room, group; /* group: of the copies that are not yet committed, counted from 1 */
  copy *copies;
  int64_t loading, copying, most_flying; /* bytes under way */
  double a[2], b;
  jmp_buf end; /* where a launch that is cut short ends the thread */
} thread;

simt_position simt_now;

static struct {
  const simt_launch *launch;
  simt_counts *counts;
  thread *threads[SIMT_MOST_THREADS];
  unsigned char *shared;
  size_t shared_room;
  char *error;
  size_t error_size;
  bool failed;
  int64_t written; /* bytes of the output */
} state;

/* ---------------------------------------------------------------------------------------------------------- faults */

__attribute__((format(printf, 1, 0))) static void set_error(const char *format, va_list list) {
  if (!state.failed) vsnprintf(state.error, state.error_size, format, list);
  state.failed = true;
}

/* A fault between threads. */
__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  set_error(format, list);
  va_end(list);
}

/* A fault of the current thread, which does not return. */
__attribute__((format(printf, 2, 3), noreturn)) static void stop(const char *function, const char *format, ...) {
  char what[256];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  fail("%s, thread %u of block %u: %s", function, simt_now.thread, simt_now.block, what);
  longjmp(state.threads[simt_now.thread]->end, 1);
}

static void count(unsigned site, const char *function, simt_access access, uint32_t bytes, uint64_t place) {
  if (site >= SIMT_MOST_SITES) stop(function, "has more sites than the emulator has room for");
  if (!simt_counts_add(site, access, bytes, place)) stop(function, "has the emulator run out of memory");
}

static void loads(thread *t, bool waits_not, uint32_t bytes) {
  *(waits_not ? &t->copying : &t->loading) += bytes;
  if (t->loading + t->copying > t->most_flying) t->most_flying = t->loading + t->copying;
}

/* --------------------------------------------------------------------------------------------------- global memory */

static inline bool within(simt_span span, const unsigned char *p, uint32_t bytes) {
  const size_t at = (size_t)((uintptr_t)p - (uintptr_t)span.low);
  return at < span.bytes && span.bytes - at >= bytes;
}

__attribute__((noreturn, cold)) static void stop_global(const char *function, const char *does, const void *p,
                                                        uint32_t bytes) {
  const simt_launch *l = state.launch;
  const long long in = (long long)((uintptr_t)p - (uintptr_t)l->read.low);
  const long long out = (long long)((uintptr_t)p - (uintptr_t)l->write.low);
  if ((uintptr_t)p % bytes)
    stop(function, "%s %u bytes at %p, which is not aligned (input + %lld, output + %lld)", does, bytes, p, in, out);
  stop(function, "%s %u bytes outside: at input + %lld of %zu, output + %lld of %zu bytes%s", does, bytes, in,
       l->read.bytes, out, l->write.bytes, l->reads_out ? "" : " (which may not be read)");
}

/* Of a launch that may have begun before the last one has ended. */
static inline void check_early(const char *function, const char *does, uint32_t bytes) {
  if (state.launch->early && !state.threads[simt_now.thread]->waited)
    stop(function, "%s %u bytes before it waits for what is earlier in the stream", does, bytes);
}

static inline void check_load(unsigned site, const char *function, const void *p, uint32_t bytes) {
  const simt_launch *l = state.launch;
  check_early(function, "reads", bytes);
  if ((uintptr_t)p % bytes || !(within(l->read, p, bytes) || within(l->read_right, p, bytes) ||
                                within(l->read_third, p, bytes) || (l->reads_out && within(l->write, p, bytes))))
    stop_global(function, "reads", p, bytes);
  if (state.counts) count(site, function, SIMT_GLOBAL_LOAD, bytes, (uint64_t)(uintptr_t)p);
}

static inline void check_store(unsigned site, const char *function, const void *p, uint32_t bytes) {
  check_early(function, "writes", bytes);
  if ((uintptr_t)p % bytes || !within(state.launch->write, p, bytes)) stop_global(function, "writes", p, bytes);
  const char *wrong = simt_shadow_write(p, bytes);
  if (wrong)
    stop(function, "%s: %u at output + %lld", wrong, bytes,
         (long long)((const unsigned char *)p - state.launch->write.low));
  state.written += bytes;
  if (state.counts) count(site, function, SIMT_GLOBAL_STORE, bytes, (uint64_t)(uintptr_t)p);
}

/* --------------------------------------------------------------------------------------------------- shared memory */

static inline void check_shared(const char *function, const char *does, uint32_t at, uint32_t bytes) {
  const uint32_t size = state.launch->shared_bytes;
  if (at % bytes) stop(function, "%s %u bytes at %u of shared memory, which is not aligned", does, bytes, at);
  if (at >= size || size - at < bytes)
    stop(function, "%s %u bytes at %u of shared memory, which has %u", does, bytes, at, size);
}

static inline void check_shared_load(unsigned site, const char *function, uint32_t at, uint32_t bytes) {
  check_shared(function, "reads", at, bytes);
  const char *wrong = simt_shadow_load(at, bytes);
  if (wrong) stop(function, "%s: %u bytes at %u", wrong, bytes, at);
  if (state.counts) count(site, function, SIMT_SHARED_LOAD, bytes, at);
}

static inline void check_shared_store(unsigned site, const char *function, uint32_t at, uint32_t bytes) {
  check_shared(function, "writes", at, bytes);
  const char *wrong = simt_shadow_store(at, bytes);
  if (wrong) stop(function, "%s: %u bytes at %u", wrong, bytes, at);
  if (state.counts) count(site, function, SIMT_SHARED_STORE, bytes, at);
}

#define DEFINE_MEMORY(bytes, type)                                                                                     \
  type simt_global_load##bytes(unsigned site, const char *function, const void *p) {                                   \
    type v;                                                                                                            \
    check_load(site, function, p, bytes);                                                                              \
    loads(state.threads[simt_now.thread], false, bytes);                                                               \
    memcpy(&v, p, bytes);                                                                                              \
    return v;                                                                                                          \
  }                                                                                                                    \
  void simt_global_store##bytes(unsigned site, const char *function, void *p, type v) {                                \
    check_store(site, function, p, bytes);                                                                             \
    state.threads[simt_now.thread]->loading = 0;                                                                       \
    memcpy(p, &v, bytes);                                                                                              \
  }                                                                                                                    \
  type simt_shared_load##bytes(unsigned site, const char *function, uint32_t at) {                                     \
    type v;                                                                                                            \
    check_shared_load(site, function, at, bytes);                                                                      \
    memcpy(&v, state.shared + at, bytes);                                                                              \
    return v;                                                                                                          \
  }                                                                                                                    \
  void simt_shared_store##bytes(unsigned site, const char *function, uint32_t at, type v) {                            \
    check_shared_store(site, function, at, bytes);                                                                     \
    state.threads[simt_now.thread]->loading = 0;                                                                       \
    memcpy(state.shared + at, &v, bytes);                                                                              \
  }
DEFINE_MEMORY(1, uint8_t)
DEFINE_MEMORY(2, uint16_t)
DEFINE_MEMORY(4, uint32_t)
DEFINE_MEMORY(8, word2)
DEFINE_MEMORY(16, word4)

/* ------------------------------------------------------------------------------------------ copies that don't wait */

void simt_async_copy(unsigned site, const char *function, uint32_t bytes, uint32_t at, const void *p, bool near) {
  (void)near;
  thread *t = state.threads[simt_now.thread];
  check_load(site, function, p, bytes);
  check_shared(function, "copies", at, bytes);
  if (!state.launch->async) { /* older devices load and store at once */
    const char *wrong = simt_shadow_store(at, bytes);
    if (wrong) stop(function, "%s: %u bytes at %u", wrong, bytes, at);
    memcpy(state.shared + at, p, bytes);
  } else {
    const char *wrong = simt_shadow_copy_starts(at, bytes);
    if (wrong) stop(function, "%s: %u bytes at %u", wrong, bytes, at);
    memset(state.shared + at, POISON, bytes);
    if (t->copy_count == t->copy_room) {
      const uint32_t room = t->copy_room ? 2 * t->copy_room : 64;
      copy *more = realloc(t->copies, room * sizeof *more);
      if (!more) stop(function, "has the emulator run out of memory");
      t->copies = more;
      t->copy_room = room;
    }
    loads(t, true, bytes);
    t->copies[t->copy_count++] = (copy){at, bytes, t->group, p};
  }
  if (state.counts) count(site, function, SIMT_SHARED_STORE, bytes, at);
}

/* Three bytes are counted as two. */
void simt_async_copy_part(unsigned site, const char *function, uint32_t at, const void *p, uint32_t n) {
  simt_counts *const counts = state.counts;
  if (at % 4 || (uintptr_t)p % 4 || n < 1 || n > 3)
    stop(function, "copies %u of 4 bytes from %p to %u: both have to be multiples of 4", n, p, at);
  simt_async_copy(site, function, n > 1 ? 2 : 1, at, p, false);
  if (n < 3) return;
  state.counts = NULL;
  simt_async_copy(site, function, 1, at + 2, (const unsigned char *)p + 2, false);
  state.counts = counts;
}

void simt_bulk_copy(const char *function, uint32_t at, uint32_t to, const void *p, uint32_t bytes) {
  enum { UNIT = 16 };
  simt_counts *const counts = state.counts;
  check_shared(function, "counts", at, 8);
  if (to % UNIT || (uintptr_t)p % UNIT || bytes % UNIT || !bytes)
    stop(function, "copies %u bytes at once from %p to %u: all have to be multiples of 16", bytes, p, to);
  state.counts = NULL;
  for (uint32_t i = 0; i < bytes; i += UNIT)
    simt_async_copy(0, function, UNIT, to + i, (const unsigned char *)p + i, false);
  state.counts = counts;
}

void simt_wait_for_earlier(void) { state.threads[simt_now.thread]->waited = true; }

void simt_turn(uint32_t number) {
  if (state.counts) simt_counts_turn(number);
}

void simt_shared_may_be_blank(uint32_t from, uint32_t end) { simt_shadow_free(from, end); }

void simt_async_commit(void) { state.threads[simt_now.thread]->group++; }

void simt_async_wait(uint32_t pending) {
  thread *t = state.threads[simt_now.thread];
  uint32_t left = 0;
  for (uint32_t i = 0; i < t->copy_count; ++i) {
    const copy *c = &t->copies[i];
    if (c->group + pending < t->group) {
      memcpy(state.shared + c->at, c->from, c->bytes);
      simt_shadow_copy_lands(c->at, c->bytes);
      t->copying -= c->bytes;
    } else {
      t->copies[left++] = *c;
    }
  }
  t->copy_count = left;
}

/* -------------------------------------------------------------------------------------------------------- meetings */

/* Waits for the other threads; returns when all of them have come, or ends the thread when the launch has failed. */
static void meet(unsigned site, const char *function, thread_state where) {
  thread *t = state.threads[simt_now.thread];
  t->state = where;
  t->site = site;
  t->function = function;
  simt_fiber_leave(t->fiber);
  if (state.failed) longjmp(t->end, 1);
}

void simt_barrier(unsigned site, const char *function) { meet(site, function, AT_BARRIER); }

uint32_t simt_shuffle_xor(unsigned site, const char *function, uint32_t v, uint32_t lanes) {
  thread *t = state.threads[simt_now.thread];
  t->given = v;
  t->lanes = lanes & (SIMT_WARP - 1);
  t->vote = false;
  t->sum = NULL;
  meet(site, function, AT_WARP);
  return t->taken;
}

uint32_t simt_ballot(unsigned site, const char *function, bool vote) {
  thread *t = state.threads[simt_now.thread];
  t->given = vote;
  t->vote = true;
  t->sum = NULL;
  meet(site, function, AT_WARP);
  return t->taken;
}

void simt_multiply_add_matrix(unsigned site, const char *function, double *sum, const double *a, double b) {
  thread *t = state.threads[simt_now.thread];
  t->sum = sum;
  t->a[0] = a[0];
  t->a[1] = a[1];
  t->b = b;
  meet(site, function, AT_WARP);
}

static void run_thread(void *argument) {
  thread *t = argument;
  for (;;) {
    t->inside = true;
    if (!setjmp(t->end)) {
      const simt_launch *l = state.launch;
      if (l->pass) {
        l->pass_kernel(l->in, l->out, *l->pass, l->right);
      } else if (l->multiply) {
        l->multiply_kernel(l->in, l->out, *l->multiply, l->right);
      } else if (l->panel) {
        l->panel_kernel(l->in, l->out, *l->panel, l->right);
      } else if (l->core) {
        l->core_kernel(l->in, l->out, *l->core, l->right);
      } else if (l->strip) {
        l->strip_kernel(l->in, l->out, *l->strip, l->right);
      } else if (l->sum) {
        l->sum_kernel(l->in, l->out, *l->sum);
      } else if (l->join) {
        l->join_kernel(l->in, l->out, *l->join);
      } else if (l->staged) {
        l->staged_kernel(l->in, l->out, *l->staged);
      } else if (l->stretch) {
        l->stretch_kernel(l->in, l->out, *l->stretch);
      } else if (l->small) {
        l->small_kernel(l->in, l->out, *l->small, l->right);
      } else if (l->combine) {
        l->combine_kernel(l->in, l->out, *l->combine, l->right, l->third);
      } else if (l->flat) {
        l->flat_kernel(l->in, l->out, *l->flat);
      } else if (l->windows) {
        l->window_kernel(l->in, l->out, *l->windows);
      } else if (l->pairs) {
        l->batched(l->in, l->out, *l->args, *l->pairs);
      } else {
        l->kernel(l->in, l->out, *l->args);
      }
      if (t->copy_count) stop("the kernel", "ends while a copy is under way: a wait is missing");
    }
    t->inside = false;
    t->state = ENDED;
    simt_fiber_leave(t->fiber);
  }
}

/* ------------------------------------------------------------------------------------------------------- the block */

static void go_on(uint32_t number) {
  simt_now.thread = number;
  if (state.counts) simt_counts_lane(number % SIMT_WARP);
  simt_fiber_enter(state.threads[number]->fiber);
}

/* Says who waits where, for two threads that don't meet. */
static void fail_apart(uint32_t a, uint32_t b) {
  static const char *const where[] = {"goes on", "waits at a barrier", "waits for its warp", "has ended"};
  const thread *s = state.threads[a], *t = state.threads[b];
  fail("block %u: threads don't meet: thread %u %s%s%s, thread %u %s%s%s", simt_now.block, a, where[s->state],
       s->state == ENDED ? "" : " in ", s->state == ENDED ? "" : s->function, b, where[t->state],
       t->state == ENDED ? "" : " in ", t->state == ENDED ? "" : t->function);
}

/* All threads first .. end - 1 at one place? */
static bool together(uint32_t first, uint32_t end) {
  for (uint32_t i = first + 1; i < end; ++i) {
    const thread *s = state.threads[first], *t = state.threads[i];
    if (s->state == t->state && (s->state == ENDED || s->site == t->site)) continue;
    fail_apart(first, i);
    return false;
  }
  return true;
}

/* C += A B of a whole warp (device.h: multiply_add_matrix), in the order of the terms. */
static void multiply_matrices(uint32_t first) {
  for (uint32_t lane = 0; lane < SIMT_WARP; ++lane) {
    double *sum = state.threads[first + lane]->sum;
    for (uint32_t i = 0; i < 4; ++i) {
      for (uint32_t term = 0; term < 4; ++term) {
        const thread *row = state.threads[first + lane / 4 * 4 + term],
                     *column = state.threads[first + (lane % 4 * 2 + i % 2) * 4 + term];
        sum[i] = fma(row->a[i / 2], column->b, sum[i]);
      }
    }
  }
}

static void exchange(uint32_t first, uint32_t end) {
  uint32_t votes = 0;
  if (state.threads[first]->sum) {
    if (end - first == SIMT_WARP)
      multiply_matrices(first);
    else
      fail("block %u: %u threads multiply matrices, which takes a whole warp", simt_now.block, end - first);
    for (uint32_t i = first; i < end; ++i) state.threads[i]->state = READY;
    return;
  }
  for (uint32_t i = first; i < end; ++i)
    if (state.threads[i]->given) votes |= 1u << (i - first);
  for (uint32_t i = first; i < end; ++i) {
    thread *t = state.threads[i];
    const uint32_t other = first + ((i - first) ^ t->lanes);
    t->taken = t->vote ? votes : state.threads[other < end ? other : i]->given;
  }
  for (uint32_t i = first; i < end; ++i) state.threads[i]->state = READY;
}

/* Runs a warp until its threads wait for the block or have ended. */
static void run_warp(uint32_t first, uint32_t end) {
  for (;;) {
    bool meeting = false;
    for (uint32_t i = first; i < end && !state.failed; ++i) {
      if (state.threads[i]->state == READY) go_on(i);
      meeting = meeting || state.threads[i]->state == AT_WARP;
    }
    if (state.counts) simt_counts_flush();
    if (state.failed || !meeting || !together(first, end)) return;
    exchange(first, end);
  }
}

/* Lets the threads that still wait run to their ends, which after a fault is at once. */
static void end_all(uint32_t threads) {
  for (uint32_t i = 0; i < threads; ++i) {
    thread *t = state.threads[i];
    if (t->inside) go_on(i);
    t->copy_count = 0;
  }
}

static void run_block(const simt_launch *l, uint32_t block) {
  simt_now.block = block;
  simt_shadow_block();
  if (l->shared_bytes) memset(state.shared, POISON, l->shared_bytes);
  for (uint32_t i = 0; i < l->threads; ++i) {
    state.threads[i]->state = READY;
    state.threads[i]->group = 1;
    state.threads[i]->waited = false;
    state.threads[i]->copy_count = 0;
    state.threads[i]->loading = state.threads[i]->copying = state.threads[i]->most_flying = 0;
  }
  for (;;) {
    if (state.counts) simt_counts_interval();
    for (uint32_t i = 0; i < l->threads && !state.failed; i += SIMT_WARP)
      run_warp(i, i + SIMT_WARP < l->threads ? i + SIMT_WARP : l->threads);
    if (state.failed || !together(0, l->threads) || state.threads[0]->state == ENDED) return;
    for (uint32_t i = 0; i < l->threads; ++i) state.threads[i]->state = READY;
    simt_shadow_interval();
  }
}

/* ------------------------------------------------------------------------------------------------------ the launch */

static bool reserve(const simt_launch *l) {
  if (l->shared_bytes > state.shared_room || !state.shared) {
    free(state.shared);
    state.shared_room = l->shared_bytes < 65536 ? 65536 : l->shared_bytes;
    state.shared = aligned_alloc(128, (state.shared_room + 127) / 128 * 128);
    if (!state.shared) return false;
  }
  for (uint32_t i = 0; i < l->threads; ++i) {
    if (state.threads[i]) continue;
    thread *t = calloc(1, sizeof *t);
    if (t) t->fiber = simt_fiber_create(run_thread, t);
    if (!t || !t->fiber) {
      free(t);
      return false;
    }
    state.threads[i] = t;
  }
  return simt_shadow_begin(l);
}

static void count_flying(const simt_launch *l, simt_counts *counts) {
  for (uint32_t i = 0; i < l->threads; ++i) counts->flight_bytes += state.threads[i]->most_flying;
}

bool simt_run(const simt_launch *launch, int64_t *written, simt_counts *counts, char *error, size_t size) {
  state.launch = launch;
  state.counts = NULL;
  state.error = error;
  state.error_size = size;
  state.failed = false;
  *written = state.written = 0;
  if (launch->threads < 1 || launch->threads > SIMT_MOST_THREADS) {
    fail("a launch of %u threads; 1 to %d can be", launch->threads, SIMT_MOST_THREADS);
    return false;
  }
  if (!reserve(launch) || (counts && !simt_counts_begin(launch, counts))) {
    fail("the emulator has no memory for this launch");
    return false;
  }
  state.counts = counts;
  simt_now.threads = launch->threads;
  simt_now.async = launch->async;
  simt_now.bulk = launch->bulk;
  const uint32_t blocks = launch->only ? launch->only_count : launch->blocks;
  for (uint32_t i = 0; i < blocks && !state.failed; ++i) {
    run_block(launch, launch->only ? launch->only[i] : i);
    if (counts) count_flying(launch, counts);
  }
  *written = state.written;
  if (!state.failed) return true;
  end_all(launch->threads);
  if (counts) simt_counts_flush();
  simt_shadow_forget();
  return false;
}

void simt_cleanup(void) {
  for (uint32_t i = 0; i < SIMT_MOST_THREADS; ++i) {
    if (!state.threads[i]) continue;
    simt_fiber_free(state.threads[i]->fiber);
    free(state.threads[i]->copies);
    free(state.threads[i]);
    state.threads[i] = NULL;
  }
  free(state.shared);
  state.shared = NULL;
  simt_shadow_cleanup();
  simt_counts_cleanup();
}
