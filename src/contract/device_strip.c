/* Contractions of floats in strips (device_strip.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_strip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "contract/device_digits.h"
#include "gpu/divisor.h"

enum {
  LINE = 128,  /* bytes */
  SECTOR = 32, /* bytes */
  BYTES = 4,   /* of an element */
  UNIT = CUTT_STRIP_UNIT / BYTES,
  CACHE = 32 << 20, /* bytes that L2 holds of an operand beside all else */
  RESERVED = 1024,  /* bytes of shared memory that the system takes of each block's */
  MOST_WARPS = CUTT_STRIP_THREADS / 32,
  SM_WARPS = MOST_WARPS * CUTT_STRIP_BLOCKS, /* that registers are there for */
  MOST_SPREAD = 4,
  LEAST_DEPTH = 8,
  MOST_DEPTH = 40,
  MOST_PANELS = 4, /* since what comes in tiles is read for each */
  SCHEDULERS = 4,
  /* Instructions of a warp: those that go with the products of a term; for each copy of a number, and of 16 bytes; for each number, or
   * 16 bytes, that are written; for a position of a tile; for a lot. */
  TERM = 5,
  COPY = 16,
  WIDE_COPY = 12,
  WRITE = 4,
  POSITION = 80,
  LOT = 120
};

/* Seconds of a launch, and of a block before its first product; the share of a copy's speed that is reached; instructions per second of a
 * scheduler with many warps, and warps for which that is half of it; bytes per second that an SM's part of L2 moves, counted in whole lines;
 * of products and moves, that part of the shorter time which adds to the longer one; and the share of the speed of large products that is
 * reached. All as measured on an H200 of 78 contractions. */
static const double launch_seconds = 3e-6, block_seconds = 1.5e-6, share_of_copy = 0.9, scheduler_speed = 1.95e9,
                    half_warps = 7, sm_lines = 33e9, beside = 0.1, share_of_products = 0.75;
/* Lines that a run begins in beyond those that it fills. */
static const double more_lines = 0.75;
/* Times as long with two lots in shared memory. */
static const double two_slots = 0.97;
/* Measured seconds over those that follow from all this: where rows come in tiles, and where columns do, by fours and by sixes; and what is not copied
 * by 16 bytes. */
static const double measured_rows = 1.07, measured_columns[2] = {1.35, 1.2}, measured_narrow = 1.3;
/* What a block takes before its first product, in terms. */
static const double terms_to_begin = 24;

/* Has a tensor neighbours in this mode, all fours of which begin at multiples of 16 bytes, if its first element does? */
static bool has_units(const cutt_contraction *c, cutt_tensor t, int fast) {
  if (fast < 0 || c->mode[fast].stride[t] != 1 || c->mode[fast].extent % UNIT) return false;
  for (int i = 0; i < c->modes; ++i)
    if (i != fast && c->mode[i].stride[t] % UNIT) return false;
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- the seconds */

/* What does not depend on how large blocks are. */
typedef struct facts {
  const cutt_rates *rates;
  double bytes[CUTT_TENSORS]; /* that move, of the streamed operand, the kept one and D; D's twice where it is read */
  double run[CUTT_TENSORS];   /* bytes that follow each other */
  double scattered;           /* times as long as lines of the streamed operand take */
  double result_run;          /* most that are written at once, where rows come in tiles */
  int64_t kept, streamed;
} facts;

/* Bytes that follow each other along the modes listed. */
static double run_along(const cutt_contraction *c, cutt_tensor t, const int *mode, int count) {
  int64_t run = 1;
  for (int i = 0; i < count && llabs(c->mode[mode[i]].stride[t]) == run; ++i) run *= c->mode[mode[i]].extent;
  return (double)(run * BYTES);
}

/* Times as many bytes as there are that whole lines have which runs of so many are in. */
static double lines_of(double bytes) {
  const double aligned = bytes / LINE, parts = LINE / bytes;
  if (parts > 1 && parts == floor(parts)) return parts;
  return aligned == floor(aligned) ? 1 : (aligned + more_lines) / aligned;
}

/* The same of whole sectors, which is what memory moves. */
static double sectors_of(double bytes) {
  const double aligned = bytes / SECTOR;
  return aligned == floor(aligned) ? 1 : (aligned + 0.25) / aligned;
}

/* Times as long as lines take which are read here and there, each for a few terms of one position, as measured of 8 to 16 terms; 72 are read as fast as
 * what lies side by side. */
static double scattered_of(double run) { return fmax(1, 4.5 - run / (2 * SECTOR)); }

/* Instructions of a warp for a tile. */
static double tile_slots(const cutt_strip_shape *s) {
  const double terms = (double)cutt_round_up(s->terms, (int64_t)CUTT_STRIP_STEP), lots = ceil(terms / (double)s->depth);
  const double own = s->streams_rows ? CUTT_STRIP_ROWS_OWN : CUTT_STRIP_COLUMNS_OWN;
  const double multiply = terms * (own * s->each + TERM + own / 4 + ceil(s->each / 4.0));
  const double copies = terms * CUTT_STRIP_TILE / 32 / s->across * (s->wide ? WIDE_COPY / 4.0 : COPY);
  const double written = own * s->each * WRITE * (s->writes_wide ? 0.25 : 1);
  return multiply + copies + written + CUTT_STRIP_TILE / 32.0 / s->across * POSITION + lots * LOT;
}

/* Cuts the tiles into so many strips that the blocks fill the SMs evenly. Returns the time in tiles of one block after the other. */
static double cut_tiles(double at_once, cutt_strip_shape *s) {
  const double blocks = (double)s->panels * (double)s->matrices;
  double least = INFINITY;
  for (int turns = 1; turns <= 4; ++turns) {
    const int64_t strips = larger(smaller((int64_t)(turns * at_once / blocks), s->tiles), INT64_C(1));
    const int64_t each = cutt_ceil_of(s->tiles, strips), even = cutt_ceil_of(s->tiles, each);
    const double time = ceil(blocks * (double)even / at_once) * ((double)each + terms_to_begin / (double)s->terms);
    if (!(time < least)) continue;
    least = time;
    s->strips = even;
  }
  return least;
}

static double seconds_of(const facts *f, const cutt_strip_shape *s, double warps, double tiles) {
  const double sms = (double)larger(f->rates->multiprocessors, (int64_t)1), panels = (double)s->panels;
  const double slots = tiles * tile_slots(s) * warps / SCHEDULERS / (scheduler_speed * warps / (warps + half_warps));
  const double flops = 2 * (double)s->matrices * (double)s->rows * (double)s->columns * (double)s->terms;
  /* The latter on a GPU that has fewer units for floats than instructions. */
  const double work =
      f->rates->blas_flops > 0 ? fmax(slots, flops / (share_of_products * f->rates->blas_flops)) : slots;
  const double tile = (double)(cutt_strip_tile(s) * BYTES);
  const double together = s->by_terms ? (double)(s->depth * BYTES) : s->turned ? tile / (1 << s->spread) : tile;
  const double streamed_run = fmin(f->run[0], together), result_run = fmin(f->run[2], s->streams_rows ? f->result_run
                                                                                      : s->each == 4  ? 64
                                                                                                      : 48);
  const double again = f->bytes[0] * (panels - 1) + f->bytes[1] * (double)(s->strips - 1);
  const double memory = (f->bytes[0] * sectors_of(f->run[0]) + f->bytes[1] + f->bytes[2] * sectors_of(f->run[2])) /
                        (share_of_copy * f->rates->memory);
  const double lines = (f->bytes[0] * panels * lines_of(streamed_run) * f->scattered + f->bytes[1] * (double)s->strips +
                        f->bytes[2] * lines_of(result_run)) /
                       (sms * sm_lines);
  const double move = fmax(memory + again / (sms * 4 * sm_lines), lines);
  const double measured = (s->streams_rows ? measured_rows : measured_columns[s->each == 6]) *
                          (s->wide ? 1 : measured_narrow) * (s->slots == 2 ? two_slots : 1);
  return launch_seconds + measured * (block_seconds + fmax(work, move) + beside * fmin(work, move));
}

/* ------------------------------------------------------------------------------------------------------------- the shape */

/* From a term to the next in shared memory, or where terms lie next to each other, from a position to the next: an odd number of
 * units, so that threads side by side meet in no bank. */
static int64_t pitch_of(const cutt_strip_shape *s) {
  if (!s->by_terms) return cutt_strip_tile(s);
  return s->depth / UNIT % 2 ? s->depth : s->depth + UNIT;
}

/* Lays out shared memory; returns the bytes. */
static int64_t lay_out(const cutt_strip_shape *s, cutt_strip_args *args) {
  const int64_t lots = cutt_ceil_of(s->terms, s->depth), tile = cutt_strip_tile(s);
  const int64_t pitch = pitch_of(s), terms = cutt_round_up(s->terms, (int64_t)CUTT_STRIP_STEP);
  int64_t at = s->panel * CUTT_STRIP_ENTRY;
  args->tables = lots < s->slots ? 4 : 2;
  args->terms_at = (uint32_t)at;
  at += s->terms * CUTT_STRIP_ENTRY;
  args->tables_at = (uint32_t)at;
  at += args->tables * tile * CUTT_STRIP_ENTRY;
  args->kept_at = (uint32_t)at;
  at += terms * s->panel * BYTES;
  args->slots_at = (uint32_t)at;
  args->pitch = (uint32_t)(pitch * BYTES);
  args->slot_bytes = (uint32_t)((s->by_terms ? tile : s->depth) * pitch * BYTES);
  return at + s->slots * (int64_t)args->slot_bytes;
}

static int64_t warps_of_block(const cutt_strip_shape *s) { return (int64_t)s->along * s->across; }

/* Of a block of these warps, how many terms come at once, and how many lots are in shared memory; replaces *best if that is faster. */
static void try_block(const facts *f, cutt_strip_shape *tried, cutt_strip_shape *best) {
  const int64_t unit = tried->by_terms && tried->terms > UNIT ? SECTOR / BYTES : CUTT_STRIP_STEP,
                block = warps_of_block(tried);
  cutt_strip_args args;
  tried->panel = cutt_strip_kept(tried) * tried->across;
  tried->panels = cutt_ceil_of(f->kept, tried->panel);
  tried->tiles = cutt_ceil_of(f->streamed, cutt_strip_tile(tried));
  if (tried->panels > MOST_PANELS ||
      (double)tried->panels * (double)tried->matrices * (double)tried->tiles >= INT32_MAX)
    return;
  int64_t before = 0;
  for (int64_t lots = cutt_ceil_of(tried->terms, (int64_t)MOST_DEPTH); lots <= tried->terms; ++lots) {
    tried->depth = cutt_round_up(cutt_ceil_of(tried->terms, lots), unit);
    if (tried->depth < LEAST_DEPTH && lots > 1) return;
    if (tried->depth == before) continue;
    before = tried->depth;
    for (tried->slots = CUTT_STRIP_SLOTS; tried->slots >= 2; --tried->slots) {
      const int64_t bytes = lay_out(tried, &args) + RESERVED;
      if (bytes > f->rates->block_shared) continue;
      const double warps = (double)(smaller(f->rates->sm_shared / bytes, SM_WARPS / block) * block);
      const double at_once = (double)larger(f->rates->multiprocessors, (int64_t)1) * warps / (double)block;
      const double tiles = cut_tiles(at_once, tried);
      tried->seconds = seconds_of(f, tried, warps, tiles);
      if (tried->seconds < best->seconds) *best = *tried;
    }
  }
}

/* How tiles lie in memory and in shared memory, and how they come there. False where each element would be a sector by itself. */
static bool choose_order(const cutt_contraction *c, facts *f, cutt_strip_shape *s) {
  int row[CUTT_MOST_MODES], tile[CUTT_MOST_MODES], term[CUTT_MOST_MODES];
  const int rows = cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_ROW, row),
            count = cutt_digit_modes(c, s->by_rows, cutt_digits_streamed(s->streams_rows), tile),
            terms = cutt_digit_modes(c, s->by_rows, CUTT_DIGIT_TERM, term);
  const cutt_tensor t = cutt_streamed_operand(s->by_rows, s->streams_rows);
  const int fast = cutt_fast_mode(c, t);
  s->by_terms = cutt_digits_by_terms(c, s->by_rows, t);
  const bool along = count > 0 && tile[0] == fast;
  s->turned = s->streams_rows && fast >= 0 && !s->by_terms && !along &&
              cutt_digit_kind_of(&c->mode[fast], s->by_rows) == CUTT_DIGIT_ROW &&
              c->mode[fast].extent % CUTT_STRIP_TURNED == 0 && rows > 0 &&
              c->mode[row[0]].extent % CUTT_STRIP_TURNED == 0;
  if (fast >= 0 && !s->by_terms && !along && !s->turned) return false;
  s->writes_wide = !s->turned && rows > 0 && has_units(c, CUTT_RESULT, row[0]);
  if (!s->streams_rows && !s->writes_wide) return false;
  if (s->turned)
    s->spread = c->mode[row[0]].extent % (1 << MOST_SPREAD) == 0 ? MOST_SPREAD : MOST_SPREAD - 1;
  else if (!s->writes_wide)
    s->spread = MOST_SPREAD;
  s->wide = has_units(c, t, fast) && (s->turned || s->by_terms || (along && !s->spread));
  f->run[0] = s->by_terms ? run_along(c, t, term, terms)
              : s->turned ? (double)c->mode[fast].extent * BYTES
                          : run_along(c, t, tile, count);
  const bool scattered = s->by_terms && count > 0 && (double)llabs(c->mode[tile[0]].stride[t]) * BYTES != f->run[0] &&
                         c->volume[t] * BYTES > CACHE;
  f->scattered = scattered ? scattered_of(f->run[0]) : 1;
  f->run[2] = run_along(c, CUTT_RESULT, row, rows);
  f->result_run = s->spread ? BYTES << s->spread : 256;
  return true;
}

void cutt_strip_choose(const cutt_contraction *c, const cutt_rates *r, bool streams_rows, cutt_strip_shape *s) {
  int64_t size[CUTT_DIGIT_KINDS];
  facts f = {.rates = r};
  *s = (cutt_strip_shape){.streams_rows = streams_rows, .seconds = INFINITY};
  if (c->type->type != CUTT_F32 || c->right_is_one || c->no_terms) return;
  if (!cutt_digits_by_rows(c, &s->by_rows) || !cutt_digit_sizes(c, s->by_rows, size)) return;
  s->rows = size[CUTT_DIGIT_ROW];
  s->columns = size[CUTT_DIGIT_COLUMN];
  s->terms = size[CUTT_DIGIT_TERM];
  s->matrices = size[CUTT_DIGIT_MATRIX];
  f.kept = size[cutt_digits_kept(s->streams_rows)];
  f.streamed = size[cutt_digits_streamed(s->streams_rows)];
  enum { MORE = CUTT_STRIP_THREADS / 32 * CUTT_STRIP_TILE * 4 };
  if (s->terms < 2 || s->terms > CUTT_STRIP_TERMS || f.kept > INT32_MAX - MORE || f.streamed > INT32_MAX - MORE) return;
  if (!choose_order(c, &f, s)) return;
  const cutt_tensor streamed = cutt_streamed_operand(s->by_rows, s->streams_rows);
  f.bytes[0] = (double)c->volume[streamed] * BYTES;
  f.bytes[1] = (double)c->volume[cutt_other_operand(streamed)] * BYTES;
  f.bytes[2] = (c->beta_is_zero ? 1 : 2) * (double)c->volume[CUTT_RESULT] * BYTES;
  cutt_strip_shape tried = *s;
  const int each = streams_rows ? 8 : 4;
  for (tried.each = each; 2 * tried.each <= 3 * each; tried.each += each / 2) {
    for (tried.across = 1; tried.across <= MOST_WARPS; ++tried.across) {
      if (tried.across > 1 && (tried.across - 1) * cutt_strip_kept(&tried) >= f.kept) break;
      for (tried.along = 1; tried.along * tried.across <= MOST_WARPS; tried.along *= 2)
        if (warps_of_block(&tried) > 1) try_block(&f, &tried, s);
    }
  }
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

static void list_digits(const cutt_contraction *c, const cutt_strip_shape *s, cutt_strip_args *args) {
  cutt_digits digits = {c, s->by_rows, args->digit, 0};
  cutt_digits_add_kind(&digits, cutt_digits_kept(s->streams_rows));
  args->kept_end = digits.count;
  if (s->turned)
    cutt_digits_add_turned(&digits, INT64_C(1) << s->spread, CUTT_STRIP_TURNED);
  else
    cutt_digits_add_kind(&digits, cutt_digits_streamed(s->streams_rows));
  args->tile_end = digits.count;
  cutt_digits_add_kind(&digits, CUTT_DIGIT_TERM);
  args->term_end = digits.count;
  cutt_digits_add_kind(&digits, CUTT_DIGIT_MATRIX);
  args->batch_end = digits.count;
}

/* Which quads of the operand's neighbours are exchanged: of D's neighbours that eight threads side by side have, each is in another unit
 * of 128 bytes. */
static void set_exchange(const cutt_strip_shape *s, cutt_strip_args *args) {
  const int64_t quads = larger(cutt_strip_tile(s) / UNIT >> s->spread, INT64_C(1));
  args->beside_log2 = (uint32_t)__builtin_ctzll((unsigned long long)quads);
  args->exchange = (uint32_t)smaller(quads - 1, INT64_C(7));
  args->exchange_shift = args->beside_log2 < 3 ? 3 - args->beside_log2 : 0;
}

void cutt_strip_fill(const cutt_contraction *c, const cutt_strip_shape *s, cutt_strip_args *args, uint32_t *bytes) {
  args->kept = (uint32_t)(s->streams_rows ? s->columns : s->rows);
  args->streamed = (uint32_t)(s->streams_rows ? s->rows : s->columns);
  args->terms = (uint32_t)s->terms;
  args->depth = (uint32_t)s->depth;
  args->lots = (uint32_t)cutt_ceil_of(s->terms, s->depth);
  args->panel = (uint32_t)s->panel;
  args->panels = cutt_divide_by(s->panels);
  args->strips = cutt_divide_by(s->strips);
  args->tiles = (uint32_t)s->tiles;
  args->tile_log2 = (uint32_t)__builtin_ctzll((unsigned long long)cutt_strip_tile(s));
  args->slots = (uint32_t)s->slots;
  args->spread = (uint32_t)s->spread;
  args->turned = s->turned;
  set_exchange(s, args);
  args->writes_wide = s->writes_wide;
  args->by_terms = s->by_terms;
  args->kept_by_terms =
      cutt_digits_by_terms(c, s->by_rows, cutt_other_operand(cutt_streamed_operand(s->by_rows, s->streams_rows)));
  args->wide = s->wide;
  args->term = cutt_divide_by(s->terms);
  args->room = cutt_divide_by(s->panel);
  args->run = cutt_divide_by(s->depth);
  args->unit_run = cutt_divide_by(s->depth / UNIT);
  args->reads = !c->beta_is_zero;
  args->alone = c->alpha_is_one;
  memcpy(&args->alpha, c->alpha, sizeof args->alpha);
  memcpy(&args->beta, c->beta, sizeof args->beta);
  list_digits(c, s, args);
  *bytes = (uint32_t)lay_out(s, args);
}
