/* Products in blocks (blocks.h).
 *
 * An extent that is too long is cut into blocks of a power of 2, which keeps operands as well aligned as they were. A block
 * of k after the first adds to the result so far. Of a matrix whose leading dimension does not fit, blocks have a single
 * column: then the leading dimension is not used, and any that fits will do. */
#include "blas/blocks.h"

#include <limits.h>
#include <string.h>

#include "base/number.h"
#include "base/types.h"

enum { LONGEST_BLOCK = 1 << 30 };

static int64_t block_length(int64_t extent) { return extent > INT_MAX ? LONGEST_BLOCK : extent; }

bool cutt_gemm_single(cuttType_t type) { return type != CUTT_F64 && type != CUTT_C64; }

const void *cutt_gemm_one(cuttType_t type) {
  static const float single[2] = {1, 0};
  static const double twice[2] = {1, 0};
  return cutt_gemm_single(type) ? (const void *)single : twice;
}

bool cutt_gemm_zero(cuttType_t type, const void *scalar) {
  const size_t bytes = (size_t)cutt_type_lookup(type)->scalar_bytes;
  float f[2] = {0, 0};
  double d[2] = {0, 0};
  memcpy(cutt_gemm_single(type) ? (void *)f : d, scalar, bytes);
  return f[0] == 0 && f[1] == 0 && d[0] == 0 && d[1] == 0;
}

bool cutt_gemm_fits(const cutt_gemm *g) {
  return g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX && g->lda <= INT_MAX && g->ldb <= INT_MAX &&
         g->ldc <= INT_MAX && g->batch <= INT_MAX;
}

cuttResult cutt_gemm_by_blocks_of(const cutt_gemm_operands *on, const cutt_gemm *g, const cutt_gemm_block_size *size,
                                  cutt_gemm_run_block *run, void *with) {
  const int64_t bytes = cutt_type_lookup(on->type)->bytes, batch = g->batch > 1 ? g->batch : 1;
  const bool a_plain = g->op_a == CUTT_OP_N, b_plain = g->op_b == CUTT_OP_N;
  cutt_gemm block = *g;
  cutt_gemm_operands at = *on;
  cuttResult result = CUTT_SUCCESS;
  for (int64_t h = 0; h < batch; h += size->batch) {
    block.batch = smaller(size->batch, batch - h);
    for (int64_t j = 0; j < g->n; j += size->n) {
      block.n = smaller(size->n, g->n - j);
      for (int64_t i = 0; i < g->m; i += size->m) {
        block.m = smaller(size->m, g->m - i);
        for (int64_t l = 0; l < g->k; l += size->k) {
          block.k = smaller(size->k, g->k - l);
          if (g->lda > INT_MAX) block.lda = a_plain ? block.m : block.k;
          if (g->ldb > INT_MAX) block.ldb = b_plain ? block.k : block.n;
          if (g->ldc > INT_MAX) block.ldc = block.m;
          at.a = (const char *)on->a + (h * g->stride_a + (a_plain ? i + l * g->lda : l + i * g->lda)) * bytes;
          at.b = (const char *)on->b + (h * g->stride_b + (b_plain ? l + j * g->ldb : j + l * g->ldb)) * bytes;
          at.c = (char *)on->c + (h * g->stride_c + i + j * g->ldc) * bytes;
          at.beta = l ? cutt_gemm_one(on->type) : on->beta;
          result = run(with, &at, &block);
          if (result) return result;
        }
      }
    }
  }
  return result;
}

cuttResult cutt_gemm_by_blocks(const cutt_gemm_operands *on, const cutt_gemm *g, cutt_gemm_run_block *run, void *with) {
  const bool a_plain = g->op_a == CUTT_OP_N, b_plain = g->op_b == CUTT_OP_N;
  const bool a_wide = g->lda > INT_MAX, b_wide = g->ldb > INT_MAX, c_wide = g->ldc > INT_MAX;
  const cutt_gemm_block_size size = {.m = a_wide && !a_plain ? 1 : block_length(g->m),
                                     .n = (b_wide && b_plain) || c_wide ? 1 : block_length(g->n),
                                     .k = (a_wide && a_plain) || (b_wide && !b_plain) ? 1 : block_length(g->k),
                                     .batch = block_length(g->batch > 1 ? g->batch : 1)};
  return cutt_gemm_by_blocks_of(on, g, &size, run, with);
}
