/* Problems as values: views for the library, spans, the line that repeats a failure. What makes random ones is in
 * random.c. */
#include "support/problem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t test_type_bytes(cuttType_t type) {
  switch (type) {
    case CUTT_BYTES_1:
      return 1;
    case CUTT_BYTES_2:
      return 2;
    case CUTT_BYTES_4:
      return 4;
    case CUTT_BYTES_8:
      return 8;
    case CUTT_BYTES_16:
      return 16;
    case CUTT_F16:
    case CUTT_BF16:
      return 2;
    case CUTT_F32:
    case CUTT_I32:
      return 4;
    case CUTT_F64:
    case CUTT_C32:
    case CUTT_I64:
      return 8;
    case CUTT_C64:
      return 16;
  }
  return 0;
}

bool test_type_computes(cuttType_t type) { return type >= CUTT_F16; }

bool test_type_complex(cuttType_t type) { return type == CUTT_C32 || type == CUTT_C64; }

void test_problem_finish(test_problem *p) {
  if (!p->in_strided) {
    int64_t stride = 1;
    for (int i = 0; i < p->rank; i++) {
      p->in_strides[i] = stride;
      stride *= p->extents[i];
    }
  }
  if (!p->out_strided) {
    int64_t stride = 1;
    for (int i = 0; i < p->rank; i++) {
      p->out_strides[i] = stride;
      stride *= p->extents[p->perm[i]];
    }
  }
}

test_problem test_packed(cuttType_t type, int rank, const int64_t *extents, const int *perm) {
  test_problem p;
  memset(&p, 0, sizeof p);
  p.rank = rank;
  p.type = type;
  for (int i = 0; i < rank; i++) {
    p.extents[i] = extents[i];
    p.perm[i] = perm[i];
  }
  p.threads = 1;
  p.seed = 1;
  test_problem_finish(&p);
  return p;
}

void test_add_small_gaps(test_rng *rng, test_problem *p, int step_percent, int gap_percent) {
  int64_t in = test_chance(rng, step_percent) ? test_random_in(rng, 2, 4) : 1, out = test_chance(rng, 15) ? 2 : 1;
  p->in_strided = p->out_strided = true;
  for (int i = 0; i < p->rank; i++) {
    p->in_strides[i] = in;
    p->out_strides[i] = out;
    in *= p->extents[i];
    out *= p->extents[p->perm[i]];
    if (i < 2 && test_chance(rng, gap_percent)) in += test_random_in(rng, 1, in);
    if (i < 2 && test_chance(rng, gap_percent)) out += test_random_in(rng, 1, out);
  }
}

cuttProblem_t test_problem_view(const test_problem *p) {
  cuttProblem_t view = CUTT_PROBLEM_INIT;
  view.rank = p->rank;
  view.type = p->type;
  view.extents = p->extents;
  view.perm = p->perm;
  view.in_strides = p->in_strided ? p->in_strides : NULL;
  view.out_strides = p->out_strided ? p->out_strides : NULL;
  view.alpha = p->has_alpha ? &p->alpha : NULL;
  view.beta = p->has_beta ? &p->beta : NULL;
  view.conjugate = p->conjugate;
  return view;
}

int64_t test_volume(const test_problem *p) {
  int64_t volume = 1;
  for (int i = 0; i < p->rank; i++) volume *= p->extents[i];
  return volume;
}

static void span_add(int64_t extent, int64_t stride, int64_t *low, int64_t *high) {
  if (stride < 0)
    *low += (extent - 1) * stride;
  else
    *high += (extent - 1) * stride;
}

void test_in_span(const test_problem *p, int64_t *low, int64_t *high) {
  *low = *high = 0;
  if (test_volume(p) == 0) return;
  *high = 1;
  for (int i = 0; i < p->rank; i++) span_add(p->extents[i], p->in_strides[i], low, high);
}

void test_out_span(const test_problem *p, int64_t *low, int64_t *high) {
  *low = *high = 0;
  if (test_volume(p) == 0) return;
  *high = 1;
  for (int i = 0; i < p->rank; i++) span_add(p->extents[p->perm[i]], p->out_strides[i], low, high);
}

/* Is the scalar re + 0i? */
static bool scalar_is(cuttType_t type, const test_scalar *s, int re) {
  switch (type) {
    case CUTT_F16:
    case CUTT_BF16:
    case CUTT_F32:
      return s->f32[0] == (float)re;
    case CUTT_F64:
      return s->f64[0] == (double)re;
    case CUTT_C32:
      return s->f32[0] == (float)re && s->f32[1] == 0.0f;
    case CUTT_C64:
      return s->f64[0] == (double)re && s->f64[1] == 0.0;
    case CUTT_I32:
      return s->i32 == re;
    case CUTT_I64:
      return s->i64 == re;
    default:
      return false;
  }
}

bool test_beta_is_zero(const test_problem *p) { return !p->has_beta || scalar_is(p->type, &p->beta, 0); }

bool test_problem_computes(const test_problem *p) {
  if (!test_type_computes(p->type)) return false;
  return p->conjugate || (p->has_alpha && !scalar_is(p->type, &p->alpha, 1)) || !test_beta_is_zero(p);
}

/* ------------------------------------------------------------------------------------------------ as a line */

typedef struct line_text {
  char *buffer;
  size_t size, length;
} line_text;

__attribute__((format(printf, 2, 3))) static void add(line_text *text, const char *format, ...) {
  if (text->length >= text->size) return;
  va_list list;
  va_start(list, format);
  int n = vsnprintf(text->buffer + text->length, text->size - text->length, format, list);
  va_end(list);
  if (n > 0) text->length += (size_t)n;
}

static void add_int64s(line_text *text, const char *name, const int64_t *list, int count) {
  add(text, " %s=", name);
  for (int i = 0; i < count; i++) add(text, "%s%" PRId64, i ? "," : "", list[i]);
}

static void add_scalar(line_text *text, const char *name, const test_scalar *scalar) {
  add(text, " %s=", name);
  for (size_t i = 0; i < sizeof scalar->raw; i++) add(text, "%02x", scalar->raw[i]);
}

void test_problem_print(const test_problem *p, char *line, size_t size) {
  line_text text = {line, size, 0};
  if (size) line[0] = 0;
  add(&text, "rank=%d type=%d", p->rank, (int)p->type);
  add_int64s(&text, "extents", p->extents, p->rank);
  add(&text, " perm=");
  for (int i = 0; i < p->rank; i++) add(&text, "%s%d", i ? "," : "", p->perm[i]);
  if (p->in_strided) add_int64s(&text, "in", p->in_strides, p->rank);
  if (p->out_strided) add_int64s(&text, "out", p->out_strides, p->rank);
  if (p->has_alpha) add_scalar(&text, "alpha", &p->alpha);
  if (p->has_beta) add_scalar(&text, "beta", &p->beta);
  add(&text, " conj=%d in_at=%d out_at=%d threads=%d seed=%" PRIu64, p->conjugate, p->in_at, p->out_at, p->threads,
      p->seed);
}

static bool parse_int64s(const char *value, int64_t *list, int count) {
  for (int i = 0; i < count; i++) {
    char *end;
    list[i] = strtoll(value, &end, 10);
    if (end == value || (*end != ',' && i + 1 < count)) return false;
    value = end + (*end == ',');
  }
  return true;
}

static bool parse_scalar(const char *value, test_scalar *scalar) {
  for (size_t i = 0; i < sizeof scalar->raw; i++) {
    unsigned byte;
    if (sscanf(value + 2 * i, "%2x", &byte) != 1) return false;
    scalar->raw[i] = (unsigned char)byte;
  }
  return true;
}

static bool parse_word(const char *name, const char *value, test_problem *p) {
  int64_t perm[CUTT_MAX_RANK];
  if (!strcmp(name, "rank")) {
    p->rank = atoi(value);
    return p->rank >= 0 && p->rank <= CUTT_MAX_RANK;
  }
  if (!strcmp(name, "type")) {
    p->type = (cuttType_t)atoi(value);
    return test_type_bytes(p->type) != 0;
  }
  if (!strcmp(name, "extents")) return parse_int64s(value, p->extents, p->rank);
  if (!strcmp(name, "perm")) {
    if (!parse_int64s(value, perm, p->rank)) return false;
    for (int i = 0; i < p->rank; i++) p->perm[i] = (int)perm[i];
    return true;
  }
  if (!strcmp(name, "in")) return p->in_strided = parse_int64s(value, p->in_strides, p->rank);
  if (!strcmp(name, "out")) return p->out_strided = parse_int64s(value, p->out_strides, p->rank);
  if (!strcmp(name, "alpha")) return p->has_alpha = parse_scalar(value, &p->alpha);
  if (!strcmp(name, "beta")) return p->has_beta = parse_scalar(value, &p->beta);
  if (!strcmp(name, "conj")) return p->conjugate = atoi(value), true;
  if (!strcmp(name, "in_at")) return p->in_at = atoi(value), true;
  if (!strcmp(name, "out_at")) return p->out_at = atoi(value), true;
  if (!strcmp(name, "threads")) return p->threads = atoi(value), true;
  if (!strcmp(name, "seed")) return p->seed = strtoull(value, NULL, 10), true;
  return false;
}

bool test_problem_parse(const char *line, test_problem *p) {
  char copy[8192];
  if (strlen(line) >= sizeof copy) return false;
  strcpy(copy, line);
  memset(p, 0, sizeof *p);
  p->threads = 1;
  for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
    char *value = strchr(word, '=');
    if (!value) return false;
    *value++ = 0;
    if (!parse_word(word, value, p)) return false;
  }
  test_problem_finish(p);
  return true;
}
