/* Random problems. The extents crowd where kernels have edges: around vector widths, primes, powers of two, and 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/isa.h"
#include "support/problem.h"

uint64_t test_random(test_rng *rng) { return test_mix(rng->state += 0x9e3779b97f4a7c15u); }

int64_t test_random_in(test_rng *rng, int64_t low, int64_t high) {
  return low + (int64_t)(test_random(rng) % ((uint64_t)(high - low) + 1));
}

bool test_chance(test_rng *rng, int percent) { return test_random_in(rng, 0, 99) < percent; }

void test_shuffle(test_rng *rng, int *list, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = (int)test_random_in(rng, 0, i), t = list[i];
    list[i] = list[j];
    list[j] = t;
  }
}

double test_scale(void) {
  const char *text = getenv("CUTT_TEST_SCALE");
  double scale = text ? atof(text) : 1.0;
  return scale > 0.0 ? scale : 1.0;
}

int test_scaled(int count) {
  double scaled = count * test_scale();
  return scaled < 1.0 ? 1 : (int)scaled;
}

/* Where an instruction set's part of a list begins; negative for one that is alone on its processors. */
static double first_part(void) {
  static const struct {
    const char *name;
    double first;
  } sets[] = {{"sse2", 0}, {"avx2", 0.5}, {"avx512", 0.25}, {"avx512vbmi", 0.75}};
  const char *name = getenv("CUTT_CPU_ISA");
  for (size_t i = 0; name && i < sizeof sets / sizeof *sets; i++)
    if (strcmp(name, sets[i].name) == 0) return sets[i].first;
  return -1;
}

bool test_taken(int turn, double part) {
  const double at = (double)(test_mix((uint64_t)turn) % 1000) / 1000 - fmax(first_part(), 0);
  return (at < 0 ? at + 1 : at) < part;
}

double test_part(void) {
  const double scale = test_scale();
  if (scale < 0.3) return scale;
  if (scale >= 1 || first_part() < 0) return 1;
  int usable = 0;
  for (const cutt_isa *isa = cutt_isa_all; isa->name; isa++) {
    const char *why = NULL;
    usable += cutt_isa_usable(isa, &why);
  }
  return usable >= 4 ? 0.25 : 0.5;
}

static int64_t random_extent(test_rng *rng) {
  static const int odd[] = {1,  2,  3,  5,  7,  11, 13, 15, 16, 17,  19,  23,
                            29, 31, 32, 33, 37, 40, 63, 64, 65, 127, 128, 129};
  switch (test_random_in(rng, 0, 9)) {
    case 0:
      return 1;
    case 1:
    case 2:
    case 3:
      return test_random_in(rng, 2, 5);
    case 4:
    case 5:
      return test_random_in(rng, 2, 40);
    case 6:
      return (int64_t)1 << test_random_in(rng, 0, 7);
    case 7:
      return test_random_in(rng, 41, 400);
    default:
      return odd[test_random_in(rng, 0, (int64_t)(sizeof odd / sizeof *odd) - 1)];
  }
}

/* Extents whose product is at most max_volume. With many modes most of them have to be small: drawn extents that don't
 * fit are halved until they do, in an order that favours no mode. */
static void random_extents(test_rng *rng, test_problem *p, int64_t max_volume) {
  int order[CUTT_MAX_RANK];
  int64_t volume = 1;
  for (int i = 0; i < p->rank; i++) order[i] = i;
  test_shuffle(rng, order, p->rank);
  for (int i = 0; i < p->rank; i++) {
    int64_t extent = random_extent(rng);
    while (extent > 1 && volume * extent > max_volume) extent /= 2;
    p->extents[order[i]] = extent;
    volume *= extent;
  }
}

/* Strides that nest: modes in a random order, or the given one, each beyond what the modes before it span, with or
 * without a gap. extents[i] belongs to strides[i]. */
static void nested_strides(test_rng *rng, int rank, const int64_t *extents, int64_t *strides, int64_t max_span) {
  int order[CUTT_MAX_RANK];
  int64_t span = test_chance(rng, 70) ? 1 : test_random_in(rng, 2, 5); /* a first stride that is not 1, now and then */
  for (int i = 0; i < rank; i++) order[i] = i;
  if (test_chance(rng, 40)) test_shuffle(rng, order, rank);
  for (int i = 0; i < rank; i++) {
    int64_t extent = extents[order[i]];
    int64_t gap = test_chance(rng, 40) ? test_random_in(rng, 1, 9) : 0;
    /* Packed up to here means that the next stride is the product so far; a gap makes it a sub-tensor. */
    if ((span + gap) * extent > max_span) gap = 0;
    strides[order[i]] = span + gap;
    span = (span + gap) * extent;
  }
}

static void random_strides(test_rng *rng, test_problem *p, bool in, int64_t max_span) {
  int64_t extents[CUTT_MAX_RANK];
  int64_t *strides = in ? p->in_strides : p->out_strides;
  for (int i = 0; i < p->rank; i++) extents[i] = p->extents[in ? i : p->perm[i]];
  nested_strides(rng, p->rank, extents, strides, max_span);
  int percent_negative = test_chance(rng, 50) ? 0 : 30;
  int percent_zero = !in || test_chance(rng, 70) ? 0 : 25;
  bool overlapping = in && test_chance(rng, 5); /* such as windows of a signal: legal where it is only read */
  for (int i = 0; i < p->rank; i++) {
    if (overlapping && test_chance(rng, 50)) strides[i] = test_random_in(rng, 0, 7);
    if (test_chance(rng, percent_negative)) strides[i] = -strides[i];
    if (test_chance(rng, percent_zero)) strides[i] = 0;
    if (extents[i] == 1 && test_chance(rng, 30)) strides[i] = test_random_in(rng, -1000000007, 1000000007);
  }
}

test_scalar test_random_scalar(test_rng *rng, cuttType_t type) {
  static const double special[] = {0.0, 1.0, -1.0, 2.0, 0.5, 1.0 / 3.0, -1.75, -0.0};
  double value[2] = {0.0, 0.0};
  for (int i = 0; i < (test_type_complex(type) ? 2 : 1); i++) {
    if (i == 1 && test_chance(rng, 40)) break; /* a real scalar of a complex type */
    if (test_chance(rng, 80))
      value[i] = special[test_random_in(rng, 0, 7)];
    else
      value[i] = (double)test_random_in(rng, -4000, 4000) / 1024.0;
  }
  test_scalar s;
  memset(&s, 0, sizeof s);
  if (type == CUTT_I32 || type == CUTT_I64) {
    static const int64_t whole[] = {0, 1, -1, 2, -3};
    int64_t v = test_chance(rng, 75) ? whole[test_random_in(rng, 0, 4)] : (int64_t)test_random(rng);
    if (type == CUTT_I32)
      s.i32 = (int32_t)(uint32_t)v;
    else
      s.i64 = v;
  } else if (type == CUTT_F64 || type == CUTT_C64) {
    s.f64[0] = value[0];
    s.f64[1] = value[1];
  } else {
    s.f32[0] = (float)value[0];
    s.f32[1] = (float)value[1];
  }
  return s;
}

/* Makes a part of a floating scalar one that products overflow with, lose digits with, or are no numbers with. */
static void make_special(test_rng *rng, cuttType_t type, test_scalar *s) {
  static const double special[] = {-0.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 0x1p-130, -0x1p120};
  const double value = special[test_random_in(rng, 0, 5)];
  const int part = test_type_complex(type) && test_chance(rng, 50);
  if (type == CUTT_I32 || type == CUTT_I64) return;
  if (type == CUTT_F64 || type == CUTT_C64)
    s->f64[part] = value;
  else
    s->f32[part] = (float)value;
}

static int random_place(test_rng *rng) {
  if (test_chance(rng, 25)) return TEST_AT_END;
  if (test_chance(rng, 10)) return TEST_AT_START;
  if (test_chance(rng, 30)) return 0;
  if (test_chance(rng, 50)) return (int)(4 * test_random_in(rng, 0, 15));
  return (int)test_random_in(rng, 0, 63);
}

test_problem test_random_problem(test_rng *rng, const test_limits *limits) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16,
                                     CUTT_F16,     CUTT_BF16,    CUTT_F32,     CUTT_F64,     CUTT_C32,
                                     CUTT_C64,     CUTT_I32,     CUTT_I64};
  test_problem p;
  memset(&p, 0, sizeof p);
  p.rank = (int)test_random_in(rng, limits->min_rank, limits->max_rank);
  p.type = limits->type ? limits->type : types[test_random_in(rng, 0, (int64_t)(sizeof types / sizeof *types) - 1)];
  random_extents(rng, &p, limits->max_volume);
  for (int i = 0; i < p.rank; i++) p.perm[i] = i;
  test_shuffle(rng, p.perm, p.rank);
  p.in_strided = test_chance(rng, limits->percent_strided);
  p.out_strided = test_chance(rng, limits->percent_strided);
  /* Gaps multiply up over many modes: hold the buffers to a few times the volume. */
  int64_t max_span = 8 * limits->max_volume;
  if (p.in_strided) random_strides(rng, &p, true, max_span);
  if (p.out_strided) random_strides(rng, &p, false, max_span);
  test_problem_finish(&p);
  if (test_type_computes(p.type) && test_chance(rng, limits->percent_scaled)) {
    p.has_alpha = test_chance(rng, 80);
    p.has_beta = test_chance(rng, 70);
    if (p.has_alpha) p.alpha = test_random_scalar(rng, p.type);
    if (p.has_beta) p.beta = test_random_scalar(rng, p.type);
    if (p.has_alpha && test_chance(rng, 15)) make_special(rng, p.type, &p.alpha);
    if (p.has_beta && test_chance(rng, 15)) make_special(rng, p.type, &p.beta);
    p.conjugate = test_type_complex(p.type) && test_chance(rng, 50);
  }
  p.in_at = random_place(rng);
  p.out_at = random_place(rng);
  p.threads = (int)test_random_in(rng, 1, limits->max_threads);
  p.seed = test_random(rng) >> 1;
  return p;
}

/* i * b + j * a are all different for i < a and j < b without a common divisor. */
void test_interleave(test_rng *rng, test_problem *p) {
  static const int64_t pairs[][2] = {{2, 3}, {3, 4}, {5, 7}, {8, 9}, {16, 33}, {1, 40}, {63, 64}};
  const int64_t *const pair = pairs[test_random_in(rng, 0, (int64_t)(sizeof pairs / sizeof *pairs) - 1)];
  const int turn = test_chance(rng, 50);
  int64_t span = 1;
  p->out_strided = true;
  for (int i = 0; i < p->rank; i++) {
    int64_t *const extent = &p->extents[p->perm[i]];
    if (i < 2 && *extent > pair[i ^ turn]) *extent = pair[i ^ turn];
    p->out_strides[i] = i < 2 ? pair[i ^ turn ^ 1] : span;
    if (i == 1) span = 2 * pair[0] * pair[1];
    if (i > 1) span *= *extent;
    if (test_chance(rng, 20)) p->out_strides[i] = -p->out_strides[i];
  }
  test_problem_finish(p);
}
