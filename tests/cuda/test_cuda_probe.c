/* Measuring a GPU against the fake driver: what is made of the numbers that kernels write and events tell, that nothing is
 * left behind, and every call of the driver failing in turn. */
#include "runtime/cuda/probe.h"

#include <math.h>
#include <string.h>

#include "cuda/fixture.h"
#include "runtime/cuda/kernels/probe_args.h"

enum { MIB = 1 << 20, WINDOW = CUTT_PROBE_WINDOW_LINES * CUTT_PROBE_LINE, MOST_CHASES = 1024, SHARED_CYCLES = 23 };

static void near_to(double value, double expected) {
  if (!(fabs(value - expected) <= 1e-5 * fabs(expected))) fail_msg("%g instead of %g", value, expected);
}

/* -------------------------------------------------------------------------------------------------- a device of ours */

static struct {
  unsigned place[MOST_CHASES];
  int chases;
  size_t chained, read, written; /* bytes of the last launch of each kind */
  int other;                     /* kernels that have no business here */
} seen;

static void write_word(unsigned long long at, uint32_t word) { memcpy((void *)(uintptr_t)at, &word, sizeof word); }

/* 600 cycles, and 5 more for each lane; with two peaks, and some very slow accesses. */
static void write_cycles(const fake_launch *launch) {
  for (unsigned i = 0; i < CUTT_PROBE_ACCESSES; ++i) {
    const unsigned cycles = 600 + 5 * (launch->threads - 1) + (i % 2 ? 40 : -40u);
    write_word(launch->out + CUTT_PROBE_CYCLES_AT + 4 * i, i % 10 == 7 ? 100000 : i % 10 == 2 ? 1 : cycles);
  }
}

static double device_seconds(const fake_launch *launch) {
  const cutt_probe_args *args = launch->args;
  const char *kernel = launch->kernel;
  if (!strcmp(kernel, "cutt_probe_chase")) {
    if (seen.chases < MOST_CHASES) seen.place[seen.chases++] = args->place;
    if (launch->blocks != 1 || launch->threads > 32 || launch->shared_bytes < 4 * (args->accesses + 1)) ++seen.other;
    write_cycles(launch);
    return 1e-4;
  }
  if (!strcmp(kernel, "cutt_probe_shared")) {
    write_word(launch->out + CUTT_PROBE_SHARED_AT, SHARED_CYCLES * args->accesses);
    return 1e-5;
  }
  const size_t blocks = launch->blocks;
  if (!strcmp(kernel, "cutt_probe_chain")) {
    seen.chained = blocks * launch->threads * CUTT_PROBE_LINE;
    return 1e-3;
  }
  if (!strcmp(kernel, "cutt_probe_read")) {
    seen.read = blocks * CUTT_PROBE_BLOCK_BYTES;
    return 2e-3;
  }
  if (!strcmp(kernel, "cutt_probe_write")) {
    seen.written = blocks * CUTT_PROBE_BLOCK_BYTES;
    return 3e-3;
  }
  if (strcmp(kernel, "cutt_probe_empty") != 0) ++seen.other;
  return 2.5e-6;
}

static int open_group(void **state) {
  if (fixture_open(state)) return -1;
  fake->l2_bytes = MIB; /* before the library asks */
  return 0;
}

static int start(void **state) {
  memset(&seen, 0, sizeof seen);
  if (fixture_start(state)) return -1;
  fake->seconds_of = device_seconds;
  fake->copy_seconds = 4e-3;
  fake->copies_nothing = true;
  fake->free_bytes = (size_t)128 * MIB;
  return 0;
}

typedef struct watcher {
  double last;
  int calls, stop_at; /* 0: does not stop */
} watcher;

static bool watch(void *data, double done) {
  watcher *w = data;
  ++w->calls;
  assert_true(done >= w->last && done <= 1);
  w->last = done;
  return w->calls != w->stop_at;
}

static bool is_zero(const cutt_cuda_probe *probe) {
  static const cutt_cuda_probe zero;
  return !memcmp(probe, &zero, sizeof zero);
}

/* ---------------------------------------------------------------------------------------------------------- numbers */

static void what_is_measured(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  cutt_cuda_probe probe;
  watcher w = {.last = 0};
  const double bytes = 32.0 * MIB; /* a quarter of what is free */
  assert_success(cutt_cuda_probe_measure(&probe, watch, &w));
  near_to(probe.copy_bandwidth, 2 * bytes / 4e-3);
  near_to(probe.read_bandwidth, bytes / 2e-3);
  near_to(probe.write_bandwidth, bytes / 3e-3);
  assert_true(fabs(probe.launch_seconds - 2.5e-6) < 1e-8);
  assert_true(fabs(probe.memory_latency - 600) < 1 && fabs(probe.departure_delay - 5) < 0.01);
  near_to(probe.shared_latency, SHARED_CYCLES);
  for (int i = 0; i < CUTT_CUDA_PROBE_LANES; ++i) assert_true(fabs(probe.chase[i] - (600 + 5 * i)) < 1);
  assert_true(probe.fit_error >= 0 && probe.fit_error < 1e-3);
  assert_int_equal(seen.other, 0);
  assert_int_equal(seen.chained, 32 * MIB);
  assert_int_equal(seen.read, 32 * MIB);
  assert_int_equal(seen.written, 32 * MIB);
  assert_true(w.calls > 5 && w.last == 1);
  assert_int_equal(fixture_calls(FAKE_module_load_data), 1); /* and not the kernels of plans */
  assert_int_equal(atomic_load(&own->modules), 0);
  fake->context_set(NULL);
  fake->context_destroy(own);
}

/* No chase begins where a recent one was, and all end inside the buffer. */
static void chases_go_elsewhere(void **unused) {
  (void)unused;
  cutt_cuda_probe probe;
  fake->free_bytes = (size_t)1024 * MIB;
  assert_success(cutt_cuda_probe_measure(&probe, NULL, NULL)); /* a thread without a context */
  const int windows = 256 * MIB / WINDOW;
  assert_int_equal(seen.chained, 256 * MIB);
  assert_true(seen.chases >= 32 * 5 && seen.chases < MOST_CHASES);
  for (int i = 0; i < seen.chases; ++i) {
    assert_true(seen.place[i] < (unsigned)(windows * CUTT_PROBE_WINDOW_LINES));
    assert_int_equal(seen.place[i] % CUTT_PROBE_LANES, 0);
    for (int j = i + 1; j < seen.chases && j < i + 2 * windows; ++j) {
      /* A chase takes its lanes' accesses of as many places each, at most half of a window. */
      const unsigned a = seen.place[i], b = seen.place[j];
      assert_true((a > b ? a - b : b - a) >= CUTT_PROBE_LANES * (CUTT_PROBE_ACCESSES + 1));
    }
  }
}

static void the_buffers_size(void **unused) {
  (void)unused;
  cutt_cuda_probe probe;
  fake->free_bytes = (size_t)100 * 1024 * MIB;
  atomic_store(&fake->fail_at, 2);
  atomic_store(&fake->fail, FAKE_mem_alloc); /* the second buffer: what is asked for is in the text */
  assert_result(CUTT_INTERNAL_ERROR, cutt_cuda_probe_measure(&probe, NULL, NULL), "allocating 1073741824 bytes");
  fake->forget();
  fake->free_bytes = 4096; /* less than will do; the driver may have more all the same */
  assert_success(cutt_cuda_probe_measure(&probe, NULL, NULL));
  assert_int_equal(seen.read, 32 * MIB);
}

/* --------------------------------------------------------------------------------------------------------- failures */

static void interrupted(void **unused) {
  (void)unused;
  watcher all = {.last = 0};
  cutt_cuda_probe probe;
  assert_success(cutt_cuda_probe_measure(&probe, watch, &all));
  for (int i = 1; i <= all.calls; ++i) {
    watcher w = {.stop_at = i};
    assert_result(CUTT_INTERNAL_ERROR, cutt_cuda_probe_measure(&probe, watch, &w), "calibration was interrupted");
    assert_int_equal(w.calls, i);
    assert_true(is_zero(&probe));
    assert_int_equal(atomic_load(&fake->alive_memory), 0);
  }
}

static void nothing_to_measure(void **unused) {
  (void)unused;
  cutt_cuda_probe probe;
  struct CUctx_st *old = fake->context_create(2);
  fake->context_set(old);
  assert_result(CUTT_INVALID_DEVICE, cutt_cuda_probe_measure(&probe, NULL, NULL), "Tesla P100", "no kernels for");
  assert_true(is_zero(&probe));
  fake->context_set(NULL);
  fake->context_destroy(old);
  fake->copy_seconds = 0;
  assert_result(CUTT_INTERNAL_ERROR, cutt_cuda_probe_measure(&probe, NULL, NULL), "copying takes 0 seconds");
  assert_true(is_zero(&probe));
}

/* Others may be capturing meanwhile: fixture_end looks at what was forbidden. */
static void captures_go_on(void **unused) {
  (void)unused;
  cutt_cuda_probe probe;
  atomic_store(&fake->capture_is_on, 1);
  assert_success(cutt_cuda_probe_measure(&probe, NULL, NULL));
  atomic_store(&fake->capture_is_on, 0);
}

static bool one_of(int function, const int *list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (list[i] == function) return true;
  }
  return false;
}

static void every_call_fails_once(void **unused) {
  (void)unused;
  /* A failure to free something is no failure to measure, and the last calls of some functions free. */
  static const int giving_back[] = {FAKE_mem_free, FAKE_module_unload, FAKE_stream_destroy, FAKE_event_destroy,
                                    FAKE_thread_exchange_stream_capture_mode};
  static const int sometimes[] = {FAKE_ctx_get_current, FAKE_stream_synchronize};
  for (int function = 0; function < FAKE_FUNCTIONS; ++function) {
    if (function == FAKE_get_error_name || function == FAKE_get_error_string) continue; /* texts of errors themselves */
    const bool back = one_of(function, giving_back, sizeof giving_back / sizeof *giving_back);
    const bool some = one_of(function, sometimes, sizeof sometimes / sizeof *sometimes);
    for (long at = 1;; at += at < 12 ? 1 : at / 3) {
      struct CUctx_st *own = fake->context_create(0);
      fake->context_set(own);
      fake->forget();
      atomic_store(&fake->fail_at, at);
      atomic_store(&fake->fail, function);
      cutt_cuda_probe probe;
      const cuttResult result = cutt_cuda_probe_measure(&probe, NULL, NULL);
      const bool failed = atomic_load(&fake->failed) > 0;
      atomic_store(&fake->fail, -1);
      if (failed && !result && !back && !(some && at > 1)) fail_msg("function %d, call %ld: no error", function, at);
      if (result && (!failed || !strstr(cuttLastError(), "a failure on request") || !is_zero(&probe)))
        fail_msg("function %d, call %ld: \"%s\"", function, at, cuttLastError());
      if (failed && (back || function == FAKE_ctx_get_current)) {
        fake->sweep();
      } else if (atomic_load(&fake->alive_memory) || atomic_load(&fake->alive_streams) ||
                 atomic_load(&fake->alive_events)) {
        fail_msg("function %d, call %ld: something is left behind", function, at);
      }
      if (function != FAKE_module_unload) assert_int_equal(atomic_load(&own->modules), 0);
      assert_int_equal(atomic_load(&fake->depth), 1);
      fake->context_set(NULL);
      fake->context_destroy(own);
      if (!failed) break;
    }
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_is_measured),   TEST(chases_go_elsewhere), TEST(the_buffers_size),      TEST(interrupted),
      TEST(nothing_to_measure), TEST(captures_go_on),      TEST(every_call_fails_once),
  };
  return cmocka_run_group_tests(tests, open_group, NULL);
}
