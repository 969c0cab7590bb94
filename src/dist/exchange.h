/* What a rank has to do in a redistribution: moves of boxes, and messages in pieces.
 *
 * Between two ranks go the elements that the part of one and the part of the other have in common: in each mode a few sets of
 * indices (part.h), so that a message is a list of strided boxes, one for each choice of a set in every mode. In a message the
 * boxes lie one after the other, and within a box the modes in the order of the input, if the receiver permutes, or of the output,
 * if the sender does. Boxes are cut along their slowest modes, and boxes or what they are cut into make pieces.
 *
 * In the host's memory a piece that consists of long runs on one side is sent as so many messages: from where they lie, or to where
 * they belong. The processor copies messages itself, and would copy them twice if they were packed or unpacked.
 *
 * Sender and receiver derive the same pieces, since all of this follows from what all ranks know. */
#ifndef CUTT_DIST_EXCHANGE_H
#define CUTT_DIST_EXCHANGE_H

#include "dist/layout.h"
#include "dist/shapes.h"

/* What all ranks know of a redistribution, and this rank's own part. Modes are the input's. */
typedef struct cutt_task {
  cutt_layout layout[CUTT_SIDES];
  int mode[CUTT_SIDES][CUTT_MAX_RANK]; /* of each side, which of its modes an input mode is */
  int output[CUTT_MAX_RANK];           /* the input mode that is each output mode: perm */
  int me, size;
  int *place[CUTT_SIDES];                    /* where each rank stands in a side's list; -1: it has no part there */
  int64_t extent[CUTT_SIDES][CUTT_MAX_RANK]; /* of this rank's part, by the side's own modes, and its strides */
  int64_t stride[CUTT_SIDES][CUTT_MAX_RANK];
  int64_t volume[CUTT_SIDES];
  int64_t elem_bytes;
  int64_t piece_elements;
  bool cuts_inside;         /* pieces are cut along modes that are slow on both sides */
  int64_t stretch_elements; /* boxes that are not sent are cut into what is about as long; 0: they are not cut */
  bool joins;               /* pieces may be unpacked together */
  bool far;                 /* direct boxes are written over links between devices */
  bool computes;            /* alpha, beta or conjugate do something */
  bool reads_back;          /* beta is not 0 */
} cutt_task;

typedef enum cutt_way { CUTT_WAY_PACK, CUTT_WAY_UNPACK, CUTT_WAY_DIRECT, CUTT_WAYS } cutt_way;

/* One box, from and to bytes behind where its two sides begin. */
typedef struct cutt_move {
  int shape;
  int64_t from, to;
} cutt_move;

typedef struct cutt_piece {
  int peer, step;       /* step: how far the peer is from this rank, in the direction of sending; 1 .. size - 1 */
  int64_t number;       /* among the pieces from the one to the other */
  int64_t first, moves; /* of the exchange's moves */
  int64_t bytes;
  bool
      staged; /* through workspace; else the bytes are a run of the tensor, which begins at offset, or a run for each part */
  int64_t offset;
  int64_t parts,
      first_part; /* messages, all of one length; if more than one, their runs begin at the flow's part_offset[] */
} cutt_piece;

/* All that goes one way, in the order in which it is started. */
typedef struct cutt_flow {
  cutt_piece *piece;
  int64_t pieces, room;
  int64_t messages;
  int64_t *part_offset; /* bytes */
  int64_t part_offsets, part_room;
  int64_t bytes, staged_bytes; /* the latter with each piece rounded up to CUTT_PIECE_ALIGNMENT */
  int64_t through_bytes;       /* that go through workspace */
  int64_t most_bytes;          /* of a piece that is staged, likewise rounded up */
  double seconds;              /* predicted, of its moves */
  double all_seconds;          /* the same, if every piece were staged */
  double link_seconds;         /* of links, when direct */
} cutt_flow;

enum { CUTT_PIECE_ALIGNMENT = 64 };

/* What a piece of so many bytes takes of workspace. */
static inline int64_t cutt_piece_room(int64_t bytes) {
  return (bytes + CUTT_PIECE_ALIGNMENT - 1) / CUTT_PIECE_ALIGNMENT * CUTT_PIECE_ALIGNMENT;
}

/* Where all that a rank has of a round is unpacked together, its own part, too (join.h): moves, one for each round. */
typedef struct cutt_join {
  int64_t rounds;               /* 0: nothing is joined */
  int64_t sources, stride;      /* rooms in a round's slot, and bytes from one to the next */
  int64_t *place;               /* the room of each piece that is received */
  int64_t own_place, own_first; /* of this rank's own part: its room, and what packs it */
  int64_t all_first;            /* what takes all rooms to the output */
} cutt_join;

typedef struct cutt_exchange {
  cutt_way way;
  cutt_flow flow[CUTT_SIDES]; /* what is sent, what is received; when direct, the former is what is written to peers */
  cutt_move *move;
  int64_t moves, room;
  int64_t kept_first, kept_moves, kept_bytes; /* from this rank's input to its output */
  int64_t most_moves;                         /* of a piece, or of what is kept */
  double kept_seconds;
  cutt_flow own[CUTT_SIDES]; /* what is kept as if it were sent, where pieces may be unpacked together */
  cutt_join join;
} cutt_exchange;

/* Derives what this rank does. What it holds is freed by cutt_exchange_free, also after a failure.
 * Errors: CUTT_INVALID_PARAMETER (more than 64 modes in a box), CUTT_INTERNAL_ERROR. */
cuttResult cutt_exchange_make(cutt_exchange *exchange, const cutt_task *task, cutt_shapes *shapes, cutt_way way);
void cutt_exchange_free(cutt_exchange *exchange);
cuttResult cutt_exchange_add(cutt_exchange *exchange, cutt_move move);

/* Pieces of the longest message of a flow, and of both. */
int64_t cutt_flow_rounds(const cutt_flow *flow);
int64_t cutt_exchange_rounds(const cutt_exchange *exchange);

#endif
