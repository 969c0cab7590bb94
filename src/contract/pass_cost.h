/* What a pass of a shape is predicted to take (pass_cost.c), and what of a shape both that and its choice (pass.c) ask. */
#ifndef CUTT_CONTRACT_PASS_COST_H
#define CUTT_CONTRACT_PASS_COST_H

#include "base/number.h"
#include "contract/pass.h"

enum {
  CUTT_PASS_LINE = 64,
  CUTT_PASS_PAGE = 4096 /* of a step from which on the processor fetches nothing ahead */
};

static inline bool cutt_pass_is_half(const cutt_contraction *c) {
  return c->type->type == CUTT_F16 || c->type->type == CUTT_BF16;
}

/* Bytes of a number that is computed with. */
static inline int64_t cutt_pass_number_bytes(const cutt_contraction *c) {
  return cutt_pass_is_half(c) ? 4 : c->type->bytes;
}

static inline int64_t cutt_pass_step_along(const cutt_contraction *c, int along, cutt_tensor t) {
  return along < 0 ? 1 : c->mode[along].stride[t];
}

/* Of a tile. */
typedef struct cutt_pass_volumes {
  double rows, terms, products;
  double positions[CUTT_TENSORS]; /* rows of a tensor's part */
} cutt_pass_volumes;

static inline int64_t cutt_pass_chunk_along(const cutt_pass_shape *s) { return s->along < 0 ? 1 : s->chunk[s->along]; }

static inline void cutt_pass_measure(const cutt_contraction *c, const cutt_pass_shape *s, cutt_pass_volumes *v) {
  *v = (cutt_pass_volumes){1, 1, 1, {1, 1, 1}};
  for (int i = 0; i < c->modes; ++i) {
    v->products *= (double)s->chunk[i];
    if (i == s->along) continue;
    *(cutt_is_summed(c, i) ? &v->terms : &v->rows) *= (double)s->chunk[i];
    for (int t = 0; t < CUTT_TENSORS; ++t)
      if (c->mode[i].stride[t]) v->positions[t] *= (double)s->chunk[i];
  }
}

static inline double cutt_pass_row_bytes(const cutt_contraction *c, const cutt_pass_shape *s) {
  return (double)(cutt_round_up(cutt_pass_chunk_along(s) * cutt_pass_number_bytes(c), CUTT_PASS_LINE) + CUTT_PASS_LINE);
}

/* Bytes that follow each other in a tensor's part of a tile. */
double cutt_pass_row_run(const cutt_contraction *c, const cutt_pass_shape *s, cutt_tensor t);

/* Is a tensor too large for any cache? */
bool cutt_pass_is_from_memory(const cutt_contraction *c, const cutt_rates *r, cutt_tensor t);

/* Does the second operand's part stay from tile to tile, and not the first one's? */
bool cutt_pass_second_stays(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s);

double cutt_pass_seconds(const cutt_contraction *c, const cutt_rates *r, const cutt_pass_shape *s);

#endif
