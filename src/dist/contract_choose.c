/* The choice of an algorithm: candidates, each a mesh of ranks and how many panels, and the fastest that the options allow.
 *
 * Meshes are those in which one of the tensors stays where it is, those that share out all ranks over the kinds of labels (of L and
 * D, of R and D, of both operands, of all three) in every way, and one rank alone. All is derived from what all ranks know, so that
 * all choose the same. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/contract.h"
#include "dist/shapes.h"

typedef enum kind { KIND_LEFT, KIND_RIGHT, KIND_BATCH, KIND_SUMMED, KINDS } kind;

typedef struct chooser {
  const cutt_spread *s;
  cutt_sharing *choice;
  cutt_scheme c;                          /* at hand */
  cutt_scheme best[CUTT_DIST_ALGORITHMS]; /* of each algorithm, where its verdict has seconds */
  int limited[CUTT_DIST_ALGORITHMS];      /* candidates that had no room */
  bool no_memory;
} chooser;

static bool repeats(const cutt_spread *s, int label) {
  for (int t = 0; t < CUTT_TENSORS; ++t)
    if (s->times[t][label] > 1) return true;
  return false;
}

static kind kind_of(const cutt_spread *s, int label) {
  const bool left = s->times[CUTT_LEFT][label], right = s->times[CUTT_RIGHT][label];
  if (!s->times[CUTT_RESULT][label]) return KIND_SUMMED;
  return left && right ? KIND_BATCH : left ? KIND_LEFT : KIND_RIGHT;
}

/* ------------------------------------------------------------------------------------------------------------- candidates */

/* Workspace that the candidate can do with. */
static int64_t least_bytes(const cutt_spread *s, const cutt_scheme *c) {
  return c->buffers > INT64_MAX / 2 ? INT64_MAX : c->buffers + (int64_t)c->moves * cutt_least_of_a_move(s);
}

static void try_as(chooser *h, cuttDistAlgorithm_t algorithm) {
  const size_t limit = h->s->options.workspace_limit;
  cutt_verdict *verdict = &h->choice->verdict[algorithm];
  const int64_t least = least_bytes(h->s, &h->c);
  h->choice->least_bytes = smaller(h->choice->least_bytes, least);
  if (least == INT64_MAX || (limit && (uint64_t)least > limit)) {
    h->limited[algorithm]++;
    return;
  }
  if (verdict->seconds >= 0 && verdict->seconds <= h->c.seconds) return;
  verdict->seconds = h->c.seconds;
  h->c.algorithm = algorithm;
  h->best[algorithm] = h->c;
}

static bool all_stand(const cutt_scheme *c) {
  return c->stands[CUTT_LEFT] && c->stands[CUTT_RIGHT] && c->stands[CUTT_RESULT];
}

/* ----------------------------------------------------------------------------------------------------------------- panels */

/* Where an operand has a label; -1: it has not. */
static int mode_of(const cutt_spread *s, int t, int label) {
  for (int i = 0; i < s->modes[t]; ++i)
    if (s->label[t][i] == label) return i;
  return -1;
}

/* Of a label of one operand, which alone moves, and of the result? */
static bool can_cut_free(chooser *h, int label) {
  const cutt_spread *s = h->s;
  cutt_scheme *c = &h->c;
  const int operand = mode_of(s, CUTT_LEFT, label) >= 0 ? CUTT_LEFT : CUTT_RIGHT;
  const cutt_part *part = &s->layout[operand].part[mode_of(s, operand, label)];
  c->align = -1;
  c->cut = (cutt_part){s->extent[label], 0, 1};
  c->panel_of_result = true;
  return !c->stands[operand] && c->stands[1 - operand] && part->parts == 1 && c->mesh.part[label].parts == 1;
}

/* Can the contraction be done in panels of this label? Sets cut and align. */
static bool can_cut(chooser *h, int label) {
  const cutt_spread *s = h->s;
  cutt_scheme *c = &h->c;
  const kind of = kind_of(s, label);
  c->panel_of_result = false;
  if (repeats(s, label) || s->extent[label] < 2) return false;
  if (of == KIND_LEFT || of == KIND_RIGHT) return can_cut_free(h, label);
  const int left = mode_of(s, CUTT_LEFT, label), right = mode_of(s, CUTT_RIGHT, label);
  if (of != KIND_SUMMED) return false;
  c->align = -1;
  c->cut = left >= 0 ? s->layout[CUTT_LEFT].part[left] : s->layout[CUTT_RIGHT].part[right];
  if (left < 0 || right < 0) return true;
  const cutt_part *own = &s->layout[CUTT_LEFT].part[left], *other = &s->layout[CUTT_RIGHT].part[right];
  if (own->parts == other->parts && own->block == other->block) return true;
  /* The smaller one is cut like the larger one. */
  const int from = s->layout[CUTT_LEFT].volume < s->layout[CUTT_RIGHT].volume ? CUTT_LEFT : CUTT_RIGHT;
  c->align = from;
  c->cut = from == CUTT_LEFT ? *other : *own;
  return c->cut.parts <= s->size;
}

/* Panels of so many local indices, in whole blocks; on a device long ones begin where lines of memory do, without which products
 * take half as long again. */
static void set_panel(const cutt_spread *s, cutt_scheme *c, int64_t panel) {
  enum { ALIGNED = 64 };
  const int64_t most = cutt_part_count(&c->cut, 0);
  if (s->runtime && !s->options.panel && panel > 4 * ALIGNED) panel = (panel - 1) / ALIGNED * ALIGNED + ALIGNED;
  panel = smaller(larger(panel, (int64_t)1), most);
  if (c->cut.block) panel = (panel - 1) / c->cut.block * c->cut.block + c->cut.block;
  c->panel = panel;
  c->panels = (most - 1) / panel + 1;
}

static void try_panels(chooser *h, int label) {
  const cutt_spread *s = h->s;
  cutt_scheme *c = &h->c;
  if (!can_cut(h, label)) return;
  const int64_t most = cutt_part_count(&c->cut, 0);
  c->panel_label = label;
  if (c->align >= 0) c->stands[c->align] = false;
  if (s->options.panel) {
    set_panel(s, c, (s->options.panel - 1) / c->cut.parts + 1);
    cutt_scheme_price(s, c);
    try_as(h, CUTT_DIST_SUMMA);
    return;
  }
  for (int64_t panels = 2; panels / 2 < most; panels *= 2) {
    set_panel(s, c, (most - 1) / panels + 1);
    cutt_scheme_price(s, c);
    try_as(h, CUTT_DIST_SUMMA);
    /* Beyond some panels there is only room to gain, where there is a limit. */
    const size_t limit = s->options.workspace_limit;
    if (panels >= 32 && (!limit || (uint64_t)least_bytes(s, c) <= limit)) break;
    if (c->panel <= larger(c->cut.block, (int64_t)1)) break;
  }
}

/* --------------------------------------------------------------------------------------------------------------- meshes */

static void add_axis(cutt_mesh *mesh, int label) {
  mesh->axis[mesh->axes++] = label;
  mesh->positions *= cutt_axis_parts(mesh, mesh->axes - 1);
}

static void start_mesh(const cutt_spread *s, cutt_mesh *mesh) {
  mesh->axes = 0;
  mesh->copies = mesh->positions = 1;
  mesh->ranks = NULL;
  mesh->stays = NULL;
  for (int i = 0; i < s->labels; ++i) mesh->part[i] = (cutt_part){s->extent[i], 0, 1};
}

/* All that can be done with the mesh at hand. */
static void try_mesh(chooser *h) {
  const cutt_spread *s = h->s;
  cutt_scheme *c = &h->c;
  c->partial = cutt_mesh_partial(s, &c->mesh);
  c->panel_label = c->align = -1;
  c->panel_of_result = false;
  c->panel = c->panels = 1;
  for (int t = 0; t < CUTT_TENSORS; ++t) c->stands[t] = cutt_mesh_stands(s, &c->mesh, t);
  if (c->partial > 1) c->stands[CUTT_RESULT] = false;
  h->no_memory = h->no_memory || !cutt_scheme_tally(s, c);
  if (h->no_memory) return;
  cutt_scheme_price(s, c);
  if (c->partial > 1) {
    if (s->modes[CUTT_RESULT] < CUTT_MAX_RANK) try_as(h, CUTT_DIST_REDUCE);
    return;
  }
  if (all_stand(c)) try_as(h, CUTT_DIST_LOCAL);
  try_as(h, CUTT_DIST_REDISTRIBUTE);
  const bool forced = s->options.algorithm == CUTT_DIST_SUMMA;
  if (c->stands[CUTT_LEFT] && c->stands[CUTT_RIGHT] && !forced) return;
  bool panels = false;
  for (int label = 0; label < s->labels; ++label) panels = can_cut(h, label) || panels;
  c->align = -1;
  c->panel_of_result = false;
  if (forced && !panels) try_as(h, CUTT_DIST_SUMMA); /* of one */
  const bool stands[2] = {c->stands[CUTT_LEFT], c->stands[CUTT_RIGHT]};
  for (int label = 0; label < s->labels; ++label) {
    memcpy(c->stands, stands, sizeof stands);
    try_panels(h, label);
  }
}

/* Gives `copies` ranks something to do for each position: the label, of another tensor, that is longest is cut; or all is done so
 * many times. */
static void share_copies(const cutt_spread *s, cutt_mesh *mesh, int tensor, int copies) {
  int longest = -1;
  for (int label = 0; label < s->labels; ++label) {
    if (s->times[tensor][label] || repeats(s, label) || tensor == CUTT_RESULT) continue;
    if (longest < 0 || s->extent[label] > s->extent[longest]) longest = label;
  }
  if (copies == 1) return;
  if (longest >= 0)
    mesh->part[longest].parts = copies;
  else
    mesh->copies = copies;
  add_axis(mesh, longest);
}

/* A tensor stays where it is. */
static void try_staying(chooser *h, int tensor) {
  static const char *const name[CUTT_TENSORS] = {"left", "right", "result"};
  const cutt_spread *s = h->s;
  const cutt_layout *layout = &s->layout[tensor];
  cutt_mesh *mesh = &h->c.mesh;
  if (tensor == CUTT_RIGHT && s->one) return;
  start_mesh(s, mesh);
  for (int i = 0; i < layout->modes; ++i) {
    if (layout->part[i].parts == 1) continue;
    const int label = s->label[tensor][i];
    if (repeats(s, label)) return;
    mesh->part[label] = layout->part[i];
    add_axis(mesh, label);
  }
  share_copies(s, mesh, tensor, layout->copies);
  mesh->ranks = layout->ranks;
  mesh->stays = name[tensor];
  try_mesh(h);
}

static int largest_factor(int number) {
  int largest = number;
  for (int f = 2; f * f <= number;) {
    if (number % f) {
      ++f;
    } else {
      number /= f;
      largest = number;
    }
  }
  return largest;
}

/* Cuts labels of a kind into `parts` parts in all, always that which is longest yet. false: it has none. */
static bool cut_kind(const cutt_spread *s, cutt_mesh *mesh, kind of, int parts) {
  while (parts > 1) {
    const int factor = largest_factor(parts);
    int longest = -1;
    double most = 0;
    for (int label = 0; label < s->labels; ++label) {
      const double each = (double)s->extent[label] / mesh->part[label].parts;
      if (kind_of(s, label) != of || repeats(s, label) || each <= most) continue;
      longest = label;
      most = each;
    }
    if (longest < 0) return false;
    mesh->part[longest].parts *= factor;
    parts /= factor;
  }
  return true;
}

/* Blocks as the tensors have them, so that less moves. */
static void take_blocks(const cutt_spread *s, cutt_mesh *mesh) {
  for (int t = 0; t < CUTT_TENSORS; ++t)
    for (int i = 0; i < s->modes[t]; ++i) {
      const cutt_part *part = &s->layout[t].part[i];
      cutt_part *own = &mesh->part[s->label[t][i]];
      if (part->parts == own->parts) own->block = part->block;
    }
}

/* All ranks, shared out over the kinds of labels. */
static void try_shares(chooser *h, const int *share) {
  const cutt_spread *s = h->s;
  cutt_mesh *mesh = &h->c.mesh;
  start_mesh(s, mesh);
  for (int k = 0; k < KINDS; ++k)
    if (!cut_kind(s, mesh, (kind)k, share[k])) return;
  take_blocks(s, mesh);
  for (int label = 0; label < s->labels; ++label)
    if (mesh->part[label].parts > 1) add_axis(mesh, label);
  try_mesh(h);
}

static void try_all_shares(chooser *h) {
  const int size = h->s->size;
  int share[KINDS];
  for (share[0] = 1; share[0] <= size; ++share[0]) {
    if (size % share[0]) continue;
    const int second = size / share[0];
    for (share[1] = 1; share[1] <= second; ++share[1]) {
      if (second % share[1]) continue;
      const int third = second / share[1];
      for (share[2] = 1; share[2] <= third; ++share[2]) {
        if (third % share[2]) continue;
        share[3] = third / share[2];
        try_shares(h, share);
        if (h->no_memory) return;
      }
    }
  }
}

/* ---------------------------------------------------------------------------------------------------------------- choice */

static const char *const nothing_like_it[CUTT_DIST_ALGORITHMS] = {
    NULL, "a tensor would have to move", NULL, "no mode is contracted",
    "no mode that is contracted can be cut, or there is one rank"};

static cuttResult nothing_found(const chooser *h) {
  static const char *const name[CUTT_DIST_ALGORITHMS] = {"", "CUTT_DIST_LOCAL", "CUTT_DIST_REDISTRIBUTE",
                                                         "CUTT_DIST_SUMMA", "CUTT_DIST_REDUCE"};
  const cuttDistContractionOptions_t *o = &h->s->options;
  const cuttDistAlgorithm_t algorithm = o->algorithm;
  if (algorithm != CUTT_DIST_FASTEST && !h->limited[algorithm])
    return cutt_error(CUTT_INVALID_PARAMETER, "options->algorithm is %s, which can't be: %s", name[algorithm],
                      nothing_like_it[algorithm]);
  if (!o->workspace_limit)
    return cutt_error(CUTT_INVALID_PARAMETER, "the contraction needs more than 10^15 bytes of workspace on a rank");
  return cutt_error(
      CUTT_INVALID_PARAMETER,
      "options->workspace_limit is %zu, which is too little%s%s; the least that any algorithm needs is %" PRId64
      " bytes",
      o->workspace_limit, algorithm ? " for " : "", name[algorithm], h->choice->least_bytes);
}

cuttResult cutt_scheme_choose(const cutt_spread *s, cutt_sharing *choice) {
  chooser *h = calloc(1, sizeof *h);
  if (!h) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to choose an algorithm", sizeof *h);
  h->s = s;
  h->choice = choice;
  choice->least_bytes = INT64_MAX;
  for (int i = 0; i < CUTT_DIST_ALGORITHMS; ++i) choice->verdict[i] = (cutt_verdict){-1, NULL};
  for (int t = CUTT_RESULT; t >= CUTT_LEFT; --t) try_staying(h, t);
  try_all_shares(h);
  start_mesh(s, &h->c.mesh);
  try_mesh(h);
  int best = -1;
  for (int i = 1; i < CUTT_DIST_ALGORITHMS; ++i) {
    cutt_verdict *verdict = &choice->verdict[i];
    if (verdict->seconds < 0)
      verdict->why = h->limited[i] ? "it needs more workspace than the limit" : nothing_like_it[i];
    else if ((!s->options.algorithm || (int)s->options.algorithm == i) &&
             (best < 0 || verdict->seconds < choice->verdict[best].seconds))
      best = i;
  }
  cuttResult result = CUTT_SUCCESS;
  if (h->no_memory)
    result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: sets of indices");
  else if (best < 0)
    result = nothing_found(h);
  else
    choice->best = h->best[best];
  free(h);
  return result;
}

uint32_t cutt_scheme_hash(const cutt_spread *s, const cutt_scheme *c) {
  const cutt_mesh *mesh = &c->mesh;
  uint64_t hash = CUTT_HASH_START;
  for (int label = 0; label < s->labels; ++label) {
    const int64_t part[2] = {mesh->part[label].parts, mesh->part[label].block};
    hash = cutt_hash(hash, part, sizeof part);
  }
  hash = cutt_hash(hash, mesh->axis, (size_t)mesh->axes * sizeof *mesh->axis);
  if (mesh->stays) hash = cutt_hash(hash, mesh->stays, strlen(mesh->stays));
  const int64_t rest[] = {
      c->algorithm, mesh->copies, c->stands[CUTT_LEFT], c->stands[CUTT_RIGHT], c->stands[CUTT_RESULT], c->panel_label,
      c->panel,     c->align};
  hash = cutt_hash(hash, rest, sizeof rest);
  return (uint32_t)(hash ^ hash >> 32);
}
