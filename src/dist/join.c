/* Pieces that are unpacked together (join.h).
 *
 * Where the input is spread by a mode that is fast in the output, each rank's part makes a short run in every row, and rows are
 * written in as many parts as there are ranks. A device's memory takes a line in part for more than a whole one: it is read first.
 * So on a device this rank's own part goes through workspace, too, and one permutation takes all parts of a round, from rooms that
 * are equally far apart, and writes whole rows. That is one more mode: the rank.
 *
 * It can be where every rank that sends has as large a part, and their runs follow each other at one distance. */
#include "dist/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"

/* The ranks that a round comes from, this one included, as the last of the list. */
typedef struct sources {
  const cutt_exchange *x;
  const cutt_flow *received, *own;
  int64_t rounds, count;
  int64_t first,
      distance; /* bytes: where the first one's rows begin in round 0, and from one rank's to the next one's */
  int first_source;
} sources;

static const cutt_piece *piece_of(const sources *s, int64_t source, int64_t round) {
  return source == s->count - 1 ? &s->own->piece[round] : &s->received->piece[source * s->rounds + round];
}

static const cutt_move *move_of(const sources *s, int64_t source, int64_t round) {
  return &s->x->move[piece_of(s, source, round)->first];
}

/* Have all of them a box of the same shape in every round? */
static bool are_alike(const sources *s) {
  for (int64_t i = 0; i < s->count; ++i)
    for (int64_t k = 0; k < s->rounds; ++k) {
      const cutt_piece *piece = piece_of(s, i, k);
      if (piece->number != k || piece->moves != 1 || !piece->staged) return false;
      if (move_of(s, i, k)->shape != move_of(s, s->count - 1, k)->shape) return false;
    }
  return true;
}

static int64_t place_of(const sources *s, int64_t source, int64_t round) {
  return (move_of(s, source, round)->to - move_of(s, s->first_source, round)->to) / s->distance;
}

/* Do they follow each other at one distance, and in the same order in every round? */
static bool are_even(sources *s, const cutt_task *task) {
  int64_t last = 0;
  for (int i = 0; i < s->count; ++i) {
    const int64_t to = move_of(s, i, 0)->to;
    if (i == 0 || to < s->first) s->first_source = i;
    if (i == 0 || to < s->first) s->first = to;
    if (i == 0 || to > last) last = to;
  }
  s->distance = (last - s->first) / (s->count - 1);
  if (s->distance <= 0 || s->distance % task->elem_bytes) return false;
  for (int64_t i = 0; i < s->count; ++i)
    for (int64_t k = 0; k < s->rounds; ++k) {
      const int64_t behind = move_of(s, i, k)->to - move_of(s, s->first_source, k)->to, place = place_of(s, i, 0);
      if (place < 0 || place >= s->count || behind != place * s->distance) return false;
      for (int64_t j = 0; j < i; ++j)
        if (place_of(s, j, 0) == place) return false;
    }
  return true;
}

/* The unpacking of a round, of all sources' rooms. */
static cuttResult add_round(const sources *s, cutt_exchange *x, int64_t round, cutt_shapes *shapes, int64_t elem_bytes,
                            double *seconds) {
  const cutt_shape *one = &shapes->shape[move_of(s, s->count - 1, round)->shape];
  cutt_box *box = calloc(1, sizeof *box);
  if (!box) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a box", sizeof *box);
  const size_t bytes = (size_t)one->rank * sizeof *one->numbers;
  box->rank = one->rank + 1;
  memcpy(box->extent, one->numbers, bytes);
  memcpy(box->step[CUTT_FROM], one->numbers + one->rank, bytes);
  memcpy(box->step[CUTT_TO], one->numbers + 2 * one->rank, bytes);
  box->extent[one->rank] = s->count;
  box->step[CUTT_FROM][one->rank] = x->join.stride / elem_bytes;
  box->step[CUTT_TO][one->rank] = s->distance / elem_bytes;
  cutt_move move = {-1, 0, move_of(s, s->first_source, round)->to};
  cuttResult result = cutt_shapes_find(shapes, box, one->scaled, false, 0, &move.shape);
  free(box);
  if (!result) result = cutt_exchange_add(x, move);
  if (!result) *seconds += shapes->shape[move.shape].seconds;
  return result;
}

/* Adds the moves of joined rounds, and predicts what they take. */
static cuttResult add_rounds(sources *s, cutt_exchange *x, const cutt_task *task, cutt_shapes *shapes,
                             double seconds[CUTT_SIDES]) {
  cuttResult result = CUTT_SUCCESS;
  x->join.own_first = x->moves;
  for (int64_t k = 0; k < s->rounds && !result; ++k) {
    const cutt_move move = x->move[x->own[CUTT_FROM].piece[k].first];
    seconds[CUTT_FROM] += shapes->shape[move.shape].seconds;
    result = cutt_exchange_add(x, move);
  }
  x->join.all_first = x->moves;
  for (int64_t k = 0; k < s->rounds && !result; ++k)
    result = add_round(s, x, k, shapes, task->elem_bytes, &seconds[CUTT_TO]);
  return result;
}

cuttResult cutt_join_make(cutt_exchange *x, const cutt_task *task, cutt_shapes *shapes) {
  const cutt_flow *own = x->own;
  cutt_flow *received = &x->flow[CUTT_TO];
  sources s = {.x = x, .received = received, .own = &own[CUTT_TO], .rounds = cutt_flow_rounds(received)};
  double seconds[CUTT_SIDES] = {0, 0};
  if (s.rounds == 0 || received->pieces % s.rounds || own[CUTT_FROM].pieces != s.rounds ||
      own[CUTT_TO].pieces != s.rounds)
    return CUTT_SUCCESS;
  s.count = received->pieces / s.rounds + 1;
  if (s.count < 2) return CUTT_SUCCESS; /* nothing comes from others */
  for (int64_t k = 0; k < s.rounds; ++k)
    if (own[CUTT_FROM].piece[k].moves != 1) return CUTT_SUCCESS;
  if (!are_alike(&s) || !are_even(&s, task) || shapes->shape[move_of(&s, 0, 0)->shape].rank == CUTT_MAX_RANK)
    return CUTT_SUCCESS;
  x->join.stride = received->most_bytes;
  x->join.place = malloc((size_t)received->pieces * sizeof *x->join.place);
  if (!x->join.place) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %lld pieces", (long long)received->pieces);
  for (int64_t i = 0; i < received->pieces; ++i) x->join.place[i] = place_of(&s, i / s.rounds, 0);
  x->join.own_place = place_of(&s, s.count - 1, 0);
  const cuttResult result = add_rounds(&s, x, task, shapes, seconds);
  if (result || seconds[CUTT_FROM] + seconds[CUTT_TO] >= x->kept_seconds + received->seconds) return result;
  x->join.rounds = s.rounds;
  x->join.sources = s.count;
  x->kept_seconds = seconds[CUTT_FROM];
  received->seconds = received->all_seconds = seconds[CUTT_TO];
  return CUTT_SUCCESS;
}
