/* HPTT's four calls of C on cuTT: all types, alpha and beta, parts of larger tensors, row-major tensors, conjugation, threads,
 * and arguments that are wrong. Results are held to the definition, element by element. */
/* cmocka's header wants these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <complex.h>
#include <string.h>
#include <unistd.h>

#include "hptt.h"

enum { RANK = 3, ROOM = 4096 };

typedef struct shape {
  int size[RANK], perm[RANK], outer_a[RANK], outer_b[RANK];
  int row_major, has_outer;
} shape;

static const shape shapes[] = {
    {.size = {7, 5, 9}, .perm = {2, 0, 1}, .row_major = 0, .has_outer = 0},
    {.size = {7, 5, 9}, .perm = {2, 0, 1}, .row_major = 1, .has_outer = 0},
    {.size = {7, 5, 9}, .perm = {1, 2, 0}, {8, 7, 9}, {6, 10, 11}, .row_major = 0, .has_outer = 1},
    {.size = {7, 5, 9}, .perm = {1, 2, 0}, {9, 5, 12}, {7, 9, 8}, .row_major = 1, .has_outer = 1},
    {.size = {16, 16, 1}, .perm = {1, 0, 2}, .row_major = 0, .has_outer = 0},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Offsets of an element of a tensor of these extents. */
static size_t offset(const shape *s, const int *outer, const int *index) {
  size_t at = 0;
  for (int i = RANK - 1; i >= 0; i--) {
    const int mode = s->row_major ? RANK - 1 - i : i;
    at = at * (size_t)outer[mode] + (size_t)index[mode];
  }
  return at;
}

/* The next pair of offsets, from -1 on; false: there is none. */
static bool next(const shape *s, long *element, size_t *a, size_t *b) {
  long rest = ++*element;
  int in[RANK], out[RANK], extents[RANK];
  for (int i = 0; i < RANK; i++) {
    in[i] = (int)(rest % s->size[i]);
    rest /= s->size[i];
  }
  for (int i = 0; i < RANK; i++) out[i] = in[s->perm[i]], extents[i] = s->size[s->perm[i]];
  *a = offset(s, s->has_outer ? s->outer_a : s->size, in);
  *b = offset(s, s->has_outer ? s->outer_b : extents, out);
  return rest == 0;
}

/* For one type: fills, calls, and compares; what is between the elements of B must stay. */
#define DEFINE_TEST(name, type, value, turned, call)                                                                   \
  static void name(const shape *s, type alpha, type beta, bool conjugate, int threads) {                               \
    static type a[ROOM], b[ROOM], expected[ROOM];                                                                      \
    const int *outer_a = s->has_outer ? s->outer_a : NULL, *outer_b = s->has_outer ? s->outer_b : NULL;                \
    long element = -1;                                                                                                 \
    size_t from, to;                                                                                                   \
    for (int i = 0; i < ROOM; i++) a[i] = value(i), expected[i] = b[i] = value(ROOM - i);                              \
    while (next(s, &element, &from, &to)) {                                                                            \
      const type input = conjugate ? turned(a[from]) : a[from];                                                        \
      expected[to] = alpha * input + beta * b[to];                                                                     \
    }                                                                                                                  \
    call;                                                                                                              \
    for (int i = 0; i < ROOM; i++) assert_true(b[i] == expected[i]);                                                   \
  }
#define REAL(i) ((float)(i))
#define COMPLEX_32(i) ((float)(i) + (float)(7 - (i)) * I)
#define COMPLEX_64(i) ((double)(i) + (double)(7 - (i)) * I)
#define SAME(x) (x)
DEFINE_TEST(try_s, float, REAL, SAME,
            sTensorTranspose(s->perm, RANK, alpha, a, s->size, outer_a, beta, b, outer_b, threads, s->row_major))
DEFINE_TEST(try_d, double, REAL, SAME,
            dTensorTranspose(s->perm, RANK, alpha, a, s->size, outer_a, beta, b, outer_b, threads, s->row_major))
DEFINE_TEST(try_c, float _Complex, COMPLEX_32, conjf,
            cTensorTranspose(s->perm, RANK, alpha, conjugate, a, s->size, outer_a, beta, b, outer_b, threads,
                             s->row_major))
DEFINE_TEST(try_z, double _Complex, COMPLEX_64, conj,
            zTensorTranspose(s->perm, RANK, alpha, conjugate, a, s->size, outer_a, beta, b, outer_b, threads,
                             s->row_major))

static void all_types(void **unused) {
  (void)unused;
  for (int i = 0; i < SHAPES; i++) {
    for (int threads = 0; threads < 3; threads++) {
      try_s(&shapes[i], 1, 0, false, threads);
      try_s(&shapes[i], 2, 4, false, threads);
      try_d(&shapes[i], -3, 0.5, false, threads);
      for (int conj = 0; conj < 2; conj++) {
        try_c(&shapes[i], 1, 0, conj, threads);
        try_c(&shapes[i], 2, -1, conj, threads);
        try_z(&shapes[i], 2, 4, conj, threads);
      }
    }
  }
}

/* What the calls say on stderr while one is made; *text. */
static int saved_stderr, pipe_ends[2];

static void listen_to_stderr(void) {
  assert_int_equal(pipe(pipe_ends), 0);
  saved_stderr = dup(2);
  assert_true(dup2(pipe_ends[1], 2) == 2);
}

static void heard(const char *first, const char *second) {
  char text[1024];
  assert_true(dup2(saved_stderr, 2) == 2);
  close(saved_stderr);
  close(pipe_ends[1]);
  const ssize_t length = read(pipe_ends[0], text, sizeof text - 1);
  close(pipe_ends[0]);
  text[length > 0 ? length : 0] = 0;
  if (!strstr(text, first) || !strstr(text, second)) fail_msg("\"%s\" has no \"%s\" or \"%s\"", text, first, second);
}

/* The arguments of dTensorTranspose, but for alpha = 1 and beta = 0. */
typedef struct call {
  const int *perm;
  int dim;
  const double *a;
  const int *size_a, *outer_a;
  double *b;
  const int *outer_b;
  int threads, row_major;
} call;

static void refused(const char *first, const char *second, const call *c) {
  listen_to_stderr();
  dTensorTranspose(c->perm, c->dim, 1, c->a, c->size_a, c->outer_a, 0, c->b, c->outer_b, c->threads, c->row_major);
  heard(first, second);
}

/* The process goes on, the output is as it was, and stderr says what is wrong. */
static void wrong_arguments(void **unused) {
  (void)unused;
  static double a[64], b[64], before[64];
  const int size[2] = {4, 3}, swapped[2] = {1, 0}, twice[2] = {1, 1}, small[2] = {2, 4}, minus[2] = {4, -3};
  for (int i = 0; i < 64; i++) a[i] = i, before[i] = b[i] = -i;
  refused("dTensorTranspose: perm[1] is 1", "0 to 1", &(call){twice, 2, a, size, NULL, b, NULL, 1, 0});
  refused("sizeA[1] is -3", "0 or more", &(call){swapped, 2, a, minus, NULL, b, NULL, 1, 0});
  refused("outerSizeB[0] is 2", "3", &(call){swapped, 2, a, size, NULL, b, small, 1, 0});
  refused("outerSizeA[0] is 2", "4", &(call){swapped, 2, a, size, small, b, NULL, 1, 1});
  refused("dim is 65", "64", &(call){swapped, 65, a, size, NULL, b, NULL, 1, 0});
  refused("sizeA is NULL", "dim = 2", &(call){swapped, 2, a, NULL, NULL, b, NULL, 1, 0});
  refused("numThreads is -1", "0", &(call){swapped, 2, a, size, NULL, b, NULL, -1, 0});
  refused("dTensorTranspose: ", "NULL", &(call){swapped, 2, a, size, NULL, NULL, NULL, 1, 0});
  refused("dTensorTranspose: ", "overlap", &(call){swapped, 2, b, size, NULL, b, NULL, 1, 0});
  assert_memory_equal(b, before, sizeof b);
}

/* beta = 0 reads nothing of B; modes of no elements, and no modes. */
static void edges(void **unused) {
  (void)unused;
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6];
  const int size[2] = {2, 3}, none[2] = {0, 3}, swapped[2] = {1, 0};
  memset(b, 0xff, sizeof b);
  sTensorTranspose(swapped, 2, 2, a, size, NULL, 0, b, NULL, 1, 0);
  const float expected[6] = {2, 6, 10, 4, 8, 12};
  for (int i = 0; i < 6; i++) assert_true(b[i] == expected[i]);
  sTensorTranspose(swapped, 2, 2, a, none, NULL, 0, b, NULL, 1, 0);
  assert_true(b[0] == 2);
  sTensorTranspose(NULL, 0, 3, a, NULL, NULL, 1, b, NULL, 1, 0);
  assert_true(b[0] == 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_types), cmocka_unit_test(wrong_arguments),
                                     cmocka_unit_test(edges)};
  return cmocka_run_group_tests_name("hptt", tests, NULL, NULL);
}
