/* The kernel of small.cu for elements of SMALL_TYPE, which is included once for each type: of SMALL_BYTES, numbers of the kind SMALL_NUMBER
 * that are computed with. */

/* Blocks of as many threads as there can be that fit on an SM, as CUTT_SMALL_SM_THREADS has it. */
#define SMALL_BLOCKS (CUTT_SMALL_SM_THREADS(SMALL_BYTES) / CUTT_SMALL_THREADS)
#define SMALL_EACH CUTT_SMALL_EACH(SMALL_BYTES)

/* Writes D's part of a tile to `to`, or starts to copy any tensor's part to shared memory from `from`. Each width, a constant, has a loop of its
 * own. */
DEVICE void SMALL_OF(small_copy_)(const cutt_small_access *a, bool writes, const unsigned char *from, unsigned char *to,
                                  uint32_t there, uint32_t slot) {
  const uint32_t at = a->at + slot * a->slot_bytes, width = small_width(a, there, SMALL_BYTES);
  if (SMALL_BYTES == 16 || width == 16)
    small_copy_wide(small_copy_of(a, false, 16, there), writes, from, to, at);
  else if (SMALL_BYTES < 8 && width == 8)
    small_copy_wide(small_copy_of(a, false, 8, there), writes, from, to, at);
  else if (SMALL_BYTES < 4 && width == 4)
    small_copy_wide(small_copy_of(a, false, 4, there), writes, from, to, at);
  else if (SMALL_BYTES == 2)
    small_copy2(small_copy_of(a, true, 2, there), writes, from, to, at);
  else
    small_copy_wide(small_copy_of(a, true, SMALL_BYTES, there), writes, from, to, at);
}

/* Starts to copy what a tile needs. */
DEVICE void SMALL_OF(small_copy_all_)(const cutt_small_args *args, const unsigned char *left,
                                      const unsigned char *right, const unsigned char *result, const small_tile *tile,
                                      uint32_t slot) {
  const uint32_t tensors = args->scalars.reads ? 3 : 2;
  UNROLL(1)
  for (uint32_t t = 0; t < tensors; ++t) {
    const unsigned char *const from = t == 0 ? left + tile->at[0] : t == 1 ? right + tile->at[1] : result + tile->at[2];
    SMALL_OF(small_copy_)(&args->access[t], false, from, 0, tile->there, slot);
  }
}

/* A thread's rows and columns: where these are in the parts of a tile, and how many of them there are; no columns if it has no matrix. */
typedef struct SMALL_OF(small_thread_) {
  uint32_t left[SMALL_EACH], right[SMALL_EACH], row[SMALL_EACH], column[SMALL_EACH];
  uint32_t rows, columns;
} SMALL_OF(small_thread_);

/* Threads side by side have rows side by side, so that each has those as far apart as there are threads for them. What there is not is loaded
 * from where the first one is. */
DEVICE SMALL_OF(small_thread_) SMALL_OF(small_begin_)(const cutt_small_args *args) {
  SMALL_OF(small_thread_) me;
  const uint32_t rest = divide(thread_index(), args->row_blocks), matrix = divide(rest, args->column_blocks);
  const uint32_t row = thread_index() - rest * args->row_blocks.by, column = rest - matrix * args->column_blocks.by;
  const bool works = matrix < args->matrices;
  small_place begin = {0, 0, 0};
  small_go(args, args->term_end, args->matrix_end, works ? matrix : 0, &begin);
  me.rows = me.columns = 0;
  UNROLL(1)
  for (uint32_t i = 0; i < SMALL_EACH; ++i) { /* in which all move up, since registers have no numbers */
    const uint32_t r = row + i * args->row_blocks.by, c = column + i * args->column_blocks.by;
    small_place p = begin, q = begin;
    small_go(args, 0, args->row_end, r < args->rows ? r : row, &p);
    small_go(args, args->row_end, args->column_end, c < args->columns ? c : column, &q);
    UNROLL(SMALL_EACH)
    for (uint32_t j = 0; j < SMALL_EACH; ++j) {
      const bool last = j + 1 == SMALL_EACH;
      me.left[j] = last ? args->access[0].at + p.left : me.left[last ? j : j + 1];
      me.right[j] = last ? args->access[1].at + q.right : me.right[last ? j : j + 1];
      me.row[j] = last ? args->access[2].at + p.result : me.row[last ? j : j + 1];
      me.column[j] = last ? q.result - begin.result : me.column[last ? j : j + 1];
    }
    me.rows += works && r < args->rows;
    me.columns += works && c < args->columns;
  }
  return me;
}

/* Multiplies a thread's rows and columns, and puts the results into D's part of a tile. */
DEVICE void SMALL_OF(small_multiply_)(const cutt_small_args *args, const SMALL_OF(small_thread_) * me, uint32_t slot) {
  SMALL_SUM sum[SMALL_EACH][SMALL_EACH];
  const uint32_t left = slot * args->access[0].slot_bytes, right = slot * args->access[1].slot_bytes;
  const uint32_t result = slot * args->access[2].slot_bytes;
  UNROLL(SMALL_EACH)
  for (uint32_t i = 0; i < SMALL_EACH; ++i) {
    UNROLL(SMALL_EACH)
    for (uint32_t j = 0; j < SMALL_EACH; ++j) sum[i][j] = SMALL_NUMBER_OF(zero_)();
  }
  UNROLL(2)
  for (uint32_t term = 0; term < args->terms; ++term) {
    const word2 at = shared_load8(args->terms_at + term * CUTT_SMALL_TERM);
    SMALL_SUM l[SMALL_EACH], r[SMALL_EACH];
    UNROLL(SMALL_EACH)
    for (uint32_t i = 0; i < SMALL_EACH; ++i) {
      l[i] = SMALL_OF(number_)(SMALL_ACCESS(shared_load)(left + at.x + me->left[i]), args->flip[0]);
      r[i] = SMALL_OF(number_)(SMALL_ACCESS(shared_load)(right + at.y + me->right[i]), args->flip[1]);
    }
    UNROLL(SMALL_EACH)
    for (uint32_t i = 0; i < SMALL_EACH; ++i) {
      UNROLL(SMALL_EACH)
      for (uint32_t j = 0; j < SMALL_EACH; ++j) sum[i][j] = SMALL_NUMBER_OF(fuse_)(l[i], r[j], sum[i][j]);
    }
  }
  uint32_t row[SMALL_EACH];
  UNROLL(SMALL_EACH)
  for (uint32_t i = 0; i < SMALL_EACH; ++i) row[i] = me->row[i];
  UNROLL(1)
  for (uint32_t done = 0; done < me->rows; ++done) { /* of which the first row is written, and the others move up */
    UNROLL(SMALL_EACH)
    for (uint32_t j = 0; j < SMALL_EACH; ++j) {
      const uint32_t at = result + row[0] + me->column[j];
      if (j >= me->columns) continue;
      SMALL_SUM before = SMALL_NUMBER_OF(zero_)();
      if (args->scalars.reads) before = SMALL_OF(number_)(SMALL_ACCESS(shared_load)(at), 0);
      SMALL_ACCESS(shared_store)(at, SMALL_OF(element_)(SMALL_NUMBER_OF(scale_)(&args->scalars, sum[0][j], before)));
    }
    UNROLL(SMALL_EACH)
    for (uint32_t i = 0; i + 1 < SMALL_EACH; ++i) {
      row[i] = row[i + 1];
      UNROLL(SMALL_EACH)
      for (uint32_t j = 0; j < SMALL_EACH; ++j) sum[i][j] = sum[i + 1][j];
    }
  }
}

SMALL_KERNEL(SMALL_OF(cutt_small_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_small_args) args, const unsigned char *right) {
  UNROLL(1)
  for (uint32_t t = 0; t < 3; ++t) small_describe_runs(&args.access[t]);
  small_describe_terms(&args);
  const SMALL_OF(small_thread_) me = SMALL_OF(small_begin_)(&args);
  small_tile tile = {{0, 0, 0}, 0}; /* the one that is copied */
  uint32_t slot = 0;
  UNROLL(1)
  for (uint32_t next = block_index(), first = next;; next += args.blocks) {
    const int64_t at = tile.at[2];
    const uint32_t there = tile.there;
    async_wait(0);
    barrier();
    if (next < args.tiles) {
      tile = small_find(&args, next);
      SMALL_OF(small_copy_all_)(&args, left, right, result, &tile, slot);
      async_commit();
    }
    slot = 1 - slot;
    if (next != first) { /* the tile before has come */
      if (me.columns) SMALL_OF(small_multiply_)(&args, &me, slot);
      barrier();
      SMALL_OF(small_copy_)(&args.access[2], true, 0, result + at, there, slot);
    }
    if (next >= args.tiles) break;
  }
}

#undef SMALL_BLOCKS
#undef SMALL_EACH
#undef SMALL_TYPE
#undef SMALL_BYTES
#undef SMALL_NUMBER
