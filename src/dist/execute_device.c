/* Executions on tensors in the memory of a device.
 *
 * In rounds: packing and unpacking are in the caller's stream, messages in the plan's own, and events order them. The caller's
 * stream is given the packing of as many rounds as there is room for before it first waits for one that has arrived; from then on,
 * with room for two, it unpacks round k and packs round k + 2 while round k + 1 travels.
 *
 * By copies a rank fetches what its peers have packed, in its own stream, behind their events: between threads, and between
 * processes that have opened each other's memory and events. There it also fills its peers' slots, if what arrives has to be
 * unpacked. Ranks meet once in a round, since an event can only be waited for after it has been recorded.
 *
 * Directly: the permuting kernel writes into the peers' outputs. Events tell when these may be written, and when they have been;
 * where ranks have no events in common, each waits for its stream before it says so. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dist/plan.h"
#include "dist/reach.h"
#include "plan/services.h"

typedef struct run {
  struct cuttDistPlanStruct *plan;
  cutt_device_part *d;
  const cutt_runtime *runtime;
  const unsigned char *in;
  unsigned char *out;
  cudaStream_t stream;
  bool orders; /* it comes after the plan's last execution, whose stream may have been another one */
} run;

#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    const cuttResult result_ = (call);                                                                                 \
    if (result_ != CUTT_SUCCESS) return result_;                                                                       \
  } while (0)

/* Of a round: its room, the same on all ranks; and by copies the stream of its messages. */
static int slot_of(const run *r, int64_t round) { return (int)(round % r->d->slots); }
static cudaStream_t side_of(const run *r, int64_t round) { return r->d->side[round % r->d->lanes]; }

/* This rank's own part of a round that is unpacked with the others'. */
static cuttResult keep_in_room(const run *r, int64_t round) {
  const cutt_join *join = &r->plan->exchange.join;
  unsigned char *room = r->d->slot[CUTT_TO][slot_of(r, round)] + join->own_place * join->stride;
  if (round >= join->rounds) return CUTT_SUCCESS;
  return cutt_dist_launch(r->plan, cutt_dist_add(r->plan, 0, join->own_first + round, 1, r->in, room), r->stream);
}

/* Part `part` of so many of what stays. */
static cuttResult keep(const run *r, int64_t part, int64_t parts, cudaStream_t stream) {
  const cutt_exchange *x = &r->plan->exchange;
  if (x->join.rounds) return keep_in_room(r, part);
  const int64_t each = x->kept_moves / parts, more = x->kept_moves % parts;
  const int64_t first = part * each + smaller(part, more), count = each + (part < more);
  return cutt_dist_launch(r->plan, cutt_dist_add(r->plan, 0, x->kept_first + first, count, r->in, r->out), stream);
}

/* -------------------------------------------------------------------------------------------------------------- rounds */

static unsigned char *room_of(const run *r, const cutt_device_part *its, int side, int64_t round, int64_t piece) {
  return its->slot[side][slot_of(r, round)] + its->rounds[side].room[piece];
}

/* Ranks that are processes and copy. */
static bool opens(const cutt_device_part *d) { return d->way == CUTT_BY_COPIES && !d->shared; }

/* Is a piece in a slot before or after its way? Other processes know where the slots are, and nothing else. */
static bool is_in_slot(const cutt_device_part *d, int side, const cutt_piece *piece) {
  if (piece->staged || !opens(d)) return piece->staged;
  return side == CUTT_FROM ? !d->all[piece->peer]->filled : d->filled;
}

static cuttResult permute_round(const run *r, int side, int64_t round) {
  const cutt_rounds *rounds = &r->d->rounds[side];
  const cutt_flow *flow = &r->plan->exchange.flow[side];
  int64_t n = 0;
  if (round >= rounds->rounds) return CUTT_SUCCESS;
  if (side == CUTT_TO && r->plan->exchange.join.rounds) {
    n = cutt_dist_add(r->plan, 0, r->plan->exchange.join.all_first + round, 1, r->d->slot[side][slot_of(r, round)],
                      r->out);
    return cutt_dist_launch(r->plan, n, r->stream);
  }
  for (int64_t i = rounds->first[round]; i < rounds->first[round + 1]; ++i) {
    const cutt_piece *piece = &flow->piece[rounds->piece[i]];
    if (!is_in_slot(r->d, side, piece)) continue;
    unsigned char *room = room_of(r, r->d, side, round, rounds->piece[i]);
    n = side == CUTT_FROM ? cutt_dist_add(r->plan, n, piece->first, piece->moves, r->in, room)
                          : cutt_dist_add(r->plan, n, piece->first, piece->moves, room, r->out);
  }
  return cutt_dist_launch(r->plan, n, r->stream);
}

static cuttResult lost(const run *r) {
  const struct cuttDistCommStruct *comm = r->plan->comm;
  const cuttResult result = cutt_comm_failure(comm);
  return result ? result
                : cutt_error(CUTT_INTERNAL_ERROR, "the transport %s could not exchange messages", comm->transport.name);
}

static cuttResult exchange_in_stream(const run *r, int64_t round) {
  const cuttDistTransport_t *t = &r->plan->comm->transport;
  cutt_device_part *d = r->d;
  int count = 0;
  for (int side = 0; side < CUTT_SIDES; ++side) {
    const cutt_rounds *rounds = &d->rounds[side];
    if (round >= rounds->rounds) continue;
    for (int64_t i = rounds->first[round]; i < rounds->first[round + 1]; ++i) {
      const cutt_piece *piece = &r->plan->exchange.flow[side].piece[rounds->piece[i]];
      unsigned char *tensor = side == CUTT_FROM ? (unsigned char *)(uintptr_t)r->in : r->out;
      d->message[count++] = (cuttDistMessage_t){
          .peer = piece->peer,
          .receives = side == CUTT_TO,
          .bytes = piece->staged ? room_of(r, d, side, round, rounds->piece[i]) : tensor + piece->offset,
          .count = piece->bytes};
    }
  }
  if (count == 0) return CUTT_SUCCESS;
  return t->exchange(t->data, d->message, count, d->side[0]) ? lost(r) : CUTT_SUCCESS;
}

/* A barrier of the host's. */
static cuttResult meet(const run *r) {
  const cuttDistTransport_t *t = &r->plan->comm->transport;
  const unsigned char mine = 0;
  return t->allgather(t->data, &mine, 1, r->plan->comm->whys) ? lost(r) : CUTT_SUCCESS;
}

/* The peer's piece of a round that is for this rank; -1: there is none. */
static int64_t piece_for(const cutt_device_part *peer, int64_t round, int me) {
  const cutt_rounds *rounds = &peer->rounds[CUTT_FROM];
  if (round >= rounds->rounds) return -1;
  for (int64_t i = rounds->first[round]; i < rounds->first[round + 1]; ++i)
    if (peer->exchange->flow[CUTT_FROM].piece[rounds->piece[i]].peer == me) return rounds->piece[i];
  return -1;
}

/* Where a piece of a round is with the peer that sends it: *from. */
static cuttResult find_piece(const run *r, const cutt_piece *piece, int64_t round, const unsigned char **from) {
  const cutt_device_part *peer = r->d->all[piece->peer];
  if (!r->d->shared) {
    *from = peer->slot[CUTT_FROM][slot_of(r, round)] + peer->stride * (piece->step - 1);
    return CUTT_SUCCESS;
  }
  const int64_t its = piece_for(peer, round, r->plan->task.me);
  if (its < 0) return cutt_error(CUTT_INTERNAL_ERROR, "rank %d has no such piece", piece->peer);
  const cutt_piece *source = &peer->exchange->flow[CUTT_FROM].piece[its];
  *from = source->staged ? room_of(r, peer, CUTT_FROM, round, its) : peer->in + source->offset;
  return CUTT_SUCCESS;
}

/* Fills the slots of peers that want it, once they are empty. */
static cuttResult fill(const run *r, int64_t round) {
  const cutt_device_part *d = r->d;
  const cutt_rounds *rounds = &d->rounds[CUTT_FROM];
  const int slot = slot_of(r, round);
  if (round >= rounds->rounds) return CUTT_SUCCESS;
  for (int64_t i = rounds->first[round]; i < rounds->first[round + 1]; ++i) {
    const cutt_piece *piece = &r->plan->exchange.flow[CUTT_FROM].piece[rounds->piece[i]];
    const cutt_device_part *peer = d->all[piece->peer];
    if (!peer->filled) continue;
    TRY(r->runtime->stream_wait(side_of(r, round), round < d->slots ? peer->begun : peer->emptied[slot]));
    TRY(r->runtime->copy_start(
        peer->slot[CUTT_TO][slot] + peer->room,
        piece->staged ? room_of(r, d, CUTT_FROM, round, rounds->piece[i]) : r->in + piece->offset, (size_t)piece->bytes,
        side_of(r, round)));
  }
  return CUTT_SUCCESS;
}

static cuttResult fetch(const run *r, int64_t round) {
  cutt_device_part *d = r->d;
  const cutt_rounds *rounds = &d->rounds[CUTT_TO];
  if (round >= rounds->rounds || d->filled) return CUTT_SUCCESS;
  for (int64_t i = rounds->first[round]; i < rounds->first[round + 1]; ++i) {
    const cutt_piece *piece = &r->plan->exchange.flow[CUTT_TO].piece[rounds->piece[i]];
    const unsigned char *from = NULL;
    unsigned char *to = piece->staged ? room_of(r, d, CUTT_TO, round, rounds->piece[i]) : r->out + piece->offset;
    TRY(find_piece(r, piece, round, &from));
    TRY(r->runtime->stream_wait(side_of(r, round), d->all[piece->peer]->packed[slot_of(r, round)]));
    TRY(r->runtime->copy_start(to, from, (size_t)piece->bytes, side_of(r, round)));
  }
  return CUTT_SUCCESS;
}

static cuttResult copy_round(const run *r, int64_t round) {
  TRY(meet(r));
  if (opens(r->d)) TRY(fill(r, round));
  return fetch(r, round);
}

/* Packs a round, where the room of the one before the last is free again, and exchanges it. */
static cuttResult begin_round(const run *r, int64_t round) {
  cutt_device_part *d = r->d;
  const int slot = slot_of(r, round);
  const cutt_rounds *sent = &d->rounds[CUTT_FROM];
  const int64_t before = round - d->slots;
  if (d->way == CUTT_BY_COPIES && before >= 0 && before < sent->rounds) {
    for (int64_t i = sent->first[before]; i < sent->first[before + 1]; ++i) {
      const cutt_device_part *peer = d->all[r->plan->exchange.flow[CUTT_FROM].piece[sent->piece[i]].peer];
      TRY(r->runtime->stream_wait(r->stream, (peer->filled ? d : peer)->arrived[slot]));
    }
  }
  TRY(permute_round(r, CUTT_FROM, round));
  TRY(r->runtime->event_record(d->packed[slot], r->stream));
  TRY(r->runtime->stream_wait(side_of(r, round), d->packed[slot]));
  TRY(d->way == CUTT_BY_COPIES ? copy_round(r, round) : exchange_in_stream(r, round));
  return r->runtime->event_record(d->arrived[slot], side_of(r, round));
}

/* NCCL's blocks want multiprocessors of their own, and find none once a permutation has filled them all: so it gets the head start of
 * what filling a little memory takes. */
static cuttResult let_messages_start(const run *r) {
  cutt_device_part *d = r->d;
  if (!d->pause) return CUTT_SUCCESS;
  for (int i = 0; i < CUTT_PAUSES; ++i)
    TRY(r->runtime->fill_words(d->pause, 0, CUTT_PAUSE_BYTES / sizeof(uint32_t), r->stream));
  return CUTT_SUCCESS;
}

/* Lets the caller's stream wait until a round has arrived: by this rank's copies, or by those of its peers, which tell of them
 * before they begin the next round, or meet once more after the last one. */
static cuttResult await_round(const run *r, int64_t round) {
  const cutt_device_part *d = r->d;
  const cutt_rounds *rounds = &d->rounds[CUTT_TO];
  const int slot = slot_of(r, round);
  if (opens(d) && round + 1 == d->all_rounds) TRY(meet(r));
  if (!d->filled) return r->runtime->stream_wait(r->stream, d->arrived[slot]);
  for (int64_t i = rounds->first[round]; round < rounds->rounds && i < rounds->first[round + 1]; ++i)
    TRY(r->runtime->stream_wait(r->stream,
                                d->all[r->plan->exchange.flow[CUTT_TO].piece[rounds->piece[i]].peer]->arrived[slot]));
  return CUTT_SUCCESS;
}

/* Lets it come after all copies of this rank, or of a peer: the last of each stream. */
static cuttResult await_copies(const run *r, const cutt_device_part *its) {
  const int64_t rounds = r->d->all_rounds;
  for (int64_t k = larger(rounds - r->d->lanes, (int64_t)0); k < rounds; ++k)
    TRY(r->runtime->stream_wait(r->stream, its->arrived[slot_of(r, k)]));
  return CUTT_SUCCESS;
}

static cuttResult run_rounds(const run *r) {
  cutt_device_part *d = r->d;
  for (int64_t k = 0; k < d->all_rounds && k < d->slots; ++k) TRY(begin_round(r, k));
  const int64_t parts = larger(d->all_rounds, (int64_t)1);
  TRY(let_messages_start(r));
  TRY(keep(r, 0, parts, r->stream));
  for (int64_t k = 0; k < d->all_rounds; ++k) {
    TRY(await_round(r, k));
    if (k + 1 < d->all_rounds) TRY(let_messages_start(r));
    TRY(permute_round(r, CUTT_TO, k));
    if (d->filled) TRY(r->runtime->event_record(d->emptied[slot_of(r, k)], r->stream));
    if (k + d->slots < d->all_rounds) TRY(begin_round(r, k + d->slots));
    if (k + 1 < parts) TRY(keep(r, k + 1, parts, r->stream)); /* while the next round travels */
  }
  if (opens(d)) TRY(await_copies(r, d)); /* this rank may still fill others' slots */
  return r->orders ? r->runtime->event_record(d->ended, r->stream) : CUTT_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------------------- direct */

/* Whom this rank writes to has begun: whatever it did with its output before is done by then. */
static cuttResult wait_for_peers(const run *r) {
  const cutt_flow *flow = &r->plan->exchange.flow[CUTT_FROM];
  for (int64_t i = 0; i < flow->pieces && r->d->near; ++i)
    TRY(r->runtime->stream_wait(r->stream, r->d->all[flow->piece[i].peer]->begun));
  return CUTT_SUCCESS;
}

/* Where the outputs of a piece's peer are; behind the last piece, this rank's own. */
static cuttResult find_output(const run *r, int64_t number, unsigned char **out) {
  const cutt_flow *flow = &r->plan->exchange.flow[CUTT_FROM];
  cutt_start peer;
  *out = r->out;
  if (number == flow->pieces) return CUTT_SUCCESS;
  memcpy(&peer, r->plan->comm->records[flow->piece[number].peer].what, sizeof peer);
  return cutt_reach_peer(r->plan->comm, r->runtime, flow->piece[number].peer, peer.token, out);
}

static cuttResult write_by_turns(const run *r) {
  const cutt_exchange *x = &r->plan->exchange;
  const cutt_device_part *d = r->d;
  int64_t n = 0;
  for (int64_t i = 0; i <= x->flow[CUTT_FROM].pieces; ++i) TRY(find_output(r, i, &d->output[i]));
  for (int64_t i = 0; i < d->turns; ++i)
    n = cutt_dist_add(r->plan, n, d->turn[i].move, 1, r->in, d->output[d->turn[i].piece]);
  return cutt_dist_launch(r->plan, n, r->stream);
}

/* What stays is permuted in the other stream, beside what goes over links. */
static cuttResult write_beside(const run *r) {
  cutt_device_part *d = r->d;
  int64_t n = 0;
  TRY(r->runtime->stream_wait(d->side[0], d->begun));
  TRY(keep(r, 0, 1, d->side[0]));
  const cutt_flow *flow = &r->plan->exchange.flow[CUTT_FROM];
  for (int64_t i = 0; i < flow->pieces; ++i) {
    unsigned char *out = NULL;
    TRY(find_output(r, i, &out));
    n = cutt_dist_add(r->plan, n, flow->piece[i].first, flow->piece[i].moves, r->in, out);
  }
  TRY(cutt_dist_launch(r->plan, n, r->stream));
  TRY(r->runtime->event_record(d->packed[0], d->side[0]));
  return r->runtime->stream_wait(r->stream, d->packed[0]);
}

static cuttResult write_directly(const run *r) {
  TRY(wait_for_peers(r));
  TRY(r->d->turns > 0 ? write_by_turns(r) : write_beside(r));
  return r->runtime->event_record(r->d->ended, r->stream);
}

/* ----------------------------------------------------------------------------------------------------------- execution */

/* Does the host wait for the stream before it tells the others that all is done? */
static bool waits(const struct cuttDistPlanStruct *plan) {
  const cutt_device_part *d = &plan->device;
  return d->way == CUTT_BY_HOST || (!d->near && plan->exchange.way == CUTT_WAY_DIRECT);
}

static bool agrees(const struct cuttDistPlanStruct *plan) {
  return !plan->trusts || plan->device.way != CUTT_IN_STREAM || plan->exchange.way == CUTT_WAY_DIRECT;
}

/* Executions by messages share the plan's room. A graph is ordered by whoever launches it: events that a capture has recorded are
 * for nothing else. */
static bool shares_room(const run *r) {
  bool captured = false;
  if (r->plan->exchange.way == CUTT_WAY_DIRECT || r->d->way == CUTT_BY_HOST) return false;
  return !r->runtime->stream_is_captured(r->stream, &captured) && !captured;
}

bool cutt_dist_can_be_captured(const struct cuttDistPlanStruct *plan) {
  return plan->device.way == CUTT_IN_STREAM && plan->exchange.way != CUTT_WAY_DIRECT;
}

static cuttResult check(const run *r) {
  const struct cuttDistPlanStruct *plan = r->plan;
  bool captured = false;
  void *at = NULL;
  TRY(cutt_dist_check_tensors(plan, r->in, r->out));
  const cutt_target *target = r->runtime->target();
  if (plan->task.volume[CUTT_FROM] > 0) TRY(r->runtime->reach(target, r->in, "in", &at));
  if (plan->task.volume[CUTT_TO] > 0) TRY(r->runtime->reach(target, r->out, "out", &at));
  if (cutt_dist_can_be_captured(plan)) return CUTT_SUCCESS;
  TRY(r->runtime->stream_is_captured(r->stream, &captured));
  if (!captured) return CUTT_SUCCESS;
  return cutt_error(CUTT_INVALID_PARAMETER,
                    "stream is %p, which is being captured; only executions that send messages by NCCL can be",
                    (void *)r->stream);
}

/* What begins an execution on all ranks: its arguments are valid, and outputs may be written to. */
static cuttResult begin(const run *r, uint64_t number) {
  struct cuttDistPlanStruct *plan = r->plan;
  cutt_record record = {.plan = number, .step = CUTT_STEP_START};
  cutt_start start = {{0}, 0};
  cuttResult result = check(r);
  r->d->in = r->in;
  if (!result && r->orders) result = r->runtime->stream_wait(r->stream, r->d->ended);
  if (!result) result = r->runtime->event_record(r->d->begun, r->stream);
  if (!result && waits(plan)) result = r->runtime->event_wait(r->d->begun);
  if (!result && plan->exchange.way == CUTT_WAY_DIRECT && plan->task.volume[CUTT_TO] > 0)
    result = cutt_reach_offer(plan->comm, r->runtime, r->out, plan->high[CUTT_TO], start.token);
  memcpy(record.what, &start, sizeof start);
  record.code = (int32_t)result;
  return agrees(plan) ? cutt_comm_agree(plan->comm, &record) : result;
}

/* Lets the stream come after what peers still do with this rank's memory. */
static cuttResult follow_peers(const run *r) {
  const struct cuttDistPlanStruct *plan = r->plan;
  const cutt_device_part *d = r->d;
  bool any = false;
  for (int i = 0; i < plan->task.size; ++i) {
    const cutt_device_part *peer = d->all[i];
    if (i == plan->task.me) continue;
    if (plan->exchange.way == CUTT_WAY_DIRECT) {
      TRY(r->runtime->stream_wait(r->stream, peer->ended));
      continue;
    }
    if (peer->filled || !d->all_rounds) continue; /* it fetches nothing */
    TRY(await_copies(r, peer));
    any = true;
  }
  return r->orders && any ? r->runtime->event_record(d->ended, r->stream) : CUTT_SUCCESS;
}

/* None goes before all have seen to what follows theirs, since events are the plans'. */
static cuttResult leave(const run *r) {
  cutt_record record = {.plan = r->plan->number, .step = CUTT_STEP_LEAVE};
  if (!r->d->near) return CUTT_SUCCESS;
  record.code = (int32_t)follow_peers(r);
  return cutt_comm_agree(r->plan->comm, &record);
}

/* The end of an execution by messages that this rank has started without an error. */
static cuttResult end_messages(const run *r) {
  struct cuttDistPlanStruct *plan = r->plan;
  const cutt_device_part *d = r->d;
  const cutt_record record = {.plan = plan->number, .step = CUTT_STEP_END};
  if (d->way == CUTT_IN_STREAM) return CUTT_SUCCESS;
  if (waits(plan)) {
    cuttResult result = r->runtime->event_record(d->ended, r->stream);
    if (!result) result = r->runtime->event_wait(d->ended);
    if (result) return cutt_comm_fail(plan->comm);
  }
  TRY(cutt_comm_agree(plan->comm, &record));
  return leave(r);
}

/* Waits for what this rank has given its streams, as far as they still tell. */
static void stop_writing(const run *r) {
  const cutt_device_part *d = r->d;
  if (!r->runtime->event_record(d->packed[0], d->side[0])) r->runtime->event_wait(d->packed[0]);
  if (!r->runtime->event_record(d->ended, r->stream)) r->runtime->event_wait(d->ended);
}

/* The end of a direct execution: nothing waits for a message, so that all ranks come to it, with what has failed. When something
 * has, on any of them, none returns while others may still write to its output. */
static cuttResult end_direct(const run *r, cuttResult written) {
  struct cuttDistPlanStruct *plan = r->plan;
  cutt_record record = {.plan = plan->number, .step = CUTT_STEP_END};
  cuttResult result = written;
  if (!result && waits(plan)) result = r->runtime->event_wait(r->d->ended);
  record.code = (int32_t)result;
  result = cutt_comm_agree(plan->comm, &record);
  if (!result) result = leave(r);
  if (!result) return CUTT_SUCCESS;
  char text[2 * CUTT_WHY_BYTES];
  snprintf(text, sizeof text, "%s", cuttLastError());
  TRY(cutt_comm_failure(plan->comm));
  stop_writing(r);
  record = (cutt_record){.plan = plan->number, .step = CUTT_STEP_STOPPED};
  TRY(cutt_comm_agree(plan->comm, &record));
  return cutt_error(result, "%s", text);
}

cuttResult cutt_dist_execute_device(struct cuttDistPlanStruct *plan, const void *in, void *out, cudaStream_t stream) {
  cutt_device_part *d = &plan->device;
  run r = {plan, d, d->runtime, in, out, stream, false};
  cutt_scope scope;
  cuttResult result = cutt_device_enter(d, stream, &scope);
  if (result && agrees(plan)) {
    const cutt_record record = {.plan = plan->number, .step = CUTT_STEP_START, .code = (int32_t)result};
    return cutt_comm_agree(plan->comm, &record);
  }
  if (result) return result;
  r.orders = shares_room(&r);
  result = begin(&r, plan->number);
  if (!result && plan->exchange.way == CUTT_WAY_DIRECT) {
    result = end_direct(&r, write_directly(&r));
  } else if (!result) {
    result = d->way == CUTT_BY_HOST ? cutt_dist_run(plan, in, out, stream) : run_rounds(&r);
    result = result ? cutt_comm_fail(plan->comm) : end_messages(&r);
  }
  cutt_device_leave(d, &scope);
  return result;
}
