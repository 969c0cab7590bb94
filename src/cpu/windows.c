/* The windows of a gather: for each vector of the output, the ranges of 128 bytes of the input that its elements come
 * from. Greedy: the lowest element without a window begins one, which takes all elements within its 128 bytes. No
 * choice has fewer windows. */
#include "cpu/windows.h"

#include <string.h>

#include "base/number.h"

double cutt_cpu_windows_estimate(const cutt_canonical *c, const cutt_cpu_tile *t) {
  const double vector = (double)CUTT_CPU_LINE / c->elem_bytes;
  double have = 1.0, span = c->elem_bytes, windows = 1.0;
  for (int i = 0; i < c->rank && have < vector; ++i) {
    const int mode = c->out_order[i];
    if (t->role[mode] != CUTT_CPU_ROW) continue;
    const int64_t stride = c->mode[mode].in_stride;
    const double take = smaller(vector / have, (double)t->extent[mode]);
    const double reach = (take - 1.0) * (double)(stride < 0 ? -stride : stride) * c->elem_bytes + span;
    if (reach <= CUTT_CPU_WINDOW_BYTES) {
      span = reach;
    } else {
      windows *= smaller(reach / CUTT_CPU_WINDOW_BYTES, take);
    }
    have *= (double)t->extent[mode];
  }
  return windows;
}

static int64_t vectors_of(int64_t rows, int64_t w) {
  const int64_t per = CUTT_CPU_LINE / w;
  return (rows + per - 1) / per;
}

size_t cutt_cpu_windows_bytes(int64_t rows, int64_t w) {
  const int64_t per = CUTT_CPU_LINE / w;
  return (size_t)rows * (sizeof(int64_t) + sizeof(uint32_t) + (size_t)per) +
         (size_t)(vectors_of(rows, w) + 1) * sizeof(int32_t) + 16;
}

void cutt_cpu_windows_find(const int64_t *row, int64_t rows, int64_t w, void *memory, cutt_cpu_windows *windows) {
  const int64_t per = CUTT_CPU_LINE / w, vectors = vectors_of(rows, w);
  int64_t *offset = memory;
  uint32_t *mask = (uint32_t *)(offset + rows);
  int32_t *first = (int32_t *)(mask + rows);
  uint8_t *index = (uint8_t *)(first + vectors + 1);
  int32_t n = 0;
  windows->low = windows->high = row[0];
  for (int64_t v = 0; v < vectors; ++v) {
    const int64_t *at = row + v * per;
    const int64_t count = smaller(rows - v * per, per);
    uint32_t left = count == 32 ? UINT32_MAX : (1u << count) - 1u;
    first[v] = n;
    while (left) {
      int64_t low = INT64_MAX;
      for (uint32_t rest = left; rest; rest &= rest - 1) {
        const int64_t candidate = at[__builtin_ctz(rest)];
        if (candidate < low) low = candidate;
      }
      uint32_t taken = 0;
      uint8_t *places = index + n * per;
      memset(places, 0, (size_t)per);
      for (uint32_t rest = left; rest; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        if (at[i] - low > CUTT_CPU_WINDOW_BYTES - w) continue;
        places[i] = (uint8_t)((at[i] - low) / w);
        taken |= 1u << i;
      }
      offset[n] = low;
      mask[n] = taken;
      ++n;
      left &= ~taken;
      if (low < windows->low) windows->low = low;
      if (low > windows->high) windows->high = low;
    }
  }
  first[vectors] = n;
  windows->offset = offset;
  windows->mask = mask;
  windows->first = first;
  windows->index = index;
}
