/* Gathers of short runs and of elements that are broadcast, and narrow transposes at the end of what may be read: by candidates
 * that the model may not choose for problems this small. */
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/forward.h"
#include "cpu/kernels/kernels.h"
#include "cpu/tile.h"
#include "plan/plan.h"
#include "support/check.h"

static const int places[] = {TEST_AT_END, 0, TEST_AT_START, 17, TEST_AT_END, 40};

static cutt_candidate gather(int m, int64_t split_m, int k, int64_t split_k, bool non_temporal) {
  cutt_candidate q;
  memset(&q, 0, sizeof q);
  q.method = CUTT_METHOD_PACKED_SPLIT;
  q.m = m;
  q.split_m = split_m;
  q.k = k;
  q.split_k = split_k;
  q.threads = 1;
  q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_GATHER;
  q.param[CUTT_CPU_PARAM_NON_TEMPORAL] = non_temporal;
  return q;
}

/* Pixels: rows of columns of n elements, with a gap of one element behind each row, that change places; and batches of them. A
 * negative stride walks rows or columns from their other end. */
static test_problem pixels(cuttType_t type, int64_t n, int64_t columns, int64_t rows, bool back, bool up) {
  static const int perm[4] = {0, 2, 1, 3};
  const int64_t extents[4] = {n, columns, rows, 2}, row = n * columns + 1;
  test_problem p = test_packed(type, 4, extents, perm);
  const int64_t strides[4] = {1, back ? -n : n, up ? -row : row, row * rows};
  p.in_strided = true;
  memcpy(p.in_strides, strides, sizeof strides);
  p.threads = 1;
  return p;
}

static const cutt_cpu_machine *described(void) {
  static cutt_cpu_machine machine;
  machine.vector_bytes = 64;
  machine.byte_permutes = true;
  machine.l1_bytes = 48 * 1024;
  machine.l2_bytes = 2 * 1024 * 1024;
  return &machine;
}

static cutt_cpu_tile tile_of(const test_problem *p, const cutt_candidate *q) {
  const cuttProblem_t view = test_problem_view(p);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  cutt_cpu_tile tile;
  const char *why = "";
  if (!cutt_cpu_tile_derive(described(), &canonical, q, &tile, &why)) fail_msg("%s", why);
  return tile;
}

static void which_runs_are_transposed(void **unused) {
  (void)unused;
  static const struct {
    int64_t n, columns, rows;
    int turned;
  } cases[] = {
      {3, 5, 20, 5},
      {3, 4, 20, 0} /* fewer than a load has */,
      {3, 5, 19, 0} /* fewer rows than a block has */,
      {5, 10, 12, 3},
      {7, 10, 12, 2},
      {9, 10, 40, 0} /* one in a load */,
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const test_problem p = pixels(CUTT_BYTES_1, cases[i].n, cases[i].columns, cases[i].rows, i % 2, false);
    const cutt_candidate q = gather(2, 0, 2, 0, false);
    assert_int_equal(tile_of(&p, &q).turned, cases[i].turned);
  }
}

static void short_runs(void **unused) {
  (void)unused;
  static const struct {
    cuttType_t type;
    int64_t n;
  } runs[] = {{CUTT_BYTES_1, 2}, {CUTT_BYTES_1, 3}, {CUTT_BYTES_1, 4}, {CUTT_BYTES_1, 5}, {CUTT_BYTES_1, 6},
              {CUTT_BYTES_1, 7}, {CUTT_BYTES_1, 8}, {CUTT_BYTES_1, 9}, {CUTT_BYTES_2, 3}, {CUTT_BYTES_4, 3}};
  static const int64_t columns[][2] = {{5, 0}, {6, 0}, {31, 0}, {31, 12}}, rows[][2] = {{20, 0}, {83, 0}, {95, 40}};
  int turn = 0;
  for (size_t n = 0; n < sizeof runs / sizeof *runs; n++) {
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
      for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        for (int back = 0; back < 2; back++) {
          test_problem p = pixels(runs[n].type, runs[n].n, columns[c][0], rows[r][0], back, turn % 3 == 0);
          p.in_at = places[turn % 6];
          p.out_at = places[turn / 6 % 6];
          p.seed = (uint64_t)++turn;
          for (int non_temporal = 0; non_temporal < 2; non_temporal++) {
            const cutt_candidate q = gather(2, columns[c][1], 2, rows[r][1], non_temporal);
            bool ran = false;
            if (!test_try_candidate(&p, &q, &ran)) fail();
            assert_true(ran || non_temporal);
          }
        }
      }
    }
  }
}

/* All elements backwards, and every second to fifth one, of rows with a gap behind each, which change places; with all of a row, and a part, in a tile.
 * Past the caches the line in which two rows meet is put together of both, but where one thread's rows end and another's begin. */
static void every_other_element_of_rows(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16, CUTT_F32};
  static const int64_t lengths[][3] = {{7, 0, 3},    {64, 0, 3},     {65, 0, 3},   {203, 0, 3},
                                       {203, 64, 3}, {1000, 144, 3}, {259, 0, 30}, {1031, 0, 200}};
  static const int perm[3] = {0, 2, 1};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
      for (int64_t step = -1; step <= 5; step += step < 0 ? 3 : 1) {
        const int64_t extents[3] = {lengths[n][0], lengths[n][2], 2}, row = (step < 0 ? 1 : step) * lengths[n][0] + 1;
        const int64_t strides[3] = {step, row, lengths[n][2] * row};
        test_problem p = test_packed(types[t], 3, extents, perm);
        p.in_strided = true;
        memcpy(p.in_strides, strides, sizeof strides);
        if (types[t] == CUTT_F32) p.has_alpha = true, p.alpha.f32[0] = 3;
        p.in_at = places[turn % 6];
        p.out_at = places[turn / 6 % 6];
        p.threads = 1 + turn % 3;
        p.seed = (uint64_t)++turn;
        for (int non_temporal = 0; non_temporal < 2; non_temporal++) {
          cutt_candidate q = gather(turn % 2, 0, 1, lengths[n][1], non_temporal);
          q.threads = p.threads;
          bool ran = false;
          if (!test_try_candidate(&p, &q, &ran)) fail();
          assert_true(ran || non_temporal);
        }
      }
    }
  }
}

/* Tensors whose first modes are in M_k and outside of it in turn: columns that are parts of several output runs. With whole modes, and
 * with one of each side cut. */
static void columns_of_several_runs(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const struct {
    int rank, perm[6];
    int64_t extents[6];
    int m, k;
    int64_t split_m, split_k;
    int64_t apart, columns;
  } cases[] = {
      {6, {4, 0, 3, 5, 1, 2}, {5, 3, 2, 4, 19, 5}, 4, 3, 0, 0, 6, 120},
      {6, {4, 0, 3, 5, 1, 2}, {5, 3, 2, 4, 19, 5}, 4, 4, 0, 2, 6, 120} /* a part of an inner mode */,
      {6, {4, 0, 3, 5, 1, 2}, {5, 3, 2, 4, 19, 5}, 3, 3, 0, 3, 6, 90} /* ... of a mode of columns */,
      {6, {4, 0, 5, 2, 1, 3}, {3, 3, 7, 2, 18, 4}, 3, 3, 3, 0, 9, 27} /* parts of a mode of columns that are runs */,
      {5, {3, 0, 2, 4, 1}, {3, 40, 20, 19, 2}, 3, 2, 9, 0, 40, 120} /* ... for which there is no room */,
      {5, {2, 1, 4, 3, 0}, {3, 4, 259, 3, 2}, 2, 2, 0, 3, 3, 9},
      {5, {2, 1, 4, 3, 0}, {3, 2, 259, 3, 2}, 2, 2, 0, 0, 3, 6} /* the first mode is outside of M_k */,
      {4, {2, 1, 3, 0}, {3, 2, 259, 7}, 2, 3, 0, 3, 3, 6},
  };
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      for (int64_t vector = 16; vector <= 64; vector *= 2) {
        for (int non_temporal = 0; non_temporal < 2; non_temporal++) {
          test_problem p = test_packed(types[t], cases[i].rank, cases[i].extents, cases[i].perm);
          p.threads = 1 + turn % 2;
          p.in_at = places[turn % 6];
          p.out_at = places[turn / 6 % 6];
          p.seed = (uint64_t)++turn;
          cutt_candidate q = gather(cases[i].m, cases[i].split_m, cases[i].k, cases[i].split_k, non_temporal);
          q.threads = p.threads;
          q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
          q.param[CUTT_CPU_PARAM_VECTOR] = vector;
          q.param[CUTT_CPU_PARAM_STEP] = 16;
          q.param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_MIXED;
          bool ran = false;
          if (!test_try_candidate(&p, &q, &ran)) fail();
          if (vector > 16) continue; /* more rows than there are, or wider registers than this processor's */
          assert_true(ran || types[t] == CUTT_BYTES_16); /* of which the stage may have no room for so many */
          if (!ran) continue;
          const cutt_cpu_tile tile = tile_of(&p, &q);
          assert_int_equal(tile.apart, cases[i].apart);
          assert_int_equal(tile.cols, cases[i].columns);
        }
      }
    }
  }
}

/* A mixed walk of narrow elements leaves modes to the columns once there are rows for a narrow vector, of wider ones only when there are
 * many. */
static void columns_beside_few_rows(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4};
  static const int64_t extents[4] = {3, 5, 4, 40};
  static const int perm[4] = {3, 1, 0, 2};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    test_problem p = test_packed(types[t], 4, extents, perm);
    cutt_candidate q = gather(3, 0, 2, 0, false);
    q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
    q.param[CUTT_CPU_PARAM_VECTOR] = 16;
    q.param[CUTT_CPU_PARAM_STEP] = 16;
    q.param[CUTT_CPU_PARAM_WALK] = CUTT_CPU_MIXED;
    bool ran = false;
    p.seed = 1 + t;
    if (!test_try_candidate(&p, &q, &ran)) fail();
    assert_int_equal(ran, types[t] != CUTT_BYTES_4); /* whose columns are then those of one mode */
    if (ran) assert_int_equal(tile_of(&p, &q).cols, 60);
  }
}

/* Few rows, whose columns follow one another in the output and are shorter than a line: a block of a load's columns, fewer, more, and a rest.
 * One such block, and several, one after another, in tiles of which the last one has fewer. */
static void few_rows(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8};
  static const int64_t rows[] = {2, 3, 4, 7, 11, 12, 13, 16, 17}, columns[] = {3, 5, 11, 16, 33};
  static const int perm[4] = {2, 0, 3, 1};
  int turn = 0, few = 0, narrow = 0, several = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        for (int way = 0; way < 4; way++) {
          const int64_t extents[4] = {columns[c], 3, rows[r], 6};
          test_problem p = test_packed(types[t], 4, extents, perm);
          p.threads = 1;
          p.in_at = places[turn % 6];
          p.out_at = places[turn / 6 % 6];
          p.seed = (uint64_t)++turn;
          if (types[t] == CUTT_BYTES_4 && turn % 5 == 0) p.type = CUTT_F32, p.has_alpha = true, p.alpha.f32[0] = 3;
          cutt_candidate q = gather(1, 0, way % 2 ? 3 : 2, way % 2 ? 4 : 0, way / 2);
          q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
          q.param[CUTT_CPU_PARAM_VECTOR] = 16;
          q.param[CUTT_CPU_PARAM_STEP] = 16;
          bool ran = false;
          if (!test_try_candidate(&p, &q, &ran)) fail();
          if (!ran) continue;
          const cutt_cpu_tile tile = tile_of(&p, &q);
          few += tile.few;
          narrow += tile.few && columns[c] * (int64_t)test_type_bytes(types[t]) < 16;
          several += tile.few && tile.inners > 1;
          if (tile.few) assert_true(tile.rows <= 16 && !tile.direct && types[t] != CUTT_BYTES_8);
        }
      }
    }
  }
  assert_true(few > 0 && narrow > 0 && several > 0);
}

/* Each element of a column to a row of its own, some rows at a time. */
static void broadcasts(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t widths[] = {2, 15, 16, 33, 200}, heights[][2] = {{7, 0}, {29, 5}};
  static const int perm[2] = {0, 1};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const int64_t w = (int64_t)test_type_bytes(types[t]);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
      for (size_t k = 0; k < sizeof heights / sizeof *heights; k++) {
        const int64_t extents[2] = {widths[i], heights[k][0]}, strides[2] = {0, 3};
        test_problem p = test_packed(types[t], 2, extents, perm);
        p.in_strided = true;
        memcpy(p.in_strides, strides, sizeof strides);
        p.threads = 1;
        p.in_at = places[turn % 6];
        p.out_at = places[turn / 6 % 6];
        p.seed = (uint64_t)++turn;
        const cutt_candidate q = gather(0, 0, 2, heights[k][1], turn % 2);
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran || turn % 2);
        const cutt_candidate cut = gather(0, 0, 1, widths[i] * 7 / 20, true); /* a rest of less than a line, and more */
        if (widths[i] > 64 && !test_try_candidate(&p, &cut, &ran)) fail();
        const cutt_candidate through = gather(0, 0, 2, heights[k][1], false);
        assert_int_equal(tile_of(&p, &through).repeats, widths[i] * w >= 16 ? widths[i] : 1);
        const cutt_candidate apart = gather(1, heights[k][1], 1, turn % 3 == 0 ? (widths[i] + 1) / 2 : 0, false);
        if (!test_try_candidate(&p, &apart, &ran)) fail();
        assert_true(ran);
      }
    }
  }
}

/* Elements at equal distances, forwards and backwards, by windows that are alike from vector to vector, but for the last one. */
static void elements_apart(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t lengths[][2] = {{64, 0}, {130, 0}, {333, 0}, {1500, 700}}, strides[] = {-3, -2, -1, 2, 3, 5};
  static const int perm[2] = {0, 1};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
      for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        const int64_t extents[2] = {lengths[l][0], 5}, distance = strides[s] < 0 ? -strides[s] : strides[s];
        test_problem p = test_packed(types[t], 2, extents, perm);
        const int64_t steps[2] = {strides[s], (lengths[l][0] + turn % 3) * distance};
        p.in_strided = true;
        memcpy(p.in_strides, steps, sizeof steps);
        p.threads = 1;
        p.in_at = places[turn % 6];
        p.out_at = places[turn / 6 % 6];
        p.seed = (uint64_t)++turn;
        for (int non_temporal = 0; non_temporal < 2; non_temporal++) {
          cutt_candidate q = gather(0, 0, turn % 4 == 0 && lengths[l][1] == 0 ? 2 : 1, lengths[l][1], non_temporal);
          bool ran = false;
          q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_WINDOW;
          if (!test_try_candidate(&p, &q, &ran)) fail();
          q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_GATHER; /* without a table where elements have 8 bytes and more */
          if (!test_try_candidate(&p, &q, &ran)) fail();
        }
      }
    }
  }
}

/* So many of them that what comes next is prefetched along them. */
static void many_elements_apart(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t strides[] = {-3, 2, 4, 9};
  static const int perm[1] = {0};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
      const int64_t w = (int64_t)test_type_bytes(types[t]), extents[1] = {1600003 / w};
      test_problem p = test_packed(types[t], 1, extents, perm);
      p.in_strided = true;
      p.in_strides[0] = strides[s];
      p.threads = 1;
      p.in_at = places[s];
      p.seed = s;
      for (int window = 0; window < 2; window++) {
        cutt_candidate q = gather(0, 0, 1, 1000, false);
        bool ran = false;
        q.param[CUTT_CPU_PARAM_PREFETCH] = CUTT_CPU_TO_NONE;
        if (window) q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_WINDOW;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran || window);
        const bool step = (w >= 8 && strides[s] * w <= 128) || cutt_cpu_has_skip(64, true, w, strides[s]);
        if (!window) assert_int_equal(tile_of(&p, &q).in_step, step ? strides[s] : 0);
      }
    }
  }
}

/* Few runs for each of many segments, which are done run by run, of all lengths; and single elements, some for each. */
static void runs_to_places_apart(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t lengths[] = {2, 3, 5, 8, 9, 17, 30, 40, 63, 64, 65, 100, 300, 511, 600};
  static const int along[2] = {0, 1}, across[2] = {1, 0};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const int64_t w = (int64_t)test_type_bytes(types[t]);
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
      const int64_t extents[2] = {lengths[n], 90 + turn % 7};
      test_problem p = test_packed(types[t], 2, extents, along);
      p.out_strided = true;
      p.out_strides[0] = 1;
      p.out_strides[1] = lengths[n] + 1 + turn % 3;
      p.in_at = places[turn % 6];
      p.out_at = places[turn / 6 % 6];
      p.threads = 1;
      p.seed = (uint64_t)++turn;
      const cutt_candidate q = gather(2, turn % 2 ? 71 : 0, 1, 0, false);
      bool ran = false;
      assert_true(tile_of(&p, &q).by_segments == (lengths[n] * w <= 8192));
      if (!test_try_candidate(&p, &q, &ran)) fail();
      assert_true(ran);
      const int64_t turned[2] = {extents[1], lengths[n]};
      test_problem few = test_packed(types[t], 2, turned, across);
      few.out_at = places[turn % 6];
      few.threads = 1;
      few.seed = (uint64_t)turn;
      const cutt_candidate each = gather(1, turn % 2 ? 71 : 0, 1, 0, false);
      assert_true(tile_of(&few, &each).by_segments == (lengths[n] * w <= 256));
      if (!test_try_candidate(&few, &each, &ran)) fail();
      assert_true(ran);
    }
  }
}

/* Runs that are longer than the stage, and as many of them, are copied as they lie; the model chooses these too. */
static void long_runs(void **unused) {
  (void)unused;
  static const int64_t extents[][2] = {{60001, 5}, {9000, 40}, {300000, 3}};
  static const int perm[2] = {0, 1};
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    for (int back = 0; back < 2; back++) {
      test_problem p = test_packed(CUTT_BYTES_1, 2, extents[i], perm);
      const int64_t strides[2] = {1, (extents[i][0] + 9) * (back ? -1 : 1)};
      p.in_strided = true;
      memcpy(p.in_strides, strides, sizeof strides);
      p.threads = 1;
      p.seed = i;
      const cutt_candidate whole = gather(0, 0, 1, 0, false), rows = gather(0, 0, 2, 2, false);
      bool ran = false;
      if (!test_try_candidate(&p, &whole, &ran)) fail();
      assert_true(ran);
      if (!test_try_candidate(&p, &rows, &ran)) fail();
      assert_true(ran || i == 2); /* two of these would be too much for the table of bounds */
      if (!test_try(&p, TEST_ALL)) fail();
    }
  }
}

/* A first mode that is read backwards is walked from its other end, unless that leaves less than 16 bytes to a run of the output. */
static void from_the_other_end(void **unused) {
  (void)unused;
  static const int perm[2] = {1, 0};
  for (int64_t rows = 2; rows < 20; rows++) {
    const int64_t extents[2] = {50, rows};
    test_problem p = test_packed(CUTT_BYTES_2, 2, extents, perm);
    p.in_strided = true;
    p.in_strides[0] = -1;
    p.in_strides[1] = 50;
    p.threads = 1;
    p.seed = (uint64_t)rows;
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical, other;
    assert_success(cutt_canonicalize(&view, &canonical));
    assert_true((cutt_cpu_forward(&canonical, &other) == &other) == (rows * 2 >= 16));
    if (!test_try(&p, TEST_ALL)) fail();
  }
}

/* Rows of fewer bytes than are loaded at once: the last ones, here, and not all of them, are at the end. */
static void narrow_rows_at_the_end(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8};
  static const int64_t rows[][2] = {{64, 0}, {65, 0}, {79, 0}, {500, 0}, {500, 300}, {500, 490}};
  static const int perm[2] = {1, 0};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (int64_t columns = 3; columns < 16 / (int64_t)test_type_bytes(types[t]) + 2; columns += 2) {
      for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const int64_t extents[2] = {columns, rows[r][0]};
        test_problem p = test_packed(types[t], 2, extents, perm);
        p.in_at = TEST_AT_END;
        p.out_at = places[turn % 6];
        p.threads = 1;
        p.seed = (uint64_t)++turn;
        cutt_candidate q = gather(1, 0, 1, rows[r][1], false);
        q.param[CUTT_CPU_PARAM_KERNEL] = CUTT_CPU_TRANSPOSE;
        q.param[CUTT_CPU_PARAM_VECTOR] = 16;
        q.param[CUTT_CPU_PARAM_STEP] = 16;
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran);
      }
    }
  }
}

/* Runs that are long enough to be scaled, and added to the output, from where they are; some of them cut. */
static void long_runs_with_scalars(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_F32, CUTT_C64, CUTT_F16, CUTT_I32, CUTT_C32};
  static const int64_t lengths[][2] = {{250, 0}, {256, 0}, {300, 0}, {513, 0}, {1030, 0}, {2200, 900}};
  static const int perm[3] = {0, 2, 1};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
      const int64_t w = (int64_t)test_type_bytes(types[t]), extents[3] = {lengths[k][0] / w, 5, 7};
      test_problem p = test_packed(types[t], 3, extents, perm);
      test_rng rng = {(uint64_t)turn + 1};
      p.has_alpha = turn % 3 != 0;
      p.has_beta = turn % 4 != 0;
      p.alpha = test_random_scalar(&rng, p.type);
      p.beta = test_random_scalar(&rng, p.type);
      p.threads = 1;
      p.seed = (uint64_t)++turn;
      const bool cut = lengths[k][1] > 0;
      const cutt_candidate q =
          cut ? gather(1, lengths[k][1] / w, 0, 0, false) : gather(turn % 2 ? 2 : 1, 0, 2, 0, false);
      bool ran = false;
      if (!test_try_candidate(&p, &q, &ran)) fail();
      assert_true(ran || cut);
    }
  }
}

/* Runs to elements that lie apart, several in a store or one at a time, and so many of them that the output's lines are asked for. */
static void runs_to_elements_apart(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_2, CUTT_BYTES_4, CUTT_BYTES_8, CUTT_BYTES_16};
  static const int64_t lengths[] = {2, 7, 40, 100, 513}, apart[] = {2, 3, 5, 10, 21}, many[2] = {9001, 400};
  static const int perm[2] = {0, 1};
  int turn = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const int64_t w = (int64_t)test_type_bytes(types[t]);
    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
      for (size_t k = 0; k < sizeof apart / sizeof *apart; k++) {
        const bool large = n == 0 && k == 2;
        const int64_t extents[2] = {large ? many[0] / w : lengths[n], large ? many[1] : 3};
        test_problem p = test_packed(types[t], 2, extents, perm);
        p.out_strided = true;
        p.out_strides[0] = apart[k];
        p.out_strides[1] = apart[k] * extents[0] + (int64_t)n + 1;
        p.in_at = places[turn % 6];
        p.out_at = places[turn / 6 % 6];
        p.seed = (uint64_t)++turn;
        const cutt_candidate q = gather(0, 0, 1, n == 4 ? 100 : 0, false);
        bool ran = false;
        if (!test_try_candidate(&p, &q, &ran)) fail();
        assert_true(ran);
      }
    }
  }
}

int main(void) {
  if (test_isa_missing()) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(which_runs_are_transposed),
                                     cmocka_unit_test(short_runs),
                                     cmocka_unit_test(every_other_element_of_rows),
                                     cmocka_unit_test(columns_of_several_runs),
                                     cmocka_unit_test(columns_beside_few_rows),
                                     cmocka_unit_test(few_rows),
                                     cmocka_unit_test(broadcasts),
                                     cmocka_unit_test(elements_apart),
                                     cmocka_unit_test(many_elements_apart),
                                     cmocka_unit_test(runs_to_places_apart),
                                     cmocka_unit_test(long_runs),
                                     cmocka_unit_test(from_the_other_end),
                                     cmocka_unit_test(narrow_rows_at_the_end),
                                     cmocka_unit_test(long_runs_with_scalars),
                                     cmocka_unit_test(runs_to_elements_apart)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  test_try_report();
  test_try_cleanup();
  return failed;
}
