/* The tiles of an elementwise operation on a GPU (device_elementwise_tile.h). */
#include "contract/device_elementwise_tile.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

enum {
  OPERANDS = CUTT_COMBINE_OPERANDS,
  TENSORS = CUTT_COMBINE_TENSORS,
  LANES = 32,            /* threads that are looked at to see how an operand's elements lie */
  SECTOR = 32,           /* bytes: the least that memory moves */
  WIDE_ELEMENT = 4,      /* bytes, the most where 16 bytes at a time are faster than elements one by one */
  LONG_RUN = 256,        /* bytes of a tensor's next to each other in a tile that are enough */
  TILE_ELEMENTS = 16384, /* most, where an operand is turned */
  BLOCKS_OF_AN_SM = 6    /* from which on there are enough */
};

typedef struct cuttElementwiseStruct plan_t;

/* ------------------------------------------------------------------------------------------------- what is turned */

int cutt_combine_order(const cutt_combine_layout *l, int t, int *order) {
  int count = 0;
  for (int i = 0; i < l->modes; ++i) {
    const int64_t step = llabs(cutt_combine_stride(l, t, i));
    if (!step) continue;
    int at = count++;
    for (; at > 0 && llabs(cutt_combine_stride(l, t, order[at - 1])) > step; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return count;
}

static int by_value(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Bytes that memory moves for the tensor, for each of threads side by side that go over the modes in this order. */
static double waste_of(const cutt_combine_layout *l, int t, const int *order, int count) {
  int64_t at[LANES], lanes = 0, sectors = 1;
  for (; lanes < LANES; ++lanes) {
    int64_t rest = lanes;
    at[lanes] = 0;
    for (int i = 0; i < count; ++i) {
      at[lanes] += rest % l->mode[order[i]].extent * cutt_combine_stride(l, t, order[i]);
      rest /= l->mode[order[i]].extent;
    }
    if (rest) break;
  }
  qsort(at, (size_t)lanes, sizeof *at, by_value);
  const int64_t bytes = l->p->type->bytes, each = larger(SECTOR / bytes, (int64_t)1);
  for (int64_t i = 1; i < lanes; ++i) sectors += (at[i] - at[0]) / each != (at[i - 1] - at[0]) / each;
  return (double)(sectors * each) / (double)lanes;
}

static bool is_turned(const cutt_combine_layout *l, int t) {
  int own[CUTT_COMBINE_MODES], result[CUTT_COMBINE_MODES];
  const int count = cutt_combine_order(l, t, own);
  for (int i = 0; i < l->modes; ++i) result[i] = i;
  return count > 0 && waste_of(l, t, own, count) * 1.5 < waste_of(l, t, result, l->modes);
}

int cutt_combine_tile_order(const cutt_combine_layout *l, int t, int *order) {
  int by_plan[CUTT_COMBINE_MODES], count = 0;
  const int all = cutt_combine_order(l, t, by_plan);
  for (int i = 0; i < all; ++i)
    for (int m = 0; m < (int)l->args->tile_modes; ++m)
      if (l->number[m] == by_plan[i]) order[count++] = m;
  return count;
}

/* ----------------------------------------------------------------------------------------------------------- tiles */

static int64_t volume(const cutt_combine_layout *l) {
  int64_t elements = 1;
  for (int i = 0; i < l->modes; ++i) elements *= l->chunk[i];
  return elements;
}

static int tile_modes(const cutt_combine_layout *l) {
  int count = 0;
  for (int i = 0; i < l->modes; ++i) count += l->chunk[i] > 1;
  return count;
}

/* Most of a mode that a tile may have, so that a row's offset fits the kernels' tables. */
static int64_t most_of(const cutt_combine_layout *l, int mode) {
  int64_t step = 1;
  for (int t = 0; t < TENSORS; ++t)
    if (t == 0 || cutt_combine_reads(l, t - 1)) step = larger(step, (int64_t)llabs(cutt_combine_stride(l, t, mode)));
  return larger(CUTT_COMBINE_REACH / CUTT_COMBINE_TILE_MODES / step, (int64_t)1);
}

/* Makes tiles so long that the tensor has so many elements next to each other in them, if it has, of at most so many in all. False: there is no
 * more room. */
static bool extend(cutt_combine_layout *l, int t, int64_t wanted, int64_t most) {
  int order[CUTT_COMBINE_MODES];
  const int count = cutt_combine_order(l, t, order);
  int64_t run = 1;
  for (int i = 0; i < count && run < wanted; ++i) {
    const int m = order[i];
    const int64_t room = most / (volume(l) / l->chunk[m]), extent = smaller(l->mode[m].extent, most_of(l, m));
    const int64_t chunk = smaller(smaller((wanted + run - 1) / run, extent), room);
    if (l->chunk[m] == 1 && tile_modes(l) == CUTT_COMBINE_TILE_MODES) return false;
    if (chunk > l->chunk[m]) l->chunk[m] = chunk;
    if (chunk == room && room < extent) return false;
    if (l->chunk[m] < extent) return true;
    if (extent == l->mode[m].extent) run *= extent;
  }
  return true; /* also where a tile has all of the tensor, which has no more */
}

/* Modes of which a tile has more than half are there whole, if there is room for them. Else few chunks are made of nearly the same extent,
 * and all of whole sectors; many of D's first mode of whole lines. */
static void even_out(cutt_combine_layout *l, int64_t most) {
  enum { MANY = 8 };
  const int first = l->vector > 1 ? 1 : 0;
  for (int i = 0; i < l->modes; ++i) {
    const int64_t extent = l->mode[i].extent, chunks = (extent + l->chunk[i] - 1) / l->chunk[i];
    const int64_t bytes = l->p->type->bytes * (i == first ? l->vector : 1),
                  line = larger(CUTT_COMBINE_LINE / bytes, (int64_t)1);
    const int64_t whole = larger(SECTOR / bytes, (int64_t)1), even = (extent + chunks - 1) / chunks,
                  rounded = (even + whole - 1) / whole * whole;
    if (chunks == 1) continue;
    if (chunks == 2 && volume(l) / l->chunk[i] * extent <= most && extent <= most_of(l, i))
      l->chunk[i] = extent;
    else if (chunks <= MANY && rounded <= l->chunk[i])
      l->chunk[i] = rounded;
    else if (i == first && l->chunk[i] > line)
      l->chunk[i] = l->chunk[i] / line * line;
    else if (l->chunk[i] > whole)
      l->chunk[i] = l->chunk[i] / whole * whole;
  }
}

/* The same of D and of all that is turned, by bytes. */
static bool extend_all(cutt_combine_layout *l, int64_t run, int64_t most) {
  bool room = true;
  for (int t = 0; t < TENSORS && room; ++t)
    if (t == 0 || l->turned[t - 1]) room = extend(l, t, larger(run / l->p->type->bytes, (int64_t)1), most);
  return room;
}

void cutt_combine_cut(cutt_combine_layout *l, int64_t multiprocessors, int64_t bytes) {
  const plan_t *p = l->p;
  int64_t all = 1, turned = 0;
  for (int i = 0; i < l->modes; ++i) {
    l->chunk[i] = i ? 1 : smaller(l->vector, l->mode[i].extent);
    all = all > INT64_MAX / l->mode[i].extent ? INT64_MAX : all * l->mode[i].extent;
  }
  for (int k = 0; k < OPERANDS; ++k) turned += l->turned[k];
  const int64_t enough = all / (larger(multiprocessors, (int64_t)1) * BLOCKS_OF_AN_SM);
  const int64_t largest = smaller((int64_t)TILE_ELEMENTS, bytes / (turned * p->type->bytes));
  const int64_t most = larger(smaller(largest, enough), smaller(largest, (int64_t)1024));
  /* Sectors for all, and pairs of them; then what a warp writes of D at once; then more of all. */
  bool room = extend_all(l, SECTOR, most) && extend_all(l, 2 * SECTOR, most) &&
              extend(l, 0, CUTT_COMBINE_LINE / p->type->bytes, most);
  for (int64_t run = CUTT_COMBINE_LINE; run <= LONG_RUN && room; run *= 2) room = extend_all(l, run, most);
  if (room) extend(l, 0, INT64_MAX / 2, most);
  even_out(l, most);
}

bool cutt_combine_allows(const cutt_combine_layout *l, int t, int mode, int64_t unit) {
  bool fits = cutt_combine_stride(l, t, mode) == 1 && l->mode[mode].extent % unit == 0;
  for (int i = 0; i < l->modes && fits; ++i) fits = i == mode || cutt_combine_stride(l, t, i) % unit == 0;
  return fits;
}

/* ---------------------------------------------------------------------------------------------------- the beginning */

/* Can all be accessed by 16 bytes, if addresses are multiples of that? */
static bool allows_wide(const cutt_combine_layout *l) {
  const int64_t bytes = l->p->type->bytes;
  if (bytes >= CUTT_COMBINE_WIDE || l->modes == 0) return false;
  for (int t = 0; t < TENSORS; ++t) {
    if (t > 0 && (!cutt_combine_reads(l, t - 1) || cutt_combine_stride(l, t, 0) == 0)) continue;
    if (cutt_combine_stride(l, t, 0) != 1) return false;
    for (int i = 1; i < l->modes; ++i)
      if (cutt_combine_stride(l, t, i) * bytes % CUTT_COMBINE_WIDE) return false;
  }
  return true;
}

/* Makes 16 bytes of D a mode by themselves, which a thread computes at once, if D's runs allow it, and nothing is but turned operands. */
static void split_vector(cutt_combine_layout *l) {
  const plan_t *p = l->p;
  const int64_t unit = CUTT_COMBINE_WIDE / p->type->bytes;
  if (!l->aligned || unit == 1 || l->modes == 0 || l->modes == CUTT_COMBINE_MODES ||
      !cutt_combine_allows(l, 0, 0, unit))
    return;
  for (int k = 0; k < p->operands; ++k) {
    /* What lies in D's order is read so, too. */
    if (!l->turned[k] || p->scaled[k] || p->conjugate[k]) return;
    if (cutt_combine_stride(l, 1 + k, 0) == 1 && !cutt_combine_allows(l, 1 + k, 0, unit)) return;
  }
  memmove(&l->mode[1], &l->mode[0], (size_t)l->modes++ * sizeof l->mode[0]);
  l->mode[0].extent = unit;
  l->mode[1].extent /= unit;
  for (int t = 0; t < TENSORS; ++t) l->mode[1].stride[t] *= unit;
  l->vector = unit;
}

bool cutt_combine_begin(const plan_t *p, bool aligned, cutt_combine_layout *l) {
  if (p->modes > CUTT_COMBINE_MODES) return false;
  *l = (cutt_combine_layout){.p = p, .unit = 1, .vector = 1, .aligned = aligned, .modes = p->modes};
  for (int i = 0; i < p->modes; ++i) {
    l->mode[i].extent = p->mode[i].extent;
    for (int t = 0; t < TENSORS; ++t)
      l->mode[i].stride[t] = p->mode[i].stride[t ? cutt_elementwise_tensor(t - 1) : CUTT_RESULT];
  }
  for (int k = 0; k < OPERANDS; ++k) l->turns = l->turns || (cutt_combine_reads(l, k) && is_turned(l, 1 + k));
  for (int k = 0; k < OPERANDS; ++k) l->turned[k] = l->turns && cutt_combine_reads(l, k);
  if (aligned && l->turns) split_vector(l);
  if (aligned && !l->turns) {
    if (!allows_wide(l)) return false;
    if (p->type->bytes <= WIDE_ELEMENT) l->unit = CUTT_COMBINE_WIDE / p->type->bytes;
  }
  return true;
}
