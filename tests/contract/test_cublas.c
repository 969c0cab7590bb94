/* The GPU's BLAS library without a GPU: stand-ins for the driver (tests/cuda) and for cuBLAS come first in LD_LIBRARY_PATH.
 * Argument 1 is the folder of the latter. Argument 2, where there is one: why there is no cuBLAS to be found. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "contract/cublas_fixture.h"
#include "plan/services.h"
#include "runtime/cuda/state.h"

static const char *folder, *why_none;

static const double one = 1, zero = 0;
static _Alignas(16) double x[4] = {1, 2, 3, 4}, y[4] = {1, 0, 0, 1}, z[4];
static const cutt_gemm small = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .batch = 1};

/* The handle of a session, as the stand-in has it. */
static struct cublasContext *product_in(void *session) {
  assert_success(cublas->gemm(cublas, session, CUTT_F64, &small, &one, x, y, &zero, z));
  assert_memory_equal(x, z, sizeof z);
  return cublas_fake->last.handle;
}

static void what_it_is(void **unused) {
  (void)unused;
  assert_string_equal(cublas->name, "cublas");
  assert_string_equal(cublas->version, cublas_old ? "11.0.3" : "12.8.4");
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
  cudaStream_t stream[2] = {cublas_stream(), cublas_stream()};
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  void *session[2] = {NULL, NULL};
  const int made = atomic_load(&cublas_fake->made);
  for (int i = 0; i < 2; ++i) assert_success(cublas->begin(cublas, stream[i], &session[i]));
  struct cublasContext *first = product_in(session[0]), *second = product_in(session[1]);
  assert_ptr_not_equal(first, second);
  assert_ptr_equal(cublas_fake->last.stream, stream[1]);
  assert_int_equal(cublas_fake->last.math_mode, 16); /* halves are added up in float */
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
  assert_true(atomic_load(&cublas_fake->made) <= made + 2);
  cutt_cuda_leave(&scope);
  cublas_end_stream(stream[0]);
  cublas_end_stream(stream[1]);
}

/* A capture waits for nothing outside of it, and its handle is used for captures only; several captures share one handle. */
static void captures(void **unused) {
  (void)unused;
  cudaStream_t stream = cublas_stream();
  cutt_cuda_scope scope;
  assert_success(cutt_cuda_enter(&scope));
  void *session = NULL;
  assert_success(cublas->begin(cublas, stream, &session));
  struct cublasContext *outside = product_in(session), *inside = NULL;
  cublas->end(cublas, session);
  const int made = atomic_load(&cublas_fake->made);
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
  assert_true(atomic_load(&cublas_fake->made) <= made + 1);
  cutt_cuda_leave(&scope);
  cublas_end_stream(stream);
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
    if (!result && shared && cublas->gemm_chosen(cublas, shared, &one, x, y, &zero, result_of, NULL, NULL))
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
  const int made = atomic_load(&cublas_fake->made);
  atomic_store(&cublas_fake->only_remember, false);
  if (cublas_lt) {
    cutt_cuda_scope scope;
    assert_success(cutt_cuda_enter(&scope));
    cublas_lt->count = 1;
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
  assert_true(atomic_load(&cublas_fake->made) <= made + 4);
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
  atomic_store(&cublas_fake->only_remember, true);
  g = (cutt_gemm){.m = INT_MAX, .n = 1, .k = 1, .lda = INT_MAX, .ldb = 1, .ldc = INT_MAX, .batch = 1};
  assert_success(cublas->gemm(cublas, session, CUTT_F32, &g, &single_one, a, b, &single_zero, c));
  assert_false(cublas_fake->last.wide);
  atomic_store(&cublas_fake->calls, 0);
  g.m = g.lda = g.ldc = INT64_C(1) + INT_MAX;
  for (g.batch = 1; g.batch <= 2; ++g.batch) {
    assert_success(cublas->gemm(cublas, session, CUTT_F32, &g, &single_one, a, b, &single_zero, c));
    assert_int_equal(cublas_fake->last.wide, !cublas_old);
    assert_int_equal(cublas_fake->last.m, cublas_old ? 1 << 30 : g.m);
  }
  assert_int_equal(atomic_load(&cublas_fake->calls), cublas_old ? 4 : 2);
  cublas->end(cublas, session);
  cutt_cuda_leave(&scope);
}

static void failures(void **unused) {
  (void)unused;
  fake->context_set(fake->context_create(0)); /* which has no handle yet */
  void *session = NULL;
  const int alive = atomic_load(&cublas_fake->alive);
  atomic_store(&cublas_fake->fail_create, 1);
  assert_result(CUTT_INVALID_DEVICE, cublas->begin(cublas, NULL, &session), "making a cuBLAS handle failed", "(1)");
  atomic_store(&cublas_fake->fail_create, 0);
  if (cublas_lt) { /* which has one handle of a context */
    const int handles = atomic_load(&cublas_lt->handles);
    cutt_gemm_chosen *chosen = NULL;
    cublas_lt->fail_handle = 1;
    assert_result(CUTT_INVALID_DEVICE, cublas->choose(cublas, &small_case, NULL, &chosen),
                  "making a cuBLASLt handle failed", "(1)");
    cublas_lt->fail_handle = 0;
    for (int i = 0; i < 3; ++i) assert_success(cublas->choose(cublas, &small_case, NULL, &chosen));
    assert_int_equal(atomic_load(&cublas_lt->handles), handles + 1);
  }
  static const int fails[] = {FAKE_ctx_get_current, FAKE_ctx_get_id, FAKE_stream_is_capturing, FAKE_event_create};
  for (size_t i = 0; i < sizeof fails / sizeof *fails; ++i) {
    fake->forget();
    atomic_store(&fake->fail_at, 1);
    atomic_store(&fake->fail, fails[i]);
    assert_result(CUTT_INTERNAL_ERROR, cublas->begin(cublas, NULL, &session), "a failure on request");
    assert_int_equal(atomic_load(&fake->failed), 1);
  }
  fake->forget();
  assert_int_equal(atomic_load(&cublas_fake->alive), alive);
  assert_success(cublas->begin(cublas, NULL, &session));
  atomic_store(&cublas_fake->fail_gemm, 14);
  assert_result(CUTT_INTERNAL_ERROR, cublas->gemm(cublas, session, CUTT_F64, &small, &one, x, y, &zero, z),
                "m = 2, n = 2, k = 2", cublas_old ? "an error" : "an internal failure on request");
  atomic_store(&cublas_fake->fail_gemm, 0);
  cublas->end(cublas, session);
  /* Waiting fails: the handle is not lost. */
  fake->forget();
  atomic_store(&fake->fail_at, 1);
  atomic_store(&fake->fail, FAKE_stream_wait_event);
  assert_result(CUTT_INTERNAL_ERROR, cublas->begin(cublas, NULL, &session), "letting a stream wait for an event");
  fake->forget();
  assert_int_equal(atomic_load(&cublas_fake->alive), alive + 1);
  assert_success(cublas->begin(cublas, NULL, &session));
  cublas->end(cublas, session);
  assert_int_equal(atomic_load(&cublas_fake->alive), alive + 1);
}

static void described(void **unused) {
  (void)unused;
  atomic_store(&cublas_fake->only_remember, true); /* no GPU is that fast in the test's own loops */
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

/* ------------------------------------------------------------------------------------------------- algorithms of cuBLASLt */

/* What is asked for, of each type; and products in batches, transposed, conjugated, of scalars, each as cuBLAS's own. */
static void algorithms_multiply(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64};
  enum { LD = 5, BATCH = 3, STRIDE = 30, NUMBERS = 2 * BATCH * STRIDE };
  static _Alignas(256) double memory[4][NUMBERS];
  cutt_cuda_scope scope;
  void *session = NULL;
  if (!cublas_lt) skip();
  assert_success(cutt_cuda_enter(&scope));
  cublas_lt->count = 2;
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
    assert_int_equal(cublas_lt->alignment, 8);
    assert_int_equal(cublas_lt->most_workspace, 0);
    assert_int_equal(cublas_lt->reductions, 7);
    assert_success(cublas->begin(cublas, NULL, &session));
    assert_success(cublas->gemm(cublas, session, type, &of.gemm, alpha, memory[0], memory[1], beta, memory[2]));
    assert_success(cublas->gemm_chosen(cublas, chosen, alpha, memory[0], memory[1], beta, memory[3], NULL, NULL));
    cublas->end(cublas, session);
    assert_memory_equal(memory[2], memory[3], sizeof memory[2]);
    assert_int_equal(cublas_lt->last, 1);
    assert_int_equal(cublas_lt->batch, batch);
    assert_int_equal(cublas_lt->data, (single ? 0 : 1) + (complex ? 4 : 0));
    assert_int_equal(cublas_lt->scalars, cublas_lt->data);
    assert_int_equal(cublas_lt->compute, single ? 68 : 70);
    cublas->forget(cublas, chosen);
  }
  assert_int_equal(atomic_load(&cublas_lt->products), 72);
  /* Only where it was chosen for. */
  cutt_gemm_chosen *chosen = chosen_of(&small_case, 0);
  assert_true(cutt_gemm_chosen_fits(chosen, memory[0], memory[1], memory[2]));
  for (int t = 0; t < 3; ++t) {
    const double *at[3] = {memory[0], memory[1], memory[2]};
    at[t] += 1;
    assert_false(cutt_gemm_chosen_fits(chosen, at[0], at[1], at[2]));
  }
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
  if (!cublas_lt) assert_true(!cublas->algorithms && !cublas->choose && !cublas->forget && !cublas->gemm_chosen);
  if (!cublas_lt) cutt_cuda_leave(&scope);
  if (!cublas_lt) return;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count)); /* it has none for this product */
  assert_int_equal(count, 0);
  cublas_lt->count = 4;
  cublas_lt->state[1] = 15;
  cublas_lt->workspace[2] = (1 << 20) + 1;
  cublas_lt->workspace[3] = 1 << 20;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  assert_int_equal(count, 2);
  assert_int_equal(list[0].word[0], 120804);
  assert_success(cublas->choose(cublas, &small_case, &list[1], &chosen));
  assert_int_equal(chosen->workspace, 1 << 20);
  assert_string_equal(chosen->name, "cublasLt 120804: algorithm 3, tile 103, stages 603, sums in 203 parts");
  cublas->forget(cublas, chosen);
  /* Of two with the same configuration it is the one. */
  cublas_lt->config[3] = 0;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  for (int i = 0; i < 2; ++i) {
    assert_success(cublas->choose(cublas, &small_case, &list[i], &chosen));
    assert_int_equal(chosen->workspace, i ? 1 << 20 : 0);
    cublas->forget(cublas, chosen);
  }
  cublas_lt->config[3] = 3;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  /* Less workspace, a smaller alignment, another release, words that are none. */
  cutt_gemm_case of = small_case;
  of.workspace = (1 << 20) - 1;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &of, &list[1], &chosen), "none of the 1 ",
                "1048575 bytes");
  of = small_case;
  of.alignment = 8;
  cublas_lt->aligned[3] = 16;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &of, &list[1], &chosen), "multiples of 8");
  other = list[1];
  other.word[CUTT_GEMM_WORDS - 1] ^= 1;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &small_case, &other, &chosen), "none of the 2 ");
  cublas_lt->version = 130100;
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &small_case, &list[1], &chosen), "120804", "130100");
  cublas_lt->version = 0;
  /* Extents of more than 32 bits have no list. */
  of = small_case;
  of.gemm.m = of.gemm.lda = of.gemm.ldc = INT64_C(1) << 31;
  assert_success(cublas->algorithms(cublas, &of, list, &count));
  assert_int_equal(count, 0);
  assert_result(CUTT_INVALID_PARAMETER, cublas->choose(cublas, &of, &other, &chosen), "none of the 0 ");
  /* Halves are added up in float. */
  of = small_case;
  of.type = CUTT_BF16;
  cublas_lt->fail_list = 15;
  assert_success(cublas->algorithms(cublas, &of, list, &count));
  assert_int_equal(count, 0);
  assert_int_equal(cublas_lt->reductions, 2);
  cublas_lt->fail_list = 0;
  cublas_lt->fail_create = 3;
  assert_success(cublas->algorithms(cublas, &small_case, list, &count));
  assert_int_equal(count, 0);
  assert_result(CUTT_INTERNAL_ERROR, cublas->choose(cublas, &small_case, &list[0], &chosen), "describing a product");
  cublas_lt->fail_create = 0;
  assert_null(chosen);
  /* The first, if there is one. */
  assert_success(cublas->choose(cublas, &small_case, NULL, &chosen));
  assert_non_null(strstr(chosen->name, "algorithm 0, "));
  cublas->forget(cublas, chosen);
  cublas_lt->count = 0;
  assert_success(cublas->choose(cublas, &small_case, NULL, &chosen));
  assert_null(chosen);
  cublas_lt->count = 4;
  /* It fails. */
  chosen = chosen_of(&small_case, 0);
  cublas_lt->fail_multiply = 14;
  assert_result(CUTT_INTERNAL_ERROR, cublas->gemm_chosen(cublas, chosen, &one, x, y, &zero, z, NULL, NULL),
                "m = 2, n = 2, k = 2");
  cublas->forget(cublas, chosen);
  cutt_cuda_leave(&scope);
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

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_it_is, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(handles, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(captures, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(contexts, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(threads, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(batches_and_sizes, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(failures, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(described, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(algorithms_multiply, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(algorithms_listed, cublas_start, cublas_finish),
      cmocka_unit_test_setup_teardown(asked_for, cublas_start, cublas_finish),
  };
  const struct CMUnitTest without[] = {cmocka_unit_test(none)};
  if (argc > 2) {
    why_none = argv[2];
    return cmocka_run_group_tests(without, NULL, NULL);
  }
  return cmocka_run_group_tests(tests, cublas_open, NULL);
}
