/* Contractions on tensor cores (device_core.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_digits.h"
#include "gpu/divisor.h"

enum {
  SECTOR = 32,      /* bytes */
  BYTES = 8,        /* of an element */
  CACHE = 32 << 20, /* bytes that L2 holds of an operand beside all else */
  RESERVED = 1024,  /* bytes of shared memory that the system takes of each block's */
  MOST_PANEL = 128, /* positions that a block keeps */
  LEAST_PANEL = 32, /* of many */
  FEW_KEPT = 32,    /* positions, up to which copying takes longer than multiplying */
  FEW_BLOCKS = 2,   /* of an SM, up to which more threads of each are better */
  ENOUGH = 384,     /* threads of an SM, for which a third tile in shared memory is not given up */
  SM_THREADS = 512, /* that registers are there for */
  /* Where terms come in lots. */
  MOST_PANELS = 4, /* since what comes in tiles is read for each */
  LEAST_TERMS = 64,
  IN_FLIGHT = 32 << 10 /* bytes that an SM has to have asked for, to be given them as fast as memory can */
};

/* Seconds of a launch, of a block before its first tile, and between two tiles; the share of a copy's speed that is reached; operations per second of an SM where
 * rows come in tiles, and where columns do; and bytes per second that come to it from L2: as 1600 contractions measured on an H200 are chosen best. */
static const double launch_seconds = 2.68e-6, block_seconds = 3.78e-6, tile_seconds = 0.5e-6, lot_seconds = 0.791e-6,
                    share_of_copy = 1.03, sm_flops = 180e9, sm_flops_columns = 135e9, sm_bytes = 31.3e9;
/* Times as many bytes as memory has to move of a D that is written in runs of a tile's eight rows, as measured. */
static const double turned_result = 1.5;
/* What a run of D takes that ends within a sector, whose rest the next column writes. */
static const double near_bytes = 65.4;
/* Times as long as a sector for each element of an operand takes that L2 does not hold. */
static const double far_apart = 1.5;
/* Measured seconds over those that follow from all this, but for what blocks take before their first tiles. */
static const double measured = 0.75;
/* Seconds of a byte of a large D whose runs begin at odd elements, over those that a copy takes: other threads write the rest of a sector, as
 * measured of 15 contractions: 0.3 to 2.1. */
static const double split_sectors = 0.609;
/* Times as long with one kept column, a matrix times a vector: 1.2 to 1.6 as measured. */
static const double one_column = 1.4;
/* The same of terms in lots: where copies have 8 bytes, and where terms lie next to each other, as measured of 40 contractions. */
static const double narrow_lots = 1.5, lots_by_terms = 1.22;
/* What a block takes before its first product, in tiles. */
static const double tiles_to_begin = 1.33;
/* Seconds of a block that has an SM for itself: until its first tile has come, of four terms of a group of eight kept positions, and of
 * writing that group's results. */
static const double alone_seconds = 1.91e-6, step_alone = 16.9e-9, write_alone = 100e-9;

/* Positions that matrices of tensor cores have of what is kept. */
static int64_t kept_unit(const cutt_core_shape *s) { return s->streams_rows ? 8 : 16; }

/* From a term or position to the next in shared memory, in elements: so that the lanes that have four terms of eight positions meet in
 * no bank. */
static int64_t pitch(int64_t elements) {
  return cutt_round_up(elements, 8) + 4 - (elements % 8 > 0 && elements % 8 <= 4 ? 8 : 0);
}

/* Of an operand's positions with so many terms, in shared memory; returns the bytes. */
static int64_t lay_out(const cutt_contraction *c, const cutt_core_shape *s, cutt_tensor t, int64_t positions,
                       int64_t of_terms, cutt_core_layout *layout) {
  const int64_t terms = cutt_round_up(of_terms, CUTT_CORE_STEP);
  const bool along = cutt_digits_by_terms(c, s->by_rows, t);
  const int64_t apart = pitch(along ? terms : positions);
  layout->by_terms = along;
  layout->position = (uint32_t)((along ? apart : 1) * BYTES);
  layout->term = (uint32_t)((along ? 1 : apart) * BYTES);
  return (along ? positions : terms) * apart * BYTES;
}

static int64_t shared_bytes(const cutt_contraction *c, const cutt_core_shape *s, cutt_core_args *args) {
  const int64_t room = cutt_round_up(s->panel, kept_unit(s));
  int64_t at = room * CUTT_CORE_ENTRY;
  args->terms_at = (uint32_t)at;
  at += s->terms * CUTT_CORE_ENTRY;
  args->tables_at = (uint32_t)at;
  at += (s->slots + 1) * CUTT_CORE_TILE * CUTT_CORE_ENTRY;
  args->keeps.at = (uint32_t)at;
  at += lay_out(c, s, cutt_other_operand(cutt_streamed_operand(s->by_rows, s->streams_rows)), room, s->terms,
                &args->keeps);
  args->streams.at = (uint32_t)at;
  args->slot_bytes = (uint32_t)lay_out(c, s, cutt_streamed_operand(s->by_rows, s->streams_rows), CUTT_CORE_TILE,
                                       s->depth, &args->streams);
  return at + s->slots * (int64_t)args->slot_bytes;
}

/* Blocks that an SM has at once. */
static int64_t blocks_of(const cutt_contraction *c, const cutt_rates *r, const cutt_core_shape *s) {
  cutt_core_args args;
  const int64_t bytes = shared_bytes(c, s, &args) + RESERVED;
  return bytes > r->block_shared ? 0 : smaller(r->sm_shared / bytes, (int64_t)(SM_THREADS / s->threads));
}

/* ------------------------------------------------------------------------------------------------------------- the seconds */

/* Sectors, as bytes, that a tensor's elements are in, over those that they have. */
static double waste_of(const cutt_contraction *c, const cutt_core_shape *s, cutt_tensor t) {
  int mode[CUTT_MOST_MODES];
  const bool rows = t == s->by_rows;
  if (t != CUTT_RESULT && cutt_digits_by_terms(c, s->by_rows, t)) {
    cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_TERM, mode);
    const double run = (double)c->mode[mode[0]].extent * BYTES;
    return (run + SECTOR / 2.0) / run;
  }
  if (s->turned && t == CUTT_RESULT) return turned_result;
  if (t == CUTT_RESULT) return cutt_digits_waste(c, s->by_rows, near_bytes);
  if (s->turned && t == cutt_streamed_operand(s->by_rows, s->streams_rows)) return 1;
  const int count = cutt_digit_modes(c, s->by_rows, rows ? CUTT_DIGIT_ROW : CUTT_DIGIT_COLUMN, mode);
  const double far = c->volume[t] * BYTES > CACHE ? far_apart : 1;
  if (!cutt_digits_along(c, t, mode, count)) return far * SECTOR / BYTES;
  const double run = (double)c->mode[mode[0]].extent * BYTES;
  return (run + SECTOR / 4.0) / run;
}

/* Do runs of a D that L2 does not hold begin at odd elements? */
static bool splits_sectors(const cutt_contraction *c, const cutt_core_shape *s) {
  int mode[CUTT_MOST_MODES];
  int64_t run = 1;
  const int rows = cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_ROW, mode);
  for (int i = 0; i < rows && llabs(c->mode[mode[i]].stride[CUTT_RESULT]) == run; ++i) run *= c->mode[mode[i]].extent;
  return run > 1 && run % 2 && c->volume[CUTT_RESULT] * BYTES > 2 * CACHE;
}

/* May what lies next to each other in the operand that comes in tiles be copied 16 bytes at a time, if its first element may? */
static bool is_wide(const cutt_contraction *c, const cutt_core_shape *s) {
  const cutt_tensor t = cutt_streamed_operand(s->by_rows, s->streams_rows);
  const int fast = cutt_fast_mode(c, t);
  int mode[CUTT_MOST_MODES];
  if (fast < 0 || c->mode[fast].stride[t] != 1 || c->mode[fast].extent % 2) return false;
  const int count = cutt_digit_modes(
      c, s->by_rows, cutt_digits_by_terms(c, s->by_rows, t) ? CUTT_DIGIT_TERM : cutt_digits_streamed(s->streams_rows),
      mode);
  for (int i = 0; i < c->modes; ++i)
    if (i != fast && c->mode[i].stride[t] % 2) return false;
  return s->turned || (count > 0 && mode[0] == fast);
}

/* Cuts the tiles into so many strips that the blocks fill the SMs evenly. Returns the time in tiles of one block after the other. */
static double cut_tiles(double at_once, cutt_core_shape *s) {
  const double blocks = (double)s->panels * (double)s->matrices;
  double least = INFINITY;
  for (int64_t strips = 1; strips <= s->tiles && strips <= 1024; ++strips) {
    const int64_t each = (s->tiles + strips - 1) / strips;
    const double time = ceil(blocks * (double)strips / at_once) * ((double)each + tiles_to_begin);
    if (!(time < least)) continue;
    least = time;
    s->strips = strips;
  }
  return least;
}

/* A block's time, however few blocks there are. */
static double block_alone(const cutt_core_shape *s) {
  const int64_t each = cutt_ceil_of(s->tiles, s->strips), warps = s->threads / (CUTT_CORE_THREADS / 2);
  const double groups = (double)cutt_ceil_of(s->panel, 8 * warps),
               steps = (double)cutt_ceil_of(s->terms, (int64_t)CUTT_CORE_STEP);
  return alone_seconds + (double)each * groups * (steps * step_alone + write_alone);
}

static double seconds_of(const cutt_contraction *c, const cutt_rates *r, const cutt_core_shape *s, double at_once,
                         double tiles) {
  const cutt_tensor streamed = cutt_streamed_operand(s->by_rows, s->streams_rows), kept = cutt_other_operand(streamed);
  const double sms = (double)larger(r->multiprocessors, (int64_t)1), panels = (double)s->panels;
  const double flops = 2 * (double)s->matrices * panels * (double)cutt_round_up(s->panel, kept_unit(s)) *
                       (double)s->tiles * CUTT_CORE_TILE * (double)cutt_round_up(s->terms, CUTT_CORE_STEP);
  const double even = panels * (double)s->matrices * ((double)s->tiles + (double)s->strips * tiles_to_begin) / at_once;
  const double work = flops / (sms * (s->streams_rows ? sm_flops : sm_flops_columns));
  const double lots = ceil((double)s->terms / (double)s->depth);
  const bool by_terms = cutt_digits_by_terms(c, s->by_rows, streamed);
  const double between =
      panels * (double)s->matrices * (double)s->tiles * (tile_seconds + (lots - 1) * lot_seconds) / at_once;
  const double of_streamed = (double)c->volume[streamed] * BYTES * waste_of(c, s, streamed),
               of_kept = (double)c->volume[kept] * BYTES * waste_of(c, s, kept),
               of_result =
                   (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT] * BYTES * waste_of(c, s, CUTT_RESULT);
  const double again = of_streamed * (panels - 1) + of_kept * (double)(s->strips - 1);
  const double asked = (double)(s->slots - 1) * CUTT_CORE_TILE * (double)s->depth * BYTES * at_once / sms;
  const double move =
      (of_streamed + of_kept + of_result) / (share_of_copy * r->memory) * (lots > 1 ? fmax(1, IN_FLIGHT / asked) : 1) +
      again / (sms * sm_bytes);
  const double split = splits_sectors(c, s) ? split_sectors * (double)c->volume[CUTT_RESULT] * BYTES / r->memory : 0;
  const double begin = panels * (double)s->matrices * (double)s->strips * block_seconds / at_once;
  const double slower = measured * (s->streams_rows && s->columns == 1 ? one_column : 1) *
                        (lots == 1        ? 1
                         : !is_wide(c, s) ? narrow_lots
                         : by_terms       ? lots_by_terms
                                          : 1);
  const double uneven = fmin(tiles / even, cutt_digits_uneven(sms, panels * (double)s->matrices * (double)s->strips));
  const double all = begin + split + slower * (fmax(work, move) + 0.4 * fmin(work, move) + between) * uneven;
  return launch_seconds + fmax(all, block_alone(s));
}

/* ------------------------------------------------------------------------------------------------------------- the shape */

/* Is the rows' operand to be turned? It has its neighbours in other rows than D. */
static bool is_turned(const cutt_contraction *c, const cutt_core_shape *s) {
  int mode[CUTT_MOST_MODES];
  const int fast = cutt_fast_mode(c, s->by_rows);
  if (!s->streams_rows || fast < 0 || cutt_digit_kind_of(&c->mode[fast], s->by_rows) != CUTT_DIGIT_ROW) return false;
  cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_ROW, mode);
  return mode[0] != fast && c->mode[fast].extent % CUTT_CORE_TURNED == 0 &&
         c->mode[mode[0]].extent % CUTT_CORE_TURNED == 0;
}

/* The seconds of a shape whose blocks are set, of which an SM has so many at once. */
static void set_strips(const cutt_contraction *c, const cutt_rates *r, int64_t blocks, cutt_core_shape *s) {
  const double at_once = (double)larger(r->multiprocessors, (int64_t)1) * (double)blocks;
  const double tiles = cut_tiles(at_once, s);
  const bool many = (double)s->panels * (double)s->matrices * (double)s->strips >= INT32_MAX;
  s->seconds = many ? INFINITY : seconds_of(c, r, s, at_once, tiles);
}

/* With so many positions kept by each block; returns how many blocks an SM has at once. */
static int64_t set_panel(const cutt_contraction *c, const cutt_rates *r, int64_t panel, cutt_core_shape *s) {
  s->panel = panel;
  s->threads = CUTT_CORE_THREADS / 2;
  s->slots = 2;
  const int64_t blocks = blocks_of(c, r, s);
  if (blocks < 1) return 0;
  if (s->panel <= FEW_KEPT || blocks <= FEW_BLOCKS) s->threads = CUTT_CORE_THREADS;
  s->slots = CUTT_CORE_SLOTS;
  if (blocks_of(c, r, s) * s->threads < ENOUGH) s->slots = 2;
  return blocks_of(c, r, s);
}

/* How many positions a block keeps: all, or parts of the same size, of which smaller ones are for contractions that have few blocks, since what
 * comes in tiles is read for each. */
static void choose_panel(const cutt_contraction *c, const cutt_rates *r, int64_t kept, cutt_core_shape *s) {
  cutt_core_shape tried = *s;
  for (int64_t most = MOST_PANEL; most >= LEAST_PANEL; most /= 2) {
    if (most < MOST_PANEL && kept <= most) continue; /* all, as has been tried */
    const int64_t blocks = set_panel(c, r, smaller(kept, most), &tried);
    if (blocks < 1) continue;
    tried.panels = cutt_ceil_of(kept, tried.panel);
    set_strips(c, r, blocks, &tried);
    if (tried.seconds < s->seconds) *s = tried;
  }
}

/* The best one whose terms come in lots takes the place of *s, if it is faster: its warps have the sums of all that a block keeps at once. */
static void choose_lots(const cutt_contraction *c, const cutt_rates *r, int64_t kept, cutt_core_shape *s) {
  static const int64_t depths[] = {32, 64};
  if (s->terms < LEAST_TERMS) return;
  cutt_core_shape tried = *s;
  for (int warps = 1; warps <= 2; ++warps) {
    const int64_t most = (int64_t)warps * 8 * (s->streams_rows ? CUTT_CORE_COLUMN_GROUPS : CUTT_CORE_ROW_GROUPS);
    tried.threads = warps * CUTT_CORE_THREADS / 2;
    tried.panels = cutt_ceil_of(kept, most);
    if (tried.panels > MOST_PANELS || (warps == 2 && kept <= 8)) continue;
    tried.panel = cutt_ceil_of(kept, tried.panels);
    for (size_t i = 0; i < sizeof depths / sizeof *depths; ++i) {
      tried.depth = depths[i];
      for (tried.slots = CUTT_CORE_SLOTS; tried.slots >= 2 && tried.depth < s->terms; --tried.slots) {
        const int64_t blocks = blocks_of(c, r, &tried);
        if (blocks < 1) continue;
        set_strips(c, r, blocks, &tried);
        if (tried.seconds < s->seconds) *s = tried;
      }
    }
  }
}

void cutt_core_choose(const cutt_contraction *c, const cutt_rates *r, bool streams_rows, cutt_core_shape *s) {
  int64_t size[CUTT_DIGIT_KINDS];
  *s = (cutt_core_shape){.streams_rows = streams_rows, .seconds = INFINITY};
  if (c->type->type != CUTT_F64 || !r->matrix_units || c->right_is_one || c->no_terms) return;
  if (!cutt_digits_by_rows(c, &s->by_rows) || !cutt_digit_sizes(c, s->by_rows, size)) return;
  s->rows = size[CUTT_DIGIT_ROW];
  s->columns = size[CUTT_DIGIT_COLUMN];
  s->terms = size[CUTT_DIGIT_TERM];
  s->matrices = size[CUTT_DIGIT_MATRIX];
  const int64_t kept = size[cutt_digits_kept(s->streams_rows)], streamed = size[cutt_digits_streamed(s->streams_rows)];
  if (s->terms < 2 || s->terms > CUTT_CORE_TERMS || kept > INT32_MAX - MOST_PANEL ||
      streamed > INT32_MAX - (CUTT_CORE_SLOTS + 1) * CUTT_CORE_TILE)
    return;
  s->turned = is_turned(c, s);
  s->depth = s->terms;
  s->tiles = (streamed + CUTT_CORE_TILE - 1) / CUTT_CORE_TILE;
  choose_panel(c, r, kept, s);
  choose_lots(c, r, kept, s);
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

static void list_digits(const cutt_contraction *c, const cutt_core_shape *s, cutt_core_args *args) {
  cutt_digits digits = {c, s->by_rows, args->digit, 0};
  cutt_digits_add_kind(&digits, cutt_digits_kept(s->streams_rows));
  args->kept_end = digits.count;
  if (s->turned)
    cutt_digits_add_turned(&digits, CUTT_CORE_TURNED, CUTT_CORE_TURNED);
  else
    cutt_digits_add_kind(&digits, cutt_digits_streamed(s->streams_rows));
  args->tile_end = digits.count;
  cutt_digits_add_kind(&digits, CUTT_DIGIT_TERM);
  args->term_end = digits.count;
  cutt_digits_add_kind(&digits, CUTT_DIGIT_MATRIX);
  args->batch_end = digits.count;
}

void cutt_core_fill(const cutt_contraction *c, const cutt_core_shape *s, cutt_core_args *args, uint32_t *bytes) {
  args->kept = (uint32_t)(s->streams_rows ? s->columns : s->rows);
  args->streamed = (uint32_t)(s->streams_rows ? s->rows : s->columns);
  args->terms = (uint32_t)s->terms;
  args->steps = (uint32_t)((s->terms + CUTT_CORE_STEP - 1) / CUTT_CORE_STEP);
  args->panel = (uint32_t)s->panel;
  args->panel_room = (uint32_t)cutt_round_up(s->panel, kept_unit(s));
  args->panels = cutt_divide_by(s->panels);
  args->strips = cutt_divide_by(s->strips);
  args->tiles = (uint32_t)s->tiles;
  args->slots = (uint32_t)s->slots;
  args->turned = s->turned;
  args->wide = is_wide(c, s);
  args->term = cutt_divide_by(s->terms);
  args->depth = (uint32_t)s->depth;
  args->lots = (uint32_t)cutt_ceil_of(s->terms, s->depth);
  args->run = cutt_divide_by(s->depth);
  args->run_pairs = cutt_divide_by(larger(s->depth / 2, (int64_t)1));
  args->room = cutt_divide_by((int64_t)args->panel_room);
  args->reads = !c->beta_is_zero;
  args->alone = c->alpha_is_one;
  memcpy(&args->alpha, c->alpha, sizeof args->alpha);
  memcpy(&args->beta, c->beta, sizeof args->beta);
  list_digits(c, s, args);
  *bytes = (uint32_t)shared_bytes(c, s, args);
}
