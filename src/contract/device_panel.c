/* Panels (device_panel.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
  SECTOR = 32,           /* bytes */
  MOST_SHARED = 64 << 10 /* bytes of a block, which every GPU has, and a few blocks on an SM of a large one */
};

/* Seconds of a launch; the share of a copy's speed that is reached; the share of the speed of large products that multiplications one
 * by one reach: doubles have tensor cores there. */
static const double launch_seconds = 4e-6, share_of_copy = 0.85, share_f32 = 0.75, share_f64 = 0.38;
/* Operations per second of an SM that the kernel reaches where it is bound by them, in float and double; and bytes per second that come to
 * it from L2, element by element, of a sector each. */
static const double sm_f32 = 280e9, sm_f64 = 165e9, sm_sectors = 30e9;
/* What a block takes before its first product, in tiles of columns. */
static const double tiles_to_begin = 1.5;

/* Blocks that are at work at once. */
static double at_once(const cutt_contraction *c, const cutt_rates *r) {
  return (double)(larger(r->multiprocessors, (int64_t)1) * (c->type->bytes > 4 ? 3 : 4));
}

static cutt_tensor other(cutt_tensor t) { return t == CUTT_LEFT ? CUTT_RIGHT : CUTT_LEFT; }

/* What a mode is a digit of. */
typedef enum kind { ROW, COLUMN, TERM, MATRIX, KINDS } kind;

static kind kind_of(const cutt_contract_mode *mode, cutt_tensor by_rows) {
  switch (cutt_mode_role(mode)) {
    case CUTT_ROLE_K:
      return TERM;
    case CUTT_ROLE_BATCH:
      return MATRIX;
    case CUTT_ROLE_M:
      return by_rows == CUTT_LEFT ? ROW : COLUMN;
    default:
      return by_rows == CUTT_LEFT ? COLUMN : ROW;
  }
}

/* The mode in which the tensor has neighbours; -1: none. */
static int fast_mode(const cutt_contraction *c, cutt_tensor t) {
  int fast = -1;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t step = llabs(c->mode[i].stride[t]);
    if (step && (fast < 0 || step < llabs(c->mode[fast].stride[t]))) fast = i;
  }
  return fast;
}

/* Modes of a kind, by their steps in D, or terms in the operand that has its neighbours there, the larger one if both have. Columns may
 * be in any order: in that of their operand, if it has its neighbours there. */
static int list(const cutt_contraction *c, cutt_tensor by_rows, kind wanted, int *mode) {
  int count = 0;
  cutt_tensor by = CUTT_RESULT;
  if (wanted == TERM) {
    by = c->volume[CUTT_LEFT] < c->volume[CUTT_RIGHT] ? CUTT_RIGHT : CUTT_LEFT;
    const int fast = fast_mode(c, by);
    if (fast >= 0 && kind_of(&c->mode[fast], by_rows) != TERM) by = other(by);
  } else if (wanted == COLUMN) {
    const int fast = fast_mode(c, other(by_rows));
    if (fast >= 0 && kind_of(&c->mode[fast], by_rows) == COLUMN) by = other(by_rows);
  }
  for (int i = 0; i < c->modes; ++i) {
    if (kind_of(&c->mode[i], by_rows) != wanted) continue;
    int at = count++;
    for (; at > 0 && llabs(c->mode[mode[at - 1]].stride[by]) > llabs(c->mode[i].stride[by]); --at)
      mode[at] = mode[at - 1];
    mode[at] = i;
  }
  return count;
}

/* Has the operand neighbours in the first of these modes? */
static bool is_along(const cutt_contraction *c, cutt_tensor t, const int *mode, int count) {
  const int fast = fast_mode(c, t);
  return fast >= 0 && count > 0 && mode[0] == fast;
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
  int count = list(c, s->by_rows, TERM, mode);
  if (is_along(c, t, mode, count))
    return ((double)c->mode[mode[0]].extent * bytes + SECTOR / 2.0) / ((double)c->mode[mode[0]].extent * bytes);
  count = list(c, s->by_rows, t == s->by_rows || t == CUTT_RESULT ? ROW : COLUMN, mode);
  if (!is_along(c, t, mode, count)) return SECTOR / bytes;
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
  const double columns = (double)((s->columns + together - 1) / together * together);
  const double flops =
      2 * (double)s->matrices * (double)(s->panels * CUTT_PANEL_ROWS(c->type->bytes)) * columns * (double)s->terms;
  /* The blocks that are left when others have ended have the SMs for themselves. */
  const double even =
      (double)s->panels * (double)s->matrices * ((double)s->tiles + (double)s->strips * tiles_to_begin) / at_once(c, r);
  const double work = flops / speed * fmin(tiles / even, 2);
  const cutt_tensor a = s->by_rows, b = other(a);
  const double of_rows = (double)c->volume[a] * bytes * waste_of(c, s, a),
               of_columns = (double)c->volume[b] * bytes * waste_of(c, s, b);
  const double again = of_rows * (double)(s->strips - 1) + of_columns * (double)(s->panels - 1);
  const double moved = of_rows + of_columns +
                       (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT] * bytes * waste_of(c, s, CUTT_RESULT);
  const double move = moved / (share_of_copy * r->memory) + again / (sms * sm_sectors);
  return launch_seconds + 1.1 * (fmax(work, move) + 0.15 * fmin(work, move));
}

void cutt_panel_choose(const cutt_contraction *c, const cutt_rates *r, cutt_tensor by_rows, cutt_panel_shape *s) {
  int64_t size[KINDS] = {1, 1, 1, 1};
  cutt_panel_args args;
  *s = (cutt_panel_shape){.by_rows = by_rows, .seconds = INFINITY};
  if ((c->type->type != CUTT_F32 && c->type->type != CUTT_F64) || c->right_is_one || c->no_terms) return;
  const int fast = fast_mode(c, CUTT_RESULT);
  if (fast < 0 || kind_of(&c->mode[fast], by_rows) != ROW)
    return; /* threads side by side would write elements that lie apart */
  for (int i = 0; i < c->modes; ++i) {
    int64_t *const of = &size[kind_of(&c->mode[i], by_rows)];
    if (c->mode[i].extent > INT32_MAX / *of) return;
    *of *= c->mode[i].extent;
  }
  const int64_t rows = (int64_t)CUTT_PANEL_ROWS(c->type->bytes), columns = (int64_t)CUTT_PANEL_COLUMNS(c->type->bytes);
  s->rows = size[ROW];
  s->columns = size[COLUMN];
  s->terms = size[TERM];
  s->matrices = size[MATRIX];
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

static cutt_divisor divisor(int64_t by) {
  const uint32_t n = (uint32_t)by, shift = n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
  const uint64_t multiplier = (((UINT64_C(1) << shift) - n) << 32) / n + 1;
  return (cutt_divisor){n, (uint32_t)multiplier, shift};
}

typedef struct maker {
  const cutt_contraction *c;
  const cutt_panel_shape *s;
  cutt_panel_args *args;
  uint32_t digits;
} maker;

static void add_digit(maker *m, int mode, int64_t extent, int64_t along) {
  const int64_t *stride = m->c->mode[mode].stride, bytes = m->c->type->bytes * along;
  if (extent == 1) return;
  m->args->digit[m->digits++] = (cutt_panel_digit){
      .extent = divisor(extent),
      .step = {stride[m->s->by_rows] * bytes, stride[other(m->s->by_rows)] * bytes, stride[CUTT_RESULT] * bytes}};
}

/* Columns in the order of their operand have D's neighbours far from each other, so that memory writes parts of what it writes at
 * once. So of the operand's neighbours as many come first as make a sector, and then those of D. */
static void add_columns(maker *m, const int *mode, int count) {
  const int64_t sector = SECTOR / m->c->type->bytes;
  int by_result[CUTT_MOST_MODES];
  memcpy(by_result, mode, (size_t)count * sizeof *mode);
  for (int i = 1; i < count; ++i)
    for (int at = i; at > 0 && llabs(m->c->mode[by_result[at - 1]].stride[CUTT_RESULT]) >
                                   llabs(m->c->mode[by_result[at]].stride[CUTT_RESULT]);
         --at) {
      const int own = by_result[at];
      by_result[at] = by_result[at - 1];
      by_result[at - 1] = own;
    }
  const bool splits = is_along(m->c, other(m->s->by_rows), mode, count) && by_result[0] != mode[0] &&
                      m->c->mode[mode[0]].extent % sector == 0;
  if (splits) add_digit(m, mode[0], sector, 1);
  for (int i = 0; i < count; ++i) {
    const int which = splits ? by_result[i] : mode[i];
    const bool rest = splits && which == mode[0];
    add_digit(m, which, m->c->mode[which].extent / (rest ? sector : 1), rest ? sector : 1);
  }
}

static void list_digits(const cutt_contraction *c, const cutt_panel_shape *s, cutt_panel_args *args) {
  maker m = {.c = c, .s = s, .args = args};
  uint32_t *const end[KINDS] = {&args->row_end, &args->column_end, &args->term_end, &args->batch_end};
  for (int k = 0; k < KINDS; ++k) {
    int mode[CUTT_MOST_MODES];
    const int count = list(c, s->by_rows, (kind)k, mode);
    if (k == COLUMN) {
      add_columns(&m, mode, count);
    } else {
      for (int i = 0; i < count; ++i) add_digit(&m, mode[i], c->mode[mode[i]].extent, 1);
    }
    *end[k] = m.digits;
    if (k != TERM) continue;
    args->left_by_terms = is_along(c, s->by_rows, mode, count);
    args->right_by_terms = is_along(c, other(s->by_rows), mode, count);
  }
}

void cutt_panel_fill(const cutt_contraction *c, const cutt_panel_shape *s, cutt_panel_args *args, uint32_t *bytes) {
  float single = 0;
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->terms = (uint32_t)s->terms;
  args->panels = divisor(s->panels);
  args->strips = divisor(s->strips);
  args->tiles = (uint32_t)s->tiles;
  args->strip_tiles = (uint32_t)s->strip_tiles;
  args->depth = (uint32_t)s->depth;
  args->lots = (uint32_t)((s->terms + s->depth - 1) / s->depth);
  args->term_run = divisor(smaller(s->terms, (int64_t)CUTT_PANEL_LANES));
  args->depth_run = divisor(s->depth);
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
