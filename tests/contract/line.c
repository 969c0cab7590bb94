/* A contraction as one line of text, and back: what a failing test prints, and what CUTT_TEST_REPEAT takes. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

typedef struct line_text {
  char *buffer;
  size_t size, length;
} line_text;

__attribute__((format(printf, 2, 3))) static void add(line_text *text, const char *format, ...) {
  if (text->length >= text->size) return;
  va_list list;
  va_start(list, format);
  const int n = vsnprintf(text->buffer + text->length, text->size - text->length, format, list);
  va_end(list);
  if (n > 0) text->length += (size_t)n;
}

static const struct {
  cuttType_t type;
  const char *name;
} types[] = {{CUTT_F16, "f16"}, {CUTT_BF16, "bf16"}, {CUTT_F32, "f32"},
             {CUTT_F64, "f64"}, {CUTT_C32, "c32"},   {CUTT_C64, "c64"}};
enum { TYPES = sizeof types / sizeof *types };

static const char *const strides_key[TEST_TENSORS] = {"left", "right", "result"};

static bool is_double(cuttType_t type) { return type == CUTT_F64 || type == CUTT_C64; }

static void add_scalar(line_text *text, const char *name, const test_contraction *c, const test_scalar *s) {
  const bool wide = is_double(c->type);
  add(text, " %s=%a,%a", name, wide ? s->f64[0] : (double)s->f32[0], wide ? s->f64[1] : (double)s->f32[1]);
}

void test_contraction_print(const test_contraction *c, char *line, size_t size) {
  line_text text = {line, size, 0};
  if (size) *line = 0;
  const char *type = "?";
  for (int i = 0; i < TYPES; ++i) {
    if (types[i].type == c->type) type = types[i].name;
  }
  add(&text, "pattern=\"%s\" type=%s extents=", c->pattern, type);
  for (int i = 0; i < c->is.labels; ++i) add(&text, "%s%" PRId64, i ? "," : "", c->extent[i]);
  for (int t = 0; t < TEST_TENSORS; ++t) {
    if (!c->strided[t]) continue;
    add(&text, " %s=", strides_key[t]);
    for (int i = 0; i < c->is.rank[t]; ++i) add(&text, "%s%" PRId64, i ? "," : "", c->stride[t][i]);
  }
  if (c->has_alpha) add_scalar(&text, "alpha", c, &c->alpha);
  if (c->has_beta) add_scalar(&text, "beta", c, &c->beta);
  if (c->conjugate[0] || c->conjugate[1]) add(&text, " conjugate=%d,%d", c->conjugate[0], c->conjugate[1]);
  add(&text, " at=%d,%d,%d", c->at[0], c->at[1], c->at[2]);
  if (c->limit != CUTT_NO_LIMIT) add(&text, " limit=%zu", c->limit);
  add(&text, " workspace=%d threads=%d", c->workspace, c->threads);
  if (*c->blas) add(&text, " blas=%s", c->blas);
  if (*c->algorithm) add(&text, " algorithm=%s", c->algorithm);
  add(&text, " seed=%" PRIu64, c->seed);
}

/* The text behind " key=", or NULL. */
static const char *find(const char *line, const char *key) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, " %s=", key);
  const char *found = strstr(line, wanted);
  return found ? found + strlen(wanted) : NULL;
}

static bool read_numbers(const char *at, int64_t *list, int count) {
  for (int i = 0; i < count; ++i) {
    char *end;
    list[i] = strtoll(at, &end, 10);
    if (end == at) return false;
    at = *end == ',' ? end + 1 : end;
  }
  return true;
}

static bool read_scalar(const char *at, const test_contraction *c, test_scalar *s) {
  char *end;
  const double re = strtod(at, &end);
  if (end == at || *end != ',') return false;
  const double im = strtod(end + 1, NULL);
  memset(s, 0, sizeof *s);
  if (is_double(c->type)) {
    s->f64[0] = re, s->f64[1] = im;
  } else {
    s->f32[0] = (float)re, s->f32[1] = (float)im;
  }
  return true;
}

bool test_contraction_scan(const char *line, test_contraction *c) {
  memset(c, 0, sizeof *c);
  const char *first = strchr(line, '"'), *last = strrchr(line, '"');
  if (!first || last == first || last - first > TEST_PATTERN_BYTES) return false;
  memcpy(c->pattern, first + 1, (size_t)(last - first - 1));
  if (!test_labels_read(c->pattern, &c->is)) return false;
  line = last + 1; /* a pattern may have anything in it */
  const char *at = find(line, "type");
  for (int i = 0; at && i < TYPES; ++i) {
    const size_t length = strlen(types[i].name);
    if (!strncmp(at, types[i].name, length) && at[length] == ' ') c->type = types[i].type;
  }
  at = find(line, "extents");
  if (!c->type || !at || !read_numbers(at, c->extent, c->is.labels)) return false;
  for (int t = 0; t < TEST_TENSORS; ++t) {
    at = find(line, strides_key[t]);
    c->strided[t] = at != NULL;
    if (at && !read_numbers(at, c->stride[t], c->is.rank[t])) return false;
  }
  at = find(line, "alpha");
  c->has_alpha = at && read_scalar(at, c, &c->alpha);
  at = find(line, "beta");
  c->has_beta = at && read_scalar(at, c, &c->beta);
  int64_t pair[3] = {0, 0, 0};
  at = find(line, "conjugate");
  if (at && !read_numbers(at, pair, 2)) return false;
  for (int i = 0; at && i < 2; ++i) c->conjugate[i] = (int)pair[i];
  at = find(line, "at");
  if (at && !read_numbers(at, pair, 3)) return false;
  for (int i = 0; at && i < 3; ++i) c->at[i] = (int)pair[i];
  at = find(line, "limit");
  c->limit = at ? (size_t)strtoull(at, NULL, 10) : CUTT_NO_LIMIT;
  at = find(line, "workspace");
  c->workspace = at ? atoi(at) : 0;
  at = find(line, "threads");
  c->threads = at ? atoi(at) : 1;
  at = find(line, "blas");
  if (at) snprintf(c->blas, sizeof c->blas, "%.*s", (int)strcspn(at, " "), at);
  at = find(line, "algorithm");
  if (at) snprintf(c->algorithm, sizeof c->algorithm, "%.*s", (int)strcspn(at, " "), at);
  at = find(line, "seed");
  c->seed = at ? strtoull(at, NULL, 10) : 1;
  test_contraction_finish(c);
  return true;
}
