/* Tiles of products (device_multiply.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_multiply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_walk.h"
#include "gpu/divisor.h"

enum {
  LINE = 128,       /* bytes */
  SECTOR = 32,      /* bytes */
  MOST_SECTORS = 4, /* of D's neighbours, in a tile of which the operand is turned */
  MOST_TERMS = 1 << 24,
  FAR = 1 << 20,       /* bytes of an operand that L1 is of no use for */
  LEAST_TERMS = 64,    /* of a part */
  MOST_TILES = 16,     /* of a block */
  MOST_KEPT = 9728,    /* bytes of terms of the same columns: four blocks fit on an SM */
  TERMS_TO_BEGIN = 32, /* what a block takes before its first product and behind its last, in terms */
  TERMS_TO_JOIN = 96   /* what the launch takes that adds up parts */
};

/* Seconds of a launch, and of an SM for each of its blocks; for a lot of 16 terms, less where a warp without columns copies it, and more
 * where rows are copied one by one; for each warp that multiplies, in float and double; the share of a copy's speed that is reached; and of
 * products and moves, that part of the shorter time which adds to the longer one: as measured on an H200, of 313 tiles of 152 contractions
 * of floats. */
static const double launch_seconds = 4e-6, block_seconds = 0.9e-6, lot_seconds = 0.37e-6, apart_seconds = 0.25e-6,
                    narrow_seconds[2] = {0.7e-6, 0.06e-6}, warp_seconds[2] = {0.2e-6, 0.19e-6}, share_of_copy = 0.87,
                    beside = 0.25;
/* What a block of several tiles takes to begin, in tiles. */
static const double tiles_to_begin = 0.2;
/* Over that, 18 contractions of doubles and 8 more of floats: as long, and doubles where the rows' operand has its neighbours in terms. */
static const double slower_others = 1.2, slower_by_terms = 1.3;

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

/* Puts a mode before the others, if it is one of them. */
static void put_first(int first, int8_t *mode, int count) {
  int at = 0;
  while (at < count && mode[at] != first) ++at;
  if (at == count) return;
  memmove(mode + 1, mode, (size_t)at * sizeof *mode);
  mode[0] = (int8_t)first;
}

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

/* Begins rows with neighbours of D, `most` of them, and neighbours of the operand, which has them in the mode `fast`: as many as there is
 * room for. Both in whole sectors. */
static void turn_rows(const cutt_contraction *c, const int8_t *mode, int fast, int64_t most, cutt_multiply_shape *s) {
  const int64_t unit = SECTOR / c->type->bytes, extent = c->mode[fast].extent;
  for (int i = 0; mode[i] != fast; ++i) {
    const int64_t room = most / s->rows;
    if (room < 2) break;
    add_row(s, mode[i], smaller(c->mode[mode[i]].extent, room));
    if (c->mode[mode[i]].extent > room) break;
  }
  s->apart = s->rows;
  const int64_t room = rows_of(c) / s->rows;
  s->run = extent <= room ? extent : room >= unit ? room / unit * unit : room;
  add_row(s, fast, s->run);
}

/* Rows: modes of D in its order; if the operand has its neighbours in another one of them, `most` neighbours of D, and those of the
 * operand. */
static void choose_rows(const cutt_contraction *c, int64_t most, cutt_multiply_shape *s) {
  bool wanted[CUTT_MOST_MODES];
  int8_t mode[CUTT_MOST_MODES];
  for (int i = 0; i < c->modes; ++i) {
    wanted[i] = is_of(&c->mode[i], s->by_rows);
    if (wanted[i]) s->part[i] = 1;
  }
  s->rows = s->apart = s->run = 1;
  s->row_modes = 0;
  const int count = sort(c, wanted, CUTT_RESULT, mode);
  if (most > 0) turn_rows(c, mode, cutt_fast_mode(c, s->by_rows), most, s);
  fill_rows(c, mode, count, rows_of(c), s);
}

/* Is the operand to be turned? */
static bool is_turned(const cutt_contraction *c, cutt_tensor by_rows) {
  const int fast = cutt_fast_mode(c, by_rows);
  if (fast < 0 || !is_of(&c->mode[fast], by_rows)) return false;
  for (int i = 0; i < c->modes; ++i)
    if (is_of(&c->mode[i], by_rows) && llabs(c->mode[i].stride[CUTT_RESULT]) < llabs(c->mode[fast].stride[CUTT_RESULT]))
      return true;
  return false;
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
  int fast = -1;
  for (int side = 0; side < 2; ++side) {
    fast = cutt_fast_mode(c, side ? cutt_other_operand(s->by_rows) : s->by_rows);
    s->by_terms[side] = fast >= 0 && wanted[fast];
  }
  if (s->by_terms[0] || !s->by_terms[1] || fast == s->term_mode[0]) return;
  put_first(fast, s->term_mode, s->term_modes);
  s->splits_terms = c->mode[fast].extent % (SECTOR / c->type->bytes) == 0;
}

static int64_t at_once(const cutt_rates *r) { return larger(r->multiprocessors, (int64_t)1) * CUTT_MULTIPLY_BLOCKS; }

void cutt_multiply_cut(cutt_multiply_shape *s, int64_t parts) {
  const int64_t each = cutt_ceil_of(s->terms, parts), lots = cutt_ceil_of(each, (int64_t)CUTT_MULTIPLY_DEPTH);
  s->depth = parts > 1 ? smaller(each, (int64_t)CUTT_MULTIPLY_DEPTH) : cutt_ceil_of(each, lots);
  s->part_terms = cutt_ceil_of(each, s->depth) * s->depth;
  s->parts = cutt_ceil_of(s->terms, s->part_terms);
  s->block_tiles = 1;
  s->keeps = false;
}

int64_t cutt_multiply_blocks(const cutt_multiply_shape *s) { return cutt_ceil_of(s->tiles, s->block_tiles); }

bool cutt_multiply_may_keep(const cutt_contraction *c, const cutt_multiply_shape *s) {
  for (int i = 0; i < c->modes; ++i)
    if (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_BATCH) return false;
  return s->parts == 1 && s->column_tiles == 1 &&
         cutt_round_up(s->terms, s->depth) * CUTT_MULTIPLY_COLUMNS * c->type->bytes <= MOST_KEPT;
}

/* So many tiles of a block that blocks end together. */
static void share_tiles(const cutt_contraction *c, const cutt_rates *r, cutt_multiply_shape *s) {
  double least = INFINITY;
  if (s->parts > 1 || s->depth == s->terms) return;
  for (int64_t each = 1; each <= MOST_TILES; ++each) {
    const double blocks = (double)cutt_ceil_of(s->tiles, each);
    const double time = ceil(blocks / (double)at_once(r)) * ((double)each + tiles_to_begin);
    if (!(time < least)) continue;
    least = time;
    s->block_tiles = each;
  }
  s->keeps = s->block_tiles > 1 && cutt_multiply_may_keep(c, s);
}

/* As few parts as their terms allow; or as many as make one or two blocks for each place on the SMs, if that is faster. False where
 * workspace does not suffice. */
static bool cut_terms(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_multiply_shape *s) {
  const int64_t each = c->volume[CUTT_RESULT] * cutt_sum_bytes(c);
  const int64_t few = cutt_ceil_of(s->terms, (int64_t)CUTT_MULTIPLY_TERMS);
  double least = INFINITY;
  int64_t best = 0;
  for (int times = 0; times <= 2; ++times) {
    const int64_t parts = times ? smaller(times * at_once(r) / s->tiles, s->terms / LEAST_TERMS) : few;
    if (parts < few || (parts > 1 && parts > limit / each)) continue;
    cutt_multiply_cut(s, parts);
    const double turns = ceil((double)(s->tiles * s->parts) / (double)at_once(r));
    const double time = turns * (double)(s->part_terms + TERMS_TO_BEGIN) + (s->parts > 1 ? TERMS_TO_JOIN : 0);
    if (!(time < least)) continue;
    least = time;
    best = parts;
  }
  if (!best) return false;
  cutt_multiply_cut(s, best);
  share_tiles(c, r, s);
  return true;
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
  const double bytes = c->type->bytes, sms = (double)larger(r->multiprocessors, (int64_t)1);
  const bool wide = c->type->type == CUTT_F64;
  const int64_t lots_of_part = s->part_terms / s->depth;
  const double lots = (double)(lots_of_part * s->parts), blocks = (double)(s->tiles * s->parts);
  const double warps = (double)cutt_ceil_of(s->columns, (int64_t)CUTT_MULTIPLY_COLUMNS_EACH);
  const bool apart = s->wide && !wide && s->columns <= CUTT_MULTIPLY_COLUMNS - CUTT_MULTIPLY_COLUMNS_EACH;
  const double lot =
      (apart ? apart_seconds : lot_seconds) +
      (double)s->depth / CUTT_MULTIPLY_DEPTH * ((s->wide ? 0 : narrow_seconds[wide]) + warps * warp_seconds[wide]);
  const cutt_tensor a = s->by_rows, b = cutt_other_operand(a);
  const double of_result = (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT] *
                           waste_of(c, CUTT_RESULT, run_of(c, s, CUTT_RESULT)),
               of_parts = s->parts > 1 ? 2 * (double)s->parts * (double)c->volume[CUTT_RESULT] : 0;
  const double moved =
      (double)c->volume[a] * waste_of(c, a, run_of(c, s, a)) + (double)c->volume[b] + of_result + of_parts;
  /* The blocks that are left when others have ended have the SMs for themselves; so have few. */
  const double turns = blocks / (double)at_once(r),
               uneven = turns <= 1 ? fmin(1 / turns, 1.6 + 1.1 * sms / blocks) : fmin(sqrt(ceil(turns) / turns), 1.4);
  const double work = (blocks * block_seconds + (double)s->tiles * lots * lot) / sms * uneven;
  const double move = moved * bytes / (share_of_copy * r->memory);
  const double slower = wide && s->by_terms[0] ? slower_by_terms : slower_others;
  return (s->parts > 1 ? 2 : 1) * launch_seconds + slower * (fmax(work, move) + beside * fmin(work, move));
}

bool cutt_multiply_may_be_wide(const cutt_contraction *c, const cutt_multiply_shape *s) {
  const int64_t each = CUTT_MULTIPLY_UNIT / c->type->bytes;
  const int fast = cutt_fast_mode(c, s->by_rows);
  if (s->by_terms[0] || fast < 0 || !is_of(&c->mode[fast], s->by_rows) || c->mode[fast].stride[s->by_rows] != 1)
    return false;
  for (int i = 0; i < c->modes; ++i)
    if (i != fast && c->mode[i].stride[s->by_rows] % each) return false;
  return c->mode[fast].extent % each == 0 && s->part[fast] % each == 0 && (s->apart > 1 || s->row_mode[0] == fast);
}

/* Parts and seconds of the tiles. */
static void finish_shape(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_multiply_shape *s) {
  double tiles = 1;
  s->seconds = INFINITY;
  s->column_tiles = 1;
  /* Copies of 16 bytes pass L1 by, so that all SMs would wait for the same few lines of a small operand: of 7 KB 2.7 ms where copies of 4
   * bytes took 0.6. */
  s->wide = c->volume[s->by_rows] * c->type->bytes >= FAR && cutt_multiply_may_be_wide(c, s);
  for (int i = 0; i < c->modes; ++i) {
    const int64_t chunks = is_term(&c->mode[i]) ? 1 : cutt_ceil_of(c->mode[i].extent, (int64_t)s->part[i]);
    tiles *= (double)chunks;
    if (is_of(&c->mode[i], cutt_other_operand(s->by_rows))) s->column_tiles *= chunks;
  }
  if (tiles >= INT32_MAX) return;
  s->tiles = (int64_t)tiles;
  if (cut_terms(c, r, limit, s) && s->tiles * s->parts < INT32_MAX) s->seconds = seconds_of(c, r, s);
}

void cutt_multiply_choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_tensor by_rows,
                          cutt_multiply_shape *s) {
  *s = (cutt_multiply_shape){.by_rows = by_rows, .columns = 1, .terms = 1, .parts = 1, .seconds = INFINITY};
  for (int i = 0; i < c->modes; ++i) s->part[i] = 1;
  if ((c->type->type != CUTT_F32 && c->type->type != CUTT_F64) || c->right_is_one || c->no_terms) return;
  choose_terms(c, s);
  if (s->terms < 2 || s->terms > MOST_TERMS) return;
  const int fast = cutt_fast_mode(c, CUTT_RESULT);
  if (fast < 0 || !is_of(&c->mode[fast], by_rows))
    return; /* threads side by side would write elements that lie apart */
  choose_columns(c, s);
  if (!is_turned(c, by_rows)) {
    choose_rows(c, 0, s);
    finish_shape(c, r, limit, s);
    return;
  }
  for (int64_t sectors = 1; sectors <= MOST_SECTORS; ++sectors) {
    cutt_multiply_shape tried = *s;
    choose_rows(c, sectors * (SECTOR / c->type->bytes), &tried);
    finish_shape(c, r, limit, &tried);
    if (tried.seconds < s->seconds) *s = tried;
  }
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

typedef struct maker {
  const cutt_contraction *c;
  const cutt_multiply_shape *s;
  const int64_t *stride; /* in D */
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
               m->stride[mode] * along * bytes},
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
  m->args->bounded = m->bounds > 0;
}

/* Tiles beside each other in columns follow each other, since they have the same rows; then those beside each other in the operand
 * that is turned, of which each has short runs: what memory moves for one is in L2 for the next. */
static void list_digits(maker *m) {
  const cutt_multiply_shape *s = m->s;
  for (int i = 0; i < s->row_modes; ++i) add_digit(m, s->row_mode[i], s->part[s->row_mode[i]], 1);
  m->args->row_end = m->digits;
  for (int i = 0; i < s->column_modes; ++i) add_digit(m, s->column_mode[i], s->part[s->column_mode[i]], 1);
  m->args->column_end = m->digits;
  const int64_t sector = s->splits_terms ? larger(SECTOR / (int64_t)m->c->type->bytes, (int64_t)1) : 1;
  add_digit(m, s->term_mode[0], sector, 1);
  for (int i = s->splits_terms; i < s->term_modes; ++i)
    add_digit(m, s->term_mode[i], m->c->mode[s->term_mode[i]].extent, 1);
  if (s->splits_terms) add_digit(m, s->term_mode[0], m->c->mode[s->term_mode[0]].extent / sector, sector);
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
  const uint32_t each = CUTT_MULTIPLY_UNIT / element;
  args->wide = s->wide;
  args->quads = s->wide && s->apart > 1;
  args->units = (uint32_t)s->rows / each;
  args->unit_run = cutt_divide_by(larger(s->run / each, (int64_t)1));
  args->pad_log2 = s->apart > 1 && !s->wide ? (uint32_t)__builtin_ctz(LINE / element) : 31;
  args->pitch = args->quads ? rows + (rows >> CUTT_MULTIPLY_UNIT_PAD)
                : s->wide   ? rows + each
                            : (rows + (rows >> args->pad_log2)) | 1;
  const uint32_t lanes = CUTT_MULTIPLY_LANES;
  args->row_step = (lanes + (lanes >> args->pad_log2)) * element;
  args->terms_at = CUTT_MULTIPLY_TABLE(element) * (s->block_tiles > 1 && args->bounded ? 2U : 1U);
  args->right_at = args->terms_at + (uint32_t)s->part_terms * CUTT_MULTIPLY_ENTRY;
  args->right_bytes = depth * CUTT_MULTIPLY_COLUMNS * element;
  args->left_at = args->right_at + (s->keeps ? (uint32_t)cutt_ceil_of(s->terms, s->depth) : 2U) * args->right_bytes;
  args->left_bytes = (depth * args->pitch * element + 15) / 16 * 16;
  *bytes = args->left_at + 2 * args->left_bytes;
}

void cutt_multiply_fill(const cutt_contraction *c, const cutt_multiply_shape *s, const int64_t *stride,
                        cutt_multiply_args *args, uint32_t *shared_bytes) {
  maker m = {.c = c, .s = s, .stride = stride, .args = args};
  float single = 0;
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->terms = (uint32_t)s->terms;
  args->depth = cutt_divide_by(s->depth);
  args->tiles = (uint32_t)s->tiles;
  args->blocks = cutt_divide_by(cutt_multiply_blocks(s));
  args->part_terms = (uint32_t)s->part_terms;
  args->part_bytes = s->parts > 1 ? c->volume[CUTT_RESULT] * cutt_sum_bytes(c) : 0;
  args->run = cutt_divide_by(s->run);
  args->apart = cutt_divide_by(s->apart);
  args->left_by_terms = s->by_terms[0];
  args->right_by_terms = s->by_terms[1];
  args->keeps = s->keeps;
  args->reads = !c->beta_is_zero && s->parts == 1; /* what adds up the parts does that */
  args->alone = c->alpha_is_one || s->parts > 1;
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
