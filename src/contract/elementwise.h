/* Elementwise operations of permuted operands: D = (alpha A op_ab beta B) op_abc gamma C, in one pass over memory. On a GPU see
 * device_elementwise.h.
 *
 * On the CPU D is cut into blocks that fit a core's own cache, whose sides are so long that every tensor's part of a block lies in runs of
 * some cache lines. An operand that does not have its elements in D's order is permuted into a thread's scratch, block by block,
 * by a plan of libcutt; any other is used in place, or has one element for a whole row. Rows are what D has next to each other;
 * where it has nothing so, its block is made in the scratch too, and permuted from there.
 *
 * Where D's rows are long and all operands in another order have their elements next to each other in one and the same mode, they are
 * turned in registers instead, by tiles of rows (elementwise_turn.c). If they have them so in different modes, one operand is
 * permuted to D first, as it is, and then combined with the others from there. */
#ifndef CUTT_CONTRACT_ELEMENTWISE_H
#define CUTT_CONTRACT_ELEMENTWISE_H

#include "contract/kernels/kernels.h"
#include "contract/labelled.h"
#include "plan/backend.h"

enum {
  CUTT_ELEMENTWISE_OPERANDS = 3,
  CUTT_ELEMENTWISE_RAGGED = 3, /* most modes whose last chunk is shorter */
  CUTT_ELEMENTWISE_KINDS = 1 << CUTT_ELEMENTWISE_RAGGED
};

/* Modes are in the order of their steps in D, which are positive: fused, and without those of extent 1. */
typedef struct cutt_elementwise_mode {
  int64_t extent, chunk, chunks;
  int64_t stride[CUTT_MOST_TENSORS]; /* in elements; 0 in an operand that lacks the mode */
  unsigned ragged; /* its bit in the number of a kind of block, if its last chunk is shorter; else 0 */
  int letters;     /* of the pattern: more than 1 where modes were fused */
} cutt_elementwise_mode;

/* How an operand's part of a block is used. */
typedef enum cutt_elementwise_use {
  CUTT_USE_IN_PLACE,
  CUTT_USE_SINGLE, /* one element for all of a row */
  CUTT_USE_PACKED,
  CUTT_USE_ZERO, /* it is not read */
  CUTT_USE_TURNED
} cutt_elementwise_use;

/* Blocks of one kind: those whose modes are at their last, shorter chunk, or not, alike. */
typedef struct cutt_elementwise_block {
  int64_t extent[CUTT_MOST_LABELS];
  int64_t packed[CUTT_MOST_LABELS]; /* steps of a packed tensor */
  int64_t row;                      /* elements */
  int row_modes;                    /* the first modes, which a row has */
  cuttPlan_t permute[CUTT_MOST_TENSORS];
  /* Of a packed operand, what lies together in memory: `runs` times run_bytes, from start[] on. NULL: single elements. */
  int64_t *start[CUTT_MOST_TENSORS], runs[CUTT_MOST_TENSORS], run_bytes[CUTT_MOST_TENSORS];
} cutt_elementwise_block;

/* Tiles whose operands are turned in registers. */
typedef struct cutt_elementwise_turn {
  int rows;                    /* the mode of a tile's rows */
  int row_modes;               /* modes, the first ones, that a tile has of each row, the last one of them in chunks */
  int order[CUTT_MOST_LABELS]; /* of the modes, in which the tiles follow each other */
  int64_t places, *place[CUTT_ELEMENTWISE_OPERANDS]; /* bytes, of a row's elements in a turned operand */
} cutt_elementwise_turn;

struct cuttElementwiseStruct {
  uint64_t magic;
  const cutt_backend *backend;
  const cutt_type_info *type;
  const cutt_pass_kernels *kernels;
  const cutt_pass_type *numbers;
  int threads, operands;
  bool empty; /* D has no elements */
  /* Of each operand: A, B, C. */
  cutt_elementwise_use use[CUTT_ELEMENTWISE_OPERANDS];
  _Alignas(16) unsigned char scale[CUTT_ELEMENTWISE_OPERANDS][16];
  bool scaled[CUTT_ELEMENTWISE_OPERANDS], conjugate[CUTT_ELEMENTWISE_OPERANDS];
  bool as_result[CUTT_ELEMENTWISE_OPERANDS]; /* it is laid out as D is */
  cuttOperator_t op[CUTT_ELEMENTWISE_OPERANDS - 1];
  int64_t low[CUTT_MOST_TENSORS], high[CUTT_MOST_TENSORS]; /* bytes spanned, as in cutt_labelled */
  int64_t origin[CUTT_MOST_TENSORS]; /* bytes from element (0, ..., 0) to where the walk over the modes begins */
  bool result_packed;
  int moved;       /* number, from 1 on, of the operand permuted to D first, which then has D's strides; or 0 */
  cuttPlan_t move; /* what permutes it */
  int64_t moved_stride[CUTT_MOST_LABELS]; /* its own strides */
  struct cuttElementwiseStruct *apart;    /* the plan for D that is an operand, too: nothing is moved; or NULL */
  bool far;           /* the tensors do not stay in caches near a core: what comes next is asked for */
  bool asks_in_order; /* what comes next of a long row, too */
  bool streams;       /* D is written past the caches, but where it is an operand too */
  int modes;
  cutt_elementwise_mode mode[CUTT_MOST_LABELS];
  char letter[CUTT_MOST_LABELS]; /* of all modes, one mode's after the other's */
  double create_seconds;
  struct cutt_device_elementwise *device; /* on a GPU, where what follows is not used */
  int64_t blocks;
  struct cutt_elementwise_turn *turn; /* by tiles, of which `blocks` is the number; then there are no kinds of blocks */
  cutt_elementwise_block *kind[CUTT_ELEMENTWISE_KINDS];
};

/* Says as cuttLastError what is wrong, if it is not a plan. */
bool cutt_elementwise_alive(const struct cuttElementwiseStruct *plan);

/* How an operand is used, in words. */
const char *cutt_elementwise_use_words(const struct cuttElementwiseStruct *plan, int operand);

/* The tensor of an operand's number. */
static inline cutt_tensor cutt_elementwise_tensor(int operand) {
  return operand == 0 ? CUTT_LEFT : operand == 1 ? CUTT_RIGHT : CUTT_THIRD;
}

/* Adds a mode with its strides as they are to the plan's, in the order of D's steps, whose operands and type are set. One whose step in D is
 * negative is walked from its other end. letter: of the pattern, for people; 0: none. */
void cutt_elementwise_add_mode(struct cuttElementwiseStruct *plan, const cutt_elementwise_mode *callers, char letter);

/* On the CPU: cuts the modes, which are set but for their chunks, as the backend, the operands and the rest of the operation are, and plans each
 * kind of block. What it makes is freed by cutt_elementwise_release, also after a failure. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_elementwise_prepare(struct cuttElementwiseStruct *plan);
void cutt_elementwise_release(struct cuttElementwiseStruct *plan);

/* Bytes of D's elements; and of all elements that are read or written, each once. */
int64_t cutt_elementwise_bytes(const struct cuttElementwiseStruct *plan);
int64_t cutt_elementwise_moved(const struct cuttElementwiseStruct *plan);

/* Sets plan->moved to the next operand that may be permuted to D first, beginning with *after = 0: in the order of the extents of
 * the modes in which they have their elements next to each other. False: there are no more, and it is 0. */
bool cutt_elementwise_may_move(struct cuttElementwiseStruct *plan, int64_t *after);

/* Plans the permutation of plan->moved, if it is not 0, and gives the operand D's strides. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_elementwise_move(struct cuttElementwiseStruct *plan);

/* Sets the plan's tiles, if there are operands that are turned in registers, else leaves all as it is. Errors: CUTT_INTERNAL_ERROR. */
cuttResult cutt_elementwise_turn_prepare(struct cuttElementwiseStruct *plan);
void cutt_elementwise_turn_release(struct cuttElementwiseStruct *plan);

/* Tiles from one to before another. tensor: as for cutt_elementwise_run, beyond the plan's origins; combination: the operators, and the
 * operands but for where they are; carry: a block of scratch if D is written past the caches, else NULL. */
void cutt_elementwise_turn_run(const struct cuttElementwiseStruct *plan, void *const tensor[CUTT_MOST_TENSORS],
                               const cutt_combination *combination, void *carry, int64_t from, int64_t to);

/* Threads of an execution, at most. */
int cutt_elementwise_threads(const struct cuttElementwiseStruct *plan);

/* tensor: addresses of element (0, ..., 0), by cutt_tensor; those of operands that are not read are not used. */
cuttResult cutt_elementwise_run(const struct cuttElementwiseStruct *plan, void *const tensor[CUTT_MOST_TENSORS]);

#endif
