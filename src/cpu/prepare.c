/* From a candidate to a prepared plan: the tables of Eq. 4-6, and the split of the work into items for threads. */
#include "cpu/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cpu/dispatch.h"
#include "cpu/windows.h"
#include "model/machine.h"
#include "runtime/host/scratch.h"

/* Walks all positions of the modes that have a role (input order, or output order), first mode fastest, and writes for
 * each the sum of position * stride[mode] (bytes). Returns the largest sum. */
static int64_t fill_table(const cutt_canonical *c, const cutt_cpu_tile *t, cutt_cpu_role role, bool output_order,
                          const int64_t *stride, int64_t *table, int64_t count) {
  int mode[CUTT_MAX_RANK], modes = 0;
  int64_t x[CUTT_MAX_RANK], sum = 0, largest = 0;
  for (int i = 0; i < c->rank; i++) {
    const int candidate = output_order ? c->out_order[i] : i;
    if (t->role[candidate] == role) mode[modes++] = candidate;
  }
  for (int i = 0; i < modes; i++) x[i] = 0;
  for (int64_t n = 0; n < count; n++) {
    table[n] = sum;
    if (sum > largest) largest = sum;
    for (int i = 0; i < modes; i++) {
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

/* The starts of the input runs of a tile: positions of the tile's modes that do not continue the leading run. */
static int64_t plan_ahead(const cutt_canonical *c, const cutt_cpu_tile *t, int *modes, int *mode, int64_t *run) {
  int64_t runs = 1, dense = 1;
  bool leading = true;
  *modes = 0;
  for (int i = 0; i < c->rank; i++) {
    if (t->extent[i] == 1) {
      leading = false;
    } else if (leading && c->mode[i].in_stride == dense) {
      dense *= t->extent[i];
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

/* Items of work: enough for threads to share evenly, each as long a piece of an output sequence as that allows. An item
 * never starts at a chunk that is cut short (it might not hold a whole line). */
enum { ITEMS_PER_THREAD = 8, MIN_ITEM_BYTES = 64 * 1024 };

static void share_out(cutt_cpu_plan *p, int64_t tile_bytes) {
  int64_t outer = p->split_m.chunks;
  for (int i = 0; i < p->outers; i++) outer *= p->outer[i].extent;
  p->sequence_length = p->split_k.chunks;
  for (int i = 0; i < p->sequences; i++) p->sequence_length *= p->sequence[i].extent;
  int64_t parts = 1;
  if (p->threads > 1) {
    parts = ((int64_t)p->threads * ITEMS_PER_THREAD + outer - 1) / outer;
    const int64_t most = p->sequence_length * tile_bytes / MIN_ITEM_BYTES;
    if (parts > most) parts = most;
    if (parts < 1) parts = 1;
    if (parts > p->sequence_length) parts = p->sequence_length;
  }
  p->sequence_part = (p->sequence_length + parts - 1) / parts;
  p->parts = (p->sequence_length + p->sequence_part - 1) / p->sequence_part;
  p->items = outer * p->parts;
  p->batches = p->threads == 1 ? 1 : (int64_t)p->threads * ITEMS_PER_THREAD;
  if (p->batches > p->items) p->batches = p->items;
}

static void prepare_copy(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_plan *p) {
  p->bytes = c->volume * c->elem_bytes;
  p->stream = candidate->param[CUTT_CPU_PARAM_STREAM] != 0;
  p->items = 1;
  if (!p->scale.active) return;
  enum { STAGE = 16 * 1024 };
  p->stage_bytes = p->bytes < STAGE ? p->bytes : STAGE;
  p->scratch_bytes = p->stage_bytes;
}

/* What a thread stages: one run, or those of the columns that are staged at a time; with a line in front of the first place and
 * one behind the last, which whole vectors may reach. What it carries: 64 bytes of each output run of a tile. */
static void size_scratch(const cutt_cpu_tile *t, cutt_cpu_plan *p) {
  const bool columns = t->kernel == CUTT_CPU_TRANSPOSE && !t->x_inside;
  const int64_t carries = p->stream ? t->segments * (columns ? t->cols : 1) : 1;
  p->stage_bytes = (columns ? t->staged_cols : 1) * p->stage_stride + CUTT_CPU_LINE;
  p->scratch_bytes = CUTT_CPU_LINE + p->stage_bytes + (carries + 1) * CUTT_CPU_LINE;
}

static cuttResult prepare(const cutt_cpu_machine *machine, const cutt_canonical *c, const cutt_candidate *candidate,
                          void **prepared) {
  cutt_cpu_tile t;
  const char *why;
  *prepared = NULL;
  if (!cutt_cpu_tile_derive(c, candidate, &t, &why)) {
    return cutt_error(CUTT_INTERNAL_ERROR, "a candidate that the CPU backend cannot prepare: %s", why);
  }
  const cutt_cpu_kernels *kernels = machine->isa ? cutt_cpu_kernels_named(machine->isa) : NULL;
  if (!kernels) {
    return cutt_error(CUTT_INVALID_DEVICE, "%s is a machine that is only described; nothing can be prepared for it",
                      machine->base.name);
  }
  const int64_t w = c->elem_bytes;
  int64_t block_rows = 1;
  cutt_cpu_transpose_fn *transpose = NULL;
  if (t.kernel == CUTT_CPU_TRANSPOSE) {
    const int64_t v = candidate->param[CUTT_CPU_PARAM_VECTOR];
    const int vi = v == 64 ? 2 : v == 32 ? 1 : 0, wi = __builtin_ctzll((unsigned long long)w);
    transpose = kernels->transpose[wi][vi];
    if (transpose == NULL) {
      return cutt_error(CUTT_INTERNAL_ERROR, "instruction set %s has no vectors of %d bytes", kernels->name, (int)v);
    }
    block_rows = v / w;
  }
  /* Where columns are walked in steps along long rows, what comes after a tile's last step is the first one of the next
   * tile: its rows are the runs to prefetch. Elsewhere it is the next tile, whole. */
  const bool walks = t.kernel == CUTT_CPU_TRANSPOSE && !t.x_inside && t.steps_cols < t.cols;
  int ahead_mode[CUTT_MAX_RANK], ahead_modes = 0;
  int64_t ahead_run = t.steps_cols, aheads = 0;
  if (t.kernel != CUTT_CPU_COPY && !walks) aheads = plan_ahead(c, &t, &ahead_modes, ahead_mode, &ahead_run);
  if (aheads > CUTT_CPU_MAX_TABLE) aheads = 0;
  const int64_t rows_padded = t.rows < block_rows ? block_rows : t.rows;
  cutt_cpu_window_fn *window = NULL;
  if (t.kernel == CUTT_CPU_WINDOW) {
    window = kernels->window[__builtin_ctzll((unsigned long long)w)];
    if (window == NULL) return cutt_error(CUTT_INTERNAL_ERROR, "instruction set %s has no windows", kernels->name);
  }
  const size_t window_bytes = window != NULL ? cutt_cpu_windows_bytes(t.rows, w) : 0;
  const size_t entries = (size_t)(rows_padded + 2 * t.inners + 2 * t.segments + t.cols + aheads);
  cutt_cpu_plan *p = malloc(sizeof *p + entries * sizeof(int64_t) + window_bytes);
  if (p == NULL) {
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan's tables",
                      entries * sizeof(int64_t) + window_bytes);
  }
  memset(p, 0, offsetof(cutt_cpu_plan, sequence));
  p->kernels = kernels;
  p->transpose = transpose;
  p->kernel = t.kernel;
  p->scale = c->scale;
  p->in_start = c->in_start;
  p->out_start = c->out_start;
  p->in_low = c->in_low;
  p->in_high = c->in_high;
  p->w = w;
  p->parts_per_element = w / c->base_bytes;
  p->threads = candidate->threads < 1 ? 1 : candidate->threads;
  *prepared = p;
  if (t.kernel == CUTT_CPU_COPY) {
    prepare_copy(c, candidate, p);
    return CUTT_SUCCESS;
  }

  int64_t in_stride[CUTT_MAX_RANK], out_stride[CUTT_MAX_RANK], run_stride[CUTT_MAX_RANK];
  for (int i = 0; i < c->rank; i++) {
    in_stride[i] = c->mode[i].in_stride * w;
    out_stride[i] = c->mode[i].out_stride * w;
    run_stride[i] = c->mode[i].out_stride / t.out_unit * w; /* position inside a staged run, which is contiguous */
  }
  int64_t *next = (int64_t *)(p + 1);
  p->row_max = fill_table(c, &t, CUTT_CPU_ROW, true, in_stride, next, t.rows);
  for (int64_t i = t.rows; i < rows_padded; i++) next[i] = next[t.rows - 1];
  p->row = next, next += rows_padded;
  fill_table(c, &t, CUTT_CPU_INNER, true, in_stride, next, t.inners);
  p->inner_in = next, next += t.inners;
  fill_table(c, &t, CUTT_CPU_INNER, true, run_stride, next, t.inners);
  p->inner_pos = next, next += t.inners;
  fill_table(c, &t, CUTT_CPU_SEGMENT, false, in_stride, next, t.segments);
  p->segment_in = next, next += t.segments;
  fill_table(c, &t, CUTT_CPU_SEGMENT, false, out_stride, next, t.segments);
  p->segment_out = next, next += t.segments;
  fill_table(c, &t, CUTT_CPU_COLUMN, false, t.x_inside ? run_stride : out_stride, next, t.cols);
  p->col_out = next, next += t.cols;
  if (aheads > 0) {
    cutt_cpu_tile run_starts = t;
    for (int i = 0; i < c->rank; i++) run_starts.role[i] = CUTT_CPU_OUTER;
    for (int i = 0; i < ahead_modes; i++) run_starts.role[ahead_mode[i]] = CUTT_CPU_ROW;
    fill_table(c, &run_starts, CUTT_CPU_ROW, false, in_stride, next, aheads);
    p->ahead = next;
    p->aheads = aheads;
  }
  if (window != NULL) {
    cutt_cpu_windows_find(p->row, t.rows, w, (int64_t *)(p + 1) + entries, &p->windows);
    p->window = window;
  }
  p->rows = t.rows, p->cols = t.cols, p->inners = t.inners, p->segments = t.segments;
  p->block_rows = block_rows;
  p->x_inside = t.x_inside;
  p->gaps = t.gaps;
  p->rows_apart = t.rows_apart;
  p->piece = t.piece * w;
  p->step = t.steps_cols;
  p->step_staged = t.staged_cols;
  p->stage_stride = cutt_cpu_stage_stride(t.run * w);
  p->out_unit = t.out_unit * w;
  p->stream = candidate->param[CUTT_CPU_PARAM_STREAM] != 0 && !c->scale.reads_out;
  if (p->stream) {
    const bool shifts =
        t.kernel == CUTT_CPU_TRANSPOSE && candidate->param[CUTT_CPU_PARAM_VECTOR] == 64 && !t.x_inside && t.inners == 1;
    p->shift = shifts ? kernels->shift[__builtin_ctzll((unsigned long long)w)] : NULL;
  }
  /* A window's vector is stored whole, beyond the end of a run that is no multiple of it. */
  const bool overruns = t.kernel == CUTT_CPU_WINDOW && (t.rows * w % CUTT_CPU_LINE != 0 || t.split_k >= 0);
  size_scratch(&t, p);
  p->direct = !overruns && !c->scale.active && t.out_unit == 1 && (!p->stream || p->shift != NULL);
  p->ahead_bytes = ahead_run * w;
  if (walks) {
    p->ahead = p->row;
    p->aheads = t.rows;
  }

  p->split_m = split_of(c, &t, t.split_m);
  p->split_k = split_of(c, &t, t.split_k);
  if (t.split_m >= 0) {
    p->role_m = t.role[t.split_m];
    p->per_m = entries_per_position(&t, t.split_m);
    p->m_in_stride = in_stride[t.split_m] * p->split_m.full;
    p->m_out_stride = out_stride[t.split_m] * p->split_m.full;
  }
  if (t.split_k >= 0) {
    p->role_k = t.role[t.split_k];
    p->per_k = entries_per_position(&t, t.split_k);
    p->k_in_stride = in_stride[t.split_k] * p->split_k.full;
    p->k_out_stride = out_stride[t.split_k] * p->split_k.full;
  }
  p->sequences = t.sequences;
  for (int i = 0; i < t.sequences; i++) {
    const int mode = t.sequence[i];
    p->sequence[i] = (cutt_cpu_loop){c->mode[mode].extent, in_stride[mode], out_stride[mode]};
  }
  p->outers = t.outers;
  for (int i = 0; i < t.outers; i++) {
    const int mode = t.outer[i];
    p->outer[i] = (cutt_cpu_loop){c->mode[mode].extent, in_stride[mode], out_stride[mode]};
  }
  share_out(p, t.run * t.segments * (t.x_inside ? 1 : t.cols) * w);
  return CUTT_SUCCESS;
}

cuttResult cutt_cpu_prepare(const cutt_target *target, const cutt_canonical *c, const cutt_candidate *candidate,
                            void **prepared) {
  /* Made here, so that executions find it. */
  if (!cutt_scratch_reserve(1))
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch for executions", CUTT_SCRATCH_BYTES);
  return prepare((const cutt_cpu_machine *)(const void *)target, c, candidate, prepared);
}

void cutt_cpu_release(void *prepared) { free(prepared); }
