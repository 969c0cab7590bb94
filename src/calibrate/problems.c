/* Random problems for calibration.
 *
 * The model is to be good at what people do: the permutations of the paper's sets, balanced and not, of low rank and of high,
 * and views of arrays, a third of all: every second element, rows backwards, parts of larger arrays, repeated rows, pixels. Each
 * problem has a random stream of its own, so that how many fit into the time does not change what they are. */
#include "calibrate/problems.h"

#include <math.h>

#include "base/error.h"

enum { TRIES = 1000, LARGE_MODES = 4, LARGEST_SMALL = 5, MOST_VIEWED = 4, MOST_STEP = 4, UNEVEN = 5 };

static uint64_t next(cutt_random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int cutt_random_below(cutt_random *random, int below) { return (int)((next(random) >> 32) * (uint64_t)below >> 32); }

/* Between 0 and 1. */
static double draw_share(cutt_random *random) { return (double)(next(random) >> 11) * 0x1p-53; }

static void shuffle(cutt_random *random, int count, int64_t *list) {
  for (int i = count - 1; i > 0; --i) {
    const int j = cutt_random_below(random, i + 1);
    const int64_t swap = list[i];
    list[i] = list[j];
    list[j] = swap;
  }
}

/* Multiplies the first `scaled` extents of a list so that the product of all is near to volume. weight: what they are to
 * each other. */
static void scale(const double *weight, int scaled, double volume, int64_t *extent) {
  double product = 1;
  for (int i = 0; i < scaled; ++i) product *= weight[i];
  const double factor = pow(volume / product, 1.0 / scaled);
  for (int i = 0; i < scaled; ++i) {
    const double wanted = floor(weight[i] * factor + 0.5);
    extent[i] = wanted < 2 ? 2 : (int64_t)wanted;
  }
}

/* Ranks 2 to 7: the smallest and the largest extent are as the ratio says, the others between them. */
static int draw_low_rank(cutt_random *random, double volume, int64_t *extent) {
  static const double ratio[] = {1, 5, 15};
  const int rank = 2 + cutt_random_below(random, 6);
  const double most = ratio[cutt_random_below(random, 3)];
  double weight[CUTT_MAX_RANK];
  for (int i = 0; i < rank; ++i) weight[i] = 1 + (most - 1) * draw_share(random);
  weight[0] = 1;
  weight[1] = most;
  scale(weight, rank, volume, extent);
  return rank;
}

/* Ranks 8 to 12: four modes are large, the others 2 to 5. */
static int draw_high_rank(cutt_random *random, double volume, int64_t *extent) {
  const int rank = 8 + cutt_random_below(random, 5);
  double weight[LARGE_MODES];
  for (int i = LARGE_MODES; i < rank; ++i) {
    extent[i] = 2 + cutt_random_below(random, LARGEST_SMALL - 1);
    volume /= (double)extent[i];
  }
  for (int i = 0; i < LARGE_MODES; ++i) weight[i] = 0.9 + 0.2 * draw_share(random);
  scale(weight, LARGE_MODES, volume < 1 ? 1 : volume, extent);
  return rank;
}

/* Mostly what most programs have: elements of 4 and 8 bytes. */
static cuttType_t draw_type(cutt_random *random) {
  const int percent = cutt_random_below(random, 100);
  return percent < 40   ? CUTT_BYTES_8
         : percent < 75 ? CUTT_BYTES_4
         : percent < 85 ? CUTT_BYTES_2
         : percent < 95 ? CUTT_BYTES_16
                        : CUTT_BYTES_1;
}

/* A problem as it is drawn, with the arrays that it points to. */
typedef struct drawn {
  int64_t extent[CUTT_MAX_RANK], in_stride[CUTT_MAX_RANK], out_stride[CUTT_MAX_RANK];
  int perm[CUTT_MAX_RANK];
  cuttProblem_t problem;
} drawn;

static void draw_order(cutt_random *random, drawn *d) {
  int64_t order[CUTT_MAX_RANK];
  for (int i = 0; i < d->problem.rank; ++i) order[i] = i;
  shuffle(random, d->problem.rank, order);
  for (int i = 0; i < d->problem.rank; ++i) d->perm[i] = (int)order[i];
}

/* By the rules of the paper's sets. */
static void draw_packed(cutt_random *random, double volume, drawn *d) {
  d->problem.rank = cutt_random_below(random, 4) > 0 ? draw_low_rank(random, volume, d->extent)
                                                     : draw_high_rank(random, volume, d->extent);
  shuffle(random, d->problem.rank, d->extent);
  draw_order(random, d);
}

/* Strides of an array's modes in this order (NULL: as they are), of which `which` (-1: none) has every step-th element, or the same one
 * again (0), and elements left out behind these. */
static void lay_out(const drawn *d, const int *order, int which, int64_t step, int64_t left_out, int64_t *stride) {
  int64_t next = 1;
  for (int i = 0; i < d->problem.rank; ++i) {
    const int mode = order ? order[i] : i;
    stride[i] = mode == which ? next * step : next;
    if (mode != which) {
      next *= d->extent[mode];
    } else if (step > 0) {
      next *= d->extent[mode] * step + left_out;
    }
  }
}

/* Pixels of 2 to 4 components, which come first and go last, or the other way round. */
static void draw_pixels(cutt_random *random, double volume, int64_t components, drawn *d) {
  const bool last = cutt_random_below(random, 2) == 0;
  const int rank = d->problem.rank;
  double weight[MOST_VIEWED] = {0}; /* a static analyser does not see that all are set */
  for (int i = 0; i < rank; ++i) {
    weight[i] = 1 + draw_share(random);
    d->perm[i] = (i + (last ? 1 : rank - 1)) % rank;
  }
  scale(weight, rank - 1, volume / (double)components, d->extent + (last ? 1 : 0));
  d->extent[last ? 0 : rank - 1] = components;
}

/* Ranks 2 to 4, in half of which the modes stay in order. Of one of them, the first one in half of all, every second to fourth element is
 * taken, on either side, or a part; or it is backwards, or repeated. Or pixels. */
static void draw_view(cutt_random *random, double volume, drawn *d) {
  enum { IN_STEPS, OUT_STEPS, BACKWARDS, REPEATED, IN_PART, OUT_PART, PIXELS, VIEWS };
  const int view = cutt_random_below(random, VIEWS), rank = 2 + cutt_random_below(random, MOST_VIEWED - 1);
  const int64_t step = 2 + cutt_random_below(random, MOST_STEP - 1);
  d->problem.rank = rank;
  if (view == PIXELS) {
    draw_pixels(random, volume, step, d);
    return;
  }
  const bool steps = view == IN_STEPS || view == OUT_STEPS, of_out = view == OUT_STEPS || view == OUT_PART;
  const bool stay = cutt_random_below(random, 2) == 0;
  const int which = cutt_random_below(random, 2) == 0 ? 0 : cutt_random_below(random, rank);
  double weight[MOST_VIEWED] = {0}; /* a static analyser does not see that all are set */
  for (int i = 0; i < rank; ++i) {
    weight[i] = exp(UNEVEN * draw_share(random));
    d->perm[i] = i;
  }
  scale(weight, rank, steps ? volume / (double)step : volume, d->extent);
  if (!stay) draw_order(random, d);
  const int64_t part = (int64_t)((double)d->extent[which] * draw_share(random) / 2) + 1;
  lay_out(d, NULL, of_out ? -1 : which,
          view == IN_STEPS   ? step
          : view == REPEATED ? 0
                             : 1,
          view == IN_PART ? part : 0, d->in_stride);
  lay_out(d, d->perm, of_out ? which : -1, view == OUT_STEPS ? step : 1, view == OUT_PART ? part : 0, d->out_stride);
  if (view == BACKWARDS) d->in_stride[which] *= -1;
  d->problem.in_strides = d->in_stride;
  d->problem.out_strides = d->out_stride;
}

/* From the lowest byte of each side on. */
static void shift(cutt_canonical *c) {
  c->in_start -= c->in_low, c->in_high -= c->in_low, c->in_low = 0;
  c->out_start -= c->out_low, c->out_high -= c->out_low, c->out_low = 0;
}

cuttResult cutt_calibration_draw(uint64_t seed, int number, int64_t bytes, int64_t most, cutt_canonical *canonical) {
  enum { PACKED_OF_THREE = 2 };
  cutt_random random = {seed};
  random.state = next(&random) ^ (uint64_t)number;
  for (int i = 0; i < TRIES; ++i) {
    drawn d = {.problem = CUTT_PROBLEM_INIT};
    d.problem.type = draw_type(&random);
    d.problem.extents = d.extent;
    d.problem.perm = d.perm;
    const double size = (double)cutt_type_lookup(d.problem.type)->bytes;
    const double volume = (double)bytes * (2 + 2 * draw_share(&random)) / 3 / size;
    const bool packed = cutt_random_below(&random, 3) < PACKED_OF_THREE;
    (packed ? draw_packed : draw_view)(&random, volume, &d);
    const cuttResult result = cutt_canonicalize(&d.problem, canonical);
    if (result) return result;
    shift(canonical);
    if (canonical->in_high <= most && canonical->out_high <= most && !cutt_canonical_is_run(canonical))
      return CUTT_SUCCESS;
  }
  return cutt_error(CUTT_INTERNAL_ERROR, "no random problem of %lld bytes was found", (long long)bytes);
}
