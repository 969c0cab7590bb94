/* Products whose operands can't be given to a library as they lie.
 *
 * **Alignment.** A BLAS takes for granted that a number lies at a multiple of its size (of a complex number each part), and
 * may use instructions that fault where it does not. Users have such tensors: fields of packed records, files with a header
 * of odd length. One that is permuted may lie anywhere; of one that is used in place the library gets copies.
 *
 * **Ends.** Some releases read past an operand (cblas_defects.c), which faults where nothing is mapped. What is read lies in
 * the operand's last page mostly, and then nothing need be done. Else the product is cut into one without the operand's last
 * columns and one of these. The first then reads the last columns instead of what follows them, and only for the second these
 * are copied.
 *
 * Copies are made one block at a time, in scratch, so that the user's workspace does not depend on addresses. */
#include <string.h>

#include "base/error.h"
#include "base/types.h"
#include "blas/cblas.h"
#include "plan/services.h"

enum { A, B, C, OPERANDS };
enum { PAGE = 4096 /* larger pages end at multiples of this too */ };

/* The extents of a product by number; and which of them are an operand's rows and columns as it is stored, column after
 * column. */
enum { M, N, K };
typedef struct shape {
  int rows, columns;
} shape;

static shape shape_of(const cutt_gemm *g, int operand) {
  switch (operand) {
    case A:
      return g->op_a == CUTT_OP_N ? (shape){M, K} : (shape){K, M};
    case B:
      return g->op_b == CUTT_OP_N ? (shape){K, N} : (shape){N, K};
    default:
      return (shape){M, N};
  }
}

static int64_t extent_of(const cutt_gemm *g, int which) { return which == M ? g->m : which == N ? g->n : g->k; }

static int64_t leading(const cutt_gemm *g, int operand) {
  return operand == A ? g->lda : operand == B ? g->ldb : g->ldc;
}

static const unsigned char *address(const cutt_gemm_operands *on, int operand) {
  return operand == A ? on->a : operand == B ? on->b : on->c;
}

static uintptr_t end_of(const cutt_gemm_operands *on, const cutt_gemm *g, int operand) {
  const shape s = shape_of(g, operand);
  const int64_t elements = (extent_of(g, s.columns) - 1) * leading(g, operand) + extent_of(g, s.rows);
  return (uintptr_t)address(on, operand) + (uintptr_t)(elements * cutt_type_lookup(on->type)->bytes);
}

/* ------------------------------------------------------------------------------------------------------------ copies */

/* Of a block of each operand, one after the other: what is read past one is in the next, or in the rest of the scratch. */
enum { BLOCK_BYTES = CUTT_SCRATCH_BYTES / OPERANDS / 4096 * 4096 };

typedef struct copies {
  const cutt_cblas *library;
  const bool *copied;
  unsigned char *block[OPERANDS];
} copies;

static void copy_columns(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step,
                         int64_t columns, int64_t bytes) {
  for (int64_t i = 0; i < columns; ++i) memcpy(to + i * to_step, from + i * from_step, (size_t)bytes);
}

static cuttResult multiply_copies(void *with, const cutt_gemm_operands *on, const cutt_gemm *g) {
  copies *here = with;
  const int64_t bytes = cutt_type_lookup(on->type)->bytes;
  cutt_gemm_operands own = *on;
  cutt_gemm product = *g;
  for (int o = 0; o < OPERANDS; ++o) {
    if (!here->copied[o]) continue;
    const shape s = shape_of(g, o);
    const int64_t rows = extent_of(g, s.rows), columns = extent_of(g, s.columns);
    if (o != C || !cutt_gemm_zero(on->type, on->beta)) /* else it is only written */
      copy_columns(here->block[o], rows * bytes, address(on, o), leading(g, o) * bytes, columns, rows * bytes);
    *(o == A ? &product.lda : o == B ? &product.ldb : &product.ldc) = rows;
  }
  if (here->copied[A]) own.a = here->block[A];
  if (here->copied[B]) own.b = here->block[B];
  if (here->copied[C]) own.c = here->block[C];
  cutt_cblas_call(here->library, &own, &product);
  if (here->copied[C]) copy_columns(on->c, g->ldc * bytes, here->block[C], g->m * bytes, g->n, g->m * bytes);
  return CUTT_SUCCESS;
}

/* In the largest blocks, as square as possible, such that every operand that is copied has room. */
static cuttResult multiply_by_copies(const cutt_cblas *library, const bool *copied, const cutt_gemm_operands *on,
                                     const cutt_gemm *g) {
  int64_t extent[] = {g->m, g->n, g->k};
  const int64_t most = BLOCK_BYTES / cutt_type_lookup(on->type)->bytes;
  for (int o = 0; o < OPERANDS; ++o) {
    const shape s = shape_of(g, o);
    while (copied[o] && extent[s.rows] * extent[s.columns] > most) {
      int64_t *longer = &extent[extent[s.rows] > extent[s.columns] ? s.rows : s.columns];
      *longer = (*longer + 1) / 2;
    }
  }
  unsigned char *scratch = cutt_scratch_take();
  if (!scratch) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %d bytes of scratch", CUTT_SCRATCH_BYTES);
  copies here = {library, copied, {scratch, scratch + BLOCK_BYTES, scratch + 2 * BLOCK_BYTES}};
  const cutt_gemm_block_size size = {.m = extent[M], .n = extent[N], .k = extent[K], .batch = 1};
  const cuttResult result = cutt_gemm_by_blocks_of(on, g, &size, multiply_copies, &here);
  cutt_scratch_give(scratch);
  return result;
}

/* -------------------------------------------------------------------------------------------------- which are copied */

/* A product, whichever block of it is being done. */
typedef struct whole {
  const cutt_cblas *library;
  /* Of the whole operands: all up to there may be read. */
  uintptr_t end[OPERANDS];
} whole;

static bool is_aligned(const cutt_gemm_operands *on, int operand) {
  const size_t number = cutt_gemm_single(on->type) ? sizeof(float) : sizeof(double);
  return (uintptr_t)address(on, operand) % number == 0;
}

/* How many of an operand's last columns must be left out, so that what the library reads past the others is still in the
 * operand. *along: the extent that becomes shorter. 0: nothing is read past it, or what is read is in its last page. */
static int64_t last_columns(const whole *w, const cutt_gemm_operands *on, const cutt_gemm *g, int operand, int *along) {
  const cutt_vector vector = cutt_cblas_vector(g);
  const cutt_overread *past = &w->library->past[vector != CUTT_VECTOR_NONE][cutt_cblas_type(on->type)];
  /* Of a product with a vector `past` has the matrix first. */
  const int row = vector == CUTT_VECTOR_A && operand != C ? B - operand : operand;
  const bool is_x = vector != CUTT_VECTOR_NONE && row == B;
  const shape s = shape_of(g, operand);
  const int64_t bytes = cutt_type_lookup(on->type)->bytes;
  const int64_t column = is_x && s.rows == K ? bytes : leading(g, operand) * bytes;
  const int64_t over = past->columns[row] * column + past->elements[row] * bytes;
  const uintptr_t there = (w->end[operand] + PAGE - 1) / PAGE * PAGE;
  if (over == 0 || end_of(on, g, operand) + (uintptr_t)over <= there) return 0;
  *along = is_x ? K : s.columns;
  return (over + column - 1) / column;
}

static cuttResult multiply(void *with, const cutt_gemm_operands *on, const cutt_gemm *g) {
  const whole *w = with;
  bool copied[OPERANDS], any = false;
  for (int o = 0; o < OPERANDS; ++o) {
    copied[o] = !is_aligned(on, o);
    any = any || copied[o];
  }
  const bool reads_past = w->library->reads_past[cutt_cblas_type(on->type)];
  for (int o = 0; o < OPERANDS && !any && reads_past; ++o) {
    int along = K;
    const int64_t columns = last_columns(w, on, g, o, &along);
    if (columns == 0) continue;
    const int64_t rest = extent_of(g, along) - columns;
    if (rest > 0) {
      const cutt_gemm_block_size size = {
          .m = along == M ? rest : g->m, .n = along == N ? rest : g->n, .k = along == K ? rest : g->k, .batch = 1};
      return cutt_gemm_by_blocks_of(on, g, &size, multiply, with);
    }
    any = true;
  }
  /* If one is copied all are, since a block may be a product with a vector where the whole is not, and read past others. */
  for (int o = 0; o < OPERANDS && any && reads_past; ++o) copied[o] = true;
  if (any) return multiply_by_copies(w->library, copied, on, g);
  cutt_cblas_call(w->library, on, g);
  return CUTT_SUCCESS;
}

cuttResult cutt_cblas_multiply(const cutt_cblas *library, const cutt_gemm_operands *on, const cutt_gemm *g) {
  const bool aligned = is_aligned(on, A) && is_aligned(on, B) && is_aligned(on, C);
  if (aligned && !library->reads_past[cutt_cblas_type(on->type)] && cutt_gemm_fits(g)) { /* the usual case */
    cutt_cblas_call(library, on, g);
    return CUTT_SUCCESS;
  }
  whole w = {.library = library};
  for (int o = 0; o < OPERANDS; ++o) w.end[o] = end_of(on, g, o);
  return cutt_gemm_fits(g) ? multiply(&w, on, g) : cutt_gemm_by_blocks(on, g, multiply, &w);
}
