/* Products that are larger than a library's integers of 32 bits, done in blocks that are not. */
#ifndef CUTT_BLAS_BLOCKS_H
#define CUTT_BLAS_BLOCKS_H

#include "blas/gemm.h"

/* The type, scalars and matrices of a product. */
typedef struct cutt_gemm_operands {
  cuttType_t type;
  const void *alpha, *a, *b, *beta;
  void *c;
} cutt_gemm_operands;

/* Are the scalars of a product of this type float? Otherwise they are double. */
bool cutt_gemm_single(cuttType_t type);

/* The scalar 1. */
const void *cutt_gemm_one(cuttType_t type);

bool cutt_gemm_zero(cuttType_t type, const void *scalar);

/* Are all its numbers INT_MAX at most, but for strides of a batch? */
bool cutt_gemm_fits(const cutt_gemm *g);

/* What is done with each block of a product; `with` is the caller's. */
typedef cuttResult cutt_gemm_run_block(void *with, const cutt_gemm_operands *on, const cutt_gemm *g);

/* Does a product in blocks that fit. Ends with the first that fails. */
cuttResult cutt_gemm_by_blocks(const cutt_gemm_operands *on, const cutt_gemm *g, cutt_gemm_run_block *run, void *with);

/* The same in blocks of these extents at most. */
typedef struct cutt_gemm_block_size {
  int64_t m, n, k, batch;
} cutt_gemm_block_size;
cuttResult cutt_gemm_by_blocks_of(const cutt_gemm_operands *on, const cutt_gemm *g, const cutt_gemm_block_size *size,
                                  cutt_gemm_run_block *run, void *with);

#endif
