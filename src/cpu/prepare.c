/* From a candidate to a prepared plan: the tables of the paper's Eq. 4-6, and the split of the work into items. */
#include "cpu/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "cpu/dispatch.h"
#include "cpu/few.h"
#include "cpu/windows.h"
#include "model/machine.h"
#include "runtime/host/scratch.h"

/* Fills the table of a role: for each position of the role's modes, the first mode fastest (in input or output order),
 * the sum of index * stride[mode] (bytes). Returns the largest sum. */
static int64_t fill_table(const cutt_canonical *c, const cutt_cpu_tile *t, cutt_cpu_role role, bool output_order,
                          const int64_t *stride, int64_t *table, int64_t count) {
  int mode[CUTT_MAX_RANK], modes = 0;
  int64_t x[CUTT_MAX_RANK], sum = 0, largest = 0;
  for (int i = 0; i < c->rank; ++i) {
    const int candidate = output_order ? c->out_order[i] : i;
    if (t->role[candidate] == role) mode[modes++] = candidate;
  }
  for (int i = 0; i < modes; ++i) x[i] = 0;
  for (int64_t n = 0; n < count; ++n) {
    table[n] = sum;
    if (sum > largest) largest = sum;
    for (int i = 0; i < modes; ++i) {
      if (++x[i] < t->extent[mode[i]]) {
        sum += stride[mode[i]];
        break;
      }
      sum -= stride[mode[i]] * (t->extent[mode[i]] - 1);
      x[i] = 0;
    }
  }
  return largest;
}

/* Finds a tile's input runs: the modes over which they begin, the elements of each, and their number (returned). Modes
 * whose gaps are shorter than a line make a run all the same; *low is from a tile's first element to that of the
 * run. */
static int64_t plan_ahead(const cutt_canonical *c, const cutt_cpu_tile *t, int *modes, int *mode, int64_t *run,
                          int64_t *low) {
  int64_t runs = 1, dense = 1;
  bool leading = true;
  *modes = 0;
  *low = 0;
  for (int i = 0; i < c->rank; ++i) {
    if (t->extent[i] == 1) {
      leading = false;
      continue;
    }
    const int64_t stride = c->mode[i].in_stride, distance = cutt_cpu_distance(&c->mode[i]);
    if (stride == 0) continue; /* the same run again */
    if (leading && (distance - dense) * c->elem_bytes < CUTT_CPU_LINE) {
      dense += distance * (t->extent[i] - 1);
      if (stride < 0) *low += stride * (t->extent[i] - 1);
      leading = t->extent[i] == c->mode[i].extent;
    } else {
      leading = false;
      mode[(*modes)++] = i;
      runs *= t->extent[i];
    }
  }
  *run = dense;
  return runs;
}

static cutt_cpu_split split_of(const cutt_canonical *c, const cutt_cpu_tile *t, int mode) {
  cutt_cpu_split s = {1, 1, 1};
  if (mode < 0) return s;
  s.full = t->extent[mode];
  s.chunks = (c->mode[mode].extent + s.full - 1) / s.full;
  s.last = c->mode[mode].extent - (s.chunks - 1) * s.full;
  return s;
}

/* Entries of a role's table for one position of its last mode. */
static int64_t entries_per_position(const cutt_cpu_tile *t, int mode) {
  switch (t->role[mode]) {
    case CUTT_CPU_ROW:
      return t->rows / t->extent[mode];
    case CUTT_CPU_COLUMN:
      return t->cols / t->extent[mode];
    case CUTT_CPU_INNER:
      return t->inners / t->extent[mode];
    case CUTT_CPU_SEGMENT:
      return t->segments / t->extent[mode];
    default:
      return 1;
  }
}

static void share_out(const cutt_canonical *c, const cutt_cpu_tile *t, cutt_cpu_plan *p) {
  enum { SHARES_PER_THREAD = 8 };
  int64_t positions;
  p->parts = cutt_cpu_parts(c, t, p->threads, &positions, &p->sequence_length);
  p->sequence_part = (p->sequence_length + p->parts - 1) / p->parts;
  p->items = positions * p->parts;
  p->shares = p->threads == 1 ? 1 : (int64_t)p->threads * SHARES_PER_THREAD;
  p->shares = smaller(p->shares, p->items);
}

static void prepare_copy(const cutt_cpu_tile *t, cutt_cpu_plan *p) {
  p->in_step = t->in_step * p->w;
  p->items = (p->bytes + CUTT_CPU_COPY_GRAIN - 1) / CUTT_CPU_COPY_GRAIN;
  p->shares = smaller(p->threads, p->items); /* one long one for each thread */
  if (!p->scale.active) return;
  enum { STAGE = 1024 }; /* memory is slower where much is read and then much written */
  p->stage_bytes = smaller(p->bytes, STAGE);
  p->scratch_bytes = p->stage_bytes;
}

_Static_assert(CUTT_CPU_STAGE_BYTES + (CUTT_CPU_CARRIES_ALONG + 3) * CUTT_CPU_LINE <= CUTT_SCRATCH_BYTES,
               "a block of scratch has room for the stage and for what columns carry");

/* Rows that are collected at most, and those that vectors read beyond them. */
static int64_t collected_rows(const cutt_cpu_tile *t) { return t->collected ? t->collected + t->block_rows : 0; }

/* Scratch of a thread: the stage, of one run or of the columns that are staged at a time, with a line before and a line
 * after it, which whole vectors may reach; and 64 carried bytes for each output run of a tile. */
static void size_scratch(const cutt_cpu_tile *t, cutt_cpu_plan *p) {
  const bool columns = t->kernel == CUTT_CPU_TRANSPOSE && !t->cols_inside;
  const bool unstaged = t->kernel == CUTT_CPU_GATHER && t->direct && !t->non_temporal;
  const int64_t staged = columns ? t->staged_cols : unstaged ? 0 : t->turned > 0 && !t->direct ? t->turned : t->apart;
  p->carries = p->non_temporal ? cutt_cpu_runs(t) : 1;
  p->stage_bytes = staged * p->stage_stride + CUTT_CPU_LINE;
  if (p->collected)
    p->stage_bytes =
        larger(p->stage_bytes, collected_rows(t) * p->collected / CUTT_CPU_LINE * CUTT_CPU_LINE + 2 * CUTT_CPU_LINE);
  p->scratch_bytes = CUTT_CPU_LINE + p->stage_bytes + ((t->chain > 0 ? 2 : 1) * p->carries + 1) * CUTT_CPU_LINE;
  if (t->apart > 1)
    p->scratch_bytes += t->cols * (int64_t)sizeof(int64_t); /* places of columns, behind the carried lines */
}

/* The kernels of a plan, for the instruction set of its target. */
static cuttResult choose_kernels(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t,
                                 cutt_cpu_plan *p) {
  const cutt_cpu_tables *tables = machine->isa ? cutt_cpu_tables_named(machine->isa) : NULL;
  if (!tables) {
    return cutt_error(CUTT_INVALID_DEVICE, "%s is a machine that is only described; nothing can be prepared for it",
                      machine->base.name);
  }
  const cutt_cpu_kernels *all = tables->kernels;
  const cutt_cpu_byte_kernels *bytes = c->elem_bytes == 1 ? tables->bytes : NULL;
  const int width = __builtin_ctz((unsigned)c->elem_bytes);
  p->kernels = all;
  p->scatter = tables->bytes->scatter;
  if (t->kernel == CUTT_CPU_TRANSPOSE) {
    const int64_t v = t->block_rows * c->elem_bytes;
    const int vectors = v == 64 ? 2 : v == 32 ? 1 : 0;
    p->transpose = bytes ? bytes->transpose[vectors] : all->transpose[width][vectors];
    if (!p->transpose) {
      return cutt_error(CUTT_INTERNAL_ERROR, "instruction set %s has no vectors of %d bytes", tables->isa, (int)v);
    }
    if (t->scales) p->scaled = all->scaled[cutt_cpu_arithmetic_of(&c->scale)][width][vectors];
    if (t->shifts) p->shift = bytes ? bytes->shift : all->shift[width];
    if (t->follows) p->follow = all->follow[width];
    if (t->few) p->few = bytes ? bytes->few : all->few[width];
    if (t->lines) p->lines = bytes ? bytes->lines : all->lines[width];
    if (t->along) p->along = bytes ? bytes->along : all->along[width];
    if (t->reads_lines && t->along && all->along_whole[width]) p->along = all->along_whole[width];
    if (t->reads_lines && !t->along && all->whole[width]) p->transpose = all->whole[width];
  }
  if (t->skips) p->skip = bytes ? bytes->skip : all->skip[width];
  if (t->turned > 0) p->turn = tables->bytes->turn;
  if (t->kernel == CUTT_CPU_WINDOW) {
    p->window = bytes ? bytes->window : all->window[width];
    if (!p->window) return cutt_error(CUTT_INTERNAL_ERROR, "instruction set %s has no windows", tables->isa);
  }
  return CUTT_SUCCESS;
}

/* The input runs to prefetch, which begin at the positions of some modes. */
typedef struct prefetch {
  bool steps; /* a tile's columns are done in several steps, and the runs are its rows */
  int mode[CUTT_MAX_RANK], modes;
  int64_t run, runs; /* elements of a run; number of runs in their table, 0 if they need none */
  int64_t low;       /* elements from a tile's first one to the first run: below it where strides are negative */
} prefetch;

/* Is a tensor read from one end to the other, without gaps, or in long pieces? Hardware prefetchers do best alone there. */
static bool in_one_go(const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { LONG_PIECE = 32 * 1024 };
  return (c->rank == 1 && (c->mode[0].in_stride == 1 || c->mode[0].in_stride == -1)) ||
         t->shared_run * c->elem_bytes > LONG_PIECE;
}

/* Are steps few, and has L2 room for a tile and the next one, beside what else is in it? */
static bool tiles_stay(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t) {
  enum { FEW_STEPS = 4 };
  return t->prefetch == CUTT_CPU_TO_L2 && t->cols <= FEW_STEPS * t->steps_cols &&
         cutt_cpu_elements(t) * c->elem_bytes <= machine->l2_bytes / 4;
}

/* Where columns are done in several steps, what comes after a tile's last step is the first step of the next tile, of
 * which the first columns of all rows are prefetched. Otherwise it is the whole next tile, also where L2 has room for that and steps are few: a
 * last one of a few columns would have to ask for as much as the others, and rows that follow one another are asked for as one run. */
static prefetch plan_prefetch(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t) {
  prefetch f = {.run = t->steps_cols};
  if (cutt_cpu_fits_l2(machine, c)) return f; /* it is in L2, and L1 has no room for more */
  const bool steps = t->kernel == CUTT_CPU_TRANSPOSE && !t->cols_inside && t->steps_cols < t->cols && !t->along;
  f.steps = (t->along && !t->tiles_ahead) || (steps && !tiles_stay(machine, c, t));
  if (t->kernel != CUTT_CPU_COPY && !f.steps) f.runs = plan_ahead(c, t, &f.modes, f.mode, &f.run, &f.low);
  if (steps && f.runs > CUTT_CPU_MAX_TABLE) return (prefetch){.run = t->steps_cols, .steps = true};
  if (t->skips && !cutt_cpu_asks_for_next_row(t, c->elem_bytes)) f.runs = 0;
  if (f.runs > CUTT_CPU_MAX_TABLE || in_one_go(c, t)) f.runs = 0;
  return f;
}

/* Strides of the modes, in bytes. */
typedef struct strides {
  int64_t in[CUTT_MAX_RANK], out[CUTT_MAX_RANK];
  int64_t run[CUTT_MAX_RANK]; /* in a staged run, which is contiguous */
} strides;

static void find_strides(const cutt_canonical *c, const cutt_cpu_tile *t, strides *s) {
  const int64_t w = c->elem_bytes;
  for (int i = 0; i < c->rank; ++i) {
    s->in[i] = c->mode[i].in_stride * w;
    s->out[i] = c->mode[i].out_stride * w;
    s->run[i] = c->mode[i].out_stride / t->run_stride * w;
  }
}

static int64_t rows_padded(const cutt_cpu_tile *t) {
  return larger(t->rows, larger(t->block_rows, t->few ? CUTT_CPU_FEW_ROWS : 0));
}

static int64_t table_entries(const cutt_cpu_tile *t, const prefetch *f) {
  return rows_padded(t) + collected_rows(t) + 2 * t->inners + 2 * t->segments + t->cols + f->runs +
         (t->apart > 1 ? t->cols + t->apart : 0);
}

/* The tables of columns that are parts of several runs: where in which run, or, written directly, where in the output. Returns what is
 * behind them. */
static int64_t *fill_mixed(const cutt_canonical *c, const cutt_cpu_tile *t, const strides *s, int64_t *next,
                           cutt_cpu_plan *p) {
  const int64_t distance = cutt_cpu_stage_stride(t->run * c->elem_bytes);
  int64_t number[CUTT_MAX_RANK], place[CUTT_MAX_RANK], runs = 1;
  cutt_cpu_tile outside = *t;
  bool inside[CUTT_MAX_RANK] = {false};
  for (int i = 0, mode; i < c->rank; ++i) {
    mode = c->out_order[i];
    inside[mode] = true;
    if (mode == t->last_k) break;
  }
  for (int i = 0; i < c->rank; ++i) {
    const bool apart = t->role[i] == CUTT_CPU_COLUMN && !inside[i];
    number[i] = apart ? runs : 0;
    place[i] = t->direct ? s->out[i] : apart ? runs * distance : s->run[i];
    if (apart) runs *= t->extent[i];
    if (!apart) outside.role[i] = CUTT_CPU_OUTER;
  }
  fill_table(c, t, CUTT_CPU_COLUMN, false, place, next, t->cols);
  p->col_out = next, next += t->cols;
  fill_table(c, t, CUTT_CPU_COLUMN, false, number, next, t->cols);
  p->col_run = next, next += t->cols;
  fill_table(c, &outside, CUTT_CPU_COLUMN, false, s->out, next, t->apart);
  p->apart_out = next;
  return next + t->apart;
}

/* The tables, in the memory behind the plan. */
static void fill_tables(const cutt_canonical *c, const cutt_cpu_tile *t, const strides *s, const prefetch *f,
                        int vector_bytes, cutt_cpu_plan *p) {
  int64_t *next = (int64_t *)(p + 1);
  p->row_max = fill_table(c, t, CUTT_CPU_ROW, true, s->in, next, t->rows);
  for (int64_t i = t->rows; i < rows_padded(t); ++i) next[i] = next[t->rows - 1];
  p->row = next, next += rows_padded(t);
  for (int64_t i = 0; i < collected_rows(t); ++i) next[i] = i * cutt_cpu_step_bytes(t, c->elem_bytes);
  p->row_collected = next, next += collected_rows(t);
  p->inner_max = fill_table(c, t, CUTT_CPU_INNER, true, s->in, next, t->inners);
  p->inner_in = next, next += t->inners;
  fill_table(c, t, CUTT_CPU_INNER, true, s->run, next, t->inners);
  p->inner_pos = next, next += t->inners;
  fill_table(c, t, CUTT_CPU_SEGMENT, false, s->in, next, t->segments);
  p->segment_in = next, next += t->segments;
  fill_table(c, t, CUTT_CPU_SEGMENT, false, s->out, next, t->segments);
  p->segment_out = next, next += t->segments;
  if (t->apart > 1) {
    next = fill_mixed(c, t, s, next, p);
  } else {
    fill_table(c, t, CUTT_CPU_COLUMN, false, t->cols_inside ? s->run : s->out, next, t->cols);
    p->col_out = next, next += t->cols;
  }
  if (f->runs > 0) {
    cutt_cpu_tile run_starts = *t;
    for (int i = 0; i < c->rank; ++i) run_starts.role[i] = CUTT_CPU_OUTER;
    for (int i = 0; i < f->modes; ++i) run_starts.role[f->mode[i]] = CUTT_CPU_ROW;
    fill_table(c, &run_starts, CUTT_CPU_ROW, false, s->in, next, f->runs);
    for (int64_t i = 0; i < f->runs; ++i) next[i] += f->low * c->elem_bytes;
    p->ahead = next;
    p->aheads = f->runs;
    next += f->runs;
  }
  p->steps_ahead = f->steps;
  if (f->steps) {
    p->ahead = p->row;
    p->aheads = t->rows;
  }
  p->ahead_bytes = f->run * c->elem_bytes;
  /* Meanwhile a tile is worked on, or the last step of one. */
  const int64_t columns = t->cols_inside ? t->apart : f->steps ? (t->cols - 1) % t->steps_cols + 1 : t->cols;
  p->ahead_more =
      cutt_cpu_ahead_more(p->aheads, p->ahead_bytes, t->run * (f->steps ? 1 : t->segments) * columns * c->elem_bytes);
  if (t->prefetch == CUTT_CPU_TO_NONE) p->aheads = 0;
  if (p->few) cutt_cpu_few_find(t->rows, c->elem_bytes, next, &p->few_indices);
  if (p->window) cutt_cpu_windows_find(p->row, t->rows, c->elem_bytes, vector_bytes, next, &p->windows);
}

/* Is more prefetched along elements with gaps between them that are less than a line, and along windows of these, than hardware prefetchers
 * do? Not where other segments of a tile are in the gaps, whose lines are asked for once. */
static bool asks_along(const cutt_canonical *c, const cutt_cpu_tile *t, const cutt_cpu_plan *p) {
  const int64_t step = p->window ? p->windows.step : p->in_step, distance = magnitude(step);
  for (int i = 0; i < c->rank; ++i) {
    const int64_t stride = c->mode[i].in_stride * c->elem_bytes;
    if (t->role[i] == CUTT_CPU_SEGMENT && magnitude(stride) < CUTT_CPU_LINE) return false;
  }
  return p->window ? distance >= 2 * CUTT_CPU_LINE : distance > c->elem_bytes && distance <= CUTT_CPU_LINE;
}

/* Copies what an execution needs of the geometry. */
static void keep_tile(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_cpu_tile *t,
                      cutt_cpu_plan *p) {
  enum { STEP_AHEAD = 2048 };
  const int64_t w = c->elem_bytes;
  p->rows = t->rows, p->cols = t->cols, p->apart = t->apart, p->inners = t->inners, p->segments = t->segments;
  p->block_rows = t->block_rows;
  p->even_rows = t->extent[c->out_order[0]];
  p->row_step = c->mode[c->out_order[0]].in_stride * w;
  p->cols_inside = t->cols_inside;
  p->gaps = t->gaps;
  p->rows_apart = t->rows_apart;
  p->shared_run = t->shared_run * w;
  p->step = t->steps_cols;
  p->step_staged = t->staged_cols;
  p->stage_stride = cutt_cpu_stage_stride(t->run * w);
  p->run_stride = t->run_stride * w;
  p->direct = t->direct;
  p->strip = t->strip;
  p->strip_within = t->strip_within;
  p->strip_past = t->strip_past;
  p->collected = t->collected ? cutt_cpu_step_bytes(t, w) : 0;
  p->repeats = t->repeats;
  p->in_step = t->in_step * w;
  if (!cutt_cpu_fits_l2(machine, c) && t->direct && !t->non_temporal && asks_along(c, t, p)) {
    p->aheads = 0; /* the next tile's runs */
    p->step_ahead = p->window || machine->asks_in_order ? STEP_AHEAD : 0;
  }
  p->by_segments = t->by_segments;
  if (t->turned > 0) {
    p->turned = t->turned;
    p->beside = t->extent[t->turned_mode];
    p->turned_back = c->mode[t->turned_mode].in_stride < 0;
  }
  size_scratch(t, p);
}

/* The loops around a tile. */
static void plan_loops(const cutt_canonical *c, const cutt_cpu_tile *t, const strides *s, cutt_cpu_plan *p) {
  p->split_m = split_of(c, t, t->split_m);
  p->split_k = split_of(c, t, t->split_k);
  p->apart_last = t->apart;
  if (t->split_m >= 0) {
    p->role_m = t->role[t->split_m];
    p->per_m = entries_per_position(t, t->split_m);
    p->m_in_stride = s->in[t->split_m] * p->split_m.full;
    p->m_out_stride = s->out[t->split_m] * p->split_m.full;
    if (t->apart > 1 && p->role_m == CUTT_CPU_COLUMN) p->apart_last = t->apart / p->split_m.full * p->split_m.last;
  }
  if (t->split_k >= 0) {
    p->role_k = t->role[t->split_k];
    p->per_k = entries_per_position(t, t->split_k);
    p->k_in_stride = s->in[t->split_k] * p->split_k.full;
    p->k_out_stride = s->out[t->split_k] * p->split_k.full;
  }
  p->sequences = t->sequences;
  for (int i = 0; i < t->sequences; ++i) {
    const int mode = t->sequence[i];
    p->sequence[i] = (cutt_cpu_loop){c->mode[mode].extent, s->in[mode], s->out[mode]};
  }
  p->outers = t->outers;
  for (int i = 0; i < t->outers; ++i) {
    const int mode = t->outer[i];
    p->outer[i] = (cutt_cpu_loop){c->mode[mode].extent, s->in[mode], s->out[mode]};
  }
  share_out(c, t, p);
  p->chain = p->parts == 1 ? t->chain * c->elem_bytes : 0; /* else other items write a column's beginning and its end */
}

static cuttResult prepare(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_candidate *candidate,
                          void **prepared) {
  cutt_cpu_tile t;
  const char *why;
  *prepared = NULL;
  if (!cutt_cpu_tile_derive(machine, c, candidate, &t, &why)) {
    return cutt_error(CUTT_INTERNAL_ERROR, "a candidate that the CPU backend cannot prepare: %s", why);
  }
  const prefetch f = plan_prefetch(machine, c, &t);
  const size_t bytes =
      (size_t)table_entries(&t, &f) * sizeof(int64_t) +
      (t.few                         ? cutt_cpu_few_bytes(t.rows, c->elem_bytes)
       : t.kernel == CUTT_CPU_WINDOW ? cutt_cpu_windows_bytes(t.rows, c->elem_bytes, machine->vector_bytes)
                                     : 0);
  cutt_cpu_plan *p = malloc(sizeof *p + bytes);
  if (!p) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan's tables", bytes);
  memset(p, 0, offsetof(cutt_cpu_plan, sequence));
  const cuttResult result = choose_kernels(machine, c, &t, p);
  if (result) {
    free(p);
    return result;
  }
  p->window_vector = cutt_cpu_window_vector(machine->vector_bytes);
  p->guards_windows = cutt_cpu_guards_windows(machine->vector_bytes);
  for (int i = 0; i < c->rank; ++i) p->broadcasts = p->broadcasts || c->mode[i].in_stride == 0;
  p->kernel = t.kernel;
  p->non_temporal = t.non_temporal;
  p->one_stream = t.along;
  p->prefetch = t.prefetch;
  p->ahead_room = machine->l1_bytes / 2;
  p->tiles_ahead = t.tiles_ahead;
  p->one_line = t.one_line;
  /* Of lines in the last-level cache that would take as long again: measured, docs/log.md. */
  p->asks_for_output = machine->asks_in_order && t.run_stride > 1 &&
                       c->volume > cutt_most_cached(machine->stream_bytes) / (c->elem_bytes * (1 + t.run_stride));
  p->scale = c->scale;
  p->in_start = c->in_start;
  p->out_start = c->out_start;
  p->in_low = c->in_low;
  p->in_high = c->in_high;
  p->w = c->elem_bytes;
  p->parts_per_element = c->elem_bytes / c->base_bytes;
  p->bytes = c->volume * c->elem_bytes;
  p->threads = larger(1, candidate->threads);
  p->most_threads = machine->threads;
  *prepared = p;
  if (t.kernel == CUTT_CPU_COPY) {
    prepare_copy(&t, p);
    return CUTT_SUCCESS;
  }
  strides s;
  find_strides(c, &t, &s);
  fill_tables(c, &t, &s, &f, machine->vector_bytes, p);
  keep_tile(machine, c, &t, p);
  plan_loops(c, &t, &s, p);
  return CUTT_SUCCESS;
}

cuttResult cutt_cpu_prepare(const cutt_target *target, const cutt_canonical *c, const cutt_candidate *candidate,
                            void **prepared) {
  /* Allocated here, because an execution must not. */
  if (!cutt_scratch_reserve(1))
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch for executions", CUTT_SCRATCH_BYTES);
  return prepare((const cutt_cpu_machine *)(const void *)target, c, candidate, prepared);
}

void cutt_cpu_release(void *prepared) { free(prepared); }
