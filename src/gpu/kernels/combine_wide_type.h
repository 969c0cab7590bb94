/* The kernel of combine_wide.cu for elements of COMBINE_TYPE, which is included once for each type. No operand is turned; an access has
 * COMBINE_COUNT elements of the first mode, fewer at its end. */

enum { COMBINE_OF(COMBINE_ROWS_) = 4 };

/* One element for all of an access. */
DEVICE word4 COMBINE_OF(combine_spread_)(COMBINE_WORD v) {
  COMBINE_WORD all[COMBINE_COUNT];
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) all[i] = v;
  return COMBINE_ACCESS(combine_pack)(all);
}

/* Accesses in some rows: of all of them, without a branch for each, or of those that are whole. */
DEVICE void COMBINE_OF(combine_load_all_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                          uint32_t first, word4 *value) {
  const uint32_t at = combine_row_at(&args->walk[0], first) + (CUTT_COMBINE_ROW_A + k) * CUTT_COMBINE_WORD_BYTES;
  if (args->use[k] == CUTT_COMBINE_ZERO) {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) value[i] = pass_none16();
  } else if (args->use[k] == CUTT_COMBINE_SINGLE) {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const int64_t row = (int32_t)shared_load4(at + i * (4 * CUTT_COMBINE_WORD_BYTES));
      value[i] = COMBINE_OF(combine_spread_)(COMBINE_ACCESS(global_load)(from + row * COMBINE_BYTES));
    }
  } else {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const int64_t row = (int32_t)shared_load4(at + i * (4 * CUTT_COMBINE_WORD_BYTES));
      value[i] = global_load16(from + row * COMBINE_BYTES);
    }
  }
}

DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      uint32_t first, uint32_t whole, word4 *value) {
  const cutt_combine_walk *walk = &args->walk[0];
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) value[i] = pass_none16();
  if (args->use[k] == CUTT_COMBINE_ZERO) return;
  const bool single = args->use[k] == CUTT_COMBINE_SINGLE;
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
    const int64_t row = (int32_t)combine_row_of(walk, CUTT_COMBINE_ROW_A + k, first + i, first);
    const unsigned char *const place = from + row * COMBINE_BYTES;
    if (!(whole >> i & 1)) continue;
    if (single) {
      value[i] = COMBINE_OF(combine_spread_)(COMBINE_ACCESS(global_load)(place));
    } else {
      value[i] = global_load16(place);
    }
  }
}

DEVICE word4 COMBINE_OF(combine_words_)(const cutt_combine_args *args, word4 a, word4 b, word4 c) {
  COMBINE_WORD x[COMBINE_COUNT], y[COMBINE_COUNT], z[COMBINE_COUNT];
  COMBINE_ACCESS(combine_unpack)(a, x);
  COMBINE_ACCESS(combine_unpack)(b, y);
  COMBINE_ACCESS(combine_unpack)(c, z);
  COMBINE_OF(combine_numbers_)(args, x, y, z);
  return COMBINE_ACCESS(combine_pack)(x);
}

/* The first `count` elements of an access that goes beyond the end. */
DEVICE word4 COMBINE_OF(combine_load_part_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                            uint32_t count) {
  COMBINE_WORD all[COMBINE_COUNT];
  const uint32_t step = args->use[k] == CUTT_COMBINE_SINGLE ? 0 : COMBINE_BYTES;
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i) {
    all[i] = COMBINE_ACCESS(pass_none)();
    if (i < count && args->use[k] != CUTT_COMBINE_ZERO) all[i] = COMBINE_ACCESS(global_load)(from + i * step);
  }
  return COMBINE_ACCESS(combine_pack)(all);
}

DEVICE void COMBINE_OF(combine_part_)(const cutt_combine_args *args, const unsigned char *a, const unsigned char *b,
                                      const unsigned char *c, unsigned char *to, uint32_t count) {
  const word4 x = COMBINE_OF(combine_load_part_)(args, 0, a, count);
  const word4 y = COMBINE_OF(combine_load_part_)(args, 1, b, count);
  const word4 z = COMBINE_OF(combine_load_part_)(args, 2, c, count);
  COMBINE_WORD all[COMBINE_COUNT];
  COMBINE_ACCESS(combine_unpack)(COMBINE_OF(combine_words_)(args, x, y, z), all);
  UNROLL(COMBINE_COUNT)
  for (uint32_t i = 0; i < COMBINE_COUNT; ++i)
    if (i < count) COMBINE_ACCESS(global_store)(to + i * COMBINE_BYTES, all[i]);
}

/* Elements of an access in a row. */
DEVICE uint32_t COMBINE_OF(combine_count_)(const cutt_combine_args *args, const combine_part *me, uint32_t y) {
  const cutt_combine_walk *walk = &args->walk[0];
  if (y >= walk->rows || !me->there) return 0;
  const uint32_t left = combine_left_of(walk, CUTT_COMBINE_LEFT + CUTT_COMBINE_PART, y, 0);
  if (!combine_within(me->split, left)) return 0;
  const uint32_t end = walk->split[0] == 0 ? left & COMBINE_FAR : shared_load4(combine_limit_at(CUTT_COMBINE_PART, 0));
  return end - me->first < COMBINE_COUNT ? end - me->first : COMBINE_COUNT;
}

/* Blocks that fit on an SM. From sm_90 on 80 registers are enough for each thread, but for half types. */
#if COMBINE_BYTES >= 4 && __CUDA_ARCH__ >= 900
#define COMBINE_BLOCKS 3
#else
#define COMBINE_BLOCKS 2
#endif
COMBINE_KERNEL(COMBINE_OF(cutt_combine_wide_), COMBINE_BLOCKS)
(const unsigned char *a, unsigned char *result, CONSTANT(cutt_combine_args) args, const unsigned char *b,
 const unsigned char *c) {
  const combine_tile tile = combine_tile_of(&args, block_index());
  const cutt_combine_walk *walk = &args.walk[0];
  const bool all = tile.whole && walk->even && walk->rows % COMBINE_OF(COMBINE_ROWS_) == 0;
  combine_list_rows(&args);
  if (!all) combine_list_limits(&args, block_index(), CUTT_COMBINE_PART);
  const combine_spot me = combine_position(&args);
  combine_part part_of_me = {0, 0, thread_index() < walk->x};
  barrier();
  if (!all) {
    combine_list_left(&args, CUTT_COMBINE_PART);
    barrier();
    part_of_me = combine_mine(walk, CUTT_COMBINE_PART);
  }
  const unsigned char *const my_a = a + (tile.a + me.a) * COMBINE_BYTES, *const my_b =
                                                                             b + (tile.b + me.b) * COMBINE_BYTES;
  const unsigned char *const my_c = c + (tile.c + me.c) * COMBINE_BYTES;
  unsigned char *const my_d = result + (tile.d + me.d) * COMBINE_BYTES;
  for (uint32_t first = 0; first < walk->rows; first += COMBINE_OF(COMBINE_ROWS_)) {
    word4 in_a[COMBINE_OF(COMBINE_ROWS_)], in_b[COMBINE_OF(COMBINE_ROWS_)], in_c[COMBINE_OF(COMBINE_ROWS_)];
    uint32_t whole = 0, part = 0;
    if (all && first + COMBINE_OF(COMBINE_ROWS_) <= walk->rows) {
      if (!part_of_me.there) return;
      COMBINE_OF(combine_load_all_)(&args, 0, my_a, first, in_a);
      COMBINE_OF(combine_load_all_)(&args, 1, my_b, first, in_b);
      COMBINE_OF(combine_load_all_)(&args, 2, my_c, first, in_c);
      const uint32_t at = combine_row_at(walk, first);
      UNROLL(4)
      for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
        const int64_t row = (int32_t)shared_load4(at + i * (4 * CUTT_COMBINE_WORD_BYTES));
        global_store16(my_d + row * COMBINE_BYTES, COMBINE_OF(combine_words_)(&args, in_a[i], in_b[i], in_c[i]));
      }
      continue;
    }
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const uint32_t count = COMBINE_OF(combine_count_)(&args, &part_of_me, first + i);
      whole |= (count == COMBINE_COUNT ? 1u : 0u) << i;
      part |= (count > 0 && count < COMBINE_COUNT ? 1u : 0u) << i;
    }
    COMBINE_OF(combine_load_)(&args, 0, my_a, first, whole, in_a);
    COMBINE_OF(combine_load_)(&args, 1, my_b, first, whole, in_b);
    COMBINE_OF(combine_load_)(&args, 2, my_c, first, whole, in_c);
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const int64_t row = (int32_t)combine_row_of(walk, CUTT_COMBINE_ROW_D, first + i, first);
      const word4 v = COMBINE_OF(combine_words_)(&args, in_a[i], in_b[i], in_c[i]);
      if (whole >> i & 1) global_store16(my_d + row * COMBINE_BYTES, v);
    }
    for (uint32_t i = 0; part >> i; ++i) {
      if (!(part >> i & 1)) continue;
      const int64_t row_a = (int64_t)(int32_t)combine_row_of(walk, CUTT_COMBINE_ROW_A, first + i, 0) * COMBINE_BYTES;
      const int64_t row_b = (int64_t)(int32_t)combine_row_of(walk, CUTT_COMBINE_ROW_B, first + i, 0) * COMBINE_BYTES;
      const int64_t row_c = (int64_t)(int32_t)combine_row_of(walk, CUTT_COMBINE_ROW_C, first + i, 0) * COMBINE_BYTES;
      const int64_t row_d = (int64_t)(int32_t)combine_row_of(walk, CUTT_COMBINE_ROW_D, first + i, 0) * COMBINE_BYTES;
      COMBINE_OF(combine_part_)
      (&args, my_a + row_a, my_b + row_b, my_c + row_c, my_d + row_d,
       COMBINE_OF(combine_count_)(&args, &part_of_me, first + i));
    }
  }
}

#undef COMBINE_BLOCKS
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
