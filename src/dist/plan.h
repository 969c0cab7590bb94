/* A plan of a redistribution. */
#ifndef CUTT_DIST_PLAN_H
#define CUTT_DIST_PLAN_H

#include "base/types.h"
#include "dist/comm.h"
#include "dist/device.h"
#include "dist/exchange.h"

enum { CUTT_MOST_UNDER_WAY = 64 }; /* messages that a rank has under way at once, each way */

/* One way of an execution: what is under way, oldest first, and the room that it takes in a ring of workspace. */
typedef struct cutt_channel {
  cuttDistRequest_t *request; /* CUTT_MOST_UNDER_WAY, or as many as there are messages */
  int64_t requests;
  int64_t *begin; /* of the pieces that have been begun, where their room is; -1: takes none. One more than requests */
  unsigned char *ring;
  unsigned char *host; /* on a device: as large as the ring, in pinned memory; messages are there */
  int64_t ring_bytes;
  int64_t sent, done;                 /* messages: started, and waited for */
  int64_t posted, finished;           /* pieces of which all messages are */
  int64_t part_posted, part_finished; /* messages of the next one */
  int64_t head, taken;                /* where the next room may begin; pieces that have room */
  int64_t tail;                       /* where the oldest room begins */
} cutt_channel;

struct cuttDistPlanStruct {
  uint64_t magic;
  struct cuttDistCommStruct *comm;
  uint64_t number; /* among the communicator's plans */
  const cutt_type_info *type;
  cutt_task task; /* places are freed after planning */
  int perm[CUTT_MAX_RANK];
  int64_t low[CUTT_SIDES], high[CUTT_SIDES]; /* bytes that this rank's parts span, from element (0, ..., 0) */
  _Alignas(16) unsigned char alpha[16], beta[16];
  cutt_shapes shapes;
  cutt_exchange exchange;
  cutt_exchange direct; /* where all outputs can be reached, which executions find out: done instead of the messages */
  bool either;          /* there is such a one */
  cutt_channel channel[CUTT_SIDES];
  void *workspace;
  size_t workspace_bytes;
  /* A piece's moves, as cuttPlansExecute takes them. */
  cuttPlan_t *plans;
  const void **in;
  void **out;
  int64_t *sent;           /* bytes, by rank */
  unsigned char **reached; /* in an execution that writes directly: the outputs of each piece's peer */
  double predicted_seconds, create_seconds;
  cutt_device_part device;
  bool trusts; /* the caller vouches for arguments */
};

bool cutt_dist_plan_alive(const struct cuttDistPlanStruct *plan);

/* Adds count boxes, from the exchange's move number `first` on, to what is launched next, which has n: how many it has then. from
 * and to: where their two sides begin. */
int64_t cutt_dist_add(struct cuttDistPlanStruct *plan, int64_t n, int64_t first, int64_t count,
                      const unsigned char *from, unsigned char *to);
cuttResult cutt_dist_launch(const struct cuttDistPlanStruct *plan, int64_t n, cudaStream_t stream);

/* The work of an execution, whose arguments have been found to be valid on all ranks, until this rank's part of it is done.
 * comm->records are those of the start, in which each rank says where its output is. */
cuttResult cutt_dist_run(struct cuttDistPlanStruct *plan, const unsigned char *in, unsigned char *out,
                         cudaStream_t stream);

/* Are pointers given where there are elements, and do in and out not overlap? Errors: CUTT_INVALID_PARAMETER. */
cuttResult cutt_dist_check_tensors(const struct cuttDistPlanStruct *plan, const void *in, const void *out);

/* Can executions be captured for a graph? On all ranks, or on none. */
bool cutt_dist_can_be_captured(const struct cuttDistPlanStruct *plan);

/* cuttDistPlanExecute of a plan for a device. */
cuttResult cutt_dist_execute_device(struct cuttDistPlanStruct *plan, const void *in, void *out, cudaStream_t stream);

/* The record of an execution's start, behind its head: where the rank's output is, if the plan is direct (reach.h). */
typedef struct cutt_start {
  unsigned char token[CUTT_DIST_TOKEN_BYTES];
  unsigned char offered; /* of a plan that may do either: others reach it, or there is nothing to reach */
} cutt_start;
_Static_assert(sizeof(cutt_start) <= sizeof((cutt_record){0}.what), "a token fits into a record");

#endif
