/* What a plan has for tensors in the memory of a device.
 *
 * Where messages are started in a stream (NCCL), or ranks are threads of a process, pieces go in *rounds*: round k has piece k of
 * every message. Pack, exchange and unpack of three rounds go on side by side: there is room for two rounds each way, and for
 * three by copies, unless workspace is limited. Elsewhere messages go through the host, as for tensors there
 * (execute_host.c). */
#ifndef CUTT_DIST_DEVICE_H
#define CUTT_DIST_DEVICE_H

#include "dist/comm.h"
#include "dist/exchange.h"
#include "runtime/runtime.h"

enum {
  CUTT_MOST_SLOTS = 3,
  CUTT_LANES = 2,
  CUTT_EVENTS = 2 + 3 * CUTT_MOST_SLOTS,
  CUTT_PAUSES = 3,
  CUTT_PAUSE_BYTES = 1 << 18
};

typedef enum cutt_device_way {
  CUTT_BY_HOST,   /* through pinned memory, by the transport's messages */
  CUTT_IN_STREAM, /* by the transport's exchange */
  CUTT_BY_COPIES  /* between what ranks have packed or have room for, which they reach */
} cutt_device_way;

/* A flow's pieces by rounds. */
typedef struct cutt_rounds {
  int64_t *piece; /* numbers of pieces; those of round k are [first[k], first[k + 1]) */
  int64_t *first, *at;
  int64_t *room; /* of each piece that is staged: where it begins in the round's slot */
  int64_t rounds, slot_bytes, most_pieces;
} cutt_rounds;

/* A box of a direct plan, and the piece that it is of; behind the last piece: what stays. */
typedef struct cutt_turn {
  int64_t move, piece;
} cutt_turn;

typedef struct cutt_device_part {
  const cutt_runtime *runtime; /* NULL: tensors are in the host's memory, and nothing of this is used */
  cuttBackend_t backend;
  cutt_device_way way;
  bool pinned_messages; /* by the host, which does not take the device's memory */
  bool shared;          /* ranks are threads of a process */
  bool near;            /* or processes that open each other's memory and events */
  bool knows;           /* in a stream: slots are memory that the transport knows */
  const struct cuttDistCommStruct *comm;
  cutt_known known; /* that memory */
  cutt_context context;
  /* Where messages are exchanged. By copies, round after round in another one, so that a round's begin as soon as those of the one
   * before end. */
  cudaStream_t side[CUTT_LANES];
  int slots, lanes;
  /* In the caller's stream: the beginning, and what has been packed; in the other: what has arrived, here or there; in the caller's:
   * the end; and, where others fill this rank's slots: what has been unpacked. */
  cutt_event *begun, *packed[CUTT_MOST_SLOTS], *arrived[CUTT_MOST_SLOTS], *ended, *emptied[CUTT_MOST_SLOTS];
  cutt_rounds rounds[CUTT_SIDES];
  int64_t all_rounds; /* of whichever rank has most */
  unsigned char *slot[CUTT_SIDES][CUTT_MOST_SLOTS];
  cuttDistMessage_t *message; /* of a round */
  /* Direct, if all boxes are of one shape: the order in which one launch works on them, so that those for each peer, and those
   * that stay, are done in proportion; and where each piece's are written to. */
  cutt_turn *turn;
  int64_t turns;
  unsigned char **output;
  void *pause;           /* by NCCL: a little memory, to be filled while messages start */
  unsigned char *pinned; /* by the host: as large as the workspace, and laid out like it */
  int64_t stride;        /* by copies between processes: room of a peer's piece in a slot, by how far the peer is */
  bool filled;           /* likewise: others copy into this rank's slots, what they send from where it lies, too */
  int64_t room;          /* of a neighbour that is filled: where in its slots this rank's pieces belong */
  /* Where ranks are near: each one's own, or what this rank has opened of it; and what this rank executes with. */
  struct cutt_device_part **all;
  const cutt_exchange *exchange;
  const unsigned char *in;
  void *opened; /* of a neighbour's part: its slots, as this process has opened them */
  int size;     /* of all */
} cutt_device_part;

/* The backend and the way of a plan's device, from what the options and the communicator say. Errors: CUTT_INVALID_PARAMETER,
 * CUTT_INVALID_DEVICE. */
cuttResult cutt_device_select(cutt_device_part *device, const struct cuttDistCommStruct *comm,
                              const cuttDistOptions_t *options);

/* What a rank tells others in other processes. */
typedef struct cutt_neighbour {
  cutt_shared_memory slots; /* .id is 0: there are none */
  int64_t slot_bytes[CUTT_SIDES], stride;
  unsigned char event[CUTT_EVENTS][64];
  bool filled;
  int64_t room[]; /* of each rank's pieces in a slot, if it is filled */
} cutt_neighbour;

/* What that takes where there are so many ranks. */
static inline size_t cutt_neighbour_bytes(int size) { return sizeof(cutt_neighbour) + (size_t)size * sizeof(int64_t); }

/* Describes this rank's part for them, and opens theirs, which follow each other; of so many ranks; me: this one. Errors: the
 * runtime's. */
cuttResult cutt_device_introduce(const cutt_device_part *device, const void *workspace, cutt_neighbour *own);
cuttResult cutt_device_meet(cutt_device_part *device, const cutt_neighbour *all, int size, int me);

/* Makes what executions of an exchange need, in the device's context, which is entered. What there is after a failure is freed by
 * cutt_device_free, too. Errors: CUTT_INTERNAL_ERROR, CUTT_INVALID_DEVICE. */
cuttResult cutt_device_make(cutt_device_part *device, const cutt_exchange *exchange, int size, void **workspace,
                            size_t *bytes);
/* Frees that, so that it can be made for another exchange. */
void cutt_device_unmake(cutt_device_part *device);
/* Frees all. */
void cutt_device_free(cutt_device_part *device);

/* Enters the context of a plan's device for work in a stream. Errors: CUTT_INVALID_DEVICE: another one is current. */
cuttResult cutt_device_enter(const cutt_device_part *device, cudaStream_t stream, cutt_scope *scope);
void cutt_device_leave(const cutt_device_part *device, const cutt_scope *scope);

#endif
