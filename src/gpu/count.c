/* Requests, sectors and wavefronts without looking at elements (count.h).
 *
 * Tiles are of at most four kinds: whole, or cut in one mode, the other, or both. In a tile all runs of a side have one
 * length, and begin at multiples of some power of two: so a run of B bytes touches (B + 32 - align) / 32 sectors in the
 * mean. Requests follow from how the threads are spread over the runs: a warp takes a part of one or a few of them. A
 * sector is asked for twice where two requests meet inside a run and inside a sector; and once where two runs that share a
 * sector are in one request.
 *
 * What is not looked at: which few of the starts small extents leave out, and lanes that fall behind the others of their
 * warp where runs begin anywhere. */
#include "gpu/count.h"

#include <math.h>

#include "gpu/access.h"
#include "gpu/banks.h"
#include "gpu/launch.h"

enum { SECTOR = CUTT_GPU_SECTOR, WARP = CUTT_GPU_WARP };

/* Blocks of 32 (bytes of a sector, lanes of a warp) that [s, s + length) touches in the mean, s being spread evenly over
 * the multiples of align. */
static double touched(double length, double align) { return (ceil(length / align) * align + SECTOR - align) / SECTOR; }

/* ... and of which it has all. */
static double covered(double length, double align) {
  return fmax(0, (floor(length / align) * align - SECTOR + align) / SECTOR);
}

/* One side of a tile: rows of the input, or columns of the output; "runs" here. */
typedef struct side {
  bool input;
  double start_align; /* of runs, in bytes: up to a sector */
  uint32_t width;     /* bytes of an access */
  cutt_gpu_spread at; /* the threads */
  bool batched;       /* accesses by fours, and what is left of them elsewhere in the code */
  bool copies;        /* runs are taken in as few parts as can be, and single ones by all threads */
  bool anywhere;      /* runs begin inside words: those are accessed that they touch */
  uint32_t piece;     /* ... and of words that they have a part of, so many bytes at a time; 0: all of the word */
  uint32_t banked;    /* bytes of an access to shared memory */
} side;

/* The tiles of one kind: whole, or cut in one mode or two. */
typedef struct kind {
  const cutt_canonical *canonical;
  const cutt_gpu_tile *tile;
  int64_t extent[2]; /* of the modes that are cut */
  double tiles;
} kind;

static int64_t extent_of(const kind *k, int j) {
  const int *const cut = k->tile->cut;
  return j == cut[0] ? k->extent[0] : j == cut[1] ? k->extent[1] : k->tile->extent[j];
}

/* `length`, of a whole tile, over the modes of a set. */
static int64_t length_of(const kind *k, int64_t length, uint64_t set) {
  for (int i = 0; i < 2; ++i) {
    const int j = k->tile->cut[i];
    if (j >= 0 && (set >> j & 1)) length = length / k->tile->extent[j] * k->extent[i];
  }
  return length;
}

static uint32_t parts_of(uint32_t units, uint32_t unit) { return (units + unit - 1) / unit; }

/* The largest power of two, up to a warp, that divides n. */
static uint32_t power_of(uint32_t n) {
  const uint32_t power = n & (~n + 1);
  return power > WARP || power == 0 ? WARP : power;
}

/* -------------------------------------------------------------------------------------------------------- requests */

typedef struct asked {
  double requests;
  double accesses; /* requests, if the two places in the code of batched accesses were one */
  double cuts;     /* between two requests inside a run, which both touch the sector there */
} asked;

/* The share of cuts inside runs that lie between sectors: they are `step` lanes apart, at `places` places of a run. */
static double cuts_between_sectors(const side *s, uint32_t places, uint32_t step, double align) {
  const uint32_t bytes = step * s->width, start = (uint32_t)align;
  const uint32_t unit = start < SECTOR ? start : SECTOR;
  const uint32_t between = unit > bytes ? places / (unit / bytes) : places;
  return (double)between / places * (start < SECTOR ? align / SECTOR : 1);
}

/* A tile's runs, `lines` of so many units. */
static asked ask(const side *s, uint32_t units, uint32_t lines) {
  const uint32_t across = s->at.units, down = s->at.lines;
  asked a = {0, 0, 0};
  if (units == 0 || lines == 0) return a;
  const double align = s->anywhere ? fmax(4, s->start_align) : s->start_align;
  const bool one = s->copies && lines == 1, parted = s->copies && units > across; /* then down is 1 */
  if (across % WARP == 0 || one || parted) {                                      /* no warp takes two runs */
    const uint32_t parts = one || !parted ? parts_of(units, WARP)
                                          : units / across * parts_of(across, WARP) + parts_of(units % across, WARP);
    a.requests = a.accesses = (double)lines * parts;
    a.cuts = (double)lines * (parts - 1) * (1 - align / SECTOR);
    return a;
  }
  /* Lanes below `rest` lines go through one round more. */
  const uint32_t rounds = lines / down, rest = lines % down, step = power_of(across);
  const uint32_t end = rest > 0 ? (rest - 1) * across + units : 0, begin = rest * across;
  const uint32_t more = parts_of(end, WARP); /* warps with such lanes */
  if (rounds == 0) {
    a.requests = a.accesses = more;
  } else {
    const uint32_t less = parts_of((down - 1) * across + units, WARP) - begin / WARP, mixed = end > begin / WARP * WARP;
    a.accesses = (double)more * (rounds + 1) + (double)(less - mixed) * rounds;
    /* A mixed warp that has a batch in some lanes goes through what is left of one for the others. */
    a.requests = a.accesses + (s->batched && mixed && (rounds + 1) % 4 == 0 ? 3 : 0);
  }
  if (across - units >= WARP) { /* whole warps without a unit, in tiles at the edge */
    const double idle = covered(across - units, step) * lines;
    a.requests -= idle;
    a.accesses -= idle;
  }
  if (units == across) {
    const uint32_t period = across / step; /* warps until a cut is between runs again */
    const uint32_t last = more > 0 ? more - 1 - (more - 1) / period : 0, warps = parts_of(down * across, WARP);
    const uint32_t each = warps - 1 - (warps - 1) / period;
    a.cuts = last + (double)rounds * each;
  } else {
    a.cuts = lines * (touched(units, step) - 1);
  }
  if (across / step > 1) a.cuts *= 1 - cuts_between_sectors(s, across / step - 1, step, align);
  return a;
}

/* Groups of lanes that are served at once, in accesses to shared memory. */
static double groups(const side *s, uint32_t units, uint32_t lines) {
  const uint32_t group = s->banked <= 4 ? WARP : 128 / s->banked, across = s->at.units, down = s->at.lines;
  if (units == 0 || lines == 0) return 0;
  if (across % WARP == 0) return (double)lines * parts_of(units, group);
  const uint32_t rest = lines % down, end = rest > 0 ? (rest - 1) * across + units : 0;
  const uint32_t whole = lines / down;
  return (double)whole * parts_of((down - 1) * across + units, group) + parts_of(end, group);
}

/* --------------------------------------------------------------------------------------------------------- sectors */

/* Runs that lie next to each other in memory are one, as far as sectors go. */
typedef struct chain {
  double shared;                  /* sectors that two runs have in common and one request asks for */
  double pairs;                   /* runs of which one goes on with the other, both in one request */
  double runs, bytes;             /* of the tile, put together, across gaps of less than a sector */
  double whole_runs, whole_bytes; /* ... where there is no gap */
} chain;

/* Are two runs, so far apart in the list, in one request? The probability. */
static double together(const side *s, double distance, double lines) {
  if (s->at.units % WARP == 0 || distance < 1) return 0;
  const double step = power_of(s->at.units), last = WARP - 1 - (distance - 1) * s->at.units;
  const double rounds = ceil(lines / s->at.lines);
  return last < step ? 0 : floor(last / step) * step / WARP * fmax(0, 1 - distance * (rounds - 1) / lines);
}

static chain follow(const kind *k, const side *s, double bytes, double lines) {
  const cutt_canonical *c = k->canonical;
  const cutt_gpu_tile *tile = k->tile;
  const uint64_t set = s->input ? tile->in_m : tile->in_k;
  const int *const list = s->input ? tile->row : tile->column, count = s->input ? tile->row_modes : tile->column_modes;
  chain n = {0, 0, lines, bytes, lines, bytes};
  bool whole = true;
  double fraction = 1, back = 0; /* of the runs: the share that ends where this mode goes on; how far in the list */
  for (int i = 0; i < c->rank; ++i) {
    const int j = s->input ? i : c->out_order[i];
    const int64_t extent = set >> j & 1 ? 1 : extent_of(k, j);
    if (extent == 1) continue;
    const int64_t stride = (s->input ? c->mode[j].in_stride : c->mode[j].out_stride) * c->elem_bytes;
    const double step = (double)(stride < 0 ? -stride : stride), gap = step - n.bytes;
    if (gap >= SECTOR || gap < 0) break;
    double distance = 1; /* in the list */
    for (int l = 0; l < count && list[l] != j; ++l) distance *= (double)extent_of(k, list[l]);
    const double pairs = lines * fraction * (1 - 1 / (double)extent) * together(s, fabs(distance - back), lines);
    n.shared += pairs * fmax(0, 1 - (floor(gap / s->start_align) + 1) * s->start_align / SECTOR);
    if (gap == 0) n.pairs += pairs;
    back += distance * (double)(extent - 1);
    fraction /= (double)extent;
    n.bytes += step * (double)(extent - 1);
    n.runs /= (double)extent;
    whole = whole && gap == 0;
    if (whole) {
      n.whole_bytes = n.bytes;
      n.whole_runs = n.runs;
    }
  }
  return n;
}

/* Words that columns have only a part of, at both ends: pieces in them, in the mean over where columns begin in words. */
typedef struct ends {
  double head, tail; /* pieces */
  double both;       /* ... of a tail and the head that goes on with it, whichever has fewer */
  double whole;      /* the share of columns that have a whole word */
  double most[4];    /* the share of columns neither end of which has more than 0, 1, 2, 3 pieces */
} ends;

static ends of_ends(const side *s, uint32_t bytes, uint32_t align) {
  ends e = {0};
  const double share = align / 4.0;
  for (uint32_t at = 0; at < 4; at += align) {
    uint32_t head = (4 - at) % 4, tail = (at + bytes) % 4;
    if (at + bytes < 4) { /* inside of one word */
      head = bytes;
      tail = 0;
    }
    head /= s->piece;
    tail /= s->piece;
    const uint32_t next = tail > 0 ? 4 / s->piece - tail : 0;
    e.head += share * head;
    e.tail += share * tail;
    e.both += share * (tail < next ? tail : next);
    e.whole += bytes >= (4 - at) % 4 + 4 ? share : 0;
    for (uint32_t most = head > tail ? head : tail; most < 4; ++most) e.most[most] += share;
  }
  return e;
}

/* Requests for the ends of columns: lanes of the same warp wait for the longest. accesses: of warps that have some. */
static double ask_ends(const side *s, const ends *e, double lines, double accesses) {
  const double across = s->at.units;
  if (s->at.units % WARP == 0 || s->at.lines == 1) return lines * (e->head + e->tail);
  const double columns = fmax(1, WARP / across), warps = s->at.units < WARP ? accesses : 2 * lines;
  double longest = 0;
  for (int i = 0; i < 3; ++i) longest += 1 - pow(e->most[i], fmin(columns, fmin(lines, s->at.lines)));
  return fmin(warps * longest, lines * (e->head + e->tail));
}

/* --------------------------------------------------------------------------------------------------------- tiles */

typedef struct sums {
  double requests, accesses, ends, groups, sectors, sectors_whole, tile_sectors, tile_sectors_whole;
} sums;

/* What is left of runs that are copied, behind their last whole unit: by all threads, byte after byte. */
static void add_tails(const kind *k, double tail, double lines, sums *sum) {
  sum->requests += k->tiles * ceil(lines * tail / WARP);
  sum->sectors += k->tiles * lines * touched(tail, power_of((uint32_t)tail));
}

static void add(const kind *k, const side *s, sums *sum) {
  const cutt_gpu_tile *tile = k->tile;
  const uint64_t set = s->input ? tile->in_m : tile->in_k;
  const int64_t length = length_of(k, s->input ? tile->row_length : tile->column_length, set);
  const uint32_t lines = (uint32_t)length_of(k, s->input ? tile->rows : tile->columns, ~set);
  const uint32_t run = (uint32_t)(length * k->canonical->elem_bytes), align = (uint32_t)fmin(4, s->start_align);
  const uint32_t units = s->anywhere ? (run + 7 - align) / 4 : run / s->width;
  asked a = ask(s, units, lines);
  const chain n = follow(k, s, run, lines);
  double full = 1; /* the share of requests of warps that have a whole word */
  double inside = s->copies ? units * s->width : run, sectors = lines * touched(inside, s->start_align);
  if (s->piece > 0 && (align < 4 || run % 4 > 0)) { /* words at the ends of columns are stored in part */
    const ends e = of_ends(s, run, align);
    sum->ends += k->tiles * ask_ends(s, &e, lines, a.accesses);
    inside = run - (e.head + e.tail) * s->piece;
    sectors = lines * e.whole * (inside + SECTOR - 4) / SECTOR + lines * (e.head + e.tail) - n.pairs * e.both;
    /* Both ends of a short column may be in one sector. */
    if (run < SECTOR) sectors -= lines * fmin(e.head, e.tail) * (1 - run / (double)SECTOR);
    if (s->at.units < WARP) {
      const uint32_t together = WARP / s->at.units;
      full = 1 - pow(1 - e.whole, fmin(together, lines));
    }
    a.requests *= full;
    a.accesses *= full;
    sum->sectors_whole += k->tiles * fmax(0, lines * e.whole * (inside - SECTOR + 4) / SECTOR - a.cuts);
  } else {
    /* Where a run's end, or a cut, is spread evenly, it costs as many whole sectors as it makes more be touched. */
    sum->sectors_whole += k->tiles * fmax(0, 2 * lines * inside / SECTOR - (sectors + a.cuts - n.shared));
  }
  sectors += a.cuts - n.shared;
  if (s->copies && run > inside) add_tails(k, run - inside, lines, sum);
  sum->requests += k->tiles * a.requests;
  sum->accesses += k->tiles * a.accesses;
  sum->groups += k->tiles * full * groups(s, units, lines);
  sum->sectors += k->tiles * sectors;
  sum->tile_sectors += k->tiles * n.runs * touched(n.bytes, s->start_align);
  sum->tile_sectors_whole += k->tiles * n.whole_runs * covered(n.whole_bytes, s->start_align);
}

/* The two sides, over tiles of all kinds. */
static void add_tiles(const cutt_canonical *c, const cutt_gpu_tile *tile, const side *in, const side *out, sums *loads,
                      sums *stores) {
  int64_t extent[2][2] = {{1, 1}, {1, 1}}; /* of each cut: whole, last */
  double count[2][2] = {{1, 0}, {1, 0}};   /* how many chunks are so */
  double others = (double)tile->tiles;
  for (int i = 0; i < 2; ++i) {
    const int j = tile->cut[i];
    if (j < 0) continue;
    const int64_t whole = c->mode[j].extent / tile->extent[j];
    extent[i][0] = tile->extent[j];
    extent[i][1] = c->mode[j].extent - whole * tile->extent[j];
    count[i][0] = (double)whole;
    count[i][1] = extent[i][1] > 0;
    others /= count[i][0] + count[i][1];
  }
  for (int i = 0; i < 4; ++i) {
    const int a = i & 1, b = i >> 1;
    const kind k = {c, tile, {extent[0][a], extent[1][b]}, others * count[0][a] * count[1][b]};
    if (k.tiles < 0.5) continue;
    add(&k, in, loads);
    add(&k, out, stores);
  }
}

static double sector_align(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input) {
  const uint64_t start = (uint64_t)(input ? c->in_start : c->out_start);
  return (double)cutt_gpu_power(cutt_gpu_tile_steps(c, tile, input) | start | SECTOR);
}

void cutt_gpu_count_requests(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_candidate *candidate,
                             cutt_gpu_requests *counts) {
  *counts = (cutt_gpu_requests){0};
  const bool direct = candidate->param[CUTT_GPU_PARAM_DIRECT] != 0;
  const uint32_t threads = (uint32_t)candidate->threads;
  cutt_gpu_access access;
  const char *why;
  if (!cutt_gpu_access_choose(c, tile, direct, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &access, &why)) return;
  cutt_gpu_banks banks;
  if (direct) {
    banks.loads = banks.stores = cutt_gpu_spread_loads(c, tile, &access, threads);
  } else {
    banks = cutt_gpu_banks_expect(c, tile, threads, &access);
  }
  const bool anywhere = cutt_gpu_stores_anywhere(&access);
  const uint32_t load = access.load > 0 ? access.load : 4;
  const side in = {.input = true,
                   .start_align = sector_align(c, tile, true),
                   .width = load,
                   .at = banks.loads,
                   .batched = !direct && access.load > 0,
                   .copies = direct,
                   .anywhere = access.load == 0,
                   .banked = load};
  const side out = {.start_align = sector_align(c, tile, false),
                    .width = access.store,
                    .at = banks.stores,
                    .batched = !direct && !anywhere && !c->scale.active,
                    .copies = direct,
                    .anywhere = anywhere,
                    .piece = anywhere ? access.piece : 0,
                    .banked = access.piece};
  sums loads = {0}, stores = {0};
  add_tiles(c, tile, &in, &out, &loads, &stores);
  counts->load_requests = loads.requests;
  counts->load_sectors = loads.sectors;
  counts->tile_load_sectors = loads.tile_sectors;
  counts->store_requests = stores.requests + stores.ends;
  counts->store_sectors = stores.sectors;
  counts->store_sectors_whole = stores.sectors_whole;
  counts->tile_store_sectors = stores.tile_sectors;
  counts->tile_store_sectors_whole = stores.tile_sectors_whole;
  if (direct) return;
  const double pieces = (double)access.store / access.piece; /* read one by one, stored together */
  counts->shared_stores = loads.requests;
  counts->shared_store_wavefronts = loads.groups * banks.rows;
  counts->shared_loads = stores.accesses * pieces + stores.ends;
  counts->shared_load_wavefronts = stores.groups * pieces * banks.columns + stores.ends;
}
