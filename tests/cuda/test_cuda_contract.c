/* Contractions in one pass on the stand-in for the driver, through the public calls: the emulator runs their kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/cases.h"
#include "contract/try.h"
#include "cuda/emulated.h"
#include "cuda/fixture.h"
#include "simt/engine.h"
#include "support/check.h"

static void start(void) {
  emulated_start();
  test_contraction_use(CUTT_BACKEND_CUDA);
}

static void random_contractions(void **unused) {
  (void)unused;
  static const test_variety variety = {40, 50, 40, 1, 20};
  test_rng rng = {4711};
  int with_workspace = 0;
  start();
  for (int i = 0; i < test_scaled(150); ++i) {
    test_contraction c;
    size_t bytes = 0;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 1, 5), i % 5 ? 1500 : 12000, &c);
    test_contraction_vary(&rng, &variety, &c);
    c.blas[0] = 0;
    strcpy(c.algorithm, "one-pass");
    if (test_contraction_try(&c, &bytes) != TEST_RIGHT_RESULT) fail_msg("contraction %d is wrong", i);
    if (*emulated_fault()) fail_msg("contraction %d: %s", i, emulated_fault());
    with_workspace += bytes > 0;
  }
  print_message("%d of them with workspace\n", with_workspace);
  assert_true(with_workspace >= 1);
  test_contraction_done();
}

/* A launch, or two, and nothing else. */
static void launches(void **unused) {
  (void)unused;
  static const int64_t extents[] = {100, 100}, long_extents[] = {1000000};
  static const struct {
    const char *pattern;
    const int64_t *extents;
    int rank, result_rank;
    long launches;
  } cases[] = {{"ab,ab->ab", extents, 2, 2, 1}, {"a,a->", long_extents, 1, 0, 2}};
  start();
  fake->run = NULL;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    cuttContraction_t c = CUTT_CONTRACTION_INIT;
    cuttContractionOptions_t options = CUTT_CONTRACTION_OPTIONS_INIT;
    cuttContractionPlan_t plan = NULL;
    cuttContractionInfo_t info = {.struct_size = sizeof info};
    char text[8192];
    size_t bytes = 0;
    c.pattern = cases[i].pattern;
    c.type = CUTT_F32;
    c.left_rank = c.right_rank = cases[i].rank;
    c.result_rank = cases[i].result_rank;
    c.left_extents = c.right_extents = cases[i].extents;
    options.backend = CUTT_BACKEND_CUDA;
    options.algorithm = "one-pass";
    assert_success(cuttContractionPlanCreate(&plan, &c, &options));
    assert_success(cuttContractionWorkspace(plan, &bytes));
    assert_int_equal(bytes > 0, cases[i].launches == 2);
    assert_success(cuttContractionGetInfo(plan, &info));
    assert_string_equal(info.algorithm, "one-pass");
    assert_string_equal(info.provider, "cutt");
    assert_true(info.predicted_seconds > 0 && info.pieces > 0);
    void *memory[3], *work = fixture_device_memory(bytes + 1);
    for (int t = 0; t < 3; ++t) memory[t] = fixture_device_memory(4000000);
    fake->forget();
    assert_success(cuttContractionExecute(plan, memory[0], memory[1], memory[2], bytes ? work : NULL, bytes, NULL));
    assert_int_equal(fixture_calls(FAKE_launch_kernel), cases[i].launches);
    assert_int_equal(fixture_heavy_calls(), 0);
    assert_success(cuttContractionDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
    assert_non_null(
        strstr(text, cases[i].launches == 1 ? "one pass      elementwise, by a permutation of L\n" : "; sums in "));
    assert_success(cuttContractionDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
    assert_non_null(strstr(text, "\"algorithm\":\"one-pass\""));
    assert_non_null(strstr(text, "\"threads_along\":{"));
    for (int t = 0; t < 3; ++t) fixture_free(memory[t]);
    fixture_free(work);
    assert_success(cuttContractionPlanDestroy(plan));
  }
}

/* An elementwise operation is a launch in the caller's stream, and nothing that waits; a capture goes on. */
static void elementwise(void **unused) {
  (void)unused;
  static const int64_t extents[] = {100, 60, 100};
  cuttElementwise_t e = CUTT_ELEMENTWISE_INIT;
  cuttElementwiseOptions_t options = CUTT_ELEMENTWISE_OPTIONS_INIT;
  cuttElementwisePlan_t plan = NULL;
  start();
  struct CUctx_st *own = fake->context_create(0);
  fake->context_set(own);
  struct CUstream_st stream = {.context = own};
  e.pattern = "ab,ba->ab";
  e.type = CUTT_F32;
  e.a_rank = e.b_rank = e.result_rank = 2;
  e.a_extents = extents;
  e.b_extents = extents + 1;
  options.backend = CUTT_BACKEND_CUDA;
  atomic_store(&stream.capturing, true);
  atomic_store(&fake->capture_is_on, 1);
  assert_success(cuttElementwisePlanCreate(&plan, &e, &options));
  atomic_store(&fake->capture_is_on, 0);
  float host[6000];
  char *memory[3], text[2048];
  for (int i = 0; i < 6000; ++i) host[i] = (float)i;
  for (int t = 0; t < 3; ++t) memory[t] = fixture_device_memory(sizeof host + 16);
  for (int t = 0; t < 2; ++t) assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, memory[t], host, sizeof host));
  fake->forget();
  atomic_store(&fake->capture_is_on, 1);
  const cuttResult result = cuttElementwiseExecute(plan, memory[0], memory[1], NULL, memory[2], &stream);
  atomic_store(&fake->capture_is_on, 0);
  assert_success(result);
  assert_int_equal(atomic_load(&fake->forbidden), 0);
  assert_int_equal(fixture_calls(FAKE_launch_kernel), 1);
  assert_int_equal(fixture_heavy_calls(), 0);
  assert_ptr_equal(fake->last.stream, &stream);
  assert_string_equal(emulated_fault(), "");
  assert_success(cuttMemoryCopy(CUTT_BACKEND_CUDA, host, memory[2], sizeof host));
  for (int i = 0; i < 6000; ++i) assert_true(host[i] == (float)i + (float)(i / 100 + 60 * (i % 100)));
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseExecute(plan, memory[0] + 2, memory[1], NULL, memory[2], NULL),
                "a is", "multiple of the element's 4 bytes");
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseExecute(plan, memory[0], host, NULL, memory[2], NULL), "b is",
                "host memory");
  assert_result(CUTT_INVALID_PARAMETER, cuttElementwiseExecute(plan, memory[0], memory[1], NULL, memory[1], NULL),
                "b spans", "overlap");
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "elementwise   of f32 on cuda\n"));
  assert_non_null(strstr(text, "B is permuted, and combined on the way\n"));
  assert_non_null(strstr(text, "permutation   Tiled of rank 2, by "));
  assert_success(cuttElementwiseDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(
      strstr(text, "\"A\":{\"is\":\"in place\",\"scaled\":false,\"conjugated\":false},\"B\":{\"is\":\"permuted\""));
  assert_non_null(strstr(text, "\"permutations\":[{\"method\":\"Tiled\",\"rank\":2,\"threads\":"));
  assert_success(cuttElementwisePlanDestroy(plan));
  e.op_ab = CUTT_OP_MAX;
  assert_success(cuttElementwisePlanCreate(&plan, &e, &options));
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "B is permuted, and combined on the way\n"));
  assert_success(cuttElementwisePlanDestroy(plan));
  e.pattern = "ab,ba,ab->ab";
  e.c_rank = 2;
  e.c_extents = extents;
  assert_success(cuttElementwisePlanCreate(&plan, &e, &options));
  assert_success(cuttElementwiseDescribe(plan, CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, "B is turned in shared memory\n"));
  assert_success(cuttElementwiseDescribe(plan, CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"B\":{\"is\":\"turned\""));
  for (int t = 0; t < 3; ++t) fixture_free(memory[t]);
  fake->context_set(NULL);
  assert_success(cuttElementwisePlanDestroy(plan));
  fake->context_destroy(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(random_contractions, fixture_start, fixture_end),
                                     cmocka_unit_test_setup_teardown(launches, fixture_start, fixture_end),
                                     cmocka_unit_test_setup_teardown(elementwise, fixture_start, fixture_end)};
  const int result = cmocka_run_group_tests(tests, fixture_open, NULL);
  simt_cleanup();
  return result;
}
