/* From the tiles of an elementwise operation on a GPU to a launch: the walks over them, and what is where in shared memory
 * (device_elementwise.h). */
#include "contract/device_elementwise.h"

#include <string.h>

#include "base/number.h"
#include "contract/device_elementwise_tile.h"
#include "gpu/divisor.h"

enum {
  OPERANDS = CUTT_COMBINE_OPERANDS,
  TENSORS = CUTT_COMBINE_TENSORS,
  LEAST_SHARED = 48 << 10, /* bytes of shared memory of a block: any GPU has as much */
  RESERVED = 1024,         /* those that the system takes of each block's */
  LEAST_TILE = 4 << 10,    /* of all that is turned, and by how many it becomes smaller until it fits */
  BLOCKS_IN_TURNS = 24,    /* for each multiprocessor: as these are not equally fast */
  ENOUGH_LANES = 128,      /* of a block, to see which banks they meet */
  LEAST_RUN = 2,           /* times what may be beside it, of a run that is loaded by windows */
  MOST_PAD = 8 /* accesses that are left out behind a mode, so that threads side by side meet no bank twice */
};

typedef struct cuttElementwiseStruct plan_t;

/* With the addresses of four tensors. */
_Static_assert(sizeof(cutt_combine_args) + 4 * sizeof(uint64_t) <= 4096, "parameters of a kernel before CUDA 12.1");

/* Bytes of an access of an operand that is turned: 16 if all of its runs allow it, else an element's, or two of 2 bytes. Where D has its
 * elements in another order and a thread has them one by one, also: threads side by side would meet more banks twice, the further apart
 * accesses of 16 bytes keep them. */
static int width_of(const cutt_combine_layout *l, int k) {
  int order[CUTT_COMBINE_MODES];
  const int64_t bytes = l->p->type->bytes, narrow = larger(bytes, (int64_t)4);
  if (!l->aligned || cutt_combine_order(l, 1 + k, order) == 0) return (int)bytes;
  const bool apart = l->vector == 1 && order[0] != 0 && bytes < 8;
  for (int64_t width = apart ? narrow : CUTT_COMBINE_WIDE; width > bytes; width = width > narrow ? narrow : bytes)
    if (cutt_combine_allows(l, 1 + k, order[0], width / bytes) && l->chunk[order[0]] % (width / bytes) == 0)
      return (int)width;
  return (int)bytes;
}

/* ----------------------------------------------------------------------------------------------------------- walks */

/* The largest divisor of n up to `most`, if it is not far smaller; else `most`: then all rows look at what is left. */
static int64_t good_part(int64_t n, int64_t most) {
  for (int64_t part = most; 2 * part >= most; --part)
    if (n % part == 0) return part;
  return most;
}

static void add_digit(cutt_combine_walk *walk, bool x, int64_t extent, int mode, int64_t along) {
  if (extent == 1) return;
  const uint32_t at = x ? walk->x_digits++ : CUTT_COMBINE_DIGITS - 1 - walk->y_digits++;
  walk->digit[at] =
      (cutt_combine_digit){.inverse = (uint32_t)((INT64_C(1) << 32) / extent + ((INT64_C(1) << 32) % extent != 0)),
                           .extent = (uint16_t)extent,
                           .mode = (uint16_t)mode,
                           .along = (uint16_t)along};
}

/* A walk over these modes of a tile, by the kernel's numbers, by accesses of so many elements of mode `along`: as many positions as
 * there are threads for, and rows for the rest. lanes: most positions in the first mode but that; 0: as many as there are. */
static void make_walk(const cutt_combine_layout *l, const int *order, int count, int along, int64_t access,
                      int64_t lanes, cutt_combine_walk *walk) {
  bool full = false, even = true;
  int splits = 0;
  *walk = (cutt_combine_walk){.x = 1, .rows = 1, .split = {CUTT_COMBINE_WHOLE, CUTT_COMBINE_WHOLE}};
  for (int i = 0; i < count; ++i) {
    const int m = order[i];
    const int64_t unit = m == along ? access : 1, units = (l->chunk[l->number[m]] + unit - 1) / unit;
    const bool few = i == 1 && lanes > 0 && units > lanes;
    const int64_t room = few ? lanes : CUTT_COMBINE_THREADS / (int64_t)walk->x;
    int64_t part = 1;
    if (!full) part = units <= room ? units : good_part(units, room);
    full = full || (units > room && !few);
    add_digit(walk, true, part, m, unit);
    add_digit(walk, false, (units + part - 1) / part, m, part * unit);
    if (part > 1 && part < units) walk->split[splits++] = (uint16_t)m;
    even = even && units % part == 0 && l->chunk[l->number[m]] % unit == 0;
    walk->x *= (uint32_t)part;
    walk->rows *= (uint32_t)((units + part - 1) / part);
  }
  walk->even = even;
}

/* A walk by windows: threads side by side have those of a run, and of as many runs as there are threads for. */
static void make_runs(const cutt_combine_layout *l, int k, cutt_combine_walk *walk) {
  const int64_t unit = CUTT_COMBINE_WINDOW / l->p->type->bytes;
  *walk = (cutt_combine_walk){.rows = 1,
                              .split = {CUTT_COMBINE_WHOLE, CUTT_COMBINE_WHOLE},
                              .even = true,
                              .window = CUTT_COMBINE_WINDOW - 1,
                              .inner = 1};
  int64_t run = 1, windows = 1;
  for (int i = 0; i < l->own_count[k]; ++i) {
    const int m = l->own[k][i];
    const int64_t chunk = l->chunk[l->number[m]];
    if (i < l->run_modes[k]) {
      if (i > 0) walk->inner = (uint32_t)run;
      run *= chunk;
    }
    if (i == l->run_modes[k] - 1) { /* as many as a run touches, wherever it begins */
      windows = (run + unit - 1 + unit - 1) / unit;
      add_digit(walk, true, windows, m, unit);
    }
    if (i < l->run_modes[k]) continue;
    add_digit(walk, false, chunk, m, 1);
    walk->rows *= (uint32_t)chunk;
  }
  walk->runs = (uint16_t)smaller(CUTT_COMBINE_THREADS / windows, (int64_t)walk->rows);
  walk->x = walk->runs * (uint32_t)windows;
}

/* ------------------------------------------------------------------------------------------------- shared memory */

/* Accesses that shared memory hands out at once. */
static uint32_t at_once(int64_t access) { return (uint32_t)(CUTT_COMBINE_LINE / larger(access, (int64_t)4)); }

/* The place of a digit, of those of positions first. */
static uint32_t digit_at(const cutt_combine_walk *walk, uint32_t i) {
  return i < walk->x_digits ? i : CUTT_COMBINE_DIGITS - 1 - (i - walk->x_digits);
}

/* How often a thread goes on. */
static int64_t passes_of(const cutt_combine_walk *walk) {
  return walk->window ? (walk->rows + walk->runs - 1) / walk->runs : walk->rows;
}

/* Wavefronts of a walk's first positions in what is turned, whose steps are these, by accesses of `access` bytes. most: beyond which there is
 * no need to know. */
static int64_t wavefronts(const cutt_combine_walk *walk, const uint32_t *step, int64_t bytes, int64_t access,
                          int64_t most) {
  const uint32_t together = at_once(access), digits = walk->x_digits + (walk->window ? walk->y_digits : 0u);
  const uint32_t shift = access <= 4 ? 2 : access == 8 ? 3 : 4, element = (uint32_t)bytes; /* of an access's bytes */
  uint32_t index[CUTT_COMBINE_DIGITS] = {0}, extent[CUTT_COMBINE_DIGITS], far[CUTT_COMBINE_DIGITS], at = 0;
  int64_t all = 0;
  for (uint32_t i = 0; i < digits; ++i) {
    const cutt_combine_digit *d = &walk->digit[digit_at(walk, i)];
    extent[i] = d->extent;
    far[i] = d->along * step[d->mode] * element;
  }
  for (uint32_t begin = 0; begin < walk->x && begin < ENOUGH_LANES && all < most; begin += together) {
    uint32_t word[32][32]; /* of each bank */
    uint8_t count[32] = {0};
    uint8_t conflicts = 0;
    for (uint32_t lane = begin; lane < begin + together && lane < walk->x; ++lane) {
      const uint32_t here = at >> shift, bank = here & (together - 1);
      bool again = false;
      for (uint8_t other = 0; other < count[bank] && !again; ++other) again = word[bank][other] == here;
      if (!again) {
        word[bank][count[bank]++] = here;
        if (count[bank] > conflicts) conflicts = count[bank];
      }
      for (uint32_t i = 0; i < digits; ++i) { /* the next position */
        at += far[i];
        if (++index[i] < extent[i]) break;
        at -= far[i] * extent[i];
        index[i] = 0;
      }
    }
    all += conflicts;
  }
  return all;
}

/* The steps of the modes in what is turned of an operand, in its own order, with so many elements left out behind each. Where it is loaded
 * by windows, steps have the same remainders as the operand's, and behind each run there is room for what else its last one has. Returns its
 * elements. */
static int64_t set_steps(cutt_combine_layout *l, int k, const int64_t *pad) {
  const int64_t unit = l->run_modes[k] ? CUTT_COMBINE_WINDOW / l->p->type->bytes : 1;
  int64_t elements = 1;
  memset(l->place[k], 0, sizeof l->place[k]);
  for (int i = 0; i < l->own_count[k]; ++i) {
    const int m = l->own[k][i];
    const int64_t more = (cutt_combine_stride(l, 1 + k, l->number[m]) - elements) % unit;
    elements += more < 0 ? more + unit : more;
    l->place[k][m] = (uint32_t)elements;
    elements = elements * l->chunk[l->number[m]] + pad[i] + (i == l->run_modes[k] - 1 ? unit - 1 : 0);
  }
  return elements + (unit - 1); /* a tile begins behind a multiple of a window */
}

/* Least wavefronts of the first walk and of the operand's own. */
static int64_t least_wavefronts(const cutt_combine_layout *l, int k) {
  int64_t least = 0;
  for (int w = 0; w < 2; ++w) {
    const cutt_combine_walk *walk = &l->args->walk[w ? 1 + k : 0];
    const int64_t together = at_once(w ? l->width[k] : l->p->type->bytes);
    least += (smaller((int64_t)walk->x, (int64_t)ENOUGH_LANES) + together - 1) / together * passes_of(walk);
  }
  return least;
}

/* What an operand's way through shared memory takes, in wavefronts; or more than `most`. */
static int64_t cost_of(const cutt_combine_layout *l, int k, int64_t most) {
  const cutt_combine_walk *read = &l->args->walk[0], *write = &l->args->walk[1 + k];
  const int64_t bytes = l->p->type->bytes, reads = passes_of(read), writes = passes_of(write);
  const int64_t cost = wavefronts(read, l->place[k], bytes, bytes, most / reads + 1) * reads;
  if (cost > most) return cost;
  return cost + wavefronts(write, l->place[k], bytes, l->width[k], (most - cost) / writes + 1) * writes;
}

/* The steps with as many elements left out as let threads side by side meet few banks twice. */
static void place(cutt_combine_layout *l, int k) {
  /* Where 16 bytes of D are next to each other in shared memory, too, they are one access there. */
  const bool beside = l->own_count[k] && l->own[k][0] == 0;
  const int64_t ideal = least_wavefronts(l, k),
                unit = larger(l->width[k] / l->p->type->bytes, beside ? l->vector : INT64_C(1));
  int64_t pad[CUTT_COMBINE_TILE_MODES] = {0}, least = INT64_MAX / 2;
  for (int m = larger(l->run_modes[k] - 1, 0); m < l->own_count[k] && least > ideal; ++m) {
    int64_t best = 0;
    for (int64_t tried = 0; tried <= MOST_PAD && least > ideal; ++tried) {
      pad[m] = tried * unit;
      set_steps(l, k, pad);
      const int64_t cost = cost_of(l, k, least);
      if (cost < least) {
        least = cost;
        best = pad[m];
      }
    }
    pad[m] = best;
  }
  l->elements[k] = set_steps(l, k, pad);
}

/* Sets what is where in shared memory. Returns its bytes. */
static int64_t lay_out_shared(cutt_combine_layout *l) {
  cutt_combine_args *args = l->args;
  const int64_t word = CUTT_COMBINE_WORD_BYTES;
  int64_t at = (CUTT_COMBINE_FIRST_TABLE + 15) / 16 * 16;
  args->walk[0].table_at = (uint32_t)at;
  at += (int64_t)args->walk[0].rows * CUTT_COMBINE_TABLES * word;
  for (int k = 0; k < OPERANDS; ++k) {
    if (!l->turned[k]) continue;
    at = (at + 7) / 8 * 8;
    args->walk[1 + k].table_at = (uint32_t)at;
    at += args->walk[1 + k].rows *
          (l->run_modes[k] ? CUTT_COMBINE_WINDOW_TABLES * word + 1 : CUTT_COMBINE_TURN_TABLES * word);
  }
  at = (at + 15) / 16 * 16;
  for (int k = 0; k < OPERANDS; ++k) {
    if (!l->turned[k]) continue;
    args->turned_at[k] = (uint32_t)at;
    at += (l->elements[k] * l->p->type->bytes + 15) / 16 * 16;
  }
  return at;
}

/* What a tensor spans, and what windows of a tile may touch. */
static cutt_combine_span span_of(const cutt_combine_layout *l, int t) {
  const int64_t bytes = l->p->type->bytes;
  cutt_combine_span span = {.high = bytes, .reach = {bytes - CUTT_COMBINE_WINDOW, CUTT_COMBINE_WINDOW}};
  for (int i = 0; i < l->modes; ++i) {
    const int64_t step = cutt_combine_stride(l, t, i) * bytes;
    *(step < 0 ? &span.low : &span.high) += (l->mode[i].extent - 1) * step;
    span.reach[step < 0 ? 0 : 1] += (l->chunk[i] - 1) * step;
  }
  return span;
}

/* From digit to digit, in the tensors and in shared memory. */
static void list_steps(const cutt_combine_layout *l) {
  cutt_combine_args *args = l->args;
  const int32_t bytes = l->p->type->bytes;
  for (int w = 0; w < TENSORS; ++w) {
    const cutt_combine_walk *walk = &args->walk[w];
    if (w > 0 && !l->turned[w - 1]) continue;
    for (uint32_t i = 0; i < walk->x_digits + walk->y_digits; ++i) {
      const uint32_t at = digit_at(walk, i);
      const cutt_combine_digit *digit = &walk->digit[at];
      for (int t = 0; t < TENSORS; ++t) {
        if (t > 0 && !cutt_combine_reads(l, t - 1)) continue;
        const int32_t far = (int32_t)(cutt_combine_stride(l, t, l->number[digit->mode]) * digit->along);
        const int32_t turned = t > 0 ? (int32_t)l->place[t - 1][digit->mode] * digit->along * bytes : 0;
        if (w == 0) args->first_step[at][t] = t > 0 && l->turned[t - 1] ? turned : far;
        if (w > 0 && w == t) args->own_step[w - 1][at][0] = far, args->own_step[w - 1][at][1] = turned;
      }
    }
  }
  for (int k = 0; k < OPERANDS; ++k) {
    if (l->turned[k] && args->tile_modes) args->beside[k] = l->place[k][0] * (uint32_t)bytes;
    if (l->run_modes[k]) args->span[k] = span_of(l, 1 + k);
  }
}

/* ------------------------------------------------------------------------------------------------------ the launch */

/* Numbers the modes, and counts the tiles; false: they are too many. */
static bool list_modes(cutt_combine_layout *l, int64_t *tiles) {
  cutt_combine_args *args = l->args;
  *tiles = 1;
  for (int in_tile = 1; in_tile >= 0; --in_tile) {
    for (int i = 0; i < l->modes; ++i) {
      if ((l->chunk[i] > 1) != (in_tile == 1)) continue;
      const int64_t extent = l->mode[i].extent, chunks = (extent + l->chunk[i] - 1) / l->chunk[i];
      if (chunks > INT32_MAX / *tiles) return false;
      *tiles *= chunks;
      cutt_combine_mode *mode = &args->mode[args->modes];
      *mode = (cutt_combine_mode){.chunks = cutt_divide_by(chunks)};
      for (int t = 0; t < TENSORS; ++t)
        mode->step[t] = t == 0 || cutt_combine_reads(l, t - 1) ? cutt_combine_stride(l, t, i) * l->chunk[i] : 0;
      if (in_tile) {
        args->chunk[args->tile_modes] = (uint32_t)l->chunk[i];
        args->last[args->tile_modes++] = (uint32_t)(extent - (chunks - 1) * l->chunk[i]);
      }
      l->number[args->modes++] = i;
    }
  }
  return true;
}

/* Modes of a tile that are one run of the operand: those that it has whole, and one more. */
static int run_modes(const cutt_combine_layout *l, int k) {
  int count = 1;
  for (; count < l->own_count[k]; ++count) {
    const int m = l->number[l->own[k][count - 1]], next = l->number[l->own[k][count]];
    const int64_t extent = l->mode[m].extent;
    if (l->chunk[m] < extent || cutt_combine_stride(l, 1 + k, next) != cutt_combine_stride(l, 1 + k, m) * extent) break;
  }
  return count;
}

/* Sets how many modes a run has that is loaded by windows; 0: the operand is not. If runs allow accesses of as many bytes, these are simpler;
 * and of short ones too much shared memory would hold what is beside them. */
static void choose_windows(cutt_combine_layout *l, int k) {
  const int64_t unit = CUTT_COMBINE_WINDOW / l->p->type->bytes;
  l->run_modes[k] = 0;
  if (unit == 1 || !l->own_count[k] || width_of(l, k) == CUTT_COMBINE_WIDE) return;
  if (cutt_combine_stride(l, 1 + k, l->number[l->own[k][0]]) != 1) return;
  const int count = run_modes(l, k);
  int64_t run = 1;
  for (int i = 0; i < count; ++i) run *= l->chunk[l->number[l->own[k][i]]];
  if (run >= LEAST_RUN * (unit - 1) && run <= (CUTT_COMBINE_THREADS - 2) * unit) l->run_modes[k] = count;
}

/* An operand's own walk, and its steps in shared memory without anything left out. */
static void list_own_walk(cutt_combine_layout *l, int k) {
  static const int64_t none[CUTT_COMBINE_TILE_MODES];
  cutt_combine_walk *walk = &l->args->walk[1 + k];
  l->own_count[k] = cutt_combine_tile_order(l, 1 + k, l->own[k]);
  choose_windows(l, k);
  l->width[k] = l->run_modes[k] ? CUTT_COMBINE_WINDOW : width_of(l, k);
  if (l->run_modes[k])
    make_runs(l, k, walk);
  else
    make_walk(l, l->own[k], l->own_count[k], l->own_count[k] ? l->own[k][0] : 0, l->width[k] / l->p->type->bytes, 0,
              walk);
  walk->width = (uint16_t)l->width[k];
  l->elements[k] = set_steps(l, k, none);
}

/* Where threads have 16 bytes of D, only as many are side by side there as a line has, and then they go along a mode in which an operand
 * has its elements next to each other: so they meet fewer banks twice. */
static void list_walks(cutt_combine_layout *l) {
  int order[CUTT_COMBINE_TILE_MODES], next = -1;
  for (int k = 0; k < OPERANDS; ++k) {
    if (!l->turned[k]) continue;
    list_own_walk(l, k);
    if (next < 0 && l->own_count[k] && l->own[k][0] != 0) next = l->own[k][0];
  }
  const int count = cutt_combine_tile_order(l, 0, order);
  for (int i = count - 1; i > 2 && l->vector > 1; --i)
    if (order[i] == next) order[i] = order[i - 1], order[i - 1] = next;
  make_walk(l, order, count, 0, l->vector, l->vector > 1 ? CUTT_COMBINE_LINE / CUTT_COMBINE_WIDE : 0,
            &l->args->walk[0]);
  l->args->walk[0].width = (uint16_t)(l->vector * l->p->type->bytes);
}

/* The kernel's number in the list of all: narrow ones, wide ones, and those that number D's elements. */
typedef enum kernel_form { NARROW, WIDE, LINE } kernel_form;
static int kernel_of(const cutt_type_info *type, kernel_form form) {
  enum { TYPES = 8, WIDE_TYPES = 4 };
  static const cuttType_t order[TYPES] = {CUTT_F16, CUTT_BF16, CUTT_F32, CUTT_F64,
                                          CUTT_C32, CUTT_C64,  CUTT_I32, CUTT_I64};
  int at = 0;
  while (order[at] != type->type) ++at;
  if (form == LINE) return TYPES + WIDE_TYPES + at;
  return form == NARROW ? at : TYPES + (type->type == CUTT_I32 ? WIDE_TYPES - 1 : at);
}

/* Do aligned addresses gain something: accesses of more bytes, which are no windows? */
static bool gains(const cutt_combine_layout *l) {
  bool any = !l->aligned || l->vector > 1;
  for (int k = 0; k < OPERANDS; ++k) any = any || (l->turned[k] && !l->run_modes[k] && l->width[k] > l->p->type->bytes);
  return any;
}

/* With so many bytes at most of what is turned; most: of shared memory, beyond which it is not done properly. False: there are too many
 * tiles, or aligned addresses gain nothing. */
static bool lay_out(cutt_combine_layout *l, int64_t multiprocessors, int64_t bytes, int64_t most,
                    cutt_combine_launch *launch) {
  cutt_combine_args *args = l->args = &launch->args;
  int64_t tiles;
  uint32_t threads = 1;
  memset(launch, 0, sizeof *launch);
  for (int k = 0; k < OPERANDS; ++k) {
    args->use[k] = (uint32_t)(l->turned[k] ? CUTT_COMBINE_TURNED : CUTT_COMBINE_ZERO);
  }
  cutt_combine_cut(l, multiprocessors, bytes);
  if (!list_modes(l, &tiles)) return false;
  list_walks(l);
  int64_t shared = lay_out_shared(l);
  if (shared <= most) {
    if (!gains(l)) return false;
    for (int k = 0; k < OPERANDS; ++k)
      if (l->turned[k]) place(l, k);
    shared = lay_out_shared(l);
  }
  launch->kernel = kernel_of(l->p->type, NARROW);
  args->tiles = (uint32_t)tiles;
  args->step = (uint32_t)smaller(tiles, larger(multiprocessors, (int64_t)1) * BLOCKS_IN_TURNS);
  launch->grid.blocks = args->step;
  args->even = true;
  for (int t = 0; t < TENSORS; ++t) {
    threads = larger(threads, args->walk[t].x);
    if (t == 0 || l->turned[t - 1]) args->even = args->even && args->walk[t].even;
  }
  launch->grid.threads = (threads + 31) / 32 * 32;
  launch->grid.shared_bytes = (uint32_t)shared;
  list_steps(l);
  return true;
}

bool cutt_device_elementwise_lay_out(const plan_t *p, const cutt_combine_device *device, bool aligned,
                                     cutt_combine_launch *launch) {
  cutt_combine_layout l;
  if (!cutt_combine_begin(p, aligned, &l)) return false;
  if (!l.turns) return cutt_combine_line(&l, kernel_of(p->type, l.unit > 1 ? WIDE : LINE), launch);
  /* As much as lets three blocks be on a multiprocessor. */
  const int64_t most = larger(smaller(device->block_shared, device->sm_shared / 3 - RESERVED), (int64_t)LEAST_SHARED);
  for (int64_t bytes = most - LEAST_TILE; bytes >= LEAST_TILE; bytes -= LEAST_TILE) {
    if (!lay_out(&l, device->multiprocessors, bytes, most, launch)) return false;
    if (launch->grid.shared_bytes <= most) break;
  }
  return gains(&l);
}
