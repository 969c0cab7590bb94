/* Addresses as distances of 32 bits (pairs.h).
 *
 * A side's distances are from its lowest address, in steps of the largest power of two that divides all of them: blocks of memory
 * that is allocated by itself lie at multiples of 256 bytes, and 32 bits of those are a TiB. What does not fit is cut in two. */
#include "gpu/pairs.h"

#include <stddef.h>

#include "gpu/access.h"

enum { MOST_LOG2 = 20 }; /* of a step: any distance that needs more is too large for a device */

/* What there is to know of a side's addresses. */
typedef struct side {
  uintptr_t lowest, highest;
  uintptr_t apart; /* what they differ from the first by, or-ed */
} side;

/* An array of pointers, to const or not. */
typedef const void *const *addresses;

static side look_at(int64_t count, addresses at) {
  const uintptr_t first = (uintptr_t)at[0];
  side s = {first, first, 0};
  for (int64_t i = 1; i < count; ++i) {
    const uintptr_t a = (uintptr_t)at[i];
    s.lowest = a < s.lowest ? a : s.lowest;
    s.highest = a > s.highest ? a : s.highest;
    s.apart |= a ^ first; /* a power of two divides the difference exactly if it divides this */
  }
  return s;
}

static uint32_t step_log2(const side *s) {
  return (uint32_t)__builtin_ctzll((unsigned long long)s->apart | 1ull << MOST_LOG2);
}

static bool reaches(const side *s) { return (s->highest - s->lowest) >> step_log2(s) <= UINT32_MAX; }

static uint32_t alignment(const side *s, int64_t low) {
  return (uint32_t)cutt_gpu_power((s->lowest + (uint64_t)low) | s->apart | CUTT_GPU_ALIGNED);
}

void cutt_gpu_list_pairs(int64_t count, int64_t most, const void *const *in, void *const *out, int64_t in_low,
                         int64_t out_low, cutt_gpu_batch *batch, cutt_pairs *pairs) {
  const addresses from = in, to = (addresses)out;
  int64_t taken = count < most ? count : most;
  side i = look_at(taken, from), o = look_at(taken, to);
  while (!reaches(&i) || !reaches(&o)) { /* one pair always does */
    taken /= 2;
    i = look_at(taken, from);
    o = look_at(taken, to);
  }
  const uint32_t in_log2 = step_log2(&i), out_log2 = step_log2(&o);
  pairs->in_log2 = in_log2;
  pairs->out_log2 = out_log2;
  for (int64_t n = 0; n < taken; ++n) {
    pairs->at[n].in = (uint32_t)(((uintptr_t)from[n] - i.lowest) >> in_log2);
    pairs->at[n].out = (uint32_t)(((uintptr_t)to[n] - o.lowest) >> out_log2);
  }
  *batch = (cutt_gpu_batch){(uint32_t)taken, alignment(&i, in_low), alignment(&o, out_low), i.lowest, o.lowest};
}
