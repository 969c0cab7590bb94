/* The paper's four calls: results, result codes, the life of handles. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/buffers.h"
#include "support/check.h"
#include "support/reference.h"

/* Defined in header_c99.c and header_cxx.cc, each of which includes cutt.h as its own language, and is compiled without
 * CUTT_EXPERIMENTAL and with it. */
int test_cutt_header_c99_usual(void);
int test_cutt_header_c99_experimental(void);
#ifdef TEST_CXX
int test_cutt_header_cxx_usual(void);
int test_cutt_header_cxx_experimental(void);
#endif

enum { A = 7, B = 12, C = 9, VOLUME = A * B * C };
static int dim[3] = {A, B, C};
static int reversed[3] = {2, 1, 0};

static bool is_reversed(const void *in, const void *out, size_t bytes) {
  for (size_t a = 0; a < A; a++)
    for (size_t b = 0; b < B; b++)
      for (size_t c = 0; c < C; c++)
        if (memcmp((const char *)in + (a + A * (b + B * c)) * bytes, (const char *)out + (c + C * (b + B * a)) * bytes,
                   bytes))
          return false;
  return true;
}

static void permutes_all_sizes(void **unused) {
  (void)unused;
  for (size_t bytes = 1; bytes <= 16; bytes *= 2) {
    unsigned char in[VOLUME * 16], out[VOLUME * 16];
    cuttHandle handle;
    test_fill_bits(in, VOLUME * bytes, bytes, bytes);
    memset(out, 0xee, sizeof out);
    assert_success(cuttPlan(&handle, 3, dim, reversed, bytes, 0));
    assert_success(cuttExecute(handle, in, out));
    assert_true(is_reversed(in, out, bytes));
    for (size_t i = VOLUME * bytes; i < sizeof out; i++) assert_int_equal(out[i], 0xee);
    assert_success(cuttDestroy(handle));
  }
}

static void measures(void **unused) {
  (void)unused;
  static double in[VOLUME], copy[VOLUME], out[VOLUME];
  cuttHandle handle;
  test_fill_bits(in, sizeof in, 8, 5);
  memcpy(copy, in, sizeof in);
  assert_success(cuttPlanMeasure(&handle, 3, dim, reversed, sizeof(double), 0, in, out));
  assert_memory_equal(in, copy, sizeof in); /* the input is only read */
  memset(out, 0xee, sizeof out);
  assert_success(cuttExecute(handle, in, out));
  assert_true(is_reversed(in, out, 8));
  assert_success(cuttDestroy(handle));
}

static void measure_refuses_bad_buffers(void **unused) {
  (void)unused;
  static double buffer[2 * VOLUME];
  cuttHandle handle;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanMeasure(&handle, 3, dim, reversed, 8, 0, NULL, buffer), "idata",
                "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanMeasure(&handle, 3, dim, reversed, 8, 0, buffer, NULL), "odata",
                "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanMeasure(&handle, 3, dim, reversed, 8, 0, buffer, buffer + 5),
                "overlap");
}

static void refuses_bad_arguments(void **unused) {
  (void)unused;
  cuttHandle handle;
  int twice[3] = {0, 1, 1}, beyond[3] = {0, 1, 3}, negative[3] = {0, -1, 2}, bad_dim[3] = {7, 0, 9},
      minus[3] = {7, -12, 9};
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(NULL, 3, dim, reversed, 8, 0), "handle", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 0, dim, reversed, 8, 0), "rank", "0", "1");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, -3, dim, reversed, 8, 0), "rank", "-3", "1");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, CUTT_MAX_RANK + 1, dim, reversed, 8, 0), "rank", "65", "64");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, NULL, reversed, 8, 0), "dim", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, dim, NULL, 8, 0), "permutation", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, dim, twice, 8, 0), "perm", "[2]", "1");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, dim, beyond, 8, 0), "perm", "[2]", "3");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, dim, negative, 8, 0), "perm", "[1]", "-1");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, bad_dim, reversed, 8, 0), "dim[1]", "0", "1");
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, minus, reversed, 8, 0), "dim[1]", "-12", "1");
  static const size_t sizes[] = {0, 3, 5, 6, 7, 9, 12, 15, 17, 32, (size_t)-1};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, dim, reversed, sizes[i], 0), "sizeofType", "16");
}

static void refuses_bad_pointers(void **unused) {
  (void)unused;
  static float buffer[2 * VOLUME];
  cuttHandle handle;
  assert_success(cuttPlan(&handle, 3, dim, reversed, 4, 0));
  assert_result(CUTT_INVALID_PARAMETER, cuttExecute(handle, NULL, buffer), "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttExecute(handle, buffer, NULL), "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttExecute(handle, buffer, buffer), "overlap");
  assert_result(CUTT_INVALID_PARAMETER, cuttExecute(handle, buffer, buffer + VOLUME - 1), "overlap");
  assert_result(CUTT_INVALID_PARAMETER, cuttExecute(handle, buffer + VOLUME - 1, buffer), "overlap");
  assert_success(cuttExecute(handle, buffer, buffer + VOLUME));
  assert_success(cuttExecute(handle, buffer + VOLUME, buffer));
  assert_success(cuttDestroy(handle));
}

static void handles_die(void **unused) {
  (void)unused;
  static float in[VOLUME], out[VOLUME];
  cuttHandle handle, other;
  assert_success(cuttPlan(&handle, 3, dim, reversed, 4, 0));
  assert_success(cuttDestroy(handle));
  assert_result(CUTT_INVALID_PLAN, cuttExecute(handle, in, out), "handle");
  assert_result(CUTT_INVALID_PLAN, cuttDestroy(handle), "handle");
  /* A new plan may take the old one's place, but not its name. */
  assert_success(cuttPlan(&other, 3, dim, reversed, 4, 0));
  assert_result(CUTT_INVALID_PLAN, cuttExecute(handle, in, out), NULL);
  assert_result(CUTT_INVALID_PLAN, cuttDestroy(handle), NULL);
  assert_success(cuttDestroy(other));
  static const cuttHandle never[] = {0, 1, 12345, 0x7fffffff, 0x80000000u, 0xffffffffu};
  for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
    assert_result(CUTT_INVALID_PLAN, cuttExecute(never[i], in, out), NULL);
    assert_result(CUTT_INVALID_PLAN, cuttDestroy(never[i]), NULL);
  }
}

static void many_handles(void **unused) {
  (void)unused;
  enum { MANY = 5000 };
  static cuttHandle handles[MANY];
  static char in[MANY + 1][2], out[2][MANY + 1];
  test_fill_bits(in, sizeof in, 1, 9);
  for (int i = 0; i < MANY; i++) {
    int different[2] = {2, 1 + i}, swapped[2] = {1, 0};
    assert_success(cuttPlan(&handles[i], 2, different, swapped, 1, 0));
  }
  for (int i = 0; i < MANY; i += 3) assert_success(cuttDestroy(handles[i]));
  for (int i = 0; i < MANY; i++) {
    cuttResult result = cuttExecute(handles[i], in, out);
    if (i % 3 == 0) {
      assert_int_equal(result, CUTT_INVALID_PLAN);
    } else {
      const char *flat = &out[0][0];
      assert_int_equal(flat[i], in[i][0]);
      assert_int_equal(flat[2 * i + 1], in[i][1]);
    }
  }
  for (int i = 0; i < MANY; i++)
    if (i % 3) assert_success(cuttDestroy(handles[i]));
}

/* A program that never destroys a plan: one handle and one plan for each different problem, however often it plans. */
static void one_problem_has_one_handle(void **unused) {
  (void)unused;
  enum { TIMES = 1500000 }; /* more than there are handles */
  static double in[VOLUME], out[VOLUME];
  cuttHandle first, handle = 0, other[6];
  int turned[3] = {1, 0, 2}, longer[3] = {A, B, C + 1}, fewer[2] = {A, B * C}, swapped[2] = {1, 0};
  test_fill_bits(in, sizeof in, 8, 2);
  assert_success(cuttPlan(&first, 3, dim, reversed, 8, 0));
  for (int i = 1; i < TIMES; i++) {
    const cuttResult result = cuttPlan(&handle, 3, dim, reversed, 8, 0);
    if (result != CUTT_SUCCESS || handle != first) fail_msg("plan %d: %s", i, cuttLastError());
  }
  /* Whatever differs is another plan; the default stream by another name, too. */
  assert_success(cuttPlan(&other[0], 3, dim, turned, 8, 0));
  assert_success(cuttPlan(&other[1], 3, longer, reversed, 8, 0));
  assert_success(cuttPlan(&other[2], 2, fewer, swapped, 8, 0));
  assert_success(cuttPlan(&other[3], 3, dim, reversed, 4, 0));
  assert_success(cuttPlanMeasure(&other[4], 3, dim, reversed, 8, 0, in, out));
  for (int i = 0; i < 5; i++) {
    assert_int_not_equal(other[i], first);
    for (int j = 0; j < i; j++) assert_int_not_equal(other[i], other[j]);
  }
  /* What is measured already is not again, and the buffers are looked at all the same. */
  memset(out, 0xee, sizeof out);
  assert_success(cuttPlanMeasure(&other[5], 3, dim, reversed, 8, 0, in, out));
  assert_int_equal(other[5], other[4]);
  assert_result(CUTT_INVALID_PARAMETER, cuttPlanMeasure(&handle, 3, dim, reversed, 8, 0, in, in + 1), "idata",
                "overlap");
  for (int i = 0; i < 6; i++) assert_success(cuttDestroy(other[i]));
  assert_result(CUTT_INVALID_PLAN, cuttDestroy(other[4]), "handle");
  /* It lives until it is given back for the last time. */
  for (int i = 1; i < TIMES; i++)
    if (cuttDestroy(first) != CUTT_SUCCESS) fail_msg("%s", cuttLastError());
  memset(out, 0xee, sizeof out);
  assert_success(cuttExecute(first, in, out));
  assert_true(is_reversed(in, out, 8));
  assert_success(cuttDestroy(first));
  assert_result(CUTT_INVALID_PLAN, cuttExecute(first, in, out), "handle");
  assert_success(cuttPlan(&handle, 3, dim, reversed, 8, 0));
  assert_int_not_equal(handle, first);
  assert_success(cuttDestroy(handle));
}

/* out = alpha * perm(in) + beta * out, with scalars of the element's size. */
static void executes_with_scalars(void **unused) {
  (void)unused;
  static double in[VOLUME], out[VOLUME], before[VOLUME];
  static float in4[VOLUME], out4[VOLUME];
  const double alpha = 3, beta = -2;
  const float alpha4 = 5;
  cuttHandle handle, handle4, handle16;
  for (int i = 0; i < VOLUME; i++) in[i] = i, before[i] = 1000 * i, in4[i] = (float)i;
  assert_success(cuttPlan(&handle, 3, dim, reversed, 8, 0));
  assert_success(cuttPlan(&handle4, 3, dim, reversed, 4, 0));
  assert_success(cuttPlan(&handle16, 3, dim, reversed, 16, 0));
  for (int with_beta = 0; with_beta < 2; with_beta++) {
    memcpy(out, before, sizeof out);
    assert_success(cuttExecuteScaled(handle, in, out, &alpha, with_beta ? &beta : NULL));
    for (int i = 0; i < VOLUME; i++) {
      const int from = i / (C * B) + A * (i / C % B) + A * B * (i % C);
      assert_true(out[i] == 3.0 * from - (with_beta ? 2000.0 * i : 0));
    }
  }
  memset(out4, 0xff, sizeof out4); /* NaN, which is not read */
  assert_success(cuttExecuteScaled(handle4, in4, out4, &alpha4, NULL));
  for (int i = 0; i < VOLUME; i++)
    assert_true(out4[i] == 5.0f * (float)(i / (C * B) + A * (i / C % B) + A * B * (i % C)));
  memset(out, 0xee, sizeof out);
  assert_success(cuttExecuteScaled(handle, in, out, NULL, NULL));
  assert_true(is_reversed(in, out, 8));
  assert_result(CUTT_INVALID_PARAMETER, cuttExecuteScaled(handle16, in, out, &alpha, NULL), "alpha", "16 bytes");
  assert_result(CUTT_INVALID_PARAMETER, cuttExecuteScaled(handle, in, NULL, &alpha, NULL), "odata", "NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttExecuteScaled(handle, in, in, &alpha, NULL), "overlap");
  assert_success(cuttDestroy(handle));
  assert_result(CUTT_INVALID_PLAN, cuttExecuteScaled(handle, in, out, &alpha, NULL), "handle");
  assert_success(cuttDestroy(handle4));
  assert_success(cuttDestroy(handle16));
  cuttFinalize();
}

/* CUDA's names for default streams are numbers, and mean nothing on the CPU. */
static void default_streams_by_name(void **unused) {
  (void)unused;
  static double in[VOLUME], out[VOLUME];
  test_fill_bits(in, sizeof in, 8, 2);
  for (uintptr_t number = 1; number <= 3; number++) {
    cudaStream_t stream = NULL;
    memcpy(&stream, &number, sizeof stream);
    cuttHandle handle;
    if (number == 3) {
      assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, 3, dim, reversed, 8, stream), "stream is 0x3", "NULL");
      continue;
    }
    assert_success(cuttPlan(&handle, 3, dim, reversed, 8, stream));
    memset(out, 0xee, sizeof out);
    assert_success(cuttExecute(handle, in, out));
    assert_true(is_reversed(in, out, 8));
    assert_success(cuttDestroy(handle));
    assert_success(cuttPlanMeasure(&handle, 3, dim, reversed, 8, stream, in, out));
    assert_success(cuttDestroy(handle));
  }
}

/* Plans that come and go in one place: names must not come back while someone may still hold them. */
static void names_are_not_reused_soon(void **unused) {
  (void)unused;
  enum { MANY = 300 };
  cuttHandle handles[MANY];
  for (int i = 0; i < MANY; i++) {
    assert_success(cuttPlan(&handles[i], 3, dim, reversed, 8, 0));
    for (int j = 0; j < i; j++) assert_int_not_equal(handles[i], handles[j]);
    assert_success(cuttDestroy(handles[i]));
  }
}

static void identity_in_place(void **unused) {
  (void)unused;
  int identity[3] = {0, 1, 2}, ones[3] = {1, 12, 1};
  float data[VOLUME], copy[VOLUME];
  cuttHandle handle;
  test_fill_bits(data, sizeof data, 4, 1);
  memcpy(copy, data, sizeof data);
  assert_success(cuttPlan(&handle, 3, dim, identity, 4, 0));
  assert_success(cuttExecute(handle, data, data));
  assert_memory_equal(data, copy, sizeof data);
  assert_success(cuttDestroy(handle));
  /* Modes of extent 1 may go anywhere. */
  assert_success(cuttPlan(&handle, 3, ones, reversed, 4, 0));
  assert_success(cuttExecute(handle, data, data));
  assert_memory_equal(data, copy, sizeof data);
  assert_success(cuttDestroy(handle));
}

typedef struct job {
  cuttHandle handle;
  const double *in;
  int wrong;
} job;

static void *execute_often(void *argument) {
  job *j = argument;
  double *out = malloc(VOLUME * sizeof *out);
  for (int i = 0; i < 50; i++) {
    memset(out, 0xee, VOLUME * sizeof *out);
    if (cuttExecute(j->handle, (void *)(uintptr_t)j->in, out) != CUTT_SUCCESS || !is_reversed(j->in, out, 8))
      j->wrong++;
  }
  free(out);
  return NULL;
}

static void threads_share_a_handle(void **unused) {
  (void)unused;
  enum { THREADS = 8 };
  static double in[VOLUME];
  pthread_t thread[THREADS];
  job jobs[THREADS];
  cuttHandle handle;
  test_fill_bits(in, sizeof in, 8, 3);
  assert_success(cuttPlan(&handle, 3, dim, reversed, 8, 0));
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (job){handle, in, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, execute_often, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    assert_int_equal(jobs[i].wrong, 0);
  }
  assert_success(cuttDestroy(handle));
}

static void result_codes(void **unused) {
  (void)unused;
  static const char *const names[] = {"CUTT_SUCCESS",        "CUTT_INVALID_PLAN",   "CUTT_INVALID_PARAMETER",
                                      "CUTT_INVALID_DEVICE", "CUTT_INTERNAL_ERROR", "CUTT_UNDEFINED_ERROR"};
  for (int i = 0; i < 6; i++) assert_string_equal(cuttResultName((cuttResult)i), names[i]);
  assert_non_null(cuttResultName((cuttResult)99));
  assert_non_null(cuttResultName((cuttResult)-1));
  assert_int_equal(cuttVersion(), CUTT_VERSION_MAJOR * 10000 + CUTT_VERSION_MINOR * 100 + CUTT_VERSION_PATCH);
}

static void *last_error_is_empty(void *unused) {
  (void)unused;
  return strcmp(cuttLastError(), "") ? (void *)1 : NULL;
}

static void last_error_is_the_threads_own(void **unused) {
  (void)unused;
  pthread_t thread;
  void *not_empty;
  cuttHandle handle;
  assert_result(CUTT_INVALID_PARAMETER, cuttPlan(&handle, -77, dim, reversed, 8, 0), "-77");
  assert_int_equal(pthread_create(&thread, NULL, last_error_is_empty, NULL), 0);
  pthread_join(thread, &not_empty);
  assert_null(not_empty);
  assert_success(cuttPlan(&handle, 3, dim, reversed, 8, 0)); /* success leaves the text alone */
  assert_non_null(strstr(cuttLastError(), "-77"));
  assert_success(cuttDestroy(handle));
}

static void header_in_c99_and_cxx(void **unused) {
  (void)unused;
  assert_int_equal(test_cutt_header_c99_usual(), 0);
  assert_int_equal(test_cutt_header_c99_experimental(), 0);
#ifdef TEST_CXX
  assert_int_equal(test_cutt_header_cxx_usual(), 0);
  assert_int_equal(test_cutt_header_cxx_experimental(), 0);
#else
  puts("no C++ compiler: cutt.h was tried as C99 only");
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(permutes_all_sizes),
      cmocka_unit_test(measures),
      cmocka_unit_test(measure_refuses_bad_buffers),
      cmocka_unit_test(refuses_bad_arguments),
      cmocka_unit_test(refuses_bad_pointers),
      cmocka_unit_test(handles_die),
      cmocka_unit_test(many_handles),
      cmocka_unit_test(one_problem_has_one_handle),
      cmocka_unit_test(executes_with_scalars),
      cmocka_unit_test(default_streams_by_name),
      cmocka_unit_test(names_are_not_reused_soon),
      cmocka_unit_test(identity_in_place),
      cmocka_unit_test(threads_share_a_handle),
      cmocka_unit_test(result_codes),
      cmocka_unit_test(last_error_is_the_threads_own),
      cmocka_unit_test(header_in_c99_and_cxx),
  };
  return cmocka_run_group_tests_name("classic", tests, NULL, NULL);
}
