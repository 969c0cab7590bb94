/* Memory that runs out, at each allocation in turn: the call must fail cleanly or succeed, and leave nothing behind. And
 * the promise of an execution: no allocation, no lock.
 *
 * The linker sends the library's calls of the allocator and of the mutex through the functions below
 * (-Wl,--wrap=malloc and so on); those of libc and of the OpenMP run time are not the library's and not seen. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutt_contract.h"
#include "plan/backend.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

/* ------------------------------------------------------------------------------------------------ the allocator */

enum { MOST = 1 << 14 };

static struct {
  pthread_mutex_t lock;
  bool watching;  /* allocations are counted and remembered */
  long count;     /* of allocations asked for while watching */
  long fail_from; /* the first that fails, from 1; 0: none */
  long fail_to;   /* the last that fails */
  long failed;
  long locks; /* of mutexes taken */
  void *alive[MOST];
  int alive_count;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool refused(void) {
  if (!heap.watching) return false;
  __real_pthread_mutex_lock(&heap.lock);
  const long number = ++heap.count;
  const bool refuse = heap.fail_from && number >= heap.fail_from && number <= heap.fail_to;
  if (refuse) heap.failed++;
  pthread_mutex_unlock(&heap.lock);
  return refuse;
}

static void *remember(void *memory) {
  if (!heap.watching || !memory) return memory;
  __real_pthread_mutex_lock(&heap.lock);
  if (heap.alive_count < MOST) heap.alive[heap.alive_count++] = memory;
  pthread_mutex_unlock(&heap.lock);
  return memory;
}

static void forget(const void *memory) {
  if (!memory) return;
  __real_pthread_mutex_lock(&heap.lock);
  for (int i = heap.alive_count - 1; i >= 0; i--) {
    if (heap.alive[i] != memory) continue;
    heap.alive[i] = heap.alive[--heap.alive_count];
    break;
  }
  pthread_mutex_unlock(&heap.lock);
}

void *__wrap_malloc(size_t size) { return refused() ? NULL : remember(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) { return refused() ? NULL : remember(__real_calloc(count, size)); }

void *__wrap_realloc(void *old, size_t size) {
  if (refused()) return NULL;
  forget(old); /* before it is given back: another thread may be handed the same address */
  void *memory = __real_realloc(old, size);
  return remember(memory ? memory : old);
}

void __wrap_free(void *memory) {
  forget(memory);
  __real_free(memory);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return refused() ? NULL : remember(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size) {
  if (refused()) return ENOMEM;
  const int result = __real_posix_memalign(memory, alignment, size);
  if (!result) remember(*memory);
  return result;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (heap.watching) {
    __real_pthread_mutex_lock(&heap.lock);
    heap.locks++;
    pthread_mutex_unlock(&heap.lock);
  }
  return __real_pthread_mutex_lock(mutex);
}

static void watch(long fail_from, long fail_to) {
  heap.count = heap.failed = heap.locks = 0;
  heap.alive_count = 0;
  heap.fail_from = fail_from;
  heap.fail_to = fail_to;
  heap.watching = true;
}

static void unwatch(void) {
  heap.watching = false;
  heap.fail_from = 0;
}

/* ------------------------------------------------------------------------------------------------ the operations */

/* Something that allocates and gives all of it back; when one of its calls fails, it must clean up and return the code. */
typedef cuttResult (*operation)(void *context);

/* Runs an operation with an allocation refused, alone and with all that follow, until none was: the first, and every
 * step-th after it. */
static void refuse_some(operation run, void *context, const char *name, long step) {
  long most = 0;
  for (int all = 0; all < 2; all++) {
    for (long n = 1;; n += step) {
      assert_true(n < 5000);
      watch(n, all ? 1000000 : n);
      const cuttResult result = run(context);
      unwatch();
      if (heap.alive_count)
        fail_msg("%s: allocation %ld refused: %d allocations are not given back", name, n, heap.alive_count);
      if (!heap.failed) {
        if (result != CUTT_SUCCESS) fail_msg("%s: %s without a refusal", name, cuttLastError());
        break;
      }
      if (result != CUTT_SUCCESS && result != CUTT_INTERNAL_ERROR)
        fail_msg("%s: allocation %ld refused: %s: %s", name, n, cuttResultName(result), cuttLastError());
      if (result == CUTT_INTERNAL_ERROR && !strstr(cuttLastError(), "memory"))
        fail_msg("%s: allocation %ld refused: the error is \"%s\"", name, n, cuttLastError());
      if (n > most) most = n;
    }
  }
  printf("%s: %ld allocations refused in turn%s\n", name, most, step > 1 ? ", but for some" : "");
  assert_true(most >= 1);
}

static void refuse_each(operation run, void *context, const char *name) { refuse_some(run, context, name, 1); }

/* Of an operation that takes long: a part of them, as CUTT_TEST_SCALE says. */
static void refuse_a_part(operation run, void *context, const char *name) {
  refuse_some(run, context, name, test_scale() < 1 ? (long)(1 / test_scale()) : 1);
}

typedef struct case_ {
  test_problem p;
  cuttOptions_t options;
  unsigned char *in, *out, *expected;
  size_t bytes;
  const char *path;
} case_;

static case_ make_case(cuttType_t type, int rank, const int64_t *extents, const int *perm, int threads) {
  case_ c = {.p = test_packed(type, rank, extents, perm), .options = CUTT_OPTIONS_INIT};
  c.options.threads = threads;
  c.bytes = (size_t)test_volume(&c.p) * test_type_bytes(type);
  c.in = malloc(c.bytes);
  c.out = malloc(c.bytes);
  c.expected = malloc(c.bytes);
  assert_non_null(c.in);
  assert_non_null(c.out);
  assert_non_null(c.expected);
  test_fill_bits(c.in, c.bytes, test_type_bytes(type), 3);
  test_reference(&c.p, c.in, c.expected);
  return c;
}

static void free_case(case_ *c) {
  free(c->in);
  free(c->out);
  free(c->expected);
}

/* Problems that lead to different methods. */
enum { CASES = 6 };
static case_ numbered_case(int number) {
  static const int64_t extents[CASES][5] = {{40, 30, 20}, {64, 9, 11},     {300, 270},
                                            {5000},       {3, 5, 7, 4, 6}, {2, 11, 3, 29, 13}};
  static const int perms[CASES][5] = {{2, 1, 0}, {0, 2, 1}, {1, 0}, {0}, {4, 2, 0, 3, 1}, {3, 0, 4, 1, 2}};
  static const int ranks[CASES] = {3, 3, 2, 1, 5, 5};
  return make_case(number % 2 ? CUTT_BYTES_8 : CUTT_BYTES_4, ranks[number], extents[number], perms[number],
                   1 + number % 3);
}

static cuttResult create_and_destroy(void *context) {
  case_ *c = context;
  const cuttProblem_t view = test_problem_view(&c->p);
  cuttPlan_t plan;
  cuttResult result = cuttPlanCreate(&plan, &view, &c->options);
  if (result) {
    if (plan) return CUTT_UNDEFINED_ERROR;
    return result;
  }
  memset(c->out, 0xee, c->bytes);
  result = cuttPlanExecute(plan, c->in, c->out, NULL);
  if (!result && memcmp(c->out, c->expected, c->bytes) != 0) result = CUTT_UNDEFINED_ERROR;
  cuttPlanDestroy(plan);
  return result;
}

static cuttResult permute(void *context) {
  case_ *c = context;
  const cuttProblem_t view = test_problem_view(&c->p);
  cuttFinalize(); /* of the call before: what it has kept */
  const cuttResult result = cuttPermute(&view, &c->options, c->in, c->out, NULL);
  cuttFinalize();
  return result;
}

/* A plan that cuttPermute has kept is found and executed without an allocation and without waiting for a lock. */
static void kept_plans(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; i++) {
    case_ c = numbered_case(i);
    const cuttProblem_t view = test_problem_view(&c.p);
    assert_success(cuttPermute(&view, &c.options, c.in, c.out, NULL));
    memset(c.out, 0xee, c.bytes);
    watch(0, 0);
    const cuttResult result = cuttPermute(&view, &c.options, c.in, c.out, NULL);
    unwatch();
    assert_success(result);
    assert_int_equal(heap.count, 0);
    assert_int_equal(heap.locks, 0);
    assert_memory_equal(c.out, c.expected, c.bytes);
    free_case(&c);
  }
  cuttFinalize();
}

static void plan_creation(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; i++) {
    case_ c = numbered_case(i);
    refuse_each(create_and_destroy, &c, "cuttPlanCreate");
    refuse_each(permute, &c, "cuttPermute");
    free_case(&c);
  }
}

static void measuring(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; i++) {
    case_ c = numbered_case(i);
    c.options.choice = CUTT_MEASURE;
    c.options.measure_seconds = 0.002;
    refuse_each(create_and_destroy, &c, "cuttPlanCreate, measured");
    free_case(&c);
  }
}

/* An output whose strides interleave: a search says whether elements meet, and takes memory. */
static void interleaved_strides(void **unused) {
  (void)unused;
  static const int64_t extents[2] = {3, 2};
  static const int perm[2] = {0, 1};
  case_ c = make_case(CUTT_BYTES_4, 2, extents, perm, 1);
  free_case(&c);
  c.p.out_strided = true;
  c.p.out_strides[0] = 2;
  c.p.out_strides[1] = 3;
  c.bytes = 8 * 4;
  c.in = calloc(1, c.bytes);
  c.out = calloc(1, c.bytes);
  c.expected = malloc(c.bytes);
  assert_true(c.in && c.out && c.expected);
  memset(c.expected, 0xee, c.bytes);
  test_reference(&c.p, c.in, c.expected);
  refuse_each(create_and_destroy, &c, "cuttPlanCreate, interleaved strides");
  free_case(&c);
}

typedef struct description {
  cuttPlan_t plan;
  cuttFormat_t format;
} description;

static cuttResult describe(void *context) {
  const description *d = context;
  static char text[1 << 16];
  return cuttPlanDescribe(d->plan, d->format, text, sizeof text, NULL);
}

static void descriptions(void **unused) {
  (void)unused;
  case_ c = numbered_case(4);
  const cuttProblem_t view = test_problem_view(&c.p);
  description d = {NULL, CUTT_TEXT};
  assert_success(cuttPlanCreate(&d.plan, &view, &c.options));
  refuse_each(describe, &d, "cuttPlanDescribe, text");
  d.format = CUTT_JSON;
  refuse_each(describe, &d, "cuttPlanDescribe, JSON");
  assert_success(cuttPlanDestroy(d.plan));
  free_case(&c);
}

typedef struct one_candidate {
  cutt_canonical canonical;
  cutt_candidate candidate;
} one_candidate;

static cuttResult prepare_and_release(void *context) {
  one_candidate *c = context;
  void *prepared = NULL;
  const cuttResult result =
      cutt_cpu_backend.methods->prepare(cutt_cpu_backend.runtime->target(), &c->canonical, &c->candidate, &prepared);
  if (!result) cutt_cpu_backend.methods->release(prepared);
  return result;
}

static void every_candidate(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; i++) {
    case_ c = numbered_case(i);
    one_candidate one;
    cutt_candidate list[CUTT_MAX_CANDIDATES];
    const cuttProblem_t view = test_problem_view(&c.p);
    assert_success(cutt_canonicalize(&view, &one.canonical));
    const int count = cutt_cpu_backend.methods->enumerate(cutt_cpu_backend.runtime->target(), CUTT_MODEL_IS_OWN,
                                                          &one.canonical, c.options.threads, list, CUTT_MAX_CANDIDATES);
    for (int n = 0; n < count; n++) {
      one.candidate = list[n];
      for (long refuse = 1;; refuse++) { /* a candidate may need no memory at all, so refuse_each would complain */
        assert_true(refuse < 1000);
        watch(refuse, refuse);
        const cuttResult result = prepare_and_release(&one);
        unwatch();
        assert_int_equal(heap.alive_count, 0);
        if (!heap.failed) {
          assert_success(result);
          break;
        }
        assert_true(result == CUTT_SUCCESS || result == CUTT_INTERNAL_ERROR);
      }
    }
    free_case(&c);
  }
}

static cuttResult handle_life(void *context) {
  case_ *c = context;
  static int dim[3] = {40, 30, 20}, perm[3] = {2, 1, 0};
  cuttHandle handle;
  cuttResult result = cuttPlan(&handle, 3, dim, perm, 4, 0);
  if (result) return result;
  result = cuttExecute(handle, c->in, c->out);
  const cuttResult destroyed = cuttDestroy(handle);
  return result ? result : destroyed;
}

static void handles(void **unused) {
  (void)unused;
  case_ c = numbered_case(0);
  assert_success(handle_life(&c)); /* the table of handles grows once and stays */
  refuse_each(handle_life, &c, "cuttPlan");
  free_case(&c);
}

/* The table of handles when it has to grow and can't: that plan fails, and those that are there live on. */
static void handles_beyond_memory(void **unused) {
  (void)unused;
  enum { MANY = 1200 };
  static cuttHandle list[MANY];
  static char in[MANY + 2][3], out[3 * (MANY + 2)];
  static int perm[2] = {1, 0};
  int made = 0, refusals = 0;
  for (int i = 0; i < MANY; i++) {
    int dim[2] = {3, 2 + i}; /* each a plan of its own */
    for (long n = 1; n < 100; n++) {
      watch(n, n);
      const cuttResult result = cuttPlan(&list[made], 2, dim, perm, 1, 0);
      unwatch();
      if (result == CUTT_SUCCESS) {
        made++;
        break;
      }
      assert_int_equal(result, CUTT_INTERNAL_ERROR);
      refusals++;
    }
  }
  assert_true(made > 0 && refusals > 0);
  for (int i = 0; i < made; i++) {
    memcpy(in[i + 1], "xyz", 3);
    assert_success(cuttExecute(list[i], in, out));
    for (int a = 0; a < 3; a++) assert_int_equal(out[(i + 1) + (i + 2) * a], "xyz"[a]);
    assert_success(cuttDestroy(list[i]));
  }
}

static cuttResult wisdom_life(void *context) {
  case_ *c = context;
  cuttWisdom_t wisdom;
  cuttPlan_t plan;
  cuttResult result = cuttWisdomCreate(&wisdom);
  if (result) return wisdom ? CUTT_UNDEFINED_ERROR : result;
  result = cuttWisdomLoad(wisdom, c->path, NULL, NULL);
  for (int i = 0; i < 3 && !result; i++) { /* several, so that its tables grow */
    const int64_t extents[3] = {5 + i, 6, 7};
    cuttProblem_t view = test_problem_view(&c->p);
    view.extents = extents;
    c->options.wisdom = wisdom;
    result = cuttPlanCreate(&plan, &view, &c->options);
    c->options.wisdom = NULL;
    if (!result) cuttPlanDestroy(plan);
  }
  if (!result) result = cuttWisdomSave(wisdom, c->path);
  cuttWisdomDestroy(wisdom);
  return result;
}

static void wisdom(void **unused) {
  (void)unused;
  char path[] = "/tmp/cutt-faults-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  case_ c = numbered_case(0);
  c.path = path;
  c.options.choice = CUTT_MEASURE;
  c.options.measure_seconds = 0.0005;
  refuse_each(wisdom_life, &c, "wisdom, empty file");
  refuse_each(wisdom_life, &c, "wisdom, written file");
  unlink(path);
  free_case(&c);
}

typedef struct contraction_case {
  cuttContraction_t contraction;
  cuttContractionOptions_t options;
  const double *left, *right;
  double *result;
} contraction_case;

static cuttResult contract(void *context) {
  const contraction_case *c = context;
  return cuttContract(&c->contraction, &c->options, c->left, c->right, c->result, NULL);
}

static cuttResult describe_contraction(void *context) {
  const contraction_case *c = context;
  static char text[1 << 16];
  double seconds = 0;
  cuttContractionPlan_t plan = NULL;
  cuttResult result = cuttContractionPlanCreate(&plan, &c->contraction, &c->options);
  if (result) return plan ? CUTT_UNDEFINED_ERROR : result;
  result = cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL);
  if (!result) result = cuttContractionTimeGemm(plan, NULL, 1, &seconds);
  cuttContractionPlanDestroy(plan);
  return result;
}

/* Sums beforehand, permutations, pieces of several kinds, scratch for what is not aligned. */
static void contractions(void **unused) {
  (void)unused;
  static const int64_t left_extents[] = {3, 5, 7, 4}, right_extents[] = {5, 9, 7, 2};
  static double left[3 * 5 * 7 * 4 + 1], right[5 * 9 * 7 * 2 + 1], result[7 * 9 * 3 + 1];
  contraction_case c = {CUTT_CONTRACTION_INIT, CUTT_CONTRACTION_OPTIONS_INIT, left, right, result};
  c.contraction.pattern = "D(x,c,a)+=L(a,b,x,s)*R(b,c,x,t)";
  c.contraction.type = CUTT_F64;
  c.contraction.left_rank = c.contraction.right_rank = 4;
  c.contraction.result_rank = 3;
  c.contraction.left_extents = left_extents;
  c.contraction.right_extents = right_extents;
  c.options.backend = CUTT_BACKEND_CPU;
  const cuttResult first = contract(&c); /* finds a BLAS, once in a process */
  if (first == CUTT_INVALID_DEVICE) {
    print_message("%s\n", cuttLastError());
    skip();
  }
  assert_success(first);
  const size_t limits[] = {CUTT_NO_LIMIT, 3000, 0};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    c.options.workspace_limit = limits[i];
    c.options.threads = 1 + (int)i;
    c.left = left;
    refuse_a_part(contract, &c, "cuttContract");
    c.left = (const double *)(const void *)((const char *)left + 3);
    refuse_each(contract, &c, "cuttContract, not aligned");
    refuse_each(describe_contraction, &c, "cuttContractionPlanCreate, Describe, TimeGemm");
  }
}

/* Properties out of the air: what memory is worth takes long to measure, and no memory but what the fits have. */
cuttResult __wrap_cutt_cpu_measure_target(cutt_target *target, double seconds,
                                          bool (*progress)(void *data, double done), void *data);
cuttResult __wrap_cutt_cpu_measure_target(cutt_target *target, double seconds,
                                          bool (*progress)(void *data, double done), void *data) {
  (void)target;
  (void)seconds;
  return progress && !progress(data, 0) ? CUTT_INTERNAL_ERROR : CUTT_SUCCESS;
}

static cuttResult calibrate(void *context) {
  const case_ *c = context;
  cuttCalibration_t calibration = CUTT_CALIBRATION_INIT;
  calibration.backend = CUTT_BACKEND_CPU;
  calibration.seconds = 1e-3; /* as few problems as there may be */
  calibration.threads = 1;
  calibration.path = c->path;
  static char text[1 << 16];
  return cuttCalibrate(&calibration, CUTT_TEXT, text, sizeof text, NULL);
}

static cuttResult plan_by_file(void *context) {
  const case_ *c = context;
  const cuttProblem_t view = test_problem_view(&c->p);
  cuttOptions_t options = c->options;
  options.device = c->path;
  cuttPlan_t plan;
  const cuttResult result = cuttPlanCreate(&plan, &view, &options);
  if (!result) cuttPlanDestroy(plan);
  return result;
}

static void calibrating(void **unused) {
  (void)unused;
  char path[] = "/tmp/cutt-faults-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  case_ c = numbered_case(0);
  c.path = path;
  refuse_a_part(calibrate, &c, "cuttCalibrate");
  refuse_each(plan_by_file, &c, "cuttPlanCreate, device file");
  unlink(path);
  free_case(&c);
}

/* ------------------------------------------------------------------------------------------------ executions */

static void executions_allocate_nothing(void **unused) {
  (void)unused;
  for (int i = 0; i < CASES; i++) {
    case_ c = numbered_case(i);
    const cuttProblem_t view = test_problem_view(&c.p);
    cuttPlan_t plan;
    assert_success(cuttPlanCreate(&plan, &view, &c.options));
    watch(0, 0);
    const cuttResult result = cuttPlanExecute(plan, c.in, c.out, NULL); /* the first one, too */
    const cuttResult again = cuttPlanExecute(plan, c.in, c.out, NULL);
    unwatch();
    assert_success(result);
    assert_success(again);
    assert_int_equal(heap.count, 0);
    assert_int_equal(heap.locks, 0);
    assert_success(cuttPlanDestroy(plan));
    free_case(&c);
  }
}

/* Of one plan and of several, small pairs and such as are cut. */
static void batches_allocate_nothing(void **unused) {
  (void)unused;
  enum { PAIRS = 40 };
  for (int i = 0; i < CASES; i++) {
    case_ c = numbered_case(i);
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
    watch(0, 0);
    const cuttResult result = cuttPlanExecuteBatch(plan, PAIRS, in, out, NULL);
    const cuttResult again = cuttPlansExecute(PAIRS, plans, in, out, NULL);
    unwatch();
    assert_success(result);
    assert_success(again);
    assert_int_equal(heap.count, 0);
    assert_int_equal(heap.locks, 0);
    assert_success(cuttPlanDestroy(plan));
    free(more);
    free_case(&c);
  }
}

static void handle_executions_allocate_nothing(void **unused) {
  (void)unused;
  case_ c = numbered_case(0);
  int dim[3] = {40, 30, 20}, perm[3] = {2, 1, 0};
  cuttHandle handle;
  assert_success(cuttPlan(&handle, 3, dim, perm, 4, 0));
  watch(0, 0);
  const cuttResult result = cuttExecute(handle, c.in, c.out);
  unwatch();
  assert_success(result);
  assert_int_equal(heap.count, 0);
  assert_int_equal(heap.locks, 0);
  assert_success(cuttDestroy(handle));
  free_case(&c);
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
      watch(0, 0);
      const cuttResult result = cutt_execute_one(cutt_cpu_backend.methods, prepared, false, in, out, NULL);
      unwatch();
      assert_success(result);
      assert_int_equal(heap.count, 0);
      assert_int_equal(heap.locks, 0);
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
    watch(0, 0);
    cutt_cpu_backend.methods->enumerate(cutt_cpu_backend.runtime->target(), CUTT_MODEL_IS_OWN, &canonical, p.threads,
                                        list, CUTT_MAX_CANDIDATES);
    unwatch();
    assert_int_equal(heap.count, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plan_creation),
      cmocka_unit_test(kept_plans),
      cmocka_unit_test(interleaved_strides),
      cmocka_unit_test(measuring),
      cmocka_unit_test(descriptions),
      cmocka_unit_test(every_candidate),
      cmocka_unit_test(handles),
      cmocka_unit_test(handles_beyond_memory),
      cmocka_unit_test(wisdom),
      cmocka_unit_test(contractions),
      cmocka_unit_test(calibrating),
      cmocka_unit_test(executions_allocate_nothing),
      cmocka_unit_test(batches_allocate_nothing),
      cmocka_unit_test(handle_executions_allocate_nothing),
      cmocka_unit_test(candidate_executions_allocate_nothing),
      cmocka_unit_test(enumeration_allocates_nothing),
  };
  return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
