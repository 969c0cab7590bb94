/* What plans of ranks on devices choose, without a GPU: by which way they go, whether rows are joined, and how often ranks gather for
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/dist_setting.h"

static const kind kinds[] = {THREADS, NCCL_BY_THREADS, NCCL_ALONE, THROUGH_HOST};

/* Which way is predicted to be the fastest between two H200. */
typedef struct choice {
  setting *s;
  int64_t extents[3];
  int cut; /* the mode that the input is spread by, besides the output's last one */
  cuttDistDirect_t direct;
  size_t limit; /* of workspace */
  cuttDistPlanInfo_t info[DIST_MOST];
  cuttResult created[DIST_MOST];
  char text[DIST_MOST][8192];
} choice;

static void choose_way(void *what, int rank) {
  choice *c = what;
  static const int reversed[3] = {2, 1, 0};
  const int64_t out_extents[3] = {c->extents[2], c->extents[1], c->extents[0]};
  const int parts[3] = {1, 1, c->s->size}, middle[3] = {1, c->s->size, 1};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  from.modes = to.modes = 3;
  from.extents = c->extents;
  to.extents = out_extents;
  from.parts = to.parts = parts;
  if (c->cut == 1) from.parts = middle;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = reversed;
  options.backend = CUTT_BACKEND_CUDA;
  options.direct = c->direct;
  options.workspace_limit = c->limit;
  c->info[rank].struct_size = sizeof c->info[rank];
  fake->context_set(dist_context[rank]);
  c->created[rank] = cuttDistPlanCreate(&plan, c->s->comms[rank], &problem, &options);
  if (!c->created[rank])
    c->created[rank] = cuttDistPlanDescribe(plan, CUTT_JSON, c->text[rank], sizeof c->text[0], NULL);
  if (!c->created[rank]) c->created[rank] = cuttDistPlanGetInfo(plan, &c->info[rank]);
  if (c->created[rank]) snprintf(c->text[rank], sizeof c->text[0], "%s", cuttLastError());
  cuttDistPlanDestroy(plan);
  fake->context_set(NULL);
}

static void assert_cut(setting *s, const int64_t *extents, int cut, cuttDistDirect_t direct, const char *words) {
  choice *c = calloc(1, sizeof *c);
  assert_non_null(c);
  *c = (choice){.s = s, .extents = {extents[0], extents[1], extents[2]}, .cut = cut, .direct = direct};
  ranks_run(s->size, choose_way, c);
  for (int i = 0; i < s->size; i++) {
    if (c->created[i] || !strstr(c->text[i], words)) fail_msg("rank %d: wanted %s in %s", i, words, c->text[i]);
  }
  free(c);
}

static void assert_way(setting *s, const int64_t *extents, cuttDistDirect_t direct, const char *words) {
  assert_cut(s, extents, 2, direct, words);
}

/* The least that a limit may be is enough for two ranks, whichever way messages go. */
static void little_workspace(void **unused) {
  (void)unused;
  for (int k = 0; k < 4; k++) {
    setting s;
    open_setting(&s, kinds[k], 2);
    choice *c = calloc(1, sizeof *c);
    assert_non_null(c);
    *c = (choice){.s = &s, .extents = {12, 10, 8}, .cut = 2, .direct = CUTT_DIST_DIRECT_NEVER, .limit = 256};
    ranks_run(s.size, choose_way, c);
    for (int i = 0; i < s.size; i++) {
      if (c->created[i]) fail_msg("kind %d, rank %d: %s", k, i, c->text[i]);
      assert_true(c->info[i].workspace_bytes > 0 && c->info[i].workspace_bytes <= c->limit);
    }
    free(c);
    close_setting(&s);
  }
}

/* Of rows of which each rank has a short part the whole is written at once, with this rank's own; not those of which a rank has long
 * parts, or all, nor where parts are of different lengths. */
static void rows_are_joined(void **unused) {
  (void)unused;
  static const int64_t short_runs[3] = {1400, 1400, 34}, long_runs[3] = {256, 64, 4096}, uneven[3] = {1400, 1400, 35};
  static const char joined[] = "\"joined\":true", not_joined[] = "\"joined\":false";
  for (int k = 0; k < 4; k++) {
    setting s;
    open_setting(&s, kinds[k], 2);
    assert_cut(&s, short_runs, 2, CUTT_DIST_DIRECT_NEVER, joined);
    assert_cut(&s, long_runs, 2, CUTT_DIST_DIRECT_NEVER, not_joined);
    assert_cut(&s, uneven, 2, CUTT_DIST_DIRECT_NEVER, not_joined);
    assert_cut(&s, short_runs, 1, CUTT_DIST_DIRECT_NEVER, not_joined);
    close_setting(&s);
  }
}

/* Whole lines are written directly, much that begins anywhere is packed and copied; messages are NCCL's where they have been asked
 * for. */
static void the_faster_way(void **unused) {
  (void)unused;
  static const int64_t lines[3] = {512, 64, 512}, ragged[3] = {1292, 1290, 1290};
  static const char direct[] = "\"direct\":true", copies[] = "\"messages\":\"copies\"",
                    stream[] = "\"messages\":\"the transport's stream\"";
  struct CUctx_st *const other = dist_context[1];
  dist_context[1] = dist_context[2]; /* of a device like the first one's */
  for (int k = 0; k < 3; k++) {
    setting s;
    open_setting(&s, kinds[k], 2);
    if (k < 2) {
      assert_way(&s, lines, CUTT_DIST_DIRECT_BY_COST, direct);
      assert_way(&s, ragged, CUTT_DIST_DIRECT_BY_COST, copies);
    }
    assert_way(&s, lines, CUTT_DIST_DIRECT_NEVER, k == 0 ? copies : stream);
    assert_way(&s, ragged, CUTT_DIST_DIRECT_ALWAYS, direct);
    close_setting(&s);
  }
  dist_context[1] = other;
}

/* Gatherings of a rank for a plan, on a communicator that has made plans before: one, but for processes that open what others have;
 * and for the first plan, which tries besides what ranks reach. */
static void creations_agree_once(void **unused) {
  (void)unused;
  static const int64_t lines[3] = {512, 64, 512}, ragged[3] = {1292, 1290, 1290};
  static const struct {
    kind kind;
    bool opens;
    cuttDistDirect_t direct;
    const char *way;
    long first, then;
  } rows[] = {{THREADS, true, CUTT_DIST_DIRECT_NEVER, "copies", 1, 1},
              {THREADS, true, CUTT_DIST_DIRECT_ALWAYS, "\"direct\":true", 2, 1},
              {THREADS, true, CUTT_DIST_DIRECT_BY_COST, "\"direct\":true", 2, 1},
              {NCCL_BY_THREADS, true, CUTT_DIST_DIRECT_NEVER, "stream", 1, 1},
              {NCCL_BY_THREADS, true, CUTT_DIST_DIRECT_ALWAYS, "\"direct\":true", 2, 1},
              {THROUGH_HOST, false, CUTT_DIST_DIRECT_NEVER, "host", 3, 1},
              {THROUGH_HOST, true, CUTT_DIST_DIRECT_NEVER, "copies", 6, 3},
              {THROUGH_HOST, true, CUTT_DIST_DIRECT_ALWAYS, "\"direct\":true", 6, 3}};
  struct CUctx_st *const other = dist_context[1];
  dist_context[1] = dist_context[2]; /* of a device like the first one's */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setting s;
    atomic_store(&fake->opens, rows[i].opens);
    open_setting(&s, rows[i].kind, 2);
    for (int round = 0; round < 3; round++) {
      const long wanted = 2 * (round ? rows[i].then : rows[i].first);
      atomic_store(&dist_gatherings, 0);
      assert_way(&s, lines, rows[i].direct, rows[i].way);
      if (atomic_load(&dist_gatherings) != wanted)
        fail_msg("row %zu, plan %d: %ld gatherings, wanted %ld", i, round, atomic_load(&dist_gatherings), wanted);
    }
    /* What is chosen for another reason than on the first plan is made at once, too. */
    if (rows[i].direct == CUTT_DIST_DIRECT_BY_COST) {
      atomic_store(&dist_gatherings, 0);
      assert_way(&s, ragged, CUTT_DIST_DIRECT_BY_COST, "copies");
      assert_int_equal(atomic_load(&dist_gatherings), 2);
    }
    close_setting(&s);
  }
  dist_context[1] = other;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_faster_way, dist_start, dist_end),
      cmocka_unit_test_setup_teardown(little_workspace, dist_start, dist_end),
      cmocka_unit_test_setup_teardown(rows_are_joined, dist_start, dist_end),
      cmocka_unit_test_setup_teardown(creations_agree_once, dist_start, dist_end),
  };
  return cmocka_run_group_tests_name("cuda_dist_choice", tests, dist_open, NULL);
}
