/* What a contraction's plan is made of. */
#ifndef CUTT_CONTRACT_PLAN_H
#define CUTT_CONTRACT_PLAN_H

#include "contract/cost.h"
#include "plan/backend.h"

enum { CUTT_MOST_KINDS = 1 << CUTT_MOST_RAGGED, CUTT_SCALAR_BYTES = 16 };

/* A loop around the products of a piece: steps in each tensor, in elements. */
typedef struct cutt_loop {
  int64_t extent;
  int64_t stride[CUTT_TENSORS];
} cutt_loop;

/* A kind of piece. Few modes have a last chunk that is shorter than the others; each of those has a bit in a kind's number,
 * which says that the mode is at that chunk. */
typedef struct cutt_piece {
  cutt_view view;
  cuttPlan_t permute[CUTT_TENSORS]; /* of a packed tensor; the result's goes from workspace to the tensor */
  cutt_gemm gemm;
  bool swapped;
  int loops, sums; /* loops that the result has, and the ones after them that it does not have, which add up */
  cutt_loop loop[CUTT_MOST_MODES];
  int64_t products;  /* in all of the loops that the result has, */
  int64_t additions; /* and how many each of them adds up */
} cutt_piece;

/* A mode that is cut. */
typedef struct cutt_cutting {
  int mode;
  int64_t chunk, chunks;
  cutt_role role;
  unsigned ragged;         /* the last chunk is shorter: its bit in a kind's number; else 0 */
  bool held[CUTT_TENSORS]; /* the packed piece of a tensor changes with it */
} cutt_cutting;

struct cuttContractionStruct {
  uint64_t magic;
  const cutt_backend *backend;
  const cutt_blas *blas;
  unsigned long long context; /* GPU: the id of the context that the plan is for */
  int threads;
  double create_seconds;
  cutt_contraction contraction; /* after what is summed beforehand has been */
  cutt_contraction asked;       /* before */
  cutt_rates rates;
  cutt_algorithm algorithm;
  cutt_cost cost;
  _Alignas(16) unsigned char one[CUTT_SCALAR_BYTES]; /* of the type of alpha and beta */
  _Alignas(16) unsigned char zero[CUTT_SCALAR_BYTES];
  _Alignas(16) unsigned char unit[CUTT_SCALAR_BYTES]; /* 1 as an element */
  /* An operand's modes that nothing else has are summed beforehand: a contraction with a scalar 1, into workspace. */
  struct cuttContractionStruct *reduce[2];
  size_t reduced_offset[2];
  size_t one_offset; /* GPU: where the scalar 1 lies */
  cuttPlan_t scale;  /* a sum over nothing: D = beta * D */
  /* Workspace: packed operands that stay, then for each thread (or, on a GPU, each of two turns) its pieces. */
  size_t reduce_base;  /* where its workspace begins then */
  size_t reduce_bytes; /* that the plan takes while it sums beforehand */
  size_t piece_offset[CUTT_TENSORS], shared_offset[CUTT_TENSORS], turn_offset, turn_bytes, workspace_bytes;
  int turns;
  bool stays[CUTT_TENSORS];
  int cuts; /* outermost first; those of K come last */
  cutt_cutting cut[CUTT_MOST_MODES];
  cutt_piece *kind[CUTT_MOST_KINDS]; /* NULL: there is no such piece */
};

static inline bool cutt_contraction_on_gpu(const struct cuttContractionStruct *plan) {
  return plan->backend->runtime->has_streams;
}

/* Fills a plan of zeros but for asked, a checked contraction; what it holds is freed by cutt_contraction_release, also after a
 * failure. */
cuttResult cutt_contraction_prepare(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                    const cutt_blas *blas, int threads, int64_t limit);
void cutt_contraction_release(struct cuttContractionStruct *plan);

/* Predicted seconds of an execution, and of its permuting; what is summed beforehand counts as permuting. */
double cutt_plan_seconds(const struct cuttContractionStruct *plan);
double cutt_plan_permute_seconds(const struct cuttContractionStruct *plan);
/* Products that the BLAS is given in an execution, blocks for threads not counted. */
int64_t cutt_plan_products(const struct cuttContractionStruct *plan);
/* Real floating-point operations of an execution. */
double cutt_plan_flops(const struct cuttContractionStruct *plan);

/* Times of the steps of one execution, added up over threads; NULL where they are taken: nobody wants to know. */
typedef struct cutt_steps {
  double permute, multiply;
} cutt_steps;

typedef struct cutt_operands {
  const unsigned char *operand[2];
  unsigned char *result;
  unsigned char *workspace;
} cutt_operands;

/* Where one is in the walk over pieces, and what its packed operands hold. */
typedef struct cutt_place {
  int64_t unit, term;
} cutt_place;
typedef struct cutt_walk {
  const struct cuttContractionStruct *plan;
  cutt_place at;
  cutt_place packed[2]; /* where the operands were packed, */
  bool holds[2];        /* if they were */
} cutt_walk;

/* Goes to a unit, 0 .. cost.units - 1, and to one of its terms. Returns the piece's kind. */
const cutt_piece *cutt_walk_to(cutt_walk *walk, int64_t unit, int64_t term);
/* Bytes from a tensor's element (0, ..., 0) to where the piece begins. */
int64_t cutt_walk_offset(const cutt_walk *walk, cutt_tensor t);
/* Must the operand be packed for this piece? Takes it for done. */
bool cutt_walk_packs(cutt_walk *walk, cutt_tensor t);

/* Where the loops of a piece are at their number-th turn, as elements in each tensor, from the first of `count` loops. */
void cutt_loops_offset(const cutt_loop *loop, int count, int64_t number, int64_t offset[CUTT_TENSORS]);

/* Executes on the CPU, and on a GPU in the stream. workspace is there. */
cuttResult cutt_contraction_run_cpu(const struct cuttContractionStruct *plan, const cutt_operands *operands,
                                    cutt_steps *steps);
cuttResult cutt_contraction_run_gpu(const struct cuttContractionStruct *plan, const cutt_operands *operands,
                                    cudaStream_t stream, cutt_steps *steps);

/* Marks a plan as one that may be used, or as one that has been destroyed. */
void cutt_contraction_set_alive(struct cuttContractionStruct *plan, bool is_alive);

/* Is this a plan, and alive? Words the error CUTT_INVALID_PLAN when not. */
bool cutt_contraction_alive(const struct cuttContractionStruct *plan);

#endif
