/* Tiles of products (device_multiply.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_multiply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/divisor.h"

enum { LINE = 128, SECTOR = 32 }; /* bytes */

/* Seconds of a launch; the share of a copy's speed that is reached; of operands that come again and again from L2, their part of the
 * time from memory, and of those that are turned, whose neighbours are few at a time; the share of the speed of large products that multiplications one by one reach: doubles have tensor cores
 * there. */
static const double launch_seconds = 4e-6, share_of_copy = 0.8, again = 0.35, again_turned = 2.5, share_f32 = 0.55,
                    share_f64 = 0.38;
/* Operations per second of an SM that the kernel reaches where it is bound by them, in float and double. */
static const double sm_f32 = 200e9, sm_f64 = 120e9;
/* Measured seconds over those that follow from all this: the most of TCCG's contractions on an H200 that are bound by memory. */
static const double measured_f32 = 1.75, measured_f64 = 1.5,
                    measured_many = 2.5; /* the last of many tiles beside each other */

static int64_t rows_of(const cutt_contraction *c) { return (int64_t)CUTT_MULTIPLY_ROWS(c->type->bytes); }

static bool is_term(const cutt_contract_mode *mode) { return cutt_mode_role(mode) == CUTT_ROLE_K; }

/* Has it a step in D and in one operand, and none in the other? */
static bool is_of(const cutt_contract_mode *mode, cutt_tensor operand) {
  return !is_term(mode) && cutt_mode_role(mode) == (operand == CUTT_LEFT ? CUTT_ROLE_M : CUTT_ROLE_N);
}

static int64_t even_chunk(int64_t extent, int64_t most) {
  const int64_t chunks = (extent + most - 1) / most;
  return (extent + chunks - 1) / chunks;
}

/* Modes for which `wanted` is true, by their steps in a tensor. */
static int sort(const cutt_contraction *c, const bool *wanted, cutt_tensor t, int8_t *mode) {
  int sorted[CUTT_MOST_MODES], count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (wanted[i]) sorted[count++] = i;
  }
  cutt_sort_modes(c, t, sorted, count);
  for (int i = 0; i < count; ++i) mode[i] = (int8_t)sorted[i];
  return count;
}

/* ------------------------------------------------------------------------------------------------------------- the shape */

/* A chunk of whole sectors of memory that divides the extent, if there is one that is not much shorter than `most`. */
static int64_t sector_chunk(const cutt_contraction *c, int64_t extent, int64_t most) {
  const int64_t unit = SECTOR / c->type->bytes;
  if (extent <= most) return extent;
  for (int64_t chunk = most / unit * unit; chunk > 0 && 2 * chunk >= most; chunk -= unit)
    if (extent % chunk == 0) return chunk;
  return most >= unit ? most / unit * unit : even_chunk(extent, most);
}

static void add_row(cutt_multiply_shape *s, int mode, int64_t chunk) {
  if (chunk == 1) return;
  s->part[mode] = (int16_t)chunk; /* at most all rows */
  s->row_mode[s->row_modes++] = (int8_t)mode;
  s->rows *= chunk;
}

/* Rows of the modes listed, until there are `most` of them. */
static void fill_rows(const cutt_contraction *c, const int8_t *mode, int count, int64_t most, cutt_multiply_shape *s) {
  for (int i = 0; i < count; ++i) {
    const int64_t extent = c->mode[mode[i]].extent, room = most / s->rows;
    if (s->part[mode[i]] > 1) continue; /* it has its part already */
    if (room < 2) return;
    add_row(s, mode[i], extent <= room ? extent : sector_chunk(c, extent, room));
    if (extent > room) return;
  }
}

/* Of neighbours of D and those of the operand, the larger tensor's have lines of memory, or all of a short mode. */
static void choose_rows(const cutt_contraction *c, cutt_multiply_shape *s) {
  bool wanted[CUTT_MOST_MODES];
  int8_t mode[CUTT_MOST_MODES];
  for (int i = 0; i < c->modes; ++i) wanted[i] = is_of(&c->mode[i], s->by_rows);
  const int count = sort(c, wanted, CUTT_RESULT, mode), fast = cutt_fast_mode(c, s->by_rows);
  const int64_t line = LINE / c->type->bytes;
  s->apart = s->run = 1;
  if (fast >= 0 && wanted[fast] && fast != mode[0]) {
    const int64_t extent = c->mode[fast].extent;
    const bool operand_first = c->volume[s->by_rows] > c->volume[CUTT_RESULT];
    const int64_t run = sector_chunk(c, extent, operand_first ? line : rows_of(c) / (2 * line));
    int before = 0;
    while (before < count && mode[before] != fast) ++before;
    fill_rows(c, mode, before, operand_first ? rows_of(c) / run : 2 * line, s);
    s->apart = s->rows;
    s->run = operand_first ? run : sector_chunk(c, extent, rows_of(c) / s->rows);
    add_row(s, fast, s->run);
  }
  fill_rows(c, mode, count, rows_of(c), s);
}

static void choose_columns(const cutt_contraction *c, cutt_multiply_shape *s) {
  bool wanted[CUTT_MOST_MODES];
  int8_t mode[CUTT_MOST_MODES];
  for (int i = 0; i < c->modes; ++i) wanted[i] = is_of(&c->mode[i], cutt_other_operand(s->by_rows));
  const int count = sort(c, wanted, CUTT_RESULT, mode);
  for (int i = 0; i < count; ++i) {
    const int64_t extent = c->mode[mode[i]].extent, room = CUTT_MULTIPLY_COLUMNS / s->columns;
    if (room < 2) return;
    const int64_t chunk = extent <= room ? extent : even_chunk(extent, room);
    if (chunk == 1) return;
    s->part[mode[i]] = (int16_t)chunk;
    s->column_mode[s->column_modes++] = mode[i];
    s->columns *= chunk;
    if (extent > room) return;
  }
}

static void choose_terms(const cutt_contraction *c, cutt_multiply_shape *s) {
  bool wanted[CUTT_MOST_MODES];
  for (int i = 0; i < c->modes; ++i) {
    wanted[i] = is_term(&c->mode[i]);
    if (wanted[i]) s->terms *= c->mode[i].extent;
  }
  s->term_modes = sort(c, wanted, s->by_rows, s->term_mode);
  s->depth = even_chunk(s->terms, CUTT_MULTIPLY_DEPTH);
  for (int side = 0; side < 2; ++side) {
    const int fast = cutt_fast_mode(c, side ? cutt_other_operand(s->by_rows) : s->by_rows);
    s->by_terms[side] = fast >= 0 && wanted[fast];
  }
}

/* ------------------------------------------------------------------------------------------------------------- the seconds */

/* Times as many bytes as memory has to move, where elements follow each other in such runs. */
static double waste_of(const cutt_contraction *c, cutt_tensor t, double run) {
  const int fast = cutt_fast_mode(c, t);
  if (fast < 0) return 1;
  const double step = (double)llabs(c->mode[fast].stride[t]) * c->type->bytes, bytes = c->type->bytes;
  if (step >= SECTOR) return SECTOR / bytes;
  return (run * bytes + SECTOR / 2.0) / (run * bytes) * step / bytes;
}

/* Elements of a tensor that follow each other in a tile. */
static double run_of(const cutt_contraction *c, const cutt_multiply_shape *s, cutt_tensor t) {
  const int fast = cutt_fast_mode(c, t);
  if (fast < 0) return 1;
  if (is_term(&c->mode[fast])) return (double)smaller(s->terms, c->mode[fast].extent);
  double run = s->part[fast];
  for (int i = 0; i < c->modes; ++i)
    if (i != fast && (double)llabs(c->mode[i].stride[t]) == run && s->part[fast] == c->mode[fast].extent)
      run *= s->part[i];
  return run;
}

static double seconds_of(const cutt_contraction *c, const cutt_rates *r, const cutt_multiply_shape *s) {
  const double bytes = c->type->bytes, columns = (double)cutt_round_up(s->columns, 8);
  const double lots = ceil((double)s->terms / (double)s->depth) * (double)s->depth;
  const double flops = 2 * (double)s->tiles * (double)rows_of(c) * columns * lots;
  const bool wide = c->type->type == CUTT_F64;
  const double own = (double)r->multiprocessors * (wide ? sm_f64 : sm_f32), known = wide ? share_f64 : share_f32;
  const double speed = r->blas_flops > 0 ? fmin(own, known * r->blas_flops) : own;
  const cutt_tensor a = s->by_rows, b = cutt_other_operand(a);
  const double of_rows = (double)c->volume[a] * bytes * waste_of(c, a, run_of(c, s, a)),
               of_columns = (double)s->tiles * columns * lots * bytes,
               of_result = (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT] * bytes *
                           waste_of(c, CUTT_RESULT, run_of(c, s, CUTT_RESULT));
  const double moved = of_rows * (1 + (s->apart > 1 ? again_turned : again) * (double)(s->column_tiles - 1)) +
                       (double)c->volume[b] * bytes + again * of_columns + of_result;
  const double work = flops / speed, move = moved / (share_of_copy * r->memory);
  const double measured = (wide ? measured_f64 : measured_f32) * (s->column_tiles > 2 ? measured_many : 1);
  return launch_seconds + measured * (fmax(work, move) + 0.25 * fmin(work, move));
}

void cutt_multiply_choose(const cutt_contraction *c, const cutt_rates *r, cutt_tensor by_rows, cutt_multiply_shape *s) {
  *s = (cutt_multiply_shape){
      .by_rows = by_rows, .rows = 1, .columns = 1, .terms = 1, .tiles = 1, .column_tiles = 1, .seconds = INFINITY};
  for (int i = 0; i < c->modes; ++i) s->part[i] = 1;
  if ((c->type->type != CUTT_F32 && c->type->type != CUTT_F64) || c->right_is_one) return;
  choose_terms(c, s);
  if (s->terms < 2 || s->terms > CUTT_MULTIPLY_TERMS) return;
  const int fast = cutt_fast_mode(c, CUTT_RESULT);
  if (fast < 0 || !is_of(&c->mode[fast], by_rows))
    return; /* threads side by side would write elements that lie apart */
  choose_rows(c, s);
  choose_columns(c, s);
  double tiles = 1;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t chunks = is_term(&c->mode[i]) ? 1 : (c->mode[i].extent + s->part[i] - 1) / s->part[i];
    tiles *= (double)chunks;
    if (is_of(&c->mode[i], cutt_other_operand(by_rows))) s->column_tiles *= chunks;
  }
  if (tiles >= INT32_MAX) return;
  s->tiles = (int64_t)tiles;
  s->seconds = seconds_of(c, r, s);
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

typedef struct maker {
  const cutt_contraction *c;
  const cutt_multiply_shape *s;
  cutt_multiply_args *args;
  uint32_t digits, bounds;
  uint8_t bound[CUTT_MOST_MODES];
} maker;

static void add_digit(maker *m, int mode, int64_t extent, int64_t along) {
  const int64_t bytes = m->c->type->bytes, *stride = m->c->mode[mode].stride;
  if (extent == 1) return;
  m->args->digit[m->digits++] = (cutt_multiply_digit){
      .extent = cutt_divide_by(extent),
      .bound = m->bound[mode],
      .step = {stride[m->s->by_rows] * along * bytes, stride[cutt_other_operand(m->s->by_rows)] * along * bytes,
               stride[CUTT_RESULT] * along * bytes},
      .along = along};
}

static void set_bounds(maker *m) {
  for (int i = 0; i < CUTT_MULTIPLY_BOUNDS; ++i) m->args->extent[i] = INT64_MAX;
  for (int i = 0; i < m->c->modes; ++i) {
    m->bound[i] = CUTT_MULTIPLY_BOUNDS;
    if (m->c->mode[i].extent % m->s->part[i] == 0) continue;
    m->bound[i] = (uint8_t)m->bounds++;
    m->args->extent[m->bound[i]] = m->c->mode[i].extent;
  }
}

/* Puts a mode before the others, if it is one of them. */
static void put_first(int first, int8_t *mode, int count) {
  int at = 0;
  while (at < count && mode[at] != first) ++at;
  if (at == count) return;
  memmove(mode + 1, mode, (size_t)at * sizeof *mode);
  mode[0] = (int8_t)first;
}

/* Tiles beside each other in columns follow each other, since they have the same rows; then those beside each other in the operand
 * that is turned, of which each has short runs: what memory moves for one is in L2 for the next. */
static void list_digits(maker *m) {
  const cutt_multiply_shape *s = m->s;
  for (int i = 0; i < s->row_modes; ++i) add_digit(m, s->row_mode[i], s->part[s->row_mode[i]], 1);
  m->args->row_end = m->digits;
  for (int i = 0; i < s->column_modes; ++i) add_digit(m, s->column_mode[i], s->part[s->column_mode[i]], 1);
  m->args->column_end = m->digits;
  for (int i = 0; i < s->term_modes; ++i) add_digit(m, s->term_mode[i], m->c->mode[s->term_mode[i]].extent, 1);
  m->args->term_end = m->digits;
  for (int others = 0; others < 2; ++others) {
    bool wanted[CUTT_MOST_MODES];
    int8_t mode[CUTT_MOST_MODES];
    for (int i = 0; i < m->c->modes; ++i)
      wanted[i] = !is_term(&m->c->mode[i]) && is_of(&m->c->mode[i], cutt_other_operand(s->by_rows)) == (others == 0);
    const int count = sort(m->c, wanted, CUTT_RESULT, mode);
    if (s->apart > 1) put_first(cutt_fast_mode(m->c, s->by_rows), mode, count);
    for (int i = 0; i < count; ++i) {
      const int64_t part = s->part[mode[i]];
      add_digit(m, mode[i], (m->c->mode[mode[i]].extent + part - 1) / part, part);
    }
  }
  m->args->tile_end = m->digits;
}

static void lay_out(const cutt_contraction *c, const cutt_multiply_shape *s, cutt_multiply_args *args,
                    uint32_t *bytes) {
  const uint32_t rows = (uint32_t)rows_of(c), element = (uint32_t)c->type->bytes, depth = (uint32_t)s->depth;
  args->pad_log2 = s->apart > 1 ? (uint32_t)__builtin_ctz(LINE / element) : 31;
  args->pitch = (rows + (rows >> args->pad_log2)) | 1;
  args->columns_at = rows * CUTT_MULTIPLY_ENTRY;
  args->terms_at = args->columns_at + CUTT_MULTIPLY_COLUMNS * CUTT_MULTIPLY_ENTRY;
  args->right_at = args->terms_at + (uint32_t)s->terms * CUTT_MULTIPLY_ENTRY;
  args->right_bytes = depth * CUTT_MULTIPLY_COLUMNS * element;
  args->left_at = args->right_at + 2 * args->right_bytes;
  args->left_bytes = (depth * args->pitch * element + 15) / 16 * 16;
  *bytes = args->left_at + 2 * args->left_bytes;
}

void cutt_multiply_fill(const cutt_contraction *c, const cutt_multiply_shape *s, cutt_multiply_args *args,
                        uint32_t *shared_bytes) {
  maker m = {.c = c, .s = s, .args = args};
  float single = 0;
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->terms = (uint32_t)s->terms;
  args->depth = cutt_divide_by(s->depth);
  args->lots = (uint32_t)((s->terms + s->depth - 1) / s->depth);
  args->run = cutt_divide_by(s->run);
  args->apart = cutt_divide_by(s->apart);
  args->left_by_terms = s->by_terms[0];
  args->right_by_terms = s->by_terms[1];
  args->reads = !c->beta_is_zero;
  args->alone = c->alpha_is_one;
  for (int i = 0; i < 2; ++i) {
    double *to = i ? &args->beta : &args->alpha;
    const unsigned char *from = i ? c->beta : c->alpha;
    if (c->type->type == CUTT_F64) {
      memcpy(to, from, sizeof *to);
    } else {
      memcpy(&single, from, sizeof single);
      *to = (double)single;
    }
  }
  set_bounds(&m);
  list_digits(&m);
  lay_out(c, s, args, shared_bytes);
}
