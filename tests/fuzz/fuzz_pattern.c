/* libFuzzer target for contractions: a byte of flags, a pattern up to the end of its line, and bytes that are read as type,
 * extents, strides, scalars and options. Whatever they say, planning must not crash; it must take those patterns that the
 * tests' own reader takes, and no others, and say where a pattern is wrong. What is accepted and small is executed and
 * held to the plain definition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/cases.h"
#include "contract/try.h"
#include "fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WILD = 1, STRIDED = 2, ALPHA = 4, BETA = 8, LIMITED = 16, JSON = 32, MOST_PRODUCTS = 3000, MOST_SPAN = 20000 };

static cuttType_t type_of(stream *s, bool wild) {
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_F16, CUTT_BF16};
  const uint8_t choice = byte(s);
  if (!wild || choice < 240) return types[choice % 6];
  const int any = (int)(int32_t)bytes(s, 4);
  cuttType_t type;
  memcpy(&type, &any, sizeof type);
  return type;
}

__attribute__((noreturn)) static void die(const test_contraction *c, const char *what) {
  static char line[2 * TEST_PATTERN_BYTES];
  test_contraction_print(c, line, sizeof line);
  fprintf(stderr, "%s: %s\nlast error: %s\n", what, line, cuttLastError());
  abort();
}

/* Strides around the packed ones, so that many are good. */
static void read_strides(stream *s, bool wild, test_contraction *c, int tensor) {
  int64_t packed = 1;
  for (int i = 0; i < c->is.rank[tensor]; i++) {
    const int64_t extent = test_contraction_extent(c, tensor, i);
    const uint8_t kind = byte(s);
    int64_t *stride = &c->stride[tensor][i];
    *stride = kind < 120   ? packed
              : kind < 160 ? -packed
              : kind < 200 ? packed + byte(s) % 8
              : kind < 220 ? 0
                           : number(s, wild, -40, 40);
    const int64_t magnitude = *stride < 0 ? -(*stride + (*stride == INT64_MIN)) : *stride;
    if (__builtin_mul_overflow(magnitude ? magnitude : packed, extent < 1 ? 1 : extent, &packed)) packed = 1;
  }
  c->strided[tensor] = true;
}

/* What is refused has to be refused cleanly. Returns whether it was taken. */
static bool plans(const test_contraction *c, const cuttContraction_t *contraction,
                  const cuttContractionOptions_t *options, bool json) {
  cuttContractionPlan_t plan = NULL;
  const cuttResult result = cuttContractionPlanCreate(&plan, contraction, options);
  if (result != CUTT_SUCCESS) {
    if (plan || !*cuttLastError()) die(c, "a refusal that is not clean");
    return false;
  }
  char text[600];
  size_t needed = 0;
  if (cuttContractionDescribe(plan, json ? CUTT_JSON : CUTT_TEXT, text, sizeof text, &needed) || needed < 2 ||
      cuttContractionPlanDestroy(plan))
    die(c, "a plan that can't be described or destroyed");
  return true;
}

static bool fits(const test_contraction *c) {
  int64_t products = 1;
  for (int i = 0; i < c->is.labels; i++) {
    if (__builtin_mul_overflow(products, c->extent[i], &products) || products > MOST_PRODUCTS) return false;
  }
  for (int t = 0; t < TEST_TENSORS; t++) {
    int64_t span = 1;
    for (int i = 0; i < c->is.rank[t]; i++) {
      int64_t reach;
      if (__builtin_mul_overflow(test_contraction_extent(c, t, i) - 1, c->stride[t][i], &reach)) return false;
      if (reach > MOST_SPAN || reach < -MOST_SPAN) return false;
      span += reach < 0 ? -reach : reach;
    }
    if (span > MOST_SPAN) return false;
  }
  return true;
}

/* Of a result that is small: do elements share an address? */
static bool result_overlaps(const test_contraction *c) {
  static unsigned char hit[MOST_SPAN + 1];
  int64_t low, high;
  test_contraction_span(c, TEST_RESULT, &low, &high);
  memset(hit, 0, sizeof hit);
  for (int64_t i = 0; i < test_contraction_volume(c, TEST_RESULT); i++) {
    if (hit[test_contraction_at(c, TEST_RESULT, i) - low]++) return true;
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  stream s = {data, size};
  const uint8_t flags = byte(&s);
  const bool wild = flags & WILD;
  char pattern[600];
  size_t length = 0;
  while (s.left && *s.at && *s.at != '\n' && length < sizeof pattern - 1) pattern[length++] = (char)byte(&s);
  pattern[length] = 0;
  byte(&s);

  static test_contraction c; /* large */
  if (!test_contraction_make(pattern, CUTT_F64, &c)) {
    static const int64_t ones[CUTT_MAX_RANK] = {1};
    cuttContraction_t bad = CUTT_CONTRACTION_INIT;
    const cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
    bad.pattern = pattern;
    bad.type = CUTT_F64;
    bad.left_rank = (int)number(&s, false, 0, 8);
    bad.right_rank = (int)number(&s, false, 0, 8);
    bad.result_rank = (int)number(&s, false, 0, 8);
    bad.left_extents = bad.right_extents = ones;
    memset(&c, 0, sizeof c);
    memcpy(c.pattern, pattern, length + 1);
    if (plans(&c, &bad, &options, false)) die(&c, "accepted, though the pattern is not valid");
    if (!strstr(cuttLastError(), "pattern") || !strstr(cuttLastError(), "place")) die(&c, "an error without a place");
    return 0;
  }

  c.type = type_of(&s, wild);
  c.threads = 1 + byte(&s) % 2;
  c.workspace = byte(&s) % 3;
  c.seed = bytes(&s, 2);
  int64_t products = 1;
  for (int i = 0; i < c.is.labels; i++) {
    c.extent[i] = number(&s, wild, wild ? -1 : 0, 6);
    if (wild) continue;
    if (products * c.extent[i] > MOST_PRODUCTS) c.extent[i] = 1;
    products *= c.extent[i];
  }
  for (int t = 0; !wild && t < 2; t++) { /* diagonals span more than is multiplied */
    int64_t volume = 1;
    for (int i = 0; i < c.is.rank[t]; i++) {
      int64_t *extent = &c.extent[c.is.label[t][i]];
      if (volume * *extent > MOST_SPAN) *extent = 1;
      volume *= *extent > 1 ? *extent : 1;
    }
  }
  for (int t = 0; t < TEST_TENSORS; t++) {
    if (flags & STRIDED && byte(&s) % 2) read_strides(&s, wild, &c, t);
  }
  test_rng rng = {c.seed};
  c.has_alpha = flags & ALPHA;
  c.has_beta = flags & BETA;
  if (c.has_alpha) c.alpha = test_random_scalar(&rng, c.type);
  if (c.has_beta) c.beta = test_random_scalar(&rng, c.type);
  if (flags & LIMITED) c.limit = (size_t)bytes(&s, 2);
  const uint8_t conjugate = byte(&s);
  c.conjugate[0] = conjugate & 1;
  c.conjugate[1] = conjugate & 2;

  test_fields fields;
  if (wild) { /* packed strides of any extents may not be computed here */
    for (int t = 0; t < TEST_TENSORS; t++) {
      for (int i = 0; !c.strided[t] && i < c.is.rank[t]; i++) c.stride[t][i] = 1;
    }
  } else {
    test_contraction_finish(&c);
  }
  test_contraction_view(&c, &fields);
  if (wild) fields.contraction.result_rank += byte(&s) == 255;
  const bool taken = plans(&c, &fields.contraction, &fields.options, flags & JSON);
  if (wild) return 0;
  const bool half = c.type == CUTT_F16 || c.type == CUTT_BF16; /* which not every BLAS has */
  if (!taken) {
    if (!half && (!c.strided[TEST_RESULT] || (fits(&c) && !result_overlaps(&c)))) die(&c, "refused");
    return 0;
  }
  if (!fits(&c)) return 0;
  if (test_contraction_volume(&c, TEST_RESULT) > 0 && result_overlaps(&c)) die(&c, "accepted, though elements overlap");
  if (test_contraction_try(&c, NULL) == TEST_WRONG) abort();
  return 0;
}
