/* Panels (device_panel.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_digits.h"
#include "gpu/divisor.h"

enum {
  SECTOR = 32,           /* bytes */
  MOST_SHARED = 64 << 10 /* bytes of a block, which every GPU has, and a few blocks on an SM of a large one */
};

/* Seconds of a launch; the share of a copy's speed that is reached; the share of the speed of large products that multiplications one
 * by one reach: doubles have tensor cores there. */
static const double launch_seconds = 5e-6, share_of_copy = 0.85, share_f32 = 0.75, share_f64 = 0.38;
/* Operations per second of an SM that the kernel reaches where it is bound by them, in float and double; and bytes per second that come to
 * it from L2, element by element, of a sector each. */
static const double sm_f32 = 280e9, sm_f64 = 165e9, sm_sectors = 30e9;
/* Seconds of a block before its first product, as measured of 60000 products of 16 x 16 x 16 on an H200; the same in tiles of columns. */
static const double block_seconds = 4e-6;
static const double tiles_to_begin = 1.5;
/* What a run of D takes that ends within a sector, whose rest the next column writes. */
static const double near_bytes = 30;
/* Seconds of a block that has an SM for itself: until its first tile has come, of a term of a tile, and of writing a tile's results. */
static const double alone_seconds = 2.22e-6, term_alone = 63.2e-9, write_alone = 0.5e-6;

/* Blocks that are at work at once. */
static double at_once(const cutt_contraction *c, const cutt_rates *r) {
  return (double)(larger(r->multiprocessors, (int64_t)1) * (c->type->bytes > 4 ? 3 : 4));
}

/* ------------------------------------------------------------------------------------------------------------- the shape */

static uint32_t shared_bytes(const cutt_contraction *c, const cutt_panel_shape *s, cutt_panel_args *args) {
  const uint32_t element = (uint32_t)c->type->bytes, rows = CUTT_PANEL_ROWS(element);
  args->columns_at = rows * CUTT_PANEL_ENTRY;
  args->terms_at = args->columns_at + CUTT_PANEL_TABLES * CUTT_PANEL_COLUMNS(element) * CUTT_PANEL_ENTRY;
  args->right_at = args->terms_at + (uint32_t)s->terms * CUTT_PANEL_ENTRY;
  args->right_bytes = (uint32_t)s->depth * CUTT_PANEL_RIGHT_PITCH(element) * element;
  args->left_at = args->right_at + 2 * args->right_bytes;
  return args->left_at + (uint32_t)s->terms * CUTT_PANEL_LEFT_PITCH(element) * element;
}

/* Cuts the columns into so many strips that the blocks fill the SMs evenly. Returns the time in tiles of one block after the other. */
static double cut_columns(const cutt_contraction *c, const cutt_rates *r, cutt_panel_shape *s) {
  const double blocks = (double)s->panels * (double)s->matrices;
  double least = INFINITY;
  for (int64_t strips = 1; strips <= s->tiles && strips <= 256; ++strips) {
    const int64_t each = (s->tiles + strips - 1) / strips;
    const double time = ceil(blocks * (double)strips / at_once(c, r)) * ((double)each + tiles_to_begin);
    if (!(time < least)) continue;
    least = time;
    s->strip_tiles = each;
  }
  s->strips = (s->tiles + s->strip_tiles - 1) / s->strip_tiles;
  return least;
}

/* Sectors, as bytes, that an operand's elements are in, over those that they have. */
static double waste_of(const cutt_contraction *c, const cutt_panel_shape *s, cutt_tensor t) {
  int mode[CUTT_MOST_MODES];
  const double bytes = c->type->bytes;
  int count = cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_TERM, mode);
  if (cutt_digits_along(c, t, mode, count))
    return ((double)c->mode[mode[0]].extent * bytes + SECTOR / 2.0) / ((double)c->mode[mode[0]].extent * bytes);
  if (t == CUTT_RESULT) return cutt_digits_waste(c, s->by_rows, near_bytes);
  count = cutt_digit_modes(c, s->by_rows, t == s->by_rows ? CUTT_DIGIT_ROW : CUTT_DIGIT_COLUMN, mode);
  if (!cutt_digits_along(c, t, mode, count)) return SECTOR / bytes;
  const double run = (double)c->mode[mode[0]].extent * bytes;
  return (run + SECTOR / 4.0) / run;
}

static double seconds_of(const cutt_contraction *c, const cutt_rates *r, const cutt_panel_shape *s, double tiles) {
  const double bytes = c->type->bytes;
  const bool wide = c->type->type == CUTT_F64;
  const double sms = (double)larger(r->multiprocessors, (int64_t)1);
  const double own = sms * (wide ? sm_f64 : sm_f32), known = wide ? share_f64 : share_f32;
  const double speed = r->blas_flops > 0 ? fmin(own, known * r->blas_flops) : own;
  const int64_t together = (int64_t)CUTT_PANEL_COLUMNS_EACH(c->type->bytes);
  const double columns = (double)cutt_round_up(s->columns, together);
  const double flops =
      2 * (double)s->matrices * (double)(s->panels * CUTT_PANEL_ROWS(c->type->bytes)) * columns * (double)s->terms;
  /* The blocks that are left when others have ended have the SMs for themselves. */
  const double even =
      (double)s->panels * (double)s->matrices * ((double)s->tiles + (double)s->strips * tiles_to_begin) / at_once(c, r);
  const double blocks = (double)s->panels * (double)s->matrices * (double)s->strips;
  const double work = flops / speed * fmin(tiles / even, cutt_digits_uneven(sms, blocks));
  const cutt_tensor a = s->by_rows, b = cutt_other_operand(a);
  const double of_rows = (double)c->volume[a] * bytes * waste_of(c, s, a),
               of_columns = (double)c->volume[b] * bytes * waste_of(c, s, b);
  const double again = of_rows * (double)(s->strips - 1) + of_columns * (double)(s->panels - 1);
  const double moved = of_rows + of_columns +
                       (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT] * bytes * waste_of(c, s, CUTT_RESULT);
  const double move = moved / (share_of_copy * r->memory) + again / (sms * sm_sectors);
  const double begin = blocks * block_seconds / at_once(c, r);
  const double all = begin + 1.1 * (fmax(work, move) + 0.15 * fmin(work, move));
  const double alone = alone_seconds + (double)s->strip_tiles * ((double)s->terms * term_alone + write_alone);
  return launch_seconds + fmax(all, alone);
}

void cutt_panel_choose(const cutt_contraction *c, const cutt_rates *r, cutt_tensor by_rows, cutt_panel_shape *s) {
  int64_t size[CUTT_DIGIT_KINDS];
  cutt_panel_args args;
  *s = (cutt_panel_shape){.by_rows = by_rows, .seconds = INFINITY};
  if ((c->type->type != CUTT_F32 && c->type->type != CUTT_F64) || c->right_is_one || c->no_terms) return;
  const int fast = cutt_fast_mode(c, CUTT_RESULT);
  if (fast < 0 || cutt_digit_kind_of(&c->mode[fast], by_rows) != CUTT_DIGIT_ROW)
    return; /* threads side by side would write elements that lie apart */
  if (!cutt_digit_sizes(c, by_rows, size)) return;
  const int64_t rows = (int64_t)CUTT_PANEL_ROWS(c->type->bytes), columns = (int64_t)CUTT_PANEL_COLUMNS(c->type->bytes);
  s->rows = size[CUTT_DIGIT_ROW];
  s->columns = size[CUTT_DIGIT_COLUMN];
  s->terms = size[CUTT_DIGIT_TERM];
  s->matrices = size[CUTT_DIGIT_MATRIX];
  if (s->terms < 2 || s->terms > CUTT_PANEL_TERMS || s->rows > INT32_MAX - rows || s->columns > INT32_MAX - 2 * columns)
    return;
  const int64_t lots = (s->terms + CUTT_PANEL_DEPTH - 1) / CUTT_PANEL_DEPTH;
  s->depth = (s->terms + lots - 1) / lots;
  if (shared_bytes(c, s, &args) > MOST_SHARED) return;
  s->panels = (s->rows + rows - 1) / rows;
  s->tiles = (s->columns + columns - 1) / columns;
  const double tiles = cut_columns(c, r, s);
  if ((double)s->panels * (double)s->matrices * (double)s->strips >= INT32_MAX) return;
  s->seconds = seconds_of(c, r, s, tiles);
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

static void list_digits(const cutt_contraction *c, const cutt_panel_shape *s, cutt_panel_args *args) {
  cutt_digits digits = {c, s->by_rows, args->digit, 0};
  uint32_t *const end[CUTT_DIGIT_KINDS] = {&args->row_end, &args->column_end, &args->term_end, &args->batch_end};
  for (int kind = 0; kind < CUTT_DIGIT_KINDS; ++kind) {
    cutt_digits_add_kind(&digits, (cutt_digit_kind)kind);
    *end[kind] = digits.count;
  }
  int mode[CUTT_MOST_MODES];
  const int count = cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_TERM, mode);
  args->left_by_terms = cutt_digits_along(c, s->by_rows, mode, count);
  args->right_by_terms = cutt_digits_along(c, cutt_other_operand(s->by_rows), mode, count);
}

void cutt_panel_fill(const cutt_contraction *c, const cutt_panel_shape *s, cutt_panel_args *args, uint32_t *bytes) {
  float single = 0;
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->terms = (uint32_t)s->terms;
  args->panels = cutt_divide_by(s->panels);
  args->strips = cutt_divide_by(s->strips);
  args->tiles = (uint32_t)s->tiles;
  args->strip_tiles = (uint32_t)s->strip_tiles;
  args->depth = (uint32_t)s->depth;
  args->lots = (uint32_t)((s->terms + s->depth - 1) / s->depth);
  args->term_run = cutt_divide_by(smaller(s->terms, (int64_t)CUTT_PANEL_LANES));
  args->depth_run = cutt_divide_by(s->depth);
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
  list_digits(c, s, args);
  *bytes = shared_bytes(c, s, args);
}
