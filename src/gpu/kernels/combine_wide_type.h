/* The kernel of combine_wide.cu for elements of COMBINE_TYPE, which is included once for each type. An access has the elements of the first
 * mode that 16 bytes hold, fewer at its end. */

enum {
  COMBINE_OF(COMBINE_ROWS_) = CUTT_COMBINE_ACCESSES, /* accesses of a thread, which are under way at once */
  COMBINE_OF(COMBINE_EACH_) = CUTT_COMBINE_WINDOW / COMBINE_BYTES, /* elements of an access */
  COMBINE_OF(COMBINE_GROUP_) =
      COMBINE_COUNT * COMBINE_BYTES / CUTT_COMBINE_WINDOW /* accesses that are computed at once */
};

/* One element for all of an access. */
DEVICE word4 COMBINE_OF(combine_spread_)(COMBINE_WORD v) {
  COMBINE_WORD all[COMBINE_OF(COMBINE_EACH_)];
  UNROLL(8)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_EACH_); ++i) all[i] = v;
  return COMBINE_ACCESS(combine_pack)(all);
}

/* An operand's accesses, of which those are whole whose bits are set. */
DEVICE void COMBINE_OF(combine_load_)(uint32_t use, const unsigned char *from, const uint32_t *far, uint32_t whole,
                                      word4 *value) {
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) value[i] = pass_none16();
  if (use == CUTT_COMBINE_ZERO) return;
  if (use == CUTT_COMBINE_SINGLE) {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i)
      if (whole >> i & 1) value[i] = COMBINE_OF(combine_spread_)(COMBINE_ACCESS(global_load)(from + (int32_t)far[i]));
  } else {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i)
      if (whole >> i & 1) value[i] = global_load16(from + (int32_t)far[i]);
  }
}

/* The elements of as many accesses as are computed at once, and back. */
DEVICE void COMBINE_OF(combine_words_)(const word4 *v, COMBINE_WORD *word) {
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_GROUP_); ++i)
    COMBINE_ACCESS(combine_unpack)(v[i], word + i * COMBINE_OF(COMBINE_EACH_));
}
DEVICE void COMBINE_OF(combine_accesses_)(const COMBINE_WORD *word, word4 *v) {
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_GROUP_); ++i)
    v[i] = COMBINE_ACCESS(combine_pack)(word + i * COMBINE_OF(COMBINE_EACH_));
}

/* D's elements take the place of A's, in as many accesses as are computed at once: of all operands, or of two of them if elements are
 * numbers as they are, so that registers for the third operand are those of the second one. */
#if COMBINE_BYTES == 2
DEVICE void COMBINE_OF(combine_group_)(const cutt_combine_args *args, word4 *a, const word4 *b, const word4 *c) {
  COMBINE_WORD x[COMBINE_COUNT], y[COMBINE_COUNT], z[COMBINE_COUNT];
  COMBINE_OF(combine_words_)(a, x);
  COMBINE_OF(combine_words_)(b, y);
  COMBINE_OF(combine_words_)(c, z);
  COMBINE_OF(combine_numbers_)(args, x, y, z);
  COMBINE_OF(combine_accesses_)(x, a);
}
#else
DEVICE void COMBINE_OF(combine_two_)(const cutt_combine_args *args, word4 *a, const word4 *b, bool third) {
  COMBINE_WORD word[COMBINE_COUNT];
  COMBINE_REAL x[COMBINE_COUNT], y[COMBINE_COUNT];
  COMBINE_OF(combine_words_)(a, word);
  if (third) {
    UNROLL(COMBINE_COUNT)
    for (uint32_t i = 0; i < COMBINE_COUNT; ++i) x[i] = COMBINE_OF(number_)(word[i], 0);
  } else {
    COMBINE_OF(combine_scale_)(args, 0, word, x);
  }
  COMBINE_OF(combine_words_)(b, word);
  COMBINE_OF(combine_scale_)(args, third ? 2 : 1, word, y);
  COMBINE_OF(combine_join_)(args->op[third ? 1 : 0], x, y);
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) word[i] = COMBINE_OF(element_)(x[i]);
  COMBINE_OF(combine_accesses_)(word, a);
}
#endif

/* The addresses of a part's first element. */
typedef struct COMBINE_OF(combine_base_) {
  const unsigned char *a, *b, *c;
  unsigned char *d;
} COMBINE_OF(combine_base_);

/* Where a thread's accesses are: bytes from there, in D, A, B and C. */
typedef struct COMBINE_OF(combine_far_) {
  uint32_t d[COMBINE_OF(COMBINE_ROWS_)], a[COMBINE_OF(COMBINE_ROWS_)], b[COMBINE_OF(COMBINE_ROWS_)],
      c[COMBINE_OF(COMBINE_ROWS_)];
} COMBINE_OF(combine_far_);

/* A thread's accesses of which those are whole whose bits are set. */
DEVICE void COMBINE_OF(combine_some_)(const cutt_combine_args *args, const COMBINE_OF(combine_base_) * base,
                                      const COMBINE_OF(combine_far_) * far, uint32_t whole) {
  word4 in_a[COMBINE_OF(COMBINE_ROWS_)], in_b[COMBINE_OF(COMBINE_ROWS_)];
  COMBINE_OF(combine_load_)(args->use[0], base->a, far->a, whole, in_a);
  COMBINE_OF(combine_load_)(args->use[1], base->b, far->b, whole, in_b);
#if COMBINE_BYTES == 2
  word4 in_c[COMBINE_OF(COMBINE_ROWS_)];
  COMBINE_OF(combine_load_)(args->use[2], base->c, far->c, whole, in_c);
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); i += COMBINE_OF(COMBINE_GROUP_))
    COMBINE_OF(combine_group_)(args, in_a + i, in_b + i, in_c + i);
#else
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); i += COMBINE_OF(COMBINE_GROUP_))
    COMBINE_OF(combine_two_)(args, in_a + i, in_b + i, false);
  if (args->three) {
    COMBINE_OF(combine_load_)(args->use[2], base->c, far->c, whole, in_b);
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); i += COMBINE_OF(COMBINE_GROUP_))
      COMBINE_OF(combine_two_)(args, in_a + i, in_b + i, true);
  }
#endif
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i)
    if (whole >> i & 1) global_store16(base->d + (int32_t)far->d[i], in_a[i]);
}

/* The first `count` elements of an access that goes beyond the end. */
DEVICE word4 COMBINE_OF(combine_load_part_)(uint32_t use, const unsigned char *from, uint32_t count) {
  COMBINE_WORD all[COMBINE_OF(COMBINE_EACH_)];
  const uint32_t step = use == CUTT_COMBINE_SINGLE ? 0 : COMBINE_BYTES;
  UNROLL(8)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_EACH_); ++i) {
    all[i] = COMBINE_ACCESS(pass_none)();
    if (i < count && use != CUTT_COMBINE_ZERO) all[i] = COMBINE_ACCESS(global_load)(from + i * step);
  }
  return COMBINE_ACCESS(combine_pack)(all);
}

DEVICE void COMBINE_OF(combine_part_)(const cutt_combine_args *args, const unsigned char *a, const unsigned char *b,
                                      const unsigned char *c, unsigned char *d, uint32_t count) {
  word4 in_a[COMBINE_OF(COMBINE_GROUP_)], in_b[COMBINE_OF(COMBINE_GROUP_)];
  COMBINE_WORD all[COMBINE_OF(COMBINE_EACH_)];
  UNROLL(4)
  for (uint32_t i = 1; i < COMBINE_OF(COMBINE_GROUP_); ++i) in_a[i] = in_b[i] = pass_none16();
  in_a[0] = COMBINE_OF(combine_load_part_)(args->use[0], a, count);
  in_b[0] = COMBINE_OF(combine_load_part_)(args->use[1], b, count);
#if COMBINE_BYTES == 2
  word4 in_c[COMBINE_OF(COMBINE_GROUP_)];
  UNROLL(4)
  for (uint32_t i = 1; i < COMBINE_OF(COMBINE_GROUP_); ++i) in_c[i] = pass_none16();
  in_c[0] = COMBINE_OF(combine_load_part_)(args->use[2], c, count);
  COMBINE_OF(combine_group_)(args, in_a, in_b, in_c);
#else
  COMBINE_OF(combine_two_)(args, in_a, in_b, false);
  if (args->three) {
    in_b[0] = COMBINE_OF(combine_load_part_)(args->use[2], c, count);
    COMBINE_OF(combine_two_)(args, in_a, in_b, true);
  }
#endif
  COMBINE_ACCESS(combine_unpack)(in_a[0], all);
  UNROLL(8)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_EACH_); ++i)
    if (i < count) COMBINE_ACCESS(global_store)(d + i * COMBINE_BYTES, all[i]);
}

/* Blocks that fit on an SM: 80 registers are enough for each thread, but for half types. */
#define COMBINE_BLOCKS (COMBINE_BYTES == 2 ? 2 : 3)
COMBINE_KERNEL(COMBINE_OF(cutt_combine_wide_), COMBINE_BLOCKS)
(const unsigned char *a, unsigned char *result, CONSTANT(cutt_combine_args) args, const unsigned char *b,
 const unsigned char *c) {
  enum { ROWS = COMBINE_OF(COMBINE_ROWS_) };
  const uint32_t part_number = divide(block_index(), args.parts.blocks);
  const combine_line_part part = combine_line_begin(&args, part_number);
  const uint32_t first =
      (block_index() - part_number * args.parts.blocks.by) * (CUTT_COMBINE_THREADS * ROWS) + thread_index();
  const COMBINE_OF(combine_base_) base = {a + part.a, b + part.b, c + part.c, result + part.d};
  COMBINE_OF(combine_far_) far;
  uint32_t whole = 0, tails = 0;
  UNROLL(4)
  for (uint32_t i = 0; i < ROWS; ++i) {
    const uint32_t number = first + i * CUTT_COMBINE_THREADS;
    const combine_line_spot spot = combine_wide_at(&args, number, &far.c[i]);
    far.d[i] = spot.d, far.a[i] = spot.a, far.b[i] = spot.b;
    if (number >= part.elements) continue;
    if (args.parts.tail && combine_is_tail(&args, &part, number))
      tails |= 1u << i;
    else
      whole |= 1u << i;
  }
  COMBINE_OF(combine_some_)(&args, &base, &far, whole);
  UNROLL(1)
  for (uint32_t i = 0; tails >> i; ++i) {
    uint32_t third;
    if (!(tails >> i & 1)) continue;
    const combine_line_spot spot = combine_wide_at(&args, first + i * CUTT_COMBINE_THREADS, &third);
    COMBINE_OF(combine_part_)
    (&args, base.a + (int32_t)spot.a, base.b + (int32_t)spot.b, base.c + (int32_t)third, base.d + (int32_t)spot.d,
     args.parts.tail);
  }
}

#undef COMBINE_BLOCKS
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
