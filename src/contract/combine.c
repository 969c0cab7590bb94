/* From a contraction that sums nothing to an elementwise operation (combine.h). */
#include "contract/combine.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

bool cutt_is_combination(const cutt_contraction *c) {
  if (c->reduce || c->right_is_one || c->no_terms || c->modes > CUTT_MOST_LABELS) return false;
  for (int i = 0; i < c->modes; ++i)
    if (cutt_mode_role(&c->mode[i]) == CUTT_ROLE_K) return false;
  return true;
}

/* In the order of D's steps; a mode whose step in D is negative is walked from its other end. */
static void add_mode(const cutt_contraction *c, int number, struct cuttElementwiseStruct *p) {
  cutt_elementwise_mode mode = {.extent = c->mode[number].extent};
  const int sign = c->mode[number].stride[CUTT_RESULT] < 0 ? -1 : 1;
  for (int t = 0; t < CUTT_TENSORS; ++t) {
    const int64_t stride = c->mode[number].stride[t];
    mode.stride[t] = sign * stride;
    if (sign < 0) p->origin[t] += (mode.extent - 1) * stride * c->type->bytes;
  }
  mode.stride[CUTT_THIRD] = mode.stride[CUTT_RESULT];
  for (int t = 0; t < CUTT_RESULT; ++t) p->as_result[t] = p->as_result[t] && mode.stride[t] == mode.stride[CUTT_RESULT];
  int at = p->modes++;
  for (; at > 0 && p->mode[at - 1].stride[CUTT_RESULT] > mode.stride[CUTT_RESULT]; --at) p->mode[at] = p->mode[at - 1];
  p->mode[at] = mode;
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
  for (int i = 0; i < c->modes; ++i) add_mode(c, i, p);
  p->origin[CUTT_THIRD] = p->origin[CUTT_RESULT];
}

double cutt_combination_seconds(const cutt_contraction *c, const cutt_rates *r, double tiles) {
  static const double from_memory = 0.7, from_caches = 1.1; /* medians of random products */
  double elements = 0;
  for (int t = 0; t < CUTT_TENSORS; ++t) elements += (double)c->volume[t];
  const bool far = r->stream_bytes > 0 && elements * c->type->bytes >= (double)cutt_most_cached(r->stream_bytes);
  return tiles * (far ? from_memory : from_caches);
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
