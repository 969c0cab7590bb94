/* A tile that is transposed: blocks of rows and columns turned by kernels, into the stage or straight to the output. */
#include <stdalign.h>
#include <string.h>

#include "base/number.h"
#include "cpu/execute.h"

enum { LINE = CUTT_CPU_LINE };

/* Each row has n bytes of elements. May 16 bytes of each be read, beginning `back` bytes before these? */
static bool may_read(const cutt_cpu_job *j, const char *src, const int64_t *row, int64_t rows, int64_t n,
                     int64_t back) {
  for (int64_t i = 0; i < rows; ++i) {
    const char *elements = src + row[i], *from = elements - back;
    if (from < j->in_begin || from + 16 > j->in_end) return false;
    if (j->p->gaps && !(cutt_cpu_same_page(from, elements) && cutt_cpu_same_page(elements + n - 1, from + 15)))
      return false;
  }
  return true;
}

/* A transpose of columns narrower than a load of 16 bytes, in which the loads of some rows may reach beyond the input's
 * end or into a gap. Vector by vector: loads that begin at the columns if these may be read, else loads that end with
 * the columns (the extra columns in front are stored where the first real one overwrites them), else element by
 * element. */
static void transpose_guarded(const cutt_cpu_job *j, char *stage, const int64_t *pos, const char *src,
                              const int64_t *row, int64_t rows, int64_t cols, cutt_cpu_ahead *ahead) {
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
static bool may_overrun_columns(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, const char *src, int64_t cols) {
  const char *highest = src + j->p->row_max;
  return cols * j->p->w >= 16 || cutt_cpu_may_overrun(j, t, highest + cols * j->p->w, highest + 16);
}

/* The same of all positions of the inner modes; where there are gaps of a page that is not looked at. */
static bool may_overrun_all(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, const char *src) {
  return t->cols * j->p->w >= 16 || (!j->p->gaps && may_overrun_columns(j, t, src + j->p->inner_max, t->cols));
}

/* Do columns begin within lines, in whole elements? */
static bool within_lines(const cutt_cpu_job *j, const char *stage, const int64_t *pos, int64_t cols) {
  uintptr_t starts = 0;
  for (int64_t c = 0; c < cols; ++c) starts |= (uintptr_t)(stage + pos[c]);
  return (starts & (LINE - 1)) != 0 && (starts & (uintptr_t)(j->p->w - 1)) == 0;
}

/* All rows of a step of columns, in whole lines. */
static void transpose_lines(const cutt_cpu_job *j, char *stage, const int64_t *pos, const char *src, const int64_t *row,
                            int64_t rows, int64_t cols, cutt_cpu_ahead *ahead) {
  alignas(LINE) char carry[CUTT_CPU_MAX_STEP][LINE];
  char *dst[CUTT_CPU_MAX_STEP];
  for (int64_t c = 0; c < cols; ++c) dst[c] = stage + pos[c];
  j->p->lines(dst, carry, src, row, rows, cols, true, true, ahead);
}

/* Transposes rows x cols elements from src to stage + pos[c] + r * w. */
static void transpose_block(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *stage, const int64_t *pos,
                            const char *src, int64_t cols, cutt_cpu_ahead *ahead) {
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
static bool may_be_direct(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, const char *in, int64_t cols) {
  const cutt_cpu_plan *p = j->p;
  if (!j->direct || t->rows < p->block_rows) return false;      /* fewer rows leave garbage behind each column */
  if (p->non_temporal && !p->shift && !p->follow) return false; /* a walk along rows, which has no steps */
  if (!p->non_temporal && !p->scaled) return true;
  for (int64_t i = 0; i < t->inners; ++i) {
    if (!may_overrun_columns(j, t, in + p->inner_in[i], cols)) return false;
  }
  return true;
}

/* A step of columns, written to the output without staging. stage: for rows that are collected. */
static void transpose_direct(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, char *out, const int64_t *col_out,
                             char (*carry)[LINE], char *stage, const char *in, int64_t cols, cutt_cpu_ahead *ahead) {
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
  for (int64_t r = 0, n; r < t->rows; r += n) {
    const int64_t left = t->rows - r;
    n = 2 * left < 3 * p->strip_past ? left : p->strip_past;
    for (int64_t c = 0; c < cols; ++c) dst[c] = out + col_out[c] + r * p->w;
    const bool collects =
        p->collected > 0 && cols * p->w == p->collected; /* not of the last columns, if they are fewer */
    if (collects) p->kernels->gather(stage, in, p->row + r, n, p->collected, false);
    p->shift(dst, carry, collects ? stage : in, collects ? p->row_collected : p->row + r, n, cols, t->first && r == 0,
             t->last && n == left, ahead);
  }
}

/* Columns that are all part of one output run. */
static void transpose_inside(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s, int64_t segment,
                             cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment];
  char *out = t->out + p->segment_out[segment];
  if (may_be_direct(j, t, in, t->cols)) {
    transpose_direct(j, t, out, p->col_out, s->carry + (p->non_temporal ? segment : 0), s->stage, in, t->cols, ahead);
    return;
  }
  char *carry = s->carry[p->non_temporal ? segment : 0];
  const int64_t lead = cutt_cpu_begin_run(j, t, out, s->stage, carry);
  if (p->few && may_overrun_all(j, t, in)) { /* all rows: the mode of M_k that may be cut is its last one */
    p->few(s->stage + lead, p->inner_pos, t->inners, in, p->inner_in, p->row, t->cols, &p->few_indices, ahead);
  } else {
    for (int64_t i = 0; i < t->inners; ++i) {
      transpose_block(j, t, s->stage + lead + p->inner_pos[i], p->col_out, in + p->inner_in[i], t->cols, ahead);
    }
  }
  cutt_cpu_flush_run(j, t, out, s->stage, lead, t->rows * t->cols * t->inners * p->w, carry, 0);
}

/* Columns that are parts of several output runs, which are staged side by side. */
static void transpose_mixed(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s, int64_t segment,
                            cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment];
  char *out = t->out + p->segment_out[segment];
  if (j->direct) {
    transpose_direct(j, t, out, p->col_out, NULL, s->stage, in, t->cols, ahead);
    return;
  }
  char(*carry)[LINE] = s->carry + (p->non_temporal ? segment * p->apart : 0);
  int64_t *pos = (int64_t *)(void *)s->head[1], lead[CUTT_CPU_MAX_STEP]; /* little stack is promised */
  for (int64_t i = 0; i < t->apart; ++i) {
    lead[i] =
        cutt_cpu_begin_run(j, t, out + p->apart_out[i], s->stage + i * p->stage_stride, carry[p->non_temporal ? i : 0]);
  }
  for (int64_t c = 0; c < t->cols; ++c) pos[c] = p->col_out[c] + lead[p->col_run[c]];
  for (int64_t i = 0; i < t->inners; ++i) {
    transpose_block(j, t, s->stage + p->inner_pos[i], pos, in + p->inner_in[i], t->cols, ahead);
  }
  const int64_t bytes = t->rows * (t->cols / t->apart) * t->inners * p->w;
  for (int64_t i = 0; i < t->apart; ++i) {
    cutt_cpu_flush_run(j, t, out + p->apart_out[i], s->stage + i * p->stage_stride, lead[i], bytes,
                       carry[p->non_temporal ? i : 0], 0);
  }
}

/* Columns [c0, c0 + cols), each an output run, no more than the stage holds. */
static void transpose_staged(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s, int64_t segment,
                             int64_t c0, int64_t cols, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment] + c0 * p->w;
  char *out = t->out + p->segment_out[segment];
  char(*carry)[LINE] = s->carry + (p->non_temporal ? segment * p->cols + c0 : 0);
  int64_t pos[CUTT_CPU_MAX_STEP], lead[CUTT_CPU_MAX_STEP];
  const bool moved = !p->non_temporal && !p->scale.active && p->run_stride == p->w; /* as they are: all by one call */
  for (int64_t c = 0; moved && c < cols; ++c) pos[c] = c * p->stage_stride;
  for (int64_t c = 0; !moved && c < cols; ++c) {
    char *place = s->stage + c * p->stage_stride;
    lead[c] = cutt_cpu_begin_run(j, t, out + p->col_out[c0 + c], place, carry[p->non_temporal ? c : 0]);
    pos[c] = c * p->stage_stride + lead[c];
  }
  for (int64_t i = 0; i < t->inners; ++i) {
    transpose_block(j, t, s->stage + p->inner_pos[i], pos, in + p->inner_in[i], cols, ahead);
  }
  const int64_t bytes = t->rows * t->inners * p->w;
  if (moved) p->kernels->runs(out, p->col_out + c0, s->stage, pos, cols, bytes);
  for (int64_t c = 0; !moved && c < cols; ++c) {
    cutt_cpu_flush_run(j, t, out + p->col_out[c0 + c], s->stage + c * p->stage_stride, lead[c], bytes,
                       carry[p->non_temporal ? c : 0], 0);
  }
}

/* A step of columns, from column c0 on. */
static void transpose_step(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s, int64_t segment,
                           int64_t c0, int64_t cols, cutt_cpu_ahead *ahead) {
  const cutt_cpu_plan *p = j->p;
  const char *in = t->in + p->segment_in[segment] + c0 * p->w;
  if (may_be_direct(j, t, in, cols)) {
    transpose_direct(j, t, t->out + p->segment_out[segment], p->col_out + c0,
                     s->carry + (p->non_temporal ? segment * p->cols + c0 : 0), s->stage, in, cols, ahead);
    return;
  }
  for (int64_t c = 0; c < cols; c += p->step_staged) {
    transpose_staged(j, t, s, segment, c0 + c, smaller(cols - c, p->step_staged), ahead);
  }
}

void cutt_cpu_transpose_tile(const cutt_cpu_job *j, const cutt_cpu_tile_at *t, cutt_cpu_scratch *s,
                             cutt_cpu_ahead *next) {
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
      const cutt_cpu_columns columns = {.out = t->out + p->segment_out[segment],
                                        .col = p->col_out,
                                        .count = t->cols,
                                        .run = run,
                                        .carry = s->carry + at,
                                        .head = s->head + at,
                                        .even = p->even_rows,
                                        .step = p->row_step};
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
      if (left > p->step && p->step < p->cols &&
          p->steps_ahead) { /* what comes next is the same rows, one step further */
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
