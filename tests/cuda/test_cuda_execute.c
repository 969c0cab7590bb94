/* One execution against the fake driver: the calls it makes, what its launch is given, streams, captures and pointers. */
#include <stdlib.h>
#include <string.h>

#include "cuda/launches.h"
#include "gpu/launch.h"
#include "plan/plan.h"

/* ------------------------------------------------------------------------------------------------ planning, execution */

static void nothing_heavy_is_done(void **unused) {
  (void)unused;
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  fake->reset(0); /* so that planning starts with nothing */
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  fake->forget();
  cuttPlan_t plan = fixture_plan();
  assert_int_equal(fixture_heavy_calls(), 0);
  assert_int_equal(fixture_calls(FAKE_module_load_data), 1);
  fake->forget();
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_int_equal(fixture_heavy_calls(), 0);
  assert_int_equal(fixture_calls(FAKE_ctx_get_current), 1);
  assert_int_equal(fixture_calls(FAKE_ctx_get_id), 1);
  assert_int_equal(fixture_calls(FAKE_pointer_get_attributes), 2);
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
  assert_int_equal(fixture_all_calls(), 5);
  /* Plan, execute and destroy at once waits for nothing either. */
  fake->forget();
  const cuttProblem_t problem = fixture_problem();
  assert_success(cuttPermute(&problem, NULL, in, out, NULL));
  assert_int_equal(fixture_heavy_calls(), 0);
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

/* Kernels that wait themselves for what is earlier in the stream may begin before that has ended; those that were compiled for an
 * older architecture don't wait. Either way a launch is one call. */
static void kernels_begin_early(void **unused) {
  (void)unused;
  static const int compiled_for[] = {80, 90, 100};
  for (size_t i = 0; i < sizeof compiled_for / sizeof *compiled_for; ++i) {
    fake->compiled_for = compiled_for[i];
    struct CUctx_st *own = fake->context_create(0);
    fake->context_set(own);
    void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
    cuttPlan_t plan = fixture_plan();
    const bool early = compiled_for[i] >= 90;
    fake->forget();
    assert_success(cuttPlanExecute(plan, in, out, NULL));
    assert_int_equal(fixture_calls(early ? FAKE_launch_kernel_ex : FAKE_launch_kernel), 1);
    assert_int_equal(fixture_all_calls(), 5);
    assert_int_equal(fake->last.early, early);
    fake->forget();
    atomic_store(&fake->fail_at, 1);
    atomic_store(&fake->fail, early ? FAKE_launch_kernel_ex : FAKE_launch_kernel);
    assert_int_equal(cuttPlanExecute(plan, in, out, NULL), CUTT_INTERNAL_ERROR);
    assert_non_null(strstr(cuttLastError(), "launching"));
    fake->forget();
    assert_success(cuttPlanDestroy(plan));
    fixture_free(in);
    fixture_free(out);
    fake->context_destroy(own);
  }
  fake->compiled_for = 80;
}

/* The second call with a problem looks which context is current, and executes the plan that is kept. */
static void kept_plans(void **unused) {
  (void)unused;
  const cuttProblem_t problem = fixture_problem();
  for (int round = 0; round < 3; ++round) { /* each in a context of its own, where kernels have to be loaded again */
    struct CUctx_st *own = fake->context_create(0);
    fake->context_set(own);
    void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
    fake->forget();
    assert_success(cuttPermute(&problem, NULL, in, out, NULL));
    assert_int_equal(fixture_calls(FAKE_module_load_data), 1);
    fake->forget();
    assert_success(cuttPermute(&problem, NULL, in, out, NULL));
    assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
    assert_int_equal(fixture_calls(FAKE_module_load_data), 0);
    assert_int_equal(fixture_all_calls(), 5 + 4);
    fixture_free(in);
    fixture_free(out);
    fake->context_destroy(own);
  }
  cuttFinalize();
}

/* ------------------------------------------------------------------------------------------------- trusted pointers */

static void trusted_pointers_are_not_looked_at(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *other = fake->context_create(0);
  fake->context_set(own);
  char *in = fixture_device_memory(LAUNCH_BYTES), *out = fixture_device_memory(LAUNCH_BYTES),
       *plain = malloc(LAUNCH_BYTES);
  cuttPlan_t plan = launches_plan(1, 0, CUTT_BYTES_8);
  launches_watch();
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
  assert_int_equal(fixture_all_calls(), 1);
  assert_launched(1, (const void *[]){in}, (void *[]){out});
  assert_success(cuttPlanExecute(plan, plain, out, NULL)); /* it is the caller's word */
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, NULL, out, NULL), "in is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, in, in, NULL), "overlap");
  /* A thread without a context; another context; a stream of another. */
  fake->context_set(NULL);
  launches_watch();
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_ptr_equal(fake->last.context, own);
  assert_int_equal(launches_seen.launches, 1);
  fake->context_set(other);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, in, out, NULL), "current context is");
  fake->context_set(own);
  struct CUstream_st foreign = {.context = other};
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, in, out, &foreign), "stream", "launching cutt_");
  assert_success(cuttPlanDestroy(plan));

  /* By cuttPermute: the kept plan of one who does not vouch is another. */
  const cuttProblem_t problem = fixture_problem();
  char *large_in = fixture_device_memory(FIXTURE_BYTES), *large_out = fixture_device_memory(FIXTURE_BYTES);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  for (int round = 0; round < 2; ++round) {
    for (options.trust_pointers = 0; options.trust_pointers < 2; ++options.trust_pointers) {
      fake->forget();
      assert_success(cuttPermute(&problem, &options, large_in, large_out, NULL));
      assert_int_equal(fixture_calls(FAKE_pointer_get_attributes), options.trust_pointers ? 0 : 2);
      assert_int_equal(fixture_calls(FAKE_func_load), 0);
    }
  }
  for (options.trust_pointers = -1; options.trust_pointers < 3; options.trust_pointers += 3) {
    assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&plan, &problem, &options), "options->trust_pointers",
                  "must be 0 or 1");
  }
  /* On the CPU, where the stand-in's device memory can be read. */
  options.backend = CUTT_BACKEND_CPU;
  options.trust_pointers = 1;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_success(cuttPlanExecute(plan, large_in, large_out, NULL));
  assert_success(cuttPlanExecuteBatch(plan, 1, (const void *[]){large_in}, (void *[]){large_out}, NULL));
  assert_success(cuttPlanDestroy(plan));
  cuttFinalize();
  fixture_free(large_in);
  fixture_free(large_out);
  fixture_free(in);
  fixture_free(out);
  free(plain);
  fake->context_destroy(own);
  fake->context_destroy(other);
}

/* A permutation that is a plain copy is the driver's; the fake one does it. */
static void plain_copies_are_the_drivers(void **unused) {
  (void)unused;
  enum { BYTES = 24 * 8 };
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own, .capturing = true};
  char *in = fixture_device_memory(BYTES + 8), *out = fixture_device_memory(BYTES + 8);
  static const int64_t extents[] = {6, 4}, forward[] = {1, 6}, backward[] = {-1, -6};
  static const int perm[] = {0, 1};
  for (int i = 0; i < 4; ++i) {
    const int64_t *strides = i % 2 ? backward : forward;
    cuttProblem_t problem = CUTT_PROBLEM_INIT;
    problem.rank = 2;
    problem.type = CUTT_BYTES_8;
    problem.extents = extents;
    problem.perm = perm;
    problem.in_strides = problem.out_strides = strides;
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    options.backend = CUTT_BACKEND_CUDA;
    options.trust_pointers = i / 2;
    cuttPlan_t plan = NULL;
    assert_success(cuttPlanCreate(&plan, &problem, &options));
    for (int j = 0; j < BYTES + 8; ++j) in[j] = (char)(j + i), out[j] = 99;
    const size_t start = i % 2 ? BYTES - 8 : 0;
    fake->forget();
    atomic_store(&fake->capture_is_on, 1);
    assert_success(cuttPlanExecute(plan, in + start, out + start, &stream));
    atomic_store(&fake->capture_is_on, 0);
    assert_int_equal(fixture_calls(FAKE_launch_kernel), 0);
    assert_int_equal(fixture_calls(FAKE_memcpy_async), 1);
    assert_int_equal(fixture_all_calls(), options.trust_pointers ? 1 : 5);
    assert_memory_equal(in, out, BYTES);
    assert_int_equal(out[BYTES], 99);
    assert_success(cuttPlanDestroy(plan));
  }
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

static void launches_are_as_laid_out(void **unused) {
  (void)unused;
  char *in = fixture_device_memory(FIXTURE_BYTES + 64), *out = fixture_device_memory(FIXTURE_BYTES + 64);
  cuttPlan_t plan = fixture_plan();
  static const uint32_t places[][2] = {{0, 0}, {4, 0}, {0, 4}, {8, 4}, {4, 12}, {1, 0}, {2, 3}, {32, 16}};
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    const uint32_t in_at = places[i][0], out_at = places[i][1];
    cutt_gpu_launch launch;
    const char *why = NULL;
    memset(&launch, 0, sizeof launch);
    const bool fits = cutt_gpu_lay_out(&fixture_h200, &plan->canonical, &plan->choice.candidate,
                                       cutt_gpu_alignment(in + in_at), cutt_gpu_alignment(out + out_at), &launch, &why);
    if (!fits) {
      assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, in + in_at, out + out_at, NULL), "multiples of", why);
      continue;
    }
    fake->args_size = launch.without_tables ? sizeof(cutt_flat_args) : sizeof(cutt_kernel_args);
    assert_success(cuttPlanExecute(plan, in + in_at, out + out_at, NULL));
    const fake_launch *last = &fake->last;
    assert_string_equal(last->kernel, cutt_gpu_kernel_name[launch.kernel]);
    assert_int_equal(last->blocks, launch.blocks);
    assert_int_equal(last->threads, launch.threads);
    assert_int_equal(last->shared_bytes, launch.shared_bytes);
    assert_int_equal(last->in, (uintptr_t)in + in_at + (uintptr_t)launch.in_start);
    assert_int_equal(last->out, (uintptr_t)out + out_at + (uintptr_t)launch.out_start);
    if (launch.without_tables) {
      assert_memory_equal(last->args_bytes, &launch.flat, sizeof launch.flat);
      continue;
    }
    cutt_kernel_args args;
    memcpy(&args, last->args_bytes, sizeof args);
    assert_int_equal(args.tiles, launch.args.tiles);
    assert_int_equal(args.grid_modes, launch.args.grid_modes);
    assert_int_equal(args.in_low, launch.args.in_low);
    assert_int_equal(args.in_high, launch.args.in_high);
  }
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
}

static void streams_are_passed_on(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *other = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own}, foreign = {.context = other};
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  cuttPlan_t plan = fixture_plan();
  assert_success(cuttPlanExecute(plan, in, out, &stream));
  assert_ptr_equal(fake->last.stream, &stream);
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_null(fake->last.stream);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, in, out, &foreign), "stream", "launching cutt_");
  /* The classic calls bind one. */
  cuttHandle handle = 0;
  int dim[] = {4, 5}, permutation[] = {1, 0};
  assert_success(cuttPlan(&handle, 2, dim, permutation, 4, &stream));
  assert_success(cuttExecute(handle, in, out));
  assert_ptr_equal(fake->last.stream, &stream);
  assert_success(cuttDestroy(handle));
  /* A plan of the CPU takes none. */
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  options.measure_stream = &stream;
  cuttPlan_t none = NULL;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&none, &problem, &options), "options->measure_stream", "NULL");
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
  fake->context_destroy(other);
}

static void captures_go_on(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own};
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  atomic_store(&stream.capturing, true);
  atomic_store(&fake->capture_is_on, 1);
  /* Even the first plan of a context, which loads the kernels. */
  cuttPlan_t plan = fixture_plan();
  assert_success(cuttPlanExecute(plan, in, out, &stream));
  const cuttProblem_t problem = fixture_problem();
  assert_success(cuttPermute(&problem, NULL, in, out, &stream));
  /* Another plan may even be measured meanwhile, but not in this stream. */
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.choice = CUTT_MEASURE;
  cuttPlan_t measured = NULL;
  assert_success(cuttPlanCreate(&measured, &problem, &options));
  assert_success(cuttPlanDestroy(measured));
  options.measure_stream = &stream;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanCreate(&measured, &problem, &options), "being captured");
  double seconds = 0;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanTime(plan, in, out, &stream, 1, &seconds), "being captured");
  assert_int_equal(atomic_load(&fake->forbidden), 0);
  atomic_store(&fake->capture_is_on, 0);
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

/* ----------------------------------------------------------------------------------------------------------- pointers */

static void pointers_are_looked_at(void **unused) {
  (void)unused;
  void *device = fixture_device_memory(FIXTURE_BYTES);
  void *plain = malloc(FIXTURE_BYTES), *pinned = malloc(FIXTURE_BYTES), *managed = malloc(FIXTURE_BYTES);
  void *far = malloc(FIXTURE_BYTES);
  fake->memory_enter(pinned, FIXTURE_BYTES, FAKE_PINNED, 0);
  fake->memory_enter(managed, FIXTURE_BYTES, FAKE_MANAGED, 0);
  fake->memory_enter(far, FIXTURE_BYTES, FAKE_DEVICE, 1);
  cuttPlan_t plan = fixture_plan();
  fake->forget();
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, plain, device, NULL), "in is", "host memory",
                "not pinned", "NVIDIA H200");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, device, plain, NULL), "out is", "host memory");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, far, device, NULL), "in is", "device 1", "peer access");
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 0);
  assert_success(cuttPlanExecute(plan, pinned, device, NULL));
  assert_success(cuttPlanExecute(plan, device, managed, NULL));
  assert_success(cuttPlanExecute(plan, managed, pinned, NULL));
  /* Mapped for this device by hand, it is no peer's; to be read is not enough. */
  atomic_store(&fake->access, 1);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, far, device, NULL), "in is", "device 1", "peer access");
  atomic_store(&fake->access, 3);
  assert_success(cuttPlanExecute(plan, far, device, NULL));
  assert_success(cuttPlanExecute(plan, device, far, NULL));
  atomic_store(&fake->access, 0);
  atomic_store(&fake->peers, 1);
  assert_success(cuttPlanExecute(plan, far, device, NULL));
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 6);
  assert_success(cuttPlanDestroy(plan));

  /* The reverse. */
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, device, plain, NULL), "in is", "CUTT_BACKEND_CUDA",
                "CUTT_BACKEND_CPU");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, plain, device, NULL), "out is", "CUTT_BACKEND_CUDA");
  memset(managed, 1, FIXTURE_BYTES);
  memset(pinned, 2, FIXTURE_BYTES);
  assert_success(cuttPlanExecute(plan, managed, plain, NULL));
  assert_success(cuttPlanExecute(plan, plain, pinned, NULL));
  assert_memory_equal(managed, pinned, FIXTURE_BYTES);
  assert_success(cuttPlanDestroy(plan));
  assert_result(CUTT_INVALID_PARAMETER, cuttMemoryCopy(CUTT_BACKEND_CPU, plain, device, 8), "from is");
  void *const all[] = {plain, pinned, managed, far};
  for (int i = 0; i < 4; ++i) {
    fake->memory_enter(all[i], 0, FAKE_FREE, 0);
    free(all[i]);
  }
  fixture_free(device);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(nothing_heavy_is_done),
      TEST(kernels_begin_early),
      TEST(kept_plans),
      TEST(trusted_pointers_are_not_looked_at),
      TEST(plain_copies_are_the_drivers),
      TEST(launches_are_as_laid_out),
      TEST(streams_are_passed_on),
      TEST(captures_go_on),
      TEST(pointers_are_looked_at),
  };
  return cmocka_run_group_tests(tests, fixture_open, NULL);
}
