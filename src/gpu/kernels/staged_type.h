/* The kernel of staged.cu for elements of STAGED_TYPE, which is included once for each type: of STAGED_BYTES, numbers of the kind
 * STAGED_NUMBER that are computed with, of STAGED_VALUE_BYTES. */

#define STAGED_EACH                                                                                                    \
  ((uint32_t)CUTT_STAGED_WINDOW / STAGED_BYTES) /* elements of a window; and columns of a thread, a warp apart */
#define STAGED_COLUMNS (CUTT_STAGED_WARP * STAGED_EACH) /* of a warp */
#define STAGED_AT_ONCE (8 / STAGED_EACH)                /* rows that are loaded at once */

/* A window at an end of what L spans, element by element. */
DEVICE void STAGED_OF(staged_ask_end_)(const cutt_staged_args *args, const unsigned char *left, int64_t from,
                                       uint32_t to) {
  UNROLL(1)
  for (uint32_t e = 0; e < STAGED_EACH; ++e) {
    const int64_t at = from + e * STAGED_BYTES;
    if (at >= args->low && at + STAGED_BYTES <= args->high)
      STAGED_ACCESS(shared_store)(to + e * STAGED_BYTES, STAGED_ACCESS(global_load)(left + at));
  }
}

/* Asks for a step's rows, and says how much that is. */
DEVICE staged_size STAGED_OF(staged_ask_)(const cutt_staged_args *args, const unsigned char *left, const sum_step *s,
                                          uint32_t stage_at) {
  const staged_size size = staged_size_of(args, s, STAGED_BYTES);
  const uint32_t shift = staged_shift(left, s->left), runs = staged_runs(args, shift, &size);
  const bool within = staged_within(args, s, &size);
  UNROLL(1)
  for (uint32_t i = thread_index() / CUTT_STAGED_WARP; i < runs; i += CUTT_STAGED_THREADS / CUTT_STAGED_WARP) {
    staged_run run =
        args->pieces ? staged_piece_of(args, s, shift, &size, i) : staged_run_of(args, left, s, shift, &size, i);
    run.to += stage_at;
    if (within) {
      const unsigned char *from = left + run.from;
      uint32_t to = run.to, x = run.x;
      UNROLL(1)
      for (uint32_t left_over = run.spans; left_over > 0;) {
        UNROLL(4)
        for (uint32_t k = 0; k < 4; ++k)
          async_copy16_if(x + k * CUTT_STAGED_SPAN < run.end, to + k * CUTT_STAGED_SPAN, from + k * CUTT_STAGED_SPAN);
        left_over -= left_over < 4 ? left_over : 4;
        from += 4 * CUTT_STAGED_SPAN;
        to += 4 * CUTT_STAGED_SPAN;
        x += 4 * CUTT_STAGED_SPAN;
      }
    } else {
      UNROLL(1)
      for (uint32_t k = 0; k < run.spans; ++k) {
        const uint32_t apart = k * CUTT_STAGED_SPAN;
        const int64_t from = run.from + apart;
        if (run.x + apart >= run.end) continue;
        if (from >= args->low && from + CUTT_STAGED_WINDOW <= args->high)
          async_copy16(run.to + apart, left + from, true);
        else
          STAGED_OF(staged_ask_end_)(args, left, from, run.to + apart);
      }
    }
  }
  return size;
}

DEVICE STAGED_VALUE STAGED_OF(staged_number_)(const cutt_staged_args *args, uint32_t at) {
  return STAGED_OF(number_)(STAGED_ACCESS(shared_load)(at), args->flip);
}

#if STAGED_BYTES == 2
/* Maxima or minima of so many rows, of `loads` halves, or pairs of them, in each, put together as they lie. */
DEVICE void STAGED_OF(staged_extremes_)(uint32_t op, bool pairs, uint32_t at, uint32_t apart, uint32_t count,
                                        STAGED_VALUE *sum) {
  const uint32_t next = CUTT_STAGED_WARP * (pairs ? 2 : 1) * STAGED_BYTES,
                 loads = pairs ? STAGED_EACH / 2 : STAGED_EACH;
  const uint32_t none = STAGED_OF(element_)(STAGED_NUMBER_OF(none_)(op));
  uint32_t all[STAGED_EACH];
  UNROLL(STAGED_EACH)
  for (uint32_t k = 0; k < loads; ++k) all[k] = none << 16 | none;
  UNROLL(2)
  for (; count > 0; --count, at += apart) {
    UNROLL(STAGED_EACH)
    for (uint32_t k = 0; k < loads; ++k)
      all[k] = STAGED_OF(extreme_pair_)(op, all[k], pairs ? shared_load4(at + k * next) : shared_load2(at + k * next));
  }
  UNROLL(STAGED_EACH)
  for (uint32_t k = 0; k < STAGED_EACH; ++k) {
    const uint32_t bits = pairs ? all[k / 2] >> k % 2 * 16 : all[k];
    sum[k] = STAGED_NUMBER_OF(reduce_)(op, sum[k], STAGED_OF(number_)((uint16_t)bits, 0));
  }
}

/* The two numbers of a pair. */
DEVICE void STAGED_OF(staged_pair_)(uint32_t at, STAGED_VALUE *number) {
  const uint32_t pair = shared_load4(at);
  number[0] = STAGED_OF(number_)((uint16_t)pair, 0);
  number[1] = STAGED_OF(number_)((uint16_t)(pair >> 16), 0);
}

/* Adds so many rows of which a thread has pairs of columns, of two rows at once. */
DEVICE void STAGED_OF(staged_pairs_)(uint32_t op, uint32_t at, uint32_t apart, uint32_t count, STAGED_VALUE *sum) {
  const uint32_t next = CUTT_STAGED_WARP * 2 * STAGED_BYTES;
  STAGED_VALUE first[2], second[2];
  if (count % 2) {
    UNROLL(4)
    for (uint32_t k = 0; k < STAGED_EACH; k += 2) {
      STAGED_OF(staged_pair_)(at + k / 2 * next, first);
      sum[k] = STAGED_NUMBER_OF(reduce_)(op, sum[k], first[0]);
      sum[k + 1] = STAGED_NUMBER_OF(reduce_)(op, sum[k + 1], first[1]);
    }
    at += apart;
  }
  UNROLL(1)
  for (count /= 2; count > 0; --count, at += 2 * apart) {
    UNROLL(4)
    for (uint32_t k = 0; k < STAGED_EACH; k += 2) {
      STAGED_OF(staged_pair_)(at + k / 2 * next, first);
      STAGED_OF(staged_pair_)(at + apart + k / 2 * next, second);
      sum[k] = STAGED_NUMBER_OF(reduce_)(op, STAGED_NUMBER_OF(reduce_)(op, sum[k], first[0]), second[0]);
      sum[k + 1] = STAGED_NUMBER_OF(reduce_)(op, STAGED_NUMBER_OF(reduce_)(op, sum[k + 1], first[1]), second[1]);
    }
  }
}
#endif

/* A thread's columns: a warp apart, or, of half types whose rows all begin at multiples of 4 bytes, pairs a warp apart. */
DEVICE uint32_t STAGED_OF(staged_first_)(bool pairs) { return pairs ? 2 * staged_lane() : staged_lane(); }
DEVICE uint32_t STAGED_OF(staged_column_)(bool pairs, uint32_t k) {
  return pairs ? k / 2 * 2 * CUTT_STAGED_WARP + k % 2 : k * CUTT_STAGED_WARP;
}

/* Adds so many rows, the first one at `at`, the others `apart`, to the sums of a thread's columns. What it has of columns that are not there
 * is not in use. op is a constant. */
DEVICE void STAGED_OF(staged_rows_)(const cutt_staged_args *args, uint32_t op, bool pairs, uint32_t at, uint32_t apart,
                                    uint32_t count, STAGED_VALUE *sum) {
#if STAGED_BYTES == 2
  if (sum_is_extreme(op)) {
    if (pairs)
      STAGED_OF(staged_extremes_)(op, true, at, apart, count, sum);
    else
      STAGED_OF(staged_extremes_)(op, false, at, apart, count, sum);
    return;
  }
  if (pairs) {
    STAGED_OF(staged_pairs_)(op, at, apart, count, sum);
    return;
  }
#else
  (void)pairs;
#endif
  const uint32_t next = CUTT_STAGED_WARP * STAGED_BYTES;
  UNROLL(1)
  for (; count % STAGED_AT_ONCE; --count, at += apart) {
    UNROLL(STAGED_EACH)
    for (uint32_t k = 0; k < STAGED_EACH; ++k)
      sum[k] = STAGED_NUMBER_OF(reduce_)(op, sum[k], STAGED_OF(staged_number_)(args, at + k * next));
  }
  UNROLL(1)
  for (; count > 0; count -= STAGED_AT_ONCE) {
    STAGED_VALUE term[STAGED_AT_ONCE][STAGED_EACH];
    UNROLL(STAGED_AT_ONCE)
    for (uint32_t i = 0; i < STAGED_AT_ONCE; ++i, at += apart) {
      UNROLL(STAGED_EACH)
      for (uint32_t k = 0; k < STAGED_EACH; ++k) term[i][k] = STAGED_OF(staged_number_)(args, at + k * next);
    }
    UNROLL(STAGED_AT_ONCE)
    for (uint32_t i = 0; i < STAGED_AT_ONCE; ++i) {
      UNROLL(STAGED_EACH)
      for (uint32_t k = 0; k < STAGED_EACH; ++k) sum[k] = STAGED_NUMBER_OF(reduce_)(op, sum[k], term[i][k]);
    }
  }
}

/* Adds a step's rows to long sums, of which the first one begins at `at` in shared memory. */
DEVICE void STAGED_OF(staged_add_)(const cutt_staged_args *args, bool pairs, uint32_t at, uint32_t rows,
                                   STAGED_VALUE *sum) {
  const uint32_t warp = thread_index() / CUTT_STAGED_WARP, group = divide(warp, args->across),
                 apart = args->groups.by * args->pitch;
  const uint32_t count =
      group < args->groups.by && group < rows ? divide(rows - group + args->groups.by - 1, args->groups) : 0;
  at += group * args->pitch +
        ((warp - group * args->across.by) * STAGED_COLUMNS + STAGED_OF(staged_first_)(pairs)) * STAGED_BYTES;
  PASS_BY_OP(args->op, STAGED_ROWS);
}

/* Writes a result. That alpha is 1 and beta 0 is asked here: to make floats of both takes as long as some terms. */
DEVICE void STAGED_OF(staged_write_)(const cutt_staged_args *args, unsigned char *to, STAGED_VALUE all) {
  if (args->scalars.alone && !args->scalars.reads && !args->stores_sums)
    STAGED_ACCESS(global_store)(to, STAGED_OF(element_)(all));
  else
    STAGED_OF(write_)(&args->scalars, args->stores_sums, to, all);
}

#if STAGED_BYTES == 2
/* Writes the results of pairs of columns, of which the first one's lies at `to`. */
DEVICE void STAGED_OF(staged_write_pairs_)(const cutt_staged_args *args, unsigned char *to, uint32_t column,
                                           uint32_t columns, const STAGED_VALUE *sum) {
  const bool whole = staged_writes_pairs(args, to);
  UNROLL(4)
  for (uint32_t k = 0; k < STAGED_EACH; k += 2, column += 2 * CUTT_STAGED_WARP) {
    if (whole && column + 1 < columns) {
      const uint32_t first = STAGED_OF(element_)(sum[k]), second = STAGED_OF(element_)(sum[k + 1]);
      global_store4(to, second << 16 | first);
    } else {
      if (column < columns) STAGED_OF(staged_write_)(args, to, sum[k]);
      if (column + 1 < columns) STAGED_OF(staged_write_)(args, to + args->result_step, sum[k + 1]);
    }
    to += 2 * CUTT_STAGED_WARP * args->result_step;
  }
}
#endif

/* Short sums of a step that begins at `at` in shared memory, of so many slices and columns. */
DEVICE void STAGED_OF(staged_add_short_)(const cutt_staged_args *args, bool pairs, unsigned char *result,
                                         uint32_t step_at, uint32_t slices, uint32_t columns) {
  UNROLL(1)
  for (uint32_t i = thread_index() / CUTT_STAGED_WARP; i < slices * args->across.by;
       i += CUTT_STAGED_THREADS / CUTT_STAGED_WARP) {
    const uint32_t slice = divide(i, args->across),
                   column = (i - slice * args->across.by) * STAGED_COLUMNS + STAGED_OF(staged_first_)(pairs);
    const uint32_t at = step_at + slice * args->slice_pitch + column * STAGED_BYTES;
    unsigned char *to = result + ((int64_t)slice * args->slice_result_step + (int64_t)column * args->result_step);
    STAGED_VALUE sum[STAGED_EACH];
    UNROLL(STAGED_EACH)
    for (uint32_t k = 0; k < STAGED_EACH; ++k) sum[k] = STAGED_NUMBER_OF(none_)(args->op);
    PASS_BY_OP(args->op, STAGED_ALL_ROWS);
#if STAGED_BYTES == 2
    if (pairs) {
      STAGED_OF(staged_write_pairs_)(args, to, column, columns, sum);
      continue;
    }
#endif
    UNROLL(STAGED_EACH)
    for (uint32_t k = 0; k < STAGED_EACH; ++k, to += CUTT_STAGED_WARP * args->result_step)
      if (column + k * CUTT_STAGED_WARP < columns) STAGED_OF(staged_write_)(args, to, sum[k]);
  }
}

DEVICE void STAGED_OF(staged_keep_)(const cutt_staged_args *args, uint32_t number, STAGED_VALUE sum) {
  STAGED_VALUE_ACCESS(shared_store)(args->sums_at + number * STAGED_VALUE_BYTES, STAGED_NUMBER_OF(bits_)(sum));
}

DEVICE STAGED_VALUE STAGED_OF(staged_kept_)(const cutt_staged_args *args, uint32_t number) {
  return STAGED_NUMBER_OF(from_bits_)(STAGED_VALUE_ACCESS(shared_load)(args->sums_at + number * STAGED_VALUE_BYTES));
}

/* The groups' long sums of columns to results. */
DEVICE void STAGED_OF(staged_finish_)(const cutt_staged_args *args, bool pairs, unsigned char *result, uint32_t columns,
                                      STAGED_VALUE *sum) {
  const uint32_t warp = thread_index() / CUTT_STAGED_WARP, apart = args->across.by * STAGED_COLUMNS;
  if (warp < args->across.by * args->groups.by) {
    UNROLL(STAGED_EACH)
    for (uint32_t k = 0; k < STAGED_EACH; ++k) STAGED_OF(staged_keep_)
    (args, warp * STAGED_COLUMNS + STAGED_OF(staged_column_)(pairs, k) + STAGED_OF(staged_first_)(pairs), sum[k]);
  }
  UNROLL(STAGED_EACH)
  for (uint32_t k = 0; k < STAGED_EACH; ++k) sum[k] = STAGED_NUMBER_OF(none_)(args->op);
  barrier();
  UNROLL(1)
  for (uint32_t i = thread_index(); i < columns; i += CUTT_STAGED_THREADS) {
    STAGED_VALUE all = STAGED_OF(staged_kept_)(args, i);
    UNROLL(1)
    for (uint32_t g = 1; g < args->groups.by; ++g)
      all = STAGED_NUMBER_OF(reduce_)(args->op, all, STAGED_OF(staged_kept_)(args, g * apart + i));
    STAGED_OF(staged_write_)(args, result + (int64_t)i * args->result_step, all);
  }
}

STAGED_KERNEL(STAGED_OF(cutt_staged_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_staged_args) args) {
  const sum_share share = sum_share_of(&args.walk);
  const bool pairs = STAGED_BYTES == 2 && args.pairs && (uintptr_t)left % 4 == 0;
  unsigned char *const to = result + (int64_t)share.part * args.part_bytes;
  sum_step step = sum_find(&args.walk, share.first, share.begin);
  uint32_t stage_at = 0, next_at = args.stage_bytes;
  STAGED_VALUE sum[STAGED_EACH];
  UNROLL(STAGED_EACH)
  for (uint32_t k = 0; k < STAGED_EACH; ++k) sum[k] = STAGED_NUMBER_OF(none_)(args.op);
  shared_may_be_blank(0, args.sums_at); /* beside rows, where warps have columns that are not there */
  staged_size size = {0, 0, 0};
  if (step.tile < share.last) size = STAGED_OF(staged_ask_)(&args, left, &step, stage_at);
  async_commit();
  UNROLL(1)
  while (step.tile < share.last) {
    const sum_step next = sum_next(&args.walk, &step, share.begin, share.end);
    async_wait(0);
    barrier(); /* the rows are there, and those before are not in use any more */
    const staged_size here = size;
    if (next.tile < share.last) size = STAGED_OF(staged_ask_)(&args, left, &next, next_at);
    async_commit();
    const uint32_t at = stage_at + staged_shift(left, step.left), columns = here.bytes / STAGED_BYTES;
    if (args.is_short) {
      STAGED_OF(staged_add_short_)(&args, pairs, to + step.result, at, here.slices, columns);
    } else {
      STAGED_OF(staged_add_)(&args, pairs, at, here.rows, sum);
      if (step.term + 1 == share.end) STAGED_OF(staged_finish_)(&args, pairs, to + step.result, columns, sum);
    }
    step = next;
    next_at = stage_at;
    stage_at = args.stage_bytes - stage_at;
  }
}

#undef STAGED_EACH
#undef STAGED_COLUMNS
#undef STAGED_AT_ONCE
#undef STAGED_TYPE
#undef STAGED_BYTES
#undef STAGED_NUMBER
#undef STAGED_VALUE_BYTES
