/* From the user's problem to the canonical one.
 *
 * Extents of 1 are dropped, modes with a negative output stride are traversed from their other end, neighbours are fused, and elements
 * that always travel together are promoted to wider ones. What is left is the same however one permutation is
 * said, so the methods, the model and wisdom meet each only once, and at the smallest rank and widest element.
 *
 * Sorting is by insertion and fusing by pairs: ranks are small, and a plan has 20 microseconds for all of it. */
#include "model/canonical.h"

#include "base/number.h"
#include "plan/problem.h"

enum { LARGEST_ELEMENT = 16 };

/* The order of modes: ascending |in_stride|, a zero stride last; then by out_stride, which never ties. */
static bool before(const cutt_mode *a, const cutt_mode *b) {
  /* 0 - 1 is the largest unsigned number. No stride of an extent above 1 is INT64_MIN: the span has been checked. */
  const uint64_t in_a = (uint64_t)magnitude(a->in_stride) - 1;
  const uint64_t in_b = (uint64_t)magnitude(b->in_stride) - 1;
  return in_a != in_b ? in_a < in_b : a->out_stride < b->out_stride;
}

static void insert(cutt_canonical *canonical, cutt_mode mode) {
  int place = canonical->rank++;
  for (; place > 0 && before(&mode, &canonical->mode[place - 1]); --place) {
    canonical->mode[place] = canonical->mode[place - 1];
  }
  canonical->mode[place] = mode;
}

static void drop(cutt_canonical *canonical, int index) {
  --canonical->rank;
  for (int i = index; i < canonical->rank; ++i) canonical->mode[i] = canonical->mode[i + 1];
}

/* Do the steps of next go on where those of first end, on both sides? Two zero input strides do: one value is read
 * again and again. */
static bool continues(const cutt_mode *first, const cutt_mode *next) {
  int64_t in = 0, out = 0;
  return !__builtin_mul_overflow(first->extent, first->in_stride, &in) && in == next->in_stride &&
         !__builtin_mul_overflow(first->extent, first->out_stride, &out) && out == next->out_stride;
}

/* Every pair is tried, not only neighbours: where input strides overlap (sliding windows), another mode may lie between
 * two that continue. The one that continues is always the later one, since its strides are larger. */
static void fuse(cutt_canonical *canonical) {
  for (int i = 0; i < canonical->rank; ++i) {
    for (int j = i + 1; j < canonical->rank;) {
      if (continues(&canonical->mode[i], &canonical->mode[j])) {
        canonical->mode[i].extent *= canonical->mode[j].extent;
        drop(canonical, j);
        j = i + 1; /* the longer mode may be continued by one that was passed over */
      } else {
        ++j;
      }
    }
  }
}

/* Doubles the element if pairs of elements always travel together; false when they don't. */
static bool promote(cutt_canonical *canonical) {
  if (canonical->elem_bytes * 2 > LARGEST_ELEMENT) return false;
  int pair = -1;
  for (int i = 0; i < canonical->rank; ++i) {
    const cutt_mode *mode = &canonical->mode[i];
    if (mode->out_stride == 1) {
      if (mode->in_stride != 1 || mode->extent % 2) return false;
      pair = i;
    } else if (mode->in_stride % 2 || mode->out_stride % 2) {
      return false;
    }
  }
  if (pair < 0) return false;
  for (int i = 0; i < canonical->rank; ++i) {
    cutt_mode *mode = &canonical->mode[i];
    if (i == pair) {
      mode->extent /= 2;
    } else {
      mode->in_stride /= 2;
      mode->out_stride /= 2;
    }
  }
  canonical->elem_bytes *= 2;
  if (canonical->mode[pair].extent == 1) {
    drop(canonical, pair);
    fuse(canonical);
  }
  return true;
}

static void order_output(cutt_canonical *canonical) {
  for (int i = 0; i < canonical->rank; ++i) {
    const int64_t stride = canonical->mode[i].out_stride;
    int place = i;
    for (; place > 0 && canonical->mode[canonical->out_order[place - 1]].out_stride > stride; --place) {
      canonical->out_order[place] = canonical->out_order[place - 1];
    }
    canonical->out_order[place] = i;
  }
}

cuttResult cutt_canonicalize(const cuttProblem_t *problem, cutt_canonical *canonical) {
  cutt_problem checked;
  const cuttResult result = cutt_problem_check(problem, &checked);
  if (result) return result;

  const int bytes = checked.type->bytes;
  canonical->rank = 0;
  canonical->elem_bytes = canonical->base_bytes = bytes;
  canonical->volume = 0;
  canonical->scale = checked.scale;
  canonical->in_start = canonical->out_start = 0;
  canonical->in_low = checked.in_low;
  canonical->in_high = checked.in_high;
  canonical->out_low = checked.out_low;
  canonical->out_high = checked.out_high;
  canonical->identity = true;
  canonical->whole_bytes = 0;
  canonical->far = false;
  if (checked.volume == 0) return CUTT_SUCCESS;

  for (int i = 0; i < checked.rank; ++i) {
    cutt_mode mode = {checked.extent[i], checked.in_stride[i], checked.out_stride[i]};
    if (mode.extent == 1) continue;
    if (mode.out_stride < 0) {
      canonical->in_start += (mode.extent - 1) * mode.in_stride * bytes;
      canonical->out_start += (mode.extent - 1) * mode.out_stride * bytes;
      mode.in_stride = -mode.in_stride;
      mode.out_stride = -mode.out_stride;
    }
    insert(canonical, mode);
  }
  fuse(canonical);
  while (promote(canonical)) continue;
  order_output(canonical);

  canonical->volume = 1;
  canonical->identity = canonical->in_start == canonical->out_start;
  for (int i = 0; i < canonical->rank; ++i) {
    const cutt_mode *mode = &canonical->mode[i];
    canonical->volume *= mode->extent;
    if (mode->in_stride != mode->out_stride) canonical->identity = false;
  }
  return CUTT_SUCCESS;
}
