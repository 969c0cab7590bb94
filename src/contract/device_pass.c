/* The shape of a pass on a GPU (device_pass.h), and what it is predicted to take. */
#include "contract/device_pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
  MOST_ROWS = 512,      /* of a tile */
  BATCHES = 8,          /* of rows that a block computes one after the other */
  TURNED = 32,          /* positions where an operand is turned */
  TURNED_ROWS = 8,      /* of each of two operands that are turned in different modes */
  WORTH_TURNING = 8,    /* elements next to each other */
  SECTOR = 32,          /* bytes: the least that memory moves */
  BLOCKS_AT_ONCE = 3,   /* on an SM */
  PAGE = 64,            /* bytes: what the beginning of a short run of an operand costs memory */
  TERMS_TO_BEGIN = 3,   /* what a block takes before its first load, in terms of its rows */
  TERMS_TO_JOIN = 6,    /* what the launch takes that adds up parts */
  MANY_TURNS = 8,       /* of blocks, from which on it matters little how the last one ends */
  ENOUGH_TERMS = 4,     /* of a sum, to be shared among groups */
  MOST_TIMES = 4,       /* as long as the fastest, of what is measured */
  MOST_MOVED_MODES = 12 /* up to which tensors are permuted, since looking at all choices takes long */
};

/* Seconds of a launch, of a block before its first load, of adding up the sums of threads side by side, of loads on an SM that has
 * little else to do, of a term of two operands of which one or both are turned, for which threads wait twice, and of each cache line that
 * threads side by side load beyond those that their elements fill, on an SM; times as long as loads take in batches with no operand turned, one or
 * two; loads per second of an SM, of two operands of up to 4 bytes and of more, and of one; the share of a copy's speed that is reached; and of loads
 * and moves of two operands, that part of the shorter time which adds to the longer one: as measured on an H200, of two operands in 640 passes of
 * random contractions, and in 4000 of batches. */
static const double launch_seconds = 3e-6, block_seconds = 2.5e-6, sum_seconds = 2e-6, wait_seconds = 0.6e-6,
                    turned_seconds[3] = {0, 2.4e-6, 4.2e-6}, batch_loads[3] = {1.38, 2.7, 3.8}, line_seconds = 0.7e-9,
                    narrow_loads_per_second = 14e9, loads_per_second = 11e9, loads_alone_per_second = 20e9,
                    share_of_copy = 0.95, beside = 0.75;

/* Over that, as measured in 1500 passes of 4000 other contractions: by the way, the share of those loads of two operands, half of it for elements of
 * 16 bytes; and what threads wait at least for a term, of more than 4 bytes or fewer. */
static const double way_loads[] = {0.65, 0.8, 1, 1}, wide_loads = 0.5;
static const double term_seconds[][4] = {{0, 0.8e-6, 1.4e-6, 1.1e-6}, {0, 1.0e-6, 2.0e-6, 1.1e-6}};

static int operands(const cutt_contraction *c) { return c->right_is_one ? 1 : 2; }

static int64_t batch_of(const cutt_contraction *c, const cutt_device_shape *s) {
  return smaller(CUTT_PASS_THREADS / s->positions, (int64_t)CUTT_PASS_GROUPS) *
         (int64_t)CUTT_PASS_ROWS_OF(c->type->bytes);
}

static int larger_operand(const cutt_contraction *c) {
  return !c->right_is_one && c->volume[CUTT_RIGHT] > c->volume[CUTT_LEFT] ? CUTT_RIGHT : CUTT_LEFT;
}

int cutt_device_pass_modes(const cutt_contraction *c, bool summed, bool by_left, int *mode) {
  const int t = summed ? larger_operand(c) : by_left ? CUTT_LEFT : CUTT_RESULT;
  int count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (cutt_is_summed(c, i) != summed) continue;
    const uint64_t key = (uint64_t)llabs(c->mode[i].stride[t]) - 1; /* 0 becomes the largest */
    int at = count++;
    for (; at > 0 && (uint64_t)llabs(c->mode[mode[at - 1]].stride[t]) - 1 > key; --at) mode[at] = mode[at - 1];
    mode[at] = i;
  }
  return count;
}

/* Of many chunks, as long ones as can be, since few of them are not whole; of few, all of the same extent, if there is one that is not
 * much shorter than `most`; else of nearly the same extent. */
static int64_t good_chunk(int64_t extent, int64_t most) {
  enum { MANY = 16 };
  if (extent <= most) return extent;
  const int64_t chunks = (extent + most - 1) / most;
  if (chunks >= MANY) return most;
  for (int64_t chunk = most; chunk > 1 && 4 * chunk >= 3 * most; --chunk)
    if (extent % chunk == 0) return chunk;
  return (extent + chunks - 1) / chunks;
}

/* ------------------------------------------------------------------------------------------------------ positions and rows */

static void add_x(cutt_device_shape *s, int mode, int64_t chunk) {
  if (chunk == 1) return;
  s->x[mode] = (int16_t)chunk; /* at most CUTT_PASS_THREADS or MOST_ROWS */
  s->x_mode[s->x_modes++] = (int8_t)mode;
  s->positions *= chunk;
}

static void add_y(cutt_device_shape *s, int mode, int64_t chunk) {
  if (chunk == 1) return;
  s->y[mode] = (int16_t)chunk; /* at most CUTT_PASS_THREADS or MOST_ROWS */
  s->y_mode[s->y_modes++] = (int8_t)mode;
  s->rows *= chunk;
}

static void choose_positions(const cutt_contraction *c, bool across, int64_t most, cutt_device_shape *s) {
  int mode[CUTT_MOST_MODES];
  const int count = cutt_device_pass_modes(c, across, s->by_left, mode);
  for (int i = 0; i < count; ++i) {
    const int64_t extent = c->mode[mode[i]].extent, room = most / s->positions;
    add_x(s, mode[i], good_chunk(extent, room));
    if (extent > room) break;
  }
}

/* Rows of modes of D, or of summed ones: at most so many. What x has left of a mode comes last, since an operand that lacks another
 * one is read again for it, from a cache then. */
static void choose_rows(const cutt_contraction *c, bool summed, int64_t most, cutt_device_shape *s) {
  int mode[CUTT_MOST_MODES];
  const int count = cutt_device_pass_modes(c, summed, s->by_left, mode);
  for (int left = 0; left < 2; ++left) {
    for (int i = 0; i < count; ++i) {
      const int m = mode[i];
      const int64_t rest = (c->mode[m].extent + s->x[m] - 1) / s->x[m], room = most / s->rows;
      if ((s->x[m] > 1) != (left == 1) || s->y[m] > 1) continue;
      add_y(s, m, good_chunk(rest, room));
      if (rest > room) return;
    }
  }
}

/* So many batches of rows for a block that the last blocks leave few SMs idle, and that its tables are worth their time. */
static int64_t batches_of(const cutt_rates *r, double batches) {
  static const double tables = 0.7; /* in batches */
  double least = INFINITY;
  int64_t best = 1;
  for (int64_t each = 1; each <= BATCHES; ++each) {
    const double at_once = (double)(larger(r->multiprocessors, (int64_t)1) * BLOCKS_AT_ONCE);
    const double time = ceil(ceil(batches / (double)each) / at_once) * ((double)each + tables);
    if (time < least) {
      least = time;
      best = each;
    }
  }
  return best;
}

/* Is the operand to be turned? Its neighbours are in a mode that rows may have, and x has not. */
static int mode_to_turn(const cutt_contraction *c, const cutt_device_shape *s, bool summed, int t) {
  if (t >= operands(c)) return -1;
  const int fast = cutt_fast_mode(c, (cutt_tensor)t);
  if (fast < 0 || cutt_is_summed(c, fast) != summed || s->x[fast] > 1 || c->mode[fast].extent < WORTH_TURNING)
    return -1;
  bool repeats = true; /* for all positions */
  for (int i = 0; i < s->x_modes; ++i) repeats = repeats && !c->mode[s->x_mode[i]].stride[t];
  return repeats || llabs(c->mode[fast].stride[t]) * c->type->bytes >= SECTOR ? -1 : fast;
}

/* Rows of the modes in which operands are turned. */
static bool choose_turned(const cutt_contraction *c, const cutt_rates *r, bool summed, int64_t rows,
                          cutt_device_shape *s) {
  /* A thread loads one row's positions, as many as it has rows. */
  const int64_t each = CUTT_PASS_ROWS_OF(c->type->bytes), loads = (s->positions + each - 1) / each;
  int64_t batch = smaller(batch_of(c, s), CUTT_PASS_THREADS / loads);
  for (int t = 0; t < 2; ++t) s->turned[t] = mode_to_turn(c, s, summed, t);
  const int first = s->turned[0] >= 0 ? s->turned[0] : s->turned[1];
  if (first < 0) return false;
  const bool two = s->turned[0] >= 0 && s->turned[1] >= 0 && s->turned[0] != s->turned[1];
  if (two) {
    add_y(s, first, good_chunk(c->mode[first].extent, TURNED_ROWS));
    add_y(s, s->turned[1], good_chunk(c->mode[s->turned[1]].extent, batch / s->rows));
    return true;
  }
  s->turned_rows = batch;
  if (!summed && batch == batch_of(c, s))
    batch = smaller(batch * batches_of(r, (double)rows / (double)batch), (int64_t)MOST_ROWS);
  add_y(s, first, good_chunk(c->mode[first].extent, batch));
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- the seconds */

/* Bytes of the tensor that follow each other in a tile, or in those that follow it. */
static double piece_of(const cutt_contraction *c, const cutt_device_shape *s, int t, int fast) {
  const int64_t extent = c->mode[fast].extent;
  const int64_t part = cutt_is_summed(c, fast) ? extent : smaller((int64_t)s->x[fast] * s->y[fast], extent);
  double piece = (double)(part * llabs(c->mode[fast].stride[t]) * c->type->bytes);
  if (part < extent) return piece;
  for (int i = 0; i < c->modes; ++i)
    if (i != fast && (double)llabs(c->mode[i].stride[t]) * c->type->bytes == piece) piece *= (double)s->x[i] * s->y[i];
  return piece;
}

/* Times as many bytes as there are in the tensor that memory moves, by what its neighbours in the tile are. */
static double waste_of(const cutt_contraction *c, const cutt_device_shape *s, int t) {
  const int fast = cutt_fast_mode(c, (cutt_tensor)t);
  const double bytes = c->type->bytes;
  if (fast < 0) return 1;
  const double step = (double)llabs(c->mode[fast].stride[t]) * bytes;
  double run = (double)c->mode[fast].extent * step;
  if (step >= SECTOR) return fmax(SECTOR / bytes, 1) * (s->x[fast] > 1 ? 1 : 1.5);
  if (t < 2 && s->turned[t] == fast) return (c->right_is_one ? 2.2 : 1.1) * step / bytes;
  if (s->x[fast] == 1) return run >= 4 * SECTOR ? fmin(4, SECTOR / bytes) : 1.5;
  for (int i = 0; i < c->modes; ++i)
    if (i != fast && (double)llabs(c->mode[i].stride[t]) * bytes == run) run *= (double)s->x[i];
  return ((run + SECTOR / 4.0) / run + (t < 2 && c->right_is_one ? PAGE / piece_of(c, s, t, fast) : 0)) * step / bytes;
}

/* Times as long as blocks would take that ended together, for those that are left over when others have ended; of few blocks none. */
static double unevenness(const cutt_rates *r, double blocks) {
  const double at_once = (double)(larger(r->multiprocessors, (int64_t)1) * BLOCKS_AT_ONCE);
  return blocks > at_once ? ceil(blocks / at_once) * at_once / blocks : 1;
}

/* Of the tiles, and of the terms of each; INFINITY stays that. */
static void count_work(const cutt_contraction *c, const cutt_device_shape *s, double *tiles, double *terms) {
  *tiles = *terms = 1;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t part = larger((int64_t)s->x[i] * s->y[i], INT64_C(1));
    *(cutt_is_summed(c, i) ? terms : tiles) *= (double)cutt_ceil_of(c->mode[i].extent, part);
  }
}

static double blocks_of(const cutt_contraction *c, const cutt_device_shape *s) {
  double tiles, terms;
  count_work(c, s, &tiles, &terms);
  return tiles * (double)s->parts;
}

/* What a block of one operand waits for memory, load after load, when it has an SM to itself. */
static double waits_of(const cutt_contraction *c, const cutt_rates *r, const cutt_device_shape *s, double batches) {
  enum { AT_ONCE = 2 }; /* terms, at least */
  double tiles, terms;
  count_work(c, s, &tiles, &terms);
  const double at_once = (double)(larger(r->multiprocessors, (int64_t)1) * BLOCKS_AT_ONCE);
  const double each = ceil(ceil(terms / (double)s->parts) / AT_ONCE) * batches;
  return ceil(tiles * (double)s->parts / at_once) * (block_seconds + each * wait_seconds);
}

static int turned_of(const cutt_device_shape *s) { return (s->turned[0] >= 0) + (s->turned[1] >= 0); }

/* The same of a block of two operands, term after term: blocks of an SM wait at the same time. */
static double waits_of_two(const cutt_contraction *c, const cutt_rates *r, const cutt_device_shape *s) {
  double tiles, terms;
  count_work(c, s, &tiles, &terms);
  const double at_once = (double)(larger(r->multiprocessors, (int64_t)1) * BLOCKS_AT_ONCE);
  const double each = turned_of(s) ? turned_seconds[turned_of(s)] : term_seconds[c->type->bytes <= 4][s->way];
  return fmax(1, tiles * (double)s->parts / at_once) * (block_seconds + ceil(terms / (double)s->parts) * each);
}

/* Cache lines beyond those that their elements fill, which threads side by side load of an operand, for each thread. */
static double lines_more(const cutt_contraction *c, const cutt_device_shape *s, int t) {
  enum { WARP = 32, LINE = 128 };
  int64_t line[WARP];
  const int64_t lanes = smaller((int64_t)WARP, s->positions), bytes = c->type->bytes;
  int64_t lines = 0;
  for (int64_t i = 0; i < lanes; ++i) {
    int64_t rest = i, at = 0, k = 0;
    for (int m = 0; m < s->x_modes; rest /= s->x[s->x_mode[m++]])
      at += rest % s->x[s->x_mode[m]] * llabs(c->mode[s->x_mode[m]].stride[t]);
    at = at * bytes / LINE;
    while (k < lines && line[k] != at) ++k;
    if (k == lines) line[lines++] = at;
  }
  return (double)larger(lines - cutt_ceil_of(lanes * bytes, (int64_t)LINE), (int64_t)0) / (double)lanes;
}

static double seconds_of(const cutt_contraction *c, const cutt_rates *r, const cutt_device_shape *s) {
  double moved = 0, products = 1, lines = 0;
  bool batch = false;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    if (t == CUTT_RIGHT && c->right_is_one) continue;
    const double times = t == CUTT_RESULT && !c->beta_is_zero ? 2 : 1;
    moved += times * (double)c->volume[t] * c->type->bytes * waste_of(c, s, t);
    if (!c->right_is_one && t != CUTT_RESULT && s->turned[t] < 0) lines += lines_more(c, s, t);
  }
  for (int i = 0; i < c->modes; ++i) {
    products *= (double)c->mode[i].extent;
    batch = batch || c->mode[i].group == CUTT_GROUP_BATCH;
  }
  const double longer = batch && !c->right_is_one ? batch_loads[turned_of(s)] : 1;
  const double used =
      (double)(s->positions * smaller(CUTT_PASS_THREADS / s->positions, (int64_t)CUTT_PASS_GROUPS)) / CUTT_PASS_THREADS;
  const double each = c->right_is_one       ? (c->type->bytes == 2 ? narrow_loads_per_second : loads_alone_per_second)
                      : c->type->bytes <= 4 ? narrow_loads_per_second
                                            : loads_per_second;
  const double share = c->right_is_one ? 1 : way_loads[s->way] * (c->type->bytes > 8 ? wide_loads : 1);
  const double loads =
      products / (double)r->multiprocessors * (longer * operands(c) / (share * each * used) + lines * line_seconds);
  const double blocks = blocks_of(c, s),
               turns = blocks / (double)(larger(r->multiprocessors, (int64_t)1) * BLOCKS_AT_ONCE);
  const double uneven = c->right_is_one ? unevenness(r, blocks) : 1;
  const double batches = ceil((double)s->rows / (double)batch_of(c, s));
  const double sums = s->way == CUTT_PASS_ACROSS_X ? turns * batches : 0;
  const double move = moved / (share_of_copy * r->memory);
  const double both = c->right_is_one ? loads + move : fmax(loads, move) + beside * fmin(loads, move);
  const double all = turns * block_seconds + sums * sum_seconds + uneven * both;
  const double least = c->right_is_one ? waits_of(c, r, s, batches) : waits_of_two(c, r, s);
  return (s->parts > 1 ? 2 : 1) * launch_seconds + fmax(all, least);
}

/* ------------------------------------------------------------------------------------------------------------- the shape */

/* So many that blocks end together, as far as there is workspace for their sums: those of many tiles need none. */
static int64_t choose_parts(const cutt_contraction *c, const cutt_rates *r, int64_t limit, double tiles, double terms) {
  const double at_once = (double)(larger(r->multiprocessors, (int64_t)1) * BLOCKS_AT_ONCE);
  const int64_t bytes = cutt_sum_bytes(c) * c->volume[CUTT_RESULT];
  if (tiles > MANY_TURNS * at_once || terms < 2) return 1;
  const int64_t most = smaller(smaller((int64_t)ceil(MANY_TURNS * at_once / tiles), (int64_t)terms), limit / bytes);
  int64_t best = 1;
  double least = INFINITY;
  for (int64_t parts = 1; parts <= most; ++parts) {
    const double each = ceil(terms / (double)parts), real = ceil(terms / each);
    const double time = ceil(tiles * real / at_once) * (each + TERMS_TO_BEGIN) + (parts > 1 ? TERMS_TO_JOIN : 0);
    if (!(time < least * (1 - 1e-9))) continue;
    least = time;
    best = (int64_t)real;
  }
  return best;
}

void cutt_device_pass_shape(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_device_side side,
                            bool shares, int64_t most, cutt_device_shape *s) {
  const bool across = side == CUTT_SIDE_SUM;
  *s = (cutt_device_shape){.positions = 1, .rows = 1, .turned = {-1, -1}, .parts = 1};
  s->by_left = side == CUTT_SIDE_LEFT;
  int64_t sum = 1, result = 1;
  for (int i = 0; i < c->modes; ++i) {
    s->x[i] = s->y[i] = 1;
    *(cutt_is_summed(c, i) ? &sum : &result) *= c->mode[i].extent;
  }
  choose_positions(c, across, most, s);
  const int64_t batch = batch_of(c, s), rows = across ? result : result / s->positions;
  shares = (shares || rows < batch) && (across ? sum / s->positions : sum) >= ENOUGH_TERMS;
  s->way = across ? (shares ? CUTT_PASS_ALL : CUTT_PASS_ACROSS_X) : shares ? CUTT_PASS_ACROSS_Y : CUTT_PASS_PLAIN;
  if (most <= TURNED && (shares || !across) && choose_turned(c, r, shares, rows, s)) {
    /* There are no other rows. */
  } else if (shares) {
    choose_rows(c, true, batch, s);
  } else {
    choose_rows(c, false, smaller(batch * batches_of(r, (double)rows / (double)batch), (int64_t)MOST_ROWS), s);
  }
  double tiles, terms;
  count_work(c, s, &tiles, &terms);
  s->parts = choose_parts(c, r, limit, tiles, terms);
  s->seconds = tiles * (double)s->parts < INT32_MAX && terms < INT32_MAX ? seconds_of(c, r, s) : INFINITY;
}

void cutt_device_pass_products(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_tensor by_rows,
                               cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .kind = CUTT_DEVICE_PRODUCTS};
  cutt_multiply_choose(c, r, limit, by_rows, &s->products);
  s->parts = s->products.parts;
  s->seconds = s->products.seconds;
}

void cutt_device_pass_panels(const cutt_contraction *c, const cutt_rates *r, cutt_tensor by_rows,
                             cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .parts = 1, .kind = CUTT_DEVICE_PANELS};
  cutt_panel_choose(c, r, by_rows, &s->panel);
  s->seconds = s->panel.seconds;
}

void cutt_device_pass_cores(const cutt_contraction *c, const cutt_rates *r, bool streams_rows, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .parts = 1, .kind = CUTT_DEVICE_CORES};
  cutt_core_choose(c, r, streams_rows, &s->core);
  s->seconds = s->core.seconds;
}

void cutt_device_pass_strips(const cutt_contraction *c, const cutt_rates *r, bool streams_rows, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .parts = 1, .kind = CUTT_DEVICE_STRIPS};
  cutt_strip_choose(c, r, streams_rows, &s->strip);
  s->seconds = s->strip.seconds;
}

void cutt_device_pass_tiles(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .kind = CUTT_DEVICE_TILES};
  cutt_sum_choose(c, r, limit, &s->sum);
  s->parts = s->sum.blocks.parts;
  s->seconds = s->sum.seconds;
}

void cutt_device_pass_stretches(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .kind = CUTT_DEVICE_STRETCHES};
  cutt_stretch_choose(c, r, limit, &s->stretch);
  s->parts = s->stretch.blocks.parts;
  s->seconds = s->stretch.seconds;
}

void cutt_device_pass_staged(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .kind = CUTT_DEVICE_STAGED};
  cutt_staged_choose(c, r, limit, &s->staged);
  s->parts = s->staged.blocks.parts;
  s->seconds = s->staged.seconds;
}

void cutt_device_pass_small(const cutt_contraction *c, const cutt_rates *r, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .parts = 1, .kind = CUTT_DEVICE_SMALL};
  cutt_small_choose(c, r, &s->small);
  s->seconds = s->small.seconds;
}

void cutt_device_pass_combination(const cutt_contraction *c, const cutt_rates *r, cutt_device_shape *s) {
  *s = (cutt_device_shape){.turned = {-1, -1}, .parts = 1, .kind = CUTT_DEVICE_COMBINATION};
  s->seconds = cutt_device_combine_seconds(c, r);
}

/* ---------------------------------------------------------------------------------------------------------- all of them */

enum {
  SIZES = 4,
  SIDES = 3,
  PLAIN = 2 * SIDES * SIZES,
  LAST_PRODUCTS = PLAIN + 2,
  LAST_PANELS = LAST_PRODUCTS + 2,
  LAST_CORES = LAST_PANELS + 2,
  LAST_COMBINATION = LAST_CORES + 1,
  LAST_TILES = LAST_COMBINATION + 1,
  LAST_SMALL = LAST_TILES + 1,
  LAST_STRETCHES = LAST_SMALL + 1,
  LAST_STRIPS = LAST_STRETCHES + 2
};
_Static_assert(CUTT_DEVICE_PASSES == LAST_STRIPS + 1, "sums by staged tiles are the last");

/* Of tensors that lie as they do. */
static void numbered(const cutt_contraction *c, const cutt_rates *r, int64_t limit, int number, cutt_device_shape *s) {
  static const int64_t most[SIZES] = {256, 128, 64, TURNED};
  static const cutt_device_side sides[SIDES] = {CUTT_SIDE_RESULT, CUTT_SIDE_SUM, CUTT_SIDE_LEFT};
  const int i = number - 1;
  const bool by_left = i < PLAIN && sides[i / SIZES / 2] == CUTT_SIDE_LEFT;
  if ((((i >= PLAIN && i < LAST_COMBINATION) || (i >= LAST_STRETCHES && i < LAST_STRIPS)) && c->reduce) ||
      (by_left && !c->right_is_one)) /* the others only add; of two operands D's order is as good */
    *s = (cutt_device_shape){.turned = {-1, -1}, .parts = 1, .seconds = INFINITY};
  else if (i < PLAIN)
    cutt_device_pass_shape(c, r, limit, sides[i / SIZES / 2], i / SIZES % 2 == 1, most[i % SIZES], s);
  else if (i < LAST_PRODUCTS)
    cutt_device_pass_products(c, r, limit, i % 2 ? CUTT_LEFT : CUTT_RIGHT, s);
  else if (i < LAST_PANELS)
    cutt_device_pass_panels(c, r, i % 2 ? CUTT_LEFT : CUTT_RIGHT, s);
  else if (i < LAST_CORES)
    cutt_device_pass_cores(c, r, i % 2, s);
  else if (i < LAST_COMBINATION)
    cutt_device_pass_combination(c, r, s);
  else if (i < LAST_TILES)
    cutt_device_pass_tiles(c, r, limit, s);
  else if (i < LAST_SMALL)
    cutt_device_pass_small(c, r, s);
  else if (i < LAST_STRETCHES)
    cutt_device_pass_stretches(c, r, limit, s);
  else if (i < LAST_STRIPS)
    cutt_device_pass_strips(c, r, i % 2, s);
  else
    cutt_device_pass_staged(c, r, limit, s);
  s->number = number;
}

/* Numbers with the same are shapes of one kind; a kind of its own has each on tensor cores, and each in strips. */
static int kind_of(int number) {
  const int i = number - 1;
  return i < PLAIN ? 0 : i < LAST_PRODUCTS ? 1 : i < LAST_PANELS ? 2 : 3 + i - LAST_PANELS;
}

static void choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, int last, cutt_device_shape *shape) {
  numbered(c, r, limit, 1, shape);
  for (int number = 2; number <= last; ++number) {
    cutt_device_shape tried;
    numbered(c, r, limit, number, &tried);
    if (tried.seconds < shape->seconds * (1 - 1e-9)) *shape = tried;
  }
}

/* Adds what is permuted to the shape of what is left for the pass: that of this number, or 0 for the best one. */
static void choose_inner(const cutt_contraction *c, const cutt_rates *r, int64_t limit, unsigned moved, int number,
                         double least, const cutt_contraction *inner, cutt_device_shape *s) {
  double moving[CUTT_TENSORS] = {0}, all = 0, bytes = 0;
  for (cutt_tensor t = CUTT_LEFT; t < CUTT_TENSORS; ++t) {
    if (cutt_device_is_moved(moved, t)) moving[t] = cutt_device_move_seconds(c, r, inner, t);
    all += moving[t];
    bytes += (double)c->volume[t] * c->type->bytes;
  }
  const double multiply = r->blas_flops > 0 ? cutt_flops(c) / r->blas_flops : 0;
  if (!(all + launch_seconds + fmax(bytes / r->memory, multiply) < least)) return;
  if (number)
    numbered(inner, r, limit, number, s);
  else
    choose(inner, r, limit, CUTT_DEVICE_PASSES, s);
  s->number += (int)moved * CUTT_DEVICE_PASSES;
  s->seconds += all;
  s->moved = moved;
  memcpy(s->moving, moving, sizeof moving);
}

/* Of tensors of which these are permuted, if it may take less than `least` seconds; no shape where there is no memory for looking. */
static void choose_moved(const cutt_contraction *c, const cutt_rates *r, int64_t limit, unsigned moved, int number,
                         double least, cutt_device_shape *s) {
  s->seconds = INFINITY;
  limit -= cutt_device_moved_bytes(c, moved);
  cutt_contraction *inner = limit < 0 ? NULL : malloc(sizeof *inner);
  if (inner && cutt_device_move(c, moved, inner)) choose_inner(c, r, limit, moved, number, least, inner, s);
  free(inner);
}

void cutt_device_pass_numbered(const cutt_contraction *c, const cutt_rates *r, int64_t limit, int number,
                               cutt_device_shape *s) {
  const unsigned moved = (unsigned)(number - 1) / CUTT_DEVICE_PASSES;
  if (moved)
    choose_moved(c, r, limit, moved, (number - 1) % CUTT_DEVICE_PASSES + 1, INFINITY, s);
  else
    numbered(c, r, limit, number, s);
}

void cutt_device_pass_choose_moved(const cutt_contraction *c, const cutt_rates *r, int64_t limit, double least,
                                   cutt_device_shape *shape) {
  shape->seconds = INFINITY;
  if (c->modes > MOST_MOVED_MODES) return;
  for (unsigned moved = 1; moved < CUTT_DEVICE_MOVES; ++moved) {
    cutt_device_shape tried;
    choose_moved(c, r, limit, moved, 0, fmin(least, shape->seconds), &tried);
    if (tried.seconds < fmin(least, shape->seconds)) *shape = tried;
  }
}

void cutt_device_pass_choose(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_device_shape *shape) {
  choose(c, r, limit, CUTT_DEVICE_PASSES, shape);
}

/* Puts a shape into a list, the fastest first. */
static int insert(cutt_device_shape *list, int count, int most, const cutt_device_shape *shape) {
  if (!(shape->seconds < INFINITY)) return count;
  int at = count < most ? count++ : list[most - 1].seconds > shape->seconds ? most - 1 : most;
  for (; at > 0 && at < most && list[at - 1].seconds > shape->seconds; --at) list[at] = list[at - 1];
  if (at < most) list[at] = *shape;
  return count;
}

int cutt_device_pass_list(const cutt_contraction *c, const cutt_rates *r, int64_t limit, cutt_device_shape *list,
                          int most) {
  int count = 0, kind = -1;
  cutt_device_shape best;
  for (int number = 1; number <= CUTT_DEVICE_PASSES + 1; ++number) {
    cutt_device_shape tried = {.seconds = INFINITY};
    const bool ends = number > CUTT_DEVICE_PASSES;
    if (!ends) numbered(c, r, limit, number, &tried);
    if (kind >= 0 && (ends || kind_of(number) != kind)) count = insert(list, count, most, &best);
    if (kind < 0 || kind_of(number) != kind || tried.seconds < best.seconds * (1 - 1e-9)) best = tried;
    kind = kind_of(number);
  }
  for (unsigned moved = 1; moved < CUTT_DEVICE_MOVES && c->modes <= MOST_MOVED_MODES; ++moved) {
    choose_moved(c, r, limit, moved, 0, count ? MOST_TIMES * list[0].seconds : INFINITY, &best);
    count = insert(list, count, most, &best);
  }
  return count;
}
