/* The kernel of multiply.cu for elements of MULTIPLY_TYPE, MULTIPLY_REAL of MULTIPLY_BYTES, which is included once for each type. */

#define MULTIPLY_ROWS CUTT_MULTIPLY_ROWS(MULTIPLY_BYTES)
#define MULTIPLY_ROWS_EACH CUTT_MULTIPLY_ROWS_EACH(MULTIPLY_BYTES)

#define MULTIPLY_OWN (MULTIPLY_ROWS / CUTT_MULTIPLY_THREADS) /* rows that a thread copies */

/* What a thread copies of each lot, where operands have their terms apart: the same rows and column. */
typedef struct MULTIPLY_OF(multiply_share_) {
  const unsigned char *row[MULTIPLY_OWN], *column;
  uint32_t place[MULTIPLY_OWN];
} MULTIPLY_OF(multiply_share_);

DEVICE MULTIPLY_OF(multiply_share_)
    MULTIPLY_OF(multiply_begin_)(const cutt_multiply_args *args, const unsigned char *left,
                                 const unsigned char *right) {
  MULTIPLY_OF(multiply_share_) share;
  UNROLL(MULTIPLY_OWN)
  for (uint32_t i = 0; i < MULTIPLY_OWN; ++i) {
    const uint32_t row = multiply_row(args, thread_index() + i * CUTT_MULTIPLY_THREADS);
    share.row[i] = left + multiply_load(row * CUTT_MULTIPLY_ENTRY).a;
    share.place[i] = (row + (row >> args->pad_log2)) * MULTIPLY_BYTES;
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
                                        uint32_t lot) {
  const uint32_t first = lot * args->depth.by;
  const uint32_t count = args->terms - first < args->depth.by ? args->terms - first : args->depth.by;
  MULTIPLY_OF(multiply_copy_left_)(args, left, share, first, count, args->left_at + (lot & 1) * args->left_bytes);
  MULTIPLY_OF(multiply_copy_right_)(args, right, share, first, count, args->right_at + (lot & 1) * args->right_bytes);
}

/* Columns of one term from shared memory, the same for all of a warp. */
DEVICE void MULTIPLY_OF(multiply_columns_)(uint32_t at, MULTIPLY_REAL *r) {
  UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
  for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; j += 16 / MULTIPLY_BYTES) {
    const word4 v = shared_load16(at + j * MULTIPLY_BYTES);
#if MULTIPLY_BYTES == 4
    r[j] = bits_to_float(v.x), r[j + 1] = bits_to_float(v.y), r[j + 2] = bits_to_float(v.z),
    r[j + 3] = bits_to_float(v.w);
#else
    const word2 low = {v.x, v.y}, high = {v.z, v.w};
    r[j] = bits_to_double(low), r[j + 1] = bits_to_double(high);
#endif
  }
}

/* Adds the products of a lot to a thread's sums. */
DEVICE void MULTIPLY_OF(multiply_add_)(const cutt_multiply_args *args, uint32_t lot, const uint32_t *row,
                                       uint32_t column, MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  uint32_t left = args->left_at + (lot & 1) * args->left_bytes;
  uint32_t right = args->right_at + (lot & 1) * args->right_bytes + column * MULTIPLY_BYTES;
  UNROLL(2)
  for (uint32_t term = 0; term < args->depth.by; ++term) {
    MULTIPLY_REAL l[MULTIPLY_ROWS_EACH], r[CUTT_MULTIPLY_COLUMNS_EACH];
    UNROLL(MULTIPLY_ROWS_EACH)
    for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i)
      l[i] = MULTIPLY_OF(multiply_number_)(MULTIPLY_ACCESS(shared_load)(left + row[i]));
    MULTIPLY_OF(multiply_columns_)(right, r);
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

DEVICE void MULTIPLY_OF(multiply_finish_)(const cutt_multiply_args *args, unsigned char *result, uint32_t column,
                                          MULTIPLY_REAL (*sum)[CUTT_MULTIPLY_COLUMNS_EACH]) {
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    const uint32_t row = thread_index() % CUTT_MULTIPLY_LANES + i * CUTT_MULTIPLY_LANES;
    const int64_t row_at = multiply_load(row * CUTT_MULTIPLY_ENTRY).b;
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j) {
      const int64_t column_at = multiply_load(args->columns_at + (column + j) * CUTT_MULTIPLY_ENTRY).b;
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
  uint32_t row[MULTIPLY_ROWS_EACH];
  MULTIPLY_REAL sum[MULTIPLY_ROWS_EACH][CUTT_MULTIPLY_COLUMNS_EACH];
  UNROLL(MULTIPLY_ROWS_EACH)
  for (uint32_t i = 0; i < MULTIPLY_ROWS_EACH; ++i) {
    const uint32_t number = thread_index() % CUTT_MULTIPLY_LANES + i * CUTT_MULTIPLY_LANES;
    row[i] = (number + (number >> args.pad_log2)) * MULTIPLY_BYTES;
    UNROLL(CUTT_MULTIPLY_COLUMNS_EACH)
    for (uint32_t j = 0; j < CUTT_MULTIPLY_COLUMNS_EACH; ++j) sum[i][j] = 0;
  }
  multiply_describe(&args, MULTIPLY_ROWS);
  barrier();
  const MULTIPLY_OF(multiply_share_) share = MULTIPLY_OF(multiply_begin_)(&args, left, right);
  MULTIPLY_OF(multiply_copy_)(&args, left, right, &share, 0);
  async_commit();
  for (uint32_t lot = 0; lot < args.lots; ++lot) {
    if (lot + 1 < args.lots) MULTIPLY_OF(multiply_copy_)(&args, left, right, &share, lot + 1);
    async_commit();
    async_wait(1);
    barrier();
    if (column < args.columns) MULTIPLY_OF(multiply_add_)(&args, lot, row, column, sum);
    barrier();
  }
  async_wait(0);
  if (column < args.columns) MULTIPLY_OF(multiply_finish_)(&args, result, column, sum);
}

#undef MULTIPLY_ROWS
#undef MULTIPLY_OWN
#undef MULTIPLY_ROWS_EACH
#undef MULTIPLY_TYPE
#undef MULTIPLY_REAL
#undef MULTIPLY_BYTES
