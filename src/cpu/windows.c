/* The windows of a gather: for each vector of the output, the ranges of the input that its elements come from. Greedy:
 * the lowest element without a window begins one, which takes all elements within its bytes. No choice has fewer
 * windows. */
#include "cpu/windows.h"

#include <string.h>

#include "base/number.h"

/* A window in one register, and in two. */
static int narrow_bytes(int vector_bytes) { return cutt_cpu_window_vector(vector_bytes); }
static int wide_bytes(int vector_bytes) { return vector_bytes >= 64 ? 128 : cutt_cpu_window_vector(vector_bytes); }

double cutt_cpu_windows_estimate(const cutt_canonical *c, const cutt_cpu_tile *t, int vector_bytes) {
  const double vector = (double)cutt_cpu_window_vector(vector_bytes) / c->elem_bytes, bytes = wide_bytes(vector_bytes);
  double have = 1.0, span = c->elem_bytes, windows = 1.0;
  for (int i = 0; i < c->rank && have < vector; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_ROW) continue;
    const int64_t stride = c->mode[mode].in_stride;
    const double take = smaller(vector / have, (double)t->extent[mode]);
    const double reach = (take - 1.0) * (double)magnitude(stride) * c->elem_bytes + span;
    if (reach <= bytes) {
      span = reach;
    } else {
      windows *= smaller(reach / bytes, take);
    }
    have *= (double)t->extent[mode];
  }
  return windows;
}

static int64_t vectors_of(int64_t rows, int64_t w, int vector_bytes) {
  const int64_t per = cutt_cpu_window_vector(vector_bytes) / w;
  return (rows + per - 1) / per;
}

/* Indices of a window: of elements, or of bytes. */
static int64_t indices_of(int64_t w, int vector_bytes) { return vector_bytes >= 64 ? 64 / w : 16; }

/* The most windows of a vector that there are kernels for if all vectors have so many. */
enum { MOST_EACH = 4 };

size_t cutt_cpu_windows_bytes(int64_t rows, int64_t w, int vector_bytes) {
  return (size_t)(rows + MOST_EACH) *
             (sizeof(int64_t) + sizeof(uint64_t) + sizeof(uint8_t) + (size_t)indices_of(w, vector_bytes)) +
         (size_t)(vectors_of(rows, w, vector_bytes) + 1) * sizeof(int32_t) + CUTT_CPU_LINE;
}

/* The windows of some elements, `bytes` long at most, from number n on; returns their number. */
typedef struct finder {
  int64_t *offset;
  uint64_t *mask;
  uint8_t *span, *index;
  int64_t w, indices;
  bool by_byte;
} finder;

static int32_t find(const finder *f, const int64_t *at, int64_t count, int64_t bytes, int32_t n) {
  const int32_t first = n;
  for (uint64_t left = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; left; ++n) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint64_t rest = left; rest; rest &= rest - 1) low = smaller(low, at[__builtin_ctzll(rest)]);
    uint64_t taken = 0;
    uint8_t *index = f->index + n * f->indices;
    memset(index, f->by_byte ? 128 : 0, (size_t)f->indices);
    for (uint64_t rest = left; rest; rest &= rest - 1) {
      const int i = __builtin_ctzll(rest);
      const int64_t place = at[i] - low;
      if (place > bytes - f->w) continue;
      if (f->by_byte) {
        for (int b = 0; b < f->w; ++b) index[i * f->w + b] = (uint8_t)(place + b);
      } else {
        index[i] = (uint8_t)(place / f->w);
      }
      high = larger(high, place + f->w);
      taken |= UINT64_C(1) << i;
    }
    f->offset[n] = low;
    f->mask[n] = taken;
    f->span[n] = (uint8_t)high;
    left &= ~taken;
  }
  return n - first;
}

/* How many vectors are the first one again, the same distance further on each time; 0 if not most of them are. */
static void find_even(cutt_cpu_windows *windows, const finder *f, int64_t vectors) {
  const int each = windows->each;
  windows->even = windows->step = 0;
  if (each == 0 || vectors < 2) return;
  windows->step = f->offset[each] - f->offset[0];
  int64_t v = 1;
  for (bool same = true; same && v < vectors; v += same) {
    for (int64_t i = 0; i < each && same; ++i) {
      const int64_t at = v * each + i;
      same = f->offset[at] - f->offset[i] == v * windows->step && f->mask[at] == f->mask[i] &&
             memcmp(f->index + at * f->indices, f->index + i * f->indices, (size_t)f->indices) == 0;
    }
  }
  if (2 * v >= vectors) windows->even = v;
}

void cutt_cpu_windows_find(const int64_t *row, int64_t rows, int64_t w, int vector_bytes, void *memory,
                           cutt_cpu_windows *windows) {
  const int64_t per = cutt_cpu_window_vector(vector_bytes) / w, vectors = vectors_of(rows, w, vector_bytes);
  finder f = {.offset = memory, .w = w, .indices = indices_of(w, vector_bytes), .by_byte = vector_bytes < 64};
  const int64_t most = rows + MOST_EACH;
  f.mask = (uint64_t *)(f.offset + most);
  int32_t *first = (int32_t *)(f.mask + most);
  f.index = (uint8_t *)(first + vectors + 1);
  f.index += -(uintptr_t)f.index % CUTT_CPU_LINE; /* loads of a line of indices */
  f.span = f.index + most * f.indices;
  /* A narrow window takes half the work of a wide one. What is best for the first vector is taken for all. */
  const int64_t some = smaller(rows, per);
  const int32_t narrow = find(&f, row, some, narrow_bytes(vector_bytes), 0);
  windows->narrow = narrow <= find(&f, row, some, wide_bytes(vector_bytes), 0);
  const int64_t bytes = windows->narrow ? narrow_bytes(vector_bytes) : wide_bytes(vector_bytes);
  int32_t n = 0, each = 0;
  bool equal = true;
  for (int64_t v = 0; v < vectors; ++v) {
    first[v] = n;
    n += find(&f, row + v * per, smaller(rows - v * per, per), bytes, n);
    if (v == 0) each = n;
    if (n - first[v] != each && (v < vectors - 1 || n - first[v] > each)) equal = false;
  }
  equal = equal && each <= MOST_EACH;
  for (; equal && n < first[vectors - 1] + each; ++n) { /* the last vector may be short: windows without elements */
    f.offset[n] = f.offset[n - 1];
    f.mask[n] = 0;
    f.span[n] = 0;
    memset(f.index + n * f.indices, f.by_byte ? 128 : 0, (size_t)f.indices);
  }
  windows->each = equal ? each : 0;
  find_even(windows, &f, vectors);
  first[vectors] = n;
  windows->low = windows->high = f.offset[0];
  for (int32_t i = 0; i < n; ++i) {
    windows->low = smaller(windows->low, f.offset[i]);
    windows->high = larger(windows->high, f.offset[i] + bytes);
  }
  windows->offset = f.offset;
  windows->mask = f.mask;
  windows->span = f.span;
  windows->first = first;
  windows->index = f.index;
}
