/* What the tests with the fake driver share. */
#include "cuda/fixture.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const cutt_device fixture_h200 = {.base.name = "NVIDIA H200",
                                  .major = 9,
                                  .minor = 0,
                                  .sms = 132,
                                  .sm_threads = 2048,
                                  .sm_blocks = 32,
                                  .sm_shared = 233472,
                                  .block_shared = 232448,
                                  .reserved_shared = 1024,
                                  .l2_bytes = 62914560,
                                  .memory_bytes = INT64_C(139) << 30,
                                  .clock_hz = 1.98e9,
                                  .memory_bandwidth = 2 * 3.201e9 * 768};

fake_control_t *fake;

int fixture_open(void **unused) {
  (void)unused;
  unsetenv("CUTT_CUDA");
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  fake_control_function *function = NULL;
  void *symbol = library ? dlsym(library, "fake_control") : NULL;
  memcpy(&function, &symbol, sizeof function);
  if (!function) {
    print_error("the fake driver is not the first libcuda.so.1 on LD_LIBRARY_PATH\n");
    return -1;
  }
  fake = function();
  return 0;
}

int fixture_start(void **unused) {
  (void)unused;
  fake->context_set(NULL);
  fake->seconds_of = NULL;
  fake->run = NULL;
  fake->compiled_for = 80;
  atomic_store(&fake->opens, 0);
  fake->launch_seconds = 1e-3;
  fake->copy_seconds = 2e-3;
  fake->args_size = 0;
  atomic_store(&fake->peers, 0);
  atomic_store(&fake->access, 0);
  fake->forget();
  return 0;
}

void fixture_end_but_events(void) {
  atomic_store(&fake->fail, -1);
  fake->context_set(NULL);
  assert_int_equal(atomic_load(&fake->alive_memory), 0);
  assert_int_equal(atomic_load(&fake->alive_streams), 0);
  assert_int_equal(atomic_load(&fake->alive_pinned), 0);
  assert_int_equal(atomic_load(&fake->alive_opened), 0);
  assert_int_equal(atomic_load(&fake->depth), 0);
  assert_int_equal(atomic_load(&fake->forbidden), 0);
}

int fixture_end(void **unused) {
  (void)unused;
  fixture_end_but_events();
  assert_int_equal(atomic_load(&fake->alive_events), 0);
  return 0;
}

cuttProblem_t fixture_problem(void) {
  static const int64_t extents[] = {40, 30, 20};
  static const int perm[] = {2, 1, 0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = CUTT_BYTES_4;
  problem.extents = extents;
  problem.perm = perm;
  return problem;
}

cuttPlan_t fixture_plan(void) {
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  return plan;
}

void *fixture_device_memory(size_t bytes) {
  void *memory = NULL;
  assert_success(cuttMemoryAllocate(CUTT_BACKEND_CUDA, bytes, &memory));
  assert_non_null(memory);
  return memory;
}

void fixture_free(void *memory) { assert_success(cuttMemoryFree(CUTT_BACKEND_CUDA, memory)); }

long fixture_calls(int function) { return atomic_load(&fake->calls[function]); }

long fixture_all_calls(void) {
  long count = 0;
  for (int i = 0; i < FAKE_FUNCTIONS; ++i) count += fixture_calls(i);
  return count;
}

long fixture_heavy_calls(void) {
  static const int heavy[] = {FAKE_mem_alloc,          FAKE_mem_free,          FAKE_memcpy,
                              FAKE_memcpy_dtod_async,  FAKE_stream_create,     FAKE_stream_destroy,
                              FAKE_stream_synchronize, FAKE_event_create,      FAKE_event_destroy,
                              FAKE_event_record,       FAKE_event_synchronize, FAKE_event_elapsed_time};
  long count = 0;
  for (size_t i = 0; i < sizeof heavy / sizeof *heavy; ++i) count += fixture_calls(heavy[i]);
  return count;
}
