/* The edges of tiles: candidates of large problems, on problems that end shortly before, at and after the edge of a tile in
 * each direction; and offsets that need more than 32 bits, in tensors of which few elements exist. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simt/engine.h"
#include "support/check.h"

static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16,
                                   CUTT_F16,     CUTT_F32,     CUTT_C64,     CUTT_F64};
enum { TYPES = sizeof types / sizeof *types, MOVED = 5, MOST_VOLUME = 40000 };

static test_problem problem_of(cuttType_t type, int rank, const int64_t *extents, const int *perm, int number) {
  static const int places[] = {0, 16, 4, 8, 2, 1, TEST_AT_END, 33};
  test_problem p = test_packed(type, rank, extents, perm);
  p.in_at = places[number % 8];
  p.out_at = places[number / 3 % 8];
  p.seed = (uint64_t)number + 1;
  if (test_type_computes(type)) {
    test_rng rng = {p.seed};
    p.has_alpha = p.has_beta = true;
    p.alpha = test_random_scalar(&rng, type);
    p.beta = test_random_scalar(&rng, type);
  }
  return p;
}

/* Makes strides of the input negative, and 0: the latter of its last modes. */
static void turn(test_problem *p, int backwards, int repeated) {
  int64_t stride = 1;
  if (backwards == 0 && repeated == 0) return;
  p->in_strided = true;
  for (int i = 0; i < p->rank; ++i) {
    p->in_strides[i] = repeated >> i & 1 ? 0 : backwards >> i & 1 ? -stride : stride;
    if (!(repeated >> i & 1)) stride *= p->extents[i];
  }
}

/* Shortens the extents for a candidate: where it splits a mode, to one or two tiles, and `past` more or less; of modes outside
 * of the tile, to two. False when it has no split. */
static bool shrink(const cutt_candidate *c, const test_problem *large, const cutt_canonical *canonical, int past_m,
                   int past_k, int64_t *extents) {
  if (canonical->rank != large->rank) return false; /* modes were fused: its splits are not of the problem's modes */
  memcpy(extents, large->extents, (size_t)large->rank * sizeof *extents);
  const int cut_m = c->split_m > 0 ? c->m - 1 : -1, cut_k = c->split_k > 0 ? canonical->out_order[c->k - 1] : -1;
  if (cut_m < 0 && cut_k < 0) return false;
  for (int i = 0; i < large->rank; ++i) {
    bool inside = i < c->m;
    for (int j = 0; j < c->k; ++j) inside = inside || canonical->out_order[j] == i;
    if (!inside && extents[i] > 2) extents[i] = 2;
  }
  if (cut_m >= 0) extents[cut_m] = (past_m & 4 ? 1 : 2) * c->split_m + past_m % 4 - 1;
  if (cut_k >= 0) extents[cut_k] = (past_k & 4 ? 1 : 2) * c->split_k + past_k % 4 - 1;
  for (int i = 0; i < large->rank; ++i)
    if (extents[i] < 2) return false;
  return true;
}

static void edges_of_tiles(void **unused) {
  (void)unused;
  static const struct {
    int rank;
    int64_t extents[5];
    int perm[5];
    int backwards, repeated; /* sets of modes */
  } rows[] = {
      {2, {9001, 7003}, {1, 0}, 0, 0},
      {3, {300, 310, 320}, {2, 1, 0}, 0, 0},
      {3, {2000, 7, 900}, {2, 1, 0}, 0, 0},
      {4, {5, 700, 3, 900}, {3, 2, 1, 0}, 0, 0},
      {4, {6, 400, 5, 400}, {2, 0, 3, 1}, 0, 0},
      {3, {5000, 40, 50}, {0, 2, 1}, 0, 0},
      {5, {3, 5, 300, 7, 200}, {4, 1, 0, 2, 3}, 0, 0},
      {4, {3, 800, 900, 2}, {0, 2, 1, 3}, 0, 0},
      {2, {9001, 7003}, {0, 1}, 1, 0},
      {2, {9001, 7003}, {1, 0}, 1, 0},
      {3, {5000, 40, 50}, {0, 2, 1}, 1, 0},
      {3, {2000, 7, 900}, {2, 1, 0}, 5, 0},
      {4, {5, 700, 3, 900}, {3, 2, 1, 0}, 2, 0},
      {4, {5, 700, 3, 900}, {1, 0, 3, 2}, 3, 0},
      {2, {9001, 7003}, {1, 0}, 0, 2},
      {2, {9001, 7003}, {0, 1}, 0, 2},
      {4, {3, 800, 900, 2}, {1, 3, 0, 2}, 2, 8},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  int number = 0, executions = 0;
  for (int row = 0; row < ROWS; ++row) {
    for (int t = 0; t < TYPES; ++t) {
      test_problem large = test_packed(types[t], rows[row].rank, rows[row].extents, rows[row].perm);
      test_problem scaled = problem_of(types[t], large.rank, large.extents, large.perm, row);
      turn(&scaled, rows[row].backwards, rows[row].repeated);
      const cuttProblem_t view = test_problem_view(&scaled);
      cutt_canonical canonical;
      cutt_candidate list[CUTT_MAX_CANDIDATES];
      assert_success(cutt_canonicalize(&view, &canonical));
      const int count = test_engine_in_use()->enumerate(&canonical, 1, list, CUTT_MAX_CANDIDATES);
      for (int i = 0; i < count; ++i) {
        for (int past_m = 0; past_m < 8;
             ++past_m) { /* 4: one tile instead of two; 3, 1, 0: past the edge, at it, short */
          for (int past_k = 0; past_k < 8; ++past_k) {
            int64_t extents[CUTT_MAX_RANK];
            if ((double)(test_mix((uint64_t)++number) % 100000) >= 100000 * test_scale()) continue;
            if (!shrink(&list[i], &large, &canonical, past_m, past_k, extents)) continue;
            test_problem p = problem_of(types[t], large.rank, extents, large.perm, number);
            turn(&p, rows[row].backwards, rows[row].repeated);
            bool ran;
            if (test_volume(&p) > MOST_VOLUME) continue;
            if (!test_try_candidate(&p, &list[i], &ran)) fail();
            executions += ran;
          }
        }
      }
    }
  }
  printf("%d executions compared\n", executions);
  assert_true(executions > 0);
}

/* ------------------------------------------------------------------------------------------------- long strides */

/* Addresses, of which only the pages that are touched take memory. */
static unsigned char *map(int64_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  unsigned char *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* The byte offsets of element number `index` of the problem on both sides, counted from the spans' first bytes. */
static void offsets(const test_problem *p, int64_t index, int64_t *in, int64_t *out) {
  const int64_t bytes = (int64_t)test_type_bytes(p->type);
  int64_t in_low, in_high, out_low, out_high, digit[CUTT_MAX_RANK];
  test_in_span(p, &in_low, &in_high);
  test_out_span(p, &out_low, &out_high);
  *in = -in_low;
  *out = -out_low;
  for (int i = 0; i < p->rank; ++i) {
    digit[i] = index % p->extents[i];
    index /= p->extents[i];
    *in += digit[i] * p->in_strides[i];
  }
  for (int i = 0; i < p->rank; ++i) *out += digit[p->perm[i]] * p->out_strides[i];
  *in *= bytes;
  *out *= bytes;
}

/* Moves a few elements that lie gigabytes apart with every candidate. */
static void move_far(const test_problem *p) {
  const test_engine *engine = test_engine_in_use();
  const int64_t bytes = (int64_t)test_type_bytes(p->type), volume = test_volume(p);
  int64_t in_low, in_high, out_low, out_high;
  test_in_span(p, &in_low, &in_high);
  test_out_span(p, &out_low, &out_high);
  test_memory memory = {.problem = p};
  memory.in_buffer.bytes = (size_t)((in_high - in_low) * bytes);
  memory.out_buffer.bytes = (size_t)((out_high - out_low) * bytes);
  unsigned char *const from = map((int64_t)memory.in_buffer.bytes), *const to = map((int64_t)memory.out_buffer.bytes);
  if (!from || !to) {
    printf("left out: the system has no such addresses\n");
    skip();
  }
  memory.in_buffer.data = memory.in_buffer.zone = from;
  memory.out_buffer.data = memory.out_buffer.zone = to;
  memory.in = from - in_low * bytes;
  memory.out = to - out_low * bytes;
  int64_t in, out;
  for (int64_t i = 0; i < volume; ++i) {
    offsets(p, i, &in, &out);
    for (int64_t j = 0; j < bytes; ++j) from[in + j] = (unsigned char)(test_mix((uint64_t)(i * bytes + j)) >> 24);
  }
  const cuttProblem_t view = test_problem_view(p);
  cutt_canonical canonical;
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  assert_success(cutt_canonicalize(&view, &canonical));
  const int count = engine->enumerate(&canonical, 1, list, CUTT_MAX_CANDIDATES);
  assert_true(count > 0);
  const int step = test_scale() < 0.003 ? 4 : 1; /* under sanitizers a part of them, another one for each tensor */
  static int turn;
  for (int c = turn++ % step; c < count; c += step) {
    char error[1024];
    if (!engine->run(&canonical, &list[c], 0, &memory, error, sizeof error)) fail_msg("candidate %d: %s", c, error);
    for (int64_t i = 0; i < volume; ++i) {
      offsets(p, i, &in, &out);
      if (memcmp(from + in, to + out, (size_t)bytes) != 0)
        fail_msg("candidate %d: element %" PRId64 " of the input is not where it should be", c, i);
      memset(to + out, 0, (size_t)bytes);
    }
  }
  munmap(from, memory.in_buffer.bytes);
  munmap(to, memory.out_buffer.bytes);
}

static void offsets_past_32_bits(void **unused) {
  (void)unused;
  static const int64_t far = INT64_C(3221225472); /* bytes; twice of it is beyond 32 bits */
  static const struct {
    int64_t extents[3];
    int perm[3];
    int64_t in[3], out[3]; /* strides: 0: packed up to here; +-1: far */
  } rows[] = {
      {{20, 30, 3}, {1, 0, 2}, {0, 0, 1}, {0, 0, 1}}, /* a far mode outside of the tile */
      {{20, 3, 30}, {2, 1, 0}, {0, 1, 0}, {0, 0, 0}}, /* between modes of it */
      {{20, 3, 30}, {2, 1, 0}, {0, 0, 0}, {0, 1, 0}}, {{20, 30, 3}, {1, 2, 0}, {0, 0, -1}, {0, -1, 0}}, /* backwards */
      {{20, 3, 7}, {0, 2, 1}, {0, 1, 0}, {0, 0, 1}}, /* copies of runs */
      {{3, 40, 2}, {1, 0, 2}, {1, 0, 0}, {0, 1, 0}}, /* the first mode */
  };
  for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
    for (int t = 0; t < MOVED; ++t) {
      test_problem p = test_packed(types[t], 3, rows[r].extents, rows[r].perm);
      const int64_t bytes = (int64_t)test_type_bytes(p.type);
      int64_t in = 1, out = 1;
      p.in_strided = p.out_strided = true;
      for (int i = 0; i < 3; ++i) {
        p.in_strides[i] = rows[r].in[i] ? rows[r].in[i] * far / bytes : in;
        if (!rows[r].in[i]) in *= p.extents[i];
        p.out_strides[i] = rows[r].out[i] ? rows[r].out[i] * far / bytes : out;
        if (!rows[r].out[i]) out *= p.extents[p.perm[i]];
      }
      move_far(&p);
    }
  }
}

static int cleanup(void **unused) {
  (void)unused;
  test_try_cleanup();
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(edges_of_tiles), cmocka_unit_test(offsets_past_32_bits)};
  test_use_engine(simt_engine(&simt_h200, "test_property_simt h200"));
  return cmocka_run_group_tests_name("edges", tests, NULL, cleanup);
}
