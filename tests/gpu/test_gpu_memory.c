/* Memory and contexts: which memory a plan takes, which it refuses with an error rather than a fault, and that executions
 * take none. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/fixture.h"

/* ------------------------------------------------------------------------------------------------ kinds of memory */

typedef enum kind { PLAIN, PINNED, MANAGED, KINDS } kind;

static bool managed_works(void) {
  int value = 0;
  gpu_check(gpu.device_attribute(&value, GPU_ATTRIBUTE_MANAGED, gpu.device));
  return value != 0;
}

static gpu_address take(kind what, size_t bytes) {
  gpu_address memory = 0;
  void *host = NULL;
  switch (what) {
    case PINNED:
      gpu_check(gpu.allocate_pinned(&host, bytes, 0));
      return (gpu_address)(uintptr_t)host;
    case MANAGED:
      gpu_check(gpu.allocate_managed(&memory, bytes, GPU_ATTACH_GLOBAL));
      return memory;
    default:
      return gpu_allocate(bytes);
  }
}

static void give_back(kind what, gpu_address memory) {
  if (what == PINNED)
    gpu_check(gpu.release_pinned(gpu_pointer(memory)));
  else
    gpu_release(memory);
}

static void every_kind_of_memory(void **unused) {
  (void)unused;
  static const char *const name[KINDS] = {"plain", "pinned", "managed"};
  gpu_case c = gpu_case_make(1);
  cuttPlan_t plan = gpu_plan(&c.problem);
  enum { SHIFT = 20 }; /* pointers into the middle of memory are as good */
  for (kind from = PLAIN; from < KINDS; ++from) {
    for (kind to = PLAIN; to < KINDS; ++to) {
      if ((from == MANAGED || to == MANAGED) && !managed_works()) continue;
      const gpu_address in = take(from, c.bytes + SHIFT), out = take(to, c.bytes + SHIFT);
      gpu_check(gpu.to_device(in + SHIFT, c.in, c.bytes));
      assert_success(cuttPlanExecute(plan, gpu_pointer(in + SHIFT), gpu_pointer(out + SHIFT), NULL));
      gpu_check(gpu.synchronize());
      if (!gpu_case_right(&c, out + SHIFT)) fail_msg("wrong from %s to %s memory", name[from], name[to]);
      give_back(from, in);
      give_back(to, out);
    }
  }
  assert_success(cuttPlanDestroy(plan));
  gpu_case_free(&c);
}

static void host_memory_is_refused(void **unused) {
  (void)unused;
  int reads_host_pages = 0;
  gpu_check(gpu.device_attribute(&reads_host_pages, GPU_ATTRIBUTE_READS_HOST_PAGES, gpu.device));
  if (reads_host_pages) skip(); /* then it is the GPU's as well */
  gpu_case c = gpu_case_make(2);
  cuttPlan_t plan = gpu_plan(&c.problem);
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, c.in, gpu_pointer(out), NULL), "in is");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, gpu_pointer(in), c.got, NULL), "out is");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, c.in, c.got, NULL), "in is");
  /* Nothing has come of it: the context is alive, the output untouched, and the plan works. */
  gpu_check(gpu.to_host(c.got, out, c.bytes));
  for (size_t i = 0; i < c.bytes; ++i) assert_int_equal(c.got[i], 0xa5);
  assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), NULL));
  assert_true(gpu_case_right(&c, out));
  assert_success(cuttPlanDestroy(plan));
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

static void device_memory_is_refused_by_a_cpu_plan(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(3);
  const cuttProblem_t view = test_problem_view(&c.problem);
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  cuttPlan_t plan = NULL;
  assert_success(cuttPlanCreate(&plan, &view, &options));
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, gpu_pointer(in), c.got, NULL), "in is");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(plan, c.in, gpu_pointer(out), NULL), "out is");
  assert_success(cuttPlanExecute(plan, c.in, c.got, NULL));
  assert_memory_equal(c.got, c.expected, c.bytes);
  /* Pinned and managed memory is the processor's as well. */
  for (kind what = PINNED; what < KINDS; ++what) {
    if (what == MANAGED && !managed_works()) continue;
    const gpu_address shared = take(what, c.bytes);
    gpu_check(gpu.synchronize());
    memset(gpu_pointer(shared), 0, c.bytes);
    assert_success(cuttPlanExecute(plan, c.in, gpu_pointer(shared), NULL));
    assert_memory_equal(gpu_pointer(shared), c.expected, c.bytes);
    give_back(what, shared);
  }
  assert_success(cuttPlanDestroy(plan));
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

/* Elements that are only moved may lie anywhere; those that are computed with must be aligned. */
static void unaligned_pointers(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(4);
  cuttPlan_t plan = gpu_plan(&c.problem);
  const gpu_address in = gpu_allocate(c.bytes + 64), out = gpu_allocate(c.bytes + 64);
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned j = i * 7 % 16;
    gpu_check(gpu.to_device(in + i, c.in, c.bytes));
    gpu_check(gpu.set_bytes(out, 0xa5, c.bytes + 64));
    assert_success(cuttPlanExecute(plan, gpu_pointer(in + i), gpu_pointer(out + j), NULL));
    if (!gpu_case_right(&c, out + j)) fail_msg("wrong with in at %u and out at %u of 16 bytes", i, j);
    unsigned char guard[64];
    gpu_check(gpu.to_host(guard, out + j + c.bytes, 64 - j));
    for (unsigned k = 0; k < 64 - j; ++k) assert_int_equal(guard[k], 0xa5);
  }
  assert_success(cuttPlanDestroy(plan));

  cuttProblem_t view = test_problem_view(&c.problem);
  const float alpha = 2.0f;
  view.type = CUTT_F32;
  view.alpha = &alpha;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CUDA;
  cuttPlan_t scaled = NULL;
  assert_success(cuttPlanCreate(&scaled, &view, &options));
  assert_success(cuttPlanExecute(scaled, gpu_pointer(in + 4), gpu_pointer(out + 12), NULL));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(scaled, gpu_pointer(in + 2), gpu_pointer(out), NULL), NULL);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecute(scaled, gpu_pointer(in), gpu_pointer(out + 1), NULL), NULL);
  gpu_check(gpu.synchronize());
  assert_success(cuttPlanDestroy(scaled));
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

/* ------------------------------------------------------------------------------------------------ contexts */

static void a_plan_belongs_to_its_context(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(5);
  cuttPlan_t plan = gpu_plan(&c.problem);
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  cuttHandle handle = 0;
  int dim[4], permutation[4];
  for (int i = 0; i < 4; ++i) {
    dim[i] = (int)c.problem.extents[i];
    permutation[i] = c.problem.perm[i];
  }
  assert_success(cuttPlan(&handle, 4, dim, permutation, 4, NULL));

  gpu_context other = NULL, current = NULL;
  gpu_check(gpu.context_create(&other, 0, gpu.device)); /* which makes it current */
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), NULL), NULL);
  assert_result(CUTT_INVALID_DEVICE, cuttExecute(handle, gpu_pointer(in), gpu_pointer(out)), NULL);
  cuttPlan_t others = gpu_plan(&c.problem);
  const gpu_address others_in = gpu_case_in(&c), others_out = gpu_case_out(&c);
  assert_success(cuttPlanExecute(others, gpu_pointer(others_in), gpu_pointer(others_out), NULL));
  assert_true(gpu_case_right(&c, others_out));
  gpu_check(gpu.context_get(&current)); /* nobody has switched it behind our back */
  assert_ptr_equal(current, other);

  gpu_check(gpu.context_set(gpu.primary));
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecute(others, gpu_pointer(others_in), gpu_pointer(others_out), NULL),
                NULL);
  assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), NULL));
  assert_true(gpu_case_right(&c, out));
  assert_success(cuttExecute(handle, gpu_pointer(in), gpu_pointer(out)));
  assert_true(gpu_case_right(&c, out));

  /* A plan may outlive its context, and is then good for nothing but to be destroyed. */
  gpu_check(gpu.context_destroy(other));
  assert_success(cuttPlanDestroy(others));
  /* Another one may get the old one's address; it is another one all the same. */
  gpu_check(gpu.context_create(&other, 0, gpu.device));
  cuttPlan_t thirds = gpu_plan(&c.problem);
  const gpu_address thirds_in = gpu_case_in(&c), thirds_out = gpu_case_out(&c);
  assert_success(cuttPlanExecute(thirds, gpu_pointer(thirds_in), gpu_pointer(thirds_out), NULL));
  assert_true(gpu_case_right(&c, thirds_out));
  assert_success(cuttPlanDestroy(thirds));
  gpu_check(gpu.context_destroy(other));
  gpu_check(gpu.context_set(gpu.primary));

  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttDestroy(handle));
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

typedef struct job {
  cuttPlan_t plan;
  gpu_address in, out;
  cuttResult result;
  bool context_left; /* a context is current at the end, though none was at the start */
} job;

static void *execute_without_context(void *argument) {
  job *j = argument;
  gpu_context current = NULL;
  gpu.context_set(NULL);
  j->result = cuttPlanExecute(j->plan, gpu_pointer(j->in), gpu_pointer(j->out), NULL);
  j->context_left = gpu.context_get(&current) || current != NULL;
  return NULL;
}

/* A thread that has no context works in the primary one of the first device. */
static void a_thread_without_context(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(6);
  job j = {.plan = gpu_plan(&c.problem), .in = gpu_case_in(&c), .out = gpu_case_out(&c)};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, execute_without_context, &j), 0);
  pthread_join(thread, NULL);
  assert_int_equal(j.result, CUTT_SUCCESS);
  assert_false(j.context_left);
  gpu_check(gpu.synchronize());
  assert_true(gpu_case_right(&c, j.out));
  assert_success(cuttPlanDestroy(j.plan));
  gpu_release(j.in);
  gpu_release(j.out);
  gpu_case_free(&c);
}

/* ------------------------------------------------------------------------------------------------ what it costs */

static size_t free_bytes(void) {
  size_t unused_bytes = 0, all = 0;
  gpu_check(gpu.synchronize());
  gpu_check(gpu.memory_info(&unused_bytes, &all));
  return unused_bytes;
}

static void use(const gpu_case *c, cuttPlan_t plan, gpu_address in, gpu_address out, int executions, int plans) {
  for (int i = 0; i < executions; ++i) assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), NULL));
  for (int i = 0; i < plans; ++i) assert_success(cuttPlanDestroy(gpu_plan(&c->problem)));
}

static void no_device_memory_is_taken(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(7);
  cuttPlan_t plan = gpu_plan(&c.problem);
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  use(&c, plan, in, out, 100, 10);
  bool same = false;
  for (int round = 0; round < 3 && !same; ++round) { /* another process may have taken some: three rounds */
    const size_t before = free_bytes();
    use(&c, plan, in, out, 3000, 300);
    same = free_bytes() == before;
  }
  assert_true(same);
  assert_true(gpu_case_right(&c, out));
  assert_success(cuttPlanDestroy(plan));
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

/* ------------------------------------------------------------------------------------------------ the library's own */

static void the_librarys_memory(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(8);
  cuttPlan_t plan = gpu_plan(&c.problem);
  void *in = NULL, *out = NULL, *huge = NULL;
  assert_success(cuttMemoryAllocate(CUTT_BACKEND_CUDA, c.bytes, &in));
  assert_success(cuttMemoryAllocate(CUTT_BACKEND_AUTO, c.bytes, &out));
  assert_int_equal((uintptr_t)in % 256, 0);
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, out, c.in, c.bytes)); /* host to device, device to device */
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, in, out, c.bytes));
  double seconds[5] = {-1, -1, -1, -1, -1}, copy[5] = {-1, -1, -1, -1, -1};
  assert_success(cuttCopyTime(CUTT_BACKEND_CUDA, out, in, c.bytes, NULL, 5, copy));
  assert_success(cuttPlanTime(plan, in, out, NULL, 5, seconds));
  for (int i = 0; i < 5; ++i) {
    assert_true(copy[i] > 0 && copy[i] < 1);
    assert_true(seconds[i] > 0 && seconds[i] < 1);
  }
  memset(c.got, 0, c.bytes);
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, c.got, out, c.bytes));
  assert_memory_equal(c.got, c.expected, c.bytes);
  assert_result(CUTT_INTERNAL_ERROR, cuttMemoryAllocate(CUTT_BACKEND_CUDA, (size_t)1 << 50, &huge), NULL);
  assert_null(huge);
  assert_success(cuttMemoryFree(CUTT_BACKEND_CUDA, in));
  assert_success(cuttMemoryFree(CUTT_BACKEND_CUDA, out));
  assert_success(cuttMemoryFree(CUTT_BACKEND_CUDA, NULL));
  assert_success(cuttPlanDestroy(plan));
  gpu_case_free(&c);
}

/* Measuring, on memory of the library's own and of the user's. */
static void measured_plans(void **unused) {
  (void)unused;
  gpu_case c = gpu_case_make(9);
  const gpu_address in = gpu_case_in(&c), out = gpu_case_out(&c);
  for (int own = 0; own < 2; ++own) {
    const cuttProblem_t view = test_problem_view(&c.problem);
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    cuttPlanInfo_t info = {.struct_size = sizeof info};
    cuttPlan_t plan = NULL;
    options.backend = CUTT_BACKEND_CUDA;
    options.choice = CUTT_MEASURE;
    options.measure_seconds = 0.2;
    if (own) {
      options.measure_in = gpu_pointer(in);
      options.measure_out = gpu_pointer(out);
    }
    assert_success(cuttPlanCreate(&plan, &view, &options));
    assert_success(cuttPlanGetInfo(plan, &info));
    assert_int_equal(info.backend, CUTT_BACKEND_CUDA);
    assert_true(info.measured_seconds > 0);
    gpu_check(gpu.set_bytes(out, 0xa5, c.bytes));
    assert_success(cuttPlanExecute(plan, gpu_pointer(in), gpu_pointer(out), NULL));
    assert_true(gpu_case_right(&c, out));
    assert_success(cuttPlanDestroy(plan));
  }
  gpu_release(in);
  gpu_release(out);
  gpu_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_memory),
      cmocka_unit_test(host_memory_is_refused),
      cmocka_unit_test(device_memory_is_refused_by_a_cpu_plan),
      cmocka_unit_test(unaligned_pointers),
      cmocka_unit_test(a_plan_belongs_to_its_context),
      cmocka_unit_test(a_thread_without_context),
      cmocka_unit_test(no_device_memory_is_taken),
      cmocka_unit_test(the_librarys_memory),
      cmocka_unit_test(measured_plans),
  };
  if (!gpu_open()) return 77;
  return cmocka_run_group_tests_name("gpu memory", tests, NULL, NULL);
}
