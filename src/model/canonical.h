/* The canonical problem: what every later stage (candidates, cost, plan, kernels) sees, and nothing else.
 *
 * From the user's problem: modes of extent 1 are dropped; a mode with a negative output stride is traversed from its other
 * end; modes that are neighbours in the input and in the output (same order, strides that continue) are fused; elements
 * that always travel together are promoted to wider ones (2 x 4 bytes that are contiguous on both sides are one element
 * of 8), up to 16 bytes. Modes are then in input order: ascending |in_stride|, a zero stride last.
 * The permutation is implied: a mode carries its stride on both sides. */
#ifndef CUTT_MODEL_CANONICAL_H
#define CUTT_MODEL_CANONICAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/types.h"

/* Inputs of an operation: what is permuted, and the second operand, which is what beta multiplies. That is laid out as the output, and is
 * the output unless an execution (model/method.h) says otherwise; so the strides and bounds below are of the first alone. */
enum { CUTT_INPUTS = 2 };

typedef struct cutt_mode {
  int64_t extent;     /* >= 2 */
  int64_t in_stride;  /* in canonical elements; any sign, or 0 */
  int64_t out_stride; /* in canonical elements; > 0 */
} cutt_mode;

/* A scalar in the widest form of its kind. */
typedef struct cutt_scalar {
  double re, im; /* floating and complex types */
  int64_t i;     /* integer types */
} cutt_scalar;

/* How a scalar enters the sum. The simpler forms are not only faster: a full product of complex numbers makes a NaN of
 * infinity times (1, 0), and loses the sign of a zero. Zeros here, imaginary parts included, are of either sign. */
typedef enum cutt_factor {
  CUTT_FACTOR_NONE,   /* beta only: 0. The term is left out, and the output is not read */
  CUTT_FACTOR_ONE,    /* 1: no multiplication */
  CUTT_FACTOR_REAL,   /* any other number without an imaginary part: each part times re by itself */
  CUTT_FACTOR_COMPLEX /* the product of complex numbers */
} cutt_factor;

/* out = alpha * op(in) + beta * out on top of the permutation. active == false: bytes are moved unchanged. */
typedef struct cutt_scale {
  bool active;    /* alpha_factor is not ONE, or conjugate, or reads_out */
  bool conjugate; /* op: the sign bit of the imaginary part is flipped, before anything else */
  bool reads_out; /* beta_factor is not NONE */
  cuttType_t type;
  cutt_scalar alpha, beta;
  cutt_factor alpha_factor, beta_factor; /* alpha_factor is never NONE: 0 * infinity is a NaN */
} cutt_scale;

typedef struct cutt_canonical {
  int rank;                      /* 0: one element (or none, when volume is 0) */
  int elem_bytes;                /* 1, 2, 4, 8 or 16 */
  int base_bytes;                /* of the user's element; elem_bytes is a power-of-two multiple of it */
  int64_t volume;                /* canonical elements; 0: nothing to do */
  cutt_mode mode[CUTT_MAX_RANK]; /* input order */
  /* out_order[i]: index into mode[] of the i-th mode in output order (ascending stride) */
  int out_order[CUTT_MAX_RANK];
  cutt_scale scale;
  int64_t in_start, out_start; /* bytes from the user's pointers to the canonical element (0, ..., 0) */
  int64_t in_low, in_high;     /* bytes that the input spans, [low, high) from the user's pointer */
  int64_t out_low, out_high;   /* the same for the output */
  int64_t whole_bytes;         /* of a larger output that this one is a part of; 0: it is none */
  bool far;                    /* the output is in the memory of another device, which is written to over a link */
  bool identity;               /* element by element in == out is harmless: equal strides in every mode */
} cutt_canonical;

/* Bytes by which to tell what caches hold: of the output, or of the whole that it is a part of. */
static inline int64_t cutt_canonical_whole(const cutt_canonical *c) {
  const int64_t own = c->volume * c->elem_bytes;
  return own > c->whole_bytes ? own : c->whole_bytes;
}

/* Is the whole of it one run on both sides? */
static inline bool cutt_canonical_is_run(const cutt_canonical *c) {
  return c->rank == 0 || (c->rank == 1 && c->mode[0].in_stride == 1 && c->mode[0].out_stride == 1);
}

/* Validates a user's problem, whole, and brings it to canonical form.
 * Errors: CUTT_INVALID_PARAMETER, with the text naming the field; CUTT_INTERNAL_ERROR (cutt_overlap_check). */
cuttResult cutt_canonicalize(const cuttProblem_t *problem, cutt_canonical *canonical);

#endif
