/* How a permutation of a file is cut; see cut.h. */
#include "cli/pieces/cut.h"

#include <string.h>

#include "cli/pieces/box.h"

enum { IN, OUT };

/* What a stretch and a piece cost beside their bytes, in bytes that a disk moves meanwhile. Measured on a solid-state
 * disk: stretches of 4 to 64 kB are read by eight threads as if each were 16 kB longer; written ones meet in memory, and
 * go to the disk as longer ones. */
static const double stretch_cost[2] = {16e3, 8e3}, piece_cost = 64e3;

/* Boxes are looked for within most_bytes, and in fractions of it down to this: the first piece is read, and the last
 * one written, while nothing else is done. */
enum { LEAST_LIMIT = 1 << 20, LIMIT_STEP = 4 };

/* Stretches whose ends lie on lines of memory are permuted faster. */
enum { ROUND = 64 };

/* An intermediate file is worth it only where it gains this much: it takes room and wear of the disk, and a rate that is
 * limited by the bytes suffers more than one that is limited by the number of requests. */
static const double worth = 1.5;

typedef struct search {
  const cutt_cut_problem *problem;
  int order[2][CUTT_MAX_RANK]; /* the modes from the fastest on, of the input and of the output */
  cutt_cut best;
  int64_t limit; /* elements of a piece */
} search;

cutt_cut_problem cutt_cut_fuse(int rank, int elem_bytes, const int64_t *extents, const int *perm) {
  cutt_cut_problem fused = {.elem_bytes = elem_bytes};
  int place[CUTT_MAX_RANK] = {0}, mode_of[CUTT_MAX_RANK] = {0}, kept[CUTT_MAX_RANK] = {0}, count = 0;
  for (int i = 0; i < rank; ++i)
    if (extents[perm[i]] != 1) place[perm[i]] = count++;
  int last = -1;
  for (int mode = 0; mode < rank; ++mode) {
    if (extents[mode] == 1) continue;
    if (last >= 0 && place[mode] == place[last] + 1) {
      fused.extents[fused.rank - 1] *= extents[mode];
    } else {
      kept[mode] = 1;
      mode_of[mode] = fused.rank;
      fused.extents[fused.rank++] = extents[mode];
    }
    last = mode;
  }
  int out = 0;
  for (int i = 0; i < rank; ++i)
    if (kept[perm[i]]) fused.perm[out++] = mode_of[perm[i]];
  if (fused.rank == 0) fused.extents[fused.rank++] = 1;
  return fused;
}

/* -------------------------------------------------------------------------------------------------------------- cost */

static int64_t run_of(const search *s, int side, const int64_t *box) {
  const cutt_cut_problem *p = s->problem;
  int64_t run = p->elem_bytes;
  for (int i = 0; i < p->rank; ++i) {
    const int mode = s->order[side][i];
    run *= box[mode];
    if (box[mode] != p->extents[mode]) break;
  }
  return run;
}

static int64_t pieces_of(const cutt_cut_problem *p, const int64_t *box) {
  int64_t pieces = 1;
  for (int i = 0; i < p->rank; ++i) pieces *= (p->extents[i] + box[i] - 1) / box[i];
  return pieces;
}

static double volume_bytes(const cutt_cut_problem *p) {
  return (double)cutt_box_volume(p->extents, p->rank) * p->elem_bytes;
}

static double side_cost(const cutt_cut_problem *p, int side, int64_t run) {
  return volume_bytes(p) * (1.0 + stretch_cost[side] / (double)run);
}

/* Fills the pass but for a side's run that is chunks, and returns its cost. */
static double price_pass(const search *s, cutt_cut_pass *pass) {
  const cutt_cut_problem *p = s->problem;
  pass->pieces = pieces_of(p, pass->box);
  pass->piece_bytes = cutt_box_volume(pass->box, p->rank) * p->elem_bytes;
  if (pass->in_run == 0) pass->in_run = run_of(s, IN, pass->box);
  if (pass->out_run == 0) pass->out_run = run_of(s, OUT, pass->box);
  return side_cost(p, IN, pass->in_run) + side_cost(p, OUT, pass->out_run) + 2.0 * (double)pass->piece_bytes +
         (double)pass->pieces * piece_cost;
}

/* ---------------------------------------------------------------------------------------------------------- one pass */

/* As many equal parts of a mode as chunks of `most` make, and none larger. */
static int64_t even(int64_t extent, int64_t most) {
  if (most >= extent) return extent;
  const int64_t parts = (extent + most - 1) / most, part = (extent + parts - 1) / parts;
  const int64_t rounded = (part + ROUND - 1) / ROUND * ROUND;
  return rounded <= most ? rounded : part;
}

/* Takes more of each mode, in the order of one side, while there is room. */
static void grow(const search *s, int side, int64_t *box) {
  const cutt_cut_problem *p = s->problem;
  for (int i = 0; i < p->rank; ++i) {
    const int mode = s->order[side][i];
    const int64_t others = cutt_box_volume(box, p->rank) / box[mode], room = s->limit / others;
    if (room > box[mode]) box[mode] = even(p->extents[mode], room);
  }
}

static void try_box(search *s, const int64_t *box) {
  cutt_cut cut = {.passes = 1};
  memcpy(cut.pass[0].box, box, sizeof cut.pass[0].box);
  grow(s, OUT, cut.pass[0].box);
  cut.cost = price_pass(s, &cut.pass[0]);
  if (s->best.passes == 0 || cut.cost < s->best.cost) s->best = cut;
}

/* The box has whole modes; what is left of the room is shared between mode a of the input and mode b of the output, of
 * which either may be -1. */
static void share_room(search *s, int64_t *box, int a, int b) {
  const cutt_cut_problem *p = s->problem;
  const int64_t room = s->limit / cutt_box_volume(box, p->rank);
  if (a < 0 || a == b) {
    a = b;
    b = -1;
  }
  if (a < 0) {
    try_box(s, box);
    return;
  }
  const int64_t most = p->extents[a] < room ? p->extents[a] : room;
  if (b < 0) {
    box[a] = even(p->extents[a], most);
    try_box(s, box);
  } else {
    for (int64_t part = 1;; part = 2 * part < most ? 2 * part : most) {
      box[a] = part;
      box[b] = even(p->extents[b], room / part);
      try_box(s, box);
      if (part == most) break;
    }
    box[b] = 1;
  }
  box[a] = 1;
}

/* As the tiles of a permutation in memory: the first modes of the input whole, the first of the output whole, and parts
 * of the next of each. */
static void try_one_pass(search *s) {
  const cutt_cut_problem *p = s->problem;
  for (int m = 0; m <= p->rank; ++m) {
    int64_t box[CUTT_MAX_RANK], volume = 1;
    for (int i = 0; i < p->rank; ++i) box[i] = 1;
    for (int i = 0; i < m; ++i) volume *= box[s->order[IN][i]] = p->extents[s->order[IN][i]];
    if (volume > s->limit) break;
    for (int k = 0; volume <= s->limit; ++k) {
      const int a = m < p->rank && box[s->order[IN][m]] == 1 ? s->order[IN][m] : -1;
      const int b = k < p->rank && box[s->order[OUT][k]] == 1 ? s->order[OUT][k] : -1;
      share_room(s, box, a, b);
      if (k == p->rank) break;
      if (b >= 0) volume *= box[b] = p->extents[b];
    }
  }
}

/* -------------------------------------------------------------------------------------------------------- two passes */

/* A box with stretches of `bytes` on one side, or somewhat less, and as much along the other as there is room for. */
static void long_box(const search *s, int side, int64_t bytes, int64_t *box) {
  const cutt_cut_problem *p = s->problem;
  int64_t room = bytes / p->elem_bytes;
  for (int i = 0; i < p->rank; ++i) box[i] = 1;
  for (int i = 0; i < p->rank && room > 1; ++i) {
    const int mode = s->order[side][i];
    box[mode] = p->extents[mode] < room ? p->extents[mode] : room;
    room /= box[mode];
  }
  grow(s, side == IN ? OUT : IN, box);
}

/* The two boxes meet in chunks; each is made of whole ones. */
static void try_pair(search *s, const int64_t *first, const int64_t *second) {
  const cutt_cut_problem *p = s->problem;
  cutt_cut cut = {.passes = 2};
  for (int i = 0; i < p->rank; ++i) {
    int64_t a = first[i], b = second[i];
    if (a < b && b < p->extents[i]) b = b / a * a;
    if (b < a && a < p->extents[i]) a = a / b * b;
    cut.pass[0].box[i] = a;
    cut.pass[1].box[i] = b;
    cut.chunk[i] = a < b ? a : b;
  }
  cut.pass[0].out_run = cut.pass[1].in_run = cutt_box_volume(cut.chunk, p->rank) * p->elem_bytes;
  cut.cost = worth * (price_pass(s, &cut.pass[0]) + price_pass(s, &cut.pass[1]));
  if (cut.cost < s->best.cost) s->best = cut;
}

static void try_two_passes(search *s) {
  const cutt_cut_problem *p = s->problem;
  const int64_t most = s->limit * p->elem_bytes;
  for (int64_t a = p->elem_bytes;; a = 4 * a < most ? 4 * a : most) {
    int64_t first[CUTT_MAX_RANK] = {0}, second[CUTT_MAX_RANK] = {0};
    long_box(s, IN, a, first);
    for (int64_t b = p->elem_bytes;; b = 4 * b < most ? 4 * b : most) {
      long_box(s, OUT, b, second);
      try_pair(s, first, second);
      if (b == most) break;
    }
    if (a == most) break;
  }
}

cutt_cut cutt_cut_find(const cutt_cut_problem *problem, int64_t most_bytes, int passes) {
  search s = {.problem = problem};
  for (int i = 0; i < problem->rank; ++i) {
    s.order[IN][i] = i;
    s.order[OUT][i] = problem->perm[i];
  }
  const int64_t all = cutt_box_volume(problem->extents, problem->rank);
  for (int64_t bytes = most_bytes;; bytes /= LIMIT_STEP) {
    s.limit = bytes / problem->elem_bytes < all ? bytes / problem->elem_bytes : all;
    if (s.limit < 1) s.limit = 1;
    try_one_pass(&s);
    /* Nothing that goes through the disk twice costs less. */
    if (passes > 1 && s.best.cost > worth * 4.0 * volume_bytes(problem)) try_two_passes(&s);
    if (bytes / LIMIT_STEP < LEAST_LIMIT) break;
  }
  return s.best;
}
