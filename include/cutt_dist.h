/* cutt_dist.h: tensors that are spread over ranks: out[perm] = in from any layout to any layout, and contractions.
 *
 * A *rank* is one that takes part: a thread of a process, or a process of MPI. (A tensor's number of modes is its rank as
 * everywhere; fields that hold it are called `modes` here.) Four things:
 *   - a communicator (cuttDistComm_t): who takes part, and how bytes travel;
 *   - a layout (cuttDistLayout_t): on which rank each element of a global tensor lies, and where;
 *   - a plan (cuttDistPlan_t): from one layout to another with a permutation, alpha, beta and conjugation;
 *   - an execution, any number of times.
 *
 * Conventions are cutt.h's: the first mode of a tensor is its stride-1 mode, extents and strides are counted in elements,
 * every call returns a cuttResult_t, and cuttLastError() says what was wrong. Ranks are numbered from 0.
 *
 * Calls are collective where that is said: every rank of the communicator makes them, in the same order, with arguments that
 * agree. A collective call that fails on one rank fails on all of them, with the same text, which names the first rank that
 * failed or differs; no rank hangs. A communicator carries one call at a time on each rank.
 *
 * Tensors are in the host's memory, or in that of GPUs: each rank has one, its own or a shared one.
 *
 * The header compiles as C99 and as C++. Programs link libcutt_dist, libcutt_contract and libcutt. */
#ifndef CUTT_DIST_H
#define CUTT_DIST_H

#include "cutt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------------------- layouts */

/* Where the elements of a global tensor are. Start from CUTT_DIST_LAYOUT_INIT, then fill in. What a pointer points to is read
 * during the call that takes the layout and not kept.
 *
 * Mode i is cut into parts[i] parts. With blocks[i] = 0 each part is one stretch of indices, as long as the others or longer by
 * one: the first parts take what is left over. With blocks[i] = b > 0 blocks of b indices are dealt to the parts in turn
 * (block-cyclic, as ScaLAPACK does). A part may be empty.
 *
 * The parts of all modes make a grid with a position for each combination; positions are counted with the first mode's part
 * fastest. The rank at position p is ranks[p]. With copies = c > 1 the tensor is there c times: copy k of position p is on rank
 * ranks[p + k * positions]. Ranks that are not listed hold nothing. */
typedef struct cuttDistLayout {
  size_t struct_size;     /* sizeof(cuttDistLayout_t) */
  int modes;              /* 0 .. CUTT_MAX_RANK */
  int copies;             /* 1 or more; 0: 1 */
  const int64_t *extents; /* modes extents of the global tensor, each >= 0 */
  const int *parts;       /* modes numbers of parts, each >= 1; NULL: all 1 */
  const int64_t *blocks;  /* modes block lengths, each >= 0; NULL: all 0 */
  const int *ranks;       /* the product of parts, times copies, different ranks; NULL: 0, 1, 2, ... */
  /* modes strides of the calling rank's part, any sign; NULL: packed. They may differ from rank to rank. */
  const int64_t *strides;
} cuttDistLayout_t;

#define CUTT_DIST_LAYOUT_INIT                                                                                          \
  { sizeof(cuttDistLayout_t), 0, 1, NULL, NULL, NULL, NULL, NULL }

/* Checks all of a layout but its strides, for ranks 0 .. size - 1. Errors: CUTT_INVALID_PARAMETER, with the text naming the
 * field; CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistLayoutCheck(const cuttDistLayout_t *layout, int size);

/* The extents of a rank's part: modes entries, all 0 on a rank that is not listed.
 * Errors of this call and of the next three: CUTT_INVALID_PARAMETER. That ranks are different is not checked by them. */
CUTT_API cuttResult_t cuttDistLocalExtents(const cuttDistLayout_t *layout, int rank, int64_t *extents);

/* The number of elements of a rank's part. */
CUTT_API cuttResult_t cuttDistLocalCount(const cuttDistLayout_t *layout, int rank, int64_t *count);

/* Where the element of a global index is, in one copy of the tensor: its rank, and its index in that rank's part.
 * global, local   modes entries each; local may be NULL */
CUTT_API cuttResult_t cuttDistFind(const cuttDistLayout_t *layout, const int64_t *global, int copy, int *rank,
                                   int64_t *local);

/* The other way: the global index of an element of a rank's part. */
CUTT_API cuttResult_t cuttDistGlobal(const cuttDistLayout_t *layout, int rank, const int64_t *local, int64_t *global);

/* ------------------------------------------------------------------------------------------------------- communicators */

/* Room for what a transport has to remember of a message that is under way. */
typedef struct cuttDistRequest {
  void *word[8];
} cuttDistRequest_t;

/* A message between this rank's memory and a peer's, as exchange takes it. */
typedef struct cuttDistMessage {
  int peer;
  int receives; /* 0: it is sent */
  void *bytes;  /* not written to if it is sent */
  int64_t count;
} cuttDistMessage_t;

/* What a rank says of memory that others may write to; a transport's own, and the same bytes on all ranks. */
enum { CUTT_DIST_TOKEN_BYTES = 96 };

/* How bytes travel, as one rank sees it. Programs that bring a way of their own fill this in; others take a communicator of
 * cuttDistCommThreads, or of MPI (cutt_dist_mpi.h).
 *
 * Functions that return an int return 0, or something else where the message can't be sent or received any more; the caller
 * then calls fail. Messages from one rank to another arrive in the order in which they were sent, each in the receive that was
 * started as that one's turn, of the same length; none is empty. */
typedef struct cuttDistTransport {
  size_t struct_size; /* sizeof(cuttDistTransport_t) */
  const char *name;   /* for descriptions; lives as long as data */
  void *data;         /* the first argument of all functions */
  int rank, size;
  int shared;         /* not 0: the ranks are threads of one process and reach each other's memory */
  int64_t most_bytes; /* of a message; 0: no limit */
  double
      message_seconds; /* what a message takes beside its bytes, and what a byte takes, for predictions; 0: not known */
  double byte_seconds;
  /* Starts a message. The bytes, and the request, stay where they are and are left alone until wait has returned. */
  int (*send)(void *data, int peer, const void *bytes, int64_t count, cuttDistRequest_t *request);
  int (*receive)(void *data, int peer, void *bytes, int64_t count, cuttDistRequest_t *request);
  /* Waits until a message has left or arrived. After a failure of any rank it returns at once, not 0 if the message was not
   * finished; the bytes are not touched any more then. Called once for each request. */
  int (*wait)(void *data, cuttDistRequest_t *request);
  /* Collective: all receives what every rank has in mine, count bytes each, by rank. It is a barrier, too. */
  int (*allgather)(void *data, const void *mine, int64_t count, void *all);
  /* This rank can't go on: what other ranks wait for, or will, fails. The first call of any rank counts; its text is kept. */
  void (*fail)(void *data, const char *text);
  /* The text of that failure and the rank that it was on, as far as this rank knows; NULL: none. */
  const char *(*failure)(void *data, int *rank);
  /* Called by cuttDistCommDestroy; may be NULL. */
  void (*destroy)(void *data);
  /* Both or neither may be NULL: how ranks that are not threads of a process reach each other's memory, for plans that are direct.
   * offer describes count > 0 bytes of this rank's memory, from begin on, by a token. NULL: *token is set; else a text for people
   * that says why other ranks can't reach them, and lives until the next call. Not collective.
   * reach says where this rank finds them, given the peer's token; NULL: it can't, which is a failure of the communicator. What it
   * has returned holds until the peer's next offer at least, and a rank may be asked for the same token any number of times.
   * In an execution, offer is called for the rank's output before all gather their tokens; reach after that, by the ranks that
   * write there; and another gathering follows when all have written. What is written before a gathering has to be seen by its
   * owner behind it. Neither is called by shared transports. */
  const char *(*offer)(void *data, void *begin, int64_t count, unsigned char token[CUTT_DIST_TOKEN_BYTES]);
  void *(*reach)(void *data, int peer, const unsigned char token[CUTT_DIST_TOKEN_BYTES]);
  /* not 0: offer takes whatever memory tensors are in. 0: it takes some; a plan that may be direct has messages, too, and executions
   * find out whether all outputs can be reached. */
  int offers_all;
  /* Whose memory tensors are in unless options->backend says it; CUTT_BACKEND_AUTO: CUTT_BACKEND_CPU. */
  cuttBackend_t backend;
  /* For memory of a device; may be NULL: starts messages, which are sent and received together, in a stream: when the stream's work
   * so far is done. Between two ranks they match in their order; both ends are in the same of the calls that the two make. Without
   * it tensors of devices go through pinned memory of the host, by send and receive. */
  int (*exchange)(void *data, const cuttDistMessage_t *messages, int count, cudaStream_t stream);
  double gather_seconds; /* what an allgather takes, for predictions; 0: little */
  /* not 0: send and receive take memory of devices, too, whose work on it is done by then. Tensors there do not go through pinned
   * memory of the host then. */
  int takes_devices;
} cuttDistTransport_t;

typedef struct cuttDistCommStruct *cuttDistComm_t;

/* Makes a communicator of a transport, on this rank. After an error transport->destroy has not been called.
 * Errors: CUTT_INVALID_PARAMETER, CUTT_INTERNAL_ERROR (also if the transport has failed already, with its text). */
CUTT_API cuttResult_t cuttDistCommCreate(cuttDistComm_t *comm, const cuttDistTransport_t *transport);

/* Communicators of size ranks that are threads of this process: comms[i] is for rank i, which is whichever thread calls with
 * it. Errors: CUTT_INVALID_PARAMETER (size is not 1 .. 4096), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistCommThreads(int size, cuttDistComm_t *comms);

/* The transport of a communicator, to send by it, or to make another one on top. It lives as long as the communicator. */
CUTT_API cuttResult_t cuttDistCommTransport(cuttDistComm_t comm, cuttDistTransport_t *transport);

/* NCCL, found at run time: the libnccl.so.2 that the process has, or else the one that the loader finds. Start from
 * CUTT_DIST_NCCL_INIT, then fill in. */
typedef struct cuttDistNccl {
  size_t struct_size; /* sizeof(cuttDistNccl_t) */
  /* A communicator of the same ranks, of threads or MPI, by which they agree; NULL: by NCCL, which waits for what it was given
   * before. It must live longer. */
  cuttDistComm_t host;
  double seconds; /* that ranks wait for each other when they agree, before that is a failure; 0: 60 */
} cuttDistNccl_t;

#define CUTT_DIST_NCCL_INIT                                                                                            \
  { sizeof(cuttDistNccl_t), NULL, 0.0 }

/* Makes a communicator for tensors in the memory of GPUs from an ncclComm_t, in the calling thread's current context, which is on
 * its device. Collective; measures what messages take, for some milliseconds. The ncclComm_t stays the caller's and must live longer;
 * while calls of this library use it, in whatever stream, it may carry nothing else. After a failure it has been aborted
 * (ncclCommAbort): it must not be used or destroyed any more.
 * options   may be NULL
 * Errors: CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE (no GPU or no NCCL is here), CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistCommNccl(cuttDistComm_t *comm, void *nccl, const cuttDistNccl_t *options);

/* Waits until what a stream has been given is done, or the communicator fails: a rank that is gone leaves a stream of the others
 * waiting for ever, which this call ends. Not collective.
 * stream    of the device that comm is for; NULL: the default stream
 * seconds   to wait before that is a failure of the communicator; 0: for ever
 * Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER, CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistCommSynchronize(cuttDistComm_t comm, cudaStream_t stream, double seconds);

/* Frees a communicator, on this rank; NULL is allowed. Its plans must have been destroyed. Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult_t cuttDistCommDestroy(cuttDistComm_t comm);

/* --------------------------------------------------------------------------------------------------------------- plans */

/* What to compute: out = alpha * perm(in) + beta * out. Start from CUTT_DIST_PROBLEM_INIT, then fill in.
 * Type and scalars are as in cuttProblem_t; all but the strides of the layouts must be the same on all ranks. */
typedef struct cuttDistProblem {
  size_t struct_size; /* sizeof(cuttDistProblem_t) */
  cuttType_t type;
  int conjugate;                /* not 0: the input is conjugated */
  const cuttDistLayout_t *from; /* of the input */
  const cuttDistLayout_t *to;   /* of the output; all of its copies are written */
  const int *perm;              /* output mode i is input mode perm[i]; NULL: the identity */
  const void *alpha;            /* NULL: 1 */
  const void *beta;             /* NULL or zero: out is written and never read */
} cuttDistProblem_t;

#define CUTT_DIST_PROBLEM_INIT                                                                                         \
  { sizeof(cuttDistProblem_t), (cuttType_t)0, 0, NULL, NULL, NULL, NULL, NULL }

/* On which side of a message its elements are permuted. The other side copies, or needs nothing where they lie in one run. */
typedef enum cuttDistPermute {
  CUTT_DIST_BY_COST = 0, /* where it is predicted to be faster */
  CUTT_DIST_PACK = 1,    /* by the sender, while packing */
  CUTT_DIST_UNPACK = 2   /* by the receiver, while unpacking */
} cuttDistPermute_t;

/* Where ranks reach each other's memory, the sender can permute into the receiver's output: no message, no packing. */
typedef enum cuttDistDirect {
  /* If it can be, and is predicted to be faster. Between processes of MPI: in executions whose outputs are all in memory of
   * cuttDistMpiAllocate */
  CUTT_DIST_DIRECT_BY_COST = 0,
  /* With NCCL, messages are NCCL's then; else they may be copies between GPUs that reach each other, where that is faster. */
  CUTT_DIST_DIRECT_NEVER = 1,
  /* CUTT_INVALID_PARAMETER if it can't be: ranks do not reach each other's memory, or to->strides are given on some rank */
  CUTT_DIST_DIRECT_ALWAYS = 2
} cuttDistDirect_t;

/* How to plan. NULL where options are taken means CUTT_DIST_OPTIONS_INIT. All but threads must be the same on all ranks. */
typedef struct cuttDistOptions {
  size_t struct_size; /* sizeof(cuttDistOptions_t) */
  int threads; /* most threads of this rank; 0: as for cuttOptions_t; 1 is best where ranks fill the processors */
  cuttDistPermute_t permute;
  cuttDistDirect_t direct;
  /* Most bytes of workspace on a rank, 256 or more; messages are cut into pieces that fit twice each way. 0: what four pieces
   * take, by copies between GPUs six of each peer's, or less where there is less to send. */
  size_t workspace_limit;
  size_t piece_bytes; /* most bytes of a piece, 16 or more; 0: 256 MiB, on a device 1 to 512 MiB, by the tensor */
  /* Whose memory the tensors are in; CUTT_BACKEND_AUTO: what the communicator is for, CUTT_BACKEND_CUDA with NCCL, else
   * CUTT_BACKEND_CPU. For CUTT_BACKEND_CUDA a plan belongs to the calling thread's current context. */
  cuttBackend_t backend;
  /* not 0: the caller vouches for the arguments of executions, which then do not begin with an agreement where they don't need it:
   * with NCCL, by messages. A wrong argument is an error on the rank that has it, and the others wait for it. */
  int trust_arguments;
} cuttDistOptions_t;

#define CUTT_DIST_OPTIONS_INIT                                                                                         \
  { sizeof(cuttDistOptions_t), 0, CUTT_DIST_BY_COST, CUTT_DIST_DIRECT_BY_COST, 0, 0, CUTT_BACKEND_AUTO, 0 }

typedef struct cuttDistPlanStruct *cuttDistPlan_t;

/* Plans, and allocates all that executions need. Collective. *plan receives the plan, or NULL on failure. The communicator must
 * live as long as the plan.
 * Errors: CUTT_INVALID_PARAMETER (the text names the field), CUTT_INTERNAL_ERROR; of another rank's, too. */
CUTT_API cuttResult_t cuttDistPlanCreate(cuttDistPlan_t *plan, cuttDistComm_t comm, const cuttDistProblem_t *problem,
                                         const cuttDistOptions_t *options);

/* Executes a plan. Collective; allocates nothing. in and out point to element (0, ..., 0) of this rank's parts, and may be NULL
 * where that part has no elements. The memory that they span may not overlap. When the call returns, or on a device when the
 * stream's work so far is done, this rank's output is there, and other ranks need its input no longer.
 * stream   on a device: any stream of the plan's context, whose work so far may still make the input; else NULL. Executions of a
 *          plan may be in different streams: by messages each comes after the one before.
 *          It may be one that is captured for a graph if messages go by NCCL's (CUTT_DIST_DIRECT_NEVER); ranks capture together,
 *          and launch the graphs together, not beside another execution of the plan.
 * On a device the call returns before the work is done: with NCCL by messages, and between threads. Otherwise it waits.
 * Errors: CUTT_INVALID_PLAN; CUTT_INVALID_PARAMETER: an argument of some rank is wrong, and nothing has been done;
 * as when a plan is direct and some rank's output is where others can't reach it;
 * CUTT_INTERNAL_ERROR: a message or a permutation has failed on some rank. The outputs are undefined then, and every later call
 * with the communicator returns the same error, but for a direct plan, where no rank has returned before all were done, and the
 * next execution may succeed. Else, where ranks reach each other's memory, others may use this rank's tensors and its plan until
 * they have returned, too: free them after that. */
CUTT_API cuttResult_t cuttDistPlanExecute(cuttDistPlan_t plan, const void *in, void *out, cudaStream_t stream);

/* For wrappers that find errors of their own: takes the place, on this rank, of the collective call that the others make, which is
 * cuttDistPlanExecute of the plan, or cuttDistPlanCreate where plan is NULL. All ranks get the error, with "rank n: " and text.
 * Errors: CUTT_INVALID_PARAMETER (always, where nothing else is wrong), CUTT_INVALID_PLAN, CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistRefuse(cuttDistComm_t comm, cuttDistPlan_t plan, const char *text);

/* Frees a plan, on this rank; NULL is allowed. Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult_t cuttDistPlanDestroy(cuttDistPlan_t plan);

typedef struct cuttDistPlanInfo {
  size_t struct_size;        /* set to sizeof(cuttDistPlanInfo_t) before the call */
  cuttDistPermute_t permute; /* CUTT_DIST_PACK or CUTT_DIST_UNPACK; 0 when direct */
  int direct; /* not 0: senders write into the receivers' outputs. 0, too, where that depends on each execution's outputs */
  int64_t bytes_kept;      /* that go straight from this rank's input to its output */
  int64_t bytes_sent;      /* to other ranks */
  int64_t bytes_received;  /* from other ranks; 0 when direct */
  int64_t bytes_packed;    /* of those sent: that are written to workspace first */
  int64_t bytes_unpacked;  /* of those received: that come through workspace */
  int64_t most_bytes_sent; /* by any rank */
  int64_t pieces_sent;     /* messages, or parts of them */
  int64_t pieces_received;
  size_t workspace_bytes;   /* of this rank */
  double predicted_seconds; /* of an execution, by the slowest rank */
  double create_seconds;    /* what cuttDistPlanCreate took on this rank */
} cuttDistPlanInfo_t;

/* What was chosen, on this rank. Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER (info is NULL or has a wrong struct_size). */
CUTT_API cuttResult_t cuttDistPlanGetInfo(cuttDistPlan_t plan, cuttDistPlanInfo_t *info);

/* Describes a plan: layouts, what each rank sends, pieces, workspace and predicted time. Not collective. Buffer, size, needed and
 * errors as for cuttPlanDescribe. */
CUTT_API cuttResult_t cuttDistPlanDescribe(cuttDistPlan_t plan, cuttFormat_t format, char *buffer, size_t size,
                                           size_t *needed);

/* The order of ranks for `to` that moves least: ranks receives, for each entry of to->ranks, the rank to stand there, chosen from
 * 0 .. size - 1, so that as many elements as can be stay where they are under `from`. What to->ranks says is not used.
 * perm as in cuttDistProblem_t. Takes time in size^3: a second at 1000 ranks.
 * Errors: CUTT_INVALID_PARAMETER, CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistRelabel(const cuttDistLayout_t *from, const cuttDistLayout_t *to, const int *perm,
                                      int size, int *ranks);

/* --------------------------------------------------------------------------------------------------------- contractions */

/* What to compute: D = alpha * L * R + beta * D, each tensor spread in a layout of its own. Start from
 * CUTT_DIST_CONTRACTION_INIT, then fill in. Patterns, types and scalars are those of cutt_contract.h:
 *   "abc,cd->abd"                       one letter a mode, the first letter is the stride-1 mode
 *   "D(a,b,d)+=L(a,b,c)*R(c,d)"         names of modes; "L+(...)" conjugates, "+=" makes beta 1 unless beta is given
 * All but the strides of the layouts must be the same on all ranks. */
typedef struct cuttDistContraction {
  size_t struct_size; /* sizeof(cuttDistContraction_t) */
  const char *pattern;
  cuttType_t type;
  const cuttDistLayout_t *left;
  const cuttDistLayout_t *right;  /* NULL where the pattern has one operand */
  const cuttDistLayout_t *result; /* all of its copies are written */
  const void *alpha;              /* NULL: 1 */
  const void *beta;               /* NULL: what the pattern says; zero: D is written and never read */
  int conjugate_left, conjugate_right;
} cuttDistContraction_t;

#define CUTT_DIST_CONTRACTION_INIT                                                                                     \
  { sizeof(cuttDistContraction_t), NULL, (cuttType_t)0, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/* How the work is shared. Each rank multiplies what it has of the modes; the algorithms differ in what moves for that. */
typedef enum cuttDistAlgorithm {
  CUTT_DIST_FASTEST = 0,      /* the one with the shortest predicted time */
  CUTT_DIST_LOCAL = 1,        /* all tensors stay where they are; CUTT_INVALID_PARAMETER where one would have to move */
  CUTT_DIST_REDISTRIBUTE = 2, /* tensors that do not fit to the others are moved, then ranks multiply */
  /* the same in panels of a contracted mode, or of a free one of the operand that moves: one is moved while the one before is
   * multiplied */
  CUTT_DIST_SUMMA = 3,
  CUTT_DIST_REDUCE = 4 /* contracted modes are cut, and the ranks' partial results are added up */
} cuttDistAlgorithm_t;

/* How to plan. NULL where options are taken means CUTT_DIST_CONTRACTION_OPTIONS_INIT. All but threads and provider must be the
 * same on all ranks. */
typedef struct cuttDistContractionOptions {
  size_t struct_size; /* sizeof(cuttDistContractionOptions_t) */
  int threads;        /* as in cuttDistOptions_t */
  cuttDistAlgorithm_t algorithm;
  /* Ranks' partial results are always added in the same order, whatever arrives first. Not 0: the choice of the algorithm does
   * not depend on measured speeds either, so that every run of a program sums in the same order. */
  int deterministic;
  size_t workspace_limit;  /* most bytes of workspace on a rank; 0: no limit */
  int64_t panel;           /* indices of the mode that SUMMA's panels are of, in a panel, about; 0: by predicted time */
  cuttDistDirect_t direct; /* as in cuttDistOptions_t, but for a result that has strides */
  size_t piece_bytes;      /* as in cuttDistOptions_t */
  const char *provider;    /* of the ranks' own products, as in cuttContractionOptions_t */
  const char *local_algorithm; /* cuttContractionOptions_t's algorithm */
  cuttBackend_t backend;       /* whose memory the tensors are in, as in cuttDistOptions_t */
  int trust_arguments;         /* likewise */
} cuttDistContractionOptions_t;

#define CUTT_DIST_CONTRACTION_OPTIONS_INIT                                                                             \
  {                                                                                                                    \
    sizeof(cuttDistContractionOptions_t), 0, CUTT_DIST_FASTEST, 0, 0, 0, CUTT_DIST_DIRECT_BY_COST, 0, NULL, NULL,      \
        CUTT_BACKEND_AUTO, 0                                                                                           \
  }

typedef struct cuttDistContractionStruct *cuttDistContractionPlan_t;

/* Plans, and allocates all that executions need. Collective. *plan receives the plan, or NULL on failure. The communicator must
 * live as long as the plan.
 * Errors: CUTT_INVALID_PARAMETER (the text names the field), CUTT_INVALID_DEVICE (no BLAS), CUTT_INTERNAL_ERROR; of another
 * rank's, too. */
CUTT_API cuttResult_t cuttDistContractionPlanCreate(cuttDistContractionPlan_t *plan, cuttDistComm_t comm,
                                                    const cuttDistContraction_t *contraction,
                                                    const cuttDistContractionOptions_t *options);

/* Executes a plan. Collective; allocates nothing. left, right and result point to element (0, ..., 0) of this rank's parts, and
 * may be NULL where that part has no elements, as right may where there is one operand. The result may not overlap with an
 * operand. When the call returns, or on a device when the stream's work so far is done, this rank's result is there.
 * stream   on a device: any stream of the plan's context, whose work so far may still make the operands; else NULL. Executions of
 *          one plan in different streams come one after the other. It may be one that is captured for a graph where
 *          cuttDistPlanExecute's may.
 * On a device the call returns before the work is done, unless messages go by way of the host. The first one has cuBLAS make what
 * it needs.
 * Errors: as cuttDistPlanExecute. */
CUTT_API cuttResult_t cuttDistContractionExecute(cuttDistContractionPlan_t plan, const void *left, const void *right,
                                                 void *result, cudaStream_t stream);

/* For wrappers that find errors of their own: takes the place, on this rank, of the collective call that the others make, which is
 * cuttDistContractionExecute of the plan, or cuttDistContractionPlanCreate where plan is NULL. All ranks get the error, with
 * "rank n: " and text. Errors: CUTT_INVALID_PARAMETER (always, where nothing else is wrong), CUTT_INVALID_PLAN,
 * CUTT_INTERNAL_ERROR. */
CUTT_API cuttResult_t cuttDistContractionRefuse(cuttDistComm_t comm, cuttDistContractionPlan_t plan, const char *text);

/* Frees a plan, on this rank; NULL is allowed. Errors: CUTT_INVALID_PLAN. */
CUTT_API cuttResult_t cuttDistContractionPlanDestroy(cuttDistContractionPlan_t plan);

typedef struct cuttDistContractionInfo {
  size_t struct_size; /* set to sizeof(cuttDistContractionInfo_t) before the call */
  cuttDistAlgorithm_t algorithm;
  int ranks;                                    /* that multiply */
  int moves_left, moves_right, moves_result;    /* not 0: that tensor, or what is computed of it, goes to other ranks */
  int partial_results;                          /* that are added up for each element of the result; 1: none */
  int64_t panels;                               /* that the contraction is done in */
  int64_t bytes_sent, bytes_received;           /* of this rank, by an execution; received: 0 when direct */
  int64_t most_bytes_sent, most_bytes_received; /* of any rank */
  size_t workspace_bytes;                       /* of this rank */
  double flops;                                 /* of this rank: 2 for each product of two elements, 8 if complex */
  double predicted_seconds;                     /* of an execution, by the slowest rank */
  double create_seconds;                        /* what the creation took on this rank */
} cuttDistContractionInfo_t;

/* What was chosen, on this rank. Errors: CUTT_INVALID_PLAN, CUTT_INVALID_PARAMETER (info is NULL or has a wrong struct_size). */
CUTT_API cuttResult_t cuttDistContractionGetInfo(cuttDistContractionPlan_t plan, cuttDistContractionInfo_t *info);

/* Describes a plan: the algorithm, and what each of the others was predicted to take or why it can't be; how modes are shared out,
 * what moves, workspace. Not collective. Buffer, size, needed and errors as for cuttPlanDescribe. */
CUTT_API cuttResult_t cuttDistContractionDescribe(cuttDistContractionPlan_t plan, cuttFormat_t format, char *buffer,
                                                  size_t size, size_t *needed);

#ifdef __cplusplus
}
#endif

#endif
