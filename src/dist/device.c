/* A plan's device: rounds, streams, events and memory (device.h). */
#include "dist/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "plan/services.h"

/* Messages in a stream, where copies could be, too: these are faster (docs/dist.md), but want a gathering in each round, and can't
 * be captured for a graph. */
static bool prefers_stream(const cuttDistTransport_t *t, const cuttDistOptions_t *options) {
  return t->exchange &&
         (options->direct == CUTT_DIST_DIRECT_NEVER || options->trust_arguments || t->gather_seconds > 0);
}

cuttResult cutt_device_select(cutt_device_part *device, const struct cuttDistCommStruct *comm,
                              const cuttDistOptions_t *options) {
  const cuttDistTransport_t *t = &comm->transport;
  const cutt_backend *backend = NULL;
  cuttBackend_t asked = options->backend;
  if (asked == CUTT_BACKEND_AUTO) asked = t->backend == CUTT_BACKEND_AUTO ? CUTT_BACKEND_CPU : t->backend;
  const cuttResult result = cutt_backend_select(asked, "options->backend", &backend);
  if (result) return result;
  device->backend = backend->id;
  const bool host = !backend->runtime->has_streams;
  if (host && t->exchange)
    return cutt_error(CUTT_INVALID_PARAMETER,
                      "options->backend is %s; the communicator's messages, by %s, are of a device's memory",
                      backend->id_name, t->name);
  if (host) return CUTT_SUCCESS;
  device->runtime = backend->runtime;
  device->comm = comm;
  device->shared = t->shared != 0;
  device->near = device->shared || comm->near > 0;
  device->way = device->near && !prefers_stream(t, options) ? CUTT_BY_COPIES
                : t->exchange                               ? CUTT_IN_STREAM
                                                            : CUTT_BY_HOST;
  device->pinned_messages = device->way == CUTT_BY_HOST && !t->takes_devices;
  device->slots = device->way == CUTT_BY_COPIES && !options->workspace_limit ? CUTT_MOST_SLOTS : 2;
  device->lanes = device->way == CUTT_BY_COPIES ? CUTT_LANES : 1;
  return CUTT_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------------------- rounds */

static void free_rounds(cutt_rounds *r) {
  free(r->piece);
  free(r->first);
  free(r->at);
  free(r->room);
  memset(r, 0, sizeof *r);
}

/* Pieces are in the order of peers, and of a peer's in that of rounds. */
static cuttResult make_rounds(cutt_rounds *r, const cutt_flow *flow, const cutt_join *join, int64_t stride, int size) {
  r->rounds = cutt_flow_rounds(flow);
  const size_t rounds = (size_t)r->rounds, pieces = (size_t)flow->pieces;
  r->piece = malloc((pieces + 1) * sizeof *r->piece);
  r->room = calloc(pieces + 1, sizeof *r->room);
  r->first = calloc(rounds + 2, sizeof *r->first);
  r->at = calloc(rounds + 2, sizeof *r->at);
  if (!r->piece || !r->first || !r->at || !r->room)
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for rounds of messages",
                      (2 * pieces + 2 * rounds) * sizeof *r->first);
  for (size_t i = 0; i < pieces; ++i) r->first[flow->piece[i].number + 1]++;
  for (size_t k = 0; k < rounds; ++k) r->first[k + 1] += r->first[k];
  for (size_t i = 0; i < pieces; ++i) {
    const int64_t k = flow->piece[i].number;
    r->piece[r->first[k] + r->at[k]++] = (int64_t)i;
  }
  for (int64_t k = 0; k < r->rounds; ++k) {
    int64_t bytes = 0;
    r->most_pieces = larger(r->most_pieces, r->first[k + 1] - r->first[k]);
    for (int64_t i = r->first[k]; i < r->first[k + 1]; ++i) {
      const cutt_piece *piece = &flow->piece[r->piece[i]];
      if (!piece->staged) continue;
      r->room[r->piece[i]] = bytes;
      bytes += cutt_piece_room(piece->bytes);
    }
    r->slot_bytes = larger(r->slot_bytes, bytes);
  }
  for (size_t i = 0; i < pieces && join && join->rounds; ++i) r->room[i] = join->stride * join->place[i];
  if (join && join->rounds) r->slot_bytes = join->stride * join->sources;
  if (!stride) return CUTT_SUCCESS;
  /* Where the peer finds its piece without being told. */
  for (size_t i = 0; i < pieces; ++i) r->room[i] = stride * (flow->piece[i].step - 1);
  r->slot_bytes = pieces ? stride * (size - 1) : 0;
  return CUTT_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------------------- making */

static void list_events(cutt_device_part *d, cutt_event **event[CUTT_EVENTS]) {
  *event++ = &d->begun;
  *event++ = &d->ended;
  for (int slot = 0; slot < CUTT_MOST_SLOTS; ++slot) {
    *event++ = &d->packed[slot];
    *event++ = &d->arrived[slot];
    *event++ = &d->emptied[slot];
  }
}

/* Messages go before kernels that wait to start: those of NCCL are few blocks, and would come after all of a permutation's. */
static cuttResult make_events(cutt_device_part *d) {
  cutt_event **event[CUTT_EVENTS];
  const int lanes = d->exchange->way == CUTT_WAY_DIRECT ? 1 : d->lanes;
  cuttResult result = CUTT_SUCCESS;
  list_events(d, event);
  for (int i = 0; i < lanes && !result; ++i) result = d->runtime->urgent_stream_create(&d->side[i]);
  for (int i = 0; i < CUTT_EVENTS && !result; ++i)
    result =
        d->near && !d->shared ? d->runtime->shared_event_create(event[i]) : d->runtime->event_create(false, event[i]);
  return result;
}

static int64_t longest_piece(const cutt_flow *flow) {
  int64_t longest = 0;
  for (int64_t i = 0; i < flow->pieces; ++i) longest = larger(longest, cutt_piece_room(flow->piece[i].bytes));
  return longest;
}

static cuttResult make_slots(cutt_device_part *d, const cutt_exchange *x, void **workspace, size_t *bytes) {
  const bool opened = d->way == CUTT_BY_COPIES && !d->shared;
  /* Copies to an opened memory are faster than from it, and where nothing has to be packed save that; but what arrives as a run of
   * the output needs no slot. */
  d->filled = opened && x->flow[CUTT_TO].through_bytes > 0;
  const int64_t filled = d->filled && !x->join.rounds ? longest_piece(&x->flow[CUTT_TO]) : 0;
  cuttResult result = make_rounds(&d->rounds[CUTT_FROM], &x->flow[CUTT_FROM], NULL, opened ? d->stride : 0, d->size);
  if (!result) result = make_rounds(&d->rounds[CUTT_TO], &x->flow[CUTT_TO], &x->join, filled, d->size);
  if (result) return result;
  const size_t messages = (size_t)(d->rounds[CUTT_FROM].most_pieces + d->rounds[CUTT_TO].most_pieces) + 1;
  d->message = malloc(messages * sizeof *d->message);
  if (!d->message) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu messages", messages);
  if (d->way == CUTT_IN_STREAM) result = d->runtime->memory_allocate(CUTT_PAUSE_BYTES, &d->pause);
  if (result) return result;
  *bytes = (size_t)(d->slots * (d->rounds[CUTT_FROM].slot_bytes + d->rounds[CUTT_TO].slot_bytes));
  /* What a process opens are blocks of the driver's; a second one that begins in an opened one would be refused. */
  const size_t block = opened ? (size_t)2 << 20 : 1;
  if (*bytes && d->knows)
    result = d->comm->known->make(d->comm->transport.data, *bytes, &d->known);
  else if (*bytes)
    result = d->runtime->memory_allocate((*bytes + block - 1) / block * block, workspace);
  if (result || !*bytes) return result;
  unsigned char *at = d->knows ? d->known.memory : *workspace;
  for (int side = 0; side < CUTT_SIDES; ++side)
    for (int slot = 0; slot < d->slots; ++slot) {
      d->slot[side][slot] = at;
      at += d->rounds[side].slot_bytes;
    }
  return CUTT_SUCCESS;
}

/* -------------------------------------------------------------------------------------------------------------- direct */

static bool is_one_shape(const cutt_exchange *x) {
  const cutt_flow *flow = &x->flow[CUTT_FROM];
  if (x->kept_moves < 2) return false;
  const int shape = x->move[x->kept_first].shape;
  for (int64_t i = 0; i < flow->pieces; ++i)
    if (x->move[flow->piece[i].first].shape != shape) return false;
  return flow->pieces > 0;
}

/* The piece whose turn it is: of which the smallest part has been taken. -1: none. */
static int64_t next_piece(const cutt_exchange *x, const int64_t *taken) {
  const cutt_flow *flow = &x->flow[CUTT_FROM];
  int64_t next = -1;
  double least = 0;
  for (int64_t i = 0; i <= flow->pieces; ++i) {
    const int64_t moves = i < flow->pieces ? flow->piece[i].moves : x->kept_moves;
    const double part = (double)(2 * taken[i] + 1) / (double)moves;
    if (taken[i] == moves || (next >= 0 && part >= least)) continue;
    next = i;
    least = part;
  }
  return next;
}

static cuttResult make_turns(cutt_device_part *d, const cutt_exchange *x) {
  const cutt_flow *flow = &x->flow[CUTT_FROM];
  const size_t pieces = (size_t)flow->pieces + 1;
  if (!is_one_shape(x)) return CUTT_SUCCESS;
  int64_t *taken = calloc(pieces, sizeof *taken);
  d->output = malloc(pieces * sizeof *d->output);
  d->turn = malloc((size_t)x->moves * sizeof *d->turn);
  if (!taken || !d->output || !d->turn) {
    free(taken);
    return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: the order of %lld boxes", (long long)x->moves);
  }
  for (int64_t i = next_piece(x, taken); i >= 0; i = next_piece(x, taken)) {
    const int64_t first = i < flow->pieces ? flow->piece[i].first : x->kept_first;
    d->turn[d->turns++] = (cutt_turn){first + taken[i]++, i};
  }
  free(taken);
  return CUTT_SUCCESS;
}

cuttResult cutt_device_make(cutt_device_part *d, const cutt_exchange *exchange, int size, void **workspace,
                            size_t *bytes) {
  d->exchange = exchange;
  cuttResult result = d->runtime->context(&d->context);
  if (!result) result = make_events(d);
  d->size = size;
  if (!result && d->near) {
    d->all = calloc((size_t)size, sizeof(struct cutt_device_part *));
    if (!d->all) result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d ranks", size);
  }
  if (!result && exchange->way != CUTT_WAY_DIRECT && d->way != CUTT_BY_HOST)
    result = make_slots(d, exchange, workspace, bytes);
  if (!result && exchange->way == CUTT_WAY_DIRECT) result = make_turns(d, exchange);
  return result;
}

static void free_events(cutt_device_part *d) {
  cutt_event **event[CUTT_EVENTS];
  list_events(d, event);
  for (int i = 0; i < CUTT_EVENTS; ++i)
    if (*event[i]) d->runtime->event_destroy(*event[i]);
}

/* What has been opened of the others; between threads it is theirs. */
static void free_neighbours(cutt_device_part *d) {
  for (int i = 0; d->all && !d->shared && i < d->size; ++i) {
    cutt_device_part *its = d->all[i];
    if (!its || its == d) continue;
    free_events(its);
    if (its->opened) d->runtime->shared_close(its->opened);
    free(its);
  }
  free(d->all);
}

void cutt_device_unmake(cutt_device_part *d) {
  free_neighbours(d);
  free_events(d);
  for (int i = 0; i < d->lanes; ++i)
    if (d->side[i]) d->runtime->stream_release(d->side[i]);
  if (d->pause) d->runtime->memory_free(d->pause);
  if (d->known.memory) d->comm->known->free(d->comm->transport.data, &d->known);
  for (int side = 0; side < CUTT_SIDES; ++side) free_rounds(&d->rounds[side]);
  free(d->message);
  free(d->turn);
  free(d->output);
  *d = (cutt_device_part){.runtime = d->runtime,
                          .backend = d->backend,
                          .way = d->way,
                          .pinned_messages = d->pinned_messages,
                          .shared = d->shared,
                          .near = d->near,
                          .slots = d->slots,
                          .lanes = d->lanes,
                          .comm = d->comm,
                          .context = d->context,
                          .pinned = d->pinned};
}

void cutt_device_free(cutt_device_part *d) {
  cutt_device_unmake(d);
  if (d->pinned) d->runtime->pinned_free(d->pinned);
  d->pinned = NULL;
}

/* ---------------------------------------------------------------------------------------------------------- neighbours */

cuttResult cutt_device_introduce(const cutt_device_part *device, const void *workspace, cutt_neighbour *own) {
  cutt_event **event[CUTT_EVENTS];
  cutt_device_part copy = *device;
  cuttResult result = CUTT_SUCCESS;
  memset(own, 0, cutt_neighbour_bytes(device->size));
  list_events(&copy, event);
  for (int side = 0; side < CUTT_SIDES; ++side) own->slot_bytes[side] = device->rounds[side].slot_bytes;
  own->stride = device->stride;
  own->filled = device->filled;
  const cutt_flow *received = &device->exchange->flow[CUTT_TO];
  for (int64_t i = 0; device->filled && i < received->pieces; ++i)
    own->room[received->piece[i].peer] = device->rounds[CUTT_TO].room[i];
  if (device->way == CUTT_BY_COPIES && workspace) result = device->runtime->share(workspace, &own->slots);
  for (int i = 0; i < CUTT_EVENTS && !result; ++i) result = device->runtime->event_share(*event[i], own->event[i]);
  return result;
}

static cuttResult open_neighbour(const cutt_device_part *d, const cutt_neighbour *its, int me, cutt_device_part *part) {
  cutt_event **event[CUTT_EVENTS];
  cuttResult result = CUTT_SUCCESS;
  part->runtime = d->runtime;
  part->stride = its->stride;
  part->filled = its->filled;
  part->room = its->room[me];
  list_events(part, event);
  for (int i = 0; i < CUTT_EVENTS && !result; ++i) result = d->runtime->event_open(its->event[i], event[i]);
  if (result || !its->slots.id) return result;
  result = d->runtime->shared_open(&its->slots, &part->opened);
  if (result) return result;
  unsigned char *at = (unsigned char *)part->opened + its->slots.offset;
  for (int side = 0; side < CUTT_SIDES; ++side)
    for (int slot = 0; slot < d->slots; ++slot) {
      part->slot[side][slot] = at;
      at += its->slot_bytes[side];
    }
  return CUTT_SUCCESS;
}

cuttResult cutt_device_meet(cutt_device_part *d, const cutt_neighbour *all, int size, int me) {
  cuttResult result = CUTT_SUCCESS;
  for (int i = 0; i < size && !result; ++i) {
    d->all[i] = i == me ? d : calloc(1, sizeof **d->all);
    if (!d->all[i]) result = cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d ranks", size);
    const unsigned char *its = (const unsigned char *)all + (size_t)i * cutt_neighbour_bytes(size);
    if (!result && i != me) result = open_neighbour(d, (const cutt_neighbour *)(const void *)its, me, d->all[i]);
  }
  return result;
}

cuttResult cutt_device_enter(const cutt_device_part *d, cudaStream_t stream, cutt_scope *scope) {
  cutt_context context;
  cuttResult result = d->runtime->enter_stream(stream, scope);
  if (result) return result;
  result = d->runtime->context(&context);
  if (!result && (context.handle != d->context.handle || context.number != d->context.number))
    result = cutt_error(CUTT_INVALID_DEVICE, "the plan is for context number %llu, and the current one is number %llu",
                        d->context.number, context.number);
  if (result) d->runtime->leave(scope);
  return result;
}

void cutt_device_leave(const cutt_device_part *d, const cutt_scope *scope) { d->runtime->leave(scope); }
