/* The emulator itself: every kind of fault is found in a small kernel that has it, and patterns whose counts are known
 * are counted so. The kernels take what they do from args.tiles. */
#include <stdio.h>

#include "runtime/cuda/kernels/early.h"
#include "simt/launch.h"
#include "support/check.h"
#include "support/reference.h"

enum { BYTES = 1 << 16, SHARED = 8192 };

static unsigned char input[BYTES] __attribute__((aligned(64)));
static unsigned char output[BYTES] __attribute__((aligned(64)));

#define PARAMETERS (const unsigned char *in, unsigned char *out, CONSTANT(cutt_kernel_args) args)

static simt_launch launch_of(simt_kernel *kernel, uint32_t blocks, uint32_t threads, const cutt_kernel_args *args) {
  return (simt_launch){.kernel = kernel,
                       .in = input,
                       .out = output,
                       .args = args,
                       .blocks = blocks,
                       .threads = threads,
                       .shared_bytes = SHARED,
                       .async = true,
                       .read = {input, BYTES},
                       .write = {output, BYTES}};
}

static void finds(simt_kernel *kernel, uint32_t which, const char *text) {
  char error[512] = "";
  int64_t written;
  cutt_kernel_args args = {.tiles = which};
  simt_launch launch = launch_of(kernel, 2, 64, &args);
  if (simt_run(&launch, &written, NULL, error, sizeof error)) fail_msg("case %u: \"%s\" is not found", which, text);
  if (!strstr(error, text)) fail_msg("case %u: \"%s\" instead of \"%s\"", which, error, text);
  /* The emulator is as new afterwards. */
  simt_counts counts = {0};
  if (simt_run(&launch, &written, &counts, error, sizeof error) || !strstr(error, text))
    fail_msg("not found again: %s", error);
}

static void passes(simt_kernel *kernel, uint32_t which, uint32_t threads, bool async, simt_counts *counts) {
  char error[512] = "";
  int64_t written;
  cutt_kernel_args args = {.tiles = which};
  simt_launch launch = launch_of(kernel, 1, threads, &args);
  launch.async = async;
  if (!simt_run(&launch, &written, counts, error, sizeof error)) fail_msg("case %u: %s", which, error);
}

/* ------------------------------------------------------------------------------------------------- global memory */

KERNEL(global_faults, 256, 1) PARAMETERS {
  const uint32_t t = thread_index();
  switch (args.tiles) {
    case 0:
      global_load4(in + BYTES - 4 * t); /* thread 0 reads behind the end */
      break;
    case 1:
      global_load8(in - 8);
      break;
    case 2:
      global_load4(in + 2);
      break;
    case 3:
      global_store4(out + BYTES - 4 * t, 1);
      break;
    case 4: {
      const word4 v = {0, 0, 0, 0};
      global_store16(out + 8, v);
      break;
    }
    case 5:
      global_store1(out + t / 2, 1);
      break;
    case 6: /* by both blocks */
      global_store2(out + 2 * t, 1);
      break;
    case 7:
      global_store4((unsigned char *)(uintptr_t)in, 1);
      break;
    case 8:
      global_load1(out);
      break;
    default:
      async_copy16(0, in + BYTES - 8, false);
  }
}

static void global_memory(void **unused) {
  (void)unused;
  finds(global_faults, 0, "reads 4 bytes outside");
  finds(global_faults, 1, "reads 8 bytes outside");
  finds(global_faults, 2, "not aligned");
  finds(global_faults, 3, "writes 4 bytes outside");
  finds(global_faults, 4, "not aligned");
  finds(global_faults, 5, "written before");
  finds(global_faults, 6, "written before");
  finds(global_faults, 7, "writes 4 bytes outside");
  finds(global_faults, 8, "may not be read");
  finds(global_faults, 9, "not aligned");
}

/* Accesses of all kinds before the thread waits for what is earlier in the stream, and behind that. */
KERNEL(early_faults, 256, 1) PARAMETERS {
  const uint32_t t = thread_index(), which = args.tiles;
  if (which == 0) global_load4(in + 4 * t);
  if (which == 1) global_store4(out + 4 * t, 1);
  if (which == 2) async_copy4(4 * t, in + 4 * t, false);
  if (which != 3 || t != 40) wait_for_earlier(true);
  global_store4(out + 8192 + 4 * (block_index() * thread_count() + t), global_load4(in + 4 * t));
}

static void too_early(void **unused) {
  (void)unused;
  static const char *const text[] = {"reads 4 bytes before", "writes 4 bytes before", "reads 4 bytes before",
                                     "thread 40 of block 0: reads 4 bytes before"};
  for (uint32_t i = 0; i < 4; ++i) {
    char error[512] = "";
    int64_t written;
    const cutt_kernel_args args = {.tiles = i};
    simt_launch launch = launch_of(early_faults, 2, 64, &args);
    launch.early = true;
    assert_false(simt_run(&launch, &written, NULL, error, sizeof error));
    if (!strstr(error, text[i])) fail_msg("case %u: \"%s\" instead of \"%s\"", i, error, text[i]);
  }
  const cutt_kernel_args args = {.tiles = 4};
  char error[512] = "";
  int64_t written;
  simt_launch launch = launch_of(early_faults, 2, 64, &args);
  launch.early = true;
  if (!simt_run(&launch, &written, NULL, error, sizeof error)) fail_msg("%s", error);
}

/* ------------------------------------------------------------------------------------------------- shared memory */

KERNEL(shared_faults, 256, 1) PARAMETERS {
  const uint32_t t = thread_index(), next = (t + 1) % thread_count();
  (void)in;
  (void)out;
  switch (args.tiles) {
    case 0:
      shared_store4(SHARED - 4 * t, 1);
      break;
    case 1:
      shared_store8(4, double_to_bits(1));
      break;
    case 2: /* read before it is written */
      shared_load4(4 * t);
      break;
    case 3: /* by half */
      shared_store2(4 * t, 1);
      shared_load4(4 * t);
      break;
    case 4: /* no barrier before the read */
      shared_store4(4 * t, t);
      if (t > 0) shared_load4(4 * (t - 1));
      break;
    case 5: /* both write */
      shared_store4(4 * (t / 2), t);
      break;
    case 6: /* no barrier behind the read */
      shared_store4(4 * t, t);
      barrier();
      shared_load4(4 * next);
      shared_store4(4 * t, t);
      break;
    case 7: /* several read what one of them then writes */
      if (t == 0) shared_store1(0, 1);
      barrier();
      shared_load1(0);
      if (t + 1 == thread_count()) shared_store1(0, 1);
      break;
    default: /* what block 0 wrote is not there for block 1 */
      if (block_index() == 0) shared_store4(4 * t, t);
      barrier();
      shared_load4(4 * t);
  }
}

static void shared_memory(void **unused) {
  (void)unused;
  finds(shared_faults, 0, "which has 8192");
  finds(shared_faults, 1, "not aligned");
  finds(shared_faults, 2, "nothing has been written");
  finds(shared_faults, 3, "nothing has been written");
  finds(shared_faults, 4, "another thread wrote");
  finds(shared_faults, 5, "another thread wrote");
  finds(shared_faults, 6, "another thread read");
  finds(shared_faults, 7, "another thread read");
  finds(shared_faults, 8, "nothing has been written");
}

/* A ring of two places, as the kernels use it: right with case 0. */
KERNEL(ring, 256, 1) PARAMETERS {
  const uint32_t t = thread_index(), threads = thread_count(), next = (t + 1) % threads, which = args.tiles;
  for (uint32_t i = 0; i < 6; ++i) {
    if (i < 5) async_copy16(i % 2 * 4096 + 16 * t, in + 16 * (i * threads + t), false);
    if (which != 1) async_commit();
    if (i == 0) continue;
    if (which != 2) async_wait(which == 3 ? 2 : 1);
    if (which != 4) barrier();
    const uint32_t from = (i - 1) % 2 * 4096 + 16 * (which == 5 ? t : next);
    global_store16(out + 16 * ((i - 1) * threads + next), shared_load16(from));
    if (which != 6) barrier();
  }
}

static void copies(void **unused) {
  (void)unused;
  for (int i = 0; i < BYTES; ++i) input[i] = (unsigned char)(i * 7 + i / 256);
  for (int async = 0; async < 2; ++async) {
    memset(output, 0, sizeof output);
    passes(ring, 0, 192, async, NULL);
    assert_memory_equal(output, input, 16 * 192 * 5);
  }
  finds(ring, 1, "a copy is under way"); /* not committed, so not waited for */
  finds(ring, 2, "a copy is under way");
  finds(ring, 3, "a copy is under way");
  finds(ring, 4, "nothing has been written");
  finds(ring, 6, "another thread read");
}

KERNEL(copy_faults, 256, 1) PARAMETERS {
  const uint32_t t = thread_index();
  (void)out;
  async_copy4(4 * t, in + 4 * t, false);
  if (args.tiles == 0) shared_store4(4 * t, 1);
  if (args.tiles == 1) async_copy4(4 * t, in + 4 * t, false);
  async_commit();
  if (args.tiles == 2) return;
  async_wait(0);
  if (args.tiles == 3 && t == 1) async_copy4(0, in, false);
}

static void copies_apart(void **unused) {
  (void)unused;
  finds(copy_faults, 0, "to which a copy is under way");
  finds(copy_faults, 1, "to which a copy is under way");
  finds(copy_faults, 2, "ends while a copy is under way");
  finds(copy_faults, 3, "another thread");
}

/* ------------------------------------------------------------------------------------------------------ meetings */

KERNEL(meeting_faults, 256, 1) PARAMETERS {
  const uint32_t t = thread_index();
  (void)in;
  (void)out;
  switch (args.tiles) {
    case 0:
      if (t < 40) barrier();
      break;
    case 1:
      if (t < 40)
        barrier();
      else
        barrier();
      break;
    case 2:
      for (uint32_t i = 0; i < (t == 9 ? 3u : 2u); ++i) barrier();
      break;
    case 3:
      if (t % 32 < 16) ballot(true);
      break;
    case 4: {
      double sum[4] = {0, 0, 0, 0};
      const double a[2] = {1, 2};
      if (t % 32 != 5) multiply_add_matrix(sum, a, 3);
      break;
    }
    default:
      if (t % 2 == 0)
        shuffle_xor(t, 2);
      else
        barrier();
  }
}

static void meetings(void **unused) {
  (void)unused;
  for (uint32_t i = 0; i < 6; ++i) finds(meeting_faults, i, "threads don't meet");
  char error[512];
  int64_t written;
  cutt_kernel_args args = {.tiles = 0};
  simt_launch launch = launch_of(meeting_faults, 1, 2000, &args);
  assert_false(simt_run(&launch, &written, NULL, error, sizeof error));
}

KERNEL(exchanges, 256, 1) PARAMETERS {
  const uint32_t t = thread_index();
  (void)in;
  (void)args;
  uint32_t sum = t;
  for (uint32_t lanes = 1; lanes < 32; lanes *= 2) sum += shuffle_xor(sum, lanes);
  global_store4(out + 8 * t, sum);
  global_store4(out + 8 * t + 4, ballot(t % 3 == 0));
}

static void shuffles_and_votes(void **unused) {
  (void)unused;
  passes(exchanges, 0, 96, true, NULL);
  for (uint32_t t = 0; t < 96; ++t) {
    uint32_t got[2], votes = 0;
    memcpy(got, output + 8 * t, 8);
    for (uint32_t lane = 0; lane < 32; ++lane)
      if ((t / 32 * 32 + lane) % 3 == 0) votes |= 1u << lane;
    assert_int_equal(got[0], 32 * (t / 32 * 32) + 31 * 32 / 2);
    assert_int_equal(got[1], votes);
  }
}

enum { MATRIX_ROWS = 16, MATRIX_COLUMNS = 8, MATRIX_TERMS = 4 };

static double left_at(uint32_t row, uint32_t term) { return (double)(row + 1) + 100 * (double)(term + 1); }
static double right_at(uint32_t term, uint32_t column) { return 0.1 * (double)(term + 1) + (double)(column * column); }

KERNEL(matrices, 256, 1) PARAMETERS {
  const uint32_t t = thread_index(), lane = t % 32, g = lane / 4, q = lane % 4;
  const double a[2] = {left_at(g, q), left_at(g + 8, q)};
  double sum[4] = {1, 2, 3, 4};
  (void)in;
  (void)args;
  multiply_add_matrix(sum, a, right_at(q, g) + t / 32);
  for (uint32_t i = 0; i < 4; ++i) global_store8(out + 32 * t + 8 * i, double_to_bits(sum[i]));
}

static void products_of_matrices(void **unused) {
  (void)unused;
  passes(matrices, 0, 64, true, NULL);
  for (uint32_t t = 0; t < 64; ++t) {
    double got[4];
    memcpy(got, output + 32 * t, sizeof got);
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t row = t % 32 / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2;
      double sum = i + 1;
      for (uint32_t term = 0; term < MATRIX_TERMS; ++term)
        sum = fma(left_at(row, term), right_at(term, column) + t / 32, sum);
      assert_true(row < MATRIX_ROWS && column < MATRIX_COLUMNS && got[i] == sum);
    }
  }
  /* A warp that is cut short has no whole matrices. */
  char error[512] = "";
  int64_t written;
  cutt_kernel_args args = {.tiles = 0};
  simt_launch launch = launch_of(matrices, 1, 40, &args);
  assert_false(simt_run(&launch, &written, NULL, error, sizeof error));
  assert_non_null(strstr(error, "8 threads multiply matrices"));
}

/* -------------------------------------------------------------------------------------------------------- counts */

/* Words: stride 1, stride 32, stride 33 (padded), all the same; wide ones; a row that begins 4 bytes behind a sector. */
KERNEL(patterns, 256, 1) PARAMETERS {
  const uint32_t t = thread_index(), which = args.tiles;
  const word4 wide = {t, t, t, t};
  switch (which) {
    case 0:
      global_store4(out + 4 * t, global_load4(in + 4 * t));
      break;
    case 1:
      global_store4(out + 128 * t, global_load4(in + 128 * t));
      break;
    case 2:
      global_store4(out + 4 + 4 * t, global_load4(in + 4 + 4 * t));
      break;
    case 3:
      shared_store4(4 * t, t);
      break;
    case 4:
      shared_store4(4 * (t % 32) * 32, t);
      break;
    case 5:
      shared_store4(4 * (t % 32) * 33, t);
      break;
    case 6:
      if (t == 0) shared_store4(0, 1);
      barrier();
      shared_load4(0);
      break;
    case 7:
      shared_store16(16 * t, wide);
      break;
    case 8: /* 16 bytes, 128 apart: each quarter's eight lanes in the same four banks */
      shared_store16(128 * t, wide);
      break;
    case 9:
      shared_store8(8 * t, double_to_bits(1));
      break;
    case 10: /* two lanes only */
      if (t == 3 || t == 30) global_store16(out + 16 * t, wide);
      break;
    case 11: /* several iterations, and lanes that take part in the first only */
      for (uint32_t i = 0; i < (t < 16 ? 4u : 1u); ++i) global_load4(in + 4 * t + 128 * i);
      break;
    default: /* the same sectors twice, and then behind a barrier */
      global_load4(in + 4 * t);
      global_load4(in + 4 * t);
      barrier();
      global_load4(in + 4 * t);
  }
}

static simt_counts count(uint32_t which) {
  simt_counts counts = {0};
  passes(patterns, which, 32, true, &counts);
  return counts;
}

static void global_counts(void **unused) {
  (void)unused;
  simt_counts c = count(0);
  assert_int_equal(c.load_requests, 1);
  assert_int_equal(c.load_bytes, 128);
  assert_int_equal(c.load_sectors, 4);
  assert_int_equal(c.store_requests, 1);
  assert_int_equal(c.store_sectors, 4);
  assert_int_equal(c.store_sectors_whole, 4);
  assert_int_equal(c.tile_store_sectors_whole, 4);
  c = count(1);
  assert_int_equal(c.load_sectors, 32);
  assert_int_equal(c.store_sectors, 32);
  assert_int_equal(c.store_sectors_whole, 0);
  c = count(2);
  assert_int_equal(c.load_sectors, 5);
  assert_int_equal(c.store_sectors, 5);
  assert_int_equal(c.store_sectors_whole, 3);
  c = count(10);
  assert_int_equal(c.store_sectors, 2);
  assert_int_equal(c.store_sectors_whole, 0);
  c = count(11);
  assert_int_equal(c.load_requests, 4);
  assert_int_equal(c.load_sectors, 4 + 3 * 2);
  c = count(12);
  assert_int_equal(c.load_requests, 3);
  assert_int_equal(c.load_sectors, 12);
  assert_int_equal(c.tile_load_sectors, 8);
  simt_counts two = {0};
  passes(patterns, 0, 64, true, &two);
  assert_int_equal(two.load_requests, 2);
  assert_int_equal(two.load_sectors, 8);
}

static void shared_is(uint32_t which, int64_t requests, int64_t wavefronts, int64_t ideal) {
  const simt_counts c = count(which);
  if (c.shared[1].requests != requests || c.shared[1].wavefronts != wavefronts || c.shared[1].ideal != ideal)
    fail_msg("pattern %u: %d requests, %d wavefronts, %d ideal", which, (int)c.shared[1].requests,
             (int)c.shared[1].wavefronts, (int)c.shared[1].ideal);
}

static void shared_counts(void **unused) {
  (void)unused;
  shared_is(3, 1, 1, 1);
  shared_is(4, 1, 32, 1);
  shared_is(5, 1, 1, 1);
  shared_is(6, 2, 2, 2);
  shared_is(7, 1, 4, 4);
  shared_is(8, 1, 32, 4);
  shared_is(9, 1, 2, 2);
}

/* ---------------------------------------------------------------------------------------------------- arithmetic */

static void arithmetic(void **unused) {
  (void)unused;
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = (uint16_t)i;
    const float half = half_to_float(bits), bfloat = bfloat_to_float(bits);
    if (half == half) {
      assert_true((double)half == test_half_to_double(bits));
      assert_int_equal(float_to_half(half), bits);
    }
    if (bfloat == bfloat) assert_int_equal(float_to_bfloat(bfloat), bits);
  }
  test_rng rng = {1};
  for (int i = 0; i < 300000; ++i) {
    const float f = bits_to_float((uint32_t)test_random(&rng));
    if (f != f) continue;
    assert_int_equal(float_to_half(f), test_half_from(f));
    assert_int_equal(float_to_bfloat(f), test_bfloat_from(f));
  }
  assert_int_equal(rotate_left(0x80000001u, 4), 0x18);
  assert_int_equal(rotate_left(5, 32), 5);
  assert_int_equal(multiply_high(0xffffffffu, 0xffffffffu), 0xfffffffeu);
}

static int cleanup(void **unused) {
  (void)unused;
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(too_early),          cmocka_unit_test(global_memory),
      cmocka_unit_test(shared_memory),      cmocka_unit_test(copies),
      cmocka_unit_test(copies_apart),       cmocka_unit_test(meetings),
      cmocka_unit_test(shuffles_and_votes), cmocka_unit_test(products_of_matrices),
      cmocka_unit_test(global_counts),      cmocka_unit_test(shared_counts),
      cmocka_unit_test(arithmetic),
  };
  return cmocka_run_group_tests_name("simt", tests, NULL, cleanup);
}
