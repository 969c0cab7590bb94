/* Contractions of tensors that are spread over ranks: D = alpha L R + beta D.
 *
 * The ranks that multiply stand in a mesh with an axis for each label that is cut. A rank computes what follows from its part of
 * every label: it needs the parts of L and R with these labels, which are the same on all ranks that differ in other labels only,
 * and has a part of D, or, where a label that D has not is cut, a partial sum of it. So one description, the mesh, covers all
 * algorithms: which tensors stay where they are, which are moved to the mesh, replicated where a label is not theirs, and what is
 * added up at the end. A tensor moves by a redistribution (cuttDistPlanCreate), and ranks multiply by cuttContractionExecute.
 *
 * Partial sums are a tensor with one more mode, which is cut into parts of one index. They are redistributed to the result's
 * layout, in which that mode is whole, and each rank sums over it: what a reduce-scatter sends, and always in the same order.
 *
 * A panel is a few local indices of a contracted label from every part of it. Of near-even parts and of cyclic ones that is a tensor
 * with a layout of the same kind, so that panels are redistributions too; L and R must be cut alike in this label for the panel to
 * be the same set of indices in both, and one of them is moved before where they are not. Where only one operand moves, a panel may
 * also be a few indices of a label of its own that nobody cuts: then each panel computes a part of D, and all of the sum. */
#ifndef CUTT_DIST_CONTRACT_H
#define CUTT_DIST_CONTRACT_H

#include "base/types.h"
#include "contract/pattern.h"
#include "cutt_contract.h"
#include "dist/comm.h"
#include "dist/device.h"
#include "dist/layout.h"
#include "dist/parts.h"

enum { CUTT_DIST_ALGORITHMS = 5, CUTT_MOST_AXES = 32 };

/* Steps (comm.h) of a creation: what each rank was given and has made of it; the same with the slowest rank's speeds, where ranks have
 * not chosen alike; and on a device, what there is. */
enum { CUTT_STEP_SPREAD_GIVEN = 32, CUTT_STEP_SPREAD_AGAIN = 33, CUTT_STEP_SPREAD_MADE = 34 };

/* Speeds: of the slowest rank. */
typedef struct cutt_speeds {
  float multiply; /* seconds of a product of two elements and its sum */
  float copy;     /* of a byte that is copied */
  float message, byte;
  float not_hidden; /* share of the shorter one of a move and a product that the longer one does not hide */
} cutt_speeds;

/* What all ranks know of a contraction. */
typedef struct cutt_spread {
  int labels, modes[CUTT_TENSORS];
  int label[CUTT_TENSORS][CUTT_MAX_RANK];
  int times[CUTT_TENSORS][CUTT_MOST_LABELS]; /* that a tensor has a label */
  int64_t extent[CUTT_MOST_LABELS];
  cutt_label name[CUTT_MOST_LABELS];
  bool one; /* operand: there is no R */
  cutt_layout layout[CUTT_TENSORS];
  int *place[CUTT_TENSORS]; /* where each rank stands in a layout's list; -1: it has no part there */
  int me, size;
  const cutt_type_info *type;
  _Alignas(16) unsigned char alpha[16], beta[16];
  bool has_alpha, has_beta; /* has_beta: it is not 0 */
  int conjugate[2];
  cuttDistContractionOptions_t options; /* backend: the one that is meant */
  const cutt_runtime *runtime;          /* of the device whose memory the tensors are in; NULL: it is the host's */
  cutt_device_way way;                  /* there */
  cutt_speeds rates;
} cutt_spread;

/* Where a buffer may begin, and the least workspace that a redistribution can do with: on a device a round has a piece of each
 * peer's, of 64 bytes at least, twice each way. */
static inline int64_t cutt_spread_alignment(const cutt_spread *s) { return s->runtime ? 256 : 64; }
static inline int64_t cutt_least_of_a_move(const cutt_spread *s) {
  return s->runtime && s->size > 2 ? 256 * (int64_t)(s->size - 1) : 256;
}

typedef struct cutt_mesh {
  cutt_part part[CUTT_MOST_LABELS];
  int axes, axis[CUTT_MOST_AXES]; /* labels that are cut, the first fastest; -1: copies of everything */
  int copies;
  int positions;
  const int *ranks;  /* the caller's list in a layout; NULL: 0, 1, 2, ... */
  const char *stays; /* the tensor whose layout it is; NULL: it is a new one */
} cutt_mesh;

/* Elements of a tensor that move, of the rank that has most. */
typedef struct cutt_tally {
  double received, sent, kept;
} cutt_tally;

/* An algorithm on a mesh, and what moves for it. */
typedef struct cutt_scheme {
  cuttDistAlgorithm_t algorithm;
  cutt_mesh mesh;
  cutt_tally tally[CUTT_TENSORS];
  bool stands[CUTT_TENSORS]; /* is used where it lies */
  int partial;               /* results to be added up; 1: none */
  int panel_label;           /* -1: one panel of all */
  bool panel_of_result;      /* it is one of D's */
  cutt_part cut;             /* of that label, in all operands that have it */
  int64_t panel, panels;     /* local indices of a panel */
  int align;                 /* the operand that is first cut like the other one; -1: none */
  int64_t buffers;           /* bytes of the largest rank's workspace, but for what moves and products need */
  int moves;                 /* plans of redistributions */
  double seconds;            /* predicted */
} cutt_scheme;

/* How each algorithm fared. */
typedef struct cutt_verdict {
  double seconds;  /* of its best candidate; below 0: there is none */
  const char *why; /* there is none */
} cutt_verdict;

typedef struct cutt_sharing {
  cutt_scheme best;
  cutt_verdict verdict[CUTT_DIST_ALGORITHMS];
  int64_t least_bytes; /* of workspace, of all candidates */
} cutt_sharing;

/* ---- reading (contract_read.c) */

/* Where a creation begins: what the caller gives. */
typedef struct cutt_contract_given {
  cuttDistContraction_t problem;
  cutt_pattern pattern;
} cutt_contract_given;

enum { CUTT_GIVEN_LEFT, CUTT_GIVEN_RIGHT, CUTT_GIVEN_RESULT, CUTT_GIVEN_PRODUCT, CUTT_GIVEN_OPTIONS, CUTT_GIVENS };
extern const char *const cutt_contract_given_name[CUTT_GIVENS];

/* Reads and checks all; hash receives one number for each thing that must be the same on all ranks. What s holds is freed by
 * cutt_spread_free. Errors: CUTT_INVALID_PARAMETER, CUTT_INVALID_DEVICE, CUTT_INTERNAL_ERROR. */
cuttResult cutt_spread_read(cutt_spread *s, cutt_contract_given *given, const struct cuttDistCommStruct *comm,
                            const cuttDistContraction_t *contraction, const cuttDistContractionOptions_t *options,
                            uint64_t hash[CUTT_GIVENS]);
void cutt_spread_free(cutt_spread *s);
/* Speeds of this rank; on a device in its context. */
cuttResult cutt_spread_rates(const cutt_spread *s, const cuttDistTransport_t *transport, cutt_speeds *rates);
/* Has this rank a thread to multiply while another one moves? */
bool cutt_spread_overlaps(const cutt_spread *s);
/* How this rank multiplies. */
cuttContractionOptions_t cutt_local_options(const cutt_spread *s);
/* The number 1 in a type's scalars. */
void cutt_scalar_one(cuttType_t type, unsigned char *scalar);

/* ---- meshes (contract_mesh.c) */

int cutt_axis_parts(const cutt_mesh *mesh, int axis);
int cutt_mesh_rank(const cutt_mesh *mesh, int position);
/* The part of each label at a position; at has s->labels entries. */
void cutt_mesh_parts(const cutt_spread *s, const cutt_mesh *mesh, int position, int *at);
/* Has every rank of the mesh the part of a tensor that it needs? */
bool cutt_mesh_stands(const cutt_spread *s, const cutt_mesh *mesh, int tensor);
/* How many partial sums there are of each element of the result. */
int cutt_mesh_partial(const cutt_spread *s, const cutt_mesh *mesh);
/* The ranks' list of a layout whose modes are these labels, cut as the mesh is: mesh->positions ranks, of which *copies follow
 * each other. The label -1 stands for partial sums: all labels that the result has not. */
void cutt_mesh_list(const cutt_spread *s, const cutt_mesh *mesh, const int *label, int modes, int *ranks, int *copies);
/* Elements of a tensor's part with these parts of its labels. */
int64_t cutt_mesh_volume(const cutt_spread *s, const cutt_mesh *mesh, int tensor, const int *at);

/* ---- devices (contract_device.c) */

/* For tensors in the memory of a device: what is multiplied is in the caller's stream, and panels are moved in one of the plan's own.
 * Events tell when a panel's buffers are filled, and when they have been read. */
typedef struct cutt_contract_device {
  const cutt_runtime *runtime; /* NULL: tensors are in the host's memory, and nothing of this is used */
  cutt_context context;
  cudaStream_t side; /* NULL: there is one panel */
  cutt_event *begun, *moved[2], *multiplied[2], *sent, *ended;
} cutt_contract_device;

/* The runtime and backend of the tensors' memory, by the options. Errors: as cutt_device_select. */
cuttResult cutt_spread_select(cutt_spread *s, const struct cuttDistCommStruct *comm);
/* Streams and events of a plan, for the calling thread's context; panels: it has more than one. Errors: the runtime's. */
cuttResult cutt_contract_device_make(cutt_contract_device *device, const cutt_runtime *runtime, bool panels);
void cutt_contract_device_free(cutt_contract_device *device);
/* Enters the plan's context for work in a stream. Errors: CUTT_INVALID_DEVICE. */
cuttResult cutt_contract_device_enter(const cutt_contract_device *device, cudaStream_t stream, cutt_scope *scope);

/* ---- choice (contract_choose.c, contract_price.c) */

/* Counts what moves of each tensor that does not stand, by what all ranks know. false: out of memory. */
bool cutt_scheme_tally(const cutt_spread *s, cutt_scheme *c);
/* Predicts a candidate's time and workspace. */
void cutt_scheme_price(const cutt_spread *s, cutt_scheme *c);
/* Indices of panel number `panel` of the candidate's panel label, over all parts. */
int64_t cutt_panel_extent(const cutt_scheme *c, int64_t panel);
/* The layout of an operand that is first cut like the other one: parts of its modes, and positions. */
int cutt_align_parts(const cutt_spread *s, const cutt_scheme *c, cutt_part *part);
/* A number for what was chosen: ranks that have the same have chosen alike. */
uint32_t cutt_scheme_hash(const cutt_spread *s, const cutt_scheme *c);
/* By s->rates; with the same rates the same on all ranks. Errors: CUTT_INVALID_PARAMETER (no algorithm that the options allow), CUTT_INTERNAL_ERROR. */
cuttResult cutt_scheme_choose(const cutt_spread *s, cutt_sharing *choice);

/* ---- plans (contract_prepare.c, contract_execute.c) */

/* Redistributions: of the operand that is first cut like the other one; of each operand, in panels but the last, and in the last; and
 * of the result. */
enum { CUTT_MOVE_ALIGN, CUTT_MOVE_OPERANDS, CUTT_MOVE_HOME = 5, CUTT_MOVES };

typedef enum cutt_store {
  CUTT_STORE_ALIGNED,
  CUTT_STORE_LEFT, /* two of each operand where there are panels */
  CUTT_STORE_LEFT_2,
  CUTT_STORE_RIGHT,
  CUTT_STORE_RIGHT_2,
  CUTT_STORE_RESULT,   /* what is computed, where it is not the result's part itself */
  CUTT_STORE_SUMMANDS, /* of this rank's part of the result */
  CUTT_STORE_PRODUCT,  /* workspace of products */
  CUTT_STORES
} cutt_store;

struct cuttDistContractionStruct {
  uint64_t magic;
  struct cuttDistCommStruct *comm;
  uint64_t number;
  cutt_spread s; /* places and the caller's lists are gone after planning */
  cutt_sharing choice;
  bool multiplies; /* this rank is in the mesh, and its part of the result has elements */
  /* [1]: of the last panel */
  cuttDistPlan_t align, move[2][2], home;
  cuttContractionPlan_t product[2][2]; /* [1][.]: of the first panel, or of any that nothing is added to */
  cuttContractionPlan_t sum;
  cuttPlan_t add[2];                             /* on a device, instead: of the first summand, and of each other one */
  int64_t volume[CUTT_TENSORS];                  /* of this rank's parts */
  int64_t low[CUTT_TENSORS], high[CUTT_TENSORS]; /* bytes that they span */
  int64_t panel_step
      [CUTT_TENSORS]; /* bytes from one panel of a tensor to the next, where it is moved from or stands, or is computed */
  int64_t buffer[CUTT_STORES], bytes[CUTT_STORES]; /* where in memory, and how many */
  unsigned char *memory;
  cutt_contract_device device;
  size_t workspace_bytes;
  int64_t sent, received, most_sent, most_received;
  double flops, moving_seconds, predicted_seconds, create_seconds; /* predicted: of products only, until ranks agree */
};

bool cutt_dist_contraction_alive(const struct cuttDistContractionStruct *plan);

typedef struct cutt_preparing cutt_preparing;
/* What a rank says of what it has made. */
typedef struct cutt_prepared {
  cutt_speeds rates;
  float product_seconds;
  int64_t sent;
  int64_t received[CUTT_MOVES]; /* by messages, of an execution of each move */
  float seconds[CUTT_MOVES][CUTT_WAYS];
} cutt_prepared;

/* Lists, and what follows from them without the others; cutt_prepare_free frees what is made. */
cuttResult cutt_prepare_alone(struct cuttDistContractionStruct *plan, cutt_preparing **made);
/* The redistributions: on a device collective; else they are started. */
cuttResult cutt_prepare_moves(struct cuttDistContractionStruct *plan, cutt_preparing *p);
/* Products and memory. */
cuttResult cutt_prepare_products(struct cuttDistContractionStruct *plan, cutt_preparing *p);
/* Of redistributions that were started: what others have to know of them, and their end, given the slowest seconds. */
void cutt_prepare_tell(struct cuttDistContractionStruct *plan, const cutt_preparing *p, cutt_prepared *said);
cuttResult cutt_prepare_end(struct cuttDistContractionStruct *plan, cutt_preparing *p,
                            float slowest[CUTT_MOVES][CUTT_WAYS]);
/* A plan's redistribution by its number, and how often an execution makes it. */
cuttDistPlan_t *cutt_contract_move(struct cuttDistContractionStruct *plan, int number, int64_t *count);
void cutt_prepare_free(cutt_preparing *p);

#endif
