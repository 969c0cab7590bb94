/* Executions by the host's messages, or by writing into peers' outputs.
 *
 * Messages of a rank have an order: by step, the distance to the peer, then by number. It starts receives and sends in that order
 * as long as there is room, and then waits for the first that is under way; what it received is unpacked, and the room is free
 * for the next. So packing, messages and unpacking of different pieces go on side by side, and none waits for ever: take the first
 * message of all ranks that is not finished. Whatever a rank waits for is no later than what fills its room, so both of its ends
 * have started it, or are not waiting. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "dist/plan.h"
#include "dist/reach.h"
#include "plan/services.h"

/* An execution. */
typedef struct run {
  struct cuttDistPlanStruct *plan;
  const unsigned char *in;
  unsigned char *out;
  cudaStream_t stream;
} run;

int64_t cutt_dist_add(struct cuttDistPlanStruct *plan, int64_t n, int64_t first, int64_t count,
                      const unsigned char *from, unsigned char *to) {
  if (count == 0) return n;
  const cutt_move *move = plan->exchange.move + first;
  for (int64_t i = 0; i < count; ++i) {
    plan->plans[n + i] = plan->shapes.shape[move[i].shape].plan;
    plan->in[n + i] = from + move[i].from;
    plan->out[n + i] = to + move[i].to;
  }
  return n + count;
}

cuttResult cutt_dist_launch(const struct cuttDistPlanStruct *plan, int64_t n, cudaStream_t stream) {
  return n > 0 ? cuttPlansExecute(n, plan->plans, plan->in, plan->out, stream) : CUTT_SUCCESS;
}

/* Permutes the boxes of a piece, or of what is kept. */
static cuttResult permute(const run *r, int64_t first, int64_t count, const unsigned char *from, unsigned char *to) {
  return cutt_dist_launch(r->plan, cutt_dist_add(r->plan, 0, first, count, from, to), r->stream);
}

/* ------------------------------------------------------------------------------------------------------------- channels */

/* Room for a piece, in the order in which it is given back; -1: there is none now. */
static int64_t take_room(cutt_channel *c, int64_t bytes) {
  bytes = cutt_piece_room(bytes);
  if (c->taken == 0) c->head = c->tail = 0;
  const bool wrapped = c->taken > 0 && c->head <= c->tail;
  int64_t begin = c->head;
  if (wrapped ? begin + bytes > c->tail : begin + bytes > c->ring_bytes) {
    if (wrapped || bytes > c->tail) return -1;
    begin = 0;
  }
  c->head = begin + bytes;
  c->taken++;
  return begin;
}

/* In pinned memory every message has room. */
static bool needs_room(const struct cuttDistPlanStruct *plan, const cutt_piece *piece) {
  return piece->staged || plan->device.pinned_messages;
}

/* On a device: waits for what the stream has been given. */
static cuttResult wait_for_stream(const run *r) {
  const cutt_device_part *d = &r->plan->device;
  if (!d->runtime) return CUTT_SUCCESS;
  const cuttResult result = d->runtime->event_record(d->packed[0], r->stream);
  return result ? result : d->runtime->event_wait(d->packed[0]);
}

/* Copies between the host's room of a message and the device, behind what the stream has been given; waits if the host needs the
 * outcome, or the room. */
static cuttResult copy_and_wait(const run *r, void *to, const void *from, int64_t bytes) {
  const cutt_device_part *d = &r->plan->device;
  const cuttResult result = d->runtime->copy_start(to, from, (size_t)bytes, r->stream);
  return result ? result : wait_for_stream(r);
}

/* Where a piece's room begins: no more pieces are begun at once than there are requests, and one of which all that was sent is done. */
static int64_t *begin_of(const cutt_channel *c, int64_t piece) { return &c->begin[piece % (c->requests + 1)]; }

/* Gives back the oldest room. The next oldest begins where the next piece that has room says. */
static void give_room(cutt_channel *c) {
  c->taken--;
  for (int64_t i = c->finished; i < c->posted + (c->part_posted > 0); ++i) {
    const int64_t begin = *begin_of(c, i);
    if (begin < 0) continue;
    c->tail = begin;
    return;
  }
}

static cuttResult message_failed(const run *r, const char *what, const cutt_piece *piece) {
  const struct cuttDistCommStruct *comm = r->plan->comm;
  const cuttResult result = cutt_comm_failure(comm); /* of whoever was first */
  if (result) return result;
  return cutt_error(CUTT_INTERNAL_ERROR, "the transport %s could not %s rank %d: %" PRId64 " bytes of piece %" PRId64,
                    comm->transport.name, what, piece->peer, piece->bytes, piece->number);
}

/* Packs a piece, if it has to be. */
static cuttResult pack(const run *r, const cutt_piece *piece, int64_t begin) {
  const cutt_channel *c = &r->plan->channel[CUTT_FROM];
  if (piece->staged) {
    const cuttResult result = permute(r, piece->first, piece->moves, r->in, c->ring + begin);
    if (result) return result;
  }
  if (!r->plan->device.pinned_messages) return piece->staged ? wait_for_stream(r) : CUTT_SUCCESS;
  return copy_and_wait(r, c->host + begin, piece->staged ? c->ring + begin : r->in + piece->offset, piece->bytes);
}

/* Where a part of a piece is: in its room, or in the tensor, at *offset. NULL: the latter. */
static unsigned char *place_of(const run *r, int side, const cutt_piece *piece, int64_t begin, int64_t *offset) {
  const cutt_channel *c = &r->plan->channel[side];
  const int64_t part = c->part_posted, behind = piece->bytes / piece->parts * part;
  *offset = piece->parts > 1 && !piece->staged ? r->plan->exchange.flow[side].part_offset[piece->first_part + part]
                                               : piece->offset;
  if (r->plan->device.pinned_messages) return c->host + begin + behind;
  return piece->staged ? c->ring + begin + behind : NULL;
}

static cuttResult unpack(const run *r, const cutt_piece *piece, int64_t begin) {
  const cutt_channel *c = &r->plan->channel[CUTT_TO];
  if (r->plan->device.pinned_messages) {
    unsigned char *to = piece->staged ? c->ring + begin : r->out + piece->offset;
    const cuttResult result = copy_and_wait(r, to, c->host + begin, piece->bytes);
    if (result) return result;
  }
  if (!piece->staged) return CUTT_SUCCESS;
  const cuttResult result = permute(r, piece->first, piece->moves, c->ring + begin, r->out);
  /* What arrives next in this room does not come in the stream. */
  return result || r->plan->device.pinned_messages ? result : wait_for_stream(r);
}

/* Begins the next piece, if there is room for it: takes that, and packs. */
static cuttResult begin_piece(const run *r, int side, const cutt_piece *piece, bool *begun) {
  cutt_channel *c = &r->plan->channel[side];
  const int64_t begin = needs_room(r->plan, piece) ? take_room(c, piece->bytes) : -1;
  *begun = begin >= 0 || !needs_room(r->plan, piece);
  if (!*begun) return CUTT_SUCCESS;
  *begin_of(c, c->posted) = begin;
  return side == CUTT_FROM ? pack(r, piece, begin) : CUTT_SUCCESS;
}

/* Starts the next receive or send, if there is room for it: *started. */
static cuttResult start_next(const run *r, int side, bool *started) {
  struct cuttDistPlanStruct *plan = r->plan;
  const cuttDistTransport_t *t = &plan->comm->transport;
  cutt_channel *c = &plan->channel[side];
  const cutt_flow *flow = &plan->exchange.flow[side];
  *started = false;
  if (c->posted == flow->pieces || c->sent - c->done == c->requests) return CUTT_SUCCESS;
  const cutt_piece *piece = &flow->piece[c->posted];
  bool begun = true;
  const cuttResult result = c->part_posted ? CUTT_SUCCESS : begin_piece(r, side, piece, &begun);
  if (result || !begun) return result;
  cuttDistRequest_t *request = &c->request[c->sent % c->requests];
  int64_t offset = 0;
  unsigned char *room = place_of(r, side, piece, *begin_of(c, c->posted), &offset);
  const int64_t bytes = piece->bytes / piece->parts;
  const int lost = side == CUTT_FROM ? t->send(t->data, piece->peer, room ? room : r->in + offset, bytes, request)
                                     : t->receive(t->data, piece->peer, room ? room : r->out + offset, bytes, request);
  if (lost) return message_failed(r, side == CUTT_FROM ? "send to" : "receive from", piece);
  c->sent++;
  if (++c->part_posted == piece->parts) {
    c->part_posted = 0;
    c->posted++;
  }
  *started = true;
  return CUTT_SUCCESS;
}

/* Waits for the oldest message that is under way; a piece is unpacked when its last one has come. */
static cuttResult finish_oldest(const run *r, int side) {
  struct cuttDistPlanStruct *plan = r->plan;
  const cuttDistTransport_t *t = &plan->comm->transport;
  cutt_channel *c = &plan->channel[side];
  const cutt_piece *piece = &plan->exchange.flow[side].piece[c->finished];
  const int64_t begin = *begin_of(c, c->finished);
  const int lost = t->wait(t->data, &c->request[c->done % c->requests]);
  c->done++;
  if (lost) return message_failed(r, side == CUTT_FROM ? "send to" : "receive from", piece);
  if (++c->part_finished < piece->parts) return CUTT_SUCCESS;
  c->part_finished = 0;
  c->finished++;
  cuttResult result = CUTT_SUCCESS;
  if (side == CUTT_TO) result = unpack(r, piece, begin);
  if (begin >= 0) give_room(c);
  return result;
}

/* The side of the first message that is under way; a receive comes before a send of the same place in the order. -1: none is. */
static int first_under_way(const struct cuttDistPlanStruct *plan) {
  const cutt_piece *piece[CUTT_SIDES] = {NULL, NULL};
  for (int side = 0; side < CUTT_SIDES; ++side) {
    const cutt_channel *c = &plan->channel[side];
    if (c->done < c->sent) piece[side] = &plan->exchange.flow[side].piece[c->finished];
  }
  const cutt_piece *sent = piece[CUTT_FROM], *received = piece[CUTT_TO];
  if (!sent || !received) return sent ? CUTT_FROM : received ? CUTT_TO : -1;
  if (sent->step != received->step) return sent->step < received->step ? CUTT_FROM : CUTT_TO;
  if (sent->number != received->number) return sent->number < received->number ? CUTT_FROM : CUTT_TO;
  return plan->channel[CUTT_FROM].part_finished < plan->channel[CUTT_TO].part_finished ? CUTT_FROM : CUTT_TO;
}

static cuttResult start_all(const run *r, int side) {
  bool started = true;
  cuttResult result = CUTT_SUCCESS;
  while (started && !result) result = start_next(r, side, &started);
  return result;
}

static cuttResult exchange_messages(const run *r) {
  struct cuttDistPlanStruct *plan = r->plan;
  const cutt_exchange *x = &plan->exchange;
  bool kept = false;
  for (;;) {
    cuttResult result = start_all(r, CUTT_TO);
    if (!result) result = start_all(r, CUTT_FROM);
    if (!result && !kept) result = permute(r, x->kept_first, x->kept_moves, r->in, r->out);
    kept = true;
    if (result) return result;
    const int side = first_under_way(plan);
    if (side < 0) return CUTT_SUCCESS;
    result = finish_oldest(r, side);
    if (result) return result;
  }
}

/* After a failure: the transport lets go of all messages. */
static void drain(struct cuttDistPlanStruct *plan) {
  const cuttDistTransport_t *t = &plan->comm->transport;
  for (int side = 0; side < CUTT_SIDES; ++side) {
    cutt_channel *c = &plan->channel[side];
    for (; c->done < c->sent; c->done++) t->wait(t->data, &c->request[c->done % c->requests]);
  }
}

/* --------------------------------------------------------------------------------------------------------------- direct */

static cuttResult reach_peers(const run *r) {
  const cutt_flow *flow = &r->plan->exchange.flow[CUTT_FROM];
  cuttResult result = CUTT_SUCCESS;
  for (int64_t i = 0; i < flow->pieces && !result; ++i) {
    cutt_start peer;
    memcpy(&peer, r->plan->comm->records[flow->piece[i].peer].what, sizeof peer);
    result = cutt_reach_peer(r->plan->comm, NULL, flow->piece[i].peer, peer.token, &r->plan->reached[i]);
  }
  return result;
}

/* What is done of so many moves in one of the turns. */
static int64_t add_turn(const run *r, int64_t n, int64_t first, int64_t moves, int64_t turn, int64_t turns,
                        unsigned char *out) {
  const int64_t begin = moves * turn / turns, end = moves * (turn + 1) / turns;
  return cutt_dist_add(r->plan, n, first + begin, end - begin, r->in, out);
}

/* What stays and what each peer gets are worked on by turns, in one launch. */
static cuttResult write_directly(const run *r) {
  const cutt_exchange *x = &r->plan->exchange;
  const cutt_flow *flow = &x->flow[CUTT_FROM];
  const cuttResult result = reach_peers(r);
  const int64_t turns = x->most_moves;
  int64_t n = 0;
  for (int64_t turn = 0; turn < turns && !result; ++turn) {
    n = add_turn(r, n, x->kept_first, x->kept_moves, turn, turns, r->out);
    for (int64_t i = 0; i < flow->pieces; ++i)
      n = add_turn(r, n, flow->piece[i].first, flow->piece[i].moves, turn, turns, r->plan->reached[i]);
  }
  return result ? result : cutt_dist_launch(r->plan, n, r->stream);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to, by way of a struct */
cuttResult cutt_dist_run(struct cuttDistPlanStruct *plan, const unsigned char *in, unsigned char *out,
                         cudaStream_t stream) {
  const run r = {plan, in, out, stream};
  for (int side = 0; side < CUTT_SIDES; ++side) {
    cutt_channel *c = &plan->channel[side];
    c->sent = c->done = c->posted = c->finished = c->part_posted = c->part_finished = 0;
    c->taken = c->head = c->tail = 0;
  }
  if (plan->exchange.way == CUTT_WAY_DIRECT) return write_directly(&r);
  const cuttResult result = exchange_messages(&r);
  if (!result) return CUTT_SUCCESS;
  const cuttResult failure = cutt_comm_fail(plan->comm);
  drain(plan);
  return failure;
}

/* ------------------------------------------------------------------------------------------------------- arguments */

cuttResult cutt_dist_check_tensors(const struct cuttDistPlanStruct *plan, const void *in, const void *out) {
  const cutt_task *task = &plan->task;
  const void *const tensor[CUTT_SIDES] = {in, out};
  for (int side = 0; side < CUTT_SIDES; ++side)
    if (!tensor[side] && task->volume[side] > 0)
      return cutt_error(CUTT_INVALID_PARAMETER, "%s is NULL; it must point to element (0, ..., 0) of this rank's part",
                        side == CUTT_FROM ? "in" : "out");
  if (task->volume[CUTT_FROM] == 0 || task->volume[CUTT_TO] == 0) return CUTT_SUCCESS;
  const uintptr_t from = (uintptr_t)in + (uintptr_t)plan->low[CUTT_FROM];
  const uintptr_t from_end = (uintptr_t)in + (uintptr_t)plan->high[CUTT_FROM];
  const uintptr_t to = (uintptr_t)out + (uintptr_t)plan->low[CUTT_TO];
  const uintptr_t to_end = (uintptr_t)out + (uintptr_t)plan->high[CUTT_TO];
  if (from >= to_end || to >= from_end) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "in spans bytes [0x%" PRIxPTR ", 0x%" PRIxPTR ") and out [0x%" PRIxPTR ", 0x%" PRIxPTR
                    "), which overlap; they may not",
                    from, from_end, to, to_end);
}
