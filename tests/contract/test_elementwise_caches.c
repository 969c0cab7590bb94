/* Elementwise operations past the caches on a CPU: rows that begin and end anywhere in cache lines, operands that registers turn, and the kernel
 * of rows by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* before cmocka.h */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "contract/elementwise.h"
#include "support/check.h"
#include "support/problem.h"

typedef struct asked {
  cuttElementwise_t problem;
  cuttElementwiseOptions_t options;
} asked;

/* Past the caches: rows that begin anywhere in a cache line, one after the other or with gaps, and blocks that go on in a line where
 * others ended. Numbers are 0 to 14, which every type has. */
static void put_number(cuttType_t type, int number, unsigned char *to) {
  static const uint16_t half[] = {0,      0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700,
                                  0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00};
  const float single = (float)number;
  const double both[2] = {number, -number};
  memcpy(to,
         type == CUTT_F16   ? (const void *)&half[number]
         : type == CUTT_F32 ? (const void *)&single
                            : (const void *)both,
         test_type_bytes(type));
}

static void past_the_caches(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extent[2], gap; /* the gap: elements between D's rows */
    int threads;
  } cases[] = {{CUTT_F16, {12289, 701}, 0, 1},
               {CUTT_F32, {6151, 701}, 3, 2},
               {CUTT_F64, {1237, 1801}, 1, 1},
               {CUTT_C64, {301, 3571}, 0, 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    const cuttType_t type = cases[k].type;
    const size_t element = test_type_bytes(type);
    const int64_t n = cases[k].extent[0], rows = cases[k].extent[1], pitch = n + cases[k].gap;
    const int64_t extents[3] = {n, rows, n}, strides[2] = {1, pitch};
    const size_t bytes = (size_t)(pitch * rows) * element, guard = 64;
    unsigned char *a = malloc(bytes), *b = malloc(bytes), *memory = malloc(bytes + 4 * guard), wanted[16];
    assert_true(a && b && memory);
    unsigned char *d = memory + guard + (guard - (uintptr_t)memory % guard) + element;
    memset(memory, 0xee, bytes + 4 * guard);
    for (int64_t j = 0; j < rows; ++j) {
      for (int64_t i = 0; i < n; ++i) {
        put_number(type, (int)((3 * i + j) % 8), a + (size_t)(j * pitch + i) * element);
        put_number(type, (int)((i + 5 * j) % 7), b + (size_t)(i * rows + j) * element);
      }
    }
    asked call = {.problem = CUTT_ELEMENTWISE_INIT, .options = CUTT_ELEMENTWISE_OPTIONS_INIT};
    call.options.backend = CUTT_BACKEND_CPU;
    call.options.threads = cases[k].threads;
    call.problem.pattern = "ab,ba->ab";
    call.problem.type = type;
    call.problem.a_rank = call.problem.b_rank = call.problem.result_rank = 2;
    call.problem.a_extents = extents;
    call.problem.b_extents = extents + 1;
    call.problem.a_strides = call.problem.result_strides = strides;
    assert_success(cuttElementwiseCompute(&call.problem, &call.options, a, b, NULL, d, NULL));
    for (int64_t j = 0; j < rows; ++j) {
      for (int64_t i = 0; i < pitch && (i < n || j + 1 < rows); ++i) {
        put_number(type, (int)((3 * i + j) % 8 + (i + 5 * j) % 7), wanted);
        if (i >= n) memset(wanted, 0xee, element);
        if (memcmp(d + (size_t)(j * pitch + i) * element, wanted, element) != 0)
          fail_msg("type %d at %lld %lld", (int)type, (long long)i, (long long)j);
      }
    }
    for (size_t i = 0; i < element; ++i) assert_int_equal(d[-1 - (int)i], 0xee);
    for (size_t i = 0; i < guard; ++i) assert_int_equal(d[(size_t)(pitch * rows - cases[k].gap) * element + i], 0xee);
    free(a), free(b), free(memory);
  }
}

/* Turned operands past the caches in two parts, as by two threads, with nothing known to the second of what the first carried on: also where
 * it begins with 32 bytes that end a row of tiles, behind which D goes on. */
static void turned_in_two_parts(void **unused) {
  (void)unused;
  enum { RANK = 4, N = 16, ROWS = 63 * 64 + 1, MORE = 2, RUN = 8, LINE = 64, BEFORE = 16, TILES = 128 };
  static const int64_t extents[RANK] = {N, ROWS, MORE, RUN}, turned_extents[RANK] = {RUN, MORE, ROWS, N};
  static const int64_t parts[] = {1, 62, 63, 64, 65, TILES - 1};
  const size_t element = 2, volume = (size_t)N * ROWS * MORE * RUN, bytes = volume * element;
  unsigned char *a = malloc(bytes), *b = malloc(bytes), *wanted = malloc(bytes);
  unsigned char *memory = aligned_alloc(LINE, bytes + LINE), *carry = aligned_alloc(LINE, (size_t)RUN * LINE);
  assert_true(a && b && wanted && memory && carry);
  size_t at = 0;
  for (int64_t l = 0; l < RUN; ++l) {
    for (int64_t k = 0; k < MORE; ++k) {
      for (int64_t j = 0; j < ROWS; ++j) {
        for (int64_t i = 0; i < N; ++i, ++at) {
          put_number(CUTT_F16, (int)(at % 8), a + at * element);
          put_number(CUTT_F16, (int)(at % 7), b + (size_t)(l + RUN * (k + MORE * (j + ROWS * i))) * element);
          put_number(CUTT_F16, (int)(at % 8 + at % 7), wanted + at * element);
        }
      }
    }
  }
  asked call = {.problem = CUTT_ELEMENTWISE_INIT, .options = CUTT_ELEMENTWISE_OPTIONS_INIT};
  call.options.backend = CUTT_BACKEND_CPU;
  call.problem.pattern = "abcd,dcba->abcd";
  call.problem.type = CUTT_F16;
  call.problem.a_rank = call.problem.b_rank = call.problem.result_rank = RANK;
  call.problem.a_extents = extents;
  call.problem.b_extents = turned_extents;
  cuttElementwisePlan_t plan = NULL;
  assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
  void *const tensor[] = {a, b, memory + BEFORE, NULL};
  const cutt_combination sum = {.operands = 2, .op = {CUTT_OP_ADD}};
  assert_true(!plan->turn || plan->blocks == TILES); /* with vectors of 16 bytes there are none of halves */
  for (size_t i = 0; plan->turn && i < sizeof parts / sizeof *parts; ++i) {
    memset(memory, 0xee, bytes + LINE);
    for (int part = 0; part < 2; ++part) {
      memset(carry, 0xee, (size_t)RUN * LINE);
      cutt_elementwise_turn_run(plan, tensor, &sum, carry, part ? parts[i] : 0, part ? TILES : parts[i]);
    }
    plan->kernels->fence();
    assert_memory_equal(memory + BEFORE, wanted, bytes);
    for (at = 0; at < LINE; ++at) assert_int_equal(at < BEFORE ? memory[at] : memory[bytes + at], 0xee);
  }
  assert_success(cuttElementwisePlanDestroy(plan));
  free(a), free(b), free(wanted), free(memory), free(carry);
}

/* The kernel of rows past the caches: rows that begin and end anywhere in cache lines, go on in another call or in the next row, or leave
 * gaps. */
static void rows_past_the_caches(void **unused) {
  (void)unused;
  static const cuttType_t kinds[] = {CUTT_F16, CUTT_F32, CUTT_F64, CUTT_C64};
  enum { MOST = 150, ROWS = 5, LINE = 64 };
  test_rng rng = {20261128};
  const size_t room = (size_t)2 * (2 * MOST + LINE) * (ROWS + 2) * 16;
  cutt_combine_edge *edge = aligned_alloc(LINE, ROWS * sizeof *edge);
  unsigned char *memory = aligned_alloc(LINE, room), *wanted = malloc(room);
  assert_true(edge && memory && wanted);
  for (int i = 0; i < test_scaled(2000); ++i) {
    const cuttType_t type = kinds[i % 4];
    const int64_t bytes = (int64_t)test_type_bytes(type), rows = test_random_in(&rng, 1, ROWS);
    const int64_t most = test_chance(&rng, 50) ? 12 : MOST;
    const int64_t n = test_random_in(&rng, 1, most), more = test_chance(&rng, 50) ? test_random_in(&rng, 1, most) : 0;
    const int64_t all = n + more, gap = test_chance(&rng, 40) ? 0 : test_random_in(&rng, 1, 40), pitch = all + gap;
    const bool single = test_chance(&rng, 20);
    unsigned char *a = malloc((size_t)(all * rows * bytes)), *b = malloc((size_t)(all * rows * bytes));
    unsigned char *d = memory + LINE + test_random_in(&rng, 0, LINE / bytes - 1) * bytes;
    assert_true(a && b);
    memset(memory, 0xee, room), memset(wanted, 0xee, room);
    for (int64_t k = 0; k < all * rows; ++k) {
      const int left = (int)test_random_in(&rng, 0, 7), right = (int)test_random_in(&rng, 0, 7);
      put_number(type, left, a + k * bytes);
      put_number(type, single ? 3 : right, b + k * bytes);
      put_number(type, left + (single ? 3 : right), wanted + (d - memory) + (k / all * pitch + k % all) * bytes);
    }
    const asked call = {.problem = {.struct_size = sizeof call.problem, .pattern = ",->", .type = type},
                        .options = {.struct_size = sizeof call.options, .backend = CUTT_BACKEND_CPU}};
    cuttElementwisePlan_t plan = NULL;
    assert_success(cuttElementwisePlanCreate(&plan, &call.problem, &call.options));
    cutt_combination sum = {.operands = 2, .op = {CUTT_OP_ADD}, .rows = rows, .step = pitch * bytes};
    sum.operand[0].step = sum.operand[1].step = all * bytes;
    sum.operand[1].single = single;
    memset(edge, 0, ROWS * sizeof *edge);
    for (int part = 0; part < (more ? 2 : 1); ++part) {
      const int64_t from = part ? n * bytes : 0;
      const char *at[3] = {(const char *)a + from, (const char *)b + from, NULL};
      sum.n = part ? more : n;
      plan->numbers->combine((char *)d + from, at, &sum, edge, more || gap, NULL);
    }
    for (int64_t row = 0; row < rows; ++row) cutt_combine_end(&edge[row]);
    plan->kernels->fence();
    assert_memory_equal(memory, wanted, room);
    assert_success(cuttElementwisePlanDestroy(plan));
    free(a), free(b);
  }
  free(edge), free(memory), free(wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(past_the_caches), cmocka_unit_test(turned_in_two_parts),
                                     cmocka_unit_test(rows_past_the_caches)};
  return cmocka_run_group_tests_name("elementwise past the caches", tests, NULL, NULL);
}
