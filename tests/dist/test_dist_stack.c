/* What the calls of cutt_dist.h take of the calling thread's stack: at most 16 KB each, as other calls do. The other ranks are a
 * transport that agrees to everything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/stack.h"
#include "ranks.h"

enum { LARGE = 1 << 20, MOST = 16 << 10, SIZE = 64, MODES = 8, RANK = 9 };

static int agree_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)data, (void)peer, (void)bytes, (void)count, (void)request;
  return 0;
}

static int agree_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)data, (void)peer, (void)request;
  memset(bytes, 0, (size_t)count);
  return 0;
}

static int agree_wait(void *data, cuttDistRequest_t *request) {
  (void)data, (void)request;
  return 0;
}

static int agree_allgather(void *data, const void *mine, int64_t count, void *all) {
  (void)data;
  for (int i = 0; i < SIZE; i++) memcpy((char *)all + i * count, mine, (size_t)count);
  return 0;
}

static void agree_fail(void *data, const char *text) { (void)data, (void)text; }

static const char *agree_failure(void *data, int *rank) {
  (void)data, (void)rank;
  return NULL;
}

static struct {
  cuttDistComm_t comm;
  cuttDistLayout_t from, to;
  cuttDistProblem_t problem;
  cuttDistOptions_t options;
  cuttDistPlan_t plan;
  cuttDistAlgorithm_t algorithm;
  cuttDistContractionPlan_t contraction;
  void *in, *out;
  int ranks[SIZE];
  char text[1 << 14];
  cuttResult result;
} s;

static void plan_it(void *unused) {
  (void)unused;
  s.result = cuttDistPlanCreate(&s.plan, s.comm, &s.problem, &s.options);
}

static void execute_it(void *unused) {
  (void)unused;
  s.result = cuttDistPlanExecute(s.plan, s.in, s.out, NULL);
}

static void describe_it(void *unused) {
  (void)unused;
  s.result = cuttDistPlanDescribe(s.plan, CUTT_JSON, s.text, sizeof s.text, NULL);
}

static void relabel_it(void *unused) {
  (void)unused;
  s.result = cuttDistRelabel(&s.from, &s.to, NULL, SIZE, s.ranks);
}

static void make_threads(void *unused) {
  (void)unused;
  cuttDistComm_t comms[3];
  s.result = cuttDistCommThreads(3, comms);
  for (int i = 0; i < 3 && !s.result; i++) s.result = cuttDistCommDestroy(comms[i]);
}

/* A contraction of which everything has to move. */
static void plan_product(void *unused) {
  (void)unused;
  static const int64_t left[4] = {6, 5, 8, 9}, right[4] = {9, 8, 7, 4}, result[4] = {6, 4, 5, 7};
  static const int parts[3][4] = {{2, 1, 8, 4}, {4, 4, 2, 2}, {4, 2, 2, 4}};
  cuttDistLayout_t layout[3];
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  const int64_t *extents[3] = {left, right, result};
  for (int t = 0; t < 3; t++) {
    layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    layout[t].modes = 4;
    layout[t].extents = extents[t];
    layout[t].parts = parts[t];
  }
  c.pattern = "abkl,lkcd->adbc";
  c.type = CUTT_F32;
  c.left = &layout[0];
  c.right = &layout[1];
  c.result = &layout[2];
  options.threads = 1;
  options.algorithm = s.algorithm;
  options.local_algorithm = "one-pass"; /* a BLAS takes what it takes */
  s.result = cuttDistContractionPlanCreate(&s.contraction, s.comm, &c, &options);
}

static void execute_product(void *unused) {
  (void)unused;
  s.result = cuttDistContractionExecute(s.contraction, s.in, s.in, s.out, NULL);
}

static void describe_product(void *unused) {
  (void)unused;
  s.result = cuttDistContractionDescribe(s.contraction, CUTT_JSON, s.text, sizeof s.text, NULL);
}

static void destroy_product(void *unused) {
  (void)unused;
  s.result = cuttDistContractionPlanDestroy(s.contraction);
}

static void find_it(void *unused) {
  (void)unused;
  const int64_t global[MODES] = {0};
  int64_t local[MODES], count = 0;
  int rank = 0;
  s.result = cuttDistFind(&s.from, global, 0, &rank, local);
  if (!s.result) s.result = cuttDistLocalCount(&s.from, rank, &count);
  if (!s.result) s.result = cuttDistLayoutCheck(&s.from, SIZE);
}

static void destroy_it(void *unused) {
  (void)unused;
  s.result = cuttDistPlanDestroy(s.plan);
}

/* On a thread of its own a call has a stack of its own. */
static void small_stack(const char *name, void (*run)(void *)) {
  const stack_marks marks = stack_run(LARGE, run, NULL);
  if (s.result) fail_msg("%s: %s", name, cuttLastError());
  assert_true(marks.ran && marks.intact);
  printf("%-12s %6zu bytes\n", name, marks.used);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (marks.used > MOST) fail_msg("%s takes %zu bytes of stack, and may take %d", name, marks.used, MOST);
#endif
}

static void calls_take_little(void **unused) {
  (void)unused;
  static const int64_t extents[MODES] = {6, 5, 4, 6, 3, 4, 5, 2}, blocks[MODES] = {1, 0, 1, 2, 0, 0, 1, 0};
  static const int64_t to_extents[MODES] = {2, 5, 4, 3, 6, 4, 5, 6};
  static const int parts[MODES] = {2, 2, 2, 2, 1, 2, 2, 1}, to_parts[MODES] = {1, 1, 2, 2, 2, 2, 2, 2};
  static const int perm[MODES] = {7, 6, 5, 4, 3, 2, 1, 0};
  const cuttDistTransport_t transport = {.struct_size = sizeof transport,
                                         .name = "agreeable",
                                         .rank = RANK,
                                         .size = SIZE,
                                         .send = agree_send,
                                         .receive = agree_receive,
                                         .wait = agree_wait,
                                         .allgather = agree_allgather,
                                         .fail = agree_fail,
                                         .failure = agree_failure};
  assert_success(cuttDistCommCreate(&s.comm, &transport));
  s.from = s.to = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
  s.problem = (cuttDistProblem_t)CUTT_DIST_PROBLEM_INIT;
  s.options = (cuttDistOptions_t)CUTT_DIST_OPTIONS_INIT;
  s.from.modes = s.to.modes = MODES;
  s.from.extents = extents;
  s.to.extents = to_extents;
  s.from.parts = parts;
  s.to.parts = to_parts;
  s.from.blocks = blocks;
  s.problem.type = CUTT_F32;
  s.problem.from = &s.from;
  s.problem.to = &s.to;
  s.problem.perm = perm;
  s.options.threads = 1;
  s.options.piece_bytes = 1000;
  s.in = calloc(100000, 4);
  s.out = calloc(100000, 4);
  assert_non_null(s.in);
  assert_non_null(s.out);
  small_stack("create", plan_it);
  small_stack("destroy", destroy_it);
  s.options.permute = CUTT_DIST_PACK;
  small_stack("pack", plan_it);
  small_stack("execute", execute_it);
  small_stack("describe", describe_it);
  small_stack("find", find_it);
  small_stack("threads", make_threads);
  small_stack("destroy", destroy_it);
  s.to.extents = extents;
  small_stack("relabel", relabel_it);
  for (int algorithm = CUTT_DIST_REDISTRIBUTE; algorithm <= CUTT_DIST_REDUCE; algorithm++) {
    s.algorithm = (cuttDistAlgorithm_t)algorithm;
    small_stack("contract", plan_product);
    small_stack("execute", execute_product);
    small_stack("describe", describe_product);
    small_stack("destroy", destroy_product);
  }
  assert_success(cuttDistCommDestroy(s.comm));
  free(s.in);
  free(s.out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_take_little)};
  return cmocka_run_group_tests_name("dist_stack", tests, NULL, NULL);
}
