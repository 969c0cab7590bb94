/* The tensors of a contraction, and how long the name of a mode may be: what a pattern and the problem that is made of it
 * share. */
#ifndef CUTT_CONTRACT_TENSOR_H
#define CUTT_CONTRACT_TENSOR_H

/* CUTT_THIRD: the third operand of an elementwise operation, after those of a contraction. */
typedef enum cutt_tensor {
  CUTT_LEFT,
  CUTT_RIGHT,
  CUTT_RESULT,
  CUTT_TENSORS,
  CUTT_THIRD = CUTT_TENSORS,
  CUTT_MOST_TENSORS
} cutt_tensor;

/* Of the two that are contracted. */
static inline cutt_tensor cutt_other_operand(cutt_tensor t) { return t == CUTT_LEFT ? CUTT_RIGHT : CUTT_LEFT; }

enum { CUTT_NAME_SIZE = 32 }; /* with the final 0 */

#endif
