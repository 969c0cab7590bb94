/* Elements put together in registers, COMBINE_COUNT of each operand; included once for each type, as combine_type.h is. */

/* An operand's elements as numbers: conjugated and scaled. */
DEVICE void COMBINE_OF(combine_scale_)(const cutt_combine_args *args, uint32_t k, const COMBINE_WORD *word,
                                       COMBINE_REAL *number) {
  if (args->use[k] == CUTT_COMBINE_ZERO) {
    UNROLL(COMBINE_COUNT)
    for (uint32_t i = 0; i < COMBINE_COUNT; ++i) number[i] = COMBINE_NUMBER_OF(zero_)();
    return;
  }
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) number[i] = COMBINE_OF(number_)(word[i], args->flip[k]);
  if (!args->scaled[k]) return;
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) number[i] = COMBINE_NUMBER_OF(scaled_)(&args->scale[k], number[i]);
}

DEVICE void COMBINE_OF(combine_join_)(uint32_t op, COMBINE_REAL *x,
                                      const COMBINE_REAL *y){COMBINE_JOIN(op, x, y, COMBINE_COUNT)}

/* D's elements take the place of A's. */
DEVICE void COMBINE_OF(combine_numbers_)(const cutt_combine_args *args, COMBINE_WORD *a, const COMBINE_WORD *b,
                                         const COMBINE_WORD *c) {
  COMBINE_REAL x[COMBINE_COUNT], y[COMBINE_COUNT];
  COMBINE_OF(combine_scale_)(args, 0, a, x);
  COMBINE_OF(combine_scale_)(args, 1, b, y);
  COMBINE_OF(combine_join_)(args->op[0], x, y);
  if (args->three) {
    COMBINE_OF(combine_scale_)(args, 2, c, y);
    COMBINE_OF(combine_join_)(args->op[1], x, y);
  }
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) a[i] = COMBINE_OF(element_)(x[i]);
}
