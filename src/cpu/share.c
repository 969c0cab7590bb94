/* Executions by a team of threads.
 *
 * Executions lie one behind the other on a line, each as long as its work: the shares that its plan has, if there is only
 * one, and else its bytes. Threads take stretches of the line from a common counter, as far as the line goes. A stretch may
 * be a part of a large execution or many small ones, so that one call with thousands of small tensors wakes the threads
 * once, and each does about as much as the others. Where an execution is cut, it is between two of its items. Each thread
 * finds its stretches by walking along the line, once in all, so there is nothing to be allocated.
 *
 * An execution's scratch is on the stack if it is small, and else a block of scratch (scratch.h). */
#include <stdalign.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/number.h"
#include "cpu/enumerate.h"
#include "cpu/prepared.h"
#include "runtime/host/scratch.h"
#include "runtime/host/team.h"

/* Scratch of at most this size is on the stack. */
enum { SMALL_SCRATCH = 4096 };

/* Stretches of several executions: so many for each thread, and no shorter than that. */
enum { STRETCHES_PER_THREAD = 8, MIN_STRETCH_BYTES = 64 * 1024 };

__extension__ typedef __int128 int128;

typedef struct queue {
  const cutt_executions *e;
  int64_t length;  /* of the line */
  int64_t stretch; /* what a thread takes at a time */
  atomic_llong next;
  char *callers; /* scratch of the calling thread; NULL: each member has its scratch on its stack */
} queue;

static const cutt_cpu_plan *plan_of(const cutt_executions *e, int64_t i) { return e->prepared(e->of, i); }

static int64_t length_of(const cutt_executions *e, const cutt_cpu_plan *p) {
  return !p ? 0 : e->count == 1 ? p->shares : p->bytes;
}

/* The items of an execution that lie before a place on its part of the line. */
static int64_t items_before(const cutt_cpu_plan *p, int64_t place, int64_t length) {
  if (place <= 0) return 0;
  return place >= length ? p->items : (int64_t)((int128)p->items * place / length);
}

static void take_stretches(queue *q, char *memory) {
  const cutt_executions *e = q->e;
  const cutt_cpu_plan *fenced = NULL; /* one that has stored past the caches */
  int64_t at = 0, begin = 0;          /* the execution that the walk has come to, and its place */
  while (at < e->count) {
    const int64_t from = atomic_fetch_add_explicit(&q->next, q->stretch, memory_order_relaxed);
    if (from >= q->length) break;
    const int64_t to = from + q->stretch;
    for (; at < e->count && begin < to; ++at) {
      const cutt_cpu_plan *p = plan_of(e, at);
      const int64_t length = length_of(e, p), end = begin + length;
      if (end > from && length > 0) {
        const int64_t first = items_before(p, from - begin, length), last = items_before(p, to - begin, length);
        if (first < last) cutt_cpu_run(p, e->in[0][at], e->out[at], first, last, memory);
        if (p->non_temporal) fenced = p;
      }
      if (end > to) break; /* the rest is of a later stretch */
      begin = end;
    }
  }
  if (fenced) fenced->kernels->fence();
}

static void take_stretches_on_stack(queue *q) {
  alignas(CUTT_CPU_LINE) char small[SMALL_SCRATCH];
  take_stretches(q, small);
}

/* A worker that gets no memory leaves the work to the others. */
static void join_in(void *what, int me, int team) {
  queue *q = what;
  (void)team;
  if (!q->callers) {
    take_stretches_on_stack(q);
    return;
  }
  char *memory = me ? cutt_scratch_take() : q->callers;
  if (!memory) return;
  take_stretches(q, memory);
  if (me) cutt_scratch_give(memory);
}

/* The line, its stretches, and how many threads are to take them, 0 where there is nothing to do; *scratch_bytes is the most
 * that one of them needs. */
static int share_out(queue *q, int64_t *scratch_bytes) {
  const cutt_executions *e = q->e;
  int threads = 1, most = e->threads;
  for (int64_t i = 0; i < e->count; ++i) {
    const cutt_cpu_plan *p = plan_of(e, i);
    if (!p) continue;
    /* No machine gets to the end of such a line. */
    if (__builtin_add_overflow(q->length, length_of(e, p), &q->length)) q->length = INT64_MAX / 2;
    *scratch_bytes = larger(*scratch_bytes, p->scratch_bytes);
    threads = larger(threads, p->threads);
    if (!most) most = p->most_threads;
  }
  if (q->length == 0) return 0;
  q->stretch = 1;
  if (e->count > 1) {
    threads = smaller(most, larger(threads, cutt_cpu_threads_for(q->length, most)));
    q->stretch = larger(MIN_STRETCH_BYTES, q->length / ((int64_t)threads * STRETCHES_PER_THREAD));
  }
  threads = (int)smaller(threads, (q->length + q->stretch - 1) / q->stretch);
  if (threads <= 1) q->stretch = q->length;
  return threads;
}

static void run_whole(const cutt_cpu_plan *p, const void *in, void *out, char *memory) {
  cutt_cpu_run(p, in, out, 0, p->items, memory);
  if (p->non_temporal) p->kernels->fence();
}

/* Not inlined, so that this buffer and that of take_stretches_on_stack are never on the stack together. */
__attribute__((noinline)) static void run_whole_on_stack(const cutt_cpu_plan *p, const void *in, void *out) {
  alignas(CUTT_CPU_LINE) char small[SMALL_SCRATCH];
  run_whole(p, in, out, small);
}

static cuttResult no_scratch(void) {
  return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch", CUTT_SCRATCH_BYTES);
}

/* One execution by the calling thread: a small tensor takes less time than a queue does. */
static cuttResult run_alone(const cutt_cpu_plan *p, const void *in, void *out) {
  if (p->scratch_bytes <= SMALL_SCRATCH) {
    run_whole_on_stack(p, in, out);
    return CUTT_SUCCESS;
  }
  char *memory = cutt_scratch_take();
  if (!memory) return no_scratch();
  run_whole(p, in, out, memory);
  cutt_scratch_give(memory);
  return CUTT_SUCCESS;
}

cuttResult cutt_cpu_execute(const cutt_executions *e, cudaStream_t stream) {
  (void)stream;
  if (e->in[1]) return cutt_error(CUTT_INTERNAL_ERROR, "on the CPU the second operand is the output");
  if (e->count == 1) {
    const cutt_cpu_plan *p = plan_of(e, 0);
    if (!p) return CUTT_SUCCESS;
    if (p->shares == 1) return run_alone(p, e->in[0][0], e->out[0]);
  }
  queue q = {.e = e};
  int64_t scratch_bytes = 0;
  const int threads = share_out(&q, &scratch_bytes);
  if (threads == 0) return CUTT_SUCCESS;
  if (scratch_bytes > SMALL_SCRATCH) {
    q.callers = cutt_scratch_take();
    if (!q.callers) return no_scratch();
  }
  if (threads > 1) {
    cutt_team_run(threads, join_in, &q);
  } else {
    join_in(&q, 0, 1);
  }
  if (q.callers) cutt_scratch_give(q.callers);
  return CUTT_SUCCESS;
}
