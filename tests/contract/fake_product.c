/* A product by plain loops (fake_product.h). */
#include "contract/fake_product.h"

#include "contract/fake_numbers.h"

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
        const double complex sum = fake_dot(p->type_a, p->k, p->op_a, p->a, h2 * p->stride_a, p->lda, i, p->op_b, p->b,
                                            h2 * p->stride_b, p->ldb, j);
        const int64_t at = h2 * p->stride_c + i + j * p->ldc;
        fake_store(p->type_c, p->c, at, alpha * sum + (beta == 0 ? 0 : beta * fake_load(p->type_c, p->c, at)));
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
  planned now = {*p, fake_load(p->type_c, p->alpha, 0), fake_load(p->type_c, p->beta, 0)};
  if (later && stream)
    later(stream, compute, &now, sizeof now);
  else
    compute(&now);
}
