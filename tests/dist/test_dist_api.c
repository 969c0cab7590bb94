/* Layouts, their queries, and what calls refuse: each error names its field, and ranks that differ all get the same text. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "dist/part.h"
#include "ranks.h"

/* ------------------------------------------------------------------------------------------------------------- parts */

static const cutt_part odd_parts[] = {{10, 0, 3}, {10, 0, 1}, {3, 0, 5},  {0, 0, 4},   {23, 4, 3}, {24, 4, 3},
                                      {25, 4, 3}, {7, 7, 2},  {40, 3, 2}, {100, 1, 7}, {1, 1, 2},  {97, 10, 3}};
enum { ODD_PARTS = sizeof odd_parts / sizeof *odd_parts };

/* Every index has one part, and counts and both ways agree. */
static void parts_cover_a_mode(void **unused) {
  (void)unused;
  for (int i = 0; i < ODD_PARTS; i++) {
    const cutt_part *part = &odd_parts[i];
    int64_t sum = 0;
    for (int at = 0; at < part->parts; at++) {
      const int64_t count = cutt_part_count(part, at);
      for (int64_t local = 0; local < count; local++) {
        int64_t back = -1;
        const int64_t global = cutt_part_global(part, at, local);
        assert_in_range(global, 0, part->extent - 1);
        assert_int_equal(cutt_part_find(part, global, &back), at);
        assert_int_equal(back, local);
        if (local > 0) assert_true(global > cutt_part_global(part, at, local - 1));
      }
      sum += count;
    }
    assert_int_equal(sum, part->extent);
  }
  assert_int_equal(cutt_part_count(&odd_parts[0], 0), 4); /* near-even: the first parts take what is left over */
  assert_int_equal(cutt_part_count(&odd_parts[0], 2), 3);
}

/* Marks the indices of a set by their place in the output's part. */
static void mark(const cutt_set *s, const cutt_part *from, int from_at, const cutt_part *to, int to_at, int *marks) {
  for (int64_t k = 0; k < s->extent[2]; k++)
    for (int64_t j = 0; j < s->extent[1]; j++)
      for (int64_t i = 0; i < s->extent[0]; i++) {
        const int64_t index[3] = {i, j, k};
        int64_t local[2] = {s->start[0], s->start[1]};
        for (int side = 0; side < 2; side++)
          for (int l = 0; l < 3; l++) local[side] += index[l] * s->step[side][l];
        assert_int_equal(cutt_part_global(from, from_at, local[0]), cutt_part_global(to, to_at, local[1]));
        marks[cutt_part_global(to, to_at, local[1])]++;
      }
}

static void sets_are_what_parts_share(void **unused) {
  (void)unused;
  test_rng rng = {17};
  for (int n = 0; n < 400; n++) {
    const int64_t extent = test_random_in(&rng, 1, 300);
    cutt_part part[2];
    for (int side = 0; side < 2; side++) {
      part[side] = (cutt_part){extent, 0, (int)test_random_in(&rng, 1, 9)};
      if (part[side].parts > 1 && test_chance(&rng, 70)) part[side].block = test_random_in(&rng, 1, extent);
    }
    int marks[300] = {0};
    for (int a = 0; a < part[0].parts; a++)
      for (int b = 0; b < part[1].parts; b++) {
        cutt_sets sets = {NULL, 0, 0};
        assert_true(cutt_sets_add(&sets, &part[0], a, &part[1], b));
        for (int64_t i = 0; i < sets.count; i++) mark(&sets.set[i], &part[0], a, &part[1], b, marks);
        cutt_sets_free(&sets);
      }
    for (int64_t i = 0; i < extent; i++) assert_int_equal(marks[i], 1);
  }
}

/* Sets are few however long the mode is. */
static void long_modes_take_few_sets(void **unused) {
  (void)unused;
  const int64_t extent = ((int64_t)1 << 50) + 12345;
  const cutt_part even = {extent, 0, 1000}, cyclic = {extent, 64, 16}, other = {extent, 96, 10};
  cutt_sets sets = {NULL, 0, 0};
  assert_true(cutt_sets_add(&sets, &even, 500, &cyclic, 3));
  assert_true(sets.count <= 3);
  assert_true(cutt_sets_add(&sets, &cyclic, 3, &other, 4));
  assert_true(sets.count <= 100);
  cutt_sets_free(&sets);
}

/* ----------------------------------------------------------------------------------------------------------- queries */

static const int64_t extents[2] = {10, 7};
static const int grid[2] = {2, 3}, order[6] = {5, 4, 3, 2, 1, 7};
static const int64_t blocks[2] = {0, 2};

static cuttDistLayout_t some_layout(void) {
  cuttDistLayout_t layout = CUTT_DIST_LAYOUT_INIT;
  layout.modes = 2;
  layout.extents = extents;
  layout.parts = grid;
  layout.blocks = blocks;
  layout.ranks = order;
  return layout;
}

static void queries(void **unused) {
  (void)unused;
  const cuttDistLayout_t layout = some_layout();
  int64_t own[2], count = 0, sum = 0, local[2], global[2];
  int rank = -1;
  assert_success(cuttDistLayoutCheck(&layout, 8));
  for (int r = 0; r < 9; r++) {
    assert_success(cuttDistLocalCount(&layout, r, &count));
    assert_success(cuttDistLocalExtents(&layout, r, own));
    assert_int_equal(own[0] * own[1], count);
    sum += count;
  }
  assert_int_equal(sum, 70);
  assert_success(cuttDistLocalExtents(&layout, 6, own)); /* which is not listed */
  assert_int_equal(own[0], 0);
  /* Mode 0: indices 5 to 9 are part 1. Mode 1: blocks {0,1} {2,3} {4,5} {6}: index 6 is part 0, its third. */
  assert_success(cuttDistFind(&layout, (const int64_t[]){8, 6}, 0, &rank, local));
  assert_int_equal(rank, order[1]);
  assert_int_equal(local[0], 3);
  assert_int_equal(local[1], 2);
  assert_success(cuttDistGlobal(&layout, rank, local, global));
  assert_int_equal(global[0], 8);
  assert_int_equal(global[1], 6);
  cuttDistLayout_t copied = some_layout();
  copied.parts = NULL;
  copied.copies = 3;
  assert_success(cuttDistFind(&copied, (const int64_t[]){8, 6}, 2, &rank, NULL));
  assert_int_equal(rank, order[2]);
}

static void layouts_are_refused_by_name(void **unused) {
  (void)unused;
  cuttDistLayout_t l = some_layout();
  int64_t out[2];
  int rank = 0;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLayoutCheck(NULL, 8), "layout is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLayoutCheck(&l, 5), "6 ranks", "there are 5");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLayoutCheck(&l, 7), "layout->ranks[5] is 7");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLayoutCheck(&l, 0), "size is 0");
  l.ranks = (const int[]){0, 1, 2, 3, 1, 4};
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLayoutCheck(&l, 8), "layout->ranks[4] is 1", "twice");
  l.ranks = (const int[]){0, 1, -2, 3, 1, 4};
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->ranks[2] is -2");
  l = some_layout();
  l.modes = 65;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->modes is 65", "0 to 64");
  l = some_layout();
  l.extents = NULL;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->extents is NULL");
  l = some_layout();
  l.extents = (const int64_t[]){4, -1};
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->extents[1] is -1");
  l.extents = (const int64_t[]){(int64_t)1 << 40, (int64_t)1 << 20};
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->extents[1]", "2^58");
  l = some_layout();
  l.parts = (const int[]){2, 0};
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->parts[1] is 0");
  l.parts = (const int[]){1 << 20, 1 << 20};
  l.ranks = NULL;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->parts[1]", "2^31");
  l = some_layout();
  l.blocks = (const int64_t[]){-3, 0};
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->blocks[0] is -3");
  l = some_layout();
  l.copies = -1;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->copies is -1");
  l = some_layout();
  l.struct_size = 3;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, out), "layout->struct_size is 3");
  l = some_layout();
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, -1, out), "rank is -1");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalCount(&l, 0, NULL), "count is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistLocalExtents(&l, 0, NULL), "extents is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistFind(&l, out, 1, &rank, out), "copy is 1");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistFind(&l, (const int64_t[]){0, 7}, 0, &rank, out), "global[1] is 7");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistFind(&l, out, 0, NULL, out), "rank is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistGlobal(&l, 0, out, out), "rank is 0", "no part");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistGlobal(&l, 5, (const int64_t[]){5, 0}, out), "local[0] is 5");
}

/* ---------------------------------------------------------------------------------------------------- plans that disagree */

enum { RANKS = 4, KINDS = 18 };

/* A call that is right but for one thing on rank 2. */
typedef struct fault {
  cuttDistComm_t comms[RANKS];
  int kind;
  cuttResult result[RANKS];
  char text[RANKS][300];
} fault;

typedef struct wanted {
  cuttResult result;
  const char *text;
} wanted;

static const wanted faults[KINDS] = {
    {CUTT_SUCCESS, ""},
    {CUTT_INVALID_PARAMETER, "rank 2 has other problem->from than rank 0"},
    {CUTT_INVALID_PARAMETER, "rank 2 has other problem->to than rank 0"},
    {CUTT_INVALID_PARAMETER, "rank 2 has other problem->perm than rank 0"},
    {CUTT_INVALID_PARAMETER, "rank 2 has other problem->type, alpha"},
    {CUTT_INVALID_PARAMETER, "rank 2 has other options than rank 0"},
    {CUTT_INVALID_PARAMETER, "rank 2: problem->from is NULL"},
    {CUTT_INVALID_PARAMETER, "rank 2: problem->to->parts[0] is 0"},
    {CUTT_INVALID_PARAMETER, "rank 2: perm[1] is 0, which is there twice"},
    {CUTT_INVALID_PARAMETER, "rank 2: to->extents[0] is 7 and from->extents[0]"},
    {CUTT_INVALID_PARAMETER, "rank 2: options->workspace_limit is 255"},
    {CUTT_INVALID_PARAMETER, "rank 2: options->piece_bytes is 15"},
    {CUTT_INVALID_PARAMETER, "rank 2: options->permute is 3"},
    {CUTT_INVALID_PARAMETER, "rank 2: problem->to->strides, for this rank's part: out_strides"},
    {CUTT_INVALID_PARAMETER, "rank 2: options->direct is CUTT_DIST_DIRECT_ALWAYS, which can't be"},
    {CUTT_INVALID_PARAMETER, "rank 2: problem is NULL"},
    {CUTT_INVALID_PARAMETER, "rank 2: plan is NULL"},
    {CUTT_INVALID_PARAMETER, "rank 2: type is 77"},
};

static void create_wrongly(void *what, int rank) {
  fault *f = what;
  const int kind = rank == 2 ? f->kind : 0;
  static const int64_t swapped[2] = {7, 10}, same_strides[2] = {1, 1}, wide_strides[2] = {1, 100};
  static const int parts[2] = {2, 2}, other_parts[2] = {4, 1}, no_parts[2] = {0, 1}, swap[2] = {1, 0},
                   twice[2] = {0, 0};
  static const int other_ranks[4] = {0, 2, 1, 3}, identity[2] = {0, 1};
  static const int64_t square[2] = {8, 8};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  from.modes = to.modes = 2;
  from.extents = extents;
  to.extents = swapped;
  if (f->kind == 3) from.extents = to.extents = square;
  from.parts = to.parts = parts;
  problem.type = CUTT_F32;
  problem.from = &from;
  problem.to = &to;
  problem.perm = swap;
  options.threads = 1;
  if (f->kind == 14) options.direct = CUTT_DIST_DIRECT_ALWAYS;
  const float two = 2;
  switch (kind) {
    case 1:
      from.ranks = other_ranks;
      break;
    case 2:
      to.parts = other_parts;
      break;
    case 3:
      problem.perm = identity;
      break;
    case 4:
      problem.alpha = &two;
      break;
    case 5:
      options.piece_bytes = 1000;
      break;
    case 6:
      problem.from = NULL;
      break;
    case 7:
      to.parts = no_parts;
      break;
    case 8:
      problem.perm = twice;
      break;
    case 9:
      problem.perm = NULL;
      break;
    case 10:
      options.workspace_limit = 255;
      break;
    case 11:
      options.piece_bytes = 15;
      break;
    case 12:
      options.permute = (cuttDistPermute_t)3;
      break;
    case 13:
    case 14:
      to.strides = same_strides;
      break;
    case 17:
      problem.type = (cuttType_t)77;
      break;
    default:
      break;
  }
  if (kind == 14) to.strides = wide_strides;
  f->result[rank] =
      cuttDistPlanCreate(kind == 16 ? NULL : &plan, f->comms[rank], kind == 15 ? NULL : &problem, &options);
  snprintf(f->text[rank], sizeof f->text[rank], "%s", f->result[rank] ? cuttLastError() : "");
  if (f->result[rank] && plan) snprintf(f->text[rank], sizeof f->text[rank], "a plan beside an error");
  if (cuttDistPlanDestroy(plan) != CUTT_SUCCESS) snprintf(f->text[rank], sizeof f->text[rank], "not destroyed");
}

static void all_ranks_get_the_same_error(void **unused) {
  (void)unused;
  fault f;
  assert_success(cuttDistCommThreads(RANKS, f.comms));
  /* One after the other on the same communicator, which stays usable. */
  for (int round = 0; round < 2; round++)
    for (f.kind = 0; f.kind < KINDS; f.kind++) {
      ranks_run(RANKS, create_wrongly, &f);
      for (int i = 0; i < RANKS; i++) {
        if (f.result[i] != faults[f.kind].result || !strstr(f.text[i], faults[f.kind].text))
          fail_msg("kind %d, rank %d: %s \"%s\", wanted \"%s\"", f.kind, i, cuttResultName(f.result[i]), f.text[i],
                   faults[f.kind].text);
        assert_string_equal(f.text[i], f.text[0]);
      }
    }
  for (int i = 0; i < RANKS; i++) assert_success(cuttDistCommDestroy(f.comms[i]));
}

/* --------------------------------------------------------------------------------------------------- executions, text */

typedef struct execution {
  cuttDistComm_t comms[RANKS];
  char failure[RANKS][300];
} execution;

static bool says(cuttResult wanted_result, cuttResult result, const char *text, char *failure) {
  if (result == wanted_result && (!result || strstr(cuttLastError(), text))) return true;
  snprintf(failure, 300, "%s \"%.200s\", wanted \"%s\"", cuttResultName(result), cuttLastError(), text);
  return false;
}

static void check_descriptions(cuttDistPlan_t plan, int rank, char *failure) {
  char text[4000], short_text[10];
  size_t needed = 0, again = 0;
  cuttDistPlanInfo_t info = {.struct_size = 7};
  if (cuttDistPlanGetInfo(plan, &info) != CUTT_INVALID_PARAMETER) strcpy(failure, "struct_size is 7");
  if (cuttDistPlanDescribe(plan, CUTT_TEXT, text, sizeof text, &needed) || needed != strlen(text) + 1 ||
      !strstr(text, "10 in 2 parts x 7 in 2 parts") || !strstr(text, "permutation   1 0") || !strstr(text, "workspace"))
    snprintf(failure, 300, "described: %.250s", text);
  if (cuttDistPlanDescribe(plan, CUTT_TEXT, short_text, sizeof short_text, &again) || again != needed)
    strcpy(failure, "a short buffer");
  if (cuttDistPlanDescribe(plan, (cuttFormat_t)5, text, sizeof text, NULL) != CUTT_INVALID_PARAMETER)
    strcpy(failure, "format 5");
  if (cuttDistPlanDescribe(plan, CUTT_JSON, text, sizeof text, NULL)) strcpy(failure, "no JSON");
  json_t *json = json_loads(text, 0, NULL);
  json_t *sent = json_object_get(json, "sent_by_rank");
  info.struct_size = sizeof info;
  cuttDistPlanGetInfo(plan, &info);
  if (!json || json_array_size(sent) != RANKS ||
      json_integer_value(json_array_get(sent, (size_t)rank)) != info.bytes_sent)
    snprintf(failure, 300, "JSON: %.250s", text);
  json_decref(json);
}

static void execute_wrongly(void *what, int rank) {
  execution *e = what;
  char *failure = e->failure[rank];
  static const int64_t swapped[2] = {7, 10};
  static const int parts[2] = {2, 2}, swap[2] = {1, 0};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  cuttDistProblem_t problem = CUTT_DIST_PROBLEM_INIT;
  cuttDistOptions_t options = CUTT_DIST_OPTIONS_INIT;
  cuttDistPlan_t plan = NULL;
  float in[70], out[70];
  for (int i = 0; i < 70; i++) in[i] = (float)(i + 100 * rank), out[i] = -1;
  from.modes = to.modes = 2;
  from.extents = extents;
  to.extents = swapped;
  from.parts = to.parts = parts;
  problem.type = CUTT_F32;
  problem.from = &from;
  problem.to = &to;
  problem.perm = swap;
  options.direct = CUTT_DIST_DIRECT_NEVER;
  says(CUTT_INVALID_PARAMETER,
       rank == 1 ? cuttDistRefuse(e->comms[rank], NULL, "no list")
                 : cuttDistPlanCreate(&plan, e->comms[rank], &problem, &options),
       "rank 1: no list", failure);
  if (!says(CUTT_SUCCESS, cuttDistPlanCreate(&plan, e->comms[rank], &problem, &options), "", failure)) return;
  check_descriptions(plan, rank, failure);
  says(CUTT_INVALID_PARAMETER, cuttDistPlanExecute(plan, rank == 1 ? NULL : in, out, NULL), "rank 1: in is NULL",
       failure);
  says(CUTT_INVALID_PARAMETER, cuttDistPlanExecute(plan, in, rank == 3 ? NULL : out, NULL), "rank 3: out is NULL",
       failure);
  says(CUTT_INVALID_PARAMETER, cuttDistPlanExecute(plan, in, rank == 2 ? in + 10 : out, NULL), "overlap", failure);
  says(CUTT_INVALID_PARAMETER, cuttDistPlanExecute(plan, in, out, rank == 0 ? (cudaStream_t)(void *)in : NULL),
       "rank 0: stream is", failure);
  says(CUTT_INVALID_PARAMETER,
       rank == 3 ? cuttDistRefuse(e->comms[rank], plan, NULL) : cuttDistPlanExecute(plan, in, out, NULL),
       "rank 3: the call was refused, and no text was given", failure);
  says(CUTT_INVALID_PLAN, cuttDistRefuse(NULL, NULL, "no communicator"), "comm is", failure);
  if (out[0] >= 0) strcpy(failure, "something was written all the same");
  says(CUTT_SUCCESS, cuttDistPlanExecute(plan, in, out, NULL), "", failure);
  if (out[0] < 0) strcpy(failure, "nothing was written");
  says(CUTT_SUCCESS, cuttDistPlanDestroy(plan), "", failure);
  says(CUTT_INVALID_PLAN, cuttDistPlanExecute(NULL, in, out, NULL), "plan is", failure);
}

static void executions_are_refused_on_all_ranks(void **unused) {
  (void)unused;
  execution e = {.failure = {{0}}};
  assert_success(cuttDistCommThreads(RANKS, e.comms));
  ranks_run(RANKS, execute_wrongly, &e);
  for (int i = 0; i < RANKS; i++) {
    if (e.failure[i][0]) fail_msg("rank %d: %s", i, e.failure[i]);
    assert_success(cuttDistCommDestroy(e.comms[i]));
  }
}

static void communicators_are_refused_by_name(void **unused) {
  (void)unused;
  cuttDistComm_t comm = NULL, made = NULL;
  cuttDistTransport_t transport;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommThreads(0, &comm), "size is 0");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommThreads(4097, &comm), "size is 4097");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommThreads(2, NULL), "comms is NULL");
  assert_success(cuttDistCommThreads(1, &comm));
  assert_success(cuttDistCommTransport(comm, &transport));
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommTransport(comm, NULL), "transport is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommCreate(NULL, &transport), "comm is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommCreate(&made, NULL), "transport is NULL");
  transport.rank = 1;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommCreate(&made, &transport), "transport->rank is 1");
  transport.rank = 0;
  transport.most_bytes = 3;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommCreate(&made, &transport), "transport->most_bytes is 3");
  transport.most_bytes = 0;
  transport.wait = NULL;
  assert_result(CUTT_INVALID_PARAMETER, cuttDistCommCreate(&made, &transport), "transport->wait is NULL");
  assert_success(cuttDistCommDestroy(comm));
  assert_success(cuttDistCommDestroy(NULL));
  assert_success(cuttDistPlanDestroy(NULL));
  assert_result(CUTT_INVALID_PLAN, cuttDistCommTransport(NULL, &transport), "comm is");
}

/* ----------------------------------------------------------------------------------------------------------- relabelling */

/* Elements that stay where they are when place i of `to` is rank ranks[i]. */
static int64_t kept(const dist_case *c, const int *ranks) {
  const cuttDistLayout_t from = dist_case_layout(c, 0);
  cuttDistLayout_t to = dist_case_layout(c, 1);
  int64_t sum = 0, local[MOST_MODES], global[MOST_MODES], there[MOST_MODES], count = 0, own[MOST_MODES];
  to.ranks = ranks;
  for (int rank = 0; rank < c->size; rank++) {
    assert_success(cuttDistLocalCount(&from, rank, &count));
    assert_success(cuttDistLocalExtents(&from, rank, own));
    for (int64_t n = 0; n < count; n++) {
      int64_t rest = n;
      for (int i = 0; i < c->modes; i++) {
        local[i] = rest % own[i];
        rest /= own[i];
      }
      assert_success(cuttDistGlobal(&from, rank, local, global));
      for (int i = 0; i < c->modes; i++) there[i] = global[c->perm[i]];
      for (int copy = 0; copy < to.copies; copy++) {
        int owner = -1;
        assert_success(cuttDistFind(&to, there, copy, &owner, NULL));
        sum += owner == rank;
      }
    }
  }
  return sum;
}

/* The most that any order of the ranks keeps, by trying all. */
static int64_t most_kept(const dist_case *c, int *ranks, int fixed) {
  int64_t most = 0;
  if (fixed == c->size) return kept(c, ranks);
  for (int i = fixed; i < c->size; i++) {
    int swap = ranks[fixed];
    ranks[fixed] = ranks[i];
    ranks[i] = swap;
    const int64_t found = most_kept(c, ranks, fixed + 1);
    most = found > most ? found : most;
    swap = ranks[fixed];
    ranks[fixed] = ranks[i];
    ranks[i] = swap;
  }
  return most;
}

static void relabelling_moves_least(void **unused) {
  (void)unused;
  for (uint64_t seed = 0; seed < 40; seed++) {
    dist_case c;
    int ranks[MOST_RANKS], all[MOST_RANKS];
    dist_case_make(&c, seed, 1 + (int)(seed % 5));
    int64_t volume = 1;
    for (int i = 0; i < c.modes; i++) volume *= c.side[0].extents[i];
    if (volume > 300) continue;
    const cuttDistLayout_t from = dist_case_layout(&c, 0), to = dist_case_layout(&c, 1);
    for (int i = 0; i < c.size; i++) all[i] = i;
    assert_success(cuttDistRelabel(&from, &to, c.perm, c.size, ranks));
    assert_int_equal(kept(&c, ranks), most_kept(&c, all, 0));
  }
}

/* A grid that is only turned round keeps everything. */
static void relabelling_follows_a_transpose(void **unused) {
  (void)unused;
  static const int64_t square[2] = {60, 60};
  static const int parts[2] = {3, 4}, turned[2] = {4, 3}, swap[2] = {1, 0};
  cuttDistLayout_t from = CUTT_DIST_LAYOUT_INIT, to = CUTT_DIST_LAYOUT_INIT;
  int ranks[12];
  from.modes = to.modes = 2;
  from.extents = to.extents = square;
  from.parts = parts;
  to.parts = turned;
  assert_success(cuttDistRelabel(&from, &to, swap, 12, ranks));
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 4; b++) assert_int_equal(ranks[b + 4 * a], a + 3 * b);
  assert_result(CUTT_INVALID_PARAMETER, cuttDistRelabel(&from, &to, swap, 11, ranks), "from is for 12 ranks");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistRelabel(&from, &to, swap, 12, NULL), "ranks is NULL");
  assert_result(CUTT_INVALID_PARAMETER, cuttDistRelabel(&from, NULL, swap, 12, ranks), "to is NULL");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_cover_a_mode),
      cmocka_unit_test(sets_are_what_parts_share),
      cmocka_unit_test(long_modes_take_few_sets),
      cmocka_unit_test(queries),
      cmocka_unit_test(layouts_are_refused_by_name),
      cmocka_unit_test(all_ranks_get_the_same_error),
      cmocka_unit_test(executions_are_refused_on_all_ranks),
      cmocka_unit_test(communicators_are_refused_by_name),
      cmocka_unit_test(relabelling_moves_least),
      cmocka_unit_test(relabelling_follows_a_transpose),
  };
  return cmocka_run_group_tests_name("dist_api", tests, NULL, NULL);
}
