/* libFuzzer target for redistributions: bytes are read as two layouts, a permutation, scalars and options, for up to five ranks
 * that are threads. Whatever they say, planning must not crash, no rank may hang, and all ranks must get the same result and
 * text, which says what is wrong. What is accepted is executed, and held to a permutation of the whole tensor; so is a
 * rank's index of an element to where the element is found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dist/ranks.h"
#include "fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZES = 5, VOLUME = 2000, PLACES = 64 };

static void read_side(stream *s, bool wild, const dist_case *c, dist_side *side) {
  side->copies = (int)number(s, wild, 1, 2);
  for (int i = 0; i < c->modes; i++) {
    side->parts[i] = (int)number(s, wild, 1, 3);
    side->blocks[i] = number(s, wild, 0, 4);
  }
  for (int i = 0; i < PLACES; i++) side->ranks[i] = wild && i < 8 ? (int)number(s, true, 0, c->size - 1) : i;
  if (!wild && c->size > 1) { /* turned round by as much as the input says */
    const int by = byte(s) % c->size;
    for (int i = 0; i < c->size; i++) side->ranks[i] = (i + by) % c->size;
  }
  side->strided = byte(s) % 4 == 0;
}

static void read_case(stream *s, bool wild, dist_case *c) {
  static const cuttType_t types[] = {CUTT_BYTES_1, CUTT_BYTES_16, CUTT_F32, CUTT_C64, CUTT_I32, CUTT_F16, CUTT_F64};
  memset(c, 0, sizeof *c);
  c->size = 1 + byte(s) % SIZES;
  c->modes = byte(s) % (MOST_MODES - 1);
  c->type = types[byte(s) % (sizeof types / sizeof *types)];
  c->seed = byte(s);
  for (int i = 0; i < c->modes; i++) {
    c->side[0].extents[i] = number(s, wild, 0, 12);
    c->perm[i] = i;
  }
  for (int i = c->modes - 1; i > 0; i--) {
    const int other = byte(s) % (i + 1), kept = c->perm[i];
    c->perm[i] = c->perm[other];
    c->perm[other] = kept;
  }
  for (int i = 0; i < c->modes; i++) c->side[1].extents[i] = c->side[0].extents[c->perm[i]];
  if (wild && c->modes) {
    c->perm[byte(s) % c->modes] = (int)number(s, true, 0, c->modes - 1);
    c->side[1].extents[byte(s) % c->modes] = number(s, true, 0, 12);
  }
  read_side(s, wild, c, &c->side[0]);
  read_side(s, wild, c, &c->side[1]);
  test_rng rng = {c->seed};
  const uint8_t flags = byte(s);
  if (test_type_computes(c->type)) {
    c->has_alpha = flags & 1;
    c->has_beta = flags & 2;
    c->alpha = test_random_scalar(&rng, c->type);
    c->beta = test_random_scalar(&rng, c->type);
    c->conjugate = test_type_complex(c->type) && flags & 4;
  }
  c->options = (cuttDistOptions_t)CUTT_DIST_OPTIONS_INIT;
  c->options.threads = wild ? (int)number(s, true, 0, 2) : 1;
  c->options.permute = (cuttDistPermute_t)(byte(s) % (wild ? 4 : 3));
  c->options.direct = (cuttDistDirect_t)(byte(s) % (c->side[1].strided && !wild ? 2 : 3));
  c->options.workspace_limit = (size_t)(byte(s) % 2 ? number(s, wild, 256, 511) : 0);
  c->options.piece_bytes = (size_t)(byte(s) % 2 ? number(s, wild, 16, 255) : 0);
}

/* Elements, or -1 if these are more than are executed or no number at all; a plan cut into pieces of 16 bytes could be of any size. */
static int64_t volume_of(const int64_t *extents, int modes) {
  int64_t volume = 1;
  for (int i = 0; i < modes; i++)
    if (extents[i] < 0 || __builtin_mul_overflow(volume, extents[i], &volume) || volume > VOLUME) return -1;
  return volume;
}

/* The grid of a layout, if it has few enough places for its list of ranks to be read. */
static bool few_places(const dist_case *c, int side) {
  int64_t places = c->side[side].copies;
  for (int i = 0; i < c->modes; i++)
    if (__builtin_mul_overflow(places, c->side[side].parts[i], &places)) return true; /* refused before */
  return places <= PLACES;
}

__attribute__((noreturn)) static void die(const dist_case *c, const char *what, const char *text) {
  fprintf(stderr, "%s: %s\n%d ranks, %d modes, type %d\n", what, text, c->size, c->modes, (int)c->type);
  abort();
}

/* Layouts alone: an element that a rank has is found there. */
static bool check_layout(const dist_case *c, int side) {
  const cuttDistLayout_t layout = dist_case_layout(c, side);
  if (cuttDistLayoutCheck(&layout, c->size)) {
    if (!*cuttLastError()) die(c, "a layout is refused without a text", "");
    return false;
  }
  for (int rank = 0; rank < c->size; rank++) {
    int64_t extents[MOST_MODES], global[MOST_MODES], local[MOST_MODES], count = 0;
    int owner = -1;
    bool found = false;
    if (cuttDistLocalExtents(&layout, rank, extents) || cuttDistLocalCount(&layout, rank, &count))
      die(c, "no part", cuttLastError());
    if (count == 0) continue;
    for (int i = 0; i < c->modes; i++) local[i] = extents[i] - 1;
    if (cuttDistGlobal(&layout, rank, local, global)) die(c, "no index", cuttLastError());
    for (int copy = 0; copy < (layout.copies ? layout.copies : 1); copy++) { /* 0 is 1, too */
      if (cuttDistFind(&layout, global, copy, &owner, local)) die(c, "not found", cuttLastError());
      found = found || owner == rank;
    }
    for (int i = 0; i < c->modes; i++) found = found && local[i] == extents[i] - 1;
    if (!found) die(c, "an element is found elsewhere", "");
  }
  return true;
}

typedef struct attempt {
  const dist_case *c;
  cuttDistComm_t comms[SIZES];
  cuttResult result[SIZES];
  char text[SIZES][FAILURE_BYTES];
} attempt;

static void plan_on(void *what, int rank) {
  attempt *a = what;
  const dist_case *c = a->c;
  const cuttDistLayout_t from = dist_case_layout(c, 0), to = dist_case_layout(c, 1);
  const cuttDistProblem_t problem = dist_case_problem(c, &from, &to);
  cuttDistPlan_t plan = NULL;
  a->result[rank] = cuttDistPlanCreate(&plan, a->comms[rank], &problem, &c->options);
  if (a->result[rank]) snprintf(a->text[rank], FAILURE_BYTES, "%s", cuttLastError());
  if (a->result[rank] && plan) snprintf(a->text[rank], FAILURE_BYTES, "rank %d has a plan beside an error", rank);
  cuttDistPlanDestroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  stream s = {data, size};
  const bool wild = byte(&s) & 1;
  static dist_case c;
  static attempt a;
  char failure[FAILURE_BYTES];
  read_case(&s, wild, &c);
  if (!few_places(&c, 0) || !few_places(&c, 1)) return 0;
  const bool from = check_layout(&c, 0), to = check_layout(&c, 1), valid = from && to;
  if (valid && (volume_of(c.side[0].extents, c.modes) < 0 || volume_of(c.side[1].extents, c.modes) < 0)) return 0;
  memset(&a, 0, sizeof a);
  a.c = &c;
  if (cuttDistCommThreads(c.size, a.comms)) die(&c, "no communicators", cuttLastError());
  ranks_run(c.size, plan_on, &a);
  for (int i = 0; i < c.size; i++)
    if (a.result[i] != a.result[0] || strcmp(a.text[i], a.text[0]) != 0 || (a.result[i] && !a.text[i][0]))
      die(&c, "ranks have other results", a.text[i]);
  failure[0] = 0;
  if (!wild && valid && a.result[0]) die(&c, "a plan that should be made", a.text[0]);
  if (!wild && valid) dist_case_try(&c, a.comms, failure, NULL);
  if (failure[0]) die(&c, "wrong", failure);
  for (int i = 0; i < c.size; i++) cuttDistCommDestroy(a.comms[i]);
  return 0;
}
