/* Moves and pieces of a rank (exchange.h). */
#include "dist/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/stretch.h"

/* For each mode and each part that the other side has of it: the sets that it has in common with this rank's part. */
typedef struct set_table {
  cutt_sets sets;
  int64_t base[CUTT_MAX_RANK]; /* of a mode, in first */
  int64_t *first;              /* of part c of mode m at [base[m] + c]; its last set is before the next entry */
} set_table;

/* What is derived at the moment. */
typedef struct builder {
  cutt_exchange *exchange;
  const cutt_task *task;
  cutt_shapes *shapes;
  set_table table[CUTT_SIDES];        /* by the side that this rank is on */
  int own[CUTT_SIDES][CUTT_MAX_RANK]; /* this rank's part in each side's modes */
  /* Strides of the two sides, by input mode, for the peer at hand; and of the sender's and the receiver's parts, if both are packed;
   * of the box's modes, and of the part's. */
  int64_t stride[CUTT_SIDES][CUTT_MAX_RANK], packed[CUTT_SIDES][CUTT_MAX_RANK];
  int64_t box_packed[CUTT_SIDES][CUTT_MAX_RANK], part_packed[CUTT_SIDES][CUTT_MAX_RANK];
  const int64_t *packed_step[CUTT_SIDES]; /* the part's: one of these */
  int side, peer, step;
  bool scaled, far, as_message; /* the latter: this rank's own part, as if it sent it to itself */
  /* What is large, and so not on the stack: of each mode the sets to choose from and the choice; a box, and a part of it. */
  int score[CUTT_MAX_RANK]; /* of the box's modes: how slow they are, on the side where they are faster */
  int order[CUTT_MAX_RANK];
  const cutt_set *choice[CUTT_MAX_RANK], *first[CUTT_MAX_RANK], *end[CUTT_MAX_RANK];
  cutt_box box, part;
  cutt_stretch stretch;
} builder;

static int place_of(const cutt_task *task, int side, int rank) { return task->place[side][rank]; }

/* ---------------------------------------------------------------------------------------------------------- sets */

static cuttResult make_table(builder *b, int side) {
  const cutt_task *task = b->task;
  const cutt_layout *own = &task->layout[side], *other = &task->layout[1 - side];
  set_table *table = &b->table[side];
  int64_t entries = 1, n = 0;
  for (int m = 0; m < own->modes; ++m) entries += other->part[task->mode[1 - side][m]].parts;
  table->first = malloc((size_t)entries * sizeof *table->first);
  bool enough = table->first != NULL;
  for (int m = 0; m < own->modes && enough; ++m) {
    const cutt_part *mine = &own->part[task->mode[side][m]], *its = &other->part[task->mode[1 - side][m]];
    const int at = b->own[side][task->mode[side][m]];
    table->base[m] = n;
    for (int c = 0; c < its->parts && enough; ++c) {
      table->first[n++] = table->sets.count;
      enough = side == CUTT_FROM ? cutt_sets_add(&table->sets, mine, at, its, c)
                                 : cutt_sets_add(&table->sets, its, c, mine, at);
    }
  }
  if (!enough) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: sets of indices of %d modes", own->modes);
  table->first[n] = table->sets.count;
  return CUTT_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------------- pieces */

cuttResult cutt_exchange_add(cutt_exchange *e, cutt_move move) {
  if (e->moves == e->room) {
    const int64_t room = e->room ? 2 * e->room : 16;
    cutt_move *moves = realloc(e->move, (size_t)room * sizeof *moves);
    if (!moves) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %lld boxes", (long long)room);
    e->move = moves;
    e->room = room;
  }
  e->move[e->moves++] = move;
  return CUTT_SUCCESS;
}

static cutt_piece *last_piece(cutt_flow *flow) { return flow->pieces ? &flow->piece[flow->pieces - 1] : NULL; }

static cuttResult open_piece(const builder *b, cutt_flow *flow) {
  if (flow->pieces == flow->room) {
    const int64_t room = flow->room ? 2 * flow->room : 16;
    cutt_piece *pieces = realloc(flow->piece, (size_t)room * sizeof *pieces);
    if (!pieces) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %lld pieces", (long long)room);
    flow->piece = pieces;
    flow->room = room;
  }
  const cutt_piece *before = last_piece(flow);
  const int64_t number = before && before->peer == b->peer ? before->number + 1 : 0;
  flow->piece[flow->pieces++] = (cutt_piece){
      .peer = b->peer, .step = b->step, .number = number, .first = b->exchange->moves, .staged = true, .parts = 1};
  return CUTT_SUCCESS;
}

static int64_t volume_of(const cutt_box *box) {
  int64_t volume = 1;
  for (int i = 0; i < box->rank; ++i) volume *= box->extent[i];
  return volume;
}

/* Elements at the box's beginning that are one run, by the steps of a side. */
static int64_t run_of(const cutt_box *box, const int64_t *step) {
  int64_t run = 1;
  for (int i = 0; i < box->rank && step[i] == run; ++i) run *= box->extent[i];
  return run;
}

/* Messages that b->part is sent as. Ranks have to derive the same, so they go by runs of parts that are packed. */
static int64_t parts_of(const builder *b, int64_t volume) {
  enum { LEAST_BYTES = 64 << 10, MOST = 256 };
  const cutt_task *task = b->task;
  const bool packs = b->exchange->way == CUTT_WAY_PACK;
  const int64_t elem = task->elem_bytes, least = larger((int64_t)LEAST_BYTES / elem, volume / MOST);
  const bool sender_scales = task->computes && packs && !task->reads_back;
  if (task->cuts_inside || volume < 2 * least) return 1;
  const int64_t from = sender_scales ? 0 : run_of(&b->part, b->packed_step[CUTT_FROM]);
  const int64_t to = task->computes && !sender_scales ? 0 : run_of(&b->part, b->packed_step[CUTT_TO]);
  /* What is a run on both sides is nowhere packed; else one of them may do without. */
  const int64_t run = smaller(from, to) >= least ? smaller(from, to) : larger(from, to);
  return run < least ? 1 : volume / run;
}

static cuttResult add_part_offset(cutt_flow *flow, int64_t offset) {
  if (flow->part_offsets == flow->part_room) {
    const int64_t room = flow->part_room ? 2 * flow->part_room : 64;
    int64_t *offsets = realloc(flow->part_offset, (size_t)room * sizeof *offsets);
    if (!offsets) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %lld messages", (long long)room);
    flow->part_offset = offsets;
    flow->part_room = room;
  }
  flow->part_offset[flow->part_offsets++] = offset;
  return CUTT_SUCCESS;
}

/* Notes where b->part's runs of so many elements begin. */
static cuttResult add_parts(const builder *b, cutt_flow *flow, int64_t run) {
  const cutt_box *box = &b->part;
  const int64_t *step = box->step[b->side], elem = b->task->elem_bytes, volume = volume_of(box);
  int64_t index[CUTT_MAX_RANK] = {0}, inner = 1, offset = box->offset[b->side];
  int first = 0;
  while (first < box->rank && inner < run) inner *= box->extent[first++];
  for (int64_t at = 0; at < volume; at += run) {
    const cuttResult result = add_part_offset(flow, offset * elem);
    if (result) return result;
    for (int i = first; i < box->rank; ++i) {
      offset += step[i];
      if (++index[i] < box->extent[i]) break;
      offset -= step[i] * box->extent[i];
      index[i] = 0;
    }
  }
  return CUTT_SUCCESS;
}

/* What caches are to be asked whether they hold, since boxes are worked on one after the other: of a processor's, what a rank writes
 * of its part, or to its room for messages, which is used again. Ranks that reach each other's memory share a cache beyond that. */
static int64_t whole_of(const builder *b, bool to_room) {
  const cutt_task *task = b->task;
  if (task->cuts_inside) return 0; /* a device */
  if (to_room) return smaller(task->volume[CUTT_FROM], 2 * task->piece_elements) * task->elem_bytes;
  const bool direct = b->exchange->way == CUTT_WAY_DIRECT;
  return (direct ? task->layout[CUTT_TO].volume : task->volume[CUTT_TO]) * task->elem_bytes;
}

/* Adds b->part to the piece at hand or to a new one. The side that is not this rank's is the message. */
static cuttResult add_to_piece(builder *b) {
  cutt_box *box = &b->part;
  cutt_exchange *x = b->exchange;
  cutt_flow *flow = &x->flow[b->side];
  const int64_t volume = volume_of(box), elem = b->task->elem_bytes;
  cutt_piece *piece = last_piece(flow);
  cuttResult result = CUTT_SUCCESS;
  if (!piece || piece->peer != b->peer || piece->bytes / elem + volume > b->task->piece_elements)
    result = open_piece(b, flow);
  if (result) return result;
  piece = last_piece(flow);
  int64_t next = 1;
  for (int i = 0; i < box->rank; ++i) {
    box->step[1 - b->side][i] = next;
    next *= box->extent[i];
  }
  box->offset[1 - b->side] = piece->bytes / elem;
  cutt_move move = {-1, box->offset[CUTT_FROM] * elem, box->offset[CUTT_TO] * elem};
  result = cutt_shapes_find(b->shapes, box, b->scaled, false, whole_of(b, b->side == CUTT_FROM), &move.shape);
  if (!result) result = cutt_exchange_add(x, move);
  if (result) return result;
  /* Several boxes go in one message. */
  piece->parts = piece->moves > 0 ? 1 : parts_of(b, volume);
  piece->staged = piece->moves > 0 || b->scaled || run_of(box, box->step[b->side]) < volume / piece->parts;
  piece->offset = box->offset[b->side] * elem;
  if (piece->parts > 1 && !piece->staged) {
    piece->first_part = flow->part_offsets;
    result = add_parts(b, flow, volume / piece->parts);
    if (result) return result;
  }
  piece->moves++;
  piece->bytes += volume * elem;
  return CUTT_SUCCESS;
}

/* The box's modes in the order in which they are cut: the last ones first. In the host's memory these are the slowest of the
 * message, so that what lies in one run on a side stays so. On a device all is packed at a small price, and short runs are what
 * costs: there it is the modes that are slow on both sides. */
static void order_cuts(builder *b) {
  const cutt_box *box = &b->box;
  for (int i = 0; i < box->rank; ++i) {
    int at = i;
    while (b->task->cuts_inside && at > 0 && b->score[b->order[at - 1]] > b->score[i]) {
      b->order[at] = b->order[at - 1];
      --at;
    }
    b->order[at] = i;
  }
}

/* b->part: the box with its last `cut` modes in b->order at these indices, and a stretch of the one before. */
static void make_part(builder *b, int cut, int64_t at, int64_t stretch, const int64_t *index) {
  const cutt_box *box = &b->box;
  cutt_box *part = &b->part;
  bool whole[CUTT_MAX_RANK] = {false};
  for (int i = 0; i <= cut; ++i) whole[b->order[i]] = true;
  for (int side = 0; side < CUTT_SIDES; ++side) {
    part->offset[side] = box->offset[side] + at * box->step[side][b->order[cut]];
    for (int i = cut + 1; i < box->rank; ++i) part->offset[side] += index[i] * box->step[side][b->order[i]];
  }
  part->rank = 0;
  for (int side = 0; side < CUTT_SIDES; ++side) b->packed_step[side] = b->part_packed[side];
  for (int i = 0; i < box->rank; ++i) {
    if (!whole[i]) continue;
    part->extent[part->rank] = i == b->order[cut] ? stretch : box->extent[i];
    for (int side = 0; side < CUTT_SIDES; ++side) {
      part->step[side][part->rank] = box->step[side][i];
      b->part_packed[side][part->rank] = b->box_packed[side][i];
    }
    part->rank++;
  }
}

/* Cuts b->box into what a piece has room for. */
static cuttResult add_cut(builder *b) {
  const cutt_box *box = &b->box;
  const int64_t room = b->task->piece_elements;
  int64_t inner = 1, index[CUTT_MAX_RANK] = {0};
  int cut = 0;
  order_cuts(b);
  while (cut < box->rank && inner * box->extent[b->order[cut]] <= room) inner *= box->extent[b->order[cut++]];
  if (cut == box->rank) {
    b->part = *box;
    for (int side = 0; side < CUTT_SIDES; ++side) b->packed_step[side] = b->box_packed[side];
    return add_to_piece(b);
  }
  const int64_t extent = box->extent[b->order[cut]], pieces = (extent - 1) / (room / inner) + 1;
  const int64_t stretch = (extent - 1) / pieces + 1;
  for (;;) {
    for (int64_t at = 0; at < extent; at += stretch) {
      make_part(b, cut, at, smaller(stretch, extent - at), index);
      const cuttResult result = add_to_piece(b);
      if (result) return result;
    }
    int i = cut + 1;
    while (i < box->rank && ++index[i] == box->extent[b->order[i]]) index[i++] = 0;
    if (i >= box->rank) return CUTT_SUCCESS;
  }
}

/* Adds a box whose two sides are tensors. */
static cuttResult add_whole(builder *b, const cutt_box *box, int64_t *bytes, double *seconds) {
  const int64_t elem = b->task->elem_bytes;
  cutt_move move = {-1, box->offset[CUTT_FROM] * elem, box->offset[CUTT_TO] * elem};
  cuttResult result = cutt_shapes_find(b->shapes, box, b->scaled, b->far, whole_of(b, false), &move.shape);
  if (!result) result = cutt_exchange_add(b->exchange, move);
  if (result) return result;
  *bytes += volume_of(box) * elem;
  *seconds += b->shapes->shape[move.shape].seconds;
  return CUTT_SUCCESS;
}

/* Adds a box that is not sent, in stretches: those of several boxes are worked on by turns, and what stays beside messages, so that
 * what goes over links and what stays goes on side by side. */
static cuttResult add_stretches(builder *b, int64_t *moves, int64_t *bytes, double *seconds) {
  const cutt_box *box = &b->box;
  cutt_box *part = &b->part;
  const int64_t most = b->task->stretch_elements;
  int64_t at[CUTT_MAX_RANK] = {0};
  double each = 0;
  int whole = 0, i = 0;
  /* One launch does all stretches: it takes what the whole would. */
  const cuttResult found = cutt_shapes_find(b->shapes, box, b->scaled, b->far, whole_of(b, false), &whole);
  if (found) return found;
  *seconds += b->shapes->shape[whole].seconds;
  if (b->step) b->exchange->flow[CUTT_FROM].link_seconds += b->shapes->shape[whole].link_seconds;
  for (int j = 0; j < box->rank; ++j) {
    b->stretch.extent[j] = box->extent[j];
    b->stretch.order[j] = j;
  }
  if (most && volume_of(box) > most) cutt_box_stretch(box, most, b->task->cuts_inside, &b->stretch);
  *part = *box;
  do {
    for (int side = 0; side < CUTT_SIDES; ++side) part->offset[side] = box->offset[side];
    for (int j = 0; j < box->rank; ++j) {
      part->extent[j] = smaller(b->stretch.extent[j], box->extent[j] - at[j]);
      for (int side = 0; side < CUTT_SIDES; ++side) part->offset[side] += at[j] * box->step[side][j];
    }
    const cuttResult result = add_whole(b, part, bytes, &each);
    if (result) return result;
    ++*moves;
    for (i = 0; i < box->rank; ++i) {
      const int j = b->stretch.order[i];
      at[j] += b->stretch.extent[j];
      if (at[j] < box->extent[j]) break;
      at[j] = 0;
    }
  } while (i < box->rank);
  return CUTT_SUCCESS;
}

static cuttResult add_box(builder *b) {
  cutt_exchange *x = b->exchange;
  if ((b->step || b->as_message) && x->way != CUTT_WAY_DIRECT) return add_cut(b);
  if (!b->step) {
    if (b->task->stretch_elements) return add_stretches(b, &x->kept_moves, &x->kept_bytes, &x->kept_seconds);
    x->kept_moves++;
    return add_whole(b, &b->box, &x->kept_bytes, &x->kept_seconds);
  }
  cutt_flow *flow = &x->flow[CUTT_FROM];
  const cutt_piece *piece = last_piece(flow);
  cuttResult result = CUTT_SUCCESS;
  if (!piece || piece->peer != b->peer) result = open_piece(b, flow);
  if (result) return result;
  last_piece(flow)->staged = false;
  return add_stretches(b, &last_piece(flow)->moves, &last_piece(flow)->bytes, &flow->seconds);
}

/* --------------------------------------------------------------------------------------------------------- boxes */

/* Makes b->box, that of one choice of sets, with its modes in the order of the message. */
static cuttResult make_box(builder *b) {
  const cutt_task *task = b->task;
  const cutt_set *const *choice = b->choice;
  cutt_box *box = &b->box;
  const int modes = task->layout[CUTT_FROM].modes;
  box->rank = 0;
  box->offset[CUTT_FROM] = box->offset[CUTT_TO] = 0;
  for (int i = 0; i < modes; ++i) {
    const int m = b->exchange->way == CUTT_WAY_PACK ? task->output[i] : i;
    for (int side = 0; side < CUTT_SIDES; ++side) box->offset[side] += choice[m]->start[side] * b->stride[side][m];
    for (int level = 0; level < CUTT_SET_LEVELS; ++level) {
      if (choice[m]->extent[level] == 1) continue;
      if (box->rank == CUTT_MAX_RANK)
        return cutt_error(
            CUTT_INVALID_PARAMETER,
            "the layouts have blocks in so many modes that what two ranks exchange takes more than %d loops",
            CUTT_MAX_RANK);
      box->extent[box->rank] = choice[m]->extent[level];
      for (int side = 0; side < CUTT_SIDES; ++side) {
        box->step[side][box->rank] = choice[m]->step[side][level] * b->stride[side][m];
        b->box_packed[side][box->rank] = choice[m]->step[side][level] * b->packed[side][m];
      }
      b->score[box->rank] = CUTT_SET_LEVELS * smaller(m, task->mode[CUTT_TO][m]) + level;
      box->rank++;
    }
  }
  return CUTT_SUCCESS;
}

/* All boxes between this rank, on b->side, and the parts (by the other side's modes) of a peer, or of its own. */
static cuttResult add_boxes(builder *b, const int *its_parts) {
  const cutt_task *task = b->task;
  const set_table *table = &b->table[b->side];
  const int modes = task->layout[CUTT_FROM].modes;
  for (int m = 0; m < modes; ++m) {
    const int64_t entry = table->base[m] + its_parts[task->mode[1 - b->side][m]];
    if (table->first[entry] == table->first[entry + 1]) return CUTT_SUCCESS;
    b->choice[m] = b->first[m] = table->sets.set + table->first[entry];
    b->end[m] = table->sets.set + table->first[entry + 1];
  }
  for (;;) {
    cuttResult result = make_box(b);
    if (!result) result = add_box(b);
    if (result) return result;
    int m = 0;
    while (m < modes && ++b->choice[m] == b->end[m]) {
      b->choice[m] = b->first[m];
      ++m;
    }
    if (m == modes) return CUTT_SUCCESS;
  }
}

/* --------------------------------------------------------------------------------------------------------- peers */

/* Does rank `sender` send to rank `receiver` what it has of a position of the input? Of several copies, a rank takes its own, or
 * one by its number, so that copies share the work. */
static bool sends(const cutt_task *task, int sender, int receiver) {
  const cutt_layout *from = &task->layout[CUTT_FROM];
  const int place = place_of(task, CUTT_FROM, sender), own = place_of(task, CUTT_FROM, receiver);
  if (place < 0 || place_of(task, CUTT_TO, receiver) < 0) return false;
  if (own >= 0 && own % from->positions == place % from->positions) return sender == receiver;
  return place / from->positions == receiver % from->copies;
}

/* The strides of both sides by input mode: this rank's, or, for direct writing, those of a peer's packed output. rank: who sends, and
 * who receives. */
static void set_strides(builder *b, const int rank[CUTT_SIDES]) {
  const cutt_task *task = b->task;
  const int modes = task->layout[CUTT_FROM].modes;
  const bool to_peer = b->step && b->exchange->way == CUTT_WAY_DIRECT;
  int64_t extents[CUTT_MAX_RANK], packed[CUTT_MAX_RANK];
  for (int side = 0; side < CUTT_SIDES; ++side) {
    const cutt_layout *layout = &task->layout[side];
    cutt_layout_extents(layout, place_of(task, side, rank[side]) % layout->positions, extents);
    for (int64_t i = 0, next = 1; i < modes; next *= extents[i++]) packed[i] = next;
    for (int m = 0; m < modes; ++m) {
      const int own = task->mode[side][m];
      b->packed[side][m] = packed[own];
      b->stride[side][m] = side == CUTT_TO && to_peer ? packed[own] : task->stride[side][own];
    }
  }
}

/* Without beta the sender scales what it permutes, and the receiver needs not touch it again; else the receiver does, in one
 * step, since what alpha * in is rounded to would be rounded once more. */
static bool scales(const builder *b) {
  if (!b->task->computes) return false;
  if ((!b->step && !b->as_message) || b->exchange->way == CUTT_WAY_DIRECT) return true;
  const bool sender = b->exchange->way == CUTT_WAY_PACK && !b->task->reads_back;
  return sender == (b->side == CUTT_FROM);
}

static cuttResult add_peer(builder *b, int side, int step) {
  const cutt_task *task = b->task;
  const int64_t distance = side == CUTT_FROM ? step : task->size - step;
  const int peer = (int)((task->me + distance) % task->size);
  const int sender = side == CUTT_FROM ? task->me : peer, receiver = side == CUTT_FROM ? peer : task->me;
  if (!sends(task, sender, receiver)) return CUTT_SUCCESS;
  int parts[CUTT_MAX_RANK];
  const cutt_layout *other = &task->layout[1 - side];
  cutt_layout_parts(other, place_of(task, 1 - side, peer) % other->positions, parts);
  b->side = side;
  b->peer = peer;
  b->step = step;
  b->scaled = scales(b);
  /* What stays has the kernel of what goes, so that one launch does both by turns. */
  b->far = task->far && b->exchange->way == CUTT_WAY_DIRECT;
  set_strides(b, (const int[CUTT_SIDES]){sender, receiver});
  return add_boxes(b, parts);
}

/* What was left open while pieces were made: totals. */
static void finish_flow(cutt_exchange *x, cutt_flow *flow, const cutt_shapes *shapes) {
  for (int64_t i = 0; i < flow->pieces; ++i) {
    const cutt_piece *piece = &flow->piece[i];
    const int64_t rounded = cutt_piece_room(piece->bytes);
    flow->bytes += piece->bytes;
    flow->messages += piece->parts;
    double seconds = 0;
    x->most_moves = larger(x->most_moves, piece->moves);
    if (x->way == CUTT_WAY_DIRECT) continue;
    for (int64_t m = piece->first; m < piece->first + piece->moves; ++m)
      seconds += shapes->shape[x->move[m].shape].seconds;
    flow->all_seconds += seconds;
    if (!piece->staged) continue;
    flow->through_bytes += piece->bytes;
    flow->staged_bytes += rounded;
    flow->most_bytes = larger(flow->most_bytes, rounded);
    flow->seconds += seconds;
  }
}

static void free_flow(cutt_flow *flow) {
  free(flow->piece);
  free(flow->part_offset);
}

/* This rank's own part as if it were messages, so that it may be unpacked together with the others' (join.h). */
static cuttResult add_own(builder *b) {
  cutt_exchange *x = b->exchange;
  cutt_flow others[CUTT_SIDES];
  cuttResult result = CUTT_SUCCESS;
  if (!b->task->joins || x->way == CUTT_WAY_DIRECT || !x->kept_moves || !x->flow[CUTT_TO].pieces) return result;
  memcpy(others, x->flow, sizeof others);
  memset(x->flow, 0, sizeof x->flow);
  b->as_message = true;
  for (int side = 0; side < CUTT_SIDES && !result; ++side) result = add_peer(b, side, 0);
  b->as_message = false;
  memcpy(x->own, x->flow, sizeof x->own);
  memcpy(x->flow, others, sizeof others);
  return result;
}

static cuttResult make_all(builder *b) {
  const cutt_task *task = b->task;
  cutt_exchange *x = b->exchange;
  cuttResult result = CUTT_SUCCESS;
  for (int side = 0; side < CUTT_SIDES && !result; ++side) {
    const int place = place_of(task, side, task->me);
    if (place < 0) continue;
    cutt_layout_parts(&task->layout[side], place % task->layout[side].positions, b->own[side]);
    result = make_table(b, side);
  }
  if (!result) result = add_peer(b, CUTT_FROM, 0);
  x->most_moves = x->kept_moves;
  for (int side = 0; side < CUTT_SIDES; ++side) {
    if (side == CUTT_TO && x->way == CUTT_WAY_DIRECT) break;
    for (int step = 1; step < task->size && !result && place_of(task, side, task->me) >= 0; ++step)
      result = add_peer(b, side, step);
  }
  for (int side = 0; side < CUTT_SIDES; ++side) finish_flow(x, &x->flow[side], b->shapes);
  return result ? result : add_own(b);
}

cuttResult cutt_exchange_make(cutt_exchange *exchange, const cutt_task *task, cutt_shapes *shapes, cutt_way way) {
  *exchange = (cutt_exchange){.way = way};
  builder *b = calloc(1, sizeof *b);
  if (!b) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes to plan an exchange", sizeof *b);
  b->exchange = exchange;
  b->task = task;
  b->shapes = shapes;
  const cuttResult result = make_all(b);
  for (int side = 0; side < CUTT_SIDES; ++side) {
    cutt_sets_free(&b->table[side].sets);
    free(b->table[side].first);
  }
  free(b);
  return result;
}

void cutt_exchange_free(cutt_exchange *exchange) {
  for (int side = 0; side < CUTT_SIDES; ++side) {
    free_flow(&exchange->flow[side]);
    free_flow(&exchange->own[side]);
  }
  free(exchange->move);
  free(exchange->join.place);
  *exchange = (cutt_exchange){.way = exchange->way};
}

int64_t cutt_flow_rounds(const cutt_flow *flow) {
  int64_t rounds = 0;
  for (int64_t i = 0; i < flow->pieces; ++i) rounds = larger(rounds, flow->piece[i].number + 1);
  return rounds;
}

int64_t cutt_exchange_rounds(const cutt_exchange *exchange) {
  return larger(cutt_flow_rounds(&exchange->flow[CUTT_FROM]), cutt_flow_rounds(&exchange->flow[CUTT_TO]));
}
