/* Contractions over ranks: what calls refuse, what plans say of themselves, bytes that move by each algorithm against the formula, and
 * what is chosen. */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

enum { RANKS = 4 };

/* One contraction, as all ranks plan it. */
typedef struct job {
  cuttDistComm_t comms[RANKS];
  const char *pattern;
  const int64_t *extents[3];
  const int *parts[3];
  int modes[3], copies[3];
  cuttType_t type;
  cuttDistContractionOptions_t options;
  cuttResult result[RANKS];
  cuttDistContractionInfo_t info[RANKS];
  char text[RANKS][400], described[8000];
  cuttFormat_t format;
} job;

static void plan_it(void *what, int rank) {
  job *j = what;
  cuttDistLayout_t layout[3];
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionPlan_t plan = NULL;
  for (int t = 0; t < 3; t++) {
    layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    layout[t].modes = j->modes[t];
    layout[t].extents = j->extents[t];
    layout[t].parts = j->parts[t];
    layout[t].copies = j->copies[t];
  }
  c.pattern = j->pattern;
  c.type = j->type;
  c.left = &layout[0];
  c.right = &layout[1];
  c.result = &layout[2];
  j->result[rank] = cuttDistContractionPlanCreate(&plan, j->comms[rank], &c, &j->options);
  snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
  j->info[rank] = (cuttDistContractionInfo_t){.struct_size = sizeof j->info[rank]};
  if (j->result[rank]) return;
  assert_success(cuttDistContractionGetInfo(plan, &j->info[rank]));
  if (rank == 1) assert_success(cuttDistContractionDescribe(plan, j->format, j->described, sizeof j->described, NULL));
  assert_success(cuttDistContractionPlanDestroy(plan));
}

/* Two matrices of these extents a, b, c, cut as `parts` says, in all ranks. */
static job *plan_matrices(const int64_t *abc, const int parts[3][2], cuttDistAlgorithm_t algorithm,
                          cuttFormat_t format) {
  static int64_t extents[3][2];
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  assert_success(cuttDistCommThreads(RANKS, j->comms));
  const int64_t own[3][2] = {{abc[0], abc[1]}, {abc[1], abc[2]}, {abc[0], abc[2]}};
  memcpy(extents, own, sizeof extents);
  j->pattern = "ab,bc->ac";
  j->type = CUTT_F64;
  j->format = format;
  for (int t = 0; t < 3; t++) {
    j->modes[t] = 2;
    j->extents[t] = extents[t];
    j->parts[t] = parts[t];
    j->copies[t] = 1;
  }
  j->options = (cuttDistContractionOptions_t)CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  j->options.threads = 1;
  j->options.direct = CUTT_DIST_DIRECT_NEVER;
  j->options.algorithm = algorithm;
  j->options.deterministic = 1;
  ranks_run(RANKS, plan_it, j);
  return j;
}

static void free_job(job *j) {
  for (int i = 0; i < RANKS; i++) assert_success(cuttDistCommDestroy(j->comms[i]));
  free(j);
}

enum { SIDE = 48 };
static const int64_t cube[3] = {SIDE, SIDE, SIDE};

/* Bytes that every rank receives and sends, for squares of `SIDE` and 4 ranks. */
static void bytes_are_the_formulas(void **unused) {
  (void)unused;
  static const struct {
    cuttDistAlgorithm_t algorithm;
    int parts[3][2];
    int64_t elements;
  } cases[] = {
      /* Rows of the mesh have the same rows of L, columns the same columns of R: 2 (sqrt P - 1) n^2 / P. */
      {CUTT_DIST_SUMMA, {{2, 2}, {2, 2}, {2, 2}}, 2 * SIDE * SIDE / RANKS},
      /* L alone moves, in panels of its free mode, which nobody cuts: (P - 1) n^2 / P. */
      {CUTT_DIST_SUMMA, {{1, 4}, {1, 4}, {1, 4}}, 3 * SIDE * SIDE / RANKS},
      /* R is replicated: (P - 1) n^2 / P. */
      {CUTT_DIST_REDISTRIBUTE, {{4, 1}, {4, 1}, {4, 1}}, 3 * SIDE * SIDE / RANKS},
      /* As many from every other rank as this one's part of the result has: (P - 1) n^2 / P. */
      {CUTT_DIST_REDUCE, {{1, 4}, {4, 1}, {1, 4}}, 3 * SIDE * SIDE / RANKS},
      {CUTT_DIST_LOCAL, {{4, 1}, {1, 1}, {4, 1}}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const bool local = cases[i].algorithm == CUTT_DIST_LOCAL;
    job *j;
    if (local) { /* with R on all ranks */
      static const int64_t extents[2] = {SIDE, SIDE};
      j = calloc(1, sizeof *j);
      assert_non_null(j);
      assert_success(cuttDistCommThreads(RANKS, j->comms));
      j->pattern = "ab,bc->ac";
      j->type = CUTT_F64;
      j->options = (cuttDistContractionOptions_t)CUTT_DIST_CONTRACTION_OPTIONS_INIT;
      j->options.algorithm = CUTT_DIST_LOCAL;
      for (int t = 0; t < 3; t++) {
        j->modes[t] = 2;
        j->extents[t] = extents;
        j->parts[t] = cases[i].parts[t];
        j->copies[t] = t == 1 ? RANKS : 1;
      }
      ranks_run(RANKS, plan_it, j);
    } else {
      j = plan_matrices(cube, cases[i].parts, cases[i].algorithm, CUTT_TEXT);
    }
    for (int rank = 0; rank < RANKS; rank++) {
      if (j->result[rank]) fail_msg("case %zu: %s", i, j->text[rank]);
      assert_int_equal(j->info[rank].bytes_received, 8 * cases[i].elements);
      assert_int_equal(j->info[rank].bytes_sent, 8 * cases[i].elements);
      assert_int_equal(j->info[rank].most_bytes_sent, 8 * cases[i].elements);
      assert_int_equal(j->info[rank].algorithm, cases[i].algorithm);
      assert_near(2.0 * SIDE * SIDE * SIDE / RANKS, j->info[rank].flops);
    }
    assert_int_equal(j->info[0].partial_results, cases[i].algorithm == CUTT_DIST_REDUCE ? RANKS : 1);
    if (cases[i].algorithm == CUTT_DIST_SUMMA) assert_true(j->info[0].panels > 1);
    free_job(j);
  }
}

static void the_choice_follows_the_shape(void **unused) {
  (void)unused;
  static const int columns[3][2] = {{1, 4}, {1, 4}, {1, 4}}, fits[3][2] = {{1, 4}, {4, 1}, {1, 4}};
  static const int64_t long_sum[3] = {60, 200000, 60}, few_rows[3] = {100000, 64, 64};
  /* A long sum of a small result: partial results are what moves least. */
  job *j = plan_matrices(long_sum, fits, CUTT_DIST_FASTEST, CUTT_TEXT);
  if (j->result[0]) fail_msg("%s", j->text[0]);
  assert_int_equal(j->info[0].algorithm, CUTT_DIST_REDUCE);
  assert_int_equal(j->info[0].moves_left + j->info[0].moves_right, 0);
  free_job(j);
  /* The small operand moves, and the large ones do not. */
  static const int rows[3][2] = {{4, 1}, {4, 1}, {4, 1}};
  j = plan_matrices(few_rows, rows, CUTT_DIST_FASTEST, CUTT_TEXT);
  if (j->result[0]) fail_msg("%s", j->text[0]);
  assert_int_equal(j->info[0].moves_left + j->info[0].moves_result, 0);
  assert_int_equal(j->info[0].moves_right, 1);
  free_job(j);
  /* What is chosen is the least of what is predicted. */
  j = plan_matrices(cube, columns, CUTT_DIST_FASTEST, CUTT_JSON);
  json_t *root = json_loads(j->described, 0, NULL);
  assert_non_null(root);
  const char *name = json_string_value(json_object_get(root, "algorithm"));
  const json_t *all = json_object_get(root, "algorithms");
  assert_non_null(name);
  const double best = json_number_value(json_object_get(json_object_get(all, name), "predicted_seconds"));
  assert_true(best > 0);
  static const char *const names[] = {"local", "redistribute", "summa", "reduce"};
  for (int i = 0; i < 4; i++) {
    const json_t *one = json_object_get(all, names[i]), *seconds = json_object_get(one, "predicted_seconds");
    assert_non_null(one);
    if (seconds)
      assert_true(json_number_value(seconds) >= best);
    else
      assert_string_equal(json_string_value(json_object_get(one, "impossible")), "a tensor would have to move");
  }
  assert_int_equal(json_array_size(json_object_get(json_object_get(root, "left"), "modes")), 2);
  assert_int_equal(json_integer_value(json_object_get(root, "rank")), 1);
  json_decref(root);
  free_job(j);
}

static void descriptions_say_why(void **unused) {
  (void)unused;
  static const int mesh[3][2] = {{2, 2}, {2, 2}, {2, 2}};
  job *j = plan_matrices(cube, mesh, CUTT_DIST_SUMMA, CUTT_TEXT);
  static const char *const words[] = {"contraction of f64, as rank 1 of 4 sees it; by threads",
                                      "left          a 48 in 2 parts, b 48 in 2 parts; moved",
                                      "result        a 48 in 2 parts, c 48 in 2 parts; used where it is",
                                      "algorithm     summa,",
                                      "panels of b,",
                                      "by options->algorithm: local can't be (a tensor would have to move)",
                                      "4 multiply, where they lie as in result, a in 2 parts, c in 2 parts"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strstr(j->described, words[i])) fail_msg("\"%s\" is not in\n%s", words[i], j->described);
  free_job(j);
}

static void limits_hold(void **unused) {
  (void)unused;
  static const int mesh[3][2] = {{2, 2}, {2, 2}, {2, 2}};
  static const size_t limits[] = {5000, 10000, 40000, 1000000};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    job *j = plan_matrices(cube, mesh, CUTT_DIST_FASTEST, CUTT_TEXT);
    j->options.workspace_limit = limits[i];
    ranks_run(RANKS, plan_it, j);
    for (int rank = 0; rank < RANKS; rank++) {
      if (j->result[rank]) fail_msg("limit %zu: %s", limits[i], j->text[rank]);
      assert_true(j->info[rank].workspace_bytes <= limits[i]);
    }
    j->options.workspace_limit = 700;
    ranks_run(RANKS, plan_it, j);
    for (int rank = 0; rank < RANKS; rank++) {
      assert_int_equal(j->result[rank], CUTT_INVALID_PARAMETER);
      assert_non_null(strstr(j->text[rank], "options->workspace_limit is 700, which is too little"));
    }
    free_job(j);
  }
}

/* ------------------------------------------------------------------------------------------------------------ refusals */

static const int64_t six[2] = {6, 6}, seven[2] = {6, 7};
static const int two[2] = {2, 1};

static void wrong_arguments(void **unused) {
  (void)unused;
  cuttDistComm_t comm = NULL;
  assert_success(cuttDistCommThreads(1, &comm));
  cuttDistLayout_t square = CUTT_DIST_LAYOUT_INIT, other = CUTT_DIST_LAYOUT_INIT, halves = CUTT_DIST_LAYOUT_INIT;
  square.modes = other.modes = halves.modes = 2;
  square.extents = halves.extents = six;
  other.extents = seven;
  halves.parts = two;
  cuttDistContraction_t good = CUTT_DIST_CONTRACTION_INIT;
  good.pattern = "ab,bc->ac";
  good.type = CUTT_F64;
  good.left = good.right = good.result = &square;
  cuttDistContractionOptions_t plain = CUTT_DIST_CONTRACTION_OPTIONS_INIT, options;
  cuttDistContraction_t c;
  cuttDistContractionPlan_t plan = NULL;
#define REFUSED(set, ...)                                                                                              \
  do {                                                                                                                 \
    c = good;                                                                                                          \
    options = plain;                                                                                                   \
    set;                                                                                                               \
    plan = (cuttDistContractionPlan_t)&c;                                                                              \
    assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionPlanCreate(&plan, comm, &c, &options), __VA_ARGS__);      \
    assert_null(plan);                                                                                                 \
  } while (0)
  REFUSED(c.struct_size = 3, "contraction->struct_size is 3");
  REFUSED(c.pattern = NULL, "contraction->pattern is NULL");
  REFUSED(c.pattern = "ab,bc->a?", "place 9");
  REFUSED(c.pattern = "abc,bc->ac", "contraction->left->modes is 2", "gives the left operand 3");
  REFUSED(c.pattern = "ab->ba", "contraction->right is", "must be NULL");
  REFUSED(c.right = NULL, "contraction->right is NULL");
  REFUSED(c.right = &other; c.pattern = "ab,bc->bc",
                            "contraction->right->extents[1] is 7 and contraction->result->extents[1] is 6", "'c'");
  REFUSED(c.left = &halves, "contraction->left is for 2 ranks");
  REFUSED(c.type = CUTT_BYTES_8, "bytes8");
  REFUSED(options.algorithm = (cuttDistAlgorithm_t)9, "options->algorithm is 9");
  REFUSED(options.algorithm = CUTT_DIST_REDUCE, "options->algorithm is CUTT_DIST_REDUCE, which can't be");
  REFUSED(options.direct = (cuttDistDirect_t)7, "options->direct is 7");
  REFUSED(options.panel = -1, "options->panel is -1");
  REFUSED(options.piece_bytes = 3, "options->piece_bytes is 3");
  REFUSED(options.threads = -1, "options->threads is -1");
  REFUSED(options.backend = (cuttBackend_t)77, "options->backend is 77");
  REFUSED(options.local_algorithm = "fast", "product of a rank's parts: options->algorithm is 'fast'");
#undef REFUSED
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionPlanCreate(NULL, comm, &good, NULL), "plan is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionPlanCreate(&plan, comm, NULL, NULL), "contraction is NULL");
  assert_result(CUTT_INVALID_PLAN, cuttDistContractionPlanCreate(&plan, NULL, &good, NULL), "comm is");
  /* Of a program that was built before there was a backend: what lies behind is not read. */
  options = plain;
  options.struct_size = offsetof(cuttDistContractionOptions_t, backend);
  options.backend = (cuttBackend_t)77;
  assert_success(cuttDistContractionPlanCreate(&plan, comm, &good, &options));
  assert_success(cuttDistContractionPlanDestroy(plan));
  assert_success(cuttDistContractionPlanCreate(&plan, comm, &good, NULL));
  cuttDistContractionInfo_t info = {.struct_size = 5};
  double l[36], r[36], d[36];
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionGetInfo(plan, &info), "info->struct_size is 5");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionGetInfo(plan, NULL), "info is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionExecute(plan, l, NULL, d, NULL), "right is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionExecute(plan, l, d + 35, d, NULL), "right spans", "overlap");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistContractionExecute(plan, l, r, d, (cudaStream_t)l), "stream is");
  assert_success(cuttDistContractionPlanDestroy(plan));
  assert_success(cuttDistContractionPlanDestroy(NULL));
  memset(l, 0, sizeof l);
  assert_result(CUTT_INVALID_PLAN, cuttDistContractionExecute((cuttDistContractionPlan_t)l, l, r, d, NULL), "no plan");
  assert_success(cuttDistCommDestroy(comm));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_are_the_formulas), cmocka_unit_test(the_choice_follows_the_shape),
      cmocka_unit_test(descriptions_say_why),   cmocka_unit_test(limits_hold),
      cmocka_unit_test(wrong_arguments),
  };
  return cmocka_run_group_tests_name("dist_contract_api", tests, NULL, NULL);
}
