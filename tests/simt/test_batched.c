/* Many executions by one launch, under the emulator: random problems, of each the model's first candidates, on pairs that lie
 * anywhere. Each output comes out as by itself, nothing beside the outputs is touched, and what is asked of memory is no more
 * than by as many launches. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/pairs.h"
#include "simt/engine.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

enum { MOST_PAIRS = 24, GAP = 80, PROBLEMS = 120 };

typedef struct batch {
  test_problem problem;
  cutt_canonical canonical;
  int count;
  size_t in_bytes, out_bytes;
  unsigned char *in, *out, *expected;
  const void *from[MOST_PAIRS];
  void *to[MOST_PAIRS];
} batch;

/* ----------------------------------------------------------------------------------------------------------- tensors */

typedef void span_of(const test_problem *, int64_t *low, int64_t *high);

/* Places for tensors, in any order: returns the bytes that they take, and each one's element (0, ..., 0) in at[]. step: what all
 * places are a multiple of. */
static size_t place_all(test_rng *rng, const batch *b, span_of *span, size_t step, size_t *at) {
  int64_t low, high;
  span(&b->problem, &low, &high);
  const size_t width = test_type_bytes(b->problem.type), before = (size_t)-low * width;
  const size_t bytes = (size_t)(high - low) * width;
  size_t end = 0;
  int order[MOST_PAIRS];
  for (int i = 0; i < b->count; ++i) order[i] = i;
  test_shuffle(rng, order, b->count);
  for (int i = 0; i < b->count; ++i) {
    const size_t free_at = end + GAP + before + (size_t)test_random_in(rng, 0, 200);
    at[order[i]] = (free_at + step - 1) / step * step;
    end = at[order[i]] - before + bytes;
  }
  return (end + GAP + 15) / 16 * 16;
}

static void fill(unsigned char *memory, size_t bytes, const test_problem *p, uint64_t seed) {
  if (test_type_computes(p->type)) {
    test_fill_numbers(memory, bytes / 16 * 16, p->type, seed);
  } else {
    test_fill_bits(memory, bytes / 16 * 16, test_type_bytes(p->type), seed);
  }
}

/* Elements of the whole buffers are at multiples of their size, so that all of them are numbers where that matters. */
static bool open_batch(test_rng *rng, batch *b) {
  const test_limits limits = {1, 6, 700, 0, 30, 40, 1};
  memset(b, 0, sizeof *b);
  b->problem = test_random_problem(rng, &limits);
  const cuttProblem_t view = test_problem_view(&b->problem);
  assert_success(cutt_canonicalize(&view, &b->canonical));
  if (b->canonical.volume == 0) return false;
  b->count = (int)test_random_in(rng, 2, MOST_PAIRS);
  size_t in_at[MOST_PAIRS], out_at[MOST_PAIRS];
  const size_t width = test_type_bytes(b->problem.type), wide = test_chance(rng, 50) ? 16 : width;
  b->in_bytes = place_all(rng, b, test_in_span, wide, in_at);
  b->out_bytes = place_all(rng, b, test_out_span, wide, out_at);
  b->in = aligned_alloc(16, b->in_bytes);
  b->out = aligned_alloc(16, b->out_bytes);
  b->expected = aligned_alloc(16, b->out_bytes);
  assert_true(b->in && b->out && b->expected);
  fill(b->in, b->in_bytes, &b->problem, test_random(rng));
  fill(b->out, b->out_bytes, &b->problem, test_random(rng));
  memcpy(b->expected, b->out, b->out_bytes);
  for (int i = 0; i < b->count; ++i) {
    b->from[i] = b->in + in_at[i];
    b->to[i] = b->out + out_at[i];
    test_reference(&b->problem, b->from[i], b->expected + out_at[i]);
  }
  return true;
}

static void close_batch(batch *b) {
  free(b->in);
  free(b->out);
  free(b->expected);
}

/* ---------------------------------------------------------------------------------------------------------- launches */

/* Runs the pairs by as many launches as it takes. Returns how many those were. */
static int run(const cutt_device *device, const batch *b, const cutt_candidate *candidate, int most, bool async,
               simt_counts *counts) {
  static cutt_pairs pairs;
  int launches = 0;
  int64_t all = 0, written;
  for (int done = 0; done < b->count; ++launches) {
    cutt_gpu_batch list;
    cutt_gpu_launch launch;
    const char *why = "";
    char error[768], line[800];
    cutt_gpu_list_pairs(b->count - done, most, b->from + done, b->to + done, b->canonical.in_low, b->canonical.out_low,
                        &list, &pairs);
    assert_true(list.count >= 1 && (int)list.count <= b->count - done && (int)list.count <= most);
    test_problem_print(&b->problem, line, sizeof line);
    if (!cutt_gpu_lay_out_many(device, &b->canonical, candidate, list.in_align, list.out_align, list.count, &launch,
                               &why))
      fail_msg("%s: %s", why, line);
    assert_true(launch.shared_bytes <= (uint32_t)device->block_shared);
    simt_launch asked = simt_launch_of(&launch, &b->canonical, (const unsigned char *)list.in,
                                       (unsigned char *)list.out, async && device->major >= 8);
    asked.pairs = &pairs;
    asked.read = (simt_span){b->in, b->in_bytes};
    asked.write = (simt_span){b->out, b->out_bytes};
    if (!simt_run(&asked, &written, counts, error, sizeof error))
      fail_msg("%s, %u pairs: %s: %s", cutt_gpu_batched_name[launch.kernel], list.count, error, line);
    all += written;
    done += (int)list.count;
  }
  assert_int_equal(all, b->count * b->canonical.volume * b->canonical.elem_bytes);
  return launches;
}

static void compare(batch *b) {
  for (int i = 0; i < b->count; ++i) {
    test_same_nans(&b->problem, b->expected + ((unsigned char *)b->to[i] - b->out), b->to[i]);
  }
  if (!memcmp(b->out, b->expected, b->out_bytes)) return;
  char line[800];
  size_t at = 0;
  while (b->out[at] == b->expected[at]) ++at;
  test_problem_print(&b->problem, line, sizeof line);
  fail_msg("byte %zu of %zu of the outputs is wrong: %s", at, b->out_bytes, line);
}

static void random_batches(const cutt_device *device, int first) {
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  for (int i = first; i < test_scaled(PROBLEMS); i += 2) {
    test_rng rng = {test_mix((uint64_t)i)};
    batch b;
    if (!open_batch(&rng, &b)) continue;
    const int found = cutt_gpu_enumerate(device, CUTT_MODEL_IS_OWN, &b.canonical, list, CUTT_MAX_CANDIDATES);
    assert_true(found > 0);
    unsigned char *const before = malloc(b.out_bytes);
    assert_non_null(before);
    memcpy(before, b.out, b.out_bytes);
    for (int j = 0; j < 3 && j < found; ++j) {
      const cutt_candidate *candidate = &list[j == 0 ? 0 : test_random_in(&rng, 0, found - 1)];
      const int most = j == 2 ? 5 : CUTT_PAIRS;
      memcpy(b.out, before, b.out_bytes);
      assert_int_equal(run(device, &b, candidate, most, j != 1, NULL), (b.count + most - 1) / most);
      compare(&b);
    }
    free(before);
    close_batch(&b);
  }
}

static void batches_on_an_h200(void **unused) {
  (void)unused;
  random_batches(&simt_h200, 0);
}

static void batches_on_a_t4(void **unused) {
  (void)unused;
  random_batches(&simt_t4, 1);
}

/* As many sectors as by single launches, and tiles in turns for the blocks of the device. */
static void counts_are_those_of_single_launches(void **unused) {
  (void)unused;
  enum { PAIRS = 20, BYTES = 8 * 8 * 8 * 8 };
  static const int64_t extents[] = {8, 8, 8};
  static const int perm[] = {2, 1, 0};
  static _Alignas(256) unsigned char in[PAIRS * BYTES], out[PAIRS * BYTES];
  batch b = {.problem = test_packed(CUTT_BYTES_8, 3, extents, perm), .count = PAIRS};
  const cuttProblem_t view = test_problem_view(&b.problem);
  cutt_candidate candidate;
  simt_counts one, many;
  int64_t written;
  char error[768];
  const char *why = "";
  cutt_gpu_launch launch;
  memset(&one, 0, sizeof one);
  memset(&many, 0, sizeof many);
  assert_success(cutt_canonicalize(&view, &b.canonical));
  assert_int_equal(cutt_gpu_enumerate(&simt_h200, CUTT_MODEL_IS_OWN, &b.canonical, &candidate, 1), 1);
  candidate.param[CUTT_GPU_PARAM_FLAT] = 0; /* as batches are */
  assert_true(cutt_gpu_lay_out(&simt_h200, &b.canonical, &candidate, 16, 16, &launch, &why));
  const simt_launch asked = simt_launch_of(&launch, &b.canonical, in, out, true);
  assert_true(simt_run(&asked, &written, &one, error, sizeof error));
  b.in = in, b.out = out;
  b.in_bytes = b.out_bytes = sizeof in;
  for (int i = 0; i < PAIRS; ++i) {
    b.from[i] = in + (size_t)i * BYTES;
    b.to[i] = out + (size_t)(PAIRS - 1 - i) * BYTES;
  }
  assert_int_equal(run(&simt_h200, &b, &candidate, CUTT_PAIRS, true, &many), 1);
  assert_int_equal(many.load_sectors, PAIRS * one.load_sectors);
  assert_int_equal(many.store_sectors, PAIRS * one.store_sectors);
  assert_int_equal(many.load_requests, PAIRS * one.load_requests);
  assert_int_equal(many.store_requests, PAIRS * one.store_requests);
  /* Thousands of blocks of memory keep every multiprocessor at work, and each block has several of them. */
  assert_true(cutt_gpu_lay_out_many(&simt_h200, &b.canonical, &candidate, 16, 16, 10000, &launch, &why));
  assert_true(launch.blocks >= (uint32_t)simt_h200.sms);
  assert_true(launch.args.block_tiles > 1);
  assert_true(launch.args.stages > 1);
}

/* ------------------------------------------------------------------------------------------------------------- lists */

static void *address(uint64_t number) { return (void *)(uintptr_t)number; }

/* Distances in steps, and fewer pairs where those are too large. */
static void far_apart(void **unused) {
  (void)unused;
  enum { COUNT = 4 };
  static cutt_pairs pairs;
  cutt_gpu_batch list;
  const uint64_t base = UINT64_C(0x7f0000000000);
  const void *in[COUNT] = {address(base + 512), address(base), address(base + (UINT64_C(1) << 39)),
                           address(base + 256)};
  void *out[COUNT] = {address(base + 24), address(base + 8), address(base + 16), address(base)};
  cutt_gpu_list_pairs(COUNT, CUTT_PAIRS, in, out, 0, 0, &list, &pairs);
  assert_int_equal(list.count, COUNT);
  assert_true(list.in == base && list.out == base);
  assert_int_equal(list.in_align, 16);
  assert_int_equal(list.out_align, 8);
  assert_int_equal(pairs.in_log2, 8);
  assert_int_equal(pairs.out_log2, 3);
  for (int i = 0; i < COUNT; ++i) {
    assert_true(list.in + ((uint64_t)pairs.at[i].in << pairs.in_log2) == (uintptr_t)in[i]);
    assert_true(list.out + ((uint64_t)pairs.at[i].out << pairs.out_log2) == (uintptr_t)out[i]);
  }
  in[3] = address(base + 4); /* steps of 4 bytes: 2^39 are too many of them */
  cutt_gpu_list_pairs(COUNT, CUTT_PAIRS, in, out, 0, 0, &list, &pairs);
  assert_int_equal(list.count, 2);
  cutt_gpu_list_pairs(COUNT - 2, CUTT_PAIRS, in + 2, out + 2, 0, 0, &list, &pairs);
  assert_int_equal(list.count, 1);
  assert_true(list.in == (uintptr_t)in[2] && list.out == (uintptr_t)out[2]);
  assert_int_equal(pairs.at[0].in, 0);
  assert_int_equal(pairs.at[0].out, 0);
  cutt_gpu_list_pairs(COUNT, 3, in, out, 0, 0, &list, &pairs);
  assert_int_equal(list.count, 3);
}

static void launches_have_room(void **unused) {
  (void)unused;
  _Static_assert(16 + sizeof(cutt_kernel_args) + sizeof(cutt_pairs) <= CUTT_PARAMETER_BYTES, "the parameters");
  assert_int_equal(cutt_gpu_most_problems(1, CUTT_PARAMETER_BYTES), CUTT_PAIRS);
  assert_int_equal(cutt_gpu_most_problems(1, CUTT_PARAMETER_BYTES - 80), CUTT_PAIRS - 10);
  assert_int_equal(cutt_gpu_most_problems(INT32_MAX / 3, CUTT_PARAMETER_BYTES), 3);
  assert_int_equal(cutt_gpu_most_problems(INT32_MAX, CUTT_PARAMETER_BYTES), 1);
  assert_int_equal(cutt_gpu_most_problems(1, 0), 0);
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(far_apart), cmocka_unit_test(launches_have_room),
                                     cmocka_unit_test(counts_are_those_of_single_launches),
                                     cmocka_unit_test(batches_on_an_h200), cmocka_unit_test(batches_on_a_t4)};
  return cmocka_run_group_tests_name("batched", tests, NULL, cleanup);
}
