/* The kernel of combine.cu for elements of COMBINE_TYPE, which is included once for each type: words of COMBINE_BYTES that hold an
 * element, and numbers of the kind COMBINE_NUMBER that are computed with. */

#define COMBINE_ROWS CUTT_COMBINE_ROWS_OF(COMBINE_BYTES)
#if COMBINE_BYTES > 8
#define COMBINE_BLOCKS 2
#else
#define COMBINE_BLOCKS 3
#endif

/* In all of these, `all` rows of a tile that is whole are a loop of their own: a branch for each element would take longer than all
 * else. */

#if COMBINE_BYTES >= 4
/* Loads an operand by a walk in its own order, and puts it into shared memory, with copies that don't wait. */
DEVICE void COMBINE_OF(combine_turn_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      bool whole) {
  enum { TOGETHER = 8 }; /* rows whose entries are loaded together */
  const cutt_combine_walk *walk = &args->walk[1 + k];
  const combine_spot me = combine_position(args, walk);
  const unsigned char *const begin = from + (k == 0 ? me.a : k == 1 ? me.b : me.c) * COMBINE_BYTES;
  const uint32_t to = args->turned_at[k] + (k == 0 ? me.place_a : k == 1 ? me.place_b : me.place_c) * COMBINE_BYTES;
  const uint32_t rows = walk->rows, places = rows * CUTT_COMBINE_WORD_BYTES;
  uint32_t at = combine_entry(walk, CUTT_COMBINE_TURN_ROW, 0);
  if (!me.there) return;
  if (whole && walk->even) {
    for (uint32_t y = 0; y < rows; y += TOGETHER, at += TOGETHER * CUTT_COMBINE_WORD_BYTES) {
      uint32_t row[TOGETHER], place[TOGETHER];
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i) {
        const uint32_t entry = at + (y + i < rows ? i : 0) * CUTT_COMBINE_WORD_BYTES;
        row[i] = shared_load4(entry);
        place[i] = shared_load4(entry + places);
      }
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i) {
        const unsigned char *const element = begin + (int64_t)(int32_t)row[i] * COMBINE_BYTES;
        if (y + i < rows) COMBINE_ACCESS(async_copy)(to + place[i] * COMBINE_BYTES, element, false);
      }
    }
  } else {
    UNROLL(1)
    for (uint32_t y = 0; y < rows; ++y, at += CUTT_COMBINE_WORD_BYTES) {
      const int64_t row = (int32_t)shared_load4(at);
      if (me.split < combine_row(walk, CUTT_COMBINE_TURN_LEFT, y, 0))
        COMBINE_ACCESS(async_copy)(to + shared_load4(at + places) * COMBINE_BYTES, begin + row * COMBINE_BYTES, false);
    }
  }
}
#else
/* The same through registers. */
DEVICE void COMBINE_OF(combine_turn_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      bool whole) {
  enum { ROWS = 16 };
  const cutt_combine_walk *walk = &args->walk[1 + k];
  const combine_spot me = combine_position(args, walk);
  const unsigned char *const begin = from + (k == 0 ? me.a : k == 1 ? me.b : me.c) * COMBINE_BYTES;
  const uint32_t to = args->turned_at[k] + (k == 0 ? me.place_a : k == 1 ? me.place_b : me.place_c) * COMBINE_BYTES;
  if (!me.there) return;
  for (uint32_t first = 0; first < walk->rows; first += ROWS) {
    COMBINE_WORD value[ROWS];
    if (whole && walk->even && first + ROWS <= walk->rows) {
      const uint32_t at = combine_entry(walk, CUTT_COMBINE_TURN_ROW, first);
      const uint32_t place = combine_entry(walk, CUTT_COMBINE_TURN_PLACE, first);
      UNROLL(ROWS)
      for (uint32_t i = 0; i < ROWS; ++i) {
        const int64_t row = (int32_t)shared_load4(at + i * CUTT_COMBINE_WORD_BYTES);
        value[i] = COMBINE_ACCESS(global_load)(begin + row * COMBINE_BYTES);
      }
      UNROLL(ROWS)
      for (uint32_t i = 0; i < ROWS; ++i) COMBINE_ACCESS(shared_store)
      (to + shared_load4(place + i * CUTT_COMBINE_WORD_BYTES) * COMBINE_BYTES, value[i]);
      continue;
    }
    UNROLL(1)
    for (uint32_t y = first; y < first + ROWS && y < walk->rows; ++y) {
      if (me.split >= combine_row(walk, CUTT_COMBINE_TURN_LEFT, y, 0)) continue;
      const int64_t row = combine_offset(walk, CUTT_COMBINE_TURN_ROW, y, 0);
      COMBINE_ACCESS(shared_store)
      (to + combine_row(walk, CUTT_COMBINE_TURN_PLACE, y, 0) * COMBINE_BYTES,
       COMBINE_ACCESS(global_load)(begin + row * COMBINE_BYTES));
    }
  }
}
#endif

/* Where a thread's element of a row is that is staged. */
DEVICE uint32_t COMBINE_OF(combine_staged_)(const cutt_combine_args *args, uint32_t k, uint32_t y) {
  return args->turned_at[k] + (y * thread_count() + thread_index()) * COMBINE_BYTES;
}

#if COMBINE_BYTES >= 4
/* Starts to load what a thread has of an operand in all rows. */
DEVICE void COMBINE_OF(combine_stage_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                       const combine_spot *me, bool whole) {
  enum { TOGETHER = 8 };
  const cutt_combine_walk *walk = &args->walk[0];
  const uint32_t rows = walk->rows, step = thread_count() * COMBINE_BYTES;
  uint32_t to = COMBINE_OF(combine_staged_)(args, k, 0), at = combine_entry(walk, CUTT_COMBINE_ROW_A + k, 0);
  if (!me->there) return;
  if (whole && walk->even) {
    for (uint32_t y = 0; y < rows; y += TOGETHER, at += TOGETHER * CUTT_COMBINE_WORD_BYTES, to += TOGETHER * step) {
      uint32_t row[TOGETHER];
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i)
        row[i] = shared_load4(at + (y + i < rows ? i : 0) * CUTT_COMBINE_WORD_BYTES);
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i) {
        const unsigned char *const element = from + (int64_t)(int32_t)row[i] * COMBINE_BYTES;
        if (y + i < rows) COMBINE_ACCESS(async_copy)(to + i * step, element, false);
      }
    }
  } else {
    UNROLL(1)
    for (uint32_t y = 0; y < rows; ++y, at += CUTT_COMBINE_WORD_BYTES, to += step) {
      const int64_t row = (int32_t)shared_load4(at);
      if (me->split < combine_row(walk, CUTT_COMBINE_LEFT, y, 0))
        COMBINE_ACCESS(async_copy)(to, from + row * COMBINE_BYTES, false);
    }
  }
}
#endif

/* What a thread has of an operand in some rows, all of which are there. */
DEVICE void COMBINE_OF(combine_load_whole_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                            uint32_t place, uint32_t first, COMBINE_WORD *value) {
  const cutt_combine_walk *walk = &args->walk[0];
  if (args->use[k] == CUTT_COMBINE_TURNED) {
    const uint32_t at = combine_entry(walk, CUTT_COMBINE_PLACE_A + k, first);
    const uint32_t begin = args->turned_at[k] + place * COMBINE_BYTES;
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i)
      value[i] = COMBINE_ACCESS(shared_load)(begin + shared_load4(at + i * CUTT_COMBINE_WORD_BYTES) * COMBINE_BYTES);
  } else if (args->use[k] == CUTT_COMBINE_STAGED) {
    const uint32_t begin = COMBINE_OF(combine_staged_)(args, k, first), step = thread_count() * COMBINE_BYTES;
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) value[i] = COMBINE_ACCESS(shared_load)(begin + i * step);
  } else if (args->use[k] == CUTT_COMBINE_DIRECT) {
    const uint32_t at = combine_entry(walk, CUTT_COMBINE_ROW_A + k, first);
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const int64_t row = (int32_t)shared_load4(at + i * CUTT_COMBINE_WORD_BYTES);
      value[i] = COMBINE_ACCESS(global_load)(from + row * COMBINE_BYTES);
    }
  } else {
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) value[i] = COMBINE_ACCESS(pass_none)();
  }
}

/* What it has of one in the rows that are there. */
DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      uint32_t place, uint32_t first, uint32_t there, COMBINE_WORD *value) {
  const cutt_combine_walk *walk = &args->walk[0];
  const bool turned = args->use[k] == CUTT_COMBINE_TURNED, staged = args->use[k] == CUTT_COMBINE_STAGED;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
    value[i] = COMBINE_ACCESS(pass_none)();
    if (args->use[k] == CUTT_COMBINE_ZERO || !(there >> i & 1)) continue;
    if (turned) {
      const uint32_t number = place + combine_row(walk, CUTT_COMBINE_PLACE_A + k, first + i, first);
      value[i] = COMBINE_ACCESS(shared_load)(args->turned_at[k] + number * COMBINE_BYTES);
    } else if (staged) {
      value[i] = COMBINE_ACCESS(shared_load)(COMBINE_OF(combine_staged_)(args, k, first + i));
    } else {
      const int64_t row = combine_offset(walk, CUTT_COMBINE_ROW_A + k, first + i, first);
      value[i] = COMBINE_ACCESS(global_load)(from + row * COMBINE_BYTES);
    }
  }
}

/* A thread's rows from `first` on: loads, computes and stores them. */
DEVICE void COMBINE_OF(combine_rows_)(const cutt_combine_args *args, const unsigned char *a, const unsigned char *b,
                                      const unsigned char *c, unsigned char *to, const combine_spot *me, uint32_t first,
                                      bool all) {
  const cutt_combine_walk *walk = &args->walk[0];
  COMBINE_WORD in_a[COMBINE_ROWS], in_b[COMBINE_ROWS], in_c[COMBINE_ROWS];
  uint32_t there = 0;
  if (all) {
    COMBINE_OF(combine_load_whole_)(args, 0, a, me->place_a, first, in_a);
    COMBINE_OF(combine_load_whole_)(args, 1, b, me->place_b, first, in_b);
    COMBINE_OF(combine_load_whole_)(args, 2, c, me->place_c, first, in_c);
  } else {
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const uint32_t left = combine_row(walk, CUTT_COMBINE_LEFT, first + i, first);
      there |= (first + i < walk->rows && me->split < left ? 1u : 0u) << i;
    }
    COMBINE_OF(combine_load_)(args, 0, a, me->place_a, first, there, in_a);
    COMBINE_OF(combine_load_)(args, 1, b, me->place_b, first, there, in_b);
    COMBINE_OF(combine_load_)(args, 2, c, me->place_c, first, there, in_c);
  }
  COMBINE_OF(combine_numbers_)(args, in_a, in_b, in_c);
  if (all) {
    const uint32_t at = combine_entry(walk, CUTT_COMBINE_ROW_D, first);
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const int64_t row = (int32_t)shared_load4(at + i * CUTT_COMBINE_WORD_BYTES);
      COMBINE_ACCESS(global_store)(to + row * COMBINE_BYTES, in_a[i]);
    }
  } else {
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const int64_t row = combine_offset(walk, CUTT_COMBINE_ROW_D, first + i, first);
      if (there >> i & 1) COMBINE_ACCESS(global_store)(to + row * COMBINE_BYTES, in_a[i]);
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
  if (!me.there) return;
  a += (tile.a + me.a) * COMBINE_BYTES;
  b += (tile.b + me.b) * COMBINE_BYTES;
  c += (tile.c + me.c) * COMBINE_BYTES;
  result += (tile.d + me.d) * COMBINE_BYTES;
  for (uint32_t first = 0; first < walk->rows; first += COMBINE_ROWS) COMBINE_OF(combine_rows_)
  (&args, a, b, c, result, &me, first, tile.there && walk->even && first + COMBINE_ROWS <= walk->rows);
}

#undef COMBINE_ROWS
#undef COMBINE_BLOCKS
#undef COMBINE_TYPE
#undef COMBINE_WORD
#undef COMBINE_BYTES
#undef COMBINE_NUMBER
#undef COMBINE_COUNT
