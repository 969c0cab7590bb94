/* Contractions through the public calls, held to the plain definition: every class of patterns up to rank 4,
 * random ones up to rank 8, the contractions of the two published lists at reduced extents, and what is special.
 *
 * Usage: test_contract FOLDER [cuda]; FOLDER has talsh48.csv and tccg48.csv, and with cuda all is done on a GPU, or skipped
 * (exit status 77). CUTT_TEST_SCALE takes a part of the random problems,
 * CUTT_TEST_ALL=1 all of the classes. A failure prints a line; CUTT_TEST_REPEAT set to that line does that one again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cases.h"
#include "classes.h"
#include "support/buffers.h"
#include "support/check.h"
#include "try.h"

static const char *folder, *backend_name = "cpu";

enum { MOST_FAULTS = 8 }; /* that are printed in one test */

typedef struct tally {
  int right, wrong, not_offered;
} tally;

static void try_one(const test_contraction *c, tally *t) {
  switch (test_contraction_try(c, NULL)) {
    case TEST_RIGHT_RESULT:
      ++t->right;
      break;
    case TEST_WRONG:
      if (++t->wrong >= MOST_FAULTS) fail_msg("%d wrong, %d right; no more are tried", t->wrong, t->right);
      break;
    case TEST_NOT_OFFERED:
      ++t->not_offered;
  }
}

static void close_tally(const tally *t) {
  if (t->wrong) fail_msg("%d wrong, %d right", t->wrong, t->right);
  if (t->not_offered) print_message("%d of %d not offered by the BLAS\n", t->not_offered, t->not_offered + t->right);
  assert_true(t->right > 0);
}

/* ------------------------------------------------------------------------------------------------------- BLAS libraries */

enum { MOST_LIBRARIES = 8 };
static char library[MOST_LIBRARIES][sizeof((test_contraction *)0)->blas];
static int libraries;

static int find_libraries(void **unused) {
  (void)unused;
  static char text[1 << 18];
  size_t needed = 0;
  if (cuttProvidersDescribe(CUTT_JSON, text, sizeof text, &needed) || needed > sizeof text) return 1;
  json_t *root = json_loads(text, 0, NULL);
  const json_t *list = json_object_get(root, "providers");
  for (size_t i = 0; i < json_array_size(list) && libraries < MOST_LIBRARIES; ++i) {
    const char *name = json_string_value(json_object_get(json_array_get(list, i), "name"));
    const char *backend = json_string_value(json_object_get(json_array_get(list, i), "backend"));
    if (!name || !backend || strcmp(backend, backend_name) != 0) continue;
    snprintf(library[libraries++], sizeof library[0], "%s", name);
  }
  json_decref(root);
  if (!libraries) print_error("no BLAS library for it in %s\n", text);
  return libraries == 0;
}

/* With the default BLAS library, or any of the others. */
static void vary(test_rng *rng, const test_variety *variety, test_contraction *c) {
  test_contraction_vary(rng, variety, c);
  c->blas[0] = 0;
  c->algorithm[0] = 0;
  c->measure = test_chance(rng, 1) ? 0.002 : 0;
  if (test_chance(rng, 45)) {
    strcpy(c->blas, library[test_random_in(rng, 0, libraries - 1)]);
  } else if (test_chance(rng, 60)) {
    strcpy(c->algorithm, test_chance(rng, 80) ? "one-pass" : "ttgt");
  }
}

/* --------------------------------------------------------------------------------------------------------- classes */

typedef struct visit {
  tally tally;
  double share; /* of the classes that are larger than small */
} visit;

static uint64_t hash_of(long number) { return test_mix((uint64_t)number * 0x9e3779b97f4a7c15u + 1); }

static bool visit_class(const test_class *class, void *context) {
  visit *v = context;
  /* The long tier takes each whose result has a rank of 4 too, and of the 10 times as many others some. */
  const double share = v->share >= 1 && class->result > 4 ? 0.05
                       : class->left + class->right <= 4  ? 90 * v->share
                                                          : v->share;
  const uint64_t hash = hash_of(class->number);
  if ((double)(hash >> 11) * 0x1p-53 >= share) return true;
  static const test_variety variety = {15, 30, 25, 2, 1};
  test_rng rng = {hash};
  test_contraction c;
  assert_true(test_contraction_make(class->text, CUTT_F64, &c));
  test_contraction_small(&rng, 1500, &c);
  vary(&rng, &variety, &c);
  if (hash & 255) c.threads = 1; /* starting threads takes far longer than these do */
  try_one(&c, &v->tally);
  return true;
}

static void every_class_of_patterns(void **unused) {
  (void)unused;
  const char *all = getenv("CUTT_TEST_ALL");
  visit v = {{0, 0, 0}, all && *all == '1' ? 1.0 : 0.03 * test_scale()};
  const long classes = test_classes(4, visit_class, &v);
  print_message("%d of %ld classes\n", v.tally.right, classes);
  assert_int_equal(classes, 1784328);
  close_tally(&v.tally);
}

/* ---------------------------------------------------------------------------------------------------------- random */

static void random_up_to_rank_8(void **unused) {
  (void)unused;
  static const test_variety variety = {40, 50, 40, 3, 3};
  tally t = {0, 0, 0};
  test_rng rng = {20240601};
  for (int i = 0; i < test_scaled(6000); ++i) {
    test_contraction c;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 2, 8), 6000, &c);
    vary(&rng, &variety, &c);
    if (test_chance(&rng, 80)) c.threads = 1;
    try_one(&c, &t);
  }
  close_tally(&t);
}

/* Large enough to be cut into blocks, and to be shared by threads. */
static void random_larger_ones(void **unused) {
  (void)unused;
  static const test_variety variety = {25, 40, 50, 3, 2};
  tally t = {0, 0, 0};
  test_rng rng = {20240602};
  for (int i = 0; i < test_scaled(250); ++i) {
    test_contraction c;
    test_contraction_draw(&rng, (int)test_random_in(&rng, 2, 6), 700000, &c);
    vary(&rng, &variety, &c);
    try_one(&c, &t);
  }
  close_tally(&t);
}

/* The same with any limit of workspace, from what the plan takes without one to 0. */
static void try_limits(test_contraction *c, test_rng *rng, tally *t) {
  size_t wanted = 0;
  c->limit = CUTT_NO_LIMIT;
  if (test_contraction_try(c, &wanted) == TEST_WRONG) ++t->wrong;
  const size_t limits[] = {wanted, wanted - 1, wanted / 2, wanted / 3 + 1, wanted / 7, 1000, 64, 63, 1, 0};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    if (limits[i] > wanted) continue;
    c->limit = limits[i];
    c->workspace = (int)test_random_in(rng, 0, 2);
    try_one(c, t);
  }
}

static void any_limit_of_workspace(void **unused) {
  (void)unused;
  static const char *const patterns[] = {"abcd,dcef->eafb",    "ecab,dfcg->abdefg", "abc,bda->dc",    "bac,cbd->dab",
                                         "abcx,xcbd->xda",     "acbe,dc->edab",     "aabc,dbc->ad",   "abcs,cbd->da",
                                         "badc,cefb->fdae",    "cab,dce->ebad",     "xbac,xcdb->dxa", "ab,ba->",
                                         "abcdef,febagh->hcgd"};
  static const test_variety variety = {20, 40, 0, 3, 2};
  tally t = {0, 0, 0};
  test_rng rng = {20240603};
  for (int i = 0; i < test_scaled(150); ++i) {
    test_contraction c;
    assert_true(test_contraction_make(patterns[i % (int)(sizeof patterns / sizeof *patterns)], CUTT_F64, &c));
    int64_t products = 1;
    for (int j = 0; j < c.is.labels; ++j) {
      c.extent[j] = test_random_in(&rng, 2, 12);
      while (products * c.extent[j] > 50000) c.extent[j] = c.extent[j] / 2 + (c.extent[j] == 1);
      products *= c.extent[j];
    }
    test_contraction_finish(&c);
    vary(&rng, &variety, &c);
    try_limits(&c, &rng, &t);
  }
  close_tally(&t);
}

/* ----------------------------------------------------------------------------------------------------------- lists */

/* The pattern of a line, or false: the second field with ';' between fields, or what is in quotes. */
static bool line_pattern(const char *line, char *pattern, size_t size) {
  const char *from = strchr(line, '"'), *to = from ? strchr(from + 1, '"') : NULL;
  if (!from) {
    from = strchr(line, ';');
    to = from ? strchr(from + 1, ';') : NULL;
  }
  if (!to || line[0] < '0' || line[0] > '9') return false;
  snprintf(pattern, size, "%.*s", (int)(to - from - 1), from + 1);
  return true;
}

static int try_list(const char *name, tally *t) {
  char path[1024], line[1024], pattern[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (!file) fail_msg("%s can't be opened", path);
  static const test_variety variety = {0, 40, 0, 3, 0}, strided = {50, 50, 0, 3, 0};
  static const double shares[] = {1, 0.5, 0.1, 0.01, 0};
  int rows = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (!line_pattern(line, pattern, sizeof pattern)) continue;
    test_rng rng = {(uint64_t)rows++ + 4711};
    for (int round = 0; round < test_scaled(8); ++round) {
      test_contraction c;
      size_t wanted = 0;
      assert_true(test_contraction_make(pattern, CUTT_F64, &c));
      for (int i = 0; i < c.is.labels; ++i) c.extent[i] = test_random_in(&rng, 2, c.is.labels > 6 ? 4 : 6);
      test_contraction_finish(&c);
      vary(&rng, round & 1 ? &strided : &variety, &c);
      if (test_contraction_try(&c, &wanted) == TEST_WRONG) ++t->wrong;
      c.limit = (size_t)((double)wanted * shares[test_random_in(&rng, 0, 4)]);
      try_one(&c, t);
    }
  }
  fclose(file);
  return rows;
}

static void every_listed_contraction(void **unused) {
  (void)unused;
  tally t = {0, 0, 0};
  assert_int_equal(try_list("talsh48.csv", &t), 48);
  assert_int_equal(try_list("tccg48.csv", &t), 48);
  close_tally(&t);
}

/* --------------------------------------------------------------------------------------------------------- special */

/* Patterns with the extents of their labels, in the order in which those first stand in the text (of TAL-SH: D first). */
static const struct {
  const char *pattern;
  int64_t extent[8];
} specials[] = {
    {",->", {0}},
    {"D()+=L()*R()", {0}},
    {"a,->a", {7}},
    {",ab->ba", {3, 5}},
    {"ab,->b", {3, 5}},
    {"a,a->", {9}},
    {"a,b->", {9, 4}},
    {"a,a->a", {9}},
    {"a,b->ab", {9, 4}},
    {"a,b->ba", {9, 4}},
    {"ab,b->a", {9, 4}},
    {"ab,b->a", {1, 4}},
    {"ab,b->a", {4, 1}},
    {"b,ab->a", {4, 5}},
    {"ab,cb->", {4, 5, 3}},
    {"abc,d->d", {2, 3, 4, 5}},
    {"abs,bct->ac", {3, 4, 2, 5, 6}},
    {"aa,a->a", {5}},
    {"aa,aa->", {5}},
    {"aaa,aab->b", {3, 4}},
    {"abab,bcbc->ac", {3, 2, 4}},
    {"aab,bcc->ca", {3, 2, 4}},
    {"abx,bcx->acx", {3, 4, 2, 5}},
    {"xab,xbc->acx", {3, 4, 2, 5}},
    {"axbx,xbc->xac", {3, 4, 2, 5}},
    {"xyab,bxcy->yacx", {2, 3, 4, 5, 6}},
    {"ab,bc->ac", {0, 3, 4}}, /* no elements in the result */
    {"ab,bc->ac", {3, 0, 4}}, /* nothing to sum */
    {"ab,bc->ac", {0, 0, 0}},
    {"ab,cb->", {0, 3, 4}},
    {"as,b->ab", {3, 0, 4}},
    {"a,a->", {0}},
    {"abx,bcx->acx", {3, 4, 0, 5}},
    {"aa,b->ab", {0, 3}},
    {"ab,bc->ac", {1, 1, 1}},
    {"abcdefgh,hgfedcba->", {1, 2, 1, 3, 1, 2, 1, 2}},
    {"D(i1,i2)=L+(i1,kk)*R+(kk,i2)", {3, 4, 5}},
    {"D(i2,i1)+=L+(i1,kk)*R(i2,kk)", {3, 4, 5}},
    {"D(i2,i1,x)+=L(kk,x,i1)*R+(x,i2,kk)", {3, 4, 5, 2}},
};

/* With one operand. */
static const struct {
  const char *pattern;
  int64_t extent[4];
} alone[] = {{"->", {0}},
             {"ab->ba", {5, 7}},
             {"ab->a", {4, 90}},
             {"ab->b", {4, 90}},
             {"ab->", {33, 3}},
             {"aa->a", {9}},
             {"aa", {9}},
             {"abcb->ac", {5, 6, 7}},
             {"abcb->ca", {5, 6, 7}},
             {"abc->b", {2, 70, 3}},
             {"aab->b", {0, 4}},
             {"D(k)+=L+(k,j)", {9, 8}}};

static test_scalar scalar_of(cuttType_t type, double re, double im) {
  test_scalar s;
  memset(&s, 0, sizeof s);
  if (type == CUTT_F64 || type == CUTT_C64) {
    s.f64[0] = re, s.f64[1] = im;
  } else {
    s.f32[0] = (float)re, s.f32[1] = (float)im;
  }
  return s;
}

static void special_ones(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_F16, CUTT_BF16};
  static const double alphas[][2] = {{1, 0}, {0, 0}, {-1, 0}, {1.0 / 3, -0.75}},
                      betas[][2] = {{0, 0}, {1, 0}, {-0.0, 0}, {0.5, 2}};
  tally t = {0, 0, 0};
  int number = 0;
  const int step = test_scale() < 0.3 ? 5 : 1; /* a fifth of them, with every scalar and type still there */
  for (size_t s = 0; s < sizeof specials / sizeof *specials; ++s) {
    for (size_t type = 0; type < sizeof types / sizeof *types; ++type) {
      for (int scalars = 0; scalars < 25; ++scalars) {
        if (number++ % step) continue;
        test_contraction c;
        assert_true(test_contraction_make(specials[s].pattern, types[type], &c));
        memcpy(c.extent, specials[s].extent, (size_t)c.is.labels * sizeof *c.extent);
        test_contraction_finish(&c);
        c.has_alpha = scalars % 5 > 0;
        c.has_beta = scalars / 5 > 0;
        if (c.has_alpha) c.alpha = scalar_of(c.type, alphas[scalars % 5 - 1][0], alphas[scalars % 5 - 1][1]);
        if (c.has_beta) c.beta = scalar_of(c.type, betas[scalars / 5 - 1][0], betas[scalars / 5 - 1][1]);
        c.conjugate[0] = number % 3 == 0;
        c.conjugate[1] = number % 5 == 0;
        if (number % 3 == 1) strcpy(c.algorithm, "one-pass");
        c.limit = number % 7 == 0 ? 0 : CUTT_NO_LIMIT;
        c.workspace = number % 3;
        c.seed = (uint64_t)number;
        try_one(&c, &t);
      }
    }
  }
  close_tally(&t);
}

static void one_operand(void **unused) {
  (void)unused;
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64, CUTT_F16, CUTT_BF16};
  static const test_variety variety = {40, 50, 20, 3, 0};
  tally t = {0, 0, 0};
  test_rng rng = {20240605};

  for (size_t s = 0; s < sizeof alone / sizeof *alone; ++s) {
    for (int i = 0; i < 18; ++i) {
      test_contraction c;
      assert_true(test_contraction_make(alone[s].pattern, types[i % 6], &c));
      memcpy(c.extent, alone[s].extent, sizeof alone[s].extent);
      test_contraction_finish(&c);
      vary(&rng, &variety, &c);
      c.type = types[i % 6];
      if (i < 6 || strcmp(backend_name, "cpu") != 0) c.blas[0] = 0;
      if (strcmp(backend_name, "cpu") != 0) c.algorithm[0] = 0; /* there is one for them on a GPU */
      for (int tensor = 0; tensor < TEST_TENSORS; ++tensor) c.at[tensor] = 0;
      c.has_alpha = c.has_beta = i % 2;
      if (i % 2) c.alpha = scalar_of(c.type, 0.5, -2), c.beta = scalar_of(c.type, i % 3 ? 1 : 0, 0);
      try_one(&c, &t);
    }
  }
  close_tally(&t);
}

/* Views that nobody could mistake for something else: a matrix read backwards, one row for all, windows of a signal. */
static void strided_operands(void **unused) {
  (void)unused;
  static const struct {
    const char *pattern;
    int64_t extent[4], left[3], right[3], result[3];
  } cases[] = {
      {"ab,bc->ac", {5, 6, 7}, {1, 5}, {1, 6}, {1, 9}},     /* padded columns */
      {"ab,bc->ac", {5, 6, 7}, {2, 10}, {3, 20}, {2, 10}},  /* nothing contiguous */
      {"ab,bc->ac", {5, 6, 7}, {-1, -5}, {-1, 6}, {1, -5}}, /* backwards */
      {"ab,bc->ac", {5, 6, 7}, {-7, 1}, {7, -1}, {-7, -1}}, /* rows, backwards */
      {"ab,bc->ac", {5, 6, 7}, {0, 1}, {1, 0}, {1, 5}},     /* one row, one column for all */
      {"ab,bc->ac", {5, 6, 7}, {0, 0}, {0, 0}, {7, 1}},     /* one element for all */
      {"ab,bc->ac", {5, 6, 7}, {1, 1}, {1, 2}, {1, 5}},     /* windows */
      {"abx,bcx->acx", {5, 6, 3, 4}, {1, 5, 0}, {1, 6, 0}, {4, 20, 1}},
      {"aab,b->a", {5, 6}, {1, -5, 25}, {-2}, {-3}}, /* an antidiagonal */
      {"aab,b->a", {5, 6}, {1, -1, 3}, {1}, {1}},    /* a diagonal that stays where it is */
  };
  static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64};
  tally t = {0, 0, 0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (int k = 0; k < 16; ++k) {
      test_contraction c;
      assert_true(test_contraction_make(cases[i].pattern, types[k % 4], &c));
      memcpy(c.extent, cases[i].extent, sizeof cases[i].extent);
      for (int tensor = 0; tensor < TEST_TENSORS; ++tensor) {
        c.strided[tensor] = true;
        memcpy(c.stride[tensor],
               tensor == TEST_LEFT    ? cases[i].left
               : tensor == TEST_RIGHT ? cases[i].right
                                      : cases[i].result,
               sizeof cases[i].left);
      }
      test_contraction_finish(&c);
      c.limit = k & 4 ? 0 : CUTT_NO_LIMIT;
      c.has_beta = k & 8;
      c.beta = scalar_of(c.type, 0.5, 0.25);
      c.seed = (uint64_t)k + 5;
      try_one(&c, &t);
    }
  }
  close_tally(&t);
}

/* ------------------------------------------------------------------------------------------------------- BLAS libraries */

static void every_library(void **unused) {
  (void)unused;
  static const test_variety variety = {30, 50, 30, 3, 5};
  for (int i = 0; i < libraries; ++i) {
    tally t = {0, 0, 0};
    test_rng rng = {20240604};
    for (int j = 0; j < test_scaled(400); ++j) {
      test_contraction c;
      test_contraction_draw(&rng, 6, j % 10 ? 3000 : 100000, &c);
      vary(&rng, &variety, &c);
      strcpy(c.blas, library[i]);
      try_one(&c, &t);
    }
    print_message("%s: %d\n", library[i], t.right);
    close_tally(&t);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(special_ones),           cmocka_unit_test(one_operand),
      cmocka_unit_test(strided_operands),       cmocka_unit_test(every_class_of_patterns),
      cmocka_unit_test(random_up_to_rank_8),    cmocka_unit_test(random_larger_ones),
      cmocka_unit_test(any_limit_of_workspace), cmocka_unit_test(every_listed_contraction),
      cmocka_unit_test(every_library),
  };
  if (argc < 2) {
    fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  folder = argv[1];
  if (argc > 2 && strcmp(argv[2], "cuda") == 0) {
    void *memory = NULL;
    if (cuttMemoryAllocate(CUTT_BACKEND_CUDA, 256, &memory)) {
      printf("not run: %s\n", cuttLastError());
      return 77;
    }
    cuttMemoryFree(CUTT_BACKEND_CUDA, memory);
    backend_name = "cuda";
    test_contraction_use(CUTT_BACKEND_CUDA);
  }
  const char *repeat = getenv("CUTT_TEST_REPEAT");
  if (repeat) {
    static test_contraction c;
    if (!test_contraction_scan(repeat, &c)) {
      fprintf(stderr, "CUTT_TEST_REPEAT is not a line that a test has printed\n");
      return 2;
    }
    return test_contraction_try(&c, NULL) == TEST_WRONG;
  }
  const int failed = cmocka_run_group_tests_name("contract", tests, find_libraries, NULL);
  test_contraction_report();
  test_contraction_done();
  return failed;
}
