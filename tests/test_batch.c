/* Many executions by one call: each pair comes out as by itself, nothing beside the outputs is touched, and what is wrong is
 * refused before anything is done. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

enum { MOST_PAIRS = 50, MOST_PLANS = 5, GAP = 96 };

/* ------------------------------------------------------------------------------------------------ random batches */

typedef struct group {
  int plans;
  test_problem problem[MOST_PLANS];
  cuttPlan_t plan[MOST_PLANS];
  int count, which[MOST_PAIRS]; /* the plan of each pair */
  size_t in_at[MOST_PAIRS], out_at[MOST_PAIRS], in_bytes, out_bytes;
  unsigned char *in, *out, *expected;
} group;

static size_t bytes_of(const test_problem *p, void (*span)(const test_problem *, int64_t *, int64_t *),
                       size_t *before) {
  int64_t low, high;
  span(p, &low, &high);
  *before = (size_t)-low * test_type_bytes(p->type);
  return (size_t)(high - low) * test_type_bytes(p->type);
}

/* Places element (0, ..., 0) of a tensor behind what is there already, at any address that suits its type. */
static size_t place(test_rng *rng, const test_problem *p, void (*span)(const test_problem *, int64_t *, int64_t *),
                    size_t *end) {
  const size_t width = test_type_bytes(p->type);
  size_t before, bytes = bytes_of(p, span, &before);
  const size_t at = (*end + GAP + (size_t)test_random_in(rng, 0, 63) + 15) / 16 * 16 + before % width;
  *end = at + bytes + GAP;
  return at + before;
}

static void make_plans(test_rng *rng, group *g, const test_limits *limits) {
  for (int i = 0; i < g->plans; i++) {
    test_problem *p = &g->problem[i];
    *p = test_random_problem(rng, limits);
    if (p->rank > 0 && test_chance(rng, 5)) {
      p->extents[0] = 0; /* nothing to do */
      test_problem_finish(p);
    }
    const cuttProblem_t view = test_problem_view(p);
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    options.backend = CUTT_BACKEND_CPU;
    options.threads = p->threads;
    if (test_chance(rng, 30)) options.candidate = 2;
    cuttResult result = cuttPlanCreate(&g->plan[i], &view, &options);
    if (result && options.candidate) {
      options.candidate = 0;
      result = cuttPlanCreate(&g->plan[i], &view, &options);
    }
    assert_success(result);
  }
}

static void make_buffers(test_rng *rng, group *g) {
  g->in_bytes = g->out_bytes = 0;
  for (int i = 0; i < g->count; i++) {
    g->which[i] = (int)test_random_in(rng, 0, g->plans - 1);
    const test_problem *p = &g->problem[g->which[i]];
    g->in_at[i] = place(rng, p, test_in_span, &g->in_bytes);
    g->out_at[i] = place(rng, p, test_out_span, &g->out_bytes);
  }
  g->in_bytes += GAP, g->out_bytes += GAP;
  g->in = malloc(g->in_bytes);
  g->out = malloc(g->out_bytes);
  g->expected = malloc(g->out_bytes);
  assert_true(g->in && g->out && g->expected);
  test_fill_bits(g->in, g->in_bytes / 8 * 8, 8, test_random(rng));
  test_fill_bits(g->out, g->out_bytes / 8 * 8, 8, test_random(rng));
  for (int i = 0; i < g->count; i++) { /* numbers where the type computes */
    const test_problem *p = &g->problem[g->which[i]];
    size_t before;
    const size_t in_bytes = bytes_of(p, test_in_span, &before);
    if (test_type_computes(p->type))
      test_fill_numbers(g->in + g->in_at[i] - before, in_bytes, p->type, test_random(rng));
    const size_t out_bytes = bytes_of(p, test_out_span, &before);
    if (test_type_computes(p->type))
      test_fill_numbers(g->out + g->out_at[i] - before, out_bytes, p->type, test_random(rng));
  }
  memcpy(g->expected, g->out, g->out_bytes);
  for (int i = 0; i < g->count; i++) {
    test_reference(&g->problem[g->which[i]], g->in + g->in_at[i], g->expected + g->out_at[i]);
  }
}

static cuttResult run(const group *g, bool one_plan) {
  const void *in[MOST_PAIRS];
  void *out[MOST_PAIRS];
  cuttPlan_t plans[MOST_PAIRS];
  for (int i = 0; i < g->count; i++) {
    in[i] = g->in + g->in_at[i];
    out[i] = g->out + g->out_at[i];
    plans[i] = g->plan[g->which[i]];
  }
  return one_plan ? cuttPlanExecuteBatch(g->plan[0], g->count, in, out, NULL)
                  : cuttPlansExecute(g->count, plans, in, out, NULL);
}

static void compare(const group *g) {
  for (int i = 0; i < g->count; i++) {
    test_same_nans(&g->problem[g->which[i]], g->expected + g->out_at[i], g->out + g->out_at[i]);
  }
  if (!memcmp(g->out, g->expected, g->out_bytes)) return;
  size_t at = 0;
  while (g->out[at] == g->expected[at]) at++;
  int pair = 0;
  while (pair + 1 < g->count && g->out_at[pair + 1] <= at) pair++;
  char line[1024];
  test_problem_print(&g->problem[g->which[pair]], line, sizeof line);
  fail_msg("byte %zu of the outputs is wrong, near pair %d of %d: %s", at, pair, g->count, line);
}

static void open_group(test_rng *rng, group *g, const test_limits *limits, bool one_plan) {
  memset(g, 0, sizeof *g);
  g->plans = one_plan ? 1 : (int)test_random_in(rng, 1, MOST_PLANS);
  g->count = (int)test_random_in(rng, 0, MOST_PAIRS);
  make_plans(rng, g, limits);
  make_buffers(rng, g);
}

static void close_group(group *g) {
  for (int i = 0; i < g->plans; i++) assert_success(cuttPlanDestroy(g->plan[i]));
  free(g->in);
  free(g->out);
  free(g->expected);
}

static const test_limits limits[] = {
    {0, 5, 600, 0, 30, 30, 1},   /* one thread */
    {0, 6, 2000, 0, 50, 50, 4},  /* small ones, by many threads */
    {1, 5, 30000, 0, 30, 30, 4}, /* many stretches */
    {2, 5, 300000, 0, 20, 20, 3} /* pairs that are cut */
};
static const int trials[] = {400, 400, 60, 6};

static void random_groups(bool one_plan) {
  for (size_t kind = 0; kind < sizeof limits / sizeof *limits; kind++) {
    test_rng rng = {kind + 100 * (uint64_t)one_plan};
    for (int i = 0; i < test_scaled(trials[kind]); i++) {
      group g;
      open_group(&rng, &g, &limits[kind], one_plan);
      assert_success(run(&g, one_plan));
      compare(&g);
      close_group(&g);
    }
  }
}

static void batches(void **unused) {
  (void)unused;
  random_groups(true);
}

static void groups(void **unused) {
  (void)unused;
  random_groups(false);
}

/* Threads of the caller's, each with a batch of its own and threads for it. */
typedef struct caller {
  pthread_t thread;
  group g;
  bool one_plan;
  cuttResult result;
} caller;

static void *call(void *what) {
  caller *c = what;
  c->result = run(&c->g, c->one_plan);
  return NULL;
}

static void batches_side_by_side(void **unused) {
  (void)unused;
  enum { CALLERS = 4 };
  static caller callers[CALLERS];
  test_rng rng = {1000};
  for (int round = 0; round < test_scaled(20); round++) {
    for (int i = 0; i < CALLERS; i++) {
      callers[i].one_plan = (round + i) % 2;
      open_group(&rng, &callers[i].g, &limits[1 + round % 2], callers[i].one_plan);
    }
    for (int i = 0; i < CALLERS; i++) assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i].thread, NULL);
    for (int i = 0; i < CALLERS; i++) {
      assert_success(callers[i].result);
      compare(&callers[i].g);
      close_group(&callers[i].g);
    }
  }
}

/* ------------------------------------------------------------------------------------------------ special cases */

enum { N = 6, VOLUME = N * N };

static cuttPlan_t square(int first, const float *beta) {
  const int64_t extents[2] = {N, N};
  const int perm[2] = {first, 1 - first};
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  p.rank = 2;
  p.type = CUTT_F32;
  p.extents = extents;
  p.perm = perm;
  p.beta = beta;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.backend = CUTT_BACKEND_CPU;
  cuttPlan_t plan;
  assert_success(cuttPlanCreate(&plan, &p, &options));
  return plan;
}

static void one_input_for_many_outputs(void **unused) {
  (void)unused;
  enum { COUNT = 1000 };
  static float in[VOLUME], out[COUNT][VOLUME];
  static const void *ins[COUNT];
  static void *outs[COUNT];
  for (int i = 0; i < VOLUME; i++) in[i] = (float)i;
  for (int i = 0; i < COUNT; i++) ins[i] = in, outs[i] = out[i];
  const cuttPlan_t plan = square(1, NULL);
  assert_success(cuttPlanExecuteBatch(plan, COUNT, ins, outs, NULL));
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < VOLUME; k++) assert_true(out[i][k] == (float)(k % N * N + k / N));
  }
  assert_success(cuttPlanDestroy(plan));
}

/* The identity in place leaves all as it is; with a scalar it computes. */
static void in_place(void **unused) {
  (void)unused;
  const float one = 1;
  float a[VOLUME], b[VOLUME], c[VOLUME];
  for (int i = 0; i < VOLUME; i++) a[i] = b[i] = (float)i, c[i] = 0;
  const cuttPlan_t keep = square(0, NULL), twice = square(0, &one), turn = square(1, NULL);
  const cuttPlan_t plans[] = {keep, twice, turn};
  assert_success(cuttPlansExecute(2, plans, (const void *[]){a, b}, (void *[]){a, b}, NULL));
  for (int i = 0; i < VOLUME; i++) assert_true(a[i] == (float)i && b[i] == (float)(2 * i));
  assert_success(cuttPlanExecuteBatch(keep, 2, (const void *[]){a, b}, (void *[]){a, b}, NULL)); /* nothing at all */
  for (int i = 0; i < VOLUME; i++) assert_true(a[i] == (float)i && b[i] == (float)(2 * i));
  assert_result(CUTT_INVALID_PARAMETER,
                cuttPlansExecute(3, plans, (const void *[]){a, b, c}, (void *[]){a, b, c}, NULL), "in[2]", "out[2]",
                "overlap");
  for (int i = 0; i < VOLUME; i++) assert_true(a[i] == (float)i && b[i] == (float)(2 * i) && c[i] == 0);
  for (int i = 0; i < 3; i++) assert_success(cuttPlanDestroy(plans[i]));
}

/* ------------------------------------------------------------------------------------------------ refusals */

static void hostile_arguments(void **unused) {
  (void)unused;
  static float in[4 * VOLUME], out[4 * VOLUME];
  for (int i = 0; i < 4 * VOLUME; i++) in[i] = 1, out[i] = -1;
  const void *ins[4] = {in, in + VOLUME, in + 2 * VOLUME, in + 3 * VOLUME};
  void *outs[4] = {out, out + VOLUME, out + 2 * VOLUME, out + 3 * VOLUME};
  const cuttPlan_t plan = square(1, NULL);
  cuttPlan_t plans[4] = {plan, plan, plan, plan};

  assert_success(cuttPlanExecuteBatch(plan, 0, NULL, NULL, NULL));
  assert_success(cuttPlansExecute(0, NULL, NULL, NULL, NULL));
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, -1, ins, outs, NULL), "count", "-1");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(INT64_MIN, plans, ins, outs, NULL), "count",
                "-9223372036854775808");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, 4, NULL, outs, NULL), "in is NULL", "4");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, 4, ins, NULL, NULL), "out is NULL", "4");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(4, NULL, ins, outs, NULL), "plans is NULL", "4");
  assert_result(CUTT_INVALID_PLAN, cuttPlanExecuteBatch(NULL, 4, ins, outs, NULL), "plan", "NULL");
  assert_result(CUTT_INVALID_PLAN, cuttPlanExecuteBatch(NULL, 0, NULL, NULL, NULL), "plan", "NULL");
  static uint64_t no_plan[64];
  assert_result(CUTT_INVALID_PLAN, cuttPlanExecuteBatch((cuttPlan_t)(void *)no_plan, 4, ins, outs, NULL), "plan");
  plans[3] = NULL;
  assert_result(CUTT_INVALID_PLAN, cuttPlansExecute(4, plans, ins, outs, NULL), "plans[3]", "NULL");
  plans[3] = (cuttPlan_t)(void *)no_plan;
  assert_result(CUTT_INVALID_PLAN, cuttPlansExecute(4, plans, ins, outs, NULL), "plans[3]", "not a plan");
  plans[3] = plan;

  const cudaStream_t stream = (cudaStream_t)(uintptr_t)16;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, 4, ins, outs, stream), "stream", "0x10");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(4, plans, ins, outs, stream), "stream", "0x10");

  ins[2] = NULL;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, 4, ins, outs, NULL), "in[2]", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlansExecute(4, plans, ins, outs, NULL), "in[2]", "NULL");
  ins[2] = in + 2 * VOLUME, outs[3] = NULL;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, 4, ins, outs, NULL), "out[3]", "NULL");
  outs[3] = (char *)(in + 4 * VOLUME) - 1;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanExecuteBatch(plan, 4, ins, outs, NULL), "in[3]", "out[3]", "overlap");
  for (int i = 0; i < 4 * VOLUME; i++) assert_true(out[i] == -1); /* by none of these */

  outs[3] = out + 3 * VOLUME;
  assert_success(cuttPlanExecuteBatch(plan, 4, ins, outs, NULL));
  for (int i = 0; i < 4 * VOLUME; i++) assert_true(out[i] == 1);
  assert_success(cuttPlanDestroy(plan));
}

/* Plans that can only be described can't be executed here either. */
static void described_plans_are_refused(void **unused) {
  (void)unused;
  const int64_t extents[2] = {N, N};
  const int perm[2] = {1, 0};
  cuttProblem_t p = CUTT_PROBLEM_INIT;
  p.rank = 2;
  p.type = CUTT_F32;
  p.extents = extents;
  p.perm = perm;
  cuttOptions_t options = CUTT_OPTIONS_INIT;
  options.device = "h200";
  cuttPlan_t plan;
  assert_success(cuttPlanCreate(&plan, &p, &options));
  const cuttPlan_t here = square(1, NULL), plans[2] = {here, plan};
  float in[VOLUME] = {0}, out[VOLUME];
  const void *const ins[2] = {in, in};
  void *const outs[2] = {out, out};
  assert_result(CUTT_INVALID_DEVICE, cuttPlanExecuteBatch(plan, 1, ins, outs, NULL), "options->device");
  assert_result(CUTT_INVALID_DEVICE, cuttPlansExecute(2, plans, ins, outs, NULL), "plans[1]", "options->device");
  assert_success(cuttPlanDestroy(plan));
  assert_success(cuttPlanDestroy(here));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(batches),
      cmocka_unit_test(groups),
      cmocka_unit_test(batches_side_by_side),
      cmocka_unit_test(one_input_for_many_outputs),
      cmocka_unit_test(in_place),
      cmocka_unit_test(hostile_arguments),
      cmocka_unit_test(described_plans_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
