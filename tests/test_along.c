/* The transpose that walks along the rows, by candidates that the model would not choose for problems this small: batches of
 * matrices, in whose output each column's run is followed by the next column's, so that they share cache lines. And the two walks
 * of a copy. */
#include <string.h>

#include "cpu/cost.h"
#include "cpu/cpu.h"
#include "cpu/dispatch.h"
#include "cpu/enumerate.h"
#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"
#include "plan/plan.h"
#include "runtime/host/isa.h"
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

/* Rows that are read a line at a time, which not every processor's plans do, beside the other way, each called by itself: in two tiles,
 * the second of which ends within a block. */
static void rows_by_lines(void **unused) {
  (void)unused;
  enum { COLUMNS = 41, ROWS = 83, ROOM = COLUMNS * ROWS * 16 + 4096 };
  static _Alignas(CUTT_CPU_LINE) char in[ROOM], out[2][ROOM], carry[COLUMNS][CUTT_CPU_LINE],
      head[COLUMNS][CUTT_CPU_LINE];
  const cutt_cpu_kernels *kernels = cutt_cpu_tables_named(cutt_isa_in_use(NULL)->name)->kernels;
  test_rng rng = {.state = 8};
  for (int64_t i = 0; i < ROOM; i++) in[i] = (char)test_random_in(&rng, 0, 255);
  for (int turn = 0; turn < test_scaled(300); turn++) {
    const int64_t w = 4 << turn % 3, line = 64 / w;
    if (!kernels->along_whole[2 + turn % 3]) continue;
    const int64_t count = test_random_in(&rng, 16 / w, COLUMNS), rows = test_random_in(&rng, 2 * line, ROWS);
    const int64_t some = rows - test_random_in(&rng, line, rows - line),
                  pitch = count * w + test_random_in(&rng, 0, 1) * w;
    const int64_t from = (w < 8 ? w : 8) * test_random_in(&rng, 0, 8), run = turn % 4 ? 0 : rows * w;
    int64_t row[ROWS], col[COLUMNS];
    for (int64_t r = 0; r < rows; r++) row[r] = r * pitch;
    for (int64_t c = 0; c < count; c++) col[c] = from + c * (rows * w + (run > 0 ? 0 : turn % 5 * w));
    cutt_cpu_ahead none;
    memset(&none, 0, sizeof none);
    for (int whole = 0; whole < 2; whole++) {
      cutt_cpu_along_fn *walk = whole ? kernels->along_whole[2 + turn % 3] : kernels->along[2 + turn % 3];
      cutt_cpu_columns columns = {
          .out = out[whole], .col = col, .count = count, .run = run, .carry = carry, .head = head};
      memset(out[whole], 0x5a, ROOM);
      walk(&columns, in, row, some, true, false, &none);
      columns.out += some * w;
      walk(&columns, in, row + some, rows - some, false, true, &none);
      kernels->fence();
    }
    for (int64_t c = 0; c < count; c++)
      for (int64_t r = 0; r < rows; r++) assert_memory_equal(out[0] + col[c] + r * w, in + row[r] + c * w, (size_t)w);
    if (memcmp(out[0], out[1], ROOM) != 0) fail_msg("%d rows, %d columns of %d bytes", (int)rows, (int)count, (int)w);
  }
}

/* Rows at equal distances, which may be found without their table, beside the same rows by the table: all of them, or each few of them, as
 * in rows of two modes; and whatever is prefetched meanwhile. */
static void rows_at_equal_distances(void **unused) {
  (void)unused;
  enum { COLUMNS = 75, ROWS = 330, ROOM = COLUMNS * ROWS * 8 + 8192 };
  static _Alignas(CUTT_CPU_LINE) char in[ROOM], out[2][ROOM], carry[COLUMNS][CUTT_CPU_LINE],
      head[COLUMNS][CUTT_CPU_LINE];
  const cutt_cpu_tables *tables = cutt_cpu_tables_named(cutt_isa_in_use(NULL)->name);
  test_rng rng = {.state = 9};
  for (int64_t i = 0; i < ROOM; i++) in[i] = (char)test_random_in(&rng, 0, 255);
  for (int turn = 0; turn < test_scaled(600); turn++) {
    const int64_t w = 1 << turn % 4, line = 64 / w;
    cutt_cpu_along_fn *walk = w == 1 && tables->bytes ? tables->bytes->along : tables->kernels->along[turn % 4];
    if (!walk) continue;
    const int64_t count = test_random_in(&rng, 16 / w, COLUMNS), rows = test_random_in(&rng, 2 * line, ROWS / 2);
    const int64_t some = rows - test_random_in(&rng, line, rows - line), pitch = (count + turn / 4 % 2) * w;
    const int64_t even = turn % 3 ? rows : test_random_in(&rng, 1, rows), from = w * test_random_in(&rng, 0, 64);
    int64_t row[ROWS], col[COLUMNS];
    for (int64_t r = 0; r < ROWS; r++) row[r] = r * pitch + r / even * (even < rows ? w : 0);
    for (int64_t c = 0; c < count; c++) col[c] = from + c * (rows + turn % 5) * w;
    for (int by_table = 0; by_table < 2; by_table++) {
      cutt_cpu_columns columns = {.out = out[by_table],
                                  .col = col,
                                  .count = count,
                                  .carry = carry,
                                  .head = head,
                                  .even = by_table ? 0 : even,
                                  .step = pitch};
      cutt_cpu_ahead next = {.base = in,
                             .start = row,
                             .runs = rows - some,
                             .bytes = count * w,
                             .to = turn / 2 % CUTT_CPU_PREFETCHES,
                             .rows = turn % 7 > 2,
                             .room = 16384};
      memset(out[by_table], 0x5a, ROOM);
      /* The second tile's rows are found by the beginning of the table, as those of all tiles are. */
      walk(&columns, in, row, some, true, false, &next);
      columns.out += some * w;
      cutt_cpu_ahead none = {.to = next.to, .rows = next.rows, .room = next.room};
      walk(&columns, in + some, row, rows - some, false, true, &none);
      tables->kernels->fence();
    }
    for (int64_t c = 0; c < count; c++)
      for (int64_t r = 0; r < rows; r++)
        assert_memory_equal(out[0] + col[c] + r * w, in + (r < some ? row[r] : some + row[r - some]) + c * w,
                            (size_t)w);
    if (memcmp(out[0], out[1], ROOM) != 0) fail_msg("%d rows, %d columns of %d bytes", (int)rows, (int)count, (int)w);
  }
}

/* Rows that lie apart by multiples of a page, and with other rows between: of one pass L1 holds no line each. */
static void rows_that_collide(void **unused) {
  (void)unused;
  static const struct {
    int64_t extents[4];
    int perm[4];
    bool collide;
  } cases[] = {
      {{512, 70, 2, 3}, {1, 0, 2, 3}, true},  /* 4 KB apart */
      {{513, 70, 2, 3}, {1, 0, 2, 3}, false}, /* a line of each in sets of their own */
      {{32, 16, 70, 3}, {2, 0, 1, 3}, true},  /* other modes between */
      {{32, 3, 70, 16}, {2, 0, 1, 3}, false}, /* 768 bytes */
      {{512, 40, 2, 3}, {1, 2, 0, 3}, true},  /* the rows of one pass are all of the first mode */
      {{64, 8, 4, 3}, {1, 2, 0, 3}, false},   /* 512 bytes apart */
      {{8, 64, 3, 5}, {2, 0, 1, 3}, false},   /* three rows are no pass, but L1 holds these */
  };
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  cutt_cpu_machine described = *machine;
  described.l1_bytes = 48 * 1024;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = test_packed(CUTT_BYTES_8, 4, cases[i].extents, cases[i].perm);
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    assert_success(cutt_canonicalize(&view, &canonical));
    cutt_candidate q = along(0, 0, CUTT_CPU_TO_L1);
    q.k = cases[i].perm[1] == 2 ? 2 : 1;
    cutt_cpu_tile tile;
    const char *why = "";
    if (!cutt_cpu_tile_derive(&described, &canonical, &q, &tile, &why)) continue;
    if (tile.rows_collide != cases[i].collide) fail_msg("case %zu", i);
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

/* Rows of thousands of columns, of which each carries a line: as many as an execution's scratch has room for, and no more. Those
 * that follow one another have two lines each, or begin and end within lines. */
static void long_rows(void **unused) {
  (void)unused;
  static const int64_t columns[] = {1025, 3584, 3585, 7168, 7169};
  static const int perm[3] = {1, 0, 2};
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    for (int t = 0; t < 3; t++) {
      const int64_t line = 64 / (int64_t)test_type_bytes(types[t]), extents[3] = {columns[i], 2 * line + 5, 2};
      test_problem p = test_packed(types[t], 3, extents, perm);
      const cuttProblem_t view = test_problem_view(&p);
      const cutt_candidate q = along(0, 0, (int)(i + (size_t)t) % CUTT_CPU_PREFETCHES);
      cutt_canonical canonical;
      cutt_cpu_tile tile;
      const char *why = "";
      bool ran = false;
      assert_success(cutt_canonicalize(&view, &canonical));
      assert_int_equal(cutt_cpu_tile_derive(machine, &canonical, &q, &tile, &why), columns[i] <= 7168);
      if (columns[i] > 7168) continue;
      assert_int_equal(tile.chain, columns[i] <= 3584 ? 2 * line + 5 : 0);
      p.threads = 1 + (int)(i % 2);
      p.seed = i + 1;
      if (!test_try_candidate(&p, &q, &ran)) fail();
      assert_true(ran);
    }
  }
}

/* What is prefetched into L2: the next tile where its rows are short and follow one another in memory, else the next rows. */
static void what_is_prefetched(void **unused) {
  (void)unused;
  static const struct {
    int64_t extents[3], split_m;
    int prefetch;
    bool tiles;
  } cases[] = {
      {{300, 40, 3}, 0, CUTT_CPU_TO_L2, true},    {{300, 40, 3}, 0, CUTT_CPU_TO_L1, false},
      {{300, 40, 3}, 0, CUTT_CPU_TO_NONE, false}, {{300, 40, 3}, 150, CUTT_CPU_TO_L2, false}, /* halves of rows */
      {{512, 40, 3}, 0, CUTT_CPU_TO_L2, false},                                               /* rows of a page */
  };
  static const int perm[3] = {1, 0, 2};
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = test_packed(CUTT_BYTES_8, 3, cases[i].extents, perm);
    const cuttProblem_t view = test_problem_view(&p);
    const cutt_candidate q = along(cases[i].split_m, 0, cases[i].prefetch);
    cutt_canonical canonical;
    cutt_cpu_tile tile;
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    if (!cutt_cpu_tile_derive(machine, &canonical, &q, &tile, &why)) fail_msg("case %zu: %s", i, why);
    if (tile.tiles_ahead != cases[i].tiles) fail_msg("case %zu", i);
  }
}

/* Of bytes so many rows are read at once that L1 has no room for more of them: the same place in these rows goes into L2, and that is
 * what is chosen, unless rows are short and follow one another. */
static void bytes_ahead(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t split_m;
    bool in_l2;
  } cases[] = {{CUTT_BYTES_1, 0, true}, {CUTT_BYTES_1, 1024, true}, {CUTT_BYTES_4, 0, false}};
  static const int perm[2] = {1, 0};
  static const int64_t extents[2] = {7033, 7001}, shorter[2] = {1025, 7001};
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  cutt_cpu_machine xeon = *machine; /* with the parameters of that one */
  xeon.base.value = cutt_cpu_values_of(CUTT_CPU_CORE_OTHER);
  xeon.l2_bytes = 2 << 20;
  cutt_canonical canonical;
  cutt_cpu_tile tile;
  cutt_candidate first;
  const char *why = "";
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = test_packed(cases[i].type, 2, extents, perm);
    const cuttProblem_t view = test_problem_view(&p);
    const cutt_candidate q = along(cases[i].split_m, 128, CUTT_CPU_TO_L2);
    assert_success(cutt_canonicalize(&view, &canonical));
    if (!cutt_cpu_tile_derive(machine, &canonical, &q, &tile, &why)) fail_msg("case %zu: %s", i, why);
    assert_int_equal(cutt_cpu_ahead_in_l2(&canonical, &tile), cases[i].in_l2);
    assert_int_equal(cutt_cpu_enumerate(&xeon.base, CUTT_MODEL_IS_OWN, &canonical, 1, &first, 1), 1);
    assert_int_equal(first.param[CUTT_CPU_PARAM_WALK], CUTT_CPU_ALONG);
    assert_int_equal(first.param[CUTT_CPU_PARAM_PREFETCH], cases[i].in_l2 ? CUTT_CPU_TO_L2 : CUTT_CPU_TO_L1);
  }
  const test_problem p = test_packed(CUTT_BYTES_1, 2, shorter, perm);
  const cuttProblem_t view = test_problem_view(&p);
  const cutt_candidate q = along(0, 128, CUTT_CPU_TO_L1);
  assert_success(cutt_canonicalize(&view, &canonical));
  if (!cutt_cpu_tile_derive(machine, &canonical, &q, &tile, &why)) fail_msg("%s", why);
  assert_false(cutt_cpu_ahead_in_l2(&canonical, &tile));
}

/* Sequences are cut as often as gives each thread four parts, and no shorter than 64 KB; none for one thread. */
static void parts_of_threads(void **unused) {
  (void)unused;
  static const struct {
    int64_t extents[3];
    int threads, parts;
  } cases[] = {{{64, 16384, 1}, 1, 1}, {{64, 16384, 1}, 2, 8}, {{64, 16384, 3}, 2, 3}, {{64, 512, 1}, 8, 4}};
  static const int perm[3] = {1, 0, 2};
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = test_packed(CUTT_BYTES_8, 3, cases[i].extents, perm);
    const cuttProblem_t view = test_problem_view(&p);
    const cutt_candidate q = along(0, 32, CUTT_CPU_TO_L1);
    cutt_canonical canonical;
    cutt_cpu_tile tile;
    const char *why = "";
    int64_t positions, length;
    assert_success(cutt_canonicalize(&view, &canonical));
    if (!cutt_cpu_tile_derive(machine, &canonical, &q, &tile, &why)) fail_msg("case %zu: %s", i, why);
    assert_int_equal(cutt_cpu_parts(&canonical, &tile, cases[i].threads, &positions, &length), cases[i].parts);
    assert_int_equal(positions, cases[i].extents[2]);
    assert_int_equal(length, cases[i].extents[1] / 32);
  }
}

static cutt_candidate copy_of(int threads, bool non_temporal, int walk) {
  cutt_candidate q;
  memset(&q, 0, sizeof q);
  q.method = CUTT_METHOD_COPY;
  q.m = q.k = 1;
  q.threads = threads;
  q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_COPY;
  q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = non_temporal;
  q.param[CUTT_CPU_PARAM_WALK] = walk;
  return q;
}

/* Copies past the caches, shorter than what four pages at a time are done for, and longer than a thread takes at once. */
static void copies(void **unused) {
  (void)unused;
  static const int64_t lengths[] = {63, 640, 4096, 16384, 16421, 36864, 262145, 600011};
  static const int places[] = {0, TEST_AT_END, 16, 48, TEST_AT_START, 32};
  static const int perm[1] = {0};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      for (int walk = CUTT_CPU_DOWN; walk <= CUTT_CPU_ALONG; walk++) {
        const int64_t extents[1] = {lengths[l] / (int64_t)test_type_bytes(types[t]) + 1};
        test_problem p = test_packed(types[t], 1, extents, perm);
        p.in_at = places[turn % 6];
        p.out_at = places[turn / 6 % 6];
        p.threads = 1 + turn % 2;
        p.seed = (uint64_t)++turn;
        const cutt_candidate q = copy_of(p.threads, true, walk);
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran);
      }
    }
  }
}

/* Copies of all elements backwards and of every second to fourth one, through the caches and past them, whose input begins and ends with its elements. */
static void every_other_element(void **unused) {
  (void)unused;
  static const int64_t counts[] = {1, 15, 64, 65, 129, 1000, 300001};
  static const int places[] = {TEST_AT_END, 0, TEST_AT_START, 8, TEST_AT_END, 5};
  static const int perm[1] = {0};
  const cutt_cpu_machine *machine = (const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t n = 0; n < 7 * sizeof counts / sizeof *counts; n++) {
      const int64_t step = (int64_t)n % 7 - 1;
      test_problem p = test_packed(types[t], 1, &counts[n / 7], perm);
      p.in_strided = true;
      p.in_strides[0] = step;
      p.in_at = places[turn % 6];
      p.out_at = places[turn / 6 % 6];
      p.threads = 1 + turn % 2;
      p.seed = (uint64_t)++turn;
      const cutt_candidate q = copy_of(p.threads, turn % 3 > 0, turn % 3 > 0 ? CUTT_CPU_ALONG : CUTT_CPU_DOWN);
      bool ran = false;
      if (!test_try_candidate(&p, &q, &ran)) fail();
      const bool has =
          cutt_cpu_has_skip(machine->vector_bytes, machine->byte_permutes, (int64_t)test_type_bytes(types[t]), step);
      if (counts[n / 7] > 1) assert_int_equal(ran, has || step == 1);
    }
  }
}

/* What is built in for a family of cores, which is what a calibration starts from there; and its walk of a copy. */
static void families_of_cores(void **unused) {
  (void)unused;
  static const int64_t extents[1] = {64 << 20};
  static const int perm[1] = {0};
  const test_problem p = test_packed(CUTT_BYTES_8, 1, extents, perm);
  const cuttProblem_t view = test_problem_view(&p);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  cutt_cpu_machine machine = *(const cutt_cpu_machine *)(const void *)cutt_cpu_backend.runtime->target();
  const double *last = NULL;
  for (int core = CUTT_CPU_CORE_OTHER; core < CUTT_CPU_CORES; core++) {
    cutt_candidate list[3];
    machine.core = (cutt_cpu_core)core;
    machine.base.value = cutt_cpu_backend.schema->value_of(&machine.base);
    assert_ptr_equal(machine.base.value, cutt_cpu_values_of((cutt_cpu_core)core));
    assert_ptr_not_equal(machine.base.value, last);
    last = machine.base.value;
    assert_int_equal(cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, list, 3), 2);
    const int64_t walk = core == CUTT_CPU_CORE_OTHER ? CUTT_CPU_DOWN : CUTT_CPU_ALONG;
    assert_int_equal(list[0].param[CUTT_CPU_PARAM_WALK], walk);
    assert_int_not_equal(list[1].param[CUTT_CPU_PARAM_WALK], walk);
    assert_true(list[0].seconds < list[1].seconds);
    assert_int_equal(cutt_cpu_enumerate(&machine.base, CUTT_MODEL_IS_OWN, &canonical, 1, list, 1), 1);
    assert_int_equal(list[0].param[CUTT_CPU_PARAM_WALK], walk);
  }
}

int main(void) {
  if (test_isa_missing()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(columns_that_follow_one_another),
                                     cmocka_unit_test(columns_of_whole_lines),
                                     cmocka_unit_test(rows_by_lines),
                                     cmocka_unit_test(rows_at_equal_distances),
                                     cmocka_unit_test(rows_that_collide),
                                     cmocka_unit_test(which_columns_do),
                                     cmocka_unit_test(long_rows),
                                     cmocka_unit_test(what_is_prefetched),
                                     cmocka_unit_test(bytes_ahead),
                                     cmocka_unit_test(parts_of_threads),
                                     cmocka_unit_test(copies),
                                     cmocka_unit_test(every_other_element),
                                     cmocka_unit_test(families_of_cores)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  test_try_report();
  test_try_cleanup();
  return failed;
}
