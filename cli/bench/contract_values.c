/* Values of contractions, and the check of results.
 *
 * The check knows nothing of permutations and matrix products: it takes an element of the result, runs over all values
 * of the contracted letters, and sums products of operand elements, which it computes from their indices, in long
 * double.
 *
 * The bound. Operands are random and of both signs, so a sum of k products with the root of their squares' sum N
 * wanders as far as N; each of the additions along the way rounds by u times what has been summed, which adds up to
 * about u sqrt(k) N in floating point of unit roundoff u, if all are added one after the other, and to less if in
 * blocks. Allowed is 16 times that. Another element's value is about N away, so the check can tell as long as u sqrt(k)
 * is small, which the worst case's bound, u k sum|l r|, could not in single precision. */
#include "contract_values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "random.h"

enum { MOST_CHECKED = 64, LEAST_CHECKED = 4, PRODUCTS = 1 << 23, LENIENCE = 16 };

/* Component 0 or 1 of an element: 53 random bits, of which the first 24 make a float. */
static double value_of(const cutt_cli_number *number, int operand, int64_t index, int component) {
  uint64_t z = ((uint64_t)index << 2 | (uint64_t)component << 1 | (uint64_t)operand) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  if (number->word == 4) return (double)(int64_t)(z >> 40) * 0x1p-23 - 1.0;
  return (double)(int64_t)(z >> 11) * 0x1p-52 - 1.0;
}

void cutt_bench_contract_fill(const cutt_cli_number *number, int operand, void *memory, int64_t begin, int64_t count) {
  const int components = number->complex ? 2 : 1;
#ifdef _OPENMP
#pragma omp parallel for schedule(static)
#endif
  for (int64_t i = 0; i < count; ++i) {
    for (int j = 0; j < components; ++j) {
      const double value = value_of(number, operand, begin + i, j);
      if (number->word == 4)
        ((float *)memory)[i * components + j] = (float)value;
      else
        ((double *)memory)[i * components + j] = value;
    }
  }
}

void cutt_bench_contract_poison(void *memory, size_t bytes) { memset(memory, 0xff, bytes); }

/* Component j of element i. */
static double read_of(const cutt_cli_number *number, const void *memory, int64_t i, int j) {
  const int64_t at = number->complex ? 2 * i + j : i;
  return number->word == 4 ? (double)((const float *)memory)[at] : ((const double *)memory)[at];
}

/* The first element that holds a NaN, or -1. */
static int64_t find_poison(const cutt_cli_number *number, const void *memory, int64_t count) {
  const int64_t words = number->complex ? 2 * count : count;
  int64_t first = INT64_MAX;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) reduction(min : first)
#endif
  for (int64_t i = 0; i < words; ++i) {
    const double value = number->word == 4 ? (double)((const float *)memory)[i] : ((const double *)memory)[i];
    if (isnan(value) && i < first) first = i;
  }
  return first == INT64_MAX ? -1 : first / (number->complex ? 2 : 1);
}

/* The letters' strides in each tensor, and which are summed over. */
typedef struct loops {
  int64_t stride[CUTT_CLI_TENSORS][CUTT_BENCH_LETTERS];
  int summed[CUTT_BENCH_LETTERS], count; /* letters */
  int64_t products;
} loops;

static loops loops_of(const cutt_bench_contraction *c) {
  loops l = {.products = 1};
  for (int t = 0; t < CUTT_CLI_TENSORS; ++t) {
    int64_t stride = 1;
    for (int i = 0; i < c->rank[t]; ++i) {
      const int letter = c->modes[t][i] - 'a';
      l.stride[t][letter] = stride;
      stride *= c->extent[letter];
    }
  }
  for (int letter = 0; letter < CUTT_BENCH_LETTERS; ++letter) {
    if (c->extent[letter] == 0 || strchr(c->modes[CUTT_CLI_RESULT], 'a' + letter)) continue;
    l.summed[l.count++] = letter;
    l.products *= c->extent[letter];
  }
  return l;
}

/* An element of the result by its definition, and the root of the squares' sum of its products. */
typedef struct element {
  long double value[2];
  double norm;
} element;

static element define(const cutt_cli_number *number, const cutt_bench_contraction *c, const loops *l, int64_t index) {
  int64_t left = 0, right = 0, position[CUTT_BENCH_LETTERS] = {0};
  for (int i = 0; i < c->rank[CUTT_CLI_RESULT]; ++i) {
    const int letter = c->modes[CUTT_CLI_RESULT][i] - 'a';
    const int64_t at = index % c->extent[letter];
    index /= c->extent[letter];
    left += at * l->stride[CUTT_CLI_LEFT][letter];
    right += at * l->stride[CUTT_CLI_RIGHT][letter];
  }
  element e = {.norm = 0.0};
  for (int64_t done = 0; done < l->products; ++done) {
    const double a = value_of(number, CUTT_CLI_LEFT, left, 0), b = value_of(number, CUTT_CLI_RIGHT, right, 0);
    if (number->complex) {
      const double ai = value_of(number, CUTT_CLI_LEFT, left, 1), bi = value_of(number, CUTT_CLI_RIGHT, right, 1);
      e.value[0] += (long double)a * b - (long double)ai * bi;
      e.value[1] += (long double)a * bi + (long double)ai * b;
      e.norm += (a * a + ai * ai) * (b * b + bi * bi);
    } else {
      e.value[0] += (long double)a * b;
      e.norm += a * a * b * b;
    }
    for (int i = 0; i < l->count; ++i) { /* the next values of the summed letters */
      const int letter = l->summed[i];
      const int64_t a_step = l->stride[CUTT_CLI_LEFT][letter], b_step = l->stride[CUTT_CLI_RIGHT][letter];
      left += a_step;
      right += b_step;
      if (++position[letter] < c->extent[letter]) break;
      left -= c->extent[letter] * a_step;
      right -= c->extent[letter] * b_step;
      position[letter] = 0;
    }
  }
  e.norm = sqrt(e.norm);
  return e;
}

/* "(3, 0, 5)": where an element of the result is, by its modes. */
static void write_place(const cutt_bench_contraction *c, int64_t index, char *text, size_t size) {
  int64_t place[CUTT_BENCH_CONTRACT_RANK] = {0};
  for (int i = 0; i < c->rank[CUTT_CLI_RESULT]; ++i) {
    const int64_t extent = c->extent[c->modes[CUTT_CLI_RESULT][i] - 'a'];
    place[i] = index % extent;
    index /= extent;
  }
  cutt_cli_shape(place, c->rank[CUTT_CLI_RESULT], text, size);
}

bool cutt_bench_contract_check(const cutt_cli_number *number, const cutt_bench_contraction *c, const void *result,
                               uint64_t draw, char *why, size_t why_size) {
  const loops l = loops_of(c);
  const int64_t volume = cutt_bench_contract_volume(c, CUTT_CLI_RESULT);
  char place[128];
  const int64_t left_out = find_poison(number, result, volume);
  if (left_out >= 0) {
    write_place(c, left_out, place, sizeof place);
    snprintf(why, why_size, "element %s of the result was not written, or is not a number", place);
    return false;
  }
  int64_t count = PRODUCTS / l.products;
  if (count > MOST_CHECKED) count = MOST_CHECKED;
  if (count < LEAST_CHECKED) count = LEAST_CHECKED;
  if (count > volume) count = volume;
  cutt_bench_stream s = cutt_bench_stream_open(draw, UINT64_C(6) << 48);
  int64_t index[MOST_CHECKED];
  double off[MOST_CHECKED], allowed[MOST_CHECKED], value[MOST_CHECKED];
  for (int64_t i = 0; i < count; ++i)
    index[i] = count == volume ? i
               : i == 0        ? 0
               : i == 1        ? volume - 1
                               : (int64_t)(cutt_bench_next(&s) % (uint64_t)volume);
  const double unit = number->word == 4 ? 0.5 * (double)FLT_EPSILON : 0.5 * DBL_EPSILON;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (int64_t i = 0; i < count; ++i) {
    const element e = define(number, c, &l, index[i]);
    const long double re = read_of(number, result, index[i], 0) - e.value[0];
    const long double im = number->complex ? read_of(number, result, index[i], 1) - e.value[1] : 0.0L;
    off[i] = (double)hypotl(re, im);
    value[i] = (double)e.value[0];
    allowed[i] = LENIENCE * unit * ((sqrt((double)l.products) + 2.0) * e.norm + (double)hypotl(e.value[0], e.value[1]));
  }
  for (int64_t i = 0; i < count; ++i) {
    if (off[i] <= allowed[i]) continue;
    write_place(c, index[i], place, sizeof place);
    snprintf(why, why_size, "element %s of the result is %.9g, and must be %.9g within %.2g", place,
             read_of(number, result, index[i], 0), value[i], allowed[i]);
    return false;
  }
  return true;
}
