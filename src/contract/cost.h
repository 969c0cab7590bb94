/* The model of a contraction's time: what an execution by an algorithm is predicted to take, and its workspace.
 *
 * Permuting takes the time of the bytes that it moves at the speed of memory, and longer where contiguous runs are short. A
 * matrix product takes the time of its floating-point operations at the speed of the BLAS library, longer where an extent is
 * small, and besides the time to fetch those operands that are not in a cache. The counts of operations and bytes are exact;
 * the rates are rough, and good enough to rank algorithms, whose times differ by factors. */
#ifndef CUTT_CONTRACT_COST_H
#define CUTT_CONTRACT_COST_H

#include "contract/algorithms.h"

/* The rates of the machine, which the model multiplies its counts with. */
typedef struct cutt_rates {
  bool gpu;
  /* Threads that work on the contraction; 1 on a GPU. */
  int threads;
  /* Of the GPU. */
  int64_t multiprocessors;
  /* The same: bytes of shared memory of an SM, and that a block may have; are there tensor cores that multiply doubles, and copies in
   * bulk? */
  int64_t sm_shared, block_shared;
  bool matrix_units, bulk_copies;
  /* Real floating-point operations per second in large products: of one thread on the CPU, of the whole GPU. */
  double flops;
  /* The same, or 0 where no library is known that says. */
  double blas_flops;
  /* Bytes per second that permutations read and write, the sum of both: of all threads together. */
  double memory;
  /* Bytes per second at which operands come from memory: of all threads together; and those of matrix products. */
  double fetch, product_fetch;
  /* Bytes per second, read or written, within the cache of one thread. */
  double cache;
  /* Seconds that every call of a product takes, and every execution of a permutation, whatever its size. */
  double call;
  double launch;
  /* Seconds that a product waits for memory at the start of each contiguous run of an operand. */
  double run_start;
  /* A product m x n x k takes slow[0] + slow[1] / m + slow[2] / n + slow[3] / k times as long as its operations at full speed
   * (flops), and with small_slow for the same where m n k is at most `small`: a BLAS does not pack the operands of those. */
  double slow[4];
  double small_slow[4];
  double small;
  /* Where A is transposed, transposed / m is added to that factor. */
  double transposed;
  /* A matrix times a vector runs at this share of full speed at most, and at half of that where k is vector_edge. */
  double vector_share;
  double vector_edge;
  /* Seconds of each number of a vector whose numbers do not follow each other in memory. */
  double strided;
  /* In one pass, on the CPU: of 64 bytes of products in blocks of rows, where all is in registers and the nearest cache. */
  double block_line;
  /* Measured time of a permutation over the time that the permutation's own model predicts. */
  double permute_scale;
  /* On the CPU, bytes of a result from which on it is written past the caches; 0: never. */
  int64_t stream_bytes;
  /* Of one thread's own cache; 0 on a GPU, where blocks are not made to fit a cache. */
  int64_t cache_bytes;
} cutt_rates;

/* A contraction that is cut consists of result_blocks x k_blocks blocks: each block of D is the sum of the products of all
 * blocks of K. */
typedef struct cutt_cost {
  /* Predicted, of an execution; the parts of it that permute each tensor; and the part that multiplies. */
  double seconds;
  double permute[CUTT_TENSORS];
  double multiply;
  /* Of each packed tensor's part of a block. */
  int64_t packed_bytes[CUTT_TENSORS];
  /* Of all the packed parts of a block, but for operands that are packed once for all blocks. */
  int64_t block_bytes;
  int64_t result_blocks, k_blocks;
  /* Threads take blocks of D, each with workspace of its own; else all threads work on one block after the other. */
  bool spread;
  /* Bytes. */
  int64_t workspace;
} cutt_cost;

enum {
  CUTT_WORKSPACE_ALIGNMENT = 256,
  /* Modes whose last chunk may be shorter than their other chunks. */
  CUTT_MOST_RAGGED = 4
};

/* Is none of the tensor's modes cut, so that it is packed once for all blocks? */
bool cutt_algorithm_stays(const cutt_contraction *contraction, const cutt_algorithm *algorithm, cutt_tensor t);

/* Bytes rounded up to the alignment of workspace. */
int64_t cutt_aligned(int64_t bytes);

/* Real floating-point operations of one multiply-add in the contraction's type. */
double cutt_flops_each(const cutt_contraction *contraction);

/* The same of all of the contraction. */
double cutt_flops(const cutt_contraction *contraction);

/* What goes on at the same time, these times by themselves, in a unit in which their fourth powers are numbers: the longest one, and a little
 * more where others are nearly as long. */
double cutt_together(const double *time, int count);

/* On the CPU: do caches not hold all tensors together, beside all else? */
bool cutt_exceeds_caches(const cutt_contraction *contraction, const cutt_rates *rates);

/* Predicts. The seconds are INFINITY where the algorithm's chunks leave no matrix product. */
void cutt_cost_of(const cutt_contraction *contraction, const cutt_rates *rates, const cutt_algorithm *algorithm,
                  cutt_cost *cost);

/* How often planning may ask for the cost of an algorithm, so that it takes a millisecond or two however many modes there are. */
int64_t cutt_most_costings(const cutt_contraction *contraction);

/* Cuts an algorithm into blocks until its workspace is at most limit bytes and no block's packed parts are more than
 * block_bytes, step by step, each where it costs least. Sets the chunks and n_outside. *costings: how many costs may still be
 * asked for, and how many are left. False when it can't be done: with all chunks 1 the workspace is still more than the limit,
 * or no costs are left. */
bool cutt_cut(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit, int64_t block_bytes,
              int64_t *costings, cutt_algorithm *algorithm, cutt_cost *cost);

#endif
