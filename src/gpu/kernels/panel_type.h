/* The kernel of panel.cu for elements of PANEL_TYPE, PANEL_REAL of PANEL_BYTES, which is included once for each type. */

/* Blocks that fit on an SM: each thread has 64 sums. */
#if PANEL_BYTES == 4
#define PANEL_BLOCKS 4
#elif __CUDA_ARCH__ >= 900
#define PANEL_BLOCKS 3
#else
#define PANEL_BLOCKS 2
#endif
#define PANEL_ROWS CUTT_PANEL_ROWS(PANEL_BYTES)
#define PANEL_ROWS_EACH CUTT_PANEL_ROWS_EACH(PANEL_BYTES)
#define PANEL_COLUMNS_EACH CUTT_PANEL_COLUMNS_EACH(PANEL_BYTES)
#define PANEL_COLUMNS CUTT_PANEL_COLUMNS(PANEL_BYTES)
#define PANEL_WRITTEN 4u /* rows of a thread whose places are in registers */
#define PANEL_LEFT_PITCH (CUTT_PANEL_LEFT_PITCH(PANEL_BYTES) * PANEL_BYTES)
#define PANEL_RIGHT_PITCH (CUTT_PANEL_RIGHT_PITCH(PANEL_BYTES) * PANEL_BYTES)

/* Starts to copy the panel, with what lies next to each other by threads side by side. */
DEVICE void PANEL_OF(panel_copy_left_)(const cutt_panel_args *args, const unsigned char *left) {
  if (args->left_by_terms) {
    const uint32_t group = divide(thread_index(), args->term_run), run = args->term_run.by;
    const uint32_t groups = divide(CUTT_PANEL_THREADS, args->term_run);
    if (group >= groups) return;
    for (uint32_t term = thread_index() - group * run; term < args->terms; term += run) {
      const unsigned char *const from = left + pass_load_first(args->terms_at + term * CUTT_PANEL_ENTRY);
      const uint32_t to = args->left_at + term * PANEL_LEFT_PITCH;
      UNROLL(4)
      for (uint32_t row = group; row < PANEL_ROWS; row += groups)
        PANEL_ACCESS(async_copy)(to + row * PANEL_BYTES, from + pass_load_first(row * CUTT_PANEL_ENTRY), false);
    }
    return;
  }
  UNROLL(1)
  for (uint32_t row = thread_index(); row < PANEL_ROWS; row += CUTT_PANEL_THREADS) {
    const unsigned char *const from = left + pass_load_first(row * CUTT_PANEL_ENTRY);
    const uint32_t to = args->left_at + row * PANEL_BYTES;
    UNROLL(4)
    for (uint32_t term = 0; term < args->terms; ++term) {
      const int64_t offset = pass_load_first(args->terms_at + term * CUTT_PANEL_ENTRY);
      PANEL_ACCESS(async_copy)(to + term * PANEL_LEFT_PITCH, from + offset, false);
    }
  }
}

/* Starts to copy `count` terms of a tile's columns, from `first` on. */
DEVICE void PANEL_OF(panel_copy_right_)(const cutt_panel_args *args, const unsigned char *right, uint32_t tile,
                                        uint32_t first, uint32_t count, uint32_t to) {
  const uint32_t terms_at = args->terms_at + first * CUTT_PANEL_ENTRY;
  if (args->right_by_terms) {
    const uint32_t group = divide(thread_index(), args->depth_run), run = args->depth_run.by;
    const uint32_t groups = divide(CUTT_PANEL_THREADS, args->depth_run), term = thread_index() - group * run;
    if (group >= groups || term >= count) return;
    const unsigned char *const from = right + pass_load(terms_at + term * CUTT_PANEL_ENTRY).b;
    UNROLL(1)
    for (uint32_t column = group; column < PANEL_COLUMNS; column += groups) {
      const int64_t offset = pass_load_first(panel_column(args, PANEL_COLUMNS, tile, column));
      PANEL_ACCESS(async_copy)(to + term * PANEL_RIGHT_PITCH + column * PANEL_BYTES, from + offset, false);
    }
    return;
  }
  const uint32_t column = thread_index() % PANEL_COLUMNS;
  const unsigned char *const from = right + pass_load_first(panel_column(args, PANEL_COLUMNS, tile, column));
  UNROLL(1)
  for (uint32_t term = thread_index() / PANEL_COLUMNS; term < count; term += CUTT_PANEL_THREADS / PANEL_COLUMNS) {
    const int64_t offset = pass_load(terms_at + term * CUTT_PANEL_ENTRY).b;
    PANEL_ACCESS(async_copy)(to + term * PANEL_RIGHT_PITCH + column * PANEL_BYTES, from + offset, false);
  }
}

/* Some columns of one term from shared memory, the same for all of a warp. */
DEVICE void PANEL_OF(panel_columns_)(uint32_t at, PANEL_REAL *r) {
  const word4 v = shared_load16(at);
#if PANEL_BYTES == 4
  r[0] = bits_to_float(v.x), r[1] = bits_to_float(v.y), r[2] = bits_to_float(v.z), r[3] = bits_to_float(v.w);
#else
  const word2 low = {v.x, v.y}, high = {v.z, v.w};
  r[0] = bits_to_double(low), r[1] = bits_to_double(high);
#endif
}

/* Adds `count` products to each of a thread's sums. */
DEVICE void PANEL_OF(panel_add_)(uint32_t left, uint32_t right, uint32_t count, PANEL_REAL (*sum)[PANEL_COLUMNS_EACH]) {
  enum { TOGETHER = 16 / PANEL_BYTES };
  UNROLL(2)
  for (uint32_t term = 0; term < count; ++term) {
    PANEL_REAL l[PANEL_ROWS_EACH];
    UNROLL(PANEL_ROWS_EACH)
    for (uint32_t i = 0; i < PANEL_ROWS_EACH; ++i)
      l[i] = PANEL_OF(panel_number_)(PANEL_ACCESS(shared_load)(left + i * CUTT_PANEL_LANES * PANEL_BYTES));
    UNROLL(PANEL_COLUMNS_EACH)
    for (uint32_t j = 0; j < PANEL_COLUMNS_EACH; j += TOGETHER) {
      PANEL_REAL r[TOGETHER];
      PANEL_OF(panel_columns_)(right + j * PANEL_BYTES, r);
      UNROLL(TOGETHER)
      for (uint32_t k = 0; k < TOGETHER; ++k) {
        UNROLL(PANEL_ROWS_EACH)
        for (uint32_t i = 0; i < PANEL_ROWS_EACH; ++i) sum[i][j + k] = PANEL_OF(panel_fuse_)(l[i], r[k], sum[i][j + k]);
      }
    }
    left += PANEL_LEFT_PITCH;
    right += PANEL_RIGHT_PITCH;
  }
}

/* Where some of a thread's rows are in D. Returns which are there. */
DEVICE uint32_t PANEL_OF(panel_rows_)(unsigned char *result, uint32_t row_at, unsigned char **row) {
  uint32_t there = 0;
  UNROLL(PANEL_WRITTEN)
  for (uint32_t i = 0; i < PANEL_WRITTEN; ++i) {
    const int64_t offset = pass_load(row_at + i * CUTT_PANEL_LANES * CUTT_PANEL_ENTRY).b;
    there |= offset == PLACE_NOWHERE ? 0 : 1u << i;
    row[i] = result + (offset == PLACE_NOWHERE ? 0 : offset);
  }
  return there;
}

/* Writes sums of rows and columns that are all there to a D that is not read, without a branch for each: these would take longer than
 * the products. */
DEVICE void PANEL_OF(panel_write_whole_)(unsigned char *result, uint32_t row_at, uint32_t column_at,
                                         PANEL_REAL (*sum)[PANEL_COLUMNS_EACH]) {
  unsigned char *row[PANEL_WRITTEN];
  PANEL_OF(panel_rows_)(result, row_at, row);
  UNROLL(PANEL_COLUMNS_EACH)
  for (uint32_t j = 0; j < PANEL_COLUMNS_EACH; ++j) {
    const int64_t column = pass_load(column_at + j * CUTT_PANEL_ENTRY).b;
    UNROLL(PANEL_WRITTEN)
    for (uint32_t i = 0; i < PANEL_WRITTEN; ++i)
      PANEL_ACCESS(global_store)(row[i] + column, PANEL_OF(panel_bits_)(sum[i][j]));
  }
}

/* Writes any. */
DEVICE void PANEL_OF(panel_write_)(const cutt_panel_args *args, unsigned char *result, uint32_t row_at,
                                   uint32_t column_at, PANEL_REAL (*sum)[PANEL_COLUMNS_EACH]) {
  unsigned char *row[PANEL_WRITTEN];
  const uint32_t there = PANEL_OF(panel_rows_)(result, row_at, row);
  UNROLL(PANEL_COLUMNS_EACH)
  for (uint32_t j = 0; j < PANEL_COLUMNS_EACH; ++j) {
    const int64_t column = pass_load(column_at + j * CUTT_PANEL_ENTRY).b;
    UNROLL(PANEL_WRITTEN)
    for (uint32_t i = 0; i < PANEL_WRITTEN; ++i) {
      PANEL_REAL v = sum[i][j];
      if (!args->alone) v = (PANEL_REAL)args->alpha * v;
      if ((there >> i & 1) && column != PLACE_NOWHERE) {
        if (args->reads)
          v = v + (PANEL_REAL)args->beta * PANEL_OF(panel_number_)(PANEL_ACCESS(global_load)(row[i] + column));
        PANEL_ACCESS(global_store)(row[i] + column, PANEL_OF(panel_bits_)(v));
      }
    }
  }
}

/* Writes a thread's sums, and begins new ones. */
DEVICE void PANEL_OF(panel_finish_)(const cutt_panel_args *args, unsigned char *result, uint32_t column_at, bool whole,
                                    PANEL_REAL (*sum)[PANEL_COLUMNS_EACH]) {
  const uint32_t row_at = thread_index() % CUTT_PANEL_LANES * CUTT_PANEL_ENTRY;
  enum { NEXT = CUTT_PANEL_LANES * CUTT_PANEL_ENTRY };
  if (whole && args->alone && !args->reads) {
    UNROLL(PANEL_ROWS_EACH)
    for (uint32_t i = 0; i < PANEL_ROWS_EACH; i += PANEL_WRITTEN)
      PANEL_OF(panel_write_whole_)(result, row_at + i * NEXT, column_at, sum + i);
  } else {
    UNROLL(PANEL_ROWS_EACH)
    for (uint32_t i = 0; i < PANEL_ROWS_EACH; i += PANEL_WRITTEN)
      PANEL_OF(panel_write_)(args, result, row_at + i * NEXT, column_at, sum + i);
  }
  UNROLL(PANEL_ROWS_EACH)
  for (uint32_t i = 0; i < PANEL_ROWS_EACH; ++i) {
    UNROLL(PANEL_COLUMNS_EACH)
    for (uint32_t j = 0; j < PANEL_COLUMNS_EACH; ++j) sum[i][j] = 0;
  }
}

PANEL_KERNEL(PANEL_OF(cutt_panel_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_panel_args) args, const unsigned char *right) {
  PANEL_REAL sum[PANEL_ROWS_EACH][PANEL_COLUMNS_EACH];
  const uint32_t above = divide(block_index(), args.panels), matrix = divide(above, args.strips);
  const uint32_t first_row = (block_index() - above * args.panels.by) * PANEL_ROWS;
  uint32_t tile = (above - matrix * args.strips.by) * args.strip_tiles;
  const uint32_t end = args.tiles - tile < args.strip_tiles ? args.tiles : tile + args.strip_tiles;
  const uint32_t column = thread_index() / CUTT_PANEL_LANES * PANEL_COLUMNS_EACH;
  const uint32_t my_left = args.left_at + thread_index() % CUTT_PANEL_LANES * PANEL_BYTES;
  place begin = {0, 0, 0};
  place_go(args.digit, args.term_end, args.batch_end, matrix, &begin);
  left += begin.left, right += begin.right, result += begin.result;
  panel_describe(&args, first_row, PANEL_ROWS);
  const uint32_t group = thread_index() / PANEL_COLUMNS; /* of threads that describe columns */
  if (group < 2 && tile + group < end)                   /* the first two tiles' */
    panel_describe_column(&args, PANEL_COLUMNS, tile + group, thread_index() % PANEL_COLUMNS);
  UNROLL(PANEL_ROWS_EACH)
  for (uint32_t i = 0; i < PANEL_ROWS_EACH; ++i) {
    UNROLL(PANEL_COLUMNS_EACH)
    for (uint32_t j = 0; j < PANEL_COLUMNS_EACH; ++j) sum[i][j] = 0;
  }
  barrier();
  PANEL_OF(panel_copy_left_)(&args, left);
  PANEL_OF(panel_copy_right_)(&args, right, tile, 0, args.depth, args.right_at);
  async_commit();
  uint32_t lot = 0, slot = 0; /* of the tile; which of the two */
  while (tile < end) {
    const uint32_t done = lot * args.depth, count = args.terms - done < args.depth ? args.terms - done : args.depth;
    const bool last = lot + 1 == args.lots;
    const uint32_t next_tile = last ? tile + 1 : tile, next = last ? 0 : done + args.depth;
    async_wait(0);
    barrier();
    if (next_tile < end) {
      const uint32_t more = args.terms - next < args.depth ? args.terms - next : args.depth;
      PANEL_OF(panel_copy_right_)(&args, right, next_tile, next, more, args.right_at + (1 - slot) * args.right_bytes);
    }
    async_commit();
    /* Some of the threads describe the columns of the tile after the next one, by turns. */
    if (lot == 0 && tile + 2 < end && group == tile % (CUTT_PANEL_THREADS / PANEL_COLUMNS))
      panel_describe_column(&args, PANEL_COLUMNS, tile + 2, thread_index() % PANEL_COLUMNS);
    if (tile * PANEL_COLUMNS + column < args.columns) {
      PANEL_OF(panel_add_)
      (my_left + done * PANEL_LEFT_PITCH, args.right_at + slot * args.right_bytes + column * PANEL_BYTES, count, sum);
      if (last) {
        const bool whole = first_row + PANEL_ROWS <= args.rows && (tile + 1) * PANEL_COLUMNS <= args.columns;
        PANEL_OF(panel_finish_)(&args, result, panel_column(&args, PANEL_COLUMNS, tile, column), whole, sum);
      }
    }
    slot = 1 - slot;
    lot = last ? 0 : lot + 1;
    tile = next_tile;
  }
  async_wait(0);
}

#undef PANEL_BLOCKS
#undef PANEL_ROWS
#undef PANEL_ROWS_EACH
#undef PANEL_COLUMNS_EACH
#undef PANEL_COLUMNS
#undef PANEL_WRITTEN
#undef PANEL_LEFT_PITCH
#undef PANEL_RIGHT_PITCH
#undef PANEL_TYPE
#undef PANEL_REAL
#undef PANEL_BYTES
