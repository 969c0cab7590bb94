/* The plain definition. Written to be read, not to be fast. Patterns are recognised by regular expressions, which is as far
 * from the library's parser as can be. */
#include "reference.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "support/reference.h"

/* --------------------------------------------------------------------------------------------------------- patterns */

static bool is_space(char c) { return c != 0 && strchr(" \t\n\v\f\r", c); }

/* A name among the labels, which are kept as texts while reading. */
typedef struct names {
  char text[TEST_PATTERN_BYTES + 3 * CUTT_MAX_RANK];
  const char *name[3 * CUTT_MAX_RANK];
  size_t used;
} names;

static bool add_label(test_labels *labels, names *known, int tensor, const char *name, size_t length) {
  if (labels->rank[tensor] == CUTT_MAX_RANK) return false;
  int label = 0;
  while (label < labels->labels &&
         (strlen(known->name[label]) != length || strncmp(known->name[label], name, length) != 0))
    ++label;
  if (label == labels->labels) {
    char *copy = known->text + known->used;
    memcpy(copy, name, length);
    copy[length] = 0;
    known->used += length + 1;
    known->name[labels->labels++] = copy;
  }
  labels->label[tensor][labels->rank[tensor]++] = label;
  return true;
}

/* Letters of einsum (comma is false), or names between commas. */
static bool add_labels(test_labels *labels, names *known, int tensor, const char *from, const char *to, bool comma) {
  while (from < to) {
    size_t length = 1;
    if (comma) {
      while (from < to && (is_space(*from) || *from == ',')) ++from;
      length = 0;
      while (from + length < to && !is_space(from[length]) && from[length] != ',') ++length;
      if (!length) break;
    }
    if (!add_label(labels, known, tensor, from, length)) return false;
    from += length;
  }
  return true;
}

static int times_in(const test_labels *labels, int tensor, int label) {
  int times = 0;
  for (int i = 0; i < labels->rank[tensor]; ++i) times += labels->label[tensor][i] == label;
  return times;
}

static int times_in_operands(const test_labels *labels, int label) {
  return times_in(labels, TEST_LEFT, label) + times_in(labels, TEST_RIGHT, label);
}

enum { GROUPS = 12 };

static bool match(const char *expression, const char *text, regmatch_t *group) {
  regex_t compiled;
  if (regcomp(&compiled, expression, REG_EXTENDED)) return false;
  const bool matches = regexec(&compiled, text, GROUPS, group, 0) == 0;
  regfree(&compiled);
  return matches;
}

#define S "[ \t\n\v\f\r]*"
#define N "[A-Za-z0-9_]+"
#define LIST "(" S "|" S N S "(," S N S ")*)"

static bool read_talsh(const char *text, test_labels *labels, names *known) {
  regmatch_t g[GROUPS];
#define ASSIGNED "^" S N S "\\(" LIST "\\)" S "(\\+?)=" S N S "(\\+?)" S "\\(" LIST "\\)" S
  if (match(ASSIGNED "$", text, g)) {
    labels->one = true;
    labels->adds = g[3].rm_eo > g[3].rm_so;
    labels->conjugate[TEST_LEFT] = g[4].rm_eo > g[4].rm_so;
    return add_labels(labels, known, TEST_RESULT, text + g[1].rm_so, text + g[1].rm_eo, true) &&
           add_labels(labels, known, TEST_LEFT, text + g[5].rm_so, text + g[5].rm_eo, true);
  }
  if (!match(ASSIGNED "\\*" S N S "(\\+?)" S "\\(" LIST "\\)" S "$", text, g)) return false;
  labels->adds = g[3].rm_eo > g[3].rm_so;
  labels->conjugate[TEST_LEFT] = g[4].rm_eo > g[4].rm_so;
  labels->conjugate[TEST_RIGHT] = g[7].rm_eo > g[7].rm_so;
  return add_labels(labels, known, TEST_RESULT, text + g[1].rm_so, text + g[1].rm_eo, true) &&
         add_labels(labels, known, TEST_LEFT, text + g[5].rm_so, text + g[5].rm_eo, true) &&
         add_labels(labels, known, TEST_RIGHT, text + g[8].rm_so, text + g[8].rm_eo, true);
}

static bool read_einsum(const char *text, test_labels *labels, names *known) {
  char bare[TEST_PATTERN_BYTES];
  size_t length = 0;
  for (; *text; ++text) {
    if (!is_space(*text)) bare[length++] = *text;
  }
  bare[length] = 0;
  regmatch_t g[GROUPS];
  labels->one = bare[0] && match("^([A-Za-z]*)()(->([A-Za-z]*))?$", bare, g);
  if (!labels->one && !match("^([A-Za-z]*),([A-Za-z]*)(->([A-Za-z]*))?$", bare, g)) return false;
  if (!add_labels(labels, known, TEST_LEFT, bare + g[1].rm_so, bare + g[1].rm_eo, false) ||
      !add_labels(labels, known, TEST_RIGHT, bare + g[2].rm_so, bare + g[2].rm_eo, false))
    return false;
  if (g[3].rm_so >= 0) return add_labels(labels, known, TEST_RESULT, bare + g[4].rm_so, bare + g[4].rm_eo, false);
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    const char name[2] = {letter, 0};
    for (int label = 0; label < labels->labels; ++label) {
      if (!strcmp(known->name[label], name) && times_in_operands(labels, label) == 1)
        add_label(labels, known, TEST_RESULT, name, 1);
    }
  }
  return true;
}

bool test_labels_read(const char *pattern, test_labels *labels) {
  names known;
  memset(labels, 0, sizeof *labels);
  memset(&known, 0, sizeof known);
  if (strlen(pattern) >= TEST_PATTERN_BYTES) return false;
  if (!(strchr(pattern, '(') ? read_talsh : read_einsum)(pattern, labels, &known)) return false;
  for (int label = 0; label < labels->labels; ++label) {
    if (times_in_operands(labels, label) == 0 || times_in(labels, TEST_RESULT, label) > 1) return false;
    for (int t = 0; t < TEST_TENSORS; ++t) labels->in[t][label] = times_in(labels, t, label) > 0;
  }
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- shapes */

int64_t test_contraction_extent(const test_contraction *c, int tensor, int mode) {
  return c->extent[c->is.label[tensor][mode]];
}

void test_contraction_finish(test_contraction *c) {
  for (int t = 0; t < TEST_TENSORS; ++t) {
    int64_t packed = 1;
    for (int i = 0; i < c->is.rank[t]; ++i) {
      const int64_t extent = test_contraction_extent(c, t, i);
      if (!c->strided[t]) c->stride[t][i] = packed;
      if (extent > 1) packed *= extent;
    }
    memset(c->step[t], 0, sizeof c->step[t]);
    for (int i = 0; i < c->is.rank[t]; ++i) { /* an extent of 1 has no steps, and its stride may be anything */
      if (test_contraction_extent(c, t, i) > 1) c->step[t][c->is.label[t][i]] += c->stride[t][i];
    }
  }
}

int64_t test_contraction_volume(const test_contraction *c, int tensor) {
  int64_t volume = 1;
  for (int label = 0; label < c->is.labels; ++label) {
    if (c->is.in[tensor][label]) volume *= c->extent[label];
  }
  return volume;
}

int64_t test_contraction_products(const test_contraction *c) {
  int64_t products = 1;
  for (int label = 0; label < c->is.labels; ++label) products *= c->extent[label];
  return products;
}

void test_contraction_span(const test_contraction *c, int tensor, int64_t *low, int64_t *high) {
  *low = *high = 0;
  if (test_contraction_volume(c, tensor) == 0) return;
  *high = 1;
  for (int i = 0; i < c->is.rank[tensor]; ++i) {
    const int64_t reach = (test_contraction_extent(c, tensor, i) - 1) * c->stride[tensor][i];
    *(reach < 0 ? low : high) += reach;
  }
}

int64_t test_contraction_at(const test_contraction *c, int tensor, int64_t number) {
  int64_t at = 0;
  for (int label = 0; label < c->is.labels; ++label) {
    if (!c->is.in[tensor][label]) continue;
    at += number % c->extent[label] * c->step[tensor][label];
    number /= c->extent[label];
  }
  return at;
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

typedef struct wide {
  long double re, im;
} wide;

void test_element_load(cuttType_t type, const void *element, long double *re, long double *im) {
  uint16_t half;
  float f[2] = {0, 0};
  double d[2] = {0, 0};
  *im = 0;
  switch (type) {
    case CUTT_F16:
      memcpy(&half, element, 2), *re = test_half_to_double(half);
      break;
    case CUTT_BF16:
      memcpy(&half, element, 2), *re = test_bfloat_to_double(half);
      break;
    case CUTT_F32:
      memcpy(f, element, 4), *re = f[0];
      break;
    case CUTT_C32:
      memcpy(f, element, 8), *re = f[0], *im = f[1];
      break;
    case CUTT_C64:
      memcpy(d, element, 16), *re = d[0], *im = d[1];
      break;
    default: /* CUTT_F64 */
      memcpy(d, element, 8), *re = d[0];
  }
}

static wide load(const test_contraction *c, const void *tensor, int64_t at) {
  wide w;
  const unsigned char *bytes = tensor;
  test_element_load(c->type, bytes + at * (int64_t)test_type_bytes(c->type), &w.re, &w.im);
  return w;
}

static wide scalar(cuttType_t type, bool given, const test_scalar *s, long double otherwise) {
  wide w = {otherwise, 0};
  if (!given) return w;
  const bool f64 = type == CUTT_F64 || type == CUTT_C64;
  w.re = f64 ? (long double)s->f64[0] : (long double)s->f32[0];
  if (test_type_complex(type)) w.im = f64 ? (long double)s->f64[1] : (long double)s->f32[1];
  return w;
}

static wide alpha_of(const test_contraction *c) { return scalar(c->type, c->has_alpha, &c->alpha, 1); }
static wide beta_of(const test_contraction *c) { return scalar(c->type, c->has_beta, &c->beta, c->is.adds ? 1 : 0); }

bool test_contraction_alpha_is_zero(const test_contraction *c) {
  const wide alpha = alpha_of(c);
  return alpha.re == 0 && alpha.im == 0;
}

bool test_contraction_reads_result(const test_contraction *c) {
  const wide beta = beta_of(c);
  return beta.re != 0 || beta.im != 0;
}

static wide times(wide a, wide b) { return (wide){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static long double magnitude(wide a) { return a.im == 0 ? fabsl(a.re) : sqrtl(a.re * a.re + a.im * a.im); }

static long double eps_of(cuttType_t type) {
  switch (type) {
    case CUTT_F16:
      return 0x1p-11L;
    case CUTT_BF16:
      return 0x1p-8L;
    case CUTT_F32:
    case CUTT_C32:
      return 0x1p-24L;
    default:
      return 0x1p-53L;
  }
}

test_expected test_define(const test_contraction *c, const void *left, const void *right, const void *before,
                          int64_t number) {
  /* The labels of the result have one index each; the others, which are summed over, take all. */
  int64_t at_left = 0, at_right = 0, rest = number;
  int summed[TEST_MOST_LABELS], sums = 0;
  int64_t terms = 1, index[TEST_MOST_LABELS] = {0}, step_left[TEST_MOST_LABELS], step_right[TEST_MOST_LABELS];
  for (int label = 0; label < c->is.labels; ++label) {
    const int64_t extent = c->extent[label], to_left = c->step[TEST_LEFT][label], to_right = c->step[TEST_RIGHT][label];
    if (c->is.in[TEST_RESULT][label]) {
      at_left += rest % extent * to_left;
      at_right += rest % extent * to_right;
      rest /= extent;
    } else {
      step_left[sums] = to_left;
      step_right[sums] = to_right;
      summed[sums++] = label;
      terms *= extent;
    }
  }
  const bool conjugate_left = test_type_complex(c->type) && c->is.conjugate[0] != (c->conjugate[0] != 0);
  const bool conjugate_right = test_type_complex(c->type) && c->is.conjugate[1] != (c->conjugate[1] != 0);
  wide sum = {0, 0};
  long double size = 0;
  const wide alpha = alpha_of(c), beta = beta_of(c);
  if (test_contraction_alpha_is_zero(c)) terms = 0; /* and the operands are not looked at */
  for (int64_t term = 0; term < terms; ++term) {
    wide l = load(c, left, at_left), r = {1, 0};
    if (!c->is.one) r = load(c, right, at_right);
    if (conjugate_left) l.im = -l.im;
    if (conjugate_right) r.im = -r.im;
    const wide product = times(l, r);
    sum.re += product.re;
    sum.im += product.im;
    size += magnitude(product);
    for (int i = 0; i < sums; ++i) {
      at_left += step_left[i];
      at_right += step_right[i];
      if (++index[i] < c->extent[summed[i]]) break;
      at_left -= index[i] * step_left[i];
      at_right -= index[i] * step_right[i];
      index[i] = 0;
    }
  }
  sum = times(alpha, sum);
  size *= magnitude(alpha);
  if (test_contraction_reads_result(c)) {
    const wide added = times(beta, load(c, before, test_contraction_at(c, TEST_RESULT, number)));
    sum.re += added.re;
    sum.im += added.im;
    size += magnitude(added);
  }
  const bool half = c->type == CUTT_F16 || c->type == CUTT_BF16;
  const long double many = (long double)(terms + 8) * (test_type_complex(c->type) ? 4 : 1);
  test_expected expected = {sum.re, sum.im, many * eps_of(half ? CUTT_F32 : c->type) * size};
  if (half) expected.bound += 8 * eps_of(c->type) * size;
  return expected;
}
