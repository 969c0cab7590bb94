/* Sums of one operand by staged tiles (device_staged.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_staged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_join.h"
#include "gpu/divisor.h"

enum {
  WINDOW = CUTT_STAGED_WINDOW,
  LINE = CUTT_STAGED_LINE,
  SPAN = CUTT_STAGED_SPAN,
  WARPS = CUTT_STAGED_THREADS / CUTT_STAGED_WARP,
  SECTOR = 32,                  /* bytes: the least that memory moves */
  RESERVED = 1024,              /* bytes of shared memory that the system takes of each block's */
  MOST_ROW = WARPS * SPAN,      /* bytes of a tile's row, with what is before it in its line: what warps have at once */
  LEAST_ROW = MOST_ROW * 5 / 8, /* of those that are looked at for blocks to end together */
  MOST_BYTES = 32768,           /* of a step's rows */
  LEAST_BYTES = 16384,
  BLOCKS_AT_ONCE = 3, /* on an SM, for as many as there are registers */
  MOST_BLOCK_TILES = 64
};

/* Seconds of a launch; of a step of a block that waits for memory alone; and of an SM for a cache line that a warp asks for; issue slots of an
 * SM per second that are reached; the speed of memory over that of a copy as predicted; what a block takes to begin and to end, in steps; and the
 * seconds, of those without, for which shorter rows are chosen. */
static const double launch_seconds = 4e-6, wait_seconds = 0.4e-6, line_seconds = 3.1e-9, slots_per_second = 5e9,
                    share_of_copy = 1.27, steps_to_begin = 0.14, worth_cutting = 0.97;

/* ------------------------------------------------------------------------------------------------------------- the tile */

static int64_t step_of(const cutt_contraction *c, int mode) {
  return mode < 0 ? 0 : c->mode[mode].stride[CUTT_LEFT] * c->type->bytes;
}

static int64_t row_bytes_of(const cutt_contraction *c, const cutt_staged_shape *s) {
  return s->columns * c->type->bytes;
}

static int64_t slice_bytes_of(const cutt_contraction *c, const cutt_staged_shape *s) {
  return (s->rows - 1) * s->pitch + row_bytes_of(c, s);
}

/* From one run of so many bytes to the next, which is as far as in memory but for whole lines, and far enough that no two have elements in one
 * window. */
static int64_t pitch_of(int64_t bytes, int64_t step) {
  const int64_t least = bytes + 2 * (WINDOW - 1), more = (step - least) % LINE;
  return least + (more < 0 ? more + LINE : more);
}

static int64_t stage_bytes(const cutt_contraction *c, const cutt_staged_shape *s) {
  const int64_t last = larger(row_bytes_of(c, s) + WINDOW - 1, s->across * SPAN); /* which is read to its warp's end */
  return cutt_round_up(LINE - 1 + (s->slices - 1) * s->slice_pitch + (s->rows - 1) * s->pitch + last, LINE);
}

/* Do all rows begin at multiples of so many bytes, if the first one does? */
static bool begin_at(const cutt_contraction *c, const cutt_staged_shape *s, int64_t bytes) {
  return cutt_sum_begins_at(c, s->column_mode, bytes);
}

/* Columns in chunks of nearly the same length, of whole lines, for rows of so many bytes at most. */
static void choose_columns(const cutt_contraction *c, int64_t most, cutt_staged_shape *s) {
  const int64_t element = c->type->bytes, extent = c->mode[s->column_mode].extent, line = LINE / element,
                chunk = cutt_sum_chunk(extent, most / element);
  s->columns = chunk < extent ? smaller(cutt_round_up(chunk, line), extent) : extent;
  s->across = cutt_ceil_of(row_bytes_of(c, s), SPAN);
  s->joined = s->columns == extent && step_of(c, s->row_mode) == row_bytes_of(c, s);
  s->pitch = s->joined ? row_bytes_of(c, s) : pitch_of(row_bytes_of(c, s), step_of(c, s->row_mode));
}

/* Long sums: as many rows as there is room for. */
static bool choose_long(const cutt_contraction *c, int64_t room, int64_t most_row, cutt_staged_shape *s) {
  s->is_short = false;
  s->slice_mode = -1;
  s->slices = 1;
  choose_columns(c, most_row, s);
  if (s->across < 1 || s->pitch < 1 || s->pitch > room) return false;
  s->groups = WARPS / s->across;
  const int64_t most = room / s->pitch;
  s->rows = cutt_sum_chunk(c->mode[s->row_mode].extent, most);
  s->slice_pitch = 0;
  s->pieces = s->joined;
  s->shared_bytes = CUTT_STAGED_STAGES * stage_bytes(c, s) + WARPS * SPAN / c->type->bytes * cutt_sum_bytes(c);
  return true;
}

/* Short sums: all rows, of as many columns as there is room for, or slices of all columns. */
static bool choose_short(const cutt_contraction *c, int64_t room, cutt_staged_shape *s) {
  for (int i = 0; i < c->modes; ++i)
    if (cutt_is_summed(c, i) && i != s->row_mode && c->mode[i].extent > 1) return false;
  s->is_short = true;
  s->rows = c->mode[s->row_mode].extent;
  const int64_t most = room / s->rows - LINE - 2 * WINDOW;
  if (most < SPAN / 2) return false;
  choose_columns(c, most / LINE * LINE, s);
  s->groups = 1;
  s->slice_mode = s->columns < c->mode[s->column_mode].extent ? -1 : cutt_sum_row_mode(c, false, s->column_mode);
  if (step_of(c, s->slice_mode) < 0) s->slice_mode = -1;
  const int64_t step = step_of(c, s->slice_mode), bytes = slice_bytes_of(c, s);
  s->pieces = s->joined && (s->slice_mode < 0 || step == bytes);
  s->slice_pitch = s->pieces ? bytes : pitch_of(bytes, step);
  if (s->slice_pitch < 1) return false;
  s->slices =
      s->slice_mode < 0 ? 1 : cutt_sum_chunk(c->mode[s->slice_mode].extent, larger(room / s->slice_pitch, INT64_C(1)));
  s->shared_bytes = CUTT_STAGED_STAGES * stage_bytes(c, s);
  return true;
}

/* ------------------------------------------------------------------------------------------------------ blocks, the seconds */

/* Issue slots of a warp for a step, of which so many share a tile's end. */
static double slots_of(const cutt_contraction *c, const cutt_staged_shape *s, double terms) {
  enum {
    FOR_STEP = 155,
    FOR_RUN = 80,
    FOR_COPY = 5,
    FOR_SPAN = 108,
    FOR_ROW = 1,
    FOR_FINISH = 117,
    FOR_RESULT = 17,
    FOR_SUM = 4
  };
  const int64_t bytes = c->type->bytes, each = WINDOW / bytes;
  const double length = s->pieces   ? CUTT_STAGED_PIECE - LINE / 2.0
                        : s->joined ? (double)slice_bytes_of(c, s)
                                    : (double)row_bytes_of(c, s),
               runs = s->pieces   ? ceil((double)(s->slices * slice_bytes_of(c, s)) / CUTT_STAGED_PIECE)
                      : s->joined ? (double)s->slices
                                  : (double)(s->slices * s->rows);
  /* Of half types, maxima and pairs of columns take fewer; of 8 bytes, maxima look at both numbers twice. */
  const double narrow = (c->reduce ? 2 : 3) - (begin_at(c, s, 4) ? c->reduce ? 1 : 0.5 : 0),
               number = bytes == 2                        ? narrow
                        : bytes == 8 && !c->type->complex ? (c->reduce ? 7 : 3)
                                                          : 2;
  const double spans = (double)(s->slices * s->across) / WARPS,
               rows = spans * (double)s->rows * (FOR_ROW + (double)each * number),
               copies = runs / WARPS * (FOR_RUN + 4 * FOR_COPY * ceil((length + LINE / 2.0) / (4 * SPAN)));
  if (s->is_short) return FOR_STEP + copies + rows + spans * (FOR_SPAN + 8 * (double)each);
  const double turns = ceil((double)s->columns / CUTT_STAGED_THREADS),
               finish = FOR_FINISH + (double)(2 * each) + turns * (FOR_RESULT + (double)(s->groups - 1) * FOR_SUM);
  return FOR_STEP + copies + rows + finish / terms;
}

/* Cache lines that a block asks for, for a step. */
static double lines_of(const cutt_contraction *c, const cutt_staged_shape *s) {
  const double slice = (double)slice_bytes_of(c, s) / LINE, row = (double)row_bytes_of(c, s) / LINE;
  if (s->pieces) return (double)s->slices * slice + 1;
  if (s->joined) return (double)s->slices * (slice + 1);
  return (double)(s->slices * s->rows) * (begin_at(c, s, LINE) ? ceil(row) : row + 1);
}

/* Bytes of memory that a step moves. */
static double moved_by(const cutt_contraction *c, const cutt_staged_shape *s) {
  /* The sectors at both ends of a row, of which its neighbours in memory have the rest. */
  const double ends = s->columns == c->mode[s->column_mode].extent ? 0 : SECTOR / 2.0;
  const double written =
      (double)(s->columns * s->slices) * cutt_sum_written(c, s->column_mode) * (c->beta_is_zero ? 1 : 2);
  return (double)(s->rows * s->slices) * ((double)row_bytes_of(c, s) + ends) + written / (double)s->blocks.terms;
}

static void set_parts(const cutt_contraction *c, const cutt_staged_shape *s, int64_t *part) {
  for (int i = 0; i < c->modes; ++i)
    part[i] = i == s->column_mode ? s->columns : i == s->row_mode ? s->rows : i == s->slice_mode ? s->slices : 1;
}

/* Of a step, while so many blocks are at work, each of which adds up so many for a result. */
static double step_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_staged_shape *s, double busy,
                           double terms) {
  const double sms = (double)larger(r->multiprocessors, (int64_t)1);
  const double time[] = {1e6 * busy * moved_by(c, s) / (share_of_copy * r->memory),
                         1e6 * busy / sms * lines_of(c, s) * line_seconds,
                         1e6 * ceil(busy / sms) * WARPS * slots_of(c, s, terms) / slots_per_second, 1e6 * wait_seconds};
  const double all[] = {fmax(time[0], time[1]), time[2], time[3]};
  return cutt_together(all, 3) * 1e-6;
}

/* Of a shape whose tile is chosen. */
static void choose_blocks(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_staged_shape *s) {
  int64_t part[CUTT_MOST_MODES];
  s->seconds = INFINITY;
  s->blocks = (cutt_sum_blocks){.parts = 1};
  if (s->shared_bytes > r->block_shared - RESERVED) return;
  set_parts(c, s, part);
  if (!cutt_sum_blocks_count(c, part, &s->blocks)) return;
  const double sms = (double)larger(r->multiprocessors, (int64_t)1),
               each = (double)larger(smaller(r->sm_shared / (s->shared_bytes + RESERVED), (int64_t)BLOCKS_AT_ONCE),
                                     INT64_C(1));
  double step = step_seconds(c, r, s, sms * each, (double)s->blocks.terms);
  const cutt_sum_steps steps = {sms * each, steps_to_begin, cutt_join_seconds() / step,
                                cutt_join_part_seconds(c, r) / step, MOST_BLOCK_TILES};
  cutt_sum_blocks_choose(c, limit, &steps, &s->blocks);
  const double blocks = cutt_sum_blocks_of(&s->blocks);
  if (blocks >= INT32_MAX) return;
  step = step_seconds(c, r, s, fmin(blocks, steps.at_once), ceil((double)s->blocks.terms / (double)s->blocks.parts));
  s->seconds = launch_seconds + cutt_sum_steps_of(&s->blocks, &steps) * step;
}

/* Takes a shape whose tile is chosen if it takes less time than so many times that of the best one. */
static void consider(const cutt_contraction *c, const cutt_rates *r, int64_t limit, double times,
                     cutt_staged_shape *tried, cutt_staged_shape *best) {
  choose_blocks(c, r, limit, tried);
  if (tried->seconds < best->seconds * times * (1 - 1e-9)) *best = *tried;
}

void cutt_staged_choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_staged_shape *s) {
  *s = (cutt_staged_shape){.column_mode = -1, .row_mode = -1, .blocks = {.parts = 1}, .seconds = INFINITY};
  if (!c->right_is_one || c->no_terms || c->empty) return;
  s->column_mode = cutt_fast_mode(c, CUTT_LEFT);
  if (s->column_mode < 0 || c->mode[s->column_mode].stride[CUTT_LEFT] != 1 || cutt_is_summed(c, s->column_mode)) return;
  s->row_mode = cutt_sum_row_mode(c, true, s->column_mode);
  if (s->row_mode < 0 || step_of(c, s->row_mode) < 0) return; /* nothing is summed over, or backwards */
  const int64_t most_row = MOST_ROW - (begin_at(c, s, LINE) ? 0 : LINE);
  cutt_staged_shape tried = *s;
  for (int64_t room = MOST_BYTES; room >= LEAST_BYTES; room /= 2) {
    if (choose_long(c, room, most_row, &tried)) consider(c, r, limit, 1, &tried, s);
    if (choose_short(c, room, &tried)) consider(c, r, limit, 1, &tried, s);
  }
  for (int64_t row = most_row - LINE; row >= LEAST_ROW; row -= LINE) {
    const int64_t columns = tried.columns;
    if (choose_long(c, MOST_BYTES, row, &tried) && tried.columns < columns)
      consider(c, r, limit, worth_cutting, &tried, s);
  }
}

/* ------------------------------------------------------------------------------------------------------- the parameters */

void cutt_staged_fill(const cutt_contraction *c, const cutt_staged_shape *s, const int64_t *result_stride,
                      int64_t result_bytes, cutt_staged_args *args) {
  int64_t part[CUTT_MOST_MODES];
  const int rows = s->is_short ? s->slice_mode : s->row_mode; /* which the walk goes along */
  set_parts(c, s, part);
  memset(args, 0, sizeof *args);
  cutt_sum_walk_fill(c, &s->blocks, part, s->column_mode, rows, result_stride, result_bytes, &args->walk);
  args->is_short = s->is_short;
  args->columns = (uint32_t)s->columns;
  args->rows = (uint32_t)s->rows;
  args->slices = (uint32_t)s->slices;
  args->extent[0] = c->mode[s->column_mode].extent;
  args->extent[1] = rows < 0 ? 1 : c->mode[rows].extent;
  args->row_step = step_of(c, s->row_mode);
  args->slice_step = step_of(c, s->slice_mode);
  args->pitch = (uint32_t)s->pitch;
  args->slice_pitch = (uint32_t)s->slice_pitch;
  cutt_sum_span(c, &args->low, &args->high);
  args->pieces = s->pieces;
  args->run_rows = (uint32_t)(s->joined ? s->rows : 1);
  args->slice_runs = cutt_divide_by(s->joined ? 1 : s->rows);
  args->across = cutt_divide_by(s->across);
  args->pairs = begin_at(c, s, 4);
  args->groups = cutt_divide_by(s->groups);
  args->stage_bytes = (uint32_t)stage_bytes(c, s);
  args->sums_at = CUTT_STAGED_STAGES * args->stage_bytes;
  args->result_step = result_stride[s->column_mode] * result_bytes;
  args->slice_result_step = s->slice_mode < 0 ? 0 : result_stride[s->slice_mode] * result_bytes;
  args->flip = c->conjugate[0] ? UINT32_C(1) << 31 : 0;
  args->op = (uint8_t)c->reduce;
}
