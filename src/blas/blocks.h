/* Products that are larger than a library's integers of 32 bits, in pieces that are not. */
#ifndef CUTT_BLAS_BLOCKS_H
#define CUTT_BLAS_BLOCKS_H

#include "blas/gemm.h"

/* What a product is of. */
typedef struct cutt_gemm_operands {
  cuttType_t type;
  const void *alpha, *a, *b, *beta;
  void *c;
} cutt_gemm_operands;

bool cutt_gemm_single(cuttType_t type);     /* its scalars are of float */
const void *cutt_gemm_one(cuttType_t type); /* the scalar 1 */
bool cutt_gemm_zero(cuttType_t type, const void *scalar);
bool cutt_gemm_fits(const cutt_gemm *g); /* is one piece */

/* Calls run for each piece, all numbers of which are INT_MAX at most, until one fails. */
typedef cuttResult cutt_gemm_piece(void *with, const cutt_gemm_operands *on, const cutt_gemm *g);
cuttResult cutt_gemm_pieces(const cutt_gemm_operands *on, const cutt_gemm *g, cutt_gemm_piece *run, void *with);

/* The same for pieces that are at most so long. */
typedef struct cutt_gemm_steps {
  int64_t m, n, k, batch;
} cutt_gemm_steps;
cuttResult cutt_gemm_cut(const cutt_gemm_operands *on, const cutt_gemm *g, const cutt_gemm_steps *steps,
                         cutt_gemm_piece *run, void *with);

#endif
