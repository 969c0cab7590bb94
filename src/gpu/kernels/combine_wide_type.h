/* The kernel of combine_wide.cu for elements of COMBINE_TYPE, which is included once for each type. No operand is turned; an access has
 * the elements of the first mode that 16 bytes hold, fewer at its end. */

enum {
  COMBINE_OF(COMBINE_ROWS_) = 4,                                   /* of a thread, whose loads are under way at once */
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

/* How far behind its first access a tensor has its own in the row whose entry this is. */
DEVICE int64_t COMBINE_OF(combine_far_)(uint32_t entry, uint32_t table) {
  return (int64_t)(int32_t)shared_load4(entry + table * CUTT_COMBINE_WORD_BYTES) * COMBINE_BYTES;
}

/* The entry of row `first` + i, or of row `first` where that is none. */
DEVICE uint32_t COMBINE_OF(combine_entry_)(const cutt_combine_walk *walk, uint32_t first, uint32_t i, bool all) {
  return combine_row_at(walk, all || first + i < walk->rows ? first + i : first);
}

/* An operand's accesses in some rows: of all of them, without a branch for each, or of those that are whole. */
DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      uint32_t first, uint32_t whole, bool all, word4 *value) {
  const cutt_combine_walk *walk = &args->walk[0];
  const uint32_t use = args->use[k], table = CUTT_COMBINE_ROW_A + k;
  if (!all || use == CUTT_COMBINE_ZERO) {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) value[i] = pass_none16();
  }
  if (use == CUTT_COMBINE_ZERO) return;
  if (use == CUTT_COMBINE_SINGLE) {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const int64_t far = COMBINE_OF(combine_far_)(COMBINE_OF(combine_entry_)(walk, first, i, all), table);
      if (all || whole >> i & 1) value[i] = COMBINE_OF(combine_spread_)(COMBINE_ACCESS(global_load)(from + far));
    }
  } else {
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const int64_t far = COMBINE_OF(combine_far_)(COMBINE_OF(combine_entry_)(walk, first, i, all), table);
      if (all || whole >> i & 1) value[i] = global_load16(from + far);
    }
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

/* Some rows of a thread. */
DEVICE void COMBINE_OF(combine_some_)(const cutt_combine_args *args, const unsigned char *a, const unsigned char *b,
                                      const unsigned char *c, unsigned char *d, uint32_t first, uint32_t whole,
                                      bool all) {
  const cutt_combine_walk *walk = &args->walk[0];
  word4 in_a[COMBINE_OF(COMBINE_ROWS_)], in_b[COMBINE_OF(COMBINE_ROWS_)];
  COMBINE_OF(combine_load_)(args, 0, a, first, whole, all, in_a);
  COMBINE_OF(combine_load_)(args, 1, b, first, whole, all, in_b);
#if COMBINE_BYTES == 2
  word4 in_c[COMBINE_OF(COMBINE_ROWS_)];
  COMBINE_OF(combine_load_)(args, 2, c, first, whole, all, in_c);
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); i += COMBINE_OF(COMBINE_GROUP_))
    COMBINE_OF(combine_group_)(args, in_a + i, in_b + i, in_c + i);
#else
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); i += COMBINE_OF(COMBINE_GROUP_))
    COMBINE_OF(combine_two_)(args, in_a + i, in_b + i, false);
  if (args->three) {
    COMBINE_OF(combine_load_)(args, 2, c, first, whole, all, in_b);
    UNROLL(4)
    for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); i += COMBINE_OF(COMBINE_GROUP_))
      COMBINE_OF(combine_two_)(args, in_a + i, in_b + i, true);
  }
#endif
  UNROLL(4)
  for (uint32_t i = 0; i < COMBINE_OF(COMBINE_ROWS_); ++i) {
    const int64_t far = COMBINE_OF(combine_far_)(COMBINE_OF(combine_entry_)(walk, first, i, all), CUTT_COMBINE_ROW_D);
    if (all || whole >> i & 1) global_store16(d + far, in_a[i]);
  }
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
                                      const unsigned char *c, unsigned char *d, uint32_t y, uint32_t count) {
  const uint32_t entry = combine_row_at(&args->walk[0], y);
  word4 in_a[COMBINE_OF(COMBINE_GROUP_)], in_b[COMBINE_OF(COMBINE_GROUP_)];
  COMBINE_WORD all[COMBINE_OF(COMBINE_EACH_)];
  UNROLL(4)
  for (uint32_t i = 1; i < COMBINE_OF(COMBINE_GROUP_); ++i) in_a[i] = in_b[i] = pass_none16();
  in_a[0] =
      COMBINE_OF(combine_load_part_)(args->use[0], a + COMBINE_OF(combine_far_)(entry, CUTT_COMBINE_ROW_A), count);
  in_b[0] =
      COMBINE_OF(combine_load_part_)(args->use[1], b + COMBINE_OF(combine_far_)(entry, CUTT_COMBINE_ROW_B), count);
  c += COMBINE_OF(combine_far_)(entry, CUTT_COMBINE_ROW_C);
  d += COMBINE_OF(combine_far_)(entry, CUTT_COMBINE_ROW_D);
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

/* Elements of an access in a row. */
DEVICE uint32_t COMBINE_OF(combine_count_)(const cutt_combine_args *args, const combine_part *me, uint32_t y) {
  const cutt_combine_walk *walk = &args->walk[0];
  if (y >= walk->rows || !me->there) return 0;
  const uint32_t left = combine_left_of(walk, CUTT_COMBINE_LEFT + CUTT_COMBINE_PART, y, 0);
  if (!combine_within(me->split, left)) return 0;
  const uint32_t end = walk->split[0] == 0 ? left & COMBINE_FAR : shared_load4(combine_limit_at(CUTT_COMBINE_PART, 0));
  return end - me->first < COMBINE_OF(COMBINE_EACH_) ? end - me->first : COMBINE_OF(COMBINE_EACH_);
}

/* A thread's accesses of a tile. me: which of its rows are there, where some are not. */
DEVICE void COMBINE_OF(combine_wide_tile_)(const cutt_combine_args *args, const unsigned char *a,
                                           const unsigned char *b, const unsigned char *c, unsigned char *d,
                                           const combine_part *me, bool all) {
  const uint32_t rows = args->walk[0].rows;
  uint32_t first = 0;
  UNROLL(1)
  for (; all && first + COMBINE_OF(COMBINE_ROWS_) <= rows; first += COMBINE_OF(COMBINE_ROWS_))
    COMBINE_OF(combine_some_)(args, a, b, c, d, first, 0, true);
  UNROLL(1)
  for (; first < rows; first += COMBINE_OF(COMBINE_ROWS_)) {
    uint32_t whole = all ? (1u << (rows - first)) - 1 : 0;
    UNROLL(1)
    for (uint32_t i = 0; !all && i < COMBINE_OF(COMBINE_ROWS_); ++i) {
      const uint32_t count = COMBINE_OF(combine_count_)(args, me, first + i);
      whole |= (count == COMBINE_OF(COMBINE_EACH_) ? 1u : 0u) << i;
      if (count > 0 && count < COMBINE_OF(COMBINE_EACH_)) COMBINE_OF(combine_part_)(args, a, b, c, d, first + i, count);
    }
    COMBINE_OF(combine_some_)(args, a, b, c, d, first, whole, false);
  }
}

/* Blocks that fit on an SM. From sm_90 on 80 registers are enough for each thread, but for half types. */
#if COMBINE_BYTES >= 4 && __CUDA_ARCH__ >= 900
#define COMBINE_BLOCKS 3
#else
#define COMBINE_BLOCKS 2
#endif
/* A block does several tiles where there are many, for which it lists rows once. */
COMBINE_KERNEL(COMBINE_OF(cutt_combine_wide_), COMBINE_BLOCKS)
(const unsigned char *a, unsigned char *result, CONSTANT(cutt_combine_args) args, const unsigned char *b,
 const unsigned char *c) {
  const cutt_combine_walk *walk = &args.walk[0];
  combine_list_rows(&args);
  combine_list_tile(&args, block_index(), 0);
  const combine_spot mine = combine_position(&args);
  barrier();
  UNROLL(1)
  for (uint32_t turn = 0;; ++turn) {
    const combine_tile tile = combine_listed_tile(turn);
    const uint32_t next = tile.number + args.step;
    const bool all = tile.whole && walk->even, last = next >= args.tiles;
    combine_part me = {0, 0, thread_index() < walk->x};
    if (!all) {
      combine_list_limits(&args, tile.number, CUTT_COMBINE_PART);
      barrier();
      combine_list_left(&args, CUTT_COMBINE_PART);
      barrier();
      me = combine_mine(walk, CUTT_COMBINE_PART);
    }
    if (me.there || !all) {
      COMBINE_OF(combine_wide_tile_)
      (&args, a + (tile.a + mine.a) * COMBINE_BYTES, b + (tile.b + mine.b) * COMBINE_BYTES,
       c + (tile.c + mine.c) * COMBINE_BYTES, result + (tile.d + mine.d) * COMBINE_BYTES, &me, all);
    }
    if (last) break;
    combine_list_tile(&args, next, turn + 1);
    barrier();
  }
}

#undef COMBINE_BLOCKS
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
