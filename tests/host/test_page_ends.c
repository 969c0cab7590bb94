/* Contractions of tensors whose last byte is the last of what is mapped, and whose first is the first, by all BLAS libraries that
 * are here and by stand-ins of releases that read past their operands; and the calls that such releases are known by
 * (src/contract/cblas_defects.c).
 *
 * Usage: test_page_ends FOLDER, that of the stand-ins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas/cblas.h"
#include "contract/cases.h"
#include "contract/try.h"
#include "host/blas.h"
#include "host/child.h"
#include "support/buffers.h"
#include "support/check.h"

static const char *folder;

static const cuttType_t types[] = {CUTT_F32, CUTT_F64, CUTT_C32, CUTT_C64};

/* Dots, products of a matrix and a vector, of matrices, batches of each, outer products and sums. */
static const char *const patterns[] = {
    "a,a->",        "ab,ab->",       "ab,ba->",    "ab,b->a",     "ba,b->a",     "b,ab->a",   "b,ba->a",
    "ab,bc->ac",    "ba,bc->ac",     "ab,cb->ac",  "ba,cb->ac",   "ab,bc->ca",   "ba,cb->ca", "a,b->ab",
    "abx,bcx->acx", "xab,xbc->xac",  "axb,bx->ax", "ax,ax->x",    "abs,bct->ac", "as,->a",    "ka,kb->ab",
    "abc,dcb->ad",  "acbd,dbe->aec", "abx,x->ab",  "abc,bcd->da",
};

typedef struct trial {
  const char *library;
  int rounds; /* of each pattern and type */
} trial;

static bool try_pattern(const trial *t, test_rng *rng, const char *pattern) {
  static const test_variety variety = {25, 50, 40, 2, 0};
  static const int places[][TEST_TENSORS] = {{TEST_AT_END, TEST_AT_END, TEST_AT_END},
                                             {TEST_AT_END, TEST_AT_START, 0},
                                             {0, TEST_AT_END, TEST_AT_START},
                                             {TEST_AT_START, 0, TEST_AT_END}};
  for (int i = 0; i < t->rounds * 4; i++) {
    test_contraction c;
    if (!test_contraction_make(pattern, CUTT_F64, &c)) return false;
    const int64_t most = test_chance(rng, 30) ? 40 : 12;
    int64_t products = 1;
    for (int label = 0; label < c.is.labels; label++) {
      c.extent[label] = test_random_in(rng, 1, most);
      while (products * c.extent[label] > 20000) c.extent[label] /= 2;
      products *= c.extent[label];
    }
    test_contraction_vary(rng, &variety, &c);
    c.type = types[i % 4]; /* scalars are any bits, and fit all */
    c.has_alpha = c.has_beta = false;
    memcpy(c.at, places[test_random_in(rng, 0, 3)], sizeof c.at);
    snprintf(c.blas, sizeof c.blas, "%s", t->library);
    test_contraction_finish(&c);
    if (test_contraction_try(&c, NULL) != TEST_RIGHT_RESULT) return false;
  }
  return true;
}

static bool run(void *data) {
  const trial *t = data;
  test_rng rng = {20250102};
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (!try_pattern(t, &rng, patterns[i])) return false;
  return true;
}

static void try_one(const char *library) {
  trial t = {library, test_scaled(20)};
  test_in_child(run, &t, 300, library);
}

static void stand_ins(void **unused) {
  (void)unused;
  static const char *const names[] = {"openblas", "openblas_0_3_21", "blis_0_9", "blis_0_8", NULL};
  host_libraries list = {0};
  host_need_stand_ins(&list, folder, names);
  for (int i = 0; i < list.count; i++) try_one(list.path[i]);
}

static void libraries_that_are_here(void **unused) {
  (void)unused;
  host_libraries list = {0};
  host_need_libraries(&list);
  for (int i = 0; i < list.count; i++) {
    print_message("%s\n", list.path[i]);
    try_one(list.path[i]);
  }
}

/* ------------------------------------------------------------------------------------------------------- known calls */

typedef struct known {
  const char *library;
  int number; /* of the defect */
  bool raw;   /* as the library has it */
  int above;  /* elements between the operand's end and that of memory */
} known;

static int64_t elements_of(const cutt_gemm *g, int operand) {
  const int64_t rows = operand == 0   ? (g->op_a == CUTT_OP_N ? g->m : g->k)
                       : operand == 1 ? (g->op_b == CUTT_OP_N ? g->k : g->n)
                                      : g->m;
  const int64_t columns = operand == 0   ? (g->op_a == CUTT_OP_N ? g->k : g->m)
                          : operand == 1 ? (g->op_b == CUTT_OP_N ? g->n : g->k)
                                         : g->n;
  return (columns - 1) * (operand == 0 ? g->lda : operand == 1 ? g->ldb : g->ldc) + rows;
}

enum { HAS_NOT = 77 };

/* Ones times ones: each element of the result is k, and what was there. */
static bool call(void *data) {
  const known *which = data;
  int count = 0;
  const cutt_cblas_defect *d = &cutt_cblas_defects(&count)[which->number];
  const cutt_gemm *g = &d->reproduces;
  const cutt_blas *provider = NULL;
  if (cutt_blas_find(CUTT_BACKEND_CPU, which->library, "library", d->type, &provider)) return false;
  const cutt_cblas *library = (const cutt_cblas *)(const void *)provider;
  if (!cutt_cblas_has(library, d)) exit(HAS_NOT);
  const size_t bytes = test_type_bytes(d->type);
  const bool single = d->type == CUTT_F32 || d->type == CUTT_C32;
  const int parts = test_type_complex(d->type) ? 2 : 1;
  test_region region[3] = {{NULL, 0}};
  test_buffer buffer[3];
  for (int o = 0; o < 3; o++) {
    const size_t all = ((size_t)elements_of(g, o) + (size_t)(o == d->operand ? which->above : 0)) * bytes;
    if (!test_buffer_place(&region[o], all, o == d->operand ? TEST_AT_END : 0, &buffer[o])) return false;
    for (int64_t i = 0; i < elements_of(g, o) * parts; i++) {
      if (single)
        ((float *)(void *)buffer[o].data)[i] = i % parts ? 0 : 1;
      else
        ((double *)(void *)buffer[o].data)[i] = i % parts ? 0 : 1;
    }
  }
  const void *one = cutt_gemm_one(d->type);
  const cutt_gemm_operands on = {d->type, one, buffer[0].data, buffer[1].data, one, buffer[2].data};
  void *session = NULL;
  if (provider->begin(provider, NULL, &session)) return false;
  if (which->raw)
    cutt_cblas_call(library, &on, g);
  else if (provider->gemm(provider, session, d->type, g, on.alpha, on.a, on.b, on.beta, on.c))
    return false;
  provider->end(provider, session);
  for (int64_t j = 0; j < g->n; j++) {
    for (int64_t i = 0; i < g->m * parts; i++) {
      const int64_t at = j * g->ldc * parts + i;
      const double is = single ? (double)((float *)on.c)[at] : ((double *)on.c)[at];
      const double wanted = i % parts ? 0 : (double)g->k + 1;
      if (is != wanted) return false; /* whole numbers */
    }
  }
  return true;
}

/* By itself the release ends with a signal (or has kernels that don't: not every processor's do); through us it does not. */
static void known_calls(void **unused) {
  (void)unused;
  static const char *const names[] = {"openblas_0_3_21", "blis_0_9", "blis_0_8", NULL};
  host_libraries list = {0};
  host_add_stand_ins(&list, folder, names);
  const int stand_ins = list.count;
  int count = 0;
  const cutt_cblas_defect *defects = cutt_cblas_defects(&count);
  static int shown[16];
  assert_true(count <= 16);
  host_find_libraries(&list);
  for (int i = 0; i < list.count; i++) {
    for (int n = 0; n < count; n++) {
      char how[128];
      if (!strstr(list.path[i], defects[n].library)) continue;
      known which = {list.path[i], n, true, 0};
      const bool survives = test_child_passes(call, &which, 60, how, sizeof how);
      if (!survives && strstr(how, "status 77")) continue; /* it is another release */
      if (!survives && !strstr(how, "signal")) fail_msg("%s, defect %d: %s", list.path[i], n, how);
      if (survives)
        print_message("%s: defect %d does not show with these kernels\n", list.path[i], n);
      else
        shown[n]++;
      if (i < stand_ins) assert_false(survives);
      which.raw = false;
      for (which.above = 0; which.above < 40; which.above++)
        if (!test_child_passes(call, &which, 60, how, sizeof how))
          fail_msg("%s, defect %d, %d elements from the end: %s", list.path[i], n, which.above, how);
    }
  }
  for (int n = 0; n < count; n++) assert_true(shown[n] > 0);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stand_ins),
      cmocka_unit_test(libraries_that_are_here),
      cmocka_unit_test(known_calls),
  };
  return cmocka_run_group_tests_name("page_ends", tests, NULL, NULL);
}
