/* Every candidate of very many problems, held to the plain definition by whatever engine carries them out. The problems
 * are the same in every run and for every engine, but for those that are too large for it. */
#include "support/property.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/reference.h"

static const cuttType_t moved_types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
enum { MOVED_TYPES = 5 };

static const cuttType_t computed_types[] = {CUTT_F16, CUTT_BF16, CUTT_F32, CUTT_F64,
                                            CUTT_C32, CUTT_C64,  CUTT_I32, CUTT_I64};
enum { COMPUTED_TYPES = 8 };

static uint64_t base_seed;
static void (*finish_engine)(void);

/* A generator of its own for every test, so that leaving one out does not change the others. */
static test_rng rng_for(uint64_t test) { return (test_rng){test_mix(base_seed + test * 1000003)}; }

/* Is this one of the problems of a list that are taken? */
static bool sampled(int turn) { return test_taken(turn, test_part()); }

/* test_check, for problems that the engine has the time for. */
static void check(const test_problem *p, unsigned what) {
  const int64_t most = test_engine_in_use()->most_volume;
  if (most == 0 || test_volume(p) <= most) test_check(p, what);
}

/* The same for the problems of short lists, of which a quarter is taken at least but by slow engines. */
static void check_listed(const test_problem *p, unsigned what) {
  static int turn;
  const bool slow = test_engine_in_use()->most_volume != 0;
  if (test_taken(++turn + 7919, slow ? test_part() : fmax(0.25, test_part()))) check(p, what);
}

/* Gives a problem a place in memory and a number of threads, all of them in turn. */
static void vary(test_problem *p, int turn) {
  static const int places[] = {0, TEST_AT_END, 1, 16, TEST_AT_START, 8, 4, 63, 32, 2, 12, 33};
  p->in_at = places[turn % 12];
  p->out_at = places[(turn / 5) % 12];
  p->threads = 1 + turn % 3;
  p->seed = (uint64_t)turn + 1;
}

/* The permutation after this one in lexicographic order; false after the last. */
static bool next_permutation(int *perm, int rank) {
  int i = rank - 2, j = rank - 1;
  while (i >= 0 && perm[i] > perm[i + 1]) i--;
  if (i < 0) return false;
  while (perm[j] < perm[i]) j--;
  int swapped = perm[i];
  perm[i] = perm[j];
  perm[j] = swapped;
  for (int low = i + 1, high = rank - 1; low < high; low++, high--) {
    swapped = perm[low];
    perm[low] = perm[high];
    perm[high] = swapped;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------ packed */

static void every_permutation(void **unused) {
  (void)unused;
  static const int64_t sets[][5] = {
      {3, 5, 7, 9, 11},  /* odd */
      {13, 7, 5, 3, 17}, /* primes */
      {8, 16, 4, 2, 32}, /* powers of two */
      {1, 2, 1, 3, 17},  /* extents of 1 */
      {2, 2, 2, 2, 2},   /* nothing but edges */
      {4, 2, 3, 8, 5},   /* leading modes that promote */
      {33, 6, 10, 3, 2}, /* one beyond a power of two */
      {31, 2, 40, 5, 1}, /* one short of it */
      {2, 3, 37, 15, 6}, /* small on the leading side */
  };
  int turn = 0;
  for (int rank = 1; rank <= 5; rank++) {
    for (size_t set = 0; set < sizeof sets / sizeof *sets; set++) {
      int perm[5] = {0, 1, 2, 3, 4};
      do {
        for (int t = 0; t < MOVED_TYPES; t++) {
          if (!sampled(++turn)) continue;
          test_problem p = test_packed(moved_types[t], rank, sets[set], perm);
          vary(&p, turn);
          check(&p, turn % 4 ? TEST_CHOSEN | TEST_CANDIDATES : TEST_ALL);
        }
      } while (next_permutation(perm, rank));
    }
  }
}

static void every_small_matrix(void **unused) {
  (void)unused;
  const int perm[2] = {1, 0};
  int turn = 0;
  for (int64_t rows = 1; rows <= 40; rows++) {
    for (int64_t columns = 1; columns <= 40; columns++) {
      const int64_t extents[2] = {rows, columns};
      for (int t = 0; t < MOVED_TYPES; t++) {
        if (!sampled(++turn)) continue;
        test_problem p = test_packed(moved_types[t], 2, extents, perm);
        vary(&p, turn);
        check(&p, TEST_ALL);
      }
    }
  }
}

static void matrices_around_vector_widths(void **unused) {
  (void)unused;
  static const int64_t sizes[] = {2, 7, 8, 15, 17, 63, 64, 65, 127, 128, 129, 200, 255, 256, 257, 331};
  const int perm[2] = {1, 0}, count = sizeof sizes / sizeof *sizes;
  int turn = 0;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < count; j++) {
      const int64_t extents[2] = {sizes[i], sizes[j]};
      for (int t = 0; t < MOVED_TYPES; t++) {
        if (!sampled(++turn)) continue;
        test_problem p = test_packed(moved_types[t], 2, extents, perm);
        vary(&p, turn);
        check(&p, TEST_ALL);
      }
    }
  }
}

/* The small leading extents on both sides that packing is for, beside a third mode of every length. */
static void small_leading_extents(void **unused) {
  (void)unused;
  static const int perms[][4] = {{2, 1, 0, 3}, {1, 0, 3, 2}, {3, 1, 2, 0}, {2, 0, 3, 1}, {0, 2, 1, 3}, {0, 3, 2, 1}};
  int turn = 0;
  for (int64_t a = 1; a <= 9; a++) {
    for (int64_t b = 1; b <= 7; b += 2) {
      for (size_t i = 0; i < 6; i++) {
        const int64_t extents[4] = {a, b, 3 + (7 * turn) % 38, 2 + turn % 5};
        test_problem p = test_packed(moved_types[turn % MOVED_TYPES], 4, extents, perms[i]);
        vary(&p, turn++);
        check_listed(&p, TEST_ALL);
      }
    }
  }
}

static void random_problems(uint64_t test, int count, const test_limits *limits, unsigned what) {
  test_rng rng = rng_for(test);
  test_limits own = *limits;
  const int64_t most = test_engine_in_use()->most_volume;
  if (most > 0 && own.max_volume > most) own.max_volume = most;
  const double part = test_scale() < 0.3 ? 1 : test_part(); /* under sanitizers they are few already */
  for (int i = test_scaled(count); i > 0; i--) {
    test_problem p = test_random_problem(&rng, &own);
    if (test_taken(i, part)) test_check(&p, what);
  }
}

static void random_packed(void **unused) {
  (void)unused;
  random_problems(1, 1500, &(test_limits){2, 6, 30000, 0, 0, 0, 3}, TEST_ALL);
}

static void random_rank_6_to_12(void **unused) {
  (void)unused;
  random_problems(2, 700, &(test_limits){6, 12, 25000, 0, 20, 20, 3}, TEST_ALL);
}

static void random_rank_13_to_64(void **unused) {
  (void)unused;
  random_problems(3, 200, &(test_limits){13, 32, 40000, 0, 30, 20, 3}, TEST_ALL);
  random_problems(4, 50, &(test_limits){33, CUTT_MAX_RANK, 40000, 0, 30, 20, 3}, TEST_ALL);
}

/* Reversed modes of extent 2 and 3: nothing fuses, and whole tiles have to be packed from many modes. */
static void many_small_modes_reversed(void **unused) {
  (void)unused;
  int turn = 0;
  for (int64_t extent = 2; extent <= 3; extent++) {
    for (int rank = 6; rank <= (extent == 2 ? 16 : 10); rank++) {
      int64_t extents[CUTT_MAX_RANK];
      int perm[CUTT_MAX_RANK];
      for (int i = 0; i < rank; i++) {
        extents[i] = extent;
        perm[i] = rank - 1 - i;
      }
      for (int t = 0; t < MOVED_TYPES; t++) {
        test_problem p = test_packed(moved_types[t], rank, extents, perm);
        vary(&p, turn++);
        check_listed(&p, TEST_ALL);
      }
    }
  }
}

/* ------------------------------------------------------------------------------------------------ strides */

static void random_strided(void **unused) {
  (void)unused;
  random_problems(5, 4000, &(test_limits){1, 6, 20000, 0, 70, 0, 3}, TEST_ALL);
}

/* Sub-matrices, whose rows lie apart on both sides: every row ends and begins at another alignment. */
static void sub_matrices(void **unused) {
  (void)unused;
  test_rng rng = rng_for(6);
  for (int i = 0; i < test_scaled(1200); i++) {
    const int64_t extents[2] = {test_random_in(&rng, 1, 150), test_random_in(&rng, 1, 150)};
    const int perm[2] = {1, 0};
    test_problem p = test_packed(moved_types[i % MOVED_TYPES], 2, extents, perm);
    p.in_strided = p.out_strided = true;
    p.in_strides[1] = extents[0] + test_random_in(&rng, 0, 70);
    p.out_strides[1] = extents[1] + test_random_in(&rng, 0, 70);
    vary(&p, i);
    check(&p, TEST_ALL);
  }
}

/* Every second to fourth element, and runs of a few elements with gaps behind them, on either side or on both: tiles go on over such
 * gaps. The extents behind them are long enough to be cut, and what they are cut into does not divide them. */
static void small_gaps(void **unused) {
  (void)unused;
  test_rng rng = rng_for(9);
  const bool tiles = test_engine_in_use()->most_volume > 0; /* it is the kernels of GPUs that have tiles over gaps */
  for (int i = 0; i < test_scaled(tiles ? 8000 : 1000); i++) {
    const int rank = (int)test_random_in(&rng, 2, 4);
    const bool computes = test_chance(&rng, 40), in_gaps = test_chance(&rng, 75);
    const bool out_gaps = !in_gaps || test_chance(&rng, 50);
    int64_t extents[4], volume = 1, in = 1, out = 1;
    int perm[4] = {0, 1, 2, 3};
    test_shuffle(&rng, perm, rank);
    for (int n = 0; n < rank; n++) {
      const int64_t most = rank == 2 ? 90 : rank == 3 ? 33 : 12;
      extents[n] = test_chance(&rng, 40) ? test_random_in(&rng, 2, 5) : test_random_in(&rng, 3, most);
    }
    for (int n = 0; n < rank; n++) volume *= extents[n];
    while (volume > 2500) { /* the longest is made shorter */
      int longest = 0;
      for (int n = 1; n < rank; n++) longest = extents[n] > extents[longest] ? n : longest;
      volume = volume / extents[longest] * (extents[longest] / 2);
      extents[longest] /= 2;
    }
    const cuttType_t type = computes ? computed_types[i % COMPUTED_TYPES] : moved_types[i % MOVED_TYPES];
    test_problem p = test_packed(type, rank, extents, perm);
    p.in_strided = p.out_strided = true;
    if (in_gaps && test_chance(&rng, 40)) in = test_random_in(&rng, 2, 4);
    if (out_gaps && test_chance(&rng, 20)) out = test_random_in(&rng, 2, 4);
    for (int n = 0; n < rank; n++) {
      p.in_strides[n] = in;
      p.out_strides[n] = out;
      in *= extents[n];
      out *= extents[perm[n]];
      if (in_gaps && test_chance(&rng, 50)) in += test_random_in(&rng, 1, 1 + in / 2);
      if (out_gaps && test_chance(&rng, 50)) out += test_random_in(&rng, 1, 1 + 2 * out);
    }
    if (computes) {
      p.has_alpha = test_chance(&rng, 70);
      p.has_beta = test_chance(&rng, 70);
      p.alpha = test_random_scalar(&rng, type);
      p.beta = test_random_scalar(&rng, type);
    }
    vary(&p, i);
    check(&p, TEST_ALL);
  }
}

static void reversals_and_repeats(void **unused) {
  (void)unused;
  static const int64_t signs[] = {1, -1, 0};
  const int64_t extents[3] = {19, 6, 11};
  int perm[3] = {0, 1, 2}, turn = 0;
  do {
    for (int i = 0; i < 27; i++) {  /* every sign of every input stride, 0 included */
      for (int j = 0; j < 8; j++) { /* every sign of every output stride */
        if (!sampled(++turn)) continue;
        test_problem p = test_packed(moved_types[turn % MOVED_TYPES], 3, extents, perm);
        p.in_strided = p.out_strided = true;
        for (int n = 0, rest = i; n < 3; n++, rest /= 3) p.in_strides[n] *= signs[rest % 3];
        for (int n = 0; n < 3; n++) p.out_strides[n] *= j >> n & 1 ? -1 : 1;
        vary(&p, turn);
        check(&p, TEST_ALL);
      }
    }
  } while (next_permutation(perm, 3));
}

/* One element again and again, in runs shorter and longer than a cache line, and of all alignments. */
static void broadcasts_along_rows(void **unused) {
  (void)unused;
  static const int64_t lengths[] = {2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 2100};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    for (int t = 0; t < MOVED_TYPES; t++) {
      const int perm[2] = {0, 1};
      const int64_t extents[2] = {lengths[i], 3};
      test_problem p = test_packed(moved_types[t], 2, extents, perm);
      p.in_strided = p.out_strided = true;
      p.in_strides[0] = 0;
      p.in_strides[1] = 2;
      p.out_strides[1] = lengths[i] + 1;
      vary(&p, (int)i * MOVED_TYPES + t);
      check_listed(&p, TEST_ALL);
    }
  }
}

/* Output elements that lie between each other's without meeting: strides 2 and 3 with extents 3 and 2, and kin. */
static void interleaved_outputs(void **unused) {
  (void)unused;
  static const int64_t rows[][4] = {{3, 2, 2, 3}, {5, 3, 3, 5}, {7, 4, 4, 7}, {16, 9, 9, 16}, {3, 40, 50, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int t = 0; t < MOVED_TYPES; t++) {
      const int perm[2] = {1, 0};
      const int64_t extents[2] = {rows[i][1], rows[i][0]};
      test_problem p = test_packed(moved_types[t], 2, extents, perm);
      p.out_strided = true;
      p.out_strides[0] = rows[i][2];
      p.out_strides[1] = rows[i][3];
      vary(&p, (int)i * MOVED_TYPES + t);
      check_listed(&p, TEST_ALL);
    }
  }
}

/* ------------------------------------------------------------------------------------------------ arithmetic */

static void random_scaled(void **unused) {
  (void)unused;
  for (int t = 0; t < COMPUTED_TYPES; t++) {
    random_problems(10 + (uint64_t)t, 120, &(test_limits){0, 5, 8000, computed_types[t], 0, 100, 3}, TEST_ALL);
    random_problems(30 + (uint64_t)t, 150, &(test_limits){1, 6, 6000, computed_types[t], 60, 100, 3}, TEST_ALL);
  }
}

static test_scalar whole_scalar(cuttType_t type, int re, int im) {
  test_scalar s;
  memset(&s, 0, sizeof s);
  if (type == CUTT_I32)
    s.i32 = re;
  else if (type == CUTT_I64)
    s.i64 = re;
  else if (type == CUTT_F64 || type == CUTT_C64)
    s.f64[0] = re, s.f64[1] = im;
  else
    s.f32[0] = (float)re, s.f32[1] = (float)im;
  return s;
}

/* The scalars that select code: every pair of 0, 1, -1, 2 and (complex) i, and NULL, with and without conjugation. The
 * outputs hold NaNs when beta is 0, which must not come through. */
static void scalars_that_select_code(void **unused) {
  (void)unused;
  static const int values[][2] = {{0, 0}, {1, 0}, {-1, 0}, {2, 0}, {0, 1}, {3, -2}};
  const int64_t extents[3] = {21, 5, 18};
  static const int perms[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}};
  int turn = 0;
  for (int t = 0; t < COMPUTED_TYPES; t++) {
    const cuttType_t type = computed_types[t];
    const int count = test_type_complex(type) ? 6 : 4;
    for (int a = -1; a < count; a++) {
      for (int b = -1; b < count; b++) {
        for (int conjugate = 0; conjugate <= (int)test_type_complex(type); conjugate++) {
          test_problem p = test_packed(type, 3, extents, perms[turn % 3]);
          p.has_alpha = a >= 0;
          p.has_beta = b >= 0;
          if (a >= 0) p.alpha = whole_scalar(type, values[a][0], values[a][1]);
          if (b >= 0) p.beta = whole_scalar(type, values[b][0], values[b][1]);
          p.conjugate = conjugate;
          vary(&p, turn++);
          check_listed(&p, TEST_ALL);
        }
      }
    }
  }
}

/* A beta of -0 is 0: it must not read the output either. */
static void negative_zero_beta(void **unused) {
  (void)unused;
  for (int t = 0; t < 6; t++) {
    const int64_t extents[2] = {19, 23};
    const int perm[2] = {1, 0};
    test_problem p = test_packed(computed_types[t], 2, extents, perm);
    p.has_alpha = p.has_beta = true;
    p.alpha = whole_scalar(p.type, 2, 0);
    if (p.type == CUTT_F64 || p.type == CUTT_C64)
      p.beta.f64[0] = -0.0;
    else
      p.beta.f32[0] = -0.0f;
    vary(&p, t);
    check_listed(&p, TEST_ALL);
  }
}

/* ------------------------------------------------------------------------------------------------ 16-bit floats */

enum { ALL_16_BIT = 65536 };

/* A problem's first candidate, executed from in to out, which are as long as one of all 16-bit values. */
static void permute_16_bit(const test_problem *p, const uint16_t *in, uint16_t *out) {
  const test_engine *engine = test_engine_in_use();
  const cuttProblem_t view = test_problem_view(p);
  const size_t bytes = (size_t)test_volume(p) * 2;
  static unsigned char image[2 * ALL_16_BIT] __attribute__((aligned(64)));
  static unsigned char from[2 * ALL_16_BIT] __attribute__((aligned(64)));
  memcpy(from, in, bytes);
  const test_memory memory = {p, {from, bytes, from, bytes}, {image, bytes, image, bytes}, from, image};
  cutt_canonical canonical;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  char error[1024];
  assert_success(cutt_canonicalize(&view, &canonical));
  assert_true(engine->enumerate(&canonical, 1, list, CUTT_MAX_CANDIDATES) > 0);
  if (!engine->run(&canonical, list, 0, &memory, error, sizeof error)) fail_msg("%s", error);
  memcpy(out, image, bytes);
}

/* Every half and every bfloat16, times scalars that round, overflow and underflow: exactly what float arithmetic and one
 * rounding to nearest even give. */
static void sixteen_bit_floats_round_to_nearest_even(void **unused) {
  (void)unused;
  static const float alphas[] = {0.5f,     2.0f,    -1.0f,  1.0f / 3.0f, 1.0009765625f,
                                 0x1p-10f, 0x1p10f, 1e-30f, 1e30f,       0.99951f};
  static uint16_t in[ALL_16_BIT], out[ALL_16_BIT];
  static const int64_t extents[2] = {251, 261}; /* 65511 of them, and the rest in a second go */
  static const int perm[2] = {1, 0};
  for (int i = 0; i < ALL_16_BIT; i++) in[i] = (uint16_t)i;
  for (int type = CUTT_F16; type <= CUTT_BF16; type++) {
    for (size_t n = 0; n < sizeof alphas / sizeof *alphas; n++) {
      if (!sampled((int)n + (type - CUTT_F16) * 5)) continue;
      for (int go = 0; go < 2; go++) {
        const int shift = go ? ALL_16_BIT - 251 * 261 : 0;
        test_problem p = test_packed((cuttType_t)type, 2, extents, perm);
        p.has_alpha = true;
        p.alpha.f32[0] = alphas[n];
        permute_16_bit(&p, in + shift, out);
        for (int i = 0; i < 251; i++) {
          for (int j = 0; j < 261; j++) {
            const uint16_t from = in[shift + i + 251 * j], to = out[j + 261 * i];
            const double x = type == CUTT_F16 ? test_half_to_double(from) : test_bfloat_to_double(from);
            const volatile float product =
                alphas[n] * (float)x; /* volatile: rounded to float here, whatever the target */
            const uint16_t expected = type == CUTT_F16 ? test_half_from(product) : test_bfloat_from(product);
            if (isnan(product)) {
              assert_true(isnan(type == CUTT_F16 ? test_half_to_double(to) : test_bfloat_to_double(to)));
            } else if (to != expected) {
              fail_msg("%s %04x times %g is %04x, should be %04x", type == CUTT_F16 ? "f16" : "bf16", from,
                       (double)alphas[n], to, expected);
            }
          }
        }
      }
    }
  }
}

/* ------------------------------------------------------------------------------------------------ memory */

static void every_alignment(void **unused) {
  (void)unused;
  static const int64_t extents[][3] = {{33, 18, 5}, {64, 3, 20}, {7, 9, 31}};
  static const int perms[][3] = {{1, 0, 2}, {2, 1, 0}, {0, 2, 1}};
  for (int at = 0; at < 64; at++) {
    for (int t = 0; t < MOVED_TYPES; t++) {
      test_problem p = test_packed(moved_types[t], 3, extents[at % 3], perms[(at / 3 + t) % 3]);
      p.in_at = at;
      p.out_at = (at * 5 + t * 13) % 64;
      p.threads = 1 + at % 3;
      p.seed = (uint64_t)at;
      check_listed(&p, TEST_ALL);
    }
  }
}

/* Some megabytes, where threads and non-temporal stores come in. */
static void megabytes(void **unused) {
  (void)unused;
  static const struct {
    int rank;
    int64_t extents[6];
    int perm[6];
  } rows[] = {
      {2, {1021, 1033}, {1, 0}},
      {2, {64, 16384}, {1, 0}},
      {2, {3, 350001}, {1, 0}},
      {2, {350003, 3}, {1, 0}},
      {3, {513, 31, 65}, {0, 2, 1}},
      {3, {127, 127, 63}, {2, 1, 0}},
      {4, {5, 77, 31, 85}, {3, 0, 2, 1}},
      {5, {2, 50, 7, 33, 45}, {4, 0, 2, 1, 3}},
      {6, {4, 3, 33, 7, 12, 31}, {2, 5, 0, 4, 1, 3}},
      {6, {10, 10, 10, 10, 10, 10}, {5, 4, 3, 2, 1, 0}},
      {1, {1048579}, {0}},
      {4, {6, 400, 5, 90}, {2, 0, 3, 1}},
  };
  const int count = sizeof rows / sizeof *rows;
  for (int i = 0; i < count; i++) {
    for (int t = 0; t < MOVED_TYPES; t++) {
      const int turn = i * MOVED_TYPES + t;
      if (turn % 2 != 0 || !sampled(turn)) continue; /* every second one: each takes a while */
      test_problem p = test_packed(moved_types[t], rows[i].rank, rows[i].extents, rows[i].perm);
      vary(&p, turn / 2);
      /* Under sanitizers, which see in smaller ones what each candidate does, not all of them. */
      check(&p, test_scale() < 0.1 ? TEST_CHOSEN | TEST_SHAPES : TEST_ALL);
    }
  }
}

/* Some megabytes with strides and scalars, chosen at random. */
static void random_megabytes(void **unused) {
  (void)unused;
  random_problems(7, 12, &(test_limits){2, 6, 700000, 0, 50, 50, 3}, TEST_ALL);
}

/* ------------------------------------------------------------------------------------------------ candidates by hand */

/* What a file of wisdom that was edited by hand may hold: refused with a reason, or right. */
static void changed_candidates(void **unused) {
  (void)unused;
  random_problems(8, 1200, &(test_limits){1, 7, 9000, 0, 30, 30, 3}, TEST_MUTANTS);
}

static void repeat(void **unused) {
  (void)unused;
  test_problem p;
  if (!test_problem_parse(getenv("CUTT_TEST_REPEAT"), &p)) fail_msg("CUTT_TEST_REPEAT is not a line of this program");
  check(&p, TEST_ALL | TEST_MUTANTS);
}

static int cleanup(void **unused) {
  (void)unused;
  test_try_report();
  test_try_cleanup();
  if (finish_engine) finish_engine();
  return 0;
}

int test_properties(const test_engine *engine, void (*finish)(void)) {
  const struct CMUnitTest again[] = {cmocka_unit_test(repeat)};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_permutation),
      cmocka_unit_test(every_small_matrix),
      cmocka_unit_test(matrices_around_vector_widths),
      cmocka_unit_test(small_leading_extents),
      cmocka_unit_test(random_packed),
      cmocka_unit_test(random_rank_6_to_12),
      cmocka_unit_test(random_rank_13_to_64),
      cmocka_unit_test(many_small_modes_reversed),
      cmocka_unit_test(random_strided),
      cmocka_unit_test(sub_matrices),
      cmocka_unit_test(small_gaps),
      cmocka_unit_test(reversals_and_repeats),
      cmocka_unit_test(broadcasts_along_rows),
      cmocka_unit_test(interleaved_outputs),
      cmocka_unit_test(random_scaled),
      cmocka_unit_test(scalars_that_select_code),
      cmocka_unit_test(negative_zero_beta),
      cmocka_unit_test(sixteen_bit_floats_round_to_nearest_even),
      cmocka_unit_test(every_alignment),
      cmocka_unit_test(megabytes),
      cmocka_unit_test(random_megabytes),
      cmocka_unit_test(changed_candidates),
  };
  test_use_engine(engine);
  finish_engine = finish;
  if (getenv("CUTT_TEST_SEED")) base_seed = strtoull(getenv("CUTT_TEST_SEED"), NULL, 10);
  if (getenv("CUTT_TEST_REPEAT")) return cmocka_run_group_tests_name("repeat", again, NULL, cleanup);
  if (getenv("CUTT_TEST_SKIP")) cmocka_set_skip_filter(getenv("CUTT_TEST_SKIP")); /* a pattern: many_* */
  return cmocka_run_group_tests_name(engine->name, tests, NULL, cleanup);
}
