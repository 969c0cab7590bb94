/* Parts of a mode, and what two of them have in common (part.h).
 *
 * A near-even part is one stretch, a cyclic one blocks at a constant distance. A stretch has a cut block at either end and whole
 * ones between: three sets at most. Two cyclic parts repeat together after the least common multiple of their cycles, so that one
 * such period, taken block by block of the longer cycle, says it all: what follows it is one loop more. */
#include "dist/part.h"

#include <stdlib.h>

#include "base/number.h"

typedef struct stretch {
  int64_t low, high; /* [low, high) */
} stretch;

static stretch even_stretch(const cutt_part *part, int at) {
  const int64_t length = part->extent / part->parts, more = part->extent % part->parts;
  const int64_t low = at * length + smaller((int64_t)at, more);
  return (stretch){low, low + length + (at < more)};
}

int64_t cutt_part_count(const cutt_part *part, int at) {
  if (!part->block) {
    const stretch own = even_stretch(part, at);
    return own.high - own.low;
  }
  const int64_t blocks = part->extent / part->block, own = blocks / part->parts, more = blocks % part->parts;
  return own * part->block + (at < more ? part->block : at == more ? part->extent % part->block : 0);
}

int cutt_part_find(const cutt_part *part, int64_t global, int64_t *local) {
  if (part->block) {
    const int64_t block = global / part->block;
    *local = block / part->parts * part->block + global % part->block;
    return (int)(block % part->parts);
  }
  const int64_t length = part->extent / part->parts, more = part->extent % part->parts;
  const int64_t longer = more * (length + 1);
  const int64_t at = global < longer ? global / (length + 1) : more + (global - longer) / length;
  *local = global - even_stretch(part, (int)at).low;
  return (int)at;
}

int64_t cutt_part_global(const cutt_part *part, int at, int64_t local) {
  if (!part->block) return even_stretch(part, at).low + local;
  return (local / part->block * part->parts + at) * part->block + local % part->block;
}

/* ------------------------------------------------------------------------------------------------------------------ sets */

/* A pair of parts whose sets are looked for. */
typedef struct pair {
  const cutt_part *part[CUTT_SIDES];
  int at[CUTT_SIDES];
  int64_t repeats, period; /* how often each set repeats, and after how many indices */
} pair;

static bool grow(cutt_sets *sets) {
  if (sets->count < sets->room) return true;
  const int64_t room = sets->room ? 2 * sets->room : 16;
  cutt_set *set = realloc(sets->set, (size_t)room * sizeof *set);
  if (!set) return false;
  sets->set = set;
  sets->room = room;
  return true;
}

void cutt_sets_free(cutt_sets *sets) {
  free(sets->set);
  *sets = (cutt_sets){NULL, 0, 0};
}

int64_t cutt_sets_volume(const cutt_sets *sets, int64_t first, int64_t end) {
  int64_t volume = 0;
  for (int64_t i = first; i < end; ++i) {
    const int64_t *extent = sets->set[i].extent;
    volume += extent[0] * extent[1] * extent[2];
  }
  return volume;
}

/* Adds `runs` runs of `length` indices, `distance` apart, from a global index on. */
static bool add(cutt_sets *sets, const pair *p, int64_t global, int64_t length, int64_t runs, int64_t distance) {
  if (!grow(sets)) return false;
  cutt_set *set = &sets->set[sets->count++];
  *set = (cutt_set){.extent = {length, runs, p->repeats}};
  for (int side = 0; side < CUTT_SIDES; ++side) {
    const cutt_part *part = p->part[side];
    cutt_part_find(part, global, &set->start[side]);
    set->step[side][0] = 1;
    if (runs > 1) {
      int64_t next = 0;
      cutt_part_find(part, global + distance, &next);
      set->step[side][1] = next - set->start[side];
    }
    if (p->repeats > 1) set->step[side][2] = p->period / part->parts;
  }
  return true;
}

/* What a stretch, in which the other side's indices are neighbours, has of the cyclic part on `side`. */
static bool add_stretch(cutt_sets *sets, const pair *p, stretch s, int side) {
  const int64_t block = p->part[side]->block, first = p->at[side] * block;
  const int64_t cycle = block * p->part[side]->parts;
  if (s.high <= first || s.low >= s.high) return true;
  int64_t k = s.low < first + block ? 0 : (s.low - first - block) / cycle + 1;
  int64_t last = (s.high - first - 1) / cycle;
  if (k > last) return true;
  const int64_t low = first + k * cycle;
  if (low < s.low || low + block > s.high) {
    const int64_t from = larger(low, s.low), to = smaller(low + block, s.high);
    if (!add(sets, p, from, to - from, 1, 0)) return false;
    if (++k > last) return true;
  }
  const int64_t tail = first + last * cycle;
  const bool cut = tail + block > s.high;
  if (cut) --last;
  if (k <= last && !add(sets, p, first + k * cycle, block, last - k + 1, cycle)) return false;
  return !cut || add(sets, p, tail, s.high - tail, 1, 0);
}

/* What two cyclic parts have in common in a stretch: block by block of the one with the longer cycle. */
static bool add_blocks(cutt_sets *sets, const pair *p, stretch s) {
  const int64_t from_cycle = p->part[CUTT_FROM]->block * p->part[CUTT_FROM]->parts;
  const int64_t to_cycle = p->part[CUTT_TO]->block * p->part[CUTT_TO]->parts;
  const int longer = from_cycle >= to_cycle ? CUTT_FROM : CUTT_TO;
  const int64_t cycle = longer == CUTT_FROM ? from_cycle : to_cycle, block = p->part[longer]->block;
  for (int64_t low = s.low - s.low % cycle + p->at[longer] * block; low < s.high; low += cycle) {
    const stretch own = {larger(low, s.low), smaller(low + block, s.high)};
    if (!add_stretch(sets, p, own, 1 - longer)) return false;
  }
  return true;
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static bool add_cyclic(cutt_sets *sets, pair *p) {
  const int64_t extent = p->part[CUTT_FROM]->extent;
  const int64_t from_cycle = p->part[CUTT_FROM]->block * p->part[CUTT_FROM]->parts;
  const int64_t to_cycle = p->part[CUTT_TO]->block * p->part[CUTT_TO]->parts;
  int64_t period = 0;
  if (__builtin_mul_overflow(from_cycle / common_divisor(from_cycle, to_cycle), to_cycle, &period) ||
      period > extent / 2)
    return add_blocks(sets, p, (stretch){0, extent});
  p->repeats = extent / period;
  p->period = period;
  if (!add_blocks(sets, p, (stretch){0, period})) return false;
  const int64_t rest = p->repeats * period;
  p->repeats = 1;
  return add_blocks(sets, p, (stretch){rest, extent});
}

bool cutt_sets_add(cutt_sets *sets, const cutt_part *from, int from_at, const cutt_part *to, int to_at) {
  pair p = {{from, to}, {from_at, to_at}, 1, 0};
  if (from->extent == 0) return true;
  if (from->block && to->block) return add_cyclic(sets, &p);
  if (from->block) return add_stretch(sets, &p, even_stretch(to, to_at), CUTT_FROM);
  if (to->block) return add_stretch(sets, &p, even_stretch(from, from_at), CUTT_TO);
  const stretch a = even_stretch(from, from_at), b = even_stretch(to, to_at);
  const stretch both = {larger(a.low, b.low), smaller(a.high, b.high)};
  return both.low >= both.high || add(sets, &p, both.low, both.high - both.low, 1, 0);
}
