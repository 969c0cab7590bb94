/* What cuBLAS takes for the small products of a batch. */
#ifndef CUTT_CONTRACT_BATCHED_H
#define CUTT_CONTRACT_BATCHED_H

#include <stdbool.h>

#include "base/types.h"
#include "blas/gemm.h"

typedef struct cutt_batched {
  double seconds; /* of one product, where all multiprocessors are at work */
  double tiles;   /* of one product: a multiprocessor has one at least to itself */
  double reading; /* times as long as memory takes for operands and results, at least */
} cutt_batched;

/* false: not such a product, but a dot product or one of larger extents than were measured. */
bool cutt_batched_of(const cutt_type_info *type, const cutt_gemm *gemm, int64_t multiprocessors, cutt_batched *batched);

#endif
