/* Do two elements of a strided tensor share an address?
 *
 * They do if and only if a vector d of index differences exists, not 0 and |d_i| < extent_i, with sum d_i stride_i = 0.
 * Almost every tensor is nested: with its modes sorted by stride, each stride is larger than all that the smaller modes
 * reach together, and then there is no such d. That test costs a sort. Only when it fails (interleaved layouts such as
 * strides 2 and 3 with extents 3 and 2, and real mistakes) a branch and bound search decides: from the largest stride
 * to the smallest, a difference is tried only if the smaller modes can still bring the sum back to 0, by size (their
 * reach) and by divisibility (the gcd of their strides). Two modes are always decided, each by a few steps; more modes
 * within NODE_LIMIT steps. What is not decided by then is refused: a wrong yes would let two threads write one
 * element. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "plan/problem.h"

enum { NODE_LIMIT = 100000 };

__extension__ typedef __int128 int128;

typedef struct sorted_mode {
  int64_t reach;  /* extent - 1 */
  int64_t stride; /* > 0: a negative stride only changes the sign of its d */
  int index;      /* into the caller's strides */
  bool negative;
} sorted_mode;

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The inverse of a modulo m, 0 <= result < m, for coprime a and m. */
static int64_t inverse(int64_t a, int64_t m) {
  int128 r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1) {
    const int128 quotient = r0 / r1;
    const int128 r2 = r0 - quotient * r1, t2 = t0 - quotient * t1;
    r0 = r1;
    r1 = r2;
    t0 = t1;
    t1 = t2;
  }
  return m == 1 ? 0 : (int64_t)(t0 < 0 ? t0 + m : t0);
}

/* Rounded down, for b > 0. */
static int128 floor_div(int128 a, int64_t b) {
  const int128 quotient = a / b;
  return a % b != 0 && a < 0 ? quotient - 1 : quotient;
}

/* One level of the search: d runs from next to last in steps of step; sum is that of the levels above. */
typedef struct level {
  int64_t next, last, step, d;
  int128 sum;
} level;

/* Sets up the d that are worth trying for a mode. below: what the smaller modes reach together; below_gcd: of their
 * strides, 0 when there are none. first: no larger mode has a d other than 0, and by symmetry d >= 0 is enough. */
static void open_level(level *l, const sorted_mode *mode, int64_t below, int64_t below_gcd, int128 sum, bool first) {
  l->sum = sum;
  l->step = 1;
  l->next = 0;
  l->last = -1;
  int128 low = -floor_div(below + sum, mode->stride), high = floor_div(below - sum, mode->stride);
  if (low < -mode->reach) low = -mode->reach;
  if (high > mode->reach) high = mode->reach;
  if (first && low < 0) low = 0;
  if (low > high) return;
  if (below_gcd > 1) { /* d * stride = -sum modulo below_gcd */
    const int64_t common = gcd(mode->stride, below_gcd);
    if (sum % common != 0) return;
    const int64_t modulus = below_gcd / common;
    int128 residue = (-(sum / common)) % modulus * inverse(mode->stride / common, modulus) % modulus;
    if (residue < 0) residue += modulus;
    int128 up = (residue - low) % modulus;
    if (up < 0) up += modulus;
    if (low + up > high) return;
    low += up;
    l->step = modulus;
  }
  l->next = (int64_t)low;
  l->last = (int64_t)high;
}

typedef enum verdict { APART, OVERLAPPING, UNDECIDED } verdict;

/* What a search takes: more than a small stack should give to tensors that few people have. */
typedef struct search_room {
  level levels[CUTT_MAX_RANK];
  int64_t below[CUTT_MAX_RANK], below_gcd[CUTT_MAX_RANK]; /* no sum overflows: the span in bytes is an int64 */
  bool zero_above[CUTT_MAX_RANK];
} search_room;

/* modes: ascending strides. When they overlap, the levels' d are the difference that was found, in the order of modes. */
static verdict search(int rank, const sorted_mode *modes, search_room *room) {
  int64_t *below = room->below, *below_gcd = room->below_gcd;
  level *levels = room->levels;
  bool *zero_above = room->zero_above;
  for (int i = 0; i < rank; ++i) {
    below[i] = i ? below[i - 1] + modes[i - 1].reach * modes[i - 1].stride : 0;
    below_gcd[i] = i ? gcd(below_gcd[i - 1], modes[i - 1].stride) : 0;
  }
  int at = rank - 1, nodes = 0;
  zero_above[at] = true;
  open_level(&levels[at], &modes[at], below[at], below_gcd[at], 0, true);
  for (;;) {
    level *l = &levels[at];
    if (l->next > l->last) {
      if (++at == rank) return APART;
      continue;
    }
    if (++nodes > NODE_LIMIT) return UNDECIDED;
    l->d = l->next;
    /* The last step may pass INT64_MAX: end the level instead. */
    if (__builtin_add_overflow(l->next, l->step, &l->next)) l->last = -1, l->next = 0;
    const int128 sum = l->sum + (int128)l->d * modes[at].stride;
    const bool zero = zero_above[at] && l->d == 0;
    if (at == 0) {
      if (zero || sum != 0) continue;
      return OVERLAPPING;
    }
    --at;
    zero_above[at] = zero;
    open_level(&levels[at], &modes[at], below[at], below_gcd[at], sum, zero);
  }
}

static cuttResult refuse(int rank, const sorted_mode *modes, const search_room *room, const char *name) {
  char buffer[640];
  cutt_text text = cutt_text_start(buffer, sizeof buffer);
  for (int i = 0; i < rank; ++i) {
    const int64_t d = room->levels[i].d;
    if (!d) continue;
    cutt_text_add(&text, "%s%+" PRId64 " in mode %d (extent %" PRId64 ", stride %s%" PRId64 ")",
                  text.length ? ", " : "", modes[i].negative ? -d : d, modes[i].index, modes[i].reach + 1,
                  modes[i].negative ? "-" : "", modes[i].stride);
  }
  return cutt_error(CUTT_INVALID_PARAMETER, "%s make elements of that tensor overlap: a step of %s ends where it began",
                    name, buffer);
}

cuttResult cutt_overlap_check(int rank, const int64_t *extent, const int64_t *stride, const char *name) {
  sorted_mode modes[CUTT_MAX_RANK];
  int count = 0;
  for (int i = 0; i < rank; ++i) {
    if (extent[i] <= 1) continue;
    if (stride[i] == 0) {
      return cutt_error(CUTT_INVALID_PARAMETER,
                        "%s[%d] is 0 with extent %" PRId64
                        ", which makes elements of that tensor overlap; it may be 0 for an extent of 1 only",
                        name, i, extent[i]);
    }
    const sorted_mode mode = {extent[i] - 1, stride[i] < 0 ? -stride[i] : stride[i], i, stride[i] < 0};
    int place = count++;
    for (; place > 0 && modes[place - 1].stride > mode.stride; --place) modes[place] = modes[place - 1];
    modes[place] = mode;
  }
  int64_t reach = 0;
  int crossed = 0; /* the first mode that is not nested */
  for (int i = 0; i < count; ++i) {
    if (modes[i].stride <= reach && !crossed) crossed = i;
    reach += modes[i].reach * modes[i].stride;
  }
  if (!crossed) return CUTT_SUCCESS;

  search_room *room = malloc(sizeof *room);
  if (!room) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to check %s", sizeof *room, name);
  const verdict found = search(count, modes, room);
  const cuttResult result = found == OVERLAPPING ? refuse(count, modes, room, name) : CUTT_SUCCESS;
  free(room);
  if (found != UNDECIDED) return result;
  const sorted_mode *small = &modes[crossed - 1], *large = &modes[crossed];
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "%s interleave mode %d (extent %" PRId64 ", stride %" PRId64 ") with mode %d (extent %" PRId64 ", stride %" PRId64
      ") and others in a way that could not be shown to keep elements apart; each stride must exceed what "
      "the modes of smaller stride reach together",
      name, small->index, small->reach + 1, stride[small->index], large->index, large->reach + 1, stride[large->index]);
}
