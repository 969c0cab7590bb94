/* The random sample of the cuTT paper's section 3.4, as TAL-SH's benchmark draws it.
 *
 * A configuration is the ranks rl <= rr <= 8 of the operands and how many of their modes are contracted, of the large
 * and of the small ones: nc in all, from ceil(max(rl + rr - 8, 0) / 2), so that the result's rank rd = rl + rr - 2 nc
 * is at most 8, to rl. The first four modes of an operand in storage are large and all of one extent, the others are of
 * extent 8; large ones are contracted with large ones, small with small. The result has its large modes first. There
 * are 170 configurations.
 *
 * Of each, min(C(rl, nc) C(rr, nc) rd!, 64) maps are drawn: which modes are contracted, with which, and in what order
 * the others are in the result (not in the order in which they come, where there are two or more). A map that is a
 * matrix product as it stands, with the contracted modes first in both operands and in the same order, is left out.
 *
 * That is 9311 draws. How many of them are left out depends on the luck of the few configurations that have such a map:
 * 9303 to 9308 cases remain, with most seeds 9305 to 9307. The paper has 9306, and so has the default seed.
 *
 * The large extent is the largest with which no tensor has more than the wanted number of elements. Where even extents
 * of 8 everywhere are too much, the small ones become as small as they have to be, and the large ones are no
 * smaller. */
#include <stdlib.h>
#include <string.h>

#include "contract_cases.h"
#include "random.h"

enum { RANK = CUTT_BENCH_CONTRACT_RANK, LARGE = 4, SMALL_EXTENT = 8, MOST_MAPS = 64 };

/* How many modes of each kind the tensors of a configuration have. */
typedef struct configuration {
  int rl, rr; /* ranks of the operands */
  int large_contracted, small_contracted;
  int large[CUTT_CLI_TENSORS], small[CUTT_CLI_TENSORS]; /* of L, R and D */
} configuration;

static int smaller(int a, int b) { return a < b ? a : b; }
static int larger(int a, int b) { return a > b ? a : b; }

/* C(rl, nc) C(rr, nc) rd!, no more than MOST_MAPS. */
static int count_maps(const configuration *of) {
  const int nc = of->large_contracted + of->small_contracted, rd = of->rl + of->rr - 2 * nc;
  int64_t maps = 1;
  for (int i = 0; i < nc; ++i) maps = maps * (of->rl - i) / (i + 1);
  int64_t right = 1;
  for (int i = 0; i < nc; ++i) right = right * (of->rr - i) / (i + 1);
  maps *= right; /* at most 70 * 70 */
  for (int i = 2; i <= rd; ++i) maps *= i;
  return maps < MOST_MAPS ? (int)maps : MOST_MAPS;
}

/* ---------------------------------------------------------------------------------------------------------- extents */

static int64_t volume_of(const configuration *of, int tensor, int64_t large, int64_t small) {
  int64_t volume = 1;
  for (int i = 0; i < of->large[tensor]; ++i)
    if (__builtin_mul_overflow(volume, large, &volume)) return INT64_MAX;
  for (int i = 0; i < of->small[tensor]; ++i)
    if (__builtin_mul_overflow(volume, small, &volume)) return INT64_MAX;
  return volume;
}

static bool fits(const configuration *of, int64_t large, int64_t small, int64_t volume) {
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t)
    if (volume_of(of, t, large, small) > volume) return false;
  return true;
}

static void find_extents(const configuration *of, int64_t volume, int64_t *large, int64_t *small) {
  *small = SMALL_EXTENT;
  while (*small > 1 && !fits(of, *small, *small, volume)) --*small;
  int64_t low = *small, high = volume > *small ? volume : *small;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (fits(of, middle, *small, volume)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  *large = low;
}

/* ------------------------------------------------------------------------------------------------------------- maps */

/* A random order of count things that is not the order in which they are, where there is another. */
static void draw_order(cutt_bench_stream *s, int count, int *order) {
  bool trivial;
  do {
    cutt_bench_draw_perm(s, count, order);
    trivial = count > 1;
    for (int i = 0; i < count; ++i) trivial = trivial && order[i] == i;
  } while (trivial);
}

/* Chooses `chosen` of the modes first .. first + count - 1 of L and as many of R, and pairs them: partner[i] is the
 * mode of R that mode i of L is contracted with. */
static void pair(cutt_bench_stream *s, int chosen, int first, int left_count, int right_count, int *partner) {
  int left[RANK], right[RANK];
  cutt_bench_draw_perm(s, left_count, left);
  cutt_bench_draw_perm(s, right_count, right);
  for (int i = 0; i < chosen; ++i) partner[first + left[i]] = first + right[i];
}

/* Draws a map: the letters of the three tensors. Those of the result are a, b, c ... in its order. */
static void draw_map(cutt_bench_stream *s, const configuration *of, cutt_bench_contraction *c) {
  int partner[RANK], order[2][2 * RANK], taken[2] = {0, 0};
  bool contracted[RANK] = {false}; /* modes of R */
  for (int i = 0; i < RANK; ++i) partner[i] = -1;
  pair(s, of->large_contracted, 0, smaller(of->rl, LARGE), smaller(of->rr, LARGE), partner);
  if (of->small_contracted > 0) pair(s, of->small_contracted, LARGE, of->rl - LARGE, of->rr - LARGE, partner);
  draw_order(s, of->large[CUTT_CLI_RESULT], order[0]);
  draw_order(s, of->small[CUTT_CLI_RESULT], order[1]);
  const int rd = of->large[CUTT_CLI_RESULT] + of->small[CUTT_CLI_RESULT];
  int next = 'a' + rd; /* the first letter of a contracted mode */
  for (int i = 0; i < of->rl; ++i) {
    if (partner[i] < 0) continue;
    contracted[partner[i]] = true;
    c->modes[CUTT_CLI_LEFT][i] = c->modes[CUTT_CLI_RIGHT][partner[i]] = (char)next++;
  }
  for (int t = CUTT_CLI_LEFT; t <= CUTT_CLI_RIGHT; ++t) {
    const int rank = smaller(t == CUTT_CLI_LEFT ? of->rl : of->rr, RANK); /* which it is, as compilers can't know */
    for (int i = 0; i < rank; ++i) {
      if (t == CUTT_CLI_LEFT ? partner[i] >= 0 : contracted[i]) continue;
      const int kind = i >= LARGE, place = order[kind][taken[kind]++];
      c->modes[t][i] = (char)('a' + place + (kind ? of->large[CUTT_CLI_RESULT] : 0));
    }
  }
  for (int i = 0; i < rd; ++i) c->modes[CUTT_CLI_RESULT][i] = (char)('a' + i);
  c->rank[CUTT_CLI_LEFT] = of->rl;
  c->rank[CUTT_CLI_RIGHT] = of->rr;
  c->rank[CUTT_CLI_RESULT] = rd;
}

/* Is it a matrix product as it stands? */
static bool needs_nothing(const configuration *of, const cutt_bench_contraction *c) {
  const int nc = of->large_contracted + of->small_contracted, rd = c->rank[CUTT_CLI_RESULT];
  const char *left = c->modes[CUTT_CLI_LEFT], *right = c->modes[CUTT_CLI_RIGHT];
  for (int i = 0; i < nc; ++i)
    if (left[i] != right[i] || left[i] < 'a' + rd) return false;
  for (int i = 0; i < rd; ++i)
    if ((i < of->rl - nc ? left[nc + i] : right[nc + i - (of->rl - nc)]) != 'a' + i) return false;
  return true;
}

static bool add_configuration(cutt_bench_contractions *cases, const configuration *of, int number, int *draws,
                              int64_t volume, uint64_t seed) {
  int64_t large, small;
  find_extents(of, volume, &large, &small);
  const int maps = count_maps(of);
  for (int map = 0; map < maps; ++map) {
    cutt_bench_stream s = cutt_bench_stream_open(seed, UINT64_C(4) << 48 | (uint64_t)number << 16 | (uint64_t)map);
    cutt_bench_contraction c = {.configuration = number};
    draw_map(&s, of, &c);
    snprintf(c.id, sizeof c.id, "random_%04d", ++*draws);
    if (needs_nothing(of, &c)) continue;
    for (int t = CUTT_CLI_LEFT; t <= CUTT_CLI_RIGHT; ++t)
      for (int i = 0; i < c.rank[t]; ++i) c.extent[c.modes[t][i] - 'a'] = i < LARGE ? large : small;
    c.place = larger(larger(of->rl, of->rr), c.rank[CUTT_CLI_RESULT]);
    snprintf(c.group, sizeof c.group, "rank %d", c.place);
    if (!cutt_bench_contractions_add(cases, &c)) return false;
  }
  return true;
}

static bool add_all(cutt_bench_contractions *cases, int64_t volume, uint64_t seed) {
  int number = 0, draws = 0;
  for (int rr = 1; rr <= RANK; ++rr) {
    for (int rl = 1; rl <= rr; ++rl) {
      for (int nc = (larger(rl + rr - RANK, 0) + 1) / 2; nc <= rl; ++nc) {
        for (int large = larger(nc - larger(rl - LARGE, 0), 0); large <= smaller(nc, LARGE); ++large) {
          configuration of = {.rl = rl, .rr = rr, .large_contracted = large, .small_contracted = nc - large};
          of.large[CUTT_CLI_LEFT] = smaller(rl, LARGE);
          of.large[CUTT_CLI_RIGHT] = smaller(rr, LARGE);
          of.small[CUTT_CLI_LEFT] = rl - of.large[CUTT_CLI_LEFT];
          of.small[CUTT_CLI_RIGHT] = rr - of.large[CUTT_CLI_RIGHT];
          of.large[CUTT_CLI_RESULT] = of.large[CUTT_CLI_LEFT] + of.large[CUTT_CLI_RIGHT] - 2 * large;
          of.small[CUTT_CLI_RESULT] = of.small[CUTT_CLI_LEFT] + of.small[CUTT_CLI_RIGHT] - 2 * (nc - large);
          if (!add_configuration(cases, &of, number++, &draws, volume, seed)) return false;
        }
      }
    }
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- sample */

/* Puts `samples` cases first, each drawn from a configuration that is drawn first, so that the few configurations of
 * low rank are not lost among the many maps of the others. all has the cases of a configuration one after the other. */
static bool draw_sample(cutt_bench_contractions *all, int64_t samples, uint64_t seed) {
  typedef struct run {
    size_t begin, left;
  } run;
  run *runs = calloc(all->count + 1, sizeof *runs);
  size_t *order = calloc(all->count + 1, sizeof *order), count = 0;
  cutt_bench_contractions sample = {0};
  bool good = runs && order;
  for (size_t i = 0; good && i < all->count; ++i) {
    order[i] = i;
    if (i == 0 || all->item[i].configuration != all->item[i - 1].configuration) runs[count++] = (run){i, 0};
    ++runs[count - 1].left;
  }
  cutt_bench_stream s = cutt_bench_stream_open(seed, UINT64_C(5) << 48);
  for (int64_t i = 0; good && i < samples && count > 0; ++i) {
    run *r = &runs[cutt_bench_draw(&s, (int64_t)count)];
    size_t *picked = &order[r->begin + (size_t)cutt_bench_draw(&s, (int64_t)r->left)];
    good = cutt_bench_contractions_add(&sample, &all->item[*picked]);
    *picked = order[r->begin + --r->left];
    if (r->left == 0) *r = runs[--count];
  }
  free(runs);
  free(order);
  cutt_bench_contractions_free(all);
  *all = sample;
  return good;
}

bool cutt_bench_contract_random(cutt_bench_contractions *cases, int64_t samples, int64_t volume, uint64_t seed) {
  return add_all(cases, volume, seed) && (samples == 0 || draw_sample(cases, samples, seed));
}
