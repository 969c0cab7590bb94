/* The kernel of combine.cu for elements of COMBINE_TYPE, which is included once for each type: words of COMBINE_BYTES that hold an
 * element, and numbers of the kind COMBINE_NUMBER that are computed with. */

#define COMBINE_ROWS CUTT_COMBINE_ROWS_OF(COMBINE_BYTES)
#if COMBINE_BYTES > 8
#define COMBINE_BLOCKS 2
#else
#define COMBINE_BLOCKS 3
#endif

/* Loads an operand by a walk in its own order, and puts it into shared memory: with copies that don't wait, where elements are large
 * enough for these. */
DEVICE void COMBINE_OF(combine_turn_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      bool whole) {
  const cutt_combine_walk *walk = &args->walk[1 + k];
  const combine_spot me = combine_position(args, walk);
  const unsigned char *const begin = from + (k == 0 ? me.a : k == 1 ? me.b : me.c) * COMBINE_BYTES;
  const uint32_t place = k == 0 ? me.place_a : k == 1 ? me.place_b : me.place_c;
#if COMBINE_BYTES >= 4
  const bool all = whole && walk->even;
  if (!me.there) return;
  UNROLL(8)
  for (uint32_t y = 0; y < walk->rows; ++y) {
    const uint32_t number = place + combine_row(walk, CUTT_COMBINE_TURN_PLACE, y, 0);
    const int64_t row = combine_offset(walk, CUTT_COMBINE_TURN_ROW, y, 0);
    if (all || me.split < combine_row(walk, CUTT_COMBINE_TURN_LEFT, y, 0))
      COMBINE_ACCESS(async_copy)(args->turned_at[k] + number * COMBINE_BYTES, begin + row * COMBINE_BYTES, false);
  }
#else
  (void)whole;
  enum { ROWS = 16 };
  for (uint32_t first = 0; first < walk->rows; first += ROWS) {
    COMBINE_WORD value[ROWS];
    uint32_t there = 0;
    UNROLL(ROWS)
    for (uint32_t i = 0; i < ROWS; ++i) {
      const int64_t row = combine_offset(walk, CUTT_COMBINE_TURN_ROW, first + i, first);
      const uint32_t left = combine_row(walk, CUTT_COMBINE_TURN_LEFT, first + i, first);
      const bool is_there = first + i < walk->rows && me.there && me.split < left;
      value[i] = COMBINE_ACCESS(pass_none)();
      if (is_there) value[i] = COMBINE_ACCESS(global_load)(begin + row * COMBINE_BYTES);
      there |= (is_there ? 1u : 0u) << i;
    }
    UNROLL(ROWS)
    for (uint32_t i = 0; i < ROWS; ++i) {
      const uint32_t number = place + combine_row(walk, CUTT_COMBINE_TURN_PLACE, first + i, first);
      if (there >> i & 1) COMBINE_ACCESS(shared_store)(args->turned_at[k] + number * COMBINE_BYTES, value[i]);
    }
  }
#endif
}

/* Where a thread's element of a row is that is staged. */
DEVICE uint32_t COMBINE_OF(combine_staged_)(const cutt_combine_args *args, uint32_t k, uint32_t y) {
  return args->turned_at[k] + (y * thread_count() + thread_index()) * COMBINE_BYTES;
}

#if COMBINE_BYTES >= 4
/* Starts to load what a thread has of an operand in all rows. */
DEVICE void COMBINE_OF(combine_stage_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                       const combine_spot *me, bool whole) {
  const cutt_combine_walk *walk = &args->walk[0];
  const bool all = whole && walk->even;
  if (!me->there) return;
  UNROLL(8)
  for (uint32_t y = 0; y < walk->rows; ++y) {
    const int64_t row = combine_offset(walk, CUTT_COMBINE_ROW_A + k, y, 0);
    if (all || me->split < combine_row(walk, CUTT_COMBINE_LEFT, y, 0))
      COMBINE_ACCESS(async_copy)(COMBINE_OF(combine_staged_)(args, k, y), from + row * COMBINE_BYTES, false);
  }
}
#endif

/* What a thread has of an operand in some rows. */
DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      uint32_t place, uint32_t first, uint32_t there, COMBINE_WORD *value) {
  const cutt_combine_walk *walk = &args->walk[0];
  const bool turned = args->use[k] == CUTT_COMBINE_TURNED, staged = args->use[k] == CUTT_COMBINE_STAGED;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) value[i] = COMBINE_ACCESS(pass_none)();
  if (args->use[k] == CUTT_COMBINE_ZERO) return;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
    if (turned) {
      const uint32_t number = place + combine_row(walk, CUTT_COMBINE_PLACE_A + k, first + i, first);
      if (there >> i & 1) value[i] = COMBINE_ACCESS(shared_load)(args->turned_at[k] + number * COMBINE_BYTES);
    } else if (staged) {
      if (there >> i & 1) value[i] = COMBINE_ACCESS(shared_load)(COMBINE_OF(combine_staged_)(args, k, first + i));
    } else {
      const int64_t row = combine_offset(walk, CUTT_COMBINE_ROW_A + k, first + i, first);
      if (there >> i & 1) value[i] = COMBINE_ACCESS(global_load)(from + row * COMBINE_BYTES);
    }
  }
}

COMBINE_KERNEL(COMBINE_OF(cutt_combine_), COMBINE_BLOCKS)
(const unsigned char *a, unsigned char *result, CONSTANT(cutt_combine_args) args, const unsigned char *b,
 const unsigned char *c) {
  const combine_spot tile = combine_begin(&args);
  barrier();
  combine_list_rows(&args);
  barrier();
  const cutt_combine_walk *walk = &args.walk[0];
  const combine_spot me = combine_position(&args, walk);
  bool waits = false;
  for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
    const unsigned char *const from = k == 0   ? a + tile.a * COMBINE_BYTES
                                      : k == 1 ? b + tile.b * COMBINE_BYTES
                                               : c + tile.c * COMBINE_BYTES;
    if (args.use[k] == CUTT_COMBINE_TURNED) COMBINE_OF(combine_turn_)(&args, k, from, tile.there);
#if COMBINE_BYTES >= 4
    if (args.use[k] == CUTT_COMBINE_STAGED) {
      const int64_t mine = k == 0 ? me.a : k == 1 ? me.b : me.c;
      COMBINE_OF(combine_stage_)(&args, k, from + mine * COMBINE_BYTES, &me, tile.there);
    }
#endif
    waits = waits || args.use[k] >= CUTT_COMBINE_TURNED;
  }
  if (waits) {
    async_commit();
    async_wait(0);
    barrier();
  }
  unsigned char *const to = result + (tile.d + me.d) * COMBINE_BYTES;
  for (uint32_t first = 0; first < walk->rows; first += COMBINE_ROWS) {
    COMBINE_WORD in_a[COMBINE_ROWS], in_b[COMBINE_ROWS], in_c[COMBINE_ROWS];
    uint32_t there = 0;
    if (tile.there && walk->even && first + COMBINE_ROWS <= walk->rows) {
      there = me.there ? ~0u : 0;
    } else {
      UNROLL(COMBINE_ROWS)
      for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
        const uint32_t left = combine_row(walk, CUTT_COMBINE_LEFT, first + i, first);
        there |= (first + i < walk->rows && me.there && me.split < left ? 1u : 0u) << i;
      }
    }
    COMBINE_OF(combine_load_)(&args, 0, a + (tile.a + me.a) * COMBINE_BYTES, me.place_a, first, there, in_a);
    COMBINE_OF(combine_load_)(&args, 1, b + (tile.b + me.b) * COMBINE_BYTES, me.place_b, first, there, in_b);
    COMBINE_OF(combine_load_)(&args, 2, c + (tile.c + me.c) * COMBINE_BYTES, me.place_c, first, there, in_c);
    COMBINE_OF(combine_numbers_)(&args, in_a, in_b, in_c);
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const int64_t row = combine_offset(walk, CUTT_COMBINE_ROW_D, first + i, first);
      if (there >> i & 1) COMBINE_ACCESS(global_store)(to + row * COMBINE_BYTES, in_a[i]);
    }
  }
}

#undef COMBINE_ROWS
#undef COMBINE_BLOCKS
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
