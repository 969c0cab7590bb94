/* The kernel of combine.cu for elements of COMBINE_TYPE, which is included once for each type: words of COMBINE_BYTES that hold an
 * element, and numbers of the kind COMBINE_NUMBER that are computed with. */

#define COMBINE_ROWS CUTT_COMBINE_ROWS_OF(COMBINE_BYTES)
#if COMBINE_BYTES > 8
#define COMBINE_BLOCKS 2
#else
#define COMBINE_BLOCKS 3
#endif

/* Loads an operand by a walk in its own order, and puts it into shared memory. */
DEVICE void COMBINE_OF(combine_turn_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from) {
  const cutt_combine_walk *walk = &args->walk[1 + k];
  const combine_spot me = combine_position(args, walk);
  const unsigned char *const begin = from + (k == 0 ? me.a : k == 1 ? me.b : me.c);
  const uint32_t place = k == 0 ? me.place_a : k == 1 ? me.place_b : me.place_c;
  for (uint32_t first = 0; first < walk->rows; first += COMBINE_ROWS) {
    COMBINE_WORD value[COMBINE_ROWS];
    uint32_t to[COMBINE_ROWS], there = 0;
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const uint32_t y = first + i < walk->rows ? first + i : first;
      const word4 row = shared_load16(walk->table_at + y * CUTT_COMBINE_TURN_ENTRY);
      const bool is_there = first + i < walk->rows && me.there && me.split < row.w;
      to[i] = args->turned_at[k] + (place + row.z) * COMBINE_BYTES;
      value[i] = COMBINE_ACCESS(pass_none)();
      if (is_there) value[i] = COMBINE_ACCESS(global_load)(begin + pass_join(row.x, row.y));
      there |= (is_there ? 1u : 0u) << i;
    }
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i)
      if (there >> i & 1) COMBINE_ACCESS(shared_store)(to[i], value[i]);
  }
}

/* What a thread has of an operand in some rows. */
DEVICE void COMBINE_OF(combine_load_)(const cutt_combine_args *args, uint32_t k, const unsigned char *from,
                                      uint32_t place, uint32_t first, uint32_t there, COMBINE_WORD *value) {
  const cutt_combine_walk *walk = &args->walk[0];
  const bool turned = args->use[k] == CUTT_COMBINE_TURNED;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) value[i] = COMBINE_ACCESS(pass_none)();
  if (args->use[k] == CUTT_COMBINE_ZERO) return;
  UNROLL(COMBINE_ROWS)
  for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
    const uint32_t y = first + i < walk->rows ? first + i : first;
    const uint32_t at = walk->table_at + y * CUTT_COMBINE_ROW_ENTRY;
    if (turned) {
      const word4 row = shared_load16(at + 32);
      const uint32_t number = place + (k == 0 ? row.x : k == 1 ? row.y : row.z);
      if (there >> i & 1) value[i] = COMBINE_ACCESS(shared_load)(args->turned_at[k] + number * COMBINE_BYTES);
    } else {
      const pass_pair row = pass_load(k == 0 ? at : at + 16);
      if (there >> i & 1) value[i] = COMBINE_ACCESS(global_load)(from + (k == 1 ? row.a : row.b));
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
  bool turns = false;
  for (uint32_t k = 0; k < CUTT_COMBINE_OPERANDS; ++k) {
    if (args.use[k] != CUTT_COMBINE_TURNED) continue;
    COMBINE_OF(combine_turn_)(&args, k, k == 0 ? a + tile.a : k == 1 ? b + tile.b : c + tile.c);
    turns = true;
  }
  if (turns) barrier();
  const cutt_combine_walk *walk = &args.walk[0];
  const combine_spot me = combine_position(&args, walk);
  for (uint32_t first = 0; first < walk->rows; first += COMBINE_ROWS) {
    COMBINE_WORD in_a[COMBINE_ROWS], in_b[COMBINE_ROWS], in_c[COMBINE_ROWS];
    uint32_t there = 0;
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const uint32_t y = first + i < walk->rows ? first + i : first;
      const word4 row = shared_load16(walk->table_at + y * CUTT_COMBINE_ROW_ENTRY + 32);
      there |= (first + i < walk->rows && me.there && me.split < row.w ? 1u : 0u) << i;
    }
    COMBINE_OF(combine_load_)(&args, 0, a + (tile.a + me.a), me.place_a, first, there, in_a);
    COMBINE_OF(combine_load_)(&args, 1, b + (tile.b + me.b), me.place_b, first, there, in_b);
    COMBINE_OF(combine_load_)(&args, 2, c + (tile.c + me.c), me.place_c, first, there, in_c);
    COMBINE_OF(combine_numbers_)(&args, in_a, in_b, in_c);
    UNROLL(COMBINE_ROWS)
    for (uint32_t i = 0; i < COMBINE_ROWS; ++i) {
      const uint32_t y = first + i < walk->rows ? first + i : first;
      const pass_pair row = pass_load(walk->table_at + y * CUTT_COMBINE_ROW_ENTRY);
      if (there >> i & 1) COMBINE_ACCESS(global_store)(result + (tile.d + me.d + row.a), in_a[i]);
    }
  }
}

#undef COMBINE_ROWS
#undef COMBINE_BLOCKS
