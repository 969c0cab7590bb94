/* The kernel of multiply.cu for elements of MULTIPLY_TYPE, MULTIPLY_REAL of MULTIPLY_BYTES, which is included once for each type. */

#define MULTIPLY_ROWS CUTT_MULTIPLY_ROWS(MULTIPLY_BYTES)
#define MULTIPLY_ROWS_EACH CUTT_MULTIPLY_ROWS_EACH(MULTIPLY_BYTES)

#define MULTIPLY_EACH (CUTT_MULTIPLY_UNIT / MULTIPLY_BYTES)  /* rows of a unit */
#define MULTIPLY_OWN (MULTIPLY_ROWS / CUTT_MULTIPLY_THREADS) /* rows that a thread copies */

/* What a thread copies of each lot, where operands have their terms apart: the same rows and column. */
typedef struct MULTIPLY_OF(multiply_share_) {
  const unsigned char *row[MULTIPLY_OWN], *column;
  uint32_t place[MULTIPLY_OWN];
  const unsigned char *unit; /* NULL: rows are copied one by one */
  uint32_t unit_place;
} MULTIPLY_OF(multiply_share_);

DEVICE MULTIPLY_OF(multiply_share_)
    MULTIPLY_OF(multiply_begin_)(const cutt_multiply_args *args, const unsigned char *left,
                                 const unsigned char *right) {
  MULTIPLY_OF(multiply_share_) share;
  UNROLL(MULTIPLY_OWN)
  for (uint32_t i = 0; i < MULTIPLY_OWN; ++i) {
    const uint32_t row = multiply_row(args, thread_index() + i * CUTT_MULTIPLY_THREADS);
    share.row[i] = left + multiply_load(row * CUTT_MULTIPLY_ENTRY).a;
    share.place[i] = multiply_row_at(args, row, MULTIPLY_BYTES);
  }
  share.unit = NULL;
  share.unit_place = 0;
  if (args->wide && (uintptr_t)left % CUTT_MULTIPLY_UNIT == 0) {
    const uint32_t unit = multiply_unit(args, thread_index() % CUTT_MULTIPLY_UNITS);
    const uint32_t row = multiply_unit_row(args, unit, MULTIPLY_EACH, MULTIPLY_ROWS - 1);
    share.unit = left + multiply_load(row * CUTT_MULTIPLY_ENTRY).a;
    share.unit_place = args->quads ? multiply_unit_at(unit) : unit * CUTT_MULTIPLY_UNIT;
  }
  const uint32_t column = thread_index() % CUTT_MULTIPLY_COLUMNS;
  share.column = right + multiply_load(args->columns_at + column * CUTT_MULTIPLY_ENTRY).a;
  return share;
}

/* Starts to copy `count` terms of L's rows, from `first` on; and zeros for the rest of the lot. */
DEVICE void MULTIPLY_OF(multiply_copy_left_)(const cutt_multiply_args *args, const unsigned char *left,
                                             const MULTIPLY_OF(multiply_share_) * share, uint32_t first, uint32_t count,
                                             uint32_t to) {
  const uint32_t pitch = args->pitch * MULTIPLY_BYTES, depth = args->depth.by;
  const uint32_t terms_at = args->terms_at + first * CUTT_MULTIPLY_ENTRY;
  if (args->left_by_terms) {
    const uint32_t group = divide(thread_index(), args->depth), term = thread_index() - group * depth;
    const uint32_t groups = divide(CUTT_MULTIPLY_THREADS, args->depth);
    if (group >= groups) return;
    const bool there = term < count;
    const unsigned char *const from = left + (there ? multiply_load(terms_at + term * CUTT_MULTIPLY_ENTRY).a : 0);
    UNROLL(4)
    for (uint32_t row = group; row < MULTIPLY_ROWS; row += groups) {
      const uint32_t at = to + term * pitch + (row + (row >> args->pad_log2)) * MULTIPLY_BYTES;
      if (there) {
        MULTIPLY_ACCESS(async_copy)(at, from + multiply_load(row * CUTT_MULTIPLY_ENTRY).a, false);
      } else {
        MULTIPLY_ACCESS(shared_store)(at, MULTIPLY_OF(multiply_bits_)(0));
      }
    }
    return;
  }
  if (share->unit) {
    enum { APART = CUTT_MULTIPLY_THREADS / CUTT_MULTIPLY_UNITS };
    const word4 none = {0, 0, 0, 0};
    uint32_t term = thread_index() / CUTT_MULTIPLY_UNITS;
    UNROLL(4)
    for (; term < count; term += APART)
      async_copy16(to + term * pitch + share->unit_place,
                   share->unit + multiply_load(terms_at + term * CUTT_MULTIPLY_ENTRY).a, false);
    for (; term < depth; term += APART) shared_store16(to + term * pitch + share->unit_place, none);
    return;
  }
  UNROLL(4)
  for (uint32_t term = 0; term < count; ++term) {
    const int64_t offset = multiply_load(terms_at + term * CUTT_MULTIPLY_ENTRY).a;
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
DEVICE void MULTIPLY_OF(multiply_copy_right_)(const cutt_multiply_args *args, const unsigned char *right,
                                              const MULTIPLY_OF(multiply_share_) * share, uint32_t first,
                                              uint32_t count, uint32_t to) {
  enum { PITCH = CUTT_MULTIPLY_COLUMNS * MULTIPLY_BYTES, GROUPS = CUTT_MULTIPLY_THREADS / CUTT_MULTIPLY_COLUMNS };
  const uint32_t depth = args->depth.by, terms_at = args->terms_at + first * CUTT_MULTIPLY_ENTRY;
  if (args->right_by_terms) {
    const uint32_t group = divide(thread_index(), args->depth), term = thread_index() - group * depth;
    const uint32_t groups = divide(CUTT_MULTIPLY_THREADS, args->depth);
    if (group >= groups) return;
    const bool there = term < count;
    const unsigned char *const from = right + (there ? multiply_load(terms_at + term * CUTT_MULTIPLY_ENTRY).b : 0);
    for (uint32_t column = group; column < CUTT_MULTIPLY_COLUMNS; column += groups) {
      const uint32_t at = to + term * PITCH + column * MULTIPLY_BYTES;
      if (there) {
        MULTIPLY_ACCESS(async_copy)(at, from + multiply_load(args->columns_at + column * CUTT_MULTIPLY_ENTRY).a, false);
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

/* Starts to copy a lot of terms, each operand with what lies next to each other by threads side by side. */
DEVICE void MULTIPLY_OF(multiply_copy_)(const cutt_multiply_args *args, const unsigned char *left,
                                        const unsigned char *right, const MULTIPLY_OF(multiply_share_) * share,
                                        uint32_t terms, uint32_t lot) {
  const uint32_t first = lot * args->depth.by;
  const uint32_t count = terms - first < args->depth.by ? terms - first : args->depth.by;
  MULTIPLY_OF(multiply_copy_left_)(args, left, share, first, count, args->left_at + (lot & 1) * args->left_bytes);
  MULTIPLY_OF(multiply_copy_right_)(args, right, share, first, count, args->right_at + (lot & 1) * args->right_bytes);
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

/* A thread's rows of one term: of two units, or where row[] says. */
DEVICE void MULTIPLY_OF(multiply_rows_)(uint32_t at, const uint32_t *row, bool quads, MULTIPLY_REAL *l) {
  enum { NEXT = (CUTT_MULTIPLY_LANES + (CUTT_MULTIPLY_LANES >> CUTT_MULTIPLY_UNIT_PAD)) * CUTT_MULTIPLY_UNIT };
  if (quads) {
    UNROLL(MULTIPLY_ROWS_EACH)
    for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; i += MULTIPLY_EACH)
      MULTIPLY_OF(multiply_unit_)(at + row[0] + i / MULTIPLY_EACH * NEXT, l + i);
  } else {
    UNROLL(MULTIPLY_ROWS_EACH)
    for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i)
      l[i] = MULTIPLY_OF(multiply_number_)(MULTIPLY_ACCESS(shared_load)(at + row[i]));
  }
}

/* Adds the products of a lot to a thread's sums. */
DEVICE void MULTIPLY_OF(multiply_add_)(const cutt_multiply_args *args, uint32_t lot, const uint32_t *row, bool quads,
                                       uint32_t column, MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  uint32_t left = args->left_at + (lot & 1) * args->left_bytes;
  uint32_t right = args->right_at + (lot & 1) * args->right_bytes + column * MULTIPLY_BYTES;
  UNROLL(2)
  for (uint32_t term = 0; term < args->depth.by; ++term) {
    MULTIPLY_REAL l[MULTIPLY_ROWS_EACH], r[CUTT_MULTIPLY_COLUMNS_EACH];
    MULTIPLY_OF(multiply_rows_)(left, row, quads, l);
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
DEVICE void MULTIPLY_OF(multiply_write_whole_)(const cutt_multiply_args *args, unsigned char *result,
                                               const int64_t *column,
                                               MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    const uint32_t row = MULTIPLY_OF(multiply_own_)(args, i);
    const int64_t row_at = multiply_load(row * CUTT_MULTIPLY_ENTRY).b;
    if (row_at == MULTIPLY_NOWHERE) continue;
    unsigned char *const to = result + row_at;
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j)
      MULTIPLY_ACCESS(global_store)(to + column[j], MULTIPLY_OF(multiply_bits_)(sum[i][j]));
  }
}

DEVICE void MULTIPLY_OF(multiply_finish_)(const cutt_multiply_args *args, unsigned char *result, uint32_t column,
                                          MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  const uint32_t columns_at = args->columns_at + column * CUTT_MULTIPLY_ENTRY;
  int64_t place[CUTT_MULTIPLY_COLUMNS_EACH];
  if (multiply_columns(columns_at, place) && args->alone && !args->reads) {
    MULTIPLY_OF(multiply_write_whole_)(args, result, place, sum);
    return;
  }
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    const uint32_t row = MULTIPLY_OF(multiply_own_)(args, i);
    const int64_t row_at = multiply_load(row * CUTT_MULTIPLY_ENTRY).b;
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

MULTIPLY_KERNEL(MULTIPLY_OF(cutt_multiply_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_multiply_args) args, const unsigned char *right) {
  const uint32_t column = thread_index() / CUTT_MULTIPLY_LANES * CUTT_MULTIPLY_COLUMNS_EACH;
  const uint32_t part = divide(block_index(), args.tiles), terms = multiply_terms(&args, part);
  uint32_t row[MULTIPLY_ROWS_EACH];
  MULTIPLY_REAL sum[MULTIPLY_ROWS_EACH][CUTT_MULTIPLY_COLUMNS_EACH];
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    const uint32_t number = thread_index() % CUTT_MULTIPLY_LANES + i * CUTT_MULTIPLY_LANES;
    row[i] = args.quads ? multiply_unit_at(number) : multiply_row_at(&args, number, MULTIPLY_BYTES);
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j) sum[i][j] = 0;
  }
  multiply_describe(&args, MULTIPLY_ROWS, part);
  result += part * args.part_bytes;
  barrier();
  const MULTIPLY_OF(multiply_share_) share = MULTIPLY_OF(multiply_begin_)(&args, left, right);
  MULTIPLY_OF(multiply_copy_)(&args, left, right, &share, terms, 0);
  async_commit();
  const uint32_t lots = divide(terms + args.depth.by - 1, args.depth);
  for (uint32_t lot = 0; lot < lots; ++lot) {
    if (lot + 1 < lots) MULTIPLY_OF(multiply_copy_)(&args, left, right, &share, terms, lot + 1);
    async_commit();
    async_wait(1);
    barrier();
    if (column < args.columns && args.quads) MULTIPLY_OF(multiply_add_)(&args, lot, row, true, column, sum);
    if (column < args.columns && !args.quads) MULTIPLY_OF(multiply_add_)(&args, lot, row, false, column, sum);
    barrier();
  }
  async_wait(0);
  if (column < args.columns) MULTIPLY_OF(multiply_finish_)(&args, result, column, sum);
}

#undef MULTIPLY_ROWS
#undef MULTIPLY_OWN
#undef MULTIPLY_EACH
#undef MULTIPLY_ROWS_EACH
#undef MULTIPLY_TYPE
#undef MULTIPLY_REAL
#undef MULTIPLY_BYTES
