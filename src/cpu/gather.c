/* A tile whose runs are gathered from the input: parts that are contiguous on both sides, or elements one by one. */
#include <string.h>

#include "base/number.h"
#include "cpu/execute.h"

enum { LINE = CUTT_CPU_LINE };

/* Bytes that are gathered between prefetches; those of a run that is scaled where it is. */
enum { GATHER_BYTES = 512, GATHER_OVERRUN = 32, SCALED_RUN = 256 };

/* The rows of a run that can be gathered through windows; returns how many. What is left over is for single
 * elements. */
static int64_t gather_windows(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *to, const char *from,
                              cutt_cpu_ahead *ahead, cutt_cpu_drain *d) {
  const cutt_cpu_plan *p = j->p;
  const bool whole = from + p->windows.low >= j->in_begin &&
                     cutt_cpu_may_overrun(j, t, from + p->row_max + p->w, from + p->windows.high);
  const bool guarded = !whole && p->guards_windows;
  if (!whole && !guarded) return 0;
  /* Windows of a vector that a tile has in part may be of elements that are not there. */
  const int64_t per = p->window_vector / p->w, rows = !guarded || t->rows == p->rows ? t->rows : t->rows / per * per;
  const int64_t vectors = (rows + per - 1) / per, few = GATHER_BYTES / p->window_vector;
  for (int64_t v = 0; v < vectors; v += few) {
    p->window(to, from, &p->windows, v, smaller(vectors, v + few), rows * p->w, guarded);
    if (p->step_ahead > 0 && v < p->windows.even)
      cutt_cpu_prefetch_beyond(from + p->windows.offset[0] + v * p->windows.step, few * p->windows.step, p->step_ahead);
    cutt_cpu_drain_lines(d, smaller((v + few) * p->window_vector, rows * p->w));
    cutt_cpu_prefetch(ahead, GATHER_BYTES / LINE);
  }
  return rows;
}

/* Shared runs to an output of another stride. Its lines are read before they are written in part, and where they are in memory they
 * are asked for before that: behind a run is often the next one, and asking for what is not there does no harm. */
static void scatter_runs(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *to, const char *from,
                         cutt_cpu_ahead *ahead) {
  enum { DISTANCE = 2048 };
  const cutt_cpu_plan *p = j->p;
  const int64_t elements = t->shared_run / p->w, step = larger(LINE, p->run_stride);
  const int64_t few = ahead->runs == 0 && !p->asks_for_output ? elements : GATHER_BYTES / p->w;
  for (int64_t r = 0; r < t->rows; ++r) {
    for (int64_t i = 0; i < elements; i += few) {
      const int64_t some = smaller(elements - i, few), span = p->asks_for_output ? some * p->run_stride : 0;
      char *const first = to + (r * elements + i) * p->run_stride;
      for (int64_t at = DISTANCE; at < DISTANCE + span; at += step) __builtin_prefetch(first + at, 1);
      p->scatter(first, p->run_stride, from + p->row[r] + i * p->w, some, p->w);
      cutt_cpu_prefetch(ahead, GATHER_BYTES / LINE);
    }
  }
}

/* Elements from anywhere to an output with gaps, one by one. */
static void spread_elements(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *to, const char *from,
                            cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const int64_t few = ahead->runs == 0 ? t->rows : GATHER_BYTES / p->w;
  for (int64_t r = 0; r < t->rows; r += few) {
    p->kernels->spread(to + r * p->run_stride, p->run_stride, from, p->row + r, smaller(t->rows - r, few), p->w);
    cutt_cpu_prefetch(ahead, GATHER_BYTES / LINE);
  }
}

/* Elements in_step bytes apart to one run past the caches, in whole lines: the one that the tile before has left unfinished is put together
 * with its bytes, and so is the last one by the next tile, but for an item's first and last. */
static void skip_past(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *dst, const char *src, char *line,
                      char *carry, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const int64_t lead = (int64_t)((uintptr_t)dst & (LINE - 1));
  const int64_t head = lead > 0 ? smaller(t->rows, (LINE - lead) / p->w) : 0, begun = lead + head * p->w;
  if (head > 0 && t->first) {
    p->skip(dst, src, head, p->in_step, false);
  } else if (head > 0) {
    memcpy(line, carry + LINE - lead, (size_t)lead);
    p->skip(line + lead, src, head, p->in_step, false);
    if (begun < LINE) { /* no more than that */
      if (t->last) p->kernels->copy(dst - lead, line, begun);
      memcpy(carry + LINE - begun, line, (size_t)begun);
      return;
    }
    p->kernels->store_lines(dst - lead, line, 1);
  }
  const int64_t whole = (t->rows - head) * p->w / LINE * LINE / p->w, done = head + whole, rest = t->rows - done;
  const int64_t few = ahead->runs > 0 ? GATHER_BYTES / p->w : larger(1, whole);
  for (int64_t i = head; i < done; i += few) {
    p->skip(dst + i * p->w, src + i * p->in_step, smaller(done - i, few), p->in_step, true);
    cutt_cpu_prefetch(ahead, GATHER_BYTES / LINE);
  }
  p->skip(t->last ? dst + done * p->w : carry + LINE - rest * p->w, src + done * p->in_step, rest, p->in_step, false);
}

static void gather_run(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *to, const char *from,
                       cutt_cpu_ahead *ahead, cutt_cpu_drain *d) {
  const cutt_cpu_plan *p = j->p;
  if (p->repeats > 1) {
    const int64_t whole = t->rows / p->repeats, rest = t->rows % p->repeats, r = whole * p->repeats;
    p->kernels->repeat(to, NULL, from, p->row, p->repeats, whole, p->repeats, p->w);
    if (rest > 0) p->kernels->repeat(to + r * p->w, NULL, from, p->row + r, 1, 1, rest, p->w);
    return;
  }
  if (p->skip) {
    p->skip(to, from, t->rows, p->in_step, false);
    return;
  }
  if (p->in_step != 0 && ahead->runs == 0 && !d->writes) {
    p->kernels->strided(to, from, p->in_step, t->rows, p->w, p->step_ahead);
    return;
  }
  int64_t r = p->window ? gather_windows(j, t, to, from, ahead, d) : 0;
  const bool whole = ahead->runs == 0 && !d->writes;
  const int64_t few = whole ? t->rows : t->shared_run < GATHER_BYTES ? GATHER_BYTES / t->shared_run : 1;
  const int lines = (int)(few * t->shared_run / LINE);
  const char *highest = from + p->row_max;
  const bool overrun = cutt_cpu_may_overrun(j, t, highest + t->shared_run, highest + GATHER_OVERRUN);
  for (; r < t->rows; r += few) {
    p->kernels->gather(to + r * t->shared_run, from, p->row + r, smaller(t->rows - r, few), t->shared_run, overrun);
    cutt_cpu_drain_lines(d, smaller(t->rows, r + few) * t->shared_run);
    cutt_cpu_prefetch(ahead, lines);
  }
}

/* Segments of short runs that are neighbours in the input, from one on; returns how many have been done that way. */
static int64_t turn_segments(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s, int64_t segment,
                             cutt_cpu_ahead *ahead) {
  enum { MOST = 5 };
  const cutt_cpu_plan *p = j->p;
  const int64_t beside = smaller(p->beside, t->segments), left = beside - segment % beside, some = p->turned;
  if (beside < some || t->rows < 4 * some || (left < some && !j->direct)) return 0;
  /* The last ones are done with some of those before, whose elements are written again. */
  const int64_t first = left < some ? segment - (some - left) : segment;
  const char *src = t->in + p->segment_in[p->turned_back ? first + some - 1 : first];
  const char *highest = src + p->row_max;
  if (!cutt_cpu_may_overrun(j, t, highest + some * t->shared_run, highest + 16)) return 0;
  char *out[MOST], *to[MOST];
  int64_t lead[MOST];
  for (int64_t i = 0; i < some; ++i) {
    const int64_t at = p->turned_back ? some - 1 - i : i; /* in the input */
    out[at] = to[at] = t->out + p->segment_out[first + i];
    if (j->direct) continue;
    to[at] = s->stage + at * p->stage_stride;
    lead[at] = cutt_cpu_begin_run(j, t, out[at], to[at], s->carry[p->non_temporal ? first + i : 0]);
    to[at] += lead[at];
  }
  p->turn(to, src, p->row, t->rows, t->shared_run, ahead);
  for (int64_t i = 0; i < some && !j->direct; ++i) {
    const int64_t at = p->turned_back ? some - 1 - i : i;
    cutt_cpu_flush_run(j, t, out[at], s->stage + at * p->stage_stride, lead[at], t->rows * t->shared_run,
                       s->carry[p->non_temporal ? first + i : 0], 0);
  }
  return smaller(left, some);
}

/* Long shared runs with their scalars. What is added to is prefetched, and at the end what comes after it, at `next`. */
static void scale_runs(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *to, const char *next, const char *from,
                       cutt_cpu_ahead *ahead) {
  enum { DISTANCE = 2 * GATHER_BYTES };
  const cutt_cpu_plan *p = j->p;
  const int64_t base = p->w / p->parts_per_element;
  int64_t left = t->rows * t->shared_run;
  for (int64_t r = 0; r < t->rows; ++r, to += t->shared_run) {
    for (int64_t i = 0; i < t->shared_run; i += GATHER_BYTES) {
      const int64_t bytes = smaller(t->shared_run - i, GATHER_BYTES);
      for (int64_t l = DISTANCE; p->scale.reads_out && l < DISTANCE + bytes; l += LINE) {
        if (l < left) {
          __builtin_prefetch(to + i + l, 1);
        } else if (next) {
          __builtin_prefetch(next + (l - left), 1);
        }
      }
      p->kernels->scale(to + i, from + p->row[r] + i, to + i, bytes / base, &p->scale);
      cutt_cpu_prefetch(ahead, GATHER_BYTES / LINE);
      left -= bytes;
    }
  }
}

/* One run of each of some segments, then the next one of each. */
static void gather_segments(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_ahead *ahead) {
  enum { SOME = 64 };
  const cutt_cpu_plan *p = j->p;
  const int64_t most = ahead->runs == 0 ? SOME : larger(1, smaller(SOME, GATHER_BYTES / (t->rows * t->shared_run)));
  const int64_t step = p->run_stride == p->w ? t->shared_run : p->run_stride; /* of elements, where there are gaps */
  for (int64_t s = 0; s < t->segments; s += most) {
    const int64_t some = smaller(most, t->segments - s);
    for (int64_t r = 0; r < t->rows; ++r)
      p->kernels->runs(t->out + r * step, p->segment_out + s, t->in + p->row[r], p->segment_in + s, some,
                       t->shared_run);
    cutt_cpu_prefetch(ahead, (int)((some * t->rows * t->shared_run + LINE - 1) / LINE));
  }
}

void cutt_cpu_gather_tile(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s,
                          cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  if (p->repeats > 1 && t->rows <= p->repeats && j->direct && !p->non_temporal) { /* each segment is one element */
    p->kernels->repeat(t->out, p->segment_out, t->in, p->segment_in, 1, t->segments, t->rows, p->w);
    return;
  }
  if (p->by_segments) {
    gather_segments(j, t, ahead);
    return;
  }
  for (int64_t segment = 0; segment < t->segments; ++segment) {
    const int64_t turned = p->turn ? turn_segments(j, t, s, segment, ahead) : 0;
    if (turned > 0) {
      segment += turned - 1;
      continue;
    }
    char *dst = t->out + p->segment_out[segment];
    const char *src = t->in + p->segment_in[segment];
    char *carry = s->carry[p->non_temporal ? segment : 0];
    if (j->direct && p->run_stride != p->w) {
      if (p->shared_run > p->w) {
        scatter_runs(j, t, dst, src, ahead);
      } else {
        spread_elements(j, t, dst, src, ahead);
      }
      continue;
    }
    if (p->scale.active && !p->non_temporal && p->run_stride == p->w && t->shared_run >= SCALED_RUN) {
      const bool more = segment + 1 < t->segments && t->rows * t->shared_run >= 2 * GATHER_BYTES;
      scale_runs(j, t, dst, more ? t->out + p->segment_out[segment + 1] : NULL, src, ahead);
      continue;
    }
    if (j->direct && p->non_temporal && t->shared_run >= LINE) { /* not the rest of a run that was cut */
      (p->broadcasts ? p->kernels->join_again : p->kernels->join_runs)(dst, carry, src, p->row, t->rows, t->shared_run,
                                                                       t->first, t->last, ahead);
      continue;
    }
    if (j->direct && p->non_temporal && p->repeats > 1 && p->repeats * p->w >= LINE &&
        (t->rows % p->repeats == 0 || t->rows % p->repeats * p->w >= LINE)) {
      p->kernels->join_repeats(dst, carry, src, p->row, t->rows, p->repeats, p->w, t->first, t->last);
      continue;
    }
    if (j->direct && p->skip && p->non_temporal) {
      skip_past(j, t, dst, src, s->stage, carry, ahead);
      continue;
    }
    cutt_cpu_drain written = {.at = 0};
    if (j->direct && !p->non_temporal) {
      gather_run(j, t, dst, src, ahead, &written);
      continue;
    }
    const int64_t lead = cutt_cpu_begin_run(j, t, dst, s->stage, carry);
    if (p->non_temporal && !p->scale.active)
      written = (cutt_cpu_drain){true, p->kernels, dst - lead, s->stage, lead, t->first && lead > 0 ? LINE : 0};
    gather_run(j, t, s->stage + lead, src, ahead, &written);
    cutt_cpu_flush_run(j, t, dst, s->stage, lead, t->rows * t->shared_run, carry, written.at);
  }
}
