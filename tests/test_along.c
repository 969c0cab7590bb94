/* The transpose that walks along the rows, by candidates that the model would not choose for problems this small: batches of
 * matrices, in whose output each column's run is followed by the next column's, so that they share cache lines. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"
#include "plan/plan.h"
#include "support/check.h"

static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};

static cutt_candidate along(int64_t columns, int64_t rows, int prefetch) {
  cutt_candidate q;
  memset(&q, 0, sizeof q);
  q.method = CUTT_METHOD_PACKED_SPLIT;
  q.m = q.k = 1;
  q.split_m = columns;
  q.split_k = rows;
  q.threads = 1;
  q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
  q.param[CUTT_CPU_PARAM_VECTOR] = 16;
  q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = 1;
  q.param[CUTT_CPU_PARAM_STEP] = 16;
  q.param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_ALONG;
  q.param[CUTT_CPU_PARAM_PREFETCH] = prefetch;
  return q;
}

/* Rows: from a line's worth to several tiles of them, of which the last one may have less than a line. */
static void columns_that_follow_one_another(void **unused) {
  (void)unused;
  static const int64_t lines_of_rows[][2] = {{10, 0},  {11, 0},  {25, 0},  {40, 0}, {47, 0},
                                             {61, 20}, {63, 20}, {80, 40}, {95, 30}};
  static const int64_t columns[][2] = {{70, 0}, {129, 0}, {97, 64}, {203, 100}};
  static const int places[] = {0, TEST_AT_END, 16, 48, TEST_AT_START, 32};
  int turn = 0, tried = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t r = 0; r < sizeof lines_of_rows / sizeof *lines_of_rows; r++) {
      for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const int64_t line = 64 / (int64_t)test_type_bytes(types[t]);
        const int64_t rows = lines_of_rows[r][0] * line / 10 + (lines_of_rows[r][0] % 2 ? 1 : 0);
        const int64_t extents[3] = {columns[c][0], rows, 2};
        static const int perm[3] = {1, 0, 2};
        test_problem p = test_packed(types[t], 3, extents, perm);
        p.in_at = places[turn % 6];
        p.out_at = places[turn / 6 % 6];
        p.threads = 1;
        p.seed = (uint64_t)++turn;
        const cutt_candidate q = along(columns[c][1], lines_of_rows[r][1] * line / 10, turn % CUTT_CPU_PREFETCHES);
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        tried += ran;
      }
    }
  }
  /* Bytes at odd addresses and tables that are too long aside, all of them. */
  if (tried < turn * 9 / 10) fail_msg("%d of %d candidates were taken", tried, turn);
}

/* Columns that begin and end with cache lines, in one tile and in several; and half a line more, so that every
 * other one does not. */
static void columns_of_whole_lines(void **unused) {
  (void)unused;
  static const int64_t lines_of_rows[][2] = {{1, 0}, {2, 0}, {3, 0}, {5, 2}, {6, 3}, {9, 4}};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t r = 0; r < sizeof lines_of_rows / sizeof *lines_of_rows; r++) {
      for (int more = 0; more < 2; more++) {
        const int64_t line = 64 / (int64_t)test_type_bytes(types[t]);
        const int64_t extents[3] = {131, lines_of_rows[r][0] * line + (more ? line / 2 : 0), 2};
        static const int perm[3] = {1, 0, 2};
        test_problem p = test_packed(types[t], 3, extents, perm);
        p.threads = 1;
        p.seed = (uint64_t)++turn;
        const cutt_candidate q = along(0, lines_of_rows[r][1] * line, turn % CUTT_CPU_PREFETCHES);
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran);
      }
    }
  }
}

/* A plan joins the columns where it may, and nowhere else. */
static void which_columns_do(void **unused) {
  (void)unused;
  static const struct {
    int64_t extents[4];
    int perm[4];
    int64_t split_k, chain;
  } cases[] = {
      {{300, 40, 3, 5}, {1, 0, 2, 3}, 0, 40},  /* a batch of matrices */
      {{300, 40, 3, 5}, {1, 0, 2, 3}, 16, 40}, /* 16 + 16 + 8 rows of 8 bytes: a line at least */
      {{300, 41, 3, 5}, {1, 0, 2, 3}, 20, 0},  /* 20 + 20 + 1 rows */
      {{300, 40, 3, 5}, {1, 3, 0, 2}, 0, 200}, /* other tiles continue the columns */
      {{300, 40, 3, 5}, {1, 3, 2, 0}, 0, 600}, /* likewise, with all that there is */
  };
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = test_packed(CUTT_BYTES_8, 4, cases[i].extents, cases[i].perm);
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate q = along(0, cases[i].split_k, CUTT_CPU_TO_L1);
    cutt_cpu_tile tile;
    const char *why = "";
    if (!cutt_cpu_tile_derive(machine, &canonical, &q, &tile, &why)) fail_msg("case %zu: %s", i, why);
    assert_true(tile.along);
    if (tile.chain != cases[i].chain)
      fail_msg("case %zu: columns of %d elements follow one another, not %d", i, (int)tile.chain, (int)cases[i].chain);
  }
}

int main(void) {
  if (test_isa_missing()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(columns_that_follow_one_another),
                                     cmocka_unit_test(columns_of_whole_lines), cmocka_unit_test(which_columns_do)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  test_try_report();
  test_try_cleanup();
  return failed;
}
