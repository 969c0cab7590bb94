/* What cuBLAS takes for products on a GPU. */
#ifndef CUTT_CONTRACT_PRODUCT_SPEED_H
#define CUTT_CONTRACT_PRODUCT_SPEED_H

#include <stdbool.h>

#include "base/types.h"
#include "blas/gemm.h"

/* Of a small product of a batch. */
typedef struct cutt_batched {
  double seconds; /* where all multiprocessors are at work */
  double tiles;   /* a multiprocessor has one at least to itself */
  double begin;   /* of a launch */
  double reading; /* times as long as memory takes for operands and results, at least */
} cutt_batched;

/* false: a dot product, or one of larger extents. */
bool cutt_batched_of(const cutt_type_info *type, const cutt_gemm *gemm, int64_t multiprocessors, cutt_batched *batched);

/* Of a sum of k terms in a batch, which no multiprocessors share: such a launch takes as long at least, whatever else there is. */
double cutt_batched_sum_seconds(const cutt_gemm *gemm);

/* Of a launch of so many products of any extents, on a GPU with so many multiprocessors, of which together so many operations per second are
 * expected, where memory takes so long for their operands and results. */
double cutt_product_seconds(const cutt_type_info *type, const cutt_gemm *gemm, double products, int64_t multiprocessors,
                            double flops, double memory);

#endif
