/* The CUDA backend's host side against the fake driver: which backend is taken, contexts, pointers, streams, captures, and
 * what a launch is given. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fixture.h"
#include "gpu/launch.h"
#include "plan/plan.h"

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
  long calls = 0;
  for (int i = 0; i < FAKE_FUNCTIONS; ++i) calls += fixture_calls(i);
  assert_int_equal(fixture_calls(FAKE_ctx_get_current), 1);
  assert_int_equal(fixture_calls(FAKE_ctx_get_id), 1);
  assert_int_equal(fixture_calls(FAKE_pointer_get_attributes), 2);
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
  assert_int_equal(calls, 5);
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

/* The second call with a problem looks which context is current, and executes the plan that is kept. */
static void kept_plans(void **unused) {
  (void)unused;
  const cuttProblem_t problem = fixture_problem();
  for (int round = 0; round < 3;
       ++round) { /* each in a context of its own, where the kernels have to be loaded again */
    struct CUctx_st *own = fake->context_create(0);
    fake->context_set(own);
    void *in = fixture_device_memory(FIXTURE_BYTES), *out = fixture_device_memory(FIXTURE_BYTES);
    fake->forget();
    assert_success(cuttPermute(&problem, NULL, in, out, NULL));
    assert_int_equal(fixture_calls(FAKE_module_load_data), 1);
    fake->forget();
    assert_success(cuttPermute(&problem, NULL, in, out, NULL));
    long calls = 0;
    for (int i = 0; i < FAKE_FUNCTIONS; ++i) calls += fixture_calls(i);
    assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
    assert_int_equal(fixture_calls(FAKE_module_load_data), 0);
    assert_int_equal(calls, 5 + 4);
    fixture_free(in);
    fixture_free(out);
    fake->context_destroy(own);
  }
  cuttFinalize();
}

/* ------------------------------------------------------------------------------------------------------------ batches */

static long all_calls(void) {
  long calls = 0;
  for (int i = 0; i < FAKE_FUNCTIONS; ++i) calls += fixture_calls(i);
  return calls;
}

/* The pairs that launches were given, by what the kernels would make of their parameters. The problems have in_start 0. */
enum { MOST_SEEN = 20000 };
static struct {
  int launches, batched, pairs;
  unsigned long long in[MOST_SEEN], out[MOST_SEEN];
} seen;

static double see(const fake_launch *launch) {
  const cutt_kernel_args *args = launch->args;
  const cutt_pairs *pairs = launch->pairs;
  ++seen.launches;
  seen.batched += pairs != NULL;
  uint32_t count = 1;
  if (strncmp(launch->kernel, "cutt_flat_", 10) != 0) { /* that does one execution, with parameters of its own */
    uint32_t tiles = 1;                                 /* of one execution */
    for (uint32_t i = 0; i < args->grid_modes; ++i) tiles *= args->grid[i].extent.by;
    if (args->tiles % tiles != 0) return -1;
    count = args->tiles / tiles;
  }
  for (uint32_t i = 0; i < count && seen.pairs < MOST_SEEN; ++i, ++seen.pairs) {
    seen.in[seen.pairs] = launch->in + (pairs ? (unsigned long long)pairs->at[i].in << pairs->in_log2 : 0);
    seen.out[seen.pairs] = launch->out + (pairs ? (unsigned long long)pairs->at[i].out << pairs->out_log2 : 0);
  }
  return 1e-3;
}

static void watch(void) {
  memset(&seen, 0, sizeof seen);
  fake->seconds_of = see;
  fake->forget();
}

static int compare_addresses(const void *a, const void *b) {
  const unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
  return (x > y) - (x < y);
}

/* Has each pair been given once? Outputs are all different, and tell the inputs. */
static void all_were_seen(int count, const void *const *in, void *const *out) {
  assert_int_equal(seen.pairs, count);
  for (int i = 0; i < count; ++i) {
    int found = 0;
    for (int j = 0; j < seen.pairs && found < 2; ++j) {
      if (seen.out[j] != (uintptr_t)out[i]) continue;
      assert_int_equal(seen.in[j], (uintptr_t)in[i]);
      ++found;
    }
    assert_int_equal(found, 1);
  }
}

/* 8 x 6 x 4 doubles. */
enum { SMALL_BYTES = 8 * 6 * 4 * 8 };

static cuttPlan_t small_plan(int trust, int first, cuttType_t type) {
  static const int64_t extents[] = {8, 6, 4};
  static const int perm[][3] = {{2, 1, 0}, {1, 0, 2}};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  problem.rank = 3;
  problem.type = type;
  problem.extents = extents;
  problem.perm = perm[first];
  const double alpha = 2;
  if (type == CUTT_F64) problem.alpha = &alpha;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  options.trust_pointers = trust;
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &problem, &options));
  return plan;
}

enum { PAIRS = 8 };

static void place_pairs(char *in, char *out, int count, const void **from, void **to) {
  for (int i = 0; i < count; ++i) {
    from[i] = in + (size_t)(count - 1 - i) * SMALL_BYTES;
    to[i] = out + (size_t)i * SMALL_BYTES;
  }
}

/* One launch for all pairs of a plan. The first such call of a context finds the kernels, in a capture too. */
static void batches_are_one_launch(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own};
  char *in = fixture_device_memory(PAIRS * SMALL_BYTES), *out = fixture_device_memory(PAIRS * SMALL_BYTES);
  const void *from[PAIRS];
  void *to[PAIRS];
  place_pairs(in, out, PAIRS, from, to);
  cuttPlan_t plan = small_plan(0, 0, CUTT_BYTES_8), other = small_plan(0, 1, CUTT_BYTES_8);
  const cuttPlan_t plans[PAIRS] = {plan, other, other, plan, plan, plan, other, other};
  atomic_store(&stream.capturing, true);
  atomic_store(&fake->capture_is_on, 1);
  for (int round = 0; round < 3; ++round) {
    watch();
    assert_success(cuttPlanExecuteBatch(plan, PAIRS, from, to, &stream));
    assert_int_equal(seen.launches, 1);
    assert_int_equal(seen.batched, 1);
    all_were_seen(PAIRS, from, to);
    assert_ptr_equal(fake->last.stream, &stream);
    assert_int_equal(fixture_heavy_calls(), 0);
    assert_int_equal(fixture_calls(FAKE_pointer_get_attributes), 2 * PAIRS);
    if (round > 0) assert_int_equal(all_calls(), 2 + 2 * PAIRS + 1);
    watch();
    assert_success(cuttPlansExecute(PAIRS, plans, from, to, &stream));
    assert_int_equal(seen.launches, 2); /* one for each plan */
    assert_int_equal(seen.batched, 2);
    all_were_seen(PAIRS, from, to);
    if (round > 0) assert_int_equal(all_calls(), 2 + 2 * PAIRS + 2);
  }
  atomic_store(&fake->capture_is_on, 0);
  /* Two are two launches. */
  watch();
  assert_success(cuttPlanExecuteBatch(plan, 2, from, to, NULL));
  assert_int_equal(seen.launches, 2);
  assert_int_equal(seen.batched, 0);
  all_were_seen(2, from, to);
  assert_success(cuttPlanDestroy(other));
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

/* What is wrong with a pair is told with its number, and nothing of its round is started. */
static void batches_are_checked(void **unused) {
  (void)unused;
  char *in = fixture_device_memory((PAIRS + 1) * SMALL_BYTES), *out = fixture_device_memory((PAIRS + 1) * SMALL_BYTES);
  void *plain = malloc(SMALL_BYTES);
  const void *from[PAIRS];
  void *to[PAIRS];
  cuttPlan_t plan = small_plan(0, 0, CUTT_BYTES_8), numbers = small_plan(0, 0, CUTT_F64);
  cuttPlan_t plans[PAIRS];
  for (int i = 0; i < PAIRS; ++i) plans[i] = plan;
  place_pairs(in, out, PAIRS, from, to);
  from[5] = plain;
  watch();
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, PAIRS, from, to, NULL), "execution 5", "in is",
                "host memory");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(PAIRS, plans, from, to, NULL), "execution 5", "in is",
                "host memory");
  assert_int_equal(seen.launches, 0);
  /* Buffers that are aligned to 8 bytes are one launch too, but numbers that are aligned to less are refused. */
  for (int i = 0; i < PAIRS; ++i) from[i] = in + (size_t)i * SMALL_BYTES + 8;
  watch();
  assert_success(cuttPlanExecuteBatch(plan, PAIRS, from, to, NULL));
  assert_int_equal(seen.launches, 1);
  all_were_seen(PAIRS, from, to);
  from[3] = in + 3 * SMALL_BYTES + 2;
  watch();
  assert_success(cuttPlanExecuteBatch(plan, PAIRS, from, to, NULL));
  assert_int_equal(seen.launches, 1);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(numbers, PAIRS, from, to, NULL), "execution 3",
                "multiples of 2");

  /* Plans for two backends. */
  const cuttProblem_t problem = fixture_problem();
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  cuttPlan_t here;
  void *here_in = malloc(FIXTURE_BYTES);
  void *far = fixture_device_memory(FIXTURE_BYTES);
  assert_success(cuttPlanCreate(&here, &problem, &options));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(2, (const cuttPlan_t[]){plan, here}, from, to, NULL),
                "plans[1]", "CUTT_BACKEND_CPU", "CUTT_BACKEND_CUDA");
  /* And a device's memory for a plan on the CPU. */
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(here, 1, (const void *[]){here_in}, (void *[]){far}, NULL),
                "out[0] is", "CUTT_BACKEND_CUDA");
  assert_success(cuttPlanDestroy(here));
  fixture_free(far);
  free(here_in);
  assert_success(cuttPlanDestroy(numbers));
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
  free(plain);
}

/* More pairs than one launch takes, and than are looked at together; and a driver that takes no lists. */
static void large_batches(void **unused) {
  (void)unused;
  enum { COUNT = 10000, OTHERS = 70 };
  static const void *from[COUNT];
  static void *to[COUNT];
  static unsigned long long sorted[COUNT];
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  cuttPlan_t plan = small_plan(1, 0, CUTT_BYTES_8), others[OTHERS];
  char *const base = (char *)(uintptr_t)UINT64_C(0x7f0000000000); /* nobody looks there */
  place_pairs(base, base + (size_t)COUNT * SMALL_BYTES, COUNT, from, to);
  watch();
  assert_success(cuttPlanExecuteBatch(plan, COUNT, from, to, NULL));
  assert_int_equal(seen.launches, (COUNT + CUTT_PAIRS - 1) / CUTT_PAIRS);
  assert_int_equal(seen.pairs, COUNT);
  memcpy(sorted, seen.out, sizeof sorted);
  qsort(sorted, COUNT, sizeof *sorted, compare_addresses);
  for (int i = 0; i < COUNT; ++i) {
    assert_int_equal(sorted[i], (uintptr_t)to[i]);
    /* Inputs run the other way. */
    assert_int_equal(seen.in[i] - (uintptr_t)base, (uintptr_t)to[COUNT - 1] - seen.out[i]);
  }
  watch();
  assert_success(cuttPlanExecuteBatch(plan, COUNT, from, to, NULL));
  assert_int_equal(all_calls(), seen.launches);

  /* Many plans. */
  cuttPlan_t plans[4 * OTHERS];
  for (int i = 0; i < OTHERS; ++i) others[i] = small_plan(1, i % 2, CUTT_BYTES_8);
  for (int i = 0; i < 4 * OTHERS; ++i) plans[i] = others[i % OTHERS];
  watch();
  assert_success(cuttPlansExecute(4 * OTHERS, plans, from, to, NULL));
  all_were_seen(4 * OTHERS, from, to);
  assert_int_equal(seen.launches, OTHERS);
  for (int i = 0; i < OTHERS; ++i) assert_success(cuttPlanDestroy(others[i]));

  cutt_cu *cu = (cutt_cu *)(uintptr_t)cutt_cuda_driver_in_use();
  const int version = cu->version;
  cu->version = 12000;
  cuttPlan_t old = small_plan(1, 0, CUTT_BYTES_8);
  watch();
  assert_success(cuttPlanExecuteBatch(old, PAIRS, from, to, NULL));
  assert_int_equal(seen.launches, PAIRS);
  assert_int_equal(seen.batched, 0);
  all_were_seen(PAIRS, from, to);
  cu->version = version;
  assert_success(cuttPlanDestroy(old));
  assert_success(cuttPlanDestroy(plan));
  fake->context_destroy(own);
}

/* Failures of any call of the driver's are told, and leave nothing behind that a later call trips over. */
static void batches_that_fail(void **unused) {
  (void)unused;
  char *in = fixture_device_memory(PAIRS * SMALL_BYTES), *out = fixture_device_memory(PAIRS * SMALL_BYTES);
  const void *from[PAIRS];
  void *to[PAIRS];
  place_pairs(in, out, PAIRS, from, to);
  static const int functions[] = {FAKE_launch_kernel, FAKE_pointer_get_attributes, FAKE_module_get_function,
                                  FAKE_func_load, FAKE_ctx_get_id};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    fake->reset(0); /* so that the batched kernels are looked for again */
    fixture_free(in);
    fixture_free(out);
    in = fixture_device_memory(PAIRS * SMALL_BYTES), out = fixture_device_memory(PAIRS * SMALL_BYTES);
    place_pairs(in, out, PAIRS, from, to);
    cuttPlan_t plan = small_plan(0, 0, CUTT_BYTES_8);
    watch();
    atomic_store(&fake->fail_at, 1);
    atomic_store(&fake->fail, functions[i]);
    assert_true(cuttPlanExecuteBatch(plan, PAIRS, from, to, NULL) != CUTT_SUCCESS);
    assert_non_null(strstr(cuttLastError(), "a failure on request"));
    assert_int_equal(atomic_load(&fake->failed), 1);
    assert_int_equal(atomic_load(&fake->depth), 0);
    watch();
    assert_success(cuttPlanExecuteBatch(plan, PAIRS, from, to, NULL));
    assert_int_equal(seen.launches, 1);
    all_were_seen(PAIRS, from, to);
    assert_success(cuttPlanDestroy(plan));
  }
  fixture_free(in);
  fixture_free(out);
}

/* ------------------------------------------------------------------------------------------------- trusted pointers */

static void trusted_pointers_are_not_looked_at(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *other = fake->context_create(0);
  fake->context_set(own);
  char *in = fixture_device_memory(SMALL_BYTES), *out = fixture_device_memory(SMALL_BYTES),
       *plain = malloc(SMALL_BYTES);
  cuttPlan_t plan = small_plan(1, 0, CUTT_BYTES_8);
  watch();
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
  assert_int_equal(all_calls(), 1);
  all_were_seen(1, (const void *[]){in}, (void *[]){out});
  assert_success(cuttPlanExecute(plan, plain, out, NULL)); /* it is the caller's word */
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, NULL, out, NULL), "in is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, in, in, NULL), "overlap");
  /* A thread without a context; another context; a stream of another. */
  fake->context_set(NULL);
  watch();
  assert_success(cuttPlanExecute(plan, in, out, NULL));
  assert_ptr_equal(fake->last.context, own);
  assert_int_equal(seen.launches, 1);
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
    assert_int_equal(all_calls(), options.trust_pointers ? 1 : 5);
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

/* ------------------------------------------------------------------------------------------------------------ threads */

enum { THREADS = 8 };

typedef struct together {
  struct CUctx_st *context;
  pthread_barrier_t barrier;
  void *in;
  char *out;
  cuttPlan_t shared;
} together;

typedef struct one_thread {
  together *all;
  int number;
  int failures;
} one_thread;

static void *plan_and_execute(void *argument) {
  one_thread *me = argument;
  together *all = me->all;
  fake->context_set(all->context);
  const cuttProblem_t problem = fixture_problem();
  cuttPlan_t plan = NULL;
  pthread_barrier_wait(&all->barrier);
  char *out = all->out + (size_t)me->number * FIXTURE_BYTES;
  if (cuttPlanCreate(&plan, &problem, NULL)) ++me->failures;
  for (int i = 0; i < 200; ++i) {
    if (cuttPlanExecute(plan, all->in, out, NULL)) ++me->failures;
    if (all->shared && cuttPlanExecute(all->shared, all->in, out, NULL)) ++me->failures;
  }
  cuttPlanDestroy(plan);
  fake->context_set(NULL);
  return NULL;
}

static void threads_share_a_context(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0), *planned = fake->context_create(0);
  /* The shared plan is of one context, the threads' own plans are the first of another: all of them want the kernels. */
  for (int round = 0; round < 2; ++round) {
    together all = {.context = round ? planned : own};
    fake->context_set(all.context);
    all.in = fixture_device_memory(FIXTURE_BYTES);
    all.out = fixture_device_memory((size_t)THREADS * FIXTURE_BYTES);
    all.shared = round ? fixture_plan() : NULL;
    assert_int_equal(pthread_barrier_init(&all.barrier, NULL, THREADS), 0);
    one_thread threads[THREADS];
    pthread_t ids[THREADS];
    fake->forget();
    for (int i = 0; i < THREADS; ++i) {
      threads[i] = (one_thread){&all, i, 0};
      assert_int_equal(pthread_create(&ids[i], NULL, plan_and_execute, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
      assert_int_equal(pthread_join(ids[i], NULL), 0);
      assert_int_equal(threads[i].failures, 0);
    }
    assert_int_equal(atomic_load(&all.context->modules), 1);
    assert_int_equal(fixture_calls(FAKE_launch_kernel), THREADS * (round ? 400 : 200));
    pthread_barrier_destroy(&all.barrier);
    assert_success(cuttPlanDestroy(all.shared));
    fixture_free(all.in);
    fixture_free(all.out);
  }
  fake->context_destroy(own);
  fake->context_destroy(planned);
}

/* More threads than there are desks: each pair is done, by one launch or several. */
static void *execute_batches(void *argument) {
  one_thread *me = argument;
  together *all = me->all;
  const void *from[PAIRS];
  void *to[PAIRS];
  fake->context_set(all->context);
  place_pairs(all->in, all->out + (size_t)me->number * PAIRS * SMALL_BYTES, PAIRS, from, to);
  pthread_barrier_wait(&all->barrier);
  for (int i = 0; i < 100; ++i) {
    if (cuttPlanExecuteBatch(all->shared, PAIRS, from, to, NULL)) ++me->failures;
  }
  fake->context_set(NULL);
  return NULL;
}

static void threads_share_desks(void **unused) {
  (void)unused;
  enum { MANY = 16 };
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  together all = {.context = own};
  all.in = fixture_device_memory(PAIRS * SMALL_BYTES);
  all.out = fixture_device_memory((size_t)MANY * PAIRS * SMALL_BYTES);
  all.shared = small_plan(0, 0, CUTT_BYTES_8);
  assert_int_equal(pthread_barrier_init(&all.barrier, NULL, MANY), 0);
  one_thread threads[MANY];
  pthread_t ids[MANY];
  watch();
  for (int i = 0; i < MANY; ++i) {
    threads[i] = (one_thread){&all, i, 0};
    assert_int_equal(pthread_create(&ids[i], NULL, execute_batches, &threads[i]), 0);
  }
  for (int i = 0; i < MANY; ++i) {
    assert_int_equal(pthread_join(ids[i], NULL), 0);
    assert_int_equal(threads[i].failures, 0);
  }
  assert_int_equal(seen.pairs, MANY * 100 * PAIRS);
  pthread_barrier_destroy(&all.barrier);
  assert_success(cuttPlanDestroy(all.shared));
  fixture_free(all.in);
  fixture_free(all.out);
  fake->context_destroy(own);
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
      TEST(nothing_heavy_is_done),
      TEST(kept_plans),
      TEST(batches_are_one_launch),
      TEST(batches_are_checked),
      TEST(large_batches),
      TEST(batches_that_fail),
      TEST(trusted_pointers_are_not_looked_at),
      TEST(plain_copies_are_the_drivers),
      TEST(threads_share_desks),
      TEST(launches_are_as_laid_out),
      TEST(streams_are_passed_on),
      TEST(captures_go_on),
      TEST(pointers_are_looked_at),
      TEST(threads_share_a_context),
  };
  return cmocka_run_group_tests(tests, fixture_open, NULL);
}
