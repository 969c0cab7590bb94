/* The kernels without tables, each by name under the emulator: the result, and what they are there for, which is accesses of 16
 * bytes (or words, of narrow elements) and no bank conflicts in a plain transpose. Random tiles are those of test_property_simt. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/flat.h"
#include "simt/engine.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

typedef struct flat_case {
  cutt_kernel kernel;
  cuttType_t type;
  int rank, perm[4];
  int64_t extents[4];
  int m, k;
  int64_t split_m, split_k;
  int threads, in_at, out_at; /* bytes from 16-byte alignment */
  int direct;                 /* a copy of runs */
  /* Of 32 words that are moved: requests of loads, of stores, and to shared memory, and its wavefronts; 0: not held. */
  double loads, stores, shared, wavefronts;
} flat_case;

#define SQUARE(chunk) 2, {1, 0}, {256, 256}, 1, 1, chunk, chunk, 256, 0, 0
static const flat_case cases[] = {
    {CUTT_KERNEL_flat_1w, CUTT_BYTES_1, SQUARE(128), 0, 0.25, 1, 2, 2},
    {CUTT_KERNEL_flat_2q, CUTT_BYTES_2, SQUARE(64), 0, 0.25, 0.25, 2, 2},
    {CUTT_KERNEL_flat_4w, CUTT_BYTES_4, SQUARE(64), 0, 0.25, 0.25, 2, 2},
    {CUTT_KERNEL_flat_8w, CUTT_BYTES_8, SQUARE(32), 0, 0.25, 0.25, 1, 2},
    {CUTT_KERNEL_flat_16, CUTT_BYTES_16, SQUARE(16), 0, 0.25, 0.25, 0.5, 2},
    {CUTT_KERNEL_flat_2w, CUTT_BYTES_2, 2, {1, 0}, {256, 256}, 1, 1, 64, 64, 128, 0, 4, 0, 0.25, 1, 2, 2},
    /* What words do not divide, several modes on both sides, tiles at edges, and few rows. */
    {CUTT_KERNEL_flat_1, CUTT_BYTES_1, 3, {2, 1, 0}, {19, 7, 23}, 2, 1, 0, 9, 64, 1, 3, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_2, CUTT_BYTES_2, 4, {3, 2, 1, 0}, {5, 9, 11, 7}, 2, 2, 4, 0, 96, 2, 6, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4, CUTT_BYTES_4, 4, {3, 2, 1, 0}, {5, 9, 11, 7}, 2, 2, 0, 5, 128, 4, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_8, CUTT_BYTES_8, 3, {2, 0, 1}, {31, 6, 17}, 1, 1, 16, 16, 32, 8, 0, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4w, CUTT_BYTES_4, 3, {1, 2, 0}, {128, 4, 60}, 1, 1, 0, 0, 256, 0, 0, 0, 0.25, 0, 0, 0},
    {CUTT_KERNEL_flat_2q, CUTT_BYTES_2, 2, {1, 0}, {2048, 16}, 1, 1, 512, 0, 256, 0, 0, 0, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_1w, CUTT_BYTES_1, 3, {1, 0, 2}, {64, 100, 3}, 1, 1, 0, 48, 64, 0, 0, 0, 0, 0, 0, 0},
    /* Pixels: the side that is one range goes 16 bytes at a time, if its tiles begin there, and without bank conflicts where their
     * elements are an odd number; several modes, tiles at the edge, and a range that is aligned to words. */
    {CUTT_KERNEL_flat_in_1, CUTT_BYTES_1, 2, {1, 0}, {3, 2048}, 1, 1, 0, 512, 128, 0, 0, 0, 0.25, 1, 0, 0},
    {CUTT_KERNEL_flat_in_2, CUTT_BYTES_2, 3, {1, 0, 2}, {5, 1024, 2}, 1, 1, 0, 512, 256, 0, 0, 0, 0.25, 1, 0, 0},
    {CUTT_KERNEL_flat_in_4, CUTT_BYTES_4, 2, {1, 0}, {3, 1024}, 1, 1, 0, 256, 256, 0, 0, 0, 0.25, 1, 1.25, 2},
    {CUTT_KERNEL_flat_in_8, CUTT_BYTES_8, 2, {1, 0}, {3, 1024}, 1, 1, 0, 128, 64, 0, 0, 0, 0.25, 0.5, 0.75, 2},
    {CUTT_KERNEL_flat_out_1, CUTT_BYTES_1, 2, {1, 0}, {2048, 3}, 1, 1, 512, 0, 128, 0, 0, 0, 1, 0.25, 0, 0},
    {CUTT_KERNEL_flat_out_2, CUTT_BYTES_2, 3, {2, 0, 1}, {1024, 2, 3}, 1, 1, 512, 0, 128, 0, 0, 0, 1, 0.25, 0, 0},
    {CUTT_KERNEL_flat_out_4, CUTT_BYTES_4, 2, {1, 0}, {1024, 3}, 1, 1, 256, 0, 256, 0, 0, 0, 1, 0.25, 1.25, 2},
    {CUTT_KERNEL_flat_out_8, CUTT_BYTES_8, 2, {1, 0}, {1024, 5}, 1, 1, 128, 0, 64, 0, 0, 0, 0.5, 0.25, 0.75, 2},
    {CUTT_KERNEL_flat_in_1, CUTT_BYTES_1, 4, {2, 1, 0, 3}, {3, 5, 100, 7}, 2, 1, 0, 36, 96, 4, 8, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_out_2, CUTT_BYTES_2, 4, {2, 1, 0, 3}, {100, 5, 3, 3}, 1, 2, 36, 0, 32, 4, 8, 0, 0, 0, 0, 0},
    /* Copies of runs, of which a warp takes several, or a part of one, with gaps between none of them. */
    {CUTT_KERNEL_flat_copy_16, CUTT_BYTES_4, 3, {0, 2, 1}, {64, 16, 64}, 1, 1, 0, 0, 256, 0, 0, 1, 0.25, 0.25, 0, 0},
    {CUTT_KERNEL_flat_copy_8, CUTT_BYTES_4, 4, {0, 3, 2, 1}, {6, 7, 5, 9}, 1, 1, 0, 0, 64, 0, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_copy_4, CUTT_BYTES_4, 3, {0, 2, 1}, {31, 16, 64}, 1, 1, 0, 0, 96, 0, 0, 1, 1, 1, 0, 0},
    {CUTT_KERNEL_flat_copy_4, CUTT_BYTES_16, 3, {0, 2, 1}, {10, 16, 64}, 1, 1, 0, 0, 96, 4, 8, 1, 1, 1, 0, 0},
    /* Not aligned to elements, or to words: there are tables after all. */
    {CUTT_KERNEL_tile_4, CUTT_BYTES_8, 2, {1, 0}, {40, 50}, 1, 1, 0, 0, 64, 0, 4, 0, 0, 0, 0, 0},
    {CUTT_KERNEL_copy_2, CUTT_BYTES_4, 3, {0, 2, 1}, {64, 16, 6}, 1, 1, 0, 0, 64, 2, 0, 1, 0, 0, 0, 0},
    {CUTT_KERNEL_flat_4, CUTT_BYTES_4, 2, {1, 0}, {4, 100}, 1, 1, 0, 0, 64, 4, 0, 0, 0, 0, 0, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static void held(const char *what, const flat_case *f, double expected, int64_t counted, int64_t written) {
  const double is = (double)counted * 32 / ((double)written / 4);
  if (expected > 0 && (is < expected * 0.999 || is > expected * 1.001))
    fail_msg("%s: %s of 32 words: %.3f, not %.3f", cutt_gpu_kernel_name[f->kernel], what, is, expected);
}

static void run_case(const flat_case *f) {
  const test_problem problem = test_packed(f->type, f->rank, f->extents, f->perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  cutt_candidate candidate;
  memset(&candidate, 0, sizeof candidate);
  candidate.m = f->m;
  candidate.k = f->k;
  candidate.split_m = f->split_m;
  candidate.split_k = f->split_k;
  candidate.threads = f->threads;
  candidate.param[CUTT_GPU_PARAM_STAGES] = candidate.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
  candidate.param[CUTT_GPU_PARAM_FLAT] = 1;
  candidate.param[CUTT_GPU_PARAM_DIRECT] = f->direct;
  candidate.method = cutt_gpu_method(&canonical, &candidate);
  const size_t bytes = (size_t)(canonical.volume * canonical.elem_bytes), room = (bytes + 32 + 15) / 16 * 16;
  unsigned char *from = aligned_alloc(16, room), *to = aligned_alloc(16, room), *expected = malloc(bytes);
  assert_true(from && to && expected);
  test_fill_bits(from, room, test_type_bytes(f->type), 7);
  memset(to, 0xEE, room);
  test_reference(&problem, from + f->in_at, expected);
  cutt_gpu_launch launch;
  const char *why = "";
  char error[768];
  if (!cutt_gpu_lay_out(&simt_h200, &canonical, &candidate, cutt_gpu_alignment(from + f->in_at),
                        cutt_gpu_alignment(to + f->out_at), &launch, &why))
    fail_msg("%s: %s", cutt_gpu_kernel_name[f->kernel], why);
  assert_string_equal(cutt_gpu_kernel_name[launch.kernel], cutt_gpu_kernel_name[f->kernel]);
  const simt_launch asked = simt_launch_of(&launch, &canonical, from + f->in_at, to + f->out_at, true);
  simt_counts counts;
  int64_t written;
  memset(&counts, 0, sizeof counts);
  if (!simt_run(&asked, &written, &counts, error, sizeof error))
    fail_msg("%s: %s", cutt_gpu_kernel_name[f->kernel], error);
  assert_int_equal(written, bytes);
  assert_memory_equal(to + f->out_at, expected, bytes);
  held("load requests", f, f->loads, counts.load_requests, written);
  held("store requests", f, f->stores, counts.store_requests, written);
  held("shared requests", f, f->shared, counts.shared[1].requests, written);
  held("wavefronts", f, f->wavefronts, counts.shared[1].wavefronts, written);
  free(from);
  free(to);
  free(expected);
}

static void each_kernel(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; ++i) run_case(&cases[i]);
  for (int k = CUTT_TABLE_KERNEL_COUNT; k < CUTT_KERNEL_COUNT; ++k) {
    int found = 0;
    for (int i = 0; i < CASES; ++i) found += cases[i].kernel == (cutt_kernel)k;
    assert_true(found > 0);
  }
}

/* What a tile must be, in words. */
static void refusals(void **unused) {
  (void)unused;
  static const int64_t extents[] = {8, 9, 10, 11};
  static const int perm[] = {3, 2, 1, 0};
  static const struct {
    int m, k, threads;
    int64_t flat, stages, batch;
    const char *why;
  } rows[] = {{1, 1, 64, 1, 1, 0, NULL},
              {3, 2, 64, 1, 1, 0, "no mode in common"},
              {0, 2, 64, 1, 1, 0, "no mode in common"},
              {1, 1, 64, 1, 1, 4, "without a batch"},
              {1, 1, 512, 1, 1, 0, "up to 256 threads"},
              {1, 1, 64, 1, 2, 0, "one stage"},
              {1, 1, 64, 2, 1, 0, "one stage"}};
  const test_problem problem = test_packed(CUTT_BYTES_4, 4, extents, perm);
  const cuttProblem_t view = test_problem_view(&problem);
  cutt_canonical canonical;
  assert_success(cutt_canonicalize(&view, &canonical));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    cutt_candidate c;
    const char *why = NULL;
    memset(&c, 0, sizeof c);
    c.m = rows[i].m;
    c.k = rows[i].k;
    c.threads = rows[i].threads;
    c.param[CUTT_GPU_PARAM_STAGES] = rows[i].stages;
    c.param[CUTT_GPU_PARAM_BLOCK_TILES] = 1;
    c.param[CUTT_GPU_PARAM_BATCH] = rows[i].batch;
    c.param[CUTT_GPU_PARAM_FLAT] = rows[i].flat;
    c.method = cutt_gpu_method(&canonical, &c);
    assert_int_equal(cutt_gpu_accept(&simt_h200, &canonical, &c, &why), rows[i].why == NULL);
    if (rows[i].why) assert_non_null(strstr(why, rows[i].why));
  }
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_kernel), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests_name("kernels without tables", tests, NULL, cleanup);
}
