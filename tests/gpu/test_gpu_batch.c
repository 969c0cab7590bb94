/* Many executions by one call on a GPU: random problems on pairs that lie anywhere in two buffers, by one plan and by several,
 * called, and captured and replayed. Each output comes out as by itself, and nothing beside the outputs is touched. */
#include <stdlib.h>
#include <string.h>

#include "gpu/driver.h"
#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

enum { MOST_PAIRS = 60, MOST_PLANS = 4, GAP = 80, TRIALS = 300 };

typedef struct group {
  int plans, count, which[MOST_PAIRS]; /* the plan of each pair */
  test_problem problem[MOST_PLANS];
  cuttPlan_t plan[MOST_PLANS];
  size_t in_at[MOST_PAIRS], out_at[MOST_PAIRS], in_bytes, out_bytes;
  unsigned char *in, *out, *expected, *got;
} group;

typedef void span_of(const test_problem *, int64_t *low, int64_t *high);

/* Element (0, ..., 0) of a tensor behind what is there already; wide: at a multiple of 16 bytes, else of the element. */
static size_t place(test_rng *rng, const test_problem *p, span_of *span, bool wide, size_t *end) {
  const size_t width = test_type_bytes(p->type), step = wide ? 16 : width;
  int64_t low, high;
  span(p, &low, &high);
  const size_t before = (size_t)-low * width, free_at = *end + GAP + before + (size_t)test_random_in(rng, 0, 99);
  const size_t at = (free_at + step - 1) / step * step;
  *end = at - before + (size_t)(high - low) * width;
  return at;
}

static void fill(unsigned char *memory, size_t bytes, cuttType_t type, uint64_t seed) {
  if (test_type_computes(type)) {
    test_fill_numbers(memory, bytes / 16 * 16, type, seed);
  } else {
    test_fill_bits(memory, bytes / 16 * 16, test_type_bytes(type), seed);
  }
}

/* All problems of a group are of one type, so that all bytes of the buffers are numbers where that matters. */
static void open_group(test_rng *rng, group *g, bool one_plan, bool trust) {
  test_limits limits = {1, 6, 3000, 0, 30, 40, 1};
  memset(g, 0, sizeof *g);
  g->plans = one_plan ? 1 : (int)test_random_in(rng, 2, MOST_PLANS);
  g->count = (int)test_random_in(rng, 1, MOST_PAIRS);
  for (int i = 0; i < g->plans; ++i) {
    g->problem[i] = test_random_problem(rng, &limits);
    limits.type = g->problem[0].type;
    const cuttProblem_t view = test_problem_view(&g->problem[i]);
    cuttOptions_t options = CUTT_OPTIONS_INIT;
    options.backend = CUTT_BACKEND_CUDA;
    options.trust_pointers = trust;
    assert_success(cuttPlanCreate(&g->plan[i], &view, &options));
  }
  const bool wide = test_chance(rng, 50);
  for (int i = 0; i < g->count; ++i) {
    g->which[i] = (int)test_random_in(rng, 0, g->plans - 1);
    g->in_at[i] = place(rng, &g->problem[g->which[i]], test_in_span, wide, &g->in_bytes);
    g->out_at[i] = place(rng, &g->problem[g->which[i]], test_out_span, wide, &g->out_bytes);
  }
  g->in_bytes = (g->in_bytes + GAP + 15) / 16 * 16;
  g->out_bytes = (g->out_bytes + GAP + 15) / 16 * 16;
  g->in = aligned_alloc(16, g->in_bytes);
  g->out = aligned_alloc(16, g->out_bytes);
  g->expected = aligned_alloc(16, g->out_bytes);
  g->got = aligned_alloc(16, g->out_bytes);
  assert_true(g->in && g->out && g->expected && g->got);
  fill(g->in, g->in_bytes, limits.type, test_random(rng));
  fill(g->out, g->out_bytes, limits.type, test_random(rng));
  memcpy(g->expected, g->out, g->out_bytes);
  for (int i = 0; i < g->count; ++i)
    test_reference(&g->problem[g->which[i]], g->in + g->in_at[i], g->expected + g->out_at[i]);
}

static void close_group(group *g) {
  for (int i = 0; i < g->plans; ++i) assert_success(cuttPlanDestroy(g->plan[i]));
  free(g->in);
  free(g->out);
  free(g->expected);
  free(g->got);
}

static cuttResult execute(const group *g, gpu_address in, gpu_address out, bool one_plan, gpu_stream stream) {
  const void *from[MOST_PAIRS];
  void *to[MOST_PAIRS];
  cuttPlan_t plans[MOST_PAIRS];
  for (int i = 0; i < g->count; ++i) {
    from[i] = gpu_pointer(in + g->in_at[i]);
    to[i] = gpu_pointer(out + g->out_at[i]);
    plans[i] = g->plan[g->which[i]];
  }
  return one_plan ? cuttPlanExecuteBatch(g->plan[0], g->count, from, to, stream)
                  : cuttPlansExecute(g->count, plans, from, to, stream);
}

/* In a graph, which is run when the arrays of pointers are gone. */
static void capture(const group *g, gpu_address in, gpu_address out, bool one_plan, gpu_stream stream) {
  gpu_graph graph = NULL;
  gpu_graph_exec executable = NULL;
  gpu_check(gpu.capture_begin(stream, 0));
  assert_success(execute(g, in, out, one_plan, stream));
  gpu_check(gpu.capture_end(stream, &graph));
  gpu_check(gpu.graph_instantiate(&executable, graph, 0));
  gpu_check(gpu.graph_launch(executable, stream));
  gpu_check(gpu.stream_synchronize(stream));
  gpu_check(gpu.graph_exec_destroy(executable));
  gpu_check(gpu.graph_destroy(graph));
}

static void compare(group *g, gpu_address out) {
  gpu_check(gpu.to_host(g->got, out, g->out_bytes));
  for (int i = 0; i < g->count; ++i)
    test_same_nans(&g->problem[g->which[i]], g->expected + g->out_at[i], g->got + g->out_at[i]);
  if (!memcmp(g->got, g->expected, g->out_bytes)) return;
  char line[1024];
  size_t at = 0;
  while (g->got[at] == g->expected[at]) ++at;
  int pair = 0;
  while (pair + 1 < g->count && g->out_at[pair + 1] <= at) ++pair;
  test_problem_print(&g->problem[g->which[pair]], line, sizeof line);
  fail_msg("byte %zu of the outputs is wrong, near pair %d of %d: %s", at, pair, g->count, line);
}

static void random_groups(bool one_plan) {
  test_rng rng = {one_plan ? 1 : 2};
  gpu_stream stream;
  gpu_check(gpu.stream_create(&stream, GPU_STREAM_NON_BLOCKING));
  for (int i = 0; i < test_scaled(TRIALS); ++i) {
    group g;
    open_group(&rng, &g, one_plan, i % 2);
    const gpu_address in = gpu_allocate(g.in_bytes), out = gpu_allocate(g.out_bytes);
    gpu_check(gpu.to_device(in, g.in, g.in_bytes));
    gpu_check(gpu.to_device(out, g.out, g.out_bytes));
    gpu_check(gpu.synchronize());
    if (i % 3 == 2) {
      capture(&g, in, out, one_plan, stream);
    } else {
      assert_success(execute(&g, in, out, one_plan, stream));
      gpu_check(gpu.stream_synchronize(stream));
    }
    compare(&g, out);
    gpu_release(in);
    gpu_release(out);
    close_group(&g);
  }
  gpu_check(gpu.stream_destroy(stream));
}

static void batches(void **unused) {
  (void)unused;
  random_groups(true);
}

static void groups(void **unused) {
  (void)unused;
  random_groups(false);
}

/* More than a launch takes, of one plan: 12 bytes each, in reverse. */
static void thousands(void **unused) {
  (void)unused;
  enum { COUNT = 9000 };
  static const int64_t extents[] = {3, 2};
  static const int perm[] = {1, 0};
  static const void *from[COUNT];
  static void *to[COUNT];
  const test_problem problem = test_packed(CUTT_BYTES_2, 2, extents, perm);
  const size_t one = gpu_bytes(&problem), all = one * COUNT;
  unsigned char *in = malloc(all), *expected = malloc(all), *got = malloc(all);
  assert_true(in && expected && got);
  test_fill_bits(in, all, 2, 5);
  const gpu_address a = gpu_allocate(all), b = gpu_allocate(all);
  for (size_t i = 0; i < COUNT; ++i) {
    from[i] = gpu_pointer(a + i * one);
    to[i] = gpu_pointer(b + (COUNT - 1 - i) * one);
    test_reference(&problem, in + i * one, expected + (COUNT - 1 - i) * one);
  }
  gpu_check(gpu.to_device(a, in, all));
  gpu_check(gpu.set_bytes(b, 0xa5, all));
  gpu_check(gpu.synchronize());
  cuttPlan_t plan = gpu_plan(&problem);
  assert_success(cuttPlanExecuteBatch(plan, COUNT, from, to, NULL));
  gpu_check(gpu.to_host(got, b, all));
  assert_memory_equal(got, expected, all);
  assert_success(cuttPlanDestroy(plan));
  gpu_release(a);
  gpu_release(b);
  free(in);
  free(expected);
  free(got);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(batches), cmocka_unit_test(groups), cmocka_unit_test(thousands)};
  if (!gpu_open()) return 77;
  return cmocka_run_group_tests_name("gpu batch", tests, NULL, NULL);
}
