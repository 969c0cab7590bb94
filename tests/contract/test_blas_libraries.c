/* The CPU's BLAS libraries: products of every BLAS that is here held to the plain definition, and what a library can be or do
 * wrong, by stand-ins (fake_cblas.c), which argument 1 is the folder of. */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/find.h"
#include "contract/fake_cblas.h"
#include "support/check.h"

#include <complex.h> /* last: its `complex` is a name elsewhere */

static const char *folder;

/* ---------------------------------------------------------------------------------------- held to the plain definition */

static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64};

static bool is_single(cuttType_t type) { return type == CUTT_F32 || type == CUTT_C32; }
static bool is_complex(cuttType_t type) { return type == CUTT_C32 || type == CUTT_C64; }

static long double complex load(cuttType_t type, const void *from, int64_t i) {
  const int64_t at = is_complex(type) ? 2 * i : i;
  long double re, im = 0;
  if (is_single(type)) {
    re = (long double)((const float *)from)[at];
    if (is_complex(type)) im = (long double)((const float *)from)[at + 1];
  } else {
    re = (long double)((const double *)from)[at];
    if (is_complex(type)) im = (long double)((const double *)from)[at + 1];
  }
  return re + im * I;
}

static void store(cuttType_t type, void *to, int64_t i, double re, double im) {
  const int64_t at = is_complex(type) ? 2 * i : i;
  if (is_single(type)) {
    ((float *)to)[at] = (float)re;
    if (is_complex(type)) ((float *)to)[at + 1] = (float)im;
  } else {
    ((double *)to)[at] = re;
    if (is_complex(type)) ((double *)to)[at + 1] = im;
  }
}

static unsigned long long random_state = 88172645463325252ULL;
static double random_number(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (double)(random_state >> 11) / 9007199254740992.0 - 0.5;
}

static void fill(cuttType_t type, void *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const double re = random_number();
    store(type, to, i, re, random_number());
  }
}

static long double complex element(cuttType_t type, cutt_op op, const void *matrix, int64_t ld, int64_t row,
                                   int64_t column) {
  const long double complex value = load(type, matrix, op == CUTT_OP_N ? row + column * ld : column + row * ld);
  return op == CUTT_OP_C ? conjl(value) : value;
}

enum { ROOM = 40000 };
static double a[2 * ROOM], b[2 * ROOM], c[2 * ROOM], before[2 * ROOM];

/* With beta 0, 1 or another; for 0 C is full of NaN, which must not be read. */
static void check_product(const cutt_blas *blas, void *session, cuttType_t type, const cutt_gemm *g, double beta) {
  double alpha_of[2] = {0, 0}, beta_of[2] = {0, 0};
  store(type, alpha_of, 0, 0.75, -0.5);
  store(type, beta_of, 0, beta, beta == 0 || beta == 1 ? 0 : 0.25);
  const int64_t columns_a = g->op_a == CUTT_OP_N ? g->k : g->m, columns_b = g->op_b == CUTT_OP_N ? g->n : g->k;
  assert_true(g->lda * columns_a <= ROOM && g->ldb * columns_b <= ROOM && g->ldc * g->n <= ROOM);
  fill(type, a, g->lda * columns_a);
  fill(type, b, g->ldb * columns_b);
  fill(type, c, g->ldc * g->n);
  if (beta == 0) {
    for (int64_t j = 0; j < g->n; ++j) {
      for (int64_t i = 0; i < g->m; ++i) store(type, c, i + j * g->ldc, NAN, NAN);
    }
  }
  memcpy(before, c, sizeof before);
  assert_success(blas->gemm(blas, session, type, g, alpha_of, a, b, beta_of, c));
  const double epsilon = is_single(type) ? 6e-8 : 1.2e-16;
  for (int64_t j = 0; j < g->n; ++j) {
    for (int64_t i = 0; i < g->ldc; ++i) {
      const int64_t at = i + j * g->ldc;
      const long double complex got = load(type, c, at);
      if (i >= g->m) { /* between the columns */
        assert_true(got == load(type, before, at));
        continue;
      }
      long double complex sum = 0;
      long double magnitude = 1;
      for (int64_t l = 0; l < g->k; ++l) {
        const long double complex x = element(type, g->op_a, a, g->lda, i, l),
                                  y = element(type, g->op_b, b, g->ldb, l, j);
        sum += x * y;
        magnitude += cabsl(x) * cabsl(y);
      }
      sum *= load(type, alpha_of, 0);
      if (beta != 0) sum += load(type, beta_of, 0) * load(type, before, at);
      const long double error = cabsl(got - sum);
      if (!(error <= 4 * ((long double)g->k + 4) * (long double)epsilon * magnitude)) {
        fail_msg(
            "%s, type %d, op %d %d, m n k %lld %lld %lld, ld %lld %lld %lld, beta %g: element %lld %lld is off by %Lg",
            blas->name, (int)type, (int)g->op_a, (int)g->op_b, (long long)g->m, (long long)g->n, (long long)g->k,
            (long long)g->lda, (long long)g->ldb, (long long)g->ldc, beta, (long long)i, (long long)j, error);
      }
    }
  }
}

static void check_shape(const cutt_blas *blas, void *session, int64_t m, int64_t n, int64_t k) {
  static const double betas[] = {0, 1, -0.5};
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
    if (!blas->takes(blas, types[t])) continue;
    for (int ops = 0; ops < 9; ++ops) {
      for (int wide = 0; wide < 2; ++wide) {
        cutt_gemm g = {.op_a = (cutt_op)(ops % 3), .op_b = (cutt_op)(ops / 3), .m = m, .n = n, .k = k, .batch = 1};
        g.lda = (g.op_a == CUTT_OP_N ? m : k) + 3 * wide;
        g.ldb = (g.op_b == CUTT_OP_N ? k : n) + 5 * wide;
        g.ldc = m + 2 * wide;
        for (size_t i = 0; i < sizeof betas / sizeof *betas; ++i) check_product(blas, session, types[t], &g, betas[i]);
      }
    }
  }
}

static void check_library(const cutt_blas *blas) {
  static const int64_t shapes[][3] = {{1, 1, 1},   {1, 1, 37},  {7, 1, 1},   {1, 9, 1},   {5, 1, 33},
                                      {1, 6, 41},  {2, 3, 4},   {17, 5, 9},  {31, 33, 1}, {8, 8, 8},
                                      {40, 3, 65}, {3, 66, 19}, {65, 17, 2}, {64, 1, 64}};
  void *session = NULL;
  assert_success(blas->begin(blas, NULL, &session));
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
    check_shape(blas, session, shapes[i][0], shapes[i][1], shapes[i][2]);
  }
  blas->end(blas, session);
}

static void every_library(void **unused) {
  (void)unused;
  const char *missing = NULL;
  const cutt_blas *const *list = cutt_blas_libraries(CUTT_BACKEND_CPU, &missing);
  if (!list[0]) skip();
  for (int i = 0; list[i]; ++i) {
    print_message("%s, %s: %.1f GFLOP/s\n", list[i]->name, list[i]->path, list[i]->flops * 1e-9);
    check_library(list[i]);
  }
}

/* Many threads at once, each with its own product. */
static void *multiply_much(void *data) {
  const cutt_blas *blas = data;
  enum { N = 48 };
  double *x = calloc(3 * N * N, sizeof *x), one = 1, zero = 0;
  const cutt_gemm g = {.m = N, .n = N, .k = N, .lda = N, .ldb = N, .ldc = N, .batch = 1};
  bool good = x != NULL;
  for (int i = 0; good && i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      x[i + j * N] = i + j;
      x[N * N + i + j * N] = i == j ? 2 : 0;
    }
  }
  for (int repeat = 0; good && repeat < 20; ++repeat) {
    void *session = NULL;
    good = !blas->begin(blas, NULL, &session) &&
           !blas->gemm(blas, session, CUTT_F64, &g, &one, x, x + N * N, &zero, x + 2 * N * N);
    blas->end(blas, session);
    for (int i = 0; good && i < N * N; ++i) good = x[2 * N * N + i] == 2 * x[i];
  }
  free(x);
  return good ? data : NULL;
}

static void run_threads(const cutt_blas *blas) {
  pthread_t thread[4];
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_create(&thread[i], NULL, multiply_much, (void *)(uintptr_t)blas), 0);
  }
  for (int i = 0; i < 4; ++i) {
    void *result = NULL;
    assert_int_equal(pthread_join(thread[i], &result), 0);
    assert_non_null(result);
  }
}

static void many_threads(void **unused) {
  (void)unused;
  const char *missing = NULL;
  const cutt_blas *const *list = cutt_blas_libraries(CUTT_BACKEND_CPU, &missing);
  if (!list[0]) skip();
  for (int i = 0; list[i]; ++i) run_threads(list[i]);
}

/* --------------------------------------------------------------------------------------------------------- stand-ins */

static const char *path_of(const char *name) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const cutt_blas *fake_library(const char *name, fake_cblas_t **fake) {
  const char *path = path_of(name);
  const cutt_blas *blas = NULL;
  assert_success(cutt_blas_find(CUTT_BACKEND_CPU, path, "options->provider", CUTT_F64, &blas));
  void *handle = dlopen(path, RTLD_NOW);
  assert_non_null(handle);
  fake_cblas_function *function = NULL;
  void *symbol = dlsym(handle, "fake_cblas");
  memcpy(&function, &symbol, sizeof function);
  assert_non_null(function);
  *fake = function();
  (*fake)->forget();
  dlclose(handle);
  return blas;
}

static void one_product(const cutt_blas *blas, void *session) {
  double x[4] = {1, 2, 3, 4}, y[4] = {1, 0, 0, 1}, z[4] = {0}, one = 1, zero = 0;
  const cutt_gemm g = {.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2, .batch = 1};
  assert_success(blas->gemm(blas, session, CUTT_F64, &g, &one, x, y, &zero, z));
  assert_memory_equal(x, z, sizeof z);
}

/* Speeds are the library's: that others have the processor for most of the time does not make it slow. */
static void speeds_on_a_busy_machine(void **unused) {
  (void)unused;
  enum { N = 128, WAIT_MS = 300 }; /* the smallest product that is timed, and a time that it takes nowhere */
  fake_cblas_t *fake = NULL;
  char text[16];
  snprintf(text, sizeof text, "%d", WAIT_MS);
  setenv("FAKE_SLEEP", text, 1);
  const cutt_blas *blas = fake_library("fake_openblas_0_3_21.so", &fake);
  unsetenv("FAKE_SLEEP");
  const double waiting = 2.0 * N * N * N / (WAIT_MS * 1e-3);
  assert_true(blas->flops > waiting && blas->flops_f32 > waiting);
}

/* A library with one number of threads in a process: it is 1 from the first begin to the last end, and then what it was
 * before. */
static void threads_of_the_process(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  const cutt_blas *blas = fake_library("fake_openblas.so", &fake);
  assert_int_equal(fake->threads, 4); /* measuring has put it back */
  assert_true(blas->flops > 0);
  void *first = NULL, *second = NULL;
  assert_success(blas->begin(blas, NULL, &first));
  assert_int_equal(fake->threads, 1);
  one_product(blas, first);
  assert_success(blas->begin(blas, NULL, &second));
  blas->end(blas, first);
  assert_int_equal(fake->threads, 1);
  one_product(blas, second);
  blas->end(blas, second);
  assert_int_equal(fake->threads, 4);
  fake->threads = 7;
  assert_success(blas->begin(blas, NULL, &first));
  blas->end(blas, first);
  assert_int_equal(fake->threads, 7);
  fake->threads = 4;
  assert_int_equal(fake->most_in_call, 1);
  run_threads(blas);
  assert_int_equal(fake->most_in_call, 1);
  assert_int_equal(fake->threads, 4);
}

static fake_cblas_t *blis;

static void *in_new_thread(void *data) {
  const cutt_blas *blas = data;
  one_product(blas, NULL);
  return blis->threads_of_thread() == 4 ? data : NULL;
}

/* A library with a number in each thread: 1 also in calls from threads that have not called begin. */
static void threads_of_a_thread(void **unused) {
  (void)unused;
  const cutt_blas *blas = fake_library("fake_blis.so", &blis);
  assert_string_equal(blas->name, "blis");
  assert_string_equal(blas->version, "9.8");
  void *session = NULL, *result = NULL;
  assert_success(blas->begin(blas, NULL, &session));
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, in_new_thread, (void *)(uintptr_t)blas), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_non_null(result);
  one_product(blas, session);
  blas->end(blas, session);
  assert_int_equal(blis->threads_of_thread(), 4);
  assert_int_equal(blis->most_in_call, 1);
}

static void one_at_a_time(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  const cutt_blas *blas = fake_library("fake_serial.so", &fake);
  assert_true(blas->one_at_a_time);
  run_threads(blas);
  assert_int_equal(atomic_load(&fake->together), 1);
  assert_int_equal(fake->threads, 4); /* of no matter, since it has no threads */
}

static void what_it_says(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  unsetenv("OPENBLAS_CORETYPE");
  const cutt_blas *blas = fake_library("fake_openblas.so", &fake);
  assert_string_equal(blas->name, "openblas");
  assert_string_equal(blas->version, "9.8.7, pthreads");
  assert_string_equal(blas->kernels, "Prescott");
  assert_non_null(strstr(blas->path, "fake_openblas.so"));
  assert_false(blas->one_at_a_time);
#if defined(__x86_64__)
  const char *expected = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")
                             ? "OPENBLAS_CORETYPE=SkylakeX"
                         : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "OPENBLAS_CORETYPE=Haswell"
                                                                                           : "";
  assert_string_equal(blas->environment_override, expected);
#endif
  const cutt_blas *again = fake_library("../contract/./fake_openblas.so", &fake);
  assert_ptr_equal(blas, again);
}

/* A BLIS is asked for other kernels by their number. */
static void what_blis_says(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  unsetenv("BLIS_ARCH_TYPE");
  const cutt_blas *blas = fake_library("fake_blis.so", &fake);
  assert_string_equal(blas->kernels, "haswell");
#if defined(__x86_64__)
  const bool better = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  assert_string_equal(blas->environment_override, better ? "BLIS_ARCH_TYPE=1" : "");
#endif
}

/* The stand-ins, which read y in products with vectors even if beta is 0. */
static void products_of_stand_ins(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  check_library(fake_library("fake_openblas.so", &fake));
  check_library(fake_library("fake_plain.so", &fake));
}

/* Shapes that are products with vectors are given to gemv, but for conjugated vectors. */
static void vectors(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  const cutt_blas *blas = fake_library("fake_openblas.so", &fake);
  double one[2] = {1, 0}, x[400] = {0}, y[400] = {0}, z[400] = {0};
  const struct {
    cuttType_t type;
    cutt_op op_a, op_b;
    int m, n;
    bool gemv;
    int op, incx, incy;
  } cases[] = {{CUTT_F64, CUTT_OP_N, CUTT_OP_N, 4, 1, true, 111, 1, 1},
               {CUTT_F64, CUTT_OP_T, CUTT_OP_T, 4, 1, true, 112, 12, 1},
               {CUTT_F64, CUTT_OP_C, CUTT_OP_C, 4, 1, true, 112, 12, 1},
               {CUTT_C64, CUTT_OP_C, CUTT_OP_N, 4, 1, true, 113, 1, 1},
               {CUTT_C64, CUTT_OP_N, CUTT_OP_C, 4, 1, false, 0, 0, 0},
               {CUTT_F64, CUTT_OP_N, CUTT_OP_N, 1, 4, true, 112, 11, 13},
               {CUTT_F64, CUTT_OP_T, CUTT_OP_T, 1, 4, true, 111, 1, 13},
               {CUTT_C64, CUTT_OP_C, CUTT_OP_N, 1, 4, false, 0, 0, 0},
               {CUTT_C64, CUTT_OP_N, CUTT_OP_C, 1, 4, false, 0, 0, 0},
               {CUTT_F64, CUTT_OP_N, CUTT_OP_N, 4, 4, false, 0, 0, 0},
               {CUTT_F64, CUTT_OP_N, CUTT_OP_N, 1, 1, true, 112, 11, 13}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    fake->forget();
    const cutt_gemm g = {.op_a = cases[i].op_a,
                         .op_b = cases[i].op_b,
                         .m = cases[i].m,
                         .n = cases[i].n,
                         .k = 5,
                         .lda = 11,
                         .ldb = 12,
                         .ldc = 13,
                         .batch = 1};
    assert_success(blas->gemm(blas, NULL, cases[i].type, &g, one, x, y, one, z));
    assert_int_equal(atomic_load(&fake->calls), 1);
    const fake_call *call = &fake->call[0];
    assert_int_equal(call->matrix, !cases[i].gemv);
    if (!cases[i].gemv) continue;
    assert_int_equal(call->op_a, cases[i].op);
    assert_int_equal(call->ldb, cases[i].incx);
    assert_int_equal(call->ldc, cases[i].incy);
  }
}

/* A product that is too large for the library's integers is done in blocks. */
static void large_products(void **unused) {
  (void)unused;
  fake_cblas_t *fake = NULL;
  const cutt_blas *blas = fake_library("fake_openblas.so", &fake);
  fake->only_remember = true;
  const double one = 1, half = 0.5;
  const int64_t block = INT64_C(1) << 30;
  /* Addresses where nothing is: the stand-in only remembers them. */
  const uintptr_t base = (uintptr_t)1 << 46;
  const void *at_a = (const void *)base, *at_b = (const void *)(base * 2);
  void *at_c = (void *)(base * 3);
#define OFFSET(pointer, from) ((int64_t)((uintptr_t)(pointer) - (uintptr_t)(from)) / 8)
  /* k in three blocks. */
  cutt_gemm g = {.m = 3, .n = 2, .k = 2 * block + 5, .lda = 3, .ldb = INT_MAX, .ldc = 3, .batch = 1};
  g.op_b = CUTT_OP_T;
  g.ldb = 2;
  assert_success(blas->gemm(blas, NULL, CUTT_F64, &g, &one, at_a, at_b, &half, at_c));
  assert_int_equal(atomic_load(&fake->calls), 3);
  for (int i = 0; i < 3; ++i) {
    const fake_call *call = &fake->call[i];
    assert_true(call->matrix && call->m == 3 && call->n == 2);
    assert_int_equal(call->k, i < 2 ? block : 5);
    assert_int_equal(OFFSET(call->a, at_a), 3 * i * block);
    assert_int_equal(OFFSET(call->b, at_b), 2 * i * block);
    assert_ptr_equal(call->c, at_c);
    assert_true(call->beta == (i ? 1 : 0.5));
  }
  /* m and n. */
  fake->forget();
  fake->only_remember = true;
  g = (cutt_gemm){.m = block * 2, .n = 7, .k = 2, .lda = 2, .ldb = 2, .ldc = block * 2, .op_a = CUTT_OP_T, .batch = 1};
  assert_success(blas->gemm(blas, NULL, CUTT_F64, &g, &one, at_a, at_b, &half, at_c));
  assert_int_equal(atomic_load(&fake->calls), 14); /* C is too wide for its leading dimension: column by column */
  for (int i = 0; i < 14; ++i) {
    const fake_call *call = &fake->call[i];
    assert_true(!call->matrix && call->op_a == 112 && call->m == 2 && call->n == block); /* n is 1 */
    assert_int_equal(OFFSET(call->a, at_a), 2 * (i % 2) * block);
    assert_int_equal(OFFSET(call->b, at_b), 2 * (i / 2));
    assert_int_equal(OFFSET(call->c, at_c), (i / 2) * 2 * block + (i % 2) * block);
    assert_true(call->beta == 0.5);
  }
  /* An operand with a leading dimension that is too large, not transposed: a column of A each time. */
  fake->forget();
  fake->only_remember = true;
  g = (cutt_gemm){.m = 4, .n = 3, .k = 3, .lda = block * 4, .ldb = 3, .ldc = 4, .batch = 1};
  assert_success(blas->gemm(blas, NULL, CUTT_F64, &g, &one, at_a, at_b, &half, at_c));
  assert_int_equal(atomic_load(&fake->calls), 3);
  for (int i = 0; i < 3; ++i) {
    const fake_call *call = &fake->call[i];
    assert_true(call->matrix && call->m == 4 && call->n == 3 && call->k == 1 && call->lda == 4);
    assert_int_equal(OFFSET(call->a, at_a), 4 * i * block);
    assert_int_equal(OFFSET(call->b, at_b), i);
    assert_true(call->beta == (i ? 1 : 0.5));
  }
#undef OFFSET
}

/* ------------------------------------------------------------------------------------------------------------ errors */

static void refused(void **unused) {
  (void)unused;
  const cutt_blas *blas = NULL;
  const char *name = "options->provider";
#define FIND(asked, type) cutt_blas_find(CUTT_BACKEND_CPU, asked, name, type, &blas)
  assert_result(CUTT_INVALID_PARAMETER, FIND("opnblas", CUTT_F64), "options->provider is 'opnblas'", "openblas, blis",
                "'/'");
  assert_result(CUTT_INVALID_PARAMETER, FIND("", CUTT_F64), "options->provider is ''");
  assert_result(CUTT_INVALID_PARAMETER, FIND("cublas", CUTT_F64), "which is for a GPU");
  assert_result(CUTT_INVALID_PARAMETER, FIND("/nowhere/libblas.so", CUTT_F64), "/nowhere/libblas.so was not found");
  assert_result(CUTT_INVALID_PARAMETER, FIND(path_of("fake_nothing.so"), CUTT_F64), "is no CBLAS", "cblas_dgemm");
  assert_result(CUTT_INVALID_PARAMETER, FIND(path_of("fake_ilp64.so"), CUTT_F64), "integers of 64 bits");
  assert_result(CUTT_INVALID_PARAMETER, FIND(path_of("broken.so"), CUTT_F64), "can't be loaded");
  assert_success(FIND(path_of("fake_plain.so"), CUTT_F32));
  assert_string_equal(blas->name, "cblas");
  assert_result(CUTT_INVALID_DEVICE, FIND(path_of("fake_plain.so"), CUTT_C32), "type is c32", "cblas does not");
  assert_null(blas);
  assert_result(CUTT_INVALID_DEVICE, FIND(path_of("fake_openblas.so"), CUTT_BF16), "type is bf16", "cuBLAS");
  assert_result(CUTT_INVALID_DEVICE, cutt_blas_find(CUTT_BACKEND_CUDA, NULL, name, CUTT_F64, &blas), "on a GPU here",
                "CUTT_CUDA");
#undef FIND
}

/* With CUTT_CBLAS, which CMakeLists.txt sets, the library that it names is the only one. */
static void named_by_the_environment(void **unused) {
  (void)unused;
  const char *named = getenv("CUTT_CBLAS"), *missing = NULL;
  const cutt_blas *const *list = cutt_blas_libraries(CUTT_BACKEND_CPU, &missing), *blas = NULL;
  if (strstr(named, "fake_openblas.so")) {
    assert_non_null(list[0]);
    assert_null(list[1]);
    assert_string_equal(list[0]->name, "openblas");
    assert_success(cutt_blas_find(CUTT_BACKEND_CPU, NULL, "p", CUTT_C32, &blas));
    assert_ptr_equal(blas, list[0]);
    assert_success(cutt_blas_find(CUTT_BACKEND_CPU, "openblas", "p", CUTT_C32, &blas));
    assert_result(CUTT_INVALID_DEVICE, cutt_blas_find(CUTT_BACKEND_CPU, "blis", "p", CUTT_F64, &blas), "p is 'blis'",
                  "CUTT_CBLAS");
  } else {
    assert_null(list[0]);
    assert_result(CUTT_INVALID_DEVICE, cutt_blas_find(CUTT_BACKEND_CPU, NULL, "p", CUTT_F64, &blas), "no library",
                  named, "CUTT_CBLAS");
  }
  char text[8192];
  size_t needed = 0, again = 0;
  assert_success(cuttProvidersDescribe(CUTT_TEXT, NULL, 0, &needed));
  assert_success(cuttProvidersDescribe(CUTT_TEXT, text, sizeof text, &again));
  assert_int_equal(needed, again);
  assert_non_null(strstr(text, list[0] ? "faster with      OPENBLAS_CORETYPE=" : "looked for"));
  assert_success(cuttProvidersDescribe(CUTT_JSON, text, sizeof text, NULL));
  assert_non_null(strstr(text, list[0] ? "\"default\":true" : "{\"providers\":[],"));
  assert_result(CUTT_INVALID_PARAMETER, cuttProvidersDescribe((cuttFormat_t)7, text, sizeof text, NULL), "format is 7");
  assert_result(CUTT_INVALID_PARAMETER, cuttProvidersDescribe(CUTT_TEXT, NULL, 5, NULL), "buffer is NULL");
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_it_says),
      cmocka_unit_test(what_blis_says),
      cmocka_unit_test(speeds_on_a_busy_machine),
      cmocka_unit_test(threads_of_the_process),
      cmocka_unit_test(threads_of_a_thread),
      cmocka_unit_test(one_at_a_time),
      cmocka_unit_test(products_of_stand_ins),
      cmocka_unit_test(vectors),
      cmocka_unit_test(large_products),
      cmocka_unit_test(refused),
      cmocka_unit_test(every_library),
      cmocka_unit_test(many_threads),
  };
  const struct CMUnitTest of_environment[] = {cmocka_unit_test(named_by_the_environment)};
  if (argc > 2) return cmocka_run_group_tests_name(argv[2], of_environment, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
