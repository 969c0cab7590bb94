/* Requests, sectors and wavefronts without looking at elements (count.h).
 *
 * Tiles are of at most four kinds: whole, or cut in one mode, the other, or both. In a tile all runs of a side have one
 * length, and begin at multiples of some power of two: so a run of B bytes touches (B + S - align) / S sectors of S bytes
 * in the mean. Requests follow from how the threads are spread over the runs: a warp takes a part of one run or a few whole
 * ones. A sector in which two requests of a run meet is requested twice; one that two runs of the same request share, once.
 *
 * Left out: that small extents have only a few of the possible beginnings, and, of stores, lanes that fall behind the others of
 * their warp where runs begin at any byte. */
#include "gpu/count.h"

#include <math.h>

#include "base/number.h"
#include "gpu/access.h"
#include "gpu/banks.h"
#include "gpu/flat.h"

enum { WARP = CUTT_GPU_WARP };

/* Blocks of `size` (sectors in bytes, warps in lanes) that [s, s + length) touches in the mean, where s is spread evenly
 * over the multiples of align. */
static double touched(double length, double align, double size) {
  return (ceil(length / align) * align + size - align) / size;
}

/* Blocks that it has all of, likewise. */
static double covered(double length, double align, double size) {
  return fmax(0, (floor(length / align) * align - size + align) / size);
}

/* One side of a tile: rows of the input, or columns of the output; "runs" here. */
typedef struct side {
  bool input;
  double start_align;     /* of runs, in bytes: up to a sector */
  uint32_t sector;        /* bytes */
  uint32_t width;         /* bytes of an access */
  cutt_gpu_spread spread; /* of the threads */
  /* Accesses are made four at a time, and those that are left over at another place in the code. */
  bool batched;
  /* Runs are divided into as few parts as possible, and a single run is shared by all threads. */
  bool copies;
  /* Runs begin at any byte, and are accessed as the 4-byte words that they touch. */
  bool anywhere;
  /* Bytes of a store to a word that a run has only a part of; 0: the whole word is accessed. */
  uint32_t part;
  uint32_t shared_width; /* bytes of an access to shared memory */
  /* All of a tile's runs are one, as they lie in memory. */
  bool joined;
  /* Of a kernel without tables: accesses of a run that the block makes at once, and columns that are stored from the same loads;
   * 0: it has tables. Threads of the block. */
  uint32_t step, group, threads;
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

static uint32_t parts_of(uint32_t count, uint32_t size) { return (count + size - 1) / size; }

/* The largest power of two, up to a warp, that divides n. */
static uint32_t power_of(uint32_t n) {
  const uint32_t power = n & (~n + 1);
  return power > WARP || power == 0 ? WARP : power;
}

/* -------------------------------------------------------------------------------------------------------- requests */

typedef struct request_counts {
  double requests;
  double merged; /* requests, if the two places in the code of batched accesses were one */
  double cuts;   /* between two requests inside a run, which both touch the sector there */
} request_counts;

/* The share of cuts inside runs that lie between sectors: they are `step` lanes apart, at `places` places of a run. */
static double cuts_between_sectors(const side *s, uint32_t places, uint32_t step, double align) {
  const uint32_t bytes = step * s->width, start = (uint32_t)align;
  const uint32_t grain = start < s->sector ? start : s->sector;
  const uint32_t between = grain > bytes ? places / (grain / bytes) : places;
  return (double)between / places * (start < s->sector ? align / s->sector : 1);
}

/* The share of runs in which the beginning of access `number` lies inside a sector. */
static double cut_inside(const side *s, uint32_t number) {
  const double power = (double)cutt_gpu_power(number * s->width | s->sector);
  return 1 - (power < s->start_align ? power : s->start_align) / s->sector;
}

/* Of a tile's runs, of so many accesses each, without tables: each lane goes from run to run, and then to its next access of them, so that a warp has as many
 * requests as its busiest lane. */
static request_counts count_walk(const side *s, uint32_t accesses, uint32_t runs) {
  const uint32_t along = s->spread.along, across = s->spread.across, groups = runs / s->group;
  request_counts a = {0, 0, 0};
  uint32_t most = 0;
  for (uint32_t thread = 0; thread < s->threads; ++thread) {
    if (thread % WARP == 0) most = 0;
    const uint32_t run = thread / along % across, first = thread % along + thread / along / across * along;
    const uint32_t turns = first < s->step && first < accesses && run < groups
                               ? parts_of(groups - run, across) * parts_of(accesses - first, s->step)
                               : 0;
    if (thread % WARP == 0 && thread % along > 0) a.cuts += turns * s->group * cut_inside(s, first);
    if (turns <= most) continue;
    a.requests += (double)(turns - most) * s->group;
    most = turns;
  }
  a.merged = a.requests;
  a.cuts += (double)runs * (parts_of(accesses, along) - 1) * cut_inside(s, along);
  return a;
}

/* Of a tile's runs, of so many accesses each. */
static request_counts count_requests(const side *s, uint32_t accesses, uint32_t runs) {
  const uint32_t along = s->spread.along, across = s->spread.across;
  request_counts a = {0, 0, 0};
  if (accesses == 0 || runs == 0) return a;
  if (s->group > 0) return count_walk(s, accesses, runs);
  const double align = s->anywhere ? fmax(4, s->start_align) : s->start_align;
  const bool one = s->copies && runs == 1, parted = s->copies && accesses > along; /* then across is 1 */
  if (along % WARP == 0 || one || parted) {                                        /* no warp takes two runs */
    const uint32_t parts = one || !parted ? parts_of(accesses, WARP)
                                          : accesses / along * parts_of(along, WARP) + parts_of(accesses % along, WARP);
    a.requests = a.merged = (double)runs * parts;
    a.cuts = (double)runs * (parts - 1) * (1 - align / s->sector);
    return a;
  }
  /* Runs are taken `across` at a time, in rounds; the lanes of the last `rest` runs go through one round more. */
  const uint32_t rounds = runs / across, rest = runs % across, step = power_of(along);
  const uint32_t end = rest > 0 ? (rest - 1) * along + accesses : 0, begin = rest * along;
  const uint32_t more = parts_of(end, WARP); /* warps that have such lanes */
  if (rounds == 0) {
    a.requests = a.merged = more;
  } else {
    const uint32_t less = parts_of((across - 1) * along + accesses, WARP) - begin / WARP,
                   mixed = end > begin / WARP * WARP;
    a.merged = (double)more * (rounds + 1) + (double)(less - mixed) * rounds;
    /* Where some lanes of a mixed warp finish a batch, the others go through the code for what is left of one. */
    a.requests = a.merged + (s->batched && mixed && (rounds + 1) % 4 == 0 ? 3 : 0);
  }
  if (along - accesses >= WARP) { /* whole warps without an access, in tiles at the edge */
    const double idle = covered(along - accesses, step, WARP) * runs;
    a.requests -= idle;
    a.merged -= idle;
  }
  if (accesses == along) {
    const uint32_t period = along / step; /* warps until a cut lies between two runs again */
    const uint32_t last = more > 0 ? more - 1 - (more - 1) / period : 0, warps = parts_of(across * along, WARP);
    const uint32_t each = warps - 1 - (warps - 1) / period;
    a.cuts = last + (double)rounds * each;
  } else {
    a.cuts = runs * (touched(accesses, step, WARP) - 1);
  }
  if (along / step > 1) a.cuts *= 1 - cuts_between_sectors(s, along / step - 1, step, align);
  return a;
}

/* Groups of lanes that are served at once, in accesses to shared memory. */
static double groups(const side *s, uint32_t accesses, uint32_t runs) {
  const uint32_t group = s->shared_width <= 4 ? WARP : 128 / s->shared_width, along = s->spread.along,
                 across = s->spread.across;
  if (accesses == 0 || runs == 0) return 0;
  if (s->group > 0) {
    const uint32_t groups_of_runs = runs / s->group;
    return (double)accesses * groups_of_runs / group;
  }
  if (along % WARP == 0) return (double)runs * parts_of(accesses, group);
  const uint32_t rest = runs % across, end = rest > 0 ? (rest - 1) * along + accesses : 0;
  const uint32_t whole = runs / across;
  return (double)whole * parts_of((across - 1) * along + accesses, group) + parts_of(end, group);
}

/* --------------------------------------------------------------------------------------------------------- sectors */

/* Runs that lie one behind the other in memory touch sectors as one long run does. */
typedef struct joined {
  double shared;                  /* sectors that two runs of the same request have in common */
  double shared_whole;            /* ... those between which there is no gap */
  double pairs;                   /* runs without a gap between them, both in one request */
  double runs, bytes;             /* the long runs of the tile: those joined across gaps of less than a sector */
  double whole_runs, whole_bytes; /* ... and those joined where there is no gap */
} joined;

/* The probability that two runs, so far apart in the list, are in one request. */
static double together(const side *s, double distance, double runs) {
  if (s->spread.along % WARP == 0 || distance < 1 || s->group > 1) return 0;
  const double step = power_of(s->spread.along), last = WARP - 1 - (distance - 1) * s->spread.along;
  const double rounds = ceil(runs / s->spread.across);
  return last < step ? 0 : floor(last / step) * step / WARP * fmax(0, 1 - distance * (rounds - 1) / runs);
}

/* The modes that a run of the side is over. */
static uint64_t set_of(const side *s, const cutt_gpu_tile *tile) {
  return s->joined ? tile->in_m | tile->in_k : s->input ? tile->in_m : tile->in_k;
}

static joined join_runs(const kind *k, const side *s, double bytes, double runs) {
  const cutt_canonical *c = k->canonical;
  const cutt_gpu_tile *tile = k->tile;
  const uint64_t set = set_of(s, tile);
  const int *const list = s->input ? tile->row : tile->column, count = s->input ? tile->row_modes : tile->column_modes;
  joined n = {0, 0, 0, runs, bytes, runs, bytes};
  bool whole = true;
  /* Of the runs: the share that ends where a step of this mode begins; how far back in the list its beginning is. */
  double fraction = 1, back = 0;
  for (int i = 0; i < c->rank; ++i) {
    const int j = s->input ? i : c->out_order[i];
    const int64_t extent = set >> j & 1 ? 1 : extent_of(k, j);
    if (extent == 1) continue;
    const int64_t stride = (s->input ? c->mode[j].in_stride : c->mode[j].out_stride) * c->elem_bytes;
    const double step = (double)magnitude(stride), gap = step - n.bytes;
    if (gap >= s->sector || gap < 0) break;
    double distance = 1; /* in the list */
    for (int l = 0; l < count && list[l] != j; ++l) distance *= (double)extent_of(k, list[l]);
    const double pairs = runs * fraction * (1 - 1 / (double)extent) * together(s, fabs(distance - back), runs);
    const double shared = pairs * fmax(0, 1 - (floor(gap / s->start_align) + 1) * s->start_align / s->sector);
    n.shared += shared;
    if (gap == 0) {
      n.pairs += pairs;
      n.shared_whole += shared;
    }
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

/* The stores to words that columns have only a part of, at their two ends: in the mean over where in words columns begin. */
typedef struct ends {
  double head, tail; /* stores */
  double both;       /* ... of a tail or of the head that follows it in the same word, whichever has fewer */
  double whole;      /* the share of columns that have a whole word */
  double most[4];    /* the share of columns neither end of which has more than 0, 1, 2, 3 stores */
} ends;

static ends of_ends(const side *s, uint32_t bytes, uint32_t align) {
  ends e = {0};
  const double share = align / 4.0;
  for (uint32_t at = 0; at < 4; at += align) {
    uint32_t head = (4 - at) % 4, tail = (at + bytes) % 4;
    if (at + bytes < 4) { /* all in one word */
      head = bytes;
      tail = 0;
    }
    head /= s->part;
    tail /= s->part;
    const uint32_t next = tail > 0 ? 4 / s->part - tail : 0;
    e.head += share * head;
    e.tail += share * tail;
    e.both += share * (tail < next ? tail : next);
    e.whole += bytes >= (4 - at) % 4 + 4 ? share : 0;
    for (uint32_t most = head > tail ? head : tail; most < 4; ++most) e.most[most] += share;
  }
  return e;
}

/* Requests for the ends of columns: as many for a warp as its lane with the most stores needs. merged: as in request_counts. */
static double count_ends(const side *s, const ends *e, double runs, double merged) {
  const double across = s->spread.along;
  if (s->spread.along % WARP == 0 || s->spread.across == 1) return runs * (e->head + e->tail);
  const double columns = fmax(1, WARP / across), warps = s->spread.along < WARP ? merged : 2 * runs;
  double longest = 0;
  for (int i = 0; i < 3; ++i) longest += 1 - pow(e->most[i], fmin(columns, fmin(runs, s->spread.across)));
  return fmin(warps * longest, runs * (e->head + e->tail));
}

/* --------------------------------------------------------------------------------------------------------- tiles */

typedef struct sums {
  double requests, merged, ends, groups, sectors, sectors_whole, tile_sectors, tile_sectors_whole;
} sums;

/* The ends of copied runs, which are no whole access: by all threads, byte by byte. */
static void add_tails(const kind *k, const side *s, double tail, double runs, sums *sum) {
  sum->requests += k->tiles * ceil(runs * tail / WARP);
  sum->sectors += k->tiles * runs * touched(tail, power_of((uint32_t)tail), s->sector);
}

/* The ends of rows with gaps, by all threads, the widest access first; what they touch is counted with the rows, but for the
 * sector that one shares with the access before it. */
static void add_gap_tails(const kind *k, const side *s, uint32_t tail, double runs, sums *sum) {
  double accesses = 0, cuts = 0;
  for (uint32_t bytes = s->width / 2, at = 0; bytes > 0 && tail > 0; bytes /= 2) {
    if (bytes < 4) bytes = tail; /* of a word in one */
    if (tail < bytes) continue;
    const double power = fmin((double)cutt_gpu_power(at | s->width), s->start_align);
    accesses += 1;
    cuts += 1 - power / s->sector;
    at += bytes;
    tail -= bytes;
  }
  sum->requests += k->tiles * accesses * ceil(runs / WARP);
  sum->merged += k->tiles * accesses * ceil(runs / WARP);
  sum->groups += k->tiles * accesses * ceil(runs / WARP);
  sum->sectors += k->tiles * cuts * runs;
}

static void add(const kind *k, const side *s, sums *sum) {
  const cutt_gpu_tile *tile = k->tile;
  const uint64_t set = set_of(s, tile);
  const int64_t whole = s->joined ? tile->volume : s->input ? tile->row_length : tile->column_length;
  const int64_t length =
      s->input && !s->joined ? cutt_gpu_row_span(k->canonical, tile, k->extent[0]) : length_of(k, whole, set);
  const uint32_t runs = s->joined  ? 1
                        : s->input ? (uint32_t)length_of(k, tile->rows, cutt_gpu_row_set(tile))
                                   : (uint32_t)length_of(k, tile->columns, ~set);
  const uint32_t run_bytes = (uint32_t)(length * k->canonical->elem_bytes), align = (uint32_t)fmin(4, s->start_align);
  const uint32_t accesses = s->anywhere ? (run_bytes + 7 - align) / 4 : run_bytes / s->width;
  request_counts a = count_requests(s, accesses, runs);
  if (s->joined && accesses * s->width < run_bytes) { /* the end of a range, byte by byte */
    a.requests += 1;
    a.cuts += cut_inside(s, accesses);
  }
  const joined n = join_runs(k, s, run_bytes, runs);
  const uint32_t gap_tail = tile->row_gaps && s->input && !s->anywhere ? run_bytes % s->width : 0;
  double full = 1; /* the share of requests whose warps store a whole word */
  double inside = s->copies ? accesses * s->width : run_bytes,
         sectors = runs * touched(inside, s->start_align, s->sector);
  if (s->part > 0 && (align < 4 || run_bytes % 4 > 0)) { /* words at the ends of columns are stored in part */
    const ends e = of_ends(s, run_bytes, align);
    sum->ends += k->tiles * count_ends(s, &e, runs, a.merged);
    inside = run_bytes - (e.head + e.tail) * s->part;
    sectors = runs * e.whole * (inside + s->sector - 4) / s->sector + runs * (e.head + e.tail) - n.pairs * e.both;
    /* Both ends of a short column may be in one sector. */
    if (run_bytes < s->sector) sectors -= runs * fmin(e.head, e.tail) * (1 - run_bytes / (double)s->sector);
    if (s->spread.along < WARP) {
      const uint32_t together = WARP / s->spread.along;
      full = 1 - pow(1 - e.whole, fmin(together, runs));
    }
    a.requests *= full;
    a.merged *= full;
    sum->sectors_whole += k->tiles * fmax(0, runs * e.whole * (inside - s->sector + 4) / s->sector - a.cuts);
  } else {
    /* Each end of a run inside a sector, and each cut, makes one sector more touched and one fewer whole. */
    sum->sectors_whole += k->tiles * fmax(0, 2 * runs * inside / s->sector - (sectors + a.cuts - n.shared_whole));
  }
  sectors += a.cuts - n.shared;
  if (gap_tail > 0) add_gap_tails(k, s, gap_tail, runs, sum);
  if (s->copies && run_bytes > inside) add_tails(k, s, run_bytes - inside, runs, sum);
  sum->requests += k->tiles * a.requests;
  sum->merged += k->tiles * a.merged;
  sum->groups += k->tiles * full * groups(s, accesses, runs);
  sum->sectors += k->tiles * sectors;
  sum->tile_sectors += k->tiles * n.runs * touched(n.bytes, s->start_align, s->sector);
  sum->tile_sectors_whole += k->tiles * n.whole_runs * covered(n.whole_bytes, s->start_align, s->sector);
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

static double start_align(const cutt_canonical *c, const cutt_gpu_tile *tile, bool input, bool is_joined,
                          uint32_t sector) {
  const uint64_t start = input ? (uint64_t)(cutt_gpu_row_start(c, tile) - c->in_low) : cutt_gpu_out_start(c);
  if (is_joined) return (double)cutt_gpu_power(cutt_gpu_range_steps(c, tile, input) | start | sector);
  return (double)cutt_gpu_power((input ? tile->row_steps : tile->column_steps) | start | sector);
}

static void count_global(const sums *loads, const sums *stores, cutt_gpu_requests *counts) {
  counts->load_requests = loads->requests;
  counts->load_sectors = loads->sectors;
  counts->tile_load_sectors = loads->tile_sectors;
  counts->store_requests = stores->requests;
  counts->store_sectors = stores->sectors;
  counts->store_sectors_whole = stores->sectors_whole;
  counts->tile_store_sectors = stores->tile_sectors;
  counts->tile_store_sectors_whole = stores->tile_sectors_whole;
}

static bool adds_to_output(const cutt_canonical *c) { return c->scale.active && c->scale.reads_out; }

/* What is stored is loaded first, in the same way. */
static void add_reads(const sums *stores, cutt_gpu_requests *counts) {
  counts->load_requests += stores->requests;
  counts->load_sectors += stores->sectors;
  counts->tile_load_sectors += stores->tile_sectors;
}

/* Where a warp's requests, or blocks, of a copy of runs begin, in accesses: the first `per_run` of them in one run, `size` apart, the next
 * ones in the next. */
typedef struct beginnings {
  double count;
  int64_t per_run, size;
} beginnings;

/* A copy of runs without tables: a request is of a warp's neighbouring accesses, in one run or in several, and the runs
 * that lie one behind the other in memory are one. */
static void count_flat_copy(const cutt_canonical *c, const cutt_gpu_flat *f, bool input, uint32_t sector,
                            uint32_t threads, sums *sum) {
  enum { LOOKED_AT = 4096 }; /* beginnings of requests, and of blocks: what the rest does is alike */
  const uint64_t start = input ? cutt_gpu_in_start(c) : cutt_gpu_out_start(c);
  uint64_t bits = start | sector;
  int64_t length = c->mode[0].extent;
  bool open = true;
  for (int i = 0; i < c->rank; ++i) {
    const int j = c->out_order[i];
    if (j == 0) continue;
    const int64_t stride = input ? c->mode[j].in_stride : c->mode[j].out_stride;
    open = open && stride == length;
    if (open) length *= c->mode[j].extent;
    if (!open) bits |= (uint64_t)(stride * c->elem_bytes);
  }
  const double align = (double)cutt_gpu_power(bits), bytes = (double)(length * c->elem_bytes);
  const int64_t whole = c->volume / length;
  const double runs = (double)whole, accesses = f->copies;
  const int64_t all = length * c->elem_bytes / f->load, number = f->copies / f->run;
  const double sectors = runs * touched(bytes, align, sector);
  const uint32_t of_block = threads * f->each, of_piece = WARP * f->each;
  const int64_t of_run = f->pieces > 0 ? (f->run + WARP - 1) / WARP : 1;
  const beginnings at[2] = {
      f->pieces > 0 ? (beginnings){(double)(number * of_run), of_run, WARP}
                    : (beginnings){ceil(accesses / WARP), INT64_MAX, WARP},
      f->pieces > 0 ? (beginnings){ceil((double)f->pieces * of_piece / of_block), f->pieces / number, of_piece}
                    : (beginnings){ceil(accesses / of_block), INT64_MAX, of_block}};
  double cuts[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t looked = at[i].count < LOOKED_AT ? (int64_t)at[i].count : LOOKED_AT;
    const int64_t step = i == 1 && f->pieces > 0 ? of_block / of_piece : 1; /* a block has so many pieces */
    cuts[i] = 0;
    for (int64_t part = step; part < looked * step; part += step) {
      const int64_t run = part / at[i].per_run, access = run * f->run + part % at[i].per_run * at[i].size;
      const int64_t place = access % all * f->load;
      const double power = fmin((double)cutt_gpu_power((uint64_t)place | sector), align);
      if (place > 0) cuts[i] += (1 - power / sector) * at[i].count / (double)looked;
    }
  }
  sum->requests = at[0].count;
  sum->sectors = sectors + cuts[0];
  sum->sectors_whole = fmax(0, 2 * runs * bytes / sector - sum->sectors);
  sum->tile_sectors = sectors + cuts[1];
  sum->tile_sectors_whole = fmax(0, 2 * runs * bytes / sector - sum->tile_sectors);
}

/* The same of runs with gaps, or backwards, or of one element. Requests, or blocks, of so many accesses: the stretch of each that is in one run touches
 * what lies between its first access and its last. */
static double stepped_sectors(const cutt_canonical *c, const cutt_gpu_flat *f, bool input, uint32_t sector,
                              double pieces) {
  const cutt_mode *mode = cutt_gpu_run_mode(c);
  const uint64_t start = input ? cutt_gpu_in_start(c) + (uint64_t)(int64_t)f->in_first : cutt_gpu_out_start(c);
  uint64_t bits = start | sector;
  for (int i = 1; i < c->rank; ++i) {
    const cutt_mode *other = &c->mode[c->out_order[i]];
    bits |= (uint64_t)((input ? other->in_stride : other->out_stride) * c->elem_bytes);
  }
  const double runs = (double)c->volume / (double)mode->extent, accesses = f->copies;
  /* Of a run's first stretch the beginning is the run's; others begin anywhere, but for whole accesses. */
  const double stretches = f->pieces > 0 ? pieces : fmin(accesses, pieces + runs - 1), length = accesses / stretches;
  const double step = fabs((double)(input ? f->run_in : f->run_out)), width = f->load;
  if (step >= sector) return accesses * touched(width, fmin(width, (double)cutt_gpu_power(bits)), sector);
  const double align = fmin((double)cutt_gpu_power(bits | (uint64_t)fmax(step, width) * WARP), sector);
  return stretches * touched((length - 1) * step + width, align, sector);
}

static void count_flat_steps(const cutt_canonical *c, const cutt_gpu_flat *f, bool input, uint32_t sector,
                             uint32_t threads, sums *sum) {
  const uint32_t runs = f->pieces > 0 ? f->copies / f->run : 0, of_run = (f->run + WARP - 1) / WARP;
  const double warps = f->pieces > 0 ? (double)runs * of_run : ceil((double)f->copies / WARP);
  const double blocks = f->pieces > 0 ? f->pieces : ceil((double)f->copies / (threads * f->each));
  sum->requests = warps;
  sum->sectors = stepped_sectors(c, f, input, sector, warps);
  sum->tile_sectors = stepped_sectors(c, f, input, sector, blocks);
  const bool dense = !input && f->run_out == (int32_t)f->load;
  const double whole = 2 * (double)c->volume * c->elem_bytes / sector;
  sum->sectors_whole = dense ? fmax(0, whole - sum->sectors) : 0;
  sum->tile_sectors_whole = dense ? fmax(0, whole - sum->tile_sectors) : 0;
}

/* In windows: of the input all sectors of each tile's rows, some of which are the next tile's too, and of the output those of whole runs. An
 * access that a run has only a part of is one request for each of its elements there, of which it has half in the mean. */
static void count_windows(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_flat *f, uint32_t sector,
                          uint32_t threads, cutt_gpu_requests *counts) {
  const uint32_t w = (uint32_t)c->elem_bytes;
  const side in = {.sector = sector,
                   .width = 16,
                   .start_align = sector,
                   .spread = f->loads,
                   .step = f->load_step,
                   .group = 1,
                   .threads = threads};
  side out = in;
  out.spread = f->stores;
  out.step = f->store_step;
  const double in_align = start_align(c, tile, true, false, sector);
  const uint32_t turns = cutt_gpu_run_columns(tile);
  int cut_k = -1;
  int64_t chunks = 1, run = 1, extent[2][2] = {{1, 1}, {1, 1}};
  double count[2][2] = {{1, 0}, {1, 0}}, others = (double)tile->tiles;
  uint64_t bits = cutt_gpu_out_start(c) | sector;
  for (int i = 0; i < 2; ++i) {
    const int j = tile->cut[i];
    if (j < 0) continue;
    const int64_t all = cutt_gpu_chunks(c->mode[j].extent, tile->extent[j]);
    extent[i][0] = tile->extent[j];
    extent[i][1] = cutt_gpu_last_chunk(c->mode[j].extent, tile->extent[j]);
    count[i][0] = (double)(all - 1);
    count[i][1] = 1;
    others /= (double)all;
    if (tile->in_k >> j & 1) {
      cut_k = i;
      chunks = all;
    }
  }
  for (int j = 0; j < c->rank; ++j) {
    if (tile->in_k >> j & 1)
      run *= c->mode[j].extent;
    else
      bits |= (uint64_t)(c->mode[j].out_stride * c->elem_bytes);
  }
  const double align = (double)cutt_gpu_power(bits),
               side_by_side = fmin((double)tile->columns, (double)WARP / f->stores.along);
  double warps = 0; /* that end runs: those of a tile have so many side by side */
  for (int i = 0; i < 4; ++i) {
    const int a = i & 1, b = i >> 1;
    const kind k = {c, tile, {extent[0][a], extent[1][b]}, others * count[0][a] * count[1][b]};
    if (k.tiles < 0.5) continue;
    /* Of a chunk of a run, a window reads what it reaches into the next one. */
    const uint32_t reached = chunks > 1 && a == 0 ? (sector - (uint32_t)align) * turns : 0;
    const uint32_t row_bytes = (uint32_t)length_of(&k, tile->row_length, tile->in_m) * w + reached;
    const uint32_t columns = (uint32_t)length_of(&k, tile->columns, turns > 0 ? ~tile->in_m : tile->in_m);
    const uint32_t column_bytes = (uint32_t)length_of(&k, tile->column_length, tile->in_k) * w;
    const bool last = chunks == 1 || (cut_k == 0 ? a : b) == 1;
    const uint32_t rows = turns > 0 ? columns / turns
                          : last    ? (uint32_t)length_of(&k, tile->rows, tile->in_k)
                                    : cutt_gpu_window_rows(tile, w);
    const request_counts loads = count_walk(&in, (row_bytes + sector - w + 15) / 16, rows);
    const request_counts stores = count_walk(&out, (column_bytes + sector - 1) / sector * 2, columns);
    if (last) warps += k.tiles * ceil(columns / side_by_side);
    counts->load_requests += k.tiles * loads.requests;
    counts->load_sectors += k.tiles * rows * touched(row_bytes, in_align, sector);
    counts->store_requests += k.tiles * stores.requests;
    counts->shared_load_wavefronts += k.tiles * groups(&out, column_bytes / 16, columns) * 16 / w;
  }
  counts->tile_load_sectors = counts->load_sectors;
  const int64_t whole = c->volume / run;
  const double runs = (double)whole, bytes = (double)run * w;
  counts->store_sectors = runs * touched(bytes, align, sector);
  counts->store_sectors_whole = runs * covered(bytes, align, sector);
  counts->tile_store_sectors = counts->store_sectors;
  counts->tile_store_sectors_whole = counts->store_sectors_whole;
  if (align <
      16) { /* at both ends: elements in the mean, of which lanes beside others of their warp store more; half of the ends share a sector */
    const double elements = (16 - align) / w, parts = 1 - align / 16;
    /* Whole runs side by side are neighbours in the output, whose ends share sectors. */
    counts->store_requests +=
        elements * (turns == 1 ? warps * 1.4 * side_by_side / (1 + side_by_side) : runs * 1.7 / WARP * f->stores.along);
    counts->store_sectors += runs * (elements - parts) * (turns == 1 ? 0.8 : 1);
  }
  counts->shared_stores = counts->load_requests;
  counts->shared_store_wavefronts = counts->load_requests * 4;
  counts->shared_loads = counts->store_requests * 16 / w;
}

/* A kernel without tables: shared memory has no bank conflicts to speak of. */
static void count_flat(const cutt_canonical *c, const cutt_gpu_tile *tile, const cutt_gpu_flat *f, uint32_t sector,
                       uint32_t threads, cutt_gpu_requests *counts) {
  const side in = {.input = true,
                   .start_align = start_align(c, tile, true, f->joined == CUTT_FLAT_ROWS, sector),
                   .sector = sector,
                   .width = f->load,
                   .spread = f->loads,
                   .shared_width = f->shared_store,
                   .joined = f->joined == CUTT_FLAT_ROWS,
                   .step = f->load_step,
                   .group = 1,
                   .threads = threads};
  const side out = {.start_align = start_align(c, tile, false, f->joined == CUTT_FLAT_COLUMNS, sector),
                    .sector = sector,
                    .width = f->store,
                    .spread = f->stores,
                    .shared_width = f->shared_load,
                    .joined = f->joined == CUTT_FLAT_COLUMNS,
                    .step = f->store_step,
                    .group = f->group,
                    .threads = threads};
  const double kept = (double)f->load / f->shared_store, collected = (double)f->store / f->shared_load;
  sums loads = {0}, stores = {0};
  if (f->windows) {
    count_windows(c, tile, f, sector, threads, counts);
    return;
  }
  if (f->copies > 0) {
    const bool plain_runs = cutt_gpu_plain_runs(c);
    (plain_runs ? count_flat_copy : count_flat_steps)(c, f, true, sector, threads, &loads);
    (plain_runs ? count_flat_copy : count_flat_steps)(c, f, false, sector, threads, &stores);
    count_global(&loads, &stores, counts);
    if (adds_to_output(c)) add_reads(&stores, counts);
    return;
  }
  add_tiles(c, tile, &in, &out, &loads, &stores);
  count_global(&loads, &stores, counts);
  if (adds_to_output(c)) add_reads(&stores, counts);
  counts->shared_stores = loads.requests * kept;
  counts->shared_store_wavefronts = loads.groups * kept;
  counts->shared_loads = stores.requests * collected;
  counts->shared_load_wavefronts = stores.groups * f->group * collected;
}

void cutt_gpu_count_requests(const cutt_device *device, const cutt_canonical *c, const cutt_gpu_tile *tile,
                             const cutt_candidate *candidate, cutt_gpu_requests *counts) {
  *counts = (cutt_gpu_requests){0};
  const bool direct = candidate->param[CUTT_GPU_PARAM_DIRECT] != 0;
  const uint32_t threads = (uint32_t)candidate->threads, sector = (uint32_t)cutt_gpu_sector(device);
  cutt_gpu_access access;
  const char *why;
  if (!cutt_gpu_access_choose(c, tile, direct, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, &access, &why)) return;
  cutt_gpu_flat flat;
  if (candidate->param[CUTT_GPU_PARAM_FLAT] &&
      cutt_gpu_flat_choose(device, c, tile, direct, &access, CUTT_GPU_ALIGNED, CUTT_GPU_ALIGNED, threads, &flat)) {
    count_flat(c, tile, &flat, sector, threads, counts);
    return;
  }
  cutt_gpu_banks banks;
  if (direct) {
    banks.loads = banks.stores = cutt_gpu_spread_loads(c, tile, &access, threads);
  } else {
    banks = cutt_gpu_banks_expect(c, tile, threads, &access);
  }
  const bool anywhere = cutt_gpu_stores_anywhere(&access), adds = adds_to_output(c);
  const uint32_t load = access.load > 0 ? access.load : 4;
  const side in = {.input = true,
                   .start_align = start_align(c, tile, true, false, sector),
                   .sector = sector,
                   .width = load,
                   .spread = banks.loads,
                   .batched = !direct && access.load > 0,
                   .copies = direct,
                   .anywhere = access.load == 0,
                   .shared_width = load};
  const side out = {.start_align = start_align(c, tile, false, false, sector),
                    .sector = sector,
                    .width = access.store,
                    .spread = banks.stores,
                    .batched = !direct && !anywhere && !adds,
                    .copies = direct,
                    .anywhere = anywhere,
                    .part = anywhere ? access.shared_load : 0,
                    .shared_width = access.shared_load};
  sums loads = {0}, stores = {0};
  add_tiles(c, tile, &in, &out, &loads, &stores);
  count_global(&loads, &stores, counts);
  counts->store_requests += stores.ends;
  if (adds) add_reads(&stores, counts);
  if (direct) return;
  const double gathered = (double)access.store / access.shared_load; /* loads that are stored as one */
  counts->shared_stores = loads.requests;
  counts->shared_store_wavefronts = loads.groups * banks.rows;
  counts->shared_loads = stores.merged * gathered + stores.ends;
  counts->shared_load_wavefronts = stores.groups * gathered * banks.columns + stores.ends;
}
