/* Plans for more ranks than there are: a transport that stands for all the others, since every rank derives its part of a plan from
 * what all know. Holds messages and bytes to the lower bound, what ranks send to what they receive, and the sizes of plans.
 * test_dist_scale --table: what docs/dist.md has. */
#include <stdio.h>
#include <string.h>

#include "ranks.h"

static int size;

static int never_send(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)data, (void)peer, (void)bytes, (void)count, (void)request;
  return 1;
}

static int never_receive(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request) {
  (void)data, (void)peer, (void)bytes, (void)count, (void)request;
  return 1;
}

static int never_wait(void *data, cuttDistRequest_t *request) {
  (void)data, (void)request;
  return 1;
}

/* All ranks say what this one does. */
static int echo(void *data, const void *mine, int64_t count, void *all) {
  (void)data;
  for (int i = 0; i < size; i++) memcpy((char *)all + i * count, mine, (size_t)count);
  return 0;
}

static void no_fail(void *data, const char *text) { (void)data, (void)text; }

static const char *no_failure(void *data, int *rank) {
  (void)data;
  *rank = -1;
  return NULL;
}

static cuttDistComm_t comm_of(int ranks, int rank) {
  const cuttDistTransport_t transport = {.struct_size = sizeof transport,
                                         .name = "imagined",
                                         .rank = rank,
                                         .size = ranks,
                                         .send = never_send,
                                         .receive = never_receive,
                                         .wait = never_wait,
                                         .allgather = echo,
                                         .fail = no_fail,
                                         .failure = no_failure};
  cuttDistComm_t comm = NULL;
  size = ranks;
  assert_success(cuttDistCommCreate(&comm, &transport));
  return comm;
}

/* A tensor of 4 TB on a grid of 16 x 16 x 16, or of 4 x 4 x 4. */
enum { SIDE = 16, RANKS = SIDE * SIDE * SIDE, FEW_SIDE = 4 };
static const int64_t extents[3] = {8000, 7999, 8001};
static const int perms[2][3] = {{0, 1, 2}, {2, 0, 1}};

/* Grids of side^3 ranks. */
typedef enum grid { CUBES, PENCILS, OTHER_PENCILS, SLABS } grid;

static void parts_of(grid g, int side, int parts[3]) {
  const int all = side * side * side, root = side == SIDE ? 64 : 8; /* of all */
  const int made[4][3] = {{side, side, side}, {1, root, root}, {root, 1, root}, {1, 1, all}};
  memcpy(parts, made[g], sizeof made[g]);
}

typedef struct row {
  const char *name;
  grid from, to;
  int64_t from_block, to_block;
  int perm;
} row;

static const row rows[] = {
    {"cubes to cubes, permuted", CUBES, CUBES, 0, 0, 1},
    {"pencils to pencils", PENCILS, OTHER_PENCILS, 0, 0, 0},
    {"pencils to pencils, permuted", PENCILS, PENCILS, 0, 0, 1},
    {"cyclic (16) to cubes", CUBES, CUBES, 16, 0, 0},
    {"cyclic (16) to cyclic (24)", CUBES, CUBES, 16, 24, 0},
    {"slabs to slabs, permuted", SLABS, SLABS, 0, 0, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct totals {
  double sent, kept, most_sent, most_pieces, seconds;
} totals;

static void plan_one(const row *r, int side, int rank, bool limited, totals *t) {
  const int64_t from_blocks[3] = {r->from_block, r->from_block, r->from_block};
  const int64_t to_blocks[3] = {r->to_block, r->to_block, r->to_block};
  int64_t to_extents[3], count = 0;
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  cuttDistPlanInfo_t info = {.struct_size = sizeof info};
  cuttDistComm_t comm = comm_of(side * side * side, rank);
  int from_parts[3], to_parts[3];
  parts_of(r->from, side, from_parts);
  parts_of(r->to, side, to_parts);
  for (int i = 0; i < 3; i++) to_extents[i] = extents[perms[r->perm][i]];
  from.modes = to.modes = 3;
  from.extents = extents;
  to.extents = to_extents;
  from.parts = from_parts;
  to.parts = to_parts;
  from.blocks = from_blocks;
  to.blocks = to_blocks;
  problem.type = CUTT_F64;
  problem.from = &from;
  problem.to = &to;
  problem.perm = perms[r->perm];
  options.threads = 1;
  options.permute = CUTT_DIST_UNPACK;
  if (limited) options.workspace_limit = 1 << 20;
  assert_success(cuttDistPlanCreate(&plan, comm, &problem, &options));
  assert_success(cuttDistPlanGetInfo(plan, &info));
  assert_success(cuttDistLocalCount(&from, rank, &count));
  assert_int_equal(info.bytes_kept + info.bytes_sent, 8 * count);
  assert_success(cuttDistLocalCount(&to, rank, &count));
  assert_int_equal(info.bytes_kept + info.bytes_received, 8 * count);
  assert_true(!limited || info.workspace_bytes <= options.workspace_limit);
  assert_success(cuttDistPlanDestroy(plan));
  assert_success(cuttDistCommDestroy(comm));
  const double sent = (double)info.bytes_sent, pieces = (double)info.pieces_sent;
  t->sent += sent;
  t->kept += (double)info.bytes_kept;
  if (sent > t->most_sent) t->most_sent = sent;
  if (pieces > t->most_pieces) t->most_pieces = pieces;
  t->seconds += info.create_seconds;
}

static void many_ranks(void **unused) {
  (void)unused;
  for (int i = 0; i < ROWS; i++) {
    totals t;
    memset(&t, 0, sizeof t);
    for (int rank = i; rank < RANKS; rank += 977) plan_one(&rows[i], SIDE, rank, true, &t);
    assert_true(t.most_sent < 1.3 * 8 * 8000.0 * 7999 * 8001 / RANKS);
  }
}

/* Every rank of 64, or every 13th of 4096. */
static void table(int side) {
  const int all = side * side * side;
  printf("%d ranks\n", all);
  printf("| from, to | GB a rank sends | lower bound | most, to the mean | messages a rank, most | ms to plan |\n");
  for (int i = 0; i < ROWS; i++) {
    totals t;
    int ranks = 0;
    memset(&t, 0, sizeof t);
    for (int rank = 0; rank < all; rank += side == SIDE ? 13 : 1, ranks++) plan_one(&rows[i], side, rank, false, &t);
    /* What a rank has to have afterwards, but for what it has before: its mean share, less what is kept. */
    const double bound = 8 * 8000.0 * 7999 * 8001 / all - t.kept / ranks;
    printf("| %s | %.3f | %.3f | %.3f | %.0f | %.2f |\n", rows[i].name, 1e-9 * t.sent / ranks, 1e-9 * bound,
           t.most_sent / (t.sent / ranks), t.most_pieces, 1e3 * t.seconds / ranks);
  }
}

static void show_table(void **unused) {
  (void)unused;
  table(FEW_SIDE);
  table(SIDE);
}

int main(int count, char **arguments) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many_ranks)};
  const struct CMUnitTest shown[] = {cmocka_unit_test(show_table)};
  if (count > 1 && !strcmp(arguments[1], "--table"))
    return cmocka_run_group_tests_name("dist_scale", shown, NULL, NULL);
  return cmocka_run_group_tests_name("dist_scale", tests, NULL, NULL);
}
