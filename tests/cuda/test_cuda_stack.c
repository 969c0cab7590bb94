/* What the calls of a plan on a GPU take of the calling thread's stack: at most 16 KB each, with what libc takes for them.
 * Each call is made on a thread of its own, whose stack is painted. Loading the driver is left out: what it takes is its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/fixture.h"
#include "gpu/launch.h"
#include "host/child.h"
#include "host/stack.h"
#include "plan/backend.h"
#include "runtime/cuda/probe.h"
#include "support/problem.h"

enum { MOST = 16 * 1024, LARGE = 128 * 1024, TEXT_BYTES = 1 << 18, BYTES = 1 << 20 };

/* One problem's plan, and what its calls work with. */
static struct {
  test_problem problem;
  cuttOptions_t options;
  cuttPlan_t plan;
  unsigned char *in, *out;
  int64_t in_at, out_at; /* bytes to element (0, ..., 0) */
  double seconds[2];
  char *text;
  cuttResult result, wanted;
  char error[1024];
} s;

static void plan_create(void) {
  const cuttProblem_t view = test_problem_view(&s.problem);
  s.result = cuttPlanCreate(&s.plan, &view, &s.options);
}
static void execute_at(int64_t in, int64_t out) {
  s.result = cuttPlanExecute(s.plan, s.in + s.in_at + in, s.out + s.out_at + out, NULL);
}
static void plan_execute(void) { execute_at(0, 0); }
static void plan_execute_aligned_less(void) { execute_at(8, 8); }
static void plan_execute_aligned_nowhere(void) { execute_at(1, 3); }
static void plan_execute_elsewhere(void) { s.result = cuttPlanExecute(s.plan, s.text, s.out + s.out_at, NULL); }
static void plan_time(void) { s.result = cuttPlanTime(s.plan, s.in + s.in_at, s.out + s.out_at, NULL, 2, s.seconds); }
static void permute(void) {
  const cuttProblem_t view = test_problem_view(&s.problem);
  s.result = cuttPermute(&view, &s.options, s.in + s.in_at, s.out + s.out_at, NULL);
}
static void describe_text(void) { s.result = cuttPlanDescribe(s.plan, CUTT_TEXT, s.text, TEXT_BYTES, NULL); }
static void describe_json(void) { s.result = cuttPlanDescribe(s.plan, CUTT_JSON, s.text, TEXT_BYTES, NULL); }
static void draw_text(void) { s.result = cuttPlanDraw(s.plan, CUTT_DRAW_TEXT, s.text, TEXT_BYTES, NULL); }
static void draw_svg(void) { s.result = cuttPlanDraw(s.plan, CUTT_DRAW_SVG, s.text, TEXT_BYTES, NULL); }
static void plan_destroy(void) { s.result = cuttPlanDestroy(s.plan); }
static void devices_text(void) { s.result = cuttDevicesDescribe(CUTT_TEXT, s.text, TEXT_BYTES, NULL); }
static void devices_json(void) { s.result = cuttDevicesDescribe(CUTT_JSON, s.text, TEXT_BYTES, NULL); }
static void memory(void) {
  void *bytes = NULL;
  s.result = cuttMemoryAllocate(CUTT_BACKEND_CUDA, BYTES, &bytes);
  if (!s.result) s.result = cuttMemoryCopy(CUTT_BACKEND_CUDA, bytes, s.text, TEXT_BYTES);
  if (!s.result) s.result = cuttCopyTime(CUTT_BACKEND_CUDA, s.in, s.out, BYTES / 2, NULL, 2, s.seconds);
  if (!s.result) s.result = cuttMemoryFree(CUTT_BACKEND_CUDA, bytes);
}
/* The backend's part of cuttCalibrate. */
static void probe(void) {
  cutt_cuda_probe measured;
  s.result = cutt_cuda_probe_measure(&measured, NULL, NULL);
}

typedef struct known_call {
  const char *name;
  void (*run)(void);
  size_t worst;
} known_call;

static void enter(void *data) {
  ((const known_call *)data)->run();
  snprintf(s.error, sizeof s.error, "%s", cuttLastError()); /* a thread's own */
}

static void call(known_call *c) {
  const stack_marks marks = stack_run(LARGE, enter, c);
  assert_true(marks.ran && marks.intact);
  if (s.result != s.wanted) fail_msg("%s: %s: %s", c->name, cuttResultName(s.result), s.error);
  if (marks.used > c->worst) c->worst = marks.used;
}

static void judge(const known_call *list, size_t count) {
  bool good = true;
  for (size_t i = 0; i < count; ++i) {
    printf("%6zu bytes  %s\n", list[i].worst, list[i].name);
    good = good && list[i].worst <= MOST;
  }
  assert_true(good);
}

#define CALL(name)                                                                                                     \
  { #name, name, 0 }

static int open_all(void **unused) {
  s.text = calloc(1, TEXT_BYTES);
  if (!s.text || fixture_start(unused)) return -1;
  s.in = fixture_device_memory(BYTES);
  s.out = fixture_device_memory(BYTES);
  return 0;
}

static int close_all(void **unused) {
  fixture_free(s.in);
  fixture_free(s.out);
  free(s.text);
  return fixture_end(unused);
}

static void skip_where_frames_are_others(void) {
#ifndef __OPTIMIZE__
  print_message("left out: compiled without optimisation\n");
  skip();
#endif
  if (!test_sanitized()) return;
  print_message("left out: a sanitizer puts memory of its own into every frame\n");
  skip();
}

/* Random problems of all kinds, by the model, from a list, and by the paper's model. */
static void plans(void **unused) {
  (void)unused;
  skip_where_frames_are_others();
  known_call create = CALL(plan_create), destroy = CALL(plan_destroy);
  known_call calls[] = {CALL(plan_execute),  CALL(plan_execute_aligned_less),
                        CALL(plan_time),     CALL(permute),
                        CALL(describe_text), CALL(describe_json),
                        CALL(draw_text),     CALL(draw_svg)};
  known_call anywhere = CALL(plan_execute_aligned_nowhere), refused = CALL(plan_execute_elsewhere);
  test_rng rng = {.state = 3};
  for (int i = 0; i < 30; ++i) {
    const test_limits limits = {1, i % 3 ? 6 : 20, 15000, 0, 50, 40, 1};
    s.problem = test_random_problem(&rng, &limits);
    int64_t in_low, in_high, out_low, out_high;
    const int64_t bytes = (int64_t)test_type_bytes(s.problem.type);
    test_in_span(&s.problem, &in_low, &in_high);
    test_out_span(&s.problem, &out_low, &out_high);
    if ((in_high - in_low) * bytes > BYTES - 64 || (out_high - out_low) * bytes > BYTES - 64) continue;
    s.in_at = -in_low * bytes;
    s.out_at = -out_low * bytes;
    s.options = (cuttOptions_t)CUTT_OPTIONS_INIT;
    s.options.backend = CUTT_BACKEND_CUDA;
    s.options.candidate = i % 4 == 1;
    s.options.model = i % 4 == 2 ? CUTT_MODEL_PAPER : CUTT_MODEL;
    call(&create);
    for (size_t j = 0; j < sizeof calls / sizeof *calls; ++j) call(&calls[j]);
    if (!test_problem_computes(&s.problem)) call(&anywhere);
    s.wanted = CUTT_INVALID_PARAMETER;
    call(&refused);
    s.wanted = CUTT_SUCCESS;
    call(&destroy);
  }
  judge(&create, 1);
  judge(calls, sizeof calls / sizeof *calls);
  judge(&anywhere, 1);
  judge(&refused, 1);
  judge(&destroy, 1);
}

static void other_calls(void **unused) {
  (void)unused;
  skip_where_frames_are_others();
  known_call calls[] = {CALL(devices_text), CALL(devices_json), CALL(memory), CALL(probe)};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) call(&calls[i]);
  judge(calls, sizeof calls / sizeof *calls);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(plans, open_all, close_all),
                                     cmocka_unit_test_setup_teardown(other_calls, open_all, close_all)};
  return cmocka_run_group_tests_name("cuda_stack", tests, fixture_open, NULL);
}
