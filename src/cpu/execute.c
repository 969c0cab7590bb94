/* Execution of a prepared plan: one thread's part of it. share.c is about the threads.
 *
 * The work is cut into items (one outer position and a part of its output sequence). An item does its sequence tile by
 * tile; a tile goes segment by segment (or a step of columns at a time) through the staging buffer:
 *
 *   kernel:  input -> stage: each output run contiguous, at the same offset in a cache line as in the output
 *   scale:   stage = alpha * op(stage) + beta * out, when asked for
 *   flush:   stage -> output
 *
 * Non-temporal stores write whole lines only, since a partial line would cost a read of the line and, on most
 * processors, two more memory transactions. So the incomplete last line of a run is carried (64 bytes per segment) to
 * the next tile of the sequence, which continues the run. Only the lines at which an item's sequence starts and ends
 * are written in part, through the caches, since their other bytes belong to other items.
 *
 * The stage and the carried lines are in memory that the caller has: nothing is allocated or locked here. */
#include "cpu/execute.h"

#include "base/number.h"
#include "cpu/loops.h"

enum { LINE = CUTT_CPU_LINE };

/* The parts of a plan's scratch. flush_lines may read the line before the stage. */
static cutt_cpu_scratch parts_of(const cutt_cpu_plan *p, char *memory) {
  char(*carry)[LINE] = (char(*)[LINE])(memory + LINE + p->stage_bytes);
  return (cutt_cpu_scratch){memory + LINE, carry, carry + p->carries};
}

/* The last chunk of a split mode is shorter, which shortens the table of that mode's role. */
static void shorten(cutt_cpu_tile_at *t, cutt_cpu_role role, int64_t per, int64_t positions, int64_t w) {
  switch (role) {
    case CUTT_CPU_ROW:
      t->rows = per * positions;
      break;
    case CUTT_CPU_COLUMN:
      t->cols = per * positions;
      break;
    case CUTT_CPU_INNER:
      t->inners = per * positions;
      break;
    case CUTT_CPU_SEGMENT:
      t->segments = per * positions;
      break;
    case CUTT_CPU_SHARED:
      t->shared_run = positions * w;
      break;
    default:
      break;
  }
}

/* An item: the place of its sequence, and which tiles of it. */
typedef struct item_at {
  const char *in;
  char *out;
  int64_t chunk_m, from, to;
} item_at;

static item_at find_item(const cutt_cpu_job *j, const cutt_cpu_outer_at *o) {
  const cutt_cpu_plan *p = j->p;
  item_at it = {j->in + o->in, j->out + o->out, o->chunk, o->part * p->sequence_part, 0};
  it.to = it.from + p->sequence_part;
  if (p->parts == 1) {
    it.to = p->sequence_length;
    return it;
  }
  /* An item never begins with a short chunk, which is left to the item before. */
  const int64_t chunks = p->split_k.chunks;
  if (chunks > 1 && p->split_k.last < p->split_k.full) {
    if (it.from % chunks == chunks - 1) ++it.from;
    if (it.to % chunks == chunks - 1) ++it.to;
  }
  if (it.to > p->sequence_length) it.to = p->sequence_length;
  return it;
}

/* Is a tile with this chunk prefetched by the table of a whole one? Of a short one that is more than there is. */
static bool prefetches(const cutt_cpu_split *split, int64_t chunk) {
  return chunk < split->chunks - 1 || 2 * split->last >= split->full;
}

/* Items [first, end), one after another, each tile prefetching the next one, unless that reads the same again. */
static void run_some(const cutt_cpu_job *j, int64_t first, int64_t end, cutt_cpu_scratch *s) {
  const cutt_cpu_plan *p = j->p;
  cutt_cpu_outer_at outer;
  cutt_cpu_outer_begin(p, first, &outer);
  item_at next = find_item(j, &outer);
  for (int64_t item = first; item < end; ++item) {
    const item_at it = next;
    cutt_cpu_sequence_at q, after;
    q.in = q.out = q.chunk = after.in = 0; /* always set below, which not every compiler sees */
    if (item + 1 < end) {
      cutt_cpu_outer_next(p, &outer);
      next = find_item(j, &outer);
      if (next.from < next.to) cutt_cpu_sequence_begin(p, next.from, &after);
    }
    if (it.from < it.to) cutt_cpu_sequence_begin(p, it.from, &q);
    for (int64_t at = it.from; at < it.to; ++at) {
      cutt_cpu_tile_at t = {it.in + q.in, it.out + q.out, p->rows,       p->cols,       p->apart,
                            p->inners,    p->segments,    p->shared_run, at == it.from, at + 1 == it.to};
      if (it.chunk_m == p->split_m.chunks - 1) {
        shorten(&t, p->role_m, p->per_m, p->split_m.last, p->w);
        t.apart = p->apart_last;
      }
      if (q.chunk == p->split_k.chunks - 1) shorten(&t, p->role_k, p->per_k, p->split_k.last, p->w);
      cutt_cpu_ahead ahead = {.start = p->ahead,
                              .bytes = p->ahead_bytes,
                              .to = p->prefetch,
                              .rows = !p->tiles_ahead,
                              .one_line = p->one_line,
                              .more = p->ahead_more,
                              .room = p->ahead_room};
      if (at + 1 < it.to) {
        cutt_cpu_sequence_next(p, &q);
        ahead.base = it.in + q.in;
        if (ahead.base != t.in && prefetches(&p->split_k, q.chunk)) ahead.runs = p->aheads;
      } else if (item + 1 < end && next.from < next.to) {
        ahead.base = next.in + after.in;
        if (ahead.base != t.in && prefetches(&p->split_m, next.chunk_m)) ahead.runs = p->aheads;
      }
      if (p->transpose) {
        cutt_cpu_transpose_tile(j, &t, s, &ahead);
      } else {
        cutt_cpu_gather_tile(j, &t, s, &ahead);
      }
    }
  }
}

void cutt_cpu_run(const cutt_cpu_plan *p, const void *in, void *out, int64_t first, int64_t end, char *memory) {
  cutt_cpu_job j = {p,
                    (const char *)in + p->in_start,
                    (char *)out + p->out_start,
                    (const char *)in + p->in_low,
                    (const char *)in + p->in_high,
                    p->direct};
  if (p->non_temporal && ((uintptr_t)j.out & (uintptr_t)(p->w - 1)) != 0)
    j.direct = false; /* the shift kernel shifts whole elements */
  if (p->kernel == CUTT_CPU_COPY) {
    cutt_cpu_copy(p, j.in, j.out, first * CUTT_CPU_COPY_GRAIN, smaller(end * CUTT_CPU_COPY_GRAIN, p->bytes), memory);
  } else {
    cutt_cpu_scratch s = parts_of(p, memory);
    run_some(&j, first, end, &s);
  }
}
