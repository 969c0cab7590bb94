/* The kernel of multiply.cu for elements of MULTIPLY_TYPE, MULTIPLY_REAL of MULTIPLY_BYTES, which is included once for each type. */

#define MULTIPLY_ROWS CUTT_MULTIPLY_ROWS(MULTIPLY_BYTES)
#define MULTIPLY_ROWS_EACH CUTT_MULTIPLY_ROWS_EACH(MULTIPLY_BYTES)

/* An element to shared memory; of a term that there is not, a zero. */
DEVICE void MULTIPLY_OF(multiply_bring_)(uint32_t to, const unsigned char *from, bool there) {
  if (there) {
    MULTIPLY_ACCESS(async_copy)(to, from, false);
  } else {
    MULTIPLY_ACCESS(shared_store)(to, MULTIPLY_OF(multiply_bits_)(0));
  }
}

/* Starts to copy a lot of terms: of L's rows, and of R's columns, each with what lies next to each other by threads side by side. */
DEVICE void MULTIPLY_OF(multiply_copy_)(const cutt_multiply_args *args, const unsigned char *left,
                                        const unsigned char *right, uint32_t lot) {
  const uint32_t depth = args->depth.by, first = lot * depth, left_at = args->left_at + (lot & 1) * args->left_bytes,
                 right_at = args->right_at + (lot & 1) * args->right_bytes;
  for (uint32_t i = thread_index(); i < MULTIPLY_ROWS * depth; i += CUTT_MULTIPLY_THREADS) {
    const uint32_t by_terms = multiply_divide(i, args->depth);
    const uint32_t term = args->left_by_terms ? i - by_terms * depth : i / MULTIPLY_ROWS;
    const uint32_t row = multiply_row(args, args->left_by_terms ? by_terms : i % MULTIPLY_ROWS);
    const bool there = first + term < args->terms;
    const int64_t at = there ? multiply_load(args->terms_at + (first + term) * CUTT_MULTIPLY_ENTRY).a : 0;
    const uint32_t place = term * args->pitch + row + (row >> args->pad_log2);
    MULTIPLY_OF(multiply_bring_)
    (left_at + place * MULTIPLY_BYTES, left + (multiply_load(row * CUTT_MULTIPLY_ENTRY).a + at), there);
  }
  for (uint32_t i = thread_index(); i < CUTT_MULTIPLY_COLUMNS * depth; i += CUTT_MULTIPLY_THREADS) {
    const uint32_t by_terms = multiply_divide(i, args->depth);
    const uint32_t term = args->right_by_terms ? i - by_terms * depth : i / CUTT_MULTIPLY_COLUMNS;
    const uint32_t column = args->right_by_terms ? by_terms : i % CUTT_MULTIPLY_COLUMNS;
    const bool there = first + term < args->terms;
    const int64_t at = there ? multiply_load(args->terms_at + (first + term) * CUTT_MULTIPLY_ENTRY).b : 0;
    MULTIPLY_OF(multiply_bring_)
    (right_at + (term * CUTT_MULTIPLY_COLUMNS + column) * MULTIPLY_BYTES,
     right + (multiply_load(args->columns_at + column * CUTT_MULTIPLY_ENTRY).a + at), there);
  }
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
  MULTIPLY_OF(multiply_copy_)(&args, left, right, 0);
  async_commit();
  for (uint32_t lot = 0; lot < args.lots; ++lot) {
    if (lot + 1 < args.lots) MULTIPLY_OF(multiply_copy_)(&args, left, right, lot + 1);
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
#undef MULTIPLY_ROWS_EACH
#undef MULTIPLY_TYPE
#undef MULTIPLY_REAL
#undef MULTIPLY_BYTES
