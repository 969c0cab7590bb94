/* Memory that runs out, at each allocation in turn: the call must fail cleanly or succeed, and leave nothing behind. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cutt_contract.h"
#include "plan/handles.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/heap.h"
#include "support/reference.h"

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
      test_heap_watch(n, all ? 1000000 : n);
      const cuttResult result = run(context);
      test_heap_unwatch();
      if (test_heap.alive)
        fail_msg("%s: allocation %ld refused: %d allocations are not given back", name, n, test_heap.alive);
      if (!test_heap.failed) {
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

/* Of an operation that takes long: a part of them, as CUTT_TEST_SCALE says, and fewer the longer it takes. */
static void refuse_a_part(operation run, void *context, const char *name, double takes) {
  refuse_some(run, context, name, test_scale() < 1 ? (long)(takes / test_scale()) : 1);
}

static cuttResult create_and_destroy(void *context) {
  test_case *c = context;
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
  test_case *c = context;
  const cuttProblem_t view = test_problem_view(&c->p);
  cuttFinalize(); /* of the call before: what it has kept */
  const cuttResult result = cuttPermute(&view, &c->options, c->in, c->out, NULL);
  cuttFinalize();
  return result;
}

static void plan_creation(void **unused) {
  (void)unused;
  for (int i = 0; i < TEST_CASES; i++) {
    test_case c = test_numbered_case(i);
    refuse_each(create_and_destroy, &c, "cuttPlanCreate");
    refuse_each(permute, &c, "cuttPermute");
    test_free_case(&c);
  }
}

static void measuring(void **unused) {
  (void)unused;
  for (int i = 0; i < TEST_CASES; i++) {
    test_case c = test_numbered_case(i);
    c.options.choice = CUTT_MEASURE;
    c.options.measure_seconds = 0.002;
    refuse_each(create_and_destroy, &c, "cuttPlanCreate, measured");
    test_free_case(&c);
  }
}

/* An output whose strides interleave: a search says whether elements meet, and takes memory. */
static void interleaved_strides(void **unused) {
  (void)unused;
  static const int64_t extents[2] = {3, 2};
  static const int perm[2] = {0, 1};
  test_case c = test_make_case(CUTT_BYTES_4, 2, extents, perm, 1);
  test_free_case(&c);
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
  test_free_case(&c);
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
  test_case c = test_numbered_case(4);
  const cuttProblem_t view = test_problem_view(&c.p);
  description d = {NULL, CUTT_TEXT};
  assert_success(cuttPlanCreate(&d.plan, &view, &c.options));
  refuse_each(describe, &d, "cuttPlanDescribe, text");
  d.format = CUTT_JSON;
  refuse_each(describe, &d, "cuttPlanDescribe, JSON");
  assert_success(cuttPlanDestroy(d.plan));
  test_free_case(&c);
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
  for (int i = 0; i < TEST_CASES; i++) {
    test_case c = test_numbered_case(i);
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
        test_heap_watch(refuse, refuse);
        const cuttResult result = prepare_and_release(&one);
        test_heap_unwatch();
        assert_int_equal(test_heap.alive, 0);
        if (!test_heap.failed) {
          assert_success(result);
          break;
        }
        assert_true(result == CUTT_SUCCESS || result == CUTT_INTERNAL_ERROR);
      }
    }
    test_free_case(&c);
  }
}

static cuttResult handle_life(void *context) {
  test_case *c = context;
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
  test_case c = test_numbered_case(0);
  assert_success(handle_life(&c)); /* the table of handles grows once and stays */
  refuse_each(handle_life, &c, "cuttPlan");
  test_free_case(&c);
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
      test_heap_watch(n, n);
      const cuttResult result = cuttPlan(&list[made], 2, dim, perm, 1, 0);
      test_heap_unwatch();
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

/* Handles whose plans are set aside and made again. */
static cuttResult set_aside_life(void *context) {
  test_case *c = context;
  static const int perm[3] = {2, 1, 0};
  cuttHandle list[4] = {0};
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < 4 && !result; i++) {
    const int dim[3] = {40, 30, 20 + i};
    result = cuttPlan(&list[i], 3, dim, perm, 4, 0);
  }
  memset(c->out, 0xee, c->bytes);
  if (!result) result = cuttExecute(list[0], c->in, c->out);
  if (!result && memcmp(c->out, c->expected, c->bytes) != 0) result = CUTT_UNDEFINED_ERROR;
  for (int i = 0; i < 4; i++)
    if (list[i] && cuttDestroy(list[i])) result = CUTT_UNDEFINED_ERROR;
  return result;
}

static void handles_set_aside(void **unused) {
  (void)unused;
  test_case c = test_numbered_case(0);
  const uint32_t most = atomic_exchange(&cutt_handles_most_ready, 1);
  assert_success(set_aside_life(&c));
  refuse_each(set_aside_life, &c, "cuttExecute of a plan that was set aside");
  atomic_store(&cutt_handles_most_ready, most);
  test_free_case(&c);
}

static cuttResult wisdom_life(void *context) {
  test_case *c = context;
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
  test_case c = test_numbered_case(0);
  c.path = path;
  c.options.choice = CUTT_MEASURE;
  c.options.measure_seconds = 0.0005;
  refuse_each(wisdom_life, &c, "wisdom, empty file");
  refuse_each(wisdom_life, &c, "wisdom, written file");
  unlink(path);
  test_free_case(&c);
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
    refuse_a_part(contract, &c, "cuttContract", 1);
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
  const test_case *c = context;
  cuttCalibration_t calibration = CUTT_CALIBRATION_INIT;
  calibration.backend = CUTT_BACKEND_CPU;
  calibration.seconds = 1e-3; /* as few problems as there may be */
  calibration.threads = 1;
  calibration.path = c->path;
  static char text[1 << 16];
  return cuttCalibrate(&calibration, CUTT_TEXT, text, sizeof text, NULL);
}

static cuttResult plan_by_file(void *context) {
  const test_case *c = context;
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
  test_case c = test_numbered_case(0);
  c.path = path;
  refuse_a_part(calibrate, &c, "cuttCalibrate", 3);
  refuse_each(plan_by_file, &c, "cuttPlanCreate, device file");
  unlink(path);
  test_free_case(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plan_creation),         cmocka_unit_test(interleaved_strides), cmocka_unit_test(measuring),
      cmocka_unit_test(descriptions),          cmocka_unit_test(every_candidate),     cmocka_unit_test(handles),
      cmocka_unit_test(handles_beyond_memory), cmocka_unit_test(handles_set_aside),   cmocka_unit_test(wisdom),
      cmocka_unit_test(contractions),          cmocka_unit_test(calibrating),
  };
  return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
