/* The kernel of sum.cu for elements of SUM_TYPE, which is included once for each type: of SUM_BYTES, numbers of the kind SUM_NUMBER that
 * are computed with, of SUM_VALUE_BYTES. */

#define SUM_EACH ((uint32_t)CUTT_SUM_WINDOW / SUM_BYTES) /* elements of a window */
/* Sums of a thread: one for each window, or for each column of one. */
#define SUM_SUMS (SUM_EACH > CUTT_SUM_LOADS ? SUM_EACH : (uint32_t)CUTT_SUM_LOADS)
/* Blocks that fit on an SM. From sm_90 on 64 registers are enough for each thread. */
#if SUM_BYTES > 8 || __CUDA_ARCH__ < 800
#define SUM_BLOCKS 2
#elif __CUDA_ARCH__ < 900
#define SUM_BLOCKS 3
#else
#define SUM_BLOCKS 4
#endif

/* A window at an end of what L spans: elements by themselves, and zeros. */
DEVICE word4 SUM_OF(sum_end_)(const cutt_sum_args *args, const unsigned char *left, int64_t at) {
  word4 held = pass_none16();
  UNROLL(1)
  for (uint32_t e = 0; e < SUM_EACH; ++e) {
    const int64_t element = at + e * SUM_BYTES;
    if (element >= args->low && element + SUM_BYTES <= args->high)
      held = SUM_ACCESS(sum_put)(held, e, SUM_ACCESS(global_load)(left + element));
  }
  return held;
}

/* Asks for windows. Those that are not there are blank. */
DEVICE void SUM_OF(sum_ask_)(const cutt_sum_args *args, const unsigned char *left, const sum_asker *me, word4 blank,
                             word4 *held) {
  if (me->within) {
    UNROLL(CUTT_SUM_LOADS)
    for (uint32_t k = 0; k < CUTT_SUM_LOADS; ++k)
      held[k] = global_load16_if(me->number + k * me->step < me->end, left + (me->at + k * me->apart), blank);
    return;
  }
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t k = 0; k < CUTT_SUM_LOADS; ++k) {
    const int64_t at = me->at + k * me->apart;
    held[k] = blank;
    if (me->number + k * me->step >= me->end) continue;
    if (at >= args->low && at + CUTT_SUM_WINDOW <= args->high)
      held[k] = global_load16(left + at);
    else
      held[k] = SUM_OF(sum_end_)(args, left, at);
  }
}

/* A step, of which so much is there. */
DEVICE void SUM_OF(sum_enter_)(const cutt_sum_args *args, const unsigned char *left, const sum_step *s, uint32_t first,
                               sum_asker *me) {
  const uint32_t rows = sum_rows(args, s), bytes = sum_columns(args, s) * SUM_BYTES;
  me->within = sum_within(args, s, rows, bytes);
  if (args->columns_kept)
    sum_enter_columns(args, left, s, rows, bytes, first, me);
  else
    sum_enter_rows(args, left, s, rows, bytes, me);
}

DEVICE SUM_VALUE SUM_OF(sum_element_)(const cutt_sum_args *args, word4 window, uint32_t i) {
  return SUM_OF(number_)(SUM_ACCESS(sum_part)(window, i), args->flip);
}

/* Windows' elements to the sums of their columns. op is a constant, as in what follows. */
DEVICE void SUM_OF(sum_upon_)(const cutt_sum_args *args, uint32_t op, const word4 *held, SUM_VALUE *sum) {
#if SUM_BYTES == 2
  if (sum_is_extreme(op)) {
    word4 all = held[0];
    UNROLL(CUTT_SUM_LOADS)
    for (uint32_t k = 1; k < CUTT_SUM_LOADS; ++k) all = SUM_OF(extreme_window_)(op, all, held[k]);
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e)
      sum[e] = SUM_NUMBER_OF(reduce_)(op, sum[e], SUM_OF(sum_element_)(args, all, e));
    return;
  }
#endif
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t k = 0; k < CUTT_SUM_LOADS; ++k) {
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e)
      sum[e] = SUM_NUMBER_OF(reduce_)(op, sum[e], SUM_OF(sum_element_)(args, held[k], e));
  }
}

/* Each window's elements, in pairs, to a sum of its own. */
DEVICE void SUM_OF(sum_windows_)(const cutt_sum_args *args, uint32_t op, const word4 *held, SUM_VALUE *sum) {
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t k = 0; k < CUTT_SUM_LOADS; ++k) {
#if SUM_BYTES == 2
    if (sum_is_extreme(op)) {
      const uint32_t pair = SUM_OF(extreme_within_)(op, held[k]);
      sum[k] = SUM_NUMBER_OF(reduce_)(op, sum[k], SUM_OF(number_)((uint16_t)pair, 0));
      sum[k] = SUM_NUMBER_OF(reduce_)(op, sum[k], SUM_OF(number_)((uint16_t)(pair >> 16), 0));
      continue;
    }
#endif
    SUM_VALUE term[SUM_EACH];
    UNROLL(SUM_EACH)
    for (uint32_t e = 0; e < SUM_EACH; ++e) term[e] = SUM_OF(sum_element_)(args, held[k], e);
    UNROLL(SUM_EACH)
    for (uint32_t e = 1; e < SUM_EACH; e += 2) term[e] = SUM_NUMBER_OF(reduce_)(op, term[e - 1], term[e]);
    UNROLL(SUM_EACH)
    for (uint32_t e = 3; e < SUM_EACH; e += 4) term[e] = SUM_NUMBER_OF(reduce_)(op, term[e - 2], term[e]);
    if (SUM_EACH == 8) term[SUM_EACH - 1] = SUM_NUMBER_OF(reduce_)(op, term[SUM_EACH / 2 - 1], term[SUM_EACH - 1]);
    sum[k] = SUM_NUMBER_OF(reduce_)(op, sum[k], term[SUM_EACH - 1]);
  }
}

/* Blanks what windows of rows have of others. */
DEVICE void SUM_OF(sum_cut_)(const cutt_sum_args *args, const sum_asker *me, word4 blank, word4 *held) {
  const uint32_t apart = args->along ? me->step : 0;
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t k = 0; k < CUTT_SUM_LOADS; ++k) {
    const uint32_t from = me->from + k * apart;
    if (from < me->begin || from + CUTT_SUM_WINDOW > me->row_end)
      held[k] = sum_row_only(held[k], blank, from, me->begin, me->row_end);
  }
}

/* Results are columns: adds up a step's rows, of which the first windows have been asked for. What a thread has of other columns is not in
 * use. */
DEVICE void SUM_OF(sum_down_)(const cutt_sum_args *args, const unsigned char *left, sum_asker *me, word4 blank,
                              word4 *held, SUM_VALUE *sum) {
  const uint32_t op = args->op;
  UNROLL(1)
  for (;;) {
    PASS_BY_OP(op, SUM_UPON);
    if (--me->left == 0) return;
    me->number += CUTT_SUM_LOADS * me->step;
    me->at += CUTT_SUM_LOADS * me->apart;
    SUM_OF(sum_ask_)(args, left, me, blank, held);
  }
}

/* The same where results are rows. */
DEVICE void SUM_OF(sum_across_)(const cutt_sum_args *args, const unsigned char *left, sum_asker *me, word4 blank,
                                word4 *held, SUM_VALUE *sum) {
  const uint32_t op = args->op;
  UNROLL(1)
  for (;;) {
    SUM_OF(sum_cut_)(args, me, blank, held);
    PASS_BY_OP(op, SUM_WINDOWS);
    if (--me->left == 0) return;
    me->from += args->batch.by;
    me->at += args->batch.by;
    if (args->along)
      me->number = me->from;
    else if (me->from >= me->row_end)
      me->end = 0;
    SUM_OF(sum_ask_)(args, left, me, blank, held);
  }
}

DEVICE SUM_VALUE SUM_OF(sum_kept_)(uint32_t number) {
  return SUM_NUMBER_OF(from_bits_)(SUM_VALUE_ACCESS(shared_load)(number * SUM_VALUE_BYTES));
}

DEVICE void SUM_OF(sum_keep_)(uint32_t number, SUM_VALUE sum) {
  SUM_VALUE_ACCESS(shared_store)(number * SUM_VALUE_BYTES, SUM_NUMBER_OF(bits_)(sum));
}

/* The sum of so many lanes side by side, a power of 2 up to a warp, to all of them. */
DEVICE SUM_VALUE SUM_OF(sum_lanes_)(uint32_t op, uint32_t lanes, SUM_VALUE sum) {
  UNROLL(1)
  for (uint32_t apart = 1; apart < lanes; apart *= 2) {
    const SUM_VALUE other = SUM_NUMBER_OF(from_bits_)(SUM_VALUE_ACCESS(sum_swap)(SUM_NUMBER_OF(bits_)(sum), apart));
    sum = SUM_NUMBER_OF(reduce_)(op, sum, other);
  }
  return sum;
}

/* Where a column's sum is kept: from one window to the next are an odd number, which meet in few banks. */
DEVICE uint32_t SUM_OF(sum_place_)(uint32_t column) { return column + column / SUM_EACH; }

/* The groups' sums of columns to results. */
DEVICE void SUM_OF(sum_finish_columns_)(const cutt_sum_args *args, unsigned char *result, uint32_t columns,
                                        uint32_t shift, const SUM_VALUE *sum) {
  const uint32_t group = sum_group(args), before = sum_lane(args) * SUM_EACH - shift / SUM_BYTES;
  const uint32_t joining = 1u << args->joining_bits;
  const uint32_t own = thread_index() >> args->joining_bits, first = thread_index() & (joining - 1);
  barrier(); /* what was there is not in use any more */
  UNROLL(SUM_EACH)
  for (uint32_t e = 0; e < SUM_EACH; ++e) {
    const uint32_t column = before + e; /* large, where it is before the first */
    if (group < args->groups && column < columns)
      SUM_OF(sum_keep_)(group * args->sum_apart + SUM_OF(sum_place_)(column), sum[e]);
  }
  barrier();
  UNROLL(1)
  for (uint32_t from = 0; from < columns; from += CUTT_SUM_THREADS >> args->joining_bits) {
    const uint32_t column = from + own;
    SUM_VALUE all = SUM_NUMBER_OF(none_)(args->op);
    if (column < columns) {
      UNROLL(1)
      for (uint32_t g = first; g < args->groups; g += joining)
        all =
            SUM_NUMBER_OF(reduce_)(args->op, all, SUM_OF(sum_kept_)(g * args->sum_apart + SUM_OF(sum_place_)(column)));
    }
    all = SUM_OF(sum_lanes_)(args->op, joining, all);
    if (column < columns && first == 0)
      SUM_OF(write_)(&args->scalars, args->stores_sums, result + (int64_t)column * args->result_step, all);
  }
}

/* What another lane gives for what it is given, to what is kept. */
DEVICE SUM_VALUE SUM_OF(sum_trade_)(uint32_t op, uint32_t apart, bool gives_first, SUM_VALUE first, SUM_VALUE second) {
  const SUM_VALUE given = gives_first ? first : second, kept = gives_first ? second : first;
  return SUM_NUMBER_OF(reduce_)(
      op, kept, SUM_NUMBER_OF(from_bits_)(SUM_VALUE_ACCESS(sum_swap)(SUM_NUMBER_OF(bits_)(given), apart)));
}

DEVICE void SUM_OF(sum_write_)(const cutt_sum_args *args, unsigned char *result, uint32_t rows, uint32_t row,
                               SUM_VALUE all) {
  if (row < rows) SUM_OF(write_)(&args->scalars, args->stores_sums, result + (int64_t)row * args->result_step, all);
}

/* The lanes' sums of four rows to results: each lane adds up those of two, and then of one, with a neighbour. */
DEVICE void SUM_OF(sum_finish_rows_)(const cutt_sum_args *args, unsigned char *result, uint32_t rows,
                                     const SUM_VALUE *sum) {
  const uint32_t lanes = args->lanes.by, op = args->op, lane = sum_lane(args), group = sum_group(args);
  const bool odd = (lane & 1) != 0, high = (lane & 2) != 0;
  SUM_VALUE all = SUM_OF(sum_trade_)(op, 1, odd, sum[0], sum[1]);
  const SUM_VALUE other = SUM_OF(sum_trade_)(op, 1, odd, sum[2], sum[3]);
  if (lanes == 2) {
    SUM_OF(sum_write_)(args, result, rows, group + lane * args->groups, all);
    SUM_OF(sum_write_)(args, result, rows, group + (2 + lane) * args->groups, other);
    return;
  }
  all = SUM_OF(sum_trade_)(op, 2, high, all, other);
  UNROLL(1)
  for (uint32_t apart = 4; apart < lanes; apart *= 2) all = SUM_OF(sum_trade_)(op, apart, true, all, all);
  if (lane < 4) SUM_OF(sum_write_)(args, result, rows, group + lane * args->groups, all);
}

/* The same along rows. */
DEVICE void SUM_OF(sum_finish_along_)(const cutt_sum_args *args, unsigned char *result, uint32_t rows,
                                      const SUM_VALUE *sum) {
  const uint32_t lanes = args->lanes.by;
  SUM_VALUE all = sum[0];
  UNROLL(CUTT_SUM_LOADS)
  for (uint32_t k = 1; k < CUTT_SUM_LOADS; ++k) all = SUM_NUMBER_OF(reduce_)(args->op, all, sum[k]);
  all = SUM_OF(sum_lanes_)(args->op, lanes < CUTT_SUM_WARP ? lanes : CUTT_SUM_WARP, all);
  if (lanes > CUTT_SUM_WARP) { /* which are all threads */
    barrier();                 /* what was there is not in use any more */
    if (thread_index() % CUTT_SUM_WARP == 0) SUM_OF(sum_keep_)(thread_index() / CUTT_SUM_WARP, all);
    barrier();
    if (thread_index() > 0) return;
    UNROLL(1)
    for (uint32_t warp = 1; warp < CUTT_SUM_THREADS / CUTT_SUM_WARP; ++warp)
      all = SUM_NUMBER_OF(reduce_)(args->op, all, SUM_OF(sum_kept_)(warp));
  }
  if (sum_lane(args) == 0) SUM_OF(sum_write_)(args, result, rows, sum_group(args), all);
}

/* What comes next is asked for before results are put together. */
SUM_KERNEL(SUM_OF(cutt_sum_))
(const unsigned char *left, unsigned char *result, CONSTANT(cutt_sum_args) args) {
  const sum_share share = sum_share_of(&args.walk);
  const word4 blank = SUM_ACCESS(sum_fill)(SUM_OF(element_)(SUM_NUMBER_OF(none_)(args.op)));
  unsigned char *const to = result + (int64_t)share.part * args.part_bytes;
  word4 held[CUTT_SUM_LOADS];
  SUM_VALUE sum[SUM_SUMS];
  sum_asker me;
  sum_step step = sum_find(&args.walk, share.first, share.begin);
  bool begins = true;                 /* the step's tile, */
  uint32_t first = 0;                 /* and how far from a multiple of 16 bytes */
  int64_t last = 0;                   /* where the last one's results are, */
  uint32_t there = 0, last_first = 0; /* how many, and how far from such a multiple it began */
  UNROLL(SUM_SUMS)
  for (uint32_t i = 0; i < SUM_SUMS; ++i) sum[i] = SUM_NUMBER_OF(none_)(args.op);
  UNROLL(1)
  for (;;) {
    const bool goes_on = step.tile < share.last;
    if (goes_on) {
      if (begins) first = sum_shift(left, step.left);
      SUM_OF(sum_enter_)(&args, left, &step, first, &me);
      SUM_OF(sum_ask_)(&args, left, &me, blank, held);
    }
    if (there) {
      if (args.columns_kept)
        SUM_OF(sum_finish_columns_)(&args, to + last, there, sum_shift_of(&args, last_first), sum);
      else if (args.along)
        SUM_OF(sum_finish_along_)(&args, to + last, there, sum);
      else
        SUM_OF(sum_finish_rows_)(&args, to + last, there, sum);
      UNROLL(SUM_SUMS)
      for (uint32_t i = 0; i < SUM_SUMS; ++i) sum[i] = SUM_NUMBER_OF(none_)(args.op);
    }
    if (!goes_on) return;
    if (args.columns_kept)
      SUM_OF(sum_down_)(&args, left, &me, blank, held, sum);
    else
      SUM_OF(sum_across_)(&args, left, &me, blank, held, sum);
    begins = step.term + 1 == share.end;
    last = step.result;
    there = !begins ? 0 : args.columns_kept ? sum_columns(&args, &step) : sum_rows(&args, &step);
    last_first = first;
    step = sum_next(&args.walk, &step, share.begin, share.end);
  }
}

#undef SUM_EACH
#undef SUM_SUMS
#undef SUM_BLOCKS
#undef SUM_TYPE
#undef SUM_BYTES
#undef SUM_NUMBER
#undef SUM_VALUE_BYTES
