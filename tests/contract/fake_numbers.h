/* Elements of matrices, of the types that BLAS libraries multiply, as the stand-ins for these compute with them; types are numbered as in fake_product.h. */
#ifndef CUTT_TESTS_CONTRACT_FAKE_NUMBERS_H
#define CUTT_TESTS_CONTRACT_FAKE_NUMBERS_H

#include <complex.h>

#include "contract/fake_product.h"

/* Element i. */
static inline double complex fake_load(int type, const void *from, int64_t i) {
  switch (type) {
    case FAKE_R_32F:
      return (double)((const float *)from)[i];
    case FAKE_R_64F:
      return ((const double *)from)[i];
    case FAKE_C_32F: {
      const float *f = (const float *)from + 2 * i;
      return (double)f[0] + (double)f[1] * I;
    }
    default: {
      const double *d = (const double *)from + 2 * i;
      return d[0] + d[1] * I;
    }
  }
}

static inline void fake_store(int type, void *to, int64_t i, double complex value) {
  switch (type) {
    case FAKE_R_32F:
      ((float *)to)[i] = (float)creal(value);
      break;
    case FAKE_R_64F:
      ((double *)to)[i] = creal(value);
      break;
    case FAKE_C_32F:
      ((float *)to)[2 * i] = (float)creal(value);
      ((float *)to)[2 * i + 1] = (float)cimag(value);
      break;
    default:
      ((double *)to)[2 * i] = creal(value);
      ((double *)to)[2 * i + 1] = cimag(value);
  }
}

/* Element (row, column) of op(matrix), which begins `from` elements on; op: 0 none, 1 the transpose, 2 its conjugate. */
static inline double complex fake_element(int type, int op, const void *matrix, int64_t from, int64_t ld, int64_t row,
                                          int64_t column) {
  const double complex value = fake_load(type, matrix, from + (op == 0 ? row + column * ld : column + row * ld));
  return op == 2 ? conj(value) : value;
}

/* Element (row, column) of a product of op_a(a) and op_b(b), which begin `from_a` and `from_b` elements on: k terms in their order. Real numbers
 * by themselves: with imaginary parts of 0 their sums are the same, and take a third of what whole tests take. */
static inline double complex fake_dot(int type, int64_t k, int op_a, const void *a, int64_t from_a, int64_t lda,
                                      int64_t row, int op_b, const void *b, int64_t from_b, int64_t ldb,
                                      int64_t column) {
  const int64_t step_a = op_a == 0 ? lda : 1, step_b = op_b == 0 ? 1 : ldb;
  const int64_t at_a = from_a + (op_a == 0 ? row : row * lda), at_b = from_b + (op_b == 0 ? column * ldb : column);
  double sum = 0;
  if (type == FAKE_R_32F) {
    const float *const x = (const float *)a + at_a, *const y = (const float *)b + at_b;
    for (int64_t l = 0; l < k; ++l) sum += (double)x[l * step_a] * (double)y[l * step_b];
    return sum;
  }
  if (type == FAKE_R_64F) {
    const double *const x = (const double *)a + at_a, *const y = (const double *)b + at_b;
    for (int64_t l = 0; l < k; ++l) sum += x[l * step_a] * y[l * step_b];
    return sum;
  }
  double complex total = 0;
  for (int64_t l = 0; l < k; ++l)
    total += fake_element(type, op_a, a, from_a, lda, row, l) * fake_element(type, op_b, b, from_b, ldb, l, column);
  return total;
}

#endif
