/* Which backend a plan is for, and in which context it is planned and executed, against the fake driver. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fixture.h"

/* ------------------------------------------------------------------------------------------------------------ backend */

static cuttBackend_t backend_of(cuttPlan_t plan, const char **isa) {
  cuttPlanInfo_t info;
  info.struct_size = sizeof info;
  assert_success(cuttPlanGetInfo(plan, &info));
  if (isa) *isa = info.isa;
  return info.backend;
}

static void auto_prefers_the_gpu(void **unused) {
  (void)unused;
  const cuttProblem_t problem = fixture_problem();
  cuttPlan_t plan = NULL;
  const char *isa = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, NULL));
  assert_int_equal(backend_of(plan, &isa), CUTT_BACKEND_CUDA);
  assert_string_equal(isa, "sm_90");
  assert_success(cuttPlanDestroy(plan));
}

static void the_environment_forbids(void **unused) {
  (void)unused;
  static const char *const values[] = {"0", "off"};
  const cuttProblem_t problem = fixture_problem();
  cuttPlan_t plan = NULL;
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(setenv("CUTT_CUDA", values[i], 1), 0);
    assert_success(cuttPlanCreate(&plan, &problem, NULL));
    assert_int_equal(backend_of(plan, NULL), CUTT_BACKEND_CPU);
    assert_success(cuttPlanDestroy(plan));
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    options.backend = CUTT_BACKEND_CUDA;
    assert_result(CUTT_INVALID_DEVICE, cuttPlanCreate(&plan, &problem, &options), "options->backend",
                  "CUTT_BACKEND_CUDA", "CUTT_CUDA forbids it");
    assert_null(plan);
    void *memory = NULL;
    assert_result(CUTT_INVALID_DEVICE, cuttMemoryAllocate(CUTT_BACKEND_CUDA, 8, &memory), "backend is", "CUTT_CUDA");
    assert_null(memory);
  }
  assert_int_equal(unsetenv("CUTT_CUDA"), 0);
}

static void devices_are_described(void **unused) {
  (void)unused;
  char text[8192];
  assert_success(cuttDevicesDescribe(CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "cuda: usable, sm_90"));
  assert_non_null(strstr(text, "driver           for CUDA 12.8"));
  assert_non_null(strstr(text, "made by CUDA 12.0 for sm_80, sm_90"));
  assert_non_null(strstr(text, "NVIDIA H200, compute capability 9.0, in use"));
  assert_non_null(strstr(text, "132 at 1980 MHz, shared memory 228 KiB each, 227 KiB for a block"));
  assert_non_null(strstr(text, "142336 MiB at 4917 GB/s, L2 61440 KiB"));
  assert_non_null(strstr(text, "NVIDIA A100-SXM4-40GB, compute capability 8.0\n"));
  assert_non_null(strstr(text,
                         "compute capability 6.0: not usable: Tesla P100-PCIE-16GB is of compute capability 6.0, "
                         "which this build has no kernels for"));
  assert_success(cuttDevicesDescribe(CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"kernels\": [\"sm_80\", \"sm_90\"]"));
  assert_non_null(strstr(text, "\"multiprocessors\": 108"));
  /* Planning is what makes a context; looking does not. */
  assert_int_equal(fixture_calls(FAKE_primary_ctx_retain), 0);
  assert_int_equal(fixture_calls(FAKE_module_load_data), 0);
}

/* Of the current context's device, the backend is not usable there. */
static void a_device_without_kernels(void **unused) {
  (void)unused;
  struct CUctx_st *old = fake->context_create(2);
  fake->context_set(old);
  const cuttProblem_t problem = fixture_problem();
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, NULL));
  assert_int_equal(backend_of(plan, NULL), CUTT_BACKEND_CPU);
  assert_success(cuttPlanDestroy(plan));
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  assert_result(CUTT_INVALID_DEVICE, cuttPlanCreate(&plan, &problem, &options), "Tesla P100", "6.0");
  fake->context_destroy(old);
}

static void a_description_is_the_plans(void **unused) {
  (void)unused;
  struct CUctx_st *small = fake->context_create(1);
  fake->context_set(small);
  cuttPlan_t plan = fixture_plan();
  static char there[1 << 20], here[1 << 20];
  assert_success(cuttPlanDescribe(plan, CUTT_JSON, there, sizeof there, NULL));
  assert_non_null(strstr(there, "\"isa\":\"sm_80\""));
  assert_non_null(strstr(there, "\"backend\":\"cuda\""));
  fake->context_set(NULL);
  assert_success(cuttPlanDescribe(plan, CUTT_JSON, here, sizeof here, NULL));
  assert_string_equal(there, here);
  assert_success(cuttPlanDestroy(plan));
  fake->context_destroy(small);
}

/* ----------------------------------------------------------------------------------------------------------- contexts */

static void without_a_context_the_primary_one(void **unused) {
  (void)unused;
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  cuttPlan_t plan = fixture_plan();
  fake->forget();
  for (int i = 0; i < 3; ++i) {
    assert_success(cuttPlanExecute(plan, in, out, NULL));
    assert_int_equal(fake->last.context->device, 0);
    assert_int_equal(atomic_load(&fake->depth), 0);
  }
  assert_int_equal(fixture_calls(FAKE_ctx_push_current), 3);
  assert_int_equal(fixture_calls(FAKE_ctx_pop_current), 3);
  assert_int_equal(fixture_calls(FAKE_primary_ctx_retain), 0);
  /* The same context, current this time: nothing to push. */
  fake->context_set(fake->last.context);
  fake->forget();
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_int_equal(fixture_calls(FAKE_ctx_push_current), 0);
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
}

static void a_current_context_is_used(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  fake->forget();
  cuttPlan_t plan = fixture_plan();
  assert_int_equal(atomic_load(&own->modules), 1);
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_ptr_equal(fake->last.context, own);
  cuttPlan_t second = fixture_plan();
  assert_int_equal(atomic_load(&own->modules), 1); /* loaded once */
  assert_int_equal(fixture_calls(FAKE_ctx_push_current), 0);
  assert_int_equal(fixture_calls(FAKE_primary_ctx_retain), 0);
  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttPlanDestroy(second));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

static void other_contexts_are_refused(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *sibling = fake->context_create(0), *far = fake->context_create(1);
  fake->context_set(own);
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  cuttPlan_t plan = fixture_plan();
  cuttHandle handle = 0;
  int dim[] = {4, 5}, permutation[] = {1, 0};
  assert_success(cuttPlan(&handle, 2, dim, permutation, 4, NULL));
  fake->forget();
  fake->context_set(far);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, in, out, NULL), "device 0, NVIDIA H200", "device 1");
  assert_result(CUTT_INVALID_DEVICE, cuttExecute(handle, in, out), "device 1");
  fake->context_set(sibling);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, in, out, NULL), "current context is");
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 0);
  /* A thread that has none has not chosen another. */
  fake->context_set(NULL);
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  fake->context_set(own);
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_success(cuttExecute(handle, in, out));
  assert_success(cuttDestroy(handle));
  fixture_free(in);
  fixture_free(out);

  /* Its address goes to a context of the same device that is not the plan's. */
  fake->context_destroy(own);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, in, out, NULL), "destroyed");
  assert_ptr_equal(fake->context_create(0), own);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, in, out, NULL), "destroyed", "address");
  cuttPlan_t again = fixture_plan(); /* and gets kernels of its own */
  assert_int_equal(atomic_load(&own->modules), 1);
  in = fixture_device_memory(FIXTURE_BYTES);
  out = fixture_device_memory(FIXTURE_BYTES);
  assert_success(cuttPlanExecute(again, in, out, NULL));
  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttPlanDestroy(again));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
  fake->context_destroy(sibling);
  fake->context_destroy(far);
}

/* Without a current context a plan with a stream is for the stream's, wherever that is, and is executed there. */
static void without_a_context_the_streams(void **unused) {
  (void)unused;
  struct CUctx_st *far = fake->context_create(1);
  struct CUstream_st stream = {.context = far};
  fake->context_set(far);
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  fake->context_set(NULL);
  cuttHandle handle = 0, again = 0;
  int dim[] = {4, 5}, permutation[] = {1, 0};
  assert_success(cuttPlan(&handle, 2, dim, permutation, 4, &stream));
  assert_int_equal(fixture_calls(FAKE_primary_ctx_retain), 0);
  assert_success(cuttExecute(handle, in, out));
  assert_ptr_equal(fake->last.context, far);
  assert_ptr_equal(fake->last.stream, &stream);
  const float alpha = 2;
  assert_success(cuttExecuteScaled(handle, in, out, &alpha, NULL));
  assert_ptr_equal(fake->last.context, far);
  /* Planning by the descriptor knows a stream only to measure in. */
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.measure_stream = &stream;
  cuttPlan_t plan = NULL;
  const char *isa = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  assert_int_equal(backend_of(plan, &isa), CUTT_BACKEND_CUDA);
  assert_string_equal(isa, "sm_80");
  assert_success(cuttPlanDestroy(plan));
  /* With that context current it is the same plan; a context that is current comes before the stream's. */
  fake->context_set(far);
  assert_success(cuttPlan(&again, 2, dim, permutation, 4, &stream));
  assert_int_equal(again, handle);
  struct CUctx_st *near = fake->context_create(0);
  fake->context_set(near);
  cuttHandle other = 0;
  assert_success(cuttPlan(&other, 2, dim, permutation, 4, &stream));
  assert_int_not_equal(other, handle);
  assert_success(cuttDestroy(other));
  assert_success(cuttDestroy(again));
  assert_success(cuttDestroy(handle));
  /* A stream whose context the driver can't tell. */
  fake->context_set(NULL);
  fake->forget();
  atomic_store(&fake->fail_at, 1);
  atomic_store(&fake->fail, FAKE_stream_get_ctx);
  assert_result(CUTT_INTERNAL_ERROR, cuttPlan(&other, 2, dim, permutation, 4, &stream), "context of stream",
                "a failure on request");
  fake->forget();
  cuttFinalize();
  fake->context_set(far);
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(near);
  fake->context_destroy(far);
}

/* One handle for each problem, context and stream, and planning again calls next to nothing of the driver. */
static void handles_are_given_again(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *sibling = fake->context_create(0);
  struct CUstream_st stream = {.context = own};
  cuttHandle first = 0, handle = 0;
  int dim[] = {4, 5}, permutation[] = {1, 0};
  fake->context_set(own);
  assert_success(cuttPlan(&first, 2, dim, permutation, 4, NULL));
  fake->forget();
  for (int i = 0; i < 10; ++i) {
    assert_success(cuttPlan(&handle, 2, dim, permutation, 4, NULL));
    assert_int_equal(handle, first);
  }
  assert_int_equal(fixture_heavy_calls(), 0);
  assert_int_equal(fixture_calls(FAKE_module_get_function) + fixture_calls(FAKE_func_get_attribute), 0);
  for (int i = 0; i < 10; ++i) assert_success(cuttDestroy(handle));
  assert_success(cuttPlan(&handle, 2, dim, permutation, 4, &stream));
  assert_int_not_equal(handle, first);
  assert_success(cuttDestroy(handle));
  fake->context_set(sibling);
  assert_success(cuttPlan(&handle, 2, dim, permutation, 4, NULL));
  assert_int_not_equal(handle, first);
  assert_success(cuttDestroy(handle));
  /* A context that has the address of one that is gone is another one. */
  fake->context_destroy(own);
  assert_ptr_equal(fake->context_create(0), own);
  fake->context_set(own);
  assert_success(cuttPlan(&handle, 2, dim, permutation, 4, NULL));
  assert_int_not_equal(handle, first);
  assert_success(cuttDestroy(handle));
  assert_success(cuttDestroy(first));
  fake->context_destroy(own);
  fake->context_destroy(sibling);
}

/* Without a context and without a stream: the device that the program has chosen, as the run time would take it. */
static void without_a_context_the_run_times_device(void **unused) {
  (void)unused;
  void *library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  int (*set_device)(int) = NULL;
  void *symbol = dlsym(library, "cudaSetDevice");
  assert_non_null(symbol);
  memcpy(&set_device, &symbol, sizeof set_device);
  static const struct {
    int device, is;
    const char *isa;
  } cases[] = {{1, 1, "sm_80"}, {0, 0, "sm_90"}, {1, 1, "sm_80"}, {7, 0, "sm_90"}, {-1, 0, "sm_90"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    set_device(cases[i].device);
    void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
    cuttPlan_t plan = fixture_plan();
    const char *isa = NULL;
    backend_of(plan, &isa);
    assert_string_equal(isa, cases[i].isa);
    assert_success(cuttPlanExecute(plan, in, out, NULL));
    assert_int_equal(fake->last.context->device, cases[i].is);
    assert_success(cuttPlanDestroy(plan));
    fixture_free(in);
    fixture_free(out);
  }
  /* One that the library has no kernels for. */
  set_device(2);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  const cuttProblem_t problem = fixture_problem();
  cuttPlan_t none = NULL;
  assert_result(CUTT_INVALID_DEVICE, cuttPlanCreate(&none, &problem, &options), "Tesla P100", "6.0");
  set_device(0);
}

static void a_reset_device_is_taken_up_again(void **unused) {
  (void)unused;
  cuttPlan_t plan = fixture_plan();
  fake->reset(0);
  void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, in, out, NULL), "destroyed");
  cuttPlan_t again = fixture_plan();
  assert_success(cuttPlanExecute(again, in, out, NULL));
  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttPlanDestroy(again));
  fixture_free(in);
  fixture_free(out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(devices_are_described),
      TEST(auto_prefers_the_gpu),
      TEST(the_environment_forbids),
      TEST(a_device_without_kernels),
      TEST(a_description_is_the_plans),
      TEST(without_a_context_the_primary_one),
      TEST(a_current_context_is_used),
      TEST(other_contexts_are_refused),
      TEST(without_a_context_the_streams),
      TEST(handles_are_given_again),
      TEST(without_a_context_the_run_times_device),
      TEST(a_reset_device_is_taken_up_again),
  };
  return cmocka_run_group_tests(tests, fixture_open, NULL);
}
