/* Random problems for calibration.
 *
 * The model is to be good at what people do, and the paper's sets are the best guess at that: tensors of some tens of
 * millions of elements, balanced and not, of low rank and of high. Each problem has a random stream of its own, so that
 * how many fit into the time does not change what they are. */
#include "calibrate/problems.h"

#include <math.h>

#include "base/error.h"

enum { TRIES = 1000, LARGE_MODES = 4, LARGEST_SMALL = 5 };

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

cuttResult cutt_calibration_draw(uint64_t seed, int number, int64_t bytes, int64_t most, cutt_canonical *canonical) {
  cutt_random random = {seed};
  random.state = next(&random) ^ (uint64_t)number;
  for (int i = 0; i < TRIES; ++i) {
    int64_t extent[CUTT_MAX_RANK], order[CUTT_MAX_RANK];
    int perm[CUTT_MAX_RANK];
    cuttProblem_t problem = CUTT_PROBLEM_INIT;
    problem.type = draw_type(&random);
    const double size = (double)cutt_type_lookup(problem.type)->bytes;
    const double volume = (double)bytes * (2 + 2 * draw_share(&random)) / 3 / size;
    problem.rank = cutt_random_below(&random, 4) > 0 ? draw_low_rank(&random, volume, extent)
                                                     : draw_high_rank(&random, volume, extent);
    shuffle(&random, problem.rank, extent);
    for (int j = 0; j < problem.rank; ++j) order[j] = j;
    shuffle(&random, problem.rank, order);
    for (int j = 0; j < problem.rank; ++j) perm[j] = (int)order[j];
    double total = size;
    for (int j = 0; j < problem.rank; ++j) total *= (double)extent[j];
    if (total > (double)most) continue;
    problem.extents = extent;
    problem.perm = perm;
    const cuttResult result = cutt_canonicalize(&problem, canonical);
    if (result) return result;
    if (canonical->rank >= 2) return CUTT_SUCCESS;
  }
  return cutt_error(CUTT_INTERNAL_ERROR, "no random problem of %lld bytes was found", (long long)bytes);
}
