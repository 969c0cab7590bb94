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
#include <stdalign.h>
#include <string.h>

#include "base/number.h"
#include "cpu/loops.h"
#include "cpu/prepared.h"

enum { LINE = CUTT_CPU_LINE };

/* One execution: what all its items share. */
typedef struct job {
  const cutt_cpu_plan *p;
  const char *in; /* element (0, ..., 0) */
  char *out;
  const char *in_begin, *in_end; /* the bytes that the input spans */
  bool direct;                   /* kernels write the output themselves, nothing is staged */
} job;

/* One tile: its place, its size, and whether it begins or ends a sequence. */
typedef struct tile_at {
  const char *in;
  char *out;
  int64_t rows, cols, inners, segments, shared_run;
  bool first, last; /* tile of the item's part of the sequence */
} tile_at;

/* Both are aligned to a cache line. */
typedef struct scratch {
  char *stage;
  char (*carry)[LINE]; /* the last 64 bytes of each segment's run so far */
  char (*head)[LINE];  /* where columns follow one another: the first 64 bytes of each segment's run */
} scratch;

/* The parts of a plan's scratch. flush_lines may read the line before the stage. */
static scratch parts_of(const cutt_cpu_plan *p, char *memory) {
  char(*carry)[LINE] = (char(*)[LINE])(memory + LINE + p->stage_bytes);
  return (scratch){memory + LINE, carry, carry + p->carries};
}

/* ---------------------------------------------------------------------------------------------------------- flush */

/* A run that is staged little by little, of which whole lines are written in between: memory does neither at its speed while much is
 * read and then much written. `at`: bytes that are written, from the beginning of the line in which the run begins. */
typedef struct drain {
  const cutt_cpu_kernels *kernels; /* NULL: nothing is written in between */
  char *line, *stage;
  int64_t lead, at;
} drain;

/* So many bytes of the run are staged. */
static void drain_lines(drain *d, int64_t bytes) {
  if (!d->kernels || d->lead + bytes < d->at + LINE) return;
  const int64_t lines = (d->lead + bytes - d->at) / LINE;
  d->kernels->store_lines(d->line + d->at, d->stage + d->at, lines);
  d->at += lines * LINE;
}

/* Writes a run of n bytes, staged at `stage + lead`, to dst in whole lines, but for what has been written; lead = dst mod 64. */
static void flush_lines(const cutt_cpu_kernels *k, char *dst, char *stage, int64_t lead, int64_t n, bool first,
                        bool last, char *carry, int64_t written) {
  int64_t at = 0; /* bytes written, from the beginning of dst's line */
  const int64_t end = lead + n;
  char *line = dst - lead;
  if (first && lead > 0) {
    at = LINE;
    const int64_t head = end < LINE ? n : LINE - lead;
    k->copy(dst, stage + lead, head);
    if (end <= LINE) return; /* not continued by another tile: see share_out */
  }
  at = larger(at, written);
  const int64_t lines = (end - at) / LINE;
  k->store_lines(line + at, stage + at, lines);
  at += lines * LINE;
  if (last) {
    k->copy(line + at, stage + at, end - at);
  } else {
    memcpy(carry, stage + end - LINE, LINE);
  }
}

/* Elements of an output run with gaps that are scaled at a time, and so gathered first where they are read. */
enum { SCALED_ELEMENTS = 64 };

/* A staged run with its scalars, to where it is. */
static void scale_strided(const job *j, char *dst, char *run, int64_t elements) {
  const cutt_cpu_plan *p = j->p;
  char old[SCALED_ELEMENTS * 16];
  for (int64_t i = 0; i < elements; i += SCALED_ELEMENTS) {
    const int64_t some = smaller(elements - i, SCALED_ELEMENTS);
    char *const from = run + i * p->w, *const to = dst + i * p->run_stride;
    for (int64_t k = 0; p->scale.reads_out && k < some; ++k) {
      p->kernels->copy(old + k * p->w, to + k * p->run_stride, p->w);
    }
    p->kernels->scale(from, from, old, some * p->parts_per_element, &p->scale);
    p->scatter(to, p->run_stride, from, some, p->w);
  }
}

static void flush(const job *j, const tile_at *t, char *dst, char *stage, int64_t lead, int64_t bytes, char *carry,
                  int64_t written) {
  const cutt_cpu_plan *p = j->p;
  char *const run = stage + lead;
  const int64_t elements = bytes / p->w;
  if (p->non_temporal) {
    if (p->scale.active) p->kernels->scale(run, run, run, elements * p->parts_per_element, &p->scale);
    flush_lines(p->kernels, dst, stage, lead, bytes, t->first, t->last, carry, written);
  } else if (p->run_stride != p->w) {
    if (p->scale.active) {
      scale_strided(j, dst, run, elements);
    } else {
      p->scatter(dst, p->run_stride, run, elements, p->w);
    }
  } else if (p->scale.active) {
    p->kernels->scale(dst, run, dst, elements * p->parts_per_element, &p->scale);
  } else {
    p->kernels->copy(dst, run, bytes);
  }
}

/* Puts what the tile before left of dst's line into the stage; returns the offset in that line at which the run goes
 * on. */
static int64_t begin_run(const job *j, const tile_at *t, const char *dst, char *stage, const char *carry) {
  if (!j->p->non_temporal) return 0;
  const int64_t lead = (int64_t)((uintptr_t)dst & (LINE - 1));
  if (!t->first && lead > 0) memcpy(stage, carry + LINE - lead, LINE);
  return lead;
}

/* ------------------------------------------------------------------------------------------------------------ tile */

/* Bytes that are gathered between prefetches; those of a run that is scaled where it is. */
enum { GATHER_BYTES = 512, GATHER_OVERRUN = 32, SCALED_RUN = 256 };

/* Reads may reach beyond elements, but not into a page without elements, which need not be mapped. 4096 bytes is the
 * smallest page there is, and an address range within such a page is within a larger one too. */
static bool same_page(const char *a, const char *b) { return (((uintptr_t)a ^ (uintptr_t)b) & ~(uintptr_t)4095) == 0; }

/* The row at the highest address has its elements up to `last`. May it be read up to `end`, and the other rows as far
 * beyond their elements? Below `last` every page has an element unless the rows are apart. */
static bool may_overrun(const job *j, const tile_at *t, const char *last, const char *end) {
  const cutt_cpu_plan *p = j->p;
  if (end > j->in_end) return false;
  if (!p->gaps) return true;
  return !p->rows_apart && t->rows == p->rows &&
         same_page(last - 1, end - 1); /* of fewer rows, another one is the highest */
}

/* The rows of a run that can be gathered through windows; returns how many. What is left over is for single
 * elements. */
static int64_t gather_windows(const job *j, const tile_at *t, char *to, const char *from, cutt_cpu_ahead *ahead,
                              drain *d) {
  const cutt_cpu_plan *p = j->p;
  const bool whole =
      from + p->windows.low >= j->in_begin && may_overrun(j, t, from + p->row_max + p->w, from + p->windows.high);
  const bool guarded = !whole && p->guards_windows;
  if (!whole && !guarded) return 0;
  /* Windows of a vector that a tile has in part may be of elements that are not there. */
  const int64_t per = p->window_vector / p->w, rows = !guarded || t->rows == p->rows ? t->rows : t->rows / per * per;
  const int64_t vectors = (rows + per - 1) / per, few = GATHER_BYTES / p->window_vector;
  for (int64_t v = 0; v < vectors; v += few) {
    p->window(to, from, &p->windows, v, smaller(vectors, v + few), rows * p->w, guarded);
    if (p->step_ahead > 0 && v < p->windows.even)
      cutt_cpu_prefetch_beyond(from + p->windows.offset[0] + v * p->windows.step, few * p->windows.step, p->step_ahead);
    drain_lines(d, smaller((v + few) * p->window_vector, rows * p->w));
    cutt_cpu_prefetch(ahead, GATHER_BYTES / LINE);
  }
  return rows;
}

/* Shared runs to an output of another stride. Its lines are read before they are written in part, and where they are in memory they
 * are asked for before that: behind a run is often the next one, and asking for what is not there does no harm. */
static void scatter_runs(const job *j, const tile_at *t, char *to, const char *from, cutt_cpu_ahead *ahead) {
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

static void gather_run(const job *j, const tile_at *t, char *to, const char *from, cutt_cpu_ahead *ahead, drain *d) {
  const cutt_cpu_plan *p = j->p;
  if (p->repeats > 1) {
    const int64_t whole = t->rows / p->repeats, rest = t->rows % p->repeats, r = whole * p->repeats;
    p->kernels->repeat(to, NULL, from, p->row, p->repeats, whole, p->repeats, p->w);
    if (rest > 0) p->kernels->repeat(to + r * p->w, NULL, from, p->row + r, 1, 1, rest, p->w);
    return;
  }
  if (p->skip) {
    p->skip(to, from, t->rows, p->in_step, j->direct && p->non_temporal);
    return;
  }
  if (p->in_step != 0 && ahead->runs == 0 && !d->kernels) {
    p->kernels->strided(to, from, p->in_step, t->rows, p->w, p->step_ahead);
    return;
  }
  int64_t r = p->window ? gather_windows(j, t, to, from, ahead, d) : 0;
  const bool whole = ahead->runs == 0 && !d->kernels;
  const int64_t few = whole ? t->rows : t->shared_run < GATHER_BYTES ? GATHER_BYTES / t->shared_run : 1;
  const int lines = (int)(few * t->shared_run / LINE);
  const char *highest = from + p->row_max;
  const bool overrun = may_overrun(j, t, highest + t->shared_run, highest + GATHER_OVERRUN);
  for (; r < t->rows; r += few) {
    p->kernels->gather(to + r * t->shared_run, from, p->row + r, smaller(t->rows - r, few), t->shared_run, overrun);
    drain_lines(d, smaller(t->rows, r + few) * t->shared_run);
    cutt_cpu_prefetch(ahead, lines);
  }
}

/* Segments of short runs that are neighbours in the input, from one on; returns how many have been done that way. */
static int64_t turn_segments(const job *j, const tile_at *t, scratch *s, int64_t segment, cutt_cpu_ahead *ahead) {
  enum { MOST = 5 };
  const cutt_cpu_plan *p = j->p;
  const int64_t beside = smaller(p->beside, t->segments), left = beside - segment % beside, some = p->turned;
  if (beside < some || t->rows < 4 * some || (left < some && !j->direct)) return 0;
  /* The last ones are done with some of those before, whose elements are written again. */
  const int64_t first = left < some ? segment - (some - left) : segment;
  const char *src = t->in + p->segment_in[p->turned_back ? first + some - 1 : first];
  const char *highest = src + p->row_max;
  if (!may_overrun(j, t, highest + some * t->shared_run, highest + 16)) return 0;
  char *out[MOST], *to[MOST];
  int64_t lead[MOST];
  for (int64_t i = 0; i < some; ++i) {
    const int64_t at = p->turned_back ? some - 1 - i : i; /* in the input */
    out[at] = to[at] = t->out + p->segment_out[first + i];
    if (j->direct) continue;
    to[at] = s->stage + at * p->stage_stride;
    lead[at] = begin_run(j, t, out[at], to[at], s->carry[p->non_temporal ? first + i : 0]);
    to[at] += lead[at];
  }
  p->turn(to, src, p->row, t->rows, t->shared_run, ahead);
  for (int64_t i = 0; i < some && !j->direct; ++i) {
    const int64_t at = p->turned_back ? some - 1 - i : i;
    flush(j, t, out[at], s->stage + at * p->stage_stride, lead[at], t->rows * t->shared_run,
          s->carry[p->non_temporal ? first + i : 0], 0);
  }
  return smaller(left, some);
}

/* Long shared runs with their scalars. What is added to is prefetched, and at the end what comes after it, at `next`. */
static void scale_runs(const job *j, const tile_at *t, char *to, const char *next, const char *from,
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
static void gather_segments(const job *j, const tile_at *t, cutt_cpu_ahead *ahead) {
  enum { SOME = 64 };
  const cutt_cpu_plan *p = j->p;
  const int64_t most = ahead->runs == 0 ? SOME : larger(1, smaller(SOME, GATHER_BYTES / (t->rows * t->shared_run)));
  for (int64_t s = 0; s < t->segments; s += most) {
    const int64_t some = smaller(most, t->segments - s);
    for (int64_t r = 0; r < t->rows; ++r)
      p->kernels->runs(t->out + r * t->shared_run, p->segment_out + s, t->in + p->row[r], p->segment_in + s, some,
                       t->shared_run);
    cutt_cpu_prefetch(ahead, (int)((some * t->rows * t->shared_run + LINE - 1) / LINE));
  }
}

static void gather_tile(const job *j, const tile_at *t, scratch *s, cutt_cpu_ahead *ahead) {
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
      scatter_runs(j, t, dst, src, ahead);
      continue;
    }
    if (p->scale.active && !p->non_temporal && p->run_stride == p->w && t->shared_run >= SCALED_RUN) {
      const bool more = segment + 1 < t->segments && t->rows * t->shared_run >= 2 * GATHER_BYTES;
      scale_runs(j, t, dst, more ? t->out + p->segment_out[segment + 1] : NULL, src, ahead);
      continue;
    }
    if (j->direct && p->non_temporal && t->shared_run >= LINE) { /* not the rest of a run that was cut */
      p->kernels->join_runs(dst, carry, src, p->row, t->rows, t->shared_run, t->first, t->last, ahead);
      continue;
    }
    if (j->direct && p->non_temporal && p->repeats > 1 && p->repeats * p->w >= LINE &&
        (t->rows % p->repeats == 0 || t->rows % p->repeats * p->w >= LINE)) {
      p->kernels->join_repeats(dst, carry, src, p->row, t->rows, p->repeats, p->w, t->first, t->last);
      continue;
    }
    drain written = {.at = 0};
    if (j->direct && (p->skip || !p->non_temporal)) {
      gather_run(j, t, dst, src, ahead, &written);
      continue;
    }
    const int64_t lead = begin_run(j, t, dst, s->stage, carry);
    if (p->non_temporal && !p->scale.active)
      written = (drain){p->kernels, dst - lead, s->stage, lead, t->first && lead > 0 ? LINE : 0};
    gather_run(j, t, s->stage + lead, src, ahead, &written);
    flush(j, t, dst, s->stage, lead, t->rows * t->shared_run, carry, written.at);
  }
}

/* Each row has n bytes of elements. May 16 bytes of each be read, beginning `back` bytes before these? */
static bool may_read(const job *j, const char *src, const int64_t *row, int64_t rows, int64_t n, int64_t back) {
  for (int64_t i = 0; i < rows; ++i) {
    const char *elements = src + row[i], *from = elements - back;
    if (from < j->in_begin || from + 16 > j->in_end) return false;
    if (j->p->gaps && !(same_page(from, elements) && same_page(elements + n - 1, from + 15))) return false;
  }
  return true;
}

/* A transpose of columns narrower than a load of 16 bytes, in which the loads of some rows may reach beyond the input's
 * end or into a gap. Vector by vector: loads that begin at the columns if these may be read, else loads that end with
 * the columns (the extra columns in front are stored where the first real one overwrites them), else element by
 * element. */
static void transpose_guarded(const job *j, char *stage, const int64_t *pos, const char *src, const int64_t *row,
                              int64_t rows, int64_t cols, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const int64_t w = p->w, back = 16 - cols * w, extra = back / w;
  int64_t pos_back[16];
  for (int64_t c = 0; c < cols + extra; ++c) {
    pos_back[c] = pos[c < extra ? 0 : c - extra]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): cols >= 1 */
  }
  const int64_t block = p->block_rows;
  for (int64_t r = 0; r < rows; r += block) {
    if (r + block > rows && rows >= block) r = rows - block;
    const int64_t n = rows < block ? rows : block;
    char *to = stage + r * w;
    if (may_read(j, src, row + r, block, cols * w, 0)) {
      p->transpose(to, pos, src, row + r, n, cols, ahead);
    } else if (may_read(j, src, row + r, block, cols * w, back)) {
      p->transpose(to, pos_back, src - back, row + r, n, cols + extra, ahead);
    } else {
      for (int64_t c = 0; c < cols; ++c) p->kernels->gather(to + pos[c], src + c * w, row + r, n, w, false);
    }
  }
}

/* May rows of cols columns be read by loads of 16 bytes? */
static bool may_overrun_columns(const job *j, const tile_at *t, const char *src, int64_t cols) {
  const char *highest = src + j->p->row_max;
  return cols * j->p->w >= 16 || may_overrun(j, t, highest + cols * j->p->w, highest + 16);
}

/* Do columns begin within lines, in whole elements? */
static bool within_lines(const job *j, const char *stage, const int64_t *pos, int64_t cols) {
  uintptr_t starts = 0;
  for (int64_t c = 0; c < cols; ++c) starts |= (uintptr_t)(stage + pos[c]);
  return (starts & (LINE - 1)) != 0 && (starts & (uintptr_t)(j->p->w - 1)) == 0;
}

/* All rows of a step of columns, in whole lines. */
static void transpose_lines(const job *j, char *stage, const int64_t *pos, const char *src, const int64_t *row,
                            int64_t rows, int64_t cols, cutt_cpu_ahead *ahead) {
  alignas(LINE) char carry[CUTT_CPU_MAX_STEP][LINE];
  char *dst[CUTT_CPU_MAX_STEP];
  for (int64_t c = 0; c < cols; ++c) dst[c] = stage + pos[c];
  j->p->lines(dst, carry, src, row, rows, cols, true, true, ahead);
}

/* Transposes rows x cols elements from src to stage + pos[c] + r * w. */
static void transpose_block(const job *j, const tile_at *t, char *stage, const int64_t *pos, const char *src,
                            int64_t cols, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  int64_t padded[LINE];
  const int64_t *row = p->row;
  if (t->rows < p->block_rows && t->rows < p->rows) { /* the table's next rows are not this tile's */
    for (int64_t i = 0; i < p->block_rows; ++i) padded[i] = row[i < t->rows ? i : t->rows - 1];
    row = padded;
  }
  int64_t rows = t->rows, r = 0;
  if (!may_overrun_columns(j, t, src, cols)) {
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): no more than block_rows rows, no turn */
    for (rows = 0; !p->gaps && rows < t->rows - p->block_rows && src + row[rows] + 16 <= j->in_end;) ++rows;
    if (rows < p->block_rows) rows = 0; /* else only the last ones need a guard */
    transpose_guarded(j, stage + rows * p->w, pos, src, row + rows, t->rows - rows, cols, ahead);
    if (rows == 0) return;
  }
  const bool within = (p->lines || p->strip_within < p->strip) && within_lines(j, stage, pos, cols);
  if (within && p->lines && rows >= p->block_rows) {
    transpose_lines(j, stage, pos, src, row, rows, cols, ahead);
    return;
  }
  for (const int64_t strip = within ? p->strip_within : p->strip; rows - r > strip; r += strip) {
    p->transpose(stage + r * p->w, pos, src, row + r, strip, cols, ahead);
  }
  if (rows - r < p->block_rows)
    r = larger(0, rows - p->block_rows); /* with some of the strip before, if there is one */
  p->transpose(stage + r * p->w, pos, src, row + r, rows - r, cols, ahead);
}

/* May a step of columns be written without staging? Kernels that write the output have nothing else to do where 16 bytes of
 * a row may not be read; the plain transpose through the caches looks at that itself. */
static bool may_be_direct(const job *j, const tile_at *t, const char *in, int64_t cols) {
  const cutt_cpu_plan *p = j->p;
  if (!j->direct || t->rows < p->block_rows) return false;      /* fewer rows leave garbage behind each column */
  if (p->non_temporal && !p->shift && !p->follow) return false; /* a walk along rows, which has no steps */
  if (!p->non_temporal && !p->scaled) return true;
  for (int64_t i = 0; i < t->inners; ++i) {
    if (!may_overrun_columns(j, t, in + p->inner_in[i], cols)) return false;
  }
  return true;
}

/* A step of columns, written to the output without staging. */
static void transpose_direct(const job *j, const tile_at *t, char *out, const int64_t *col_out, char (*carry)[LINE],
                             const char *in, int64_t cols, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  if (p->scaled) {
    for (int64_t i = 0; i < t->inners; ++i) {
      p->scaled(out + p->inner_pos[i], col_out, in + p->inner_in[i], p->row, t->rows, cols, &p->scale, ahead);
    }
    return;
  }
  if (!p->non_temporal) {
    for (int64_t i = 0; i < t->inners; ++i) {
      transpose_block(j, t, out + p->inner_pos[i], col_out, in + p->inner_in[i], cols, ahead);
    }
    return;
  }
  if (p->follow) {
    for (int64_t i = 0; i < t->inners; ++i)
      p->follow(out + p->inner_pos[i], *carry, in + p->inner_in[i], p->row, t->rows, cols, t->first && i == 0,
                t->last && i + 1 == t->inners, ahead);
    return;
  }
  char *dst[CUTT_CPU_MAX_STEP];
  for (int64_t c = 0; c < cols; ++c) dst[c] = out + col_out[c];
  p->shift(dst, carry, in, p->row, t->rows, cols, t->first, t->last, ahead);
}

/* Columns that are all part of one output run. */
static void transpose_inside(const job *j, const tile_at *t, scratch *s, int64_t segment, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment];
  char *out = t->out + p->segment_out[segment];
  if (may_be_direct(j, t, in, t->cols)) {
    transpose_direct(j, t, out, p->col_out, s->carry + (p->non_temporal ? segment : 0), in, t->cols, ahead);
    return;
  }
  char *carry = s->carry[p->non_temporal ? segment : 0];
  const int64_t lead = begin_run(j, t, out, s->stage, carry);
  for (int64_t i = 0; i < t->inners; ++i) {
    transpose_block(j, t, s->stage + lead + p->inner_pos[i], p->col_out, in + p->inner_in[i], t->cols, ahead);
  }
  flush(j, t, out, s->stage, lead, t->rows * t->cols * t->inners * p->w, carry, 0);
}

/* Columns that are parts of several output runs, which are staged side by side. */
static void transpose_mixed(const job *j, const tile_at *t, scratch *s, int64_t segment, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment];
  char *out = t->out + p->segment_out[segment];
  if (j->direct) {
    transpose_direct(j, t, out, p->col_out, NULL, in, t->cols, ahead);
    return;
  }
  char(*carry)[LINE] = s->carry + (p->non_temporal ? segment * p->apart : 0);
  int64_t *pos = (int64_t *)(void *)s->head[1], lead[CUTT_CPU_MAX_STEP]; /* little stack is promised */
  for (int64_t i = 0; i < p->apart; ++i) {
    lead[i] = begin_run(j, t, out + p->apart_out[i], s->stage + i * p->stage_stride, carry[p->non_temporal ? i : 0]);
  }
  for (int64_t c = 0; c < t->cols; ++c) pos[c] = p->col_out[c] + lead[p->col_run[c]];
  for (int64_t i = 0; i < t->inners; ++i) {
    transpose_block(j, t, s->stage + p->inner_pos[i], pos, in + p->inner_in[i], t->cols, ahead);
  }
  const int64_t bytes = t->rows * (t->cols / p->apart) * t->inners * p->w;
  for (int64_t i = 0; i < p->apart; ++i) {
    flush(j, t, out + p->apart_out[i], s->stage + i * p->stage_stride, lead[i], bytes, carry[p->non_temporal ? i : 0],
          0);
  }
}

/* Columns [c0, c0 + cols), each an output run, no more than the stage holds. */
static void transpose_staged(const job *j, const tile_at *t, scratch *s, int64_t segment, int64_t c0, int64_t cols,
                             cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment] + c0 * p->w;
  char *out = t->out + p->segment_out[segment];
  char(*carry)[LINE] = s->carry + (p->non_temporal ? segment * p->cols + c0 : 0);
  int64_t pos[CUTT_CPU_MAX_STEP], lead[CUTT_CPU_MAX_STEP];
  for (int64_t c = 0; c < cols; ++c) {
    char *place = s->stage + c * p->stage_stride;
    lead[c] = begin_run(j, t, out + p->col_out[c0 + c], place, carry[p->non_temporal ? c : 0]);
    pos[c] = c * p->stage_stride + lead[c];
  }
  for (int64_t i = 0; i < t->inners; ++i) {
    transpose_block(j, t, s->stage + p->inner_pos[i], pos, in + p->inner_in[i], cols, ahead);
  }
  for (int64_t c = 0; c < cols; ++c) {
    flush(j, t, out + p->col_out[c0 + c], s->stage + c * p->stage_stride, lead[c], t->rows * t->inners * p->w,
          carry[p->non_temporal ? c : 0], 0);
  }
}

/* A step of columns, from column c0 on. */
static void transpose_step(const job *j, const tile_at *t, scratch *s, int64_t segment, int64_t c0, int64_t cols,
                           cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment] + c0 * p->w;
  if (may_be_direct(j, t, in, cols)) {
    transpose_direct(j, t, t->out + p->segment_out[segment], p->col_out + c0,
                     s->carry + (p->non_temporal ? segment * p->cols + c0 : 0), in, cols, ahead);
    return;
  }
  for (int64_t c = 0; c < cols; c += p->step_staged) {
    transpose_staged(j, t, s, segment, c0 + c, smaller(cols - c, p->step_staged), ahead);
  }
}

static void transpose_tile(const job *j, const tile_at *t, scratch *s, cutt_cpu_ahead *next) {
  const cutt_cpu_plan *p = j->p;
  for (int64_t segment = 0; segment < t->segments; ++segment) {
    if (p->apart > 1) {
      transpose_mixed(j, t, s, segment, next);
      continue;
    }
    if (p->cols_inside) {
      transpose_inside(j, t, s, segment, next);
      continue;
    }
    const char *in = t->in + p->segment_in[segment];
    /* Not a short chunk with fewer rows than a line takes; and as for the shift kernel in transpose_step. */
    if (p->along && j->direct && t->rows * p->w >= LINE && may_overrun_columns(j, t, in, t->cols)) {
      /* A row of 16 bytes may always be read, so that all tiles of a run come here. */
      const int64_t run = t->cols * p->w >= 16 ? p->chain : 0, at = segment * p->cols;
      const cutt_cpu_columns columns = {
          t->out + p->segment_out[segment], p->col_out, t->cols, run, s->carry + at, s->head + at};
      cutt_cpu_ahead rest = *next; /* of this tile's rows */
      if (next->rows && segment + 1 < t->segments) {
        rest.base = t->in + p->segment_in[segment + 1];
        rest.runs = p->aheads;
      }
      p->along(&columns, in, p->row, t->rows, t->first, t->last, next->rows ? &rest : next);
      continue;
    }
    for (int64_t c0 = 0; c0 < t->cols; c0 += p->step) {
      const int64_t left = t->cols - c0, cols = smaller(left, p->step);
      if (left > p->step && p->step < p->cols) { /* what comes next is the same rows, one step further */
        const int64_t bytes = smaller(left - p->step, p->step) * p->w;
        cutt_cpu_ahead step = {
            in + (c0 + p->step) * p->w, p->row, t->rows, bytes, 0, 0, p->prefetch, true, false, 0, 0, 0};
        step.more = cutt_cpu_ahead_more(t->rows, bytes, t->rows * cols * p->w);
        if (p->prefetch == CUTT_CPU_TO_NONE || p->aheads == 0) step.runs = 0;
        transpose_step(j, t, s, segment, c0, cols, &step);
      } else {
        transpose_step(j, t, s, segment, c0, cols, next);
      }
    }
  }
}

/* The last chunk of a split mode is shorter, which shortens the table of that mode's role. */
static void shorten(tile_at *t, cutt_cpu_role role, int64_t per, int64_t positions, int64_t w) {
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

/* ------------------------------------------------------------------------------------------------------------ items */

/* An item: the place of its sequence, and which tiles of it. */
typedef struct item_at {
  const char *in;
  char *out;
  int64_t chunk_m, from, to;
} item_at;

static item_at find_item(const job *j, const cutt_cpu_outer_at *o) {
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

/* Items [first, end), one after another, each tile prefetching the next one. */
static void run_some(const job *j, int64_t first, int64_t end, scratch *s) {
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
      tile_at t = {it.in + q.in, it.out + q.out, p->rows,       p->cols,        p->inners,
                   p->segments,  p->shared_run,  at == it.from, at + 1 == it.to};
      if (it.chunk_m == p->split_m.chunks - 1) shorten(&t, p->role_m, p->per_m, p->split_m.last, p->w);
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
        if (prefetches(&p->split_k, q.chunk)) ahead.runs = p->aheads;
      } else if (item + 1 < end && next.from < next.to) {
        ahead.base = next.in + after.in;
        if (prefetches(&p->split_m, next.chunk_m)) ahead.runs = p->aheads;
      }
      if (p->transpose) {
        transpose_tile(j, &t, s, &ahead);
      } else {
        gather_tile(j, &t, s, &ahead);
      }
    }
  }
}

void cutt_cpu_run(const cutt_cpu_plan *p, const void *in, void *out, int64_t first, int64_t end, char *memory) {
  job j = {p,
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
    scratch s = parts_of(p, memory);
    run_some(&j, first, end, &s);
  }
}
