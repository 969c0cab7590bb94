/* What the search chooses on processors (cpu/enumerate.c) where that was wrong once, or where a kernel has been made for it. */
#include <string.h>

#include "cpu/cost.h"
#include "cpu/enumerate.h"
#include "cpu/kernels/kernels.h"
#include "support/check.h"
#include "support/problem.h"

/* What is left to hardware prefetchers: data in the last-level cache on a core whose parameters say that asking takes time, but not
 * bytes whose columns share sets of L1. Columns that do are done a line at a time. Every other time with parameters by which it
 * takes none. */
static void what_is_not_prefetched(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[2];
    bool unasked;
    int64_t step;
  } cases[] = {
      {CUTT_BYTES_4, {513, 701}, true, 64},    {CUTT_BYTES_8, {512, 512}, true, 8},
      {CUTT_BYTES_1, {1025, 1111}, true, 64},  {CUTT_BYTES_1, {256, 4096}, false, 64},
      {CUTT_BYTES_4, {200, 300}, false, 64},   /* in L2 */
      {CUTT_BYTES_8, {1025, 1111}, false, 64}, /* in memory */
  };
  static const int perm[2] = {1, 0};
  cutt_cpu_machine machine = {.vector_bytes = 64,
                              .byte_permutes = 1,
                              .threads = 1,
                              .l1_bytes = 48 << 10,
                              .l2_bytes = 1 << 20,
                              .l3_bytes = 32 << 20,
                              .stream_bytes = 4 << 20};
  const double *zen5_values = cutt_cpu_values_of(CUTT_CPU_CORE_ZEN5);
  double free_to_ask[CUTT_CPU_LEVELS * CUTT_CPU_COUNTS];
  memcpy(free_to_ask, zen5_values, sizeof free_to_ask);
  free_to_ask[CUTT_CPU_IN_L3 * CUTT_CPU_COUNTS + CUTT_CPU_COUNT_TO_L1] = 0;
  for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
    const bool asks = i % 2;
    machine.base.value = asks ? free_to_ask : zen5_values;
    const test_problem p = test_packed(cases[i / 2].type, 2, cases[i / 2].extents, perm);
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    assert_success(cutt_canonicalize(&view, &canonical));
    cutt_candidate list[CUTT_MAX_CANDIDATES], first;
    const int count = cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, list, CUTT_MAX_CANDIDATES);
    assert_int_equal(cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, &first, 1), 1);
    assert_true(count > 1 && first.seconds == list[0].seconds);
    assert_memory_equal(first.param, list[0].param, sizeof first.param);
    if (first.param[CUTT_CPU_PARAM_NON_TEMPORAL]) continue;
    const bool unasked = first.param[CUTT_CPU_PARAM_PREFETCH] == CUTT_CPU_TO_NONE;
    if (unasked != (cases[i / 2].unasked && !asks) ||
        (unasked && first.param[CUTT_CPU_PARAM_STEP] != cases[i / 2].step))
      fail_msg("case %zu: prefetch %d, steps of %d columns", i, (int)first.param[CUTT_CPU_PARAM_PREFETCH],
               (int)first.param[CUTT_CPU_PARAM_STEP]);
  }
}

/* A processor of 64-byte registers. */
static cutt_cpu_machine zen5(void) {
  return (cutt_cpu_machine){.base.value = cutt_cpu_values_of(CUTT_CPU_CORE_ZEN5),
                            .vector_bytes = 64,
                            .byte_permutes = 1,
                            .whole_lines = 1,
                            .threads = 1,
                            .l1_bytes = 48 << 10,
                            .l2_bytes = 1 << 20,
                            .l3_bytes = 32 << 20,
                            .stream_bytes = 4 << 20};
}

/* A processor of AMD's fourth generation. */
static cutt_cpu_machine zen4(void) {
  cutt_cpu_machine machine = zen5();
  machine.base.value = cutt_cpu_values_of(CUTT_CPU_CORE_ZEN);
  machine.l1_bytes = 32 << 10;
  return machine;
}

/* The canonical problem, and the first of its candidates. */
static void choose_for(const cutt_cpu_machine *machine, const test_problem *p, int threads, cutt_canonical *canonical,
                       cutt_candidate *first) {
  const cuttProblem_t view = test_problem_view(p);
  assert_success(cutt_canonicalize(&view, canonical));
  assert_int_equal(cutt_cpu_enumerate(&machine->base, CUTT_MODEL_IS_OWN, canonical, threads, first, 1), 1);
}

static void choose(const cutt_cpu_machine *machine, cuttType_t type, int rank, const int64_t *extents, const int *perm,
                   int threads, cutt_canonical *canonical, cutt_candidate *first) {
  const test_problem p = test_packed(type, rank, extents, perm);
  choose_for(machine, &p, threads, canonical, first);
}

/* Runs of some KB that are copied past the caches are read several at a time where they follow one another in the input. */
static void runs_that_follow(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[3];
  } cases[] = {
      {CUTT_F32, {368, 64, 600}}, {CUTT_F64, {522, 35, 433}}, {CUTT_F64, {368, 128, 300}}, {CUTT_F64, {2144, 32, 200}}};
  static const int perm[3] = {0, 2, 1};
  const cutt_cpu_machine machine = zen4();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_canonical canonical;
    cutt_candidate first;
    choose(&machine, cases[i].type, 3, cases[i].extents, perm, 1, &canonical, &first);
    assert_int_equal(first.m, 2);
    const int64_t runs = first.split_m ? first.split_m : canonical.mode[1].extent;
    assert_in_range(runs * canonical.mode[0].extent * canonical.elem_bytes, 16 << 10, 256 << 10);
  }
}

/* A copy, and what is permuted in short stretches, goes through the caches up to twice the length from which another permutation is stored
 * past them, but for long ones. */
static void copies_through_the_caches(void **unused) {
  (void)unused;
  enum { KB = 1024 };
  static const struct {
    int64_t stream, length, past;
  } cases[] = {{4096, 4097, 0},   {4096, 8192, 0},   {4096, 8193, 1},  {12288, 16384, 0},
               {12288, 16385, 1}, {32768, 32768, 0}, {32768, 32769, 1}};
  static const int same[1] = {0}, perm[2] = {1, 0}, turned[3] = {1, 0, 2};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_cpu_machine machine = zen4();
    const int64_t extents[2] = {cases[i].length, KB};
    const int64_t all = cases[i].length * KB;
    cutt_canonical canonical;
    cutt_candidate first;
    machine.stream_bytes = cases[i].stream * KB;
    choose(&machine, CUTT_BYTES_1, 1, &all, same, 1, &canonical, &first);
    assert_int_equal(first.param[CUTT_CPU_PARAM_NON_TEMPORAL], cases[i].past);
    choose(&machine, CUTT_BYTES_1, 2, extents, perm, 1, &canonical, &first);
    assert_int_equal(first.param[CUTT_CPU_PARAM_NON_TEMPORAL], cases[i].length > cases[i].stream);
    const int64_t pixels[3] = {4, KB / 4, cases[i].length}; /* each turned in its place */
    choose(&machine, CUTT_BYTES_1, 3, pixels, turned, 1, &canonical, &first);
    assert_int_equal(first.param[CUTT_CPU_PARAM_NON_TEMPORAL], cases[i].past);
  }
}

/* There is work for each thread: a tile that is all of a matrix would be one thread's. */
static void work_for_all_threads(void **unused) {
  (void)unused;
  static const int64_t extents[2] = {700, 900};
  static const int perm[2] = {1, 0};
  const cutt_cpu_machine machine = zen4();
  for (int threads = 2; threads <= 8; threads *= 2) {
    cutt_canonical canonical;
    cutt_candidate first;
    cutt_cpu_tile tile;
    const char *why = "";
    int64_t positions, length;
    choose(&machine, CUTT_F64, 2, extents, perm, threads, &canonical, &first);
    assert_int_equal(first.threads, threads);
    if (!cutt_cpu_tile_derive(&machine, &canonical, &first, &tile, &why)) fail_msg("%s", why);
    const int64_t parts = cutt_cpu_parts(&canonical, &tile, threads, &positions, &length);
    assert_true(parts * positions >= threads);
  }
}

/* Narrow matrices in memory are read from one end to the other, by tiles that L1 holds with the next one, if the model knows what that
 * saves; and rows whose lines share so few sets of L2 that it would lose them are walked along. */
static void what_shares_a_cache(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int rank, perm[4];
    int64_t extents[4];
    bool ahead;
  } cases[] = {
      {CUTT_BYTES_4, 2, {1, 0}, {129, 50638}, true},
      {CUTT_BYTES_16, 2, {1, 0}, {64, 20054}, true},
      {CUTT_BYTES_8, 2, {1, 0}, {64, 72972}, true},
      {CUTT_BYTES_4, 3, {2, 1, 0}, {8, 3584, 197}, false},
      {CUTT_BYTES_8, 4, {2, 0, 1, 3}, {16, 1536, 31, 13}, false},
  };
  const cutt_cpu_machine machine = zen5();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_canonical canonical;
    cutt_candidate first;
    choose(&machine, cases[i].type, cases[i].rank, cases[i].extents, cases[i].perm, 1, &canonical, &first);
    assert_int_equal(first.param[CUTT_CPU_PARAM_WALK], CUTT_CPU_ALONG);
    if (!cases[i].ahead) continue;
    assert_int_equal(first.param[CUTT_CPU_PARAM_PREFETCH], CUTT_CPU_TO_L2);
    assert_in_range(first.split_k, 1, machine.l1_bytes / 2 / canonical.elem_bytes / canonical.mode[0].extent);
  }
}

/* Where the rows of an output run are far apart, none of a few chunks of them is shorter than a line, if somewhat longer chunks leave
 * none. */
static void chunks_that_are_short(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[3];
  } cases[] = {
      {CUTT_F32, {326, 154, 298}}, {CUTT_F64, {51, 758, 194}}, {CUTT_F32, {93, 622, 259}}, {CUTT_F64, {208, 209, 172}}};
  static const int perm[3] = {2, 1, 0};
  const cutt_cpu_machine machine = zen5();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = test_packed(cases[i].type, 3, cases[i].extents, perm);
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    assert_success(cutt_canonicalize(&view, &canonical));
    static cutt_candidate list[1000];
    const int64_t line = CUTT_CPU_LINE / canonical.elem_bytes, extent = cases[i].extents[2];
    const int count = cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, list, 1000);
    int cut = 0;
    for (int j = 0; j < count; j++) {
      if (list[j].k != 1 || list[j].split_k == 0) continue;
      const int64_t rest = extent % list[j].split_k, then = extent % (list[j].split_k + line);
      cut++;
      assert_false(rest > 0 && rest < line && (then == 0 || then >= line) && extent / list[j].split_k < 8);
    }
    assert_true(cut > 0);
  }
}

/* Of runs that are joined, tiles of a few long runs of the output are taken, and not of many short ones. */
static void runs_of_a_tile(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int rank, perm[6];
    int64_t extents[6];
  } cases[] = {{CUTT_F32, 6, {0, 5, 3, 4, 1, 2}, {22, 16, 19, 17, 12, 12}},
               {CUTT_F64, 6, {0, 5, 4, 2, 1, 3}, {13, 14, 14, 13, 14, 13}},
               {CUTT_F64, 6, {0, 5, 4, 2, 1, 3}, {8, 19, 18, 11, 17, 15}}};
  const cutt_cpu_machine machine = zen5();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_canonical canonical;
    cutt_candidate first;
    cutt_cpu_tile tile;
    const char *why;
    choose(&machine, cases[i].type, cases[i].rank, cases[i].extents, cases[i].perm, 1, &canonical, &first);
    assert_true(cutt_cpu_tile_derive(&machine, &canonical, &first, &tile, &why));
    assert_true(tile.joins);
    assert_true(tile.run * canonical.elem_bytes >= 1024);
  }
}

/* What is added to memory is added in its order, one segment after the other: also where the input's runs would be longer otherwise. */
static void what_is_added_to(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[3];
  } cases[] = {{CUTT_F32, {285, 296, 296}}, {CUTT_F64, {226, 235, 235}}, {CUTT_F64, {109, 84, 522}}};
  static const int perm[3] = {0, 2, 1};
  const cutt_cpu_machine machine = zen5();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_problem p = test_packed(cases[i].type, 3, cases[i].extents, perm);
    p.has_beta = true;
    p.beta = p.type == CUTT_F32 ? (test_scalar){.f32 = {1}} : (test_scalar){.f64 = {1}};
    cutt_canonical canonical;
    cutt_candidate first;
    cutt_cpu_tile tile;
    const char *why;
    choose_for(&machine, &p, 1, &canonical, &first);
    assert_true(cutt_cpu_tile_derive(&machine, &canonical, &first, &tile, &why));
    assert_int_equal(tile.segments, 1);
  }
}

/* The first candidate's tile. */
static cutt_cpu_tile choose_tile(const cutt_cpu_machine *machine, cuttType_t type, int rank, const int64_t *extents,
                                 const int *perm) {
  cutt_canonical canonical;
  cutt_candidate first;
  cutt_cpu_tile tile;
  const char *why = "";
  choose(machine, type, rank, extents, perm, 1, &canonical, &first);
  if (!cutt_cpu_tile_derive(machine, &canonical, &first, &tile, &why)) fail_msg("%s", why);
  return tile;
}

/* Batches of matrices of odd sizes in memory are not staged, but for narrow elements and where rows share sets of L1. */
static void columns_that_follow(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int rank, perm[5];
    int64_t extents[5];
    bool follows;
  } cases[] = {
      {CUTT_F32, 4, {1, 0, 2, 3}, {62, 62, 63, 63}, true},
      {CUTT_F64, 4, {1, 0, 2, 3}, {62, 62, 63, 63}, true},
      {CUTT_F32, 4, {1, 0, 3, 2}, {22, 91, 109, 77}, true},
      {CUTT_F64, 4, {1, 0, 2, 3}, {31, 47, 81, 53}, true},
      {CUTT_BYTES_2, 4, {1, 0, 2, 3}, {62, 62, 63, 63}, false},
      {CUTT_F32, 5, {2, 0, 4, 1, 3}, {32, 32, 32, 32, 16}, false},
  };
  const cutt_cpu_machine machine = zen4();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const cutt_cpu_tile tile = choose_tile(&machine, cases[i].type, cases[i].rank, cases[i].extents, cases[i].perm);
    if (tile.follows != cases[i].follows) fail_msg("case %zu: %d", i, tile.follows);
    if (tile.follows) assert_true(tile.direct);
  }
}

/* Rows of floats that lie a megabyte apart, for 32 of which L2 has no room, are walked along for one line of the output at a time. */
static void rows_that_share_a_set(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[4];
    bool one_line;
  } cases[] = {
      {CUTT_F32, {64, 64, 64, 64}, true}, {CUTT_F64, {64, 64, 64, 64}, false}, {CUTT_F32, {70, 70, 70, 70}, false}};
  static const int perm[4] = {3, 2, 1, 0};
  const cutt_cpu_machine machine = zen4();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const cutt_cpu_tile tile = choose_tile(&machine, cases[i].type, 4, cases[i].extents, perm);
    assert_true(tile.along);
    assert_int_equal(tile.one_line, cases[i].one_line);
  }
}

/* A column to a matrix, which is a fill, row after row, and no walk; and it stays in the last-level cache up to half of what that holds, since hardly anything
 * is read. */
static void broadcasts(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[2];
    bool past;
  } cases[] = {{CUTT_BYTES_2, {6000, 6000}, true},
               {CUTT_F32, {6000, 6000}, true},
               {CUTT_C64, {20, 3000000}, true},
               {CUTT_F64, {1500, 1300}, false},
               {CUTT_C64, {900, 1100}, false}};
  const cutt_cpu_machine machine = zen4();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t strides[2] = {0, 1};
    const int perm[2] = {0, 1};
    cuttProblem_t problem = CUTT_PROBLEM_INIT;
    cutt_canonical canonical;
    cutt_candidate first;
    problem.type = cases[i].type;
    problem.rank = 2;
    problem.extents = cases[i].extents;
    problem.perm = perm;
    problem.in_strides = strides;
    assert_success(cutt_canonicalize(&problem, &canonical));
    assert_int_equal(cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, &first, 1), 1);
    assert_int_equal(first.param[CUTT_CPU_PARAM_NON_TEMPORAL], cases[i].past);
    if (first.param[CUTT_CPU_PARAM_KERNEL] != CUTT_CPU_GATHER)
      fail_msg("case %zu: kernel %d", i, (int)first.param[CUTT_CPU_PARAM_KERNEL]);
  }
}

/* An Intel Xeon. */
static cutt_cpu_machine xeon(void) {
  cutt_cpu_machine machine = zen5();
  machine.base.value = cutt_cpu_values_of(CUTT_CPU_CORE_OTHER);
  machine.whole_lines = 0;
  machine.asks_in_order = machine.waits_for_lines = 1;
  machine.l2_bytes = 2 << 20;
  machine.l3_bytes = 64 << 20;
  machine.stream_bytes = 8 << 20;
  return machine;
}

/* What is transposed to an output with gaps goes there element by element, without a stage, but for elements of which a store under a mask
 * has many. */
static void outputs_with_gaps(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[2], gap;
    bool direct;
  } cases[] = {{CUTT_F64, {350, 30}, 2, true},       {CUTT_F64, {2035, 662}, 3, true},
               {CUTT_C64, {100, 120}, 2, true},      {CUTT_F32, {193, 406}, 4, true},
               {CUTT_BYTES_2, {366, 130}, 2, false}, {CUTT_BYTES_1, {366, 130}, 3, false}};
  static const int perm[2] = {1, 0};
  const cutt_cpu_machine machine = xeon();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_canonical canonical;
    cutt_candidate first;
    cutt_cpu_tile tile;
    const char *why;
    test_problem p = test_packed(cases[i].type, 2, cases[i].extents, perm);
    p.out_strided = true;
    p.out_strides[0] = cases[i].gap;
    p.out_strides[1] = cases[i].gap * cases[i].extents[1];
    choose_for(&machine, &p, 1, &canonical, &first);
    assert_true(cutt_cpu_tile_derive(&machine, &canonical, &first, &tile, &why));
    if (tile.direct != cases[i].direct)
      fail_msg("case %zu: kernel %d, direct %d", i, (int)first.param[CUTT_CPU_PARAM_KERNEL], tile.direct);
  }
}

/* Short runs are copied by turns, an element of each of many, up to some lines; on a core that waits for each line up to one. */
static void runs_by_turns(void **unused) {
  (void)unused;
  static const struct {
    int64_t rows;
    bool waits, by_turns;
  } cases[] = {{4, false, true}, {4, true, true}, {12, false, true}, {12, true, false}, {17, false, false}};
  static const int perm[2] = {1, 0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_cpu_machine machine = zen4();
    const int64_t extents[2] = {1000, cases[i].rows};
    const test_problem p = test_packed(CUTT_C64, 2, extents, perm);
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    cutt_candidate gather = {.m = 1, .k = 1, .threads = 1, .param = {[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_GATHER}};
    cutt_cpu_tile tile;
    const char *why;
    machine.waits_for_lines = cases[i].waits;
    assert_success(cutt_canonicalize(&view, &canonical));
    if (!cutt_cpu_tile_derive(&machine, &canonical, &gather, &tile, &why)) fail_msg("case %zu: %s", i, why);
    assert_int_equal(tile.by_segments, cases[i].by_turns);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(outputs_with_gaps),
      cmocka_unit_test(runs_by_turns),
      cmocka_unit_test(what_is_not_prefetched),
      cmocka_unit_test(runs_that_follow),
      cmocka_unit_test(copies_through_the_caches),
      cmocka_unit_test(work_for_all_threads),
      cmocka_unit_test(what_shares_a_cache),
      cmocka_unit_test(what_is_added_to),
      cmocka_unit_test(chunks_that_are_short),
      cmocka_unit_test(runs_of_a_tile),
      cmocka_unit_test(columns_that_follow),
      cmocka_unit_test(rows_that_share_a_set),
      cmocka_unit_test(broadcasts),
  };
  return cmocka_run_group_tests_name("cpu_choice", tests, NULL, NULL);
}
