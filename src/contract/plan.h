/* What a contraction's plan is made of. */
#ifndef CUTT_CONTRACT_PLAN_H
#define CUTT_CONTRACT_PLAN_H

#include "contract/parts.h"
#include "contract/pass.h"
#include "contract/permutation.h"
#include "plan/choose.h"

/* Algorithms that a caller may ask for. */
typedef enum cutt_family { CUTT_FAMILY_ANY, CUTT_FAMILY_PASS, CUTT_FAMILY_TTGT } cutt_family;

enum { CUTT_MOST_KINDS = 1 << CUTT_MOST_RAGGED, CUTT_SCALAR_BYTES = 16 };

/* A loop around the products of a block: steps in each tensor, in elements. */
typedef struct cutt_loop {
  int64_t extent;
  int64_t stride[CUTT_TENSORS];
} cutt_loop;

/* What is done at blocks of one kind. Blocks differ in their extents only where a mode's last chunk is shorter than its
 * others. The few modes of which that is so have a bit each in the number of a kind, which is set where the mode is at its
 * last chunk. */
typedef struct cutt_block {
  cutt_view view;
  /* Of each packed tensor: an operand's into workspace, the result's out of it. */
  cuttPlan_t permute[CUTT_TENSORS];
  cutt_gemm gemm;
  /* The product computes D's transpose: A is R, and B is L. */
  bool swapped;
  /* First the loops over modes of the result, the longest step outermost; then those over modes that it does not have, whose
   * products add up. */
  int loops, sums;
  cutt_loop loop[CUTT_MOST_MODES];
  /* Iterations of the former, and of the latter for each of those. */
  int64_t products, additions;
} cutt_block;

/* A mode that is cut. */
typedef struct cutt_cut_mode {
  int mode;
  int64_t chunk, chunks;
  cutt_role role;
  /* The mode's bit in the number of a kind, if its last chunk is shorter; else 0. */
  unsigned ragged;
  /* Does the tensor's part of a block change with this mode? */
  bool held[CUTT_TENSORS];
} cutt_cut_mode;

/* A way that was timed. */
typedef struct cutt_timed_way {
  char name[96];
  double predicted, seconds; /* seconds < 0: it was not run, or could not be */
} cutt_timed_way;

struct cuttContractionStruct {
  uint64_t magic;
  const cutt_backend *backend;
  /* NULL: none takes the type, and none is needed. */
  const cutt_blas *blas;
  /* On a GPU, the id of the context that the plan is for. */
  unsigned long long context;
  int threads;
  double create_seconds;
  /* What the caller asks for, and what is left of it after the sums that are done beforehand, and where sums are in parts, of these. */
  cutt_contraction asked;
  cutt_contraction contraction;
  cutt_parts *parts; /* or NULL */
  cutt_family family;
  cutt_rates rates;
  /* The contraction in one pass, on the CPU (pass.h) or on a GPU (device_pass.h), where the sums of its parts are in workspace. Both
   * NULL: by the algorithm that follows. */
  cutt_pass *pass;
  cutt_device_pass *device_pass;
  size_t parts_offset;
  /* Of a pass of tensors of which some are permuted (device_moved.h): what is left for it, else NULL; their permutations, and where they
   * lie in workspace. */
  cutt_contraction *moved;
  cuttPlan_t move[CUTT_TENSORS];
  size_t move_offset[CUTT_TENSORS];
  cutt_algorithm algorithm;
  cutt_cost cost;
  /* How it was chosen, with the seconds that were measured, or 0; and what was timed for it, which is freed with the plan. */
  cutt_chosen_by by;
  double measured_seconds;
  int timed_count;
  cutt_timed_way *timed;
  /* How the permutations are chosen. */
  cutt_permuting permuting;
  /* Scalars of the type of alpha and beta, and the number 1 as an element of a tensor. */
  _Alignas(16) unsigned char one[CUTT_SCALAR_BYTES];
  _Alignas(16) unsigned char zero[CUTT_SCALAR_BYTES];
  _Alignas(16) unsigned char one_element[CUTT_SCALAR_BYTES];
  /* The modes that one operand alone has are summed beforehand: a contraction with a tensor of one element, 1, whose result is
   * at this offset of the workspace and takes the operand's place. NULL: the operand has none. */
  struct cuttContractionStruct *reduce[2];
  size_t reduced_offset[2];
  /* On a GPU, where in the workspace that 1 lies. */
  size_t one_offset;
  /* Where the workspace of these sums begins, and how many bytes of workspace are in use while they are done, or parts are added up. */
  size_t reduce_base;
  size_t reduce_bytes;
  /* D = beta * D, where nothing is summed; else NULL. */
  cuttPlan_t scale;
  /* Workspace: the operands that are packed once, at shared_offset; then the slots. A slot has room for the packed parts of one
   * block, each at its block_offset. Each thread has a slot; on a GPU there are two, so that the parts of one block are
   * permuted while another one is multiplied. */
  bool stays[CUTT_TENSORS];
  size_t shared_offset[CUTT_TENSORS];
  size_t block_offset[CUTT_TENSORS];
  size_t slot_offset, slot_bytes;
  int slots;
  size_t workspace_bytes;
  /* The algorithm that the library does the products of whole blocks by, and where in the workspace its own lies; NULL: the
   * library chooses. */
  cutt_gemm_chosen *product;
  size_t product_offset;
  /* The modes that are cut, outermost first; those of K come last. */
  int cuts;
  cutt_cut_mode cut[CUTT_MOST_MODES];
  /* By number; NULL: there are no blocks of this kind. */
  cutt_block *kind[CUTT_MOST_KINDS];
};

static inline bool cutt_contraction_on_gpu(const struct cuttContractionStruct *plan) {
  return plan->backend->runtime->has_streams;
}

/* Fills a plan in which only `asked` and `family` are set, a contraction that has been checked, and all else is 0. What it holds is freed by
 * cutt_contraction_release, also after a failure. */
cuttResult cutt_contraction_prepare(struct cuttContractionStruct *plan, const cutt_backend *backend,
                                    const cutt_blas *blas, int threads, int64_t limit);
void cutt_contraction_release(struct cuttContractionStruct *plan);

/* What is left after the sums that are done beforehand, be it in parts or not. */
const cutt_contraction *cutt_plan_whole(const struct cuttContractionStruct *plan);

/* Predicted seconds of an execution, and of its permutations; the sums that are done beforehand and afterwards count as permutations. */
double cutt_plan_seconds(const struct cuttContractionStruct *plan);
double cutt_plan_permute_seconds(const struct cuttContractionStruct *plan);
/* Words: the algorithm, and the library of its products. */
const char *cutt_plan_algorithm(const struct cuttContractionStruct *plan);
const char *cutt_plan_provider(const struct cuttContractionStruct *plan);
/* Matrix products in an execution; one that threads share counts once. */
int64_t cutt_plan_products(const struct cuttContractionStruct *plan);
/* Real floating-point operations of an execution. */
double cutt_plan_flops(const struct cuttContractionStruct *plan);

/* Seconds of the steps of one execution, averaged over threads. Functions that take this take NULL where nobody asks. */
typedef struct cutt_steps {
  double permute, multiply;
} cutt_steps;

typedef struct cutt_operands {
  const unsigned char *operand[2];
  unsigned char *result;
  unsigned char *workspace;
} cutt_operands;

/* Which block: one of D's, and one of K's. */
typedef struct cutt_block_index {
  int64_t result_block, k_block;
} cutt_block_index;

/* Where an execution is in its walk over the blocks, and for which block each operand was packed last, if it was (holds). */
typedef struct cutt_walk {
  const struct cuttContractionStruct *plan;
  cutt_block_index at;
  cutt_block_index packed[2];
  bool holds[2];
} cutt_walk;

/* Goes to a block: one of D's, 0 to cost.result_blocks - 1, and one of K's, 0 to cost.k_blocks - 1. Returns its kind. */
const cutt_block *cutt_walk_to(cutt_walk *walk, int64_t result_block, int64_t k_block);
/* Bytes from a tensor's element (0, ..., 0) to the block's first. */
int64_t cutt_walk_offset(const cutt_walk *walk, cutt_tensor t);
/* Must the operand be packed for this block, since what is packed is another part of it? If so, notes that it has been. */
bool cutt_walk_packs(cutt_walk *walk, cutt_tensor t);

/* Elements from where a nest of `count` loops begins to its iteration of this number, in each tensor; the last loop is the
 * innermost. */
void cutt_loops_offset(const cutt_loop *loop, int count, int64_t number, int64_t offset[CUTT_TENSORS]);

/* Executes a plan for the CPU; a plan for a GPU, in the stream. Everything has been checked, and there is workspace. */
cuttResult cutt_contraction_run_cpu(const struct cuttContractionStruct *plan, const cutt_operands *callers,
                                    cutt_steps *steps);
cuttResult cutt_contraction_run_gpu(const struct cuttContractionStruct *plan, const cutt_operands *callers,
                                    cudaStream_t stream, cutt_steps *steps);

/* Executes a plan on what has been checked, in its context. */
cuttResult cutt_contraction_run(const struct cuttContractionStruct *plan, const cutt_operands *operands,
                                cudaStream_t stream, cutt_steps *steps);

/* The same, as the function of a cutt_work, which a runtime times. */
typedef struct cutt_execution {
  const struct cuttContractionStruct *plan;
  const cutt_operands *operands;
} cutt_execution;
cuttResult cutt_execution_run(const void *execution, cudaStream_t stream);

/* Marks a plan as one that may be used, or as one that has been destroyed. */
void cutt_contraction_set_alive(struct cuttContractionStruct *plan, bool is_alive);

/* Is this a plan, and alive? Words the error CUTT_INVALID_PLAN when not. */
bool cutt_contraction_alive(const struct cuttContractionStruct *plan);

#endif
