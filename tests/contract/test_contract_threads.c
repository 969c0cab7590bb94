/* One plan executed by many threads at once, each with operands and a result of its own and with workspace of its own or of
 * the library's; and plans made, executed and destroyed by each, from the first call in the process on, which is when the
 * BLAS is looked for. Meant for ThreadSanitizer, and worth something without it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "support/check.h"
#include "try.h"

/* The leak checker of clang 14 crashes where it looks at the thread-local memory of a BLAS's own OpenMP threads, once
 * threads that have called it have ended. What the other programs leak is noticed there. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { THREADS = 6 };

typedef struct job {
  int number;
  const test_contraction *contraction;
  cuttContractionPlan_t plan; /* NULL: one of the job's own each time */
  char failure[512];          /* "" when all went well; cmocka's own failures belong to the main thread */
} job;

/* Memory of a job, from malloc: the sanitizers watch it. */
typedef struct memory {
  unsigned char *data[TEST_TENSORS], *before, *zero[TEST_TENSORS], *workspace;
  size_t bytes[TEST_TENSORS];
} memory;

static void clear(memory *m) {
  for (int t = 0; t < TEST_TENSORS; ++t) free(m->data[t]);
  free(m->before);
  free(m->workspace);
}

static bool prepare(const test_contraction *c, size_t workspace, memory *m) {
  memset(m, 0, sizeof *m);
  const int64_t element = (int64_t)test_type_bytes(c->type);
  for (int t = 0; t < TEST_TENSORS; ++t) {
    int64_t low, high;
    test_contraction_span(c, t, &low, &high);
    m->bytes[t] = (size_t)((high - low) * element);
    m->data[t] = malloc(m->bytes[t] + 1);
    if (!m->data[t]) return false;
    m->zero[t] = m->data[t] - low * element;
    test_contraction_fill(c, t, m->data[t], m->bytes[t]);
  }
  m->before = malloc(m->bytes[TEST_RESULT] + 1);
  if (workspace) m->workspace = aligned_alloc(64, (workspace + 63) / 64 * 64);
  return m->before && (m->workspace || !workspace);
}

static void work_once(job *j, int round) {
  test_contraction c = *j->contraction;
  c.seed += (uint64_t)(100 * j->number + round);
  cuttContractionPlan_t plan = j->plan;
  test_fields f;
  size_t bytes = 0;
  memory m;
  memset(&m, 0, sizeof m);
  test_contraction_view(&c, &f);
  if (!plan && cuttContractionPlanCreate(&plan, &f.contraction, &f.options)) {
    snprintf(j->failure, sizeof j->failure, "plan: %s", cuttLastError());
    return;
  }
  if (cuttContractionWorkspace(plan, &bytes)) {
    snprintf(j->failure, sizeof j->failure, "%s", cuttLastError());
  } else if (!prepare(&c, round & 1 ? bytes : 0, &m)) {
    snprintf(j->failure, sizeof j->failure, "no memory");
  } else {
    memcpy(m.before, m.data[TEST_RESULT], m.bytes[TEST_RESULT]);
    if (cuttContractionExecute(plan, m.zero[TEST_LEFT], m.zero[TEST_RIGHT], m.zero[TEST_RESULT], m.workspace,
                               m.workspace ? bytes : 0, NULL)) {
      snprintf(j->failure, sizeof j->failure, "execute: %s", cuttLastError());
    } else {
      test_contraction_right(&c, m.zero[TEST_LEFT], m.zero[TEST_RIGHT],
                             m.before + (m.zero[TEST_RESULT] - m.data[TEST_RESULT]), m.zero[TEST_RESULT], j->failure,
                             sizeof j->failure);
    }
  }
  clear(&m);
  if (!j->plan) cuttContractionPlanDestroy(plan);
}

static void *work(void *argument) {
  job *j = argument;
  for (int round = 0; round < 6 && !j->failure[0]; ++round) work_once(j, round);
  return NULL;
}

static void run_all(const test_contraction *const *c, int count, const cuttContractionPlan_t *plans) {
  static job jobs[THREADS];
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    jobs[i].number = i;
    jobs[i].contraction = c[i % count];
    jobs[i].plan = plans ? plans[i % count] : NULL;
    jobs[i].failure[0] = 0;
    assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(thread[i], NULL), 0);
  for (int i = 0; i < THREADS; ++i) {
    if (!jobs[i].failure[0]) continue;
    char line[4096];
    test_contraction_print(jobs[i].contraction, line, sizeof line);
    fail_msg("thread %d: %s\n  %s", i, jobs[i].failure, line);
  }
}

/* What needs no workspace, what needs some, what is cut into blocks, what is summed beforehand, and several threads each. */
enum { KINDS = 5 };
static test_contraction kind[KINDS];

static void make_kinds(void) {
  static const char *const pattern[KINDS] = {"ab,bc->ac", "aebfc,cgbd->adfeg", "aebfc,cgbd->adfeg", "sabt,ubxc->xac",
                                             "acb,dbc->da"};
  static const int64_t extent[KINDS] = {20, 4, 4, 4, 16};
  for (int i = 0; i < KINDS; ++i) {
    assert_true(test_contraction_make(pattern[i], i == 3 ? CUTT_C32 : CUTT_F64, &kind[i]));
    for (int j = 0; j < kind[i].is.labels; ++j) kind[i].extent[j] = extent[i];
    test_contraction_finish(&kind[i]);
    kind[i].threads = i % 3 + 1;
    kind[i].seed = 7;
  }
  kind[2].limit = 1000;
}

static void plans_come_and_go(void **unused) {
  (void)unused;
  make_kinds();
  const test_contraction *list[KINDS];
  for (int i = 0; i < KINDS; ++i) list[i] = &kind[i];
  run_all(list, KINDS, NULL);
}

static void one_plan_many_threads(void **unused) {
  (void)unused;
  make_kinds();
  for (int i = 0; i < KINDS; ++i) {
    test_fields f;
    cuttContractionPlan_t plan = NULL;
    test_contraction_view(&kind[i], &f);
    assert_success(cuttContractionPlanCreate(&plan, &f.contraction, &f.options));
    const test_contraction *c = &kind[i];
    run_all(&c, 1, &plan);
    assert_success(cuttContractionPlanDestroy(plan));
  }
}

static void many_plans_many_threads(void **unused) {
  (void)unused;
  make_kinds();
  cuttContractionPlan_t plans[KINDS] = {NULL};
  const test_contraction *list[KINDS];
  for (int i = 0; i < KINDS; ++i) {
    test_fields f;
    list[i] = &kind[i];
    test_contraction_view(&kind[i], &f);
    assert_success(cuttContractionPlanCreate(&plans[i], &f.contraction, &f.options));
  }
  run_all(list, KINDS, plans);
  for (int i = 0; i < KINDS; ++i) assert_success(cuttContractionPlanDestroy(plans[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_come_and_go), /* first: nothing has been looked for yet */
      cmocka_unit_test(one_plan_many_threads),
      cmocka_unit_test(many_plans_many_threads),
  };
  return cmocka_run_group_tests_name("contract_threads", tests, NULL, NULL);
}
