/* The kernel of combine_line.cu for elements of COMBINE_TYPE, which is included once for each type. */

/* Elements of a thread that are next to each other: working out where one is takes as long as moving two halves. */
#define COMBINE_LINE_SIDE (COMBINE_BYTES == 2 ? 2u : 1u)

/* An operand's elements; which: 1 or 2. */
DEVICE void COMBINE_OF(combine_line_load_)(uint32_t use, const unsigned char *from, const combine_line_spot *spot,
                                           uint32_t which, COMBINE_WORD *value) {
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) value[i] = COMBINE_ACCESS(pass_none)();
  if (use == CUTT_COMBINE_ZERO) return;
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i)
    value[i] = COMBINE_ACCESS(global_load)(from + (int32_t)(which == 1 ? spot[i].a : spot[i].b));
}

/* A thread's element number i of those that a block has from `first` on. */
DEVICE uint32_t COMBINE_OF(combine_line_number_)(uint32_t first, uint32_t i) {
  return first + (i / COMBINE_LINE_SIDE * CUTT_COMBINE_THREADS + thread_index()) * COMBINE_LINE_SIDE +
         i % COMBINE_LINE_SIDE;
}

/* Where a thread's elements are. Threads that are left over have the last element, so that no load waits for a branch. */
#define COMBINE_LINE_SPOTS(at)                                                                                         \
  UNROLL(COMBINE_COUNT)                                                                                                \
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) {                                                                       \
    const uint32_t element = COMBINE_OF(combine_line_number_)(first, i), number = element < end ? element : end;       \
    if (i % COMBINE_LINE_SIDE == 0 || combine_line_first(args, number) == 0)                                           \
      spot[i] = at;                                                                                                    \
    else                                                                                                               \
      spot[i] = element > end ? spot[i - 1] : combine_line_next(args, spot[i - 1]);                                    \
  }
DEVICE void COMBINE_OF(combine_line_spots_)(const cutt_combine_args *args, uint32_t first, uint32_t end,
                                            combine_line_spot *spot) {
  if (args->parts.one) {
    COMBINE_LINE_SPOTS(combine_line_beside(args, number, COMBINE_BYTES))
  } else {
    COMBINE_LINE_SPOTS(combine_line_at(args, number))
  }
}
#undef COMBINE_LINE_SPOTS

/* 85 registers for each thread, for the loads that are under way. */
COMBINE_KERNEL(COMBINE_OF(cutt_combine_line_), 3)
(const unsigned char *a, unsigned char *result, CONSTANT(cutt_combine_args) args, const unsigned char *b,
 const unsigned char *c) {
  const uint32_t number = divide(block_index(), args.parts.blocks);
  const combine_line_part part = combine_line_begin(&args, number);
  const uint32_t first = (block_index() - number * args.parts.blocks.by) * (CUTT_COMBINE_THREADS * COMBINE_COUNT);
  COMBINE_WORD in_a[COMBINE_COUNT], in_b[COMBINE_COUNT], in_c[COMBINE_COUNT];
  combine_line_spot spot[COMBINE_COUNT];
  COMBINE_OF(combine_line_spots_)(&args, first, part.elements - 1, spot);
  COMBINE_OF(combine_line_load_)(args.use[0], a + part.a, spot, 1, in_a);
  COMBINE_OF(combine_line_load_)(args.use[1], b + part.b, spot, 2, in_b);
  COMBINE_OF(combine_line_load_)(CUTT_COMBINE_ZERO, c, spot, 0, in_c);
  if (args.three && args.use[2] != CUTT_COMBINE_ZERO) {
    UNROLL(COMBINE_COUNT)
    for (uint32_t i = 0; i < COMBINE_COUNT; ++i) {
      const uint32_t element = COMBINE_OF(combine_line_number_)(first, i), end = part.elements - 1;
      const uint32_t at = combine_line_third(&args, element < end ? element : end, COMBINE_BYTES);
      in_c[i] = COMBINE_ACCESS(global_load)(c + (part.c + (int32_t)at));
    }
  }
  COMBINE_OF(combine_numbers_)(&args, in_a, in_b, in_c);
  result += part.d;
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; i += COMBINE_LINE_SIDE) {
    unsigned char *const d = result + (int32_t)spot[i].d;
    const uint32_t element = COMBINE_OF(combine_line_number_)(first, i);
#if COMBINE_BYTES == 2
    if (element + 1 < part.elements) { /* two of them as a word, if they are one */
      if (spot[i + 1].d == spot[i].d + COMBINE_BYTES && (uintptr_t)d % 4 == 0) {
        global_store4(d, (uint32_t)in_a[i + 1] << 16 | in_a[i]);
        continue;
      }
      global_store2(result + (int32_t)spot[i + 1].d, in_a[i + 1]);
    }
#endif
    if (element < part.elements) COMBINE_ACCESS(global_store)(d, in_a[i]);
  }
}

#undef COMBINE_LINE_SIDE
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
