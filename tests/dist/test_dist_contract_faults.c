/* Contractions over ranks of which one fails, is late, has no memory or says something else: all ranks return the error that names it,
 * and none hangs; and executions that may not allocate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

enum { RANKS = 5, SIDE = 20, VOLUME = SIDE * SIDE };

/* What is wrong on rank `odd`. */
typedef enum wrong {
  NOTHING,
  OTHER_PATTERN,
  OTHER_LEFT,
  OTHER_RIGHT,
  OTHER_RESULT,
  OTHER_OPTIONS,
  ALL_DIRECT, /* on all ranks, whose transport is none of threads */
  NO_PATTERN,
  NO_LEFT,
  NULL_LEFT,
  OVERLAP,
  REFUSED_PLAN,
  REFUSED_RUN
} wrong;

typedef struct job {
  setting *s;
  cuttDistAlgorithm_t algorithm;
  wrong wrong;
  int odd;
  long oom_at;
  long allocations[MOST_RANKS], in_execution[MOST_RANKS]; /* of the creation, of an execution */
  cuttResult created[MOST_RANKS], executed[MOST_RANKS], again[MOST_RANKS];
  char text[MOST_RANKS][400];
  bool differs[MOST_RANKS];
  bool alike;                 /* all ranks know the same speeds */
  int gatherings[MOST_RANKS]; /* of the creation */
  bool fractions;             /* elements that are no whole numbers, whose sums depend on their order */
  double results[MOST_RANKS][VOLUME];
} job;

static double element(const job *j, int tensor, int64_t row, int64_t column) {
  const double whole = (double)((row * 7 + column * 3 + 5 * tensor + row * column) % 11 - 5);
  return j->fractions ? whole / 3 + 1e-3 * whole * whole * whole : whole;
}

/* L and D by columns, R by rows: nothing fits. */
static void set_layouts(const job *j, bool odd, cuttDistLayout_t *layout, int parts[3][2]) {
  static const int64_t square[2] = {SIDE, SIDE};
  for (int t = 0; t < 3; t++) {
    parts[t][0] = t == 1 ? j->s->size : 1;
    parts[t][1] = t == 1 ? 1 : j->s->size;
    layout[t] = (cuttDistLayout_t)CUTT_DIST_LAYOUT_INIT;
    layout[t].modes = 2;
    layout[t].extents = square;
    layout[t].parts = parts[t];
  }
  if (!odd) return;
  if (j->wrong == OTHER_LEFT) parts[0][1]--;
  if (j->wrong == OTHER_RIGHT) parts[1][0]--;
  if (j->wrong == OTHER_RESULT) parts[2][1]--;
}

static cuttResult plan_it(const job *j, int rank, cuttDistContractionPlan_t *plan) {
  const bool odd = rank == j->odd;
  int parts[3][2];
  cuttDistLayout_t layout[3];
  cuttDistContraction_t c = CUTT_DIST_CONTRACTION_INIT;
  cuttDistContractionOptions_t options = CUTT_DIST_CONTRACTION_OPTIONS_INIT;
  if (odd && j->wrong == REFUSED_PLAN)
    return cuttDistContractionRefuse(j->s->comms[rank], NULL, "an array has two axes");
  set_layouts(j, odd, layout, parts);
  c.pattern = odd && j->wrong == OTHER_PATTERN ? "ab,cb->ac" : odd && j->wrong == NO_PATTERN ? NULL : "ab,bc->ac";
  c.type = CUTT_F64;
  c.left = odd && j->wrong == NO_LEFT ? NULL : &layout[0];
  c.right = &layout[1];
  c.result = &layout[2];
  options.threads = j->alike ? 1 : 1 + rank % 2; /* one after the other, or side by side */
  options.deterministic = j->alike;
  options.algorithm = j->algorithm;
  options.direct = j->wrong == ALL_DIRECT ? CUTT_DIST_DIRECT_ALWAYS : CUTT_DIST_DIRECT_NEVER; /* else by messages */
  options.panel = odd && j->wrong == OTHER_OPTIONS ? 6 : 5;
  options.piece_bytes = 200;
  return cuttDistContractionPlanCreate(plan, j->s->comms[rank], &c, &options);
}

/* Elements of a part in the order in which they lie, or the definition's. */
static void fill(const job *j, int rank, int tensor, double *part) {
  int parts[3][2];
  cuttDistLayout_t layout[3];
  int64_t local[2], index[2], global[2];
  set_layouts(j, false, layout, parts);
  cuttDistLocalExtents(&layout[tensor], rank, local);
  for (index[1] = 0; index[1] < local[1]; index[1]++)
    for (index[0] = 0; index[0] < local[0]; index[0]++) {
      double *at = &part[index[0] + local[0] * index[1]];
      cuttDistGlobal(&layout[tensor], rank, index, global);
      *at = tensor < 2 ? element(j, tensor, global[0], global[1]) : 0;
      for (int64_t k = 0; k < SIDE && tensor == 2; k++)
        *at += element(j, 0, global[0], k) * element(j, 1, k, global[1]);
    }
}

static void multiply(void *what, int rank) {
  job *j = what;
  const bool odd = rank == j->odd;
  double left[VOLUME], right[VOLUME], result[VOLUME], wanted[VOLUME];
  cuttDistContractionPlan_t plan = NULL;
  memset(wanted, 0xee, sizeof wanted);
  memset(result, 0xee, sizeof result);
  fill(j, rank, 0, left);
  fill(j, rank, 1, right);
  fill(j, rank, 2, wanted);
  faulty_allocations = 0;
  faulty_at = odd ? j->oom_at : 0;
  j->created[rank] = plan_it(j, rank, &plan);
  j->gatherings[rank] = j->s->ends[rank].gatherings;
  faulty_at = 0;
  j->allocations[rank] = faulty_allocations;
  if (j->created[rank]) {
    snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
    return;
  }
  const double *first = odd && j->wrong == NULL_LEFT ? NULL : odd && j->wrong == OVERLAP ? result : left;
  if (odd && j->wrong == REFUSED_RUN)
    j->executed[rank] = cuttDistContractionRefuse(j->s->comms[rank], plan, "an array is read-only");
  else
    j->executed[rank] = cuttDistContractionExecute(plan, first, right, result, NULL);
  if (j->executed[rank]) snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
  memset(result, 0xee, sizeof result);
  faulty_allocations = 0;
  j->again[rank] = cuttDistContractionExecute(plan, left, right, result, NULL);
  j->in_execution[rank] = faulty_allocations;
  if (j->again[rank] && !j->executed[rank]) snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
  memcpy(j->results[rank], result, sizeof result);
  if (!j->again[rank]) j->differs[rank] = memcmp(result, wanted, sizeof result) != 0;
  cuttDistContractionPlanDestroy(plan);
}

static job *make_job(setting *s, cuttDistAlgorithm_t algorithm, wrong what, int odd, long oom_at) {
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  j->s = s;
  j->algorithm = algorithm;
  j->wrong = what;
  j->odd = odd;
  j->oom_at = oom_at;
  return j;
}

static job *run_job(setting *s, cuttDistAlgorithm_t algorithm, wrong what, int odd, long oom_at) {
  job *j = make_job(s, algorithm, what, odd, oom_at);
  ranks_run(s->size, multiply, j);
  return j;
}

static void assert_all_fail(const job *j, const char *words) {
  for (int i = 0; i < j->s->size; i++) {
    if (!j->created[i] && !j->executed[i] && !j->again[i]) fail_msg("rank %d has not heard of the failure", i);
    if (!strstr(j->text[i], words)) fail_msg("rank %d: \"%s\", wanted \"%s\"", i, j->text[i], words);
    assert_string_equal(j->text[i], j->text[0]);
  }
}

static void assert_all_right(const job *j) {
  for (int i = 0; i < j->s->size; i++) {
    if (j->created[i] || j->executed[i] || j->again[i]) fail_msg("rank %d: %s", i, j->text[i]);
    assert_false(j->differs[i]);
  }
}

/* -------------------------------------------------------------------------------------------------------------------- tests */

static const cuttDistAlgorithm_t moving[] = {CUTT_DIST_REDISTRIBUTE, CUTT_DIST_SUMMA, CUTT_DIST_REDUCE};

static void calls_that_fail(void **unused) {
  (void)unused;
  static const call calls[] = {SEND, RECEIVE, WAIT, ALLGATHER};
  static const int counts[] = {1, 2, 5};
  for (int a = 0; a < 3; a++)
    for (int c = 0; c < 4; c++)
      for (int n = 0; n < 3; n++) {
        setting s;
        char who[40];
        const int rank = (a + c + n) % RANKS;
        open_setting(&s, RANKS);
        s.ends[rank].fails_at = calls[c];
        s.ends[rank].countdown = counts[n];
        job *j = run_job(&s, moving[a], NOTHING, -1, 0);
        snprintf(who, sizeof who, "rank %d of %d has failed", rank, RANKS);
        assert_all_fail(j, who);
        for (int i = 0; i < RANKS; i++)
          assert_int_equal(j->created[i] ? CUTT_INTERNAL_ERROR : j->again[i], CUTT_INTERNAL_ERROR);
        free(j);
        close_setting(&s);
      }
}

static void late_and_reordered(void **unused) {
  (void)unused;
  for (int a = 0; a < 3; a++) {
    setting s;
    open_setting(&s, RANKS);
    for (int i = 0; i < RANKS; i++) {
      s.ends[i].reorders = i != 2;
      s.ends[i].delays = i == 3;
    }
    job *j = run_job(&s, moving[a], NOTHING, -1, 0);
    assert_all_right(j);
    free(j);
    close_setting(&s);
  }
}

/* The same bits, whichever rank is late and whatever arrives first. */
static void sums_have_one_order(void **unused) {
  (void)unused;
  for (int a = 0; a < 3; a++) {
    job *first = NULL;
    for (int late = -1; late < RANKS; late++) {
      setting s;
      open_setting(&s, RANKS);
      if (late >= 0) {
        s.ends[late].delays = true;
        s.ends[(late + 2) % RANKS].reorders = true;
      }
      job *j = make_job(&s, moving[a], NOTHING, -1, 0);
      j->fractions = true;
      ranks_run(RANKS, multiply, j);
      for (int i = 0; i < RANKS; i++) {
        assert_int_equal(j->created[i] + j->executed[i] + j->again[i], 0);
        if (first) assert_memory_equal(j->results[i], first->results[i], sizeof j->results[i]);
      }
      if (first)
        free(j);
      else
        first = j;
      close_setting(&s);
    }
    free(first);
  }
}

/* Allocations of one rank in turn: all ranks get that rank's error, and the communicator can be used again. */
static void memory_runs_out_on_one_rank(void **unused) {
  (void)unused;
  for (int a = 0; a < 3; a++) {
    setting s;
    open_setting(&s, RANKS);
    job *j = run_job(&s, moving[a], NOTHING, -1, 0);
    assert_all_right(j);
    const long most = j->allocations[3];
    free(j);
    assert_true(most > 10);
    const long step = test_scale() < 0.2 ? 5 : 1;
    for (long at = 1; at <= most; at += step) {
      j = run_job(&s, moving[a], NOTHING, 3, at);
      if (j->created[0]) {
        assert_all_fail(j, "rank 3: ");
        assert_all_fail(j, "memory");
      } else {
        assert_all_right(j);
      }
      free(j);
    }
    close_setting(&s);
  }
}

static void ranks_that_differ(void **unused) {
  (void)unused;
  static const struct {
    wrong what;
    const char *words;
  } cases[] = {
      {OTHER_PATTERN, "rank 2 has other contraction->pattern"},
      {OTHER_LEFT, "rank 2 has other contraction->left than"},
      {OTHER_RIGHT, "rank 2 has other contraction->right than"},
      {OTHER_RESULT, "rank 2 has other contraction->result than"},
      {OTHER_OPTIONS, "rank 2 has other options"},
      {NO_PATTERN, "rank 2: contraction->pattern is NULL"},
      {ALL_DIRECT, "options->direct is CUTT_DIST_DIRECT_ALWAYS, which can't be"},
      {NO_LEFT, "rank 2: contraction->left is NULL"},
      {NULL_LEFT, "rank 2: left is NULL"},
      {OVERLAP, "rank 2: left spans bytes"},
      {REFUSED_PLAN, "rank 2: an array has two axes"},
      {REFUSED_RUN, "rank 2: an array is read-only"},
  };
  setting s;
  open_setting(&s, RANKS);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    job *j = run_job(&s, CUTT_DIST_FASTEST, cases[i].what, 2, 0);
    assert_all_fail(j, cases[i].words);
    for (int rank = 0; rank < RANKS; rank++) assert_false(j->differs[rank]);
    free(j);
  }
  job *j = run_job(&s, CUTT_DIST_FASTEST, NOTHING, -1, 0);
  assert_all_right(j);
  free(j);
  close_setting(&s);
}

/* One gathering, whatever has to move. */
static void creations_agree_once(void **unused) {
  (void)unused;
  for (int a = 0; a < 3; a++) {
    setting s;
    open_setting(&s, RANKS);
    job *j = make_job(&s, moving[a], NOTHING, -1, 0);
    j->alike = true;
    ranks_run(RANKS, multiply, j);
    assert_all_right(j);
    for (int i = 0; i < RANKS; i++) assert_int_equal(j->gatherings[i], 1);
    free(j);
    close_setting(&s);
  }
}

/* A rank that knows other speeds has chosen something else: a second gathering, behind which all is made anew. */
static void other_speeds(void **unused) {
  (void)unused;
  setting s;
  cuttDistComm_t plain[RANKS];
  open_setting(&s, RANKS);
  for (int i = 0; i < RANKS; i++) {
    cuttDistTransport_t t;
    plain[i] = s.comms[i];
    assert_success(cuttDistCommTransport(plain[i], &t));
    t.message_seconds = i == 3 ? 1e-9 : 1e-3; /* 3 would redistribute, the others add up partial results */
    t.byte_seconds = i == 3 ? 1e-12 : 1e-3;
    t.destroy = NULL;
    assert_success(cuttDistCommCreate(&s.comms[i], &t));
  }
  job *j = make_job(&s, CUTT_DIST_FASTEST, NOTHING, -1, 0);
  j->alike = true;
  ranks_run(RANKS, multiply, j);
  assert_all_right(j);
  for (int i = 0; i < RANKS; i++) assert_int_equal(j->gatherings[i], 2);
  const long most = j->allocations[3];
  free(j);
  for (long at = most; at > 0; at -= 7) {
    j = make_job(&s, CUTT_DIST_FASTEST, NOTHING, 3, at);
    j->alike = true;
    ranks_run(RANKS, multiply, j);
    if (j->created[0])
      assert_all_fail(j, "rank 3: ");
    else
      assert_all_right(j);
    free(j);
  }
  for (int i = 0; i < RANKS; i++) {
    assert_success(cuttDistCommDestroy(s.comms[i]));
    s.comms[i] = plain[i];
  }
  close_setting(&s);
}

static void executions_allocate_nothing(void **unused) {
  (void)unused;
  for (int a = 0; a < 3; a++) {
    setting s;
    open_setting(&s, RANKS);
    job *j = run_job(&s, moving[a], NOTHING, -1, 0);
    assert_all_right(j);
    for (int i = 0; i < RANKS; i++) assert_int_equal(j->in_execution[i], 0);
    free(j);
    close_setting(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_that_fail),      cmocka_unit_test(late_and_reordered),
      cmocka_unit_test(sums_have_one_order),  cmocka_unit_test(memory_runs_out_on_one_rank),
      cmocka_unit_test(ranks_that_differ),    cmocka_unit_test(executions_allocate_nothing),
      cmocka_unit_test(creations_agree_once), cmocka_unit_test(other_speeds),
  };
  return cmocka_run_group_tests_name("dist_contract_faults", tests, NULL, NULL);
}
