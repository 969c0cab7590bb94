/* Small products (device_small.h): their shape, what it is predicted to take, and the kernel's parameters. */
#include "contract/device_small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/divisor.h"

enum {
  WIDE = CUTT_SMALL_WIDE,
  SECTOR = 32,        /* bytes: the least that L2 moves */
  ATOM = 64,          /* the same of memory */
  WARP = 32,          /* threads */
  BANKS = 32,         /* of shared memory, of 4 bytes each */
  RESERVED = 1024,    /* bytes of shared memory that the system takes of each block's */
  SM_BLOCKS = 16,     /* most at once that are reckoned with */
  GOOD_BYTES = 44000, /* of shared memory: with less, too little is on its way from memory */
  MOST_RUNS = 640,    /* of all tensors in a tile */
  ENOUGH_TILES = 4,   /* for each multiprocessor: tiles are not made smaller beyond that */
  LEAST_LONG = 32,    /* positions of a long side in a tile */
  LEAST_THREADS = 64  /* of a block, which also copy */
};

/* As measured on an H200. Seconds of a launch with what its blocks begin and end with; and of a tile in a block, however few there are: from
 * asking for it to its coming, for each term, and for each access of a thread to memory. The speed of memory over that of a copy as
 * predicted; accesses of an SM to shared memory per second, and issue slots; the part of memory's time that operands take which come again
 * from L2; the part of the speed of large products that is reached. */
static const double launch_seconds = 3.6e-6, tile_seconds = 0.95e-6, term_seconds = 0.068e-6, access_seconds = 0.105e-6,
                    share_of_copy = 1.15, accesses_per_second = 1.75e9, slots_per_second = 4.4e9, again = 0.35,
                    share_of_flops = 0.3;

static bool is_of(const cutt_contract_mode *m, cutt_role role) { return cutt_mode_role(m) == role; }

/* Modes of a role, by their steps in a tensor. */
static int sorted(const cutt_contraction *c, cutt_role role, cutt_tensor t, int *mode) {
  int count = 0;
  for (int i = 0; i < c->modes; ++i) {
    if (is_of(&c->mode[i], role)) mode[count++] = i;
  }
  cutt_sort_modes(c, t, mode, count);
  return count;
}

/* ------------------------------------------------------------------------------------------- a tensor's part of a tile */

typedef struct part {
  int mode[CUTT_SMALL_MODES], modes; /* by their steps in the tensor */
  int run_modes;                     /* so many of which are a run */
  int64_t shared[CUTT_SMALL_MODES];  /* steps in shared memory */
  int64_t run, runs, bytes;          /* run, bytes: the length of a run, and of all in shared memory */
  int64_t width;                     /* of an access, in bytes */
} part;

/* The widest access, of an element at least, of which all these steps (a union of their bits) are multiples. */
static int64_t width_of(int64_t steps, int64_t element) {
  const uint64_t bits = (uint64_t)steps | WIDE;
  return larger((int64_t)(bits & (~bits + 1)), element);
}

/* The bytes that all accesses can have, if element (0, ..., 0) is at a multiple of 16. */
static int64_t common_width(const cutt_contraction *c, const cutt_small_shape *s, cutt_tensor t, const part *p) {
  int64_t steps = p->run;
  for (int i = 0; i < c->modes; ++i) {
    int at = 0;
    while (at < p->modes && p->mode[at] != i) ++at;
    const int64_t step = c->mode[i].stride[t] * c->type->bytes;
    if (at >= p->run_modes || s->part[i] < c->mode[i].extent) steps |= step * s->part[i];
    if (at >= p->run_modes) steps |= step;
  }
  return width_of(steps, c->type->bytes);
}

/* Modes of a tensor in a tile lie in shared memory in its own order, without gaps but for pads. Returns whether there are few enough. */
static bool lay_out(const cutt_contraction *c, const cutt_small_shape *s, cutt_tensor t, uint8_t pads, part *p) {
  const int64_t element = c->type->bytes;
  *p = (part){.run = element, .runs = 1};
  for (int i = 0; i < c->modes; ++i) {
    if (s->part[i] == 1 || !c->mode[i].stride[t]) continue;
    if (p->modes == CUTT_SMALL_MODES) return false;
    p->mode[p->modes++] = i;
  }
  cutt_sort_modes(c, t, p->mode, p->modes);
  bool open = true; /* the run goes on */
  int64_t at = element;
  for (int i = 0; i < p->modes; ++i) {
    const int m = p->mode[i];
    open = open && c->mode[m].stride[t] * element == p->run;
    p->shared[i] = at;
    at *= s->part[m];
    if (open) {
      p->run *= s->part[m];
      p->run_modes = i + 1;
    } else {
      p->runs *= s->part[m];
    }
    if (i < 2 && pads >> i & 1) {
      at += width_of(at, element);
      open = false;
    }
  }
  p->bytes = cutt_round_up(at, WIDE);
  p->width = common_width(c, s, t, p);
  return true;
}

static bool is_in(const cutt_contraction *c, cutt_tensor t, int mode) { return c->mode[mode].stride[t] != 0; }

/* Bytes in shared memory; INT64_MAX: there is too much of something. */
static int64_t shared_bytes(const cutt_contraction *c, const cutt_small_shape *s, const uint8_t pads[CUTT_TENSORS]) {
  int64_t bytes = s->terms * CUTT_SMALL_TERM + WIDE, runs = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    part p;
    if (!lay_out(c, s, (cutt_tensor)t, pads[t], &p)) return INT64_MAX;
    runs += p.runs;
    bytes += p.runs * CUTT_SMALL_ENTRY + p.bytes * (t == CUTT_RESULT && c->beta_is_zero ? 1 : 2);
  }
  return runs > MOST_RUNS ? INT64_MAX : bytes;
}

static int64_t each(const cutt_contraction *c) { return (int64_t)CUTT_SMALL_EACH(c->type->bytes); }

static int64_t row_blocks(const cutt_contraction *c, const cutt_small_shape *s) {
  return cutt_ceil_of(s->rows, each(c));
}

static int64_t column_blocks(const cutt_contraction *c, const cutt_small_shape *s) {
  return cutt_ceil_of(s->columns, each(c));
}

/* Threads that multiply. */
static int64_t workers(const cutt_contraction *c, const cutt_small_shape *s) {
  return s->matrices * row_blocks(c, s) * column_blocks(c, s);
}

/* ------------------------------------------------------------------------------------------------------------- the tile */

static int64_t *count_of(const cutt_contraction *c, cutt_small_shape *s, int mode) {
  switch (cutt_mode_role(&c->mode[mode])) {
    case CUTT_ROLE_M:
      return &s->rows;
    case CUTT_ROLE_N:
      return &s->columns;
    case CUTT_ROLE_K:
      return &s->terms;
    default:
      return &s->matrices;
  }
}

static bool fits(const cutt_contraction *c, const cutt_small_shape *s, int64_t room) {
  static const uint8_t all[CUTT_TENSORS] = {3, 3, 3};
  return workers(c, s) <= CUTT_SMALL_THREADS && shared_bytes(c, s, all) <= room;
}

/* Puts as much of a mode into the tile as there is room for. Returns whether that is all of it. */
static bool add_mode(const cutt_contraction *c, int mode, int64_t most, int64_t room, cutt_small_shape *s) {
  const int64_t extent = c->mode[mode].extent;
  int64_t *const count = count_of(c, s, mode), before = *count;
  int64_t low = 1, high = smaller(smaller(extent, most), (int64_t)4096); /* low fits, at least if nothing is added */
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    s->part[mode] = (int16_t)middle;
    *count = before * middle;
    if (fits(c, s, room))
      low = middle;
    else
      high = middle - 1;
  }
  int64_t chunk = low;
  if (chunk < extent) {
    chunk = cutt_ceil_of(extent, cutt_ceil_of(extent, low)); /* all of nearly the same extent */
    /* Of whole sectors, or of accesses of 16 bytes, however long what comes before it is. */
    const int64_t sector = SECTOR / c->type->bytes, unit = low >= sector ? sector : WIDE / c->type->bytes;
    if (low >= unit) chunk = smaller(cutt_round_up(chunk, unit), low / unit * unit);
    if (extent % chunk) s->cut = mode;
  }
  s->part[mode] = (int16_t)chunk;
  *count = before * chunk;
  return chunk == extent;
}

/* All terms; all rows and columns, or of a long side as many as there is room for; then matrices. */
static bool choose_tile(const cutt_contraction *c, const cutt_rates *r, int64_t room, cutt_small_shape *s) {
  int mode[CUTT_MOST_MODES];
  int64_t size[CUTT_ROLES], least = larger(r->multiprocessors, (int64_t)1) * ENOUGH_TILES, tiles = 1;
  cutt_contraction_sizes(c, size);
  *s = (cutt_small_shape){.cut = -1, .rows = 1, .columns = 1, .terms = 1, .matrices = 1, .seconds = INFINITY};
  for (int i = 0; i < c->modes; ++i) {
    s->part[i] = 1;
    if (is_of(&c->mode[i], CUTT_ROLE_K)) {
      if (s->terms * c->mode[i].extent > INT16_MAX) return false;
      s->part[i] = (int16_t)c->mode[i].extent;
      s->terms *= c->mode[i].extent;
    } else if (__builtin_mul_overflow(tiles, c->mode[i].extent, &tiles)) {
      return false;
    }
  }
  if (!fits(c, s, room)) return false;
  const bool rows_first = size[CUTT_ROLE_M] <= size[CUTT_ROLE_N];
  const cutt_role order[] = {rows_first ? CUTT_ROLE_M : CUTT_ROLE_N, rows_first ? CUTT_ROLE_N : CUTT_ROLE_M,
                             CUTT_ROLE_BATCH};
  const cutt_tensor by = c->volume[CUTT_LEFT] > c->volume[CUTT_RIGHT] ? CUTT_LEFT : CUTT_RIGHT;
  for (int i = 0; i < 3; ++i) {
    const int count = sorted(c, order[i], order[i] == CUTT_ROLE_BATCH ? by : CUTT_RESULT, mode);
    for (int j = 0; j < count; ++j) {
      const int64_t extent = c->mode[mode[j]].extent;
      /* Few matrices, or the rows of one, are dealt out to all multiprocessors. */
      const bool deals = i == 2 || (i == 1 && size[CUTT_ROLE_BATCH] == 1);
      const int64_t most = deals ? larger((int64_t)(i == 2 ? 1 : LEAST_LONG), tiles / least) : extent;
      const bool all = add_mode(c, mode[j], most, room, s);
      tiles = cutt_ceil_of(tiles, s->part[mode[j]]);
      if (!all) {
        if (i == 0) return false; /* both sides are long */
        return true;
      }
    }
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- the banks */

/* Modes of a tile that are rows, columns and matrices, as threads have them. */
typedef struct digits {
  int mode[CUTT_ROLES][CUTT_MOST_MODES], count[CUTT_ROLES];
} digits;

static void list_digits(const cutt_contraction *c, const cutt_small_shape *s, digits *d) {
  for (int role = 0; role < CUTT_ROLES; ++role) {
    int mode[CUTT_MOST_MODES];
    const int count = sorted(c, (cutt_role)role, role == CUTT_ROLE_K ? CUTT_LEFT : CUTT_RESULT, mode);
    d->count[role] = 0;
    for (int i = 0; i < count; ++i)
      if (s->part[mode[i]] > 1) d->mode[role][d->count[role]++] = mode[i];
  }
}

/* Step of a mode in shared memory; 0: the tensor does not have it. */
static int64_t step_of(const part *p, int mode) {
  for (int i = 0; i < p->modes; ++i)
    if (p->mode[i] == mode) return p->shared[i];
  return 0;
}

/* Where a row, column and matrix are in a tensor's part. */
static int64_t place_of(const cutt_small_shape *s, const digits *d, const part *p, int64_t row, int64_t column,
                        int64_t matrix) {
  const int64_t number[CUTT_ROLES] = {[CUTT_ROLE_M] = row, [CUTT_ROLE_N] = column, [CUTT_ROLE_BATCH] = matrix};
  int64_t at = 0;
  for (int role = 0; role < CUTT_ROLES; ++role) {
    int64_t rest = number[role];
    for (int i = 0; i < d->count[role]; ++i) {
      const int m = d->mode[role][i];
      at += rest % s->part[m] * step_of(p, m);
      rest /= s->part[m];
    }
  }
  return at;
}

/* How often shared memory is accessed for a request of the first warp's. */
static int64_t wavefronts(const cutt_contraction *c, const cutt_small_shape *s, const digits *d, const part *p) {
  const int64_t element = c->type->bytes, together = WARP * 4 / larger(element, (int64_t)4);
  const int64_t of_rows = row_blocks(c, s), of_columns = column_blocks(c, s),
                all = smaller(workers(c, s), (int64_t)WARP);
  int64_t sum = 0;
  for (int64_t first = 0; first < all; first += together) {
    int64_t word[BANKS * 4], most = 1, words = 0;
    int in_bank[BANKS] = {0};
    for (int64_t i = first; i < smaller(all, first + together); ++i) {
      const int64_t at = place_of(s, d, p, i % of_rows, i / of_rows % of_columns, i / of_rows / of_columns);
      for (int64_t w = at / 4; w <= (at + element - 1) / 4; ++w) {
        int64_t k = 0;
        while (k < words && word[k] != w) ++k;
        if (k < words) continue;
        word[words++] = w;
        most = larger(most, (int64_t)++in_bank[w % BANKS]);
      }
    }
    sum += most;
  }
  return sum;
}

/* Pads by which fewest banks are asked for several words at once, of those that leave accesses of memory as wide as can be. Returns how often
 * shared memory is accessed for a request. */
static int64_t choose_pads(const cutt_contraction *c, cutt_small_shape *s, const digits *d, cutt_tensor t) {
  int64_t least = INT64_MAX, width = 0;
  for (uint8_t pads = 0; pads < 4; ++pads) {
    part p;
    lay_out(c, s, t, pads, &p);
    width = larger(width, p.width); /* of none without pads */
    if (p.width < width) continue;
    const int64_t sum = wavefronts(c, s, d, &p);
    if (sum >= least) continue;
    least = sum;
    s->pads[t] = pads;
  }
  return least;
}

/* ------------------------------------------------------------------------------------------------------------- the seconds */

/* Bytes of memory that the tensor's part of a tile moves. Pieces that follow each other share the sectors at their ends; those shorter than
 * what memory accesses at once do not share it, since tiles that have the rest of it are not done at the same time. */
static double moved_of(const cutt_contraction *c, const cutt_small_shape *s, cutt_tensor t, const part *p) {
  int64_t piece = c->type->bytes, gap = INT64_MAX; /* gap: from a piece to the next one in memory */
  int pieced = 0;
  while (pieced < p->modes && llabs(c->mode[p->mode[pieced]].stride[t]) * c->type->bytes == piece)
    piece *= s->part[p->mode[pieced++]];
  bool apart = piece % SECTOR != 0;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t step = llabs(c->mode[i].stride[t]) * c->type->bytes;
    bool in_piece = false;
    for (int k = 0; k < pieced; ++k) in_piece = in_piece || p->mode[k] == i;
    if (!is_in(c, t, i) || in_piece) continue;
    gap = smaller(gap, step);
    apart = apart || step % SECTOR != 0;
  }
  const double bytes = (double)(p->run * p->runs), length = (double)piece, pieces = bytes / length;
  if (!apart) return bytes;
  if (piece < ATOM) return ATOM * pieces;
  return bytes + SECTOR / 2.0 * (gap <= piece ? 1 : pieces);
}

/* Issue slots of a warp for a product. */
static double product_slots(const cutt_contraction *c) {
  if (c->type->complex) return c->type->bytes == 8 ? 6.5 : 8;
  return c->type->bytes == 8 ? 2 : 1;
}

/* Of what goes on at the same time. */
static double together(double a, double b, double c, double d) {
  const double most = fmax(fmax(a, b), fmax(c, d)), share[] = {a / most, b / most, c / most, d / most};
  return most * cutt_together(share, 4);
}

static double seconds_of(const cutt_contraction *c, const cutt_rates *r, const cutt_small_shape *s,
                         const int64_t conflicts[CUTT_TENSORS]) {
  enum { FOR_ACCESS = 26, FOR_HALF = 30, FOR_RESULT = 20 }; /* issue slots of a warp */
  const double sms = (double)larger(r->multiprocessors, (int64_t)1), all_tiles = (double)s->tiles;
  const double own = (double)each(c), terms = (double)s->terms;
  const bool half = c->type->bytes == 2;
  const double load = half ? 2.3 : 1; /* slots: halves are converted */
  double moved = 0, accesses = 0, banks = 0, copied = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    part p;
    lay_out(c, s, (cutt_tensor)t, s->pads[t], &p);
    const double times = t == CUTT_RESULT && !c->beta_is_zero ? 2 : 1, own_bytes = (double)(p.run * p.runs);
    const double bytes = moved_of(c, s, (cutt_tensor)t, &p) * all_tiles;
    const double once = fmin((double)c->volume[t] * c->type->bytes * bytes / (own_bytes * all_tiles), bytes);
    moved += times * (t == CUTT_RESULT ? bytes : once + again * (bytes - once));
    accesses += times * ceil(own_bytes / (double)p.width / s->threads);
    banks += (double)conflicts[t] * own * (t == CUTT_RESULT ? own : terms);
    copied += times * own_bytes / (BANKS * 4);
  }
  const double working = ceil((double)workers(c, s) / WARP), warps = (double)s->threads / WARP;
  const double work = terms * (2 * load * own + own * own * product_slots(c)) + own * own * FOR_RESULT;
  /* Warps that do not multiply leave the slots of their part of the SM empty. */
  const double issue =
      all_tiles * warps * ((half ? FOR_HALF : FOR_ACCESS) * accesses + work) / (sms * slots_per_second);
  const double shared = all_tiles * (working * banks + copied) / (sms * accesses_per_second);
  const double flops = cutt_flops_each(c) * all_tiles * working * WARP * own * own * terms;
  const double multiply = r->blas_flops > 0 ? flops / (share_of_flops * r->blas_flops) : 0; /* if that is known */
  const double each_tile = tile_seconds + terms * term_seconds + accesses * access_seconds;
  return launch_seconds + together(moved / (share_of_copy * r->memory), fmax(issue, multiply), shared,
                                   ceil(all_tiles / (double)s->blocks) * each_tile);
}

/* The shape with so much shared memory for a block. */
static void choose(const cutt_contraction *c, const cutt_rates *r, int64_t room, cutt_small_shape *s) {
  int64_t conflicts[CUTT_TENSORS];
  digits d;
  if (!choose_tile(c, r, room, s) || s->rows * s->columns * s->terms < 2) return;
  s->tiles = 1;
  int tile_digits = 0;
  for (int i = 0; i < c->modes; ++i) {
    const int64_t chunks = cutt_ceil_of(c->mode[i].extent, s->part[i]);
    tile_digits += chunks > 1;
    if (__builtin_mul_overflow(s->tiles, chunks, &s->tiles) || s->tiles >= INT32_MAX / 2) return;
  }
  if (tile_digits > CUTT_SMALL_DIGITS) return;
  list_digits(c, s, &d);
  for (int t = 0; t < CUTT_TENSORS; ++t) conflicts[t] = choose_pads(c, s, &d, (cutt_tensor)t);
  s->shared_bytes = shared_bytes(c, s, s->pads);
  s->threads = (int)larger(cutt_round_up(workers(c, s), WARP), (int64_t)LEAST_THREADS);
  const int64_t at_once = smaller(smaller(r->sm_shared / (s->shared_bytes + RESERVED), (int64_t)SM_BLOCKS),
                                  (int64_t)(CUTT_SMALL_SM_THREADS(c->type->bytes) / s->threads));
  s->blocks = smaller(s->tiles, larger(r->multiprocessors, (int64_t)1) * larger(at_once, (int64_t)1));
  s->seconds = seconds_of(c, r, s, conflicts);
}

void cutt_small_choose(const cutt_contraction *c, const cutt_rates *r, cutt_small_shape *s) {
  const int64_t most = r->block_shared - RESERVED;
  *s = (cutt_small_shape){.cut = -1, .seconds = INFINITY};
  if (c->right_is_one || c->no_terms || c->empty || c->reduce) return;
  for (int64_t room = GOOD_BYTES; room < 2 * most; room *= 2) {
    cutt_small_shape tried;
    choose(c, r, smaller(room, most), &tried);
    if (tried.seconds < s->seconds) *s = tried;
  }
}

/* ---------------------------------------------------------------------------------------------------------- the parameters */

static void fill_access(const cutt_contraction *c, const cutt_small_shape *s, cutt_tensor t, const part *p,
                        bool aligned, cutt_small_access *a) {
  const int64_t element = c->type->bytes;
  a->runs = (uint32_t)p->runs;
  a->width = (uint32_t)(aligned ? p->width : element);
  a->run_bytes = (uint32_t)p->run;
  a->windows = cutt_divide_by(p->run / a->width);
  a->elements = cutt_divide_by(p->run / element);
  for (int i = 0; i < p->modes; ++i) {
    const int m = p->mode[i];
    if (i < p->run_modes) {
      if (m == s->cut) a->cut_bytes = (uint32_t)p->shared[i];
      continue;
    }
    a->run[a->digits++] = (cutt_small_run){.extent = cutt_divide_by(s->part[m]),
                                           .shared = (uint32_t)p->shared[i],
                                           .cut = m == s->cut,
                                           .step = c->mode[m].stride[t] * element};
  }
}

/* Rows, columns, terms and matrices. */
static void fill_places(const cutt_contraction *c, const cutt_small_shape *s, const part *p, cutt_small_args *args) {
  static const cutt_role order[] = {CUTT_ROLE_M, CUTT_ROLE_N, CUTT_ROLE_K, CUTT_ROLE_BATCH};
  uint32_t *const end[] = {&args->row_end, &args->column_end, &args->term_end, &args->matrix_end}, count = 0;
  digits d;
  list_digits(c, s, &d);
  for (int k = 0; k < CUTT_ROLES; ++k) {
    for (int i = 0; i < d.count[order[k]]; ++i) {
      const int mode = d.mode[order[k]][i];
      cutt_small_digit *digit = &args->place[count++];
      digit->extent = cutt_divide_by(s->part[mode]);
      for (int t = 0; t < CUTT_TENSORS; ++t) digit->step[t] = (uint32_t)step_of(&p[t], mode);
    }
    *end[k] = count;
  }
}

/* Tiles that follow each other in the larger operand are done at the same time. */
static void fill_tiles(const cutt_contraction *c, const cutt_small_shape *s, cutt_small_args *args) {
  const cutt_tensor by = c->volume[CUTT_LEFT] > c->volume[CUTT_RIGHT] ? CUTT_LEFT : CUTT_RIGHT;
  int mode[CUTT_MOST_MODES];
  for (int i = 0; i < c->modes; ++i) mode[i] = i;
  cutt_sort_modes(c, by, mode, c->modes);
  args->cut_digit = UINT32_MAX;
  for (int i = 0; i < c->modes; ++i) {
    const cutt_contract_mode *m = &c->mode[mode[i]];
    const int64_t along = s->part[mode[i]], chunks = cutt_ceil_of(m->extent, along);
    if (chunks == 1) continue;
    if (mode[i] == s->cut) {
      args->cut_digit = args->tile_end;
      args->cut = (uint32_t)along;
      args->cut_extent = m->extent;
    }
    cutt_digit *d = &args->digit[args->tile_end++];
    d->extent = cutt_divide_by(chunks);
    for (int t = 0; t < CUTT_TENSORS; ++t) d->step[t] = m->stride[t] * along * c->type->bytes;
  }
}

void cutt_small_fill(const cutt_contraction *c, const cutt_small_shape *s, bool aligned, cutt_small_args *args) {
  part p[CUTT_TENSORS];
  int64_t at = 0;
  memset(args, 0, sizeof *args);
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    cutt_small_access *a = &args->access[t];
    lay_out(c, s, (cutt_tensor)t, s->pads[t], &p[t]);
    fill_access(c, s, (cutt_tensor)t, &p[t], aligned, a);
    a->at = (uint32_t)at;
    a->slot_bytes = t == CUTT_RESULT && c->beta_is_zero ? 0 : (uint32_t)p[t].bytes;
    at += p[t].bytes * (a->slot_bytes ? 2 : 1);
  }
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    args->access[t].runs_at = (uint32_t)at;
    at += p[t].runs * CUTT_SMALL_ENTRY;
  }
  args->terms_at = (uint32_t)at;
  args->rows = (uint32_t)s->rows;
  args->columns = (uint32_t)s->columns;
  args->terms = (uint32_t)s->terms;
  args->matrices = (uint32_t)s->matrices;
  args->row_blocks = cutt_divide_by(row_blocks(c, s));
  args->column_blocks = cutt_divide_by(column_blocks(c, s));
  args->tiles = (uint32_t)s->tiles;
  args->blocks = (uint32_t)s->blocks;
  fill_places(c, s, p, args);
  fill_tiles(c, s, args);
  for (int t = 0; t < 2; ++t) args->flip[t] = c->conjugate[t] ? UINT32_C(1) << 31 : 0;
}
