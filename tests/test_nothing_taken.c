/* The promise of an execution: no allocation, no lock. And that of enumerating: no allocation. */
#include <stdlib.h>
#include <string.h>

#include "plan/backend.h"
#include "support/buffers.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/heap.h"

/* A plan that cuttPermute has kept is found and executed without an allocation and without waiting for a lock. */
static void kept_plans(void **unused) {
  (void)unused;
  for (int i = 0; i < TEST_CASES; i++) {
    test_case c = test_numbered_case(i);
    const cuttProblem_t view = test_problem_view(&c.p);
    assert_success(cuttPermute(&view, &c.options, c.in, c.out, NULL));
    memset(c.out, 0xee, c.bytes);
    test_heap_watch(0, 0);
    const cuttResult result = cuttPermute(&view, &c.options, c.in, c.out, NULL);
    test_heap_unwatch();
    assert_success(result);
    assert_int_equal(test_heap.count, 0);
    assert_int_equal(test_heap.locks, 0);
    assert_memory_equal(c.out, c.expected, c.bytes);
    test_free_case(&c);
  }
  cuttFinalize();
}

static void executions_allocate_nothing(void **unused) {
  (void)unused;
  for (int i = 0; i < TEST_CASES; i++) {
    test_case c = test_numbered_case(i);
    const cuttProblem_t view = test_problem_view(&c.p);
    cuttPlan_t plan;
    assert_success(cuttPlanCreate(&plan, &view, &c.options));
    test_heap_watch(0, 0);
    const cuttResult result = cuttPlanExecute(plan, c.in, c.out, NULL); /* the first one, too */
    const cuttResult again = cuttPlanExecute(plan, c.in, c.out, NULL);
    test_heap_unwatch();
    assert_success(result);
    assert_success(again);
    assert_int_equal(test_heap.count, 0);
    assert_int_equal(test_heap.locks, 0);
    assert_success(cuttPlanDestroy(plan));
    test_free_case(&c);
  }
}

/* Of one plan and of several, small pairs and such as are cut. */
static void batches_allocate_nothing(void **unused) {
  (void)unused;
  enum { PAIRS = 40 };
  for (int i = 0; i < TEST_CASES; i++) {
    test_case c = test_numbered_case(i);
    const cuttProblem_t view = test_problem_view(&c.p);
    const size_t bytes = (size_t)test_volume(&c.p) * test_type_bytes(c.p.type);
    unsigned char *more = calloc(PAIRS, bytes);
    assert_non_null(more);
    cuttPlan_t plan, plans[PAIRS];
    const void *in[PAIRS];
    void *out[PAIRS];
    assert_success(cuttPlanCreate(&plan, &view, &c.options));
    for (int n = 0; n < PAIRS; n++) {
      plans[n] = plan;
      in[n] = c.in;
      out[n] = more + (size_t)n * bytes;
    }
    test_heap_watch(0, 0);
    const cuttResult result = cuttPlanExecuteBatch(plan, PAIRS, in, out, NULL);
    const cuttResult again = cuttPlansExecute(PAIRS, plans, in, out, NULL);
    test_heap_unwatch();
    assert_success(result);
    assert_success(again);
    assert_int_equal(test_heap.count, 0);
    assert_int_equal(test_heap.locks, 0);
    assert_success(cuttPlanDestroy(plan));
    free(more);
    test_free_case(&c);
  }
}

static void handle_executions_allocate_nothing(void **unused) {
  (void)unused;
  test_case c = test_numbered_case(0);
  int dim[3] = {40, 30, 20}, perm[3] = {2, 1, 0};
  cuttHandle handle;
  assert_success(cuttPlan(&handle, 3, dim, perm, 4, 0));
  test_heap_watch(0, 0);
  const cuttResult result = cuttExecute(handle, c.in, c.out);
  test_heap_unwatch();
  assert_success(result);
  assert_int_equal(test_heap.count, 0);
  assert_int_equal(test_heap.locks, 0);
  assert_success(cuttDestroy(handle));
  test_free_case(&c);
}

/* Every candidate, larger and smaller, scaled and not. */
static void candidate_executions_allocate_nothing(void **unused) {
  (void)unused;
  test_rng rng = {4};
  for (int i = 0; i < test_scaled(60); i++) {
    test_problem p = test_random_problem(&rng, &(test_limits){1, 6, i % 10 ? 5000 : 500000, 0, 0, 40, 3});
    const cuttProblem_t view = test_problem_view(&p);
    const size_t bytes = (size_t)test_volume(&p) * test_type_bytes(p.type);
    unsigned char *in = malloc(bytes), *out = calloc(1, bytes);
    assert_non_null(in);
    assert_non_null(out);
    test_fill_numbers(in, bytes, p.type, 1);
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES];
    assert_success(cutt_canonicalize(&view, &canonical));
    const int count = cutt_cpu_backend.methods->enumerate(cutt_cpu_backend.runtime->target(), CUTT_MODEL_IS_OWN,
                                                          &canonical, p.threads, list, CUTT_MAX_CANDIDATES);
    for (int n = 0; n < count; n++) {
      void *prepared;
      assert_success(
          cutt_cpu_backend.methods->prepare(cutt_cpu_backend.runtime->target(), &canonical, &list[n], &prepared));
      test_heap_watch(0, 0);
      const cuttResult result = cutt_execute_one(cutt_cpu_backend.methods, prepared, false, in, out, NULL);
      test_heap_unwatch();
      assert_success(result);
      assert_int_equal(test_heap.count, 0);
      assert_int_equal(test_heap.locks, 0);
      cutt_cpu_backend.methods->release(prepared);
    }
    free(in);
    free(out);
  }
}

/* Enumerating is a pure function: the model has no memory to ask for. */
static void enumeration_allocates_nothing(void **unused) {
  (void)unused;
  test_rng rng = {6};
  for (int i = 0; i < test_scaled(500); i++) {
    const test_problem p = test_random_problem(&rng, &(test_limits){1, 14, 100000, 0, 30, 30, 3});
    const cuttProblem_t view = test_problem_view(&p);
    cutt_canonical canonical;
    cutt_candidate list[CUTT_MAX_CANDIDATES];
    assert_success(cutt_canonicalize(&view, &canonical));
    test_heap_watch(0, 0);
    cutt_cpu_backend.methods->enumerate(cutt_cpu_backend.runtime->target(), CUTT_MODEL_IS_OWN, &canonical, p.threads,
                                        list, CUTT_MAX_CANDIDATES);
    test_heap_unwatch();
    assert_int_equal(test_heap.count, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kept_plans),
      cmocka_unit_test(executions_allocate_nothing),
      cmocka_unit_test(batches_allocate_nothing),
      cmocka_unit_test(handle_executions_allocate_nothing),
      cmocka_unit_test(candidate_executions_allocate_nothing),
      cmocka_unit_test(enumeration_allocates_nothing),
  };
  return cmocka_run_group_tests_name("nothing_taken", tests, NULL, NULL);
}
