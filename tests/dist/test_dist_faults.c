/* What goes wrong on one rank, all ranks hear of, and none hangs: messages that fail, are held back or start in another order; an
 * allocator that fails on one rank; and executions that may not allocate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

enum { RANKS = 5 };

enum { SIDE = 24, VOLUME = SIDE * SIDE };

typedef struct job {
  setting *s;
  cuttDistDirect_t direct;
  int oom_rank;
  long oom_at;
  long allocations[MOST_RANKS]; /* of the creation, of an execution */
  long in_execution[MOST_RANKS];
  cuttResult created[MOST_RANKS], executed[MOST_RANKS], again[MOST_RANKS];
  char text[MOST_RANKS][400];
  bool wrong[MOST_RANKS];
  int64_t sent_at_first[MOST_RANKS]; /* messages of the first execution */
  int gatherings[MOST_RANKS];        /* of the creation */
} job;

/* Columns to rows, of a matrix that is turned round. */
static void turn(void *what, int rank) {
  job *j = what;
  setting *s = j->s;
  static const int64_t square[2] = {SIDE, SIDE};
  static const int swap[2] = {1, 0};
  const int parts[2] = {1, s->size};
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  int32_t in[VOLUME], out[VOLUME];
  int64_t local[2], index[2], global[2];
  layout.modes = 2;
  layout.extents = square;
  layout.parts = parts;
  problem.type = CUTT_I32;
  problem.from = problem.to = &layout;
  problem.perm = swap;
  options.threads = 1;
  options.direct = j->direct;
  options.piece_bytes = 40;
  options.workspace_limit = 1000;
  cuttDistLocalExtents(&layout, rank, local);
  for (index[1] = 0; index[1] < local[1]; index[1]++)
    for (index[0] = 0; index[0] < local[0]; index[0]++) {
      cuttDistGlobal(&layout, rank, index, global);
      in[index[0] + local[0] * index[1]] = (int32_t)(global[0] + 1000 * global[1]);
    }
  memset(out, 0xee, sizeof out);
  faulty_allocations = 0;
  faulty_at = rank == j->oom_rank ? j->oom_at : 0;
  j->created[rank] = cuttDistPlanCreate(&plan, s->comms[rank], &problem, &options);
  j->gatherings[rank] = s->ends[rank].gatherings;
  faulty_at = 0;
  j->allocations[rank] = faulty_allocations;
  if (j->created[rank]) {
    snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
    return;
  }
  j->executed[rank] = cuttDistPlanExecute(plan, in, out, NULL);
  j->sent_at_first[rank] = s->ends[rank].sent;
  memset(out, 0xee, sizeof out);
  if (j->executed[rank]) snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
  faulty_allocations = 0;
  j->again[rank] = cuttDistPlanExecute(plan, in, out, NULL);
  j->in_execution[rank] = faulty_allocations;
  for (index[1] = 0; index[1] < local[1] && !j->again[rank]; index[1]++)
    for (index[0] = 0; index[0] < local[0]; index[0]++) {
      cuttDistGlobal(&layout, rank, index, global);
      j->wrong[rank] |= out[index[0] + local[0] * index[1]] != (int32_t)(global[1] + 1000 * global[0]);
    }
  cuttDistPlanDestroy(plan);
}

static job *run_job(setting *s, cuttDistDirect_t direct, int oom_rank, long oom_at) {
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  j->s = s;
  j->direct = direct;
  j->oom_rank = oom_rank;
  j->oom_at = oom_at;
  ranks_run(s->size, turn, j);
  return j;
}

static void assert_all_fail(const job *j, const char *words) {
  for (int i = 0; i < j->s->size; i++) {
    if (!j->created[i] && !j->executed[i]) fail_msg("rank %d has not heard of the failure", i);
    if (!strstr(j->text[i], words)) fail_msg("rank %d: \"%s\", wanted \"%s\"", i, j->text[i], words);
    assert_string_equal(j->text[i], j->text[0]);
  }
}

/* -------------------------------------------------------------------------------------------------------------------- tests */

static void calls_that_fail(void **unused) {
  (void)unused;
  static const call calls[] = {SEND, RECEIVE, WAIT, ALLGATHER};
  static const char *const words[] = {"could not send to rank", "could not receive from rank", "could not",
                                      "could not gather"};
  for (int c = 0; c < 4; c++)
    for (int rank = 0; rank < RANKS; rank++)
      for (int at = 1; at <= 3; at++) {
        setting s;
        char who[40];
        open_setting(&s, RANKS);
        s.ends[rank].fails_at = calls[c];
        s.ends[rank].countdown = at;
        job *j = run_job(&s, CUTT_DIST_DIRECT_NEVER, -1, 0);
        snprintf(who, sizeof who, "rank %d of %d has failed", rank, RANKS);
        assert_all_fail(j, who);
        assert_all_fail(j, words[c]);
        /* And so does all that follows. */
        for (int i = 0; i < RANKS && at > 1; i++)
          assert_int_equal(j->created[i] ? 4 : j->again[i], CUTT_INTERNAL_ERROR);
        free(j);
        close_setting(&s);
      }
}

static void random_messages(const setting *s) {
  for (uint64_t seed = 0; seed < (uint64_t)test_scaled(100); seed++) {
    dist_case c;
    char failure[FAILURE_BYTES];
    dist_case_make(&c, seed, s->size);
    if (c.options.direct == CUTT_DIST_DIRECT_ALWAYS) c.options.direct = CUTT_DIST_DIRECT_NEVER;
    dist_case_try(&c, s->comms, failure, NULL);
    if (failure[0]) fail_msg("%s", failure);
  }
}

static void late_and_reordered(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, RANKS);
  for (int i = 0; i < RANKS; i++) {
    s.ends[i].reorders = i != 2;
    s.ends[i].delays = i == 3;
  }
  job *j = run_job(&s, CUTT_DIST_DIRECT_NEVER, -1, 0);
  for (int i = 0; i < RANKS; i++) {
    assert_int_equal(j->created[i] + j->executed[i] + j->again[i], 0);
    assert_false(j->wrong[i]);
  }
  free(j);
  s.ends[3].delays = false;
  random_messages(&s);
  close_setting(&s);
}

/* A transport whose messages are of 1000 bytes at most, as MPI's are of 2^31 - 1: it fails where one is longer. */
static void messages_of_limited_length(void **unused) {
  (void)unused;
  setting s;
  open_limited_setting(&s, RANKS, 1000);
  random_messages(&s);
  close_setting(&s);
}

/* However many ranks there are, the creation of a plan is work of their own and one collective call. */
static void creations_agree_once(void **unused) {
  (void)unused;
  static const int sizes[] = {1, RANKS, 64};
  for (int i = 0; i < 3; i++)
    for (int direct = 0; direct < 3; direct++) {
      setting s;
      open_setting(&s, sizes[i]);
      job *j = run_job(&s, (cuttDistDirect_t)direct, -1, 0);
      for (int rank = 0; rank < sizes[i]; rank++) {
        if (j->created[rank] || j->executed[rank]) fail_msg("rank %d: %s", rank, j->text[rank]);
        assert_int_equal(j->gatherings[rank], 1);
      }
      free(j);
      close_setting(&s);
    }
}

/* Ranks that are no threads of a process write into each other's outputs as the transport lets them. */
static void outputs_are_offered(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, RANKS);
  job *j = run_job(&s, CUTT_DIST_DIRECT_ALWAYS, -1, 0);
  for (int i = 0; i < RANKS; i++) {
    const int64_t columns = SIDE / RANKS + (i < SIDE % RANKS);
    assert_int_equal(j->created[i] + j->executed[i] + j->again[i], 0);
    assert_false(j->wrong[i]);
    assert_int_equal(s.ends[i].offered, 2 * SIDE * columns * 4); /* by two executions */
  }
  free(j);
  /* Not if it is not wanted. */
  j = run_job(&s, CUTT_DIST_DIRECT_NEVER, -1, 0);
  for (int i = 0; i < RANKS; i++) {
    assert_int_equal(j->created[i] + j->executed[i] + j->again[i], 0);
    assert_int_equal(s.ends[i].offered, 2 * SIDE * (SIDE / RANKS + (i < SIDE % RANKS)) * 4);
  }
  free(j);
  for (uint64_t seed = 0; seed < (uint64_t)test_scaled(100); seed++) {
    dist_case c;
    char failure[FAILURE_BYTES];
    dist_case_make(&c, seed, RANKS);
    c.side[1].strided = false;
    c.options.direct = CUTT_DIST_DIRECT_ALWAYS;
    dist_case_try(&c, s.comms, failure, NULL);
    if (failure[0]) fail_msg("%s", failure);
  }
  close_setting(&s);
}

/* Executions are direct if all ranks' outputs can be reached, and send messages if one can't: the first time rank 3's can't. */
static void outputs_of_some_memory(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, RANKS);
  s.ends[3].fails_at = OFFER;
  s.ends[3].countdown = 1;
  job *j = run_job(&s, CUTT_DIST_DIRECT_BY_COST, -1, 0);
  for (int i = 0; i < RANKS; i++) {
    const int64_t bytes = SIDE * (SIDE / RANKS + (i < SIDE % RANKS)) * 4;
    if (j->created[i] || j->executed[i] || j->again[i]) fail_msg("rank %d: %s", i, j->text[i]);
    assert_false(j->wrong[i]);
    assert_int_equal(s.ends[i].offered, i == 3 ? bytes : 2 * bytes);
    assert_int_equal(s.ends[i].sent, j->sent_at_first[i]); /* nothing in the second execution */
    assert_true(s.ends[i].sent > 0);
    assert_int_equal(j->in_execution[i], 0);
  }
  free(j);
  /* What fails then fails as in a plan that is always direct. */
  s.ends[1].fails_at = REACH;
  s.ends[1].countdown = 3;
  j = run_job(&s, CUTT_DIST_DIRECT_BY_COST, -1, 0);
  assert_all_fail(j, "rank 1: the transport faulty does not reach the output of rank 4");
  for (int i = 0; i < RANKS; i++) assert_int_equal(j->again[i], CUTT_SUCCESS);
  free(j);
  for (uint64_t seed = 0; seed < (uint64_t)test_scaled(100); seed++) {
    dist_case c;
    char failure[FAILURE_BYTES];
    dist_case_make(&c, seed, RANKS);
    c.options.direct = CUTT_DIST_DIRECT_BY_COST;
    dist_case_try(&c, s.comms, failure, NULL);
    if (failure[0]) fail_msg("%s", failure);
  }
  close_setting(&s);
}

/* Nothing has been done if an output is where others can't reach it; who does not find one has failed. */
static void outputs_that_are_not_reached(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, RANKS);
  s.ends[2].fails_at = OFFER;
  s.ends[2].countdown = 1;
  job *j = run_job(&s, CUTT_DIST_DIRECT_ALWAYS, -1, 0);
  assert_all_fail(j, "rank 2: out is 0x");
  assert_all_fail(j, "it lies beside the window");
  assert_all_fail(j, "CUTT_DIST_DIRECT_NEVER");
  for (int i = 0; i < RANKS; i++) {
    assert_int_equal(j->executed[i], CUTT_INVALID_PARAMETER);
    assert_int_equal(j->again[i], CUTT_SUCCESS);
    assert_false(j->wrong[i]);
  }
  free(j);
  s.ends[1].fails_at = REACH;
  s.ends[1].countdown = 3;
  j = run_job(&s, CUTT_DIST_DIRECT_ALWAYS, -1, 0);
  assert_all_fail(j, "rank 1: the transport faulty does not reach the output of rank 4");
  for (int i = 0; i < RANKS; i++) {
    assert_int_equal(j->executed[i], CUTT_INTERNAL_ERROR);
    assert_int_equal(j->again[i], CUTT_SUCCESS);
    assert_false(j->wrong[i]);
  }
  free(j);
  close_setting(&s);

  cuttDistTransport_t t;
  cuttDistComm_t comm = NULL, half = NULL;
  assert_success(cuttDistCommThreads(1, &comm));
  assert_success(cuttDistCommTransport(comm, &t));
  t.reach = faulty_reach;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommCreate(&half, &t), "transport->offer is NULL and transport->reach");
  assert_success(cuttDistCommDestroy(comm));
}

/* Every allocation of one rank in turn: all ranks get that rank's error, and the communicator can be used again. */
static void memory_runs_out_on_one_rank(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, RANKS);
  job *j = run_job(&s, CUTT_DIST_DIRECT_NEVER, -1, 0);
  const long most = j->allocations[3];
  free(j);
  assert_true(most > 10);
  const long step = test_scale() < 0.2 ? 3 : 1;
  for (long at = 1; at <= most; at += step) {
    j = run_job(&s, CUTT_DIST_DIRECT_NEVER, 3, at);
    if (j->created[0]) assert_all_fail(j, "rank 3: ");
    if (j->created[0]) assert_all_fail(j, "memory");
    for (int i = 0; i < RANKS && !j->created[0]; i++) {
      assert_int_equal(j->created[i] + j->executed[i] + j->again[i], 0);
      assert_false(j->wrong[i]);
    }
    free(j);
  }
  close_setting(&s);
}

static void executions_allocate_nothing(void **unused) {
  (void)unused;
  for (int direct = 0; direct < 2; direct++) {
    setting s;
    memset(&s, 0, sizeof s);
    s.size = RANKS;
    assert_success(cuttDistCommThreads(RANKS, s.comms));
    job *j = run_job(&s, direct ? CUTT_DIST_DIRECT_ALWAYS : CUTT_DIST_DIRECT_NEVER, -1, 0);
    for (int i = 0; i < RANKS; i++) {
      assert_int_equal(j->created[i] + j->executed[i] + j->again[i], 0);
      assert_int_equal(j->in_execution[i], 0);
      assert_false(j->wrong[i]);
      assert_success(cuttDistCommDestroy(s.comms[i]));
    }
    free(j);
  }
}

/* Rank 1 executes while the others plan. */
static void stray(void *what, int rank) {
  job *j = what;
  static const int64_t extents[1] = {10};
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistPlan_t plan = NULL, other = NULL;
  const int parts[1] = {j->s->size};
  int32_t in[10] = {0}, out[10];
  layout.modes = 1;
  layout.extents = extents;
  layout.parts = parts;
  problem.type = CUTT_I32;
  problem.from = problem.to = &layout;
  j->created[rank] = cuttDistPlanCreate(&plan, j->s->comms[rank], &problem, NULL);
  j->executed[rank] = rank == 1 ? cuttDistPlanExecute(plan, in, out, NULL)
                                : cuttDistPlanCreate(&other, j->s->comms[rank], &problem, NULL);
  snprintf(j->text[rank], sizeof j->text[rank], "%s", cuttLastError());
  cuttDistPlanDestroy(plan);
  cuttDistPlanDestroy(other);
}

static void ranks_in_different_calls(void **unused) {
  (void)unused;
  setting s;
  open_setting(&s, RANKS);
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  j->s = &s;
  ranks_run(RANKS, stray, j);
  for (int i = 0; i < RANKS; i++) {
    assert_int_equal(j->created[i], CUTT_SUCCESS);
    assert_int_equal(j->executed[i], CUTT_INTERNAL_ERROR);
    assert_non_null(strstr(j->text[i], "another collective call"));
  }
  free(j);
  close_setting(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_that_fail),
      cmocka_unit_test(late_and_reordered),
      cmocka_unit_test(messages_of_limited_length),
      cmocka_unit_test(creations_agree_once),
      cmocka_unit_test(outputs_are_offered),
      cmocka_unit_test(outputs_of_some_memory),
      cmocka_unit_test(outputs_that_are_not_reached),
      cmocka_unit_test(memory_runs_out_on_one_rank),
      cmocka_unit_test(executions_allocate_nothing),
      cmocka_unit_test(ranks_in_different_calls),
  };
  return cmocka_run_group_tests_name("dist_faults", tests, NULL, NULL);
}
