/* From a candidate (method, m, k, splits) to the role of each mode. See tile.h for the roles. */
#include "cpu/tile.h"

#include <string.h>

#include "cpu/kernels/kernels.h"

int64_t cutt_cpu_stage_stride(int64_t run_bytes) {
  const int64_t lines = (run_bytes + CUTT_CPU_LINE - 1) / CUTT_CPU_LINE + 2;
  return (lines | 1) * CUTT_CPU_LINE;
}

static bool refuse(const char **why, const char *text) {
  *why = text;
  return false;
}

/* A register transpose wants a whole vector of rows; more of M_k than this goes to the inner modes as soon as it would
 * take a mode away from the input's leading run. */
enum { ENOUGH_ROW_BYTES = 256 };

/* Row modes: M_k in output order, as long as it does not need the input's first mode. */
static void take_rows(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t) {
  t->rows = 1;
  for (int i = 0; i < candidate->k; i++) {
    const int mode = c->out_order[i];
    if (mode == 0) break;
    if (t->rows * c->elem_bytes >= ENOUGH_ROW_BYTES && mode < candidate->m) break;
    t->role[mode] = CUTT_CPU_ROW;
    t->rows *= t->extent[mode];
  }
}

/* Column modes: M_m in input order, contiguous, not rows, all of them inside M_k or all of them outside. */
static void take_columns(const cutt_canonical *c, const cutt_candidate *candidate, const bool *in_k, cutt_cpu_tile *t) {
  /* With fewer rows than a vector, a column's garbage runs into what follows it in the output run, which then has to be
   * written later: only the first mode's columns are sure to be in that order. */
  const bool one = in_k[0] && t->rows * c->elem_bytes < candidate->param[CUTT_CPU_PARAM_VECTOR];
  t->cols = 1;
  t->x_inside = in_k[0];
  for (int mode = 0; mode < candidate->m; mode++) {
    if (t->role[mode] == CUTT_CPU_ROW || c->mode[mode].in_stride != t->cols || in_k[mode] != t->x_inside) break;
    /* A chunk of a mode that a further mode follows is not contiguous with it; and columns whose chunk is cut short at
     * the end must be the first ones. */
    t->role[mode] = CUTT_CPU_COLUMN;
    t->cols *= t->extent[mode];
    if (one || mode == t->split_k || mode == t->split_m) break;
  }
}

/* The first mode whose positions lie so far apart that there may be a page between them which holds no element, and so
 * need not be memory; rank: there is none. The positions of the modes before it together leave no such gap: a gap is
 * inside of what those span, or between that and the same at the mode's next position. */
static int first_apart(const cutt_canonical *c) {
  enum { SMALLEST_PAGE = 4096 };
  int64_t span = 1;
  for (int i = 0; i < c->rank; i++) {
    const int64_t stride = c->mode[i].in_stride < 0 ? -c->mode[i].in_stride : c->mode[i].in_stride;
    if ((stride - span) * c->elem_bytes >= SMALLEST_PAGE) return i;
    span += (c->mode[i].extent - 1) * stride;
  }
  return c->rank;
}

/* Tile modes and their extents. M_k has to be dense in the output, in units of the smallest stride. */
static bool take_tile_modes(const cutt_canonical *c, const cutt_candidate *candidate, bool *in_k, cutt_cpu_tile *t,
                            const char **why) {
  const int m = candidate->m, k = candidate->k, rank = c->rank;
  for (int i = 0; i < rank; i++) {
    in_k[i] = false;
    t->role[i] = CUTT_CPU_OUTER;
    t->extent[i] = 1;
  }
  t->out_unit = c->mode[c->out_order[0]].out_stride;
  int64_t dense = t->out_unit;
  for (int i = 0; i < k; i++) {
    const int mode = c->out_order[i];
    if (c->mode[mode].out_stride != dense) return refuse(why, "M_k is not contiguous in the output");
    dense = cutt_cpu_next_stride(dense, c->mode[mode].extent);
    in_k[mode] = true;
    t->extent[mode] = c->mode[mode].extent;
    t->role[mode] = CUTT_CPU_INNER;
    t->last_k = mode;
  }
  if (candidate->split_k != 0) {
    if (t->last_k < 0 || candidate->split_k < 1 || candidate->split_k >= c->mode[t->last_k].extent) {
      return refuse(why, "split_k is not a part of the last mode of M_k");
    }
    t->split_k = t->last_k;
    t->extent[t->last_k] = candidate->split_k;
  }
  for (int mode = 0; mode < m; mode++) {
    if (in_k[mode]) continue;
    t->extent[mode] = c->mode[mode].extent;
    t->role[mode] = CUTT_CPU_SEGMENT;
  }
  if (candidate->split_m != 0) {
    if (m == 0 || in_k[m - 1] || candidate->split_m < 1 || candidate->split_m >= c->mode[m - 1].extent) {
      return refuse(why, "split_m is not a part of the last mode of M_m");
    }
    t->split_m = m - 1;
    t->extent[m - 1] = candidate->split_m;
  }
  return true;
}

/* What the kernel takes as its rows, columns and pieces. */
static bool take_kernel_modes(const cutt_canonical *c, const cutt_candidate *candidate, const bool *in_k,
                              cutt_cpu_tile *t, const char **why) {
  const int m = candidate->m, k = candidate->k;
  if (t->kernel == CUTT_CPU_TRANSPOSE) {
    if (m == 0 || k == 0 || c->out_order[0] == 0 || c->mode[0].in_stride != 1) {
      return refuse(why, "a transpose needs different first modes and a contiguous input");
    }
    take_rows(c, candidate, t);
    take_columns(c, candidate, in_k, t);
    const int64_t v = candidate->param[CUTT_CPU_PARAM_VECTOR];
    if (v != 16 && v != 32 && v != 64) return refuse(why, "a vector has 16, 32 or 64 bytes");
    t->block_rows = v / c->elem_bytes;
  } else {
    for (int i = 0; i < k; i++) t->role[c->out_order[i]] = CUTT_CPU_ROW;
    if (t->kernel == CUTT_CPU_GATHER && k > 0 && c->out_order[0] == 0 && c->mode[0].in_stride == 1 &&
        c->mode[0].out_stride == 1) {
      t->role[0] = CUTT_CPU_PIECE;
      t->piece = t->extent[0];
    }
    for (int i = 0; i < k; i++) {
      if (t->role[c->out_order[i]] == CUTT_CPU_ROW) t->rows *= t->extent[c->out_order[i]];
    }
  }
  return true;
}

/* Sizes of the tables, and gaps between what they stand for. */
static bool count_tile(const cutt_canonical *c, cutt_cpu_tile *t, const char **why) {
  const int rank = c->rank;
  const int apart = first_apart(c);
  t->gaps = apart < rank;
  for (int mode = apart; mode < rank; mode++) {
    if (t->role[mode] == CUTT_CPU_ROW && c->mode[mode].in_stride != 0) t->rows_apart = true;
  }
  for (int mode = 0; mode < rank; mode++) {
    if (t->role[mode] == CUTT_CPU_INNER) t->inners *= t->extent[mode];
    if (t->role[mode] == CUTT_CPU_SEGMENT) t->segments *= t->extent[mode];
  }
  if (t->rows > CUTT_CPU_MAX_TABLE || t->cols > CUTT_CPU_MAX_TABLE || t->inners > CUTT_CPU_MAX_TABLE ||
      t->segments > CUTT_CPU_MAX_TABLE) {
    return refuse(why, "a table would be too long");
  }
  if (t->kernel == CUTT_CPU_WINDOW) {
    if (!cutt_cpu_has_window(CUTT_CPU_LINE, c->elem_bytes))
      return refuse(why, "windows are for elements of 2, 4 and 8 bytes");
    if (t->rows > CUTT_CPU_MAX_WINDOWED) return refuse(why, "a table would have too many windows");
    if (t->rows_apart) return refuse(why, "windows would reach into gaps of a page");
  }
  return true;
}

/* The output run, which is staged; and the columns of a step, if each is a run. */
static bool size_runs(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t, const char **why) {
  const bool stream = candidate->param[CUTT_CPU_PARAM_STREAM] != 0;
  t->run = t->piece * t->rows * t->inners * (t->x_inside ? t->cols : 1);
  if (cutt_cpu_stage_stride(t->run * c->elem_bytes) > CUTT_CPU_STAGE_BYTES)
    return refuse(why, "an output run does not fit the staging buffer");
  if (stream) {
    if (t->out_unit != 1) return refuse(why, "stores past the caches need a contiguous output");
    if (t->segments * (t->x_inside ? 1 : t->cols) > CUTT_CPU_CARRIES) return refuse(why, "too many output runs");
  }
  if (t->kernel == CUTT_CPU_TRANSPOSE && !t->x_inside) {
    const int64_t step = candidate->param[CUTT_CPU_PARAM_STEP];
    if (step < 1 || step > CUTT_CPU_MAX_STEP) return refuse(why, "a step has 1 to 64 columns");
    const int64_t fit = CUTT_CPU_STAGE_BYTES / cutt_cpu_stage_stride(t->run * c->elem_bytes),
                  whole = 16 / c->elem_bytes;
    t->steps_cols = (int)step;
    t->staged_cols = (int)(fit >= step ? step : fit > whole ? fit - fit % whole : fit);
  } else {
    t->steps_cols = t->staged_cols = (int)t->cols;
  }
  return true;
}

/* Outside of the tile: first what continues the output run, then the rest. */
static void take_outside(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t) {
  const int k = candidate->k, rank = c->rank;
  int64_t next = t->last_k < 0 ? 0 : cutt_cpu_next_stride(c->mode[t->last_k].out_stride, c->mode[t->last_k].extent);
  for (int i = k; i < rank && next > 0; i++) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_OUTER || c->mode[mode].out_stride != next) break;
    t->role[mode] = CUTT_CPU_SEQUENCE;
    t->sequence[t->sequences++] = mode;
    next = cutt_cpu_next_stride(next, c->mode[mode].extent);
  }
  for (int mode = 0; mode < rank; mode++) {
    if (t->role[mode] == CUTT_CPU_OUTER) t->outer[t->outers++] = mode;
  }
}

/* Who writes the output: the kernel itself, or what empties the staging buffer. */
static void find_writer(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t) {
  t->stream = candidate->param[CUTT_CPU_PARAM_STREAM] != 0 && !c->scale.reads_out;
  if (t->kernel == CUTT_CPU_COPY) return;
  /* Fewer rows than a vector leave garbage behind a column, which only the stage has room for. */
  const bool garbage = t->rows < t->block_rows;
  /* A window's vector is stored whole, beyond the end of a run that is no multiple of it. */
  const bool overruns =
      t->kernel == CUTT_CPU_WINDOW && (t->rows * c->elem_bytes % CUTT_CPU_LINE != 0 || t->split_k >= 0);
  t->shifts = t->stream && t->kernel == CUTT_CPU_TRANSPOSE && !garbage && !t->x_inside && t->inners == 1 &&
              cutt_cpu_has_shift(candidate->param[CUTT_CPU_PARAM_VECTOR], c->elem_bytes);
  t->direct = !garbage && !overruns && !c->scale.active && t->out_unit == 1 && (!t->stream || t->shifts);
}

bool cutt_cpu_tile_derive(const cutt_canonical *c, const cutt_candidate *candidate, cutt_cpu_tile *t,
                          const char **why) {
  const int m = candidate->m, k = candidate->k, rank = c->rank;
  const int64_t kernel = candidate->param[CUTT_CPU_PARAM_KERNEL];
  *why = "";
  if (kernel < 0 || kernel >= CUTT_CPU_KERNELS) return refuse(why, "unknown kernel");
  if (m < 0 || m > rank || k < 0 || k > rank) return refuse(why, "m or k is beyond the rank");
  memset(t, 0, offsetof(cutt_cpu_tile, sequence));
  t->kernel = (cutt_cpu_kernel)kernel;
  t->sequences = t->outers = 0;
  t->split_m = t->split_k = t->last_k = -1;
  t->piece = t->rows = t->cols = t->inners = t->segments = t->run = t->out_unit = t->block_rows = 1;
  t->steps_cols = t->staged_cols = 1;
  if (t->kernel == CUTT_CPU_COPY) {
    if (rank > 1 || (rank == 1 && (c->mode[0].in_stride != 1 || c->mode[0].out_stride != 1))) {
      return refuse(why, "Copy takes contiguous tensors only");
    }
    find_writer(c, candidate, t);
    return true;
  }
  if (rank == 0) return refuse(why, "a single element is a Copy");

  bool in_k[CUTT_MAX_RANK];
  if (!take_tile_modes(c, candidate, in_k, t, why) || !take_kernel_modes(c, candidate, in_k, t, why) ||
      !count_tile(c, t, why) || !size_runs(c, candidate, t, why)) {
    return false;
  }
  take_outside(c, candidate, t);
  if (candidate->param[CUTT_CPU_PARAM_STREAM] != 0 && t->run * c->elem_bytes < CUTT_CPU_LINE &&
      (t->split_k >= 0 || t->sequences > 0)) {
    return refuse(why, "stores past the caches need a line at least from each tile");
  }
  find_writer(c, candidate, t);
  return true;
}
