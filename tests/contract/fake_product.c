/* A product by plain loops (fake_product.h). */
#include "contract/fake_product.h"

#include <complex.h>

static double complex load(int type, const void *from, int64_t i) {
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

static void store(int type, void *to, int64_t i, double complex value) {
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

static double complex element(int type, int op, const void *matrix, int64_t from, int64_t ld, int64_t row,
                              int64_t column) {
  const double complex value = load(type, matrix, from + (op == 0 ? row + column * ld : column + row * ld));
  return op == 2 ? conj(value) : value;
}

static int64_t at_least_1(int64_t x) { return x > 1 ? x : 1; }

/* With its scalars, which are the caller's. */
typedef struct planned {
  fake_product p;
  double complex alpha, beta;
} planned;

static void compute(void *data) {
  const planned *now = data;
  const fake_product *p = &now->p;
  const double complex alpha = now->alpha, beta = now->beta;
  for (int64_t h2 = 0; h2 < p->batch; ++h2) {
    for (int64_t j = 0; j < p->n; ++j) {
      for (int64_t i = 0; i < p->m; ++i) {
        double complex sum = 0;
        for (int64_t l = 0; l < p->k; ++l) {
          sum += element(p->type_a, p->op_a, p->a, h2 * p->stride_a, p->lda, i, l) *
                 element(p->type_b, p->op_b, p->b, h2 * p->stride_b, p->ldb, l, j);
        }
        const int64_t at = h2 * p->stride_c + i + j * p->ldc;
        store(p->type_c, p->c, at, alpha * sum + (beta == 0 ? 0 : beta * load(p->type_c, p->c, at)));
      }
    }
  }
}

int fake_product_check(const fake_product *p) {
  const bool twice = p->type_c == FAKE_R_64F || p->type_c == FAKE_C_64F;
  if (p->type_c != FAKE_R_32F && p->type_c != FAKE_C_32F && !twice) return FAKE_NOT_SUPPORTED;
  if (p->type_a != p->type_c || p->type_b != p->type_c || p->compute != (twice ? FAKE_COMPUTE_64F : FAKE_COMPUTE_32F)) {
    return FAKE_NOT_SUPPORTED;
  }
  if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0 || p->lda < at_least_1(p->op_a == 0 ? p->m : p->k) ||
      p->ldb < at_least_1(p->op_b == 0 ? p->k : p->n) || p->ldc < at_least_1(p->m)) {
    return FAKE_INVALID_VALUE;
  }
  return 0;
}

void fake_product_do(const fake_product *p, cudaStream_t stream, fake_later *later) {
  planned now = {*p, load(p->type_c, p->alpha, 0), load(p->type_c, p->beta, 0)};
  if (later && stream)
    later(stream, compute, &now, sizeof now);
  else
    compute(&now);
}
