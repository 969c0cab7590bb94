/* Batches against the fake driver: how many launches they are, what is checked, and what is left after a failure. */
#include <stdlib.h>
#include <string.h>

#include "cuda/launches.h"
#include "gpu/launch.h"

static int compare_addresses(const void *a, const void *b) {
  const unsigned long long x = *(const unsigned long long *)a, y = *(const unsigned long long *)b;
  return (x > y) - (x < y);
}

/* Has each pair been given once? Outputs are all different, and tell the inputs. */
/* One launch for all pairs of a plan. The first such call of a context finds the kernels, in a capture too. */
static void batches_are_one_launch(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own};
  char *in = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES),
       *out = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES);
  const void *from[LAUNCH_PAIRS];
  void *to[LAUNCH_PAIRS];
  launches_place(in, out, LAUNCH_PAIRS, from, to);
  cuttPlan_t plan = launches_plan(0, 0, CUTT_BYTES_8), other = launches_plan(0, 1, CUTT_BYTES_8);
  const cuttPlan_t plans[LAUNCH_PAIRS] = {plan, other, other, plan, plan, plan, other, other};
  atomic_store(&stream.capturing, true);
  atomic_store(&fake->capture_is_on, 1);
  for (int round = 0; round < 3; ++round) {
    launches_watch();
    assert_success(cuttPlanExecuteBatch(plan, LAUNCH_PAIRS, from, to, &stream));
    assert_int_equal(launches_seen.launches, 1);
    assert_int_equal(launches_seen.batched, 1);
    assert_launched(LAUNCH_PAIRS, from, to);
    assert_ptr_equal(fake->last.stream, &stream);
    assert_int_equal(fixture_heavy_calls(), 0);
    assert_int_equal(fixture_calls(FAKE_pointer_get_attributes), 2 * LAUNCH_PAIRS);
    if (round > 0) assert_int_equal(fixture_all_calls(), 2 + 2 * LAUNCH_PAIRS + 1);
    launches_watch();
    assert_success(cuttPlansExecute(LAUNCH_PAIRS, plans, from, to, &stream));
    assert_int_equal(launches_seen.launches, 2); /* one for each plan */
    assert_int_equal(launches_seen.batched, 2);
    assert_launched(LAUNCH_PAIRS, from, to);
    if (round > 0) assert_int_equal(fixture_all_calls(), 2 + 2 * LAUNCH_PAIRS + 2);
  }
  atomic_store(&fake->capture_is_on, 0);
  /* Two are two launches. */
  launches_watch();
  assert_success(cuttPlanExecuteBatch(plan, 2, from, to, NULL));
  assert_int_equal(launches_seen.launches, 2);
  assert_int_equal(launches_seen.batched, 0);
  assert_launched(2, from, to);
  assert_success(cuttPlanDestroy(other));
  assert_success(cuttPlanDestroy(plan));
  fixture_free(in);
  fixture_free(out);
  fake->context_destroy(own);
}

/* What is wrong with a pair is told with its number, and nothing of its round is started. */
static void batches_are_checked(void **unused) {
  (void)unused;
  char *in = fixture_device_memory((LAUNCH_PAIRS + 1) * LAUNCH_BYTES),
       *out = fixture_device_memory((LAUNCH_PAIRS + 1) * LAUNCH_BYTES);
  void *plain = malloc(LAUNCH_BYTES);
  const void *from[LAUNCH_PAIRS];
  void *to[LAUNCH_PAIRS];
  cuttPlan_t plan = launches_plan(0, 0, CUTT_BYTES_8), numbers = launches_plan(0, 0, CUTT_F64);
  cuttPlan_t plans[LAUNCH_PAIRS];
  for (int i = 0; i < LAUNCH_PAIRS; ++i) plans[i] = plan;
  launches_place(in, out, LAUNCH_PAIRS, from, to);
  from[5] = plain;
  launches_watch();
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, LAUNCH_PAIRS, from, to, NULL), "execution 5",
                "in is", "host memory");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(LAUNCH_PAIRS, plans, from, to, NULL), "execution 5", "in is",
                "host memory");
  assert_int_equal(launches_seen.launches, 0);
  /* Buffers that are aligned to 8 bytes are one launch too, but numbers that are aligned to less are refused. */
  for (int i = 0; i < LAUNCH_PAIRS; ++i) from[i] = in + (size_t)i * LAUNCH_BYTES + 8;
  launches_watch();
  assert_success(cuttPlanExecuteBatch(plan, LAUNCH_PAIRS, from, to, NULL));
  assert_int_equal(launches_seen.launches, 1);
  assert_launched(LAUNCH_PAIRS, from, to);
  from[3] = in + 3 * LAUNCH_BYTES + 2;
  launches_watch();
  assert_success(cuttPlanExecuteBatch(plan, LAUNCH_PAIRS, from, to, NULL));
  assert_int_equal(launches_seen.launches, 1);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(numbers, LAUNCH_PAIRS, from, to, NULL), "execution 3",
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
  cuttPlan_t plan = launches_plan(1, 0, CUTT_BYTES_8), others[OTHERS];
  char *const base = (char *)(uintptr_t)UINT64_C(0x7f0000000000); /* nobody looks there */
  launches_place(base, base + (size_t)COUNT * LAUNCH_BYTES, COUNT, from, to);
  launches_watch();
  assert_success(cuttPlanExecuteBatch(plan, COUNT, from, to, NULL));
  assert_int_equal(launches_seen.launches, (COUNT + CUTT_PAIRS - 1) / CUTT_PAIRS);
  assert_int_equal(launches_seen.pairs, COUNT);
  memcpy(sorted, launches_seen.out, sizeof sorted);
  qsort(sorted, COUNT, sizeof *sorted, compare_addresses);
  for (int i = 0; i < COUNT; ++i) {
    assert_int_equal(sorted[i], (uintptr_t)to[i]);
    /* Inputs run the other way. */
    assert_int_equal(launches_seen.in[i] - (uintptr_t)base, (uintptr_t)to[COUNT - 1] - launches_seen.out[i]);
  }
  launches_watch();
  assert_success(cuttPlanExecuteBatch(plan, COUNT, from, to, NULL));
  assert_int_equal(fixture_all_calls(), launches_seen.launches);

  /* Many plans. */
  cuttPlan_t plans[4 * OTHERS];
  for (int i = 0; i < OTHERS; ++i) others[i] = launches_plan(1, i % 2, CUTT_BYTES_8);
  for (int i = 0; i < 4 * OTHERS; ++i) plans[i] = others[i % OTHERS];
  launches_watch();
  assert_success(cuttPlansExecute(4 * OTHERS, plans, from, to, NULL));
  assert_launched(4 * OTHERS, from, to);
  assert_int_equal(launches_seen.launches, OTHERS);
  for (int i = 0; i < OTHERS; ++i) assert_success(cuttPlanDestroy(others[i]));

  cutt_cu *cu = (cutt_cu *)(uintptr_t)cutt_cuda_driver_in_use();
  const int version = cu->version;
  cu->version = 12000;
  cuttPlan_t old = launches_plan(1, 0, CUTT_BYTES_8);
  launches_watch();
  assert_success(cuttPlanExecuteBatch(old, LAUNCH_PAIRS, from, to, NULL));
  assert_int_equal(launches_seen.launches, LAUNCH_PAIRS);
  assert_int_equal(launches_seen.batched, 0);
  assert_launched(LAUNCH_PAIRS, from, to);
  cu->version = version;
  assert_success(cuttPlanDestroy(old));
  assert_success(cuttPlanDestroy(plan));
  fake->context_destroy(own);
}

/* Failures of any call of the driver's are told, and leave nothing behind that a later call trips over. */
static void batches_that_fail(void **unused) {
  (void)unused;
  char *in = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES),
       *out = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES);
  const void *from[LAUNCH_PAIRS];
  void *to[LAUNCH_PAIRS];
  launches_place(in, out, LAUNCH_PAIRS, from, to);
  static const int functions[] = {FAKE_launch_kernel, FAKE_pointer_get_attributes, FAKE_module_get_function,
                                  FAKE_func_load, FAKE_ctx_get_id};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    fake->reset(0); /* so that the batched kernels are looked for again */
    fixture_free(in);
    fixture_free(out);
    in = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES), out = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES);
    launches_place(in, out, LAUNCH_PAIRS, from, to);
    cuttPlan_t plan = launches_plan(0, 0, CUTT_BYTES_8);
    launches_watch();
    atomic_store(&fake->fail_at, 1);
    atomic_store(&fake->fail, functions[i]);
    assert_true(cuttPlanExecuteBatch(plan, LAUNCH_PAIRS, from, to, NULL) != CUTT_SUCCESS);
    assert_non_null(strstr(cuttLastError(), "a failure on request"));
    assert_int_equal(atomic_load(&fake->failed), 1);
    assert_int_equal(atomic_load(&fake->depth), 0);
    launches_watch();
    assert_success(cuttPlanExecuteBatch(plan, LAUNCH_PAIRS, from, to, NULL));
    assert_int_equal(launches_seen.launches, 1);
    assert_launched(LAUNCH_PAIRS, from, to);
    assert_success(cuttPlanDestroy(plan));
  }
  fixture_free(in);
  fixture_free(out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(batches_are_one_launch),
      TEST(batches_are_checked),
      TEST(large_batches),
      TEST(batches_that_fail),
  };
  return cmocka_run_group_tests(tests, fixture_open, NULL);
}
