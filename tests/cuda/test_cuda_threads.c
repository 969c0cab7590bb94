/* Threads that share a context, and threads that share the memory that batches prepare their launches in, against the fake driver. */
#include <pthread.h>

#include "cuda/launches.h"

enum { THREADS = 8, MANY = 16 };

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

/* Each of count threads does it, and none fails. */
static void in_threads(together *all, int count, void *(*what)(void *one)) {
  one_thread threads[MANY];
  pthread_t ids[MANY];
  assert_int_equal(pthread_barrier_init(&all->barrier, NULL, (unsigned)count), 0);
  for (int i = 0; i < count; ++i) {
    threads[i] = (one_thread){all, i, 0};
    assert_int_equal(pthread_create(&ids[i], NULL, what, &threads[i]), 0);
  }
  for (int i = 0; i < count; ++i) {
    assert_int_equal(pthread_join(ids[i], NULL), 0);
    assert_int_equal(threads[i].failures, 0);
  }
  pthread_barrier_destroy(&all->barrier);
}

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
    fake->forget();
    in_threads(&all, THREADS, plan_and_execute);
    assert_int_equal(atomic_load(&all.context->modules), 1);
    assert_int_equal(fixture_calls(FAKE_launch_kernel), THREADS * (round ? 400 : 200));
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
  const void *from[LAUNCH_PAIRS];
  void *to[LAUNCH_PAIRS];
  fake->context_set(all->context);
  launches_place(all->in, all->out + (size_t)me->number * LAUNCH_PAIRS * LAUNCH_BYTES, LAUNCH_PAIRS, from, to);
  pthread_barrier_wait(&all->barrier);
  for (int i = 0; i < 100; ++i) {
    if (cuttPlanExecuteBatch(all->shared, LAUNCH_PAIRS, from, to, NULL)) ++me->failures;
  }
  fake->context_set(NULL);
  return NULL;
}

static void threads_share_desks(void **unused) {
  (void)unused;
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  together all = {.context = own};
  all.in = fixture_device_memory(LAUNCH_PAIRS * LAUNCH_BYTES);
  all.out = fixture_device_memory((size_t)MANY * LAUNCH_PAIRS * LAUNCH_BYTES);
  all.shared = launches_plan(0, 0, CUTT_BYTES_8);
  launches_watch();
  in_threads(&all, MANY, execute_batches);
  assert_int_equal(launches_seen.pairs, MANY * 100 * LAUNCH_PAIRS);
  assert_success(cuttPlanDestroy(all.shared));
  fixture_free(all.in);
  fixture_free(all.out);
  fake->context_destroy(own);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_start, fixture_end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(threads_share_a_context),
      TEST(threads_share_desks),
  };
  return cmocka_run_group_tests(tests, fixture_open, NULL);
}
