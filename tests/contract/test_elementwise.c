/* Elementwise operations through the public calls, held to the plain definition: all types and operators, two and three operands,
 * any strides, operands that are the result, and scalars of 0 beside NaNs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* before cmocka.h */
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/elementwise.h"
#include "device.h"
#include "reference.h"
#include "support/buffers.h"
#include "support/check.h"
#include "value.h"

enum { A, B, C, D, TENSORS, MOST_MODES = 5 };

/* One of them, as a value. */
typedef struct operation {
  char pattern[64];
  cuttType_t type;
  int operands, labels;
  int rank[TENSORS], label[TENSORS][MOST_MODES];
  int64_t extent[MOST_MODES];
  int64_t extents[TENSORS][MOST_MODES], stride[TENSORS][MOST_MODES];
  bool strided[TENSORS];
  double scalar[3][2];
  bool has_scalar[3];
  int conjugate[3];
  cuttOperator_t op[2];
  int threads, at[TENSORS];
} operation;

static test_region region[TENSORS];
static test_buffer buffer[TENSORS];
static unsigned char *zero[TENSORS];

static bool is_half(cuttType_t type) { return type == CUTT_F16 || type == CUTT_BF16; }

/* ------------------------------------------------------------------------------------------------------- the definition */

static int64_t place_of(const operation *o, int t, const int64_t *index) {
  int64_t at = 0;
  for (int i = 0; i < o->rank[t]; ++i) at += index[o->label[t][i]] * o->stride[t][i];
  return at * (int64_t)test_type_bytes(o->type);
}

/* Of a real number without a call, which would take longer than all else. */
static long double magnitude(test_value v) { return v.im == 0 ? fabsl(v.re) : hypotl(v.re, v.im); }

/* The operand's element, scaled; *size grows by its magnitude. */
static test_value scaled(const operation *o, int t, const int64_t *index, long double *size) {
  const double *s = o->scalar[t];
  if (o->has_scalar[t] && s[0] == 0 && s[1] == 0) return (test_value){0, 0, 0};
  test_value v = test_value_load(o->type, zero[t] + place_of(o, t, index));
  if (o->conjugate[t]) v.im = -v.im;
  if (o->has_scalar[t])
    v = test_value_apply(o->type, CUTT_OP_MULTIPLY,
                         (test_value){s[0], test_type_complex(o->type) ? s[1] : 0, (int64_t)s[0]}, v);
  *size = fmaxl(*size, magnitude(v));
  return v;
}

static test_value define(const operation *o, const int64_t *index, long double *bound) {
  long double size = 0;
  test_value all = test_value_apply(o->type, o->op[0], scaled(o, A, index, &size), scaled(o, B, index, &size));
  if (o->operands == 3) {
    size = fmaxl(size, magnitude(all));
    all = test_value_apply(o->type, o->op[1], all, scaled(o, C, index, &size));
  }
  size = fmaxl(size, magnitude(all));
  const bool wide = o->type == CUTT_F64 || o->type == CUTT_C64;
  *bound = (16 * size + 16 * size * size) * (wide ? DBL_EPSILON : FLT_EPSILON);
  if (is_half(o->type)) *bound += magnitude(all) * (o->type == CUTT_F16 ? 0x1p-10L : 0x1p-7L) + 0x1p-24L;
  return all;
}

/* ------------------------------------------------------------------------------------------------------- making one */

static int64_t volume_of(const operation *o) {
  int64_t volume = 1;
  for (int label = 0; label < o->labels; ++label) volume *= o->extent[label];
  return volume;
}

static void shuffle(test_rng *rng, int *list, int count) { test_shuffle(rng, list, count); }

static void draw_strides(test_rng *rng, operation *o, int t) {
  int order[MOST_MODES];
  int64_t step = test_chance(rng, 40) ? test_random_in(rng, 1, 3) : 1;
  for (int i = 0; i < o->rank[t]; ++i) order[i] = i;
  if (o->strided[t]) shuffle(rng, order, o->rank[t]);
  if (!o->strided[t]) step = 1;
  for (int i = 0; i < o->rank[t]; ++i) {
    o->stride[t][order[i]] = step;
    step *= o->extents[t][order[i]] > 0 ? o->extents[t][order[i]] : 1;
    if (!o->strided[t]) continue;
    if (test_chance(rng, 20)) step += test_random_in(rng, 1, 5);
    if (test_chance(rng, 15)) o->stride[t][order[i]] = -o->stride[t][order[i]];
    if (t != D && test_chance(rng, 5)) o->stride[t][order[i]] = 0;
  }
}

static void write_pattern(operation *o) {
  static const int order[TENSORS] = {A, B, C, D};
  char *to = o->pattern;
  for (int i = 0; i < TENSORS; ++i) {
    const int t = order[i];
    if (t == C && o->operands == 2) continue;
    to += sprintf(to, "%s", t == A ? "" : t == D ? "->" : ",");
    for (int j = 0; j < o->rank[t]; ++j) to += sprintf(to, "%c", 'a' + o->label[t][j]);
  }
}

/* Gives an operand the result's layout. */
static void lay_out_as_result(operation *o, int t) {
  o->rank[t] = o->rank[D];
  memcpy(o->label[t], o->label[D], sizeof o->label[t]);
  memcpy(o->extents[t], o->extents[D], sizeof o->extents[t]);
  memcpy(o->stride[t], o->stride[D], sizeof o->stride[t]);
  o->strided[t] = o->strided[D] = true;
  write_pattern(o);
}

/* Letters of each tensor: of the result all, in some order. */
static void draw(test_rng *rng, cuttType_t type, int64_t most, operation *o) {
  memset(o, 0, sizeof *o);
  o->type = type;
  o->operands = test_chance(rng, 50) ? 3 : 2;
  o->labels = (int)test_random_in(rng, 0, 4);
  int64_t volume = 1;
  for (int label = 0; label < o->labels; ++label) {
    int64_t extent = test_chance(rng, 50) ? test_random_in(rng, 1, 6) : test_random_in(rng, 1, 150);
    while (volume * extent > most) extent /= 2;
    if (extent < 1) extent = 1;
    o->extent[label] = extent;
    volume *= extent;
  }
  for (int t = 0; t < TENSORS; ++t) {
    int order[MOST_MODES];
    if (t == C && o->operands == 2) continue;
    for (int label = 0; label < o->labels; ++label) order[label] = label;
    if (test_chance(rng, 70)) shuffle(rng, order, o->labels);
    for (int i = 0; i < o->labels; ++i)
      if (t == D || t == A || test_chance(rng, 80)) o->label[t][o->rank[t]++] = order[i];
    if (t != D && o->rank[t] && test_chance(rng, 8)) /* a diagonal */
      o->label[t][o->rank[t]] = o->label[t][0], ++o->rank[t];
    for (int i = 0; i < o->rank[t]; ++i) o->extents[t][i] = o->extent[o->label[t][i]];
    o->strided[t] = test_chance(rng, 40);
    draw_strides(rng, o, t);
    o->at[t] = test_chance(rng, 30) ? TEST_AT_END : (int)test_random_in(rng, 0, 63);
  }
  write_pattern(o);
  for (int i = 0; i < 3; ++i) {
    o->has_scalar[i] = test_chance(rng, 50);
    o->conjugate[i] = test_chance(rng, 30);
    for (int part = 0; part < 2; ++part)
      o->scalar[i][part] = (double)test_random_in(rng, -9, 9) / (test_type_whole(type) ? 1 : 4);
    if (!test_type_complex(type)) o->scalar[i][1] = 0;
  }
  for (int i = 0; i < 2; ++i)
    o->op[i] = (cuttOperator_t)test_random_in(rng, 0, test_type_complex(type) ? CUTT_OP_MULTIPLY : CUTT_OP_MIN);
  o->threads = (int)test_random_in(rng, 1, 3);
}

static void set_scalar(const operation *o, int i, unsigned char *to) {
  const float narrow[2] = {(float)o->scalar[i][0], (float)o->scalar[i][1]};
  const int64_t whole = (int64_t)o->scalar[i][0];
  const int32_t short_whole = (int32_t)whole;
  if (o->type == CUTT_I64)
    memcpy(to, &whole, 8);
  else if (o->type == CUTT_I32)
    memcpy(to, &short_whole, 4);
  else if (o->type == CUTT_F64 || o->type == CUTT_C64)
    memcpy(to, o->scalar[i], 16);
  else
    memcpy(to, narrow, 8);
}

typedef struct asked {
  cuttElementwise_t problem;
  cuttElementwiseOptions_t options;
  _Alignas(16) unsigned char scalar[3][16];
} asked;

static void view(const operation *o, asked *call) {
  cuttElementwise_t *p = &call->problem;
  *p = (cuttElementwise_t)CUTT_ELEMENTWISE_INIT;
  call->options = (cuttElementwiseOptions_t)CUTT_ELEMENTWISE_OPTIONS_INIT;
  call->options.backend = CUTT_BACKEND_CPU;
  call->options.threads = o->threads;
  p->pattern = o->pattern;
  p->type = o->type;
  p->a_rank = o->rank[A], p->b_rank = o->rank[B], p->c_rank = o->rank[C], p->result_rank = o->rank[D];
  p->a_extents = o->extents[A], p->b_extents = o->extents[B];
  p->c_extents = o->extents[C], p->result_extents = o->extents[D];
  p->a_strides = o->strided[A] ? o->stride[A] : NULL;
  p->b_strides = o->strided[B] ? o->stride[B] : NULL;
  p->c_strides = o->strided[C] ? o->stride[C] : NULL;
  p->result_strides = o->strided[D] ? o->stride[D] : NULL;
  for (int i = 0; i < 3; ++i) set_scalar(o, i, call->scalar[i]);
  if (o->has_scalar[0]) p->alpha = call->scalar[0];
  if (o->has_scalar[1]) p->beta = call->scalar[1];
  if (o->has_scalar[2]) p->gamma = call->scalar[2];
  p->conjugate_a = o->conjugate[0], p->conjugate_b = o->conjugate[1], p->conjugate_c = o->conjugate[2];
  p->op_ab = o->op[0];
  p->op_abc = o->op[1];
}

/* ------------------------------------------------------------------------------------------------------- trying one */

/* An element, small enough that products stay in reach of a half. */
static void put(cuttType_t type, test_rng *rng, bool nans, unsigned char *to) {
  const uint64_t bits = test_random(rng);
  double d[2];
  float f[2];
  for (int part = 0; part < 2; ++part) {
    d[part] = (double)test_random_in(rng, -4096, 4096) / 2048;
    if (nans && test_chance(rng, 10)) d[part] = NAN;
    f[part] = (float)d[part];
  }
  uint32_t narrow;
  memcpy(&narrow, f, 4);
  const uint16_t brain = (uint16_t)(narrow >> 16), half = isnan(f[0]) ? 0x7e01 : (uint16_t)(0x3800 | (bits & 0x87ff));
  switch (type) {
    case CUTT_F16:
      memcpy(to, &half, 2);
      break;
    case CUTT_BF16:
      memcpy(to, &brain, 2);
      break;
    case CUTT_F32:
    case CUTT_C32:
      memcpy(to, f, test_type_bytes(type));
      break;
    case CUTT_F64:
    case CUTT_C64:
      memcpy(to, d, test_type_bytes(type));
      break;
    default:
      memcpy(to, &bits, test_type_bytes(type));
  }
}

static void span(const operation *o, int t, int64_t *low, int64_t *high) {
  *low = 0;
  *high = 1;
  for (int i = 0; i < o->rank[t]; ++i) {
    const int64_t reach = (o->extents[t][i] - 1) * o->stride[t][i];
    *(reach < 0 ? low : high) += reach;
  }
}

static void advance(const operation *o, int64_t *index) {
  for (int label = 0; label < o->labels; ++label) {
    if (++index[label] < o->extent[label]) return;
    index[label] = 0;
  }
}

static void place(const operation *o, test_rng *rng, bool nans) {
  const int64_t element = (int64_t)test_type_bytes(o->type);
  for (int t = 0; t < TENSORS; ++t) {
    int64_t low, high, index[MOST_MODES] = {0};
    span(o, t, &low, &high);
    assert_true(test_buffer_place(&region[t], (size_t)((high - low) * element), o->at[t], &buffer[t]));
    zero[t] = buffer[t].data - low * element;
    memset(buffer[t].zone, 0xff, buffer[t].zone_bytes); /* NaNs, where nothing may be read */
    const bool unread = t == D || (o->has_scalar[t] && o->scalar[t][0] == 0 && o->scalar[t][1] == 0);
    for (int64_t i = 0; i < volume_of(o) && !unread; ++i, advance(o, index))
      put(o->type, rng, nans, zero[t] + place_of(o, t, index));
  }
}

static void assert_right(const operation *o, const int64_t *index, test_value wanted, test_value got,
                         long double bound) {
  const bool nan = isnan(wanted.re) || isnan(wanted.im);
  const long double off = fmaxl(fabsl(got.re - wanted.re), fabsl(got.im - wanted.im));
  if (test_type_whole(o->type) ? got.whole == wanted.whole : nan ? isnan(got.re) || isnan(got.im) : off <= bound)
    return;
  fail_msg("%s type %d ops %d %d at %lld %lld %lld %lld: %.17Lg%+.17Lgi %lld, not %.17Lg%+.17Lgi %lld", o->pattern,
           (int)o->type, (int)o->op[0], (int)o->op[1], (long long)index[0], (long long)index[1], (long long)index[2],
           (long long)index[3], got.re, got.im, (long long)got.whole, wanted.re, wanted.im, (long long)wanted.whole);
}

static long compared;

/* What is in the result's zone afterwards, on the heap; in_place: the result is A. */
static void try_one(test_rng *rng, const operation *o, bool nans, bool in_place) {
  const int64_t element = (int64_t)test_type_bytes(o->type), volume = volume_of(o);
  place(o, rng, nans);
  test_value *wanted = calloc((size_t)volume, sizeof *wanted);
  long double *bound = calloc((size_t)volume, sizeof *bound);
  assert_true(wanted && bound);
  int64_t index[MOST_MODES] = {0};
  for (int64_t i = 0; i < volume; ++i, advance(o, index)) wanted[i] = define(o, index, &bound[i]);
  const int to = in_place ? A : D;
  unsigned char *before = malloc(buffer[to].zone_bytes);
  assert_non_null(before);
  memcpy(before, buffer[to].zone, buffer[to].zone_bytes);
  asked call;
  view(o, &call);
  call.options.backend = test_device();
  void *there[TENSORS];
  for (int t = 0; t < TENSORS; ++t) there[t] = test_device_take(t, &buffer[t], zero[t], (size_t)element);
  if (cuttElementwiseCompute(&call.problem, &call.options, there[A], there[B], o->operands == 3 ? there[C] : NULL,
                             there[to], NULL))
    fail_msg("%s: %s", o->pattern, cuttLastError());
  for (int t = 0; t < TENSORS; ++t) test_device_give_back(t, &buffer[t]);
  if (*test_device_fault()) fail_msg("%s: %s", o->pattern, test_device_fault());
  for (int64_t i = 0; i < volume; ++i, advance(o, index)) {
    const int64_t at = place_of(o, D, index);
    assert_right(o, index, wanted[i], test_value_load(o->type, zero[to] + at), bound[i]);
    memcpy(before + (zero[to] - buffer[to].zone) + at, zero[to] + at, (size_t)element);
    ++compared;
  }
  assert_memory_equal(buffer[to].zone, before, buffer[to].zone_bytes); /* gaps stay as they were */
  free(before);
  free(wanted);
  free(bound);
}

static const cuttType_t types[] = {CUTT_F64, CUTT_F32, CUTT_C64, CUTT_C32, CUTT_F16, CUTT_BF16, CUTT_I32, CUTT_I64};

static void any_operation(void **unused) {
  (void)unused;
  test_rng rng = {20241111};
  for (int i = 0; i < test_scaled(800); ++i) {
    operation o;
    draw(&rng, types[i % 8], i % 20 ? 3000 : 60000, &o);
    try_one(&rng, &o, test_chance(&rng, 30), false);
  }
  print_message("%ld elements compared\n", compared);
  assert_true(compared > test_scaled(60000));
}

/* The result is the first operand. */
static void in_place(void **unused) {
  (void)unused;
  test_rng rng = {20241112};
  for (int i = 0; i < test_scaled(200); ++i) {
    operation o;
    draw(&rng, types[i % 8], i % 20 ? 3000 : 60000, &o);
    lay_out_as_result(&o, A);
    try_one(&rng, &o, false, true);
  }
}

/* Two operands, of which one is laid out as the result: on a GPU a sum is a permutation of the other one, with an addend. */
static void two_of_one_layout(void **unused) {
  (void)unused;
  test_rng rng = {20261124};
  for (int i = 0; i < test_scaled(400); ++i) {
    operation o;
    draw(&rng, types[i % 8], i % 20 ? 3000 : 60000, &o);
    o.operands = 2, o.rank[C] = 0;
    o.op[0] = i % 4 ? CUTT_OP_ADD : CUTT_OP_MULTIPLY;
    lay_out_as_result(&o, i / 8 % 2 ? A : B);
    try_one(&rng, &o, test_chance(&rng, 30), i / 8 % 4 == 3);
  }
}

/* One operand is laid out as the result, and the other one lacks some of its modes: on a GPU that is a permutation with a second operand where
 * what is repeated is large, or nothing is aligned, and kernels of tiles else. */
static void repeated(void **unused) {
  (void)unused;
  test_rng rng = {20261129};
  for (int i = 0; i < test_scaled(160); ++i) {
    operation o;
    memset(&o, 0, sizeof o);
    o.type = types[i % 8];
    o.operands = 2;
    o.threads = (int)test_random_in(&rng, 1, 3);
    const int labels = o.labels = (int)test_random_in(&rng, 2, 4), full = test_chance(&rng, 50) ? A : B;
    const bool aligned = test_chance(&rng, 50);
    for (int label = 0; label < labels; ++label) o.extent[label] = test_random_in(&rng, 2, 9);
    const int64_t first = test_chance(&rng, 40) ? 5000 : 200;
    o.extent[0] = test_random_in(&rng, 1, first) * (aligned ? 8 : 1) / (labels > 2 ? 4 : 1) + (aligned ? 0 : 1);
    if (aligned) o.extent[0] = (o.extent[0] + 7) / 8 * 8;
    const int lacks = (int)test_random_in(&rng, 0, labels - 1);
    for (int t = 0; t < TENSORS; ++t) {
      if (t == C) continue;
      for (int label = 0; label < labels; ++label) {
        if (t != D && t != full && (label == lacks || (label != (lacks + 1) % labels && test_chance(&rng, 40))))
          continue;
        o.extents[t][o.rank[t]] = o.extent[label];
        o.label[t][o.rank[t]++] = label;
      }
      draw_strides(&rng, &o, t);
      o.at[t] = aligned ? 0 : (int)test_random_in(&rng, 0, 63);
    }
    for (int k = 0; k < 2; ++k) {
      o.has_scalar[k] = test_chance(&rng, 30);
      o.scalar[k][0] = (double)test_random_in(&rng, -3, 3);
      if (test_type_complex(o.type)) o.scalar[k][1] = 0.5;
    }
    o.conjugate[A + B - full] = test_chance(&rng, 30);
    o.op[0] = (cuttOperator_t)test_random_in(&rng, 0, test_type_complex(o.type) ? CUTT_OP_MULTIPLY : CUTT_OP_MIN);
    lay_out_as_result(&o, full);
    try_one(&rng, &o, test_chance(&rng, 20), i % 4 == 3 && full == A);
  }
}

/* So large that a GPU does it in two passes. */
static void two_turned(void **unused) {
  (void)unused;
  test_rng rng = {20261125};
  operation o = {.pattern = "abc,bca->cab", .type = CUTT_C64, .operands = 2, .labels = 3};
  const int64_t extent[] = {101, 101, 103};
  memcpy(o.extent, extent, sizeof extent);
  for (int t = A; t < TENSORS; ++t) {
    for (int i = 0; i < 3 && t != C; ++i) {
      o.label[t][i] = t == A ? i : t == B ? (i + 1) % 3 : (i + 2) % 3;
      o.extents[t][i] = extent[o.label[t][i]];
      o.rank[t] = 3;
    }
    draw_strides(&rng, &o, t);
    o.has_scalar[t % 3] = true;
    o.scalar[t % 3][0] = 0.75;
    o.scalar[t % 3][1] = -1.5;
  }
  o.conjugate[1] = 1;
  try_one(&rng, &o, false, false);
}

/* Extents as in use: more than a block, written past the caches, and rows of a few elements. */
static void large_ones(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[3];
    cuttType_t type;
  } cases[] = {{"ab,ba->ab", {1500, 1400, 1}, CUTT_F64},       {"ab,ab,ab->ab", {1500, 1400, 1}, CUTT_F32},
               {"abc,cab,bca->abc", {90, 130, 170}, CUTT_F32}, {"ab,a->ab", {3, 300001, 1}, CUTT_F64},
               {"ab,b->ba", {5, 100003, 1}, CUTT_C32},         {"abc,cba->bac", {2, 700, 301}, CUTT_F16},
               {"bca,cba,acb->abc", {20, 90, 400}, CUTT_F32}};
  test_rng rng = {20241113};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    operation o;
    memset(&o, 0, sizeof o);
    snprintf(o.pattern, sizeof o.pattern, "%s", cases[i].pattern);
    o.type = cases[i].type;
    o.threads = 1 + (int)(i % 2);
    memcpy(o.extent, cases[i].extent, sizeof cases[i].extent);
    for (int label = 0; label < 3 && test_device_is_slow(); ++label) o.extent[label] = (o.extent[label] + 3) / 4;
    int t = A;
    for (const char *c = o.pattern; *c; ++c) {
      if (*c == ',') ++t;
      if (*c == '-') t = D;
      if (*c < 'a' || *c > 'z') continue;
      const int label = *c - 'a';
      o.extents[t][o.rank[t]] = o.extent[label];
      o.label[t][o.rank[t]++] = label;
      if (label >= o.labels) o.labels = label + 1;
    }
    o.operands = o.rank[C] ? 3 : 2;
    for (t = 0; t < TENSORS; ++t) draw_strides(&rng, &o, t);
    o.op[1] = i % 2 ? CUTT_OP_MULTIPLY : CUTT_OP_ADD;
    o.scalar[1][0] = -0.5;
    o.has_scalar[1] = true;
    try_one(&rng, &o, false, false);
  }
}

/* Long rows of one or two modes, and operands that have their elements next to each other in a third one, which registers turn: few rows or
 * many, that end anywhere in a register, operands of one element for a row, and the result as an operand. */
static void turned(void **unused) {
  (void)unused;
  static const char orders[][4] = {"abc", "cab", "cba", "bca", "acb"};
  test_rng rng = {20261126};
  for (int i = 0; i < test_scaled(240); ++i) {
    operation o;
    memset(&o, 0, sizeof o);
    o.type = types[i % 8];
    o.operands = test_chance(&rng, 50) ? 3 : 2;
    o.labels = 3;
    o.threads = (int)test_random_in(&rng, 1, 3);
    o.extent[0] = test_random_in(&rng, 16, test_chance(&rng, 10) ? 2100 : 140);
    o.extent[1] = test_random_in(&rng, 1, 4);
    o.extent[2] = test_random_in(&rng, 6, test_chance(&rng, 10) ? 140 : 40);
    for (int t = 0; t < TENSORS; ++t) {
      if (t == C && o.operands == 2) continue;
      const char *order = orders[t == B ? test_random_in(&rng, 1, 3) : t == D ? 0 : test_random_in(&rng, 0, 4)];
      for (int k = 0; k < 3; ++k) {
        const int label = order[k] - 'a';
        if (t == C && label < 2 && i / 8 % 3 == 0) continue;
        o.label[t][o.rank[t]] = label;
        o.extents[t][o.rank[t]++] = o.extent[label];
      }
      o.strided[t] = t != D && test_chance(&rng, 20);
      draw_strides(&rng, &o, t);
      o.at[t] = test_chance(&rng, 30) ? TEST_AT_END : (int)test_random_in(&rng, 0, 63);
    }
    for (int k = 0; k < 3; ++k) {
      o.has_scalar[k] = test_chance(&rng, 30);
      o.conjugate[k] = test_chance(&rng, 30);
      o.scalar[k][0] = (double)test_random_in(&rng, -3, 3);
      if (test_type_complex(o.type)) o.scalar[k][1] = 0.5;
    }
    for (int k = 0; k < 2; ++k)
      o.op[k] = (cuttOperator_t)test_random_in(&rng, 0, test_type_complex(o.type) ? CUTT_OP_MULTIPLY : CUTT_OP_MIN);
    if (i % 5 == 0) lay_out_as_result(&o, A);
    write_pattern(&o);
    try_one(&rng, &o, test_chance(&rng, 20), i % 5 == 0);
  }
}

/* Operands in two other orders, of which one is permuted to D first, but where D is an operand, too. */
static void permuted_first(void **unused) {
  (void)unused;
  static const char orders[][5] = {"abcd", "bcda", "cbad", "dabc", "dcba", "cadb"};
  test_rng rng = {20261127};
  for (int i = 0; i < test_scaled(120); ++i) {
    operation o;
    memset(&o, 0, sizeof o);
    o.type = types[i % 8];
    o.operands = i % 3 ? 3 : 2;
    o.labels = 4;
    o.threads = (int)test_random_in(&rng, 1, 3);
    o.extent[0] = test_random_in(&rng, 8, test_chance(&rng, 70) ? 300 : 40); /* most of D are larger than a block */
    for (int label = 1; label < 4; ++label) o.extent[label] = test_random_in(&rng, 2, test_chance(&rng, 30) ? 16 : 10);
    const int first = (int)test_random_in(&rng, 1, 5);
    for (int t = 0; t < TENSORS; ++t) {
      if (t == C && o.operands == 2) continue;
      const char *order = orders[t == A ? first : t == B ? 1 + first % 5 : t == C ? test_random_in(&rng, 0, 5) : 0];
      for (int k = 0; k < 4; ++k) {
        const int label = order[k] - 'a';
        o.label[t][k] = label;
        o.extents[t][k] = o.extent[label];
      }
      o.rank[t] = 4;
      o.strided[t] = test_chance(&rng, 20);
      draw_strides(&rng, &o, t);
      o.at[t] = test_chance(&rng, 30) ? TEST_AT_END : (int)test_random_in(&rng, 0, 63);
    }
    for (int k = 0; k < 3; ++k) {
      o.has_scalar[k] = test_chance(&rng, 30);
      o.conjugate[k] = test_chance(&rng, 30);
      o.scalar[k][0] = (double)test_random_in(&rng, -3, 3);
      if (test_type_complex(o.type)) o.scalar[k][1] = 0.5;
    }
    for (int k = 0; k < 2; ++k)
      o.op[k] = (cuttOperator_t)test_random_in(&rng, 0, test_type_complex(o.type) ? CUTT_OP_MULTIPLY : CUTT_OP_MIN);
    const bool as_result = o.operands == 3 && i % 2;
    if (as_result) { /* B and C are in two other orders */
      lay_out_as_result(&o, A);
      o.strided[C] = false;
      for (int k = 0; k < 4; ++k) {
        o.label[C][k] = orders[first][k] - 'a';
        o.extents[C][k] = o.extent[o.label[C][k]];
      }
      draw_strides(&rng, &o, C);
    }
    write_pattern(&o);
    try_one(&rng, &o, test_chance(&rng, 20), as_result && i % 4 == 1);
  }
  const int64_t extents[] = {200, 30, 20}, others[] = {20, 200, 30}, third[] = {30, 20, 200};
  asked call = {.problem = CUTT_ELEMENTWISE_INIT, .options = CUTT_ELEMENTWISE_OPTIONS_INIT};
  cuttElementwisePlan_t plan = NULL;
  call.options.backend = CUTT_BACKEND_CPU;
  call.problem.pattern = "cab,bca,abc->abc";
  call.problem.type = CUTT_F32;
  call.problem.a_rank = call.problem.b_rank = call.problem.c_rank = call.problem.result_rank = 3;
  call.problem.a_extents = others, call.problem.b_extents = third, call.problem.c_extents = extents;
  assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
  assert_int_equal(plan->moved, 1);
  assert_non_null(plan->apart);
  assert_success(cuttElementwisePlanDestroy(plan));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_operation),     cmocka_unit_test(in_place), cmocka_unit_test(large_ones),
      cmocka_unit_test(two_of_one_layout), cmocka_unit_test(repeated), cmocka_unit_test(turned),
      cmocka_unit_test(permuted_first),
  };
  const struct CMUnitTest on_device[] = {cmocka_unit_test(any_operation), cmocka_unit_test(in_place),
                                         cmocka_unit_test(large_ones),    cmocka_unit_test(two_of_one_layout),
                                         cmocka_unit_test(repeated),      cmocka_unit_test(two_turned)};
  const int status = test_device_open(argc, argv);
  if (status >= 0) return status;
  const int failed = test_device() == CUTT_BACKEND_CPU
                         ? cmocka_run_group_tests_name("elementwise", tests, NULL, NULL)
                         : cmocka_run_group_tests_name("elementwise", on_device, NULL, NULL);
  for (int t = 0; t < TENSORS; ++t) test_region_free(&region[t]);
  return failed;
}
