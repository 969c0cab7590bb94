/* The kernels that measure a device, under the emulator: chases go where they should, sums are sums. */
#include <stdlib.h>

#include "gpu/kernels/args.h"
#include "runtime/cuda/kernels/device.h"
#include "runtime/cuda/kernels/probe_args.h"
#include "simt/launch.h"
#include "support/check.h"

_Static_assert(sizeof(cutt_probe_args) == sizeof(cutt_kernel_args), "an empty launch is one of a plan's");

/* The emulator passes the parameters of a permutation: the bytes are taken for those of a measurement. */
#define DECLARE(name)                                                                                                  \
  void cutt_##name(const unsigned char *in, unsigned char *out, cutt_probe_args args);                                 \
  extern const uint32_t cutt_##name##_most_threads;                                                                    \
  static void name(const unsigned char *in, unsigned char *out, cutt_kernel_args args) {                               \
    cutt_probe_args own;                                                                                               \
    memcpy(&own, &args, sizeof own);                                                                                   \
    cutt_##name(in, out, own);                                                                                         \
  }
CUTT_PROBE_KERNELS(DECLARE)

enum { WINDOWS = 2, LINES = WINDOWS * CUTT_PROBE_WINDOW_LINES, BYTES = LINES * CUTT_PROBE_LINE, OUT_BYTES = 1 << 16 };

static unsigned char *memory; /* BYTES, with chains */
static unsigned char output[OUT_BYTES] __attribute__((aligned(128)));

static uint32_t word_at(const unsigned char *at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static const unsigned char *address_at(const unsigned char *at) {
  uint64_t bits;
  memcpy(&bits, at, sizeof bits);
  return (const unsigned char *)(uintptr_t)bits;
}

static int64_t run(simt_launch launch, const cutt_probe_args *own) {
  char error[512] = "";
  int64_t written = 0;
  cutt_kernel_args args;
  memcpy(&args, own, sizeof args);
  launch.args = &args;
  if (!launch.out) launch.out = output;
  if (!launch.write.low) launch.write = (simt_span){output, OUT_BYTES};
  launch.in = memory;
  launch.read = (simt_span){memory, BYTES};
  if (!simt_run(&launch, &written, NULL, error, sizeof error)) fail_msg("%s", error);
  return written;
}

static int make_chains(void **unused) {
  (void)unused;
  memory = aligned_alloc(CUTT_PROBE_LINE, BYTES);
  if (!memory) return -1;
  memset(memory, 0, BYTES);
  const cutt_probe_args none = {0};
  const int64_t written = run((simt_launch){.kernel = probe_chain,
                                            .out = memory,
                                            .blocks = LINES / CUTT_PROBE_THREADS,
                                            .threads = CUTT_PROBE_THREADS,
                                            .write = {memory, BYTES}},
                              &none);
  return written == (int64_t)8 * LINES ? 0 : -1;
}

static size_t line_at(const unsigned char *at) {
  const size_t offset = (size_t)(at - memory);
  assert_true(offset < BYTES && offset % CUTT_PROBE_LINE == 0);
  return offset / CUTT_PROBE_LINE;
}

/* The chains of a window are 32 rings that have all of its cache lines, and no ring has steps of one size. */
static void chains(void **unused) {
  (void)unused;
  enum { RING = CUTT_PROBE_WINDOW_LINES / CUTT_PROBE_LANES };
  unsigned char *seen = calloc(LINES, 1);
  assert_non_null(seen);
  for (size_t first = 0; first < LINES; ++first) {
    if (seen[first]) continue;
    size_t line = first, steps = 0, alike = 0, step = 0;
    do {
      assert_int_equal(seen[line], 0);
      seen[line] = 1;
      const size_t next = line_at(address_at(memory + line * CUTT_PROBE_LINE));
      assert_int_equal(next / CUTT_PROBE_WINDOW_LINES, first / CUTT_PROBE_WINDOW_LINES);
      if (next - line == step) ++alike;
      step = next - line;
      line = next;
      ++steps;
    } while (line != first && steps <= RING);
    assert_int_equal(steps, RING);
    if (alike > RING / 16) fail_msg("%zu of %d steps are as the one before", alike, RING);
  }
  free(seen);
}

static void chase(void **unused) {
  (void)unused;
  unsigned char *seen = calloc(LINES, 1);
  assert_non_null(seen);
  for (uint32_t lanes = 1; lanes <= CUTT_PROBE_LANES; lanes += 31) {
    for (uint32_t half = 0; half < 2 * WINDOWS; ++half) {
      cutt_probe_args args = {.accesses = CUTT_PROBE_ACCESSES, .place = half * (CUTT_PROBE_WINDOW_LINES / 2)};
      simt_launch launch = {
          .kernel = probe_chase, .blocks = 1, .threads = lanes, .shared_bytes = 4 * (CUTT_PROBE_ACCESSES + 1)};
      /* With no accesses but the untimed one, each lane writes the place after its first. */
      const unsigned char *at[CUTT_PROBE_LANES];
      args.accesses = 0;
      assert_int_equal(run(launch, &args), 8 * lanes);
      for (uint32_t i = 0; i < lanes; ++i) at[i] = address_at(output + 8 * i);
      args.accesses = CUTT_PROBE_ACCESSES;
      assert_int_equal(run(launch, &args), 8 * lanes + 4 * CUTT_PROBE_ACCESSES);
      for (uint32_t i = 0; i < lanes; ++i) {
        for (int step = 0; step < CUTT_PROBE_ACCESSES; ++step) {
          const size_t line = line_at(at[i]);
          assert_int_equal(line / CUTT_PROBE_WINDOW_LINES, half / 2);
          if (lanes == CUTT_PROBE_LANES)
            assert_int_equal(seen[line]++, 0); /* by no other lane, nor in the other half */
          at[i] = address_at(at[i]);
        }
        assert_ptr_equal(at[i], address_at(output + 8 * i));
      }
      /* The emulator's clock goes on by one each time that the thread reads it. */
      for (int i = 0; i < CUTT_PROBE_ACCESSES; ++i) assert_int_equal(word_at(output + CUTT_PROBE_CYCLES_AT + 4 * i), 1);
    }
  }
  free(seen);
}

static void shared(void **unused) {
  (void)unused;
  const cutt_probe_args args = {.accesses = 3 * CUTT_PROBE_SHARED_WORDS + 5};
  const int64_t written = run((simt_launch){.kernel = probe_shared,
                                            .blocks = 1,
                                            .threads = CUTT_PROBE_LANES,
                                            .shared_bytes = 4 * CUTT_PROBE_LANES * CUTT_PROBE_SHARED_WORDS},
                              &args);
  assert_int_equal(written, 4 * CUTT_PROBE_LANES + 4);
  for (uint32_t i = 0; i < CUTT_PROBE_LANES; ++i)
    assert_int_equal(word_at(output + 4 * i), 4 * (5 * CUTT_PROBE_LANES + i));
  assert_int_equal(word_at(output + CUTT_PROBE_SHARED_AT), 1);
}

/* A thread writes its sum if that is the one asked for, and no other thread writes. */
static void reading(void **unused) {
  (void)unused;
  enum { BLOCKS = 2 };
  unsigned char *kept = malloc(BLOCKS * CUTT_PROBE_BLOCK_BYTES);
  assert_non_null(kept);
  memcpy(kept, memory, BLOCKS * CUTT_PROBE_BLOCK_BYTES);
  for (uint32_t i = 0; i < BLOCKS * CUTT_PROBE_BLOCK_BYTES / 4; ++i) {
    const uint32_t word = (i + 1) * 2654435761u;
    memcpy(memory + 4 * (size_t)i, &word, sizeof word);
  }
  for (uint32_t thread = 0; thread < BLOCKS * CUTT_PROBE_THREADS; thread += 37) {
    cutt_probe_args args = {.word = 0};
    const uint32_t from = thread / CUTT_PROBE_THREADS * CUTT_PROBE_BLOCK_BYTES + thread % CUTT_PROBE_THREADS * 16;
    for (uint32_t j = 0; j < CUTT_PROBE_VECTORS; ++j) {
      for (uint32_t i = 0; i < 4; ++i) args.word += word_at(memory + from + j * CUTT_PROBE_THREADS * 16 + 4 * i);
    }
    const simt_launch launch = {.kernel = probe_read, .blocks = BLOCKS, .threads = CUTT_PROBE_THREADS};
    assert_int_equal(run(launch, &args), 4);
    assert_int_equal(word_at(output + 4 * (size_t)thread), args.word);
    ++args.word;
    assert_int_equal(run(launch, &args), 0);
  }
  memcpy(memory, kept, BLOCKS * CUTT_PROBE_BLOCK_BYTES);
  free(kept);
}

static void writing(void **unused) {
  (void)unused;
  enum { BLOCKS = OUT_BYTES / CUTT_PROBE_BLOCK_BYTES };
  const cutt_probe_args args = {.word = 0x12345678};
  memset(output, 0, sizeof output);
  const int64_t written =
      run((simt_launch){.kernel = probe_write, .blocks = BLOCKS, .threads = CUTT_PROBE_THREADS}, &args);
  assert_int_equal(written, OUT_BYTES); /* each byte once */
  for (size_t i = 0; i < OUT_BYTES; i += 4) assert_int_equal(word_at(output + i), args.word);
}

static void nothing(void **unused) {
  (void)unused;
  const cutt_probe_args args = {.word = 1};
  assert_int_equal(run((simt_launch){.kernel = probe_empty, .blocks = 2, .threads = 32}, &args), 0);
}

static void threads(void **unused) {
  (void)unused;
  assert_int_equal(cutt_probe_chase_most_threads, CUTT_PROBE_LANES);
  assert_int_equal(cutt_probe_shared_most_threads, CUTT_PROBE_LANES);
  assert_int_equal(cutt_probe_empty_most_threads, CUTT_PROBE_LANES);
  assert_int_equal(cutt_probe_chain_most_threads, CUTT_PROBE_THREADS);
  assert_int_equal(cutt_probe_read_most_threads, CUTT_PROBE_THREADS);
  assert_int_equal(cutt_probe_write_most_threads, CUTT_PROBE_THREADS);
}

static int cleanup(void **unused) {
  (void)unused;
  free(memory);
  simt_cleanup();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains),  cmocka_unit_test(chase),   cmocka_unit_test(shared),  cmocka_unit_test(reading),
      cmocka_unit_test(writing), cmocka_unit_test(nothing), cmocka_unit_test(threads),
  };
  return cmocka_run_group_tests_name("probe kernels", tests, make_chains, cleanup);
}
