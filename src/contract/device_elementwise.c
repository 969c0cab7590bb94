/* The tiles of an elementwise operation on a GPU, and the walks over them (device_elementwise.h). */
#include "contract/device_elementwise.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "gpu/divisor.h"

enum {
  OPERANDS = CUTT_COMBINE_OPERANDS,
  TENSORS = 1 + OPERANDS, /* D, A, B, C, as kernels number them */
  LANES = 32,             /* threads that are looked at to see how an operand's elements lie */
  SECTOR = 32,            /* bytes: the least that memory moves */
  WARP_BYTES = 128,       /* that shared memory hands out at once */
  WIDE = 16,              /* bytes of an access */
  LONG_RUN = 256,         /* bytes of a tensor's next to each other in a tile that are enough */
  TILE_ELEMENTS = 8192,   /* most, where an operand is turned */
  TILE_BYTES = 16384,     /* most, of each that is turned */
  LEAST_STAGED = 8,       /* bytes of an element, from which on it is worth that */
  WIDE_ROWS = 8,          /* of a tile in which none is */
  NARROW_ROWS = 16,
  BLOCKS_OF_AN_SM = 6, /* from which on there are enough */
  MOST_PAD = 8         /* elements that are left out behind a mode, so that threads side by side meet no bank twice */
};

typedef struct cuttElementwiseStruct plan_t;

/* What is laid out. Modes are in the order of the kernel's: those of which a tile has more than 1 come first, else as in the
 * plan. */
typedef struct layout {
  const plan_t *p;
  cutt_combine_args *args;
  int64_t unit; /* elements of an access */
  bool turned[OPERANDS];
  int64_t chunk[CUTT_MOST_LABELS]; /* by the plan's number */
  int number[CUTT_MOST_LABELS];    /* the plan's, of each */
} layout;

static int tensor_of(int t) { return t == 0 ? (int)CUTT_RESULT : (int)cutt_elementwise_tensor(t - 1); }

static int64_t stride(const layout *l, int t, int mode) { return l->p->mode[mode].stride[tensor_of(t)]; }

static bool is_read(const layout *l, int operand) {
  return operand < l->p->operands && l->p->use[operand] != CUTT_USE_ZERO;
}

/* ------------------------------------------------------------------------------------------------- what is turned */

/* The tensor's modes by their steps, the shortest first, without those that it lacks. Returns how many. */
static int order_of(const layout *l, int t, int *order) {
  int count = 0;
  for (int i = 0; i < l->p->modes; ++i) {
    const int64_t step = llabs(stride(l, t, i));
    if (!step) continue;
    int at = count++;
    for (; at > 0 && llabs(stride(l, t, order[at - 1])) > step; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return count;
}

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Bytes that memory moves for the tensor, for each of threads side by side that go over the modes in this order. */
static double waste_of(const layout *l, int t, const int *order, int count) {
  int64_t at[LANES], lanes = 0, sectors = 1;
  for (; lanes < LANES; ++lanes) {
    int64_t rest = lanes;
    at[lanes] = 0;
    for (int i = 0; i < count; ++i) {
      at[lanes] += rest % l->p->mode[order[i]].extent * stride(l, t, order[i]);
      rest /= l->p->mode[order[i]].extent;
    }
    if (rest) break;
  }
  qsort(at, (size_t)lanes, sizeof *at, by_value);
  const int64_t bytes = l->p->type->bytes, each = larger(SECTOR / bytes, (int64_t)1);
  for (int64_t i = 1; i < lanes; ++i) sectors += (at[i] - at[0]) / each != (at[i - 1] - at[0]) / each;
  return (double)(sectors * each) / (double)lanes;
}

static bool is_turned(const layout *l, int t) {
  int own[CUTT_MOST_LABELS], result[CUTT_MOST_LABELS];
  const int count = order_of(l, t, own);
  for (int i = 0; i < l->p->modes; ++i) result[i] = i;
  return count > 0 && waste_of(l, t, own, count) * 1.5 < waste_of(l, t, result, l->p->modes);
}

/* ----------------------------------------------------------------------------------------------------------- tiles */

static int64_t volume(const layout *l) {
  int64_t elements = 1;
  for (int i = 0; i < l->p->modes; ++i) elements *= l->chunk[i];
  return elements;
}

static int tile_modes(const layout *l) {
  int count = 0;
  for (int i = 0; i < l->p->modes; ++i) count += l->chunk[i] > 1;
  return count;
}

/* Most of a mode that a tile may have, so that a row's offset fits the kernels' tables. */
static int64_t most_of(const layout *l, int mode) {
  int64_t step = 1;
  for (int t = 0; t < TENSORS; ++t)
    if (t == 0 || is_read(l, t - 1)) step = larger(step, (int64_t)llabs(stride(l, t, mode)));
  return larger(CUTT_COMBINE_REACH / CUTT_COMBINE_TILE_MODES / step, (int64_t)1);
}

/* Makes tiles so long that the tensor has so many elements next to each other in them, of at most so many in all. */
static bool extend(layout *l, int t, int64_t wanted, int64_t most) {
  int order[CUTT_MOST_LABELS];
  const int count = order_of(l, t, order);
  int64_t run = 1;
  for (int i = 0; i < count && run < wanted; ++i) {
    const int m = order[i];
    const int64_t room = most / (volume(l) / l->chunk[m]), extent = smaller(l->p->mode[m].extent, most_of(l, m));
    const int64_t chunk = smaller(smaller((wanted + run - 1) / run, extent), room);
    if (l->chunk[m] == 1 && tile_modes(l) == CUTT_COMBINE_TILE_MODES) return false;
    if (chunk > l->chunk[m]) l->chunk[m] = chunk;
    if (chunk == room && room < extent) return false;
    if (l->chunk[m] < extent) return true;
    if (extent == l->p->mode[m].extent) run *= extent;
  }
  return run >= wanted;
}

/* Few chunks are made of nearly the same extent, with runs of whole sectors. */
static void even_out(layout *l) {
  enum { MANY = 8 };
  const int64_t whole = larger(larger(SECTOR / l->p->type->bytes, 1), (int)l->unit);
  for (int i = 0; i < l->p->modes; ++i) {
    const int64_t extent = l->p->mode[i].extent, chunks = (extent + l->chunk[i] - 1) / l->chunk[i];
    if (chunks == 1 || chunks > MANY) continue;
    const int64_t even = (extent + chunks - 1) / chunks, rounded = (even + whole - 1) / whole * whole;
    if (rounded <= l->chunk[i]) l->chunk[i] = rounded;
  }
}

/* The same of D and of all that is turned, by bytes. */
static bool extend_all(layout *l, int64_t run, int64_t most) {
  bool room = true;
  for (int t = 0; t < TENSORS && room; ++t)
    if (t == 0 || l->turned[t - 1]) room = extend(l, t, larger(run / l->p->type->bytes, (int64_t)1), most);
  return room;
}

static void cut(layout *l, int64_t multiprocessors) {
  const plan_t *p = l->p;
  int64_t all = 1;
  bool turns = false;
  for (int i = 0; i < p->modes; ++i) {
    l->chunk[i] = i || l->unit == 1 ? 1 : smaller(l->unit, p->mode[i].extent);
    all = all > INT64_MAX / p->mode[i].extent ? INT64_MAX : all * p->mode[i].extent;
  }
  for (int k = 0; k < OPERANDS; ++k) turns = turns || l->turned[k];
  const int64_t enough = all / (larger(multiprocessors, (int64_t)1) * BLOCKS_OF_AN_SM);
  const int64_t largest = turns ? smaller((int64_t)TILE_ELEMENTS, (int64_t)TILE_BYTES / p->type->bytes)
                                : CUTT_COMBINE_THREADS * (l->unit > 1 ? WIDE_ROWS * l->unit : NARROW_ROWS);
  const int64_t most = larger(smaller(largest, enough), smaller(largest, (int64_t)1024));
  /* Sectors for all; then what a warp reads of D, since then it meets no bank twice; then more of all. */
  bool room = !turns || extend_all(l, SECTOR, most);
  if (room && turns) room = extend(l, 0, WARP_BYTES / p->type->bytes, most);
  for (int64_t run = WARP_BYTES / 2; run <= LONG_RUN && room && turns; run *= 2) room = extend_all(l, run, most);
  if (room) extend(l, 0, INT64_MAX / 2, most);
  if (l->unit > 1) l->chunk[0] = smaller((l->chunk[0] + l->unit - 1) / l->unit * l->unit, p->mode[0].extent);
  even_out(l);
}

/* ----------------------------------------------------------------------------------------------------------- walks */

/* The largest divisor of n up to `most`, if it is not much smaller; else `most`. */
static int64_t good_part(int64_t n, int64_t most) {
  for (int64_t part = most; 4 * part >= 3 * most; --part)
    if (n % part == 0) return part;
  return most;
}

static void add_digit(cutt_combine_walk *walk, uint32_t *end, int64_t extent, int mode, int64_t along) {
  if (extent > 1) walk->digit[(*end)++] = (cutt_combine_digit){cutt_divide_by(extent), (uint16_t)mode, (uint16_t)along};
}

/* A walk over these modes of a tile, by the kernel's numbers: as many positions as there are threads for, and rows for the rest. */
static void make_walk(const layout *l, const int *order, int count, cutt_combine_walk *walk) {
  cutt_combine_digit rest[CUTT_COMBINE_DIGITS];
  cutt_combine_walk rows = {.rows = 1};
  bool full = false, even = true;
  *walk = (cutt_combine_walk){.x = 1, .rows = 1, .split = CUTT_COMBINE_WHOLE};
  for (int i = 0; i < count; ++i) {
    const int m = order[i];
    const int64_t unit = m == 0 ? l->unit : 1, units = (l->chunk[l->number[m]] + unit - 1) / unit;
    const int64_t room = CUTT_COMBINE_THREADS / (int64_t)walk->x;
    int64_t part = 1;
    if (!full) part = units <= room ? units : good_part(units, room);
    full = full || units > room;
    add_digit(walk, &walk->x_end, part, m, unit);
    add_digit(&rows, &rows.y_end, (units + part - 1) / part, m, part * unit);
    if (part > 1 && part < units) walk->split = (uint32_t)m;
    even = even && units % part == 0 && l->chunk[l->number[m]] % unit == 0;
    walk->x *= (uint32_t)part;
    walk->rows *= (uint32_t)((units + part - 1) / part);
  }
  walk->even = even;
  memcpy(rest, rows.digit, sizeof rest);
  walk->y_end = walk->x_end + rows.y_end;
  for (uint32_t i = 0; i < rows.y_end; ++i) walk->digit[walk->x_end + i] = rest[i];
}

/* ------------------------------------------------------------------------------------------------- shared memory */

/* Wavefronts of a walk's positions in what is turned, whose steps are these. */
static int64_t wavefronts(const cutt_combine_walk *walk, const uint32_t *step, int64_t bytes) {
  const uint32_t together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  int64_t all = 0;
  for (uint32_t begin = 0; begin < walk->x; begin += together) {
    int64_t word[32];
    int count[32] = {0}, most = 0;
    for (uint32_t lane = begin; lane < begin + together && lane < walk->x; ++lane) {
      uint32_t rest = lane, at = 0;
      for (uint32_t i = 0; i < walk->x_end; ++i) {
        const cutt_combine_digit *d = &walk->digit[i];
        at += rest % d->extent.by * d->along * step[d->mode];
        rest /= d->extent.by;
      }
      word[lane - begin] = (int64_t)at * bytes / larger(bytes, (int64_t)4);
      bool again = false;
      for (uint32_t other = begin; other < lane; ++other) again = again || word[other - begin] == word[lane - begin];
      const int bank = (int)(word[lane - begin] % together);
      if (!again && ++count[bank] > most) most = count[bank];
    }
    all += most;
  }
  return all;
}

/* The steps of the modes in what is turned of an operand, in D's order, and so many elements left out behind each that threads side by
 * side meet few banks twice. Returns its elements. */
static int64_t place(const layout *l, int k) {
  cutt_combine_args *args = l->args;
  const int64_t bytes = l->p->type->bytes;
  uint32_t *step = args->place[k];
  int64_t pad[CUTT_COMBINE_TILE_MODES] = {0}, elements = 1, least = INT64_MAX;
  int64_t ideal = 0;
  for (int w = 0; w < 2; ++w) {
    const uint32_t x = args->walk[w ? 1 + k : 0].x, together = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    ideal += (x + together - 1) / together;
  }
  for (uint32_t m = 0; m < args->tile_modes && least > ideal; ++m) {
    int64_t best = 0;
    for (int64_t tried = 0; tried <= MOST_PAD && least > ideal; ++tried) {
      pad[m] = tried;
      elements = 1;
      for (uint32_t i = 0; i < args->tile_modes; ++i) {
        const bool has = stride(l, 1 + k, l->number[i]) != 0;
        step[i] = has ? (uint32_t)elements : 0;
        if (has) elements = elements * l->chunk[l->number[i]] + pad[i];
      }
      const int64_t cost = wavefronts(&args->walk[0], step, bytes) + wavefronts(&args->walk[1 + k], step, bytes);
      if (cost < least) {
        least = cost;
        best = tried;
      }
    }
    pad[m] = best;
  }
  elements = 1;
  for (uint32_t i = 0; i < args->tile_modes; ++i) {
    const bool has = stride(l, 1 + k, l->number[i]) != 0;
    step[i] = has ? (uint32_t)elements : 0;
    if (has) elements = elements * l->chunk[l->number[i]] + pad[i];
  }
  return elements;
}

static uint32_t lay_out_shared(const layout *l, uint32_t threads) {
  cutt_combine_args *args = l->args;
  const int64_t word = CUTT_COMBINE_WORD_BYTES;
  int64_t at = CUTT_COMBINE_TILE_MODES * word;
  args->walk[0].table_at = (uint32_t)at;
  at += (int64_t)args->walk[0].rows * CUTT_COMBINE_TABLES * word;
  for (int k = 0; k < OPERANDS; ++k) {
    if (!l->turned[k]) continue;
    args->walk[1 + k].table_at = (uint32_t)at;
    at += (int64_t)args->walk[1 + k].rows * CUTT_COMBINE_TURN_TABLES * word;
  }
  at = (at + 15) / 16 * 16;
  for (int k = 0; k < OPERANDS; ++k) {
    const bool staged = args->use[k] == CUTT_COMBINE_STAGED;
    if (!l->turned[k] && !staged) continue;
    args->turned_at[k] = (uint32_t)at;
    const int64_t elements = staged ? (int64_t)args->walk[0].rows * threads : place(l, k);
    at += (elements * l->p->type->bytes + 15) / 16 * 16;
  }
  return (uint32_t)at;
}

/* ------------------------------------------------------------------------------------------------------ the launch */

/* Numbers the modes, and counts the tiles; false: they are too many. */
static bool list_modes(layout *l, int64_t *tiles) {
  cutt_combine_args *args = l->args;
  *tiles = 1;
  for (int in_tile = 1; in_tile >= 0; --in_tile) {
    for (int i = 0; i < l->p->modes; ++i) {
      if ((l->chunk[i] > 1) != (in_tile == 1)) continue;
      const int64_t extent = l->p->mode[i].extent, chunks = (extent + l->chunk[i] - 1) / l->chunk[i];
      if (chunks > INT32_MAX / *tiles) return false;
      *tiles *= chunks;
      cutt_combine_mode *mode = &args->mode[args->modes];
      *mode = (cutt_combine_mode){.chunks = cutt_divide_by(chunks), .chunk = (uint32_t)l->chunk[i]};
      for (int t = 0; t < TENSORS; ++t) mode->step[t] = t == 0 || is_read(l, t - 1) ? stride(l, t, i) : 0;
      if (in_tile) args->extent[args->tile_modes++] = extent;
      l->number[args->modes++] = i;
    }
  }
  return true;
}

static void list_walks(const layout *l) {
  for (int t = 0; t < TENSORS; ++t) {
    int by_plan[CUTT_MOST_LABELS], order[CUTT_MOST_LABELS], count = 0;
    if (t > 0 && !l->turned[t - 1]) continue;
    const int all = order_of(l, t, by_plan);
    for (int i = 0; i < all; ++i)
      for (int m = 0; m < (int)l->args->tile_modes; ++m)
        if (l->number[m] == by_plan[i]) order[count++] = m;
    make_walk(l, order, count, &l->args->walk[t]);
  }
}

/* Can all be accessed by 16 bytes, if addresses are multiples of that? */
static bool allows_wide(const layout *l) {
  const plan_t *p = l->p;
  if (p->type->bytes >= WIDE || p->modes == 0) return false;
  for (int t = 0; t < TENSORS; ++t) {
    if (t > 0 && !is_read(l, t - 1)) continue;
    if (t > 0 && stride(l, t, 0) == 0) continue;
    if (stride(l, t, 0) != 1) return false;
    for (int i = 1; i < p->modes; ++i)
      if (stride(l, t, i) * p->type->bytes % WIDE) return false;
  }
  return true;
}

static int kernel_of(cuttType_t type, bool wide) {
  static const cuttType_t order[] = {CUTT_F16, CUTT_BF16, CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_I32, CUTT_I64};
  int kernel = 0, wide_ones = 0;
  for (; order[kernel] != type; ++kernel) wide_ones += order[kernel] != CUTT_C64;
  return wide ? (int)(sizeof order / sizeof *order) + wide_ones : kernel;
}

bool cutt_device_elementwise_lay_out(const plan_t *p, int64_t multiprocessors, bool wide, cutt_combine_launch *launch) {
  layout l = {.p = p, .args = &launch->args, .unit = wide ? WIDE / p->type->bytes : 1};
  int64_t tiles;
  bool turns = false;
  memset(launch, 0, sizeof *launch);
  if (wide && !allows_wide(&l)) return false;
  for (int k = 0; k < OPERANDS; ++k) {
    l.turned[k] = is_read(&l, k) && is_turned(&l, 1 + k);
    turns = turns || l.turned[k];
  }
  for (int k = 0; k < OPERANDS; ++k) {
    const bool single = wide && p->modes && stride(&l, 1 + k, 0) == 0;
    if (wide && l.turned[k]) return false;
    launch->args.use[k] = (uint8_t)(!is_read(&l, k) ? CUTT_COMBINE_ZERO
                                    : l.turned[k]   ? CUTT_COMBINE_TURNED
                                    : single        ? CUTT_COMBINE_SINGLE
                                                    : CUTT_COMBINE_DIRECT);
  }
  /* While one waits to be turned, the others are on their way. */
  for (int k = 0; k < OPERANDS; ++k)
    if (turns && launch->args.use[k] == CUTT_COMBINE_DIRECT && p->type->bytes >= LEAST_STAGED)
      launch->args.use[k] = CUTT_COMBINE_STAGED;
  cut(&l, multiprocessors);
  if (!list_modes(&l, &tiles)) return false;
  list_walks(&l);
  launch->kernel = kernel_of(p->type->type, wide);
  launch->grid.blocks = (uint32_t)tiles;
  uint32_t threads = 1;
  for (int t = 0; t < TENSORS; ++t) threads = larger(threads, launch->args.walk[t].x);
  launch->grid.threads = (threads + 31) / 32 * 32;
  launch->grid.shared_bytes = lay_out_shared(&l, launch->grid.threads);
  return true;
}
