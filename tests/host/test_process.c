/* Threads that can't be made, forks, cancellation and unloading: what a process may do around executions by several threads. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cutt_contract.h"
#include "host/child.h"
#include "support/check.h"

/* The linker sends the library's calls through here (-Wl,--wrap=pthread_create). */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

static atomic_int threads_left = 1 << 20; /* that can be made until pthread_create fails */
static atomic_int threads_made;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  if (atomic_fetch_sub(&threads_left, 1) <= 0) return EAGAIN;
  atomic_fetch_add(&threads_made, 1);
  return __real_pthread_create(thread, attributes, start, argument);
}

/* A transposition that is worth several threads, and its result. */
enum { N = 700, M = 900, THREADS = 4 };

typedef struct matrix {
  double *in, *out;
} matrix;

static bool make_matrix(matrix *m) {
  m->in = malloc(sizeof(double) * N * M);
  m->out = malloc(sizeof(double) * N * M);
  if (!m->in || !m->out) return false;
  for (int i = 0; i < N * M; ++i) m->in[i] = i;
  return true;
}

static void free_matrix(matrix *m) {
  free(m->in);
  free(m->out);
}

static bool transposed(const matrix *m) {
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j < M; ++j)
      if (m->out[j + M * i] != m->in[i + N * j]) return false;
  return true;
}

static cuttResult make_plan(int threads, bool measured, cuttPlan_t *plan) {
  static const int64_t extents[2] = {N, M};
  static const int perm[2] = {1, 0};
  cuttProblem_t problem = CUTT_PROBLEM_INIT;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  problem.rank = 2;
  problem.type = CUTT_F64;
  problem.extents = extents;
  problem.perm = perm;
  options.threads = threads;
  options.choice = measured ? CUTT_MEASURE : CUTT_PREDICT;
  options.measure_seconds = 0.02;
  return cuttPlanCreate(plan, &problem, &options);
}

static bool execute(cuttPlan_t plan, matrix *m) {
  memset(m->out, 0xee, sizeof(double) * N * M);
  const cuttResult result = cuttPlanExecute(plan, m->in, m->out, NULL);
  if (result) fprintf(stderr, "%s: %s\n", cuttResultName(result), cuttLastError());
  return !result && transposed(m);
}

static bool plan_and_execute(int threads, bool measured) {
  matrix m;
  cuttPlan_t plan = NULL;
  if (!make_matrix(&m)) return false;
  const cuttResult result = make_plan(threads, measured, &plan);
  if (result) fprintf(stderr, "%s: %s\n", cuttResultName(result), cuttLastError());
  const bool good = !result && execute(plan, &m) && execute(plan, &m);
  cuttPlanDestroy(plan);
  free_matrix(&m);
  return good;
}

/* ------------------------------------------------------------------------------------------- threads that can't be made */

static bool so_many_threads(void *context) {
  threads_left = *(const int *)context;
  return plan_and_execute(THREADS, false) && plan_and_execute(THREADS, true);
}

static void few_threads(void **unused) {
  (void)unused;
  for (int n = 0; n < THREADS; ++n) {
    char name[64];
    snprintf(name, sizeof name, "%d threads can be made", n);
    test_in_child(so_many_threads, &n, 60, name);
  }
}

static bool little_address_space(void *context) {
  (void)context;
  matrix m;
  cuttPlan_t plan = NULL;
  struct rlimit limit;
  if (!make_matrix(&m) || make_plan(THREADS, false, &plan)) return false;
  if (getrlimit(RLIMIT_AS, &limit)) return false;
  limit.rlim_cur = 1 << 20; /* what is there stays, and no thread's stack fits any more */
  if (setrlimit(RLIMIT_AS, &limit)) return false;
  return execute(plan, &m);
}

static void no_address_space(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  test_in_child(little_address_space, NULL, 60, "no address space for threads");
}

static bool no_more_processes(void *context) {
  (void)context;
  if (geteuid() == 0 && (setgid(65534) || setuid(65534))) return true; /* the limit does not hold for root */
  const struct rlimit limit = {1, 1};
  if (setrlimit(RLIMIT_NPROC, &limit)) return false;
  return plan_and_execute(THREADS, false);
}

static void no_processes(void **unused) {
  (void)unused;
  test_in_child(no_more_processes, NULL, 60, "no threads for this user");
}

/* Several threads that run out of memory at the same time: each call succeeds or says so. */
static void *use_up(void *argument) {
  bool *good = argument;
  *good = true;
  for (int i = 0; i < 40; ++i) {
    const int64_t extents[3] = {31 + i, 40, 50};
    static const int perm[3] = {2, 1, 0};
    cuttProblem_t problem = CUTT_PROBLEM_INIT;
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    problem.rank = 3;
    problem.type = CUTT_F32;
    problem.extents = extents;
    problem.perm = perm;
    options.threads = 3;
    cuttPlan_t plan = NULL;
    float *in = calloc((size_t)(extents[0] * 2000), sizeof *in),
          *out = calloc((size_t)(extents[0] * 2000), sizeof *out);
    cuttResult result = cuttPlanCreate(&plan, &problem, &options);
    if (!result && in && out) result = cuttPlanExecute(plan, in, out, NULL);
    if (result && result != CUTT_INTERNAL_ERROR) *good = false;
    if (result == CUTT_INTERNAL_ERROR && !strstr(cuttLastError(), "memory")) *good = false;
    cuttPlanDestroy(plan);
    free(in);
    free(out);
  }
  return NULL;
}

static bool use_up_all(void *context) {
  (void)context;
  pthread_t thread[THREADS];
  bool good[THREADS] = {false};
  struct rlimit limit;
  int made = 0;
  for (; made < THREADS; ++made)
    if (__real_pthread_create(&thread[made], NULL, use_up, &good[made])) return false;
  usleep(2000);
  if (getrlimit(RLIMIT_AS, &limit)) return false;
  limit.rlim_cur = 1 << 20;
  if (setrlimit(RLIMIT_AS, &limit)) return false;
  for (int i = 0; i < THREADS; ++i) pthread_join(thread[i], NULL);
  for (int i = 0; i < THREADS; ++i)
    if (!good[i]) return false;
  return true;
}

static void memory_runs_out(void **unused) {
  (void)unused;
  if (test_sanitized()) skip();
  for (int i = 0; i < 5; ++i) test_in_child(use_up_all, NULL, 60, "memory runs out on several threads");
}

/* --------------------------------------------------------------------------------------------------------------- forks */

static bool contract_small(void) {
  enum { K = 64 };
  static double a[K * K], b[K * K], c[K * K];
  static const int64_t extents[2] = {K, K};
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  for (int i = 0; i < K * K; ++i) a[i] = i % 7, b[i] = i % K == i / K, c[i] = -1;
  contraction.type = CUTT_F64;
  contraction.pattern = "ik,kj->ji";
  contraction.left_rank = contraction.right_rank = contraction.result_rank = 2;
  contraction.left_extents = contraction.right_extents = extents;
  options.threads = 2;
  const cuttResult result = cuttContract(&contraction, &options, a, b, c, NULL);
  if (result == CUTT_INVALID_DEVICE) return true; /* there is no BLAS here */
  for (int i = 0; i < K && !result; ++i)
    for (int j = 0; j < K; ++j)
      if (c[j + K * i] != a[i + K * j]) return false;
  if (result) fprintf(stderr, "%s: %s\n", cuttResultName(result), cuttLastError());
  return !result;
}

static bool in_fork(void *context) {
  (void)context;
  const int made = threads_made;
  const bool good = plan_and_execute(THREADS, false) && plan_and_execute(THREADS, true) && plan_and_execute(1, true) &&
                    contract_small();
  if (threads_made != made) fprintf(stderr, "a thread was made in the child of a fork\n");
  return good && threads_made == made;
}

/* The parent's plan, made for several threads, is as good in the child. */
static bool with_parents_plan(void *context) {
  matrix m;
  return make_matrix(&m) && execute(context, &m) && in_fork(NULL);
}

static bool forks(void *context) {
  (void)context;
  matrix m;
  cuttPlan_t plan = NULL;
  if (!make_matrix(&m) || make_plan(THREADS, false, &plan) || !execute(plan, &m) || !contract_small()) return false;
  if (threads_made == 0) return false; /* nothing is tried if there was no team */
  test_in_child(with_parents_plan, plan, 60, "the child of a fork");
  return execute(plan, &m);
}

static void fork_after_a_team(void **unused) {
  (void)unused;
  test_in_child(forks, NULL, 120, "a fork after an execution by several threads");
}

static atomic_bool stop;

static void *execute_on(void *argument) {
  matrix m;
  if (!make_matrix(&m)) return NULL;
  while (!stop && execute(argument, &m)) {
  }
  free_matrix(&m);
  return NULL;
}

static bool forks_meanwhile(void *context) {
  (void)context;
  cuttPlan_t plan = NULL;
  pthread_t thread;
  if (!plan_and_execute(THREADS, false)) return false; /* there is a team before the first fork */
  if (make_plan(THREADS, false, &plan) || __real_pthread_create(&thread, NULL, execute_on, plan)) return false;
  for (int i = 0; i < 20; ++i) {
    usleep(1000);
    test_in_child(in_fork, NULL, 60, "the child of a fork during an execution");
  }
  stop = true;
  pthread_join(thread, NULL);
  return true;
}

static void fork_during_a_team(void **unused) {
  (void)unused;
  if (test_sanitized()) skip(); /* their own locks may be held at the fork */
  test_in_child(forks_meanwhile, NULL, 300, "forks during executions by several threads");
}

static bool one_thread(void *context) {
  (void)context;
  const int made = threads_made;
  return plan_and_execute(1, false) && plan_and_execute(1, true) && threads_made == made;
}

static void one_is_one(void **unused) {
  (void)unused;
  test_in_child(one_thread, NULL, 60, "threads = 1 makes no thread");
}

/* -------------------------------------------------------------------------------------------------------- cancellation */

static void *execute_for_ever(void *argument) {
  matrix *m = argument;
  cuttPlan_t plan = NULL;
  if (make_plan(THREADS, false, &plan)) return NULL;
  for (;;) {
    cuttPlanExecute(plan, m->in, m->out, NULL);
    pthread_testcancel();
  }
}

static bool cancelled(void *context) {
  (void)context;
  for (int i = 0; i < 30; ++i) {
    pthread_t thread;
    matrix m;
    if (!make_matrix(&m) || __real_pthread_create(&thread, NULL, execute_for_ever, &m)) return false;
    usleep((unsigned)(200 * i));
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    memset(m.in, 0, sizeof(double) * N * M); /* nobody works on it any more */
    free_matrix(&m);
  }
  return plan_and_execute(THREADS, false);
}

static void threads_are_cancelled(void **unused) {
  (void)unused;
  test_in_child(cancelled, NULL, 120, "threads that are cancelled between executions");
}

/* ----------------------------------------------------------------------------------------------------------- unloading */

static const char *library;

static bool unloads(void *context) {
  (void)context;
  for (int i = 0; i < 3; ++i) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      fprintf(stderr, "%s\n", dlerror());
      return false;
    }
    cuttResult (*permute)(const cuttProblem_t *, const cuttOptions_t *, const void *, void *, cudaStream_t) = NULL;
    void *symbol = dlsym(handle, "cuttPermute");
    memcpy(&permute, &symbol, sizeof symbol);
    static const int64_t extents[2] = {N, M};
    static const int perm[2] = {1, 0};
    cuttProblem_t problem = CUTT_PROBLEM_INIT;
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    matrix m;
    problem.rank = 2;
    problem.type = CUTT_F64;
    problem.extents = extents;
    problem.perm = perm;
    options.threads = 2;
    if (!permute || !make_matrix(&m) || permute(&problem, &options, m.in, m.out, NULL) || !transposed(&m)) return false;
    free_matrix(&m);
    dlclose(handle);
    usleep(50000); /* its threads go to sleep, and would return to code that is no more */
  }
  return fork() >= 0; /* what it has told the system to call then is there, too */
}

static void the_library_is_unloaded(void **unused) {
  (void)unused;
  test_in_child(unloads, NULL, 60, "dlopen, two threads, dlclose");
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_threads),
      cmocka_unit_test(no_address_space),
      cmocka_unit_test(no_processes),
      cmocka_unit_test(memory_runs_out),
      cmocka_unit_test(one_is_one),
      cmocka_unit_test(fork_after_a_team),
      cmocka_unit_test(fork_during_a_team),
      cmocka_unit_test(threads_are_cancelled),
      cmocka_unit_test(the_library_is_unloaded),
  };
  if (count < 2) return 1;
  library = arguments[1];
  return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
