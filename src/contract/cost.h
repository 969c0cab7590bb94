/* What an algorithm costs: predicted seconds, of permuting and of multiplying, and the workspace that it takes.
 *
 * Permuting moves bytes, and its cost is what they take at the speed of memory, more where runs are short. A product's cost
 * is that of its floating-point operations at the provider's measured speed, less where an extent is small, and of the bytes
 * of operands that are not in a cache. What an algorithm is made of is counted exactly; what the counts cost is rough, and
 * good enough to rank algorithms, which differ by factors. */
#ifndef CUTT_CONTRACT_COST_H
#define CUTT_CONTRACT_COST_H

#include "contract/algorithms.h"

/* The machine, as far as it matters. */
typedef struct cutt_rates {
  bool gpu;
  int threads;
  int64_t multiprocessors; /* of a GPU */
  double flops;            /* per second: real operations of a large product; of one thread on the CPU */
  double memory;  /* bytes per second that permutations move, read and written ones counted alike; all threads */
  double fetch;   /* the same of products; all threads */
  double cache;   /* the same within one thread's cache */
  double call;    /* seconds that a product takes however small it is */
  double launch;  /* seconds that a permutation takes however small it is */
  double run;     /* seconds that a product loses where a run of an operand begins in memory */
  double slow[4]; /* a product's slowness is [0] + [1]/m + [2]/n + [3]/k times what its operations take at full speed */
  double small_slow[4]; /* the same of products that are so small that a BLAS does not pack their operands */
  double small;         /* m n k up to which they are */
  double turned;        /* and this over m more where A is a transpose */
  double vector_share;  /* of that speed that a matrix times a vector has at most */
  double vector_edge;   /* k at which that runs at half its speed */
  double permute_scale; /* what permutations take here over what their own model says */
  int64_t cache_bytes;  /* of one thread's own cache; 0 on a GPU, where pieces are not made for caches */
} cutt_rates;

typedef struct cutt_cost {
  double seconds;               /* of an execution */
  double permute[CUTT_TENSORS]; /* the part of it for each tensor */
  double multiply;
  int64_t packed_bytes[CUTT_TENSORS]; /* of the packed piece of each tensor, */
  int64_t piece_bytes;                /* and of all that belong to one piece of D and are not packed once for all */
  int64_t units;                      /* pieces of D: what threads may share; >= 1 */
  int64_t terms;                      /* pieces of K that each unit sums up */
  bool spread;                        /* units are spread over threads, each with workspace of its own */
  int64_t workspace;                  /* bytes */
} cutt_cost;

enum { CUTT_WORKSPACE_ALIGNMENT = 256, CUTT_MOST_RAGGED = 4 /* modes whose last chunk is shorter */ };

/* Is nothing of the tensor cut, so that it is packed once for all pieces? */
bool cutt_algorithm_stays(const cutt_contraction *contraction, const cutt_algorithm *algorithm, cutt_tensor t);

/* Bytes rounded up to the alignment of workspace. */
int64_t cutt_aligned(int64_t bytes);

/* Real floating-point operations of a multiply-add. */
double cutt_flops_each(const cutt_contraction *contraction);

void cutt_cost_of(const cutt_contraction *contraction, const cutt_rates *rates, const cutt_algorithm *algorithm,
                  cutt_cost *cost);

/* Cuts an algorithm until its workspace is at most limit bytes, and no piece's more than piece_bytes, each time where that costs
 * least. False when it can't be done: what is packed takes more than the limit with chunks of 1. n_outside is set too. */
bool cutt_cut(const cutt_contraction *contraction, const cutt_rates *rates, int64_t limit, int64_t piece_bytes,
              cutt_algorithm *algorithm, cutt_cost *cost);

#endif
