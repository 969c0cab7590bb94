/* From a contraction that sums nothing to an elementwise operation (combine.h). */
#include "contract/combine.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "contract/pass_cost.h"

bool cutt_is_combination(const cutt_contraction *c) {
  if (c->reduce || c->right_is_one || c->no_terms || c->modes > CUTT_MOST_LABELS) return false;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K) return false;
  return true;
}

void cutt_combination_set(const cutt_contraction *c, struct cuttElementwiseStruct *p) {
  p->type = c->type;
  p->operands = c->beta_is_zero ? 2 : 3;
  p->op[0] = CUTT_OP_MULTIPLY;
  p->op[1] = CUTT_OP_ADD;
  p->scaled[0] = !c->alpha_is_one;
  p->scaled[2] = !c->beta_is_zero && !c->beta_is_one;
  memcpy(p->scale[0], c->alpha, sizeof c->alpha);
  cutt_scalar_set(p->type, 1, p->scale[1]);
  memcpy(p->scale[2], c->beta, sizeof c->beta);
  for (int t = 0; t < CUTT_RESULT; ++t) p->conjugate[t] = c->conjugate[t];
  for (int o = 0; o < CUTT_ELEMENTWISE_OPERANDS; ++o) p->as_result[o] = true;
  for (int i = 0; i < c->modes; ++i) {
    cutt_elementwise_mode mode = {.extent = c->mode[i].extent};
    memcpy(mode.stride, c->mode[i].stride, sizeof c->mode[i].stride);
    mode.stride[CUTT_THIRD] = mode.stride[CUTT_RESULT];
    cutt_elementwise_add_mode(p, &mode, 0);
  }
}

double cutt_combination_seconds(const cutt_contraction *c, const cutt_rates *r, double tiles) {
  /* Medians of random products. Tiles convert halves before and after, in other places. */
  static const double from_memory = 0.7, from_caches = 1.1, halves = 0.4;
  return tiles * (cutt_pass_is_half(c) ? halves : cutt_exceeds_caches(c, r) ? from_memory : from_caches);
}

cuttResult cutt_combination_prepare(const cutt_contraction *c, const cutt_backend *backend, int threads,
                                    struct cuttElementwiseStruct **combination) {
  struct cuttElementwiseStruct *p = *combination = calloc(1, sizeof *p);
  if (!p) return cutt_error(CUTT_INTERNAL_ERROR, "out of memory: %zu bytes for a plan", sizeof *p);
  p->backend = backend;
  p->threads = threads;
  cutt_combination_set(c, p);
  return cutt_elementwise_prepare(p);
}

void cutt_combination_release(struct cuttElementwiseStruct *p) {
  if (p) cutt_elementwise_release(p);
  free(p);
}

void cutt_combination_tensors(const struct cuttElementwiseStruct *p, const unsigned char *left,
                              const unsigned char *right, unsigned char *result, void *tensor[CUTT_MOST_TENSORS]) {
  tensor[CUTT_LEFT] = (void *)(uintptr_t)left;
  tensor[CUTT_RIGHT] = (void *)(uintptr_t)right;
  tensor[CUTT_RESULT] = result;
  tensor[CUTT_THIRD] = p->operands == 3 ? result : NULL;
}
