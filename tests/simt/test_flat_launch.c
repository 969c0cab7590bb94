/* Launches of the kernels without tables: the order of their tiles, which lanes store what, how many blocks there are at once, and
 * whether the next kernel begins early. */
#include <stdlib.h>
#include <string.h>

#include "gpu/flat.h"
#include "simt/engine.h"
#include "support/check.h"

/* With tables and without, and of copies: the first block writes the end of the output, the last one its beginning. */
static void the_end_first(void **unused) {
  (void)unused;
  enum { BYTES = 256 * 256 * 4 };
  static const struct {
    int perm[2];
    bool flat, direct;
  } ways[] = {{{1, 0}, false, false}, {{1, 0}, true, false}, {{0, 1}, true, true}};
  static const int64_t extents[] = {256, 256};
  unsigned char *from = aligned_alloc(16, BYTES), *to = aligned_alloc(16, BYTES);
  assert_true(from && to);
  memset(from, 1, BYTES);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, ways[i].perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    char error[768];
    assert_success(cutt_canonicalize(&view, &canonical));
    const int64_t split = ways[i].direct ? 0 : 32;
    const cutt_candidate candidate = simt_candidate(&canonical, split, split, 64, ways[i].flat, ways[i].direct);
    if (!cutt_gpu_lay_out(&simt_h200, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_true(launch.blocks > 1);
    const uint32_t ends[] = {0, launch.blocks - 1};
    for (int end = 0; end < 2; ++end) {
      simt_launch asked = simt_launch_of(&launch, &canonical, from, to, true);
      int64_t written;
      asked.only = &ends[end];
      asked.only_count = 1;
      memset(to, 0, BYTES);
      if (!simt_run(&asked, &written, NULL, error, sizeof error)) fail_msg("%s", error);
      assert_int_equal(to[end == 0 ? BYTES - 1 : 0], 1);
      assert_int_equal(to[end == 0 ? 0 : BYTES - 1], 0);
    }
  }
  free(from);
  free(to);
}

/* Of a square of 4-byte elements, transposed in tiles of 32 x 32. */
static bool next_early(int64_t extent, int threads, bool flat) {
  const int64_t extents[] = {extent, extent};
  const int perm[] = {1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  cutt_gpu_launch launch;
  const char *why = "";
  assert_success(cutt_canonicalize(&view, &canonical));
  const cutt_candidate candidate = simt_candidate(&canonical, 32, 32, threads, flat, false);
  if (!cutt_gpu_lay_out(&simt_h200, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
  assert_int_equal(launch.without_tables, flat);
  return flat ? launch.flat.next_early : launch.args.next_early;
}

/* The next kernel may begin early where this one leaves as much room as it has, or next to none. */
static void room_for_the_next(void **unused) {
  (void)unused;
  assert_true(next_early(256, 64, true));
  assert_true(next_early(1024, 64, true));  /* 1024 blocks of the 2112 that there is room for */
  assert_false(next_early(1152, 64, true)); /* 1296 */
  assert_true(next_early(1312, 64, true));  /* 1681 */
  assert_true(next_early(4096, 64, true));
  assert_true(next_early(256, 512, false));
  assert_false(next_early(384, 512, false)); /* 144 of 264 */
  assert_true(next_early(480, 512, false));
}

/* Of tiles by asynchronous copies as many blocks fit on an SM as ask for twice what keeps memory busy, 96 KB on an H200; of windows, as
 * many as there is room for. */
static void few_at_once(void **unused) {
  (void)unused;
  static const struct {
    int64_t extent, split_m, split_k;
    cutt_kernel kernel;
    int blocks;
  } tiles[] = {{256, 32, 64, CUTT_KERNEL_flat_4a, 12},
               {256, 64, 64, CUTT_KERNEL_flat_4a, 6},
               {384, 128, 96, CUTT_KERNEL_flat_4a, 2},
               {257, 32, 64, CUTT_KERNEL_flat_4s, 16}};
  static const int perm[] = {1, 0};
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  for (size_t i = 0; i < sizeof tiles / sizeof *tiles; ++i) {
    const int64_t extents[] = {tiles[i].extent, tiles[i].extent};
    const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate candidate = simt_candidate(&canonical, tiles[i].split_m, tiles[i].split_k, 64, true, false);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, tiles[i].kernel);
    assert_int_equal(small.sm_shared / ((int)launch.shared_bytes + small.reserved_shared), tiles[i].blocks);
  }
}

/* Of a tile that has whole runs, the next one continues those of the output, and the one after all of these those of the input.
 * Asynchronous copies have eight lanes side by side, also where these do not divide a run, which stores have all of then. */
static void order_and_lanes(void **unused) {
  (void)unused;
  static const int64_t extents[] = {32, 5, 7, 3, 112};
  static const int perm[] = {4, 3, 2, 1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 5, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_device small = simt_h200;
  cutt_canonical canonical;
  cutt_gpu_launch launch;
  const char *why = "";
  small.l2_bytes = 1;
  assert_success(cutt_canonicalize(&view, &canonical));
  const cutt_candidate candidate = simt_candidate(&canonical, 0, 0, 256, true, false);
  if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
  assert_int_equal(launch.kernel, CUTT_KERNEL_flat_4a);
  const cutt_flat_args *const args = &launch.flat;
  assert_int_equal(args->grid_modes, 5);
  assert_int_equal(args->grid[0].extent.by, 1); /* chunks: there are none */
  assert_int_equal(args->grid[1].extent.by, 1);
  assert_int_equal(args->grid[2].out, 112 * 4);
  assert_int_equal(args->grid[3].in, 32 * 4);
  assert_int_equal(args->grid[4].in, 32 * 5 * 4);
  assert_int_equal(args->loads.along.by, 8);   /* of 40 */
  assert_int_equal(args->stores.along.by, 28); /* of 28 */
  assert_int_equal(args->stores.along_step, 28);
}

/* Two lines of a column are stored side by side, or all of it where two do not divide it, unless too many threads would be left over; one line
 * where the output is read. Of rows that begin with lines the next line is fetched, too. */
static void lanes_of_columns(void **unused) {
  (void)unused;
  static const struct {
    int64_t rows, columns;
    int threads;
    bool added;
    uint32_t along, across, line_alone;
  } ways[] = {{32, 64, 64, false, 8, 8, 0},    {64, 64, 128, false, 16, 8, 0},   {96, 64, 128, false, 24, 5, 0},
              {96, 64, 256, true, 24, 10, 0},  {128, 64, 256, false, 16, 16, 0}, {128, 64, 256, true, 8, 32, 0},
              {48, 56, 128, false, 12, 10, 1}, {216, 32, 64, false, 54, 1, 0},   {176, 48, 64, false, 16, 4, 1}};
  static const int perm[] = {1, 0};
  static const float one = 1;
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const int64_t extents[] = {ways[i].columns, ways[i].rows};
    const test_problem problem = test_packed(ways[i].added ? CUTT_F32 : CUTT_BYTES_4, 2, extents, perm);
    cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    if (ways[i].added) view.beta = &one;
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate candidate = simt_candidate(&canonical, 0, 0, ways[i].threads, true, false);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, ways[i].added ? CUTT_KERNEL_flat_add_f32a : CUTT_KERNEL_flat_4a);
    assert_int_equal(launch.flat.stores.along.by, ways[i].along);
    assert_int_equal(launch.flat.stores.across.by, ways[i].across);
    assert_int_equal(launch.flat.line_alone, ways[i].line_alone);
  }
}

/* Two chunks of a line of the input, then along the output, also where the chunks are an odd number; in windows those of 2 KB of it. */
static void chunks_in_groups(void **unused) {
  (void)unused;
  static const struct {
    int64_t extent, split;
    uint32_t chunks, group, groups;
    cutt_kernel kernel;
  } ways[] = {{608, 32, 19, 2, 10, CUTT_KERNEL_flat_4a}, {576, 32, 18, 2, 9, CUTT_KERNEL_flat_4a},
              {96, 32, 0, 1, 3, CUTT_KERNEL_flat_4a},    {1216, 64, 0, 1, 19, CUTT_KERNEL_flat_4a},
              {217, 32, 7, 7, 1, CUTT_KERNEL_flat_4s},   {1217, 64, 20, 7, 3, CUTT_KERNEL_flat_4s},
              {1217, 304, 5, 2, 3, CUTT_KERNEL_flat_4s}};
  static const int perm[] = {1, 0};
  cutt_device small = simt_h200;
  small.l2_bytes = 1;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
    const int64_t extents[] = {ways[i].extent, 160};
    const test_problem problem = test_packed(CUTT_BYTES_4, 2, extents, perm);
    const cuttProblem_t view = test_problem_view(&problem);
    cutt_canonical canonical;
    cutt_gpu_launch launch;
    const char *why = "";
    assert_success(cutt_canonicalize(&view, &canonical));
    const cutt_candidate candidate = simt_candidate(&canonical, ways[i].split, 40, 64, true, false);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, ways[i].kernel);
    const cutt_flat_digit *const grid = ways[i].kernel == CUTT_KERNEL_flat_4s ? launch.windows.grid : launch.flat.grid;
    assert_int_equal(launch.flat.row_chunks, ways[i].chunks);
    assert_int_equal(launch.flat.row_group.by, ways[i].group);
    assert_int_equal(grid[1].extent.by, ways[i].groups);
    assert_int_equal(launch.blocks, ways[i].groups * 4 * ways[i].group);
  }
}

/* Whole columns that begin inside of sectors: those behind one another in the output, and then chunks of rows. */
static void whole_columns_first(void **unused) {
  (void)unused;
  static const int64_t extents[] = {330, 13, 159};
  static const int perm[] = {2, 1, 0};
  const test_problem problem = test_packed(CUTT_BYTES_4, 3, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_device small = simt_h200;
  cutt_canonical canonical;
  cutt_gpu_launch launch;
  const char *why = "";
  small.l2_bytes = 1;
  assert_success(cutt_canonicalize(&view, &canonical));
  for (int cut = 0; cut < 2; ++cut) {
    const cutt_candidate candidate = simt_candidate(&canonical, 64, cut ? 80 : 0, 128, true, false);
    if (!cutt_gpu_lay_out(&small, &canonical, &candidate, 16, 16, &launch, &why)) fail_msg("%s", why);
    assert_int_equal(launch.kernel, CUTT_KERNEL_flat_4s);
    assert_int_equal(launch.windows.whole, !cut);
    assert_int_equal(launch.windows.grid[0].extent.by, cut ? 2 : 13);
    assert_int_equal(launch.windows.grid[0].out, cut ? 80 * 4 : 159 * 4);
    assert_int_equal(launch.windows.grid[1].extent.by, 1); /* all six chunks are a group */
    assert_int_equal(launch.flat.grid_modes, cut ? 3 : 2);
  }
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_end_first),       cmocka_unit_test(order_and_lanes),
                                     cmocka_unit_test(lanes_of_columns),    cmocka_unit_test(chunks_in_groups),
                                     cmocka_unit_test(whole_columns_first), cmocka_unit_test(room_for_the_next),
                                     cmocka_unit_test(few_at_once)};
  return cmocka_run_group_tests_name("launches without tables", tests, NULL, cleanup);
}
