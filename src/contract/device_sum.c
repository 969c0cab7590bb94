/* Sums of one operand by tiles (device_sum.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_join.h"
#include "gpu/divisor.h"

enum {
  WINDOW = CUTT_SUM_WINDOW,
  THREADS = CUTT_SUM_THREADS,
  BLOCK_WARPS = CUTT_SUM_THREADS / CUTT_SUM_WARP,
  LOADS = CUTT_SUM_LOADS,
  SECTOR = 32,          /* bytes: the least that memory moves */
  LINE = 128,           /* bytes: the least that threads ask for at once */
  MOST_QUADS = 8,       /* loads at once, one after the other, of a thread for a tile */
  MOST_ROW = 40960,     /* bytes that a warp or less has of a row */
  MOST_CUT = 4,         /* parts of the best chunk of columns, that are looked at */
  MOST_CHUNKS = 16,     /* of columns, that are looked at */
  MOST_BLOCK_TILES = 16 /* that a block does */
};

/* Seconds of a launch; of a block to begin; of loads at once for which a block waits when there is nothing else; of a tile's end; and of an SM
 * for a cache line that a warp asks for; issue slots of an SM per second that are reached; the speed of memory over that of a copy as
 * predicted, of results that are rows, and that are columns; and the seconds, of those without, for which shorter chunks of columns are chosen. */
static const double worth_cutting = 0.93, launch_seconds = 4e-6, begin_seconds = 0.7e-6, wait_seconds = 1.15e-6,
                    finish_seconds = 0.7e-6, line_seconds = 3.3e-9, slots_per_second = 5.4e9, share_of_rows = 1.3,
                    share_of_columns = 1;

/* Blocks on an SM, for as many as there are registers. */
static int64_t blocks_at_once(const cutt_contraction *c) { return c->type->bytes > 8 ? 2 : 4; }

static int64_t window_elements(const cutt_contraction *c) { return WINDOW / c->type->bytes; }

/* ------------------------------------------------------------------------------------------------------------- the tile */

static int64_t step_of(const cutt_contraction *c, int mode) {
  return llabs(c->mode[mode].stride[CUTT_LEFT]) * c->type->bytes;
}

/* Rows with this step after which one begins where the first did in 16 bytes. */
static int64_t period_of(int64_t step) {
  int64_t period = 1;
  while (period * step % WINDOW) period *= 2;
  return period;
}

/* Windows that a row of so many bytes touches at most. */
static int64_t windows_of(int64_t bytes) { return (bytes + WINDOW - 2) / WINDOW + 1; }

/* Results are columns, of one chunk of so many or all. The more threads have a part in them, and the longer rows are, the better. */
static double worth_of(const cutt_contraction *c, const cutt_sum_shape *s) {
  enum { RUN = 256 }; /* bytes: what the beginning of a run costs memory */
  const double row = (double)(s->columns * c->type->bytes);
  return (double)(s->lanes * s->groups) / THREADS * row / (row + RUN);
}

static bool choose_columns(const cutt_contraction *c, cutt_sum_shape *s) {
  const int64_t element = c->type->bytes, each = window_elements(c), extent = c->mode[s->column_mode].extent;
  s->row_mode = cutt_sum_row_mode(c, true, s->column_mode);
  if (s->row_mode < 0) return false; /* nothing is summed over */
  s->period = period_of(step_of(c, s->row_mode));
  for (int i = 0; i < c->modes; ++i)
    if (cutt_is_summed(c, i) && step_of(c, i) % (WINDOW / s->period)) return false;
  const int64_t most = THREADS / s->period, fits = (most - 1) * each, wanted = LINE / element;
  const int64_t least = cutt_ceil_of(extent, fits > wanted ? fits / wanted * wanted : fits);
  cutt_sum_shape tried = *s;
  for (int64_t chunks = least; chunks < least + MOST_CHUNKS; ++chunks) {
    const int64_t columns = cutt_ceil_of(extent, chunks), unit = columns > 2 * wanted ? wanted : each;
    tried.columns = chunks > 1 ? smaller(cutt_round_up(columns, unit), extent) : extent;
    tried.lanes = windows_of(tried.columns * element);
    if (tried.lanes > most) continue;
    const int64_t rows = cutt_round_up(c->mode[s->row_mode].extent, s->period);
    tried.groups = smaller(THREADS / tried.lanes / s->period * s->period, rows);
    if (s->lanes && worth_of(c, &tried) <= worth_of(c, s) * 1.02) continue;
    *s = tried;
  }
  return s->lanes > 0;
}

/* Loads at once of a thread for a tile of rows. */
static int64_t row_quads_of(const cutt_contraction *c, const cutt_sum_shape *s) {
  const int64_t element = c->type->bytes, unit = s->along ? CUTT_SUM_LINE : WINDOW,
                each = s->lanes * WINDOW * (s->along ? LOADS : 1);
  const bool aligned = s->row_mode < 0 || step_of(c, s->row_mode) % unit == 0;
  return cutt_ceil_of(s->columns * element + (aligned ? 0 : unit - 2), each);
}

/* Issue slots of a warp: for a step, for loads at once, for each of their numbers, and for a tile's end. */
typedef struct slots {
  double step, quad, number, finish;
} slots;

static slots slots_for(const cutt_contraction *c, const cutt_sum_shape *s) {
  const double bytes = (double)c->type->bytes, half = bytes == 2 ? 1 : 0, wide = bytes == 8 ? 1 : 0;
  const slots by = {.step = s->columns_kept ? 110 : 137,
                    .quad = s->columns_kept ? 45 : 130,
                    .number = c->reduce && half > 0 ? 1 : 1 + half + wide + (c->reduce ? 3 * wide : 0),
                    .finish = s->columns_kept ? 160
                              : s->along      ? 130
                                              : 190};
  return by;
}

/* Loads at once of a thread for a tile, one after the other. */
static double quads_of(const cutt_contraction *c, const cutt_sum_shape *s) {
  return (double)(s->columns_kept ? cutt_ceil_of(s->rows, s->groups * LOADS) : row_quads_of(c, s));
}

/* Issue slots of a warp for a tile, of which so many share an end. */
static double slots_of(const cutt_contraction *c, const cutt_sum_shape *s, double terms) {
  const slots by = slots_for(c, s);
  return by.step + quads_of(c, s) * (by.quad + by.number * (double)(LOADS * window_elements(c))) + by.finish / terms;
}

/* Cache lines that a warp asks for, for a tile. */
static double lines_of(const cutt_contraction *c, const cutt_sum_shape *s) {
  const double lanes = (double)smaller(s->lanes, (int64_t)CUTT_SUM_WARP), run = lanes * WINDOW / LINE;
  const bool aligned = s->columns_kept ? cutt_sum_begins_at(c, s->column_mode, LINE) : s->along;
  const double more = aligned ? fmax(0, 1 - run) : 1 - WINDOW / (double)LINE; /* of each group's */
  return LOADS * quads_of(c, s) * CUTT_SUM_WARP / lanes * (run + more);
}

/* Of what goes on at the same time. */
static double together(double a, double b, double c) {
  const double time[] = {1e6 * a, 1e6 * b, 1e6 * c};
  return cutt_together(time, 3) * 1e-6;
}

/* Results are rows: of one all threads or a few lanes have loads at once, or lanes one of each of several rows. */
static void choose_rows(const cutt_contraction *c, cutt_sum_shape *s) {
  const int64_t extent = c->mode[s->column_mode].extent, bytes = extent * c->type->bytes;
  const int mode = cutt_sum_row_mode(c, false, s->column_mode);
  const int64_t rows = mode < 0 ? 1 : c->mode[mode].extent;
  double least = INFINITY;
  s->period = 1;
  for (int along = 1; along >= 0; --along) {
    for (int64_t lanes = along ? THREADS : CUTT_SUM_WARP; lanes >= (along ? LINE / WINDOW : 2); lanes /= 2) {
      if (lanes > CUTT_SUM_WARP && lanes < THREADS) continue;
      if (lanes <= CUTT_SUM_WARP && bytes > (along ? MOST_ROW : MOST_ROW / 16)) continue;
      cutt_sum_shape tried = *s;
      tried.along = along == 1;
      tried.lanes = lanes;
      tried.groups = THREADS / lanes;
      tried.row_mode = lanes == THREADS ? -1 : mode;
      tried.columns = extent;
      tried.rows = lanes == THREADS ? 1 : smaller(rows, tried.groups * (along ? 1 : LOADS));
      const double tiles = (double)cutt_ceil_of(rows, tried.rows);
      const double all = tiles * together(BLOCK_WARPS * slots_of(c, &tried, 1) / slots_per_second,
                                          BLOCK_WARPS * lines_of(c, &tried) * line_seconds, 0);
      if (!(all < least * 0.98)) continue;
      least = all;
      *s = tried;
    }
  }
}

static bool choose_tile(const cutt_contraction *c, cutt_sum_shape *s) {
  s->column_mode = cutt_fast_mode(c, CUTT_LEFT);
  if (s->column_mode < 0 || c->mode[s->column_mode].stride[CUTT_LEFT] != 1) return false;
  s->columns_kept = !cutt_is_summed(c, s->column_mode);
  if (s->columns_kept) return choose_columns(c, s);
  choose_rows(c, s);
  return true;
}

/* Columns in shorter chunks, of which there are more for the last blocks to end together. */
static bool cut_columns(const cutt_contraction *c, int64_t by, cutt_sum_shape *s) {
  const int64_t unit = LINE / c->type->bytes, columns = cutt_round_up(cutt_ceil_of(s->columns, by), unit);
  if (!s->columns_kept || columns >= s->columns) return false;
  s->columns = columns;
  s->lanes = windows_of(columns * c->type->bytes);
  s->groups =
      smaller(THREADS / s->lanes / s->period * s->period, cutt_round_up(c->mode[s->row_mode].extent, s->period));
  return true;
}

/* How much a tile has of what threads do so many times: rows, or of a long row. */
static void set_quads(const cutt_contraction *c, int64_t quads, cutt_sum_shape *s) {
  if (s->columns_kept) {
    const int64_t extent = c->mode[s->row_mode].extent, at_once = s->groups * LOADS;
    s->rows = smaller(cutt_round_up(cutt_sum_chunk(extent, at_once * quads), at_once), extent);
  } else if (s->lanes == THREADS) {
    const int64_t extent = c->mode[s->column_mode].extent, each = THREADS * LOADS * window_elements(c);
    s->columns = smaller(cutt_round_up(cutt_sum_chunk(extent, each * quads), CUTT_SUM_LINE / c->type->bytes), extent);
  }
}

/* ------------------------------------------------------------------------------------------------------ blocks, the seconds */

/* Bytes of memory that a step moves. */
static double moved_by(const cutt_contraction *c, const cutt_sum_shape *s) {
  const int64_t element = c->type->bytes, results = s->columns_kept ? s->columns : s->rows;
  const int mode = s->columns_kept ? s->column_mode : s->row_mode;
  const double row = (double)(s->columns * element);
  /* The sectors at both ends of a row, of which its neighbours in memory have the rest. */
  const double ends = s->columns == c->mode[s->column_mode].extent ? 0 : SECTOR / 2.0;
  const double written = (double)results * cutt_sum_written(c, mode) * (c->beta_is_zero ? 1 : 2);
  return (double)s->rows * (row + ends) + written / (double)s->blocks.terms;
}

static void set_parts(const cutt_contraction *c, const cutt_sum_shape *s, int64_t *part) {
  for (int i = 0; i < c->modes; ++i) part[i] = i == s->column_mode ? s->columns : i == s->row_mode ? s->rows : 1;
}

/* Of a shape whose tile is chosen. */
static void choose_blocks(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_sum_shape *s) {
  int64_t part[CUTT_MOST_MODES];
  s->seconds = INFINITY;
  set_parts(c, s, part);
  if (!cutt_sum_blocks_count(c, part, &s->blocks)) return;
  const double sms = (double)larger(r->multiprocessors, (int64_t)1), at_once = sms * (double)blocks_at_once(c);
  double step = 0, steps = 0;
  for (int i = 0; i < 2; ++i) { /* the second time with the blocks that there are */
    const double busy = i ? fmin(cutt_sum_blocks_of(&s->blocks), at_once) : at_once,
                 terms = ceil((double)s->blocks.terms / (double)s->blocks.parts),
                 warps = BLOCK_WARPS * ceil(busy / sms), issue = warps * slots_of(c, s, terms) / slots_per_second,
                 memory =
                     fmax(busy * moved_by(c, s) / ((s->columns_kept ? share_of_columns : share_of_rows) * r->memory),
                          busy / sms * BLOCK_WARPS * lines_of(c, s) * line_seconds);
    step = together(memory, issue, quads_of(c, s) * wait_seconds + finish_seconds / terms);
    const cutt_sum_steps by = {at_once, begin_seconds / step, cutt_join_seconds() / step,
                               cutt_join_part_seconds(c, r) / step, MOST_BLOCK_TILES};
    if (!i) cutt_sum_blocks_choose(c, limit, &by, &s->blocks);
    steps = cutt_sum_steps_of(&s->blocks, &by);
  }
  if (cutt_sum_blocks_of(&s->blocks) >= INT32_MAX) return;
  s->seconds = launch_seconds + steps * step;
}

void cutt_sum_choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_sum_shape *s) {
  *s = (cutt_sum_shape){.column_mode = -1, .row_mode = -1, .blocks = {.parts = 1}, .seconds = INFINITY};
  if (!c->right_is_one || c->no_terms || c->empty || !choose_tile(c, s)) return;
  const cutt_sum_shape first = *s;
  for (int64_t by = 1; by <= MOST_CUT; by *= 2) {
    cutt_sum_shape tried = first;
    if (by > 1 && !cut_columns(c, by, &tried)) break;
    for (int64_t quads = MOST_QUADS; quads >= 1; quads /= 2) {
      tried.blocks = (cutt_sum_blocks){.parts = 1};
      set_quads(c, quads, &tried);
      choose_blocks(c, r, limit, &tried);
      if (tried.seconds < s->seconds * (by > 1 ? worth_cutting : 1 - 1e-9)) *s = tried;
    }
  }
}

/* ------------------------------------------------------------------------------------------------------- the parameters */

void cutt_sum_fill(const cutt_contraction *c, const cutt_sum_shape *s, const int64_t *result_stride,
                   int64_t result_bytes, cutt_sum_args *args, uint32_t *shared_bytes) {
  const int64_t element = c->type->bytes, each = window_elements(c);
  int64_t part[CUTT_MOST_MODES];
  set_parts(c, s, part);
  memset(args, 0, sizeof *args);
  cutt_sum_walk_fill(c, &s->blocks, part, s->column_mode, s->row_mode, result_stride, result_bytes, &args->walk);
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->extent[0] = c->mode[s->column_mode].extent;
  args->extent[1] = s->row_mode < 0 ? 1 : c->mode[s->row_mode].extent;
  args->row_step = s->row_mode < 0 ? 0 : c->mode[s->row_mode].stride[CUTT_LEFT] * element;
  cutt_sum_span(c, &args->low, &args->high);
  args->columns_kept = s->columns_kept;
  args->along = s->along;
  args->period = (uint32_t)s->period;
  args->lanes = cutt_divide_by(s->lanes);
  args->groups = (uint32_t)s->groups;
  args->batch = cutt_divide_by(s->columns_kept ? LOADS * s->groups : s->lanes * WINDOW * (s->along ? LOADS : 1));
  args->sum_apart = (uint32_t)(s->columns + cutt_ceil_of(s->columns, each));
  const int64_t most = smaller(smaller(THREADS / s->columns, s->groups), (int64_t)CUTT_SUM_WARP);
  while ((INT64_C(2) << args->joining_bits) <= most) ++args->joining_bits;
  const int mode = s->columns_kept ? s->column_mode : s->row_mode;
  args->result_step = mode < 0 ? 0 : result_stride[mode] * result_bytes;
  args->flip = c->conjugate[0] ? UINT32_C(1) << 31 : 0;
  args->op = (uint8_t)c->reduce;
  *shared_bytes =
      (s->columns_kept ? args->groups * args->sum_apart : THREADS / CUTT_SUM_WARP) * (uint32_t)cutt_sum_bytes(c);
}
