/* The GPU's BLAS library without a GPU: stand-ins for the driver (tests/cuda) and for cuBLAS come first in LD_LIBRARY_PATH.
 * Argument 1 is the folder of the latter. Argument 2, where there is one: why there is no cuBLAS to be found. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blas/find.h"
#include "contract/fake_cublas_lt.h"
#include "cuda/fixture.h"
#include "host/child.h"
#include "host/stack.h"
#include "plan/services.h"
#include "runtime/cuda/state.h"

static const char *folder, *why_none;
static fake_cublas_t *blas;
static fake_cublas_lt_t *lt; /* NULL: the release is linked with none */
static const cutt_blas *cublas;
static bool old; /* a release without integers of 64 bits */

static int open_both(void **unused) {
  if (fixture_open(unused)) return -1;
  if (cutt_blas_find(CUTT_BACKEND_CUDA, NULL, "p", CUTT_F64, &cublas)) {
    print_error("%s\n", cuttLastError());
    return -1;
  }
  void *library = dlopen(cublas->path, RTLD_NOW | RTLD_NOLOAD);
  blas = fake_cublas_of(library);
  if (!blas) {
    print_error("%s is not the stand-in\n", cublas->path);
    return -1;
  }
  old = !dlsym(library, "cublasGemmEx_64");
  fake_cublas_lt_function *function = NULL;
  void *symbol = dlsym(library, "fake_cublas_lt");
  memcpy(&function, &symbol, sizeof function);
  lt = function ? function() : NULL;
  return 0;
}

static void start_lt(void) {
  static const double slow = 30e-6;
  lt->version = 0;
  lt->count = 0;
  lt->fail_list = lt->fail_multiply = lt->fail_create = 0;
  lt->fills_workspace = false;
  atomic_store(&lt->products, 0);
  for (int i = 0; i < FAKE_LT_MOST; ++i) {
    lt->workspace[i] = 0;
    lt->state[i] = 0;
    lt->config[i] = i;
    lt->aligned[i] = 0;
    lt->seconds[i] = slow;
  }
}

static int start(void **unused) {
  fixture_start(unused);
  atomic_store(&blas->fail_create, 0);
  atomic_store(&blas->fail_gemm, 0);
  atomic_store(&blas->only_remember, false);
  atomic_store(&blas->calls, 0);
  blas->seconds = 0;
  if (lt) start_lt();
  return 0;
}

/* Each handle that is kept has an event; nothing else may be left. */
static int finish(void **unused) {
  (void)unused;
  atomic_store(&fake->fail, -1);
  fake->context_set(NULL);
  assert_int_equal(atomic_load(&fake->alive_events), atomic_load(&blas->alive));
  assert_int_equal(atomic_load(&fake->alive_memory), 0);
  assert_int_equal(atomic_load(&fake->alive_streams), 0);
  assert_int_equal(atomic_load(&fake->depth), 0);
  assert_int_equal(atomic_load(&blas->faults), 0);
  if (lt) assert_int_equal(atomic_load(&lt->alive), 0);
  if (lt) assert_int_equal(atomic_load(&lt->faults), 0);
  return 0;
}

static cudaStream_t new_stream(void) {
  cudaStream_t stream = NULL;
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  assert_int_equal(scope.cu->stream_create(&stream, CUTT_CU_STREAM_NON_BLOCKING), 0);
  cutt_cuda_leave(&scope);
  return stream;
}

static void end_stream(cudaStream_t stream) {
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  assert_int_equal(scope.cu->stream_destroy(stream), 0);
  cutt_cuda_leave(&scope);
}

static const double one = 1, zero = 0;
static _Alignas(16) double x[4] = {1, 2, 3, 4}, y[4] = {1, 0, 0, 1}, z[4];
static const cutt_gemm small = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .batch = 1};

/* The handle of a session, as the stand-in has it. */
static struct cublasContext *product_in(void *session) {
  assert_success(cublas->gemm(cublas, session, CUTT_F64, &small, &one, x, y, &zero, z));
  assert_memory_equal(x, z, sizeof z);
  return blas->last.handle;
}

static void what_it_is(void **unused) {
  (void)unused;
  assert_string_equal(cublas->name, "cublas");
  assert_string_equal(cublas->version, old ? "11.0.3" : "12.8.4");
  assert_true(cublas->backend == CUTT_BACKEND_CUDA);
  assert_true(cublas->takes(cublas, CUTT_F16) && cublas->takes(cublas, CUTT_BF16) && cublas->takes(cublas, CUTT_C64));
  assert_false(cublas->takes(cublas, CUTT_I32));
  /* An H200's data sheet: 67 Tflop/s in both. */
  assert_true(cublas->flops > 55e12 && cublas->flops < 67e12);
  assert_true(cublas->flops_f32 > 55e12 && cublas->flops_f32 < 67e12);
  assert_true(cutt_blas_speed(cublas, CUTT_BF16) > 600e12 && cutt_blas_speed(cublas, CUTT_C64) == cublas->flops);
  cutt_cuda_scope scope;
  fake->context_set(fake->context_create(1)); /* an A100: 19.5 in both */
  assert_success(cutt_cuda_enter(&scope));
  assert_true(cutt_blas_speed(cublas, CUTT_F64) > 16e12 && cutt_blas_speed(cublas, CUTT_F64) < 19.6e12);
  assert_true(cutt_blas_speed(cublas, CUTT_F32) > 16e12 && cutt_blas_speed(cublas, CUTT_F32) < 19.6e12);
  cutt_cuda_leave(&scope);
  struct CUctx_st *p100 = fake->context_create(2); /* 4.7 and 9.5; no bf16 */
  fake->context_set(p100);
  assert_true(cutt_blas_speed(cublas, CUTT_F64) > 4e12 && cutt_blas_speed(cublas, CUTT_F64) < 4.8e12);
  assert_false(cublas->takes(cublas, CUTT_BF16));
  const cutt_blas *found = NULL;
  assert_result(CUTT_INVALID_DEVICE, cutt_blas_find(CUTT_BACKEND_CUDA, NULL, "p", CUTT_BF16, &found), "type is bf16");
}

/* A stream gets the handle that it had before, another stream gets it after an event, and two at once have two. */
static void handles(void **unused) {
  (void)unused;
  cudaStream_t stream[2] = {new_stream(), new_stream()};
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  void *session[2] = {NULL, NULL};
  const int made = atomic_load(&blas->made);
  for (int i = 0; i < 2; ++i) assert_success(cublas->begin(cublas, stream[i], &session[i]));
  struct cublasContext *first = product_in(session[0]), *second = product_in(session[1]);
  assert_ptr_not_equal(first, second);
  assert_ptr_equal(blas->last.stream, stream[1]);
  assert_int_equal(blas->last.math_mode, 16); /* halves are added up in float */
  for (int i = 0; i < 2; ++i) cublas->end(cublas, session[i]);
  for (int i = 0; i < 4; ++i) {
    assert_success(cublas->begin(cublas, stream[i % 2], &session[0]));
    assert_ptr_equal(product_in(session[0]), i % 2 ? second : first);
    cublas->end(cublas, session[0]);
  }
  /* With the handle of the other stream, which is at work: it waits. */
  assert_success(cublas->begin(cublas, stream[0], &session[0]));
  fake->forget();
  assert_success(cublas->begin(cublas, stream[0], &session[1]));
  assert_int_equal(fixture_calls(FAKE_stream_wait_event), 1);
  assert_ptr_equal(product_in(session[1]), second);
  cublas->end(cublas, session[0]);
  cublas->end(cublas, session[1]);
  assert_true(atomic_load(&blas->made) <= made + 2);
  cutt_cuda_leave(&scope);
  end_stream(stream[0]);
  end_stream(stream[1]);
}

/* A capture waits for nothing outside of it, and its handle is used for captures only; several captures share one handle. */
static void captures(void **unused) {
  (void)unused;
  cudaStream_t stream = new_stream();
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  void *session = NULL;
  assert_success(cublas->begin(cublas, stream, &session));
  struct cublasContext *outside = product_in(session), *inside = NULL;
  cublas->end(cublas, session);
  const int made = atomic_load(&blas->made);
  for (int i = 0; i < 4; ++i) {
    atomic_store(&stream->capturing, true);
    fake->forget();
    assert_success(cublas->begin(cublas, stream, &session));
    struct cublasContext *handle = product_in(session);
    assert_ptr_not_equal(handle, outside);
    if (inside) assert_ptr_equal(handle, inside);
    inside = handle;
    cublas->end(cublas, session);
    assert_int_equal(fixture_calls(FAKE_stream_wait_event) + fixture_calls(FAKE_event_record), 0);
    atomic_store(&stream->capturing, false);
    assert_success(cublas->begin(cublas, stream, &session));
    assert_ptr_equal(product_in(session), outside);
    cublas->end(cublas, session);
  }
  assert_true(atomic_load(&blas->made) <= made + 1);
  cutt_cuda_leave(&scope);
  end_stream(stream);
}

/* Each context has its own, also one at the address of another that is gone. */
static void contexts(void **unused) {
  (void)unused;
  struct CUctx_st *context = fake->context_create(0);
  void *session = NULL;
  struct cublasContext *handle[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    fake->context_set(context);
    assert_success(cublas->begin(cublas, NULL, &session));
    handle[i] = product_in(session);
    cublas->end(cublas, session);
  }
  assert_ptr_equal(handle[0], handle[1]);
  fake->context_destroy(context);
  struct CUctx_st *next = fake->context_create(0);
  assert_ptr_equal(next, context);
  fake->context_set(next);
  assert_success(cublas->begin(cublas, NULL, &session));
  handle[2] = product_in(session);
  cublas->end(cublas, session);
  assert_ptr_not_equal(handle[2], handle[0]);
}

static const cutt_gemm_case small_case = {.type = CUTT_F64,
                                          .gemm = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .batch = 1},
                                          .alignment = 16,
                                          .workspace = 1 << 20};

/* Algorithm number `number` of the list for a case, made ready. */
static cutt_gemm_chosen *chosen_of(const cutt_gemm_case *of, int number) {
  cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS];
  cutt_gemm_chosen *chosen = NULL;
  int count = 0;
  assert_success(cublas->algorithms(cublas, of, list, &count));
  assert_true(number < count);
  assert_success(cublas->choose(cublas, of, &list[number], &chosen));
  return chosen;
}

/* An algorithm that all threads multiply by, or NULL. */
static cutt_gemm_chosen *shared;

static void *many_sessions(void *failed) {
  cutt_cuda_scope scope;
  if (cutt_cuda_enter(&scope)) return failed;
  void *result = NULL;
  for (int i = 0; i < 200 && !result; ++i) {
    _Alignas(16) double result_of[4];
    void *session = NULL;
    if (cublas->begin(cublas, NULL, &session)) result = failed;
    if (!result && cublas->gemm(cublas, session, CUTT_F64, &small, &one, x, y, &zero, result_of)) result = failed;
    if (!result && memcmp(x, result_of, sizeof x) != 0) result = failed;
    memset(result_of, 0, sizeof result_of);
    if (!result && shared && cublas->gemm_chosen(cublas, session, shared, &one, x, y, &zero, result_of, NULL))
      result = failed;
    if (!result && shared && memcmp(x, result_of, sizeof x) != 0) result = failed;
    cublas->end(cublas, session);
  }
  cutt_cuda_leave(&scope);
  return result;
}

static void threads(void **unused) {
  (void)unused;
  pthread_t thread[4];
  const int made = atomic_load(&blas->made);
  atomic_store(&blas->only_remember, false);
  if (lt) {
    cutt_cuda_scope scope;
    assert_success(cutt_cuda_enter(&scope));
    lt->count = 1;
    shared = chosen_of(&small_case, 0);
    cutt_cuda_leave(&scope);
  }
  for (int i = 0; i < 4; ++i) assert_int_equal(pthread_create(&thread[i], NULL, many_sessions, thread), 0);
  for (int i = 0; i < 4; ++i) {
    void *result = NULL;
    assert_int_equal(pthread_join(thread[i], &result), 0);
    assert_null(result);
  }
  if (shared) cublas->forget(cublas, shared);
  shared = NULL;
  assert_true(atomic_load(&blas->made) <= made + 4);
}

static void batches_and_sizes(void **unused) {
  (void)unused;
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  void *session = NULL;
  assert_success(cublas->begin(cublas, NULL, &session));
  /* Three products with one A: c_i = a b_i. */
  float a[4] = {1, 2, 3, 4}, b[12], c[12], single_one = 1, single_zero = 0;
  for (int i = 0; i < 12; ++i) b[i] = (float)i;
  cutt_gemm g = small;
  g.batch = 3;
  g.stride_b = g.stride_c = 4;
  assert_success(cublas->gemm(cublas, session, CUTT_F32, &g, &single_one, a, b, &single_zero, c));
  for (int i = 0; i < 12; ++i) {
    const int column = i / 2, row = i % 2;
    assert_true(c[i] == a[row] * b[2 * column] + a[2 + row] * b[2 * column + 1]);
  }
  /* What integers of 32 bits hold, and what not. */
  atomic_store(&blas->only_remember, true);
  g = (cutt_gemm){.m = INT_MAX, .n = 1, .k = 1, .lda = INT_MAX, .ldb = 1, .ldc = INT_MAX, .batch = 1};
  assert_success(cublas->gemm(cublas, session, CUTT_F32, &g, &single_one, a, b, &single_zero, c));
  assert_false(blas->last.wide);
  atomic_store(&blas->calls, 0);
  g.m = g.lda = g.ldc = INT64_C(1) + INT_MAX;
  for (g.batch = 1; g.batch <= 2; ++g.batch) {
    assert_success(cublas->gemm(cublas, session, CUTT_F32, &g, &single_one, a, b, &single_zero, c));
    assert_int_equal(blas->last.wide, !old);
    assert_int_equal(blas->last.m, old ? 1 << 30 : g.m);
  }
  assert_int_equal(atomic_load(&blas->calls), old ? 4 : 2);
  cublas->end(cublas, session);
  cutt_cuda_leave(&scope);
}

static void failures(void **unused) {
  (void)unused;
  fake->context_set(fake->context_create(0)); /* which has no handle yet */
  void *session = NULL;
  const int alive = atomic_load(&blas->alive);
  atomic_store(&blas->fail_create, 1);
  assert_result(CUTT_INVALID_DEVICE, cublas->begin(cublas, NULL, &session), "making a cuBLAS handle failed", "(1)");
  atomic_store(&blas->fail_create, 0);
  static const int fails[] = {FAKE_ctx_get_current, FAKE_ctx_get_id, FAKE_stream_is_capturing, FAKE_event_create};
  for (size_t i = 0; i < sizeof fails / sizeof *fails; ++i) {
    fake->forget();
    atomic_store(&fake->fail_at, 1);
    atomic_store(&fake->fail, fails[i]);
    assert_result(CUTT_INTERNAL_ERROR, cublas->begin(cublas, NULL, &session), "a failure on request");
    assert_int_equal(atomic_load(&fake->failed), 1);
  }
  fake->forget();
  assert_int_equal(atomic_load(&blas->alive), alive);
  assert_success(cublas->begin(cublas, NULL, &session));
  atomic_store(&blas->fail_gemm, 14);
  assert_result(CUTT_INTERNAL_ERROR, cublas->gemm(cublas, session, CUTT_F64, &small, &one, x, y, &zero, z),
                "m = 2, n = 2, k = 2", old ? "an error" : "an internal failure on request");
  atomic_store(&blas->fail_gemm, 0);
  cublas->end(cublas, session);
  /* Waiting fails: the handle is not lost. */
  fake->forget();
  atomic_store(&fake->fail_at, 1);
  atomic_store(&fake->fail, FAKE_stream_wait_event);
  assert_result(CUTT_INTERNAL_ERROR, cublas->begin(cublas, NULL, &session), "letting a stream wait for an event");
  fake->forget();
  assert_int_equal(atomic_load(&blas->alive), alive + 1);
  assert_success(cublas->begin(cublas, NULL, &session));
  cublas->end(cublas, session);
  assert_int_equal(atomic_load(&blas->alive), alive + 1);
}

static void described(void **unused) {
  (void)unused;
  atomic_store(&blas->only_remember, true); /* no GPU is that fast in the test's own loops */
  fake->context_set(NULL);
  char text[16384];
  size_t needed = 0, again = 0;
  assert_success(cuttProvidersDescribe(CUTT_TEXT, NULL, 0, &needed));
  assert_success(cuttProvidersDescribe(CUTT_TEXT, text, sizeof text, &again));
  assert_int_equal(needed, again);
  assert_non_null(strstr(text, "cublas: multiplies matrices on the GPU, the default"));
  assert_success(cuttProvidersDescribe(CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, "\"name\":\"cublas\",\"backend\":\"cuda\",\"default\":true"));
}

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

/* ------------------------------------------------------------------------------------------------- algorithms of cuBLASLt */

/* What is asked for, of each type; and products in batches, transposed, conjugated, of scalars, each as cuBLAS's own. */
static void algorithms_multiply(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64};
  enum { LD = 5, BATCH = 3, STRIDE = 30, NUMBERS = 2 * BATCH * STRIDE };
  static _Alignas(256) double memory[4][NUMBERS];
  cutt_cuda_scope scope;
  void *session = NULL;
  if (!lt) skip();
  assert_success(cutt_cuda_enter(&scope));
  lt->count = 2;
  for (int i = 0; i < 4 * 3 * 3 * 2; ++i) {
    const cuttType_t type = types[i / 18];
    const int op_a = i / 6 % 3, op_b = i / 2 % 3, batch = i % 2 ? BATCH : 1;
    const bool single = type == CUTT_F32 || type == CUTT_C32, complex = type == CUTT_C32 || type == CUTT_C64;
    for (int t = 0; t < 4; ++t)
      for (int j = 0; j < NUMBERS; ++j) {
        const double value = t >= 2 ? -7 - j % 5 : (j * (t + 3)) % 11 - 5;
        if (single)
          ((float *)memory[t])[j] = (float)value;
        else
          memory[t][j] = value;
      }
    static const float scalars_f32[2][2] = {{2, 1}, {3, -1}};
    static const double scalars_f64[2][2] = {{2, 1}, {3, -1}};
    const void *alpha = single ? (const void *)scalars_f32[0] : scalars_f64[0],
               *beta = single ? (const void *)scalars_f32[1] : scalars_f64[1];
    const cutt_gemm_case of = {.type = type,
                               .gemm = {(cutt_op)op_a, (cutt_op)op_b, 4, 3, 5, LD, LD, LD, batch,
                                        batch > 1 ? STRIDE : 0, 0, batch > 1 ? STRIDE : 0},
                               .alignment = 8,
                               .workspace = 0};
    cutt_gemm_chosen *chosen = chosen_of(&of, 1);
    assert_int_equal(lt->alignment, 8);
    assert_int_equal(lt->most_workspace, 0);
    assert_int_equal(lt->reductions, 7);
    assert_success(cublas->begin(cublas, NULL, &session));
    assert_success(cublas->gemm(cublas, session, type, &of.gemm, alpha, memory[0], memory[1], beta, memory[2]));
    assert_success(cublas->gemm_chosen(cublas, session, chosen, alpha, memory[0], memory[1], beta, memory[3], NULL));
    cublas->end(cublas, session);
    assert_memory_equal(memory[2], memory[3], sizeof memory[2]);
    assert_int_equal(lt->last, 1);
    assert_int_equal(lt->batch, batch);
    assert_int_equal(lt->data, (single ? 0 : 1) + (complex ? 4 : 0));
    assert_int_equal(lt->scalars, lt->data);
    assert_int_equal(lt->compute, single ? 68 : 70);
    cublas->forget(cublas, chosen);
  }
  assert_int_equal(atomic_load(&lt->products), 72);
  /* Elsewhere in memory cuBLAS chooses. */
  cutt_gemm_chosen *chosen = chosen_of(&small_case, 0);
  assert_success(cublas->begin(cublas, NULL, &session));
  for (int t = 0; t < 3; ++t) {
    const double *at[3] = {memory[0], memory[1], memory[2]};
    at[t] += 1;
    assert_success(
        cublas->gemm_chosen(cublas, session, chosen, &one, at[0], at[1], &zero, (void *)(uintptr_t)at[2], NULL));
  }
  assert_int_equal(atomic_load(&lt->products), 72);
  cublas->end(cublas, session);
  cublas->forget(cublas, chosen);
  cutt_cuda_leave(&scope);
}

/* Which are listed, and which may be chosen. */
static void algorithms_listed(void **unused) {
  (void)unused;
  cutt_gemm_algorithm list[CUTT_GEMM_ALGORITHMS], other;
  cutt_gemm_chosen *chosen = NULL;
  cutt_cuda_scope scope;
  int count = -1;
  assert_success(cutt_cuda_enter(&scope));
  if (!lt) assert_true(!cublas->algorithms && !cublas->choose && !cublas->forget && !cublas->gemm_chosen);
  if (!lt) cutt_cuda_leave(&scope);
  if (!lt) return;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count)); /* it has none for this product */
  assert_int_equal(count, 0);
  lt->count = 4;
  lt->state[1] = 15;
  lt->workspace[2] = (1 << 20) + 1;
  lt->workspace[3] = 1 << 20;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  assert_int_equal(count, 2);
  assert_int_equal(list[0].word[0], 120804);
  assert_success(cublas->choose(cublas, &small_case, &list[1], &chosen));
  assert_int_equal(chosen->workspace, 1 << 20);
  assert_string_equal(chosen->name, "cublasLt 120804: algorithm 3, tile 103, stages 603, sums in 203 parts");
  cublas->forget(cublas, chosen);
  /* Of two with the same configuration it is the one. */
  lt->config[3] = 0;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  for (int i = 0; i < 2; ++i) {
    assert_success(cublas->choose(cublas, &small_case, &list[i], &chosen));
    assert_int_equal(chosen->workspace, i ? 1 << 20 : 0);
    cublas->forget(cublas, chosen);
  }
  lt->config[3] = 3;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  /* Less workspace, a smaller alignment, another release, words that are none. */
  cutt_gemm_case of = small_case;
  of.workspace = (1 << 20) - 1;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &of, &list[1], &chosen), "none of the 1 ",
                "1048575 bytes");
  of = small_case;
  of.alignment = 8;
  lt->aligned[3] = 16;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &of, &list[1], &chosen), "multiples of 8");
  other = list[1];
  other.word[CUTT_GEMM_WORDS - 1] ^= 1;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &small_case, &other, &chosen), "none of the 2 ");
  lt->version = 130100;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &small_case, &list[1], &chosen), "120804", "130100");
  lt->version = 0;
  /* Extents of more than 32 bits have no list. */
  of = small_case;
  of.gemm.m = of.gemm.lda = of.gemm.ldc = INT64_C(1) << 31;
  assert_success(cublas->algorithms(cublas, &of, list, &count));
  assert_int_equal(count, 0);
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &of, &other, &chosen), "none of the 0 ");
  /* Halves are added up in float. */
  of = small_case;
  of.type = CUTT_BF16;
  lt->fail_list = 15;
  assert_success(cublas->algorithms(cublas, &of, list, &count));
  assert_int_equal(count, 0);
  assert_int_equal(lt->reductions, 2);
  lt->fail_list = 0;
  lt->fail_create = 3;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  assert_int_equal(count, 0);
  assert_result(CUTT_INTERNAL_ERROR, cublas->choose(cublas, &small_case, &list[0], &chosen), "describing a product");
  lt->fail_create = 0;
  assert_null(chosen);
  /* It fails. */
  chosen = chosen_of(&small_case, 0);
  void *session = NULL;
  lt->fail_multiply = 14;
  assert_success(cublas->begin(cublas, NULL, &session));
  assert_result(CUTT_INTERNAL_ERROR, cublas->gemm_chosen(cublas, session, chosen, &one, x, y, &zero, z, NULL),
                "m = 2, n = 2, k = 2");
  cublas->end(cublas, session);
  cublas->forget(cublas, chosen);
  cutt_cuda_leave(&scope);
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
  static const char by_third[] = "\"algorithm\":\"cublasLt 120804: algorithm 2, ";
  cudaStream_t stream = new_stream();
  static tried t;
  t = (tried){.pattern = "kab,ckb->acb", .result_rank = 3, .limit = 8192, .choice = CUTT_MEASURE};
  assert_success(cuttWisdomCreate(&t.wisdom));
  blas->seconds = 20e-6;
  if (lt) {
    lt->count = 5;
    lt->seconds[2] = 5e-6;
    lt->workspace[2] = 1000;
    lt->seconds[4] = 1e-6;
    lt->workspace[4] = 8193; /* too much */
    lt->fills_workspace = true;
  }
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"measured\""));
  if (!lt) {
    assert_non_null(strstr(t.text, "\"algorithm\":\"\"}"));
    assert_success(cuttWisdomDestroy(t.wisdom));
    end_stream(stream);
    return;
  }
  assert_non_null(strstr(t.text, by_third));
  assert_non_null(strstr(t.text, "; algorithm no. 3\""));
  assert_true(t.workspace >= 1000);
  assert_int_equal(lt->last, 2);
  assert_int_equal(lt->batch, SIDE);
  assert_ptr_equal(lt->stream, stream);
  /* From wisdom, also from a file, and elsewhere in memory, where cuBLAS chooses. */
  const long calls = atomic_load(&blas->calls);
  t.choice = CUTT_PREDICT;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"wisdom\""));
  assert_non_null(strstr(t.text, by_third));
  assert_int_equal(atomic_load(&blas->calls), calls);
  t.offset = 1;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, by_third));
  assert_int_equal(atomic_load(&blas->calls), calls + 1);
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
    assert_non_null(strstr(t.text, "\"algorithm\":\"\"}"));
    assert_success(cuttWisdomDestroy(t.wisdom));
  }
  t.wisdom = first;
  lt->version = 130000;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"model\""));
  lt->version = 0;
  lt->count = 2;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"by\":\"model\""));
  lt->count = 5;
  /* Where the others are not faster, cuBLAS chooses; and where the list can't be had. */
  assert_success(cuttWisdomDestroy(first));
  t.wisdom = NULL;
  t.choice = CUTT_MEASURE;
  lt->seconds[2] = 30e-6;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "; algorithm no. 3\""));
  assert_non_null(strstr(t.text, "\"algorithm\":\"\"}"));
  lt->fail_list = 1;
  try_contraction(&t, stream);
  assert_null(strstr(t.text, "; algorithm no."));
  lt->fail_list = 0;
  /* No workspace: one that needs none. In blocks that are permuted: with workspace for both. */
  lt->seconds[2] = lt->seconds[3] = 5e-6;
  t.limit = 0;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, "\"algorithm\":\"cublasLt 120804: algorithm 3, "));
  assert_int_equal(lt->most_workspace, 0);
  lt->seconds[3] = lt->seconds[4] = 30e-6;
  t.limit = CUTT_NO_LIMIT;
  t.pattern = "abk,kca->cb";
  t.result_rank = 2;
  try_contraction(&t, stream);
  assert_non_null(strstr(t.text, by_third));
  assert_int_equal(lt->most_workspace, 32 << 20);
  end_stream(stream);
}

/* What a captured graph takes is products, also by an algorithm that was chosen, permutations and sums in the caller's stream, with
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
  cudaStream_t stream = new_stream();
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
    blas->seconds = 20e-6;
    if (lt) {
      lt->count = 1;
      lt->seconds[0] = 5e-6;
      lt->workspace[0] = cases[i].limit ? 700 : 0;
      lt->fills_workspace = true;
    }
    assert_success(cuttContractionPlanCreate(&plan, &c, &options));
    assert_success(cuttContractionGetInfo(plan, &info));
    const int chosen = lt ? atomic_load(&lt->products) : 0;
    assert_int_equal(info.pieces > 1, cases[i].blocks);
    assert_true(info.workspace_bytes <= BYTES);
    atomic_store(&fake->capture_is_on, 1);
    atomic_store(&stream->capturing, true);
    for (int again = 0; again < 2; ++again) { /* at first a handle is made */
      fake->forget();
      assert_success(cuttContractionExecute(plan, at[0], at[1], at[2], workspace, BYTES, stream));
      if (again) assert_int_equal(fixture_heavy_calls(), 0);
      assert_ptr_equal(lt && cases[i].measured ? lt->stream : blas->last.stream, stream);
    }
    if (lt) assert_int_equal(atomic_load(&lt->products) > chosen, cases[i].measured);
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
  end_stream(stream);
}

static void asked_for(void **unused) {
  (void)unused;
  const cutt_blas *found = NULL;
  char path[1024];
  assert_success(cutt_blas_find(CUTT_BACKEND_CUDA, "cublas", "p", CUTT_F64, &found));
  assert_ptr_equal(found, cublas);
  assert_success(cutt_blas_find(CUTT_BACKEND_CUDA, cublas->path, "p", CUTT_F64, &found));
  assert_ptr_equal(found, cublas);
  assert_result(CUTT_INVALID_PARAMETER, cutt_blas_find(CUTT_BACKEND_CUDA, "blis", "p", CUTT_F64, &found), "p is 'blis'",
                "the CPU");
  assert_result(CUTT_INVALID_PARAMETER, cutt_blas_find(CUTT_BACKEND_CUDA, "rocblas", "p", CUTT_F64, &found),
                "p is 'rocblas'; it must be cublas");
  snprintf(path, sizeof path, "%s/fake_nothing.so", folder);
  assert_result(CUTT_INVALID_PARAMETER, cutt_blas_find(CUTT_BACKEND_CUDA, path, "p", CUTT_F64, &found),
                "cublasCreate_v2");
}

static void none(void **unused) {
  (void)unused;
  const cutt_blas *found = NULL;
  assert_result(CUTT_INVALID_DEVICE, cutt_blas_find(CUTT_BACKEND_CUDA, NULL, "p", CUTT_F64, &found),
                "no library multiplies matrices on a GPU here", why_none);
  assert_result(CUTT_INVALID_DEVICE, cutt_blas_find(CUTT_BACKEND_CUDA, "cublas", "p", CUTT_F64, &found),
                "p is 'cublas'", why_none);
  char text[16384];
  assert_success(cuttProvidersDescribe(CUTT_TEXT, text, sizeof text, NULL));
  assert_non_null(strstr(text, why_none));
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
  if (lt) lt->count = 3;
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

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_it_is, start, finish),
      cmocka_unit_test_setup_teardown(handles, start, finish),
      cmocka_unit_test_setup_teardown(captures, start, finish),
      cmocka_unit_test_setup_teardown(contexts, start, finish),
      cmocka_unit_test_setup_teardown(threads, start, finish),
      cmocka_unit_test_setup_teardown(batches_and_sizes, start, finish),
      cmocka_unit_test_setup_teardown(failures, start, finish),
      cmocka_unit_test_setup_teardown(described, start, finish),
      cmocka_unit_test_setup_teardown(measured, start, finish),
      cmocka_unit_test_setup_teardown(algorithms_multiply, start, finish),
      cmocka_unit_test_setup_teardown(algorithms_listed, start, finish),
      cmocka_unit_test_setup_teardown(algorithms_measured, start, finish),
      cmocka_unit_test_setup_teardown(graphs, start, finish),
      cmocka_unit_test_setup_teardown(asked_for, start, finish),
      cmocka_unit_test_setup_teardown(little_stack, start, finish),
  };
  const struct CMUnitTest without[] = {cmocka_unit_test(none)};
  if (argc > 2) {
    why_none = argv[2];
    return cmocka_run_group_tests(without, NULL, NULL);
  }
  return cmocka_run_group_tests(tests, open_both, NULL);
}
