/* Transposes go strip by strip of rows: how many rows a strip has in L2, and past the caches, and that strips of every
 * length, with what is left over behind the last one, give the right result; and what is prefetched meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/dispatch.h"
#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"
#include "plan/plan.h"
#include "runtime/host/isa.h"
#include "support/check.h"

static cutt_candidate down(int64_t vector, int64_t rows) {
  cutt_candidate q;
  memset(&q, 0, sizeof q);
  q.method = CUTT_METHOD_TILED;
  q.m = q.k = 1;
  q.split_k = rows;
  q.threads = 1;
  q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
  q.param[CUTT_CPU_PARAM_VECTOR] = vector;
  q.param[CUTT_CPU_PARAM_STEP] = 16;
  return q;
}

/* A problem's tile, down which columns go, on a machine with L1 of 48 KB and L2 of 2 MB. past: by stores past the caches. */
static void derive_of(const test_problem *p, bool byte_permutes, bool past, int prefetch, cutt_cpu_tile *tile) {
  cutt_cpu_machine machine;
  memset(&machine, 0, sizeof machine);
  machine.vector_bytes = 64;
  machine.byte_permutes = byte_permutes;
  machine.l1_bytes = 48 * 1024;
  machine.l2_bytes = 2 * 1024 * 1024;
  const cuttProblem_t view = test_problem_view(p);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  cutt_candidate q = down(64, 0);
  q.param[CUTT_CPU_PARAM_PREFETCH] = prefetch;
  q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = past;
  const char *why = "";
  if (!cutt_cpu_tile_derive(&machine, &canonical, &q, tile, &why)) fail_msg("%s", why);
}

/* That of a transpose of so many columns and rows, in whole columns where they fit into L2. */
static void derive(cuttType_t type, const int64_t extents[2], bool byte_permutes, int prefetch, cutt_cpu_tile *tile) {
  static const int perm[2] = {1, 0};
  const test_problem p = test_packed(type, 2, extents, perm);
  derive_of(&p, byte_permutes, false, prefetch, tile);
}

/* L1 of 48 KB: 12 lines for each of 64 places of a page, of which half are for the output. */
static void rows_of_a_strip(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[2]; /* columns, rows */
    int64_t strip;
    int prefetch;
  } cases[] = {
      {CUTT_BYTES_16, {16, 96}, 96, CUTT_CPU_TO_L1},  /* lines 256 bytes apart find 16 places, and L1 keeps 96 */
      {CUTT_BYTES_16, {16, 256}, 32, CUTT_CPU_TO_L1}, /* more rows than that */
      {CUTT_BYTES_16, {16, 97}, 32, CUTT_CPU_TO_L1},  /* one more */
      {CUTT_BYTES_16,
       {256, 32},
       4,
       CUTT_CPU_TO_L1}, /* a page apart: one place, six lines, and a vector has four rows */
      {CUTT_BYTES_8, {128, 64}, 24, CUTT_CPU_TO_L1},      /* 1 KB apart: 24 lines, three vectors of rows */
      {CUTT_BYTES_8, {131, 384}, 384, CUTT_CPU_TO_L1},    /* all places: 384 lines */
      {CUTT_BYTES_4, {3000, 600}, 600, CUTT_CPU_TO_L1},   /* not in L2: what is prefetched would be lost */
      {CUTT_BYTES_4, {3000, 100}, 16, CUTT_CPU_TO_L1},    /* not in L2, and L1 keeps what is prefetched */
      {CUTT_BYTES_4, {3001, 100}, 100, CUTT_CPU_TO_NONE}, /* nothing is prefetched, and L1 keeps all lines */
      {CUTT_BYTES_4, {3001, 600}, 32, CUTT_CPU_TO_NONE},  /* nor more rows than it keeps */
      {CUTT_BYTES_8, {2, 5001}, 5001, CUTT_CPU_TO_L1},    /* a load has all columns: no row is read again */
      {CUTT_BYTES_4, {5, 5001}, 32, CUTT_CPU_TO_L1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_cpu_tile tile;
    derive(cases[i].type, cases[i].extents, false, cases[i].prefetch, &tile);
    if (tile.strip != cases[i].strip)
      fail_msg("case %zu: a strip has %d rows, not %d", i, (int)tile.strip, (int)cases[i].strip);
  }
}

/* Past the caches strips have half of the 48 KB, a line of each row at least, in whole lines of the output; and some rows at least. */
static void rows_of_a_strip_past_the_caches(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[2]; /* columns, rows */
    int64_t strip;
  } cases[] = {
      {CUTT_BYTES_1, {200, 4000}, 1536},                                  /* steps of 16 columns: 24 KB of 16 bytes */
      {CUTT_BYTES_1, {7, 4000}, 3456},                                    /* 3510, less what is no whole line */
      {CUTT_BYTES_4, {200, 4000}, 384},  {CUTT_BYTES_4, {200, 300}, 300}, /* all rows are one strip */
      {CUTT_BYTES_16, {200, 2000}, 128},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_cpu_tile tile;
    derive(cases[i].type, cases[i].extents, true, CUTT_CPU_TO_L1, &tile);
    if (tile.strip_past != cases[i].strip)
      fail_msg("case %zu: a strip has %d rows, not %d", i, (int)tile.strip_past, (int)cases[i].strip);
  }
}

/* The next of these places for the input, and another one for the output. */
static void put_in_turn(test_problem *p, const int *places, int count, int *turn) {
  p->in_at = places[*turn % count];
  p->out_at = places[(*turn / count + *turn) % count];
  p->threads = 1;
  p->seed = (uint64_t)++ * turn;
}

/* A transpose past the caches, in one tile or in several; 1 if it could be done. */
static int try_past(const test_problem *p, int turn) {
  cutt_candidate q = down(64, turn % 2 ? 0 : 448);
  q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = 1;
  q.param[CUTT_CPU_PARAM_STEP] = turn % 4 ? 64 : 24;
  q.param[CUTT_CPU_PARAM_PREFETCH] = turn % 5 ? CUTT_CPU_TO_L2 : CUTT_CPU_TO_L1;
  bool ran = false;
  if (!test_try_candidate(p, &q, &ran)) fail();
  return ran;
}

/* Such strips, of one and of several steps of columns that begin anywhere in a line, in one tile and in several, of which the next one or
 * the next step is prefetched. */
static void strips_past_the_caches(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t columns[] = {2, 7, 19, 34, 64, 70, 131, 300}, rows[] = {300, 520, 777, 1301, 2600};
  static const int places[] = {0, 8, TEST_AT_END, 16, 40, TEST_AT_START};
  static const int perm[3] = {1, 2, 0};
  int turn = 0, ran_at_all = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const int64_t w = (int64_t)test_type_bytes(types[t]);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
      for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (rows[r] * w > 40 * 1024) continue; /* more than a tile may have */
        const int64_t extents[3] = {columns[c], rows[r], 1 + turn % 3};
        test_problem p = test_packed(types[t], 3, extents, perm);
        put_in_turn(&p, places, (int)(sizeof places / sizeof *places), &turn);
        ran_at_all += try_past(&p, turn);
      }
    }
  }
  if (cutt_isa_in_use(NULL)->vector_bytes >= 64) assert_true(ran_at_all > turn / 2);
}

/* Past the caches rows that lie a power of two apart are copied to where L1 keeps them, what a step has of some: but for the last columns, if
 * these are fewer. Elements of 1 and 2 bytes; wider ones are read from where they are. */
static void rows_that_collide(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4};
  static const int64_t distances[] = {1024, 2048, 4096, 8192}, rows[] = {64, 129, 300, 777};
  static const int places[] = {0, 8, TEST_AT_END, 40};
  static const int perm[3] = {2, 1, 0};
  int turn = 0, ran_at_all = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const int64_t w = (int64_t)test_type_bytes(types[t]);
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
      for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const int64_t columns = turn % 3 ? 64 : 128, extents[3] = {columns, distances[d] / w / columns, rows[r]};
        test_problem p = test_packed(types[t], 3, extents, perm);
        cutt_cpu_tile tile;
        derive_of(&p, true, true, CUTT_CPU_TO_L1, &tile);
        assert_int_equal(tile.collected > 0, w <= 2);
        if (tile.collected) assert_true(tile.collected >= tile.strip_past && tile.strip_past * 16 * w <= 24 * 1024);
        put_in_turn(&p, places, (int)(sizeof places / sizeof *places), &turn);
        ran_at_all += try_past(&p, turn);
      }
    }
  }
  if (cutt_isa_in_use(NULL)->vector_bytes >= 64) assert_true(ran_at_all > turn / 2);
}

/* Rows that lie a power of two apart, so that strips are short; some more than whole strips have. */
static void strips_of_all_lengths(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t distances[] = {256, 1024, 2048, 4096}, more[] = {0, 1, 5, 16, 67};
  static const int perm[2] = {1, 0};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const int64_t w = (int64_t)test_type_bytes(types[t]);
    for (size_t d = 0; d < sizeof distances / sizeof *distances; d++) {
      for (size_t r = 0; r < sizeof more / sizeof *more; r++) {
        const int64_t extents[2] = {distances[d] / w, 128 + more[r]};
        test_problem p = test_packed(types[t], 2, extents, perm);
        p.threads = 1;
        p.seed = (uint64_t)++turn;
        cutt_candidate q = down(16, turn % 3 == 0 ? 100 : 0);
        q.param[CUTT_CPU_PARAM_PREFETCH] = turn % 2 ? CUTT_CPU_TO_NONE : CUTT_CPU_TO_L1;
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran);
      }
    }
  }
}

/* Which transposes write whole lines where columns begin within them, and which have other strips there. */
static void columns_within_lines(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t extents[2]; /* columns, rows */
    bool lines;
    int64_t strip; /* where columns begin within lines */
  } cases[] = {
      {CUTT_BYTES_4, {49, 337}, true, 337},  {CUTT_BYTES_4, {49, 190}, false, 190},
      {CUTT_BYTES_2, {49, 337}, true, 337},  {CUTT_BYTES_1, {49, 337}, false, 337},
      {CUTT_BYTES_16, {9, 337}, false, 337}, {CUTT_BYTES_8, {25, 625}, false, 16},
      {CUTT_BYTES_8, {100, 625}, false, 32},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cutt_cpu_tile tile;
    derive(cases[i].type, cases[i].extents, true, CUTT_CPU_TO_L1, &tile);
    if (tile.lines != cases[i].lines || tile.strip_within != cases[i].strip)
      fail_msg("case %zu: lines %d, strips of %d rows", i, tile.lines, (int)tile.strip_within);
  }
}

/* Columns of all beginnings in a line, in steps whose last one has few of them, and rows that end within a vector. */
static void columns_from_anywhere(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8};
  static const int64_t rows[] = {256, 271, 300, 320, 383}, columns[] = {3, 9, 16, 33, 50};
  static const int places[] = {0, 8, TEST_AT_END, 16, 40, TEST_AT_START};
  static const int perm[2] = {1, 0};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        const int64_t extents[2] = {columns[c], rows[r] * (c == 3 && t == 2 ? 4 : 1)};
        test_problem p = test_packed(types[t], 2, extents, perm);
        put_in_turn(&p, places, (int)(sizeof places / sizeof *places), &turn);
        cutt_candidate q = down(turn % 4 ? 64 : 32, 0);
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
      }
    }
  }
}

/* The transpose by loads of whole lines, which not every processor's plans take, called by itself: each element in its place, and
 * nothing written but the columns. The last row ends where the input does, for sanitizers to see reads beyond. */
static void whole_lines(void **unused) {
  (void)unused;
  enum { MOST = 70, GUARD = 64 };
  static char out[MOST * (MOST * 16 + GUARD)], wanted[sizeof out];
  const cutt_cpu_kernels *kernels = cutt_cpu_tables_named(cutt_isa_in_use(NULL)->name)->kernels;
  test_rng rng = {.state = 14};
  for (int turn = 0; turn < test_scaled(300); turn++) {
    const int w = 4 << turn % 3;
    cutt_cpu_transpose_fn *transpose = kernels->whole[2 + turn % 3];
    if (!transpose) continue;
    const int64_t rows = test_random_in(&rng, 64 / w, MOST);
    const int64_t cols =
        test_random_in(&rng, 16 / w, turn % 4 ? MOST : 16 / w + 1); /* two of 16 bytes have a way of their own */
    const int64_t pitch = cols * w + (turn % 5 ? test_random_in(&rng, 0, 9) * w : 0),
                  height = rows * w + test_random_in(&rng, 0, GUARD);
    const int64_t bytes = (rows - 1) * pitch + cols * w;
    int64_t row[MOST], pos[MOST];
    char *in = malloc((size_t)bytes);
    assert_non_null(in);
    for (int64_t i = 0; i < bytes; i++) in[i] = (char)test_random_in(&rng, 0, 255);
    for (int64_t r = 0; r < rows; r++) row[r] = (turn % 2 ? rows - 1 - r : r) * pitch; /* the last row first */
    for (int64_t c = 0; c < cols; c++) pos[c] = c * height;
    memset(out, 0x5a, sizeof out);
    memset(wanted, 0x5a, sizeof wanted);
    for (int64_t c = 0; c < cols; c++)
      for (int64_t r = 0; r < rows; r++) memcpy(wanted + pos[c] + r * w, in + row[r] + c * w, (size_t)w);
    cutt_cpu_ahead none;
    memset(&none, 0, sizeof none);
    transpose(out, pos, in, row, rows, cols, &none);
    if (memcmp(out, wanted, sizeof out) != 0) fail_msg("%d rows of %d elements of %d bytes", (int)rows, (int)cols, w);
    free(in);
  }
}

/* What is prefetched while a tile is worked on: each line of each run, wherever in a line it begins, one of them twice at most; and all
 * of it by the end of the tile. */
static void each_line_once(void **unused) {
  (void)unused;
  enum { RUNS = 50 };
  test_rng rng = {.state = 41};
  for (int turn = 0; turn < test_scaled(1000); turn++) {
    const int64_t w = INT64_C(1) << test_random_in(&rng, 0, 4), bytes = w * test_random_in(&rng, 1, 40);
    const int64_t runs = test_random_in(&rng, 1, RUNS), base = w * test_random_in(&rng, 0, 64);
    int64_t start[RUNS], lines = 0, asked = 0, before = -1, line = 0;
    for (int64_t i = 0; i < runs; i++) {
      start[i] = w * test_random_in(&rng, 0, 10000);
      const int64_t first = base + start[i];
      lines += (first + bytes - 1) / CUTT_CPU_LINE - first / CUTT_CPU_LINE + 1;
    }
    cutt_cpu_ahead ahead = {.base = (const char *)(uintptr_t)base, .start = start, .runs = runs, .bytes = bytes};
    cutt_cpu_ahead tile = ahead;
    for (; ahead.run < runs; asked++) {
      const int64_t run = ahead.run, first = base + start[run], at = ahead.byte < bytes ? ahead.byte : bytes - 1;
      cutt_cpu_prefetch(&ahead, 1);
      const int64_t now = (first + at) / CUTT_CPU_LINE;
      if (run != before && now != first / CUTT_CPU_LINE)
        fail_msg("run %d does not begin with its first line", (int)run);
      if (run == before && now != line && now != line + 1) fail_msg("run %d has a line that is left out", (int)run);
      if (ahead.run != run) assert_int_equal(now, (first + bytes - 1) / CUTT_CPU_LINE);
      before = run;
      line = now;
    }
    assert_in_range(asked, lines, lines + runs);
    const int64_t work = (runs * bytes + CUTT_CPU_LINE - 1) / CUTT_CPU_LINE;
    tile.more = cutt_cpu_ahead_more(runs, bytes, work * CUTT_CPU_LINE);
    for (int64_t i = 0; i < work; i++) cutt_cpu_prefetch(&tile, 1);
    if (tile.run < runs) fail_msg("%d runs of %d bytes: %d are asked for", (int)runs, (int)bytes, (int)tile.run);
  }
}

int main(void) {
  if (test_isa_missing()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_a_strip),
                                     cmocka_unit_test(strips_of_all_lengths),
                                     cmocka_unit_test(columns_within_lines),
                                     cmocka_unit_test(columns_from_anywhere),
                                     cmocka_unit_test(whole_lines),
                                     cmocka_unit_test(each_line_once),
                                     cmocka_unit_test(rows_of_a_strip_past_the_caches),
                                     cmocka_unit_test(rows_that_collide),
                                     cmocka_unit_test(strips_past_the_caches)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  test_try_report();
  test_try_cleanup();
  return failed;
}
