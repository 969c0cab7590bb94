/* Contractions of tensors that lie at any address, also where no number may: never does a BLAS see one that is not aligned, and
 * the result is right. By the stand-ins, which end the program when they are given such an operand, and by all BLAS libraries
 * that are here, OpenBLAS with the kernels for old processors too, which fault where later ones do not.
 *
 * Usage: test_unaligned FOLDER, that of the stand-ins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/cases.h"
#include "contract/try.h"
#include "host/blas.h"
#include "host/child.h"
#include "support/check.h"

static const char *folder;

typedef struct trial {
  const char *library;
  const char *core; /* OPENBLAS_CORETYPE; NULL: not set */
  bool large;       /* also what does not fit a copy */
  int random;       /* contractions */
} trial;

/* Every way that a product comes to a BLAS, and extents of the labels in the order in which they first stand there. */
typedef struct shape {
  const char *pattern;
  int64_t extent[5];
} shape;
static const shape shapes[] = {
    {"ab,ab->", {3, 3}},
    {"a,a->", {700}},
    {"a,b->ab", {9, 31}},
    {"ab,b->a", {25, 40}},
    {"ba,b->a", {25, 40}},
    {"b,ba->a", {25, 40}},
    {"b,ab->a", {25, 40}},
    {"ab,bc->ac", {19, 23, 21}},
    {"ba,bc->ac", {23, 19, 21}},
    {"ab,cb->ac", {19, 23, 21}},
    {"ba,cb->ac", {23, 19, 21}},
    {"ab,bc->ca", {19, 23, 21}},
    {"abx,bcx->acx", {5, 7, 3, 4}},
    {"xab,xbc->xac", {3, 5, 7, 4}},
    {"abs,bct->ac", {5, 6, 4, 7, 3}},
    {"as,->a", {20, 30}},
    {"sa,->a", {30, 20}},
    {",ab->ba", {20, 30}},
    {"ka,kb->ab", {1600, 3, 2}}, /* a long sum, which threads share */
    {"acbd,dbe->aec", {5, 6, 7, 4, 9}},
};
/* More than fits the blocks that are copied. */
static const shape large_shapes[] = {
    {"ab,bc->ac", {95, 80, 90}},
    {"ba,cb->ac", {85, 99, 70}},
    {"ba,b->a", {130, 170}},
    {"a,a->", {12000}},
};

static bool try_at(test_contraction *c, int left, int right, int result) {
  const int at[TEST_TENSORS] = {left, right, result};
  memcpy(c->at, at, sizeof at);
  return test_contraction_try(c, NULL) == TEST_RIGHT_RESULT;
}

/* One tensor after the other, and all of them, away from where they should be. */
static bool try_shape(const trial *t, const shape *of, cuttType_t type) {
  static const int away[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 20, 31, 63};
  static size_t turn;
  for (int variant = 0; variant < 4; variant += test_sanitized() ? 3 : 1) {
    const int a = away[turn++ % (sizeof away / sizeof *away)];
    test_contraction c;
    if (!test_contraction_make(of->pattern, type, &c)) return false;
    memcpy(c.extent, of->extent, (size_t)c.is.labels * sizeof *c.extent);
    test_contraction_finish(&c);
    snprintf(c.blas, sizeof c.blas, "%s", t->library);
    c.limit = variant & 1 ? 0 : CUTT_NO_LIMIT;
    c.threads = variant & 2 ? 3 : 1;
    c.has_beta = variant & 2;
    if (type == CUTT_F64 || type == CUTT_C64)
      c.beta.f64[0] = 0.5;
    else
      c.beta.f32[0] = 0.5f;
    c.seed = turn;
    if (!try_at(&c, a, 0, 0) || !try_at(&c, 0, a, 0) || !try_at(&c, 0, 0, a) || !try_at(&c, a, 63 - a, a)) return false;
  }
  return true;
}

static bool run(void *data) {
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64};
  static const test_variety variety = {40, 50, 40, 3, 0};
  const trial *t = data;
  if (t->core) setenv("OPENBLAS_CORETYPE", t->core, 1);
  for (int type = 0; type < 4; type += test_sanitized() ? 3 : 1) { /* the narrowest and the widest will do there */
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      if (!try_shape(t, &shapes[i], types[type])) return false;
    for (size_t i = 0; t->large && i < sizeof large_shapes / sizeof *large_shapes; i++)
      if (!try_shape(t, &large_shapes[i], types[type])) return false;
  }
  test_rng rng = {20250101};
  for (int i = 0; i < t->random; i++) {
    test_contraction c;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 2, 6), i % 20 ? 3000 : 30000, &c);
    test_contraction_vary(&rng, &variety, &c);
    for (int tensor = 0; tensor < TEST_TENSORS; tensor++) c.at[tensor] = (int)test_random_in(&rng, 0, 63);
    snprintf(c.blas, sizeof c.blas, "%s", t->library);
    if (test_contraction_try(&c, NULL) != TEST_RIGHT_RESULT) return false;
  }
  return true;
}

static void try_one(const char *library, const char *core, bool large, int random) {
  trial t = {library, core, large, random};
  char name[HOST_PATH + 32];
  snprintf(name, sizeof name, "%s%s%s", library, core ? " for " : "", core ? core : "");
  test_in_child(run, &t, 300, name);
}

static void stand_ins(void **unused) {
  (void)unused;
  static const char *const names[] = {"openblas", "blis", "openblas_0_3_21", "blis_0_8", NULL};
  host_libraries list = {0};
  host_need_stand_ins(&list, folder, names);
  for (int i = 0; i < list.count; i++) try_one(list.path[i], NULL, i == 0, test_scaled(2000));
}

static void libraries_that_are_here(void **unused) {
  (void)unused;
  static const char *const cores[] = {
#if defined(__x86_64__)
    "Prescott",
    "Core2",
    "Penryn",
    "Barcelona",
    "Bobcat",
#endif
    NULL
  };
  host_libraries list = {0};
  bool tried = false;
  host_need_libraries(&list);
  for (int i = 0; i < list.count; i++) {
    print_message("%s\n", list.path[i]);
    try_one(list.path[i], NULL, i == 0 && !test_sanitized(), test_scaled(300));
    /* One build of it has the same kernels as the next, and no sanitizer looks into them. */
    if (tried || test_sanitized() || !strstr(list.path[i], "libopenblas")) continue;
    tried = true;
    for (const char *const *core = cores; *core; core++) try_one(list.path[i], *core, false, test_scaled(100));
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stand_ins),
      cmocka_unit_test(libraries_that_are_here),
  };
  return cmocka_run_group_tests_name("unaligned", tests, NULL, NULL);
}
