/* Sums of one operand by tiles (device_sum.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/divisor.h"

enum {
  WINDOW = CUTT_SUM_WINDOW,
  SECTOR = 32,          /* bytes: the least that memory moves */
  MOST_GROUPS = 4,      /* of threads that have long rows by turns */
  MOST_BLOCK_TILES = 16 /* that a block does */
};

/* Seconds of a launch, and of a step of a block that waits for memory alone; what a block takes to begin and to end, and the second
 * launch, which adds up parts, in steps; issue slots of an SM per second that are reached. These and the slots below were fitted to 520
 * sums on an H200, and held to 450 others. */
static const double launch_seconds = 3e-6, wait_seconds = 1.86e-6, steps_to_begin = 0.33, steps_to_join = 3.6,
                    slots_per_second = 4.5e9;

/* Blocks on an SM, for as many as there are registers. */
static int64_t blocks_at_once(const cutt_contraction *c) {
  return c->type->bytes == 2 ? 3 : c->type->bytes > 8 ? 2 : 4;
}

static int64_t window_elements(const cutt_contraction *c) { return WINDOW / c->type->bytes; }

/* ------------------------------------------------------------------------------------------------------------- the tile */

/* The mode with the shortest step in L that is, or is not, summed over; -1: none. */
static int closest_mode(const cutt_contraction *c, bool summed) {
  int best = -1;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_is_summed(c, i) == summed &&
        (best < 0 || llabs(c->mode[i].stride[CUTT_LEFT]) < llabs(c->mode[best].stride[CUTT_LEFT])))
      best = i;
  return best;
}

/* Windows that a row of so many bytes touches at most. */
static int64_t windows_of(int64_t bytes) { return (bytes + WINDOW - 2) / WINDOW + 1; }

/* Threads that have a row's columns. */
static int64_t across(const cutt_contraction *c, const cutt_sum_shape *s) {
  return cutt_ceil_of(s->columns, window_elements(c));
}

/* Results are rows: long ones in chunks, of short ones as many as there is room for. */
static void choose_rows(const cutt_contraction *c, cutt_sum_shape *s) {
  const int64_t element = c->type->bytes, extent = c->mode[s->column_mode].extent;
  s->columns = cutt_sum_chunk(extent, (CUTT_SUM_WINDOWS - 1) * window_elements(c));
  s->rows = s->groups = 1;
  if (s->row_mode >= 0 && s->columns == extent)
    s->rows = cutt_sum_chunk(c->mode[s->row_mode].extent, CUTT_SUM_WINDOWS / windows_of(s->columns * element));
}

/* Results are columns: a group of threads has a row of them, and each thread the same ones of four rows. */
static void choose_columns(const cutt_contraction *c, cutt_sum_shape *s) {
  const int64_t element = c->type->bytes, each = window_elements(c), extent = c->mode[s->column_mode].extent;
  const cutt_contract_mode *rows = &c->mode[s->row_mode];
  const int64_t wanted = cutt_ceil_of(rows->extent, CUTT_SUM_LOADS);
  s->groups = smaller(wanted, (int64_t)MOST_GROUPS);
  int64_t most = CUTT_SUM_THREADS / s->groups;
  while (windows_of(most * WINDOW) * s->groups > CUTT_SUM_THREADS) --most;
  const int64_t chunks = cutt_ceil_of(extent, most * each);
  s->columns = chunks > 1 ? cutt_ceil_of(cutt_ceil_of(extent, chunks), each) * each : extent;
  const int64_t row = s->columns * element;
  s->merged = chunks == 1 && rows->stride[CUTT_LEFT] == s->columns;
  const int64_t room = s->merged ? (CUTT_SUM_WINDOWS - 1) * WINDOW / row : CUTT_SUM_WINDOWS / windows_of(row);
  s->groups = smaller(smaller(wanted, CUTT_SUM_THREADS / across(c, s)), room / CUTT_SUM_LOADS);
  s->rows = s->groups * CUTT_SUM_LOADS;
  s->aligned = true;
  for (int i = 0; i < c->modes; ++i)
    if (i != s->column_mode) s->aligned = s->aligned && c->mode[i].stride[CUTT_LEFT] * element % WINDOW == 0;
}

static bool choose_tile(const cutt_contraction *c, cutt_sum_shape *s) {
  s->column_mode = cutt_fast_mode(c, CUTT_LEFT);
  if (s->column_mode < 0 || c->mode[s->column_mode].stride[CUTT_LEFT] != 1) return false;
  s->columns_kept = !cutt_is_summed(c, s->column_mode);
  s->row_mode = closest_mode(c, s->columns_kept);
  if (s->columns_kept && s->row_mode < 0) return false; /* nothing is summed over */
  if (s->columns_kept)
    choose_columns(c, s);
  else
    choose_rows(c, s);
  return true;
}

/* Issue slots of a warp for a step: whatever there is to add up, for each element, and for a tile's end. */
static double slots_of(const cutt_contraction *c, const cutt_sum_shape *s) {
  enum { FOR_STEP = 230, FOR_FINISH = 226 };
  const bool staged = s->columns_kept && !s->aligned;
  const double half = c->type->bytes == 2 ? 1.26 : 1; /* which are converted */
  const double element = staged ? 4.3 : half * (s->columns_kept ? 2.2 : 2);
  const double reduced = !c->reduce ? 1 : staged ? 1.5 : s->columns_kept ? 2 : 2.5;
  const double elements = (double)(CUTT_SUM_LOADS * window_elements(c)) * element * reduced;
  return FOR_STEP + elements + FOR_FINISH / ceil((double)s->blocks.terms / (double)s->blocks.parts);
}

/* ------------------------------------------------------------------------------------------------------ blocks, the seconds */

/* Bytes of memory that a step moves. */
static double moved_by(const cutt_contraction *c, const cutt_sum_shape *s) {
  const int64_t element = c->type->bytes, results = s->columns_kept ? s->columns : s->rows;
  const int mode = s->columns_kept ? s->column_mode : s->row_mode;
  const double row = (double)(s->columns * element);
  /* The sectors at both ends of a row, of which its neighbours in memory have the rest. */
  const double ends = s->columns == c->mode[s->column_mode].extent ? 0 : SECTOR / 2.0;
  const int64_t step = mode < 0 ? 1 : llabs(c->mode[mode].stride[CUTT_RESULT]);
  const double written = (double)results * (double)smaller(step * element, (int64_t)SECTOR) * (c->beta_is_zero ? 1 : 2);
  return (double)s->rows * (row + ends) + written / (double)s->blocks.terms;
}

static void set_parts(const cutt_contraction *c, const cutt_sum_shape *s, int64_t *part) {
  for (int i = 0; i < c->modes; ++i) part[i] = i == s->column_mode ? s->columns : i == s->row_mode ? s->rows : 1;
}

void cutt_sum_choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_sum_shape *s) {
  *s = (cutt_sum_shape){.column_mode = -1, .row_mode = -1, .blocks = {.parts = 1}, .seconds = INFINITY};
  if (!c->right_is_one || c->no_terms || c->empty || !choose_tile(c, s)) return;
  int64_t part[CUTT_MOST_MODES];
  set_parts(c, s, part);
  if (!cutt_sum_blocks_count(c, part, &s->blocks)) return;
  const double at_once = (double)(larger(r->multiprocessors, (int64_t)1) * blocks_at_once(c));
  const cutt_sum_steps steps = {at_once, steps_to_begin, steps_to_join, MOST_BLOCK_TILES};
  cutt_sum_blocks_choose(c, limit, &steps, &s->blocks);
  if (cutt_sum_blocks_of(&s->blocks) >= INT32_MAX) return;
  const double busy = fmin(cutt_sum_blocks_of(&s->blocks), at_once);
  const double issue =
      slots_of(c, s) * (CUTT_SUM_THREADS / 32.0) * ceil(busy * (double)blocks_at_once(c) / at_once) / slots_per_second;
  const double step = fmax(fmax(busy * moved_by(c, s) / r->memory, issue), wait_seconds);
  s->seconds = launch_seconds + cutt_sum_steps_of(&s->blocks, &steps) * step;
}

/* ------------------------------------------------------------------------------------------------------- the parameters */

/* How the threads' sums of a tile lie in shared memory, and who adds them up. */
static void set_sums(const cutt_contraction *c, const cutt_sum_shape *s, cutt_sum_args *args) {
  const uint32_t row = (uint32_t)windows_of(s->columns * c->type->bytes);
  args->results = (uint32_t)(s->columns_kept ? s->columns : s->rows);
  args->sums = s->columns_kept ? (uint32_t)s->groups : row;
  args->result_apart = s->columns_kept ? 1 : row;
  args->sum_apart = s->columns_kept ? (uint32_t)(across(c, s) * window_elements(c)) : 1;
  for (args->lanes = 1; 2 * args->lanes <= args->sums && 2 * args->lanes * args->results <= CUTT_SUM_THREADS;)
    args->lanes *= 2;
}

void cutt_sum_fill(const cutt_contraction *c, const cutt_sum_shape *s, bool aligned, const int64_t *result_stride,
                   int64_t result_bytes, cutt_sum_args *args, uint32_t *shared_bytes) {
  const int64_t element = c->type->bytes, row = s->columns * element;
  int64_t part[CUTT_MOST_MODES];
  set_parts(c, s, part);
  memset(args, 0, sizeof *args);
  cutt_sum_walk_fill(c, &s->blocks, part, s->column_mode, s->row_mode, result_stride, result_bytes, &args->walk);
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->extent[0] = c->mode[s->column_mode].extent;
  args->extent[1] = s->row_mode < 0 ? 1 : c->mode[s->row_mode].extent;
  args->row_step = s->row_mode < 0 ? 0 : c->mode[s->row_mode].stride[CUTT_LEFT] * element;
  args->high = element;
  for (int i = 0; i < c->modes; ++i) { /* of what has been summed beforehand c does not say it */
    const int64_t span = (c->mode[i].extent - 1) * c->mode[i].stride[CUTT_LEFT] * element;
    *(span < 0 ? &args->low : &args->high) += span;
  }
  const int64_t reach = (s->rows - 1) * args->row_step;
  args->reach[0] = smaller(reach, (int64_t)0) - WINDOW;
  args->reach[1] = larger(reach, (int64_t)0) + row + WINDOW;
  args->columns_kept = s->columns_kept;
  args->staged = s->columns_kept && !(aligned && s->aligned);
  args->merged = args->staged && s->merged;
  args->across = cutt_divide_by(s->columns_kept ? across(c, s) : CUTT_SUM_THREADS);
  args->windows = cutt_divide_by(args->merged                       ? CUTT_SUM_WINDOWS
                                 : s->columns_kept && !args->staged ? across(c, s)
                                                                    : windows_of(row));
  args->apart = s->columns_kept && !args->staged ? (uint32_t)(s->groups * across(c, s)) : CUTT_SUM_THREADS;
  set_sums(c, s, args);
  const int mode = s->columns_kept ? s->column_mode : s->row_mode;
  args->result_step = mode < 0 ? 0 : result_stride[mode] * result_bytes;
  args->sums_at = args->staged ? CUTT_SUM_WINDOWS * WINDOW : 0;
  args->flip = c->conjugate[0] ? UINT32_C(1) << 31 : 0;
  args->op = (uint8_t)c->reduce;
  /* There are at least as many bytes as windows at an end of L are put together in. */
  const uint32_t sums = s->columns_kept ? args->sums * args->sum_apart : args->results * args->sums;
  *shared_bytes = args->sums_at + larger(sums * (uint32_t)cutt_sum_bytes(c), (uint32_t)(CUTT_SUM_THREADS * WINDOW));
}
