/* Contractions on a GPU without a GPU: measured plans, captured graphs, stack; on the stand-ins of test_cublas.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract/cublas_fixture.h"
#include "host/child.h"
#include "host/stack.h"

/* Contractions of tensors of 8 x 8 x ... */
enum { SIDE = 8, ALL = SIDE * SIDE * SIDE, BYTES = 1 << 16 };

/* A plan that is measured on a GPU is right, says so, and keeps the limit of workspace. */
static void measured(void **unused) {
  (void)unused;
  static const int64_t extents[] = {SIDE, SIDE, SIDE};
  char text[16384];
  double *at[3];
  for (int t = 0; t < 3; ++t) at[t] = fixture_device_memory(ALL * sizeof(double));
  cuttContraction_t contraction = CUTT_CONTRACTION_INIT;
  contraction.pattern = "abk,kca->cb";
  contraction.type = CUTT_F64;
  contraction.left_rank = contraction.right_rank = 3;
  contraction.result_rank = 2;
  contraction.left_extents = contraction.right_extents = extents;
  const size_t limits[] = {CUTT_NO_LIMIT, 4096, 0};
  for (size_t l = 0; l < sizeof limits / sizeof *limits; ++l) {
    cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
    options.backend = CUTT_BACKEND_CUDA;
    options.choice = CUTT_MEASURE;
    options.algorithm = "ttgt"; /* what else there is has kernels, which the stand-in does not run */
    options.measure_seconds = 0.05;
    options.workspace_limit = limits[l];
    assert_success(cuttWisdomCreate(&options.wisdom));
    for (int again = 0; again < 2; ++again) {
      cuttContractionPlan_t plan = NULL;
      size_t bytes = 0;
      for (int i = 0; i < ALL; ++i) {
        at[0][i] = i % 13;
        at[1][i] = i % 7;
        at[2][i] = -1;
      }
      assert_success(cuttContractionPlanCreate(&plan, &contraction, &options));
      assert_success(cuttContractionWorkspace(plan, &bytes));
      assert_true(bytes <= limits[l]);
      assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
      assert_non_null(strstr(text, again ? "\"by\":\"wisdom\"" : "\"by\":\"measured\""));
      assert_success(cuttContractionExecute(plan, at[0], at[1], at[2], NULL, 0, NULL));
      assert_success(cuttContractionPlanDestroy(plan));
      /* The stand-in multiplies, and permutes nothing. */
      for (int c = 0; c < SIDE && bytes == 0; ++c)
        for (int b = 0; b < SIDE; ++b) {
          double sum = 0;
          for (int a = 0; a < SIDE; ++a)
            for (int k = 0; k < SIDE; ++k) sum += at[0][a + SIDE * (b + SIDE * k)] * at[1][k + SIDE * (c + SIDE * a)];
          assert_true(at[2][c + SIDE * b] == sum);
        }
    }
    assert_success(cuttWisdomDestroy(options.wisdom));
  }
  for (int t = 0; t < 3; ++t) fixture_free(at[t]);
}

/* A contraction of 8 x 8 x 8 each with wisdom, planned and executed in a stream; held to the definition where nothing is permuted, since
 * the stand-in runs no kernels. Returns the description. */
typedef struct tried {
  const char *pattern;
  int result_rank;
  size_t limit;
  cuttChoice_t choice;
  cuttWisdom_t wisdom;
  size_t offset; /* of all tensors, in elements */
  size_t workspace;
  char text[32768];
} tried;

static void try_contraction(tried *t, cudaStream_t stream) {
  static const int64_t extents[] = {SIDE, SIDE, SIDE};
  double *memory[3], *at[3], *workspace = fixture_device_memory(BYTES);
  cuttContraction_t c = CUTT_CONTRACTION_INIT;
  cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
  cuttContractionPlan_t plan = NULL;
  c.pattern = t->pattern;
  c.type = CUTT_F64;
  c.left_rank = c.right_rank = 3;
  c.result_rank = t->result_rank;
  c.left_extents = c.right_extents = extents;
  options.backend = CUTT_BACKEND_CUDA;
  options.algorithm = "ttgt";
  options.choice = t->choice;
  options.measure_seconds = 0.2;
  options.workspace_limit = t->limit;
  options.wisdom = t->wisdom;
  for (int i = 0; i < 3; ++i) {
    memory[i] = fixture_device_memory((ALL + 8) * sizeof(double));
    at[i] = memory[i] + t->offset;
    for (int j = 0; j < ALL; ++j) at[i][j] = i == 2 ? -1 : j % (i ? 7 : 13);
  }
  assert_success(cuttContractionPlanCreate(&plan, &c, &options));
  assert_success(cuttContractionDescribe(plan, CUTT_JSON, t->text, sizeof t->text, NULL));
  assert_success(cuttContractionWorkspace(plan, &t->workspace));
  assert_true(t->workspace <= t->limit && t->workspace <= BYTES);
  assert_success(cuttContractionExecute(plan, at[0], at[1], at[2], workspace, BYTES, stream));
  if (t->result_rank == 3 && strstr(t->text, "\"L\":{\"permuted\":false") &&
      strstr(t->text, "\"R\":{\"permuted\":false") && strstr(t->text, "\"D\":{\"permuted\":false"))
    for (int i = 0; i < ALL; ++i) { /* "kab,ckb->acb" */
      const int a = i % SIDE, col = i / SIDE % SIDE, b = i / SIDE / SIDE;
      double sum = 0;
      for (int k = 0; k < SIDE; ++k) sum += at[0][k + SIDE * (a + SIDE * b)] * at[1][col + SIDE * (k + SIDE * b)];
      assert_true(at[2][i] == sum);
    }
  assert_success(cuttContractionPlanDestroy(plan));
  for (int i = 0; i < 3; ++i) fixture_free(memory[i]);
  fixture_free(workspace);
}

/* The wisdom of another process, in which one thing was otherwise. */
static cuttWisdom_t wisdom_again(cuttWisdom_t wisdom, const char *from, const char *to) {
  char path[] = "/tmp/cutt-test-cublas-XXXXXX", text[65536], edited[65536];
  const int file = mkstemp(path);
  assert_true(file >= 0);
  assert_success(cuttWisdomSave(wisdom, path));
  FILE *open = fopen(path, "r");
  assert_non_null(open);
  const size_t length = fread(text, 1, sizeof text - 1, open);
  text[length] = 0;
  fclose(open);
  char *at = strstr(text, from);
  assert_non_null(at);
  snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  open = fopen(path, "w");
  assert_non_null(open);
  assert_int_equal(fwrite(edited, 1, strlen(edited), open), strlen(edited));
  fclose(open);
  cuttWisdom_t again = NULL;
  assert_success(cuttWisdomCreate(&again));
  assert_success(cuttWisdomLoad(again, path, NULL, NULL));
  remove(path);
  close(file);
  return again;
}

/* A measured plan has the fastest algorithm, with workspace of its own within the limit; wisdom keeps it, for the release that
 * it is of and while it is listed; it says so; and batches are products at once. */
static void algorithms_measured(void **unused) {
  (void)unused;
  static const char by_first[] = "\"algorithm\":\"cublasLt 120804: algorithm 0, ",
                    by_third[] = "\"algorithm\":\"cublasLt 120804: algorithm 2, ";
  cudaStream_t stream = cublas_stream();
  static tried t;
  t = (tried){.pattern = "kab,ckb->acb", .result_rank = 3, .limit = 8192, .choice = CUTT_MEASURE};
  assert_success(cuttWisdomCreate(&t.wisdom));
  cublas_fake->seconds = 20e-6;
  if (cublas_lt) {
    cublas_lt->count = 5;
    cublas_lt->seconds[2] = 5e-6;
    cublas_lt->workspace[2] = 1000;
    cublas_lt->seconds[4] = 1e-6;
    cublas_lt->workspace[4] = 8193; /* too much */
    cublas_lt->fills_workspace = true;
  }
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"measured\""));
  if (!cublas_lt) {
    assert_non_null(strstr(t.text, "\"algorithm\":\"\"}"));
    assert_success(cuttWisdomDestroy(t.wisdom));
    cublas_end_stream(stream);
    return;
  }
  assert_non_null(strstr(t.text, by_third));
  assert_non_null(strstr(t.text, "; algorithm no. 3\""));
  assert_true(t.workspace >= 1000);
  assert_int_equal(cublas_lt->last, 2);
  assert_int_equal(cublas_lt->batch, SIDE);
  assert_ptr_equal(cublas_lt->stream, stream);
  /* From wisdom, also from a file, and elsewhere in memory, where cuBLAS chooses. */
  const long calls = atomic_load(&cublas_fake->calls);
  t.choice = CUTT_PREDICT;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"wisdom\""));
  assert_non_null(strstr(t.text, by_third));
  assert_int_equal(atomic_load(&cublas_fake->calls), calls);
  t.offset = 1;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, by_third));
  assert_int_equal(atomic_load(&cublas_fake->calls), calls + 1);
  t.offset = 0;
  const cuttWisdom_t first = t.wisdom;
  t.wisdom = wisdom_again(first, " 120804 0 2 102 202 302 ", " 120804 0 2 102 202 302 ");
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, by_third));
  assert_success(cuttWisdomDestroy(t.wisdom));
  /* Of another release, as words that are none, too few, and no longer listed: none of them is taken. */
  static const char *const change[][2] = {{" 120804 0 2 ", " 110000 0 2 "},  {" 120804 0 2 ", " 120804 0 7 "},
                                          {" 120804 0 2 ", " 120804 1 2 "},  {" 120804 0 2 ", " 120804 0 "},
                                          {" 120804 0 2 ", " 120804 0 -2 "}, {" 120804 0 2 ", " 120804 0 4294967296 "}};
  for (size_t i = 0; i < sizeof change / sizeof *change; ++i) {
    t.wisdom = wisdom_again(first, change[i][0], change[i][1]);
    try_contraction(&t, stream);
    assert_non_null(strstr(t.text, "\"by\":\"model\""));
    assert_non_null(strstr(t.text, by_first));
    assert_success(cuttWisdomDestroy(t.wisdom));
  }
  t.wisdom = first;
  cublas_lt->version = 130000;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"model\""));
  cublas_lt->version = 0;
  cublas_lt->count = 2;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"model\""));
  cublas_lt->count = 5;
  /* Where the others are not faster, the first; where the list can't be had, cuBLAS chooses. */
  assert_success(cuttWisdomDestroy(first));
  t.wisdom = NULL;
  t.choice = CUTT_MEASURE;
  cublas_lt->seconds[2] = 30e-6;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "; algorithm no. 3\""));
  assert_null(strstr(t.text, "; algorithm no. 1\"")); /* that is the way without a number */
  assert_non_null(strstr(t.text, by_first));
  cublas_lt->fail_list = 1;
  try_contraction(&t, stream);
  assert_null(strstr(t.text, "; algorithm no."));
  assert_non_null(strstr(t.text, "\"algorithm\":\"\"}"));
  cublas_lt->fail_list = 0;
  /* No workspace: one that needs none. In blocks that are permuted: with workspace for both. */
  cublas_lt->seconds[2] = cublas_lt->seconds[3] = 5e-6;
  t.limit = 0;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"algorithm\":\"cublasLt 120804: algorithm 3, "));
  assert_int_equal(cublas_lt->most_workspace, 0);
  cublas_lt->seconds[3] = cublas_lt->seconds[4] = 30e-6;
  t.limit = CUTT_NO_LIMIT;
  t.pattern = "abk,kca->cb";
  t.result_rank = 2;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, by_third));
  assert_int_equal(cublas_lt->most_workspace, 32 << 20);
  cublas_end_stream(stream);
}

/* What a captured graph takes is products, by cuBLASLt's first algorithm or a measured one, permutations and sums in the caller's stream, with
 * the caller's workspace. */
static void graphs(void **unused) {
  (void)unused;
  static const int64_t extents[] = {SIDE, SIDE, SIDE, SIDE};
  static const struct {
    const char *pattern;
    int left_rank, right_rank, result_rank;
    size_t limit;
    bool blocks, measured;
  } cases[] = {{"akb,kca->cab", 3, 3, 3, 0, false, false},
               {"akb,kca->cab", 3, 3, 3, 0, false, true},
               {"akbl,kcl->cba", 4, 3, 3, CUTT_NO_LIMIT, false, true},
               {"D(x,c,a)+=L(a,b,x,s)*R(b,c,x,t)", 4, 4, 3, CUTT_NO_LIMIT, false, false},
               {"akbl,kclx->cbax", 4, 4, 4, 16384, true, false}};
  cudaStream_t stream = cublas_stream();
  void *at[3], *workspace = fixture_device_memory(BYTES);
  for (int t = 0; t < 3; ++t) {
    at[t] = fixture_device_memory(BYTES);
    for (int i = 0; i < BYTES / 8; ++i) ((double *)at[t])[i] = t == 2 ? -1 : i % (t ? 7 : 13);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cuttContraction_t c = CUTT_CONTRACTION_INIT;
    cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
    cuttContractionPlan_t plan = NULL;
    cuttContractionInfo_t info = {.struct_size = sizeof info};
    cuttContractionTimes_t times;
    c.pattern = cases[i].pattern;
    c.type = CUTT_F64;
    c.left_rank = cases[i].left_rank;
    c.right_rank = cases[i].right_rank;
    c.result_rank = cases[i].result_rank;
    c.left_extents = c.right_extents = extents;
    options.backend = CUTT_BACKEND_CUDA;
    options.algorithm = "ttgt";
    options.workspace_limit = cases[i].limit;
    options.choice = cases[i].measured ? CUTT_MEASURE : CUTT_PREDICT;
    options.measure_seconds = 0.1;
    cublas_fake->seconds = 20e-6;
    if (cublas_lt) {
      cublas_lt->count = 1;
      cublas_lt->seconds[0] = 5e-6;
      cublas_lt->workspace[0] = cases[i].limit && !cases[i].blocks ? 700 : 0; /* blocks leave little */
      cublas_lt->fills_workspace = true;
    }
    assert_success(cuttContractionPlanCreate(&plan, &c, &options));
    assert_success(cuttContractionGetInfo(plan, &info));
    const int chosen = cublas_lt ? atomic_load(&cublas_lt->products) : 0;
    assert_int_equal(info.pieces > 1, cases[i].blocks);
    assert_true(info.workspace_bytes <= BYTES);
    atomic_store(&fake->capture_is_on, 1);
    atomic_store(&stream->capturing, true);
    for (int again = 0; again < 2; ++again) { /* at first a handle is made */
      fake->forget();
      assert_success(cuttContractionExecute(plan, at[0], at[1], at[2], workspace, BYTES, stream));
      if (again) assert_int_equal(fixture_heavy_calls(), 0);
      assert_ptr_equal(cublas_lt ? cublas_lt->stream : cublas_fake->last.stream, stream);
    }
    if (cublas_lt) assert_true(atomic_load(&cublas_lt->products) > chosen);
    assert_result(CUTT_INVALID_PARAMETER,
                  cuttContractionTime(plan, at[0], at[1], at[2], workspace, BYTES, stream, 1, &times), "stream is 0x",
                  "being captured; timing has to run something");
    if (info.workspace_bytes)
      assert_result(CUTT_INVALID_PARAMETER, cuttContractionExecute(plan, at[0], at[1], at[2], NULL, 0, stream),
                    "workspace is NULL and stream is 0x", "being captured");
    else
      assert_success(cuttContractionExecute(plan, at[0], at[1], at[2], NULL, 0, stream));
    assert_int_equal(atomic_load(&fake->forbidden), 0);
    atomic_store(&stream->capturing, false);
    atomic_store(&fake->capture_is_on, 0);
    /* The same as outside of a capture, where the stand-in has only products to do. */
    if (!info.workspace_bytes) {
      double captured[SIDE * SIDE * SIDE];
      memcpy(captured, at[2], sizeof captured);
      memset(at[2], 0xff, sizeof captured);
      assert_success(cuttContractionExecute(plan, at[0], at[1], at[2], NULL, 0, stream));
      assert_memory_equal(captured, at[2], sizeof captured);
    }
    assert_success(cuttContractionPlanDestroy(plan));
  }
  for (int t = 0; t < 3; ++t) fixture_free(at[t]);
  fixture_free(workspace);
  cublas_end_stream(stream);
}

/* ------------------------------------------------------------------------------------------------------------- stack */

static struct {
  cuttContraction_t contraction;
  cuttContractionOptions_t options;
  cuttContractionPlan_t plan;
  void *memory[3];
  cuttResult result;
} contracted;

static void plan_contraction(void *unused) {
  (void)unused;
  contracted.result = cuttContractionPlanCreate(&contracted.plan, &contracted.contraction, &contracted.options);
}

static void execute_contraction(void *unused) {
  (void)unused;
  void *const *at = contracted.memory;
  contracted.result = cuttContractionExecute(contracted.plan, at[0], at[1], at[2], NULL, 0, NULL);
}

static void time_contraction(void *unused) {
  (void)unused;
  cuttContractionTimes_t times;
  void *const *at = contracted.memory;
  contracted.result = cuttContractionTime(contracted.plan, at[0], at[1], at[2], NULL, 0, NULL, 1, &times);
}

static void time_product(void *unused) {
  (void)unused;
  double seconds = 0;
  contracted.result = cuttContractionTimeGemm(contracted.plan, NULL, 1, &seconds);
}

/* Calls for a contraction on a GPU take at most 16 KB of stack: sums beforehand, permutations, blocks. */
static void little_stack(void **unused) {
  (void)unused;
  static const struct {
    const char *name;
    void (*run)(void *);
  } calls[] = {{"PlanCreate", plan_contraction},
               {"Execute", execute_contraction},
               {"Time", time_contraction},
               {"TimeGemm", time_product}};
  static const int64_t left[] = {3, 5, 7, 4}, right[] = {5, 9, 7, 2};
  const size_t limits[] = {CUTT_NO_LIMIT, 5000, 2000};
  if (test_sanitized()) skip();
  if (cublas_lt) cublas_lt->count = 3;
  contracted.contraction = (cuttContraction_t)CUTT_CONTRACTION_INIT;
  contracted.contraction.pattern = "D(x,c,a)+=L(a,b,x,s)*R(b,c,x,t)";
  contracted.contraction.type = CUTT_F64;
  contracted.contraction.left_rank = contracted.contraction.right_rank = 4;
  contracted.contraction.result_rank = 3;
  contracted.contraction.left_extents = left;
  contracted.contraction.right_extents = right;
  for (int t = 0; t < 3; ++t) contracted.memory[t] = fixture_device_memory(8192);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    contracted.options = (cuttContractionOptions_t)CUTT_CONTRACTION_OPTIONS_INIT;
    contracted.options.backend = CUTT_BACKEND_CUDA;
    contracted.options.workspace_limit = limits[i];
    contracted.options.choice = i == 1 ? CUTT_MEASURE : CUTT_PREDICT;
    contracted.options.measure_seconds = 0.01;
    for (size_t n = 0; n < sizeof calls / sizeof *calls; ++n) {
      const stack_marks marks = stack_run(1 << 20, calls[n].run, NULL);
      assert_true(marks.ran);
      if (contracted.result) fail_msg("%s: %s", calls[n].name, cuttResultName(contracted.result));
      if (marks.used > 16 << 10) fail_msg("%s takes %zu bytes of stack", calls[n].name, marks.used);
    }
    assert_success(cuttContractionPlanDestroy(contracted.plan));
  }
  for (int t = 0; t < 3; ++t) fixture_free(contracted.memory[t]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(measured, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(algorithms_measured, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(graphs, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(little_stack, cublas_start, cublas_finish),
  };
  return cmocka_run_group_tests(tests, cublas_open, NULL);
}
