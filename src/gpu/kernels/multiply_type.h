/* The kernel of multiply.cu for elements of MULTIPLY_TYPE, MULTIPLY_REAL of MULTIPLY_BYTES, which is included once for each type. */

#define MULTIPLY_ROWS CUTT_MULTIPLY_ROWS(MULTIPLY_BYTES)
#define MULTIPLY_ROWS_EACH CUTT_MULTIPLY_ROWS_EACH(MULTIPLY_BYTES)
#define MULTIPLY_COLUMNS_AT CUTT_MULTIPLY_COLUMNS_AT(MULTIPLY_BYTES)
#define MULTIPLY_TABLE CUTT_MULTIPLY_TABLE(MULTIPLY_BYTES)

#define MULTIPLY_EACH (CUTT_MULTIPLY_UNIT / MULTIPLY_BYTES)  /* rows of a unit */
#define MULTIPLY_OWN (MULTIPLY_ROWS / CUTT_MULTIPLY_THREADS) /* rows that a thread copies */

/* Are there warps without columns, and units enough for one of them? It copies all of L then, two units of each lane, while the others
 * multiply. */
DEVICE bool MULTIPLY_OF(multiply_apart_)(const cutt_multiply_args *args) {
  return MULTIPLY_OWN == CUTT_MULTIPLY_UNITS / CUTT_MULTIPLY_LANES &&
         args->columns <= CUTT_MULTIPLY_COLUMNS - CUTT_MULTIPLY_COLUMNS_EACH;
}

/* What a thread copies of each of a tile's lots: where operands have their terms apart, the same rows and column. */
typedef struct MULTIPLY_OF(multiply_share_) {
  const unsigned char *row[MULTIPLY_OWN], *column; /* where the tile begins, of operands with neighbours in terms */
  uint32_t place[MULTIPLY_OWN];
} MULTIPLY_OF(multiply_share_);

DEVICE MULTIPLY_OF(multiply_share_)
    MULTIPLY_OF(multiply_begin_)(const cutt_multiply_args *args, const unsigned char *left, const unsigned char *right,
                                 uint32_t tile, uint32_t table) {
  MULTIPLY_OF(multiply_share_) share;
  const multiply_place begin = multiply_tile(args, tile);
  UNROLL(MULTIPLY_OWN)
  for (uint32_t i = 0; i < MULTIPLY_OWN; ++i) {
    const uint32_t row = multiply_row(args, thread_index() + i * CUTT_MULTIPLY_THREADS);
    share.row[i] =
        left + begin.left + (args->left_by_terms ? 0 : multiply_load_first(table + row * CUTT_MULTIPLY_ENTRY));
    share.place[i] = multiply_row_at(args, row, MULTIPLY_BYTES);
  }
  if (multiply_is_wide(args, left)) { /* units are in the place of rows */
    UNROLL(MULTIPLY_OWN)
    for (uint32_t i = 0; i < MULTIPLY_OWN; ++i) {
      const uint32_t lane = thread_index() % CUTT_MULTIPLY_LANES + i * CUTT_MULTIPLY_LANES;
      const uint32_t unit =
          multiply_unit(args, MULTIPLY_OF(multiply_apart_)(args) ? lane : thread_index() % CUTT_MULTIPLY_UNITS);
      const uint32_t row = multiply_unit_row(args, unit, MULTIPLY_EACH, MULTIPLY_ROWS - 1);
      share.row[i] = left + begin.left + multiply_load_first(table + row * CUTT_MULTIPLY_ENTRY);
      share.place[i] = args->quads ? multiply_unit_at(unit) : unit * CUTT_MULTIPLY_UNIT;
    }
  }
  const uint32_t column = table + MULTIPLY_COLUMNS_AT + thread_index() % CUTT_MULTIPLY_COLUMNS * CUTT_MULTIPLY_ENTRY;
  share.column = right + begin.right + (args->right_by_terms ? 0 : multiply_load_first(column));
  return share;
}

/* The same of the next tile. */
DEVICE void MULTIPLY_OF(multiply_go_on_)(const cutt_multiply_args *args, const unsigned char *left,
                                         const unsigned char *right, uint32_t tile, uint32_t next, uint32_t table,
                                         bool copies, MULTIPLY_OF(multiply_share_) * share) {
  if (multiply_is_wide(args, left) && MULTIPLY_OF(multiply_apart_)(args) && !copies && args->keeps) return;
  if (args->bounded) {
    *share = MULTIPLY_OF(multiply_begin_)(args, left, right, next, table);
    return;
  }
  const multiply_place from = multiply_tile(args, tile), to = multiply_tile(args, next);
  UNROLL(MULTIPLY_OWN)
  for (uint32_t i = 0; i < MULTIPLY_OWN; ++i) share->row[i] += to.left - from.left;
  share->column += to.right - from.right;
}

/* Starts to copy a lane's units of `count` terms; and zeros for the rest of the lot. */
DEVICE void MULTIPLY_OF(multiply_copy_units_)(const cutt_multiply_args *args,
                                              const MULTIPLY_OF(multiply_share_) * share, uint32_t terms_at,
                                              uint32_t count, uint32_t to) {
  enum { TOGETHER = 4 };
  const uint32_t pitch = args->pitch * MULTIPLY_BYTES, depth = args->depth.by;
  const word4 none = {0, 0, 0, 0};
  for (uint32_t begin = 0; begin < count; begin += TOGETHER) {
    int64_t offset[TOGETHER];
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i)
      offset[i] = multiply_load_first(terms_at + (begin + i < count ? begin + i : begin) * CUTT_MULTIPLY_ENTRY);
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      UNROLL(MULTIPLY_OWN)
      for (uint32_t j = 0; j < MULTIPLY_OWN; ++j)
        async_copy16_if(begin + i < count, to + (begin + i) * pitch + share->place[j], share->row[j] + offset[i]);
    }
  }
  for (uint32_t term = count; term < depth; ++term) {
    UNROLL(MULTIPLY_OWN)
    for (uint32_t j = 0; j < MULTIPLY_OWN; ++j) shared_store16(to + term * pitch + share->place[j], none);
  }
}

/* Starts to copy `count` terms of L's rows, from `first` on; and zeros for the rest of the lot. */
DEVICE void MULTIPLY_OF(multiply_copy_left_)(const cutt_multiply_args *args, bool wide, bool copies, uint32_t table,
                                             const MULTIPLY_OF(multiply_share_) * share, uint32_t first, uint32_t count,
                                             uint32_t to) {
  const uint32_t pitch = args->pitch * MULTIPLY_BYTES, depth = args->depth.by;
  const uint32_t terms_at = args->terms_at + first * CUTT_MULTIPLY_ENTRY;
  if (args->left_by_terms) {
    const uint32_t group = divide(thread_index(), args->depth), term = thread_index() - group * depth;
    const uint32_t groups = divide(CUTT_MULTIPLY_THREADS, args->depth);
    if (group >= groups) return;
    const bool there = term < count;
    const unsigned char *const from =
        share->row[0] + (there ? multiply_load_first(terms_at + term * CUTT_MULTIPLY_ENTRY) : 0);
    UNROLL(4)
    for (uint32_t row = group; row < MULTIPLY_ROWS; row += groups) {
      const uint32_t at = to + term * pitch + (row + (row >> args->pad_log2)) * MULTIPLY_BYTES;
      if (there) {
        MULTIPLY_ACCESS(async_copy)(at, from + multiply_load_first(table + row * CUTT_MULTIPLY_ENTRY), false);
      } else {
        MULTIPLY_ACCESS(shared_store)(at, MULTIPLY_OF(multiply_bits_)(0));
      }
    }
    return;
  }
  if (wide && MULTIPLY_OF(multiply_apart_)(args)) {
    if (copies) MULTIPLY_OF(multiply_copy_units_)(args, share, terms_at, count, to);
    return;
  }
  if (wide) {
    enum { APART = CUTT_MULTIPLY_THREADS / CUTT_MULTIPLY_UNITS, TOGETHER = 4 };
    const word4 none = {0, 0, 0, 0};
    const uint32_t my = thread_index() / CUTT_MULTIPLY_UNITS;
    for (uint32_t begin = my; begin < count; begin += TOGETHER * APART) {
      int64_t offset[TOGETHER];
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i) {
        const uint32_t term = begin + i * APART;
        offset[i] = multiply_load_first(terms_at + (term < count ? term : begin) * CUTT_MULTIPLY_ENTRY);
      }
      UNROLL(TOGETHER)
      for (uint32_t i = 0; i < TOGETHER; ++i) {
        const uint32_t term = begin + i * APART;
        async_copy16_if(term < count, to + term * pitch + share->place[0], share->row[0] + offset[i]);
      }
    }
    for (uint32_t term = count; term < depth; ++term)
      if (term % APART == my) shared_store16(to + term * pitch + share->place[0], none);
    return;
  }
  UNROLL(4)
  for (uint32_t term = 0; term < count; ++term) {
    const int64_t offset = multiply_load_first(terms_at + term * CUTT_MULTIPLY_ENTRY);
    UNROLL(MULTIPLY_OWN)
    for (uint32_t i = 0; i < MULTIPLY_OWN; ++i)
      MULTIPLY_ACCESS(async_copy)(to + term * pitch + share->place[i], share->row[i] + offset, false);
  }
  for (uint32_t term = count; term < depth; ++term) {
    UNROLL(MULTIPLY_OWN)
    for (uint32_t i = 0; i < MULTIPLY_OWN; ++i)
      MULTIPLY_ACCESS(shared_store)(to + term * pitch + share->place[i], MULTIPLY_OF(multiply_bits_)(0));
  }
}

/* The same of R's columns. */
DEVICE void MULTIPLY_OF(multiply_copy_right_)(const cutt_multiply_args *args, uint32_t table,
                                              const MULTIPLY_OF(multiply_share_) * share, uint32_t first,
                                              uint32_t count, uint32_t to) {
  enum { PITCH = CUTT_MULTIPLY_COLUMNS * MULTIPLY_BYTES, GROUPS = CUTT_MULTIPLY_THREADS / CUTT_MULTIPLY_COLUMNS };
  const uint32_t depth = args->depth.by, terms_at = args->terms_at + first * CUTT_MULTIPLY_ENTRY;
  if (args->right_by_terms) {
    const uint32_t group = divide(thread_index(), args->depth), term = thread_index() - group * depth;
    const uint32_t groups = divide(CUTT_MULTIPLY_THREADS, args->depth);
    if (group >= groups) return;
    const bool there = term < count;
    const unsigned char *const from =
        share->column + (there ? multiply_load(terms_at + term * CUTT_MULTIPLY_ENTRY).b : 0);
    for (uint32_t column = group; column < CUTT_MULTIPLY_COLUMNS; column += groups) {
      const uint32_t at = to + term * PITCH + column * MULTIPLY_BYTES;
      if (there) {
        const uint32_t described = table + MULTIPLY_COLUMNS_AT + column * CUTT_MULTIPLY_ENTRY;
        MULTIPLY_ACCESS(async_copy)(at, from + multiply_load_first(described), false);
      } else {
        MULTIPLY_ACCESS(shared_store)(at, MULTIPLY_OF(multiply_bits_)(0));
      }
    }
    return;
  }
  const uint32_t column = to + thread_index() % CUTT_MULTIPLY_COLUMNS * MULTIPLY_BYTES;
  for (uint32_t term = thread_index() / CUTT_MULTIPLY_COLUMNS; term < depth; term += GROUPS) {
    if (term < count) {
      const int64_t offset = multiply_load(terms_at + term * CUTT_MULTIPLY_ENTRY).b;
      MULTIPLY_ACCESS(async_copy)(column + term * PITCH, share->column + offset, false);
    } else {
      MULTIPLY_ACCESS(shared_store)(column + term * PITCH, MULTIPLY_OF(multiply_bits_)(0));
    }
  }
}

/* Starts to copy a lot of terms to one of the two slots, each operand with what lies next to each other by threads side by side. */
DEVICE void MULTIPLY_OF(multiply_copy_)(const cutt_multiply_args *args, bool wide, bool copies, uint32_t table,
                                        const MULTIPLY_OF(multiply_share_) * share, uint32_t terms, uint32_t lot,
                                        uint32_t slot, bool first_tile) {
  const uint32_t first = lot * args->depth.by;
  const uint32_t count = terms - first < args->depth.by ? terms - first : args->depth.by;
  MULTIPLY_OF(multiply_copy_left_)
  (args, wide, copies, table, share, first, count, args->left_at + slot * args->left_bytes);
  if (args->keeps && !first_tile) return;
  MULTIPLY_OF(multiply_copy_right_)
  (args, table, share, first, count, args->right_at + (args->keeps ? lot : slot) * args->right_bytes);
}

/* Numbers that follow each other in shared memory. */
DEVICE void MULTIPLY_OF(multiply_unit_)(uint32_t at, MULTIPLY_REAL *to) {
  const word4 v = shared_load16(at);
#if MULTIPLY_BYTES == 4
  to[0] = bits_to_float(v.x), to[1] = bits_to_float(v.y), to[2] = bits_to_float(v.z), to[3] = bits_to_float(v.w);
#else
  const word2 low = {v.x, v.y}, high = {v.z, v.w};
  to[0] = bits_to_double(low), to[1] = bits_to_double(high);
#endif
}

/* A thread's rows of one term: of two units, or so far apart. */
DEVICE void MULTIPLY_OF(multiply_rows_)(uint32_t at, uint32_t step, bool quads, MULTIPLY_REAL *l) {
  enum { NEXT = (CUTT_MULTIPLY_LANES + (CUTT_MULTIPLY_LANES >> CUTT_MULTIPLY_UNIT_PAD)) * CUTT_MULTIPLY_UNIT };
  if (quads) {
    UNROLL(MULTIPLY_ROWS_EACH)
    for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; i += MULTIPLY_EACH)
      MULTIPLY_OF(multiply_unit_)(at + i / MULTIPLY_EACH * NEXT, l + i);
  } else {
    UNROLL(MULTIPLY_ROWS_EACH)
    for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i)
      l[i] = MULTIPLY_OF(multiply_number_)(MULTIPLY_ACCESS(shared_load)(at + i * step));
  }
}

/* Adds the products of a lot to a thread's sums. */
DEVICE void MULTIPLY_OF(multiply_add_)(const cutt_multiply_args *args, uint32_t lot, uint32_t slot, uint32_t row,
                                       bool quads, uint32_t column, MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  uint32_t left = args->left_at + slot * args->left_bytes + row;
  uint32_t right = args->right_at + (args->keeps ? lot : slot) * args->right_bytes + column * MULTIPLY_BYTES;
  UNROLL(2)
  for (uint32_t term = 0; term < args->depth.by; ++term) {
    MULTIPLY_REAL l[MULTIPLY_ROWS_EACH], r[CUTT_MULTIPLY_COLUMNS_EACH];
    MULTIPLY_OF(multiply_rows_)(left, args->row_step, quads, l);
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; j += MULTIPLY_EACH)
      MULTIPLY_OF(multiply_unit_)(right + j * MULTIPLY_BYTES, r + j);
    UNROLL(MULTIPLY_ROWS_EACH)
    for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
      UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
      for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j)
        sum[i][j] = MULTIPLY_OF(multiply_fuse_)(l[i], r[j], sum[i][j]);
    }
    left += args->pitch * MULTIPLY_BYTES;
    right += CUTT_MULTIPLY_COLUMNS * MULTIPLY_BYTES;
  }
}

/* The number of a thread's row. */
DEVICE uint32_t MULTIPLY_OF(multiply_own_)(const cutt_multiply_args *args, uint32_t i) {
  const uint32_t lane = thread_index() % CUTT_MULTIPLY_LANES;
  if (!args->quads) return lane + i * CUTT_MULTIPLY_LANES;
  const uint32_t unit = lane + i / MULTIPLY_EACH * CUTT_MULTIPLY_LANES;
  return multiply_unit_row(args, unit, MULTIPLY_EACH, MULTIPLY_ROWS - 1) +
         (unit < args->units ? i % MULTIPLY_EACH * args->apart.by : 0);
}

/* Writes sums to a D that is not read, of columns that are all there, without a branch for each element: these would take longer than
 * the products. */
DEVICE void MULTIPLY_OF(multiply_write_whole_)(const cutt_multiply_args *args, unsigned char *result, uint32_t table,
                                               const int64_t *column,
                                               MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  enum { TOGETHER = 2 }; /* rows whose places are loaded at once */
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t first = 0; first < MULTIPLY_ROWS_EACH; first += TOGETHER) {
    int64_t row_at[TOGETHER];
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i)
      row_at[i] = multiply_load(table + MULTIPLY_OF(multiply_own_)(args, first + i) * CUTT_MULTIPLY_ENTRY).b;
    UNROLL(TOGETHER)
    for (uint32_t i = 0; i < TOGETHER; ++i) {
      if (row_at[i] == MULTIPLY_NOWHERE) continue;
      unsigned char *const to = result + row_at[i];
      UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
      for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j)
        MULTIPLY_ACCESS(global_store)(to + column[j], MULTIPLY_OF(multiply_bits_)(sum[first + i][j]));
    }
  }
}

DEVICE void MULTIPLY_OF(multiply_finish_)(const cutt_multiply_args *args, unsigned char *result, uint32_t table,
                                          uint32_t column, MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  const uint32_t columns_at = table + MULTIPLY_COLUMNS_AT + column * CUTT_MULTIPLY_ENTRY;
  int64_t place[CUTT_MULTIPLY_COLUMNS_EACH];
  if (multiply_columns(columns_at, place) && args->alone && !args->reads) {
    MULTIPLY_OF(multiply_write_whole_)(args, result, table, place, sum);
    return;
  }
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    const uint32_t row = MULTIPLY_OF(multiply_own_)(args, i);
    const int64_t row_at = multiply_load(table + row * CUTT_MULTIPLY_ENTRY).b;
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j) {
      const int64_t column_at = multiply_load(columns_at + j * CUTT_MULTIPLY_ENTRY).b;
      if (row_at != MULTIPLY_NOWHERE && column_at != MULTIPLY_NOWHERE) {
        unsigned char *to = result + (row_at + column_at);
        MULTIPLY_REAL v = sum[i][j];
        if (!args->alone) v = (MULTIPLY_REAL)args->alpha * v;
        if (args->reads)
          v = v + (MULTIPLY_REAL)args->beta * MULTIPLY_OF(multiply_number_)(MULTIPLY_ACCESS(global_load)(to));
        MULTIPLY_ACCESS(global_store)(to, MULTIPLY_OF(multiply_bits_)(v));
      }
    }
  }
}

DEVICE void MULTIPLY_OF(multiply_zero_)(MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j) sum[i][j] = 0;
  }
}

MULTIPLY_KERNEL(MULTIPLY_OF(cutt_multiply_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_multiply_args) args, const unsigned char *right) {
  const uint32_t column = multiply_column();
  const bool copies = column == CUTT_MULTIPLY_COLUMNS - CUTT_MULTIPLY_COLUMNS_EACH; /* if one warp does it alone */
  const uint32_t part = divide(block_index(), args.blocks), terms = multiply_terms(&args, part);
  const uint32_t lots = divide(terms + args.depth.by - 1, args.depth);
  const uint32_t lane = thread_index() % CUTT_MULTIPLY_LANES;
  const uint32_t row = args.quads ? multiply_unit_at(lane) : multiply_row_at(&args, lane, MULTIPLY_BYTES);
  MULTIPLY_REAL sum[MULTIPLY_ROWS_EACH][CUTT_MULTIPLY_COLUMNS_EACH];
  uint32_t tile = block_index() - part * args.blocks.by, table = 0, lot = 0, slot = 0;
  multiply_describe(&args, MULTIPLY_ROWS, tile, table);
  multiply_describe_terms(&args, part);
  result += part * args.part_bytes;
  barrier();
  MULTIPLY_OF(multiply_share_) share = MULTIPLY_OF(multiply_begin_)(&args, left, right, tile, table);
  MULTIPLY_OF(multiply_copy_)(&args, multiply_is_wide(&args, left), copies, table, &share, terms, 0, 0, true);
  async_commit();
  for (;;) {
    const uint32_t next = tile + args.blocks.by, next_table = args.bounded ? MULTIPLY_TABLE - table : table;
    const bool last = lot + 1 == lots, more = next < args.tiles;
    async_wait(0);
    barrier();
    if (last && more) MULTIPLY_OF(multiply_go_on_)(&args, left, right, tile, next, next_table, copies, &share);
    if (!last || more) MULTIPLY_OF(multiply_copy_)
    (&args, multiply_is_wide(&args, left), copies, last ? next_table : table, &share, terms, last ? 0 : lot + 1,
     1 - slot, !last && tile < args.blocks.by);
    async_commit();
    if (lot == 0) {
      if (more && args.bounded) multiply_describe(&args, MULTIPLY_ROWS, next, next_table);
      MULTIPLY_OF(multiply_zero_)(sum); /* not before, so that describing has the registers */
    }
    if (column < args.columns && args.quads) MULTIPLY_OF(multiply_add_)(&args, lot, slot, row, true, column, sum);
    if (column < args.columns && !args.quads) MULTIPLY_OF(multiply_add_)(&args, lot, slot, row, false, column, sum);
    slot = 1 - slot;
    ++lot;
    if (!last) continue;
    if (column < args.columns)
      MULTIPLY_OF(multiply_finish_)(&args, result + multiply_tile(&args, tile).result, table, column, sum);
    if (!more) break;
    tile = next;
    table = next_table;
    lot = 0;
  }
}

#undef MULTIPLY_ROWS
#undef MULTIPLY_OWN
#undef MULTIPLY_EACH
#undef MULTIPLY_ROWS_EACH
#undef MULTIPLY_COLUMNS_AT
#undef MULTIPLY_TABLE
#undef MULTIPLY_TYPE
#undef MULTIPLY_REAL
#undef MULTIPLY_BYTES
