/* Do the arrays of a batch lie apart (calls.h)?
 *
 * Blocks are mostly as large as each other. So memory is divided into cells as large as the largest result, and results are
 * entered in a table by the cell that they begin in: what one overlaps with begins in its cell or in one beside it. Where sizes
 * differ so much that many would be in a cell, or inputs reach over many cells, all are sorted instead. */
#include <stdlib.h>

#include "calls.h"

enum { MOST_IN_A_CELL = 32, MOST_CELLS = 64 };

span span_of(const view *v, bool written) {
  span s = {(uintptr_t)v->data, (uintptr_t)v->data + (uintptr_t)v->type.bytes, written};
  for (int i = 0; i < v->rank; ++i) {
    const int64_t reach = (v->shape[i] - 1) * v->strides[i];
    if (reach < 0)
      s.low -= (uintptr_t)-reach;
    else
      s.high += (uintptr_t)reach;
  }
  return s;
}

bool overlap(const span *s, const span *other) { return s->low < other->high && other->low < s->high; }

static int by_address(const void *left, const void *right) {
  const uintptr_t a = ((const span *)left)->low, b = ((const span *)right)->low;
  return a < b ? -1 : a > b;
}

static bool sorted_lie_apart(span *spans, Py_ssize_t count) {
  qsort(spans, (size_t)count, sizeof *spans, by_address);
  uintptr_t any = 0, results = 0; /* where those before end */
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (spans[i].low < (spans[i].written ? any : results)) return false;
    if (spans[i].high > any) any = spans[i].high;
    if (spans[i].written && spans[i].high > results) results = spans[i].high;
  }
  return true;
}

/* Results by their cells: open addressing, a power of two of places, at least half of them free. */
typedef struct cells {
  const span **place;
  size_t mask;
  int shift; /* a cell is 1 << shift bytes */
} cells;

static size_t place_of(const cells *c, uintptr_t cell) {
  return (size_t)((uint64_t)cell * UINT64_C(0x9E3779B97F4A7C15) >> 32) & c->mask;
}

/* Does it overlap with a result that has been entered? */
static bool meets(const cells *c, const span *s) {
  const uintptr_t first = s->low >> c->shift, last = (s->high - 1) >> c->shift;
  for (uintptr_t cell = first ? first - 1 : 0; cell <= last; ++cell) {
    for (size_t i = place_of(c, cell); c->place[i]; i = (i + 1) & c->mask)
      if (overlap(c->place[i], s)) return true;
  }
  return false;
}

static void enter(const cells *c, const span *s) {
  size_t i = place_of(c, s->low >> c->shift);
  while (c->place[i]) i = (i + 1) & c->mask;
  c->place[i] = s;
}

/* The widest and the narrowest of every second span, and where all of these lie. */
typedef struct extent {
  uintptr_t widest, narrowest, low, high;
} extent;

static extent extent_of(const span *spans, Py_ssize_t count) {
  extent e = {0, UINTPTR_MAX, UINTPTR_MAX, 0};
  for (Py_ssize_t i = 0; i < count; i += 2) {
    const uintptr_t width = spans[i].high - spans[i].low;
    if (width > e.widest) e.widest = width;
    if (width < e.narrowest) e.narrowest = width;
    if (spans[i].low < e.low) e.low = spans[i].low;
    if (spans[i].high > e.high) e.high = spans[i].high;
  }
  return e;
}

bool lie_apart(span *spans, Py_ssize_t pairs) {
  const extent in = extent_of(spans, 2 * pairs), out = extent_of(spans + 1, 2 * pairs - 1);
  const bool mixed = in.low < out.high && out.low < in.high;
  cells c = {.mask = 15};
  while (((uintptr_t)1 << c.shift) < out.widest) ++c.shift;
  if (out.widest / out.narrowest >= MOST_IN_A_CELL || (mixed && in.widest >> c.shift >= MOST_CELLS))
    return sorted_lie_apart(spans, 2 * pairs);
  while (c.mask < 2 * (size_t)pairs) c.mask = 2 * c.mask + 1;
  c.place = calloc(c.mask + 1, sizeof *c.place);
  if (!c.place) return sorted_lie_apart(spans, 2 * pairs);
  bool apart = true;
  for (Py_ssize_t i = 1; apart && i < 2 * pairs; i += 2) {
    apart = !meets(&c, &spans[i]);
    if (apart) enter(&c, &spans[i]);
  }
  for (Py_ssize_t i = 0; apart && mixed && i < 2 * pairs; i += 2) apart = !meets(&c, &spans[i]);
  free((void *)c.place);
  return apart;
}
