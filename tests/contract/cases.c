/* Random contractions. As with permutations, what is drawn crowds around the edges: extents of 1 and 0, strides that nest
 * with and without gaps, backwards, and (in operands) repeating ones. */
#include "cases.h"

#include <stdio.h>
#include <string.h>

bool test_contraction_make(const char *pattern, cuttType_t type, test_contraction *c) {
  memset(c, 0, sizeof *c);
  if (strlen(pattern) >= sizeof c->pattern || !test_labels_read(pattern, &c->is)) return false;
  strcpy(c->pattern, pattern);
  c->type = type;
  for (int i = 0; i < c->is.labels; ++i) c->extent[i] = 1;
  c->limit = CUTT_NO_LIMIT;
  c->threads = 1;
  c->seed = 1;
  test_contraction_finish(c);
  return true;
}

void test_contraction_small(test_rng *rng, int64_t most_products, test_contraction *c) {
  int order[TEST_MOST_LABELS], extent[5] = {2, 3, 4, 5, 1};
  for (int i = 0; i < c->is.labels; ++i) order[i] = i;
  test_shuffle(rng, order, c->is.labels);
  test_shuffle(rng, extent, test_chance(rng, 20) ? 5 : 4); /* ones are there in addition, rather than for another */
  int64_t products = 1;
  for (int i = 0; i < c->is.labels; ++i) {
    int64_t e = i < 5 ? extent[i] : test_random_in(rng, 1, 5);
    while (products * e > most_products) --e;
    c->extent[order[i]] = e;
    products *= e;
  }
  test_contraction_finish(c);
}

/* Modes in some order, each beyond what the modes before it span, with or without a gap. */
static void draw_strides(test_rng *rng, test_contraction *c, int tensor) {
  const int rank = c->is.rank[tensor];
  const int64_t most_span = 8 * test_contraction_volume(c, tensor) + 256; /* gaps multiply up over many modes */
  int order[CUTT_MAX_RANK];
  int64_t *stride = c->stride[tensor], span = test_chance(rng, 70) ? 1 : test_random_in(rng, 2, 5);
  for (int i = 0; i < rank; ++i) order[i] = i;
  if (test_chance(rng, 40)) test_shuffle(rng, order, rank);
  for (int i = 0; i < rank; ++i) {
    int64_t extent = test_contraction_extent(c, tensor, order[i]);
    int64_t gap = test_chance(rng, 40) ? test_random_in(rng, 1, 9) : 0;
    if (extent < 1) extent = 1;
    if ((span + gap) * extent > most_span) gap = 0;
    stride[order[i]] = span + gap;
    span = (span + gap) * extent;
  }
  const bool operand = tensor != TEST_RESULT;
  const int percent_negative = test_chance(rng, 50) ? 0 : 30, percent_zero = operand && test_chance(rng, 30) ? 25 : 0;
  const bool overlapping = operand && test_chance(rng, 5);
  for (int i = 0; i < rank; ++i) {
    if (overlapping && test_chance(rng, 50)) stride[i] = test_random_in(rng, 0, 7);
    if (test_chance(rng, percent_negative)) stride[i] = -stride[i];
    if (test_chance(rng, percent_zero)) stride[i] = 0;
    if (test_contraction_extent(c, tensor, i) == 1 && test_chance(rng, 30))
      stride[i] = test_random_in(rng, -1000000007, 1000000007);
  }
}

/* At any address, and where what is mapped begins or ends. */
static int draw_place(test_rng *rng, cuttType_t type) {
  const int part = (int)test_type_bytes(type) / (test_type_complex(type) ? 2 : 1);
  if (test_chance(rng, 20)) return test_chance(rng, 50) ? TEST_AT_START : TEST_AT_END;
  return test_chance(rng, 70) ? part * (int)test_random_in(rng, 0, 63 / part) : (int)test_random_in(rng, 0, 63);
}

static int64_t bytes_of(const test_contraction *c) {
  int64_t volume = 0;
  for (int t = 0; t < TEST_TENSORS; ++t) volume += test_contraction_volume(c, t);
  return volume * (int64_t)test_type_bytes(c->type);
}

void test_contraction_vary(test_rng *rng, const test_variety *v, test_contraction *c) {
  static const cuttType_t types[] = {CUTT_F64, CUTT_F32, CUTT_C64, CUTT_C32};
  c->type = types[test_random_in(rng, 0, 3)];
  if (test_chance(rng, v->percent_half)) c->type = test_chance(rng, 50) ? CUTT_F16 : CUTT_BF16;
  for (int t = 0; t < TEST_TENSORS; ++t) {
    c->strided[t] = test_chance(rng, v->percent_strided);
    if (c->strided[t]) draw_strides(rng, c, t);
    c->at[t] = draw_place(rng, c->type);
  }
  c->has_alpha = c->has_beta = false;
  if (test_chance(rng, v->percent_scaled)) {
    c->has_alpha = test_chance(rng, 80);
    c->has_beta = test_chance(rng, 70);
    if (c->has_alpha) c->alpha = test_random_scalar(rng, c->type);
    if (c->has_beta) c->beta = test_random_scalar(rng, c->type);
  }
  for (int t = 0; t < 2; ++t) c->conjugate[t] = test_chance(rng, 25) ? (int)test_random_in(rng, -2, 2) : 0;
  c->threads = (int)test_random_in(rng, 1, v->max_threads);
  c->workspace = (int)test_random_in(rng, 0, 2);
  c->limit = CUTT_NO_LIMIT;
  if (test_chance(rng, v->percent_limited)) {
    c->limit = test_chance(rng, 30) ? 0 : (size_t)test_random_in(rng, 1, bytes_of(c) + 1);
  }
  c->seed = test_random(rng) >> 1;
  test_contraction_finish(c);
}

/* ---------------------------------------------------------------------------------------------------------- patterns */

typedef struct draft {
  char letter[TEST_TENSORS][CUTT_MAX_RANK + 1];
  int rank[TEST_TENSORS], letters;
} draft;

static void put(draft *d, int tensor, int letter) {
  d->letter[tensor][d->rank[tensor]++] = (char)(letter < 26 ? 'a' + letter : 'A' + letter - 26);
}

/* A new letter in these tensors (bits 1 L, 2 R, 4 D), if there is room in them. */
static void put_all(draft *d, int max_rank, int tensors) {
  for (int t = 0; t < TEST_TENSORS; ++t) {
    if (tensors >> t & 1 && d->rank[t] >= max_rank) return;
  }
  for (int t = 0; t < TEST_TENSORS; ++t) {
    if (tensors >> t & 1) put(d, t, d->letters);
  }
  ++d->letters;
}

static void shuffle(test_rng *rng, char *list, int count) {
  for (int i = count - 1; i > 0; --i) {
    const int64_t j = test_random_in(rng, 0, i);
    const char t = list[i];
    list[i] = list[j];
    list[j] = t;
  }
}

static void write_talsh(const draft *d, bool adds, const bool *conjugate, char *text, size_t size) {
  static const char *const name[TEST_TENSORS] = {"L", "R", "D"};
  static const int order[TEST_TENSORS] = {TEST_RESULT, TEST_LEFT, TEST_RIGHT};
  size_t length = 0;
  for (int i = 0; i < TEST_TENSORS; ++i) {
    const int t = order[i];
    length += (size_t)snprintf(text + length, size - length, "%s%s%s(", i == 2 ? "*" : "", name[t],
                               t != TEST_RESULT && conjugate[t] ? "+" : "");
    for (int j = 0; j < d->rank[t]; ++j)
      length += (size_t)snprintf(text + length, size - length, "%s%c", j ? "," : "", d->letter[t][j]);
    length += (size_t)snprintf(text + length, size - length, i == 0 ? (adds ? ")+=" : ")=") : ")");
  }
}

static void draw_pattern(test_rng *rng, int max_rank, char *text, size_t size) {
  enum { L = 1, R = 2, D = 4 };
  draft d;
  memset(&d, 0, sizeof d);
  const int counts = max_rank < 5 ? max_rank : 4;
  for (int64_t i = test_random_in(rng, 0, counts); i > 0; --i) put_all(&d, max_rank, L | R);
  for (int64_t i = test_random_in(rng, 0, counts); i > 0; --i) put_all(&d, max_rank, L | D);
  for (int64_t i = test_random_in(rng, 0, counts); i > 0; --i) put_all(&d, max_rank, R | D);
  if (test_chance(rng, 35)) {
    for (int64_t i = test_random_in(rng, 1, 2); i > 0; --i) put_all(&d, max_rank, L | R | D);
  }
  if (test_chance(rng, 20)) put_all(&d, max_rank, L);
  if (test_chance(rng, 20)) put_all(&d, max_rank, R);
  for (int t = 0; t < TEST_RESULT; ++t) { /* a diagonal */
    if (d.rank[t] && d.rank[t] < max_rank && test_chance(rng, 12)) {
      d.letter[t][d.rank[t]] = d.letter[t][test_random_in(rng, 0, d.rank[t] - 1)];
      ++d.rank[t];
    }
  }
  /* Half of the time whole runs keep their order, so that there is something to fuse. */
  for (int t = 0; t < TEST_TENSORS; ++t) {
    if (test_chance(rng, 50)) {
      shuffle(rng, d.letter[t], d.rank[t]);
    } else if (d.rank[t] > 1) {
      const int64_t by = test_random_in(rng, 0, d.rank[t] - 1);
      char rotated[CUTT_MAX_RANK];
      for (int i = 0; i < d.rank[t]; ++i) rotated[i] = d.letter[t][(i + by) % d.rank[t]];
      memcpy(d.letter[t], rotated, (size_t)d.rank[t]);
    }
  }
  if (test_chance(rng, 50)) {
    const bool conjugate[2] = {test_chance(rng, 25), test_chance(rng, 25)};
    write_talsh(&d, test_chance(rng, 50), conjugate, text, size);
  } else {
    snprintf(text, size, "%s,%s->%s", d.letter[TEST_LEFT], d.letter[TEST_RIGHT], d.letter[TEST_RESULT]);
  }
}

void test_contraction_draw(test_rng *rng, int max_rank, int64_t most_products, test_contraction *c) {
  char text[1024];
  draw_pattern(rng, max_rank, text, sizeof text);
  if (!test_contraction_make(text, CUTT_F64, c)) {
    fprintf(stderr, "the pattern %s, which a test has drawn, is not one\n", text);
    return;
  }
  /* Some large and many small ones, in an order that favours no label. */
  int order[TEST_MOST_LABELS];
  int64_t products = 1;
  for (int i = 0; i < c->is.labels; ++i) order[i] = i;
  test_shuffle(rng, order, c->is.labels);
  for (int i = 0; i < c->is.labels; ++i) {
    int64_t extent = test_chance(rng, 10)   ? 1
                     : test_chance(rng, 50) ? test_random_in(rng, 2, 5)
                     : test_chance(rng, 60) ? test_random_in(rng, 2, 20)
                                            : test_random_in(rng, 2, 200);
    while (extent > 1 && products * extent > most_products) extent /= 2;
    c->extent[order[i]] = extent;
    products *= extent;
  }
  if (c->is.labels && test_chance(rng, 2)) c->extent[order[0]] = 0;
  /* A diagonal's whole tensor is larger than what is looked at. */
  for (int t = 0; t < TEST_TENSORS; ++t) {
    int64_t volume = 1;
    for (int i = 0; i < c->is.rank[t]; ++i) {
      int64_t *extent = &c->extent[c->is.label[t][i]];
      while (*extent > 1 && volume * *extent > 4 * most_products) *extent /= 2;
      volume *= *extent > 0 ? *extent : 1;
    }
  }
  test_contraction_finish(c);
}
