/* What a candidate is predicted to take, and how much workspace, by what all ranks know: so that all ranks find the same numbers.
 *
 * Volumes of parts are exact for the ranks that are looked at, some of them; the first part of a mode is never shorter than another,
 * so that no rank needs more room than the one that has the first part of every label. */

#include "base/number.h"
#include "dist/contract.h"

enum { RANKS_LOOKED_AT = 8 };

/* Bytes: more than any machine has, and doubles tell them apart. */
static const double MOST_BUFFERS = 1e15;

/* Of a product, beside its operations; on a device, with the events around it. */
static double product_seconds(const cutt_spread *s) { return s->runtime ? 15e-6 : 3e-6; }

/* Products of panels, to one of the whole: on two H200 they took 0 to 20 % longer, most where extents are no multiples of tiles. */
static double panel_loss(const cutt_spread *s, const cutt_scheme *c) { return s->runtime && c->panels > 1 ? 1.03 : 1; }

int64_t cutt_panel_extent(const cutt_scheme *c, int64_t panel) {
  const int64_t before = c->panel * c->cut.parts;
  return panel < c->panels - 1 ? before : c->cut.extent - (c->panels - 1) * before;
}

int cutt_align_parts(const cutt_spread *s, const cutt_scheme *c, cutt_part *part) {
  const cutt_layout *layout = &s->layout[c->align];
  int positions = c->cut.parts;
  for (int i = 0; i < layout->modes; ++i) {
    part[i] = layout->part[i];
    if (s->label[c->align][i] == c->panel_label) {
      part[i] = c->cut;
    } else if (part[i].parts > s->size / positions) {
      part[i].parts = 1;
      part[i].block = 0;
    } else {
      positions *= part[i].parts;
    }
  }
  return positions;
}

/* What a rank has of a tensor both in the caller's layout and in the mesh. false: out of memory. */
static bool count_common(const cutt_spread *s, const cutt_mesh *mesh, int t, int place, const int *at, cutt_sets *sets,
                         double *common) {
  const cutt_layout *layout = &s->layout[t];
  int has[CUTT_MAX_RANK];
  *common = place < 0 ? 0 : 1;
  if (place < 0) return true;
  cutt_layout_parts(layout, place % layout->positions, has);
  for (int i = 0; i < layout->modes; ++i) {
    const int label = s->label[t][i];
    sets->count = 0;
    if (!cutt_sets_add(sets, &layout->part[i], has[i], &mesh->part[label], at[label])) return false;
    *common *= (double)cutt_sets_volume(sets, 0, sets->count);
  }
  return true;
}

static double mesh_copies(const cutt_spread *s, const cutt_mesh *mesh, int t) {
  double copies = mesh->positions;
  for (int i = 0; i < mesh->axes; ++i)
    if (mesh->axis[i] >= 0 && s->times[t][mesh->axis[i]]) copies /= cutt_axis_parts(mesh, i);
  return copies;
}

static double first_part(const cutt_layout *layout) {
  int64_t extents[CUTT_MAX_RANK];
  return (double)cutt_layout_extents(layout, 0, extents);
}

/* What moves of a tensor: an operand to the mesh, or the result from there. */
static bool tally_tensor(const cutt_spread *s, const cutt_scheme *c, int t, cutt_sets *sets, cutt_tally *sum) {
  const cutt_mesh *mesh = &c->mesh;
  const cutt_layout *layout = &s->layout[t];
  const int step = (mesh->positions - 1) / RANKS_LOOKED_AT + 1;
  int at[CUTT_MOST_LABELS];
  double largest = 0, kept = 0, looked_at = 0;
  *sum = (cutt_tally){0, 0, 0};
  for (int p = 0; p < mesh->positions; p += step) {
    double common = 0;
    cutt_mesh_parts(s, mesh, p, at);
    if (!count_common(s, mesh, t, s->place[t][cutt_mesh_rank(mesh, p)], at, sets, &common)) return false;
    const double volume = (double)cutt_mesh_volume(s, mesh, t, at);
    largest = larger(largest, volume);
    kept += common;
    looked_at++;
    if (t != CUTT_RESULT) sum->received = larger(sum->received, volume - common);
  }
  sum->kept = kept / looked_at;
  if (t == CUTT_RESULT) {
    sum->received = larger(c->partial * first_part(layout) - sum->kept, 0.0);
    sum->sent = larger(largest * layout->copies - sum->kept, 0.0);
  } else {
    sum->sent = larger(first_part(layout) * mesh_copies(s, mesh, t) / layout->copies - sum->kept, 0.0);
  }
  return true;
}

/* Messages that a rank sends of a tensor, about. */
static double count_messages(const cutt_spread *s, const cutt_scheme *c, int t) {
  const cutt_layout *layout = &s->layout[t];
  double peers = t == CUTT_RESULT ? 1 : mesh_copies(s, &c->mesh, t) / layout->copies;
  for (int i = 0; i < layout->modes; ++i) {
    const int from = layout->part[i].parts, to = c->mesh.part[s->label[t][i]].parts;
    peers *= (double)cutt_ceil_of(to, from);
  }
  return smaller(peers, (double)(s->size - 1));
}

bool cutt_scheme_tally(const cutt_spread *s, cutt_scheme *c) {
  cutt_sets sets = {NULL, 0, 0};
  bool enough = true;
  for (int t = 0; t < CUTT_TENSORS && enough; ++t)
    if (t != CUTT_RIGHT || !s->one) enough = tally_tensor(s, c, t, &sets, &c->tally[t]);
  cutt_sets_free(&sets);
  return enough;
}

static double price_move(const cutt_spread *s, const cutt_scheme *c, int t) {
  if (c->stands[t]) return 0;
  const cutt_tally *sum = &c->tally[t];
  const cutt_speeds *r = &s->rates;
  const double elem = s->type->bytes, panels = t == CUTT_RESULT ? 1 : (double)c->panels;
  const double through = larger(sum->received, sum->sent);
  double seconds = panels * (double)r->message * (2 + count_messages(s, c, t)) + through * elem * (double)r->byte +
                   (through * (r->byte > 0 ? 2 : 1) + sum->kept) * elem * (double)r->copy;
  /* Partial results are read once more. */
  if (t == CUTT_RESULT && c->partial > 1) seconds += elem * (double)r->copy * (sum->received + sum->kept);
  return seconds;
}

/* Elements of an operand's panel, or of all of it, where the part of every label is the first. */
static int64_t panel_volume(const cutt_spread *s, const cutt_scheme *c, int t) {
  int64_t volume = 1;
  for (int i = 0; i < s->modes[t]; ++i) {
    const int label = s->label[t][i];
    const cutt_part *part = &c->mesh.part[label];
    volume *= label != c->panel_label ? cutt_part_count(part, 0) : part->parts > 1 ? c->panel : cutt_panel_extent(c, 0);
  }
  return volume;
}

static void price_room(const cutt_spread *s, cutt_scheme *c) {
  static const int first[CUTT_MOST_LABELS];
  const double elem = s->type->bytes, rounded = (double)cutt_spread_alignment(s);
  double bytes = 0;
  c->moves = 0;
  for (int t = 0; t < CUTT_RESULT; ++t) {
    if (c->stands[t]) continue;
    const int buffers = c->panels > 1 ? 2 : 1;
    bytes += buffers * ((double)panel_volume(s, c, t) * elem + rounded);
    c->moves += buffers;
  }
  if (c->align >= 0) {
    cutt_part part[CUTT_MAX_RANK];
    double volume = 1;
    cutt_align_parts(s, c, part);
    for (int i = 0; i < s->modes[c->align]; ++i) volume *= (double)cutt_part_count(&part[i], 0);
    bytes += volume * elem + rounded;
    c->moves++;
  }
  if (!c->stands[CUTT_RESULT]) {
    bytes += (double)cutt_mesh_volume(s, &c->mesh, CUTT_RESULT, first) * elem + rounded;
    c->moves++;
  }
  if (c->partial > 1) bytes += first_part(&s->layout[CUTT_RESULT]) * c->partial * elem + rounded;
  c->buffers = bytes < MOST_BUFFERS ? (int64_t)bytes : INT64_MAX;
}

void cutt_scheme_price(const cutt_spread *s, cutt_scheme *c) {
  static const int first[CUTT_MOST_LABELS];
  double products = 1, touched = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t)
    touched += (double)cutt_mesh_volume(s, &c->mesh, t, first) *
               (t == CUTT_RESULT && !c->panel_of_result ? (double)c->panels : 1);
  for (int label = 0; label < s->labels; ++label) products *= (double)cutt_part_count(&c->mesh.part[label], 0);
  const double product = larger(panel_loss(s, c) * products * (double)s->rates.multiply,
                                touched * s->type->bytes * (double)s->rates.copy) +
                         (double)c->panels * product_seconds(s);
  const double moves = price_move(s, c, CUTT_LEFT) + price_move(s, c, CUTT_RIGHT), share = 1 / (double)c->panels;
  c->seconds = share * (moves + product) +
               (1 - share) * (larger(moves, product) + (double)s->rates.not_hidden * smaller(moves, product)) +
               price_move(s, c, CUTT_RESULT) + 2 * (double)s->rates.message;
  if (c->align >= 0)
    c->seconds += (double)(s->rates.byte + 2 * s->rates.copy) * (double)s->layout[c->align].volume * s->type->bytes /
                  s->layout[c->align].positions;
  price_room(s, c);
}
