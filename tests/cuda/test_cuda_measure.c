/* Memory, time, measured choices and wisdom of the CUDA backend against the fake driver; and every call of the driver and
 * of the allocator failing in turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/fixture.h"
#include "gpu/launch.h"
#include "plan/plan.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

/* The library's allocation number fail_allocation, from now on, fails; 0: none. */
static long fail_allocation, allocations;

static bool refuse(void) { return fail_allocation && ++allocations == fail_allocation; }
void *__wrap_malloc(size_t size) { return refuse() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : __real_calloc(count, size); }

/* ------------------------------------------------------------------------------------------------------------- memory */

static void memory_is_the_devices(void **unused) {
  (void)unused;
  char there[1000], back[1000];
  for (size_t i = 0; i < sizeof there; ++i) there[i] = (char)(i * 7);
  char *a = fixture_device_memory(sizeof there), *b = fixture_device_memory(sizeof there);
  void *nothing = fixture_device_memory(0);
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, a, there, sizeof there));
  assert_success(cuttMemoryCopy(CUTT_BACKEND_AUTO, b, a, sizeof there)); /* AUTO is the GPU */
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, back, b, sizeof there));
  assert_memory_equal(there, back, sizeof there);
  assert_int_equal(fixture_calls(FAKE_stream_synchronize), 3); /* done on return, between two devices' memories too */
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, NULL, NULL, 0));
  assert_result(CUTT_INVALID_PARAMETER, cuttMemoryCopy(CUTT_BACKEND_CUDA, NULL, a, 8), "to is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttMemoryCopy(CUTT_BACKEND_CUDA, a, NULL, 8), "from is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttMemoryCopy((cuttBackend_t)9, a, b, 8), "backend is 9");
  assert_result(CUTT_INVALID_PARAMETER, cuttMemoryAllocate(CUTT_BACKEND_CUDA, 8, NULL), "memory is NULL");
  void *memory = a;
  assert_result(CUTT_INTERNAL_ERROR, cuttMemoryAllocate(CUTT_BACKEND_CUDA, SIZE_MAX / 2, &memory), "allocating");
  assert_null(memory);
  assert_result(CUTT_INVALID_PARAMETER, cuttMemoryFree(CUTT_BACKEND_CUDA, a + 16), "memory is", "cuttMemoryAllocate");
  assert_success(cuttMemoryFree(CUTT_BACKEND_CUDA, NULL));
  fixture_free(a);
  fixture_free(b);
  fixture_free(nothing);
}

static void memory_of_the_cpu(void **unused) {
  (void)unused;
  char *a = NULL, *b = NULL;
  assert_success(cuttMemoryAllocate(CUTT_BACKEND_CPU, 100, (void **)&a));
  assert_success(cuttMemoryAllocate(CUTT_BACKEND_CPU, 0, (void **)&b));
  assert_int_equal((uintptr_t)a % 64, 0);
  assert_non_null(b);
  memset(a, 3, 50);
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CPU, a + 50, a, 50));
  assert_memory_equal(a, a + 50, 50);
  double seconds[3] = {-1, -1, -1};
  assert_success(cuttCopyTime(CUTT_BACKEND_CPU, a, a + 50, 50, NULL, 3, seconds));
  for (int i = 0; i < 3; ++i) assert_true(seconds[i] >= 0 && seconds[i] < 1);
  assert_result(CUTT_INVALID_PARAMETER, cuttCopyTime(CUTT_BACKEND_CPU, a, a + 49, 50, NULL, 1, seconds), "apart");
  assert_result(CUTT_INVALID_PARAMETER, cuttCopyTime(CUTT_BACKEND_CPU, a, a + 50, 50, (cudaStream_t)a, 1, seconds),
                "stream is", "NULL");
  void *memory = a;
  assert_result(CUTT_INTERNAL_ERROR, cuttMemoryAllocate(CUTT_BACKEND_CPU, SIZE_MAX - 3, &memory), "out of memory");
  assert_null(memory);
  assert_success(cuttMemoryFree(CUTT_BACKEND_CPU, a));
  assert_success(cuttMemoryFree(CUTT_BACKEND_CPU, b));
  assert_success(cuttMemoryFree(CUTT_BACKEND_CPU, NULL));
}

/* --------------------------------------------------------------------------------------------------------------- time */

enum { RUNS = 75 }; /* two batches of events and a part of a third */

static double in_turns(const fake_launch *launch) {
  (void)launch;
  return 1e-3 * (double)(fixture_calls(FAKE_launch_kernel) % 10 + 1);
}

static void runs_are_timed_by_events(void **unused) {
  (void)unused;
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  cuttPlan_t plan = fixture_plan();
  double seconds[RUNS];
  fake->forget();
  fake->seconds_of = in_turns;
  assert_success(cuttPlanTime(plan, in, out, NULL, RUNS, seconds));
  assert_int_equal(fixture_calls(FAKE_launch_kernel), RUNS + 1);
  /* The first of all is not counted. */
  for (int i = 0; i < RUNS; ++i) assert_true(fabs(seconds[i] - 1e-3 * ((i + 2) % 10 + 1)) < 1e-6);
  assert_success(cuttCopyTime(CUTT_BACKEND_CUDA, out, in, FIXTURE_BYTES, NULL, RUNS, seconds));
  for (int i = 0; i < RUNS; ++i) assert_true(fabs(seconds[i] - 2e-3) < 1e-6);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanTime(plan, in, out, NULL, 0, seconds), "count is 0");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanTime(plan, in, out, NULL, 1, NULL), "seconds is NULL");
  assert_result(CUTT_INVALID_PLAN, cuttPlanTime(NULL, in, out, NULL, 1, seconds), "plan");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanTime(plan, in, NULL, NULL, 1, seconds), "out is NULL");
  void *plain = malloc(FIXTURE_BYTES);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanTime(plan, plain, out, NULL, 1, seconds), "in is", "host memory");
  assert_result(CUTT_INVALID_PARAMETER, cuttCopyTime(CUTT_BACKEND_CUDA, out, plain, 8, NULL, 1, seconds), "from is",
                "host memory");
  free(plain);
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
}

/* ----------------------------------------------------------------------------------------------------------- measuring */

/* The fastest choice by the fake clock is a launch of as few blocks as possible. */
static double by_blocks(const fake_launch *launch) { return 1e-6 * launch->blocks; }

static cudaStream_t measured_in;
static double note_stream(const fake_launch *launch) {
  measured_in = launch->stream;
  return 1e-3;
}

static void the_fastest_is_chosen(void **unused) {
  (void)unused;
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  cuttPlan_t plan = NULL;
  fake->seconds_of = by_blocks;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_int_equal(plan->choice.by, CUTT_BY_MEASURING);
  /* None of the first few candidates, which are what is measured, has fewer. */
  cutt_candidate list[CUTT_MAX_CANDIDATES];
  int count = cutt_plan_candidates(plan, list, CUTT_MAX_CANDIDATES);
  assert_true(count >= 1);
  double fewest = 1e30;
  for (int i = 0; i < count && i < 12; ++i) {
    cutt_gpu_launch launch;
    const char *why = NULL;
    assert_true(cutt_gpu_lay_out(&fixture_h200, &plan->canonical, &list[i], 16, 16, &launch, &why));
    if (launch.blocks < fewest) fewest = launch.blocks;
  }
  assert_true(fabs(plan->choice.measured_seconds - 1e-6 * fewest) < 1e-9);
  assert_success(cuttPlanDestroy(plan));
}

static void measuring_has_its_stream(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own};
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  options.measure_in = in;
  options.measure_out = out;
  cuttPlan_t plan = NULL;
  fake->seconds_of = note_stream;
  /* Its own, which is not the default one, and gone afterwards. */
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_success(cuttPlanDestroy(plan));
  assert_non_null(measured_in);
  assert_int_equal(fixture_calls(FAKE_stream_create), 1);
  assert_int_equal(atomic_load(&fake->alive_streams), 0);
  options.measure_stream = &stream;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_success(cuttPlanDestroy(plan));
  assert_ptr_equal(measured_in, &stream);
  assert_int_equal(fixture_calls(FAKE_stream_create), 1);
  /* The classic call gives its own. */
  int dim[] = {40, 30, 20}, permutation[] = {2, 1, 0};
  cuttHandle handle = 0;
  measured_in = NULL;
  assert_success(cuttPlanMeasure(&handle, 3, dim, permutation, 4, &stream, in, out));
  assert_ptr_equal(measured_in, &stream);
  assert_success(cuttDestroy(handle));
  /* An old caller's options, which end before the stream. */
  options.struct_size = offsetof(cuttOptions_t, measure_stream);
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_success(cuttPlanDestroy(plan));
  assert_int_equal(fixture_calls(FAKE_stream_create), 2);
  options.struct_size -= 1;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &problem, &options), "struct_size");
  options.struct_size = sizeof options;
  void *plain = malloc(FIXTURE_BYTES);
  options.measure_in = plain;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &problem, &options), "host memory");
  free(plain);
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

static void wisdom_is_the_devices(void **unused) {
  (void)unused;
  char path[] = "/tmp/cutt-cuda-wisdom-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  options.threads = 3; /* of the CPU; of no consequence here */
  assert_success(cuttWisdomCreate(&options.wisdom));
  cuttPlan_t measured = NULL, recalled = NULL;
  fake->seconds_of = by_blocks;
  assert_success(cuttPlanCreate(&measured, &problem, &options));
  assert_int_equal(measured->choice.by, CUTT_BY_MEASURING);
  assert_success(cuttWisdomSave(options.wisdom, path));
  assert_success(cuttWisdomDestroy(options.wisdom));

  char line[8192];
  FILE *stream = fopen(path, "r");
  assert_non_null(stream);
  bool named = false;
  while (fgets(line, sizeof line, stream)) named = named || strstr(line, " cuda/cuda-NVIDIA_H200-sm90-132 ");
  fclose(stream);
  assert_true(named);

  assert_success(cuttWisdomCreate(&options.wisdom));
  size_t used = 0, ignored = 0;
  assert_success(cuttWisdomLoad(options.wisdom, path, &used, &ignored));
  assert_int_equal(used, 1);
  assert_int_equal(ignored, 0);
  options.choice = CUTT_PREDICT;
  options.threads = 0;
  assert_success(cuttPlanCreate(&recalled, &problem, &options));
  assert_int_equal(recalled->choice.by, CUTT_BY_WISDOM);
  assert_true(cutt_candidate_equal(&recalled->choice.candidate, &measured->choice.candidate));
  assert_success(cuttPlanDestroy(recalled));
  /* Another device knows nothing of it. */
  struct CUctx_st *other = fake->context_create(1);
  fake->context_set(other);
  assert_success(cuttPlanCreate(&recalled, &problem, &options));
  assert_int_equal(recalled->choice.by, CUTT_BY_MODEL);
  assert_success(cuttPlanDestroy(recalled));
  fake->context_set(NULL);
  fake->context_destroy(other);
  assert_success(cuttPlanDestroy(measured));
  assert_success(cuttWisdomDestroy(options.wisdom));
  unlink(path);
}

/* ------------------------------------------------------------------------------------------------------------ failures */

/* Everything that the library does with a driver. Each step may fail, and then says so; the rest goes on. */
static int do_everything(bool *all_well) {
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  int steps = 0;
  *all_well = true;
#define STEP(call)                                                                                                     \
  do {                                                                                                                 \
    const cuttResult result = (call);                                                                                  \
    ++steps;                                                                                                           \
    if (result) *all_well = false;                                                                                     \
    if (result && !strstr(cuttLastError(), "a failure on request") && !strstr(cuttLastError(), "out of memory")) {     \
      print_error("%s gave %s: \"%s\"\n", #call, cuttResultName(result), cuttLastError());                             \
      fail();                                                                                                          \
    }                                                                                                                  \
  } while (0)
  void *in = NULL, *out = NULL;
  double seconds[2];
  STEP(cuttMemoryAllocate(CUTT_BACKEND_CUDA, FIXTURE_BYTES, &in));
  if (in) STEP(cuttMemoryAllocate(CUTT_BACKEND_CUDA, FIXTURE_BYTES, &out));
  cuttPlan_t plan = NULL, measured = NULL;
  STEP(cuttPlanCreate(&plan, &problem, &options));
  if (plan && out) {
    STEP(cuttPlanExecute(plan, in, out, NULL));
    STEP(cuttPlanTime(plan, in, out, NULL, 2, seconds));
    STEP(cuttMemoryCopy(CUTT_BACKEND_CUDA, out, in, FIXTURE_BYTES));
    STEP(cuttCopyTime(CUTT_BACKEND_CUDA, out, in, FIXTURE_BYTES, NULL, 2, seconds));
    STEP(cuttPermute(&problem, &options, in, out, NULL));
  }
  options.choice = CUTT_MEASURE;
  STEP(cuttPlanCreate(&measured, &problem, &options));
  STEP(cuttPlanDestroy(plan));
  STEP(cuttPlanDestroy(measured));
  /* What a failure keeps from being freed is freed at the second attempt. */
  void *const all[] = {in, out};
  for (int i = 0; i < 2; ++i) {
    if (!all[i] || !cuttMemoryFree(CUTT_BACKEND_CUDA, all[i])) continue;
    *all_well = false;
    STEP(cuttMemoryFree(CUTT_BACKEND_CUDA, all[i]));
  }
#undef STEP
  return steps;
}

static void every_call_fails_once(void **unused) {
  (void)unused;
  bool all_well = false;
  do_everything(&all_well);
  assert_true(all_well);
  for (int function = 0; function < FAKE_FUNCTIONS; ++function) {
    /* Called once in the process, and seen by the loader's tests; or texts of errors themselves. What can't be given
     * back because giving it back fails is no leak of the library's. */
    if (function == FAKE_get_error_name || function == FAKE_get_error_string || function == FAKE_ctx_pop_current)
      continue;
    struct CUctx_st *own = fake->context_create(0);
    fake->context_set(own);
    for (long at = 1;; ++at) {
      fake->forget();
      atomic_store(&fake->fail_at, at);
      atomic_store(&fake->fail, function);
      do_everything(&all_well);
      const bool failed = atomic_load(&fake->failed) > 0;
      atomic_store(&fake->fail, -1);
      if (!failed) break;
      if (at > 40) at += at / 2; /* measuring launches often */
      /* What giving back takes: what could not be given back stays. */
      if (function == FAKE_ctx_get_current || function == FAKE_mem_free || function == FAKE_stream_destroy ||
          function == FAKE_event_destroy) {
        fake->sweep();
      }
      if (atomic_load(&fake->alive_memory) || atomic_load(&fake->alive_streams) || atomic_load(&fake->alive_events)) {
        fail_msg("function %d, call %ld: something is left behind", function, at);
      }
      assert_int_equal(atomic_load(&fake->depth), 1);
    }
    fake->context_destroy(own);
  }
  fake->context_set(NULL);
}

static void the_first_plan_fails(void **unused) {
  (void)unused;
  /* All that making a context's state takes, in a context that is new each time. */
  static const int making[] = {FAKE_ctx_get_id,         FAKE_module_load_data,   FAKE_module_get_function,
                               FAKE_func_get_attribute, FAKE_func_set_attribute, FAKE_func_load,
                               FAKE_ctx_get_current,    FAKE_ctx_get_device};
  for (size_t i = 0; i < sizeof making / sizeof *making; ++i) {
    for (long at = 1;; at += at < 4 ? 1 : 7) {
      struct CUctx_st *own = fake->context_create(0);
      fake->context_set(own);
      fake->forget();
      atomic_store(&fake->fail_at, at);
      atomic_store(&fake->fail, making[i]);
      const cuttProblem_t problem = fixture_problem();
      cuttOptions_t options = CUTT_OPTIONS_INIT;
      options.backend = CUTT_BACKEND_CUDA;
      cuttPlan_t plan = NULL;
      const cuttResult result = cuttPlanCreate(&plan, &problem, &options);
      const bool failed = atomic_load(&fake->failed) > 0;
      atomic_store(&fake->fail, -1);
      if (result) {
        assert_true(failed);
        assert_null(plan);
        assert_int_equal(atomic_load(&own->modules), 0);
      }
      assert_success(cuttPlanDestroy(plan));
      plan = fixture_plan(); /* and the next one works */
      assert_success(cuttPlanDestroy(plan));
      fake->context_set(NULL);
      fake->context_destroy(own);
      if (!failed) break;
    }
  }
}

static void memory_runs_out(void **unused) {
  (void)unused;
  for (long number = 1;; ++number) {
    struct CUctx_st *own = fake->context_create(0);
    fake->context_set(own);
    bool all_well = false;
    allocations = 0;
    fail_allocation = number;
    do_everything(&all_well);
    const bool failed = allocations >= number;
    fail_allocation = 0;
    fake->context_set(NULL);
    fake->context_destroy(own);
    assert_int_equal(atomic_load(&fake->alive_memory), 0);
    if (!failed) break;
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(memory_is_the_devices), TEST(memory_of_the_cpu),        TEST(runs_are_timed_by_events),
      TEST(the_fastest_is_chosen), TEST(measuring_has_its_stream), TEST(wisdom_is_the_devices),
      TEST(every_call_fails_once), TEST(the_first_plan_fails),     TEST(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, fixture_open, NULL);
}
